//! From text to a reference: `IOR:`, `corbaloc:`, `file:` and what other schemes the builder was given
//! (CORBA 3.4 part 2 §7.6.10).

use std::fs::File;
use std::io::Read;

use zorb_giop::{CorbalocAddress, ObjectUrl};

use super::ObjectRef;
use crate::exception::{Minor, SystemException};
use crate::orb::Orb;

/// The most that a `file:` URL's file may hold. 1 MiB: the longest references seen have a few KiB.
const LARGEST_FILE: u64 = 1 << 20;

/// Times that one text may lead to another (`file:` to `corbaloc:rir:` to an initial reference …).
const MOST_STEPS: u32 = 8;

/// The reference that `text` names; `None` when that is nil.
pub(crate) fn resolve(orb: &Orb, text: &str) -> Result<Option<ObjectRef>, SystemException> {
    step(orb, text.trim(), MOST_STEPS)
}

fn step(orb: &Orb, text: &str, left: u32) -> Result<Option<ObjectRef>, SystemException> {
    let Some(left) = left.checked_sub(1) else {
        return Err(bad(10, format!("{text:.60}: leads from one text to the next without end")));
    };
    let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
    if let Some(resolver) = orb.url_scheme(&scheme) {
        return resolver(orb, text);
    }
    let minor = if matches!(scheme.as_str(), "ior" | "corbaloc" | "corbaname" | "file") { 9 } else { 7 };
    match text.parse().map_err(|error| bad(minor, format!("{text:.200}: {error}")))? {
        ObjectUrl::Ior(ior) => Ok(ObjectRef::new(orb, ior)),
        ObjectUrl::File(path) => step(orb, &read_file(&path)?, left),
        ObjectUrl::Corbaloc(url) if url.addresses == [CorbalocAddress::Rir] => {
            match orb.initial(&String::from_utf8_lossy(&url.key))? {
                Initial::Object(object) => Ok(Some(object)),
                Initial::Text(text) => step(orb, text.trim(), left),
            }
        }
        ObjectUrl::Corbaloc(url) => {
            let ior = url
                .to_ior(&zorb_ipc::host_name())
                .map_err(|error| bad(9, format!("{text:.200}: {error}")))?;
            if ior.is_nil() {
                return Err(bad(
                    8,
                    format!(
                        "{text:.200}: none of its protocols is known; iiop, miop, uiop, omniunix and rir are"
                    ),
                ));
            }
            Ok(ObjectRef::new(orb, ior))
        }
        _ => Err(bad(7, format!("{text:.200}: the builder was given no resolver for {scheme}: texts"))),
    }
}

/// What is known under an initial name.
pub(crate) enum Initial {
    Object(ObjectRef),
    Text(String),
}

fn read_file(path: &str) -> Result<String, SystemException> {
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(LARGEST_FILE + 1).read_to_string(&mut text))
        .map_err(|error| bad(10, format!("file {path:.200}: {error}")))?;
    if text.len() as u64 > LARGEST_FILE {
        return Err(bad(
            10,
            format!("file {path:.200}: holds more than {LARGEST_FILE} octets: no reference does"),
        ));
    }
    Ok(text.trim().to_owned())
}

/// BAD_PARAM with the OMG's minor code for a text that is no reference: 7 bad scheme, 8 bad address, 9 bad
/// scheme-specific part, 10 other (CORBA 3.4 part 1 annex A.5).
fn bad(minor: u32, text: String) -> SystemException {
    SystemException::BadParam(text).minor(Minor::omg(minor))
}
