//! The client process: stores a study, works on it, checks everything that comes back, and tells.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use zorb::{Call, Orb, SystemException};

use super::checksum::checksum;
use super::files;
use super::histogram::{Bin, Chart, histogram};
use super::idl::imaging::{self, study};
use super::picture::Picture;
use super::report::Report;
use crate::failure::Failure;
use crate::table;

/// How often each image is fetched and counted: enough calls for a median that means something, and a
/// demonstration that still ends within seconds.
const ROUNDS: usize = 10;

/// Calls that carry next to nothing, for the same reason.
const SMALL_CALLS: usize = 1_000;

/// Lines of the histogram.
const BINS: u32 = 16;

/// Hears of progress: an object in this process that the server calls.
struct Listener {
    bar: ProgressBar,
    /// The checksums that the server computed, by image.
    heard: Arc<Mutex<Vec<(u32, u32)>>>,
}

impl imaging::ListenerServant for Listener {
    fn stored(&self, _cx: &Call, image: u32, checksum: u32) -> Result<(), SystemException> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).push((image, checksum));
        self.bar.inc(1);
        Ok(())
    }
}

/// Runs the whole demonstration against `archive`; renderings go to `out`.
///
/// # Errors
///
/// The first call that fails unexpectedly, the first difference in what comes back, or a file that cannot
/// be written.
pub(crate) fn run(
    orb: &Orb,
    archive: &imaging::Archive,
    pictures: &[Picture],
    out: &Path,
    say: &mut dyn Write,
) -> Result<(), Failure> {
    let mut report = Report::default();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let bar = bar(pictures.len(), "storing");
    let listener = Listener { bar: bar.clone(), heard: Arc::clone(&heard) };
    let poa = orb.root_poa().map_err(failed("make an object adapter"))?;
    let listener =
        poa.activate::<imaging::Listener>(Arc::new(listener)).map_err(failed("activate the listener"))?;
    poa.manager().activate().map_err(failed("let requests through to the listener"))?;

    let study = report
        .time("open", |_| 0, || archive.open("J. Doe", Some(&listener)))
        .map_err(failed("open a study"))?
        .ok_or_else(|| Failure::new("the archive returned a nil study"))?;

    store(&study, pictures, &mut report)?;
    bar.finish_and_clear();
    let heard = heard.lock().unwrap_or_else(PoisonError::into_inner).clone();
    tell_stored(pictures, &heard, say)?;

    fetch(&study, pictures, &mut report, say)?;
    render(&study, pictures, out, &mut report, say)?;
    count(&study, pictures, &mut report, say)?;
    for _ in 0..SMALL_CALLS {
        report
            .time("images (attribute)", |_| 0, || study.images())
            .map_err(failed("ask for the number of images"))?;
    }
    provoke(&study, pictures.len() as u32, &mut report, say)?;
    writeln!(say, "\n{report}")?;
    Ok(())
}

fn store(study: &imaging::Study, pictures: &[Picture], report: &mut Report) -> Result<(), Failure> {
    for (number, picture) in pictures.iter().enumerate() {
        let image = imaging::Image {
            name: picture.name.clone(),
            width: picture.width,
            height: picture.height,
            samples: picture.samples.clone().into(),
        };
        let stored = report
            .time("store", |_| picture.bytes(), || study.store(&image))
            .map_err(failed(format_args!("store {}", picture.name)))?;
        expect(stored as usize == number, || format!("image {number} was stored as number {stored}"))?;
    }
    Ok(())
}

fn tell_stored(pictures: &[Picture], heard: &[(u32, u32)], say: &mut dyn Write) -> Result<(), Failure> {
    let bytes = pictures.iter().map(Picture::bytes).sum();
    let names = pictures.len();
    writeln!(say, "stored    {names} images, {}", table::bytes(bytes))?;
    if heard.is_empty() {
        writeln!(say, "          the server could not call our listener")?;
        return Ok(());
    }
    for &(number, sum) in heard {
        let ours = pictures.get(number as usize).map(|picture| checksum(&picture.samples));
        expect(ours == Some(sum), || format!("the server's checksum of image {number} differs"))?;
    }
    writeln!(say, "          the server called our listener {} times; its checksums agree", heard.len())?;
    Ok(())
}

