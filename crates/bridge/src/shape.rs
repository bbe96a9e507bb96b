//! What a bridge has to know of a type: how to go past a value of it, and where in it there may be references.

/// A type, of which only what is on the wire is left.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// Nothing: `void`.
    Nothing,
    /// So many octets, aligned to as many; 16 to 8.
    Number(usize),
    /// So many octets wherever they stand: `fixed`.
    Octets(usize),
    Text,
    WideChar,
    WideText,
    Sequence(Box<Shape>),
    Array(Box<Shape>, usize),
    Struct(Vec<Shape>),
    Union(Box<Union>),
    /// One of the [`Shapes`] that have names, since they may hold themselves.
    Named(usize),
    /// An object reference, of an interface that is known by this number.
    Reference(Option<usize>),
    /// A reference, or a value.
    Abstract,
    TypeCode,
    Any,
    /// What cannot be gone past: valuetypes.
    Opaque,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Union {
    pub(crate) discriminator: Shape,
    /// What each value of the discriminator stands before: as its octets read as an unsigned number.
    pub(crate) arms: Vec<(u64, Shape)>,
    /// What stands behind all others.
    pub(crate) default: Shape,
}

/// Shapes that have names.
pub(crate) type Shapes = [Shape];

impl Shape {
    /// Whether a value may hold a reference, given which of those with names may.
    pub(crate) fn may_refer(&self, named: &[bool]) -> bool {
        match self {
            Shape::Reference(_) | Shape::Abstract | Shape::Any | Shape::Opaque => true,
            Shape::Named(index) => named.get(*index).copied().unwrap_or(true),
            Shape::Sequence(element) | Shape::Array(element, _) => element.may_refer(named),
            Shape::Struct(members) => members.iter().any(|member| member.may_refer(named)),
            Shape::Union(union) => {
                union.default.may_refer(named) || union.arms.iter().any(|(_, arm)| arm.may_refer(named))
            }
            _ => false,
        }
    }

    /// The shape behind names; `None` of one that is only named after itself.
    pub(crate) fn resolved<'s>(&'s self, names: &'s Shapes) -> Option<&'s Shape> {
        let mut shape = self;
        for _ in 0..=names.len() {
            match shape {
                Shape::Named(index) => shape = names.get(*index)?,
                _ => return Some(shape),
            }
        }
        None
    }

    /// The size and alignment of a value that is one number.
    pub(crate) fn as_number(&self, names: &Shapes) -> Option<(usize, usize)> {
        match self.resolved(names)? {
            Shape::Number(size) => Some((*size, (*size).min(8))),
            _ => None,
        }
    }
}

/// Which of the shapes may hold references, themselves and each other included.
pub(crate) fn which_may_refer(names: &Shapes) -> Vec<bool> {
    let mut may = vec![false; names.len()];
    loop {
        let next: Vec<bool> = names.iter().map(|shape| shape.may_refer(&may)).collect();
        if next == may {
            return may;
        }
        may = next;
    }
}
