//! Operations with a `context` clause: what it names of the caller's properties reaches the servant, and nothing else.

use std::sync::{Arc, Mutex};

use zorb::{Call, Interface, Properties, SystemException};
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

over! {
    what_a_clause_names_reaches_the_servant,
}
