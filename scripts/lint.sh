#!/bin/bash
# Static checks, each a line: ok, FAIL (with what it said) or SKIP (with the tool that is
# missing). Ends with the count; exit code 1 when one failed.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

RUFF=0.17.6
log=$LOGS/lint.log
: >"$log"
passed=0 failed=0 skipped=0
ok() { passed=$((passed + 1)); echo "ok    $1"; }
skip() { skipped=$((skipped + 1)); echo "SKIP  $1: $2"; }
# check NAME FUNCTION ARGS...: the function's output is shown when it fails
check() {
	local name=$1 said rc=0
	shift
	# Not `|| rc=$?`: bash ignores `set -e` inside that, and only the last step counts.
	set +e
	said=$(set -e; "$@" 2>&1)
	rc=$?
	set -e
	{ echo "## $name ($rc)"; echo "$said"; } >>"$log"
	if [ "$rc" = 0 ]; then ok "$name"; return; fi
	failed=$((failed + 1))
	echo "FAIL  $name"
	head -n "${LINT_LINES:-40}" <<<"$said" | sed 's/^/      /'
}

"$SCRIPTS/toolroot.sh"
"$SCRIPTS/tree.sh"
inside() { "$SCRIPTS/in-toolroot.sh" --ro "$TREE" /src "$@"; }
have() { inside sh -c "command -v '$1' >/dev/null"; }
base=$(git -C "$TREE" rev-parse refs/mmap3/base)
# touched PATTERN...: files of the tree that the series adds or changes
touched() { git -C "$TREE" diff --name-only --diff-filter=d "$base" -- "$@"; }

# --- this repository ---

# CI's checkout may belong to another user.
git() { command git -c safe.directory="$REPO" "$@"; }
shell_files() { git -C "$REPO" ls-files -co --exclude-standard | while IFS= read -r f; do
	if [ -f "$REPO/$f" ] && head -n 1 "$REPO/$f" | grep -qE '^#!.*/(ba|busybox )?sh|^# shellcheck shell='; then echo "$f"; fi
done; }
mapfile -t files < <(shell_files)
if have shellcheck; then
	check "shellcheck (${#files[@]} files)" inside --dir "$REPO" shellcheck -x -P SCRIPTDIR "${files[@]}"
else
	skip shellcheck "not in the toolchain root"
fi

ruff() {
	local dir=$CACHE/lint/ruff-$RUFF
	if [ ! -x "$dir/bin/ruff" ]; then
		rm -rf "$dir" "$dir.tmp"
		# --target needs neither root nor a virtual environment
		python3 -m pip install -q --no-deps --root-user-action=ignore --target "$dir.tmp" "ruff==$RUFF"
		mv "$dir.tmp" "$dir"
	fi
	cd "$REPO"
	"$dir/bin/ruff" check --no-cache .
	"$dir/bin/ruff" format --no-cache --check --diff .
}
if [ -x "$CACHE/lint/ruff-$RUFF/bin/ruff" ] || python3 -m pip --version >/dev/null 2>&1; then
	check "ruff" ruff
else
	skip ruff "python3 has no pip here (Debian: apt-get install python3-pip)"
fi

# Addresses and paths of one machine would break on every other one.
no_hosts() {
	! git -C "$REPO" grep -nIE '(deb\.debian|ftp\.[a-z.]*debian|security\.debian|pypi|crates)\.(org|io)|/root/|/home/[a-z]' \
		-- . ':!scripts/lint.sh' ':!linux-patches/kernel' ':!linux-patches/tools'
}
check "no host names, no paths of one machine" no_hosts

# --- Rust ---

