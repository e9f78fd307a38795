#!/bin/bash
# Make the mails that a list would get: for the kernel and for the tools series a folder
# of numbered mails and an mbox, with cover letter, the provider as a patch of the tree,
# base-commit and recipients. Sends nothing.
#
#   V=2                       version; from 2 on with a range-diff to the last one, which
#                             linux-patches/sent/ has
#   SIGNOFF="Name <address>"  the sender, who becomes author and signs off every patch
#   RFC=1                     ask for comments
#   KEEP=1                    put the mboxes into linux-patches/sent/: they were sent
#   NEWEST=1                  try them on Debian's newest kernel source, too
#
# The cover letters are linux-patches/cover/; what is in @...@ there is filled in here.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

version=${V:-1}
grep -qxE '[1-9][0-9]?' <<<"$version" || die "V=$version is no version: use 1, 2, 3..."
signoff=${SIGNOFF:-}
[ -z "$signoff" ] || grep -qxE '[^<>]*[^<> ] <[^<>@ ]+@[^<>@ ]+>' <<<"$signoff" ||
	die "SIGNOFF='$signoff' is not of the form 'Name <address>'"
sent=$PATCHES/sent
cover=${COVER:-$REPO/linux-patches/cover}
for s in kernel tools; do
	[ -r "$cover/$s.txt" ] || die "$cover/$s.txt is missing: restore it from git"
	[ "$version" = 1 ] || [ -r "$sent/v$((version - 1))-$s.mbox" ] ||
		die "$sent/v$((version - 1))-$s.mbox is missing, which V=$version is compared with: 'make series V=$((version - 1)) KEEP=1' puts what was sent there"
	[ "$version" = 1 ] || grep -q "^Changes in v$version" "$cover/$s.txt" ||
		die "$cover/$s.txt does not say what changed: add a paragraph 'Changes in v$version:'"
done
need perl
need python3
"$SCRIPTS/tree.sh"
g() { cleangit -C "$TREE" "$@"; }
if [ "$(g rev-parse HEAD)" != "$(g rev-parse refs/mmap3/applied)" ] || [ -n "$(g status --porcelain | head -n 1)" ]; then
	die "$TREE has work that is not in linux-patches: 'make refresh' first"
fi
take_lock series
base=$(g rev-parse refs/mmap3/base)
out=$CACHE/mails/v$version
rm -rf "$out"
mkdir -p "$out"
index=$out/index
trap 'rm -f "$index"' EXIT

# recommit TREE-OBJECT PARENT COMMIT: COMMIT's message and author, signed off if asked
recommit() {
	local who when
	who=${signoff:-$(g log -1 --format='%an <%ae>' "$3")}
	when=$(g log -1 --format=%at "$3")
	g log -1 --format=%B "$3" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' |
		if [ -n "$signoff" ]; then git interpret-trailers --trailer "Signed-off-by: $signoff"; else cat; fi |
		GIT_AUTHOR_NAME=${who% <*} GIT_AUTHOR_EMAIL=$(sed 's/.*<//; s/>$//' <<<"$who") GIT_AUTHOR_DATE="@$when +0000" \
			GIT_COMMITTER_DATE="@$when +0000" g commit-tree -p "$2" -F - "$1"
}

# commits_of kernel|tools: in order, by the rule of refresh.sh
commits_of() {
	local c is
	for c in $(g rev-list --reverse "$base..HEAD"); do
		is=tools
		if g diff-tree -r --no-commit-id --name-only "$c" | grep -qvE '^tools/' ||
			g diff-tree -r --no-commit-id --name-only "$c" | grep -q '^tools/testing/'; then is=kernel; fi
		if [ "$is" = "$1" ]; then echo "$c"; fi
	done
}

# chain kernel|tools: the series on the base, without the other one, which goes to
# another tree. The provider is behind the last patch that it needs, and before the
# tests that need it.
chain() {
	local c tip=$base last='' needs='' provider
	if [ "$1" = kernel ]; then
		last=$(commits_of kernel | tail -n 1)
		for c in $(commits_of kernel); do
			if [ -n "$(g diff-tree -r --no-commit-id --name-only "$c" -- rust include/linux/perf_mmap3.h)" ]; then needs=$c; fi
		done
		last=${needs:-$last}
	fi
	# shellcheck disable=SC2031 # lib.sh has another, in a subshell
	export GIT_INDEX_FILE=$index
	g read-tree "$base"
	for c in $(commits_of "$1"); do
		g diff-tree -p --binary --full-index "$c^" "$c" | g apply --cached --3way 2>"$out/apply.log" ||
			die "$(g log -1 --format='%h (%s)' "$c") does not apply without the other series; log: $out/apply.log"
		tip=$(recommit "$(g write-tree)" "$tip" "$c")
		if [ "$c" = "$last" ]; then
			provider=$(env -u GIT_INDEX_FILE "$SCRIPTS/intree-patch.sh" "$tip")
			g read-tree "$provider"
			tip=$(recommit "$provider^{tree}" "$tip" "$provider")
		fi
	done
	echo "$tip"
}

