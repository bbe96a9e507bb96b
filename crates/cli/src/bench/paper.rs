//! `zorb bench paper`: all of the field's studies in one run.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use zorb_bench::lab::Lab;
use zorb_bench::machine::Machine;
use zorb_bench::paper::{self, Directory, Head, Scale, Step, Study};
use zorb_bench::peer::Peer;
use zorb_bench::{BenchError, System, probes};

use super::report::draw;
use super::surroundings::{peers_folder, surrounded, tell_if_busy};
use crate::failure::Failure;
use crate::table::{self, Table};

/// The field's studies, all in one run: the experiments of five papers, and a report of them.
///
/// Floods of typed and untyped buffers, demultiplexing, latency and bandwidth, first calls, an application, the cubing
/// service, the steps of a call, the ORB's share, block sizes: what --list shows. DIR gets machine.json,
/// results.jsonl and index.html.
///
/// The same command goes on where a run of it was stopped: what has ended is not measured again.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The directory of results; made if it is not there.
    #[arg(required_unless_present = "list", value_name = "DIR")]
    directory: Option<PathBuf>,

    /// Fewer sizes, calls and repetitions: under ten minutes.
    #[arg(long)]
    quick: bool,

    /// Peers to measure beside zorb: omniorb, jacorb, tirpc, tirpc-opaque, tonic, capnp, sockets; none. By default all
    /// that are built but sockets, which are no system but the floor once more.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    peers: Option<Vec<String>>,

    /// A zorb built with time probes, which measures the step that needs them (the white box); nothing else then has any.
    #[arg(long, value_name = "PROGRAM")]
    probes: Option<PathBuf>,

    /// Measure everything anew: what DIR holds of another run is removed.
    #[arg(long)]
    again: bool,

    /// Only print the steps, how long they take, and their commands.
    #[arg(long)]
    list: bool,

    /// Longest wait for one answer of a peer, in seconds.
    #[arg(long, default_value_t = Lab::PATIENCE.as_secs(), value_parser = clap::value_parser!(u64).range(1..), value_name = "SECONDS")]
    patience: u64,

    /// A few calls: for tests of the run itself.
    #[arg(long, hide = true, conflicts_with = "quick")]
    tiny: bool,
}

const HELP: &str = "\
A peer that fails is left out of the rest of its step; the others go on.
Ctrl-C ends the run and draws what was measured.

The white box (where a call's time goes) needs time probes, which cost zorb a
little. A program of its own has them:
  cargo build --release --features probes --target-dir target/probes
  zorb bench paper --probes target/probes/release/zorb DIR

Examples:
  zorb bench paper --list
  zorb bench paper --quick results
  zorb bench paper results --peers omniorb,tirpc";

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let scale = match arguments {
        Arguments { tiny: true, .. } => Scale::Tiny,
        Arguments { quick: true, .. } => Scale::Quick,
        _ => Scale::Full,
    };
    let directory = arguments.directory.as_deref();
    let begun = match directory {
        Some(path) if !arguments.again => Directory::head(path)?,
        _ => None,
    };
    let peers = match (&arguments.peers, &begun) {
        (Some(names), _) => built(named(names)?),
        (None, Some(head)) => named(&head.peers)?,
        (None, None) => built(Peer::ALL.iter().filter(|peer| !peer.is_floor()).collect()),
    };
    if let Some(program) = arguments.probes.as_deref().filter(|program| !program.is_file()) {
        return Err(Failure::usage(format!("--probes: there is no program {}", program.display())));
    }
    let has_probes = probes::BUILT_IN || arguments.probes.is_some();
    let steps = paper::steps(scale, &peers, has_probes);
    let Some(path) = directory.filter(|_| !arguments.list) else {
        return Ok(write!(std::io::stdout().lock(), "{}", list(scale, &steps))?);
    };
    let peers: Vec<_> = peers.iter().map(|peer| peer.name().to_owned()).collect();
    let mut machine = Machine::look(&peers_folder());
    machine.peers.retain(|peer, _| peers.contains(peer));
    let head = Head { scale, peers, machine };
    let opened = Directory::open(path, &head, &steps, arguments.again);
    let mut directory = opened.map_err(|error| match error {
        BenchError::Taken { .. } => {
            Failure::usage(format!("{error}; choose another directory, or --again to lose what is there"))
        }
        error => error.into(),
    })?;
    write!(std::io::stdout().lock(), "{}", beginning(path, &directory, &steps))?;
    if !has_probes {
        eprint!(
            "{}",
            table::wrapped("note: the white box is left out: it needs --probes PROGRAM, see --help", 0)
        );
    }
    if paper::left(&directory, &steps) > Duration::ZERO {
        tell_if_busy(false)?;
    }
    let ended = surrounded("measuring", Duration::from_secs(arguments.patience), None, |lab| {
        paper::run(&mut directory, &steps, &Lab { probes: arguments.probes.clone(), ..lab.clone() })
    });
    write!(std::io::stdout().lock(), "\n{}\n", ending(&directory, &steps))?;
    // Also of a run that was stopped, or whose disk is full: then the first failure is the one to tell.
    let drawn = draw(path, false);
    let faults = ended.inspect_err(|error| {
        if let BenchError::Stopped = error {
            let done = steps.iter().filter(|step| directory.has(step)).count();
            eprintln!("note: {done} of {} steps are there; the same command goes on", steps.len());
        }
    })?;
    drawn?;
    Failure::of_run(Ok(faults))
}

