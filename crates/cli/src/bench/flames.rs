//! Flame graphs as files: what `zorb bench rtt --flame` and `zorb ttcp run --profile --flame` write.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use zorb_bench::profile::{Graph, STACKS_ARE_WHOLE};
use zorb_bench::report::Painter;

use crate::failure::Failure;
use crate::table::wrapped;

/// Where graphs go.
#[derive(Debug, Args)]
pub(crate) struct Flames {
    /// Write flame graphs of both sides of each system to DIR, as SVG and as folded stacks. Needs root or CAP_PERFMON, and a program
    /// built with frame pointers.
    #[arg(long = "flame", value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,

    /// Each graph as a PNG file too.
    #[arg(long, requires = "to")]
    png: bool,
}

/// How to build a program whose stacks can be followed.
pub(crate) const BUILD: &str =
    "RUSTFLAGS=-Cforce-frame-pointers=yes cargo build --release --target-dir target/flame";

/// A folder that graphs are written to.
pub(crate) struct Folder<'a> {
    to: &'a Path,
    painter: Option<Painter>,
}

impl Flames {
    /// Makes the folder, if graphs are asked for.
    ///
    /// # Errors
    ///
    /// It cannot be made; there is no font for PNG files.
    pub(crate) fn folder(&self) -> Result<Option<Folder<'_>>, Failure> {
        let Some(to) = self.to.as_deref() else { return Ok(None) };
        fs::create_dir_all(to).map_err(|error| Failure::new(format!("make {}: {error}", to.display())))?;
        if !STACKS_ARE_WHOLE {
            let text = format!(
                "note: this program has no frame pointers, so stacks end early; build another:\n  {BUILD}\n"
            );
            eprint!("{text}");
        }
        let painter = self.png.then(Painter::new).transpose()?;
        Ok(Some(Folder { to, painter }))
    }
}

impl Folder<'_> {
    /// Writes a graph and says where.
    ///
    /// # Errors
    ///
    /// A file cannot be written; the graph cannot be drawn.
    pub(crate) fn write(&self, graph: &Graph) -> Result<(), Failure> {
        let name = graph.file_name();
        let svg = graph.flame.svg(&graph.title());
        let write = |ending: &str, octets: &[u8]| {
            let file = self.to.join(format!("{name}.{ending}"));
            fs::write(&file, octets)
                .map_err(|error| Failure::new(format!("write {}: {error}", file.display())))
        };
        write("svg", svg.as_bytes())?;
        write("folded", graph.flame.folded().as_bytes())?;
        if let Some(painter) = &self.painter {
            write("png", &painter.picture(&svg, &name)?)?;
        }
        let mut output = std::io::stdout().lock();
        let file = self.to.join(format!("{name}.svg"));
        writeln!(output, "{}: {:.2} s", file.display(), graph.flame.seconds())?;
        Ok(output.flush()?)
    }
}

/// What is said before graphs are made.
pub(crate) fn describe(what: &str) -> String {
    wrapped(
        &format!(
            "{what}: where both sides' processor time goes, and by whom it was called. A box is a function, its width its part of the \
             time; on it stands what it called."
        ),
        0,
    )
}
