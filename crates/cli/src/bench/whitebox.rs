//! `zorb bench rtt --probes`: the steps of a call, as a table and as a trace, and what it takes that can be counted.

use std::io::Write;
use std::path::Path;

use zorb_bench::counts::Counted;
use zorb_bench::lab::Lab;
use zorb_bench::pin::Pin;
use zorb_bench::system::{Payload, Transport};
use zorb_bench::whitebox::{self, Findings, MOST_CALLS, WhiteBox};

pub(super) use zorb_bench::whitebox::Plan;

use super::rtt::print_rows;
use super::surroundings::{surrounded, tell_if_busy};
use crate::failure::Failure;
use crate::table::Table;

/// What is to be measured; the probes look into calls of `Echo` only.
pub(super) fn plan(transport: Transport, pin: Pin, payloads: Vec<Payload>) -> Result<Plan, Failure> {
    match payloads.iter().find(|payload| matches!(payload, Payload::Cube(_))) {
        None => Ok(Plan { transport, pin, calls: MOST_CALLS, payloads }),
        Some(other) => Err(Failure::usage(format!(
            "--probes looks into calls of the types null and octet: those of {} tell nothing more",
            other.type_name()
        ))),
    }
}

/// Measures, prints, and writes the trace where one is asked for.
pub(super) fn run(plan: &Plan, json: bool, trace: Option<&Path>) -> Result<(), Failure> {
    tell_if_busy(json)?;
    let findings = surrounded("looking into calls", Lab::PATIENCE, None, |lab| whitebox::run(plan, lab))?;
    if let Some(path) = trace {
        std::fs::write(path, whitebox::trace(&findings.boxes))
            .map_err(|error| Failure::file("write", path, error))?;
    }
    if json {
        return Ok(print_rows(&findings.rows(plan))?);
    }
    let Findings { boxes, counted, mark, reading } = findings;
    let mut output = std::io::stdout().lock();
    writeln!(
        output,
        "Steps of a call over {}, pin {}; medians of {MOST_CALLS} calls\n",
        plan.transport.name(),
        plan.pin
    )?;
    write!(output, "{}", layout(&boxes))?;
    writeln!(
        output,
        "\nA mark took {mark:.1} ns, {reading:.1} of it to read the clock: medians, back to back, now\n"
    )?;
    write!(output, "One call takes, on average:\n\n{}", layout_counts(&counted))?;
    Ok(())
}

/// A line for each step, a column for each kind of call.
fn layout(boxes: &[WhiteBox]) -> Table {
    let heads: Vec<_> = boxes.iter().map(|seen| format!("{} ns", seen.payload)).collect();
    let mut columns = vec!["<side", "step", "<what is done"];
    columns.extend(heads.iter().map(String::as_str));
    let mut table = Table::new(&columns);
    let Some(first) = boxes.first() else { return table };
    for (at, step) in first.steps.iter().enumerate() {
        let mut cells = vec![step.side.to_owned(), step.number.to_string(), step.name.to_owned()];
        let times =
            boxes.iter().map(|seen| seen.steps.get(at).map(|step| format!("{:.0}", step.nanoseconds)));
        cells.extend(times.map(Option::unwrap_or_default));
        table.row(cells);
    }
    let mut cells = vec!["both".to_owned(), String::new(), "the whole call".to_owned()];
    cells.extend(boxes.iter().map(|seen| format!("{:.0}", seen.call)));
    table.row(cells);
    table
}

/// A line for each side of each kind of call.
fn layout_counts(counted: &[Counted]) -> Table {
    let mut table =
        Table::new(&["<call", "<side", "system calls", "octets copied", "allocations", "octets allocated"]);
    for counted in counted {
        for (at, (side, counts)) in counted.sides().into_iter().enumerate() {
            let call = if at == 0 { counted.payload.to_string() } else { String::new() };
            table.row(vec![
                call,
                side.to_owned(),
                format!("{:.2}", counts.system_calls),
                format!("{:.0}", counts.octets_copied),
                format!("{:.2}", counts.allocations),
                format!("{:.0}", counts.octets_allocated),
            ]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb_bench::counts::PerCall;

    #[test]
    fn the_table_of_counts_fits_80_columns() {
        let counts = PerCall {
            system_calls: 12.345,
            octets_copied: 65_600.4,
            allocations: 12.345,
            octets_allocated: 131_200.4,
        };
        let counted = Counted { payload: Payload::Structs(100), client: counts, server: counts };
        let table = layout_counts(&[counted]);
        assert!(table.width() <= 80, "{}\n{table}", table.width());
        assert!(table.to_string().contains("100 structs"), "{table}");
    }
}
