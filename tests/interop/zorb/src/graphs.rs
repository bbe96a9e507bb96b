//! Values of the valuetypes of `../idl/beyond.idl` and `hidden.idl`: the graphs of `../cases.md`, and their text.

use std::collections::HashMap;
use std::fmt::Write;

use zorb::cdr::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};
use zorb::{CustomMarshal, Orb, Value, ValueBase, ValueType};

use crate::beyond::beyond::*;
use crate::hidden::hidden::{Deeply, Firmly, Plainly, Twice};

/// A value, or null.
pub type Link<T = Node> = Option<Value<T>>;

/// How many graphs there are.
pub const GRAPHS: u32 = 11;

/// Lets the ORB read what is declared as less than it is: all types but those of `hidden.idl`.
pub fn register_factories(orb: &Orb) {
    orb.register_value_factories(&[
        Leaf::info,
        Node::info,
        Marked::info,
        Heavier::info,
        Firm::info,
        Circle::info,
        Square::info,
        Holder::info,
        BoxedText::info,
        BoxedLongs::info,
        BoxedPair::info,
        BoxedLong::info,
        NamedValue::info,
    ]);
}

impl CustomMarshal for Track {
    fn marshal<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        self.number.encode(to)?;
        self.title.encode(to)?;
        self.number.encode(to)
    }

    fn unmarshal(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let track = Track { number: Decode::decode(from)?, title: Decode::decode(from)? };
        i32::decode(from)?;
        Ok(track)
    }
}

fn state(number: i32, left: Link, right: Link) -> Node {
    Node { number, left, right }
}

/// A node as such.
pub fn node(number: i32, left: Link, right: Link) -> Link {
    Some(Value::new(state(number, left, right)))
}

/// A leaf.
pub fn leaf(number: i32, text: &str) -> Link<Leaf> {
    Some(Value::new(Leaf { number, text: text.into() }))
}

/// A value as one of a base.
pub fn of<T: ValueType, U: ValueType>(value: &Link<T>) -> Link<U> {
    value.as_ref().and_then(Value::cast)
}

fn tree(number: i32) -> Link {
    if number < 16 { node(number, tree(2 * number), tree(2 * number + 1)) } else { None }
}

/// Graph `k`.
pub fn graph(k: u32) -> Link {
    match k {
        0 => None,
        1 => node(1, None, None),
        2 => {
            let twice = node(20, None, None);
            node(2, twice.clone(), twice)
        }
        3 => Some(Value::new_cyclic(|own| state(3, Some(own.clone()), None))),
        4 => Some(Value::new_cyclic(|first| {
            let mut rest = Some(first.clone());
            for number in (41..45).rev() {
                rest = node(number, rest, None);
            }
            state(40, rest, None)
        })),
        5 => tree(1),
        6 => {
            let made = Value::new_cyclic(|own: &Value<Marked>| {
                let left = node(60, None, None);
                let others = vec![own.cast(), None, left.clone(), left.clone()];
                Marked { base: state(6, left, None), mark: "marked".into(), others }
            });
            made.cast()
        }
        7 => {
            let made = Value::new_cyclic(|own: &Value<Heavier>| {
                let inner =
                    Marked { base: state(70, own.cast(), None), mark: "inner".into(), others: vec![] };
                let left = Value::new(inner).cast();
                let base = state(7, left.clone(), left.clone());
                Heavier { base: Marked { base, mark: "heavy".into(), others: vec![left, None] }, weight: 2.5 }
            });
            made.cast()
        }
        8 => (80..92).rev().fold(None, |next, number| node(number, next.clone(), next)),
        9 => (100..160).rev().fold(None, |next, number| match number % 3 {
            0 => {
                let base = state(number, None, next.clone());
                Value::new(Marked { base, mark: format!("m{number}"), others: vec![next] }).cast()
            }
            _ => node(number, None, next),
        }),
        _ => Value::new(Firm { base: state(10, node(100, None, None), None), hardness: -7 }).cast(),
    }
}

