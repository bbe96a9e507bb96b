//! Values walked by their [`TypeCode`]: passed over, or written anew in another alignment, byte order or code set.
//!
//! What a peer describes is not believed. Values nest no deeper than the decoder's limit, a count is checked against the
//! octets that follow, and the steps of one walk are bounded by the octets there are, since a type of few octets may
//! describe values of none that are endless to visit.

mod value;

pub(crate) use value::Graph;

use crate::Decode;
use crate::type_code::{Edge, Node, read_count_of, read_label, unaliased, write_label};
use crate::{
    ByteOrder, DecodeError, DecodeErrorKind, Decoder, EncodeError, EncodeErrorKind, Encoder, TCKind, TypeCode,
};

/// Steps that any value may take, and how many more for each octet.
const STEPS: usize = 65_536;
const STEPS_PER_OCTET: usize = 16;

const NO_VALUES: &str = "no value of a valuetype was expected in it";

/// Why a walk ended early.
#[derive(Debug)]
pub(crate) enum WalkError {
    /// There is a value of a valuetype, which such a walk does not follow.
    Value,
    Decode(DecodeError),
    Encode(EncodeError),
}

impl From<DecodeError> for WalkError {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

impl From<EncodeError> for WalkError {
    fn from(error: EncodeError) -> Self {
        Self::Encode(error)
    }
}

impl WalkError {
    /// The octets ended within the value.
    pub(crate) fn is_end(&self) -> bool {
        let kind = match self {
            Self::Decode(error) => error.kind,
            Self::Encode(_) | Self::Value => return false,
        };
        matches!(kind, DecodeErrorKind::Truncated | DecodeErrorKind::LengthBeyondEnd { .. })
    }

    /// The same, where what was read is part of another value.
    #[cold]
    fn at(self, part: impl FnOnce(DecodeError) -> DecodeError) -> Self {
        match self {
            Self::Decode(error) => Self::Decode(part(error)),
            other => other,
        }
    }

    #[cold]
    fn in_named(self, member: &str) -> Self {
        self.at(|error| error.in_named(member))
    }

    /// As an error of reading.
    pub(crate) fn reading(self, from: &Decoder<'_>) -> DecodeError {
        match self {
            Self::Decode(error) => error,
            Self::Value => from.error(DecodeErrorKind::Invalid(NO_VALUES), "any"),
            Self::Encode(error) => match error.kind {
                EncodeErrorKind::Invalid(why) => from.error(DecodeErrorKind::Invalid(why), "any"),
                _ => from.error(DecodeErrorKind::Invalid("its text cannot be kept"), "any"),
            },
        }
    }

