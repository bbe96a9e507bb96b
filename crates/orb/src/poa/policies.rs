//! The policies that an adapter is made with (CORBA 3.4 part 1 §11.3.7), and which exclude each other.
//!
//! | policy | values, the default first |
//! |---|---|
//! | [`Lifespan`] | transient, persistent |
//! | [`IdAssignment`] | system, user |
//! | [`IdUniqueness`] | unique, multiple |
//! | [`ServantRetention`] | retain, non-retain |
//! | [`RequestProcessing`] | active object map only, default servant, servant manager |
//! | [`ImplicitActivation`] | no, yes |
//! | [`ThreadPolicy`] | ORB-controlled, single thread, main thread |
//! | [`PoaPolicies::bidirectional`] (BiDirPolicy::BidirectionalPolicy) | no, yes |
//! | [`Protocols`] (RTCORBA::ServerProtocolPolicy) | every endpoint of the ORB, or those of a list of transports |

use std::fmt;

use crate::protocols::Protocols;

/// How long references stay good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Lifespan {
    /// As long as the adapter: after it is destroyed, or its process ended, they give `OBJECT_NOT_EXIST`.
    #[default]
    Transient,
    /// Beyond the process: when an adapter with the same path of names is made again at the same endpoint, they work.
    Persistent,
}

/// Who chooses object ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum IdAssignment {
    /// The adapter.
    #[default]
    System,
    /// The program.
    User,
}

/// Whether one servant may be several objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum IdUniqueness {
    /// A servant has one id at a time.
    #[default]
    Unique,
    /// A servant may have many.
    Multiple,
}

/// Whether the adapter remembers which servant is which object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ServantRetention {
    /// In its active object map.
    #[default]
    Retain,
    /// It asks for each request: a default servant or a servant locator.
    NonRetain,
}

/// Where the servant of a request comes from that the active object map does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RequestProcessing {
    /// From nowhere: `OBJECT_NOT_EXIST`.
    #[default]
    ActiveObjectMapOnly,
    /// One servant for all of them.
    DefaultServant,
    /// A servant activator (with `Retain`) or a servant locator (with `NonRetain`) finds one.
    ServantManager,
}

/// Whether asking for a servant's reference activates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ImplicitActivation {
    /// It must be active.
    #[default]
    No,
    /// It becomes active.
    Yes,
}

/// Which threads the adapter's requests run in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ThreadPolicy {
    /// The ORB's server threads, many at a time.
    #[default]
    OrbControlled,
    /// The ORB's server threads, one request of this adapter at a time. While a servant waits for a call that it makes
    /// itself, others get in: callbacks cannot deadlock.
    SingleThread,
    /// The thread that is in [`Orb::run`](crate::Orb::run).
    MainThread,
}

/// All policies of one adapter. The default is CORBA's for `create_POA`.
///
/// ```
/// use zorb_orb::poa::PoaPolicies;
///
/// let policies = PoaPolicies::new().persistent().user_ids();
/// assert!(policies.check().is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PoaPolicies {
    /// How long references stay good.
    pub lifespan: Lifespan,
    /// Who chooses object ids.
    pub id_assignment: IdAssignment,
    /// Whether one servant may be several objects.
    pub id_uniqueness: IdUniqueness,
    /// Whether there is an active object map.
    pub servant_retention: ServantRetention,
    /// Where the servants of unknown objects come from.
    pub request_processing: RequestProcessing,
    /// Whether asking for a servant's reference activates it.
    pub implicit_activation: ImplicitActivation,
    /// Which threads requests run in.
    pub thread: ThreadPolicy,
    /// Which of the ORB's endpoints references name, by transport, best first; `None`: all. See
    /// [`protocols`](PoaPolicies::protocols).
    pub protocols: Option<Protocols>,
    /// Whether requests are served that come over connections which this ORB opened.
    pub bidirectional: bool,
}

