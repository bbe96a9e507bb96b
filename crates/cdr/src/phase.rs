//! A message whose body begins with a sequence of structs out of phase, brought in phase where it lies.
//!
//! What stands before a body has been read when this is done, and its octets are free: the length word moves into them, and the
//! first element takes the layout that it has in memory. All behind it stays where it is.
//!
//! ```text
//!                  0      4            24             48
//! received    head │length│first: 20   │second: 24    │ …     the body begins at a multiple of 8
//! in phase   head │length│first: 24    │second: 24    │ …     four before one
//!                -4      0             24             48
//! ```
//!
//! So the body stays one piece, and its sequence becomes a view. Errors behind it name a place that is as far off as the body was moved. Why the first element has a layout of its own: `element.rs`.

use crate::copies::copied;
use crate::{ByteOrder, Decoder, ElementType, Format};
use alloc::vec::Vec;

/// Octets of the length of a sequence.
const LENGTH: usize = 4;

/// Octets of a first element that is read without memory of its own. 64: most structs that are sent by the thousand have fewer.
const SMALL: usize = 64;

impl ElementType {
    /// Brings the sequence of such elements in phase that the body at `body`, a multiple of 8, begins with, in this machine's byte order: where
    /// the body begins now, [`SHIFTED`](Self::SHIFTED) from its alignment origin. `None`, and nothing has changed: it is in phase as it is,
    /// there is no such sequence, or it has not come whole.
    ///
    /// Writes before the body, at most as many octets as an element has.
    pub fn bring_in_phase(&self, message: &mut [u8], body: usize) -> Option<usize> {
        let mut from = Decoder::from_slice(message.get(body..)?, ByteOrder::NATIVE, Format::default());
        let count = usize::try_from(from.read_u32().ok()?).ok()?;
        if count == 0 || !self.begins_out_of_phase(&mut from).ok()? {
            return None;
        }
        let (mut small, mut large) = ([0; SMALL], Vec::new());
        let first = match small.get_mut(..self.size) {
            Some(first) => first,
            None => {
                large.resize(self.size, 0);
                &mut large[..]
            }
        };
        (self.load)(&mut from, first).ok()?;
        let others = match count - 1 {
            0 => 0,
            others => {
                from.align(self.first).ok()?;
                others.checked_mul(self.size)? - self.tail
            }
        };
        let rest = body + from.position();
        let has_come = message.get(rest..)?.len() >= others;
        if !rest.is_multiple_of(self.alignment()) || !has_come {
            return None;
        }
        let elements = rest.checked_sub(first.len())?;
        let begin = elements.checked_sub(LENGTH)?;
        // Before the first element, which may take its place.
        message.copy_within(body..body + LENGTH, begin);
        message[elements..rest].copy_from_slice(first);
        copied(first.len());
        Some(begin)
    }

