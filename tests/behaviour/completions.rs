//! The memory that an argument or a result lies in comes back to the program when the transport has done with it, once and in any case.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::sync::{Arc, Mutex};

use zorb::giop::{IiopProfile, Ior};
use zorb::{Call, Interface, Orb, Sequence, SystemException};
use zorb_tests::servant::{PATIENCE, Servant};
use zorb_tests::testing::{Gallery, GalleryServant};
use zorb_tests::wire::{Order, Wire};

use crate::fixture::{Place, probe, serve};

/// 800 kB: sent from where they lie.
const MANY: usize = 100_000;

/// Memory of the program's, which says when it has come back.
struct Slab<T> {
    elements: Vec<T>,
    back: Sender<()>,
}

impl<T> AsRef<[T]> for Slab<T> {
    fn as_ref(&self) -> &[T] {
        &self.elements
    }
}

impl<T> Drop for Slab<T> {
    fn drop(&mut self) {
        // Nobody may be left who wants to know.
        let _ = self.back.send(());
    }
}

/// Elements in a slab, and where it says that it is back.
fn slab<T: zorb::cdr::Element + Send + Sync>(elements: Vec<T>) -> (Sequence<T>, Receiver<()>) {
    let (back, is_back) = mpsc::channel();
    let Ok(sequence) = Sequence::from_owner(Slab { elements, back }) else {
        panic!("numbers are all values")
    };
    (sequence, is_back)
}

/// Waits until the slab is back, and that it was once: what says so is gone with it.
fn comes_back(is_back: &Receiver<()>) {
    assert_eq!(is_back.recv_timeout(PATIENCE), Ok(()), "it never came back");
    assert_eq!(is_back.recv_timeout(PATIENCE), Err(RecvTimeoutError::Disconnected), "it came back twice");
}

/// Paints into slabs, and hands on where these say that they are back.
struct Painter {
    painted: Mutex<Sender<Receiver<()>>>,
    hung: Mutex<Vec<Sequence<f64>>>,
}

impl GalleryServant for Painter {
    fn hang(&self, _: &Call, _: &str, image: Sequence<f64>, _: &str) -> Result<(), SystemException> {
        self.hung.lock().unwrap().push(image);
        Ok(())
    }

    fn look(&self, _: &Call, _: &str) -> Result<Sequence<f64>, SystemException> {
        Ok(self.hung.lock().unwrap().pop().unwrap_or_default())
    }

    fn paint(&self, _: &Call, count: u32) -> Result<Sequence<f64>, SystemException> {
        let (image, is_back) = slab((0..count).map(f64::from).collect());
        self.painted.lock().unwrap().send(is_back).unwrap();
        Ok(image)
    }

    fn take_down(&self, _: &Call, _: &str) -> Result<(), SystemException> {
        self.hung.lock().unwrap().clear();
        Ok(())
    }
}

/// A server with a painter, its reference as text, and where it hands on.
fn gallery(at: Place) -> (Orb, String, Receiver<Receiver<()>>) {
    let (painted, paintings) = mpsc::channel();
    let orb = at.server().build();
    let poa = orb.root_poa().unwrap();
    let painter = Painter { painted: Mutex::new(painted), hung: Mutex::default() };
    let gallery = poa.activate::<Gallery>(Arc::new(painter)).unwrap();
    poa.manager().activate().unwrap();
    let text = orb.object_to_string(Some(gallery.as_object()));
    (orb, text, paintings)
}

fn a_result_comes_back_when_it_has_left(at: Place) {
    let (_server, text, paintings) = gallery(at);
    let client = at.client().build();
    let gallery = Gallery::from_object(client.string_to_object(&text).unwrap().unwrap());
    // Larger than what is lent from where it lies, and smaller.
    for count in [MANY, 10, MANY] {
        let image = gallery.paint(count as u32).unwrap();
        assert!(image.len() == count && image.last() == Some(&(count as f64 - 1.0)));
        comes_back(&paintings.recv_timeout(PATIENCE).unwrap());
        // What the client has is its own.
        assert_eq!(image[count / 2], (count / 2) as f64);
    }
}

fn what_a_future_owns_comes_back_when_it_has_left(at: Place) {
    let (_server, text, _) = gallery(at);
    let client = at.client().build();
    let gallery = Gallery::from_object(client.string_to_object(&text).unwrap().unwrap());
    for count in [MANY, 10] {
        let (image, is_back) = slab(vec![0.5; count]);
        gallery.hang_async("one".into(), image, "one".into()).wait().unwrap();
        // Also while the servant keeps what it has got.
        comes_back(&is_back);
        assert!(gallery.look("one").unwrap() == vec![0.5; count]);
    }
}

