//! Descriptions of IDL, and the same served as an interface repository and read back over the wire.

use std::sync::Arc;

use zorb_cdr::{Any, Described, TCKind, TypeCode};
use zorb_dynamic::ifr::CORBA::{self, DefinitionKind, PrimitiveKind};
use zorb_dynamic::repository::Content;
use zorb_dynamic::{Interface, Repository, ifr};
use zorb_idl::{Memory, Options, compile};
use zorb_orb::dynamic::Mode;
use zorb_orb::{Interface as _, Kind, ObjectRef, Orb};

const IDL: &str = r#"
#pragma prefix "acme.com"
module Bank {
  const long LIMIT = 5;
  const string MOTTO = "trust";
  typedef fixed<9,2> Money;
  enum Currency { EUR, USD };
  const Currency HOME = USD;
  struct Entry { Money amount; Currency unit; sequence<long, 4> tags; };
  typedef sequence<Entry> History;
  struct Node { string name; sequence<Node> children; };
  union Proof switch (Currency) { case EUR: string<8> code; default: Node tree; };
  exception Overdrawn { Money missing; };
  native Cookie;
  bitmask Flags { @position(0) A, B };
  interface Named { readonly attribute string name; };
  interface Account : Named {
    exception Closed {};
    attribute Money balance getraises (Closed) setraises (Overdrawn, Closed);
    History entries(in long from, inout long count, out boolean more) raises (Closed);
    oneway void hint(in string text);
    void tagged(in string what) context ("tag");
  };
  interface Savings : Account { void accrue(); };
  abstract interface Printable { string text(); };
  local interface Here {};
  valuetype Amount { public long units; private string note; factory make(in long units); };
  valuetype Fee : truncatable Amount supports Account { public Node where; };
  abstract valuetype Idea {};
  valuetype Label string;
};
"#;

fn repository() -> Repository {
    let model = compile(&Memory::new([("bank.idl", IDL)]), "bank.idl", &Options::default());
    Repository::of_model(&model.unwrap_or_else(|wrong| panic!("{}", wrong.render(false)))).unwrap()
}

#[test]
fn types_have_the_type_codes_of_generated_code() {
    let repository = repository();
    let of = |name: &str| repository.type_named(name).unwrap();
    let entry = of("Bank::Entry");
    assert_eq!((entry.kind(), entry.id()), (TCKind::Struct, Some("IDL:acme.com/Bank/Entry:1.0")));
    assert_eq!(entry.member_type(2).and_then(|it| it.length()), Some(4));
    let node = of("Bank::Node");
    let inner = node.member_type(1).and_then(|it| it.content_type()).unwrap();
    assert_eq!(inner, node, "it holds itself");
    let proof = of("Bank::Proof");
    assert_eq!((proof.default_index(), proof.member_label(0)), (Some(1), Some(0)));
    let fee = of("Bank::Fee");
    assert_eq!((fee.type_modifier(), fee.member_count()), (Some(3), Some(1)));
    assert_eq!(fee.concrete_base_type().unwrap(), of("Bank::Amount"));
    assert_eq!(of("Bank::Idea").type_modifier(), Some(2));
    assert_eq!(of("Bank::Printable").kind(), TCKind::AbstractInterface);
    assert_eq!(of("Bank::Here").kind(), TCKind::LocalInterface);
    assert_eq!(of("Bank::Flags").unaliased().kind(), TCKind::ULong);
    assert_eq!(of("Bank::Label").kind(), TCKind::ValueBox);
    let Content::Constant { value } = &repository.named("Bank::LIMIT").unwrap().content else { panic!() };
    assert_eq!(value.get::<i32>().unwrap(), 5);
}

