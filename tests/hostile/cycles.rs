//! A million values that lead back to themselves, to a server and to a client: each is freed with its message, and memory stays what
//! it was. In memory and on this thread, so that every octet is counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use zorb::cdr::{
    Decode, DecodeError, Decoder, Described, Describer, Encode, EncodeError, Encoder, Format, TypeRef, Value,
    ValueInfo, ValueType,
};
use zorb::dynamic::{DynamicRequest, DynamicServant, Request, Results, Signature, dynamic_servant};
use zorb::rt::Operation;
use zorb::server::ThreadModel;
use zorb::transport::memory::Memory;
use zorb::{Any, ObjectRef, Orb, SystemException};

/// Cycles in a message, of one value and of three in turn: two thousand values.
const EACH: usize = 1_000;

/// Messages each way.
const ROUNDS: usize = 500;

/// What may be there at the end that was not there after the first messages: what pools and maps keep.
const KEPT: i64 = 64 << 10;

/// What one message may take while it is dealt with, at both ends: it has some 40 KiB.
const AT_A_TIME: u64 = 4 << 20;

type Link = Option<Value<Node>>;

struct Node {
    number: u32,
    next: Link,
}

impl ValueType for Node {
    fn info() -> &'static ValueInfo {
        static INFO: ValueInfo = ValueInfo::new::<Node>("IDL:Node:1.0", None, false, &[]);
        &INFO
    }

    fn encode_state<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        self.number.encode(to)?;
        self.next.encode(to)
    }

    fn decode_state(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Node { number: Decode::decode(from)?, next: Decode::decode(from)? })
    }
}

impl Described for Node {
    fn describe(to: &mut Describer) -> TypeRef {
        to.value("IDL:Node:1.0", "Node", 0, |to| {
            let (number, next) = (to.basic::<u32>(), to.basic::<Link>());
            (None, vec![("number", number, 1), ("next", next, 1)])
        })
    }
}

fn cycles() -> Vec<Link> {
    let ring = |number: u32| {
        Value::new_cyclic(|first| {
            let further = if number % 2 == 0 { 0 } else { 2 };
            let next = (0..further).fold(Some(first.clone()), |next, step| {
                Some(Value::new(Node { number: number + 10_000 + step, next }))
            });
            Node { number, next }
        })
    };
    (0..EACH as u32).map(|number| Some(ring(number))).collect()
}

/// Whether they are what [`cycles`] makes.
fn are_cycles(links: &[Link]) -> bool {
    let is_cycle = |(at, link): (usize, &Link)| {
        let Some(first) = link else { return false };
        let Some(held) = first.get() else { return false };
        // A single value leads to itself, every other to two more, of which the last leads back.
        let mut last = held.next.clone();
        for _ in 0..if at % 2 == 0 { 0 } else { 2 } {
            last = last.and_then(|value| value.get()?.next.clone());
        }
        held.number == at as u32 && last.as_ref() == Some(first)
    };
    links.len() == EACH && links.iter().enumerate().all(is_cycle)
}

/// What a peer sends that means ill: the octets of [`cycles`], made once.
fn octets() -> Vec<u8> {
    let mut to = Encoder::new(Format::default());
    cycles().encode_owned(&mut to).expect("they can be written");
    to.to_bytes().to_vec()
}

fn write(octets: &[u8], to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    to.write_octets(octets);
    Ok(())
}

/// Reads the values as its operation says, counts them, and answers with as many.
struct Mirror {
    values: AtomicUsize,
    octets: Vec<u8>,
}

fn signature(operation: &str) -> Arc<Signature> {
    let ty = <Vec<Link>>::type_code();
    Arc::new(Signature::new(operation).takes("given", ty.clone()).gives(ty))
}

impl DynamicServant for Mirror {
    fn repository_id(&self) -> &str {
        "IDL:Mirror:1.0"
    }

    fn invoke(&self, request: DynamicRequest) {
        let count = |links: &[Link]| {
            assert!(are_cycles(links));
            self.values.fetch_add(2 * links.len(), Ordering::Relaxed);
        };
        if request.operation() == "typed" {
            let Some((request, links)) = request.into_inner().arguments(<Vec<Link>>::decode) else { return };
            count(&links);
            return request.reply(|to| write(&self.octets, to));
        }
        let Some((reply, mut given)) = request.arguments(&signature("dynamic")) else { return };
        let given = given.remove(0);
        count(&given.get::<Vec<Link>>().expect("they are such values"));
        reply.results(Results::of(given));
    }
}

/// A server, and a client's reference to its object, all on this thread.
fn world() -> (Orb, Orb, Arc<Mirror>, ObjectRef) {
    let memory = Arc::new(Memory::new());
    let server = Orb::builder()
        .transport(memory.clone())
        .listen("memory:here")
        .server_threads(ThreadModel::Caller)
        .build();
    let poa = server.root_poa().expect("a new ORB");
    let mirror = Arc::new(Mirror { values: AtomicUsize::new(0), octets: octets() });
    let object =
        poa.activate_servant(dynamic_servant(mirror.clone()), "IDL:Mirror:1.0").expect("a new object");
    poa.manager().activate().expect("a new adapter");
    let client = Orb::builder().transport(memory).build();
    let object = client.string_to_object(&object.to_string()).expect("a reference").expect("not nil");
    (server, client, mirror, object)
}

/// Makes the call again and again, and counts what is left of it.
fn stays_flat(mirror: &Mirror, mut call: impl FnMut() -> Vec<Link>) {
    let mut round = || assert!(are_cycles(&call()));
    // Connections, types and buffers are made.
    (0..20).for_each(|_| round());
    assert_eq!(mirror.values.swap(0, Ordering::Relaxed), 20 * 2 * EACH);
    let counted = allocation_counter::measure(|| (0..ROUNDS).for_each(|_| round()));
    assert_eq!(mirror.values.load(Ordering::Relaxed), 1_000_000);
    assert!(counted.bytes_current.abs() < KEPT, "{counted:?}");
    assert!(counted.bytes_max < AT_A_TIME, "{counted:?}");
    assert!(counted.count_total > 1_000_000, "each value is allocated: {counted:?}");
}

#[test]
fn a_million_cyclic_values_leave_memory_flat() {
    static TYPED: Operation = Operation::new("typed");
    let (_server, _client, mirror, object) = world();
    stays_flat(&mirror, || {
        let write = |to: &mut Encoder<'_>| write(&mirror.octets, to);
        let called: Result<_, SystemException> = zorb::rt::call(&object, &TYPED, write, <Vec<Link>>::decode);
        called.expect("they are echoed")
    });
}

#[test]
fn a_million_cyclic_values_in_anys_leave_memory_flat() {
    let (_server, _client, mirror, object) = world();
    let request = Request::new(&object, signature("dynamic")).expect("a good signature");
    let given = Any::new(&cycles()).expect("they can be written");
    stays_flat(&mirror, || {
        let results = request.invoke(std::slice::from_ref(&given)).expect("they are echoed");
        results.result.get().expect("they are such values")
    });
}
