//! IDL module `CORBA`, as far as the built-in `orb.idl` declares it: what generated code refers to where user IDL names one of these.
//!
//! `Policy` and `Current` are interfaces here as they were before there were local ones, since interfaces of services inherit from
//! them; a local interface may do so too.

use super::{
    Any, Call, Char, Exception, Interface, InterfaceInfo, LongDouble, ObjectRef, Operation, Operations,
    Pending, Sequence, Served, ServedBy, ServerRequest, SystemException, WChar, decode, decode_as, encode_as,
    invoke, invoke_async, invoke_async_by, invoke_by, wire::Reference,
};

/// What kind of policy one is.
pub type PolicyType = u32;
/// What kind of service information is asked for.
pub type ServiceType = u16;
/// One option of a service.
pub type ServiceOption = u32;
/// One detail of a service.
pub type ServiceDetailType = u32;
/// A name without scopes.
pub type Identifier = String;
/// What tells types apart: `IDL:example.com/Bank/Account:1.0`.
pub type RepositoryId = String;
/// A name with its scopes.
pub type ScopedName = String;
/// IDL `sequence<Policy>`.
pub type PolicyList = Vec<Option<Policy>>;
/// IDL `sequence<any>`.
pub type AnySeq = Vec<Any>;
/// IDL `sequence<boolean>`.
pub type BooleanSeq = Sequence<bool>;
/// IDL `sequence<octet>`.
pub type OctetSeq = Sequence<u8>;
/// IDL `sequence<char>`.
pub type CharSeq = Sequence<Char>;
/// IDL `sequence<wchar>`.
pub type WCharSeq = Vec<WChar>;
/// IDL `sequence<short>`.
pub type ShortSeq = Sequence<i16>;
/// IDL `sequence<unsigned short>`.
pub type UShortSeq = Sequence<u16>;
/// IDL `sequence<long>`.
pub type LongSeq = Sequence<i32>;
/// IDL `sequence<unsigned long>`.
pub type ULongSeq = Sequence<u32>;
/// IDL `sequence<long long>`.
pub type LongLongSeq = Sequence<i64>;
/// IDL `sequence<unsigned long long>`.
pub type ULongLongSeq = Sequence<u64>;
/// IDL `sequence<float>`.
pub type FloatSeq = Sequence<f32>;
/// IDL `sequence<double>`.
pub type DoubleSeq = Sequence<f64>;
/// IDL `sequence<long double>`.
pub type LongDoubleSeq = Sequence<LongDouble>;
/// IDL `sequence<string>`.
pub type StringSeq = Vec<String>;
/// IDL `sequence<wstring>`.
pub type WStringSeq = Vec<String>;

/// A pseudo-object: the exception that an operation has ended with, if one. It never travels.
pub type Environment = Option<std::sync::Arc<Exception>>;
/// A pseudo-object: whom a request of GIOP 1.0 is from. It never travels.
pub type Principal = Sequence<u8>;

macro_rules! reference {
    ($(#[$doc:meta])* $name:ident $id:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            object: ObjectRef,
        }

        impl Interface for $name {
            const INFO: &'static InterfaceInfo = &InterfaceInfo { id: $id, ancestors: &[] };

            fn from_object(object: ObjectRef) -> Self {
                Self { object }
            }

            fn as_object(&self) -> &ObjectRef {
                &self.object
            }
        }

        impl std::ops::Deref for $name {
            type Target = ObjectRef;

            fn deref(&self) -> &ObjectRef {
                &self.object
            }
        }
    };
}

reference! {
    /// A description of an interface in an interface repository; `zorb_dynamic` has its operations.
    InterfaceDef "IDL:omg.org/CORBA/InterfaceDef:1.0"
}
reference! {
    /// Any object of an interface repository; `zorb_dynamic` has its operations.
    IRObject "IDL:omg.org/CORBA/IRObject:1.0"
}
reference! {
    /// What is of the thread that asks; the base of such interfaces.
    Current "IDL:omg.org/CORBA/Current:1.0"
}
reference! {
    /// A choice of the program's; the base of such interfaces.
    Policy "IDL:omg.org/CORBA/Policy:1.0"
}

