//! **echo/…**, **phase/…**, **lead/…**, **decimal/…** and **long_double/…**: every type in every direction, at every alignment.

use zorb::{Char, Interface, LongDouble, WChar};

use crate::every::interop::*;
use crate::report::{Outcome, Report, Trouble, need_wide, same, same_text};
use crate::sample::{Array, Decimal, List, Own, Run, Sample, Shape, Text, Travels, Wide, text};

/// Samples that each echo tries: twice the longest table of scalars.
const ROUNDS: u32 = 22;

/// The shape of a table's row: what it says, or the type's own.
macro_rules! shape {
    ($type:ty) => { Own<$type> };
    ($type:ty, $shape:ty) => { $shape };
}

/// Hands a value to a stub as its word says.
macro_rules! given {
    (value $value:expr) => {
        *$value
    };
    ($how:ident $value:expr) => {
        $value
    };
}

pub(super) fn echoes(report: &mut Report<'_>, every: &Every) {
    macro_rules! cases {
        ($($how:ident $operation:ident: $type:ty $(as $shape:ty)?;)*) => {$(
            report.case(case_name("echo/", stringify!($operation)), || {
                echo::<shape!($type $(, $shape)?)>(|a, c| {
                    Ok(every.$operation(given!($how a), given!($how c))?)
                })
            });
        )*};
    }
    scalars!(cases);
    texts!(cases);
    let wide = report.options().has_wide();
    macro_rules! wide_cases {
        ($($how:ident $operation:ident: $type:ty $(as $shape:ty)?;)*) => {$(
            report.case(case_name("echo/", stringify!($operation)), || {
                need_wide(wide)?;
                echo::<shape!($type $(, $shape)?)>(|a, c| {
                    Ok(every.$operation(given!($how a), given!($how c))?)
                })
            });
        )*};
    }
    wide!(wide_cases);
    structs!(cases);
    sequences!(cases);
    arrays!(cases);
    unions!(cases);
}

pub(super) fn decimals(report: &mut Report<'_>, every: &Every) {
    let part = || -> Result<Decimals, Trouble> {
        let part = every.part("Decimals")?;
        let part = part.ok_or_else(|| Trouble::Skip("the server has no decimals".into()))?;
        Ok(Decimals::from_object(part))
    };
    macro_rules! cases {
        ($($how:ident $operation:ident: $type:ty $(as $shape:ty)?;)*) => {$(
            report.case(case_name("decimal/", stringify!($operation)), || {
                let part = part()?;
                echo::<shape!($type $(, $shape)?)>(|a, c| {
                    Ok(part.$operation(given!($how a), given!($how c))?)
                })
            });
        )*};
    }
    decimals!(cases);
    report.case("decimal/all_digits", || {
        let part = part()?;
        for k in 3..5 {
            echo_of::<Decimal<9, 2>>(k, |a, c| Ok(part.echo_money(*a, *c)?))?;
            echo_of::<Decimal<31, 31>>(k, |a, c| Ok(part.echo_fraction(*a, *c)?))?;
            echo_of::<Decimal<4, 0>>(k, |a, c| Ok(part.echo_whole(*a, *c)?))?;
        }
        Ok(())
    });
}

pub(super) fn long_doubles(report: &mut Report<'_>, every: &Every) {
    let part = || -> Result<LongDoubles, Trouble> {
        let part = every.part("LongDoubles")?;
        let part = part.ok_or_else(|| Trouble::Skip("the server has no long double".into()))?;
        Ok(LongDoubles::from_object(part))
    };
    macro_rules! cases {
        ($($how:ident $operation:ident: $type:ty $(as $shape:ty)?;)*) => {$(
            report.case(case_name("long_double/", stringify!($operation)), || {
                let part = part()?;
                echo::<shape!($type $(, $shape)?)>(|a, c| {
                    Ok(part.$operation(given!($how a), given!($how c))?)
                })
            });
        )*};
    }
    long_doubles!(cases);
}

/// Labels that select a default arm, or none, beside the one that a compiler would choose for it.
pub(super) fn default_labels(report: &mut Report<'_>, every: &Every) {
    macro_rules! case {
        ($operation:ident, $a:expr) => {
            report.case(case_name("union/", stringify!($operation)), || {
                let a = $a;
                echo_one(&a, &Sample::sample(0), |a, c| Ok(every.$operation(a, c)?))
            });
        };
    }
    case!(echo_by_short, ByShort::Default(9));
    case!(echo_by_ushort, ByUShort::other(65535, Sample::sample(1)));
    case!(echo_by_long, ByLong::scalar(i32::MIN, Sample::sample(1)));
    case!(echo_by_ulong, ByULong::value(77, Sample::sample(1)));
    case!(echo_by_ulonglong, ByULongLong::other(1 << 63, Sample::sample(1)));
    case!(echo_by_char, ByChar::Default(Char(b'z')));
    let wide = report.options().has_wide();
    report.case("union/wide_choice", || {
        need_wide(wide)?;
        let a = WideChoice::short_code(-1, Wide::<6>::sample(1));
        echo_one(&a, &Sample::sample(0), |a, c| Ok(every.echo_wide_choice(a, c)?))
    });
}

