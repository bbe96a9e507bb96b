//! Models into repositories. What has the repository id of something that is known is that: files that include the same
//! file give its definitions once. Only a forward declaration gives way to what defines it.

use std::collections::HashMap;
use std::sync::Arc;

use zorb_cdr::{TCKind, TypeCode};
use zorb_idl::model::{self, DefinitionKind, Direction, Feature, Type};
use zorb_idl::{DefinitionId, Model};
use zorb_orb::dynamic::{Mode, Signature};

use super::{
    AttributeContent, Content, Definition, DescriptionError, InterfaceContent, OperationContent, Place,
    Repository, ValueContent, constant, types,
};
use crate::form::{self, Form};

impl Repository {
    /// Adds what a model declares and is not known yet, by repository id.
    ///
    /// # Errors
    /// A type that no TypeCode can describe; what came before it has been added.
    pub fn add(&mut self, model: &Model) -> Result<(), DescriptionError> {
        let mut import = Import { to: self, model, places: HashMap::new() };
        model.definitions().iter().try_for_each(|definition| import.definition(definition))
    }

    /// A new definition, or that which has the id.
    pub(super) fn put(&mut self, parent: Option<Place>, id: &str, name: &str, content: Content) -> Place {
        if let Some(known) = self.place_of(id) {
            let definition = &mut self.definitions[known.0];
            if !is_defined(&definition.content) {
                definition.content = content;
            }
            return known;
        }
        let place = Place(self.definitions.len());
        let scoped_name = match parent {
            Some(parent) => format!("{}::{name}", self.at(parent).scoped_name),
            None => name.to_owned(),
        };
        let version = match id.strip_prefix("IDL:").and_then(|id| id.rsplit_once(':')) {
            Some((_, version)) => version,
            None => "1.0",
        };
        self.by_id.insert(id.to_owned(), place);
        self.by_name.entry(scoped_name.clone()).or_insert(place);
        self.definitions.push(Definition {
            id: id.to_owned(),
            name: name.to_owned(),
            scoped_name,
            version: version.to_owned(),
            parent,
            contents: Vec::new(),
            content,
        });
        match parent {
            Some(parent) => self.definitions[parent.0].contents.push(place),
            None => self.top_level.push(place),
        }
        place
    }
}

fn is_defined(content: &Content) -> bool {
    match content {
        Content::Interface(interface) => interface.defined,
        Content::Value(value) => value.defined,
        _ => true,
    }
}

struct Import<'a> {
    to: &'a mut Repository,
    model: &'a Model,
    places: HashMap<DefinitionId, Place>,
}

