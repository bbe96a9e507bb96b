//! `zorb ttcp run --profile`: the functions of sender and receiver, as a table.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

use zorb_bench::contest::Entry;
use zorb_bench::link::Spec;
use zorb_bench::pin::Pin;
use zorb_bench::profile::{self, Outcome};
use zorb_bench::row::Figures;

use super::{Floods, placed};
use crate::bench::common::over;
use crate::bench::rtt::print_rows;
use crate::bench::surroundings::{surrounded, tell_if_busy};
use crate::failure::Failure;
use crate::table::{Table, octets, wrapped};

/// A function's name takes at most so many columns, which leaves a table 80.
const NAME: usize = 50;

/// Profiles the floods and prints each type and size as soon as it is there.
pub(super) fn run(
    entries: Vec<Entry<'static>>,
    pin: Pin,
    link: Option<&Spec>,
    place: &str,
    floods: &Floods,
) -> Result<(), Failure> {
    let plan = floods.plan(pin);
    tell_if_busy(floods.json)?;
    let mut unwritten = Ok(());
    let ended = surrounded("profiling floods", Duration::from_secs(floods.patience), link, |lab| {
        if !floods.json {
            let place = placed(lab, place);
            let text = format!(
                "Floods of {} over {}, {place}; {} of each. Processor time of each function in a flood, and its part of that \
             side's.",
                octets(plan.total as usize),
                plan.transport.name(),
                plan.repeat,
            );
            unwritten = write!(std::io::stdout(), "{}", wrapped(&text, 0));
            if unwritten.is_err() {
                lab.stop.request();
            }
        }
        profile::run(entries, &plan, lab, &mut |mut outcome| {
            over(lab.link, &mut outcome.rows);
            lab.progress.aside(&mut || {
                if unwritten.is_ok() {
                    unwritten = if floods.json { print_rows(&outcome.rows) } else { print(&outcome) };
                }
            });
            if unwritten.is_err() {
                lab.stop.request();
            }
        })
    });
    unwritten?;
    Failure::of_run(ended)
}

fn print(outcome: &Outcome) -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    write!(
        output,
        "\n{}, buffers of {}\n{}",
        outcome.flood.element,
        octets(outcome.flood.octets),
        layout(outcome)
    )?;
    output.flush()
}

/// For each side of each version first how much each kind of work takes, then its functions.
fn layout(outcome: &Outcome) -> String {
    let ms_per_flood = outcome.flood.total() as f64 / f64::from(1 << 30) * 1e3;
    let mut text = String::new();
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
