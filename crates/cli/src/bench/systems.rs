//! Who can be measured, by name.

use zorb_bench::System;
use zorb_bench::orb::Zorb;
use zorb_bench::peer::Peer;
use zorb_bench::raw::Raw;
use zorb_bench::system::Local;

use crate::failure::Failure;

/// Every system of our own, the bare socket included. A further one joins here.
fn locals() -> Vec<Box<dyn Local>> {
    vec![Box::new(Zorb), Box::new(Raw)]
}

/// A system of our own.
///
/// # Errors
///
/// There is none of this name; the text lists those that there are.
pub(crate) fn local(name: &str) -> Result<Box<dyn Local>, Failure> {
    let mut known = Vec::new();
    for system in locals() {
        if system.name() == name {
            return Ok(system);
        }
        known.push(system.name());
    }
    Err(Failure::usage(format!("there is no system {name:?}; there are {}", known.join(", "))))
}

/// The peers of a list such as `omniorb,tonic`.
///
/// # Errors
///
/// There is none of one of the names; the text lists those that there are.
pub(crate) fn peers(names: &[String]) -> Result<Vec<&'static dyn System>, Failure> {
    let mut peers: Vec<&'static Peer> = Vec::new();
    for name in names {
        let peer = Peer::named(name).ok_or_else(|| {
            let known: Vec<_> = Peer::ALL.iter().map(System::name).collect();
            Failure::usage(format!("there is no peer {name:?}; there are {}", known.join(", ")))
        })?;
        if !peers.contains(&peer) {
            peers.push(peer);
        }
    }
    Ok(peers.into_iter().map(|peer| peer as &dyn System).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_have_names_of_their_own() {
        let mut names: Vec<_> = locals().iter().map(|system| system.name()).collect();
        names.extend(Peer::ALL.iter().map(System::name));
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(local("none-such").is_err_and(|error| error.to_string().ends_with("there are zorb, raw")));
    }

    #[test]
    fn a_peer_is_taken_once_and_unknown_ones_name_what_there_is() {
        let names = |text: &str| -> Vec<String> { text.split(',').map(str::to_owned).collect() };
        let found = peers(&names("tonic,omniorb,tonic")).unwrap();
        assert_eq!(found.iter().map(|peer| peer.name()).collect::<Vec<_>>(), ["tonic", "omniorb"]);
        let Err(error) = peers(&names("tonic,orbix")) else { panic!("orbix is no peer") };
        assert!(error.to_string().contains("\"orbix\"; there are omniorb, jacorb"), "{error}");
    }
}