impl PoaPolicies {
    /// CORBA's defaults for a child adapter.
    pub fn new() -> Self {
        PoaPolicies::default()
    }

    /// Those of the root: the defaults with implicit activation (CORBA 3.4 part 1 §11.3.8.2).
    pub fn root() -> Self {
        PoaPolicies::new().implicit_activation()
    }

    /// [`Lifespan::Persistent`].
    pub fn persistent(mut self) -> Self {
        self.lifespan = Lifespan::Persistent;
        self
    }

    /// [`IdAssignment::User`].
    pub fn user_ids(mut self) -> Self {
        self.id_assignment = IdAssignment::User;
        self
    }

    /// [`IdUniqueness::Multiple`].
    pub fn multiple_ids(mut self) -> Self {
        self.id_uniqueness = IdUniqueness::Multiple;
        self
    }

    /// [`ServantRetention::NonRetain`].
    pub fn non_retain(mut self) -> Self {
        self.servant_retention = ServantRetention::NonRetain;
        self
    }

    /// [`RequestProcessing::DefaultServant`]; needs [`multiple_ids`](Self::multiple_ids).
    pub fn default_servant(mut self) -> Self {
        self.request_processing = RequestProcessing::DefaultServant;
        self
    }

    /// [`RequestProcessing::ServantManager`].
    pub fn servant_manager(mut self) -> Self {
        self.request_processing = RequestProcessing::ServantManager;
        self
    }

    /// [`ImplicitActivation::Yes`].
    pub fn implicit_activation(mut self) -> Self {
        self.implicit_activation = ImplicitActivation::Yes;
        self
    }

    /// [`ThreadPolicy::SingleThread`].
    pub fn single_thread(mut self) -> Self {
        self.thread = ThreadPolicy::SingleThread;
        self
    }

    /// [`ThreadPolicy::MainThread`].
    pub fn main_thread(mut self) -> Self {
        self.thread = ThreadPolicy::MainThread;
        self
    }

    /// Has references name only the ORB's endpoints of these transports, in this order (RTCORBA::ServerProtocolPolicy). A
    /// transport with [a second name](crate::transport::tcp::Tcp::named) has properties of its own, such as a peak rate, which the adapter's
    /// clients so get, whoever they are.
    ///
    /// Clients that have no list of their own try endpoints in the order of the references' profiles. Where a transport that is reached by an
    /// address comes before one within the machine the reference has a profile for each; the order of two within the machine is the client's.
    ///
    /// It is no protection: requests that come by another endpoint are served all the same, since the endpoint is all that a request
    /// would have to change. Making a reference ends in `INV_POLICY` where the ORB listens by none of them.
    pub fn protocols(mut self, protocols: Protocols) -> Self {
        self.protocols = Some(protocols);
        self
    }

    /// Serves requests, too, that come over [bidirectional connections](crate::bidirectional) which this ORB opened; without this they are
    /// answered with `NO_PERMISSION`.
    pub fn bidirectional(mut self) -> Self {
        self.bidirectional = true;
        self
    }

    /// Whether an adapter can be made with them.
    ///
    /// # Errors
    /// The first two policies that exclude each other (CORBA 3.4 part 1 §11.3.8.3).
    pub fn check(&self) -> Result<(), InvalidPolicy> {
        let retain = self.servant_retention == ServantRetention::Retain;
        let conflict = |policy, with, instead| Err(InvalidPolicy { policy, with, instead });
        match self.request_processing {
            RequestProcessing::ActiveObjectMapOnly if !retain => conflict(
                "ServantRetention::NonRetain",
                "RequestProcessing::ActiveObjectMapOnly",
                "without a map, requests need a default servant or a servant manager",
            ),
            RequestProcessing::DefaultServant if self.id_uniqueness == IdUniqueness::Unique => conflict(
                "RequestProcessing::DefaultServant",
                "IdUniqueness::Unique",
                "a default servant is many objects: IdUniqueness::Multiple",
            ),
            _ if self.implicit_activation == ImplicitActivation::No => Ok(()),
            _ if self.id_assignment == IdAssignment::User => conflict(
                "ImplicitActivation::Yes",
                "IdAssignment::User",
                "who activates implicitly has no id to give: IdAssignment::System",
            ),
            _ if !retain => conflict(
                "ImplicitActivation::Yes",
                "ServantRetention::NonRetain",
                "there is no map to activate in: ServantRetention::Retain",
            ),
            _ => Ok(()),
        }
    }

