//! What octets say to zorb's own receiver.

use zorb::giop::{Inbound, Message, ProtocolError};

/// Gives `octets` to `inbound` in pieces of `step`, and puts the messages that become whole into `messages`.
///
/// # Errors
///
/// What is wrong behind them.
pub fn hear(
    inbound: &mut Inbound,
    octets: &[u8],
    step: usize,
    messages: &mut Vec<Message>,
) -> Result<(), ProtocolError> {
    for mut piece in octets.chunks(step) {
        while !piece.is_empty() {
            let space = inbound.space();
            let taken = piece.len().min(space.len());
            space[..taken].copy_from_slice(&piece[..taken]);
            inbound.received(taken);
            piece = &piece[taken..];
            while let Some(message) = inbound.next()? {
                messages.push(message);
            }
        }
    }
    Ok(())
}
