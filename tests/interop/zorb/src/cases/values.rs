//! **value/…**, **hidden/…**, **span/…**, **custom/…** and **abstract/…**.

use zorb::{Abstract, Any, Value, ValueBase, ValueType};

use super::beyond::{Both, is_marshal};
use crate::beyond::beyond::values::RaiseTangledError;
use crate::beyond::beyond::*;
use crate::graphs::{
    GRAPHS, Link, Walk, choice_text, cut, graph, hidden_value, holder, leaf, of, tangle, tangle_text, text,
};
use crate::kinds;
use crate::report::{Outcome, Report, Trouble, ensure, equal, fail, same_text};

/// The result of an echo is the old value, `b` and `c` are one and the same.
fn echoed<T: ValueType>(a: &Link<T>, old: &Link<T>, results: (Link<T>, Link<T>, Link<T>)) -> Outcome {
    let (returned, b, c) = results;
    same_text("b and c", &text(&[&b, &c]), &text(&[a, a]))?;
    same_text("return", &text(&[&returned]), &text(&[old]))
}

pub(super) fn graphs(report: &mut Report<'_>, both: &Both<'_>) {
    for k in 0..GRAPHS {
        report.case(format_args!("value/echo-{k}"), || {
            let (a, old) = (graph(k), graph((k + 1) % GRAPHS));
            echoed(&a, &old, both.part::<Values>()?.echo_node(&a, &old)?)
        });
        report.case(format_args!("value/describe-{k}"), || {
            let a = graph(k);
            let seen = both.part::<Values>()?.describe(&a, &None)?;
            same_text("as the server sees it", &seen, &text(&[&a, &None]))
        });
        report.case(format_args!("value/make-{k}"), || {
            let made = both.part::<Values>()?.make(k)?;
            same_text("made", &text(&[&made]), &text(&[&graph(k)]))
        });
    }
}

fn left(value: &Link) -> Result<Link, Trouble> {
    let node = value.as_ref().and_then(Value::get).ok_or_else(|| fail("no node"))?;
    Ok(node.left.clone())
}

