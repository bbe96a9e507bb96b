//! The anys of `../cases.md` by name: made, and extracted as text.

use zorb::cdr::{Described, Describer, TypeRef};
use zorb::{Abstract, Any, Char, DynAny, Fixed, Interface, ObjectRef, Orb, TCKind, TypeCode, Value, WChar};

use crate::beyond::beyond::*;
use crate::graphs::{self, Link, graph, leaf, quarters};

/// Those that have an any.
pub const NAMES: [&str; 49] = [
    "null",
    "void",
    "short",
    "ushort",
    "long",
    "ulong",
    "longlong",
    "ulonglong",
    "float",
    "double",
    "char",
    "octet",
    "boolean",
    "string",
    "brief",
    "wchar",
    "wstring",
    "wide_brief",
    "colour",
    "pair",
    "tree",
    "expression",
    "oops",
    "longs",
    "briefs",
    "grid",
    "height",
    "money",
    "any",
    "any_seq",
    "type",
    "object",
    "nil",
    "leaf",
    "null_value",
    "shared",
    "ring",
    "marked",
    "derived",
    "holder",
    "box_text",
    "box_longs",
    "box_pair",
    "box_long",
    "named_value",
    "named_object",
    "choice",
    "tangle",
    "mixture",
];

/// Those that are types only.
pub const TYPES: [&str; 8] =
    ["heavier", "firm", "circle", "square", "shape", "values", "tangled", "distance"];

/// Whether it needs wide characters.
pub fn is_wide(name: &str) -> bool {
    name.starts_with('w')
}

/// What not every peer can put in an any, or take out of one: any/sequence does without.
pub fn is_apart(name: &str) -> bool {
    matches!(name, "oops" | "nil" | "null_value" | "holder" | "marked" | "tangle" | "named_object")
        || name.starts_with("box_")
}

/// What is wrong, in a sentence.
pub type Wrong = String;

fn said(error: impl std::fmt::Display) -> Wrong {
    error.to_string()
}

fn tree() -> Tree {
    let bare = |number, children| Tree { number, children };
    bare(1, vec![bare(2, vec![]), bare(3, vec![bare(4, vec![])])])
}

fn expression() -> Expression {
    let parts = vec![Expression::number(0.5), Expression::name("x".into()), Expression::parts(vec![])];
    Expression::parts(parts)
}

/// The TypeCode of an alias in module `beyond`.
fn alias(name: &str, of: impl FnOnce(&mut Describer) -> TypeRef) -> Result<TypeCode, Wrong> {
    TypeCode::build(|to| {
        let of = of(to);
        to.alias(&format!("IDL:zorb.test/beyond/{name}:1.0"), name, of)
    })
    .map_err(said)
}

/// The TypeCode of an interface in module `beyond`.
fn interface(kind: TCKind, name: &str) -> Result<TypeCode, Wrong> {
    TypeCode::build(|to| to.named(kind, &format!("IDL:zorb.test/beyond/{name}:1.0"), name)).map_err(said)
}

