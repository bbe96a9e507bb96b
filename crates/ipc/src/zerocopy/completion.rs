//! What the kernel says when it has done with what was sent (linux/errqueue.h).

use crate::control::Rider;

/// The calls that a completion is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) first: u32,
    pub(super) last: u32,
    /// The kernel copied what they sent after all.
    pub(super) copied: bool,
}

/// linux/errqueue.h
const SO_EE_ORIGIN_ZEROCOPY: u8 = 5;
const SO_EE_CODE_ZEROCOPY_COPIED: u8 = 1;

impl Range {
    /// `struct sock_extended_err`: error number (4), origin, type, code, padding (1 each), info and data (4
    /// each).
    pub(super) fn of(rider: &Rider<'_>) -> Option<Self> {
        let four = (rider.level, rider.kind) == (libc::SOL_IP, libc::IP_RECVERR);
        let six = (rider.level, rider.kind) == (libc::SOL_IPV6, libc::IPV6_RECVERR);
        let &[error, [origin, _, code, _], first, last] =
            rider.octets.as_chunks::<4>().0.first_chunk::<4>()?;
        let completion = (four || six) && error == [0; 4] && origin == SO_EE_ORIGIN_ZEROCOPY;
        let copied = code & SO_EE_CODE_ZEROCOPY_COPIED != 0;
        completion.then(|| Range { first: u32::from_ne_bytes(first), last: u32::from_ne_bytes(last), copied })
    }

    pub(super) fn contains(self, number: u32) -> bool {
        number.wrapping_sub(self.first) <= self.last.wrapping_sub(self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rider(octets: &[u8]) -> Rider<'_> {
        Rider { level: libc::SOL_IP, kind: libc::IP_RECVERR, octets }
    }

    #[test]
    fn only_a_whole_completion_is_one() {
        let words = |words: [u32; 4]| words.map(u32::to_ne_bytes).concat();
        let origin = u32::from_ne_bytes([SO_EE_ORIGIN_ZEROCOPY, 0, SO_EE_CODE_ZEROCOPY_COPIED, 0]);
        let whole = words([0, origin, 3, 9]);
        assert_eq!(Range::of(&rider(&whole)), Some(Range { first: 3, last: 9, copied: true }));
        for cut in 0..whole.len() {
            assert_eq!(Range::of(&rider(&whole[..cut])), None, "{cut}");
        }
        assert_eq!(Range::of(&rider(&words([111, origin, 3, 9]))), None, "an error of the network");
        assert_eq!(
            Range::of(&rider(&words([0, u32::from_ne_bytes([2, 0, 0, 0]), 3, 9]))),
            None,
            "of another origin"
        );
        assert_eq!(Range::of(&Rider { kind: libc::IP_TTL, ..rider(&whole) }), None);
    }
}
