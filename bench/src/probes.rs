//! zorb's time probes, where this program was built with them.

pub use zorb::probes::{BUILT_IN, Point, Stamp, take, ticks};

use zorb::probes;

/// What to say where it was not.
pub const NOT_BUILT: &str = "this program was built without time probes (cargo feature `probes`)";

/// Switches recording in this process on or off.
///
/// # Errors
///
/// [`NOT_BUILT`].
pub fn record(on: bool) -> Result<(), &'static str> {
    if !BUILT_IN {
        return Err(NOT_BUILT);
    }
    probes::record(on);
    Ok(())
}
