// SPDX-License-Identifier: GPL-2.0

//! The file name of a record.
//!
//! A name ends in at least one NUL and is padded with NULs to a multiple of 8 bytes. Names of what
//! is not a file are those of `PERF_RECORD_MMAP2`.

use core::ops::Range;
use kernel::{
    fs::{
        LocalFile,
        Path, //
    },
    mm::virt::VmaRef,
    prelude::*, //
};

/// What a name is padded to a multiple of.
const ALIGN: usize = 8;

/// Bytes on the stack for a name. Few files need more, and an allocation costs as much as the rest
/// of the record.
const STACK_SIZE: usize = 256;

// What is cut to leave room for the padding can be padded.
static_assert!(STACK_SIZE % ALIGN == 0 && STACK_SIZE > ALIGN);

/// Calls `f` with the padded name of `file`: its path, as seen from the root of the current task.
///
/// Where the path does not fit into `PATH_MAX` or memory is short, the name is `//toolong` or
/// `//enomem`, so that the mapping is not lost with its name.
pub(crate) fn with_name_of_file<T>(file: &LocalFile, f: impl FnOnce(&[u8]) -> T) -> T {
    let path = file.user_path();
    let mut stack = [0; STACK_SIZE];

    if let Some(name) = padded_path(path, &mut stack) {
        return f(name);
    }

    let Ok(mut heap) = KVec::from_elem(0, Path::SIZE_MAX, GFP_KERNEL) else {
        return f(padded_copy(b"//enomem", &mut stack));
    };

    match padded_path(path, &mut heap) {
        Some(name) => f(name),
        None => f(padded_copy(b"//toolong", &mut stack)),
    }
}

/// Calls `f` with the padded name of memory that has no file.
pub(crate) fn with_name_of_memory<T>(vma: &VmaRef, f: impl FnOnce(&[u8]) -> T) -> T {
    let mut stack = [0; STACK_SIZE];
    let name: &[u8] = match vma.special_name() {
        Some(name) => name.to_bytes(),
        None if vma.is_initial_heap() => b"[heap]",
        None if vma.is_initial_stack() => b"[stack]",
        None => b"//anon",
    };

    f(padded_copy(name, &mut stack))
}

/// Writes `path` into `buf` and pads it, or returns `None` if there is no room.
fn padded_path<'a>(path: &Path, buf: &'a mut [u8]) -> Option<&'a [u8]> {
    let room = buf.len().checked_sub(ALIGN)?;
    let at = path.d_path(buf.get_mut(..room)?).ok()?;

    pad(buf, at)
}

/// Copies `name` into `buf` and pads it. What does not fit is cut off.
fn padded_copy<'a>(name: &[u8], buf: &'a mut [u8; STACK_SIZE]) -> &'a [u8] {
    let room = STACK_SIZE - ALIGN;
    let len = name.len().min(room);

    for (to, from) in buf.iter_mut().zip(name.iter().take(room)) {
        *to = *from;
    }
    pad(buf, 0..len).unwrap_or_default()
}

/// Fills `buf` with NULs from the end of `name`, which is a range in it, up to the size that a name
/// may have. Returns the padded name, or `None` if `buf` ends too early.
fn pad(buf: &mut [u8], name: Range<usize>) -> Option<&[u8]> {
    let size = name.len().checked_add(1)?.checked_next_multiple_of(ALIGN)?;
    let padded = name.start..name.start.checked_add(size)?;

    buf.get_mut(name.end..padded.end)?.fill(0);
    buf.get(padded)
}

#[cfg(CONFIG_PERF_MMAP3_KUNIT_TEST)]
#[kunit_tests(perf_mmap3_name)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_in_a_nul_and_a_multiple_of_8() {
        let name = [b'x'; STACK_SIZE];

        for len in 0..=STACK_SIZE - ALIGN {
            let mut buf = [0xff; STACK_SIZE];
            let padded = padded_copy(&name[..len], &mut buf);

            assert_eq!(padded.len() % ALIGN, 0);
            assert!(padded.len() > len);
            assert!(padded.len() <= len + ALIGN);
            assert!(padded.iter().take(len).all(|&b| b == b'x'));
            assert!(padded.iter().skip(len).all(|&b| b == 0));
        }
    }

    #[test]
    fn a_name_of_8_bytes_gets_8_nuls() {
        let mut buf = [0xff; STACK_SIZE];

        assert_eq!(
            padded_copy(b"//enomem", &mut buf),
            b"//enomem\0\0\0\0\0\0\0\0"
        );
    }

    #[test]
    fn what_does_not_fit_is_cut() {
        let mut buf = [0xff; STACK_SIZE];
        let padded = padded_copy(&[b'x'; STACK_SIZE + 1], &mut buf);

        assert_eq!(padded.len(), STACK_SIZE);
        assert_eq!(
            padded.iter().filter(|&&b| b == b'x').count(),
            STACK_SIZE - ALIGN
        );
        assert!(padded.iter().rev().take(ALIGN).all(|&b| b == 0));
    }

    #[test]
    fn padding_starts_where_the_name_ends() {
        // `d_path()` leaves the name at the end of the buffer, or in the middle.
        let mut buf = [0xff; 32];

        assert_eq!(pad(&mut buf, 7..17).map(|padded| padded.len()), Some(16));
        assert_eq!(buf[6], 0xff);
        assert_eq!(buf[7..17], [0xff; 10]);
        assert_eq!(buf[17..23], [0; 6]);
        assert_eq!(buf[23], 0xff);
    }

    #[test]
    fn no_room_for_padding_is_told() {
        let mut buf = [0xff; 15];

        assert_eq!(pad(&mut buf, 0..8), None);
        assert_eq!(buf, [0xff; 15]);
    }
}
