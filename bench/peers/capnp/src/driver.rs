//! The calling end.

use std::time::{Duration, Instant};

use capnp::capability::Response;
use capnp_rpc::RpcSystem;
use capnp_rpc::rpc_twoparty_capnp::Side;
use peer::{Element, Failure, Flooded, Kind, Mixed, Settings, Value, character, pattern};
use tokio::task::{JoinHandle, spawn_local};

use crate::bench_capnp::bench::{
    Client, cube_long_results, cube_longs_results, cube_octet_results, cube_octets_results,
    cube_short_results, cube_struct_results, echo_results,
};
use crate::connection::network;

/// A connection; it ends when this is dropped.
#[derive(Debug)]
struct Connection {
    system: JoinHandle<Result<(), capnp::Error>>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.system.abort();
    }
}

/// The server's object, over a connection of its own, after one call.
async fn open(settings: &Settings) -> Result<(Connection, Client), Failure> {
    let stream = peer::connect(settings).await?;
    let mut system = RpcSystem::new(network(stream, Side::Client), None);
    let client: Client = system.bootstrap(Side::Server);
    let connection = Connection { system: spawn_local(system) };
    client.ping_request().send().promise.await?;
    Ok((connection, client))
}

/// Holds a connection, and those that are idle.
pub(crate) struct Driver {
    settings: Settings,
    client: Client,
    _connection: Connection,
    held: Vec<(Connection, Client)>,
}

impl Driver {
    pub(crate) async fn new(settings: Settings) -> Result<Driver, Failure> {
        let (connection, client) = open(&settings).await?;
        Ok(Driver { settings, client, _connection: connection, held: Vec::new() })
    }
}

/// A reply, read where it lies.
enum Reply {
    Nothing,
    Echo(Response<echo_results::Owned>),
    Short(Response<cube_short_results::Owned>),
    Long(Response<cube_long_results::Owned>),
    Octet(Response<cube_octet_results::Owned>),
    Mixed(Response<cube_struct_results::Owned>),
    Octets(Response<cube_octets_results::Owned>),
    Longs(Response<cube_longs_results::Owned>),
}

impl Reply {
    fn value(&self) -> Result<Value, capnp::Error> {
        Ok(match self {
            Reply::Nothing => Value::Nothing,
            Reply::Echo(reply) => Value::Octets(reply.get()?.get_value()?.to_vec()),
            Reply::Short(reply) => Value::Short(reply.get()?.get_value()),
            Reply::Long(reply) => Value::Long(reply.get()?.get_value()),
            Reply::Octet(reply) => Value::Octet(reply.get()?.get_value()),
            Reply::Mixed(reply) => {
                let value = reply.get()?.get_value()?;
                Value::Mixed(Mixed { o: value.get_o(), l: value.get_l(), s: value.get_s() })
            }
            Reply::Octets(reply) => Value::Octets(reply.get()?.get_value()?.to_vec()),
            Reply::Longs(reply) => Value::Longs(reply.get()?.get_value()?.iter().collect()),
        })
    }
}

/// A prepared call.
pub(crate) struct Call {
    client: Client,
    kind: Kind,
    sent: Value,
    got: Option<Reply>,
}

macro_rules! call {
    ($client:expr, $request:ident, $value:expr) => {{
        let mut request = $client.$request();
        request.get().set_value($value);
        request.send().promise.await?
    }};
}

impl peer::Call for Call {
    fn change(&mut self, number: u64) {
        self.sent = Value::sent(self.kind, number);
    }

    async fn make(&mut self) -> Result<(), Failure> {
        let client = &self.client;
        self.got = Some(match &self.sent {
            Value::Nothing => {
                client.ping_request().send().promise.await?;
                Reply::Nothing
            }
            Value::Short(value) => Reply::Short(call!(client, cube_short_request, *value)),
            Value::Long(value) => Reply::Long(call!(client, cube_long_request, *value)),
            Value::Octet(value) => Reply::Octet(call!(client, cube_octet_request, *value)),
            Value::Mixed(Mixed { o, l, s }) => {
                let mut request = client.cube_struct_request();
                let mut value = request.get().init_value();
                value.set_o(*o);
                value.set_l(*l);
                value.set_s(*s);
                Reply::Mixed(request.send().promise.await?)
            }
            Value::Octets(values) if matches!(self.kind, Kind::Echo(_)) => {
                Reply::Echo(call!(client, echo_request, values))
            }
            Value::Octets(values) => Reply::Octets(call!(client, cube_octets_request, values)),
            Value::Longs(values) => {
                let mut request = client.cube_longs_request();
                fill(request.get().init_value(values.len() as u32), |index| values[index]);
                Reply::Longs(request.send().promise.await?)
            }
        });
        Ok(())
    }

