//! `zorb config`: what settings text can choose, and what holds here and why. Also how the other subcommands come to them.

use std::ffi::OsString;
use std::io::Write;

use clap::Args;
use zorb::config::{Config, ConfigError};
use zorb::{Orb, OrbBuilder};

use crate::failure::Failure;

/// Show the settings in force, each with where it comes from: a file that says the same.
///
/// Settings are chosen by options such as -ORBlisten, variables such as ZORB_LISTEN, and a TOML file that
/// -ORBconfigFile or ZORB_CONFIG names, in this order of precedence. The commands that build an ORB (bridge, call, demo, ping, repository) take them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zorb config --settings
  zorb config -ORBlisten iiop://:2809 -ORBcallTimeout 5s
  zorb config -ORBconfigFile zorb.toml --explain server.idle")]
pub(crate) struct Arguments {
    /// Instead, show what can be set: names, values and defaults.
    #[arg(long, conflicts_with = "explain")]
    settings: bool,

    /// Show this setting alone; any of its names will do.
    #[arg(long, value_name = "NAME")]
    explain: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, told: &Told) -> Result<(), Failure> {
    let mut output = std::io::stdout().lock();
    if arguments.settings {
        write!(output, "{}", zorb::config::help())?;
        return Ok(());
    }
    let config = told.config()?;
    match &arguments.explain {
        None => write!(output, "{}", config.report(Orb::builder()).map_err(wrong)?)?,
        Some(name) => {
            let found = config.explain(Orb::builder(), name).map_err(wrong)?;
            let found = found.ok_or_else(|| {
                Failure::usage(format!("there is no setting {name}; zorb config --settings shows all"))
            })?;
            write!(output, "{found}")?;
        }
    }
    Ok(())
}

/// The command line, for the `-ORB…` options in it.
pub(crate) struct Told {
    arguments: Vec<OsString>,
    /// These options alone, for another process.
    options: Vec<OsString>,
}

impl Told {
    /// Takes the options out of the process's arguments, and gives what is left.
    ///
    /// # Errors
    /// An option means nothing.
    pub(crate) fn of_process() -> Result<(Told, Vec<OsString>), Failure> {
        let arguments: Vec<_> = std::env::args_os().collect();
        let rest = Config::new().options(arguments.clone()).map_err(wrong)?;
        let mut options = Vec::new();
        let mut walk = arguments.iter().skip(1).take_while(|argument| *argument != "--");
        while let Some(argument) = walk.next() {
            let octets = argument.as_encoded_bytes();
            if octets.starts_with(b"-ORB") {
                options.push(argument.clone());
                options.extend(if octets.contains(&b'=') { None } else { walk.next().cloned() });
            }
        }
        Ok((Told { arguments, options }, rest))
    }

    /// The options as they were given.
    pub(crate) fn options(&self) -> &[OsString] {
        &self.options
    }

    /// All that this process was told: the environment is read here, by the commands that have a use for it.
    pub(crate) fn config(&self) -> Result<Config, Failure> {
        let (config, _) = Config::read(self.arguments.clone(), std::env::vars_os()).map_err(wrong)?;
        Ok(config)
    }

    /// A builder that was told it all; what nobody chose stays as it is.
    pub(crate) fn apply(&self, builder: OrbBuilder) -> Result<OrbBuilder, Failure> {
        self.config()?.apply(builder).map_err(wrong)
    }

    /// Says no to options for a command that builds no ORB of its own.
    pub(crate) fn none(&self, command: &str) -> Result<(), Failure> {
        match self.options.is_empty() {
            true => Ok(()),
            false => Err(Failure::usage(format!(
                "zorb {command} takes no -ORB options; bridge, call, config, demo, ping and repository do"
            ))),
        }
    }
}

fn wrong(error: ConfigError) -> Failure {
    Failure::usage(error.to_string())
}
