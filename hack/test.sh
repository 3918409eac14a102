#!/usr/bin/env bash
# Sets up what is missing and runs every check there is: format, lints, tests, and the scripts themselves.
# One line per stage; what a stage printed is in target/log.
source "$(dirname "$0")/setup.sh"
cd "$ROOT"

need_rust
need_kubectl
need_cluster
FORMWORK_ETCD=$(cluster_program etcd)
export FORMWORK_ETCD
report "set up" 0

stage "format" cargo fmt --all -- --check
stage "build" cargo build --locked --workspace --all-targets
stage "lints" cargo clippy --locked --workspace --all-targets -- -D warnings
stage "tests" cargo test --locked --workspace --no-fail-fast
stage "fuzzers" hack/fuzz.sh "${FORMWORK_FUZZ:-30}"
if has shellcheck; then
	stage "scripts" shellcheck --external-sources --source-path=SCRIPTDIR hack/*.sh .ci/run
fi

# What was skipped for want of the corpus, and how many tests there were in all.
tests=$ROOT/target/log/tests.log
grep -h "^skipped:" "$tests" | sort | uniq -c || true
awk '/^test result:/ { passed += $4; failed += $6; ignored += $8 }
	END { printf "%d passed, %d failed, %d skipped\n", passed, failed, ignored }' "$tests"
