//! The table of one type's figures.

use zorb_bench::row::{Figures, Row};
use zorb_bench::ttcp::Outcome;

use crate::table::{Table, octets};

/// All buffer sizes of one type, and in each all systems.
pub(super) fn layout(outcomes: &[Outcome]) -> Table {
    let heads = ["buffer", "<version", "Gbit/s", "sender", "CPU out", "CPU in", "ratio", "<95 % interval"];
    let mut table = Table::new(&heads);
    for outcome in outcomes {
        for (at, row) in outcome.rows.iter().enumerate() {
            let buffer = if at == 0 { octets(outcome.flood.octets) } else { String::new() };
            let mut cells = vec![buffer, row.system.clone()];
            cells.extend(figures(&row.figures));
            if let (true, Some(rate)) = (is_shortened(row), cells.get_mut(2)) {
                rate.push('*');
            }
            cells.extend(ratio(row));
            table.row(cells);
        }
    }
    table
}

/// What a mark in the tables means; empty if there is none.
pub(super) fn footnote(outcomes: &[Outcome]) -> &'static str {
    match outcomes.iter().flat_map(|outcome| &outcome.rows).any(is_shortened) {
        true => "* fewer buffers, so that a flood is not much longer than --longest\n",
        false => "",
    }
}

fn is_shortened(row: &Row) -> bool {
    row.parameters.buffers.is_some()
}

fn figures(figures: &Figures) -> Vec<String> {
    let Figures::Throughput { gbit_s, sender_gbit_s, sender_cpu_s_per_gib, receiver_cpu_s_per_gib, .. } =
        *figures
    else {
        return Vec::new();
    };
    let short = |figure: Option<f64>| figure.map_or_else(|| "-".to_owned(), three_figures);
    [Some(gbit_s), sender_gbit_s, sender_cpu_s_per_gib, receiver_cpu_s_per_gib].map(short).into()
}

/// The floor has none to itself.
fn ratio(row: &Row) -> Vec<String> {
    match (row.ratio_to_raw, row.ratio()) {
        _ if row.system == row.parameters.floor.as_deref().unwrap_or("raw") => Vec::new(),
        (Some(_), Some(ratio)) => {
            vec![format!("{:.3}", ratio.median), format!("{:.3} - {:.3}", ratio.low, ratio.high)]
        }
        (Some(median), None) => vec![format!("{median:.3}"), "not resolved".to_owned()],
        (None, _) => Vec::new(),
    }
}

fn three_figures(value: f64) -> String {
    match value {
        value if value < 9.995 => format!("{value:.2}"),
        value if value < 99.95 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb_bench::flood::{Element, Flood};
    use zorb_bench::row::Parameters;
    use zorb_bench::statistics::Ratio;

    fn row(system: &str) -> Row {
        Row {
            experiment: "ttcp".to_owned(),
            system: system.to_owned(),
            transport: "tcp".to_owned(),
            messaging: "none".to_owned(),
            r#type: "struct32".to_owned(),
            size: 1 << 24,
            pin: "split".to_owned(),
            figures: Figures::Throughput {
                gbit_s: 123.456,
                sender_gbit_s: None,
                cpu_s_per_gib: Some(99.0),
                sender_cpu_s_per_gib: Some(12.34),
                receiver_cpu_s_per_gib: Some(0.567),
            },
            ratio_to_raw: None,
            ratio_low: None,
            ratio_high: None,
            parameters: Parameters::default(),
            command: None,
        }
    }

    #[test]
    fn the_table_fits_80_columns() {
        let mut resolved = row("tirpc-opaque");
        resolved.set_ratio(Some(Ratio { median: 12.345, low: 10.0, high: 14.0 }));
        let mut unresolved = row("zorb");
        unresolved.set_unresolved_ratio(1.2345);
        let flood = Flood { element: Element::Struct32, octets: 1 << 24, count: 4 };
        let table = layout(&[Outcome { flood, rows: vec![row("raw"), resolved, unresolved] }]);
        assert!(table.width() <= 80, "{}\n{table}", table.width());
        let text = table.to_string();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 4);
        assert!(
            lines[1].starts_with("16 MiB  raw") && lines[1].ends_with("123       -     12.3    0.57"),
            "{text}"
        );
        assert!(lines[2].contains("tirpc-opaque") && lines[2].ends_with("12.345  10.000 - 14.000"), "{text}");
        assert!(
            lines[3].ends_with("1.234  not resolved") || lines[3].ends_with("1.235  not resolved"),
            "{text}"
        );
    }
}
