//! The servant behind `newer.idl`.

use std::ops::Deref;
use std::sync::atomic::{AtomicI8, Ordering};

use zorb::{Any, Call, SystemException};

use super::echo::echo;
use crate::newer::fresh::*;

/// Echoes of what IDL 4.2 added.
#[derive(Default)]
pub(super) struct Newest {
    level: AtomicI8,
}

macro_rules! echo_methods {
    ($($how:ident $operation:ident: $type:ty;)*) => {
        $(echo_methods!(@ $how $operation $type);)*
    };
    (@ value $operation:ident $type:ty) => {
        fn $operation(&self, _: &Call, a: $type, c: $type) -> Result<($type, $type, $type), SystemException> {
            echo(a, c)
        }
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

impl NewerServant for Newest {
    echo_methods! {
        value echo_int8: i8;
        value echo_uint8: u8;
        value echo_steps: Steps;
        value echo_counts: Counts;
        whole echo_move: Move;
        whole echo_empty: Empty;
        parts echo_empties: Empties;
        parts echo_empties3: Empties3;
        parts echo_emptiers: Emptiers;
        whole echo_clock: Clock;
        value echo_access: Access;
        parts echo_accesses: Accesses;
        value echo_head: Head;
        value echo_tail: Tail;
        whole echo_derived: Derived;
        whole echo_further: Further;
        whole echo_ages: Ages;
        whole echo_walks: Walks;
        whole echo_table: Table;
        whole echo_nested: Nested;
        whole echo_signed: Signed;
        whole echo_any: Any;
    }

    fn level(&self, _: &Call) -> Result<i8, SystemException> {
        Ok(self.level.load(Ordering::Relaxed))
    }

    fn set_level(&self, _: &Call, level: i8) -> Result<(), SystemException> {
        self.level.store(level, Ordering::Relaxed);
        Ok(())
    }
}
