//! Values of valuetypes as [`Tree`]s: a graph that is a tree with labels.

use std::collections::{HashMap, HashSet};

use zorb_cdr::{TCKind, TypeCode};

use super::tree::Tree;

/// Keys that no member has: identifiers of IDL have no `$`.
pub(super) const TYPE: &str = "$type";
pub(super) const LABEL: &str = "$id";
pub(super) const AGAIN: &str = "$ref";
pub(super) const VALUE: &str = "$value";
pub(super) const BASES: &str = "$bases";
pub(super) const CODEBASE: &str = "$codebase";
pub(super) const REST: &str = "$rest";

/// Each of them.
pub(super) const KEYS: &[&str] = &[TYPE, LABEL, AGAIN, VALUE, BASES, CODEBASE, REST];

pub(super) const VALUE_BASE: &str = "IDL:omg.org/CORBA/ValueBase:1.0";

/// How many bases a type may have: more than anybody's.
const MOST_BASES: usize = 256;

/// A value that is shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ValueTree {
    /// Where it began: what indirections name.
    pub(super) at: usize,
    /// Its type, where that is not the one declared.
    pub(super) ty: Option<String>,
    pub(super) bases: Vec<String>,
    pub(super) codebase: Option<String>,
    pub(super) content: Content,
    /// What comes behind the state that is known.
    pub(super) rest: Vec<Tree>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    Members(Vec<(String, Tree)>),
    Boxed(Tree),
}

/// The tree with labels where values are shared, and with values as people write them.
pub(super) fn settled(tree: Tree) -> Tree {
    let mut again = HashSet::new();
    referred(&tree, &mut again);
    settle(tree, &mut Labels { again, given: HashMap::new() })
}

/// What is led to more than once.
fn referred(tree: &Tree, again: &mut HashSet<usize>) {
    match tree {
        Tree::Again(at) => _ = again.insert(*at),
        Tree::List(items) => items.iter().for_each(|item| referred(item, again)),
        Tree::Members(members) => members.iter().for_each(|(_, tree)| referred(tree, again)),
        Tree::Value(value) => {
            match &value.content {
                Content::Members(members) => members.iter().for_each(|(_, tree)| referred(tree, again)),
                Content::Boxed(tree) => referred(tree, again),
            }
            value.rest.iter().for_each(|item| referred(item, again));
        }
        _ => {}
    }
}

struct Labels {
    again: HashSet<usize>,
    given: HashMap<usize, usize>,
}

impl Labels {
    /// Numbers, in the order in which the values stand.
    fn of(&mut self, at: usize) -> Tree {
        let next = self.given.len() + 1;
        Tree::Number(self.given.entry(at).or_insert(next).to_string())
    }
}

fn settle(tree: Tree, labels: &mut Labels) -> Tree {
    match tree {
        Tree::Again(at) => Tree::Members(vec![(AGAIN.to_owned(), labels.of(at))]),
        Tree::List(items) => Tree::List(items.into_iter().map(|item| settle(item, labels)).collect()),
        Tree::Members(members) => Tree::Members(settle_members(members, labels)),
        Tree::Value(value) => settle_value(*value, labels),
        other => other,
    }
}

fn settle_members(members: Vec<(String, Tree)>, labels: &mut Labels) -> Vec<(String, Tree)> {
    members.into_iter().map(|(name, tree)| (name, settle(tree, labels))).collect()
}

fn settle_value(value: ValueTree, labels: &mut Labels) -> Tree {
    let mut told = Vec::new();
    if let Some(ty) = value.ty {
        told.push((TYPE.to_owned(), Tree::Word(ty)));
    }
    if !value.bases.is_empty() {
        told.push((BASES.to_owned(), Tree::List(value.bases.into_iter().map(Tree::Word).collect())));
    }
    if labels.again.contains(&value.at) {
        told.push((LABEL.to_owned(), labels.of(value.at)));
    }
    if let Some(codebase) = value.codebase {
        told.push((CODEBASE.to_owned(), Tree::Text(codebase)));
    }
    match value.content {
        Content::Members(members) => told.extend(settle_members(members, labels)),
        Content::Boxed(held) => {
            // What would be read as something of the box itself.
            let is_plain = !matches!(held, Tree::Null | Tree::Again(_) | Tree::Value(_));
            let held = settle(held, labels);
            if is_plain && told.is_empty() && value.rest.is_empty() {
                return held;
            }
            told.push((VALUE.to_owned(), held));
        }
    }
    if !value.rest.is_empty() {
        told.push((REST.to_owned(), settle(Tree::List(value.rest), labels)));
    }
    Tree::Members(told)
}

/// Whether it is the type of values.
pub(super) fn is_value(ty: &TypeCode) -> bool {
    matches!(ty.kind(), TCKind::Value | TCKind::ValueBox | TCKind::Event)
}

/// Whether values may be of it, and it tells what their state looks like: it is neither abstract nor custom.
pub(super) fn is_described(ty: &TypeCode) -> bool {
    match ty.kind() {
        TCKind::ValueBox => true,
        TCKind::Value | TCKind::Event => {
            matches!(ty.type_modifier(), Some(0 | 3)) && ty.id() != Some(VALUE_BASE)
        }
        _ => false,
    }
}

/// Whether a value that may stand where the other type is declared has the state that this one tells.
pub(super) fn tells_state(ty: &TypeCode, declared: Option<&TypeCode>) -> bool {
    is_described(ty) && declared.is_none_or(|declared| !is_described(declared) || inherits(ty, declared))
}

/// A type and what it inherits state from, the furthest base first.
pub(super) fn lineage(ty: &TypeCode) -> Vec<TypeCode> {
    let mut all = vec![ty.unaliased()];
    while let Some(base) = all.last().and_then(TypeCode::concrete_base_type).map(|base| base.unaliased())
        && matches!(base.kind(), TCKind::Value | TCKind::Event)
        // Derived from itself is none.
        && all.len() < MOST_BASES
    {
        all.push(base);
    }
    all.reverse();
    all
}

/// Whether values of the one type have the state of the other.
pub(super) fn inherits(ty: &TypeCode, base: &TypeCode) -> bool {
    lineage(ty).iter().any(|of| of.id() == base.id())
}
