//! What is generated, and where everything lies: the Rust path of every definition of a model.
//!
//! Every IDL scope becomes a Rust module: a module one of its own name, an interface `Account` (or a struct that
//! has types nested in it) the module `account` beside the type. A definition that an included file brings in and
//! that an `extern_module` covers lies in another crate: it has a path, and is not generated.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use proc_macro2::TokenStream;
use zorb_idl::model::{
    Definition, DefinitionId, DefinitionKind, Feature, Interface, InterfaceFlavor, Model, Origin, ValueType,
};

use crate::choices::Choices;
use crate::layout::Layouts;
use crate::names::{self, Names};
use crate::scope::is_local;

/// A Rust module.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Home {
    /// Where its path starts: where the generated text is included, or a path of another crate.
    pub(crate) external: Option<Rc<str>>,
    /// The modules from there.
    pub(crate) path: Vec<String>,
}

impl Home {
    fn inner(&self, module: &str) -> Home {
        let mut inner = self.clone();
        inner.path.push(module.to_owned());
        inner
    }
}

/// Where the definitions of one model lie.
pub(crate) struct Plan<'m> {
    pub(crate) model: &'m Model,
    /// The path of the runtime module, such as `::zorb::rt`.
    pub(crate) runtime: TokenStream,
    choices: &'m Choices,
    pub(crate) layouts: Layouts<'m>,
    places: Vec<Option<Place>>,
    /// The names of each module of our own.
    modules: HashMap<Vec<String>, Names>,
    /// The constants of the whole text, which other models may contribute to.
    constants: Rc<Constants>,
    /// By the file and the module of an interface, and what its operations raise: the first enum of just these exceptions.
    errors: HashMap<(&'m str, Home, Vec<DefinitionId>), (DefinitionId, String)>,
    /// The reply handler of each interface that has one.
    handlers: HashMap<DefinitionId, DefinitionId>,
    /// By file and interface: the trait of what a local object, or a value, offers of an interface that is not local. It stands in the
    /// inner module of the first local interface or valuetype of the file that inherits from it or supports it.
    faces: HashMap<(&'m str, DefinitionId), (DefinitionId, String)>,
}

/// The constants in each module of our own: what a parameter in that module keeps clear of, since a pattern that names a
/// constant does not bind.
#[derive(Default)]
pub(crate) struct Constants(HashMap<Vec<String>, Vec<String>>);

impl Constants {
    /// Those of several models that become one text.
    pub(crate) fn of(plans: &[Plan<'_>]) -> Constants {
        let mut constants: HashMap<Vec<String>, Vec<String>> = HashMap::new();
        for plan in plans {
            for definition in plan.model.definitions() {
                if let DefinitionKind::Constant(_) = definition.kind
                    && plan.is_own(definition.id)
                {
                    let place = plan.place_of(definition.id);
                    constants.entry(place.home.path.clone()).or_default().push(place.name.clone());
                }
            }
        }
        Constants(constants)
    }
}

/// Where one definition lies.
pub(crate) struct Place {
    pub(crate) home: Home,
    /// Its own name there.
    pub(crate) name: String,
    /// The module for what is nested in it.
    pub(crate) inner: Option<String>,
    /// What an interface brings with it.
    pub(crate) interface: Option<InterfaceNames>,
    /// What a valuetype brings with it that has more than state.
    pub(crate) value: Option<ValueNames>,
}

/// The names that an interface brings with it.
pub(crate) struct InterfaceNames {
    pub(crate) servant: String,
    /// Its own calls in IDL order.
    pub(crate) calls: Vec<CallNames>,
    /// The error enums of those that raise.
    pub(crate) errors: Vec<ErrorNames>,
}

/// The names that a valuetype brings with it.
pub(crate) struct ValueNames {
    /// The trait of what can be called on its values, if anything can.
    pub(crate) operations: Option<String>,
    /// The trait of its initializers, if it has any.
    pub(crate) factory: Option<String>,
    /// Its own calls in IDL order.
    pub(crate) calls: Vec<CallNames>,
    /// Its initializers in IDL order.
    pub(crate) factories: Vec<CallNames>,
    /// The error enums of those that raise.
    pub(crate) errors: Vec<ErrorNames>,
}

/// Which part of a feature a call is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Operation,
    Get,
    Set,
    /// An initializer of a valuetype; the position is that among these.
    Make,
}

/// The names of one call: an operation, or reading or writing an attribute.
pub(crate) struct CallNames {
    /// The position of the feature in its interface.
    pub(crate) feature: usize,
    pub(crate) part: Part,
    /// The method.
    pub(crate) method: String,
    /// Its twin that does not block.
    pub(crate) twin: String,
    /// Its error type in the inner module, if it raises anything.
    pub(crate) error: Option<String>,
    /// Servants may answer it later.
    pub(crate) deferred: bool,
}

/// An error enum and its other names.
pub(crate) struct ErrorNames {
    pub(crate) name: String,
    /// The interface beside this one that has the enum, and its name there. They are of one file, so that the same
    /// interface has it whatever else is generated with them.
    pub(crate) same_as: Option<(DefinitionId, String)>,
    /// The names after those operations that raise the same exceptions.
    pub(crate) aliases: Vec<String>,
    pub(crate) exceptions: Vec<DefinitionId>,
    /// The method that it is named after, for its docs.
    pub(crate) method: String,
}

impl<'m> Plan<'m> {
    pub(crate) fn new(
        model: &'m Model,
        runtime: TokenStream,
        externals: &BTreeMap<String, String>,
        choices: &'m Choices,
    ) -> Plan<'m> {
        let places = model.definitions().iter().map(|_| None).collect();
        let mut plan = Plan {
            model,
            runtime,
            choices,
            layouts: Layouts::new(model),
            places,
            modules: HashMap::new(),
            constants: Rc::default(),
            errors: HashMap::new(),
            handlers: model.definitions().iter().filter_map(handles).collect(),
            faces: HashMap::new(),
        };
        let root = Home { external: None, path: Vec::new() };
        let mut externals = externals.clone();
        for module in ["CORBA", "Messaging"] {
            if uses_built_in(model, module) {
                let path = plan.runtime.to_string().replace(' ', "") + "::" + module;
                externals.entry(module.to_owned()).or_insert(path);
            }
        }
        let external =
            externals.get("").map(|path| Home { external: Some(path.as_str().into()), path: Vec::new() });
        plan.place(model.top_level(), Some(root), external, &externals);
        plan
    }

    /// Places the contents of one scope, and all that is nested in them. Those of our own and those of another
    /// crate do not meet in one Rust module, so their names do not avoid each other.
    fn place(
        &mut self,
        contents: &[DefinitionId],
        own: Option<Home>,
        external: Option<Home>,
        externals: &BTreeMap<String, String>,
    ) {
        for is_external in [true, false] {
            let Some(home) = (if is_external { &external } else { &own }) else { continue };
            let within = |id: &&DefinitionId| {
                let included = self.model.definition(**id).included || own.is_none();
                (included && external.is_some()) == is_external
            };
            let contents: Vec<DefinitionId> = contents.iter().filter(within).copied().collect();
            let mut names = self.modules.remove(&home.path).filter(|_| !is_external).unwrap_or_default();
            for id in &contents {
                let definition = self.model.definition(*id);
                let name = match definition.kind {
                    DefinitionKind::Constant(_) => names.declare(&names::constant(&definition.name)),
                    _ => names.declare(&definition.name),
                };
                let place = Place { home: home.clone(), name, inner: None, interface: None, value: None };
                self.places[id.index()] = Some(place);
            }
            for id in &contents {
                self.derive(*id, &mut names);
            }
            if !is_external {
                self.modules.insert(home.path.clone(), names);
            }
            for id in contents {
                let definition = self.model.definition(id);
                if let DefinitionKind::Module(_) = definition.kind {
                    let outside = externals.get(&self.model.scoped_name(id));
                    let outside = match outside {
                        Some(path) => Some(Home { external: Some(path.as_str().into()), path: Vec::new() }),
                        None => external.as_ref().map(|home| home.inner(&definition.name)),
                    };
                    let inside = own.as_ref().map(|home| home.inner(&self.place_of(id).name));
                    self.place(&definition.contents, inside, outside, externals);
                } else if let Some(inner) = &self.place_of(id).inner {
                    let inner = home.inner(inner);
                    let (own, external) = if is_external { (None, Some(inner)) } else { (Some(inner), None) };
                    self.place(&definition.contents, own, external, externals);
                    match &definition.kind {
                        DefinitionKind::Interface(interface) => self.derive_within(id, interface),
                        DefinitionKind::ValueType(it) => self.derive_within_value(id, it),
                        _ => {}
                    }
                }
            }
        }
    }

    /// Names what the definition brings into its own scope.
    fn derive(&mut self, id: DefinitionId, names: &mut Names) {
        let definition = self.model.definition(id);
        let (inner, interface) = match &definition.kind {
            DefinitionKind::Interface(interface) => {
                let inner = names.derive(names::snake(&definition.name));
                let servant = names.derive(format!("{}Servant", definition.name));
                let mut calls = own_calls(&interface.features);
                for call in &mut calls {
                    let feature = interface.features[call.feature].name();
                    call.deferred = self.choices.is_deferred(self.model, id, feature);
                }
                let errors = Vec::new();
                (Some(inner), Some(InterfaceNames { servant, calls, errors }))
            }
            DefinitionKind::ValueType(it) if can_be_called(self.model, id) || !it.factories.is_empty() => {
                let inner = names.derive(names::snake(&definition.name));
                let operations = can_be_called(self.model, id)
                    .then(|| names.derive(format!("{}Operations", definition.name)));
                let factory =
                    (!it.factories.is_empty()).then(|| names.derive(format!("{}Factory", definition.name)));
                let (calls, factories) = (own_calls(&it.features), own_factories(it));
                let value = ValueNames { operations, factory, calls, factories, errors: Vec::new() };
                if let Some(place) = &mut self.places[id.index()] {
                    place.value = Some(value);
                }
                (Some(inner), None)
            }
            DefinitionKind::Module(_) => (None, None),
            _ if definition.contents.is_empty() => (None, None),
            _ => (Some(names.derive(names::snake(&definition.name))), None),
        };
        if let Some(place) = &mut self.places[id.index()] {
            (place.inner, place.interface) = (inner, interface);
        }
    }

    /// Names what an interface brings into its inner scope, beside the names of its nested definitions.
    fn derive_within(&mut self, id: DefinitionId, interface: &Interface) {
        let mut names = self.names_within(id);
        let Some(place) = &mut self.places[id.index()] else { return };
        let Some(of) = &mut place.interface else { return };
        let file = self.model.location(self.model.definition(id).span).path;
        for call in &mut of.calls {
            let mut exceptions = raised(&interface.features[call.feature], call.part).to_vec();
            if exceptions.is_empty() {
                continue;
            }
            let name = names.derive(error_name(interface.features[call.feature].name(), call.part));
            call.error = Some(name.clone());
            exceptions.sort();
            exceptions.dedup();
            match of.errors.iter_mut().find(|error| error.exceptions == exceptions) {
                Some(error) => error.aliases.push(name),
                None => {
                    let first = self.errors.entry((file, place.home.clone(), exceptions.clone()));
                    let first = first.or_insert_with(|| (id, name.clone())).clone();
                    let same_as = (first.0 != id).then_some(first);
                    let method = call.method.clone();
                    of.errors.push(ErrorNames { name, same_as, aliases: Vec::new(), exceptions, method });
                }
            }
        }
        let bases = match interface.flavor {
            InterfaceFlavor::Local => self.model.ancestors(id),
            _ => Vec::new(),
        };
        self.end_within(id, bases, names);
    }

    /// The same of a valuetype. Its errors are its own.
    fn derive_within_value(&mut self, id: DefinitionId, it: &ValueType) {
        let mut names = self.names_within(id);
        let Some(place) = &mut self.places[id.index()] else { return };
        let Some(of) = &mut place.value else { return };
        for call in of.calls.iter_mut().chain(&mut of.factories) {
            let (name, raises) = match call.part {
                Part::Make => (it.factories[call.feature].name.as_str(), &*it.factories[call.feature].raises),
                part => (it.features[call.feature].name(), raised(&it.features[call.feature], part)),
            };
            let mut exceptions = raises.to_vec();
            if exceptions.is_empty() {
                continue;
            }
            let name = names.derive(error_name(name, call.part));
            call.error = Some(name.clone());
            exceptions.sort();
            exceptions.dedup();
            match of.errors.iter_mut().find(|error| error.exceptions == exceptions) {
                Some(error) => error.aliases.push(name),
                None => {
                    let (method, aliases) = (call.method.clone(), Vec::new());
                    of.errors.push(ErrorNames { name, same_as: None, aliases, exceptions, method });
                }
            }
        }
        self.end_within(id, supported(self.model, it), names);
    }

    /// Names the local faces of what it is based on, and keeps the names of its inner scope for the definitions there.
    fn end_within(&mut self, id: DefinitionId, bases: Vec<DefinitionId>, mut names: Names) {
        let file = self.model.location(self.model.definition(id).span).path;
        for base in bases.into_iter().filter(|base| !is_local(self.model, *base)) {
            let name = &self.model.definition(base).name;
            let face = self.faces.entry((file, base));
            face.or_insert_with(|| (id, names.declare(name)));
        }
        let Some(place) = &self.places[id.index()] else { return };
        if place.home.external.is_none()
            && let Some(inner) = &place.inner
        {
            let path = place.home.inner(inner).path;
            self.modules.insert(path, names);
        }
    }

    /// The names that what is nested in a definition has in its inner module.
    fn names_within(&self, id: DefinitionId) -> Names {
        let mut names = Names::default();
        for nested in &self.model.definition(id).contents {
            let place = self.place_of(*nested);
            names.avoid(&place.name);
            place.inner.iter().for_each(|inner| names.avoid(inner));
        }
        names
    }

    /// Tells what constants the whole text has.
    pub(crate) fn with_constants(mut self, constants: &Rc<Constants>) -> Self {
        self.constants = constants.clone();
        self
    }

    /// The names that the parameters of a call in this module keep clear of.
    pub(crate) fn beside_parameters(&self, module: &[String]) -> Names {
        let mut names = Names::beside_locals();
        self.constants.0.get(module).into_iter().flatten().for_each(|constant| names.avoid(constant));
        names
    }

    /// Where a definition lies.
    pub(crate) fn place_of(&self, id: DefinitionId) -> &Place {
        self.places[id.index()].as_ref().expect("every definition is in the contents of its scope")
    }

    /// The names of an interface.
    pub(crate) fn interface(&self, id: DefinitionId) -> &InterfaceNames {
        self.place_of(id).interface.as_ref().expect("only asked of interfaces")
    }

    /// The trait of what can be called on values of a type, if anything can.
    pub(crate) fn value_operations(&self, id: DefinitionId) -> Option<&str> {
        self.place_of(id).value.as_ref()?.operations.as_deref()
    }

    /// The reply handler of an interface, if it has one.
    pub(crate) fn handler(&self, interface: DefinitionId) -> Option<DefinitionId> {
        self.handlers.get(&interface).copied()
    }

    /// Where the trait is of what objects of a local interface, or values, offer of an interface that is not local, and that they
    /// inherit from or support: in whose inner module, and its name there.
    pub(crate) fn face(&self, local: DefinitionId, base: DefinitionId) -> (DefinitionId, &str) {
        let file = self.model.location(self.model.definition(local).span).path;
        let (owner, name) = &self.faces[&(file, base)];
        (*owner, name)
    }

    /// Whether a module of our own has an item of this name.
    pub(crate) fn is_taken(&self, module: &[String], name: &str) -> bool {
        self.modules.get(module).is_some_and(|names| names.contains(name))
    }

    /// The modules of our own that have an item of this name.
    pub(crate) fn modules_with(&self, name: &str) -> impl Iterator<Item = &[String]> {
        self.modules.iter().filter(move |(_, names)| names.contains(name)).map(|(path, _)| path.as_slice())
    }

    /// The Rust type that the build script names for a native one.
    pub(crate) fn native(&self, id: DefinitionId) -> Option<TokenStream> {
        self.choices.rust_of(self.model, id)
    }

    /// Whether the definition is to be generated, not only referred to.
    pub(crate) fn is_own(&self, id: DefinitionId) -> bool {
        self.place_of(id).home.external.is_none()
    }
}

