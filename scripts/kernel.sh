#!/bin/bash
# Build one kernel with clang and Rust and put it in its out folder (lib.sh: out_dir).
# At once when nothing it is made of has changed.
#
#   kernel.sh [--fresh] ARCH [VARIANT]       variants: scripts/variants.tsv
#       --fresh: build nothing; exit code 1 when there is something to build
#   COMMIT=    variants with the provider in the tree: of this commit of the tree
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

fresh=
if [ "${1:-}" = --fresh ]; then fresh=1; shift; fi
arch=${1:?usage: kernel.sh ARCH [VARIANT]} variant=${2:-default}
karch=$(arch_get "$arch" karch)
image=$(arch_get "$arch" image)
source=$(variant_get "$variant" source)
case " $(variant_get "$variant" arches) " in
*" $arch "*) ;;
*) die "$variant cannot be built for $arch: $(variant_get "$variant" what)" ;;
esac
configs=${CONFIGS:-$REPO/qemu-images/config} # check-series.sh has some of its own

"$SCRIPTS/toolroot.sh"
"$SCRIPTS/tree.sh"
[ -n "$fresh" ] || take_lock "kernel-$arch-$variant"

# The tree itself is only read. Other sources are worktrees of its repository.
commit=
case $source in
tree) src=$TREE state=$(tree_state) ;;
base) commit=$(git -C "$TREE" rev-parse refs/mmap3/base) ;;
intree) commit=$("$SCRIPTS/intree-patch.sh" ${COMMIT:+"$COMMIT"}) ;;
esac
if [ -n "$commit" ]; then
	src=$CACHE/source/$source
	state=$(git -C "$TREE" rev-parse "$commit^{tree}")
	take_lock "worktree-$source"
	if [ "$(git -C "$src" rev-parse --git-common-dir 2>/dev/null)" != "$TREE/.git" ]; then
		rm -rf "$src"
		git -C "$TREE" worktree prune
		need_space 2500 "a second copy of the source"
		say "checking out $src"
		cleangit -C "$TREE" worktree add -q --detach "$src" "$commit"
	else
		cleangit -C "$src" checkout -q -f --detach "$commit"
	fi
fi

toolroot=$("$SCRIPTS/toolroot.sh" --path)
base=$(git -C "$TREE" rev-parse refs/mmap3/base)
build=$CACHE/build/$arch-$variant-$(hash_of <<<"$toolroot $base")
out=$(out_dir "$arch" "$variant")
log=$LOGS/kernel-$arch-$variant.log

fragments=("$configs/common.config" "$configs/$arch.config")
for f in $(variant_get "$variant" config); do
	[ "$f" = - ] || fragments+=("$configs/$f.config")
done
all=$(cat "$src/kernel/configs/tiny-base.config" "$src/kernel/configs/tiny.config" "${fragments[@]}") ||
	die "no configuration for $variant on $arch (see above)"
flags=("ARCH=$karch" LLVM=1 LOCALVERSION=
	# the same bytes for the same sources
	KBUILD_BUILD_USER=perf-mmap3 KBUILD_BUILD_HOST=localhost
	'KBUILD_BUILD_TIMESTAMP=Sun Nov  1 00:00:00 UTC 2026')
stamp=$( (kernel_state "$state"; echo "$toolroot" "${flags[@]}"; echo "$all"; sha256sum <"$0") | sha256sum)
if [ "$(cat "$build/.stamp" 2>/dev/null)" = "$stamp" ] && [ -e "$out/kernel" ]; then
	say "kernel $arch $variant is up to date ($out)"
	exit
fi
[ -z "$fresh" ] || exit "$E_FAIL"

need_space 1000 "building the $arch kernel"
mkdir -p "$build"
rm -f "$build/.stamp"
kmake() {
	"$SCRIPTS/in-toolroot.sh" --ro "$src" /src --rw "$build" /build --dir /build \
		make -f /src/Makefile "${flags[@]}" "$@"
}
printf '%s\n' "$all" >"$build/all.config"
configure() {
	# Said in one line here rather than by options that vanish.
	if grep '^CONFIG_RUST=' "$build/all.config" | tail -n 1 | grep -q =y; then kmake O=/build rustavailable; fi
	kmake O=/build KCONFIG_ALLCONFIG=/build/all.config allnoconfig
}
failed() { die "the $arch kernel cannot be configured with these tools; log: $log"; }
logged "$log" "configuring the $arch kernel ($variant)" "10 s" configure
# An option whose dependency is missing would vanish without a word.
bad=$(awk -F= '
	FILENAME != ARGV[ARGC - 1] { if (/^CONFIG_/) { want[$1] = substr($0, length($1) + 2); who[$1] = FILENAME } next }
	/^CONFIG_/ { is[$1] = substr($0, length($1) + 2) }
	END { for (k in want) { v = (k in is) ? is[k] : "n"
		if (v != want[k]) { sub(/.*\//, "", who[k]); print k "=" want[k] " (" who[k] ") became " v } } }' \
	"${fragments[@]}" "$build/.config")
[ -z "$bad" ] || die "options did not take effect on $arch: $(paste -sd';' <<<"$bad")"

total=$(cat "$build/.steps" 2>/dev/null || cat "$CACHE/build/.steps" 2>/dev/null || echo 1000)
steps() { grep -cE '^  [A-Z]+( \[M\])? +[^ ]' "$log"; }
progress_line() { echo "step $(steps) of about $total (fewer when something was built before)"; }
compile() { kmake O=/build "-j$JOBS" "$(basename "$image")" modules; }
failed() {
	# The sandbox's names of the folders mean nothing to the reader.
	first=$(grep -m1 -E '(^|[^-])error(\[|:)|Error [0-9]' "$log" | sed "s,/src/,$src/,g" || :)
	die "the $arch kernel ($variant) does not build: ${first:-see the log}; log: $log"
}
logged "$log" "building the $arch kernel ($variant)" "10 to 15 min on 2 cores new, 1 to 3 min with a warm ccache" compile
# A whole build prints the most steps; later, partial ones must not shrink it.
if [ "$(steps)" -gt "$(cat "$build/.steps" 2>/dev/null || echo 0)" ]; then
	steps | tee "$build/.steps" >"$CACHE/build/.steps"
fi

mkdir -p "$out/modules"
rm -f "$out"/modules/*.ko
cp "$build/$image" "$out/kernel"
cp "$build/.config" "$out/config"
cp "$build/include/config/kernel.release" "$out/release"
ln -sfn "$build" "$out/build"
ln -sfn "$build/vmlinux" "$out/vmlinux"
if [ "$source" = intree ]; then
	find "$build/kernel/events" -name '*.ko' -exec cp {} "$out/modules/" \;
fi
# Somebody may have worked in the tree meanwhile: then this is no whole state of it,
# and the next run looks again.
if [ "$source" = tree ] && [ "$(kernel_state "$(tree_state)")" != "$(kernel_state "$state")" ]; then
	warn "$TREE changed during the build; run it again for the newest"
else
	echo "$stamp" >"$build/.stamp"
fi
say "kernel $arch $variant: $out/kernel ($(cat "$out/release"))"
