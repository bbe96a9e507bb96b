//! Images from files and to files: PNG (gray, 1 to 16 bits) and PGM in, 8-bit gray PNG out.
//!
//! Samples are spread over the whole 16-bit range, so that an 8-bit image and a 16-bit one look alike
//! through the same window. PGM is as in netpbm's `pgm(5)`: `P5` (octets, two a sample where the maximum is
//! above 255, high octet first) and `P2` (decimal numbers).

use std::fs;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use super::picture::Picture;
use super::window::Window;
use crate::failure::Failure;
use crate::table;

/// The most pixels accepted: an image is stored and fetched in one message, and an ORB takes messages of at most 64 MiB,
/// unless it is told otherwise. 62 MiB of samples leave room for the rest of a message.
const MOST_PIXELS: u64 = 31 << 20;

/// All images of a directory, in the order of their names. Files of other kinds are left alone.
///
/// # Errors
///
/// The directory cannot be read, an image in it cannot be used, or there is none.
pub(crate) fn load(directory: &Path) -> Result<Vec<Picture>, Failure> {
    let unreadable = |cause| Failure::file("read", directory, cause);
    let mut paths: Vec<PathBuf> = fs::read_dir(directory)
        .map_err(unreadable)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(unreadable)?;
    paths.sort();
    let mut pictures = Vec::new();
    for path in paths {
        let read = match path.extension().and_then(|extension| extension.to_str()) {
            Some(extension) if extension.eq_ignore_ascii_case("png") => png,
            Some(extension) if extension.eq_ignore_ascii_case("pgm") => pgm,
            _ => continue,
        };
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let octets = fs::read(&path).map_err(|cause| Failure::file("read", &path, cause))?;
        let (width, height, samples) = read(&octets).map_err(|cause| Failure::file("use", &path, cause))?;
        let window = Window::showing(&samples);
        pictures.push(Picture { name, width, height, samples, window });
    }
    if pictures.is_empty() {
        return Err(Failure::file("use", directory, "it holds no .png or .pgm file"));
    }
    Ok(pictures)
}

/// Writes a rendering as an 8-bit gray PNG.
///
/// # Errors
///
/// The file cannot be written.
pub(crate) fn write_png(path: &Path, width: u32, height: u32, pixels: &[u8]) -> Result<(), Failure> {
    let failed = |cause: &dyn std::fmt::Display| Failure::file("write", path, cause);
    let file = fs::File::create(path).map_err(|cause| failed(&cause))?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(|cause| failed(&cause))?;
    writer.write_image_data(pixels).map_err(|cause| failed(&cause))?;
    // Flushes, which dropping would do without a word about failure.
    writer.finish().map_err(|cause| failed(&cause))
}

/// A file name for a picture's rendering: letters, digits, dots and dashes of its name, numbered.
pub(crate) fn rendering_name(number: u32, picture: &str) -> String {
    let stem = picture.rsplit_once('.').map_or(picture, |(stem, extension)| {
        let known = ["png", "pgm"].iter().any(|known| extension.eq_ignore_ascii_case(known));
        if known { stem } else { picture }
    });
    let mut name = format!("{number:03}-");
    for c in stem.chars() {
        name.push(if c.is_alphanumeric() || "+-.=".contains(c) { c } else { '_' });
    }
    name.push_str(".png");
    name
}

type Read = Result<(u32, u32, Vec<u16>), String>;

fn png(octets: &[u8]) -> Read {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(octets));
    // Fewer than 8 bits a sample become 8.
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let (width, height) = (reader.info().width, reader.info().height);
    check_size(width, height)?;
    let (color, depth) = reader.output_color_type();
    if color != png::ColorType::Grayscale {
        return Err(format!("it is {}, and only gray images are taken", describe(color)));
    }
    let size = reader.output_buffer_size().ok_or("it is too large")?;
    let mut pixels = vec![0; size];
    let frame = reader.next_frame(&mut pixels).map_err(|error| error.to_string())?;
    pixels.truncate(frame.buffer_size());
    let samples = match depth {
        png::BitDepth::Sixteen => sixteen(&pixels),
        _ => pixels.iter().map(|&pixel| u16::from(pixel) * 257).collect(),
    };
    finish(width, height, samples)
}

fn describe(color: png::ColorType) -> &'static str {
    match color {
        png::ColorType::GrayscaleAlpha => "gray with transparency",
        png::ColorType::Grayscale => "gray",
        _ => "in colour",
    }
}

