//! What processes have spent of the processors, seen from outside: the same way for every system.
//!
//! The kernel counts nanoseconds for each thread (`/proc/PID/task/TID/schedstat`), which are exact while no thread
//! ends, and hundredths of a second for a whole process (`/proc/PID/stat`), ended threads included. What is added up
//! are the nanoseconds, and the hundredths only where a thread is missing at the second look.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The kernel shows processes' times in hundredths of a second, whatever its own tick is (time(7), `USER_HZ`).
const TICK: Duration = Duration::from_millis(10);

/// What a process and those that it has started have spent until now.
#[derive(Debug, Clone)]
pub struct Spent {
    /// By process and thread.
    threads: BTreeMap<(u32, u32), Duration>,
    whole: Duration,
}

impl Spent {
    /// Until now. `None` if there is no such process, or the system does not show it.
    pub fn of(process: u32) -> Option<Spent> {
        let mut spent = Spent { threads: BTreeMap::new(), whole: Duration::ZERO };
        for process in family(process) {
            let tasks = fs::read_dir(format!("/proc/{process}/task")).ok()?;
            for task in tasks.flatten() {
                let thread = task.file_name().to_str()?.parse().ok()?;
                // A thread may end between being listed and being read.
                let schedstat = fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
                if let Some(nanoseconds) = schedstat.split(' ').next().and_then(|word| word.parse().ok()) {
                    spent.threads.insert((process, thread), Duration::from_nanos(nanoseconds));
                }
            }
            spent.whole += whole(&fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default());
        }
        Some(spent)
    }

    /// What was spent since an earlier look at the same process.
    pub fn since(&self, earlier: &Spent) -> Duration {
        let exact = !self.threads.is_empty()
            && earlier.threads.keys().all(|thread| self.threads.contains_key(thread));
        match exact {
            true => self.sum().saturating_sub(earlier.sum()),
            false => self.whole.saturating_sub(earlier.whole),
        }
    }

    fn sum(&self) -> Duration {
        self.threads.values().sum()
    }
}

/// A process, those that it has started, and so on, as far as they live.
pub fn family(process: u32) -> Vec<u32> {
    let mut family = vec![process];
    let mut at = 0;
    while let Some(process) = family.get(at) {
        let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
        let children = tasks.map(|task| fs::read_to_string(task.path().join("children")).unwrap_or_default());
        let children: Vec<_> = children.collect();
        family.extend(
            children
                .iter()
                .flat_map(|all| all.split_ascii_whitespace().filter_map(|one| one.parse::<u32>().ok())),
        );
        at += 1;
    }
    family
}

/// What this process has spent until now, ended threads included and children not.
pub fn own() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// User's and system's time of a process, from its line in `/proc` (proc_pid_stat(5), fields 14 and 15).
fn whole(stat: &str) -> Duration {
    // The command's name, in parentheses, may hold anything.
    let after_name = stat.rsplit(") ").next().unwrap_or_default();
    let ticks: u32 = after_name.split(' ').skip(11).take(2).filter_map(|word| word.parse::<u32>().ok()).sum();
    TICK * ticks
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    /// Reads what `process` has spent until that is at least `much`.
    fn wait_for(process: u32, earlier: &Spent, much: Duration) -> Spent {
        loop {
            let now = Spent::of(process).unwrap();
            if now.since(earlier) >= much {
                return now;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_child_of_the_process_is_counted_and_sleeping_is_not() {
        let mut sleeping = Command::new("sleep").arg("60").spawn().unwrap();
        let script = "while :; do :; done & echo; wait";
        let mut busy = Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
        let start = Spent::of(busy.id()).unwrap();
        let asleep = Spent::of(sleeping.id()).unwrap();
        let later = wait_for(busy.id(), &start, Duration::from_millis(30));
        assert!(later.threads.keys().any(|(process, _)| *process != busy.id()), "{later:?}");
        let slept = Spent::of(sleeping.id()).unwrap().since(&asleep);
        assert!(slept < later.since(&start), "{slept:?}");
        let child = later.threads.keys().map(|(process, _)| *process).find(|&process| process != busy.id());
        Command::new("kill").arg(child.unwrap().to_string()).status().unwrap();
        busy.wait().unwrap();
        sleeping.kill().unwrap();
        sleeping.wait().unwrap();
        assert!(Spent::of(busy.id()).is_none());
    }

    #[test]
    fn a_thread_that_has_ended_is_not_lost() {
        let thread = |nanoseconds| ((7, 7), Duration::from_nanos(nanoseconds));
        let ended = ((7, 8), Duration::from_millis(500));
        let earlier = Spent { threads: [thread(100), ended].into(), whole: Duration::from_millis(500) };
        let later = Spent { threads: [thread(250)].into(), whole: Duration::from_millis(700) };
        assert_eq!(later.since(&earlier), Duration::from_millis(200));
        let all_there = Spent { threads: [thread(250), ended].into(), whole: Duration::from_millis(700) };
        assert_eq!(all_there.since(&earlier), Duration::from_nanos(150));
    }

    #[test]
    fn a_line_with_a_wicked_name_is_read() {
        let line = "42 (a) b) R 1 42 42 0 -1 4194304 120 0 0 0 7 5 0 0 20 0 1 0 9 10 11";
        assert_eq!(whole(line), Duration::from_millis(120));
        assert_eq!(whole(""), Duration::ZERO);
    }

    #[test]
    fn own_time_passes_while_this_works() {
        let before = own();
        let mut sum = 0_u64;
        while own() == before {
            sum = std::hint::black_box(sum + 1);
        }
    }
}
