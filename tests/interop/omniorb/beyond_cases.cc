// The client's cases of beyond.idl.

#include "beyond.h"

#include <chrono>
#include <thread>
#include <vector>
#include "kinds.h"
#include "tracing.h"

namespace beyond_peer {

using namespace beyond;
using CORBA::Any;
using graphs::graph;
using graphs::text;

namespace {

class Cases {
public:
  Cases(Check check, servants::World& world, interop::Every_ptr every, const std::string& giop)
      : check(check), world(world), every(interop::Every::_duplicate(every)), wide(giop != "1.0") {
    if (CORBA::is_nil(every)) return;
    values = find<Values>("Values");
    abstracts = find<Abstracts>("Abstracts");
    anys = find<Anys>("Anys");
    types = find<Types>("Types");
    contexts = find<Contexts>("Contexts");
    traced = find<Traced>("Traced");
    dynamic = find<Dynamic>("Dynamic");
    scripted = find<Scripted>("Scripted");
    later = find<Later>("Later");
    CORBA::Object_var own = part(world, "NamedObject");
    object = NamedObject::_narrow(own);
    own = part(world, "Traced");
    own_traced = Traced::_narrow(own);
  }

  void run() {
    graphs_();
    values_();
    hidden_();
    spanning();
    for (const char* name : {"echo", "describe"}) check(std::string("custom/") + name, [] { throw Skip{"omniidl 4.2 has no custom valuetypes"}; });
    abstracts_();
    anys_();
    types_();
    contexts_();
    traced_();
    dynamic_();
    scripted_();
    later_();
  }

private:
  Check check;
  servants::World& world;
  interop::Every_var every;
  bool wide;
  Values_var values;
  Abstracts_var abstracts;
  Anys_var anys;
  Types_var types;
  Contexts_var contexts;
  Traced_var traced, own_traced;
  Dynamic_var dynamic;
  Scripted_var scripted;
  Later_var later;
  NamedObject_var object;

  template <class Interface> typename Interface::_ptr_type find(const char* name) {
    CORBA::Object_var found = every->part(name);
    return Interface::_narrow(found);
  }
  void need(CORBA::Object_ptr part) {
    if (CORBA::is_nil(part)) throw Skip{"the server does not have this interface"};
  }

  // ------------------------------------------------------------------- values

  void graphs_() {
    for (CORBA::ULong k = 0; k < graphs::GRAPHS; ++k) {
      check("value/echo-" + std::to_string(k), [=, this] {
        Node* a = graph(k);
        Node* old = graph((k + 1) % graphs::GRAPHS);
        Node* c = old;
        CORBA::add_ref(c);
        Node_var b;
        Node_var r = values->echo_node(a, b.out(), c);
        expect("b and c", text({b, c}), text({a, a}));
        expect("return", text({r}), text({old}));
      });
      check("value/describe-" + std::to_string(k), [=, this] {
        Node* a = graph(k);
        CORBA::String_var seen = values->describe(a, nullptr);
        expect("as the server sees it", seen.in(), text({a, nullptr}));
      });
      check("value/make-" + std::to_string(k), [=, this] {
        Node_var made = values->make(k);
        expect("made", text({made}), text({graph(k)}));
      });
    }
  }

  // Echoes by `call`: `b` and `c` are one value, and the result is the old one.
  template <class V, class Call> void echo(V* a, V* old, Call call) {
    V* c = old;
    CORBA::add_ref(c);
    typename V::_var_type b;
    typename V::_var_type r = call(a, b.out(), c);
    expect("b and c", text({b, c}), text({a, a}));
    expect("return", text({r}), text({old}));
  }
#define ECHO(op) [this](auto* a, auto&& b, auto*& c) { return values->op(a, b, c); }

