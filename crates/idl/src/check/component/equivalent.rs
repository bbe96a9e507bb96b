//! The operations that the component model makes of ports, factories, finders and keys. CORBA 3.4 part 3, chapter 6.

use crate::model::{Direction, PortKind};
use crate::source::Span;
use crate::syntax::{
    Body, Constructed, Declarator, Field, Item, Name, Operation, Parameter, Port, ScopedName, TypeSpec,
};

/// A name of module Components.
pub(super) fn library(name: &str, span: Span) -> ScopedName {
    let parts = ["Components", name].map(|text| Name { text: text.into(), span }).to_vec();
    ScopedName { absolute: true, parts, span }
}

/// A name of the present scope.
pub(super) fn type_named(name: &Name) -> ScopedName {
    ScopedName { absolute: false, parts: vec![name.clone()], span: name.span }
}

/// A name with more behind its last part.
pub(super) fn suffixed(name: &ScopedName, suffix: &str) -> ScopedName {
    let mut name = name.clone();
    if let Some(last) = name.parts.last_mut() {
        last.text = format!("{}{suffix}", last.text).into();
    }
    name
}

/// The interface of an event type's consumers.
pub(super) fn consumer(event: &ScopedName) -> ScopedName {
    suffixed(event, "Consumer")
}

/// `void push_Event(in Event the_Event);`
pub(super) fn push(event: &Name) -> Item {
    let ty = TypeSpec::Named(type_named(event));
    let parameter = input(ty, &format!("the_{}", event.text.to_ascii_lowercase()), event.span);
    operation(&format!("push_{}", event.text), event.span, None, vec![parameter], Vec::new())
}

/// The operations of a port, and the types that they need.
pub(super) fn operations(port: &Port) -> Vec<Item> {
    let (name, span) = (&port.name.text, port.name.span);
    let ty = || port.ty.clone();
    let sink = || super::written(&port.ty).map_or_else(ty, |event| TypeSpec::Named(consumer(event)));
    let cookie = || TypeSpec::Named(library("Cookie", span));
    let raising = |names: &[&str]| names.iter().map(|it| library(it, span)).collect::<Vec<_>>();
    let make = |verb: &str, returns, parameters, raises: &[&str]| {
        operation(&format!("{verb}_{name}"), span, returns, parameters, raising(raises))
    };
    let mut items = match port.kind {
        PortKind::Provides => vec![make("provide", Some(ty()), vec![], &[])],
        PortKind::Uses => vec![
            make(
                "connect",
                None,
                vec![input(ty(), "conxn", span)],
                &["AlreadyConnected", "InvalidConnection"],
            ),
            make("disconnect", Some(ty()), vec![], &["NoConnection"]),
            make("get_connection", Some(ty()), vec![], &[]),
        ],
        PortKind::UsesMultiple => {
            let connection = Name { text: format!("{name}Connection").into(), span };
            let connections = Name { text: format!("{name}Connections").into(), span };
            let fields = vec![field(ty(), "objref", span), field(cookie(), "ck", span)];
            let element = Box::new(TypeSpec::Named(type_named(&connection)));
            let list = TypeSpec::Sequence { element, bound: None };
            let body = Body::Struct { base: None, fields };
            vec![
                Item::Constructed(Constructed { name: connection, doc: String::new(), body }),
                Item::Typedef(field(list, &connections.text, span)),
                make(
                    "connect",
                    Some(cookie()),
                    vec![input(ty(), "connection", span)],
                    &["ExceededConnectionLimit", "InvalidConnection"],
                ),
                make("disconnect", Some(ty()), vec![input(cookie(), "ck", span)], &["InvalidConnection"]),
                make("get_connections", Some(TypeSpec::Named(type_named(&connections))), vec![], &[]),
            ]
        }
        PortKind::Emits => vec![
            make("connect", None, vec![input(sink(), "consumer", span)], &["AlreadyConnected"]),
            make("disconnect", Some(sink()), vec![], &["NoConnection"]),
        ],
        PortKind::Publishes => vec![
            make(
                "subscribe",
                Some(cookie()),
                vec![input(sink(), "consumer", span)],
                &["ExceededConnectionLimit"],
            ),
            make("unsubscribe", Some(sink()), vec![input(cookie(), "ck", span)], &["InvalidConnection"]),
        ],
        PortKind::Consumes => vec![make("get_consumer", Some(sink()), vec![], &[])],
    };
    for item in &mut items {
        if let Item::Operation(it) = item {
            it.doc.clone_from(&port.doc);
        }
    }
    items
}

/// A factory or finder: it returns the component, and may fail in the way that the model names.
pub(super) fn maker(
    name: &Name,
    doc: &str,
    component: &ScopedName,
    parameters: &[Parameter],
    raises: &[ScopedName],
    failure: &str,
) -> Item {
    let mut all = vec![library(failure, name.span)];
    all.extend_from_slice(raises);
    let returns = Some(TypeSpec::Named(component.clone()));
    let mut item = operation(&name.text, name.span, returns, parameters.to_vec(), all);
    if let Item::Operation(it) = &mut item {
        it.doc = doc.into();
    }
    item
}

/// The operations of a home's `…Implicit` interface.
pub(super) fn implicit(component: &ScopedName, key: Option<&ScopedName>, span: Span) -> Vec<Item> {
    let component = || Some(TypeSpec::Named(component.clone()));
    let raising = |names: &[&str]| names.iter().map(|it| library(it, span)).collect::<Vec<_>>();
    let Some(key) = key else {
        return vec![operation("create", span, component(), vec![], raising(&["CreateFailure"]))];
    };
    let key = || TypeSpec::Named(key.clone());
    let by_key = || vec![input(key(), "key", span)];
    let unknown = |failure| raising(&[failure, "UnknownKeyValue", "InvalidKey"]);
    let comp = component().map(|ty| input(ty, "comp", span)).into_iter().collect();
    vec![
        operation(
            "create",
            span,
            component(),
            by_key(),
            raising(&["CreateFailure", "DuplicateKeyValue", "InvalidKey"]),
        ),
        operation("find_by_primary_key", span, component(), by_key(), unknown("FinderFailure")),
        operation("remove", span, None, by_key(), unknown("RemoveFailure")),
        operation("get_primary_key", span, Some(key()), comp, Vec::new()),
    ]
}

fn operation(
    name: &str,
    span: Span,
    returns: Option<TypeSpec>,
    parameters: Vec<Parameter>,
    raises: Vec<ScopedName>,
) -> Item {
    let name = Name { text: name.into(), span };
    let (doc, context) = (String::new(), Vec::new());
    Item::Operation(Operation { name, doc, oneway: None, returns, parameters, raises, context })
}

fn input(ty: TypeSpec, name: &str, span: Span) -> Parameter {
    let name = beside(&ty, name, span);
    Parameter { annotations: Vec::new(), direction: Direction::In, ty, name }
}

fn field(ty: TypeSpec, name: &str, span: Span) -> Field {
    let name = beside(&ty, name, span);
    let declarators = vec![Declarator { name, dimensions: Vec::new() }];
    Field { annotations: Vec::new(), ty, declarators, doc: String::new() }
}

/// A name of the model's for what is of this type. The user has not chosen it, and so it gives way where the type has the same.
fn beside(ty: &TypeSpec, name: &str, span: Span) -> Name {
    let is_taken = match ty {
        TypeSpec::Named(of) => of.parts.iter().any(|part| part.text.eq_ignore_ascii_case(name)),
        _ => false,
    };
    let text = if is_taken { format!("{name}_") } else { name.to_owned() };
    Name { text: text.into(), span }
}
