//! A value as a [`Tree`].

use std::cell::Cell;

use rustc_apfloat::ieee::{Double, Quad};
use rustc_apfloat::{Float, FloatConvert};
use zorb_cdr::{Any, Char, Decode, DecodeError, Decoder, LongDouble, TCKind, TypeCode, WChar};
use zorb_orb::ObjectRef;

use super::bits;
use super::compose::{member_name, member_of, named};
use super::graph::settled;
use super::tree::Tree;
use super::{Notation, WrittenError};
use crate::form::Form;

impl From<DecodeError> for WrittenError {
    fn from(error: DecodeError) -> Self {
        WrittenError::new(error.to_string())
    }
}

pub(super) type Shown = Result<Tree, WrittenError>;

/// Steps that showing any value may take, and how many more for each octet: a type of few octets can describe values without end. As many as
/// reading it takes, and one for each number, which reading passes over.
const STEPS: usize = 65_536;
const STEPS_PER_OCTET: usize = 17;

/// Octets of repository ids that values say they are of, and how many more for each octet: a value can mean one again that came before.
const TOLD: usize = 1 << 20;
const TOLD_PER_OCTET: usize = 16;

impl Notation<'_> {
    pub(super) fn show(&self, value: &Any) -> Shown {
        let mut from = value.decoder().with_context(self.orb);
        let steps = STEPS.saturating_add(from.remaining().saturating_mul(STEPS_PER_OCTET));
        let told = TOLD.saturating_add(from.remaining().saturating_mul(TOLD_PER_OCTET));
        let show = Show { notation: self, any: value, steps: Cell::new(steps), told: Cell::new(told) };
        show.part(value.type_code(), self.form, &mut from).map(settled)
    }
}

pub(super) struct Show<'s> {
    pub(super) notation: &'s Notation<'s>,
    /// The whole, of which parts are shown.
    pub(super) any: &'s Any,
    steps: Cell<usize>,
    told: Cell<usize>,
}