  void values_() {
    check("value/shared-parameters", [this] {
      Node* a = graph(2);
      CORBA::String_var seen = values->describe(a, a->left());
      expect("as the server sees them", seen.in(), text({a, a->left()}));
      Node* within = graph(6);
      seen = values->describe(within->left(), within);
      expect("as the server sees them", seen.in(), text({within->left(), within}));
    });
    check("value/shared-results", [this] {
      Node* a = graph(6);
      Node* c = a;
      CORBA::add_ref(c);
      Node_var b;
      Node_var r = values->echo_node(a, b.out(), c);
      expect("return, b and c", text({r, b, c}), text({a, a, a}));
    });
    check("value/sequence", [this] {
      Node* a = graph(6);
      NodeSeq nodes = graphs::seq({a, a, nullptr, a->left(), graph(7)}), c = graphs::seq({graph(2)});
      NodeSeq_var b;
      NodeSeq_var r = values->echo_node_seq(nodes, b.out(), c);
      expect("lengths", b->length() == 5 && c.length() == 5 && r->length() == 1);
      expect("b", text({b[0], b[1], b[2], b[3], b[4]}), text({nodes[0], nodes[1], nodes[2], nodes[3], nodes[4]}));
      expect("c", text({c[0], c[1], c[2], c[3], c[4]}), text({nodes[0], nodes[1], nodes[2], nodes[3], nodes[4]}));
      expect("return", text({r[0]}), text({graph(2)}));
    });
    check("value/array", [this] {
      Node* x = graph(4);
      NodeArray a, c;
      CORBA::add_ref(x);
      a[0] = x;
      CORBA::add_ref(x);
      a[1] = x;
      c[0] = graph(1);
      NodeArray_var b;
      NodeArray_var r = values->echo_node_array(a, b.out(), c);
      expect("b and c", text({b[0], b[1], c[0], c[1]}), text({x, x, x, x}));
      expect("return", text({r[0], r[1]}), text({graph(1), nullptr}));
    });
    check("value/leaf", [this] {
      echo<Leaf>(graphs::leaf(-7, "leaf"), nullptr, ECHO(echo_leaf));
      echo<Leaf>(nullptr, graphs::leaf(8, ""), ECHO(echo_leaf));
    });
    check("value/shape", [this] {
      auto* circle = new graphs::Circle;
      circle->radius(1.5);
      auto* square = new graphs::Square;
      square->corner(graphs::leaf(1, "corner"));
      square->side(2);
      echo<Shape>(circle, square, ECHO(echo_shape));
      echo<Shape>(square, nullptr, ECHO(echo_shape));
    });
    check("value/boxed-text", [this] {
      echo<BoxedText>(new BoxedText("text"), nullptr, ECHO(echo_boxed_text));
      echo<BoxedText>(nullptr, new BoxedText(""), ECHO(echo_boxed_text));
    });
    check("value/boxed-longs", [this] {
      LongSeq longs;
      longs.length(3);
      for (int i = 0; i < 3; ++i) longs[i] = i - 1;
      echo<BoxedLongs>(new BoxedLongs(longs), nullptr, ECHO(echo_boxed_longs));
      echo<BoxedLongs>(nullptr, new BoxedLongs(LongSeq()), ECHO(echo_boxed_longs));
    });
    check("value/boxed-pair", [this] { echo<BoxedPair>(new BoxedPair(Pair{1, -2}), nullptr, ECHO(echo_boxed_pair)); });
    check("value/boxed-long", [this] { echo<BoxedLong>(new BoxedLong(-3), nullptr, ECHO(echo_boxed_long)); });
    check("value/holder", [this] {
      beyond::Holder* empty = new OBV_beyond::Holder;
      echo<beyond::Holder>(kinds::holder(), empty, ECHO(echo_holder));
    });
    check("value/keep-leaf", [this] { kept(graphs::leaf(5, "kept")); });
    check("value/keep-graph", [this] { kept(graph(7)); });
    check("value/keep-box", [this] { kept(new BoxedLong(6)); });
    check("value/keep-null", [this] { kept(nullptr); });
    check("value/tangle", [this] {
      Tangle a, c;
      kinds::tangle(a);
      c.text = "";
      Tangle_var b;
      Tangle_var r = values->echo_tangle(a, b.out(), c);
      expect("b", kinds::text(b.in()), kinds::text(a));
      expect("c", kinds::text(c), kinds::text(a));
      expect("return", r->rest.length() == 0 && r->first.in() == nullptr);
    });
    check("value/choice", [this] {
      Choice a, c;
      a.link(graph(3));
      c.thing(graphs::leaf(1, "old"));
      Choice_var b;
      Choice_var r = values->echo_choice(a, b.out(), c);
      expect("b", kinds::text(b.in()), text({graph(3)}));
      expect("c", kinds::text(c), text({graph(3)}));
      expect("return", kinds::text(r.in()), std::string("Leaf#1{1, old}"));
    });
    check("value/exception", [this] {
      Node* culprit = graph(6);
      raises<Tangled>([&] { values->raise_tangled(culprit, culprit->left()); }, [&](const Tangled& e) {
        expect("members", text({e.culprit, e.witness}), text({culprit, culprit->left()}));
        expect("why", e.why.in(), std::string("tangled"));
      });
    });
    check("value/no-factory", [this] {
      raises<CORBA::MARSHAL>([&] { values->keep(graphs::hidden_value(4)); }, ignore<CORBA::MARSHAL>);
    });
  }
  void kept(CORBA::ValueBase* a) {
    CORBA::ValueBase_var back = values->keep(a);
    expect("return", text({back}), text({a}));
  }

