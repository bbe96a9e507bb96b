//! Implied IDL: the reply handlers of asynchronous calls. CORBA 3.3 part 1, 17.
//!
//! ```text
//! interface Account {                            interface AMI_AccountHandler : Messaging::ReplyHandler {
//!   attribute string owner;                        void get_owner(in string ami_return_val);
//!                                                  void get_owner_excep(in Messaging::ExceptionHolder excep_holder);
//!                                                  void set_owner();
//!                                                  void set_owner_excep(in Messaging::ExceptionHolder excep_holder);
//!   long pay(in long sum, out string receipt);     void pay(in long ami_return_val, in string receipt);
//!                                                  void pay_excep(in Messaging::ExceptionHolder excep_holder);
//! };                                             };
//! ```
//!
//! The handlers are made of the model when all else has been checked: names in them are resolved where the interface stands.

use std::collections::{HashMap, HashSet};

use super::Checker;
use crate::model::{
    Attribute, DefinitionId, DefinitionKind, Direction, Feature, Interface, InterfaceFlavor, Operation,
    Origin, Parameter, Type,
};
use crate::syntax::Name;

impl Checker {
    /// Adds the handler of every interface that can be called from other processes.
    pub(super) fn reply_handlers(&mut self) {
        let (Some(root), Some(holder)) =
            (self.model.find("Messaging::ReplyHandler"), self.model.find("Messaging::ExceptionHolder"))
        else {
            return;
        };
        let interfaces: Vec<DefinitionId> = self.model.definitions.iter().filter_map(has_handler).collect();
        let mut handlers = HashMap::new();
        for id in interfaces.iter().copied().filter(|id| *id != root) {
            handlers.insert(id, self.declare_handler(id));
        }
        for (interface, handler) in &handlers {
            let mut bases: Vec<DefinitionId> =
                self.model.bases(*interface).iter().filter_map(|base| handlers.get(base).copied()).collect();
            if bases.is_empty() {
                bases.push(root);
            }
            let features = self.model.features(*interface).iter().flat_map(|it| answers(it, holder));
            let features = told_apart(features.collect());
            *self.kind_mut(*handler) = DefinitionKind::Interface(Interface {
                flavor: InterfaceFlavor::Plain,
                bases,
                features,
                defined: true,
                origin: Origin::ReplyHandler(*interface),
            });
        }
    }

    /// `AMI_AccountHandler` beside `Account`; where that is taken, with more `AMI_` before it.
    fn declare_handler(&mut self, of: DefinitionId) -> DefinitionId {
        let interface = self.model.definition(of).clone();
        let beside = match interface.parent {
            Some(parent) => &self.model.definition(parent).contents,
            None => &self.model.top_level,
        };
        let taken: HashSet<String> =
            beside.iter().map(|it| self.model.definition(*it).name.to_ascii_lowercase()).collect();
        let mut name = format!("AMI_{}Handler", interface.name);
        while taken.contains(&name.to_ascii_lowercase()) {
            name.insert_str(0, "AMI_");
        }
        let outer = std::mem::replace(&mut self.current, interface.parent);
        let name = Name { text: name.into(), span: interface.span };
        let doc = format!("Takes the replies of asynchronous calls of `{}`.", interface.name);
        let id = self.declare(&name, &doc, DefinitionKind::Interface(Interface::default()));
        self.current = outer;
        self.facts[id.index()].naming.prefix = self.facts[of.index()].naming.prefix.clone();
        self.facts[id.index()].complete = true;
        self.model.definitions[id.index()].included = interface.included;
        id
    }
}

/// Where an interface has `x` and `x_excep` both, the later name gets `ami_` before it until it is free.
fn told_apart(mut features: Vec<Feature>) -> Vec<Feature> {
    let mut taken = HashSet::new();
    for feature in &mut features {
        if let Feature::Operation(it) = feature {
            while !taken.insert(it.name.to_ascii_lowercase()) {
                it.name.insert_str(0, "ami_");
            }
        }
    }
    features
}

/// The interface that a definition is, if calls of it are answered.
fn has_handler(definition: &crate::model::Definition) -> Option<DefinitionId> {
    let DefinitionKind::Interface(it) = &definition.kind else { return None };
    (it.defined && it.flavor == InterfaceFlavor::Plain).then_some(definition.id)
}

/// What a handler has for one operation or attribute: nothing for a oneway.
fn answers(feature: &Feature, holder: DefinitionId) -> Vec<Feature> {
    match feature {
        Feature::Operation(it) if it.oneway => Vec::new(),
        Feature::Operation(it) => {
            let back = it.parameters.iter().filter(|it| it.direction != Direction::In);
            let results = it.returns.iter().map(|ty| ("ami_return_val".to_owned(), ty.clone()));
            let results = results.chain(back.map(|it| (it.name.clone(), it.ty.clone()))).collect();
            answer(feature, &it.name, results, holder)
        }
        Feature::Attribute(Attribute { name, ty, readonly, .. }) => {
            let value = vec![("ami_return_val".to_owned(), ty.clone())];
            let mut all = answer(feature, &format!("get_{name}"), value, holder);
            if !readonly {
                all.extend(answer(feature, &format!("set_{name}"), Vec::new(), holder));
            }
            all
        }
    }
}

/// The operation that takes the results, and the one that takes an exception in their place.
fn answer(of: &Feature, name: &str, results: Vec<(String, Type)>, holder: DefinitionId) -> Vec<Feature> {
    let span = of.span();
    let operation = |name: String, parameters: Vec<(String, Type)>| {
        let parameter =
            |(name, ty)| Parameter { name, direction: Direction::In, ty, annotations: Vec::new(), span };
        Feature::Operation(Operation {
            name,
            repository_id: String::new(),
            oneway: false,
            returns: None,
            parameters: parameters.into_iter().map(parameter).collect(),
            raises: Vec::new(),
            context: Vec::new(),
            annotations: Vec::new(),
            doc: String::new(),
            span,
        })
    };
    let exception = vec![("excep_holder".to_owned(), Type::Named(holder))];
    vec![operation(name.to_owned(), results), operation(format!("{name}_excep"), exception)]
}
