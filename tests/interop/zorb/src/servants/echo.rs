//! The echo rule: an operation returns what `c` held, and `b` and `c` leave as `a`.

use std::ops::Deref;

use zorb::{Call, Char, LongDouble, SystemException, WChar};

use super::EveryServant;
use super::parts::{Decimals, LongDoubles};
use crate::every::interop::*;

/// The result of an echo: what is returned, then `b`, then `c`.
pub(super) fn echo<T: Clone>(a: T, c: T) -> Result<(T, T, T), SystemException> {
    Ok((c, a.clone(), a))
}

macro_rules! echo_methods {
    ($($how:ident $operation:ident: $type:ty $(as $shape:ty)?;)*) => {
        $(echo_methods!(@ $how $operation $type);)*
    };
    (@ value $operation:ident $type:ty) => {
        fn $operation(&self, _: &Call, a: $type, c: $type) -> Result<($type, $type, $type), SystemException> {
            echo(a, c)
        }
    };
    (@ sequence $operation:ident $type:ty) => {
        echo_methods!(@ value $operation $type);
    };
    (@ whole $operation:ident $type:ty) => {
        fn $operation(&self, _: &Call, a: &$type, c: &$type) -> Result<($type, $type, $type), SystemException> {
            echo(a.clone(), c.clone())
        }
    };
    (@ parts $operation:ident $type:ty) => {
        fn $operation(
            &self,
            _: &Call,
            a: &<$type as Deref>::Target,
            c: &<$type as Deref>::Target,
        ) -> Result<($type, $type, $type), SystemException> {
            echo(a.to_owned(), c.to_owned())
        }
    };
}

impl ScalarsServant for EveryServant {
    scalars!(echo_methods);
}
impl TextServant for EveryServant {
    texts!(echo_methods);
}
impl WideServant for EveryServant {
    wide!(echo_methods);

    fn raise_wide(&self, _: &Call, k: u32) -> Result<(), wide::RaiseWideError> {
        Err(<WideError as crate::sample::Sample>::sample(k).into())
    }
}
impl StructsServant for EveryServant {
    structs!(echo_methods);
}
impl SequencesServant for EveryServant {
    sequences!(echo_methods);
}
impl ArraysServant for EveryServant {
    arrays!(echo_methods);
}
impl UnionsServant for EveryServant {
    unions!(echo_methods);
}
impl DecimalsServant for Decimals {
    decimals!(echo_methods);
}
impl LongDoublesServant for LongDoubles {
    long_doubles!(echo_methods);
}

macro_rules! phase_methods {
    ($($how:ident $operation:ident: $type:ty;)*) => {
        $(phase_methods!(@ $how $operation $type);)*
    };
    (@ sequence $operation:ident $type:ty) => {
        fn $operation(&self, _: &Call, lead: OctetSeq, a: $type) -> Result<(OctetSeq, $type), SystemException> {
            Ok((lead, a))
        }
    };
    (@ whole $operation:ident $type:ty) => {
        fn $operation(&self, _: &Call, lead: OctetSeq, a: &$type) -> Result<(OctetSeq, $type), SystemException> {
            Ok((lead, a.clone()))
        }
    };
    (@ parts $operation:ident $type:ty) => {
        fn $operation(
            &self,
            _: &Call,
            lead: OctetSeq,
            a: &<$type as Deref>::Target,
        ) -> Result<(OctetSeq, $type), SystemException> {
            Ok((lead, a.to_owned()))
        }
    };
}

macro_rules! lead_methods {
    ($($operation:ident($($octet:ident),*);)*) => {$(
        #[allow(clippy::too_many_arguments)] // as the IDL says
        fn $operation(&self, _: &Call, $($octet: u8,)* a: BinStructSeq) -> Result<BinStructSeq, SystemException> {
            $(let _ = $octet;)*
            Ok(a)
        }
    )*};
}

impl PhasesServant for EveryServant {
    phases!(phase_methods);

    lead_methods! {
        lead_1(o1);
        lead_2(o1, o2);
        lead_3(o1, o2, o3);
        lead_4(o1, o2, o3, o4);
        lead_5(o1, o2, o3, o4, o5);
        lead_6(o1, o2, o3, o4, o5, o6);
        lead_7(o1, o2, o3, o4, o5, o6, o7);
    }
}

impl BulkServant for EveryServant {
    fn bulk_octets(&self, _: &Call, a: OctetSeq) -> Result<OctetSeq, SystemException> {
        Ok(a)
    }
    fn bulk_shorts(&self, _: &Call, a: ShortSeq) -> Result<ShortSeq, SystemException> {
        Ok(a)
    }
    fn bulk_doubles(&self, _: &Call, a: DoubleSeq) -> Result<DoubleSeq, SystemException> {
        Ok(a)
    }
    fn bulk_bin_structs(&self, _: &Call, a: BinStructSeq) -> Result<BinStructSeq, SystemException> {
        Ok(a)
    }
    fn bulk_odd_doubles(&self, _: &Call, a: &[OddDouble]) -> Result<OddDoubleSeq, SystemException> {
        Ok(a.to_vec())
    }
    fn bulk_strings(&self, _: &Call, a: &[String]) -> Result<StringSeq, SystemException> {
        Ok(a.to_vec())
    }
    fn bulk_records(&self, _: &Call, a: &[Record]) -> Result<RecordSeq, SystemException> {
        Ok(a.to_vec())
    }
    fn sum_octets(&self, _: &Call, a: OctetSeq) -> Result<u32, SystemException> {
        Ok(a.iter().fold(0, |sum: u32, &octet| sum.wrapping_add(octet.into())))
    }
    fn make_octets(&self, _: &Call, count: u32) -> Result<OctetSeq, SystemException> {
        Ok((0..count).map(|i| (i % 251) as u8).collect())
    }
}
