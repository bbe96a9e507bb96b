//! Asynchronous calls as CORBA names them: reply handlers, here and elsewhere, pollers, and closures.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use zorb::ami::ExceptionHolder;
use zorb::policy::Policies;
use zorb::{Call, Interface, Kind, Orb, SystemException, Value};
use zorb_tests::kitchen::stove::CookError;
use zorb_tests::kitchen::{AMI_StoveHandler, AMI_StoveHandlerServant, Burnt, Stove, StoveServant};
use zorb_tests::servant::PATIENCE;

use crate::fixture::Place;

/// Cooks what it is told to, once it has been allowed to.
struct Cook {
    allowed: Mutex<mpsc::Receiver<()>>,
}

impl StoveServant for Cook {
    fn chef(&self, _: &Call) -> Result<String, SystemException> {
        Ok("Auguste".into())
    }
    fn set_chef(&self, _: &Call, chef: &str) -> Result<(), SystemException> {
        match chef {
            "" => Err(SystemException::BadParam("nobody").minor(zorb::Minor(7))),
            _ => Ok(()),
        }
    }
    fn cook(&self, _: &Call, dish: &str) -> Result<(i32, String), CookError> {
        match dish {
            "toast" => Err(Burnt { dish: "tóast".into(), minutes: 9 }.into()),
            "panic" => panic!("asked to"),
            _ => Ok((20, format!("rest of {dish}"))),
        }
    }
    fn taste(&self, _: &Call, dish: &str) -> Result<String, SystemException> {
        self.allowed.lock().unwrap().recv_timeout(PATIENCE).unwrap();
        Ok(format!("good {dish}"))
    }
    fn ring(&self, _: &Call, _: i32) -> Result<(), SystemException> {
        Ok(())
    }
}

/// What a handler was told.
#[derive(Debug, PartialEq)]
enum Told {
    Chef(String),
    ChefSet,
    Cooked(i32, String),
    Tasted(String),
    Not(&'static str, String, u32),
}

struct Waiter(Mutex<mpsc::Sender<Told>>);

impl Waiter {
    fn tell(&self, told: Told) -> Result<(), SystemException> {
        self.0.lock().unwrap().send(told).map_err(|_| SystemException::Unknown("nobody listens"))
    }

