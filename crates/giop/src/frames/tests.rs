//! What is written is read; what contradicts itself is not kept.

use alloc::vec;
use core::time::Duration;

use super::*;
use crate::{Inbound, Protocol};

const NOW: Duration = Duration::from_secs(1);

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A whole frame by hand: big-endian, key "k", operation "show", no arguments but `body`.
fn by_hand(flow: u32, sequence: u32, timestamp: Duration, body: &[u8]) -> Vec<u8> {
    let mut frame = b"zF\x01\0".to_vec();
    frame.extend(u32::try_from(48 + body.len()).unwrap().to_be_bytes());
    frame.extend([flow, sequence].map(u32::to_be_bytes).as_flattened());
    frame.extend(u64::try_from(timestamp.as_nanos()).unwrap().to_be_bytes());
    frame.extend([0; 8]);
    frame.extend(b"\0\0\0\x01k\0\0\0\0\0\0\x04show");
    frame.extend(body);
    frame
}

/// The same in parts.
fn parts(frame: &[u8], size: usize) -> Vec<Vec<u8>> {
    let rest = &frame[FRAME_HEAD..];
    let part = |at: usize| {
        let mut part = frame[..FRAME_HEAD].to_vec();
        part[OFFSET_AT..LATE_AT].copy_from_slice(&u32::try_from(at).unwrap().to_be_bytes());
        part.extend(&rest[at..rest.len().min(at + size)]);
        part
    };
    (0..rest.len()).step_by(size).map(part).collect()
}

fn receiver() -> FrameReceiver<u8> {
    FrameReceiver::new(FrameRules::default())
}

fn request(frame: &[u8]) -> (Request, Frame) {
    let mut inbound =
        Inbound::of(Protocol::Other(alloc::sync::Arc::new(Frames::new(|| 0))), Limits::default());
    let mut rest = frame;
    loop {
        let space = inbound.space();
        let n = space.len().min(rest.len());
        space[..n].copy_from_slice(&rest[..n]);
        inbound.received(n);
        rest = &rest[n..];
        match inbound.next() {
            Ok(Some(Message::Request(request))) => {
                let frame = Frame::of(&request.contexts).expect("a context");
                return (request, frame);
            }
            Ok(None) if !rest.is_empty() => {}
            other => panic!("{other:?}"),
        }
    }
}

/// Hands a frame on; the lost and the late before it.
fn told(
    receiver: &mut FrameReceiver<u8>,
    sequence: u32,
    timestamp: Duration,
    now: Duration,
) -> Result<(u32, u32), Refused> {
    let frame = receiver.take(1, &by_hand(7, sequence, timestamp, b""), now)?;
    let (_, frame) = request(&frame.expect("a whole frame"));
    assert_eq!((frame.sequence, u128::from(frame.timestamp)), (sequence, timestamp.as_nanos()));
    Ok((frame.lost, frame.late))
}

#[test]
fn octets_by_hand_are_a_request_and_no_prefix_of_them_is() {
    let frame = by_hand(7, 3, millis(5), b"\0\0\0\x09");
    let (read, told) = request(&receiver().take(1, &frame, NOW).unwrap().unwrap());
    assert_eq!((read.operation(), read.response), ("show", ResponseFlags::NONE));
    assert_eq!(read.target, Target::ObjectKey(b"k"[..].into()));
    assert_eq!(zorb_cdr::Decoder::over(&read.body, Format::default()).read_u32(), Ok(9));
    assert_eq!((told.sequence, told.timestamp, told.lost, told.late), (3, 5_000_000, 0, 0));
    for end in 0..frame.len() {
        assert!(receiver().take(1, &frame[..end], NOW).is_err(), "{end}");
        let mut short = frame[..end].to_vec();
        if end >= 8 {
            short[4..8].copy_from_slice(&u32::try_from(end).unwrap().to_be_bytes());
        }
        // Its arguments are not looked at.
        assert_eq!(receiver().take(1, &short, NOW).is_ok(), end >= frame.len() - 4, "{end}");
    }
    for (at, octet) in [(0, b'x'), (2, 2), (3, 2), (4, 1), (24, 1), (28, 1), (32, 1), (40, 1)] {
        let mut wrong = frame.clone();
        wrong[at] = octet;
        assert!(matches!(receiver().take(1, &wrong, NOW), Err(Refused::Malformed(_))), "{at}");
    }
}

