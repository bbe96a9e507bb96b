//! Memory with seals, and segments.

mod left_out;

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::thread;

use rustix::fs::{
    FallocateFlags, MemfdFlags, OFlags, SealFlags, fallocate, fcntl_add_seals, fcntl_get_seals, fstat,
    ftruncate, memfd_create,
};
use rustix::io::{Errno, FdFlags, fcntl_getfd, pwrite};
use zorb_ipc::{Memfd, SealedBytes, SealedMemfd, Segment, SegmentOptions, SizedMemfd, Step};

use left_out::left_out;

fn duplicate(of: impl AsFd) -> OwnedFd {
    of.as_fd().try_clone_to_owned().unwrap()
}

fn octets() -> SegmentOptions {
    SegmentOptions::new()
}

/// Memory as another process might have made it.
fn foreign(size: u64, seals: SealFlags) -> OwnedFd {
    let fd = memfd_create("foreign", MemfdFlags::ALLOW_SEALING | MemfdFlags::CLOEXEC).unwrap();
    ftruncate(&fd, size).unwrap();
    fcntl_add_seals(&fd, seals).unwrap();
    fd
}

const SIZE: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);

#[test]
fn unsealed_memory_is_a_file() {
    let memory = Memfd::create("a name", 5).unwrap();
    assert_eq!(memory.octets().unwrap(), 5);
    memory.write_at(b"abcdef", 2).unwrap();
    assert_eq!(memory.octets().unwrap(), 8);
    let mut text = [1; 16];
    assert_eq!(memory.read_at(&mut text, 0).unwrap(), 8);
    assert_eq!(&text[..8], b"\0\0abcdef");
    assert_eq!(memory.read_at(&mut text, 8).unwrap(), 0);
    memory.set_octets(3).unwrap();
    assert_eq!((memory.octets().unwrap(), memory.read_at(&mut text, 2).unwrap()), (3, 1));
    assert!(fcntl_getfd(&memory).unwrap().contains(FdFlags::CLOEXEC));

    assert_eq!(memory.set_octets(u64::MAX).unwrap_err().step(), Step::Configure);
    assert_eq!(memory.write_at(b"x", u64::MAX).unwrap_err().step(), Step::Access);
    assert_eq!(memory.read_at(&mut text, u64::MAX).unwrap_err().step(), Step::Access);
    for name in ["nul\0in it", &"n".repeat(250)] {
        let error = Memfd::create(name, 1).unwrap_err();
        assert_eq!((error.step(), error.path()), (Step::Open, Some(name.as_ref())), "{error}");
    }
    assert_eq!(Memfd::create("endless", u64::MAX).unwrap_err().step(), Step::Configure);
}

#[test]
fn a_fixed_size_is_final_for_everybody() {
    let memory = Memfd::create("sized", 10_000).unwrap();
    let other = duplicate(&memory);
    let memory = memory.fix_size().unwrap();
    assert_eq!(memory.octets(), 10_000);
    assert_eq!(ftruncate(&other, 9_999), Err(Errno::PERM));
    assert_eq!(ftruncate(&other, 10_001), Err(Errno::PERM));
    assert!(fstat(&memory).unwrap().st_blocks * 512 >= 10_000, "all of it is there");
    memory.write_at(b"last", 9_996).unwrap();
    let error = memory.write_at(b"beyond", 9_997).unwrap_err();
    assert!(error.step() == Step::Access && error.transferred() <= 3, "{error}");
    let mut text = [0; 8];
    assert_eq!(memory.read_at(&mut text, 9_990).unwrap(), 8);
}

