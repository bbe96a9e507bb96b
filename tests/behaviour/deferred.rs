//! Replies that servants keep and give later, from any thread.

use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use zorb::policy::Policies;
use zorb::server::{DeferredReply, ThreadModel};
use zorb::{Completion, Interface, Kind, Orb, SystemException};
use zorb_tests::kitchen::counter::ServeError;
use zorb_tests::kitchen::{Burnt, Counter, CounterServant};
use zorb_tests::servant::PATIENCE;

use crate::fixture::{Place, models};

type Plate = DeferredReply<(i32, String), ServeError>;

/// Hands every reply to the test, or does at once what the dish says.
struct Window(Mutex<mpsc::Sender<Plate>>);

impl CounterServant for Window {
    fn serve(&self, reply: Plate, dish: &str) {
        match dish {
            "at once" => reply.reply((1, "at once".into())),
            "dropped" => drop(reply),
            "panic" => panic!("asked to"),
            "operation" => {
                let name = reply.call().operation().to_owned();
                reply.reply((0, name));
            }
            _ => self.0.lock().unwrap().send(reply).unwrap(),
        }
    }
    fn call(&self, reply: DeferredReply<(), SystemException>, _: i32) {
        reply.reply(());
    }
    fn waiting(&self, reply: DeferredReply<i32, SystemException>) {
        std::thread::spawn(move || reply.raise(SystemException::NoPermission("not yours")));
    }
}

struct Kitchen {
    server: Orb,
    counter: Counter,
    plates: mpsc::Receiver<Plate>,
}

fn open(at: Place, model: ThreadModel) -> Kitchen {
    let (give, plates) = mpsc::channel();
    let server = at.server().server_threads(model).build();
    let poa = server.root_poa().unwrap();
    let counter = poa.activate::<Counter>(Arc::new(Window(Mutex::new(give)))).unwrap();
    poa.manager().activate().unwrap();
    Kitchen { server, counter, plates }
}

impl Kitchen {
    fn seen_by(&self, client: &Orb) -> Counter {
        let text = self.counter.as_object().to_string();
        Counter::from_object(client.string_to_object(&text).unwrap().unwrap())
    }
}

fn until(what: &str, condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < PATIENCE, "in vain: {what}");
        std::thread::yield_now();
    }
}

fn replies_are_given_later_and_in_any_order(at: Place) {
    for model in models() {
        let kitchen = open(at, model);
        let client = at.client().build();
        let counter = kitchen.seen_by(&client);
        let calls: Vec<_> = (0..8).map(|number| counter.serve_async(format!("dish {number}"))).collect();
        let mut plates: Vec<_> =
            calls.iter().map(|_| kitchen.plates.recv_timeout(PATIENCE).unwrap()).collect();
        assert_eq!(counter.serve("at once").unwrap(), (1, "at once".into()), "others are served meanwhile");
        // The last that came is the first to go; each call is told by its place among all.
        while let Some(plate) = plates.pop() {
            let number = plates.len() as i32;
            std::thread::spawn(move || match number {
                3 => plate.raise(Burnt { dish: "third".into(), minutes: 3 }),
                _ => plate.reply((number, "served".into())),
            });
        }
        let mut answers: Vec<_> = calls.into_iter().map(|call| call.wait()).collect();
        let burnt: Vec<_> = answers.extract_if(.., |it| it.is_err()).map(Result::unwrap_err).collect();
        let ServeError::Burnt(burnt) = &burnt[..][0] else { panic!("{model:?}: {burnt:?}") };
        assert_eq!((burnt.dish.as_str(), burnt.minutes), ("third", 3));
        let mut numbers: Vec<_> = answers.into_iter().map(|it| it.unwrap().0).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2, 4, 5, 6, 7], "{model:?}");
    }
}

