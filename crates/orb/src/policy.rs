//! Policies of a call: how long it may take, how far a oneway goes, by which protocols, over whose connections, in what
//! pieces. Set on the ORB, a thread, or one reference; the narrowest wins.
//!
//! Every wait has a deadline, and every default here is finite.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

pub(crate) mod invocation;

pub use invocation::Rebind;

use crate::bidirectional::{self, BidirectionalPolicy};
use crate::protocols::Protocols;
use invocation::Special;

/// How far a oneway call goes before it returns (CORBA 3.4 part 1 §22.2.5, Messaging::SyncScope).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum SyncScope {
    /// It may return before the transport has the message: with [`Buffering`] it is gathered with others, without treated as
    /// [`SyncScope::WithTransport`].
    None = 0,
    /// The transport has the message. A server that closes the connection just then does not read it, and nobody learns of
    /// that; where the close has arrived before the call, the message goes by another connection.
    #[default]
    WithTransport = 1,
    /// The server's ORB has it.
    WithServer = 2,
    /// The servant has returned.
    WithTarget = 3,
}

/// Until when oneways of the scope [`SyncScope::None`] are gathered, which then leave together: many in one system call. All that are gathered on a
/// connection leave when there are so many, or so many octets, or so long after the first of them; before any other message of the connection,
/// so that the order of calls is as ever; by [`send_buffered`](crate::ObjectRef::send_buffered); and when the ORB is shut down.
///
/// A oneway that was gathered is lost if its connection ends before it has left, and nobody is told, but for an event to operators (`tracing`) with the number: that is
/// what the scope means. An error is had by the call that finds the connection ended, or no room in its queue by its deadline.
///
/// What is larger than the octets by itself, goes by datagrams, or has to be cut is not gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffering {
    messages: u32,
    octets: u32,
    time: Duration,
}

impl Default for Buffering {
    /// 64 messages, 64 KiB, a millisecond.
    fn default() -> Self {
        Buffering { messages: 64, octets: 64 << 10, time: Duration::from_millis(1) }
    }
}

impl Buffering {
    /// 64 messages, 64 KiB, a millisecond.
    pub fn new() -> Buffering {
        Buffering::default()
    }

    /// Until there are so many. 0 and 1: none is gathered, whatever a wider set says.
    pub const fn messages(mut self, count: u32) -> Buffering {
        self.messages = count;
        self
    }

    /// Until they have so many octets together, heads included; 16 MiB at the most.
    pub const fn octets(mut self, count: usize) -> Buffering {
        self.octets = if count < 16 << 20 { count as u32 } else { 16 << 20 };
        self
    }

    /// Until so long after the first, or a little longer: 10 µs to a minute.
    pub fn time(mut self, time: Duration) -> Buffering {
        self.time = time.clamp(Duration::from_micros(10), Duration::from_secs(60));
        self
    }

    /// How many.
    pub const fn most_messages(&self) -> u32 {
        self.messages
    }

    /// How many octets.
    pub const fn most_octets(&self) -> usize {
        self.octets as usize
    }

    /// How long.
    pub const fn longest_time(&self) -> Duration {
        self.time
    }
}

/// Where a policy was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// On one reference, by [`with_policies`](crate::ObjectRef::with_policies): the narrowest.
    Reference,
    /// For the calls of a thread, by [`with_thread_policies`].
    Thread,
    /// On the ORB, by its builder.
    Orb,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Reference => "reference",
            Level::Thread => "thread",
            Level::Orb => "ORB",
        })
    }
}

