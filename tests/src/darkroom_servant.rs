//! A servant that keeps bulk, in memory that it offers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use zorb::deposit::{Bulk, Deposit, Frames};
use zorb::{Call, Interface, Orb, OrbBuilder, Sequence, SystemException};

use crate::darkroom::store::PutError;
use crate::darkroom::{Archive, ArchiveServant, BinStruct, Flagged, Missing, StoreServant};

/// Octets of a frame of the servant's.
pub const FRAME: usize = 2 << 20;

/// What a page has.
pub const PAGE: usize = 4096;

/// What was kept under each title.
#[derive(Default)]
pub struct Room {
    octets: Mutex<HashMap<String, Sequence<u8>>>,
    images: Mutex<Vec<Sequence<f64>>>,
    bins: Mutex<HashMap<String, Sequence<BinStruct>>>,
    longs: Mutex<Sequence<i32>>,
    thrown: AtomicUsize,
    /// Memory for what comes, if it is to be offered.
    frames: Option<Frames>,
    /// It panics when it is asked for memory.
    pub panics: AtomicBool,
    /// It offers memory that does not fit.
    pub misfits: AtomicBool,
    /// How often it was asked.
    pub asked: AtomicUsize,
    /// How many arguments lay in memory that it had offered.
    pub in_place: AtomicUsize,
    /// How many that it files lay in their message.
    pub views: AtomicUsize,
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Room {
    /// One that offers so many frames.
    pub fn with_frames(count: usize) -> Self {
        Room { frames: Some(Frames::new(count, FRAME, PAGE)), ..Room::default() }
    }

    /// Frames that are free.
    pub fn free(&self) -> usize {
        self.frames.as_ref().map_or(0, Frames::free)
    }

    /// Lets go of all that was kept.
    pub fn clear(&self) {
        locked(&self.octets).clear();
        locked(&self.images).clear();
        locked(&self.bins).clear();
        *locked(&self.longs) = Sequence::new();
    }

    fn offer(&self, bulk: &Bulk<'_>) -> Option<Deposit> {
        let offered = if self.misfits.load(Ordering::SeqCst) {
            Some(Deposit::new(vec![0u8; bulk.octets() - 1]))
        } else if bulk.octets() > FRAME {
            None
        } else {
            self.frames.as_ref().and_then(Frames::take)
        };
        // Counted last: who waits until it was asked finds the frame taken.
        self.asked.fetch_add(1, Ordering::SeqCst);
        assert!(!self.panics.load(Ordering::SeqCst), "it was told to");
        offered
    }

    /// Only what was offered begins at a page.
    fn note<T>(&self, received: &[T]) {
        if received.as_ptr().align_offset(PAGE) == 0 && size_of_val(received) > PAGE {
            self.in_place.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn find(&self, title: &str) -> Result<Sequence<u8>, PutError> {
        let found = locked(&self.octets).get(title).cloned();
        found.ok_or_else(|| Missing { title: title.to_owned() }.into())
    }
}

/// 0, 1, 2 …
pub fn image(count: u32) -> Sequence<f64> {
    (0..count).map(f64::from).collect()
}

/// Distinct ones, none of whose members is the same as another's.
pub fn bins(count: usize) -> Vec<BinStruct> {
    let bin = |n: usize| BinStruct {
        s: n as i16,
        c: zorb::cdr::Char(n as u8),
        l: n as i32 * -3,
        o: (n >> 8) as u8,
        d: n as f64 / 7.0,
        ..BinStruct::default()
    };
    (0..count).map(bin).collect()
}

impl StoreServant for Room {
    fn put(&self, _: &Call, title: &str, data: Sequence<u8>, note: &str) -> Result<(), PutError> {
        if note != title {
            return Err(SystemException::BadParam(format!("{note:?} came behind, and not {title:?}")).into());
        }
        self.note(&data);
        locked(&self.octets).insert(title.to_owned(), data);
        Ok(())
    }

    fn get(&self, _: &Call, title: &str) -> Result<Sequence<u8>, PutError> {
        self.find(title)
    }

    fn look(
        &self,
        _: &Call,
        title: &str,
        mark: &str,
    ) -> Result<(i32, String, Sequence<f64>, String, Sequence<u8>), PutError> {
        let thumb = self.find(title)?;
        Ok((-7, title.to_uppercase(), image(100_000), format!("{mark}!"), thumb))
    }

    fn hang(&self, _: &Call, image: Sequence<f64>) -> Result<(), SystemException> {
        self.note(&image);
        locked(&self.images).push(image);
        Ok(())
    }

    fn put_bins(&self, _: &Call, title: &str, values: Sequence<BinStruct>) -> Result<(), SystemException> {
        self.note(&values);
        locked(&self.bins).insert(title.to_owned(), values);
        Ok(())
    }

    fn struck(&self, _: &Call, title: &str, _: i32) -> Result<Sequence<BinStruct>, SystemException> {
        Ok(locked(&self.bins).get(title).cloned().unwrap_or_default())
    }

    fn flagged(&self, _: &Call, count: u32) -> Result<Sequence<Flagged>, SystemException> {
        let flagged = |n: u32| Flagged { on: n.is_multiple_of(3), number: n as i32, ..Flagged::default() };
        Ok((0..count).map(flagged).collect())
    }

    fn put_longs(&self, _: &Call, values: Sequence<i32>) -> Result<(), SystemException> {
        self.note(&values);
        *locked(&self.longs) = values;
        Ok(())
    }

    fn counted(&self, _: &Call, count: u32) -> Result<Sequence<i32>, SystemException> {
        Ok((0..count as i32).collect())
    }

    fn all(&self, _: &Call) -> Result<Sequence<u8>, SystemException> {
        let octets = locked(&self.octets);
        let mut titles: Vec<_> = octets.keys().collect();
        titles.sort();
        Ok(titles.iter().flat_map(|title| octets[*title].iter().copied()).collect())
    }

    fn throw_in(&self, _: &Call, data: Sequence<u8>) -> Result<(), SystemException> {
        self.note(&data);
        self.thrown.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn thrown_in(&self, _: &Call) -> Result<u32, SystemException> {
        Ok(self.thrown.load(Ordering::SeqCst) as u32)
    }

    fn memory_for(&self, bulk: &Bulk<'_>) -> Option<Deposit> {
        self.offer(bulk)
    }
}

impl ArchiveServant for Room {
    fn put_into(&self, context: &Call, drawer: &str, data: Sequence<u8>) -> Result<(), SystemException> {
        let put = StoreServant::put(self, context, drawer, data, drawer);
        put.map_err(|_| SystemException::Internal("it cannot be put"))
    }

    fn file_bins(&self, _: &Call, values: Sequence<BinStruct>) -> Result<(), SystemException> {
        self.note(&values);
        self.views.fetch_add(values.is_view().into(), Ordering::SeqCst);
        if *values == *bins(values.len()) {
            return Ok(());
        }
        Err(SystemException::BadParam("others came".to_owned()))
    }

    fn paint(&self, _: &Call, count: u32) -> Result<Sequence<f64>, SystemException> {
        Ok(image(count))
    }

    fn paint_into(&self, _: &Call) -> Result<u32, SystemException> {
        Ok(4711)
    }

    fn memory_for(&self, bulk: &Bulk<'_>) -> Option<Deposit> {
        self.offer(bulk)
    }
}

/// A server with this room, a client, and the room's reference as the client sees it.
pub fn meet(server: OrbBuilder, client: OrbBuilder, room: &Arc<Room>) -> (Orb, Orb, Archive) {
    let (server, client) = (server.build(), client.build());
    let poa = server.root_poa().expect("a new ORB");
    let archive = poa.activate::<Archive>(room.clone()).expect("a new object");
    poa.manager().activate().expect("a new adapter");
    let text = server.object_to_string(Some(archive.as_object()));
    let there = client.string_to_object(&text).expect("a reference").expect("not nil");
    (server, client, Archive::from_object(there))
}

/// So many octets, no two pages of them alike.
pub fn octets(count: usize) -> Vec<u8> {
    let round: Vec<u8> = (0..=250).collect();
    let mut all = round.repeat(count.div_ceil(round.len()));
    all.truncate(count);
    all
}