  // What a receiver who does not know the types of hidden.idl is left with.
  static std::string cut(CORBA::ULong k) {
    switch (k) {
      case 0: return "Node#1{300, Node#2{30, null, null}, Node#3{35, null, null}}";
      case 1: return "Node#1{301, Node#2{30, null, null}, #2}";
      case 2: return "Heavier#1{302, Node#2{30, null, null}, null, deep, [#2, Node#3{33, null, null}], 2/4}";
      default: return "Marked#1{303, Node#2{301, Node#3{30, null, null}, #3}, #2, around, [#2, #1]}";
    }
  }
  void hidden_() {
    for (CORBA::ULong k = 0; k < 4; ++k) {
      check("hidden/describe-" + std::to_string(k), [=, this] {
        Node* a = graphs::hidden_value(k);
        CORBA::String_var seen = values->describe(a, a);
        expect("as the server sees it", seen.in(), cut(k) + "; #1");
      });
      check("hidden/make-" + std::to_string(k), [=, this] {
        Node_var made = values->make_hidden(k);
        expect("made", text({made}), cut(k));
      });
    }
    check("hidden/describe-firm", [this] {
      Node* a = graphs::hidden_value(4);
      raises<CORBA::MARSHAL>([&] { values->describe(a, nullptr); }, ignore<CORBA::MARSHAL>);
    });
    check("hidden/make-firm", [this] { raises<CORBA::MARSHAL>([&] { values->make_hidden(4); }, ignore<CORBA::MARSHAL>); });
  }

