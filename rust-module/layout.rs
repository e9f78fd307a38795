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
    fs::Inode,
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
static_assert!(size_of::<InodeBody>() == 56);
static_assert!(offset_of!(InodeBody, maj) == 24);
static_assert!(offset_of!(InodeBody, min) == 28);
static_assert!(offset_of!(InodeBody, ino) == 32);
static_assert!(offset_of!(InodeBody, ino_generation) == 40);
static_assert!(offset_of!(InodeBody, prot) == 48);
static_assert!(offset_of!(InodeBody, flags) == 52);

static_assert!(size_of::<BuildIdBody>() == size_of::<InodeBody>());
static_assert!(offset_of!(BuildIdBody, build_id_size) == 24);
static_assert!(offset_of!(BuildIdBody, build_id) == 28);
static_assert!(offset_of!(BuildIdBody, prot) == offset_of!(InodeBody, prot));
static_assert!(offset_of!(BuildIdBody, flags) == offset_of!(InodeBody, flags));

static_assert!(size_of::<NoFileBody>() == 32);
static_assert!(offset_of!(NoFileBody, prot) == 24);
static_assert!(offset_of!(NoFileBody, flags) == 28);

// Addresses and page offsets fit.
static_assert!(size_of::<usize>() <= size_of::<u64>());

impl Place {
    /// Returns the place of the range that was asked for.
    pub(crate) fn of(mapping: &Mapping) -> Self {
        Self::new(
            mapping.start(),
            mapping.end(),
            mapping.vma().linear_page_index(mapping.start()),
        )
    }

    fn new(start: usize, end: usize, page_index: usize) -> Self {
        Self {
            addr: start as u64,
            len: end.saturating_sub(start) as u64,
            // A page index can need more bits than an address, so shift what is wide enough.
            pgoff: (page_index as u64) << PAGE_SHIFT,
        }
    }
}

impl InodeBody {
    pub(crate) fn new(place: Place, inode: &Inode, access: Access) -> Self {
        let device = inode.device();

        Self {
            place,
            maj: device.major,
            min: device.minor,
            ino: inode.ino(),
            ino_generation: u64::from(inode.generation()),
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

#[kunit_tests(perf_mmap3_layout)]
mod tests {
    use super::*;
    use zerocopy::IntoBytes;

    const PLACE: Place = Place {
        addr: 0x1122_3344_5566_7788,
        len: 0x99aa_bbcc_ddee_f001,
        pgoff: 0x0213_2435_4657_6879,
    };

    /// Returns the little- or big-endian bytes of 32-bit words, as this machine has them.
    fn word(bytes: &[u8], at: usize) -> Option<u32> {
        let word = bytes.get(at..at + 4)?;
        word.try_into().ok().map(u32::from_ne_bytes)
    }

    fn double_word(bytes: &[u8], at: usize) -> Option<u64> {
        let word = bytes.get(at..at + 8)?;
        word.try_into().ok().map(u64::from_ne_bytes)
    }

    #[test]
    fn place_comes_first_in_every_form() {
        let inode = InodeBody {
            place: PLACE,
            maj: 0,
            min: 0,
            ino: 0,
            ino_generation: 0,
            prot: 0,
            flags: 0,
        };
        let no_file = NoFileBody::new(PLACE, Access { prot: 0, flags: 0 });

        for bytes in [inode.as_bytes(), no_file.as_bytes()] {
            assert_eq!(double_word(bytes, 0), Some(PLACE.addr));
            assert_eq!(double_word(bytes, 8), Some(PLACE.len));
            assert_eq!(double_word(bytes, 16), Some(PLACE.pgoff));
        }
    }

    #[test]
    fn inode_form() {
        let body = InodeBody {
            place: PLACE,
            maj: 0x0102_0304,
            min: 0x0506_0708,
            ino: 0x1112_1314_1516_1718,
            ino_generation: 0x2122_2324_2526_2728,
            prot: 5,
            flags: 2,
        };
        let bytes = body.as_bytes();

        assert_eq!(word(bytes, 24), Some(0x0102_0304));
        assert_eq!(word(bytes, 28), Some(0x0506_0708));
        assert_eq!(double_word(bytes, 32), Some(0x1112_1314_1516_1718));
        assert_eq!(double_word(bytes, 40), Some(0x2122_2324_2526_2728));
        assert_eq!(word(bytes, 48), Some(5));
        assert_eq!(word(bytes, 52), Some(2));
        assert_eq!(bytes.len(), 56);
    }

    #[test]
    fn no_file_form_has_no_union() {
        let body = NoFileBody::new(PLACE, Access { prot: 7, flags: 34 });
        let bytes = body.as_bytes();

        assert_eq!(word(bytes, 24), Some(7));
        assert_eq!(word(bytes, 28), Some(34));
        assert_eq!(bytes.len(), 32);
    }

    #[test]
    fn place_of_a_range() {
        let place = Place::new(0x7000, 0x9000, 3);

        assert_eq!(place.addr, 0x7000);
        assert_eq!(place.len, 0x2000);
        assert_eq!(place.pgoff, 3 << PAGE_SHIFT);
    }

    #[test]
    fn page_offset_of_a_large_file_is_not_cut() {
        let index = 1 << (usize::BITS - 1);

        assert_eq!(
            Place::new(0, 0x1000, index >> PAGE_SHIFT).pgoff,
            (index >> PAGE_SHIFT << PAGE_SHIFT) as u64
        );
    }
}
