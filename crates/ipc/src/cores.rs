//! Which processor cores a thread runs on: what a measurement must hold still.

use crate::{Error, Step};
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The numbers of the cores that the calling thread may run on, in order. Its length is what a pool of
/// threads should be sized by: a container may be confined to fewer cores than the machine has.
///
/// # Errors
/// At [`Step::Inspect`], on a machine with more than 1024 cores.
pub fn allowed_cores() -> Result<Vec<usize>, Error> {
    let set = sched_getaffinity(None).map_err(|e| Error::os(Step::Inspect, e))?;
    Ok((0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core)).collect())
}

/// Confines the calling thread, and the threads that it starts from now on, to one core.
///
/// # Errors
/// At [`Step::Configure`], if there is no such core or the thread may not run on it.
pub fn pin_to_core(core: usize) -> Result<(), Error> {
    if core >= CpuSet::MAX_CPU {
        return Err(Error::os(Step::Configure, Errno::INVAL));
    }
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(None, &set).map_err(|e| Error::os(Step::Configure, e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_may_run_on_one_core_only() {
        // A thread of its own: the others must not be confined.
        std::thread::spawn(|| {
            let last = *allowed_cores().unwrap().last().unwrap();
            pin_to_core(last).unwrap();
            assert_eq!(allowed_cores().unwrap(), [last]);
            assert_eq!(rustix::thread::sched_getcpu(), last);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_core_that_does_not_exist_is_an_error() {
        assert_eq!(pin_to_core(usize::MAX).unwrap_err().step(), Step::Configure);
        assert!(pin_to_core(CpuSet::MAX_CPU - 1).is_err() || allowed_cores().unwrap().len() > 1023);
    }
}
