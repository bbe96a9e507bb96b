//! The [`Describer`], by which TypeCodes are made: all of one or none of it.

use super::wire::to_wire;
use super::{Described, Edge, Member, Node, TCKind, TypeCode, unaliased};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// Why there is no such TypeCode.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypeCodeError {
    /// Two members or enumerators have this name.
    DuplicateName(Arc<str>),
    /// Two members of a union have this label.
    DuplicateLabel(i64),
    /// Nothing can hold values of this kind.
    NoValues(TCKind),
    /// A union cannot switch on this kind.
    BadDiscriminator(TCKind),
    /// A union's default member is none of its members.
    BadDefault(usize),
    /// A `fixed` with no digits, more than 31, or a scale that they do not hold.
    BadFixed,
    /// A part is an alias, sequence or array of itself, or stems from another describer.
    BadPart,
}

impl fmt::Display for TypeCodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateName(name) => write!(f, "two members are named {name:?}"),
            Self::DuplicateLabel(label) => write!(f, "two members of a union have the label {label}"),
            Self::NoValues(kind) => write!(f, "nothing holds a value of kind {kind}"),
            Self::BadDiscriminator(kind) => write!(f, "a union cannot switch on kind {kind}"),
            Self::BadDefault(index) => write!(f, "the default member {index} is not a member"),
            Self::BadFixed => f.write_str("a fixed has 1 to 31 digits and a scale of at most as many"),
            Self::BadPart => f.write_str("a part is unfinished, or of another describer"),
        }
    }
}

impl core::error::Error for TypeCodeError {}

/// A type that a [`Describer`] knows; of use to that one alone.
#[derive(Clone, Copy, Debug)]
pub struct TypeRef(Edge);

/// Gathers the types that one TypeCode is made of.
///
/// A struct, union or value with the repository id of one that it knows is that one: so recursive types end, and a type that
/// is used twice is described once. What cannot be is remembered, and [`TypeCode::build`] then gives an error.
#[derive(Debug, Default)]
pub struct Describer {
    nodes: Vec<Node>,
    known: BTreeMap<Arc<str>, u32>,
    /// Those that are not finished; they can only be parts of what can contain itself.
    fault: Option<TypeCodeError>,
}

impl TypeCode {
    /// The TypeCode of what `describe` gives.
    ///
    /// # Errors
    /// The first thing that was described and cannot be.
    pub fn build(describe: impl FnOnce(&mut Describer) -> TypeRef) -> Result<Self, TypeCodeError> {
        let mut to = Describer::default();
        let TypeRef(at) = describe(&mut to);
        if let Edge::Node(index) = at
            && index as usize >= to.nodes.len()
        {
            to.fail(TypeCodeError::BadPart);
        }
        match to.fault {
            Some(fault) => Err(fault),
            None => {
                let wire = to_wire(&to.nodes, at).ok();
                Ok(Self::of_nodes(to.nodes, at, wire))
            }
        }
    }

    /// The TypeCode of a Rust type. Of a description that cannot be it is [`NULL`](Self::NULL).
    pub fn of<T: Described + ?Sized>() -> Self {
        Self::build(T::describe).unwrap_or_default()
    }
}

impl Describer {
    fn fail(&mut self, fault: TypeCodeError) {
        self.fault.get_or_insert(fault);
    }

    /// A Rust type.
    pub fn basic<T: Described + ?Sized>(&mut self) -> TypeRef {
        T::describe(self)
    }

    /// A kind without parameters.
    pub(crate) fn plain(&mut self, kind: TCKind) -> TypeRef {
        TypeRef(Edge::Simple(kind, 0, 0))
    }

    /// A `string` of at most `bound` characters; 0: of any length.
    pub fn string(&mut self, bound: u32) -> TypeRef {
        TypeRef(Edge::Simple(TCKind::String, bound, 0))
    }

    /// A `wstring` of at most `bound` characters; 0: of any length.
    pub fn wstring(&mut self, bound: u32) -> TypeRef {
        TypeRef(Edge::Simple(TCKind::WString, bound, 0))
    }

    /// A `fixed<digits, scale>`.
    pub fn fixed(&mut self, digits: u16, scale: i16) -> TypeRef {
        if digits == 0 || digits > 31 || scale < 0 || scale as u16 > digits {
            self.fail(TypeCodeError::BadFixed);
        }
        TypeRef(Edge::Simple(TCKind::Fixed, digits.into(), scale))
    }

    fn kind(&self, at: Edge) -> Option<TCKind> {
        match unaliased(&self.nodes, at) {
            Edge::Simple(kind, ..) => Some(kind),
            Edge::Node(at) => self.nodes.get(at as usize).map(|node| node.kind),
        }
    }

