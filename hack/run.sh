#!/usr/bin/env bash
# Formwork on this machine in one command: builds it, starts it with a store of its own, stores a Template with kubectl,
# processes it in the three ways there are, and expands two configurations of Deployment Manager. At a terminal it serves
# on until Ctrl-C and keeps ./formwork-data; otherwise it stops and leaves nothing behind. Any result that is not the
# expected one is an error.
source "$(dirname "$0")/setup.sh"
cd "$ROOT"

EXAMPLE=examples/hello/template.yaml
COLLECTION=/apis/template.openshift.io/v1/namespaces/default

main() {
	need_rust
	need_kubectl
	say "building"
	cargo build --release --locked --quiet -p apiservice -p cli -p formwork-expander
	export PATH=$ROOT/target/release:$PATH

	scratch=$(mktemp -d)
	trap stop EXIT
	data=$scratch/data
	if at_a_terminal; then data=$ROOT/formwork-data; fi
	start
	store
	process_a_body
	process_a_stored_template
	process_with_the_plugin
	expand replicated-service Python
	expand jinja-service Jinja
	how_to_go_on

	if at_a_terminal; then
		trap : INT TERM
		wait "$server" || true
	fi
	stop_cleanly
}

at_a_terminal() { [ -t 0 ] && [ -t 1 ]; }
kubectl() { "$FORMWORK_KUBECTL" "$@"; }

start() {
	local port=8443
	while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done
	formwork serve --standalone --data-dir "$data" --bind-address 127.0.0.1 --secure-port "$port" 2>"$scratch/server.log" &
	server=$!
	export KUBECONFIG=$data/admin.kubeconfig
	local tries
	for ((tries = 0; tries < 300; tries++)); do
		kill -0 "$server" 2>/dev/null || fail "the server ended by itself"
		if [ -s "$KUBECONFIG" ] && kubectl get --raw /readyz >/dev/null 2>&1; then
			headline "serving on 127.0.0.1:$port, data in $data"
			return
		fi
		sleep 0.1
	done
	fail "the server was not ready in time"
}

store() {
	headline "kubectl create -f $EXAMPLE, kubectl get templates"
	kubectl delete templates.template.openshift.io hello --ignore-not-found
	kubectl create -f "$EXAMPLE"
	kubectl get templates.template.openshift.io
	expect "hello" "$(kubectl get templates.template.openshift.io hello -o 'jsonpath={.metadata.name}')"
}

process_a_body() {
	headline "a Template in a request: POST processedtemplates"
	kubectl create --dry-run=client -o json -f "$EXAMPLE" >"$scratch/body.json"
	kubectl create --raw "$COLLECTION/processedtemplates" -f "$scratch/body.json" >"$scratch/body.processed"
	summary "$scratch/body.processed"
	expect "1" "$(field '{.objects[3].spec.replicas}' "$scratch/body.processed")"
	expect "<h1>Hello, world</h1>" "$(field '{.objects[1].data.index\.html}' "$scratch/body.processed")"
	expect_like '^[a-zA-Z0-9]{20}$' "$(field '{.objects[0].stringData.token}' "$scratch/body.processed")"
}

process_a_stored_template() {
	headline "a stored Template and values: POST templates/hello/processed"
	echo '{"apiVersion":"template.openshift.io/v1","kind":"Parameters","values":{"NAME":"two","REPLICAS":"2"}}' >"$scratch/parameters.json"
	kubectl create --raw "$COLLECTION/templates/hello/processed" -f "$scratch/parameters.json" >"$scratch/stored.processed"
	summary "$scratch/stored.processed"
	expect "two 2" "$(field '{.objects[3].metadata.name} {.objects[3].spec.replicas}' "$scratch/stored.processed")"
	expect "two" "$(field '{.objects[2].metadata.labels.app\.kubernetes\.io/part-of}' "$scratch/stored.processed")"
}

process_with_the_plugin() {
	headline "from the command line: kubectl formwork process hello -p NAME=three -p REPLICAS=3"
	kubectl formwork process hello -p NAME=three -p REPLICAS=3 -o name
	expect "secret/three configmap/three service/three deployment.apps/three" \
		"$(kubectl formwork process hello -p NAME=three -p REPLICAS=3 -o name | paste -s -d ' ')"
	kubectl formwork process hello -p NAME=three -p REPLICAS=3 -o yaml >"$scratch/plugin.processed"
	expect_like 'replicas: 3$' "$(cat "$scratch/plugin.processed")"
}

# expand EXAMPLE LANGUAGE: by the server, in jailed processes; the plugin only collects the files.
expand() {
	local folder=examples/$1 env=()
	if [ -f "$folder/env" ]; then mapfile -t env < <(sed 's/^/--env=/' "$folder/env"); fi
	headline "templates in $2: kubectl formwork expand $folder/config.yaml --remote"
	kubectl formwork expand "$folder/config.yaml" --remote "${env[@]}" >"$scratch/expanded"
	sed -n '/^config:/,/^layout:/s/^  - name: //p' "$scratch/expanded"
	expect "$(cat "$folder/want.yaml")" "$(cat "$scratch/expanded")"
}

how_to_go_on() {
	headline "all as expected"
	if ! at_a_terminal; then return; fi
	cat <<MESSAGE
In another terminal:

  export KUBECONFIG=$KUBECONFIG PATH=$ROOT/target/release:\$PATH
  kubectl get templates.template.openshift.io -o wide
  kubectl formwork process hello -p REPLICAS=5 -o yaml
  kubectl formwork process -f examples/hello/template.yaml --local
  kubectl formwork expand examples/replicated-service/config.yaml

Ctrl-C stops the server.
MESSAGE
}

stop_cleanly() {
	kill -TERM "$server" 2>/dev/null || true
	local code=0
	wait "$server" || code=$?
	server=
	[ "$code" = 0 ] || fail "the server ended with $code"
}

# On the way out, whatever happened.
stop() {
	local code=$?
	if [ "$code" != 0 ]; then
		say "error: this did not end as expected; the server's last lines:"
		tail -n 20 "$scratch/server.log" >&2 || true
	fi
	if [ -n "${server:-}" ]; then
		kill "$server" 2>/dev/null || true
		wait "$server" || true
	fi
	rm -rf "$scratch"
}

headline() { printf '\n== %s\n' "$*"; }

# field JSONPATH FILE: from a processed Template. kubectl is the one JSON reader that is surely here.
field() { kubectl create --dry-run=client -o "jsonpath=$1" -f "$2"; }

summary() {
	field '{range .objects[*]}{.kind}/{.metadata.name}{"\n"}{end}{.message}{"\n"}' "$1"
}

expect() { [ "$1" = "$2" ] || fail "expected '$1' but got '$2'"; }
expect_like() { grep -qE "$1" <<<"$2" || fail "expected something like '$1' but got '$2'"; }

main