impl Show<'_> {
    pub(super) fn part(&self, of: &TypeCode, form: &Form, from: &mut Decoder<'_>) -> Shown {
        let (ty, form) = &self.notation.repository.unaliased(of, form);
        self.step()?;
        // What nests has no frame of what does not on its stack.
        match ty.kind() {
            TCKind::Value | TCKind::ValueBox | TCKind::Event => self.value(Some(ty), from),
            TCKind::AbstractInterface => self.either(from),
            TCKind::Except
            | TCKind::Struct
            | TCKind::Union
            | TCKind::Sequence
            | TCKind::Array
            | TCKind::Any => self.nested(from, |from| self.parts(ty, form, from)),
            _ => self.leaf(of, ty, form, from),
        }
    }

    fn step(&self) -> Result<(), WrittenError> {
        let left = self.steps.get().checked_sub(1);
        self.steps.set(left.ok_or_else(|| WrittenError::new("its type describes more values than octets"))?);
        Ok(())
    }

    fn parts(&self, ty: &TypeCode, form: &Form, from: &mut Decoder<'_>) -> Shown {
        match ty.kind() {
            TCKind::Except => {
                ty.read_exception_id(from)?;
                self.structure(ty, from)
            }
            TCKind::Struct => self.structure(ty, from),
            TCKind::Union => self.union(ty, from),
            TCKind::Sequence => {
                let count = ty.read_count(from)?;
                self.run(ty, form, count, from)
            }
            TCKind::Array => self.run(ty, form, ty.length().unwrap_or(0) as usize, from),
            _ => {
                let inner = TypeCode::decode(from)?;
                self.any(&inner, from)
            }
        }
    }

    /// What stands where an abstract interface is declared.
    fn either(&self, from: &mut Decoder<'_>) -> Shown {
        if from.read_bool()? { self.reference(from) } else { self.value(None, from) }
    }

    /// What has no parts.
    #[inline(never)]
    fn leaf(&self, of: &TypeCode, ty: &TypeCode, form: &Form, from: &mut Decoder<'_>) -> Shown {
        Ok(match ty.kind() {
            _ if let Form::Bitmask(it) = form
                && bits::fit(it, ty) =>
            {
                bits::show_mask(of, it, from)?
            }
            _ if let Form::Bitset(it) = form
                && bits::fit(it, ty) =>
            {
                bits::show_set(of, it, from)?
            }
            TCKind::Octet if *form == Form::Int8 => whole(from.read_u8()? as i8),
            TCKind::Null | TCKind::Void => Tree::Null,
            TCKind::Short => whole(from.read_i16()?),
            TCKind::Long => whole(from.read_i32()?),
            TCKind::UShort => whole(from.read_u16()?),
            TCKind::ULong => whole(from.read_u32()?),
            TCKind::LongLong => whole(from.read_i64()?),
            TCKind::ULongLong => whole(from.read_u64()?),
            TCKind::Octet => whole(from.read_u8()?),
            // The shortest text that is read as the same number.
            TCKind::Float => float(from.read_f32()?.into(), |it| format!("{:?}", it as f32)),
            TCKind::Double => float(from.read_f64()?, |it| format!("{it:?}")),
            TCKind::LongDouble => long_double(from.read_long_double()?),
            TCKind::Boolean => Tree::Boolean(from.read_bool()?),
            TCKind::Char => character(from.read_char()?),
            TCKind::WChar => wide_character(from.read_wchar()?),
            TCKind::String => Tree::Text(from.read_string()?),
            TCKind::WString => Tree::Text(from.read_wstring()?),
            TCKind::Fixed => {
                let digits = ty.fixed_digits().unwrap_or(0) as u8;
                let value = from.read_fixed(digits, ty.fixed_scale().unwrap_or(0) as u8)?;
                Tree::Word(value.to_string())
            }
            TCKind::Enum => {
                let index = from.read_u32()?;
                match ty.member_name(index as usize) {
                    Some(name) => Tree::Word(name.to_owned()),
                    None => {
                        return Err(WrittenError::new(format!("{} has no enumerator {index}", named(ty))));
                    }
                }
            }
            TCKind::TypeCode => Tree::Word(self.notation.repository.type_name(&TypeCode::decode(from)?)),
            TCKind::ObjRef | TCKind::Component | TCKind::Home => self.reference(from)?,
            kind => return Err(WrittenError::new(format!("a {kind} has no text"))),
        })
    }

    /// Counts what a value says of its type.
    pub(super) fn tell(&self, octets: usize) -> Result<(), WrittenError> {
        let left = self.told.get().checked_sub(octets);
        let why = || WrittenError::new("its values say more of their types than is written");
        self.told.set(left.ok_or_else(why)?);
        Ok(())
    }

    /// One level deeper, of as many as the decoder allows.
    pub(super) fn nested(
        &self,
        from: &mut Decoder<'_>,
        show: impl FnOnce(&mut Decoder<'_>) -> Shown,
    ) -> Shown {
        from.nested(|from| Ok(show(from)))?
    }

    fn structure(&self, ty: &TypeCode, from: &mut Decoder<'_>) -> Shown {
        let members = (0..ty.member_count().unwrap_or(0)).map(|index| {
            let (name, form) = (member_name(ty, index), self.form(ty, index));
            let ty = ty.member_type(index).unwrap_or_default();
            let value = self.part(&ty, &form, from).map_err(|error| error.within(&name))?;
            Ok((name, value))
        });
        Ok(Tree::Members(members.collect::<Result<_, WrittenError>>()?))
    }

    fn union(&self, ty: &TypeCode, from: &mut Decoder<'_>) -> Shown {
        let switched = ty.discriminator_type().unwrap_or_default();
        let (switched, form) = self.notation.repository.unaliased(&switched, &self.form(ty, 0));
        let (label, case) = label(&switched, &form, from)?;
        let Some(index) = member_of(ty, label) else {
            return Ok(Tree::Members(vec![("$case".to_owned(), case)]));
        };
        let name = member_name(ty, index);
        let form = self.form(ty, index + 1);
        let value = self.part(&ty.member_type(index).unwrap_or_default(), &form, from);
        let value = value.map_err(|error| error.within(&name))?;
        // The member alone tells its first label.
        let first = (0..=index).find(|it| member_name(ty, *it) == name).unwrap_or(index);
        let is_default = ty.default_index() == i32::try_from(first).ok();
        let told = !is_default && ty.member_label(first) == Some(label);
        let mut members = vec![(name, value)];
        if !told {
            members.push(("$case".to_owned(), case));
        }
        Ok(Tree::Members(members))
    }

    /// What IDL says of a part.
    pub(super) fn form(&self, of: &TypeCode, part: usize) -> Form {
        self.notation.repository.part_form(of.id().unwrap_or_default(), part)
    }

    fn run(&self, ty: &TypeCode, form: &Form, count: usize, from: &mut Decoder<'_>) -> Shown {
        if let Some((key, value)) = super::pair(ty) {
            return self.pairs((&key, &value), form, count, from);
        }
        let element = ty.content_type().unwrap_or_default();
        let (resolved, element_form) = self.notation.repository.unaliased(&element, &form.elements());
        // What IDL has as numbers or bits is shown so.
        if resolved.kind() == TCKind::Octet && element_form == Form::AsDescribed {
            return Ok(Tree::Octets(from.read_octets(count)?.into_owned()));
        }
        let form = form.elements();
        let items = (0..count).map(|index| self.part(&element, &form, from).map_err(|error| error.at(index)));
        Ok(Tree::List(items.collect::<Result<_, _>>()?))
    }

    fn any(&self, ty: &TypeCode, from: &mut Decoder<'_>) -> Shown {
        let value = self.part(ty, &Form::AsDescribed, from).map_err(|error| error.within("value"))?;
        if ty.kind() == TCKind::Null {
            return Ok(Tree::Null);
        }
        let ty = Tree::Word(self.notation.repository.type_name(ty));
        Ok(Tree::Members(vec![("type".to_owned(), ty), ("value".to_owned(), value)]))
    }

    fn reference(&self, from: &mut Decoder<'_>) -> Shown {
        Ok(match ObjectRef::decode(from)? {
            Some(object) => Tree::Word(self.notation.orb.object_to_string(Some(&object))),
            None => Tree::Null,
        })
    }
}

