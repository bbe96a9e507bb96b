//! **fragment/…** and **bulk/…**: sizes around the peers' fragment sizes, and beyond their message sizes.

use zorb::Sequence;
use zorb::rt::Element;

use crate::every::interop::*;
use crate::report::{Outcome, Report, equal, fail, same};
use crate::sample::{Own, Sample};

/// Octet i is i mod 251.
fn counted(count: u32) -> OctetSeq {
    (0..count).map(|i| (i % 251) as u8).collect()
}

/// Element i is sample(i).
fn samples<T: Sample>(count: u32) -> Vec<T> {
    (0..count).map(T::sample).collect()
}

fn run_of<T: Sample + Element>(count: u32) -> Sequence<T> {
    samples::<T>(count).into()
}

fn same_octets(got: &[u8], wanted: &[u8]) -> Outcome {
    equal("length", got.len(), wanted.len())?;
    match got.iter().zip(wanted).position(|(got, wanted)| got != wanted) {
        Some(at) => Err(fail(format!("octet {at}: expected {} got {}", wanted[at], got[at]))),
        None => Ok(()),
    }
}

pub(super) fn fragments(report: &mut Report<'_>, every: &Every) {
    report.case("fragment/octets", || {
        for count in 8000..=8400 {
            let sent = counted(count);
            same_octets(&every.bulk_octets(&sent)?, &sent)?;
            same_octets(&every.make_octets(count)?, &sent)?;
        }
        Ok(())
    });
    report.case("fragment/odd_doubles", || {
        for count in 300..=400 {
            let sent = samples(count);
            let got = every.bulk_odd_doubles(&sent)?;
            same::<Own<OddDoubleSeq>>(format_args!("length {count}"), &got, &sent)?;
        }
        Ok(())
    });
    report.case("fragment/strings", || {
        for count in 200..=300 {
            let sent = samples(count);
            let got = every.bulk_strings(&sent)?;
            same::<Own<StringSeq>>(format_args!("length {count}"), &got, &sent)?;
        }
        Ok(())
    });
    report.case("fragment/records", || {
        for count in 1..=120 {
            let sent = samples(count);
            let got = every.bulk_records(&sent)?;
            same::<Own<RecordSeq>>(format_args!("length {count}"), &got, &sent)?;
        }
        Ok(())
    });
}

pub(super) fn bulk(report: &mut Report<'_>, every: &Every) {
    const OCTETS: u32 = 3_145_729;
    report.case("bulk/octets", || {
        let sent = counted(OCTETS);
        same_octets(&every.bulk_octets(&sent)?, &sent)
    });
    report.case("bulk/shorts", || {
        let sent = run_of(1_600_001);
        same::<Own<ShortSeq>>("return", &every.bulk_shorts(&sent)?, &sent)
    });
    report.case("bulk/doubles", || {
        let sent = run_of(400_001);
        same::<Own<DoubleSeq>>("return", &every.bulk_doubles(&sent)?, &sent)
    });
    report.case("bulk/bin_structs", || {
        let sent = run_of(150_001);
        same::<Own<BinStructSeq>>("return", &every.bulk_bin_structs(&sent)?, &sent)
    });
    report.case("bulk/odd_doubles", || {
        let sent = samples(150_001);
        same::<Own<OddDoubleSeq>>("return", &every.bulk_odd_doubles(&sent)?, &sent)
    });
    report.case("bulk/strings", || {
        let sent = samples(60_000);
        same::<Own<StringSeq>>("return", &every.bulk_strings(&sent)?, &sent)
    });
    report.case("bulk/records", || {
        let sent = samples(20_000);
        same::<Own<RecordSeq>>("return", &every.bulk_records(&sent)?, &sent)
    });
    report.case("bulk/sum", || {
        let sent = counted(OCTETS);
        let sum = sent.iter().fold(0, |sum: u32, &octet| sum.wrapping_add(octet.into()));
        equal("sum", every.sum_octets(&sent)?, sum)
    });
    report.case("bulk/make", || same_octets(&every.make_octets(OCTETS)?, &counted(OCTETS)));
}
