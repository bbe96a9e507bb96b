//! **exception/…**, **system/…** and **guarded/…**.

use zorb::{Completion, Interface, Kind as ExceptionKind};

use super::raises;
use crate::every::interop::exceptions::{
    RaiseEmptyError, RaiseLoadedError, RaiseOneOfError, RaiseRefusedError,
};
use crate::every::interop::guarded::{GetStrictError, GetWatchedError, SetWatchedError};
use crate::every::interop::*;
use crate::report::{Outcome, Report, Trouble, equal, fail, need_wide, same};
use crate::sample::{Own, Sample};

pub(super) fn exceptions(report: &mut Report<'_>, every: &Every) {
    report.case("exception/empty", || {
        raises("empty", every.raise_empty(), |error| matches!(error, RaiseEmptyError::Empty(Empty {})))
    });
    report.case("exception/refused", || {
        for (why, code) in [("no", -7), ("", i32::MAX)] {
            let wanted = RaiseRefusedError::Refused(Refused { why: why.into(), code });
            raises("refused", every.raise_refused(why, code), |error| *error == wanted)?;
        }
        Ok(())
    });
    report.case("exception/loaded", || {
        for k in 0..13 {
            match every.raise_loaded(k) {
                Err(RaiseLoadedError::Loaded(got)) => {
                    same::<Own<Loaded>>(format_args!("k = {k}, exception"), &got, &Loaded::sample(k))?;
                }
                other => return Err(fail(format!("k = {k}: expected Loaded got {other:?}"))),
            }
        }
        Ok(())
    });
    let has_wide = report.options().has_wide();
    report.case("exception/wide", || {
        need_wide(has_wide)?;
        for k in 0..6 {
            match every.raise_wide(k) {
                Err(wide::RaiseWideError::WideError(got)) => {
                    same::<Own<WideError>>(format_args!("k = {k}, exception"), &got, &WideError::sample(k))?;
                }
                other => return Err(fail(format!("k = {k}: expected WideError got {other:?}"))),
            }
        }
        Ok(())
    });
    report.case("exception/one-of", || one_of(every));
    report.case("exception/undeclared", || {
        raises("undeclared", every.raise_undeclared(), |error| error.kind == ExceptionKind::Unknown)
    });
    report.case("exception/bad-operation", || {
        let base = every.make(Kind::a_base)?.ok_or_else(|| fail("make: nil"))?;
        let left = Left::from_object(base.as_object().clone());
        raises("left_op", left.left_op(1), |error| error.kind == ExceptionKind::BadOperation)
    });
}

fn one_of(every: &Every) -> Outcome {
    equal("return, b, c", every.raise_one_of(0, 9)?, (7, "fine".into(), -9))?;
    raises("1", every.raise_one_of(1, 9), |error| matches!(error, RaiseOneOfError::Empty(_)))?;
    let two = RaiseOneOfError::Refused(Refused { why: "two".into(), code: 2 });
    raises("2", every.raise_one_of(2, 9), |error| *error == two)?;
    match every.raise_one_of(3, 9) {
        Err(RaiseOneOfError::Loaded(got)) => same::<Own<Loaded>>("loaded", &got, &Loaded::sample(3)),
        other => Err(fail(format!("3: expected Loaded got {other:?}"))),
    }
}

/// In the order of `cases.md`: those that every peer knows.
const SYSTEM: [&str; 36] = [
    "UNKNOWN",
    "BAD_PARAM",
    "NO_MEMORY",
    "IMP_LIMIT",
    "COMM_FAILURE",
    "INV_OBJREF",
    "OBJECT_NOT_EXIST",
    "NO_PERMISSION",
    "INTERNAL",
    "MARSHAL",
    "INITIALIZE",
    "NO_IMPLEMENT",
    "BAD_TYPECODE",
    "BAD_OPERATION",
    "NO_RESOURCES",
    "NO_RESPONSE",
    "PERSIST_STORE",
    "BAD_INV_ORDER",
    "TRANSIENT",
    "FREE_MEM",
    "INV_IDENT",
    "INV_FLAG",
    "INTF_REPOS",
    "BAD_CONTEXT",
    "OBJ_ADAPTER",
    "DATA_CONVERSION",
    "INV_POLICY",
    "REBIND",
    "TIMEOUT",
    "TRANSACTION_REQUIRED",
    "TRANSACTION_ROLLEDBACK",
    "INVALID_TRANSACTION",
    "TRANSACTION_UNAVAILABLE",
    "TRANSACTION_MODE",
    "BAD_QOS",
    "CODESET_INCOMPATIBLE",
];

pub(super) fn system(report: &mut Report<'_>, every: &Every) {
    for (n, name) in (0..).zip(SYSTEM) {
        report.case(format_args!("system/{name}"), || {
            let (minor, completed) = (0x5a4f_0000 + n, n % 3);
            let Err(raised) = every.raise_system(name, minor, completed) else {
                return Err(fail("expected an exception got a result"));
            };
            equal("kind", raised.kind.name(), name)?;
            equal("minor", raised.minor.0, minor)?;
            let wanted = [Completion::Yes, Completion::No, Completion::Maybe];
            equal("completed", raised.completed, wanted[completed as usize])
        });
    }
}

pub(super) fn guarded(report: &mut Report<'_>, every: &Every) {
    let part = || -> Result<Guarded, Trouble> {
        let part = every.part("Guarded")?;
        let part = part.ok_or_else(|| Trouble::Skip("the server has no attributes that raise".into()))?;
        Ok(Guarded::from_object(part))
    };
    report.case("guarded/strict", || {
        raises("strict", part()?.strict(), |error| matches!(error, GetStrictError::Empty(_)))
    });
    report.case("guarded/set", || {
        let part = part()?;
        part.set_watched(3)?;
        equal("watched", part.watched()?, 3)
    });
    report.case("guarded/refused", || {
        let wanted = SetWatchedError::Refused(Refused { why: "negative".into(), code: -4 });
        raises("set", part()?.set_watched(-4), |error| *error == wanted)
    });
    report.case("guarded/empty", || {
        let part = part()?;
        part.set_watched(0)?;
        raises("watched", part.watched(), |error| matches!(error, GetWatchedError::Empty(_)))
    });
}
