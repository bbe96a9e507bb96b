//! Whether octets hold an object reference, where their types are not known.
//!
//! ```text
//! reference   type id: ulong length, octets, NUL │ profiles: ulong count │ tag: ulong │ ulong length │ data
//! ```
//!
//! A reference begins at a multiple of 4, in an encapsulation as well, which begins at one itself but may have another byte
//! order. It is taken for one if its type id begins as repository ids do, or is empty before an IIOP profile, and if
//! the first profile has a place.

use zorb_cdr::{Body, ByteOrder};

/// The most profiles that are believed. 1,024: a reference of so many would not be used.
const MOST_PROFILES: u32 = 1024;

/// What type ids begin with (CORBA 3.4 part 1 §14.7.5).
const FORMATS: [&[u8]; 4] = [b"IDL:", b"RMI:", b"DCE:", b"LOCAL:"];

/// Whether one may be in there.
pub(crate) fn seems_to_hold_a_reference(body: &Body) -> bool {
    if body.later().is_empty() {
        return is_in(&body.first().octets, body.first().phase);
    }
    let whole: Vec<u8> = body.segments().flat_map(|segment| segment.octets.to_vec()).collect();
    // Fragments of 1.1 align by themselves: what stands at any octet is looked at.
    (0..4).any(|phase| is_in(&whole, phase))
}

fn is_in(octets: &[u8], phase: usize) -> bool {
    let first = phase.wrapping_neg() & 3;
    (first..octets.len().saturating_sub(16)).step_by(4).any(|at| {
        [ByteOrder::Big, ByteOrder::Little].into_iter().any(|order| begins(&octets[at..], order).is_some())
    })
}

/// `Some`: a reference begins with these octets, which begin at a multiple of 4.
fn begins(octets: &[u8], order: ByteOrder) -> Option<()> {
    let number = |at: usize| -> Option<u32> {
        let octets = *octets.get(at..)?.first_chunk()?;
        Some(match order {
            ByteOrder::Big => u32::from_be_bytes(octets),
            ByteOrder::Little => u32::from_le_bytes(octets),
        })
    };
    let length = usize::try_from(number(0)?).ok()?;
    let id = octets.get(4..)?.get(..length)?;
    let (&0, id) = id.split_last()? else { return None };
    let profiles = (4 + length).next_multiple_of(4);
    if !(1..=MOST_PROFILES).contains(&number(profiles)?) {
        return None;
    }
    let (tag, size) = (number(profiles + 4)?, usize::try_from(number(profiles + 8)?).ok()?);
    let data = octets.get(profiles + 12..)?.get(..size)?;
    let is_iiop = tag == 0 && matches!(data, [0 | 1, 1, _, ..]);
    (is_iiop || FORMATS.iter().any(|format| id.starts_with(format))).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb_cdr::{Encode, Encoder, Format, Octets, Segment};
    use zorb_giop::{IiopProfile, Ior};

    fn ior(type_id: &str) -> Ior {
        let profile = IiopProfile {
            version: zorb_cdr::Version::V1_2,
            host: "h".into(),
            port: 1,
            object_key: Default::default(),
            components: Vec::new(),
        };
        Ior { type_id: type_id.into(), profiles: vec![profile.encode().unwrap()] }
    }

    fn body<'a>(phase: usize, fill: impl FnOnce(&mut Encoder<'a>)) -> Body {
        let mut to = Encoder::new(Format::default());
        to.write_octets(&[0; 8][..phase]);
        fill(&mut to);
        let octets = Octets::from(&to.to_bytes()[phase..]);
        Body::one(Segment { octets, phase }, ByteOrder::NATIVE)
    }

    #[test]
    fn references_are_found_wherever_they_stand() {
        for type_id in ["IDL:bank/Account:1.0", ""] {
            let reference = &ior(type_id);
            for phase in 0..8 {
                for before in 0..9 {
                    let found = body(phase, |to| {
                        to.write_octets(&[7; 9][..before]);
                        reference.encode(to).unwrap();
                        to.write_u8(1);
                    });
                    assert!(seems_to_hold_a_reference(&found), "{type_id:?} {phase} {before}");
                }
            }
            let inside = body(0, |to| to.encapsulation(|to| reference.encode(to)).unwrap());
            assert!(seems_to_hold_a_reference(&inside));
            let halves = {
                let whole = body(0, |to| reference.encode(to).unwrap());
                let octets = &whole.first().octets;
                let part = |range| Segment { octets: octets.slice(range), phase: 0 };
                Body::many(vec![part(0..10), part(10..octets.len())], ByteOrder::NATIVE)
            };
            assert!(seems_to_hold_a_reference(&halves));
        }
    }

    #[test]
    fn other_values_are_not_taken_for_references() {
        let nil = Ior::nil();
        let nil = body(0, |to| nil.encode(to).unwrap());
        assert!(!seems_to_hold_a_reference(&nil));
        let text = body(0, |to| to.write_string("IDL:bank/Account:1.0 is an id").unwrap());
        assert!(!seems_to_hold_a_reference(&text));
        for octet in [0, 1, 0xff] {
            let bulk = body(0, |to| to.write_octets(&[octet; 4096]));
            assert!(!seems_to_hold_a_reference(&bulk), "{octet}");
        }
        assert!(!seems_to_hold_a_reference(&Body::empty()));
    }
}
