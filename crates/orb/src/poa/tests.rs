//! One adapter and the tree, without an ORB around them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::active::Active;
use super::adapter::Adapter;
use super::adapters::Shared;
use super::key::Key;
use super::{ObjectId, PoaError, PoaPolicies};
use crate::server::request::ServerRequest;
use crate::skeleton::{InterfaceInfo, Servant, Skeleton};

/// A servant that is told apart from others by its address alone.
struct Idle(#[allow(dead_code)] u8);

static IDLE: InterfaceInfo = InterfaceInfo { id: "IDL:test/Idle:1.0", ancestors: &[] };

impl Skeleton for Idle {
    fn interface(&self) -> &'static InterfaceInfo {
        &IDLE
    }

    fn dispatch(&self, request: ServerRequest) {
        request.unknown_operation();
    }
}

fn idle() -> Servant {
    Arc::new(Idle(0))
}

fn tree() -> (Arc<Shared>, Arc<Adapter>) {
    let shared = Arc::new(Shared::new());
    let begun = Adapter::begin_root(&shared).expect("no interceptors that could refuse");
    let root = Adapter::root(&shared, begun).expect("room for one");
    (shared, root)
}

/// The adapter and the object that a key leads to.
fn found(shared: &Shared, key: &[u8]) -> Option<(Arc<Adapter>, bool)> {
    let parsed = Key::parse(key);
    let adapter = shared.with_adapter(&parsed, Arc::clone)?;
    let active = adapter.map.find(&key[parsed.id_range(key.len())]).is_some();
    Some((adapter, active))
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

#[test]
fn a_key_leads_to_its_object_until_that_is_deactivated() {
    let (shared, root) = tree();
    let ids: Vec<_> = (0..100).map(|_| root.add(None, idle()).expect("a new servant")).collect();
    for id in &ids {
        let (adapter, active) = found(&shared, &root.key(id.as_bytes())).expect("the root");
        assert!(Arc::ptr_eq(&adapter, &root) && active);
    }
    root.deactivate(ids[7].as_bytes()).expect("it is active");
    assert!(!found(&shared, &root.key(ids[7].as_bytes())).expect("the root").1);
    let gone = PoaError::ObjectNotActive { id: ids[7].clone() };
    assert_eq!(root.deactivate(ids[7].as_bytes()), Err(gone));
    // The slot serves another object now; the old id does not find it.
    let next = root.add(None, idle()).expect("a new servant");
    assert_ne!(next, ids[7]);
    assert_eq!(next.as_bytes()[..4], ids[7].as_bytes()[..4]);
    assert!(root.map.find(ids[7].as_bytes()).is_none());
}

#[test]
fn an_id_of_the_adapter_can_be_activated_again() {
    let (_, root) = tree();
    let id = root.add(None, idle()).expect("a new servant");
    let again = || root.add(Some(id.as_bytes()), idle());
    assert_eq!(again(), Err(PoaError::ObjectAlreadyActive { id: id.clone() }));
    root.deactivate(id.as_bytes()).expect("it is active");
    let other = root.add(None, idle()).expect("a new servant");
    assert_eq!(again(), Ok(id.clone()));
    assert_eq!(again(), Err(PoaError::ObjectAlreadyActive { id: id.clone() }));
    for id in [&id, &other] {
        assert!(root.map.find(id.as_bytes()).is_some());
        root.deactivate(id.as_bytes()).expect("it is active");
        assert!(root.map.find(id.as_bytes()).is_none());
    }
    let unbound = root.unbound_id();
    assert_ne!(unbound, root.unbound_id());
    assert!(root.map.find(unbound.as_bytes()).is_none());
    assert_eq!(root.add(Some(unbound.as_bytes()), idle()), Ok(unbound.clone()));
    assert!(root.map.find(unbound.as_bytes()).is_some());
}

#[test]
fn a_servant_has_one_id_where_ids_are_unique() {
    let (_, root) = tree();
    let servant = idle();
    let id = root.add(None, servant.clone()).expect("a new servant");
    assert_eq!(root.add(None, servant.clone()), Err(PoaError::ServantAlreadyActive { id: id.clone() }));
    assert_eq!(root.map.name_of(&servant).map(|name| name.id(None)), Some(id.clone()));
    root.deactivate(id.as_bytes()).expect("it is active");
    assert!(root.map.name_of(&servant).is_none());
    assert!(root.add(None, servant.clone()).is_ok());

    let many =
        root.create_child("many", PoaPolicies::new().multiple_ids().user_ids(), None).expect("a new name");
    for id in ["a", "b", ""] {
        assert_eq!(many.add(Some(id.as_bytes()), servant.clone()), Ok(ObjectId::from(id)));
    }
    assert_eq!(many.add(Some(b"a"), idle()), Err(PoaError::ObjectAlreadyActive { id: "a".into() }));
}

#[test]
fn names_are_unique_among_siblings() {
    let (_, root) = tree();
    let child = root.create_child("child", PoaPolicies::new(), None).expect("a new name");
    let again = root.create_child("child", PoaPolicies::new(), None).err();
    assert_eq!(again, Some(PoaError::AdapterAlreadyExists { name: "child".into() }));
    assert!(child.create_child("child", PoaPolicies::new(), None).is_ok());
    assert!(matches!(
        root.create_child("bad", PoaPolicies::new().non_retain(), None),
        Err(PoaError::InvalidPolicy(_))
    ));
    let long = "x".repeat(70_000);
    assert_eq!(root.create_child(&long, PoaPolicies::new(), None).err(), Some(PoaError::NameTooLong));
}

#[test]
fn a_transient_key_dies_with_its_adapter_and_with_its_run() {
    let (shared, root) = tree();
    let child = root.create_child("child", PoaPolicies::new().user_ids(), None).expect("a new name");
    child.add(Some(b"it"), idle()).expect("a new id");
    let key = child.key(b"it");
    assert!(found(&shared, &key).is_some_and(|(_, active)| active));
    child.destroy(true);
    assert!(child.is_ended());
    assert!(found(&shared, &key).is_none());
    // One that is made in its place is another.
    let child = root.create_child("child", PoaPolicies::new().user_ids(), None).expect("the name is free");
    child.add(Some(b"it"), idle()).expect("a new id");
    assert!(found(&shared, &key).is_none());
    assert_ne!(child.key(b"it"), key);

    let (later, _root) = tree();
    assert!(found(&later, &child.key(b"it")).is_none());
}

#[test]
fn a_persistent_key_is_the_same_in_every_run() {
    let policies = PoaPolicies::new().persistent().user_ids();
    let keys: Vec<_> = (0..2)
        .map(|_| {
            let (shared, root) = tree();
            // Other adapters, other indices: the key is of names only.
            root.create_child(&format!("{:p}", &raw const root), PoaPolicies::new(), None)
                .expect("a new name");
            let outer = root.create_child("outer", policies.clone(), None).expect("a new name");
            let inner = outer.create_child("inner", policies.clone(), None).expect("a new name");
            inner.add(Some(b"it"), idle()).expect("a new id");
            let key = inner.key(b"it");
            assert!(found(&shared, &key).is_some_and(|(_, active)| active));
            root.destroy(false);
            assert!(root.is_ended() && found(&shared, &key).is_none());
            key
        })
        .collect();
    assert_eq!(keys[0], keys[1]);
    assert_eq!(keys[0], b"ZO1P\0\x0e\0\x05outer\0\x05innerit");
}

#[test]
fn persistent_ids_of_the_adapter_differ_between_runs() {
    let policies = PoaPolicies::new().persistent();
    let ids: Vec<_> = (0..2)
        .map(|_| {
            let (_, root) = tree();
            let child = root.create_child("child", policies.clone(), None).expect("a new name");
            child.add(None, idle()).expect("a new servant")
        })
        .collect();
    assert_ne!(ids[0], ids[1]);
    // An id of an earlier run can be given life again.
    let (_, root) = tree();
    let child = root.create_child("child", policies, None).expect("a new name");
    child.add(None, idle()).expect("a new servant");
    assert!(child.map.find(ids[0].as_bytes()).is_none());
    assert_eq!(child.add(Some(ids[0].as_bytes()), idle()), Ok(ids[0].clone()));
    assert!(child.map.find(ids[0].as_bytes()).is_some());
}

#[test]
fn an_adapter_ends_when_its_last_request_does() {
    let (shared, root) = tree();
    let child = root.create_child("child", PoaPolicies::new(), None).expect("a new name");
    let servant = idle();
    let id = child.add(None, servant.clone()).expect("a new servant");
    let counted = child.traffic.enter();
    let running = Active::object(child.map.find(id.as_bytes()).expect("it is active"), counted);
    let counted = child.traffic.enter();
    let unrelated = Active::adapter(child.clone(), counted);
    root.destroy(true);
    assert!(!root.is_alive() && !root.is_ended() && !child.is_alive());
    assert!(child.map.find(id.as_bytes()).is_none(), "it is deactivated at once");
    assert_eq!(child.add(None, idle()), Err(PoaError::Destroyed));
    assert_eq!(root.create_child("new", PoaPolicies::new(), None).err(), Some(PoaError::Destroyed));
    drop(unrelated);
    assert!(!child.is_ended());
    assert_eq!(Arc::strong_count(&servant), 2, "the request still runs on it");
    std::thread::scope(|scope| {
        scope.spawn(move || drop(running));
        assert!(root.traffic.wait_until(soon(), || root.is_ended()));
    });
    assert!(child.is_ended());
    assert_eq!(Arc::strong_count(&servant), 1);
    assert!(found(&shared, &root.key(b"")).is_none());
    assert_eq!(Arc::strong_count(&root), 1, "nothing but this handle keeps it");
}

#[test]
fn objects_come_and_go_in_many_threads_while_their_adapter_ends() {
    for round in 0..20 {
        let (_, root) = tree();
        let child = root.create_child("child", PoaPolicies::new(), None).expect("a new name");
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    loop {
                        match child.add(None, idle()) {
                            Ok(id) => {
                                let counted = child.traffic.enter();
                                match child.map.find(id.as_bytes()) {
                                    Some(object) => drop(Active::object(object, counted)),
                                    None => drop(Active::adapter(child.clone(), counted)),
                                }
                                let _ = child.deactivate(id.as_bytes());
                            }
                            Err(error) => return assert_eq!(error, PoaError::Destroyed),
                        }
                    }
                });
            }
            for _ in 0..round {
                std::thread::yield_now();
            }
            child.destroy(true);
            assert!(child.traffic.wait_until(soon(), || child.is_ended()));
        });
        assert!(child.map.ids().is_empty());
    }
}
