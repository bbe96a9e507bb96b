import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.util.Properties;
import org.omg.CORBA.*;
import org.omg.CORBA.InterfaceDefPackage.FullInterfaceDescription;
import org.omg.CORBA.TypeCodePackage.BadKind;
import org.omg.CORBA.ValueDefPackage.FullValueDescription;

/**
 * {@code Repository REPOSITORY OBJECT}: all that an interface repository tells of itself to JacORB's own stubs, and what an object's
 * server answers to {@code _get_interface}, as lines that omniorb.cc prints too.
 */
public final class Repository {
    private static PrintStream out;

    private Repository() {}

    private static String type(TypeCode of) throws Exception {
        int kind = of.kind().value();
        switch (kind) {
            case TCKind._tk_string: case TCKind._tk_wstring: return kind + "<" + of.length() + ">";
            case TCKind._tk_fixed: return kind + "<" + of.fixed_digits() + "," + of.fixed_scale() + ">";
            case TCKind._tk_sequence: case TCKind._tk_array:
                return kind + "<" + type(of.content_type()) + "," + of.length() + ">";
            default:
        }
        try {
            return kind + " " + of.id();
        } catch (BadKind none) {
            return String.valueOf(kind);
        }
    }

    private static String value(Any any) throws Exception {
        String text = type(any.type());
        switch (any.type().kind().value()) {
            case TCKind._tk_long: return text + " " + any.extract_long();
            case TCKind._tk_string: return text + " " + any.extract_string();
            case TCKind._tk_octet: return text + " " + any.extract_octet();
            default: return text;
        }
    }

    private static String kind(IRObject of) { return of == null ? "nil" : String.valueOf(of.def_kind().value()); }

    private static void line(String text) { out.println("  " + text); }

    private static void members(StructMember[] list) throws Exception {
        for (StructMember it : list) line("member " + it.name + " " + type(it.type) + " of " + kind(it.type_def));
    }

    private static void described(InterfaceDef of) throws Exception {
        FullInterfaceDescription it = of.describe_interface();
        line("interface " + type(it.type) + " : " + String.join(" ", it.base_interfaces));
        for (OperationDescription operation : it.operations) line("has " + operation.id);
        for (AttributeDescription attribute : it.attributes) line("has " + attribute.id);
        for (InterfaceDef base : of.base_interfaces()) line("base " + base.id());
    }

    private static int bit(boolean value) { return value ? 1 : 0; }

    private static void valuetype(ValueDef of) throws Exception {
        FullValueDescription it = of.describe_value();
        line("value " + type(it.type) + " " + bit(it.is_abstract) + bit(it.is_custom) + bit(it.is_truncatable) + " : "
            + it.base_value + " / " + String.join(" ", it.abstract_base_values) + " / "
            + String.join(" ", it.supported_interfaces));
        for (ValueMember member : it.members) line("state " + member.id + " " + type(member.type) + " " + member.access);
        for (Initializer initializer : it.initializers) {
            line("factory " + initializer.name);
            members(initializer.members);
        }
        line("has " + it.operations.length + " operations, " + it.attributes.length + " attributes");
    }

    private static void details(Contained of) throws Exception {
        org.omg.CORBA.ContainedPackage.Description described = of.describe();
        line("described as " + described.kind.value() + " " + type(described.value.type()));
        switch (described.kind.value()) {
            case DefinitionKind._dk_Constant: {
                ConstantDescription it = ConstantDescriptionHelper.extract(described.value);
                line("constant " + type(it.type) + " = " + value(it.value));
                break;
            }
            case DefinitionKind._dk_Operation: {
                OperationDescription it = OperationDescriptionHelper.extract(described.value);
                line("operation " + it.mode.value() + " " + type(it.result));
                for (ParameterDescription parameter : it.parameters)
                    line("parameter " + parameter.mode.value() + " " + type(parameter.type) + " " + parameter.name + " of "
                        + kind(parameter.type_def));
                for (ExceptionDescription raised : it.exceptions) line("raises " + raised.id + " " + type(raised.type));
                for (String context : it.contexts) line("context " + context);
                break;
            }
            case DefinitionKind._dk_Attribute: {
                AttributeDescription it = AttributeDescriptionHelper.extract(described.value);
                line("attribute " + it.mode.value() + " " + type(it.type));
                break;
            }
            case DefinitionKind._dk_Exception: {
                ExceptionDef it = ExceptionDefHelper.narrow(of);
                line("exception " + type(it.type()));
                members(it.members());
                break;
            }
            case DefinitionKind._dk_Struct: members(StructDefHelper.narrow(of).members()); break;
            case DefinitionKind._dk_Union: {
                UnionDef it = UnionDefHelper.narrow(of);
                line("switch " + type(it.discriminator_type()) + " of " + kind(it.discriminator_type_def()));
                for (UnionMember member : it.members())
                    line("case " + value(member.label) + ": " + type(member.type) + " " + member.name);
                break;
            }
            case DefinitionKind._dk_Enum:
                for (String name : EnumDefHelper.narrow(of).members()) line("enumerator " + name);
                break;
            case DefinitionKind._dk_Alias: {
                IDLType original = AliasDefHelper.narrow(of).original_type_def();
                line("alias of " + kind(original) + " " + type(original.type()));
                break;
            }
            case DefinitionKind._dk_Interface:
            case DefinitionKind._dk_AbstractInterface:
            case DefinitionKind._dk_LocalInterface: described(InterfaceDefHelper.narrow(of)); break;
            case DefinitionKind._dk_Value: valuetype(ValueDefHelper.narrow(of)); break;
            case DefinitionKind._dk_ValueBox:
                line("box of " + kind(ValueBoxDefHelper.narrow(of).original_type_def()));
                break;
            case DefinitionKind._dk_ValueMember: {
                ValueMember it = ValueMemberHelper.extract(described.value);
                line("member " + type(it.type) + " " + it.access);
                break;
            }
            default:
        }
    }

