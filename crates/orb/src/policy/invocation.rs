//! Policies that few calls have: until when requests and replies are wanted, and whether references may be bound anew
//! (CORBA 3.3 part 1, 17.2).

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use zorb_giop::{UtcTime, encode_request_end};

use super::Policies;

/// Whether calls may be led from the object that a reference has been bound to, to another (Messaging::RebindPolicy).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Rebind {
    /// Forwards are followed, and left again when they lead nowhere.
    #[default]
    Transparent,
    /// The first answer binds the reference: a forward before it is followed. Later ones end the call with `REBIND`,
    /// and a forward that leads nowhere any more is not left. A connection that has ended is opened anew, to the same object.
    /// [`validate_connection`](crate::ObjectRef::validate_connection) binds anew.
    NoRebind,
}

/// What holds for one call of what few calls have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Special {
    pub(crate) rebind: Rebind,
    pub(crate) request_timeout: Option<Duration>,
    pub(crate) request_end: Option<SystemTime>,
    pub(crate) reply_end: Option<SystemTime>,
}

impl Special {
    pub(crate) fn of(chosen: &Policies) -> Special {
        Special {
            rebind: chosen.rebind.unwrap_or_default(),
            request_timeout: chosen.request_timeout,
            request_end: chosen.request_end_time,
            reply_end: chosen.reply_end_time,
        }
    }

    /// Whether a call has anything of it.
    pub(crate) fn is_special(&self) -> bool {
        *self != Special::default()
    }

    /// When a request made at `now` is late: the earlier of both times.
    pub(crate) fn request_end(&self, now: SystemTime) -> Option<SystemTime> {
        let relative = self.request_timeout.and_then(|timeout| now.checked_add(timeout));
        self.request_end.into_iter().chain(relative).min()
    }
}

/// The data of the service context that tells the server when a request is late. `None`: a time that CORBA cannot say.
pub(crate) fn telling(end: SystemTime) -> Option<Bytes> {
    encode_request_end(utc(end)?).ok()
}

/// A time as CORBA says it.
fn utc(time: SystemTime) -> Option<UtcTime> {
    let epoch = UtcTime::UNIX_EPOCH.ticks;
    let ticks = |span: Duration| u64::try_from(span.as_nanos() / 100).ok();
    let ticks = match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => epoch.checked_add(ticks(after)?)?,
        Err(before) => epoch.checked_sub(ticks(before.duration())?)?,
    };
    Some(UtcTime { ticks })
}

/// Whether a time that a request tells has passed, by this machine's clock.
pub(crate) fn has_passed(end: UtcTime) -> bool {
    utc(SystemTime::now()).is_some_and(|now| now > end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earlier_end_counts() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(100);
        let second = Duration::from_secs(1);
        let both = Policies::new().request_timeout(2 * second).request_end_time(now + second);
        assert_eq!(Special::of(&both).request_end(now), Some(now + second));
        let relative = Policies::new().request_timeout(2 * second);
        assert_eq!(Special::of(&relative).request_end(now), Some(now + 2 * second));
        assert!(!Special::of(&Policies::new()).is_special());
    }

    #[test]
    fn times_have_hundreds_of_nanoseconds_since_1582() {
        let later = SystemTime::UNIX_EPOCH + Duration::from_nanos(250);
        assert_eq!(utc(later), Some(UtcTime { ticks: UtcTime::UNIX_EPOCH.ticks + 2 }));
        let earlier = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(utc(earlier), Some(UtcTime { ticks: UtcTime::UNIX_EPOCH.ticks - 10_000_000 }));
        assert!(has_passed(UtcTime::UNIX_EPOCH) && !has_passed(UtcTime { ticks: u64::MAX }));
    }
}