#[test]
fn sealed_memory_is_final_and_a_slice() {
    let memory = Memfd::create("sealed", 0).unwrap();
    memory.write_at(b"for good", 0).unwrap();
    let other = duplicate(&memory);
    let sealed = memory.seal().unwrap();
    assert_eq!(sealed.octets(), 8);
    let bytes = sealed.map().unwrap();
    assert_eq!(&bytes[..], b"for good");
    assert_eq!(ftruncate(&other, 0), Err(Errno::PERM));
    assert_eq!(pwrite(&other, b"x", 0), Err(Errno::PERM));
    let punched = fallocate(&other, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, 0, 8);
    assert_eq!(punched, Err(Errno::PERM));
    assert_eq!(fcntl_add_seals(&other, SealFlags::FUTURE_WRITE), Err(Errno::PERM));
    assert!(SizedMemfd::adopt(duplicate(&other), 8..=8).is_err());
    drop((sealed, other));
    assert_eq!(bytes.as_ref(), b"for good", "the descriptors are closed");

    let empty = Memfd::create("empty", 0).unwrap().seal().unwrap();
    assert!(empty.map().unwrap().is_empty());
    let zeros = Memfd::create("zeros", 1 << 20).unwrap().seal().unwrap().map().unwrap();
    assert!(zeros.len() == 1 << 20 && zeros.iter().all(|&octet| octet == 0));
}

#[test]
fn nothing_is_sealed_while_somebody_can_write_it() {
    let segment = Segment::create("busy", 4096, &octets()).unwrap();
    segment.copy_in(0, b"draft").unwrap();
    let memory = SizedMemfd::adopt(duplicate(segment.memory()), 4096..=4096).unwrap();
    let refused = memory.seal().unwrap_err();
    assert_eq!(refused.error().raw_os_error(), Some(Errno::BUSY.raw_os_error()));
    assert_eq!(refused.error().step(), Step::Configure);
    // It is as usable as before, and sealed once the segment is gone.
    drop(refused.into_handle().map(&octets()).unwrap());
    let sealed = segment.into_memory().seal().unwrap();
    assert_eq!(&sealed.map().unwrap()[..5], b"draft");
}

#[test]
fn received_memory_is_looked_at_before_it_is_taken() {
    let all = SIZE | SealFlags::WRITE;
    let wrong_as_sized = [
        (foreign(64, SealFlags::empty()), "found memory without a seal"),
        (foreign(64, SealFlags::SHRINK), "found memory sealed against shrinking"),
        (foreign(64, all), "found memory sealed against shrinking, growing, writing"),
        (
            foreign(64, SIZE | SealFlags::FUTURE_WRITE),
            "found memory sealed against shrinking, growing, writing anew",
        ),
        (foreign(65, SIZE), "wanted memory of 16 to 64 octets, found 65 octets"),
        (foreign(15, SIZE), "wanted memory of 16 to 64 octets, found 15 octets"),
        (foreign(1 << 62, SIZE), "found 4611686018427387904 octets"),
        (zorb_ipc::pipe().unwrap().0.into_descriptor().unwrap(), "found a pipe's reading end"),
        (File::open("/proc/self/exe").unwrap().into(), "found a regular file"),
    ];
    for (fd, found) in wrong_as_sized {
        let refused = SizedMemfd::adopt(duplicate(&fd), 16..=64).unwrap_err();
        assert!(refused.error().is_of_another_kind() && refused.error().step() == Step::Adopt, "{refused}");
        assert!(refused.to_string().ends_with(found), "{refused}");
        assert!(Segment::adopt(fd, 16..=64, &octets()).unwrap_err().error().is_of_another_kind());
    }
    let wrong_as_sealed = [
        (foreign(64, SIZE), "found memory sealed against shrinking, growing"),
        (foreign(64, SIZE | SealFlags::FUTURE_WRITE), "growing, writing anew"),
        (foreign(64, SealFlags::SHRINK | SealFlags::WRITE), "found memory sealed against shrinking, writing"),
        (foreign(65, all), "found 65 octets"),
    ];
    for (fd, found) in wrong_as_sealed {
        let refused = SealedMemfd::adopt(fd, 0..=64).unwrap_err();
        assert!(refused.error().is_of_another_kind(), "{refused}");
        assert!(refused.to_string().ends_with(found), "{refused}");
    }
    assert_eq!(SizedMemfd::adopt(foreign(64, SIZE), 16..=64).unwrap().octets(), 64);
    assert_eq!(SealedMemfd::adopt(foreign(64, all), 0..=64).unwrap().octets(), 64);
    assert_eq!(SealedMemfd::adopt(foreign(64, all | SealFlags::SEAL), 0..=64).unwrap().octets(), 64);

    Memfd::adopt(foreign(64, SealFlags::empty())).unwrap().write_at(b"x", 100).unwrap();
    let refused = Memfd::adopt(foreign(64, SealFlags::GROW)).unwrap_err();
    assert!(refused.to_string().ends_with("found memory sealed against growing"), "{refused}");
    fcntl_add_seals(refused.into_handle(), SealFlags::SHRINK).expect("it comes back as it was");
    let unsealable = memfd_create("unsealable", MemfdFlags::CLOEXEC).unwrap();
    let refused = Memfd::adopt(unsealable).unwrap_err();
    assert!(refused.to_string().ends_with("found memory sealed against further seals"), "{refused}");
}

