//! What is written in memory of a transport's is read where it lies, by who trusts, and copied once by who does not.

use std::collections::HashMap;
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use zorb::server::ThreadModel;
use zorb::transport::shm::{Shm, TrustedPeers};
use zorb::{Call, Interface, Loan, Orb, OrbBuilder, Sequence, SystemException};
use zorb_tests::servant::PATIENCE;
use zorb_tests::testing::{Gallery, GalleryServant};

use crate::datagrams::until;
use crate::fixture::models;
use crate::futures::block_on;

/// 800 kB of them.
const MANY: usize = 100_000;

/// These tests' peers are the tests themselves.
#[allow(unsafe_code, reason = "trust is given by an unsafe call")]
fn trusted() -> TrustedPeers {
    // SAFETY: both ends are this process's, by zorb's own code.
    unsafe { TrustedPeers::new() }
}

#[derive(Default)]
struct Walls {
    images: Mutex<HashMap<String, Sequence<f64>>>,
}

impl GalleryServant for Walls {
    fn hang(&self, _: &Call, title: &str, image: Sequence<f64>, note: &str) -> Result<(), SystemException> {
        if note != title {
            return Err(SystemException::BadParam(format!("{note:?} is not what was sent behind the image")));
        }
        self.images.lock().unwrap().insert(title.to_owned(), image);
        Ok(())
    }

    fn look(&self, _: &Call, title: &str) -> Result<Sequence<f64>, SystemException> {
        Ok(self.images.lock().unwrap().get(title).cloned().unwrap_or_default())
    }

    fn paint(&self, cx: &Call, count: u32) -> Result<Sequence<f64>, SystemException> {
        image(cx.orb(), count as usize, 0.0)
    }

    fn take_down(&self, _: &Call, title: &str) -> Result<(), SystemException> {
        self.images.lock().unwrap().remove(title);
        Ok(())
    }
}

fn image(orb: &Orb, count: usize, from: f64) -> Result<Sequence<f64>, SystemException> {
    let mut image: Loan<f64> = orb.loan(count)?;
    image.iter_mut().zip(0u32..).for_each(|(place, number)| *place = from + f64::from(number));
    Ok(image.into())
}

fn is_image(elements: &[f64], count: usize, from: f64) -> bool {
    elements.len() == count
        && elements.iter().zip(0u32..).all(|(place, number)| *place == from + f64::from(number))
}

/// Whether they lie in memory that was made to be lent, wherever it is mapped.
fn lies_in_a_loan(elements: &[f64]) -> bool {
    let at = elements.as_ptr().addr();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let mut loans = maps.lines().filter(|line| line.contains("zorb-loan"));
    loans.any(|line| {
        let range = line.split(' ').next().and_then(|range| range.split_once('-'));
        let address = |text| usize::from_str_radix(text, 16).unwrap();
        range.is_some_and(|(start, end)| (address(start)..address(end)).contains(&at))
    })
}

struct Meeting {
    _server: Orb,
    client: Orb,
    gallery: Gallery,
    walls: Arc<Walls>,
}

fn meet(server: OrbBuilder, client: OrbBuilder) -> Meeting {
    let (server, client, walls) = (server.build(), client.build(), Arc::<Walls>::default());
    let poa = server.root_poa().unwrap();
    let gallery = poa.activate::<Gallery>(walls.clone()).unwrap();
    poa.manager().activate().unwrap();
    let text = server.object_to_string(Some(gallery.as_object()));
    let gallery = Gallery::from_object(client.string_to_object(&text).unwrap().unwrap());
    // What a connection's other end maps is known when it has accepted it: its first message is copied.
    gallery.take_down("nothing").unwrap();
    block_on(gallery.take_down_async("nothing".into())).unwrap();
    Meeting { _server: server, client, gallery, walls }
}

fn by_memory(model: ThreadModel, ours: Shm, theirs: Shm) -> Meeting {
    let server = Orb::builder().transport(Arc::new(theirs)).listen("shm:").server_threads(model);
    meet(server, Orb::builder().transport(Arc::new(ours)))
}

impl Meeting {
    fn lies_in_a_loan(&self, title: &str) -> bool {
        lies_in_a_loan(&self.walls.images.lock().unwrap()[title])
    }

