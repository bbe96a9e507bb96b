//! What had no mapping for longest: native types, maps whose keys have no order, sequences of nothing, local interfaces that inherit from
//! others, event types, and what the ORB's own orb.idl declares.

use std::sync::{Arc, Mutex};

use zorb::cdr::{ByteOrder, CodeSets, DecodeErrorKind, Decoder, EncodeErrorKind, Encoder, Format, Version};
use zorb::poa::Poa;
use zorb::rt::wire::{DecodeAs, EncodeAs, List, MOST_NOTHINGS, Nothings, Plain, WideText};
use zorb::rt::{CORBA, Decode, Encode};
use zorb::rt::{Completion, IntoServant, Minor};
use zorb::{Any, Call, Described, Interface, Kind, Local, Orb, Sequence, SystemException, TCKind, Value};
use zorb_test_mapping::native::{Cookie, Refused};
use zorb_test_mapping::rest::Components::{EventBase, EventConsumerBase};
use zorb_test_mapping::rest::rest::source::{Empty, TakeError};
use zorb_test_mapping::rest::rest::store::{Named_thing, OpenError, Source, Tagged};
use zorb_test_mapping::rest::rest::{
    Alarm, Cellar, Charted, ChartedServant, Charts, Few, Filtered, Fire, Gone, HereServant, Holds, Levels,
    Limit, LimitServant, LocalLimit, Named, Nothing, NothingMore, Nothings as Many, Pairs, Point, Store,
    Token, local_limit::Policy as LocalPolicy,
};

const FORMAT: Format = Format { version: Version::V1_2, code_sets: CodeSets::UNICODE };

fn octets<C: EncodeAs<V>, V: ?Sized>(value: &V) -> zorb::rt::bytes::Bytes {
    let mut to = Encoder::new(FORMAT);
    C::encode_as(value, &mut to).expect("it can be written");
    to.to_bytes()
}

fn read<C: DecodeAs<V>, V>(octets: &zorb::rt::bytes::Bytes) -> Result<V, DecodeErrorKind> {
    C::decode_as(&mut Decoder::new(octets, ByteOrder::NATIVE, FORMAT)).map_err(|error| error.kind)
}

/// Pairs are kept as they come, in their order, a key that stands twice too: of floating numbers nobody can say what is twice.
#[test]
fn maps_without_an_order_are_lists_of_pairs() {
    let levels: Levels = vec![(2.5, "b".to_owned()), (f64::NAN, String::new()), (2.5, "a".to_owned())];
    let written = octets::<List<(Plain, Plain)>, _>(&levels);
    let mut pairs = Encoder::new(FORMAT);
    pairs.write_length(3).unwrap();
    for (level, name) in &levels {
        level.encode(&mut pairs).unwrap();
        name.encode(&mut pairs).unwrap();
    }
    assert_eq!(written, pairs.to_bytes(), "on the wire it is a sequence of structs of key and value");
    let back: Levels = read::<List<(Plain, Plain)>, _>(&written).unwrap();
    assert_eq!(format!("{back:?}"), format!("{levels:?}"));
    for end in 0..written.len() {
        assert!(read::<List<(Plain, Plain)>, Levels>(&written.slice(..end)).is_err(), "{end}");
    }
    let named: Named = vec![(Point { x: 1.0, y: 2.0 }, vec!["four".to_owned()])];
    type Codec = List<(Plain, List<WideText<4>>), 3>;
    assert_eq!(read::<Codec, Named>(&octets::<Codec, _>(&named)).unwrap(), named);
    let four = vec![named[0].clone(); 4];
    let error = <Codec as EncodeAs<Named>>::encode_as(&four, &mut Encoder::new(FORMAT)).unwrap_err();
    assert_eq!(error.kind, EncodeErrorKind::BoundExceeded { length: 4, bound: 3 });
    let charts = Charts {
        curve: vec![(1.5, Point::default())],
        nested: vec![(Point::default(), [("k".to_owned(), 1.0)].into())],
    };
    assert_eq!(Any::new(&charts).unwrap().get::<Charts>().unwrap(), charts);
}

