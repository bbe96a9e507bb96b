//! Text in every form that GIOP and the code sets give it, to the octet.

use zorb_cdr::{
    ByteOrder, CodeSet, CodeSets, DecodeError, DecodeErrorKind, Decoder, EncodeError, EncodeErrorKind,
    Encoder, Format, Version, WChar, check_string_bound, check_wstring_bound,
};

fn format(version: Version, char: CodeSet, wchar: CodeSet) -> Format {
    Format { version, code_sets: CodeSets { char, wchar: Some(wchar) } }
}

fn narrow(code_set: CodeSet) -> Format {
    format(Version::V1_2, code_set, CodeSet::UTF_16)
}

fn wide(version: Version) -> Format {
    format(version, CodeSet::UTF_8, CodeSet::UTF_16)
}

fn write(
    format: Format,
    fill: impl FnOnce(&mut Encoder<'_>) -> Result<(), EncodeError>,
) -> Result<Vec<u8>, EncodeError> {
    let mut to = Encoder::new(format);
    fill(&mut to)?;
    Ok(to.to_bytes().to_vec())
}

fn read_string(format: Format, octets: &[u8]) -> Result<String, DecodeError> {
    Decoder::from_slice(octets, ByteOrder::Big, format).read_string()
}

fn read_wstring(format: Format, octets: &[u8]) -> Result<String, DecodeError> {
    Decoder::from_slice(octets, ByteOrder::Big, format).read_wstring()
}

fn native(length: u32, octets: &[u8]) -> Vec<u8> {
    [&length.to_ne_bytes(), octets].concat()
}

fn big(length: u32, octets: &[u8]) -> Vec<u8> {
    [&length.to_be_bytes(), octets].concat()
}

#[test]
fn strings_in_each_code_set() {
    let bytes = |code_set, text: &str| write(narrow(code_set), |to| to.write_string(text));
    assert_eq!(bytes(CodeSet::UTF_8, ""), Ok(native(1, b"\0")));
    assert_eq!(bytes(CodeSet::UTF_8, "größe €"), Ok(native(12, "größe €\0".as_bytes())));
    assert_eq!(bytes(CodeSet::ISO_8859_1, "größe"), Ok(native(6, b"gr\xf6\xdfe\0")));
    assert_eq!(bytes(CodeSet::ISO_646, "size"), Ok(native(5, b"size\0")));
    assert_eq!(read_string(narrow(CodeSet::UTF_8), &big(12, "größe €\0".as_bytes())).unwrap(), "größe €");
    assert_eq!(read_string(narrow(CodeSet::ISO_8859_1), &big(6, b"gr\xf6\xdfe\0")).unwrap(), "größe");
    assert_eq!(read_string(narrow(CodeSet::ISO_646), &big(5, b"size\0")).unwrap(), "size");
    assert_eq!(read_string(narrow(CodeSet::UTF_8), &big(0, b"")).unwrap(), "");
}

#[test]
fn what_a_code_set_lacks_is_named() {
    let kind = |code_set, text: &str| write(narrow(code_set), |to| to.write_string(text)).unwrap_err().kind;
    let lacks = |character, code_set| EncodeErrorKind::Unrepresentable { character, code_set };
    assert_eq!(kind(CodeSet::ISO_8859_1, "5 €"), lacks('€', CodeSet::ISO_8859_1));
    assert_eq!(kind(CodeSet::ISO_646, "größe"), lacks('ö', CodeSet::ISO_646));
    assert_eq!(kind(CodeSet(0x10020001), "a"), EncodeErrorKind::UnsupportedCodeSet(CodeSet(0x10020001)));
    assert_eq!(kind(CodeSet::UTF_8, "a\0b"), EncodeErrorKind::NulInString);
    let ucs2 = format(Version::V1_2, CodeSet::UTF_8, CodeSet::UCS_2);
    let error = write(ucs2, |to| to.write_wstring("a𝄞")).unwrap_err();
    assert_eq!(error.kind, lacks('𝄞', CodeSet::UCS_2));
    assert_eq!(error.to_string(), "cannot send wstring: UCS-2 has no '𝄞' (U+1D11E)");
}

#[test]
fn strings_that_are_none() {
    let kind = |code_set, octets: &[u8]| read_string(narrow(code_set), octets).unwrap_err().kind;
    assert_eq!(kind(CodeSet::UTF_8, &big(2, b"ab")), DecodeErrorKind::Unterminated);
    assert_eq!(kind(CodeSet::UTF_8, &big(3, b"a\0\0")), DecodeErrorKind::NulInString);
    assert_eq!(kind(CodeSet::UTF_8, &big(3, b"a\0b")), DecodeErrorKind::Unterminated);
    assert_eq!(kind(CodeSet::UTF_8, &big(2, b"\xff\0")), DecodeErrorKind::InvalidText(CodeSet::UTF_8));
    assert_eq!(kind(CodeSet::ISO_646, &big(2, b"\xff\0")), DecodeErrorKind::InvalidText(CodeSet::ISO_646));
    assert_eq!(
        kind(CodeSet::UTF_8, &big(9, b"a\0")),
        DecodeErrorKind::LengthBeyondEnd { length: 9, left: 2 }
    );
    assert_eq!(kind(CodeSet(7), &big(2, b"a\0")), DecodeErrorKind::UnsupportedCodeSet(CodeSet(7)));
}

#[test]
fn wide_strings_of_giop_1_2() {
    let bytes = |text: &str| write(wide(Version::V1_2), |to| to.write_wstring(text));
    assert_eq!(bytes(""), Ok(native(0, b"")));
    assert_eq!(bytes("aß"), Ok(native(4, b"\0a\0\xdf")));
    assert_eq!(bytes("𝄞"), Ok(native(4, b"\xd8\x34\xdd\x1e")));
    // What would pass for a byte order mark gets one before it.
    assert_eq!(bytes("\u{feff}a"), Ok(native(6, b"\xfe\xff\xfe\xff\0a")));
    assert_eq!(bytes("\u{fffe}"), Ok(native(4, b"\xfe\xff\xff\xfe")));
    let read = |octets: &[u8]| read_wstring(wide(Version::V1_2), octets);
    assert_eq!(read(&big(4, b"\0a\0\xdf")).unwrap(), "aß");
    assert_eq!(read(&big(6, b"\xfe\xff\0a\0\xdf")).unwrap(), "aß");
    assert_eq!(read(&big(6, b"\xff\xfea\0\xdf\0")).unwrap(), "aß");
    assert_eq!(read(&big(2, b"\xff\xfe")).unwrap(), "");
    assert_eq!(read(&big(6, b"\xfe\xff\xfe\xff\0a")).unwrap(), "\u{feff}a");
    let kind = |octets: &[u8]| read(octets).unwrap_err().kind;
    assert_eq!(kind(&big(3, b"\0a\0")), DecodeErrorKind::BadWideLength(3));
    assert_eq!(kind(&big(4, b"\0a\0\0")), DecodeErrorKind::NulInString);
    assert_eq!(kind(&big(2, b"\xd8\x34")), DecodeErrorKind::InvalidText(CodeSet::UTF_16));
    let ucs2 = format(Version::V1_2, CodeSet::UTF_8, CodeSet::UCS_2);
    let error = read_wstring(ucs2, &big(4, b"\xd8\x34\xdd\x1e")).unwrap_err();
    assert_eq!(error.kind, DecodeErrorKind::InvalidText(CodeSet::UCS_2));
}

#[test]
fn wide_strings_of_giop_1_1() {
    let units = |units: &[u16]| units.iter().flat_map(|unit| unit.to_ne_bytes()).collect::<Vec<u8>>();
    let bytes = |text: &str| write(wide(Version::V1_1), |to| to.write_wstring(text));
    assert_eq!(bytes(""), Ok(native(1, b"\0\0")));
    assert_eq!(bytes("aß"), Ok(native(3, &units(&[0x61, 0xdf, 0]))));
    assert_eq!(read_wstring(wide(Version::V1_1), &big(3, b"\0a\0\xdf\0\0")).unwrap(), "aß");
    let kind = |octets: &[u8]| read_wstring(wide(Version::V1_1), octets).unwrap_err().kind;
    assert_eq!(kind(&big(2, b"\0a\0\xdf")), DecodeErrorKind::Unterminated);
    assert_eq!(kind(&big(3, b"\0a\0\0\0\0")), DecodeErrorKind::NulInString);
    assert_eq!(kind(&big(4, b"\0a\0\0")), DecodeErrorKind::LengthBeyondEnd { length: 4, left: 4 });
}

#[test]
fn wide_characters() {
    let bytes = |version, unit| {
        write(wide(version), |to| {
            to.write_u8(9);
            to.write_wchar(WChar(unit))
        })
    };
    assert_eq!(bytes(Version::V1_2, 0xdf), Ok(vec![9, 2, 0, 0xdf]));
    assert_eq!(bytes(Version::V1_2, 0xfeff), Ok(vec![9, 4, 0xfe, 0xff, 0xfe, 0xff]));
    assert_eq!(bytes(Version::V1_1, 0x1234), Ok([[9, 0], 0x1234u16.to_ne_bytes()].concat()));
    let read =
        |version, octets: &[u8]| Decoder::from_slice(octets, ByteOrder::Little, wide(version)).read_wchar();
    assert_eq!(read(Version::V1_2, &[2, 0, 0xdf]), Ok(WChar(0xdf)));
    assert_eq!(read(Version::V1_2, &[4, 0xfe, 0xff, 0, 0xdf]), Ok(WChar(0xdf)));
    assert_eq!(read(Version::V1_2, &[4, 0xff, 0xfe, 0xdf, 0]), Ok(WChar(0xdf)));
    assert_eq!(read(Version::V1_1, &[0xdf, 0]), Ok(WChar(0xdf)));
    let kind = |version, octets: &[u8]| read(version, octets).unwrap_err().kind;
    assert_eq!(kind(Version::V1_2, &[0]), DecodeErrorKind::BadWideLength(0));
    assert_eq!(kind(Version::V1_2, &[3, 0, 0, 0]), DecodeErrorKind::BadWideLength(3));
    assert_eq!(kind(Version::V1_2, &[4, 0, 1, 0, 2]), DecodeErrorKind::BadWideLength(4));
    assert_eq!(kind(Version::V1_2, &[2, 0]), DecodeErrorKind::Truncated);
}

#[test]
fn wide_text_needs_a_version_and_a_code_set() {
    let none = Format::new(Version::V1_2);
    assert_eq!(write(none, |to| to.write_wstring("a")).unwrap_err().kind, EncodeErrorKind::NoWideCodeSet);
    assert_eq!(write(none, |to| to.write_wchar(WChar(1))).unwrap_err().kind, EncodeErrorKind::NoWideCodeSet);
    assert_eq!(read_wstring(none, &big(2, b"\0a")).unwrap_err().kind, DecodeErrorKind::NoWideCodeSet);
    let old = wide(Version::V1_0);
    assert_eq!(write(old, |to| to.write_wstring("a")).unwrap_err().kind, EncodeErrorKind::WideInGiop1_0);
    assert_eq!(read_wstring(old, &big(2, b"\0a")).unwrap_err().kind, DecodeErrorKind::WideInGiop1_0);
    let odd = format(Version::V1_2, CodeSet::UTF_8, CodeSet(5));
    assert_eq!(
        write(odd, |to| to.write_wstring("a")).unwrap_err().kind,
        EncodeErrorKind::UnsupportedCodeSet(CodeSet(5))
    );
}

#[test]
fn bounds_count_characters() {
    assert!(check_string_bound("größe", 5, "name").is_ok());
    assert_eq!(check_string_bound("größe", 4, "name").unwrap_err().what, "name");
    assert!(check_wstring_bound("𝄞", 2, "name").is_ok());
    assert!(check_wstring_bound("𝄞", 1, "name").is_err());
    let octets = big(8, "größe\0".as_bytes());
    let read = |bound| {
        Decoder::from_slice(&octets, ByteOrder::Big, narrow(CodeSet::UTF_8)).read_bounded_string(bound)
    };
    assert_eq!(read(5).unwrap(), "größe");
    assert_eq!(read(4).unwrap_err().kind, DecodeErrorKind::BoundExceeded { length: 5, bound: 4 });
}