    private static void all(Container of) throws Exception {
        for (Contained it : of.contents(DefinitionKind.dk_all, true)) {
            Container parent = it.defined_in();
            boolean outermost = parent.def_kind().value() == DefinitionKind._dk_Repository;
            out.println(it.def_kind().value() + " " + it.id() + " " + it.name() + " " + it.version() + " " + it.absolute_name() + " in "
                + (outermost ? "-" : ContainedHelper.narrow(parent).id()));
            details(it);
            switch (it.def_kind().value()) {
                case DefinitionKind._dk_Module:
                case DefinitionKind._dk_Interface:
                case DefinitionKind._dk_AbstractInterface:
                case DefinitionKind._dk_LocalInterface:
                case DefinitionKind._dk_Value: all(ContainerHelper.narrow(it)); break;
                default:
            }
        }
    }

    private static String named(Contained of) { return of == null ? "nil" : of.absolute_name(); }

    private static void searches(org.omg.CORBA.Repository repository) throws Exception {
        out.println("searches");
        Contained account = repository.lookup("::Bank::Account");
        line("lookup " + named(account) + " " + named(repository.lookup("Bank::Nothing")));
        account = repository.lookup_id("IDL:acme.com/Bank/Account:1.0");
        line("lookup_id " + named(account) + " " + named(repository.lookup_id("IDL:acme.com/Bank/Nothing:1.0")));
        for (Contained it : repository.lookup_name("name", -1, DefinitionKind.dk_all, true)) line("lookup_name " + named(it));
        ModuleDef bank = ModuleDefHelper.narrow(repository.lookup("Bank"));
        for (org.omg.CORBA.ContainerPackage.Description it : bank.describe_contents(DefinitionKind.dk_all, true, 3))
            line("describe_contents " + it.kind.value() + " " + named(it.contained_object) + " " + kind(it.contained_object));
        line("interfaces " + bank.contents(DefinitionKind.dk_Interface, true).length);
        PrimitiveDef primitive = repository.get_primitive(PrimitiveKind.pk_long);
        line("primitive " + primitive.kind().value() + " " + type(primitive.type()));
        InterfaceDef it = InterfaceDefHelper.narrow(account);
        line("is_a " + bit(it.is_a("IDL:acme.com/Bank/Named:1.0")) + bit(it.is_a("IDL:acme.com/Bank/Entry:1.0")));
        for (Contained inherited : it.contents(DefinitionKind.dk_Attribute, false)) line("inherits " + named(inherited));
        Contained entry = repository.lookup("::Bank::Entry");
        TypeCode of = StructDefHelper.narrow(entry).type();
        line("canonical " + bit(repository.get_canonical_typecode(of).equal(of)));
        try {
            entry.destroy();
            line("destroyed");
        } catch (NO_PERMISSION refused) {
            line("destroy is refused");
        }
    }

    public static void main(String[] words) throws Exception {
        out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, "UTF-8");
        Properties properties = new Properties();
        properties.put("org.omg.CORBA.ORBClass", "org.jacorb.orb.ORB");
        properties.put("org.omg.CORBA.ORBSingletonClass", "org.jacorb.orb.ORBSingleton");
        ORB orb = ORB.init(new String[0], properties);
        org.omg.CORBA.Repository repository = RepositoryHelper.narrow(orb.string_to_object(words[0]));
        out.println("repository " + repository.def_kind().value());
        all(repository);
        searches(repository);
        InterfaceDef of = InterfaceDefHelper.narrow(orb.string_to_object(words[1])._get_interface_def());
        out.println("_get_interface " + of.id());
        described(of);
        System.exit(0);
    }
}
