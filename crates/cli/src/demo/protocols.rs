//! The same calls by every protocol that leads to the archive, in one table.

use std::io::Write;

use zorb::policy::Policies;
use zorb::protocols::{Protocols, Verdict};
use zorb::{Interface, Orb, SystemException};
use zorb_bench::latency::Latencies;

use super::SHUTDOWN;
use super::idl::imaging;
use super::picture::Picture;
use crate::config::Told;
use crate::failure::Failure;
use crate::table::{self, Table};

/// Calls that carry next to nothing: enough for a 99th percentile.
const SMALL_CALLS: usize = 1_000;

/// How often the image is fetched.
const FETCHES: usize = 40;

/// What one protocol took.
struct Row {
    protocol: String,
    small: Latencies,
    fetch: Latencies,
}

/// Calls the archive that `reference` leads to by each of its protocols that settings allow, in turn, and prints the table.
pub(super) fn compare(
    reference: &str,
    pictures: &[Picture],
    told: &Told,
    say: &mut dyn Write,
) -> Result<(), Failure> {
    let Some(picture) = pictures.iter().max_by_key(|picture| picture.samples.len()) else { return Ok(()) };
    let orb = told.apply(zorb::naming::install(Orb::builder()))?.build();
    let object = crate::ping::object(&orb, reference)?;
    let mut rows = Vec::new();
    for way in object.protocols() {
        if !matches!(way.verdict, Verdict::Used | Verdict::After(_)) {
            continue;
        }
        let protocol = way.endpoint.split(':').next().unwrap_or_default().to_owned();
        // A server may have several endpoints of one kind.
        if rows.iter().any(|row: &Row| row.protocol == protocol) {
            continue;
        }
        let only = Policies::new().protocols(Protocols::only([protocol.as_str()]));
        let archive = imaging::Archive::from_object(object.with_policies(only.clone()));
        let row = by(&protocol, &archive, only, picture)
            .map_err(|exception| Failure::new(format!("by {protocol}: {exception}")))?;
        rows.push(row);
    }
    orb.shutdown(true, SHUTDOWN);
    write!(say, "{}", layout(&rows, picture.bytes()))?;
    writeln!(say)?;
    Ok(())
}

fn by(
    protocol: &str,
    archive: &imaging::Archive,
    only: Policies,
    picture: &Picture,
) -> Result<Row, SystemException> {
    let nil = || SystemException::Internal("the archive returned a nil study");
    let study = archive.open("compared", None)?.ok_or_else(nil)?;
    let study = imaging::Study::from_object(study.as_object().with_policies(only));
    let image = imaging::Image {
        name: picture.name.clone(),
        width: picture.width,
        height: picture.height,
        samples: picture.samples.clone().into(),
    };
    let failed = |what: &dyn std::fmt::Display| SystemException::Internal(what.to_string());
    let number = study.store(&image).map_err(|error| failed(&error))?;
    let (mut small, mut fetch) = (Latencies::new(), Latencies::new());
    for _ in 0..SMALL_CALLS {
        let start = std::time::Instant::now();
        study.images()?;
        small.record(start.elapsed());
    }
    for _ in 0..FETCHES {
        let start = std::time::Instant::now();
        let fetched = study.fetch(number).map_err(|error| failed(&error))?;
        fetch.record(start.elapsed());
        if fetched.samples[..] != image.samples[..] {
            return Err(failed(&"an image that was fetched differs from what was stored"));
        }
    }
    let _ = study.discard();
    Ok(Row { protocol: protocol.to_owned(), small, fetch })
}

fn layout(rows: &[Row], octets: u64) -> Table {
    let fetch = format!("fetch {}", table::bytes(octets));
    let heads = ["<protocol", "small call", "p99", &fetch, "p99", "throughput"];
    let mut table = Table::new(&heads);
    for row in rows {
        let median = row.fetch.median_us();
        table.row([
            row.protocol.clone(),
            table::microseconds(row.small.median_us()),
            table::microseconds(row.small.percentile_us(99.0)),
            table::microseconds(median),
            table::microseconds(row.fetch.percentile_us(99.0)),
            table::bit_rate(octets, median / 1e6),
        ]);
    }
    table
}
