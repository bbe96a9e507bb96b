//! Calls of every kind reach their servants and come back.

use std::sync::Arc;

use zorb::{Completion, Interface, Kind, Minor};
use zorb_tests::servant::Servant;
use zorb_tests::testing::{self, Probe, Special, probe as errors};

use crate::fixture::{Place, models, probe, serve};

fn results_and_exceptions_come_back_under_every_model(at: Place) {
    for model in models() {
        let (server, text) = serve(at.server().server_threads(model), Arc::new(Servant::new(1)));
        let client = at.client().build();
        let probe = probe(&client, &text);
        probe.nothing().unwrap();
        assert_eq!(probe.greet("Grüße, 東京").unwrap(), "hello, Grüße, 東京");
        assert_eq!(probe.divide(17, 5).unwrap(), (3, 2));
        let refused = probe.divide(1, 0).unwrap_err();
        assert_eq!(
            refused,
            errors::DivideError::Refused(testing::Refused { why: "division by zero".into(), code: 7 })
        );
        for size in [0, 1, 1000, 20_000, 300_000, 3_000_000] {
            let data: Vec<u8> = (0..size).map(|index| index as u8).collect();
            assert_eq!(probe.echo(&data).unwrap()[..], data[..], "{size} octets, {model:?}");
        }
        server.shutdown(true, zorb_tests::servant::PATIENCE);
    }
}

fn messages_in_fragments_are_put_together_on_both_sides(at: Place) {
    let (_server, text) = serve(at.server().fragment_size(1024), Arc::new(Servant::new(1)));
    let client = at.client().fragment_size(1024).build();
    let probe = probe(&client, &text);
    for size in [0, 900, 1000, 1024, 5000, 1_000_000] {
        let data: Vec<u8> = (0..size).map(|index| (index * 7) as u8).collect();
        assert_eq!(probe.echo(&data).unwrap()[..], data[..], "{size} octets");
        assert_eq!(probe.echo_async(data.clone().into()).wait().unwrap()[..], data[..], "{size} octets");
    }
}

fn a_panic_in_a_servant_is_the_callers_unknown_and_harms_no_other_call(at: Place) {
    for model in models() {
        let (_server, text) = serve(at.server().server_threads(model), Arc::new(Servant::new(1)));
        let client = at.client().build();
        let probe = probe(&client, &text);
        for _ in 0..3 {
            let exception = probe.panic().unwrap_err();
            assert_eq!(exception.kind, Kind::Unknown, "{exception}");
            assert_ne!(exception.completed, Completion::No, "{exception}");
            probe.nothing().unwrap();
        }
    }
}

fn an_object_says_exactly_what_it_is(at: Place) {
    let orb = at.server().build();
    let poa = orb.root_poa().unwrap();
    let special = poa.activate::<Special>(Arc::new(Servant::new(1))).unwrap();
    poa.manager().activate().unwrap();
    let client = at.client().build();
    let object = client.string_to_object(&special.as_object().to_string()).unwrap().unwrap();
    // A reference without a type id, as a corbaloc is: every answer has to come from the object.
    let mut ior = object.ior().clone();
    ior.type_id.clear();
    let untyped = zorb::ObjectRef::new(&client, ior).unwrap();
    for object in [&object, &untyped] {
        for (id, expected) in [
            ("IDL:testing/Special:1.0", true),
            ("IDL:testing/Probe:1.0", true),
            ("IDL:omg.org/CORBA/Object:1.0", true),
            ("IDL:testing/special:1.0", false),
            ("IDL:testing/Special:1.1", false),
            ("", false),
        ] {
            assert_eq!(object.is_a(id).unwrap(), expected, "{id}");
        }
        let special = Special::narrow(object).unwrap().expect("it is special");
        special.set_label("a label").unwrap();
        assert_eq!(special.label().unwrap(), "a label");
        assert_eq!(Probe::from(special).greet("you").unwrap(), "hello, you");
    }
    assert!(untyped.is_equivalent(&object));
    assert_eq!(untyped.hash(1000), object.hash(1000));
    assert!(!object.non_existent().unwrap());
    poa.deactivate(poa.reference_to_id(&special).unwrap()).unwrap();
    assert!(object.non_existent().unwrap());
    let gone = Special::from_object(object).extra().unwrap_err();
    assert_eq!((gone.kind, gone.completed), (Kind::ObjectNotExist, Completion::No), "{gone}");
}

fn an_operation_that_the_object_does_not_have_is_bad_operation(at: Place) {
    let (_server, text) = serve(at.server(), Arc::new(Servant::new(1)));
    let client = at.client().build();
    let special = Special::from_object(client.string_to_object(&text).unwrap().unwrap());
    let exception = special.extra().unwrap_err();
    assert_eq!((exception.kind, exception.minor), (Kind::BadOperation, Minor::omg(2)), "{exception}");
    assert!(exception.detail().contains(&format!("extra at {}", at.prefix())), "{exception}");
    assert!(Special::narrow(special.as_object()).unwrap().is_none());
}

fn two_orbs_in_one_process_share_nothing(at: Place) {
    let first = serve(at.server(), Arc::new(Servant::new(1)));
    let second = serve(at.server(), Arc::new(Servant::new(1)));
    let at_first = probe(&second.0, &first.1);
    let at_second = probe(&first.0, &second.1);
    at_first.note(1).unwrap();
    at_second.note(2).unwrap();
    assert_eq!(at_first.noted().unwrap()[..], [1]);
    assert_eq!(at_second.noted().unwrap()[..], [2]);
    first.0.shutdown(true, zorb_tests::servant::PATIENCE);
    assert_eq!(at_second.noted().unwrap_err().kind, Kind::BadInvOrder, "its ORB is shut down");
    let third = at.client().build();
    assert_eq!(probe(&third, &second.1).noted().unwrap()[..], [2]);
}

fn a_call_in_the_same_process_is_not_marshalled(at: Place) {
    struct Here;
    impl zorb_tests::testing::ProbeServant for Here {
        fn nothing(&self, call: &zorb::Call) -> Result<(), zorb::SystemException> {
            assert!(call.peer().is_none(), "a message came: {:?}", call.peer());
            Ok(())
        }
        zorb_tests::unserved!();
    }
    let orb = at.server().build();
    let poa = orb.root_poa().unwrap();
    let probe = poa.activate::<Probe>(Arc::new(Here)).unwrap();
    poa.manager().activate().unwrap();
    probe.nothing().unwrap();
    let again = Probe::from_object(orb.string_to_object(&probe.as_object().to_string()).unwrap().unwrap());
    again.nothing().unwrap();
    let panicked = probe.panic().unwrap_err();
    assert_eq!(panicked.kind, Kind::Unknown, "{panicked}");
}

over! {
    results_and_exceptions_come_back_under_every_model,
    messages_in_fragments_are_put_together_on_both_sides,
    a_panic_in_a_servant_is_the_callers_unknown_and_harms_no_other_call,
    an_object_says_exactly_what_it_is,
    an_operation_that_the_object_does_not_have_is_bad_operation,
    two_orbs_in_one_process_share_nothing,
    a_call_in_the_same_process_is_not_marshalled,
}
