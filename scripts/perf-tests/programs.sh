#!/bin/sh
# Programs recorded with MMAP2 and with MMAP3: the same files with the same build
# IDs, which are those in the files, and the same symbols.
# shellcheck source=ktap.inc
. "${0%/*}/ktap.inc"
plan 14

# symbols FILE PERCENT: files and symbols with so many of the samples or more
symbols() {
	for key in dso sym; do
		perf report -i "$1" --stdio -q --sort $key --percent-limit "$2" 2>/dev/null |
			awk 'NF && $NF !~ /^0x/ { print $NF }' | sort -u
	done
}

# lost_symbols FILE1 FILE2: what has a fifth of the samples of one, and none of the other
lost_symbols() {
	symbols "$1" 20 >many
	symbols "$2" 0 >all
	[ -s many ] || echo "no symbols in $1"
	grep -vxFf all many | sed "s/\$/ is in $1 only/"
}

# ids_in_files FILE: what is wrong with the build IDs in its records
ids_in_files() {
	mappings "$1" | sort -u | while read -r record id path; do
		case $id in
		"<"*">"*) ;;
		*) continue ;;
		esac
		id=${id#<} id=${id%>}
		in_file=$(perf buildid-list -i "$path" 2>/dev/null)
		[ "$id" = "$in_file" ] || echo "$record of $path has $id, the file ${in_file:-none};"
	done
}

# both NAME COMMAND...
both() {
	name=$1
	shift
	if ! record mmap2 "$name.2" "$@" || ! record mmap3 "$name.3" "$@"; then
		not_ok "${name}_files" "cannot be recorded"
		not_ok "${name}_build_ids" "cannot be recorded"
		not_ok "${name}_symbols" "cannot be recorded"
		return
	fi
	for form in 2 3; do
		mappings "$name.$form" | cut -d' ' -f2- | sort -u >"files.$form"
	done
	diff files.2 files.3 >files.diff
	[ -s files.2 ] || echo "nothing was recorded" >>files.diff
	show files.diff
	mappings "$name.3" | grep -q '^MMAP3 .*>' || echo "no MMAP3 with a build ID" >>files.diff
	verdict "${name}_files" "$(tail -n 1 files.diff)"
	verdict "${name}_build_ids" "$(ids_in_files "$name.3")"
	verdict "${name}_symbols" "$(lost_symbols "$name.2" "$name.3"; lost_symbols "$name.3" "$name.2")"
}

both pipeline sh -c 'seq 30000 | sort -n | md5sum'
both threads perf test -w thloop 1
both dlopen "$here/dlopen" "$here/dlopen plugin.so"
if [ -x /usr/bin/python3 ]; then
	# the first run leaves what Python compiles, so that the two that are recorded are alike
	PYTHONPATH="$here" python3 "$here/script.py" >expected 2>log || show log
	export PYTHONPATH="$here"
	both script python3 "$here/script.py"
	unset PYTHONPATH
	verdict script_output "$([ -s expected ] || echo "no output"
		for form in 2 3; do grep -qxFf expected "script.$form.out" || echo "another output with MMAP$form"; done)"
else
	for what in files build_ids symbols output; do skip "script_$what" "no Python in the toolchain root for this guest"; done
fi
plugin=$(mappings dlopen.3 | grep -m1 plugin)
[ "$plugin" != "MMAP3 <0102030405060708> $here/dlopen plugin.so" ] || plugin=''
verdict short_build_id_and_space_in_name "$plugin"
for name in threads dlopen; do export_data "$name.3" "$name.data"; done
finish
