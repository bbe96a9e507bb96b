//! `any` and `CORBA::TypeCode`: through stubs and skeletons over a connection and collocated, holding every generated type.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use zorb::{Any, AnyError, Call, Described, Interface, ObjectRef, Orb, SystemException, TCKind, TypeCode};
use zorb_test_mapping::anys::anys::vault::EchoError;
use zorb_test_mapping::anys::anys::{Choice, Colour, Flags, Holder, Refused, Tree, Vault, VaultServant};

#[derive(Default)]
struct Echo {
    value: Mutex<Any>,
}

impl VaultServant for Echo {
    fn echo(&self, _: &Call, a: &Any, b: &Any) -> Result<(Any, Any, TypeCode), EchoError> {
        if a.type_code().kind() == TCKind::Null {
            return Err(Refused { why: b.clone() }.into());
        }
        Ok((b.clone(), a.clone(), a.type_code().clone()))
    }

    fn hold(&self, _: &Call, a: &Holder) -> Result<Holder, SystemException> {
        Ok(a.clone())
    }

    fn value(&self, _: &Call) -> Result<Any, SystemException> {
        Ok(self.value.lock().unwrap().clone())
    }

    fn set_value(&self, _: &Call, value: &Any) -> Result<(), SystemException> {
        *self.value.lock().unwrap() = value.clone();
        Ok(())
    }
}

fn tree() -> Tree {
    let leaf = Tree { paint: Colour::GREEN, names: vec!["a".into(), "é".into()], ..Tree::default() };
    let price = "-12.50".parse().unwrap();
    Tree { children: vec![leaf.clone(), leaf], price, wide: "日本".into(), ..Tree::default() }
}

fn holder(object: &ObjectRef) -> Holder {
    let held = |any: Result<Any, _>| any.expect("it can be held");
    Holder {
        one: held(Any::new(&tree())),
        many: vec![
            held(Any::new(&Choice::wood(tree()))),
            held(Any::new(&Choice::grid(Colour::GREEN, [[1, 2, 3], [4, 5, 6]]))),
            held(Any::new(&Refused { why: held(Any::new(&7u16)) })),
            held(Any::new(&Flags::two)),
            held(ObjectRef::to_any(Some(object))),
            held(ObjectRef::to_any(None)),
            Any::EMPTY,
        ],
        r#type: Tree::type_code(),
        named: BTreeMap::from([("x".into(), held(Any::new("text")))]),
        set: Flags::one,
        owner: Some(Vault::from_object(object.clone())),
        some: Some(object.clone()),
    }
}

#[test]
fn they_go_through_stubs_and_skeletons() {
    let (server, client) = (Orb::builder().listen("tcp:127.0.0.1:0").build(), Orb::builder().build());
    let root = server.root_poa().unwrap();
    let here = root.activate::<Vault>(Arc::new(Echo::default())).unwrap();
    root.manager().activate().unwrap();
    let text = here.as_object().to_string();
    let there = Vault::from_object(client.string_to_object(&text).unwrap().unwrap());
    for (vault, orb) in [(there, &client), (here, &server)] {
        let object = vault.as_object();
        let (a, b) = (Any::new(&tree()).unwrap(), Any::new(&3.5f64).unwrap());
        let (first, second, of) = vault.echo(&a, &b).unwrap();
        assert_eq!((first.get::<f64>().unwrap(), second.get::<Tree>().unwrap()), (3.5, tree()));
        assert_eq!(of, Tree::type_code());
        let (first, ..) = vault.echo_async(b.clone(), a.clone()).wait().unwrap();
        assert_eq!(first, a);

        let EchoError::Refused(refused) = vault.echo(&Any::EMPTY, &a).unwrap_err() else {
            panic!("not refused")
        };
        assert_eq!(refused.why.get::<Tree>().unwrap(), tree());

        vault.set_value(&a).unwrap();
        assert_eq!(vault.value().unwrap(), a);

        let back = vault.hold(&holder(object)).unwrap();
        assert_eq!(back.one.get::<Tree>().unwrap(), tree());
        assert_eq!(back.many[0].get::<Choice>().unwrap(), Choice::wood(tree()));
        assert_eq!(
            back.many[1].get::<Choice>().unwrap(),
            Choice::grid(Colour::GREEN, [[1, 2, 3], [4, 5, 6]])
        );
        assert_eq!(back.many[2].get::<Refused>().unwrap().why.get::<u16>().unwrap(), 7);
        assert_eq!(back.many[3].get::<Flags>().unwrap(), Flags::two);
        let held = ObjectRef::from_any(&back.many[4], orb).unwrap().expect("a reference");
        assert!(held.is_equivalent(object));
        assert!(ObjectRef::from_any(&back.many[5], orb).unwrap().is_none());
        assert!(matches!(ObjectRef::from_any(&back.one, orb), Err(AnyError::OtherType { .. })));
        assert_eq!(back.many[6], Any::EMPTY);
        assert_eq!(back.r#type, Tree::type_code());
        assert_eq!(back.named["x"].get::<String>().unwrap(), "text");
    }
}

#[test]
fn types_are_described_as_the_idl_has_them() {
    let tree = Tree::type_code();
    assert_eq!((tree.id(), tree.name()), (Some("IDL:zorb.test/anys/Tree:1.0"), Some("Tree")));
    let names = tree.member_type(1).unwrap();
    assert_eq!((names.kind(), names.id()), (TCKind::Alias, Some("IDL:zorb.test/anys/Briefs:1.0")));
    let shorts = names.content_type().unwrap();
    assert_eq!((shorts.kind(), shorts.length()), (TCKind::Sequence, Some(3)));
    let short = shorts.content_type().unwrap();
    assert_eq!((short.kind(), short.unaliased()), (TCKind::Alias, TypeCode::string(5)));
    assert_eq!(tree.member_type(2).unwrap().content_type().unwrap(), tree);
    assert_eq!(tree.member_type(3).unwrap().fixed_digits(), Some(5));
    assert_eq!(tree.member_type(4), Some(TypeCode::wstring(0)));

    let choice = Choice::type_code();
    assert_eq!((choice.member_count(), choice.default_index()), (Some(2), Some(1)));
    assert_eq!(choice.discriminator_type(), Some(Colour::type_code()));
    let grid = choice.member_type(1).unwrap();
    assert_eq!((grid.kind(), grid.length()), (TCKind::Array, Some(2)));
    assert_eq!(grid.content_type().unwrap().length(), Some(3));

    assert_eq!(Refused::type_code().kind(), TCKind::Except);
    let flags = Flags::type_code();
    assert_eq!((flags.kind(), flags.unaliased()), (TCKind::Alias, u32::type_code()));
    let holder = Holder::type_code();
    let kinds: Vec<TCKind> = (0..7).map(|at| holder.member_type(at).unwrap().kind()).collect();
    use TCKind::{Alias, ObjRef, Sequence};
    assert_eq!(kinds, [TCKind::Any, Sequence, TCKind::TypeCode, Sequence, Alias, ObjRef, ObjRef]);
    assert_eq!(holder.member_type(5).unwrap().id(), Some("IDL:zorb.test/anys/Vault:1.0"));
}
