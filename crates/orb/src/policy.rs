//! Policies of a call: how long it may take, how far a oneway goes. Set on the ORB, a thread, or one reference; the
//! narrowest wins.
//!
//! Every wait has a deadline, and every default here is finite.

use std::cell::Cell;
use std::time::Duration;

/// How far a oneway call goes before it returns (CORBA 3.4 part 1 §22.2.5, Messaging::SyncScope).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum SyncScope {
    /// It may return before the transport has the message. Treated as [`SyncScope::WithTransport`].
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

/// A set of policies; what is `None` is taken from the next wider set: reference, thread, ORB, default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
}

impl Policies {
    /// Ten seconds: long enough for a distant host and a lost packet or two, short enough for a person who waits.
    pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
    /// A minute: operations that take longer are rare, and say so by a policy.
    pub const DEFAULT_CALL_TIMEOUT: Duration = Duration::from_secs(60);

    /// A set that chooses nothing.
    pub const fn new() -> Policies {
        Policies { connect_timeout: None, call_timeout: None, sync_scope: None }
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

    /// This set, with gaps filled from `wider`.
    pub fn or(&self, wider: &Policies) -> Policies {
        Policies {
            connect_timeout: self.connect_timeout.or(wider.connect_timeout),
            call_timeout: self.call_timeout.or(wider.call_timeout),
            sync_scope: self.sync_scope.or(wider.sync_scope),
        }
    }
}

thread_local! {
    /// `None` on threads that choose nothing, which are nearly all.
    static THREAD: Cell<Option<Policies>> = const { Cell::new(None) };
}

/// Runs `body` with `policies` for every call that this thread makes in it, unless the reference has its own.
/// Sets inside sets: the inner one is asked first.
pub fn with_thread_policies<R>(policies: Policies, body: impl FnOnce() -> R) -> R {
    struct Restore(Option<Policies>);
    impl Drop for Restore {
        fn drop(&mut self) {
            THREAD.set(self.0);
        }
    }
    let outer = THREAD.get();
    let _restore = Restore(outer);
    THREAD.set(Some(policies.or(&outer.unwrap_or_default())));
    body()
}

/// What holds for one call: nothing left open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallLimits {
    pub(crate) connect_timeout: Duration,
    pub(crate) call_timeout: Duration,
    pub(crate) sync_scope: SyncScope,
}

impl CallLimits {
    /// What a set says, and the defaults where it says nothing.
    pub(crate) fn of(chosen: &Policies) -> CallLimits {
        CallLimits {
            connect_timeout: chosen.connect_timeout.unwrap_or(Policies::DEFAULT_CONNECT_TIMEOUT),
            call_timeout: chosen.call_timeout.unwrap_or(Policies::DEFAULT_CALL_TIMEOUT),
            sync_scope: chosen.sync_scope.unwrap_or_default(),
        }
    }
}

/// The policies of a reference and of the ORB as one, worked out once.
pub(crate) struct Standing {
    reference: Policies,
    orb: Policies,
    /// On threads that choose nothing.
    limits: CallLimits,
}

impl Standing {
    pub(crate) fn new(reference: Policies, orb: Policies) -> Standing {
        Standing { reference, orb, limits: CallLimits::of(&reference.or(&orb)) }
    }

    /// The reference's own.
    pub(crate) fn reference(&self) -> &Policies {
        &self.reference
    }

    /// What holds for a call made now by this thread: the narrowest set wins.
    #[inline]
    pub(crate) fn limits(&self) -> CallLimits {
        match THREAD.get() {
            None => self.limits,
            Some(thread) => CallLimits::of(&self.reference.or(&thread).or(&self.orb)),
        }
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
            || Standing::new(reference, orb).limits(),
        );
        assert_eq!((limits.call_timeout, limits.connect_timeout), (second, 2 * second));
        let after = Standing::new(Policies::new(), orb).limits();
        assert_eq!((after.call_timeout, after.connect_timeout), (3 * second, 3 * second));
        let default = Standing::new(Policies::new(), Policies::new()).limits();
        assert_eq!(default.call_timeout, Policies::DEFAULT_CALL_TIMEOUT);
    }
}
