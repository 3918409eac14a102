#!/usr/bin/env bash
# A real control plane on this machine, without kubelet: etcd, kube-apiserver and kube-controller-manager as plain
# processes, all of it in one directory and on 127.0.0.1. Several of them live side by side.
#
#   hack/cluster.sh up [--directory DIR] [FLAG...]    starts what does not run, waits until it is ready
#   hack/cluster.sh status [--directory DIR]          says what runs, and fails unless all of it does
#   hack/cluster.sh down [--directory DIR]            kills it and removes what it had in DIR
#
# DIR is target/cluster unless given. In it: admin.kubeconfig (of group system:masters), alice.kubeconfig and
# bob.kubeconfig (no rights), ports, pki/ with the CAs and their keys, named as kubeadm names them, log/ with the audit
# log, run/ with process ids. pki/ca.crt, pki/front-proxy-ca.crt and pki/front-proxy-client.* may be replaced while
# kube-apiserver runs: it reads them again.
#
# --aggregator-routing decides how an APIService reaches a process here: without it through a Service of type
# ExternalName, with it through an EndpointSlice that names an address of this host other than loopback.
# --unsafe-no-fsync is etcd's: what it wrote outlives it, but not the machine, and nobody waits for a disk.
source "$(dirname "$0")/setup.sh"

# Inside 127.0.0.0/8, so that nothing that dials a ClusterIP leaves this host.
SERVICE_RANGE=127.96.0.0/16
SERVICE_ADDRESS=127.96.0.1
READY_WITHIN=120
CLAIMS=${TMPDIR:-/tmp}/formwork-port

main() {
	local command=${1:-}
	if [ $# -gt 0 ]; then shift; fi
	read_arguments "$@"
	case $command in
	up)
		need_cluster
		exclusively up
		;;
	down) exclusively down ;;
	status) status ;;
	*) fail "usage: hack/cluster.sh up|status|down [--directory DIR] [--aggregator-routing] [--unsafe-no-fsync]" ;;
	esac
}

