//! `zorb demo`: a medical image archive in one process, its user in another.
//!
//! ```text
//!   client process                            server process
//!   Archive reference  ── open ──▶            Archive object
//!   Listener object    ◀─ stored ──           Study object: the images
//!   Study reference    ── store, fetch, render, histogram, discard ──▶
//! ```
//!
//! [`client`] and [`server`] are the two halves; the other files compute: the pictures ([`phantom`],
//! or the user's in [`files`]), the window ([`window`]), the histogram ([`histogram`]), and what is
//! printed ([`report`], [`protocols`]).

mod checksum;
mod client;
mod files;
mod histogram;
mod idl;
mod phantom;
mod picture;
mod protocols;
mod report;
mod server;
mod window;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use zorb::{Interface, Orb};
use zorb_bench::calls::Basis;
use zorb_bench::pin::Pin;
use zorb_bench::process::{Bounds, Server, serve_until_parent_goes};
use zorb_bench::rtt::Plan;
use zorb_bench::system::{Payload, Transport};

use crate::config::Told;
use crate::failure::Failure;
use idl::imaging;
use picture::Picture;

/// Watch two processes work on each other's objects: a medical image archive.
///
/// A client process stores a study in a server process, fetches it back, has it rendered and counted, compares
/// all that returns, and provokes two exceptions. Tables tell what each operation cost, how the protocols between the
/// two compare, and how close calls come to a bare socket. Without a subcommand both processes are started here.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  zorb demo
  zorb demo --images ~/scans --out /tmp/rendered
  zorb demo serve --listen 192.168.1.20:5000 --ior-file archive.ior
  zorb demo -ORBlisten unix:
  zorb demo client file:archive.ior"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    half: Option<Half>,

    #[command(flatten)]
    work: Work,
}

#[derive(Debug, Subcommand)]
enum Half {
    Serve(ServeArguments),
    Client(ClientArguments),
}

/// What the client works on.
#[derive(Debug, Args)]
struct Work {
    /// Images to store instead of the phantom: gray PNG and PGM files.
    #[arg(long, value_name = "DIR")]
    images: Option<PathBuf>,

    /// Where renderings are written.
    #[arg(long, value_name = "DIR", default_value = "zorb-demo")]
    out: PathBuf,
}

/// The server half: print the archive's reference, then serve until interrupted.
#[derive(Debug, Args)]
#[command(after_help = "\
The archive holds what is stored in memory, for anyone who can reach it.

Example: zorb demo serve --listen 192.168.1.20:5000 --ior-file archive.ior")]
struct ServeArguments {
    /// Address and port to listen on; port 0 takes a free one.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    listen: String,

    /// Also write the reference to a file.
    #[arg(long, value_name = "FILE")]
    ior_file: Option<PathBuf>,

    /// Started by `zorb demo`: serve until standard input closes.
    #[arg(long, hide = true)]
    child: bool,
}

/// The client half: work on the archive that a reference leads to.
#[derive(Debug, Args)]
#[command(after_help = "Example: zorb demo client file:archive.ior --images ~/scans")]
struct ClientArguments {
    /// The archive's reference, as `zorb demo serve` prints it.
    #[arg(value_name = "REF")]
    reference: String,

    /// Address and port at which the archive reaches this process's listener.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    listen: String,

    #[command(flatten)]
    work: Work,
}

pub(crate) fn run(arguments: Arguments, told: &Told) -> Result<(), Failure> {
    match arguments.half {
        None => both(&arguments.work, told),
        Some(Half::Serve(serve)) => self::serve(&serve, told),
        Some(Half::Client(client)) => {
            let pictures = pictures(&client.work)?;
            work(&client.reference, &client.listen, &pictures, &client.work.out, told)
        }
    }
}

/// How long the server process may live: a demonstration takes seconds, a slow disk of images minutes.
const LIFETIME: Duration = Duration::from_secs(3600);

fn both(arguments: &Work, told: &Told) -> Result<(), Failure> {
    let pictures = pictures(arguments)?;
    let mut command = Command::new(std::env::current_exe().unwrap_or_else(|_| "zorb".into()));
    command.args(["demo", "serve", "--child"]).args(told.options());
    let server = Server::start("zorb demo", command, &Bounds::lifetime(LIFETIME))?;
    let mut say = std::io::stdout();
    writeln!(say, "server    process {}; client process {}", server.process().id(), std::process::id())?;
    work(server.address(), "127.0.0.1:0", &pictures, &arguments.out, told)?;
    protocols::compare(server.address(), &pictures, told, &mut say)?;
    drop(server);
    compare(&mut say)
}

