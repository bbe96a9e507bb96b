//! `zorb bench`: figures beside a bare socket and beside peers, for people and as JSON lines.
//!
//! The scenarios are in `zorb-bench`; here are their command lines and tables, a file each, what they share ([`common`]: options and
//! tables; [`systems`]: who can be measured; [`surroundings`]: progress, Ctrl-C, where peers are), and the hidden subcommand
//! that the server processes run.
//!
//! [`paper`] runs them all, [`report`] draws what was measured.
//!
//! A further scenario is a file beside [`rtt`] with its arguments and its table, and a variant of [`Scenario`].

mod collocated;
pub(crate) mod common;
mod concurrency;
mod connections;
mod cube;
mod demux;
mod firstcall;
pub(crate) mod flames;
mod images;
mod paper;
pub(crate) mod report;
pub(crate) mod rtt;
mod size;
pub(crate) mod surroundings;
pub(crate) mod systems;
mod whitebox;

use std::io;
use std::time::Duration;

use clap::{Args, Subcommand};

use zorb_bench::driver;
#[cfg(test)]
use zorb_bench::link::Spec;
use zorb_bench::link::carry;
#[cfg(test)]
use zorb_bench::paper::Scenario as Measured;
use zorb_bench::process::serve_until_parent_goes;
use zorb_bench::system::Setting;

use crate::failure::Failure;

/// Measure zorb beside bare sockets moving the same bytes, and beside its peers.
#[derive(Debug, Args)]
#[command(after_help = "Example: zorb bench rtt --pin same --json")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    scenario: Scenario,
}

#[derive(Debug, Subcommand)]
enum Scenario {
    Rtt(rtt::Arguments),
    Report(report::Arguments),
    Cube(cube::Arguments),
    Demux(demux::Arguments),
    Firstcall(firstcall::Arguments),
    Collocated(collocated::Arguments),
    Concurrency(concurrency::Arguments),
    Connections(connections::Arguments),
    Size(size::Arguments),
    Images(images::Arguments),
    Paper(paper::Arguments),
    #[command(hide = true)]
    Serve(ServeArguments),
    #[command(hide = true)]
    Drive(DriveArguments),
    #[command(hide = true)]
    Carry(CarryArguments),
}

/// The server half of one of our own systems: what [`surroundings::server_command`] starts.
#[derive(Debug, Args)]
struct ServeArguments {
    system: String,
    #[arg(value_name = "KEY=VALUE")]
    setting: Vec<String>,
}

/// The client half of one of our own systems: what [`surroundings::driver_command`] starts.
#[derive(Debug, Args)]
struct DriveArguments {
    system: String,
    address: String,
    #[arg(value_name = "KEY=VALUE")]
    setting: Vec<String>,
}

/// The process that carries a link's packets: what [`surroundings::carrier_command`] starts.
#[derive(Debug, Args)]
struct CarryArguments {
    /// How long each packet is held, in nanoseconds.
    delay: u64,
}

pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.scenario {
        Scenario::Rtt(arguments) => rtt::run(&arguments),
        Scenario::Report(arguments) => report::run(&arguments),
        Scenario::Cube(arguments) => cube::run(&arguments),
        Scenario::Demux(arguments) => demux::run(&arguments),
        Scenario::Firstcall(arguments) => firstcall::run(&arguments),
        Scenario::Collocated(arguments) => collocated::run(&arguments),
        Scenario::Concurrency(arguments) => concurrency::run(&arguments),
        Scenario::Connections(arguments) => connections::run(&arguments),
        Scenario::Size(arguments) => size::run(&arguments),
        Scenario::Images(arguments) => images::run(&arguments),
        Scenario::Paper(arguments) => paper::run(&arguments),
        Scenario::Serve(arguments) => serve(&arguments),
        Scenario::Drive(arguments) => drive(&arguments),
        Scenario::Carry(CarryArguments { delay }) => Ok(carry(Duration::from_nanos(delay))?),
    }
}

#[cfg(test)]
impl Arguments {
    /// What the arguments ask for, of what [`paper`] measures too, and over which link.
    pub(crate) fn measured(&self) -> Option<Result<(Measured, Option<Spec>), Failure>> {
        let (scenario, link) = match &self.scenario {
            Scenario::Rtt(arguments) => (arguments.scenario(), arguments.link()),
            Scenario::Cube(arguments) => (arguments.scenario(), arguments.common.link()),
            Scenario::Demux(arguments) => (arguments.scenario(), arguments.common.link()),
            Scenario::Firstcall(arguments) => (arguments.scenario(), arguments.common.link()),
            Scenario::Size(arguments) => (arguments.scenario(), arguments.common.link()),
            Scenario::Images(arguments) => (arguments.scenario(), arguments.common.link()),
            _ => return None,
        };
        Some(scenario.map(|scenario| (scenario, link)))
    }
}

fn serve(arguments: &ServeArguments) -> Result<(), Failure> {
    let setting = Setting::of_words(arguments.setting.iter().map(String::as_str)).map_err(Failure::usage)?;
    let mut announced = Ok(());
    systems::local(&arguments.system)?
        .serve(&setting, &mut |address| announced = serve_until_parent_goes(address))?;
    Ok(announced?)
}

fn drive(arguments: &DriveArguments) -> Result<(), Failure> {
    let setting = Setting::of_words(arguments.setting.iter().map(String::as_str)).map_err(Failure::usage)?;
    let system = systems::local(&arguments.system)?;
    let mut client = system.connect(&surroundings::unwatched(), &setting, &arguments.address, None)?;
    Ok(driver::drive(&mut *client, io::stdin().lock(), io::stdout().lock())?)
}
