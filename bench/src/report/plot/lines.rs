//! Lines over an axis, each named where it ends.
//!
//! ```text
//!  title
//!  unit of the vertical axis
//!  80 ┤            ___●── ● zorb          labels part where lines end close together;
//!     │       __●──                       a thin leader shows which line is meant
//!  40 ┤   _●──    ____■── ■ omniorb
//!   0 ┼──┬────┬────┬────┬
//!      1 KiB     1 MiB   horizontal axis
//! ```

use super::label::{self, LINE};
use super::scale::Scale;
use super::{Look, Markup, Plot, WIDTH, line, text};

/// The height of the field, labels and axes not counted; it grows where many lines have to be named.
const FIELD: f64 = 190.0;

/// What a horizontal or vertical axis measures.
#[derive(Clone, Copy)]
pub(in crate::report) struct Axis {
    /// What it says beside its ticks.
    pub(in crate::report) label: &'static str,
    /// How a value is written.
    pub(in crate::report) written: fn(f64) -> String,
    /// The base of a logarithmic axis; without one the axis begins at zero.
    pub(in crate::report) base: Option<f64>,
}

/// A measured point.
#[derive(Debug, Clone, Copy)]
pub(in crate::report) struct Point {
    pub(in crate::report) x: f64,
    pub(in crate::report) y: f64,
}

/// A named line.
#[derive(Debug, Clone)]
pub(in crate::report) struct Series {
    pub(in crate::report) label: String,
    pub(in crate::report) look: Look,
    /// In order of x.
    pub(in crate::report) points: Vec<Point>,
}

/// A plot of lines.
pub(in crate::report) struct Lines {
    pub(in crate::report) title: String,
    /// The circumstances under which it holds.
    pub(in crate::report) note: String,
    pub(in crate::report) x: Axis,
    pub(in crate::report) y: Axis,
    pub(in crate::report) series: Vec<Series>,
    /// The least that the vertical axis reaches, so that neighbours can be compared.
    pub(in crate::report) at_least: f64,
}

impl Lines {
    /// Draws the plot; nothing if there is no point.
    pub(in crate::report) fn draw(&self) -> Option<Plot> {
        self.series.iter().any(|series| !series.points.is_empty()).then(|| {
            Plot::new(&self.title, self.y.label, &self.note, |markup, top| self.draw_below(markup, top + 8.0))
        })
    }

    fn draw_below(&self, markup: &mut Markup, top: f64) -> f64 {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let ys = points().map(|point| point.y).chain([self.at_least]);
        let bottom = top + FIELD.max(self.series.len() as f64 * LINE);
        let y = match self.y.base {
            // With room at both ends: a point on the axis would look like zero.
            Some(base) => Scale::logarithmic(ys.flat_map(|y| [y / 1.25, y * 1.25]), base),
            None => Scale::from_zero(ys),
        };
        let y = y.over(bottom, top);
        let names = self.series.iter().map(|series| label::width(&series.label)).fold(0.0, f64::max);
        let right = WIDTH - (names + 24.0).min(WIDTH * 0.36);
        let written = y.ticks.iter().map(|tick| label::width(&(self.y.written)(*tick)));
        let left = written.fold(0.0, f64::max) + 10.0;
        let xs = points().map(|point| point.x);
        let x = match self.x.base {
            Some(base) => Scale::logarithmic(xs, base),
            None => Scale::from_zero(xs),
        };
        let x = x.over(left + 4.0, right - 6.0);

        for tick in &y.ticks {
            let at = y.at(*tick);
            line(markup, "grid", (left, at), (right, at));
            text(markup, "tick", "end", left - 6.0, at + 4.0, &(self.y.written)(*tick));
        }
        line(markup, "axis", (left, bottom), (right, bottom));
        self.name_horizontal(markup, &x, bottom);
        // The strong lines last, on top of the others.
        for strong in [false, true] {
            for series in self.series.iter().filter(|series| series.look.class().contains("strong") == strong)
            {
                self.draw_series(markup, series, &x, &y);
            }
        }
        self.name_series(markup, (&x, &y), right, (top, bottom));
        bottom + 38.0
    }

    /// Ticks below the horizontal axis, as many as there is room for, and below them what is measured.
    fn name_horizontal(&self, markup: &mut Markup, x: &Scale, bottom: f64) {
        let mut free = 0.0;
        for tick in &x.ticks {
            let name = (self.x.written)(*tick);
            let half = label::width(&name) / 2.0;
            let at = x.at(*tick);
            line(markup, "axis", (at, bottom), (at, bottom + 4.0));
            if at - half >= free {
                text(markup, "tick", "middle", at, bottom + 17.0, &name);
                free = at + half + 6.0;
            }
        }
        text(markup, "unit", "begin", x.origin(), bottom + 33.0, self.x.label);
    }

    fn draw_series(&self, markup: &mut Markup, series: &Series, x: &Scale, y: &Scale) {
        markup.element("g").class(format_args!("series {}", series.look.class())).holding(|markup| {
            let path: Vec<_> = series
                .points
                .iter()
                .map(|point| format!("{:.1},{:.1}", x.at(point.x), y.at(point.y)))
                .collect();
            let mut stroke = markup.element("polyline").class("stroke").with("points", path.join(" "));
            if let Some(dash) = series.look.dash() {
                stroke = stroke.with("stroke-dasharray", dash);
            }
            stroke.end();
            for point in &series.points {
                markup.element("g").holding(|markup| {
                    let at = (self.x.written)(point.x);
                    let value = super::super::number::figure(point.y);
                    let words = format!("{}, {at}: {value} {}", series.label, self.y.label);
                    markup.element("title").text(words);
                    series.look.mark(markup, x.at(point.x), y.at(point.y));
                });
            }
        });
    }

    fn name_series(
        &self,
        markup: &mut Markup,
        (x, y): (&Scale, &Scale),
        right: f64,
        (top, bottom): (f64, f64),
    ) {
        let named: Vec<_> =
            self.series.iter().filter_map(|series| Some((series, *series.points.last()?))).collect();
        let ends: Vec<f64> = named.iter().map(|(_, end)| y.at(end.y)).collect();
        for ((series, end), at) in named.iter().zip(label::spread(&ends, LINE, top, bottom)) {
            markup.element("g").class(format_args!("series {}", series.look.class())).holding(|markup| {
                line(markup, "leader", (x.at(end.x) + 5.0, y.at(end.y)), (right + 3.0, at));
                series.look.mark(markup, right + 8.0, at);
                let name = label::shortened(&series.label, WIDTH - right - 16.0);
                text(markup, "label", "begin", right + 16.0, at + 4.0, &name);
            });
        }
    }
}
