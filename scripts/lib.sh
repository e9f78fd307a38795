# shellcheck shell=bash
# What every script here needs: where caches are, how a script ends, what it
# prints while it works, and the table of arches. Source it; it runs nothing.
#
#   set -eu -o pipefail
#   . "$(dirname "$0")/lib.sh"

# A caller's git or make settings must not reach ours.
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE MAKEFLAGS MFLAGS MAKELEVEL
export LC_ALL=C
umask 022

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
SCRIPTS=$REPO/scripts
# One variable moves every cache.
CACHE=${CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/perf-mmap3}
mkdir -p "$CACHE/logs" 2>/dev/null || {
	echo "error: cannot make the cache folder $CACHE: set CACHE= to a folder you can write" >&2
	exit 2
}
CACHE=$(cd "$CACHE" && pwd -P)
export CACHE
# shellcheck disable=SC2034 # for the scripts that source this
LOGS=$CACHE/logs
JOBS=${JOBS:-$(nproc)}

# The exit codes; README.md has the same table.
# shellcheck disable=SC2034 # for the scripts that source this
E_FAIL=1 E_SETUP=2 E_SPLAT=3 E_ALLSKIP=4 E_DEADLINE=124 E_LOST=128

# die [CODE] LINE: one line on stderr, naming the thing and the mend. CODE: 2.
die() {
	local code=$E_SETUP
	if [ $# -gt 1 ]; then code=$1; shift; fi
	echo "error: $*" >&2
	exit "$code"
}

say() { echo "== $*"; }
warn() { echo "note: $*" >&2; }

# need TOOL [PACKAGE]
need() {
	command -v "$1" >/dev/null 2>&1 ||
		die "$1 is missing on this machine: install it (Debian: apt-get install ${2:-$1})"
}

# need_space MiB WHAT [DIR [MEND]]: before work that would fill the disk half-way.
# SPACE_MIB_FREE stands for the measured value in the tests.
need_space() {
	local want=$1 what=$2 dir=${3:-$CACHE} have
	have=${SPACE_MIB_FREE:-$(df -Pm "$dir" | awk 'NR == 2 { print $4 }')}
	[ "$have" -ge "$want" ] ||
		die "$what needs $want MiB in $dir, $have MiB are free: free some, or ${4:-set CACHE= to a larger disk}"
}

# take_lock NAME: one run at a time works on NAME (held until the script ends).
take_lock() {
	local fd
	mkdir -p "$CACHE/locks"
	exec {fd}>"$CACHE/locks/$1"
	flock -n "$fd" && return
	say "waiting for another run that works on '$1'"
	flock "$fd"
}

# hash_of: 12 hex digits of stdin, for keys of caches
hash_of() { sha256sum | cut -c1-12; }

# logged LOG WHAT USUAL CMD...: output goes to LOG; meanwhile says every 15 s how
# long it has taken, next to the usual time, and what `progress_line` (a function
# the caller may define) prints. On failure shows the last lines, and where the
# rest is, and calls `failed` (if the caller defines it, to die with the mend) or
# returns the command's status. CMD may be a function; then never write
# `logged ... || die`: bash ignores `set -e` inside it, and a step that fails half-way
# would pass.
logged() {
	local log=$1 what=$2 usual=$3 start=$SECONDS pid rc=0 last
	shift 3
	mkdir -p "$(dirname "$log")"
	say "$what (usually $usual; log: $log)"
	# The watcher must not keep locks of ours open, nor outlive us.
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	# shellcheck disable=SC2064 # this pid, now
	trap "kill $pid 2>/dev/null || :" INT TERM
	last=$SECONDS
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.2
		if [ $((SECONDS - last)) -ge 15 ]; then
			last=$SECONDS
			echo "   ... $((SECONDS - start)) s of usually $usual$(
				if declare -F progress_line >/dev/null; then echo "; $(progress_line)"; fi)"
		fi
	done
	wait "$pid" || rc=$?
	trap - INT TERM
	if [ "$rc" -ne 0 ]; then
		if [ "$rc" -gt 128 ]; then
			die "$what was stopped by signal $((rc - 128)); the same command goes on; log: $log"
		fi
		tail -n "${LOG_TAIL:-25}" "$log" | sed 's/^/   | /' >&2
		echo "failed: $what (status $rc); whole log: $log" >&2
		if declare -F failed >/dev/null; then failed; fi
		return "$rc"
	fi
	echo "   done in $((SECONDS - start)) s"
}

# --- arches ---

arches() { grep -v '^#' "$SCRIPTS/arches.tsv" | cut -f1; }

