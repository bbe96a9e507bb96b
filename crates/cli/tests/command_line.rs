//! The `zorb` command as its users run it: output, exit codes, and one-line errors.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn zorb(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_zorb"))
        .args(arguments)
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(octets: &[u8]) -> &str {
    std::str::from_utf8(octets).unwrap()
}

/// Runs, expects success, and gives what was printed.
fn printed(arguments: &[&str]) -> String {
    let output = zorb(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout).to_owned()
}

/// Runs, expects this exit code and a single line of error, and gives that line.
fn refused(arguments: &[&str], code: i32) -> String {
    let output = zorb(arguments);
    let line = text(&output.stderr).to_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {line}");
    assert!(line.starts_with("zorb: ") && line.trim_end().lines().count() == 1, "{line}");
    line
}

fn scratch(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn fits_80_columns(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line:?}");
    }
}

#[test]
fn ior_shows_and_refuses() {
    let shown = printed(&["ior", "corbaloc:iiop:1.2@db.example:2809/Archive"]);
    assert!(shown.contains("db.example") && shown.contains("Archive"), "{shown}");
    let json: serde_json::Value =
        serde_json::from_str(&printed(&["ior", "--json", "corbaname::host#a/b"])).unwrap();
    assert_eq!((&json["scheme"], &json["name"]), (&"corbaname".into(), &"a/b".into()));
    assert!(refused(&["ior", "http://example.org"], 1).contains("is no reference"));
}

#[test]
fn a_wrong_command_line_is_exit_code_2() {
    assert_eq!(zorb(&[]).status.code(), Some(2));
    assert_eq!(zorb(&["bench", "rtt", "--pin", "sideways"]).status.code(), Some(2));
    assert_eq!(zorb(&["bench", "rtt", "--transport", "smoke"]).status.code(), Some(2));
    assert!(refused(&["ping", "corbaloc::localhost/x", "--timeout", "0"], 2).contains("--timeout 0"));
}

