//! Holds a sender to a rate.

use std::thread;
use std::time::{Duration, Instant};

use crate::SystemException;

/// Holds a sender to a rate, with a burst after silence: a token bucket, kept as the time at which the bucket is full again.
///
/// It waits in the calling thread by one sleep, and never longer than the deadline. One thread uses it, before each call; a
/// rate that several share is theirs to lock.
///
/// ```
/// use std::time::{Duration, Instant};
/// use zorb_orb::frames::Pacer;
///
/// // 1,000 frames a second, 2 at once.
/// let mut pacer = Pacer::new(1000.0, 2.0);
/// for _ in 0..5 {
///     pacer.pace(1.0, Instant::now() + Duration::from_secs(1))?;
///     // camera.picture(…)
/// }
/// # Ok::<(), zorb_orb::SystemException>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pacer {
    /// Seconds that a unit takes.
    each: f64,
    /// Seconds of units that may leave at once.
    burst: f64,
    full_at: Option<Instant>,
}

impl Pacer {
    /// `per_second` units a second, which are frames or octets as the caller counts, and so many at once after silence. Rates that
    /// are not above 0 are no limit; at least one unit's burst is allowed.
    #[must_use]
    pub fn new(per_second: f64, burst: f64) -> Pacer {
        let each = if per_second > 0.0 { per_second.recip() } else { 0.0 };
        Pacer { each, burst: burst.max(1.0) * each, full_at: None }
    }

    /// Waits until so many units may leave. More than the burst leave once the bucket is full, and are paid for after.
    ///
    /// # Errors
    /// `TIMEOUT`, at once, if that is after the deadline: the units are not taken, and the frame is better left out.
    pub fn pace(&mut self, units: f64, deadline: Instant) -> Result<(), SystemException> {
        let now = Instant::now();
        let Some(wait) = self.wait(units, now) else { return Ok(()) };
        if now + wait > deadline {
            return Err(SystemException::Timeout("the rate lets nothing leave before the deadline"));
        }
        self.take(units, now + wait);
        if !wait.is_zero() {
            thread::sleep(wait);
        }
        Ok(())
    }

    /// How long from `now` until so many units may leave; `None`: there is no limit.
    fn wait(&self, units: f64, now: Instant) -> Option<Duration> {
        if self.each == 0.0 {
            return None;
        }
        let owed = self.full_at.map_or(0.0, |full| full.saturating_duration_since(now).as_secs_f64());
        let room = self.burst - owed;
        Some(seconds((units * self.each).min(self.burst) - room))
    }

    fn take(&mut self, units: f64, at: Instant) {
        let full = self.full_at.map_or(at, |full| full.max(at));
        self.full_at = Some(full + seconds(units * self.each));
    }
}

/// At most a day, so that clocks can be added to it.
fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.clamp(0.0, 86_400.0)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_leaves_at_once_and_the_rest_at_the_rate() {
        let mut pacer = Pacer::new(100.0, 3.0);
        let mut now = Instant::now();
        let began = now;
        for number in 0..20 {
            let wait = pacer.wait(1.0, now).unwrap();
            assert_eq!(wait.is_zero(), number < 3, "{number}: {wait:?}");
            now += wait;
            pacer.take(1.0, now);
        }
        let took = now - began;
        assert!((Duration::from_micros(169_900)..Duration::from_micros(170_100)).contains(&took), "{took:?}");
        // After silence a burst again, not more.
        now += Duration::from_secs(10);
        let waits: Vec<_> = (0..5)
            .map(|_| {
                let wait = pacer.wait(1.0, now).unwrap();
                pacer.take(1.0, now);
                wait.is_zero()
            })
            .collect();
        assert_eq!(waits, [true, true, true, false, false]);
    }

    #[test]
    fn what_the_rate_forbids_before_the_deadline_is_refused_and_costs_nothing() {
        let mut pacer = Pacer::new(0.001, 1.0);
        let deadline = Instant::now() + Duration::from_millis(5);
        pacer.pace(1.0, deadline).unwrap();
        let before = pacer.full_at;
        assert_eq!(pacer.pace(1.0, deadline).unwrap_err().kind, crate::Kind::Timeout);
        assert_eq!(pacer.full_at, before);
        for rate in [0.0, -1.0, f64::NAN] {
            Pacer::new(rate, 1.0).pace(1e9, deadline).unwrap();
        }
    }
}
