//! A 16-bit gray picture, as this program holds it.

use super::window::Window;

/// A picture of 16-bit gray samples, row by row from the top.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Picture {
    /// What it shows, or the file it came from.
    pub(crate) name: String,
    /// Columns.
    pub(crate) width: u32,
    /// Rows.
    pub(crate) height: u32,
    /// `width` times `height` samples.
    pub(crate) samples: Vec<u16>,
    /// How it is best shown.
    pub(crate) window: Window,
}

impl Picture {
    /// Whether `samples` samples fill `width` by `height` pixels exactly, with no product overflowing.
    pub(crate) fn fits(width: u32, height: u32, samples: usize) -> bool {
        width > 0 && height > 0 && u64::from(width) * u64::from(height) == samples as u64
    }

    /// The samples' size in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.samples.len() as u64 * 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exact_sizes_fit() {
        assert!(Picture::fits(3, 2, 6));
        assert!(!Picture::fits(3, 2, 5));
        assert!(!Picture::fits(0, 2, 0));
        assert!(!Picture::fits(u32::MAX, u32::MAX, 1));
    }
}
