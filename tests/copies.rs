//! What bulk costs in user space: no octet of it is copied, sent or received, of any type that can be viewed, over any transport.
//!
//! `cargo test -p zorb-tests --features probes --test copies`. Client and server are threads of this process, whose counts are of both sides together,
//! so there is one test, and one caller.

#![cfg(feature = "probes")]

use std::sync::Arc;

use bytes::Bytes;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use zorb::cdr::{ByteOrder, Decode, Decoder, Format};
use zorb::giop::Limits;
use zorb::probes::Counts;
use zorb::transport::shm::{Shm, TrustedPeers};
use zorb::transport::tcp::Tcp;
use zorb::transport::unix::Unix;
use zorb::transport::{Spinning, Transport};
use zorb::{Any, Call, Interface, Orb, Sequence, SystemException};
use zorb_tests::bulk::{Frame, Mixed, Point, Store, StoreServant};

/// Octets of each argument and each result.
const BULK: usize = 192 << 10;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

/// What may be copied of a call for its heads and its small values, both sides and both directions together.
const HEADS: u64 = 1024;

/// Gives back what it gets, from where it lies.
struct Echoing;

type Result<T> = std::result::Result<T, SystemException>;

impl StoreServant for Echoing {
    fn nothing(&self, _: &Call) -> Result<()> {
        Ok(())
    }
    fn echo_octets(&self, _: &Call, data: Sequence<u8>) -> Result<Sequence<u8>> {
        Ok(data)
    }
    fn echo_doubles(&self, _: &Call, data: Sequence<f64>) -> Result<Sequence<f64>> {
        Ok(data)
    }
    fn echo_rows(&self, _: &Call, data: Sequence<[f64; 16]>) -> Result<Sequence<[f64; 16]>> {
        Ok(data)
    }
    fn echo_points(&self, _: &Call, data: Sequence<Point>) -> Result<Sequence<Point>> {
        Ok(data)
    }
    fn echo_mixes(&self, _: &Call, data: Sequence<Mixed>) -> Result<Sequence<Mixed>> {
        Ok(data)
    }
    fn echo_shifted(&self, _: &Call, _: i32, data: Sequence<Mixed>) -> Result<Sequence<Mixed>> {
        Ok(data)
    }
    fn echo_frame(&self, _: &Call, data: &Frame) -> Result<Frame> {
        Ok(data.clone())
    }
    fn echo_film(&self, _: &Call, data: &[Frame]) -> Result<Vec<Frame>> {
        Ok(data.to_vec())
    }
    fn echo_table(&self, _: &Call, data: &[Sequence<f64>]) -> Result<Vec<Sequence<f64>>> {
        Ok(data.to_vec())
    }
    fn echo_anything(&self, _: &Call, data: &Any) -> Result<Any> {
        Ok(data.clone())
    }
}

fn transports() -> [(&'static str, &'static str, Arc<dyn Transport>); 4] {
    [
        ("tcp", "tcp:127.0.0.1:0", Arc::new(Tcp::new())),
        ("unix", "unix:", Arc::new(Unix::new())),
        ("slabs", "shm:", Arc::new(Shm::new())),
        ("rings", "shm:", Arc::new(Shm::new().without_slabs())),
    ]
}

fn octets(count: usize) -> Vec<u8> {
    (0..=250).cycle().take(count).collect()
}

fn doubles(octets: usize) -> Vec<f64> {
    (0..octets as u32 / 8).map(f64::from).collect()
}

fn frame(title: &str, octets_of_it: usize) -> Frame {
    Frame {
        title: title.to_owned(),
        pixels: octets(octets_of_it / 2).into(),
        exposure: 0.25,
        histogram: doubles(octets_of_it / 2).into(),
    }
}

fn points(octets: usize) -> Vec<Point> {
    (0..octets as i32 / 24).map(|id| Point { x: id.into(), y: 0.5, id, kind: -id }).collect()
}

fn mixes(octets: usize) -> Vec<Mixed> {
    let mixed = |number| Mixed { s: number as i16, l: number, d: number.into(), ..Default::default() };
    (0..octets as i32 / 24).map(mixed).collect()
}