fn a_call_that_is_given_up_gives_back_what_it_owns(at: Place) {
    let (_server, text) = serve(at.server(), Arc::new(Servant::new(1)));
    let client = at.client().build();
    let probe = probe(&client, &text);
    let mut slabs = Vec::new();
    // Some have begun to leave, some wait behind others, some have not found a connection.
    for _ in 0..20 {
        let (data, is_back) = slab(vec![7_u8; 500_000]);
        drop(probe.echo_async(data));
        slabs.push(is_back);
    }
    slabs.iter().for_each(comes_back);
    // Also what a call still owned when its ORB ended.
    let (data, is_back) = slab(vec![7_u8; 500_000]);
    let last = probe.echo_async(data);
    client.shutdown(false, PATIENCE);
    let _ = last.wait();
    comes_back(&is_back);
}

fn a_call_that_fails_gives_back_what_it_owns(at: Place) {
    let (server, text) = serve(at.server(), Arc::new(Servant::new(1)));
    let client = at.client().build();
    let probe = probe(&client, &text);
    server.shutdown(true, PATIENCE);
    let (data, is_back) = slab(vec![7_u8; 500_000]);
    probe.echo_async(data).wait().expect_err("nobody is there");
    comes_back(&is_back);
}

over! {
    a_result_comes_back_when_it_has_left,
    what_a_future_owns_comes_back_when_it_has_left,
    a_call_that_is_given_up_gives_back_what_it_owns,
    a_call_that_fails_gives_back_what_it_owns,
}

/// 64 MiB: more than two sockets hold between them.
const MORE_THAN_SOCKETS_HOLD: usize = 64 << 20;

#[test]
fn an_argument_is_kept_while_the_transport_has_not_taken_its_last_octet() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = Place::TCP.client().build();
    let text = format!("corbaloc:iiop:1.2@{}/key", listener.local_addr().unwrap());
    let probe = probe(&client, &text);
    let (data, is_back) = slab(vec![7_u8; MORE_THAN_SOCKETS_HOLD]);
    let call = probe.echo_async(data);
    let (mut socket, _) = listener.accept().unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut octets = vec![0; 1 << 20];
    socket.read_exact(&mut octets).unwrap();
    // However long it takes: the rest is more than has room on the way.
    assert_eq!(is_back.try_recv(), Err(TryRecvError::Empty), "it came back before it had left");
    for _ in 1..MORE_THAN_SOCKETS_HOLD >> 20 {
        socket.read_exact(&mut octets).unwrap();
    }
    // Now it has left; the call keeps it until it is answered, since it may have to be sent again.
    drop(socket);
    call.wait().expect_err("the server has gone");
    comes_back(&is_back);
}

/// A connection to a painter, over which a painting was asked for.
fn asked(text: &str, count: usize) -> TcpStream {
    let reference: Ior = text.parse().unwrap();
    let profile = IiopProfile::decode(&reference.profiles[0]).unwrap();
    let mut socket = TcpStream::connect((&*profile.host, profile.port)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = Wire::request((2, Order::Big), 1, true, &profile.object_key, "paint");
    socket.write_all(&request.u32(count as u32).done()).unwrap();
    socket
}

#[test]
fn a_result_comes_back_from_readers_that_are_slow_or_gone() {
    let (_server, text, paintings) = gallery(Place::TCP);
    let count = MORE_THAN_SOCKETS_HOLD / 8;
    let mut slow = asked(&text, count);
    let from_slow = paintings.recv_timeout(PATIENCE).unwrap();
    let mut gone = asked(&text, count);
    let from_gone = paintings.recv_timeout(PATIENCE).unwrap();
    gone.read_exact(&mut [0; 1000]).unwrap();
    drop(gone);
    comes_back(&from_gone);
    // The server lets go of it for a copy where the transport has no room for a while, and so serves others meanwhile.
    comes_back(&from_slow);
    let mut octets = vec![0; MORE_THAN_SOCKETS_HOLD];
    slow.read_exact(&mut octets).unwrap();
    let last = f64::from_le_bytes(octets[octets.len() - 8..].try_into().unwrap());
    assert!(last > 0.0 && last < count as f64, "numbers, to the end");
}