/// Whether the model has a module of a built-in file, such as `orb.idl`, whose types the runtime has; and not a file of the
/// user's that has the same module.
fn uses_built_in(model: &Model, module: &str) -> bool {
    let Some(module) = model.find(module) else { return false };
    let mut contents = model.definition(module).contents.iter();
    contents.any(|id| model.location(model.definition(*id).span).path.starts_with('<'))
}

/// An interface and its reply handler, if the definition is one.
fn handles(definition: &Definition) -> Option<(DefinitionId, DefinitionId)> {
    match &definition.kind {
        DefinitionKind::Interface(Interface { origin: Origin::ReplyHandler(of), .. }) => {
            Some((*of, definition.id))
        }
        _ => None,
    }
}

/// The exceptions that a call raises, as the IDL lists them.
pub(crate) fn raised(feature: &Feature, part: Part) -> &[DefinitionId] {
    match (feature, part) {
        (Feature::Operation(it), _) => &it.raises,
        (Feature::Attribute(it), Part::Set) => &it.set_raises,
        (Feature::Attribute(it), _) => &it.get_raises,
    }
}

/// Whether a valuetype has operations or attributes: its own, inherited, or of what it supports.
fn can_be_called(model: &Model, id: DefinitionId) -> bool {
    let own = |id: DefinitionId| match &model.definition(id).kind {
        DefinitionKind::ValueType(it) => !it.features.is_empty() || !it.supports.is_empty(),
        _ => false,
    };
    own(id) || model.ancestors(id).into_iter().any(own)
}

