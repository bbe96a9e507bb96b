//! That all of it is there: this crate would not be compiled if anything in it could not be, or made Rust that is wrong.

use zorb_test_published::COUNTS;

#[test]
fn published_interfaces_become_rust() {
    let required = std::env::var_os("ZORB_REQUIRE_PEERS").is_some_and(|it| it == "1");
    if !cfg!(giop) {
        println!("the IDL of JacORB's packages is not unpacked (tests/interop/install tools): left out");
        assert!(!required, "published IDL is missing");
    }
    if !cfg!(all(services, omniorb)) {
        println!("/usr/share/idl/omniORB is not installed (omniorb-idl, libomniorb4-dev): left out");
        assert!(!required, "published IDL is missing");
        return;
    }
    let (mut files, mut interfaces, mut lines) = (0, 0, 0);
    for (name, count, idl, own, definitions, rust) in COUNTS {
        println!(
            "{name}: {count} files, {idl} lines of IDL, {own} interfaces, {definitions} definitions; {rust} lines of Rust"
        );
        files += count;
        interfaces += own;
        lines += idl;
    }
    // As omniORB 4.2.5 installs them; later ones may have more.
    assert!(
        files >= 70 && interfaces >= 320 && lines >= 7_500,
        "{files} files, {interfaces} interfaces, {lines} lines"
    );
}

/// Interfaces of several files meet in one text, and are those that programs know.
#[cfg(services)]
#[test]
fn services_refer_to_each_other() {
    use zorb::Interface;
    use zorb_test_published::services::{CosEventComm, CosNaming, CosNotifyComm};
    assert_eq!(CosNaming::NamingContext::INFO.id, "IDL:omg.org/CosNaming/NamingContext:1.0");
    let bases = CosNotifyComm::StructuredPushConsumer::INFO.ancestors;
    assert!(bases.contains(&"IDL:omg.org/CosNotifyComm/NotifyPublish:1.0"), "{bases:?}");
    let consumer: fn(CosNotifyComm::PushConsumer) -> CosEventComm::PushConsumer = From::from;
    let _ = consumer;
}
