//! Pipes with a name in the file system.

use std::fs;
use std::io::IoSlice;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use zorb_ipc::{Fifo, PipeReader, Step};

const SHORT: Duration = Duration::from_millis(30);
const LONG: Duration = Duration::from_secs(30);

fn soon() -> Instant {
    Instant::now() + LONG
}

/// A path that nobody else has.
fn unused() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("zorb-ipc-fifo-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
    std::env::temp_dir().join(name)
}

#[test]
fn octets_pass_from_one_who_opened_it_to_the_other() {
    let fifo = Fifo::create(unused(), 0o600).unwrap();
    let reader = fifo.reader().unwrap();
    let writer = Fifo::find(fifo.path()).unwrap().writer_by(soon()).unwrap();
    writer.send_all(&mut [IoSlice::new(b"order")], soon()).unwrap();
    let mut text = [0; 5];
    reader.receive_exact(&mut text, soon()).unwrap();
    assert_eq!(&text, b"order");
    drop(writer);
    assert_eq!(reader.receive_by(&mut text, soon()).unwrap(), 0);
}

#[test]
fn it_has_the_permissions_asked_for_and_goes_with_who_made_it() {
    let path = unused();
    let fifo = Fifo::create(&path, 0o662).unwrap();
    let file = fs::symlink_metadata(&path).unwrap();
    assert!(file.file_type().is_fifo());
    assert_eq!(file.permissions().mode() & 0o7777, 0o662, "whatever the process's mask is");

    // Who found it leaves it.
    drop(Fifo::find(&path).unwrap());
    drop(Fifo::create_or_find(&path, 0o600).unwrap());
    assert_eq!(fs::symlink_metadata(&path).unwrap().permissions().mode() & 0o7777, 0o662);

    let (reader, writer) = (fifo.reader().unwrap(), fifo.writer_now().unwrap());
    drop(fifo);
    assert!(!path.exists());
    let _ = writer.send_now(&[IoSlice::new(b"x")]).unwrap();
    assert_eq!(reader.receive_now(&mut [0; 8]).unwrap(), 1, "ends that are open stay connected");

    let made = Fifo::create_or_find(&path, 0o600).unwrap();
    assert!(path.exists());
    drop(made);
    assert!(!path.exists());
}

#[test]
fn another_file_that_took_its_place_stays() {
    let path = unused();
    let fifo = Fifo::create(&path, 0o600).unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(&path, "another's").unwrap();
    drop(fifo);
    assert_eq!(fs::read_to_string(&path).unwrap(), "another's");
    fs::remove_file(&path).unwrap();
}

#[test]
fn nobody_writes_where_nobody_reads() {
    let fifo = Fifo::create(unused(), 0o600).unwrap();
    let error = fifo.writer_now().unwrap_err();
    assert!(error.is_connection_refused() && error.step() == Step::Open, "{error}");
    assert_eq!(error.path(), Some(fifo.path()));
    let begun = Instant::now();
    let error = fifo.writer_by(begun + SHORT).unwrap_err();
    assert!(error.is_timeout() && error.step() == Step::Open && error.path() == Some(fifo.path()), "{error}");
    assert!(begun.elapsed() >= SHORT);
    thread::scope(|scope| {
        let writing = scope.spawn(|| fifo.writer_by(soon()).unwrap());
        thread::sleep(SHORT);
        let reader = fifo.reader().unwrap();
        let writer = writing.join().unwrap();
        let _ = writer.send_now(&[IoSlice::new(b"x")]).unwrap();
        assert_eq!(reader.receive_by(&mut [0; 8], soon()).unwrap(), 1);
    });
}

