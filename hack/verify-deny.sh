#!/usr/bin/env bash
# Holds the dependencies against deny.toml: banned crates, duplicates, licences, sources, advisories.
# Not part of test.sh, because cargo-deny takes minutes to build and advisories need a fresh database.
source "$(dirname "$0")/setup.sh"

VERSION=0.20.2

need_rust
cd "$ROOT"
deny=$FORMWORK_CACHE/bin/cargo-deny
if [ "$("$deny" --version 2>/dev/null)" != "cargo-deny $VERSION" ]; then
	say "building cargo-deny $VERSION; the first time this takes some minutes"
	cargo install cargo-deny --locked --quiet --version "$VERSION" --root "$FORMWORK_CACHE"
fi
"$deny" --locked check bans licenses sources

# A new advisory must not stop an unrelated change.
"$deny" --locked check advisories || say "warning: advisories were not all clear, or could not be fetched; see above"
