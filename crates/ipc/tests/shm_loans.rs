//! Memory that is lent through a channel: what arrives, when it comes back, and what is copied all the same.

use std::fs;
use std::io::IoSlice;
use std::time::{Duration, Instant};

use zorb_ipc::{LentBytes, Loaned, Loans, RingSize, ShmOptions, ShmStream, Slabs, TrustedPeers};

const MIB: usize = 1 << 20;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(30)
}

/// These tests' peers are the tests themselves, which write what they have sent only after it was given back.
#[allow(unsafe_code, reason = "trust is given by an unsafe call")]
fn trusted() -> TrustedPeers {
    // SAFETY: both ends are this process's, by this crate's code.
    unsafe { TrustedPeers::new() }
}

fn options(loans: &Loans) -> ShmOptions {
    let slabs = Slabs::new(4, 4096).unwrap();
    ShmOptions::new().ring(RingSize::SMALLEST).slabs(Some(slabs)).loans(loans)
}

/// Octets that tell where they stand.
fn image(loans: &Loans, octets: usize, which: u8) -> Loaned {
    let mut loan = loans.loan(octets).unwrap();
    loan.iter_mut().enumerate().for_each(|(at, octet)| *octet = which ^ (at % 251) as u8);
    loan.freeze()
}

fn is_image(octets: &[u8], which: u8) -> bool {
    octets.iter().enumerate().all(|(at, octet)| *octet == which ^ (at % 251) as u8)
}

fn send(stream: &ShmStream, slices: &[&[u8]]) {
    let mut slices: Vec<_> = slices.iter().map(|slice| IoSlice::new(slice)).collect();
    stream.send_all(&mut slices, soon()).unwrap();
}

fn receive(stream: &ShmStream, octets: usize) -> Vec<u8> {
    let mut received = vec![0; octets];
    stream.receive_exact(&mut received, soon()).unwrap();
    received
}

fn lent(stream: &ShmStream) -> LentBytes {
    assert!(stream.wait_readable(soon()).unwrap());
    stream.receive_lent(usize::MAX).unwrap().expect("a loan comes next")
}

/// How often this process has the memory mapped that is at this address: at least once.
fn mapped(at: *const u8) -> (String, usize) {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let begins = format!("{:x}-", at.addr());
    let line = maps.lines().find(|line| line.starts_with(&begins)).expect("it is mapped");
    let inode = line.split_whitespace().nth(4).unwrap().to_owned();
    let count = times_mapped(&inode);
    (inode, count)
}

fn times_mapped(inode: &str) -> usize {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let inodes = maps.lines().filter(|line| line.contains("zorb-loan"));
    inodes.filter(|line| line.split_whitespace().nth(4) == Some(inode)).count()
}

#[test]
fn what_is_lent_is_read_in_place_and_comes_back() {
    let loans = Loans::new(8 * MIB);
    let (one, other) = ShmStream::pair(&options(&loans).trusting(trusted())).unwrap();
    let first = image(&loans, MIB, 1);
    let at = first.as_ptr();
    for round in 0..3 {
        send(&one, &[b"head", &first, b"tail"]);
        assert_eq!(receive(&other, 4), b"head");
        let received = lent(&other);
        assert!(received.len() == MIB && is_image(&received, 1), "{round}");
        assert_ne!(received.as_ptr(), at, "it has places of its own at either end");
        assert_eq!(receive(&other, 4), b"tail");
    }
    let kept = {
        send(&one, &[&first]);
        lent(&other)
    };
    drop(first);
    let second = image(&loans, MIB, 2);
    assert_ne!(second.as_ptr(), at, "the peer reads it still");
    assert!(is_image(&kept, 1));
    drop(kept);
    let third = loans.loan(MIB).unwrap();
    assert_eq!(third.as_ptr(), at, "it is back");
    assert!(is_image(&third, 1), "what was there is there");
    assert_eq!(loans.octets(), 2 * MIB);
}

#[test]
fn who_does_not_trust_copies_once_in_parts() {
    let loans = Loans::new(8 * MIB);
    let (one, other) = ShmStream::pair(&options(&loans)).unwrap();
    let loan = image(&loans, 100_000, 7);
    send(&one, &[&loan, b"tail"]);
    assert!(other.receive_lent(usize::MAX).unwrap().is_none());
    let mut peeked = [0; 10];
    assert_eq!(other.peek_now(&mut peeked).unwrap(), 10);
    let mut all = receive(&other, 60_000);
    assert!(is_image(&peeked, 7));
    let at = loan.as_ptr();
    drop(loan);
    assert_ne!(loans.loan(100_000).unwrap().as_ptr(), at, "not all of it was taken");
    all.extend(receive(&other, 40_000));
    assert!(is_image(&all, 7));
    assert_eq!(receive(&other, 4), b"tail");
    // The latest is lent first: both are there.
    let both = [loans.loan(100_000).unwrap(), loans.loan(100_000).unwrap()];
    assert!(both.iter().any(|loan| loan.as_ptr() == at));
}

#[test]
fn a_part_of_a_loan_is_lent_and_what_was_begun_is_copied() {
    let loans = Loans::new(8 * MIB);
    let (one, other) = ShmStream::pair(&options(&loans).trusting(trusted())).unwrap();
    let loan = image(&loans, 200_000, 0);
    send(&one, &[&loan[251..100_000]]);
    assert!(other.receive_lent(99_000).unwrap().is_none(), "it is more than that");
    let received = lent(&other);
    assert!(received.len() == 100_000 - 251 && is_image(&received, 0));
    send(&one, &[&loan]);
    assert!(is_image(&receive(&other, 5), 0));
    assert!(other.receive_lent(usize::MAX).unwrap().is_none(), "some of it was taken");
    assert_eq!(receive(&other, 200_000 - 5)[..], loan[5..]);
}

