//! A page that people look at, out of the rows that a run has left in a directory.
//!
//! ```text
//! machine.json ──► machine ─────────────────────────────────┐
//! steps.jsonl ───► failures, and what was left out ─────────┤
//!                                                            ▼
//! results.jsonl ──► record: rows and remarks ──► sections ──► page ──► index.html
//!                                      ▲           │    │     ▲
//!                     grouping: which ─┘           ▼    ▼     │
//!                     rows belong together      plot    table ┘
//!                     verdict: what a            │
//!                     ratio says                 └──► image ──► *.png, on request
//! ```
//!
//! `record` reads rows without knowing experiments. `sections` knows them, one file each, and turns rows into plots
//! and tables. `page` lays these out with their commands and data, and adds whatever rows no section has shown:
//! nothing that was measured is dropped. `plot` draws SVG and knows nothing of rows. The page is one file: no
//! script, no font, no picture is fetched.
//!
//! What a ratio means is decided in [`crate::statistics`]; here it is only shown.

mod flame;
mod grouping;
mod image;
mod machine;
mod markup;
mod number;
mod page;
mod plot;
mod record;
mod sections;
mod table;
mod verdict;

use std::fs;
use std::io;
use std::path::Path;

use crate::{BenchError, paper};

pub use flame::Flame;
pub use image::Painter;
pub use page::Page;
pub use plot::Plot;
pub use record::Remark;

use machine::Machine;
use record::Record;

/// The rows of a run, and what they were measured on.
#[derive(Debug, Clone, Default)]
pub struct Report {
    machine: Machine,
    records: Vec<Record>,
    remarks: Vec<Remark>,
    /// Systems that failed in steps of a run of all studies, and how.
    failures: Vec<String>,
    left_out: Vec<String>,
    /// Steps that the host disturbed.
    disturbed: Vec<String>,
}

/// The machine's description, in a directory of results.
pub const MACHINE: &str = "machine.json";
/// The rows, in a directory of results.
pub const RESULTS: &str = "results.jsonl";
/// The page, in a directory of results.
pub const INDEX: &str = "index.html";

impl Report {
    /// Reads a directory of results. A missing or unreadable `machine.json` and lines that are no rows become
    /// remarks; a `steps.jsonl` need not be there.
    ///
    /// # Errors
    ///
    /// [`BenchError::Io`] if there is no `results.jsonl` to read.
    pub fn read(directory: &Path) -> Result<Report, BenchError> {
        let path = directory.join(RESULTS);
        let results = fs::read(&path).map_err(BenchError::io(format!("read {}", path.display())))?;
        let machine = match fs::read(directory.join(MACHINE)) {
            Ok(octets) => Some(octets),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                return Err(BenchError::io(format!("read {}", directory.join(MACHINE).display()))(error));
            }
        };
        let steps = fs::read(directory.join(paper::STEPS)).unwrap_or_default();
        let (failures, left_out) = (paper::failures(&steps), paper::left_out(&steps));
        let disturbed = paper::disturbed(&steps);
        Ok(Report { failures, left_out, disturbed, ..Report::of(machine.as_deref(), &results) })
    }

    /// A report of the contents of `machine.json` and `results.jsonl`.
    pub fn of(machine: Option<&[u8]>, results: &[u8]) -> Report {
        let (records, mut remarks) = record::read(RESULTS, results);
        let machine = match machine {
            Some(octets) => Machine::read(MACHINE, octets),
            None => Err(Remark {
                place: MACHINE.into(),
                what: "not there, so the machine is not described".into(),
            }),
        };
        let machine = machine.unwrap_or_else(|remark| {
            remarks.insert(0, remark);
            Machine::default()
        });
        Report {
            machine,
            records,
            remarks,
            failures: Vec::new(),
            left_out: Vec::new(),
            disturbed: Vec::new(),
        }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.records.len()
    }

    /// What could not be read.
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }

    /// Draws everything.
    pub fn page(&self) -> Page {
        page::lay_out(self)
    }
}
