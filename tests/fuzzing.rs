//! Drives every fuzz body with a seeded mutator: what `./check` does on the stable toolchain. docs/fuzzing.md says how to
//! run the same bodies under cargo-fuzz for as long as one likes.
//!
//! The seeds are real: captured messages and references of other ORBs, hand-made messages of every type in every version
//! and byte order, and the repository's own IDL.

use std::fs;
use std::num::NonZeroU64;

use zorb::cdr::{Any, Encode, EncodeError, Encoder, Format, TypeCode, Version};
use zorb::giop::{
    Addressing, FRAME_HEAD, FlowNumbers, Frames, GiopLite, ListenPoint, Messaging, ReplyHead, ReplyStatus,
    RequestHead, ResponseFlags, ServiceContexts, encode_listen_points, operation_number,
};
use zorb_tests::mutation::{Random, mutations, mutations_of_each};
use zorb_tests::seeds;
use zorb_tests::{root, vectors};

/// Cases for each body whose inputs are short. A few seconds in a debug build, all together.
const CASES: usize = 20_000;

/// Mutations of each message.
const EACH: usize = 2_000;

/// Feeds `body` the seeds, every proper prefix of each, and `cases` mutations.
fn drive(seeds: &[Vec<u8>], cases: usize, body: fn(&[u8])) {
    drive_sparsely(seeds, usize::MAX, cases, body);
}

/// The same with so many prefixes of each seed, evenly spread.
fn drive_sparsely(seeds: &[Vec<u8>], prefixes: usize, cases: usize, body: fn(&[u8])) {
    for seed in seeds {
        body(seed);
        let step = seed.len().div_ceil(prefixes).max(1);
        (0..seed.len()).step_by(step).for_each(|end| body(&seed[..end]));
    }
    mutations(seeds, cases, 0x5eed).for_each(|case| body(&case));
}

/// Short enough that a case is cheap, and of the same kinds as the long ones.
fn short(mut seeds: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    seeds.retain(|seed| seed.len() <= 1024);
    seeds
}

fn message_seeds() -> Vec<Vec<u8>> {
    let mut seeds = vectors::messages();
    seeds.extend(seeds::to_server(b"key").into_iter().map(|seed| seed.octets));
    seeds.extend(seeds::to_client(1).into_iter().map(|seed| seed.octets));
    seeds.extend(lite_seeds());
    seeds
}

/// Of GIOPlite: a request by name, one by number, a reply, and what has no body.
fn lite_seeds() -> Vec<Vec<u8>> {
    let contexts = ServiceContexts::new();
    let written = |write: &dyn Fn(&mut Encoder<'_>)| {
        let mut to = Encoder::new(GiopLite.format().expect("it has one form"));
        write(&mut to);
        to.write_u32(7);
        GiopLite.finish(&mut to).expect("a small message");
        to.into_buffer()
    };
    let request = |by_number: bool| {
        let by_number = NonZeroU64::new(operation_number(b"echo")).filter(|_| by_number);
        let target = Addressing::ObjectKey(b"key");
        let response = ResponseFlags::WITH_TARGET;
        RequestHead { id: 1, response, target, operation: "echo", by_number, contexts: &contexts }
    };
    let reply = ReplyHead { id: 1, status: ReplyStatus::NO_EXCEPTION, by_number: true, contexts: &contexts };
    let begun = "a head that can be written";
    vec![
        written(&|to| GiopLite.begin_request(to, &request(false)).expect(begun)),
        written(&|to| GiopLite.begin_request(to, &request(true)).expect(begun)),
        written(&|to| GiopLite.begin_reply(to, &reply).expect(begun)),
        GiopLite.close_connection(Version::V1_2),
    ]
}

fn reference_seeds() -> Vec<Vec<u8>> {
    vectors::references().iter().map(|text| vectors::octets(&text["IOR:".len()..])).collect()
}

