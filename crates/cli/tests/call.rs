//! `zorb call` as its users run it, against servers of this process and of others.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};
use zorb::dynamic::{DynamicRequest, DynamicServant, Mode, Results, dynamic_servant};
use zorb::{Any, ObjectRef, Orb, SystemException};
use zorb_dynamic::{Interface, Notation, Repository, ifr};

const IDL: &str = r#"
#pragma prefix "zorb.test"
module M {
  enum Color { RED, GREEN };
  struct Point { short x; octet y; };
  typedef sequence<Point> Points;
  union Shape switch (Color) { case RED: Point at; default: string name; };
  bitmask Access { read, write, @position(7) own };
  bitset Head { bitfield<3> kind; bitfield<1> last; bitfield<10, int16> level; };
  struct Empty {};
  struct Clock { sequence<Empty> passed; };
  exception Refused { string why; Points where; };
  valuetype Node { public string name; public Node next; };
  valuetype Marked : Node { public short mark; };
  valuetype Cut : truncatable Node { public sequence<Node> others; };
  custom valuetype Own { public long number; };
  abstract interface Seen {};
  valuetype Sight supports Seen { public Node of; };
  exception Tangled { Node culprit; Node witness; };
  interface Base { string greet(in string name); };
  interface Mirror : Base {
    Points path(in Points given, out long count);
    Shape form(inout Shape given);
    any anything(in any given);
    sequence<octet> octets(in sequence<octet> given);
    Mirror self(in Mirror given);
    double number(in double given);
    void refuse(in string why) raises (Refused);
    Node link(inout Node given);
    ValueBase keep(in ValueBase given);
    Seen see(in Seen given);
    Own secret(in Own given);
    void tangle() raises (Tangled);
    string who(in string greeting) context ("user", "sys_*");
    oneway void hint(in long long far) context ("user");
    unsigned long long most(in unsigned long long given);
    oneway void note(in string text);
    int8 turn(in int8 given);
    Access may(inout Access given);
    Head begin(in Head given);
    map<string, int8> codes(in map<string, int8> given);
    sequence<uint8> small(in sequence<uint8> given);
    Clock wait(in Clock given);
    attribute string label;
    readonly attribute Color hue;
  };
};
"#;

/// Gives back what it gets, and refuses what it is asked to refuse.
struct Mirror {
    orb: Orb,
    repository: Repository,
    interface: Interface,
    label: Mutex<Any>,
}

impl DynamicServant for Mirror {
    fn repository_id(&self) -> &str {
        &self.interface.id
    }

    fn is_a(&self, id: &str) -> bool {
        self.interface.is_a(id)
    }

    fn invoke(&self, request: DynamicRequest) {
        let Some(signature) = self.interface.operation(request.operation()) else {
            return request.unknown_operation();
        };
        let Some((reply, mut given)) = request.arguments(&signature) else { return };
        let notation = Notation::new(&self.orb, &self.repository);
        match &*signature.operation {
            "_get_label" => reply.results(Results::of(self.label.lock().unwrap().clone())),
            "_set_label" => {
                *self.label.lock().unwrap() = given.remove(0);
                reply.results(Results::nothing());
            }
            "_get_hue" => {
                reply.results(Results::of(notation.from_literal("GREEN", &signature.result).unwrap()))
            }
            "greet" => {
                let name: String = given[0].get().unwrap();
                reply.results(Results::of(Any::new(&format!("hello, {name}")).unwrap()));
            }
            "who" => {
                let greeting: String = given[0].get().unwrap();
                let told: String =
                    reply.properties().iter().map(|(name, value)| format!(" {name}={value}")).collect();
                reply.results(Results::of(Any::new(&format!("{greeting}{told}")).unwrap()));
            }
            "number" if given[0].get::<f64>().unwrap() < 0.0 => {
                reply.system_exception(SystemException::BadParam("it is negative"));
            }
            "refuse" => {
                let why: String = given[0].get().unwrap();
                let refused = json!({ "why": why, "where": [{ "x": 1, "y": 2 }] });
                reply.user_exception(notation.from_json(&refused, &signature.raises[0]).unwrap());
            }
            "tangle" => {
                let culprit =
                    json!({"$type": "M::Marked", "$id": 1, "name": "a", "next": {"$ref": 1}, "mark": 1});
                let tangled = json!({ "culprit": culprit, "witness": {"$ref": 1} });
                reply.user_exception(notation.from_json(&tangled, &signature.raises[0]).unwrap());
            }
            _ => {
                let counts = signature.parameters.iter().any(|parameter| parameter.mode == Mode::Out);
                let results = match given.pop() {
                    Some(value) => {
                        let results = Results::of(value.clone());
                        match () {
                            () if signature.oneway => Results::nothing(),
                            () if counts => results.and(Any::new(&7_i32).unwrap()),
                            () if signature.outputs().count() > 0 => results.and(value),
                            () => results,
                        }
                    }
                    None => Results::nothing(),
                };
                reply.results(results);
            }
        }
    }
}

