#!/bin/bash
# Boot one kernel in one mode of qemu-images/init; boot.py does it and has the rest.
#
#   boot.sh ARCH VARIANT MODE [OPTION OF boot.py]...
#   DEADLINE=S     seconds the boot may take         ACCEL=tcg|kvm   instead of the rule
#   RUN=PROGRAM    mode test: this program alone      PERF=1   mode test: perf's, too
#   ARGS=WORDS     with RUN: its arguments            TIMEOUT=S       and its time
#
# Logs: run_dir ARCH VARIANT MODE. Exit code: boot.py's.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

[ $# -ge 3 ] || die "usage: boot.sh ARCH VARIANT MODE"
arch=$1 variant=$2 mode=$3
shift 3
need_arch "$arch"
out=$(out_dir "$arch" "$variant")
# A kernel with slow checks has more time to boot, for each program, and in all; it
# ends at the first complaint, so that what follows from that hides nothing.
case " $(variant_get "$variant" config) " in
*" debug "*)
	APPEND="mmap3.limit=90 mmap3.slow=4 panic_on_warn=1 ${APPEND:-}"
	DEADLINE=${DEADLINE:-3600}
	# While the boot processor is identified it has no LA57 for a moment, and KASAN takes
	# what an interrupt then touches for wild.
	if [ "$arch" = x86_64 ]; then APPEND="no5lvl $APPEND"; fi
	;;
esac
if [ -n "${ARGS:-}${TIMEOUT:-}" ]; then
	[ -n "${RUN:-}" ] || die "ARGS and TIMEOUT are for one program: name it with RUN="
	case ${ARGS:-} in *,*) die "ARGS='$ARGS': no commas, they part the words on their way" ;; esac
	case ${TIMEOUT:-0} in *[!0-9]*) die "TIMEOUT=$TIMEOUT: give seconds" ;; esac
	APPEND="${ARGS:+mmap3.args=${ARGS// /,}} ${TIMEOUT:+mmap3.timeout=$TIMEOUT} ${APPEND:-}"
	# the boot needs some time, too
	[ -z "${TIMEOUT:-}" ] || DEADLINE=${DEADLINE:-$((TIMEOUT + 300))}
fi
take_lock "boot-$arch-$variant-$mode"
# A boot that cannot even start must not leave an older one's result.
run=$CACHE/runs/$arch-$variant-$mode
rm -rf "$run"
perf=
if [ "${PERF:-0}" != 0 ]; then perf=mmap3.perf=1; fi
set -- "$@" --append "${RUN:+mmap3.run=$RUN} $perf ${APPEND:-}"
exec "$SCRIPTS/in-toolroot.sh" --kvm env "ACCEL=${ACCEL:-}" "DEADLINE=${DEADLINE:-}" \
	python3 "$SCRIPTS/boot.py" --arch "$arch" --kernel "$out/kernel" --image "$out/image.cpio" \
	--mode "$mode" --run "$run" "$@"
