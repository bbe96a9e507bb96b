//! The numbers of the wire, each a newtype with the specification's names for the values it gives one.
//!
//! A number that nobody named passes through, compares and prints: what a peer sends is never lost because this
//! file does not know it. CORBA 3.4 part 2, §9.4 (messages), §7.6.4–7.6.6 (profiles and components), §9.4.2 (statuses).

use core::fmt;

/// Declares a wire number: its constants, `name()`, and a `Display` that prints the name or else the number.
macro_rules! wire_number {
    ($(#[$about:meta])* $name:ident($repr:ty) { $($(#[$doc:meta])* $constant:ident = $value:literal $text:literal;)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub $repr);

        impl $name {
            $($(#[$doc])* pub const $constant: Self = Self($value);)*

            /// The name that the specification (or the vendor) gives this number, if zorb knows one.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some($text),)*
                    _ => None,
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, "{:#x}", self.0),
                }
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, concat!(stringify!($name), "({:#x})"), self.0),
                }
            }
        }
    };
}

wire_number! {
    /// What a message is: octet 7 of its header (§9.4.1).
    MessageType(u8) {
        /// A call.
        REQUEST = 0 "Request";
        /// The answer to a call.
        REPLY = 1 "Reply";
        /// The caller no longer waits for a reply.
        CANCEL_REQUEST = 2 "CancelRequest";
        /// Asks where an object is.
        LOCATE_REQUEST = 3 "LocateRequest";
        /// Answers a LocateRequest.
        LOCATE_REPLY = 4 "LocateReply";
        /// No more messages will be processed; unanswered requests were not executed.
        CLOSE_CONNECTION = 5 "CloseConnection";
        /// The last message could not be understood.
        MESSAGE_ERROR = 6 "MessageError";
        /// Continues a message whose header said that more fragments follow (1.1 on).
        FRAGMENT = 7 "Fragment";
    }
}

wire_number! {
    /// How a request ended (§9.4.3.1).
    ReplyStatus(u32) {
        /// The body holds the result and the out arguments.
        NO_EXCEPTION = 0 "NO_EXCEPTION";
        /// The body holds a repository id and the exception's members.
        USER_EXCEPTION = 1 "USER_EXCEPTION";
        /// The body is a [`SystemExceptionBody`](crate::SystemExceptionBody).
        SYSTEM_EXCEPTION = 2 "SYSTEM_EXCEPTION";
        /// The body is an [`Ior`](crate::Ior) to ask instead, for this time.
        LOCATION_FORWARD = 3 "LOCATION_FORWARD";
        /// The body is an [`Ior`](crate::Ior) that replaces the one used, for good (1.2).
        LOCATION_FORWARD_PERM = 4 "LOCATION_FORWARD_PERM";
        /// The body is an [`AddressingDisposition`] (as a short) in which to send again (1.2).
        NEEDS_ADDRESSING_MODE = 5 "NEEDS_ADDRESSING_MODE";
    }
}

wire_number! {
    /// How a LocateRequest ended (§9.4.6.1).
    LocateStatus(u32) {
        /// No such object here. No body.
        UNKNOWN_OBJECT = 0 "UNKNOWN_OBJECT";
        /// Requests for the object can be sent here. No body.
        OBJECT_HERE = 1 "OBJECT_HERE";
        /// The body is an [`Ior`](crate::Ior) to ask instead, for this time.
        OBJECT_FORWARD = 2 "OBJECT_FORWARD";
        /// The body is an [`Ior`](crate::Ior) that replaces the one used (1.2).
        OBJECT_FORWARD_PERM = 3 "OBJECT_FORWARD_PERM";
        /// The body is a [`SystemExceptionBody`](crate::SystemExceptionBody) (1.2).
        LOC_SYSTEM_EXCEPTION = 4 "LOC_SYSTEM_EXCEPTION";
        /// The body is an [`AddressingDisposition`] (as a short) in which to ask again (1.2).
        LOC_NEEDS_ADDRESSING_MODE = 5 "LOC_NEEDS_ADDRESSING_MODE";
    }
}

wire_number! {
    /// When the target answers a request (§9.4.2.1). GIOP 1.0 and 1.1 know only "no" ([`NONE`](Self::NONE))
    /// and "yes" ([`WITH_TARGET`](Self::WITH_TARGET)).
    ResponseFlags(u8) {
        /// Never: a oneway with scope NONE or WITH_TRANSPORT.
        NONE = 0 "no response";
        /// Once the server has the request, before it is executed: a oneway with scope WITH_SERVER.
        WITH_SERVER = 1 "response by the server";
        /// Once the target has executed it: a two-way call, or a oneway with scope WITH_TARGET.
        WITH_TARGET = 3 "response by the target";
    }
}

impl ResponseFlags {
    /// Whether a Reply will come.
    #[inline]
    #[must_use]
    pub const fn expects_reply(self) -> bool {
        self.0 & 1 != 0
    }
}

