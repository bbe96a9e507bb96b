//! Custom and abstract valuetypes, `ValueBase` and abstract interfaces: through stubs and skeletons, over a connection and collocated.

use std::sync::{Arc, Mutex};

use zorb::cdr::{Any, CodeSets, Decode, Decoder, Encode, EncodeErrorKind, Encoder, Format, Version};
use zorb::{Abstract, Call, Interface, Kind, Minor, ObjectRef, Orb, SystemException, Value, ValueBase};
use zorb_test_mapping::abstracts::abstracts::circle::{Shape as _, SizedError};
use zorb_test_mapping::abstracts::abstracts::gallery::EchoError;
use zorb_test_mapping::abstracts::abstracts::{
    Ball, BallOperations, Canvas, CanvasServant, Circle, CircleFactory, CircleOperations, Gallery,
    GalleryServant, Longer, Named, Parts, Shape, ShapeServant, Shapeless, Solid, Titled, Track,
};

const FORMAT: Format = Format { version: Version::V1_2, code_sets: CodeSets::UNICODE };

type AnyShape = Option<Abstract<Shape>>;
type AnyValue = Option<Value<ValueBase>>;

struct Board;

impl ShapeServant for Board {
    fn area(&self, _: &Call) -> Result<f64, SystemException> {
        Ok(12.5)
    }
}

impl CanvasServant for Board {
    fn strokes(&self, _: &Call) -> Result<i32, SystemException> {
        Ok(3)
    }
}

#[derive(Default)]
struct Echo(Mutex<Option<Abstract<Solid>>>);

impl GalleryServant for Echo {
    fn echo(&self, _: &Call, it: &AnyShape) -> Result<(AnyShape, AnyShape), EchoError> {
        match it {
            None => {
                Err(Shapeless { what: Abstract::of_value(&Value::new(Circle { radius: -1.0 })).ok() }.into())
            }
            some => Ok((some.clone(), some.clone())),
        }
    }

    fn pass(&self, _: &Call, value: &AnyValue) -> Result<AnyValue, SystemException> {
        Ok(value.clone())
    }

    fn name_of(
        &self,
        _: &Call,
        value: &Option<Value<Named>>,
    ) -> Result<Option<Value<Named>>, SystemException> {
        Ok(value.clone())
    }

    fn play(&self, _: &Call, it: &Option<Value<Track>>) -> Result<Option<Value<Track>>, SystemException> {
        Ok(it.clone())
    }

    fn whole(&self, _: &Call, it: &Parts, with: &Any) -> Result<(Parts, Any), SystemException> {
        Ok((it.clone(), with.clone()))
    }

    fn all(&self, _: &Call, some: &[AnyShape]) -> Result<Vec<AnyShape>, SystemException> {
        Ok(some.to_vec())
    }

    fn either(
        &self,
        _: &Call,
        it: &Option<Abstract<ObjectRef>>,
    ) -> Result<Option<Abstract<ObjectRef>>, SystemException> {
        Ok(it.clone())
    }

    fn block(&self, _: &Call) -> Result<Option<Abstract<Solid>>, SystemException> {
        Ok(self.0.lock().unwrap().clone())
    }

    fn set_block(&self, _: &Call, solid: &Option<Abstract<Solid>>) -> Result<(), SystemException> {
        *self.0.lock().unwrap() = solid.clone();
        Ok(())
    }
}

fn ball(label: &str) -> Value<Ball> {
    Value::new(Ball { base: Circle { radius: 2.0 }, label: label.into() })
}

fn track(subject: Option<Value<Named>>) -> Value<Track> {
    Value::new(Track { title: "naïve".into(), samples: vec![1.0, -2.0].into(), subject })
}

struct Rig {
    server: Orb,
    client: Orb,
    here: Gallery,
    there: Gallery,
}

fn rig() -> Rig {
    let (server, client) = (Orb::builder().listen("tcp:127.0.0.1:0").build(), Orb::builder().build());
    let root = server.root_poa().unwrap();
    let here = root.activate::<Gallery>(Arc::new(Echo::default())).unwrap();
    root.manager().activate().unwrap();
    let there =
        Gallery::from_object(client.string_to_object(&here.as_object().to_string()).unwrap().unwrap());
    Rig { server, client, here, there }
}

/// Local code: what the program has implemented on the state, whether the value was made here or received.
#[test]
fn operations_of_values_run_where_the_value_is() {
    let Rig { there, .. } = &rig();
    let made = Circle::unit().unwrap();
    assert_eq!((made.get().unwrap().across().unwrap(), made.get().unwrap().area().unwrap()), (2.0, 3.0));
    assert_eq!(Circle::sized(2.0, b"m".to_vec().into()).unwrap().get().unwrap().radius, 2.0);
    assert!(matches!(Circle::sized(9.0, Default::default()), Err(SizedError::TooLarge(it)) if it.by == 9.0));

    let (received, _) = there.echo(&Abstract::of_value(&ball("red")).ok()).unwrap();
    let ball = received.unwrap().value::<Ball>().expect("a ball").get().unwrap();
    // As what it inherits and supports, too.
    fn told(it: &impl BallOperations) -> (String, f64, f64) {
        (it.name().unwrap(), it.volume().unwrap(), it.area().unwrap())
    }
    assert_eq!(told(&*ball), ("red".to_owned(), 2.0, 48.0));
    let (scaled, why) = ball.scaled(3.0, "first").unwrap();
    assert_eq!((scaled.unwrap().get().unwrap().radius, why.as_str()), (6.0, "first, then"));
    assert!(ball.set_across(1.0).is_err());
}

