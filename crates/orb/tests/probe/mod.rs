//! `interface Probe { long poke(in long number); };` by hand, and ORBs to call it across.

use std::sync::Arc;
use std::time::Duration;

use zorb_orb::poa::Poa;
use zorb_orb::policy::Policies;
use zorb_orb::rt::{self, InterfaceInfo, Operation, Served, ServedBy, ServerRequest};
use zorb_orb::{Call, Interface, ObjectRef, Orb, SystemException};

/// The longest that anything here may take before a test fails; none is expected to come near it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

static POKE: Operation = Operation::new("poke");

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Probe(pub ObjectRef);

impl Interface for Probe {
    const INFO: &'static InterfaceInfo = &InterfaceInfo { id: "IDL:test/Probe:1.0", ancestors: &[] };

    fn from_object(object: ObjectRef) -> Self {
        Probe(object)
    }

    fn as_object(&self) -> &ObjectRef {
        &self.0
    }
}

impl Probe {
    pub(crate) fn poke(&self, number: i32) -> Result<i32, SystemException> {
        if let Some(here) = rt::here::<dyn ProbeServant>(&self.0, &POKE)? {
            return here.run(|servant, cx| servant.poke(cx, number));
        }
        rt::call(
            &self.0,
            &POKE,
            |to| {
                to.write_i32(number);
                Ok(())
            },
            |from| from.read_i32(),
        )
    }

    /// The same object as another ORB sees it.
    pub(crate) fn through(&self, orb: &Orb) -> Probe {
        Probe(orb.string_to_object(&self.0.to_string()).expect("our own text").expect("not nil"))
    }
}

pub(crate) trait ProbeServant: Send + Sync + 'static {
    fn poke(&self, cx: &Call, number: i32) -> Result<i32, SystemException>;
}

/// A servant that is a closure.
pub(crate) struct Does<F>(pub F);

impl<F: Fn(&Call, i32) -> Result<i32, SystemException> + Send + Sync + 'static> ProbeServant for Does<F> {
    fn poke(&self, cx: &Call, number: i32) -> Result<i32, SystemException> {
        (self.0)(cx, number)
    }
}

/// A servant that answers with the number and one more.
pub(crate) fn adds_one() -> Arc<impl ProbeServant> {
    Arc::new(Does(|_: &Call, number| Ok(number + 1)))
}

pub(crate) fn does<F>(act: F) -> Arc<Does<F>>
where
    F: Fn(&Call, i32) -> Result<i32, SystemException> + Send + Sync + 'static,
{
    Arc::new(Does(act))
}

impl Served for Probe {
    type Servant = dyn ProbeServant;

    fn dispatch(servant: &Self::Servant, request: ServerRequest) {
        if request.operation() != "poke" {
            return request.unknown_operation();
        }
        let Some((request, number)) = request.arguments(|from| from.read_i32()) else { return };
        let result = servant.poke(request.call(), number);
        request.finish(result, |number, to| {
            to.write_i32(*number);
            Ok(())
        });
    }
}

impl<S: ProbeServant> ServedBy<S> for Probe {
    fn lend(servant: &S) -> &Self::Servant {
        servant
    }

    fn share(servant: Arc<S>) -> Arc<Self::Servant> {
        servant
    }
}

pub(crate) fn orb() -> Orb {
    orb_at("tcp:127.0.0.1:0")
}

pub(crate) fn orb_at(endpoint: &str) -> Orb {
    let mut policies = Policies::new();
    policies.call_timeout = Some(PATIENCE);
    Orb::builder().policies(policies).listen(endpoint).build()
}

/// A server's root adapter, let through, and a client.
pub(crate) fn server_and_client() -> (Poa, Orb) {
    let root = orb().root_poa().expect("a new ORB");
    root.manager().activate().expect("a new manager");
    (root, orb())
}

/// Ends an ORB, and fails if it does not end.
pub(crate) fn end(orb: &Orb) {
    orb.shutdown(true, PATIENCE);
}