#[test]
fn a_descriptor_that_cannot_write_is_not_taken_for_one_that_can() {
    let reading = |fd: &OwnedFd| -> OwnedFd {
        use std::os::fd::AsRawFd;
        File::open(format!("/proc/self/fd/{}", fd.as_raw_fd())).unwrap().into()
    };
    let fd = foreign(64, SIZE);
    for refused in [
        SizedMemfd::adopt(reading(&fd), 64..=64).map(drop).unwrap_err(),
        Memfd::adopt(reading(&foreign(64, SealFlags::empty()))).map(drop).unwrap_err(),
    ] {
        assert!(refused.to_string().ends_with("found one that was opened for less"), "{refused}");
    }
    // To read what is sealed it suffices, if nothing is missing in it.
    pwrite(&fd, &[7; 64], 0).unwrap();
    fcntl_add_seals(&fd, SealFlags::WRITE).unwrap();
    let bytes = SealedMemfd::adopt(reading(&fd), 64..=64).unwrap().map().unwrap();
    assert_eq!(&bytes[..], [7; 64]);
    let hollow = foreign(1 << 20, SIZE | SealFlags::WRITE);
    assert_eq!(SealedMemfd::adopt(reading(&hollow), 0..=1 << 20).unwrap_err().error().step(), Step::Adopt);
    let filled = SealedMemfd::adopt(hollow, 0..=1 << 20).unwrap();
    assert!(fstat(&filled).unwrap().st_blocks * 512 >= 1 << 20);
}

#[test]
fn memory_of_huge_pages_is_refused() {
    let flags = MemfdFlags::ALLOW_SEALING | MemfdFlags::CLOEXEC | MemfdFlags::HUGETLB;
    let Ok(huge) = memfd_create("huge", flags) else {
        left_out("memory of huge pages", "this kernel has none");
        return;
    };
    fcntl_add_seals(&huge, SIZE).unwrap();
    let refused = SizedMemfd::adopt(huge, 0..=64).unwrap_err();
    assert!(refused.error().is_of_another_kind(), "{refused}");
    assert!(refused.to_string().contains("found memory of huge pages"), "{refused}");
}

