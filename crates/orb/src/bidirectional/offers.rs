//! What clients have said of where they are, and which of it is believed.

use std::collections::HashMap;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

use zorb_ipc::{host_name, is_own_address};

use super::{Accept, BothWays, ListenPoint, Offer};
use crate::client::shared::Shared;
use crate::orb::Orb;
use crate::transport::{Endpoint, tcp};

/// Who has offered which listen point, the first one first.
#[derive(Default)]
pub(super) struct Offers(HashMap<Box<str>, Vec<Weak<Shared>>>);

impl Offers {
    /// The connection by which the point is reached: of those that stand, the one that offered it first.
    fn first(&self, point: &str) -> Option<Arc<Shared>> {
        self.0.get(point)?.iter().filter_map(Weak::upgrade).find(|shared| !shared.has_ended())
    }

    /// Adds a connection behind those that have offered it before. False: another one stands.
    fn add(&mut self, point: &str, shared: &Arc<Shared>) -> bool {
        let is_first = self.first(point).is_none();
        let all = self.0.entry(point.into()).or_default();
        if !all.iter().any(|known| std::ptr::eq(known.as_ptr(), Arc::as_ptr(shared))) {
            all.push(Arc::downgrade(shared));
        }
        is_first
    }

    fn remove(&mut self, shared: &Arc<Shared>) {
        self.0.retain(|_, all| {
            all.retain(|known| !std::ptr::eq(known.as_ptr(), Arc::as_ptr(shared)));
            !all.is_empty()
        });
    }
}

/// A listen point as endpoints and references are compared: `host:port`, `[v6]:port`, names in lower case.
pub(super) fn written(host: &str, port: u16) -> String {
    match host.parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(address @ IpAddr::V6(_)) => format!("[{address}]:{port}"),
        Ok(address) => format!("{address}:{port}"),
        Err(_) => format!("{}:{port}", host.to_ascii_lowercase()),
    }
}

impl BothWays {
    /// The connection by which a listen point is reached, if a client has offered it that was believed.
    pub(crate) fn connection_of(&self, point: &str) -> Option<Arc<Shared>> {
        self.offers.lock().first(point)
    }

    /// Takes down what a client has offered and may, and tells operators. True: something of it.
    pub(crate) fn take_down(
        &self,
        orb: &Orb,
        peer: &Endpoint,
        points: &[ListenPoint],
        shared: &dyn Fn() -> Option<Arc<Shared>>,
    ) -> bool {
        let mut any = false;
        for point in points {
            let name = written(&point.host, point.port);
            if let Err(reason) = self.judge(orb, peer, point, &name) {
                tracing::warn!(%peer, point = %name, reason, "a peer's listen point is not believed");
                continue;
            }
            let Some(shared) = shared() else { return any };
            any = true;
            match self.offers.lock().add(&name, &shared) {
                true => {
                    tracing::debug!(%peer, point = %name, "calls there go over the peer's own connection")
                }
                false => tracing::warn!(
                    %peer, point = %name,
                    "a peer's listen point is another's, as long as the connection stands that offered it first"
                ),
            }
        }
        any
    }

    /// The connection has ended: nothing is reached by it any more.
    pub(crate) fn withdraw(&self, shared: &Arc<Shared>) {
        self.offers.lock().remove(shared);
    }

    /// Why the point is not believed to be the peer's.
    fn judge(&self, orb: &Orb, peer: &Endpoint, point: &ListenPoint, name: &str) -> Result<(), &'static str> {
        if point.host.is_empty() || point.port == 0 {
            return Err("it names no address");
        }
        if is_mine(orb, point, name) {
            return Err("it is this ORB's own endpoint");
        }
        if !self.is_allowed(peer, point) {
            return Err(
                "it is not the address that the connection comes from, nor is the peer trusted with others",
            );
        }
        if orb.client().has_connection(name) {
            return Err("this ORB has a connection of its own there");
        }
        Ok(())
    }

    fn is_allowed(&self, peer: &Endpoint, point: &ListenPoint) -> bool {
        let address = address_of(peer);
        match self.settings.accepts() {
            Accept::Nobody => false,
            Accept::PeerAddress => is_of(address, &point.host),
            Accept::Peers(networks) => {
                is_of(address, &point.host) || networks.iter().any(|network| network.contains(address))
            }
            Accept::Any => true,
            Accept::If(rule) => {
                let asked = catch_unwind(AssertUnwindSafe(|| rule(&Offer { peer, point })));
                asked.unwrap_or_else(|_| {
                    tracing::error!(%peer, "the rule for listen points panicked: the point is not believed");
                    false
                })
            }
        }
    }
}

