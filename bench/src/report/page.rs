//! The page: the machine, what met its target, a section for each experiment, and what is missing.

use std::collections::BTreeSet;

use super::Report;
use super::grouping;
use super::markup::Markup;
use super::plot::{self, Plot};
use super::record::Record;
use super::sections::{self, EXPERIMENTS, Group, Part, Shown};
use super::table;
use crate::paper::Study;

/// A description of more octets than this has a line of its own.
const LONG_DESCRIPTION: usize = 50;

/// More commands than this below one plot are folded away.
const COMMANDS_IN_VIEW: usize = 2;

/// A file that is no results file at all must not make a page of remarks.
const REMARKS_SHOWN: usize = 50;

/// A finished page.
#[derive(Debug, Clone)]
pub struct Page {
    /// The whole of `index.html`.
    pub html: String,
    /// Its plots in order, for those who want them as files.
    pub plots: Vec<Plot>,
    /// Known experiments for which there are no rows.
    pub not_measured: Vec<&'static str>,
}

pub(super) fn lay_out(report: &Report) -> Page {
    let mut layout = Layout::default();
    let not_measured = layout.sections(report);
    let mut page = Markup::default();
    page.constant("<!DOCTYPE html>\n");
    page.element("html").with("lang", "en").holding(|page| {
        page.element("head").holding(|page| {
            page.element("meta").with("charset", "utf-8").end();
            let viewport = page.element("meta").with("name", "viewport");
            viewport.with("content", "width=device-width, initial-scale=1").end();
            page.element("meta").with("name", "color-scheme").with("content", "light dark").end();
            page.element("title").text(title(report));
            page.element("style").holding(|page| {
                // Ours, and free of the characters that would need escaping.
                page.constant(&plot::variables());
                page.constant(include_str!("page.css"));
                page.constant(&plot::stylesheet());
            });
        });
        page.element("body").holding(|page| {
            header(page, report, &layout.contents);
            page.element("main").holding(|page| {
                page.append(&layout.body);
                footer(page, report, &not_measured);
            });
        });
    });
    Page { html: page.into_string(), plots: layout.plots, not_measured }
}

fn title(report: &Report) -> String {
    match report.machine.text("date") {
        date if date.is_empty() => "zorb, measured".into(),
        date => format!("zorb, measured {date}"),
    }
}

fn header(page: &mut Markup, report: &Report, contents: &[(String, String)]) {
    page.element("header").holding(|page| {
        page.element("h1").text("zorb, measured");
        let machine = report.machine.described();
        if !machine.is_empty() {
            page.element("dl").with("id", "machine").holding(|page| {
                for (name, text) in machine {
                    let class = if text.len() > LONG_DESCRIPTION { "wide" } else { "" };
                    page.element("div").class(class).holding(|page| {
                        page.element("dt").text(name);
                        page.element("dd").text(text);
                    });
                }
            });
        }
        if report.machine.busy() {
            let words = "The machine was busy with something else while this was measured: trust intervals, not \
                         medians.";
            page.element("p").class("warning").text(words);
        }
        if !report.disturbed.is_empty() {
            let words = format!(
                "The host of this virtual machine took much of the processors' time during {}: there figures are too low, and \
                 intervals too wide.",
                report.disturbed.join(", ")
            );
            page.element("p").class("warning").text(words);
        }
        if report.machine.has_probes() {
            let words = "The program had time probes and counted its allocations, which costs zorb a little and the others \
                         nothing: its ratios are too high, and no target is judged.";
            page.element("p").class("warning").text(words);
        }
        if !contents.is_empty() {
            page.element("nav").with("aria-label", "Sections").holding(|page| {
                for (id, title) in contents {
                    page.element("a").with("href", format_args!("#{id}")).text(title);
                }
            });
        }
        studies(page, report, contents);
    });
}

/// The studies that the rows repeat, each with the sections that show it.
fn studies(page: &mut Markup, report: &Report, contents: &[(String, String)]) {
    let shown_in = |study: Study| {
        let rows = report.records.iter().filter(move |row| row.text("study") == study.name());
        let experiments: BTreeSet<&str> = rows.map(|row| row.text("experiment")).collect();
        contents.iter().filter(|(id, _)| experiments.contains(id.as_str())).collect::<Vec<_>>()
    };
    let repeated = Study::ALL.map(|study| (study, shown_in(study)));
    let mut repeated = repeated.iter().filter(|(_, sections)| !sections.is_empty()).peekable();
    if repeated.peek().is_none() {
        return;
    }
    page.element("h2").with("id", "studies").text("The field's studies, repeated");
    page.element("ol").holding(|page| {
        for (study, sections) in repeated {
            page.element("li").with("value", study.number()).holding(|page| {
                page.text(format_args!("{}: ", study.title()));
                for (number, (id, title)) in sections.iter().enumerate() {
                    page.text(if number == 0 { "" } else { ", " });
                    page.element("a").with("href", format_args!("#{id}")).text(title);
                }
            });
        }
    });
}

