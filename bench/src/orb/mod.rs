//! zorb as a system under test, with the defaults that every program gets: an `Echo` object (`echo`) and a
//! receiver of floods (`flood`), called through their generated stubs. The IDL is `bench/idl/echo.idl`.

#![allow(clippy::needless_pass_by_value, reason = "servants take sequences by value")]

mod cube;
mod demux;
pub(crate) mod echo;
mod flood;
mod gathering;
mod idle;
mod lookup;
mod nearby;
mod over;
mod service;
mod studio;

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use zorb::policy::{Buffering, Policies, SyncScope};
use zorb::transport::Spinning;
use zorb::transport::shm::{Shm, TrustedPeers};
use zorb::transport::tcp::Tcp;
use zorb::transport::unix::Unix;
use zorb::{Interface, ObjectRef, Orb, OrbBuilder};

use crate::BenchError;
use crate::concurrency;
use crate::firstcall::Phase;
use crate::flood::{Flood, Flooded};
use crate::lab::Lab;
use crate::process::Server;
use crate::system::{
    Call, Client, Completed, Exchange, Loans, Local, MessageSizes, Payload, Setting, SharedMemory, System,
    Transport, burst,
};

pub(crate) mod idl {
    zorb::include_idl!("echo");
}

use idl::bench::{Echo, ttcp_sequence};

pub use demux::Door;
pub use gathering::Gathering;
pub use over::Over;
pub use studio::Studio;

/// zorb, with the defaults that every program gets.
#[derive(Debug, Clone, Copy)]
pub struct Zorb;

const NAME: &str = "zorb";

/// How long calls in progress may take when the server ends: there are none.
const SHUTDOWN: Duration = Duration::from_secs(1);

pub(crate) fn failed<E: std::fmt::Display>(error: E) -> BenchError {
    BenchError::System { system: NAME, what: error.to_string() }
}

/// An ORB's builder with the setting's transport.
fn builder(setting: &Setting) -> OrbBuilder {
    let mut builder = Orb::builder().spinning(setting.spinning.unwrap_or_default());
    if let Some(messages) = setting.gathered {
        let buffering = Buffering::new().messages(messages);
        builder = builder.policies(Policies::new().sync_scope(SyncScope::None).buffering(buffering));
    }
    if setting.loans == Some(Loans::Trusted) {
        return builder.transport(Arc::new(Shm::new().trusting(trusted())));
    }
    // Sizes that no memory has were refused when they were read.
    if let Some(Ok(shm)) = setting.memory.map(SharedMemory::transport) {
        return builder.transport(Arc::new(shm));
    }
    match (setting.queue, setting.transport) {
        (None, _) => builder,
        (Some(octets), Transport::Tcp) => builder.transport(Arc::new(Tcp::new().queues(octets))),
        (Some(octets), Transport::Unix) => builder.transport(Arc::new(Unix::new().queues(octets))),
        // The nearest there is: a ring has a power of two.
        (Some(octets), Transport::Shm) => {
            let ring = Shm::new().ring(octets.clamp(4 << 10, 1 << 30).next_power_of_two());
            match ring {
                // What it bounds is how much is under way.
                Ok(shm) => builder.transport(Arc::new(shm.without_slabs())),
                Err(_) => builder,
            }
        }
    }
}

/// That the other end of a run's connection is trusted.
#[allow(unsafe_code, reason = "trust is given by an unsafe call")]
fn trusted() -> TrustedPeers {
    // SAFETY: the server listens at a new name, which only the run's client is told, within a folder of this user's; both are this
    // program, whose memory that is lent only zorb writes.
    unsafe { TrustedPeers::new() }
}

/// zorb whose waits sleep at once on both sides, beside which it is seen what looking again brings and costs.
#[derive(Debug, Clone, Copy)]
pub struct Asleep;

impl Asleep {
    fn setting(setting: &Setting) -> Setting {
        Setting { spinning: Some(Spinning::none()), ..setting.clone() }
    }
}

impl System for Asleep {
    fn name(&self) -> &'static str {
        "zorb-asleep"
    }

    fn messaging(&self) -> &'static str {
        Zorb.messaging()
    }

    fn server(&self, lab: &Lab, setting: &Setting) -> Result<Command, BenchError> {
        Zorb.server(lab, &Asleep::setting(setting))
    }

    fn connect(
        &self,
        lab: &Lab,
        setting: &Setting,
        address: &str,
        processor: Option<usize>,
    ) -> Result<Box<dyn Client>, BenchError> {
        Zorb.connect(lab, &Asleep::setting(setting), address, processor)
    }

    fn driver(&self, lab: &Lab, setting: &Setting, address: &str) -> Option<Command> {
        System::driver(&Zorb, lab, &Asleep::setting(setting), address)
    }
}