/// What of the bulk of a call may be copied.
#[derive(Clone, Copy, PartialEq)]
enum May {
    Nothing,
    /// That of so many of its two messages, in which elements stand out of phase: the receiver puts them right in one pass.
    OutOfPhase(u64),
}

impl May {
    fn of(self, octets: usize) -> u64 {
        match self {
            May::Nothing => 0,
            May::OutOfPhase(messages) => messages * octets as u64,
        }
    }
}

/// A kind of call: its name, what it may copy, and the call with so many octets, which looks at what comes back.
type Kind = (&'static str, May, fn(usize) -> Box<dyn Fn(&Store)>);

macro_rules! echoes {
    ($operation:ident($($before:expr)?), $may:expr, $value:expr) => {
        (stringify!($operation), $may, |octets| {
            let value = $value(octets);
            Box::new(move |store: &Store| assert!(store.$operation($($before,)? &value).unwrap() == value))
        })
    };
}

const KINDS: &[Kind] = &[
    echoes!(echo_octets(), May::Nothing, octets),
    echoes!(echo_doubles(), May::Nothing, doubles),
    echoes!(echo_rows(), May::Nothing, |octets| doubles(octets).as_chunks::<16>().0.to_vec()),
    echoes!(echo_points(), May::Nothing, points),
    // A member within a larger value, of several.
    echoes!(echo_frame(), May::Nothing, |octets| frame("one", octets)),
    echoes!(echo_film(), May::Nothing, |octets| ["one", "two"]
        .map(|title| frame(title, octets / 2))
        .to_vec()),
    echoes!(echo_table(), May::Nothing, |octets| vec![Sequence::from(doubles(octets / 2)); 2]),
    // Behind a length word at 0 mod 8, both ways, and behind one at 4 where it goes.
    echoes!(echo_mixes(), May::OutOfPhase(2), mixes),
    echoes!(echo_shifted(7), May::OutOfPhase(1), mixes),
    ("echo_anything", May::Nothing, |size| {
        let value = octets(size);
        let any = Any::new(&Sequence::from(value.clone())).unwrap();
        Box::new(move |store: &Store| {
            let back = store.echo_anything(&any).unwrap();
            assert!(back.get::<Sequence<u8>>().unwrap() == value);
        })
    }),
    ("echo_numbers", May::Nothing, |size| {
        let value = doubles(size);
        let any = Any::new(&Sequence::from(value.clone())).unwrap();
        Box::new(move |store: &Store| {
            let back = store.echo_anything(&any).unwrap();
            assert!(back.get::<Sequence<f64>>().unwrap() == value);
        })
    }),
];

/// A client's reference to a store over a transport, and both ORBs, which do not look again before they sleep: a look is a system call.
fn connected(endpoint: &str, transport: &Arc<dyn Transport>) -> (Store, Orb, Orb) {
    let server =
        Orb::builder().spinning(Spinning::none()).transport(transport.clone()).listen(endpoint).build();
    let poa = server.root_poa().unwrap();
    let store = poa.activate::<Store>(Arc::new(Echoing)).unwrap();
    poa.manager().activate().unwrap();
    let client = Orb::builder().spinning(Spinning::none()).transport(transport.clone()).build();
    let text = server.object_to_string(Some(store.as_object()));
    let store = Store::from_object(client.string_to_object(&text).unwrap().unwrap());
    (store, server, client)
}

/// What one call takes of both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Taken {
    copied: u64,
    allocated: usize,
    allocations: usize,
    system_calls: u64,
}

/// The medians of many calls, each count by itself: now and then a thread of the server's looks after its connections.
fn taken(call: &dyn Fn()) -> Taken {
    const CALLS: usize = 21;
    (0..5).for_each(|_| call());
    let each: Vec<Taken> = (0..CALLS)
        .map(|_| {
            let (before, memory) = (Counts::so_far(), ALLOCATOR.stats());
            call();
            let (after, later) = (Counts::so_far(), ALLOCATOR.stats());
            let more = |stats: stats_alloc::Stats| stats.allocations + stats.reallocations;
            Taken {
                copied: after.octets_copied - before.octets_copied,
                allocated: later.bytes_allocated - memory.bytes_allocated,
                allocations: more(later) - more(memory),
                system_calls: after.system_calls - before.system_calls,
            }
        })
        .collect();
    fn median<T: Ord + Copy>(each: &[Taken], of: fn(&Taken) -> T) -> T {
        let mut all: Vec<T> = each.iter().map(of).collect();
        all.sort_unstable();
        all[all.len() / 2]
    }
    Taken {
        copied: median(&each, |taken| taken.copied),
        allocated: median(&each, |taken| taken.allocated),
        allocations: median(&each, |taken| taken.allocations),
        system_calls: median(&each, |taken| taken.system_calls),
    }
}

