//! The interfaces that a bridge knows: what the operations of IDL carry, as far as there may be references in it.

use std::collections::HashMap;
use std::sync::Arc;

use zorb_idl::model::{
    Attribute, DefinitionId, DefinitionKind, Direction, Feature, InterfaceFlavor, Operation, Type, Value,
};
use zorb_idl::{Model, model};

use crate::shape::{Shape, Union, which_may_refer};

/// The interfaces of some IDL: types by which a bridge finds the references in what passes through it.
///
/// ```
/// use zorb_bridge::Interfaces;
/// use zorb_idl::{Memory, Options, compile};
///
/// let files = Memory::new([("bank.idl", "interface Account {}; interface Bank { Account open(in string owner); };")]);
/// let mut interfaces = Interfaces::default();
/// interfaces.add(&compile(&files, "bank.idl", &Options::default()).unwrap());
/// assert_eq!(interfaces.len(), 2);
/// ```
#[derive(Debug)]
pub struct Interfaces {
    /// Structs and unions.
    names: Vec<Shape>,
    names_by_id: HashMap<String, usize>,
    interfaces: Vec<Interface>,
    interfaces_by_id: HashMap<String, usize>,
    /// Operations of all interfaces, by name; `None` where two that differ have the same.
    by_name: HashMap<String, Option<Arc<Signature>>>,
}

#[derive(Debug, Default)]
struct Interface {
    defined: bool,
    /// All that it inherits.
    ancestors: Vec<usize>,
    operations: HashMap<String, Arc<Signature>>,
}

/// What an operation carries. Each list ends with the last value that may hold a reference, so that an empty one is not
/// looked at.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Signature {
    pub(crate) arguments: Vec<Shape>,
    pub(crate) results: Vec<Shape>,
    /// By repository id: members.
    pub(crate) exceptions: HashMap<String, Vec<Shape>>,
}

/// None but what all objects have.
impl Default for Interfaces {
    fn default() -> Self {
        let signature = |results| Some(Arc::new(Signature { results, ..Signature::default() }));
        let with = ["_interface", "_component"].map(|name| (name, signature(vec![Shape::Reference(None)])));
        let without = ["_is_a", "_non_existent", "_not_existent", "_repository_id"];
        let without = without.map(|name| (name, signature(Vec::new())));
        Interfaces {
            names: Vec::new(),
            names_by_id: HashMap::new(),
            interfaces: Vec::new(),
            interfaces_by_id: HashMap::new(),
            by_name: with.into_iter().chain(without).map(|(name, it)| (name.to_owned(), it)).collect(),
        }
    }
}

impl Interfaces {
    /// Adds what an IDL file and those that it includes define. Definitions that are known already, by their repository ids,
    /// stay as they are.
    pub fn add(&mut self, model: &Model) {
        let mut adding = Adding { of: self, model, names: HashMap::new(), interfaces: HashMap::new() };
        let (new_names, new_interfaces) = adding.name();
        adding.shapes(&new_names);
        let may_refer = which_may_refer(&self.names);
        let adding = Adding { of: self, model, names: HashMap::new(), interfaces: HashMap::new() };
        adding.known().signatures(&new_interfaces, &may_refer);
    }

    /// How many interfaces there are.
    pub fn len(&self) -> usize {
        self.interfaces.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.interfaces.is_empty()
    }

    pub(crate) fn names(&self) -> &[Shape] {
        &self.names
    }

    /// What an operation of an interface carries: by the interface where that has it; by the name alone where all interfaces
    /// that have one of that name agree on it.
    pub(crate) fn signature(&self, interface: Option<usize>, operation: &str) -> Option<&Signature> {
        let interface = interface.and_then(|interface| self.interfaces.get(interface));
        match interface.and_then(|interface| interface.operations.get(operation)) {
            Some(signature) => Some(signature),
            None => self.by_name.get(operation)?.as_deref(),
        }
    }

    /// The interface of an object whose reference says `type_id`, and which was passed as a `declared`. What a reference says
    /// counts only for an interface that has inherited what it was passed as: a reference may come from anybody.
    pub(crate) fn of(&self, type_id: &str, declared: Option<usize>) -> Option<usize> {
        let Some(said) = self.interfaces_by_id.get(type_id).copied() else { return declared };
        match declared {
            None => Some(said),
            Some(declared) if self.interfaces[said].ancestors.contains(&declared) => Some(said),
            Some(declared) => Some(declared),
        }
    }
}

struct Adding<'i, 'm> {
    of: &'i mut Interfaces,
    model: &'m Model,
    names: HashMap<DefinitionId, usize>,
    interfaces: HashMap<DefinitionId, usize>,
}