    fn not(
        &self,
        what: &'static str,
        call: &Call,
        holder: &Option<Value<ExceptionHolder>>,
    ) -> Result<(), SystemException> {
        match ExceptionHolder::raise::<CookError>(holder, call.orb()) {
            CookError::Burnt(it) => self.tell(Told::Not(what, it.dish, it.minutes as u32)),
            CookError::System(it) => self.tell(Told::Not(what, it.kind.to_string(), it.minor.0)),
        }
    }
}

type Holder = Option<Value<ExceptionHolder>>;

impl AMI_StoveHandlerServant for Waiter {
    fn get_chef(&self, _: &Call, chef: &str) -> Result<(), SystemException> {
        self.tell(Told::Chef(chef.into()))
    }
    fn get_chef_excep(&self, call: &Call, holder: &Holder) -> Result<(), SystemException> {
        self.not("get_chef", call, holder)
    }
    fn set_chef(&self, _: &Call) -> Result<(), SystemException> {
        self.tell(Told::ChefSet)
    }
    fn set_chef_excep(&self, call: &Call, holder: &Holder) -> Result<(), SystemException> {
        self.not("set_chef", call, holder)
    }
    fn cook(&self, _: &Call, minutes: i32, rest: &str) -> Result<(), SystemException> {
        self.tell(Told::Cooked(minutes, rest.into()))
    }
    fn cook_excep(&self, call: &Call, holder: &Holder) -> Result<(), SystemException> {
        self.not("cook", call, holder)
    }
    fn taste(&self, _: &Call, how: &str) -> Result<(), SystemException> {
        self.tell(Told::Tasted(how.into()))
    }
    fn taste_excep(&self, call: &Call, holder: &Holder) -> Result<(), SystemException> {
        self.not("taste", call, holder)
    }
}

/// A server with a stove, and what allows to taste.
fn cooks(at: Place) -> (Orb, String, mpsc::Sender<()>) {
    let (allow, allowed) = mpsc::channel();
    let orb = at.server().build();
    let poa = orb.root_poa().unwrap();
    let stove = poa.activate::<Stove>(Arc::new(Cook { allowed: Mutex::new(allowed) })).unwrap();
    poa.manager().activate().unwrap();
    (orb, stove.as_object().to_string(), allow)
}

fn stove(client: &Orb, text: &str) -> Stove {
    Stove::from_object(client.string_to_object(text).unwrap().unwrap())
}

/// A server with a handler.
fn waits(at: Place) -> (Orb, AMI_StoveHandler, mpsc::Receiver<Told>) {
    let (tell, told) = mpsc::channel();
    let orb = at.server().build();
    let poa = orb.root_poa().unwrap();
    let handler = poa.activate::<AMI_StoveHandler>(Arc::new(Waiter(Mutex::new(tell)))).unwrap();
    poa.manager().activate().unwrap();
    (orb, handler, told)
}

fn check_handler(stove: &Stove, handler: &AMI_StoveHandler, told: &mpsc::Receiver<Told>) {
    let next = || told.recv_timeout(PATIENCE).unwrap();
    stove.sendc_get_chef(Some(handler)).unwrap();
    assert_eq!(next(), Told::Chef("Auguste".into()));
    stove.sendc_set_chef(Some(handler), "Georges".into()).unwrap();
    assert_eq!(next(), Told::ChefSet);
    stove.sendc_set_chef(Some(handler), String::new()).unwrap();
    assert_eq!(next(), Told::Not("set_chef", "BAD_PARAM".into(), 7));
    stove.sendc_cook(Some(handler), "soup".into()).unwrap();
    assert_eq!(next(), Told::Cooked(20, "rest of soup".into()));
    stove.sendc_cook(Some(handler), "toast".into()).unwrap();
    assert_eq!(next(), Told::Not("cook", "tóast".into(), 9));
    stove.sendc_cook(Some(handler), "panic".into()).unwrap();
    assert_eq!(next(), Told::Not("cook", "UNKNOWN".into(), 0));
}

fn a_handler_in_the_callers_orb_is_told(at: Place) {
    let (_server, text, allow) = cooks(at);
    let (client, handler, told) = waits(at);
    let stove = stove(&client, &text);
    check_handler(&stove, &handler, &told);
    // Nothing waits while a reply is owed.
    stove.sendc_taste(Some(&handler), "soup".into()).unwrap();
    stove.sendc_get_chef(Some(&handler)).unwrap();
    assert_eq!(told.recv_timeout(PATIENCE).unwrap(), Told::Chef("Auguste".into()));
    allow.send(()).unwrap();
    assert_eq!(told.recv_timeout(PATIENCE).unwrap(), Told::Tasted("good soup".into()));
    // No handler: the reply is dropped.
    stove.sendc_cook(None, "soup".into()).unwrap();
    // A reply that never comes is told at the deadline.
    let soon = Policies::new().call_timeout(Duration::from_millis(20));
    let hasty = Stove::from_object(stove.as_object().with_policies(soon));
    hasty.sendc_taste(Some(&handler), "soup".into()).unwrap();
    assert_eq!(told.recv_timeout(PATIENCE).unwrap(), Told::Not("taste", "TIMEOUT".into(), 0));
    allow.send(()).unwrap();
}

fn a_handler_elsewhere_is_told(at: Place) {
    let (_server, text, _allow) = cooks(at);
    let (_handlers, handler, told) = waits(at);
    // This ORB serves nothing, and so has no threads but its own for deliveries.
    let client = at.client().build();
    let there = client.string_to_object(&handler.as_object().to_string()).unwrap().unwrap();
    assert!(there.is_a("IDL:omg.org/Messaging/ReplyHandler:1.0").unwrap());
    check_handler(&stove(&client, &text), &AMI_StoveHandler::from_object(there), &told);
}

fn what_cannot_be_begun_is_an_error_of_the_stub(at: Place) {
    let (_server, text, _allow) = cooks(at);
    let (client, handler, told) = waits(at);
    let stove = stove(&client, &text);
    client.shutdown(true, PATIENCE);
    let refused = stove.sendc_get_chef(Some(&handler)).unwrap_err();
    assert_eq!(refused.kind, Kind::BadInvOrder);
    assert!(stove.cook_async("soup".into()).deliver(|_| panic!("it was not begun")).is_err());
    assert!(told.try_recv().is_err());
}

fn a_closure_is_given_the_outcome(at: Place) {
    let (_server, text, _allow) = cooks(at);
    let client = at.client().build();
    let stove = stove(&client, &text);
    let (tell, told) = mpsc::channel();
    for number in 0..200 {
        let tell = tell.clone();
        let dish = if number % 2 == 0 { "soup" } else { "toast" };
        stove.cook_async(dish.into()).deliver(move |outcome| tell.send(outcome).unwrap()).unwrap();
    }
    let (mut good, mut burnt) = (0, 0);
    for _ in 0..200 {
        match told.recv_timeout(PATIENCE).unwrap() {
            Ok(cooked) => good += i32::from(cooked == (20, "rest of soup".into())),
            Err(error) => burnt += i32::from(matches!(error, CookError::Burnt(_))),
        }
    }
    assert_eq!((good, burnt), (100, 100));
    // A closure that panics harms nobody.
    stove.cook_async("soup".into()).deliver(|_| panic!("asked to")).unwrap();
    stove.cook_async("soup".into()).deliver(move |outcome| tell.send(outcome).unwrap()).unwrap();
    told.recv_timeout(PATIENCE).unwrap().unwrap();
}

fn a_poller_is_asked_again_and_again(at: Place) {
    let (_server, text, allow) = cooks(at);
    let client = at.client().build();
    let stove = stove(&client, &text);
    let mut poller = stove.sendp_taste("soup".into());
    assert!(!poller.is_ready(Duration::ZERO));
    assert_eq!(poller.get(Duration::ZERO).unwrap_err().kind, Kind::NoResponse);
    assert_eq!(poller.get(Duration::from_millis(5)).unwrap_err().kind, Kind::Timeout);
    allow.send(()).unwrap();
    assert!(poller.is_ready(Duration::MAX));
    assert_eq!(poller.get(Duration::ZERO).unwrap(), "good soup");
    assert!(!poller.is_ready(Duration::from_secs(1)));
    assert_eq!(poller.get(Duration::from_secs(1)).unwrap_err().kind, Kind::ObjectNotExist);
    let burnt = stove.sendp_cook("toast".into()).get(PATIENCE).unwrap_err();
    assert!(matches!(burnt, CookError::Burnt(_)), "{burnt}");
}

over! {
    a_handler_in_the_callers_orb_is_told,
    a_handler_elsewhere_is_told,
    what_cannot_be_begun_is_an_error_of_the_stub,
    a_closure_is_given_the_outcome,
    a_poller_is_asked_again_and_again,
}
