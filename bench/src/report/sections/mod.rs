//! What the report shows of each experiment: one file draws one, and [`EXPERIMENTS`] lists them in reading order.
//!
//! A drawing function gets its experiment's rows and gives groups of plots and tables, each with the rows that it
//! shows. Whatever it leaves out, the page puts into a table of further rows; so a drawing function may pass over
//! what it does not understand.

mod concurrency;
mod connections;
mod counts;
mod cube;
mod demux;
mod firstcall;
mod images;
mod iterations;
mod profile;
mod rtt;
mod size;
mod ttcp;
mod whitebox;

use super::grouping::{self, Names};
use super::number;
use super::plot::{Axis, Lines, Mark, Plot, Row, RowGroup, Rows, Series};
use super::record::Record;
use super::table::{Cell, Table};
use super::verdict;

pub(super) use rtt::ratios;

/// An experiment that the report knows how to draw.
pub(super) struct Experiment {
    /// Its name in rows.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// What was done, and how to read what follows.
    pub(super) about: &'static str,
    pub(super) draw: for<'a> fn(&[&'a Record]) -> Vec<Group<'a>>,
}

/// All of them, in the order of the page.
pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "ttcp",
        title: "Throughput",
        about: "A transmitter floods a receiver with buffers of typed values. The clock stops when the \
                receiver has confirmed that it has executed every buffer. Higher is better. The bare socket \
                makes a system call for each buffer and sends all of its octets; gRPC and ONC RPC send many \
                small buffers with one call, gRPC and Cap'n Proto pack values (a struct of 24 octets is 16 in \
                Cap'n Proto's message), and so may pass it there.",
        draw: ttcp::draw,
    },
    Experiment {
        name: "profile",
        title: "Where a flood's time goes",
        about: "What the processors execute during a flood, looked at ten thousand times a second: a function's part of \
                the looks is its part of the time. Looking slows all systems by a few per cent.",
        draw: profile::draw,
    },
    Experiment {
        name: "rtt",
        title: "Round trips",
        about: "A call and its reply, between two processes; the reply is compared with the request outside \
                the measured time. A row reaches from the median to the 99th percentile. Further left is \
                better.",
        draw: rtt::draw,
    },
    Experiment {
        name: "cube",
        title: "The cubing service",
        about: "Two-way calls whose argument comes back cubed, one caller. Higher is better; a bar is as \
                long as the value's part of the greatest one for that type.",
        draw: cube::draw,
    },
    Experiment {
        name: "whitebox",
        title: "Where a call's time goes",
        about: "Time stamps at eighteen points of a call; the numbers are those of the steps in ARCHITECTURE.md, of \
                which some have more than one and the stub and the server's read lie within their neighbours. \
                Each side's steps begin at that side's own zero. What the client waits for its reply is among \
                its steps; what lies between is that wait less the server's steps: the kernel on both ways, and waking.",
        draw: whitebox::draw,
    },
    Experiment {
        name: "counts",
        title: "What a call takes",
        about: "System calls by zorb's handles, octets that it copies in user space, and memory that is asked for, \
                on each side of one call.",
        draw: counts::draw,
    },
    Experiment {
        name: "size",
        title: "The ORB's share of a call",
        about: "A call beside a bare socket that moves as many bytes: what exceeds the socket's time is the \
                ORB's.",
        draw: size::draw,
    },
    Experiment {
        name: "demux",
        title: "Finding object and operation",
        about: "The time of a call against how many objects the server has and how many operations the \
                interface. A line that stays level has found them in constant time. What the server's processor \
                spends on a call is drawn by itself.",
        draw: demux::draw,
    },
    Experiment {
        name: "firstcall",
        title: "First calls",
        about: "What a call takes that is the first on a connection, on an interface, on an object, and a \
                later one. Bars are medians; shorter is better.",
        draw: firstcall::draw,
    },
    Experiment {
        name: "concurrency",
        title: "Many callers",
        about: "Calls completed in a second by all callers together. Higher is better.",
        draw: concurrency::draw,
    },
    Experiment {
        name: "connections",
        title: "Many connections",
        about: "What idle connections cost: the server's memory for each, and a null call's time while they \
                are open. Lower is better.",
        draw: connections::draw,
    },
    Experiment {
        name: "images",
        title: "An application: images",
        about: "An image editor split over two processes: 295 objects, 9,000 calls of mixed kinds, 3 MB of \
                image. The objects are zorb's; each of the others has one, whose calls are of the same kinds.",
        draw: images::draw,
    },
];

