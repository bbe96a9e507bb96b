//! **object/…**, **reference/…** and **callback/…**.

use std::sync::Arc;

use zorb::{Completion, Interface, Kind as ExceptionKind, ObjectRef, Orb, SystemException};

use super::{raises, wait_for};
use crate::every::interop::callbacks::AskError;
use crate::every::interop::references::RaiseRefError;
use crate::every::interop::*;
use crate::report::{Outcome, Report, Trouble, ensure, equal, fail};
use crate::servants::parts::{Ear, Shape, bouncer};

/// Whether both are nil, or equivalent references.
fn alike(x: Option<&impl Interface>, y: Option<&impl Interface>) -> bool {
    match (x, y) {
        (Some(x), Some(y)) => x.as_object().is_equivalent(y.as_object()),
        (None, None) => true,
        _ => false,
    }
}

fn all_alike<I: Interface, J: Interface>(xs: &[Option<I>], ys: &[Option<J>]) -> bool {
    xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| alike(x.as_ref(), y.as_ref()))
}

fn made(every: &Every, kind: Kind) -> Result<Base, Trouble> {
    every.make(kind)?.ok_or_else(|| fail(format!("make({kind:?}): nil")))
}

fn narrowed<I: Interface>(object: &impl Interface) -> Result<I, Trouble> {
    I::narrow(object.as_object())?.ok_or_else(|| fail(format!("no {}", I::INFO.id)))
}

pub(super) fn objects(report: &mut Report<'_>, orb: &Orb, every: &Every) {
    report.case("object/is_a", || {
        // A reference that names its type answers for that by itself; one without has to ask.
        let mut ior = every.as_object().ior().clone();
        ior.type_id = String::new();
        let object = ObjectRef::new(orb, ior).ok_or_else(|| fail("nil"))?;
        ensure("Every", object.is_a("IDL:zorb.test/interop/Every:1.0")?)?;
        ensure("Scalars", object.is_a("IDL:zorb.test/interop/Scalars:1.0")?)?;
        ensure("Object", object.is_a("IDL:omg.org/CORBA/Object:1.0")?)?;
        ensure("not Left", !object.is_a("IDL:zorb.test/interop/Left:1.0")?)?;
        ensure("not empty", !every.as_object().is_a("")?)
    });
    report.case("object/non_existent", || {
        ensure("Every exists", !every.as_object().non_existent()?)?;
        let gone = every.gone()?.ok_or_else(|| fail("gone: nil"))?;
        ensure("gone does not", gone.as_object().non_existent()?)
    });
    report.case("object/stringify", || {
        let left = made(every, Kind::a_left)?;
        let ior = orb.object_to_string(Some(left.as_object()));
        let object = orb.string_to_object(&ior)?.ok_or_else(|| fail("nil"))?;
        ensure("equivalent", object.is_equivalent(left.as_object()))?;
        let again: Base = narrowed(&object)?;
        equal("base_op", again.base_op(1)?, 2)
    });
    report.case("object/part-nil", || ensure("nil", every.part("None")?.is_none()));
}

