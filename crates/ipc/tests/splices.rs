//! Octets that stay in the kernel, and memory that is given away.

use std::fs::File;
use std::io::{IoSlice, Read, Seek, Write};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl};
use zorb_ipc::{
    AcceptorOptions, ByteStream, Fifo, Memfd, Pages, PipeReader, PipeWriter, SpliceStream, Step, Stream,
    StreamFamily, Tcp, Unix, UnixAddress, pipe,
};

const SHORT: Duration = Duration::from_millis(30);
const LONG: Duration = Duration::from_secs(30);

fn soon() -> Instant {
    Instant::now() + LONG
}

fn shortly() -> Instant {
    Instant::now() + SHORT
}

fn pair<F: StreamFamily>(at: F::Address) -> (Stream<F>, Stream<F>) {
    let acceptor = zorb_ipc::Acceptor::<F>::bind(at, &AcceptorOptions::new()).unwrap();
    let client = Stream::<F>::connect(acceptor.local().clone(), soon()).unwrap();
    (client, acceptor.accept_by(soon()).unwrap())
}

fn tcp() -> (Stream<Tcp>, Stream<Tcp>) {
    pair::<Tcp>("127.0.0.1:0".parse().unwrap())
}

fn unix(test: &str) -> (Stream<Unix>, Stream<Unix>) {
    let name = format!("zorb-ipc-splice-{test}-{}", std::process::id());
    pair::<Unix>(UnixAddress::abstract_name(name.as_bytes()).unwrap())
}

fn put(writer: &PipeWriter, octets: &[u8]) {
    writer.send_all(&mut [IoSlice::new(octets)], soon()).unwrap();
}

fn take(reader: &PipeReader, octets: usize) -> Vec<u8> {
    let mut taken = vec![0; octets];
    reader.receive_exact(&mut taken, soon()).unwrap();
    taken
}

fn received(stream: &impl ByteStream, octets: usize) -> Vec<u8> {
    let mut received = vec![0; octets];
    stream.receive_exact(&mut received, soon()).unwrap();
    received
}

/// A whole file, through a pipe, to a stream.
fn a_file_reaches_the_peer<F: StreamFamily>((client, server): (Stream<F>, Stream<F>)) {
    let octets: Vec<u8> = (0..3 << 20_u32).map(|i| (i / 241) as u8).collect();
    let file = Memfd::create("file", 0).unwrap();
    file.write_at(&octets, 0).unwrap();
    let client = SpliceStream::of(client).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let (reader, writer) = pipe().unwrap();
            let mut at = 0;
            loop {
                let mut moved = writer.splice_from_file(&file, &mut at, 1 << 16, soon()).unwrap();
                if moved == 0 {
                    break;
                }
                while moved > 0 {
                    moved -= reader.splice_to_stream(&client, moved, soon()).unwrap();
                }
            }
            assert_eq!(at, octets.len() as u64);
            client.shutdown_send().unwrap();
        });
        assert!(received(&server, octets.len()) == octets);
        assert_eq!(server.receive_by(&mut [0; 8], soon()).unwrap(), 0);
    });
}

#[test]
fn a_file_reaches_a_tcp_peer() {
    a_file_reaches_the_peer(tcp());
}

#[test]
fn a_file_reaches_a_unix_peer() {
    a_file_reaches_the_peer(unix("file"));
}

/// What a stream receives, through a pipe, into a file, and its end.
fn a_stream_is_kept<F: StreamFamily>((client, server): (Stream<F>, Stream<F>)) {
    let octets: Vec<u8> = (0..1 << 20_u32).map(|i| (i / 239) as u8).collect();
    let server = SpliceStream::of(server).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            client.send_all(&mut [IoSlice::new(&octets)], soon()).unwrap();
            client.shutdown_send().unwrap();
        });
        let file = Memfd::create("kept", 0).unwrap();
        let (reader, writer) = pipe().unwrap();
        let mut at = 100;
        loop {
            let mut moved = writer.splice_from_stream(&server, 1 << 15, soon()).unwrap();
            if moved == 0 {
                break;
            }
            assert!(moved <= 1 << 15);
            while moved > 0 {
                moved -= reader.splice_to_file(&file, &mut at, moved, soon()).unwrap();
            }
        }
        assert_eq!(at, 100 + octets.len() as u64);
        let mut kept = vec![0; octets.len()];
        assert_eq!(file.read_at(&mut kept, 100).unwrap(), octets.len());
        assert!(kept == octets);
    });
}

