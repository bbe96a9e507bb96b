//! omniNames, a naming service that is not ours: zorb binds, resolves and lists, also by `corbaname:`; `nameclt` agrees.

use std::fs;
use std::net::TcpListener;
use std::process::Command;
use std::time::{Duration, Instant};

use zorb::{Interface, ObjectRef, Orb};
use zorb_naming::CosNaming::{NameComponent, NamingContext};

use super::Verdict;
use super::peers::Workshop;
use super::process::{Running, is_installed, output_of};

/// Runs omniNames on a port of its own, and everything against it.
pub(crate) fn agree(workshop: &Workshop) -> Verdict {
    for tool in ["omniNames", "nameclt"] {
        if !is_installed(tool) {
            return Verdict::Missing(format!(
                "{tool} is missing: apt-get install omniorb omniorb-nameserver"
            ));
        }
    }
    match bind_and_resolve(workshop) {
        Ok(facts) => Verdict::Passed(format!("{facts} facts as expected")),
        Err(error) => Verdict::Failed(vec![error]),
    }
}

fn bind_and_resolve(workshop: &Workshop) -> Result<usize, String> {
    // Free now; whoever takes it before omniNames does makes this step fail, and a second run pass.
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let port = port.map_err(|error| format!("no free port: {error}"))?.port();
    let log = workshop.scratch.join("omninames");
    fs::create_dir_all(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    let mut command = Command::new("omniNames");
    command.args(["-start", &port.to_string(), "-always", "-logdir"]).arg(&log);
    let mut names = Running::start(command, "omniNames", &workshop.scratch.join("omninames.output"))?;

    let orb = zorb_naming::install(Orb::builder().listen("tcp:127.0.0.1:0")).build();
    let root = format!("corbaloc::localhost:{port}/NameService");
    let context = names.until(Duration::from_secs(30), || {
        let object = orb.string_to_object(&root).ok()??;
        NamingContext::narrow(&object).ok()?
    })?;

    let name = |id: &str, kind: &str| NameComponent { id: id.into(), kind: kind.into() };
    let raised = |error: &dyn std::fmt::Display| error.to_string();
    let images = context.bind_new_context(&[name("images", "store")]).map_err(|e| raised(&e))?;
    let images = images.ok_or("bind_new_context gave nil")?;
    images.bind(&[name("self.dot/slash", "")], Some(context.as_object())).map_err(|e| raised(&e))?;
    context.bind(&[name("top", "")], Some(images.as_object())).map_err(|e| raised(&e))?;
    let mut facts = 0;
    let mut check = |what: &str, holds: bool| {
        facts += 1;
        if holds { Ok(()) } else { Err(format!("{what}: expected it to hold")) }
    };

    let found =
        context.resolve(&[name("images", "store"), name("self.dot/slash", "")]).map_err(|e| raised(&e))?;
    check("resolve", found.is_some_and(|found| found.is_equivalent(context.as_object())))?;
    let again = context.bind(&[name("top", "")], Some(images.as_object()));
    check("a second bind is refused", again.is_err())?;
    check("what is not there is not found", context.resolve(&[name("none", "")]).is_err())?;
    let (bindings, _) = context.list(100).map_err(|e| raised(&e))?;
    let mut listed: Vec<String> =
        bindings.iter().flat_map(|binding| &binding.binding_name).map(|part| part.id.clone()).collect();
    listed.sort();
    check("list", listed == ["images", "top"])?;

    let url = |rest: &str| -> Result<ObjectRef, String> {
        let text = format!("corbaname::localhost:{port}#{rest}");
        orb.string_to_object(&text).map_err(|error| format!("{text}: {error}"))?.ok_or(format!("{text}: nil"))
    };
    check("corbaname", url("top")?.is_equivalent(images.as_object()))?;
    check(
        "corbaname of two parts",
        url("images.store/self%5c.dot%5c/slash")?.is_equivalent(context.as_object()),
    )?;
    check("corbaname of nothing", url("none").is_err())?;

    let nameclt = |words: &[&str]| {
        let mut command = Command::new("nameclt");
        command.args(["-ORBInitRef", &format!("NameService={root}")]).args(words);
        output_of(&mut command, Duration::from_secs(20))
    };
    let listing = nameclt(&["list"])?;
    check("nameclt lists both", listing.contains("images.store") && listing.contains("top"))?;
    let resolved = nameclt(&["resolve", "top"])?;
    let theirs =
        orb.string_to_object(resolved.trim()).map_err(|e| raised(&e))?.ok_or("nameclt resolves to nil")?;
    check("nameclt resolves the same", theirs.is_equivalent(images.as_object()))?;
    context.unbind(&[name("top", "")]).map_err(|e| raised(&e))?;
    let deadline = Instant::now() + Duration::from_secs(5);
    let gone = loop {
        let listing = nameclt(&["list"])?;
        if !listing.contains("top") || Instant::now() > deadline {
            break !listing.contains("top");
        }
    };
    check("nameclt sees what was unbound", gone)?;
    orb.shutdown(true, Duration::from_secs(5));
    Ok(facts)
}