# need_arch NAME: dies unless the table has it
need_arch() {
	arches | grep -qxF -- "$1" ||
		die "unknown ARCH '$1': use one of $(arches | paste -sd' ')"
}

# arch_get NAME COLUMN
arch_get() {
	need_arch "$1"
	awk -F'\t' -v n="$1" -v c="$2" '
		/^#name/ { sub(/^#/, ""); for (i = 1; i <= NF; i++) col[$i] = i; next }
		$1 == n { if (!(c in col)) exit 3; print $col[c] }' "$SCRIPTS/arches.tsv" ||
		die "arches.tsv has no column '$2'"
}

# --- variants of the kernel ---

variants() { grep -v '^#' "$SCRIPTS/variants.tsv" | cut -f1; }

# variant_get NAME COLUMN
variant_get() {
	variants | grep -qxF -- "$1" ||
		die "unknown FLAVOUR '$1': use one of $(variants | paste -sd' ')"
	awk -F'\t' -v n="$1" -v c="$2" '
		/^#name/ { sub(/^#/, ""); for (i = 1; i <= NF; i++) col[$i] = i; next }
		$1 == n { if (!(c in col)) exit 3; print $col[c] }' "$SCRIPTS/variants.tsv" ||
		die "variants.tsv has no column '$2'"
}

# perf_wanted: do the tests of perf belong to this run of the tests? PERF=0 leaves them
# out, and so does RUN= of another program.
perf_wanted() {
	[ "${PERF:-1}" != 0 ] || return
	[ -z "${RUN:-}" ] || [ -e "$SCRIPTS/perf-tests/$RUN" ]
}

# --- where results lie ---
# kernel.sh and module.sh fill   out_dir ARCH VARIANT: kernel (boot image), vmlinux,
#   config, release (a line), build (link to the build folder), modules/*.ko
# selftests.sh fills             out_dir ARCH: selftests/ (as `make install` makes it), demo/
out_dir() { echo "$CACHE/out/$1${2:+/$2}"; }

# --- the patched tree ---
PATCHES=${PATCHES:-$REPO/linux-patches} # the tests have small ones of their own
TREE=$(realpath -m -- "${TREE:-$CACHE/tree}")

# What is in these files decides commits and their hashes: no setting of the
# user's may change them.
cleangit() {
	GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null \
		GIT_COMMITTER_NAME=perf-mmap3 GIT_COMMITTER_EMAIL=perf-mmap3@localhost \
		git -c core.hooksPath=/dev/null -c commit.gpgSign=false -c gc.auto=0 \
		-c advice.detachedHead=false "$@"
}

# base_get NAME: a value of linux-patches/BASE
base_get() {
	local v
	[ -r "$PATCHES/BASE" ] || die "$PATCHES/BASE is missing: restore it from git"
	v=$(sed -n "s/^$1=//p" "$PATCHES/BASE")
	[ -n "$v" ] || die "$PATCHES/BASE has no $1"
	echo "$v"
}

# tree_state: the tree object of what is in TREE now, edits included
tree_state() (
	cd "$TREE" || exit
	git=$(git rev-parse --absolute-git-dir)
	# of its own: another run may ask at the same time
	GIT_INDEX_FILE=$(mktemp "$git/index.state.XXXXXX")
	export GIT_INDEX_FILE
	# The copy carries the stat data, so only changed files are read; its own time is
	# what git tells edits in the same second by.
	cp -p "$git/index" "$GIT_INDEX_FILE"
	cleangit add -A .
	cleangit write-tree
	rm "$GIT_INDEX_FILE"
)

# kernel_state TREE-OBJECT: what of it a kernel is made of
kernel_state() {
	git -C "$TREE" ls-tree "$1" | grep -v '	tools$'
	git -C "$TREE" ls-tree "$1:tools" | grep -vE '	(perf|testing)$'
}

# sparse_worktree FOLDER COMMIT PATCHES...: a worktree of TREE there, at COMMIT, with the
# files alone that the patches touch. The caller takes it away.
sparse_worktree() {
	local wt=$1 at=$2
	shift 2
	rm -rf "$wt"
	cleangit -C "$TREE" worktree prune
	cleangit -C "$TREE" worktree add -q --no-checkout --detach "$wt" "$at"
	{
		echo /.gitattributes
		sed -nE 's,^diff --git a/(.*) b/(.*)$,/\1\n/\2,p' "$@" | sort -u
	} | cleangit -C "$wt" sparse-checkout set --no-cone --stdin
	cleangit -C "$wt" checkout -q --detach "$at"
}