/// The type that the any of that name has, or another.
pub fn type_code(name: &str) -> Result<TypeCode, Wrong> {
    let brief = || alias("Brief", |to| to.string(5));
    let built = |build: &dyn Fn(&mut Describer) -> TypeRef| TypeCode::build(build).map_err(said);
    Ok(match name {
        "null" => TypeCode::default(),
        "void" => <()>::type_code(),
        "short" => i16::type_code(),
        "ushort" => u16::type_code(),
        "long" => i32::type_code(),
        "ulong" => u32::type_code(),
        "longlong" => i64::type_code(),
        "ulonglong" => u64::type_code(),
        "float" => f32::type_code(),
        "double" => f64::type_code(),
        "char" => Char::type_code(),
        "octet" => u8::type_code(),
        "boolean" => bool::type_code(),
        "string" => String::type_code(),
        "brief" => brief()?,
        "wchar" => WChar::type_code(),
        "wstring" => built(&|to| to.wstring(0))?,
        "wide_brief" => alias("WideBrief", |to| to.wstring(5))?,
        "colour" => Colour::type_code(),
        "pair" => Pair::type_code(),
        "tree" => Tree::type_code(),
        "expression" => Expression::type_code(),
        "oops" => Oops::type_code(),
        "longs" => alias("LongSeq", |to| {
            let element = to.basic::<i32>();
            to.sequence(element, 0)
        })?,
        "briefs" => {
            let brief = brief()?;
            alias("Briefs", |to| {
                let element = to.type_code(&brief);
                to.sequence(element, 3)
            })?
        }
        "grid" => alias("Grid", |to| to.basic::<[[i16; 3]; 2]>())?,
        "height" => {
            let distance = type_code("distance")?;
            alias("Height", |to| to.type_code(&distance))?
        }
        "distance" => alias("Distance", |to| to.basic::<i32>())?,
        "money" => alias("Money", |to| to.fixed(9, 2))?,
        "any" => <Any as Described>::type_code(),
        "any_seq" => alias("AnySeq", |to| to.basic::<Vec<Any>>())?,
        "type" => TypeCode::type_code(),
        "object" | "nil" => built(&|to| to.interface("IDL:omg.org/CORBA/Object:1.0", "Object"))?,
        "leaf" => Link::<Leaf>::type_code(),
        "null_value" | "shared" | "ring" | "derived" => Link::<Node>::type_code(),
        "marked" => Link::<Marked>::type_code(),
        "holder" => Link::<Holder>::type_code(),
        "box_text" => Link::<BoxedText>::type_code(),
        "box_longs" => Link::<BoxedLongs>::type_code(),
        "box_pair" => Link::<BoxedPair>::type_code(),
        "box_long" => Link::<BoxedLong>::type_code(),
        "named_value" | "named_object" => interface(TCKind::AbstractInterface, "Named")?,
        "choice" => Choice::type_code(),
        "tangle" => Tangle::type_code(),
        "mixture" => Mixture::type_code(),
        "heavier" => Link::<Heavier>::type_code(),
        "firm" => Link::<Firm>::type_code(),
        "circle" => Link::<Circle>::type_code(),
        "square" => Link::<Square>::type_code(),
        "shape" => Link::<Shape>::type_code(),
        "values" => interface(TCKind::ObjRef, "Values")?,
        "tangled" => Tangled::type_code(),
        _ => return Err(format!("{name}: no such type")),
    })
}

