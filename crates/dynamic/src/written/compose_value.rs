//! A [`Tree`] into a value of a valuetype.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zorb_cdr::{ByteOrder, DecodeContext, TCKind, TypeCode};

use super::WrittenError;
use super::compose::{Composed, Composer, chosen, integer, named, other, refused};
use super::graph::{
    AGAIN, BASES, CODEBASE, KEYS, LABEL, REST, TYPE, VALUE, VALUE_BASE, inherits, is_described, is_value,
    lineage, tells_state,
};
use super::show_value::ORDERS;
use super::tree::{Tree, shortened};
use crate::repository::Content;

type Text = Arc<[u8]>;

/// What is known of the values in what is composed.
#[derive(Default)]
pub(super) struct Graph {
    /// By label: where the value began, and what it is.
    labels: HashMap<String, (usize, Of)>,
    /// Repository ids and lists of them, so that a message has each once.
    texts: HashMap<String, Text>,
    lists: HashMap<Vec<String>, Arc<[Text]>>,
    /// Types to which what is declared does not lead.
    used: HashMap<String, TypeCode>,
    /// There are octets whose meaning is not known.
    pub(super) has_rest: bool,
}

/// What reads the composed value again.
pub(super) struct Used(HashMap<String, TypeCode>);

impl DecodeContext for Used {
    fn described_value(&self, id: &str) -> Option<TypeCode> {
        self.0.get(id).cloned()
    }
}

impl Graph {
    pub(super) fn into_used(self) -> Used {
        Used(self.used)
    }

    fn ids(&mut self, ids: Vec<String>) -> Arc<[Text]> {
        if let Some(list) = self.lists.get(&ids) {
            return list.clone();
        }
        let texts =
            ids.iter().map(|id| self.texts.entry(id.clone()).or_insert_with(|| id.as_bytes().into()).clone());
        let list: Arc<[Text]> = texts.collect();
        self.lists.insert(ids, list.clone());
        list
    }
}

/// Where a value stands.
#[derive(Clone, Copy)]
pub(super) enum Due<'t> {
    /// One of a type, or of one derived from it, is due.
    Of(&'t TypeCode),
    /// Among octets whose meaning is not known.
    Piece,
}

impl<'t> Due<'t> {
    fn declared(self) -> Option<&'t TypeCode> {
        match self {
            Due::Of(ty) => Some(ty),
            Due::Piece => None,
        }
    }
}

/// What a value is of.
#[derive(Clone)]
enum Of {
    Known(TypeCode),
    /// By its repository id alone.
    Unknown(String),
    /// What only the class of the value that holds it knows.
    Unnamed,
}

/// What is said of a value beside its members.
#[derive(Default)]
struct Told<'t> {
    ty: Option<&'t Tree>,
    label: Option<&'t Tree>,
    again: Option<&'t Tree>,
    value: Option<&'t Tree>,
    bases: Option<&'t Tree>,
    codebase: Option<&'t Tree>,
    rest: Option<&'t Tree>,
    members: Vec<&'t (String, Tree)>,
}

impl<'t> Told<'t> {
    /// `None`: nothing is said, and the tree is what a box holds.
    fn of(tree: &'t Tree) -> Option<Told<'t>> {
        let Tree::Members(given) = tree else { return None };
        let mut told = Told::default();
        for pair in given {
            let place = match pair.0.as_str() {
                TYPE => &mut told.ty,
                LABEL => &mut told.label,
                AGAIN => &mut told.again,
                VALUE => &mut told.value,
                BASES => &mut told.bases,
                CODEBASE => &mut told.codebase,
                REST => &mut told.rest,
                _ => {
                    told.members.push(pair);
                    continue;
                }
            };
            *place = Some(&pair.1);
        }
        (told.members.len() < given.len()).then_some(told)
    }
}

/// A label, a repository id, or another word.
fn word(tree: &Tree, what: &str) -> Result<String, WrittenError> {
    match tree {
        Tree::Number(text) | Tree::Text(text) | Tree::Word(text) => Ok(text.clone()),
        _ => other(tree, what),
    }
}

impl Composer<'_, '_> {
    /// A value, a boxed one, null, or one that stands elsewhere.
    pub(super) fn valuetype(&mut self, tree: &Tree, due: Due<'_>) -> Composed {
        if *tree == Tree::Null {
            self.to.write_u32(0);
            return Ok(());
        }
        let declared = due.declared();
        let told = match Told::of(tree) {
            Some(told) => told,
            None if declared.is_some_and(|ty| ty.kind() == TCKind::ValueBox) => {
                Told { value: Some(tree), ..Told::default() }
            }
            None => match tree {
                Tree::Members(members) => Told { members: members.iter().collect(), ..Told::default() },
                _ => {
                    return other(
                        tree,
                        &format!("{}: {{member: value, …}}", declared.map_or("value".to_owned(), named)),
                    );
                }
            },
        };
        if let Some(label) = told.again {
            let Tree::Members(members) = tree else { return Ok(()) };
            if members.len() > 1 {
                return refused(format!("{AGAIN} stands alone: it is a value that is written elsewhere"));
            }
            if matches!(due, Due::Piece) {
                return refused(format!(
                    "{AGAIN} has no place here: where such a value leads is in its octets"
                ));
            }
            return self.again(label, due).map_err(|error| error.within(AGAIN));
        }
        let of = self.of(&told, due)?;
        match &of {
            Of::Known(ty) if is_described(ty) => self.described(&told, ty, due),
            Of::Known(ty) if ty.type_modifier() == Some(2) || ty.id() == Some(VALUE_BASE) => {
                refused(format!(
                    "no value is of {} alone, which is abstract: {TYPE} says which valuetype it is of",
                    named(ty)
                ))
            }
            _ => self.opaque(&told, &of, due),
        }
    }

