# shellcheck shell=bash
# What bench.sh, bench-diff.sh and bench-profile.sh share. Source it behind lib.sh, without
# arguments: those of the script that sources it are the arches, all if there are none.

[ $# -gt 0 ] || mapfile -t ALL < <(arches)
[ $# -gt 0 ] || set -- "${ALL[@]}"
for arch in "$@"; do need_arch "$arch"; done

# bench_tool SCRIPT ARGS...: a script of ours, with the toolchain root's Python
bench_tool() {
	local script=$1
	shift
	"$SCRIPTS/in-toolroot.sh" python3 "$SCRIPTS/$script" "$@"
}

# bench_plugin: builds the TCG plugin
bench_plugin() {
	mkdir -p "$CACHE/out"
	"$SCRIPTS/in-toolroot.sh" clang -shared -fPIC -fvisibility=hidden -O2 -Wall -Wextra -Werror \
		-o "$CACHE/out/count.so" "$SCRIPTS/qemu-plugin/count.c" ||
		die "$SCRIPTS/qemu-plugin/count.c does not build (see above)"
}

# bench_boot ARCH VARIANT ARGS TO [OPTION OF boot.py]...: boots the kernel of VARIANT (or that
# of --kernel) with the default image, and leaves TO.out and TO.plugin. Address
# randomisation would change what an operation costs.
bench_boot() {
	local arch=$1 variant=$2 args=$3 to=$4
	local run=$CACHE/runs/$arch-$variant-bench
	shift 4
	rm -f "$to.out" "$to.plugin"
	say "bench $arch, kernel $variant: $args"
	APPEND="mmap3.args=$args nokaslr norandmaps" "$SCRIPTS/boot.sh" "$arch" "$variant" bench \
		--icount --plugin "$CACHE/out/count.so${PLUGIN_ARGS:-}" --image "$(out_dir "$arch" default)/image.cpio" "$@"
	cp "$run/out" "$to.out"
	cp "$run/plugin" "$to.plugin"
}

# bench_output TO: as bench.py takes it. Only x86 has rep string instructions.
bench_output() {
	case $1 in
	*x86_64*) echo "$1.out,$1.plugin" ;;
	*) echo "$1.out" ;;
	esac
}

# bench_profile_head: of docs/bench-profile.md
bench_profile_head() {
	cat <<-TEXT
	# Where the instructions of a record are

	Written by \`make bench-profile\` for base $(base_get VERSION); do not edit. For each function
	the instructions of one mmap + munmap with one event of that kind, less those without an
	event: medians over 240 operations of the same guest as in [bench.md](bench.md). A
	negative number is code that runs only without the event. On x86_64 each iteration of a
	\`rep\` string instruction counts.
	TEXT
}

# bench_head: of docs/bench.md
bench_head() {
	cat <<-TEXT
	# What a mapping's record costs

	Written by \`make bench\` for base $(base_get VERSION); do not edit. The figures are in
	[bench.csv](bench.csv) and drawn in [bench.svg](bench.svg).

	![what an event adds](bench.svg)

	QEMU runs each kernel with \`-icount shift=0,sleep=off\`, so a guest's nanosecond is one
	instruction, with one processor but for the cases \`cpus-N\`, and without address
	randomisation. scripts/guest/bench.c measures one operation: mmap + munmap of four
	executable pages, unless the case says otherwise. A figure is the median over 15
	rounds of what one operation takes with the event, less what it takes without one in
	the same round; behind it are the quartiles. A round has several operations and counts
	as its median, so that timer ticks are not in it. All events of a case are measured in
	each round, one after the other. All have sample_type TID | TIME and sample_id_all.

	Where a goal compares MMAP3 with MMAP2, it is the MMAP2 of the unpatched kernel, as the
	series makes the search for build IDs cheaper for MMAP2, too.

	- file-N: a copy of libc on tmpfs that was mapped before; its path has N characters.
	  ext4-40: one on ext4, where the search before the mmap lock is the only one.
	- fresh: files that were just written and never mapped; evicted: files on ext4
	  whose pages were taken out of memory (their size and build ID are alike, so compare
	  these with one another only).
	- other-task: the event watches a task that sleeps. events-N: N events listen, each with
	  a ring; maps-N: the process has N more maps; cpus-N: a worker on each of N processors,
	  instructions of all of them for each operation.
	- mprotect: a file's pages become executable. brk: the heap grows by four pages; the
	  event has mmap_data.
	- exec: fork + execve + exit of a dynamically linked program, recorded on the whole
	  machine; exec-data: with mmap_data; exec-inherit: by an event on the parent that the
	  child inherits.
	- TCG counts each iteration of a \`rep\` string instruction, a processor does not: a TCG
	  plugin (scripts/qemu-plugin/count.c) tells how many there were, and the tables are
	  given both ways for x86_64. arm64 has no such instructions.
	TEXT
}
