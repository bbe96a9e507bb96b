//! What a system looks like, the same in every plot: a marker, which is enough to know it by; a colour, which two
//! variants of one system share; and a dash for its transport.
//!
//! The colours of each theme were searched for the largest least distance (OKLab) between any two of them under
//! normal sight and simulated protanopia, deuteranopia and tritanopia, with enough contrast to the page. The
//! floors are grey, and zorb's line is the thick one.

use super::Markup;

/// How a line, bar or mark is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) struct Look {
    colour: usize,
    marker: Marker,
    dash: Option<&'static str>,
    strong: bool,
}

/// The shape at each measured point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker {
    Circle,
    Square,
    Diamond,
    Up,
    Down,
    Peak,
    Cross,
    Plus,
    Ring,
    Frame,
    Lozenge,
    Star,
}

/// Colours as (light theme, dark theme).
const COLOURS: [(&str, &str); 9] = [
    ("#7b8188", "#8d949d"),
    ("#2b2e33", "#e4e7eb"),
    ("#b13100", "#ed7225"),
    ("#4481d8", "#6998ed"),
    ("#206f54", "#84c39f"),
    ("#750666", "#a7709a"),
    ("#a68d36", "#f2cf6e"),
    ("#694db9", "#8a75e6"),
    ("#08abc7", "#65d0f6"),
];

/// What every part of a page or plot is painted with, as (name, light theme, dark theme).
const PAINTS: &[(&str, &str, &str)] = &[
    ("page", "#ffffff", "#14171c"),
    ("ink", "#1d2025", "#e6e8eb"),
    ("muted", "#5f656d", "#a0a6ae"),
    ("rule", "#dfe2e6", "#333941"),
    ("panel", "#f5f6f8", "#1d2128"),
    ("bar", "#dbe6f6", "#263a58"),
    ("good", "#1a6b3c", "#74cf98"),
    ("bad", "#b3261e", "#ff8f86"),
    ("out", "#2b5ea8", "#9cbcf5"),
    ("served", "#dd6a33", "#b8520f"),
    ("back", "#3d9a78", "#5c9c78"),
];

/// The systems of the field in the order in which plots list them, each with its colour and marker.
const SYSTEMS: &[(&str, usize, Marker)] = &[
    ("raw", 0, Marker::Ring),
    ("raw-equal", 0, Marker::Peak),
    ("framed", 0, Marker::Frame),
    ("sockets", 0, Marker::Star),
    ("ipc", 1, Marker::Plus),
    ("zorb", 2, Marker::Circle),
    ("omniorb", 3, Marker::Square),
    ("jacorb", 4, Marker::Up),
    ("tirpc", 5, Marker::Diamond),
    ("tirpc-opaque", 5, Marker::Lozenge),
    ("tonic", 6, Marker::Down),
    ("capnp", 7, Marker::Cross),
];

/// The ways to find an operation or object.
const LOOKUPS: &[(&str, usize, Marker)] = &[
    ("linear", 6, Marker::Down),
    ("hashed", 3, Marker::Square),
    ("perfect", 2, Marker::Circle),
    ("numbered", 4, Marker::Up),
];

/// Where a system stands in lists; those unknown here come last.
pub(in crate::report) fn rank(system: &str) -> usize {
    SYSTEMS.iter().position(|(name, ..)| *name == system).unwrap_or(SYSTEMS.len())
}

impl Look {
    /// A system over a transport: TCP is solid, Unix sockets dashed, others dotted.
    pub(in crate::report) fn of_system(system: &str, transport: &str) -> Look {
        let dash = match transport {
            "" | "tcp" => None,
            "unix" => Some("6 3"),
            _ => Some("2 3"),
        };
        Look { dash, strong: system == "zorb", ..named(SYSTEMS, system) }
    }

    /// A way to find an operation or object.
    pub(in crate::report) fn of_lookup(lookup: &str) -> Look {
        Look { strong: lookup == "perfect", ..named(LOOKUPS, lookup) }
    }

    /// The part of a call that the network takes, and the part that the ORB takes.
    pub(in crate::report) fn of_floor() -> Look {
        Look::of_system("raw", "tcp")
    }

    /// The class that colours what belongs to it.
    pub(in crate::report) fn class(self) -> String {
        format!("c{}{}", self.colour, if self.strong { " strong" } else { "" })
    }

