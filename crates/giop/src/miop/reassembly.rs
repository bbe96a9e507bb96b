//! Packets to messages, whatever order they come in and whoever sends them.
//!
//! A receiver of multicast takes packets from everybody. What they can make it hold is bounded by [`MiopLimits`]: in
//! messages, in packets of one, in octets, and in time. Nothing is allocated but what has arrived. Where something has
//! to go, it is the oldest incomplete message: of the same sender first, so that one sender harms others last.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::time::Duration;

use super::Packet;

/// What packets may make their receiver hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MiopLimits {
    /// Largest message in octets. 1 MiB: 700 packets of an Ethernet frame each, of which none may be lost; who has more to
    /// say should say it by a connection.
    pub max_message: usize,
    /// Packets of one message. 4,096: the largest message in packets of 256 octets.
    pub max_packets: u32,
    /// Incomplete messages. 256: as many as senders that speak within [`max_age`](Self::max_age) on a busy group.
    pub max_messages: usize,
    /// Incomplete messages of one sender. 16: a sender interleaves few, if it does.
    pub max_messages_of_sender: usize,
    /// Octets held by all incomplete messages, with a charge per packet for what holding it costs. 8 MiB: eight of the
    /// largest.
    pub max_octets: usize,
    /// From a message's first packet to its last. One second: packets of a message leave back to back, and what has not
    /// come within a second was lost.
    pub max_age: Duration,
    /// Messages remembered by their id after they were complete, for as long as [`max_age`](Self::max_age), so that a
    /// packet that the network doubles makes no second message. 1,024.
    pub max_remembered: usize,
}

impl Default for MiopLimits {
    fn default() -> Self {
        Self {
            max_message: 1 << 20,
            max_packets: 4096,
            max_messages: 256,
            max_messages_of_sender: 16,
            max_octets: 8 << 20,
            max_age: Duration::from_secs(1),
            max_remembered: 1024,
        }
    }
}

/// What holding a packet costs beside its octets: its number, its place in the map, the allocation.
const PACKET_COST: usize = 64;

/// Incomplete messages, by sender and id. Times are counted from any moment that the caller chooses; they never go back.
#[derive(Debug)]
pub struct Reassembly<S> {
    limits: MiopLimits,
    incomplete: BTreeMap<Key<S>, Incomplete>,
    /// What is held by all of them.
    octets: usize,
    /// Messages that were complete.
    done: BTreeSet<Key<S>>,
    /// The same in the order in which they were completed, and when.
    done_order: VecDeque<(Duration, Key<S>)>,
    given_up: u64,
}

/// The sender of a message, and its id.
type Key<S> = (S, Box<[u8]>);

#[derive(Debug)]
struct Incomplete {
    since: Duration,
    packets: BTreeMap<u32, Box<[u8]>>,
    /// Octets of the message so far.
    octets: usize,
    of: Option<u32>,
}

impl Incomplete {
    fn cost(&self) -> usize {
        self.octets + self.packets.len() * PACKET_COST
    }
}

/// What a packet came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reassembled {
    /// Its message is complete.
    Message(Vec<u8>),
    /// More packets are needed.
    Incomplete,
    /// It came before: nothing has changed.
    Duplicate,
    /// It contradicts earlier packets of its message, or goes beyond a limit: the message is given up.
    Refused(&'static str),
}

impl<S: Ord + Clone> Reassembly<S> {
    /// Nothing yet.
    #[must_use]
    pub fn new(limits: MiopLimits) -> Self {
        Self {
            limits,
            incomplete: BTreeMap::new(),
            octets: 0,
            done: BTreeSet::new(),
            done_order: VecDeque::new(),
            given_up: 0,
        }
    }

    /// Takes a packet that came from `sender` at `now`.
    pub fn add(&mut self, sender: &S, packet: &Packet<'_>, now: Duration) -> Reassembled {
        self.expire(now);
        let key: Key<S> = (sender.clone(), packet.id.into());
        if self.done.contains(&key) {
            return Reassembled::Duplicate;
        }
        if packet.of == Some(1) && !self.incomplete.contains_key(&key) {
            if packet.data.len() > self.limits.max_message {
                self.given_up += 1;
                return Reassembled::Refused("larger than a message may be");
            }
            self.remember(key, now);
            return Reassembled::Message(packet.data.to_vec());
        }
        if packet.number.max(packet.of.unwrap_or(0).saturating_sub(1)) >= self.limits.max_packets {
            return self.refuse(&key, "more packets than a message may have");
        }
        if !self.incomplete.contains_key(&key) {
            self.make_room(sender);
        }
        let one = self.incomplete.entry(key.clone()).or_insert_with(|| Incomplete {
            since: now,
            packets: BTreeMap::new(),
            octets: 0,
            of: None,
        });
        if one.packets.contains_key(&packet.number) {
            return Reassembled::Duplicate;
        }
        let of = one.of.or(packet.of);
        let highest =
            one.packets.last_key_value().map_or(packet.number, |(&last, _)| last.max(packet.number));
        if (one.of.is_some() && packet.of.is_some() && one.of != packet.of)
            || of.is_some_and(|of| highest >= of)
        {
            return self.refuse(&key, "its packets contradict each other");
        }
        if one.octets + packet.data.len() > self.limits.max_message {
            return self.refuse(&key, "larger than a message may be");
        }
        one.of = of;
        one.octets += packet.data.len();
        one.packets.insert(packet.number, packet.data.into());
        self.octets += packet.data.len() + PACKET_COST;
        let is_complete = of.is_some_and(|of| one.packets.len() as u64 == u64::from(of));
        if !is_complete {
            self.keep_within_octets(&key);
            return Reassembled::Incomplete;
        }
        let Some(one) = self.remove(&key) else { return Reassembled::Incomplete };
        self.remember(key, now);
        let mut message = Vec::with_capacity(one.octets);
        one.packets.into_values().for_each(|data| message.extend_from_slice(&data));
        Reassembled::Message(message)
    }

