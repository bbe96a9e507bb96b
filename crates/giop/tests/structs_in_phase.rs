//! Requests whose arguments begin with a sequence of structs out of phase: with a head that is known they are brought in phase where they were received.

use zorb_cdr::{
    Body, Decode, Decoder, ElementType, Encode, Encoder, Format, Padding, Sequence, Version, bytemuck,
    tiling_struct,
};
use zorb_giop::{
    Addressing, BeginsToCome, Inbound, KnownHead, Limits, Message, Request, RequestHead, ResponseFlags,
    ServiceContexts, begin_request, finish,
};

#[derive(Clone, Copy, PartialEq, Default, bytemuck::Zeroable, bytemuck::Pod)]
#[bytemuck(crate = "::zorb_cdr::bytemuck")]
#[repr(C)]
struct Bin {
    s: i16,
    c: u8,
    _padding_0: Padding<1>,
    l: i32,
    o: u8,
    _padding_1: Padding<7>,
    d: f64,
}
tiling_struct!(plain Bin { s: i16, c: u8, l: i32, o: u8, d: f64 } padding { _padding_0, _padding_1 });

fn bins(count: i16) -> Vec<Bin> {
    let bin = |n| Bin { s: n, c: 7, l: -i32::from(n), o: 3, d: f64::from(n) / 3.0, ..Bin::default() };
    (0..count).map(bin).collect()
}

fn request(id: u32, operation: &str, bins: Vec<Bin>) -> Vec<u8> {
    let bins = Sequence::from(bins);
    let mut to = Encoder::new(Format::new(Version::V1_2));
    let head = RequestHead {
        id,
        response: ResponseFlags::NONE,
        target: Addressing::ObjectKey(b"the key"),
        operation,
        by_number: None,
        contexts: &ServiceContexts::new(),
    };
    begin_request(&mut to, &head).unwrap();
    bins.encode(&mut to).unwrap();
    finish(&mut to).unwrap();
    to.to_bytes().to_vec()
}

fn read(octets: &[u8]) -> Request {
    let mut inbound = Inbound::new(Limits::default());
    match receive(&mut inbound, octets) {
        Some(Message::Request(request)) => request,
        other => panic!("{other:?}"),
    }
}

/// Receives all octets, and gives the first message that is taken on the way.
fn receive(inbound: &mut Inbound, mut octets: &[u8]) -> Option<Message> {
    let mut first = None;
    while !octets.is_empty() {
        let space = inbound.space();
        let n = space.len().min(octets.len());
        space[..n].copy_from_slice(&octets[..n]);
        inbound.received(n);
        octets = &octets[n..];
        first = first.or(inbound.next().unwrap());
    }
    first
}

fn known() -> KnownHead {
    KnownHead::of(&read(&request(1, "put", vec![])))
        .unwrap()
        .with_bulk(8, Some(ElementType::of::<Bin>().unwrap()))
}

/// Octets into the room for them, which they fit: nothing is taken.
fn put(inbound: &mut Inbound, octets: &[u8]) {
    inbound.space()[..octets.len()].copy_from_slice(octets);
    inbound.received(octets.len());
}

fn take(inbound: &mut Inbound, head: &KnownHead) -> (u32, Sequence<Bin>) {
    let (id, body) = inbound.next_large_like(head).unwrap();
    let mut from = Decoder::over(&body, Format::default());
    let bins = Sequence::decode(&mut from).unwrap();
    assert_eq!(from.remaining(), 0);
    (id, bins)
}

#[test]
fn a_whole_message_is_viewed_where_it_was_received() {
    let (head, sent) = (known(), bins(500));
    let like = |operation| known().is_same(&KnownHead::of(&read(&request(9, operation, bins(1)))).unwrap());
    assert!(like("put") && !like("get"));
    let mut inbound = Inbound::new(Limits::default());
    for id in 0..3 {
        put(&mut inbound, &request(id, "put", sent.clone()));
        let (found, received) = take(&mut inbound, &head);
        assert!((found, &*received) == (id, &sent[..]) && received.is_view());
    }
}

#[test]
fn what_is_small_or_lies_in_memory_that_others_see_is_copied() {
    let head = known();
    let mut inbound = Inbound::new(Limits::default());
    let sent = [bins(300), bins(3), bins(200), vec![]];
    let all: Vec<_> = (0..).zip(&sent).flat_map(|(id, bins)| request(id, "put", bins.clone())).collect();
    put(&mut inbound, &all);
    let received: Vec<_> = sent.iter().map(|_| take(&mut inbound, &head)).collect();
    assert!(received.iter().map(|(id, _)| *id).eq(0..4));
    assert!(received.iter().zip(&sent).all(|((_, received), sent)| *received == sent[..]));
    let views: Vec<_> = received.iter().map(|(_, bins)| bins.is_view()).collect();
    assert_eq!(
        views,
        [true, false, false, false],
        "the second message would have been written to under the first"
    );
}

