//! A [`Tree`] into a value of a type.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustc_apfloat::Float;
use rustc_apfloat::ieee::Quad;
use zorb_cdr::{
    Any, ByteOrder, Char, CodeSets, Decoder, Encode, EncodeError, Encoder, Fixed, Format, LongDouble, TCKind,
    TypeCode, Version, WChar,
};
use zorb_orb::ObjectRef;

use super::bits;
use super::compose_value::{Due, Graph};
use super::tree::{Tree, shortened};
use super::{Notation, WrittenError};
use crate::form::Form;

pub(super) type Composed = Result<(), WrittenError>;

const FORMAT: Format = Format { version: Version::V1_2, code_sets: CodeSets::UNICODE };

impl Notation<'_> {
    pub(super) fn compose(&self, tree: &Tree, ty: &TypeCode) -> Result<Any, WrittenError> {
        let mut to = Encoder::new(FORMAT);
        let mut composer = Composer { notation: self, to: &mut to, graph: Graph::default() };
        composer.value(tree, ty, self.form)?;
        let has_rest = composer.graph.has_rest;
        let used = composer.graph.into_used();
        let octets = to.to_bytes();
        let mut from = Decoder::new(&octets, ByteOrder::NATIVE, FORMAT).with_context(&used);
        // What nests too deeply, or has no form in an any, the codec knows best.
        let value = Any::decode_value(ty.clone(), &mut from);
        let value = value.map_err(|error| WrittenError::new(error.to_string()))?;
        // Octets that were made up may seem to lead to a value.
        if has_rest {
            self.show(&value)?;
        }
        Ok(value)
    }
}

pub(super) struct Composer<'c, 'e> {
    pub(super) notation: &'c Notation<'c>,
    pub(super) to: &'e mut Encoder<'static>,
    pub(super) graph: Graph,
}

impl From<EncodeError> for WrittenError {
    fn from(error: EncodeError) -> Self {
        WrittenError::new(error.to_string())
    }
}

pub(super) fn refused<T>(problem: String) -> Result<T, WrittenError> {
    Err(WrittenError::new(problem))
}

/// What was written where something else should be.
pub(super) fn other<T>(tree: &Tree, expected: &str) -> Result<T, WrittenError> {
    refused(format!("{} is no {expected}", tree.called()))
}

impl Composer<'_, '_> {
    pub(super) fn value(&mut self, tree: &Tree, of: &TypeCode, form: &Form) -> Composed {
        let (ty, form) = &self.notation.repository.unaliased(of, form);
        match ty.kind() {
            _ if let Form::Bitmask(it) = form
                && bits::fit(it, ty) =>
            {
                bits::compose_mask(tree, of, it, self.to)?;
            }
            _ if let Form::Bitset(it) = form
                && bits::fit(it, ty) =>
            {
                bits::compose_set(tree, of, it, self.to)?;
            }
            TCKind::Null | TCKind::Void => match tree {
                Tree::Null => {}
                _ => return other(tree, "null, which is all that this type has"),
            },
            TCKind::Short => self.to.write_i16(integer(tree, "short")?),
            TCKind::Long => self.to.write_i32(integer(tree, "long")?),
            TCKind::UShort => self.to.write_u16(integer(tree, "unsigned short")?),
            TCKind::ULong => self.to.write_u32(integer(tree, "unsigned long")?),
            TCKind::LongLong => self.to.write_i64(integer(tree, "long long")?),
            TCKind::ULongLong => self.to.write_u64(integer(tree, "unsigned long long")?),
            TCKind::Octet => self.octet(tree, form)?,
            TCKind::Float => self.to.write_f32(float(tree)?),
            TCKind::Double => self.to.write_f64(double(tree)?),
            TCKind::LongDouble => self.to.write_long_double(long_double(tree)?),
            TCKind::Boolean => match tree {
                Tree::Boolean(it) => self.to.write_bool(*it),
                _ => return other(tree, "boolean: true or false"),
            },
            TCKind::Char => self.to.write_char(character(tree)?),
            TCKind::WChar => self.to.write_wchar(wide_character(tree)?)?,
            TCKind::String => {
                let text = string(tree, ty)?;
                bounded(text.chars().count(), ty.length(), "characters")?;
                self.to.write_string(text)?;
            }
            TCKind::WString => {
                let text = string(tree, ty)?;
                bounded(text.encode_utf16().count(), ty.length(), "characters")?;
                self.to.write_wstring(text)?;
            }
            TCKind::Fixed => self.fixed(tree, ty)?,
            TCKind::Enum => {
                let index = enumerator(tree, ty)?;
                self.to.write_u32(index);
            }
            TCKind::Struct => self.structure(tree, ty)?,
            TCKind::Except => {
                self.to.write_raw_string(ty.id().unwrap_or_default().as_bytes())?;
                self.structure(tree, ty)?;
            }
            TCKind::Union => self.union(tree, ty)?,
            TCKind::Sequence | TCKind::Array => self.run(tree, ty, form)?,
            TCKind::Any => self.any(tree)?,
            TCKind::TypeCode => self.type_code(tree)?.encode_owned(self.to)?,
            TCKind::ObjRef | TCKind::Component | TCKind::Home => self.reference(tree)?,
            TCKind::AbstractInterface => {
                let is_value = matches!(tree, Tree::Null | Tree::Members(_));
                self.to.write_bool(!is_value);
                if is_value {
                    self.valuetype(tree, Due::Of(ty))?;
                } else {
                    self.reference(tree)?;
                }
            }
            TCKind::Value | TCKind::ValueBox | TCKind::Event => self.valuetype(tree, Due::Of(ty))?,
            kind => return refused(format!("a {kind} cannot be written as text")),
        }
        Ok(())
    }

