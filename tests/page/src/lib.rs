//! The examples of docs/mapping.md. Each IDL block of the page is compiled by the generator into a module here, and each Rust block is a
//! doctest of [`Page`] that sees the module of the last IDL block before it: what the page shows is what the generator makes.
#![deny(warnings)]

include!(concat!(env!("OUT_DIR"), "/modules.rs"));

#[doc = include_str!(concat!(env!("OUT_DIR"), "/page.md"))]
#[allow(rustdoc::all)]
pub struct Page;
