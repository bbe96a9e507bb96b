//! [`TypeCode`]: descriptions of IDL types as values (CORBA 3.4 part 1, §8.11).
//!
//! A TypeCode is a place in a graph whose nodes are shared: a clone counts a reference, and what a member's type gives
//! shares the graph of the whole. Recursion is an edge back to a node, so that the graph holds no cycle of counters and is
//! freed with its last user. The form on the wire is in `wire.rs`, construction in `describe.rs`.

mod compare;
mod describe;
mod described;
mod kind;
mod nothing;
mod wire;

pub use describe::{Describer, TypeCodeError, TypeRef};
pub use described::Described;
pub use kind::TCKind;
pub use nothing::MOST_NOTHINGS;
pub(crate) use nothing::read_count_of;
pub(crate) use wire::{read_label, write_label};

use alloc::sync::Arc;
use alloc::vec::Vec;
use bytes::Bytes;
use core::fmt;

/// What an IDL type looks like: its kind, its names, its parts.
///
/// Accessors give `None` where the kind has no such thing (CORBA's `BadKind`) or no such member (its `Bounds`).
///
/// ```
/// use zorb_cdr::{TCKind, TypeCode};
///
/// let point = TypeCode::build(|to| {
///     to.structure("IDL:Point:1.0", "Point", |to| vec![("x", to.basic::<f64>()), ("y", to.basic::<f64>())])
/// })?;
/// assert_eq!(point.kind(), TCKind::Struct);
/// assert_eq!(point.member_name(1), Some("y"));
/// assert_eq!(point.member_type(1).map(|it| it.kind()), Some(TCKind::Double));
/// # Ok::<(), zorb_cdr::TypeCodeError>(())
/// ```
#[derive(Clone)]
pub struct TypeCode {
    /// `None` where `at` says all.
    graph: Option<Arc<Graph>>,
    at: Edge,
}

/// The nodes that the types of one description are made of.
pub(crate) struct Graph {
    nodes: Vec<Node>,
    /// The type that was described.
    whole: Edge,
    /// Its form on the wire, in native byte order; `None` if it has none.
    wire: Option<Bytes>,
}

/// Where a type is described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    /// Here: the kind, a bound or the digits, the scale.
    Simple(TCKind, u32, i16),
    /// At a node of the same graph.
    Node(u32),
}

/// What is known of a type that has parameters.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: TCKind,
    pub(crate) id: Arc<str>,
    pub(crate) name: Arc<str>,
    /// Of an alias, sequence, array or boxed value what it holds; of a union the discriminator; of a value the base.
    pub(crate) content: Edge,
    /// The bound or length; the index of a union's default member, or -1; the modifier of a value.
    pub(crate) number: i64,
    pub(crate) members: Vec<Member>,
}

#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: Arc<str>,
    pub(crate) ty: Edge,
    /// The label in a union, the visibility in a value.
    pub(crate) number: i64,
}

impl Edge {
    pub(crate) const NULL: Self = Self::Simple(TCKind::Null, 0, 0);
}

impl TypeCode {
    /// The type without values: what an empty [`Any`](crate::Any) has.
    pub const NULL: Self = Self::simple(TCKind::Null, 0, 0);

    const fn simple(kind: TCKind, number: u32, scale: i16) -> Self {
        Self { graph: None, at: Edge::Simple(kind, number, scale) }
    }

    /// The type of a kind that has no parameters; `None` for others.
    pub const fn basic(kind: TCKind) -> Option<Self> {
        if kind.is_basic() { Some(Self::simple(kind, 0, 0)) } else { None }
    }

    /// A `string` of at most `bound` characters; 0: of any length.
    pub const fn string(bound: u32) -> Self {
        Self::simple(TCKind::String, bound, 0)
    }

    /// A `wstring` of at most `bound` characters; 0: of any length.
    pub const fn wstring(bound: u32) -> Self {
        Self::simple(TCKind::WString, bound, 0)
    }

