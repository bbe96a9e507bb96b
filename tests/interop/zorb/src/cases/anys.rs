//! **any/…** and **type/…**.

use zorb::Any;

use super::beyond::Both;
use super::raises;
use crate::beyond::beyond::anys::RaiseAnyError;
use crate::beyond::beyond::*;
use crate::kinds::{self, NAMES, TYPES, is_apart, is_wide};
use crate::report::{Report, ensure, equal, fail, need_wide, same_text};

pub(super) fn anys(report: &mut Report<'_>, both: &Both<'_>) {
    let has_wide = report.options().has_wide();
    let make = |name: &str| kinds::make(name, &both.thing()?).map_err(fail);
    let text = |name: &str, any: &Any| kinds::text(name, any, both.orb).map_err(fail);
    for name in NAMES {
        let wide = || need_wide(has_wide || !is_wide(name));
        report.case(format_args!("any/echo-{name}"), || {
            wide()?;
            let (a, old) = (make(name)?, make("pair")?);
            let (returned, b, c) = both.part::<Anys>()?.echo_any(&a, &old)?;
            same_text("b", &text(name, &b)?, &text(name, &a)?)?;
            same_text("c", &text(name, &c)?, &text(name, &a)?)?;
            same_text("return", &text("pair", &returned)?, &text("pair", &old)?)
        });
        report.case(format_args!("any/describe-{name}"), || {
            wide()?;
            let a = make(name)?;
            same_text("seen", &both.part::<Anys>()?.describe_any(name, &a)?, &text(name, &a)?)
        });
        report.case(format_args!("any/make-{name}"), || {
            wide()?;
            let made = both.part::<Anys>()?.make_any(name)?;
            same_text("made", &text(name, &made)?, &text(name, &make(name)?)?)
        });
    }
    report.case("any/sequence", || {
        let names: Vec<_> = NAMES.into_iter().filter(|name| !is_wide(name) && !is_apart(name)).collect();
        let a: Vec<Any> = names.iter().map(|name| make(name)).collect::<Result<_, _>>()?;
        let (returned, b, c) = both.part::<Anys>()?.echo_any_seq(&a, &[])?;
        equal("lengths", (returned.len(), b.len(), c.len()), (0, a.len(), a.len()))?;
        for (at, name) in names.iter().enumerate() {
            let wanted = text(name, &a[at])?;
            same_text(format_args!("b, {name}"), &text(name, &b[at])?, &wanted)?;
            same_text(format_args!("c, {name}"), &text(name, &c[at])?, &wanted)?;
        }
        Ok(())
    });
    report.case("any/exception", || {
        let a = make("tree")?;
        let wanted = Oops { why: text("tree", &a)?, code: 1 };
        raises(
            "Oops",
            both.part::<Anys>()?.raise_any(&a, "tree"),
            |error| matches!(error, RaiseAnyError::Oops(oops) if *oops == wanted),
        )
    });
}

pub(super) fn types(report: &mut Report<'_>, both: &Both<'_>) {
    let make = |name: &str| kinds::type_code(name).map_err(fail);
    for name in NAMES.into_iter().chain(TYPES) {
        report.case(format_args!("type/echo-{name}"), || {
            let (a, pair) = (make(name)?, make("pair")?);
            let (returned, b, c) = both.part::<Types>()?.echo_type(&a, &pair)?;
            ensure("b is equal", b.equal(&a))?;
            ensure("c is equal", c.equal(&a))?;
            ensure("the result is equal", returned.equal(&pair))
        });
        report.case(format_args!("type/equal-{name}"), || {
            let (a, types) = (make(name)?, both.part::<Types>()?);
            equal("the server's", &types.make_type(name)?, &a)?;
            ensure("ours is equal for the server", types.is_equal(name, &a)?)
        });
        report.case(format_args!("type/equivalent-{name}"), || {
            let (a, types) = (make(name)?, both.part::<Types>()?);
            let made = types.make_type(name)?;
            ensure(format_args!("{made:?} is equivalent to {a:?}"), made.equivalent(&a))?;
            ensure("ours is equivalent for the server", types.is_equivalent(name, &a)?)
        });
    }
    report.case("type/differ", || {
        let types: Types = both.part()?;
        let (tree, long, marked) = (make("tree")?, make("long")?, make("marked")?);
        ensure("tree is no pair", !types.is_equal("pair", &tree)? && !types.is_equivalent("pair", &tree)?)?;
        ensure(
            "a height is a long",
            types.is_equivalent("height", &long)? && !types.is_equal("height", &long)?,
        )?;
        ensure("a ring is no marked", !types.is_equivalent("ring", &marked)?)
    });
}