fn pgm(octets: &[u8]) -> Read {
    let mut words = Words { octets, at: 0 };
    let magic = words.next();
    if !matches!(magic, Some(b"P2" | b"P5")) {
        return Err("it does not begin with P2 or P5, as PGM does".to_owned());
    }
    let mut number = |what: &str| {
        let word = words.next().ok_or_else(|| format!("it ends before its {what}"))?;
        let digits = std::str::from_utf8(word).ok().and_then(|word| word.parse::<u32>().ok());
        digits.ok_or_else(|| format!("its {what} is {:?}, not a number", String::from_utf8_lossy(word)))
    };
    let (width, height, most) = (number("width")?, number("height")?, number("maximum")?);
    if !(1..=65_535).contains(&most) {
        return Err(format!("its maximum is {most}, not 1 to 65535"));
    }
    check_size(width, height)?;
    let pixels = width as usize * height as usize;
    let raw = if magic == Some(b"P5") {
        // Exactly one octet of white space stands between the maximum and the samples.
        let data = octets.get(words.at + 1..).unwrap_or_default();
        let size = pixels * if most > 255 { 2 } else { 1 };
        let data = data
            .get(..size)
            .ok_or_else(|| format!("it has {} octets of samples instead of {size}", data.len()))?;
        if most > 255 { sixteen(data) } else { data.iter().map(|&sample| sample.into()).collect() }
    } else {
        // Every sample takes two octets, its digit and a space: nothing is reserved on the head's word.
        let mut samples = Vec::with_capacity(pixels.min(octets.len() / 2 + 1));
        while samples.len() < pixels {
            let sample = number("samples")?;
            samples.push(u16::try_from(sample).map_err(|_| format!("a sample is {sample}, above 65535"))?);
        }
        samples
    };
    if let Some(sample) = raw.iter().find(|&&sample| u32::from(sample) > most) {
        return Err(format!("a sample is {sample}, above its maximum {most}"));
    }
    let spread = |sample: u16| ((u32::from(sample) * 65_535 + most / 2) / most) as u16;
    finish(width, height, raw.into_iter().map(spread).collect())
}

/// Words of a PGM head: white space separates, `#` comments to the line's end.
struct Words<'o> {
    octets: &'o [u8],
    at: usize,
}

impl<'o> Words<'o> {
    /// The next word; `at` is left on the octet after it.
    fn next(&mut self) -> Option<&'o [u8]> {
        let rest = |at: usize| self.octets.get(at..).unwrap_or_default();
        let mut at = self.at;
        loop {
            at += rest(at).iter().take_while(|octet| octet.is_ascii_whitespace()).count();
            if self.octets.get(at) != Some(&b'#') {
                break;
            }
            at += rest(at).iter().take_while(|&&octet| octet != b'\n').count();
        }
        let end = at + rest(at).iter().take_while(|octet| !octet.is_ascii_whitespace()).count();
        self.at = end;
        self.octets.get(at..end).filter(|word| !word.is_empty())
    }
}

fn check_size(width: u32, height: u32) -> Result<(), String> {
    match u64::from(width) * u64::from(height) {
        0 => Err(format!("it is empty: {width} by {height} pixels")),
        pixels if pixels > MOST_PIXELS => Err(format!(
            "{width} by {height} pixels are too many: {} fit in a message, in which an image travels",
            table::thousands(MOST_PIXELS)
        )),
        _ => Ok(()),
    }
}

fn finish(width: u32, height: u32, samples: Vec<u16>) -> Read {
    if !Picture::fits(width, height, samples.len()) {
        return Err(format!("it has {} samples instead of {width} by {height}", samples.len()));
    }
    Ok((width, height, samples))
}

