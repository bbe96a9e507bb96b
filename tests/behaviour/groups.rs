//! Oneways to groups of objects, by multicast on the loopback interface.

use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use zorb::giop::miop::Packet;
use zorb::transport::miop::Miop;
use zorb::{Completion, Interface, Kind, ObjectRef, Orb};
use zorb_tests::mutation::{Random, mutations};
use zorb_tests::servant::Servant;
use zorb_tests::testing::Bulky;

use crate::datagrams::{noted, serve, until};
use crate::fixture::models;

/// A group's address that no other test of this process has, and most probably none of another.
pub(crate) fn address(number: u8) -> (Ipv4Addr, u16) {
    let process = std::process::id();
    (
        [239, 255, (process >> 8) as u8, process as u8].into(),
        20_000 + u16::from(number) * 7 + (process % 1000) as u16 * 10,
    )
}

pub(crate) fn group(orb: &Orb, number: u64, (ip, port): (Ipv4Addr, u16)) -> ObjectRef {
    let text = format!("corbaloc:miop:1.0@1.0-zorb.tests-{number}/{ip}:{port}");
    orb.string_to_object(&text).unwrap().unwrap()
}

pub(crate) fn miop() -> Miop {
    Miop::new().interface("lo").hops(0)
}

/// An ORB with a probe, and the probe's reference.
fn member(miop: &Arc<Miop>) -> (Orb, String) {
    let builder = Orb::builder().transport(miop.clone()).listen("tcp:127.0.0.1:0").listen("miop:");
    serve(builder, Arc::new(Servant::new(1)))
}

fn join(orb: &Orb, text: &str, group: &ObjectRef) {
    let object = orb.string_to_object(text).unwrap().unwrap();
    orb.join_group(group, &object).unwrap();
}

fn client(miop: Miop) -> Orb {
    Orb::builder().transport(Arc::new(miop)).build()
}

#[test]
fn a_oneway_reaches_every_object_of_the_group_in_every_orb_and_no_other() {
    let at = address(0);
    let (first_miop, second_miop) = (Arc::new(miop()), Arc::new(miop()));
    let (first, second) = (member(&first_miop), member(&second_miop));
    let also = first.0.root_poa().unwrap().activate::<Bulky>(Arc::new(Servant::new(1))).unwrap();
    let also = first.0.object_to_string(Some(also.as_object()));
    for (orb, text, number) in
        [(&first.0, &first.1, 1), (&first.0, &also, 1), (&second.0, &second.1, 1), (&second.0, &second.1, 2)]
    {
        join(orb, text, &group(orb, number, at));
        // Twice is once.
        join(orb, text, &group(orb, number, at));
    }
    let client = client(miop());
    let (both, other) =
        (Bulky::from_object(group(&client, 1, at)), Bulky::from_object(group(&client, 2, at)));
    for number in 0..20 {
        both.note(number).unwrap();
        other.note(-number - 1).unwrap();
    }
    until("each gets its own", || {
        noted(&first.0, &first.1).len() == 20
            && noted(&first.0, &also).len() == 20
            && noted(&second.0, &second.1).len() == 40
            && first_miop.dropped().not_here == 20
    });
    assert_eq!(noted(&first.0, &first.1), (0..20).collect::<Vec<_>>(), "in the order sent");
    assert_eq!(noted(&first.0, &also), (0..20).collect::<Vec<_>>());
    assert_eq!(second_miop.dropped().total(), 0);
    // Who leaves gets no more; a member may be a sender.
    let object = first.0.string_to_object(&first.1).unwrap().unwrap();
    assert!(first.0.leave_group(&group(&first.0, 1, at), &object).unwrap());
    assert!(!first.0.leave_group(&group(&first.0, 1, at), &object).unwrap());
    Bulky::from_object(group(&first.0, 1, at)).note(99).unwrap();
    until("who stays gets it", || {
        noted(&second.0, &second.1).contains(&99) && noted(&first.0, &also).contains(&99)
    });
    assert!(!noted(&first.0, &first.1).contains(&99));
}

