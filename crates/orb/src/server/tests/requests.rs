//! One request at a time: what is answered, and how.

use std::sync::Arc;

use bytes::Bytes;
use zorb_cdr::{CodeSet, CodeSets, Decoder, Encoder, Format, Version};
use zorb_giop::{
    Addressing, ContextId, IiopProfile, LocateStatus, ReplyStatus, RequestHead, ResponseFlags,
    ServiceContexts, code_sets,
};

use super::super::ThreadModel;
use super::rig::{Rig, Wire, decode, models, nothing, request_octets, soon};
use crate::exception::Completion;
use crate::orb::Orb;
use crate::transport::Transport;
use crate::transport::memory::Memory;

const VERSIONS: [Version; 3] = [Version::V1_0, Version::V1_1, Version::V1_2];

#[test]
fn every_version_is_answered_in_itself() {
    for model in models() {
        let rig = Rig::new(model);
        for version in VERSIONS {
            let mut wire = rig.connect();
            wire.version = version;
            for id in 1..20 {
                assert_eq!(wire.call(id, "null", &nothing).version, version);
            }
            let reply = wire.call(99, "text", &|to| to.write_string("naïve").expect("ISO 8859-1"));
            assert_eq!(decode::<String>(&reply), "naïve");
        }
    }
}

#[test]
fn bulk_comes_and_goes() {
    let rig = Rig::new(ThreadModel::per_connection());
    let mut wire = rig.connect();
    for size in [0usize, 1, 4096, 65_536, 3 << 20] {
        let octets: Vec<u8> = (0..size).map(|at| at as u8).collect();
        let reply = wire.call(1, "echo", &|to| {
            to.write_length(size).expect("fits");
            to.write_octets(&octets);
        });
        let back = Decoder::over(&reply.body, Format::default()).read_octet_sequence().expect("octets");
        assert!(back == octets, "{size}");
    }
}

#[test]
fn replies_leave_in_fragments() {
    let rig =
        Rig::with(ThreadModel::per_connection(), Default::default(), |builder| builder.fragment_size(1024));
    for version in VERSIONS {
        let mut wire = rig.connect();
        wire.version = version;
        let reply = wire.call(1, "bulk", &|to| to.write_u32(100_000));
        let octets = Decoder::over(&reply.body, Format::default()).read_octet_sequence().expect("octets");
        assert!(octets.len() == 100_000 && octets.iter().all(|&octet| octet == 0xa5), "{version}");
    }
}

#[test]
fn exceptions_say_what_happened() {
    let rig = Rig::new(ThreadModel::per_connection());
    let mut wire = rig.connect();
    let (yes, no, maybe) = (Completion::Yes as u32, Completion::No as u32, Completion::Maybe as u32);
    for (operation, exception, completed) in [
        ("nonsense", "BAD_OPERATION", no),
        ("echo", "MARSHAL", no),
        ("drop", "NO_RESPONSE", maybe),
        ("panic", "UNKNOWN", maybe),
        ("half", "BAD_PARAM", yes),
        ("_interface", "INTF_REPOS", no),
    ] {
        wire.request(1, operation, &nothing);
        assert_eq!(wire.exception(1), (exception.to_owned(), completed), "{operation}");
    }
    wire.request(2, "raise", &nothing);
    let reply = wire.reply(2);
    assert_eq!(reply.status, ReplyStatus::USER_EXCEPTION);
    let mut from = Decoder::over(&reply.body, Format::default());
    assert_eq!(from.read_string().expect("an id"), "IDL:test/Oops:1.0");
    assert_eq!(from.read_u32().expect("a member"), 5);
}

#[test]
fn implicit_operations_are_answered_exactly() {
    let rig = Rig::new(ThreadModel::per_connection());
    let mut wire = rig.connect();
    for (id, expected) in [
        ("IDL:test/Stage:1.0", true),
        ("IDL:test/Base:1.0", true),
        ("IDL:omg.org/CORBA/Object:1.0", true),
        ("IDL:test/Stage:1.1", false),
        ("", false),
    ] {
        let reply = wire.call(1, "_is_a", &|to| to.write_string(id).expect("ASCII"));
        assert_eq!(decode::<bool>(&reply), expected, "{id}");
    }
    for operation in ["_non_existent", "_not_existent"] {
        assert!(!decode::<bool>(&wire.call(2, operation, &nothing)));
    }
    assert_eq!(decode::<String>(&wire.call(3, "_repository_id", &nothing)), "IDL:test/Stage:1.0");
    assert!(decode::<zorb_giop::Ior>(&wire.call(4, "_component", &nothing)).is_nil());
    assert_eq!(decode::<u32>(&wire.call(5, "_domain_managers", &nothing)), 0);
}

