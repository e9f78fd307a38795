#!/bin/bash
# Check a series patch by patch: cut it behind each patch in order and ask everything of
# its table (series/checks.tsv, series/tools.tsv) of what is there by then. Can be stopped: what was
# answered is kept, and asked again only when what it depends on has changed, or when
# the answer was no.
#
#   SERIES=kernel|tools   kernel; the tools series is cut behind the whole kernel series
#   PATCH=1,9,18     only these patches, by number, whether in the table's sample or not
#   CHECKS="a b"     only these checks: words of the table's first column (build: the
#                    kernel builds; boot: those that boot)
#   ARCH=ARCH        only checks of this arch, and those of none
#   TABLE=1          only write the table of what is known
#
# Writes docs/check-series.md (tools: docs/check-tools.md). Exit code 1 if an answer is no.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

series=${SERIES:-kernel}
case $series in
kernel) table=checks report=series ;;
tools) table=tools report=tools ;;
*) die "unknown SERIES '$series': use kernel or tools" ;;
esac
CHECKS_TABLE=${CHECKS_TABLE:-$SCRIPTS/series/$table.tsv}
checks_dir=$(cd "$(dirname "$CHECKS_TABLE")" && pwd -P)
report=${REPORT:-$REPO/docs/check-$report.md}
all_patches=$PATCHES
[ -z "${ARCH:-}" ] || [ "$ARCH" = arm ] || [ "$ARCH" = s390 ] || need_arch "$ARCH"

# A cache inside the cache: the same scripts build the cut series there as build the
# whole one here, and neither spoils what the other has built.
TOOLROOT=$("$SCRIPTS/toolroot.sh" --path)
"$SCRIPTS/toolroot.sh"
export TOOLROOT CCACHE_DIR=$CACHE/ccache
source=$("$SCRIPTS/fetch-source.sh")
take_lock check-series
inner=$CACHE/series
export CACHE=$inner PATCHES=$inner/patches CONFIGS=$inner/config TREE=$inner/tree
LOGS=$CACHE/logs
state=$CACHE/state
mkdir -p "$LOGS" "$state" "$CACHE/source" "$PATCHES/kernel" "$PATCHES/tools" "$CONFIGS"
if [ -z "${KERNEL_SRC:-}" ]; then ln -sfn "$source" "$CACHE/source/${source##*/}"; fi
g() { cleangit -C "$TREE" "$@"; }

mapfile -t files < <(find "$all_patches/$series" -name '*.patch' | sort)
total=${#files[@]}
[ "$total" -gt 0 ] || die "there is no patch in $all_patches/$series"

# only_patches N: what the tree is made of is the series up to patch N, behind all of the
# kernel series for that of the tools
only_patches() {
	cp "$all_patches/BASE" "$PATCHES/"
	rm -f "$PATCHES"/*/*.patch
	if [ "$series" = tools ]; then cp "$all_patches"/kernel/*.patch "$PATCHES/kernel/"; fi
	if [ "$1" -gt 0 ]; then cp "${files[@]:0:$1}" "$PATCHES/$series/"; fi
}

# cut_to N: the tree becomes the series up to patch N (0: unpatched)
at=-1
cut_to() {
	[ "$at" != "$1" ] || return 0
	at=-1
	if [ "$series" = tools ]; then
		# Nothing that asks here makes the tree again, so the commit that is known will do.
		rm -f "$TREE/.git/mmap3-key"
		g checkout -q -B mmap3 "${commits[$1]}"
		g update-ref refs/mmap3/applied HEAD
	else
		only_patches "$1"
		"$SCRIPTS/tree.sh" >"$LOGS/cut.log" 2>&1 || { tail -n 2 "$LOGS/cut.log" >&2; return 1; }
		known_options
	fi
	at=$1
}

# A part of the series has not all the options of the whole: leave out of the fragments
# what only a later patch brings. What no patch brings stays, and fails.
known_options() {
	local f late
	options_of() { git -C "$TREE" grep -hoE '^[[:space:]]*(menu)?config +[A-Z0-9_]+' "$1" -- '*Kconfig*' |
		sed 's/.*config */CONFIG_/' | sort -u; }
	[ -s "$CACHE/options-$whole" ] || options_of "$whole" >"$CACHE/options-$whole"
	late=$(comm -13 <(options_of HEAD) "$CACHE/options-$whole")
	for f in "$REPO"/qemu-images/config/*.config; do
		grep -vE "^($(paste -sd'|' <<<"${late:-none}"))=" "$f" >"$CONFIGS/${f##*/}" || :
	done
}

# The whole series first: every commit is known then.
say "the $series series of $total patches, in $TREE"
only_patches "$total"
"$SCRIPTS/tree.sh"
whole=$(g rev-parse HEAD)
base=$(g rev-parse refs/mmap3/base)
if [ "$series" = tools ]; then base=$(g rev-parse "$whole~$total"); fi
mapfile -t commits < <(echo "$base"; g rev-list --reverse "$base..$whole")
[ ${#commits[@]} = $((total + 1)) ] || die "$TREE has $((${#commits[@]} - 1)) commits for $total patches: remove $CACHE and run it again"
# The provider is one for the whole series: it can be built once all that it calls is there.
provider_from=$total
for ((n = total; n > 0; n--)); do
	[ -z "$(g diff --name-only "${commits[n]}" "$whole" -- rust include/linux/perf_mmap3.h | head -n 1)" ] || break
	provider_from=$n
done

state_of() { # KEY-KIND N: what an answer depends on
	local commit=${commits[$2]}
	echo "$TOOLROOT"
	case $1 in
	# two patches that differ can make the same commit
	commit) echo "$commit"; [ "$2" = 0 ] || cat "${files[$2 - 1]}" ;;
	kernel | guest) kernel_state "$commit" ;;
	uapi) g rev-parse "$commit:include/uapi" ;;
	perf) g ls-tree "$commit:tools" | grep -v '	testing$'; cat "$SCRIPTS/perf-lib.sh" ;;
	esac
	case $1 in kernel | guest) cat "$REPO"/qemu-images/config/{,*/}*.config ;; esac
	if [ "$1" = guest ]; then
		g rev-parse "$commit:tools/testing/selftests"
		find "$REPO/rust-module" "$REPO/qemu-images" -type f -exec sha256sum {} + | sort -k2
	fi
}

