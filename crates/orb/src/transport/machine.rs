//! What the transports within a machine have in common: who may be at the other end, where their sockets are, and whether
//! a reference means this machine.

use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use zorb_giop::{ComponentTag, IiopProfile, Ior, UnixEndpoint};
use zorb_ipc::{AcceptorOptions, Credentials, Error, UnixAddress, UnixConnector};

use super::{Acceptor, Channel, Declined, Endpoint, Published};

/// Refused peers that one look at an acceptor sends away: then others have their turn.
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
    pub(super) fn include(&self, user: u32) -> bool {
        let own = || user == 0 || user == Credentials::own().user;
        match self {
            Users::Own => own(),
            Users::These(users) => own() || users.contains(&user),
            Users::Any => true,
        }
    }

    /// Itself as a property of a transport, where it is not the default.
    pub(super) fn property(&self) -> Option<(&'static str, String)> {
        let users = match self {
            Users::Own => return None,
            Users::Any => "any".to_owned(),
            Users::These(users) => users.iter().map(u32::to_string).collect::<Vec<_>>().join(","),
        };
        Some(("users", users))
    }

    /// Permissions of a socket: who may connect. The kernel turns away others before they can send anything.
    fn mode(&self) -> u32 {
        if *self == Users::Own { 0o600 } else { 0o666 }
    }

    /// Whether they are talked to; `what` says what they are to us.
    pub(super) fn check(&self, peer: Credentials, what: &str) -> io::Result<()> {
        if self.include(peer.user) {
            return Ok(());
        }
        let refused = format!("{what} runs as user {}, who is not among those talked to", peer.user);
        Err(io::Error::new(io::ErrorKind::PermissionDenied, refused))
    }
}

/// This machine, as one transport sees it.
#[derive(Clone)]
pub(super) struct Machine {
    transport: Arc<str>,
    /// The same.
    pub(super) name: &'static str,
    /// Its own name.
    host: String,
    pub(super) users: Users,
}

impl Machine {
    pub(super) fn new(transport: &'static str) -> Machine {
        Machine {
            transport: transport.into(),
            name: transport,
            host: zorb_ipc::host_name(),
            users: Users::Own,
        }
    }

    /// The same for a transport of that name.
    pub(super) fn rename(&mut self, name: &'static str) {
        self.transport = name.into();
        self.name = name;
    }

    /// The endpoint of a path on this machine.
    pub(super) fn endpoint(&self, path: &str) -> Option<Endpoint> {
        let address = UnixAddress::path(path).ok()?;
        Some(Endpoint { transport: self.transport.clone(), address: address.to_string().into() })
    }

    /// The endpoints on this machine that components with this tag name.
    pub(super) fn endpoints(&self, profile: &IiopProfile, tag: ComponentTag) -> Vec<Endpoint> {
        let named =
            profile.components.iter().filter_map(|component| UnixEndpoint::decode_as(tag, component).ok());
        let here = named.filter(|endpoint| self.is_here(&endpoint.host));
        here.filter_map(|endpoint| self.endpoint(&endpoint.path)).collect()
    }