/// The interfaces that a valuetype itself supports, and their bases, each once.
pub(crate) fn supported(model: &Model, it: &ValueType) -> Vec<DefinitionId> {
    let mut all = Vec::new();
    for id in &it.supports {
        let inherited = model.ancestors(*id);
        all.extend(std::iter::once(*id).chain(inherited));
    }
    let mut seen = HashSet::new();
    all.retain(|id| seen.insert(*id));
    all
}

/// The name of what a call may raise.
fn error_name(name: &str, part: Part) -> String {
    let name = names::camel(name);
    match part {
        Part::Operation | Part::Make => name + "Error",
        Part::Get => format!("Get{name}Error"),
        Part::Set => format!("Set{name}Error"),
    }
}

/// The functions that a valuetype's initializers become.
fn own_factories(it: &ValueType) -> Vec<CallNames> {
    let mut names = Names::default();
    let made = it.factories.iter().enumerate().map(|(feature, factory)| CallNames {
        feature,
        part: Part::Make,
        method: names.declare(&factory.name),
        twin: String::new(),
        error: None,
        deferred: false,
    });
    made.collect()
}

/// Which calls an interface's or a valuetype's own features make.
fn own_calls(features: &[Feature]) -> Vec<CallNames> {
    let mut names = Names::default();
    let parts = features.iter().enumerate();
    let parts: Vec<(usize, Part)> =
        parts.flat_map(|(at, feature)| parts_of(feature).map(move |it| (at, it))).collect();
    let methods = methods(&mut names, parts.iter().map(|(at, part)| (features[*at].name(), *part)));
    let calls = parts.into_iter().zip(methods);
    calls
        .map(|((feature, part), (method, twin))| CallNames {
            feature,
            part,
            method,
            twin,
            error: None,
            deferred: false,
        })
        .collect()
}

fn parts_of(feature: &Feature) -> impl Iterator<Item = Part> + use<> {
    let (first, second) = match feature {
        Feature::Operation(_) => (Part::Operation, None),
        Feature::Attribute(it) => (Part::Get, (!it.readonly).then_some(Part::Set)),
    };
    std::iter::once(first).chain(second)
}

/// The method and its twin for each call in turn. The names that the IDL spells are taken first.
pub(crate) fn methods<'a>(
    names: &mut Names,
    calls: impl Iterator<Item = (&'a str, Part)> + Clone,
) -> Vec<(String, String)> {
    let spelt: Vec<Option<String>> =
        calls.clone().map(|(name, part)| (part != Part::Set).then(|| names.declare(name))).collect();
    let mut methods = Vec::new();
    for ((name, _), spelt) in calls.zip(spelt) {
        let method = spelt.unwrap_or_else(|| names.derive(format!("set_{name}")));
        methods.push(method);
    }
    methods.into_iter().map(|method| (method.clone(), names.derive(format!("{method}_async")))).collect()
}