/// A server in this process, its reference, and the file that its IDL is in.
struct World {
    orb: Orb,
    object: ObjectRef,
    reference: String,
    idl: PathBuf,
}

fn repository() -> Repository {
    let files = zorb_idl::Memory::new([("m.idl", IDL)]);
    let model = zorb_idl::compile(&files, "m.idl", &zorb_idl::Options::default());
    Repository::of_model(&model.unwrap_or_else(|wrong| panic!("{}", wrong.render(false)))).unwrap()
}

impl World {
    fn new(name: &str) -> World {
        let orb = Orb::builder().listen("tcp:127.0.0.1:0").build();
        let repository = repository();
        let interface = repository.interface("M::Mirror").unwrap();
        let label = Mutex::new(Any::new("none").unwrap());
        let known = repository.clone();
        orb.describe_values(move |id| known.definition(id)?.type_code().cloned());
        let mirror = Mirror { orb: orb.clone(), repository, interface, label };
        let poa = orb.root_poa().unwrap();
        let servant = dynamic_servant(Arc::new(mirror));
        let object = poa.activate_servant(servant, "IDL:zorb.test/M/Mirror:1.0").unwrap();
        poa.manager().activate().unwrap();
        let idl = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("call-{name}.idl"));
        std::fs::write(&idl, IDL).unwrap();
        World { reference: object.to_string(), orb, object, idl }
    }

    fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let idl = self.idl.to_str().unwrap();
        zorb(&[&["call", &self.reference, "--idl", idl], arguments].concat())
    }

    fn printed(&self, arguments: &[&str]) -> String {
        let (code, printed, error) = self.run(arguments);
        assert_eq!((code, &*error), (Some(0), ""), "{arguments:?}");
        printed
    }

    fn json(&self, arguments: &[&str]) -> Json {
        serde_json::from_str(&self.printed(&[&["--json"], arguments].concat())).unwrap()
    }

    fn refused(&self, code: i32, arguments: &[&str]) -> String {
        let (ended, _, error) = self.run(arguments);
        assert_eq!(ended, Some(code), "{arguments:?}: {error}");
        let line = error.strip_prefix("zorb: ").unwrap_or_else(|| panic!("{error}"));
        assert_eq!(line.lines().count(), 1, "{error}");
        line.trim_end().to_owned()
    }
}

