//! The Naming Service's own IDL, whose repository ids are known.

use zorb_idl::model::{DefinitionKind, Type};
use zorb_idl::{Memory, Options, compile};

#[test]
fn naming_service_has_its_repository_ids() {
    let text = include_str!("../../../idl/CosNaming.idl");
    let files = Memory::new([("CosNaming.idl", text)]);
    let model =
        compile(&files, "CosNaming.idl", &Options::default()).unwrap_or_else(|errors| panic!("{errors}"));
    assert!(model.warnings().is_empty(), "{}", model.warnings());
    for (name, id) in [
        ("CosNaming", "IDL:omg.org/CosNaming:1.0"),
        ("CosNaming::NameComponent", "IDL:omg.org/CosNaming/NameComponent:1.0"),
        ("CosNaming::BindingIterator", "IDL:omg.org/CosNaming/BindingIterator:1.0"),
        ("CosNaming::NamingContext", "IDL:omg.org/CosNaming/NamingContext:1.0"),
        ("CosNaming::NamingContext::NotFound", "IDL:omg.org/CosNaming/NamingContext/NotFound:1.0"),
        ("CosNaming::NamingContextExt", "IDL:omg.org/CosNaming/NamingContextExt:1.0"),
        (
            "CosNaming::NamingContextExt::InvalidAddress",
            "IDL:omg.org/CosNaming/NamingContextExt/InvalidAddress:1.0",
        ),
    ] {
        assert_eq!(model.definition(model.find(name).expect(name)).repository_id, id);
    }

    let ext = model.find("CosNaming::NamingContextExt").expect("declared above");
    let base = model.find("CosNaming::NamingContext").expect("declared above");
    assert_eq!(model.ancestors(ext), [base]);
    let operations: Vec<&str> = model.all_operations(ext).map(|(_, it)| it.name.as_str()).collect();
    assert_eq!(
        operations,
        [
            "to_string",
            "to_name",
            "to_url",
            "resolve_str",
            "bind",
            "rebind",
            "bind_context",
            "rebind_context",
            "resolve",
            "unbind",
            "new_context",
            "bind_new_context",
            "destroy",
            "list"
        ]
    );
    let (_, resolve) = model.all_operations(base).find(|(_, it)| it.name == "resolve").expect("resolve");
    assert_eq!((resolve.returns.as_ref(), resolve.raises.len()), (Some(&Type::Object), 3));
    assert_eq!(resolve.doc, "What the name is bound to.");

    let component = model.find("CosNaming::NameComponent").expect("declared above");
    assert_eq!(model.minimum_size(&Type::Named(component)), 8);
    let DefinitionKind::Enum(kinds) =
        &model.definition(model.find("CosNaming::BindingType").expect("enum")).kind
    else {
        panic!("not an enum")
    };
    assert_eq!(kinds.enumerators[0].doc, "an object");
    assert_eq!(kinds.enumerators[1].doc, "a naming context, which takes part in resolving longer names");
}
