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

use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use zorb_giop::{IiopProfile, Ior, TaggedProfile, UiopProfile, UnixEndpoint};
use zorb_ipc::{
    AcceptorOptions, Credentials, QueueSizes, UnixAcceptor, UnixAddress, UnixConnector, UnixStream,
};

use super::stream::StreamChannel;
use super::{Acceptor, Channel, Endpoint, InProfile, Published, Transport, Ways};

const NAME: &str = "unix";

/// Refused peers that one look at the acceptor sends away: then others have their turn.
const MOST_REFUSED: usize = 16;

/// A name of ours that nobody listens at is removed when it is as old as this: before, its process may be about to.
const ABANDONED_AFTER: Duration = Duration::from_secs(60);

/// Random names that are tried: one is enough, if chance is.
const TRIES: usize = 8;

/// Which users are talked to, by either side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Users {
    /// The one that this process runs as, and the superuser, who could be anybody.
    #[default]
    Own,
    /// That one, the superuser, and those of these numbers.
    These(Vec<u32>),
    /// Everyone on this machine.
    Any,
}

impl Users {
    fn include(&self, user: u32) -> bool {
        let own = || user == 0 || user == Credentials::own().user;
        match self {
            Users::Own => own(),
            Users::These(users) => own() || users.contains(&user),
            Users::Any => true,
        }
    }

    /// Permissions of a socket: who may connect. The kernel turns away others before they can send anything.
    fn mode(&self) -> u32 {
        if *self == Users::Own { 0o600 } else { 0o666 }
    }

    fn check(&self, stream: &UnixStream, what: &str) -> io::Result<Credentials> {
        let peer = stream.peer_credentials()?;
        if self.include(peer.user) {
            return Ok(peer);
        }
        let refused = format!("{what} runs as user {}, who is not among those talked to", peer.user);
        Err(io::Error::new(io::ErrorKind::PermissionDenied, refused))
    }
}

/// Stream sockets within this machine.
pub struct Unix {
    name: Arc<str>,
    host: String,
    users: Users,
    queues: QueueSizes,
}

impl Unix {
    /// Between processes of this user.
    pub fn new() -> Unix {
        Unix {
            name: Arc::from(NAME),
            host: zorb_ipc::host_name(),
            users: Users::Own,
            queues: QueueSizes::default(),
        }
    }

    /// Talks to these users, whether they connect or are connected to.
    #[must_use]
    pub fn users(mut self, users: Users) -> Unix {
        self.users = users;
        self
    }

    /// Lets the system hold so many octets for a connection in each direction (`SO_SNDBUF`, which is what counts here).
    #[must_use]
    pub fn queues(mut self, octets: usize) -> Unix {
        self.queues = QueueSizes { send: Some(octets), receive: Some(octets) };
        self
    }

    fn endpoint(&self, path: &str) -> Option<Endpoint> {
        let address = UnixAddress::path(path).ok()?;
        Some(Endpoint { transport: self.name.clone(), address: address.to_string().into() })
    }

    /// Whether a host's name is this machine's, with or without its domain.
    fn is_here(&self, host: &str) -> bool {
        let first = |name: &str| name.split('.').next().unwrap_or_default().to_ascii_lowercase();
        if host.contains('.') && self.host.contains('.') {
            return host.eq_ignore_ascii_case(&self.host);
        }
        !host.is_empty() && first(host) == first(&self.host)
    }

    /// Whether the reference says that its object is on another machine.
    fn is_elsewhere(&self, reference: &Ior) -> bool {
        let profiles = reference.profiles.iter().filter_map(|profile| IiopProfile::decode(profile).ok());
        for profile in profiles {
            let mut unix =
                profile.components.iter().filter_map(|component| UnixEndpoint::decode(component).ok());
            if let Some(endpoint) = unix.next() {
                return !self.is_here(&endpoint.host);
            }
            if profile.endpoints().any(|endpoint| self.names_this_machine(&endpoint.host)) {
                return false;
            }
            if profile.port != 0 {
                return true;
            }
        }
        false
    }

