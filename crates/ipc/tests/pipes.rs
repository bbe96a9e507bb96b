//! Pipes without a name.

use std::fs::File;
use std::io::{IoSlice, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::{FdFlags, fcntl_getfd};
use zorb_ipc::{Error, PipeReader, PipeWriter, Step, pipe};

const SHORT: Duration = Duration::from_millis(30);
const LONG: Duration = Duration::from_secs(30);

fn soon() -> Instant {
    Instant::now() + LONG
}

fn shortly() -> Instant {
    Instant::now() + SHORT
}

/// Sends until there is no room, and says how many octets that were.
fn fill(writer: &PipeWriter) -> usize {
    let block = [7; 4096];
    let mut sent = 0;
    loop {
        match writer.send_now(&[IoSlice::new(&block)]) {
            Ok(octets) => sent += octets,
            Err(error) => {
                assert!(
                    error.is_would_block() && !error.is_timeout() && error.step() == Step::Send,
                    "{error}"
                );
                return sent;
            }
        }
    }
}

#[test]
fn octets_arrive_in_order_as_one() {
    let (reader, writer) = pipe().unwrap();
    assert_eq!(writer.send_now(&[IoSlice::new(b"one"), IoSlice::new(b""), IoSlice::new(b"two")]).unwrap(), 6);
    writer.send_all(&mut [IoSlice::new(b""), IoSlice::new(b"three")], soon()).unwrap();
    assert_eq!(writer.send_by(&[IoSlice::new(b"!")], soon()).unwrap(), 1);
    assert_eq!(reader.queued().unwrap(), 12);
    let mut text = [0; 12];
    reader.receive_exact(&mut text[..4], soon()).unwrap();
    assert_eq!(reader.receive_by(&mut text[4..], soon()).unwrap(), 8);
    assert_eq!(&text, b"onetwothree!");
}

#[test]
fn nothing_is_sent_and_received_at_once() {
    let (reader, writer) = pipe().unwrap();
    assert_eq!(writer.send_now(&[]).unwrap(), 0);
    writer.send_all(&mut [IoSlice::new(b""), IoSlice::new(b"")], Instant::now()).unwrap();
    assert_eq!(reader.receive_now(&mut []).unwrap(), 0);
    reader.receive_exact(&mut [], Instant::now()).unwrap();
    assert_eq!(reader.queued().unwrap(), 0);
    assert!(reader.receive_now(&mut [0]).unwrap_err().is_would_block());
}

#[test]
fn receiving_ends_by_the_deadline_and_the_pipe_lives_on() {
    let (reader, writer) = pipe().unwrap();
    let begun = Instant::now();
    let error = reader.receive_by(&mut [0; 8], shortly()).unwrap_err();
    assert!(error.is_timeout() && error.step() == Step::Receive, "{error}");
    assert!(begun.elapsed() >= SHORT);
    assert!(!reader.wait_readable(shortly()).unwrap());
    let _ = writer.send_now(&[IoSlice::new(b"half")]).unwrap();
    assert!(reader.wait_readable(soon()).unwrap());
    let mut text = [0; 8];
    let error = reader.receive_exact(&mut text, shortly()).unwrap_err();
    assert!(error.is_timeout() && error.transferred() == 4 && text[..4] == *b"half", "{error}");
}

#[test]
fn sending_ends_by_the_deadline_and_says_how_far_it_came() {
    let (reader, writer) = pipe().unwrap();
    let filled = fill(&writer);
    assert!(filled > 0 && filled <= writer.capacity().unwrap());
    let begun = Instant::now();
    let error = writer.send_by(&[IoSlice::new(b"more")], shortly()).unwrap_err();
    assert!(error.is_timeout() && error.step() == Step::Send, "{error}");
    assert!(begun.elapsed() >= SHORT);

    reader.receive_exact(&mut vec![0; filled], soon()).unwrap();
    let whole = vec![8; 2 * filled];
    let error = writer.send_all(&mut [IoSlice::new(&whole)], shortly()).unwrap_err();
    assert!(error.is_timeout() && error.transferred() > 0 && error.transferred() < whole.len(), "{error}");
    let mut received = vec![0; error.transferred()];
    reader.receive_exact(&mut received, soon()).unwrap();
    assert!(received.iter().all(|&octet| octet == 8));
    assert!(reader.receive_now(&mut [0]).unwrap_err().is_would_block(), "not one octet more");
}

#[test]
fn a_small_send_goes_whole_or_not_at_all() {
    let (reader, writer) = pipe().unwrap();
    fill(&writer);
    // One page of room: exactly as much as one of these takes.
    reader.receive_exact(&mut vec![0; PipeWriter::TOGETHER], soon()).unwrap();
    let message = vec![1; PipeWriter::TOGETHER];
    assert_eq!(writer.send_now(&[IoSlice::new(&message)]).unwrap(), message.len());
    assert!(writer.send_now(&[IoSlice::new(&message)]).unwrap_err().is_would_block());
}

#[test]
fn a_transfer_larger_than_the_pipe_goes_through_whole() {
    let (reader, writer) = pipe().unwrap();
    let octets: Vec<u8> = (0..4 << 20_u32).map(|i| (i / 251) as u8).collect();
    thread::scope(|scope| {
        scope.spawn(|| {
            let (head, tail) = octets.split_at(12);
            writer.send_all(&mut [IoSlice::new(head), IoSlice::new(tail)], soon()).unwrap();
        });
        let mut received = vec![0; octets.len()];
        reader.receive_exact(&mut received, soon()).unwrap();
        assert!(received == octets);
    });
}

#[test]
fn more_slices_than_one_call_takes_all_arrive() {
    let (reader, writer) = pipe().unwrap();
    let octets: Vec<u8> = (0..5000_u32).map(|i| i as u8).collect();
    let mut slices: Vec<_> = octets.chunks(1).map(IoSlice::new).collect();
    writer.send_all(&mut slices, soon()).unwrap();
    let mut received = vec![0; 5000];
    reader.receive_exact(&mut received, soon()).unwrap();
    assert_eq!(received, octets);
}

#[test]
fn the_writers_end_is_told_after_the_last_octet() {
    let (reader, writer) = pipe().unwrap();
    let _ = writer.send_now(&[IoSlice::new(b"last")]).unwrap();
    drop(writer);
    assert!(reader.wait_readable(soon()).unwrap());
    let mut text = [0; 8];
    let error = reader.receive_exact(&mut text, soon()).unwrap_err();
    assert!(error.is_unexpected_end() && !error.is_connection_reset(), "{error}");
    assert_eq!((error.transferred(), &text[..4]), (4, &b"last"[..]));
    for _ in 0..2 {
        assert_eq!(reader.receive_now(&mut text).unwrap(), 0);
        assert_eq!(reader.receive_by(&mut text, soon()).unwrap(), 0);
    }
}

#[test]
fn a_reader_that_is_gone_is_an_error_and_no_signal() {
    let (reader, writer) = pipe().unwrap();
    assert!(!writer.is_closed_by_peer().unwrap());
    drop(reader);
    assert!(writer.is_closed_by_peer().unwrap());
    let one = [IoSlice::new(b"x")];
    for error in [
        writer.send_now(&one).unwrap_err(),
        writer.send_by(&one, soon()).unwrap_err(),
        writer.send_all(&mut one.clone(), soon()).unwrap_err(),
    ] {
        assert!(error.is_connection_reset() && error.step() == Step::Send, "{error}");
    }
}

#[test]
fn who_waits_is_woken_when_the_other_end_closes() {
    let (reader, writer) = pipe().unwrap();
    thread::scope(|scope| {
        let receiver = scope.spawn(|| reader.receive_by(&mut [0; 8], soon()));
        thread::sleep(SHORT); // either order is right; this one is the interesting one
        drop(writer);
        assert_eq!(receiver.join().unwrap().unwrap(), 0);
    });
    let (reader, writer) = pipe().unwrap();
    fill(&writer);
    thread::scope(|scope| {
        let sender = scope.spawn(|| writer.send_by(&[IoSlice::new(b"x")], soon()));
        thread::sleep(SHORT);
        drop(reader);
        assert!(sender.join().unwrap().unwrap_err().is_connection_reset());
    });
}

#[test]
fn the_capacity_is_told_and_changed() {
    let (reader, writer) = pipe().unwrap();
    let page = rustix::param::page_size();
    let capacity = writer.set_capacity(3 * page).unwrap();
    assert!(capacity >= 3 * page, "rounded up");
    assert_eq!((writer.capacity().unwrap(), reader.capacity().unwrap()), (capacity, capacity));
    assert!(fill(&writer) <= capacity);
    let error = reader.set_capacity(page).unwrap_err();
    assert_eq!(error.step(), Step::Configure, "what is queued would not fit");
    assert_eq!(writer.set_capacity(usize::MAX).unwrap_err().step(), Step::Configure);
    assert_eq!(reader.capacity().unwrap(), capacity);
}

#[test]
fn ends_are_not_inherited_and_block_for_others_only_once_given_away() {
    let (reader, writer) = pipe().unwrap();
    for fd in [reader.as_fd(), writer.as_fd()] {
        assert!(fcntl_getfd(fd).unwrap().contains(FdFlags::CLOEXEC));
        assert!(fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK));
    }
    for fd in [reader.into_descriptor().unwrap(), writer.into_descriptor().unwrap()] {
        assert!(!fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK));
    }
}

