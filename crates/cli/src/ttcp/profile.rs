//! `zorb ttcp run --profile`: the functions of sender and receiver, as a table.

use std::collections::BTreeMap;

use zorb_bench::row::Figures;
use zorb_bench::ttcp::{Outcome, Plan};

use crate::table::{Table, octets, wrapped};

/// A function's name takes at most so many columns, which leaves a table 80.
const NAME: usize = 50;

/// What is printed above all.
pub(super) fn describe(plan: &Plan, place: &str) -> String {
    let text = format!(
        "Floods of {} over {}, {place}; {} of each. Processor time of each function for so many octets, and its part of that \
         side's.",
        octets(plan.total as usize),
        plan.transport.name(),
        plan.repeat,
    );
    wrapped(&text, 0)
}

/// For each side of each version first how much each kind of work takes, then its functions.
pub(super) fn layout(outcome: &Outcome) -> String {
    let ms_per_flood = outcome.flood.total() as f64 / f64::from(1 << 30) * 1e3;
    let mut text = format!("{}, buffers of {}\n", outcome.flood.element, octets(outcome.flood.octets));
    let same_side = |one: &zorb_bench::row::Row, other: &zorb_bench::row::Row| {
        one.system == other.system && side(&one.figures) == side(&other.figures)
    };
    for rows in outcome.rows.chunk_by(same_side) {
        let mut kinds: BTreeMap<&str, f64> = BTreeMap::new();
        let mut table = Table::new(&["ms", "%", "<kind", "<function"]);
        let mut whole = 0.0;
        for row in rows {
            let Figures::Function { group, function, cpu_s_per_gib, share, .. } = &row.figures else {
                continue;
            };
            let ms = cpu_s_per_gib * ms_per_flood;
            whole += ms;
            *kinds.entry(group).or_default() += share * 100.0;
            table.row([format!("{ms:.2}"), format!("{:.1}", share * 100.0), group.clone(), cut(function)]);
        }
        let mut kinds: Vec<_> = kinds.into_iter().collect();
        kinds.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        let kinds: Vec<_> = kinds.iter().map(|(kind, percent)| format!("{kind} {percent:.0} %")).collect();
        text += &format!(
            "\n{}, {}: {whole:.1} ms; {}\n",
            rows[0].system,
            side(&rows[0].figures),
            kinds.join(", ")
        );
        text += &table.to_string();
    }
    text
}

fn side(figures: &Figures) -> &str {
    match figures {
        Figures::Function { side, .. } => side,
        _ => "",
    }
}

/// The end of a name tells most.
fn cut(name: &str) -> String {
    let letters = name.chars().count();
    if letters <= NAME {
        return name.to_owned();
    }
    std::iter::once('…').chain(name.chars().skip(letters + 1 - NAME)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb_bench::System;
    use zorb_bench::flood::{Element, Flood};
    use zorb_bench::orb::Zorb;

    #[test]
    fn the_table_fits_80_columns_and_adds_up() {
        let row = |side: &str, group: &str, function: &str, share: f64| {
            let line = format!(
                r#"{{"experiment":"profile","system":"{}","transport":"tcp","messaging":"giop","type":"struct","size":131072,"pin":"split","side":"{side}","group":"{group}","function":"{function}","cpu_s_per_gib":{},"share":{share},"ratio_to_raw":null,"ratio_low":null,"ratio_high":null}}"#,
                Zorb.name(),
                share * 16.0
            );
            zorb_bench::row::Row::from_json(&line).unwrap()
        };
        let long = "a_name_".repeat(20);
        let rows = vec![
            row("sender", "kernel-copies", "rep_movs_alternative", 0.75),
            row("sender", "program", &long, 0.25),
            row("receiver", "copies", "memcpy", 1.0),
        ];
        let flood = Flood { element: Element::Struct32, octets: 131_072, count: 512 };
        let text = layout(&Outcome { flood, rows });
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("zorb, sender: 1000.0 ms; kernel-copies 75 %, program 25 %\n"), "{text}");
        assert!(text.contains("\n250.00  25.0  program        …a_name_a_name_"), "{text}");
        assert!(text.contains("zorb, receiver: 1000.0 ms; copies 100 %\n"), "{text}");
    }
}
