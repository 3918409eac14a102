#!/usr/bin/env bash
# Measures on this machine, side by side in one run: our decode, process and encode against OpenShift's own library,
# expansions against a python3 process for each, then the server under load, then stored objects against custom resources
# in a real kube-apiserver, then Deployments against kubectl. Takes about ten minutes after building. Do nothing else
# meanwhile.
source "$(dirname "$0")/setup.sh"
cd "$ROOT"

need_rust
need_go
need_jinja
need_cluster
say "building"
mkdir -p target/bench
(cd hack/bench/golang && go build -trimpath -buildvcs=false -o "$ROOT/target/bench/golang" .)
cargo build --release --locked --quiet -p bench -p apiservice -p formwork-expander

target/release/processing --golang target/bench/golang
echo
target/release/expanding --expander target/release/formwork-expander --formwork target/release/formwork
echo
target/release/serving --formwork target/release/formwork
echo
target/release/stored
echo
target/release/deploying
