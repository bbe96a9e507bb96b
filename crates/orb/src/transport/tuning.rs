//! What sockets are told before they are used: the options that transports over a network have in common.
//!
//! A refusal, such as of a congestion control that the kernel has not, names the option and its value.

use std::fmt::Display;
use std::io;
use std::time::Duration;

use zorb_ipc::{
    BusyPoll, CongestionControl, ConnectedUdpSocket, NoDelay, PeakRate, Priority, TcpAcceptor, TcpStream,
    UdpSocket,
};

/// The options of one transport; `None` leaves the system's.
#[derive(Clone, Debug, Default)]
pub(super) struct Tuning {
    pub(super) no_delay: Option<bool>,
    pub(super) congestion_control: Option<String>,
    /// For people: what is done is in `loopback.rs`.
    pub(super) loopback_congestion_control: Option<String>,
    pub(super) loopback_window: Option<String>,
    pub(super) busy_poll: Option<Duration>,
    pub(super) peak_rate: Option<u64>,
    pub(super) priority: Option<u32>,
}

/// Sets an option if it was chosen.
macro_rules! tell {
    ($socket:ident, $chosen:expr, $name:literal, $option:expr) => {
        if let Some(value) = $chosen {
            $socket.set($option(value.clone())).map_err(|error| refused($name, value, error))?;
        }
    };
}

/// The same for what TCP's sockets are told, connected or listening.
macro_rules! tell_tcp {
    ($socket:ident, $tuning:ident) => {
        tell!($socket, &$tuning.no_delay, "no_delay", NoDelay);
        tell!($socket, &$tuning.congestion_control, "congestion_control", congestion);
        tell!($socket, &$tuning.busy_poll.map(Micros), "busy_poll", poll);
        tell!($socket, &$tuning.peak_rate, "peak_rate", rate);
    };
}

impl Tuning {
    /// Of a connection that this side opened.
    pub(super) fn stream(&self, socket: &TcpStream) -> io::Result<()> {
        tell_tcp!(socket, self);
        Ok(())
    }

    /// Of a listener, whose connections are born with them.
    pub(super) fn acceptor(&self, socket: &TcpAcceptor) -> io::Result<()> {
        tell_tcp!(socket, self);
        Ok(())
    }

    /// Of a socket that datagrams leave by.
    pub(super) fn sender(&self, socket: &ConnectedUdpSocket) -> io::Result<()> {
        tell!(socket, &self.priority, "priority", Priority);
        Ok(())
    }

    /// Of one that they arrive at.
    pub(super) fn receiver(&self, socket: &UdpSocket) -> io::Result<()> {
        tell!(socket, &self.busy_poll.map(Micros), "busy_poll", poll);
        Ok(())
    }

    /// Itself as a transport's properties.
    pub(super) fn properties(&self) -> impl Iterator<Item = (&'static str, String)> {
        let no_delay = self.no_delay.map(|yes| if yes { "yes" } else { "no" }.to_owned());
        [
            ("no_delay", no_delay),
            ("congestion_control", self.congestion_control.clone()),
            ("loopback_congestion_control", self.loopback_congestion_control.clone()),
            ("loopback_window", self.loopback_window.clone()),
            ("busy_poll", self.busy_poll.map(|time| Micros(time).to_string())),
            ("peak_rate", self.peak_rate.map(|rate| rate.to_string())),
            ("priority", self.priority.map(|priority| priority.to_string())),
        ]
        .into_iter()
        .filter_map(|(name, told)| Some((name, told?)))
    }
}

/// A time as the kernel counts it: whole microseconds, rounded up.
#[derive(Clone, Copy)]
struct Micros(Duration);

impl Display for Micros {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}us", self.0.as_nanos().div_ceil(1000))
    }
}

fn congestion(name: String) -> CongestionControl {
    CongestionControl(name.into())
}

fn poll(time: Micros) -> BusyPoll {
    BusyPoll(time.0)
}

fn rate(octets: u64) -> PeakRate {
    PeakRate(Some(octets))
}

fn refused(option: &str, value: impl Display, error: zorb_ipc::Error) -> io::Error {
    let error = io::Error::from(error);
    io::Error::new(error.kind(), format!("the option {option} = {value} is refused: {error}"))
}
