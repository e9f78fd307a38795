#!/bin/bash
# List the verbs of the Makefile and the variables.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

echo "Verbs:"
sed -nE 's/^([a-z-]+):[^#]*## (.*)/  \1\t\2/p' "$REPO/Makefile" | expand -t 16
cat <<END

Variables (make VERB NAME=VALUE, or from the environment):
  ARCH          $(arches | paste -sd'|'); default x86_64 (test: both)
  FLAVOUR       the kernel: $(variants | paste -sd'|')
  CACHE         where everything made lies (now $CACHE)
  TREE          the patched tree (now $TREE)
  KERNEL_SRC    your own base: a tarball, a git tree (its HEAD) or a clean folder
  ANY_VERSION=1 take KERNEL_SRC although its version differs from linux-patches/BASE
  TOOLROOT      your own toolchain root; / for this machine's own tools
  MIRROR        Debian archive to use, where this machine's apt has none
  RUN           test: this kselftest program alone
  ARGS, TIMEOUT test: with RUN, its arguments and its seconds
  PERF=0        test: without perf and its tests
  PATCH=1,9     check-series: these patches alone; CHECKS="build boot": these checks;
                SERIES=tools: of the patches to perf
  V=2           series: the version; compared with the last one, which KEEP=1 kept
  SIGNOFF       series: the sender, "Name <address>"; RFC=1, NEWEST=1: see scripts/series.sh
  BEFORE, AFTER bench-diff: commits of the tree (AFTER: as it is now)
  JOBS          parallel jobs (now $JOBS)
  DISCARD=1     tree: set local work aside as a branch
  REPLACE=1     refresh: overwrite linux-patches with what the tree has
END
