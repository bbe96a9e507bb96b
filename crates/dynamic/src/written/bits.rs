//! Bit masks and bit sets as text, where IDL says what their bits mean.

use zorb_cdr::{Decoder, Encoder, TCKind, TypeCode};

use super::WrittenError;
use super::compose::{Composed, integer, named, other, refused};
use super::show::Shown;
use super::tree::Tree;
use crate::form::{Bits, Field, FieldType};

/// The integer that it is described as holds so many bits.
const fn width(kind: TCKind) -> Option<u32> {
    Some(match kind {
        TCKind::Octet => 8,
        TCKind::UShort => 16,
        TCKind::ULong => 32,
        TCKind::ULongLong => 64,
        _ => return None,
    })
}

/// Whether values of this type may have such bits.
pub(super) fn fit(bits: &Bits, ty: &TypeCode) -> bool {
    width(ty.kind()).is_some_and(|width| u32::from(bits.bound) <= width)
}

const fn mask(width: u8) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

fn mask_of(field: &Field) -> u64 {
    mask(field.width).checked_shl(field.position.into()).unwrap_or(0)
}

fn named_bits(bits: &Bits) -> u64 {
    bits.fields.iter().map(mask_of).fold(0, |all, one| all | one)
}

fn names(bits: &Bits) -> String {
    let names: Vec<&str> = bits.fields.iter().map(|field| &*field.name).collect();
    if names.is_empty() { "it has none".to_owned() } else { names.join(", ") }
}

fn write(value: u64, ty: &TypeCode, to: &mut Encoder<'_>) {
    to.write_bits(value, width(ty.unaliased().kind()).unwrap_or(64));
}

/// An integer, of which no bit is set that has no name.
fn whole(tree: &Tree, bits: &Bits, name: &str) -> Result<u64, WrittenError> {
    let value: u64 = integer(tree, name)?;
    match value & !named_bits(bits) {
        0 => Ok(value),
        more => {
            refused(format!("{} sets bit {}, which {name} has not got", tree.called(), more.trailing_zeros()))
        }
    }
}

/// `[read, write]`: the names of the bits that are set, and the positions of those without names; or the integer.
pub(super) fn compose_mask(tree: &Tree, of: &TypeCode, bits: &Bits, to: &mut Encoder<'_>) -> Composed {
    let name = named(of);
    let Tree::List(items) = tree else {
        if !matches!(tree, Tree::Number(_)) {
            return other(tree, &format!("{name}: a list of its bits, [{}]", names(bits)));
        }
        write(whole(tree, bits, &name)?, of, to);
        return Ok(());
    };
    let mut value = 0;
    for (index, item) in items.iter().enumerate() {
        value |= flag(item, bits, &name).map_err(|error| error.at(index))?;
    }
    write(value, of, to);
    Ok(())
}

fn flag(item: &Tree, bits: &Bits, name: &str) -> Result<u64, WrittenError> {
    match item {
        Tree::Text(flag) | Tree::Word(flag) => match bits.fields.iter().find(|field| field.name == *flag) {
            Some(field) => Ok(mask_of(field)),
            None => refused(format!("{name} has no bit {flag:?}: {}", names(bits))),
        },
        Tree::Number(_) => {
            let position: u8 = integer(item, "position of a bit")?;
            match position < bits.bound {
                true => Ok(1 << position),
                false => refused(format!("{name} has {} bits, and none at {position}", bits.bound)),
            }
        }
        _ => other(item, &format!("bit of {name}: {}", names(bits))),
    }
}

/// `{kind: 1, last: true}`: every field; or the integer.
pub(super) fn compose_set(tree: &Tree, of: &TypeCode, bits: &Bits, to: &mut Encoder<'_>) -> Composed {
    let name = named(of);
    let Tree::Members(given) = tree else {
        if !matches!(tree, Tree::Number(_)) {
            return other(tree, &format!("{name}: {{field: value, …}}"));
        }
        write(whole(tree, bits, &name)?, of, to);
        return Ok(());
    };
    if let Some((unknown, _)) =
        given.iter().find(|(given, _)| !bits.fields.iter().any(|it| it.name == *given))
    {
        return refused(format!("{name} has no bitfield {unknown:?}: {}", names(bits)));
    }
    let mut value = 0;
    for field in &bits.fields {
        let Some((_, tree)) = given.iter().find(|(given, _)| *given == field.name) else {
            return refused(format!("{} is missing in {name}", field.name));
        };
        value |= field_bits(tree, field).map_err(|error| error.within(&field.name))? << field.position;
    }
    write(value, of, to);
    Ok(())
}

fn field_bits(tree: &Tree, field: &Field) -> Result<u64, WrittenError> {
    if let (FieldType::Boolean, Tree::Boolean(it)) = (field.as_type, tree) {
        return Ok((*it).into());
    }
    if field.as_type == FieldType::Boolean {
        return other(tree, "boolean: true or false");
    }
    let number: i128 = integer(tree, "number")?;
    let width = field.width;
    let (least, most) = match field.as_type {
        FieldType::Signed => (-(1_i128 << (width - 1)), (1_i128 << (width - 1)) - 1),
        _ => (0, i128::from(mask(width))),
    };
    match (least..=most).contains(&number) {
        true => Ok(number as u64 & mask(width)),
        false => refused(format!("{number} is out of range for {width} bits: {least} to {most}")),
    }
}

fn read(ty: &TypeCode, bits: &Bits, from: &mut Decoder<'_>) -> Result<u64, WrittenError> {
    let value = from.read_bits(width(ty.unaliased().kind()).unwrap_or(64), "bits")?;
    match value & !mask(bits.bound) {
        0 => Ok(value),
        _ => refused(format!("{} has a bit set that it has not got: {value:#x}", named(ty))),
    }
}

pub(super) fn show_mask(ty: &TypeCode, bits: &Bits, from: &mut Decoder<'_>) -> Shown {
    let value = read(ty, bits, from)?;
    let known = bits.fields.iter().filter(|field| value & mask_of(field) != 0);
    let mut items: Vec<Tree> = known.map(|field| Tree::Word(field.name.clone())).collect();
    let unknown = value & !named_bits(bits);
    let positions = (0..64).filter(|position| unknown >> position & 1 != 0);
    items.extend(positions.map(|position| Tree::Number(position.to_string())));
    Ok(Tree::List(items))
}

/// Bits without a name are left out, as generated code leaves them out.
pub(super) fn show_set(ty: &TypeCode, bits: &Bits, from: &mut Decoder<'_>) -> Shown {
    let value = read(ty, bits, from)?;
    let field = |field: &Field| {
        let held = value >> field.position & mask(field.width);
        let tree = match field.as_type {
            FieldType::Boolean => Tree::Boolean(held != 0),
            FieldType::Unsigned => Tree::Number(held.to_string()),
            FieldType::Signed => {
                let above = 64 - u32::from(field.width);
                Tree::Number(((held << above) as i64 >> above).to_string())
            }
        };
        (field.name.clone(), tree)
    };
    Ok(Tree::Members(bits.fields.iter().map(field).collect()))
}
