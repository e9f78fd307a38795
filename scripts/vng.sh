#!/bin/bash
# The kernel under virtme-ng (x86_64): a prompt with the toolchain root's files inside,
# the module loaded, and this checkout and the caches under their own names. Without
# KVM it takes about a minute to come up.
#
#   vng.sh ARCH [VARIANT]
#   CMD=COMMAND    run this instead of a prompt, and return its exit code
#   DEADLINE=S     seconds that CMD may take; 600
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

arch=${1:-} variant=${2:-default}
need_arch "$arch"
[ "$arch" = x86_64 ] || die "virtme-ng boots x86_64 alone here: leave ARCH=$arch out, or use 'make shell'"
out=$(out_dir "$arch" "$variant")
[ -s "$out/kernel" ] || die "no $variant kernel for $arch in $out: make it with 'make kernel'"

run=$CACHE/runs/$arch-$variant-vng
rm -rf "$run"
mkdir -p "$run"
# Anything but an exit code in this file means that the guest was lost.
module=$(find "$out/modules" -name 'perf_mmap3.ko' 2>/dev/null || :)
{
	if [ -n "$module" ]; then echo "insmod '$module' || exit 2"; fi
	if [ -n "${CMD:-}" ]; then
		printf '%s\n' 'exec 2>&1' "$CMD"
	else
		echo "echo 'kselftests: $(out_dir "$arch")/selftests/perf_events   leave with exit or Ctrl-D'"
		echo 'exec bash -i'
	fi
} >"$run/script"
args=(--run "$out/kernel" --user root --cpus 2 --memory 1G
	# the one folder of the host that the guest may write
	--rwdir /tmp/run=/tmp/run
	# what this kernel has: 9p, not virtiofs; PCI, not the microvm's MMIO
	--force-9p --disable-microvm
	# 7.3 refuses a 9p root without a source, and 1.35 passes none
	--append root=/dev/root
	# this root has no poweroff for virtme-init to call
	--exec 'sh /tmp/run/script; echo $? >/tmp/run/rc; sync; busybox poweroff -f')
[ "${ACCEL:-tcg}" = kvm ] || args+=(--disable-kvm)
inside=("$SCRIPTS/in-toolroot.sh" --kvm --rw "$run" /tmp/run vng "${args[@]}")
say "virtme-ng, $variant kernel (usually 1 min with TCG; console: $run/console)"
printf '   %q' "${inside[@]}"
echo
rc=0
# QEMU truncates a file that is its stdout: hence cat
if [ -n "${CMD:-}" ]; then
	# --verbose: the kernel's log comes on stderr
	timeout -k 10 "${DEADLINE:-600}" "${inside[@]}" --verbose </dev/null 2>"$run/console" | cat || rc=$?
	[ "$rc" != 124 ] || die "$E_DEADLINE" "virtme-ng was not done after ${DEADLINE:-600} s; console: $run/console"
elif [ -t 1 ]; then
	"${inside[@]}" || rc=$?
else
	"${inside[@]}" | cat || rc=$?
fi
[ -s "$run/rc" ] || die "$E_LOST" "virtme-ng ended (status $rc) before the command did; console: $run/console"
exit "$(cat "$run/rc")"
