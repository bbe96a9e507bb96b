//! `machine.json` for people: what the figures were measured on.
//!
//! The fields are written by the run; here they are only put into words and an order. One that is not known
//! here is shown under its own name.

use serde_json::{Map, Value};

use super::number;
use super::record::{Remark, show};

/// The fields in the order in which they are shown, with their words.
const FIELDS: &[(&str, &str)] = &[
    ("date", "measured"),
    ("commit", "commit"),
    ("cpu", "processor"),
    ("cores", "cores"),
    ("memory_gib", "memory"),
    ("kernel", "kernel"),
    ("congestion_control", "TCP congestion control"),
    ("load", "load before the run"),
    ("peers", "peers"),
];

/// The load for each core that a machine may have whose figures can be trusted: half of it left alone, as it was
/// before the run added its own.
const LOAD_AT_REST: f64 = 0.5;

/// The machine's description.
#[derive(Debug, Clone, Default)]
pub(super) struct Machine {
    fields: Map<String, Value>,
}

impl Machine {
    /// Reads the file's content; a remark says what is wrong with it.
    pub(super) fn read(file: &str, octets: &[u8]) -> Result<Machine, Remark> {
        let remark = |what: String| Remark { place: file.to_owned(), what };
        match serde_json::from_slice(octets) {
            Ok(Value::Object(fields)) => Ok(Machine { fields }),
            Ok(_) => Err(remark("not an object".into())),
            Err(error) => {
                Err(remark(format!("not JSON at line {}, column {}", error.line(), error.column())))
            }
        }
    }

    /// A field as text; empty if it is not there.
    pub(super) fn text(&self, name: &str) -> String {
        self.fields.get(name).map(show).unwrap_or_default()
    }

    /// Every field with its words.
    pub(super) fn described(&self) -> Vec<(String, String)> {
        let known = FIELDS.iter().map(|(name, words)| (*name, *words));
        let others = self
            .fields
            .keys()
            .map(String::as_str)
            .filter(|name| *name != "busy" && !FIELDS.iter().any(|(known, _)| known == name));
        let mut described: Vec<(String, String)> = known
            .chain(others.map(|name| (name, name)))
            .map(|(name, words)| (words.to_owned(), self.worded(name)))
            .collect();
        described.retain(|(_, text)| !text.is_empty());
        described
    }

    fn worded(&self, name: &str) -> String {
        match (name, self.fields.get(name)) {
            ("memory_gib", Some(Value::Number(size))) => {
                format!("{} GiB", number::tick((size.as_f64().unwrap_or_default() * 10.0).round() / 10.0))
            }
            (_, Some(Value::Object(parts))) => parts
                .iter()
                .map(|(name, value)| format!("{name} {}", show(value)))
                .collect::<Vec<_>>()
                .join(", "),
            (_, Some(Value::Array(values))) => values.iter().map(show).collect::<Vec<_>>().join(", "),
            _ => self.text(name),
        }
    }

    /// Whether something else ran beside the measurement: the run says so, or the load before it was above
    /// [`LOAD_AT_REST`].
    pub(super) fn busy(&self) -> bool {
        let number = |name: &str| self.fields.get(name).and_then(Value::as_f64);
        match self.fields.get("busy") {
            Some(busy) => *busy == Value::Bool(true),
            None => number("load").is_some_and(|load| load > LOAD_AT_REST * number("cores").unwrap_or(1.0)),
        }
    }

    /// Whether the program that measured had time probes.
    pub(super) fn has_probes(&self) -> bool {
        self.fields.get("probes") == Some(&Value::Bool(true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(text: &str) -> Machine {
        Machine::read("machine.json", text.as_bytes()).unwrap()
    }

    #[test]
    fn fields_are_worded_and_the_unknown_kept() {
        let machine = machine(
            r#"{"zeal":1,"cores":2,"cpu":"A","memory_gib":23.4561,"kernel":null,"flags":["a","b"],
                "peers":{"omniorb":"4.3"}}"#,
        );
        let described = machine.described();
        let described: Vec<_> = described.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        assert_eq!(
            described,
            [
                ("processor", "A"),
                ("cores", "2"),
                ("memory", "23.5 GiB"),
                ("peers", "omniorb 4.3"),
                ("flags", "a, b"),
                ("zeal", "1"),
            ]
        );
    }

    #[test]
    fn a_busy_machine_is_known_by_its_word_or_its_load() {
        assert!(machine(r#"{"busy":true,"load":0}"#).busy());
        assert!(!machine(r#"{"busy":false,"load":9}"#).busy());
        assert!(machine(r#"{"load":1.2,"cores":2}"#).busy() && !machine(r#"{"load":1.2,"cores":4}"#).busy());
        assert!(!machine("{}").busy());
    }

    #[test]
    fn what_is_no_description_is_a_remark() {
        let what = |text: &str| Machine::read("machine.json", text.as_bytes()).unwrap_err().to_string();
        assert_eq!(what("[]"), "machine.json: not an object");
        assert!(what("{\n!").starts_with("machine.json: not JSON at line 2"));
    }
}
