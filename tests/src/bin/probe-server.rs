//! A server of the probe in a process of its own: for tests that kill it, count its descriptors, or weigh its memory.
//!
//! Arguments are `name=value`, the limits under their own names, times in milliseconds. It prints the probe's reference, with `gallery=1` that of
//! one who paints too,
//! and serves until its standard input ends, so it never outlives the test. A panic on any thread aborts it.

use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use zorb::server::{ServerLimits, ThreadModel};
use zorb::{Call, Interface, Orb, Sequence, SystemException};
use zorb_tests::servant::Servant;
use zorb_tests::testing::{Gallery, GalleryServant, Probe};

fn main() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        default(panic);
        std::process::abort();
    }));
    raise_descriptors(None);
    let mut limits = ServerLimits::default();
    let mut builder = Orb::builder();
    let mut with_gallery = false;
    let mut endpoint = "tcp:127.0.0.1:0".to_owned();
    for argument in std::env::args().skip(1) {
        let (name, value) = argument.split_once('=').expect("arguments are name=value");
        let number = || value.parse::<usize>().expect(name);
        let time = || Duration::from_millis(value.parse().expect(name));
        match name {
            "listen" => endpoint = value.to_owned(),
            "descriptors" => raise_descriptors(Some(number() as u64)),
            "pool" => builder = builder.server_threads(ThreadModel::pool(number())),
            "reactor" => builder = builder.server_threads(ThreadModel::Reactor),
            "largest_message" => builder = builder.largest_message(number()),
            "message_memory" => builder = builder.message_memory(number()),
            // COUNTxOCTETS
            "message_buffers" => {
                let (count, octets) = value.split_once('x').expect(name);
                builder = builder.message_buffers(count.parse().expect(name), octets.parse().expect(name));
            }
            "gallery" => with_gallery = number() > 0,
            "connections" => limits.connections = number(),
            "requests_per_connection" => limits.requests_per_connection = number(),
            "octets_per_connection" => limits.octets_per_connection = number(),
            "unsent_octets" => limits.unsent_octets = number(),
            "send_time" => limits.send_time = time(),
            "receive_time" => limits.receive_time = time(),
            "receive_rate" => limits.receive_rate = number(),
            "idle" => limits.idle = time(),
            "drain" => limits.drain = time(),
            "queue_time" => limits.queue_time = time(),
            other => panic!("no argument {other}"),
        }
    }
    let orb = builder.listen(endpoint).server_limits(limits).build();
    let poa = orb.root_poa().expect("a new ORB has a root adapter");
    let probe = poa.activate::<Probe>(Arc::new(Servant::new(1))).expect("it can be activated");
    poa.manager().activate().expect("a new adapter");
    println!("{}", orb.object_to_string(Some(probe.as_object())));
    if with_gallery {
        let gallery = poa.activate::<Gallery>(Arc::new(Painting::default())).expect("it can be activated");
        println!("{}", orb.object_to_string(Some(gallery.as_object())));
    }
    io::stdout().flush().expect("the test reads");
    let _ = io::stdin().read_to_end(&mut Vec::new());
}

/// Gives one painting to whoever asks for one of its size.
#[derive(Default)]
struct Painting(Mutex<Sequence<f64>>);

impl GalleryServant for Painting {
    fn hang(&self, _: &Call, _: &str, _: Sequence<f64>, _: &str) -> Result<(), SystemException> {
        Err(zorb_tests::not_served())
    }

    fn look(&self, _: &Call, _: &str) -> Result<Sequence<f64>, SystemException> {
        Err(zorb_tests::not_served())
    }

    fn paint(&self, _: &Call, count: u32) -> Result<Sequence<f64>, SystemException> {
        let mut painting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if painting.len() != count as usize {
            *painting = (0..count).map(f64::from).collect();
        }
        Ok(painting.clone())
    }

    fn take_down(&self, _: &Call, _: &str) -> Result<(), SystemException> {
        Err(zorb_tests::not_served())
    }
}

/// As many descriptors as the system allows this process, or `to`.
fn raise_descriptors(to: Option<u64>) {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: to.or(maximum), maximum });
}
