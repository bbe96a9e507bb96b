//! A null call through the whole ORB: stub, client, messages, server, adapter, skeleton, and back, over the transport in
//! memory. The server has no thread; it runs where the client waits.

use std::sync::Arc;

use zorb::server::ThreadModel;
use zorb::transport::memory::Memory;
use zorb::{Call, Interface, Orb, SystemException};

use crate::Case;

#[allow(missing_docs, clippy::all, reason = "generated")]
mod generated {
    zorb::include_idl!("sizes");
}
use generated::{Large, LargeServant, Small, SmallServant};

/// Does nothing, in as many operations as wanted.
struct Silent;

include!(concat!(env!("OUT_DIR"), "/servants.rs"));

/// A server, and a client that knows it by its reference only.
struct World {
    server: Orb,
    client: Orb,
}

impl World {
    fn new() -> World {
        let memory = Arc::new(Memory::new());
        let server = Orb::builder()
            .transport(memory.clone())
            .listen("memory:here")
            .server_threads(ThreadModel::Caller)
            .build();
        World { server, client: Orb::builder().transport(memory).build() }
    }

    /// Activates so many objects of one servant, and gives the client's reference to the one in the middle.
    fn reference<I: Interface>(&self, objects: usize, activate: impl Fn(&zorb::poa::Poa) -> I) -> I {
        let poa = self.server.root_poa().expect("the ORB runs");
        poa.manager().activate().expect("the ORB runs");
        let mut middle = None;
        for number in 0..objects {
            let object = activate(&poa);
            if number == objects / 2 {
                middle = Some(object);
            }
        }
        let text = middle.expect("one object at least").as_object().to_string();
        let object = self.client.string_to_object(&text).expect("a reference").expect("not nil");
        I::from_object(object)
    }
}

/// An interface of one operation, whose object is one among so many.
pub(crate) fn small(objects: usize) -> Case {
    let world = World::new();
    let small = world
        .reference(objects, |poa| poa.activate::<Small>(Arc::new(Silent)).expect("the adapter accepts it"));
    Box::new(move |_| {
        let _ = &world;
        small.operation_500().expect("answered");
    })
}

/// An interface of a thousand operations.
pub(crate) fn large() -> Case {
    let world = World::new();
    let large =
        world.reference(1, |poa| poa.activate::<Large>(Arc::new(Silent)).expect("the adapter accepts it"));
    Box::new(move |_| {
        let _ = &world;
        large.operation_500().expect("answered");
    })
}