    /// The type that these nodes describe, and its form on the wire.
    fn of_nodes(nodes: Vec<Node>, at: Edge, wire: Option<Bytes>) -> Self {
        match at {
            Edge::Simple(..) => Self { graph: None, at },
            Edge::Node(_) => Self { graph: Some(Arc::new(Graph { nodes, whole: at, wire })), at },
        }
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        self.graph.as_ref().map_or(&[], |graph| &graph.nodes)
    }

    /// The kind, the length of the parameters and the parameters (§9.3.5.1) as they go on the wire from a multiple of 4 on,
    /// in native byte order, for a type with complex parameters that was described or received as a whole; `None` for parts
    /// of another, and for what nests too deep to be sent.
    pub fn wire_form(&self) -> Option<&[u8]> {
        let graph = self.graph.as_ref().filter(|graph| graph.whole == self.at)?;
        graph.wire.as_deref()
    }

    pub(crate) fn edge(&self) -> Edge {
        self.at
    }

    fn node(&self) -> Option<&Node> {
        match self.at {
            Edge::Simple(..) => None,
            Edge::Node(at) => self.nodes().get(at as usize),
        }
    }

    fn at(&self, at: Edge) -> Self {
        match &self.graph {
            Some(graph) if matches!(at, Edge::Node(_)) => Self { graph: Some(graph.clone()), at },
            _ => Self { graph: None, at },
        }
    }

    fn node_of(&self, kinds: &[TCKind]) -> Option<&Node> {
        self.node().filter(|node| kinds.contains(&node.kind))
    }

    /// Which kind of type it is.
    pub fn kind(&self) -> TCKind {
        match (self.at, self.node()) {
            (_, Some(node)) => node.kind,
            (Edge::Simple(kind, ..), None) => kind,
            (Edge::Node(_), None) => TCKind::Null,
        }
    }

    /// The repository id of a named type.
    pub fn id(&self) -> Option<&str> {
        self.node().filter(|node| node.kind.is_named()).map(|node| &*node.id)
    }

    /// The name of a named type, within its scope; may be empty.
    pub fn name(&self) -> Option<&str> {
        self.node().filter(|node| node.kind.is_named()).map(|node| &*node.name)
    }

    /// How many members a struct, union, enum, exception or value has.
    pub fn member_count(&self) -> Option<usize> {
        self.node().filter(|node| node.kind.has_members()).map(|node| node.members.len())
    }

    /// The name of a member; may be empty.
    pub fn member_name(&self, index: usize) -> Option<&str> {
        self.node()?.members.get(index).map(|member| &*member.name)
    }

    /// The type of a member of a struct, union, exception or value.
    pub fn member_type(&self, index: usize) -> Option<Self> {
        let node = self.node().filter(|node| node.kind != TCKind::Enum)?;
        node.members.get(index).map(|member| self.at(member.ty))
    }

    /// The label of a union's member, widened to 64 bits as its bits stand; 0 for the default member.
    pub fn member_label(&self, index: usize) -> Option<i64> {
        self.node_of(&[TCKind::Union])?.members.get(index).map(|member| member.number)
    }

    /// Whether a value's member is private (0) or public (1).
    pub fn member_visibility(&self, index: usize) -> Option<i16> {
        let node = self.node_of(&[TCKind::Value, TCKind::Event])?;
        node.members.get(index).map(|member| member.number as i16)
    }

    /// The type that a union switches on.
    pub fn discriminator_type(&self) -> Option<Self> {
        self.node_of(&[TCKind::Union]).map(|node| self.at(node.content))
    }

    /// The index of a union's default member; -1 if it has none.
    pub fn default_index(&self) -> Option<i32> {
        self.node_of(&[TCKind::Union]).map(|node| node.number as i32)
    }

    /// The most characters or elements, 0 for any number; of an array how many there are.
    pub fn length(&self) -> Option<u32> {
        match self.at {
            Edge::Simple(TCKind::String | TCKind::WString, bound, _) => Some(bound),
            _ => self.node_of(&[TCKind::Sequence, TCKind::Array]).map(|node| node.number as u32),
        }
    }