#[test]
fn a_large_message_travels_in_many_packets_under_every_thread_model() {
    for (number, model) in models().into_iter().enumerate() {
        let at = address(1 + number as u8);
        let builder = Orb::builder().transport(Arc::new(miop())).listen("miop:").listen("tcp:127.0.0.1:0");
        let (orb, text) = serve(builder.server_threads(model), Arc::new(Servant::new(1)));
        join(&orb, &text, &group(&orb, 1, at));
        let client = client(miop().packet_size(400));
        let there = Bulky::from_object(group(&client, 1, at));
        for octets in [1, 300, 5000, 20_000] {
            let data: Vec<u8> = (0..octets).map(|n| n as u8).collect();
            there.note_size(&data).unwrap();
            until("it is put together", || noted(&orb, &text).last() == Some(&octets));
        }
        assert_eq!(noted(&orb, &text), [1, 300, 5000, 20_000]);
        let error = there.note_size(&vec![0; 70_000]).unwrap_err();
        assert_eq!((error.kind, error.completed), (Kind::ImpLimit, Completion::No), "{error}");
        let error = there.nothing().unwrap_err();
        assert_eq!((error.kind, error.completed), (Kind::InvObjref, Completion::No), "{error}");
        assert!(error.detail().contains("miop:239."), "{error}");
    }
}

/// A socket that hears a group on the loopback interface.
pub(crate) fn ear((ip, port): (Ipv4Addr, u16)) -> UdpSocket {
    let socket = UdpSocket::bind((ip, port)).unwrap();
    socket.join_multicast_v4(&ip, &Ipv4Addr::LOCALHOST).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    socket
}

/// A socket that sends to a group.
pub(crate) fn mouth(to: (Ipv4Addr, u16)) -> UdpSocket {
    // A multicast sender of the loopback interface: what is sent by its address leaves by it.
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.connect(to).unwrap();
    socket
}

#[test]
fn packets_may_be_lost_doubled_and_out_of_order() {
    // Clients speak to one address, the server hears another; what is between plays tricks.
    let (here, there) = (address(10), address(11));
    let member_miop = Arc::new(miop());
    let (orb, text) = member(&member_miop);
    join(&orb, &text, &group(&orb, 1, there));
    let (ear, mouth) = (ear(here), mouth(there));
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut datagram = [0; 2000];
            let mut message: Vec<Vec<u8>> = Vec::new();
            let mut number = 0;
            while !over.load(Ordering::Relaxed) {
                let Ok(length) = ear.recv(&mut datagram) else { continue };
                let last = Packet::decode(&datagram[..length]).expect("a packet").last;
                message.push(datagram[..length].to_vec());
                if !last {
                    continue;
                }
                // The last first, each twice, and of every third message one is lost.
                let lost = (number % 3 == 2).then_some(message.len() / 2);
                for (index, packet) in message.iter().enumerate().rev() {
                    if Some(index) != lost {
                        mouth.send(packet).unwrap();
                        mouth.send(packet).unwrap();
                    }
                }
                message.clear();
                number += 1;
            }
        });
        let client = client(miop().packet_size(200));
        let probe = Bulky::from_object(group(&client, 1, here));
        let mut expected = Vec::new();
        for number in 0..12 {
            let size = 1000 + number * 100;
            let data: Vec<u8> = (0..size).map(|n| n as u8).collect();
            probe.note_size(&data).unwrap();
            if number % 3 != 2 {
                expected.push(size);
                until("what is whole arrives", || noted(&orb, &text).len() >= expected.len());
            }
        }
        // What follows is served, and nothing came twice or in part.
        assert_eq!(noted(&orb, &text), expected);
        // What lacks a packet is given up in time; packets that follow make it known.
        until("what lacks a packet is counted", || {
            probe.note(1).unwrap();
            member_miop.dropped().incomplete >= 4
        });
        over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn hostile_packets_leave_the_server_serving() {
    let at = address(12);
    let member_miop = Arc::new(miop());
    let (orb, text) = member(&member_miop);
    join(&orb, &text, &group(&orb, 1, at));
    let mouth = mouth(at);
    let seeds = zorb_tests::vectors::packets();
    for seed in &seeds {
        (0..seed.len().min(300)).for_each(|end| _ = mouth.send(&seed[..end]));
    }
    mutations(&seeds, 2000, 0x310f).for_each(|case| _ = mouth.send(&case[..case.len().min(60_000)]));
    let mut random = Random::new(3);
    for number in 0..3000u32 {
        // Messages without end: ever new ids, ever higher numbers.
        let mut packet = b"MIOP\x10\x01\x08\x00".to_vec();
        packet.extend((number % 5000).to_le_bytes());
        packet.extend(0u32.to_le_bytes());
        packet.extend(8u32.to_le_bytes());
        packet.extend(u64::from(number / 8).to_le_bytes());
        packet.extend([0; 4]);
        packet.extend((0..8).map(|_| random.octet()));
        let _ = mouth.send(&packet);
    }
    until("they are looked at", || {
        member_miop.dropped().malformed > 100 && member_miop.dropped().incomplete > 10
    });
    let client = client(miop().packet_size(200));
    let there = Bulky::from_object(group(&client, 1, at));
    let data: Vec<u8> = (0..3000).map(|n| n as u8).collect();
    until("an honest sender is served", || {
        there.note_size(&data).unwrap();
        noted(&orb, &text).contains(&3000)
    });
}