    /// As an error of writing.
    pub(crate) fn writing(self) -> EncodeError {
        match self {
            Self::Encode(error) => error,
            Self::Value => EncodeError::new(EncodeErrorKind::Invalid(NO_VALUES), "any"),
            Self::Decode(error) => match error.kind {
                DecodeErrorKind::Invalid(why) => EncodeError::new(EncodeErrorKind::Invalid(why), "any"),
                DecodeErrorKind::UnknownValueType => EncodeError::new(
                    EncodeErrorKind::Invalid("it holds a value of a type that is not known here"),
                    "any",
                ),
                _ => EncodeError::new(EncodeErrorKind::Invalid("its octets are no value of its type"), "any"),
            },
        }
    }
}

type Walked = Result<(), WalkError>;

/// Reads a value of the type, and writes it if there is where to. It ends at values of valuetypes.
pub(crate) fn walk(ty: &TypeCode, from: &mut Decoder<'_>, to: Option<&mut Encoder<'_>>) -> Walked {
    Walk { nodes: ty.nodes(), to, steps: steps(from), graph: None }.value(ty.edge(), from)
}

/// As [`walk`], and through values of valuetypes.
pub(crate) fn walk_values(
    ty: &TypeCode,
    from: &mut Decoder<'_>,
    mut to: Option<&mut Encoder<'_>>,
    graph: &mut Graph<'_>,
) -> Walked {
    if let Some(to) = to.as_deref_mut() {
        to.stay_whole();
    }
    Walk { nodes: ty.nodes(), to, steps: steps(from), graph: Some(graph) }.value(ty.edge(), from)
}

fn steps(from: &Decoder<'_>) -> usize {
    STEPS.saturating_add(from.remaining().saturating_mul(STEPS_PER_OCTET))
}

/// Reads the repository id that an exception begins with (§9.3.5.4). omniORB leaves it out in an any: what follows then is
/// no such string, and nothing is read.
pub(crate) fn read_exception_id(id: &str, from: &mut Decoder<'_>) -> Result<(), DecodeError> {
    let left_out = match from.of_segment().read_raw_string() {
        Ok(found) => !id.is_empty() && found != id.as_bytes(),
        Err(_) => from.is_last_segment(),
    };
    if !left_out {
        from.read_raw_string()?;
    }
    Ok(())
}

impl TypeCode {
    /// Reads the repository id that a value of this exception begins with, where it does: omniORB leaves it out in an any.
    ///
    /// # Errors
    /// An id that does not end.
    pub fn read_exception_id(&self, from: &mut Decoder<'_>) -> Result<(), DecodeError> {
        read_exception_id(self.resolved().map_or("", |node| &node.id), from)
    }
}

struct Walk<'t, 'o, 'e, 'g> {
    nodes: &'t [Node],
    to: Option<&'o mut Encoder<'e>>,
    steps: usize,
    /// What is known of values; `None` if there are to be none.
    graph: Option<&'o mut Graph<'g>>,
}

macro_rules! copy {
    ($walk:ident $from:ident $read:ident $write:ident) => {{
        let value = $from.$read()?;
        if let Some(to) = &mut $walk.to {
            to.$write(value);
        }
    }};
}

impl<'t> Walk<'t, '_, '_, '_> {
    fn value(&mut self, at: Edge, from: &mut Decoder<'_>) -> Walked {
        let error = |why| DecodeErrorKind::Invalid(why);
        self.steps = match self.steps.checked_sub(1) {
            Some(steps) => steps,
            None => {
                return Err(from.error(error("its type describes more values than octets"), "any").into());
            }
        };
        match unaliased(self.nodes, at) {
            // What nests has no frame of what does not on its stack.
            Edge::Simple(TCKind::Any, ..) => self.any(from),
            Edge::Simple(kind, number, scale) => self.simple(kind, number, scale, from),
            Edge::Node(index) => {
                let nodes = self.nodes;
                let Some(node) = nodes.get(index as usize) else {
                    return Err(from.error(error("a part is missing"), "TypeCode").into());
                };
                match node.kind {
                    // Those nest that are not null.
                    TCKind::Value | TCKind::ValueBox | TCKind::Event | TCKind::AbstractInterface => {
                        self.node(node, from)
                    }
                    _ => self.nested(from, |walk, from| walk.node(node, from)),
                }
            }
        }
    }