impl Adding<'_, '_> {
    /// Numbers what has none, and finds the numbers of what has. Gives the new ones.
    fn name(&mut self) -> (Vec<DefinitionId>, Vec<DefinitionId>) {
        let (mut new_names, mut new_interfaces) = (Vec::new(), Vec::new());
        for definition in self.model.definitions() {
            let id = &definition.repository_id;
            match &definition.kind {
                DefinitionKind::Struct(_) | DefinitionKind::Union(_) => {
                    let next = self.of.names.len();
                    let index = *self.of.names_by_id.entry(id.clone()).or_insert(next);
                    if index == next {
                        self.of.names.push(Shape::Opaque);
                        new_names.push(definition.id);
                    }
                    self.names.insert(definition.id, index);
                }
                DefinitionKind::Interface(interface) => {
                    let next = self.of.interfaces.len();
                    let index = *self.of.interfaces_by_id.entry(id.clone()).or_insert(next);
                    if index == next {
                        self.of.interfaces.push(Interface::default());
                    }
                    if interface.defined && !self.of.interfaces[index].defined {
                        self.of.interfaces[index].defined = true;
                        new_interfaces.push(definition.id);
                    }
                    self.interfaces.insert(definition.id, index);
                }
                _ => {}
            }
        }
        (new_names, new_interfaces)
    }

    /// The numbers of all that has one.
    fn known(mut self) -> Self {
        for definition in self.model.definitions() {
            let id = &definition.repository_id;
            match &definition.kind {
                DefinitionKind::Struct(_) | DefinitionKind::Union(_) => {
                    self.names.extend(self.of.names_by_id.get(id).map(|index| (definition.id, *index)));
                }
                DefinitionKind::Interface(_) => {
                    let index = self.of.interfaces_by_id.get(id);
                    self.interfaces.extend(index.map(|index| (definition.id, *index)));
                }
                _ => {}
            }
        }
        self
    }

    fn shapes(&mut self, new: &[DefinitionId]) {
        for id in new {
            let shape = match &self.model.definition(*id).kind {
                DefinitionKind::Struct(of) => Shape::Struct(self.members(&of.members)),
                DefinitionKind::Union(of) => self.union(of),
                _ => Shape::Opaque,
            };
            if let Some(index) = self.names.get(id) {
                self.of.names[*index] = shape;
            }
        }
    }

    fn members(&self, members: &[model::Member]) -> Vec<Shape> {
        members.iter().map(|member| self.shape(&member.ty)).collect()
    }

    fn union(&self, of: &model::Union) -> Shape {
        let discriminator = self.shape(&of.discriminator);
        let bits = match discriminator {
            Shape::Number(size) if size < 8 => u64::MAX >> (64 - 8 * size),
            _ => u64::MAX,
        };
        let label = |value: &Value| match value {
            Value::Char(octet) => u64::from(*octet),
            Value::WChar(unit) => u64::from(*unit),
            Value::Boolean(value) => u64::from(*value),
            Value::Enumerator { index, .. } => u64::from(*index),
            // As the octets of a negative number read: two's complement.
            value => value.as_integer().unwrap_or_default() as u64 & bits,
        };
        let arms = of
            .arms
            .iter()
            .flat_map(|arm| arm.labels.iter().map(move |value| (label(value), self.shape(&arm.ty))));
        let arms = arms.collect();
        let default = of.default_arm().map_or(Shape::Nothing, |arm| self.shape(&arm.ty));
        Shape::Union(Box::new(Union { discriminator, arms, default }))
    }

    fn shape(&self, ty: &Type) -> Shape {
        match ty {
            Type::Boolean | Type::Octet | Type::Int8 | Type::UInt8 | Type::Char => Shape::Number(1),
            Type::Short | Type::UnsignedShort => Shape::Number(2),
            Type::Long | Type::UnsignedLong | Type::Float => Shape::Number(4),
            Type::LongLong | Type::UnsignedLongLong | Type::Double => Shape::Number(8),
            Type::LongDouble => Shape::Number(16),
            Type::WChar => Shape::WideChar,
            Type::String { .. } => Shape::Text,
            Type::WString { .. } => Shape::WideText,
            Type::Sequence { element, .. } => Shape::Sequence(Box::new(self.shape(element))),
            // Its pairs, one after another.
            Type::Map { key, value, .. } => {
                Shape::Sequence(Box::new(Shape::Struct(vec![self.shape(key), self.shape(value)])))
            }
            Type::Array { element, dimensions } => {
                let count = dimensions.iter().map(|dimension| *dimension as usize);
                Shape::Array(Box::new(self.shape(element)), count.fold(1, usize::saturating_mul))
            }
            Type::Fixed { digits, .. } => Shape::Octets(usize::from(*digits) / 2 + 1),
            Type::Any => Shape::Any,
            Type::TypeCode => Shape::TypeCode,
            Type::Object => Shape::Reference(None),
            Type::AbstractBase => Shape::Abstract,
            Type::Named(id) => self.named(*id),
            _ => Shape::Opaque,
        }
    }

