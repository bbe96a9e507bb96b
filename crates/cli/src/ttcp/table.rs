//! The table of one type's figures.

use zorb_bench::System;
use zorb_bench::raw::Raw;
use zorb_bench::row::{Compared, Figures, Row};
use zorb_bench::ttcp::{self, Judged, Outcome};

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

/// The same sizes and systems with the other ratios of their turns, if there are any.
pub(super) fn beside(outcomes: &[Outcome]) -> Option<Table> {
    let rows = || outcomes.iter().flat_map(|outcome| &outcome.rows);
    let processor = rows().any(|row| row.beside.processor().is_some());
    let equal = rows().any(|row| row.beside.equal().is_some());
    let mut heads = vec!["buffer", "<version"];
    heads.extend(processor.then_some(["CPU ratio", "<95 % interval"]).into_iter().flatten());
    heads.extend(equal.then_some(["to equal", "<95 % interval"]).into_iter().flatten());
    let mut table = Table::new(&heads);
    for outcome in outcomes {
        let mut buffer = octets(outcome.flood.octets);
        for row in outcome.rows.iter().filter(|row| !is_floor(row)) {
            let mut cells = vec![std::mem::take(&mut buffer), row.system.clone()];
            cells.extend(processor.then(|| compared(row.beside.processor())).into_iter().flatten());
            cells.extend(equal.then(|| compared(row.beside.equal())).into_iter().flatten());
            table.row(cells);
        }
    }
    (processor || equal).then_some(table)
}

fn compared(compared: Option<Compared>) -> [String; 2] {
    let Some(Compared { median, interval }) = compared else { return [String::new(), String::new()] };
    let interval = interval.map(|(low, high)| format!("{low:.3} - {high:.3}"));
    [format!("{median:.3}"), interval.unwrap_or_else(|| "not resolved".to_owned())]
}

/// One line for each ratio that has a target and an interval. `paced`: the system paces what sockets send within the machine.
pub(super) fn verdicts(outcomes: &[Outcome], paced: bool) -> String {
    let rows = outcomes.iter().flat_map(|outcome| outcome.rows.iter().map(|row| (row, &outcome.flood)));
    let judged = rows.flat_map(|(row, flood)| {
        ttcp::judged(row, flood, paced).into_iter().map(move |judged| (row, judged))
    });
    let line = |(row, Judged { target, ratio, of }): (&Row, Judged)| {
        let (buffer, most) = (octets(row.size), target.0);
        format!("{}, {buffer}: at most {most:.2} times {of}: {}\n", row.system, target.judge(&ratio))
    };
    judged.map(line).collect()
}

fn is_floor(row: &Row) -> bool {
    row.system == row.parameters.floor.as_deref().unwrap_or(Raw::Plain.name())
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
        _ if is_floor(row) => Vec::new(),
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
    use zorb_bench::row::{Beside, Parameters};
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
            beside: Beside::default(),
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

    #[test]
    fn other_ratios_have_a_table_and_targets_a_line() {
        let flood = Flood { element: Element::Octet, octets: 1 << 20, count: 4 };
        let mut zorb = row("zorb");
        zorb.set_ratio(Some(Ratio { median: 0.5, low: 0.49, high: 0.51 }));
        zorb.size = flood.octets;
        zorb.beside.set_processor(Some(Compared { median: 1.04, interval: Some((1.02, 1.06)) }));
        zorb.beside.set_equal(Some(Compared { median: 1.2, interval: Some((1.15, 1.25)) }));
        let mut equal = row("raw-equal");
        equal.beside.set_processor(Some(Compared { median: 0.9, interval: None }));
        let outcomes = [Outcome { flood, rows: vec![row("raw"), equal, zorb] }];
        let table = beside(&outcomes).expect("there are others");
        assert!(table.width() <= 80, "{table}");
        let text = table.to_string();
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[1].starts_with(" 1 MiB") && lines[1].contains("0.900  not resolved"), "{text}");
        assert!(
            lines[2].contains("1.040  1.020 - 1.060") && lines[2].ends_with("1.200  1.150 - 1.250"),
            "{text}"
        );
        assert_eq!(
            verdicts(&outcomes, true),
            "zorb, 1 MiB: at most 1.03 times raw-equal's time: missed\n\
             zorb, 1 MiB: at most 0.67 times raw's time: met\n\
             zorb, 1 MiB: at most 1.05 times raw's processor time: met\n"
        );
        assert_eq!(verdicts(&outcomes, false).lines().count(), 2, "nothing is paced");
        assert!(beside(&[Outcome { flood, rows: vec![row("raw"), row("zorb")] }]).is_none());
    }
}
