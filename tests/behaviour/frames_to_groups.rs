//! Frames to groups of objects: one sending, and each member is told what it missed.

use std::net::Ipv4Addr;
use std::sync::Arc;

use zorb::frames;
use zorb::giop::FRAME_MAGIC;
use zorb::messaging::{Giop, Messaging};
use zorb::transport::miop::Miop;
use zorb::{Interface, Kind, ObjectRef, Orb, OrbBuilder};
use zorb_tests::mutation::mutations;
use zorb_tests::servant::PATIENCE;
use zorb_tests::testing::Screen;

use crate::datagrams::until;
use crate::frames::{RULES, Wall, data};
use crate::groups::{address, ear, group, miop, mouth};

fn with_frames(miop: Miop) -> (OrbBuilder, Arc<Miop>) {
    let miop = Arc::new(miop.frames(RULES()));
    let messagings: [Arc<dyn Messaging>; 2] = [Arc::new(frames::messaging()), Arc::new(Giop)];
    (Orb::builder().transport(miop.clone()).messagings(messagings), miop)
}

/// An ORB with a screen.
struct Member {
    orb: Orb,
    wall: Arc<Wall>,
    screen: ObjectRef,
    miop: Arc<Miop>,
}

impl Member {
    fn new() -> Member {
        let (builder, miop) = with_frames(miop());
        let orb = builder.listen("tcp:127.0.0.1:0").listen("miop:").build();
        let (poa, wall) = (orb.root_poa().unwrap(), Arc::new(Wall::default()));
        let screen = poa.activate::<Screen>(wall.clone()).unwrap().as_object().clone();
        poa.manager().activate().unwrap();
        Member { orb, wall, screen, miop }
    }

    fn joined(number: u64, at: (Ipv4Addr, u16)) -> Member {
        let member = Member::new();
        member.orb.join_group(&group(&member.orb, number, at), &member.screen).unwrap();
        member
    }
}

fn screens(client: &Orb, number: u64, at: (Ipv4Addr, u16)) -> Screen {
    Screen::from_object(frames::group(&group(client, number, at)).unwrap())
}

#[test]
fn each_member_has_every_frame_with_its_number_whole_or_in_parts() {
    let at = address(40);
    let members = [Member::joined(1, at), Member::joined(1, at)];
    let other = Member::joined(2, at);
    let client = with_frames(miop().packet_size(600)).0.build();
    let there = screens(&client, 1, at);
    for (sent, octets) in (1..).zip([0, 10, 500, 5_000, 40_000]) {
        there.show(&data(octets)).unwrap();
        until("both have it", || members.iter().all(|member| member.wall.told().len() == sent));
    }
    for member in &members {
        until("all have come", || member.wall.told().len() == 5);
        assert_eq!(
            member.wall.told(),
            [0, 1, 2, 3, 4].map(|sequence| (sequence, 0, 0)),
            "numbered, none lost"
        );
        assert_eq!(
            member.wall.all().iter().map(|(_, octets)| *octets).collect::<Vec<_>>(),
            [0, 10, 500, 5_000, 40_000]
        );
    }
    until("the other group's member has heard all five", || other.miop.dropped().not_here == 5);
    assert!(other.wall.told().is_empty());
    // The group's usual reference goes by GIOP, without numbers, and both are served.
    let usual = Screen::from_object(group(&client, 1, at));
    usual.show(&data(3)).unwrap();
    for member in &members {
        until("it has come", || {
            member.wall.all().last().is_some_and(|(frame, octets)| frame.is_none() && *octets == 3)
        });
    }
    there.show(&data(4)).unwrap();
    until("frames go on", || members.iter().all(|member| member.wall.told().last() == Some(&(5, 0, 0))));
}

#[test]
fn members_count_what_they_missed_each_for_itself() {
    let at = address(41);
    let first = Member::joined(1, at);
    let client = with_frames(miop()).0.build();
    let there = screens(&client, 1, at);
    there.show(&data(1)).unwrap();
    until("it has come", || first.wall.told().len() == 1);
    let late = Member::joined(1, at);
    there.show(&data(2)).unwrap();
    until("both have it", || first.wall.told().len() == 2 && late.wall.told().len() == 1);
    // Who joins late knows of nothing before.
    assert_eq!((first.wall.told()[1], late.wall.told()[0]), ((1, 0, 0), (1, 0, 0)));
    // Who leaves and comes again has missed what it did not hear as a member; its host has heard it.
    assert!(late.orb.leave_group(&group(&late.orb, 1, at), &late.screen).unwrap());
    there.show(&data(3)).unwrap();
    until("one has it, and the other's host", || {
        first.wall.told().len() == 3 && late.miop.dropped().not_here == 1
    });
    late.orb.join_group(&group(&late.orb, 1, at), &late.screen).unwrap();
    there.show(&data(4)).unwrap();
    until("both have it", || late.wall.told().len() == 2);
    assert_eq!(late.wall.told()[1].0, 3);
}

#[test]
fn only_oneways_to_groups_that_say_so_are_frames() {
    let at = address(42);
    let member = Member::joined(1, at);
    let client = with_frames(miop()).0.build();
    let error = screens(&client, 1, at).shown().unwrap_err();
    assert_eq!(error.kind, Kind::InvObjref, "{error}");
    let error = frames::group(&member.screen).unwrap_err();
    assert_eq!(error.kind, Kind::InvObjref, "{error}");
    // An ORB without the protocol goes on by GIOP.
    let plain = Orb::builder().transport(Arc::new(miop())).build();
    screens(&plain, 1, at).show(&data(7)).unwrap();
    until("it has come", || member.wall.all().len() == 1);
    assert!(member.wall.told().is_empty());
}

#[test]
fn what_is_no_frame_harms_nobody() {
    let at = address(43);
    let member = Member::joined(1, at);
    let client = with_frames(miop()).0.build();
    let there = screens(&client, 1, at);
    // What frames are like, where nobody else hears them.
    let elsewhere = address(44);
    let ear = ear(elsewhere);
    screens(&client, 1, elsewhere).show(&data(0)).unwrap();
    let mut octets = [0; 2048];
    ear.set_read_timeout(Some(PATIENCE)).unwrap();
    let heard = ear.recv(&mut octets).expect("it was sent there");
    assert!(octets.starts_with(&FRAME_MAGIC));
    let mouth = mouth(at);
    mutations(&[octets[..heard].to_vec()], 2000, 0xf4a3).for_each(|case| _ = mouth.send(&case));
    // What was sent meanwhile may be lost in a full queue.
    let before = member.wall.told().len();
    until("a frame comes through", || {
        there.show(&data(9)).unwrap();
        member.wall.all().iter().skip(before).any(|(frame, octets)| frame.is_some() && *octets == 9)
    });
    let dropped = member.miop.dropped();
    assert!(dropped.malformed > 0, "{dropped:?}");
}