#[test]
fn what_a_tcp_stream_receives_is_kept() {
    a_stream_is_kept(tcp());
}

#[test]
fn what_a_unix_stream_receives_is_kept() {
    a_stream_is_kept(unix("kept"));
}

#[test]
fn waiting_ends_by_the_deadline_whichever_end_is_late() {
    let (client, server) = tcp();
    let client = SpliceStream::of(client).unwrap();
    let (reader, writer) = pipe().unwrap();
    let begun = Instant::now();
    let error = writer.splice_from_stream(&client, 100, shortly()).unwrap_err();
    assert!(error.is_timeout() && error.step() == Step::Receive && error.address().is_some(), "{error}");
    assert!(begun.elapsed() >= SHORT);
    let error = reader.splice_to_stream(&client, 100, shortly()).unwrap_err();
    assert!(error.is_timeout() && error.step() == Step::Send, "{error}");
    let (other, to) = pipe().unwrap();
    assert!(reader.splice_to_pipe(&to, 100, shortly()).unwrap_err().is_timeout());
    assert!(reader.tee(&to, 100, shortly()).unwrap_err().is_timeout());

    // A peer that does not receive: the stream's queue is full, and then the pipe is.
    let mut moved = 0;
    let error = loop {
        if let Err(error) = writer.send_by(&[IoSlice::new(&[1; 4096])], shortly()) {
            break error;
        }
        match reader.splice_to_stream(&client, 1 << 20, Instant::now() + 4 * SHORT) {
            Ok(octets) => moved += octets,
            Err(error) => break error,
        }
    };
    assert!(error.is_timeout() && moved > 0, "{error}");
    assert!(received(&server, moved).iter().all(|&octet| octet == 1));
    assert!(other.receive_now(&mut [0]).unwrap_err().is_would_block());

    // A pipe that nobody empties.
    let (_reader, writer) = pipe().unwrap();
    while writer.send_now(&[IoSlice::new(&[2; 4096])]).is_ok() {}
    let _ = server.send(&[IoSlice::new(b"something")]).unwrap();
    let error = writer.splice_from_stream(&client, 100, shortly()).unwrap_err();
    assert!(error.is_timeout(), "{error}");
    assert_eq!(received(&client, 9), b"something", "nothing of it was lost");
}

#[test]
fn who_waits_goes_on_when_something_comes() {
    let (client, server) = unix("waits");
    let server = SpliceStream::of(server).unwrap();
    let (reader, writer) = pipe().unwrap();
    thread::scope(|scope| {
        let moving = scope.spawn(|| writer.splice_from_stream(&server, 100, soon()).unwrap());
        thread::sleep(SHORT);
        let _ = client.send(&[IoSlice::new(b"late")]).unwrap();
        assert_eq!(moving.join().unwrap(), 4);
        assert_eq!(take(&reader, 4), b"late");

        let moving = scope.spawn(|| reader.splice_to_stream(&server, 100, soon()).unwrap());
        thread::sleep(SHORT);
        put(&writer, b"back");
        assert_eq!(moving.join().unwrap(), 4);
        assert_eq!(received(&client, 4), b"back");
    });
}

