# shellcheck shell=bash
# What the checks of one patch share. check-series.sh runs them with the series cut
# behind the patch: TREE, CACHE, N, BASE, LAST, COMMIT, PARENT, PATCH_FILE,
# PROVIDER_FROM, REFERENCE are set. Exit codes: 0 yes, 77 not asked (the last line of
# output is the reason), 78 nothing of the kind in the patch, others no (the last line
# says why).
. "$(dirname "$0")/../lib.sh"

skip() { echo "$*"; exit 77; }
nothing() { exit 78; }
no() { echo "$*"; exit 1; }

inside() { "$SCRIPTS/in-toolroot.sh" --ro "$TREE" /src "$@"; }
have() { inside sh -c "command -v '$1' >/dev/null"; }

# touched FROM PATHSPEC...: files that differ from commit FROM and are still there
touched() { git -C "$TREE" diff --name-only --diff-filter=d "$1" "$COMMIT" -- "${@:2}"; }

# only_new FILE: dies if the messages in FILE are more than those of the unpatched
# source (which are kept when N is 0). Where in a file they are does not matter.
only_new() {
	local new
	sed -E -e 's/\x1b\[[0-9;]*m//g' -e 's/:[0-9]+(:[0-9]+)?:?/:/' "$1" | sort >"$1.sorted"
	if [ "$N" = 0 ]; then
		cp "$1.sorted" "$REFERENCE"
		return
	fi
	[ -e "$REFERENCE" ] || no "nothing is known of the unpatched source"
	new=$(comm -13 "$REFERENCE" "$1.sorted")
	[ -z "$new" ] || { echo "$new"; no "$(wc -l <<<"$new") new: $(head -n 1 <<<"$new")"; }
}
