//! A struct of ten fields there and back: by stub and skeleton, in anys, by a request made at run time, and by a servant of
//! any interface. Each side makes and reads the struct.

use std::sync::Arc;

use zorb::cdr::Any;
use zorb::dynamic::{DynamicRequest, DynamicServant, Request, Results, Signature, dynamic_servant};
use zorb::poa::{Poa, PoaError};
use zorb::rt::Described;
use zorb::{Call, Interface, ObjectRef, Orb, SystemException};

use crate::Case;
use crate::whole::idl::{Echo, EchoServant, Record};
use crate::whole::meeting;

/// Gives back what it is given.
struct Same {
    signature: Arc<Signature>,
}

impl EchoServant for Same {
    fn repeat(&self, _: &Call, given: &Record) -> Result<Record, SystemException> {
        Ok(given.clone())
    }

    fn repeat_any(&self, _: &Call, given: &Any) -> Result<Any, SystemException> {
        Ok(any(&record_of(given)))
    }
}

impl DynamicServant for Same {
    fn repository_id(&self) -> &str {
        Echo::INFO.id
    }

    fn invoke(&self, request: DynamicRequest) {
        if let Some((reply, given)) = request.arguments(&self.signature) {
            reply.results(Results::of(any(&record_of(&given[0]))));
        }
    }
}

/// What a stub knows of `repeat`.
fn signature() -> Arc<Signature> {
    Arc::new(Signature::new("repeat").takes("given", Record::type_code()).gives(Record::type_code()))
}

fn record() -> Record {
    Record { b: true, o: 1, s: 2, us: 3, l: 4, ul: 5, ll: 6, f: 7.0, d: 8.0, t: "nine".into() }
}

fn any(record: &Record) -> Any {
    Any::new(record).expect("it can be encoded")
}

fn record_of(any: &Any) -> Record {
    any.get().expect("a record")
}

/// What the others are held to.
pub(crate) fn by_stub() -> Case {
    calling(typed, |object| {
        let echo = Echo::from_object(object);
        let record = record();
        Box::new(move || assert_eq!(echo.repeat(&record), Ok(record.clone())))
    })
}

pub(crate) fn in_anys() -> Case {
    calling(typed, |object| {
        let echo = Echo::from_object(object);
        let record = record();
        Box::new(move || assert_eq!(record_of(&echo.repeat_any(&any(&record)).expect("answered")), record))
    })
}

pub(crate) fn by_request() -> Case {
    calling(typed, |object| {
        let (record, signature) = (record(), signature());
        Box::new(move || {
            let request = Request::new(&object, signature.clone()).expect("a name");
            let results = request.invoke(&[any(&record)]).expect("answered");
            assert_eq!(record_of(&results.result), record);
        })
    })
}

pub(crate) fn to_servant() -> Case {
    let dynamic = |poa: &Poa| {
        let servant = Arc::new(Same { signature: signature() });
        poa.activate_servant(dynamic_servant(servant), Echo::INFO.id)
    };
    calling(dynamic, |object| {
        let echo = Echo::from_object(object);
        let record = record();
        Box::new(move || assert_eq!(echo.repeat(&record), Ok(record.clone())))
    })
}

fn typed(poa: &Poa) -> Result<ObjectRef, PoaError> {
    let echo = poa.activate::<Echo>(Arc::new(Same { signature: signature() }))?;
    Ok(echo.as_object().clone())
}

fn calling(
    activate: impl Fn(&Poa) -> Result<ObjectRef, PoaError>,
    caller: impl FnOnce(ObjectRef) -> Box<dyn Fn()>,
) -> Case {
    let (server, object) = meeting(1, Orb::builder, activate);
    let call = caller(object);
    Box::new(move |_| {
        // It lives as long as its client.
        let _ = &server;
        call();
    })
}
