//! Bars made of parts, with the parts' names above all of them: what a whole consists of.
//!
//! ```text
//!  title
//!  unit
//!  ■ kernel  ■ copies  ■ program
//!  zorb, sender
//!  ███████▒▒░░░ 0.21
//!  0    0.1   0.2
//! ```

use super::label::{self, LINE};
use super::scale::Scale;
use super::{Markup, Plot, WIDTH, axis_below, text};
use crate::report::number;

/// A part of each bar: its name, and the class that paints it.
pub(in crate::report) type Part = (&'static str, &'static str);

/// A bar, with a value for each part.
pub(in crate::report) struct Stack {
    pub(in crate::report) label: String,
    pub(in crate::report) values: Vec<f64>,
}

impl Stack {
    fn sum(&self) -> f64 {
        self.values.iter().sum()
    }
}

/// A plot of such bars.
pub(in crate::report) struct Stacks {
    pub(in crate::report) title: String,
    pub(in crate::report) unit: &'static str,
    /// The circumstances under which it holds.
    pub(in crate::report) note: String,
    pub(in crate::report) parts: &'static [Part],
    pub(in crate::report) bars: Vec<Stack>,
}

impl Stacks {
    /// Draws the plot; nothing if there is no bar.
    pub(in crate::report) fn draw(&self) -> Option<Plot> {
        let drawn = !self.bars.is_empty();
        drawn.then(|| {
            Plot::new(&self.title, self.unit, &self.note, |markup, top| self.draw_below(markup, top))
        })
    }

    fn draw_below(&self, markup: &mut Markup, top: f64) -> f64 {
        let mut y = self.draw_names(markup, top);
        let widest = self.bars.iter().map(|bar| label::width(&number::figure(bar.sum()))).fold(0.0, f64::max);
        let right = WIDTH - widest - 8.0;
        let scale = Scale::from_zero(self.bars.iter().map(Stack::sum)).over(0.0, right);
        for bar in &self.bars {
            y += LINE;
            text(markup, "label", "begin", 0.0, y - 2.0, &label::shortened(&bar.label, WIDTH));
            let mut sum = 0.0;
            for ((name, class), value) in self.parts.iter().zip(&bar.values) {
                let (from, to) = (scale.at(sum), scale.at(sum + value));
                sum += value;
                let segment = markup.element("rect").class(format_args!("segment {class}"));
                let segment =
                    segment.at("x", from).at("y", y + 2.0).at("width", to - from).at("height", 12.0);
                segment.holding(|markup| {
                    markup.element("title").text(format_args!("{name}: {}", number::figure(*value)));
                });
            }
            text(markup, "value", "begin", scale.at(sum) + 6.0, y + 12.0, &number::figure(bar.sum()));
            y += 19.0;
        }
        axis_below(markup, &scale, right, y)
    }

    /// The parts' names, in as many lines as they need.
    fn draw_names(&self, markup: &mut Markup, top: f64) -> f64 {
        let (mut x, mut y) = (0.0, top + LINE);
        for (name, class) in self.parts {
            let width = 14.0 + label::width(name) + 12.0;
            if x > 0.0 && x + width > WIDTH {
                (x, y) = (0.0, y + LINE);
            }
            let square = markup.element("rect").class(format_args!("segment {class}"));
            square.at("x", x).at("y", y - 9.0).at("width", 10.0).at("height", 10.0).end();
            text(markup, "label", "begin", x + 14.0, y, name);
            x += width;
        }
        y + 4.0
    }
}
