#!/usr/bin/env bash
# Measures on this machine, side by side in one run: our decode, process and encode against OpenShift's own library,
# then the server under load, then stored objects against custom resources in a real kube-apiserver. Takes about six
# minutes after building. Do nothing else meanwhile.
source "$(dirname "$0")/setup.sh"
cd "$ROOT"

need_rust
need_go
need_cluster
say "building"
mkdir -p target/bench
(cd hack/bench/golang && go build -trimpath -buildvcs=false -o "$ROOT/target/bench/golang" .)
cargo build --release --locked --quiet -p bench -p apiservice

target/release/processing --golang target/bench/golang
echo
target/release/serving --formwork target/release/formwork
echo
target/release/stored
