//! Implied IDL: reply handlers, where they are asked for.

use zorb_idl::model::{DefinitionKind, Feature, Origin, Type};
use zorb_idl::{Memory, Model, Options, compile};

const TEXT: &str = "#pragma prefix \"x.org\"\nmodule m {\n\
    exception E {};\n\
    interface Base { typedef sequence<long> Longs; readonly attribute Longs all; };\n\
    interface Later;\n\
    abstract interface Shape { void draw(); };\n\
    interface Account : Base, Shape {\n\
      attribute string owner;\n\
      long pay(in long sum, inout Longs rest, out string receipt) raises (E);\n\
      oneway void nudge();\n\
      void pay_excep();\n\
    };\n\
    interface AMI_BaseHandler {};\n\
    local interface Here {};\n\
    interface Later : Base { void x(); };\n\
    };";

fn model(reply_handlers: bool) -> Model {
    let mut options = Options::default();
    options.reply_handlers = reply_handlers;
    compile(&Memory::new([("a.idl", TEXT)]), "a.idl", &options).unwrap_or_else(|errors| panic!("{errors}"))
}

/// An operation as one line.
fn line(model: &Model, feature: &Feature) -> String {
    let Feature::Operation(it) = feature else { panic!("{feature:?}") };
    assert!(it.returns.is_none() && it.raises.is_empty() && !it.oneway);
    let ty = |ty: &Type| match ty {
        Type::Named(id) => model.scoped_name(*id),
        other => format!("{other:?}"),
    };
    let parameters: Vec<String> =
        it.parameters.iter().map(|it| format!("{} {}", ty(&it.ty), it.name)).collect();
    format!("{}({})", it.name, parameters.join(", "))
}

#[test]
fn a_handler_has_two_operations_for_each_that_is_answered() {
    let model = model(true);
    let handler = model.find("m::AMI_AccountHandler").expect("it is made");
    let definition = model.definition(handler);
    assert_eq!(definition.repository_id, "IDL:x.org/m/AMI_AccountHandler:1.0");
    assert!(!definition.included);
    let DefinitionKind::Interface(it) = &definition.kind else { panic!("{definition:?}") };
    assert!(matches!(it.origin, Origin::ReplyHandler(of) if of == model.find("m::Account").unwrap()));
    let lines: Vec<String> = it.features.iter().map(|feature| line(&model, feature)).collect();
    let holder = "Messaging::ExceptionHolder excep_holder";
    assert_eq!(
        lines,
        [
            "get_owner(String { bound: None } ami_return_val)".to_owned(),
            format!("get_owner_excep({holder})"),
            "set_owner()".to_owned(),
            format!("set_owner_excep({holder})"),
            "pay(Long ami_return_val, m::Base::Longs rest, String { bound: None } receipt)".to_owned(),
            format!("pay_excep({holder})"),
            "ami_pay_excep()".to_owned(),
            format!("pay_excep_excep({holder})"),
        ]
    );
}

#[test]
fn handlers_inherit_as_their_interfaces_do() {
    let model = model(true);
    let bases = |name: &str| -> Vec<String> {
        let id = model.find(name).unwrap_or_else(|| panic!("{name} is made"));
        model.bases(id).iter().map(|base| model.scoped_name(*base)).collect()
    };
    // Beside the user's own of that name.
    assert_eq!(bases("m::AMI_AMI_BaseHandler"), ["Messaging::ReplyHandler"]);
    assert_eq!(bases("m::AMI_AccountHandler"), ["m::AMI_AMI_BaseHandler"]);
    assert_eq!(bases("m::AMI_LaterHandler"), ["m::AMI_AMI_BaseHandler"]);
    for none in ["m::AMI_ShapeHandler", "m::AMI_HereHandler", "Messaging::AMI_ReplyHandlerHandler"] {
        assert!(model.find(none).is_none(), "{none}");
    }
}

#[test]
fn without_being_asked_for_there_is_none() {
    let model = model(false);
    assert!(model.find("m::AMI_AccountHandler").is_none() && model.find("Messaging").is_none());
}
