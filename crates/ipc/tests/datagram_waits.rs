//! Waits of datagram sockets end by their deadline, whatever else the system has to say about the socket; and
//! errors are told of the datagram that they are about.

use std::io::IoSlice;
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use zorb_ipc::{ConnectedUdpSocket, UdpSocket};

const LONG: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(100);

fn within(time: Duration) -> Instant {
    Instant::now() + time
}

fn bound() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap()
}

/// The octets of its queue of errors hold a time of sending, which nobody here takes: every wait ends at once.
fn with_a_time_of_sending(socket: &UdpSocket) {
    let which: libc::c_uint = libc::SOF_TIMESTAMPING_TX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
    // SAFETY: the value is borrowed for the call and has the length that is said.
    let set = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPING,
            (&raw const which).cast(),
            size_of_val(&which) as libc::socklen_t,
        )
    };
    assert_eq!(set, 0);
    socket.send_to(&[IoSlice::new(b"x")], bound().local().unwrap()).unwrap();
    let begun = Instant::now();
    let mut waits = [rustix::event::PollFd::new(socket, rustix::event::PollFlags::PRI)];
    rustix::event::poll(&mut waits, Some(&rustix::time::Timespec { tv_sec: 5, tv_nsec: 0 })).unwrap();
    assert!(waits[0].revents().contains(rustix::event::PollFlags::ERR), "{:?}", begun.elapsed());
}

#[test]
fn a_queue_of_errors_that_nobody_takes_neither_spins_nor_delays() {
    let socket = bound();
    with_a_time_of_sending(&socket);
    let (begun, used) = (Instant::now(), processor_time());
    let time = 5 * SHORT;
    let error = socket.receive_from_by(&mut [0; 8], begun + time).unwrap_err();
    assert!(error.is_timeout(), "{error}");
    assert!(begun.elapsed() >= time);
    assert!(processor_time() - used < time / 2, "it rests meanwhile");
    let (to, sender) = (*socket.local().unwrap(), bound());
    std::thread::scope(|scope| {
        let receiving = scope.spawn(|| socket.receive_from_by(&mut [0; 8], within(LONG)).unwrap().octets);
        std::thread::sleep(SHORT);
        sender.send_to(&[IoSlice::new(b"late")], &to).unwrap();
        assert_eq!(receiving.join().unwrap(), 4);
    });
}

/// What this thread has used of the processor.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap()
}

#[test]
fn a_report_of_another_datagram_is_not_lost_to_one_that_is_too_large() {
    let nobody = *bound().local().unwrap();
    let socket = ConnectedUdpSocket::connect(nobody).unwrap();
    let long = vec![0; 70_000];
    // The report comes with the datagram, or a moment later.
    socket.send(&[IoSlice::new(b"x")]).unwrap();
    assert!(zorb_ipc::wait_readable(&socket, within(LONG)).unwrap());
    let error = socket.send(&[IoSlice::new(&long)]).unwrap_err();
    assert!(error.is_connection_refused() && error.said_by().is_some(), "{error}");
    let error = socket.send(&[IoSlice::new(&long)]).unwrap_err();
    assert!(error.is_too_large() && !error.is_too_large_for_path(), "{error}");
}
