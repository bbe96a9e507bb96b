//! What a reference holds, as a tree of named values for people and programs.
//!
//! Profiles and components that zorb knows are taken apart; of others the octets are shown. What stands behind the
//! known fields is shown too, and of data that are not what their tag says, both the fault and the octets: nothing is
//! hidden. [`text`] describes a stringified reference with what only its octets say. A [`Value`] prints as an indented
//! text; programs walk it.
//!
//! Layouts: CORBA 3.4 part 2, §7.6.6 and §9.7.2; CSIv2 §10.5; transports of omniORB and TAO as those ORBs write them.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use bytes::Bytes;
use zorb_cdr::{ByteOrder, CodeSet, Decode, DecodeError, Decoder};

use super::UrlError;
use super::ior::read_components;
use crate::{
    ComponentTag, Corbaloc, CorbalocAddress, Ior, ObjectUrl, OrbType, ProfileTag, TaggedComponent,
    TaggedProfile,
};

/// Components inside components that are taken apart. CSIv2 needs two; a peer could nest as many as fit.
const NESTING: u32 = 4;

/// A value and what it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Lower case words, such as `object key`.
    pub name: Cow<'static, str>,
    /// The value.
    pub value: Value,
}

/// A value in a description.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// A text.
    Text(String),
    /// A number, and the name that it stands for if one is known.
    Number(u64, Option<&'static str>),
    /// Yes or no.
    Flag(bool),
    /// Octets that mean nothing to zorb, or whose meaning is the server's (object keys).
    Octets(Bytes),
    /// Parts, each with its name.
    Group(Vec<Named>),
    /// Things of one kind, in order.
    List(Vec<Value>),
}

/// Describes a text that stands for an object. Of a stringified reference this shows what an [`Ior`] does not hold too:
/// the byte order that it is written in, and octets behind its last profile.
///
/// # Errors
/// The text is no reference.
pub fn text(text: &str) -> Result<Value, UrlError> {
    match text.parse()? {
        ObjectUrl::Ior(_) => {
            let mut to = Vec::new();
            encapsulation(&Ior::octets_of(text)?, &mut to, |from, to| {
                to.extend(ior_fields(&Ior::decode(from)?));
                Ok(())
            });
            Ok(Value::Group(to))
        }
        other => Ok(url(&other)),
    }
}

/// Describes what a text that stands for an object became.
#[must_use]
pub fn url(url: &ObjectUrl) -> Value {
    match url {
        ObjectUrl::Ior(reference) => ior(reference),
        ObjectUrl::Corbaloc(corbaloc) => Value::Group(corbaloc_fields(corbaloc)),
        ObjectUrl::Corbaname(corbaname) => {
            let mut fields = corbaloc_fields(&corbaname.corbaloc);
            fields.add("name", Value::Text(corbaname.name.clone()));
            Value::Group(fields)
        }
        ObjectUrl::File(path) => Value::Group(vec![named("file", Value::Text(path.clone()))]),
    }
}

/// Describes a whole reference: type id and profiles.
#[must_use]
pub fn ior(ior: &Ior) -> Value {
    Value::Group(ior_fields(ior))
}

fn ior_fields(ior: &Ior) -> Vec<Named> {
    vec![
        named("type id", Value::Text(ior.type_id.clone())),
        named("profiles", Value::List(ior.profiles.iter().map(profile).collect())),
    ]
}

/// Describes a profile, also one of an unknown kind.
#[must_use]
pub fn profile(profile: &TaggedProfile) -> Value {
    let tag = Value::Number(profile.tag.0.into(), profile.tag.name());
    let fields: Fields = match profile.tag {
        ProfileTag::INTERNET_IOP | ProfileTag::TAO_SHMIOP | ProfileTag::TAO_DIOP => |from, to| {
            let minor = version(from, to)?;
            host_and_port(from, to)?;
            key_and_components(from, to, minor)
        },
        ProfileTag::TAO_UIOP => |from, to| {
            let minor = version(from, to)?;
            to.add("rendezvous point", Value::Text(from.read_string()?));
            key_and_components(from, to, minor)
        },
        ProfileTag::UIPMC => |from, to| {
            version(from, to)?;
            to.add("address", Value::Text(from.read_string()?));
            number(from.read_u16(), "port", to)?;
            components(from, to, NESTING)
        },
        ProfileTag::MULTIPLE_COMPONENTS => |from, to| components(from, to, NESTING),
        _ => return unknown(tag, &profile.data),
    };
    take_apart(tag, &profile.data, fields)
}

