//! Every stream transport does the same: the conformance suite, and those in `conformance/lists.rs` are tried.

#[allow(dead_code, unused_macros, reason = "the other suites are for other files")]
#[macro_use]
mod conformance;

every_stream_transport!(stream_transport);
