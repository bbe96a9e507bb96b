//! Every pairing of a client with a server, and one run of each.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use zorb::{Interface, Orb};
use zorb_bridge::{Bridge, Callbacks, Interfaces, Unknown};
use zorb_interop::every::interop::Every;

use super::Verdict;
use super::cases::Cases;
use super::gaps::{Expected, Gaps};
use super::peers::{ALL, Peer, Terms, Workshop};
use super::process::output_of;

/// One client, one server, and what both are told.
pub(crate) struct Pairing {
    client: Peer,
    server: Peer,
    terms: Terms,
}

impl fmt::Display for Pairing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Terms { giop, text, fragment, at, bridged } = self.terms;
        write!(f, "{:>7} -> {:7} GIOP {giop} {text:6}", self.client, self.server)?;
        if at != "tcp" {
            write!(f, " over {at}")?;
        }
        if bridged {
            write!(f, " bridged")?;
        }
        match fragment {
            0 => Ok(()),
            octets => write!(f, " fragments {octets}"),
        }
    }
}

/// A whole run takes seconds; a case that hangs ends by its own call timeout, and several may.
const RUN: Duration = Duration::from_secs(300);

/// All pairings in which zorb takes part, or only one peer: what a peer gets wrong with itself it gets wrong by itself.
pub(crate) fn all() -> Vec<Pairing> {
    use Peer::{Jacorb, Omniorb, Zorb};

    let mut pairings = Vec::new();
    let mut add = |client, server, giop, text, fragment| {
        let terms = Terms { giop, text, fragment, ..Terms::USUAL };
        pairings.push(Pairing { client, server, terms });
    };
    for giop in ["1.0", "1.1", "1.2"] {
        // Text beyond Latin-1 needs a code set, which GIOP 1.0 does not name.
        add(Zorb, Zorb, giop, if giop == "1.0" { "latin1" } else { "utf8" }, 0);
        for peer in [Omniorb, Jacorb] {
            add(Zorb, peer, giop, "latin1", 0);
            add(peer, Zorb, giop, "latin1", 0);
        }
    }
    for peer in [Omniorb, Jacorb] {
        add(Zorb, peer, "1.2", "utf8", 0);
        add(peer, Zorb, "1.2", "utf8", 0);
    }
    for peer in [Omniorb, Jacorb] {
        add(peer, peer, "1.2", "latin1", 0);
    }
    // Below every size that the cases send: most messages go in several fragments.
    const SMALL: usize = 1024;
    for giop in ["1.1", "1.2"] {
        add(Zorb, Zorb, giop, "utf8", SMALL);
        add(Zorb, Omniorb, giop, "latin1", SMALL);
        add(Omniorb, Zorb, giop, "latin1", SMALL);
    }
    add(Zorb, Jacorb, "1.2", "latin1", SMALL);
    add(Jacorb, Zorb, "1.2", "latin1", SMALL);
    // Unix sockets are the same for every version; JacORB has none.
    for (client, server) in [(Zorb, Zorb), (Zorb, Omniorb), (Omniorb, Zorb)] {
        let terms = Terms { text: "utf8", at: "unix", ..Terms::USUAL };
        pairings.push(Pairing { client, server, terms });
    }
    // Every type in every position, by octets that the bridge does not decode, and every reference through the bridge.
    let mut bridged = |client, server, terms| {
        pairings.push(Pairing { client, server, terms: Terms { bridged: true, ..terms } });
    };
    for giop in ["1.0", "1.1", "1.2"] {
        for peer in [Omniorb, Jacorb] {
            bridged(peer, Zorb, Terms { giop, ..Terms::USUAL });
            bridged(Zorb, peer, Terms { giop, ..Terms::USUAL });
        }
    }
    for giop in ["1.1", "1.2"] {
        let terms = Terms { giop, fragment: SMALL, ..Terms::USUAL };
        bridged(Zorb, Zorb, Terms { text: "utf8", ..terms });
        bridged(Zorb, Omniorb, terms);
        bridged(Omniorb, Zorb, terms);
        if giop == "1.2" {
            bridged(Zorb, Jacorb, terms);
            bridged(Jacorb, Zorb, terms);
        }
    }
    for giop in ["1.0", "1.1", "1.2"] {
        bridged(Omniorb, Jacorb, Terms { giop, ..Terms::USUAL });
        bridged(Jacorb, Omniorb, Terms { giop, ..Terms::USUAL });
    }
    for (client, server) in [(Zorb, Zorb), (Zorb, Omniorb), (Omniorb, Zorb)] {
        bridged(client, server, Terms { text: "utf8", at: "unix", ..Terms::USUAL });
    }
    pairings
}

/// A server that was told to end has a few threads to join, and a JVM to leave.
const END: Duration = Duration::from_secs(30);

/// Tells a server to end, by the operation of its object.
pub(crate) fn shut_down(reference: &str) -> Result<(), String> {
    let orb = Orb::builder().build();
    let object = orb.string_to_object(reference).map_err(|error| error.to_string())?;
    let every = Every::from_object(object.ok_or("the server's reference is nil")?);
    let told = every.shutdown().map_err(|error| format!("shutdown: {error}"));
    orb.shutdown(true, Duration::from_secs(5));
    told
}