    fn again(&mut self, label: &Tree, due: Due<'_>) -> Composed {
        let label = word(label, "label")?;
        let Some((at, of)) = self.graph.labels.get(&label).cloned() else {
            return refused(format!(
                "no value with {LABEL} {} is written before it, in the order in which IDL declares members",
                shortened(&label)
            ));
        };
        self.check_fits(&of, due)?;
        Ok(self.to.write_value_again(at)?)
    }

    fn of(&mut self, told: &Told<'_>, due: Due<'_>) -> Result<Of, WrittenError> {
        let of = match (told.ty, due) {
            (None, Due::Piece) => Of::Unnamed,
            (None, Due::Of(ty)) if is_value(ty) => Of::Known(ty.clone()),
            (None, Due::Of(ty)) => {
                return refused(format!(
                    "{TYPE} is missing: which valuetype it is of that stands for {}",
                    named(ty)
                ));
            }
            (Some(text), _) => self.type_told(text, due).map_err(|error| error.within(TYPE))?,
        };
        self.check_fits(&of, due)?;
        Ok(of)
    }

    fn type_told(&mut self, tree: &Tree, due: Due<'_>) -> Result<Of, WrittenError> {
        let text = match tree {
            Tree::Text(text) | Tree::Word(text) => text,
            _ => return other(tree, "name or repository id of a valuetype"),
        };
        let declared = due.declared();
        let known = declared.and_then(|ty| ty.part_named(text)).or_else(|| self.notation.value_type(text));
        match known {
            Some(ty) if is_value(&ty) => {
                if let Some(id) = ty.id()
                    && declared.and_then(TypeCode::id) != Some(id)
                {
                    self.graph.used.insert(id.to_owned(), ty.clone());
                }
                Ok(Of::Known(ty))
            }
            Some(_) => refused(format!("{} is no valuetype", shortened(text))),
            // No name has a single colon, every repository id has one.
            None if text.replace("::", "").contains(':') => Ok(Of::Unknown(text.clone())),
            None => refused(format!("no valuetype {} is known", shortened(text))),
        }
    }

    /// Whether a value of this type may stand there, as far as that is known.
    fn check_fits(&self, of: &Of, due: Due<'_>) -> Composed {
        let (Of::Known(ty), Some(declared)) = (of, due.declared()) else { return Ok(()) };
        let (id, base) = (ty.id().unwrap_or_default(), declared.id().unwrap_or_default());
        let repository = self.notation.repository;
        let fits = id == base
            || base == VALUE_BASE
            || inherits(ty, declared)
            || repository.is_a(id, base)
            // What was learnt without IDL does not tell of abstract types.
            || !is_described(declared)
                && !matches!(repository.definition(id).map(|it| &it.content), Some(Content::Value(_)));
        if fits { Ok(()) } else { refused(format!("{} is not derived from {}", named(ty), named(declared))) }
    }

