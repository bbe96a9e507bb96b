//! Finds the perfect hash of an interface's operation names.
//!
//! The table is read by `zorb_orb::rt::Operations`, which describes it; [`hash`], [`bucket`] and [`slot`] here
//! are the same functions, since this crate may not know the ORB. A test across both crates holds them equal.

use std::collections::HashSet;

/// A table that leads each name to its position, as `zorb_orb::rt::Operations` wants it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    /// How far the numbers are turned.
    pub seed: u64,
    /// What each bucket adds; as many as a power of two.
    pub displacements: Vec<u16>,
    /// The position of the name that leads to each slot; as many as a power of two.
    pub slots: Vec<u16>,
}

impl Table {
    /// The table of `names`, which differ from each other; `None` if there are more than 65,535, or two that have the same
    /// number, which no rotation tells apart.
    pub fn of(names: &[&str]) -> Option<Table> {
        if names.len() > usize::from(u16::MAX) {
            return None;
        }
        let numbers: HashSet<u64> = names.iter().map(|name| number(name.as_bytes())).collect();
        if numbers.len() != names.len() {
            return None;
        }
        if names.is_empty() {
            return Some(Table { seed: 0, displacements: Vec::new(), slots: Vec::new() });
        }
        // A fifth of the slots stays free, so that the first few seeds nearly always do; should they not, more.
        let mut size = (names.len() + names.len() / 4).next_power_of_two();
        loop {
            if let Some(table) = (0..SEEDS_PER_SIZE).find_map(|seed| Table::with(names, seed, size)) {
                return Some(table);
            }
            size *= 2;
        }
    }

    /// The position that a name leads to; right only for the names that the table is of.
    pub fn find(&self, name: &str) -> Option<usize> {
        let hash = hash(name.as_bytes(), self.seed);
        let displacement = *self.displacements.get(bucket(hash, self.displacements.len()))?;
        self.slots.get(slot(hash, displacement, self.slots.len())).map(|it| (*it).into())
    }

    fn with(names: &[&str], seed: u64, size: usize) -> Option<Table> {
        let hashes: Vec<u64> = names.iter().map(|name| hash(name.as_bytes(), seed)).collect();
        let count = (size / NAMES_PER_BUCKET).max(1);
        let mut buckets = vec![Vec::new(); count];
        for (position, hash) in hashes.iter().enumerate() {
            buckets[bucket(*hash, count)].push(position);
        }
        let mut displacements = vec![0; buckets.len()];
        let mut slots: Vec<Option<u16>> = vec![None; size];
        let mut order: Vec<usize> = (0..buckets.len()).collect();
        order.sort_by_key(|index| std::cmp::Reverse(buckets[*index].len()));
        for index in order {
            let (displacement, places) = (0..=u16::MAX).take(size * 2).find_map(|displacement| {
                let places =
                    buckets[index].iter().map(|position| slot(hashes[*position], displacement, size));
                let places: Vec<usize> = places.collect();
                let distinct = places.iter().collect::<HashSet<_>>().len() == places.len();
                (distinct && places.iter().all(|place| slots[*place].is_none()))
                    .then_some((displacement, places))
            })?;
            displacements[index] = displacement;
            for (position, place) in buckets[index].iter().zip(places) {
                slots[place] = Some(*position as u16);
            }
        }
        Some(Table { seed, displacements, slots: slots.into_iter().map(|it| it.unwrap_or(0)).collect() })
    }
}

/// The largest buckets are placed first, while there is room; with four names on average the search is short.
const NAMES_PER_BUCKET: usize = 4;
/// Tried before the table grows; one is nearly always enough.
const SEEDS_PER_SIZE: u64 = 32;

/// See `zorb_orb::rt::operations::bucket`.
pub fn bucket(hash: u64, buckets: usize) -> usize {
    (hash >> 32) as usize & buckets.wrapping_sub(1)
}

/// See `zorb_orb::rt::operations::slot`.
pub fn slot(hash: u64, displacement: u16, slots: usize) -> usize {
    let step = (hash as u32 >> 16) | 1;
    (hash as u32).wrapping_add(step.wrapping_mul(displacement.into())) as usize & slots.wrapping_sub(1)
}

/// See `zorb_orb::rt::operations::hash`.
pub fn hash(name: &[u8], seed: u64) -> u64 {
    number(name).rotate_left(seed as u32)
}

/// See `zorb_giop::operation_number`.
pub fn number(name: &[u8]) -> u64 {
    let mut state = (name.len() as u64).wrapping_mul(FIRST);
    if let Some(last) = name.last_chunk::<8>() {
        for step in name[..name.len() - 1].chunks_exact(8) {
            state = mix(state ^ step.first_chunk().map_or(0, |step| u64::from_le_bytes(*step)));
        }
        mix(state ^ u64::from_le_bytes(*last))
    } else {
        let word = match (name.first_chunk::<4>(), name.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
            }
            _ => name.iter().fold(0, |word, octet| word << 8 | u64::from(*octet)),
        };
        mix(state ^ word)
    }
}

const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
const SECOND: u64 = 0xbb67_ae85_84ca_a73b;

fn mix(word: u64) -> u64 {
    let product = u128::from(word ^ FIRST) * u128::from(SECOND);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_to_its_position() {
        for count in [0, 1, 2, 3, 7, 8, 64, 100, 1_000, 5_000] {
            let names: Vec<String> = (0..count).map(|number| format!("operation_{number}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let table = Table::of(&names).unwrap();
            for (position, name) in names.iter().enumerate() {
                assert_eq!(table.find(name), Some(position), "{name} of {count}");
            }
            assert!(table.slots.len() <= (count * 4).max(1), "{count} names in {} slots", table.slots.len());
        }
    }
}