    fn fixed(&mut self, tree: &Tree, ty: &TypeCode) -> Composed {
        let (Tree::Text(text) | Tree::Number(text) | Tree::Word(text)) = tree else {
            return other(tree, "fixed: digits, perhaps with a point");
        };
        let digits = ty.fixed_digits().unwrap_or(0) as u8;
        let scale = ty.fixed_scale().unwrap_or(0) as u8;
        let value: Fixed = match text.parse() {
            Ok(value) => value,
            Err(_) => return other(tree, "fixed: digits, perhaps with a point"),
        };
        if value.truncate(scale) != value {
            return refused(format!("{} has more than {scale} digits behind the point", tree.called()));
        }
        self.to.write_fixed(value, digits, scale).map_err(|_| {
            WrittenError::new(format!("{} is out of range for fixed<{digits},{scale}>", tree.called()))
        })
    }

    fn octet(&mut self, tree: &Tree, form: &Form) -> Composed {
        let octet = match form {
            Form::Int8 => integer::<i8>(tree, "int8")? as u8,
            Form::UInt8 => integer(tree, "uint8")?,
            _ => integer(tree, "octet")?,
        };
        self.to.write_u8(octet);
        Ok(())
    }

    /// The struct that a pair of a map is.
    fn pair(&mut self, tree: &Tree, ty: &TypeCode, form: &Form) -> Composed {
        let names = ["key".to_owned(), "value".to_owned()];
        let (key, value) = form.pair();
        for ((name, tree), (index, form)) in
            members_of(tree, ty, &names)?.into_iter().zip([(0, key), (1, value)])
        {
            let ty = ty.member_type(index).unwrap_or_default();
            self.value(tree, &ty, &form).map_err(|error| error.within(name))?;
        }
        Ok(())
    }

    fn structure(&mut self, tree: &Tree, ty: &TypeCode) -> Composed {
        let count = ty.member_count().unwrap_or(0);
        let names: Vec<String> = (0..count).map(|index| member_name(ty, index)).collect();
        for (index, (name, value)) in members_of(tree, ty, &names)?.into_iter().enumerate() {
            let form = self.form(ty, index);
            let ty = ty.member_type(index).unwrap_or_default();
            self.value(value, &ty, &form).map_err(|error| error.within(name))?;
        }
        Ok(())
    }

