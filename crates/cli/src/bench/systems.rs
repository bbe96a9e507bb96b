//! Who can be measured, by name.

use zorb_bench::orb::{Asleep, Bridged, Gathering, Over, Zorb};
use zorb_bench::peer::Peer;
use zorb_bench::raw::Raw;
use zorb_bench::system::{Local, SharedMemory, System};

use crate::failure::Failure;
use crate::sizes::Octets;

/// Every system of our own, the bare socket included. A further one joins here.
const LOCALS: &[&dyn Local] = &[&Raw::Plain, &Raw::Equal, &Raw::Framed, &Raw::Ipc, &Raw::Spinning, &Zorb];

/// A system of our own.
///
/// # Errors
///
/// There is none of this name; the text lists those that there are.
pub(crate) fn local(name: &str) -> Result<&'static dyn Local, Failure> {
    LOCALS.iter().copied().find(|system| system.name() == name).ok_or_else(|| {
        let known: Vec<_> = LOCALS.iter().map(|system| system.name()).collect();
        Failure::usage(format!("there is no system {name:?}; there are {}", known.join(", ")))
    })
}

/// Our own systems and the peers of a list such as `zorb,raw,tonic`, each once, the floor first.
///
/// # Errors
///
/// There is none of one of the names; the text lists those that there are.
pub(crate) fn versions(names: &[String]) -> Result<Vec<&'static dyn System>, Failure> {
    let mut versions: Vec<&'static dyn System> = Vec::new();
    for name in names {
        let version = version(name)?;
        if !versions.iter().any(|other| other.name() == version.name()) {
            versions.push(version);
        }
    }
    versions.sort_by_key(|version| version.name() != Raw::Plain.name());
    Ok(versions)
}

/// One of our own systems or a peer.
///
/// # Errors
///
/// There is none of this name; the text lists those that there are.
pub(crate) fn version(name: &str) -> Result<&'static dyn System, Failure> {
    let local = LOCALS.iter().map(|&local| local as &dyn System).find(|local| local.name() == name);
    let peer = || Peer::named(name).map(|peer| peer as &dyn System);
    if let Some(sizes) = name.strip_prefix(MEMORY) {
        return over_memory(name, sizes);
    }
    let manners: [&dyn System; 7] =
        [&Asleep, &Bridged, &Gathering, &Over::TCP, &Over::UNIX, &Over::LOAN, &Over::TRUSTING];
    let manner = || manners.into_iter().find(|system| system.name() == name);
    local.or_else(manner).or_else(peer).ok_or_else(|| {
        let locals = LOCALS.iter().map(|local| local.name());
        let manners = manners.iter().map(|manner| manner.name()).chain(["zorb-shm:RING"]);
        let known: Vec<_> = locals.chain(manners).chain(Peer::ALL.iter().map(System::name)).collect();
        Failure::usage(format!("there is no system {name:?}; there are {}", known.join(", ")))
    })
}

/// How the names of zorb over shared memory of other sizes begin.
const MEMORY: &str = "zorb-shm:";

/// zorb over shared memory of such sizes: `1M`, or `128K+4x1M` with slabs. It lives as long as the program, as all systems do.
fn over_memory(name: &str, sizes: &str) -> Result<&'static dyn System, Failure> {
    let octets = |text: &str| usize::try_from(text.parse::<Octets>().ok()?.0).ok();
    let memory = SharedMemory::parse(sizes, octets).map_err(Failure::usage)?;
    Ok(Box::leak(Box::new(Over::memory(name.to_owned().leak(), memory))))
}

/// What is to be measured beside zorb and the bare socket, of a list such as `omniorb,tonic`, each once.
///
/// # Errors
///
/// There is none of one of the names; the text lists those that there are.
pub(crate) fn beside_zorb(names: &[String]) -> Result<Vec<&'static dyn System>, Failure> {
    let mut versions = versions(names)?;
    versions.retain(|version| ![Raw::Plain.name(), Zorb.name()].contains(&version.name()));
    Ok(versions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_have_names_of_their_own() {
        let mut names: Vec<_> = LOCALS.iter().map(|system| system.name()).collect();
        names.extend(Peer::ALL.iter().map(System::name));
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(local("none-such").is_err_and(|error| {
            error.to_string().ends_with("there are raw, raw-equal, framed, ipc, spin, zorb")
        }));
    }

    #[test]
    fn the_floor_comes_first_and_each_version_once() {
        let found = versions(&["zorb", "tonic", "raw", "zorb"].map(str::to_owned)).unwrap();
        assert_eq!(found.iter().map(|version| version.name()).collect::<Vec<_>>(), ["raw", "zorb", "tonic"]);
        let Err(error) = versions(&["orbix".to_owned()]) else { panic!("orbix is none") };
        assert!(
            error.to_string().contains("there are raw, raw-equal, framed, ipc, spin, zorb, zorb-asleep"),
            "{error}"
        );
    }

    #[test]
    fn ways_of_zorb_go_by_names_that_say_them() {
        let names =
            ["zorb-tcp", "zorb-unix", "zorb-shm:1M", "zorb-shm:64K+4x1M", "zorb-shm:1M"].map(str::to_owned);
        let found = beside_zorb(&names).unwrap();
        assert_eq!(found.iter().map(|system| system.name()).collect::<Vec<_>>(), names[..4]);
        for wrong in ["zorb-shm:", "zorb-shm:1M+", "zorb-shm:3M", "zorb-shm:1M+3x1M"] {
            assert!(version(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn zorb_and_the_floor_are_not_beside_themselves() {
        let found = beside_zorb(&["tonic", "zorb", "raw", "ipc", "tonic"].map(str::to_owned)).unwrap();
        assert_eq!(found.iter().map(|peer| peer.name()).collect::<Vec<_>>(), ["tonic", "ipc"]);
    }
}