/// The any of that name; `object` is what "object" and "named_object" hold.
pub fn make(name: &str, object: &NamedObject) -> Result<Any, Wrong> {
    let ty = type_code(name)?;
    let of = |fill: &dyn Fn(&mut DynAny) -> Result<(), zorb::DynAnyError>| {
        let mut value = DynAny::new(&ty).map_err(said)?;
        fill(&mut value).map_err(said)?;
        value.to_any().map_err(said)
    };
    macro_rules! value {
        ($value:expr) => {
            Any::with_type_code(ty.clone(), &$value).map_err(said)
        };
    }
    match name {
        "null" => Ok(Any::default()),
        "void" => value!(()),
        "short" => value!(-2i16),
        "ushort" => value!(65535u16),
        "long" => value!(-70000i32),
        "ulong" => value!(4_000_000_000u32),
        "longlong" => value!(-5_000_000_000i64),
        "ulonglong" => value!(u64::MAX),
        "float" => value!(1.5f32),
        "double" => value!(-2.25f64),
        "char" => value!(Char(b'z')),
        "octet" => value!(200u8),
        "boolean" => value!(true),
        "string" => value!("text"),
        "brief" => value!("brief"),
        "wchar" => value!(WChar(0x436)),
        "wstring" => of(&|to| to.insert_wstring("жЖ")),
        "wide_brief" => of(&|to| to.insert_wstring("A€")),
        "colour" => value!(Colour::green),
        "pair" => value!(Pair { left: 1, right: -1 }),
        "tree" => value!(tree()),
        "expression" => value!(expression()),
        "oops" => value!(Oops { why: "why".into(), code: 9 }),
        "longs" => value!(vec![1i32, 2, 3]),
        "briefs" => value!(vec!["a".to_owned(), "bcdef".into()]),
        "grid" => value!([[1i16, 2, 3], [4, 5, 6]]),
        "height" => value!(180i32),
        "money" => of(&|to| to.set_fixed("1234567.89").map(|_| ())),
        "any" => value!(Any::new(&Any::new(&5i32).map_err(said)?).map_err(said)?),
        "any_seq" => {
            value!(vec![Any::new(&1i32).map_err(said)?, Any::new("two").map_err(said)?, Any::default()])
        }
        "type" => value!(Tree::type_code()),
        "object" => ObjectRef::to_any(Some(object.as_object())).map_err(said),
        "nil" => ObjectRef::to_any(None).map_err(said),
        "leaf" => value!(leaf(7, "leaf")),
        "null_value" => value!(Link::<Node>::None),
        "shared" => value!(graph(2)),
        "ring" => value!(graph(4)),
        "marked" => value!(graphs::of::<Node, Marked>(&graph(6))),
        "derived" => value!(graph(6)),
        "holder" => value!(graphs::holder()),
        "box_text" => value!(Some(Value::new(BoxedText("boxed".into())))),
        "box_longs" => value!(Some(Value::new(BoxedLongs(vec![5, -6].into())))),
        "box_pair" => value!(Some(Value::new(BoxedPair(Pair { left: 7, right: -8 })))),
        "box_long" => value!(Some(Value::new(BoxedLong(9)))),
        "named_value" => {
            let value = Value::new(NamedValue { text: "valued".into() });
            Abstract::<Named>::to_any(&Abstract::of_value(&value).ok()).map_err(said)
        }
        "named_object" => {
            Abstract::<Named>::to_any(&Some(Abstract::Object(object.clone().into()))).map_err(said)
        }
        "choice" => value!(Choice::thing(leaf(7, "leaf"))),
        "tangle" => value!(graphs::tangle()),
        "mixture" => value!(Mixture {
            lead: 1,
            wood: tree(),
            sum: expression(),
            inner: Any::new(&5i32).map_err(said)?,
            high: 180,
            texts: vec!["a".into(), "bcdef".into()],
        }),
        _ => Err(format!("{name}: no such any")),
    }
}

fn show_tree(tree: &Tree) -> String {
    let children: Vec<_> = tree.children.iter().map(show_tree).collect();
    format!("{{{}, [{}]}}", tree.number, children.join(", "))
}

fn show_expression(expression: &Expression) -> String {
    match expression {
        Expression::number(number) => quarters(*number),
        Expression::name(name) => name.clone(),
        Expression::parts(parts) => {
            format!("[{}]", parts.iter().map(show_expression).collect::<Vec<_>>().join(", "))
        }
    }
}

fn units(text: &str) -> String {
    text.encode_utf16().map(|unit| unit.to_string()).collect::<Vec<_>>().join(",")
}

/// What one that is abstract is called.
pub fn named(it: &Option<Abstract<Named>>) -> Result<String, Wrong> {
    match it {
        None => Ok("nil".into()),
        Some(Abstract::Object(object)) => object.name().map_err(said),
        Some(value) => {
            let value = value.value::<NamedValue>().ok_or("a value of another type")?;
            Ok(value.get().ok_or("a value that is gone")?.text.clone())
        }
    }
}

