//! The environment: variables whose names begin with `ZORB_`.

use std::ffi::OsString;

use crate::config::Config;
use crate::nearest::nearest;
use crate::options::one;
use crate::place::{ConfigError, Origin};
use crate::setting::{Setting, find};
use crate::table::SETTINGS;
use crate::value::Kind;

/// Names the file.
pub(crate) const FILE: &str = "ZORB_CONFIG";

/// Takes what is a setting's, and gives the file that a variable names. Variables have no order, and are taken by name.
pub(crate) fn take(
    config: &mut Config,
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<Option<(String, Origin)>, ConfigError> {
    let mut named = None;
    let mut ours: Vec<_> = variables
        .into_iter()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .filter(|(name, value)| name.starts_with("ZORB_") && !value.is_empty())
        .collect();
    ours.sort();
    for (name, value) in ours {
        let origin = Origin::Variable(name.clone());
        let setting = match find(&name) {
            _ if name == FILE => None,
            Some(setting) => Some(setting),
            None => match misspelt(&name) {
                Some(near) => {
                    let what = format!("there is no such setting; did you mean {near}?");
                    return Err(ConfigError::new(origin, what));
                }
                None => continue,
            },
        };
        let fail = |what: String| ConfigError::new(origin.clone(), what);
        let value = value.into_string().map_err(|_| fail("it is not UTF-8".to_owned()))?;
        match setting {
            None => named = Some((value, origin)),
            Some(setting) if setting.kind == Kind::References => {
                for part in value.split_whitespace() {
                    let (name, value) = one(setting, part).map_err(fail)?;
                    config.say(setting, &name, value, origin.clone())?;
                }
            }
            Some(setting) => {
                let (name, value) = one(setting, &value).map_err(fail)?;
                config.say(setting, &name, value, origin)?;
            }
        }
    }
    Ok(named)
}

/// The variable that an unknown one was meant to be. Others' variables may begin with `ZORB_` too, so that only what is close
/// to a setting's counts.
fn misspelt(name: &str) -> Option<String> {
    let known: Vec<_> = SETTINGS.iter().map(Setting::variable).chain([FILE.to_owned()]).collect();
    let bare = |name: &str| name.trim_start_matches("ZORB_").to_owned();
    let bares: Vec<_> = known.iter().map(|name| bare(name)).collect();
    let near = nearest(&bare(name), bares.iter().map(String::as_str))?;
    Some(format!("ZORB_{near}"))
}
