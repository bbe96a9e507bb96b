//! Captured messages of other ORBs, as `tests/vectors` holds them.

use std::fs;

use crate::root;

/// The messages of every capture, as octets.
///
/// In a capture a line that begins with `#` is a comment, one with `>` or `<` begins a message, and the others are its
/// octets in hexadecimal.
pub fn messages() -> Vec<Vec<u8>> {
    captured("hex")
}

/// The multicast packets of every capture.
pub fn packets() -> Vec<Vec<u8>> {
    captured("packets")
}

fn captured(extension: &str) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    for text in texts(extension) {
        let mut message = Vec::new();
        for line in text.lines() {
            match line.as_bytes().first() {
                Some(b'#') | None => {}
                Some(b'>' | b'<') => messages.push(std::mem::take(&mut message)),
                Some(_) => message.extend(octets(line)),
            }
        }
        messages.push(message);
    }
    messages.retain(|message| !message.is_empty());
    messages
}

/// The references of every capture, in their text form.
pub fn references() -> Vec<String> {
    let texts = texts("ior");
    let words = texts.iter().flat_map(|text| text.split_whitespace());
    words.filter(|word| word.starts_with("IOR:")).map(str::to_owned).collect()
}

/// Octets from hexadecimal with white space anywhere.
pub fn octets(text: &str) -> Vec<u8> {
    let digits: Vec<_> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks_exact(2).filter_map(|pair| u8::try_from(pair[0] << 4 | pair[1]).ok()).collect()
}

fn texts(extension: &str) -> Vec<String> {
    let directory = fs::read_dir(root().join("tests/vectors")).expect("tests/vectors can be listed");
    let mut paths: Vec<_> = directory.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).expect("a capture can be read")).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn captures_begin_as_giop_does() {
        let messages = super::messages();
        // A few are captured for what a peer answers to nonsense.
        let giop = messages.iter().filter(|message| message.starts_with(b"GIOP")).count();
        assert!(giop > 100 && giop * 10 > messages.len() * 9, "{giop} of {}", messages.len());
        assert!(!super::references().is_empty());
    }
}
