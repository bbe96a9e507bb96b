// REPOSITORY OBJECT: all that an interface repository tells of itself to omniORB's own stubs, and what an object's server answers to
// _get_interface, as lines that ../jacorb's Repository prints too.

#define ENABLE_CLIENT_IR_SUPPORT
#include <iostream>
#include <sstream>
#include <string>
#include <omniORB4/CORBA.h>

using namespace CORBA;

namespace {

std::string ids(const RepositoryIdSeq& list) {
  std::string text;
  for (ULong i = 0; i < list.length(); i++) text += std::string(i ? " " : "") + static_cast<const char*>(list[i]);
  return text;
}

std::string type(TypeCode_ptr of) {
  std::ostringstream out;
  out << of->kind();
  switch (of->kind()) {
    case tk_string: case tk_wstring: out << '<' << of->length() << '>'; break;
    case tk_fixed: out << '<' << of->fixed_digits() << ',' << of->fixed_scale() << '>'; break;
    case tk_sequence: case tk_array: {
      TypeCode_var element = of->content_type();
      out << '<' << type(element) << ',' << of->length() << '>';
      break;
    }
    case tk_objref: case tk_struct: case tk_union: case tk_enum: case tk_alias: case tk_except: case tk_value: case tk_value_box:
    case tk_native: case tk_abstract_interface: case tk_local_interface:
      out << ' ' << of->id();
      break;
    default: break;
  }
  return out.str();
}

std::string value(const Any& any) {
  TypeCode_var of = any.type();
  std::ostringstream out;
  out << type(of);
  Long number;
  const char* text;
  Octet octet;
  if (any >>= number) out << ' ' << number;
  else if (any >>= text) out << ' ' << text;
  else if (any >>= Any::to_octet(octet)) out << ' ' << int(octet);
  return out.str();
}

std::string kind(IRObject_ptr of) { return is_nil(of) ? "nil" : std::to_string(of->def_kind()); }

void line(const std::string& text) { std::cout << "  " << text << '\n'; }

void members(const StructMemberSeq& list) {
  for (ULong i = 0; i < list.length(); i++)
    line("member " + std::string(list[i].name) + ' ' + type(list[i].type) + " of " + kind(list[i].type_def));
}

template <class T> T* extracted(const Any& any) {
  const T* found;
  if (!(any >>= found)) throw std::string("a description is not of its kind: ") + value(any);
  return const_cast<T*>(found);
}

void interface(InterfaceDef_ptr of) {
  InterfaceDef::FullInterfaceDescription_var it = of->describe_interface();
  line("interface " + type(it->type) + " : " + ids(it->base_interfaces));
  for (ULong i = 0; i < it->operations.length(); i++) line("has " + std::string(it->operations[i].id));
  for (ULong i = 0; i < it->attributes.length(); i++) line("has " + std::string(it->attributes[i].id));
  InterfaceDefSeq_var bases = of->base_interfaces();
  for (ULong i = 0; i < bases->length(); i++) {
    String_var id = bases[i]->id();
    line("base " + std::string(id));
  }
}

void valuetype(ValueDef_ptr of) {
  ValueDef::FullValueDescription_var it = of->describe_value();
  std::ostringstream out;
  out << "value " << type(it->type) << ' ' << int(it->is_abstract) << int(it->is_custom) << int(it->is_truncatable) << " : "
      << it->base_value << " / " << ids(it->abstract_base_values) << " / " << ids(it->supported_interfaces);
  line(out.str());
  for (ULong i = 0; i < it->members.length(); i++)
    line("state " + std::string(it->members[i].id) + ' ' + type(it->members[i].type) + ' ' + std::to_string(it->members[i].access));
  for (ULong i = 0; i < it->initializers.length(); i++) {
    line("factory " + std::string(it->initializers[i].name));
    members(it->initializers[i].members);
  }
  line("has " + std::to_string(it->operations.length()) + " operations, " + std::to_string(it->attributes.length()) + " attributes");
}

void details(Contained_ptr of) {
  Contained::Description_var described = of->describe();
  TypeCode_var form = described->value.type();
  line("described as " + std::to_string(described->kind) + ' ' + type(form));
  switch (described->kind) {
    case dk_Constant: {
      ConstantDescription* it = extracted<ConstantDescription>(described->value);
      line("constant " + type(it->type) + " = " + value(it->value));
      break;
    }
    case dk_Operation: {
      OperationDescription* it = extracted<OperationDescription>(described->value);
      line("operation " + std::to_string(it->mode) + ' ' + type(it->result));
      for (ULong i = 0; i < it->parameters.length(); i++) {
        const ParameterDescription& parameter = it->parameters[i];
        line("parameter " + std::to_string(parameter.mode) + ' ' + type(parameter.type) + ' ' + std::string(parameter.name) + " of " +
             kind(parameter.type_def));
      }
      for (ULong i = 0; i < it->exceptions.length(); i++)
        line("raises " + std::string(it->exceptions[i].id) + ' ' + type(it->exceptions[i].type));
      for (ULong i = 0; i < it->contexts.length(); i++) line("context " + std::string(it->contexts[i]));
      break;
    }
    case dk_Attribute: {
      AttributeDescription* it = extracted<AttributeDescription>(described->value);
      line("attribute " + std::to_string(it->mode) + ' ' + type(it->type));
      break;
    }
    case dk_Exception: {
      ExceptionDef_var it = ExceptionDef::_narrow(of);
      TypeCode_var own = it->type();
      line("exception " + type(own));
      StructMemberSeq_var list = it->members();
      members(list);
      break;
    }
    case dk_Struct: {
      StructDef_var it = StructDef::_narrow(of);
      StructMemberSeq_var list = it->members();
      members(list);
      break;
    }
    case dk_Union: {
      UnionDef_var it = UnionDef::_narrow(of);
      TypeCode_var by = it->discriminator_type();
      IDLType_var by_def = it->discriminator_type_def();
      line("switch " + type(by) + " of " + kind(by_def));
      UnionMemberSeq_var list = it->members();
      for (ULong i = 0; i < list->length(); i++)
        line("case " + value(list[i].label) + ": " + type(list[i].type) + ' ' + std::string(list[i].name));
      break;
    }
    case dk_Enum: {
      EnumDef_var it = EnumDef::_narrow(of);
      EnumMemberSeq_var list = it->members();
      for (ULong i = 0; i < list->length(); i++) line("enumerator " + std::string(list[i]));
      break;
    }
    case dk_Alias: {
      AliasDef_var it = AliasDef::_narrow(of);
      IDLType_var original = it->original_type_def();
      TypeCode_var of = original->type();
      line("alias of " + kind(original) + ' ' + type(of));
      break;
    }
    case dk_Interface: case dk_AbstractInterface: {
      InterfaceDef_var it = InterfaceDef::_narrow(of);
      interface(it);
      break;
    }
    case dk_Value: {
      ValueDef_var it = ValueDef::_narrow(of);
      valuetype(it);
      break;
    }
    case dk_ValueBox: {
      ValueBoxDef_var it = ValueBoxDef::_narrow(of);
      IDLType_var original = it->original_type_def();
      line("box of " + kind(original));
      break;
    }
    case dk_ValueMember: {
      ValueMember* it = extracted<ValueMember>(described->value);
      line("member " + type(it->type) + ' ' + std::to_string(it->access));
      break;
    }
    default: break;
  }
}

void all(Container_ptr of) {
  ContainedSeq_var found = of->contents(dk_all, true);
  for (ULong i = 0; i < found->length(); i++) {
    Contained_ptr it = found[i];
    String_var id = it->id(), name = it->name(), version = it->version(), absolute = it->absolute_name();
    Container_var parent = it->defined_in();
    Contained_var within = Contained::_narrow(parent);
    std::string where = "-";
    if (!is_nil(within)) { String_var id = within->id(); where = id; }
    std::cout << it->def_kind() << ' ' << id << ' ' << name << ' ' << version << ' ' << absolute << " in " << where << '\n';
    details(it);
    const DefinitionKind kind = it->def_kind();
    if (kind == dk_Module || kind == dk_Interface || kind == dk_AbstractInterface || kind == dk_Value) {
      Container_var inner = Container::_narrow(it);
      all(inner);
    }
  }
}

std::string named(Contained_ptr of) {
  if (is_nil(of)) return "nil";
  String_var name = of->absolute_name();
  return static_cast<const char*>(name);
}

void searches(Repository_ptr repository) {
  std::cout << "searches\n";
  Contained_var account = repository->lookup("::Bank::Account");
  Contained_var nothing = repository->lookup("Bank::Nothing");
  line("lookup " + named(account) + ' ' + named(nothing));
  account = repository->lookup_id("IDL:acme.com/Bank/Account:1.0");
  nothing = repository->lookup_id("IDL:acme.com/Bank/Nothing:1.0");
  line("lookup_id " + named(account) + ' ' + named(nothing));
  ContainedSeq_var found = repository->lookup_name("name", -1, dk_all, true);
  for (ULong i = 0; i < found->length(); i++) line("lookup_name " + named(found[i]));
  Contained_var module = repository->lookup("Bank");
  ModuleDef_var bank = ModuleDef::_narrow(module);
  Container::DescriptionSeq_var described = bank->describe_contents(dk_all, true, 3);
  for (ULong i = 0; i < described->length(); i++)
    line("describe_contents " + std::to_string(described[i].kind) + ' ' + named(described[i].contained_object) + ' ' + kind(described[i].contained_object));
  ContainedSeq_var interfaces = bank->contents(dk_Interface, true);
  line("interfaces " + std::to_string(interfaces->length()));
  PrimitiveDef_var primitive = repository->get_primitive(pk_long);
  TypeCode_var of = primitive->type();
  line("primitive " + std::to_string(primitive->kind()) + ' ' + type(of));
  InterfaceDef_var it = InterfaceDef::_narrow(account);
  line("is_a " + std::to_string(int(it->is_a("IDL:acme.com/Bank/Named:1.0"))) + std::to_string(int(it->is_a("IDL:acme.com/Bank/Entry:1.0"))));
  ContainedSeq_var inherited = it->contents(dk_Attribute, false);
  for (ULong i = 0; i < inherited->length(); i++) line("inherits " + named(inherited[i]));
  Contained_var entry = repository->lookup("::Bank::Entry");
  StructDef_var entry_def = StructDef::_narrow(entry);
  of = entry_def->type();
  TypeCode_var canonical = repository->get_canonical_typecode(of);
  line("canonical " + std::to_string(int(canonical->equal(of))));
  try {
    entry->destroy();
    line("destroyed");
  } catch (const NO_PERMISSION&) {
    line("destroy is refused");
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    ORB_var orb = ORB_init(argc, argv);
    if (argc < 3) throw std::string("usage: repository REPOSITORY OBJECT");
    Object_var object = orb->string_to_object(argv[1]);
    Repository_var repository = Repository::_narrow(object);
    if (is_nil(repository)) throw std::string("the first reference is no repository");
    std::cout << "repository " << repository->def_kind() << '\n';
    all(repository);
    searches(repository);
    object = orb->string_to_object(argv[2]);
    InterfaceDef_var of = object->_get_interface();
    if (is_nil(of)) throw std::string("_get_interface gave nil");
    String_var id = of->id();
    std::cout << "_get_interface " << id << '\n';
    interface(of);
    orb->destroy();
    return 0;
  } catch (Exception& raised) {
    std::cerr << "raised " << raised._name();
    if (const SystemException* it = SystemException::_downcast(&raised)) std::cerr << " minor " << it->NP_minorString();
    std::cerr << std::endl;
  } catch (const std::string& wrong) {
    std::cerr << wrong << '\n';
  }
  return 1;
}