/// zorb through a bridge of its own: TCP outside, and the setting's transport inside. The bridge is a process, `zorb bridge`, which
/// runs where the client does.
#[derive(Debug, Clone, Copy)]
pub struct Bridged;

impl System for Bridged {
    fn name(&self) -> &'static str {
        "zorb-bridged"
    }

    fn messaging(&self) -> &'static str {
        Zorb.messaging()
    }

    fn server(&self, lab: &Lab, setting: &Setting) -> Result<Command, BenchError> {
        Zorb.server(lab, setting)
    }

    fn connect(
        &self,
        lab: &Lab,
        setting: &Setting,
        address: &str,
        processor: Option<usize>,
    ) -> Result<Box<dyn Client>, BenchError> {
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        command.args(["bridge", "--child", "--listen", "tcp:127.0.0.1:0", "--to", address]);
        command.args(["--inside", setting.transport.name()]);
        let bridge = Server::start(self.name(), command, &lab.bounds(processor))?;
        let outside = Setting { transport: Transport::Tcp, ..setting.clone() };
        let mut client = ZorbClient::new(&outside, bridge.address(), lab.patience)?;
        client.bridge = Some(bridge);
        Ok(Box::new(client))
    }
}

/// A way of calling zorb's one server. Each is a [`System`] of the same name: what differs is the client.
trait Manner: Sync {
    /// The client, made of the one that they all have.
    fn client(&self, client: ZorbClient) -> Result<Box<dyn Client>, BenchError> {
        Ok(Box::new(client))
    }

    /// The command of such a client in a process of its own, where there is one.
    fn driver(&self, _lab: &Lab, _setting: &Setting, _address: &str) -> Option<Command> {
        None
    }

    /// Makes one call at a time, and nothing else: what a meter counts the bytes of.
    fn calling(&self, mut client: ZorbClient, call: Call) -> Result<Box<Calling>, BenchError> {
        client.prepare(call)?;
        let mut times = Vec::new();
        Ok(Box::new(move || client.burst(1, &mut times)))
    }
}

type Calling = dyn FnMut() -> Result<(), BenchError>;

impl Manner for Zorb {
    fn driver(&self, lab: &Lab, setting: &Setting, address: &str) -> Option<Command> {
        Some(lab.own_driver(NAME, address, setting))
    }
}

impl<M: Manner> System for M {
    fn name(&self) -> &'static str {
        NAME
    }

    fn messaging(&self) -> &'static str {
        "giop"
    }

    fn server(&self, lab: &Lab, setting: &Setting) -> Result<Command, BenchError> {
        Ok(lab.own_server(NAME, setting))
    }

    fn connect(
        &self,
        lab: &Lab,
        setting: &Setting,
        address: &str,
        _processor: Option<usize>,
    ) -> Result<Box<dyn Client>, BenchError> {
        self.client(ZorbClient::new(setting, address, lab.patience)?)
    }

    fn driver(&self, lab: &Lab, setting: &Setting, address: &str) -> Option<Command> {
        Manner::driver(self, lab, setting, address)
    }

    fn message_sizes(
        &self,
        lab: &Lab,
        setting: &Setting,
        address: &str,
        payload: Payload,
    ) -> Result<MessageSizes, BenchError> {
        let (meter, address) = service::metered(address)?;
        let client = ZorbClient::new(setting, &address, lab.patience)?;
        let messages = MessageSizes { request: 0, reply: 0 };
        meter.sizes_of(self.calling(client, Call { payload, messages })?)
    }
}

impl Local for Zorb {
    fn serve(&self, setting: &Setting, while_serving: &mut dyn FnMut(&str)) -> Result<(), BenchError> {
        let orb = builder(setting);
        let orb = match setting.transport {
            Transport::Tcp => {
                let any = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0);
                orb.listen(format!("tcp:{}", setting.listen.unwrap_or(any)))
            }
            Transport::Unix => orb.listen("unix:"),
            // The meter goes by the Unix socket; clients prefer shared memory.
            Transport::Shm => orb.listen("shm:").listen("unix:"),
        };
        let orb = orb.build();
        let poa = orb.root_poa().map_err(failed)?;
        let receiver = poa.activate::<ttcp_sequence>(Arc::new(flood::Receiver::new())).map_err(failed)?;
        let services = service::Services::new(&poa)?;
        let echoing = echo::Echoing { receiver, services, poa: poa.clone() };
        let echo = poa.activate::<Echo>(Arc::new(echoing)).map_err(failed)?;
        poa.manager().activate().map_err(failed)?;
        while_serving(&echo.as_object().to_string());
        orb.shutdown(true, SHUTDOWN);
        Ok(())
    }
}