    fn nested(
        &mut self,
        from: &mut Decoder<'_>,
        inside: impl FnOnce(&mut Self, &mut Decoder<'_>) -> Walked,
    ) -> Walked {
        let mut result = Ok(());
        from.nested(|from| {
            result = inside(self, from);
            Ok(())
        })?;
        result
    }

    fn simple(&mut self, kind: TCKind, number: u32, scale: i16, from: &mut Decoder<'_>) -> Walked {
        match kind {
            TCKind::Null | TCKind::Void => {}
            TCKind::Short => copy!(self from read_i16 write_i16),
            TCKind::Long => copy!(self from read_i32 write_i32),
            TCKind::UShort => copy!(self from read_u16 write_u16),
            TCKind::ULong => copy!(self from read_u32 write_u32),
            TCKind::Float => copy!(self from read_f32 write_f32),
            TCKind::Double => copy!(self from read_f64 write_f64),
            TCKind::Boolean => copy!(self from read_bool write_bool),
            TCKind::Char => copy!(self from read_char write_char),
            TCKind::Octet => copy!(self from read_u8 write_u8),
            TCKind::LongLong => copy!(self from read_i64 write_i64),
            TCKind::ULongLong => copy!(self from read_u64 write_u64),
            TCKind::LongDouble => copy!(self from read_long_double write_long_double),
            TCKind::WChar => {
                let value = from.read_wchar()?;
                self.write(|to| to.write_wchar(value))?;
            }
            TCKind::String => {
                let value = match number {
                    0 => from.read_string()?,
                    bound => from.read_bounded_string(bound)?,
                };
                self.write(|to| to.write_string(&value))?;
            }
            TCKind::WString => {
                let value = match number {
                    0 => from.read_wstring()?,
                    bound => from.read_bounded_wstring(bound)?,
                };
                self.write(|to| to.write_wstring(&value))?;
            }
            TCKind::Fixed => {
                let value = from.read_fixed(number as u8, scale as u8)?;
                self.write(|to| to.write_fixed(value, number as u8, scale as u8))?;
            }
            TCKind::TypeCode => {
                let value = TypeCode::decode(from)?;
                self.write(|to| value.encode_anew(to))?;
            }
            TCKind::Any => self.any(from)?,
            TCKind::Principal => self.octets(from)?,
            // All others have parameters.
            _ => {
                return Err(from
                    .error(DecodeErrorKind::Invalid("its kind lacks parameters"), "TypeCode")
                    .into());
            }
        }
        Ok(())
    }

    fn any(&mut self, from: &mut Decoder<'_>) -> Walked {
        let ty = TypeCode::decode(from).map_err(|error| error.in_member("type"))?;
        self.write(|to| ty.encode_anew(to))?;
        let walked = self.nested(from, |walk, from| {
            let (to, graph) = (walk.to.as_deref_mut(), walk.graph.as_deref_mut());
            let mut inner = Walk { nodes: ty.nodes(), to, steps: walk.steps, graph };
            let result = inner.value(ty.edge(), from);
            walk.steps = inner.steps;
            result
        });
        walked.map_err(|error| error.at(|it| it.in_member("value")))
    }

    fn write(&mut self, write: impl FnOnce(&mut Encoder<'_>) -> Result<(), EncodeError>) -> Walked {
        match &mut self.to {
            Some(to) => Ok(write(to)?),
            None => Ok(()),
        }
    }

    fn octets(&mut self, from: &mut Decoder<'_>) -> Walked {
        let count = from.read_count(1)?;
        self.write(|to| to.write_length(count))?;
        self.pass_on(1, count, from)
    }

    fn members(&mut self, node: &Node, from: &mut Decoder<'_>) -> Walked {
        for member in &node.members {
            if !self.is_passed(member.ty, from) {
                self.value(member.ty, from).map_err(|error| error.in_named(&member.name))?;
            }
        }
        Ok(())
    }

    /// Passes over what most structs are made of: numbers that are only read and lie here. A walk takes as many of these steps
    /// as there are octets, which bound them.
    #[inline]
    fn is_passed(&self, at: Edge, from: &mut Decoder<'_>) -> bool {
        match at {
            Edge::Simple(kind, ..) if self.to.is_none() => {
                kind.run_size().is_some_and(|size| from.pass(size))
            }
            _ => false,
        }
    }

    fn node(&mut self, node: &'t Node, from: &mut Decoder<'_>) -> Walked {
        let refused = |from: &Decoder<'_>, why| Err(from.error(DecodeErrorKind::Invalid(why), "any").into());
        match node.kind {
            TCKind::Struct => self.members(node, from),
            TCKind::Except => {
                read_exception_id(&node.id, from)?;
                self.write(|to| to.write_raw_string(node.id.as_bytes()))?;
                self.members(node, from)
            }
            TCKind::Enum => {
                let value = from.read_u32()?;
                if value as usize >= node.members.len() {
                    return Err(from.error(DecodeErrorKind::BadEnumerator(value), "enum").into());
                }
                self.write(|to| {
                    to.write_u32(value);
                    Ok(())
                })
            }
            TCKind::Sequence => {
                let count = read_count_of(self.nodes, node.content, from)?;
                if node.number != 0 {
                    from.check_bound(count, node.number as u32, "sequence")?;
                }
                self.write(|to| to.write_length(count))?;
                self.run(node.content, count, from)
            }
            TCKind::Array => self.run(node.content, node.number as usize, from),
            TCKind::Union => self.union(node, from),
            TCKind::ObjRef | TCKind::Component | TCKind::Home => self.reference(from),
            TCKind::AbstractInterface => {
                let is_reference = from.read_bool()?;
                self.write(|to| {
                    to.write_bool(is_reference);
                    Ok(())
                })?;
                if is_reference { self.reference(from) } else { self.value_type(None, from) }
            }
            TCKind::Value | TCKind::ValueBox | TCKind::Event => self.value_type(Some(node), from),
            _ => refused(from, "values of its kind cannot be sent"),
        }
    }

    fn run(&mut self, element: Edge, count: usize, from: &mut Decoder<'_>) -> Walked {
        if let (Edge::Simple(kind, ..), true) = (unaliased(self.nodes, element), count > 0)
            && let Some(size) = kind.run_size()
            && self.goes_as_it_is(size, from)
        {
            let at = from.position();
            let truncated = || DecodeError::new(DecodeErrorKind::Truncated, "sequence", at);
            from.align(size).map_err(|_| truncated())?;
            let octets = count.checked_mul(size).filter(|octets| *octets <= from.remaining());
            let octets = octets.ok_or_else(truncated)?;
            // GIOP 1.1 aligns in each fragment anew, so that only a run in one piece can be passed over.
            if from.left_here() >= octets || size == 1 {
                return self.pass_on(size, octets, from);
            }
        }
        (0..count).try_for_each(|index| {
            self.value(element, from).map_err(|error| error.at(|it| it.in_element(index)))
        })
    }

    /// Whether numbers of so many octets are the same where they are written: in any byte order but ours each is turned around, and where a message is
    /// cut into fragments each is kept whole.
    fn goes_as_it_is(&self, size: usize, from: &Decoder<'_>) -> bool {
        size == 1
            || self.to.as_ref().is_none_or(|to| from.order() == ByteOrder::NATIVE && !to.is_fragmenting())
    }

    /// Reads a run, and writes it where it goes on: shared with what holds it, if it is long enough to leave from there.
    fn pass_on(&mut self, size: usize, octets: usize, from: &mut Decoder<'_>) -> Walked {
        let Some(to) = &mut self.to else {
            from.read_octets(octets)?;
            return Ok(());
        };
        to.align(size);
        if octets >= crate::BORROW_FROM {
            to.write_shared(from.read_bytes(octets)?);
        } else {
            to.write_octets(&from.read_octets(octets)?);
        }
        Ok(())
    }

    fn union(&mut self, node: &Node, from: &mut Decoder<'_>) -> Walked {
        let kind = match unaliased(self.nodes, node.content) {
            Edge::Simple(kind, ..) => kind,
            Edge::Node(index) => self.nodes.get(index as usize).map_or(TCKind::Null, |node| node.kind),
        };
        let label = read_label(kind, from)?;
        self.write(|to| write_label(kind, label, to))?;
        let default = usize::try_from(node.number).ok();
        let members = node.members.iter().enumerate();
        let mut labelled = members.filter(|(index, _)| Some(*index) != default).map(|(_, member)| member);
        let member = labelled.find(|member| member.number == label);
        match member.or_else(|| node.members.get(default?)) {
            Some(member) => self.value(member.ty, from).map_err(|error| error.in_named(&member.name)),
            None => Ok(()),
        }
    }

    fn reference(&mut self, from: &mut Decoder<'_>) -> Walked {
        let id = from.read_raw_string()?;
        // A profile takes a tag and a length.
        let count = from.read_count(8)?;
        self.write(|to| {
            to.write_raw_string(&id)?;
            to.write_length(count)
        })?;
        for _ in 0..count {
            copy!(self from read_u32 write_u32);
            self.octets(from)?;
        }
        Ok(())
    }
}