fn whole(number: impl ToString) -> Tree {
    Tree::Number(number.to_string())
}

fn float(number: f64, print: impl FnOnce(f64) -> String) -> Tree {
    match number {
        _ if number.is_nan() => Tree::Word("NaN".to_owned()),
        f64::INFINITY => Tree::Word("Infinity".to_owned()),
        f64::NEG_INFINITY => Tree::Word("-Infinity".to_owned()),
        _ => Tree::Number(print(number)),
    }
}

/// A number where what is written of a double is read as the same; otherwise a word, which JSON has as a string. The shortest text of a
/// double is not enough: `0.1` is another number in twice the digits.
fn long_double(number: LongDouble) -> Tree {
    let value = Quad::from_bits(number.to_bits());
    if value.is_nan() || value.is_infinite() {
        return float(number.to_f64(), |it| it.to_string());
    }
    let rounded: Double = value.convert(&mut false).value;
    let double = f64::from_bits(rounded.to_bits() as u64);
    // Of several texts that are equally short the one that JSON has.
    let text = serde_json::Number::from_f64(double).map(|number| number.to_string());
    let same = |text: &String| text.parse::<Quad>().is_ok_and(|read| read.to_bits() == value.to_bits());
    text.filter(same).map_or_else(|| Tree::Word(value.to_string()), Tree::Number)
}

fn character(Char(octet): Char) -> Tree {
    Tree::Text(char::from(octet).to_string())
}

/// Half of a surrogate pair is no text.
fn wide_character(WChar(unit): WChar) -> Tree {
    match char::from_u32(unit.into()) {
        Some(letter) => Tree::Text(letter.to_string()),
        None => whole(unit),
    }
}

/// A union's discriminator: its 64 bits, and as it is written.
fn label(ty: &TypeCode, form: &Form, from: &mut Decoder<'_>) -> Result<(i64, Tree), WrittenError> {
    macro_rules! number {
        ($read:ident) => {{
            let number = from.$read()?;
            (number as i64, whole(number))
        }};
    }
    Ok(match ty.kind() {
        TCKind::Short => number!(read_i16),
        TCKind::Long => number!(read_i32),
        TCKind::UShort => number!(read_u16),
        TCKind::ULong => number!(read_u32),
        TCKind::LongLong => number!(read_i64),
        TCKind::ULongLong => number!(read_u64),
        TCKind::Octet if *form == Form::Int8 => {
            let octet = from.read_u8()?;
            (octet.into(), whole(octet as i8))
        }
        TCKind::Octet => number!(read_u8),
        TCKind::Boolean => {
            let value = from.read_bool()?;
            (value.into(), Tree::Boolean(value))
        }
        TCKind::Char => {
            let value = from.read_char()?;
            (value.0.into(), character(value))
        }
        TCKind::WChar => {
            let value = from.read_wchar()?;
            (value.0.into(), wide_character(value))
        }
        _ => {
            let index = from.read_u32()?;
            match ty.member_name(index as usize) {
                Some(name) => (index.into(), Tree::Word(name.to_owned())),
                None => return Err(WrittenError::new(format!("{} has no enumerator {index}", named(ty)))),
            }
        }
    })
}
