//! Components, homes and event types: checked, and made the interfaces that the component model says are equivalent to
//! them. CORBA 3.4 part 3, chapter 6.

mod equivalent;

use std::collections::HashMap;

use super::scope::Target;
use super::{Checker, type_span};
use crate::DefinitionId;
use crate::diagnostics::error;
use crate::model::{Component, DefinitionKind, Home, InterfaceFlavor, Origin, Port, PortKind, Type};
use crate::source::Span;
use crate::syntax::{self, Interface, Item, Name, ScopedName, TypeSpec};
use equivalent::{library, operations, type_named};

impl Checker {
    /// The names that equivalent interfaces need are those of Components.idl.
    fn has_components(&mut self, what: &str, span: Span) -> bool {
        let has = self.model.find("Components::CCMObject").is_some();
        if !has && !self.without_components {
            let message = format!("{what} needs the module `Components`");
            self.report(error(message, span, "`#include <Components.idl>` before it"));
        }
        self.without_components |= !has;
        has
    }

    pub(super) fn component(&mut self, it: &syntax::Component) {
        if !self.has_components("a component", it.name.span) {
            return;
        }
        let mut interface = plain(&it.name, &it.doc, Vec::new(), None);
        let Some(items) = &it.items else {
            let known = self.declared_here(&it.name.text);
            self.interface(&interface);
            if let Some(id) = self.declared_here(&it.name.text).filter(|_| known.is_none()) {
                self.set_origin(id, Origin::Component(Component::default()));
            }
            return;
        };
        let base = it.base.as_ref().and_then(|base| self.component_named(base, "inherit from"));
        let supports = self.supported_interfaces(&it.supports);
        interface.bases.push(match &it.base {
            Some(name) if base.is_some() => name.clone(),
            _ => library("CCMObject", it.name.span),
        });
        interface.bases.extend(supports.iter().map(|(name, _)| name.clone()));
        let (mut ports, mut body) = (Vec::new(), Vec::new());
        let mut known: HashMap<String, Name> = HashMap::new();
        for item in items {
            let (annotations, item) = match item {
                Item::Annotated(annotations, item) => (annotations.as_slice(), &**item),
                item => (&[][..], item),
            };
            let Item::Port(port) = item else {
                body.push(annotated(annotations, item.clone()));
                continue;
            };
            if let Some(first) = known.insert(port.name.text.to_ascii_lowercase(), port.name.clone()) {
                let message = format!("two ports are named `{}`", first.text);
                self.report(
                    error(message, port.name.span, "choose another name").see(first.span, "first here"),
                );
                continue;
            }
            let Some(ty) = self.port_type(port) else { continue };
            body.extend(operations(port));
            let annotations = self.annotations(annotations, super::annotation::On::other("port"));
            let (name, span) = (port.name.text.to_string(), port.name.span);
            ports.push(Port { name, kind: port.kind, ty, annotations, doc: port.doc.clone(), span });
        }
        interface.items = Some(body);
        self.interface(&interface);
        let supports = supports.into_iter().map(|(_, id)| id).collect();
        if let Some(id) = self.declared_here(&it.name.text) {
            self.set_origin(id, Origin::Component(Component { base, supports, ports }));
        }
    }

    fn set_origin(&mut self, id: DefinitionId, origin: Origin) {
        if let DefinitionKind::Interface(it) = self.kind_mut(id) {
            it.origin = origin;
        }
    }

    fn origin(&self, id: DefinitionId) -> Option<(&Origin, bool)> {
        match &self.model.definition(id).kind {
            DefinitionKind::Interface(it) => Some((&it.origin, it.defined)),
            _ => None,
        }
    }

    /// The component that a name stands for; to inherit from it, it must be defined.
    fn component_named(&mut self, name: &ScopedName, purpose: &str) -> Option<DefinitionId> {
        let target = self.resolve(name)?;
        if let Target::Definition(id) = target
            && let Some((Origin::Component(_), defined)) = self.origin(id)
        {
            if defined || purpose == "manage" {
                return Some(id);
            }
            let message = format!("cannot {purpose} `{}`, which is not defined yet", name.written());
            self.report(error(message, name.span, "define it before"));
            return None;
        }
        let what = super::constructed::article(self.describe(target));
        let message = format!("cannot {purpose} `{}`, which is a{what}", name.written());
        let label = if what.ends_with("interface") {
            if purpose == "manage" { "a home manages a component" } else { "write `supports` before it" }
        } else {
            "a component is expected"
        };
        self.report(error(message, name.span, label));
        None
    }

