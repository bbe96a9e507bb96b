//! Which families there are: each test program that tries all of them takes them from here, also where it has to be alone
//! in its process. A new one joins all suites by its line below, beside which `families.rs` says what its tests need.
//!
//! A list takes the name of a macro, which it calls for each family with a name and a type.

/// Kinds of stream sockets: all that has a connector, an acceptor and a stream of this crate's.
macro_rules! every_stream_family {
    ($suite:ident) => {
        $suite!(tcp: zorb_ipc::Tcp);
        $suite!(unix_file: zorb_ipc::Unix);
        $suite!(vsock: zorb_ipc::Vsock);
    };
}

/// All that moves octets both ways: these, and what is no socket.
macro_rules! every_stream_transport {
    ($suite:ident) => {
        every_stream_family!($suite);
        $suite!(tcp_by_ipv6: crate::conformance::families::TcpByIpv6);
        $suite!(unix_name: crate::conformance::families::UnixByName);
        $suite!(shared_memory: zorb_ipc::Shm);
        $suite!(shared_memory_small_slabs: crate::conformance::families::SmallSlabs);
    };
}

/// Kinds of datagram sockets.
macro_rules! every_datagram_family {
    ($suite:ident) => {
        $suite!(udp: zorb_ipc::Udp);
        $suite!(udp_by_ipv6: crate::conformance::families::UdpByIpv6);
        $suite!(unix: zorb_ipc::UnixDatagram);
    };
}
