//! Through pipes and from files without a copy, in the kernel and by giving memory away.

use std::fs::File;
use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use zorb_ipc::{Memfd, Pages, PipeReader, PipeWriter, SpliceStream, pipe};

use crate::stage::{LENGTH, OCTETS, before, elsewhere, kept, soon, streams};
use crate::{Case, Prepare, floor};

/// By name: what is counted, and with what.
pub(crate) const CASES: &[(&str, Prepare)] = &[
    ("ipc/send-file", send_file),
    ("libc/send-file", floors_send_file),
    ("ipc/splice", splice),
    ("libc/splice", floors_splice),
    ("ipc/splice-to-pipe", splice_to_pipe),
    ("libc/splice-to-pipe", floors_splice_to_pipe),
    ("ipc/splice-from-stream", splice_from_stream),
    ("libc/splice-from-stream", floors_splice_from_stream),
    ("ipc/splice-from-file", splice_from_file),
    ("libc/splice-from-file", floors_splice_from_file),
    ("ipc/splice-to-file", splice_to_file),
    ("libc/splice-to-file", floors_splice_to_file),
    ("ipc/tee", tee),
    ("libc/tee", floors_tee),
    ("ipc/send-static", send_static),
    ("libc/send-static", floors_send_static),
    ("ipc/gift", gift),
    ("libc/gift", floors_gift),
];

fn files(counted: fn(&SpliceStream<zorb_ipc::Unix>, &File, &mut u64, Instant)) -> Case {
    let [near, far] = streams();
    let near = kept(SpliceStream::of(near).expect("an open descriptor"));
    // The program's own: a file that there is.
    let file = kept(File::open("/proc/self/exe").expect("it runs"));
    let deadline = soon();
    let mut into = [0; LENGTH];
    before(
        move || counted(near, file, &mut 0, deadline),
        move || far.receive_exact(&mut into, soon()).expect("octets"),
    )
}

fn send_file() -> Case {
    files(|near, file, at, deadline| {
        near.send_file(file, at, LENGTH, deadline).expect("room");
    })
}

fn floors_send_file() -> Case {
    files(|near, file, at, _| {
        floor::send_file(near.as_fd(), file.as_fd(), at, LENGTH);
    })
}

fn splices(counted: fn(&PipeReader, &SpliceStream<zorb_ipc::Unix>, Instant)) -> Case {
    let [near, far] = streams();
    let near = SpliceStream::of(near).expect("an open descriptor");
    let (reader, writer) = pipe().expect("descriptors are left");
    let deadline = soon();
    let mut into = [0; LENGTH];
    let mut refill = move || {
        let _ = writer.send_now(&[IoSlice::new(&OCTETS)]).expect("room");
        if let Ok(filled) = far.receive_now(&mut into) {
            assert_eq!(filled, LENGTH);
        }
    };
    refill();
    before(move || counted(&reader, &near, deadline), refill)
}

fn splice() -> Case {
    splices(|from, to, deadline| {
        from.splice_to_stream(to, LENGTH, deadline).expect("octets and room");
    })
}

fn floors_splice() -> Case {
    fn floor(from: BorrowedFd<'_>, to: BorrowedFd<'_>) {
        floor::splice(from, to, LENGTH);
    }
    splices(|from, to, _| floor(from.as_fd(), to.as_fd()))
}

/// From a pipe, which is refilled, to what `drained` empties.
fn drains(counted: impl Fn(&PipeReader) + 'static, mut drained: impl FnMut() + 'static) -> Case {
    let (reader, writer) = pipe().expect("descriptors are left");
    let refill = move || assert_eq!(writer.send_now(&[IoSlice::new(&OCTETS)]).expect("room"), LENGTH);
    refill();
    before(
        move || counted(&reader),
        move || {
            refill();
            drained();
        },
    )
}

fn to_pipe(counted: fn(&PipeReader, &PipeWriter, Instant)) -> Case {
    let (far, near) = pipe().expect("descriptors are left");
    let (near, deadline) = (kept(near), soon());
    drains(
        move |from| counted(from, near, deadline),
        move || far.receive_exact(&mut [0; LENGTH], soon()).expect("octets"),
    )
}

fn spliced(from: BorrowedFd<'_>, to: BorrowedFd<'_>) {
    assert_eq!(floor::splice(from, to, LENGTH), LENGTH);
}

fn splice_to_pipe() -> Case {
    to_pipe(|from, to, deadline| assert_eq!(from.splice_to_pipe(to, LENGTH, deadline).expect("room"), LENGTH))
}

fn floors_splice_to_pipe() -> Case {
    to_pipe(|from, to, _| spliced(from.as_fd(), to.as_fd()))
}

