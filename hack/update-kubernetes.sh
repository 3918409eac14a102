#!/usr/bin/env bash
# Writes hack/kubernetes/go.mod anew for a release of Kubernetes, for example: hack/update-kubernetes.sh v1.37.1
source "$(dirname "$0")/setup.sh"

version=${1:?which release? for example v1.37.1}
need_go
cd "$ROOT/hack/kubernetes"

# The release's own go.mod says which Go it is written for and which modules are replaced.
release=$(go list -m -f '{{.GoMod}}' "k8s.io/kubernetes@$version")
staging=$(sed -n 's/^\t\(k8s\.io\/[^ ]*\) => \.\/staging.*/\1/p' "$release")

cat >go.mod <<MODULE
// Builds Kubernetes's own commands for our tests, at the version required here, and the etcd that this release has.
// Written by ../update-kubernetes.sh.
//
// k8s.io/kubernetes replaces its staging modules by folders of its repository. Replaces do not reach a dependent
// module, so they are repeated here with the versions that were published for the same release.
module formwork.dev/hack/kubernetes

$(grep '^go ' "$release")

tool (
	go.etcd.io/etcd/server/v3
	k8s.io/kubernetes/cmd/kube-apiserver
	k8s.io/kubernetes/cmd/kube-controller-manager
	k8s.io/kubernetes/cmd/kubectl
)

replace (
$(for module in $staging; do printf '\t%s => %s v0.%s\n' "$module" "$module" "${version#v1.}"; done)
)

require k8s.io/kubernetes $version
MODULE
go mod tidy