#[test]
fn more_than_there_are_records_for_arrives_in_order() {
    let loans = Loans::new(64 * MIB);
    let (one, other) = ShmStream::pair(&options(&loans).trusting(trusted())).unwrap();
    let images: Vec<_> = (0..40).map(|which| image(&loans, 20_000, which)).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for (at, image) in images.iter().enumerate() {
                send(&one, &[&[at as u8], image]);
            }
        });
        for which in 0..40 {
            assert_eq!(receive(&other, 1), [which]);
            assert!(other.wait_readable(soon()).unwrap());
            match other.receive_lent(20_000).unwrap() {
                Some(lent) => assert!(is_image(&lent, which)),
                None => assert!(is_image(&receive(&other, 20_000), which), "{which}"),
            }
        }
    });
}

#[test]
fn more_than_there_are_places_for_takes_those_that_are_free() {
    let loans = Loans::new(64 * MIB);
    let (one, other) = ShmStream::pair(&options(&loans).trusting(trusted())).unwrap();
    // Twice as many as there are places, and each twice.
    let images: Vec<_> = (0..130).map(|which| image(&loans, 20_000, which)).collect();
    for (which, image) in images.iter().enumerate().chain(images.iter().enumerate()) {
        send(&one, &[image]);
        assert!(is_image(&lent(&other), which as u8));
    }
    // Where all places are taken and in somebody's hands it is copied.
    let kept: Vec<_> = images[..64].iter().map(|image| (send(&one, &[image]), lent(&other)).1).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| send(&one, &[&images[64]]));
        assert!(is_image(&receive(&other, 20_000), 64));
    });
    assert!(kept.iter().enumerate().all(|(which, kept)| is_image(kept, which as u8)));
}

#[test]
fn no_more_is_mapped_than_the_peer_accepts() {
    let loans = Loans::new(64 * MIB);
    for most in [0, MIB] {
        let options = options(&loans).trusting(trusted()).largest_loans(most);
        let (one, other) = ShmStream::pair(&options).unwrap();
        let (small, large) = (image(&loans, MIB, 3), image(&loans, 2 * MIB, 4));
        std::thread::scope(|scope| {
            scope.spawn(|| send(&one, &[&large]));
            assert!(is_image(&receive(&other, 2 * MIB), 4));
        });
        std::thread::scope(|scope| {
            scope.spawn(|| send(&one, &[&small]));
            assert!(other.wait_readable(soon()).unwrap());
            assert_eq!(other.receive_lent(MIB).unwrap().is_some(), most == MIB);
            if most == 0 {
                assert!(is_image(&receive(&other, MIB), 3));
            }
        });
    }
}

#[test]
fn a_peer_that_is_gone_gives_nothing_back_and_what_it_has_is_not_written() {
    let loans = Loans::new(2 * MIB);
    let (one, other) = ShmStream::pair(&options(&loans).trusting(trusted())).unwrap();
    let loan = image(&loans, MIB, 5);
    let at = loan.as_ptr();
    send(&one, &[&loan]);
    let kept = lent(&other);
    drop((one, other, loan));
    let others = [loans.loan(MIB).unwrap(), loans.loan(MIB).unwrap()];
    assert!(others.iter().all(|loan| loan.as_ptr() != at || !is_image(loan, 5)));
    assert!(is_image(&kept, 5), "it is still there, for who has it");
    assert!(loans.loan(MIB).is_err(), "and no more than the bound for others");
}

#[test]
fn memory_that_nobody_uses_is_given_back_by_both_sides() {
    let loans = Loans::new(8 * MIB);
    let (one, other) = ShmStream::pair(&options(&loans).trusting(trusted())).unwrap();
    let loan = image(&loans, MIB, 6);
    send(&one, &[&loan]);
    drop(lent(&other));
    let (inode, times) = mapped(loan.as_ptr());
    assert_eq!(times, 2, "once by each side");
    drop(loan);
    one.give_back_memory().unwrap();
    assert_eq!((loans.octets(), times_mapped(&inode)), (MIB, 2), "it was used since it was last asked");
    one.give_back_memory().unwrap();
    assert_eq!(loans.octets(), 0);
    other.quiet();
    assert_eq!(times_mapped(&inode), 0);
    send(&one, &[b"on"]);
    assert_eq!(receive(&other, 2), b"on");
    // And again from the beginning.
    let loan = image(&loans, MIB, 8);
    send(&one, &[&loan]);
    assert!(is_image(&lent(&other), 8));
}

#[test]
fn a_loan_that_may_still_be_written_is_copied() {
    let loans = Loans::new(8 * MIB);
    let (one, other) = ShmStream::pair(&options(&loans).trusting(trusted())).unwrap();
    let mut loan = loans.loan(40_000).unwrap();
    loan.fill(9);
    std::thread::scope(|scope| {
        scope.spawn(|| send(&one, &[&loan]));
        assert!(other.wait_readable(soon()).unwrap());
        assert!(other.receive_lent(usize::MAX).unwrap().is_none());
        assert!(receive(&other, 40_000).iter().all(|octet| *octet == 9));
    });
}
