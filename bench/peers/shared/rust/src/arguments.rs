//! `serve [KEY=VALUE…]` and `drive ADDRESS [KEY=VALUE…]`.

use std::net::{IpAddr, Ipv4Addr};

/// What the command line says.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where the server is; empty in the server itself.
    pub address: String,
    /// Unix sockets and not TCP.
    pub unix: bool,
    /// Octets of the sockets' queues; the system's if `None`.
    pub queue: Option<usize>,
    /// Where a server listens.
    pub host: IpAddr,
    /// At which port; 0: one that is free.
    pub port: u16,
}

const USAGE: &str = "usage: peer serve [KEY=VALUE...] | peer drive ADDRESS [KEY=VALUE...]";

impl Settings {
    /// Reads the arguments, or says what is wrong with them.
    pub(crate) fn read(mut arguments: impl Iterator<Item = String>) -> Result<Settings, String> {
        let mut settings = Settings {
            address: String::new(),
            unix: false,
            queue: None,
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 0,
        };
        let serve = match arguments.next().as_deref() {
            Some("serve") => true,
            Some("drive") => {
                settings.address = arguments.next().ok_or(USAGE)?;
                false
            }
            _ => return Err(USAGE.to_owned()),
        };
        for argument in arguments {
            let refused = || {
                format!(
                    "cannot use {argument}: keys are transport=tcp|unix, queue=OCTETS, and for serve host=ADDRESS, \
                     port=PORT"
                )
            };
            match argument.split_once('=').ok_or_else(refused)? {
                ("transport", "tcp") => settings.unix = false,
                ("transport", "unix") => settings.unix = true,
                ("queue", octets) => settings.queue = Some(octets.parse().map_err(|_| refused())?),
                ("host", host) if serve => settings.host = host.parse().map_err(|_| refused())?,
                ("port", port) if serve => settings.port = port.parse().map_err(|_| refused())?,
                _ => return Err(refused()),
            }
        }
        Ok(settings)
    }
}
