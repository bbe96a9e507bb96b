//! One result, as one line of JSON.

use serde::Serialize;

use crate::statistics::Ratio;

/// One system's figures for one size. The fields and their order are the interface to scripts: later
/// experiments fill the same ones.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The scenario: `rtt`.
    pub experiment: &'static str,
    /// The system: `zorb`, `raw`, a peer's name.
    pub system: &'static str,
    /// `tcp`, …
    pub transport: &'static str,
    /// `giop`, or `none` for a bare socket.
    pub messaging: &'static str,
    /// What was sent: `null` for a call without arguments, `octet` for a sequence of octets.
    pub r#type: &'static str,
    /// Octets of payload each way; 0 for the null call.
    pub size: usize,
    /// `same`, `split` or `none`.
    pub pin: &'static str,
    /// Median latency in microseconds over all calls.
    pub p50_us: f64,
    /// 99th percentile in microseconds over all calls.
    pub p99_us: f64,
    /// Median ratio to a bare socket that moves the same number of bytes; null where the placement gives none.
    pub ratio_to_raw: Option<f64>,
    /// Lower end of that ratio's 95 % interval.
    pub ratio_low: Option<f64>,
    /// Upper end of that ratio's 95 % interval.
    pub ratio_high: Option<f64>,
}

impl Row {
    /// The row as one line of JSON, without the line's end.
    pub fn to_json(&self) -> String {
        // Field names are constants and every value is a string or a number (NaN becomes null).
        serde_json::to_string(self).expect("strings and numbers always serialise")
    }

    /// The ratio with its interval, if there is one.
    pub fn ratio(&self) -> Option<Ratio> {
        Some(Ratio { median: self.ratio_to_raw?, low: self.ratio_low?, high: self.ratio_high? })
    }

    /// Enters a ratio and its interval, rounded to the four decimals that mean anything.
    pub fn set_ratio(&mut self, ratio: Option<Ratio>) {
        let rounded = |value: f64| (value * 1e4).round() / 1e4;
        self.ratio_to_raw = ratio.map(|ratio| rounded(ratio.median));
        self.ratio_low = ratio.map(|ratio| rounded(ratio.low));
        self.ratio_high = ratio.map(|ratio| rounded(ratio.high));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        Row {
            experiment: "rtt",
            system: "zorb",
            transport: "tcp",
            messaging: "giop",
            r#type: "octet",
            size: 1024,
            pin: "same",
            p50_us: 12.5,
            p99_us: 20.25,
            ratio_to_raw: None,
            ratio_low: None,
            ratio_high: None,
        }
    }

    #[test]
    fn the_fields_are_exactly_these_in_this_order() {
        let mut with_ratio = row();
        with_ratio.set_ratio(Some(Ratio { median: 1.05, low: 1.040_04, high: 1.06 }));
        assert_eq!(
            with_ratio.to_json(),
            concat!(
                r#"{"experiment":"rtt","system":"zorb","transport":"tcp","messaging":"giop","type":"octet","#,
                r#""size":1024,"pin":"same","p50_us":12.5,"p99_us":20.25,"#,
                r#""ratio_to_raw":1.05,"ratio_low":1.04,"ratio_high":1.06}"#
            )
        );
    }

    #[test]
    fn no_ratio_is_null() {
        let line = row().to_json();
        assert!(line.ends_with(r#""ratio_to_raw":null,"ratio_low":null,"ratio_high":null}"#), "{line}");
        assert_eq!(row().ratio(), None);
    }
}
