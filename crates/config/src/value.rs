//! Values, and how each kind of them is read from text.

use std::fmt;
use std::time::Duration;

use zorb_orb::bidirectional::Network;
use zorb_orb::transport::Spinning;
use zorb_orb::transport::shm::Shm;

use crate::endpoint;

/// The value of a setting. Its text is what an option takes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// A number of octets.
    Octets(usize),
    /// A length of time.
    Time(Duration),
    /// A number of other things.
    Count(usize),
    /// A text: one of several words, a host, a URL.
    Text(String),
    /// Several of them, in order.
    List(Vec<String>),
}

/// What values a setting has, and how they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Octets: `65536`, `64KiB`, `64K`, `1MiB`, `2GiB`.
    Octets {
        /// The smallest.
        least: usize,
        /// The largest.
        most: usize,
    },
    /// A whole number and a unit: `500ms`, `2s`, `1min`, `1h`; `us` is a millionth of a second.
    Time {
        /// The shortest.
        least: Duration,
        /// The longest.
        most: Duration,
    },
    /// A whole number.
    Count {
        /// The smallest.
        least: usize,
        /// The largest.
        most: usize,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// How waits look before they sleep: `off`, `adaptive`, or how long they spin at most, as in `50us`.
    Spinning,
    /// Octets of a ring: a power of two.
    Ring {
        /// The smallest.
        least: usize,
        /// The largest.
        most: usize,
    },
    /// How many slabs, and octets of each: `4x1MiB`, both powers of two; or `off`.
    Slabs,
    /// Buffers: `8x1MiB`, how many and octets of each.
    Buffers {
        /// How many and octets of each come to so much at most.
        most: usize,
    },
    /// A text that is not empty.
    Text,
    /// Endpoints, separated by commas, semicolons or spaces.
    Endpoints,
    /// Names of transports, separated by commas or spaces.
    Transports,
    /// `own`, `any`, or user numbers separated by commas or spaces.
    Users,
    /// `nobody`, `peer-address`, `any`, or networks such as `10.0.0.0/8` separated by commas or spaces.
    Peers,
    /// `Name=URL`, several separated by spaces; in a file a table.
    References,
}

/// Words for peers that are no networks.
const PEERS: [&str; 3] = ["nobody", "peer-address", "any"];

/// A thread that spins longer keeps a processor busy for nothing more often than not.
const LONGEST_SPIN: Duration = Duration::from_secs(1);

