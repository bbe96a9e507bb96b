//! `server --ior-file FILE [--giop 1.0|1.1|1.2] [--text latin1|utf8] [--fragment OCTETS] [--at tcp|unix]`: publishes an `Every` and
//! serves it until `shutdown` is called or the process is killed. Prints `ready` when the reference is written.

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::{env, fs};

use zorb::Interface;
use zorb_interop::every::interop::Every;
use zorb_interop::options::Options;
use zorb_interop::servants::EveryServant;

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> Result<(), Box<dyn Error>> {
    let options = Options::parse(env::args().skip(1))?;
    let orb = options.orb().build();
    let root = orb.root_poa()?;
    root.manager().activate()?;
    let every = root.activate::<Every>(Arc::new(EveryServant::new(&orb, options.orb())?))?;
    let unfinished = format!("{}.new", options.ior_file);
    fs::write(&unfinished, orb.object_to_string(Some(every.as_object())) + "\n")?;
    fs::rename(&unfinished, &options.ior_file)?; // whoever waits for the file finds it whole
    println!("ready");
    orb.run();
    Ok(())
}