pub(super) fn references(report: &mut Report<'_>, orb: &Orb, every: &Every) {
    report.case("reference/make", || {
        for (kind, name) in [
            (Kind::a_base, "base"),
            (Kind::a_left, "left"),
            (Kind::a_right, "right"),
            (Kind::a_diamond, "diamond"),
        ] {
            let object = made(every, kind)?;
            equal("name", object.name()?, name)?;
            equal("base_op", object.base_op(1)?, 2)?;
        }
        ensure("nil", every.make(Kind::a_nil)?.is_none())?;
        ensure("nil object", every.make_object(Kind::a_nil)?.is_none())
    });
    report.case("reference/narrow", || {
        let (diamond, left) = (made(every, Kind::a_diamond)?, made(every, Kind::a_left)?);
        let diamond = diamond.as_object();
        ensure("Diamond", Diamond::narrow(diamond)?.is_some())?;
        ensure("Left", Left::narrow(diamond)?.is_some())?;
        ensure("Right", Right::narrow(diamond)?.is_some())?;
        ensure("no Every", Every::narrow(diamond)?.is_none())?;
        ensure("left is no right", Right::narrow(left.as_object())?.is_none())
    });
    report.case("reference/diamond", || {
        let diamond: Diamond = narrowed(&made(every, Kind::a_diamond)?)?;
        let answers =
            [diamond.base_op(10)?, diamond.left_op(10)?, diamond.right_op(10)?, diamond.diamond_op(10)?];
        equal("ops", answers, [11, 12, 13, 14])?;
        diamond.set_shared(5)?;
        equal("shared", diamond.shared()?, 5)
    });
    report.case("reference/echo-base", || {
        let (left, right) = (made(every, Kind::a_left)?, made(every, Kind::a_right)?);
        for (a, old) in [(Some(&left), Some(&right)), (None, Some(&left)), (Some(&left), None), (None, None)]
        {
            let (returned, b, c) = every.echo_base(a, old)?;
            ensure("b", alike(b.as_ref(), a))?;
            ensure("c", alike(c.as_ref(), a))?;
            ensure("return", alike(returned.as_ref(), old))?;
        }
        Ok(())
    });
    report.case("reference/echo-diamond", || {
        let diamond: Diamond = narrowed(&made(every, Kind::a_diamond)?)?;
        let (returned, b, c) = every.echo_diamond(Some(&diamond), None)?;
        ensure("b, c", alike(b.as_ref(), Some(&diamond)) && alike(c.as_ref(), Some(&diamond)))?;
        ensure("return", returned.is_none())?;
        equal("diamond_op", b.ok_or_else(|| fail("b: nil"))?.diamond_op(1)?, 5)
    });
    report.case("reference/echo-object", || {
        let object = every.make_object(Kind::a_diamond)?;
        let (returned, b, c) = every.echo_object(object.as_ref(), None)?;
        ensure("b, c", alike(b.as_ref(), object.as_ref()) && alike(c.as_ref(), object.as_ref()))?;
        ensure("return", returned.is_none())?;
        let diamond: Diamond = narrowed(&b.ok_or_else(|| fail("b: nil"))?)?;
        equal("diamond_op", diamond.diamond_op(1)?, 5)
    });
    report.case("reference/echo-own", || {
        let own = orb.root_poa()?.activate::<Base>(Arc::new(Shape::stepping(100)));
        let own = own.map_err(SystemException::from)?;
        let (returned, b, c) = every.echo_base(Some(&own), None)?;
        ensure("b, c", alike(b.as_ref(), Some(&own)) && alike(c.as_ref(), Some(&own)))?;
        ensure("return", returned.is_none())?;
        equal("base_op", b.ok_or_else(|| fail("b: nil"))?.base_op(1)?, 101)
    });
    report.case("reference/seq", || {
        let a = vec![every.make(Kind::a_left)?, None, every.make(Kind::a_right)?];
        let (returned, b, c) = every.echo_base_seq(&a, &[])?;
        ensure("b, c, return", all_alike(&b, &a) && all_alike(&c, &a) && returned.is_empty())
    });
    report.case("reference/array", || {
        let a = [None, every.make(Kind::a_left)?];
        let old = [every.make(Kind::a_base)?, None];
        let (returned, b, c) = every.echo_base_array(&a, &old)?;
        ensure("b, c, return", all_alike(&b, &a) && all_alike(&c, &a) && all_alike(&returned, &old))
    });
    report.case("reference/object-seq", || {
        let a = vec![Some(every.as_object().clone()), None];
        let (returned, b, c) = every.echo_object_seq(&a, &[])?;
        ensure("b, c, return", all_alike(&b, &a) && all_alike(&c, &a) && returned.is_empty())
    });
    report.case("reference/record", || {
        let more = vec![None, every.make(Kind::a_left)?];
        let a = RefRecord { label: "label".into(), typed: every.make(Kind::a_diamond)?, untyped: None, more };
        let (returned, b, c) = every.echo_ref_record(&a, &RefRecord::default())?;
        for got in [b, c] {
            equal("label", &got.label, &a.label)?;
            ensure("typed", alike(got.typed.as_ref(), a.typed.as_ref()))?;
            ensure("untyped, more", got.untyped.is_none() && all_alike(&got.more, &a.more))?;
        }
        ensure("return", returned.typed.is_none() && returned.more.is_empty())
    });
    report.case("reference/choice", || choice(every));
    report.case("reference/exception", || {
        let (left, right) = (made(every, Kind::a_left)?, made(every, Kind::a_right)?);
        raises("left", every.raise_ref(Some(&left), None), |error| match error {
            RaiseRefError::RefError(got) => alike(got.culprit.as_ref(), Some(&left)) && got.witness.is_none(),
            RaiseRefError::System(_) => false,
        })?;
        raises("right", every.raise_ref(None, Some(right.as_object())), |error| match error {
            RaiseRefError::RefError(got) => {
                got.culprit.is_none() && alike(got.witness.as_ref(), Some(&right))
            }
            RaiseRefError::System(_) => false,
        })
    });
    report.case("reference/gone", || {
        let gone = every.gone()?.ok_or_else(|| fail("gone: nil"))?;
        raises("base_op", gone.base_op(1), |error| error.kind == ExceptionKind::ObjectNotExist)
    });
    for hops in [0, 1, 2, 5] {
        report.case(format_args!("reference/forward-{hops}"), || {
            let base = every.forwarded(hops)?.ok_or_else(|| fail("forwarded: nil"))?;
            for _ in 0..2 {
                equal("base_op", base.base_op(1)?, 2)?;
                equal("name", base.name()?, "base")?;
            }
            Ok(())
        });
    }
    report.case("reference/forward-bulk", || {
        let base = every.forwarded(1)?.ok_or_else(|| fail("forwarded: nil"))?;
        equal("base_op", base.base_op(1)?, 2)?;
        let (_, b, _) = every.echo_base(Some(&base), None)?;
        equal("base_op of b", b.ok_or_else(|| fail("b: nil"))?.base_op(1)?, 2)
    });
}

