//! The corners of the language: a file for each production of the grammar (CORBA 3.4 part 1, §7.4), and more for words and for what IDL 4.2
//! added. All are read, and become Rust; that this compiles, `tests/published` shows.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use zorb_build::Config;
use zorb_idl::{Memory, Options, compile};

/// The productions, as the grammar names them. What `unsigned short` and the like have as productions of their own are here as one word.
const PRODUCTIONS: &str = "
    specification definition module interface interface_dcl forward_dcl interface_header interface_body export
    interface_inheritance_spec interface_name scoped_name value value_forward_dcl value_box_dcl value_abs_dcl value_dcl value_header
    value_inheritance_spec value_name value_element state_member init_dcl init_param_decls init_param_decl init_param_attribute
    const_dcl const_type const_exp or_expr xor_expr and_expr shift_expr add_expr mult_expr unary_expr unary_operator primary_expr literal
    boolean_literal positive_int_const type_dcl type_declarator type_spec simple_type_spec base_type_spec template_type_spec
    constr_type_spec declarators declarator simple_declarator complex_declarator floating_pt_type integer_type signed_int
    signed_short_int signed_long_int signed_longlong_int unsigned_int unsigned_short_int unsigned_long_int unsigned_longlong_int
    char_type wide_char_type boolean_type octet_type any_type object_type struct_type member_list member union_type switch_type_spec
    switch_body case case_label element_spec enum_type enumerator sequence_type string_type wide_string_type array_declarator
    fixed_array_size attr_dcl except_dcl op_dcl op_attribute op_type_spec parameter_dcls param_dcl param_attribute raises_expr
    context_expr param_type_spec fixed_pt_type fixed_pt_const_type value_base_type constr_forward_decl import imported_scope
    type_id_dcl type_prefix_dcl readonly_attr_spec readonly_attr_declarator attr_spec attr_declarator attr_raises_expr get_excep_expr
    set_excep_expr exception_list component component_forward_dcl component_dcl component_header supported_interface_spec
    component_inheritance_spec component_body component_export provides_dcl interface_type uses_dcl emits_dcl publishes_dcl
    consumes_dcl home_dcl home_header home_inheritance_spec primary_key_spec home_body home_export factory_dcl finder_dcl event
    event_forward_dcl event_abs_dcl event_dcl event_header
";

#[test]
fn each_production_has_a_file_that_is_read_and_becomes_rust() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../idl/tests/corners"));
    let mut names = BTreeSet::new();
    let mut wrong = Vec::new();
    let (mut definitions, mut rust) = (0, 0);
    for entry in fs::read_dir(folder).expect("the folder is part of the repository") {
        let path = entry.expect("readable").path();
        let name = path.file_stem().and_then(|it| it.to_str()).expect("names are ASCII").to_owned();
        let files = Memory::new([("corner.idl", fs::read(&path).expect("readable"))]);
        match compile(&files, "corner.idl", &Options::default()) {
            Ok(model) => {
                definitions += model.definitions().iter().filter(|it| !it.included).count();
                if !model.warnings().is_empty() {
                    wrong.push(format!("{name}: {}", model.warnings().render(false)));
                }
            }
            Err(errors) => wrong.push(format!("{name}: {errors}")),
        }
        match Config::new().generate_from(&files, &["corner.idl"]) {
            Ok(generated) if generated.text.contains("compile_error!") => wrong.push(generated.text),
            Ok(generated) => rust += generated.text.lines().count(),
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
        names.insert(name);
    }
    println!("{} legal corner files, {definitions} definitions; {rust} lines of Rust", names.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let missing: Vec<&str> = PRODUCTIONS.split_whitespace().filter(|it| !names.contains(*it)).collect();
    assert!(missing.is_empty(), "no file for {missing:?}");
}