fn sixteen(octets: &[u8]) -> Vec<u16> {
    octets.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory that is removed again.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let path = std::env::temp_dir().join(format!("zorb-files-{}-{name}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Scratch(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn encode(color: png::ColorType, depth: png::BitDepth, data: &[u8]) -> Vec<u8> {
        let mut octets = Vec::new();
        let mut encoder = png::Encoder::new(&mut octets, 2, 1);
        encoder.set_color(color);
        encoder.set_depth(depth);
        encoder.write_header().unwrap().write_image_data(data).unwrap();
        octets
    }

    #[test]
    fn png_of_every_gray_depth() {
        let gray = png::ColorType::Grayscale;
        assert_eq!(
            png(&encode(gray, png::BitDepth::Sixteen, &[1, 2, 3, 4])),
            Ok((2, 1, vec![0x0102, 0x0304]))
        );
        assert_eq!(png(&encode(gray, png::BitDepth::Eight, &[0, 255])), Ok((2, 1, vec![0, 65_535])));
        assert_eq!(png(&encode(gray, png::BitDepth::One, &[0b0100_0000])), Ok((2, 1, vec![0, 65_535])));
    }

    #[test]
    fn colour_is_refused_by_name() {
        let colour = encode(png::ColorType::Rgb, png::BitDepth::Eight, &[0; 6]);
        assert_eq!(png(&colour).unwrap_err(), "it is in colour, and only gray images are taken");
        let alpha = encode(png::ColorType::GrayscaleAlpha, png::BitDepth::Eight, &[0; 4]);
        assert_eq!(png(&alpha).unwrap_err(), "it is gray with transparency, and only gray images are taken");
    }

    #[test]
    fn pgm_both_kinds_with_comments() {
        assert_eq!(pgm(b"P5 2 1 255\n\x00\xff"), Ok((2, 1, vec![0, 65_535])));
        assert_eq!(pgm(b"P5\n# by hand\n2 1\n65535 \x12\x34\x0a\x20"), Ok((2, 1, vec![0x1234, 0x0a20])));
        assert_eq!(pgm(b"P2\n2 # wide\n2\n3\n0 1\n2 3\n"), Ok((2, 2, vec![0, 21_845, 43_690, 65_535])));
    }

    #[test]
    fn broken_pgm_says_what_is_wrong() {
        for (octets, complaint) in [
            (&b"P6 1 1 255\n\0\0\0"[..], "it does not begin with P2 or P5, as PGM does"),
            (b"P5 2", "it ends before its height"),
            (b"P5 2 x 255\n", "its height is \"x\", not a number"),
            (b"P5 2 1 0\n", "its maximum is 0, not 1 to 65535"),
            (b"P5 0 1 255\n", "it is empty: 0 by 1 pixels"),
            (
                b"P5 4000000000 4000000000 255\n",
                "4000000000 by 4000000000 pixels are too many: 32,505,856 fit in a message, in which an image travels",
            ),
            (b"P5 2 2 255\n\x01\x02", "it has 2 octets of samples instead of 4"),
            (b"P5 1 1 7\n\x08", "a sample is 8, above its maximum 7"),
            (b"P2 2 1 255 1", "it ends before its samples"),
            (b"P2 1 1 255 70000", "a sample is 70000, above 65535"),
        ] {
            assert_eq!(pgm(octets).unwrap_err(), complaint);
        }
    }

    #[test]
    fn the_largest_image_fits_a_message() {
        // The name of a file has at most 255 octets; the head of a request and its service contexts are far below the rest.
        let largest = 2 * MOST_PIXELS as usize + (1 << 20);
        assert!(largest <= zorb::giop::Limits::default().max_message);
        let (width, height) = (MOST_PIXELS as u32 / 1024, 1024);
        assert!(check_size(width, height).is_ok() && check_size(width, height + 1).is_err());
    }

    #[test]
    fn every_prefix_is_a_polite_error() {
        let gray = encode(png::ColorType::Grayscale, png::BitDepth::Sixteen, &[1, 2, 3, 4]);
        // The last chunk holds nothing; whether it is missed is the decoder's affair.
        for end in 0..gray.len() - 12 {
            assert!(png(&gray[..end]).is_err(), "{end}");
        }
        let plain = b"P5 2 1 65535\n\x01\x02\x03\x04";
        for end in 0..plain.len() {
            assert!(pgm(&plain[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn a_directory_in_order_of_names() {
        let scratch = Scratch::new("order");
        assert!(load(&scratch.0).unwrap_err().to_string().ends_with("it holds no .png or .pgm file"));
        fs::write(scratch.0.join("b.PGM"), b"P5 1 1 255\n\x80").unwrap();
        fs::write(scratch.0.join("notes.txt"), b"not an image").unwrap();
        write_png(&scratch.0.join("a.png"), 2, 1, &[7, 9]).unwrap();
        let pictures = load(&scratch.0).unwrap();
        assert_eq!(pictures.iter().map(|picture| &picture.name[..]).collect::<Vec<_>>(), ["a.png", "b.PGM"]);
        assert_eq!(pictures[0].samples, [7 * 257, 9 * 257]);
        fs::write(scratch.0.join("c.png"), b"junk").unwrap();
        let error = load(&scratch.0).unwrap_err().to_string();
        assert!(error.starts_with("cannot use ") && error.contains("c.png: "), "{error}");
        assert!(load(&scratch.0.join("missing")).unwrap_err().to_string().contains("missing: No such file"));
    }

    #[test]
    fn names_of_renderings_stay_in_their_directory() {
        assert_eq!(rendering_name(3, "phantom 512x512 z=+0.10"), "003-phantom_512x512_z=+0.10.png");
        assert_eq!(rendering_name(12, "../../etc/passwd.PNG"), "012-.._.._etc_passwd.png");
    }
}
