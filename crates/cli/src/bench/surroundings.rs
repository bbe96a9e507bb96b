//! What every measurement of the command line is surrounded by: progress with the time left, remarks, Ctrl-C, our
//! own servers' command, and the folder that peers are built in.
//!
//! Progress and remarks go to standard error. Where that is no terminal, a line each minute takes the bar's place.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use zorb_bench::lab::Lab;
use zorb_bench::link::{self, Link};
use zorb_bench::progress::{Progress, Stop, Unwatched};
use zorb_bench::system::Setting;
use zorb_bench::{BenchError, machine};

use crate::table;

/// How long any process of a run may live: a full run of the slowest peers takes hours, a forgotten one not days.
const LIFETIME: Duration = Duration::from_secs(12 * 3600);

const CARRIED: &str = "note: the link's packets are carried in user space, each held for the delay, which adds to \
    every round trip and takes processor time: BENCHMARKING.md has figures";

/// Lets `measure` measure in these surroundings. `label` says what is being done, as in "measuring round trips"; `link`
/// what is to lie between both sides.
pub(crate) fn surrounded<R>(
    label: &str,
    patience: Duration,
    link: Option<&link::Spec>,
    measure: impl FnOnce(&Lab) -> Result<R, BenchError>,
) -> Result<R, BenchError> {
    if cfg!(debug_assertions) {
        eprintln!("note: built without optimisation; measure with cargo run --release");
    }
    let display = Display::new(label);
    let stop = stop_on_signals();
    let link = link.map(|spec| Link::up(spec, &carrier_command, LIFETIME)).transpose()?;
    // The process that holds it stays until the end.
    let link = link.as_ref().map(|(link, _)| link);
    if link.is_some_and(|link| link.spec().carried) {
        eprint!("{}", table::wrapped(CARRIED, 0));
    }
    let lab = Lab { link, patience, progress: &display, stop, ..unwatched() };
    let taken = machine::Taken::watch();
    let result = measure(&lab);
    display.bar.finish_and_clear();
    if let Some(text) = taken.much() {
        eprint!("{}", table::wrapped(&format!("note: {text}"), 0));
    }
    result
}

/// Surroundings that nobody looks on at, and no signal stops.
pub(crate) fn unwatched() -> Lab<'static> {
    Lab {
        link: None,
        server: &server_command,
        driver: &driver_command,
        carrier: &carrier_command,
        peers: peers_folder(),
        probes: None,
        patience: Lab::PATIENCE,
        lifetime: LIFETIME,
        progress: &Unwatched,
        stop: Stop::new(),
    }
}

/// The command that serves one of our own systems in a process of its own.
pub(crate) fn server_command(system: &str, setting: &Setting) -> Command {
    let mut command = this_program();
    command.args(["bench", "serve", system]).args(setting.words());
    command
}

/// The command that drives the client half of one of our own systems in a process of its own, connected to an address.
pub(crate) fn driver_command(system: &str, address: &str, setting: &Setting) -> Command {
    let mut command = this_program();
    command.args(["bench", "drive", system, address]).args(setting.words());
    command
}

/// The command that carries a link's packets in a process of its own, each for so long.
pub(crate) fn carrier_command(delay: Duration) -> Command {
    let mut command = this_program();
    command.args(["bench", "carry", &delay.as_nanos().to_string()]);
    command
}

fn this_program() -> Command {
    // `current_exe` fails only where /proc is missing; the name then leads to a clear error on start.
    Command::new(std::env::current_exe().unwrap_or_else(|_| "zorb".into()))
}

/// `$ZORB_PEERS_OUT`, or `target/peers` of the sources that this program was built from: where `bench/peers/build` puts
/// them.
pub(crate) fn peers_folder() -> PathBuf {
    match std::env::var_os("ZORB_PEERS_OUT").filter(|folder| !folder.is_empty()) {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers"),
    }
}

