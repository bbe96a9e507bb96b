//! References of the command line: one that is none is a mistake in it, one that cannot be resolved is a call that failed.

use zorb::{ObjectRef, Orb};

use crate::failure::Failure;
use crate::ior;

/// The object that a reference of any form leads to.
///
/// # Errors
/// Exit code 2: it is no reference, or names a file that has none. 3: what resolves it raised an exception or cannot be
/// reached, or it is nil.
pub(super) fn object(orb: &Orb, reference: &str) -> Result<ObjectRef, Failure> {
    ior::parse(reference).map_err(Failure::of_command_line)?;
    orb.string_to_object(reference)
        .map_err(|exception| {
            Failure::system_exception(format!("cannot resolve the reference: {exception}"), exception)
        })?
        .ok_or_else(|| Failure::not_there("the reference is nil: it leads to no object"))
}