fn footer(page: &mut Markup, report: &Report, not_measured: &[&'static str]) {
    page.element("footer").holding(|page| {
        if !report.remarks.is_empty() {
            page.element("h2").with("id", "remarks").text("What could not be read");
            page.element("ul").holding(|page| {
                for remark in report.remarks.iter().take(REMARKS_SHOWN) {
                    page.element("li").text(remark);
                }
                if let Some(more @ 1..) = report.remarks.len().checked_sub(REMARKS_SHOWN) {
                    page.element("li").text(format_args!("and {more} more"));
                }
            });
        }
        if !report.failures.is_empty() {
            page.element("h2").with("id", "failures").text("What failed, and is missing");
            page.element("ul").holding(|page| {
                report.failures.iter().for_each(|failure| page.element("li").text(failure));
            });
        }
        if !report.left_out.is_empty() {
            page.element("h2").with("id", "left-out").text("What this run has left out");
            page.element("ul").holding(|page| {
                report.left_out.iter().for_each(|reason| page.element("li").text(reason));
            });
        }
        if !not_measured.is_empty() {
            let words = format!("Not measured in this run: {}.", not_measured.join(", "));
            page.element("p").with("id", "not-measured").text(words);
        }
        page.element("p").text(
            "Where several rows measure the same thing, plots show their median. Ratios are of times measured in \
             turns in one run; met, missed and not resolved are judged by the 95 % interval. Absolute figures hold \
             for this machine and this day.",
        );
    });
}

/// The body as it grows.
#[derive(Default)]
struct Layout {
    body: Markup,
    /// Identifiers and titles of the sections.
    contents: Vec<(String, String)>,
    plots: Vec<Plot>,
    identifiers: BTreeSet<String>,
}

impl Layout {
    /// Lays out all sections and gives the names of the experiments that have no rows.
    fn sections(&mut self, report: &Report) -> Vec<&'static str> {
        let all: Vec<&Record> = report.records.iter().collect();
        let judged = "Every ratio that has a target. It is met when the interval's upper end is at most 0.02 above \
                      the target, missed when its lower end is above it, otherwise not resolved: then the budget of its \
                      instructions, call/null of tests/instructions, decides about the null call.";
        // With probes in the program no ratio is what it claims to be.
        let judged_rows = if report.machine.has_probes() { &[] } else { &all[..] };
        self.section("targets", "Targets", judged, &sections::ratios(judged_rows));
        let mut not_measured = Vec::new();
        for experiment in EXPERIMENTS {
            let rows: Vec<_> =
                all.iter().copied().filter(|row| row.text("experiment") == experiment.name).collect();
            if rows.is_empty() {
                not_measured.push(experiment.name);
                continue;
            }
            let mut groups = (experiment.draw)(&rows);
            let shown: BTreeSet<usize> = groups
                .iter()
                .flat_map(|group| group.parts.iter().flat_map(|part| part.rows.iter().map(|row| row.line())))
                .collect();
            let further: Vec<_> = rows.into_iter().filter(|row| !shown.contains(&row.line())).collect();
            if !further.is_empty() {
                let parts = vec![Part { shown: Shown::Rows, rows: further }];
                groups.push(Group { heading: "Rows that no plot shows".into(), parts });
            }
            self.section(experiment.name, experiment.title, experiment.about, &groups);
        }
        let unknown = |row: &&&Record| EXPERIMENTS.iter().all(|known| known.name != row.text("experiment"));
        let others: Vec<_> = all.iter().filter(unknown).copied().collect();
        let of_each: Vec<Group> = grouping::alike(&others, &["experiment"])
            .into_iter()
            .map(|alike| Group {
                heading: alike.words,
                parts: vec![Part { shown: Shown::Rows, rows: alike.rows }],
            })
            .collect();
        let about = "Experiments that this report has no plots for: their rows as they are.";
        self.section("other", "Other experiments", about, &of_each);
        not_measured
    }

    /// One section; none if there is nothing to show in it.
    fn section(&mut self, id: &str, title: &str, about: &str, groups: &[Group]) {
        if groups.iter().all(|group| group.parts.is_empty()) {
            return;
        }
        // Below a table stand the data of those rows that have no plot to stand below.
        let parts = groups.iter().flat_map(|group| &group.parts);
        let plots = parts.filter(|part| matches!(part.shown, Shown::Plot(_)));
        let plotted: BTreeSet<usize> = plots.flat_map(|part| &part.rows).map(|row| row.line()).collect();
        self.contents.push((id.to_owned(), title.to_owned()));
        let mut section = Markup::default();
        section.element("section").with("id", id).holding(|section| {
            section.element("h2").text(title);
            section.element("p").class("about").text(about);
            for group in groups.iter().filter(|group| !group.parts.is_empty()) {
                if !group.heading.is_empty() {
                    section.element("h3").text(&group.heading);
                }
                section.element("div").class("plots").holding(|section| {
                    for part in &group.parts {
                        self.part(section, id, part, &plotted);
                    }
                });
            }
        });
        self.body.append(&section);
    }

    fn part(&mut self, section: &mut Markup, id: &str, part: &Part, plotted: &BTreeSet<usize>) {
        match &part.shown {
            Shown::Plot(plot) => {
                let mut plot = plot.clone();
                // The circumstances as rows give them: they do not depend on what else was measured.
                let circumstances = part.rows.first().map(|row| {
                    ["study", "link", "queue", "pin", "style"].map(|field| row.shown(field)).join(" ")
                });
                plot.id =
                    self.identifier(&format!("{id} {} {}", plot.title, circumstances.unwrap_or_default()));
                section.element("figure").with("id", &plot.id).holding(|section| {
                    plot.inline(section);
                    commands(section, &part.rows);
                    data(section, &part.rows);
                });
                self.plots.push(plot);
            }
            Shown::Table(table) => section.element("figure").class("wide").holding(|section| {
                table.write(section);
                commands(section, &part.rows);
                let rows = part.rows.iter().copied().filter(|row| !plotted.contains(&row.line()));
                data(section, &rows.collect::<Vec<_>>());
            }),
            Shown::Rows => section.element("figure").class("wide").holding(|section| {
                table::of_rows(&part.rows).write(section);
                commands(section, &part.rows);
            }),
        }
    }

    /// A name out of letters, digits and hyphens that nothing else has.
    fn identifier(&mut self, words: &str) -> String {
        /// Long enough to tell plots apart, short enough for a file name on any system.
        const LONGEST: usize = 100;
        let mut name = String::new();
        for character in words.chars().filter(|character| character.is_ascii()) {
            if character.is_ascii_alphanumeric() {
                name.push(character.to_ascii_lowercase());
            } else if !name.ends_with('-') {
                name.push('-');
            }
        }
        name.truncate(LONGEST);
        let name = name.trim_matches('-').to_owned();
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let free =
            std::iter::once(name.clone()).chain(numbered).find(|name| self.identifiers.insert(name.clone()));
        // There are more numbers than plots.
        free.unwrap_or(name)
    }
}

