//! Suites that are generic over what they try: one line in `lists.rs` runs all of them for one more family.

#[macro_use]
mod lists;
#[macro_use]
pub(crate) mod streams;
#[macro_use]
pub(crate) mod datagrams;
pub(crate) mod families;
pub(crate) mod killed;
pub(crate) mod killed_datagrams;
pub(crate) mod killed_seqpackets;
pub(crate) mod other_process;
pub(crate) mod signals;
#[macro_use]
pub(crate) mod seqpackets;
pub(crate) mod interruptions;
#[path = "../left_out/mod.rs"]
pub(crate) mod left_out;

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use zorb_ipc::UnixAddress;

pub(crate) const SHORT: Duration = Duration::from_millis(30);
/// Far beyond what any of this takes; a test that waits for it has failed.
pub(crate) const LONG: Duration = Duration::from_secs(30);

pub(crate) fn within(time: Duration) -> Instant {
    Instant::now() + time
}

/// Waits for what the system does on its own time.
pub(crate) fn eventually(mut condition: impl FnMut() -> bool) {
    let until = within(LONG);
    while !condition() {
        assert!(Instant::now() < until, "it never came to pass");
        thread::sleep(Duration::from_millis(1));
    }
}

/// A file's name that nobody else has.
pub(crate) fn unused_path() -> UnixAddress {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("zorb-ipc-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
    UnixAddress::path(std::env::temp_dir().join(name)).unwrap()
}

/// A name that nobody else has.
pub(crate) fn unused_name() -> UnixAddress {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("zorb-ipc-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
    UnixAddress::abstract_name(name.as_bytes()).unwrap()
}
