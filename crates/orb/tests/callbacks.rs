//! Callbacks: two ORBs whose objects call each other, each call from within the other's upcall, in every thread model.

use std::sync::Arc;
use std::time::Duration;

use zorb_orb::policy::Policies;
use zorb_orb::rt::{
    Decode, InterfaceInfo, Kind, ObjectRef, Operation, ServerRequest, Skeleton, SystemException, call, oneway,
};
use zorb_orb::server::{ServerLimits, ThreadModel};
use zorb_orb::{Minor, Orb};

static INFO: InterfaceInfo = InterfaceInfo { id: "IDL:test/Hop:1.0", ancestors: &[] };
static HOP: Operation = Operation::new("hop");
static PING: Operation = Operation::new("ping");

/// `unsigned long hop(in unsigned long depth, in Object back)`: calls `back` with one less and itself, and adds one to
/// what comes back.
struct Hopper {
    orb: Orb,
    me: std::sync::OnceLock<String>,
}

impl Hopper {
    fn hop(&self, depth: u32, back: Option<ObjectRef>) -> Result<u32, SystemException> {
        let (Some(back), 1..) = (back, depth) else { return Ok(0) };
        let me = self.orb.string_to_object(self.me.get().expect("activated"))?;
        hop(&back, depth - 1, me.as_ref()).map(|hops| hops + 1)
    }
}

fn hop(to: &ObjectRef, depth: u32, back: Option<&ObjectRef>) -> Result<u32, SystemException> {
    call(
        to,
        &HOP,
        |message| {
            message.write_u32(depth);
            ObjectRef::encode(back, message)
        },
        u32::decode,
    )
}

impl Skeleton for Hopper {
    fn interface(&self) -> &'static InterfaceInfo {
        &INFO
    }

    fn dispatch(&self, request: ServerRequest) {
        if request.operation() == "ping" {
            return request.reply(|_| Ok(()));
        }
        let arguments = request.arguments(|from| Ok((u32::decode(from)?, ObjectRef::decode(from)?)));
        let Some((request, (depth, back))) = arguments else { return };
        let result = self.hop(depth, back);
        request.finish(result, |hops, to| {
            to.write_u32(*hops);
            Ok(())
        });
    }
}

/// An ORB with one object.
fn hopper(threads: ThreadModel, private_connections: usize) -> (Orb, String) {
    let mut policies = Policies::new();
    policies.call_timeout = Some(Duration::from_secs(60));
    let orb = Orb::builder()
        .listen("tcp:127.0.0.1:0")
        .server_threads(threads)
        .private_connections(private_connections)
        .policies(policies)
        .build();
    let servant = Arc::new(Hopper { orb: orb.clone(), me: std::sync::OnceLock::new() });
    let poa = orb.root_poa().expect("a root adapter");
    let object = poa.activate_servant(servant.clone(), INFO.id).expect("activated");
    poa.manager().activate().expect("a manager");
    servant.me.set(object.to_string()).expect("once");
    (orb, object.to_string())
}

/// The result of a chain of `depth` nested calls that a program without a server of its own starts at `first`.
fn chain(first: &str, second: &str, depth: u32) -> Result<u32, SystemException> {
    let program = Orb::builder().build();
    let first = program.string_to_object(first)?.expect("not nil");
    let second = program.string_to_object(second)?;
    hop(&first, depth, second.as_ref())
}

fn models() -> [ThreadModel; 3] {
    [ThreadModel::per_connection(), ThreadModel::pool(8), ThreadModel::Reactor]
}

#[test]
fn callbacks_nested_deeply_come_back() {
    for model in models() {
        for private_connections in [64, 0] {
            let (a, at_a) = hopper(model, private_connections);
            let (b, at_b) = hopper(model, private_connections);
            for depth in [0, 1, 2, 8, 15] {
                let hops = chain(&at_a, &at_b, depth);
                assert_eq!(hops, Ok(depth), "{model:?}, {private_connections} private connections");
            }
            a.shutdown(true, Duration::from_secs(10));
            b.shutdown(true, Duration::from_secs(10));
        }
    }
}

#[test]
fn a_chain_deeper_than_the_pool_ends_in_an_exception() {
    let (a, at_a) = hopper(ThreadModel::pool(3), 64);
    let (b, at_b) = hopper(ThreadModel::per_connection(), 64);
    // Of a chain of depth 5, `a` runs levels 5, 3 and 1.
    assert_eq!(chain(&at_a, &at_b, 5), Ok(5));
    let error = chain(&at_a, &at_b, 6).expect_err("a fourth level does not fit");
    assert_eq!((error.kind, error.minor), (Kind::Transient, Minor::omg(1)), "{error}");
    assert_eq!(chain(&at_a, &at_b, 5), Ok(5));
    a.shutdown(true, Duration::from_secs(10));
    b.shutdown(true, Duration::from_secs(10));
}

#[test]
fn a_reactor_nests_as_deeply_as_it_may() {
    let (a, at_a) = hopper(ThreadModel::Reactor, 64);
    let (b, at_b) = hopper(ThreadModel::per_connection(), 64);
    let most = u32::try_from(ServerLimits::default().nesting).expect("small");
    assert_eq!(chain(&at_a, &at_b, 2 * most - 1), Ok(2 * most - 1));
    let error = chain(&at_a, &at_b, 2 * most + 2).expect_err("too deep");
    assert_eq!(error.kind, Kind::Transient, "{error}");
    a.shutdown(true, Duration::from_secs(10));
    b.shutdown(true, Duration::from_secs(10));
}

#[test]
fn many_chains_at_the_same_time_come_back() {
    for model in [ThreadModel::per_connection(), ThreadModel::pool(64), ThreadModel::Reactor] {
        let (a, at_a) = hopper(model, 64);
        let (b, at_b) = hopper(model, 64);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..5 {
                        assert_eq!(chain(&at_a, &at_b, 6), Ok(6), "{model:?}");
                    }
                });
            }
        });
        a.shutdown(true, Duration::from_secs(10));
        b.shutdown(true, Duration::from_secs(10));
    }
}

#[test]
fn oneways_and_calls_keep_their_order_on_the_way() {
    for model in models() {
        let (a, at_a) = hopper(model, 64);
        let program = Orb::builder().build();
        let object = program.string_to_object(&at_a).expect("a reference").expect("not nil");
        for _ in 0..200 {
            oneway(&object, &PING, |_| Ok(())).expect("sent");
            assert_eq!(hop(&object, 0, None), Ok(0));
        }
        a.shutdown(true, Duration::from_secs(10));
    }
}
