//! Prints the MMAP2 records of a perf.data file as `perf script --show-mmap-events`
//! does, but as the crate linux-perf-data reads them.
//!
//! usage: mmaps FILE
//!
//! Any other record of a mapping is an error: the file should have none.

use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::process::ExitCode;

use linux_perf_data::linux_perf_event_reader::{EventRecord, Mmap2FileId, Mmap2Record, RecordType};
use linux_perf_data::{PerfFileReader, PerfFileRecord};

/// `PERF_RECORD_MMAP3`, as the kernel numbers it.
const MMAP3: RecordType = RecordType(23);
const PROT_READ: u32 = 1;
const PROT_WRITE: u32 = 2;
const PROT_EXEC: u32 = 4;
const MAP_SHARED: u32 = 1;

/// As `%#x` of C, which knows no `0x0`.
fn hex(value: u64) -> String {
    if value == 0 {
        "0".into()
    } else {
        format!("{value:#x}")
    }
}

fn line(record: &Mmap2Record<'_>) -> String {
    let id = match &record.file_id {
        Mmap2FileId::BuildId(id) => {
            format!(
                "<{}>",
                id.iter().map(|b| format!("{b:02x}")).collect::<String>()
            )
        }
        Mmap2FileId::InodeAndVersion(file) => format!(
            "{:02x}:{:02x} {} {}",
            file.major, file.minor, file.inode, file.inode_generation
        ),
    };
    let flag = |set: bool, c: char| if set { c } else { '-' };
    let prot = record.protection;
    format!(
        "PERF_RECORD_MMAP2 {}/{}: [{}({}) @ {} {id}]: {}{}{}{} {}",
        record.pid,
        record.tid,
        hex(record.address),
        hex(record.length),
        hex(record.page_offset),
        flag(prot & PROT_READ != 0, 'r'),
        flag(prot & PROT_WRITE != 0, 'w'),
        flag(prot & PROT_EXEC != 0, 'x'),
        if record.flags & MAP_SHARED != 0 {
            's'
        } else {
            'p'
        },
        String::from_utf8_lossy(&record.path.as_slice()),
    )
}

fn print(path: &str) -> Result<(), Box<dyn Error>> {
    let reader = BufReader::new(File::open(path)?);
    let PerfFileReader {
        mut perf_file,
        mut record_iter,
    } = PerfFileReader::parse_file(reader)?;
    while let Some(record) = record_iter.next_record(&mut perf_file)? {
        let PerfFileRecord::EventRecord { record, .. } = record else {
            continue;
        };
        if record.record_type == MMAP3 {
            return Err("a PERF_RECORD_MMAP3 is left".into());
        }
        if let EventRecord::Mmap2(mmap2) = record.parse()? {
            println!("{}", line(&mmap2));
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let (Some(path), None) = (args.next(), args.next()) else {
        eprintln!("usage: mmaps FILE");
        return ExitCode::from(2);
    };
    match print(&path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {path}: {e}");
            ExitCode::FAILURE
        }
    }
}
