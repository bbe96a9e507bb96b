//! Every stream transport does the same: the conformance suite, a line for each.

#[allow(dead_code, unused_macros, reason = "the other suites are for other files")]
#[macro_use]
mod conformance;

stream_transport!(tcp: zorb_ipc::Tcp);
stream_transport!(unix_file: zorb_ipc::Unix);
stream_transport!(shared_memory: zorb_ipc::Shm);
stream_transport!(shared_memory_small_slabs: crate::conformance::families::SmallSlabs);
stream_transport!(vsock: zorb_ipc::Vsock);
