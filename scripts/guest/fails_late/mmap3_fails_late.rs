// SPDX-License-Identifier: GPL-2.0

//! A provider of `PERF_RECORD_MMAP3` whose module fails to load after it has registered.
//!
//! For scripts/perf-tests/ask.sh: an event that took it would hold a module that is gone.

use kernel::{
    perf_event::mmap3::{
        Mapping,
        Provider,
        Registration, //
    },
    prelude::*,
    time::{
        delay::fsleep,
        Delta, //
    },
};

module! {
    type: FailsLate,
    name: "mmap3_fails_late",
    authors: ["The perf-mmap3 authors"],
    description: "A provider of PERF_RECORD_MMAP3 that fails to load",
    license: "GPL",
}

struct FailsLate;

impl kernel::Module for FailsLate {
    fn init(_module: &'static ThisModule) -> Result<Self> {
        // SAFETY: It is dropped at the end of this function.
        let _registration = unsafe { Registration::new::<Self>()? };

        fsleep(Delta::from_secs(5));
        Err(ENODEV)
    }
}

#[vtable]
impl Provider for FailsLate {
    fn mapping(_mapping: &Mapping) {}
}