pub(super) fn values(report: &mut Report<'_>, both: &Both<'_>) {
    report.case("value/shared-parameters", || {
        let values: Values = both.part()?;
        let a = graph(2);
        let within = left(&a)?;
        same_text("seen", &values.describe(&a, &within)?, &text(&[&a, &within]))?;
        let a = graph(6);
        let within = left(&a)?;
        same_text("seen", &values.describe(&within, &a)?, &text(&[&within, &a]))
    });
    report.case("value/shared-results", || {
        let a = graph(6);
        let (returned, b, c) = both.part::<Values>()?.echo_node(&a, &a)?;
        same_text("return, b and c", &text(&[&returned, &b, &c]), &text(&[&a, &a, &a]))
    });
    report.case("value/sequence", || {
        let a = graph(6);
        let nodes = vec![a.clone(), a.clone(), None, left(&a)?, graph(7)];
        let (returned, b, c) = both.part::<Values>()?.echo_node_seq(&nodes, &[graph(2)])?;
        let all = |nodes: &[Link]| text(&nodes.iter().collect::<Vec<_>>());
        same_text("b", &all(&b), &all(&nodes))?;
        same_text("c", &all(&c), &all(&nodes))?;
        same_text("return", &all(&returned), &all(&[graph(2)]))
    });
    report.case("value/array", || {
        let x = graph(4);
        let old = [graph(1), None];
        let (returned, b, c) = both.part::<Values>()?.echo_node_array(&[x.clone(), x.clone()], &old)?;
        same_text("b and c", &text(&[&b[0], &b[1], &c[0], &c[1]]), &text(&[&x, &x, &x, &x]))?;
        same_text("return", &text(&[&returned[0], &returned[1]]), &text(&[&old[0], &old[1]]))
    });
    report.case("value/leaf", || {
        let values: Values = both.part()?;
        let (a, old) = (leaf(-7, "leaf"), leaf(8, ""));
        echoed(&a, &None, values.echo_leaf(&a, &None)?)?;
        echoed(&None, &old, values.echo_leaf(&None, &old)?)
    });
    report.case("value/shape", || {
        let values: Values = both.part()?;
        let circle: Link<Shape> = Value::new(Circle { radius: 1.5 }).cast();
        let square: Link<Shape> = Value::new(Square { corner: leaf(1, "corner"), side: 2 }).cast();
        echoed(&circle, &square, values.echo_shape(&circle, &square)?)?;
        echoed(&square, &None, values.echo_shape(&square, &None)?)
    });
    report.case("value/boxed-text", || {
        let values: Values = both.part()?;
        let boxed = |text: &str| Some(Value::new(BoxedText(text.into())));
        let (a, old) = (boxed("text"), boxed(""));
        echoed(&a, &None, values.echo_boxed_text(&a, &None)?)?;
        echoed(&None, &old, values.echo_boxed_text(&None, &old)?)
    });
    report.case("value/boxed-longs", || {
        let values: Values = both.part()?;
        let boxed = |all: Vec<i32>| Some(Value::new(BoxedLongs(all.into())));
        let (a, old) = (boxed(vec![-1, 0, 1]), boxed(vec![]));
        echoed(&a, &None, values.echo_boxed_longs(&a, &None)?)?;
        echoed(&None, &old, values.echo_boxed_longs(&None, &old)?)
    });
    report.case("value/boxed-pair", || {
        let a = Some(Value::new(BoxedPair(Pair { left: 1, right: -2 })));
        echoed(&a, &None, both.part::<Values>()?.echo_boxed_pair(&a, &None)?)
    });
    report.case("value/boxed-long", || {
        let a = Some(Value::new(BoxedLong(-3)));
        echoed(&a, &None, both.part::<Values>()?.echo_boxed_long(&a, &None)?)
    });
    report.case("value/holder", || {
        let empty = Holder {
            text: None,
            numbers: None,
            both: None,
            single: None,
            link: None,
            figure: None,
            thing: None,
        };
        let (a, old) = (holder(), Some(Value::new(empty)));
        echoed(&a, &old, both.part::<Values>()?.echo_holder(&a, &old)?)
    });
    let kept = |a: Link<ValueBase>| {
        let back = both.part::<Values>()?.keep(&a)?;
        same_text("return", &text(&[&back]), &text(&[&a]))
    };
    report.case("value/keep-leaf", || kept(of(&leaf(5, "kept"))));
    report.case("value/keep-graph", || {
        let root = graph(7);
        kept(of(&root))
    });
    report.case("value/keep-box", || kept(Value::new(BoxedLong(6)).cast()));
    report.case("value/keep-null", || kept(None));
    report.case("value/tangle", || {
        let a = tangle();
        let old = Tangle { lead: 0, first: None, text: String::new(), second: None, rest: vec![] };
        let (returned, b, c) = both.part::<Values>()?.echo_tangle(&a, &old)?;
        same_text("b", &tangle_text(&b), &tangle_text(&a))?;
        same_text("c", &tangle_text(&c), &tangle_text(&a))?;
        ensure("return", returned.first.is_none() && returned.rest.is_empty())
    });
    report.case("value/choice", || {
        let a = Choice::link(graph(3));
        let (returned, b, c) = both.part::<Values>()?.echo_choice(&a, &Choice::thing(leaf(1, "old")))?;
        same_text("b", &choice_text(&b), &choice_text(&a))?;
        same_text("c", &choice_text(&c), &choice_text(&a))?;
        same_text("return", &choice_text(&returned), "Leaf#1{1, old}")
    });
    report.case("value/exception", || {
        let culprit = graph(6);
        let witness = left(&culprit)?;
        match both.part::<Values>()?.raise_tangled(&culprit, &witness) {
            Err(RaiseTangledError::Tangled(Tangled { culprit: one, why, witness: other })) => {
                same_text("members", &text(&[&one, &other]), &text(&[&culprit, &witness]))?;
                equal("why", why, "tangled")
            }
            other => Err(fail(format!("expected Tangled got {other:?}"))),
        }
    });
    report.case("value/no-factory", || {
        let firm = hidden_value(4);
        is_marshal("a value of no known type", both.part::<Values>()?.keep(&of(&firm)))
    });
}

pub(super) fn hidden(report: &mut Report<'_>, both: &Both<'_>) {
    for k in 0..4 {
        report.case(format_args!("hidden/describe-{k}"), || {
            let a = hidden_value(k);
            let seen = both.part::<Values>()?.describe(&a, &a)?;
            same_text("as the server sees it", &seen, &format!("{}; #1", cut(k)))
        });
        report.case(format_args!("hidden/make-{k}"), || {
            let made = both.part::<Values>()?.make_hidden(k)?;
            same_text("made", &text(&[&made]), cut(k))
        });
    }
    report.case("hidden/describe-firm", || {
        is_marshal("not truncatable", both.part::<Values>()?.describe(&hidden_value(4), &None))
    });
    report.case("hidden/make-firm", || is_marshal("not truncatable", both.part::<Values>()?.make_hidden(4)));
}

