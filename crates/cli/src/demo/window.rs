//! Sixteen bits to eight through a window, as radiologists look at images.
//!
//! The linear function of DICOM PS3.3, C.11.2.1.2.1: of a window with centre `c` and width `w ≥ 1`, samples up to
//! `c - 0.5 - (w - 1) / 2` are black, samples above `c - 0.5 + (w - 1) / 2` white, and between them gray rises
//! linearly.

/// The part of the range that is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Window {
    center: f64,
    width: f64,
}

/// The phantom's brain: gray values from 0.1 to 0.4 of white.
pub(crate) const BRAIN: Window = Window { center: 16_384.0, width: 19_661.0 };

/// The number of different samples.
const VALUES: usize = 1 << 16;

impl Window {
    /// A window; `None` unless `width` is at least 1 and both are finite.
    pub(crate) fn new(center: f64, width: f64) -> Option<Window> {
        (center.is_finite() && width.is_finite() && width >= 1.0).then_some(Window { center, width })
    }

    /// A window from the darkest to the brightest hundredth of what is not background (0).
    pub(crate) fn showing(samples: &[u16]) -> Window {
        let mut counts = vec![0u64; VALUES];
        for &sample in samples {
            counts[usize::from(sample)] += 1;
        }
        let shown = samples.len() as u64 - counts[0];
        let value_at = |percent: u64| {
            let mut left = (shown * percent).div_ceil(100).max(1);
            let value = (1..VALUES).find(|&value| {
                let reached = counts[value] >= left;
                left -= counts[value].min(left);
                reached
            });
            value.unwrap_or(VALUES - 1) as f64
        };
        let (dark, bright) = (value_at(1), value_at(99));
        Window { center: f64::midpoint(dark, bright) + 0.5, width: bright - dark + 1.0 }
    }

    /// The sample in the middle of the window, and half.
    pub(crate) fn center(&self) -> f64 {
        self.center
    }

    /// How many values of samples the window spans.
    pub(crate) fn width(&self) -> f64 {
        self.width
    }

    /// The gray octet of a sample.
    fn gray(&self, sample: u16) -> u8 {
        let (middle, reach) = (self.center - 0.5, self.width - 1.0);
        let sample = f64::from(sample);
        if sample <= middle - reach / 2.0 {
            0
        } else if sample > middle + reach / 2.0 {
            255
        } else {
            (((sample - middle) / reach + 0.5) * 255.0).round() as u8
        }
    }

    /// Renders an image.
    pub(crate) fn render(&self, samples: &[u16]) -> Vec<u8> {
        if samples.len() < VALUES {
            return samples.iter().map(|&sample| self.gray(sample)).collect();
        }
        // With more pixels than there are values, a table is the shorter way.
        let table: Vec<u8> = (0..=u16::MAX).map(|sample| self.gray(sample)).collect();
        samples.iter().map(|&sample| table[usize::from(sample)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dicom_examples() {
        // Width 4096 about 2048 shows 12 bits whole (C.11.2.1.2.1, first example, unsigned).
        let whole = Window::new(2048.0, 4096.0).unwrap();
        assert_eq!(whole.render(&[0, 4095, 4096, 65_535]), [0, 255, 255, 255]);
        assert_eq!(whole.gray(2047), 127);
        // Width 1 is a threshold.
        let threshold = Window::new(100.0, 1.0).unwrap();
        assert_eq!(threshold.render(&[0, 99, 100, 101]), [0, 0, 255, 255]);
    }

    #[test]
    fn gray_never_falls() {
        let window = Window::new(12_345.6, 2_000.0).unwrap();
        let ramp = window.render(&(0..=u16::MAX).collect::<Vec<_>>());
        assert!(ramp.is_sorted());
        assert_eq!((ramp[0], ramp[65_535]), (0, 255));
    }

    #[test]
    fn the_table_gives_what_the_formula_gives() {
        let window = Window::new(30_000.0, 50_000.0).unwrap();
        let all: Vec<u16> = (0..=u16::MAX).collect();
        let one_by_one: Vec<u8> = all.iter().map(|&sample| window.gray(sample)).collect();
        assert_eq!(window.render(&all), one_by_one);
        assert_eq!(window.render(&all[..1000]), one_by_one[..1000]);
    }

    #[test]
    fn what_is_shown_spans_the_samples_without_background_and_outliers() {
        let mut samples = vec![0; 5_000];
        samples.extend(1_000..2_000);
        assert_eq!(Window::showing(&samples), Window { center: 1_499.5, width: 981.0 });
        let rendering = Window::showing(&samples).render(&[0, 1_008, 1_990]);
        assert_eq!(rendering, [0, 0, 255]);
        // One value, background only, nothing at all: still a window.
        for samples in [&[700; 9][..], &[0; 9], &[]] {
            let window = Window::showing(samples);
            assert!(Window::new(window.center(), window.width()).is_some(), "{window:?}");
        }
    }

    #[test]
    fn senseless_windows_are_refused() {
        for (center, width) in [(0.0, 0.0), (0.0, 0.99), (f64::NAN, 10.0), (1.0, f64::INFINITY), (1.0, -5.0)]
        {
            assert_eq!(Window::new(center, width), None);
        }
    }
}