# apply_mbox FOLDER MBOX...: a worktree there that has base and the mails
apply_mbox() {
	local wt=$1
	shift
	sparse_worktree "$wt" "${ON:-$base}" "$@"
	# the cover letter is an empty patch
	cleangit -C "$wt" am -q --empty=drop --whitespace=nowarn "${THREE_WAY:---no-3way}" "$@"
}
drop_worktree() {
	rm -rf "$1"
	g worktree prune
}

mails() { # SERIES TIP
	local s=$1 tip=$2 args=() prefix=PATCH
	if [ -n "${RFC:-}" ]; then prefix='RFC PATCH'; fi
	if [ "$version" -gt 1 ]; then
		apply_mbox "$out/previous" "$sent/v$((version - 1))-$s.mbox"
		args+=(-v "$version" "--range-diff=$base..$(cleangit -C "$out/previous" rev-parse HEAD)")
		drop_worktree "$out/previous"
	fi
	mkdir "$out/$s"
	GIT_COMMITTER_NAME=${signoff:+${signoff% <*}} GIT_COMMITTER_EMAIL=$(sed 's/.*<//; s/>$//' <<<"$signoff")
	GIT_COMMITTER_NAME=${GIT_COMMITTER_NAME:-perf-mmap3} GIT_COMMITTER_EMAIL=${GIT_COMMITTER_EMAIL:-perf-mmap3@localhost} \
		git -C "$TREE" -c core.abbrev=12 -c format.signature= format-patch -q --cover-letter --numbered --thread=shallow \
		"--base=$base" "--subject-prefix=$prefix" --filename-max-length=64 --diff-algorithm=myers -M \
		--stat=72 --summary --encode-email-headers "${args[@]}" -o "$out/$s" "$base..$tip"
	python3 "$SCRIPTS/series/mails.py" --tree "$TREE" --cover "$cover/$s.txt" --docs "${DOCS:-$REPO/docs}" \
		--base "$(base_get VERSION)" --version "$version" "$out/$s" "$out/$s.mbox"
}

say "the kernel series with the provider"
mails kernel "$(chain kernel)"
say "the tools series"
mails tools "$(chain tools)"

say "git am of both on $(base_get VERSION)"
apply_mbox "$out/check" "$out/kernel.mbox" "$out/tools.mbox" 2>"$out/am.log" ||
	die "$E_FAIL" "the mails do not apply to their own base: $(tail -n 1 "$out/am.log"); log: $out/am.log"
got=$(cleangit -C "$out/check" rev-parse 'HEAD^{tree}')
drop_worktree "$out/check"
want=$(g rev-parse "$("$SCRIPTS/intree-patch.sh" HEAD)^{tree}")
[ "$got" = "$want" ] || die "$E_FAIL" "the mails make another tree ($got) than the tree with the provider in it ($want): compare them in $TREE"
echo "   the same tree as 'make tree' with the provider in it"
"$SCRIPTS/series/debian-files.sh" "$out"/kernel.mbox "$out"/tools.mbox | tee "$out/debian-files.txt" | sed 's/^/   /'
if [ -n "${NEWEST:-}" ]; then
	"$SCRIPTS/series/newest.sh" "$out" || die "$E_FAIL" "the mails do not apply to Debian's newest source: $out/newest.txt"
fi
if [ -n "${KEEP:-}" ]; then
	mkdir -p "$sent"
	for s in kernel tools; do cp "$out/$s.mbox" "$sent/v$version-$s.mbox"; done
	say "kept in $sent as version $version"
fi
for s in kernel tools; do
	say "$s: $(find "$out/$s" -name '*.patch' | wc -l) mails, $out/$s.mbox; recipients: $out/$s/recipients.txt"
done
if [ -z "$signoff" ]; then
	say "not to be sent yet: no patch is signed off; SIGNOFF=\"Name <address>\" adds the sender's"
else
	say "signed off by $signoff; to send: git send-email $out/kernel/*.patch"
fi
