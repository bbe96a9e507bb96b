//! The settings of the transports with datagrams. Text changes what the program registered and registers none: a program decides
//! whether oneways may be lost.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use zorb_orb::OrbBuilder;
use zorb_orb::orb::Chosen;
use zorb_orb::transport::datagram::DatagramLimits;
use zorb_orb::transport::miop::{Miop, MiopLimits};
use zorb_orb::transport::udp::Udp;

use crate::value::{Kind, Value};

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

    fn limits(&self) -> DatagramLimits {
        let mut limits = DatagramLimits::default();
        limits.per_second = self.number("per_second", limits.per_second);
        limits.burst = self.number("burst", limits.burst);
        limits.senders = self.number("senders", limits.senders);
        limits.octets_of_sender = self.number("octets_of_sender", limits.octets_of_sender);
        limits
    }

    fn udp(&self) -> Udp {
        Udp::new().largest_message(self.number("largest_message", usize::MAX)).limits(self.limits())
    }

    fn miop(&self) -> Miop {
        let mut limits = MiopLimits::default();
        limits.max_message = self.number("max_message", limits.max_message);
        limits.max_packets = self.number("max_packets", limits.max_packets);
        limits.max_messages = self.number("max_messages", limits.max_messages);
        limits.max_messages_of_sender = self.number("max_messages_of_sender", limits.max_messages_of_sender);
        limits.max_octets = self.number("max_octets", limits.max_octets);
        limits.max_remembered = self.number("max_remembered", limits.max_remembered);
        if let Some(age) = self.0.get("max_age").and_then(|text| text.strip_suffix("ns")?.parse().ok()) {
            limits.max_age = Duration::from_nanos(age);
        }
        let mut miop = Miop::new().limits(self.limits()).reassembly_limits(limits);
        if let Some(interface) = self.0.get("interface") {
            miop = miop.interface(interface);
        }
        if self.0.contains_key("hops") {
            miop = miop.hops(self.number("hops", 1));
        }
        if self.0.contains_key("loopback") {
            miop = miop.loopback(false);
        }
        if self.0.contains_key("packet_size") {
            miop = miop.packet_size(self.number("packet_size", 1472));
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
    let chosen = builder.chosen();
    if !chosen.transports.iter().any(|it| it.name == transport) {
        return builder;
    }
    let mut told = Told::of(&chosen, transport);
    let text = match value {
        Value::Octets(number) | Value::Count(number) => number.to_string(),
        Value::Time(time) => format!("{}ns", time.as_nanos()),
        other => other.to_string(),
    };
    // What says nothing is not told.
    match (name, text.as_str()) {
        ("loopback", "yes") => told.0.remove(name),
        _ => told.0.insert(name, text),
    };
    match transport {
        "udp" => builder.replace_transport(Arc::new(told.udp())),
        _ => builder.replace_transport(Arc::new(told.miop())),
    }
}
