//! `client REF [--giop 1.0|1.1|1.2] [--text latin1|utf8] [--fragment OCTETS] [--at tcp|unix] [--only PREFIX]`: runs every case of
//! `../cases.md` against the `Every` that REF names, one line a case. `--list` prints the names, `--samples` the samples.

use std::env;
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use zorb::{Interface, ObjectRef};
use zorb_interop::cases;
use zorb_interop::every::interop::Every;
use zorb_interop::options::Options;
use zorb_interop::report::Report;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("client: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool, Box<dyn Error>> {
    let options = Options::parse(env::args().skip(1))?;
    if options.samples {
        cases::print_samples();
        return Ok(true);
    }
    let orb = options.orb().build();
    orb.root_poa()?.manager().activate()?;
    let every = if options.list {
        // Nobody is called: any reference will do.
        let url = "corbaloc::localhost:1/none";
        Every::from_object(orb.string_to_object(url)?.ok_or("nil")?)
    } else {
        let object: ObjectRef = orb.string_to_object(&options.reference)?.ok_or("the reference is nil")?;
        Every::narrow(&object)?.ok_or("the reference is not an Every")?
    };
    let mut report = Report::new(&options);
    cases::run(&mut report, &orb, &every)?;
    if !options.list {
        println!("{} passed, {} failed", report.passed, report.failed);
    }
    orb.shutdown(true, Duration::from_secs(5));
    Ok(report.failed == 0)
}