#[test]
fn an_owned_request_is_answered_later_by_another_thread() {
    for model in models() {
        let rig = Rig::new(model);
        let mut wire = rig.connect();
        wire.request(1, "keep", &nothing);
        rig.stage.wait_for("the request", |stage| !stage.kept.lock().is_empty());
        wire.call(2, "null", &nothing);
        let kept = rig.stage.kept.lock().pop().expect("kept");
        std::thread::spawn(move || kept.reply(|to| to.write_string("later"))).join().expect("no panic");
        assert_eq!(decode::<String>(&wire.reply(1)), "later");
    }
}

#[test]
fn oneways_are_confirmed_as_far_as_asked() {
    let rig = Rig::new(ThreadModel::per_connection());
    let mut wire = rig.connect();
    // The server confirms before the servant has returned.
    wire.send(&wire.message(1, ResponseFlags::WITH_SERVER, "wait", &nothing));
    assert_eq!(wire.reply(1).status, ReplyStatus::NO_EXCEPTION);
    rig.stage.wait_for("the servant", |stage| stage.inside.load(std::sync::atomic::Ordering::SeqCst) == 1);
    rig.stage.open();
    // Nothing comes for a oneway, not even its exception.
    wire.send(&wire.message(2, ResponseFlags::NONE, "panic", &nothing));
    wire.call(3, "null", &nothing);
}

#[test]
fn all_addressing_modes_are_understood() {
    let rig = Rig::new(ThreadModel::per_connection());
    let mut wire = rig.connect();
    let profiles = rig.orb.server().profiles(&rig.orb, b"object", None).expect("listening");
    let ior = zorb_giop::Ior { type_id: String::new(), profiles };
    let contexts = ServiceContexts::new();
    let targets = [Addressing::Profile(&ior.profiles[0]), Addressing::Reference { selected: 0, ior: &ior }];
    for target in targets {
        let response = ResponseFlags::WITH_TARGET;
        let head =
            RequestHead { id: 1, response, target, operation: "null", by_number: None, contexts: &contexts };
        wire.send(&request_octets(Version::V1_2, &head, &nothing));
        assert_eq!(wire.reply(1).status, ReplyStatus::NO_EXCEPTION);
    }
    // A profile of another kind names no key that this server reads: it asks for the key itself.
    let other = zorb_giop::TaggedProfile { tag: zorb_giop::ProfileTag(99), data: Bytes::from_static(b"?") };
    let head = RequestHead {
        id: 2,
        response: ResponseFlags::WITH_TARGET,
        target: Addressing::Profile(&other),
        operation: "null",
        by_number: None,
        contexts: &contexts,
    };
    wire.send(&request_octets(Version::V1_2, &head, &nothing));
    let reply = wire.reply(2);
    assert_eq!(reply.status, ReplyStatus::NEEDS_ADDRESSING_MODE);
    assert_eq!(decode::<u16>(&reply), 0);
}

#[test]
fn code_sets_announced_once_hold_for_the_connection() {
    let rig = Rig::new(ThreadModel::per_connection());
    let mut wire = rig.connect();
    let utf_8 = Format { version: Version::V1_2, code_sets: CodeSets::UNICODE };
    let mut contexts = ServiceContexts::new();
    contexts.push(ContextId::CODE_SETS, code_sets::encode_context(CodeSets::UNICODE));
    for (id, contexts) in [(1, contexts), (2, ServiceContexts::new())] {
        let mut to = Encoder::new(utf_8);
        let target = Addressing::ObjectKey(b"object");
        let response = ResponseFlags::WITH_TARGET;
        let head =
            RequestHead { id, response, target, operation: "text", by_number: None, contexts: &contexts };
        zorb_giop::begin_request(&mut to, &head).expect("a head");
        to.write_string("Ω 漢").expect("UTF-8");
        zorb_giop::finish(&mut to).expect("a size");
        wire.send(&to.to_bytes());
        let reply = wire.reply(id);
        assert_eq!(Decoder::over(&reply.body, utf_8).read_string().expect("UTF-8"), "Ω 漢");
    }
    let mut contexts = ServiceContexts::new();
    let unknown = CodeSets { char: CodeSet(0x1234_5678), wchar: None };
    contexts.push(ContextId::CODE_SETS, code_sets::encode_context(unknown));
    let target = Addressing::ObjectKey(b"object");
    let response = ResponseFlags::WITH_TARGET;
    let head =
        RequestHead { id: 3, response, target, operation: "null", by_number: None, contexts: &contexts };
    wire.send(&request_octets(Version::V1_2, &head, &nothing));
    assert_eq!(wire.exception(3).0, "CODESET_INCOMPATIBLE");
}