macro_rules! served {
    ($name:ident by $servant:ident) => {
        impl<S: $servant> ServedBy<S> for $name {
            fn lend(servant: &S) -> &Self::Servant {
                servant
            }

            fn share(servant: std::sync::Arc<S>) -> std::sync::Arc<Self::Servant> {
                servant
            }
        }
    };
}

/// What an implementation of [`Current`] provides.
pub trait CurrentServant: Send + Sync + 'static {}

impl Served for Current {
    type Servant = dyn CurrentServant;

    fn dispatch(_: &Self::Servant, request: ServerRequest) {
        request.unknown_operation();
    }
}

served!(Current by CurrentServant);

static POLICY_TYPE: Operation =
    Operation { name: "_get_policy_type", number: 4_838_238_806_673_727_837, parameters: &[] };
static COPY: Operation = Operation { name: "copy", number: 17_083_075_474_825_842_914, parameters: &[] };
static DESTROY: Operation = Operation { name: "destroy", number: 3_661_261_890_607_339_967, parameters: &[] };

impl Policy {
    /// Which kind of policy it is.
    ///
    /// # Errors
    /// Of the ORB's alone, as of its other methods.
    pub fn policy_type(&self) -> Result<PolicyType, SystemException> {
        invoke(self, &POLICY_TYPE, PolicyServant::policy_type, ())
    }

    /// [`policy_type`](Self::policy_type), made now and waited for later.
    pub fn policy_type_async(&self) -> Pending<PolicyType, SystemException> {
        invoke_async(self, &POLICY_TYPE, ())
    }

    /// A copy of it.
    ///
    /// # Errors
    /// Of the ORB's alone.
    pub fn copy(&self) -> Result<Option<Policy>, SystemException> {
        invoke_by(self, &COPY, PolicyServant::copy, (), decode_as::<Reference, _>)
    }

    /// [`copy`](Self::copy), made now and waited for later.
    pub fn copy_async(&self) -> Pending<Option<Policy>, SystemException> {
        invoke_async_by(self, &COPY, (), decode_as::<Reference, _>)
    }

    /// Ends it.
    ///
    /// # Errors
    /// Of the ORB's alone.
    pub fn destroy(&self) -> Result<(), SystemException> {
        invoke(self, &DESTROY, PolicyServant::destroy, ())
    }

    /// [`destroy`](Self::destroy), made now and waited for later.
    pub fn destroy_async(&self) -> Pending<(), SystemException> {
        invoke_async(self, &DESTROY, ())
    }
}

/// What an implementation of [`Policy`] provides.
pub trait PolicyServant: Send + Sync + 'static {
    /// Which kind of policy it is.
    ///
    /// # Errors
    /// What the implementation raises, as of the other methods.
    fn policy_type(&self, context: &Call) -> Result<PolicyType, SystemException>;

    /// A copy of it.
    ///
    /// # Errors
    /// What the implementation raises.
    fn copy(&self, context: &Call) -> Result<Option<Policy>, SystemException>;

    /// Ends it.
    ///
    /// # Errors
    /// What the implementation raises.
    fn destroy(&self, context: &Call) -> Result<(), SystemException>;
}

impl Served for Policy {
    type Servant = dyn PolicyServant;

    fn dispatch(servant: &Self::Servant, mut request: ServerRequest) {
        static OPERATIONS: Operations = Operations {
            seed: 0,
            displacements: &[0],
            slots: &[0, 0, 1, 2],
            names: &["_get_policy_type", "copy", "destroy"],
            numbers: &[POLICY_TYPE.number, COPY.number, DESTROY.number],
        };
        match request.find(&OPERATIONS) {
            Some(0) => request.serve(|context, ()| servant.policy_type(context)),
            Some(1) => {
                request.serve_by(decode, encode_as::<Reference, _>, |context, ()| servant.copy(context))
            }
            Some(2) => request.serve(|context, ()| servant.destroy(context)),
            _ => request.unknown_operation(),
        }
    }
}

served!(Policy by PolicyServant);