#[test]
fn no_writer_yet_is_told_from_none_any_more() {
    let fifo = Fifo::create(unused(), 0o600).unwrap();
    let reader = fifo.reader().unwrap();
    let error = reader.receive_now(&mut [0; 8]).unwrap_err();
    assert!(error.is_would_block() && error.path() == Some(fifo.path()), "{error}");
    let error = reader.receive_by(&mut [0; 8], Instant::now() + SHORT).unwrap_err();
    assert!(error.is_timeout() && error.path() == Some(fifo.path()), "{error}");

    let writer = fifo.writer_now().unwrap();
    assert!(reader.receive_now(&mut [0; 8]).unwrap_err().is_would_block());
    drop(writer);
    assert_eq!(reader.receive_now(&mut [0; 8]).unwrap(), 0);
    assert_eq!(reader.receive_by(&mut [0; 8], soon()).unwrap(), 0);

    // The next one is served by the same end.
    let writer = fifo.writer_now().unwrap();
    assert!(reader.receive_now(&mut [0; 8]).unwrap_err().is_would_block());
    let _ = writer.send_now(&[IoSlice::new(b"again")]).unwrap();
    assert_eq!(reader.receive_by(&mut [0; 8], soon()).unwrap(), 5);
    drop(writer);

    // One that is opened anew has not seen anybody.
    let reader = fifo.reader().unwrap();
    assert!(reader.receive_now(&mut [0; 8]).unwrap_err().is_would_block());
    thread::scope(|scope| {
        let receiving = scope.spawn(|| reader.receive_by(&mut [0; 8], soon()));
        thread::sleep(SHORT);
        drop(fifo.writer_now().unwrap());
        assert_eq!(receiving.join().unwrap().unwrap(), 0, "one who came and left without a word");
    });
}

#[test]
fn what_is_there_and_is_no_fifo_is_refused() {
    let path = unused();
    let error = Fifo::find(&path).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::NOENT.raw_os_error()));
    assert_eq!((error.step(), error.path()), (Step::Open, Some(path.as_path())));

    fs::write(&path, "a file").unwrap();
    let error = Fifo::create(&path, 0o600).unwrap_err();
    assert!(error.is_address_in_use() && error.path() == Some(path.as_path()), "{error}");
    for error in [Fifo::find(&path).unwrap_err(), Fifo::create_or_find(&path, 0o600).unwrap_err()] {
        assert!(error.is_of_another_kind(), "{error}");
        assert!(error.to_string().ends_with("wanted a FIFO, found a regular file"), "{error}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "a file", "untouched");
    fs::remove_file(&path).unwrap();

    let _listener = UnixListener::bind(&path).unwrap();
    assert!(Fifo::find(&path).unwrap_err().to_string().ends_with("found a socket"));
    fs::remove_file(&path).unwrap();
    assert!(Fifo::find("/").unwrap_err().to_string().ends_with("found a directory"));
    assert!(Fifo::find("/dev/null").unwrap_err().to_string().ends_with("found a device"));
}

#[test]
fn what_took_the_fifos_place_is_refused_when_it_is_opened() {
    let path = unused();
    let fifo = Fifo::create(&path, 0o600).unwrap();
    fs::remove_file(&path).unwrap();
    let _listener = UnixListener::bind(&path).unwrap();
    // A socket is refused by the system as a FIFO without readers is: that must not be waited for.
    let error = fifo.writer_by(soon()).unwrap_err();
    assert!(error.is_of_another_kind(), "{error}");
    assert!(fifo.reader().unwrap_err().is_of_another_kind());
    fs::remove_file(&path).unwrap();
}

#[test]
fn bad_paths_are_errors_that_name_them() {
    for path in ["/nowhere/at/all", "", "/tmp/nul\0in it"] {
        for error in [Fifo::create(path, 0o600).unwrap_err(), Fifo::find(path).unwrap_err()] {
            assert_eq!((error.step(), error.path()), (Step::Open, Some(path.as_ref())), "{error}");
        }
    }
}

#[test]
fn an_end_that_came_from_elsewhere_is_adopted_too() {
    let fifo = Fifo::create(unused(), 0o600).unwrap();
    let reader = fifo.reader().unwrap().into_descriptor().unwrap();
    let reader = PipeReader::adopt(reader).unwrap();
    assert!(reader.receive_now(&mut [0; 8]).unwrap_err().is_would_block(), "nobody has written yet");
    let _ = fifo.writer_now().unwrap().send_now(&[IoSlice::new(b"x")]).unwrap();
    assert_eq!(reader.receive_now(&mut [0; 8]).unwrap(), 1);

    // Opened for both directions it is neither end.
    let both = fs::File::options().read(true).write(true).open(fifo.path()).unwrap();
    let error = PipeReader::adopt(both.into()).unwrap_err();
    assert!(error.to_string().ends_with("found a FIFO opened for both directions"), "{error}");
}