/// The count is all that travels, so that it has a limit of its own.
#[test]
fn sequences_of_nothing_are_counts() {
    let many: Many = vec![Nothing {}; 1000];
    let written = octets::<Nothings, _>(&many);
    assert_eq!(written.as_ref(), 1000_u32.to_ne_bytes());
    assert_eq!(read::<Nothings, Many>(&written).unwrap(), many);
    let more = MOST_NOTHINGS + 1;
    let bound = DecodeErrorKind::BoundExceeded { length: more as usize, bound: MOST_NOTHINGS };
    let received = zorb::rt::bytes::Bytes::copy_from_slice(&more.to_ne_bytes());
    assert_eq!(read::<Nothings, Many>(&received).unwrap_err(), bound);
    let huge = zorb::rt::bytes::Bytes::copy_from_slice(&u32::MAX.to_ne_bytes());
    assert!(read::<Nothings, Many>(&huge).is_err());
    let error =
        Nothings::<5>::encode_as(&[(); 6].map(|()| NothingMore::default())[..], &mut Encoder::new(FORMAT));
    assert_eq!(error.unwrap_err().kind, EncodeErrorKind::BoundExceeded { length: 6, bound: 5 });
    let few: Few = vec![NothingMore::default(); 5];
    let holds = Holds { many, some: few, behind: 7 };
    let mut to = Encoder::new(FORMAT);
    holds.encode(&mut to).unwrap();
    let written = to.to_bytes();
    assert_eq!(written.len(), 12);
    assert_eq!(Holds::decode(&mut Decoder::new(&written, ByteOrder::NATIVE, FORMAT)).unwrap(), holds);
    for end in 0..written.len() {
        let cut = written.slice(..end);
        assert!(Holds::decode(&mut Decoder::new(&cut, ByteOrder::NATIVE, FORMAT)).is_err(), "{end}");
    }
    let _: Pairs = vec![(Nothing {}, Nothing {})];
}

#[derive(Default)]
struct Chart(Mutex<Levels>);

impl ChartedServant for Chart {
    fn all(&self, _: &Call) -> Result<Levels, SystemException> {
        Ok(self.0.lock().unwrap().clone())
    }

    fn set_all(&self, _: &Call, all: &[(f64, String)]) -> Result<(), SystemException> {
        *self.0.lock().unwrap() = all.to_vec();
        Ok(())
    }

    fn rename(
        &self,
        _: &Call,
        them: &[(Point, Vec<String>)],
        of: &Charts,
    ) -> Result<(Named, Charts, Many), SystemException> {
        Ok((them.to_vec(), of.clone(), vec![Nothing {}; them.len()]))
    }

    fn count(&self, _: &Call, _: &[Nothing], _: &[NothingMore]) -> Result<(), SystemException> {
        Ok(())
    }
}

/// A server, and a client of it in this process.
struct Pair {
    _server: Orb,
    poa: Poa,
    client: Orb,
}

impl Pair {
    fn new() -> Pair {
        let server = Orb::builder().listen("tcp:127.0.0.1:0").build();
        let poa = server.root_poa().expect("an adapter");
        poa.manager().activate().expect("it serves");
        Pair { _server: server, poa, client: Orb::builder().build() }
    }

    /// A reference as the program has it that serves the object.
    fn here<I: Interface>(&self, servant: impl IntoServant<I>) -> I {
        self.poa.activate::<I>(servant).expect("a servant")
    }

    /// The same as another program has it.
    fn there<I: Interface>(&self, reference: &I) -> I {
        let text = reference.as_object().to_string();
        I::from_object(self.client.string_to_object(&text).expect("a reference").expect("not nil"))
    }
}

fn exception(kind: Kind) -> SystemException {
    SystemException::new(kind, Minor::NONE, Completion::No, "as the test wants it")
}

#[test]
fn they_travel_as_parameters_and_results() {
    let pair = Pair::new();
    let here = pair.here::<Charted>(Arc::new(Chart::default()));
    let there = pair.there(&here);
    for charted in [&here, &there] {
        let levels = vec![(-1.0, "low".to_owned()), (9.5, "high".to_owned())];
        charted.set_all(&levels).unwrap();
        assert_eq!(charted.all().unwrap(), levels);
        let named = vec![(Point { x: 0.5, y: 1.0 }, vec!["n".to_owned()]); 3];
        let charts = Charts { curve: vec![(0.25, Point::default())], nested: Vec::new() };
        let (them, of, none) = charted.rename(&named, &charts).unwrap();
        assert_eq!((them, of, none.len()), (named, charts, 3));
        charted.count(&vec![Nothing {}; 4], &[]).unwrap();
    }
    let five = vec![(Point::default(), Vec::new()); 4];
    let error = there.rename(&five, &Charts::default()).unwrap_err();
    assert_eq!(error.kind, Kind::BadParam);
}

#[derive(Default)]
struct Shelf {
    tag: Mutex<String>,
    latest: Mutex<Option<Cookie>>,
}

impl Source for Shelf {
    fn left(&self) -> Result<i32, SystemException> {
        Ok(3)
    }

    fn take(&self, count: i32, at: &[(f64, String)]) -> Result<String, TakeError> {
        match count {
            ..=3 => Ok(format!("{count} of {}", at.len())),
            _ => Err(Empty { why: "no more".to_owned() }.into()),
        }
    }
}

