//! Plots as PNG files, for documents that take no SVG.
//!
//! `resvg` draws them: the one renderer in Rust that sets text, which is most of what a plot says. It needs a
//! font of the system's; the page does not, and is written without this module.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, Options, Tree};

use super::Plot;
use crate::BenchError;

/// Pixels of a file for one of the plot: sharp on dense screens and in print.
const SCALE: f32 = 3.0;

/// Families in order of liking. The first is what the widths in plots are reckoned for, and comes with most systems.
const FAMILIES: &[&str] = &["DejaVu Sans", "Liberation Sans", "Noto Sans", "Arial", "Helvetica"];

/// Draws plots with a font of the system's.
pub struct Painter {
    options: Options<'static>,
}

impl std::fmt::Debug for Painter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Painter").field("family", &self.options.font_family).finish_non_exhaustive()
    }
}

impl Painter {
    /// Finds a font: one that plots are reckoned for if it can, else whichever there is.
    ///
    /// # Errors
    ///
    /// [`BenchError::Image`] if the system has none: a plot without its words would be useless.
    pub fn new() -> Result<Painter, BenchError> {
        let mut options = Options::default();
        let fonts = options.fontdb_mut();
        fonts.load_system_fonts();
        let has = |family: &str| {
            let named = |face: &usvg::fontdb::FaceInfo| face.families.iter().any(|(name, _)| name == family);
            fonts.faces().any(named)
        };
        let liked = FAMILIES.iter().copied().find(|family| has(family)).map(str::to_owned);
        let any = || fonts.faces().find_map(|face| Some(face.families.first()?.0.clone()));
        let Some(family) = liked.or_else(any) else {
            let what = "this system has no font to write with: install one (on Debian the package fonts-dejavu-core)";
            return Err(BenchError::Image { what: what.into() });
        };
        fonts.set_sans_serif_family(&family);
        options.font_family = family;
        Ok(Painter { options })
    }

    /// The plot as a PNG file, in light colours.
    ///
    /// # Errors
    ///
    /// [`BenchError::Image`] if it cannot be drawn.
    pub fn png(&self, plot: &Plot) -> Result<Vec<u8>, BenchError> {
        self.picture(&plot.standalone(), &format!("plot {}", plot.id))
    }

    /// Any picture as a PNG file. `name` is for the error.
    ///
    /// # Errors
    ///
    /// [`BenchError::Image`] if it cannot be drawn.
    pub fn picture(&self, svg: &str, name: &str) -> Result<Vec<u8>, BenchError> {
        let failed = |what: String| BenchError::Image { what: format!("{name}: {what}") };
        let tree = Tree::from_str(svg, &self.options).map_err(|error| failed(error.to_string()))?;
        let size = tree.size();
        let mut image =
            Pixmap::new((size.width() * SCALE).ceil() as u32, (size.height() * SCALE).ceil() as u32)
                .ok_or_else(|| failed("its size cannot be drawn".into()))?;
        resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut image.as_mut());
        image.encode_png().map_err(|error| failed(error.to_string()))
    }
}
