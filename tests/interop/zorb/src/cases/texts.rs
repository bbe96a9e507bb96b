//! **text/…** and **bits/…**: code sets, and values that must come back bit for bit.

use zorb::{Char, WChar};

use crate::every::interop::*;
use crate::report::{Outcome, Report, Trouble, equal, need_wide, same};
use crate::sample::{Own, Text, Wide};

fn echo_text(every: &Every, value: &str) -> Outcome {
    let (returned, b, c) = every.echo_string(value, value)?;
    let wanted = value.to_owned();
    same::<Text>("b", &b, &wanted)?;
    same::<Text>("c", &c, &wanted)?;
    same::<Text>("return", &returned, &wanted)
}

fn echo_wide(every: &Every, value: &str) -> Outcome {
    let (returned, b, c) = every.echo_wstring(value, value)?;
    let wanted = value.to_owned();
    same::<Wide>("b", &b, &wanted)?;
    same::<Wide>("c", &c, &wanted)?;
    same::<Wide>("return", &returned, &wanted)
}

pub(super) fn texts(report: &mut Report<'_>, every: &Every) {
    let utf8 = report.options().utf8();
    report.case("text/string-latin1", || echo_text(every, "Grüße, Ærø, ÿ"));
    report.case("text/string-all-latin1", || echo_text(every, &('\u{a0}'..='\u{ff}').collect::<String>()));
    report.case("text/string-beyond-latin1", || {
        if !utf8 {
            return Err(Trouble::Skip("only with --text utf8".into()));
        }
        echo_text(every, "日本語 €")
    });
    report.case("text/string-long", || echo_text(every, &"y".repeat(100_000)));
    report.case("text/char-latin1", || {
        if utf8 {
            return Err(Trouble::Skip("only with --text latin1".into()));
        }
        let e_acute = Char(0xe9);
        equal("return, b, c", every.echo_char(e_acute, e_acute)?, (e_acute, e_acute, e_acute))
    });
    report.case("text/seq-latin1", || {
        let a: StringSeq = ["é", "", "ñandú"].map(String::from).into();
        let (returned, b, c) = every.echo_string_seq(&a, &a)?;
        same::<Own<StringSeq>>("b", &b, &a)?;
        same::<Own<StringSeq>>("c", &c, &a)?;
        same::<Own<StringSeq>>("return", &returned, &a)
    });
    let wide = report.options().has_wide();
    let mut wide_case = |name: &str, body: &dyn Fn() -> Outcome| {
        report.case(name, || {
            need_wide(wide)?;
            body()
        });
    };
    wide_case("text/wchar-nul", &|| {
        equal("return, b, c", every.echo_wchar(WChar(0), WChar(0))?, (WChar(0), WChar(0), WChar(0)))
    });
    wide_case("text/wstring-long", &|| echo_wide(every, &"ж".repeat(100_000)));
    wide_case("text/wstring-surrogates", &|| echo_wide(every, "\u{1d11e} clef"));
    wide_case("text/wstring-bom", &|| echo_wide(every, "\u{feff}x"));
    wide_case("text/wstring-swapped-bom", &|| echo_wide(every, "\u{fffe}x"));
}

pub(super) fn bits(report: &mut Report<'_>, every: &Every) {
    report.case("bits/float", || {
        for bits in [0x7fc1_2345, 0xffc0_0001, 0x7f80_0001] {
            let value = f32::from_bits(bits);
            let (returned, b, c) = every.echo_float(value, value)?;
            equal("return, b, c", [returned, b, c].map(f32::to_bits), [bits; 3])?;
        }
        Ok(())
    });
    report.case("bits/double", || {
        for bits in [0x7ff8_0000_00ab_cdef, 0xfff8_0000_0000_0001, 0x7ff0_0000_0000_0001] {
            let value = f64::from_bits(bits);
            let (returned, b, c) = every.echo_double(value, value)?;
            equal("return, b, c", [returned, b, c].map(f64::to_bits), [bits; 3])?;
        }
        Ok(())
    });
}
