//! The steps of a call: stacked in one bar a side, and unfolded one below the other.
//!
//! A step keeps its colour and number in both. Steps of one leg (out, in the server, back) share a hue in two
//! alternating shades, so that neighbours are told apart by shade and number, without fourteen colours.

use super::label::{self, LINE};
use super::scale::Scale;
use super::{Markup, Plot, WIDTH, axis_below, text};
use crate::report::number;

/// Where the request has left and where the reply comes back: steps 1 to 7 are the client's way out, 8 to 12 the
/// server's, 13 and 14 the client's way back.
fn class(number: u64) -> String {
    let leg = match number {
        0..=7 => "out",
        8..=12 => "served",
        _ => "back",
    };
    format!("{leg} {}", if number.is_multiple_of(2) { "even" } else { "odd" })
}

/// One step's time.
#[derive(Debug, Clone)]
pub(in crate::report) struct Step {
    number: u64,
    name: String,
    microseconds: f64,
    share: Option<f64>,
}

impl Step {
    /// A step that takes so long, and so great a share of the call.
    pub(in crate::report) fn new(number: u64, name: String, microseconds: f64, share: Option<f64>) -> Step {
        Step { number, name, microseconds, share }
    }
}

/// The steps of one side, in order.
#[derive(Debug, Clone)]
pub(in crate::report) struct Bar {
    /// What was called, and the side.
    pub(in crate::report) label: String,
    pub(in crate::report) steps: Vec<Step>,
}

impl Bar {
    fn sum(&self) -> f64 {
        self.steps.iter().map(|step| step.microseconds).sum()
    }
}

/// Stacked bars.
pub(in crate::report) struct Steps {
    pub(in crate::report) title: String,
    /// The circumstances under which it holds.
    pub(in crate::report) note: String,
    pub(in crate::report) bars: Vec<Bar>,
}

const UNIT: &str = "µs, medians of each step";

/// Room for a time and for a share in percent.
const TIMES: f64 = 58.0;
const SHARES: f64 = 52.0;

impl Steps {
    /// Draws the plot; nothing if there is no step.
    pub(in crate::report) fn draw(&self) -> Option<Plot> {
        self.bars
            .iter()
            .any(|bar| !bar.steps.is_empty())
            .then(|| Plot::new(&self.title, UNIT, &self.note, |markup, top| self.draw_below(markup, top)))
    }

    fn draw_below(&self, markup: &mut Markup, top: f64) -> f64 {
        let value = |bar: &Bar| number::figure(bar.sum());
        let values = self.bars.iter().map(|bar| label::width(&value(bar))).fold(0.0, f64::max);
        let right = WIDTH - values - 8.0;
        let scale = Scale::from_zero(self.bars.iter().map(Bar::sum)).over(0.0, right);
        let mut y = top + 4.0;
        for bar in &self.bars {
            y += LINE;
            text(markup, "label", "begin", 0.0, y - 2.0, &label::shortened(&bar.label, WIDTH));
            let mut sum = 0.0;
            for step in &bar.steps {
                let (from, to) = (scale.at(sum), scale.at(sum + step.microseconds));
                sum += step.microseconds;
                segment(markup, step, (from, to), y + 2.0, 16.0);
                if to - from >= 14.0 {
                    text(markup, "inside", "middle", (from + to) / 2.0, y + 14.0, &step.number.to_string());
                }
            }
            text(markup, "value", "begin", scale.at(sum) + 6.0, y + 14.0, &value(bar));
            y += 23.0;
        }
        axis_below(markup, &scale, right, y)
    }
}

/// The steps of both sides one below the other, each beginning where the one before it on its side has ended.
pub(in crate::report) struct Waterfall {
    pub(in crate::report) title: String,
    /// The circumstances under which it holds.
    pub(in crate::report) note: String,
    pub(in crate::report) sides: Vec<Bar>,
}

impl Waterfall {
    /// Draws the plot; nothing if there is no step.
    pub(in crate::report) fn draw(&self) -> Option<Plot> {
        self.sides
            .iter()
            .any(|side| !side.steps.is_empty())
            .then(|| Plot::new(&self.title, UNIT, &self.note, |markup, top| self.draw_below(markup, top)))
    }

    fn draw_below(&self, markup: &mut Markup, top: f64) -> f64 {
        let steps = || self.sides.iter().flat_map(|side| &side.steps);
        let name = |step: &Step| format!("{} {}", step.number, step.name);
        let names = steps().map(|step| label::width(&name(step))).fold(0.0, f64::max);
        let left = (names + 8.0).min(WIDTH * 0.5);
        let right = WIDTH - TIMES - SHARES;
        let scale = Scale::from_zero(self.sides.iter().map(Bar::sum)).over(left, right);
        let mut y = top;
        for side in &self.sides {
            y += LINE + 6.0;
            let heading = format!("{}: {} µs", side.label, number::figure(side.sum()));
            text(markup, "label", "begin", 0.0, y, &label::shortened(&heading, WIDTH));
            let mut sum = 0.0;
            for step in &side.steps {
                y += LINE;
                let (from, to) = (scale.at(sum), scale.at(sum + step.microseconds));
                sum += step.microseconds;
                text(markup, "tick", "begin", 0.0, y, &label::shortened(&name(step), left - 6.0));
                segment(markup, step, (from, to.max(from + 1.5)), y - 9.5, 11.0);
                text(markup, "value", "end", WIDTH - SHARES, y, &number::figure(step.microseconds));
                let share = step.share.map(number::percent).unwrap_or_default();
                text(markup, "value", "end", WIDTH, y, &share);
            }
        }
        y + 8.0
    }
}

fn segment(markup: &mut Markup, step: &Step, (from, to): (f64, f64), y: f64, height: f64) {
    markup
        .element("rect")
        .class(format_args!("segment {}", class(step.number)))
        .at("x", from)
        .at("y", y)
        .at("width", to - from)
        .at("height", height)
        .holding(|markup| {
            let time = number::figure(step.microseconds);
            markup.element("title").text(format_args!("{} {}: {time} µs", step.number, step.name));
        });
}
