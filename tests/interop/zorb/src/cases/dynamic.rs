//! **context/…**, **traced/…**, **dynamic/…**, **scripted/…** and **later/…**.

use zorb::cdr::Described;
use zorb::dynamic::{DynamicError, Request, Results};
use zorb::{Any, Interface, Kind, ObjectRef, Properties};

use super::beyond::{Both, in_threads};
use super::{raises, wait_for};
use crate::beyond::beyond::dynamic::ChangeError;
use crate::beyond::beyond::later::HoldError;
use crate::beyond::beyond::traced::RefusedError;
use crate::beyond::beyond::*;
use crate::graphs::{Link, graph, text};
use crate::kinds;
use crate::report::{Outcome, Report, Trouble, ensure, equal, fail, same_text};
use crate::servants::scripted::signature;
use crate::tracing;

pub(super) fn contexts(report: &mut Report<'_>, both: &Both<'_>) {
    report.case("context/given", || {
        let given = Properties::new()
            .with("zorb_one", "1")
            .with("zorb_more", "2")
            .with("zorb_moreover", "")
            .with("zorb_onerous", "4")
            .with("other", "5");
        let seen = both.part::<Contexts>()?.properties("text", &given)?;
        equal("properties", seen.join(";"), "zorb_more=2;zorb_moreover=;zorb_one=1")
    });
    report.case("context/none", || {
        let seen = both.part::<Contexts>()?.properties("text", &Properties::new())?;
        equal("properties", seen.join(";"), "")
    });
}

/// Calls with these octets as context, and expects them reversed, or none for none.
fn answered(octets: Option<&[u8]>, call: impl FnOnce() -> Outcome) -> Outcome {
    let (outcome, answer) = tracing::with(octets, call);
    outcome?;
    let wanted: Option<Vec<u8>> = octets.map(|octets| octets.iter().rev().copied().collect());
    ensure("the answer's context", answer == wanted)
}

pub(super) fn traced(report: &mut Report<'_>, both: &Both<'_>) {
    let plain = |octets: Option<&[u8]>| {
        let traced = both.traced_part()?;
        answered(octets, || Ok(traced.plain()?))
    };
    report.case("traced/reply", || plain(Some(b"123")));
    report.case("traced/none", || plain(None));
    report.case("traced/empty", || plain(Some(b"")));
    report.case("traced/large", || {
        let mut octets = vec![b'x'; 10_000];
        octets[0] = 0;
        plain(Some(&octets))
    });
    report.case("traced/user-exception", || {
        let traced = both.traced_part()?;
        answered(Some(b"user"), || {
            raises("refused", traced.refused(8), |error| {
                matches!(error, RefusedError::Oops(Oops { code: 8, .. }))
            })
        })
    });
    report.case("traced/system-exception", || {
        let traced = both.traced_part()?;
        answered(Some(b"system"), || {
            raises("denied", traced.denied(), |error| error.kind == Kind::NoPermission && error.minor.0 == 7)
        })
    });
    report.case("traced/implicit", || {
        let traced = both.traced_part()?;
        answered(Some(b"is it there"), || ensure("it is there", !traced.non_existent()?))
    });
    report.case("traced/oneway", || {
        let traced = both.traced_part()?;
        let before = traced.seen()?;
        tracing::with(Some(b"oneway"), || traced.quiet()).0?;
        equal("seen", wait_for(|| traced.seen(), |now| *now != before)?, before + 1)
    });
    report.case("traced/call-back", || {
        let own: Traced = both.own("Traced")?;
        Ok(both.traced_part()?.call_back(Some(&own))?)
    });
}

fn any<T: zorb::cdr::Encode + Described>(value: &T) -> Result<Any, Trouble> {
    Any::new(value).map_err(|error| fail(error.to_string()))
}

fn got<T: zorb::cdr::Decode + Described>(any: &Any) -> Result<T, Trouble> {
    any.get().map_err(|error| fail(error.to_string()))
}

fn request(target: &ObjectRef, operation: &str) -> Result<Request, Trouble> {
    let signature = signature(operation).ok_or_else(|| fail(format!("{operation}: no signature")))?;
    Ok(Request::new(target, signature)?)
}