/// What the any of that name holds, extracted as its own type.
///
/// # Errors
/// It holds something else.
pub fn text(name: &str, any: &Any, orb: &Orb) -> Result<String, Wrong> {
    let list = |all: Vec<String>| format!("[{}]", all.join(", "));
    macro_rules! get {
        ($type:ty) => {
            any.get_with::<$type>(orb).map_err(said)?
        };
    }
    macro_rules! number {
        ($type:ty) => {
            get!($type).to_string()
        };
    }
    macro_rules! value {
        ($type:ty) => {
            graphs::text(&[&get!(Link<$type>)])
        };
    }
    Ok(match name {
        "null" | "void" => {
            let kind = if name == "null" { TCKind::Null } else { TCKind::Void };
            match any.type_code().kind() == kind {
                true => name.into(),
                false => return Err(format!("it is a {:?}", any.type_code().kind())),
            }
        }
        "short" => number!(i16),
        "ushort" => number!(u16),
        "long" => number!(i32),
        "ulong" => number!(u32),
        "longlong" => number!(i64),
        "ulonglong" => number!(u64),
        "float" => quarters(get!(f32).into()),
        "double" => quarters(get!(f64)),
        "char" => char::from(get!(Char).0).to_string(),
        "octet" => number!(u8),
        "boolean" => number!(bool).to_uppercase(),
        "string" => get!(String),
        "brief" => any.get_as::<String>(&type_code("brief")?).map_err(said)?,
        "wchar" => get!(WChar).0.to_string(),
        "wstring" | "wide_brief" => {
            let wanted = type_code(name)?;
            if !wanted.equivalent(any.type_code()) {
                return Err(format!("it is a {:?}", any.type_code()));
            }
            units(&DynAny::from_any(any).and_then(|it| it.wstring()).map_err(said)?)
        }
        "colour" => format!("{:?}", get!(Colour)),
        "pair" => {
            let Pair { left, right } = get!(Pair);
            format!("{{{left}, {right}}}")
        }
        "tree" => show_tree(&get!(Tree)),
        "expression" => show_expression(&get!(Expression)),
        "oops" => {
            let Oops { why, code } = get!(Oops);
            format!("{{{why}, {code}}}")
        }
        "longs" => list(get!(Vec<i32>).iter().map(i32::to_string).collect()),
        "briefs" => list(any.get_as::<Vec<String>>(&type_code("briefs")?).map_err(said)?),
        "grid" => {
            let rows = get!([[i16; 3]; 2]);
            list(rows.iter().map(|row| list(row.iter().map(i16::to_string).collect())).collect())
        }
        "height" => number!(i32),
        "money" => {
            let money: Fixed = match type_code("money")?.equivalent(any.type_code()) {
                true => DynAny::from_any(any).and_then(|it| it.fixed()).map_err(said)?,
                false => return Err(format!("it is a {:?}", any.type_code())),
            };
            money.to_string()
        }
        "any" => text("long", &get!(Any).get_with::<Any>(orb).map_err(said)?, orb)?,
        "any_seq" => match &get!(Vec<Any>)[..] {
            [one, two, three] => {
                list(vec![text("long", one, orb)?, text("string", two, orb)?, text("null", three, orb)?])
            }
            other => return Err(format!("{} anys", other.len())),
        },
        "type" => {
            let ty = get!(TypeCode);
            format!("{} {}", ty.id().unwrap_or_default(), ty.member_count().unwrap_or_default())
        }
        "object" => {
            let object = ObjectRef::from_any(any, orb).map_err(said)?.ok_or("it is nil")?;
            let object = NamedObject::narrow(&object).map_err(said)?.ok_or("it is no NamedObject")?;
            object.name().map_err(said)?
        }
        "nil" => match ObjectRef::from_any(any, orb).map_err(said)? {
            Some(object) => return Err(format!("it is {object}")),
            None => "nil".into(),
        },
        "leaf" => value!(Leaf),
        "null_value" | "shared" | "ring" | "derived" => value!(Node),
        "marked" => value!(Marked),
        "holder" => value!(Holder),
        "box_text" => value!(BoxedText),
        "box_longs" => value!(BoxedLongs),
        "box_pair" => value!(BoxedPair),
        "box_long" => value!(BoxedLong),
        "named_value" | "named_object" => named(&Abstract::from_any(any, orb).map_err(said)?)?,
        "choice" => graphs::choice_text(&get!(Choice)),
        "tangle" => graphs::tangle_text(&get!(Tangle)),
        "mixture" => {
            let Mixture { lead, wood, sum, inner, high, texts } = get!(Mixture);
            let inner = text("long", &inner, orb)?;
            let (wood, sum, texts) = (show_tree(&wood), show_expression(&sum), list(texts));
            format!("{{{lead}, {wood}, {sum}, {inner}, {high}, {texts}}}")
        }
        _ => return Err(format!("{name}: no such any")),
    })
}