#[test]
fn one_behind_another_that_is_let_go_is_viewed_where_it_was_received() {
    let (head, sent) = (known(), [bins(200), bins(250), bins(3), bins(180)]);
    let mut inbound = Inbound::new(Limits::default());
    let all: Vec<_> = (0..).zip(&sent).flat_map(|(id, bins)| request(id, "put", bins.clone())).collect();
    put(&mut inbound, &all);
    let mut body = Body::empty();
    let views = (0..).zip(&sent).map(|(id, sent)| {
        assert_eq!(inbound.next_like_into(&head, &mut body), Some(id));
        let mut from = Decoder::over(&body, Format::default());
        let bins = Sequence::<Bin>::decode(&mut from).unwrap();
        assert!(*bins == sent[..] && from.remaining() == 0);
        bins.is_view()
    });
    assert_eq!(views.collect::<Vec<_>>(), [true, true, false, true], "what is small is copied");
    assert_eq!(inbound.next_like_into(&head, &mut body), None);
}

#[test]
fn one_that_comes_in_parts_is_declined_by_its_head_and_what_follows_it_is_not() {
    let (head, sent) = (known(), bins(5000));
    let mut inbound = Inbound::new(Limits::default());
    inbound.offer_bulk(true);
    let message = request(4, "put", sent.clone());
    for part in [&message[..10_000], &message[10_000..]] {
        assert!(inbound.next_large_like(&head).is_none() && inbound.next().unwrap().is_none());
        let begins = !inbound.is_incomplete();
        assert!(begins || inbound.decline_like(&head));
        assert!(!inbound.decline_like(&head), "once");
        put(&mut inbound, part);
    }
    let (id, received) = take(&mut inbound, &head);
    assert!((id, &*received) == (4, &sent[..]) && received.is_view());
    drop(received);
    let other = request(5, "get", sent);
    assert!(inbound.next().unwrap().is_none());
    put(&mut inbound, &other[..10_000]);
    assert!(inbound.next().unwrap().is_none() && !inbound.decline_like(&head));
    assert!(matches!(inbound.begins_to_come(), BeginsToCome::Message(_)), "somebody is asked for it");
}

#[test]
fn a_small_one_is_not_declined() {
    let head = known();
    let mut inbound = Inbound::new(Limits::default());
    inbound.offer_bulk(true);
    let message = request(4, "put", bins(100));
    put(&mut inbound, &message[..1000]);
    assert!(inbound.next().unwrap().is_none() && !inbound.decline_like(&head));
}

#[test]
fn a_large_one_is_not_declined_by_the_head_of_such_as_come_whole() {
    let of_whole = KnownHead::of(&read(&request(9, "put", bins(1)))).unwrap();
    let of_whole = of_whole.with_structs(ElementType::of::<Bin>().unwrap());
    let mut inbound = Inbound::new(Limits::default());
    inbound.offer_bulk(true);
    for (count, is_large) in [(300, true), (3, false), (200, true)] {
        put(&mut inbound, &request(3, "put", bins(count)));
        assert!(inbound.comes_like(&of_whole));
        match is_large {
            true => {
                assert!(inbound.next_like(&of_whole).is_none());
                let (id, received) = take(&mut inbound, &of_whole);
                assert!((id, &*received) == (3, &bins(count)[..]) && received.is_view());
            }
            false => assert_eq!(inbound.next_like(&of_whole).unwrap().0, 3),
        }
    }
    put(&mut inbound, &request(4, "put", bins(5000))[..10_000]);
    assert!(inbound.next_large_like(&of_whole).is_none() && inbound.next().unwrap().is_none());
    assert!(!inbound.decline_like(&of_whole));
    assert!(matches!(inbound.begins_to_come(), BeginsToCome::Message(_)), "somebody is asked for it");
}

#[test]
fn whatever_octet_is_changed_the_structs_are_those_that_are_read_otherwise() {
    let (head, message) = (known(), request(4, "put", bins(200)));
    let decoded = |body| Sequence::<Bin>::decode(&mut Decoder::over(&body, Format::default()));
    let mut recognised = 0;
    for at in 0..200 {
        for with in [0, 1, 2, 7, 0x40, 0xc8, 0xff] {
            let mut changed = message.clone();
            changed[at] = with;
            let mut inbound = Inbound::new(Limits::default());
            put(&mut inbound, &changed);
            let Some((_, body)) = inbound.next_large_like(&head) else { continue };
            recognised += 1;
            let (here, there) = (decoded(body), decoded(read(&changed).body));
            assert_eq!(here.is_ok(), there.is_ok(), "octet {at} is {with}");
            let bits = |bins: Sequence<Bin>| {
                bins.iter().map(|bin| (bin.s, bin.c, bin.l, bin.o, bin.d.to_bits())).collect::<Vec<_>>()
            };
            assert_eq!(here.ok().map(bits), there.ok().map(bits), "octet {at} is {with}");
        }
    }
    assert!(recognised > 500, "elements may be any: {recognised}");
}
