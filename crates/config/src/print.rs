//! What is in force, and what can be set, for people: in lines of at most 80 columns.

use std::fmt;

use zorb_orb::OrbBuilder;

use crate::config::{Config, InForce};
use crate::place::ConfigError;
use crate::setting::Setting;
use crate::table::SETTINGS;

/// What terminals are at least.
const COLUMNS: usize = 80;

impl Config {
    /// What holds when this is applied to `builder`, as a file that says the same, with the origin of each value as a
    /// comment. Lines have at most 80 columns, but for values that are longer.
    ///
    /// # Errors
    /// As of [`apply`](Config::apply).
    pub fn report(&self, builder: OrbBuilder) -> Result<String, ConfigError> {
        Ok(self.in_force(builder)?.iter().map(line).collect())
    }
}

/// A line of a file that says the same, with the origin as a comment; more lines where that is too long.
impl fmt::Display for InForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&line(self))
    }
}

/// `key = value  # origin`, or on more lines where that is too long.
fn line(it: &InForce) -> String {
    let mut why = it.origin.to_string();
    for (value, origin) in &it.instead_of {
        why.push_str(&format!("; not {}, {origin}", value.to_toml()));
    }
    let said = match &it.value {
        Some(value) => format!("{} = {}", it.name, value.to_toml()),
        None if it.instead_of.is_empty() => return format!("# {}: not set\n", it.name),
        None => format!("# {}: not set", it.name),
    };
    let short = format!("{said:<40} # {why}\n");
    if short.chars().count() <= COLUMNS + 1 {
        return short;
    }
    wrapped(&why, "# ") + &said + "\n"
}

/// The text in lines that begin with `indent`; words that are longer than a line stay whole.
fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = String::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && indent.len() + line.chars().count() + 1 + word.chars().count() > COLUMNS {
            lines += &format!("{indent}{line}\n");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines + indent + &line + "\n"
}

/// Every setting with its three names, for a terminal.
pub fn help() -> String {
    let mut text = String::new();
    for setting in SETTINGS {
        let (option, variable) = (setting.option(), setting.variable());
        text += &format!("{}\n", setting.key);
        text += &wrapped(&format!("{option} {variable}"), "    ");
        text += &wrapped(&described(setting), "    ");
    }
    text
}

/// Sentence, values, default and other spellings.
fn described(setting: &Setting) -> String {
    let mut text = format!("{} Values: {}.", setting.what, setting.kind.form());
    if let Some(default) = setting.default() {
        text += &format!(" Default: {default}.");
    }
    if !setting.spellings.is_empty() {
        text += &format!(" Also {}.", spellings(setting, ""));
    }
    text
}

fn spellings(setting: &Setting, quote: &str) -> String {
    let each = setting.spellings.iter().map(|it| format!("{quote}-ORB{}{quote} ({})", it.name, it.note));
    each.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of settings as the documentation has it.
    fn markdown() -> String {
        let mut text = String::from(
            "| in a file | option | variable | values | default | what it chooses |\n|---|---|---|---|---|---|\n",
        );
        for setting in SETTINGS {
            let mut what = setting.what.replace('|', "\\|");
            if !setting.spellings.is_empty() {
                what += &format!(" Also {}.", spellings(setting, "`"));
            }
            text += &format!(
                "| `{}` | `{}` | `{}` | {} | {} | {what} |\n",
                setting.key,
                setting.option(),
                setting.variable(),
                setting.kind.form(),
                setting.default().unwrap_or_default(),
            );
        }
        text
    }

    #[test]
    fn the_documented_table_is_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/settings.md");
        let expected = markdown();
        if std::fs::read_to_string(path).unwrap_or_default() != expected {
            let made = std::env::temp_dir().join("zorb-config-settings.md");
            std::fs::write(&made, expected).expect("the temporary directory is writable");
            panic!("{path} is not what the table says; that is now in {}", made.display());
        }
    }

    #[test]
    fn help_fits_80_columns_and_names_every_setting() {
        let help = help();
        for line in help.lines() {
            assert!(line.chars().count() <= COLUMNS, "{line:?}");
        }
        for setting in SETTINGS {
            assert!(
                help.contains(&setting.option()) && help.contains(&setting.variable()),
                "{}",
                setting.key
            );
        }
    }
}