fn zorb(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_zorb")).args(arguments).stdin(Stdio::null()).output().unwrap();
    let text = |octets: Vec<u8>| String::from_utf8(octets).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn arguments_go_and_results_come_back() {
    let world = World::new("results");
    assert_eq!(world.printed(&["greet", "two words"]), "\"hello, two words\"\n");
    assert_eq!(
        world.printed(&["path", "[{x: 1, y: 2}, {x: -3, y: 255}]"]),
        "[{x: 1, y: 2}, {x: -3, y: 255}]\ncount = 7\n"
    );
    assert_eq!(
        world.printed(&["form", "{at: {x: 1, y: 2}}"]),
        "{at: {x: 1, y: 2}}\ngiven = {at: {x: 1, y: 2}}\n"
    );
    assert_eq!(
        world.json(&["form", r#"{"name": "a", "$case": "GREEN"}"#]),
        json!({"result": {"name": "a", "$case": "GREEN"}, "outputs": {"given": {"name": "a", "$case": "GREEN"}}})
    );
    assert_eq!(
        world.printed(&["anything", "{type: M::Color, value: RED}"]),
        "{type: M::Color, value: RED}\n"
    );
    assert_eq!(world.printed(&["octets", "{base64: \"AAEC\"}"]), "{base64: \"AAEC\"}\n");
    assert_eq!(world.printed(&["octets", &format!("{{file: {:?}}}", world.idl)]).len(), {
        let text = Json::from(std::fs::read_to_string(&world.idl).unwrap()).to_string();
        format!("{{text: {text}}}\n").len()
    });
    assert_eq!(world.printed(&["number", "1.5"]), "1.5\n");
    assert_eq!(world.printed(&["self", "null"]), "null\n");
    assert_eq!(world.printed(&["self", &world.reference]), format!("{}\n", world.reference));
    assert_eq!(world.printed(&["note", "one way"]), "");
    assert_eq!(world.json(&["note", "one way"]), json!({"result": null, "outputs": {}}));
}

#[test]
fn what_newer_idl_has_is_written_as_it_says() {
    let world = World::new("newer");
    let same =
        |operation: &str, text: &str| assert_eq!(world.printed(&[operation, text]), format!("{text}\n"));
    same("turn", "-3");
    same("begin", "{kind: 5, last: true, level: -7}");
    same("codes", "{a: -1, b: 2}");
    same("small", "[1, 255]");
    same("wait", "{passed: [{}, {}]}");
    same("anything", "{type: M::Access, value: [own]}");
    same("anything", "{type: M::Clock, value: {passed: [{}, {}]}}");
    assert_eq!(world.printed(&["may", "[own, read]"]), "[read, own]\ngiven = [read, own]\n");
    assert_eq!(
        world.json(&["may", "[\"write\"]"]),
        json!({"result": ["write"], "outputs": {"given": ["write"]}})
    );
    assert_eq!(world.refused(2, &["turn", "200"]), "argument 1 \"given\": 200 is out of range for int8");
    assert_eq!(
        world.refused(2, &["may", "5"]),
        "argument 1 \"given\": 5 sets bit 2, which Access has not got"
    );
    let listed = world.printed(&["--list"]);
    for line in [
        "int8 turn(in int8 given);",
        "map<string,int8> codes(in map<string,int8> given);",
        "sequence<uint8> small(in sequence<uint8> given);",
        "M::Access may(inout M::Access given);",
    ] {
        assert!(listed.contains(line), "{listed}");
    }
}

#[test]
fn attributes_are_got_and_set_by_name() {
    let world = World::new("attributes");
    assert_eq!(world.printed(&["label"]), "\"none\"\n");
    assert_eq!(world.printed(&["label", "new"]), "");
    assert_eq!(world.printed(&["_get_label"]), "\"new\"\n");
    assert_eq!(world.printed(&["hue"]), "GREEN\n");
    assert_eq!(world.refused(2, &["hue", "RED"]), "the attribute hue of M::Mirror is read-only");
}

#[test]
fn exceptions_have_their_members_and_exit_codes() {
    let world = World::new("exceptions");
    let told = world.refused(4, &["refuse", "no"]);
    assert_eq!(told, r#"user exception M::Refused {why: "no", where: [{x: 1, y: 2}]}"#);
    let (code, printed, _) = world.run(&["--json", "refuse", "no"]);
    assert_eq!(code, Some(4));
    assert_eq!(
        serde_json::from_str::<Json>(&printed).unwrap(),
        json!({"exception": {"id": "IDL:zorb.test/M/Refused:1.0", "name": "Refused",
            "members": {"why": "no", "where": [{"x": 1, "y": 2}]}}})
    );
    assert!(world.refused(3, &["number", "-1"]).starts_with("system exception BAD_PARAM"));
    let (code, printed, _) = world.run(&["--json", "number", "-1"]);
    let printed: Json = serde_json::from_str(&printed).unwrap();
    assert_eq!((code, &printed["exception"]["name"]), (Some(3), &json!("BAD_PARAM")));
    world.orb.shutdown(true, std::time::Duration::from_secs(5));
    assert_eq!(world.run(&["label"]).0, Some(3));
}

#[test]
fn graphs_of_values_go_and_come_back() {
    let world = World::new("values");
    let graph = r#"{$type: M::Cut, $id: 1, name: "a", next: {$type: M::Marked, $id: 2, name: "b", next: {$ref: 1}, mark: 7}, others: [{$ref: 2}, null, {$ref: 1}]}"#;
    assert_eq!(world.printed(&["link", graph]), format!("{graph}\ngiven = {graph}\n"));
    let json = json!({"$type": "M::Cut", "$id": 1, "name": "a",
        "next": {"$type": "M::Marked", "$id": 2, "name": "b", "next": {"$ref": 1}, "mark": 7},
        "others": [{"$ref": 2}, null, {"$ref": 1}]});
    assert_eq!(world.json(&["link", &json.to_string()]), json!({"result": json, "outputs": {"given": json}}));
    for (operation, text) in [
        ("keep", "{$type: M::Marked, name: \"a\", next: null, mark: 1}"),
        ("keep", "null"),
        ("see", "{$type: M::Sight, of: {$type: M::Marked, name: \"a\", next: null, mark: 1}}"),
        ("see", "null"),
        (
            "secret",
            if cfg!(target_endian = "little") { "{$rest: [{at: 0, little: \"AAEC\"}]}" } else { "null" },
        ),
    ] {
        assert_eq!(world.printed(&[operation, text]), format!("{text}\n"));
    }
    assert_eq!(
        world.refused(4, &["tangle"]),
        r#"user exception M::Tangled {culprit: {$type: M::Marked, $id: 1, name: "a", next: {$ref: 1}, mark: 1}, witness: {$ref: 1}}"#
    );
    assert_eq!(
        world.refused(2, &["link", "{name: a, next: {$type: M::Point, x: 1}}"]),
        r#"argument 1 "given".next.$type: M::Point is no valuetype"#
    );
    // An interface repository is asked for the types that no signature has.
    let serving = Serving::start(world.idl.to_str().unwrap());
    let call = |arguments: &[&str]| {
        zorb(&[&["call", &world.reference, "--repository", &serving.reference], arguments].concat())
    };
    let marked = "{$type: M::Marked, name: \"a\", next: null, mark: 1}";
    let by_id = marked.replace("M::Marked", "IDL:zorb.test/M/Marked:1.0");
    let (code, printed, told) = call(&["link", marked]);
    assert_eq!((code, told.as_str()), (Some(0), ""));
    assert_eq!(printed, format!("{by_id}\ngiven = {by_id}\n"));
    let (code, _, told) = call(&["link", &marked.replace("Marked", "Nothing")]);
    assert_eq!(code, Some(2));
    assert!(told.contains("$type: no valuetype M::Nothing is known"), "{told}");
}

#[test]
fn what_does_not_fit_is_a_wrong_command_line() {
    let world = World::new("unfit");
    for (arguments, told) in [
        (
            &["path", "[{x: 1, y: 2}, {x: 1, y: 300}]"][..],
            r#"argument 1 "given"[1].y: 300 is out of range for octet"#,
        ),
        (&["greet"], "greet takes one argument, name; 0 were given"),
        (
            &["label", "a", "--json"],
            "_set_label takes one argument, value; 2 were given (--json is one of them: options stand before the operation)",
        ),
        (&["hue", "-x"], "the attribute hue of M::Mirror is read-only"),
        (&["self"], "self takes one argument, given; 0 were given"),
        (&["tangle", "-x"], "tangle takes no arguments; 1 was given"),
        (
            &["most", "18446744073709551616"],
            r#"argument 1 "given": 18446744073709551616 is out of range for unsigned long long"#,
        ),
        (
            &["--context", "password=x", "who", "a"],
            "the context clause of who does not name password: it names user, sys_*",
        ),
        (
            &["--context", "user=x", "greet", "a"],
            "the context clause of greet does not name user: it has none",
        ),
        (&["label", "a", "b"], "_set_label takes one argument, value; 2 were given"),
        (&["gret", "a"], "M::Mirror has no operation gret; with --list, zorb call shows what it has"),
        (&["--interface", "M::Nothing", "greet", "a"], "the IDL declares no interface M::Nothing"),
        (&["form", "{circle: 1}"], r#"argument 1 "given": Shape has no member "circle": at, name"#),
    ] {
        assert_eq!(world.refused(2, arguments), told);
    }
    assert_eq!(zorb(&["call", &world.reference]).0, Some(2));
    assert_eq!(world.run(&["--context", "user", "who", "a"]).0, Some(2));
    assert_eq!(world.run(&["--list", "greet"]).0, Some(2));
}

#[test]
fn what_begins_with_a_hyphen_behind_the_operation_is_an_argument() {
    let world = World::new("hyphens");
    for (arguments, printed) in [
        (&["number", "-Infinity"][..], None),
        (&["greet", "-Dfoo"], Some("\"hello, -Dfoo\"\n")),
        (&["greet", "-I"], Some("\"hello, -I\"\n")),
        (&["greet", "--list"], Some("\"hello, --list\"\n")),
        (&["greet", "--", "--json"], Some("\"hello, --json\"\n")),
        (&["greet", "--", "-ORBx"], Some("\"hello, -ORBx\"\n")),
        (&["--", "greet", "-h"], Some("\"hello, -h\"\n")),
        (&["label", "-1"], Some("")),
        (&["most", "+0x10"], Some("16\n")),
        (&["most", "18446744073709551615"], Some("18446744073709551615\n")),
        (&["hint", "-0x10"], Some("")),
    ] {
        match printed {
            Some(printed) => assert_eq!(world.printed(arguments), printed),
            // It is negative.
            None => assert!(world.refused(3, arguments).contains("BAD_PARAM")),
        }
    }
    assert_eq!(world.json(&["label"])["result"], "-1");
}

#[test]
fn a_repository_tells_what_it_offers_itself() {
    let world = World::new("self-described");
    let serving = Serving::start(world.idl.to_str().unwrap());
    let (code, list, error) = zorb(&["call", &serving.reference, "--list"]);
    assert_eq!((code, &*error), (Some(0), ""));
    assert!(list.starts_with("interface CORBA::Repository\n"), "{list}");
    assert!(list.contains("lookup_id(in "), "{list}");
    let (code, found, error) = zorb(&["call", &serving.reference, "lookup", "M::Mirror"]);
    assert_eq!((code, &*error), (Some(0), ""));
    let (code, name, error) = zorb(&["call", found.trim(), "absolute_name"]);
    assert_eq!((code, &*name, &*error), (Some(0), "\"::M::Mirror\"\n", ""));
}

#[test]
fn properties_go_where_the_context_clause_names_them() {
    let world = World::new("context");
    assert_eq!(world.printed(&["who", "a"]), "\"a\"\n");
    let given = ["--context", "user=ada", "--context", "sys_host=grüße", "--context", "sys_="];
    let who = [&given[..], &["who", "a"]].concat();
    let expected = "\"a sys_= sys_host=grüße user=ada\"\n";
    assert_eq!(world.printed(&who), expected);
    assert_eq!(world.printed(&["--context", "user=ada", "hint", "1"]), "");
    // The clause is learnt from a repository as well.
    let serving = Serving::start(world.idl.to_str().unwrap());
    let by = ["call", &world.reference, "--repository", &serving.reference];
    assert_eq!(zorb(&[&by[..], &who].concat()), (Some(0), expected.to_owned(), String::new()));
}

#[test]
fn exit_codes_tell_mistakes_from_exceptions_that_came_first() {
    let world = World::new("codes");
    let idl = world.idl.to_str().unwrap();
    let code = |arguments: &[&str], expected: i32, told: &str| {
        let (code, printed, error) = zorb(&[&["call"], arguments].concat());
        assert_eq!((code, &*printed), (Some(expected), ""), "{arguments:?}: {error}");
        assert!(error.contains(told), "{arguments:?}: {error}");
    };
    for reference in ["nonsense", "", "IOR:00", "corbaloc::"] {
        code(&[reference, "_non_existent"], 2, "is no reference");
        code(&[&world.reference, "--repository", reference, "greet", "a"], 2, "--repository: ");
    }
    code(&["file:/nowhere/x.ior", "_non_existent"], 2, "/nowhere/x.ior");
    code(&[&world.reference, "--idl", "/nowhere/x.idl", "greet", "a"], 2, "/nowhere/x.idl");
    let wrong = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("call-codes-wrong.idl");
    std::fs::write(&wrong, "interface X { lnog y(); };").unwrap();
    code(&[&world.reference, "--idl", wrong.to_str().unwrap(), "greet", "a"], 2, "lnog");

    // Port 1 of the local host: refused at once, or a timeout where a firewall drops it.
    let nobody = ["--timeout", "2"];
    let nobody = |arguments: &[&'static str]| [arguments, &nobody[..]].concat();
    code(
        &[&nobody(&["corbaname::127.0.0.1:1#a"])[..], &["greet", "a"]].concat(),
        3,
        "cannot resolve the reference",
    );
    code(&[&nobody(&["corbaloc::127.0.0.1:1/x"])[..], &["_non_existent"]].concat(), 3, "system exception");
    let by = [&world.reference, "--repository", "corbaloc::127.0.0.1:1/x", "--timeout", "2", "greet", "a"];
    code(&by, 3, "cannot read the interface repository");
    // A naming service that answers, with an exception.
    world.orb.bind_key("NameService", &world.object);
    let endpoint = world.orb.endpoints()[0].to_string();
    let port = endpoint.rsplit(':').next().unwrap();
    let name = format!("corbaname::127.0.0.1:{port}#a");
    code(&[&name, "--idl", idl, "greet", "a"], 3, "cannot resolve the reference: BAD_OPERATION");
    let (code, printed, _) = zorb(&["call", "--json", &name, "--idl", idl, "greet", "a"]);
    let printed: Json = serde_json::from_str(&printed).unwrap();
    assert_eq!((code, &printed["exception"]["name"]), (Some(3), &json!("BAD_OPERATION")));
}

#[test]
fn the_interface_is_asked_for_where_the_reference_does_not_name_it() {
    let world = World::new("asked");
    let idl = world.idl.to_str().unwrap();
    world.orb.bind_key("Mirror", &world.object);
    let endpoint = world.orb.endpoints()[0].to_string();
    let port = endpoint.rsplit(':').next().unwrap();
    let by_key = format!("corbaloc::127.0.0.1:{port}/Mirror");
    assert_eq!(zorb(&["call", &by_key, "--idl", idl, "label"]).1, "\"none\"\n");
    let told = zorb(&["call", &by_key, "--idl", idl, "--interface", "M::Base", "label"]).2;
    assert!(told.contains("M::Base has no operation label"), "{told}");
    // What every object has needs no interface at all.
    assert_eq!(zorb(&["call", &by_key, "_is_a", "IDL:zorb.test/M/Base:1.0"]).1, "true\n");
    assert_eq!(zorb(&["call", &by_key, "_non_existent"]).1, "false\n");
    let (code, _, told) = zorb(&["call", &by_key, "label"]);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("no interface repository; --idl or --repository"), "{told}");
}

#[test]
fn a_list_shows_what_an_object_offers() {
    let world = World::new("list");
    let list = world.printed(&["--list"]);
    for line in [
        "interface M::Mirror",
        "  IDL:zorb.test/M/Mirror:1.0",
        "  inherits IDL:zorb.test/M/Base:1.0",
        "string greet(in string name);",
        "M::Points path(in M::Points given, out long count);",
        "void refuse(in string why) raises (M::Refused);",
        "oneway void note(in string text);",
        "string who(in string greeting) context (\"user\", \"sys_*\");",
        "attribute string label;",
        "readonly attribute M::Color hue;",
    ] {
        assert!(list.lines().any(|found| found == line), "{line}\n{list}");
    }
    assert!(list.lines().all(|line| line.chars().count() <= 80), "{list}");
    let json = world.json(&["--list"]);
    assert_eq!(json["ancestors"], json!(["IDL:zorb.test/M/Base:1.0"]));
    let operation = |name: &str| {
        let operations = json["operations"].as_array().unwrap().iter();
        operations.into_iter().find(|it| it["operation"] == name).unwrap().clone()
    };
    assert_eq!(operation("path")["parameters"][1], json!({"name": "count", "mode": "out", "type": "long"}));
    assert_eq!(operation("refuse")["raises"], json!(["M::Refused"]));
    assert_eq!(operation("_set_label")["result"], "void");
    assert_eq!(operation("who")["contexts"], json!(["user", "sys_*"]));
    assert_eq!(operation("greet")["contexts"], json!([]));
}

/// Only one of two definitions of a name could be known: neither a call nor a repository takes one of them in silence.
#[test]
fn two_definitions_of_one_name_are_refused() {
    let world = World::new("two-definitions");
    let other = world.idl.with_file_name("other.idl");
    std::fs::write(&other, "module M { enum Mirror { flat, round }; };").unwrap();
    let (one, other) = (world.idl.to_str().unwrap(), other.to_str().unwrap());
    // A call's IDL is part of how it is asked for.
    for (command, ends_with) in [(&["call", &world.reference, "--list"][..], 2), (&["repository"], 1)] {
        let (code, _, told) = zorb(&[command, &["--idl", one, "--idl", other]].concat());
        assert_eq!(code, Some(ends_with), "{told}");
        assert!(told.contains("error: `M::Mirror` is defined in two files"), "{told}");
        assert!(told.contains("cannot be used together"), "{told}");
    }
    // One file twice is one.
    let (code, _, told) = zorb(&["call", &world.reference, "--list", "--idl", one, "--idl", one]);
    assert_eq!(code, Some(0), "{told}");
}

/// A `zorb repository` of this IDL, ended when dropped.
struct Serving {
    child: Child,
    reference: String,
    _output: BufReader<ChildStdout>,
}

impl Serving {
    fn start(idl: &str) -> Serving {
        let mut child = Command::new(env!("CARGO_BIN_EXE_zorb"))
            .args(["repository", "--idl", idl, "-ORBlisten", "iiop://127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert!(line.starts_with("IOR:"), "{line:?}");
        Serving { child, reference: line.trim().to_owned(), _output: output }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn interfaces_are_learnt_from_a_repository() {
    let world = World::new("repository");
    let serving = Serving::start(world.idl.to_str().unwrap());
    let call = |arguments: &[&str]| zorb(&[&["call", &world.reference], arguments].concat());
    let by = ["--repository", &serving.reference];
    let printed = |arguments: &[&str]| {
        let (code, printed, error) = call(arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {error}");
        printed
    };
    // A repository tells operations and attributes apart, not in which order they were declared.
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let list = printed(&[&by[..], &["--list"]].concat());
    // Nor does it know the types that TypeCodes have no kinds for.
    let declared = world.printed(&["--list"]).replace("uint8", "octet").replace("int8", "octet");
    assert_eq!(sorted(&list), sorted(&declared));
    assert_eq!(printed(&[&by[..], &["path", "[{x: 1, y: 2}]"]].concat()), "[{x: 1, y: 2}]\ncount = 7\n");
    assert_eq!(
        printed(&[&by[..], &["anything", "{type: M::Shape, value: {name: a, $case: GREEN}}"]].concat()),
        "{type: M::Shape, value: {name: \"a\", $case: GREEN}}\n"
    );
    assert_eq!(call(&[&by[..], &["refuse", "no"]].concat()).0, Some(4));
    let named = [&by[..], &["--interface", "M::Base", "greet", "you"]].concat();
    assert_eq!(printed(&named), "\"hello, you\"\n");
    let (code, _, told) = call(&[&by[..], &["--interface", "M::Nothing", "greet", "you"]].concat());
    assert_eq!(code, Some(1));
    assert!(told.contains("the interface repository does not know M::Nothing"), "{told}");

    // The object's own server tells, once it has a repository: nothing else is needed.
    let (code, _, told) = call(&["label"]);
    assert_eq!(code, Some(1), "{told}");
    let served = world.orb.string_to_object(&serving.reference).unwrap().unwrap();
    world.orb.register_initial_reference(ifr::NAME, &served);
    assert_eq!(printed(&["label"]), "\"none\"\n");
    assert_eq!(printed(&["--interface", "M::Base", "greet", "you"]), "\"hello, you\"\n");
}
