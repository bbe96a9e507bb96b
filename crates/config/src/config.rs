//! What all sources say together, and how it reaches a builder.

use std::collections::BTreeMap;
use std::ffi::OsString;

use zorb_orb::orb::Chosen;
use zorb_orb::{Orb, OrbBuilder};

use crate::nearest::suggestion;
use crate::place::{ConfigError, Origin};
use crate::setting::{Setting, find};
use crate::table::SETTINGS;
use crate::value::{Kind, Value};
use crate::{environment, file, options};

/// What configuration text says. Made of nothing, it says nothing; each source adds to it, in any order.
///
/// Nothing is read that was not named: no file without its name, no variable without [`environment`](Config::environment)
/// or [`of_process`](Config::of_process).
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// By the setting's place in the table, and the name where a setting has many; those of precedence first.
    said: BTreeMap<(usize, String), Vec<Said>>,
}

/// What one source says.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

/// What holds for one setting, and why.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InForce {
    /// The setting.
    pub setting: &'static Setting,
    /// Its name in a file; of initial references `init_ref.Name`.
    pub name: String,
    /// `None`: nothing was chosen, and there is no default but what [`Setting::what`] says.
    pub value: Option<Value>,
    /// Where the value comes from.
    pub origin: Origin,
    /// What other sources say, to no effect; those of more precedence first.
    pub instead_of: Vec<(Value, Origin)>,
}

impl Config {
    /// Says nothing.
    pub fn new() -> Config {
        Config::default()
    }

    /// What this process was told: by its arguments, by its environment, and by the file that one of them names. The second
    /// value is the arguments that are the program's own, its name first: see [`options`](Config::options).
    ///
    /// # Errors
    /// As of [`read`](Config::read).
    pub fn of_process() -> Result<(Config, Vec<OsString>), ConfigError> {
        Config::read(std::env::args_os(), std::env::vars_os())
    }

