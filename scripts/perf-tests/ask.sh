#!/bin/sh
# Who asks for MMAP3 gets it; without the module one line says so, and MMAP2 is recorded.
# shellcheck source=ktap.inc
. "${0%/*}/ktap.inc"
plan 6

# forms OPTIONS...: names of the kernel's records of mappings with these options of
# perf record
forms() {
	perf record -e dummy:u -o data "$@" true >log 2>&1 || { show log; return; }
	perf script --show-mmap-events -i data 2>/dev/null | sed -n 's/^ *true .*PERF_RECORD_\(MMAP[23]\) .*/\1/p' |
		sort -u | tr '\n' ' '
}

# expect NAME FORM OPTIONS...
expect() {
	name=$1 form=$2
	shift 2
	got=$(forms "$@")
	verdict "$name" "$([ "$got" = "$form " ] || echo "recorded ${got:-nothing}")"
}

expect default_is_mmap2 MMAP2
expect option_asks MMAP3 --mmap3
printf '[record]\n\tmmap3 = true\n' >"$HOME/.perfconfig"
expect config_asks MMAP3
expect option_overrides_config MMAP2 --no-mmap3
rm "$HOME/.perfconfig"

module=$(modinfo -n perf_mmap3 2>/dev/null)
[ -n "$module" ] || module=$(find "/lib/modules/$(uname -r)" -name perf_mmap3.ko)
if [ -z "$module" ]; then
	skip falls_back_without_module "the provider is built in"
	skip falls_back_while_one_fails_to_load "the provider is built in"
else
	rmmod perf_mmap3 2>/dev/null
	mv "$module" kept
	got=$(forms --mmap3)
	line=$(grep -c '^Recording PERF_RECORD_MMAP2 since the kernel lacks the module' log)
	verdict falls_back_without_module "$([ "$got" = "MMAP2 " ] && [ "$line" = 1 ] ||
		echo "recorded $got and said: $(head -n 3 log | tr '\n' ' ')")"

	# Who took a module that is still loading would hold what goes if its init fails.
	loading() { grep -q '^mmap3_fails_late .* Loading ' /proc/modules; }
	got=
	for _ in 1 2 3; do
		insmod "${module%/*}/mmap3_fails_late.ko" 2>insmod.log &
		for _ in $(seq 50); do ! loading || break; sleep 0.1; done
		got=$(forms --mmap3)
		# else it was gone before the question
		! loading || break
		wait
		got="$got too late"
	done
	wait
	verdict falls_back_while_one_fails_to_load "$([ "$got" = "MMAP2 " ] || echo "recorded $got; insmod: $(cat insmod.log)")"
	mv kept "$module"
	modprobe perf_mmap3
fi
finish