    fn verify(&mut self) -> Result<(), Failure> {
        let got = self.got.take().ok_or("no reply has come")?;
        got.value()?.verify(self.kind, self.sent.clone())
    }
}

/// Writes a list in place.
fn fill<T: capnp::private::layout::PrimitiveElement>(
    mut list: capnp::primitive_list::Builder<'_, T>,
    item: impl Fn(usize) -> T,
) {
    let slice = list.as_slice().expect("a list that was just made lies in one piece");
    for (index, element) in slice.iter_mut().enumerate() {
        *element = item(index);
    }
}

impl peer::Driver for Driver {
    type Call = Call;

    fn call(&self, kind: Kind) -> Call {
        Call { client: self.client.clone(), kind, sent: Value::Nothing, got: None }
    }

    async fn flood(&self, element: Element, payload: usize, count: u32) -> Result<Flooded, Failure> {
        let client = &self.client;
        let length = element.elements(payload) as u32;
        let mut expect = client.expect_request();
        expect.get().set_element(element.name());
        expect.get().set_payload(payload as u64);
        expect.get().set_buffers(count);
        expect.send().promise.await?;

        // A stream's calls wait here while its window is full.
        macro_rules! send {
            ($request:ident, |$buffer:ident, $value:ident| $fill:expr) => {
                for number in 0..count {
                    let mut request = client.$request();
                    let $buffer = request.get().init_buffer(length);
                    let $value = |index: usize| pattern(number, index);
                    $fill;
                    request.send().await?;
                }
            };
        }
        macro_rules! members {
            ($item:expr, $value:expr) => {{
                $item.set_s($value as i16);
                $item.set_c($value as u8);
                $item.set_l($value as i32);
                $item.set_o($value as u8);
                $item.set_d(f64::from($value));
            }};
        }
        let began = Instant::now();
        match element {
            Element::Octet => send!(send_octets_request, |buffer, value| octets(buffer, value)),
            Element::Char => send!(send_chars_request, |buffer, value| octets(buffer, value)),
            Element::Short => {
                send!(send_shorts_request, |buffer, value| fill(buffer, |index| value(index) as i16))
            }
            Element::Long => {
                send!(send_longs_request, |buffer, value| fill(buffer, |index| value(index) as i32))
            }
            Element::Double => {
                send!(send_doubles_request, |buffer, value| fill(buffer, |index| f64::from(value(index))))
            }
            Element::Struct => send!(send_structs_request, |buffer, value| {
                let mut items = buffer;
                for index in 0..length {
                    let mut item = items.reborrow().get(index);
                    members!(item, value(index as usize));
                }
            }),
            Element::Struct32 => send!(send_structs32_request, |buffer, value| {
                let mut items = buffer;
                for index in 0..length {
                    let mut item = items.reborrow().get(index);
                    members!(item, value(index as usize));
                    item.set_filler(u64::from(value(index as usize) as u8));
                }
            }),
            Element::String => send!(send_string_request, |buffer, value| {
                for (index, octet) in buffer.as_bytes_mut().iter_mut().enumerate() {
                    *octet = character(value(index));
                }
            }),
        }
        let sent = began.elapsed();
        executed(client, count).await?;
        Ok(Flooded { sent, executed: began.elapsed() })
    }

    async fn connect(&self) -> Result<Duration, Failure> {
        let began = Instant::now();
        let opened = open(&self.settings).await?;
        let elapsed = began.elapsed();
        drop(opened);
        Ok(elapsed)
    }

    async fn idle(&mut self, count: usize) -> Result<(), Failure> {
        if count == 0 {
            self.held.clear();
        }
        for _ in 0..count {
            self.held.push(open(&self.settings).await?);
        }
        Ok(())
    }
}

fn octets(buffer: &mut [u8], value: impl Fn(usize) -> u32) {
    for (index, octet) in buffer.iter_mut().enumerate() {
        *octet = value(index) as u8;
    }
}

/// Asks until the receiver has executed all: calls are executed in order, so the first answer should do.
async fn executed(client: &Client, count: u32) -> Result<(), Failure> {
    let patience = Instant::now() + Duration::from_secs(60);
    loop {
        let answer = client.received_request().send().promise.await?;
        let seen = answer.get()?;
        let fault = seen.get_fault()?.to_str()?;
        match seen.get_executed() {
            _ if !fault.is_empty() => return Err(fault.into()),
            all if all >= count => return Ok(()),
            some if Instant::now() > patience => {
                return Err(format!("{some} of {count} buffers have been executed").into());
            }
            _ => tokio::time::sleep(Duration::from_millis(1)).await,
        }
    }
}
