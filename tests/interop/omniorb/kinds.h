// The anys of ../cases.md by name: made, and extracted as text.

#pragma once

#include "graphs.h"

namespace kinds {

using namespace beyond;
using CORBA::Any;

inline const char* const NAMES[] = {
    "null", "void", "short", "ushort", "long", "ulong", "longlong", "ulonglong", "float", "double", "char", "octet", "boolean",
    "string", "brief", "wchar", "wstring", "wide_brief", "colour", "pair", "tree", "expression", "oops", "longs", "briefs", "grid",
    "height", "money", "any", "any_seq", "type", "object", "nil", "leaf", "null_value", "shared", "ring", "marked", "derived",
    "holder", "box_text", "box_longs", "box_pair", "box_long", "named_value", "named_object", "choice", "tangle", "mixture"};

// Types that have no any here, beside those.
inline const char* const TYPES[] = {"heavier", "firm", "circle", "square", "shape", "values", "tangled", "distance"};

inline bool is_wide(const std::string& name) { return name[0] == 'w'; }

// What not every peer can put in an any, or take out of one: any/sequence does without.
inline bool is_apart(const std::string& name) {
  return name == "oops" || name == "null_value" || name == "nil" || name == "holder" || name == "marked" || name == "tangle" || name == "named_object" || name.substr(0, 4) == "box_";
}

inline void tree(Tree& x) {
  x.number = 1;
  x.children.length(2);
  x.children[0].number = 2;
  x.children[1].number = 3;
  x.children[1].children.length(1);
  x.children[1].children[0].number = 4;
}
inline void expression(Expression& x) {
  Expression::_parts_seq parts;
  parts.length(3);
  parts[0].number(0.5);
  parts[1].name("x");
  Expression::_parts_seq none;
  parts[2].parts(none);
  x.parts(parts);
}
inline void briefs(Briefs& x) {
  x.length(2);
  x[0] = CORBA::string_dup("a");
  x[1] = CORBA::string_dup("bcdef");
}
inline CORBA::Fixed money() { return CORBA::Fixed("1234567.89"); }

inline beyond::Holder* holder() {
  auto* made = new OBV_beyond::Holder;
  made->text(new BoxedText("boxed"));
  LongSeq numbers;
  numbers.length(2);
  numbers[0] = 5;
  numbers[1] = -6;
  made->numbers(new BoxedLongs(numbers));
  made->both(new BoxedPair(Pair{7, -8}));
  made->single(new BoxedLong(9));
  made->link(graphs::graph(6));
  beyond::Leaf* thing = graphs::leaf(7, "leaf");
  auto* square = new graphs::Square;
  square->corner(thing);
  square->side(4);
  made->figure(square);
  made->thing(thing);
  return made;
}

inline void tangle(Tangle& x) {
  Node* shared = graphs::node(1);
  x.lead = 1;
  x.first = graphs::node(2, shared);
  x.text = "text";
  x.second = shared;
  CORBA::add_ref(shared);
  x.rest = graphs::seq({shared, nullptr, x.first});
}

// The any of that name; `object` is what "object" and "named_object" hold.
inline Any make(const std::string& name, NamedObject_ptr object) {
  Any a;
  if (name == "null") {}
  else if (name == "void") a.replace(CORBA::_tc_void, (void*)0);
  else if (name == "short") a <<= CORBA::Short(-2);
  else if (name == "ushort") a <<= CORBA::UShort(65535);
  else if (name == "long") a <<= CORBA::Long(-70000);
  else if (name == "ulong") a <<= CORBA::ULong(4000000000u);
  else if (name == "longlong") a <<= CORBA::LongLong(-5000000000);
  else if (name == "ulonglong") a <<= CORBA::ULongLong(18446744073709551615u);
  else if (name == "float") a <<= CORBA::Float(1.5);
  else if (name == "double") a <<= CORBA::Double(-2.25);
  else if (name == "char") a <<= Any::from_char('z');
  else if (name == "octet") a <<= Any::from_octet(200);
  else if (name == "boolean") a <<= Any::from_boolean(true);
  else if (name == "string") a <<= "text";
  else if (name == "brief") { a <<= Any::from_string((char*)"brief", 5); a.type(_tc_Brief); }
  else if (name == "wchar") a <<= Any::from_wchar(0x436);
  else if (name == "wstring") { CORBA::WChar text[] = {0x436, 0x416, 0}; a <<= text; }
  else if (name == "wide_brief") { CORBA::WChar text[] = {0x41, 0x20ac, 0}; a <<= Any::from_wstring(text, 5); a.type(_tc_WideBrief); }
  else if (name == "colour") a <<= green;
  else if (name == "pair") a <<= Pair{1, -1};
  else if (name == "tree") { Tree x; tree(x); a <<= x; }
  else if (name == "expression") { Expression x; expression(x); a <<= x; }
  else if (name == "oops") a <<= Oops("why", 9);
  else if (name == "longs") { LongSeq x; x.length(3); for (int i = 0; i < 3; ++i) x[i] = i + 1; a <<= x; }
  else if (name == "briefs") { Briefs x; briefs(x); a <<= x; }
  else if (name == "grid") { Grid x = {{1, 2, 3}, {4, 5, 6}}; a <<= Grid_forany(x); }
  else if (name == "height") { a <<= Height(180); a.type(_tc_Height); }
  else if (name == "money") { a <<= Any::from_fixed(money(), 9, 2); a.type(_tc_Money); }
  else if (name == "any") { Any one, two; one <<= CORBA::Long(5); two <<= one; a <<= two; }
  else if (name == "any_seq") { AnySeq x; x.length(3); x[0] <<= CORBA::Long(1); x[1] <<= "two"; a <<= x; }
  else if (name == "type") a <<= _tc_Tree;
  else if (name == "object") { CORBA::Object_var x = CORBA::Object::_duplicate(object); a <<= x.in(); }
  else if (name == "nil") a <<= CORBA::Object::_nil();
  else if (name == "leaf") a <<= graphs::leaf(7, "leaf");
  else if (name == "null_value") a <<= (Node*)nullptr;
  else if (name == "shared") a <<= graphs::graph(2);
  else if (name == "ring") a <<= graphs::graph(4);
  else if (name == "marked") a <<= Marked::_downcast(graphs::graph(6));
  else if (name == "derived") a <<= graphs::graph(6);
  else if (name == "holder") a <<= holder();
  else if (name == "box_text") a <<= new BoxedText("boxed");
  else if (name == "box_longs") { LongSeq x; x.length(2); x[0] = 5; x[1] = -6; a <<= new BoxedLongs(x); }
  else if (name == "box_pair") a <<= new BoxedPair(Pair{7, -8});
  else if (name == "box_long") a <<= new BoxedLong(9);
  else if (name == "named_value") { Named_var x = new graphs::NamedValue("valued"); a <<= x.in(); }
  else if (name == "named_object") { Named_var x = NamedObject::_duplicate(object); a <<= x.in(); }
  else if (name == "choice") { Choice x; x.thing(graphs::leaf(7, "leaf")); a <<= x; }
  else if (name == "tangle") { Tangle x; tangle(x); a <<= x; }
  else if (name == "mixture") {
    Mixture x;
    x.lead = 1;
    tree(x.wood);
    expression(x.sum);
    x.inner <<= CORBA::Long(5);
    x.high = 180;
    briefs(x.texts);
    a <<= x;
  }
  else throw CORBA::BAD_PARAM(0x5a4f0001, CORBA::COMPLETED_NO);
  return a;
}

// A type of its own each time. omniORB counts one reference too few on the TypeCodes that omniidl makes of valuetypes: once what
// `Any::type` gave is released, their members are gone.
inline CORBA::TypeCode_ptr type(const std::string& name) {
  CORBA::TypeCode_ptr made;
  if (name == "heavier") made = _tc_Heavier;
  else if (name == "firm") made = _tc_Firm;
  else if (name == "circle") made = _tc_Circle;
  else if (name == "square") made = _tc_Square;
  else if (name == "shape") made = _tc_Shape;
  else if (name == "values") made = _tc_Values;
  else if (name == "tangled") made = _tc_Tangled;
  else if (name == "distance") made = _tc_Distance;
  else if (name == "wchar") made = CORBA::_tc_wchar;  // to make one takes a code set, which GIOP 1.0 and 1.1 have not
  else made = make(name, NamedObject::_nil()).type();  // never released, either
  cdrMemoryStream copy;
  CORBA::TypeCode::marshalTypeCode(made, copy);
  copy.rewindInputPtr();
  return CORBA::TypeCode::unmarshalTypeCode(copy);
}

inline void show(std::ostream& out, const Tree& x) {
  out << '{' << x.number << ", [";
  for (CORBA::ULong i = 0; i < x.children.length(); ++i) { if (i) out << ", "; show(out, x.children[i]); }
  out << "]}";
}
inline void show(std::ostream& out, const Expression& x) {
  switch (x._d()) {
    case red: out << graphs::quarters(x.number()); break;
    case green: out << x.name(); break;
    default:
      out << '[';
      for (CORBA::ULong i = 0; i < x.parts().length(); ++i) { if (i) out << ", "; show(out, x.parts()[i]); }
      out << ']';
  }
}
inline void show(std::ostream& out, const Briefs& x) {
  out << '[';
  for (CORBA::ULong i = 0; i < x.length(); ++i) out << (i ? ", " : "") << (const char*)x[i];
  out << ']';
}
inline void wide(std::ostream& out, const CORBA::WChar* x) {
  for (bool first = true; *x; ++x, first = false) out << (first ? "" : ",") << unsigned(*x);
}
inline std::string text(const Tangle& x) {
  graphs::Walk walk;
  walk.out << unsigned(x.lead) << "; ";
  walk.value(x.first);
  walk.out << "; " << x.text.in() << "; ";
  walk.value(x.second);
  for (CORBA::ULong i = 0; i < x.rest.length(); ++i) { walk.out << "; "; walk.value(x.rest[i]); }
  return walk.out.str();
}
inline std::string text(const Choice& x) { return x._d() ? graphs::text({x.link()}) : graphs::text({x.thing()}); }

// What the any of that name holds, extracted as its own type; a BAD_PARAM where it holds something else.
inline std::string text(const std::string& name, const Any& a) {
  std::ostringstream out;
  bool well = true;
#define NUMBER(NAME, T, ...) else if (name == NAME) { T x{}; well = a >>= x; out << __VA_ARGS__; }
  // omniORB extracts neither null nor nil, but by its type.
  CORBA::TypeCode_ptr type = a.type();  // never released: see above
#define VALUE(NAME, T) \
  else if (name == NAME) { T* x = nullptr; well = (a >>= x) || type->equivalent(_tc_##T); if (well) out << graphs::text({x}); }
  if (name == "null" || name == "void") {
    well = type->kind() == (name == "null" ? CORBA::tk_null : CORBA::tk_void);
    out << name;
  }
  NUMBER("short", CORBA::Short, x)
  NUMBER("ushort", CORBA::UShort, x)
  NUMBER("long", CORBA::Long, x)
  NUMBER("ulong", CORBA::ULong, x)
  NUMBER("longlong", CORBA::LongLong, x)
  NUMBER("ulonglong", CORBA::ULongLong, x)
  NUMBER("float", CORBA::Float, graphs::quarters(x))
  NUMBER("double", CORBA::Double, graphs::quarters(x))
  else if (name == "char") { CORBA::Char x = 0; well = a >>= Any::to_char(x); out << char(x); }
  else if (name == "octet") { CORBA::Octet x = 0; well = a >>= Any::to_octet(x); out << unsigned(x); }
  else if (name == "boolean") { CORBA::Boolean x = 0; well = a >>= Any::to_boolean(x); out << (x ? "TRUE" : "FALSE"); }
  else if (name == "string") { const char* x = ""; well = a >>= x; out << x; }
  else if (name == "brief") { const char* x = ""; well = a >>= Any::to_string(x, 5); out << x; }
  else if (name == "wchar") { CORBA::WChar x = 0; well = a >>= Any::to_wchar(x); out << unsigned(x); }
  else if (name == "wstring") { const CORBA::WChar* x = nullptr; well = a >>= x; if (well) wide(out, x); }
  else if (name == "wide_brief") { const CORBA::WChar* x = nullptr; well = a >>= Any::to_wstring(x, 5); if (well) wide(out, x); }
  NUMBER("colour", Colour, (x == red ? "red" : x == green ? "green" : "blue"))
  else if (name == "pair") { const Pair* x = nullptr; well = a >>= x; if (well) out << '{' << x->left << ", " << x->right << '}'; }
  else if (name == "tree") { const Tree* x = nullptr; well = a >>= x; if (well) show(out, *x); }
  else if (name == "expression") { const Expression* x = nullptr; well = a >>= x; if (well) show(out, *x); }
  else if (name == "oops") { const Oops* x = nullptr; well = a >>= x; if (well) out << '{' << x->why.in() << ", " << x->code << '}'; }
  else if (name == "longs") {
    const LongSeq* x = nullptr;
    well = a >>= x;
    if (well) { out << '['; for (CORBA::ULong i = 0; i < x->length(); ++i) out << (i ? ", " : "") << (*x)[i]; out << ']'; }
  }
  else if (name == "briefs") { const Briefs* x = nullptr; well = a >>= x; if (well) show(out, *x); }
  else if (name == "grid") {
    Grid_forany x;
    well = a >>= x;
    if (well) {
      out << '[';
      for (int i = 0; i < 2; ++i) {
        out << (i ? ", [" : "[");
        for (int j = 0; j < 3; ++j) out << (j ? ", " : "") << x[i][j];
        out << ']';
      }
      out << ']';
    }
  }
  NUMBER("height", CORBA::Long, x)
  else if (name == "money") { CORBA::Fixed x; well = a >>= Any::to_fixed(x, 9, 2); CORBA::String_var t = x.NP_asString(); out << t.in(); }
  else if (name == "any") {
    const Any *one = nullptr, *two = nullptr;
    CORBA::Long x = 0;
    well = (a >>= one) && (*one >>= two) && (*two >>= x);
    out << x;
  }
  else if (name == "any_seq") {
    const AnySeq* x = nullptr;
    CORBA::Long first = 0;
    const char* second = "";
    well = (a >>= x) && x->length() == 3 && ((*x)[0] >>= first) && ((*x)[1] >>= second);
    if (well) out << '[' << first << ", " << second << ", " << text("null", (*x)[2]) << ']';
  }
  else if (name == "type") { CORBA::TypeCode_ptr x = nullptr; well = a >>= x; if (well) out << x->id() << ' ' << x->member_count(); }
  else if (name == "object") {
    CORBA::Object_var x;
    well = a >>= Any::to_object(x.out());
    NamedObject_var object = NamedObject::_narrow(x);
    well = well && !CORBA::is_nil(object);
    if (well) { CORBA::String_var t = object->name(); out << t.in(); }
  }
  else if (name == "nil") { CORBA::Object_var x; well = (a >>= Any::to_object(x.out())) ? CORBA::is_nil(x) : type->equivalent(CORBA::_tc_Object); out << "nil"; }
  VALUE("leaf", Leaf)
  VALUE("null_value", Node)
  VALUE("shared", Node)
  VALUE("ring", Node)
  VALUE("marked", Marked)
  VALUE("derived", Node)
  VALUE("holder", Holder)
  VALUE("box_text", BoxedText)
  VALUE("box_longs", BoxedLongs)
  VALUE("box_pair", BoxedPair)
  VALUE("box_long", BoxedLong)
  else if (name == "named_value" || name == "named_object") {
    Named_ptr x = nullptr;
    well = a >>= x;
    if (well) { CORBA::String_var t = x->name(); out << t.in(); }
  }
  else if (name == "choice") { const Choice* x = nullptr; well = a >>= x; if (well) out << text(*x); }
  else if (name == "tangle") { const Tangle* x = nullptr; well = a >>= x; if (well) out << text(*x); }
  else if (name == "mixture") {
    const Mixture* x = nullptr;
    CORBA::Long inner = 0;
    well = (a >>= x) && (x->inner >>= inner);
    if (well) {
      out << '{' << unsigned(x->lead) << ", ";
      show(out, x->wood);
      out << ", ";
      show(out, x->sum);
      out << ", " << inner << ", " << x->high << ", ";
      show(out, x->texts);
      out << '}';
    }
  }
  else well = false;
#undef NUMBER
#undef VALUE
  if (!well) throw CORBA::BAD_PARAM(0x5a4f0002, CORBA::COMPLETED_NO);
  return out.str();
}

}  // namespace kinds