fn fetch(
    study: &imaging::Study,
    pictures: &[Picture],
    report: &mut Report,
    say: &mut dyn Write,
) -> Result<(), Failure> {
    let bar = bar(pictures.len() * ROUNDS, "fetching");
    for _ in 0..ROUNDS {
        for (number, picture) in pictures.iter().enumerate() {
            let image = report
                .time(
                    "fetch",
                    |image: &imaging::Image| image.samples.len() as u64 * 2,
                    || study.fetch(number as u32),
                )
                .map_err(failed(format_args!("fetch image {number}")))?;
            let same =
                (image.width, image.height, &image.name) == (picture.width, picture.height, &picture.name);
            let same = same && checksum(&image.samples) == checksum(&picture.samples);
            expect(same, || format!("image {number} came back changed"))?;
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    writeln!(say, "fetched   each image {ROUNDS} times; all checksums agree")?;
    Ok(())
}

fn render(
    study: &imaging::Study,
    pictures: &[Picture],
    out: &Path,
    report: &mut Report,
    say: &mut dyn Write,
) -> Result<(), Failure> {
    fs::create_dir_all(out).map_err(|cause| Failure::file("create", out, cause))?;
    let bar = bar(pictures.len(), "rendering");
    for (number, picture) in pictures.iter().enumerate() {
        let through = imaging::Window { center: picture.window.center(), width: picture.window.width() };
        let pixels = report
            .time(
                "render",
                |pixels: &zorb::Sequence<u8>| pixels.len() as u64,
                || study.render(number as u32, &through),
            )
            .map_err(failed(format_args!("render image {number}")))?;
        let ours = picture.window.render(&picture.samples);
        expect(ours[..] == pixels[..], || format!("the rendering of image {number} is wrong"))?;
        let path = out.join(files::rendering_name(number as u32, &picture.name));
        files::write_png(&path, picture.width, picture.height, &pixels)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    writeln!(say, "rendered  each image in 8 bits; see {}", out.display())?;
    Ok(())
}

fn count(
    study: &imaging::Study,
    pictures: &[Picture],
    report: &mut Report,
    say: &mut dyn Write,
) -> Result<(), Failure> {
    let middle = pictures.len() / 2;
    for (number, picture) in pictures.iter().enumerate() {
        let bins = report
            .time(
                "histogram",
                |bins: &zorb::Sequence<imaging::Bin>| size_of_val(&bins[..]) as u64,
                || study.histogram(number as u32, BINS),
            )
            .map_err(failed(format_args!("count image {number}")))?;
        let bins: Vec<Bin> =
            bins.iter().map(|bin| Bin { lower: bin.lower, upper: bin.upper, count: bin.count }).collect();
        let ours = histogram(&picture.samples, BINS);
        expect(ours.as_ref() == Some(&bins), || format!("the histogram of image {number} is wrong"))?;
        if number == middle {
            writeln!(say, "\nhistogram of {} (bars: square root)\n{}", picture.name, Chart(&bins))?;
        }
    }
    Ok(())
}

/// Asks for what is not there, in both ways that CORBA tells apart.
fn provoke(
    study: &imaging::Study,
    images: u32,
    report: &mut Report,
    say: &mut dyn Write,
) -> Result<(), Failure> {
    match study.fetch(images + 999) {
        Err(study::FetchError::NoSuchImage(exception)) => {
            writeln!(
                say,
                "user exception: fetch({}) raised NoSuchImage, image {} of {}",
                images + 999,
                exception.image,
                exception.images
            )?;
        }
        Err(study::FetchError::System(exception)) => return Err(failed("provoke NoSuchImage")(exception)),
        Ok(_) => return Err(Failure::new("the archive returned an image that was never stored")),
    }
    report.time("discard", |_| 0, || study.discard()).map_err(failed("discard the study"))?;
    match study.images() {
        Err(exception) => {
            writeln!(say, "system exception: images() of the discarded study raised")?;
            write!(say, "{}", table::wrapped(&exception.to_string(), 2))?;
        }
        Ok(_) => return Err(Failure::new("a discarded study still answers")),
    }
    Ok(())
}

fn expect(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(Failure::new(otherwise())) }
}

/// Names the step that a call's exception ended.
fn failed<E: std::fmt::Display>(step: impl std::fmt::Display) -> impl FnOnce(E) -> Failure {
    let step = step.to_string();
    move |exception| Failure::new(format!("cannot {step}: {exception}"))
}

/// A progress bar on standard error; nothing at all where that is not a terminal.
fn bar(length: usize, what: &'static str) -> ProgressBar {
    let bar = ProgressBar::new(length as u64).with_message(what);
    if let Ok(style) = ProgressStyle::with_template("{msg:10} [{bar:40}] {pos}/{len}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}