/// The peers of a list, in an order of their own; none of `none`.
fn named(names: &[String]) -> Result<Vec<&'static Peer>, Failure> {
    if names.len() > 1 && names.iter().any(|name| name == "none") {
        return Err(Failure::usage("none means no peer: it goes with no other name"));
    }
    let unknown = names.iter().find(|name| *name != "none" && Peer::named(name).is_none());
    match unknown {
        Some(name) => {
            let known: Vec<_> = Peer::ALL.iter().map(System::name).collect();
            Err(Failure::usage(format!("there is no peer {name:?}; there are {}, or none", known.join(", "))))
        }
        None => Ok(Peer::ALL.iter().filter(|peer| names.iter().any(|name| name == peer.name())).collect()),
    }
}

/// Those that can be measured; a line for each of the others.
fn built(peers: Vec<&'static Peer>) -> Vec<&'static Peer> {
    let folder = peers_folder();
    let is_built = |peer: &&Peer| match peer.program(&folder) {
        Ok(_) => true,
        Err(error) => {
            eprintln!("note: {error}");
            false
        }
    };
    peers.into_iter().filter(is_built).collect()
}

/// How long something takes that nobody can know exactly.
fn about(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 59.5 => format!("{:.0} s", seconds.max(1.0)),
        seconds if seconds < 5_400.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3_600.0),
    }
}

/// What there is to do, before it is done.
fn beginning(path: &Path, directory: &Directory, steps: &[Step]) -> String {
    let path = path.display();
    let to_do = steps.iter().filter(|step| !directory.has(step)).count();
    let time = about(paper::left(directory, steps));
    let mut text = match (to_do, steps.len() - to_do) {
        (0, all) => format!("All {all} steps have been measured into {path}."),
        (to_do, 0) => format!("{to_do} steps into {path}: about {time} where nothing else runs."),
        (_, done) => {
            format!("Going on in {path}: {done} of {} steps are there, about {time} left.", steps.len())
        }
    };
    if directory.dropped() > 0 {
        let _ = write!(
            text,
            " Rows of a step that had not ended are measured again: {} lines.",
            directory.dropped()
        );
    }
    table::wrapped(&text, 0)
}

/// What was done, and how long it took.
fn ending(directory: &Directory, steps: &[Step]) -> Table {
    let mut table = Table::new(&["§", "<step", "rows", "took", "<"]);
    for step in steps {
        let command = step.command();
        let ended = directory.ended().iter().find(|ended| ended.command == command);
        let mut cells = vec![step.study.number().to_string(), step.name.to_owned()];
        match ended {
            Some(ended) => {
                cells.extend([ended.rows.to_string(), format!("{:.0} s", ended.seconds)]);
                let systems = match ended.faults.len() {
                    0 => String::new(),
                    1 => "incomplete: a system failed".to_owned(),
                    failures => format!("incomplete: {failures} failures of systems"),
                };
                cells.push(systems);
            }
            None => cells.extend(["", "", "not ended"].map(str::to_owned)),
        }
        table.row(cells);
    }
    table
}