impl Tagged for Shelf {
    fn tag(&self) -> Result<String, SystemException> {
        Ok(self.tag.lock().unwrap().clone())
    }

    fn set_tag(&self, tag: &str) -> Result<(), SystemException> {
        tag.clone_into(&mut self.tag.lock().unwrap());
        Ok(())
    }
}

impl Named_thing for Shelf {
    fn name(&self) -> Result<String, SystemException> {
        Ok("shelf".to_owned())
    }
}

impl Store for Shelf {
    fn open(&self, name: &str) -> Result<(Cookie, Token), OpenError> {
        match name {
            "" => Err(Refused("no name".to_owned()).into()),
            "old" => Err(Gone { since: 1999 }.into()),
            _ => {
                let cookie = Cookie(Arc::new(name.to_owned()));
                *self.latest.lock().unwrap() = Some(cookie.clone());
                Ok((cookie.clone(), cookie))
            }
        }
    }

    fn close(&self, _: &Cookie, other: &Token) -> Result<Token, SystemException> {
        Ok(other.clone())
    }

    fn latest(&self) -> Result<Cookie, SystemException> {
        self.latest.lock().unwrap().clone().ok_or_else(|| exception(Kind::BadInvOrder))
    }
}

impl Filtered for Shelf {
    fn filter(&self, _: &str) -> Result<(), SystemException> {
        Ok(())
    }
}

impl Cellar for Shelf {}

/// A local interface has what it inherits from an interface that is not local, once, however many ways lead there.
#[test]
fn local_interfaces_inherit_from_others() {
    let cellar: Local<dyn Cellar> = Local(Arc::new(Shelf::default()));
    assert_eq!(cellar.take(2, &[(0.5, "half".to_owned())]).unwrap(), "2 of 1");
    assert!(matches!(cellar.take(4, &[]), Err(TakeError::Empty(Empty { why })) if why == "no more"));
    cellar.set_tag("t").unwrap();
    assert_eq!(
        (cellar.left().unwrap(), cellar.tag().unwrap(), cellar.name().unwrap()),
        (3, "t".into(), "shelf".into())
    );
    cellar.filter("nothing").unwrap();
    let source: Arc<dyn Source> = cellar.0.clone();
    assert_eq!(source.left().unwrap(), 3);
}

#[test]
fn native_types_are_handed_on_within_the_program() {
    let store: Local<dyn Store> = Local(Arc::new(Shelf::default()));
    assert_eq!(store.latest().unwrap_err().kind, Kind::BadInvOrder);
    let (cookie, token) = store.open("wine").unwrap();
    assert!(Arc::ptr_eq(&cookie.0, &token.0));
    assert!(Arc::ptr_eq(&store.latest().unwrap().0, &cookie.0));
    assert!(Arc::ptr_eq(&store.close(&cookie, &token).unwrap().0, &token.0));
    assert!(matches!(store.open(""), Err(OpenError::Refused(Refused(why))) if why == "no name"));
    assert!(matches!(store.open("old"), Err(OpenError::Gone(Gone { since: 1999 }))));
}

struct Fixed;

impl CORBA::PolicyServant for Fixed {
    fn policy_type(&self, _: &Call) -> Result<u32, SystemException> {
        Ok(77)
    }

    fn copy(&self, context: &Call) -> Result<Option<CORBA::Policy>, SystemException> {
        context.this::<CORBA::Policy>().map(Some)
    }

    fn destroy(&self, _: &Call) -> Result<(), SystemException> {
        Err(exception(Kind::NoPermission))
    }
}

impl LimitServant for Fixed {
    fn most(&self, _: &Call) -> Result<i32, SystemException> {
        Ok(12)
    }
}

impl CORBA::CurrentServant for Fixed {}

impl HereServant for Fixed {
    fn policies(&self, _: &Call, first: Option<CORBA::Policy>) -> Result<CORBA::PolicyList, SystemException> {
        Ok(vec![first, None])
    }
}

impl LocalPolicy for Fixed {
    fn policy_type(&self) -> Result<u32, SystemException> {
        Ok(78)
    }

    fn copy(&self) -> Result<Option<CORBA::Policy>, SystemException> {
        Ok(None)
    }