/// Where a peer's connection comes from; who comes by what does not leave the machine is on it.
fn address_of(peer: &Endpoint) -> IpAddr {
    let by_tcp = || tcp::split(&peer.address)?.0.parse::<IpAddr>().ok();
    by_tcp().map_or(IpAddr::from([127, 0, 0, 1]), |address| address.to_canonical())
}

/// Whether a peer with that address may call itself `host`.
fn is_of(address: IpAddr, host: &str) -> bool {
    match host.parse::<IpAddr>().map(|host| host.to_canonical()) {
        Ok(host) => host == address || (is_own_address(address) && is_own_address(host)),
        Err(_) => is_own_address(address) && host.eq_ignore_ascii_case(&host_name()),
    }
}

/// Whether the point is an endpoint of this ORB's, by whichever of this machine's addresses.
fn is_mine(orb: &Orb, point: &ListenPoint, name: &str) -> bool {
    let named = Endpoint { transport: "tcp".into(), address: name.into() };
    if orb.server().is_mine(&named) {
        return true;
    }
    let is_here = match point.host.parse::<IpAddr>() {
        Ok(address) => is_own_address(address.to_canonical()),
        Err(_) => {
            point.host.eq_ignore_ascii_case(&host_name()) || point.host.eq_ignore_ascii_case("localhost")
        }
    };
    let has_port = |endpoint: &Endpoint| {
        tcp::split(&endpoint.address).is_some_and(|(_, port)| port.parse() == Ok(point.port))
    };
    is_here && orb.endpoints().iter().any(has_port)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bidirectional::Bidirectional;

    fn believes(accept: Accept, peer: &str, host: &str) -> bool {
        let both = BothWays::new(Bidirectional::new().accept(accept), Vec::new());
        let (transport, address) = peer.split_once(':').unwrap();
        let peer = Endpoint { transport: transport.into(), address: address.into() };
        both.is_allowed(&peer, &ListenPoint { host: host.into(), port: 5000 })
    }

    #[test]
    fn a_peer_is_where_its_connection_comes_from() {
        let by_address = |peer, host| believes(Accept::PeerAddress, peer, host);
        assert!(by_address("tcp:203.0.113.9:40000", "203.0.113.9"));
        assert!(by_address("tcp:[2001:db8::9]:40000", "2001:db8::9"));
        assert!(by_address("tcp:203.0.113.9:40000", "::ffff:203.0.113.9"));
        assert!(!by_address("tcp:203.0.113.9:40000", "203.0.113.10"));
        assert!(!by_address("tcp:203.0.113.9:40000", "127.0.0.1"), "another machine's loopback is not ours");
        assert!(!by_address("tcp:203.0.113.9:40000", "client.example"), "names are not looked up");
        assert!(!by_address("tcp:203.0.113.9:40000", &host_name()));
    }

    #[test]
    fn who_is_on_this_machine_has_its_addresses() {
        for peer in ["tcp:127.0.0.1:40000", "unix:/run/x", "shm:/run/x"] {
            assert!(believes(Accept::PeerAddress, peer, "127.0.0.1"), "{peer}");
            assert!(believes(Accept::PeerAddress, peer, &host_name()), "{peer}");
            assert!(!believes(Accept::PeerAddress, peer, "203.0.113.10"), "{peer}");
            assert!(!believes(Accept::PeerAddress, peer, "client.example"), "{peer}");
        }
    }

    #[test]
    fn others_are_believed_by_choice() {
        let networks = || Accept::Peers(vec!["203.0.113.0/24".parse().unwrap()]);
        assert!(believes(networks(), "tcp:203.0.113.9:40000", "10.0.0.5"), "behind a translation");
        assert!(!believes(networks(), "tcp:198.51.100.1:40000", "10.0.0.5"));
        assert!(!believes(networks(), "tcp:198.51.100.1:40000", "203.0.113.9"), "it is about peers");
        assert!(believes(networks(), "tcp:198.51.100.1:40000", "198.51.100.1"));
        assert!(believes(Accept::Any, "tcp:198.51.100.1:40000", "client.example"));
        assert!(!believes(Accept::Nobody, "tcp:127.0.0.1:40000", "127.0.0.1"));
        let rule =
            Accept::If(Arc::new(|offer| offer.point.host == "client.example" && offer.point.port == 5000));
        assert!(believes(rule, "tcp:198.51.100.1:40000", "client.example"));
        let rule = Accept::If(Arc::new(|offer| offer.point.host.parse::<IpAddr>().unwrap().is_ipv4()));
        assert!(!believes(rule, "tcp:198.51.100.1:40000", "client.example"), "a rule that panics");
    }

    #[test]
    fn addresses_are_compared_in_one_form() {
        assert_eq!(written("2001:DB8:0:0::1", 9), "[2001:db8::1]:9");
        assert_eq!(written("::ffff:10.0.0.1", 9), "10.0.0.1:9");
        assert_eq!(written("Client.Example", 9), "client.example:9");
    }
}
