//! The cases of `../cases.md`, a file for each few of its groups, in its order.

mod anys;
mod beyond;
mod bulk;
mod calls;
mod dynamic;
mod echoes;
mod exceptions;
mod newer;
mod references;
mod texts;
mod values;

use std::fmt::Display;
use std::thread;
use std::time::{Duration, Instant};

use zorb::{Orb, SystemException};

use crate::every::interop::*;
use crate::report::{Outcome, Report, ensure, equal, fail};

/// Runs every case against `every`.
pub fn run(report: &mut Report<'_>, orb: &Orb, every: &Every) -> Result<(), SystemException> {
    echoes::echoes(report, every);
    echoes::phases(report, every);
    bulk::fragments(report, every);
    bulk::bulk(report, every);
    texts::texts(report, every);
    echoes::default_labels(report, every);
    texts::bits(report, every);
    calls::calls(report, every);
    calls::attributes(report, every);
    exceptions::exceptions(report, every);
    exceptions::system(report, every);
    references::objects(report, orb, every);
    references::references(report, orb, every);
    references::callbacks(report, orb, every)?;
    constants(report);
    echoes::decimals(report, every);
    echoes::long_doubles(report, every);
    exceptions::guarded(report, every);
    if report.options().bridged {
        return Ok(()); // A bridge does not pass by values of valuetypes.
    }
    let both = beyond::Both::new(orb, every, report.options())?;
    values::graphs(report, &both);
    values::values(report, &both);
    values::hidden(report, &both);
    values::spanning(report, &both);
    values::custom(report, &both);
    values::abstracts(report, &both);
    anys::anys(report, &both);
    anys::types(report, &both);
    dynamic::contexts(report, &both);
    dynamic::traced(report, &both);
    dynamic::dynamic(report, &both);
    dynamic::scripted(report, &both);
    dynamic::later(report, &both);
    both.close();
    newer::newer(report, every);
    Ok(())
}

pub use echoes::print_samples;

/// Fails unless `result` is an exception that `wanted` takes for the right one.
fn raises<T, E: Display>(
    what: impl Display,
    result: Result<T, E>,
    wanted: impl FnOnce(&E) -> bool,
) -> Outcome {
    match result {
        Ok(_) => Err(fail(format!("{what}: expected an exception got a result"))),
        Err(error) if wanted(&error) => Ok(()),
        Err(error) => Err(fail(format!("{what}: expected another exception got {error}"))),
    }
}

/// Asks every 10 ms until `enough`, for at most 5 s; the last answer either way.
fn wait_for<T, E>(mut ask: impl FnMut() -> Result<T, E>, enough: impl Fn(&T) -> bool) -> Result<T, E> {
    let give_up = Instant::now() + Duration::from_secs(5);
    loop {
        let answer = ask()?;
        if enough(&answer) || Instant::now() > give_up {
            return Ok(answer);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

fn constants(report: &mut Report<'_>) {
    report.case("constant/values", || {
        equal("SHORT_LEAST", SHORT_LEAST, -32768)?;
        equal("USHORT_MOST", USHORT_MOST, 65535)?;
        equal("LONG_LEAST", LONG_LEAST, -2147483647)?;
        equal("ULONG_MOST", ULONG_MOST, 4294967295)?;
        equal("LONGLONG_LEAST", LONGLONG_LEAST, -9223372036854775807)?;
        equal("LONGLONG_MOST", LONGLONG_MOST, 9223372036854775807)?;
        equal("ULONGLONG_MOST", ULONGLONG_MOST, 18446744073709551615)?;
        equal("OCTET_MOST", OCTET_MOST, 255)?;
        equal("HALF", HALF, 0.5)?;
        equal("LARGE", LARGE, 1048576.5)?;
        ensure("YES", std::hint::black_box(YES))?;
        equal("LETTER", LETTER.0, b'z')?;
        equal("WIDE_LETTER", WIDE_LETTER.0, 0x7a)?;
        equal("GREETING", GREETING, "hello, \"world\"\n")?;
        equal("WIDE_GREETING", WIDE_GREETING, "hello")?;
        equal("BOUND", BOUND, 5)?;
        equal("MASK", MASK, 248)?;
        equal("FAVOURITE", FAVOURITE, Color::green)
    });
}