#[test]
fn ends_that_came_from_elsewhere_are_adopted_as_what_they_are() {
    let (from, to) = std::io::pipe().unwrap();
    let (reader, writer) = (PipeReader::adopt(from.into()).unwrap(), PipeWriter::adopt(to.into()).unwrap());
    for fd in [reader.as_fd(), writer.as_fd()] {
        assert!(fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK));
    }
    let _ = writer.send_now(&[IoSlice::new(b"x")]).unwrap();
    assert_eq!(reader.receive_by(&mut [0; 8], soon()).unwrap(), 1);

    // The wrong end comes back, as it was.
    let refused = PipeWriter::adopt(reader.into_descriptor().unwrap()).unwrap_err();
    assert!(refused.error().is_of_another_kind() && refused.error().step() == Step::Adopt);
    assert_eq!(
        refused.to_string(),
        "adopt a descriptor: wanted a pipe's writing end, found a pipe's reading end"
    );
    let back = refused.into_handle();
    assert!(!fcntl_getfl(&back).unwrap().contains(OFlags::NONBLOCK));
    drop(writer);
    assert_eq!(File::from(back).read(&mut [0; 8]).unwrap(), 0);
}

#[test]
fn what_is_no_pipe_is_refused_by_its_name() {
    let file: OwnedFd = File::open("/proc/self/exe").unwrap().into();
    let directory: OwnedFd = File::open("/").unwrap().into();
    let device: OwnedFd = File::open("/dev/null").unwrap().into();
    let socket: OwnedFd = std::os::unix::net::UnixStream::pair().unwrap().0.into();
    let counter = zorb_ipc::EventCounter::new(0).unwrap().as_fd().try_clone_to_owned().unwrap();
    for (fd, found) in [
        (file, "a regular file"),
        (directory, "a directory"),
        (device, "a device"),
        (socket, "a Unix stream socket that is connected"),
        (counter, "a descriptor of the kind [eventfd]"),
    ] {
        let error: Error = PipeReader::adopt(fd).unwrap_err().into();
        assert!(error.is_of_another_kind());
        assert!(error.to_string().ends_with(&format!("found {found}")), "{error}");
    }
}

#[test]
fn ends_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<PipeReader>();
    shared::<PipeWriter>();
    shared::<zorb_ipc::Pages>();
    shared::<zorb_ipc::SpliceStream<zorb_ipc::Tcp>>();
}
