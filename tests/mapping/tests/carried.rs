//! IDL that generated code carries along: with what it includes and the macros it was compiled with it is what it was.

use zorb::TCKind;
use zorb_dynamic::Repository;
use zorb_test_mapping::split::CARRIED_IDL;

#[test]
fn what_is_carried_is_compiled_again() {
    let repository = Repository::of_carried(&[&CARRIED_IDL]).unwrap();
    // Of the file that both include, and by the macro of the build script.
    let shared = repository.type_named("common::Shared").unwrap();
    assert_eq!(shared.member_type(0).unwrap().kind(), TCKind::ULong);
    let files: Vec<&str> = CARRIED_IDL.files.iter().map(|(name, _)| *name).collect();
    assert_eq!(files, ["0/split_b.idl", "1/split_a.idl", "2/split_common.idl"]);
    let at_build = zorb_idl::Options::default();
    for main in ["split_a.idl", "split_b.idl"] {
        let mut options = at_build.clone();
        options.defines.push(("LENGTH_TYPE".to_owned(), "unsigned long".to_owned()));
        let disk = zorb_build::Disk::new([]);
        let path = format!("{}/idl/{main}", env!("CARGO_MANIFEST_DIR"));
        let model = zorb_idl::compile(&disk, &path, &options).unwrap();
        for definition in Repository::of_model(&model).unwrap().definitions() {
            let carried = repository.definition(&definition.id).expect(&definition.id);
            assert_eq!(carried.type_code(), definition.type_code(), "{}", definition.id);
        }
    }
}