    /// What an alias stands for, and what sequences, arrays and boxed values hold.
    pub fn content_type(&self) -> Option<Self> {
        let kinds = [TCKind::Alias, TCKind::Sequence, TCKind::Array, TCKind::ValueBox];
        self.node_of(&kinds).map(|node| self.at(node.content))
    }

    /// How many digits a `fixed` has.
    pub fn fixed_digits(&self) -> Option<u16> {
        match self.at {
            Edge::Simple(TCKind::Fixed, digits, _) => Some(digits as u16),
            _ => None,
        }
    }

    /// How many digits of a `fixed` stand behind the point.
    pub fn fixed_scale(&self) -> Option<i16> {
        match self.at {
            Edge::Simple(TCKind::Fixed, _, scale) => Some(scale),
            _ => None,
        }
    }

    /// The type of this repository id that this one is made of, as far as its description goes; itself, if it has the id.
    pub fn part_named(&self, id: &str) -> Option<Self> {
        let named = |node: &Node| node.kind.is_named() && &*node.id == id;
        if self.node().is_some_and(named) {
            return Some(self.clone());
        }
        let at = self.nodes().iter().position(named)?;
        Some(self.at(Edge::Node(u32::try_from(at).ok()?)))
    }

    /// Of a value: 0 none, 1 custom, 2 abstract, 3 truncatable.
    pub fn type_modifier(&self) -> Option<i16> {
        self.node_of(&[TCKind::Value, TCKind::Event]).map(|node| node.number as i16)
    }

    /// What a value inherits its state from; of kind null if from nothing.
    pub fn concrete_base_type(&self) -> Option<Self> {
        self.node_of(&[TCKind::Value, TCKind::Event]).map(|node| self.at(node.content))
    }

    /// What is known of the type itself, aliases stripped, if it has parameters.
    pub(crate) fn resolved(&self) -> Option<&Node> {
        match unaliased(self.nodes(), self.at) {
            Edge::Simple(..) => None,
            Edge::Node(at) => self.nodes().get(at as usize),
        }
    }

    /// Which kind of type it is, aliases stripped.
    pub(crate) fn resolved_kind(&self) -> TCKind {
        match unaliased(self.nodes(), self.at) {
            Edge::Simple(kind, ..) => kind,
            Edge::Node(at) => self.nodes().get(at as usize).map_or(TCKind::Null, |node| node.kind),
        }
    }

    /// Whether both are the same place of the same graph: equal without a look at it.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let shared = match (&self.graph, &other.graph) {
            (None, None) => true,
            (Some(one), Some(two)) => Arc::ptr_eq(one, two),
            _ => false,
        };
        shared && self.at == other.at
    }

    /// The type at an edge of its graph.
    pub(crate) fn part(&self, at: Edge) -> Self {
        self.at(at)
    }

    /// The type itself, whatever names it goes by: aliases stripped.
    #[must_use]
    pub fn unaliased(&self) -> Self {
        self.at(unaliased(self.nodes(), self.at))
    }
}

/// What an edge leads to behind aliases. Aliases form no cycle: both ways to a graph see to that.
pub(crate) fn unaliased(nodes: &[Node], mut at: Edge) -> Edge {
    while let Edge::Node(index) = at {
        match nodes.get(index as usize) {
            Some(node) if node.kind == TCKind::Alias => at = node.content,
            _ => break,
        }
    }
    at
}

impl Default for TypeCode {
    fn default() -> Self {
        Self::NULL
    }
}

impl PartialEq for TypeCode {
    /// CORBA's `equal`: the same in everything, names and aliases included.
    fn eq(&self, other: &Self) -> bool {
        self.equal(other)
    }
}

impl fmt::Debug for TypeCode {
    /// The kind and the repository id: members are not followed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.id() {
            Some(id) => write!(f, "TypeCode({} {id})", self.kind()),
            None => write!(f, "TypeCode({})", self.kind()),
        }
    }
}
