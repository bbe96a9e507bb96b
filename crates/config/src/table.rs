//! The table of settings: every choice of the ORB's builder that text can make. Names, documentation, tests and what
//! `zorb config` prints come from here.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use zorb_orb::OrbBuilder;
use zorb_orb::bidirectional::{Accept, Bidirectional};
use zorb_orb::messaging::{Frames, Giop, GiopLite, Messaging};
use zorb_orb::orb::{AtBound, Chosen};
use zorb_orb::policy::{Buffering, Policies, SyncScope};
use zorb_orb::server::{ServerLimits, ThreadModel};
use zorb_orb::transport::Spinning;

use crate::as_others::{accepts, milliseconds, offers, publish, rule, same, seconds, threads};
use crate::setting::{Setting, Spelling};
use crate::transports;
use crate::value::{Kind, Value, buffers};

const MS: Duration = Duration::from_millis(1);
/// Longer than any process waits; short enough that the clock can be asked for the end.
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
/// What GIOP's size field can say.
const LARGEST_MESSAGE: usize = u32::MAX as usize;
/// What the system takes as a queue size.
const LARGEST_QUEUE: usize = 1 << 30;
const MOST: usize = usize::MAX;
/// What machines have to give for buffers, and no typing error takes.
const MOST_BUFFERED: usize = 2 << 30;

const fn time(least: Duration) -> Kind {
    Kind::Time { least, most: YEAR }
}

const fn count(least: usize) -> Kind {
    Kind::Count { least, most: MOST }
}

const fn octets(least: usize) -> Kind {
    Kind::Octets { least, most: LARGEST_MESSAGE }
}

const fn spelt(name: &'static str, note: &'static str, read: fn(&str) -> Result<String, String>) -> Spelling {
    Spelling { name, note, read }
}

fn policies(builder: OrbBuilder, change: impl FnOnce(Policies) -> Policies) -> OrbBuilder {
    let chosen = builder.chosen().policies;
    builder.policies(change(chosen))
}

fn limits(builder: OrbBuilder, change: impl FnOnce(&mut ServerLimits)) -> OrbBuilder {
    let mut chosen = builder.chosen().server_limits;
    change(&mut chosen);
    builder.server_limits(chosen)
}

/// A server's limit of the same name.
macro_rules! limit {
    ($key:literal, $field:ident, $kind:expr, Time, $what:literal $(, $spelling:expr)*) => {
        Setting {
            key: $key, kind: $kind, what: $what, spellings: &[$($spelling),*],
            get: |chosen| Some(Value::Time(chosen.server_limits.$field)),
            set: |builder, value| limits(builder, |limits| limits.$field = value.time()),
        }
    };
    ($key:literal, $field:ident, $kind:expr, $value:ident, $what:literal) => {
        Setting {
            key: $key, kind: $kind, what: $what, spellings: &[],
            get: |chosen| Some(Value::$value(chosen.server_limits.$field)),
            set: |builder, value| limits(builder, |limits| limits.$field = value.octets()),
        }
    };
}

/// What the system holds in a socket.
const QUEUE: Kind = Kind::Octets { least: 1, most: LARGEST_QUEUE };

/// As the kernel counts it, in a C `int` of microseconds.
const POLL: Kind = Kind::Time { least: Duration::ZERO, most: Duration::from_micros(i32::MAX as u64) };

/// As many as a number of 32 bits can say.
const NUMBER: Kind = Kind::Count { least: 1, most: u32::MAX as usize };

/// A condition of gathering oneways.
macro_rules! of_buffering {
    ($name:literal, $kind:expr, $what:literal, $get:expr, $set:expr) => {
        Setting {
            key: concat!("buffering.", $name),
            kind: $kind,
            what: $what,
            spellings: &[],
            get: |chosen| {
                let get: fn(Buffering) -> Value = $get;
                chosen.policies.buffering.map(get)
            },
            set: |builder, value| {
                let set: fn(Buffering, &Value) -> Buffering = $set;
                policies(builder, |policies| {
                    let buffering = policies.buffering.unwrap_or_default();
                    policies.buffering(set(buffering, value))
                })
            },
        }
    };
}