    /// Those that it has on other machines.
    pub(super) fn declined(&self, profile: &IiopProfile, tag: ComponentTag) -> Vec<Declined> {
        let named =
            profile.components.iter().filter_map(|component| UnixEndpoint::decode_as(tag, component).ok());
        named
            .filter(|endpoint| !self.is_here(&endpoint.host))
            .map(|endpoint| Declined {
                endpoint: format!("{}:{}", self.transport, endpoint.path),
                reason: format!("on another host: {}, and this one is {}", endpoint.host, self.host),
            })
            .collect()
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
    pub(super) fn is_elsewhere(&self, reference: &Ior) -> bool {
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

    /// Who is meant by an endpoint of this transport.
    pub(super) fn address(&self, endpoint: &Endpoint) -> io::Result<UnixAddress> {
        endpoint.address.parse().map_err(invalid)
    }

    /// Listens at a path, or at a new name if there is none; what references say of it is a component with this tag.
    pub(super) fn listen<A: Arriving>(
        &self,
        path: &str,
        tag: ComponentTag,
        bind: impl Fn(UnixAddress, &AcceptorOptions<zorb_ipc::Unix>) -> Result<A, Error>,
    ) -> io::Result<Listening<A>> {
        let options = AcceptorOptions::new().mode(self.users.mode());
        let acceptor = match path {
            "" => self.bind_anew(|address| bind(address, &options))?,
            path => {
                let address: UnixAddress = path.parse().map_err(invalid)?;
                let Some(path) = address.as_path() else {
                    return Err(invalid(
                        "an abstract name has no place in references, and no owner: a path is needed",
                    ));
                };
                let path = UnixAddress::path(std::path::absolute(path)?).map_err(invalid)?;
                bind(path, &options.replace_abandoned(true))?
            }
        };
        let path = acceptor.local().as_path().and_then(Path::to_str).filter(|path| path.is_ascii());
        let Some(path) = path.map(str::to_owned) else {
            return Err(invalid(format!("{} is not ASCII, as references need it", acceptor.local())));
        };
        let endpoint = self.endpoint(&path).ok_or_else(|| invalid("no path"))?;
        let component = UnixEndpoint { host: self.host.clone(), path: path.clone() }.encode_as(tag);
        let published = Published {
            // A host's name that cannot be written leaves the other ways.
            components: component.into_iter().collect(),
            endpoints: vec![endpoint.clone()],
            ..Published::default()
        };
        Ok(Listening { acceptor, path, endpoint, published, users: self.users.clone() })
    }

    /// A name that nobody has, in a directory that only this user can change.
    fn bind_anew<A>(&self, bind: impl Fn(UnixAddress) -> Result<A, Error>) -> io::Result<A> {
        let directory = private_directory(&self.users)?;
        remove_abandoned(&directory);
        let process = std::process::id();
        for _ in 0..TRIES {
            // New even among names that are free again: references to who had them must not lead here.
            let random = RandomState::new().build_hasher().finish();
            let path = directory.join(format!("{process}-{random:016x}"));
            let address = UnixAddress::path(path).map_err(invalid)?;
            match bind(address) {
                Err(error) if error.is_address_in_use() => {}
                bound => return Ok(bound?),
            }
        }
        let taken = format!("{TRIES} random names in {} are taken", directory.display());
        Err(io::Error::new(io::ErrorKind::AddrInUse, taken))
    }
}

/// What listens at a Unix socket and yields connections.
pub(super) trait Arriving: AsFd + Send + Sync {
    /// A connection.
    type Stream;
    /// Where it listens.
    fn local(&self) -> &UnixAddress;
    /// The next connection, or would-block.
    fn accept_now(&self) -> Result<Self::Stream, Error>;
    /// Who is at its other end.
    fn credentials(stream: &Self::Stream) -> Result<Credentials, Error>;
    /// The connection as a channel, with the name of its peer.
    fn channel(stream: Self::Stream, peer: Endpoint) -> Arc<dyn Channel>;
}

/// An acceptor that lets in whom it may.
pub(super) struct Listening<A> {
    acceptor: A,
    /// Its socket's file.
    pub(super) path: String,
    endpoint: Endpoint,
    /// What references say of it.
    pub(super) published: Published,
    users: Users,
}

impl<A: Arriving> Acceptor for Listening<A> {
    fn accept_now(&self) -> io::Result<Option<Arc<dyn Channel>>> {
        for _ in 0..MOST_REFUSED {
            let stream = match self.acceptor.accept_now() {
                Ok(stream) => stream,
                Err(error) if error.is_would_block() => return Ok(None),
                Err(error) => return Err(error.into()),
            };
            let client = A::credentials(&stream)?;
            if let Err(error) = self.users.check(client, "a client") {
                tracing::warn!(endpoint = %self.endpoint, %error, "connection refused");
                continue;
            }
            let who = match client.process {
                Some(process) => format!("process {process} of user {}", client.user),
                None => format!("a process of user {}", client.user),
            };
            let peer = Endpoint { transport: self.endpoint.transport.clone(), address: who.into() };
            return Ok(Some(A::channel(stream, peer)));
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
        self.published.clone()
    }
}

pub(super) fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
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
