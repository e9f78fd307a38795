// SPDX-License-Identifier: GPL-2.0

//! The layout of `PERF_RECORD_MMAP3`, from behind the header up to the file name.
//!
//! There are three forms, told apart by `header.misc`; see `include/uapi/linux/perf_event.h`. Each
//! is a type that can be turned into bytes only if it has no padding.

use crate::access::Access;
use core::mem::{
    offset_of,
    size_of, //
};
use kernel::{
    buildid::BuildId,
    fs::{
        inode::DeviceNumber,
        Inode, //
    },
    num::casts::{
        FromSafeCast,
        IntoSafeCast, //
    },
    page::PAGE_SHIFT,
    perf_event::mmap3::Mapping,
    prelude::*, //
};
use zerocopy_derive::{
    Immutable,
    IntoBytes, //
};

/// Where a mapping is, and what part of the file is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Immutable, IntoBytes)]
#[repr(C)]
pub(crate) struct Place {
    /// First address.
    pub(crate) addr: u64,
    /// Length, in bytes.
    pub(crate) len: u64,
    /// Offset in the file of what is at `addr`, in bytes.
    pub(crate) pgoff: u64,
}

/// Which inode a file has.
#[derive(Clone, Copy)]
pub(crate) struct InodeIdentity {
    pub(crate) device: DeviceNumber,
    pub(crate) ino: u64,
    pub(crate) generation: u32,
}

impl InodeIdentity {
    pub(crate) fn of(inode: &Inode) -> Self {
        Self {
            device: inode.device(),
            ino: inode.ino(),
            generation: inode.generation(),
        }
    }
}

/// A mapping of a file, told by its inode.
#[derive(Immutable, IntoBytes)]
#[repr(C)]
pub(crate) struct InodeBody {
    place: Place,
    maj: u32,
    min: u32,
    ino: u64,
    ino_generation: u64,
    prot: u32,
    flags: u32,
}

/// A mapping of a file, told by its build ID.
#[derive(Immutable, IntoBytes)]
#[repr(C)]
pub(crate) struct BuildIdBody {
    place: Place,
    build_id_size: u8,
    reserved_1: u8,
    reserved_2: u16,
    build_id: [u8; BuildId::SIZE_MAX],
    prot: u32,
    flags: u32,
}

/// A mapping of memory that has no file.
#[derive(Immutable, IntoBytes)]
#[repr(C)]
pub(crate) struct NoFileBody {
    place: Place,
    prot: u32,
    flags: u32,
}

// The ABI, from `include/uapi/linux/perf_event.h`. The offsets there are 8 more, for the header.
static_assert!(offset_of!(Place, addr) == 0);
static_assert!(offset_of!(Place, len) == 8);
static_assert!(offset_of!(Place, pgoff) == 16);

static_assert!(size_of::<InodeBody>() == 56);
static_assert!(offset_of!(InodeBody, maj) == 24);
static_assert!(offset_of!(InodeBody, min) == 28);
static_assert!(offset_of!(InodeBody, ino) == 32);
static_assert!(offset_of!(InodeBody, ino_generation) == 40);
static_assert!(offset_of!(InodeBody, prot) == 48);
static_assert!(offset_of!(InodeBody, flags) == 52);

static_assert!(size_of::<BuildIdBody>() == size_of::<InodeBody>());
static_assert!(offset_of!(BuildIdBody, build_id_size) == 24);
static_assert!(offset_of!(BuildIdBody, reserved_1) == 25);
static_assert!(offset_of!(BuildIdBody, reserved_2) == 26);
static_assert!(offset_of!(BuildIdBody, build_id) == 28);
static_assert!(offset_of!(BuildIdBody, prot) == offset_of!(InodeBody, prot));
static_assert!(offset_of!(BuildIdBody, flags) == offset_of!(InodeBody, flags));

static_assert!(size_of::<NoFileBody>() == 32);
static_assert!(offset_of!(NoFileBody, prot) == 24);
static_assert!(offset_of!(NoFileBody, flags) == 28);

impl Place {
    /// Returns the place of the range that was asked for, or `None` if its VMA does not hold it.
    pub(crate) fn of(mapping: &Mapping) -> Option<Self> {
        let page_index = mapping.vma().linear_page_index(mapping.start())?;

        Some(Self::new(mapping.start(), mapping.end(), page_index))
    }

    fn new(start: usize, end: usize, page_index: usize) -> Self {
        Self {
            addr: start.into_safe_cast(),
            len: end.saturating_sub(start).into_safe_cast(),
            // On 32 bits an offset needs more bits than a page index, so widen before the shift.
            pgoff: u64::from_safe_cast(page_index) << PAGE_SHIFT,
        }
    }
}

