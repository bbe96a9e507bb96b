//! Aligned columns of plain text, and numbers as people write them.

use std::fmt;

/// Which edge a column's cells line up at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table that is as wide as its cells need.
#[derive(Debug)]
pub(crate) struct Table {
    alignment: Vec<Align>,
    rows: Vec<Vec<String>>,
}

/// Between two columns.
const GAP: &str = "  ";

impl Table {
    /// A table with these column heads. A head that begins with `<` is for words, others for numbers.
    pub(crate) fn new(heads: &[&str]) -> Table {
        let alignment =
            heads.iter().map(|head| if head.starts_with('<') { Align::Left } else { Align::Right });
        let row = heads.iter().map(|head| head.trim_start_matches('<').to_owned()).collect();
        Table { alignment: alignment.collect(), rows: vec![row] }
    }

    /// Adds a row; missing cells stay empty, surplus ones are dropped.
    pub(crate) fn row<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let mut row: Vec<String> = cells.into_iter().map(Into::into).take(self.alignment.len()).collect();
        row.resize(self.alignment.len(), String::new());
        self.rows.push(row);
    }

    /// The columns that the widest line takes.
    #[cfg(test)]
    pub(crate) fn width(&self) -> usize {
        self.to_string().lines().map(|line| line.chars().count()).max().unwrap_or(0)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.alignment.len();
        let width =
            |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for ((cell, &width), alignment) in row.iter().zip(&widths).zip(&self.alignment) {
                let cell = match alignment {
                    Align::Left => format!("{cell:<width$}"),
                    Align::Right => format!("{cell:>width$}"),
                };
                line.push_str(if line.is_empty() { "" } else { GAP });
                line.push_str(&cell);
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Prose in lines of at most 80 columns, indented, broken between words; a longer word has a line of its own.
pub(crate) fn wrapped(text: &str, indent: usize) -> String {
    wrapped_to(text, indent, 80)
}

/// The same in so many columns.
pub(crate) fn wrapped_to(text: &str, indent: usize, columns: usize) -> String {
    let mut lines = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        if column > 0 && column + 1 + width <= columns {
            lines.push(' ');
            column += 1 + width;
        } else {
            lines.push_str(if column > 0 { "\n" } else { "" });
            lines.push_str(&" ".repeat(indent));
            column = indent + width;
        }
        lines.push_str(word);
    }
    lines.push('\n');
    lines
}

/// A number of bytes with a binary unit, to three or four figures: `412 B`, `1.25 MiB`.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.*} {}", decimals(value), UNITS[unit])
}

pub(crate) use zorb_bench::system::octets_text as octets;

/// A duration given in microseconds, with the unit that keeps it short: `12.3 µs`, `4.56 ms`, `1.20 s`.
pub(crate) fn microseconds(us: f64) -> String {
    let (value, unit) = match us {
        us if us.is_nan() => return "-".to_owned(),
        us if us < 1e3 => (us, "µs"),
        us if us < 1e6 => (us / 1e3, "ms"),
        us => (us / 1e6, "s"),
    };
    format!("{value:.*} {unit}", decimals(value))
}

/// A rate in bits a second, in decimal units as networks are sold: `9.41 Gbit/s`.
pub(crate) fn bit_rate(bytes: u64, seconds: f64) -> String {
    if bytes == 0 || seconds <= 0.0 {
        return "-".to_owned();
    }
    let (value, unit) = match bytes as f64 * 8.0 / seconds {
        rate if rate < 1e6 => (rate / 1e3, "kbit/s"),
        rate if rate < 1e9 => (rate / 1e6, "Mbit/s"),
        rate => (rate / 1e9, "Gbit/s"),
    };
    format!("{value:.*} {unit}", decimals(value))
}

/// A whole number with a comma between thousands.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Decimals that leave three significant figures.
fn decimals(value: f64) -> usize {
    match value {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_by_characters_not_bytes() {
        let mut table = Table::new(&["<name", "µs"]);
        table.row(["naïve", "1.0"]);
        table.row(["x", "123.4"]);
        table.row(["short"]);
        assert_eq!(table.to_string(), "name      µs\nnaïve    1.0\nx      123.4\nshort\n");
        assert_eq!(table.width(), 12);
    }

    #[test]
    fn prose_is_broken_between_words_only() {
        assert_eq!(wrapped("a b", 2), "  a b\n");
        let text = "word ".repeat(40);
        let lines = wrapped(&text, 4);
        assert!(lines.lines().all(|line| line.chars().count() <= 80 && line.starts_with("    word")));
        assert_eq!(lines.split_whitespace().count(), 40);
        let long = "x".repeat(100);
        assert_eq!(wrapped(&format!("a {long} b"), 0), format!("a\n{long}\nb\n"));
    }

    #[test]
    fn units() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1024), "1.00 KiB");
        assert_eq!(bytes(8 << 20), "8.00 MiB");
        assert_eq!(bytes(123 << 30), "123 GiB");
        assert_eq!(microseconds(12.34), "12.3 µs");
        assert_eq!(microseconds(999.0), "999 µs");
        assert_eq!(microseconds(4_560.0), "4.56 ms");
        assert_eq!(microseconds(1.2e6), "1.20 s");
        assert_eq!(microseconds(f64::NAN), "-");
        assert_eq!(bit_rate(1_250_000_000, 1.0), "10.0 Gbit/s");
        assert_eq!(bit_rate(1_250, 1.0), "10.0 kbit/s");
        assert_eq!(bit_rate(0, 1.0), "-");
    }

    #[test]
    fn thousands_are_separated() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (65_536, "65,536"), (1_234_567, "1,234,567")]
        {
            assert_eq!(thousands(number), text);
        }
    }
}