/// What is stored: the user's images, or slices of the phantom in two sizes.
fn pictures(arguments: &Work) -> Result<Vec<Picture>, Failure> {
    if let Some(directory) = &arguments.images {
        return files::load(directory);
    }
    // Together 32 MiB: enough to see throughput, and computed in less than a second. Odd numbers, so that the
    // published slice is among each size's.
    let small = phantom::heights(15).map(|z| phantom::slice(512, z));
    let large = phantom::heights(3).map(|z| phantom::slice(2048, z));
    Ok(small.chain(large).collect())
}

/// An ORB that listens where it was told: there, unless a setting says otherwise.
fn orb(listen: &str, within_machine: &[&str], told: &Told) -> Result<Orb, Failure> {
    let builder = zorb::naming::install(Orb::builder()).listen(format!("tcp:{listen}"));
    let builder = within_machine.iter().fold(builder, |builder, endpoint| builder.listen(*endpoint));
    let orb = told.apply(builder)?.build();
    orb.listen().map_err(|exception| Failure::new(format!("cannot listen: {exception}")))?;
    Ok(orb)
}

/// How long calls in progress may take when an ORB ends.
const SHUTDOWN: Duration = Duration::from_secs(5);

fn serve(arguments: &ServeArguments, told: &Told) -> Result<(), Failure> {
    // Whoever started it compares all protocols.
    let within_machine: &[&str] = if arguments.child { &["unix:", "shm:"] } else { &[] };
    let orb = orb(&arguments.listen, within_machine, told)?;
    let cannot =
        |exception: &dyn std::fmt::Display| Failure::new(format!("cannot activate the archive: {exception}"));
    let poa = orb.root_poa().map_err(|exception| cannot(&exception))?;
    let archive = poa
        .activate::<imaging::Archive>(Arc::new(server::Archive::new(poa.clone())))
        .map_err(|error| cannot(&error))?;
    // Until now requests would have been held.
    poa.manager().activate().map_err(|error| cannot(&error))?;
    let reference = archive.as_object().to_string();
    if let Some(path) = &arguments.ior_file {
        std::fs::write(path, format!("{reference}\n"))
            .map_err(|cause| Failure::file("write", path, cause))?;
    }
    if arguments.child {
        serve_until_parent_goes(&reference)?;
    } else {
        writeln!(std::io::stdout(), "{reference}")?;
        eprintln!("serving; on another terminal: zorb demo client REF (the line above)");
        orb.run();
    }
    orb.shutdown(true, SHUTDOWN);
    Ok(())
}

fn work(reference: &str, listen: &str, pictures: &[Picture], out: &Path, told: &Told) -> Result<(), Failure> {
    let orb = orb(listen, &[], told)?;
    let object = crate::ping::object(&orb, reference)?;
    let archive = imaging::Archive::narrow(&object)
        .map_err(|exception| Failure::new(format!("cannot reach the archive: {exception}")))?
        .ok_or_else(|| {
            Failure::not_there(format!(
                "the reference leads to something other than {}",
                imaging::Archive::INFO.id
            ))
        })?;
    client::run(&orb, &archive, pictures, out, &mut std::io::stdout())?;
    orb.shutdown(true, SHUTDOWN);
    Ok(())
}

/// Calls beside a bare socket that moves the same bytes, briefly.
fn compare(say: &mut dyn Write) -> Result<(), Failure> {
    let payloads = vec![Payload::Null, Payload::Octets(64 << 10), Payload::Octets(512 << 10)];
    let basis =
        Basis { transport: Transport::Tcp, pin: Pin::Same, calls: 1_000, seed: 1, ..Basis::default() };
    let plan = Plan { basis, payloads, rate: None };
    let outcomes = crate::bench::rtt::measure(&plan)?;
    writeln!(say, "How close to a bare socket: octets there and back, one processor")?;
    write!(say, "{}", crate::bench::rtt::layout(&outcomes))?;
    Ok(())
}
