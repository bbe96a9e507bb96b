//! `zorb ior`: what a reference holds, for people and for programs.
//!
//! Taking references apart is `zorb::giop::describe`'s work, which gives a tree of named values; here it
//! is laid out in 80 columns, or as JSON. Nothing is left out: what zorb cannot interpret is shown as octets.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use clap::Args;
use serde_json::{Map, Value as Json, json};
use zorb::Orb;
use zorb::giop::describe::{self, Named, Value};
use zorb::giop::{
    Corbaloc, CorbalocAddress, Endpoint, IiopProfile, ObjectUrl, UiopProfile, UnixEndpoint, UrlError,
};
use zorb::protocols::Considered;

use crate::config::Told;
use crate::failure::Failure;

/// Show what an object reference holds: IOR, corbaloc, corbaname or file URL.
///
/// Profiles and components that are not known, and whatever follows the known fields of others or the last
/// profile, are shown as octets.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zorb ior corbaloc:iiop:1.2@db.example:2809/Archive
  zorb ior IOR:010000000100000000000000...
  zorb ior --json file:///tmp/archive.ior
  zorb demo serve | zorb ior -
  zorb ior --protocols -ORBtransports shm,tcp file:archive.ior")]
pub(crate) struct Arguments {
    /// The reference, or - to read it from standard input.
    #[arg(value_name = "REF")]
    reference: String,

    /// One JSON object instead of text; octets are hexadecimal strings.
    #[arg(long)]
    json: bool,

    /// Also show which protocols calls from here would use, in their order, and why not the others. -ORB options are
    /// heeded; nothing is connected to.
    #[arg(long)]
    protocols: bool,
}

/// The longest reference read from a file or standard input: a hundred times what the largest seen has.
const LONGEST: u64 = 1 << 20;

/// How many files may point to each other.
const MOST_FILES: u32 = 4;

pub(crate) fn run(arguments: &Arguments, told: &Told) -> Result<(), Failure> {
    if !arguments.protocols {
        told.none("ior without --protocols")?;
    }
    let reference = if arguments.reference == "-" {
        read(std::io::stdin().lock())
            .map_err(|cause| Failure::new(format!("cannot read standard input: {cause}")))?
    } else {
        arguments.reference.clone()
    };
    let shown = Shown::of(&reference)?;
    let protocols = if arguments.protocols { protocols(&reference, told)? } else { Vec::new() };
    let mut output = std::io::stdout().lock();
    if arguments.json {
        let mut json = shown.as_json();
        if arguments.protocols {
            json["protocols"] = protocols
                .iter()
                .map(|one| {
                    let properties: BTreeMap<_, _> = one.properties.iter().cloned().collect();
                    json!({
                        "endpoint": one.endpoint,
                        "verdict": one.verdict.to_string(),
                        "properties": properties,
                    })
                })
                .collect();
        }
        writeln!(output, "{json:#}")?;
    } else {
        write!(output, "{}", shown.as_text())?;
        if arguments.protocols {
            write!(output, "{}", protocols_as_text(&protocols))?;
        }
    }
    Ok(())
}

/// What an ORB with these settings makes of the reference.
fn protocols(reference: &str, told: &Told) -> Result<Vec<Considered>, Failure> {
    let orb = told.apply(zorb::naming::install(Orb::builder()))?.build();
    Ok(crate::ping::object(&orb, reference.trim())?.protocols())
}

fn protocols_as_text(protocols: &[Considered]) -> String {
    let mut text = Text::default();
    text.line(0, "protocols of calls from here, in their order");
    if protocols.is_empty() {
        text.line(1, "none: the reference names no way");
    }
    for one in protocols {
        // The endpoint is the reference's word: escaped as all that a peer wrote.
        text.line(1, &one.to_string().escape_debug().to_string());
    }
    text.lines
}

/// Reads a reference of any form, following `file:`.
///
/// # Errors
///
/// It is no reference, or a file cannot be read.
pub(crate) fn parse(reference: &str) -> Result<ObjectUrl, Failure> {
    follow(reference).map(|(_, url)| url)
}

/// The text that `file:` leads to, and what it is.
fn follow(reference: &str) -> Result<(String, ObjectUrl), Failure> {
    let mut text = reference.trim().to_owned();
    for _ in 0..MOST_FILES {
        let url: ObjectUrl = text.parse().map_err(|error| no_reference(&text, &error))?;
        let ObjectUrl::File(path) = url else { return Ok((text, url)) };
        let path = std::path::Path::new(&path);
        let file = std::fs::File::open(path).map_err(|cause| Failure::file("open", path, cause))?;
        text = read(file).map_err(|cause| Failure::file("read", path, cause))?;
    }
    Err(Failure::new(format!("{reference} leads through more than {MOST_FILES} files")))
}

