//! What a servant keeps of its calls keeps memory of messages: counted, bounded, and by policy copied or refused beyond.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use zorb::{AtBound, Call, Interface, Kind, Orb, Sequence, SystemException};
use zorb_tests::servant::PATIENCE;
use zorb_tests::testing::{Gallery, GalleryServant};

use crate::fixture::Place;

/// Octets of an image, and of what values may keep: one message with an image, and not two.
const IMAGE: usize = 800_000;
const MOST: usize = 1_500_000;

/// Keeps what it is given.
#[derive(Default)]
struct Walls {
    images: Mutex<HashMap<String, Sequence<f64>>>,
}

impl GalleryServant for Walls {
    fn hang(&self, _: &Call, title: &str, image: Sequence<f64>, _: &str) -> Result<(), SystemException> {
        self.images.lock().unwrap().insert(title.to_owned(), image);
        Ok(())
    }

    fn look(&self, _: &Call, title: &str) -> Result<Sequence<f64>, SystemException> {
        Ok(self.images.lock().unwrap().get(title).cloned().unwrap_or_default())
    }

    fn paint(&self, _: &Call, _: u32) -> Result<Sequence<f64>, SystemException> {
        Err(zorb_tests::not_served())
    }

    fn take_down(&self, _: &Call, title: &str) -> Result<(), SystemException> {
        self.images.lock().unwrap().remove(title);
        Ok(())
    }
}

struct Exhibition {
    server: Orb,
    walls: Arc<Walls>,
    gallery: Gallery,
    _client: Orb,
}

fn exhibition(at: Place, at_bound: AtBound) -> Exhibition {
    let server = at.server().kept_memory(MOST).kept_memory_at_bound(at_bound).build();
    let poa = server.root_poa().unwrap();
    let walls = Arc::new(Walls::default());
    let gallery = poa.activate::<Gallery>(walls.clone()).unwrap();
    poa.manager().activate().unwrap();
    let client = at.client().build();
    let text = server.object_to_string(Some(gallery.as_object()));
    let gallery = Gallery::from_object(client.string_to_object(&text).unwrap().unwrap());
    Exhibition { server, walls, gallery, _client: client }
}

impl Exhibition {
    fn hang(&self, title: &str) -> Result<(), SystemException> {
        self.gallery.hang(title, &image(), title)
    }

    /// Whether the image is a view of the message that it came in.
    fn is_view(&self, title: &str) -> bool {
        self.walls.images.lock().unwrap()[title].is_view()
    }

    /// Waits until so much is kept: what a call held is let go of behind its reply.
    fn keeps(&self, octets: std::ops::Range<usize>) {
        let end = Instant::now() + PATIENCE;
        while !octets.contains(&self.server.kept_memory()) {
            assert!(Instant::now() < end, "{} octets are kept, not {octets:?}", self.server.kept_memory());
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn image() -> Vec<f64> {
    (0..IMAGE as u32 / 8).map(f64::from).collect()
}

const ONE: std::ops::Range<usize> = IMAGE..MOST;

fn what_is_beyond_the_bound_is_copied(at: Place) {
    let exhibition = exhibition(at, AtBound::Copy);
    exhibition.hang("first").unwrap();
    assert!(exhibition.is_view("first"));
    exhibition.keeps(ONE);
    for title in ["second", "third"] {
        exhibition.hang(title).unwrap();
        assert!(!exhibition.is_view(title), "it has memory of its own");
        assert!(exhibition.gallery.look(title).unwrap() == image());
    }
    exhibition.keeps(ONE);
    // It counts by memory, not by handles.
    let another = exhibition.walls.images.lock().unwrap()["first"].clone();
    exhibition.gallery.take_down("first").unwrap();
    exhibition.keeps(ONE);
    drop(another);
    exhibition.keeps(0..1);
    exhibition.hang("fourth").unwrap();
    assert!(exhibition.is_view("fourth"));
}

fn what_is_beyond_the_bound_is_refused_where_that_is_chosen(at: Place) {
    let exhibition = exhibition(at, AtBound::Refuse);
    exhibition.hang("first").unwrap();
    exhibition.keeps(ONE);
    for _ in 0..3 {
        let refused = exhibition.hang("second").unwrap_err();
        assert_eq!((refused.kind, refused.completed), (Kind::ImpLimit, zorb::Completion::No), "{refused}");
    }
    assert_eq!(exhibition.walls.images.lock().unwrap().len(), 1, "no servant was called");
    // What keeps nothing goes on: what is small, and a result on its way out.
    exhibition.gallery.hang("small", &[1.0; 100], "small").unwrap();
    assert!(exhibition.gallery.look("first").unwrap() == image());
    exhibition.gallery.take_down("first").unwrap();
    exhibition.keeps(0..1);
    exhibition.hang("second").unwrap();
}

over! {
    what_is_beyond_the_bound_is_copied,
    what_is_beyond_the_bound_is_refused_where_that_is_chosen,
}

#[test]
fn results_that_a_client_keeps_count_as_well() {
    let exhibition = exhibition(Place::TCP, AtBound::Copy);
    exhibition.hang("first").unwrap();
    let client = Place::TCP.client().kept_memory(MOST).kept_memory_at_bound(AtBound::Refuse).build();
    let text = exhibition.server.object_to_string(Some(exhibition.gallery.as_object()));
    let gallery = Gallery::from_object(client.string_to_object(&text).unwrap().unwrap());
    let kept = gallery.look("first").unwrap();
    assert!(kept.is_view() && ONE.contains(&client.kept_memory()));
    let refused = gallery.look("first").unwrap_err();
    assert_eq!((refused.kind, refused.completed), (Kind::ImpLimit, zorb::Completion::Yes), "{refused}");
    assert!(refused.to_string().contains("kept_memory"), "{refused}");
    drop(kept);
    assert_eq!(client.kept_memory(), 0);
    assert!(gallery.look("first").unwrap() == image());
}
