//! TypeCodes: made, compared, sent, and refused where a peer forges them.

use bytes::Bytes;
use std::sync::Mutex;
use zorb_cdr::{
    ByteOrder, Decode, DecodeContext, DecodeError, DecodeErrorKind, Decoder, Encode, Encoder, Format,
    KnownTypes, TCKind, TypeCode, TypeCodeError,
};

/// A tree: a struct that contains itself through a sequence and an alias.
fn tree(id: &str) -> TypeCode {
    TypeCode::build(|to| {
        to.structure(id, "Tree", |to| {
            let itself = to.structure(id, "Tree", |_| Vec::new());
            let trees = to.sequence(itself, 0);
            vec![("name", to.string(0)), ("children", to.alias("IDL:Trees:1.0", "Trees", trees))]
        })
    })
    .expect("a tree can be described")
}

/// One of each kind that has parameters.
fn everything() -> TypeCode {
    TypeCode::build(|to| {
        to.structure("IDL:All:1.0", "All", |to| {
            let colour = to.enumeration("IDL:Colour:1.0", "Colour", &["red", "green"]);
            let choice = to.union("IDL:Choice:1.0", "Choice", Some(1), |to| {
                (colour, vec![(0, "a", to.basic::<i16>()), (0, "b", to.string(7)), (1, "c", to.wstring(0))])
            });
            let value = to.value("IDL:V:1.0", "V", 0, |to| (None, vec![("s", to.basic::<i32>(), 1)]));
            vec![
                ("colour", colour),
                ("choice", choice),
                ("fixed", to.fixed(9, 2)),
                ("array", to.array(choice, 3)),
                ("object", to.interface("IDL:omg.org/CORBA/Object:1.0", "Object")),
                ("local", to.named(TCKind::LocalInterface, "IDL:L:1.0", "L")),
                ("value", value),
                ("derived", to.value("IDL:W:1.0", "W", 3, |_| (Some(value), Vec::new()))),
                ("box", to.value_box("IDL:B:1.0", "B", choice)),
                ("any", to.basic::<zorb_cdr::Any>()),
                ("type", to.basic::<TypeCode>()),
            ]
        })
    })
    .expect("all of it can be described")
}

fn octets(of: &impl Encode, before: usize) -> Vec<u8> {
    let mut to = Encoder::new(Format::default());
    (0..before).for_each(|_| to.write_u8(0));
    of.encode(&mut to).expect("encodes");
    to.slices().flatten().copied().collect()
}

fn decode(octets: &[u8], order: ByteOrder) -> Result<TypeCode, DecodeError> {
    TypeCode::decode(&mut Decoder::from_slice(octets, order, Format::default()))
}

#[test]
fn what_is_sent_is_received() {
    for of in [tree("IDL:Tree:1.0"), everything(), TypeCode::string(5), TypeCode::NULL] {
        for before in [0, 1, 5] {
            let octets = Bytes::from(octets(&of, before));
            let mut from = Decoder::new(&octets, ByteOrder::NATIVE, Format::default());
            from.read_octets(before).expect("there");
            assert_eq!(TypeCode::decode(&mut from).expect("decodes"), of);
            assert_eq!(from.remaining(), 0);
        }
    }
}

/// Indirections to aliases and sequences that hold the place where they stand are legal, and JacORB refuses them.
#[test]
fn what_is_unfinished_is_led_to_only_where_it_can_contain_itself() {
    let part = tree("IDL:Tree:1.0").member_type(1).expect("there");
    assert_eq!(part.kind(), TCKind::Alias);
    let octets = octets(&part, 0);
    let word = |at: usize| u32::from_ne_bytes(octets[at..at + 4].try_into().expect("four octets"));
    let indirections: Vec<usize> =
        (0..octets.len() - 7).step_by(4).filter(|at| word(*at) == u32::MAX).collect();
    assert_eq!(indirections.len(), 1);
    let to = (indirections[0] + 4).wrapping_add_signed(word(indirections[0] + 4) as i32 as isize);
    assert_eq!(word(to), TCKind::Struct.number());
    assert_eq!(decode(&octets, ByteOrder::NATIVE).expect("decodes"), part);
}

/// A part stands for itself: its indirections are made anew.
#[test]
fn what_was_received_is_sent_on_as_it_was() {
    // The same type described twice, where we would write an indirection.
    let colour = |to: &mut Encoder<'_>| {
        to.write_u32(TCKind::Enum.number());
        to.encapsulation(|to| {
            to.write_string("IDL:C:1.0")?;
            to.write_string("C")?;
            to.write_u32(1);
            to.write_string("red")
        })
    };
    let mut to = Encoder::new(Format::default());
    to.write_u32(TCKind::Struct.number());
    to.encapsulation(|to| {
        to.write_string("IDL:Two:1.0")?;
        to.write_string("Two")?;
        to.write_u32(2);
        ["a", "b"].into_iter().try_for_each(|name| to.write_string(name).and_then(|()| colour(to)))
    })
    .unwrap();
    let sent = to.to_bytes();
    let received = decode(&sent, ByteOrder::NATIVE).unwrap();
    assert_eq!(received.wire_form(), Some(&sent[..]));
    assert_eq!(octets(&received, 0), sent);
    assert_eq!(octets(&received, 3)[4..], sent);
    // A part has no form of its own, and is written anew.
    let part = received.member_type(1).unwrap();
    assert_eq!(part.wire_form(), None);
    assert_eq!(decode(&octets(&part, 0), ByteOrder::NATIVE).unwrap(), part);
}

