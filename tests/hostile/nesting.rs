//! What lies within itself deeper than the limit: values (MARSHAL on either side) and calls on one thread (TRANSIENT). No
//! thread's stack is used up.

use std::io::Write;
use std::sync::Arc;

use zorb::giop::{IiopProfile, Message};
use zorb::server::{ServerLimits, ThreadModel};
use zorb::{Completion, Interface, Kind, Orb};
use zorb_interop::every::interop::{Every, Tree};
use zorb_interop::servants::EveryServant;
use zorb_tests::servant::{PATIENCE, Servant};
use zorb_tests::testing::Probe;
use zorb_tests::wire::{Order, Wire};

use crate::rig::{Fake, Reader, impatient, probe};

const NATIVE: (u8, Order) = (2, Order::Little);

/// A tree of `depth` levels, each the only child of the one above.
fn tree(to: Wire, depth: u32) -> Wire {
    (1..depth).fold(to.u32(7), |to, level| to.u32(1).u32(level)).u32(0)
}

#[test]
fn in_arguments() {
    for threads in [ThreadModel::per_connection(), ThreadModel::pool(2), ThreadModel::Reactor] {
        let orb = Orb::builder().listen("tcp:127.0.0.1:0").server_threads(threads).build();
        let poa = orb.root_poa().expect("a new ORB");
        poa.manager().activate().expect("a new adapter");
        let servant = EveryServant::new(&orb, Orb::builder()).expect("a new ORB");
        let every = poa.activate::<Every>(Arc::new(servant)).expect("a new object");
        let profile = IiopProfile::decode(&every.as_object().ior().profiles[0]).expect("IIOP");
        let mut stream = std::net::TcpStream::connect((&*profile.host, profile.port)).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        for (id, depth, status) in [(1, 50, 0), (2, 1_000, 2), (3, 100_000, 2), (4, 50, 0)] {
            let request = Wire::request(NATIVE, id, true, &profile.object_key, "echo_tree");
            stream.write_all(&tree(tree(request, depth), 1).done()).expect("it reads");
            match Reader::new(&stream).next("a deep tree") {
                Some(Message::Reply(reply)) => {
                    assert_eq!((reply.id, reply.status.0), (id, status), "{threads:?}, {depth} levels");
                }
                other => panic!("{threads:?}, {depth} levels: {other:?}"),
            }
        }
    }
}

#[test]
fn in_results() {
    let fake = Fake::serving(2, |mut client| {
        while let Some(id) = client.request() {
            client.say(&tree(Wire::reply(NATIVE, id, 0), 100_000).done());
        }
    });
    let orb = impatient(PATIENCE);
    let every = Every::from_object(orb.string_to_object(&fake.ior).expect("a URL").expect("not nil"));
    let leaf = Tree { value: 1, children: Vec::new() };
    let exception = every.echo_tree(&leaf, &leaf).expect_err("too deep");
    assert_eq!((exception.kind, exception.completed), (Kind::Marshal, Completion::Yes), "{exception}");
}

#[test]
fn of_calls_on_one_thread() {
    let mut limits = ServerLimits::default();
    limits.nesting = 3;
    let shallow = Orb::builder().server_threads(ThreadModel::Reactor).server_limits(limits);
    let serve = |builder: zorb::OrbBuilder| {
        let orb = builder.listen("tcp:127.0.0.1:0").build();
        let poa = orb.root_poa().expect("a new ORB");
        poa.manager().activate().expect("a new adapter");
        let probe = poa.activate::<Probe>(Arc::new(Servant::new(1))).expect("a new object");
        (orb.object_to_string(Some(probe.as_object())), orb)
    };
    let ((shallow, _one), (deep, _other)) = (serve(shallow), serve(Orb::builder()));
    let client = impatient(PATIENCE);
    let (shallow, deep) = (probe(&client, &shallow), probe(&client, &deep));
    assert_eq!(shallow.descend(4, Some(&deep)).expect("within the limit"), 4);
    let exception = shallow.descend(40, Some(&deep)).expect_err("beyond it");
    assert_eq!((exception.kind, exception.completed), (Kind::Transient, Completion::No), "{exception}");
    assert_eq!(shallow.descend(4, Some(&deep)).expect("within the limit again"), 4);
}