    /// What IDL says of a part.
    pub(super) fn form(&self, of: &TypeCode, part: usize) -> Form {
        self.notation.repository.part_form(of.id().unwrap_or_default(), part)
    }

    fn union(&mut self, tree: &Tree, ty: &TypeCode) -> Composed {
        let Tree::Members(given) = tree else {
            return other(tree, &format!("{}: {{member: value}}", named(ty)));
        };
        let switched = ty.discriminator_type().unwrap_or_default();
        let (switched, switched_form) = self.notation.repository.unaliased(&switched, &self.form(ty, 0));
        let label = match given.iter().find(|(name, _)| name == "$case") {
            Some((_, tree)) => {
                Some(label(tree, &switched, &switched_form).map_err(|error| error.within("$case"))?)
            }
            None => None,
        };
        let mut members = given.iter().filter(|(name, _)| name != "$case");
        let chosen = members.next();
        if let Some((second, _)) = members.next() {
            return refused(format!("{} has one member at a time, and {second:?} is a second", named(ty)));
        }
        let names: Vec<String> =
            (0..ty.member_count().unwrap_or(0)).map(|index| member_name(ty, index)).collect();
        let Some((name, value)) = chosen else {
            let Some(label) = label else {
                return refused(format!("{} needs a member: {}", named(ty), names.join(", ")));
            };
            return match member_of(ty, label) {
                Some(index) => refused(format!("$case chooses {}, whose value is missing", names[index])),
                None => Ok(write_label(label, switched.kind(), self.to)?),
            };
        };
        let Some(first) = names.iter().position(|known| known == name) else {
            return refused(format!("{} has no member {name:?}: {}", named(ty), names.join(", ")));
        };
        let default = ty.default_index().and_then(|index| usize::try_from(index).ok());
        let (label, index) = match label {
            Some(label) => match member_of(ty, label) {
                Some(index) if names[index] == *name => (label, index),
                Some(index) => return refused(format!("$case chooses {}, not {name}", names[index])),
                None => return refused(format!("$case chooses no member, and {name} is given")),
            },
            None if Some(first) == default => {
                return refused(format!("{name} is the default member: $case says of which label"));
            }
            None => (ty.member_label(first).unwrap_or(0), first),
        };
        write_label(label, switched.kind(), self.to)?;
        // Behind that of the discriminator.
        let form = self.form(ty, index + 1);
        let ty = ty.member_type(index).unwrap_or_default();
        self.value(value, &ty, &form).map_err(|error| error.within(name))
    }

    fn run(&mut self, tree: &Tree, ty: &TypeCode, form: &Form) -> Composed {
        let pair = super::pair(ty);
        let element = ty.content_type().unwrap_or_default();
        let is_octets = element.unaliased().kind() == TCKind::Octet;
        let octets = match tree {
            Tree::Members(members) if is_octets => Some(self.octets(members)?),
            _ => None,
        };
        let count = match (tree, &octets) {
            (_, Some(octets)) => octets.len(),
            (Tree::List(items), _) => items.len(),
            (Tree::Members(members), _) if pair.is_some() => members.len(),
            _ if is_octets => {
                return other(
                    tree,
                    "list of octets: [1, 2], {base64: \"…\"}, {text: \"…\"} or {file: \"…\"}",
                );
            }
            _ => return other(tree, "list: [value, …]"),
        };
        match ty.kind() {
            TCKind::Array => {
                let length = ty.length().unwrap_or(0);
                if count != length as usize {
                    return refused(format!("an array of {length} elements was given {count}"));
                }
            }
            _ => {
                bounded(count, ty.length(), "elements")?;
                self.to.write_length(count)?;
            }
        }
        if let Some(octets) = octets {
            self.to.write_octets(&octets);
        } else if let Tree::List(items) = tree {
            let element_form = form.elements();
            for (index, item) in items.iter().enumerate() {
                let composed = match &pair {
                    Some(_) => self.pair(item, &element, form),
                    None => self.value(item, &element, &element_form),
                };
                composed.map_err(|error| error.at(index))?;
            }
        } else if let (Tree::Members(members), Some((key, value))) = (tree, &pair) {
            self.pairs(members, (key, value), form)?;
        }
        Ok(())
    }

