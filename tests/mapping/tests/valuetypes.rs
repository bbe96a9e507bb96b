//! Values of valuetypes: through stubs and skeletons over a connection and collocated, shared and in circles.

use std::sync::{Arc, Mutex};

use zorb::cdr::{ByteOrder, CodeSets, Decode, Decoder, Encode, Encoder, Format, Version};
use zorb::{Call, Described, Interface, Orb, SystemException, TCKind, Value};
use zorb_test_mapping::values::values::graphs::GrowError;
use zorb_test_mapping::values::values::{
    Boxed, Choice, Graphs, GraphsServant, Grid, Head, Marked, Mixed, Node, Nothing, Pair, Refused, Text,
    Tree, Weighed,
};

type Link = Option<Value<Node>>;

const FORMAT: Format = Format { version: Version::V1_2, code_sets: CodeSets::UNICODE };

#[derive(Default)]
struct Echo {
    start: Mutex<Head>,
}

impl GraphsServant for Echo {
    fn echo(&self, _: &Call, n: &Link) -> Result<Link, SystemException> {
        Ok(n.clone())
    }

    fn swap(&self, _: &Call, first: &Link, second: &Link) -> Result<Pair, SystemException> {
        Ok(Pair { first: second.clone(), second: first.clone() })
    }

    fn grow(
        &self,
        _: &Call,
        root: &Option<Value<Tree>>,
        label: &Option<Value<Text>>,
    ) -> Result<(Option<Value<Tree>>, Option<Value<Text>>, Option<Value<Nothing>>), GrowError> {
        let Some(label) = label else {
            return Err(Refused { which: ring(3) }.into());
        };
        let grown = Text(label.get().expect("it is held").0.repeat(2));
        Ok((root.clone(), Some(Value::new(grown)), Some(Value::new(Nothing {}))))
    }

    fn start(&self, _: &Call) -> Result<Head, SystemException> {
        Ok(self.start.lock().unwrap().clone())
    }

    fn set_start(&self, _: &Call, start: &Head) -> Result<(), SystemException> {
        *self.start.lock().unwrap() = start.clone();
        Ok(())
    }
}

/// So many nodes, of which the last leads to the first.
fn ring(count: i32) -> Link {
    fn rest(from: i32, count: i32, first: &Value<Node>) -> Link {
        let next = if from == count { Some(first.clone()) } else { rest(from + 1, count, first) };
        if from == 1 { None } else { Some(Value::new(Node { x: from, next })) }
    }
    Some(Value::new_cyclic(|first| Node {
        x: 1,
        next: if count == 1 { Some(first.clone()) } else { rest(2, count, first) },
    }))
}

fn check_ring(first: &Link, count: i32) {
    let mut at = first.clone();
    for x in 1..=count {
        let held = at.as_ref().and_then(Value::get).expect("the ring goes on");
        assert_eq!(held.x, x);
        at = held.next.clone();
    }
    assert_eq!(&at, first, "it is closed");
}

fn tree() -> Option<Value<Tree>> {
    Some(Value::new_cyclic(|root| {
        let child = |name: &str| {
            Some(Value::new(Tree { base: name.into(), parent: Some(root.clone()), children: Vec::new() }))
        };
        Tree { base: "root".into(), parent: None, children: vec![child("left"), child("right"), None] }
    }))
}

fn check_tree(root: &Option<Value<Tree>>) {
    let held = root.as_ref().and_then(Value::get).expect("a tree");
    assert_eq!((held.base.as_str(), held.children.len()), ("root", 3));
    for (child, name) in held.children.iter().zip(["left", "right"]) {
        let child = child.as_ref().and_then(Value::get).expect("a child");
        assert_eq!((child.base.as_str(), &child.parent), (name, root));
    }
    assert!(held.parent.is_none() && held.children[2].is_none());
}

/// A node of the third generation, that holds another twice.
fn weighed() -> Value<Weighed> {
    let other = Some(Value::new(Node { x: 7, next: None }));
    let base = Marked {
        base: Node { x: 4, next: other.clone() },
        mark: "é".into(),
        others: vec![other.clone(), None, other],
    };
    Value::new(Weighed { base, weight: 2.5 })
}

fn check_weighed(node: &Link) {
    let held = node.as_ref().and_then(Value::cast::<Weighed>).and_then(|it| it.get()).expect("a Weighed");
    let marked = &held.base;
    assert_eq!((marked.base.x, marked.mark.as_str(), held.weight), (4, "é", 2.5));
    assert_eq!(marked.others, [marked.base.next.clone(), None, marked.base.next.clone()]);
    assert_eq!(marked.base.next.as_ref().and_then(Value::get).expect("a node").x, 7);
}