#[test]
fn groups_may_be_of_ipv6() {
    // The loopback interface has no route for its multicast; no packet leaves this host by the other one either.
    let interfaces = zorb_ipc::interfaces().unwrap();
    let mut others = interfaces.into_iter().filter(|one| one.is_running && !one.is_loopback);
    let Some(other) = others.find(|one| one.address.is_ipv6()) else {
        return eprintln!("not run: this host has no interface with IPv6");
    };
    let miop = || Miop::new().interface(other.name.clone()).hops(0).packet_size(100);
    let (orb, text) = member(&Arc::new(miop()));
    let group = |orb: &Orb| {
        let (port, process) = (address(14).1, std::process::id() & 0xffff);
        let text = format!("corbaloc:miop:1.0@1.0-zorb.tests-6/[ff02::7a6f:{process:x}]:{port}");
        orb.string_to_object(&text).unwrap().unwrap()
    };
    join(&orb, &text, &group(&orb));
    let client = client(miop());
    let there = Bulky::from_object(group(&client));
    let data: Vec<u8> = (0..500).map(|n| n as u8).collect();
    there.note_size(&data).unwrap();
    until("it arrives", || noted(&orb, &text) == [500]);
}

#[test]
fn who_cannot_join_learns_why() {
    let at = address(13);
    let (orb, text) = member(&Arc::new(miop()));
    let (other, others) = serve(Orb::builder().listen("tcp:127.0.0.1:0"), Arc::new(Servant::new(1)));
    let object = |orb: &Orb, text: &str| orb.string_to_object(text).unwrap().unwrap();
    let cases = [
        (other.join_group(&group(&other, 1, at), &object(&other, &others)), "listens for"),
        (orb.join_group(&object(&orb, &text), &object(&orb, &text)), "listens for"),
        (orb.join_group(&group(&orb, 1, at), &object(&orb, &others)), "does not live"),
    ];
    for (joined, why) in cases {
        let error = joined.unwrap_err();
        assert_eq!(error.kind, Kind::BadParam, "{error}");
        assert!(error.detail().contains(why), "{error}");
    }
    let wrong = Orb::builder().transport(Arc::new(miop())).listen("miop:10.0.0.1:5000").build().listen();
    assert!(wrong.unwrap_err().detail().contains("group:port"));
}
