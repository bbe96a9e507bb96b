//! Seeded damage: every run tries the same cases, so a failure is found again.

use crate::wire::HEADER;

/// A small generator of numbers that look random (xorshift64*).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The same `seed` gives the same numbers.
    pub fn new(seed: u64) -> Random {
        Random(seed | 1)
    }

    /// The next number.
    #[allow(clippy::should_implement_trait, reason = "numbers never end, so there is nothing to iterate to")]
    pub fn next(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    /// A number below `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        self.next() as usize % end.max(1)
    }

    /// An octet.
    pub fn octet(&mut self) -> u8 {
        (self.next() >> 24) as u8
    }

    /// One of `items`, which is not empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// Numbers at which lengths, counts and signs go wrong.
const EDGES: [u32; 12] =
    [0, 1, 2, 3, 0x7f, 0x80, 0xff, 0xffff, 0x0100_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

/// One to four damages.
pub fn mutate(octets: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        damage(octets, random);
    }
}

/// One damage: a bit, an octet, a whole number in either byte order, a part cut, doubled or swapped.
fn damage(octets: &mut Vec<u8>, random: &mut Random) {
    if octets.is_empty() {
        octets.push(random.octet());
    }
    let at = random.below(octets.len());
    let other = random.below(octets.len());
    match random.below(9) {
        0 => octets[at] ^= 1 << random.below(8),
        1 => octets[at] = random.octet(),
        2 => octets[at] = *random.pick(&[0, 1, 0x7f, 0x80, 0xff]),
        3 => octets.truncate(at),
        4 => octets.insert(at, random.octet()),
        5 => drop(octets.drain(at.min(other)..at.max(other).min(at.min(other) + 16))),
        6 => octets.swap(at, other),
        7 => {
            let part = octets[at..octets.len().min(at + 16)].to_vec();
            octets.splice(other..other, part);
        }
        _ => {
            // Where a number stands in CDR: a length, a count, a size.
            let at = at & !3;
            if let Some(number) = octets.get_mut(at..at + 4) {
                let edge = *random.pick(&EDGES);
                let bytes = if random.below(2) == 0 { edge.to_be_bytes() } else { edge.to_le_bytes() };
                number.copy_from_slice(&bytes);
            }
        }
    }
}

/// `cases` mutations of `seeds`, some of two seeds in a row; the same for the same `seed`.
pub fn mutations(seeds: &[Vec<u8>], cases: usize, seed: u64) -> impl Iterator<Item = Vec<u8>> {
    let mut random = Random::new(seed);
    (0..cases).map(move |_| {
        let mut octets = random.pick(seeds).clone();
        if random.below(4) == 0 {
            octets.extend(random.pick(seeds).iter());
        }
        mutate(&mut octets, &mut random);
        octets
    })
}

/// `each` mutations of every one of `messages`, one message after the other; the same for the same `seed`. Every other one
/// leaves the header whole, has it say how long the message is, and damages the rest in one place: most of those get past
/// what reads messages, to what acts on them.
pub fn mutations_of_each(messages: &[Vec<u8>], each: usize, seed: u64) -> impl Iterator<Item = Vec<u8>> {
    let mut random = Random::new(seed);
    let numbered = messages.iter().flat_map(move |message| (0..each).map(move |number| (message, number)));
    numbered.map(move |(message, number)| {
        let mut octets = message.clone();
        if number % 2 == 0 || octets.len() < HEADER {
            mutate(&mut octets, &mut random);
            return octets;
        }
        let mut said = octets.split_off(HEADER);
        damage(&mut said, &mut random);
        let size = u32::try_from(said.len()).unwrap_or(u32::MAX);
        let is_little = octets[6] & 1 == 1;
        octets[8..].copy_from_slice(&if is_little { size.to_le_bytes() } else { size.to_be_bytes() });
        octets.extend(said);
        octets
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_cases() {
        let seeds = [b"one".to_vec(), b"another".to_vec()];
        let first: Vec<_> = mutations(&seeds, 100, 7).collect();
        assert!(first.iter().eq(mutations(&seeds, 100, 7).collect::<Vec<_>>().iter()));
        assert!(first.iter().any(|case| !seeds.contains(case)));
        assert!(!first.iter().eq(mutations(&seeds, 100, 8).collect::<Vec<_>>().iter()));
    }
}