    fn names_this_machine(&self, host: &str) -> bool {
        match host.parse() {
            Ok(address) => zorb_ipc::is_own_address(address),
            Err(_) => host.eq_ignore_ascii_case("localhost") || self.is_here(host),
        }
    }

    /// A name that nobody has, in a directory that only this user can change.
    fn bind_anew(&self, options: &AcceptorOptions<zorb_ipc::Unix>) -> io::Result<UnixAcceptor> {
        let directory = private_directory(&self.users)?;
        remove_abandoned(&directory);
        let process = std::process::id();
        for _ in 0..TRIES {
            // New even among names that are free again: references to who had them must not lead here.
            let random = RandomState::new().build_hasher().finish();
            let path = directory.join(format!("{process}-{random:016x}"));
            let address = UnixAddress::path(path).map_err(invalid)?;
            match UnixAcceptor::bind(address, options) {
                Err(error) if error.is_address_in_use() => {}
                bound => return Ok(bound?),
            }
        }
        let taken = format!("{TRIES} random names in {} are taken", directory.display());
        Err(io::Error::new(io::ErrorKind::AddrInUse, taken))
    }
}

impl Default for Unix {
    fn default() -> Self {
        Unix::new()
    }
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}

/// Where sockets without a name of the user's choice are: ours, and nobody else can put anything there.
fn private_directory(users: &Users) -> io::Result<PathBuf> {
    let own = Credentials::own().user;
    // Others must be able to pass through to connect.
    let (path, mode) = match users {
        Users::Own => (format!("/tmp/zorb-{own}"), 0o700),
        _ => (format!("/tmp/zorb-{own}-shared"), 0o711),
    };
    match DirBuilder::new().mode(mode).create(&path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(io::Error::new(error.kind(), format!("cannot make {path}: {error}")));
        }
        _ => {}
    }
    // Not followed: a link that somebody left there leads where they like.
    let found = fs::symlink_metadata(&path)?;
    if !found.is_dir() || found.uid() != own || found.mode() & 0o022 != 0 {
        let refused =
            format!("{path} is not a directory of user {own} in which nobody else can write; remove it");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, refused));
    }
    Ok(path.into())
}

/// Removes names whose process died without removing them. What fails is left to the next.
fn remove_abandoned(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        let made = fs::symlink_metadata(&path).and_then(|found| found.modified());
        let is_old = made
            .is_ok_and(|made| SystemTime::now().duration_since(made).is_ok_and(|age| age > ABANDONED_AFTER));
        if !is_old {
            continue;
        }
        let Ok(address) = UnixAddress::path(&path) else { continue };
        let soon = Instant::now() + Duration::from_millis(100);
        if UnixConnector::new().connect(address, soon).is_err_and(|error| error.is_connection_refused()) {
            let _ = fs::remove_file(path);
        }
    }
}

