//! What idle connections give back.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use zorb::Orb;
use zorb::transport::shm::Shm;
use zorb_tests::darkroom_servant::octets;
use zorb_tests::servant::{PATIENCE, Servant};

use crate::datagrams::until;
use crate::fixture::{Place, probe, serve};
use crate::processes::Other;

/// Slabs of this test alone: by the size of their memory it finds them among its process's descriptors.
const COUNT: usize = 8;
const SLAB: usize = 64 << 10;

fn shm() -> Arc<Shm> {
    Arc::new(Shm::new().slabs(COUNT, SLAB).expect("slabs may be so"))
}

/// Octets that they take.
fn taken() -> u64 {
    let octets = |descriptor: fs::DirEntry| {
        let memory = fs::metadata(descriptor.path()).ok()?;
        let name = fs::read_link(descriptor.path()).ok()?;
        let is_ours = name.to_string_lossy().contains("slabs") && memory.len() == 2 * (COUNT * SLAB) as u64;
        is_ours.then(|| memory.blocks() * 512)
    };
    fs::read_dir("/proc/self/fd").expect("Linux").flatten().filter_map(octets).max().expect("a connection")
}

#[test]
fn an_idle_connection_s_slabs_are_given_back_by_both_ends() {
    let (server, text) = serve(Orb::builder().transport(shm()).listen("shm:"), Arc::new(Servant::new(1)));
    // Unused connections are looked at each eighth of this.
    let client = Orb::builder().transport(shm()).client_idle(Duration::from_secs(40)).build();
    let probe = probe(&client, &text);
    let data = octets(COUNT * SLAB);
    for _ in 0..2 {
        assert_eq!(probe.echo(&data).unwrap()[..], data[..]);
        assert!(taken() >= data.len() as u64, "{} octets: the argument or the result lay there", taken());
        let by = Instant::now() + PATIENCE;
        while taken() > 0 {
            assert!(Instant::now() < by, "{} octets are kept", taken());
            thread::sleep(Duration::from_millis(50));
        }
    }
    server.shutdown(true, PATIENCE);
}

/// A call now and then wakes one of them, and keeps no other.
#[test]
fn threads_that_a_burst_took_end_though_calls_go_on() {
    const BURST: usize = 8;
    let server = Other::start(Place::TCP, &[]);
    let tasks = format!("/proc/{}/task", server.child.id());
    let threads = || {
        let names = fs::read_dir(&tasks).unwrap().flatten();
        let names = names.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
        names.filter(|name| name.trim_end() == "zorb-server").count()
    };
    let client = Orb::builder().build();
    let probe = probe(&client, &server.ior);
    let burst: Vec<_> = (0..BURST).map(|_| probe.wait_async(2_000)).collect();
    burst.into_iter().for_each(|call| call.wait().unwrap());
    assert!(threads() >= BURST);
    until("they end", || {
        // Longer than a thread waits for the next call where the last one came.
        thread::sleep(Duration::from_millis(150));
        probe.nothing().unwrap();
        threads() <= 2
    });
}