/// A set of policies; what is `None` is taken from the next wider set: reference, thread, ORB, default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policies {
    /// The longest time to a connection: name lookup and handshake, all addresses together. A call that is sent again, since
    /// its connection ended or the object has moved, has that time anew. Default: [`Policies::DEFAULT_CONNECT_TIMEOUT`].
    pub connect_timeout: Option<Duration>,
    /// The longest time from the call to its result, connecting included (RELATIVE_RT_TIMEOUT). Default:
    /// [`Policies::DEFAULT_CALL_TIMEOUT`].
    pub call_timeout: Option<Duration>,
    /// Scope of oneway calls. Default: [`SyncScope::WithTransport`].
    pub sync_scope: Option<SyncScope>,
    /// Whether oneways of the scope [`SyncScope::None`] are gathered, and until when. Default: they are not.
    pub buffering: Option<Buffering>,
    /// The transports that calls may go by, best first (RTCORBA::ClientProtocolPolicy). Default: all that are registered, in
    /// the order that references have and, within a profile, that of the registrations. Direct calls of objects in this ORB
    /// go by none, and are made whatever is said here.
    pub protocols: Option<Protocols>,
    /// Whether calls on a reference have connections that no other reference shares (RTCORBA::PrivateConnectionPolicy).
    /// Clones of the reference share them; they are closed some time after the last is gone, as
    /// [`client_idle`](crate::OrbBuilder::client_idle) says. Fixed with the reference: said of a thread it does nothing.
    /// Default: no.
    pub private_connection: Option<bool>,
    /// Requests of more octets leave in GIOP fragments (1.1 and 1.2) of at most so many, 64 at least. [`usize::MAX`]: whole,
    /// whatever a wider set says. Datagrams and what a bridge hands on are never cut. Default: what
    /// [`fragment_size`](crate::OrbBuilder::fragment_size) says, otherwise whole.
    pub fragment_size: Option<usize>,
    /// The longest time from the call until the object has its request (Messaging::RelativeRequestTimeoutPolicy): the same as a
    /// [`request_end_time`](Self::request_end_time) so long after each call. Default: none.
    pub request_timeout: Option<Duration>,
    /// Until when requests are wanted (Messaging::RequestEndTimePolicy). A call that has no connection by then ends with `TIMEOUT`, and
    /// has not been executed. The request tells the server (service context INVOCATION_POLICIES), so that one that knows
    /// the policy, as zorb's do, answers `TIMEOUT` in place of running it later: by its own clock, which may differ.
    /// GIOPlite tells it nothing, and calls that a bridge hands on are left as they are. Default: none.
    pub request_end_time: Option<SystemTime>,
    /// Until when replies are wanted (Messaging::ReplyEndTimePolicy): what is earlier counts, this or the call timeout. Default: none.
    pub reply_end_time: Option<SystemTime>,
    /// Whether a reference may be bound anew (Messaging::RebindPolicy). Default: [`Rebind::Transparent`].
    pub rebind: Option<Rebind>,
    /// Whether calls go over [bidirectional connections](crate::bidirectional) (BiDirPolicy::BidirectionalPolicy), in an ORB that offers or
    /// accepts them. [`Normal`](BidirectionalPolicy::Normal) is the same as a list of protocols without `bidir`. Default:
    /// [`Both`](BidirectionalPolicy::Both).
    pub bidirectional: Option<BidirectionalPolicy>,
}

impl Policies {
    /// Ten seconds: long enough for a distant host and a lost packet or two, short enough for a person who waits.
    pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
    /// A minute: operations that take longer are rare, and say so by a policy.
    pub const DEFAULT_CALL_TIMEOUT: Duration = Duration::from_secs(60);

    /// A set that chooses nothing.
    pub const fn new() -> Policies {
        Policies {
            connect_timeout: None,
            call_timeout: None,
            sync_scope: None,
            buffering: None,
            protocols: None,
            private_connection: None,
            fragment_size: None,
            request_timeout: None,
            request_end_time: None,
            reply_end_time: None,
            rebind: None,
            bidirectional: None,
        }
    }

    /// The same with a connect timeout.
    pub const fn connect_timeout(mut self, timeout: Duration) -> Policies {
        self.connect_timeout = Some(timeout);
        self
    }

    /// The same with a call timeout.
    pub const fn call_timeout(mut self, timeout: Duration) -> Policies {
        self.call_timeout = Some(timeout);
        self
    }

    /// The same with a scope for oneways.
    pub const fn sync_scope(mut self, scope: SyncScope) -> Policies {
        self.sync_scope = Some(scope);
        self
    }

    /// The same with a way to gather oneways.
    pub const fn buffering(mut self, buffering: Buffering) -> Policies {
        self.buffering = Some(buffering);
        self
    }