declare -A hashes=()
# answer_file N: where the answer of the check of this line is kept, in $file. Most runs
# ask for hundreds of them, so each part is hashed once.
answer_file() {
	local of="$key_kind $1" by="$script $arch $variant"
	[ -n "${hashes[$of]:-}" ] || hashes[$of]=$(state_of "$key_kind" "$1" | hash_of)
	[ -n "${hashes[$by]:-}" ] || hashes[$by]=$( (echo "$by"; cat "$checks_dir/$script.sh") | hash_of)
	file=$state/$slug.${hashes[$of]}.${hashes[$by]}
}

wanted_check() {
	local w
	[ -n "${ARCH:-}" ] && [ "$arch" != - ] && [ "$arch" != "$ARCH" ] && return 1
	[ -n "${CHECKS:-}" ] || return 0
	for w in $CHECKS; do
		case "$w" in "$name" | "$script" | "$variant") return 0 ;; esac
	done
	return 1
}
# in_sample N: whether the check of this line is to be asked of patch N
in_sample() {
	case $patches in
	all) ;;
	sample) [ "$1" = 1 ] || [ "$1" = "$provider_from" ] || [ "$1" = "$total" ] ;;
	last) [ "$1" = "$total" ] ;;
	esac
}
wanted_patch() {
	if [ -n "${PATCH:-}" ]; then grep -qx "$1" <<<"${PATCH//,/$'\n'}"; else in_sample "$1"; fi
}

mapfile -t lines < <(grep -v '^#' "$CHECKS_TABLE")
read_line() {
	IFS=$'\t' read -r name script arch variant key_kind needs_base patches _ <<<"$1"
	slug=${name//[^A-Za-z0-9_]/-}
}
no=0
# ask N: run the check of this line on the series up to patch N
ask() {
	local n=$1 rc=0 start=$SECONDS log said answer file
	answer_file "$n"
	if grep -qE '^(ok|-)' "$file" 2>/dev/null; then return 0; fi
	cut_to "$n" || { printf 'no\t0\tdoes not apply\n' >"$file"; no=1; return 0; }
	log=$LOGS/$(printf %04d "$n")-$slug.log
	progress_line() { sed 's/^ *//' "$log" | tail -n 1 | cut -c1-90; }
	# logged shows what fails; to be skipped is no failure
	run() {
		local rc=0
		"$@" || rc=$?
		case $rc in 77 | 78) echo "$rc" >"$log.rc"; rc=0 ;; esac
		return "$rc"
	}
	rm -f "$log.rc"
	LOG_TAIL=15 logged "$log" "patch $n of $total: $name" "$(cat "$state/usual-$slug" 2>/dev/null || echo "? s")" \
		run env "N=$n" "BASE=$base" "LAST=$whole" "COMMIT=${commits[n]}" "PARENT=${commits[n ? n - 1 : 0]}" \
		"PATCH_FILE=${files[n ? n - 1 : 0]}" "PROVIDER_FROM=$provider_from" \
		"REFERENCE=$state/reference-$slug" \
		"$checks_dir/$script.sh" "$arch" "$variant" || rc=$?
	rc=$(cat "$log.rc" 2>/dev/null || echo "$rc")
	[ "$rc" != 0 ] || echo "$((SECONDS - start)) s" >"$state/usual-$slug"
	said=$(tail -n 1 "$log" | tr '\t' ' ' | cut -c1-200)
	case $rc in
	0) answer=ok said= ;;
	77) answer=SKIP ;;
	78) answer=- said= ;;
	*) answer=no; no=1 ;;
	esac
	printf '%s\t%s\t%s\n' "$answer" "$((SECONDS - start))" "$said" >"$file"
	echo "   patch $n: $name: $answer${said:+ ($said)}"
}

table() {
	local n line answer
	mapfile -t subjects < <(g log --reverse --format=%s "$base..$whole")
	for line in "${lines[@]}"; do
		read_line "$line"
		for ((n = 1; n <= total; n++)); do
			answer_file "$n"
			answer=
			in_sample "$n" || answer=.
			[ ! -e "$file" ] || IFS= read -r answer <"$file"
			printf '%s\t%s\t%s\t%s\n' "$n" "$name" "${subjects[n - 1]}" "$answer"
		done
	done >"$CACHE/answers.tsv"
	python3 "$SCRIPTS/series/table.py" "$CHECKS_TABLE" "$CACHE/answers.tsv" "$series" "$(base_get VERSION)" >"$report.new"
	mv "$report.new" "$report"
	say "table: $report"
}

if [ -z "${TABLE:-}" ]; then
	trap 'table' EXIT
	for ((n = 0; n <= total; n++)); do
		for line in "${lines[@]}"; do
			read_line "$line"
			wanted_check || continue
			if [ "$n" = 0 ]; then [ "$needs_base" = base ]; else wanted_patch "$n"; fi || continue
			ask "$n"
		done
	done
	trap - EXIT
fi
table
[ "$no" = 0 ] || exit "$E_FAIL"
