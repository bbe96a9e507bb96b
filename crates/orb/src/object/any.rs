//! References in anys: an [`Any`] does not know the ORB that a reference is bound to.

use zorb_cdr::{Any, AnyError, Encode, EncodeError, Encoder, TCKind, TypeCode};

use crate::object::ObjectRef;
use crate::orb::Orb;
use crate::skeleton::OBJECT_ID;

/// A reference as it is written.
struct Written<'r>(Option<&'r ObjectRef>);

impl Encode for Written<'_> {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        ObjectRef::encode(self.0, to)
    }
}

impl ObjectRef {
    /// An any that holds the reference, or nil, as a `CORBA::Object`. For an any of another interface's TypeCode see
    /// [`to_any_of`](Self::to_any_of).
    ///
    /// # Errors
    /// A reference whose type id CDR cannot carry.
    pub fn to_any(reference: Option<&ObjectRef>) -> Result<Any, EncodeError> {
        let object = TypeCode::build(|to| to.interface(OBJECT_ID, "Object")).unwrap_or_default();
        Self::to_any_of(reference, object)
    }

    /// An any that holds the reference, or nil, as of this TypeCode, which is one of an interface.
    ///
    /// # Errors
    /// As [`to_any`](Self::to_any); a TypeCode of another kind.
    pub fn to_any_of(reference: Option<&ObjectRef>, ty: TypeCode) -> Result<Any, EncodeError> {
        Any::with_type_code(ty, &Written(reference))
    }

    /// The reference that an any holds, of whatever interface, bound to the ORB; nil is `None`.
    ///
    /// # Errors
    /// An any that holds something else.
    pub fn from_any(any: &Any, orb: &Orb) -> Result<Option<ObjectRef>, AnyError> {
        let is = any.type_code();
        if !matches!(is.unaliased().kind(), TCKind::ObjRef | TCKind::Component | TCKind::Home) {
            let asked = TypeCode::build(|to| to.interface(OBJECT_ID, "Object")).unwrap_or_default();
            return Err(AnyError::OtherType { is: is.clone(), asked });
        }
        Ok(ObjectRef::decode(&mut any.decoder().with_context(orb))?)
    }
}
