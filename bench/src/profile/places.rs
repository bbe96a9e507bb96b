//! Where an address without a name lies: in which file that a process has mapped, or in none.
//!
//! Libraries are installed without the names of their internal functions. Among those of the C library are the copying
//! functions, of which it chooses one for the processor at hand; that one is found by where this very process calls it.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What an address is called that is in no code.
pub(super) const NO_CODE: &str = "no known code";

/// What a process has mapped that can be executed.
pub(super) struct Places {
    mappings: Vec<Mapping>,
}

struct Mapping {
    addresses: Range<u64>,
    /// Where in the file it begins.
    offset: u64,
    /// Empty if there is no file.
    file: PathBuf,
}

impl Places {
    /// Of a living process; of others there are none.
    pub(super) fn of(process: u32) -> Places {
        let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
        Places { mappings: maps.lines().filter_map(mapping).collect() }
    }

    /// What to call an address that no symbol names.
    pub(super) fn name(&self, address: u64) -> String {
        let Some((file, offset)) = self.file(address) else { return NO_CODE.to_owned() };
        let copies = own_copies().iter();
        let copy = copies
            .filter(|copy| copy.file == file)
            .find(|copy| offset.checked_sub(copy.offset).is_some_and(|within| within < copy.octets));
        match (copy, file.file_name()) {
            (Some(copy), _) => copy.name.to_owned(),
            (None, Some(name)) => format!("no name, in {}", name.to_string_lossy()),
            (None, None) => "compiled at run time".to_owned(),
        }
    }

    fn file(&self, address: u64) -> Option<(&Path, u64)> {
        let mapping = self.mappings.iter().find(|mapping| mapping.addresses.contains(&address))?;
        Some((&mapping.file, address - mapping.addresses.start + mapping.offset))
    }
}

/// A copying function of the C library.
struct Copy {
    name: &'static str,
    file: PathBuf,
    offset: u64,
    /// About as many as its code has: those that glibc chooses on x86-64 have 2,090 (`memmove`, which is `memcpy` too) and 364
    /// (`memset`), and what follows is another function's.
    octets: u64,
}

/// Those that this process calls.
fn own_copies() -> &'static [Copy] {
    static COPIES: OnceLock<Vec<Copy>> = OnceLock::new();
    COPIES.get_or_init(|| {
        let places = Places::of(std::process::id());
        let functions = [
            ("memcpy", libc::memcpy as *const () as u64, 2_090),
            ("memmove", libc::memmove as *const () as u64, 2_090),
            ("memset", libc::memset as *const () as u64, 364),
        ];
        let found = functions.into_iter().filter_map(|(name, address, octets)| {
            let (file, offset) = places.file(address)?;
            Some(Copy { name, file: file.to_owned(), offset, octets })
        });
        found.collect()
    })
}

/// A line of `/proc/PID/maps` (proc_pid_maps(5)), if it is of code.
fn mapping(line: &str) -> Option<Mapping> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let hex = |text| u64::from_str_radix(text, 16).ok();
    words.next().filter(|permissions| permissions.contains('x'))?;
    let offset = hex(words.next()?)?;
    // Device and inode; the rest is the name, which may have spaces within.
    let file = line.splitn(6, ' ').nth(5).unwrap_or_default().trim();
    Some(Mapping { addresses: hex(start)?..hex(end)?, offset, file: file.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_in_files_or_not() {
        let lines = "\
55d0c0000000-55d0c0100000 r--p 00000000 fe:01 42                         /usr/bin/peer
55d0c0100000-55d0c0200000 r-xp 00100000 fe:01 42                         /usr/bin/peer of mine
7f0000000000-7f0000001000 rwxp 00000000 00:00 0
7ffc00000000-7ffc00001000 r-xp 00000000 00:00 0                          [vdso]";
        let places = Places { mappings: lines.lines().filter_map(mapping).collect() };
        assert_eq!(places.name(0x55d0_c010_0010), "no name, in peer of mine");
        assert_eq!(places.file(0x55d0_c010_0010).unwrap().1, 0x10_0010);
        assert_eq!(places.name(0x7f00_0000_0010), "compiled at run time");
        assert_eq!(places.name(0x7ffc_0000_0010), "no name, in [vdso]");
        for elsewhere in [0x55d0_c000_0010, 0x55d0_c020_0000, 0] {
            assert_eq!(places.name(elsewhere), "no known code");
        }
    }

    #[test]
    fn the_copying_functions_in_use_are_known_by_their_place() {
        let own = Places::of(std::process::id());
        assert_eq!(own.name(libc::memset as *const () as u64 + 16), "memset");
        assert!(["memcpy", "memmove"].contains(&own.name(libc::memmove as *const () as u64).as_str()));
    }
}
