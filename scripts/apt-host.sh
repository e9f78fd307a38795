#!/bin/bash
# How this machine reaches Debian's archive, so that no host name is kept here.
#
#   apt-host.sh mirror     the archive's base address, from the host's apt sources
#   apt-host.sh options    the host's proxies and certificates, as apt.conf lines
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

case ${1:-} in
mirror)
	if [ -n "${MIRROR:-}" ]; then echo "$MIRROR"; exit; fi
	need apt-get apt
	# The targets are those of the last `apt-get update`; security has its own site.
	# shellcheck disable=SC2016 # apt's own placeholders
	m=$(apt-get indextargets --format '$(ORIGIN)|$(COMPONENT)|$(SITE)' 'Created-By: Packages' |
		awk -F'|' '($1 == "Debian" || $1 == "") && $2 == "main" && $3 !~ /security/ { print $3; exit }')
	[ -n "$m" ] || die "this machine's apt knows no Debian archive: run apt-get update as root, or set MIRROR= to the address of one"
	echo "$m"
	;;
options)
	command -v apt-config >/dev/null || exit 0
	# One line a setting, already quoted; empty ones carry nothing.
	apt-config dump | grep -E '^Acquire::[a-z]+::.*(Proxy|CaInfo|CaPath|Verify|SslCert|SslKey|Timeout|Retries)' |
		grep -v '"";$' || :
	apt-config dump | grep -E '^Acquire::(Retries|Check-Valid-Until|Check-Date) ' || :
	;;
*) die "usage: apt-host.sh mirror|options" ;;
esac
