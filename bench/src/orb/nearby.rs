//! An object of the caller's own ORB.

use std::sync::Arc;
use std::time::{Duration, Instant};

use zorb::Orb;
use zorb::rt::{Call, SystemException};

use super::idl::bench::{Nearby, NearbyServant};
use super::{SHUTDOWN, builder, failed};
use crate::BenchError;
use crate::collocated::Counter;
use crate::system::Setting;

/// An ORB with one object.
pub(super) struct Own {
    orb: Orb,
    counter: Arc<Counter>,
    object: Nearby,
}

impl NearbyServant for Counter {
    fn count(&self, _: &Call) -> Result<(), SystemException> {
        Counter::count(self);
        Ok(())
    }
}

impl Own {
    pub(super) fn new(setting: &Setting) -> Result<Own, BenchError> {
        let orb = builder(setting).listen("tcp:127.0.0.1:0").build();
        let poa = orb.root_poa().map_err(failed)?;
        let counter = Arc::new(Counter::default());
        let object = poa.activate::<Nearby>(counter.clone()).map_err(failed)?;
        poa.manager().activate().map_err(failed)?;
        Ok(Own { orb, counter, object })
    }

    pub(super) fn calls(&self, calls: u32) -> Result<Duration, BenchError> {
        let start = Instant::now();
        for _ in 0..calls {
            self.object.count().map_err(failed)?;
        }
        let took = start.elapsed();
        self.counter.verify(super::NAME, calls).map(|()| took)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        self.orb.shutdown(true, SHUTDOWN);
    }
}
