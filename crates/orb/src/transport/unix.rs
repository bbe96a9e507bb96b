//! Unix sockets: within a machine, without TCP's work, and with the kernel's word on who is at the other end.
//!
//! Addresses to listen at: `unix:/path/to/socket`; `unix:` alone takes a new name in a directory of this user's own,
//! `/tmp/zorb-UID`. A file that a dead process left is replaced, and the file goes with the acceptor.
//!
//! References carry such an endpoint twice: as omniORB's component of the IIOP profile, and as TAO's UIOP profile. A
//! client uses one only where it means this machine: the component names its host; UIOP does not, so that a UIOP
//! profile counts unless the reference names another host elsewhere.
//!
//! **Who may be at the other end** is one choice for both sides, [`Users`]: by default only this process's own user and the
//! superuser. Sockets of such a server are readable and writable by their owner alone; whoever connects or is connected to
//! is asked for by the kernel's credentials before an octet is sent. So a socket that somebody else put in a shared
//! directory under a known name is not talked to.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use zorb_giop::{ComponentTag, IiopProfile, Ior, TaggedProfile, UiopProfile};
use zorb_ipc::{Credentials, Error, QueueSizes, UnixAcceptor, UnixAddress, UnixConnector, UnixStream};

pub use super::machine::Users;
use super::machine::{Arriving, Machine};
use super::stream::StreamChannel;
use super::{Acceptor, Channel, Declined, Endpoint, InProfile, Transport, Ways};

const NAME: &str = "unix";

/// Stream sockets within this machine.
#[derive(Clone)]
pub struct Unix {
    machine: Machine,
    /// Octets of them, if they were chosen.
    queues: Option<usize>,
}

/// Octets that the system holds of what was sent: some messages of 64 KiB, so that sender and receiver take turns less often, and not more
/// than lies in a second-level cache.
const SEND: usize = 512 << 10;

impl Unix {
    /// Between processes of this user.
    pub fn new() -> Unix {
        Unix { machine: Machine::new(NAME), queues: None }
    }

    /// A second transport of this kind, under a name of its own: as [`Tcp::named`](super::tcp::Tcp::named).
    #[must_use]
    pub fn named(mut self, name: &'static str) -> Unix {
        self.machine.rename(name);
        self
    }

    /// Talks to these users, whether they connect or are connected to.
    #[must_use]
    pub fn users(mut self, users: Users) -> Unix {
        self.machine.users = users;
        self
    }

    /// Lets the system hold so many octets for a connection in each direction (`SO_SNDBUF`, which is what counts here). Default: 512 KiB, or
    /// as many as it grants (`net.core.wmem_max`).
    #[must_use]
    pub fn queues(mut self, octets: usize) -> Unix {
        self.queues = Some(octets);
        self
    }

    /// The queues of each of its sockets: what was chosen or not.
    pub fn queue_sizes(&self) -> QueueSizes {
        QueueSizes { send: Some(self.queues.unwrap_or(SEND)), receive: self.queues }
    }
}

impl Default for Unix {
    fn default() -> Self {
        Unix::new()
    }
}

