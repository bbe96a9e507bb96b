//! The choice, and its text.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// How one end of a channel looks for a change before it sleeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spinning(How);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum How {
    None,
    Bounded(Duration),
    #[default]
    Adaptive,
}

impl Spinning {
    /// Sleeps at once.
    pub const fn none() -> Self {
        Self(How::None)
    }

    /// Spins so long in each wait, at the most (and never beyond the wait's deadline).
    pub const fn bounded(longest: Duration) -> Self {
        Self(How::Bounded(longest))
    }

    /// Learns what pays. After eight waits that were short it tries to spin, and if that fails to give the processor away, which pays where
    /// the other side shares it and does the same; while most of that brings what was waited for it goes on. Otherwise it sleeps at
    /// once, and tries again after a number of short waits that grows each time, to two thousand. Long waits lead to no trial,
    /// so that a channel with a call now and then never spins.
    pub const fn adaptive() -> Self {
        Self(How::Adaptive)
    }

    pub(super) fn how(self) -> How {
        self.0
    }

    /// The bound, if it is one; zero of none.
    pub const fn bound(self) -> Option<Duration> {
        match self.0 {
            How::None => Some(Duration::ZERO),
            How::Bounded(longest) => Some(longest),
            How::Adaptive => None,
        }
    }
}

impl fmt::Display for Spinning {
    /// As [`from_str`](FromStr::from_str) reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            How::None => f.write_str("off"),
            How::Adaptive => f.write_str("adaptive"),
            How::Bounded(longest) => write!(f, "{}us", longest.as_micros()),
        }
    }
}

impl FromStr for Spinning {
    type Err = String;

    /// `off`, `adaptive`, or how long to spin at most in microseconds: `50`, `50us`.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "off" => Ok(Self::none()),
            "adaptive" => Ok(Self::adaptive()),
            bound => match bound.strip_suffix("us").unwrap_or(bound).parse() {
                Ok(0) => Ok(Self::none()),
                Ok(longest) => Ok(Self::bounded(Duration::from_micros(longest))),
                Err(_) => Err(format!("{text:?} is neither off nor adaptive nor microseconds such as 50us")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_they_are_written() {
        for text in ["off", "adaptive", "50us", "1000000us"] {
            assert_eq!(text.parse::<Spinning>().unwrap().to_string(), text);
        }
        assert_eq!("7".parse(), Ok(Spinning::bounded(Duration::from_micros(7))));
        assert_eq!("0".parse(), Ok(Spinning::none()));
        assert_eq!(Spinning::none().bound(), Some(Duration::ZERO));
        assert_eq!(Spinning::bounded(Duration::MAX).bound(), Some(Duration::MAX));
        assert_eq!(Spinning::adaptive().bound(), None);
        for text in ["", "us", "-1", "5ms", "on"] {
            assert!(text.parse::<Spinning>().unwrap_err().contains("50us"), "{text}");
        }
    }
}
