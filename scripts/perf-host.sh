#!/bin/bash
# Tests of perf that run on the host and print KTAP: how it reads records with defects,
# and what other readers get of files that were recorded in the guests.
#
#   perf-host.sh --build               what they need, of which nothing is in the guest
#   perf-host.sh VARIANT [ARCH]...     after boots of these in mode test
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

# perf for the machine that the toolchain root is for
host=x86_64
crate=$CACHE/build/perf-host-mmaps
log=$LOGS/perf-host.log

# cargo ARGS...: with the machine's own settings for it, and its certificates. Only
# `fetch` needs the network. Cargo.lock names a registry, so none is kept: `fetch` makes it.
cargo() {
	local args=(--ro "$SCRIPTS/perf-host/mmaps" /src --rw "$crate" /build) home=${CARGO_HOME:-$HOME/.cargo}
	local certs=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt} f
	for f in config.toml config; do
		if [ -e "$home/$f" ]; then args+=(--ro "$(realpath "$home/$f")" "/run/cargo/$f"); fi
	done
	if [ -e "$certs" ]; then args+=(--ro "$(realpath "$certs")" /run/certs.pem); fi
	if [ "$1" = fetch ]; then args+=(--net); fi
	# shellcheck disable=SC2016 # expanded in there
	"$SCRIPTS/in-toolroot.sh" "${args[@]}" --dir /build \
		env CARGO_HOME=/build/home CARGO_TARGET_DIR=/build/target CARGO_HTTP_CAINFO=/run/certs.pem \
		"http_proxy=${http_proxy:-}" "https_proxy=${https_proxy:-}" "no_proxy=${no_proxy:-}" \
		sh -c 'mkdir -p home; for f in /run/cargo/*; do [ ! -e "$f" ] || cp "$f" home/; done
			mkdir -p src && cp -r /src/. src/
			exec cargo "$@" --manifest-path=src/Cargo.toml' - "$@"
}

# A reader of perf.data that others keep. Without it, its tests are skipped and say so.
build_crate() {
	local stamp
	stamp=$(find "$SCRIPTS/perf-host/mmaps" -type f -exec sha256sum {} + | sort | hash_of)
	mkdir -p "$crate"
	if [ "$(cat "$crate/.stamp" 2>/dev/null)" = "$stamp" ]; then return; fi
	rm -f "$crate/.stamp" "$crate/why"
	if ! cargo fetch >"$log" 2>&1; then
		echo "crates cannot be fetched: $(grep -vE '^ *$|^Caused by' "$log" | tail -n 1 | tr -d '#' | tr -s ' ')" >"$crate/why"
		warn "$(cat "$crate/why"); log: $log"
		return
	fi
	logged "$log" "building a reader of perf.data with the crate linux-perf-data" "20 s" \
		cargo build --offline "-j$JOBS"
	echo "$stamp" >"$crate/.stamp"
}

if [ "${1:-}" = --build ]; then
	"$SCRIPTS/perf.sh" "$host" asan
	if [ -x "$("$SCRIPTS/toolroot.sh" --path)/usr/bin/cargo" ]; then
		build_crate
	else
		mkdir -p "$crate"
		echo "no cargo in the toolchain root" >"$crate/why"
	fi
	exit
fi

variant=${1:?usage: perf-host.sh --build | VARIANT [ARCH]...}
shift
bad=0
echo "KTAP version 1"
echo "1..$((1 + $#))"
n=0
# program NAME COMMAND...: its KTAP as a subtest
program() {
	local name=$1 rc=0
	shift
	n=$((n + 1))
	"$@" </dev/null 2>&1 | sed "s/^/  /; s/^  KTAP version 1\$/&\n  # Subtest: $name/" || rc=$?
	if [ "$rc" = 0 ]; then
		echo "ok $n $name"
	else
		bad=1
		echo "not ok $n $name # exit=$rc"
	fi
}
# inside ARGS...: the perf of this tree in /perf, as in the guest
# shellcheck disable=SC2317,SC2329 # program calls it
inside() { "$SCRIPTS/in-toolroot.sh" --ro "$(out_dir "$host")/perf" /perf "$@"; }

program fuzz inside sh "$SCRIPTS/perf-host/fuzz.sh" "$(out_dir "$host")/perf-asan" "${FUZZ_SECONDS:-20}"
for arch; do
	run=$CACHE/runs/$arch-$variant-test
	rm -rf "$run/export"
	mkdir "$run/export"
	# What the guest wrote is not trusted with names outside of the folder.
	tar -x -C "$run/export" -f "$run/out" --no-same-owner --no-same-permissions 2>/dev/null || :
	program "readers_$arch" inside --ro "$run/export" /data --ro "$(out_dir "$arch" "$variant")/image" /image \
		sh "$SCRIPTS/perf-host/readers.sh" "$crate" "$(arch_get "$arch" triplet)-objdump"
done
exit "$bad"
