//! A value of a valuetype as a [`Tree`].

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zorb_cdr::{BegunValue, ByteOrder, Decoder, TCKind, TypeCode, ValuePiece, ValueStart};

use super::WrittenError;
use super::compose::{member_name, named};
use super::graph::{Content, REST, ValueTree, is_described, is_value, lineage, tells_state};
use super::show::{Show, Shown};
use super::tree::{Tree, shortened};

/// The words for the byte order of octets whose meaning is not known.
pub(super) const ORDERS: [(ByteOrder, &str); 2] = [(ByteOrder::Little, "little"), (ByteOrder::Big, "big")];

impl Show<'_> {
    /// What stands where a value may, of this type where that says something.
    pub(super) fn value(&self, formal: Option<&TypeCode>, from: &mut Decoder<'_>) -> Shown {
        let start = from.begin_value()?;
        self.started(formal, start, from)
    }

    fn started(&self, formal: Option<&TypeCode>, start: ValueStart, from: &mut Decoder<'_>) -> Shown {
        match start {
            ValueStart::Null => Ok(Tree::Null),
            ValueStart::Again(at) => Ok(Tree::Again(at)),
            ValueStart::New(begun) => self.nested(from, |from| self.new_value(formal, &begun, from)),
        }
    }

    fn new_value(&self, formal: Option<&TypeCode>, begun: &BegunValue, from: &mut Decoder<'_>) -> Shown {
        let (mut tree, state) = self.told(formal, begun)?;
        if let Some(ty) = state {
            tree.content = self.content(&ty, from)?;
        }
        self.rest(begun, &mut tree.rest, from)?;
        Ok(Tree::Value(tree))
    }

    fn content(&self, ty: &TypeCode, from: &mut Decoder<'_>) -> Result<Content, WrittenError> {
        match ty.kind() {
            TCKind::ValueBox => {
                let held = ty.content_type().unwrap_or_default();
                self.part(&held, &self.form(ty, 0), from).map(Content::Boxed)
            }
            _ => self.state(ty, from).map(Content::Members),
        }
    }

    /// What a value says of itself, and the type that tells its state or the beginning of it. On its own, so that values that nest do not have it on
    /// their stack.
    #[inline(never)]
    fn told(
        &self,
        formal: Option<&TypeCode>,
        begun: &BegunValue,
    ) -> Result<(Box<ValueTree>, Option<TypeCode>), WrittenError> {
        self.tell(begun.ids.iter().chain(&begun.codebase).map(|text| text.len()).sum())?;
        let ids: Vec<_> = begun.ids.iter().map(|id| String::from_utf8_lossy(id).into_owned()).collect();
        let known = self.known(formal, &ids);
        let of = || ids.first().map_or_else(|| formal.map_or_else(String::new, named), |id| shortened(id));
        if known.is_none() && !begun.is_chunked {
            let why = "its state is not known here, and as it is not in chunks nothing tells where it ends";
            return Err(WrittenError::new(format!("there is a value of {}: {why}", of())));
        }
        let declared = formal.and_then(TypeCode::id);
        let other = ids.first().filter(|id| declared != Some(id));
        let mut tree = ValueTree {
            at: begun.at,
            ty: other.map(|id| self.name_of(id, formal)),
            bases: Vec::new(),
            codebase: begun.codebase.as_ref().map(|it| String::from_utf8_lossy(it).into_owned()),
            content: Content::Members(Vec::new()),
            rest: Vec::new(),
        };
        if !matches!(known, Some((0, _))) {
            tree.bases = ids.iter().skip(1).map(|id| self.name_of(id, formal)).collect();
        }
        Ok((Box::new(tree), known.map(|(_, ty)| ty)))
    }

    /// The members, those of the bases first.
    fn state(&self, ty: &TypeCode, from: &mut Decoder<'_>) -> Result<Vec<(String, Tree)>, WrittenError> {
        let mut members = Vec::new();
        for ty in lineage(ty) {
            for index in 0..ty.member_count().unwrap_or(0) {
                let (name, of) = (member_name(&ty, index), ty.member_type(index).unwrap_or_default());
                let value =
                    self.part(&of, &self.form(&ty, index), from).map_err(|error| error.within(&name))?;
                members.push((name, value));
            }
        }
        Ok(members)
    }

    /// What comes behind the state that is known, to the end of the value: octets, and values between them.
    fn rest(
        &self,
        begun: &BegunValue,
        rest: &mut Vec<Tree>,
        from: &mut Decoder<'_>,
    ) -> Result<(), WrittenError> {
        let within = |index, error: WrittenError| error.at(index).within(REST);
        loop {
            let index = rest.len();
            let piece = from.value_piece(begun).map_err(|error| within(index, error.into()))?;
            rest.push(match piece {
                ValuePiece::End => return Ok(()),
                ValuePiece::Octets { octets, at } => {
                    let order = ORDERS.iter().find(|(order, _)| *order == from.order());
                    let order = order.map_or("", |(_, word)| word);
                    let octets = Tree::Text(STANDARD.encode(octets));
                    Tree::Members(vec![
                        ("at".to_owned(), Tree::Number(at.to_string())),
                        (order.to_owned(), octets),
                    ])
                }
                ValuePiece::Value(start) => {
                    self.started(None, start, from).map_err(|error| within(index, error))?
                }
            });
        }
    }

    /// The first of the types that a value says it is of whose state is known.
    fn known(&self, formal: Option<&TypeCode>, ids: &[String]) -> Option<(usize, TypeCode)> {
        if ids.is_empty() {
            return formal.filter(|formal| is_described(formal)).map(|formal| (0, formal.clone()));
        }
        ids.iter().enumerate().find_map(|(index, id)| {
            let ty = self.type_of(id, formal).filter(|ty| tells_state(ty, formal))?;
            Some((index, ty))
        })
    }

    fn type_of(&self, id: &str, formal: Option<&TypeCode>) -> Option<TypeCode> {
        let told = formal.and_then(|formal| formal.part_named(id));
        let told = told.or_else(|| self.any.described_value(id).cloned());
        told.or_else(|| self.notation.value_type(id)).filter(is_value)
    }

    /// What a type is called: by its scoped name, if it is known.
    fn name_of(&self, id: &str, formal: Option<&TypeCode>) -> String {
        let known = self.type_of(id, formal);
        known.map_or_else(|| id.to_owned(), |ty| self.notation.repository.type_name(&ty))
    }
}