impl Transport for Unix {
    fn name(&self) -> &'static str {
        self.machine.name
    }

    fn is_by_name_alone(&self) -> bool {
        self.machine.name != NAME
    }

    fn listen(&self, address: &str) -> io::Result<Box<dyn Acceptor>> {
        let bind = |at, options: &zorb_ipc::AcceptorOptions<zorb_ipc::Unix>| {
            UnixAcceptor::bind(at, &options.clone().queue_sizes(self.queue_sizes()))
        };
        let mut listening = self.machine.listen(address, ComponentTag::OMNIORB_UNIX, bind)?;
        let path = listening.path.clone();
        listening.published.profiles.push(Arc::new(move |object: &InProfile<'_>| {
            let profile = UiopProfile {
                version: object.version,
                path: path.clone(),
                object_key: bytes::Bytes::copy_from_slice(object.object_key),
                components: object.components.to_vec(),
            };
            profile.encode()
        }));
        Ok(Box::new(listening))
    }

    fn connect(&self, to: &Endpoint, deadline: Instant) -> io::Result<Arc<dyn Channel>> {
        let address = self.machine.address(to)?;
        let stream = UnixConnector::new().queue_sizes(self.queue_sizes()).connect(address, deadline)?;
        self.machine.users.check(stream.peer_credentials()?, &format!("the server at {to}"))?;
        Ok(channel(stream, to.clone()))
    }

    fn ways(&self, profile: &TaggedProfile, reference: &Ior) -> Option<Ways> {
        if let Ok(profile) = IiopProfile::decode(profile) {
            let endpoints = self.machine.endpoints(&profile, ComponentTag::OMNIORB_UNIX);
            return Ways::iiop(profile, endpoints);
        }
        let profile = UiopProfile::decode(profile).ok()?;
        if self.machine.is_elsewhere(reference) {
            return None;
        }
        Some(Ways {
            endpoints: vec![self.machine.endpoint(&profile.path)?],
            version: profile.version,
            object_key: profile.object_key,
            components: profile.components,
        })
    }

    fn declines(&self, profile: &TaggedProfile, reference: &Ior) -> Vec<Declined> {
        if let Ok(profile) = UiopProfile::decode(profile)
            && self.machine.is_elsewhere(reference)
        {
            let endpoint = format!("{}:{}", self.machine.name, profile.path);
            let reason = "the reference names another host than this one".to_owned();
            return vec![Declined { endpoint, reason }];
        }
        let profile = IiopProfile::decode(profile);
        profile.map_or_else(
            |_| Vec::new(),
            |profile| self.machine.declined(&profile, ComponentTag::OMNIORB_UNIX),
        )
    }

    fn properties(&self) -> Vec<(&'static str, String)> {
        let queues = self.queues.map(|octets| ("queues", octets.to_string()));
        queues.into_iter().chain(self.machine.users.property()).collect()
    }
}

impl Arriving for UnixAcceptor {
    type Stream = UnixStream;

    fn local(&self) -> &UnixAddress {
        UnixAcceptor::local(self)
    }

    fn accept_now(&self) -> Result<UnixStream, Error> {
        UnixAcceptor::accept_now(self)
    }

    fn credentials(stream: &UnixStream) -> Result<Credentials, Error> {
        stream.peer_credentials()
    }

    fn channel(stream: UnixStream, peer: Endpoint) -> Arc<dyn Channel> {
        channel(stream, peer)
    }
}