    /// Gives up what is incomplete for too long, and forgets what was complete for as long.
    pub fn expire(&mut self, now: Duration) {
        let max_age = self.limits.max_age;
        let is_old = |since: Duration| now.saturating_sub(since) > max_age;
        while self.done_order.front().is_some_and(|&(since, _)| is_old(since)) {
            self.forget_oldest();
        }
        // Few are incomplete as a rule, and none mostly.
        let old: Vec<Key<S>> =
            self.incomplete.iter().filter(|(_, one)| is_old(one.since)).map(|(key, _)| key.clone()).collect();
        for key in old {
            self.give_up(&key);
        }
    }

    /// How many messages are incomplete.
    #[must_use]
    pub fn incomplete(&self) -> usize {
        self.incomplete.len()
    }

    /// Octets that incomplete messages hold, with what holding them costs.
    #[must_use]
    pub fn octets(&self) -> usize {
        self.octets
    }

    /// How many messages were given up so far: a packet was lost or refused, or there was no room.
    #[must_use]
    pub fn given_up(&self) -> u64 {
        self.given_up
    }

    fn refuse(&mut self, key: &Key<S>, why: &'static str) -> Reassembled {
        // Whether or not anything of it was held.
        self.remove(key);
        self.given_up += 1;
        Reassembled::Refused(why)
    }

    fn give_up(&mut self, key: &Key<S>) {
        if self.remove(key).is_some() {
            self.given_up += 1;
        }
    }

    fn remove(&mut self, key: &Key<S>) -> Option<Incomplete> {
        let one = self.incomplete.remove(key)?;
        self.octets -= one.cost();
        Some(one)
    }

    /// Gives up the oldest message of the sender if it has as many as it may, or the oldest of all.
    fn make_room(&mut self, sender: &S) {
        let first: Key<S> = (sender.clone(), Box::default());
        let of_sender = self.incomplete.range(first..).take_while(|((who, _), _)| who == sender);
        if of_sender.clone().count() >= self.limits.max_messages_of_sender {
            let oldest = of_sender.min_by_key(|(_, one)| one.since).map(|(key, _)| key.clone());
            oldest.iter().for_each(|key| self.give_up(key));
        } else if self.incomplete.len() >= self.limits.max_messages {
            self.give_up_oldest();
        }
    }

    fn keep_within_octets(&mut self, newest: &Key<S>) {
        while self.octets > self.limits.max_octets && self.incomplete.len() > 1 {
            self.give_up_oldest();
        }
        if self.octets > self.limits.max_octets {
            self.give_up(newest);
        }
    }

    fn give_up_oldest(&mut self) {
        let oldest = self.incomplete.iter().min_by_key(|(_, one)| one.since).map(|(key, _)| key.clone());
        oldest.iter().for_each(|key| self.give_up(key));
    }

    fn remember(&mut self, key: Key<S>, now: Duration) {
        if self.limits.max_remembered == 0 {
            return;
        }
        while self.done_order.len() >= self.limits.max_remembered {
            self.forget_oldest();
        }
        self.done.insert(key.clone());
        self.done_order.push_back((now, key));
    }