read_arguments() {
	directory=$ROOT/target/cluster
	aggregator_routing=false
	etcd_flags=()
	while [ $# -gt 0 ]; do
		case $1 in
		--directory)
			directory=${2:?--directory needs a value}
			shift
			;;
		--aggregator-routing) aggregator_routing=true ;;
		--unsafe-no-fsync) etcd_flags=(--unsafe-no-fsync) ;;
		*) fail "unknown argument $1" ;;
		esac
		shift
	done
	[[ $directory = /* ]] || directory=$PWD/$directory
	pki=$directory/pki
}

# Two commands on one directory take turns.
exclusively() {
	local lock
	umask 077
	mkdir -p "$directory"
	exec {lock}>"$directory/lock"
	flock "$lock"
	"$1"
}

up() {
	local started=$SECONDS
	mkdir -p "$directory"/{bin,log,run,pki}
	link_programs
	choose_ports
	make_certificates
	write_files

	start_etcd
	start_apiserver
	await kube-apiserver /readyz
	start_controller_manager
	await kube-controller-manager /api/v1/namespaces/default/serviceaccounts/default
	say "the cluster is ready after $((SECONDS - started)) s: export KUBECONFIG=$directory/admin.kubeconfig"
}

# At once: nothing in it has to survive, and a process may be paused.
down() {
	local program pid
	for program in "${CONTROL_PLANE[@]}"; do
		pid=$(running "$program") || continue
		kill -KILL "$pid"
		while lives "$pid"; do sleep 0.02; done
	done
	give_ports_back
	(cd "$directory" && rm -rf bin etcd log run pki ports lock tokens.csv audit-policy.yaml ./*.kubeconfig)
	# Whatever somebody else put there stays.
	rmdir "$directory" 2>/dev/null || true
}

status() {
	local program pid code=0
	for program in "${CONTROL_PLANE[@]}"; do
		if pid=$(running "$program"); then
			printf '%-24s process %s\n' "$program" "$pid"
		else
			printf '%-24s does not run\n' "$program"
			code=1
		fi
	done
	[ -f "$directory/ports" ] || return $code
	read_ports
	printf '%-24s %s\n' "etcd at" "http://127.0.0.1:$etcd" "kube-apiserver at" "https://127.0.0.1:$apiserver" \
		"aggregator routing" "$routing" "logs" "$directory/log" \
		"kubeconfigs" "$(cd "$directory" && echo *.kubeconfig) in $directory"
	return $code
}

# === what runs ===

start_etcd() {
	start etcd --data-dir="$directory/etcd" \
		--listen-client-urls="http://127.0.0.1:$etcd" --advertise-client-urls="http://127.0.0.1:$etcd" \
		--listen-peer-urls="http://127.0.0.1:$peer" --initial-advertise-peer-urls="http://127.0.0.1:$peer" \
		--initial-cluster="default=http://127.0.0.1:$peer" "${etcd_flags[@]}"
}

# No endpoint reconciler: it would publish 127.0.0.1, which is not allowed.
start_apiserver() {
	start kube-apiserver --etcd-servers="http://127.0.0.1:$etcd" \
		--bind-address=127.0.0.1 --secure-port="$apiserver" --endpoint-reconciler-type=none \
		--service-cluster-ip-range=$SERVICE_RANGE --authorization-mode=RBAC \
		--tls-cert-file="$pki/apiserver.crt" --tls-private-key-file="$pki/apiserver.key" \
		--client-ca-file="$pki/ca.crt" --token-auth-file="$directory/tokens.csv" \
		--service-account-issuer=https://kubernetes.default.svc.cluster.local \
		--service-account-key-file="$pki/sa.pub" --service-account-signing-key-file="$pki/sa.key" \
		--requestheader-client-ca-file="$pki/front-proxy-ca.crt" --requestheader-allowed-names=front-proxy-client \
		--requestheader-username-headers=X-Remote-User --requestheader-uid-headers=X-Remote-Uid \
		--requestheader-group-headers=X-Remote-Group --requestheader-extra-headers-prefix=X-Remote-Extra- \
		--proxy-client-cert-file="$pki/front-proxy-client.crt" --proxy-client-key-file="$pki/front-proxy-client.key" \
		--enable-aggregator-routing="$routing" \
		--audit-policy-file="$directory/audit-policy.yaml" --audit-log-path="$directory/log/audit.log"
}

# Nobody asks it anything, so that it needs no port.
start_controller_manager() {
	start kube-controller-manager --kubeconfig="$directory/kube-controller-manager.kubeconfig" \
		--secure-port=0 --leader-elect=false --kube-api-qps=500 --kube-api-burst=1000 \
		--use-service-account-credentials=true --service-account-private-key-file="$pki/sa.key" \
		--root-ca-file="$pki/ca.crt" \
		--cluster-signing-cert-file="$pki/ca.crt" --cluster-signing-key-file="$pki/ca.key"
}

# start PROGRAM FLAG...: in the background, unless it runs. It keeps no file of its starter open, above all not the lock.
start() {
	local program=$1 fd
	shift
	if running "$program" >/dev/null; then return; fi
	(
		for fd in /proc/self/fd/*; do
			fd=${fd##*/}
			if [ "$fd" -gt 2 ]; then eval "exec $fd>&-"; fi
		done
		exec "$directory/bin/$program" "$@"
	) </dev/null >>"$directory/log/$program.log" 2>&1 &
	echo $! >"$directory/run/$program.pid"
}

# running PROGRAM: its process id, if it runs. An id that another program has by now is none, and neither is a zombie's.
running() {
	local pid
	pid=$(cat "$directory/run/$1.pid" 2>/dev/null) || return 1
	[ "$(readlink "/proc/$pid/exe")" = "$(readlink "$directory/bin/$1")" ] || return 1
	echo "$pid"
}

