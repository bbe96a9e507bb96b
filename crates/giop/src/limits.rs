//! How much a peer may make us hold: [`Limits`], each with the reason for its default.
//!
//! The limits bound what *one connection* keeps. How many connections there are is the ORB's to bound. Nesting and
//! lengths inside a body are `zorb_cdr`'s.

/// Bounds on what one connection accepts and keeps. Reaching one is a
/// [`ProtocolError`](crate::ProtocolError) that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Largest message in octets, header included, whole or reassembled. 64 MiB: a 4,096 × 4,096 image of 16-bit
    /// pixels with room for as much again; beyond it callers should page, or raise the limit knowingly.
    pub max_message: usize,
    /// Messages being reassembled at the same time. 64: as many as calls that may be sending bulk at once; a sender
    /// interleaves only what it has begun, and few begin more than their thread count.
    pub max_reassembly_messages: usize,
    /// Octets held by all reassemblies together, with a charge per fragment for what holding it costs. 128 MiB: two of
    /// the largest messages.
    pub max_reassembly_bytes: usize,
    /// Service contexts in one message. 64: the specification names 17 kinds, and no ORB seen sends more than four.
    pub max_contexts: usize,
    /// Length of an operation name in octets, its NUL included. 1,024: names are IDL identifiers, of which the longest
    /// in the standard services has under 60 letters.
    pub max_operation: usize,
    /// Octets of the buffer that small messages are read into. 16 KiB: an 8 KiB payload and its head arrive in one
    /// read, and a thousand busy connections take 16 MiB. Who floods with messages that each fit in twice as much is read by steps of
    /// eight times as much, until it ebbs or bulk comes.
    pub receive_buffer: usize,
    /// Octets granted at once to a message that says it is large; once it has filled them it is moved to
    /// memory for all of it, 256 times as large at the most. 256 KiB: a peer that announces much and sends nothing holds
    /// no more than that, and a 64 KiB payload is never moved. A flood of bulk is read by steps of one to three times as many octets, and those of a
    /// receive buffer beside them.
    pub first_grant: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_message: 64 << 20,
            max_reassembly_messages: 64,
            max_reassembly_bytes: 128 << 20,
            max_contexts: 64,
            max_operation: 1024,
            receive_buffer: 16 << 10,
            first_grant: 256 << 10,
        }
    }
}
