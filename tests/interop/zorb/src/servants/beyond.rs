//! The servants behind `beyond.idl`: what `part` gives of it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use zorb::dynamic::dynamic_servant;
use zorb::rt::DeferredReply;
use zorb::{
    Abstract, Any, Call, Completion, Interface, Minor, ObjectRef, Orb, OrbBuilder, Properties,
    SystemException, TypeCode, Value, ValueBase,
};

use super::echo::echo;
use super::scripted::Script;
use crate::beyond::beyond::*;
use crate::graphs::{self, Link};
use crate::{kinds, tracing};

/// The objects of the interfaces of `beyond.idl`, by name.
pub struct Parts {
    objects: HashMap<&'static str, ObjectRef>,
    /// Where [`Traced`] is served: interceptors are for all requests of an ORB, and others are to be made without any.
    traced: Orb,
}

impl Parts {
    /// Activates them in the root adapter of `orb`, and those that interceptors are to see in one that `builder` makes.
    pub fn new(orb: &Orb, builder: OrbBuilder) -> Result<Parts, SystemException> {
        graphs::register_factories(orb);
        let root = orb.root_poa()?;
        let traced = tracing::orb(builder);
        let traced_root = traced.root_poa()?;
        traced_root.manager().activate()?;
        let object = root.activate::<NamedObject>(Arc::new(Thing))?;
        let with_object = || Arc::new(Echo { object: object.clone() });
        let script =
            root.activate_servant(dynamic_servant(Arc::new(Script::default())), Scripted::INFO.id)?;
        let objects = HashMap::from([
            ("Values", (*root.activate::<Values>(Arc::new(Echoing))?).clone()),
            ("Customs", (*root.activate::<Customs>(Arc::new(Echoing))?).clone()),
            ("Abstracts", (*root.activate::<Abstracts>(with_object())?).clone()),
            ("Anys", (*root.activate::<Anys>(with_object())?).clone()),
            ("Types", (*root.activate::<Types>(Arc::new(Echoing))?).clone()),
            ("Contexts", (*root.activate::<Contexts>(Arc::new(Echoing))?).clone()),
            ("Traced", (*traced_root.activate::<Traced>(Arc::new(Echoing))?).clone()),
            ("Dynamic", (*root.activate::<Dynamic>(Arc::new(Levelled::default()))?).clone()),
            ("Later", (*root.activate::<Later>(Arc::new(Held::default()))?).clone()),
            ("Scripted", script),
            ("NamedObject", object.as_object().clone()),
        ]);
        Ok(Parts { objects, traced })
    }

    /// The object of that interface.
    pub fn part(&self, interface: &str) -> Option<ObjectRef> {
        self.objects.get(interface).cloned()
    }

    /// The ORB whose requests interceptors see.
    pub fn traced(&self) -> &Orb {
        &self.traced
    }
}

fn wrong(error: String) -> SystemException {
    SystemException::BadParam(error)
}

/// What needs nothing to answer.
struct Echoing;

macro_rules! echo_methods {
    ($($operation:ident: $type:ty;)*) => {$(
        fn $operation(&self, _: &Call, a: &$type, c: &$type) -> Result<($type, $type, $type), SystemException> {
            echo(a.clone(), c.clone())
        }
    )*};
}

impl ValuesServant for Echoing {
    echo_methods! {
        echo_leaf: Link<Leaf>;
        echo_node: Link;
        echo_node_array: NodeArray;
        echo_shape: Link<Shape>;
        echo_boxed_text: Link<BoxedText>;
        echo_boxed_longs: Link<BoxedLongs>;
        echo_boxed_pair: Link<BoxedPair>;
        echo_boxed_long: Link<BoxedLong>;
        echo_holder: Link<Holder>;
        echo_tangle: Tangle;
        echo_choice: Choice;
    }
    fn echo_node_seq(
        &self,
        _: &Call,
        a: &[Link],
        c: &[Link],
    ) -> Result<(NodeSeq, NodeSeq, NodeSeq), SystemException> {
        echo(a.to_vec(), c.to_vec())
    }
    fn keep(&self, _: &Call, a: &Link<ValueBase>) -> Result<Link<ValueBase>, SystemException> {
        Ok(a.clone())
    }
    fn raise_tangled(
        &self,
        _: &Call,
        culprit: &Link,
        witness: &Link,
    ) -> Result<(), values::RaiseTangledError> {
        Err(Tangled { culprit: culprit.clone(), why: "tangled".into(), witness: witness.clone() }.into())
    }
    fn describe(&self, _: &Call, a: &Link, b: &Link) -> Result<String, SystemException> {
        Ok(graphs::text(&[a, b]))
    }
    fn make(&self, _: &Call, k: u32) -> Result<Link, SystemException> {
        Ok(graphs::graph(k))
    }
    fn make_hidden(&self, _: &Call, k: u32) -> Result<Link, SystemException> {
        Ok(graphs::hidden_value(k))
    }
}

impl CustomsServant for Echoing {
    echo_methods! { echo_track: Link<Track>; }
    fn describe_track(&self, _: &Call, a: &Link<Track>) -> Result<String, SystemException> {
        Ok(match a.as_ref().and_then(Value::get) {
            Some(track) => format!("{}, {}", track.number, track.title),
            None => "null".into(),
        })
    }
}