#[test]
fn idl_checks_compiles_and_explains() {
    let folder = scratch("idl");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    std::fs::write(folder.join("good.idl"), "interface Account { void deposit(in long amount); };").unwrap();
    std::fs::write(folder.join("bad.idl"), "interface Account { void deposit(in lnog amount); };").unwrap();
    std::fs::write(
        folder.join("unmapped.idl"),
        "native Thing; local interface Holder { void hold(in Thing what); };",
    )
    .unwrap();
    assert_eq!(printed(&["idl", "--check", &path("good.idl")]), "");
    // Correct IDL, of which Rust can be made only if a type is named, as the help says.
    assert_eq!(printed(&["idl", "--check", &path("unmapped.idl")]), "");
    let unmapped = zorb(&["idl", &path("unmapped.idl")]);
    assert_eq!(unmapped.status.code(), Some(1));
    assert!(text(&unmapped.stderr).contains("no Rust type is named for the native type `Thing`"));
    let named = printed(&["idl", &path("unmapped.idl"), "--native", "Thing=::my::Thing"]);
    assert!(named.contains("pub type Thing = ::my::Thing;"), "{named}");
    assert_eq!(zorb(&["idl", &path("unmapped.idl"), "--native", "Thing"]).status.code(), Some(2));
    let help: Vec<String> = printed(&["idl", "--help"]).split_whitespace().map(str::to_owned).collect();
    assert!(help.join(" ").contains("What has no mapping to Rust passes"));
    assert!(printed(&["idl", &path("good.idl")]).contains("fn deposit"));
    assert!(!printed(&["idl", &path("good.idl")]).contains("CARRIED_IDL"));
    let carrying = printed(&["idl", "--carry-idl", &path("good.idl")]);
    assert!(carrying.contains("CARRIED_IDL") && carrying.contains("deposit(in long"), "the IDL is in it");
    assert_eq!(zorb(&["idl", "--carry-idl", "--check", &path("good.idl")]).status.code(), Some(2));
    let messaging = printed(&["idl", "--ami", "--deferred", "Account::deposit", &path("good.idl")]);
    assert!(messaging.contains("fn sendc_deposit") && messaging.contains("DeferredReply"), "{messaging}");
    let deferred = printed(&["idl", "--deferred", "Account", &path("good.idl")]);
    assert!(!deferred.contains("sendc_deposit") && deferred.contains("DeferredReply"));
    assert!(!printed(&["idl", &path("good.idl")]).contains("DeferredReply"));
    let unknown = zorb(&["idl", "--deferred", "Account::withdraw", &path("good.idl")]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(text(&unknown.stderr).contains("Account::withdraw"), "{}", text(&unknown.stderr));
    assert_eq!(zorb(&["idl", "--ami", "--check", &path("good.idl")]).status.code(), Some(2));
    assert_eq!(printed(&["idl", &path("good.idl"), "--out", &path("good.rs")]), "");
    assert!(std::fs::read_to_string(folder.join("good.rs")).unwrap().contains("fn deposit"));
    for arguments in [&["idl", "--check"][..], &["idl"]] {
        let output = zorb(&[arguments, &[&path("bad.idl")]].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1));
        assert!(said.contains("lnog") && said.contains("long") && said.contains("bad.idl"), "{said}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn idl_takes_folders_macros_and_modules() {
    let folder = scratch("idl-options");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    std::fs::create_dir(folder.join("shared")).unwrap();
    std::fs::write(folder.join("shared/points.idl"), "module points { struct Point { UNIT x; }; };").unwrap();
    let main = "#include <points.idl>
        #ifdef DEEP
        interface Map { points::Point at(in LEVEL level); };
        #endif";
    std::fs::write(folder.join("map.idl"), main).unwrap();
    let (map, include, unit) = (path("map.idl"), path("shared"), ["-D", "UNIT=double"]);

    let output = zorb(&[&["idl", &map][..], &unit].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("points.idl"), "{}", text(&output.stderr));

    let common = [&["idl", &map, "-I", &include][..], &unit].concat();
    let without = printed(&common);
    assert!(without.contains("pub struct Point") && without.contains("pub x: f64"), "{without}");
    assert!(without.contains("use ::zorb::rt;") && !without.contains("Map"), "{without}");

    let deep = [&common[..], &["-D", "DEEP", "-D", "LEVEL=short"]].concat();
    assert!(printed(&deep).contains("fn at(&self, level: i16)"));

    let other = [&deep[..], &["--extern", "points=::shapes::points", "--runtime", "::my::runtime"]].concat();
    let other = printed(&other);
    assert!(other.contains("::shapes::points::Point") && !other.contains("struct Point"), "{other}");
    assert!(other.contains("::my::runtime::") && !other.contains("::zorb::rt"), "{other}");

    for wrong in [["--extern", "points"], ["-D", "1A"]] {
        assert_eq!(zorb(&[&["idl", &map][..], &wrong].concat()).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn ping_tells_nobody_from_no_object() {
    // Port 1 of the local host: refused at once, or a timeout where a firewall drops it.
    let line = refused(&["ping", "corbaloc:iiop:1.2@127.0.0.1:1/x", "--timeout", "2"], 1);
    assert!(line.contains("127.0.0.1:1"), "{line}");
}

#[test]
fn settings_are_shown_explained_and_refused() {
    let table = printed(&["config", "--settings"]);
    fits_80_columns(&table);
    assert!(table.contains("-ORBcallTimeout ZORB_CALL_TIMEOUT"), "{table}");

    let folder = scratch("config");
    let file = folder.join("zorb.toml");
    std::fs::write(&file, "call_timeout = \"7s\"\n[server]\nidle = \"2min\"\n").unwrap();
    let file = file.to_str().unwrap();
    let named = ["config", "-ORBconfigFile", file, "-ORBcallTimeout=3s"];
    let shown = printed(&named);
    assert!(shown.contains("call_timeout = \"3s\"") && shown.contains("server.idle = \"2min\""), "{shown}");
    let one = printed(&[&named[..], &["--explain", "ZORB_CALL_TIMEOUT"]].concat());
    let one = one.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(one.starts_with("# argument 4 (-ORBcallTimeout); not \"7s\", file"), "{one}");

    for (arguments, expected) in [
        (&["config", "-ORBcalTimeout=1s"][..], "did you mean -ORBcallTimeout?"),
        (&["config", "-ORBconfigFile", "no/such.toml"], "file no/such.toml: it cannot be opened"),
        (&["config", "--explain", "colour"], "there is no setting colour"),
        (&["idl", "-ORBlisten", "unix:", "x.idl"], "zorb idl takes no -ORB options"),
        (&["ping", "corbaloc::localhost/x", "-ORBtransports", "shn"], "has no transport \"shn\""),
    ] {
        assert!(refused(arguments, 2).contains(expected), "{arguments:?}");
    }
}

#[test]
fn the_environment_is_read_by_commands_that_build_an_orb_and_by_no_others() {
    let with = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zorb"));
        command.args(arguments).env("ZORB_CALL_TIMEOUT", "soon").stdin(Stdio::null());
        let output = command.output().unwrap();
        (output.status.code(), text(&output.stderr).to_owned())
    };
    let (code, line) = with(&["ping", "corbaloc::localhost/x"]);
    assert_eq!(code, Some(2), "{line}");
    assert!(line.contains("environment variable ZORB_CALL_TIMEOUT: \"soon\" is no time"), "{line}");
    assert_eq!(with(&["ior", "corbaloc::localhost/x"]).0, Some(0));
}

#[test]
fn ping_calls_by_the_transports_that_settings_name() {
    let call = ["ping", "corbaloc:iiop:1.2@127.0.0.1:1/x", "-ORBtransports", "unix", "-ORBcallTimeout=2s"];
    let line = refused(&call, 1);
    assert!(line.contains("tcp:127.0.0.1:1") && line.contains("use only the transports unix"), "{line}");
}

#[test]
fn bench_report_draws_a_directory() {
    let directory = scratch("bench-report");
    let row = r#"{"experiment":"concurrency","system":"zorb","pin":"same","callers":8,"calls_s":100000.7}"#;
    std::fs::write(directory.join("results.jsonl"), format!("{row}\n{{torn")).unwrap();
    let output = zorb(&["bench", "report", directory.to_str().unwrap()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    assert!(printed.contains("index.html: 1 plot of 1 row\n"), "{printed}");
    assert!(printed.contains("not measured: ttcp, profile,"), "{printed}");
    let remarks = text(&output.stderr);
    assert!(
        remarks.contains("note: results.jsonl:2: ") && remarks.contains("note: machine.json: "),
        "{remarks}"
    );
    let page = std::fs::read_to_string(directory.join("index.html")).unwrap();
    assert!(page.contains("100,001") && page.contains("<svg"), "the figure is on the page, and drawn");
    let missing = directory.join("none");
    assert!(refused(&["bench", "report", missing.to_str().unwrap()], 1).contains("results.jsonl"));
}

#[test]
fn bench_rtt_writes_rows_that_scripts_can_rely_on() {
    let lines = printed(&["bench", "rtt", "--calls", "1", "--pin", "same", "--json"]);
    let rows: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 8, "four sizes of two systems");
    for (row, size) in rows.iter().zip([0, 0, 1024, 1024, 8192, 8192, 65_536, 65_536]) {
        let keys: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys.len(), 12, "{row}");
        assert_eq!((&row["experiment"], &row["transport"]), (&"rtt".into(), &"tcp".into()));
        assert_eq!((&row["size"], &row["pin"]), (&size.into(), &"same".into()));
        assert_eq!(row["type"], if size == 0 { "null" } else { "octet" });
        assert!(row["p50_us"].as_f64().unwrap() > 0.0 && row["ratio_low"].is_number(), "{row}");
    }
    assert_eq!((&rows[0]["system"], &rows[1]["system"]), (&"raw".into(), &"zorb".into()));
}

#[test]
fn the_demo_runs_whole_and_writes_pictures() {
    let out = scratch("demo");
    let output = zorb(&["demo", "--out", out.to_str().unwrap()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    fits_80_columns(shown);
    for part in ["checksums agree", "NoSuchImage", "OBJECT_NOT_EXIST", "fetch", "bare socket"] {
        assert!(shown.contains(part), "{part} is missing in\n{shown}");
    }
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 18);
    let histogram = shown.lines().skip_while(|line| !line.starts_with("histogram of phantom"));
    let bins: Vec<&str> = histogram.skip(1).take_while(|line| !line.is_empty()).collect();
    assert!(bins.len() == 16 && bins[0].starts_with("      0 -  4095 █"), "{bins:#?}");
    let table: Vec<&str> = shown.lines().skip_while(|line| !line.starts_with("operation")).collect();
    let words: Vec<&str> = table[0].split_whitespace().collect();
    assert_eq!(words, ["operation", "calls", "bytes", "median", "p99", "throughput"]);
    let protocols = shown.lines().skip_while(|line| !line.starts_with("protocol")).skip(1);
    let protocols: Vec<&str> = protocols.take(3).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(protocols, ["shm", "unix", "tcp"], "{shown}");
    let operations = ["open", "store", "fetch", "render", "histogram", "images (attribute)", "discard"];
    for (line, operation) in table[1..].iter().zip(operations) {
        assert!(line.starts_with(operation), "{operation} in {line:?}");
    }
    // Progress is for terminals.
    for bar in ["storing", "fetching", "rendering", "\r"] {
        assert!(!text(&output.stderr).contains(bar), "{}", text(&output.stderr));
    }
}

#[test]
fn the_demo_takes_the_users_images_and_runs_in_halves() {
    let folder = scratch("images");
    std::fs::write(folder.join("one.pgm"), b"P5 2 2 255\n\x00\x40\x80\xff").unwrap();
    let reference = folder.join("archive.ior");
    let mut server = Command::new(env!("CARGO_BIN_EXE_zorb"))
        .args(["demo", "serve", "--ior-file", reference.to_str().unwrap(), "--child"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while !std::fs::read_to_string(&reference).is_ok_and(|text| text.ends_with('\n')) {
        assert!(server.try_wait().unwrap().is_none(), "the server ended");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let url = format!("file:{}", reference.display());
    let out = folder.join("out");
    let shown = printed(&[
        "demo",
        "client",
        &url,
        "--images",
        folder.to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
    ]);
    assert!(shown.contains("checksums agree"), "{shown}");
    assert!(out.join("000-one.png").exists());
    let pinged = printed(&["ping", &url, "-n", "10", "--is-a", "IDL:zorb.demo/imaging/Archive:1.0"]);
    for part in ["yes", "10 calls: median ", ", 90 % ", ", 99 % ", ", longest "] {
        assert!(pinged.contains(part), "{part} in {pinged}");
    }
    // The server answers, and has no such object.
    let ior: serde_json::Value = serde_json::from_str(&printed(&["ior", "--json", &url])).unwrap();
    let at = ior["corbaloc"].as_str().unwrap().split('/').next().unwrap().to_owned();
    assert!(refused(&["ping", &format!("{at}/Nothing")], 3).contains("does not exist"));
    assert!(refused(&["ping", &url, "--is-a", "IDL:zorb.demo/imaging/Study:1.0"], 3).contains("Study"));
    drop(server.stdin.take());
    assert!(server.wait().unwrap().success(), "the server stops when its input closes");
    refused(&["demo", "client", &url, "--images", folder.join("none").to_str().unwrap()], 1);
}

#[test]
fn unknown_subcommands_list_what_there_is() {
    for (words, there_are) in [
        (
            &["paint"][..],
            "There are: demo, idl, ior, ping, call, repository, bridge, bench, ttcp, soak, config",
        ),
        (&["ttcp", "paint"], "There are: run, recv, send"),
        (&["bench", "paint"], "There are: rtt, "),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_zorb")).args(words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("unrecognized subcommand 'paint'") && said.contains(there_are), "{said}");
    }
}

#[test]
fn what_would_measure_nothing_or_something_else_is_refused() {
    for (words, reason) in [
        ("bench demux --operations 0 --objects 0", "neither operations nor objects are left"),
        ("bench demux --operations 0 --lookup linear", "--lookup is how operations are found"),
        ("ttcp run --queue 20000000000", "this system grants sockets at most"),
        ("ttcp recv --queue 20000000000", "this system grants sockets at most"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_zorb")).args(words.split(' ')).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(reason), "{words}: {said}");
        assert!(output.stdout.is_empty(), "{words}");
    }
}