    /// Hangs images both ways in which calls are made, and has one given away; whether the servant's and the caller's were lent.
    fn exchange(&self) -> [bool; 3] {
        let first = image(&self.client, MANY, 1.0).unwrap();
        self.gallery.hang("first", &first, "first").unwrap();
        let second = image(&self.client, MANY + 1, 2.0).unwrap();
        let hanging = self.gallery.hang_async("second".into(), second, "second".into());
        block_on(hanging).unwrap();
        let shown = self.gallery.look("second").unwrap();
        assert!(is_image(&shown, MANY + 1, 2.0));
        assert!(is_image(&self.gallery.look("first").unwrap(), MANY, 1.0));
        let painted = self.gallery.paint(MANY as u32).unwrap();
        assert!(is_image(&painted, MANY, 0.0));
        [self.lies_in_a_loan("first"), self.lies_in_a_loan("second"), lies_in_a_loan(&painted)]
    }
}

#[test]
fn trusted_peers_read_in_place_in_every_threading_model() {
    for model in models() {
        let meeting = by_memory(model, Shm::new().trusting(trusted()), Shm::new().trusting(trusted()));
        for _ in 0..3 {
            assert_eq!(meeting.exchange(), [true; 3], "{model:?}");
        }
    }
}

#[test]
fn others_copy_once_and_everywhere_else_it_is_ordinary_memory() {
    let meeting = by_memory(models()[0], Shm::new(), Shm::new().trusting(trusted()));
    assert_eq!(meeting.exchange(), [true, true, false], "the server trusts, the client does not");
    let meeting = by_memory(models()[0], Shm::new().loans(0), Shm::new().trusting(trusted()));
    assert_eq!(meeting.exchange(), [false; 3]);
    let server = Orb::builder().listen("tcp:127.0.0.1:0");
    let meeting = meet(server, Orb::builder());
    assert_eq!(meeting.exchange(), [false; 3]);
}

#[test]
fn memory_is_lent_again_when_the_servant_has_let_go_of_it() {
    let meeting = by_memory(models()[0], Shm::new(), Shm::new().trusting(trusted()));
    let first = image(&meeting.client, MANY, 1.0).unwrap();
    let at = first.as_ptr();
    meeting.gallery.hang("kept", &first, "kept").unwrap();
    drop(first);
    for round in 0..3 {
        let other = image(&meeting.client, MANY, 5.0).unwrap();
        assert_ne!(other.as_ptr(), at, "the servant keeps it");
        meeting.gallery.hang("other", &other, "other").unwrap();
        assert!(is_image(&meeting.gallery.look("kept").unwrap(), MANY, 1.0), "{round}");
    }
    meeting.gallery.take_down("kept").unwrap();
    meeting.gallery.take_down("other").unwrap();
    // Who looked at it last may let go of it a moment after the answer.
    let mut again: Vec<Loan<f64>> = Vec::new();
    until("it comes back", || {
        // The latest piece is lent first: what is another stays in our hands.
        again.extend(meeting.client.loan(MANY));
        again.last().is_some_and(|loan| loan.as_ptr() == at)
    });
    assert!(again.iter().all(Loan::is_lent));
}

#[test]
fn no_more_is_lent_than_the_bound_and_what_is_small_or_not_of_plain_bits_is_ordinary() {
    let orb = Orb::builder().transport(Arc::new(Shm::new().loans(1 << 20))).build();
    let first: Loan<u8> = orb.loan(700_000).unwrap();
    let error = orb.loan::<u8>(700_000).unwrap_err();
    assert!(error.to_string().contains("NO_MEMORY"), "{error}");
    drop(first);
    assert!(orb.loan::<u8>(700_000).unwrap().is_lent());
    let flags: Loan<bool> = orb.loan(100_000).unwrap();
    assert!(!flags.is_lent() && flags.len() == 100_000 && flags.iter().all(|flag| !flag));
    let none: Loan<f64> = orb.loan(0).unwrap();
    assert!(none.is_empty() && Sequence::from(none).is_empty());
    assert!(orb.loan::<f64>(usize::MAX / 4).is_err());
}

#[test]
fn a_client_that_ends_leaves_the_servant_what_it_has() {
    let Meeting { _server: server, client, gallery, walls } =
        by_memory(models()[0], Shm::new(), Shm::new().trusting(trusted()));
    let sent = image(&client, MANY, 3.0).unwrap();
    gallery.hang("left", &sent, "left").unwrap();
    drop((sent, gallery));
    client.shutdown(true, Duration::from_secs(5));
    drop(client);
    let kept = walls.images.lock().unwrap().remove("left").unwrap();
    assert!(lies_in_a_loan(&kept) && is_image(&kept, MANY, 3.0));
    server.shutdown(true, PATIENCE);
    drop(server);
    assert!(is_image(&kept, MANY, 3.0));
}