#[test]
fn octets_are_copied_in_and_out_within_bounds() {
    let segment = Segment::create("copied", 10_000, &octets().populate(true).huge_pages(true)).unwrap();
    assert_eq!(segment.octets(), 10_000);
    let pattern: Vec<u8> = (0..10_000_u32).map(|i| (i % 251) as u8).collect();
    segment.copy_in(0, &pattern).unwrap();
    for (at, length) in
        [(0, 0), (0, 1), (1, 7), (3, 63), (5, 64), (9_936, 64), (9_999, 1), (10_000, 0), (0, 10_000)]
    {
        let mut copy = vec![0xff; length];
        segment.copy_out(at, &mut copy).unwrap();
        assert!(copy == pattern[at..at + length], "{length} at {at}");
    }
    segment.copy_in(9_990, b"0123456789").unwrap();
    let mut copy = [0xee; 8];
    for (at, length) in
        [(10_000, 1), (9_993, 8), (10_001, 0), (usize::MAX, 0), (usize::MAX, 8), (usize::MAX - 3, 8)]
    {
        for error in [
            segment.copy_out(at, &mut copy[..length]).unwrap_err(),
            segment.copy_in(at, &pattern[..length]).unwrap_err(),
        ] {
            assert!(error.is_out_of_bounds() && error.step() == Step::Access, "{error}");
        }
    }
    assert_eq!(copy, [0xee; 8], "nothing was copied");
    let mut tail = [0; 10];
    segment.copy_out(9_990, &mut tail).unwrap();
    assert_eq!(&tail, b"0123456789");
    // The page goes on behind the end, but nobody gets there.
    let mut memory = [0; 16];
    assert_eq!(segment.memory().read_at(&mut memory, 9_990).unwrap(), 10);
}

#[test]
fn words_are_where_they_were_declared_and_nowhere_else() {
    let options = octets().words32(0..8).words64(8..24).words32(64..68);
    let segment = Segment::create("words", 128, &options).unwrap();
    segment.word32(4).unwrap().store(0x0403_0201, Relaxed);
    segment.word64(16).unwrap().store(u64::MAX - 1, Relaxed);
    assert_eq!(segment.word32(4).unwrap().load(Relaxed), 0x0403_0201);
    let mut octets = [0; 128];
    assert_eq!(segment.memory().read_at(&mut octets, 0).unwrap(), 128);
    assert_eq!(
        (octets[4..8].to_vec(), octets[16..24].to_vec()),
        (0x0403_0201_u32.to_ne_bytes().to_vec(), (u64::MAX - 1).to_ne_bytes().to_vec())
    );

    for at in [2, 5, 8, 16, 60, 68, 124] {
        let error = segment.word32(at).unwrap_err();
        assert!(error.is_of_another_kind() && error.step() == Step::Access, "{at}: {error}");
    }
    for at in [0, 4, 12, 24, 64] {
        assert!(segment.word64(at).unwrap_err().is_of_another_kind(), "{at}");
    }
    for at in [125, 128, usize::MAX, usize::MAX - 3] {
        assert!(segment.word32(at).unwrap_err().is_out_of_bounds(), "{at}");
        assert!(segment.futex(at).unwrap_err().is_out_of_bounds(), "{at}");
        assert!(segment.word64(at).unwrap_err().is_out_of_bounds(), "{at}");
    }
    for (at, length) in [(0, 1), (23, 1), (23, 2), (20, 100), (60, 5), (0, 128)] {
        let error = segment.copy_in(at, &octets[..length]).unwrap_err();
        assert!(error.is_of_another_kind() && error.step() == Step::Access, "{error}");
        assert!(segment.copy_out(at, &mut octets[..length]).unwrap_err().is_of_another_kind());
    }
    segment.copy_in(24, &[1; 40]).unwrap();
    segment.copy_in(68, &[1; 60]).unwrap();
    segment.copy_in(8, &[]).unwrap();
}

#[test]
fn words_that_cannot_be_are_errors_and_the_memory_comes_back() {
    let memory = Memfd::create("words", 64).unwrap().fix_size().unwrap();
    let refused = memory.map(&octets().words64(64..72)).unwrap_err();
    assert!(refused.error().is_out_of_bounds() && refused.error().step() == Step::Map, "{refused}");
    let refused = refused.into_handle().map(&octets().words32(2..6)).unwrap_err();
    assert!(refused.error().is_of_another_kind(), "{refused}");
    let refused = refused.into_handle().map(&octets().words32(0..16).words64(8..24)).unwrap_err();
    assert!(refused.error().is_of_another_kind(), "{refused}");
    let refused = Segment::adopt(refused.into_handle().into(), 64..=64, &octets().words32(0..usize::MAX - 3));
    let segment = Segment::adopt(refused.unwrap_err().into_handle(), 64..=64, &octets()).unwrap();
    assert_eq!(segment.octets(), 64);

    let nothing = Segment::create("nothing", 0, &octets()).unwrap();
    nothing.copy_in(0, &[]).unwrap();
    assert!(nothing.copy_in(0, &[1]).unwrap_err().is_out_of_bounds());
}