  void spanned(CORBA::ULong from, CORBA::ULong to, CORBA::ULong step) {
    for (CORBA::ULong size = from; size < to; size += step) {
      auto* a = new OBV_beyond::Marked;
      graphs::link(a, size, graph(2), a);
      graphs::mark(a, std::string(size, 'm').c_str(), {graph(6)});
      echo<Node>(a, nullptr, ECHO(echo_node));
    }
  }
  void spanning() {
    check("span/value-small", [this] { spanned(700, 1100, 9); });
    check("span/value-large", [this] { spanned(7700, 8300, 13); });
    check("span/values", [this] {
      for (CORBA::ULong count = 1; count < 200; count += 9) {
        NodeSeq nodes, c;
        nodes.length(count);
        for (CORBA::ULong i = 0; i < count; ++i) {
          if (i % 7 == 6) { Node* again = nodes[i - 3]; CORBA::add_ref(again); nodes[i] = again; }
          else nodes[i] = graph(i % graphs::GRAPHS);
        }
        NodeSeq_var b;
        NodeSeq_var r = values->echo_node_seq(nodes, b.out(), c);
        expect("lengths", b->length() == count && c.length() == count);
        graphs::Walk ours, theirs;
        for (CORBA::ULong i = 0; i < count; ++i) { ours.value(nodes[i]); theirs.value(b[i]); }
        expect("b of " + std::to_string(count), theirs.out.str(), ours.out.str());
      }
    });
    check("span/any", [this] {
      for (CORBA::ULong size = 700; size < 8300; size += size == 1096 ? 6604 : 12) {
        Any a, c;
        a <<= std::string(size, 'a').c_str();
        CORBA::Any_var b;
        CORBA::Any_var r = anys->echo_any(a, b.out(), c);
        const char* got = "";
        expect("a string", (*b.operator->() >>= got));
        expect("b", got, std::string(size, 'a'));
      }
    });
    check("span/anys", [this] {
      for (CORBA::ULong count = 1; count < 60; count += 4) {
        AnySeq a, c;
        a.length(count);
        for (CORBA::ULong i = 0; i < count; ++i) a[i] = kinds::make(i % 2 ? "mixture" : "derived", object);
        AnySeq_var b;
        AnySeq_var r = anys->echo_any_seq(a, b.out(), c);
        expect("lengths", b->length() == count && c.length() == count);
        for (CORBA::ULong i = 0; i < count; ++i) {
          const std::string name = i % 2 ? "mixture" : "derived";
          expect("element", kinds::text(name, b[i]), kinds::text(name, a[i]));
        }
      }
    });
  }

  // ------------------------------------------------------------------ abstracts

  static std::string name(Named_ptr x) {
    if (CORBA::is_nil(x)) return "nil";
    CORBA::String_var text = x->name();
    return text.in();
  }
  void abstracts_() {
    check("abstract/object", [this] {
      Named_var a = NamedObject::_duplicate(object), b, c = Named::_nil();
      Named_var r = abstracts->echo_named(a, b.out(), c.inout());
      expect("names", name(b) + name(c) + name(r), std::string("objectobjectnil"));
    });
    check("abstract/value", [this] {
      Named_var a = new graphs::NamedValue("of a value"), b, c = NamedObject::_duplicate(object);
      Named_var r = abstracts->echo_named(a, b.out(), c.inout());
      expect("names", name(b) + name(c) + name(r), std::string("of a valueof a valueobject"));
      expect("one value", b.in() == c.in());
    });
    check("abstract/nil", [this] {
      Named_var b, c = new graphs::NamedValue("old");
      Named_var r = abstracts->echo_named(Named::_nil(), b.out(), c.inout());
      expect("names", name(b) + name(c) + name(r), std::string("nilnilold"));
    });
    check("abstract/name-of", [this] {
      Named_var value = new graphs::NamedValue("sent");
      CORBA::String_var got = abstracts->name_of(value);
      expect("of a value", got.in(), std::string("sent"));
      got = abstracts->name_of(object);
      expect("of an object", got.in(), std::string("object"));
      got = abstracts->name_of(Named::_nil());
      expect("of nil", got.in(), std::string("nil"));
    });
    check("abstract/make", [this] {
      for (const char* which : {"object", "made", "nil"}) {
        Named_var made = abstracts->make_named(which);
        expect("name", name(made), std::string(which));
      }
    });
  }

  // ----------------------------------------------------------------------- anys

