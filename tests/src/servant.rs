//! The servant of `probe::Probe`: what the tests of the whole ORB call.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use zorb::{Call, Sequence, SystemException};

use crate::testing::{BulkyServant, Probe, ProbeServant, Refused, SpecialServant, probe};

/// How long a test waits for what must come, before it fails.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A probe for a number of callers that meet.
pub struct Servant {
    party: usize,
    met: Mutex<usize>,
    all_met: Condvar,
    waiting: AtomicUsize,
    noted: Mutex<Vec<i32>>,
    label: Mutex<String>,
}

impl Servant {
    /// Callers of `meet` wait until there are `party` of them.
    pub fn new(party: usize) -> Servant {
        Servant {
            party,
            met: Mutex::new(0),
            all_met: Condvar::new(),
            waiting: AtomicUsize::new(0),
            noted: Mutex::default(),
            label: Mutex::default(),
        }
    }

    /// How many callers are in `wait`.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Acquire)
    }
}

impl ProbeServant for Servant {
    fn nothing(&self, _: &Call) -> Result<(), SystemException> {
        Ok(())
    }

    fn echo(&self, _: &Call, data: Sequence<u8>) -> Result<Sequence<u8>, SystemException> {
        Ok(data)
    }

    fn greet(&self, _: &Call, name: &str) -> Result<String, SystemException> {
        Ok(format!("hello, {name}"))
    }

    fn divide(&self, _: &Call, dividend: i32, divisor: i32) -> Result<(i32, i32), probe::DivideError> {
        if divisor == 0 {
            return Err(Refused { why: "division by zero".into(), code: 7 }.into());
        }
        Ok((dividend / divisor, dividend % divisor))
    }

    fn meet(&self, _: &Call) -> Result<(), SystemException> {
        let mut met = self.met.lock().expect("no servant panics here");
        *met += 1;
        self.all_met.notify_all();
        let (met, _) = self
            .all_met
            .wait_timeout_while(met, PATIENCE, |met| *met < self.party)
            .expect("no servant panics here");
        if *met < self.party {
            return Err(SystemException::Transient(format!("only {} of {} came", *met, self.party)));
        }
        Ok(())
    }

    fn wait(&self, _: &Call, milliseconds: u32) -> Result<(), SystemException> {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        std::thread::sleep(Duration::from_millis(milliseconds.into()));
        self.waiting.fetch_sub(1, Ordering::AcqRel);
        Ok(())
    }

    fn waiting(&self, _: &Call) -> Result<u32, SystemException> {
        Ok(self.waiting.load(Ordering::Acquire) as u32)
    }

    fn note(&self, _: &Call, number: i32) -> Result<(), SystemException> {
        self.noted.lock().expect("no servant panics here").push(number);
        Ok(())
    }

    fn note_slowly(&self, _: &Call, number: i32, milliseconds: u32) -> Result<(), SystemException> {
        std::thread::sleep(Duration::from_millis(milliseconds.into()));
        self.noted.lock().expect("no servant panics here").push(number);
        Ok(())
    }

    fn noted(&self, _: &Call) -> Result<Sequence<i32>, SystemException> {
        Ok(self.noted.lock().expect("no servant panics here").clone().into())
    }

    fn descend(&self, cx: &Call, depth: i32, other: Option<Probe>) -> Result<i32, SystemException> {
        let Some(other) = other else { return Err(SystemException::BadParam("nobody to call back")) };
        if depth == 0 {
            return Ok(0);
        }
        let me = cx.this::<Probe>()?;
        Ok(other.descend(depth - 1, Some(&me))? + 1)
    }

    fn panic(&self, _: &Call) -> Result<(), SystemException> {
        panic!("the servant was asked to")
    }
}

impl BulkyServant for Servant {
    fn note_size(&self, _: &Call, data: Sequence<u8>) -> Result<(), SystemException> {
        if data.iter().enumerate().all(|(index, octet)| *octet == index as u8) {
            self.noted.lock().expect("no servant panics here").push(data.len() as i32);
        }
        Ok(())
    }
}

impl SpecialServant for Servant {
    fn label(&self, _: &Call) -> Result<String, SystemException> {
        Ok(self.label.lock().expect("no servant panics here").clone())
    }

    fn set_label(&self, _: &Call, label: &str) -> Result<(), SystemException> {
        *self.label.lock().expect("no servant panics here") = label.to_owned();
        Ok(())
    }

    fn extra(&self, _: &Call) -> Result<(), SystemException> {
        Ok(())
    }
}
