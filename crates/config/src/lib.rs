//! Configuration text: `-ORB…` options, `ZORB_…` variables and a TOML file, as calls of the ORB's builder.
//!
//! It is opt-in, and the only library of zorb's that looks at the command line, the environment and files. It reads nothing
//! that was not named: there is no file that it looks for by itself, and a file includes no other.
//!
//! ```
//! use std::ffi::OsString;
//!
//! use zorb_config::Config;
//! use zorb_orb::Orb;
//!
//! # let arguments = ["server", "-ORBlisten", "tcp:127.0.0.1:0", "--verbose"].map(OsString::from);
//! # let variables = [(OsString::from("ZORB_CALL_TIMEOUT"), OsString::from("5s"))];
//! // A program says Config::of_process(), which takes std::env::args_os() and std::env::vars_os().
//! let (config, rest) = Config::read(arguments, variables)?;
//! // What nobody chose stays as the program says.
//! let builder = config.apply(Orb::builder().published_host("archive.example"))?;
//! let orb = builder.build();
//! orb.listen()?;
//! assert_eq!(rest, ["server", "--verbose"]);
//! assert!(orb.endpoints()[0].to_string().starts_with("tcp:127.0.0.1:"));
//!
//! // Why does it listen there?
//! let listen = config.explain(Orb::builder(), "listen")?.expect("it is a setting");
//! assert_eq!(listen.origin.to_string(), "argument 1 (-ORBlisten)");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Who wins
//!
//! The command line goes before the environment, the environment before the file, the file before what the program told its
//! builder, and that before the ORB's defaults. Precedence is by setting: where the command line gives one list of endpoints,
//! those of the file do not count. Initial references are by name: each has its source of precedence.
//! [`Config::explain`] says for one setting where its value comes from and what it stands in place of, and
//! [`Config::report`] for all.
//!
//! # How it is written
//!
//! | | |
//! |---|---|
//! | options | `-ORBname value` or `-ORBname=value`, in any place; case does not matter in the name. They are taken out, the rest is left in its order; from `--` on nothing is taken. `-ORBconfigFile` names the file |
//! | variables | `ZORB_NAME`; an empty one counts as not there. `ZORB_CONFIG` names the file, where no option does. A misspelled name is an error; one that resembles no setting is somebody else's |
//! | file | TOML: `call_timeout = "5s"`, `[server]` with `idle = "10min"`, `[init_ref]` with `NameService = "corbaloc::host:2809/NameService"`. At most 1 MiB; unknown keys are errors; a file that was named must be there |
//! | times | a whole number and `ns`, `us`, `ms`, `s`, `min` or `h` |
//! | octets | a number, or one with `KiB`, `MiB`, `GiB` (or `K`, `M`, `G`) |
//! | lists | separated by commas or spaces; in a file also an array. `-ORBlisten` may be repeated, each adding an endpoint |
//! | endpoints | `tcp:host:port`, `unix:/path` or any `transport:address`; `iiop://host:port` with `/portspan=N` and `uiop:///path` as TAO has them; `giop:tcp:host:port` and `giop:unix:/path` as omniORB does |
//!
//! Anything else is a [`ConfigError`]: it names the place (`file zorb.toml, line 7, column 3`, `environment variable
//! ZORB_LISTEN`, `argument 3 (-ORBlisten)`), what is wrong there, and the nearest name that is known. Saying a setting twice in
//! one source is an error, also by two spellings; so is a choice that contradicts another.
//!
//! `tcp.*`, `unix.*` and `shm.*` put a transport of that name in the place of the builder's. A program that registers one of its own
//! under these names, say with another resolver, loses what it told it when text chooses such a property. `udp.*` and `miop.*` do the
//! same where the program has registered these transports, and are errors where it has not.
//!
//! # Settings
//!
#![doc = include_str!("../settings.md")]
//!
//! Options that other systems have and zorb has not (such as omniORB's `-ORBtraceLevel`) are errors that say what to use.
//!
//! Dependencies: `toml` (its parser gives the place of each key and value).
#![forbid(unsafe_code)]

mod as_others;
mod config;
mod endpoint;
mod environment;
mod file;
mod nearest;
mod options;
mod place;
mod print;
mod setting;
mod table;
mod transports;
mod value;

pub use config::{Config, InForce};
pub use place::{ConfigError, Origin};
pub use print::help;
pub use setting::{Setting, Spelling, find};
pub use table::SETTINGS;
pub use value::{Kind, Value};