    /// The same with a choice of transports.
    pub fn protocols(mut self, protocols: Protocols) -> Policies {
        self.protocols = Some(protocols);
        self
    }

    /// The same with connections of its own for each reference, or without.
    pub const fn private_connection(mut self, private: bool) -> Policies {
        self.private_connection = Some(private);
        self
    }

    /// The same with requests in fragments of at most so many octets, or whole.
    pub const fn fragment_size(mut self, octets: usize) -> Policies {
        self.fragment_size = Some(octets);
        self
    }

    /// The same with a longest time until the object has a request.
    pub const fn request_timeout(mut self, timeout: Duration) -> Policies {
        self.request_timeout = Some(timeout);
        self
    }

    /// The same with an end to the time in which requests are wanted.
    pub const fn request_end_time(mut self, end: SystemTime) -> Policies {
        self.request_end_time = Some(end);
        self
    }

    /// The same with an end to the time in which replies are wanted.
    pub const fn reply_end_time(mut self, end: SystemTime) -> Policies {
        self.reply_end_time = Some(end);
        self
    }

    /// The same with references that may be bound anew, or may not.
    pub const fn rebind(mut self, rebind: Rebind) -> Policies {
        self.rebind = Some(rebind);
        self
    }

    /// The same with calls that go over bidirectional connections, or do not.
    pub const fn bidirectional(mut self, policy: BidirectionalPolicy) -> Policies {
        self.bidirectional = Some(policy);
        self
    }

    /// The transports that calls may go by, where that is said.
    fn allowed(&self) -> Option<Protocols> {
        match self.bidirectional {
            Some(BidirectionalPolicy::Normal) => {
                let list = self.protocols.clone().unwrap_or_else(|| Protocols::first::<[&str; 0]>([]));
                Some(list.without(bidirectional::NAME))
            }
            _ => self.protocols.clone(),
        }
    }

    /// How oneways are gathered, if they are.
    fn gathers(&self) -> Option<Buffering> {
        let buffering = self.buffering.filter(|buffering| buffering.messages > 1)?;
        (self.sync_scope == Some(SyncScope::None)).then_some(buffering)
    }

    /// This set, with gaps filled from `wider`.
    pub fn or(&self, wider: &Policies) -> Policies {
        Policies {
            connect_timeout: self.connect_timeout.or(wider.connect_timeout),
            call_timeout: self.call_timeout.or(wider.call_timeout),
            sync_scope: self.sync_scope.or(wider.sync_scope),
            buffering: self.buffering.or(wider.buffering),
            protocols: self.protocols.as_ref().or(wider.protocols.as_ref()).cloned(),
            private_connection: self.private_connection.or(wider.private_connection),
            fragment_size: self.fragment_size.or(wider.fragment_size),
            request_timeout: self.request_timeout.or(wider.request_timeout),
            request_end_time: self.request_end_time.or(wider.request_end_time),
            reply_end_time: self.reply_end_time.or(wider.reply_end_time),
            rebind: self.rebind.or(wider.rebind),
            bidirectional: self.bidirectional.or(wider.bidirectional),
        }
    }
}

thread_local! {
    /// False on threads that choose nothing, which are nearly all: apart from what is chosen, as it needs no destructor and so
    /// costs calls a load.
    static CHOOSES: Cell<bool> = const { Cell::new(false) };
    static THREAD: RefCell<Policies> = const { RefCell::new(Policies::new()) };
}

/// Whether this thread has policies of its own.
#[inline]
pub(crate) fn thread_chooses() -> bool {
    CHOOSES.get()
}

/// This thread's set; empty where there is none.
fn of_thread() -> Policies {
    // A thread that ends may still call, out of destructors of its locals.
    THREAD.try_with(|thread| thread.borrow().clone()).unwrap_or_default()
}

/// Runs `body` with `policies` for every call that this thread makes in it, unless the reference has its own.
/// Sets inside sets: the inner one is asked first.
pub fn with_thread_policies<R>(policies: Policies, body: impl FnOnce() -> R) -> R {
    struct Restore(bool, Policies);
    impl Drop for Restore {
        fn drop(&mut self) {
            CHOOSES.set(self.0);
            let _ = THREAD.try_with(|thread| thread.replace(std::mem::take(&mut self.1)));
        }
    }
    let outer = of_thread();
    let inner = policies.or(&outer);
    let _restore = Restore(CHOOSES.get(), outer);
    let _ = THREAD.try_with(|thread| thread.replace(inner));
    CHOOSES.set(true);
    body()
}

