//! How a reader waits for the next message of a flood: oneways that come one after the other, with nothing to answer.
//!
//! A reader that sleeps is woken by the next oneway, and where it shares a processor with the sender it may have that processor at once: then
//! each message costs two switches between processes, but is taken while it lies in the caches. One that gives the processor away instead, and looks
//! when it has it again, finds a row of them. Which is faster depends on the messages' size, on the scheduler, and on whether there is a
//! processor for each; so both ways are measured now and then, by the time that so many octets take, and the faster one is used in between.
//!
//! ```text
//!  asleep │ gives way │ asleep │ gives way │ the faster one …               │ asleep │ gives way │ …
//!  ├──────── trial: a stretch each ────────┤ stretches until the next trial,
//!                                            each time twice as many
//! ```

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use super::super::connection::Connection;
use crate::transport::Received;

/// Octets of a message that is one of a flood, at most: so many that several of them are received at once. What is larger costs far more to move
/// than to be woken for.
const SMALL: usize = 260 << 10;

/// Octets of a stretch, at least: so many that the clock, and one interruption, are a small part of the time they take.
const STRETCH: usize = 1 << 20;

/// Stretches of a trial. Of each way two, the better of which counts, since a pause of the sender's or an interruption may fall into one.
const TRIAL: u32 = 4;

/// Stretches between trials, at first and at the most: then the slower way has a sixtieth of all.
const FIRST_PAUSE: u32 = 8;
const LONGEST_PAUSE: u32 = 128;

/// Of the time of the slower way, what the other one has to save: a sixteenth. Less is noise.
const SAVED: u32 = 16;

/// A way to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Asleep,
    GivesWay,
}

/// What a connection's floods have taught.
#[derive(Debug)]
pub(in crate::server) struct Flood {
    /// Small oneways have come since this was asked last.
    comes: bool,
    way: Way,
    /// When the stretch began; `None`: none has.
    since: Option<Instant>,
    /// Octets of it.
    octets: usize,
    /// Stretches of the trial left; 0: there is none.
    trial: u32,
    /// The least time for a stretch's octets in this trial, of each way.
    asleep: Duration,
    gives_way: Duration,
    /// How often a turn given away brought something in this trial, less how often it did not.
    gained: i32,
    /// Stretches until the next trial, and how many there were before the last one.
    left: u32,
    pause: u32,
}

impl Default for Flood {
    fn default() -> Self {
        Flood {
            comes: false,
            way: Way::Asleep,
            since: None,
            octets: 0,
            trial: TRIAL,
            asleep: Duration::MAX,
            gives_way: Duration::MAX,
            gained: 0,
            left: 0,
            pause: FIRST_PAUSE,
        }
    }
}

impl Flood {
    /// A oneway of so many octets has come.
    #[inline]
    pub(in crate::server) fn oneway(&mut self, octets: usize) {
        self.comes = octets <= SMALL;
    }

    /// Whether it goes on: small oneways have come since this was asked last.
    #[inline]
    pub(super) fn comes(&mut self) -> bool {
        std::mem::take(&mut self.comes)
    }

    /// Receives what comes next of it, where waits may look again before they sleep. `is_drained`: the last receive took all that there was.
    #[cold]
    #[inline(never)]
    pub(super) fn receive(
        &mut self,
        connection: &Connection,
        space: &mut [u8],
        linger: Duration,
        is_drained: bool,
    ) -> io::Result<Received> {
        if is_drained {
            self.may_end_stretch(Instant::now);
        }
        let channel = connection.channel();
        let received = match is_drained && self.way == Way::GivesWay {
            true => {
                thread::yield_now();
                match channel.receive_now(space) {
                    Ok(Received::Empty) => {
                        self.gained = self.gained.saturating_sub(1);
                        channel.receive_within(space, linger)
                    }
                    received => {
                        self.gained = self.gained.saturating_add(1);
                        received
                    }
                }
            }
            false => channel.receive_within(space, linger),
        };
        if let Ok(Received::Octets(count)) = received {
            self.octets += count;
        }
        received
    }

    /// All that was sent has been taken: a stretch may end, and the next one begin.
    fn may_end_stretch(&mut self, now: impl FnOnce() -> Instant) {
        if self.octets >= STRETCH || self.since.is_none() {
            let now = now();
            if let Some(since) = self.since.replace(now) {
                // Of as many octets as any other.
                let took = now.saturating_duration_since(since).as_nanos() * STRETCH as u128;
                self.took(Duration::from_nanos((took / self.octets as u128) as u64));
            }
            self.octets = 0;
        }
    }

