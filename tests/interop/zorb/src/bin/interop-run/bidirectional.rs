//! Bidirectional GIOP: each ORB called back over the connection that it opened, by zorb, and zorb by each.
//!
//! That no other connection carries the calls back is certain on either side: zorb as the client listens nowhere, and zorb as the server has no
//! other transport for its own calls than `bidir`.

use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use zorb::bidirectional::{Accept, Bidirectional};
use zorb::poa::PoaPolicies;
use zorb::policy::Policies;
use zorb::protocols::Protocols;
use zorb::{Interface, Orb};
use zorb_interop::every::interop::{Every, Listener, Peer as Bouncing};
use zorb_interop::servants::EveryServant;
use zorb_interop::servants::parts::{Bouncer, Ear};

use super::Verdict;
use super::peers::{Peer, Workshop};
use super::process::Running;

/// A JVM on a busy machine takes several seconds to its first line.
const START: Duration = Duration::from_secs(60);

/// What the peers are called in both roles.
const PROGRAM: &str = "bidirectional";

type Errors = Box<dyn std::error::Error>;

/// The peer calls a zorb server that calls it back, and a zorb client calls the peer's.
pub(crate) fn both_ways(workshop: &Workshop, peer: Peer) -> Verdict {
    if let Some(missing) = workshop.missing(peer) {
        return Verdict::Missing(missing);
    }
    if !workshop.program(peer, PROGRAM).is_file() {
        return Verdict::Missing(format!(
            "{peer}'s program {PROGRAM} is not built: tests/interop/install does it"
        ));
    }
    // JacORB answers in Latin-1 what was asked in UTF-8, if Latin-1 is its own (known-gaps.toml).
    let texts: &[&str] = if peer == Peer::Omniorb { &["latin1", "utf8"] } else { &["utf8"] };
    let mut wrong = Vec::new();
    for text in texts {
        let runs =
            [("zorb serves", serves(workshop, peer, text)), ("zorb calls", calls(workshop, peer, text))];
        wrong.extend(
            runs.into_iter().filter_map(|(run, ended)| Some(format!("{run}, {text}: {}", ended.err()?))),
        );
    }
    match wrong.is_empty() {
        true => {
            Verdict::Passed("each called back by the other over the one connection that it opened".into())
        }
        false => Verdict::Failed(wrong),
    }
}

/// A client of the peer's; zorb can call it back by its connection alone.
fn serves(workshop: &Workshop, peer: Peer, text: &str) -> Result<(), Errors> {
    let alone = Policies::new().protocols(Protocols::only(["bidir"]));
    let orb = Orb::builder()
        .listen("tcp:127.0.0.1:0")
        .bidirectional(Bidirectional::new().accept(Accept::PeerAddress))
        .policies(alone)
        .build();
    let root = orb.root_poa()?;
    root.manager().activate()?;
    let every = root.activate::<Every>(Arc::new(EveryServant::new(&orb, Orb::builder())?))?;
    let mut command = Command::new(workshop.program(peer, PROGRAM));
    command.arg("client").arg(every.to_string()).args(["--text", text]);
    let output = workshop.scratch.join(format!("bidirectional-{peer}-{text}.client"));
    let client = Running::start(command, &format!("the {peer} client"), &output)?;
    let good = client.finish(START)?;
    orb.shutdown(true, Duration::from_secs(5));
    match good {
        true => Ok(()),
        false => Err(fs::read_to_string(&output)?.trim().replace('\n', "; ").into()),
    }
}

/// A server of the peer's; zorb listens nowhere.
fn calls(workshop: &Workshop, peer: Peer, text: &str) -> Result<(), Errors> {
    let run = format!("bidirectional-{peer}-{text}");
    let file = workshop.scratch.join(format!("{run}.ior"));
    let mut command = Command::new(workshop.program(peer, PROGRAM));
    command.arg("server").arg("--ior-file").arg(&file).args(["--text", text]);
    let output = workshop.scratch.join(format!("{run}.server"));
    let mut server = Running::start(command, &format!("the {peer} server"), &output)?;
    let ior = server.until(START, || fs::read_to_string(&file).ok().filter(|text| !text.is_empty()))?;

    let orb = Orb::builder().bidirectional(Bidirectional::new().offer()).build();
    let root = orb.root_poa()?;
    let poa = root.create_child("called back", PoaPolicies::new().bidirectional())?;
    poa.manager().activate()?;
    let (ear, bouncer) = (Arc::new(Ear::default()), Arc::new(Bouncer::default()));
    let listener = poa.activate::<Listener>(ear.clone())?;
    let mine = poa.activate::<Bouncing>(bouncer.clone())?;
    let _ = bouncer.me.set(mine.clone());
    let every = orb.string_to_object(ior.trim())?.ok_or("the server's reference is nil")?;
    let every = Every::from_object(every);

    let ended = talk(&every, &listener, &mine, &ear);
    every.shutdown()?;
    let told = server.said();
    server.finish(Duration::from_secs(30))?;
    orb.shutdown(true, Duration::from_secs(5));
    ended.map_err(|error| format!("{error}; the server said: {told}").into())
}

fn talk(every: &Every, listener: &Listener, mine: &Bouncing, ear: &Ear) -> Result<(), Errors> {
    let answer = every.ask(Some(listener), "wärum?")?;
    if answer != "wärum?wärum?" {
        return Err(format!("asked and got {answer:?}").into());
    }
    let refused = every.ask(Some(listener), "refuse").err().ok_or("a refusal came as an answer")?;
    if !refused.to_string().contains("asked to") {
        return Err(format!("a refusal came as {refused}").into());
    }
    every.tell(Some(listener), 50)?;
    let give_up = Instant::now() + START;
    while ear.heard().len() < 50 {
        if Instant::now() > give_up {
            return Err(format!("told 50 things, heard {:?}", ear.heard()).into());
        }
        thread::sleep(Duration::from_millis(10));
    }
    for depth in [1, 2, 8] {
        let bounced = every.bounce_with(Some(mine), depth)?;
        if bounced != depth {
            return Err(format!("bounced {bounced} times, not {depth}").into());
        }
    }
    let results: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| (0..25).try_for_each(|_| every.bounce_with(Some(mine), 3).map(drop))))
            .collect();
        threads.into_iter().map(|thread| thread.join()).collect()
    });
    for result in results {
        result.map_err(|_| "a thread panicked")??;
    }
    Ok(())
}
