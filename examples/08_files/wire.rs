//! What goes over the connection: all that the two programs have to agree on.
//!
//! ```text
//! sender:    "zorbfile"  length: 8 octets, big-endian  the file  checksum: 4 octets, big-endian  (end)
//! receiver:  "received"  or why not, as text           (end)
//! ```
//!
//! The receiver may answer before it has all: then it wants no more.

use std::time::{Duration, Instant};

/// What a sender begins with, so that a stray peer is told from one.
pub(crate) const GREETING: [u8; 8] = *b"zorbfile";

/// What a receiver says when all is in its place.
pub(crate) const RECEIVED: &str = "received";

/// The longest answer, in octets.
pub(crate) const LONGEST_ANSWER: usize = 1024;

/// What is moved at a time: small enough that a core has it in its cache from the checksum to the socket.
pub(crate) const PART: usize = 128 * 1024;

/// How long a part may take, or the answer: a peer that is slower is given up.
const PATIENCE: Duration = Duration::from_secs(30);

/// Until when the next part has to be through.
pub(crate) fn deadline() -> Instant {
    Instant::now() + PATIENCE
}
