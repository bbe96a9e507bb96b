//! Object keys: what a reference of this ORB says to find its object again.
//!
//! Keys are opaque to everyone else (CORBA 3.4 part 2 §7.6.4), so their form is ours:
//!
//! ```text
//! octet  0  1  2  3   4                12         16         20
//!        Z  O  1  T │ run of the ORB │ adapter: │ its      │ object id …       transient
//!                   │                │ index    │ genera-  │
//!                   │                │          │ tion     │
//!
//! octet  0  1  2  3   4          6
//!        Z  O  1  P │ octets of │ path: for each name from the │ object id …    persistent
//!                   │ the path  │ root its length (2), UTF-8   │
//!
//! object id, system   0         4             8
//!                     slot     │ generation  │ run of the ORB (persistent only)
//! object id, user     as the program chose it
//! ```
//!
//! Numbers are big-endian, so that a dump reads in order. The *run* is a number drawn anew for each ORB: a
//! transient reference that outlived its process meets another run and gives `OBJECT_NOT_EXIST`. A persistent
//! key holds names only and means the same in every run. An index leads to an adapter or an object in
//! constant time; its generation tells the one that has the slot now from those that had it before. Slots from
//! 2³¹ on belong to no slot: with the generation they count the references made without an object.
//!
//! Any other key is *plain*: `corbaloc::host/Archive` asks for the key `Archive`.

use std::ops::Range;

/// `ZO`, and the version of this form.
const MAGIC: [u8; 3] = *b"ZO1";
const TRANSIENT: u8 = b'T';
const PERSISTENT: u8 = b'P';

/// Where a transient key's object id begins.
const TRANSIENT_HEAD: usize = 20;

/// A key, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key<'k> {
    /// Of an adapter that lives as long as this run of the ORB.
    Transient { run: u64, index: u32, generation: u32, id: &'k [u8] },
    /// Of an adapter found by its path.
    Persistent { path: &'k [u8], id: &'k [u8] },
    /// Not made by an adapter.
    Plain,
}