    fn named(&self, id: DefinitionId) -> Shape {
        match &self.model.definition(id).kind {
            DefinitionKind::Typedef(of) => self.shape(&of.ty),
            DefinitionKind::Enum(_) => Shape::Number(4),
            DefinitionKind::Bitmask(of) => bits(of.bit_bound),
            DefinitionKind::Bitset(of) => bits(of.bits),
            DefinitionKind::Struct(_) | DefinitionKind::Union(_) => {
                self.names.get(&id).map_or(Shape::Opaque, |index| Shape::Named(*index))
            }
            DefinitionKind::Interface(of) => match of.flavor {
                InterfaceFlavor::Plain => Shape::Reference(self.interfaces.get(&id).copied()),
                InterfaceFlavor::Abstract => Shape::Abstract,
                InterfaceFlavor::Local => Shape::Opaque,
            },
            _ => Shape::Opaque,
        }
    }

    fn signatures(self, new: &[DefinitionId], may_refer: &[bool]) {
        let ends = |mut shapes: Vec<Shape>| {
            let last = shapes.iter().rposition(|shape| shape.may_refer(may_refer));
            shapes.truncate(last.map_or(0, |last| last + 1));
            shapes
        };
        for id in new {
            let mut operations = HashMap::new();
            for (_, feature) in self.model.all_features(*id) {
                let of_feature = match feature {
                    Feature::Operation(operation) => vec![self.operation(operation)],
                    Feature::Attribute(attribute) => self.attribute(attribute),
                };
                for (name, signature) in of_feature {
                    let exceptions = signature.exceptions.into_iter();
                    let signature = Arc::new(Signature {
                        arguments: ends(signature.arguments),
                        results: ends(signature.results),
                        exceptions: exceptions.map(|(id, members)| (id, ends(members))).collect(),
                    });
                    let by_name =
                        self.of.by_name.entry(name.clone()).or_insert_with(|| Some(signature.clone()));
                    if by_name.as_ref().is_some_and(|other| *other != signature) {
                        *by_name = None;
                    }
                    operations.insert(name, signature);
                }
            }
            let ancestors = self.model.ancestors(*id);
            let ancestors = ancestors.iter().filter_map(|id| self.interfaces.get(id).copied()).collect();
            if let Some(index) = self.interfaces.get(id) {
                let interface = &mut self.of.interfaces[*index];
                (interface.operations, interface.ancestors) = (operations, ancestors);
            }
        }
    }

    fn operation(&self, operation: &Operation) -> (String, Signature) {
        let way = |ways: [Direction; 2]| {
            let parameters = operation.parameters.iter().filter(move |one| ways.contains(&one.direction));
            parameters.map(|one| self.shape(&one.ty))
        };
        let result = operation.returns.iter().map(|ty| self.shape(ty));
        let signature = Signature {
            arguments: way([Direction::In, Direction::InOut]).collect(),
            results: result.chain(way([Direction::Out, Direction::InOut])).collect(),
            exceptions: self.exceptions(&operation.raises),
        };
        (operation.name.clone(), signature)
    }

    fn attribute(&self, attribute: &Attribute) -> Vec<(String, Signature)> {
        let results = vec![self.shape(&attribute.ty)];
        let exceptions = self.exceptions(&attribute.get_raises);
        let get = Signature { results, exceptions, ..Signature::default() };
        let mut both = vec![(format!("_get_{}", attribute.name), get)];
        if !attribute.readonly {
            let arguments = vec![self.shape(&attribute.ty)];
            let exceptions = self.exceptions(&attribute.set_raises);
            let set = Signature { arguments, exceptions, ..Signature::default() };
            both.push((format!("_set_{}", attribute.name), set));
        }
        both
    }

    fn exceptions(&self, raised: &[DefinitionId]) -> HashMap<String, Vec<Shape>> {
        let of = |id: &DefinitionId| {
            let definition = self.model.definition(*id);
            match &definition.kind {
                DefinitionKind::Exception(of) => {
                    Some((definition.repository_id.clone(), self.members(&of.members)))
                }
                _ => None,
            }
        };
        raised.iter().filter_map(of).collect()
    }
}

/// The smallest integer that holds so many bits.
fn bits(count: u8) -> Shape {
    Shape::Number(usize::from(count).max(1).div_ceil(8).next_power_of_two())
}
