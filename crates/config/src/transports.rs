//! The settings of transports. Text changes what the program registered and registers none: a program decides whether oneways may
//! be lost. A setting makes a copy of the transport that is registered, tells it what the text says, and puts it in the other's place: all else
//! stays as the program chose it, also what no text can say. What it was told before it says itself
//! ([`properties`](zorb_orb::transport::Transport::properties)).

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use zorb_orb::OrbBuilder;
use zorb_orb::orb::Chosen;
use zorb_orb::transport::datagram::DatagramLimits;
use zorb_orb::transport::miop::{Miop, MiopLimits};
use zorb_orb::transport::shm::Shm;
use zorb_orb::transport::tcp::Tcp;
use zorb_orb::transport::udp::Udp;
use zorb_orb::transport::unix::{Unix, Users};
use zorb_orb::transport::{Spinning, Transport};

use crate::value::{Kind, Value, slabs};

/// What a transport was told beyond its defaults, by name.
struct Told(BTreeMap<&'static str, String>);

impl Told {
    fn of(chosen: &Chosen, transport: &str) -> Told {
        let transport = chosen.transports.iter().find(|it| it.name == transport);
        Told(transport.map(|it| it.properties.iter().cloned().collect()).unwrap_or_default())
    }

    fn number<N: TryFrom<usize>>(&self, name: &str, usual: N) -> N {
        let told = self.0.get(name).and_then(|text| text.parse::<usize>().ok());
        told.and_then(|number| N::try_from(number).ok()).unwrap_or(usual)
    }

    /// A number, if one was told.
    fn told<N: TryFrom<usize>>(&self, name: &str) -> Option<N> {
        self.0.get(name)?.parse::<usize>().ok().and_then(|number| N::try_from(number).ok())
    }

    fn time(&self, name: &str) -> Option<Duration> {
        let whole = Kind::Time { least: Duration::ZERO, most: Duration::MAX };
        self.0.get(name).and_then(|text| whole.read(text).ok()).map(|value| value.time())
    }

    fn users(&self) -> Users {
        match self.0.get("users").map(String::as_str) {
            None | Some("own") => Users::Own,
            Some("any") => Users::Any,
            Some(numbers) => Users::These(numbers.split(',').filter_map(|it| it.parse().ok()).collect()),
        }
    }

    fn tcp(&self, mut tcp: Tcp) -> Tcp {
        if let Some(octets) = self.told("queues") {
            tcp = tcp.queues(octets);
        }
        if let Some(word) = self.0.get("no_delay") {
            tcp = tcp.no_delay(word == "yes");
        }
        if let Some(name) = self.0.get("congestion_control") {
            tcp = tcp.congestion_control(name);
        }
        if let Some(name) = self.0.get("loopback_congestion_control") {
            tcp = tcp.loopback_congestion_control((name != "system").then(|| name.clone()));
        }
        if let Some(octets) = self.told("loopback_window") {
            tcp = tcp.loopback_window(Some(octets));
        }
        if let Some(time) = self.time("busy_poll") {
            tcp = tcp.busy_poll(time);
        }
        if let Some(rate) = self.told("peak_rate") {
            tcp = tcp.peak_rate(rate);
        }
        tcp
    }

    fn unix(&self, unix: Unix) -> Unix {
        let unix = unix.users(self.users());
        match self.told("queues") {
            Some(octets) => unix.queues(octets),
            None => unix,
        }
    }

    fn shm(&self, shm: Shm) -> Shm {
        // Numbers that shared memory does not take were refused when they were read.
        let shm = match self.0.get("slabs").map(|text| slabs(text)) {
            None => shm,
            Some(None) => shm.without_slabs(),
            Some(Some((count, octets))) => shm.slabs(count, octets).unwrap_or_default(),
        };
        let mut shm = match self.told("ring") {
            Some(octets) => shm.ring(octets).unwrap_or_default(),
            None => shm,
        };
        shm = shm.users(self.users());
        if let Some(octets) = self.told("loans") {
            shm = shm.loans(octets);
        }
        if let Some(octets) = self.told("largest_loans") {
            shm = shm.largest_loans(octets);
        }
        if let Some(spinning) = self.0.get("spinning").and_then(|text| text.parse::<Spinning>().ok()) {
            shm = shm.spinning(spinning);
        }
        shm
    }

    fn limits(&self) -> DatagramLimits {
        let mut limits = DatagramLimits::default();
        limits.per_second = self.number("per_second", limits.per_second);
        limits.burst = self.number("burst", limits.burst);
        limits.senders = self.number("senders", limits.senders);
        limits.octets_of_sender = self.number("octets_of_sender", limits.octets_of_sender);
        limits
    }

    fn udp(&self, udp: Udp) -> Udp {
        let mut udp = udp.limits(self.limits());
        if let Some(octets) = self.told("largest_message") {
            udp = udp.largest_message(octets);
        }
        if let Some(octets) = self.told("queues") {
            udp = udp.queues(octets);
        }
        if let Some(time) = self.time("busy_poll") {
            udp = udp.busy_poll(time);
        }
        if let Some(priority) = self.told("priority") {
            udp = udp.priority(priority);
        }
        udp
    }

    fn miop(&self, miop: Miop) -> Miop {
        let mut limits = MiopLimits::default();
        limits.max_message = self.number("max_message", limits.max_message);
        limits.max_packets = self.number("max_packets", limits.max_packets);
        limits.max_messages = self.number("max_messages", limits.max_messages);
        limits.max_messages_of_sender = self.number("max_messages_of_sender", limits.max_messages_of_sender);
        limits.max_octets = self.number("max_octets", limits.max_octets);
        limits.max_remembered = self.number("max_remembered", limits.max_remembered);
        if let Some(age) = self.time("max_age") {
            limits.max_age = age;
        }
        let mut miop = miop.limits(self.limits()).reassembly_limits(limits);
        if let Some(interface) = self.0.get("interface") {
            miop = miop.interface(interface);
        }
        if self.0.contains_key("hops") {
            miop = miop.hops(self.number("hops", 1));
        }
        miop = miop.loopback(!self.0.contains_key("loopback"));
        if self.0.contains_key("packet_size") {
            miop = miop.packet_size(self.number("packet_size", 1472));
        }
        if let Some(octets) = self.told("queues") {
            miop = miop.queues(octets);
        }
        if self.0.contains_key("largest_message") {
            miop = miop.largest_message(self.number("largest_message", 1 << 16));
        }
        miop
    }
}

/// What a transport was told, as a value of that kind; `None`: nothing.
pub(crate) fn told(chosen: &Chosen, transport: &str, name: &str, kind: &Kind) -> Option<Value> {
    let text = Told::of(chosen, transport).0.remove(name)?;
    kind.read(&text).ok()
}

/// The builder with the transport told so, where it has that transport.
pub(crate) fn tell(builder: OrbBuilder, transport: &str, name: &'static str, value: &Value) -> OrbBuilder {
    let Some(registered) = builder.registered_transport(transport).cloned() else { return builder };
    let mut told = Told::of(&builder.chosen(), transport);
    let text = match value {
        Value::Octets(number) | Value::Count(number) => number.to_string(),
        Value::Time(time) => format!("{}ns", time.as_nanos()),
        other => other.to_string(),
    };
    // What says nothing is not told.
    match (name, text.as_str()) {
        ("loopback", "yes") | ("users", "own") => told.0.remove(name),
        _ => told.0.insert(name, text),
    };
    let it = &*registered as &dyn Any;
    let again: Arc<dyn Transport> = if let Some(tcp) = it.downcast_ref::<Tcp>() {
        Arc::new(told.tcp(tcp.clone()))
    } else if let Some(unix) = it.downcast_ref::<Unix>() {
        Arc::new(told.unix(unix.clone()))
    } else if let Some(shm) = it.downcast_ref::<Shm>() {
        Arc::new(told.shm(shm.clone()))
    } else if let Some(udp) = it.downcast_ref::<Udp>() {
        Arc::new(told.udp(udp.clone()))
    } else if let Some(miop) = it.downcast_ref::<Miop>() {
        Arc::new(told.miop(miop.clone()))
    } else {
        // One of the program's own under that name.
        return builder;
    };
    builder.replace_transport(again)
}