#[test]
fn too_much_memory_is_an_error() {
    for size in [usize::MAX, isize::MAX as usize, 1 << 60] {
        let error = Segment::create("endless", size, &octets()).unwrap_err();
        assert_eq!(error.step(), Step::Configure, "{error}");
    }
}

#[test]
fn both_see_what_is_published() {
    let options = octets().words32(0..4);
    let ours = Segment::create("published", 4096, &options).unwrap();
    let theirs = Segment::adopt(duplicate(ours.memory()), 1..=1 << 20, &options).unwrap();
    assert_eq!(theirs.octets(), 4096);
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 1..=1000_u32 {
                let turn = ours.word32(0).unwrap();
                while turn.load(Acquire) != 2 * round - 2 {
                    thread::yield_now();
                }
                ours.copy_in(8, &round.to_ne_bytes().repeat(100)).unwrap();
                turn.store(2 * round - 1, Release);
            }
        });
        for round in 1..=1000_u32 {
            let turn = theirs.word32(0).unwrap();
            while turn.load(Acquire) != 2 * round - 1 {
                thread::yield_now();
            }
            let mut copy = [0; 400];
            theirs.copy_out(8, &mut copy).unwrap();
            assert!(copy == round.to_ne_bytes().repeat(100)[..], "round {round}");
            turn.store(2 * round, Release);
        }
    });
}

#[test]
fn a_peer_that_scribbles_and_punches_holes_does_no_harm() {
    let options = octets().words32(0..64).words64(64..128);
    let segment = Segment::create("hostile", 64 << 10, &options).unwrap();
    let fd = duplicate(segment.memory());
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut noise = 1_u64;
            while !stop.load(Relaxed) {
                noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let at = noise >> 48;
                assert_eq!(ftruncate(&fd, at), Err(Errno::PERM));
                let _ = pwrite(&fd, &noise.to_ne_bytes().repeat(16), at);
                fallocate(&fd, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, at & !0xfff, 8192)
                    .unwrap();
                assert_eq!(fcntl_add_seals(&fd, SealFlags::WRITE), Err(Errno::BUSY));
            }
        });
        let mut copy = vec![0; (64 << 10) - 128];
        for round in 0..2000_usize {
            segment.copy_out(128, &mut copy).unwrap();
            segment.copy_in(128 + round, &copy[..100]).unwrap();
            segment.word32(round % 16 * 4).unwrap().fetch_add(1, Relaxed);
            segment.word64(64 + round % 8 * 8).unwrap().fetch_xor(u64::MAX, Relaxed);
            assert!(segment.copy_out(64 << 10, &mut copy[..1]).unwrap_err().is_out_of_bounds());
        }
        stop.store(true, Relaxed);
    });
}

#[test]
fn memory_is_not_executable_where_the_kernel_sees_to_that() {
    let memory = Memfd::create("plain", 1).unwrap();
    let seals = fcntl_get_seals(&memory).unwrap();
    let mode = fstat(&memory).unwrap().st_mode;
    // Either the kernel knows the seal, and there is no permission, or it does not.
    assert_eq!(seals.contains(SealFlags::EXEC), mode & 0o111 == 0, "{seals:?} {mode:o}");
    assert_eq!(rustix::fs::fcntl_getfl(&memory).unwrap() & OFlags::RWMODE, OFlags::RDWR);
    let mut file = File::from(OwnedFd::from(memory));
    file.write_all(b"given up").unwrap();
}

#[test]
fn handles_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<Memfd>();
    shared::<SizedMemfd>();
    shared::<SealedMemfd>();
    shared::<SealedBytes>();
    shared::<Segment>();
}