/// What holds for one call: nothing left open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallLimits {
    pub(crate) connect_timeout: Duration,
    pub(crate) call_timeout: Duration,
    pub(crate) sync_scope: SyncScope,
    /// `usize::MAX`: whole.
    pub(crate) fragment_size: usize,
    /// There is more, which few calls have: [`Standing::special`].
    pub(crate) special: bool,
}

/// Octets of a fragment, at least: so that it is more than a head.
pub(crate) const SMALLEST_FRAGMENT: usize = 64;

impl CallLimits {
    /// What a set says, and the defaults where it says nothing.
    pub(crate) fn of(chosen: &Policies) -> CallLimits {
        CallLimits {
            connect_timeout: chosen.connect_timeout.unwrap_or(Policies::DEFAULT_CONNECT_TIMEOUT),
            call_timeout: chosen.call_timeout.unwrap_or(Policies::DEFAULT_CALL_TIMEOUT),
            sync_scope: chosen.sync_scope.unwrap_or_default(),
            fragment_size: chosen.fragment_size.unwrap_or(usize::MAX).max(SMALLEST_FRAGMENT),
            special: Special::of(chosen).is_special(),
        }
    }
}

/// The policies of a reference and of the ORB as one, worked out once.
pub(crate) struct Standing {
    reference: Policies,
    orb: Policies,
    /// On threads that choose nothing.
    limits: CallLimits,
    buffering: Option<Buffering>,
    /// Likewise.
    protocols: Option<Protocols>,
    /// Whether a call has been answered, of those that may not be bound anew.
    bound: AtomicBool,
    /// Connections that are the reference's alone have this number.
    pub(crate) owner: Option<u64>,
}

impl Standing {
    pub(crate) fn new(reference: Policies, orb: Policies, next_owner: impl FnOnce() -> u64) -> Standing {
        let both = reference.or(&orb);
        let limits = CallLimits::of(&both);
        let owner = both.private_connection.unwrap_or_default().then(next_owner);
        let buffering = both.gathers();
        let protocols = both.allowed();
        Standing { reference, orb, limits, buffering, protocols, bound: AtomicBool::new(false), owner }
    }

    /// The reference's own.
    pub(crate) fn reference(&self) -> &Policies {
        &self.reference
    }

    /// What holds for a call made now by this thread: the narrowest set wins.
    #[inline]
    pub(crate) fn limits(&self) -> CallLimits {
        if thread_chooses() { self.limits_of_thread() } else { self.limits }
    }

    #[cold]
    fn limits_of_thread(&self) -> CallLimits {
        CallLimits::of(&self.reference.or(&of_thread()).or(&self.orb))
    }

    /// What else holds for a call made now by this thread.
    #[cold]
    pub(crate) fn special(&self) -> Special {
        Special::of(&self.reference.or(&of_thread()).or(&self.orb))
    }

    /// Whether the reference leads to the object that answered, and calls that may not bind it anew to no other.
    pub(crate) fn is_bound(&self) -> bool {
        self.bound.load(Ordering::Acquire)
    }

    pub(crate) fn set_bound(&self, bound: bool) {
        self.bound.store(bound, Ordering::Release);
    }

    /// How oneways are gathered that are made now by this thread.
    pub(crate) fn buffering(&self) -> Option<Buffering> {
        if thread_chooses() {
            return self.reference.or(&of_thread()).or(&self.orb).gathers();
        }
        self.buffering
    }

    /// The same where nothing has to be looked at for each oneway: on threads that choose nothing, and where no time is set to requests.
    #[inline]
    pub(crate) fn gathers_simply(&self) -> Option<&Buffering> {
        self.buffering.as_ref().filter(|_| !self.limits.special && !thread_chooses())
    }