impl<'k> Key<'k> {
    /// Takes a key apart. What is not whole is plain.
    #[inline]
    pub(crate) fn parse(key: &'k [u8]) -> Key<'k> {
        Key::parse_whole(key).unwrap_or(Key::Plain)
    }

    #[inline]
    fn parse_whole(key: &'k [u8]) -> Option<Key<'k>> {
        let (head, rest) = key.split_first_chunk::<4>()?;
        if head[..3] != MAGIC {
            return None;
        }
        match head[3] {
            TRANSIENT => {
                let (run, rest) = rest.split_first_chunk()?;
                let (index, rest) = rest.split_first_chunk()?;
                let (generation, id) = rest.split_first_chunk()?;
                Some(Key::Transient {
                    run: u64::from_be_bytes(*run),
                    index: u32::from_be_bytes(*index),
                    generation: u32::from_be_bytes(*generation),
                    id,
                })
            }
            PERSISTENT => {
                let (length, rest) = rest.split_first_chunk()?;
                let (path, id) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
                Some(Key::Persistent { path, id })
            }
            _ => None,
        }
    }

    /// Where the object id lies in a key of `length` octets that was taken apart to this.
    pub(crate) fn id_range(&self, length: usize) -> Range<usize> {
        match self {
            Key::Transient { .. } => TRANSIENT_HEAD..length,
            Key::Persistent { id, .. } => length - id.len()..length,
            Key::Plain => 0..length,
        }
    }
}

/// What all keys of a transient adapter begin with.
pub(crate) fn transient_prefix(run: u64, index: u32, generation: u32) -> Box<[u8]> {
    let mut prefix = Vec::with_capacity(TRANSIENT_HEAD);
    prefix.extend_from_slice(&MAGIC);
    prefix.push(TRANSIENT);
    prefix.extend_from_slice(&run.to_be_bytes());
    prefix.extend_from_slice(&index.to_be_bytes());
    prefix.extend_from_slice(&generation.to_be_bytes());
    prefix.into()
}

/// What all keys of a persistent adapter begin with; `None` if its path is too long for a key.
pub(crate) fn persistent_prefix(path: &[u8]) -> Option<Box<[u8]>> {
    let length = u16::try_from(path.len()).ok()?;
    Some([&MAGIC[..], &[PERSISTENT], &length.to_be_bytes(), path].concat().into())
}

/// The path of a child; `None` if it is too long for a key.
pub(crate) fn child_path(parent: &[u8], name: &str) -> Option<Box<[u8]>> {
    let length = u16::try_from(name.len()).ok()?;
    let path = [parent, &length.to_be_bytes(), name.as_bytes()].concat();
    (path.len() <= usize::from(u16::MAX)).then(|| path.into())
}

/// The names of a path from the root on; `None` if it is not a path.
pub(crate) fn names(mut path: &[u8]) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    while !path.is_empty() {
        let (length, rest) = path.split_first_chunk()?;
        let (name, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        names.push(std::str::from_utf8(name).ok()?);
        path = rest;
    }
    Some(names)
}

/// An object id that an adapter assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SystemId {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

impl SystemId {
    /// Slots below this are slots.
    const SLOTS: u32 = 1 << 31;

    /// The id of a reference made without an object: the `number`th of this run. Repeats after 2⁶³.
    pub(crate) fn unbound(number: u64) -> SystemId {
        // Truncation takes the low and the high half.
        SystemId { slot: SystemId::SLOTS | (number >> 32) as u32, generation: number as u32 }
    }

    /// Reads an id of this run: `run` is given where ids carry it.
    #[inline]
    pub(crate) fn parse(id: &[u8], run: Option<u64>) -> Option<SystemId> {
        let (slot, rest) = id.split_first_chunk()?;
        let (generation, rest) = rest.split_first_chunk()?;
        let right = match run {
            None => rest.is_empty(),
            Some(run) => *rest == run.to_be_bytes(),
        };
        right.then(|| SystemId {
            slot: u32::from_be_bytes(*slot),
            generation: u32::from_be_bytes(*generation),
        })
    }

    /// Whether it could be any run's: it has the length.
    pub(crate) fn has_form(id: &[u8], with_run: bool) -> bool {
        id.len() == if with_run { 16 } else { 8 }
    }

    /// The octets.
    pub(crate) fn octets(self, run: Option<u64>) -> Vec<u8> {
        let mut octets = Vec::with_capacity(16);
        octets.extend_from_slice(&self.slot.to_be_bytes());
        octets.extend_from_slice(&self.generation.to_be_bytes());
        octets.extend(run.into_iter().flat_map(u64::to_be_bytes));
        octets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transient_key_is_the_octets_of_the_picture() {
        let mut key = transient_prefix(0x0102_0304_0506_0708, 9, 10).to_vec();
        key.extend(SystemId { slot: 11, generation: 12 }.octets(None));
        assert_eq!(key, b"ZO1T\x01\x02\x03\x04\x05\x06\x07\x08\0\0\0\x09\0\0\0\x0a\0\0\0\x0b\0\0\0\x0c");
        let parsed = Key::parse(&key);
        let Key::Transient { run, index, generation, id } = parsed else { panic!("{parsed:?}") };
        assert_eq!((run, index, generation), (0x0102_0304_0506_0708, 9, 10));
        assert_eq!(SystemId::parse(id, None), Some(SystemId { slot: 11, generation: 12 }));
        assert_eq!(&key[parsed.id_range(key.len())], id);
    }

    #[test]
    fn a_persistent_key_is_the_octets_of_the_picture() {
        let path = child_path(&child_path(&[], "a").unwrap(), "bc").unwrap();
        let mut key = persistent_prefix(&path).unwrap().to_vec();
        key.extend(b"printer");
        assert_eq!(key, b"ZO1P\0\x07\0\x01a\0\x02bcprinter");
        let parsed = Key::parse(&key);
        assert_eq!(parsed, Key::Persistent { path: &path, id: b"printer" });
        assert_eq!(names(&path), Some(vec!["a", "bc"]));
        assert_eq!(&key[parsed.id_range(key.len())], b"printer");
    }

    #[test]
    fn every_prefix_of_a_head_is_a_plain_key() {
        let transient = transient_prefix(1, 2, 3);
        let persistent = persistent_prefix(&child_path(&[], "name").unwrap()).unwrap();
        for key in [&transient, &persistent] {
            for end in 0..key.len() {
                assert_eq!(Key::parse(&key[..end]), Key::Plain, "{:?}", &key[..end]);
            }
            assert_ne!(Key::parse(key), Key::Plain);
        }
        assert_eq!(Key::parse(b"NameService"), Key::Plain);
        assert_eq!(Key::parse(b"ZO1X________________"), Key::Plain);
        assert_eq!(Key::parse(b"ZO2T________________"), Key::Plain);
    }

    #[test]
    fn a_path_that_is_none_has_no_names() {
        let path = child_path(&child_path(&[], "a").unwrap(), "bc").unwrap();
        let wholes = [0, 3, path.len()];
        for end in 0..=path.len() {
            assert_eq!(names(&path[..end]).is_some(), wholes.contains(&end), "{end}");
        }
        assert_eq!(names(b"\0\x01\xff"), None);
    }

    #[test]
    fn names_too_long_for_a_key_have_no_path() {
        let long = "x".repeat(65_533);
        let path = child_path(&[], &long).unwrap();
        assert!(persistent_prefix(&path).is_some());
        assert_eq!(child_path(&[], &"x".repeat(65_534)), None);
        assert_eq!(child_path(&[], &"x".repeat(65_536)), None);
        assert_eq!(child_path(&path, ""), None);
    }

    #[test]
    fn a_persistent_system_id_is_of_one_run() {
        let id = SystemId { slot: 1, generation: 2 };
        assert_eq!(SystemId::parse(&id.octets(Some(7)), Some(7)), Some(id));
        assert_eq!(SystemId::parse(&id.octets(Some(7)), Some(8)), None);
        assert_eq!(SystemId::parse(&id.octets(Some(7)), None), None);
        assert_eq!(SystemId::parse(&id.octets(None), Some(7)), None);
        assert!(SystemId::has_form(&id.octets(Some(7)), true) && !SystemId::has_form(&id.octets(None), true));
    }

    #[test]
    fn ids_of_references_without_an_object_have_no_slot() {
        assert_eq!(SystemId::unbound(0), SystemId { slot: 1 << 31, generation: 0 });
        assert_eq!(SystemId::unbound(0x1_0000_0002), SystemId { slot: (1 << 31) | 1, generation: 2 });
    }
}