rust_files() {
	(cd "$REPO" && find rust-module scripts/guest -name '*.rs' -printf "$REPO/%p\n")
	touched '*.rs' | sed 's,^,/src/,'
}
mapfile -t files < <(rust_files)
if [ ${#files[@]} -eq 0 ]; then
	skip rustfmt "no Rust sources"
elif have rustfmt; then
	check "rustfmt (${#files[@]} files)" inside --dir /src rustfmt --check --color never --edition 2021 \
		--config-path /src/.rustfmt.toml "${files[@]}"
else
	skip rustfmt "not in the toolchain root"
fi

out=$(out_dir x86_64 default)
clippy() {
	# The kernel's lints, as its build passes them, in a folder of its own: objects
	# that are up to date would not be looked at again.
	rm -rf "$(readlink "$out/build")/perf_mmap3-clippy"
	MODULE_OUT=perf_mmap3-clippy "$SCRIPTS/module.sh" x86_64 default CLIPPY=1 modules
	! grep -E '^(warning|error)' "$LOGS/module-x86_64-default-clippy.log"
}
if ! have clippy-driver; then
	skip clippy "not in the toolchain root"
elif [ ! -e "$out/build" ] || ! "$SCRIPTS/kernel.sh" --fresh x86_64 >/dev/null; then
	skip clippy "no x86_64 kernel of this tree is built ('make kernel')"
elif [ ! -e "$REPO/rust-module/Kbuild" ]; then
	skip clippy "no Rust sources"
else
	check "clippy (rust-module)" clippy
fi

# --- the series ---

# shellcheck disable=SC2016 # the inner shell's variables
checkpatch() { # SERIES PATCH...
	local ignored
	ignored=$(awk -F'\t' -v s="$1" '!/^#/ && ($2 == s || $2 == "both") { print $1 }' \
		"$SCRIPTS/checkpatch.ignore" | paste -sd,)
	shift
	inside --ro "$PATCHES" /patches --dir /src sh -c '
		for p; do
			perl scripts/checkpatch.pl --root=/src -q --no-summary --ignore "$0" "$p" || { echo "^^ $p"; bad=1; }
		done
		exit "${bad:-0}"' "$ignored" "$@"
}
for series in kernel tools; do
	mapfile -t files < <(find "$PATCHES/$series" -name '*.patch' | sort)
	if [ ${#files[@]} -eq 0 ]; then
		skip "checkpatch ($series)" "no patches"
	else
		check "checkpatch ($series, ${#files[@]} patches)" checkpatch "$series" "${files[@]/#"$PATCHES"//patches}"
	fi
done

# perf reads the record by its own copy of the header.
uapi_copy() { diff -u "$TREE/include/uapi/linux/perf_event.h" "$TREE/tools/include/uapi/linux/perf_event.h"; }
check "tools/include/uapi is the kernel's" uapi_copy

kernel_doc() {
	# Only what the series added counts, wherever the lines are now; and a structure
	# whose members were never described need not begin with ours.
	local old new
	old=$(mktemp -d "$CACHE/lint/doc.XXXXXX")
	trap 'rm -rf "$old"' RETURN
	for f in "$@"; do
		mkdir -p "$old/$(dirname "$f")"
		git -C "$TREE" show "$base:$f" >"$old/$f" 2>/dev/null || rm -f "$old/$f"
	done
	# shellcheck disable=SC2016 # the inner shell's variables
	docs() { inside --ro "$1" /look --dir /look sh -c 'for f; do [ ! -e "$f" ] || /src/scripts/kernel-doc -none -Wall "$f" 2>&1; done' - "${@:2}" |
		sed -E -e 's/:[0-9]+:? /: /' -e "s/(struct|union) member '[^']*' not/members not/" | sort -u; }
	new=$(comm -13 <(docs "$old" "$@") <(docs "$TREE" "$@"))
	if [ -n "$new" ]; then echo "$new"; return 1; fi
}
mapfile -t files < <(touched '*.c' '*.h' ':!tools')
mkdir -p "$CACHE/lint"
if [ ${#files[@]} -eq 0 ]; then
	skip kernel-doc "the series touches no C file"
else
	check "kernel-doc (${#files[@]} files)" kernel_doc "${files[@]}"
fi

echo "log: $log"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] || exit "$E_FAIL"
