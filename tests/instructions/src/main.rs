//! The program whose instructions `tests/instructions/run` counts, under valgrind: `zorb-instructions CALLS [CASE…]`.
//!
//! Everything runs on one thread and in memory, so that a count is the same on every run. A case sets itself up, warms
//! up, is named on standard output, and then makes its calls in [`measured`], the only function that is counted:
//! callgrind writes a profile whenever that ends, so that one run counts all cases. What stands for the kernel in it is
//! left out: the pipe in memory, and `messages::carry`. The cases of handles do make system calls, of which callgrind
//! counts nothing; what the other end of their connection does is left out too.

mod beside;
mod floor;
mod handles;
mod messages;
mod stage;
mod transfers;
mod variants;
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

/// The cases by name: what is counted, and with what. The one that leaves most memory behind comes last.
const CASES: &[(&str, Prepare)] = &[
    // First, with memory as a program has it that has just begun: among what other cases have left it takes a dozen more.
    ("call/null", || whole::small(1)),
    ("encode/null", || messages::encode(())),
    ("encode/1KiB-octets", || messages::encode(octets())),
    ("encode/100-structs", || messages::encode(structs())),
    ("decode/null", || messages::decode(())),
    ("decode/1KiB-octets", || messages::decode(octets())),
    ("decode/100-structs", || messages::decode(structs())),
    ("messages/null", || messages::there_and_back(Protocol::Giop)),
    ("messages/null-lite", || messages::there_and_back(Protocol::Lite)),
    ("messages/head", || messages::heads(Protocol::Giop)),
    ("messages/head-lite", || messages::heads(Protocol::Lite)),
    ("call/null-lite", whole::by_lite),
    ("call/1KiB-octets", || whole::octets(octets())),
    ("call/100-structs", || whole::structs(structs())),
    ("probe/on", probe),
    // Beside each operation of a handle the same loop over libc, in a process without threads: see `is_of_handles`.
    ("ipc/send", handles::send),
    ("libc/send", handles::floors_send),
    ("ipc/send-gathered", handles::send_gathered),
    ("libc/send-gathered", handles::floors_send_gathered),
    ("ipc/send-all", handles::send_all),
    ("libc/send-all", handles::floors_send_all),
    ("ipc/receive", handles::receive),
    ("libc/receive", handles::floors_receive),
    ("ipc/receive-exact", handles::receive_exact),
    ("ipc/receive-generic", handles::receive_generic),
    ("libc/receive-exact", handles::floors_receive_exact),
    ("ipc/datagram-send", handles::datagram_send),
    ("libc/datagram-send", handles::floors_datagram_send),
    ("ipc/datagram-receive", handles::datagram_receive),
    ("libc/datagram-receive", handles::floors_datagram_receive),
    ("ipc/datagram-send-to", handles::datagram_send_to),
    ("libc/datagram-send-to", handles::floors_datagram_send_to),
    ("ipc/pipe-send", transfers::pipe_send),
    ("libc/pipe-send", transfers::floors_pipe_send),
    ("ipc/pipe-receive", transfers::pipe_receive),
    ("libc/pipe-receive", transfers::floors_pipe_receive),
    ("ipc/event-add", transfers::event_add),
    ("libc/event-add", transfers::floors_event_add),
    ("ipc/event-take", transfers::event_take),
    ("libc/event-take", transfers::floors_event_take),
    ("ipc/message-send", transfers::message_send),
    ("libc/message-send", transfers::floors_message_send),
    ("ipc/message-receive", transfers::message_receive),
    ("libc/message-receive", transfers::floors_message_receive),
    ("ipc/unix-datagram-send", transfers::unix_datagram_send),
    ("libc/unix-datagram-send", transfers::floors_unix_datagram_send),
    ("ipc/unix-datagram-receive", transfers::unix_datagram_receive),
    ("libc/unix-datagram-receive", transfers::floors_unix_datagram_receive),
    ("ipc/receive-from", transfers::receive_from),
    ("ipc/by-receive-from", transfers::receive_from_by),
    ("libc/receive-from", transfers::floors_receive_from),
    ("ipc/reply", transfers::reply),
    ("ipc/by-reply", transfers::reply_by),
    ("libc/reply", transfers::floors_reply),
    ("ipc/by-datagram-send-to", transfers::send_to_by),
    ("ipc/datagrams-send-16", transfers::datagrams_send),
    ("libc/datagrams-send-16", transfers::floors_datagrams_send),
    ("ipc/datagrams-receive-16", transfers::datagrams_receive),
    ("libc/datagrams-receive-16", transfers::floors_datagrams_receive),
    ("ipc/receive-by", transfers::receive_by),
    ("libc/receive-by", transfers::floors_receive_by),
    ("ipc/peek", transfers::peek),
    ("libc/peek", transfers::floors_peek),
    ("ipc/send-file", transfers::send_file),
    ("libc/send-file", transfers::floors_send_file),
    ("ipc/splice", transfers::splice),
    ("libc/splice", transfers::floors_splice),
    ("ipc/by-datagram-send", transfers::datagram_send_by),
    ("ipc/by-datagram-receive", transfers::datagram_receive_by),
    ("ipc/by-message-send", transfers::message_send_by),
    ("ipc/by-message-receive", transfers::message_receive_by),
    ("ipc/by-pipe-send", transfers::pipe_send_by),
    ("ipc/by-pipe-receive", transfers::pipe_receive_by),
    ("ipc/pipe-all", transfers::pipe_send_all),
    ("libc/pipe-all", transfers::floors_pipe_send_all),
    ("ipc/pipe-exact", transfers::pipe_receive_exact),
    ("libc/pipe-exact", transfers::floors_pipe_receive_exact),
    ("ipc/receive-scattered", beside::receive_scattered),
    ("libc/receive-scattered", beside::floors_receive_scattered),
    ("ipc/by-receive-scattered", beside::receive_scattered_by),
    ("ipc/send-passing", beside::send_passing),
    ("libc/send-passing", beside::floors_send_passing),
    ("ipc/receive-passed", beside::receive_passed),
    ("libc/receive-passed", beside::floors_receive_passed),
    ("ipc/receive-stamped", beside::receive_stamped),
    ("libc/receive-stamped", beside::floors_receive_stamped),
    ("ipc/multicast-send", beside::multicast_send),
    ("libc/multicast-send", beside::floors_multicast_send),
    ("ipc/broadcast-send", beside::broadcast_send),
    ("libc/broadcast-send", beside::floors_broadcast_send),
    ("ipc/tee", beside::tee),
    ("libc/tee", beside::floors_tee),
    ("ipc/send-static", beside::send_static),
    ("libc/send-static", beside::floors_send_static),
    ("ipc/gift", beside::gift),
    ("libc/gift", beside::floors_gift),
    ("ipc/send-uncopied", beside::send_uncopied),
    ("libc/send-uncopied", beside::floors_send_uncopied),
    ("ipc/read-at", beside::read_at),
    ("libc/read-at", beside::floors_read_at),
    ("ipc/write-at", beside::write_at),
    ("libc/write-at", beside::floors_write_at),
    ("ipc/now-send", variants::send_now),
    ("ipc/now-receive", variants::receive_now),
    ("ipc/if-there-receive", variants::receive_if_there),
    ("ipc/exact-receive-scattered", variants::receive_scattered_exact),
    ("ipc/beside-completions-receive", variants::receive_beside_completions),
    ("ipc/now-datagram-send", variants::datagram_send_now),
    ("ipc/now-datagram-receive", variants::datagram_receive_now),
    ("ipc/by-unix-datagram-send", variants::unix_datagram_send_by),
    ("ipc/by-unix-datagram-receive", variants::unix_datagram_receive_by),
    ("ipc/now-receive-from", variants::receive_from_now),
    ("ipc/now-reply", variants::reply_now),
    ("ipc/now-datagrams-send-16", variants::datagrams_send_now),
    ("ipc/by-datagrams-send-16", variants::datagrams_send_by),
    ("ipc/now-datagrams-receive-16", variants::datagrams_receive_now),
    ("ipc/by-datagrams-receive-16", variants::datagrams_receive_by),
    ("ipc/now-multicast-send", variants::multicast_send_now),
    ("ipc/by-multicast-send", variants::multicast_send_by),
    ("ipc/now-broadcast-send", variants::broadcast_send_now),
    ("ipc/by-broadcast-send", variants::broadcast_send_by),
    ("ipc/now-message-send", variants::message_send_now),
    ("ipc/now-message-receive", variants::message_receive_now),
    ("ipc/message-send-passing", variants::message_send_passing),
    ("libc/message-send-passing", variants::floors_message_send_passing),
    ("ipc/message-receive-passed", variants::message_receive_passed),
    ("libc/message-receive-passed", variants::floors_message_receive_passed),
    ("ipc/by-event-add", variants::event_add_by),
    ("ipc/by-event-take", variants::event_take_by),
    ("ipc/semaphore-add", variants::semaphore_add),
    ("ipc/semaphore-take", variants::semaphore_take),
    ("ipc/splice-to-pipe", variants::splice_to_pipe),
    ("libc/splice-to-pipe", variants::floors_splice_to_pipe),
    ("ipc/splice-from-stream", variants::splice_from_stream),
    ("libc/splice-from-stream", variants::floors_splice_from_stream),
    ("ipc/splice-from-file", variants::splice_from_file),
    ("libc/splice-from-file", variants::floors_splice_from_file),
    ("ipc/splice-to-file", variants::splice_to_file),
    ("libc/splice-to-file", variants::floors_splice_to_file),
    ("ipc/sized-read-at", variants::sized_read_at),
    ("ipc/sealed-read-at", variants::sealed_read_at),
    ("ipc/copy-in", variants::copy_in),
    ("ipc/copy-out", variants::copy_out),
    ("growth/1000-operations", whole::large),
    (MANY_OBJECTS, || whole::small(1_000_000)),
];

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
    if wanted.iter().any(|start| CASES.iter().all(|(name, _)| !name.starts_with(start))) {
        return usage();
    }
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|start| name.starts_with(start));
    let cases: Vec<_> = CASES.iter().filter(|(name, _)| is_wanted(name)).collect();
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
    CASES.iter().for_each(|(name, _)| eprintln!("  {name}"));
    ExitCode::FAILURE
}