    fn octets(&self, members: &[(String, Tree)]) -> Result<Vec<u8>, WrittenError> {
        let [(form, Tree::Text(text) | Tree::Word(text))] = members else {
            return refused("octets are given as one of base64, text and file, with a string".to_owned());
        };
        match form.as_str() {
            "text" => Ok(text.clone().into_bytes()),
            "base64" => {
                STANDARD.decode(text).map_err(|error| WrittenError::new(error.to_string()).within("base64"))
            }
            "file" if self.notation.files => std::fs::read(text)
                .map_err(|error| WrittenError::new(format!("cannot read {text}: {error}")).within("file")),
            "file" => refused("files are not read here".to_owned()),
            _ => refused(format!("octets are given as base64, text or file, not {form:?}")),
        }
    }

    fn any(&mut self, tree: &Tree) -> Composed {
        let members = match tree {
            Tree::Null => &Vec::new(),
            Tree::Members(members) => members,
            _ => return other(tree, "any: {type: \"…\", value: …}"),
        };
        if let Some((unknown, _)) =
            members.iter().find(|(name, _)| !matches!(name.as_str(), "type" | "value"))
        {
            return refused(format!("an any has type and value, not {unknown:?}"));
        }
        let part = |name: &str| members.iter().find(|(known, _)| known == name).map(|(_, tree)| tree);
        let (ty, form) = match (part("type"), tree) {
            (Some(ty), _) => self.formed_type(ty).map_err(|error| error.within("type"))?,
            (None, Tree::Null) => (TypeCode::NULL, Form::AsDescribed),
            (None, _) => return refused("type is missing in an any: {type: \"…\", value: …}".to_owned()),
        };
        ty.clone().encode_owned(self.to)?;
        let value = part("value").unwrap_or(&Tree::Null);
        self.value(value, &ty, &form).map_err(|error| error.within("value"))
    }

    fn type_code(&self, tree: &Tree) -> Result<TypeCode, WrittenError> {
        self.formed_type(tree).map(|(ty, _)| ty)
    }

    fn formed_type(&self, tree: &Tree) -> Result<(TypeCode, Form), WrittenError> {
        let (Tree::Text(text) | Tree::Word(text)) = tree else { return other(tree, "type's name") };
        self.notation.repository.formed_type(text).map_err(|error| WrittenError::new(error.to_string()))
    }

    fn reference(&mut self, tree: &Tree) -> Composed {
        let object = match tree {
            Tree::Null => None,
            Tree::Text(text) | Tree::Word(text) => {
                let object = self.notation.orb.string_to_object(text);
                object.map_err(|error| {
                    WrittenError::new(format!("{} is no reference: {}", shortened(text), error.detail()))
                })?
            }
            _ => return other(tree, "reference: IOR:…, corbaloc:…, corbaname:… or null"),
        };
        Ok(ObjectRef::encode(object.as_ref(), self.to)?)
    }
}

/// Writes a union's discriminator of this kind, of which `label` has the bits.
pub(crate) fn write_label(label: i64, kind: TCKind, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    match kind {
        TCKind::Short | TCKind::UShort => to.write_u16(label as u16),
        TCKind::Long | TCKind::ULong | TCKind::Enum => to.write_u32(label as u32),
        TCKind::LongLong | TCKind::ULongLong => to.write_u64(label as u64),
        TCKind::Boolean => to.write_bool(label != 0),
        TCKind::WChar => to.write_wchar(WChar(label as u16))?,
        _ => to.write_u8(label as u8),
    }
    Ok(())
}

/// What is given for each of these members, in their order.
fn members_of<'t>(
    tree: &'t Tree,
    ty: &TypeCode,
    names: &'t [String],
) -> Result<Vec<(&'t str, &'t Tree)>, WrittenError> {
    let Tree::Members(given) = tree else {
        return other(tree, &format!("{}: {{member: value, …}}", named(ty)));
    };
    chosen(&given.iter().collect::<Vec<_>>(), ty, names)
}