fn who_forgets_a_reply_is_answered_for(at: Place) {
    let kitchen = open(at, ThreadModel::per_connection());
    let client = at.client().build();
    for counter in [kitchen.seen_by(&client), kitchen.counter.clone()] {
        let ServeError::System(dropped) = counter.serve("dropped").unwrap_err() else { panic!() };
        assert_eq!((dropped.kind, dropped.completed), (Kind::NoResponse, Completion::Maybe));
        let ServeError::System(panicked) = counter.serve("panic").unwrap_err() else { panic!() };
        assert_eq!(panicked.kind, Kind::Unknown);
        let refused = counter.waiting().unwrap_err();
        assert_eq!(refused.kind, Kind::NoPermission);
        counter.call(1).unwrap();
        assert_eq!(counter.serve("operation").unwrap().1, "serve");
    }
}

fn a_reply_knows_that_its_caller_has_gone(at: Place) {
    let kitchen = open(at, ThreadModel::per_connection());
    let client = at.client().build();
    let counter = kitchen.seen_by(&client);
    let call = counter.serve_async("cancelled".into());
    let plate = kitchen.plates.recv_timeout(PATIENCE).unwrap();
    assert!(!plate.is_abandoned());
    let (tell, told) = mpsc::channel();
    let watch = plate.when_abandoned(move || tell.send(()).unwrap());
    drop(call);
    told.recv_timeout(PATIENCE).unwrap();
    assert!(watch.is_some() && plate.is_abandoned());
    plate.reply((0, String::new()));

    let call = counter.serve_async("the connection ends".into());
    let plate = kitchen.plates.recv_timeout(PATIENCE).unwrap();
    client.shutdown(false, Duration::ZERO);
    drop((call, client));
    until("the end of the connection is noticed", || plate.is_abandoned());
    plate.reply((0, String::new()));
}

fn a_call_from_within_waits_for_its_reply(at: Place) {
    let kitchen = open(at, ThreadModel::per_connection());
    let counter = kitchen.counter.clone();
    let caller = std::thread::spawn(move || counter.serve("here"));
    let plate = kitchen.plates.recv_timeout(PATIENCE).unwrap();
    assert!(plate.call().peer().is_none() && !plate.is_abandoned());
    plate.reply((4, "guest".into()));
    assert_eq!(caller.join().unwrap().unwrap(), (4, "guest".into()));

    let soon = Policies::new().call_timeout(Duration::from_millis(20));
    let hasty = Counter::from_object(kitchen.counter.as_object().with_policies(soon));
    let ServeError::System(late) = hasty.serve("here").unwrap_err() else { panic!("an answer came") };
    assert_eq!((late.kind, late.completed), (Kind::Timeout, Completion::Maybe), "{late}");
    assert!(kitchen.plates.recv_timeout(PATIENCE).unwrap().is_abandoned());
}

fn shut_down_waits_for_replies_that_are_owed(at: Place) {
    let kitchen = open(at, ThreadModel::per_connection());
    let client = at.client().build();
    let counter = kitchen.seen_by(&client);
    let call = counter.serve_async("the last".into());
    let plate = kitchen.plates.recv_timeout(PATIENCE).unwrap();
    std::thread::scope(|scope| {
        let down = scope.spawn(|| kitchen.server.shutdown(true, PATIENCE));
        std::thread::sleep(Duration::from_millis(50));
        assert!(!down.is_finished());
        plate.reply((9, "served".into()));
        assert_eq!(call.wait().unwrap(), (9, "served".into()));
        down.join().unwrap();
    });

    let kitchen = open(at, ThreadModel::per_connection());
    let call = kitchen.seen_by(&client).serve_async("too late".into());
    let plate = kitchen.plates.recv_timeout(PATIENCE).unwrap();
    kitchen.server.shutdown(true, Duration::from_millis(50));
    let ServeError::System(gone) = call.wait().unwrap_err() else { panic!("an answer came") };
    assert_eq!(gone.kind, Kind::CommFailure, "{gone}");
    until("the end is noticed", || plate.is_abandoned());
    plate.reply((0, String::new()));
}

over! {
    replies_are_given_later_and_in_any_order,
    who_forgets_a_reply_is_answered_for,
    a_reply_knows_that_its_caller_has_gone,
    a_call_from_within_waits_for_its_reply,
    shut_down_waits_for_replies_that_are_owed,
}
