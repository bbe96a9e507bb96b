//! Fuzz bodies on seeded mutations of every message, reference and URL: no panic, whatever arrives.

mod common;

use common::VECTORS;
use zorb_cdr::Version;
use zorb_giop::*;

/// A small generator (xorshift64*), so that every run tries the same cases.
struct Random(u64);

impl Random {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize
    }

    fn below(&mut self, end: usize) -> usize {
        self.next() % end.max(1)
    }
}

/// One to four small damages.
fn mutate(octets: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let at = random.below(octets.len());
        match random.below(7) {
            _ if octets.is_empty() => octets.push(random.next() as u8),
            0 => octets[at] ^= 1 << random.below(8),
            1 => octets[at] = random.next() as u8,
            2 => octets.truncate(at),
            3 => octets.insert(at, random.next() as u8),
            4 => drop(octets.remove(at)),
            5 => octets[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            _ => {
                let end = at + random.below(octets.len() - at);
                let part = octets[at..end].to_vec();
                octets.extend(part);
            }
        }
    }
}

fn drive(seeds: &[Vec<u8>], cases: usize, body: fn(&[u8])) {
    let mut random = Random(0x5eed);
    for seed in seeds {
        body(seed);
        (0..seed.len()).for_each(|end| body(&seed[..end]));
    }
    for _ in 0..cases {
        let mut octets = seeds[random.below(seeds.len())].clone();
        if random.below(3) == 0 {
            octets.extend_from_slice(&seeds[random.below(seeds.len())]);
        }
        mutate(&mut octets, &mut random);
        body(&octets);
    }
}

#[test]
fn messages() {
    let seeds: Vec<_> = VECTORS.iter().map(common::Vector::octets).collect();
    drive(&seeds, 20_000, fuzz::messages);
}

fn reference() -> Ior {
    let iiop = IiopProfile {
        version: Version::V1_2,
        host: "host.example".into(),
        port: 2809,
        object_key: b"\x00key\xff"[..].into(),
        components: vec![
            code_sets::CodeSetComponent::ours().encode().unwrap(),
            Endpoint { host: "::1".into(), port: 1 }.encode().unwrap(),
            TaggedComponent {
                tag: ComponentTag::OMNIORB_UNIX,
                data: b"\0\0\0\0\0\0\0\x02h\0\0\0\0\0\0\x02/\0"[..].into(),
            },
            TaggedComponent { tag: ComponentTag(0x7777), data: b"?"[..].into() },
        ],
    };
    let unknown = TaggedProfile { tag: ProfileTag(0x1234), data: b"anything"[..].into() };
    Ior {
        type_id: "IDL:omg.org/CosNaming/NamingContext:1.0".into(),
        profiles: vec![iiop.encode().unwrap(), unknown],
    }
}

#[test]
fn references() {
    let seeds = [Ior::nil(), reference()].map(|ior| ior.to_encapsulation().unwrap().to_vec());
    drive(&seeds, 20_000, fuzz::references);
}

#[test]
fn urls() {
    let seeds: Vec<Vec<u8>> = [
        "corbaloc:iiop:1.2@a.example:7,:b,:1.1@[::1],iiop:[fe80::1%eth0]:9,tao:x|y/Key%20%2f",
        "corbaloc:uiop:1.1@/run/a,omniunix:/run/b:,uiop:/c|Key%7C",
        "corbaloc:omniunix:1.2@/run/b:/Key",
        "corbaloc:rir:/NameService",
        "corbaname:rir:#a.b/c",
        "corbaname::host:9999/Root#a.b/c%20d",
        "file:///tmp/a%20b.ior",
        &reference().to_string(),
    ]
    .map(|text| text.as_bytes().to_vec())
    .into();
    drive(&seeds, 20_000, fuzz::urls);
}
