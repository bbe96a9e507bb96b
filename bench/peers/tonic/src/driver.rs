//! The calling end.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use hyper_util::rt::TokioIo;
use peer::{Element, Failure, Flooded, Kind, Settings, Value};
use tonic::Request;
use tonic::transport::{Channel, Endpoint};
use tower::service_fn;

use crate::WINDOW;
use crate::messages::{
    Doubles, Expectation, Long, Longs, Mixed, Nothing, Octet, Octets, Short, Shorts, Structs, Structs32,
};
use crate::patterns::{Tables, buffers, octets, texts, windows};
use crate::rpc::bench_client::BenchClient;

type Client = BenchClient<Channel>;

/// Holds a connection, and those that are idle.
#[derive(Debug)]
pub(crate) struct Driver {
    settings: Settings,
    client: Client,
    held: Vec<Client>,
    tables: Mutex<Tables>,
}

impl Driver {
    pub(crate) async fn new(settings: Settings) -> Result<Driver, Failure> {
        let client = open(&settings).await?;
        Ok(Driver { settings, client, held: Vec::new(), tables: Mutex::default() })
    }
}

/// A client with a connection of its own, over which one call has been made.
async fn open(settings: &Settings) -> Result<Client, Failure> {
    let settings = settings.clone();
    let connector = service_fn(move |_| {
        let settings = settings.clone();
        async move { peer::connect(&settings).await.map(TokioIo::new) }
    });
    // The name is for the request's head only: the connector knows where to connect.
    let channel = Endpoint::from_static("http://peer")
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .connect_with_connector(connector)
        .await?;
    let mut client =
        BenchClient::new(channel).max_decoding_message_size(usize::MAX).max_encoding_message_size(usize::MAX);
    client.ping(Nothing {}).await?;
    Ok(client)
}

/// A call with its argument as a message, made before its time is taken.
#[derive(Debug)]
enum Message {
    Nothing,
    Echo(Octets),
    Short(Short),
    Long(Long),
    Octet(Octet),
    Mixed(Mixed),
    Octets(Octets),
    Longs(Longs),
}

impl Message {
    fn new(kind: Kind, value: Value) -> Message {
        match value {
            Value::Nothing => Message::Nothing,
            Value::Short(value) => Message::Short(Short { value: value.into() }),
            Value::Long(value) => Message::Long(Long { value }),
            Value::Octet(value) => Message::Octet(Octet { value: value.into() }),
            Value::Mixed(peer::Mixed { o, l, s }) => Message::Mixed(Mixed { o: o.into(), l, s: s.into() }),
            Value::Octets(values) if matches!(kind, Kind::Echo(_)) => Message::Echo(octets(values)),
            Value::Octets(values) => Message::Octets(octets(values)),
            Value::Longs(values) => Message::Longs(Longs { values }),
        }
    }

    fn value(self) -> Value {
        match self {
            Message::Nothing => Value::Nothing,
            Message::Short(Short { value }) => Value::Short(value as i16),
            Message::Long(Long { value }) => Value::Long(value),
            Message::Octet(Octet { value }) => Value::Octet(value as u8),
            Message::Mixed(Mixed { o, l, s }) => Value::Mixed(peer::Mixed { o: o as u8, l, s: s as i16 }),
            Message::Echo(octets) | Message::Octets(octets) => Value::Octets(octets.values.into()),
            Message::Longs(longs) => Value::Longs(longs.values),
        }
    }

    /// Makes the call; gives the reply.
    async fn call(self, client: &mut Client) -> Result<Message, tonic::Status> {
        Ok(match self {
            Message::Nothing => {
                client.ping(Nothing {}).await?;
                Message::Nothing
            }
            Message::Echo(message) => Message::Echo(client.echo(message).await?.into_inner()),
            Message::Short(message) => Message::Short(client.cube_short(message).await?.into_inner()),
            Message::Long(message) => Message::Long(client.cube_long(message).await?.into_inner()),
            Message::Octet(message) => Message::Octet(client.cube_octet(message).await?.into_inner()),
            Message::Mixed(message) => Message::Mixed(client.cube_struct(message).await?.into_inner()),
            Message::Octets(message) => Message::Octets(client.cube_octets(message).await?.into_inner()),
            Message::Longs(message) => Message::Longs(client.cube_longs(message).await?.into_inner()),
        })
    }
}

/// A prepared call.
#[derive(Debug)]
pub(crate) struct Call {
    client: Client,
    kind: Kind,
    number: u64,
    sent: Option<Message>,
    got: Option<Message>,
}

impl peer::Call for Call {
    fn change(&mut self, number: u64) {
        self.number = number;
        self.sent = Some(Message::new(self.kind, Value::sent(self.kind, number)));
    }

    async fn make(&mut self) -> Result<(), Failure> {
        let message = self.sent.take().ok_or("nothing is prepared")?;
        self.got = Some(message.call(&mut self.client).await?);
        Ok(())
    }

    fn verify(&mut self) -> Result<(), Failure> {
        let got = self.got.take().ok_or("no reply has come")?;
        got.value().verify(self.kind, Value::sent(self.kind, self.number))
    }
}

impl peer::Driver for Driver {
    type Call = Call;

    fn call(&self, kind: Kind) -> Call {
        Call { client: self.client.clone(), kind, number: 0, sent: None, got: None }
    }

    async fn flood(&self, element: Element, payload: usize, count: u32) -> Result<Flooded, Failure> {
        let mut client = self.client.clone();
        let element_name = element.name().to_owned();
        client.expect(Expectation { element: element_name, payload: payload as u64, buffers: count }).await?;
        let length = element.elements(payload);
        // One stream; its answer comes when the receiver has executed all that was in it.
        macro_rules! send {
            ($method:ident, $buffers:expr) => {{
                let last = Arc::new(OnceLock::new());
                let all = noting_the_end((0..count).map($buffers), Arc::clone(&last));
                let request = Request::new(tokio_stream::iter(all));
                let began = Instant::now();
                (began, client.$method(request).await?, last)
            }};
        }
        let tables = || self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let (began, answer, last) = match element {
            Element::Octet => send!(send_octets, windows(&mut tables(), length)),
            Element::Char => send!(send_chars, windows(&mut tables(), length)),
            Element::Short => send!(send_shorts, buffers::<Shorts>(length)),
            Element::Long => send!(send_longs, buffers::<Longs>(length)),
            Element::Double => send!(send_doubles, buffers::<Doubles>(length)),
            Element::Struct => send!(send_structs, buffers::<Structs>(length)),
            Element::Struct32 => send!(send_structs32, buffers::<Structs32>(length)),
            Element::String => send!(send_string, texts(&mut tables(), length)),
        };
        let executed = began.elapsed();
        let progress = answer.into_inner();
        if !progress.fault.is_empty() {
            return Err(progress.fault.into());
        }
        if progress.executed != count {
            return Err(format!("{} of {count} buffers have been executed", progress.executed).into());
        }
        let sent = last.get().map_or(executed, |last: &Instant| *last - began);
        Ok(Flooded { sent, executed })
    }

    async fn connect(&self) -> Result<Duration, Failure> {
        let began = Instant::now();
        let client = open(&self.settings).await?;
        let elapsed = began.elapsed();
        drop(client);
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

/// These buffers; notes when the transport, which takes them one by one, has come back for more than there are.
fn noting_the_end<B>(
    buffers: impl Iterator<Item = B>,
    last: Arc<OnceLock<Instant>>,
) -> impl Iterator<Item = B> {
    buffers.chain(std::iter::from_fn(move || {
        let _ = last.set(Instant::now());
        None
    }))
}
