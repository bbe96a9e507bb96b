//! What the processors execute, looked at every tenth of a millisecond.
//!
//! The kernel's own clock interrupts each processor and notes whose and which address is executed
//! (perf_event_open(2), the software event `cpu-clock`), in a ring of each processor that is read after the flood. No
//! hardware counter is needed, so it works on virtual machines as well. Time that a processor is idle is not noted.

use std::collections::HashMap;

use perf_event::data::Record;
use perf_event::events::Software;
use perf_event::{Builder, SampleFlag};

use crate::BenchError;

/// From one look to the next, in nanoseconds.
const PERIOD_NS: u64 = 100_000;

/// Octets of a processor's ring: a sample is one of 24 octets, so that this holds the samples of more than ten seconds.
const RING: usize = 4 << 20;

/// Looks at all processors.
pub(super) struct Sampler {
    processors: Vec<perf_event::Sampler>,
}

impl Sampler {
    /// Ready to look, and not looking yet.
    ///
    /// # Errors
    ///
    /// [`BenchError::Profile`]: this process may not look at others.
    pub(super) fn of_all_processors() -> Result<Sampler, BenchError> {
        Sampler::looking(false)
    }

    /// The same, and by whom what is executed was called.
    ///
    /// # Errors
    ///
    /// As for [`Sampler::of_all_processors`].
    pub(super) fn of_stacks() -> Result<Sampler, BenchError> {
        Sampler::looking(true)
    }

    fn looking(stacks: bool) -> Result<Sampler, BenchError> {
        let processors = std::fs::read_to_string("/sys/devices/system/cpu/online");
        let processors = processors.ok().and_then(|text| list(text.trim()));
        let Some(processors) = processors else { return Err(refused("the processors are not listed")) };
        let sampler = |processor| {
            let mut builder = Builder::new(Software::CPU_CLOCK);
            builder.any_pid().one_cpu(processor).sample_period(PERIOD_NS);
            builder.sample(SampleFlag::IP | SampleFlag::TID).include_kernel().exclude_idle(true);
            let ring = if stacks { RING_OF_STACKS } else { RING };
            if stacks {
                builder.sample(SampleFlag::CALLCHAIN);
            }
            let counter = builder.build().map_err(|error| {
                refused(&format!("looking at what processors execute needs root (perf_event_open: {error})"))
            })?;
            counter.sampled(ring).map_err(|error| {
                refused(&format!(
                    "no memory for what processor {processor} executes (mmap of {ring} octets: {error})"
                ))
            })
        };
        Ok(Sampler { processors: processors.into_iter().map(sampler).collect::<Result<_, _>>()? })
    }

    /// Looks while `body` runs. Reading what was seen comes when nobody looks any more, so that this is not seen itself.
    ///
    /// # Errors
    ///
    /// [`BenchError::Profile`], also if the rings could not hold what was seen.
    pub(super) fn during<T>(&mut self, body: impl FnOnce() -> T) -> Result<(T, Samples), BenchError> {
        let failed = |error| refused(&format!("perf_event_open's ioctl: {error}"));
        let begun = self.processors.iter_mut().try_for_each(|processor| processor.enable());
        let done = begun.map(|()| body());
        let ended = self.processors.iter_mut().map(|processor| processor.disable());
        let ended = ended.collect::<Vec<_>>().into_iter().collect::<Result<(), _>>();
        let done = done.and_then(|done| ended.map(|()| done)).map_err(failed)?;
        Ok((done, self.seen()?))
    }

    /// Empties the rings.
    fn seen(&mut self) -> Result<Samples, BenchError> {
        let mut samples = Samples::default();
        let mut lost = 0;
        for processor in &mut self.processors {
            while let Some(record) = processor.next_record() {
                match record.parse_record() {
                    Ok(Record::Sample(sample)) => {
                        if let (Some(process), Some(address)) = (sample.pid(), sample.ip()) {
                            let stack = sample.callchain().map(stack).filter(|stack| !stack.is_empty());
                            let stack = stack.unwrap_or_else(|| [address].into());
                            *samples.seen.entry(process).or_default().entry(stack).or_default() += 1;
                        }
                    }
                    Ok(Record::Lost(record)) => lost += record.lost,
                    // What is neither says nothing about what was executed.
                    _ => {}
                }
            }
        }
        match lost {
            0 => Ok(samples),
            lost => Err(refused(&format!(
                "a flood lasted so long that {lost} of its looks were lost: shorten it with --total or --longest"
            ))),
        }
    }
}