    /// Whether each oneway leaves at once, where nothing has to be looked at for it either, and nothing comes back.
    #[inline]
    pub(crate) fn sends_simply(&self) -> bool {
        let leaves = matches!(self.limits.sync_scope, SyncScope::None | SyncScope::WithTransport);
        leaves && self.buffering.is_none() && !self.limits.special && !thread_chooses()
    }

    /// From how many octets on messages are cut, on threads that choose nothing.
    #[inline]
    pub(crate) fn fragment_size(&self) -> usize {
        self.limits.fragment_size
    }

    /// How long a call may take, on threads that choose nothing.
    #[inline]
    pub(crate) fn call_timeout(&self) -> Duration {
        self.limits.call_timeout
    }

    /// The protocols on threads that choose none.
    pub(crate) fn protocols(&self) -> Option<&Protocols> {
        self.protocols.as_ref()
    }

    /// What this thread puts in their place.
    pub(crate) fn protocols_of_thread(&self) -> Option<Protocols> {
        let thread = of_thread();
        let chooses_list = thread.protocols.is_some() && self.reference.protocols.is_none();
        let chooses_both = thread.bidirectional.is_some() && self.reference.bidirectional.is_none();
        if !chooses_list && !chooses_both {
            return None;
        }
        let all = || Protocols::first::<[&str; 0]>([]);
        Some(self.reference.or(&thread).or(&self.orb).allowed().unwrap_or_else(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_set_wins() {
        let second = Duration::from_secs(1);
        let orb = Policies::new().call_timeout(3 * second).connect_timeout(3 * second);
        let reference = Policies::new().call_timeout(second);
        let limits = with_thread_policies(
            Policies::new().connect_timeout(2 * second).call_timeout(2 * second),
            || Standing::new(reference, orb.clone(), || 0).limits(),
        );
        assert_eq!((limits.call_timeout, limits.connect_timeout), (second, 2 * second));
        let after = Standing::new(Policies::new(), orb, || 0).limits();
        assert_eq!((after.call_timeout, after.connect_timeout), (3 * second, 3 * second));
        let default = Standing::new(Policies::new(), Policies::new(), || 0).limits();
        assert_eq!(default.call_timeout, Policies::DEFAULT_CALL_TIMEOUT);
    }

    #[test]
    fn protocols_are_the_references_then_the_threads_then_the_orbs() {
        let list = |name: &str| Policies::new().protocols(Protocols::only([name]));
        let own = Standing::new(list("shm"), list("tcp"), || 0);
        let none = Standing::new(Policies::new(), list("tcp"), || 0);
        with_thread_policies(list("unix"), || {
            with_thread_policies(Policies::new().private_connection(true), || {
                assert_eq!(own.protocols_of_thread(), None);
                assert_eq!(none.protocols_of_thread(), Some(Protocols::only(["unix"])));
            });
        });
        assert_eq!(own.protocols(), Some(&Protocols::only(["shm"])));
        assert_eq!((none.protocols_of_thread(), none.protocols()), (None, Some(&Protocols::only(["tcp"]))));
        assert!(!thread_chooses());
    }

    #[test]
    fn whether_calls_go_over_bidirectional_connections_is_a_choice_of_protocols() {
        let normal = Policies::new().bidirectional(BidirectionalPolicy::Normal);
        let both = Policies::new().bidirectional(BidirectionalPolicy::Both);
        let goes = |standing: &Standing| {
            let of_thread = standing.protocols_of_thread();
            of_thread.as_ref().or(standing.protocols()).is_none_or(|list| list.allows("bidir"))
        };
        let plain = Standing::new(Policies::new(), Policies::new(), || 0);
        let by_orb = Standing::new(Policies::new(), normal.clone(), || 0);
        let by_reference = Standing::new(both.clone(), normal.clone(), || 0);
        assert_eq!([&plain, &by_orb, &by_reference].map(goes), [true, false, true]);
        with_thread_policies(both, || assert!(goes(&by_orb)));
        with_thread_policies(normal, || assert_eq!([&plain, &by_reference].map(goes), [false, true]));
        let list = Policies::new().protocols(Protocols::only(["bidir", "tcp"]));
        let list = Standing::new(list, by_orb.orb.clone(), || 0);
        assert!(!goes(&list) && list.protocols().is_some_and(|list| list.allows("tcp")));
    }
}
