//! An album of large pictures, which are received where they are to stay. The album offers page-aligned frames of a ring for what is added to it,
//! and its pictures are read into the caller's own slice; only what comes with the heads is copied. The wire is plain GIOP: any ORB's client would do.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use photos::{Album, AlbumServant};
use zorb::deposit::{Bulk, Deposit, Frames};
use zorb::{Call, Interface, Orb, Sequence, SystemException};

zorb::include_idl!("photos");

/// 4,096 × 4,096 pixels.
const PICTURE: usize = 16 << 20;

const PAGE: usize = 4096;

struct Shelf {
    frames: Frames,
    pictures: Mutex<HashMap<String, Sequence<u8>>>,
}

impl AlbumServant for Shelf {
    fn add(&self, _: &Call, name: &str, picture: Sequence<u8>) -> Result<(), SystemException> {
        let place = if picture.as_ptr().align_offset(PAGE) == 0 { "a frame" } else { "memory of the ORB's" };
        println!("{name}: {} octets in {place}, {} frames are free", picture.len(), self.frames.free());
        // The frame goes back when the last handle on the picture is dropped.
        self.pictures.lock().unwrap().insert(name.to_owned(), picture);
        Ok(())
    }

    fn picture(&self, _: &Call, name: &str) -> Result<Sequence<u8>, SystemException> {
        let found = self.pictures.lock().unwrap().get(name).cloned();
        found.ok_or_else(|| SystemException::BadParam(format!("no picture is called {name:?}")))
    }

    fn memory_for(&self, bulk: &Bulk<'_>) -> Option<Deposit> {
        // What is larger than a frame, or comes when none is free, is received as ever.
        if bulk.octets() <= PICTURE { self.frames.take() } else { None }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Orb::builder().listen("tcp:127.0.0.1:0").build();
    let poa = server.root_poa()?;
    let frames = Frames::new(2, PICTURE, PAGE);
    let shelf = Arc::new(Shelf { frames: frames.clone(), pictures: Mutex::default() });
    let reference = poa.activate::<Album>(shelf.clone())?.as_object().to_string();
    poa.manager().activate()?;

    // Another ORB, so that the pictures go over TCP.
    let client = Orb::builder().build();
    let object = client.string_to_object(&reference)?.ok_or("the reference is nil")?;
    let album = Album::from_object(object);
    for (shade, name) in (1..).zip(["meadow", "river", "hill"]) {
        album.add(name, &vec![shade; PICTURE])?;
    }
    shelf.pictures.lock().unwrap().remove("meadow");
    println!("without the meadow {} frames are free", frames.free());

    let mut pixels = vec![0; PICTURE];
    let count = album.picture_into("river", &mut pixels)?;
    println!("river: {count} octets into the slice, all of them {}", pixels[PICTURE - 1]);
    let too_small = album.picture_into("river", &mut pixels[..1000]);
    println!("{}", too_small.expect_err("it has no room"));
    Ok(())
}