/// Says if the machine is busy, before anything is measured: beside the table, or where rows go to standard output, on
/// standard error.
pub(crate) fn tell_if_busy(json: bool) -> io::Result<()> {
    match machine::busy_now() {
        Some(text) if json => eprintln!("note: {text}"),
        Some(text) => writeln!(io::stdout(), "{}", table::wrapped(&format!("note: {text}"), 0))?,
        None => {}
    }
    Ok(())
}

/// The first Ctrl-C, SIGTERM or SIGHUP asks for an orderly end, the second ends this process at once; its children then
/// see their input close. Who starts it with `nohup` wants it to outlive the terminal.
pub(crate) fn stop_on_signals() -> Stop {
    let stop = Stop::new();
    let hang_up = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    for signal in [SIGINT, SIGTERM].into_iter().chain(hang_up) {
        // The order matters: the shutdown looks at the flag as it was before this signal. Both fail only for
        // signals that cannot be caught, which these are not.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, stop.flag());
        let _ = signal_hook::flag::register(signal, stop.flag());
    }
    stop
}

/// Whether this process was started with a signal ignored.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

/// The progress of a run on standard error.
struct Display {
    bar: ProgressBar,
    last_line: Mutex<Instant>,
}

impl Display {
    fn new(label: &str) -> Display {
        // Drawn for the first time when it is known how much there is to do.
        let bar = ProgressBar::new(0).with_message(label.to_owned());
        bar.set_style(
            ProgressStyle::with_template("{msg} [{bar:30}] {percent:>3} %{left}")
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .with_key("left", |state: &ProgressState, text: &mut dyn fmt::Write| {
                    // A text takes all that is written to it.
                    let _ = text.write_str(&left(state.elapsed(), state.pos(), state.len().unwrap_or(0)));
                })
                .progress_chars("=> "),
        );
        Display { bar, last_line: Mutex::new(Instant::now()) }
    }
}

/// The time left, in words, if it goes on as it has on the whole: what is measured passes in bursts, so that its latest speed
/// says little. Nothing before the first step.
fn left(elapsed: Duration, done: u64, all: u64) -> String {
    if done == 0 {
        return String::new();
    }
    let seconds = elapsed.as_secs_f64() * all.saturating_sub(done) as f64 / done as f64;
    if seconds < 60.0 {
        format!(", {seconds:.0} s left")
    } else {
        format!(", {:.0} min left", (seconds / 60.0).ceil())
    }
}

impl Progress for Display {
    fn expect(&self, steps: u64) {
        self.bar.inc_length(steps);
    }

    fn step(&self) {
        const EVERY: Duration = Duration::from_secs(60);
        self.bar.inc(1);
        if self.bar.is_hidden()
            && let Ok(mut last) = self.last_line.lock()
            && last.elapsed() >= EVERY
        {
            *last = Instant::now();
            let (done, all) = (self.bar.position(), self.bar.length().unwrap_or(0));
            let left = left(self.bar.elapsed(), done, all);
            eprintln!("{}: {} %{left}", self.bar.message(), 100 * done / all.max(1));
        }
    }

    fn stage(&self, text: &str) {
        self.bar.set_message(text.to_owned());
        if self.bar.is_hidden() {
            eprintln!("{text}");
        }
    }

    fn remark(&self, text: &str) {
        self.bar.suspend(|| eprintln!("note: {text}"));
    }

    fn aside(&self, something: &mut dyn FnMut()) {
        self.bar.suspend(something);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_as_long_as_the_rest_takes_at_the_mean_speed() {
        let minute = Duration::from_secs(60);
        assert_eq!(left(minute, 0, 10), "");
        assert_eq!(left(minute, 5, 10), ", 1 min left");
        assert_eq!(left(minute, 1, 100), ", 99 min left");
        assert_eq!(left(minute, 9, 10), ", 7 s left");
        assert_eq!(left(minute, 11, 10), ", 0 s left");
    }
}