impl TypesServant for Echoing {
    echo_methods! { echo_type: TypeCode; }
    fn make_type(&self, _: &Call, name: &str) -> Result<TypeCode, SystemException> {
        kinds::type_code(name).map_err(wrong)
    }
    fn is_equal(&self, _: &Call, name: &str, a: &TypeCode) -> Result<bool, SystemException> {
        Ok(kinds::type_code(name).map_err(wrong)?.equal(a))
    }
    fn is_equivalent(&self, _: &Call, name: &str, a: &TypeCode) -> Result<bool, SystemException> {
        Ok(kinds::type_code(name).map_err(wrong)?.equivalent(a))
    }
}

impl ContextsServant for Echoing {
    fn properties(&self, _: &Call, _: &str, given: Properties) -> Result<StringSeq, SystemException> {
        Ok(given.iter().map(|(name, value)| format!("{name}={value}")).collect())
    }
}

impl TracedServant for Echoing {
    fn plain(&self, _: &Call) -> Result<(), SystemException> {
        Ok(())
    }
    fn refused(&self, _: &Call, code: i32) -> Result<i32, traced::RefusedError> {
        Err(Oops { why: "refused".into(), code }.into())
    }
    fn denied(&self, _: &Call) -> Result<(), SystemException> {
        Err(SystemException::NoPermission("denied").minor(Minor(7)).completed(Completion::No))
    }
    fn quiet(&self, _: &Call) -> Result<(), SystemException> {
        Ok(())
    }
    fn seen(&self, _: &Call) -> Result<u32, SystemException> {
        Ok(tracing::seen())
    }
    fn call_back(&self, _: &Call, whom: Option<Traced>) -> Result<(), SystemException> {
        let whom = whom.ok_or_else(|| SystemException::BadParam("call_back: nobody to call"))?;
        match tracing::with(Some(&[1, 2, 3]), || whom.plain()) {
            (Ok(()), Some(answer)) if answer == [3, 2, 1] => Ok(()),
            (Ok(()), answer) => {
                Err(SystemException::BadParam(format!("call_back: answered with {answer:?}")))
            }
            (Err(error), _) => Err(error),
        }
    }
}

/// A `NamedObject`.
struct Thing;

impl NamedServant for Thing {
    fn name(&self, _: &Call) -> Result<String, SystemException> {
        Ok("object".into())
    }
}

impl NamedObjectServant for Thing {}

/// What hands out a `NamedObject`.
struct Echo {
    object: NamedObject,
}

impl AbstractsServant for Echo {
    echo_methods! { echo_named: Option<Abstract<Named>>; }
    fn name_of(&self, _: &Call, a: &Option<Abstract<Named>>) -> Result<String, SystemException> {
        kinds::named(a).map_err(wrong)
    }
    fn make_named(&self, _: &Call, name: &str) -> Result<Option<Abstract<Named>>, SystemException> {
        Ok(match name {
            "nil" => None,
            "object" => Some(Abstract::Object(self.object.clone().into())),
            _ => Abstract::of_value(&Value::new(NamedValue { text: name.into() })).ok(),
        })
    }
}

impl AnysServant for Echo {
    echo_methods! { echo_any: Any; }
    fn echo_any_seq(
        &self,
        _: &Call,
        a: &[Any],
        c: &[Any],
    ) -> Result<(AnySeq, AnySeq, AnySeq), SystemException> {
        echo(a.to_vec(), c.to_vec())
    }
    fn make_any(&self, _: &Call, name: &str) -> Result<Any, SystemException> {
        kinds::make(name, &self.object).map_err(wrong)
    }
    fn describe_any(&self, cx: &Call, name: &str, a: &Any) -> Result<String, SystemException> {
        kinds::text(name, a, cx.orb()).map_err(wrong)
    }
    fn raise_any(&self, cx: &Call, a: &Any, name: &str) -> Result<(), anys::RaiseAnyError> {
        Err(Oops { why: kinds::text(name, a, cx.orb()).map_err(wrong)?, code: 1 }.into())
    }
}

#[derive(Default)]
struct Levelled(AtomicI32);

impl DynamicServant for Levelled {
    fn level(&self, _: &Call) -> Result<i32, SystemException> {
        Ok(self.0.load(Ordering::SeqCst))
    }
    fn set_level(&self, _: &Call, level: i32) -> Result<(), SystemException> {
        self.0.store(level, Ordering::SeqCst);
        Ok(())
    }
    fn change(
        &self,
        _: &Call,
        a: &Pair,
        t: &str,
        c: i32,
    ) -> Result<(Pair, String, i32), dynamic::ChangeError> {
        if c < 0 {
            return Err(Oops { why: t.into(), code: c }.into());
        }
        Ok((Pair { left: a.right, right: a.left }, t.repeat(2), c + 1))
    }
    fn keep(&self, _: &Call, a: &Any) -> Result<Any, SystemException> {
        Ok(a.clone())
    }
    fn link(&self, _: &Call, a: &Link) -> Result<Link, SystemException> {
        Ok(a.clone())
    }
    fn poke(&self, cx: &Call, n: i32) -> Result<(), SystemException> {
        self.set_level(cx, n)
    }
    fn itself(&self, cx: &Call) -> Result<Option<Dynamic>, SystemException> {
        cx.this().map(Some)
    }
}

/// Keeps the replies until they are released.
#[derive(Default)]
struct Held(Mutex<HashMap<String, DeferredReply<String, later::HoldError>>>);

impl LaterServant for Held {
    fn hold(&self, reply: DeferredReply<String, later::HoldError>, key: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.into(), reply);
    }
    fn release(&self, _: &Call, key: &str, well: bool) -> Result<bool, SystemException> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
        let Some(reply) = held else { return Ok(false) };
        match well {
            true => reply.reply(key.repeat(2)),
            false => reply.raise(Oops { why: key.into(), code: 1 }),
        }
        Ok(true)
    }
}
