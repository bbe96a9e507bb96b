//! A latency distribution in constant memory.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Latencies from one nanosecond to an hour, to three significant figures.
///
/// Three figures keep the recorder at a few hundred kilobytes and its error (0.1 %) well below what one
/// run differs from the next by.
#[derive(Debug, Clone)]
pub struct Latencies {
    nanoseconds: Histogram<u64>,
}

const LONGEST: u64 = 3_600 * 1_000_000_000;

impl Latencies {
    /// An empty recorder.
    pub fn new() -> Latencies {
        // The bounds are constants that satisfy the constructor's three conditions.
        Latencies { nanoseconds: Histogram::new_with_bounds(1, LONGEST, 3).expect("constant bounds") }
    }

    /// Adds one latency; what is longer than an hour counts as an hour.
    pub fn record(&mut self, latency: Duration) {
        let nanoseconds = u64::try_from(latency.as_nanos()).unwrap_or(LONGEST);
        self.nanoseconds.saturating_record(nanoseconds.clamp(1, LONGEST));
    }

    /// Adds all that another recorder holds.
    pub fn merge(&mut self, other: &Latencies) {
        self.nanoseconds.add(&other.nanoseconds).expect("both have the same bounds");
    }

    /// How many were recorded.
    pub fn count(&self) -> u64 {
        self.nanoseconds.len()
    }

    /// The latency that `percent` of a hundred do not exceed, in microseconds; NaN if none was recorded.
    pub fn percentile_us(&self, percent: f64) -> f64 {
        if self.count() == 0 {
            return f64::NAN;
        }
        self.nanoseconds.value_at_percentile(percent) as f64 / 1_000.0
    }

    /// The median, in microseconds; NaN if none was recorded.
    pub fn median_us(&self) -> f64 {
        self.percentile_us(50.0)
    }
}

impl Default for Latencies {
    fn default() -> Self {
        Latencies::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_within_a_thousandth() {
        let mut latencies = Latencies::new();
        for microseconds in 1..=1_000 {
            latencies.record(Duration::from_micros(microseconds));
        }
        assert_eq!(latencies.count(), 1_000);
        for (percent, expected) in [(50.0, 500.0), (99.0, 990.0), (100.0, 1_000.0)] {
            let seen = latencies.percentile_us(percent);
            assert!((seen / expected - 1.0).abs() < 0.001, "{percent} %: {seen}");
        }
    }

    #[test]
    fn extremes_are_kept_not_lost() {
        let mut latencies = Latencies::new();
        latencies.record(Duration::ZERO);
        latencies.record(Duration::MAX);
        assert_eq!(latencies.count(), 2);
        assert!(latencies.percentile_us(100.0) > 3.59e9);
        assert_eq!(latencies.percentile_us(1.0), 0.001);
    }

    #[test]
    fn empty_is_not_zero() {
        assert!(Latencies::new().median_us().is_nan());
    }

    #[test]
    fn merging_adds() {
        let (mut a, mut b) = (Latencies::new(), Latencies::new());
        a.record(Duration::from_micros(10));
        b.record(Duration::from_micros(30));
        b.record(Duration::from_micros(30));
        a.merge(&b);
        assert_eq!(a.count(), 3);
        assert!((a.median_us() - 30.0).abs() < 0.05);
    }
}