/// Value `k` of a type that its receiver does not know.
pub fn hidden_value(k: u32) -> Link {
    let left = node(30, None, None);
    let plainly = |number, right: Link, depth, more: &str| Plainly {
        base: state(number, left.clone(), right),
        depth,
        more: more.into(),
    };
    match k {
        0 => Value::new(plainly(300, node(35, None, None), 1, "more")).cast(),
        1 => {
            let others = vec![node(31, None, None), node(32, None, None)];
            Value::new(Twice { base: plainly(301, left.clone(), 2, "twice"), others }).cast()
        }
        2 => {
            let base = Marked {
                base: state(302, left.clone(), None),
                mark: "deep".into(),
                others: vec![left.clone(), node(33, None, None)],
            };
            let base = Heavier { base, weight: 0.5 };
            Value::new(Deeply { base, thing: leaf(34, "gone"), depth: 3 }).cast()
        }
        3 => {
            let within = hidden_value(1);
            let made = Value::new_cyclic(|own: &Value<Marked>| Marked {
                base: state(303, within.clone(), within.clone()),
                mark: "around".into(),
                others: vec![within, own.cast()],
            });
            made.cast()
        }
        _ => Value::new(Firmly { base: state(304, left, None), depth: 4 }).cast(),
    }
}

/// What a receiver who does not know the types of `hidden.idl` is left with of hidden value `k`.
pub fn cut(k: u32) -> &'static str {
    match k {
        0 => "Node#1{300, Node#2{30, null, null}, Node#3{35, null, null}}",
        1 => "Node#1{301, Node#2{30, null, null}, #2}",
        2 => "Heavier#1{302, Node#2{30, null, null}, null, deep, [#2, Node#3{33, null, null}], 2/4}",
        _ => "Marked#1{303, Node#2{301, Node#3{30, null, null}, #3}, #2, around, [#2, #1]}",
    }
}

/// A value that leads to values of all kinds.
pub fn holder() -> Link<Holder> {
    let thing = leaf(7, "leaf");
    Some(Value::new(Holder {
        text: Some(Value::new(BoxedText("boxed".into()))),
        numbers: Some(Value::new(BoxedLongs(vec![5, -6].into()))),
        both: Some(Value::new(BoxedPair(Pair { left: 7, right: -8 }))),
        single: Some(Value::new(BoxedLong(9))),
        link: graph(6),
        figure: Value::new(Square { corner: thing.clone(), side: 4 }).cast(),
        thing,
    }))
}

/// A struct whose members share.
pub fn tangle() -> Tangle {
    let shared = node(1, None, None);
    let first = node(2, shared.clone(), None);
    let rest = vec![shared.clone(), None, first.clone()];
    Tangle { lead: 1, first, text: "text".into(), second: shared, rest }
}

/// A number with two binary digits behind the point.
pub fn quarters(value: f64) -> String {
    format!("{}/4", (value * 4.0) as i64)
}

/// Values as text: each is numbered where it is first met, and its number stands for it afterwards.
#[derive(Default)]
pub struct Walk {
    /// What was walked so far.
    pub out: String,
    seen: HashMap<Value<ValueBase>, usize>,
}

