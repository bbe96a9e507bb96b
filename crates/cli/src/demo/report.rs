//! What each operation cost, and the table at the end.

use std::fmt;
use std::time::{Duration, Instant};

use zorb_bench::latency::Latencies;

use crate::table::{self, Table};

/// One operation's calls.
#[derive(Debug)]
struct Operation {
    name: &'static str,
    latencies: Latencies,
    bytes: u64,
    spent: Duration,
}

/// All operations, in the order of their first call.
#[derive(Debug, Default)]
pub(crate) struct Report {
    operations: Vec<Operation>,
}

impl Report {
    /// Makes a call and enters how long it took. `bytes` tells from the result how many bytes of images
    /// (or other bulk) it moved. A call that fails is not entered.
    pub(crate) fn time<T, E>(
        &mut self,
        name: &'static str,
        bytes: impl FnOnce(&T) -> u64,
        call: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let start = Instant::now();
        let result = call()?;
        self.enter(name, bytes(&result), start.elapsed());
        Ok(result)
    }

    fn enter(&mut self, name: &'static str, bytes: u64, took: Duration) {
        let at = self.operations.iter().position(|operation| operation.name == name).unwrap_or_else(|| {
            let latencies = Latencies::new();
            self.operations.push(Operation { name, latencies, bytes: 0, spent: Duration::ZERO });
            self.operations.len() - 1
        });
        let operation = &mut self.operations[at];
        operation.latencies.record(took);
        operation.bytes += bytes;
        operation.spent += took;
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new(&["<operation", "calls", "bytes", "median", "p99", "throughput"]);
        for operation in &self.operations {
            table.row([
                operation.name.to_owned(),
                table::thousands(operation.latencies.count()),
                if operation.bytes == 0 { "-".to_owned() } else { table::bytes(operation.bytes) },
                table::microseconds(operation.latencies.median_us()),
                table::microseconds(operation.latencies.percentile_us(99.0)),
                table::bit_rate(operation.bytes, operation.spent.as_secs_f64()),
            ]);
        }
        table.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_added_up_in_order_and_fit_80_columns() {
        let mut report = Report::default();
        for _ in 0..100 {
            report.enter("fetch", 8 << 20, Duration::from_millis(2));
        }
        report.enter("open", 0, Duration::from_micros(70));
        let text = report.to_string();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[1].starts_with("fetch") && lines[2].starts_with("open"), "{text}");
        assert!(lines[1].contains("100  800 MiB  2.00 ms  2.00 ms  33.6 Gbit/s"), "{text}");
        assert!(lines[2].ends_with('-'), "nothing moved, so no throughput: {text}");
        assert!(lines.iter().all(|line| line.chars().count() <= 80));
    }

    #[test]
    fn failed_calls_are_not_entered() {
        let mut report = Report::default();
        assert_eq!(report.time("fetch", |_: &()| 1, || Err::<(), _>("no")), Err("no"));
        assert_eq!(report.time("fetch", |&n| n, || Ok::<u64, ()>(5)), Ok(5));
        assert_eq!(report.operations.len(), 1);
        assert_eq!((report.operations[0].latencies.count(), report.operations[0].bytes), (1, 5));
    }
}
