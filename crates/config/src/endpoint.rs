//! Endpoints as zorb, omniORB and TAO write them, all read into zorb's form.
//!
//! | written | read |
//! |---|---|
//! | `tcp:host:port`, `unix:/path`, any `transport:address` | as it stands |
//! | `iiop://host:port`, with `/portspan=N` | `tcp:host:port`, `tcp:host:port-(port+N-1)` |
//! | `uiop:///path` | `unix:/path` |
//! | `giop:tcp:host:port`, `giop:unix:/path` | `tcp:host:port`, `unix:/path` |
//!
//! A host or port that is left out is every interface and a port that the system picks.

/// Zorb's form of an endpoint.
///
/// # Errors
/// It has none of the forms, or an option that has no meaning here.
pub(crate) fn read(text: &str) -> Result<String, String> {
    if let Some(rest) = strip(text, "iiop://") {
        return iiop(text, rest);
    }
    if let Some(rest) = strip(text, "uiop://") {
        let path = rest.split_once('|').map_or(rest, |(path, _)| path);
        return plain(text, format!("unix:{path}"));
    }
    if let Some(rest) = strip(text, "giop:") {
        return match rest.split_once(':') {
            Some(("tcp", address)) => plain(text, tcp(address)?),
            Some((transport, address)) if !transport.is_empty() => {
                plain(text, format!("{transport}:{address}"))
            }
            _ => Err(format!("{text:?} names no transport, as giop:tcp:host:port does")),
        };
    }
    plain(text, text.to_owned())
}

/// `endpoint`, if it has zorb's own form; `text` is what was written.
fn plain(text: &str, endpoint: String) -> Result<String, String> {
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    match endpoint.split_once(':') {
        Some((transport, address))
            if !transport.is_empty() && is_name(transport) && !address.starts_with("//") =>
        {
            Ok(endpoint)
        }
        _ => Err(format!(
            "{text:?} is no endpoint; there are tcp:host:port, unix:/path, iiop://host:port, uiop:///path, \
             giop:tcp:host:port and giop:unix:/path"
        )),
    }
}

fn strip<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// TAO's `[version@]host[:port][/option=value[&…]]`.
fn iiop(text: &str, rest: &str) -> Result<String, String> {
    let (address, options) = rest.split_once('/').unwrap_or((rest, ""));
    if address.contains('@') {
        return Err(format!("{text:?}: the GIOP version is a setting of its own, giop_version"));
    }
    let mut span = None;
    for option in options.split('&').filter(|option| !option.is_empty()) {
        match option.split_once('=') {
            Some(("portspan", count)) => {
                let count = count.parse::<u16>().ok().filter(|count| *count > 0);
                span = Some(count.ok_or_else(|| format!("{text:?}: portspan is a number from 1 to 65535"))?);
            }
            Some(("hostname_in_ior", _)) => {
                return Err(format!("{text:?}: the host that references name is a setting, published_host"));
            }
            _ => return Err(format!("{text:?}: {option:?} is no option that zorb knows; portspan is")),
        }
    }
    let endpoint = tcp(address)?;
    let Some(span) = span else { return Ok(endpoint) };
    let port = endpoint.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok()).unwrap_or_default();
    match port.checked_add(span - 1) {
        Some(last) if port != 0 => Ok(format!("{endpoint}-{last}")),
        _ => Err(format!("{text:?}: portspan wants a port, and one that leaves room for {span} below 65536")),
    }
}

/// An address whose port may be left out, also behind a colon.
fn tcp(address: &str) -> Result<String, String> {
    let v6 = address.starts_with('[');
    let after = if v6 { address.rsplit_once(']').map_or("", |(_, after)| after) } else { address };
    if v6 && !address.contains(']') {
        return Err(format!("{address:?} lacks a ]"));
    }
    Ok(match after.rsplit_once(':') {
        Some((_, "")) => format!("tcp:{address}0"),
        Some(_) => format!("tcp:{address}"),
        None => format!("tcp:{address}:0"),
    })
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn three_spellings() {
        for (text, expected) in [
            ("tcp:host:1", "tcp:host:1"),
            ("tcp::0", "tcp::0"),
            ("unix:", "unix:"),
            ("unix:/run/x", "unix:/run/x"),
            ("shm:name", "shm:name"),
            ("iiop://host:2809", "tcp:host:2809"),
            ("IIOP://host", "tcp:host:0"),
            ("iiop://", "tcp::0"),
            ("iiop://:2809", "tcp::2809"),
            ("iiop://[::1]:99", "tcp:[::1]:99"),
            ("iiop://[::1]", "tcp:[::1]:0"),
            ("iiop://host:4000/portspan=11", "tcp:host:4000-4010"),
            ("uiop:///tmp/socket", "unix:/tmp/socket"),
            ("uiop://", "unix:"),
            ("giop:tcp:host:1", "tcp:host:1"),
            ("giop:tcp::", "tcp::0"),
            ("giop:tcp:host:", "tcp:host:0"),
            ("giop:unix:/run/x", "unix:/run/x"),
            ("giop:unix:", "unix:"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
        }
        for (text, part) in [
            ("", "is no endpoint"),
            ("host", "is no endpoint"),
            (":1", "is no endpoint"),
            ("http://host", "is no endpoint"),
            ("giop:", "names no transport"),
            ("giop:tcp://", "is no endpoint"),
            ("giop:a b:c", "is no endpoint"),
            ("uiop:////run/x", "is no endpoint"),
            ("iiop://1.1@host:1", "giop_version"),
            ("iiop://host:1/hostname_in_ior=x", "published_host"),
            ("iiop://host:1/ssl_port=2", "is no option"),
            ("iiop://host:1/portspan=0", "from 1 to 65535"),
            ("iiop://host/portspan=2", "wants a port"),
            ("iiop://host:65535/portspan=2", "leaves room"),
            ("iiop://[::1", "lacks a ]"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
