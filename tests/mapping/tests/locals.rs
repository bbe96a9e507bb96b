//! Local interfaces: traits, whose objects are called directly and never sent.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};

use zorb::cdr::{Any, EncodeErrorKind};
use zorb::{Described, Local, Sequence, SystemException, TCKind};
use zorb_test_mapping::abstracts::locals::sink::PutError;
use zorb_test_mapping::abstracts::locals::{Full, Plumbing, Sink, Tap};

struct Basin {
    room: AtomicI32,
    texts: Mutex<Vec<String>>,
}

impl Sink for Basin {
    fn put(&self, text: &str, samples: Sequence<f64>) -> Result<(i32, i32), PutError> {
        let count = samples.len() as i32;
        let left = self.room.load(Ordering::Relaxed) - count;
        if left < 0 {
            return Err(Full { how_much: -left }.into());
        }
        self.room.store(left, Ordering::Relaxed);
        self.texts.lock().unwrap().push(text.to_owned());
        Ok((count, left))
    }

    fn name(&self) -> Result<String, SystemException> {
        Ok(self.texts.lock().unwrap().join(" "))
    }

    fn room(&self) -> Result<i32, SystemException> {
        Ok(self.room.load(Ordering::Relaxed))
    }

    fn set_room(&self, room: i32) -> Result<(), SystemException> {
        self.room.store(room, Ordering::Relaxed);
        Ok(())
    }
}

impl Tap for Basin {
    fn other(&self, that: &Option<Local<dyn Sink>>) -> Result<Option<Local<dyn Sink>>, SystemException> {
        Ok(that.clone())
    }
}

fn basin(room: i32) -> Arc<Basin> {
    Arc::new(Basin { room: AtomicI32::new(room), texts: Mutex::default() })
}

#[test]
fn they_are_called_directly() {
    let tap: Local<dyn Tap> = Local(basin(3));
    let sink: Local<dyn Sink> = Local(tap.0.clone());
    assert_eq!(sink.put("a", vec![1.0, 2.0].into()).unwrap(), (2, 1));
    match tap.put("b", vec![1.0, 2.0].into()) {
        Err(PutError::Full(full)) => assert_eq!(full.how_much, 1),
        other => panic!("{:?}", other.map_err(|error| error.to_string())),
    }
    sink.set_room(5).unwrap();
    assert_eq!((tap.room().unwrap(), tap.name().unwrap().as_str()), (5, "a"));
    assert_eq!(tap.other(&Some(sink.clone())).unwrap(), Some(sink.clone()));
    assert_eq!(tap.other(&None).unwrap(), None);
    assert_ne!(sink, Local::<dyn Sink>(basin(3)));
}

#[test]
fn they_are_never_sent() {
    let plumbing = Plumbing { first: Some(Local(basin(1))), second: None };
    assert_eq!(plumbing, plumbing.clone());
    let error = Any::new(&plumbing).unwrap_err();
    assert_eq!(error.kind, EncodeErrorKind::LocalObject);
    let first = Plumbing::type_code().member_type(0).unwrap();
    assert_eq!((first.kind(), first.id()), (TCKind::LocalInterface, Some("IDL:locals/Sink:1.0")));
}
