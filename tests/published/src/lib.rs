//! What zorb makes of published IDL and of the corners of the language, compiled: nothing here would be, if any of it could not be, or
//! made Rust that is wrong. All is checked as a library's is, and its documentation; as nothing depends on it, machine code is made of what the tests use.
#![deny(warnings)]

/// The services of the OMG.
#[cfg(services)]
pub mod services {
    zorb::include_idl!("services");
}

/// What omniORB declares for itself, module CORBA included.
#[cfg(omniorb)]
pub mod omniorb {
    zorb::include_idl!("omniorb");
}

/// GIOP and what it includes, as Java's RMI over IIOP declares it.
#[cfg(giop)]
pub mod giop {
    zorb::include_idl!("giop");
}

/// The corners of the language, a module for each file.
pub mod corners {
    use zorb::cdr::{DecodeError, Decoder, EncodeError, Encoder};

    include!(concat!(env!("OUT_DIR"), "/corners.rs"));

    macro_rules! as_declared {
        ($($value:ty),*) => {$(
            impl zorb::CustomMarshal for $value {
                fn marshal<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
                    self.encode_members(to)
                }

                fn unmarshal(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
                    Self::decode_members(from)
                }
            }
        )*};
    }
    as_declared!(value_header::V, event_header::A);
}

#[cfg(test)]
mod published {
    /// Of each of the sets of files above: its name, how many files it is made of, lines of IDL, interfaces, definitions, and lines of Rust.
    const COUNTS: &[(&str, usize, usize, usize, usize, usize)] =
        include!(concat!(env!("OUT_DIR"), "/counts.rs"));

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
        use super::services::{CosEventComm, CosNaming, CosNotifyComm};
        use zorb::Interface;
        assert_eq!(CosNaming::NamingContext::INFO.id, "IDL:omg.org/CosNaming/NamingContext:1.0");
        let bases = CosNotifyComm::StructuredPushConsumer::INFO.ancestors;
        assert!(bases.contains(&"IDL:omg.org/CosNotifyComm/NotifyPublish:1.0"), "{bases:?}");
        let consumer: fn(CosNotifyComm::PushConsumer) -> CosEventComm::PushConsumer = From::from;
        let _ = consumer;
    }
}
