//! The TOML file.

use std::fs::File;
use std::io::Read;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::config::Config;
use crate::nearest::suggestion;
use crate::place::{ConfigError, Origin};
use crate::setting::Setting;
use crate::table::SETTINGS;
use crate::value::{Kind, Value};

/// The most that a file may hold, in octets. 1 MiB: a file with every setting has some thousand.
pub(crate) const LARGEST: u64 = 1 << 20;

/// Reads the file; `named_by` says who wants it, for the error that it is not there.
pub(crate) fn take(config: &mut Config, path: &str, named_by: &Origin) -> Result<(), ConfigError> {
    let fail = |what: String| {
        let what = match named_by {
            Origin::File { .. } => what,
            _ => format!("file {path}: {what}"),
        };
        ConfigError::new(named_by.clone(), what)
    };
    let mut octets = Vec::new();
    let file = File::open(path).map_err(|error| fail(format!("it cannot be opened: {error}")))?;
    // A pipe or a device would be read for as long as it gives.
    let is_file = file.metadata().is_ok_and(|found| found.is_file());
    if !is_file {
        return Err(fail("it is no regular file".to_owned()));
    }
    file.take(LARGEST + 1)
        .read_to_end(&mut octets)
        .map_err(|error| fail(format!("it cannot be read: {error}")))?;
    if octets.len() as u64 > LARGEST {
        return Err(fail(format!("it holds more than {LARGEST} octets, which no configuration does")));
    }
    match String::from_utf8(octets) {
        Ok(text) => self::text(config, path, &text),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let read = String::from_utf8_lossy(&error.as_bytes()[..at]).into_owned();
            Err(ConfigError::new(place(path, &read, at), "it is not UTF-8 from here on"))
        }
    }
}

/// Reads TOML; nothing is noted if any of it is wrong.
pub(crate) fn text(config: &mut Config, path: &str, text: &str) -> Result<(), ConfigError> {
    let mut reading = Reading { config: config.clone(), path, text };
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().unwrap_or(0..0);
        reading.fail(at, format!("it is not TOML: {}", error.message().replace('\n', "; ")))
    })?;
    reading.table("", table.get_ref())?;
    *config = reading.config;
    Ok(())
}

/// Line and column of an octet, each from 1; columns count characters.
fn place(path: &str, text: &str, at: usize) -> Origin {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Origin::File { path: path.to_owned(), line, column }
}

struct Reading<'t> {
    config: Config,
    path: &'t str,
    text: &'t str,
}

impl Reading<'_> {
    fn place(&self, at: Range<usize>) -> Origin {
        place(self.path, self.text, at.start)
    }

    fn fail(&self, at: Range<usize>, what: impl Into<String>) -> ConfigError {
        ConfigError::new(self.place(at), what)
    }

    /// A table whose keys begin with `prefix`, which is empty or ends in a dot.
    fn table(&mut self, prefix: &str, table: &DeTable<'_>) -> Result<(), ConfigError> {
        // In the order of the file, so that the first error is the first that a reader meets.
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let name = format!("{prefix}{}", key.get_ref());
            let is_group = SETTINGS
                .iter()
                .any(|setting| setting.key.strip_prefix(&name).is_some_and(|rest| rest.starts_with('.')));
            match SETTINGS.iter().find(|setting| setting.key == name) {
                Some(setting) if setting.is_by_name() => self.references(setting, value)?,
                Some(setting) => {
                    let read = self.value(setting, value)?;
                    self.config.say(setting, "", read, place(self.path, self.text, key.span().start))?;
                }
                None if is_group => match value.get_ref() {
                    DeValue::Table(table) => self.table(&format!("{name}."), table)?,
                    other => return Err(self.wrong(&name, value.span(), other, "a table")),
                },
                None => {
                    let known = SETTINGS.iter().map(|setting| setting.key);
                    let what = format!("there is no setting {name:?}{}", suggestion(&name, known));
                    return Err(self.fail(key.span(), what));
                }
            }
        }
        Ok(())
    }

    fn references(
        &mut self,
        setting: &'static Setting,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), ConfigError> {
        let DeValue::Table(table) = value.get_ref() else {
            return Err(self.wrong(setting.key, value.span(), value.get_ref(), "a table of URLs"));
        };
        for (name, url) in table {
            let DeValue::String(text) = url.get_ref() else {
                let key = format!("{}.{}", setting.key, name.get_ref());
                return Err(self.wrong(&key, url.span(), url.get_ref(), "a text"));
            };
            if text.trim().is_empty() || name.get_ref().trim().is_empty() {
                return Err(self.fail(name.span(), "a name and its URL have at least one character"));
            }
            let origin = self.place(name.span());
            self.config.say(setting, name.get_ref().trim(), Value::Text(text.trim().to_owned()), origin)?;
        }
        Ok(())
    }

    fn value(&self, setting: &Setting, value: &Spanned<DeValue<'_>>) -> Result<Value, ConfigError> {
        let text = match (setting.kind, value.get_ref()) {
            (Kind::Count { .. } | Kind::Octets { .. }, DeValue::Integer(number)) if number.radix() == 10 => {
                number.as_str().replace('_', "")
            }
            (Kind::Choice(_), DeValue::Float(number)) => number.as_str().to_owned(),
            (Kind::Endpoints | Kind::Transports | Kind::Users | Kind::Peers, DeValue::Array(list)) => {
                return self.list(setting, list, value.span());
            }
            (Kind::Count { .. }, other) => {
                return Err(self.wrong(setting.key, value.span(), other, "a whole number"));
            }
            (_, DeValue::String(text)) => text.to_string(),
            (kind, other) => {
                let wanted = match kind {
                    Kind::Octets { .. } => "a number of octets, or a text such as \"64KiB\"",
                    Kind::Time { .. } => "a text with a unit, such as \"500ms\"",
                    Kind::Endpoints | Kind::Transports | Kind::Users | Kind::Peers => "a list, or a text",
                    _ => "a text",
                };
                return Err(self.wrong(setting.key, value.span(), other, wanted));
            }
        };
        setting.kind.read(&text).map_err(|what| self.fail(value.span(), what))
    }

    fn list(&self, setting: &Setting, list: &DeArray<'_>, at: Range<usize>) -> Result<Value, ConfigError> {
        let mut parts = Vec::new();
        for part in list.iter() {
            let text = match part.get_ref() {
                DeValue::String(text) => text.to_string(),
                DeValue::Integer(user) if setting.kind == Kind::Users => user.as_str().to_owned(),
                other => return Err(self.wrong(setting.key, part.span(), other, "a list of texts")),
            };
            setting.kind.element(text.trim()).map_err(|what| self.fail(part.span(), what))?;
            parts.push(text);
        }
        setting.kind.list(parts.iter().map(String::as_str)).map_err(|what| self.fail(at, what))
    }

    fn wrong(&self, key: &str, at: Range<usize>, found: &DeValue<'_>, wanted: &str) -> ConfigError {
        self.fail(at, format!("{key} is {wanted}, and this is {}", described(found)))
    }
}

fn described(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}