#[test]
fn ends_and_losses_of_either_side_are_told() {
    let (client, server) = tcp();
    let client = SpliceStream::of(client).unwrap();
    let (reader, writer) = pipe().unwrap();
    // The pipe has ended.
    put(&writer, b"rest");
    drop(writer);
    assert_eq!(reader.splice_to_stream(&client, 100, soon()).unwrap(), 4);
    assert_eq!(reader.splice_to_stream(&client, 100, soon()).unwrap(), 0);
    // Nobody reads the pipe.
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let _ = server.send(&[IoSlice::new(b"x")]).unwrap();
    assert!(writer.splice_from_stream(&client, 100, soon()).unwrap_err().is_connection_reset());
    // The peer is gone.
    drop(server);
    let (reader, writer) = pipe().unwrap();
    let until = soon();
    let error = loop {
        assert!(Instant::now() < until);
        put(&writer, b"x");
        if let Err(error) = reader.splice_to_stream(&client, 1, soon()) {
            break error;
        }
    };
    assert!(
        error.is_connection_reset() && error.step() == Step::Send && error.address().is_some(),
        "{error}"
    );
}

#[test]
fn nothing_is_moved_at_once() {
    let (client, _server) = tcp();
    let client = SpliceStream::of(client).unwrap();
    let (reader, writer) = pipe().unwrap();
    let (_other, to) = pipe().unwrap();
    let now = Instant::now();
    assert_eq!(reader.splice_to_stream(&client, 0, now).unwrap(), 0);
    assert_eq!(writer.splice_from_stream(&client, 0, now).unwrap(), 0);
    assert_eq!(reader.splice_to_pipe(&to, 0, now).unwrap(), 0);
    assert_eq!(reader.tee(&to, 0, now).unwrap(), 0);
}

#[test]
fn a_tee_leaves_what_it_copies() {
    let (reader, writer) = pipe().unwrap();
    let (other, to) = pipe().unwrap();
    put(&writer, b"twice");
    assert_eq!(reader.tee(&to, 100, soon()).unwrap(), 5);
    assert_eq!(reader.queued().unwrap(), 5);
    assert_eq!(take(&other, 5), b"twice");
    assert_eq!(reader.splice_to_pipe(&to, 3, soon()).unwrap(), 3);
    assert_eq!((take(&other, 3), take(&reader, 2)), (b"twi".to_vec(), b"ce".to_vec()));
    drop(writer);
    assert_eq!(reader.tee(&to, 100, soon()).unwrap(), 0);
    drop(other);
    let (reader, writer) = pipe().unwrap();
    put(&writer, b"x");
    assert!(reader.splice_to_pipe(&to, 1, soon()).unwrap_err().is_connection_reset());
}

#[test]
fn a_fifo_that_nobody_has_opened_yet_has_not_ended() {
    let path = std::env::temp_dir().join(format!("zorb-ipc-splice-{}", std::process::id()));
    let fifo = Fifo::create(path, 0o600).unwrap();
    let reader = fifo.reader().unwrap();
    let (other, to) = pipe().unwrap();
    assert!(reader.splice_to_pipe(&to, 100, shortly()).unwrap_err().is_timeout());
    let writer = fifo.writer_now().unwrap();
    put(&writer, b"first");
    drop(writer);
    assert_eq!(reader.splice_to_pipe(&to, 100, soon()).unwrap(), 5);
    assert_eq!(take(&other, 5), b"first");
    assert_eq!(reader.splice_to_pipe(&to, 100, soon()).unwrap(), 0);
}

#[test]
fn files_that_cannot_be_spliced_are_errors() {
    let (reader, writer) = pipe().unwrap();
    put(&writer, b"x");
    let path = std::env::temp_dir().join(format!("zorb-ipc-append-{}", std::process::id()));
    let appending = File::options().append(true).create(true).open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let error = reader.splice_to_file(&appending, &mut 0, 1, soon()).unwrap_err();
    assert_eq!(error.step(), Step::Receive, "{error}");
    let directory = File::open("/").unwrap();
    assert_eq!(writer.splice_from_file(&directory, &mut 0, 1, soon()).unwrap_err().step(), Step::Send);
    assert_eq!(take(&reader, 1), b"x");
}

