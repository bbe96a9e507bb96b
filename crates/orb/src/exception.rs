//! System exceptions: what went wrong, whose fault it was, and whether the call may have run.
//!
//! CORBA 3.4 part 1 §4.12 lists the kinds; part 2 §9.4.3.2 gives their form on the wire. A
//! [`SystemException`] carries what CORBA carries (kind, minor code, completion) and, beside it, a text
//! for people that names endpoint, step and cause. The text stays in this process.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// Whether the operation had run when the exception was raised (CORBA 3.4 part 1 §4.12.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Completion {
    /// The operation ran to its end before the exception was raised.
    Yes = 0,
    /// The operation was never started: the call may be repeated without harm.
    No = 1,
    /// Nobody knows: the request left, and no answer came.
    Maybe = 2,
}

impl fmt::Display for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Completion::Yes => "completed",
            Completion::No => "not executed",
            Completion::Maybe => "may have been executed",
        })
    }
}

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal;)*) => {
        /// The kinds of system exception (CORBA 3.4 part 1 §4.12.3).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[allow(missing_docs)]
        pub enum Kind {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Kind {
            /// Every kind that CORBA names.
            pub const ALL: &'static [Kind] = &[$(Kind::$variant),*];

            /// The name as IDL spells it, such as `COMM_FAILURE`.
            pub const fn name(self) -> &'static str {
                match self { $(Kind::$variant => $name,)* }
            }

            /// The repository id, such as `IDL:omg.org/CORBA/COMM_FAILURE:1.0`.
            pub const fn repository_id(self) -> &'static str {
                match self { $(Kind::$variant => concat!("IDL:omg.org/CORBA/", $name, ":1.0"),)* }
            }
        }

        impl SystemException {
            $(
                #[doc = concat!("A `", $name, "` with minor code 0 and completion *no*.")]
                #[allow(non_snake_case)]
                pub fn $variant(detail: impl Into<Box<str>>) -> SystemException {
                    SystemException::new(Kind::$variant, Minor::NONE, Completion::No, detail)
                }
            )*
        }
    };
}
kinds! {
    /// The exception is of a kind that this side does not know.
    Unknown = "UNKNOWN";
    /// A parameter is out of range or otherwise illegal.
    BadParam = "BAD_PARAM";
    NoMemory = "NO_MEMORY";
    /// A limit of this implementation was reached.
    ImpLimit = "IMP_LIMIT";
    /// The connection was lost after the request had left.
    CommFailure = "COMM_FAILURE";
    /// The reference is malformed, or nothing in it can be used.
    InvObjref = "INV_OBJREF";
    NoPermission = "NO_PERMISSION";
    /// A bug in an ORB.
    Internal = "INTERNAL";
    /// Bytes that do not make the value that the interface says.
    Marshal = "MARSHAL";
    Initialize = "INITIALIZE";
    NoImplement = "NO_IMPLEMENT";
    BadTypecode = "BAD_TYPECODE";
    /// The object has no such operation.
    BadOperation = "BAD_OPERATION";
    NoResources = "NO_RESOURCES";
    NoResponse = "NO_RESPONSE";
    PersistStore = "PERSIST_STORE";
    BadInvOrder = "BAD_INV_ORDER";
    /// The object could not be reached now; a later call may succeed.
    Transient = "TRANSIENT";
    FreeMem = "FREE_MEM";
    InvIdent = "INV_IDENT";
    InvFlag = "INV_FLAG";
    IntfRepos = "INTF_REPOS";
    BadContext = "BAD_CONTEXT";
    /// The object adapter is missing or cannot serve.
    ObjAdapter = "OBJ_ADAPTER";
    /// A text cannot be carried by the code set in force.
    DataConversion = "DATA_CONVERSION";
    /// The object is gone for good.
    ObjectNotExist = "OBJECT_NOT_EXIST";
    TransactionRequired = "TRANSACTION_REQUIRED";
    TransactionRolledback = "TRANSACTION_ROLLEDBACK";
    InvalidTransaction = "INVALID_TRANSACTION";
    InvPolicy = "INV_POLICY";
    CodesetIncompatible = "CODESET_INCOMPATIBLE";
    Rebind = "REBIND";
    /// A deadline that this side chose has passed.
    Timeout = "TIMEOUT";
    TransactionUnavailable = "TRANSACTION_UNAVAILABLE";
    TransactionMode = "TRANSACTION_MODE";
    BadQos = "BAD_QOS";
    InvalidActivity = "INVALID_ACTIVITY";
    ActivityCompleted = "ACTIVITY_COMPLETED";
    ActivityRequired = "ACTIVITY_REQUIRED";
    ThreadCancelled = "THREAD_CANCELLED";
}

impl Kind {
    /// The kind that a repository id names, if CORBA knows it.
    pub fn from_repository_id(id: &str) -> Option<Kind> {
        let name = id.strip_prefix("IDL:omg.org/CORBA/")?.strip_suffix(":1.0")?;
        Kind::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A minor code: 20 bits of vendor, 12 bits of meaning (CORBA 3.4 part 1 §4.12.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Minor(pub u32);

impl Minor {
    /// Nothing more is said.
    pub const NONE: Minor = Minor(0);
    /// The set of minor codes that the OMG assigns.
    pub const OMG: u32 = 0x4f4d_0000;

    /// The OMG's standard code `number` (CORBA 3.4 part 1 annex A.5).
    pub const fn omg(number: u32) -> Minor {
        Minor(Minor::OMG | number)
    }
}

impl fmt::Display for Minor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0, self.0 & 0xffff_f000) {
            (0, _) => f.write_str("0"),
            (_, Minor::OMG) => write!(f, "OMG {}", self.0 & 0xfff),
            _ => write!(f, "{:#010x}", self.0),
        }
    }
}

