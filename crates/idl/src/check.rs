//! Syntax tree to model: the rules of CORBA 3.4 part 1, 7.6 to 7.20.
//!
//! One walk in the order of the text, since IDL declares before it uses. What is wrong is reported and left out, or
//! kept in part, so that the walk goes on; a model is handed out only if nothing was wrong.

mod annotation;
mod bits;
mod component;
mod constant;
mod constructed;
mod fixed;
mod float;
mod implied;
mod import;
mod interface;
mod native;
mod repository;
mod scope;
mod union;
mod value;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::Diagnostics;
use crate::diagnostics::{Diagnostic, Reporter, error, warning};
use crate::limits;
use crate::model::{
    Constant, Definition, DefinitionId, DefinitionKind, Model, Module, Type, Typedef, ValueBox,
};
use crate::source::{FileId, Span};
use crate::syntax::{Expression, Field, Item, Name, TypeSpec};
use scope::{Scope, Target};

/// Checks a specification.
pub(crate) fn check(
    items: Vec<Item>,
    reporter: Reporter,
    reply_handlers: bool,
) -> Result<Model, Diagnostics> {
    let mut checker = Checker::new(reporter);
    checker.items(&items);
    if reply_handlers && !checker.reporter.has_errors() {
        checker.reply_handlers();
    }
    checker.finish()
}

struct Checker {
    reporter: Reporter,
    /// The model as far as it has grown; its sources and warnings come last.
    model: Model,
    /// What is known of each definition beyond the model, by its index.
    facts: Vec<Facts>,
    /// Scope 0 is that of the file level; that of a definition is its index plus 1.
    scopes: Vec<Scope>,
    /// The definition whose scope declarations go to.
    current: Option<DefinitionId>,
    /// What `#pragma prefix` says here.
    prefix: Rc<str>,
    /// The prefixes of the files that include the present one.
    outer_prefixes: Vec<Rc<str>>,
    /// Names used by the operation that is being declared: they are part of its scope.
    uses: Option<Vec<Name>>,
    /// `#pragma ID` and `#pragma version` of operations and attributes.
    feature_ids: HashMap<(DefinitionId, String), repository::Naming>,
    imports: Vec<import::Pending>,
    /// Where operations and attributes are declared of which it was reported that they hide a type.
    collided: HashSet<Span>,
    /// It was reported that Components.idl is missing.
    without_components: bool,
    steps: u64,
}

/// What the checker knows of a definition.
#[derive(Default)]
struct Facts {
    /// A value of it can be laid out: its body has ended.
    complete: bool,
    /// Something in it was wrong: what follows from that is not reported again.
    broken: bool,
    /// How deep definitions nest in it, see [`limits::DEPTH`].
    depth: u32,
    /// It is, or holds, this local interface.
    local: Option<DefinitionId>,
    /// All that it inherits names from, nearest first.
    lineage: Rc<[DefinitionId]>,
    naming: repository::Naming,
}

impl Checker {
    fn new(reporter: Reporter) -> Self {
        let model = Model {
            sources: Arc::default(),
            definitions: Vec::new(),
            top_level: Vec::new(),
            imports: Vec::new(),
            warnings: Diagnostics::default(),
        };
        Checker {
            reporter,
            model,
            facts: Vec::new(),
            scopes: vec![Scope::default()],
            current: None,
            prefix: "".into(),
            outer_prefixes: Vec::new(),
            uses: None,
            feature_ids: HashMap::new(),
            imports: Vec::new(),
            collided: HashSet::new(),
            without_components: false,
            steps: 0,
        }
    }

    fn finish(mut self) -> Result<Model, Diagnostics> {
        self.check_forwards();
        self.assign_repository_ids();
        self.resolve_imports();
        let failed = self.reporter.has_errors();
        let diagnostics = self.reporter.finish();
        if failed {
            return Err(diagnostics);
        }
        Ok(Model { sources: diagnostics.sources(), warnings: diagnostics, ..self.model })
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.reporter.report(diagnostic);
    }

