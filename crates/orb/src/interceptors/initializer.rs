//! A service's part in building an ORB.

use crate::orb::{Orb, OrbBuilder};

/// What a service consists of at an ORB: interceptors, slots, initial references (`PortableInterceptor::ORBInitializer`).
///
/// All initializers' [`pre_init`](Self::pre_init) run, in the order in which they were given, when the ORB is built; then all
/// [`post_init`](Self::post_init).
pub trait OrbInitializer: Send + Sync {
    /// Adds to the choice: interceptors, slots, initial references. Initializers that are given to the builder here are not heard.
    fn pre_init(&self, builder: OrbBuilder) -> OrbBuilder {
        builder
    }

    /// The ORB is there: references can be resolved and registered. Nothing is listened at yet.
    fn post_init(&self, orb: &Orb) {
        let _ = orb;
    }
}

impl<F: Fn(OrbBuilder) -> OrbBuilder + Send + Sync> OrbInitializer for F {
    fn pre_init(&self, builder: OrbBuilder) -> OrbBuilder {
        self(builder)
    }
}