impl Transport for Unix {
    fn name(&self) -> &'static str {
        NAME
    }

    fn listen(&self, address: &str) -> io::Result<Box<dyn Acceptor>> {
        let options = AcceptorOptions::new().queue_sizes(self.queues).mode(self.users.mode());
        let acceptor = if address.is_empty() {
            self.bind_anew(&options)?
        } else {
            let address: UnixAddress = address.parse().map_err(invalid)?;
            let Some(path) = address.as_path() else {
                return Err(invalid(
                    "an abstract name has no place in references, and no owner: a path is needed",
                ));
            };
            let path = UnixAddress::path(std::path::absolute(path)?).map_err(invalid)?;
            UnixAcceptor::bind(path, &options.replace_abandoned(true))?
        };
        let path = acceptor.local().as_path().and_then(Path::to_str).filter(|path| path.is_ascii());
        let Some(path) = path.map(str::to_owned) else {
            return Err(invalid(format!("{} is not ASCII, as references need it", acceptor.local())));
        };
        let endpoint = self.endpoint(&path).ok_or_else(|| invalid("no path"))?;
        let host = self.host.clone();
        Ok(Box::new(UnixListening { acceptor, endpoint, path, host, users: self.users.clone() }))
    }

    fn connect(&self, to: &Endpoint, deadline: Instant) -> io::Result<Arc<dyn Channel>> {
        let address: UnixAddress = to.address.parse().map_err(invalid)?;
        let stream = UnixConnector::new().queue_sizes(self.queues).connect(address, deadline)?;
        self.users.check(&stream, &format!("the server at {to}"))?;
        Ok(Arc::new(StreamChannel::new(stream, to.clone())))
    }

    fn ways(&self, profile: &TaggedProfile, reference: &Ior) -> Option<Ways> {
        if let Ok(profile) = IiopProfile::decode(profile) {
            let unix = profile.components.iter().filter_map(|component| UnixEndpoint::decode(component).ok());
            let here = unix.filter(|endpoint| self.is_here(&endpoint.host));
            let endpoints = here.filter_map(|endpoint| self.endpoint(&endpoint.path)).collect();
            return Ways::iiop(profile, endpoints);
        }
        let profile = UiopProfile::decode(profile).ok()?;
        if self.is_elsewhere(reference) {
            return None;
        }
        Some(Ways {
            endpoints: vec![self.endpoint(&profile.path)?],
            version: profile.version,
            object_key: profile.object_key,
            components: profile.components,
        })
    }
}

struct UnixListening {
    acceptor: UnixAcceptor,
    endpoint: Endpoint,
    path: String,
    host: String,
    users: Users,
}

impl Acceptor for UnixListening {
    fn accept_now(&self) -> io::Result<Option<Arc<dyn Channel>>> {
        for _ in 0..MOST_REFUSED {
            let stream = match self.acceptor.accept_now() {
                Ok(stream) => stream,
                Err(error) if error.is_would_block() => return Ok(None),
                Err(error) => return Err(error.into()),
            };
            match self.users.check(&stream, "a client") {
                Ok(client) => {
                    let who = match client.process {
                        Some(process) => format!("process {process} of user {}", client.user),
                        None => format!("a process of user {}", client.user),
                    };
                    let peer = Endpoint { transport: self.endpoint.transport.clone(), address: who.into() };
                    return Ok(Some(Arc::new(StreamChannel::new(stream, peer))));
                }
                Err(error) => tracing::warn!(endpoint = %self.endpoint, %error, "connection refused"),
            }
        }
        Ok(None)
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.acceptor.as_fd()
    }

    fn local(&self) -> Endpoint {
        self.endpoint.clone()
    }

    fn published(&self, _: Option<&str>) -> Published {
        let component = UnixEndpoint { host: self.host.clone(), path: self.path.clone() }.encode();
        let path = self.path.clone();
        let uiop = move |object: &InProfile<'_>| {
            let profile = UiopProfile {
                version: object.version,
                path: path.clone(),
                object_key: bytes::Bytes::copy_from_slice(object.object_key),
                components: object.components.to_vec(),
            };
            profile.encode()
        };
        Published {
            addresses: Vec::new(),
            // A host's name that cannot be written leaves the UIOP profile.
            components: component.into_iter().collect(),
            profiles: vec![Arc::new(uiop)],
            endpoints: vec![self.endpoint.clone()],
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::IoSlice;
    use std::os::unix::fs::PermissionsExt;

    use zorb_cdr::Version;

    use super::super::Received;
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
        let who = format!("unix:process {} of user {}", std::process::id(), Credentials::own().user);
        assert_eq!(server.peer().to_string(), who);
        drop(acceptor);
        assert!(!path.exists());
        let gone =
            unix.connect(&Endpoint { transport: "unix".into(), address: "/tmp/none/x".into() }, soon());
        assert!(gone.err().expect("nobody is there").to_string().contains("/tmp/none/x"));
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
