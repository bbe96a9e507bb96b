//! No text panics, and what is accepted can be shown and read again.

use std::ffi::OsString;

use proptest::prelude::*;
use zorb_config::{Config, SETTINGS};
use zorb_orb::Orb;

/// Texts with the letters that values are made of, more often right than chance would have it.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,20}",
        "[0-9]{1,20}(ns|us|ms|s|min|h|KiB|MiB|GiB|K|)",
        "(tcp|unix|iiop|uiop|giop|giop:tcp|shm):(//)?[a-z\\[\\]:/=@,;0-9-]{0,20}(portspan=[0-9]{0,6})?",
        "(own|any|[0-9]{1,12})(,[0-9]{1,11}){0,3}",
        "[A-Za-z]{1,5}=[a-z:/ =]{0,12}",
        "\\* ?[a-z,]{0,10}",
        Just("pool".to_owned()),
        Just("reactor".to_owned()),
    ]
}

fn index() -> impl Strategy<Value = usize> {
    0..SETTINGS.len()
}

fn check(config: &Config) {
    let Ok(report) = config.report(Orb::builder()) else { return };
    let chosen = |config: &Config| config.apply(Orb::builder()).map(|builder| builder.chosen().listen);
    let mut again = Config::new();
    again.toml("report", &report).unwrap_or_else(|error| panic!("{error}\n{report}"));
    assert_eq!(chosen(&again), chosen(config), "{report}");
    assert!(again.report(Orb::builder()).is_ok());
}

proptest! {
    #[test]
    fn options(which in index(), value in value(), equals in any::<bool>(), rest in "\\PC{0,10}") {
        let option = SETTINGS[which].option();
        let arguments = match equals {
            true => vec!["p".to_owned(), rest, format!("{option}={value}")],
            false => vec!["p".to_owned(), rest, option, value],
        };
        if let Ok((config, _)) = Config::read(arguments.into_iter().map(OsString::from), []) {
            check(&config);
        }
    }

    #[test]
    fn others_options(which in 0..13_usize, value in value()) {
        let spellings: Vec<_> = SETTINGS.iter().flat_map(|setting| setting.spellings).collect();
        let option = format!("-ORB{}", spellings[which % spellings.len()].name);
        if let Ok((config, _)) = Config::read(["p".into(), option.into(), value.into()], []) {
            check(&config);
        }
    }

    #[test]
    fn names(name in "(-ORB)?\\PC{0,90}", value in "\\PC{0,9}") {
        let _ = Config::read(["p".into(), name.clone().into(), value.clone().into()], []);
        let _ = Config::read([], [(format!("ZORB_{name}").into(), value.into())]);
    }

    #[test]
    fn variables(which in index(), value in value()) {
        if let Ok((config, _)) = Config::read([], [(SETTINGS[which].variable().into(), value.into())]) {
            check(&config);
        }
    }

    #[test]
    fn files(which in proptest::collection::vec((index(), value(), 0..6), 0..5)) {
        let lines = which.into_iter().map(|(which, value, form)| {
            let key = SETTINGS[which].key;
            match form {
                0 => format!("{key} = {value}"),
                1 => format!("{key} = [{value:?}, 5]"),
                2 => format!("{key} = [{value:?}]"),
                3 => format!("{key}.{key} = {value:?}"),
                4 => format!("[{key}]\n{key} = {value:?}"),
                _ => format!("{key} = {value:?}"),
            }
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        let mut config = Config::new();
        if config.toml("zorb.toml", &text).is_ok() {
            check(&config);
        }
    }

    #[test]
    fn any_file(text in "\\PC{0,80}") {
        let _ = Config::new().toml("zorb.toml", &text);
    }
}