fn results(outcome: Result<Results, DynamicError>) -> Result<Results, Trouble> {
    outcome.map_err(|error| fail(format!("raised {error}")))
}

fn invoked(target: &ObjectRef, operation: &str, arguments: &[Any]) -> Result<Any, Trouble> {
    Ok(results(request(target, operation)?.invoke(arguments))?.result)
}

fn change_arguments(t: &str, c: i32) -> Result<Vec<Any>, Trouble> {
    Ok(vec![any(&Pair { left: 1, right: 2 })?, any(&t.to_owned())?, any(&c)?])
}

fn changed(results: &Results) -> Outcome {
    let [b, c] = &results.outputs[..] else { return Err(fail("not two values beside the result")) };
    equal("return", got::<Pair>(&results.result)?, Pair { left: 2, right: 1 })?;
    equal("b", got::<String>(b)?, "twicetwice")?;
    equal("c", got::<i32>(c)?, 8)
}

fn change_dynamically(target: &ObjectRef) -> Outcome {
    changed(&results(request(target, "change")?.invoke(&change_arguments("twice", 7)?))?)
}

fn raise_dynamically(target: &ObjectRef) -> Outcome {
    match request(target, "change")?.invoke(&change_arguments("no", -7)?) {
        Err(DynamicError::User(raised)) => {
            equal("Oops", got::<Oops>(&raised)?, Oops { why: "no".into(), code: -7 })
        }
        other => Err(fail(format!("expected Oops got {other:?}"))),
    }
}

pub(super) fn dynamic(report: &mut Report<'_>, both: &Both<'_>) {
    let target = || Ok::<ObjectRef, Trouble>(both.part::<Dynamic>()?.as_object().clone());
    report.case("dynamic/change", || change_dynamically(&target()?));
    report.case("dynamic/deferred", || {
        let deferred = request(&target()?, "change")?.send_deferred(change_arguments("twice", 7)?);
        changed(&results(deferred.get_response())?)
    });
    report.case("dynamic/exception", || raise_dynamically(&target()?));
    report.case("dynamic/any", || {
        for name in ["mixture", "derived", "grid"] {
            let a = kinds::make(name, &both.thing()?).map_err(fail)?;
            let back: Any = got(&invoked(&target()?, "keep", &[any(&a)?])?)?;
            let text = |any: &Any| kinds::text(name, any, both.orb).map_err(fail);
            same_text(name, &text(&back)?, &text(&a)?)?;
        }
        Ok(())
    });
    report.case("dynamic/value", || {
        for k in [1, 2, 4, 6] {
            let a = graph(k);
            let back: Link = got(&invoked(&target()?, "link", &[any(&a)?])?)?;
            same_text("graph", &text(&[&back]), &text(&[&a]))?;
        }
        Ok(())
    });
    report.case("dynamic/attribute", || {
        invoked(&target()?, "_set_level", &[any(&17)?])?;
        equal("level", got::<i32>(&invoked(&target()?, "_get_level", &[])?)?, 17)
    });
    report.case("dynamic/oneway", || {
        request(&target()?, "poke")?.send_oneway(&[any(&18)?])?;
        let target: Dynamic = both.part()?;
        equal("level", wait_for(|| target.level(), |level| *level == 18)?, 18)
    });
    report.case("dynamic/reference", || {
        let back = invoked(&target()?, "itself", &[])?;
        let back = ObjectRef::from_any(&back, both.orb).map_err(|error| fail(error.to_string()))?;
        ensure("the same", back.is_some_and(|back| target().is_ok_and(|target| back.is_equivalent(&target))))
    });
    report.case("dynamic/unknown", || unknown(&target()?));
    report.case("dynamic/scripted", || {
        let scripted: Scripted = both.part()?;
        change_dynamically(scripted.as_object())?;
        raise_dynamically(scripted.as_object())
    });
}