  void anys_() {
    for (const char* each : kinds::NAMES) {
      const std::string name = each, previous = "pair";
      auto need_wide = [=, this] { if (kinds::is_wide(name) && !wide) throw Skip{"GIOP 1.0 has no wide characters"}; };
      check("any/echo-" + name, [=, this] {
        need_wide();
        Any a = kinds::make(name, object), c = kinds::make(previous, object);
        CORBA::Any_var b;
        CORBA::Any_var r = anys->echo_any(a, b.out(), c);
        expect("b", kinds::text(name, b.in()), kinds::text(name, a));
        expect("c", kinds::text(name, c), kinds::text(name, a));
        expect("return", kinds::text(previous, r.in()), kinds::text(previous, kinds::make(previous, object)));
      });
      check("any/describe-" + name, [=, this] {
        need_wide();
        Any a = kinds::make(name, object);
        CORBA::String_var seen = anys->describe_any(name.c_str(), a);
        expect("as the server sees it", seen.in(), kinds::text(name, a));
      });
      check("any/make-" + name, [=, this] {
        need_wide();
        CORBA::Any_var made = anys->make_any(name.c_str());
        expect("made", kinds::text(name, made.in()), kinds::text(name, kinds::make(name, object)));
      });
    }
    check("any/sequence", [this] {
      std::vector<std::string> names;
      for (const char* each : kinds::NAMES) if (!kinds::is_wide(each) && !kinds::is_apart(each)) names.push_back(each);
      AnySeq a, c;
      a.length(names.size());
      for (CORBA::ULong i = 0; i < names.size(); ++i) a[i] = kinds::make(names[i], object);
      AnySeq_var b;
      AnySeq_var r = anys->echo_any_seq(a, b.out(), c);
      expect("lengths", b->length() == names.size() && c.length() == names.size() && r->length() == 0);
      for (CORBA::ULong i = 0; i < names.size(); ++i) {
        expect("b, " + names[i], kinds::text(names[i], b[i]), kinds::text(names[i], a[i]));
        expect("c, " + names[i], kinds::text(names[i], c[i]), kinds::text(names[i], a[i]));
      }
    });
    check("any/exception", [this] {
      Any a = kinds::make("tree", object);
      raises<Oops>([&] { anys->raise_any(a, "tree"); }, [&](const Oops& e) {
        expect("why", e.why.in(), kinds::text("tree", a));
        expect("code", e.code == 1);
      });
    });
  }

  void types_() {
    std::vector<std::string> names(std::begin(kinds::NAMES), std::end(kinds::NAMES));
    for (const char* each : kinds::TYPES) names.push_back(each);
    for (const std::string& name : names) {
      check("type/echo-" + name, [=, this] {
        CORBA::TypeCode_var a = kinds::type(name), b, c = kinds::type("pair");
        CORBA::TypeCode_var r = types->echo_type(a, b.out(), c.inout());
        expect("b is equal", b->equal(a));
        expect("c is equal", c->equal(a));
        CORBA::TypeCode_var pair = kinds::type("pair");
        expect("the result is equal", r->equal(pair));
      });
      check("type/equal-" + name, [=, this] {
        CORBA::TypeCode_var a = kinds::type(name), made = types->make_type(name.c_str());
        expect("the server's is equal", made->equal(a));
        expect("ours is equal for the server", types->is_equal(name.c_str(), a));
      });
      check("type/equivalent-" + name, [=, this] {
        CORBA::TypeCode_var a = kinds::type(name), made = types->make_type(name.c_str());
        expect("the server's is equivalent", made->equivalent(a));
        expect("ours is equivalent for the server", types->is_equivalent(name.c_str(), a));
      });
    }
    check("type/differ", [this] {
      expect("tree is no pair", !types->is_equal("pair", _tc_Tree) && !types->is_equivalent("pair", _tc_Tree));
      expect("a height is a long", types->is_equivalent("height", CORBA::_tc_long) && !types->is_equal("height", CORBA::_tc_long));
      expect("a ring is no marked", !types->is_equivalent("ring", _tc_Marked));
    });
  }

  // ------------------------------------------------- contexts, service contexts

