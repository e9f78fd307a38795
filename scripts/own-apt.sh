#!/bin/bash
# Make an apt of our own in FOLDER, with this machine's way to the archive: nothing of the
# machine changes, and no rights are needed; its proxies and certificates count. The
# configuration, for APT_CONFIG: FOLDER/apt.conf.
#
#   own-apt.sh FOLDER deb|deb-src SUITE...
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

apt=$1 kind=$2
shift 2
need apt-get apt
mirror=$("$SCRIPTS/apt-host.sh" mirror)
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
: >"$apt/status"
# The archive's key: from the toolchain root, as this host may be older than it.
ring=$("$SCRIPTS/toolroot.sh" --path)/usr/share/keyrings/debian-archive-keyring.gpg
by=
if [ -r "$ring" ]; then by=" [signed-by=$ring]"; fi
for suite; do echo "$kind$by $mirror $suite main"; done >"$apt/sources.list"
cat >"$apt/apt.conf" <<-END
	Dir::Etc::SourceList "$apt/sources.list";
	Dir::Etc::SourceParts "/dev/null";
	Dir::State::Lists "$apt/lists";
	Dir::State::Status "$apt/status";
	Dir::Cache "$apt/cache";
	APT::Architecture "amd64";
	APT::Architectures {"amd64";};
	APT::Sandbox::User "$(id -un)";
END
APT_CONFIG=$apt/apt.conf apt-get -q -o APT::Update::Error-Mode=any update