fn url_seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<_> = vectors::references().into_iter().map(String::into_bytes).collect();
    seeds.extend(seeds::URLS.iter().map(|text| text.as_bytes().to_vec()));
    seeds
}

fn value_seeds() -> Vec<Vec<u8>> {
    let mut random = Random::new(1);
    let mut seeds = Vec::new();
    for message in short(vectors::messages()) {
        // Settings, where two segments meet, and a few types to read; see the body's own description.
        let count = 1 + random.below(6);
        let mut seed = vec![random.octet(), random.octet(), u8::try_from(count).unwrap_or(1)];
        seed.extend((0..count).map(|_| random.octet()));
        seed.extend_from_slice(&message[message.len().min(12)..]);
        seeds.push(seed);
    }
    // Alone, so that every type is read from its first octet on.
    for kind in 0..18 {
        for settings in [0, 1, 0x0a, 0x81] {
            let mut seed = vec![settings, 9, 1, kind];
            seed.extend(seeds::VALUE);
            seeds.push(seed);
        }
    }
    seeds
}

fn idl_seeds() -> Vec<Vec<u8>> {
    let paths = [
        "idl/CosNaming.idl",
        "tests/interop/idl/every.idl",
        "tests/idl/probe.idl",
        "bench/idl/echo.idl",
        "crates/idl/tests/good/annotations.idl",
        "crates/idl/tests/good/components.idl",
        "crates/idl/tests/good/newer.idl",
    ];
    let mut seeds = Vec::new();
    for path in paths {
        let text = fs::read_to_string(root().join(path)).expect(path);
        // A case compiles all of its text, so the files are cut into pieces of a definition or two.
        let lines: Vec<_> = text.lines().collect();
        seeds.extend(lines.chunks(40).map(|lines| lines.join("\n").into_bytes()));
    }
    seeds
}

#[test]
fn messages() {
    drive(&message_seeds(), CASES, zorb::giop::fuzz::messages);
}

#[test]
fn thousands_of_mutations_of_every_message() {
    for case in mutations_of_each(&message_seeds(), EACH, 0xeac4) {
        zorb::giop::fuzz::messages(&case);
    }
}

#[test]
fn references() {
    drive(&reference_seeds(), CASES, zorb::giop::fuzz::references);
}

#[test]
fn urls() {
    drive(&url_seeds(), CASES, zorb::giop::fuzz::urls);
}

/// By other ORBs' rules and by none: addresses, names, no point, a point too many.
fn listen_point_seeds() -> Vec<Vec<u8>> {
    let point = |host: &str, port| ListenPoint { host: host.into(), port };
    let lists = [
        vec![],
        vec![point("10.1.2.3", 2809)],
        vec![point("client.example", 40_000), point("fe80::1", 40_000), point("", 0)],
        vec![point("h", 1); zorb::giop::most_listen_points() + 1],
    ];
    lists.iter().map(|list| encode_listen_points(list).expect("plain text").to_vec()).collect()
}

#[test]
fn listen_points() {
    drive(&listen_point_seeds(), CASES, zorb::giop::fuzz::listen_points);
}

#[test]
fn datagrams() {
    let mut seeds = seeds::datagrams();
    seeds.extend(short(vectors::messages()));
    drive(&seeds, CASES, zorb::giop::fuzz::datagrams);
}