    pub(super) fn dash(self) -> Option<&'static str> {
        self.dash
    }

    /// Draws the marker around a point.
    pub(super) fn mark(self, markup: &mut Markup, x: f64, y: f64) {
        let r = if self.strong { 3.6 } else { 3.2 };
        let mut polygon = |class: &'static str, points: &[(f64, f64)]| {
            let text: Vec<_> =
                points.iter().map(|(dx, dy)| format!("{:.1},{:.1}", x + dx * r, y + dy * r)).collect();
            markup.element("polygon").class(class).with("points", text.join(" ")).end();
        };
        const BOX: [(f64, f64); 4] = [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)];
        const TURNED: [(f64, f64); 4] = [(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)];
        match self.marker {
            Marker::Square => polygon("full", &BOX),
            Marker::Frame => polygon("hollow", &BOX),
            Marker::Diamond => polygon("full", &TURNED),
            Marker::Lozenge => polygon("hollow", &TURNED),
            Marker::Up => polygon("full", &[(0.0, -1.2), (1.2, 0.9), (-1.2, 0.9)]),
            Marker::Peak => polygon("hollow", &[(0.0, -1.2), (1.2, 0.9), (-1.2, 0.9)]),
            Marker::Down => polygon("full", &[(0.0, 1.2), (1.2, -0.9), (-1.2, -0.9)]),
            Marker::Star => polygon("full", &[(0.0, -1.4), (0.4, 0.0), (0.0, 1.4), (-0.4, 0.0)]),
            Marker::Circle => markup.element("circle").class("full").at("cx", x).at("cy", y).at("r", r).end(),
            Marker::Ring => markup.element("circle").class("hollow").at("cx", x).at("cy", y).at("r", r).end(),
            Marker::Cross | Marker::Plus => {
                let (a, b) = if self.marker == Marker::Cross { (r, r) } else { (r * 1.2, 0.0) };
                let path = format!(
                    "M{:.1} {:.1}L{:.1} {:.1}M{:.1} {:.1}L{:.1} {:.1}",
                    x - a,
                    y - b,
                    x + a,
                    y + b,
                    x - b,
                    y + a,
                    x + b,
                    y - a
                );
                markup.element("path").class("hollow").with("d", path).end();
            }
        }
    }
}

/// The table's entry, or for an unknown name the last colour with a marker that depends on the name.
fn named(table: &[(&str, usize, Marker)], name: &str) -> Look {
    let known = table.iter().find(|(known, ..)| *known == name);
    let (colour, marker) = known.map_or_else(
        || {
            let markers = [Marker::Star, Marker::Lozenge, Marker::Frame, Marker::Cross];
            let sum: usize = name.bytes().map(usize::from).sum();
            (COLOURS.len() - 1, markers[sum % markers.len()])
        },
        |(_, colour, marker)| (*colour, *marker),
    );
    Look { colour, marker, dash: None, strong: false }
}

/// The rules that plots are painted by. Colours are variables, which [`variables`] or [`without_variables`] fill in.
pub(in crate::report) fn stylesheet() -> String {
    let mut rules = include_str!("plot.css").to_owned();
    for index in 0..COLOURS.len() {
        rules.push_str(&format!(
            ".c{index} .stroke,.c{index} .hollow{{stroke:var(--c{index})}}.c{index} .full{{fill:var(--c{index})}}\n"
        ));
    }
    rules
}

/// The variables of both themes: the reader's choice decides.
pub(in crate::report) fn variables() -> String {
    let list =
        |theme: fn(&(String, &str, &str)) -> String| -> String { paints().iter().map(theme).collect() };
    let light = list(|(name, light, _)| format!("--{name}:{light};"));
    let dark = list(|(name, _, dark)| format!("--{name}:{dark};"));
    format!(":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n")
}

/// The style sheet with the light theme's colours in it, for programs that know no variables.
pub(super) fn without_variables() -> String {
    paints()
        .iter()
        .fold(stylesheet(), |rules, (name, light, _)| rules.replace(&format!("var(--{name})"), light))
}

fn paints() -> Vec<(String, &'static str, &'static str)> {
    let colours =
        COLOURS.iter().enumerate().map(|(index, (light, dark))| (format!("c{index}"), *light, *dark));
    PAINTS.iter().map(|(name, light, dark)| ((*name).to_owned(), *light, *dark)).chain(colours).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_differ_without_their_colours() {
        for table in [SYSTEMS, LOOKUPS] {
            for (index, (name, _, marker)) in table.iter().enumerate() {
                let same = table[..index].iter().find(|(.., other)| other == marker);
                assert_eq!(same, None, "{name}");
            }
        }
    }

    #[test]
    fn transports_differ_by_dash_and_zorb_is_strong() {
        let looks = ["tcp", "unix", "shm"].map(|transport| Look::of_system("zorb", transport));
        assert_eq!(looks.map(|look| look.dash.is_some()), [false, true, true]);
        assert_ne!(looks[1].dash, looks[2].dash);
        assert!(
            looks[0].class().contains("strong") && !Look::of_system("raw", "tcp").class().contains("strong")
        );
    }

    #[test]
    fn every_variable_has_a_value_in_both_themes() {
        assert!(!without_variables().contains("var("), "{}", without_variables());
        let variables = variables();
        for (name, light, dark) in paints() {
            assert!(
                variables.contains(&format!("--{name}:{light};"))
                    && variables.contains(&format!("--{name}:{dark};"))
            );
        }
    }
}
