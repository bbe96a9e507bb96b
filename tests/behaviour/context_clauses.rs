//! Operations with a `context` clause: what it names of the caller's properties reaches the servant, and nothing else.

use std::sync::{Arc, Mutex};

use zorb::dynamic::{DynamicRequest, DynamicServant, Mode, Request, Results, Signature, dynamic_servant};
use zorb::rt::Described;
use zorb::{Any, Call, Interface, Properties, SystemException, TypeCode};
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

/// Answers with its argument and the properties that came.
struct Dynamic(Arc<Signature>);

impl DynamicServant for Dynamic {
    fn repository_id(&self) -> &str {
        Guest::INFO.id
    }
    fn is_a(&self, id: &str) -> bool {
        id == Guest::INFO.id
    }
    fn invoke(&self, request: DynamicRequest) {
        let Some((reply, given)) = request.arguments(&self.0) else { return };
        let dish: String = given[0].get().unwrap();
        let count = given[1].get::<i32>().unwrap() + reply.properties().len() as i32;
        let answer = format!("{dish}: {}", text(reply.properties()));
        reply.results(Results::of(Any::new(&answer).unwrap()).and(Any::new(&count).unwrap()));
    }
}

/// Requests and servants without stubs and skeletons: a request sends what the clause names, and of no properties none.
fn dynamic_calls_pass_properties_too(at: Place) {
    let signature = Signature::new("whose")
        .takes("dish", TypeCode::string(0))
        .parameter("count", Mode::InOut, i32::type_code())
        .gives(TypeCode::string(0))
        .context("user")
        .context("sys_*");
    let signature = Arc::new(signature);
    let server = at.server().build();
    let poa = server.root_poa().unwrap();
    let by_skeleton = poa.activate::<Guest>(Arc::new(Listener::default())).unwrap().as_object().to_string();
    let servant = dynamic_servant(Arc::new(Dynamic(signature.clone())));
    let without = poa.activate_servant(servant, Guest::INFO.id).unwrap().to_string();
    poa.manager().activate().unwrap();
    let client = at.client().build();
    let given = Properties::new().with("user", "ada").with("password", "secret").with("sys_a", "b");
    for reference in [by_skeleton, without] {
        let there = client.string_to_object(&reference).unwrap().unwrap();
        let guest = Guest::from_object(there.clone());
        assert_eq!(guest.whose("soup", 10, &given).unwrap(), ("soup: sys_a=b;user=ada;".to_owned(), 12));
        let arguments = [Any::new("soup").unwrap(), Any::new(&10).unwrap()];
        let plain = Request::new(&there, signature.clone()).unwrap();
        let told = plain.clone().with_properties(&given);
        for (request, answer, count) in [(&plain, "soup: ", 10), (&told, "soup: sys_a=b;user=ada;", 12)] {
            let deferred = request.send_deferred(arguments.to_vec()).get_response();
            for results in [request.invoke(&arguments), deferred] {
                let results = results.unwrap();
                assert_eq!(results.result.get::<String>().unwrap(), answer);
                assert_eq!(results.outputs[0].get::<i32>().unwrap(), count);
            }
        }
    }
}

over! {
    what_a_clause_names_reaches_the_servant,
    dynamic_calls_pass_properties_too,
}