    /// The interfaces after `supports`, without those that are wrong.
    fn supported_interfaces(&mut self, names: &[ScopedName]) -> Vec<(ScopedName, DefinitionId)> {
        let mut kept = Vec::new();
        for name in names {
            let Some(id) = self.interface_named(name, "support") else { continue };
            if matches!(self.origin(id), Some((Origin::Component(_) | Origin::Home(_), _))) {
                let message = format!("cannot support `{}`, which is no plain interface", name.written());
                self.report(error(message, name.span, "components and homes support interfaces"));
                continue;
            }
            kept.push((name.clone(), id));
        }
        kept
    }

    /// The type of a port, if it can have it.
    fn port_type(&mut self, port: &syntax::Port) -> Option<Type> {
        let span = type_span(&port.ty);
        let ty = self.ty(&port.ty)?;
        let (word, label) = match port.kind {
            PortKind::Provides => ("a facet", "a facet is an interface or `Object`"),
            PortKind::Uses | PortKind::UsesMultiple => {
                ("a receptacle", "a receptacle is an interface or `Object`")
            }
            PortKind::Emits | PortKind::Publishes => ("an event source", "an event is an `eventtype`"),
            PortKind::Consumes => ("an event sink", "an event is an `eventtype`"),
        };
        let fits = match self.model.resolve_alias(&ty) {
            Type::Object => !matches!(port.kind, PortKind::Emits | PortKind::Publishes | PortKind::Consumes),
            Type::Named(id) => match &self.model.definition(*id).kind {
                DefinitionKind::Interface(it) => {
                    it.flavor == InterfaceFlavor::Plain
                        && !matches!(it.origin, Origin::Component(_) | Origin::Home(_))
                        && !matches!(port.kind, PortKind::Emits | PortKind::Publishes | PortKind::Consumes)
                }
                DefinitionKind::ValueType(it) => {
                    it.event
                        && matches!(port.kind, PortKind::Emits | PortKind::Publishes | PortKind::Consumes)
                }
                _ => false,
            },
            _ => false,
        };
        if !fits {
            self.report(error(format!("{word} cannot have this type"), span, label));
            return None;
        }
        Some(ty)
    }

    /// An event type and the interface of its consumers, by its syntax as a valuetype.
    pub(super) fn event(&mut self, it: &syntax::Value) {
        if !self.has_components("an event type", it.name.span) {
            return;
        }
        let known = self.declared_here(&it.name.text);
        let defined = known.is_some_and(
            |id| !matches!(&self.model.definition(id).kind, DefinitionKind::ValueType(it) if !it.defined),
        );
        let known = known.is_some();
        let mut value = it.clone();
        if it.items.is_some() && it.bases.is_empty() {
            value.bases.push(library("EventBase", it.name.span));
        }
        let parent = it.bases.first().filter(|base| {
            matches!(self.seen(base), Some(Target::Definition(id))
                if matches!(&self.model.definition(id).kind, DefinitionKind::ValueType(it) if it.event))
        });
        let base = match parent {
            Some(base) => equivalent::consumer(base),
            None => library("EventConsumerBase", it.name.span),
        };
        self.value(&value);
        if let Some(id) = self.declared_here(&it.name.text)
            && let DefinitionKind::ValueType(it) = self.kind_mut(id)
        {
            it.event = true;
        }
        let name = Name { text: format!("{}Consumer", it.name.text).into(), span: it.name.span };
        if it.items.is_none() || defined {
            if !known {
                self.interface(&plain(&name, "", Vec::new(), None));
            }
            return;
        }
        let push = equivalent::push(&it.name);
        self.interface(&plain(&name, &it.doc, vec![base], Some(vec![push])));
        if let Some(id) = self.declared_here(&name.text) {
            self.set_origin(id, Origin::Consumer);
        }
    }