#[test]
fn they_go_through_stubs_and_skeletons() {
    let (server, client) = (Orb::builder().listen("tcp:127.0.0.1:0").build(), Orb::builder().build());
    let root = server.root_poa().unwrap();
    let here = root.activate::<Graphs>(Arc::new(Echo::default())).unwrap();
    root.manager().activate().unwrap();
    let text = here.as_object().to_string();
    let there = Graphs::from_object(client.string_to_object(&text).unwrap().unwrap());
    for graphs in [there, here] {
        assert_eq!(graphs.echo(&None).unwrap(), None);
        for count in [1, 2, 200] {
            check_ring(&graphs.echo(&ring(count)).unwrap(), count);
        }
        check_ring(&graphs.echo_async(ring(5)).wait().unwrap(), 5);
        check_weighed(&graphs.echo(&weighed().cast()).unwrap());

        // One value, given twice, is one value.
        let both = ring(2);
        let back = graphs.swap(&both, &both).unwrap();
        assert_eq!(back.first, back.second);
        check_ring(&back.first, 2);
        let back = graphs.swap(&both, &weighed().cast()).unwrap();
        check_ring(&back.second, 2);
        check_weighed(&back.first);

        let (grown, label, nobody) = graphs.grow(&tree(), &Some(Value::new(Text("ab".into())))).unwrap();
        check_tree(&grown);
        assert_eq!(label.and_then(|it| it.get()).expect("a box").0, "abab");
        assert!(nobody.is_some());
        let GrowError::Refused(refused) = graphs.grow(&None, &None).unwrap_err() else {
            panic!("not refused")
        };
        check_ring(&refused.which, 3);

        graphs.set_start(&both).unwrap();
        check_ring(&graphs.start().unwrap(), 2);
    }
}

/// Members of every kind, in a value that is in chunks and in one that is not; every proper prefix is an error.
#[test]
fn all_members_travel() {
    let node = Some(Value::new(Node { x: 1, next: None }));
    let mixed = Mixed {
        one: Choice::words(Some(Value::new(Text("a".into())))),
        both: Pair { first: node.clone(), second: node.clone() },
        wide: "日本".into(),
        many: [3; 40],
    };
    let boxed = Some(Value::new(Boxed(Pair { first: node.clone(), second: None })));
    let grid = Some(Value::new(Grid(vec![vec![1, 2].into(), vec![].into()])));
    let sent = ((Some(Value::new(mixed)), boxed), (grid, node, Link::None));
    let mut to = Encoder::new(FORMAT);
    sent.0.encode(&mut to).unwrap();
    sent.1.encode(&mut to).unwrap();
    let octets: Vec<u8> = to.slices().flatten().copied().collect();
    let read = |octets: &[u8]| {
        let mut from = Decoder::from_slice(octets, ByteOrder::NATIVE, FORMAT);
        let first = <(Option<Value<Mixed>>, Option<Value<Boxed>>)>::decode(&mut from)?;
        <(Option<Value<Grid>>, Link, Link)>::decode(&mut from).map(|second| (first, second))
    };
    let ((mixed, boxed), (grid, node, null)) = read(&octets).expect("it was written");
    let mixed = mixed.and_then(|it| it.get()).expect("a Mixed");
    assert_eq!((&mixed.both.first, &mixed.both.second), (&node, &node));
    assert_eq!((mixed.wide.as_str(), mixed.many), ("日本", [3; 40]));
    let Choice::words(words) = &mixed.one else { panic!("another arm") };
    assert_eq!(words.as_ref().and_then(Value::get).expect("a box").0, "a");
    assert_eq!(boxed.and_then(|it| it.get()).expect("a box").0, Pair { first: node, second: None });
    let grid = grid.and_then(|it| it.get()).expect("a box");
    assert_eq!((grid.0.len(), &grid.0[0][..], &grid.0[1][..]), (2, &[1, 2][..], &[][..]));
    assert!(null.is_none());
    for end in 0..octets.len() {
        assert!(read(&octets[..end]).is_err(), "{end} octets");
    }
}

#[test]
fn types_are_described_as_the_idl_has_them() {
    let marked = Marked::type_code();
    assert_eq!((marked.kind(), marked.type_modifier()), (TCKind::Value, Some(3)));
    assert_eq!(marked.concrete_base_type(), Some(Node::type_code()));
    assert_eq!((marked.member_name(1), marked.member_count()), (Some("others"), Some(2)));
    let node = Node::type_code();
    assert_eq!(node.member_type(1), Some(node.clone()), "it is recursive");
    let text = Text::type_code();
    assert_eq!((text.kind(), text.content_type()), (TCKind::ValueBox, Some(String::type_code())));
    assert_eq!(Link::type_code(), node);
}
