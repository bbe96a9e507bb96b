//! zorb's time probes, where this program was built with them.

pub use zorb::probes::{Point, Stamp, ticks};

/// What to say where it was not.
pub const NOT_BUILT: &str = "this program was built without time probes (cargo feature `probes`)";

/// Switches recording in this process on or off.
///
/// # Errors
///
/// [`NOT_BUILT`].
pub fn record(on: bool) -> Result<(), &'static str> {
    #[cfg(feature = "probes")]
    {
        zorb::probes::record(on);
        Ok(())
    }
    #[cfg(not(feature = "probes"))]
    {
        let _ = on;
        Err(NOT_BUILT)
    }
}

/// What was recorded in this process, thread by thread; nothing without probes.
pub fn take() -> Vec<Vec<Stamp>> {
    #[cfg(feature = "probes")]
    {
        zorb::probes::take()
    }
    #[cfg(not(feature = "probes"))]
    {
        Vec::new()
    }
}
