//! `corbaname:` URLs: a naming context by `corbaloc`, then a name to resolve in it.

use std::sync::Arc;

use zorb_giop::Corbaname;
use zorb_orb::{Exception, Interface, Minor, ObjectRef, Orb, OrbBuilder, SystemException};

use crate::CosNaming::NamingContext;
use crate::name;

/// Lets the ORB's `string_to_object` resolve `corbaname:` texts.
pub fn install(builder: OrbBuilder) -> OrbBuilder {
    builder.url_scheme("corbaname", Arc::new(resolve))
}

fn resolve(orb: &Orb, text: &str) -> Result<Option<ObjectRef>, SystemException> {
    let bad = |cause: String| {
        // "string_to_object conversion failed due to bad schema specific part" (CORBA 3.4 part 1 annex A.5).
        SystemException::BadParam(format!("{text:.200}: {cause}")).minor(Minor::omg(9))
    };
    let url: Corbaname = text.parse().map_err(|error: zorb_giop::UrlError| bad(error.to_string()))?;
    let Some(context) = orb.string_to_object(&url.corbaloc.to_string())? else {
        return Err(bad("the naming context is nil".into()));
    };
    if url.name.is_empty() {
        return Ok(Some(context));
    }
    let name = name::parse(&url.name).map_err(|error| bad(error.to_string()))?;
    NamingContext::from_object(context).resolve(&name).map_err(|error| match Exception::from(error) {
        Exception::System(exception) => exception.context(format_args!("{text:.200}")),
        other => bad(other.to_string()),
    })
}