const UNITS: [(&str, u64); 6] = [
    ("h", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

const SIZES: [(&str, usize); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

impl Kind {
    /// Reads what an option or a variable says. References are read by [`reference`], one by one.
    pub(crate) fn read(&self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        match *self {
            Kind::Octets { least, most } => {
                let octets = octets(text)
                    .ok_or_else(|| format!("{text:?} is no number of octets such as 65536, 64KiB or 1MiB"))?;
                within(octets, least, most, Value::Octets)
            }
            Kind::Ring { least, most } => match (Kind::Octets { least, most }).read(text)? {
                Value::Octets(octets) if !octets.is_power_of_two() => {
                    Err(format!("{text:?} is no power of two"))
                }
                ring => Ok(ring),
            },
            Kind::Slabs if text.eq_ignore_ascii_case("off") => Ok(Value::Text("off".to_owned())),
            Kind::Slabs => {
                let (count, octets) = slabs(text).ok_or_else(|| {
                    format!("{text:?} is no number of slabs of so many octets, such as 4x1MiB, nor off")
                })?;
                Shm::new().slabs(count, octets).map_err(|error| format!("{text:?}: {error}"))?;
                Ok(Value::Text(slabs_text(Some((count, octets)))))
            }
            Kind::Buffers { most } => buffers(text, most).map(|(count, each)| {
                let each = Value::Octets(each);
                Value::Text(format!("{count}x{each}"))
            }),
            Kind::Spinning => {
                let spinning: Spinning = text.to_ascii_lowercase().parse()?;
                match spinning.bound() {
                    Some(longest) if longest > LONGEST_SPIN => {
                        Err(format!("{spinning} is too much: the most is {}us", LONGEST_SPIN.as_micros()))
                    }
                    _ => Ok(Value::Text(spinning.to_string())),
                }
            }
            Kind::Time { least, most } => {
                let time = time(text).ok_or_else(|| {
                    format!("{text:?} is no time: a whole number with ns, us, ms, s, min or h, as in 500ms")
                })?;
                within(time, least, most, Value::Time)
            }
            Kind::Count { least, most } => {
                let count =
                    text.parse().map_err(|_| format!("{text:?} is no whole number from {least} on"))?;
                within(count, least, most, Value::Count)
            }
            Kind::Choice(words) => match words.iter().find(|word| word.eq_ignore_ascii_case(text)) {
                Some(word) => Ok(Value::Text((*word).to_owned())),
                None => Err(format!("{text:?} is none of {}", words.join(", "))),
            },
            Kind::Text | Kind::References if text.is_empty() => Err("the text is empty".to_owned()),
            Kind::Text | Kind::References => Ok(Value::Text(text.to_owned())),
            Kind::Endpoints => self.list(text.split([',', ';', ' ', '\t', '\n'])),
            Kind::Transports | Kind::Users | Kind::Peers => self.list(text.split([',', ' ', '\t', '\n'])),
        }
    }

    /// The list of these parts, empty ones left out.
    pub(crate) fn list<'t>(&self, parts: impl Iterator<Item = &'t str>) -> Result<Value, String> {
        let mut list: Vec<String> = Vec::new();
        for part in parts.map(str::trim).filter(|part| !part.is_empty()) {
            let part = self.element(part)?;
            if list.contains(&part) {
                return Err(format!("{part:?} is named twice"));
            }
            list.push(part);
        }
        let words = list.iter().any(|part| part == "own" || part == "any");
        if *self == Kind::Users && words && list.len() > 1 {
            return Err("own and any stand alone".to_owned());
        }
        if *self == Kind::Peers && list.len() > 1 && list.iter().any(|part| PEERS.contains(&&**part)) {
            return Err("nobody, peer-address and any stand alone".to_owned());
        }
        if list.is_empty() { Err("the list is empty".to_owned()) } else { Ok(Value::List(list)) }
    }

    pub(crate) fn element(&self, part: &str) -> Result<String, String> {
        match self {
            Kind::Endpoints => endpoint::read(part),
            Kind::Users if part != "own" && part != "any" => match part.parse::<u32>() {
                Ok(user) => Ok(user.to_string()),
                Err(_) => Err(format!("{part:?} is neither own nor any nor a user's number")),
            },
            Kind::Peers if !PEERS.contains(&part) => match part.parse::<Network>() {
                Ok(network) => Ok(network.to_string()),
                Err(error) => Err(format!("{error}; there are nobody, peer-address and any, too")),
            },
            _ => Ok(part.to_owned()),
        }
    }

    /// What people may write, for tables.
    pub(crate) fn form(&self) -> String {
        match self {
            Kind::Octets { least, most: usize::MAX } => format!("octets from {}", Value::Octets(*least)),
            Kind::Octets { least, most } => {
                format!("octets, {} to {}", Value::Octets(*least), Value::Octets(*most))
            }
            Kind::Ring { least, most } => {
                format!("octets, a power of two, {} to {}", Value::Octets(*least), Value::Octets(*most))
            }
            Kind::Slabs => "off, or number and octets of each as in 4x1MiB".to_owned(),
            Kind::Buffers { most } => {
                format!("number and octets of each as in 8x1MiB, {} together at most", Value::Octets(*most))
            }
            Kind::Spinning => "off, adaptive, or microseconds as in 50us".to_owned(),
            Kind::Time { least, most } => format!("time, {} to {}", Value::Time(*least), Value::Time(*most)),
            Kind::Count { least, most: usize::MAX } => format!("number from {least}"),
            Kind::Count { least, most } => format!("number, {least} to {most}"),
            Kind::Choice(words) => words.join(", "),
            Kind::Text => "text".to_owned(),
            Kind::Endpoints => "endpoints".to_owned(),
            Kind::Transports => "names of transports".to_owned(),
            Kind::Users => "own, any, or user numbers".to_owned(),
            Kind::Peers => "nobody, peer-address, any, or networks".to_owned(),
            Kind::References => "Name=URL".to_owned(),
        }
    }
}

/// `8x1MiB` into its parts.
pub(crate) fn buffers(text: &str, most: usize) -> Result<(usize, usize), String> {
    let (count, each) = slabs(text)
        .ok_or_else(|| format!("{text:?} is no number of buffers of so many octets, such as 8x1MiB"))?;
    match count.checked_mul(each) {
        Some(0) => Err(format!("{text:?}: neither is 0")),
        Some(all) if all <= most => Ok((count, each)),
        _ => Err(format!("{text:?} is too much: the most is {} together", Value::Octets(most))),
    }
}

/// `Name=URL` into its parts.
pub(crate) fn reference(text: &str) -> Result<(String, String), String> {
    match text.trim().split_once('=') {
        Some((name, url)) if !name.trim().is_empty() && !url.trim().is_empty() => {
            Ok((name.trim().to_owned(), url.trim().to_owned()))
        }
        _ => Err(format!("{text:?} is not of the form Name=URL")),
    }
}

fn within<T: PartialOrd + Copy>(value: T, least: T, most: T, make: fn(T) -> Value) -> Result<Value, String> {
    let made = make(value);
    if value < least {
        return Err(format!("{made} is too little: the least is {}", make(least)));
    }
    if value > most {
        return Err(format!("{made} is too much: the most is {}", make(most)));
    }
    Ok(made)
}

/// Digits, and what follows them.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, text[end..].trim_start()))
}

fn octets(text: &str) -> Option<usize> {
    let (number, unit) = number(text)?;
    let number = usize::try_from(number).ok()?;
    if unit.is_empty() {
        return Some(number);
    }
    let (_, size) = SIZES.iter().find(|(name, _)| *name == unit || name[..1] == *unit)?;
    number.checked_mul(*size)
}

/// `4x1MiB` as how many, and octets of each; `None`: anything else.
pub(crate) fn slabs(text: &str) -> Option<(usize, usize)> {
    let (count, size) = text.split_once('x')?;
    Some((count.trim().parse().ok()?, octets(size.trim())?))
}

/// The other way round; none is `off`.
pub(crate) fn slabs_text(slabs: Option<(usize, usize)>) -> String {
    slabs.map_or_else(|| "off".to_owned(), |(count, octets)| format!("{count}x{}", Value::Octets(octets)))
}

fn time(text: &str) -> Option<Duration> {
    let (number, unit) = number(text)?;
    let (_, nanoseconds) = UNITS.iter().find(|(name, _)| *name == unit)?;
    number.checked_mul(*nanoseconds).map(Duration::from_nanos)
}

impl Value {
    pub(crate) fn octets(&self) -> usize {
        match self {
            Value::Octets(number) | Value::Count(number) => *number,
            _ => 0,
        }
    }

    pub(crate) fn time(&self) -> Duration {
        if let Value::Time(time) = self { *time } else { Duration::ZERO }
    }

    pub(crate) fn text(&self) -> &str {
        if let Value::Text(text) = self { text } else { "" }
    }

    pub(crate) fn list(&self) -> &[String] {
        if let Value::List(list) = self { list } else { &[] }
    }

    /// The value as a TOML file has it.
    pub fn to_toml(&self) -> String {
        match self {
            Value::Count(number) => number.to_string(),
            Value::List(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| quoted(part)).collect();
                format!("[{}]", parts.join(", "))
            }
            other => quoted(&other.to_string()),
        }
    }
}

