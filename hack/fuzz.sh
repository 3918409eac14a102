#!/usr/bin/env bash
# Fuzzes what reads text and bytes of strangers: ./hack/fuzz.sh [SECONDS [TARGET...]], 600 seconds each unless told.
# Ends with an error at the first finding, whose input is left in target/fuzz/findings. What was reached is kept in
# target/fuzz/corpus and is where the next run begins.
source "$(dirname "$0")/setup.sh"
cd "$ROOT"

seconds=${1:-600}
targets=("${@:2}")
[ ${#targets[@]} -gt 0 ] || targets=(configuration reference protocol)

need_rust
need_packages c++ g++ # libFuzzer itself

# The instrumentation that cargo-fuzz asks for, which the pinned compiler has: no nightly is needed. No sanitizer, since
# none of the code says `unsafe`; panics, overflows, endless loops and memory without bounds are what is looked for.
flags="--cfg fuzzing -Cpasses=sancov-module -Ccodegen-units=1 -Cllvm-args=-sanitizer-coverage-level=4"
flags+=" -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
flags+=" -Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-simplifycfg-branch-fold-threshold=0"
host=$(rustc -vV | sed -n 's/^host: //p')
# With --target, build scripts and macros are left as they are.
cargo fmt --manifest-path hack/fuzz/Cargo.toml -- --check
RUSTFLAGS=$flags cargo build --locked --release --target "$host" --target-dir target/fuzz \
	--manifest-path hack/fuzz/Cargo.toml

for target in "${targets[@]}"; do
	corpus=target/fuzz/corpus/$target findings=target/fuzz/findings/$target
	mkdir -p "$corpus" "$findings"
	say "fuzzing $target for $seconds s"
	# An input may take ten seconds and a gigabyte.
	"target/fuzz/$host/release/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len=4096 \
		-verbosity=0 -print_final_stats=1 -artifact_prefix="$findings/" -dict="hack/fuzz/$target.dict" \
		"$corpus" "hack/fuzz/seeds/$target"
done
