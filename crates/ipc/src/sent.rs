//! How much of what was given was taken.

use std::fmt;
use std::ops::AddAssign;

/// How many octets, or datagrams where there were several, a call took of those that it was given: perhaps fewer, and the
/// rest is still to be sent. Errors are looked at by `?`, and it would be easy to overlook this behind it:
///
/// ```compile_fail
/// # #![deny(unused_must_use)]
/// # fn wrong(stream: &zorb_ipc::TcpStream, slices: &[std::io::IoSlice<'_>]) -> Result<(), zorb_ipc::Error> {
/// stream.send(slices)?; // unused `Sent` that must be used
/// # Ok(())
/// # }
/// ```
///
/// What a call *received* is a plain number. It is used where it stands, `&buffer[..received]`, and who needs no number, since
/// the length is known before, calls [`receive_exact`](crate::Stream::receive_exact): it gives `()`. A type as this one would
/// have to be unwrapped at each of these uses. So a statement `stream.receive(&mut buffer)?;` compiles, and is wrong
/// wherever less may come than there is room for.
///
/// The calls that send all give `()`: [`Stream::send_all`](crate::Stream::send_all),
/// [`PipeWriter::send_all`](crate::PipeWriter::send_all). A count is compared with a number, added to one, or taken for one by
/// [`count`](Self::count).
#[must_use = "less may have been taken than was given: the rest is still to be sent"]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sent(usize);

impl Sent {
    #[inline]
    pub(crate) fn of(count: usize) -> Self {
        Self(count)
    }

    /// The number.
    #[inline]
    pub fn count(self) -> usize {
        self.0
    }
}

impl From<Sent> for usize {
    #[inline]
    fn from(sent: Sent) -> usize {
        sent.0
    }
}

impl PartialEq<usize> for Sent {
    #[inline]
    fn eq(&self, count: &usize) -> bool {
        self.0 == *count
    }
}

impl PartialOrd<usize> for Sent {
    #[inline]
    fn partial_cmp(&self, count: &usize) -> Option<std::cmp::Ordering> {
        self.0.partial_cmp(count)
    }
}

impl AddAssign<Sent> for usize {
    #[inline]
    fn add_assign(&mut self, sent: Sent) {
        *self += sent.0;
    }
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
