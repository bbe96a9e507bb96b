//! The `zorb` command. Each subcommand is a file; this one only chooses among them.
//!
//! | exit code | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | what was asked for failed: the peer, the IDL, the data or the machine said no |
//! | 2 | the command line is wrong |
//! | 3 | the peer answers, but the object is not there or is of another type (`ping`); a system exception (`call`) |
//! | 4 | a user exception (`call`) |
//! | 130 | Ctrl-C ended a measurement; what was measured has been printed |
//!
//! An error is one line on standard error, beginning with `zorb: `. Results go to standard output,
//! progress and remarks to standard error.
//!
//! Dependencies: `clap` (command line), `indicatif` (progress bars), `png` (images), `crc32fast`
//! (checksums of images), `serde_json` (`--json`), `signal-hook` (Ctrl-C keeps what was measured); with the feature
//! `probes` only, `stats_alloc` (counts allocations).

#![forbid(unsafe_code)]

mod bench;
mod bridge;
mod call;
mod config;
mod demo;
mod failure;
mod idl;
mod ior;
mod ping;
mod repository;
mod sizes;
mod soak;
mod table;
mod ttcp;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use failure::Failure;

/// `zorb bench rtt --probes` tells how much memory a call asks for. Any other program keeps its allocator.
#[cfg(feature = "probes")]
#[global_allocator]
static ALLOCATOR: &stats_alloc::StatsAlloc<std::alloc::System> = &stats_alloc::INSTRUMENTED_SYSTEM;

/// CORBA in Rust: compile IDL, read references, ping objects, measure, see it work.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 80, disable_help_subcommand = true, after_help = EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 what was asked for failed; 2 wrong command line;
3 the peer answers, but the object is missing or of another type (ping), or
the call raised a system exception (call); 4 a user exception (call).

Commands that build an ORB take -ORB options: see zorb config --settings.

Example: zorb demo";

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Arguments),
    Idl(idl::Arguments),
    Ior(ior::Arguments),
    Ping(ping::Arguments),
    Call(call::Arguments),
    Repository(repository::Arguments),
    Bridge(bridge::Arguments),
    Bench(bench::Arguments),
    Ttcp(ttcp::Arguments),
    Soak(soak::Arguments),
    Config(config::Arguments),
}

fn main() -> ExitCode {
    run().map_or_else(Failure::report, |()| ExitCode::SUCCESS)
}

fn run() -> Result<(), Failure> {
    // Before `clap` sees the rest: these options are the ORB's, in any place.
    let (told, rest) = config::Told::of_process()?;
    match Arguments::try_parse_from(rest).unwrap_or_else(|error| wrong(&error)).command {
        Command::Demo(arguments) => demo::run(arguments, &told),
        Command::Ping(arguments) => ping::run(&arguments, &told),
        Command::Call(arguments) => call::run(&arguments, &told),
        Command::Repository(arguments) => repository::run(&arguments, &told),
        Command::Bridge(arguments) => bridge::run(&arguments, &told),
        Command::Config(arguments) => config::run(&arguments, &told),
        Command::Idl(arguments) => told.none("idl").and_then(|()| idl::run(&arguments)),
        Command::Ior(arguments) => ior::run(&arguments, &told),
        Command::Bench(arguments) => told.none("bench").and_then(|()| bench::run(arguments)),
        Command::Soak(arguments) => told.none("soak").and_then(|()| soak::run(arguments)),
        Command::Ttcp(arguments) => told.none("ttcp").and_then(|()| ttcp::run(arguments)),
    }
}

/// Says what is wrong with the command line, or helps, as `clap` does; and where a subcommand is unknown, which there are.
fn wrong(error: &clap::Error) -> ! {
    if error.kind() == ErrorKind::InvalidSubcommand {
        let _ = error.print();
        eprintln!("\nThere are: {}", subcommands(std::env::args().skip(1)).join(", "));
        std::process::exit(error.exit_code());
    }
    error.exit()
}

/// The subcommands of the last command that these words name one after the other.
fn subcommands(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut command = Arguments::command();
    for word in words {
        match command.find_subcommand(&word) {
            Some(found) => command = found.clone(),
            None => break,
        }
    }
    let visible = command.get_subcommands().filter(|child| !child.is_hide_set());
    visible.map(|child| child.get_name().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    /// Every subcommand that people see, with its full name.
    fn visible(command: &clap::Command, path: &str, into: &mut Vec<(String, clap::Command)>) {
        for child in command.get_subcommands().filter(|child| !child.is_hide_set()) {
            let path = format!("{path} {}", child.get_name());
            into.push((path.clone(), child.clone()));
            visible(child, &path, into);
        }
    }

    #[test]
    fn every_help_has_an_example_and_fits_80_columns() {
        let mut root = Arguments::command();
        root.build();
        let mut commands = Vec::new();
        visible(&root, "zorb", &mut commands);
        assert!(!commands.is_empty());
        for (path, mut command) in commands {
            let help = command.render_long_help().to_string();
            assert!(help.contains("Example"), "{path} --help has no example");
            for line in help.lines() {
                assert!(line.chars().count() <= 80, "{path} --help: {line:?} is too long");
            }
        }
    }
}
