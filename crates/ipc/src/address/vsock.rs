//! Addresses between a virtual machine and its host.

use std::fmt;
use std::str::FromStr;

use super::AddressParseError;

/// A port of a virtual machine or its host (vsock(7)): `3:2809`, `host:2809`, `local:2809`, `any:2809`.
///
/// ```
/// use zorb_ipc::VsockAddress;
/// let address: VsockAddress = "host:2809".parse()?;
/// assert_eq!(address, VsockAddress { context: VsockAddress::HOST, port: 2809 });
/// assert_eq!(address.to_string(), "host:2809");
/// # Ok::<(), zorb_ipc::AddressParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VsockAddress {
    /// Which machine: its context identifier, which the hypervisor gives.
    pub context: u32,
    /// Which port of it.
    pub port: u32,
}

impl VsockAddress {
    /// Any of this machine's contexts: to listen on.
    pub const ANY: u32 = u32::MAX;
    /// This machine, where its kernel has a loopback for vsock.
    pub const LOCAL: u32 = 1;
    /// The host of this virtual machine.
    pub const HOST: u32 = 2;
    /// As a port to listen on: one that the system chooses.
    pub const ANY_PORT: u32 = u32::MAX;
}

const NAMED: [(u32, &str); 3] =
    [(VsockAddress::ANY, "any"), (VsockAddress::LOCAL, "local"), (VsockAddress::HOST, "host")];

impl FromStr for VsockAddress {
    type Err = AddressParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (context, port) = text.split_once(':').ok_or(AddressParseError::Vsock)?;
        let named = NAMED.iter().find(|(_, name)| *name == context).map(|(context, _)| *context);
        let context = named.or_else(|| number(context)).ok_or(AddressParseError::Vsock)?;
        let port = number(port).ok_or(AddressParseError::Vsock)?;
        Ok(Self { context, port })
    }
}

/// Digits only: `parse` would take a sign.
fn number(text: &str) -> Option<u32> {
    text.bytes().all(|digit| digit.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

impl fmt::Display for VsockAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMED.iter().find(|(context, _)| *context == self.context) {
            Some((_, name)) => write!(f, "{name}:{}", self.port),
            None => write!(f, "{}:{}", self.context, self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_address_are_one_to_one() {
        for text in ["any:1", "local:0", "host:4294967295", "3:2809"] {
            assert_eq!(text.parse::<VsockAddress>().unwrap().to_string(), text);
        }
        for text in ["", "3", "3:", ":3", "+3:1", "3:+1", "3:4294967296", "here:1", "3:1:1"] {
            assert_eq!(text.parse::<VsockAddress>(), Err(AddressParseError::Vsock), "{text}");
        }
    }
}
