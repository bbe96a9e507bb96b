//! Requests of one connection that are under way, and the octets that they hold: one number, since both change together.

use std::sync::atomic::{AtomicU64, Ordering};

use super::settings::ServerLimits;

/// Octets stand in the lower 40 bits (a TiB), requests above them.
const REQUEST: u64 = 1 << 40;

/// A count of requests and their octets.
#[derive(Default)]
pub(super) struct Flight(AtomicU64);

impl Flight {
    /// One more. False: it goes beyond a limit.
    #[inline]
    pub(super) fn add(&self, octets: usize, limits: &ServerLimits) -> bool {
        let before = self.0.fetch_add(REQUEST + octets as u64, Ordering::Relaxed);
        let (requests, held) = parts(before);
        requests < limits.requests_per_connection
            && held.saturating_add(octets) <= limits.octets_per_connection
    }

    /// Another request in the place of one. False: it goes beyond a limit.
    #[inline]
    pub(super) fn exchange(&self, before: usize, octets: usize, limits: &ServerLimits) -> bool {
        if before == octets {
            return true;
        }
        // In one step: in between nothing would be under way, which is when a connection that closes says its farewell.
        let more = (octets as u64).wrapping_sub(before as u64);
        let (requests, held) = parts(self.0.fetch_add(more, Ordering::Relaxed).wrapping_add(more));
        requests <= limits.requests_per_connection && held <= limits.octets_per_connection
    }

    /// One less. True: none is left.
    #[inline]
    pub(super) fn remove(&self, octets: usize) -> bool {
        let gone = REQUEST + octets as u64;
        self.0.fetch_sub(gone, Ordering::SeqCst) == gone
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.load(Ordering::SeqCst) == 0
    }

    /// Whether at least half of every limit is free: so much is wanted before reading goes on, lest it stops again at once.
    pub(super) fn has_room(&self, limits: &ServerLimits) -> bool {
        let (requests, octets) = parts(self.0.load(Ordering::SeqCst));
        requests <= limits.requests_per_connection / 2 && octets <= limits.octets_per_connection / 2
    }
}

fn parts(flight: u64) -> (usize, usize) {
    let part = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    (part(flight / REQUEST), part(flight % REQUEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_request_takes_the_place_of_another() {
        let limits =
            ServerLimits { requests_per_connection: 2, octets_per_connection: 100, ..Default::default() };
        let flight = Flight::default();
        assert!(flight.add(60, &limits) && flight.add(30, &limits));
        assert!(flight.exchange(30, 40, &limits) && flight.exchange(60, 60, &limits));
        assert!(!flight.exchange(40, 41, &limits), "octets");
        assert!(flight.exchange(60, 1, &limits));
        assert!(!flight.remove(41));
        assert!(flight.remove(1));
    }

    #[test]
    fn counts_requests_and_octets_apart() {
        let limits =
            ServerLimits { requests_per_connection: 2, octets_per_connection: 100, ..Default::default() };
        let flight = Flight::default();
        assert!(flight.add(60, &limits));
        assert!(!flight.add(60, &limits), "octets");
        assert!(!flight.add(0, &limits), "requests");
        assert!(!flight.has_room(&limits));
        assert!(!flight.remove(60));
        assert!(!flight.remove(60));
        assert!(flight.has_room(&limits));
        assert!(flight.remove(0));
        assert!(flight.is_empty());
    }
}
