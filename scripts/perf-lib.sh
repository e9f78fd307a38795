# shellcheck shell=bash
# How perf of the tree is built; source it behind lib.sh.

# What perf record, script, report and inject can do without, and what would need
# a library of its own in the image.
PERF_WITHOUT=(BUILD_BPF_SKEL=0 NO_LIBBPF=1 NO_JEVENTS=1 NO_LIBPYTHON=1
	NO_LIBLLVM=1 NO_CAPSTONE=1 NO_BABELTRACE2=1 NO_LIBDEBUGINFOD=1 NO_LIBPFM4=1 NO_SDT=1
	NO_JVMTI=1 NO_SLANG=1 NO_RUST=1 NO_SHELLCHECK=1 NO_LIBNUMA=1 NO_PERF_READ_VDSO32=1
	NO_PERF_READ_VDSOX32=1)

# perf_flags ARCH clang|gcc: what make is told, into `flags`
perf_flags() {
	flags=("ARCH=$(arch_get "$1" srcarch)")
	case $2 in
	clang) flags+=(LLVM=1) ;;
	gcc) if [ "$1" != x86_64 ]; then flags+=("CROSS_COMPILE=$(arch_get "$1" triplet)-"); fi ;;
	esac
	flags+=("${PERF_WITHOUT[@]}")
}

# perf_libraries ARCH: where pkg-config has to look for them
perf_libraries() { echo "PKG_CONFIG_LIBDIR=/usr/lib/$(arch_get "$1" triplet)/pkgconfig:/usr/share/pkgconfig"; }
