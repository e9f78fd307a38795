#!/bin/bash
# Build and boot every kernel of variants.tsv; the lines of its column 'mode' say
# whether all tests run in it or it only has to reach user space.
#
#   variants.sh [ARCH]...       all arches if none is named
#
# Goes on after a failure; ends with a table. Exit code: the worst one met.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

[ $# -gt 0 ] || mapfile -t ALL < <(arches)
[ $# -gt 0 ] || set -- "${ALL[@]}"
for arch in "$@"; do need_arch "$arch"; done
worst=0 table=()
passed=0 failed=0 skipped=0
for arch in "$@"; do
	for variant in $(variants); do
		case " $(variant_get "$variant" arches) " in
		*" $arch "*) ;;
		*)
			table+=("SKIP  $arch $variant: $(variant_get "$variant" what)")
			skipped=$((skipped + 1))
			continue
			;;
		esac
		say "variant $variant on $arch: $(variant_get "$variant" what)"
		mode=$(variant_get "$variant" mode)
		rc=0
		"$SCRIPTS/ready.sh" "$arch" "$variant" || rc=$?
		if [ "$rc" = 0 ]; then
			run=$CACHE/runs/$arch-$variant-$mode
			rm -rf "$run"
			"$SCRIPTS/boot.sh" "$arch" "$variant" "$mode" || rc=$?
			if [ "$mode" = test ]; then
				# The guest's own word is not enough: a plan may be short.
				rc=0
				"$SCRIPTS/in-toolroot.sh" python3 "$SCRIPTS/judge.py" \
					--kunit "$TREE/tools/testing/kunit" "$run" || rc=$?
			fi
		fi
		if [ "$rc" = 0 ]; then
			table+=("ok    $arch $variant ($mode)")
			passed=$((passed + 1))
		else
			table+=("FAIL  $arch $variant ($mode), exit code $rc")
			failed=$((failed + 1))
			if [ "$rc" -gt "$worst" ]; then worst=$rc; fi
		fi
	done
done
printf '%s\n' "${table[@]}" "$passed passed, $failed failed, $skipped skipped"
exit "$worst"