    pub(super) fn home(&mut self, it: &syntax::Home) {
        if !self.has_components("a home", it.name.span) {
            return;
        }
        let manages = self.component_named(&it.manages, "manage");
        let base = it.base.as_ref().and_then(|base| self.base_home(base, manages));
        let primary_key = it.key.as_ref().and_then(|key| self.primary_key(key));
        let supports = self.supported_interfaces(&it.supports);
        let (Some(manages), true) = (manages, it.key.is_some() == primary_key.is_some()) else { return };
        let span = it.name.span;
        let named = |suffix: &str| Name { text: format!("{}{suffix}", it.name.text).into(), span };

        let (mut factories, mut finders, mut body) = (Vec::new(), Vec::new(), Vec::new());
        for item in &it.items {
            let (annotations, item) = match item {
                Item::Annotated(annotations, item) => (annotations.as_slice(), &**item),
                item => (&[][..], item),
            };
            let made = match item {
                Item::Factory { name, doc, parameters, raises } => {
                    factories.push(name.text.to_string());
                    equivalent::maker(name, doc, &it.manages, parameters, raises, "CreateFailure")
                }
                Item::Finder { name, doc, parameters, raises } => {
                    finders.push(name.text.to_string());
                    equivalent::maker(name, doc, &it.manages, parameters, raises, "FinderFailure")
                }
                other => other.clone(),
            };
            body.push(annotated(annotations, made));
        }
        let mut bases = vec![match (&it.base, base) {
            (Some(base), Some(_)) => equivalent::suffixed(base, "Explicit"),
            _ => library("CCMHome", span),
        }];
        bases.extend(supports.iter().map(|(name, _)| name.clone()));
        let explicit = named("Explicit");
        self.interface(&plain(&explicit, &it.doc, bases, Some(body)));
        if let Some(id) = self.declared_here(&explicit.text) {
            self.set_origin(id, Origin::HomeExplicit);
        }

        let implicit = named("Implicit");
        let bases = if it.key.is_some() { Vec::new() } else { vec![library("KeylessCCMHome", span)] };
        let items = equivalent::implicit(&it.manages, it.key.as_ref(), span);
        self.interface(&plain(&implicit, "", bases, Some(items)));
        if let Some(id) = self.declared_here(&implicit.text) {
            self.set_origin(id, Origin::HomeImplicit);
        }

        let bases = [explicit, implicit].map(|name| type_named(&name)).to_vec();
        self.interface(&plain(&it.name, &it.doc, bases, Some(Vec::new())));
        if let Some(id) = self.declared_here(&it.name.text) {
            let supports = supports.into_iter().map(|(_, id)| id).collect();
            let home = Home { base, supports, manages, primary_key, factories, finders };
            self.set_origin(id, Origin::Home(home));
        }
    }

    fn base_home(&mut self, base: &ScopedName, manages: Option<DefinitionId>) -> Option<DefinitionId> {
        let target = self.resolve(base)?;
        let found = match target {
            Target::Definition(id) => match self.origin(id) {
                Some((Origin::Home(home), _)) => Some((id, home.manages)),
                _ => None,
            },
            _ => None,
        };
        let Some((id, managed)) = found else {
            let message = format!("cannot inherit from `{}`", base.written());
            self.report(error(message, base.span, "a home inherits from a home"));
            return None;
        };
        let manages = manages?;
        if manages != managed && !self.facts[manages.index()].lineage.contains(&managed) {
            let message = format!("`{}` manages another component", base.written());
            let label =
                format!("it manages `{}`, which must be the same or a base", self.model.scoped_name(managed));
            self.report(error(message, base.span, label));
            return None;
        }
        Some(id)
    }

    /// The valuetype that identifies components: it inherits from `Components::PrimaryKeyBase` and has public state only.
    fn primary_key(&mut self, name: &ScopedName) -> Option<DefinitionId> {
        let target = self.resolve(name)?;
        let problem = match target {
            Target::Definition(id) => match &self.model.definition(id).kind {
                DefinitionKind::ValueType(it) => {
                    let base = self.model.find("Components::PrimaryKeyBase");
                    let derived = base.is_some_and(|base| self.facts[id.index()].lineage.contains(&base));
                    if !derived {
                        "it must inherit from `Components::PrimaryKeyBase`"
                    } else if it.state.is_empty() {
                        "it needs a state member to tell components apart"
                    } else if it.state.iter().any(|member| !member.public) {
                        "its state must be public"
                    } else {
                        return Some(id);
                    }
                }
                _ => "a valuetype is expected",
            },
            _ => "a valuetype is expected",
        };
        self.report(error(format!("`{}` cannot be a primary key", name.written()), name.span, problem));
        None
    }
}

fn plain(name: &Name, doc: &str, bases: Vec<ScopedName>, items: Option<Vec<Item>>) -> Interface {
    let flavor = InterfaceFlavor::Plain;
    Interface { name: name.clone(), doc: doc.into(), flavor, bases, items }
}

fn annotated(annotations: &[syntax::Annotation], item: Item) -> Item {
    if annotations.is_empty() { item } else { Item::Annotated(annotations.to_vec(), Box::new(item)) }
}

/// The scoped name that a port's type is written as.
fn written(ty: &TypeSpec) -> Option<&ScopedName> {
    match ty {
        TypeSpec::Named(name) => Some(name),
        _ => None,
    }
}