/// Datagrams of frames, each behind its length and a pause of 10 ms: a whole one, then one in four parts.
fn frame_seeds() -> Vec<Vec<u8>> {
    let contexts = ServiceContexts::new();
    let protocol = Frames::new(|| 5);
    let frame = |octets| {
        let mut to = Encoder::new(protocol.format().expect("it has one form"));
        let target = Addressing::ObjectKey(b"key");
        let response = ResponseFlags::NONE;
        let head =
            RequestHead { id: 1, response, target, operation: "show", by_number: None, contexts: &contexts };
        protocol.begin_request(&mut to, &head).expect("a head that can be written");
        to.write_octets(&vec![7; octets]);
        protocol.finish(&mut to).expect("a small message");
        to.to_bytes().to_vec()
    };
    let (mut numbers, mut seeds) = (FlowNumbers::new(1), vec![Vec::new()]);
    for mut frame in [frame(4), frame(1000), frame(2)] {
        numbers.number(&mut frame);
        let rest = &frame[FRAME_HEAD..];
        for (index, part) in rest.chunks(300).enumerate() {
            let length = u16::try_from(FRAME_HEAD + part.len()).expect("a small part");
            let head = FlowNumbers::head(&frame, index * 300);
            seeds[0].extend([&length.to_be_bytes()[..], &[10], &head, part].concat());
        }
    }
    seeds
}

#[test]
fn frames() {
    drive(&frame_seeds(), CASES, zorb::giop::fuzz::frames);
}

#[test]
fn values() {
    drive(&value_seeds(), 4 * CASES, zorb::cdr::fuzz::values);
}

/// A recursive struct, a union and a list, as anys and as TypeCodes, in either byte order by what follows the settings.
fn any_seeds() -> Vec<Vec<u8>> {
    let tree = TypeCode::build(|to| {
        to.structure("IDL:Tree:1.0", "Tree", |to| {
            let itself = to.structure("IDL:Tree:1.0", "Tree", |_| Vec::new());
            vec![("name", to.string(0)), ("size", to.fixed(5, 2)), ("children", to.sequence(itself, 0))]
        })
    })
    .expect("it can be described");
    let choice = TypeCode::build(|to| {
        to.union("IDL:Choice:1.0", "Choice", Some(1), |to| {
            let arms = vec![(1, "a", to.basic::<i32>()), (0, "b", to.type_code(&tree))];
            (to.basic::<i16>(), arms)
        })
    })
    .expect("it can be described");
    let (name, size, none) = (String::from("a"), [0x12u8, 0x34, 0x5c], Vec::<u8>::new());
    let fields = (name.clone(), size, vec![(name.clone(), size, none.clone())]);
    let anys = [
        Any::with_type_code(tree.clone(), &fields),
        Any::with_type_code(choice.clone(), &(1i16, 7i32)),
        Any::new(&vec![1.5f64, 2.5]),
    ]
    .map(|any| any.expect("it is a value of its type"));
    let seed = |settings: u8, value: &dyn Fn(&mut Encoder<'static>) -> Result<(), EncodeError>| {
        let mut to = Encoder::new(Format::default());
        value(&mut to).expect("it can be written");
        [&[settings][..], &to.to_bytes()].concat()
    };
    let all = anys.to_vec();
    let mut seeds: Vec<Vec<u8>> = anys.iter().map(|it| seed(0, &|to| it.clone().encode_owned(to))).collect();
    seeds.push(seed(0x32, &|to| Any::new(&all)?.encode_owned(to)));
    seeds.extend([tree, choice].map(|it| seed(0x14, &|to| it.clone().encode_owned(to))));
    seeds
}

#[test]
fn anys() {
    drive(&any_seeds(), 4 * CASES, zorb::cdr::fuzz::anys);
}

/// An any of three values of valuetypes, one in the other's state, the last in chunks, behind its settings.
fn value_seed() -> Vec<u8> {
    let ty = TypeCode::build(|to| {
        let node = to.value("IDL:Node:1.0", "Node", 3, |to| {
            let next = to.value("IDL:Node:1.0", "Node", 3, |_| (None, Vec::new()));
            (None, vec![("x", to.basic::<i32>(), 1), ("next", next, 1)])
        });
        to.sequence(node, 0)
    })
    .expect("it can be described");
    let (tag, id) = ([0x7fff_ff02u32, 13], *b"IDL:Node:1.0\0\0\0\0");
    let chunk = ([0x7fff_ff0au32, 13], id, [8u32, 5, 0, u32::MAX]);
    let mut to = Encoder::new(Format::default());
    let values = (2u32, (tag, id, 7i32, (tag, id, [8i32, 0])), chunk);
    ty.encode(&mut to).and_then(|()| values.encode(&mut to)).expect("it can be written");
    [&[0][..], &to.to_bytes()].concat()
}