/// The same of pairs that were told apart from others.
pub(super) fn chosen<'t>(
    given: &[&'t (String, Tree)],
    ty: &TypeCode,
    names: &'t [String],
) -> Result<Vec<(&'t str, &'t Tree)>, WrittenError> {
    if let Some((unknown, _)) = given.iter().find(|(name, _)| !names.contains(name)) {
        let there = if names.is_empty() { "it has none".to_owned() } else { names.join(", ") };
        return refused(format!("{} has no member {unknown:?}: {there}", named(ty)));
    }
    let find = |name: &'t String| match given.iter().find(|(given, _)| given == name) {
        Some((_, value)) => Ok((name.as_str(), value)),
        None => refused(format!("{name} is missing in {}", named(ty))),
    };
    names.iter().map(find).collect()
}

/// The type for people: its name, or what it is.
pub(super) fn named(ty: &TypeCode) -> String {
    match ty.name() {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => ty.kind().to_string(),
    }
}

/// A member's name; of one without a name its position.
pub(super) fn member_name(ty: &TypeCode, index: usize) -> String {
    match ty.member_name(index) {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => format!("${index}"),
    }
}

/// Which member of a union a label chooses.
pub(super) fn member_of(ty: &TypeCode, label: i64) -> Option<usize> {
    let default = ty.default_index().and_then(|index| usize::try_from(index).ok());
    let labelled = (0..ty.member_count().unwrap_or(0)).filter(|index| Some(*index) != default);
    labelled.into_iter().find(|index| ty.member_label(*index) == Some(label)).or(default)
}

fn bounded(count: usize, bound: Option<u32>, what: &str) -> Composed {
    match bound {
        Some(bound) if bound > 0 && count > bound as usize => {
            refused(format!("{count} {what} are more than the {bound} that it may have"))
        }
        _ => Ok(()),
    }
}

pub(super) fn integer<T: TryFrom<i128>>(tree: &Tree, name: &str) -> Result<T, WrittenError> {
    let (Tree::Number(text) | Tree::Text(text)) = tree else { return other(tree, name) };
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let parsed = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) if !hex.starts_with(['-', '+']) => i128::from_str_radix(hex, 16),
        _ if !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()) => digits.parse(),
        _ => return other(tree, name),
    };
    let in_range = match parsed {
        Ok(number) => T::try_from(sign * number).ok(),
        Err(error) if *error.kind() == std::num::IntErrorKind::PosOverflow => None,
        Err(_) => return other(tree, name),
    };
    match in_range {
        Some(number) => Ok(number),
        None => refused(format!("{} is out of range for {name}", tree.called())),
    }
}

/// What a number is written as, and the three that have names.
fn number(tree: &Tree, name: &str) -> Result<String, WrittenError> {
    match tree {
        Tree::Number(text) => Ok(text.clone()),
        Tree::Text(text) | Tree::Word(text) if matches!(text.as_str(), "NaN" | "Infinity" | "-Infinity") => {
            Ok(text.clone())
        }
        _ => other(tree, name),
    }
}

fn double(tree: &Tree) -> Result<f64, WrittenError> {
    let text = number(tree, "double")?;
    match text.parse::<f64>() {
        Ok(number) if number.is_infinite() && !text.contains("Inf") => {
            refused(format!("{} is out of range for double", tree.called()))
        }
        Ok(number) => Ok(number),
        Err(_) => other(tree, "double"),
    }
}

fn float(tree: &Tree) -> Result<f32, WrittenError> {
    let text = number(tree, "float")?;
    match text.parse::<f32>() {
        Ok(number) if number.is_infinite() && !text.contains("Inf") => {
            refused(format!("{} is out of range for float", tree.called()))
        }
        Ok(number) => Ok(number),
        Err(_) => other(tree, "float"),
    }
}