/// A bridge to the server of `reference`, and the reference that leads through it. It knows all types, so that no reference
/// passes as it is: where one seems to, the call fails.
fn bridged(workshop: &Workshop, reference: &str, at: &str) -> Result<(String, Bridge), String> {
    let listening = |at: &str| Orb::builder().listen(if at == "unix" { "unix:" } else { "tcp:127.0.0.1:0" });
    let (outside, inside) = (listening("tcp").build(), listening(at).build());
    let cannot = |error: zorb::SystemException| format!("bridge: {error}");
    let mut settings = zorb_bridge::Settings::default();
    settings.interfaces = Arc::new(interfaces(workshop)?);
    settings.unknown = Unknown::Refuse;
    // Where clients listen at Unix sockets, these are at no address.
    settings.callbacks = if at == "unix" { Callbacks::Any } else { Callbacks::Caller };
    let bridge = Bridge::between(&outside, &inside, settings).map_err(cannot)?;
    let target =
        inside.string_to_object(reference).map_err(cannot)?.ok_or("the server's reference is nil")?;
    let exported = bridge.export(&target).map_err(cannot)?;
    Ok((exported.to_string(), bridge))
}

fn interfaces(workshop: &Workshop) -> Result<Interfaces, String> {
    let path = workshop.interop.join("idl/every.idl");
    let text = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let files = zorb_idl::Memory::new([("every.idl", text)]);
    let model = zorb_idl::compile(&files, "every.idl", &zorb_idl::Options::default());
    let mut interfaces = Interfaces::default();
    interfaces.add(&model.map_err(|found| found.render(false))?);
    Ok(interfaces)
}

impl Pairing {
    /// Runs every case, and holds each against the list of gaps and all against the list of cases.
    pub(crate) fn run(&self, workshop: &Workshop, cases: &Cases, gaps: &Gaps) -> Verdict {
        for peer in [self.client, self.server] {
            if let Some(missing) = workshop.missing(peer) {
                return Verdict::Missing(missing);
            }
        }
        match self.lines(workshop) {
            Ok(lines) => self.judge(&lines, cases, gaps),
            Err(error) => Verdict::Failed(vec![error]),
        }
    }

    fn lines(&self, workshop: &Workshop) -> Result<Vec<String>, String> {
        let run = self.to_string().replace(' ', "");
        let (server, reference) = workshop.serve(self.server, self.terms, &run)?;
        let (called, bridge) = match self.terms.bridged {
            true => {
                bridged(workshop, &reference, self.terms.at).map(|(text, bridge)| (text, Some(bridge)))?
            }
            false => (reference.clone(), None),
        };
        let client = workshop.call(self.client, &called, self.terms, &[], &run)?;
        let output = client.output.clone();
        client.finish(RUN)?;
        if let Some(bridge) = bridge
            && (bridge.objects() < 2 || bridge.callbacks() == 0)
        {
            return Err("no reference was put in the place of another".into());
        }
        shut_down(&reference)?;
        server.finish(END)?;
        let text = std::fs::read(&output).map_err(|error| format!("{}: {error}", output.display()))?;
        Ok(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
    }

    fn judge(&self, lines: &[String], cases: &Cases, gaps: &Gaps) -> Verdict {
        let (mut passed, mut known) = (0, 0);
        let (mut ran, mut wrong) = (Vec::new(), Vec::new());
        let mut ended = false;
        for line in lines {
            ended |= line.contains(" passed, ") && line.ends_with(" failed");
            let Some((outcome, rest)) = line.split_once(' ') else { continue };
            let case = rest.split(':').next().unwrap_or_default();
            match (outcome, gaps.expected(self.server, self.client, self.terms.giop, case)) {
                ("ok", Expected::Fail) => wrong.push(format!("{case} passes, but is listed as a gap")),
                ("ok", _) => passed += 1,
                ("FAIL", Expected::Pass) => wrong.push(line.clone()),
                ("FAIL", _) => known += 1,
                _ => continue,
            }
            ran.push(case.to_owned());
        }
        wrong.extend(cases.compare(self.server, self.client, self.terms, &ran));
        if !ended {
            let last = lines.last().map_or("nothing", String::as_str);
            wrong.push(format!("the client did not come to its end; the last it said: {last}"));
        }
        if wrong.is_empty() {
            return Verdict::Passed(format!("{passed} passed, {known} known gaps of the peers"));
        }
        Verdict::Failed(wrong)
    }
}

/// All peers print the same samples: what they agree on is what was meant.
pub(crate) fn samples(workshop: &Workshop) -> Verdict {
    if let Some(missing) = ALL.iter().find_map(|&peer| workshop.missing(peer)) {
        return Verdict::Missing(missing);
    }
    let printed = ALL.map(|peer| {
        output_of(&mut workshop.client(peer, "--samples"), Duration::from_secs(60)).map(|text| (peer, text))
    });
    let mut all = Vec::new();
    for printed in printed {
        match printed {
            Ok(printed) => all.push(printed),
            Err(error) => return Verdict::Failed(vec![error]),
        }
    }
    let Some(((_, wanted), others)) = all.split_first() else { return Verdict::Passed("nobody".into()) };
    let mut wrong = Vec::new();
    for (peer, text) in others {
        let differing = wanted.lines().zip(text.lines()).find(|(ours, theirs)| ours != theirs);
        if let Some((ours, theirs)) = differing {
            wrong.push(format!("zorb: {ours}; {peer}: {theirs}"));
        } else if wanted.lines().count() != text.lines().count() {
            wrong.push(format!(
                "zorb prints {} lines, {peer} {}",
                wanted.lines().count(),
                text.lines().count()
            ));
        }
    }
    if wrong.is_empty() {
        return Verdict::Passed(format!(
            "{} lines the same from {} peers",
            wanted.lines().count(),
            all.len()
        ));
    }
    Verdict::Failed(wrong)
}
