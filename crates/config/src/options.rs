//! The command line: `-ORB…` options are taken out, everything else is left.

use std::ffi::OsString;

use crate::config::Config;
use crate::nearest::suggestion;
use crate::place::{ConfigError, Origin};
use crate::setting::{Setting, by_option, elsewhere};
use crate::table::SETTINGS;
use crate::value::{Kind, Value, reference};

/// Names the file.
pub(crate) const FILE: &str = "-ORBconfigFile";

/// What came of a command line.
pub(crate) struct Taken {
    /// The arguments that are the program's.
    pub(crate) rest: Vec<OsString>,
    /// The file that an option names, and the option.
    pub(crate) file: Option<(String, Origin)>,
}

pub(crate) fn take(
    config: &mut Config,
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<Taken, ConfigError> {
    let mut taken = Taken { rest: Vec::new(), file: None };
    let mut arguments = arguments.into_iter().enumerate();
    taken.rest.extend(arguments.next().map(|(_, name)| name));
    while let Some((index, argument)) = arguments.next() {
        if argument == "--" {
            taken.rest.push(argument);
            taken.rest.extend(arguments.map(|(_, argument)| argument));
            break;
        }
        if !argument.as_encoded_bytes().starts_with(b"-ORB") {
            taken.rest.push(argument);
            continue;
        }
        let option = text(index, &argument.to_string_lossy(), argument.clone())?;
        let (option, value) = match option.split_once('=') {
            Some((option, value)) => (option.to_owned(), Some(value.to_owned())),
            None => (option, None),
        };
        let origin = Origin::Argument { index, option: option.clone() };
        // Whether it is known is said before what it lacks.
        let known = if option.eq_ignore_ascii_case(FILE) { None } else { Some(known(&option, &origin)?) };
        let value = match value {
            Some(value) => value,
            None => match arguments.next() {
                Some((at, value)) if !value.as_encoded_bytes().starts_with(b"-ORB") && value != "--" => {
                    text(at, &option, value)?
                }
                Some((_, next)) => {
                    let what = format!("a value is missing; {} follows", next.to_string_lossy());
                    return Err(ConfigError::new(origin, what));
                }
                None => return Err(ConfigError::new(origin, "a value is missing")),
            },
        };
        match known {
            Some((setting, read)) => {
                let fail = |what| ConfigError::new(origin.clone(), what);
                let value = read.map_or(Ok(value.clone()), |read| read(&value)).map_err(fail)?;
                let (name, value) = one(setting, &value).map_err(fail)?;
                config.say(setting, &name, value, origin)?;
            }
            None if taken.file.is_some() => {
                return Err(ConfigError::new(origin, "a file is named already; there can be one"));
            }
            None if value.is_empty() => return Err(ConfigError::new(origin, "the text is empty")),
            None => taken.file = Some((value, origin)),
        }
    }
    Ok(taken)
}

type Read = fn(&str) -> Result<String, String>;

fn known(option: &str, origin: &Origin) -> Result<(&'static Setting, Option<Read>), ConfigError> {
    if let Some((setting, spelling)) = by_option(option) {
        return Ok((setting, spelling.map(|spelling| spelling.read)));
    }
    let what = match elsewhere(option) {
        Some(advice) => format!("zorb has no such option: {advice}"),
        None => {
            let own = SETTINGS.iter().map(Setting::option);
            let others = SETTINGS.iter().flat_map(|setting| setting.spellings);
            let names: Vec<_> =
                own.chain(others.map(|it| format!("-ORB{}", it.name))).chain([FILE.to_owned()]).collect();
            format!("there is no such option{}", suggestion(option, names.iter().map(String::as_str)))
        }
    };
    Err(ConfigError::new(origin.clone(), what))
}

/// One value of a setting, with its name if the setting has many.
pub(crate) fn one(setting: &Setting, value: &str) -> Result<(String, Value), String> {
    match setting.kind {
        Kind::References => {
            let (name, url) = reference(value)?;
            Ok((name, Value::Text(url)))
        }
        kind => Ok((String::new(), kind.read(value)?)),
    }
}

fn text(index: usize, option: &str, argument: OsString) -> Result<String, ConfigError> {
    argument.into_string().map_err(|_| {
        let option = option.split('=').next().unwrap_or_default().to_owned();
        ConfigError::new(Origin::Argument { index, option }, "it is not UTF-8")
    })
}
