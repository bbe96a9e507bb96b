//! What was being done: the steps of an operation that an error can name.

use std::fmt;

/// What was being done when an [`Error`](crate::Error) occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// Looking up the addresses of a host name.
    Resolve,
    /// Making the descriptor.
    Open,
    /// Setting or reading an option of a descriptor.
    Configure,
    /// Giving a socket its local address.
    Bind,
    /// Beginning to listen.
    Listen,
    /// Taking a connection that a peer made.
    Accept,
    /// Making a connection to a peer.
    Connect,
    /// Joining a multicast group.
    Join,
    /// Leaving a multicast group.
    Leave,
    /// Sending to the peer.
    Send,
    /// Receiving from the peer.
    Receive,
    /// Closing one or both directions.
    Shutdown,
    /// Changing or waiting on a set of descriptors.
    Wait,
    /// Waking a waiting thread, or taking note of having been woken.
    Wake,
    /// Asking this machine about itself: its interfaces, its cores.
    Inspect,
    /// Making a handle of a descriptor that came from elsewhere.
    Adopt,
    /// Giving memory a place in this process.
    Map,
    /// Reading or writing memory that processes share.
    Access,
}

impl Step {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Step::Resolve => "resolve",
            Step::Open => "open a descriptor",
            Step::Configure => "configure",
            Step::Bind => "bind",
            Step::Listen => "listen",
            Step::Accept => "accept",
            Step::Connect => "connect",
            Step::Join => "join",
            Step::Leave => "leave",
            Step::Send => "send",
            Step::Receive => "receive",
            Step::Shutdown => "shut down",
            Step::Wait => "wait",
            Step::Wake => "wake",
            Step::Inspect => "inspect this machine",
            Step::Adopt => "adopt a descriptor",
            Step::Map => "map memory",
            Step::Access => "access memory",
        }
    }

    pub(super) fn preposition(self) -> &'static str {
        match self {
            Step::Bind | Step::Connect | Step::Send => "to ",
            Step::Open | Step::Wait | Step::Map => "for ",
            Step::Listen | Step::Accept => "on ",
            Step::Receive => "from ",
            _ => "",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