#[test]
fn an_ordinary_file_is_spliced_and_its_position_stays() {
    let path = std::env::temp_dir().join(format!("zorb-ipc-file-{}", std::process::id()));
    let mut file = File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    file.write_all(b"0123456789").unwrap();
    let (reader, writer) = pipe().unwrap();
    let mut at = 7;
    assert_eq!(writer.splice_from_file(&file, &mut at, 100, soon()).unwrap(), 3);
    assert_eq!((at, take(&reader, 3)), (10, b"789".to_vec()));
    assert_eq!(writer.splice_from_file(&file, &mut at, 100, soon()).unwrap(), 0);
    put(&writer, b"ab");
    let mut at = 0;
    assert_eq!(reader.splice_to_file(&file, &mut at, 100, soon()).unwrap(), 2);
    assert_eq!((at, file.stream_position().unwrap()), (2, 10));
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "ab23456789");
}

#[test]
fn a_spliced_stream_does_all_else_too_and_blocks_again_afterwards() {
    let (client, server) = tcp();
    let client = SpliceStream::of(client).unwrap();
    assert!(fcntl_getfl(&client).unwrap().contains(OFlags::NONBLOCK));
    client.send_all(&mut [IoSlice::new(b"ask")], soon()).unwrap();
    assert_eq!(received(&server, 3), b"ask");
    assert!(client.receive_by(&mut [0; 8], shortly()).unwrap_err().is_timeout());
    let _ = server.send(&[IoSlice::new(b"answer")]).unwrap();
    assert!(client.wait_readable(soon()).unwrap());
    assert_eq!(client.peek_now(&mut [0; 2]).unwrap(), 2);
    assert_eq!(received(&client, 6), b"answer");
    let client = client.into_stream().unwrap();
    assert!(!fcntl_getfl(&client).unwrap().contains(OFlags::NONBLOCK));
    client.set_receive_timeout(Some(SHORT)).unwrap();
    assert!(client.receive(&mut [0; 8]).unwrap_err().is_timeout());
}

#[test]
fn a_proxy_moves_both_directions_at_once() {
    let ((client, inner), (outer, server)) = (tcp(), unix("proxy"));
    let (inner, outer) = (SpliceStream::of(inner).unwrap(), SpliceStream::of(outer).unwrap());
    fn forward<A: StreamFamily, B: StreamFamily>(from: &SpliceStream<A>, to: &SpliceStream<B>) {
        let (reader, writer) = pipe().unwrap();
        loop {
            let mut moved = writer.splice_from_stream(from, 1 << 16, soon()).unwrap();
            if moved == 0 {
                return to.shutdown_send().unwrap();
            }
            while moved > 0 {
                moved -= reader.splice_to_stream(to, moved, soon()).unwrap();
            }
        }
    }
    fn exchange(stream: &impl ByteStream, send: u8, receive: u8) {
        thread::scope(|scope| {
            scope.spawn(|| {
                stream.send_all(&mut [IoSlice::new(&vec![send; 2 << 20])], soon()).unwrap();
                stream.shutdown_send().unwrap();
            });
            assert!(received(stream, 2 << 20).iter().all(|&octet| octet == receive));
            assert_eq!(stream.receive_by(&mut [0], soon()).unwrap(), 0);
        });
    }
    thread::scope(|scope| {
        scope.spawn(|| forward(&inner, &outer));
        scope.spawn(|| forward(&outer, &inner));
        scope.spawn(|| exchange(&client, 1, 2));
        exchange(&server, 2, 1);
    });
}

// ---- memory that is given away ----

fn numbered(octets: usize) -> Pages {
    let mut pages = Pages::new(octets).unwrap();
    assert!(pages.len() == octets && pages.iter().all(|&octet| octet == 0));
    pages.iter_mut().enumerate().for_each(|(index, octet)| *octet = (index / 253) as u8);
    pages
}