/// All steps with their commands.
fn list(scale: Scale, steps: &[Step]) -> String {
    let all: Duration = steps.iter().map(Step::estimate).sum();
    let mut text = format!("The steps of a {} run: about {} in all\n", scale.name(), about(all));
    for study in Study::ALL {
        let _ = write!(text, "\n{}", table::wrapped(&format!("§{} {}", study.number(), study.title()), 0));
        for (step, number) in steps.iter().zip(1..).filter(|(step, _)| step.study == study) {
            let _ = writeln!(text, "\n{number:>4}  {:<60} {:>8}", step.name, about(step.estimate()));
            text.push_str(&continued(&step.command(), 4));
        }
    }
    text
}

/// A command line in lines of at most 80 columns that a shell puts together again; an option stays with its value where
/// they have room.
fn continued(command: &str, indent: usize) -> String {
    // No part of a command, and no place to break a line at.
    const TIE: &str = "\u{1}";
    const COLUMNS: usize = 80 - " \\".len();
    let mut options = command.split(" --");
    let mut words = options.next().unwrap_or_default().to_owned();
    for option in options {
        let fits = indent + "--".len() + option.len() <= COLUMNS;
        words.push_str(" --");
        words.push_str(&if fits { option.replace(' ', TIE) } else { option.to_owned() });
    }
    let lines = table::wrapped_to(&words, indent, COLUMNS).replace(TIE, " ");
    lines.trim_end().lines().collect::<Vec<_>>().join(" \\\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use zorb_bench::link::Spec;
    use zorb_bench::paper::Scenario;

    /// What a command line measures.
    fn measured_by(command: &str) -> (Scenario, Option<Spec>) {
        let parsed = crate::Arguments::try_parse_from(command.split(' ')).map(|arguments| arguments.command);
        let measured = match &parsed {
            Ok(crate::Command::Bench(arguments)) => arguments.measured(),
            Ok(crate::Command::Ttcp(arguments)) => arguments.measured(),
            other => panic!("{command}: {other:?}"),
        };
        measured.unwrap_or_else(|| panic!("{command}: not of a step")).expect("arguments that can be")
    }

    fn all(scale: Scale) -> Vec<Step> {
        paper::steps(scale, &Peer::ALL.iter().collect::<Vec<_>>(), true)
    }

    #[test]
    fn the_list_fits_80_columns_and_commands_come_together_again() {
        for scale in [Scale::Full, Scale::Quick] {
            let list = list(scale, &all(scale));
            for line in list.lines() {
                assert!(line.chars().count() <= 80, "{line:?}");
            }
            let joined = list.replace(" \\\n    ", " ");
            for step in all(scale) {
                let command = step.command();
                assert!(joined.lines().any(|line| line.trim() == command), "{command}");
            }
        }
    }

    /// A figure names its command: that must be the command that made it.
    #[test]
    fn each_steps_command_is_that_of_its_scenario() {
        for step in [Scale::Full, Scale::Quick, Scale::Tiny].into_iter().flat_map(all) {
            let command = step.command();
            let (scenario, link) = measured_by(&command);
            assert_eq!((&scenario, &link), (&step.scenario, &step.link), "{command}");
            assert_eq!(scenario.command(link.as_ref()), command);
        }
    }

    #[test]
    fn peers_have_an_order_of_their_own() {
        let names = |text: &str| {
            let names: Vec<_> = text.split(',').map(str::to_owned).collect();
            named(&names).map(|peers| peers.iter().map(|peer| peer.name()).collect::<Vec<_>>())
        };
        assert_eq!(names("tonic,omniorb,tonic").unwrap(), ["omniorb", "tonic"]);
        assert!(names("none").unwrap().is_empty());
        assert!(names("tonic,none").unwrap_err().to_string().starts_with("none means no peer"));
        let error = names("ipc").unwrap_err().to_string();
        assert!(error.starts_with("there is no peer \"ipc\"; there are omniorb, jacorb"), "{error}");
    }

    #[test]
    fn times_are_rough() {
        let text = |seconds| about(Duration::from_secs(seconds));
        assert_eq!([text(0), text(59), text(119), text(7_300)], ["1 s", "59 s", "2 min", "2.0 h"]);
    }
}