fn no_reference(text: &str, error: &UrlError) -> Failure {
    Failure::new(format!("{} is no reference: {error}", shorten(text)))
}

fn read(from: impl Read) -> std::io::Result<String> {
    let mut text = String::new();
    from.take(LONGEST).read_to_string(&mut text)?;
    Ok(text.trim().to_owned())
}

/// The beginning of a text, quoted, for one line of an error.
fn shorten(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

fn scheme(url: &ObjectUrl) -> &'static str {
    match url {
        ObjectUrl::Ior(_) => "IOR",
        ObjectUrl::Corbaloc(_) => "corbaloc",
        ObjectUrl::Corbaname(_) => "corbaname",
        ObjectUrl::File(_) => "file",
        _ => "reference",
    }
}

/// The same reference in its short form, where it has one: the addresses and key of an IOR's first IIOP profile; if that
/// has no addresses, the Unix sockets that it names, as omniORB writes them; without such a profile TAO's socket.
fn corbaloc(url: &ObjectUrl) -> Option<String> {
    let ObjectUrl::Ior(ior) = url else { return None };
    let found = ior.profiles.iter().find_map(|profile| IiopProfile::decode(profile).ok());
    let (addresses, key) = match found {
        Some(profile) => (iiop_addresses(&profile), profile.object_key),
        None => {
            let profile = ior.profiles.iter().find_map(|profile| UiopProfile::decode(profile).ok())?;
            (vec![CorbalocAddress::Uiop { version: profile.version, path: profile.path }], profile.object_key)
        }
    };
    if addresses.is_empty() {
        return None;
    }
    let short = Corbaloc { addresses, key };
    let text = short.to_string();
    // A path may hold what such a URL cannot.
    (text.parse().as_ref() == Ok(&short)).then_some(text)
}

fn iiop_addresses(profile: &IiopProfile) -> Vec<CorbalocAddress> {
    let version = profile.version;
    let by_host = |Endpoint { host, port }| CorbalocAddress::Iiop { version, host, port };
    let addresses: Vec<_> = profile.endpoints().map(by_host).collect();
    if !addresses.is_empty() {
        return addresses;
    }
    let sockets = profile.components.iter().filter_map(|component| UnixEndpoint::decode(component).ok());
    sockets.map(|socket| CorbalocAddress::Omniunix { version, path: socket.path }).collect()
}

/// What is shown of a reference.
struct Shown {
    url: ObjectUrl,
    description: Value,
}

impl Shown {
    fn of(reference: &str) -> Result<Self, Failure> {
        let (text, url) = follow(reference)?;
        let description = describe::text(&text).map_err(|error| no_reference(&text, &error))?;
        Ok(Self { url, description })
    }

    fn as_json(&self) -> Json {
        let mut object = Map::new();
        object.insert("scheme".to_owned(), json!(scheme(&self.url)));
        if let ObjectUrl::Ior(ior) = &self.url {
            object.insert("nil".to_owned(), json!(ior.is_nil()));
        }
        match json_of(&self.description) {
            Json::Object(fields) => object.extend(fields),
            other => {
                object.insert("value".to_owned(), other);
            }
        }
        if let Some(corbaloc) = corbaloc(&self.url) {
            object.insert("corbaloc".to_owned(), json!(corbaloc));
        }
        Json::Object(object)
    }

    fn as_text(&self) -> String {
        let mut text = Text::default();
        match &self.url {
            ObjectUrl::Ior(ior) if ior.is_nil() => text.line(0, "IOR: nil, a reference to no object"),
            ObjectUrl::Ior(_) => text.line(0, "IOR"),
            other => text.line(0, &other.to_string()),
        }
        text.value(1, &self.description);
        if let Some(corbaloc) = corbaloc(&self.url) {
            text.field(1, "as corbaloc", &corbaloc);
        }
        text.lines
    }
}

/// Names become keys with underscores; a number that has a name gets a second key, `tag_name` beside `tag`.
fn json_of(value: &Value) -> Json {
    match value {
        Value::Text(text) => json!(text),
        Value::Number(number, _) => json!(number),
        Value::Flag(flag) => json!(flag),
        Value::Octets(octets) => json!(hexadecimal(octets)),
        Value::List(values) => values.iter().map(element).collect(),
        Value::Group(fields) => {
            let mut object = Map::new();
            for Named { name, value } in fields {
                let key = name.replace(' ', "_");
                if let Value::Number(_, name) = value {
                    object.insert(format!("{key}_name"), json!(name));
                }
                object.insert(key, json_of(value));
            }
            Json::Object(object)
        }
        other => json!(other.to_string()),
    }
}