/// Knows everything that it was given, and counts what it was asked.
#[derive(Default)]
struct Knowing {
    known: Mutex<Vec<TypeCode>>,
    found: Mutex<usize>,
}

impl DecodeContext for Knowing {
    fn known_types(&self) -> Option<&dyn KnownTypes> {
        Some(self)
    }
}

impl KnownTypes for Knowing {
    fn find(&self, kind: u32, parameters: &[u8]) -> Option<TypeCode> {
        let known = self.known.lock().unwrap();
        let is_it = |it: &&TypeCode| {
            let wire = it.wire_form().expect("it was kept");
            wire[..4] == kind.to_ne_bytes() && wire[8..] == *parameters
        };
        let found = known.iter().find(is_it).cloned();
        *self.found.lock().unwrap() += usize::from(found.is_some());
        found
    }

    fn keep(&self, type_code: &TypeCode) {
        self.known.lock().unwrap().push(type_code.clone());
    }
}

#[test]
fn what_is_known_is_not_decoded_again() {
    let knowing = Knowing::default();
    let read = |from: Decoder<'_>| {
        let mut from = from.with_context(&knowing);
        (TypeCode::decode(&mut from), from.remaining())
    };
    for (times, ty) in [everything(), tree("IDL:Tree:1.0"), TypeCode::string(3)].iter().enumerate() {
        let mut sent = octets(ty, 0);
        sent.extend([1, 2, 3]);
        for _ in 0..2 {
            let (read, left) = read(Decoder::from_slice(&sent, ByteOrder::NATIVE, Format::default()));
            assert_eq!((read.as_ref(), left), (Ok(ty), 3));
        }
        // What has no complex parameters is not asked for.
        assert_eq!(*knowing.found.lock().unwrap(), (times + 1).min(2));
        // One that is cut off is refused whoever knows it.
        let cut = &sent[..sent.len() - 4];
        let (read, _) = read(Decoder::from_slice(cut, ByteOrder::NATIVE, Format::default()));
        assert!(read.is_err());
    }
    assert_eq!(knowing.known.lock().unwrap().len(), 2);
}

#[test]
fn a_part_can_be_sent_alone() {
    let trees = tree("IDL:Tree:1.0").member_type(1).expect("children");
    assert_eq!(trees.kind(), TCKind::Alias);
    let received = decode(&octets(&trees, 0), ByteOrder::NATIVE).expect("decodes");
    assert_eq!(received, trees);
    let element = received.content_type().and_then(|it| it.content_type()).expect("a tree");
    assert_eq!(element, tree("IDL:Tree:1.0"));
}

#[test]
fn accessors_say_what_was_described() {
    let all = everything();
    assert_eq!((all.id(), all.name(), all.member_count()), (Some("IDL:All:1.0"), Some("All"), Some(11)));
    let choice = all.member_type(1).expect("choice");
    assert_eq!(choice.default_index(), Some(1));
    assert_eq!(choice.member_label(2), Some(1));
    assert_eq!(
        choice.discriminator_type().and_then(|it| it.member_name(1).map(str::to_owned)),
        Some("green".into())
    );
    let fixed = all.member_type(2).expect("fixed");
    assert_eq!((fixed.fixed_digits(), fixed.fixed_scale()), (Some(9), Some(2)));
    assert_eq!(all.member_type(3).and_then(|it| it.length()), Some(3));
    assert_eq!(all.member_type(7).and_then(|it| it.type_modifier()), Some(3));
    assert_eq!(all.member_type(7).and_then(|it| it.concrete_base_type()), all.member_type(6));
    assert_eq!((all.length(), all.member_label(0), all.member_type(11)), (None, None, None));
}

#[test]
fn aliases_count_for_equality_and_not_for_equivalence() {
    let plain = TypeCode::of::<i32>();
    let alias = TypeCode::build(|to| {
        let long = to.basic::<i32>();
        to.alias("IDL:A:1.0", "A", long)
    })
    .expect("described");
    assert!(!plain.equal(&alias) && plain.equivalent(&alias) && alias.equivalent(&plain));
    assert_eq!(alias.unaliased(), plain);
    // Ids decide where there are two; names do not count.
    assert!(tree("IDL:Tree:1.0").equivalent(&tree("IDL:Tree:1.0")));
    assert!(!tree("IDL:Tree:1.0").equivalent(&tree("IDL:Other:1.0")));
    let named = |id: &str, member: &str| {
        TypeCode::build(|to| to.structure(id, "S", |to| vec![(member, to.basic::<u8>())])).expect("described")
    };
    assert!(named("", "a").equivalent(&named("IDL:S:1.0", "b")) && !named("", "a").equal(&named("", "b")));
    assert!(!TypeCode::of::<Vec<u8>>().equivalent(&TypeCode::of::<Vec<i32>>()));
}

