#!/bin/sh
# What the guest runs for `make`: a program under a recording, and what the kernel
# recorded of it.
cd "$(dirname "$0")" || exit 2
exec ./mmap3_show ./demo_target