/// The words of a command, of which options are not broken at their hyphens.
fn words(code: &mut Markup, command: &str) {
    for (at, word) in command.split(' ').enumerate() {
        if at > 0 {
            code.text(" ");
        }
        match word.starts_with("--") {
            true => code.element("span").class("option").text(word),
            false => code.text(word),
        }
    }
}

/// The command lines that repeat the rows, each once.
fn commands(section: &mut Markup, rows: &[&Record]) {
    let mut commands: Vec<&str> = Vec::new();
    for row in rows {
        let command = row.text("command");
        if !command.is_empty() && !commands.contains(&command) {
            commands.push(command);
        }
    }
    let (in_view, folded) = commands.split_at(commands.len().min(COMMANDS_IN_VIEW));
    let write = |section: &mut Markup, commands: &[&str]| {
        for command in commands {
            section.element("pre").class("command").holding(|section| {
                section.element("code").holding(|code| words(code, command));
            });
        }
    };
    write(section, in_view);
    if !folded.is_empty() {
        section.element("details").holding(|section| {
            section.element("summary").text(format_args!("{} more commands", folded.len()));
            write(section, folded);
        });
    }
}

/// The rows, folded away.
fn data(section: &mut Markup, rows: &[&Record]) {
    if rows.is_empty() {
        return;
    }
    section.element("details").class("data").holding(|section| {
        let noun = if rows.len() == 1 { "row" } else { "rows" };
        section.element("summary").text(format_args!("Data, {} {noun}", rows.len()));
        table::of_rows(rows).write(section);
    });
}