#[test]
fn what_cannot_be_is_not_half_made() {
    let twice = TypeCode::build(|to| {
        to.structure("IDL:S:1.0", "S", |to| vec![("a", to.basic::<u8>()), ("a", to.basic::<u8>())])
    });
    assert_eq!(twice, Err(TypeCodeError::DuplicateName("a".into())));
    let nothing = TypeCode::build(|to| {
        let void = to.basic::<()>();
        to.sequence(void, 0)
    });
    assert_eq!(nothing, Err(TypeCodeError::NoValues(TCKind::Void)));
    let double = TypeCode::build(|to| to.union("", "U", None, |to| (to.basic::<f64>(), Vec::new())));
    assert_eq!(double, Err(TypeCodeError::BadDiscriminator(TCKind::Double)));
    assert_eq!(TypeCode::build(|to| to.fixed(32, 0)), Err(TypeCodeError::BadFixed));
    let mut other = None;
    TypeCode::build(|to| {
        let part = to.structure("IDL:S:1.0", "S", |_| Vec::new());
        other = Some(part);
        part
    })
    .expect("described");
    assert_eq!(TypeCode::build(|_| other.expect("kept")), Err(TypeCodeError::BadPart));
}

/// A sequence whose element is an indirection with this offset, which stands 16 octets from the kind's start.
fn forged(kind: u32, offset: i32) -> Vec<u8> {
    let mut to = Encoder::new(Format::default());
    to.write_u32(kind);
    to.encapsulation(|to| {
        if kind == 21 {
            to.write_string("IDL:A:1.0")?;
            to.write_string("A")?;
        }
        to.write_u32(u32::MAX);
        to.write_i32(offset);
        to.write_u32(0);
        Ok(())
    })
    .expect("encodes");
    to.slices().flatten().copied().collect()
}

#[test]
fn forged_indirections_are_refused() {
    // Itself, forward, outside on both sides, into the middle of something, and a sequence of itself.
    for offset in [0, -4, 4, 100, i32::MAX, i32::MIN, -100, -6, -8, -16] {
        let error = decode(&forged(19, offset), ByteOrder::NATIVE).expect_err("refused");
        assert!(
            matches!(error.kind, DecodeErrorKind::Invalid(why) if why.contains("indirection")),
            "{offset}: {error}"
        );
    }
    for offset in (-64..64).step_by(4) {
        assert!(decode(&forged(21, offset), ByteOrder::NATIVE).is_err(), "an alias of itself: {offset}");
    }
    let outermost: Vec<u8> = [u32::MAX, -4i32 as u32].into_iter().flat_map(u32::to_ne_bytes).collect();
    assert!(decode(&outermost, ByteOrder::NATIVE).is_err());
}

#[test]
fn depth_and_counts_are_bounded() {
    fn nest(levels: usize, to: &mut Encoder<'static>) {
        if levels == 0 {
            return to.write_u32(3);
        }
        to.write_u32(19);
        to.encapsulation(|to| {
            nest(levels - 1, to);
            to.write_u32(0);
            Ok(())
        })
        .expect("encodes");
    }
    for (levels, fine) in [(100, true), (101, false), (1_000, false)] {
        let mut to = Encoder::new(Format::default());
        nest(levels, &mut to);
        let octets: Vec<u8> = to.slices().flatten().copied().collect();
        assert_eq!(decode(&octets, ByteOrder::NATIVE).is_ok(), fine, "{levels}");
    }
    let mut to = Encoder::new(Format::default());
    to.write_u32(17);
    to.encapsulation(|to| {
        to.write_string("")?;
        to.write_string("")?;
        to.write_u32(u32::MAX);
        Ok(())
    })
    .expect("encodes");
    let error = decode(&to.to_bytes(), ByteOrder::NATIVE).expect_err("refused");
    assert!(matches!(error.kind, DecodeErrorKind::LengthBeyondEnd { length: u32::MAX, .. }), "{error}");
}

#[test]
fn every_cut_and_every_changed_octet_ends() {
    let whole = octets(&everything(), 0);
    for end in 0..whole.len() {
        assert!(decode(&whole[..end], ByteOrder::NATIVE).is_err(), "cut at {end}");
    }
    for at in 0..whole.len() {
        for value in [0, 1, 0x13, 0x7f, 0xff] {
            let mut changed = whole.clone();
            changed[at] = value;
            for order in [ByteOrder::Big, ByteOrder::Little] {
                if let Ok(of) = decode(&changed, order) {
                    // What was accepted can be compared and walked without end being lost.
                    assert!(of.equivalent(&of));
                    let _ = Encode::encode(&of, &mut Encoder::new(Format::default()));
                }
            }
        }
    }
}
