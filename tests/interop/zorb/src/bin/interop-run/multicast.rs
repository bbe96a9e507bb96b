//! MIOP: a group with an object of zorb's and one of JacORB's. What either ORB tells the group reaches both.

use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use zorb::transport::miop::Miop;
use zorb::{Interface, Kind, Orb, SystemException};
use zorb_interop::every::interop::Every;
use zorb_interop::servants::EveryServant;

use super::Verdict;
use super::peers::{Peer, Workshop};
use super::process::Running;

/// A JVM on a busy machine takes several seconds to its first line.
const START: Duration = Duration::from_secs(60);

/// What was sent arrives at once, or never.
const ARRIVAL: Duration = Duration::from_secs(10);

/// A text that takes several packets.
const LONG: usize = 5000;

/// Runs a server of JacORB's in the group, an object of zorb's beside it, and a client of each.
pub(crate) fn reaches_both(workshop: &Workshop) -> Verdict {
    if let Some(missing) = workshop.missing(Peer::Jacorb) {
        return Verdict::Missing(missing);
    }
    match both_ways(workshop) {
        Ok(Some(facts)) => Verdict::Passed(facts),
        Ok(None) => Verdict::Missing("this machine has no route for multicast".into()),
        Err(error) => Verdict::Failed(vec![error]),
    }
}

fn both_ways(workshop: &Workshop) -> Result<Option<String>, String> {
    let said = |error: SystemException| error.to_string();
    let process = std::process::id();
    // Below 32,768: JacORB takes ports for signed.
    let address = format!("239.255.{}.{}:{}", process >> 8 & 0xff, process & 0xff, 20_000 + process % 10_000);
    let group = format!("corbaloc:miop:1.0@1.0-zorb.interop-{process}/{address}");

    let builder = Orb::builder().transport(Arc::new(Miop::new())).listen("tcp:127.0.0.1:0").listen("miop:");
    let orb = builder.build();
    let root = orb.root_poa().map_err(said)?;
    root.manager().activate().map_err(|error| error.to_string())?;
    let servant = EveryServant::new(&orb, Orb::builder()).map_err(|error| error.to_string())?;
    let ours = root.activate::<Every>(Arc::new(servant)).map_err(|error| error.to_string())?;
    let reference = orb.string_to_object(&group).map_err(said)?.ok_or("the group is nil")?;
    if orb.join_group(&reference, ours.as_object()).is_err_and(|error| error.kind == Kind::Initialize) {
        return Ok(None);
    }
    let everyone = Every::from_object(reference);

    let file = workshop.scratch.join("multicast.ior");
    let mut command = Command::new(workshop.program(Peer::Jacorb, "server"));
    command.arg("--ior-file").arg(&file).args(["--group", &group]);
    let output = workshop.scratch.join("multicast.server");
    let mut server = Running::start(command, "the jacorb server", &output)?;
    let ior = server.until(START, || fs::read_to_string(&file).ok().filter(|text| !text.is_empty()))?;
    let theirs = orb.string_to_object(&ior).map_err(said)?.ok_or("the server's reference is nil")?;
    let theirs = Every::from_object(theirs);

    if let Err(error) = everyone.note(1) {
        return if error.detail().contains("unreachable") { Ok(None) } else { Err(said(error)) };
    }
    (2..=20).try_for_each(|number| everyone.note(number)).map_err(said)?;
    everyone.note_all(&[-1, -2], &"x".repeat(LONG)).map_err(said)?;
    arrive("zorb", &ours, &theirs)?;

    let mut command = Command::new(workshop.program(Peer::Jacorb, "multicast"));
    command.args(["--group", &group]);
    let client = Running::start(command, "the jacorb client", &workshop.scratch.join("multicast.client"))?;
    if !client.finish(START)? {
        return Err("the jacorb client failed".into());
    }
    arrive("JacORB", &ours, &theirs)?;
    theirs.shutdown().map_err(said)?;
    server.finish(Duration::from_secs(30))?;
    orb.shutdown(true, Duration::from_secs(5));
    Ok(Some("21 oneways from either reached the objects of both, one of them in several packets".into()))
}

/// Both objects are told the same; JacORB serves the requests of a group in any order.
fn arrive(sender: &str, ours: &Every, theirs: &Every) -> Result<(), String> {
    let mut expected: Vec<i32> = (1..=20).chain([-1, -2, LONG as i32]).collect();
    expected.sort_unstable();
    for (receiver, every) in [("zorb", ours), ("JacORB", theirs)] {
        let give_up = Instant::now() + ARRIVAL;
        loop {
            let mut noted = every.noted().map_err(|error| error.to_string())?.to_vec();
            noted.sort_unstable();
            if noted == expected {
                break;
            }
            if Instant::now() > give_up {
                return Err(format!("{sender} told the group {expected:?}; {receiver} got {noted:?}"));
            }
            thread::sleep(Duration::from_millis(20));
        }
        every.forget().map_err(|error| error.to_string())?;
    }
    Ok(())
}
