// SPDX-License-Identifier: GPL-2.0

//! Composes `PERF_RECORD_MMAP3` records.
//!
//! perf's core calls [`Mmap3::mapping`] with each mapping that an event is to hear of. What goes
//! into the record is decided here: [`access`] tells permissions and flags, [`name`] the file name,
//! and [`layout`] how all of it is laid out. perf's core adds the header and `sample_id`, and picks
//! for each event the form with or without build ID.

use kernel::{
    fs::LocalFile,
    mm::virt::flags,
    perf_event::mmap3::{
        misc,
        Mapping,
        Provider,
        Record,
        Registration, //
    },
    pr_err_once,
    prelude::*, //
};
use zerocopy::IntoBytes;

mod access;
mod layout;
mod name;

use access::Access;
use layout::{
    BuildIdBody,
    InodeBody,
    InodeIdentity,
    NoFileBody,
    Place, //
};

module! {
    type: PerfMmap3,
    name: "perf_mmap3",
    authors: ["The perf-mmap3 authors"],
    description: "PERF_RECORD_MMAP3 records",
    license: "GPL",
}

struct PerfMmap3 {
    _registration: Registration,
}

impl kernel::Module for PerfMmap3 {
    fn init(_module: &'static ThisModule) -> Result<Self> {
        Ok(Self {
            // SAFETY: It is dropped when the module exits.
            _registration: unsafe { Registration::new::<Mmap3>()? },
        })
    }
}

struct Mmap3;

#[vtable]
impl Provider for Mmap3 {
    fn mapping(mapping: &Mapping) {
        let written = match mapping.vma().file() {
            Some(file) => write_file(mapping, file),
            None => write_memory(mapping),
        };

        // perf's core takes whatever `layout` and `name` can produce.
        if written.is_err() {
            pr_err_once!("a record was not accepted\n");
        }
    }
}

/// Writes the record of a mapping of `file`.
fn write_file(mapping: &Mapping, file: &LocalFile) -> Result {
    let place = Place::of(mapping).ok_or(EINVAL)?;
    let access = Access::of(mapping.vma().flags());
    let inode_body = InodeBody::new(place, InodeIdentity::of(file.user_inode()), access);

    // A file without a build ID, or one whose build ID can't be had, is told by its inode.
    let build_id = if mapping.wants_build_id() {
        mapping.build_id()
    } else {
        None
    };
    let build_id_body = build_id.map(|build_id| BuildIdBody::new(place, &build_id, access));

    name::with_name_of_file(mapping.vma(), file, |name| {
        mapping.output(&Record {
            body: inode_body.as_bytes(),
            build_id_body: build_id_body.as_ref().map(IntoBytes::as_bytes),
            name,
            misc: misc_of(mapping),
        })
    })
}

/// Writes the record of a mapping that has no file.
///
/// Allocates nothing: stack growth comes here with the anon_vma lock held.
fn write_memory(mapping: &Mapping) -> Result {
    let place = Place::of(mapping).ok_or(EINVAL)?;
    let body = NoFileBody::new(place, Access::of(mapping.vma().flags()));

    name::with_name_of_memory(mapping.vma(), |name| {
        mapping.output(&Record {
            body: body.as_bytes(),
            build_id_body: None,
            name,
            misc: misc::NO_FILE | misc_of(mapping),
        })
    })
}

/// Returns the bits of `header.misc` that do not depend on the form.
fn misc_of(mapping: &Mapping) -> u16 {
    if mapping.vma().flags() & flags::EXEC != 0 {
        0
    } else {
        misc::DATA
    }
}
