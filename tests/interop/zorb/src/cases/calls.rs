//! **call/…** and **attribute/…**.

use std::thread;
use std::time::{Duration, Instant};

use super::wait_for;
use crate::every::interop::*;
use crate::report::{Outcome, Report, Trouble, ensure, equal, same};
use crate::sample::{Own, Sample, Travels};

fn fifth<T: Travels>(what: &str, got: &T) -> Outcome {
    same::<Own<T>>(what, got, &T::sample(5))
}

/// What was noted, once there are `count` notes or five seconds have passed.
fn noted(every: &Every, count: usize) -> Result<Vec<i32>, Trouble> {
    Ok(wait_for(|| every.noted(), |notes| notes.len() >= count)?.into_vec())
}

pub(super) fn calls(report: &mut Report<'_>, every: &Every) {
    report.case("call/nothing", || Ok(every.nothing()?));
    report.case("call/consume", || {
        let d = StringSeq::sample(3);
        Ok(every.consume(Sample::sample(3), &String::sample(3), &Sample::sample(3), &d)?)
    });
    report.case("call/produce", || {
        let (a, b, c, d, f) = every.produce()?;
        fifth("a", &a)?;
        fifth("b", &b)?;
        fifth("c", &c)?;
        fifth("d", &d)?;
        fifth("f", &f)
    });
    report.case("call/change", || {
        let (text, list) = (String::sample(2), StringSeq::sample(2));
        let (a, b, c, d, f) =
            every.change(Sample::sample(2), &text, &Sample::sample(2), &list, &Sample::sample(2))?;
        fifth("a", &a)?;
        fifth("b", &b)?;
        fifth("c", &c)?;
        fifth("d", &d)?;
        fifth("f", &f)
    });
    report.case("call/mixed", || {
        let (returned, b, c, g, f) = every.mixed(7, 300, "text", &[1, 2, 3])?;
        equal("b, c, return", (b, c, returned), (-300, 7.0, 3))?;
        equal("g", g, "text")?;
        equal("f", f.into_vec(), [3, 2, 1])
    });
    report.case("call/escaped", || equal("return", every.interface(41)?, 42));
    report.case("call/long-name", || {
        let answer = every
            .operation_name_that_is_rather_long_so_that_its_length_word_and_padding_are_not_the_usual_ones(
                "long",
            )?;
        equal("return", answer, "long")
    });
    report.case("call/oneway", || {
        every.forget()?;
        every.note(1)?;
        every.note_all(&[2, 3], "four")?;
        let mut notes = noted(every, 4)?;
        notes.sort();
        equal("notes", notes, [1, 2, 3, 4])
    });
    report.case("call/oneway-order", || {
        every.forget()?;
        let wanted: Vec<i32> = (0..100).collect();
        wanted.iter().try_for_each(|&n| every.note(n))?;
        equal("notes", noted(every, wanted.len())?, wanted)
    });
    report.case("call/concurrent", || {
        thread::scope(|scope| {
            let meetings = [(); 4].map(|()| scope.spawn(|| every.meet(4, 5000)));
            for meeting in meetings {
                let met = meeting.join().map_err(|_| crate::report::fail("a caller panicked"))?;
                ensure("met", met?)?;
            }
            Ok(())
        })
    });
    report.case("call/slow", || {
        let start = Instant::now();
        every.nap(50)?;
        ensure("50 ms", start.elapsed() >= Duration::from_millis(50))
    });
}

pub(super) fn attributes(report: &mut Report<'_>, every: &Every) {
    report.case("attribute/answer", || equal("answer", every.answer()?, 42));
    report.case("attribute/title", || {
        (0..7).map(String::sample).try_for_each(|title| {
            every.set_title(&title)?;
            equal("title", every.title()?, title)
        })
    });
    report.case("attribute/setting", || {
        (0..7).map(BinStruct::sample).try_for_each(|setting| {
            every.set_setting(&setting)?;
            same::<Own<BinStruct>>("setting", &every.setting()?, &setting)
        })
    });
    report.case("attribute/choice", || {
        (0..7).map(ByUShort::sample).try_for_each(|choice| {
            every.set_choice(&choice)?;
            same::<Own<ByUShort>>("choice", &every.choice()?, &choice)
        })
    });
    report.case("attribute/lists", || {
        (0..7).try_for_each(|k| {
            let (first, second) = (LongSeq::sample(k), LongSeq::sample(k + 1));
            every.set_first_list(&first)?;
            every.set_second_list(&second)?;
            same::<Own<LongSeq>>("first_list", &every.first_list()?, &first)?;
            same::<Own<LongSeq>>("second_list", &every.second_list()?, &second)
        })
    });
}
