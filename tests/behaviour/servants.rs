//! What an adapter knows of generated servants: which implementation it is, and what interfaces it has.

use std::sync::Arc;

use zorb::Kind;
use zorb::poa::PoaError;
use zorb_tests::servant::Servant;
use zorb_tests::testing::{Probe, Special};

use crate::fixture::{Place, probe};

fn a_servant_is_its_implementation_under_whatever_interface(at: Place) {
    let root = at.server().build().root_poa().unwrap();
    let (one, other) = (Arc::new(Servant::new(1)), Arc::new(Servant::new(1)));
    let reference = root.activate::<Probe>(one.clone()).unwrap();
    let id = root.reference_to_id(&reference).unwrap();
    assert_eq!(root.servant_to_id::<Probe>(one.clone()).unwrap(), id);
    assert_eq!(root.activate::<Special>(one.clone()), Err(PoaError::ServantAlreadyActive { id: id.clone() }));
    // The root adapter activates what it does not know yet, once.
    let implicit = root.servant_to_id::<Probe>(other.clone()).unwrap();
    assert_ne!(implicit, id);
    assert_eq!(root.servant_to_id::<Probe>(other).unwrap(), implicit);
}

fn a_collocated_call_through_a_base_is_a_method_call(at: Place) {
    let root = at.server().build().root_poa().unwrap();
    root.manager().activate().unwrap();
    let special = root.activate::<Special>(Arc::new(Servant::new(1))).unwrap();
    // A message could not carry the NUL.
    let base: Probe = special.clone().into();
    for _ in 0..4 {
        assert_eq!(special.greet("\0").unwrap(), "hello, \0");
        assert_eq!(base.greet("\0").unwrap(), "hello, \0");
    }
    // Whichever of the two is near.
    for _ in 0..4 {
        assert_eq!(base.greet("\0").unwrap(), "hello, \0");
    }
    for _ in 0..4 {
        assert_eq!(special.greet("\0").unwrap(), "hello, \0");
    }
    let client = at.client().build();
    let refused = probe(&client, &special.to_string()).greet("\0").unwrap_err();
    assert_eq!(refused.kind, Kind::BadParam, "{refused}");
}

over! {
    a_servant_is_its_implementation_under_whatever_interface,
    a_collocated_call_through_a_base_is_a_method_call,
}
