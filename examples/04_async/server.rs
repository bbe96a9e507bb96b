//! Operations that take their time. A servant may ask whether its caller still waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use work::{Worker, WorkerServant};
use zorb::{Call, Interface, Orb, SystemException};

zorb::include_idl!("work");

#[derive(Default)]
struct Slow {
    dawdling: AtomicI32,
}

impl WorkerServant for Slow {
    fn square(&self, _: &Call, number: i32, milliseconds: u32) -> Result<i32, SystemException> {
        sleep(Duration::from_millis(milliseconds.into()));
        number.checked_mul(number).ok_or_else(|| SystemException::BadParam("its square is no long"))
    }

    fn dawdle(&self, cx: &Call) -> Result<(), SystemException> {
        self.dawdling.fetch_add(1, Ordering::Relaxed);
        let by = Instant::now() + Duration::from_secs(60);
        while !cx.is_cancelled() && Instant::now() < by {
            sleep(Duration::from_millis(1));
        }
        self.dawdling.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }

    fn dawdling(&self, _: &Call) -> Result<i32, SystemException> {
        Ok(self.dawdling.load(Ordering::Relaxed))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let orb = Orb::builder().listen("tcp:127.0.0.1:0").build();
    let poa = orb.root_poa()?;
    let worker = poa.activate::<Worker>(Arc::new(Slow::default()))?;
    poa.manager().activate()?;
    println!("{}", worker.as_object());
    orb.run();
    Ok(())
}
