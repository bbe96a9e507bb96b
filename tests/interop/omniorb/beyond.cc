// The servants behind beyond.idl.

#include "beyond.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include "kinds.h"
#include "scripted.h"
#include "tracing.h"

namespace beyond_peer {

using namespace beyond;
using CORBA::Any;
using servants::World;

template <class V> V* keep(V* value) {
  CORBA::add_ref(value);
  return value;
}

namespace {

#define ECHO_VALUE(op, T) T* op(T* a, T##_out b, T*& c) override { T* r = c; b = keep(a); c = keep(a); return r; }
#define ECHO_VARIABLE(op, T) T* op(const T& a, T##_out b, T& c) override { T* r = new T(c); b = new T(a); c = a; return r; }

class ValuesServant : public POA_beyond::Values {
public:
  ECHO_VALUE(echo_leaf, Leaf)
  ECHO_VALUE(echo_node, Node)
  ECHO_VARIABLE(echo_node_seq, NodeSeq)
  NodeArray_slice* echo_node_array(const NodeArray a, NodeArray_out b, NodeArray c) override {
    NodeArray_slice* r = NodeArray_dup(c);
    b = NodeArray_dup(a);
    NodeArray_copy(c, a);
    return r;
  }
  ECHO_VALUE(echo_shape, Shape)
  ECHO_VALUE(echo_boxed_text, BoxedText)
  ECHO_VALUE(echo_boxed_longs, BoxedLongs)
  ECHO_VALUE(echo_boxed_pair, BoxedPair)
  ECHO_VALUE(echo_boxed_long, BoxedLong)
  ECHO_VALUE(echo_holder, beyond::Holder)
  ECHO_VARIABLE(echo_tangle, Tangle)
  ECHO_VARIABLE(echo_choice, Choice)
  CORBA::ValueBase* keep(CORBA::ValueBase* a) override { return beyond_peer::keep(a); }
  void raise_tangled(Node* culprit, Node* witness) override {
    Tangled e;
    e.culprit = beyond_peer::keep(culprit);
    e.why = "tangled";
    e.witness = beyond_peer::keep(witness);
    throw e;
  }
  char* describe(Node* a, Node* b) override { return CORBA::string_dup(graphs::text({a, b}).c_str()); }
  Node* make(CORBA::ULong k) override { return graphs::graph(k); }
  Node* make_hidden(CORBA::ULong k) override { return graphs::hidden_value(k); }
private:
  template <class V> static V* keep(V* value) { return beyond_peer::keep(value); }
};

class NamedObjectServant : public POA_beyond::NamedObject {
public:
  char* name() override { return CORBA::string_dup("object"); }
};

class AbstractsServant : public POA_beyond::Abstracts {
public:
  explicit AbstractsServant(NamedObject_ptr object) : object(NamedObject::_duplicate(object)) {}
  Named_ptr echo_named(Named_ptr a, Named_out b, Named_ptr& c) override {
    Named_ptr r = c;
    b = Named::_duplicate(a);
    c = Named::_duplicate(a);
    return r;
  }
  char* name_of(Named_ptr a) override { return CORBA::is_nil(a) ? CORBA::string_dup("nil") : a->name(); }
  Named_ptr make_named(const char* name) override {
    const std::string which = name;
    if (which == "nil") return Named::_nil();
    if (which == "object") return NamedObject::_duplicate(object);
    return new graphs::NamedValue(name);
  }
private:
  NamedObject_var object;
};

class AnysServant : public POA_beyond::Anys {
public:
  explicit AnysServant(NamedObject_ptr object) : object(NamedObject::_duplicate(object)) {}
  Any* echo_any(const Any& a, CORBA::Any_OUT_arg b, Any& c) override { Any* r = new Any(c); b = new Any(a); c = a; return r; }
  ECHO_VARIABLE(echo_any_seq, AnySeq)
  Any* make_any(const char* name) override { return new Any(kinds::make(name, object)); }
  char* describe_any(const char* name, const Any& a) override { return CORBA::string_dup(kinds::text(std::string(name), a).c_str()); }
  void raise_any(const Any& a, const char* name) override { throw Oops(kinds::text(std::string(name), a).c_str(), 1); }
private:
  NamedObject_var object;
};

class TypesServant : public POA_beyond::Types {
public:
  CORBA::TypeCode_ptr echo_type(CORBA::TypeCode_ptr a, CORBA::TypeCode_OUT_arg b, CORBA::TypeCode_ptr& c) override {
    CORBA::TypeCode_ptr r = c;
    b = CORBA::TypeCode::_duplicate(a);
    c = CORBA::TypeCode::_duplicate(a);
    return r;
  }
  CORBA::TypeCode_ptr make_type(const char* name) override { return kinds::type(name); }
  CORBA::Boolean is_equal(const char* name, CORBA::TypeCode_ptr a) override {
    CORBA::TypeCode_var own = kinds::type(name);
    return own->equal(a);
  }
  CORBA::Boolean is_equivalent(const char* name, CORBA::TypeCode_ptr a) override {
    CORBA::TypeCode_var own = kinds::type(name);
    return own->equivalent(a);
  }
};

class ContextsServant : public POA_beyond::Contexts {
public:
  StringSeq* properties(const char*, CORBA::Context_ptr given) override {
    std::set<std::string> sorted;
    CORBA::NVList_var found;
    try {
      given->get_values("", 0, "*", found.out());
    } catch (const CORBA::BAD_CONTEXT&) {  // there are none
      return new StringSeq;
    }
    for (CORBA::ULong i = 0; i < found->count(); ++i) {
      CORBA::NamedValue_ptr each = found->item(i);
      const char* value = "";
      *each->value() >>= value;
      sorted.insert(std::string(each->name()) + "=" + value);
    }
    StringSeq* made = new StringSeq;
    made->length(sorted.size());
    CORBA::ULong at = 0;
    for (const std::string& each : sorted) (*made)[at++] = each.c_str();
    return made;
  }
};

class TracedServant : public POA_beyond::Traced {
public:
  void plain() override {}
  CORBA::Long refused(CORBA::Long code) override { throw Oops("refused", code); }
  void denied() override { throw CORBA::NO_PERMISSION(7, CORBA::COMPLETED_NO); }
  void quiet() override {}
  CORBA::ULong seen() override { return tracing::seen; }
  void call_back(Traced_ptr whom) override {
    tracing::sends = std::string("\1\2\3");
    whom->plain();
    tracing::sends.reset();
    if (tracing::answered != std::string("\3\2\1")) throw CORBA::BAD_PARAM(0x5a4f0003, CORBA::COMPLETED_YES);
  }
};

class DynamicServant : public POA_beyond::Dynamic {
public:
  CORBA::Long level() override { return level_; }
  void level(CORBA::Long v) override { level_ = v; }
  Pair change(const Pair& a, const char* t, CORBA::String_out b, CORBA::Long& c) override {
    if (c < 0) throw Oops(t, c);
    b = CORBA::string_dup((std::string(t) + t).c_str());
    ++c;
    return Pair{a.right, a.left};
  }
  Any* keep(const Any& a) override { return new Any(a); }
  Node* link(Node* a) override { return beyond_peer::keep(a); }
  void poke(CORBA::Long n) override { level_ = n; }
  Dynamic_ptr itself() override { return _this(); }
private:
  std::atomic<CORBA::Long> level_ = 0;
};

class LaterServant : public POA_beyond::Later {
public:
  char* hold(const char* key) override {
    std::unique_lock<std::mutex> guard(lock);
    held[key] = 0;
    if (!changed.wait_for(guard, std::chrono::seconds(20), [&] { return held[key] != 0; })) throw CORBA::TIMEOUT(0, CORBA::COMPLETED_MAYBE);
    const bool well = held[key] == 1;
    held.erase(key);
    if (!well) throw Oops(key, 1);
    return CORBA::string_dup((std::string(key) + key).c_str());
  }
  CORBA::Boolean release(const char* key, CORBA::Boolean well) override {
    std::lock_guard<std::mutex> guard(lock);
    auto at = held.find(key);
    if (at == held.end() || at->second) return false;
    at->second = well ? 1 : 2;
    changed.notify_all();
    return true;
  }
private:
  std::mutex lock;
  std::condition_variable changed;
  std::map<std::string, int> held;
};

}  // namespace

void start(World& world) {
  graphs::register_factories(world.orb);
  tracing::start();
}

CORBA::Object_ptr part(World& world, const std::string& name) {
  using servants::activate;
  static std::mutex lock;
  static std::map<std::string, CORBA::Object_var> made;
  std::lock_guard<std::mutex> guard(lock);
  if (made.empty()) {
    NamedObject_var object = activate<NamedObject>(world.root, new NamedObjectServant);
    made["NamedObject"] = NamedObject::_duplicate(object);
    made["Values"] = activate<Values>(world.root, new ValuesServant);
    made["Abstracts"] = activate<Abstracts>(world.root, new AbstractsServant(object));
    made["Anys"] = activate<Anys>(world.root, new AnysServant(object));
    made["Types"] = activate<Types>(world.root, new TypesServant);
    made["Contexts"] = activate<Contexts>(world.root, new ContextsServant);
    made["Traced"] = activate<Traced>(world.root, new TracedServant);
    made["Dynamic"] = activate<Dynamic>(world.root, new DynamicServant);
    made["Later"] = activate<Later>(world.root, new LaterServant);
    made["Scripted"] = scripted(world);
  }
  auto found = made.find(name);
  return found == made.end() ? CORBA::Object::_nil() : CORBA::Object::_duplicate(found->second);
}

}  // namespace beyond_peer
