//! What the elements of a flood hold: a number, truncated to the type, in each member of a struct.

use std::sync::Arc;

use bytes::Bytes;
use peer::{Element, character, pattern};

use crate::messages::{BinStruct, BinStruct32, Doubles, Longs, Octets, Shorts, Structs, Structs32, Text};

/// A message that is one buffer.
pub(crate) trait Buffer: prost::Message {
    type Item;
    fn items(&self) -> &[Self::Item];
    fn item(value: u32) -> Self::Item;
    fn holds(item: &Self::Item, value: u32) -> bool;
}

/// A buffer that is a run of elements.
pub(crate) trait Run: Buffer {
    /// The message of these elements.
    fn of(items: Vec<Self::Item>) -> Self;
}

/// Makes the buffer of a number: a caller of tonic makes a message for each call and gives it away.
pub(crate) fn buffers<B: Run>(length: usize) -> impl Fn(u32) -> B {
    move |number| B::of((0..length).map(|index| B::item(pattern(number, index))).collect())
}

/// What octets and strings are sent from, of the length that was asked for last: making it belongs to no flood.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    octets: Bytes,
    text: Arc<str>,
}

impl Tables {
    fn octets(&mut self, length: usize) -> Bytes {
        if self.octets.len() != length {
            self.octets = (0..length).map(|index| pattern(0, index) as u8).collect();
        }
        self.octets.clone()
    }

    fn text(&mut self, length: usize) -> Arc<str> {
        if self.text.len() != length {
            let characters = (0..length).map(|index| char::from(character(pattern(0, index))));
            self.text = characters.collect::<String>().into();
        }
        Arc::clone(&self.text)
    }
}

/// The same of octets: each a window on one piece of memory, since `Bytes` can be shared and what 8 bits hold repeats.
pub(crate) fn windows(tables: &mut Tables, length: usize) -> impl Fn(u32) -> Octets + use<> {
    let all = tables.octets(length + 256);
    move |number| {
        let first = pattern(number, 0) as usize % 256;
        Octets { values: all.slice(first..first + length) }
    }
}

/// The same of strings: each copied from one, since a message owns its text and the characters repeat.
pub(crate) fn texts(tables: &mut Tables, length: usize) -> impl Fn(u32) -> Text + use<> {
    let all = tables.text(length + 64);
    move |number| {
        let first = pattern(number, 0) as usize % 64;
        Text { value: all[first..first + length].to_owned() }
    }
}

/// Whether an element holds what the sender put there.
pub(crate) fn check<B: Buffer>(receiver: &mut peer::Receiver, element: Element, buffer: &B) {
    let items = buffer.items();
    receiver.take(element, items.len(), |index, value| B::holds(&items[index], value));
}

macro_rules! buffers {
    ($($message:ident of $item:ty: $make:expr;)*) => {$(
        impl Buffer for $message {
            type Item = $item;
            fn items(&self) -> &[$item] {
                &self.values
            }
            fn item(value: u32) -> $item {
                let make: fn(u32) -> $item = $make;
                make(value)
            }
            fn holds(item: &$item, value: u32) -> bool {
                *item == Self::item(value)
            }
        }

        impl Run for $message {
            fn of(items: Vec<$item>) -> Self {
                $message { values: items.into() }
            }
        }
    )*};
}

buffers! {
    Octets of u8: |value| value as u8;
    Shorts of i32: |value| i32::from(value as i16);
    Longs of i32: |value| value as i32;
    Doubles of f64: f64::from;
    Structs of BinStruct: |value| BinStruct {
        s: i32::from(value as i16),
        c: u32::from(value as u8),
        l: value as i32,
        o: u32::from(value as u8),
        d: f64::from(value),
    };
    Structs32 of BinStruct32: |value| BinStruct32 {
        s: i32::from(value as i16),
        c: u32::from(value as u8),
        l: value as i32,
        o: u32::from(value as u8),
        d: f64::from(value),
        filler: u64::from(value as u8) * 0x0101_0101_0101_0101,
    };
}

impl Buffer for Text {
    type Item = u8;
    fn items(&self) -> &[u8] {
        self.value.as_bytes()
    }
    fn item(value: u32) -> u8 {
        character(value)
    }
    fn holds(item: &u8, value: u32) -> bool {
        *item == character(value)
    }
}

/// Octets from memory that is there already.
pub(crate) fn octets(values: Vec<u8>) -> Octets {
    Octets { values: Bytes::from(values) }
}
