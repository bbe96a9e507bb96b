//! `zorb repository`: serves what IDL files declare as an interface repository.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use zorb::Orb;
use zorb_dynamic::{Repository, ifr};

use crate::config::Told;
use crate::failure::Failure;

/// Serve IDL as an interface repository: objects that tell clients of any ORB what interfaces and types are like.
///
/// Prints the reference to the CORBA::Repository, which is also found by the key InterfaceRepository. Servers that are given
/// it as the initial reference of that name answer _get_interface of their objects by it. Serves until it is interrupted.
/// Nobody can change it: the IDL files are read once.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zorb repository --idl bank.idl -ORBlisten tcp:0.0.0.0:2888
  zorb call file:account.ior --repository corbaloc::host:2888/InterfaceRepository \\
      balance
  zorb demo serve -ORBInitRef \\
      InterfaceRepository=corbaloc::host:2888/InterfaceRepository")]
pub(crate) struct Arguments {
    /// IDL to serve, with what it includes; may be repeated.
    #[arg(long, required = true, value_name = "FILE")]
    idl: Vec<PathBuf>,

    /// Search this directory for included IDL; may be repeated.
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    include: Vec<PathBuf>,

    /// Define a macro for the IDL, as if by #define; may be repeated.
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]", value_parser = crate::idl::definition)]
    define: Vec<(String, String)>,
}

/// How long calls in progress may take when it ends.
const SHUTDOWN: Duration = Duration::from_secs(5);

pub(crate) fn run(arguments: &Arguments, told: &Told) -> Result<(), Failure> {
    let repository = of_idl(&arguments.idl, &arguments.include, &arguments.define)?;
    let orb = told.apply(Orb::builder())?.build();
    let cannot = |refused: &dyn std::fmt::Display| Failure::new(format!("cannot serve: {refused}"));
    orb.listen().map_err(|refused| cannot(&refused))?;
    let reference = ifr::serve(&orb, Arc::new(repository)).map_err(|refused| cannot(&refused))?;
    let mut output = std::io::stdout().lock();
    writeln!(output, "{reference}")?;
    output.flush()?;
    drop(output);
    crate::bridge::wait_for_a_signal()
        .map_err(|cause| Failure::new(format!("cannot wait for a signal: {cause}")))?;
    orb.shutdown(true, SHUTDOWN);
    Ok(())
}

/// What IDL files declare, each compiled by itself. Two that define one name differently are refused: only one could be known.
pub(crate) fn of_idl(
    files: &[PathBuf],
    include: &[PathBuf],
    define: &[(String, String)],
) -> Result<Repository, Failure> {
    let mut repository = Repository::new();
    let models: Vec<_> =
        files.iter().map(|path| crate::idl::load(path, include, define)).collect::<Result<_, _>>()?;
    crate::idl::check_together(&models)?;
    for (path, model) in files.iter().zip(&models) {
        repository.add(model).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    }
    Ok(repository)
}
