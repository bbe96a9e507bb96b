//! What becomes of a body that passes: forwarded as it is where its types hold no reference, with other references where they
//! do, and by policy where they are not known.

use zorb_cdr::{Body, Segment, Version};
use zorb_giop::Ior;
use zorb_orb::SystemException;

use crate::rewrite::{Replacement, rewritten};
use crate::scan::seems_to_hold_a_reference;
use crate::shape::Shape;
use crate::walk::{Stop, exception_id, walk};
use crate::{Settings, Unknown};

/// What a body holds.
pub(crate) struct Contents<'s> {
    pub(crate) version: Version,
    /// Its values; `None` where that is not known.
    pub(crate) shapes: Option<&'s [Shape]>,
    /// They stand behind an exception's id.
    pub(crate) is_exception: bool,
}

/// The body as it is to go on; `translate` gives the reference for the other side, of one that is passed as an interface.
pub(crate) fn passed(
    settings: &Settings,
    body: Body,
    contents: &Contents<'_>,
    mut translate: impl FnMut(&Ior, Option<usize>) -> Result<Ior, SystemException>,
) -> Result<Body, SystemException> {
    let Some(shapes) = contents.shapes else {
        check_unknown(settings, &body, 0)?;
        return Ok(body);
    };
    if shapes.is_empty() {
        return Ok(body);
    }
    let (names, most) = (settings.interfaces.names(), settings.most_references);
    let walked = walk(&body, contents.version, contents.is_exception, shapes, names, most);
    let walked = walked.map_err(|stop| match stop {
        Stop::Malformed(wrong) => {
            SystemException::Marshal(format!("{} at octet {} of the body", wrong.what, wrong.at))
        }
        Stop::TooMany => {
            SystemException::ImpLimit(format!("the message holds over {most} references (limit)"))
        }
        Stop::Unknown(at) => SystemException::Internal(format!("a walk ended at octet {at}")),
    })?;
    if let Some(at) = walked.unknown_from {
        check_unknown(settings, &body, at)?;
    }
    let mut replacements = Vec::with_capacity(walked.found.len());
    for found in walked.found {
        let ior = translate(&found.ior, found.interface)?;
        replacements.push(Replacement { start: found.start, end: found.end, ior });
    }
    Ok(match replacements.is_empty() {
        true => body,
        false => rewritten(&body, &replacements),
    })
}

/// The id of a user exception, whose members then are known by it.
pub(crate) fn exception(body: &Body) -> Result<String, SystemException> {
    exception_id(body).map_err(|wrong| {
        SystemException::Marshal(format!("{} at octet {} of a user exception", wrong.what, wrong.at))
    })
}

/// What the policy says of octets whose types are not known, from `at` on.
fn check_unknown(settings: &Settings, body: &Body, at: usize) -> Result<(), SystemException> {
    if settings.unknown == Unknown::Pass || !seems_to_hold_a_reference(&rest(body, at)) {
        return Ok(());
    }
    let detail = "the message holds an object reference where its types are not known, and the bridge lets none through";
    Err(SystemException::NoPermission(detail))
}

/// A body without its first octets.
fn rest(body: &Body, mut without: usize) -> Body {
    let segments = body.segments().filter_map(|segment| {
        let now = without.min(segment.octets.len());
        without -= now;
        let octets = segment.octets.slice(now..segment.octets.len());
        (!octets.is_empty()).then(|| Segment { octets, phase: segment.phase.wrapping_add(now) })
    });
    Body::many(segments.collect(), body.order)
}