/// Octets of the ring where stacks are noted: a sample has eight for each function, of which there may be 127 and are some thirty, so that
/// this holds those of two seconds at the least.
const RING_OF_STACKS: usize = 16 << 20;

/// The addresses of a chain of calls, what is executed first, and behind it where each goes on that has called. The kernel puts marks between its
/// own and the program's, which are no addresses (perf_event.h, `PERF_CONTEXT_MAX`).
fn stack(chain: &[u64]) -> Box<[u64]> {
    const MARKS: u64 = -4095_i64 as u64;
    let addresses = chain.iter().copied().filter(|&address| address < MARKS && address != 0);
    let mut kernels = true;
    // The kernel calls nobody's function but its own: below the program's there is none of it, but what was taken for a frame.
    let whole = addresses.take_while(|&address| {
        let is_kernels = address >> 63 == 1;
        let follows = kernels || !is_kernels;
        kernels = is_kernels;
        follows
    });
    whole.collect()
}

/// How often each stack was seen, by process. Where only addresses are noted each is a stack of its own.
#[derive(Debug, Default)]
pub(super) struct Samples {
    seen: HashMap<u32, HashMap<Box<[u64]>, u64>>,
}

impl Samples {
    /// Those of another time too.
    pub(super) fn add(&mut self, other: Samples) {
        for (process, addresses) in other.seen {
            let seen = self.seen.entry(process).or_default();
            for (stack, times) in addresses {
                *seen.entry(stack).or_default() += times;
            }
        }
    }

    /// The addresses that a process has executed, and for how many seconds each.
    pub(super) fn of(&self, process: u32) -> (Vec<u64>, Vec<f64>) {
        let mut addresses: HashMap<u64, f64> = HashMap::new();
        for (stack, seconds) in self.stacks(process) {
            if let Some(&address) = stack.first() {
                *addresses.entry(address).or_default() += seconds;
            }
        }
        addresses.into_iter().unzip()
    }

    /// The stacks in which a process was seen, what is executed first, and for how many seconds each.
    pub(super) fn stacks(&self, process: u32) -> impl Iterator<Item = (&[u64], f64)> {
        let seen = self.seen.get(&process).into_iter().flatten();
        seen.map(|(stack, &times)| (&**stack, (times * PERIOD_NS) as f64 / 1e9))
    }
}

fn refused(what: &str) -> BenchError {
    BenchError::Profile { what: what.to_owned() }
}

/// The numbers of a list such as `0-3,8`.
fn list(text: &str) -> Option<Vec<usize>> {
    let parts = text.split(',').map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    });
    Some(parts.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_processors_is_read() {
        assert_eq!(list("0"), Some(vec![0]));
        assert_eq!(list("0-2,5,7-8"), Some(vec![0, 1, 2, 5, 7, 8]));
        assert_eq!(list(""), None);
        assert_eq!(list("0-x"), None);
    }

    #[test]
    fn samples_of_several_floods_add_up() {
        let of = |times| Samples { seen: [(7, [([0x10].into(), times)].into())].into() };
        let mut samples = of(10_000);
        samples.add(of(5_000));
        assert_eq!(samples.of(7), (vec![0x10], vec![1.5]));
        assert_eq!(samples.of(8), (vec![], vec![]));
    }

    #[test]
    fn stacks_with_one_end_are_one_address_and_marks_are_none() {
        let kernel = -128_i64 as u64;
        assert_eq!(
            *stack(&[kernel, 1 << 63, 1 << 63 | 1, 0x10, 0, 0x20]),
            [1 << 63, 1 << 63 | 1, 0x10, 0x20]
        );
        assert_eq!(*stack(&[0x10, 1 << 63, 0x20]), [0x10], "no kernel's function calls a program's");
        let seen = [([0x10, 0x20].into(), 20_000), ([0x10, 0x30].into(), 10_000)].into();
        let samples = Samples { seen: [(7, seen)].into() };
        assert_eq!(samples.of(7), (vec![0x10], vec![3.0]));
        assert_eq!(samples.stacks(7).count(), 2);
    }
}