#[test]
fn abstract_interfaces_are_references_or_values() {
    let Rig { server, here, there, .. } = &rig();
    let canvas = server.root_poa().unwrap().activate::<Canvas>(Arc::new(Board)).unwrap();
    let as_shape = Shape::from(canvas.clone());
    for gallery in [there, here] {
        // A reference, on which operations are called wherever it is.
        let (back, again) = gallery.echo(&Some(Abstract::Object(as_shape.clone()))).unwrap();
        let object = back.as_ref().and_then(Abstract::object).expect("a reference");
        assert_eq!(object.area().unwrap(), 12.5);
        assert_eq!(Canvas::narrow(object.as_object()).unwrap().expect("a canvas").strokes().unwrap(), 3);
        assert!(again.unwrap().value::<Circle>().is_none());

        // A value, as what it is.
        let shape = Abstract::of_value(&ball("red")).expect("it supports Shape by Solid");
        let (back, again) = gallery.echo(&Some(shape)).unwrap();
        assert_eq!(back, again, "one value");
        let ball_back = back.unwrap().value::<Ball>().expect("a ball").get().unwrap();
        assert_eq!((ball_back.base.radius, ball_back.label.as_str()), (2.0, "red"));

        // Nil, and one in an exception.
        match gallery.echo(&None) {
            Err(EchoError::Shapeless(it)) => {
                let circle = it.what.unwrap().value::<Circle>().expect("a circle").get().unwrap();
                assert_eq!(circle.radius, -1.0);
            }
            other => panic!("{other:?}"),
        }
        let some = [Abstract::of_value(&ball("a")).ok(), None, Some(as_shape.clone().into())];
        let back = gallery.all(&some).unwrap();
        assert!(back[0].as_ref().unwrap().value::<Circle>().is_some() && back[1].is_none());
        assert!(back[2].as_ref().unwrap().object().is_some());

        gallery.set_block(&Abstract::of_value(&ball("b")).ok()).unwrap();
        assert!(gallery.block().unwrap().unwrap().value::<Ball>().is_some());
        // A circle is no solid.
        assert!(Abstract::<Solid>::of_value(&Value::new(Circle { radius: 1.0 })).is_err());
        let forged = Some(Abstract::<Solid>::Value(Value::new(Circle { radius: 1.0 }).cast().unwrap()));
        if std::ptr::eq(gallery, there) {
            let refused = gallery.set_block(&forged).unwrap_err();
            assert!(refused.to_string().contains("does not support"), "{refused}");
        }
        gallery.set_block(&None).unwrap();
        assert!(gallery.block().unwrap().is_none());
    }
}

#[test]
fn values_of_any_type_need_a_factory() {
    let Rig { server, client, here, there } = &rig();
    let sent: AnyValue = ball("blue").cast();
    // The receiver is not told what it is.
    let error = there.pass(&sent).unwrap_err();
    assert_eq!((error.kind, error.minor), (Kind::Marshal, Minor::omg(1)), "{error}");
    assert!(here.pass(&sent).unwrap() == sent, "collocated it is the value itself");
    for orb in [server, client] {
        assert!(orb.register_value_factory::<Ball>().is_none());
        assert_eq!(
            orb.lookup_value_factory("IDL:abstracts/Ball:1.0").unwrap().id(),
            "IDL:abstracts/Ball:1.0"
        );
    }
    let back = there.pass(&sent).unwrap().unwrap();
    assert_eq!(back.cast::<Ball>().expect("a ball").get().unwrap().label, "blue");
    assert!(there.pass(&None).unwrap().is_none());
    let either = there.either(&Some(Abstract::Value(sent.clone().unwrap()))).unwrap().unwrap();
    assert!(either.value::<Ball>().is_some());
    let either = there.either(&Some(Abstract::Object(there.as_object().clone()))).unwrap().unwrap();
    assert_eq!(either.object(), Some(there.as_object()));
    client.unregister_value_factory("IDL:abstracts/Ball:1.0").expect("it was there");
    assert_eq!(there.pass(&sent).unwrap_err().minor, Minor::omg(1));
}

