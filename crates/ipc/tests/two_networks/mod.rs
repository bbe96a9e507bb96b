//! Two processes, each in a network namespace of its own, joined by a pair of interfaces.
//!
//! ```text
//!   near                                            far, which is a router too
//!   192.0.2.1, 192.0.2.3 [near0] ═══════════ [far0] 192.0.2.2
//!   2001:db8::1, ::3                                2001:db8::2
//!                                                   [beyond0], 1000 octets: 203.0.113.0/24
//!   via the far one: 198.51.100.0/24,               198.51.100.0/25 is unreachable, of the rest it knows nothing
//!     203.0.113.0/24, 2001:db8:1::/48
//! ```
//!
//! A test calls [`run`] with what each side does. It then runs itself twice more, once within each namespace,
//! and fails if one of the two does. A namespace lives as long as the process that holds it, a `cat` that
//! ends with our end of its pipe, however this process ends; nothing of it has a name that could be left
//! behind.
//!
//! Who is not root is made root of a user namespace, to which both networks belong.
//!
//! Where this host makes no namespaces, for want of rights or tools, a line says that they are left out;
//! with `ZORB_REQUIRE_PEERS=1` that is a failure.

#[path = "../left_out/mod.rs"]
mod left_out;

use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Signal, geteuid, set_parent_process_death_signal};

pub(crate) use left_out::left_out;

/// Far beyond what any of this takes; a test that waits for it has failed.
pub(crate) const LONG: Duration = Duration::from_secs(30);

/// Which side a process is.
const SIDE: &str = "ZORB_IPC_SIDE";
/// The socket by which the two keep step.
const MEETING: &str = "ZORB_IPC_MEETING";

/// Runs the test of that name on two networks.
pub(crate) fn run(name: &str, near: impl FnOnce(&mut Meeting), far: impl FnOnce(&mut Meeting)) {
    let side = env::var(SIDE);
    if side.is_ok() {
        // It does not outlive the test that started it.
        set_parent_process_death_signal(Some(Signal::KILL)).unwrap();
    }
    match side.as_deref() {
        Ok("near") => near(&mut Meeting::wait()),
        Ok(_) => far(&mut Meeting::join()),
        Err(_) => match Networks::up() {
            Ok(networks) => networks.run(name),
            Err(why) => left_out("two networks", &why),
        },
    }
}

pub(crate) fn has_ipv6() -> bool {
    Path::new("/proc/net/if_inet6").exists()
}

/// What keeps the two sides in step, over the file system, which they share.
pub(crate) struct Meeting {
    other: BufReader<UnixStream>,
}

impl Meeting {
    fn wait() -> Self {
        let listener = UnixListener::bind(place()).unwrap();
        let (other, _) = listener.accept().unwrap();
        // Both are there.
        let _ = std::fs::remove_file(place());
        Self::over(other)
    }

