//! The limits that keep hostile or broken IDL from costing more than a clear error.
//!
//! Each is far beyond what people write: the IDL of all OMG services together has about 20,000 lines.

/// Errors reported before giving up: more than anyone reads, few enough to print at once.
pub(crate) const ERRORS: usize = 100;

/// Octets of text over all files, counting a file each time it is included: a hundred times all OMG services.
pub(crate) const TEXT: usize = 64 << 20;

/// Tokens after macro expansion. Each costs up to a hundred octets in the syntax tree, so this bounds memory to some
/// hundred MiB; ten million lines of ordinary IDL would be needed to reach it.
pub(crate) const TOKENS: usize = 4_000_000;

/// Includes within includes: compilers for C allow 200, IDL in the field stays below ten.
pub(crate) const INCLUDE_DEPTH: usize = 64;

/// Inclusions in all: a file that includes itself twice would otherwise be read 2⁶⁴ times. The OMG's services have a few hundred.
pub(crate) const INCLUSIONS: usize = 10_000;

/// Macros that expand to macros. The specification's uses need one or two levels.
pub(crate) const MACRO_DEPTH: usize = 64;

/// Brackets, modules, sequences and parentheses within each other. A level costs some KiB of stack
/// without optimization, so that a thread with 1 MiB suffices; the tests run with that.
pub(crate) const NESTING: usize = 64;

/// Structs within structs through any number of definitions, and interfaces that inherit from each other: bounds the
/// recursion of everything that walks the model.
pub(crate) const DEPTH: u32 = 256;

/// Characters of an identifier: the longest in the OMG's services has 60, and each is repeated in what is generated.
pub(crate) const IDENTIFIER: usize = 1_000;

/// Characters of a floating-point literal: the longest that a `long double` needs has 11,563 digits.
pub(crate) const FLOAT: usize = 12_000;

/// Octets of a string constant: a page of text has 3,000.
pub(crate) const STRING: usize = 1 << 20;

/// Elementary steps of name lookup, inheritance and the literals of `long double` constants. Ordinary IDL takes about ten a
/// token; this many take seconds.
pub(crate) const STEPS: u64 = 20_000_000;

/// Interfaces that one inherits from, directly or not: the widest hierarchies in the field have some dozens.
pub(crate) const ANCESTORS: usize = 256;

/// Names that an unknown one is compared with: in larger scopes, comparing a hundred of them would take seconds.
pub(crate) const SUGGESTIONS: usize = 10_000;