/// In a list there is no key to put the name beside: a named number becomes an object.
fn element(value: &Value) -> Json {
    match value {
        Value::Number(number, Some(name)) => json!({ "number": number, "name": name }),
        other => json_of(other),
    }
}

fn hexadecimal(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// Lines of at most 80 columns, indented by depth.
#[derive(Default)]
struct Text {
    lines: String,
}

const COLUMNS: usize = 80;

/// Octets in a line of a dump; with offset, hexadecimal and characters it has 72 columns.
const DUMPED: usize = 16;

impl Text {
    /// Adds a line; what does not fit goes on below, further in.
    fn line(&mut self, depth: usize, text: &str) {
        let mut indent = 2 * depth;
        let mut rest: Vec<char> = text.chars().collect();
        loop {
            let room = COLUMNS.saturating_sub(indent).max(COLUMNS / 2);
            let tail = rest.split_off(room.min(rest.len()));
            self.lines.push_str(&" ".repeat(indent));
            self.lines.extend(rest);
            self.lines.push('\n');
            if tail.is_empty() {
                return;
            }
            rest = tail;
            indent = 2 * depth + 4;
        }
    }

    fn field(&mut self, depth: usize, name: &str, value: &str) {
        self.line(depth, &format!("{name}: {value}"));
    }

    fn value(&mut self, depth: usize, value: &Value) {
        match value {
            Value::Group(fields) => {
                for Named { name, value } in fields {
                    self.named(depth, name, value);
                }
            }
            Value::List(values) => {
                for (at, value) in values.iter().enumerate() {
                    self.named(depth, &format!("[{at}]"), value);
                }
            }
            other => self.line(depth, &scalar(other)),
        }
    }

    fn named(&mut self, depth: usize, name: &str, value: &Value) {
        match value {
            Value::Group(fields) if fields.is_empty() => self.field(depth, name, "empty"),
            Value::List(values) if values.is_empty() => self.field(depth, name, "none"),
            Value::Group(_) | Value::List(_) => {
                self.line(depth, name);
                self.value(depth + 1, value);
            }
            Value::Octets(octets) if octets.len() > DUMPED => {
                self.field(depth, name, &format!("{} octets", octets.len()));
                self.dump(depth + 1, octets);
            }
            other => self.field(depth, name, &scalar(other)),
        }
    }

    fn dump(&mut self, depth: usize, octets: &[u8]) {
        // Deep lines move back to the left rather than beyond the right edge.
        let depth = depth.min(4);
        for (at, line) in octets.chunks(DUMPED).enumerate() {
            let pairs: Vec<String> = line.iter().map(|octet| format!("{octet:02x}")).collect();
            self.line(depth, &format!("{:04x}  {:47}  {}", at * DUMPED, pairs.join(" "), characters(line)));
        }
    }
}

/// A value on one line.
fn scalar(value: &Value) -> String {
    match value {
        // Quoted and escaped: what a peer sent must not write to the terminal as it likes.
        Value::Text(text) => format!("{text:?}"),
        Value::Number(number, Some(name)) => format!("{number:#x} {name}"),
        // Small ones are ports and counts, large ones ids and bits.
        Value::Number(number, None) if *number <= u64::from(u16::MAX) => number.to_string(),
        Value::Number(number, None) => format!("{number:#x} ({number})"),
        Value::Octets(octets) if octets.is_empty() => "no octets".to_owned(),
        Value::Octets(octets) => format!("{} {:?}", hexadecimal(octets), characters(octets)),
        other => other.to_string(),
    }
}

fn characters(octets: &[u8]) -> String {
    let shown = |&octet: &u8| if octet.is_ascii_graphic() || octet == b' ' { char::from(octet) } else { '.' };
    octets.iter().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb::giop::{ComponentTag, Ior, ProfileTag, TaggedComponent, TaggedProfile};

    /// A reference with everything that is hard to lay out.
    fn rich() -> Shown {
        let profile = IiopProfile {
            version: zorb::cdr::Version::V1_2,
            host: "a-host-with-a-rather-long-name.in-some-department.of-some-institute.example.org".into(),
            port: 2809,
            object_key: (0..=40).collect::<Vec<u8>>().into(),
            components: vec![
                TaggedComponent { tag: ComponentTag(0x7777_7777), data: vec![0xab; 20].into() },
                TaggedComponent { tag: ComponentTag::ORB_TYPE, data: vec![1].into() },
            ],
        };
        let unknown = TaggedProfile { tag: ProfileTag(0x1234_5678), data: vec![1, 2, 3].into() };
        let type_id = "IDL:zorb.demo/imaging/Archive:1.0".to_owned();
        let ior = Ior { type_id, profiles: vec![profile.encode().unwrap(), unknown] };
        // What a later version might add.
        Shown::of(&format!("{ior}abcdef")).unwrap()
    }

    #[test]
    fn text_fits_80_columns_and_hides_nothing() {
        let text = rich().as_text();
        for line in text.lines() {
            assert!(line.chars().count() <= COLUMNS, "{line:?}");
        }
        for part in [
            "zorb.demo/imaging/Archive",
            "2809",
            "0x77777777",
            "ab ab ab",
            "0x12345678",
            "010203",
            "20 21 22",
            "  further octets: abcdef",
            "  byte order: \"",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }

    #[test]
    fn json_holds_the_same() {
        let json = rich().as_json();
        assert_eq!(json["scheme"], "IOR");
        assert_eq!(json["nil"], false);
        let order = if cfg!(target_endian = "little") { "little-endian" } else { "big-endian" };
        assert_eq!((&json["byte_order"], &json["further_octets"]), (&json!(order), &json!("abcdef")));
        assert_eq!(json["type_id"], "IDL:zorb.demo/imaging/Archive:1.0");
        let profile = &json["profiles"][0];
        assert_eq!((&profile["tag"], &profile["port"]), (&json!(0), &json!(2809)));
        assert!(profile["object_key"].as_str().unwrap().starts_with("000102"));
        assert_eq!(profile["components"][0]["data"], "ab".repeat(20));
        assert_eq!(json["profiles"][1]["data"], "010203");
        assert_eq!(json["profiles"][1]["tag_name"], Json::Null);
        assert!(json["corbaloc"].as_str().unwrap().starts_with("corbaloc:iiop:1.2@a-host"));
    }

    #[test]
    fn sockets_have_a_short_form_too() {
        for (url, expected) in [
            ("corbaloc:omniunix:1.1@/run/a:,omniunix:/b:/key", Some("corbaloc:omniunix:1.1@/run/a:/key")),
            ("corbaloc:uiop:/run/a|key", Some("corbaloc:uiop:1.2@/run/a|key")),
            ("corbaloc:uiop:/run/a,omniunix:/b:/key", Some("corbaloc:omniunix:1.2@/b:/key")),
            ("corbaloc:omniunix:/run/a|b:/key", Some("corbaloc:omniunix:1.2@/run/a|b:/key")),
            ("corbaloc:uiop:/run/a:b|key", Some("corbaloc:uiop:1.2@/run/a:b|key")),
        ] {
            let corbaloc_url: Corbaloc = url.parse().unwrap();
            let ior = ObjectUrl::Ior(corbaloc_url.to_ior("here").unwrap());
            assert_eq!(corbaloc(&ior).as_deref(), expected, "{url}");
        }
        let (version, path) = (zorb::cdr::Version::V1_2, "/run/a|b".to_owned());
        let profile = UiopProfile { version, path, object_key: "k".into(), components: Vec::new() };
        let ior = Ior { type_id: String::new(), profiles: vec![profile.encode().unwrap()] };
        assert_eq!(corbaloc(&ObjectUrl::Ior(ior)), None, "the bar would end the path");
    }

    #[test]
    fn every_form_is_shown() {
        let text = |reference: &str| Shown::of(reference).unwrap().as_text();
        assert!(text("corbaloc::host/Key").contains("host"));
        assert!(text(" corbaname::host#a/b \n").contains("a/b"));
        assert!(text("IOR:00000000000000010000000000000000").starts_with("IOR: nil"));
    }

    #[test]
    fn errors_are_one_line_that_quotes_the_beginning() {
        let error = parse("http://example.org/").unwrap_err().to_string();
        assert!(
            error.starts_with("\"http://example.org/\" is no reference: ") && !error.contains('\n'),
            "{error}"
        );
        let long = format!("IOR:zz{}", "0".repeat(1000));
        assert!(parse(&long).unwrap_err().to_string().len() < 200);
        assert!(parse("file:///nonexistent/zorb.ior").unwrap_err().to_string().contains("No such file"));
    }

    #[test]
    fn files_are_followed_but_not_for_ever() {
        let path = std::env::temp_dir().join(format!("zorb-ior-{}", std::process::id()));
        let url = format!("file://{}", path.display());
        std::fs::write(&path, "corbaloc::host/Key\n").unwrap();
        let followed = parse(&url);
        std::fs::write(&path, &url).unwrap();
        let circle = parse(&url);
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(followed, Ok(ObjectUrl::Corbaloc(_))));
        assert!(circle.unwrap_err().to_string().contains("more than 4 files"));
    }

    #[test]
    fn what_a_peer_wrote_cannot_steer_the_terminal() {
        let ior = Ior { type_id: "\u{1b}[2Jx".to_owned(), profiles: Vec::new() };
        assert!(!Shown::of(&ior.to_string()).unwrap().as_text().contains('\u{1b}'));
    }
}