fn from_stream(counted: fn(&PipeWriter, &SpliceStream<zorb_ipc::Unix>, Instant)) -> Case {
    let [near, far] = streams();
    let near = SpliceStream::of(near).expect("an open descriptor");
    let (reader, writer) = pipe().expect("descriptors are left");
    let deadline = soon();
    let refill = move || assert_eq!(far.send(&[IoSlice::new(&OCTETS)]).expect("room"), LENGTH);
    refill();
    before(
        move || counted(&writer, &near, deadline),
        move || {
            refill();
            reader.receive_exact(&mut [0; LENGTH], soon()).expect("octets");
        },
    )
}

fn splice_from_stream() -> Case {
    from_stream(|to, from, deadline| {
        assert_eq!(to.splice_from_stream(from, LENGTH, deadline).expect("octets"), LENGTH);
    })
}

fn floors_splice_from_stream() -> Case {
    from_stream(|to, from, _| spliced(from.as_fd(), to.as_fd()))
}

fn from_file(counted: fn(&PipeWriter, &File, &mut u64, Instant)) -> Case {
    let (reader, writer) = pipe().expect("descriptors are left");
    // The program's own: a file that there is.
    let file = File::open("/proc/self/exe").expect("it runs");
    let deadline = soon();
    before(
        move || counted(&writer, &file, &mut 0, deadline),
        move || reader.receive_exact(&mut [0; LENGTH], soon()).expect("octets"),
    )
}

fn splice_from_file() -> Case {
    from_file(|to, file, at, deadline| {
        assert_eq!(to.splice_from_file(file, at, LENGTH, deadline).expect("octets"), LENGTH);
    })
}

fn floors_splice_from_file() -> Case {
    from_file(|to, file, at, _| {
        assert_eq!(floor::splice_at(file.as_fd(), Some(at), to.as_fd(), None, LENGTH), LENGTH)
    })
}

fn to_file(counted: fn(&PipeReader, &Memfd, &mut u64, Instant)) -> Case {
    let memory = kept(Memfd::create("zorb-instructions", 4096).expect("memory"));
    let deadline = soon();
    drains(move |from| counted(from, memory, &mut 0, deadline), || ())
}

fn splice_to_file() -> Case {
    to_file(|from, file, at, deadline| {
        assert_eq!(from.splice_to_file(file, at, LENGTH, deadline).expect("octets"), LENGTH);
    })
}

fn floors_splice_to_file() -> Case {
    to_file(|from, file, at, _| {
        assert_eq!(floor::splice_at(from.as_fd(), None, file.as_fd(), Some(at), LENGTH), LENGTH)
    })
}

/// What there is stays there.
fn tees(counted: fn(&PipeReader, &PipeWriter, Instant)) -> Case {
    let [(from, writer), (reader, to)] = [(); 2].map(|()| pipe().expect("descriptors are left"));
    let writer = kept(writer);
    assert_eq!(writer.send_now(&[IoSlice::new(&OCTETS)]).expect("room"), LENGTH);
    let deadline = soon();
    before(
        move || counted(&from, &to, deadline),
        move || reader.receive_exact(&mut [0; LENGTH], soon()).expect("octets"),
    )
}

fn tee() -> Case {
    tees(|from, to, deadline| {
        from.tee(to, LENGTH, deadline).expect("octets and room");
    })
}

fn floors_tee() -> Case {
    tees(|from, to, _| {
        floor::tee(from.as_fd(), to.as_fd(), LENGTH);
    })
}

fn lends(counted: fn(&PipeWriter, Instant)) -> Case {
    let (reader, writer) = pipe().expect("descriptors are left");
    let deadline = soon();
    before(
        move || counted(&writer, deadline),
        move || reader.receive_exact(&mut [0; LENGTH], soon()).expect("octets"),
    )
}

fn send_static() -> Case {
    lends(|writer, deadline| writer.send_static(&OCTETS, deadline).expect("room"))
}

fn floors_send_static() -> Case {
    lends(|writer, _| {
        floor::lend(writer.as_fd(), &OCTETS);
    })
}

/// Of a pipe, which holds several.
const PAGE: usize = 4096;

fn gifts(counted: fn(&PipeWriter, &mut Pages, Instant)) -> Case {
    let (reader, writer) = pipe().expect("descriptors are left");
    let deadline = soon();
    let mut into = vec![0; PAGE];
    Box::new(move |_| {
        let mut pages = None;
        elsewhere(&mut || {
            let mut fresh = Pages::new(PAGE).expect("memory");
            fresh.fill(0x5A);
            pages = Some(fresh);
        });
        let mut pages = pages.expect("made before");
        counted(&writer, &mut pages, deadline);
        // What is left of the first is nothing, and of the second no longer mapped.
        std::mem::forget(pages);
        elsewhere(&mut || reader.receive_exact(&mut into, soon()).expect("octets"));
    })
}

fn gift() -> Case {
    gifts(|writer, pages, deadline| writer.gift(pages, deadline).expect("room"))
}

fn floors_gift() -> Case {
    // SAFETY: the pages are forgotten behind this.
    gifts(|writer, pages, _| unsafe { floor::gift(writer.as_fd(), pages.as_mut_ptr().cast(), PAGE) })
}
