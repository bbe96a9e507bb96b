//! What a process holds: descriptors, threads, shared segments.

use std::fmt;
use std::io;
use std::time::{Duration, Instant};

/// Counts of one process at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resources {
    pub(crate) descriptors: u32,
    pub(crate) threads: u32,
    /// Mappings of anonymous shared files (memfd).
    pub(crate) segments: u32,
}

impl Resources {
    /// Those of this process.
    pub(crate) fn now() -> io::Result<Resources> {
        let count =
            |path| io::Result::Ok(u32::try_from(std::fs::read_dir(path)?.count()).unwrap_or(u32::MAX));
        let maps = std::fs::read_to_string("/proc/self/maps")?;
        let segments = maps.lines().filter(|line| line.contains("/memfd:")).count();
        Ok(Resources {
            // The listing's own.
            descriptors: count("/proc/self/fd")?.saturating_sub(1),
            threads: count("/proc/self/task")?,
            segments: u32::try_from(segments).unwrap_or(u32::MAX),
        })
    }

    /// Whether nothing is more than in `other`.
    pub(crate) fn within(self, other: Resources) -> bool {
        self.descriptors <= other.descriptors
            && self.threads <= other.threads
            && self.segments <= other.segments
    }

    /// Both together.
    pub(crate) fn and(self, more: Resources) -> Resources {
        Resources {
            descriptors: self.descriptors + more.descriptors,
            threads: self.threads + more.threads,
            segments: self.segments + more.segments,
        }
    }

    /// The larger of each.
    pub(crate) fn most(self, other: Resources) -> Resources {
        Resources {
            descriptors: self.descriptors.max(other.descriptors),
            threads: self.threads.max(other.threads),
            segments: self.segments.max(other.segments),
        }
    }
}

/// Looks until no more is held than `bound`, or for so long; gives the last look.
pub(crate) fn settle<E>(
    bound: Resources,
    patience: Duration,
    mut look: impl FnMut() -> Result<Resources, E>,
) -> Result<Resources, E> {
    let latest = Instant::now() + patience;
    loop {
        let now = look()?;
        if now.within(bound) || Instant::now() >= latest {
            return Ok(now);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

impl fmt::Display for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Resources { descriptors, threads, segments } = self;
        write!(f, "{descriptors} descriptors, {threads} threads, {segments} segments")
    }
}