    fn forget_oldest(&mut self) {
        if let Some((_, key)) = self.done_order.pop_front() {
            self.done.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Packets;
    use super::*;

    const NOW: Duration = Duration::from_secs(5);

    fn datagrams(message: &[u8], size: usize, id: &[u8]) -> Vec<Vec<u8>> {
        let packets = Packets::new(message.len(), size, id).unwrap();
        packets.map(|(head, range)| [&head[..], &message[range]].concat()).collect()
    }

    fn message() -> Vec<u8> {
        (0..500u32).map(|n| n as u8).collect()
    }

    fn add(to: &mut Reassembly<u8>, sender: u8, datagram: &[u8], now: Duration) -> Reassembled {
        to.add(&sender, &Packet::decode(datagram).unwrap(), now)
    }

    #[test]
    fn any_order_and_doubles_make_one_message() {
        let all = datagrams(&message(), 100, b"id");
        let orders: [fn(usize, usize) -> usize; 3] =
            [|at, _| at, |at, n| n - 1 - at, |at, n| (at * 5 + 3) % n];
        assert_eq!(all.len() % 5, 2, "so that the third order takes each once");
        for order in orders {
            let mut to = Reassembly::new(MiopLimits::default());
            let mut messages = Vec::new();
            for at in 0..all.len() {
                for _ in 0..2 {
                    match add(&mut to, 1, &all[order(at, all.len())], NOW) {
                        Reassembled::Message(message) => messages.push(message),
                        Reassembled::Incomplete | Reassembled::Duplicate => {}
                        Reassembled::Refused(why) => panic!("{why}"),
                    }
                }
            }
            assert_eq!(messages, [message()]);
            assert_eq!((to.incomplete(), to.octets(), to.given_up()), (0, 0, 0));
        }
    }

    #[test]
    fn a_message_of_one_packet_comes_once_until_its_id_is_forgotten() {
        let one = &datagrams(b"hello", 100, b"id")[0];
        let mut to = Reassembly::new(MiopLimits::default());
        assert_eq!(add(&mut to, 1, one, NOW), Reassembled::Message(b"hello".into()));
        assert_eq!(add(&mut to, 1, one, NOW), Reassembled::Duplicate);
        assert_eq!(add(&mut to, 2, one, NOW), Reassembled::Message(b"hello".into()), "another sender");
        let later = NOW + Duration::from_secs(2);
        assert_eq!(add(&mut to, 1, one, later), Reassembled::Message(b"hello".into()));
    }

    #[test]
    fn senders_and_ids_are_kept_apart_and_what_lacks_a_packet_is_given_up() {
        let all = datagrams(&message(), 100, b"id");
        let mut to = Reassembly::new(MiopLimits::default());
        for datagram in &all[1..] {
            assert_eq!(add(&mut to, 1, datagram, NOW), Reassembled::Incomplete);
        }
        assert_eq!(add(&mut to, 2, &all[0], NOW), Reassembled::Incomplete);
        assert_eq!(to.incomplete(), 2);
        to.expire(NOW + Duration::from_millis(999));
        assert_eq!(to.incomplete(), 2);
        to.expire(NOW + Duration::from_millis(1001));
        assert_eq!((to.incomplete(), to.octets(), to.given_up()), (0, 0, 2));
    }

    #[test]
    fn contradictions_give_the_message_up() {
        let packet = |number, of, last| Packet { number, of, last, id: b"id", data: b"data" };
        for (first, second) in [
            (packet(0, Some(3), false), packet(1, Some(4), false)),
            (packet(5, None, false), packet(3, Some(4), true)),
            (packet(3, Some(4), true), packet(5, None, false)),
        ] {
            let mut to = Reassembly::new(MiopLimits::default());
            assert_eq!(to.add(&1, &first, NOW), Reassembled::Incomplete);
            assert!(matches!(to.add(&1, &second, NOW), Reassembled::Refused(_)), "{first:?} {second:?}");
            assert_eq!((to.incomplete(), to.octets(), to.given_up()), (0, 0, 1));
        }
    }

    #[test]
    fn limits_hold_whatever_is_sent() {
        let limits = MiopLimits {
            max_message: 1000,
            max_packets: 50,
            max_messages: 8,
            max_messages_of_sender: 3,
            max_octets: 2000,
            ..MiopLimits::default()
        };
        let mut to = Reassembly::new(limits);
        let data = [7; 100];
        for n in 0..10_000u32 {
            let id = (n / 3).to_ne_bytes();
            let of = (n % 5 == 0).then_some(n % 70 + 2);
            let number = n % 60;
            if of.is_some_and(|of| number + 1 >= of) {
                continue;
            }
            to.add(&(n % 7), &Packet { number, of, last: false, id: &id, data: &data }, NOW);
            assert!(to.incomplete() <= 8 && to.octets() <= 2000, "{} {}", to.incomplete(), to.octets());
            for sender in 0..7 {
                assert!(to.incomplete.keys().filter(|(who, _)| *who == sender).count() <= 3);
            }
        }
        assert!(to.given_up() > 100);
        let endless = Packet { number: 4_000_000, of: None, last: false, id: b"x", data: &data };
        assert!(matches!(to.add(&1, &endless, NOW), Reassembled::Refused(_)));
        let many = Packet { number: 0, of: Some(u32::MAX), last: false, id: b"y", data: &data };
        assert!(matches!(to.add(&1, &many, NOW), Reassembled::Refused(_)));
        let large = Packet { number: 0, of: Some(1), last: true, id: b"z", data: &[0; 1001] };
        assert!(matches!(to.add(&1, &large, NOW), Reassembled::Refused(_)));
        let mut to = Reassembly::new(limits);
        let mut refused = false;
        for number in 0..11 {
            let part = Packet { number, of: None, last: false, id: b"w", data: &data };
            refused |= matches!(to.add(&1, &part, NOW), Reassembled::Refused(_));
        }
        assert!(refused, "1,100 octets are more than a message may have");
    }
}
