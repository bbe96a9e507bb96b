//! Samples counted in bins of equal width.

use std::fmt;

/// The number of different samples.
const VALUES: u32 = 1 << 16;

/// How many samples lie from `lower` to `upper`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bin {
    pub(crate) lower: i32,
    pub(crate) upper: i32,
    pub(crate) count: u32,
}

/// Counts samples in `bins` bins that cover 0 to 65,535 without gap or overlap; where 65,536 does not divide
/// evenly, bins differ by one value. `None` unless there are 1 to 65,536 bins.
pub(crate) fn histogram(samples: &[u16], bins: u32) -> Option<Vec<Bin>> {
    if !(1..=VALUES).contains(&bins) {
        return None;
    }
    let mut counts = vec![0u32; VALUES as usize];
    for &sample in samples {
        // An image of more than 2^32 equal pixels cannot arrive, and would saturate, not wrap.
        let count = &mut counts[usize::from(sample)];
        *count = count.saturating_add(1);
    }
    let edge = |bin: u32| (u64::from(bin) * u64::from(VALUES) / u64::from(bins)) as usize;
    let bin = |number: u32| {
        let (lower, end) = (edge(number), edge(number + 1));
        let count = counts[lower..end].iter().fold(0u32, |sum, &count| sum.saturating_add(count));
        Bin { lower: lower as i32, upper: end as i32 - 1, count }
    };
    Some((0..bins).map(bin).collect())
}

/// Bars in a terminal, at most 80 columns wide, one line a bin.
///
/// Bars are as long as the square root of the count: in an image of large even areas the small structures
/// would otherwise not show.
pub(crate) struct Chart<'b>(pub(crate) &'b [Bin]);

/// The longest bar; with the numbers beside it a line has 75 columns.
const LONGEST: f64 = 48.0;

impl fmt::Display for Chart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.0.iter().map(|bin| bin.count).max().unwrap_or(0);
        for bin in self.0 {
            let share = if most == 0 { 0.0 } else { (f64::from(bin.count) / f64::from(most)).sqrt() };
            let bar = bar(share * LONGEST);
            let gap = if bar.is_empty() { "" } else { " " };
            writeln!(
                f,
                "{:>7} -{:>6} {bar}{gap}{}",
                bin.lower,
                bin.upper,
                crate::table::thousands(bin.count.into())
            )?;
        }
        Ok(())
    }
}

/// A bar of so many columns, to an eighth; what is not nothing shows at least an eighth.
fn bar(columns: f64) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let eighths = (columns * 8.0).round().max(if columns > 0.0 { 1.0 } else { 0.0 }) as usize;
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(EIGHTHS[eighths % 8]);
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_cover_all_values_once() {
        for bins in [1, 2, 3, 16, 1000, VALUES] {
            let counted = histogram(&[], bins).unwrap();
            assert_eq!(counted.len(), bins as usize);
            assert_eq!(counted[0].lower, 0);
            assert_eq!(counted.last().unwrap().upper, 65_535);
            assert!(counted.windows(2).all(|pair| pair[0].upper + 1 == pair[1].lower));
            assert!(counted.iter().all(|bin| bin.lower <= bin.upper));
        }
    }

    #[test]
    fn every_sample_is_counted_in_its_bin() {
        let samples = [0, 0, 4_095, 4_096, 65_535];
        let counted = histogram(&samples, 16).unwrap();
        assert_eq!(counted[0], Bin { lower: 0, upper: 4_095, count: 3 });
        assert_eq!(counted[1], Bin { lower: 4_096, upper: 8_191, count: 1 });
        assert_eq!(counted[15].count, 1);
        assert_eq!(counted.iter().map(|bin| bin.count).sum::<u32>(), 5);
    }

    #[test]
    fn no_bins_and_too_many_are_refused() {
        assert_eq!(histogram(&[1], 0), None);
        assert_eq!(histogram(&[1], VALUES + 1), None);
        assert_eq!(histogram(&[1], u32::MAX), None);
    }

    #[test]
    fn the_chart_fits_80_columns_and_shows_the_least() {
        let bins = [
            Bin { lower: 0, upper: 32_767, count: u32::MAX },
            Bin { lower: 32_768, upper: 65_534, count: 1 },
            Bin { lower: 65_535, upper: 65_535, count: 0 },
        ];
        let chart = Chart(&bins).to_string();
        let lines: Vec<_> = chart.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{chart}");
        assert_eq!(lines[1], "  32768 - 65534 ▏ 1");
        assert_eq!(lines[2], "  65535 - 65535 0");
    }

    #[test]
    fn bars_have_eighths() {
        assert_eq!(bar(0.0), "");
        assert_eq!(bar(0.01), "▏");
        assert_eq!(bar(2.5), "██▌");
        assert_eq!(bar(3.0), "███");
    }
}
