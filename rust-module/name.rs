// SPDX-License-Identifier: GPL-2.0

//! The file name of a record.
//!
//! A name ends in at least one NUL and is padded with NULs to a multiple of 8 bytes. Names of what
//! is not a file are those of `/proc/PID/maps`, and `//anon` where that has none.

use core::mem::MaybeUninit;
use kernel::{
    fs::{
        LocalFile,
        Path, //
    },
    mm::virt::VmaRef,
    perf_event::mmap3::{
        padded_path,
        ALIGN, //
    },
    prelude::*, //
};

/// Bytes on the stack for the name of a file. Few need more, and an allocation costs as much as the
/// rest of the record.
const STACK_SIZE: usize = 256;

/// The most bytes of the name of what is not a file, with its padding. The kernel's own are short,
/// and those that user space can give have at most 79.
const SPECIAL_SIZE: usize = 128;

// What is cut to leave room for the padding can be padded.
static_assert!(SPECIAL_SIZE % ALIGN == 0 && SPECIAL_SIZE > ALIGN);

/// Calls `f` with the padded name of `file`, which `vma` maps: its path, as seen from the root of
/// the current task. Shared anonymous memory has a file, and is told by the name that it was given.
///
/// Where the path does not fit into `PATH_MAX`, or `d_path()` has none for another reason, the name
/// is `//toolong`, as for MMAP2, and `//enomem` where memory is short, so that the mapping is not
/// lost with its name.
#[inline]
pub(crate) fn with_name_of_file<T>(vma: &VmaRef, file: &LocalFile, f: impl Fn(&[u8]) -> T) -> T {
    if let Some(name) = vma.anon_name() {
        let parts: [&[u8]; 3] = [b"[anon_shmem:", name.to_bytes(), b"]"];

        return f(padded_copy(&parts, &mut [0; SPECIAL_SIZE]));
    }

    // Most of it is never written to, so filling it first would cost more than the name.
    let mut stack = [const { MaybeUninit::uninit() }; STACK_SIZE];

    match padded_path(file.user_path(), &mut stack) {
        Ok(name) => f(name),
        Err(_) => with_long_name_of_file(file, &f),
    }
}

/// The same for a name that does not fit on the stack.
#[cold]
fn with_long_name_of_file<T>(file: &LocalFile, f: &dyn Fn(&[u8]) -> T) -> T {
    let Ok(mut heap) = KVec::with_capacity(Path::SIZE_MAX, GFP_KERNEL) else {
        return f(b"//enomem\0\0\0\0\0\0\0\0");
    };

    match padded_path(file.user_path(), heap.spare_capacity_mut()) {
        Ok(name) => f(name),
        Err(_) => f(b"//toolong\0\0\0\0\0\0\0"),
    }
}

/// Calls `f` with the padded name of memory that has no file.
#[inline]
pub(crate) fn with_name_of_memory<T>(vma: &VmaRef, f: impl Fn(&[u8]) -> T) -> T {
    if let Some(name) = vma.special_name() {
        f(padded_copy(&[name.to_bytes()], &mut [0; SPECIAL_SIZE]))
    } else if vma.is_initial_heap() {
        f(b"[heap]\0\0")
    } else if vma.is_initial_stack() {
        f(b"[stack]\0")
    } else if let Some(name) = vma.anon_name() {
        let parts: [&[u8]; 3] = [b"[anon:", name.to_bytes(), b"]"];

        f(padded_copy(&parts, &mut [0; SPECIAL_SIZE]))
    } else {
        f(b"//anon\0\0")
    }
}

/// Joins the `parts` of a name in `buf`, which is all NULs, and returns it with its padding. What
/// does not fit is cut off.
fn padded_copy<'a>(parts: &[&[u8]], buf: &'a mut [u8; SPECIAL_SIZE]) -> &'a [u8] {
    let name = parts.iter().copied().flatten().take(SPECIAL_SIZE - ALIGN);
    let mut len: usize = 0;

    for (to, from) in buf.iter_mut().zip(name) {
        *to = *from;
        len += 1;
    }
    buf.get(..(len + 1).next_multiple_of(ALIGN))
        .unwrap_or_default()
}

#[cfg(CONFIG_PERF_MMAP3_KUNIT_TEST)]
#[kunit_tests(perf_mmap3_name)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_in_a_nul_and_a_multiple_of_8() {
        let name = [b'x'; SPECIAL_SIZE];

        for len in 0..=SPECIAL_SIZE - ALIGN {
            let mut buf = [0; SPECIAL_SIZE];
            let padded = padded_copy(&[&name[..len]], &mut buf);

            assert_eq!(padded.len() % ALIGN, 0);
            assert!(padded.len() > len);
            assert!(padded.len() <= len + ALIGN);
            assert!(padded.iter().take(len).all(|&b| b == b'x'));
            assert!(padded.iter().skip(len).all(|&b| b == 0));
        }
    }

    #[test]
    fn what_does_not_fit_is_cut() {
        let mut buf = [0; SPECIAL_SIZE];
        let padded = padded_copy(&[&[b'x'; SPECIAL_SIZE + 1]], &mut buf);

        assert_eq!(padded.len(), SPECIAL_SIZE);
        assert_eq!(
            padded.iter().filter(|&&b| b == b'x').count(),
            SPECIAL_SIZE - ALIGN
        );
        assert!(padded.iter().rev().take(ALIGN).all(|&b| b == 0));
    }

    #[test]
    fn parts_are_joined() {
        let mut buf = [0; SPECIAL_SIZE];

        assert_eq!(
            padded_copy(&[b"[anon:", b"", b"name", b"]"], &mut buf),
            b"[anon:name]\0\0\0\0\0"
        );
        assert_eq!(padded_copy(&[], &mut [0; SPECIAL_SIZE]), [0; ALIGN]);
    }

    #[test]
    fn what_does_not_fit_is_cut_in_any_part() {
        let part = [b'x'; SPECIAL_SIZE / 2];
        let mut buf = [0; SPECIAL_SIZE];
        let padded = padded_copy(&[&part, &part, b"]"], &mut buf);

        assert_eq!(padded.len(), SPECIAL_SIZE);
        assert!(padded.iter().take(SPECIAL_SIZE - ALIGN).all(|&b| b == b'x'));
        assert!(padded.iter().rev().take(ALIGN).all(|&b| b == 0));
    }
}