    /// The same for these arguments, the program's name first, and these variables.
    ///
    /// # Errors
    /// The first of what means nothing, in the order command line, environment, file; a file that was named and cannot be
    /// read.
    pub fn read(
        arguments: impl IntoIterator<Item = OsString>,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<(Config, Vec<OsString>), ConfigError> {
        let mut config = Config::new();
        let options::Taken { rest, file } = options::take(&mut config, arguments)?;
        let by_variable = environment::take(&mut config, variables)?;
        if let Some((path, origin)) = file.or(by_variable) {
            file::take(&mut config, &path, &origin)?;
        }
        Ok((config, rest))
    }

    /// Takes the `-ORB…` options out of `arguments`, of which the first is the program's name, and gives what is left, in
    /// order. `-ORBname value` and `-ORBname=value` are the same; case does not matter in names. From `--` on nothing is taken.
    /// A file that `-ORBconfigFile` names is read too.
    ///
    /// # Errors
    /// An option that is not known, lacks its value or has a wrong one, or comes twice; and as of [`file`](Config::file).
    pub fn options(
        &mut self,
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<Vec<OsString>, ConfigError> {
        let options::Taken { rest, file } = options::take(self, arguments)?;
        if let Some((path, origin)) = file {
            file::take(self, &path, &origin)?;
        }
        Ok(rest)
    }

    /// Reads the variables whose names begin with `ZORB_`; one that is empty counts as not there. A file that `ZORB_CONFIG`
    /// names is read too.
    ///
    /// A name that looks like a setting's and is none is an error. One that resembles none is somebody else's, and left alone.
    ///
    /// # Errors
    /// A variable with a wrong value or a misspelled name; and as of [`file`](Config::file).
    pub fn environment(
        &mut self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<(), ConfigError> {
        match environment::take(self, variables)? {
            Some((path, origin)) => file::take(self, &path, &origin),
            None => Ok(()),
        }
    }

    /// Reads a TOML file of at most 1 MiB.
    ///
    /// # Errors
    /// It cannot be read, is larger, is not UTF-8 or not TOML, or something in it means nothing.
    pub fn file(&mut self, path: &str) -> Result<(), ConfigError> {
        let origin = Origin::File { path: path.to_owned(), line: 0, column: 0 };
        file::take(self, path, &origin)
    }

    /// Reads TOML that the program has, as if it came from a file of this name.
    ///
    /// # Errors
    /// It is not TOML, or something in it means nothing.
    pub fn toml(&mut self, name: &str, text: &str) -> Result<(), ConfigError> {
        file::text(self, name, text)
    }

    /// Notes what a source says.
    pub(crate) fn say(
        &mut self,
        setting: &'static Setting,
        name: &str,
        value: Value,
        origin: Origin,
    ) -> Result<(), ConfigError> {
        let index = SETTINGS.iter().position(|it| std::ptr::eq(it, setting)).unwrap_or_default();
        let said = self.said.entry((index, name.to_owned())).or_default();
        let at = said.partition_point(|it| it.origin.rank() > origin.rank());
        match said.get_mut(at).filter(|it| it.origin.rank() == origin.rank()) {
            None => said.insert(at, Said { value, origin }),
            Some(before) => match (&mut before.value, value, &origin) {
                // Endpoints are options of their own for each, as other systems have them.
                (Value::List(list), Value::List(more), Origin::Argument { .. })
                    if setting.kind == Kind::Endpoints =>
                {
                    if let Some(twice) = more.iter().find(|more| list.contains(more)) {
                        return Err(ConfigError::new(origin, format!("{twice:?} is named twice")));
                    }
                    list.extend(more);
                }
                _ => {
                    let name = full(setting, name);
                    let what = format!("{name} is set already, by {}", before.origin);
                    return Err(ConfigError::new(origin, what));
                }
            },
        }
        Ok(())
    }

    /// Whether no source says anything.
    pub fn is_empty(&self) -> bool {
        self.said.is_empty()
    }

    /// Tells `builder` all that was said, each by the source of precedence; what nobody said stays as it is.
    ///
    /// # Errors
    /// A transport that is not registered with the builder; choices that contradict each other.
    pub fn apply(&self, mut builder: OrbBuilder) -> Result<OrbBuilder, ConfigError> {
        self.check_transports(&builder.chosen())?;
        for ((index, name), said) in &self.said {
            let setting = &SETTINGS[*index];
            let [first, ..] = &said[..] else { continue };
            if !self.counts(setting, &first.origin, &builder)? {
                continue;
            }
            builder = match setting.is_by_name() {
                true => builder.initial_reference(name, first.value.text()),
                false => (setting.set)(builder, &first.value),
            };
        }
        Ok(builder)
    }

    /// Whether the setting has a meaning beside the others. What a source of less precedence than the model's says of its
    /// threads was said of another model, and does not count.
    fn counts(&self, setting: &Setting, origin: &Origin, builder: &OrbBuilder) -> Result<bool, ConfigError> {
        if !matches!(setting.key, "server.most_threads" | "server.thread_queue")
            || (setting.get)(&builder.chosen()).is_some()
        {
            return Ok(true);
        }
        let model = self.first("server.threads");
        if model.is_some_and(|model| model.origin.rank() > origin.rank()) {
            return Ok(false);
        }
        let word = find("server.threads").and_then(|model| (model.get)(&builder.chosen()));
        let by = model.map_or_else(String::new, |model| format!(", chosen by {}", model.origin));
        let word = word.map(|word| word.to_string()).unwrap_or_default();
        let what = format!("{} has no meaning with server.threads {word:?}{by}", setting.key);
        Err(ConfigError::new(origin.clone(), what))
    }

    fn first(&self, key: &str) -> Option<&Said> {
        let index = SETTINGS.iter().position(|setting| setting.key == key)?;
        self.said.get(&(index, String::new()))?.first()
    }

    fn check_transports(&self, chosen: &Chosen) -> Result<(), ConfigError> {
        let known = || chosen.transports.iter().map(|transport| transport.name);
        let check = |origin: &Origin, name: &str| {
            let name = name.strip_prefix('!').unwrap_or(name);
            // The star: all that are not named. The other is there once bidirectional GIOP is chosen.
            if name == "*" || name == "bidir" || known().any(|known| known == name) {
                return Ok(());
            }
            let all = known().collect::<Vec<_>>().join(", ");
            let hint = suggestion(name, known());
            let what = format!("this program has no transport {name:?}; its transports are {all}{hint}");
            Err(ConfigError::new(origin.clone(), what))
        };
        for ((index, _), said) in &self.said {
            let transport = SETTINGS[*index].key.split_once('.').map(|(transport, _)| transport);
            if let (Some(transport @ ("tcp" | "unix" | "shm" | "udp" | "miop")), [first, ..]) =
                (transport, &said[..])
            {
                check(&first.origin, transport)?;
            }
        }
        if let Some(said) = self.first("transports") {
            said.value.list().iter().try_for_each(|name| check(&said.origin, name))?;
        }
        if let Some(said) = self.first("listen") {
            let names = said.value.list().iter().filter_map(|endpoint| endpoint.split(':').next());
            names.into_iter().try_for_each(|name| check(&said.origin, name))?;
        }
        Ok(())
    }

    /// What holds for a setting when this is applied to `builder`, and why: by any of the setting's names, or
    /// `init_ref.Name`. `None`: there is no such setting.
    ///
    /// # Errors
    /// As of [`apply`](Config::apply).
    pub fn explain(&self, builder: OrbBuilder, name: &str) -> Result<Option<InForce>, ConfigError> {
        let name = find(name).map_or(name, |setting| setting.key).to_owned();
        Ok(self.in_force(builder)?.into_iter().find(|it| it.name == name))
    }

    /// What holds when this is applied to `builder`, in the order of [`SETTINGS`].
    ///
    /// # Errors
    /// As of [`apply`](Config::apply).
    pub fn in_force(&self, builder: OrbBuilder) -> Result<Vec<InForce>, ConfigError> {
        let default = Orb::builder().chosen();
        let program = builder.chosen();
        let chosen = self.apply(builder)?.chosen();
        let mut all = Vec::new();
        for (index, setting) in SETTINGS.iter().enumerate() {
            let mut add =
                |name: &str, value: Option<Value>, programs: Option<Value>, default: Option<Value>| {
                    let said = self.said.get(&(index, name.to_owned())).map_or(&[][..], Vec::as_slice);
                    // A first value that is not in force has no meaning beside the others.
                    let said_in_force = said.first().filter(|first| Some(&first.value) == value.as_ref());
                    let origin = match said_in_force {
                        Some(first) => first.origin.clone(),
                        None if value == default => Origin::Default,
                        None => Origin::Program,
                    };
                    let others = said.iter().skip(usize::from(said_in_force.is_some()));
                    let mut instead_of: Vec<_> =
                        others.map(|said| (said.value.clone(), said.origin.clone())).collect();
                    if let Some(programs) =
                        programs.filter(|it| Some(it) != default.as_ref() && said_in_force.is_some())
                    {
                        instead_of.push((programs, Origin::Program));
                    }
                    all.push(InForce { setting, name: full(setting, name), value, origin, instead_of });
                };
            if setting.is_by_name() {
                for (name, url) in &chosen.initial_references {
                    let text = |url: &String| Value::Text(url.clone());
                    add(name, Some(text(url)), program.initial_references.get(name).map(text), None);
                }
                if chosen.initial_references.is_empty() {
                    add("", None, None, None);
                }
            } else {
                add("", (setting.get)(&chosen), (setting.get)(&program), (setting.get)(&default));
            }
        }
        Ok(all)
    }
}

/// The name of one of many by name.
fn full(setting: &Setting, name: &str) -> String {
    let is_bare = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    match name {
        "" => setting.key.to_owned(),
        name if is_bare => format!("{}.{name}", setting.key),
        name => format!("{}.{}", setting.key, crate::value::quoted(name)),
    }
}
