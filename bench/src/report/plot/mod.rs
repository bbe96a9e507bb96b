//! Plots as SVG, drawn for a page 400 pixels wide: the same drawing is legible on a telephone and, three in
//! a row, on a wide screen.
//!
//! A plot names its lines where they end and its bars where they begin; nobody has to carry a colour to a legend
//! and back. Colours are classes ([`look`]), so the page's style sheet paints it in light and dark. Hovering over a
//! mark shows its values (`<title>`), without a script.
//!
//! Written here and not with a plotting library: those place legends beside the drawing, fix colours while drawing,
//! and know no labels that make room for each other.

pub(super) mod label;
mod lines;
mod look;
mod rows;
mod scale;
mod stacks;
mod steps;

use super::markup::Markup;
use super::number;
use scale::Scale;

pub(super) use lines::{Axis, Lines, Point, Series};
pub(super) use look::{Look, rank, stylesheet, variables};
pub(super) use rows::{Mark, Row, RowGroup, Rows};
pub(super) use stacks::{Part as StackPart, Stack, Stacks};
pub(super) use steps::{Bar, Step, Steps, Waterfall};

/// The width of every plot, in its own pixels.
const WIDTH: f64 = 400.0;

/// From the top to the base of the first line of the title.
const TITLE: f64 = 14.0;

/// Around a drawing that is a file of its own.
const MARGIN: f64 = 12.0;

/// A finished drawing.
#[derive(Debug, Clone)]
pub struct Plot {
    /// Its name in the page, and of its PNG file without `.png`: letters, digits and hyphens.
    pub id: String,
    /// What it shows.
    pub title: String,
    height: f64,
    drawing: Markup,
}

impl Plot {
    /// Begins a drawing with its title, and below it the unit and under which circumstances it holds; `draw` gets
    /// where there is room, and returns the drawing's height.
    fn new(title: &str, unit: &str, note: &str, draw: impl FnOnce(&mut Markup, f64) -> f64) -> Plot {
        let mut drawing = Markup::default();
        let mut y = TITLE;
        // Bold text is wider.
        for line in label::wrapped(title, WIDTH / 1.12) {
            drawing.element("text").class("title").at("x", 0.0).at("y", y).text(line);
            y += label::LINE;
        }
        let under =
            [unit, note].into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" · ");
        for line in label::wrapped(&under, WIDTH) {
            drawing.element("text").class("unit").at("x", 0.0).at("y", y).text(line);
            y += label::LINE;
        }
        let height = draw(&mut drawing, y - 4.0);
        Plot { id: String::new(), title: title.to_owned(), height, drawing }
    }

    /// The drawing as part of a page whose style sheet has [`stylesheet`].
    pub(super) fn inline(&self, markup: &mut Markup) {
        self.svg(markup, None);
    }

    /// The drawing as a file of its own, in light colours.
    pub fn standalone(&self) -> String {
        let mut markup = Markup::default();
        self.svg(&mut markup, Some(&look::without_variables()));
        markup.into_string()
    }

    fn svg(&self, markup: &mut Markup, style: Option<&str>) {
        // A page has margins of its own; a file needs some.
        let margin = if style.is_some() { MARGIN } else { 0.0 };
        let (width, height) = (WIDTH + 2.0 * margin, self.height.ceil() + 2.0 * margin);
        let svg = markup
            .element("svg")
            .class("plot")
            .with("xmlns", "http://www.w3.org/2000/svg")
            .with("viewBox", format!("{} {} {width} {height}", -margin, -margin))
            .with("role", "img")
            .with("aria-label", &self.title);
        svg.holding(|markup| {
            if let Some(style) = style {
                markup.element("style").holding(|markup| markup.constant(style));
                let page = markup.element("rect").class("page").at("x", -margin).at("y", -margin);
                page.at("width", width).at("height", height).end();
            }
            markup.append(&self.drawing);
        });
    }
}

/// Text whose base line ends, is centred or begins at a point.
fn text(markup: &mut Markup, class: &str, anchor: &str, x: f64, y: f64, text: &str) {
    markup.element("text").class(format_args!("{class} {anchor}")).at("x", x).at("y", y).text(text);
}

/// A straight line.
fn line(markup: &mut Markup, class: &str, from: (f64, f64), to: (f64, f64)) {
    let line = markup.element("line").class(class).at("x1", from.0).at("y1", from.1);
    line.at("x2", to.0).at("y2", to.1).end();
}

/// The axis under bars that begin at zero, with its ticks. Gives the drawing's height.
fn axis_below(markup: &mut Markup, scale: &Scale, right: f64, y: f64) -> f64 {
    let y = y + 2.0;
    line(markup, "axis", (0.0, y), (right, y));
    for (index, tick) in scale.ticks.iter().enumerate() {
        let anchor = if index == 0 { "begin" } else { "middle" };
        line(markup, "axis", (scale.at(*tick), y), (scale.at(*tick), y + 4.0));
        text(markup, "tick", anchor, scale.at(*tick), y + 17.0, &number::tick(*tick));
    }
    y + 24.0
}