  void contexts_() {
    auto asked = [this](std::initializer_list<std::pair<const char*, const char*>> given) {
      CORBA::Context_var all;
      world.orb->get_default_context(all.out());
      CORBA::Context_var some;
      all->create_child("case", some.out());
      for (auto& [name, value] : given) {
        Any any;
        any <<= value;
        some->set_one_value(name, any);
      }
      StringSeq_var got = contexts->properties("text", some);
      std::string joined;
      for (CORBA::ULong i = 0; i < got->length(); ++i) joined += std::string((const char*)got[i]) + ";";
      return joined;
    };
    check("context/given", [=, this] {
      need(contexts);
      expect("properties", asked({{"zorb_one", "1"}, {"zorb_more", "2"}, {"zorb_moreover", ""}, {"zorb_onerous", "4"}, {"other", "5"}}),
             std::string("zorb_more=2;zorb_moreover=;zorb_one=1;"));
    });
    check("context/none", [=, this] {
      need(contexts);
      expect("properties", asked({}), std::string());
    });
  }

  // Calls with a context of these octets, and expects it reversed, or none for none.
  template <class Call> void answered(std::optional<std::string> octets, Call call) {
    tracing::sends = octets;
    try {
      call();
    } catch (...) {
      tracing::sends.reset();
      throw;
    }
    tracing::sends.reset();
    if (octets) std::reverse(octets->begin(), octets->end());
    expect("the answer's context", tracing::answered == octets);
  }
  void traced_() {
    check("traced/reply", [this] { answered("123", [this] { traced->plain(); }); });
    check("traced/none", [this] { answered(std::nullopt, [this] { traced->plain(); }); });
    check("traced/empty", [this] { answered("", [this] { traced->plain(); }); });
    check("traced/large", [this] {
      std::string octets(10000, 'x');
      octets[0] = 0;
      answered(octets, [this] { traced->plain(); });
    });
    check("traced/user-exception", [this] {
      answered("user", [this] { raises<Oops>([this] { traced->refused(8); }, [](const Oops& e) { expect("code", e.code == 8); }); });
    });
    check("traced/system-exception", [this] {
      answered("system", [this] {
        raises<CORBA::NO_PERMISSION>([this] { traced->denied(); }, [](const CORBA::NO_PERMISSION& e) { expect("minor", e.minor() == 7); });
      });
    });
    check("traced/implicit", [this] { answered("is it there", [this] { expect("it is there", !traced->_non_existent()); }); });
    check("traced/oneway", [this] {
      const CORBA::ULong before = traced->seen();
      tracing::sends = "oneway";
      traced->quiet();
      tracing::sends.reset();
      CORBA::ULong now = before;
      for (int i = 0; i < 500 && now == before; ++i) {
        now = traced->seen();
        if (now == before) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      expect("seen", now == before + 1);
    });
    check("traced/call-back", [this] { traced->call_back(own_traced); });
  }

  // ---------------------------------------------------------------- without stubs

  CORBA::Request_ptr request(CORBA::Object_ptr target, const char* operation, CORBA::TypeCode_ptr result) {
    CORBA::Request_ptr made = target->_request(operation);
    made->set_return_type(result);
    return made;
  }
  static void fill_change(CORBA::Request_ptr made, const char* t, CORBA::Long c) {
    made->add_in_arg("a") <<= Pair{1, 2};
    made->add_in_arg("t") <<= t;
    made->add_out_arg("b") <<= "";
    made->add_inout_arg("c") <<= c;
    made->exceptions()->add(_tc_Oops);
  }
  static void changed(CORBA::Request_ptr made) {
    raise(made);
    const Pair* pair = nullptr;
    const char* b = "";
    CORBA::Long c = 0;
    expect("types", (made->return_value() >>= pair) && (*made->arguments()->item(2)->value() >>= b) && (*made->arguments()->item(3)->value() >>= c));
    expect("return", pair->left == 2 && pair->right == 1);
    expect("b", b, std::string("twicetwice"));
    expect("c", c == 8);
  }
  static void raise(CORBA::Request_ptr made) {
    if (CORBA::Exception* raised = made->env()->exception()) raised->_raise();
  }
  void change_dynamically(CORBA::Object_ptr target) {
    CORBA::Request_var made = request(target, "change", _tc_Pair);
    fill_change(made, "twice", 7);
    made->invoke();
    changed(made);
  }
  void raise_dynamically(CORBA::Object_ptr target) {
    CORBA::Request_var made = request(target, "change", _tc_Pair);
    fill_change(made, "no", -7);
    raises<CORBA::UnknownUserException>([&] { made->invoke(); raise(made); }, [](const CORBA::UnknownUserException& e) {
      const Oops* oops = nullptr;
      expect("Oops", const_cast<CORBA::UnknownUserException&>(e).exception() >>= oops);
      expect("members", oops->why.in() == std::string("no") && oops->code == -7);
    });
  }
  Any passed_dynamically(CORBA::Object_ptr target, const char* operation, CORBA::TypeCode_ptr type, const Any& a) {
    CORBA::Request_var made = request(target, operation, type);
    made->add_in_arg("a") = a;
    made->invoke();
    raise(made);
    return made->return_value();
  }
  void dynamic_() {
    check("dynamic/change", [this] { change_dynamically(dynamic); });
    check("dynamic/deferred", [this] {
      CORBA::Request_var made = request(dynamic, "change", _tc_Pair);
      fill_change(made, "twice", 7);
      made->send_deferred();
      made->get_response();
      changed(made);
    });
    check("dynamic/exception", [this] { raise_dynamically(dynamic); });
    check("dynamic/any", [this] {
      for (const char* name : {"mixture", "derived", "grid"}) {
        Any a = kinds::make(name, object), wrapped, back;
        wrapped <<= a;
        back = passed_dynamically(dynamic, "keep", CORBA::_tc_any, wrapped);
        const Any* within = nullptr;
        expect("an any", back >>= within);
        expect(name, kinds::text(name, *within), kinds::text(name, a));
      }
    });
    check("dynamic/value", [this] {
      for (CORBA::ULong k : {1, 2, 4, 6}) {  // omniORB aborts where an any that holds null is copied
        Any a;
        a <<= graph(k);
        Any back = passed_dynamically(dynamic, "link", _tc_Node, a);
        expect("graph", kinds::text("ring", back), text({graph(k)}));
      }
    });
    check("dynamic/attribute", [this] {
      CORBA::Request_var made = request(dynamic, "_set_level", CORBA::_tc_void);
      made->add_in_arg("level") <<= CORBA::Long(17);
      made->invoke();
      raise(made);
      made = request(dynamic, "_get_level", CORBA::_tc_long);
      made->invoke();
      raise(made);
      CORBA::Long level = 0;
      expect("level", (made->return_value() >>= level) && level == 17);
    });
    check("dynamic/oneway", [this] {
      CORBA::Request_var made = dynamic->_request("poke");
      made->add_in_arg("n") <<= CORBA::Long(18);
      made->send_oneway();
      poked(dynamic, 18);
    });
    check("dynamic/reference", [this] {
      CORBA::Request_var made = request(dynamic, "itself", _tc_Dynamic);
      made->invoke();
      raise(made);
      Dynamic_ptr back = nullptr;
      expect("a Dynamic", made->return_value() >>= back);
      expect("the same", back->_is_equivalent(dynamic));
    });
    check("dynamic/unknown", [this] {
      CORBA::Request_var made = request(dynamic, "nothing_such", CORBA::_tc_void);
      raises<CORBA::BAD_OPERATION>([&] { made->invoke(); raise(made); }, ignore<CORBA::BAD_OPERATION>);
    });
    check("dynamic/scripted", [this] {
      change_dynamically(scripted);
      raise_dynamically(scripted);
    });
  }
  void poked(Dynamic_ptr whom, CORBA::Long level) {
    for (int i = 0; i < 500 && whom->level() != level; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    expect("level", whom->level() == level);
  }

  void scripted_() {
    check("scripted/narrow", [this] {
      CORBA::Object_var plain = every->part("Scripted");
      CORBA::String_var ior = world.orb->object_to_string(plain);
      CORBA::Object_var asked = world.orb->string_to_object(ior);
      Dynamic_var as_dynamic = Dynamic::_narrow(asked);
      Values_var as_values = Values::_narrow(asked);
      expect("is a Dynamic, and no Values", !CORBA::is_nil(as_dynamic) && CORBA::is_nil(as_values));
    });
    check("scripted/change", [this] {
      CORBA::String_var b;
      CORBA::Long c = 7;
      const Pair r = scripted->change(Pair{1, 2}, "twice", b.out(), c);
      expect("return", r.left == 2 && r.right == 1);
      expect("b", b.in(), std::string("twicetwice"));
      expect("c", c == 8);
    });
    check("scripted/exception", [this] {
      CORBA::String_var b;
      CORBA::Long c = -7;
      raises<Oops>([&] { scripted->change(Pair{1, 2}, "no", b.out(), c); }, [](const Oops& e) {
        expect("members", e.why.in() == std::string("no") && e.code == -7);
      });
    });
    check("scripted/any", [this] {
      for (const char* name : {"mixture", "derived", "grid"}) {
        Any a = kinds::make(name, object);
        CORBA::Any_var back = scripted->keep(a);
        expect(name, kinds::text(name, back.in()), kinds::text(name, a));
      }
    });
    check("scripted/value", [this] {
      for (CORBA::ULong k : {0, 2, 4, 6}) {
        Node_var back = scripted->link(graph(k));
        expect("graph", text({back}), text({graph(k)}));
      }
    });
    check("scripted/attribute", [this] {
      scripted->level(19);
      expect("level", scripted->level() == 19);
    });
    check("scripted/oneway", [this] {
      scripted->poke(20);
      poked(scripted, 20);
    });
    check("scripted/reference", [this] {
      Dynamic_var back = scripted->itself();
      expect("the same", back->_is_equivalent(scripted));
    });
    check("scripted/unknown", [this] {
      CORBA::Request_var made = request(scripted, "nothing_such", CORBA::_tc_void);
      raises<CORBA::BAD_OPERATION>([&] { made->invoke(); raise(made); }, ignore<CORBA::BAD_OPERATION>);
    });
  }

  // ------------------------------------------------------------------------ later

  void release(const std::string& key, bool well) {
    for (int i = 0; i < 500; ++i) {
      if (later->release(key.c_str(), well)) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    throw Failure{"nobody holds " + key};
  }
  void later_() {
    check("later/reply", [this] {
      std::string got;
      std::thread holder([&] { try { CORBA::String_var r = later->hold("one"); got = r.in(); } catch (const CORBA::Exception& e) { got = describe(e); } });
      try { release("one", true); } catch (...) { holder.join(); throw; }
      holder.join();
      expect("return", got, std::string("oneone"));
    });
    check("later/exception", [this] {
      std::string got;
      std::thread holder([&] {
        try { later->hold("bad"); } catch (const Oops& e) { got = e.why.in(); } catch (const CORBA::Exception& e) { got = describe(e); }
      });
      try { release("bad", false); } catch (...) { holder.join(); throw; }
      holder.join();
      expect("why", got, std::string("bad"));
    });
    check("later/reversed", [this] {
      std::string got[4];
      std::vector<std::thread> holders;
      for (int i = 0; i < 4; ++i)
        holders.emplace_back([&, i] {
          try { CORBA::String_var r = later->hold(("k" + std::to_string(i)).c_str()); got[i] = r.in(); } catch (const CORBA::Exception& e) { got[i] = describe(e); }
        });
      std::string failed;
      for (int i = 3; i >= 0; --i) try { release("k" + std::to_string(i), true); } catch (const Failure& e) { failed = e.reason; }
      for (auto& holder : holders) holder.join();
      expect("releases", failed, std::string());
      expect("returns", got[0] + got[1] + got[2] + got[3], std::string("k0k0k1k1k2k2k3k3"));
    });
  }
};

}  // namespace

void run(Check check, servants::World& world, interop::Every_ptr every, const std::string& giop) {
  Cases(check, world, every, giop).run();
}

}  // namespace beyond_peer