impl Import<'_> {
    fn definition(&mut self, of: &model::Definition) -> Result<(), DescriptionError> {
        let content = match &of.kind {
            DefinitionKind::Module(_) => Content::Module,
            DefinitionKind::Constant(it) => {
                let ty = self.type_code(of.id, &it.ty)?;
                Content::Constant { value: constant::value(ty, &it.value) }
            }
            DefinitionKind::Interface(it) => Content::Interface(InterfaceContent {
                ty: self.own(of)?,
                bases: self.ids(&it.bases),
                defined: it.defined,
            }),
            DefinitionKind::ValueType(it) => Content::Value(self.value(of, it)?),
            DefinitionKind::Annotation(_) => return Ok(()),
            _ => Content::Type(self.own(of)?),
        };
        let parent = of.parent.and_then(|parent| self.places.get(&parent).copied());
        let known_before = self.to.place_of(&of.repository_id).map(|it| is_defined(&self.to.at(it).content));
        let place = self.to.put(parent, &of.repository_id, &of.name, content);
        self.places.insert(of.id, place);
        if known_before != Some(true) {
            self.to.keep_forms(&of.repository_id, form::of_parts(self.model, &of.kind));
            for feature in self.model.features(of.id) {
                self.feature(of, place, feature)?;
            }
        }
        Ok(())
    }

    fn own(&self, of: &model::Definition) -> Result<TypeCode, DescriptionError> {
        self.type_code(of.id, &Type::Named(of.id))
    }

    fn type_code(&self, of: DefinitionId, ty: &Type) -> Result<TypeCode, DescriptionError> {
        types::type_code(self.model, ty)
            .map_err(|why| DescriptionError { of: self.model.scoped_name(of), why })
    }

    fn id(&self, of: DefinitionId) -> String {
        self.model.definition(of).repository_id.clone()
    }

    fn ids(&self, of: &[DefinitionId]) -> Vec<String> {
        of.iter().map(|id| self.id(*id)).collect()
    }

    fn value(&self, of: &model::Definition, it: &model::ValueType) -> Result<ValueContent, DescriptionError> {
        let (concrete, abstracts): (Vec<_>, Vec<_>) =
            it.bases.iter().copied().partition(|base| !types::is_abstract(self.model, *base));
        let mut initializers = Vec::new();
        for factory in &it.factories {
            let signature = Signature::new(&factory.name);
            let signature = self.parameters(of.id, signature, &factory.parameters)?;
            initializers.push(Arc::new(self.raises(of.id, signature, &factory.raises)?));
        }
        Ok(ValueContent {
            ty: self.own(of)?,
            base: concrete.first().map(|base| self.id(*base)),
            abstract_bases: self.ids(&abstracts),
            supports: self.ids(&it.supports),
            initializers,
            defined: it.defined,
        })
    }

    fn feature(
        &mut self,
        of: &model::Definition,
        parent: Place,
        feature: &Feature,
    ) -> Result<(), DescriptionError> {
        let (id, name, content) = match feature {
            Feature::Operation(it) => {
                let mut signature = self.parameters(of.id, Signature::new(&it.name), &it.parameters)?;
                if let Some(ty) = &it.returns {
                    signature = signature.gives(self.type_code(of.id, ty)?);
                }
                for name in &it.context {
                    signature = signature.context(name);
                }
                if it.oneway {
                    signature = signature.oneway();
                }
                signature.contexts.clone_from(&it.context);
                let signature = Arc::new(self.raises(of.id, signature, &it.raises)?);
                let result = it.returns.as_ref().map_or(Form::AsDescribed, Form::of);
                let parameters = it.parameters.iter().map(|parameter| Form::of(&parameter.ty));
                self.keep_forms(&it.repository_id, std::iter::once(result).chain(parameters).collect());
                let content = OperationContent { signature };
                (&it.repository_id, &it.name, Content::Operation(content))
            }
            Feature::Attribute(it) => {
                let ty = self.type_code(of.id, &it.ty)?;
                self.keep_forms(&it.repository_id, vec![Form::of(&it.ty)]);
                let get = Signature::new(format!("_get_{}", it.name)).gives(ty.clone());
                let get = Arc::new(self.raises(of.id, get, &it.get_raises)?);
                let set = match it.readonly {
                    true => None,
                    false => {
                        let set = Signature::new(format!("_set_{}", it.name)).takes("value", ty);
                        Some(Arc::new(self.raises(of.id, set, &it.set_raises)?))
                    }
                };
                (&it.repository_id, &it.name, Content::Attribute(AttributeContent { get, set }))
            }
        };
        self.to.put(Some(parent), id, name, content);
        Ok(())
    }

    fn keep_forms(&mut self, id: &str, forms: Vec<Form>) {
        if self.to.place_of(id).is_none() {
            self.to.keep_forms(id, forms);
        }
    }

    fn parameters(
        &self,
        of: DefinitionId,
        mut signature: Signature,
        parameters: &[model::Parameter],
    ) -> Result<Signature, DescriptionError> {
        for parameter in parameters {
            let mode = match parameter.direction {
                Direction::In => Mode::In,
                Direction::Out => Mode::Out,
                Direction::InOut => Mode::InOut,
            };
            signature = signature.parameter(&parameter.name, mode, self.type_code(of, &parameter.ty)?);
        }
        Ok(signature)
    }

    fn raises(
        &self,
        of: DefinitionId,
        mut signature: Signature,
        raises: &[DefinitionId],
    ) -> Result<Signature, DescriptionError> {
        for raised in raises {
            let exception = self.type_code(of, &Type::Named(*raised))?;
            // What IDL lets pass for one, such as a native, is none.
            if exception.kind() == TCKind::Except {
                signature = signature.raises(exception);
            }
        }
        Ok(signature)
    }
}