    /// A value whose type tells its state.
    fn described(&mut self, told: &Told<'_>, ty: &TypeCode, due: Due<'_>) -> Composed {
        if told.bases.is_some() {
            return refused(format!("{} is known, and {BASES} is for types that are not", named(ty)));
        }
        let declared = due.declared().and_then(TypeCode::id);
        let mut ids = vec![ty.id().unwrap_or_default().to_owned()];
        let mut of = ty.unaliased();
        // Who knows only what is declared may cut it down.
        while declared != Some(&*ids[0])
            && of.type_modifier() == Some(3)
            && let Some(base) = of.concrete_base_type().map(|base| base.unaliased())
            && let Some(id) = base.id().map(str::to_owned)
            && !ids.contains(&id)
        {
            ids.push(id);
            of = base;
        }
        let ids = self.graph.ids(ids);
        let codebase = self.codebase(told)?;
        let rest = told.rest.filter(|rest| !matches!(rest, Tree::List(pieces) if pieces.is_empty()));
        let begun = self.to.begin_value(&ids, codebase.as_ref(), rest.is_some())?;
        self.labelled(told, begun.at, Of::Known(ty.clone()))?;
        self.state(told, ty)?;
        if let Some(rest) = rest {
            self.rest(rest)?;
        }
        Ok(self.to.end_value(begun)?)
    }

    fn state(&mut self, told: &Told<'_>, ty: &TypeCode) -> Composed {
        if ty.kind() == TCKind::ValueBox {
            return match (told.value, told.members.first()) {
                (_, Some((name, _))) => {
                    refused(format!("{} is a box, and has no member {name:?}: {VALUE}", named(ty)))
                }
                (None, None) => refused(format!("{VALUE} is missing in {}: what the box holds", named(ty))),
                (Some(held), None) => {
                    let form = self.form(ty, 0);
                    self.value(held, &ty.content_type().unwrap_or_default(), &form)
                }
            };
        }
        if told.value.is_some() {
            return refused(format!("{} is no box, and has no {VALUE}", named(ty)));
        }
        let lineage = lineage(ty);
        let members = lineage.iter().flat_map(|ty| {
            let count = ty.member_count().unwrap_or(0);
            (0..count).map(move |index| (super::compose::member_name(ty, index), (ty, index)))
        });
        let (names, places): (Vec<String>, Vec<(&TypeCode, usize)>) = members.unzip();
        for ((name, tree), (of, index)) in chosen(&told.members, ty, &names)?.into_iter().zip(places) {
            let form = self.form(of, index);
            self.value(tree, &of.member_type(index).unwrap_or_default(), &form)
                .map_err(|error| error.within(name))?;
        }
        Ok(())
    }

    /// A value whose state only its class knows: as octets, behind the state of a base, if one is known.
    fn opaque(&mut self, told: &Told<'_>, of: &Of, due: Due<'_>) -> Composed {
        let (id, name) = match of {
            Of::Known(ty) => (ty.id().unwrap_or_default().to_owned(), named(ty)),
            Of::Unknown(id) => (id.clone(), shortened(id)),
            Of::Unnamed => (String::new(), "it".to_owned()),
        };
        let Some(rest) = told.rest else {
            let why = match of {
                Of::Known(_) => "is custom: its octets are known to its class alone",
                _ => "is not known here: the IDL or the interface repository in use does not have it",
            };
            return refused(format!("{name} {why}; {REST} can give them as they are sent"));
        };
        let mut ids: Vec<String> = Vec::from_iter(Some(id).filter(|id| !id.is_empty()));
        let mut base = None;
        if let Some(bases) = told.bases {
            let Tree::List(bases) = bases else {
                return other(bases, "list of valuetypes").map_err(|it: WrittenError| it.within(BASES));
            };
            for (index, tree) in bases.iter().enumerate() {
                let told = self.type_told(tree, due).map_err(|error| error.at(index).within(BASES))?;
                match told {
                    Of::Known(ty) => {
                        ids.push(ty.id().unwrap_or_default().to_owned());
                        if base.is_none() && tells_state(&ty, due.declared()) {
                            base = Some(ty);
                        }
                    }
                    Of::Unknown(id) => ids.push(id),
                    Of::Unnamed => {}
                }
            }
        }
        let ids = self.graph.ids(ids);
        let codebase = self.codebase(told)?;
        let first = match (&base, rest) {
            (None, Tree::List(pieces)) => pieces.first().and_then(piece),
            _ => None,
        };
        let begun = match first {
            Some(piece) => {
                let at = piece.and_then(|piece| piece.at()).map_err(|error| error.at(0).within(REST))?;
                self.to.begin_value_at(at, &ids, codebase.as_ref())?
            }
            None => self.to.begin_value(&ids, codebase.as_ref(), true)?,
        };
        self.labelled(told, begun.at, of.clone())?;
        match &base {
            Some(base) => self.state(told, base)?,
            None if told.value.is_some() || !told.members.is_empty() => {
                return refused(format!("{name} has no members that are known here: {REST} is all of it"));
            }
            None => {}
        }
        self.rest(rest)?;
        Ok(self.to.end_value(begun)?)
    }

