//! The files that were read, and places in them.

use core::fmt;
use std::collections::HashMap;
use std::sync::Arc;

/// A file of one [`Model`](crate::Model) or one compilation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(pub(crate) u32);

/// A range of octets in one file, `start` included and `end` not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// Where it starts.
    pub start: u32,
    /// Where it has ended.
    pub end: u32,
}

/// A place as people name it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Location<'a> {
    /// The file, as the loader names it.
    pub path: &'a str,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, counted in characters.
    pub column: u32,
}

impl Span {
    /// From the start of this to the end of that, if both are in one file.
    pub(crate) fn to(self, that: Span) -> Span {
        if self.file == that.file { Span { end: that.end.max(self.end), ..self } } else { self }
    }

    /// The empty span at its end.
    pub(crate) fn after(self) -> Span {
        Span { start: self.end, ..self }
    }
}

impl fmt::Display for Location<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path, self.line, self.column)
    }
}

/// All files of a compilation, main file first, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    files: Vec<File>,
    known: HashMap<String, FileId>,
}

#[derive(Clone, Debug)]
struct File {
    path: String,
    text: Arc<str>,
    /// Where each line starts.
    lines: Vec<u32>,
    /// What `#line` directives said, in order of `from`.
    renumbered: Vec<Renumbered>,
}

/// From some line on, lines count from another number and perhaps belong to another file.
#[derive(Clone, Debug)]
struct Renumbered {
    /// The index in `lines` of the line after the directive.
    from: usize,
    number: u32,
    path: Option<String>,
}

impl Sources {
    /// Adds a file, or finds it if it was there already. `text` fits a `u32` in length.
    pub(crate) fn add(&mut self, path: &str, text: &[u8]) -> FileId {
        if let Some(known) = self.known.get(path) {
            return *known;
        }
        let text = decode(text);
        let mut lines = vec![0];
        lines.extend(text.bytes().zip(1..).filter(|(octet, _)| *octet == b'\n').map(|(_, next)| next));
        let file = FileId(self.files.len() as u32);
        self.files.push(File { path: path.into(), text: text.into(), lines, renumbered: Vec::new() });
        self.known.insert(path.into(), file);
        file
    }

    /// The line after `span`'s has the number `number`, as `#line` says.
    pub(crate) fn renumber(&mut self, span: Span, number: u32, path: Option<String>) {
        let file = &mut self.files[span.file.0 as usize];
        let from = file.lines.partition_point(|start| *start <= span.start);
        file.renumbered.push(Renumbered { from, number, path });
    }

    /// The files that came through the loader.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.path.as_str()).filter(|path| !path.starts_with('<'))
    }

    pub(crate) fn path(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].path
    }

    pub(crate) fn text(&self, file: FileId) -> Arc<str> {
        self.files[file.0 as usize].text.clone()
    }

    /// The text of a span, empty if the span is not between characters.
    pub(crate) fn slice(&self, span: Span) -> &str {
        self.files[span.file.0 as usize].text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// The text of the line on which the span starts, without its end, and where in it the span starts.
    pub(crate) fn line(&self, span: Span) -> Option<(&str, usize)> {
        let file = &self.files[span.file.0 as usize];
        let line = file.line(span.start);
        let start = file.lines[line] as usize;
        let end = file.lines.get(line + 1).map_or(file.text.len(), |next| *next as usize);
        let text = file.text.get(start..end)?.trim_end_matches(['\n', '\r']);
        Some((text, (span.start as usize - start).min(text.len())))
    }

    pub(crate) fn location(&self, span: Span) -> Location<'_> {
        let file = &self.files[span.file.0 as usize];
        let line = file.line(span.start);
        let before = file.text.get(file.lines[line] as usize..span.start as usize).unwrap_or("");
        let column = before.chars().count() as u32 + 1;
        let known = file.renumbered.partition_point(|it| it.from <= line);
        match file.renumbered[..known].last() {
            None => Location { path: &file.path, line: line as u32 + 1, column },
            Some(it) => {
                let line = it.number.saturating_add((line - it.from) as u32);
                Location { path: it.path.as_deref().unwrap_or(&file.path), line, column }
            }
        }
    }

    /// No line break lies between the two places of one file.
    pub(crate) fn same_line(&self, a: Span, b: Span) -> bool {
        let file = &self.files[a.file.0 as usize];
        a.file == b.file && file.line(a.end) == file.line(b.start)
    }

    /// The number of line breaks from the end of `a` to the start of `b`, in one file.
    pub(crate) fn lines_between(&self, a: Span, b: Span) -> usize {
        let file = &self.files[a.file.0 as usize];
        if a.file != b.file { usize::MAX } else { file.line(b.start).saturating_sub(file.line(a.end)) }
    }
}

impl File {
    /// The index in `lines` of the line that has the octet at `offset`.
    fn line(&self, offset: u32) -> usize {
        self.lines.partition_point(|start| *start <= offset) - 1
    }
}

/// UTF-8, or else ISO 8859-1, whose octets are the first 256 characters.
fn decode(text: &[u8]) -> String {
    match std::str::from_utf8(text) {
        Ok(text) => text.trim_start_matches('\u{feff}').into(),
        Err(_) => text.iter().map(|octet| char::from(*octet)).collect(),
    }
}
