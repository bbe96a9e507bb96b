//! tshark's dissector reads zorb's traffic without a malformed packet.
//!
//! dumpcap records the loopback interface while a few cases run, which takes root or its capability; tshark reads the file.

use std::process::Command;
use std::time::Duration;

use super::Verdict;
use super::peers::{Peer, Terms, Workshop};
use super::process::{Running, is_installed, output_of};

/// Cases that between them send every type, exceptions, references, forwards and fragments.
const CASES: [&str; 6] = ["echo/", "exception/", "system/NO", "reference/", "call/", "text/"];

/// Runs those cases between zorb and itself, and with omniORB where it is there, in every version.
pub(crate) fn well_formed(workshop: &Workshop) -> Verdict {
    for tool in ["dumpcap", "tshark"] {
        if !is_installed(tool) {
            return Verdict::Missing(format!("{tool} is missing: apt-get install tshark"));
        }
    }
    let mut pairs = vec![(Peer::Zorb, Peer::Zorb)];
    if workshop.missing(Peer::Omniorb).is_none() {
        pairs.extend([(Peer::Zorb, Peer::Omniorb), (Peer::Omniorb, Peer::Zorb)]);
    }
    let (mut seen, mut wrong) = (0, Vec::new());
    for (client, server) in pairs {
        for (giop, fragment) in [("1.0", 0), ("1.1", 0), ("1.1", 1024), ("1.2", 0), ("1.2", 1024)] {
            let terms = Terms { giop, fragment, ..Terms::USUAL };
            match messages(workshop, client, server, terms) {
                Ok(Recorded::NotAllowed(why)) => return Verdict::Missing(why),
                Ok(Recorded::Messages { all, malformed }) => {
                    seen += all;
                    wrong.extend(malformed.iter().map(|line| {
                        format!("{client} -> {server} GIOP {giop} fragments {fragment}: {line}")
                    }));
                    if all < 100 {
                        wrong
                            .push(format!("{client} -> {server} GIOP {giop}: only {all} messages were seen"));
                    }
                }
                Err(error) => wrong.push(format!("{client} -> {server} GIOP {giop}: {error}")),
            }
        }
    }
    if wrong.is_empty() {
        return Verdict::Passed(format!("{seen} packets of messages, none of zorb's malformed"));
    }
    Verdict::Failed(wrong)
}

enum Recorded {
    Messages { all: usize, malformed: Vec<String> },
    NotAllowed(String),
}

fn messages(workshop: &Workshop, client: Peer, server: Peer, terms: Terms) -> Result<Recorded, String> {
    let run = format!("capture-{client}-{server}-{}-{}", terms.giop, terms.fragment);
    let (_server, reference) = workshop.serve(server, terms, &run)?;
    let port = port_of(&reference)?;
    let file = workshop.scratch.join(format!("{run}.pcapng"));
    let mut command = Command::new("dumpcap");
    // 300 s and 256 MB at most, whatever happens to us.
    command.args([
        "-i",
        "lo",
        "-q",
        "-a",
        "duration:300",
        "-a",
        "filesize:256000",
        "-f",
        &format!("tcp port {port}"),
    ]);
    command.arg("-w").arg(&file);
    let mut recorder = Running::start(command, "dumpcap", &workshop.scratch.join(format!("{run}.dumpcap")))?;
    let ready = recorder.until(Duration::from_secs(20), || file.is_file().then_some(()));
    if let Err(why) = ready {
        return Ok(Recorded::NotAllowed(format!("{why} (as root it may)")));
    }
    for case in CASES {
        let client = workshop.call(client, &reference, terms, &["--only", case], &format!("{run}-client"))?;
        client.finish(Duration::from_secs(120))?;
    }
    // What the kernel still holds is with dumpcap within half a second: it polls its ring twice as often.
    std::thread::sleep(Duration::from_millis(500));
    recorder.interrupt();
    recorder.finish(Duration::from_secs(20))?;
    // tshark 4 joins omniORB's GIOP 1.1 fragments with later, unrelated requests, since they carry no id.
    let reassemble = if terms.giop == "1.1" { "giop.reassemble:FALSE" } else { "giop.reassemble:TRUE" };
    let read = |filter: &str| {
        let mut tshark = Command::new("tshark");
        // With two processors the loopback interface is now and then recorded in another order than it was sent in.
        tshark.args(["-o", reassemble, "-o", "tcp.reassemble_out_of_order:TRUE"]);
        tshark.arg("-r").arg(&file).args(["-d", &format!("tcp.port=={port},giop"), "-Y", filter]);
        output_of(&mut tshark, Duration::from_secs(120))
    };
    let all = read("giop")?.lines().count();
    // What zorb sent: of a peer's fragments tshark now and then joins the last with another message.
    let ours = match (client, server) {
        (Peer::Zorb, Peer::Zorb) => "_ws.malformed".to_owned(),
        (Peer::Zorb, _) => format!("_ws.malformed && tcp.dstport=={port}"),
        _ => format!("_ws.malformed && tcp.srcport=={port}"),
    };
    let malformed = read(&ours)?.lines().map(str::to_owned).collect();
    Ok(Recorded::Messages { all, malformed })
}

fn port_of(reference: &str) -> Result<u16, String> {
    let ior: zorb::giop::Ior =
        reference.parse().map_err(|error| format!("the server's reference: {error}"))?;
    let profile = ior.profiles.first().ok_or("the server's reference has no profile")?;
    let profile = zorb::giop::IiopProfile::decode(profile).map_err(|error| error.to_string())?;
    Ok(profile.port)
}
