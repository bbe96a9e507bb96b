//! The names of what a Java process has compiled while it ran.
//!
//! A virtual machine of JDK 17 or later writes them to a file when it is asked to (`jcmd PID Compiler.perfmap`): a line for
//! each piece of code, with its address, its length, both in hexadecimal digits, and its name.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::process::{Bounds, Process};

/// How long a virtual machine may take for an answer: far longer than writing a few thousand lines takes.
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);

/// What was compiled: by its first address the one behind its last, and its name.
#[derive(Debug, Default)]
pub(super) struct Compiled(BTreeMap<u64, (u64, String)>);

impl Compiled {
    /// By a Java process whose `java` has a `jcmd` beside it; nothing is known of others. `bounds` are those of `jcmd`.
    pub(super) fn by(process: u32, bounds: &Bounds) -> Compiled {
        Compiled::asked_of(process, bounds).unwrap_or_default()
    }

    fn asked_of(process: u32, bounds: &Bounds) -> Option<Compiled> {
        let java = fs::read_link(format!("/proc/{process}/exe")).ok()?;
        let jcmd = java.file_name().filter(|name| *name == "java").map(|_| java.with_file_name("jcmd"))?;
        let mut command = Command::new(jcmd);
        command.args([&process.to_string(), "Compiler.perfmap"]);
        let mut asked =
            Process::start(command, &Bounds { lifetime: ANSWERED_WITHIN, ..bounds.clone() }).ok()?;
        // What it says does not matter, only when it has ended.
        while asked.line(ANSWERED_WITHIN, "that it is done").is_ok() {}
        // Where the process itself sees /tmp.
        let file = PathBuf::from(format!("/proc/{process}/root/tmp/perf-{process}.map"));
        let text = fs::read_to_string(&file).ok();
        // Nobody else needs it; that it cannot be removed is no reason to go without.
        let _ = fs::remove_file(&file);
        Some(Compiled::of(&text?))
    }

    fn of(text: &str) -> Compiled {
        let hex = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok();
        let line = |line: &str| {
            let (address, rest) = line.split_once(' ')?;
            let (length, name) = rest.split_once(' ')?;
            let address = hex(address)?;
            Some((address, (address.checked_add(hex(length)?)?, method(name).to_owned())))
        };
        Compiled(text.lines().filter_map(line).collect())
    }

    /// The name of what an address is in.
    pub(super) fn name(&self, address: u64) -> Option<&str> {
        let (_, (end, name)) = self.0.range(..=address).next_back()?;
        (address < *end).then_some(name)
    }
}

/// A method without its result and parameters; anything else as it is.
fn method(name: &str) -> &str {
    let before = name.split_once('(').map_or(name, |(before, _)| before);
    match before.split_once(' ') {
        Some((_, method)) if !method.is_empty() && !method.contains(' ') => method,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_in_what_begins_before_it_and_ends_behind_it() {
        let compiled = Compiled::of("0x10 0x8 void a.B.c(int)\n20 4 Interpreter\nnonsense\n0xzz 0x1 x\n");
        assert_eq!(compiled.name(0x17), Some("a.B.c"));
        assert_eq!(compiled.name(0x20), Some("Interpreter"));
        assert_eq!(method("StubRoutines (2)"), "StubRoutines (2)");
        for elsewhere in [0, 0xf, 0x18, 0x24, u64::MAX] {
            assert_eq!(compiled.name(elsewhere), None);
        }
    }

    #[test]
    fn a_process_that_is_no_java_has_compiled_nothing() {
        assert!(Compiled::by(std::process::id(), &Bounds::lifetime(ANSWERED_WITHIN)).0.is_empty());
    }
}