#[test]
fn abstract_valuetypes_are_what_their_values_are() {
    let Rig { here, there, .. } = &rig();
    for gallery in [there, here] {
        let named: Option<Value<Named>> = ball("x").cast();
        let back = gallery.name_of(&named).unwrap().unwrap();
        assert_eq!(back.cast::<Ball>().expect("a ball").get().unwrap().label, "x");
        assert!(back.cast::<Titled>().expect("it is titled").get().is_some());
        assert!(back.cast::<Track>().is_none());
    }
    // None is of an abstract type alone.
    let alone = Some(Value::new(Titled {}));
    let error = alone.encode(&mut Encoder::new(Format::default())).unwrap_err();
    assert_eq!(error.kind, EncodeErrorKind::Invalid("it is of an abstract type alone"));
    assert!(Value::new(Circle { radius: 0.0 }).cast::<Named>().is_none());
}

#[test]
fn custom_values_write_themselves() {
    let Rig { server, client, here, there } = &rig();
    for gallery in [there, here] {
        let subject: Option<Value<Named>> = ball("y").cast();
        let back = gallery.play(&Some(track(subject.clone()))).unwrap().unwrap().get().unwrap();
        assert_eq!((back.title.as_str(), &*back.samples), ("naïve", &[1.0, -2.0][..]));
        assert_eq!(back.subject.as_ref().unwrap().cast::<Ball>().unwrap().get().unwrap().label, "y");
        let base = Track { title: "t".into(), samples: vec![0.0].into(), subject: None };
        let longer: Value<Longer> = Value::new(Longer { base, more: 77 });
        let back = gallery.play(&longer.cast()).unwrap().unwrap();
        assert_eq!(back.cast::<Longer>().expect("longer").get().unwrap().more, 77);
    }
    // In anys, and in structs.
    for orb in [server, client] {
        orb.register_value_factories(&[<Ball as zorb::ValueType>::info, <Track as zorb::ValueType>::info]);
    }
    let any = Any::new(&Some(track(ball("z").cast()))).unwrap();
    let parts = Parts {
        outline: Abstract::of_value(&ball("outline")).ok(),
        subject: ball("subject").cast(),
        rest: track(None).cast(),
        whatever: Some(Abstract::Object(there.as_object().clone())),
    };
    let whole = Any::new(&(ball("in a tuple").cast::<Circle>())).unwrap();
    for gallery in [there, here] {
        let (back, with) = gallery.whole(&parts, &any).unwrap();
        assert_eq!(back.rest.unwrap().cast::<Track>().unwrap().get().unwrap().title, "naïve");
        assert!(back.outline.unwrap().value::<Ball>().is_some() && back.whatever.unwrap().object().is_some());
        let got = with.get::<Option<Value<Track>>>().unwrap().unwrap().get().unwrap();
        assert_eq!(got.subject.as_ref().unwrap().cast::<Ball>().unwrap().get().unwrap().label, "z");
        let (_, with) = gallery.whole(&parts, &whole).unwrap();
        let circle = with.get::<Option<Value<Circle>>>().unwrap().unwrap();
        assert_eq!(circle.cast::<Ball>().unwrap().get().unwrap().label, "in a tuple");
    }
}

/// Their octets: always chunks, and no more is read than was written.
#[test]
fn custom_values_travel_in_chunks() {
    let mut to = Encoder::new(FORMAT);
    let sent = Some(track(None));
    sent.encode(&mut to).unwrap();
    let octets = to.to_bytes();
    let tag = u32::from_ne_bytes(octets[..4].try_into().unwrap());
    assert_eq!(tag, 0x7fff_ff0a, "one id, in chunks");
    assert_eq!(octets[octets.len() - 4..], (-1_i32).to_ne_bytes(), "the end tag");
    let read = |octets: &[u8]| {
        let mut from = Decoder::from_slice(octets, zorb::cdr::ByteOrder::NATIVE, FORMAT);
        Option::<Value<Track>>::decode(&mut from)
    };
    assert!(read(&octets).is_ok());
    for length in 0..octets.len() {
        assert!(read(&octets[..length]).is_err(), "{length}");
    }
}

#[test]
fn abstract_interfaces_stand_in_anys() {
    let Rig { server, client, there, .. } = &rig();
    for orb in [server, client] {
        orb.register_value_factory::<Ball>();
    }
    let nothing = Parts::default();
    let object = server.root_poa().unwrap().activate::<Canvas>(Arc::new(Board)).unwrap();
    for shape in [None, Abstract::of_value(&ball("q")).ok(), Some(Abstract::Object(Shape::from(object)))] {
        let any = Abstract::to_any(&shape).unwrap();
        let (_, back) = there.whole(&nothing, &any).unwrap();
        match (Abstract::<Shape>::from_any(&back, client).unwrap(), &shape) {
            (None, None) => {}
            (Some(Abstract::Object(it)), Some(Abstract::Object(_))) => assert_eq!(it.area().unwrap(), 12.5),
            (Some(it), Some(Abstract::Value(_))) => {
                assert_eq!(it.value::<Ball>().expect("a ball").get().unwrap().label, "q");
            }
            other => panic!("{other:?}"),
        }
        assert!(Abstract::<Solid>::from_any(&back, client).is_err(), "of another interface");
    }
}