#[test]
fn objects_are_located() {
    let rig = Rig::new(ThreadModel::per_connection());
    for (version, key, expected) in [
        (Version::V1_0, &b"object"[..], LocateStatus::OBJECT_HERE),
        (Version::V1_2, b"object", LocateStatus::OBJECT_HERE),
        (Version::V1_1, b"elsewhere", LocateStatus::OBJECT_FORWARD),
        (Version::V1_2, b"elsewhere", LocateStatus::OBJECT_FORWARD_PERM),
    ] {
        let mut wire = rig.connect();
        let mut to = Encoder::new(Format::new(version));
        zorb_giop::begin_locate_request(&mut to, 7, Addressing::ObjectKey(key)).expect("a key");
        zorb_giop::finish(&mut to).expect("a size");
        wire.send(&to.to_bytes());
        let reply = wire.locate_reply();
        assert_eq!((reply.id, reply.status, reply.version), (7, expected, version));
    }
}

#[test]
fn a_cancelled_request_that_has_not_started_never_does() {
    let rig = Rig::new(ThreadModel::pool(1));
    let (mut wire, mut other) = (rig.connect(), rig.connect());
    other.request(1, "wait", &nothing);
    rig.stage.wait_for("the servant", |stage| stage.inside.load(std::sync::atomic::Ordering::SeqCst) == 1);
    let mut octets = wire.message(1, ResponseFlags::WITH_TARGET, "note", &|to| to.write_u32(1));
    octets.extend(wire.message(2, ResponseFlags::WITH_TARGET, "note", &|to| to.write_u32(2)));
    let mut cancel = Encoder::new(Format::default());
    zorb_giop::write_cancel_request(&mut cancel, 2);
    octets.extend_from_slice(&cancel.to_bytes());
    octets.extend(wire.message(3, ResponseFlags::WITH_TARGET, "note", &|to| to.write_u32(3)));
    wire.send(&octets);
    rig.stage.open();
    wire.reply(1);
    wire.reply(3);
    other.reply(1);
    assert_eq!(*rig.stage.log.lock(), [1, 3]);
}

#[test]
fn profiles_name_code_sets_and_maker_and_never_a_wildcard() {
    let orb = Orb::builder().listen("tcp:127.0.0.1:0").listen("tcp:[::]:0").published_host("archive").build();
    let profiles = orb.server().profiles(&orb, b"key", None).expect("listening");
    let profile = IiopProfile::decode(&profiles[0]).expect("IIOP");
    assert_eq!((&profile.host[..], &profile.object_key[..]), ("archive", &b"key"[..]));
    assert_eq!(profile.endpoints().count(), 2);
    assert!(profile.component(zorb_giop::ComponentTag::CODE_SETS).is_some());
    assert_eq!(
        &profile.component(zorb_giop::ComponentTag::ORB_TYPE).expect("there")[4..8],
        &0x5a4f_5242u32.to_ne_bytes()
    );
    orb.shutdown(true, std::time::Duration::from_secs(5));
    let wild = Orb::builder().listen("tcp:*:0").build();
    let profiles = wild.server().profiles(&wild, b"key", None).expect("listening");
    let host = IiopProfile::decode(&profiles[0]).expect("IIOP").host;
    assert!(host != "0.0.0.0" && host != "::", "{host}");
    wild.shutdown(true, std::time::Duration::from_secs(5));
}

#[test]
fn what_cannot_be_listened_at_is_named() {
    for (endpoint, part) in [("tcp:no-such-host.invalid:0", "no-such-host"), ("smoke:signal", "smoke")] {
        let orb = Orb::builder().listen(endpoint).build();
        let error = orb.listen().expect_err("impossible");
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn a_client_in_the_same_thread_is_served_without_any_other() {
    let memory = Arc::new(Memory::new());
    let orb = Orb::builder()
        .transport(memory.clone())
        .listen("memory:here")
        .server_threads(ThreadModel::Caller)
        .build();
    orb.listen().expect("a free name");
    let mut wire = Wire::over(memory.connect(&orb.endpoints()[0], soon()).expect("listening"));
    for id in 0..100 {
        wire.request(id, "null", &nothing);
        // No adapter is there; the answer shows that the message has been there and back.
        assert_eq!(wire.exception(id).0, "OBJECT_NOT_EXIST");
    }
    orb.shutdown(true, std::time::Duration::from_secs(5));
    assert!(wire.ends());
}