/// What stands under one heading.
pub(super) struct Group<'a> {
    pub(super) heading: String,
    pub(super) parts: Vec<Part<'a>>,
}

/// A plot or a table, and the rows that it shows.
pub(super) struct Part<'a> {
    pub(super) shown: Shown,
    pub(super) rows: Vec<&'a Record>,
}

pub(super) enum Shown {
    Plot(Plot),
    /// Figures made of the rows.
    Table(Table),
    /// The rows as they are.
    Rows,
}

const BUFFERS: Axis = Axis { label: "payload of a buffer", written: number::octets, base: Some(2.0) };
const ARGUMENTS: Axis = Axis { label: "payload each way", written: number::octets, base: Some(2.0) };
const LATENCY: Axis = Axis { label: "µs", written: number::tick, base: None };
const RATIO: Axis = Axis {
    label: "median ratio; intervals, where resolved, in the data",
    written: number::tick,
    base: Some(10.0),
};
const RATE: Axis = Axis { label: "calls/s", written: number::count, base: None };

/// The circumstances under which figures may be compared.
const CIRCUMSTANCES: &[&str] = &["link", "queue", "pin"];

/// With more plots than this for each of the circumstances, these have a heading each.
const PLOTS_WITHOUT_HEADING: usize = 3;

/// What rows of one group have in common.
struct Scope<'s> {
    /// What their systems are called.
    names: &'s Names,
    /// Their circumstances in words.
    words: &'s str,
}

/// Draws `draw` for each of the circumstances.
fn by_circumstances<'a>(
    rows: &[&'a Record],
    draw: impl Fn(&[&'a Record], &Scope<'_>) -> Vec<Part<'a>>,
) -> Vec<Group<'a>> {
    by(CIRCUMSTANCES, rows, draw)
}

/// Draws `draw` for each combination of the fields' values.
fn by<'a>(
    fields: &[&str],
    rows: &[&'a Record],
    draw: impl Fn(&[&'a Record], &Scope<'_>) -> Vec<Part<'a>>,
) -> Vec<Group<'a>> {
    let names = Names::of(rows);
    let groups = grouping::alike(rows, fields).into_iter().map(|alike| {
        let parts = draw(&alike.rows, &Scope { names: &names, words: &alike.words });
        Group { heading: grouping::sentence(&alike.words), parts }
    });
    let groups: Vec<Group> = groups.collect();
    if groups.iter().any(|group| group.parts.len() > PLOTS_WITHOUT_HEADING) {
        return groups;
    }
    // Each plot says its circumstances; side by side they are easier to compare.
    vec![Group { heading: String::new(), parts: groups.into_iter().flat_map(|group| group.parts).collect() }]
}

/// A field of rows, along an axis.
type Along<'f> = (&'f str, Axis);

/// A plot with one line for each system.
fn systems_plot<'a>(
    title: String,
    rows: &[&'a Record],
    scope: &Scope<'_>,
    x: Along<'_>,
    y: Along<'_>,
) -> Option<Part<'a>> {
    lines_plot(title, systems_lines(rows, scope, x.0, y.0), scope, x.1, y.1, 0.0)
}

/// One line for each system.
fn systems_lines<'a>(
    rows: &[&'a Record],
    scope: &Scope<'_>,
    x: &str,
    y: &str,
) -> Vec<(Series, Vec<&'a Record>)> {
    let value = |row: &Record| row.positive(y);
    let systems = scope.names.systems(rows).into_iter();
    systems.map(|(name, look, rows)| grouping::line(name, look, &rows, x, &value)).collect()
}

