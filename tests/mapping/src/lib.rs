//! Generated code, compiled with every lint denied: what a user's own crate would demand of it.
#![deny(warnings, missing_docs, unreachable_pub, clippy::all)]

/// Every mapped type, as the interop tests use them.
pub mod every {
    zorb::include_idl!("every");
}

/// Names that Rust would not take as they are, and names that meet.
pub mod names {
    zorb::include_idl!("names");
}

/// A small interface, for the crate that includes it and for the golden text.
pub mod bank {
    zorb::include_idl!("bank");
}

/// One module in two files.
pub mod split {
    zorb::include_idl!("split");
}

/// Operations with very many parameters.
pub mod wide {
    zorb::include_idl!("wide");
}

/// Decimal numbers.
pub mod decimals {
    zorb::include_idl!("decimals");
}

/// What IDL 4.2 added.
pub mod newer {
    zorb::include_idl!("newer");
}

/// Values with their types.
pub mod anys {
    zorb::include_idl!("anys");
}

/// Values of valuetypes.
pub mod values {
    zorb::include_idl!("values");
}

/// Operations that servants answer later.
pub mod later {
    zorb::include_idl!("later");
}
