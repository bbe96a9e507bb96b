//! Bulk that is received where it is to stay: what the two sides of a connection have in common.
//!
//! ```text
//! first read      │ head │ values │ length │ little more │       at most HEADS_WORTH, where bulk is expected: what is more is copied
//! Landing::begin  └── the values are read, the length is known: there it goes, or nowhere in particular
//! further reads   │ elements: the rest of them, into the memory ───────│ next head │
//! Landing::end    └── the byte order is put right in place
//! ```
//!
//! The client's memory is the caller's (`object/into.rs`), the server's is what a servant offers (`server/deposit.rs`).

use std::io::IoSliceMut;

use bytes::Bytes;
use zorb_cdr::{DecodeError, Decoder, Memory, Piece, Run};
use zorb_giop::{BeginsToCome, Begun, Inbound, ProtocolError};

use crate::deposit::Deposit;

/// Octets of a sequence from which on it is bulk. 16 KiB: what an ordinary receive buffer holds, in which smaller ones come whole with the first read.
pub(crate) const BULK: usize = 16 << 10;

/// Octets that a first read asks for where bulk is expected. 512: heads, with the values before the bulk, have seldom more; what the read brings of the bulk is
/// copied.
pub(crate) const HEADS_WORTH: usize = 512;

/// Octets of a message that are read before its bulk has been found, at most. Those of the bulk among them are copied.
pub(crate) const MOST_BEFORE: usize = 16 << 10;

/// CDR's largest alignment.
pub(crate) const ALIGNMENT: usize = 8;

/// Where a message's bulk goes.
pub(crate) trait Landing {
    /// Reads what has come of the message up to a sequence's length; `None`: it is received as ever.
    ///
    /// # Errors
    /// Not enough has come yet, or what has come makes no sense.
    fn begin(&mut self, begun: &Begun, inbound: &mut Inbound) -> Result<Option<Run>, DecodeError>;

    /// The memory for the run that was given last.
    fn memory(&mut self) -> &mut [u8];
}

/// Memory for one run that becomes a part of its message.
pub(crate) enum Place {
    /// A servant's.
    Offered(Deposit),
    /// Memory for messages, of which the run takes a part.
    Own { memory: Memory, at: usize, octets: usize },
}

impl Place {
    /// Memory for messages, if the peer may have so much.
    pub(crate) fn own(inbound: &mut Inbound, octets: usize, earned: usize) -> Option<Place> {
        let memory =
            inbound.memory_for_run(octets.checked_add(ALIGNMENT)?, earned.saturating_add(ALIGNMENT))?;
        let at = memory.as_ptr().align_offset(ALIGNMENT);
        let fits = at <= ALIGNMENT && at + octets <= memory.len() && !memory.is_shared();
        fits.then_some(Place::Own { memory, at, octets })
    }

    pub(crate) fn memory(&mut self) -> &mut [u8] {
        match self {
            Place::Offered(deposit) => deposit.octets_mut(),
            Place::Own { memory, at, octets } => {
                memory.get_mut().and_then(|memory| memory.get_mut(*at..*at + *octets)).unwrap_or_default()
            }
        }
    }

    /// So many octets of the run have come, and no more will: the elements, as a part of the message's body.
    pub(crate) fn end(mut self, run: &Run, received: usize, inbound: &mut Inbound) -> Piece {
        let whole = run.settle(self.memory(), received).unwrap_or_default();
        let octets = run.size() / run.count().max(1) * whole;
        let elements = match self {
            Place::Offered(deposit) => deposit.freeze(),
            Place::Own { memory, at, octets } => {
                let elements = Bytes::from_owner(memory.octets(at, octets));
                inbound.keep_for_runs(memory);
                elements
            }
        };
        let octets = octets.min(elements.len());
        Run::piece(elements.slice(..octets))
    }
}

/// What the message is that a connection is about to receive.
pub(crate) enum Coming {
    /// Nothing that has a place of its own.
    Anything,
    /// Perhaps bulk: little should be received before it is asked again.
    Perhaps,
    /// This run is received into the landing's memory.
    Run(Box<Run>),
}

/// Asks the landing about the message that begins to come.
pub(crate) fn look(inbound: &mut Inbound, landing: &mut dyn Landing) -> Result<Coming, ProtocolError> {
    let begun = match inbound.begins_to_come() {
        BeginsToCome::Nothing => return Ok(Coming::Anything),
        BeginsToCome::Early => return Ok(Coming::Perhaps),
        BeginsToCome::Message(begun) => begun,
    };
    match landing.begin(&begun, inbound) {
        Ok(Some(run)) => divert(inbound, *begun, run, landing),
        Err(_) if !begun.is_last_chance(MOST_BEFORE) => Ok(Coming::Perhaps),
        Ok(None) | Err(_) => {
            inbound.decline();
            Ok(Coming::Anything)
        }
    }
}

fn divert(
    inbound: &mut Inbound,
    begun: Begun,
    run: Run,
    landing: &mut dyn Landing,
) -> Result<Coming, ProtocolError> {
    match inbound.divert(begun, run.clone(), landing.memory())? {
        true => Ok(Coming::Run(Box::new(run))),
        false => Ok(Coming::Anything),
    }
}

/// Receives by `receive` what comes next of a run.
pub(crate) fn receive_run<R>(
    inbound: &mut Inbound,
    memory: &mut [u8],
    receive: impl FnOnce(&mut [IoSliceMut<'_>]) -> R,
) -> R {
    let [here, behind] = inbound.rooms(memory);
    match (here.is_empty(), behind.is_empty()) {
        (true, _) => receive(&mut [IoSliceMut::new(behind)]),
        (_, true) => receive(&mut [IoSliceMut::new(here)]),
        _ => receive(&mut [IoSliceMut::new(here), IoSliceMut::new(behind)]),
    }
}

/// Where the values of a run's message are, to be read up to the sequence's length.
pub(crate) fn count_of(
    from: &mut Decoder<'_>,
    before: impl FnOnce(&mut Decoder<'_>) -> Result<(), DecodeError>,
) -> Result<usize, DecodeError> {
    before(from)?;
    // Not checked against what has come: the rest is on its way.
    Ok(usize::try_from(from.read_u32()?).unwrap_or(usize::MAX))
}