    fn join() -> Self {
        let until = Instant::now() + LONG;
        loop {
            match UnixStream::connect(place()) {
                Ok(stream) => return Self::over(stream),
                Err(error) => assert!(Instant::now() < until, "nobody to meet: {error}"),
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn over(stream: UnixStream) -> Self {
        stream.set_read_timeout(Some(2 * LONG)).unwrap();
        Self { other: BufReader::new(stream) }
    }

    /// Waits until the other side is at the same point.
    pub(crate) fn at(&mut self, point: &str) {
        writeln!(self.other.get_mut(), "{point}").expect("the other side has ended");
        let mut line = String::new();
        self.other.read_line(&mut line).expect("the other side does not come");
        assert_eq!(line.trim_end(), point, "what the other side is at; nothing if it has ended");
    }
}

fn place() -> PathBuf {
    env::var_os(MEETING).unwrap().into()
}

/// Both namespaces, for as long as their holders.
struct Networks {
    near: Holder,
    far: Holder,
}

struct Holder {
    process: Child,
    /// What `nsenter` is told to come to where the namespace is: nothing more, or into the user namespace too.
    as_whom: &'static [&'static str],
}

/// Into a user namespace as who one is, since the rights there are those of its maker.
const INTO_USERS: &[&str] = &["--user", "--preserve-credentials"];

impl Networks {
    fn up() -> Result<Self, String> {
        let (near, far) = if geteuid().is_root() {
            (Holder::start(Command::new("unshare"), &[])?, Holder::start(Command::new("unshare"), &[])?)
        } else {
            let mut as_root = Command::new("unshare");
            as_root.args(["--user", "--map-root-user"]);
            let near = Holder::start(as_root, INTO_USERS)?;
            let mut beside = Command::new("nsenter");
            beside.arg(format!("--target={}", near.process.id())).args(INTO_USERS).args(["--", "unshare"]);
            let far = Holder::start(beside, INTO_USERS)?;
            (near, far)
        };
        near.tool(&format!("ip link add near0 type veth peer name far0 netns {}", far.process.id()))?;
        near.tool("ip address add 192.0.2.1/24 dev near0")?;
        near.tool("ip address add 192.0.2.3/24 dev near0")?;
        far.tool("ip address add 192.0.2.2/24 dev far0")?;
        far.tool("ip link add beyond0 mtu 1000 type veth peer name beyond1")?;
        near.tool("ip link set near0 up")?;
        for interface in ["far0", "beyond0", "beyond1"] {
            far.tool(&format!("ip link set {interface} up"))?;
        }
        far.tool("ip route add 203.0.113.0/24 dev beyond0")?;
        far.tool("ip route add unreachable 198.51.100.0/25")?;
        near.tool("ip route add 203.0.113.0/24 via 192.0.2.2")?;
        near.tool("ip route add 198.51.100.0/24 via 192.0.2.2")?;
        far.set("ipv4/ip_forward", "1")?;
        // Every datagram is to be answered.
        far.set("ipv4/icmp_ratelimit", "0")?;
        if has_ipv6() {
            // Without first asking whether somebody has the address.
            near.tool("ip -6 address add 2001:db8::1/64 dev near0 nodad")?;
            near.tool("ip -6 address add 2001:db8::3/64 dev near0 nodad")?;
            far.tool("ip -6 address add 2001:db8::2/64 dev far0 nodad")?;
            far.set("ipv6/conf/all/forwarding", "1")?;
            far.set("ipv6/icmp/ratelimit", "0")?;
            near.tool("ip -6 route add 2001:db8:1::/48 via 2001:db8::2")?;
        }
        Ok(Self { near, far })
    }

    fn run(&self, name: &str) {
        let meeting = env::temp_dir().join(format!("zorb-ipc-{}-{name}.meeting", std::process::id()));
        let side = |side: &str, holder: &Holder| {
            let mut command = holder.within(env::current_exe().unwrap());
            command.args([name, "--exact", "--nocapture"]).env(SIDE, side).env(MEETING, &meeting);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        let (near, far) = (side("near", &self.near), side("far", &self.far));
        // Side by side, so that neither waits for somebody to read what it says.
        let far = thread::spawn(move || far.wait_with_output().unwrap());
        let near = near.wait_with_output().unwrap();
        let far = far.join().unwrap();
        let _ = std::fs::remove_file(&meeting);
        assert!(passed(&near) && passed(&far), "{}{}", said("near", &near), said("far", &far));
        // What a side has left out.
        for line in [&near, &far].iter().flat_map(|output| output.stderr.split(|&octet| octet == b'\n')) {
            if let Some((what, why)) = String::from_utf8_lossy(line).split_once(" left out: ") {
                left_out(what, why);
            }
        }
    }
}

/// Whether it has run the test, and the test has passed.
fn passed(output: &Output) -> bool {
    output.status.success() && String::from_utf8_lossy(&output.stdout).contains("test result: ok. 1 passed")
}

fn said(side: &str, output: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("\n== the {side} side, {}:\n{out}{err}", output.status)
}

impl Holder {
    /// `unshare` is to make a network namespace.
    fn start(mut unshare: Command, as_whom: &'static [&'static str]) -> Result<Self, String> {
        unshare.args(["--net", "--", "sh", "-c", "ip link set lo up && echo ready && exec cat"]);
        unshare.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = unshare.spawn().map_err(|error| format!("unshare: {error}"))?;
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let read = out.read_line(&mut line);
        let holder = Self { process: child, as_whom };
        match read {
            Ok(_) if line == "ready\n" => Ok(holder),
            _ => Err(holder.complaint()),
        }
    }

    /// What it says at its end.
    fn complaint(mut self) -> String {
        drop(self.process.stdin.take());
        let mut said = String::new();
        let _ = self.process.stderr.take().unwrap().read_to_string(&mut said);
        said.trim_end().to_owned()
    }

    /// That program within the namespace.
    fn within(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--target={}", self.process.id())).args(self.as_whom);
        command.args(["--net", "--"]).arg(program);
        command
    }

    fn tool(&self, line: &str) -> Result<(), String> {
        let (program, arguments) = line.split_once(' ').unwrap();
        let mut command = self.within(program);
        let output = command.args(arguments.split(' ')).stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("{line}: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("{line}: {}", String::from_utf8_lossy(&output.stderr).trim_end()))
    }

    /// A setting of the namespace (`/proc/sys/net`).
    fn set(&self, name: &str, value: &str) -> Result<(), String> {
        let mut command = self.within("sh");
        command.args(["-c", &format!("echo {value} > /proc/sys/net/{name}")]).stdin(Stdio::null());
        let output = command.output().map_err(|error| format!("{name}: {error}"))?;
        if output.status.success() { Ok(()) } else { Err(format!("{name} cannot be set")) }
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}
