//! Anys from any bytes, taken apart and changed.

use crate::{Any, ByteOrder, CodeSets, Decode, Decoder, DynAny, Format, Version};

/// Reads an any, takes it apart, and puts it together again: as it was, and then after what the steps did to it.
///
/// ```text
/// octet 0   bit 0 byte order
/// octet 1   how many steps follow, modulo 32; then a step in each octet
/// rest      the any
/// ```
///
/// # Panics
/// Where what is put together is not what was taken apart: a fault of this crate.
pub fn dynamic(data: &[u8]) {
    let [settings, count, rest @ ..] = data else { return };
    let Some((steps, body)) = rest.split_at_checked(usize::from(count % 32)) else { return };
    let order = if settings & 1 == 0 { ByteOrder::NATIVE } else { ByteOrder::FOREIGN };
    let format = Format { version: Version::V1_2, code_sets: CodeSets::UNICODE };
    let Ok(any) = Any::decode(&mut Decoder::from_slice(body, order, format)) else { return };
    // What cannot be written, such as a value that has to be cut down to an unknown base, equals nothing.
    if any != any.clone() {
        return;
    }
    let Ok(mut value) = DynAny::from_any(&any) else { return };
    if let Ok(whole) = value.to_any() {
        assert!(whole == any, "an any is put together as it was taken apart");
    }
    assert!(value == value.clone(), "a copy is the same");
    let mut steps = steps.iter().copied();
    while steps.len() > 0 {
        change(&mut value, &mut steps);
    }
    assert_eq!(value.type_code(), any.type_code(), "a value keeps its type");
    if let Ok(whole) = value.to_any() {
        let again = DynAny::from_any(&whole).expect("what was put together can be taken apart");
        assert!(again == value, "a value survives being put together and taken apart");
    }
}

/// Goes to a component, or changes what it came to.
fn change(value: &mut DynAny, steps: &mut impl Iterator<Item = u8>) {
    let (Some(step), count) = (steps.next(), value.component_count()) else { return };
    let operand = usize::from(step >> 4);
    // Most of these are refused: what is refused changes nothing that a later step would fall over.
    let _ = match step & 15 {
        0..4 if count > 0 => return value.index(operand % count).map_or((), |part| change(part, steps)),
        4 => value.set_length(operand),
        5 => value.push().map(drop),
        6 => value.insert(&i32::from(step)),
        7 => value.insert_string("text").or_else(|_| value.insert_wstring("wide")),
        8 => value.set_ordinal(operand as u32),
        9 => value.set_fixed("-1.25").map(drop),
        10 => value.set_to_default_member().or_else(|_| value.set_to_value()),
        11 => value.set_to_no_active_member().or_else(|_| value.set_to_null()),
        12 => value.elements().and_then(|elements| value.set_elements(&elements)),
        13 => value.clone().current_component().and_then(|part| {
            let part = part.clone();
            value.current_component()?.assign(&part)
        }),
        14 => DynAny::new(value.type_code()).and_then(|new| value.assign(&new)),
        _ => {
            value.next();
            value.insert(&step)
        }
    };
    assert!(
        value.position().is_none_or(|at| at < value.component_count()),
        "a position indicates a component"
    );
}
