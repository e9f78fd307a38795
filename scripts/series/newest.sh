#!/bin/bash
# Apply the mails with git am -3 to the newest kernel source in Debian (experimental, sid),
# and say which patch stops, and in which files.
#
#   newest.sh FOLDER      of series.sh; writes FOLDER/newest.txt
# shellcheck disable=SC2317 # `logged` calls the functions
set -eu -o pipefail
. "$(dirname "$0")/../lib.sh"

out=$1
log=$LOGS/newest.log
tmp=$CACHE/source/newest.tmp
g() { cleangit -C "$TREE" "$@"; }
need_space 1500 "a second kernel source"
rm -rf "$tmp"
mkdir -p "$tmp/src"
mapfile -t touched < <(sed -nE 's,^diff --git a/(.*) b/(.*)$,\1\n\2,p' "$out"/{kernel,tools}.mbox | sort -u)
# The files that the mails touch are enough: git am looks at no others.
fetch() {
	local prefix
	export APT_CONFIG=$tmp/apt/apt.conf
	"$SCRIPTS/own-apt.sh" "$tmp/apt" deb experimental sid
	# Newest by version, whatever the suite.
	package=$(apt-cache search --names-only '^linux-source-[0-9.]+$' | cut -d' ' -f1 | sort -V | tail -n 1)
	version=$(apt-cache madison "$package" | awk -F' *[|] *' '{ print $2 }' | sort -V | tail -n 1)
	echo "$package $version" | tee "$tmp/name"
	(cd "$tmp" && apt-get -q download "$package=$version")
	dpkg-deb --fsys-tarfile "$tmp"/*.deb | tar -x -O --wildcards './usr/src/*.tar.xz' >"$tmp/source.tar.xz"
	# head ends before tar does
	prefix=$(tar -t -f "$tmp/source.tar.xz" 2>/dev/null | head -n 1 | cut -d/ -f1) || :
	# files that the series adds are not there
	tar -x -f "$tmp/source.tar.xz" -C "$tmp/src" --strip-components=1 "${touched[@]/#/$prefix/}" || :
	[ -e "$tmp/src/MAINTAINERS" ]
}
progress_line() { tail -n 1 "$log"; }
failed() {
	rm -rf "$tmp"
	die "Debian's newest kernel source was not fetched; log: $log"
}
logged "$log" "fetching Debian's newest kernel source" "1 to 5 min" fetch
name=$(cat "$tmp/name")
GIT_INDEX_FILE=$tmp/index g --work-tree="$tmp/src" add -Af .
commit=$(GIT_AUTHOR_NAME=base GIT_AUTHOR_EMAIL=base@localhost g commit-tree -m "$name" "$(GIT_INDEX_FILE=$tmp/index g write-tree)")
rm -rf "$tmp"

wt=$out/newest
worst=0
for s in kernel tools; do
	sparse_worktree "$wt" "$commit" "$out/$s.mbox"
	rc=0
	cleangit -C "$wt" am -q -3 --empty=drop --whitespace=nowarn "$out/$s.mbox" >"$out/newest-$s.log" 2>&1 || rc=$?
	n=$(cleangit -C "$wt" rev-list --count "$commit..HEAD")
	if [ "$rc" = 0 ]; then
		echo "$s: all $n patches apply to $name"
	else
		worst=1
		echo "$s: $n patches apply to $name, the next one does not:"
		sed -nE 's/^(Patch failed at|CONFLICT|error: patch failed:|error: .* does not exist)/  &/p' "$out/newest-$s.log"
	fi
	rm -rf "$wt"
	g worktree prune
done >"$out/newest.txt"
sed 's/^/   /' "$out/newest.txt"
exit "$worst"