#[test]
fn gifts_arrive_whole_and_are_gone() {
    let page = rustix::param::page_size();
    for octets in [0, 1, page - 1, page, page + 1, 5 * page, 100 * page + 17] {
        let (reader, writer) = pipe().unwrap();
        let mut pages = numbered(octets);
        let expected = pages.to_vec();
        thread::scope(|scope| {
            let reading = scope.spawn(|| take(&reader, octets));
            writer.gift(&mut pages, soon()).unwrap();
            assert!(reading.join().unwrap() == expected, "{octets} octets");
        });
        assert!(pages.is_empty());
        writer.gift(&mut pages, Instant::now()).unwrap();
        assert!(reader.receive_now(&mut [0]).unwrap_err().is_would_block(), "not one octet more");
    }
}

#[test]
fn what_was_not_taken_stays_the_givers() {
    let page = rustix::param::page_size();
    let (reader, writer) = pipe().unwrap();
    let room = writer.set_capacity(4 * page).unwrap();
    let mut pages = numbered(room + 3 * page);
    let expected = pages.to_vec();
    let error = writer.gift(&mut pages, shortly()).unwrap_err();
    assert!(error.is_timeout() && error.step() == Step::Send, "{error}");
    let taken = error.transferred();
    assert!(taken > 0 && taken.is_multiple_of(page));
    assert_eq!(&pages[..], &expected[taken..]);
    // It is still memory like any other; what was given away does not follow it.
    pages[0] = 0xee;
    assert!(take(&reader, taken) == expected[..taken]);
    writer.gift(&mut pages, soon()).unwrap();
    let rest = take(&reader, expected.len() - taken);
    assert!(rest[0] == 0xee && rest[1..] == expected[taken + 1..]);
    // Dropped half given.
    let mut pages = numbered(room + page);
    assert!(writer.gift(&mut pages, shortly()).unwrap_err().is_timeout());
    drop(pages);
    assert!(take(&reader, room)[..10].iter().all(|&octet| octet == 0));

    drop(reader);
    let mut pages = numbered(page);
    assert!(writer.gift(&mut pages, soon()).unwrap_err().is_connection_reset());
    assert_eq!(pages.len(), page);
}

#[test]
fn gifts_go_on_to_a_stream_without_a_copy_and_unchanged() {
    let (client, server) = tcp();
    let client = SpliceStream::of(client).unwrap();
    let (reader, writer) = pipe().unwrap();
    let mut pages = numbered(64 << 10);
    let expected = pages.to_vec();
    thread::scope(|scope| {
        scope.spawn(|| writer.gift(&mut pages, soon()).unwrap());
        let mut moved = 0;
        while moved < expected.len() {
            moved += reader.splice_to_stream(&client, 1 << 16, soon()).unwrap();
        }
    });
    // The addresses are free again; what is put there now is not what is on its way.
    let other = vec![0xff_u8; 1 << 20];
    assert!(received(&server, expected.len()) == expected);
    drop(other);
}

#[test]
fn constants_are_sent_from_where_they_are() {
    static TEXT: [u8; 100_000] = [b'z'; 100_000];
    let (reader, writer) = pipe().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| writer.send_static(&TEXT, soon()).unwrap());
        assert!(take(&reader, TEXT.len()) == TEXT);
    });
    writer.send_static(b"", Instant::now()).unwrap();
    let error = writer.send_static(&TEXT, shortly()).unwrap_err();
    assert!(error.is_timeout() && error.transferred() > 0 && error.transferred() < TEXT.len(), "{error}");
    assert!(take(&reader, error.transferred()).iter().all(|&octet| octet == b'z'));
    drop(reader);
    assert!(writer.send_static(b"x", soon()).unwrap_err().is_connection_reset());
}

#[test]
fn more_memory_than_there_is_is_an_error() {
    assert_eq!(Pages::new(usize::MAX >> 2).unwrap_err().step(), Step::Map);
    assert_eq!(Pages::new(usize::MAX).unwrap_err().step(), Step::Map);
    assert!(Pages::new(0).unwrap().is_empty());
}