/// Of what is sent the system holds [`SEND`] octets, unless a sender has chosen more.
fn channel(stream: UnixStream, peer: Endpoint) -> Arc<dyn Channel> {
    Arc::new(StreamChannel::new(stream, peer).that_queues_little())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::IoSlice;
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    use zorb_cdr::Version;
    use zorb_giop::UnixEndpoint;

    use super::super::Received;
    use super::super::gather::{By, send_few};
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(10)
    }

    fn iiop(host: &str, port: u16, unix: Option<&str>) -> TaggedProfile {
        let component =
            unix.map(|at| UnixEndpoint { host: at.into(), path: "/run/x".into() }.encode().unwrap());
        let components = component.into_iter().collect();
        let version = Version::V1_2;
        IiopProfile { version, host: host.into(), port, object_key: "key".into(), components }
            .encode()
            .unwrap()
    }

    fn uiop() -> TaggedProfile {
        let (version, object_key) = (Version::V1_2, "key".into());
        UiopProfile { version, path: "/run/x".into(), object_key, components: Vec::new() }.encode().unwrap()
    }

    #[test]
    fn octets_travel_and_the_name_goes_with_the_acceptor() {
        let unix = Unix::new();
        let acceptor = unix.listen("").unwrap();
        let path = PathBuf::from(&*acceptor.local().address);
        let mode = |path: &Path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        let client = unix.connect(&acceptor.local(), soon()).unwrap();
        let server = acceptor.accept_now().unwrap().expect("one waits");
        client.send(&[IoSlice::new(b"ab"), IoSlice::new(b"c")], soon()).unwrap();
        let mut into = [0; 8];
        assert_eq!(server.receive(&mut into, soon()).unwrap(), Received::Octets(3));
        assert!(client.queues_little() && server.queues_little());
        let who = format!("unix:process {} of user {}", std::process::id(), Credentials::own().user);
        assert_eq!(server.peer().to_string(), who);
        drop(acceptor);
        assert!(!path.exists());
        let gone =
            unix.connect(&Endpoint { transport: "unix".into(), address: "/tmp/none/x".into() }, soon());
        assert!(gone.err().expect("nobody is there").to_string().contains("/tmp/none/x"));
    }

    #[test]
    fn who_waits_without_a_clock_is_told_what_left_and_when_it_is_late() {
        let unix = Unix::new();
        let acceptor = unix.listen("").unwrap();
        let client = unix.connect(&acceptor.local(), soon()).unwrap();
        let server = acceptor.accept_now().unwrap().expect("one waits");
        let much = vec![7; 4 << 20];
        let by = |left| By { deadline: Instant::now() + left, left: Some(left) };
        // What the socket takes leaves; then there is no room, and nobody reads.
        let late = send_few(&*client, [&much[..]], by(Duration::from_millis(40))).unwrap_err();
        assert!((1..much.len()).contains(&late.sent), "{late:?}");
        let later = send_few(&*client, [&much[..]], by(Duration::from_millis(40))).unwrap_err();
        assert_eq!(later.sent, 0);
        for unsent in [&late, &later] {
            let kind = unsent.error.kind();
            assert!(matches!(kind, io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock), "{unsent:?}");
        }
        // Somebody does: all of it leaves.
        let total = late.sent + much.len();
        let reads = std::thread::spawn(move || {
            let (mut into, mut came) = (vec![0; 1 << 20], 0);
            while came < total {
                let Received::Octets(count) = server.receive(&mut into, soon()).unwrap() else { break };
                assert!(into[..count].iter().all(|octet| *octet == 7));
                came += count;
            }
            came
        });
        send_few(&*client, [&much[..]], by(Duration::from_secs(30))).unwrap();
        assert_eq!(reads.join().unwrap(), total);
    }

    #[test]
    fn a_path_that_references_cannot_carry_is_refused_in_words() {
        for (address, part) in
            [("@name", "abstract"), ("/tmp/z\u{e4}", "ASCII"), (&*format!("/{}", "x".repeat(200)), "107")]
        {
            let error = Unix::new().listen(address).err().expect(address).to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn what_a_dead_process_left_is_replaced_and_what_lives_is_not() {
        let directory = std::env::temp_dir().join(format!("zorb-unix-test-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("socket");
        let text = path.to_str().unwrap();
        // As after a crash: the file stays, nobody listens.
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        let first = Unix::new().listen(text).expect("an abandoned socket is replaced");
        let second = Unix::new().listen(text).err().expect("the first one lives");
        assert_eq!(second.kind(), io::ErrorKind::AddrInUse, "{second}");
        assert!(Unix::new().connect(&first.local(), soon()).is_ok());
        drop(first);
        fs::write(&path, "a file").unwrap();
        assert!(Unix::new().listen(text).is_err(), "it is no socket");
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn other_users_are_not_talked_to_on_either_side() {
        // Nobody but the superuser becomes another user.
        if Credentials::own().user != 0 {
            return;
        }
        assert!(Users::Own.include(0) && !Users::Own.include(65_534));
        assert!(Users::These(vec![7]).include(7) && !Users::These(vec![7]).include(8));
        assert!(Users::Any.include(65_534));
    }

    #[test]
    fn a_unix_socket_is_used_only_where_it_means_this_machine() {
        let unix = Unix::new();
        let here = zorb_ipc::host_name();
        let ways = |profile: &TaggedProfile, all: &[TaggedProfile]| {
            let reference = Ior { type_id: String::new(), profiles: all.to_vec() };
            unix.ways(profile, &reference).map(|ways| ways.endpoints[0].to_string())
        };
        let found = Some("unix:/run/x".to_owned());
        let ours = iiop("host.example", 1, Some(&here));
        assert_eq!(ways(&ours, std::slice::from_ref(&ours)), found);
        let theirs = iiop("host.example", 1, Some("somewhere-else"));
        assert_eq!(ways(&theirs, std::slice::from_ref(&theirs)), None);
        assert_eq!(ways(&uiop(), &[uiop()]), found, "nothing says otherwise");
        assert_eq!(ways(&uiop(), &[theirs, uiop()]), None);
        assert_eq!(ways(&uiop(), &[ours, uiop()]), found);
        for (host, expected) in
            [("127.0.0.1", &found), (&*here, &found), ("192.0.2.1", &None), ("archive.example", &None)]
        {
            assert_eq!(ways(&uiop(), &[iiop(host, 2809, None), uiop()]), *expected, "{host}");
        }
    }
}