# lives PID: whether it is more than an exit status that nobody has asked for. One that is being killed names no program
# any more long before it is gone.
lives() {
	local stat
	stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
	[[ ${stat##*) } != [ZX]* ]]
}

# await PROGRAM PATH: until kube-apiserver answers it. A program that ended will never be ready.
await() {
	local program=$1 path=$2 pid deadline=$((SECONDS + READY_WITHIN))
	pid=$(cat "$directory/run/$program.pid")
	until "$directory/bin/kubectl" --kubeconfig "$directory/admin.kubeconfig" get --raw "$path" >/dev/null 2>&1; do
		if ! readlink "/proc/$pid/exe" >/dev/null || [ $SECONDS -ge $deadline ]; then
			tail -n 20 "$directory/log/$program.log" >&2
			fail "$program is not ready; its log is $directory/log/$program.log"
		fi
		sleep 0.1
	done
}

# === what is in the directory ===

link_programs() {
	local program
	for program in "${CONTROL_PLANE[@]}" kubectl clients; do
		ln -sfn "$(realpath "$(cluster_program "$program")")" "$directory/bin/$program"
	done
}

# Chosen once and kept, so that what was killed comes back at its place. They are below the range from which the kernel
# gives a port to whoever asks for any.
choose_ports() {
	if [ ! -f "$directory/ports" ]; then
		etcd=$(free_port 20000)
		peer=$(free_port 23000)
		apiserver=$(free_port 26000)
		routing=$aggregator_routing
		printf '%s\n' "etcd=$etcd" "peer=$peer" "apiserver=$apiserver" "routing=$routing" >"$directory/ports"
	fi
	read_ports
	if $aggregator_routing && ! $routing; then
		fail "the cluster in $directory was made without --aggregator-routing"
	fi
}

read_ports() {
	# shellcheck source=/dev/null
	source "$directory/ports"
	: "${etcd:?}" "${peer:?}" "${apiserver:?}" "${routing:?}"
}

# free_port FIRST: one of the 3000 from there on. A link says whose it is before anybody listens: clusters start at once.
free_port() {
	local port claim
	while true; do
		port=$(($1 + RANDOM % 3000))
		claim=$CLAIMS-$port
		# Of a directory that is gone.
		if [ -L "$claim" ] && [ ! -e "$claim" ]; then rm -f "$claim"; fi
		if ln -sT "$directory" "$claim" 2>/dev/null && ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi
	done
	echo "$port"
}

give_ports_back() {
	local claim
	for claim in "$CLAIMS"-*; do
		if [ "$(readlink "$claim")" = "$directory" ]; then rm -f "$claim"; fi
	done
}

# The front proxy's CA is never the client CA: whom it signs may say who is asking.
make_certificates() {
	cat >"$pki/openssl.cnf" <<-CONFIG
		[req]
		distinguished_name = name
		[name]
		[ca]
		basicConstraints = critical, CA:TRUE
		keyUsage = critical, keyCertSign, cRLSign, digitalSignature
		subjectKeyIdentifier = hash
		[client]
		keyUsage = critical, digitalSignature
		extendedKeyUsage = clientAuth
		[server]
		keyUsage = critical, digitalSignature
		extendedKeyUsage = serverAuth
		subjectAltName = IP:127.0.0.1, IP:$SERVICE_ADDRESS, DNS:localhost, DNS:kubernetes.default.svc
	CONFIG
	authority ca /CN=kubernetes-ca
	authority front-proxy-ca /CN=front-proxy-ca
	certificate front-proxy-client /CN=front-proxy-client client front-proxy-ca
	certificate apiserver /CN=kube-apiserver server ca
	certificate admin /O=system:masters/CN=admin client ca
	certificate kube-controller-manager /CN=system:kube-controller-manager client ca
	if [ ! -f "$pki/sa.pub" ]; then
		openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$pki/sa.key"
		openssl pkey -in "$pki/sa.key" -pubout -out "$pki/sa.pub"
	fi
}

# authority NAME SUBJECT: a CA of its own, unless there is one.
authority() { [ -f "$pki/$1.crt" ] || sign "$1" "$2" ca; }

# certificate NAME SUBJECT USE CA: one signed by CA, unless there is one.
certificate() { [ -f "$pki/$1.crt" ] || sign "$1" "$2" "$3" -CA "$pki/$4.crt" -CAkey "$pki/$4.key"; }

# sign NAME SUBJECT USE OPTION...: a new key and a certificate.
sign() {
	local name=$1 subject=$2 use=$3
	shift 3
	openssl req -x509 -config "$pki/openssl.cnf" -extensions "$use" -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc \
		-days 365 -subj "$subject" -keyout "$pki/$name.key" -out "$pki/$name.crt" "$@" 2>"$directory/log/openssl.log" ||
		fail "openssl made no certificate for $name; see $directory/log/openssl.log"
}

write_files() {
	printf '%s\n' "alice-token,alice,alice-uid" "bob-token,bob,bob-uid" >"$directory/tokens.csv"
	printf '%s\n' "apiVersion: audit.k8s.io/v1" "kind: Policy" "rules:" "- level: Metadata" >"$directory/audit-policy.yaml"
	kubeconfig admin "$(key_pair admin)"
	kubeconfig kube-controller-manager "$(key_pair kube-controller-manager)"
	kubeconfig alice "token: alice-token"
	kubeconfig bob "token: bob-token"
}

# kubeconfig NAME CREDENTIAL: the credential is what goes below the user, in one line.
kubeconfig() {
	cat >"$directory/$1.kubeconfig" <<-CONFIG
		apiVersion: v1
		kind: Config
		current-context: $1
		contexts: [{name: $1, context: {cluster: local, user: $1}}]
		clusters:
		- name: local
		  cluster: {server: "https://127.0.0.1:$apiserver", certificate-authority-data: $(in_base64 "$pki/ca.crt")}
		users:
		- name: $1
		  user: {$2}
	CONFIG
}

key_pair() { echo "client-certificate-data: $(in_base64 "$pki/$1.crt"), client-key-data: $(in_base64 "$pki/$1.key")"; }
in_base64() { base64 --wrap=0 "$1"; }

main "$@"