    pub(crate) fn retains(&self) -> bool {
        self.servant_retention == ServantRetention::Retain
    }

    /// Whether something of the user's is told of each request's operation: a servant locator.
    pub(crate) fn tells_operations(&self) -> bool {
        self.request_processing == RequestProcessing::ServantManager && !self.retains()
    }

    pub(crate) fn assigns_ids(&self) -> bool {
        self.id_assignment == IdAssignment::System
    }

    pub(crate) fn is_persistent(&self) -> bool {
        self.lifespan == Lifespan::Persistent
    }
}

/// Two policies that exclude each other (`POA::InvalidPolicy`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidPolicy {
    /// The policy that cannot be had.
    pub policy: &'static str,
    /// The one that forbids it.
    pub with: &'static str,
    /// What would be right.
    pub instead: &'static str,
}

impl fmt::Display for InvalidPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} and {} exclude each other: {}", self.policy, self.with, self.instead)
    }
}

impl std::error::Error for InvalidPolicy {}

#[cfg(test)]
mod tests {
    use super::*;

    /// All 48 combinations of the five that matter, against the specification's sentences, said a second time.
    #[test]
    fn exactly_the_combinations_that_the_specification_forbids_are_refused() {
        let mut refused = 0;
        for id_assignment in [IdAssignment::System, IdAssignment::User] {
            for id_uniqueness in [IdUniqueness::Unique, IdUniqueness::Multiple] {
                for servant_retention in [ServantRetention::Retain, ServantRetention::NonRetain] {
                    for request_processing in [
                        RequestProcessing::ActiveObjectMapOnly,
                        RequestProcessing::DefaultServant,
                        RequestProcessing::ServantManager,
                    ] {
                        for implicit_activation in [ImplicitActivation::No, ImplicitActivation::Yes] {
                            let policies = PoaPolicies {
                                id_assignment,
                                id_uniqueness,
                                servant_retention,
                                request_processing,
                                implicit_activation,
                                ..PoaPolicies::new()
                            };
                            let non_retain = servant_retention == ServantRetention::NonRetain;
                            let implicit = implicit_activation == ImplicitActivation::Yes;
                            let forbidden = [
                                non_retain && request_processing == RequestProcessing::ActiveObjectMapOnly,
                                request_processing == RequestProcessing::DefaultServant
                                    && id_uniqueness == IdUniqueness::Unique,
                                implicit && id_assignment == IdAssignment::User,
                                implicit && non_retain,
                            ];
                            let expected = forbidden.contains(&true);
                            refused += usize::from(expected);
                            assert_eq!(policies.check().is_err(), expected, "{policies:?}");
                        }
                    }
                }
            }
        }
        assert_eq!(refused, 27);
    }

    #[test]
    fn a_refusal_names_both_policies_and_what_is_right() {
        let refused = PoaPolicies::new().non_retain().check().unwrap_err();
        assert_eq!(
            refused.to_string(),
            "ServantRetention::NonRetain and RequestProcessing::ActiveObjectMapOnly exclude each other: without a \
             map, requests need a default servant or a servant manager"
        );
    }

    #[test]
    fn the_root_has_the_policies_that_corba_gives_it() {
        let root = PoaPolicies::root();
        assert_eq!(root.check(), Ok(()));
        assert_eq!(root.implicit_activation, ImplicitActivation::Yes);
        assert_eq!(root.lifespan, Lifespan::Transient);
    }
}