    /// How far a body that was brought in phase is from its alignment origin, in octets.
    pub const SHIFTED: usize = LENGTH;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Body, Decode, Element, Encode, Encoder, Memory, Padding, Segment, Sequence, bytemuck, tiling_struct,
    };
    use alloc::vec;
    use alloc::vec::Vec;

    /// The first is four octets shorter out of phase, and the length moves back.
    #[derive(Clone, Copy, PartialEq, Default, bytemuck::Zeroable, bytemuck::Pod)]
    #[repr(C)]
    struct Shorter {
        s: i16,
        c: u8,
        _padding_0: Padding<5>,
        d: f64,
    }
    tiling_struct!(plain Shorter { s: i16, c: u8, d: f64 } padding { _padding_0 });

    /// It is four longer, and the length moves on.
    #[derive(Clone, Copy, PartialEq, Default, bytemuck::Zeroable, bytemuck::Pod)]
    #[repr(C)]
    struct Longer {
        a: i32,
        b: i32,
        d: f64,
    }
    tiling_struct!(plain Longer { a: i32, b: i32, d: f64 } padding {});

    /// It has more octets than are read without memory.
    #[derive(Clone, Copy, PartialEq, Default, bytemuck::Zeroable, bytemuck::Pod)]
    #[repr(C)]
    struct Large {
        s: i16,
        _padding_0: Padding<6>,
        d: [f64; 9],
    }
    tiling_struct!(plain Large { s: i16, d: [f64; 9] } padding { _padding_0 });

    /// In front of the body: a head, which is of no use any more.
    const HEAD: usize = 64;

    fn message<T: Element>(elements: Vec<T>) -> (Vec<u8>, Sequence<T>) {
        let elements = Sequence::from(elements);
        let mut to = Encoder::new(Format::default());
        (0..HEAD).for_each(|_| to.write_u8(0xee));
        elements.encode(&mut to).unwrap();
        to.write_u16(4711);
        to.write_f64(0.25);
        (to.to_bytes().to_vec(), elements)
    }

    fn is_viewed_when_brought_in_phase<T: Element + PartialEq + core::fmt::Debug>(
        elements: Vec<T>,
        moved: isize,
    ) {
        let element = ElementType::of::<T>().unwrap();
        let (octets, elements) = message(elements);
        let mut memory = Memory::from([vec![0; 8], octets].concat());
        let aligned = memory.as_ptr().align_offset(8);
        let message = memory.get_mut().unwrap();
        message.copy_within(8.., aligned);
        let begin = element.bring_in_phase(&mut message[aligned..], HEAD).unwrap();
        assert_eq!(begin.wrapping_sub(HEAD).cast_signed(), moved);
        let octets = memory.octets(aligned + begin, memory.len() - 8 - begin);
        let body = Body::one(Segment { octets, phase: ElementType::SHIFTED }, ByteOrder::NATIVE);
        let mut from = Decoder::over(&body, Format::default());
        let received = Sequence::<T>::decode(&mut from).unwrap();
        assert!(received.is_view() && received == *elements);
        assert_eq!((from.read_u16().unwrap(), from.read_f64().unwrap(), from.remaining()), (4711, 0.25, 0));
    }

    #[test]
    fn structs_are_viewed_where_they_came() {
        let shorter = |n: i16| Shorter { s: n, c: 7, d: f64::from(n) / 3.0, ..Shorter::default() };
        is_viewed_when_brought_in_phase((0..500).map(shorter).collect(), -4);
        let longer = |n: i32| Longer { a: n, b: -n, d: f64::from(n) / 3.0 };
        is_viewed_when_brought_in_phase((0..500).map(longer).collect(), 4);
        let large = |n: i16| Large { s: n, d: [f64::from(n) / 3.0; 9], ..Large::default() };
        is_viewed_when_brought_in_phase((0..500).map(large).collect(), -4);
    }

    #[test]
    fn one_alone_is_brought_in_phase_too() {
        let element = ElementType::of::<Shorter>().unwrap();
        let (octets, elements) = message(vec![Shorter { s: 9, c: 7, d: 0.5, ..Shorter::default() }]);
        let mut changed = octets.clone();
        let begin = element.bring_in_phase(&mut changed, HEAD).unwrap();
        assert_eq!((begin, &changed[begin..begin + 4]), (HEAD - 4, &1_u32.to_ne_bytes()[..]));
        assert_eq!(&changed[begin + 4..begin + 20], Shorter::octets(&elements).unwrap());
        assert_eq!(changed[begin + 20..], octets[HEAD + 16..]);
    }

    #[test]
    fn what_is_no_such_sequence_is_left_as_it_is() {
        let element = ElementType::of::<Shorter>().unwrap();
        let (whole, _) = message(vec![Shorter::default(); 300]);
        for kept in (0..whole.len() - 16).step_by(7) {
            let mut part = whole[..kept].to_vec();
            assert_eq!((element.bring_in_phase(&mut part, HEAD), &part[..]), (None, &whole[..kept]));
        }
        for count in [0, 302, 1000, u32::MAX] {
            let mut lies = whole.clone();
            lies[HEAD..HEAD + 4].copy_from_slice(&count.to_ne_bytes());
            let before = lies.clone();
            assert_eq!((element.bring_in_phase(&mut lies, HEAD), lies == before), (None, true), "{count}");
        }
        let (mut no_head, _) = message(vec![Shorter::default(); 300]);
        assert_eq!(element.bring_in_phase(&mut no_head[HEAD..], 0), None, "there is no room before it");
        for scalars in [ElementType::of::<u8>(), ElementType::of::<i32>(), ElementType::of::<f64>()] {
            assert_eq!(scalars.unwrap().bring_in_phase(&mut whole.clone(), HEAD), None);
        }
    }
}
