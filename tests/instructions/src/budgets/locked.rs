//! Instructions that processors have to agree about: those with a `lock` before them, and exchanges with memory (x86-64). Each takes as long
//! as many others, and longer the more processors want the same memory.
//!
//! ```text
//! objdump -d          104ed4:  lock decq (%rax)          where they are in the program
//! profile             ob=(2) …/zorb-instructions
//! (--dump-instr=yes)  0x104ed4 281 1000                  how often each instruction was run
//! ```

use std::collections::HashSet;

/// Where a program's are, by what objdump prints of it.
pub(crate) fn places(disassembly: &str) -> HashSet<u64> {
    let place = |line: &str| {
        let (address, instruction) = line.trim_start().split_once(":")?;
        let instruction = instruction.trim_start();
        let is_locked =
            instruction.starts_with("lock ") || instruction.starts_with("xchg ") && instruction.contains('(');
        is_locked.then(|| u64::from_str_radix(address, 16).ok())?
    };
    disassembly.lines().filter_map(place).collect()
}

/// How many of those at `places` of the program of this name were run, by a profile that tells of each instruction; `None`: it does not.
pub(crate) fn count(profile: &str, program: &str, places: &HashSet<u64>) -> Option<u64> {
    let mut objects = HashSet::new();
    let (mut is_program, mut at, mut sum) = (false, 0, 0);
    let mut lines = profile.lines();
    lines.by_ref().find(|line| *line == "positions: instr line")?;
    while let Some(line) = lines.next() {
        if let Some((key, name)) = line.split_once('=') {
            if matches!(key, "ob" | "cob") {
                let (number, name) = name.split_once(' ').unwrap_or((name, ""));
                if name.rsplit('/').next() == Some(program) {
                    objects.insert(number);
                }
                if key == "ob" {
                    is_program = objects.contains(number);
                }
            } else if key == "calls" {
                // What the function that is called has taken; the next place may be told from its.
                at = place(lines.next()?, at)?.0;
            }
        } else if let Some((here, times)) = place(line, at) {
            at = here;
            if is_program && places.contains(&at) {
                sum += times;
            }
        }
    }
    Some(sum)
}

/// The place of a line of costs, which may be told from the one before, and the cost.
fn place(line: &str, before: u64) -> Option<(u64, u64)> {
    let mut words = line.split(' ');
    let (place, _, cost) = (words.next()?, words.next()?, words.next()?);
    let place = match place.split_at_checked(1)? {
        ("*", "") => before,
        ("+", more) => before + more.parse::<u64>().ok()?,
        ("-", less) => before.checked_sub(less.parse().ok()?)?,
        _ => u64::from_str_radix(place.strip_prefix("0x")?, 16).ok()?,
    };
    Some((place, cost.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISASSEMBLY: &str = "
0000000000104ed0 <zorb_orb::act>:
  104ed0:\tmov    (%r15),%rax
  104ed4:\tlock decq (%rax)
  104ed8:\txchg   %al,(%rdx)
  104ee0:\txchg   %ax,%ax
";

    const PROFILE: &str = "\
version: 1
positions: instr line
events: Ir
ob=(1) /lib/libc.so.6
fn=(1) memcpy
0x104ed4 7 500
ob=(2) /somewhere/zorb-instructions
fn=(2) zorb_orb::act
0x104ed0 280 10
+4 +1 10
cob=(1)
cfn=(1)
calls=10 0x104ed4
0x104ed8 282 5000
* 283 3
-4 -2 4
ob=(1)
fn=(1)
0x104ed8 7 500
totals: 6000
";

    #[test]
    fn they_are_found_in_the_program_and_counted_there_alone() {
        let places = places(DISASSEMBLY);
        assert_eq!(places, HashSet::from([0x104ed4, 0x104ed8]));
        assert_eq!(count(PROFILE, "zorb-instructions", &places), Some(10 + 3 + 4));
        assert_eq!(count(PROFILE, "another", &places), Some(0));
    }

    #[test]
    fn a_profile_of_functions_alone_says_nothing() {
        assert_eq!(count("positions: line\nfn=(1) act\n3 10\n", "zorb-instructions", &HashSet::new()), None);
    }
}