fn echo_one<T: Travels>(a: &T, old: &T, call: impl FnOnce(&T, &T) -> Result<(T, T, T), Trouble>) -> Outcome {
    let (returned, b, c) = call(a, old)?;
    same::<Own<T>>("b", &b, a)?;
    same::<Own<T>>("c", &c, a)?;
    same::<Own<T>>("return", &returned, old)
}

/// The case that an operation `echo_X` or `phase_X` is.
fn case_name(group: &str, operation: &str) -> String {
    let (_, name) = operation.split_once('_').unwrap_or_default();
    format!("{group}{name}")
}

type Echoed<S> = (<S as Shape>::Value, <S as Shape>::Value, <S as Shape>::Value);

fn echo<S: Shape>(call: impl Fn(&S::Value, &S::Value) -> Result<Echoed<S>, Trouble>) -> Outcome {
    (0..ROUNDS).try_for_each(|k| echo_of::<S>(k, &call))
}

fn echo_of<S: Shape>(
    k: u32,
    call: impl FnOnce(&S::Value, &S::Value) -> Result<Echoed<S>, Trouble>,
) -> Outcome {
    let (a, c) = (S::sample(k), S::sample(k + 1));
    let (wanted_a, wanted_c) = (text::<S>(&a), text::<S>(&c));
    let (returned, b, c) = call(&a, &c)?;
    same_text(format_args!("k = {k}, b"), &text::<S>(&b), &wanted_a)?;
    same_text(format_args!("k = {k}, c"), &text::<S>(&c), &wanted_a)?;
    same_text(format_args!("k = {k}, return"), &text::<S>(&returned), &wanted_c)
}

pub(super) fn phases(report: &mut Report<'_>, every: &Every) {
    macro_rules! cases {
        ($($how:ident $operation:ident: $type:ty;)*) => {$(
            for lead in 0..8_u8 {
                report.case(format_args!("{}/{lead}", case_name("phase/", stringify!($operation))), || {
                    let front: OctetSeq = (0..lead).collect();
                    for k in 0..7 {
                        let a = <$type>::sample(k);
                        let (back, b) = every.$operation(&front, &a)?;
                        same::<Own<OctetSeq>>(format_args!("k = {k}, back"), &back, &front)?;
                        same::<Own<$type>>(format_args!("k = {k}, b"), &b, &a)?;
                    }
                    Ok(())
                });
            }
        )*};
    }
    phases!(cases);
    for lead in 1..8 {
        report.case(format_args!("lead/{lead}"), || {
            for k in 0..7 {
                let a = BinStructSeq::sample(k);
                let returned = match lead {
                    1 => every.lead_1(1, &a)?,
                    2 => every.lead_2(1, 2, &a)?,
                    3 => every.lead_3(1, 2, 3, &a)?,
                    4 => every.lead_4(1, 2, 3, 4, &a)?,
                    5 => every.lead_5(1, 2, 3, 4, 5, &a)?,
                    6 => every.lead_6(1, 2, 3, 4, 5, 6, &a)?,
                    _ => every.lead_7(1, 2, 3, 4, 5, 6, 7, &a)?,
                };
                same::<Own<BinStructSeq>>(format_args!("k = {k}, return"), &returned, &a)?;
            }
            Ok(())
        });
    }
}

/// Prints the samples of every type, as the other peers do.
pub fn print_samples() {
    macro_rules! print {
        ($($how:ident $operation:ident: $type:ty $(as $shape:ty)?;)*) => {
            $(print_shape::<shape!($type $(, $shape)?)>(&case_name("", stringify!($operation)));)*
        };
    }
    scalars!(print);
    texts!(print);
    wide!(print);
    structs!(print);
    sequences!(print);
    arrays!(print);
    unions!(print);
    print_shape::<Own<Loaded>>("Loaded");
    print_shape::<Own<WideError>>("WideError");
}

fn print_shape<S: Shape>(name: &str) {
    for k in 0..ROUNDS {
        println!("{name} {k} {}", text::<S>(&S::sample(k)));
    }
}
