//! What a setting is, its names, and how one is found by any of them.

use zorb_orb::OrbBuilder;
use zorb_orb::orb::Chosen;

use crate::table::SETTINGS;
use crate::value::{Kind, Value};

/// One choice that text can make. All its names follow from [`key`](Setting::key): `server.send_time` in a file is
/// `-ORBserverSendTime` on the command line and `ZORB_SERVER_SEND_TIME` in the environment.
#[derive(Debug)]
pub struct Setting {
    /// Its name in a file; a dot stands between a table and what is in it.
    pub key: &'static str,
    /// What values it has.
    pub kind: Kind,
    /// What it chooses, in a sentence.
    pub what: &'static str,
    /// Other systems' options that mean the same.
    pub spellings: &'static [Spelling],
    /// What a builder was told; `None`: nothing, and there is no default but what the sentence says.
    pub(crate) get: fn(&Chosen) -> Option<Value>,
    /// Tells a builder.
    pub(crate) set: fn(OrbBuilder, &Value) -> OrbBuilder,
}

/// Another system's option.
#[derive(Debug)]
pub struct Spelling {
    /// Without `-ORB`.
    pub name: &'static str,
    /// Whose it is, and how its values differ.
    pub note: &'static str,
    /// Its value as the setting's own text.
    pub(crate) read: fn(&str) -> Result<String, String>,
}

impl Setting {
    /// Its option: `-ORBcallTimeout`. Options are told apart without regard to case.
    pub fn option(&self) -> String {
        let mut option = String::from("-ORB");
        for (index, word) in self.key.split(['.', '_']).enumerate() {
            let (first, rest) = word.split_at(usize::from(index > 0));
            option.push_str(&first.to_ascii_uppercase());
            option.push_str(rest);
        }
        option
    }

    /// Its variable: `ZORB_CALL_TIMEOUT`.
    pub fn variable(&self) -> String {
        format!("ZORB_{}", self.key.replace('.', "_").to_ascii_uppercase())
    }

    /// The ORB's default, as text; `None` where there is none but what [`what`](Setting::what) says.
    pub fn default(&self) -> Option<String> {
        (self.get)(&zorb_orb::Orb::builder().chosen()).map(|value| value.to_string())
    }

    /// Whether each origin may add to it, under a name of each part's own.
    pub(crate) fn is_by_name(&self) -> bool {
        self.kind == Kind::References
    }
}

/// The setting of a name in any form: `call_timeout`, `-ORBcallTimeout`, `ZORB_CALL_TIMEOUT`; for others' options see
/// [`Setting::spellings`].
pub fn find(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| {
        name == setting.key || name.eq_ignore_ascii_case(&setting.option()) || name == setting.variable()
    })
}

/// The setting of an option, and the other system's spelling if it is one.
pub(crate) fn by_option(option: &str) -> Option<(&'static Setting, Option<&'static Spelling>)> {
    let own = SETTINGS.iter().find(|setting| option.eq_ignore_ascii_case(&setting.option()));
    if let Some(setting) = own {
        return Some((setting, None));
    }
    let name = option.get(4..)?;
    SETTINGS.iter().find_map(|setting| {
        let spelling = setting.spellings.iter().find(|spelling| name.eq_ignore_ascii_case(spelling.name))?;
        Some((setting, Some(spelling)))
    })
}

/// Others' options that zorb has no like of, and what to say instead.
const ELSEWHERE: &[(&str, &str)] = &[
    (
        "serverTransportRule",
        "say -ORBbidirectionalAccept for whom it calls back; others a firewall keeps away",
    ),
    ("serverCallTimeOutPeriod", "say -ORBserverReceiveTime and -ORBserverSendTime"),
    ("traceLevel", "zorb reports by tracing; the program's subscriber chooses what is seen"),
    ("traceFile", "zorb reports by tracing; the program's subscriber chooses where it goes"),
    ("DebugLevel", "zorb reports by tracing; the program's subscriber chooses what is seen"),
    ("LogFile", "zorb reports by tracing; the program's subscriber chooses where it goes"),
    ("id", "ORBs have no names here: each is a value of the program"),
    ("ServerId", "ORBs have no names here: each is a value of the program"),
    ("SvcConf", "name a TOML file by -ORBconfigFile"),
    ("propertiesFile", "name a TOML file by -ORBconfigFile"),
    ("maxGIOPConnectionPerServer", "say -ORBprivateConnections; one more connection is shared"),
    ("maxServerThreadPoolSize", "say -ORBserverThreads pool and -ORBserverMostThreads"),
    ("maxServerThreadPerConnection", "say -ORBserverRequestsPerConnection"),
    ("endPointPublishHostname", "say -ORBpublishedHost"),
];

/// What to say in place of an option that other systems have.
pub(crate) fn elsewhere(option: &str) -> Option<&'static str> {
    let name = option.get(4..)?;
    ELSEWHERE.iter().find(|(other, _)| name.eq_ignore_ascii_case(other)).map(|(_, advice)| *advice)
}