#[test]
fn what_the_sender_writes_and_cuts_is_put_together_in_any_order_of_its_parts() {
    let mut to = Encoder::new(Frames::new(|| 77).format().unwrap());
    let (contexts, protocol) = (ServiceContexts::new(), Frames::new(|| 77));
    let target = Addressing::ObjectKey(b"the key");
    let mut head = RequestHead {
        id: 1,
        response: ResponseFlags::NONE,
        target,
        operation: "show",
        by_number: None,
        contexts: &contexts,
    };
    protocol.begin_request(&mut to, &head).unwrap();
    let body: Vec<u8> = (0..5000).map(|n| n as u8).collect();
    to.write_octets(&body);
    protocol.finish(&mut to).unwrap();
    let mut frame = to.to_bytes().to_vec();
    let mut numbers = FlowNumbers::new(5);
    assert_eq!(FlowNumbers::size(&frame), Some(frame.len()));
    let mut receiver = receiver();
    for round in 0..2 {
        numbers.number(&mut frame);
        let rest = &frame[FRAME_HEAD..];
        let mut cut: Vec<Vec<u8>> = rest
            .chunks(1000)
            .enumerate()
            .map(|(n, part)| [&FlowNumbers::head(&frame, n * 1000)[..], part].concat())
            .collect();
        if round == 1 {
            cut.reverse();
        }
        let last = cut.pop().unwrap();
        for part in &cut {
            assert_eq!(receiver.take(1, part, NOW), Ok(None));
        }
        assert_eq!(receiver.take(1, &cut[0], NOW), Err(Refused::Duplicate));
        let (read, told) = request(&receiver.take(1, &last, NOW).unwrap().unwrap());
        assert_eq!(read.body.len(), body.len());
        assert_eq!((told.sequence, told.timestamp, told.lost), (round, 77, 0));
        assert_eq!(receiver.waiting(), 0);
        assert_eq!(receiver.take(1, &last, NOW), Err(Refused::Duplicate));
    }
    // What waits for something is refused before anything is written.
    head.response = ResponseFlags::WITH_TARGET;
    assert!(protocol.begin_request(&mut Encoder::new(Format::default()), &head).is_err());
}

#[test]
fn gaps_are_told_and_what_is_overtaken_is_late_once_and_then_a_duplicate() {
    let mut receiver = receiver();
    // Across the end of the numbers.
    for (sequence, expected) in [
        (u32::MAX - 1, Ok((0, 0))),
        (1, Ok((2, 0))),
        (u32::MAX, Err(Refused::Late)),
        (u32::MAX, Err(Refused::Duplicate)),
        (1, Err(Refused::Duplicate)),
        (u32::MAX - 1, Err(Refused::Duplicate)),
        (2, Ok((0, 1))),
        (3, Ok((0, 0))),
        (100, Ok((96, 0))),
        (30, Err(Refused::Duplicate)),
    ] {
        assert_eq!(told(&mut receiver, sequence, NOW, NOW), expected, "{sequence}");
    }
}

#[test]
fn a_frame_is_late_by_its_flows_own_clock_and_a_clock_that_was_set_is_followed() {
    let mut receiver = receiver();
    // The sender's clock is years ahead, and the way takes 10 ms at the best.
    let sent = |n: u64| Duration::from_secs(1 << 30) + millis(40 * n);
    let come = |n: u64, way: u64| NOW + millis(40 * n + way);
    assert_eq!(told(&mut receiver, 0, sent(0), come(0, 30)), Ok((0, 0)));
    assert_eq!(told(&mut receiver, 1, sent(1), come(1, 10)), Ok((0, 0)));
    assert_eq!(told(&mut receiver, 2, sent(2), come(2, 200)), Ok((0, 0)));
    assert_eq!(told(&mut receiver, 3, sent(3), come(3, 220)), Err(Refused::Late));
    // 4 is lost.
    assert_eq!(told(&mut receiver, 5, sent(5), come(5, 225)), Err(Refused::Late));
    assert_eq!(told(&mut receiver, 6, sent(6), come(6, 10)), Ok((1, 2)));
    let mut late = 0;
    let recovered = (7..100).find(|&n| {
        let told = told(&mut receiver, n as u32, sent(n), come(n, 5000));
        late += u32::from(told == Err(Refused::Late));
        told.is_ok_and(|told| told == (0, late))
    });
    assert_eq!((recovered, late), (Some(39), 32));
}