/// A TOML basic string.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Octets(octets) => {
                match SIZES.iter().find(|(_, size)| *octets >= *size && octets % size == 0) {
                    Some((unit, size)) => write!(f, "{}{unit}", octets / size),
                    None => write!(f, "{octets}"),
                }
            }
            Value::Time(time) if time.is_zero() => f.write_str("0s"),
            Value::Time(time) => {
                let nanoseconds = time.as_nanos();
                let exact = UNITS.iter().find(|(_, unit)| nanoseconds % u128::from(*unit) == 0);
                let (unit, size) = exact.unwrap_or(&("ns", 1));
                write!(f, "{}{unit}", nanoseconds / u128::from(*size))
            }
            Value::Count(count) => write!(f, "{count}"),
            Value::Text(text) => f.write_str(text),
            Value::List(parts) => f.write_str(&parts.join(",")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        for (text, expected) in [
            ("65536", 65536),
            ("64KiB", 65536),
            ("64K", 65536),
            ("1 MiB", 1 << 20),
            ("2G", 2 << 30),
            ("0", 0),
        ] {
            assert_eq!(octets(text), Some(expected), "{text}");
        }
        for text in ["", "K", "-1", "64KB", "1.5M", "99999999999999999999", "99999999999G", "0x10", "64kib"] {
            assert_eq!(octets(text), None, "{text}");
        }
        for (text, expected) in
            [("500ms", 500_000), ("2s", 2_000_000), ("1min", 60_000_000), ("7us", 7), ("0s", 0)]
        {
            assert_eq!(time(text), Some(Duration::from_micros(expected)), "{text}");
        }
        for text in ["", "5", "s", "1.5s", "-1s", "1 day", "99999999999h"] {
            assert_eq!(time(text), None, "{text}");
        }
    }

    #[test]
    fn values_are_written_as_they_are_read() {
        for text in ["500ms", "2s", "1min", "36h", "90s", "7us", "3ns", "0s"] {
            let Some(time) = time(text) else { panic!("{text}") };
            assert_eq!(Value::Time(time).to_string(), text);
        }
        for text in ["1000", "64KiB", "1536KiB", "3GiB", "0"] {
            let Some(octets) = octets(text) else { panic!("{text}") };
            assert_eq!(Value::Octets(octets).to_string(), text);
        }
        assert_eq!(quoted("a\"\\\n"), r#""a\"\\\u000A""#);
    }
}