impl Walk {
    /// Appends a value and what it leads to.
    pub fn value<T: ValueType>(&mut self, value: &Link<T>) {
        let Some(value) = of::<T, ValueBase>(value) else { return self.out.push_str("null") };
        let next = self.seen.len() + 1;
        if let Some(&number) = self.seen.get(&value) {
            return self.show(format_args!("#{number}"));
        }
        self.seen.insert(value.clone(), next);
        macro_rules! known {
            ($($type:ident($it:ident) $body:expr;)*) => {
                $(if let Some($it) = value.cast::<$type>() {
                    self.show(format_args!("{}#{next}{{", stringify!($type)));
                    // All handles but weak ones are gone: not while the walk has its root.
                    if let Some($it) = $it.get() {
                        $body;
                    }
                } else)* {
                    self.show(format_args!("?#{next}{{"));
                }
            };
        }
        known! {
            Heavier(x) { self.marked(&x.base); self.show(format_args!(", {}", quarters(x.weight))) };
            Marked(x) self.marked(&x);
            Firm(x) { self.links(&x.base); self.show(format_args!(", {}", x.hardness)) };
            Node(x) self.links(&x);
            Leaf(x) self.show(format_args!("{}, {}", x.number, x.text));
            Circle(x) self.out.push_str(&quarters(x.radius));
            Square(x) { self.value(&x.corner); self.show(format_args!(", {}", x.side)) };
            BoxedText(x) self.out.push_str(&x.0);
            BoxedLongs(x) {
                let all: Vec<_> = x.0.iter().map(i32::to_string).collect();
                self.out.push_str(&all.join(", "))
            };
            BoxedPair(x) self.show(format_args!("{}, {}", x.0.left, x.0.right));
            BoxedLong(x) self.show(format_args!("{}", x.0));
            NamedValue(x) self.out.push_str(&x.text);
            Holder(x) {
                self.value(&x.text);
                self.out.push_str(", ");
                self.value(&x.numbers);
                self.out.push_str(", ");
                self.value(&x.both);
                self.out.push_str(", ");
                self.value(&x.single);
                self.out.push_str(", ");
                self.value(&x.link);
                self.out.push_str(", ");
                self.value(&x.figure);
                self.out.push_str(", ");
                self.value(&x.thing)
            };
        }
        self.out.push('}');
    }

    fn show(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = self.out.write_fmt(text); // into a String: cannot fail
    }

    fn links(&mut self, node: &Node) {
        self.show(format_args!("{}, ", node.number));
        self.value(&node.left);
        self.out.push_str(", ");
        self.value(&node.right);
    }

    fn marked(&mut self, marked: &Marked) {
        self.links(&marked.base);
        self.show(format_args!(", {}, [", marked.mark));
        for (at, other) in marked.others.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.value(other);
        }
        self.out.push(']');
    }
}

/// All of them together, so that what they share is seen.
pub fn text<T: ValueType>(values: &[&Link<T>]) -> String {
    let mut walk = Walk::default();
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            walk.out.push_str("; ");
        }
        walk.value(value);
    }
    walk.out
}

/// A struct that holds values.
pub fn tangle_text(tangle: &Tangle) -> String {
    let mut walk = Walk::default();
    walk.show(format_args!("{}; ", tangle.lead));
    walk.value(&tangle.first);
    walk.show(format_args!("; {}; ", tangle.text));
    walk.value(&tangle.second);
    for each in &tangle.rest {
        walk.out.push_str("; ");
        walk.value(each);
    }
    walk.out
}

/// A union that holds values.
pub fn choice_text(choice: &Choice) -> String {
    match choice {
        Choice::link(value) => text(&[value]),
        Choice::thing(value) => text(&[value]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_is_seen() {
        assert_eq!(text(&[&graph(2)]), "Node#1{2, Node#2{20, null, null}, #2}");
        assert_eq!(text(&[&graph(3)]), "Node#1{3, #1, null}");
        assert_eq!(
            text(&[&graph(6)]),
            "Marked#1{6, Node#2{60, null, null}, null, marked, [#1, null, #2, #2]}"
        );
        let ring = graph(4);
        assert_eq!(text(&[&ring, &ring]).matches("#1").count(), 3);
        assert_eq!(text(&[&graph(8)]).matches("null").count(), 2);
        assert!(text(&[&hidden_value(3)]).ends_with("around, [#2, #1]}"));
        assert_eq!(text(&[&graph(9)]).matches("Marked").count(), 20);
    }
}
