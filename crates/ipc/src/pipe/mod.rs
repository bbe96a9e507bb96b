//! Pipes: octets in one direction within a machine. The end that reads and the end that writes are two types,
//! whether the pipe has no name ([`pipe`]) or is a [`Fifo`], which has one in the file system.
//!
//! ```text
//! PipeWriter  ── send ──▶ (kernel) ── receive ──▶ PipeReader
//!             ◀─ splice ─ a stream, a file      ── splice, tee ─▶ a stream, a file, another pipe
//! ```
//!
//! Octets that go from one descriptor to another can stay in the kernel ([`SpliceStream`], [`SpliceFile`]),
//! and memory that is given away with what it holds need not be copied into it ([`Pages`]).
//!
//! Both ends are non-blocking descriptors, as a pipe has no way to say it for one call; those calls that wait
//! do so in `poll`, and only when there is nothing to do at once. Whoever has a duplicate of the descriptor
//! sees that too, which is why [`PipeReader::into_descriptor`] and [`PipeWriter::into_descriptor`] undo it:
//! other programs expect their standard input and output to block.

mod end;
mod fifo;
#[cfg(target_os = "linux")]
mod pages;
mod reader;
#[cfg(target_os = "linux")]
mod splice;
mod writer;

pub use fifo::Fifo;
#[cfg(target_os = "linux")]
pub use pages::Pages;
pub use reader::PipeReader;
#[cfg(target_os = "linux")]
pub use splice::{SpliceFile, SpliceStream};
pub use writer::PipeWriter;

use crate::{Error, Step, portable};
use end::End;

/// A pipe without a name: what is sent into the one end is received from the other. Its capacity is the
/// system's default (64 KiB) until [`PipeWriter::set_capacity`].
///
/// # Errors
/// At [`Step::Open`]: [`Error::is_descriptors_exhausted`].
///
/// ```
/// use std::io::IoSlice;
/// use std::time::{Duration, Instant};
///
/// # fn main() -> Result<(), zorb_ipc::Error> {
/// let deadline = Instant::now() + Duration::from_secs(5);
/// let (reader, writer) = zorb_ipc::pipe()?;
/// writer.send_all(&mut [IoSlice::new(b"hello")], deadline)?;
/// drop(writer);
/// let mut text = [0; 16];
/// assert_eq!(reader.receive_by(&mut text, deadline)?, 5);
/// assert_eq!(reader.receive_by(&mut text, deadline)?, 0); // the end
/// # Ok(())
/// # }
/// ```
pub fn pipe() -> Result<(PipeReader, PipeWriter), Error> {
    let (reader, writer) = portable::pipe().map_err(|errno| Error::os(Step::Open, errno))?;
    Ok((PipeReader(End::new(reader, None)), PipeWriter(End::new(writer, None))))
}
