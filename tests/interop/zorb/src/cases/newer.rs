//! **newer/…**: what IDL 4.2 added, in every direction.

use zorb::{Any, Interface};

use crate::every::interop::Every;
use crate::newer::fresh::*;
use crate::report::{Report, Trouble, equal};

/// Hands a value to a stub as its word says.
macro_rules! given {
    (value $value:expr) => {
        $value
    };
    (whole $value:expr) => {
        &$value
    };
}

fn derived(sign: i8) -> Derived {
    let front = Head { kind: 1023, level: sign.clamp(-32, 31) };
    Derived { sign, name: format!("{sign}"), may: Access::read | Access::own, front }
}

fn further(last: i8) -> Further {
    let Derived { sign, name, may, front } = derived(last);
    Further { sign, name, may, front, none: vec![Emptier::default(); 3], last }
}

fn ages() -> Ages {
    [("", 0), ("Ann", -3), ("zwölf", i32::MAX)].map(|(name, age)| (name.to_owned(), age)).into()
}

fn walks() -> Walks {
    [("ü".to_owned(), vec![-1, 1].into()), ("none".to_owned(), Vec::new().into())].into()
}

pub(super) fn newer(report: &mut Report<'_>, every: &Every) {
    let part = || -> Result<Newer, Trouble> {
        let part = every.part("Newer")?;
        let part = part.ok_or_else(|| Trouble::Skip("the server has nothing of IDL 4.2".into()))?;
        Ok(Newer::from_object(part))
    };
    macro_rules! cases {
        ($($name:literal $how:ident $operation:ident: $pairs:expr;)*) => {$(
            report.case($name, || {
                let part = part()?;
                for (a, c) in $pairs {
                    let (result, b, now) = part.$operation(given!($how a.clone()), given!($how c.clone()))?;
                    equal("result", &result, &c)?;
                    equal("b", &b, &a)?;
                    equal("c", &now, &a)?;
                }
                Ok(())
            });
        )*};
    }
    let clock = |count| Clock { passed: vec![Empty::default(); count] };
    let step = |by| Move { by, times: 255, grid: [by, 0, -1] };
    let head = |kind, level| Head { kind, level };
    let tail = |level, last, more| Tail { kind: 1, level, last, more };
    let table = |keys: &[i8]| -> Table { keys.iter().map(|key| (*key, further(*key))).collect() };
    let nested = || -> Nested { [("a".to_owned(), ages()), ("b".to_owned(), Ages::new())].into() };
    let any = |count: usize| Any::new(&clock(count)).unwrap_or_default();
    cases! {
        "newer/int8" value echo_int8: [(-128, 127), (-3, 0)];
        "newer/uint8" value echo_uint8: [(255, 0), (128, 1)];
        "newer/steps" whole echo_steps: [(Steps::from(vec![-1, 127, -128]), Steps::from(Vec::new()))];
        "newer/counts" whole echo_counts: [(Counts::from(vec![255, 0]), Counts::from(vec![128]))];
        "newer/move" whole echo_move: [(step(-1), step(-128))];
        "newer/empty" whole echo_empty: [(Empty::default(), Empty::default())];
        "newer/empties" whole echo_empties: [(vec![Empty::default(); 1024], vec![Empty::default(); 2])];
        "newer/empties3" whole echo_empties3: [(vec![Empty::default(); 3], Vec::new())];
        "newer/emptiers" whole echo_emptiers: [(vec![Emptier::default(); 5], vec![Emptier::default()])];
        "newer/clock" whole echo_clock: [(clock(2), clock(7))];
        "newer/access" value echo_access: [(Access::read | Access::own, Access::default())];
        "newer/accesses" whole echo_accesses: [(vec![Access::write, Access::own], Vec::new())];
        "newer/head" value echo_head: [(head(1023, -32), head(0, 31))];
        "newer/tail" value echo_tail: [(tail(-1, true, 0x7fff_ffff), tail(31, false, 0))];
        "newer/derived" whole echo_derived: [(derived(-3), derived(100))];
        "newer/further" whole echo_further: [(further(-3), further(100))];
        "newer/ages" whole echo_ages: [(ages(), Ages::new())];
        "newer/walks" whole echo_walks: [(walks(), Walks::new())];
        "newer/table" whole echo_table: [(table(&[-128, -1, 0, 127]), table(&[]))];
        "newer/nested" whole echo_nested: [(nested(), Nested::new())];
        "newer/signed" whole echo_signed: [(Signed::low(-1), Signed::bits(Access::own)), (Signed::rest(-7, ages()), Signed::low(3))];
        "newer/any" whole echo_any: [(any(2), any(1024))];
    }
    report.case("newer/attribute", || {
        let part = part()?;
        part.set_level(-7)?;
        equal("level", part.level()?, -7)
    });
}