wire_number! {
    /// How a GIOP 1.2 message names its target (§9.4.2.1).
    AddressingDisposition(u16) {
        /// By the object key alone.
        KEY_ADDR = 0 "KeyAddr";
        /// By a profile of the reference.
        PROFILE_ADDR = 1 "ProfileAddr";
        /// By the reference and the index of the profile in use.
        REFERENCE_ADDR = 2 "ReferenceAddr";
    }
}

wire_number! {
    /// What the data of a [`ServiceContext`](crate::ServiceContext) mean (§7.7.1).
    ContextId(u32) {
        /// The transaction that the request belongs to.
        TRANSACTION_SERVICE = 0 "TransactionService";
        /// The transmission code sets in force: [`code_sets`](crate::code_sets).
        CODE_SETS = 1 "CodeSets";
        /// Chains of bypass checks.
        CHAIN_BYPASS_CHECK = 2 "ChainBypassCheck";
        /// Information on a chain of bypass checks.
        CHAIN_BYPASS_INFO = 3 "ChainBypassInfo";
        /// Logical thread of a call chain.
        LOGICAL_THREAD_ID = 4 "LogicalThreadId";
        /// The client also serves on this connection.
        BI_DIR_IIOP = 5 "BI_DIR_IIOP";
        /// Where the sender's code can be fetched.
        SENDING_CONTEXT_RUN_TIME = 6 "SendingContextRunTime";
        /// Policies of the invocation.
        INVOCATION_POLICIES = 7 "INVOCATION_POLICIES";
        /// Identity forwarded through a firewall.
        FORWARDED_IDENTITY = 8 "FORWARDED_IDENTITY";
        /// An exception that the receiver may not know.
        UNKNOWN_EXCEPTION_INFO = 9 "UnknownExceptionInfo";
        /// Real-time priority of the request.
        RT_CORBA_PRIORITY = 10 "RTCorbaPriority";
        /// Range of real-time priorities.
        RT_CORBA_PRIORITY_RANGE = 11 "RTCorbaPriorityRange";
        /// Version of the group that is called.
        FT_GROUP_VERSION = 12 "FT_GROUP_VERSION";
        /// Identifies a request across retries.
        FT_REQUEST = 13 "FT_REQUEST";
        /// A text that explains an exception.
        EXCEPTION_DETAIL_MESSAGE = 14 "ExceptionDetailMessage";
        /// CSIv2 security attributes.
        SECURITY_ATTRIBUTE_SERVICE = 15 "SecurityAttributeService";
        /// Activity the request belongs to.
        ACTIVITY_SERVICE = 16 "ActivityService";
        /// Four octets that mean nothing, before a body that must keep its alignment
        /// ([`write_undecoded_reply`](crate::write_undecoded_reply)). Not registered; it spells `ZO` and a number.
        ZORB_FILLER = 0x5a4f_0001 "zorb filler";
        /// How many of zorb's bridges a request has passed through: an encapsulated `unsigned long`. Not registered.
        ZORB_HOPS = 0x5a4f_0002 "zorb hops";
        /// The frame that made the request ([`Frame`](crate::Frame)). It is made by the receiver and never sent. Not
        /// registered; it spells `ZO` and a number.
        ZORB_FRAME = 0x5a4f_0003 "zorb frame";
    }
}

wire_number! {
    /// What the data of a [`TaggedProfile`](crate::TaggedProfile) are (§7.6.2).
    ProfileTag(u32) {
        /// TCP/IP: [`IiopProfile`](crate::IiopProfile).
        INTERNET_IOP = 0 "IIOP";
        /// Components that stand for the object as a whole.
        MULTIPLE_COMPONENTS = 1 "multiple components";
        /// SS7's transport.
        SCCP_IOP = 2 "SCCP-IOP";
        /// Multicast.
        UIPMC = 3 "UIPMC";
        /// TAO's Unix sockets.
        TAO_UIOP = 0x5441_4f00 "TAO UIOP";
        /// TAO's shared memory.
        TAO_SHMIOP = 0x5441_4f02 "TAO SHMIOP";
        /// TAO's UDP.
        TAO_DIOP = 0x5441_4f04 "TAO DIOP";
        /// Octets that mean nothing: they give a reference in a message the length of another, modulo 8. Not registered.
        ZORB_FILLER = 0x5a4f_0001 "zorb filler";
    }
}

