//! The program whose instructions `tests/instructions/run` counts, under valgrind: `zorb-instructions CALLS [CASE…]`.
//!
//! Everything runs on one thread and in memory, so that a count is the same on every run. A case sets itself up, warms
//! up, is named on standard output, and then makes its calls in [`measured`], the only function that is counted:
//! callgrind writes a profile whenever that ends, so that one run counts all cases. What stands for the kernel in it is
//! left out: the pipe in memory, and `messages::carry`. The cases of handles do make system calls, of which callgrind
//! counts nothing; what the other end of their connection does is left out too.

mod dynamics;
mod floor;
mod handles;
mod messages;
mod oneways;
mod stage;
mod whole;

use std::process::ExitCode;

use zorb::Sequence;
use zorb::giop::Protocol;
use zorb::probes::{self, Point};

use whole::idl::BinStruct;

/// Calls before counting starts: more than any table, buffer or pool takes to find its size.
const WARM_UP: u32 = 1000;

/// A case, made ready: makes one call, which is given its number.
type Case = Box<dyn FnMut(u32)>;

/// Sets a case up.
type Prepare = fn() -> Case;

/// How often a case is set up and counted, each time elsewhere in memory: where something lies at the end of a page the C
/// library compares and copies it in some more instructions. The least of the counts is the case's.
const TIMES: u32 = 3;

/// The cases of calls by name: what is counted, and with what. The one that leaves most memory behind comes late.
const CALLS: &[(&str, Prepare)] = &[
    // First, with memory as a program has it that has just begun: among what other cases have left it takes a dozen more.
    ("call/null", || whole::small(1)),
    ("encode/null", || messages::encode(())),
    ("encode/1KiB-octets", || messages::encode(octets())),
    ("encode/100-structs", || messages::encode(structs())),
    ("decode/null", || messages::decode(())),
    ("decode/1KiB-octets", || messages::decode(octets())),
    ("decode/100-structs", || messages::decode(structs())),
    ("decode/swapped", messages::swapped),
    ("messages/null", || messages::there_and_back(Protocol::Giop)),
    ("messages/null-lite", || messages::there_and_back(Protocol::Lite)),
    ("messages/head", || messages::heads(Protocol::Giop)),
    ("messages/head-lite", || messages::heads(Protocol::Lite)),
    ("call/null-lite", whole::by_lite),
    ("call/collocated", whole::collocated),
    ("call/1KiB-octets", || whole::octets(octets())),
    ("call/100-structs", || whole::structs(structs())),
    ("dynamic/stub", dynamics::by_stub),
    ("dynamic/any", dynamics::in_anys),
    ("dynamic/request", dynamics::by_request),
    ("dynamic/servant", dynamics::to_servant),
    ("probe/on", probe),
    ("growth/1000-operations", whole::large),
    (MANY_OBJECTS, || whole::small(1_000_000)),
    // Last of all: its client has a thread, with which the C library's calls take more from then on.
    ("call/oneways", || oneways::gathered(octets())),
    ("call/each-oneway", || oneways::each(octets())),
    ("call/bulk-oneway", || oneways::bulk(large())),
];

/// Those of calls, and those of handles, beside each of which stands the same loop over libc.
fn cases() -> impl Iterator<Item = &'static (&'static str, Prepare)> {
    CALLS.iter().chain(handles::CASES.into_iter().flatten())
}

/// Whether a case is one of handles, or what it is measured by. Once a process has had threads the C library's calls take
/// some fifty more instructions each, whose own do not change; so these are counted where there never were any.
fn is_of_handles(case: &str) -> bool {
    case.starts_with("ipc/") || case.starts_with("libc/")
}

/// Takes more than a minute to set up, under valgrind, and is counted once.
const MANY_OBJECTS: &str = "growth/1000000-objects";

fn octets() -> Sequence<u8> {
    (0..1024).map(|number| number as u8).collect::<Vec<_>>().into()
}

fn large() -> Sequence<u8> {
    vec![0x5A; 20 << 10].into()
}

fn structs() -> Sequence<BinStruct> {
    let of = |number: u8| BinStruct {
        s: number.into(),
        c: number.into(),
        l: number.into(),
        o: number,
        d: number.into(),
        ..BinStruct::default()
    };
    (0..100).map(of).collect::<Vec<_>>().into()
}

/// One mark of a time probe, as a call makes them where they are built in.
fn probe() -> Case {
    probes::record(true);
    Box::new(|_| probes::mark(Point::Begin))
}

/// What callgrind counts: it knows the name.
#[inline(never)]
fn measured(case: &mut dyn FnMut(u32), calls: u32) {
    for number in 0..calls {
        case(number);
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((Ok(calls), wanted)) = arguments.split_first().map(|(calls, cases)| (calls.parse(), cases))
    else {
        return usage();
    };
    if wanted.iter().any(|start| cases().all(|(name, _)| !name.starts_with(start))) {
        return usage();
    }
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|start| name.starts_with(start));
    let cases: Vec<_> = cases().filter(|(name, _)| is_wanted(name)).collect();
    if cases.iter().any(|(name, _)| is_of_handles(name)) && !cases.iter().all(|(name, _)| is_of_handles(name))
    {
        eprintln!("instructions: cases of handles (ipc/, libc/) and others each take a process of their own");
        return ExitCode::FAILURE;
    }
    for &&(name, prepare) in &cases {
        for _ in 0..if name == MANY_OBJECTS { 1 } else { TIMES } {
            let mut case = prepare();
            for number in 0..WARM_UP {
                case(number);
            }
            println!("{name}");
            measured(&mut *case, calls);
            // The next one is to lie elsewhere; and ending a million objects takes as long as making them.
            std::mem::forget(case);
        }
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: zorb-instructions CALLS [CASE…], where a CASE is the beginning of one of these:");
    cases().for_each(|(name, _)| eprintln!("  {name}"));
    ExitCode::FAILURE
}
