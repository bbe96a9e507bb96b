//! Child processes that end when they should, and are reaped in any case.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How often to look whether a process has ended or a file is there.
const LOOK: Duration = Duration::from_millis(20);

/// A running process whose output goes to a file. Dropped, it is killed and reaped.
pub(crate) struct Running {
    child: Child,
    name: String,
    /// Standard output and error together.
    pub(crate) output: PathBuf,
}

impl Running {
    /// Starts `command`, named `name` in messages, with its output in `output`.
    pub(crate) fn start(mut command: Command, name: &str, output: &Path) -> Result<Running, String> {
        let started = || -> io::Result<Child> {
            let file = File::create(output)?;
            let errors = file.try_clone()?;
            command.stdin(Stdio::null()).stdout(file).stderr(errors).spawn()
        }();
        let child = started.map_err(|error| format!("{name}: cannot be started: {error}"))?;
        Ok(Running { child, name: name.into(), output: output.into() })
    }

    /// Waits until it ends; says whether with success.
    ///
    /// # Errors
    /// It did not end in time, and was killed.
    pub(crate) fn finish(mut self, within: Duration) -> Result<bool, String> {
        let give_up = Instant::now() + within;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Ok(status.success()),
                Ok(None) if Instant::now() < give_up => thread::sleep(LOOK),
                Ok(None) => return Err(format!("{} did not end within {within:?}", self.name)),
                Err(error) => return Err(format!("{}: cannot be waited for: {error}", self.name)),
            }
        }
    }

    /// Waits until `ready` gives something while the process runs.
    ///
    /// # Errors
    /// It ended before, or the time is up.
    pub(crate) fn until<T>(
        &mut self,
        within: Duration,
        mut ready: impl FnMut() -> Option<T>,
    ) -> Result<T, String> {
        let give_up = Instant::now() + within;
        loop {
            if let Some(value) = ready() {
                return Ok(value);
            }
            let ended = self.child.try_wait().is_ok_and(|status| status.is_some());
            if ended || Instant::now() > give_up {
                let why = if ended { "ended" } else { "was not ready in time" };
                return Err(format!("{} {why}: {}", self.name, self.said()));
            }
            thread::sleep(LOOK);
        }
    }

    /// The last of what it printed.
    pub(crate) fn said(&self) -> String {
        let text = std::fs::read(&self.output).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(3)..].join(" / ")
    }

    /// Asks it to end, as dumpcap wants to be asked so that its file is whole.
    pub(crate) fn interrupt(&self) {
        // The standard library sends no signal but SIGKILL.
        let _ = Command::new("kill").arg("-INT").arg(self.child.id().to_string()).status();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only when it has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a tool to its end and gives what it printed on standard output, whatever its exit code.
pub(crate) fn output_of(command: &mut Command, within: Duration) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    // `timeout` bounds it and kills what does not end.
    let mut bounded = Command::new("timeout");
    bounded.arg("-k").arg("1").arg(within.as_secs().max(1).to_string()).arg(&name).args(command.get_args());
    let output = bounded.stdin(Stdio::null()).output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.code() == Some(124) {
        return Err(format!("{name} did not end within {within:?}"));
    }
    if !output.status.success() && output.stdout.is_empty() {
        return Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a tool to its end and gives what it printed, errors behind the rest, and its exit code.
pub(crate) fn output_and_code(
    command: &mut Command,
    within: Duration,
) -> Result<(String, Option<i32>), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut bounded = Command::new("timeout");
    bounded.arg("-k").arg("1").arg(within.as_secs().max(1).to_string()).arg(&name).args(command.get_args());
    let output = bounded.stdin(Stdio::null()).output().map_err(|error| format!("{name}: {error}"))?;
    let text = [output.stdout, output.stderr].concat();
    Ok((String::from_utf8_lossy(&text).into_owned(), output.status.code()))
}

/// Whether a tool is on the path.
pub(crate) fn is_installed(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(tool).is_file())
}
