//! The Rust peer of the interop tests: a server and a client for every type that zorb maps.
//!
//! | module | what |
//! |---|---|
//! | [`every`] | what `zorb_build` made of `../idl/every.idl` |
//! | [`sample`], [`types`] | the samples of every type and their text, as `../cases.md` defines both |
//! | `echoes` | the echo operations: names and types, once |
//! | [`beyond`], [`hidden`] | the same of `../idl/beyond.idl` and `hidden.idl` |
//! | [`newer`] | the same of `../idl/newer.idl`, which no other peer has |
//! | [`graphs`], [`kinds`] | values of valuetypes and anys, and their text |
//! | [`tracing`] | interceptors that send and answer service contexts |
//! | [`servants`] | what the server publishes, and what the client lends it for callbacks |
//! | [`cases`] | what the client does, one function for each group of `../cases.md` |
//! | [`recode`] | what each operation's messages hold, for messages that were captured |
//! | [`report`] | one line a case |
//! | [`options`] | the command line that all peers share |
#![forbid(unsafe_code)]

#[macro_use]
mod echoes;

pub mod cases;
pub mod graphs;
pub mod kinds;
pub mod options;
pub mod recode;
pub mod report;
pub mod sample;
pub mod servants;
pub mod tracing;
pub mod types;

/// The generated Rust.
pub mod every {
    zorb::include_idl!("every");
}

/// The generated Rust.
pub mod beyond {
    zorb::include_idl!("beyond");
}

/// The generated Rust.
pub mod newer {
    zorb::include_idl!("newer");
}

/// The generated Rust.
pub mod hidden {
    zorb::include_idl!("hidden");
}