struct ZorbClient {
    echo: Echo,
    exchange: Option<Box<dyn Exchange>>,
    flooding: Option<flood::Sender>,
    patience: Duration,
    /// Kept open, unused.
    idle: Vec<TcpStream>,
    setting: Setting,
    reference: String,
    /// The object of collocated calls, once there were some.
    nearby: Option<nearby::Own>,
    /// Carries the calls; ends with the client.
    orb: Orb,
    /// What the calls pass through, if anything; ends with the client, too.
    bridge: Option<Server>,
}

impl ZorbClient {
    fn new(setting: &Setting, reference: &str, patience: Duration) -> Result<ZorbClient, BenchError> {
        let orb = builder(setting).build();
        let object = orb.string_to_object(reference).map_err(failed)?;
        let object = object.ok_or_else(|| failed("the reference is nil"))?;
        let echo = Echo::from_object(object);
        Ok(ZorbClient {
            echo,
            exchange: None,
            flooding: None,
            patience,
            idle: Vec::new(),
            setting: setting.clone(),
            reference: reference.to_owned(),
            nearby: None,
            orb,
            bridge: None,
        })
    }
}

impl Client for ZorbClient {
    fn system(&self) -> &'static str {
        NAME
    }

    fn prepare(&mut self, call: Call) -> Result<(), BenchError> {
        self.exchange = Some(match call.payload {
            Payload::Cube(kind) => cube::exchange(&service::of(&self.echo)?, kind),
            Payload::Given(size) => echo::given(&self.echo, size, self.setting.loans.map(|_| &self.orb)),
            payload => echo::exchange(&self.echo, payload)?,
        });
        Ok(())
    }

    fn burst(&mut self, calls: usize, times: &mut Vec<Duration>) -> Result<(), BenchError> {
        burst(NAME, self.exchange.as_deref_mut(), calls, times)
    }

    /// Threads that share the reference.
    fn callers(&mut self, callers: u32, time: Duration, call: Call) -> Result<Completed, BenchError> {
        let echo = &self.echo;
        concurrency::threads(callers, time, &|| echo::exchange(echo, call.payload))
    }

    fn collocated(&mut self, calls: u32) -> Result<Duration, BenchError> {
        let nearby = match &mut self.nearby {
            Some(nearby) => nearby,
            none => none.insert(nearby::Own::new(&self.setting)?),
        };
        nearby.calls(calls)
    }

    /// With an ORB of its own, which has no connection yet.
    fn connect_anew(&mut self) -> Result<Duration, BenchError> {
        let orb = builder(&self.setting).build();
        let object = orb.string_to_object(&self.reference).map_err(failed)?;
        let echo = Echo::from_object(object.ok_or_else(|| failed("the reference is nil"))?);
        let start = Instant::now();
        echo.ping().map_err(failed)?;
        let took = start.elapsed();
        orb.shutdown(false, SHUTDOWN);
        Ok(took)
    }

    fn first_call(&mut self, phase: Phase) -> Result<Duration, BenchError> {
        match phase {
            Phase::Connection => self.connect_anew(),
            Phase::Interface => {
                let mut ior = self.echo.as_object().ior().clone();
                ior.type_id = ObjectRef::INFO.id.into();
                let start = Instant::now();
                let object = ObjectRef::new(&self.orb, ior).ok_or_else(|| failed("the reference is nil"))?;
                let echo = Echo::narrow(&object).map_err(failed)?;
                echo.ok_or_else(|| failed("the object has another interface"))?.ping().map_err(failed)?;
                Ok(start.elapsed())
            }
            Phase::Object => {
                let start = Instant::now();
                let object = self.orb.string_to_object(&self.reference).map_err(failed)?;
                let echo = Echo::from_object(object.ok_or_else(|| failed("the reference is nil"))?);
                echo.ping().map_err(failed)?;
                Ok(start.elapsed())
            }
            Phase::Later => {
                let start = Instant::now();
                self.echo.ping().map_err(failed)?;
                Ok(start.elapsed())
            }
        }
    }

    fn idle(&mut self, connections: u32) -> Result<(), BenchError> {
        if connections == 0 {
            self.idle.clear();
        }
        for _ in 0..connections {
            self.idle.push(idle::open(self.echo.as_object().ior())?);
        }
        Ok(())
    }

    fn flood(&mut self, flood: Flood) -> Result<Flooded, BenchError> {
        let same = |sender: &flood::Sender| sender.sends(flood);
        let mut sender = match self.flooding.take().filter(same) {
            Some(sender) => sender,
            None => {
                let receiver = self.echo.receiver().map_err(failed)?;
                flood::Sender::new(receiver.ok_or_else(|| failed("no receiver"))?, flood, self.patience)
            }
        };
        let flooded = sender.send(flood)?;
        self.flooding = Some(sender);
        Ok(flooded)
    }
}