#[test]
fn no_octet_of_bulk_is_copied() {
    what_is_in_the_other_order_is_converted_in_one_pass();
    what_is_lent_takes_a_few_small_pieces_of_memory();
    for (name, endpoint, transport) in transports() {
        let (store, _server, _client) = connected(endpoint, &transport);
        let null = taken(&|| store.nothing().unwrap());
        println!("{name:5} {:14} {null:?}", "nothing");
        assert!(null.copied < 200 && null.allocations <= 1, "{name}: {null:?}");
        // One message each way, in one system call each, and one more where a side sleeps; over memory that is all there are.
        let least = if endpoint.starts_with("shm") { 0 } else { 4 };
        assert!((least..=6).contains(&null.system_calls), "{name}: {null:?}");
        for (kind, may, call) in KINDS {
            let call = call(BULK);
            let taken = taken(&|| call(&store));
            println!("{name:5} {kind:14} {taken:?}");
            let bound = may.of(BULK) + HEADS;
            assert!(taken.copied < bound, "{name}, {kind}: {taken:?}");
            if *may == May::Nothing {
                assert!(
                    taken.allocated < BULK / 8,
                    "{name}, {kind}: memory that is there is used again: {taken:?}"
                );
            }
        }
        // What came of a large one before its receiver knew how long it is may be moved, once in each direction.
        let large = 2 << 20;
        for (kind, may, call) in KINDS {
            let call = call(large);
            let taken = taken(&|| call(&store));
            println!("{name:5} {kind:14} {taken:?} of {large}");
            let moved = 2 * Limits::default().receive_buffer as u64;
            assert!(taken.copied < may.of(large) + moved + HEADS, "{name}, {kind}: {taken:?}");
        }
    }
}

/// Called by the one test, likewise: what is lent, with values behind it, takes no memory for bulk on either side, nor any that others would be received into.
#[allow(unsafe_code, reason = "trust is given by an unsafe call")]
fn what_is_lent_takes_a_few_small_pieces_of_memory() {
    // SAFETY: both ends are this process's, by zorb's own code.
    let transport: Arc<dyn Transport> = Arc::new(Shm::new().trusting(unsafe { TrustedPeers::new() }));
    let (store, _server, client) = connected("shm:", &transport);
    let pixels = octets(BULK);
    let taken = taken(&|| {
        let mut lent = client.loan(BULK).unwrap();
        lent.copy_from_slice(&pixels);
        assert!(lent.is_lent());
        let frame = Frame { title: "one".to_owned(), pixels: lent.into(), ..Default::default() };
        assert!(store.echo_frame(&frame).unwrap() == frame);
    });
    println!("lent  {:14} {taken:?}", "echo_frame");
    assert!(taken.copied < HEADS && taken.allocated < 4096, "{taken:?}");
}

/// Called by the one test, since the count is the process's.
fn what_is_in_the_other_order_is_converted_in_one_pass() {
    let order = if cfg!(target_endian = "little") { ByteOrder::Big } else { ByteOrder::Little };
    let numbers: Vec<u64> = (0..BULK as u64 / 8).collect();
    let length = (numbers.len() as u32).swap_bytes().to_ne_bytes();
    let mut octets = [length, [0; 4]].concat();
    octets.extend(numbers.iter().flat_map(|number| number.swap_bytes().to_ne_bytes()));
    let octets = Bytes::from(octets);
    let before = Counts::so_far().octets_copied;
    let read = Sequence::<u64>::decode(&mut Decoder::new(&octets, order, Format::default())).unwrap();
    assert_eq!(Counts::so_far().octets_copied - before, BULK as u64, "each octet once");
    assert!(read == numbers);
}