/// Describes a component, also one of an unknown kind.
#[must_use]
pub fn component(component: &TaggedComponent) -> Value {
    nested_component(component, NESTING)
}

/// How the fields of an encapsulation are read into a description.
type Fields = fn(&mut Decoder<'_>, &mut Vec<Named>) -> Result<(), DecodeError>;

fn nested_component(component: &TaggedComponent, nesting: u32) -> Value {
    let tag = Value::Number(component.tag.0.into(), component.tag.name());
    let fields: Fields = match component.tag {
        ComponentTag::ORB_TYPE => |from, to| {
            let vendor = from.read_u32()?;
            to.add("vendor", Value::Number(vendor.into(), OrbType(vendor).name()));
            Ok(())
        },
        ComponentTag::CODE_SETS => |from, to| {
            to.add("char", supported_code_sets(from)?);
            to.add("wchar", supported_code_sets(from)?);
            Ok(())
        },
        ComponentTag::POLICIES => |from, to| {
            let policies = list(from, 8, |from, to| {
                number(from.read_u32(), "policy type", to)?;
                octets(from, "data", to)
            })?;
            to.add("policies", policies);
            Ok(())
        },
        ComponentTag::ALTERNATE_IIOP_ADDRESS | ComponentTag::ZORB_UDP => host_and_port,
        ComponentTag::ENDPOINT_ID_POSITION => |from, to| {
            number(from.read_u16(), "begin", to)?;
            number(from.read_u16(), "end", to)
        },
        ComponentTag::SSL_SEC_TRANS => |from, to| {
            supports_and_requires(from, to)?;
            number(from.read_u16(), "port", to)
        },
        ComponentTag::TLS_SEC_TRANS => |from, to| {
            supports_and_requires(from, to)?;
            to.add("addresses", list(from, 8, host_and_port)?);
            Ok(())
        },
        ComponentTag::JAVA_CODEBASE => |from, to| {
            to.add("codebase", Value::Text(from.read_string()?));
            Ok(())
        },
        ComponentTag::OTS_POLICY | ComponentTag::INV_POLICY => {
            |from, to| number(from.read_u16(), "policy", to)
        }
        ComponentTag::FT_GROUP | ComponentTag::GROUP => |from, to| {
            version(from, to)?;
            to.add("domain", Value::Text(from.read_string()?));
            number(from.read_u64(), "group", to)?;
            number(from.read_u32(), "group version", to)
        },
        ComponentTag::FT_PRIMARY | ComponentTag::FT_HEARTBEAT_ENABLED => |from, to| {
            to.add("set", Value::Flag(from.read_bool()?));
            Ok(())
        },
        ComponentTag::CSI_SEC_MECH_LIST if nesting > 0 => {
            return take_apart(tag, &component.data, |from, to| security_mechanisms(from, to, nesting - 1));
        }
        ComponentTag::RMI_CUSTOM_MAX_STREAM_FORMAT => |from, to| number(from.read_u8(), "highest format", to),
        ComponentTag::OMNIORB_UNIX | ComponentTag::ZORB_SHM => |from, to| {
            to.add("host", Value::Text(from.read_string()?));
            to.add("path", Value::Text(from.read_string()?));
            Ok(())
        },
        ComponentTag::ZORB_MESSAGING => |from, to| {
            let names = list(from, 5, |from, to| {
                to.add("name", Value::Text(from.read_string()?));
                Ok(())
            })?;
            to.add("protocols", names);
            Ok(())
        },
        // No encapsulation: its eight octets mean something to one process alone.
        ComponentTag::ZORB_MEMORY => {
            let parts = component.data.split_at_checked(8);
            let name = parts.and_then(|(_, name)| core::str::from_utf8(name).ok());
            let (Some((which, _)), Some(name)) = (parts, name) else { return unknown(tag, &component.data) };
            return Value::Group(vec![
                named("tag", tag),
                named("memory", Value::Octets(component.data.slice_ref(which))),
                named("name", Value::Text(name.to_string())),
            ]);
        }
        ComponentTag::TAO_ENDPOINTS => |from, to| {
            let endpoints = list(from, 9, |from, to| {
                host_and_port(from, to)?;
                number(from.read_u16(), "priority", to)
            })?;
            to.add("endpoints", endpoints);
            Ok(())
        },
        _ => return unknown(tag, &component.data),
    };
    take_apart(tag, &component.data, fields)
}

trait Add {
    fn add(&mut self, name: &'static str, value: Value);
}

impl Add for Vec<Named> {
    fn add(&mut self, name: &'static str, value: Value) {
        self.push(named(name, value));
    }
}

fn named(name: &'static str, value: Value) -> Named {
    Named { name: Cow::Borrowed(name), value }
}

fn unknown(tag: Value, data: &Bytes) -> Value {
    Value::Group(vec![named("tag", tag), named("data", Value::Octets(data.clone()))])
}

/// What is in the encapsulation `data` of a profile or component.
fn take_apart(
    tag: Value,
    data: &Bytes,
    fields: impl FnOnce(&mut Decoder<'_>, &mut Vec<Named>) -> Result<(), DecodeError>,
) -> Value {
    let mut to = vec![named("tag", tag)];
    encapsulation(data, &mut to, fields);
    Value::Group(to)
}

/// Reads the encapsulation `data`. Where it stops being what `fields` expects, the octets are shown as well.
fn encapsulation(
    data: &Bytes,
    to: &mut Vec<Named>,
    fields: impl FnOnce(&mut Decoder<'_>, &mut Vec<Named>) -> Result<(), DecodeError>,
) {
    let read = || {
        let mut from = Decoder::from_encapsulation(data)?;
        let order = match from.order() {
            ByteOrder::Big => "big-endian",
            ByteOrder::Little => "little-endian",
        };
        to.add("byte order", Value::Text(order.to_string()));
        fields(&mut from, to)?;
        let left = from.remaining();
        if left > 0 {
            to.add("further octets", Value::Octets(from.read_bytes(left)?));
        }
        Ok::<(), DecodeError>(())
    };
    if let Err(error) = read() {
        to.add("malformed", Value::Text(error.to_string()));
        to.add("data", Value::Octets(data.clone()));
    }
}

fn number<N: Into<u64>>(
    value: Result<N, DecodeError>,
    name: &'static str,
    to: &mut Vec<Named>,
) -> Result<(), DecodeError> {
    to.add(name, Value::Number(value?.into(), None));
    Ok(())
}

fn octets(from: &mut Decoder<'_>, name: &'static str, to: &mut Vec<Named>) -> Result<(), DecodeError> {
    to.add(name, Value::Octets(from.read_octet_sequence()?));
    Ok(())
}

/// A sequence whose elements take at least `least` octets.
fn list(
    from: &mut Decoder<'_>,
    least: usize,
    mut element: impl FnMut(&mut Decoder<'_>, &mut Vec<Named>) -> Result<(), DecodeError>,
) -> Result<Value, DecodeError> {
    let count = from.read_count(least)?;
    let mut values = Vec::new();
    for _ in 0..count {
        let mut fields = Vec::new();
        element(from, &mut fields)?;
        values.push(Value::Group(fields));
    }
    Ok(Value::List(values))
}

fn version(from: &mut Decoder<'_>, to: &mut Vec<Named>) -> Result<u8, DecodeError> {
    let (major, minor) = (from.read_u8()?, from.read_u8()?);
    to.add("version", Value::Text(alloc::format!("{major}.{minor}")));
    Ok(minor)
}

fn host_and_port(from: &mut Decoder<'_>, to: &mut Vec<Named>) -> Result<(), DecodeError> {
    to.add("host", Value::Text(from.read_string()?));
    number(from.read_u16(), "port", to)
}

fn key_and_components(from: &mut Decoder<'_>, to: &mut Vec<Named>, minor: u8) -> Result<(), DecodeError> {
    octets(from, "object key", to)?;
    if minor > 0 { components(from, to, NESTING) } else { Ok(()) }
}

fn components(from: &mut Decoder<'_>, to: &mut Vec<Named>, nesting: u32) -> Result<(), DecodeError> {
    let components = read_components(from)?;
    let describe = |component| nested_component(component, nesting);
    to.add("components", Value::List(components.iter().map(describe).collect()));
    Ok(())
}

fn supported_code_sets(from: &mut Decoder<'_>) -> Result<Value, DecodeError> {
    let mut to = Vec::new();
    let code_set = |number: u32| Value::Number(number.into(), CodeSet(number).name());
    to.add("native", code_set(from.read_u32()?));
    let count = from.read_count(4)?;
    let conversion = (0..count).map(|_| from.read_u32().map(code_set)).collect::<Result<_, _>>()?;
    to.add("conversion", Value::List(conversion));
    Ok(Value::Group(to))
}

fn supports_and_requires(from: &mut Decoder<'_>, to: &mut Vec<Named>) -> Result<(), DecodeError> {
    number(from.read_u16(), "supports", to)?;
    number(from.read_u16(), "requires", to)
}

/// `CSIIOP::CompoundSecMechList`.
fn security_mechanisms(from: &mut Decoder<'_>, to: &mut Vec<Named>, nesting: u32) -> Result<(), DecodeError> {
    to.add("stateful", Value::Flag(from.read_bool()?));
    let mechanisms = list(from, 40, |from, to| {
        number(from.read_u16(), "requires", to)?;
        let transport =
            TaggedComponent { tag: ComponentTag(from.read_u32()?), data: from.read_octet_sequence()? };
        to.add("transport", nested_component(&transport, nesting));
        let mut authentication = Vec::new();
        supports_and_requires(from, &mut authentication)?;
        octets(from, "mechanism", &mut authentication)?;
        octets(from, "target name", &mut authentication)?;
        to.add("authentication", Value::Group(authentication));
        let mut attributes = Vec::new();
        supports_and_requires(from, &mut attributes)?;
        let authorities = list(from, 8, |from, to| {
            number(from.read_u32(), "syntax", to)?;
            octets(from, "name", to)
        })?;
        attributes.add("privilege authorities", authorities);
        attributes.add("naming mechanisms", list(from, 4, |from, to| octets(from, "mechanism", to))?);
        number(from.read_u32(), "identity types", &mut attributes)?;
        to.add("attributes", Value::Group(attributes));
        Ok(())
    })?;
    to.add("mechanisms", mechanisms);
    Ok(())
}

fn corbaloc_fields(corbaloc: &Corbaloc) -> Vec<Named> {
    let address = |address: &CorbalocAddress| {
        let mut to = Vec::new();
        match address {
            CorbalocAddress::Miop { version, group, address, port } => {
                to.add("protocol", Value::Text("miop".to_string()));
                to.add("version", Value::Text(version.to_string()));
                to.add("domain", Value::Text(group.domain.clone()));
                to.add("group", Value::Number(group.group, None));
                to.add("group version", Value::Number(group.reference_version.into(), None));
                to.add("address", Value::Text(address.clone()));
                to.add("port", Value::Number((*port).into(), None));
            }
            CorbalocAddress::Iiop { version, host, port } => {
                to.add("protocol", Value::Text("iiop".to_string()));
                to.add("version", Value::Text(version.to_string()));
                to.add("host", Value::Text(host.clone()));
                to.add("port", Value::Number((*port).into(), None));
            }
            CorbalocAddress::Uiop { version, path } | CorbalocAddress::Omniunix { version, path } => {
                let omniorb = matches!(address, CorbalocAddress::Omniunix { .. });
                to.add("protocol", Value::Text(if omniorb { "omniunix" } else { "uiop" }.to_string()));
                to.add("version", Value::Text(version.to_string()));
                to.add("path", Value::Text(path.clone()));
            }
            CorbalocAddress::Rir => to.add("protocol", Value::Text("rir".to_string())),
            CorbalocAddress::Other { protocol, address } => {
                to.add("protocol", Value::Text(protocol.clone()));
                to.add("address", Value::Text(address.clone()));
            }
        }
        Value::Group(to)
    };
    vec![
        named("addresses", Value::List(corbaloc.addresses.iter().map(address).collect())),
        named("object key", Value::Octets(corbaloc.key.clone())),
    ]
}

/// An indented text, a line for each value.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.print(f, 0)
    }
}

impl Value {
    fn print(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Number(number, Some(name)) => write!(f, "{name} ({number:#x})"),
            Self::Number(number, None) => write!(f, "{number}"),
            Self::Flag(flag) => f.write_str(if *flag { "yes" } else { "no" }),
            Self::Octets(octets) => {
                write!(f, "{} octets", octets.len())?;
                octets.iter().enumerate().try_for_each(|(at, octet)| {
                    f.write_str(if at == 0 { ": " } else { "" })?;
                    write!(f, "{octet:02x}")
                })?;
                if octets.iter().any(u8::is_ascii_graphic) {
                    write!(f, " \"{}\"", octets.escape_ascii())
                } else {
                    Ok(())
                }
            }
            Self::Group(fields) => fields.iter().enumerate().try_for_each(|(index, field)| {
                if index > 0 {
                    write!(f, "\n{:1$}", "", 2 * depth)?;
                }
                write!(f, "{}:", field.name)?;
                field.value.print_inside(f, depth + 1)
            }),
            Self::List(values) if values.is_empty() => f.write_str("none"),
            Self::List(values) => values.iter().enumerate().try_for_each(|(index, value)| {
                if index > 0 {
                    write!(f, "\n{:1$}", "", 2 * depth)?;
                }
                f.write_str("- ")?;
                value.print(f, depth + 1)
            }),
        }
    }

    /// As the value of a field: groups and lists begin on a line of their own.
    fn print_inside(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        let on_lines = match self {
            Self::Group(fields) => !fields.is_empty(),
            Self::List(values) => !values.is_empty(),
            _ => false,
        };
        if on_lines {
            write!(f, "\n{:1$}", "", 2 * depth)?
        } else {
            f.write_str(" ")?
        }
        self.print(f, depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code_sets::CodeSetComponent;
    use crate::{Endpoint, IiopProfile};
    use zorb_cdr::{Encoder, Version};

    fn component(tag: ComponentTag, data: &[u8]) -> TaggedComponent {
        TaggedComponent { tag, data: Bytes::copy_from_slice(data) }
    }

    #[test]
    fn prints_a_reference_with_known_and_unknown_parts() {
        let unix = Encoder::encapsulated(|to| {
            to.write_string("box")?;
            to.write_string("/tmp/omni")
        });
        let profile = IiopProfile {
            version: Version::V1_2,
            host: "::1".into(),
            port: 2809,
            object_key: Bytes::from_static(b"\xffk"),
            components: vec![
                component(ComponentTag::ORB_TYPE, b"\0\0\0\0\x41\x54\x54\0"),
                CodeSetComponent::ours().encode().unwrap(),
                Endpoint { host: "other".into(), port: 7 }.encode().unwrap(),
                TaggedComponent { tag: ComponentTag::OMNIORB_UNIX, data: unix.unwrap() },
                component(ComponentTag(0x77), &[1, 2]),
            ],
        };
        let unknown = TaggedProfile { tag: ProfileTag(0x5555), data: Bytes::from_static(b"abc") };
        let text =
            ior(&Ior { type_id: "IDL:T:1.0".into(), profiles: vec![profile.encode().unwrap(), unknown] })
                .to_string();
        let order = if cfg!(target_endian = "little") { "little-endian" } else { "big-endian" };
        let expected = "\
type id: \"IDL:T:1.0\"
profiles:
  - tag: IIOP (0x0)
    byte order: \"NATIVE\"
    version: \"1.2\"
    host: \"::1\"
    port: 2809
    object key: 2 octets: ff6b \"\\xffk\"
    components:
      - tag: ORB type (0x0)
        byte order: \"big-endian\"
        vendor: omniORB (0x41545400)
      - tag: code sets (0x1)
        byte order: \"NATIVE\"
        char:
          native: UTF-8 (0x5010001)
          conversion:
            - ISO-8859-1 (0x10001)
        wchar:
          native: UTF-16 (0x10109)
          conversion:
            - UCS-2 (0x10100)
      - tag: alternate IIOP address (0x3)
        byte order: \"NATIVE\"
        host: \"other\"
        port: 7
      - tag: omniORB Unix socket (0x41545402)
        byte order: \"NATIVE\"
        host: \"box\"
        path: \"/tmp/omni\"
      - tag: 119
        data: 2 octets: 0102
  - tag: 21845
    data: 3 octets: 616263 \"abc\""
            .replace("NATIVE", order);
        assert_eq!(text, expected, "\n{text}");
    }

    #[test]
    fn data_that_are_not_what_the_tag_says_are_shown_with_the_fault() {
        let Value::Group(fields) = super::component(&component(ComponentTag::ORB_TYPE, b"\0\0\0\0\x41\x54"))
        else {
            panic!()
        };
        let names: Vec<_> = fields.iter().map(|field| &*field.name).collect();
        assert_eq!(names, ["tag", "byte order", "malformed", "data"]);
    }

    #[test]
    fn a_name_within_a_process_is_shown_and_what_is_none_as_octets() {
        let shown = |data: &'static [u8]| {
            let Value::Group(fields) = super::component(&component(ComponentTag::ZORB_MEMORY, data)) else {
                panic!()
            };
            fields
        };
        let fields = shown(b"12345678bank");
        assert_eq!(fields[1], named("memory", Value::Octets("12345678".into())));
        assert_eq!(fields[2], named("name", Value::Text("bank".into())));
        assert_eq!(shown(b"12345678")[2], named("name", Value::Text(String::new())));
        for data in [&b"1234567"[..], b"12345678\xff"] {
            assert_eq!(shown(data)[1], named("data", Value::Octets(data.into())));
        }
    }

    #[test]
    fn what_follows_the_known_fields_is_shown() {
        let Value::Group(fields) = super::component(&component(ComponentTag::FT_PRIMARY, b"\0\x01rest"))
        else {
            panic!()
        };
        assert_eq!(fields.last(), Some(&named("further octets", Value::Octets("rest".into()))));
    }

    #[test]
    fn what_only_the_octets_of_a_text_say_is_shown() {
        // An empty type id, no profiles, and two octets that nobody announced.
        for (written, order) in [
            (" IOR:00000000 00000001 00 000000 00000000 cafe", "big-endian"),
            ("ior:01000000 01000000 00 000000 00000000 CAFE\n", "little-endian"),
        ] {
            let written = alloc::format!(" {}\n", written.replace(' ', ""));
            let Value::Group(fields) = text(&written).unwrap() else { panic!() };
            assert_eq!(fields.first(), Some(&named("byte order", Value::Text(order.into()))));
            let behind = Bytes::from_static(&[0xca, 0xfe]);
            assert_eq!(fields.last(), Some(&named("further octets", Value::Octets(behind))));
        }
        let Value::Group(fields) = text("IOR:00000000000000010000000000000000").unwrap() else { panic!() };
        let names: Vec<_> = fields.iter().map(|field| &*field.name).collect();
        assert_eq!(names, ["byte order", "type id", "profiles"]);
        assert!(text("IOR:0000").is_err() && text("no reference").is_err());
        let url_only: ObjectUrl = "corbaloc::host/Key".parse().unwrap();
        assert_eq!(text("corbaloc::host/Key").unwrap(), url(&url_only));
    }

    #[test]
    fn taos_unix_profile() {
        let data = b"\0\x01\x01\0\0\0\0\x05/tmp\0\0\0\0\0\0\0\x01k\0\0\0\0\0\0\0";
        let Value::Group(fields) =
            profile(&TaggedProfile { tag: ProfileTag::TAO_UIOP, data: Bytes::from_static(data) })
        else {
            panic!()
        };
        assert!(fields.contains(&named("rendezvous point", Value::Text("/tmp".into()))), "{fields:?}");
        assert!(fields.contains(&named("object key", Value::Octets("k".into()))), "{fields:?}");
        assert!(fields.contains(&named("components", Value::List(vec![]))), "{fields:?}");
    }

    #[test]
    fn deep_nesting_ends() {
        let mut data = Bytes::from_static(b"\0");
        for _ in 0..100 {
            data = Encoder::encapsulated(|to| {
                to.write_bool(true);
                to.write_u32(1);
                to.write_u16(0);
                to.write_u32(ComponentTag::CSI_SEC_MECH_LIST.0);
                to.write_length(data.len())?;
                to.write_octets(&data);
                to.write_octets(&[0; 40]);
                Ok(())
            })
            .unwrap();
        }
        let text =
            super::component(&TaggedComponent { tag: ComponentTag::CSI_SEC_MECH_LIST, data }).to_string();
        assert_eq!(text.matches("transport:").count(), 4);
    }
}
