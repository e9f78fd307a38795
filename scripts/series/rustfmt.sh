#!/bin/bash
# rustfmt on the Rust files that the patch touches.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

mapfile -t files < <(touched "$PARENT" '*.rs')
[ ${#files[@]} -gt 0 ] || nothing
have rustfmt || skip "rustfmt is not in the toolchain root"
inside --dir /src rustfmt --check --color never --edition 2021 --config-path /src/.rustfmt.toml "${files[@]}" ||
	no "rustfmt would change something"
