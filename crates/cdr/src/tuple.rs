//! Tuples: the arguments and the results of an operation, one after another.

use crate::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};

/// As many values as a tuple has that can be read and written.
pub(crate) const WIDEST: usize = 24;

macro_rules! tuples {
    ($(($($part:ident $at:tt),+);)*) => {$(
        impl<$($part: Encode),+> Encode for ($($part,)+) {
            #[inline]
            fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
                $(self.$at.encode(to)?;)+
                Ok(())
            }

            #[inline]
            fn encode_owned(self, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
                $(self.$at.encode_owned(to)?;)+
                Ok(())
            }
        }

        impl<$($part: Decode),+> Decode for ($($part,)+) {
            const MIN_SIZE: usize = 0 $(+ $part::MIN_SIZE)+;

            #[inline]
            fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
                Ok(($($part::decode(from).map_err(|error| error.in_part($at))?,)+))
            }
        }
    )*};
}

tuples! {
    (T0 0, T1 1);
    (T0 0, T1 1, T2 2);
    (T0 0, T1 1, T2 2, T3 3);
    (T0 0, T1 1, T2 2, T3 3, T4 4);
    (T0 0, T1 1, T2 2, T3 3, T4 4, T5 5);
    (T0 0, T1 1, T2 2, T3 3, T4 4, T5 5, T6 6);
    (T0 0, T1 1, T2 2, T3 3, T4 4, T5 5, T6 6, T7 7);
    (T0 0, T1 1, T2 2, T3 3, T4 4, T5 5, T6 6, T7 7, T8 8);
    (T0 0, T1 1, T2 2, T3 3, T4 4, T5 5, T6 6, T7 7, T8 8, T9 9);
    (T0 0, T1 1, T2 2, T3 3, T4 4, T5 5, T6 6, T7 7, T8 8, T9 9, T10 10);
    (T0 0, T1 1, T2 2, T3 3, T4 4, T5 5, T6 6, T7 7, T8 8, T9 9, T10 10, T11 11);
    (T0 0, T1 1, T2 2, T3 3, T4 4, T5 5, T6 6, T7 7, T8 8, T9 9, T10 10, T11 11, T12 12);
    (T0 0, T1 1, T2 2, T3 3, T4 4, T5 5, T6 6, T7 7, T8 8, T9 9, T10 10, T11 11, T12 12, T13 13);
    (T0 0, T1 1, T2 2, T3 3, T4 4, T5 5, T6 6, T7 7, T8 8, T9 9, T10 10, T11 11, T12 12, T13 13, T14 14);
    (T0 0, T1 1, T2 2, T3 3, T4 4, T5 5, T6 6, T7 7, T8 8, T9 9, T10 10, T11 11, T12 12, T13 13, T14 14, T15 15);
    (T0 0, T1 1, T2 2, T3 3, T4 4, T5 5, T6 6, T7 7, T8 8, T9 9, T10 10, T11 11, T12 12, T13 13, T14 14, T15 15, T16 16);
    (T0 0, T1 1, T2 2, T3 3, T4 4, T5 5, T6 6, T7 7, T8 8, T9 9, T10 10, T11 11, T12 12, T13 13, T14 14, T15 15, T16 16, T17 17);
    (T0 0, T1 1, T2 2, T3 3, T4 4, T5 5, T6 6, T7 7, T8 8, T9 9, T10 10, T11 11, T12 12, T13 13, T14 14, T15 15, T16 16, T17 17, T18 18);
    (T0 0, T1 1, T2 2, T3 3, T4 4, T5 5, T6 6, T7 7, T8 8, T9 9, T10 10, T11 11, T12 12, T13 13, T14 14, T15 15, T16 16, T17 17, T18 18, T19 19);
    (T0 0, T1 1, T2 2, T3 3, T4 4, T5 5, T6 6, T7 7, T8 8, T9 9, T10 10, T11 11, T12 12, T13 13, T14 14, T15 15, T16 16, T17 17, T18 18, T19 19, T20 20);
    (T0 0, T1 1, T2 2, T3 3, T4 4, T5 5, T6 6, T7 7, T8 8, T9 9, T10 10, T11 11, T12 12, T13 13, T14 14, T15 15, T16 16, T17 17, T18 18, T19 19, T20 20, T21 21);
    (T0 0, T1 1, T2 2, T3 3, T4 4, T5 5, T6 6, T7 7, T8 8, T9 9, T10 10, T11 11, T12 12, T13 13, T14 14, T15 15, T16 16, T17 17, T18 18, T19 19, T20 20, T21 21, T22 22);
    (T0 0, T1 1, T2 2, T3 3, T4 4, T5 5, T6 6, T7 7, T8 8, T9 9, T10 10, T11 11, T12 12, T13 13, T14 14, T15 15, T16 16, T17 17, T18 18, T19 19, T20 20, T21 21, T22 22, T23 23);
}
