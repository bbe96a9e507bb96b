//! Which rows belong together: under one heading, in one plot, on one line.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::number;
use super::plot::{Look, Point, Series, rank};
use super::record::Record;

/// Values that have an order of their own; others follow, by number and then by name.
const ORDERS: &[(&str, &[&str])] = &[
    ("study", &["", "middleware", "wrappers", "objects", "protocols", "zero-copy"]),
    ("pin", &["same", "split", "none"]),
    (
        "type",
        &[
            "null", "void", "octet", "char", "short", "long", "double", "struct", "struct32", "octets",
            "longs",
        ],
    ),
    ("position", &["first", "last"]),
    ("pick", &["same", "random"]),
    ("style", &["twoway", "oneway"]),
    ("phase", &["connection", "interface", "object", "later"]),
    ("lookup", &["linear", "hashed", "perfect", "numbered"]),
];

/// Rows whose fields of interest agree, and those fields in words.
pub(super) struct Alike<'a> {
    pub(super) words: String,
    pub(super) rows: Vec<&'a Record>,
}

/// Parts `rows` by `fields`, in the order in which people think of their values.
pub(super) fn alike<'a>(rows: &[&'a Record], fields: &[&str]) -> Vec<Alike<'a>> {
    let mut groups: Vec<Vec<&Record>> = Vec::new();
    for row in rows {
        let same =
            |group: &&mut Vec<&Record>| fields.iter().all(|field| group[0].shown(field) == row.shown(field));
        match groups.iter_mut().find(same) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups.sort_by(|a, b| {
        let orders = fields.iter().map(|field| order(field, a[0], b[0]));
        orders.fold(Ordering::Equal, Ordering::then)
    });
    let words = |row: &Record| {
        let words = fields.iter().map(|field| words(field, row)).filter(|words| !words.is_empty());
        words.collect::<Vec<_>>().join(", ")
    };
    groups.into_iter().map(|rows| Alike { words: words(rows[0]), rows }).collect()
}

fn order(field: &str, a: &Record, b: &Record) -> Ordering {
    let known = ORDERS.iter().find(|(name, _)| *name == field).map_or(&[][..], |(_, values)| values);
    let rank = |row: &Record| known.iter().position(|value| *value == row.text(field)).unwrap_or(known.len());
    let number = |row: &Record| row.number(field).unwrap_or(f64::NEG_INFINITY);
    rank(a)
        .cmp(&rank(b))
        .then_with(|| number(a).total_cmp(&number(b)))
        .then_with(|| a.shown(field).cmp(&b.shown(field)))
}

/// What a field's value means, as part of a heading.
fn words(field: &str, row: &Record) -> String {
    let text = row.shown(field);
    match (field, text.as_str()) {
        (_, "") => String::new(),
        ("pin", "same") => "both sides on one core".into(),
        ("pin", "split") => "a core for each side".into(),
        ("pin", "none") => "not pinned".into(),
        ("pin", _) => format!("pinned {text}"),
        ("queue", _) => format!("socket queues of {}", row.number(field).map_or(text, number::octets)),
        ("link", _) => format!("link {text}"),
        ("style", "twoway") => "two-way".into(),
        ("size", _) => row.number(field).map_or(text, number::octets),
        _ => text,
    }
}

/// The text with a capital at its beginning.
pub(super) fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + characters.as_str())
}

/// How systems are called among the rows of one experiment: transport and messaging are named only of those
/// systems that have several.
pub(super) struct Names {
    transports: BTreeMap<String, BTreeSet<String>>,
    messagings: BTreeMap<String, BTreeSet<String>>,
}

impl Names {
    pub(super) fn of(rows: &[&Record]) -> Names {
        let gather = |field: &str| {
            let mut gathered: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            for row in rows {
                gathered.entry(row.shown("system")).or_default().insert(row.shown(field));
            }
            gathered
        };
        Names { transports: gather("transport"), messagings: gather("messaging") }
    }

    /// What the row's system is called.
    pub(super) fn of_row(&self, row: &Record) -> String {
        let mut name = row.shown("system");
        for (field, gathered) in [("transport", &self.transports), ("messaging", &self.messagings)] {
            if gathered.get(&row.shown("system")).is_some_and(|values| values.len() > 1) {
                name.push(' ');
                name.push_str(&row.shown(field));
            }
        }
        name
    }

    /// Parts rows by their system's name here: the floors first, then zorb, then its peers.
    pub(super) fn systems<'a>(&self, rows: &[&'a Record]) -> Vec<(String, Look, Vec<&'a Record>)> {
        let mut systems: BTreeMap<(usize, String), Vec<&Record>> = BTreeMap::new();
        for row in rows {
            systems.entry((rank(row.text("system")), self.of_row(row))).or_default().push(row);
        }
        let look = |rows: &[&Record]| Look::of_system(rows[0].text("system"), rows[0].text("transport"));
        systems.into_iter().map(|((_, name), rows)| (name, look(&rows), rows)).collect()
    }
}

/// A line through rows: at each value of `x` the median of what `value` gives. Second is which rows took part.
pub(super) fn line<'a>(
    label: String,
    look: Look,
    rows: &[&'a Record],
    x: &str,
    value: &dyn Fn(&Record) -> Option<f64>,
) -> (Series, Vec<&'a Record>) {
    let mut values: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    let mut used = Vec::new();
    for row in rows {
        if let Some((at, value)) = row.positive(x).zip(value(row)) {
            // Floating-point numbers above zero are in the order of their bits.
            values.entry(at.to_bits()).or_default().push(value);
            used.push(*row);
        }
    }
    let points = values
        .into_iter()
        .map(|(at, mut values)| Point { x: f64::from_bits(at), y: crate::statistics::median(&mut values) });
    (Series { label, look, points: points.collect() }, used)
}

/// The median of a field over rows that have it.
pub(super) fn median(rows: &[&Record], field: &str) -> Option<f64> {
    let mut values: Vec<f64> = rows.iter().filter_map(|row| row.positive(field)).collect();
    (!values.is_empty()).then(|| crate::statistics::median(&mut values))
}
