//! Which steps a run of all studies has, and with which parameters.

use std::time::Duration;

use crate::calls::Basis;
use crate::cube::Cube;
use crate::demux::{Lookup, OPERATIONS, Style};
use crate::flood::Element;
use crate::link::Spec;
use crate::orb::Zorb;
use crate::peer::Peer;
use crate::pin::Pin;
use crate::raw::Raw;
use crate::system::{Payload, System, Transport};
use crate::{cube, demux, iterations, rtt, size, ttcp, whitebox};

use super::estimate;
use super::scenario::{Scenario, Systems};

/// How much of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// As the field measured, as long as it takes.
    Full,
    /// Under ten minutes: fewer sizes, calls and repetitions.
    Quick,
    /// A few calls, for tests of the run itself; its figures say nothing.
    Tiny,
}

impl Scale {
    /// Its name in what is kept of a run.
    pub fn name(self) -> &'static str {
        match self {
            Scale::Full => "full",
            Scale::Quick => "quick",
            Scale::Tiny => "tiny",
        }
    }

    /// One of three, by scale.
    fn of<T>(self, full: T, quick: T, tiny: T) -> T {
        match self {
            Scale::Full => full,
            Scale::Quick => quick,
            Scale::Tiny => tiny,
        }
    }
}

/// The five studies that shaped the field and set its questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Study {
    /// Where middleware loses its time.
    Middleware,
    /// Typed wrappers that cost nothing.
    Wrappers,
    /// Distributed objects over user-level networking.
    Objects,
    /// Pluggable protocols.
    Protocols,
    /// No copy.
    ZeroCopy,
}

impl Study {
    /// All, in the order in which they are repeated.
    pub const ALL: [Study; 5] =
        [Study::Middleware, Study::Wrappers, Study::Objects, Study::Protocols, Study::ZeroCopy];

    /// Its number in lists, from 1.
    pub fn number(self) -> usize {
        self as usize + 1
    }

    /// Its name in rows.
    pub fn name(self) -> &'static str {
        match self {
            Study::Middleware => "middleware",
            Study::Wrappers => "wrappers",
            Study::Objects => "objects",
            Study::Protocols => "protocols",
            Study::ZeroCopy => "zero-copy",
        }
    }

    /// What it asked, who, and when.
    pub fn title(self) -> &'static str {
        match self {
            Study::Middleware => "Where middleware loses its time (Gokhale and Schmidt, SIGCOMM 1996)",
            Study::Wrappers => {
                "Typed wrappers that cost nothing (Schmidt, Harrison and Al-Shaer, COOTS 1995)"
            }
            Study::Objects => "Objects over user-level networks (Forin, Hunt, Li and Wang, USENIX NT 1999)",
            Study::Protocols => "Pluggable protocols (O'Ryan, Kuhns, Schmidt, Othman and Parsons, 2000)",
            Study::ZeroCopy => "Zero copy for CORBA (Kurmann and Stricker, IPDPS 2003)",
        }
    }

    /// The study of this name.
    pub fn named(name: &str) -> Option<Study> {
        Study::ALL.into_iter().find(|study| study.name() == name)
    }
}

/// One measurement of a run.
#[derive(Debug, Clone)]
pub struct Step {
    /// Its name, which no other step of the run has.
    pub name: &'static str,
    /// Which study it repeats.
    pub study: Study,
    /// What it measures.
    pub scenario: Scenario,
    /// What lies between both sides; `None`: nothing but the host.
    pub link: Option<Spec>,
}

impl Step {
    /// About how long it takes on a machine with nothing else to do.
    pub fn estimate(&self) -> Duration {
        estimate::of(&self.scenario, self.link.as_ref())
    }

    /// The command line that repeats it, which no other step of the run has.
    pub fn command(&self) -> String {
        self.scenario.command(self.link.as_ref())
    }
}

/// Who takes part in what.
struct Cast {
    /// Every version of a flood, the floor first.
    floods: Systems,
    /// What is beside zorb where calls are made.
    calls: Systems,
}

