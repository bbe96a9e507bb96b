//! Numbers of octets as the command line has them: `1000`, `64K`, `16M`, and lists with runs of powers of two.

use std::str::FromStr;

/// A number of octets, at least one, with a binary suffix if it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Octets(pub(crate) u64);

impl FromStr for Octets {
    type Err = String;

    fn from_str(text: &str) -> Result<Octets, String> {
        let (digits, unit) = match text.char_indices().last() {
            Some((at, 'k' | 'K')) => (&text[..at], 1 << 10),
            Some((at, 'm' | 'M')) => (&text[..at], 1 << 20),
            Some((at, 'g' | 'G')) => (&text[..at], 1 << 30),
            _ => (text, 1_u64),
        };
        let octets = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
        match octets {
            Some(octets @ 1..) => Ok(Octets(octets)),
            _ => Err(format!("{text:?} is no number of octets such as 1000, 64K, 16M or 1G")),
        }
    }
}

/// Sizes of buffers or arguments: `1K,4K,1M`, and `1K..16M` for the sizes that doubling leads through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Buffers(pub(crate) Vec<usize>);

/// The largest buffer: what the receiver of the bare socket makes room for.
const LARGEST: u64 = 256 << 20;

impl FromStr for Buffers {
    type Err = String;

    fn from_str(text: &str) -> Result<Buffers, String> {
        let mut sizes = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once("..").unwrap_or((part, part));
            let (first, last) = (first.parse::<Octets>()?.0, last.parse::<Octets>()?.0);
            if first > last {
                return Err(format!("{part:?} begins with the larger size"));
            }
            if last > LARGEST {
                return Err(format!("{part:?}: the largest buffer is {}M", LARGEST >> 20));
            }
            let doubled = std::iter::successors(Some(first), |size| size.checked_mul(2));
            sizes.extend(
                doubled.take_while(|&size| size <= last).filter_map(|size| usize::try_from(size).ok()),
            );
        }
        Ok(Buffers(sizes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_binary() {
        let octets = |text: &str| text.parse::<Octets>().map(|octets| octets.0);
        assert_eq!(octets("1000"), Ok(1000));
        assert_eq!(octets("64K"), Ok(65_536));
        assert_eq!(octets("16m"), Ok(16 << 20));
        assert_eq!(octets("2G"), Ok(2 << 30));
        for wrong in ["", "K", "0", "0K", "-1", "1.5M", "1T", "20000000000G", "64 K", "é"] {
            assert!(octets(wrong).unwrap_err().contains("no number of octets"), "{wrong}");
        }
    }

    #[test]
    fn lists_and_runs() {
        let sizes = |text: &str| text.parse::<Buffers>().map(|buffers| buffers.0);
        assert_eq!(sizes("1K,100,4K"), Ok(vec![1024, 100, 4096]));
        assert_eq!(sizes("1K..5K,1M"), Ok(vec![1024, 2048, 4096, 1 << 20]));
        assert_eq!(sizes("1K..16M").map(|sizes| sizes.len()), Ok(15));
        assert_eq!(sizes("4K..1K"), Err("\"4K..1K\" begins with the larger size".to_owned()));
        assert_eq!(sizes("1G"), Err("\"1G\": the largest buffer is 256M".to_owned()));
        assert!(sizes("1K,,2K").is_err());
    }
}
