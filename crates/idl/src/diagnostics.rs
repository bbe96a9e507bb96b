//! Errors and warnings, and how they are shown.

use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::limits;
use crate::source::{FileId, Location, Sources, Span};

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// The text means something, perhaps not what was meant.
    Warning,
    /// The text has no meaning.
    Error,
}

/// One error or warning.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// The place that is wrong, and what to say at it. `None` only when the main file cannot be read.
    pub at: Option<Label>,
    /// Further places that explain it.
    pub see: Vec<Label>,
    /// What would be right, if that does not fit in the label.
    pub help: Option<String>,
}

/// A place with a few words beside it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The words; may be empty.
    pub text: String,
}

/// A list of errors and warnings, those of one file in the order of its text.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    sources: Arc<Sources>,
    items: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Each in turn.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.items.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// File, line and column of a place that one of these diagnostics names.
    pub fn location(&self, span: Span) -> Location<'_> {
        self.sources.location(span)
    }

    /// The files that had been read when they were made, main file first.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.sources.paths()
    }

    /// All of them as text for people: each with its source line and carets. With `colour`, terminal escapes.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let mut text = String::new();
        for item in &self.items {
            text += &renderer.render(&[self.group(item)]);
            text += "\n\n";
        }
        text.truncate(text.trim_end().len());
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }

    pub(crate) fn sources(&self) -> Arc<Sources> {
        self.sources.clone()
    }

    pub(crate) fn about(sources: Arc<Sources>, items: Vec<Diagnostic>) -> Self {
        Diagnostics { sources, items }
    }

    fn group<'a>(&'a self, item: &'a Diagnostic) -> Group<'a> {
        let level = match item.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut group = Group::with_title(level.primary_title(&item.message));
        if let Some(at) = &item.at {
            group = self.snippets(group, at, &item.see);
        }
        if let Some(help) = &item.help {
            group = group.element(Level::HELP.message(help));
        }
        group
    }

    /// An excerpt for each line that a label is on.
    fn snippets<'a>(&'a self, mut group: Group<'a>, at: &'a Label, see: &'a [Label]) -> Group<'a> {
        let further = see.iter().map(|label| (label, AnnotationKind::Context));
        let labels: Vec<_> = std::iter::once((at, AnnotationKind::Primary)).chain(further).collect();
        for run in labels.chunk_by(|(a, _), (b, _)| self.sources.same_line(a.span, b.span)) {
            let place = self.location(run[0].0.span);
            let mut snippet = None;
            for (label, kind) in run {
                let Some(excerpt) = self.excerpt(label.span) else { continue };
                let words = (!label.text.is_empty()).then_some(label.text.as_str());
                let empty = || {
                    let source = Snippet::source(excerpt.text).path(place.path);
                    source.line_start(place.line as usize).fold(false)
                };
                let annotation = kind.span(excerpt.mark).label(words);
                snippet = Some(snippet.unwrap_or_else(empty).annotation(annotation));
            }
            let (line, column) = (place.line as usize, place.column as usize);
            group = match snippet {
                Some(snippet) => group.element(snippet),
                None => {
                    let words = run.iter().map(|(label, _)| &label.text).filter(|text| !text.is_empty());
                    let group = group.element(Origin::path(place.path).line(line).char_column(column));
                    group.elements(words.map(|text| Level::NOTE.message(text)))
                }
            };
        }
        group
    }

    /// The first line of the span, or `None` if it is too long to show.
    fn excerpt(&self, span: Span) -> Option<Excerpt<'_>> {
        let (text, start) = self.sources.line(span)?;
        let end = (start + (span.end - span.start) as usize).clamp(start, text.len());
        (text.len() <= LONGEST_LINE).then_some(Excerpt { text, mark: start..end })
    }
}

/// Longer lines are named, not shown: the renderer's work grows with the line, and nobody reads them.
const LONGEST_LINE: usize = 1_000;

struct Excerpt<'a> {
    text: &'a str,
    mark: Range<usize>,
}

impl std::fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostics {}

impl Diagnostic {
    /// An error of a back end, to be shown by [`Model::diagnose`](crate::Model::diagnose); `label` is said at the place,
    /// and may be empty.
    pub fn error(message: impl Into<String>, span: Span, label: impl Into<String>) -> Diagnostic {
        error(message, span, label)
    }

    /// Adds a further place.
    pub(crate) fn see(mut self, span: Span, text: impl Into<String>) -> Self {
        self.see.push(Label { span, text: text.into() });
        self
    }

    /// Adds what would be right.
    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }
}

/// An error at a place; `label` says at the place what would be right, and may be empty.
pub(crate) fn error(message: impl Into<String>, span: Span, label: impl Into<String>) -> Diagnostic {
    let at = Some(Label { span, text: label.into() });
    Diagnostic { severity: Severity::Error, message: message.into(), at, see: Vec::new(), help: None }
}

/// A warning at a place.
pub(crate) fn warning(message: impl Into<String>, span: Span, label: impl Into<String>) -> Diagnostic {
    Diagnostic { severity: Severity::Warning, ..error(message, span, label) }
}

/// Collects diagnostics and the files that they name, up to the limit of errors.
#[derive(Default)]
pub(crate) struct Reporter {
    pub(crate) sources: Sources,
    items: Vec<Diagnostic>,
    errors: usize,
    /// Nothing more is worth reading: the limit of errors, or an error that makes the rest meaningless.
    stopped: bool,
}

impl Reporter {
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        if self.stopped {
            return;
        }
        match diagnostic.severity {
            Severity::Error => {
                self.errors += 1;
                self.stopped = self.errors >= limits::ERRORS;
            }
            // Warnings share the limit of errors, but do not end the compilation.
            Severity::Warning if self.items.len() - self.errors >= limits::ERRORS => return,
            Severity::Warning => {}
        }
        self.items.push(diagnostic);
        if self.stopped {
            let help = format!("{} errors: the rest is not shown", limits::ERRORS);
            self.items.last_mut().expect("just pushed").help = Some(help);
        }
    }

    /// Reports an error after which nothing more is read.
    pub(crate) fn stop(&mut self, diagnostic: Diagnostic) {
        self.report(diagnostic);
        self.stopped = true;
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stopped
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// The main file cannot be read.
    pub(crate) fn unreadable(mut self, path: &str, reason: &str) -> Diagnostics {
        let message = format!("cannot read `{path}`: {reason}");
        self.items.push(Diagnostic {
            severity: Severity::Error,
            message,
            at: None,
            see: Vec::new(),
            help: None,
        });
        self.finish()
    }

    /// Sorts by place: the parser and the checker read the same text one after the other.
    pub(crate) fn finish(mut self) -> Diagnostics {
        let key = |it: &Diagnostic| {
            it.at.as_ref().map(|at| (at.span.file, at.span.start)).unwrap_or((FileId(0), 0))
        };
        self.items.sort_by_key(key);
        self.items.dedup();
        Diagnostics { sources: Arc::new(self.sources), items: self.items }
    }
}