#[test]
fn parts_that_overlap_or_contradict_cost_their_frame_and_nothing_else() {
    let frame = by_hand(7, 0, NOW, &[5; 2000]);
    let cut = parts(&frame, 512);
    let with = |at: usize, octet: u8| {
        let mut part = cut[1].clone();
        part[at] = octet;
        part
    };
    // Another offset within the same parts, another timestamp, another size, other octets.
    for wrong in [with(27, 1), with(20, 9), with(6, 9), with(40, 9)] {
        let mut receiver = receiver();
        assert_eq!(receiver.take(1, &cut[0], NOW), Ok(None));
        assert_eq!(receiver.take(1, &cut[1], NOW), Ok(None));
        assert!(matches!(receiver.take(1, &wrong, NOW), Err(Refused::Malformed(_))), "{wrong:?}");
        assert_eq!((receiver.waiting(), receiver.incomplete()), (0, 1));
        assert_eq!(told(&mut receiver, 1, NOW, NOW), Ok((0, 0)));
    }
    // Parts that are small for no reason, or beyond their frame.
    for wrong in [&cut[0][..FRAME_HEAD + 100], &cut[0][..FRAME_HEAD], &[&cut[3][..], &[0; 512]].concat()] {
        assert!(matches!(receiver().take(1, wrong, NOW), Err(Refused::Malformed(_))));
    }
}

#[test]
fn endless_parts_of_many_senders_stay_within_bounds_and_age() {
    let rules = FrameRules { flows: 20, octets: 100_000, octets_of_flow: 3000, ..FrameRules::default() };
    let mut receiver = FrameReceiver::new(rules);
    for n in 0..600u32 {
        let frame = by_hand(n % 7, n / 50, NOW, &vec![0; 900_000]);
        let part = parts(&frame[..FRAME_HEAD + 1400], 1400).remove(0);
        let _ = receiver.take(n % 11, &part, NOW);
        assert!(receiver.waiting() <= 20 * 3000);
    }
    assert!(receiver.waiting() > 0 && receiver.incomplete() > 0);
    // A flow that speaks again gives up what is too old; and when all is full, so do the others.
    let mut receiver = FrameReceiver::new(FrameRules { octets: 2000, ..rules });
    let part = |flow, sequence| parts(&by_hand(flow, sequence, NOW, &[0; 5000]), 1000).remove(1);
    assert_eq!(receiver.take(1, &part(1, 0), NOW), Ok(None));
    assert_eq!(receiver.take(2, &part(1, 0), NOW), Ok(None));
    assert_eq!(receiver.take(3, &part(1, 0), NOW + millis(400)), Err(Refused::Full));
    assert_eq!(receiver.take(3, &part(1, 0), NOW + millis(501)), Ok(None));
    assert_eq!((receiver.waiting(), receiver.incomplete()), (1000, 2));
}

#[test]
fn a_frame_with_a_missing_part_is_a_gap() {
    let mut receiver = receiver();
    assert_eq!(told(&mut receiver, 0, NOW, NOW), Ok((0, 0)));
    for part in &parts(&by_hand(7, 1, NOW, &[5; 2000]), 512)[1..] {
        assert_eq!(receiver.take(1, part, NOW), Ok(None));
    }
    assert_eq!(told(&mut receiver, 2, NOW, NOW), Ok((1, 0)));
    assert_eq!((receiver.waiting(), receiver.incomplete()), (0, 1));
}