wire_number! {
    /// What the data of a [`TaggedComponent`](crate::TaggedComponent) are (§7.6.6).
    ComponentTag(u32) {
        /// Which ORB made the reference: an [`OrbType`].
        ORB_TYPE = 0 "ORB type";
        /// The server's code sets: [`code_sets`](crate::code_sets).
        CODE_SETS = 1 "code sets";
        /// Policies that the object publishes.
        POLICIES = 2 "policies";
        /// One more address for the same profile.
        ALTERNATE_IIOP_ADDRESS = 3 "alternate IIOP address";
        /// The key, in a multiple-components profile.
        COMPLETE_OBJECT_KEY = 5 "complete object key";
        /// Where in the key the endpoint is named.
        ENDPOINT_ID_POSITION = 6 "endpoint id position";
        /// When a client should send LocateRequests.
        LOCATION_POLICY = 12 "location policy";
        /// Security associations.
        ASSOCIATION_OPTIONS = 13 "association options";
        /// Security name.
        SEC_NAME = 14 "security name";
        /// SSL: what it supports and requires, and its port.
        SSL_SEC_TRANS = 20 "SSL";
        /// Where a Java client finds the stubs.
        JAVA_CODEBASE = 25 "Java codebase";
        /// Transaction policy.
        TRANSACTION_POLICY = 26 "transaction policy";
        /// Fault-tolerant group.
        FT_GROUP = 27 "fault-tolerant group";
        /// The primary of a group.
        FT_PRIMARY = 28 "fault-tolerant primary";
        /// Heartbeats are on.
        FT_HEARTBEAT_ENABLED = 29 "heartbeat enabled";
        /// Transactions: what the object asks for.
        OTS_POLICY = 31 "OTS policy";
        /// Transactions: invocation policy.
        INV_POLICY = 32 "invocation policy";
        /// CSIv2 mechanisms.
        CSI_SEC_MECH_LIST = 33 "CSIv2 mechanisms";
        /// CSIv2: no transport security.
        NULL_TAG = 34 "no transport security";
        /// CSIv2: SECIOP.
        SECIOP_SEC_TRANS = 35 "SECIOP";
        /// CSIv2: TLS and its addresses.
        TLS_SEC_TRANS = 36 "TLS";
        /// The highest RMI stream format understood.
        RMI_CUSTOM_MAX_STREAM_FORMAT = 38 "RMI stream format";
        /// Group identity.
        GROUP = 39 "group";
        /// zorb's UDP: host and port where oneways are taken.
        ZORB_UDP = 0x5a4f_5255 "zorb UDP";
        /// omniORB's Unix sockets: host name and path.
        OMNIORB_UNIX = 0x4154_5402 "omniORB Unix socket";
        /// zorb's shared memory: host name and path of the Unix socket that sets it up. Not registered; it spells `ZRB`.
        ZORB_SHM = 0x5a52_4201 "zorb shared memory";
        /// zorb's: the messaging protocols that the server speaks beside GIOP. Not registered.
        ZORB_MESSAGING = 0x5a52_4202 "zorb messaging protocols";
        /// zorb's transport within a process: which one, in eight octets, and those of a name. Not registered.
        ZORB_MEMORY = 0x5a52_4203 "zorb memory";
        /// TAO's further endpoints.
        TAO_ENDPOINTS = 0x5441_4f02 "TAO endpoints";
    }
}

wire_number! {
    /// Which ORB made a reference: the value of the component [`ComponentTag::ORB_TYPE`]. Vendors register theirs with
    /// the Object Management Group; zorb's is not registered (it spells `ZORB`).
    OrbType(u32) {
        /// zorb.
        ZORB = 0x5a4f_5242 "zorb";
        /// omniORB.
        OMNIORB = 0x4154_5400 "omniORB";
        /// TAO.
        TAO = 0x5441_4f00 "TAO";
        /// JacORB.
        JACORB = 0x4a41_4300 "JacORB";
    }
}

wire_number! {
    /// Who numbers a minor code: its upper 20 bits (CORBA 3.4 part 1, §A.5, "vendor minor codeset id").
    MinorCodeVendor(u32) {
        /// The specification itself.
        OMG = 0x4f4d_0000 "OMG";
        /// omniORB.
        OMNIORB = 0x4154_0000 "omniORB";
        /// TAO.
        TAO = 0x5441_0000 "TAO";
        /// Sun's ORB, which Java carried.
        SUN = 0x5355_0000 "Sun";
        /// zorb (not registered: it spells `ZO`).
        ZORB = 0x5a4f_0000 "zorb";
    }
}

impl MinorCodeVendor {
    /// Who numbered this minor code; the vendor's own number is its lower 12 bits.
    #[must_use]
    pub const fn of(minor: u32) -> Self {
        Self(minor & 0xffff_f000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn known_numbers_print_their_name_and_others_themselves() {
        assert_eq!(format!("{}", MessageType::FRAGMENT), "Fragment");
        assert_eq!(format!("{}", MessageType(9)), "0x9");
        assert_eq!(format!("{:?}", ProfileTag(0x1234)), "ProfileTag(0x1234)");
        assert_eq!(MinorCodeVendor::of(0x4f4d_0003), MinorCodeVendor::OMG);
    }

    #[test]
    fn only_the_lowest_bit_asks_for_a_reply() {
        assert!(!ResponseFlags::NONE.expects_reply());
        assert!(ResponseFlags::WITH_SERVER.expects_reply());
        assert!(ResponseFlags::WITH_TARGET.expects_reply());
    }
}
