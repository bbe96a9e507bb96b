//! Counts beside their budgets: a table, and what is wrong.
//!
//! A budget may be lowered by whoever likes. One that is above the lowest that it ever was says why, on its line; what was
//! the lowest cannot be forgotten as long as git remembers an earlier version of the file.

use std::fmt::Write as _;

use crate::budget::{Amount, Budget};
use crate::profile::Figures;

/// How far below its budget a figure may stay, in percent and rounded up, before the budget is worth lowering.
const SLACK: u64 = 2;

pub(crate) struct Report {
    pub(crate) table: String,
    pub(crate) faults: Vec<String>,
}

/// Which cases were counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Those that there are: a budget without a count is a fault.
    All,
    /// Those that were asked for: other budgets are left out.
    Some,
}

/// Judges what was counted.
pub(crate) fn report(now: &[Budget], earlier: &[Vec<Budget>], figures: &Figures, counted: Counted) -> Report {
    let mut table = format!("{:<9} {:<16} {:>12} {:>7}\n", "what", "case", "instructions", "budget");
    let mut faults = Vec::new();
    for budget in now {
        let name = budget.figure();
        let Some(found) = figures.of(&name) else {
            if counted == Counted::All {
                faults.push(format!("{name} was not counted"));
            }
            continue;
        };
        let (Some(most), Some(lowest)) = (number(&budget.most, figures), number(&budget.lowest, figures))
        else {
            faults.push(format!("{name}: the figure that its budget is a part of was not counted"));
            continue;
        };
        let verdict = if found > most {
            faults.push(format!("{name} takes {found} instructions, {most} at most"));
            "TOO MANY".to_owned()
        } else if matches!(budget.most, Amount::Instructions(_))
            && most - found > (most * SLACK).div_ceil(100)
        {
            format!("{:.1} % below: lower it", (most - found) as f64 * 100.0 / most as f64)
        } else {
            "ok".to_owned()
        };
        let _ = writeln!(table, "{:<9} {:<16} {found:>12} {most:>7}  {verdict}", budget.what, budget.case);
        faults.extend(raised(budget, most, lowest).map(|fault| format!("{name}: {fault}")));
        let before = earlier.iter().flatten().filter(|before| before.figure() == name);
        let before = before.flat_map(|before| [&before.most, &before.lowest]);
        let least = before.filter_map(|amount| number(amount, figures)).min();
        if let Some(least) = least.filter(|&least| least < lowest) {
            faults.push(format!(
                "{name}: an earlier commit had {least}, below the lowest that its line admits"
            ));
        }
    }
    let has_budget = |name: &str| now.iter().any(|budget| budget.figure() == name);
    // The sum of two that have budgets of their own needs none.
    let is_sum =
        |name: &str| name.strip_prefix("call/").is_some_and(|load| has_budget(&format!("client/{load}")));
    // And what others are measured by is no work of ours.
    let is_floor = |name: &str| now.iter().any(|budget| budget.most.figure() == Some(name));
    let without = figures.names().filter(|name| !has_budget(name) && !is_sum(name) && !is_floor(name));
    faults.extend(without.map(|name| format!("{name} has no budget")));
    Report { table, faults }
}

/// What is wrong with a line by itself.
fn raised(budget: &Budget, most: u64, lowest: u64) -> Option<&'static str> {
    if most < lowest {
        return Some("its budget is below the lowest that it ever was: lower that too");
    }
    (most > lowest && budget.reason.is_empty())
        .then_some("a raised budget needs a reason, at the end of its line")
}

fn number(amount: &Amount, figures: &Figures) -> Option<u64> {
    match amount {
        Amount::Instructions(number) => Some(*number),
        Amount::Above { figure, percent } => {
            Some(figures.of(figure)? * 100u64.saturating_add_signed(*percent) / 100)
        }
        Amount::Beyond { figure, instructions } => Some(figures.of(figure)? + instructions),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::parse;

    /// What is said of this file, and of this as an earlier commit's, where `encode/null` takes 100 instructions.
    fn report_on(now: &str, earlier: &str) -> Report {
        let mut figures = Figures::default();
        figures.enter("encode/null", "totals: 1000\n", 10).expect("a profile");
        report(&parse(now).expect("budgets"), &[parse(earlier).expect("budgets")], &figures, Counted::All)
    }

    fn faults(now: &str, earlier: &str) -> String {
        report_on(now, earlier).faults.join("\n")
    }

    #[test]
    fn a_budget_holds() {
        assert_eq!(faults("encode null 100 100", ""), "");
        assert_eq!(faults("encode null 99 99", ""), "encode/null takes 100 instructions, 99 at most");
        assert_eq!(
            faults("encode other 100 100", ""),
            "encode/other was not counted\nencode/null has no budget"
        );
    }

    #[test]
    fn a_raised_budget_needs_a_reason() {
        assert!(faults("encode null 120 100", "").contains("needs a reason"));
        assert_eq!(faults("encode null 120 100 heads are longer", ""), "");
        assert!(faults("encode null 100 120", "").contains("lower that too"));
    }

    #[test]
    fn the_lowest_is_what_it_was_in_an_earlier_commit() {
        let forgotten = "encode/null: an earlier commit had 110, below the lowest that its line admits";
        assert_eq!(faults("encode null 120 120", "encode null 110 110"), forgotten);
        assert_eq!(faults("encode null 120 120", "encode null 130 110 for a while"), forgotten);
        assert_eq!(faults("encode null 105 105", "encode null 110 110"), "");
        assert_eq!(faults("encode null 120 110 heads are longer", "encode null 110 110"), "");
    }

    #[test]
    fn a_budget_may_be_a_part_of_another_figure() {
        assert_eq!(faults("encode null encode/null+0% encode/null+0%", ""), "");
        assert_eq!(
            faults("encode null encode/null-10% encode/null-10%", ""),
            "encode/null takes 100 instructions, 90 at most"
        );
        assert!(faults("encode null encode/null+3% encode/null+2%", "").contains("needs a reason"));
        assert!(faults("encode null call/null+2% call/null+2%", "").contains("was not counted"));
    }

    #[test]
    fn a_budget_with_room_is_reported_and_the_table_fits_80_columns() {
        let table = report_on("encode null 102 102", "").table;
        assert!(table.ends_with("100     102  ok\n"), "{table}");
        let table = report_on("encode null 104 104", "").table;
        assert!(table.ends_with("3.8 % below: lower it\n"), "{table}");
        assert!(table.lines().all(|line| line.len() <= 80), "{table}");
    }
}
