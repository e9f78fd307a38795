// SPDX-License-Identifier: GPL-2.0

//! What may be done with a mapping, in the terms of `mmap(2)`.

use kernel::{
    mm::{
        mman,
        virt::{
            flags,
            vm_flags_t, //
        }, //
    },
    prelude::*, //
};

/// The fields `prot` and `flags` of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    /// `PROT_READ`, `PROT_WRITE`, `PROT_EXEC`.
    pub(crate) prot: u32,
    /// `MAP_SHARED` or `MAP_PRIVATE`, `MAP_LOCKED`, `MAP_HUGETLB`.
    pub(crate) flags: u32,
}

impl Access {
    /// Translates the flags of a VMA, as `PERF_RECORD_MMAP2` does.
    pub(crate) fn of(vm_flags: vm_flags_t) -> Self {
        let when = |vm_flag, bits| if vm_flags & vm_flag != 0 { bits } else { 0 };

        // A shared mapping that can't be made writable has lost `VM_SHARED`, but not
        // `VM_MAYSHARE`.
        let shared = if vm_flags & flags::MAYSHARE != 0 {
            mman::MAP_SHARED
        } else {
            mman::MAP_PRIVATE
        };

        Self {
            prot: when(flags::READ, mman::PROT_READ)
                | when(flags::WRITE, mman::PROT_WRITE)
                | when(flags::EXEC, mman::PROT_EXEC),
            flags: shared
                | when(flags::LOCKED, mman::MAP_LOCKED)
                | when(flags::HUGETLB, mman::MAP_HUGETLB),
        }
    }
}

#[cfg(CONFIG_PERF_MMAP3_KUNIT_TEST)]
#[kunit_tests(perf_mmap3_access)]
mod tests {
    use super::*;

    #[test]
    fn prot_follows_the_vma() {
        assert_eq!(Access::of(flags::NONE).prot, 0);
        assert_eq!(Access::of(flags::READ).prot, 1);
        assert_eq!(Access::of(flags::WRITE).prot, 2);
        assert_eq!(Access::of(flags::EXEC).prot, 4);
        assert_eq!(Access::of(flags::READ | flags::EXEC).prot, 5);
    }

    #[test]
    fn what_may_be_done_later_is_not_prot() {
        let later = flags::MAYREAD | flags::MAYWRITE | flags::MAYEXEC;
        assert_eq!(Access::of(later).prot, 0);
    }

    #[test]
    fn shared_or_private() {
        assert_eq!(Access::of(flags::NONE).flags, mman::MAP_PRIVATE);
        assert_eq!(Access::of(flags::MAYSHARE).flags, mman::MAP_SHARED);
        // What decides is `VM_MAYSHARE`, also for a read-only file.
        assert_eq!(Access::of(flags::SHARED).flags, mman::MAP_PRIVATE);
    }

    #[test]
    fn locked_and_hugetlb() {
        assert_eq!(
            Access::of(flags::LOCKED).flags,
            mman::MAP_PRIVATE | mman::MAP_LOCKED
        );
        assert_eq!(
            Access::of(flags::HUGETLB | flags::MAYSHARE).flags,
            mman::MAP_SHARED | mman::MAP_HUGETLB
        );
    }
}
