//! Interfaces that are learnt at run time: what IDL declares as data, and values as text.
//!
//! `zorb_orb::dynamic` calls any operation of which a `Signature` is known, with `Any`s; this crate says where the
//! signatures come from, and how people write and read the values.
//!
//! | module | what |
//! |---|---|
//! | [`repository`] | [`Repository`]: what IDL files declare, each type with its TypeCode |
//! | [`interface`] | [`Interface`]: what can be called at an object |
//! | [`form`] | [`Form`]: what IDL says of a type and its TypeCode does not |
//! | [`type_name`] | TypeCodes as IDL writes types |
//! | [`ifr`] | the interface repository: descriptions served as CORBA objects, and read from them |
//! | [`fuzz`] | bodies of fuzz targets |
//! | [`written`] | [`Notation`]: values as JSON and as literals, both ways, by their TypeCode |
//!
//! ```
//! use zorb_dynamic::{Notation, Repository};
//! use zorb_idl::{Memory, Options, compile};
//! use zorb_orb::Orb;
//!
//! let files = Memory::new([("map.idl", "struct Point { short x, y; }; interface Map { string name_of(in Point at); };")]);
//! let repository = Repository::of_model(&compile(&files, "map.idl", &Options::default()).unwrap())?;
//! let map = repository.interface("IDL:Map:1.0").unwrap();
//! let at = &map.operation("name_of").unwrap().parameters[0].ty;
//!
//! let orb = Orb::builder().build();
//! let notation = Notation::new(&orb, &repository);
//! let point = notation.from_literal("{x: 1, y: -2}", at)?;
//! assert_eq!(notation.to_json(&point)?.to_string(), r#"{"x":1,"y":-2}"#);
//! let told = notation.from_literal("{x: 1, y: 40000}", at).unwrap_err().to_string();
//! assert_eq!(told, "y: 40000 is out of range for short");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Dependencies
//!
//! `serde_json` reads and prints JSON, `base64` octets in it; `rustc_apfloat` reads and prints `long double` in full
//! precision, which no stable type of Rust has; `zorb-build` generates the interface repository's stubs at build time.
#![forbid(unsafe_code)]

pub mod form;
pub mod fuzz;
pub mod ifr;
pub mod interface;
pub mod repository;
pub mod type_name;
pub mod written;

pub use form::Form;
pub use interface::Interface;
pub use repository::{Definition, Repository};
pub use written::{Notation, WrittenError};
