//! Calls through the whole ORB: stub, client, messages, server, adapter, skeleton, and back, over the transport in
//! memory. The server has no thread; it runs where the client waits.

use std::sync::Arc;

use zorb::messaging::{Giop, GiopLite, Messaging};
use zorb::poa::{Poa, PoaError};
use zorb::server::ThreadModel;
use zorb::transport::memory::Memory;
use zorb::{Call, Interface, ObjectRef, Orb, OrbBuilder, Sequence, SystemException};
use zorb_ipc::BiasedSlots;

use crate::Case;

#[allow(missing_docs, clippy::all, reason = "generated")]
pub(crate) mod idl {
    zorb::include_idl!("calls");
    zorb::include_idl!("sizes");
}
use idl::{BinStruct, Large, LargeServant, Loads, LoadsServant, Near, NearServant, Small, SmallServant};

/// Does nothing, in as many operations as wanted.
pub(crate) struct Silent;

include!(concat!(env!("OUT_DIR"), "/servants.rs"));

impl NearServant for Silent {
    fn act(&self, _: &Call) -> Result<(), SystemException> {
        Ok(())
    }
}

impl LoadsServant for Silent {
    fn put_octets(&self, _: &Call, _: Sequence<u8>) -> Result<(), SystemException> {
        Ok(())
    }

    fn put_structs(&self, _: &Call, _: Sequence<BinStruct>) -> Result<(), SystemException> {
        Ok(())
    }

    fn post_octets(&self, _: &Call, _: Sequence<u8>) -> Result<(), SystemException> {
        Ok(())
    }
}

/// The null call: an interface of one operation, whose object is one among so many.
pub(crate) fn small(objects: usize) -> Case {
    small_by(objects, Orb::builder)
}

/// The null call of an object of the caller's own ORB: no message.
pub(crate) fn collocated() -> Case {
    let builder = Orb::builder().transport(Arc::new(Memory::new())).listen("memory:here");
    let orb = builder.server_threads(ThreadModel::Caller).build();
    let poa = orb.root_poa().expect("the ORB runs");
    poa.manager().activate().expect("the ORB runs");
    let near = poa.activate::<Near>(Arc::new(Silent)).expect("a new object");
    // Here, and not by a thread: the C library's calls take more in a process that ever had a second one.
    static ANY: BiasedSlots<(), 1> = BiasedSlots::new();
    drop(ANY.claim());
    Box::new(move |_| {
        // It lives as long as its object.
        let _ = &orb;
        near.act().expect("answered");
    })
}

/// The null call by GIOPlite.
pub(crate) fn by_lite() -> Case {
    small_by(1, || Orb::builder().messagings([Arc::new(GiopLite) as Arc<dyn Messaging>, Arc::new(Giop)]))
}

/// The same code for both.
fn small_by(objects: usize, builder: fn() -> OrbBuilder) -> Case {
    calling(objects, builder, |poa| poa.activate::<Small>(Arc::new(Silent)), |small| small.operation_500())
}

/// A null call of an interface of a thousand operations.
pub(crate) fn large() -> Case {
    calling(1, Orb::builder, |poa| poa.activate::<Large>(Arc::new(Silent)), |large| large.operation_500())
}

pub(crate) fn octets(payload: Sequence<u8>) -> Case {
    calling(
        1,
        Orb::builder,
        |poa| poa.activate::<Loads>(Arc::new(Silent)),
        move |loads| loads.put_octets(&payload),
    )
}

pub(crate) fn structs(payload: Sequence<BinStruct>) -> Case {
    calling(
        1,
        Orb::builder,
        |poa| poa.activate::<Loads>(Arc::new(Silent)),
        move |loads| loads.put_structs(&payload),
    )
}

/// A server with so many objects of one servant, and a client that knows the one in the middle by its reference and
/// calls it.
fn calling<I: Interface>(
    objects: usize,
    builder: impl Fn() -> OrbBuilder,
    activate: impl Fn(&Poa) -> Result<I, PoaError>,
    call: impl Fn(&I) -> Result<(), SystemException> + 'static,
) -> Case {
    let (server, object) = meeting(objects, builder, |poa| Ok(activate(poa)?.as_object().clone()));
    let object = I::from_object(object);
    Box::new(move |_| {
        // It lives as long as its client.
        let _ = &server;
        call(&object).expect("answered");
    })
}

/// The server, and the object as the client knows it.
pub(crate) fn meeting(
    objects: usize,
    builder: impl Fn() -> OrbBuilder,
    activate: impl Fn(&Poa) -> Result<ObjectRef, PoaError>,
) -> (Orb, ObjectRef) {
    let memory = Arc::new(Memory::new());
    let server =
        builder().transport(memory.clone()).listen("memory:here").server_threads(ThreadModel::Caller).build();
    let client = builder().transport(memory).build();
    let poa = server.root_poa().expect("the ORB runs");
    poa.manager().activate().expect("the ORB runs");
    let mut middle = None;
    for number in 0..objects {
        let object = activate(&poa).expect("the adapter accepts it");
        if number == objects / 2 {
            middle = Some(object);
        }
    }
    let text = middle.expect("one object at least").to_string();
    (server, client.string_to_object(&text).expect("a reference").expect("not nil"))
}
