//! Files that a stream sends by the kernel's own pages.

#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use zorb_ipc::{
    Acceptor, AcceptorOptions, Memfd, SpliceFile, SpliceStream, Step, Stream, StreamFamily, Tcp, Unix,
    UnixAddress,
};

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(30)
}

fn pair<F: StreamFamily>(at: F::Address) -> (SpliceStream<F>, Stream<F>) {
    let acceptor = Acceptor::<F>::bind(at, &AcceptorOptions::new()).unwrap();
    let client = Stream::<F>::connect(acceptor.local().clone(), soon()).unwrap();
    (SpliceStream::of(client).unwrap(), acceptor.accept_by(soon()).unwrap())
}

fn tcp() -> (SpliceStream<Tcp>, Stream<Tcp>) {
    pair("127.0.0.1:0".parse().unwrap())
}

fn unix(test: &str) -> (SpliceStream<Unix>, Stream<Unix>) {
    let name = format!("zorb-ipc-files-{test}-{}", std::process::id());
    pair(UnixAddress::abstract_name(name.as_bytes()).unwrap())
}

/// More than any queue takes at once, and no two pages alike.
fn octets() -> Vec<u8> {
    (0..5_000_011_u32).map(|at| (at ^ (at >> 8) ^ (at >> 16)) as u8).collect()
}

fn file(octets: &[u8]) -> File {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("zorb-ipc-files-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name);
    let mut file = File::options().create(true).truncate(true).read(true).write(true).open(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    file.write_all(octets).unwrap();
    file
}

fn arrives<F: StreamFamily>((client, server): (SpliceStream<F>, Stream<F>), from: &(impl SpliceFile + Sync)) {
    let expected = octets();
    let mut arrived = vec![0; expected.len() - 7];
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut at = 7;
            loop {
                let before = at;
                let sent = client.send_file(from, &mut at, 1 << 20, soon()).unwrap();
                assert_eq!(at - before, sent as u64);
                if sent == 0 {
                    return assert_eq!(at, expected.len() as u64);
                }
            }
        });
        server.receive_exact(&mut arrived, soon()).unwrap();
    });
    assert!(arrived == expected[7..], "what arrived is something else");
}

#[test]
fn a_file_arrives_from_an_offset_to_its_end() {
    arrives(tcp(), &file(&octets()));
    arrives(unix("whole"), &file(&octets()));
}

#[test]
fn sealed_memory_arrives() {
    let memory = Memfd::create("sent", octets().len() as u64).unwrap();
    memory.write_at(&octets(), 0).unwrap();
    arrives(tcp(), &memory.seal().unwrap());
}

#[test]
fn a_peer_that_does_not_receive_is_waited_for_until_the_deadline() {
    let (client, _server) = tcp();
    let (file, mut at) = (file(&octets()), 0);
    let error = loop {
        let by = Instant::now() + Duration::from_millis(30);
        // From the beginning each time: no file is as long as what a queue may take.
        at %= 4_000_000;
        if let Err(error) = client.send_file(&file, &mut at, 1 << 20, by) {
            break error;
        }
    };
    assert!(error.is_timeout(), "{error}");
    assert_eq!(error.step(), Step::Send);
}

#[test]
fn a_peer_that_is_gone_is_an_error() {
    let (client, server) = tcp();
    let (file, mut at) = (file(&octets()), 0);
    drop(server);
    let error = loop {
        at %= 4_000_000;
        if let Err(error) = client.send_file(&file, &mut at, 1 << 20, soon()) {
            break error;
        }
    };
    assert!(error.is_connection_reset(), "{error}");
}
