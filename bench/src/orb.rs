//! zorb as a system under test: an `Echo` object, called through its generated stub.

#![allow(clippy::needless_pass_by_value, reason = "servants take sequences by value")]

use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use zorb::giop::{ComponentTag, IiopProfile, Ior};
use zorb::{Call as Context, Interface, Orb, Sequence, SystemException};

use crate::BenchError;
use crate::lab::Lab;
use crate::meter::Meter;
use crate::system::{
    Call, Client, Exchange, Local, MessageSizes, Payload, Setting, System, Transport, burst, fill,
    first_difference, stamp,
};

mod idl {
    zorb::include_idl!("echo");
}

use idl::bench::{Echo, EchoServant};

/// zorb, with the defaults that every program gets.
#[derive(Debug, Clone, Copy)]
pub struct Zorb;

const NAME: &str = "zorb";

/// How long calls in progress may take when the server ends: there are none.
const SHUTDOWN: Duration = Duration::from_secs(1);

fn failed<E: std::fmt::Display>(error: E) -> BenchError {
    BenchError::System { system: NAME, what: error.to_string() }
}

/// Returns what it gets.
struct Echoing;

impl EchoServant for Echoing {
    fn ping(&self, _cx: &Context) -> Result<(), SystemException> {
        Ok(())
    }

    fn repeat(&self, _cx: &Context, payload: Sequence<u8>) -> Result<Sequence<u8>, SystemException> {
        Ok(payload)
    }
}

impl System for Zorb {
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
        _lab: &Lab,
        setting: &Setting,
        address: &str,
        _processor: Option<usize>,
    ) -> Result<Box<dyn Client>, BenchError> {
        let Transport::Tcp = setting.transport;
        Ok(Box::new(ZorbClient::new(address)?))
    }

    fn message_sizes(
        &self,
        _lab: &Lab,
        _setting: &Setting,
        address: &str,
        payload: Payload,
    ) -> Result<MessageSizes, BenchError> {
        let mut reference: Ior = address.parse().map_err(failed)?;
        let first = reference.profiles.first().ok_or_else(|| failed("the reference is nil"))?;
        let mut profile = IiopProfile::decode(first).map_err(failed)?;
        let host = profile.host.parse().map_err(|_| failed(format!("{} is not numeric", profile.host)))?;
        let meter = Meter::start(SocketAddr::new(host, profile.port))?;
        // The same object, reached through the meter and by no other way.
        profile.host = meter.address().ip().to_string();
        profile.port = meter.address().port();
        profile.components.retain(|component| component.tag != ComponentTag::ALTERNATE_IIOP_ADDRESS);
        reference.profiles = vec![profile.encode().map_err(failed)?];
        let mut client = ZorbClient::new(&reference.to_string())?;
        let messages = MessageSizes { request: 0, reply: 0 };
        client.prepare(Call { payload, messages })?;
        let mut times = Vec::new();
        meter.sizes_of(|| client.burst(1, &mut times))
    }
}

impl Local for Zorb {
    fn serve(&self, setting: &Setting, while_serving: &mut dyn FnMut(&str)) -> Result<(), BenchError> {
        let Transport::Tcp = setting.transport;
        let orb = Orb::builder().listen("tcp:127.0.0.1:0").build();
        let poa = orb.root_poa().map_err(failed)?;
        let echo = poa.activate::<Echo>(Arc::new(Echoing)).map_err(failed)?;
        poa.manager().activate().map_err(failed)?;
        while_serving(&echo.as_object().to_string());
        orb.shutdown(true, SHUTDOWN);
        Ok(())
    }
}

struct ZorbClient {
    echo: Echo,
    exchange: Option<Box<dyn Exchange>>,
    /// Carries the calls; ends with the client.
    _orb: Orb,
}

impl ZorbClient {
    fn new(reference: &str) -> Result<ZorbClient, BenchError> {
        let orb = Orb::builder().build();
        let object = orb.string_to_object(reference).map_err(failed)?;
        let object = object.ok_or_else(|| failed("the reference is nil"))?;
        Ok(ZorbClient { echo: Echo::from_object(object), exchange: None, _orb: orb })
    }
}

impl Client for ZorbClient {
    fn system(&self) -> &'static str {
        NAME
    }

    fn prepare(&mut self, call: Call) -> Result<(), BenchError> {
        let echo = self.echo.clone();
        self.exchange = Some(match call.payload {
            Payload::Null => Box::new(Pings { echo }),
            Payload::Octets(size) => {
                let mut sent = vec![0; size];
                fill(&mut sent);
                Box::new(Echoes { echo, sent, received: Sequence::default(), number: 0 })
            }
        });
        Ok(())
    }

    fn burst(&mut self, calls: usize, times: &mut Vec<Duration>) -> Result<(), BenchError> {
        burst(NAME, self.exchange.as_deref_mut(), calls, times)
    }
}

struct Pings {
    echo: Echo,
}

impl Exchange for Pings {
    fn round_trip(&mut self) -> Result<(), BenchError> {
        self.echo.ping().map_err(failed)
    }

    fn verify(&mut self) -> Result<(), BenchError> {
        Ok(())
    }
}

struct Echoes {
    echo: Echo,
    sent: Vec<u8>,
    received: Sequence<u8>,
    number: u64,
}

impl Exchange for Echoes {
    fn round_trip(&mut self) -> Result<(), BenchError> {
        self.received = self.echo.repeat(&self.sent).map_err(failed)?;
        Ok(())
    }

    fn verify(&mut self) -> Result<(), BenchError> {
        if let Some(what) = first_difference(&self.sent, &self.received) {
            return Err(BenchError::Corrupt { system: NAME, what });
        }
        self.number += 1;
        stamp(&mut self.sent, self.number);
        // What a caller does with a result, sooner or later.
        self.received = Sequence::default();
        Ok(())
    }
}
