//! What a row's ratio says: its interval, and whether it meets its target.

use crate::pin::Pin;
use crate::rtt;
use crate::statistics::{Ratio, Target, Verdict};
use crate::system::{Payload, Transport};

use super::record::Record;

/// A row's ratio to the floor. Without an interval it rests on too few pairs.
pub(super) fn ratio(record: &Record) -> Option<(f64, Option<Ratio>)> {
    let median = record.positive("ratio_to_raw")?;
    let interval = record
        .positive("ratio_low")
        .zip(record.positive("ratio_high"))
        .filter(|(low, high)| low <= high)
        .map(|(low, high)| Ratio { median, low, high });
    Some((median, interval))
}

/// The ratio that a row should stay below: its own field `target`, or what the scenario sets for zorb.
pub(super) fn target(record: &Record) -> Option<Target> {
    if let Some(target) = record.positive("target") {
        return Some(Target(target));
    }
    // Over a simulated link the floor is another one.
    if (record.text("experiment"), record.text("system"), record.text("link")) != ("rtt", "zorb", "") {
        return None;
    }
    let transport: Transport = record.text("transport").parse().ok()?;
    let pin: Pin = record.text("pin").parse().ok()?;
    let payload = match (record.text("type"), record.number("size")?) {
        ("null", _) => Payload::Null,
        ("octet", size) => Payload::Octets(size as usize),
        _ => return None,
    };
    rtt::target(transport, pin, payload)
}

/// Judges a row that has both a ratio and a target.
pub(super) fn verdict(record: &Record) -> Option<Verdict> {
    let target = target(record)?;
    let (_, interval) = ratio(record)?;
    Some(interval.map_or(Verdict::NotResolved, |interval| target.judge(&interval)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::record::read;

    fn judged(fields: &str) -> Option<Verdict> {
        let line =
            format!(r#"{{"experiment":"rtt","system":"zorb","transport":"tcp","pin":"same",{fields}}}"#);
        verdict(&read("r", line.as_bytes()).0[0])
    }

    #[test]
    fn targets_come_from_the_row_or_the_scenario() {
        let narrow = r#""ratio_to_raw":1.05,"ratio_low":1.04,"ratio_high":1.06"#;
        assert_eq!(judged(&format!(r#""type":"null","size":0,{narrow}"#)), Some(Verdict::Met));
        assert_eq!(judged(&format!(r#""type":"octet","size":65536,{narrow}"#)), Some(Verdict::Met));
        assert_eq!(judged(&format!(r#""type":"octet","size":77,{narrow}"#)), None, "no target is set");
        assert_eq!(
            judged(&format!(r#""type":"octet","size":77,"target":1.01,{narrow}"#)),
            Some(Verdict::Missed)
        );
        assert_eq!(judged(&format!(r#""type":"null","size":0,"link":"wan",{narrow}"#)), None);
    }

    #[test]
    fn a_ratio_without_an_interval_resolves_nothing() {
        let median = r#""type":"null","size":0,"ratio_to_raw":1.05"#;
        assert_eq!(judged(median), Some(Verdict::NotResolved));
        assert_eq!(judged(r#""type":"null","size":0,"ratio_to_raw":null"#), None);
    }
}