fn check_account(account: &Interface, repository: &Repository) {
    assert_eq!((&*account.id, &*account.name), ("IDL:acme.com/Bank/Account:1.0", "Bank::Account"));
    assert_eq!(account.bases, ["IDL:acme.com/Bank/Named:1.0"]);
    assert!(account.is_a("IDL:acme.com/Bank/Named:1.0") && account.is_a("IDL:omg.org/CORBA/Object:1.0"));
    assert!(!account.is_a("IDL:acme.com/Bank/Savings:1.0"));
    let mut names: Vec<&str> = account.operations().iter().map(|it| &*it.operation).collect();
    names.sort_unstable();
    assert_eq!(names, ["_get_balance", "_get_name", "_set_balance", "entries", "hint", "tagged"]);
    let history = account.operation("entries").unwrap();
    let modes: Vec<Mode> = history.parameters.iter().map(|it| it.mode).collect();
    assert_eq!(modes, [Mode::In, Mode::InOut, Mode::Out]);
    assert_eq!(history.result, repository.type_named("Bank::History").unwrap());
    assert!(account.operation("hint").unwrap().oneway);
    let raises = |name: &str| {
        let signature = account.operation(name).unwrap();
        signature.raises.iter().map(|it| it.name().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(raises("_get_balance"), ["Closed"]);
    assert_eq!(raises("_set_balance"), ["Overdrawn", "Closed"]);
    assert!(account.operation("_is_a").is_some() && account.operation("accrue").is_none());
}

#[test]
fn interfaces_have_what_they_inherit() {
    let repository = repository();
    check_account(&repository.interface("Bank::Account").unwrap(), &repository);
    let savings = repository.interface("IDL:acme.com/Bank/Savings:1.0").unwrap();
    assert_eq!(savings.ancestors, ["IDL:acme.com/Bank/Account:1.0", "IDL:acme.com/Bank/Named:1.0"]);
    assert!(savings.operation("_get_name").is_some());
    assert!(repository.interface("Bank::Entry").is_none());
    assert!(repository.is_a("IDL:acme.com/Bank/Fee:1.0", "IDL:acme.com/Bank/Named:1.0"));
}

#[test]
fn files_that_share_an_include_give_it_once() {
    let common = "interface Base { void f(); }; interface Later;";
    let one = "#include \"common.idl\"\ninterface One : Base {};";
    let two = "#include \"common.idl\"\ninterface Later { void g(); }; interface Two : Base, Later {};";
    let files = Memory::new([("common.idl", common), ("one.idl", one), ("two.idl", two)]);
    let mut repository = Repository::new();
    for file in ["one.idl", "two.idl"] {
        let model = compile(&files, file, &Options::default());
        repository.add(&model.unwrap_or_else(|wrong| panic!("{}", wrong.render(false)))).unwrap();
    }
    let names: Vec<&str> = repository.definitions().iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["Base", "f", "Later", "One", "g", "Two"]);
    let two = repository.interface("Two").unwrap();
    assert!(two.operation("f").is_some() && two.operation("g").is_some());
}

/// Served by one ORB, and read by another over a socket.
struct World {
    _server: Orb,
    _client: Orb,
    served: CORBA::Repository,
    repository: Arc<Repository>,
}

impl World {
    fn new() -> World {
        let server = Orb::builder().listen("tcp:127.0.0.1:0").build();
        let repository = Arc::new(repository());
        let served = ifr::serve(&server, repository.clone()).unwrap();
        let client = Orb::builder().build();
        let served = client.string_to_object(&served.to_string()).unwrap().unwrap();
        let served = CORBA::Repository::narrow(&served).unwrap().unwrap();
        World { _server: server, _client: client, served, repository }
    }

    fn find<I: zorb_orb::Interface>(&self, name: &str) -> I {
        let found = self.served.lookup(name).unwrap().unwrap_or_else(|| panic!("no {name}"));
        I::narrow(found.as_object()).unwrap().unwrap_or_else(|| panic!("{name} is something else"))
    }
}

fn names(found: &[Option<CORBA::Contained>]) -> Vec<String> {
    found.iter().map(|it| it.as_ref().unwrap().name().unwrap()).collect()
}

#[test]
fn what_is_served_is_read_back() {
    let world = World::new();
    let found = ifr::lookup(world.served.as_object(), "IDL:acme.com/Bank/Account:1.0").unwrap().unwrap();
    check_account(&ifr::interface(&found).unwrap().unwrap(), &world.repository);
    assert_eq!(ifr::lookup(world.served.as_object(), "::Bank::Account").unwrap().unwrap(), found);
    assert_eq!(ifr::lookup(world.served.as_object(), "Bank::Nobody").unwrap(), None);
    assert_eq!(ifr::lookup(world.served.as_object(), "IDL:Nobody:1.0").unwrap(), None);
    let entry = ifr::lookup(world.served.as_object(), "Bank::Entry").unwrap().unwrap();
    assert!(ifr::interface(&entry).unwrap().is_none());
    assert_eq!(ifr::lookup(&entry, "Bank").unwrap_err().kind, Kind::InvObjref);

    let mut learnt = Repository::new();
    learnt.learn(&ifr::interface(&found).unwrap().unwrap());
    assert_eq!(
        learnt.type_named("Bank::Entry").unwrap(),
        world.repository.type_named("Bank::Entry").unwrap()
    );
}

#[test]
fn containers_are_searched() {
    let world = World::new();
    let bank: CORBA::ModuleDef = world.find("Bank");
    assert_eq!(bank.absolute_name().unwrap(), "::Bank");
    assert_eq!(
        names(&bank.contents(DefinitionKind::dk_Interface, true).unwrap()),
        ["Named", "Account", "Savings"]
    );
    assert_eq!(names(&bank.contents(DefinitionKind::dk_Value, true).unwrap()), ["Amount", "Fee", "Idea"]);
    let typedefs = names(&bank.contents(DefinitionKind::dk_Typedef, true).unwrap());
    assert_eq!(
        typedefs,
        ["Money", "Currency", "Entry", "History", "Node", "Proof", "Cookie", "Flags", "Label"]
    );
    let savings: CORBA::InterfaceDef = world.find("Bank::Savings");
    assert_eq!(names(&savings.contents(DefinitionKind::dk_all, true).unwrap()), ["accrue"]);
    let all = names(&savings.contents(DefinitionKind::dk_all, false).unwrap());
    assert_eq!(all, ["accrue", "balance", "entries", "hint", "tagged", "Closed", "name"]);

    let search =
        |levels| names(&world.served.lookup_name("name", levels, DefinitionKind::dk_all, true).unwrap());
    assert_eq!((search(-1).len(), search(2).len(), search(3).len()), (1, 0, 1));
    // From an interface inherited names are found, too.
    assert!(savings.lookup("Closed").unwrap().is_some());
    assert!(savings.lookup("::Bank::Node").unwrap().is_some());
    assert!(savings.lookup("Node").unwrap().is_none());

    let described = bank.describe_contents(DefinitionKind::dk_all, true, 3).unwrap();
    assert_eq!(described.len(), 3);
    assert_eq!(described[0].kind, DefinitionKind::dk_Constant);
    let limit: CORBA::ConstantDescription = described[0].value.get().unwrap();
    assert_eq!((&*limit.name, limit.value.get::<i32>().unwrap()), ("LIMIT", 5));
    let account: CORBA::Contained = world.find("Bank::Account");
    let within = account.defined_in().unwrap().unwrap();
    assert_eq!(within.def_kind().unwrap(), DefinitionKind::dk_Module);
    assert!(account.containing_repository().unwrap().unwrap().is_equivalent(world.served.as_object()));
}

#[test]
fn every_definition_describes_itself() {
    let world = World::new();
    for definition in world.repository.definitions() {
        let found = world.served.lookup_id(&definition.id).unwrap();
        let found = found.unwrap_or_else(|| panic!("no {}", definition.id));
        assert_eq!(found.id().unwrap(), definition.id);
        assert_eq!(found.name().unwrap(), definition.name);
        assert_eq!(found.version().unwrap(), "1.0");
        assert_eq!(found.absolute_name().unwrap(), format!("::{}", definition.scoped_name));
        let described = found.describe().unwrap();
        assert_eq!(described.kind, found.def_kind().unwrap(), "{}", definition.id);
        assert_eq!(described.value.type_code().kind(), TCKind::Struct, "{}", definition.id);
        if let Some(ty) = definition.type_code()
            && ty.kind() != TCKind::Except
        {
            let object = CORBA::IDLType::narrow(found.as_object()).unwrap().unwrap();
            assert_eq!(&object.r#type().unwrap(), ty, "{}", definition.id);
        }
    }
}

#[test]
fn types_lead_to_the_types_they_are_made_of() {
    let world = World::new();
    let entry: CORBA::StructDef = world.find("Bank::Entry");
    let members = entry.members().unwrap();
    let kind = |at: usize| members[at].type_def.as_ref().unwrap().def_kind().unwrap();
    assert_eq!(
        (kind(0), kind(1), kind(2)),
        (DefinitionKind::dk_Alias, DefinitionKind::dk_Enum, DefinitionKind::dk_Sequence)
    );
    let tags =
        CORBA::SequenceDef::narrow(members[2].type_def.as_ref().unwrap().as_object()).unwrap().unwrap();
    assert_eq!(tags.bound().unwrap(), 4);
    assert_eq!(tags.element_type().unwrap(), i32::type_code());
    let element = tags.element_type_def().unwrap().unwrap();
    let element = CORBA::PrimitiveDef::narrow(element.as_object()).unwrap().unwrap();
    assert_eq!(element.kind().unwrap(), PrimitiveKind::pk_long);

    let money: CORBA::AliasDef = world.find("Bank::Money");
    let fixed = money.original_type_def().unwrap().unwrap();
    let fixed = CORBA::FixedDef::narrow(fixed.as_object()).unwrap().unwrap();
    assert_eq!((fixed.digits().unwrap(), fixed.scale().unwrap()), (9, 2));

    let proof: CORBA::UnionDef = world.find("Bank::Proof");
    let members = proof.members().unwrap();
    let label: u8 = members[1].label.get().unwrap();
    assert_eq!((&*members[0].name, &*members[1].name, label), ("code", "tree", 0));
    assert_eq!(members[0].label.type_code(), &world.repository.type_named("Bank::Currency").unwrap());
    let code = members[0].type_def.as_ref().unwrap();
    let code = CORBA::StringDef::narrow(code.as_object()).unwrap().unwrap();
    assert_eq!(code.bound().unwrap(), 8);
    assert_eq!(world.find::<CORBA::EnumDef>("Bank::Currency").members().unwrap(), ["EUR", "USD"]);

    let balance: CORBA::ExtAttributeDef = world.find("Bank::Account::balance");
    assert_eq!(balance.set_exceptions().unwrap().len(), 2);
    let history: CORBA::OperationDef = world.find("Bank::Account::entries");
    assert_eq!(history.params().unwrap().len(), 3);
    assert_eq!(history.exceptions().unwrap()[0].as_ref().unwrap().name().unwrap(), "Closed");
    assert_eq!(world.find::<CORBA::OperationDef>("Bank::Account::tagged").contexts().unwrap(), ["tag"]);
    // Whoever reads it makes requests that end in the clause's properties.
    let account: CORBA::InterfaceDef = world.find("Bank::Account");
    let read = ifr::interface(account.as_object()).unwrap().unwrap();
    assert_eq!(read.operation("tagged").unwrap().contexts, ["tag"]);
    assert_eq!(
        world.repository.interface("Bank::Account").unwrap().operation("tagged").unwrap().contexts,
        ["tag"]
    );

    for number in 0..22 {
        let kind = PrimitiveKind::type_code().member_name(number).unwrap().to_owned();
        let kind = Any::with_type_code(PrimitiveKind::type_code(), &(number as u32))
            .unwrap()
            .get()
            .unwrap_or_else(|error| panic!("{kind}: {error}"));
        let primitive = world.served.get_primitive(kind).unwrap().unwrap();
        assert_eq!(primitive.kind().unwrap(), kind);
        assert_eq!(primitive.def_kind().unwrap(), DefinitionKind::dk_Primitive);
    }
}

#[test]
fn values_are_described() {
    let world = World::new();
    let fee: CORBA::ValueDef = world.find("Bank::Fee");
    assert!(fee.is_truncatable().unwrap() && !fee.is_custom().unwrap() && !fee.is_abstract().unwrap());
    assert!(world.find::<CORBA::ValueDef>("Bank::Idea").is_abstract().unwrap());
    assert_eq!(fee.base_value().unwrap().unwrap().name().unwrap(), "Amount");
    assert_eq!(fee.supported_interfaces().unwrap().len(), 1);
    assert!(fee.is_a("IDL:acme.com/Bank/Amount:1.0").unwrap());
    assert!(!fee.is_a("IDL:acme.com/Bank/Savings:1.0").unwrap());
    let amount: CORBA::ValueDef = world.find("Bank::Amount");
    let described = amount.describe_value().unwrap();
    let members: Vec<_> = described.members.iter().map(|it| (&*it.name, it.access)).collect();
    assert_eq!(members, [("units", CORBA::PUBLIC_MEMBER), ("note", CORBA::PRIVATE_MEMBER)]);
    assert_eq!((&*described.initializers[0].name, described.initializers[0].members.len()), ("make", 1));
    let note: CORBA::ValueMemberDef = world.find("Bank::Amount::note");
    assert_eq!((note.access().unwrap(), &*note.id().unwrap()), (0, "IDL:acme.com/Bank/Amount/note:1.0"));
    let described: CORBA::ValueMember =
        note.describe().unwrap().value.get_with(note.as_object().orb()).unwrap();
    assert_eq!(described.r#type, TypeCode::string(0));
}

#[test]
fn it_is_read_only_and_knows_what_it_has() {
    use zorb_orb::dynamic::{DynamicError, Request, Signature};
    let world = World::new();
    let refused = |object: &ObjectRef, operation: &str| {
        let request = Request::new(object, Arc::new(Signature::new(operation))).unwrap();
        match request.invoke(&[]) {
            Err(DynamicError::System(exception)) => exception.kind,
            other => panic!("{operation}: {other:?}"),
        }
    };
    let entry: CORBA::StructDef = world.find("Bank::Entry");
    for operation in ["destroy", "move", "_set_name", "_set_members", "create_struct", "create_string"] {
        assert_eq!(refused(entry.as_object(), operation), Kind::NoPermission, "{operation}");
    }
    for operation in ["describe_interface", "lookup_id", "_get_bound", "_get_kind", "nonsense"] {
        assert_eq!(refused(entry.as_object(), operation), Kind::BadOperation, "{operation}");
    }
    assert!(!entry.as_object().is_a("IDL:omg.org/CORBA/InterfaceDef:1.0").unwrap());
    let known = world.repository.type_named("Bank::Node").unwrap();
    assert_eq!(world.served.get_canonical_typecode(&known).unwrap(), known);
}

#[test]
fn an_orb_with_a_repository_describes_its_objects() {
    let orb = Orb::builder().listen("tcp:127.0.0.1:0").build();
    let served = ifr::serve(&orb, Arc::new(repository())).unwrap();
    // Its own objects are of interfaces that it was not given: it describes them all the same, beside its contents.
    let own = served.get_interface().unwrap().unwrap();
    let described = ifr::interface(&own).unwrap().unwrap();
    assert_eq!((&*described.name, &*described.id), ("CORBA::Repository", "IDL:omg.org/CORBA/Repository:1.0"));
    for operation in ["lookup_id", "get_primitive", "lookup", "contents", "_get_def_kind"] {
        assert!(described.operation(operation).is_some(), "{operation}");
    }
    // What describes is described, without end.
    let of_own = ifr::interface(&own.get_interface().unwrap().unwrap()).unwrap().unwrap();
    assert_eq!(of_own.id, own.type_id());
    assert!(of_own.operation("describe_interface").is_some());
    let typed = CORBA::Repository::narrow(&served).unwrap().unwrap();
    let names = typed.contents(DefinitionKind::dk_all, true).unwrap();
    let names: Vec<_> = names.iter().map(|it| it.as_ref().unwrap().name().unwrap()).collect();
    assert!(!names.is_empty() && !names.contains(&"CORBA".to_owned()), "{names:?}");
    for id in ["IDL:omg.org/CORBA/DefinitionKind:1.0", "IDL:omg.org/CORBA:1.0", "IDL:Nothing:1.0"] {
        assert!(typed.lookup_id(id).unwrap().is_none(), "{id}");
    }
    let own = own.orb().string_to_object(&own.to_string()).unwrap().unwrap();
    let own = CORBA::Contained::narrow(&own).unwrap().unwrap().containing_repository().unwrap().unwrap();
    assert!(own.lookup_id("IDL:omg.org/CORBA/InterfaceDef:1.0").unwrap().is_some());
    assert!(own.lookup_id("IDL:acme.com/Bank/Account:1.0").unwrap().is_none());
    let poa = orb.root_poa().unwrap();
    struct Nothing;
    impl zorb_orb::dynamic::DynamicServant for Nothing {
        fn repository_id(&self) -> &str {
            "IDL:acme.com/Bank/Account:1.0"
        }
        fn invoke(&self, request: zorb_orb::dynamic::DynamicRequest) {
            request.unknown_operation();
        }
    }
    let servant = zorb_orb::dynamic::dynamic_servant(Arc::new(Nothing));
    let account = poa.activate_servant(servant, "IDL:acme.com/Bank/Account:1.0").unwrap();
    poa.manager().activate().unwrap();
    let definition = account.get_interface().unwrap().unwrap();
    let interface = ifr::interface(&definition).unwrap().unwrap();
    assert_eq!(interface.name, "Bank::Account");
    assert!(ifr::serve(&orb, Arc::new(Repository::new())).is_err(), "one ORB serves one repository");
}