impl Cast {
    fn of(peers: &[&'static Peer]) -> Cast {
        let ours: [&'static dyn System; 4] = [&Raw::Plain, &Raw::Framed, &Raw::Ipc, &Zorb];
        let floods = ours.into_iter().chain(peers.iter().map(|&peer| peer as &dyn System));
        // Which octets go how into a flood makes no difference to a call.
        let calls = peers.iter().filter(|peer| !peer.name().ends_with("-opaque"));
        let calls = calls.map(|&peer| peer as &dyn System);
        Cast { floods: Systems(floods.collect()), calls: Systems(calls.collect()) }
    }
}

/// The steps of a run with these peers. The white box needs `probes` in the program.
pub fn steps(scale: Scale, peers: &[&'static Peer], probes: bool) -> Vec<Step> {
    let Cast { floods, calls } = Cast::of(peers);
    let basis = |pin, calls| Basis { transport: Transport::Tcp, pin, calls, seed: 1, ..Basis::default() };
    let same = |calls| basis(Pin::Same, calls);
    let flood = |plan| Scenario::Floods(plan, floods.clone());
    let latency = |pin| {
        let plan =
            rtt::Plan { basis: basis(pin, scale.of(20_000, 1_600, 1)), payloads: echoes(scale), rate: None };
        let beside = [&Raw::Ipc as &dyn System].into_iter().chain(calls.0.clone());
        Scenario::RoundTrips(plan, Systems(beside.collect()))
    };
    let (operations, objects) = lookups(scale, same(scale.of(100_000, 4_000, 1)));
    let cube = cube::Plan { basis: same(scale.of(100_000, 4_000, 1)), cubes: cubes(scale) };
    let sizes = powers(4, scale.of(64 << 10, 2 << 10, 4));
    let size = size::Plan { basis: same(scale.of(20_000, 2_000, 1)), sizes };
    let all = [
        ("typed-queue-64K", Study::Middleware, flood(typed_floods(scale, 64 << 10))),
        ("typed-queue-8K", Study::Middleware, flood(typed_floods(scale, 8 << 10))),
        ("typed-155mbit", Study::Middleware, flood(typed_floods_across(scale, 2 << 20))),
        ("typed-10gbit", Study::Middleware, flood(typed_floods_across(scale, 64 << 20))),
        ("profile", Study::Middleware, Scenario::Profiles(profiled_floods(scale), floods.clone())),
        ("demux-operations", Study::Middleware, Scenario::Lookups(operations)),
        ("demux-iterations", Study::Middleware, Scenario::Iterations(searches(scale))),
        ("demux-objects", Study::Middleware, Scenario::Lookups(objects)),
        ("bytes", Study::Wrappers, flood(byte_floods(scale))),
        ("latency-same", Study::Objects, latency(Pin::Same)),
        ("latency-split", Study::Objects, latency(Pin::Split)),
        ("firstcall", Study::Objects, Scenario::FirstCalls(same(scale.of(2_000, 400, 1)), calls.clone())),
        ("images", Study::Objects, Scenario::Images(same(0), calls.clone())),
        ("cube", Study::Protocols, Scenario::Cubes(cube, calls.clone())),
        ("whitebox", Study::Protocols, Scenario::WhiteBox(white_box())),
        ("size", Study::Protocols, Scenario::Sizes(size, calls)),
        ("blocks", Study::ZeroCopy, flood(block_floods(scale))),
    ];
    let steps = all.into_iter().map(|(name, study, scenario)| {
        let link = LINKS.iter().find(|(step, _)| *step == name).map(|(_, link)| link.clone());
        Step { name, study, scenario, link }
    });
    let wanted = |step: &Step| match scale {
        Scale::Tiny => ["bytes", "latency-same", "cube"].contains(&step.name),
        Scale::Quick if step.name == "typed-10gbit" => false,
        Scale::Full | Scale::Quick => probes || !matches!(step.scenario, Scenario::WhiteBox(_)),
    };
    steps.filter(wanted).collect()
}

/// From the first to the last, doubling.
fn powers(first: usize, last: usize) -> Vec<usize> {
    std::iter::successors(Some(first), |size| Some(size * 2)).take_while(|&size| size <= last).collect()
}

fn floods(elements: &[Element], buffers: Vec<usize>, total: u64, repeat: usize) -> ttcp::Plan {
    ttcp::Plan {
        transport: Transport::Tcp,
        pin: Pin::Split,
        elements: elements.to_vec(),
        buffers,
        total,
        most: None,
        longest: Some(LONGEST),
        queue: None,
        repeat,
        instances: 1,
        floor: Raw::Plain.name(),
        seed: 1,
    }
}

/// The table of highest and lowest: typed buffers of 1 to 128 KiB, 64 MiB in all, sockets' queues of 64 and of 8 KiB.
fn typed_floods(scale: Scale, queue: usize) -> ttcp::Plan {
    let narrow = queue < (64 << 10);
    let elements = match scale {
        // What a narrow queue costs, each type pays alike.
        Scale::Full if narrow => &[Element::Octet, Element::Long, Element::Struct][..],
        _ if narrow => &[Element::Octet, Element::Struct],
        _ => &Element::SEQUENCES[..],
    };
    let buffers = scale.of(powers(1 << 10, 128 << 10), vec![1 << 10, 8 << 10, 128 << 10], vec![1 << 10]);
    let plan = floods(elements, buffers, scale.of(64 << 20, 16 << 20, 1 << 10), scale.of(20, 10, 1));
    // The field's 64 MiB are 65,536 buffers of 1 KiB, whose rate a quarter of them tells as well. In queues as narrow as a
    // buffer a sender can wait for acknowledgements that TCP delays, buffer after buffer.
    let most = if narrow { scale.of(2_000, 500, 1) } else { scale.of(16_384, 2_000, 1) };
    ttcp::Plan { queue: Some(queue), most: Some(most), ..plan }
}

/// About the longest flood, in milliseconds: what is far slower than a socket is known as well from fewer buffers.
const LONGEST: u32 = 60;

/// The links that steps measure across: the field's, which was an ATM network, and one of today's.
///
/// Queues as narrow as the field's need packets as small: where one packet of the loopback interface (64 KiB) fills a
/// queue, the receiver's window closes after each, and opens again only when the sender probes it, every fifth of a
/// second.
const LINKS: [(&str, Spec); 4] = [
    ("typed-queue-64K", Spec { rate: None, mtu: 9_180, delay: Duration::ZERO, carried: false }),
    ("typed-queue-8K", Spec { rate: None, mtu: 1_500, delay: Duration::ZERO, carried: false }),
    ("typed-155mbit", Spec { rate: Some(155_000_000), mtu: 9_180, delay: Duration::ZERO, carried: false }),
    ("typed-10gbit", Spec { rate: Some(10_000_000_000), mtu: 9_000, delay: Duration::ZERO, carried: false }),
];

/// The same across a link, where every system is as slow as it: fewer octets, one scalar for all.
fn typed_floods_across(scale: Scale, total: u64) -> ttcp::Plan {
    let elements = [Element::Octet, Element::Long, Element::Struct];
    let plan = typed_floods(scale, 64 << 10);
    ttcp::Plan { elements: elements.to_vec(), total, repeat: scale.of(20, 5, 1), ..plan }
}

/// Where the time goes: 64 MiB in buffers of 128 KiB, one scalar for all.
fn profiled_floods(scale: Scale) -> ttcp::Plan {
    let total = scale.of(64 << 20, 64 << 20, 1 << 10);
    floods(&[Element::Long, Element::Struct], vec![128 << 10], total, scale.of(20, 5, 1))
}

/// Untyped bytes, as a sequence and as a string, from a buffer of one on.
fn byte_floods(scale: Scale) -> ttcp::Plan {
    let quick = (0..=8).map(|power| 1 << (2 * power)).chain([128 << 10]).collect();
    let buffers = scale.of(powers(1, 128 << 10), quick, vec![64, 4 << 10]);
    let total = scale.of(64 << 20, 16 << 20, 64 << 10);
    let plan = floods(&[Element::Octet, Element::String], buffers, total, scale.of(20, 5, 1));
    // A flood of single bytes up to the total would last minutes.
    ttcp::Plan { most: Some(scale.of(20_000, 2_000, 10)), ..plan }
}

/// Blocks of whole pages: the powers of two, and what lies half-way between them.
fn block_floods(scale: Scale) -> ttcp::Plan {
    let full = [powers(4 << 10, 16 << 20), powers(12 << 10, 12 << 20)].concat();
    let quick = powers(4 << 10, 16 << 20).into_iter().step_by(2).collect();
    let blocks = scale.of(full, quick, vec![4 << 10]);
    floods(&[Element::Octet], blocks, scale.of(256 << 20, 32 << 20, 4 << 10), scale.of(20, 10, 1))
}

/// A call among 1 to 1,000 operations; one among up to a million objects.
fn lookups(scale: Scale, basis: Basis) -> (demux::Plan, demux::Plan) {
    let plan = |lookups: &[Lookup], operations: Vec<u32>, objects: Vec<u32>| demux::Plan {
        basis,
        lookups: lookups.to_vec(),
        operations,
        objects,
        styles: Style::ALL.to_vec(),
    };
    let objects = scale.of(vec![1, 1_000, 100_000, 1_000_000], vec![1, 1_000, 100_000], vec![1]);
    let operations = scale.of(OPERATIONS.to_vec(), vec![1, 100, 1_000], vec![1]);
    (plan(&Lookup::ALL, operations, Vec::new()), plan(&[Lookup::Perfect], Vec::new(), objects))
}

/// A hundred calls of the last of a hundred operations, as often as the field made them.
fn searches(scale: Scale) -> iterations::Plan {
    let [one, hundred, ..] = iterations::FIELDS_ITERATIONS;
    iterations::Plan {
        transport: Transport::Tcp,
        pin: Pin::Same,
        iterations: scale.of(iterations::FIELDS_ITERATIONS.to_vec(), vec![one, hundred], vec![one]),
        lookups: Lookup::ALL.to_vec(),
        styles: Style::ALL.to_vec(),
        repeat: scale.of(20, 10, 1),
        seed: 1,
    }
}

/// The null call, and octets there and back.
fn echoes(scale: Scale) -> Vec<Payload> {
    let quick = [64, 1 << 10, 4 << 10, 8 << 10, 16 << 10, 64 << 10, 256 << 10].to_vec();
    let sizes = scale.of(powers(64, 1 << 20), quick, vec![64]);
    [Payload::Null].into_iter().chain(sizes.into_iter().map(Payload::Octets)).collect()
}

/// The simple types, and sequences of 4 and 4,096 octets.
fn cubes(scale: Scale) -> Vec<Cube> {
    let sizes = [4, 4_096];
    let sequences = sizes.map(Cube::Octets).into_iter().chain(sizes.map(Cube::Longs));
    let simple = [Cube::Void, Cube::Short, Cube::Long, Cube::Octet, Cube::Struct];
    let all: Vec<_> = simple.into_iter().chain(sequences).collect();
    scale.of(all.clone(), all, vec![Cube::Void])
}

/// The null call, and the field's sequences of 4 to 2,048 octets.
fn white_box() -> whitebox::Plan {
    let sizes = [4, 64, 512, 2_048, 8 << 10, 64 << 10];
    let payloads = [Payload::Null].into_iter().chain(sizes.map(Payload::Octets)).collect();
    whitebox::Plan { transport: Transport::Tcp, pin: Pin::Same, calls: whitebox::MOST_CALLS, payloads }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn all() -> impl Iterator<Item = (Scale, Vec<Step>)> {
        let peers: Vec<_> = Peer::ALL.iter().collect();
        [Scale::Full, Scale::Quick, Scale::Tiny].map(|scale| (scale, steps(scale, &peers, true))).into_iter()
    }

    #[test]
    fn no_two_steps_have_a_name_or_a_command_in_common() {
        for (scale, steps) in all() {
            let names: BTreeSet<_> = steps.iter().map(|step| step.name).collect();
            let commands: BTreeSet<_> = steps.iter().map(|step| step.command()).collect();
            assert_eq!((names.len(), commands.len()), (steps.len(), steps.len()), "{scale:?}");
        }
    }

    #[test]
    fn every_study_is_repeated() {
        for (_, steps) in all().take(2) {
            for study in Study::ALL {
                assert!(steps.iter().any(|step| step.study == study), "{study:?}");
                assert_eq!(Study::named(study.name()), Some(study));
            }
            assert!(steps.is_sorted_by_key(|step| step.study.number()));
        }
    }

    #[test]
    fn a_quick_run_takes_less_than_ten_minutes() {
        let minutes =
            |steps: &[Step]| steps.iter().map(Step::estimate).sum::<Duration>().as_secs_f64() / 60.0;
        let of: Vec<_> = all().map(|(_, steps)| minutes(&steps)).collect();
        assert!(of[1] < 10.0 && of[0] > 3.0 * of[1] && of[2] < 1.0, "{of:?}");
    }

    #[test]
    fn without_probes_there_is_no_white_box() {
        let steps = |probes| steps(Scale::Quick, &[], probes);
        assert_eq!(steps(true).len(), steps(false).len() + 1);
        assert!(steps(false).iter().all(|step| step.name != "whitebox"));
    }

    #[test]
    fn calls_take_no_notice_of_how_octets_are_flooded() {
        let peers: Vec<_> = ["tirpc", "tirpc-opaque"].into_iter().filter_map(Peer::named).collect();
        for step in steps(Scale::Quick, &peers, true) {
            let floods = matches!(step.scenario, Scenario::Floods(..) | Scenario::Profiles(..));
            assert_eq!(step.command().contains("tirpc-opaque"), floods, "{step:?}");
        }
    }
}
