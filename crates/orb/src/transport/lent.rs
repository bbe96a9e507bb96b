//! Receiving what a peer has lent: it is not copied, and becomes a part of the message. What little is behind it is received with it.

use std::io;

use zorb_giop::Inbound;

use super::{Channel, Received};

/// Of a message of which less is missing nothing is lent.
const WORTH_A_LOOK: usize = 16 << 10;

/// Takes what comes next, if that is a part of a message that has begun to come and lies in memory that the peer has lent; how many octets. 0: what comes
/// next is to be received.
#[inline]
pub(crate) fn receive_lent(channel: &dyn Channel, inbound: &mut Inbound) -> io::Result<usize> {
    match inbound.missing() {
        0..WORTH_A_LOOK => Ok(0),
        missing => look(channel, inbound, missing),
    }
}

#[cold]
fn look(channel: &dyn Channel, inbound: &mut Inbound, missing: usize) -> io::Result<usize> {
    let Some(lent) = channel.receive_lent(missing)? else { return Ok(0) };
    let count = lent.len();
    // It takes what is missing.
    inbound.deposit(lent).map_err(|_| io::Error::other("what was lent is no part of a message"))?;
    Ok(count + rest(channel, inbound)?)
}

/// Receives what is there of a message's last octets.
fn rest(channel: &dyn Channel, inbound: &mut Inbound) -> io::Result<usize> {
    if !(1..WORTH_A_LOOK).contains(&inbound.missing()) {
        return Ok(0);
    }
    match channel.receive_now(inbound.space())? {
        Received::Octets(count) => {
            inbound.received(count);
            Ok(count)
        }
        // Who receives next is told again that it is closed.
        Received::Empty | Received::Closed => Ok(0),
    }
}
