//! The README's walk-through and `docs/exploring.md` as their reader types them, against omniNames and JacORB's server: every line behind a `$`
//! in one shell, and what is printed compared with what the pages say.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::Verdict;
use super::peers::{Peer, Terms, Workshop};
use super::process::{Running, is_installed, output_and_code};

/// For all of it, on a busy machine: each line starts a process, and the first wakes up a JVM.
const SOON: Duration = Duration::from_secs(120);

/// What stands before the output of the next command.
const MARK: &str = "--- next ---";

pub(crate) fn through(workshop: &Workshop) -> Verdict {
    if !is_installed("omniNames") {
        return Verdict::Missing("omniNames is missing: apt-get install omniorb-nameserver".into());
    }
    if let Some(missing) = workshop.missing(Peer::Jacorb) {
        return Verdict::Missing(missing);
    }
    match walked(workshop) {
        Ok(commands) => Verdict::Passed(format!("{commands} commands printed what the pages say")),
        Err(wrong) => Verdict::Failed(wrong),
    }
}

fn walked(workshop: &Workshop) -> Result<usize, Vec<String>> {
    let one = |error: String| vec![error];
    let root = workshop.interop.join("../..");
    let read = |page: &str| {
        let page = root.join(page);
        fs::read_to_string(&page).map_err(|error| one(format!("{}: {error}", page.display())))
    };
    let (readme, page) = (read("README.md")?, read("docs/exploring.md")?);
    let [names_port, repository_port] = free_ports().map_err(one)?;
    // The pages' ports and files are the usual ones; a test takes some of its own.
    let scratch = workshop.scratch.join("walk");
    let log = scratch.join("names");
    fs::create_dir_all(&log).map_err(|error| one(format!("{}: {error}", log.display())))?;
    let told = |text: &str| {
        let text = text.replace("2809", &names_port).replace("2888", &repository_port);
        text.replace("/tmp/", &format!("{}/", scratch.display()))
    };
    let mut command = Command::new("omniNames");
    command.args(["-start", &names_port, "-always", "-logdir"]).arg(&log);
    let _names =
        Running::start(command, "omniNames", &workshop.scratch.join("walk-names.output")).map_err(one)?;
    let (_server, ior) = workshop.serve(Peer::Jacorb, Terms::USUAL, "walk").map_err(one)?;
    fs::write(scratch.join("every.ior"), ior).map_err(|error| one(format!("every.ior: {error}")))?;

    let (mut steps, of_page) = (steps(&told(&readme)), steps(&told(&page)));
    if steps.is_empty() || of_page.is_empty() {
        return Err(one("a page has no commands any more".into()));
    }
    steps.extend(of_page);
    let printed = run(workshop, &root, &scratch, &names_port, &steps).map_err(one)?;
    let mut wrong = Vec::new();
    for ((command, expected), printed) in steps.iter().zip(&printed) {
        if !is_as_told(expected, printed) {
            wrong.push(format!("$ {command}\nprinted {printed:?}\nnot     {expected:?}"));
        }
    }
    match printed.len() == steps.len() {
        false => Err(one(format!("{} of {} commands were run: {printed:?}", printed.len(), steps.len()))),
        true if wrong.is_empty() => Ok(steps.len()),
        true => Err(wrong),
    }
}

fn free_ports() -> Result<[String; 2], String> {
    let listen = || TcpListener::bind("127.0.0.1:0").map_err(|error| format!("no free port: {error}"));
    // Both at a time, so that they differ.
    let (one, two) = (listen()?, listen()?);
    let port = |it: &TcpListener| it.local_addr().map(|at| at.port().to_string());
    let ports = [port(&one), port(&two)].map(|port| port.map_err(|error| error.to_string()));
    let [one, two] = ports;
    Ok([one?, two?])
}

/// A page's commands, each with what it prints.
fn steps(page: &str) -> Vec<(String, Vec<String>)> {
    let mut steps: Vec<(String, Vec<String>)> = Vec::new();
    let mut in_block = false;
    for line in page.lines() {
        match (line, line.strip_prefix("$ ")) {
            ("```console", _) => in_block = true,
            ("```", _) => in_block = false,
            (_, Some(command)) if in_block => steps.push((command.to_owned(), Vec::new())),
            _ if in_block => {
                steps.iter_mut().last().into_iter().for_each(|step| step.1.push(line.to_owned()))
            }
            _ => {}
        }
    }
    steps
}

/// Runs all of them in one shell; what each printed.
fn run(
    workshop: &Workshop,
    root: &Path,
    scratch: &Path,
    names_port: &str,
    steps: &[(String, Vec<String>)],
) -> Result<Vec<Vec<String>>, String> {
    // omniNames answers as soon as it listens.
    let mut script = format!(
        "cd '{}'\nPATH='{}':$PATH\nset -m\nexec 2>&1\n\
         until zorb call corbaloc::localhost:{names_port}/NameService _non_existent >/dev/null; do sleep 0.1; done\n",
        root.display(),
        workshop.programs.display(),
    );
    for (command, _) in steps {
        script.push_str(&format!("echo '{MARK}'\n{command}\n"));
    }
    let file = scratch.join("walk.sh");
    fs::write(&file, script).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut command = Command::new("bash");
    command.arg(&file);
    let (printed, _) = output_and_code(&mut command, SOON)?;
    let mark = format!("{MARK}\n");
    let parts = printed.split(&mark).skip(1);
    Ok(parts.map(|part| part.lines().map(str::to_owned).collect()).collect())
}

/// Line by line; `…` stands for anything.
fn is_as_told(expected: &[String], printed: &[String]) -> bool {
    let same = |(expected, printed): (&String, &String)| match expected.split_once('…') {
        Some((before, after)) => {
            printed.len() >= before.len() + after.len()
                && printed.starts_with(before)
                && printed.ends_with(after)
        }
        None => expected == printed,
    };
    expected.len() == printed.len() && expected.iter().zip(printed).all(same)
}