fn long_double(tree: &Tree) -> Result<LongDouble, WrittenError> {
    let text = match tree {
        // What is too precise for a number of JSON comes as a string.
        Tree::Text(text) if text.parse::<f64>().is_ok() => text.clone(),
        _ => number(tree, "long double")?,
    };
    let value = match text.as_str() {
        "NaN" => Quad::NAN,
        "Infinity" => Quad::INFINITY,
        "-Infinity" => -Quad::INFINITY,
        _ if text.parse::<f64>().is_err() => return other(tree, "long double"),
        _ => match text.parse::<Quad>() {
            Ok(value) if value.is_infinite() => {
                return refused(format!("{} is out of range for long double", tree.called()));
            }
            Ok(value) => value,
            Err(_) => return other(tree, "long double"),
        },
    };
    Ok(LongDouble::from_bits(value.to_bits()))
}

fn string<'t>(tree: &'t Tree, ty: &TypeCode) -> Result<&'t str, WrittenError> {
    match tree {
        Tree::Text(text) | Tree::Word(text) => Ok(text),
        _ => other(tree, &format!("{}: a text in quotation marks", ty.kind())),
    }
}

fn one_letter(tree: &Tree) -> Option<char> {
    let (Tree::Text(text) | Tree::Word(text)) = tree else { return None };
    let mut letters = text.chars();
    letters.next().filter(|_| letters.next().is_none())
}

fn character(tree: &Tree) -> Result<Char, WrittenError> {
    match one_letter(tree) {
        Some(letter) => match u8::try_from(u32::from(letter)) {
            Ok(octet) => Ok(Char(octet)),
            Err(_) => refused(format!("{} is not in ISO 8859-1, and no char", tree.called())),
        },
        None => other(tree, "char: one character"),
    }
}

fn wide_character(tree: &Tree) -> Result<WChar, WrittenError> {
    if let Tree::Number(_) = tree {
        return Ok(WChar(integer(tree, "wchar")?));
    }
    match one_letter(tree) {
        Some(letter) => match u16::try_from(u32::from(letter)) {
            Ok(unit) => Ok(WChar(unit)),
            Err(_) => refused(format!("{} takes two units of UTF-16, and is no wchar", tree.called())),
        },
        None => other(tree, "wchar: one character"),
    }
}

fn enumerator(tree: &Tree, ty: &TypeCode) -> Result<u32, WrittenError> {
    let count = ty.member_count().unwrap_or(0);
    if let Tree::Text(name) | Tree::Word(name) = tree
        && let Some(index) = (0..count).find(|index| ty.member_name(*index) == Some(name))
    {
        return Ok(index as u32);
    }
    const MOST: usize = 8;
    let names = (0..count.min(MOST)).filter_map(|index| ty.member_name(index));
    let more = if count > MOST { ", …" } else { "" };
    other(tree, &format!("{}: {}{more}", named(ty), names.collect::<Vec<_>>().join(", ")))
}

fn label(tree: &Tree, ty: &TypeCode, form: &Form) -> Result<i64, WrittenError> {
    Ok(match ty.kind() {
        // A TypeCode has the octet that it is described as.
        TCKind::Octet if *form == Form::Int8 => (integer::<i8>(tree, "int8")? as u8).into(),
        TCKind::Short => integer::<i16>(tree, "short")?.into(),
        TCKind::Long => integer::<i32>(tree, "long")?.into(),
        TCKind::UShort => integer::<u16>(tree, "unsigned short")?.into(),
        TCKind::ULong => integer::<u32>(tree, "unsigned long")?.into(),
        TCKind::LongLong => integer(tree, "long long")?,
        TCKind::ULongLong => integer::<u64>(tree, "unsigned long long")? as i64,
        TCKind::Octet => integer::<u8>(tree, "octet")?.into(),
        TCKind::Boolean => match tree {
            Tree::Boolean(it) => (*it).into(),
            _ => return other(tree, "boolean: true or false"),
        },
        TCKind::Char => character(tree)?.0.into(),
        TCKind::WChar => wide_character(tree)?.0.into(),
        _ => enumerator(tree, ty)?.into(),
    })
}