    /// An edge to what has values.
    fn part(&mut self, TypeRef(at): TypeRef) -> Edge {
        match self.kind(at) {
            None => self.fail(TypeCodeError::BadPart),
            Some(kind @ (TCKind::Null | TCKind::Void | TCKind::Except)) => {
                self.fail(TypeCodeError::NoValues(kind))
            }
            Some(_) => {}
        }
        at
    }

    fn begin(&mut self, kind: TCKind, id: &str, name: &str) -> u32 {
        let at = self.nodes.len() as u32;
        let id: Arc<str> = id.into();
        if !id.is_empty() {
            self.known.insert(id.clone(), at);
        }
        self.nodes.push(Node {
            kind,
            id,
            name: name.into(),
            content: Edge::NULL,
            number: 0,
            members: Vec::new(),
        });
        at
    }

    fn known(&self, id: &str) -> Option<TypeRef> {
        self.known.get(id).map(|at| TypeRef(Edge::Node(*at)))
    }

    fn node(&mut self, at: u32) -> &mut Node {
        &mut self.nodes[at as usize]
    }

    fn members<'n>(&mut self, members: impl IntoIterator<Item = (&'n str, Edge, i64)>) -> Vec<Member> {
        let members: Vec<Member> =
            members.into_iter().map(|(name, ty, number)| Member { name: name.into(), ty, number }).collect();
        let mut names = BTreeSet::new();
        let twice = members
            .iter()
            .find(|it| !it.name.is_empty() && !names.insert(&it.name))
            .map(|it| it.name.clone());
        if let Some(name) = twice {
            self.fail(TypeCodeError::DuplicateName(name));
        }
        members
    }

    fn aggregate<'n>(
        &mut self,
        kind: TCKind,
        id: &str,
        name: &str,
        members: impl FnOnce(&mut Self) -> Vec<(&'n str, TypeRef)>,
    ) -> TypeRef {
        if let Some(known) = self.known(id) {
            return known;
        }
        let at = self.begin(kind, id, name);
        let members = members(self);
        let members: Vec<_> = members.into_iter().map(|(name, ty)| (name, self.part(ty), 0)).collect();
        self.node(at).members = self.members(members);
        TypeRef(Edge::Node(at))
    }

    /// A `struct`.
    pub fn structure<'n>(
        &mut self,
        id: &str,
        name: &str,
        members: impl FnOnce(&mut Self) -> Vec<(&'n str, TypeRef)>,
    ) -> TypeRef {
        self.aggregate(TCKind::Struct, id, name, members)
    }

    /// An `exception`.
    pub fn exception<'n>(
        &mut self,
        id: &str,
        name: &str,
        members: impl FnOnce(&mut Self) -> Vec<(&'n str, TypeRef)>,
    ) -> TypeRef {
        self.aggregate(TCKind::Except, id, name, members)
    }

    /// An `enum`.
    pub fn enumeration(&mut self, id: &str, name: &str, enumerators: &[&str]) -> TypeRef {
        if let Some(known) = self.known(id) {
            return known;
        }
        let at = self.begin(TCKind::Enum, id, name);
        self.node(at).members = self.members(enumerators.iter().map(|name| (*name, Edge::NULL, 0)));
        TypeRef(Edge::Node(at))
    }

    /// A `union`: a member for each label, so that one with several labels stands several times; `default` is the index
    /// of the default member, whose label does not count.
    pub fn union<'n>(
        &mut self,
        id: &str,
        name: &str,
        default: Option<usize>,
        members: impl FnOnce(&mut Self) -> (TypeRef, Vec<(i64, &'n str, TypeRef)>),
    ) -> TypeRef {
        if let Some(known) = self.known(id) {
            return known;
        }
        let at = self.begin(TCKind::Union, id, name);
        let (discriminator, members) = members(self);
        let content = self.part(discriminator);
        match self.kind(content) {
            Some(kind) if !kind.is_discriminator() => self.fail(TypeCodeError::BadDiscriminator(kind)),
            _ => {}
        }
        if let Some(default) = default
            && default >= members.len()
        {
            self.fail(TypeCodeError::BadDefault(default));
        }
        let mut labels = BTreeSet::new();
        let mut of = Vec::with_capacity(members.len());
        for (index, (label, name, ty)) in members.into_iter().enumerate() {
            let is_default = default == Some(index);
            if !is_default && !labels.insert(label) {
                self.fail(TypeCodeError::DuplicateLabel(label));
            }
            of.push(Member {
                name: name.into(),
                ty: self.part(ty),
                number: if is_default { 0 } else { label },
            });
        }
        let node = self.node(at);
        node.content = content;
        node.number = default.map_or(-1, |default| default as i64);
        node.members = of;
        TypeRef(Edge::Node(at))
    }

    fn holder(&mut self, kind: TCKind, (id, name): (&str, &str), of: TypeRef, number: u32) -> TypeRef {
        let content = self.part(of);
        let at = self.begin(kind, id, name);
        let node = self.node(at);
        (node.content, node.number) = (content, number.into());
        TypeRef(Edge::Node(at))
    }

    /// A `typedef`.
    pub fn alias(&mut self, id: &str, name: &str, of: TypeRef) -> TypeRef {
        match self.known(id) {
            Some(known) => known,
            None => self.holder(TCKind::Alias, (id, name), of, 0),
        }
    }

    /// A boxed value.
    pub fn value_box(&mut self, id: &str, name: &str, of: TypeRef) -> TypeRef {
        match self.known(id) {
            Some(known) => known,
            None => self.holder(TCKind::ValueBox, (id, name), of, 0),
        }
    }

    /// A `sequence` of at most `bound` elements; 0: of any number.
    pub fn sequence(&mut self, element: TypeRef, bound: u32) -> TypeRef {
        self.holder(TCKind::Sequence, ("", ""), element, bound)
    }

    /// An array of one dimension; of several it is an array of arrays.
    pub fn array(&mut self, element: TypeRef, length: u32) -> TypeRef {
        self.holder(TCKind::Array, ("", ""), element, length)
    }

    /// An interface.
    pub fn interface(&mut self, id: &str, name: &str) -> TypeRef {
        self.named(TCKind::ObjRef, id, name)
    }

    /// A type of which id and name are all: the kinds of interfaces, native types, components and homes.
    pub fn named(&mut self, kind: TCKind, id: &str, name: &str) -> TypeRef {
        let bare =
            kind.is_named() && !kind.has_members() && !matches!(kind, TCKind::Alias | TCKind::ValueBox);
        if !bare {
            self.fail(TypeCodeError::BadPart);
        }
        self.known(id).unwrap_or_else(|| TypeRef(Edge::Node(self.begin(kind, id, name))))
    }

    /// A valuetype: its modifier (see [`TypeCode::type_modifier`]), what it inherits its state from, and its own state with
    /// the visibility of each member.
    pub fn value<'n>(
        &mut self,
        id: &str,
        name: &str,
        modifier: i16,
        state: impl FnOnce(&mut Self) -> (Option<TypeRef>, Vec<(&'n str, TypeRef, i16)>),
    ) -> TypeRef {
        self.stateful(TCKind::Value, (id, name), modifier, state)
    }

    /// An event type, which says of itself what a valuetype does.
    pub fn event<'n>(
        &mut self,
        id: &str,
        name: &str,
        modifier: i16,
        state: impl FnOnce(&mut Self) -> (Option<TypeRef>, Vec<(&'n str, TypeRef, i16)>),
    ) -> TypeRef {
        self.stateful(TCKind::Event, (id, name), modifier, state)
    }

    fn stateful<'n>(
        &mut self,
        kind: TCKind,
        (id, name): (&str, &str),
        modifier: i16,
        state: impl FnOnce(&mut Self) -> (Option<TypeRef>, Vec<(&'n str, TypeRef, i16)>),
    ) -> TypeRef {
        if let Some(known) = self.known(id) {
            return known;
        }
        let at = self.begin(kind, id, name);
        let (base, members) = state(self);
        let content = base.map_or(Edge::NULL, |base| self.part(base));
        let members: Vec<_> =
            members.into_iter().map(|(name, ty, access)| (name, self.part(ty), access.into())).collect();
        let members = self.members(members);
        let node = self.node(at);
        (node.content, node.number, node.members) = (content, modifier.into(), members);
        TypeRef(Edge::Node(at))
    }

    /// A type that has a TypeCode already. Its nodes are copied, names shared.
    pub fn type_code(&mut self, of: &TypeCode) -> TypeRef {
        let mut moved: BTreeMap<u32, u32> = BTreeMap::new();
        let mut order = Vec::new();
        let (base, nodes) = (self.nodes.len() as u32, of.nodes());
        let mut place = |at: Edge, order: &mut Vec<u32>| match at {
            Edge::Node(index) => Edge::Node(*moved.entry(index).or_insert_with(|| {
                order.push(index);
                base + order.len() as u32 - 1
            })),
            simple => simple,
        };
        let first = place(of.edge(), &mut order);
        let mut next = 0;
        while let Some(node) = order.get(next).and_then(|at| nodes.get(*at as usize)) {
            let mut node = node.clone();
            node.content = place(node.content, &mut order);
            for member in &mut node.members {
                member.ty = place(member.ty, &mut order);
            }
            self.nodes.push(node);
            next += 1;
        }
        TypeRef(first)
    }
}
