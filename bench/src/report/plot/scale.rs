//! From values to pixels, and which values get a tick.

/// Arithmetic with ticks stays exact and finite between these, and no figure lies beyond them.
const SANE: (f64, f64) = (1e-12, 1e21);

/// An axis: its values, its pixels, its ticks.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    logarithmic: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    /// The values that are named.
    pub(super) ticks: Vec<f64>,
}

impl Scale {
    /// From zero to a round number above the greatest value.
    pub(super) fn from_zero(values: impl Iterator<Item = f64>) -> Scale {
        let greatest = values.fold(0.0, f64::max);
        let greatest = if greatest > 0.0 { greatest.clamp(SANE.0, SANE.1) } else { 1.0 };
        let step = round_step(greatest, 5.0);
        let steps = (greatest / step - 1e-9).ceil();
        let ticks = (0..=steps as usize).map(|index| index as f64 * step).collect();
        Scale { logarithmic: false, low: 0.0, high: steps * step, from: 0.0, to: 1.0, ticks }
    }

    /// From 1 or the least value to the greatest, for ratios: in equal steps while they lie close together.
    pub(super) fn around_one(values: impl Iterator<Item = f64> + Clone) -> Scale {
        let (low, high) = bounds(values.clone().chain([1.0]));
        if high / low > 3.0 {
            return Scale::logarithmic(values.chain([1.0]), 10.0);
        }
        let step = round_step((high - low).max(0.02), 4.0);
        let (first, last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
        let last = last.max(first + 1.0);
        let ticks = (0..=(last - first) as usize).map(|index| (first + index as f64) * step).collect();
        Scale { logarithmic: false, low: first * step, high: last * step, from: 0.0, to: 1.0, ticks }
    }

    /// From the least to the greatest value, all above zero, with ticks at powers of `base` (10, or 2 for
    /// octets): fewer where they would be too many, between them where they would be too few.
    pub(super) fn logarithmic(values: impl Iterator<Item = f64>, base: f64) -> Scale {
        let (mut low, mut high) = bounds(values);
        if low == high {
            (low, high) = (low / 2.0, high * 2.0);
        }
        let exponent = |value: f64| value.log(base);
        let (first, last) = ((exponent(low) - 1e-9).ceil(), (exponent(high) + 1e-9).floor());
        let powers = (last - first + 1.0).max(0.0) as usize;
        let stride = powers.div_ceil(6).max(1);
        let mut ticks: Vec<f64> =
            (0..powers).step_by(stride).map(|index| base.powf(first + index as f64)).collect();
        if base == 10.0 && powers < 3 {
            let decades = first as i32 - 1..=last as i32;
            ticks =
                decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|part| part * 10f64.powi(decade))).collect();
            ticks.retain(|tick| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(tick));
        }
        if ticks.is_empty() {
            ticks = vec![low, high];
        }
        Scale { logarithmic: true, low, high, from: 0.0, to: 1.0, ticks }
    }

    /// The same axis, drawn from one pixel to another.
    pub(super) fn over(self, from: f64, to: f64) -> Scale {
        Scale { from, to, ..self }
    }

    /// Where a value is drawn; one beyond the axis at the axis's end.
    pub(super) fn at(&self, value: f64) -> f64 {
        let part = if self.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        // What is no number must not become a coordinate.
        let part = if part.is_nan() { 0.0 } else { part.clamp(0.0, 1.0) };
        self.from + part * (self.to - self.from)
    }

    /// Where the axis begins: bars start there.
    pub(super) fn origin(&self) -> f64 {
        self.from
    }
}

fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .filter(|value| (SANE.0..=SANE.1).contains(value))
        .fold((f64::INFINITY, 0.0), |(low, high), value| (f64::min(low, value), f64::max(high, value)));
    if low <= high { (low, high) } else { (1.0, 10.0) }
}

/// A step of 1, 2 or 5 times a power of ten that divides `range` into about so many parts.
fn round_step(range: f64, parts: f64) -> f64 {
    let raw = range / parts;
    let power = 10f64.powf(raw.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|part| part * power)
        .into_iter()
        .find(|step| *step >= raw * 0.999)
        .unwrap_or(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_based_axes_end_at_a_round_number() {
        let scale = Scale::from_zero([3.0, 83.2].into_iter()).over(200.0, 0.0);
        assert_eq!(scale.ticks, [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!((scale.at(0.0), scale.at(50.0), scale.at(100.0)), (200.0, 100.0, 0.0));
        assert_eq!(Scale::from_zero([10.0].into_iter()).ticks.last(), Some(&10.0));
        assert_eq!(Scale::from_zero(std::iter::empty()).ticks.last(), Some(&1.0));
    }

    #[test]
    fn buffers_from_1_kib_to_16_mib() {
        let sizes = (10..=24).map(|exponent| f64::from(1 << exponent));
        let scale = Scale::logarithmic(sizes, 2.0).over(0.0, 140.0);
        assert_eq!(scale.ticks, [10, 13, 16, 19, 22].map(|exponent| f64::from(1 << exponent)));
        assert_eq!(scale.at(1024.0), 0.0);
        assert!((scale.at(f64::from(1 << 17)) - 70.0).abs() < 1e-9);
    }

    #[test]
    fn a_short_logarithmic_axis_has_ticks_between_the_powers() {
        assert_eq!(Scale::logarithmic([12.0, 130.0].into_iter(), 10.0).ticks, [20.0, 50.0, 100.0]);
        let one = Scale::logarithmic([64.0].into_iter(), 2.0);
        assert!(one.ticks.contains(&64.0), "{one:?}");
        assert!(!Scale::logarithmic([11.0, 12.0].into_iter(), 10.0).ticks.is_empty());
    }

    #[test]
    fn ratios_include_one() {
        let near = Scale::around_one([1.04, 1.11].into_iter());
        assert!(near.ticks[0] <= 1.0 && near.ticks.last() >= Some(&1.11), "{near:?}");
        let far = Scale::around_one([1.04, 11.0].into_iter());
        assert!(far.ticks.contains(&1.0) && far.ticks.contains(&10.0), "{far:?}");
    }

    #[test]
    fn no_value_leads_outside() {
        for extreme in [f64::INFINITY, f64::NAN, 1e308, 5e-324] {
            assert!((2..20).contains(&Scale::from_zero([extreme].into_iter()).ticks.len()), "{extreme}");
            let logarithmic = Scale::logarithmic([1.0, extreme].into_iter(), 2.0);
            assert!((1..20).contains(&logarithmic.ticks.len()), "{extreme}");
        }
        for scale in [Scale::from_zero([1.0].into_iter()), Scale::logarithmic([1.0, 9.0].into_iter(), 10.0)] {
            assert!((2..20).contains(&scale.ticks.len()));
            for value in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300] {
                assert!((0.0..=1.0).contains(&scale.at(value)), "{value}");
            }
        }
    }
}
