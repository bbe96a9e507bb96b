//! Interface repositories across ORBs: what `zorb repository` serves is read whole by omniORB's and by JacORB's stubs and by JacORB's own
//! tool, objects of zorb answer their `_get_interface`, and `zorb call` learns from JacORB's repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use zorb::dynamic::{DynamicRequest, DynamicServant, Results, dynamic_servant};
use zorb::{Any, DynAny, ObjectRef, Orb};
use zorb_dynamic::{Interface, Repository};
use zorb_idl::{Memory, Options};

use super::Verdict;
use super::peers::Workshop;
use super::process::{Running, output_and_code};

/// Enough for a first call of a JVM on a busy machine.
const SOON: Duration = Duration::from_secs(60);

/// What omniORB and JacORB have no TypeCodes for: local interfaces and natives. A peer that reads them after all is a gap that is none
/// any more.
const LEFT_OUT: &[&str] = &["-D", "WITHOUT_LOCAL"];

/// Both peers print all of the repository, and `_get_interface` of an object, as `expected.txt` has it.
pub(crate) fn read_by(workshop: &Workshop, peer: &str) -> Verdict {
    judged(workshop, &format!("repository-{peer}"), "read", |program| {
        let (_serving, repository) = serve(workshop, peer, LEFT_OUT)?;
        let bank = object(workshop, "bank.idl", "Bank::Account", Some(&repository))?;
        let mut command = Command::new(program);
        command.args([&repository, &bank.reference]);
        let (printed, code) = output_and_code(&mut command, SOON)?;
        let path = workshop.interop.join("repository/expected.txt");
        let wanted = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        // The logging of JacORB says first that it does not log.
        let lines: Vec<&str> = printed.lines().filter(|line| !line.starts_with("SLF4J")).collect();
        for (at, (is, wanted)) in lines.iter().zip(wanted.lines()).enumerate() {
            if *is != wanted {
                return Err(format!("line {}: {is:?}, not {wanted:?}", at + 1));
            }
        }
        let (_serving, whole) = serve(workshop, &format!("{peer}-whole"), &[])?;
        let mut command = Command::new(program);
        command.args([&whole, &bank.reference]);
        if output_and_code(&mut command, SOON)?.1 == Some(0) {
            return Err(format!("{peer} reads local interfaces and natives, too: {LEFT_OUT:?} can go"));
        }
        match lines.len() == wanted.lines().count() && code == Some(0) {
            true => Ok(format!("{} lines as expected", lines.len())),
            false => Err(format!("exit code {code:?} after {} lines: {printed}", lines.len())),
        }
    })
}

/// JacORB's tool finds the repository as an initial reference, and prints IDL.
pub(crate) fn queried(workshop: &Workshop) -> Verdict {
    judged(workshop, "repository-jacorb", "query", |program| {
        let (_serving, repository) = serve(workshop, "query", LEFT_OUT)?;
        let mut lines = 0;
        for (id, wanted) in [
            ("IDL:acme.com/Bank/Account:1.0", "oneway void hint(in string text);"),
            ("IDL:acme.com/Bank/Account:1.0", "exception Closed {"),
            ("IDL:acme.com/Bank/Proof:1.0", "union Proof switch"),
            ("IDL:acme.com/Bank:1.0", "const string MOTTO = \"trust\";"),
            ("IDL:acme.com/Bank:1.0", "typedef fixed <9,2> Money;"),
        ] {
            let told = format!("ZORB_JAVA=-DORBInitRef.InterfaceRepository={repository}");
            let mut command = Command::new("env");
            command.arg(told).arg(program).arg(id);
            let (printed, _) = output_and_code(&mut command, SOON)?;
            if !printed.contains(wanted) {
                return Err(format!("query {id}: without {wanted:?}: {printed}"));
            }
            lines += printed.lines().count();
        }
        Ok(format!("{lines} lines of IDL printed"))
    })
}