/// A system exception: any call may end in one.
///
/// A pointer to its [`Particulars`], which are read and written through it: results of calls, nearly all of which are
/// good, are handed from function to function without the room that a bad one takes.
#[derive(Clone, PartialEq, Eq)]
pub struct SystemException(Box<Particulars>);

/// What a [`SystemException`] says.
#[derive(Clone, PartialEq, Eq)]
pub struct Particulars {
    /// What went wrong.
    pub kind: Kind,
    /// Which case of it.
    pub minor: Minor,
    /// Whether the operation ran.
    pub completed: Completion,
    detail: Box<str>,
}

impl Deref for SystemException {
    type Target = Particulars;

    fn deref(&self) -> &Particulars {
        &self.0
    }
}

impl DerefMut for SystemException {
    fn deref_mut(&mut self) -> &mut Particulars {
        &mut self.0
    }
}

impl SystemException {
    /// An exception with all its parts; `detail` names endpoint, step and cause.
    #[cold]
    pub fn new(kind: Kind, minor: Minor, completed: Completion, detail: impl Into<Box<str>>) -> Self {
        SystemException(Box::new(Particulars { kind, minor, completed, detail: detail.into() }))
    }

    /// The same with another minor code.
    pub fn minor(mut self, minor: Minor) -> Self {
        self.minor = minor;
        self
    }

    /// The same with another completion.
    pub fn completed(mut self, completed: Completion) -> Self {
        self.completed = completed;
        self
    }

    /// What a person should know: endpoint, step and cause. Empty when a peer raised it and said no more.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// Puts `context` before the text, for a layer that knows more than the one below.
    pub fn context(mut self, context: impl fmt::Display) -> Self {
        self.detail = match &*self.detail {
            "" => context.to_string().into(),
            detail => format!("{context}: {detail}").into(),
        };
        self
    }

    /// Puts more behind the text.
    pub(crate) fn with_more(mut self, more: &str) -> Self {
        if !more.is_empty() {
            self.detail = format!("{}{more}", self.detail).into();
        }
        self
    }
}

impl fmt::Display for SystemException {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (minor {}, {})", self.kind, self.minor, self.completed)?;
        match &*self.detail {
            "" => Ok(()),
            detail => write!(f, ": {detail}"),
        }
    }
}

/// As it is displayed: it is what `unwrap`, and a `main` that returns it, show to people.
impl fmt::Debug for SystemException {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for SystemException {}

/// What any operation may raise, with the user's exception behind one type: `?` turns every
/// operation's own error into this one.
#[derive(Debug)]
#[non_exhaustive]
pub enum Exception {
    /// Raised by an ORB.
    System(SystemException),
    /// Raised by a servant: an exception that the IDL declares.
    User(UserException),
}

/// A user exception whose type is known only by its repository id; [`UserException::downcast_ref`] gives it back.
#[derive(Debug)]
pub struct UserException {
    repository_id: &'static str,
    value: Box<dyn std::error::Error + Send + Sync + 'static>,
}

impl UserException {
    /// Wraps a generated exception type.
    pub fn new<T: std::error::Error + Send + Sync + 'static>(repository_id: &'static str, value: T) -> Self {
        UserException { repository_id, value: Box::new(value) }
    }

    /// The repository id of the exception's IDL type.
    pub fn repository_id(&self) -> &'static str {
        self.repository_id
    }

    /// The exception, if it is a `T`.
    pub fn downcast_ref<T: std::error::Error + 'static>(&self) -> Option<&T> {
        self.value.downcast_ref()
    }
}

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exception::System(exception) => exception.fmt(f),
            Exception::User(exception) => exception.value.fmt(f),
        }
    }
}

impl std::error::Error for Exception {}

/// What `?` turns into an [`Exception`]: exceptions of both sorts, and the error types of operations.
///
/// One trait and one conversion: a crate with a thousand exceptions would otherwise have as many `From` impls for the
/// same type, which the compiler compares pair by pair.
pub trait IntoException {
    /// The exception behind the type that all operations share.
    fn into_exception(self) -> Exception;
}

impl<E: IntoException> From<E> for Exception {
    fn from(raised: E) -> Self {
        raised.into_exception()
    }
}

impl IntoException for UserException {
    fn into_exception(self) -> Exception {
        Exception::User(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_repository_id() {
        for &kind in Kind::ALL {
            assert_eq!(Kind::from_repository_id(kind.repository_id()), Some(kind));
        }
        assert_eq!(Kind::from_repository_id("IDL:omg.org/CORBA/NO_SUCH:1.0"), None);
        assert_eq!(Kind::from_repository_id("IDL:acme/Broken:1.0"), None);
    }

    #[test]
    fn the_text_says_kind_minor_completion_and_cause() {
        let exception = SystemException::Timeout("tcp:10.0.0.1:2809: no answer in 2 s")
            .minor(Minor::omg(3))
            .completed(Completion::Maybe);
        assert_eq!(
            exception.to_string(),
            "TIMEOUT (minor OMG 3, may have been executed): tcp:10.0.0.1:2809: no answer in 2 s"
        );
    }
}
