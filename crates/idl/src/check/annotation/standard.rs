//! The annotations that IDL 4.2 defines in chapter 8, and those of DDS-XTypes 1.3 that IDL for data-centric systems uses.

use crate::model::Type;

/// One standard annotation.
pub(super) struct Standard {
    name: &'static str,
    /// Parameters with the values that they have where they are left out.
    pub(super) parameters: &'static [(&'static str, Kind, Default)],
    /// What it may be applied to; empty: anything.
    pub(super) on: &'static [&'static str],
}

/// What a parameter takes.
#[derive(Clone)]
pub(super) enum Kind {
    /// A constant of this type.
    Of(Type),
    /// Any constant.
    Any,
    /// A constant of the type of what is annotated.
    Annotated {
        /// Which has to be a number.
        number: bool,
    },
    /// One of these words.
    Words(&'static [&'static str]),
}

pub(super) enum Default {
    None,
    True,
    Text(&'static str),
    Word(&'static str),
}

const BOOLEAN: &[(&str, Kind, Default)] = &[("value", Kind::Of(Type::Boolean), Default::True)];
const STRING: Kind = Kind::Of(Type::String { bound: None });
const NUMBER: Kind = Kind::Annotated { number: true };
const MEMBERS: &[&str] = &["member", "state member", "union member"];
const TYPES: &[&str] =
    &["struct", "union", "enum", "bitset", "bitmask", "exception", "valuetype", "boxed value", "typedef"];
const VALUES: &[&str] = &[
    "member",
    "state member",
    "union member",
    "typedef",
    "attribute",
    "parameter",
    "constant",
    "boxed value",
];

const fn standard(
    name: &'static str,
    parameters: &'static [(&'static str, Kind, Default)],
    on: &'static [&'static str],
) -> Standard {
    Standard { name, parameters, on }
}

const ALL: &[Standard] = &[
    // 8.3.1: general purpose.
    standard("id", &[("value", Kind::Of(Type::UnsignedLong), Default::None)], MEMBERS),
    standard("autoid", &[("value", Kind::Words(&["SEQUENTIAL", "HASH"]), Default::Word("HASH"))], &[]),
    standard("optional", BOOLEAN, &["member", "state member"]),
    standard("position", &[("value", Kind::Of(Type::UnsignedShort), Default::None)], &["flag", "bitfield"]),
    standard("value", &[("value", Kind::Any, Default::None)], &["enumerator"]),
    standard(
        "extensibility",
        &[("value", Kind::Words(&["FINAL", "APPENDABLE", "MUTABLE"]), Default::None)],
        TYPES,
    ),
    standard("final", &[], TYPES),
    standard("appendable", &[], TYPES),
    standard("mutable", &[], TYPES),
    // 8.3.2: data modeling.
    standard("key", BOOLEAN, &["member", "state member", "union member", "discriminator"]),
    standard("must_understand", BOOLEAN, &["member", "state member", "union member", "discriminator"]),
    standard("default_literal", &[], &["enumerator"]),
    // 8.3.3: units and ranges.
    standard("default", &[("value", Kind::Annotated { number: false }, Default::None)], VALUES),
    standard("range", &[("min", NUMBER, Default::None), ("max", NUMBER, Default::None)], VALUES),
    standard("min", &[("value", NUMBER, Default::None)], VALUES),
    standard("max", &[("value", NUMBER, Default::None)], VALUES),
    standard("unit", &[("value", STRING, Default::None)], VALUES),
    // 8.3.4: data implementation.
    standard("bit_bound", &[("value", Kind::Of(Type::UnsignedShort), Default::None)], &["enum", "bitmask"]),
    standard("external", BOOLEAN, &["member", "state member", "union member"]),
    standard("nested", BOOLEAN, TYPES),
    // 8.3.5: code generation.
    standard(
        "verbatim",
        &[
            ("language", STRING, Default::Text("*")),
            (
                "placement",
                Kind::Words(&[
                    "BEGIN_FILE",
                    "BEFORE_DECLARATION",
                    "BEGIN_DECLARATION",
                    "END_DECLARATION",
                    "AFTER_DECLARATION",
                    "END_FILE",
                ]),
                Default::Word("BEFORE_DECLARATION"),
            ),
            ("text", STRING, Default::None),
        ],
        &[],
    ),
    // 8.3.6: interfaces.
    standard("service", &[("platform", STRING, Default::Text("*"))], &["interface"]),
    standard("oneway", BOOLEAN, &["operation"]),
    standard("ami", BOOLEAN, &["interface", "operation", "attribute", "module"]),
    // DDS-XTypes 1.3, 7.2.2.4 and 7.3.1.2.
    standard("hashid", &[("value", STRING, Default::Text(""))], MEMBERS),
    standard("default_nested", BOOLEAN, &["module"]),
    standard("ignore_literal_names", BOOLEAN, &["enum"]),
    standard("non_serialized", BOOLEAN, MEMBERS),
    standard(
        "try_construct",
        &[("value", Kind::Words(&["DISCARD", "USE_DEFAULT", "TRIM"]), Default::Word("USE_DEFAULT"))],
        MEMBERS,
    ),
];

impl Standard {
    pub(super) fn named(name: &str) -> Option<&'static Standard> {
        ALL.iter().find(|it| it.name == name)
    }

    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        ALL.iter().map(|it| it.name)
    }
}
