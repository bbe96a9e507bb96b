//! `zorb bench report`: a page of what a run has left in a directory.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use zorb_bench::report::{INDEX, Painter, Report};

use crate::failure::Failure;

/// Draw a directory of results as one HTML page.
///
/// DIR holds results.jsonl, one row a line as `--json` prints them, and machine.json, which describes the
/// machine. Written is DIR/index.html: tables, and plots as SVG, each with the command that repeats it and
/// its data. The page needs no network and no script.
#[derive(Debug, Args)]
#[command(after_help = "Example: zorb bench report results --png")]
pub(crate) struct Arguments {
    /// The directory of results.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Write each plot as a PNG file beside the page too. Needs a font on this system.
    #[arg(long)]
    png: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    draw(&arguments.directory, arguments.png)
}

/// Draws a directory, and says what it has drawn.
pub(super) fn draw(directory: &Path, png: bool) -> Result<(), Failure> {
    let report = Report::read(directory)?;
    for remark in report.remarks() {
        eprintln!("note: {remark}");
    }
    let page = report.page();
    let write = |name: &str, content: &[u8]| {
        let path = directory.join(name);
        fs::write(&path, content).map_err(|error| Failure::file("write", &path, error)).map(|()| path)
    };
    let index = write(INDEX, page.html.as_bytes())?;
    if png {
        // After the page, which needs no font.
        let painter = Painter::new()?;
        for plot in &page.plots {
            write(&format!("{}.png", plot.id), &painter.png(plot)?)?;
        }
    }
    let mut output = std::io::stdout().lock();
    let counted = |count: usize, what| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let (plots, rows) = (counted(page.plots.len(), "plot"), counted(report.rows(), "row"));
    writeln!(output, "{}: {plots} of {rows}", index.display())?;
    if !page.not_measured.is_empty() {
        writeln!(output, "not measured: {}", page.not_measured.join(", "))?;
    }
    Ok(())
}