/// What a transport is told by the same name.
macro_rules! of_transport {
    ($transport:literal, $name:literal, $kind:expr, $what:literal) => {
        Setting {
            key: concat!($transport, ".", $name),
            kind: $kind,
            what: $what,
            spellings: &[],
            get: |chosen| transports::told(chosen, $transport, $name, &$kind),
            set: |builder, value| transports::tell(builder, $transport, $name, value),
        }
    };
}

/// Every setting, in the order in which it is documented and given to the builder.
pub static SETTINGS: &[Setting] = &[
    Setting {
        key: "listen",
        kind: Kind::Endpoints,
        what: "Where the server listens; without, at tcp::0, every interface and a port that the system picks. In place of \
               all that sources of less precedence say.",
        spellings: &[
            spelt("endPoint", "omniORB, TAO; may be repeated", same),
            spelt("ListenEndpoints", "TAO, JacORB", same),
        ],
        get: |chosen| (!chosen.listen.is_empty()).then(|| Value::List(chosen.listen.clone())),
        set: |builder, value| builder.listen_at(value.list()),
    },
    Setting {
        key: "published_host",
        kind: Kind::Text,
        what: "The host that references name; without, the one that is listened at, or an address of this machine.",
        spellings: &[spelt("endPointPublish", "omniORB; giop:tcp:HOST: alone", publish)],
        get: |chosen| chosen.published_host.clone().map(Value::Text),
        set: |builder, value| builder.published_host(value.text()),
    },
    Setting {
        key: "transports",
        kind: Kind::Transports,
        what: "The transports that clients use, best first, * for all others; without, all, in the order of each reference.",
        spellings: &[spelt("clientTransportRule", "omniORB; \"* unix,tcp\" alone", rule)],
        get: |chosen| chosen.prefer.clone().map(Value::List),
        set: |builder, value| builder.prefer(value.list()),
    },
    Setting {
        key: "bidirectional.offer",
        kind: Kind::Choice(&["no", "yes"]),
        what: "Whether servers may call back over the connections that this ORB opens; without listen it then listens \
               nowhere.",
        spellings: &[spelt("offerBiDirectionalGIOP", "omniORB; 0 or 1", offers)],
        get: |chosen| Some(Value::Text(if chosen.bidirectional.offers() { "yes" } else { "no" }.to_owned())),
        set: |builder, value| {
            let accept = builder.chosen().bidirectional.accepts().clone();
            let choice = Bidirectional::new().accept(accept);
            builder.bidirectional(if value.text() == "yes" { choice.offer() } else { choice })
        },
    },
    Setting {
        key: "bidirectional.accept",
        kind: Kind::Peers,
        what: "Which clients are called back over the connections that they opened, where they say that they are: none, \
               those that name the address they come from, all, or the second and those from these networks.",
        spellings: &[spelt("acceptBiDirectionalGIOP", "omniORB; 0 or 1, peer-address", accepts)],
        get: |chosen| {
            let words = match chosen.bidirectional.accepts() {
                Accept::Nobody => vec!["nobody".to_owned()],
                Accept::PeerAddress => vec!["peer-address".to_owned()],
                Accept::Any => vec!["any".to_owned()],
                Accept::Peers(networks) => networks.iter().map(ToString::to_string).collect(),
                _ => return None,
            };
            Some(Value::List(words))
        },
        set: |builder, value| {
            let accept = match value.list() {
                [word] if word == "nobody" => Accept::Nobody,
                [word] if word == "peer-address" => Accept::PeerAddress,
                [word] if word == "any" => Accept::Any,
                networks => Accept::Peers(networks.iter().filter_map(|it| it.parse().ok()).collect()),
            };
            let offers = builder.chosen().bidirectional.offers();
            let choice = Bidirectional::new().accept(accept);
            builder.bidirectional(if offers { choice.offer() } else { choice })
        },
    },
    Setting {
        key: "messaging",
        kind: Kind::Choice(&[Giop::NAME, GiopLite::NAME, Frames::NAME]),
        what: "What is spoken where the other side knows it too (frames: for oneways by udp and miop); giop is spoken in any case.",
        spellings: &[],
        get: |chosen| chosen.messagings.first().map(|name| Value::Text((*name).to_owned())),
        set: |builder, value| match value.text() {
            GiopLite::NAME => builder.messagings([Arc::new(GiopLite) as Arc<dyn Messaging>, Arc::new(Giop)]),
            Frames::NAME => builder
                .messagings([Arc::new(zorb_orb::frames::messaging()) as Arc<dyn Messaging>, Arc::new(Giop)]),
            _ => builder.messagings([Arc::new(Giop) as Arc<dyn Messaging>]),
        },
    },
    Setting {
        key: "giop_version",
        kind: Kind::Choice(&["1.0", "1.1", "1.2"]),
        what: "The highest GIOP version to speak as a client and to name in references.",
        spellings: &[spelt("maxGIOPVersion", "omniORB", same)],
        get: |chosen| {
            Some(Value::Text(format!("{}.{}", chosen.giop_version.major, chosen.giop_version.minor)))
        },
        set: |builder, value| {
            let mut version = builder.chosen().giop_version;
            version.major = 1;
            version.minor = value.text().strip_prefix("1.").and_then(|minor| minor.parse().ok()).unwrap_or(2);
            builder.giop_version(version)
        },
    },
    Setting {
        key: "connect_timeout",
        kind: time(MS),
        what: "The longest time to a connection: name lookup and handshake, all addresses together.",
        spellings: &[spelt("clientConnectTimeOutPeriod", "omniORB; milliseconds", milliseconds)],
        get: |chosen| {
            let chosen = chosen.policies.connect_timeout;
            Some(Value::Time(chosen.unwrap_or(Policies::DEFAULT_CONNECT_TIMEOUT)))
        },
        set: |builder, value| policies(builder, |policies| policies.connect_timeout(value.time())),
    },
    Setting {
        key: "call_timeout",
        kind: time(MS),
        what: "The longest time from a call to its result, connecting included.",
        spellings: &[spelt("clientCallTimeOutPeriod", "omniORB; milliseconds", milliseconds)],
        get: |chosen| {
            Some(Value::Time(chosen.policies.call_timeout.unwrap_or(Policies::DEFAULT_CALL_TIMEOUT)))
        },
        set: |builder, value| policies(builder, |policies| policies.call_timeout(value.time())),
    },
    Setting {
        key: "sync_scope",
        kind: Kind::Choice(&["none", "transport", "server", "target"]),
        what: "How far a oneway goes before it returns.",
        spellings: &[],
        get: |chosen| {
            Some(Value::Text(scope_word(chosen.policies.sync_scope.unwrap_or_default()).to_owned()))
        },
        set: |builder, value| {
            let scope = match value.text() {
                "none" => SyncScope::None,
                "server" => SyncScope::WithServer,
                "target" => SyncScope::WithTarget,
                _ => SyncScope::WithTransport,
            };
            policies(builder, |policies| policies.sync_scope(scope))
        },
    },
    of_buffering!(
        "messages",
        NUMBER,
        "How many oneways of the scope none leave together, once any buffering setting is given: 64 unless it says otherwise; 1: each by \
         itself.",
        |buffering| Value::Count(buffering.most_messages() as usize),
        |buffering, value| buffering.messages(u32::try_from(value.octets()).unwrap_or(u32::MAX))
    ),
    of_buffering!(
        "octets",
        Kind::Octets { least: 64, most: 16 << 20 },
        "Octets of oneways that leave together; 64KiB.",
        |buffering| Value::Octets(buffering.most_octets()),
        |buffering, value| buffering.octets(value.octets())
    ),
    of_buffering!(
        "time",
        Kind::Time { least: Duration::from_micros(10), most: Duration::from_secs(60) },
        "How long the first of them waits for others; 1ms.",
        |buffering| Value::Time(buffering.longest_time()),
        |buffering, value| buffering.time(value.time())
    ),
    Setting {
        key: "fragment_size",
        kind: octets(64),
        what: "Messages above this leave in GIOP fragments; without, none do.",
        spellings: &[],
        get: |chosen| chosen.fragment_size.map(Value::Octets),
        set: |builder, value| builder.fragment_size(value.octets()),
    },
    Setting {
        key: "largest_message",
        kind: octets(1024),
        what: "The largest message that is accepted, header included, as a client and as a server.",
        spellings: &[spelt("giopMaxMsgSize", "omniORB; octets", same)],
        get: |chosen| Some(Value::Octets(chosen.largest_message)),
        set: |builder, value| builder.largest_message(value.octets()),
    },
    Setting {
        key: "message_memory",
        kind: Kind::Octets { least: 0, most: MOST },
        what: "What messages above 16KiB may hold together, of all connections; without, what each may.",
        spellings: &[],
        get: |chosen| chosen.message_memory.map(Value::Octets),
        set: |builder, value| builder.message_memory(value.octets()),
    },
    Setting {
        key: "kept_memory",
        kind: Kind::Octets { least: 0, most: MOST },
        what: "What values that are read in place may keep alive of messages' memory, all together.",
        spellings: &[],
        get: |chosen| Some(Value::Octets(chosen.kept_memory)),
        set: |builder, value| builder.kept_memory(value.octets()),
    },
    Setting {
        key: "kept_memory_at_bound",
        kind: Kind::Choice(&["copy", "refuse"]),
        what: "What happens to a value that would keep more: it is copied, or refused.",
        spellings: &[],
        get: |chosen| {
            let refuses = chosen.kept_memory_at_bound == AtBound::Refuse;
            Some(Value::Text(if refuses { "refuse" } else { "copy" }.to_owned()))
        },
        set: |builder, value| {
            builder.kept_memory_at_bound(match value.text() {
                "refuse" => AtBound::Refuse,
                _ => AtBound::Copy,
            })
        },
    },
    Setting {
        key: "message_buffers",
        kind: Kind::Buffers { most: MOST_BUFFERED },
        what: "Buffers for such messages that are made at the start and used again and again: how many, and octets of each; \
               without, none.",
        spellings: &[],
        get: |chosen| {
            let (count, octets) = chosen.message_buffers?;
            Some(Value::Text(format!("{count}x{}", Value::Octets(octets))))
        },
        set: |builder, value| match buffers(value.text(), MOST_BUFFERED) {
            Ok((count, octets)) => builder.message_buffers(count, octets),
            Err(_) => builder,
        },
    },
    Setting {
        key: "waiting_octets",
        kind: octets(0),
        what: "Oneways and asynchronous calls that may wait for one connection; a larger message waits alone.",
        spellings: &[],
        get: |chosen| Some(Value::Octets(chosen.waiting_octets)),
        set: |builder, value| builder.waiting_octets(value.octets()),
    },
    Setting {
        key: "private_connections",
        kind: count(0),
        what: "Connections to one endpoint that blocking calls have to themselves; further calls share one.",
        spellings: &[],
        get: |chosen| Some(Value::Count(chosen.private_connections)),
        set: |builder, value| builder.private_connections(value.octets()),
    },
    Setting {
        key: "joint_beyond",
        kind: count(0),
        what: "Blocking calls to one endpoint at a time, beyond which short ones share a connection and its system calls.",
        spellings: &[],
        get: |chosen| Some(Value::Count(chosen.joint_beyond)),
        set: |builder, value| builder.joint_beyond(value.octets()),
    },
    Setting {
        key: "client_idle",
        kind: time(MS),
        what: "How long an unused outgoing connection stays open.",
        spellings: &[spelt("outConScanPeriod", "omniORB; seconds", seconds)],
        get: |chosen| Some(Value::Time(chosen.client_idle)),
        set: |builder, value| builder.client_idle(value.time()),
    },
    Setting {
        key: "spinning",
        kind: Kind::Spinning,
        what: "How waits for a reply or for the next request look again before they sleep, over every transport with streams.",
        spellings: &[],
        get: |chosen| Some(Value::Text(chosen.spinning.to_string())),
        set: |builder, value| builder.spinning(as_spinning(value)),
    },
    Setting {
        key: "init_ref",
        kind: Kind::References,
        what: "The URL of an initial reference such as NameService. Each name by itself has its source of precedence.",
        spellings: &[],
        // One by one, by name: see `config`.
        get: |_| None,
        set: |builder, _| builder,
    },
    Setting {
        key: "default_init_ref",
        kind: Kind::Text,
        what: "What the URLs of other initial references begin with; a slash and the name follow.",
        spellings: &[],
        get: |chosen| chosen.default_initial_reference.clone().map(Value::Text),
        set: |builder, value| builder.default_initial_reference(value.text()),
    },
    Setting {
        key: "server.threads",
        kind: Kind::Choice(&["per-connection", "pool", "reactor", "caller"]),
        what: "Which threads serve.",
        spellings: &[spelt("threadPerConnectionPolicy", "omniORB; 1: per-connection, 0: pool", threads)],
        get: |chosen| Some(Value::Text(model_word(chosen.server_threads).to_owned())),
        set: |builder, value| {
            let before = builder.chosen().server_threads;
            if model_word(before) == value.text() {
                return builder;
            }
            builder.server_threads(match value.text() {
                "pool" => ThreadModel::pool(pool_threads()),
                "reactor" => ThreadModel::Reactor,
                "caller" => ThreadModel::Caller,
                _ => ThreadModel::per_connection(),
            })
        },
    },
    Setting {
        key: "server.most_threads",
        kind: Kind::Count { least: 1, most: 65_536 },
        what: "The most threads of per-connection, or how many a pool has; for a pool without it one per processor, and at \
               least four.",
        spellings: &[],
        get: |chosen| match chosen.server_threads {
            ThreadModel::PerConnection { most } => Some(Value::Count(most)),
            ThreadModel::Pool { threads, .. } => Some(Value::Count(threads)),
            _ => None,
        },
        set: |builder, value| {
            let count = value.octets();
            match builder.chosen().server_threads {
                ThreadModel::PerConnection { .. } => {
                    builder.server_threads(ThreadModel::PerConnection { most: count })
                }
                ThreadModel::Pool { .. } => builder.server_threads(ThreadModel::pool(count)),
                _ => builder,
            }
        },
    },
    Setting {
        key: "server.thread_queue",
        kind: count(0),
        what: "Requests that may wait for a thread of a pool; without, ten for each thread, and at least 64.",
        spellings: &[],
        get: |chosen| match chosen.server_threads {
            ThreadModel::Pool { queue, .. } => Some(Value::Count(queue)),
            _ => None,
        },
        set: |builder, value| match builder.chosen().server_threads {
            ThreadModel::Pool { threads, .. } => {
                builder.server_threads(ThreadModel::Pool { threads, queue: value.octets() })
            }
            _ => builder,
        },
    },
    limit!("server.connections", connections, count(1), Count, "Open connections."),
    limit!(
        "server.requests_per_connection",
        requests_per_connection,
        count(1),
        Count,
        "Requests of one connection that are executed or wait to be."
    ),
    limit!(
        "server.octets_per_connection",
        octets_per_connection,
        Kind::Octets { least: 1, most: MOST },
        Octets,
        "Octets of arguments that such requests hold."
    ),
    limit!(
        "server.unsent_octets",
        unsent_octets,
        Kind::Octets { least: 1, most: MOST },
        Octets,
        "Octets of replies that the transport of one connection does not take."
    ),
    limit!(
        "server.send_time",
        send_time,
        time(MS),
        Time,
        "A peer that takes nothing of what waits for it for so long is closed."
    ),
    limit!(
        "server.receive_time",
        receive_time,
        time(MS),
        Time,
        "How long a message may take from its first octet to its last."
    ),
    limit!(
        "server.receive_rate",
        receive_rate,
        Kind::Octets { least: 1, most: MOST },
        Octets,
        "Octets a second that earn a large message more time."
    ),
    limit!(
        "server.idle",
        idle,
        time(MS),
        Time,
        "An unused connection is closed in order after so long.",
        spelt("inConScanPeriod", "omniORB; seconds", seconds)
    ),
    limit!(
        "server.drain",
        drain,
        time(Duration::ZERO),
        Time,
        "How long to go on reading from a connection that was closed in order."
    ),
    limit!(
        "server.queue_time",
        queue_time,
        time(Duration::ZERO),
        Time,
        "How long a request waits for a thread before it is answered with TRANSIENT."
    ),
    limit!(
        "server.stall_time",
        stall_time,
        time(Duration::ZERO),
        Time,
        "The same while every thread waits for the reply to a call of its own."
    ),
    limit!(
        "server.linger",
        linger,
        time(Duration::ZERO),
        Time,
        "How long a thread waits for the next call on its connection before it parks it."
    ),
    limit!(
        "server.nesting",
        nesting,
        Kind::Count { least: 1, most: 64 },
        Count,
        "How deep a reactor serves requests within the waits of others."
    ),
    of_transport!(
        "tcp",
        "queues",
        QUEUE,
        "What the system may hold for a TCP connection in each direction; without, it adapts to the traffic."
    ),
    of_transport!(
        "tcp",
        "no_delay",
        Kind::Choice(&["yes", "no"]),
        "Whether a small message leaves at once instead of waiting for the acknowledgement of the one before; without, yes."
    ),
    of_transport!(
        "tcp",
        "congestion_control",
        Kind::Text,
        "Which of the kernel's algorithms decides how fast to send, such as cubic, reno or bbr; without, the system's."
    ),
    of_transport!(
        "tcp",
        "loopback_congestion_control",
        Kind::Text,
        "The algorithm of connections within the machine, where the system's is one that paces what is sent (bbr); system: as \
         elsewhere; without, reno. One that may not be used changes nothing."
    ),
    of_transport!(
        "tcp",
        "loopback_window",
        QUEUE,
        "How many octets the peer of a connection to or from a loopback address may send before it hears that there is room for more; without, \
         512 KiB."
    ),
    of_transport!(
        "tcp",
        "busy_poll",
        POLL,
        "How long a receive asks the network card again and again; without, as net.core.busy_read says. More takes CAP_NET_ADMIN."
    ),
    of_transport!(
        "tcp",
        "peak_rate",
        Kind::Octets { least: 1, most: MOST },
        "Octets a second that leave by a TCP connection at most; without, there is no bound."
    ),
    of_transport!(
        "unix",
        "queues",
        QUEUE,
        "What the system may hold for a Unix socket in each direction; without, 512 KiB of what is sent, or as many as it grants."
    ),
    Setting {
        key: "unix.users",
        kind: Kind::Users,
        what: "Which users are talked to over Unix sockets beside the superuser, by either side: own, any, or own and those \
               of these numbers.",
        spellings: &[],
        get: |chosen| users_list(chosen, "unix"),
        set: |builder, value| transports::tell(builder, "unix", "users", value),
    },
    Setting {
        key: "shm.users",
        kind: Kind::Users,
        what: "The same over shared memory.",
        spellings: &[],
        get: |chosen| users_list(chosen, "shm"),
        set: |builder, value| transports::tell(builder, "shm", "users", value),
    },
    of_transport!(
        "shm",
        "ring",
        Kind::Ring { least: 4 << 10, most: 1 << 30 },
        "Octets of each of the two rings of a connection that a client opens; without, 128KiB. A server accepts up to 16MiB, \
         or what it has here if that is more."
    ),
    of_transport!(
        "shm",
        "slabs",
        Kind::Slabs,
        "How many slabs each direction of a connection that a client opens has for much data beside its rings, and octets of \
         each: powers of two, 1 to 64 of 4KiB to 16MiB, 64MiB together; without, 32x128KiB. A server accepts up to 16MiB each \
         way, or what it has here if that is more."
    ),
    of_transport!(
        "shm",
        "loans",
        Kind::Octets { least: 0, most: 1 << 40 },
        "Octets of loans that the ORB's shared memory may have out or keep for the next; 0: loans are ordinary memory; without, \
         256MiB."
    ),
    of_transport!(
        "shm",
        "largest_loans",
        Kind::Octets { least: 0, most: 1 << 40 },
        "Octets of a peer's loans that one connection maps, in whole MiB; what is beyond is copied; without, 256MiB."
    ),
    of_transport!(
        "shm",
        "spinning",
        Kind::Spinning,
        "As spinning, of shared memory alone; without, as that says."
    ),
    of_transport!(
        "udp",
        "largest_message",
        Kind::Octets { least: 64, most: 65_507 },
        "The largest message sent by UDP; without, 65507, what a datagram holds."
    ),
    of_transport!(
        "udp",
        "per_second",
        NUMBER,
        "Datagrams that a UDP endpoint looks at in a second; without, 50,000."
    ),
    of_transport!("udp", "burst", NUMBER, "Those that may come at once; without, 5,000."),
    of_transport!("udp", "senders", count(1), "Senders at a time; without, 64."),
    of_transport!(
        "udp",
        "octets_of_sender",
        octets(1),
        "Octets of one sender that wait to be served; without, 1MiB."
    ),
    of_transport!(
        "udp",
        "queues",
        QUEUE,
        "What the system may hold of datagrams in each direction; without, 4MiB of those that have arrived."
    ),
    of_transport!("udp", "busy_poll", POLL, "As tcp.busy_poll, of a UDP endpoint."),
    of_transport!(
        "udp",
        "priority",
        Kind::Count { least: 0, most: i32::MAX as usize },
        "Which datagrams leave this machine first: 0 to 6, the most urgent; above 6 it takes CAP_NET_ADMIN. Without, 0."
    ),
    of_transport!(
        "miop",
        "interface",
        Kind::Text,
        "The network interface that groups are reached and listened to by; without, as the system's routes say."
    ),
    of_transport!(
        "miop",
        "hops",
        Kind::Count { least: 0, most: 255 },
        "How many networks packets to a group may pass; without, 1."
    ),
    of_transport!(
        "miop",
        "loopback",
        Kind::Choice(&["yes", "no"]),
        "Whether members on this host get what is sent; without, yes."
    ),
    of_transport!(
        "miop",
        "packet_size",
        Kind::Octets { least: 64, most: 65_507 },
        "Octets of the packets sent to a group; without, 1472, a frame of Ethernet."
    ),
    of_transport!(
        "miop",
        "largest_message",
        octets(64),
        "The largest message sent to a group; without, 64KiB."
    ),
    of_transport!(
        "miop",
        "queues",
        QUEUE,
        "What the system may hold of a group's packets that have arrived; without, 4MiB."
    ),
    of_transport!("miop", "per_second", NUMBER, "As udp.per_second, of a group's endpoint."),
    of_transport!("miop", "burst", NUMBER, "As udp.burst."),
    of_transport!("miop", "senders", count(1), "As udp.senders."),
    of_transport!("miop", "octets_of_sender", octets(1), "As udp.octets_of_sender."),
    of_transport!(
        "miop",
        "max_message",
        octets(64),
        "The largest message put together of packets; without, 1MiB."
    ),
    of_transport!("miop", "max_packets", NUMBER, "Packets of one message; without, 4,096."),
    of_transport!("miop", "max_messages", count(1), "Incomplete messages; without, 256."),
    of_transport!(
        "miop",
        "max_messages_of_sender",
        count(1),
        "Incomplete messages of one sender; without, 16."
    ),
    of_transport!("miop", "max_octets", octets(1), "Octets that all of them hold; without, 8MiB."),
    of_transport!(
        "miop",
        "max_age",
        time(MS),
        "How long a message may take from its first packet to its last; without, 1s."
    ),
    of_transport!(
        "miop",
        "max_remembered",
        count(1),
        "Messages remembered after they were complete, for as long; without, 1,024."
    ),
];

fn scope_word(scope: SyncScope) -> &'static str {
    match scope {
        SyncScope::None => "none",
        SyncScope::WithTransport => "transport",
        SyncScope::WithServer => "server",
        SyncScope::WithTarget => "target",
    }
}

fn model_word(model: ThreadModel) -> &'static str {
    match model {
        ThreadModel::Pool { .. } => "pool",
        ThreadModel::Reactor => "reactor",
        ThreadModel::Caller => "caller",
        _ => "per-connection",
    }
}

/// Calls that wait for each other need a thread each: four are few enough anywhere.
fn pool_threads() -> usize {
    std::thread::available_parallelism().map_or(4, NonZeroUsize::get).max(4)
}

fn property(chosen: &Chosen, transport: &str, name: &str) -> Option<String> {
    let transport = chosen.transports.iter().find(|it| it.name == transport)?;
    transport.properties.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
}

fn users_list(chosen: &Chosen, transport: &str) -> Option<Value> {
    let users = property(chosen, transport, "users").unwrap_or_else(|| "own".to_owned());
    Some(Value::List(users.split(',').map(str::to_owned).collect()))
}

fn as_spinning(value: &Value) -> Spinning {
    value.text().parse().unwrap_or_default()
}