    /// Counts work that may grow faster than the text; an error ends what would take too long.
    fn work(&mut self, steps: usize, span: Span) {
        self.steps += steps as u64;
        if self.steps > limits::STEPS {
            self.reporter.stop(error("names, inheritance or constants are too entangled to check", span, ""));
        }
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            if self.reporter.stopped() {
                return;
            }
            self.item(item);
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Module { name, doc, items } => self.module(name, doc, items),
            Item::Constant { name, doc, ty, value } => self.constant(name, doc, ty, value),
            Item::Typedef(field) => self.typedef(field),
            Item::Native { name, doc } => {
                let id = self.declare(name, doc, DefinitionKind::Native);
                self.facts[id.index()].complete = true;
            }
            Item::Constructed(it) => {
                self.constructed(it);
            }
            Item::Interface(it) => self.interface(it),
            Item::Value(it) if it.event => self.event(it),
            Item::Value(it) => self.value(it),
            Item::Component(it) => self.component(it),
            Item::Home(it) => self.home(it),
            // The parser gives these inside components and homes only.
            Item::Port(_) | Item::Finder { .. } => {}
            Item::ValueBox { name, doc, ty } => self.value_box(name, doc, ty),
            Item::Operation(it) => self.operation(it),
            Item::Attribute(it) => self.attribute(it),
            Item::State { public, field } => self.state(*public, field),
            Item::Factory { name, doc, parameters, raises } => self.factory(name, doc, parameters, raises),
            Item::TypeId { name, id, span } => self.type_id(name, id, *span),
            Item::TypePrefix { name, prefix, span } => self.type_prefix(name.as_ref(), prefix, *span),
            Item::Import(it) => self.import(it),
            Item::Annotated(annotations, it) => self.annotated(annotations, it),
            Item::AnnotationType(it) => self.annotation_type(it),
            Item::Bitset(it) => self.bitset(it),
            Item::Bitmask(it) => self.bitmask(it, &[]),
            Item::Pragma(pragma) => self.pragma(pragma),
            Item::EnterFile => {
                let outer = std::mem::replace(&mut self.prefix, "".into());
                self.outer_prefixes.push(outer);
            }
            Item::LeaveFile => self.prefix = self.outer_prefixes.pop().unwrap_or_default(),
        }
    }

    /// Runs `inner` with declarations going to the scope of `id`; a prefix set there ends with it.
    fn within(&mut self, id: DefinitionId, inner: impl FnOnce(&mut Self)) {
        let outer = self.current.replace(id);
        let prefix = self.prefix.clone();
        inner(self);
        self.prefix = prefix;
        self.current = outer;
    }

    /// Adds a definition to the present scope. If its name is taken, that is reported and it cannot be found by it.
    fn declare(&mut self, name: &Name, doc: &str, kind: DefinitionKind) -> DefinitionId {
        let id = DefinitionId(self.model.definitions.len() as u32);
        self.model.definitions.push(Definition {
            id,
            name: name.text.to_string(),
            parent: self.current,
            repository_id: String::new(),
            doc: doc.into(),
            span: name.span,
            included: name.span.file != FileId(0),
            contents: Vec::new(),
            annotations: Vec::new(),
            kind,
        });
        self.facts.push(Facts { naming: repository::Naming::under(self.prefix.clone()), ..Facts::default() });
        self.scopes.push(Scope::default());
        match self.current {
            Some(parent) => self.model.definitions[parent.index()].contents.push(id),
            None => self.model.top_level.push(id),
        }
        self.declare_name(name, Target::Definition(id));
        id
    }

    fn kind_mut(&mut self, id: DefinitionId) -> &mut DefinitionKind {
        &mut self.model.definitions[id.index()].kind
    }

    fn module(&mut self, name: &Name, doc: &str, items: &[Item]) {
        let known = self.declared_here(&name.text);
        let known = known.filter(|id| matches!(self.model.definition(*id).kind, DefinitionKind::Module(_)));
        let id = match known {
            Some(id) => {
                let definition = &mut self.model.definitions[id.index()];
                definition.included &= name.span.file != FileId(0);
                if !doc.is_empty() {
                    let gap = if definition.doc.is_empty() { "" } else { "\n\n" };
                    definition.doc += gap;
                    definition.doc += doc;
                }
                id
            }
            None => self.declare(name, doc, DefinitionKind::Module(Module::default())),
        };
        if let DefinitionKind::Module(module) = self.kind_mut(id) {
            module.openings.push(name.span);
        }
        self.within(id, |it| it.items(items));
    }

    fn constant(&mut self, name: &Name, doc: &str, ty: &TypeSpec, value: &Expression) {
        let evaluated = self.constant_type(ty).and_then(|ty| self.constant_value(ty, value));
        let broken = evaluated.is_none();
        let (ty, value) = evaluated.unwrap_or((Type::Boolean, crate::model::Value::Boolean(false)));
        let id = self.declare(name, doc, DefinitionKind::Constant(Constant { ty, value }));
        self.facts[id.index()].broken = broken;
    }

    fn typedef(&mut self, field: &Field) {
        let base = self.ty(&field.ty);
        for declarator in &field.declarators {
            let ty = base.clone().and_then(|ty| self.declared_type(ty, declarator));
            if let Some(ty) = &ty {
                self.require_complete(ty, type_span(&field.ty));
                self.forbid_native_within(ty, type_span(&field.ty));
            }
            let broken = ty.is_none();
            let (depth, local) = ty.as_ref().map_or((0, None), |ty| (self.depth(ty), self.local(ty)));
            let kind = DefinitionKind::Typedef(Typedef { ty: ty.unwrap_or(Type::Any) });
            let id = self.declare(&declarator.name, &field.doc, kind);
            self.facts[id.index()].broken = broken;
            self.complete(id, depth, local);
        }
    }

    fn value_box(&mut self, name: &Name, doc: &str, ty: &TypeSpec) {
        let boxed = self.ty(ty);
        if let Some(boxed) = &boxed {
            let span = type_span(ty);
            self.require_complete(boxed, span);
            self.forbid_native(boxed, span);
            if let Type::Named(id) = self.model.resolve_alias(boxed) {
                let kind = &self.model.definition(*id).kind;
                if matches!(kind, DefinitionKind::ValueType(_) | DefinitionKind::ValueBox(_)) {
                    let label = "a valuetype needs no box";
                    self.report(error("a boxed value cannot hold a valuetype", span, label));
                }
            }
        }
        let (depth, local) = boxed.as_ref().map_or((0, None), |ty| (self.depth(ty), self.local(ty)));
        let broken = boxed.is_none();
        let id =
            self.declare(name, doc, DefinitionKind::ValueBox(ValueBox { ty: boxed.unwrap_or(Type::Any) }));
        self.facts[id.index()].broken = broken;
        self.complete(id, depth, local);
    }

    /// A file that comes with this crate.
    fn is_built_in_file(&self, span: Span) -> bool {
        self.reporter.sources.path(span.file).starts_with('<')
    }

    /// Forward declarations that were never followed by a definition.
    fn check_forwards(&mut self) {
        let mut missing = Vec::new();
        for definition in &self.model.definitions {
            let (span, name) = (definition.span, &definition.name);
            match &definition.kind {
                DefinitionKind::Struct(_) | DefinitionKind::Union(_)
                    if !self.facts[definition.id.index()].complete
                        && !self.facts[definition.id.index()].broken =>
                {
                    let label = "its size must be known before the end of the file";
                    missing.push(error(format!("`{name}` is declared and never defined"), span, label));
                }
                DefinitionKind::Interface(it) if !it.defined && !self.is_built_in_file(span) => {
                    let label = "references to it can be passed on, not called";
                    missing.push(warning(format!("interface `{name}` is never defined"), span, label));
                }
                DefinitionKind::ValueType(it) if !it.defined => {
                    let label = "values of it can be passed on, not made";
                    missing.push(warning(format!("valuetype `{name}` is never defined"), span, label));
                }
                _ => {}
            }
        }
        for diagnostic in missing {
            self.report(diagnostic);
        }
    }
}

/// Where to point for a type.
fn type_span(ty: &TypeSpec) -> Span {
    match ty {
        TypeSpec::Named(name) => name.span,
        TypeSpec::Simple(_, span) | TypeSpec::String { span, .. } | TypeSpec::Fixed { span, .. } => *span,
        TypeSpec::Sequence { element, .. } => type_span(element),
        TypeSpec::Map { key, .. } => type_span(key),
        TypeSpec::Constructed(it) => it.name.span,
    }
}