    /// Octets whose meaning is not known, and values between them.
    fn rest(&mut self, tree: &Tree) -> Composed {
        let Tree::List(pieces) = tree else {
            return other(tree, "list of octets and values")
                .map_err(|error: WrittenError| error.within(REST));
        };
        self.graph.has_rest = true;
        for (index, tree) in pieces.iter().enumerate() {
            let composed = match piece(tree) {
                Some(piece) => piece.and_then(|piece| {
                    let (at, octets) = (piece.at()?, piece.octets()?);
                    Ok(self.to.write_value_octets(&octets, at)?)
                }),
                None => self.valuetype(tree, Due::Piece),
            };
            composed.map_err(|error| error.at(index).within(REST))?;
        }
        Ok(())
    }

    fn labelled(&mut self, told: &Told<'_>, at: usize, of: Of) -> Composed {
        let Some(label) = told.label else { return Ok(()) };
        let label = word(label, "label").map_err(|error| error.within(LABEL))?;
        match self.graph.labels.insert(label.clone(), (at, of)) {
            None => Ok(()),
            Some(_) => refused(format!("two values have the {LABEL} {}", shortened(&label))),
        }
    }

    fn codebase(&mut self, told: &Told<'_>) -> Result<Option<Text>, WrittenError> {
        let Some(tree) = told.codebase else { return Ok(None) };
        let text = word(tree, "text").map_err(|error| error.within(CODEBASE))?;
        Ok(Some(self.graph.texts.entry(text.clone()).or_insert_with(|| text.as_bytes().into()).clone()))
    }
}

/// Octets of which the meaning is not known.
struct Piece<'t> {
    at: Option<&'t Tree>,
    order: ByteOrder,
    base64: &'t Tree,
}

/// `None`: it is no octets.
fn piece(tree: &Tree) -> Option<Result<Piece<'_>, WrittenError>> {
    let Tree::Members(members) = tree else { return None };
    let find = |word: &str| members.iter().find(|(name, _)| name == word).map(|(_, tree)| tree);
    let (order, base64) = ORDERS.iter().find_map(|(order, word)| Some((*order, find(word)?)))?;
    if KEYS.iter().any(|key| find(key).is_some()) {
        return None;
    }
    let known: BTreeSet<&str> = ORDERS.iter().map(|(_, word)| *word).chain(["at"]).collect();
    if members.len() > 2 || members.iter().any(|(name, _)| !known.contains(name.as_str())) {
        return Some(refused(
            "octets are given as {at: 0, little: \"base64\"} or {at: 0, big: \"base64\"}".to_owned(),
        ));
    }
    Some(Ok(Piece { at: find("at"), order, base64 }))
}

impl Piece<'_> {
    /// Where the first octet lies, modulo 8.
    fn at(&self) -> Result<usize, WrittenError> {
        let at =
            self.at.map_or(Ok(0), |tree| integer::<u8>(tree, "octet")).map_err(|error| error.within("at"))?;
        match at {
            0..8 => Ok(at.into()),
            _ => Err(WrittenError::new("it is a place modulo 8").within("at")),
        }
    }

    fn octets(&self) -> Result<Vec<u8>, WrittenError> {
        let (order, word) =
            (self.order, ORDERS.iter().find(|(order, _)| *order == self.order).map_or("", |it| it.1));
        if order != ByteOrder::NATIVE {
            return refused(format!(
                "octets in {word}-endian order mean nothing in a message of this machine, whose order is the other"
            ));
        }
        let octets = match self.base64 {
            Tree::Text(text) | Tree::Word(text) => {
                STANDARD.decode(text).map_err(|error| WrittenError::new(error.to_string()))
            }
            tree => other(tree, "text in base64"),
        };
        let octets = octets.map_err(|error| error.within(word))?;
        if octets.is_empty() {
            Err(WrittenError::new("there are no octets").within(word))
        } else {
            Ok(octets)
        }
    }
}