    /// A stretch's octets took so long.
    fn took(&mut self, time: Duration) {
        if self.trial == 0 {
            self.left = self.left.saturating_sub(1);
            if self.left == 0 {
                (self.trial, self.gained, self.way) = (TRIAL, 0, Way::Asleep);
                (self.asleep, self.gives_way) = (Duration::MAX, Duration::MAX);
            }
            return;
        }
        let best = match self.way {
            Way::Asleep => &mut self.asleep,
            Way::GivesWay => &mut self.gives_way,
        };
        *best = time.min(*best);
        self.trial -= 1;
        self.way = match self.way {
            Way::Asleep => Way::GivesWay,
            Way::GivesWay => Way::Asleep,
        };
        if self.trial == 0 {
            // Where they are equal: who sleeps may be as fast now and slower soon, as the scheduler likes; but a turn in vain is a system call.
            let is_faster = match self.gained > 0 {
                true => self.gives_way - self.gives_way / SAVED < self.asleep,
                false => self.gives_way < self.asleep - self.asleep / SAVED,
            };
            self.way = if is_faster { Way::GivesWay } else { Way::Asleep };
            self.left = self.pause;
            self.pause = LONGEST_PAUSE.min(self.pause * 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Floods whose stretches take so many microseconds by each way: the ways of so many of them, where all that was sent is taken ten times a
    /// stretch.
    fn ways(flood: &mut Flood, stretches: usize, micros: impl Fn(usize, Way) -> u64) -> Vec<Way> {
        let (mut now, mut ways) = (flood.since.unwrap_or_else(Instant::now), Vec::new());
        flood.may_end_stretch(|| now);
        while ways.len() < stretches {
            let (way, before) = (flood.way, flood.since);
            now += Duration::from_micros(micros(ways.len(), way)) / 10;
            flood.octets += STRETCH / 10 + 1;
            flood.may_end_stretch(|| now);
            if flood.since != before {
                ways.push(way);
            }
        }
        ways
    }

    fn part(ways: &[Way], way: Way) -> usize {
        ways.iter().filter(|&&other| other == way).count() * 100 / ways.len()
    }

    #[test]
    fn the_faster_way_is_found_and_mostly_used() {
        let cases = [
            (1_000, 500, Way::GivesWay),
            (500, 1_000, Way::Asleep),
            (1_000, 980, Way::Asleep),
            (980, 1_000, Way::Asleep),
        ];
        for (asleep, gives_way, faster) in cases {
            let mut flood = Flood::default();
            let by = |_: usize, way| if way == Way::Asleep { asleep } else { gives_way };
            let ways = ways(&mut flood, 4_000, by);
            assert_eq!(ways[..4], [Way::Asleep, Way::GivesWay, Way::Asleep, Way::GivesWay]);
            assert_eq!(ways[4..12], [faster; 8], "{asleep} {gives_way}");
            assert!(part(&ways, faster) >= 97, "{asleep} {gives_way}: {} %", part(&ways, faster));
        }
    }

    #[test]
    fn of_equal_ways_turns_are_given_away_where_they_bring_something() {
        for (gained, way) in [(1, Way::GivesWay), (0, Way::Asleep)] {
            for (asleep, gives_way) in [(1_000, 980), (980, 1_000)] {
                let mut flood = Flood { gained, ..Flood::default() };
                let by = |_: usize, way| if way == Way::Asleep { asleep } else { gives_way };
                assert_eq!(ways(&mut flood, 12, by)[4..], [way; 8]);
            }
        }
    }

    #[test]
    fn a_pause_of_the_senders_does_not_decide() {
        for pause in 0..4 {
            let mut flood = Flood::default();
            let by = |stretch: usize, way| match way {
                _ if stretch == pause => 1_000_000,
                Way::Asleep => 1_000,
                Way::GivesWay => 500,
            };
            assert_eq!(ways(&mut flood, 12, by)[4..], [Way::GivesWay; 8], "{pause}");
        }
    }

    #[test]
    fn what_was_found_is_not_believed_for_ever() {
        let mut flood = Flood::default();
        let by = |stretch: usize, way| match (way, stretch < 100) {
            (Way::GivesWay, true) | (Way::Asleep, false) => 500,
            _ => 1_000,
        };
        let ways = ways(&mut flood, 4_000, by);
        assert!(part(&ways[..100], Way::GivesWay) > 80);
        assert!(part(&ways[200..], Way::Asleep) > 90);
    }

    #[test]
    fn only_small_oneways_are_a_flood() {
        let mut flood = Flood::default();
        assert!(!flood.comes());
        flood.oneway(SMALL);
        assert!(flood.comes() && !flood.comes(), "it is asked of what came since");
        flood.oneway(SMALL + 1);
        assert!(!flood.comes());
    }
}
