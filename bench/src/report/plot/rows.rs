//! Rows under headings: a bar, a span from median to 99th percentile, or a ratio with its interval.
//!
//! ```text
//!  title
//!  unit
//!  1 KiB
//!  ● zorb      ├──────●────────┤        12.9 – 18.2
//!  ○ raw       ├────●────┤              11.9 – 15.0
//!              0    10     20
//! ```

use super::label::{self, LINE};
use super::scale::Scale;
use super::{Look, Markup, Plot, WIDTH, line, text};

/// What a row draws.
#[derive(Debug, Clone, Copy)]
pub(in crate::report) enum Mark {
    /// From zero to a value.
    Bar(f64),
    /// From a median to a high percentile.
    Span(f64, f64),
    /// A median with its interval, and what it should stay below.
    Interval { low: f64, median: f64, high: f64, target: Option<f64> },
}

impl Mark {
    fn values(self) -> Vec<f64> {
        match self {
            Mark::Bar(value) => vec![value],
            Mark::Span(from, to) => vec![from, to],
            Mark::Interval { low, median, high, target } => {
                [Some(low), Some(median), Some(high), target].into_iter().flatten().collect()
            }
        }
    }
}

/// One row.
#[derive(Debug, Clone)]
pub(in crate::report) struct Row {
    pub(in crate::report) label: String,
    pub(in crate::report) look: Look,
    pub(in crate::report) mark: Mark,
    /// What stands at its end.
    pub(in crate::report) value: String,
}

/// Rows with something in common.
#[derive(Debug, Clone)]
pub(in crate::report) struct RowGroup {
    pub(in crate::report) heading: String,
    pub(in crate::report) rows: Vec<Row>,
}

/// A plot of rows.
pub(in crate::report) struct Rows {
    pub(in crate::report) title: String,
    /// The circumstances under which it holds.
    pub(in crate::report) note: String,
    pub(in crate::report) unit: &'static str,
    pub(in crate::report) groups: Vec<RowGroup>,
}

impl Rows {
    /// Draws the plot; nothing if there is no row.
    pub(in crate::report) fn draw(&self) -> Option<Plot> {
        self.rows().next()?;
        Some(Plot::new(&self.title, self.unit, &self.note, |markup, top| self.draw_below(markup, top)))
    }

    fn rows(&self) -> impl Iterator<Item = &Row> + Clone {
        self.groups.iter().flat_map(|group| &group.rows)
    }

    fn draw_below(&self, markup: &mut Markup, top: f64) -> f64 {
        let widest = |of: fn(&Row) -> &str| self.rows().map(|row| label::width(of(row))).fold(0.0, f64::max);
        let left = (widest(|row| &row.label) + 24.0).min(WIDTH * 0.4);
        let right = WIDTH - (widest(|row| &row.value) + 10.0).min(WIDTH * 0.34);
        let scale = self.scale().over(left, right);
        let headings = self.groups.iter().filter(|group| !group.heading.is_empty()).count();
        let height = (self.rows().count() + headings) as f64 * LINE + self.groups.len() as f64 * 4.0;
        let bottom = top + height + 2.0;
        let mut free = 0.0;
        for tick in &scale.ticks {
            let (at, name) = (scale.at(*tick), super::super::number::count(*tick));
            line(markup, "grid", (at, top + 2.0), (at, bottom));
            let half = label::width(&name) / 2.0;
            if at - half >= free && at + half <= WIDTH {
                text(markup, "tick", "middle", at, bottom + 13.0, &name);
                free = at + half + 6.0;
            }
        }
        let mut y = top;
        for group in &self.groups {
            y += 4.0;
            if !group.heading.is_empty() {
                y += LINE;
                // On the page's colour, so that no grid line runs through the words.
                let words = label::shortened(&group.heading, WIDTH);
                let back = markup.element("rect").class("page").at("x", 0.0).at("y", y - 12.0);
                back.at("width", label::width(&words) + 4.0).at("height", LINE).end();
                text(markup, "title", "begin", 0.0, y, &words);
            }
            for row in &group.rows {
                y += LINE;
                draw_row(markup, row, &scale, y, (left, right));
            }
        }
        bottom + 20.0
    }

    fn scale(&self) -> Scale {
        let values = self.rows().flat_map(|row| row.mark.values());
        match self.rows().next().map(|row| row.mark) {
            Some(Mark::Interval { .. }) => Scale::around_one(values),
            Some(Mark::Span(..)) => Scale::logarithmic(values.flat_map(|value| [value / 1.1, value]), 10.0),
            _ => Scale::from_zero(values),
        }
    }
}

fn draw_row(markup: &mut Markup, row: &Row, scale: &Scale, base: f64, (left, right): (f64, f64)) {
    let middle = base - 4.0;
    markup.element("g").class(format_args!("series {}", row.look.class())).holding(|markup| {
        markup.element("title").text(format_args!("{}: {}", row.label, row.value));
        row.look.mark(markup, 6.0, middle);
        text(markup, "label", "begin", 16.0, base, &label::shortened(&row.label, left - 22.0));
        text(markup, "value", "end", WIDTH, base, &label::shortened(&row.value, WIDTH - right - 6.0));
        let tick = |markup: &mut Markup, class, value| {
            line(markup, class, (scale.at(value), middle - 4.0), (scale.at(value), middle + 4.0));
        };
        match row.mark {
            Mark::Bar(value) => {
                let width = (scale.at(value) - scale.origin()).max(0.5);
                let bar = markup.element("rect").class("full").at("x", scale.origin()).at("y", middle - 4.5);
                bar.at("width", width).at("height", 9.0).end();
            }
            Mark::Span(from, to) => {
                line(markup, "stroke", (scale.at(from), middle), (scale.at(to), middle));
                tick(markup, "stroke", to);
                row.look.mark(markup, scale.at(from), middle);
            }
            Mark::Interval { low, median, high, target } => {
                line(markup, "stroke", (scale.at(low), middle), (scale.at(high), middle));
                if let Some(target) = target {
                    line(
                        markup,
                        "target",
                        (scale.at(target), base - LINE + 4.0),
                        (scale.at(target), base + 4.0),
                    );
                }
                row.look.mark(markup, scale.at(median), middle);
            }
        }
    });
}