fn choice(every: &Every) -> Outcome {
    let old = RefChoice::untyped(Some(every.as_object().clone()));
    for kind in [Kind::a_base, Kind::a_diamond, Kind::a_nil] {
        let object = every.make(kind)?;
        let a = match (kind, &object) {
            (Kind::a_base, _) => RefChoice::typed(object.clone()),
            (Kind::a_diamond, Some(object)) => RefChoice::deep(Diamond::narrow(object.as_object())?),
            _ => RefChoice::untyped(None),
        };
        let (returned, b, c) = every.echo_ref_choice(&a, &old)?;
        for got in [b, c] {
            let right = match (kind, &got) {
                (Kind::a_base, RefChoice::typed(got)) => alike(got.as_ref(), object.as_ref()),
                (Kind::a_diamond, RefChoice::deep(got)) => alike(got.as_ref(), object.as_ref()),
                (Kind::a_nil, RefChoice::untyped(got)) => got.is_none(),
                _ => false,
            };
            ensure(format_args!("{kind:?}"), right)?;
        }
        ensure("return", matches!(&returned, RefChoice::untyped(got) if alike(got.as_ref(), Some(every))))?;
    }
    Ok(())
}

/// Lends the server a listener and a bouncer, and has it call them.
pub(super) fn callbacks(report: &mut Report<'_>, orb: &Orb, every: &Every) -> Result<(), SystemException> {
    let root = orb.root_poa()?;
    let ear = Arc::new(Ear::default());
    let listener = root.activate::<Listener>(ear.clone())?;
    let mine = bouncer(&root)?;
    report.case("callback/ask", || equal("answer", every.ask(Some(&listener), "why")?, "whywhy"));
    report.case("callback/ask-refused", || {
        let wanted = AskError::Refused(Refused { why: "asked to".into(), code: 13 });
        raises("ask", every.ask(Some(&listener), "refuse"), |error| *error == wanted)
    });
    report.case("callback/ask-system", || {
        raises("ask", every.ask(Some(&listener), "system"), |error| match error {
            AskError::System(error) => {
                error.kind == ExceptionKind::NoPermission
                    && error.minor.0 == 13
                    && error.completed == Completion::Yes
            }
            AskError::Refused(_) => false,
        })
    });
    report.case("callback/tell", || {
        every.tell(Some(&listener), 5)?;
        let mut heard = wait_for(|| Ok::<_, Trouble>(ear.heard()), |heard| heard.len() >= 5)?;
        heard.sort();
        equal("heard", heard, [0, 1, 2, 3, 4])
    });
    for depth in [1, 8] {
        report.case(format_args!("callback/bounce-{depth}"), || {
            equal("depth", every.bounce_with(Some(&mine), depth)?, depth)
        });
    }
    report.case("callback/partner", || {
        let partner = every.partner()?.ok_or_else(|| fail("partner: nil"))?;
        equal("depth", partner.bounce(Some(&mine), 3)?, 3)
    });
    Ok(())
}
