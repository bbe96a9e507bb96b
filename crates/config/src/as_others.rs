//! Values as other systems' options spell them, read as this table's. What they mean there and cannot mean here is an error that says so.

pub(crate) fn same(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

fn number(text: &str, unit: &str, zero: &str) -> Result<String, String> {
    match text.trim().parse::<u64>() {
        Ok(0) => Err(format!("0 means {zero} there, and zorb has no such thing")),
        Ok(number) => Ok(format!("{number}{unit}")),
        Err(_) => Err(format!("{text:?} is no whole number")),
    }
}

pub(crate) fn milliseconds(text: &str) -> Result<String, String> {
    number(text, "ms", "a wait without end")
}

pub(crate) fn seconds(text: &str) -> Result<String, String> {
    number(text, "s", "that connections are never closed")
}

/// `giop:tcp:HOST:`, the one form of several that names a host alone.
pub(crate) fn publish(text: &str) -> Result<String, String> {
    let host = text.trim().strip_prefix("giop:tcp:").and_then(|rest| rest.strip_suffix(':'));
    host.filter(|host| !host.is_empty())
        .map(str::to_owned)
        .ok_or_else(|| format!("{text:?}: of what omniORB takes here zorb knows giop:tcp:HOST: alone"))
}

/// `* unix,tcp`: a rule for every address. There `bidir` is no way among others but what is tried before all.
pub(crate) fn rule(text: &str) -> Result<String, String> {
    let names = text.trim().strip_prefix('*').map(str::trim).filter(|names| !names.is_empty());
    let bidir_first = |names: &str| {
        let (bidir, others): (Vec<_>, Vec<_>) =
            names.split(',').map(str::trim).partition(|it| *it == "bidir");
        bidir.into_iter().chain(others).collect::<Vec<_>>().join(",")
    };
    names.map(bidir_first).ok_or_else(|| {
        format!(
            "{text:?}: of omniORB's rules zorb knows \"* transport,transport\" alone, one for every address"
        )
    })
}

fn switch(text: &str, off: &str, on: &str) -> Result<String, String> {
    match text.trim() {
        "0" => Ok(off.to_owned()),
        "1" => Ok(on.to_owned()),
        _ => Err(format!("{text:?} is neither 0 nor 1")),
    }
}

pub(crate) fn offers(text: &str) -> Result<String, String> {
    switch(text, "no", "yes")
}

pub(crate) fn accepts(text: &str) -> Result<String, String> {
    switch(text, "nobody", "peer-address")
}

pub(crate) fn threads(text: &str) -> Result<String, String> {
    switch(text, "pool", "per-connection")
}
