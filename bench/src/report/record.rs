//! Rows as they were written: each line of `results.jsonl` a [`Record`], whatever its experiment.
//!
//! Rows are read by the names of their fields, so that an experiment of tomorrow's loses none of its own. A
//! line that is no row is a [`Remark`] that names file and line; the rows around it are read all the same.

use std::fmt;

use serde_json::{Map, Value};

use super::number;

/// One row: an object with the field `experiment`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Record {
    line: usize,
    fields: Map<String, Value>,
}

/// Something that the reader of a report should know: a line that could not be read, a file that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// The file, and the line if it is about one.
    pub place: String,
    /// What is the matter.
    pub what: String,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// Reads all lines of `file` (the name is for remarks). Empty lines are nothing; others are rows or remarks.
pub(super) fn read(file: &str, octets: &[u8]) -> (Vec<Record>, Vec<Remark>) {
    let mut records = Vec::new();
    let mut remarks = Vec::new();
    for (index, line) in octets.split(|octet| *octet == b'\n').enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let line_number = index + 1;
        match parse(line) {
            Ok(fields) => records.push(Record { line: line_number, fields }),
            Err(what) => remarks.push(Remark { place: format!("{file}:{line_number}"), what }),
        }
    }
    (records, remarks)
}

fn parse(line: &[u8]) -> Result<Map<String, Value>, String> {
    match serde_json::from_slice(line) {
        Ok(Value::Object(fields)) => match fields.get("experiment") {
            Some(Value::String(_)) => Ok(fields),
            Some(_) => Err("the field `experiment` is not text".into()),
            None => Err("the field `experiment` is missing".into()),
        },
        Ok(_) => Err("not an object".into()),
        // serde_json would say "line 1", which is not the file's.
        Err(error) => Err(format!("not JSON at column {}", error.column())),
    }
}

impl Record {
    /// The line it stood on.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// The names of its fields.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.keys().map(String::as_str)
    }

    /// A field as text, or nothing if it is missing, null, or no text.
    pub(super) fn text(&self, name: &str) -> &str {
        self.fields.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// A field as a number.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.fields.get(name).and_then(Value::as_f64).filter(|value| value.is_finite())
    }

    /// A field as a number that an axis of any kind can show: above zero, and of a size that can have been measured.
    pub(super) fn positive(&self, name: &str) -> Option<f64> {
        self.number(name).filter(|value| (1e-9..=1e18).contains(value))
    }

    /// Any field as text for people: numbers as given; empty if it is missing or null.
    pub(super) fn shown(&self, name: &str) -> String {
        match self.fields.get(name) {
            Some(value) => show(value),
            None => String::new(),
        }
    }
}

/// Any JSON value as text for people; null is empty.
pub(super) fn show(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), number::plain),
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_lines_are_named_and_the_others_read() {
        let text =
            b"{\"experiment\":\"rtt\",\"size\":0}\n\n  \nnonsense\n[1]\n{\"size\":3}\n{\"experiment\":7}\n\
                     \xff\xfe\n{\"experiment\":\"cube\"}\n{\"experiment\":\"rtt\",\"p50";
        let (records, remarks) = read("results.jsonl", text);
        let lines: Vec<_> = records.iter().map(Record::line).collect();
        assert_eq!(lines, [1, 9]);
        let remarks: Vec<_> = remarks.iter().map(Remark::to_string).collect();
        assert_eq!(
            remarks,
            [
                "results.jsonl:4: not JSON at column 2",
                "results.jsonl:5: not an object",
                "results.jsonl:6: the field `experiment` is missing",
                "results.jsonl:7: the field `experiment` is not text",
                "results.jsonl:8: not JSON at column 1",
                "results.jsonl:10: not JSON at column 24",
            ]
        );
    }

    #[test]
    fn fields_are_read_by_name_and_kind() {
        let line = br#"{"experiment":"rtt","size":65536,"p50_us":null,"mad":[1],"ok":true,"zero":0}"#;
        let (records, _) = read("r", line);
        let record = &records[0];
        assert_eq!((record.text("experiment"), record.text("size"), record.text("none")), ("rtt", "", ""));
        assert_eq!((record.number("size"), record.number("p50_us")), (Some(65_536.0), None));
        assert_eq!((record.number("zero"), record.positive("zero")), (Some(0.0), None));
        let shown = ["size", "p50_us", "mad", "ok", "none"].map(|name| record.shown(name));
        assert_eq!(shown, ["65,536", "", "[1]", "yes", ""]);
    }
}
