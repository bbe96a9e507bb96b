//! Percentiles, ratios of interleaved pairs with their bootstrap interval, and verdicts on targets.
//!
//! Absolute times differ from machine to machine and from minute to minute; what holds is the ratio of
//! two systems measured in turns. A [`Ratio`] is therefore the median over at least [`LEAST_PAIRS`] pairs,
//! with the 95 % interval that resampling those pairs gives, and a [`Target`] is judged by the interval and
//! never by the median alone.

/// The fewest pairs that a ratio may rest on. Below about twenty the percentile bootstrap of a median
/// covers visibly less than its nominal 95 %.
pub const LEAST_PAIRS: usize = 20;

/// How many times the pairs are resampled: enough that the interval's ends move by less than a
/// thousandth between seeds, and still done in a few milliseconds.
const RESAMPLES: usize = 10_000;

/// How far an interval may reach above a target that counts as met: what is left of run-to-run noise when
/// nothing has changed.
pub const TOLERANCE: f64 = 0.02;

/// A median ratio and its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The median over the pairs.
    pub median: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
}

impl Ratio {
    /// What anything is to itself.
    pub const ONE: Ratio = Ratio { median: 1.0, low: 1.0, high: 1.0 };

    /// The median of `ratios`, one for each interleaved pair, with its bootstrap interval; the same seed
    /// gives the same interval. `None` for fewer than [`LEAST_PAIRS`], or if one is not a finite number.
    pub fn of_pairs(ratios: &[f64], seed: u64) -> Option<Ratio> {
        if ratios.len() < LEAST_PAIRS || ratios.iter().any(|ratio| !ratio.is_finite()) {
            return None;
        }
        let mut random = SplitMix64(seed);
        let mut sample = vec![0.0; ratios.len()];
        let mut medians: Vec<f64> = (0..RESAMPLES)
            .map(|_| {
                sample.fill_with(|| ratios[random.below(ratios.len())]);
                median(&mut sample)
            })
            .collect();
        let mut ratios = ratios.to_vec();
        Some(Ratio {
            median: median(&mut ratios),
            low: percentile(&mut medians, 2.5),
            high: percentile(&mut medians, 97.5),
        })
    }
}

/// The largest ratio that is acceptable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target(pub f64);

/// What an interval says about a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The whole interval lies at or below the target, give or take [`TOLERANCE`].
    Met,
    /// The whole interval lies above the target.
    Missed,
    /// The interval is too wide to tell: measure longer, or on a quieter machine.
    NotResolved,
}

impl Target {
    /// Judges a ratio. A narrow interval just above the target, within the tolerance, is met.
    pub fn judge(self, ratio: &Ratio) -> Verdict {
        if ratio.high <= self.0 + TOLERANCE {
            Verdict::Met
        } else if ratio.low > self.0 {
            Verdict::Missed
        } else {
            Verdict::NotResolved
        }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Verdict::Met => "met",
            Verdict::Missed => "missed",
            Verdict::NotResolved => "not resolved",
        })
    }
}

/// The median; of an even number of values the mean of the middle two. Sorts `values`. NaN if there are none.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[middle],
        _ => (values[middle - 1] + values[middle]) / 2.0,
    }
}

/// The nearest-rank percentile: the smallest value that at least `percent` of a hundred do not exceed.
/// Sorts `values`. NaN if there are none.
pub fn percentile(values: &mut [f64], percent: f64) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    values.sort_unstable_by(f64::total_cmp);
    let rank = (percent / 100.0 * values.len() as f64).ceil() as usize;
    values[rank.clamp(1, values.len()) - 1]
}

/// Sebastiano Vigna's SplitMix64: a full-period generator in five lines, good enough to draw indices.
pub(crate) struct SplitMix64(pub(crate) u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// An index below `n`, by multiplication (the bias is below n / 2^64).
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn medians() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(&mut [7.0]), 7.0);
        assert!(median(&mut []).is_nan());
    }

    #[test]
    fn percentiles_are_values_that_occurred() {
        let mut hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(percentile(&mut hundred, 50.0), 50.0);
        assert_eq!(percentile(&mut hundred, 99.0), 99.0);
        assert_eq!(percentile(&mut hundred, 100.0), 100.0);
        assert_eq!(percentile(&mut hundred, 0.0), 1.0);
        assert_eq!(percentile(&mut [5.0], 99.0), 5.0);
        assert!(percentile(&mut [], 50.0).is_nan());
    }

    #[test]
    fn split_mix_gives_the_published_sequence() {
        let mut random = SplitMix64(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn too_few_pairs_give_no_ratio() {
        assert_eq!(Ratio::of_pairs(&[1.0; LEAST_PAIRS - 1], 1), None);
        assert_eq!(Ratio::of_pairs(&[1.0; LEAST_PAIRS], 1), Some(Ratio::ONE));
        let mut with_nan = [1.0; LEAST_PAIRS];
        with_nan[3] = f64::NAN;
        assert_eq!(Ratio::of_pairs(&with_nan, 1), None);
    }

    #[test]
    fn the_interval_is_narrow_where_the_pairs_agree_and_wide_where_not() {
        let steady: Vec<f64> = (0..40).map(|i| 1.1 + f64::from(i % 5) * 0.001).collect();
        let wild: Vec<f64> = (0..40).map(|i| 1.1 + f64::from(i % 5) * 0.1).collect();
        let (steady, wild) = (Ratio::of_pairs(&steady, 7).unwrap(), Ratio::of_pairs(&wild, 7).unwrap());
        assert!(steady.high - steady.low < 0.005, "{steady:?}");
        assert!(wild.high - wild.low > 0.05, "{wild:?}");
        assert!((steady.median - 1.102).abs() < 1e-9);
    }

    #[test]
    fn one_outlier_does_not_move_the_median() {
        let mut ratios = vec![1.05; 40];
        ratios[17] = 9.0;
        assert_eq!(Ratio::of_pairs(&ratios, 3), Some(Ratio { median: 1.05, low: 1.05, high: 1.05 }));
    }

    #[test]
    fn verdicts() {
        let judge = |low, high| Target(1.1).judge(&Ratio { median: (low + high) / 2.0, low, high });
        assert_eq!(judge(1.00, 1.05), Verdict::Met);
        assert_eq!(judge(1.08, 1.12), Verdict::Met);
        assert_eq!(judge(1.105, 1.115), Verdict::Met);
        assert_eq!(judge(1.08, 1.13), Verdict::NotResolved);
        assert_eq!(judge(1.10, 1.20), Verdict::NotResolved);
        assert_eq!(judge(1.11, 1.20), Verdict::Missed);
    }

    proptest! {
        // Few cases: each resamples ten thousand times.
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn the_interval_holds_the_median_and_stays_within_the_data(
            ratios in prop::collection::vec(0.1f64..10.0, LEAST_PAIRS..60), seed: u64,
        ) {
            let ratio = Ratio::of_pairs(&ratios, seed).unwrap();
            let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
            let most = ratios.iter().copied().fold(0.0, f64::max);
            prop_assert!(least <= ratio.low && ratio.low <= ratio.median);
            prop_assert!(ratio.median <= ratio.high && ratio.high <= most);
            prop_assert_eq!(Some(ratio), Ratio::of_pairs(&ratios, seed));
        }
    }
}