/// `zorb call` learns an interface from JacORB's repository, and calls by it.
pub(crate) fn learnt(workshop: &Workshop) -> Verdict {
    judged(workshop, "repository-jacorb", "serve", |program| {
        let file = workshop.scratch.join("jacorb-repository.ior");
        let mut command = Command::new(program);
        command.arg(&file);
        let mut serving = Running::start(
            command,
            "JacORB's repository",
            &workshop.scratch.join("jacorb-repository.output"),
        )?;
        let repository =
            serving.until(SOON, || fs::read_to_string(&file).ok().filter(|text| text.starts_with("IOR:")))?;
        let teller = object(workshop, "teller.idl", "Teller::Account", None)?;
        let call = |words: &[&str]| {
            let mut command = Command::new(workshop.programs.join("zorb"));
            command.args(["call", &teller.reference, "--repository", repository.trim()]).args(words);
            output_and_code(&mut command, SOON)
        };
        // It writes its reference before it has read what it is to serve.
        serving.until(SOON, || call(&["--list"]).ok().filter(|(_, code)| *code == Some(0)))?;
        let mut facts = 0;
        let mut expect = |words: &[&str], code: i32, wanted: &str| {
            let (printed, is) = call(words)?;
            facts += 1;
            match is == Some(code) && printed.contains(wanted) {
                true => Ok(()),
                false => Err(format!("zorb call {words:?}: exit code {is:?}, without {wanted:?}: {printed}")),
            }
        };
        expect(&["--list"], 0, "long withdraw(in long amount) raises (Teller::Refused);")?;
        expect(&["--list"], 0, "inherits IDL:Teller/Named:1.0")?;
        expect(&["--interface", "Teller::Account", "withdraw", "7"], 0, "0\n")?;
        expect(&["entries", "1", "2"], 0, "[]\ncount = 0\nmore = false\n")?;
        expect(&["withdraw", "many"], 2, "argument 1 \"amount\": many is no long")?;
        expect(&["name"], 0, "\"\"\n")?;
        expect(&["hint", "quietly"], 0, "")?;
        expect(&["nothing_such"], 2, "nothing_such")?;
        teller.orb.shutdown(true, Duration::from_secs(5));
        Ok(format!("zorb call: {facts} facts as expected"))
    })
}

fn judged(
    workshop: &Workshop,
    folder: &str,
    program: &str,
    body: impl FnOnce(&Path) -> Result<String, String>,
) -> Verdict {
    let program = workshop.built(folder).join(program);
    if !program.is_file() {
        return Verdict::Missing(format!("{folder} is not built: tests/interop/install does it"));
    }
    match body(&program) {
        Ok(done) => Verdict::Passed(done),
        Err(wrong) => Verdict::Failed(vec![wrong]),
    }
}

/// `zorb repository` of `bank.idl`, and the reference that it prints.
fn serve(workshop: &Workshop, run: &str, more: &[&str]) -> Result<(Running, String), String> {
    let output = workshop.scratch.join(format!("repository-{run}.output"));
    let mut command = Command::new(workshop.programs.join("zorb"));
    command.arg("repository").arg("--idl").arg(workshop.interop.join("repository/bank.idl"));
    command.args(more).args(["-ORBlisten", "iiop://127.0.0.1:0"]);
    let mut serving = Running::start(command, "zorb repository", &output)?;
    let reference = serving.until(SOON, || {
        let text = fs::read_to_string(&output).ok()?;
        text.lines().next().filter(|line| line.starts_with("IOR:") && text.ends_with('\n')).map(str::to_owned)
    })?;
    Ok((serving, reference))
}

/// An object in this process of an interface that it learns from IDL: it gives values of the right types.
struct Served {
    orb: Orb,
    reference: String,
}

struct Blank(Interface);

impl DynamicServant for Blank {
    fn repository_id(&self) -> &str {
        &self.0.id
    }

    fn is_a(&self, id: &str) -> bool {
        self.0.is_a(id)
    }

    fn invoke(&self, request: DynamicRequest) {
        let Some(signature) = self.0.operation(request.operation()) else {
            return request.unknown_operation();
        };
        let Some((reply, _)) = request.arguments(&signature) else { return };
        let blank = |ty| DynAny::new(ty).and_then(|value| value.to_any()).unwrap_or_default();
        let outputs = signature.outputs().map(|parameter| blank(&parameter.ty));
        let results = outputs.fold(Results::of(blank(&signature.result)), |results, it: Any| results.and(it));
        reply.results(results);
    }
}

fn object(workshop: &Workshop, idl: &str, interface: &str, knows: Option<&str>) -> Result<Served, String> {
    let path: PathBuf = workshop.interop.join("repository").join(idl);
    let text = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let model = zorb_idl::compile(&Memory::new([(idl, text)]), idl, &Options::default());
    let repository = Repository::of_model(&model.map_err(|found| found.render(false))?);
    let interface = repository.map_err(|error| error.to_string())?.interface(interface);
    let interface = interface.ok_or("the IDL lacks the interface")?;
    let orb = Orb::builder().listen("tcp:127.0.0.1:0").build();
    let activated = || -> Result<ObjectRef, Box<dyn std::error::Error>> {
        if let Some(repository) = knows {
            let repository = orb.string_to_object(repository)?.ok_or("nil")?;
            orb.register_initial_reference("InterfaceRepository", &repository);
        }
        let poa = orb.root_poa()?;
        let id = interface.id.clone();
        let object = poa.activate_servant(dynamic_servant(Arc::new(Blank(interface))), &id)?;
        poa.manager().activate()?;
        Ok(object)
    };
    let reference = activated().map_err(|error| error.to_string())?.to_string();
    Ok(Served { orb, reference })
}