    fn destroy(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

impl LocalLimit for Fixed {}

/// Interfaces derived from those of the ORB are served, called and passed on like others.
#[test]
fn the_interfaces_of_the_orb_are_there() {
    use zorb_test_mapping::rest::rest::Here;
    let pair = Pair::new();
    let limit = pair.here::<Limit>(Arc::new(Fixed));
    let here = pair.here::<Here>(Arc::new(Fixed));
    for limit in [limit.clone(), pair.there(&limit)] {
        assert_eq!((limit.most().unwrap(), limit.policy_type().unwrap()), (12, 77));
        assert_eq!(limit.destroy().unwrap_err().kind, Kind::NoPermission);
        let copy: CORBA::Policy = limit.copy().unwrap().expect("one");
        assert_eq!(copy.policy_type().unwrap(), 77);
        assert!(copy.is_a("IDL:zorb.test/rest/Limit:1.0").unwrap());
    }
    let there = pair.there(&here);
    let policy = CORBA::Policy::from(pair.there(&limit));
    let policies = there.policies(Some(&policy)).unwrap();
    assert_eq!(policies[0].as_ref().expect("it came back").policy_type().unwrap(), 77);
    assert_eq!(policies[1], None);
    let local: Local<dyn LocalLimit> = Local(Arc::new(Fixed));
    assert_eq!(local.policy_type().unwrap(), 78);
}

/// Pseudo-objects and native types are refused where they would be sent, and reach a servant in this program.
#[test]
fn pseudo_objects_do_not_travel() {
    use zorb_test_mapping::rest::rest::{Described as About, DescribedServant};
    struct Tell(Mutex<Vec<i32>>);
    impl DescribedServant for Tell {
        fn about(
            &self,
            _: &Call,
            _: Option<CORBA::IRObject>,
            more: &[Any],
        ) -> Result<Option<CORBA::InterfaceDef>, SystemException> {
            assert_eq!(more.len(), 1);
            Ok(None)
        }

        fn ended(&self, _: &Call, id: i32, how: &CORBA::Environment) -> Result<(), SystemException> {
            assert!(how.is_none());
            self.0.lock().unwrap().push(id);
            Ok(())
        }

        fn caller(&self, _: &Call) -> Result<Sequence<u8>, SystemException> {
            Ok(vec![1].into())
        }
    }
    let pair = Pair::new();
    let tell = Arc::new(Tell(Mutex::default()));
    let here = pair.here::<About>(tell.clone());
    let there = pair.there(&here);
    here.ended(1, &None).unwrap();
    let error = there.ended(2, &None).unwrap_err();
    assert_eq!((error.kind, error.minor), (Kind::Marshal, Minor::omg(4)));
    assert_eq!(*tell.0.lock().unwrap(), [1]);
    assert_eq!(here.caller().unwrap().as_ref(), [1]);
    assert_eq!(there.caller().unwrap_err().kind, Kind::Marshal);
    assert_eq!(there.about(None, &[Any::new(&1).unwrap()]).unwrap(), None);
}

/// An event is a value, which its consumers take under the name of the type.
#[test]
fn events_are_values_with_consumers() {
    use zorb_test_mapping::rest::Components::EventConsumerBaseServant;
    use zorb_test_mapping::rest::Components::event_consumer_base::PushEventError;
    use zorb_test_mapping::rest::rest::{AlarmConsumer, AlarmConsumerServant};
    struct Siren(Mutex<Vec<String>>);
    impl EventConsumerBaseServant for Siren {
        fn push_event(&self, _: &Call, evt: &Option<Value<EventBase>>) -> Result<(), PushEventError> {
            let alarm = evt.as_ref().and_then(Value::cast::<Alarm>).expect("an alarm");
            self.0.lock().unwrap().push(alarm.get().expect("kept").text.clone());
            Ok(())
        }
    }
    impl AlarmConsumerServant for Siren {
        fn push_Alarm(&self, _: &Call, evt: &Option<Value<Alarm>>) -> Result<(), SystemException> {
            let exits =
                evt.as_ref().and_then(Value::cast::<Fire>).map(|it| it.get().expect("kept").exits.len());
            self.0.lock().unwrap().push(format!("{exits:?}"));
            Ok(())
        }
    }
    let pair = Pair::new();
    let siren = Arc::new(Siren(Mutex::default()));
    let here = pair.here::<AlarmConsumer>(siren.clone());
    let there = pair.there(&here);
    let alarm = Alarm { text: "smoke".to_owned(), level: 2 };
    let fire = Some(Value::new(Fire { base: alarm, exits: vec![Nothing {}; 2] }));
    there.push_Alarm(&fire.as_ref().and_then(Value::cast::<Alarm>)).unwrap();
    let base = EventConsumerBase::from(there);
    base.push_event(&fire.as_ref().and_then(Value::cast::<EventBase>)).unwrap();
    assert_eq!(*siren.0.lock().unwrap(), ["Some(2)", "smoke"]);
    let ty = Fire::type_code();
    assert_eq!((ty.kind(), ty.id()), (TCKind::Event, Some("IDL:zorb.test/rest/Fire:1.0")));
}