impl InodeBody {
    pub(crate) fn new(place: Place, inode: InodeIdentity, access: Access) -> Self {
        Self {
            place,
            maj: inode.device.major,
            min: inode.device.minor,
            ino: inode.ino,
            ino_generation: u64::from(inode.generation),
            prot: access.prot,
            flags: access.flags,
        }
    }
}

impl BuildIdBody {
    pub(crate) fn new(place: Place, build_id: &BuildId, access: Access) -> Self {
        Self {
            place,
            build_id_size: build_id.size(),
            reserved_1: 0,
            reserved_2: 0,
            build_id: build_id.padded_bytes(),
            prot: access.prot,
            flags: access.flags,
        }
    }
}

impl NoFileBody {
    pub(crate) fn new(place: Place, access: Access) -> Self {
        Self {
            place,
            prot: access.prot,
            flags: access.flags,
        }
    }
}

#[cfg(CONFIG_PERF_MMAP3_KUNIT_TEST)]
#[kunit_tests(perf_mmap3_layout)]
mod tests {
    use super::*;
    use zerocopy::IntoBytes;

    const PLACE: Place = Place {
        addr: 0x1122_3344_5566_7788,
        len: 0x99aa_bbcc_ddee_f001,
        pgoff: 0x0213_2435_4657_6879,
    };

    const ACCESS: Access = Access { prot: 5, flags: 2 };

    /// Returns the native-endian 32-bit word at `at`.
    fn word(bytes: &[u8], at: usize) -> Option<u32> {
        let word = bytes.get(at..at + 4)?;
        word.try_into().ok().map(u32::from_ne_bytes)
    }

    /// Returns the native-endian 64-bit word at `at`.
    fn double_word(bytes: &[u8], at: usize) -> Option<u64> {
        let word = bytes.get(at..at + 8)?;
        word.try_into().ok().map(u64::from_ne_bytes)
    }

    fn assert_starts_with_place(bytes: &[u8]) {
        assert_eq!(double_word(bytes, 0), Some(PLACE.addr));
        assert_eq!(double_word(bytes, 8), Some(PLACE.len));
        assert_eq!(double_word(bytes, 16), Some(PLACE.pgoff));
    }

    #[test]
    fn inode_form() {
        let identity = InodeIdentity {
            device: DeviceNumber {
                major: 0x0102_0304,
                minor: 0x0506_0708,
            },
            ino: 0x1112_1314_1516_1718,
            generation: 0x2122_2324,
        };
        let body = InodeBody::new(PLACE, identity, ACCESS);
        let bytes = body.as_bytes();

        assert_starts_with_place(bytes);
        assert_eq!(word(bytes, 24), Some(0x0102_0304));
        assert_eq!(word(bytes, 28), Some(0x0506_0708));
        assert_eq!(double_word(bytes, 32), Some(0x1112_1314_1516_1718));
        assert_eq!(double_word(bytes, 40), Some(0x2122_2324));
        assert_eq!(word(bytes, 48), Some(5));
        assert_eq!(word(bytes, 52), Some(2));
        assert_eq!(bytes.len(), 56);
    }

    #[test]
    fn build_id_form() {
        let build_id = BuildId::from_padded(*b"\xffid\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 4);
        let body = build_id.map(|build_id| BuildIdBody::new(PLACE, &build_id, ACCESS));
        let bytes = body.as_ref().map_or(&[][..], IntoBytes::as_bytes);

        assert_starts_with_place(bytes);
        // Its size, and 3 reserved bytes.
        assert_eq!(bytes.get(24..28), Some(&b"\x04\0\0\0"[..]));
        assert_eq!(bytes.get(28..32), Some(&b"\xffid\0"[..]));
        assert_eq!(bytes.get(32..48), Some(&[0; 16][..]));
        assert_eq!(word(bytes, 48), Some(5));
        assert_eq!(word(bytes, 52), Some(2));
        assert_eq!(bytes.len(), 56);
    }

    #[test]
    fn no_file_form_has_no_union() {
        let body = NoFileBody::new(PLACE, ACCESS);
        let bytes = body.as_bytes();

        assert_starts_with_place(bytes);
        assert_eq!(word(bytes, 24), Some(5));
        assert_eq!(word(bytes, 28), Some(2));
        assert_eq!(bytes.len(), 32);
    }

    #[test]
    fn place_of_a_range() {
        let place = Place::new(0x7000, 0x9000, 3);

        assert_eq!(place.addr, 0x7000);
        assert_eq!(place.len, 0x2000);
        assert_eq!(place.pgoff, 3 << PAGE_SHIFT);
    }
}
