//! The TypeCodes that an ORB has met, by their form on the wire: one that comes with every message is decoded once.
//!
//! A table of fixed size, in which each TypeCode has one place and the later comer takes it: finding costs a hash of what
//! came, a lock that is hardly ever held, and a comparison. Strangers who send ever new types make each other be forgotten,
//! and nothing else.

use std::sync::OnceLock;

use parking_lot::Mutex;
use zorb_cdr::{KnownTypes, TypeCode};

/// How many are remembered.
const PLACES: usize = 256;

/// Longer ones, in octets on the wire, are decoded each time. What is decoded takes some ten times as much.
const LONGEST: usize = 4096;

/// So many octets of the parameters tell places apart: the repository id and the first members.
const HASHED: usize = 128;

/// Memory is taken when the first TypeCode comes.
#[derive(Default)]
pub(crate) struct TypesMet(OnceLock<Box<[Mutex<Option<TypeCode>>]>>);

impl KnownTypes for TypesMet {
    fn find(&self, kind: u32, parameters: &[u8]) -> Option<TypeCode> {
        let place = self.0.get()?.get(place_of(parameters))?.lock();
        let known = place.as_ref()?;
        let is_it = known.wire_form().and_then(split).is_some_and(|it| it == (kind, parameters));
        is_it.then(|| known.clone())
    }

    fn keep(&self, type_code: &TypeCode) {
        let Some((_, parameters)) = type_code.wire_form().and_then(split) else { return };
        if parameters.len() > LONGEST {
            return;
        }
        let places = self.0.get_or_init(|| (0..PLACES).map(|_| Mutex::default()).collect());
        let before = places[place_of(parameters)].lock().replace(type_code.clone());
        // Freed without the lock.
        drop(before);
    }
}

/// The kind, and the parameters behind their length.
fn split(wire: &[u8]) -> Option<(u32, &[u8])> {
    let (kind, behind) = wire.split_first_chunk()?;
    Some((u32::from_ne_bytes(*kind), behind.get(4..)?))
}

fn place_of(parameters: &[u8]) -> usize {
    // 2^64 divided by the golden ratio: neighbours come to lie far apart.
    let and = |hash: u64, word: [u8; 8]| {
        (hash.rotate_left(5) ^ u64::from_ne_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    };
    let (words, rest) = parameters[..parameters.len().min(HASHED)].as_chunks::<8>();
    let mut hash = words.iter().fold(parameters.len() as u64, |hash, word| and(hash, *word));
    if !rest.is_empty() {
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        hash = and(hash, word);
    }
    (hash >> 32) as usize % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> TypeCode {
        TypeCode::build(|to| to.enumeration(&format!("IDL:{name}:1.0"), name, &["one", "two"]))
            .expect("a type")
    }

    fn found(met: &TypesMet, of: &TypeCode) -> Option<TypeCode> {
        let (kind, parameters) = split(of.wire_form()?)?;
        met.find(kind, parameters)
    }

    #[test]
    fn what_was_met_is_found_by_kind_and_octets() {
        let (met, colour) = (TypesMet::default(), named("Colour"));
        assert_eq!(found(&met, &colour), None);
        met.keep(&colour);
        assert_eq!(found(&met, &colour), Some(colour.clone()));
        let (kind, parameters) = split(colour.wire_form().expect("a form")).expect("a kind");
        assert_eq!(met.find(kind + 1, parameters), None, "of another kind");
        assert_eq!(met.find(kind, &parameters[1..]), None, "of other parameters");
    }

    #[test]
    fn later_ones_take_the_places_of_earlier_ones() {
        let met = TypesMet::default();
        let types: Vec<_> = (0..20 * PLACES).map(|number| named(&format!("T{number}"))).collect();
        types.iter().for_each(|it| met.keep(it));
        let last = types.last().expect("there are some");
        assert_eq!(found(&met, last).as_ref(), Some(last));
        let left = types.iter().filter(|it| found(&met, it).is_some()).count();
        // Those that hash alike shared places; no place is left out.
        assert!((PLACES / 2..=PLACES).contains(&left), "{left}");
    }

    #[test]
    fn long_ones_are_not_kept() {
        let (met, long) = (TypesMet::default(), named(&"x".repeat(LONGEST)));
        met.keep(&long);
        assert_eq!(found(&met, &long), None);
    }
}