/// The same anys, with steps before them that change what was taken apart.
fn dynamic_seeds() -> Vec<Vec<u8>> {
    let mut random = Random::new(2);
    let mut anys = any_seeds().into_iter().filter(|seed| seed[0] & 4 == 0).collect::<Vec<_>>();
    anys.push(value_seed());
    let with_steps = |seed: &Vec<u8>| {
        let steps: Vec<u8> = (0..20).map(|_| random.octet()).collect();
        [&[0, 20], &steps[..], &seed[1..]].concat()
    };
    anys.iter().cycle().take(8 * anys.len()).map(with_steps).collect()
}

#[test]
fn dynamic() {
    drive(&dynamic_seeds(), 4 * CASES, zorb::cdr::fuzz::dynamic);
}

#[test]
fn graphs() {
    drive(&zorb::cdr::fuzz::graph_seeds(), 4 * CASES, zorb::cdr::fuzz::graphs);
}

#[test]
fn graph_anys() {
    drive(&zorb::cdr::fuzz::graph_any_seeds(), 4 * CASES, zorb::cdr::fuzz::graph_anys);
}

#[test]
fn written() {
    drive(&zorb_dynamic::fuzz::written_seeds(), CASES, zorb_dynamic::fuzz::written);
}

#[test]
fn shown() {
    // A long double of the largest exponents has thousands of digits.
    drive(&zorb_dynamic::fuzz::shown_seeds(), CASES / 10, zorb_dynamic::fuzz::shown);
}

#[test]
fn graph_texts() {
    drive(&zorb_dynamic::fuzz::graph_text_seeds(), CASES, zorb_dynamic::fuzz::graph_texts);
}

#[test]
fn answers() {
    drive_sparsely(&zorb_dynamic::fuzz::answer_seeds(), 500, CASES / 4, zorb_dynamic::fuzz::answers);
}

#[test]
fn object_ids() {
    drive(&zorb_dynamic::fuzz::object_id_seeds(), CASES, zorb_dynamic::fuzz::object_ids);
}

#[test]
fn idl() {
    // A case costs a hundred times what those above do: it compiles the text, and includes it in itself.
    drive_sparsely(&idl_seeds(), 16, 500, zorb_idl::fuzz::idl);
}

/// Gives cargo-fuzz the same seeds to begin with; see docs/fuzzing.md.
#[test]
#[ignore = "by hand: writes fuzz/corpus"]
fn corpus() {
    for (target, seeds) in [
        ("messages", message_seeds()),
        ("references", reference_seeds()),
        ("urls", url_seeds()),
        ("listen_points", listen_point_seeds()),
        ("datagrams", seeds::datagrams()),
        ("frames", frame_seeds()),
        ("values", value_seeds()),
        ("anys", any_seeds()),
        ("dynamic", dynamic_seeds()),
        ("graphs", zorb::cdr::fuzz::graph_seeds()),
        ("graph_anys", zorb::cdr::fuzz::graph_any_seeds()),
        ("written", zorb_dynamic::fuzz::written_seeds()),
        ("shown", zorb_dynamic::fuzz::shown_seeds()),
        ("graph_texts", zorb_dynamic::fuzz::graph_text_seeds()),
        ("answers", zorb_dynamic::fuzz::answer_seeds()),
        ("object_ids", zorb_dynamic::fuzz::object_id_seeds()),
        ("idl", idl_seeds()),
    ] {
        let directory = root().join("fuzz/corpus").join(target);
        fs::create_dir_all(&directory).expect("fuzz/corpus can be made");
        for (number, seed) in seeds.iter().enumerate() {
            fs::write(directory.join(format!("seed-{number}")), seed).expect("a seed can be written");
        }
    }
}