pub(super) fn spanning(report: &mut Report<'_>, both: &Both<'_>) {
    let spanned = |sizes: std::ops::Range<u32>, step| {
        let values: Values = both.part()?;
        sizes.step_by(step).try_for_each(|size| {
            let made = Value::new_cyclic(|own: &Value<Marked>| Marked {
                base: Node { number: size as i32, left: graph(2), right: own.cast() },
                mark: "m".repeat(size as usize),
                others: vec![graph(6)],
            });
            let a = made.cast();
            echoed(&a, &None, values.echo_node(&a, &None)?)
        })
    };
    report.case("span/value-small", || spanned(700..1100, 9));
    report.case("span/value-large", || spanned(7700..8300, 13));
    report.case("span/values", || {
        let values: Values = both.part()?;
        for count in (1..200).step_by(9) {
            let mut nodes: Vec<Link> = Vec::new();
            for i in 0..count {
                nodes.push(match i % 7 {
                    6 => nodes[i - 3].clone(),
                    _ => graph(i as u32 % GRAPHS),
                });
            }
            let (_, b, c) = values.echo_node_seq(&nodes, &[])?;
            equal("lengths", (b.len(), c.len()), (count, count))?;
            let all = |nodes: &[Link]| {
                let mut walk = Walk::default();
                nodes.iter().for_each(|each| walk.value(each));
                walk.out
            };
            same_text(format_args!("b of {count}"), &all(&b), &all(&nodes))?;
        }
        Ok(())
    });
    report.case("span/any", || {
        let anys: Anys = both.part()?;
        for size in (700..1100).step_by(12).chain((7700..8300).step_by(12)) {
            let a = Any::new(&*"a".repeat(size)).map_err(|error| fail(error.to_string()))?;
            let (_, b, _) = anys.echo_any(&a, &Any::default())?;
            let got: String = b.get().map_err(|error| fail(error.to_string()))?;
            same_text("b", &got, &"a".repeat(size))?;
        }
        Ok(())
    });
    report.case("span/anys", || {
        let anys: Anys = both.part()?;
        let thing = both.thing()?;
        for count in (1..60).step_by(4) {
            let name = |i: usize| if i % 2 == 1 { "mixture" } else { "derived" };
            let made: Result<Vec<Any>, _> = (0..count).map(|i| kinds::make(name(i), &thing)).collect();
            let a = made.map_err(fail)?;
            let (_, b, c) = anys.echo_any_seq(&a, &[])?;
            equal("lengths", (b.len(), c.len()), (count, count))?;
            for i in 0..count {
                let text = |any| kinds::text(name(i), any, both.orb).map_err(fail);
                same_text("element", &text(&b[i])?, &text(&a[i])?)?;
            }
        }
        Ok(())
    });
}

pub(super) fn custom(report: &mut Report<'_>, both: &Both<'_>) {
    let track = || Some(Value::new(Track { number: 7, title: "a track".into() }));
    report.case("custom/echo", || {
        let (a, customs) = (track(), both.part::<Customs>()?);
        let (returned, b, c) = customs.echo_track(&a, &None)?;
        ensure("b and c are one, and nothing was returned", b.is_some() && b == c && returned.is_none())?;
        let b = b.as_ref().and_then(Value::get).ok_or_else(|| fail("b: null"))?;
        equal("b", (b.number, &*b.title), (7, "a track"))
    });
    report.case("custom/describe", || {
        equal("seen", both.part::<Customs>()?.describe_track(&track())?, "7, a track")
    });
}

pub(super) fn abstracts(report: &mut Report<'_>, both: &Both<'_>) {
    let of_value = |text: &str| Abstract::of_value(&Value::new(NamedValue { text: text.into() })).ok();
    let object = || Ok::<_, Trouble>(Some(Abstract::Object(both.thing()?.into())));
    let name = |it: &Option<Abstract<Named>>| kinds::named(it).map_err(fail);
    let names = |results: &(_, _, _)| {
        let (returned, b, c) = results;
        Ok::<_, Trouble>((name(b)?, name(c)?, name(returned)?))
    };
    let are = |got: (String, String, String), b: &str, c: &str, returned: &str| {
        equal("b, c, return", (&*got.0, &*got.1, &*got.2), (b, c, returned))
    };
    report.case("abstract/object", || {
        let results = both.part::<Abstracts>()?.echo_named(&object()?, &None)?;
        are(names(&results)?, "object", "object", "nil")
    });
    report.case("abstract/value", || {
        let results = both.part::<Abstracts>()?.echo_named(&of_value("of a value"), &object()?)?;
        are(names(&results)?, "of a value", "of a value", "object")?;
        let value = |it: &Option<Abstract<Named>>| it.as_ref().and_then(Abstract::value::<NamedValue>);
        ensure("one value", value(&results.1) == value(&results.2))
    });
    report.case("abstract/nil", || {
        let results = both.part::<Abstracts>()?.echo_named(&None, &of_value("old"))?;
        are(names(&results)?, "nil", "nil", "old")
    });
    report.case("abstract/name-of", || {
        let abstracts: Abstracts = both.part()?;
        equal("of a value", abstracts.name_of(&of_value("sent"))?, "sent")?;
        equal("of an object", abstracts.name_of(&object()?)?, "object")?;
        equal("of nil", abstracts.name_of(&None)?, "nil")
    });
    report.case("abstract/make", || {
        let abstracts: Abstracts = both.part()?;
        ["object", "made", "nil"]
            .iter()
            .try_for_each(|which| equal("name", name(&abstracts.make_named(which)?)?, *which))
    });
}