/// A plot of the lines that have points.
fn lines_plot<'a>(
    title: String,
    lines: Vec<(Series, Vec<&'a Record>)>,
    scope: &Scope<'_>,
    x: Axis,
    y: Axis,
    at_least: f64,
) -> Option<Part<'a>> {
    let (series, rows): (Vec<_>, Vec<_>) =
        lines.into_iter().filter(|(series, _)| !series.points.is_empty()).unzip();
    let plot = Lines { title, note: scope.words.to_owned(), x, y, series, at_least }.draw()?;
    Some(Part { shown: Shown::Plot(plot), rows: rows.concat() })
}

/// A table with a line for each combination of the fields' values, in words, and a column for each system. A bar shows a
/// figure's part of the greatest one in its line.
fn matrix<'a>(
    caption: String,
    head: &str,
    rows: &[&'a Record],
    fields: &[&str],
    scope: &Scope<'_>,
    words: &dyn Fn(&Record) -> String,
    figure: &dyn Fn(&[&Record]) -> Option<f64>,
) -> Option<Part<'a>> {
    let measured: Vec<_> = rows.iter().copied().filter(|row| figure(&[*row]).is_some()).collect();
    let systems: Vec<_> = scope.names.systems(&measured).into_iter().map(|(name, ..)| name).collect();
    if systems.is_empty() {
        return None;
    }
    let mut table = Table { caption, ..Table::default() };
    table.heads = vec![Cell::word(head)];
    table.heads.extend(systems.iter().map(Cell::number));
    for line in grouping::alike(&measured, fields) {
        let columns = scope.names.systems(&line.rows);
        let value = |system: &String| figure(&columns.iter().find(|(name, ..)| name == system)?.2);
        let values: Vec<Option<f64>> = systems.iter().map(value).collect();
        let greatest = values.iter().flatten().copied().fold(0.0, f64::max);
        let cell =
            |value: &Option<f64>| value.map_or(Cell::number(""), |value| Cell::bar(value, value / greatest));
        let mut cells = vec![Cell::word(words(line.rows[0]))];
        cells.extend(values.iter().map(cell));
        table.rows.push(cells);
    }
    Some(Part { shown: Shown::Table(table), rows: measured })
}

/// What is drawn for a system, and the words at its end.
type Marked = (Mark, String);

/// A plot of rows: one group for each of `groups`, in it one row for each system for which `mark` finds one.
fn rows_plot<'a>(
    title: String,
    unit: &'static str,
    groups: Vec<grouping::Alike<'a>>,
    scope: &Scope<'_>,
    mark: &dyn Fn(&[&Record]) -> Option<Marked>,
) -> Option<Part<'a>> {
    let mut used = Vec::new();
    let mut drawn = Vec::new();
    for group in groups {
        let mut rows = Vec::new();
        for (label, look, records) in scope.names.systems(&group.rows) {
            if let Some((mark, value)) = mark(&records) {
                rows.push(Row { label, look, mark, value });
                used.extend(records);
            }
        }
        if !rows.is_empty() {
            drawn.push(RowGroup { heading: grouping::sentence(&group.words), rows });
        }
    }
    let plot = Rows { title, note: scope.words.to_owned(), unit, groups: drawn }.draw()?;
    Some(Part { shown: Shown::Plot(plot), rows: used })
}

/// From the median of the medians to the median of the high percentiles.
fn span(rows: &[&Record]) -> Option<Marked> {
    let (p50, p99) = (grouping::median(rows, "p50_us")?, grouping::median(rows, "p99_us")?);
    Some((Mark::Span(p50, p99), format!("{} – {}", number::figure(p50), number::figure(p99))))
}

/// A bar for a field's median.
fn bar(field: &str) -> impl Fn(&[&Record]) -> Option<Marked> {
    move |rows| grouping::median(rows, field).map(|value| (Mark::Bar(value), number::figure(value)))
}

/// A ratio with its interval; of several rows the last one's, since intervals have no median.
fn interval(rows: &[&Record]) -> Option<Marked> {
    let (ratio, target) =
        rows.iter().rev().find_map(|row| Some((verdict::ratio(row)?.1?, verdict::target(row))))?;
    let mark = Mark::Interval {
        low: ratio.low,
        median: ratio.median,
        high: ratio.high,
        target: target.map(|target| target.0),
    };
    Some((mark, format!("{:.2} ({:.2}–{:.2})", ratio.median, ratio.low, ratio.high)))
}