fn unknown(target: &ObjectRef) -> Outcome {
    let request = Request::new(target, zorb::dynamic::Signature::new("nothing_such").into())?;
    match request.invoke(&[]) {
        Err(DynamicError::System(error)) if error.kind == Kind::BadOperation => Ok(()),
        other => Err(fail(format!("expected BAD_OPERATION got {other:?}"))),
    }
}

pub(super) fn scripted(report: &mut Report<'_>, both: &Both<'_>) {
    let target = || both.part::<Scripted>();
    report.case("scripted/narrow", || {
        let mut ior = target()?.as_object().ior().clone();
        ior.type_id = String::new();
        let object = ObjectRef::new(both.orb, ior).ok_or_else(|| fail("nil"))?;
        ensure("is a Dynamic", Dynamic::narrow(&object)?.is_some())?;
        ensure("is no Values", Values::narrow(&object)?.is_none())
    });
    report.case("scripted/change", || {
        let changed = target()?.change(&Pair { left: 1, right: 2 }, "twice", 7)?;
        equal("results", changed, (Pair { left: 2, right: 1 }, "twicetwice".to_owned(), 8))
    });
    report.case("scripted/exception", || {
        let wanted = Oops { why: "no".into(), code: -7 };
        raises(
            "change",
            target()?.change(&Pair { left: 1, right: 2 }, "no", -7),
            |error| matches!(error, ChangeError::Oops(oops) if *oops == wanted),
        )
    });
    report.case("scripted/any", || {
        for name in ["mixture", "derived", "grid"] {
            let a = kinds::make(name, &both.thing()?).map_err(fail)?;
            let text = |any: &Any| kinds::text(name, any, both.orb).map_err(fail);
            same_text(name, &text(&target()?.keep(&a)?)?, &text(&a)?)?;
        }
        Ok(())
    });
    report.case("scripted/value", || {
        [0, 2, 4, 6].into_iter().try_for_each(|k| {
            let a = graph(k);
            same_text("graph", &text(&[&target()?.link(&a)?]), &text(&[&a]))
        })
    });
    report.case("scripted/attribute", || {
        target()?.set_level(19)?;
        equal("level", target()?.level()?, 19)
    });
    report.case("scripted/oneway", || {
        let target = target()?;
        target.poke(20)?;
        equal("level", wait_for(|| target.level(), |level| *level == 20)?, 20)
    });
    report.case("scripted/reference", || {
        let back = target()?.itself()?.ok_or_else(|| fail("nil"))?;
        ensure("the same", back.is_equivalent(target()?.as_object()))
    });
    report.case("scripted/unknown", || unknown(target()?.as_object()));
}

pub(super) fn later(report: &mut Report<'_>, both: &Both<'_>) {
    let release = |later: &Later, key: &str, well| {
        ensure(format_args!("{key} was held"), wait_for(|| later.release(key, well), |released| *released)?)
    };
    report.case("later/reply", || {
        let later: Later = both.part()?;
        let mut released = Ok(());
        let got = in_threads(1, |_| later.hold("one"), || released = release(&later, "one", true));
        released?;
        match &got[..] {
            [Ok(text)] => equal("return", &**text, "oneone"),
            other => Err(fail(format!("{other:?}"))),
        }
    });
    report.case("later/exception", || {
        let later: Later = both.part()?;
        let mut released = Ok(());
        let got = in_threads(1, |_| later.hold("bad"), || released = release(&later, "bad", false));
        released?;
        match &got[..] {
            [Err(HoldError::Oops(oops))] => equal("why", &*oops.why, "bad"),
            other => Err(fail(format!("{other:?}"))),
        }
    });
    report.case("later/reversed", || {
        let later: Later = both.part()?;
        let mut released = Ok(());
        let got = in_threads(
            4,
            |n| later.hold(&format!("k{n}")),
            || released = (0..4).rev().try_for_each(|n| release(&later, &format!("k{n}"), true)),
        );
        released?;
        let got: Vec<_> =
            got.into_iter().map(|held| held.unwrap_or_else(|error| error.to_string())).collect();
        equal("returns", got.join(" "), "k0k0 k1k1 k2k2 k3k3")
    });
}
