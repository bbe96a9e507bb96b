//! Operations with a `context` clause: what it names of the caller's properties reaches the servant, and nothing else.

use std::sync::{Arc, Mutex};

use zorb::dynamic::{
    DynamicError, DynamicRequest, DynamicServant, Mode, Request, Results, Signature, dynamic_servant,
};
use zorb::rt::Described;
use zorb::{Any, Call, Interface, Kind, ObjectRef, Properties, SystemException, TypeCode};
use zorb_tests::kitchen::{Guest, GuestServant};

use crate::fixture::Place;

#[derive(Default)]
struct Listener(Mutex<Vec<(i32, Properties)>>);

fn text(properties: &Properties) -> String {
    properties.iter().map(|(name, value)| format!("{name}={value};")).collect()
}

impl GuestServant for Listener {
    fn whose(
        &self,
        _: &Call,
        dish: &str,
        count: i32,
        properties: Properties,
    ) -> Result<(String, i32), SystemException> {
        Ok((format!("{dish}: {}", text(&properties)), count + properties.len() as i32))
    }
    fn tell(&self, _: &Call, number: i32, properties: Properties) -> Result<(), SystemException> {
        self.0.lock().unwrap().push((number, properties));
        Ok(())
    }
    fn told(&self, _: &Call, properties: Properties) -> Result<String, SystemException> {
        assert!(properties.is_empty());
        let told = self.0.lock().unwrap();
        Ok(told.iter().map(|(number, properties)| format!("{number} {}", text(properties))).collect())
    }
}

fn what_a_clause_names_reaches_the_servant(at: Place) {
    let server = at.server().build();
    let poa = server.root_poa().unwrap();
    let here = poa.activate::<Guest>(Arc::new(Listener::default())).unwrap();
    poa.manager().activate().unwrap();
    let client = at.client().build();
    let there = client.string_to_object(&here.as_object().to_string()).unwrap().unwrap();
    let given = Properties::new()
        .with("user", "ada")
        .with("password", "secret")
        .with("sys_host", "grüße")
        .with("sys_", "")
        .with("username", "no");
    let expected = ("soup: sys_=;sys_host=grüße;user=ada;".to_owned(), 13);
    for (number, guest) in [Guest::from_object(there), here].into_iter().enumerate() {
        assert_eq!(guest.whose("soup", 10, &given).unwrap(), expected);
        assert_eq!(guest.whose_async("soup".into(), 10, given.clone()).wait().unwrap(), expected);
        assert_eq!(guest.whose("soup", 10, &Properties::new()).unwrap(), ("soup: ".to_owned(), 10));
        guest.tell(number as i32, &given).unwrap();
        let told: String = (0..=number).map(|number| format!("{number} user=ada;")).collect();
        assert_eq!(guest.told(&given).unwrap(), told);
    }
}

fn whose() -> Signature {
    let signature = Signature::new("whose").takes("dish", TypeCode::string(0));
    signature.parameter("count", Mode::InOut, i32::type_code()).gives(TypeCode::string(0))
}

fn whose_with_clause() -> Arc<Signature> {
    Arc::new(whose().context("user").context("sys_*"))
}

fn tell() -> Arc<Signature> {
    Arc::new(Signature::new("tell").takes("number", i32::type_code()).oneway().context("user"))
}

fn told() -> Arc<Signature> {
    Arc::new(Signature::new("told").gives(TypeCode::string(0)).context("nothing"))
}

/// What the [`Listener`] answers, without a skeleton.
#[derive(Default)]
struct DynamicListener(Listener);

impl DynamicServant for DynamicListener {
    fn repository_id(&self) -> &str {
        Guest::INFO.id
    }

    fn invoke(&self, request: DynamicRequest) {
        let signature = match request.operation() {
            "whose" => whose_with_clause(),
            "tell" => tell(),
            _ => told(),
        };
        let Some((reply, given)) = request.arguments(&signature) else { return };
        let properties = reply.properties().clone();
        let results = match &*signature.operation {
            "whose" => {
                let (dish, count): (String, i32) = (given[0].get().unwrap(), given[1].get().unwrap());
                let (text, count) = self.0.whose(reply.call(), &dish, count, properties).unwrap();
                Results::of(Any::new(&text).unwrap()).and(Any::new(&count).unwrap())
            }
            "tell" => {
                self.0.tell(reply.call(), given[0].get().unwrap(), properties).unwrap();
                Results::nothing()
            }
            _ => Results::of(Any::new(&self.0.told(reply.call(), properties).unwrap()).unwrap()),
        };
        reply.results(results);
    }
}

fn dynamic_requests_send_what_stubs_send(at: Place) {
    let server = at.server().build();
    let poa = server.root_poa().unwrap();
    let compiled = poa.activate::<Guest>(Arc::new(Listener::default())).unwrap().as_object().clone();
    let learnt = dynamic_servant(Arc::new(DynamicListener::default()));
    let learnt = poa.activate_servant(learnt, Guest::INFO.id).unwrap();
    poa.manager().activate().unwrap();
    let client = at.client().build();
    let given = Properties::new()
        .with("user", "ada")
        .with("password", "secret")
        .with("sys_host", "grüße")
        .with("sys_", "");
    let expected = "soup: sys_=;sys_host=grüße;user=ada;";
    let request = |object: &ObjectRef, signature| Request::new(object, signature).unwrap();
    let arguments = || vec![Any::new("soup").unwrap(), Any::new(&10).unwrap()];
    let read = |results: Results| -> (String, i32) {
        (results.result.get().unwrap(), results.outputs[0].get().unwrap())
    };
    for object in [&compiled, &learnt] {
        let object = client.string_to_object(&object.to_string()).unwrap().unwrap();
        let ask = request(&object, whose_with_clause()).with_properties(&given);
        assert_eq!(ask.properties().len(), 3);
        assert_eq!(read(ask.invoke(&arguments()).unwrap()), (expected.to_owned(), 13));
        let deferred = ask.send_deferred(arguments());
        assert_eq!(read(deferred.get_response().unwrap()), (expected.to_owned(), 13));
        // Nothing given is an empty list, which is there all the same.
        let empty = request(&object, whose_with_clause());
        assert_eq!(read(empty.invoke(&arguments()).unwrap()), ("soup: ".to_owned(), 10));
        let tell = request(&object, tell()).with_properties(&given);
        tell.send_oneway(&[Any::new(&1).unwrap()]).unwrap();
        assert_eq!(
            tell.send_deferred(vec![Any::new(&2).unwrap()]).get_response().unwrap(),
            Results::nothing()
        );
        let told = request(&object, told()).with_properties(&given);
        let told: String = told.invoke(&[]).unwrap().result.get().unwrap();
        assert_eq!(told, "1 user=ada;2 user=ada;");
        // Who knows nothing of the clause sends no list, and is told so.
        match request(&object, Arc::new(whose())).with_properties(&given).invoke(&arguments()) {
            Err(DynamicError::System(exception)) => assert_eq!(exception.kind, Kind::Marshal, "{exception}"),
            other => panic!("{other:?}"),
        }
    }
    // A stub cannot tell that its servant has no skeleton.
    let learnt = client.string_to_object(&learnt.to_string()).unwrap().unwrap();
    let guest = Guest::from_object(learnt);
    assert_eq!(guest.whose("soup", 10, &given).unwrap(), (expected.to_owned(), 13));
    assert_eq!(guest.whose("soup", 10, &Properties::new()).unwrap(), ("soup: ".to_owned(), 10));
}

over! {
    dynamic_requests_send_what_stubs_send,
    what_a_clause_names_reaches_the_servant,
}
