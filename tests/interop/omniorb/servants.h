// The servants behind every.idl: what the server publishes, and what the client lends it for callbacks.

#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
#include "types.h"
#include "world.h"

namespace servants {

// ------------------------------------------------------------------ inheritance

class BaseServant : public virtual POA_interop::Base {
public:
  explicit BaseServant(CORBA::Long step = 1) : step(step) {}
  char* name() override { return CORBA::string_dup("base"); }
  CORBA::Long base_op(CORBA::Long a) override { return a + step; }
private:
  CORBA::Long step;
};

class LeftServant : public virtual POA_interop::Left, public virtual BaseServant {
public:
  char* name() override { return CORBA::string_dup("left"); }
  CORBA::Long left_op(CORBA::Long a) override { return a + 2; }
};

class RightServant : public virtual POA_interop::Right, public virtual BaseServant {
public:
  char* name() override { return CORBA::string_dup("right"); }
  CORBA::Long right_op(CORBA::Long a) override { return a + 3; }
  CORBA::Long shared() override { return value; }
  void shared(CORBA::Long v) override { value = v; }
private:
  CORBA::Long value = 0;
};

class DiamondServant : public virtual POA_interop::Diamond, public virtual LeftServant, public virtual RightServant {
public:
  char* name() override { return CORBA::string_dup("diamond"); }
  CORBA::Long diamond_op(CORBA::Long a) override { return a + 4; }
};

// ------------------------------------------------------------------- callbacks

class PeerServant : public POA_interop::Peer {
public:
  CORBA::Long bounce(interop::Peer_ptr other, CORBA::Long depth) override {
    if (depth < 1) return 0;
    interop::Peer_var self = _this();
    return 1 + other->bounce(self, depth - 1);
  }
};

class ListenerServant : public POA_interop::Listener {
public:
  void told(CORBA::Long n) override {
    std::lock_guard<std::mutex> guard(lock);
    heard.push_back(n);
  }
  char* asked(const char* question) override {
    if (!std::strcmp(question, "refuse")) throw interop::Refused("asked to", 13);
    if (!std::strcmp(question, "system")) throw CORBA::NO_PERMISSION(13, CORBA::COMPLETED_YES);
    return CORBA::string_dup((std::string(question) + question).c_str());
  }
  std::vector<CORBA::Long> all() {
    std::lock_guard<std::mutex> guard(lock);
    return heard;
  }
private:
  std::mutex lock;
  std::vector<CORBA::Long> heard;
};

// Answers "N/rest" with LOCATION_FORWARD to "N-1/rest", and "0/…" with the final object.
class ForwardLocator : public POA_PortableServer::ServantLocator {
public:
  explicit ForwardLocator(PortableServer::POA_ptr poa, CORBA::Object_ptr last)
      : poa(PortableServer::POA::_duplicate(poa)), last(CORBA::Object::_duplicate(last)) {}
  static CORBA::Object_ptr reference(PortableServer::POA_ptr poa, CORBA::ULong hops) {
    PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId(std::to_string(hops).c_str());
    return poa->create_reference_with_id(id, interop::Base::_PD_repoId);
  }
  PortableServer::Servant preinvoke(const PortableServer::ObjectId& id, PortableServer::POA_ptr, const char*, void*&) override {
    CORBA::String_var text = PortableServer::ObjectId_to_string(id);
    const unsigned hops = std::stoul(text.in());
    if (hops <= 1) throw PortableServer::ForwardRequest(last);
    CORBA::Object_var next = reference(poa, hops - 1);
    throw PortableServer::ForwardRequest(next);
  }
  void postinvoke(const PortableServer::ObjectId&, PortableServer::POA_ptr, const char*, void*, PortableServer::Servant) override {}
private:
  PortableServer::POA_var poa;
  CORBA::Object_var last;
};

// ---------------------------------------------------------------- long doubles

#define BY_VALUE(op, T) T op(T a, T& b, T& c) override { const T r = c; b = a; c = a; return r; }
#define CHAR BY_VALUE
#define FIXED(op, T) T op(const T& a, T& b, T& c) override { const T r = c; b = a; c = a; return r; }
#define VARIABLE(op, T) T* op(const T& a, T##_out b, T& c) override { T* r = new T(c); b = new T(a); c = a; return r; }
#define STRING(op, T)                                                           \
  char* op(const char* a, CORBA::String_out b, char*& c) override {             \
    char* r = c; b = CORBA::string_dup(a); c = CORBA::string_dup(a); return r;  \
  }
#define CODE STRING
#define WSTRING(op, T)                                                          \
  CORBA::WChar* op(const CORBA::WChar* a, CORBA::WString_out b, CORBA::WChar*& c) override { \
    CORBA::WChar* r = c; b = CORBA::wstring_dup(a); c = CORBA::wstring_dup(a); return r; \
  }
#define WIDE_CODE WSTRING
#define FIXED_ARRAY(op, T)                                                      \
  T##_slice* op(const T a, T##_out b, T c) override {                           \
    T##_slice* r = T##_dup(c); T##_copy(b, a); T##_copy(c, a); return r;        \
  }
#define CHAR_ARRAY FIXED_ARRAY
#define VARIABLE_ARRAY(op, T)                                                   \
  T##_slice* op(const T a, T##_out b, T c) override {                           \
    T##_slice* r = T##_dup(c); b = T##_dup(a); T##_copy(c, a); return r;        \
  }

class LongDoublesServant : public POA_interop::LongDoubles {
public:
#include "long_doubles.inc"
};

class DecimalsServant : public POA_interop::Decimals {
public:
#include "decimals.inc"
};

// ---------------------------------------------------------------------- Every

class EveryServant : public POA_interop::Every {
public:
  explicit EveryServant(World& world) : world(world) {
    root = world.root;
    left = activate<interop::Left>(root, new LeftServant);
    right = activate<interop::Right>(root, new RightServant);
    diamond = activate<interop::Diamond>(root, new DiamondServant);
    base = activate<interop::Base>(root, new BaseServant);
    long_doubles = activate<interop::LongDoubles>(root, new LongDoublesServant);
    decimals = activate<interop::Decimals>(root, new DecimalsServant);
    own_peer = activate<interop::Peer>(root, new PeerServant);

    CORBA::PolicyList policies(3);
    policies.length(3);
    policies[0] = root->create_request_processing_policy(PortableServer::USE_SERVANT_MANAGER);
    policies[1] = root->create_servant_retention_policy(PortableServer::NON_RETAIN);
    policies[2] = root->create_id_assignment_policy(PortableServer::USER_ID);
    PortableServer::POAManager_var manager = root->the_POAManager();
    forwarding = root->create_POA("forwarding", manager, policies);
    ForwardLocator* locator = new ForwardLocator(forwarding, base);
    PortableServer::ServantManager_var reference = locator->_this();
    locator->_remove_ref();
    forwarding->set_servant_manager(reference);
  }

#define ENTER_WIDE
#define LEAVE_WIDE
#include "echoes.inc"
#undef ENTER_WIDE
#undef LEAVE_WIDE

#undef BY_VALUE
#undef CHAR
#undef FIXED
#undef VARIABLE
#undef STRING
#undef CODE
#undef WSTRING
#undef WIDE_CODE
#undef FIXED_ARRAY
#undef CHAR_ARRAY
#undef VARIABLE_ARRAY

#define FIXED(op, T)                                                            \
  void op(const OctetSeq& lead, const T& a, OctetSeq_out back, T& b) override { back = new OctetSeq(lead); b = a; }
#define VARIABLE(op, T)                                                         \
  void op(const OctetSeq& lead, const T& a, OctetSeq_out back, T##_out b) override { back = new OctetSeq(lead); b = new T(a); }
#define FIXED_ARRAY(op, T)                                                      \
  void op(const OctetSeq& lead, const T a, OctetSeq_out back, T b) override { back = new OctetSeq(lead); T##_copy(b, a); }
#include "phases.inc"
#undef FIXED
#undef VARIABLE
#undef FIXED_ARRAY

  using Octet = CORBA::Octet;
  BinStructSeq* lead_1(Octet, const BinStructSeq& a) override { return new BinStructSeq(a); }
  BinStructSeq* lead_2(Octet, Octet, const BinStructSeq& a) override { return new BinStructSeq(a); }
  BinStructSeq* lead_3(Octet, Octet, Octet, const BinStructSeq& a) override { return new BinStructSeq(a); }
  BinStructSeq* lead_4(Octet, Octet, Octet, Octet, const BinStructSeq& a) override { return new BinStructSeq(a); }
  BinStructSeq* lead_5(Octet, Octet, Octet, Octet, Octet, const BinStructSeq& a) override { return new BinStructSeq(a); }
  BinStructSeq* lead_6(Octet, Octet, Octet, Octet, Octet, Octet, const BinStructSeq& a) override { return new BinStructSeq(a); }
  BinStructSeq* lead_7(Octet, Octet, Octet, Octet, Octet, Octet, Octet, const BinStructSeq& a) override { return new BinStructSeq(a); }

  void raise_wide(ULong k) override { WideError e; ::sample(e, k); throw e; }

  // Bulk
  OctetSeq* bulk_octets(const OctetSeq& a) override { return new OctetSeq(a); }
  ShortSeq* bulk_shorts(const ShortSeq& a) override { return new ShortSeq(a); }
  DoubleSeq* bulk_doubles(const DoubleSeq& a) override { return new DoubleSeq(a); }
  BinStructSeq* bulk_bin_structs(const BinStructSeq& a) override { return new BinStructSeq(a); }
  OddDoubleSeq* bulk_odd_doubles(const OddDoubleSeq& a) override { return new OddDoubleSeq(a); }
  StringSeq* bulk_strings(const StringSeq& a) override { return new StringSeq(a); }
  RecordSeq* bulk_records(const RecordSeq& a) override { return new RecordSeq(a); }
  ULong sum_octets(const OctetSeq& a) override {
    ULong sum = 0;
    for (ULong i = 0; i < a.length(); ++i) sum += a[i];
    return sum;
  }
  OctetSeq* make_octets(ULong count) override {
    OctetSeq* made = new OctetSeq;
    made->length(count);
    for (ULong i = 0; i < count; ++i) (*made)[i] = Octet(i % 251);
    return made;
  }

  // Calls
  void nothing() override {}
  void consume(CORBA::Long, const char*, const BinStruct&, const StringSeq&) override {}
  void produce(CORBA::Long& a, CORBA::String_out b, BinStruct& c, StringSeq_out d, LongArray f) override {
    ::sample(a, 5);
    b = CORBA::string_dup(sample_string(5).c_str());
    ::sample(c, 5);
    d = new StringSeq;
    ::sample(*d.operator->(), 5);
    for (int i = 0; i < 3; ++i) ::sample(f[i], 5 + i);
  }
  void change(CORBA::Long& a, char*& b, BinStruct& c, StringSeq& d, ByUShort& f) override {
    ::sample(a, 5);
    CORBA::string_free(b);
    b = CORBA::string_dup(sample_string(5).c_str());
    ::sample(c, 5);
    ::sample(d, 5);
    ::sample(f, 5);
  }
  CORBA::Long mixed(Octet a, CORBA::Short& b, CORBA::Double& c, const char* d, CORBA::String_out g, OctetSeq& f) override {
    b = -b;
    c = a;
    g = CORBA::string_dup(d);
    for (ULong i = 0, n = f.length(); i < n / 2; ++i) std::swap(f[i], f[n - 1 - i]);
    return f.length();
  }
  CORBA::Short interface(CORBA::Short module) override { return module + 1; }
  void note(CORBA::Long value) override {
    std::lock_guard<std::mutex> guard(lock);
    notes.push_back(value);
  }
  void note_all(const LongSeq& more, const char* text) override {
    std::lock_guard<std::mutex> guard(lock);
    for (ULong i = 0; i < more.length(); ++i) notes.push_back(more[i]);
    notes.push_back(CORBA::Long(std::strlen(text)));
  }
  LongSeq* noted() override {
    std::lock_guard<std::mutex> guard(lock);
    LongSeq* all = new LongSeq;
    all->length(notes.size());
    for (ULong i = 0; i < notes.size(); ++i) (*all)[i] = notes[i];
    return all;
  }
  void forget() override {
    std::lock_guard<std::mutex> guard(lock);
    notes.clear();
  }
  void nap(ULong milliseconds) override { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }
  CORBA::Boolean meet(ULong parties, ULong milliseconds) override {
    std::unique_lock<std::mutex> guard(lock);
    const unsigned meeting = meetings;
    if (++present >= parties) {
      present = 0;
      ++meetings;
      met.notify_all();
      return true;
    }
    if (met.wait_for(guard, std::chrono::milliseconds(milliseconds), [&] { return meetings != meeting; })) return true;
    --present;
    return false;
  }
  char* operation_name_that_is_rather_long_so_that_its_length_word_and_padding_are_not_the_usual_ones(const char* a) override {
    return CORBA::string_dup(a);
  }

  // Attributes
  CORBA::Long answer() override { return 42; }
  char* title() override { return CORBA::string_dup(title_); }
  void title(const char* v) override { title_ = CORBA::string_dup(v); }
  BinStruct setting() override { return setting_; }
  void setting(const BinStruct& v) override { setting_ = v; }
  ByUShort* choice() override { return new ByUShort(choice_); }
  void choice(const ByUShort& v) override { choice_ = v; }
  LongSeq* first_list() override { return new LongSeq(lists[0]); }
  void first_list(const LongSeq& v) override { lists[0] = v; }
  LongSeq* second_list() override { return new LongSeq(lists[1]); }
  void second_list(const LongSeq& v) override { lists[1] = v; }

  // Exceptions
  void raise_empty() override { throw Empty(); }
  CORBA::Long raise_refused(const char* why, CORBA::Long code) override { throw Refused(why, code); }
  void raise_loaded(ULong k) override { Loaded e; ::sample(e, k); throw e; }
  CORBA::Long raise_one_of(ULong which, CORBA::String_out b, CORBA::Long& c) override {
    switch (which) {
      case 1: throw Empty();
      case 2: throw Refused("two", 2);
      case 3: { Loaded e; ::sample(e, 3); throw e; }
    }
    b = CORBA::string_dup("fine");
    c = -c;
    return 7;
  }
  void raise_system(const char* name, ULong minor, ULong completed) override {
    const CORBA::CompletionStatus status = CORBA::CompletionStatus(completed);
#define RAISE(E) if (!std::strcmp(name, #E)) throw CORBA::E(minor, status);
    OMNIORB_FOR_EACH_SYS_EXCEPTION(RAISE)
#undef RAISE
    throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO);
  }
  void raise_undeclared() override { throw 1; }

  // References
  Base_ptr echo_base(Base_ptr a, Base_out b, Base_ptr& c) override { Base_ptr r = c; b = Base::_duplicate(a); c = Base::_duplicate(a); return r; }
  Diamond_ptr echo_diamond(Diamond_ptr a, Diamond_out b, Diamond_ptr& c) override {
    Diamond_ptr r = c; b = Diamond::_duplicate(a); c = Diamond::_duplicate(a); return r;
  }
  CORBA::Object_ptr echo_object(CORBA::Object_ptr a, CORBA::Object_out b, CORBA::Object_ptr& c) override {
    CORBA::Object_ptr r = c; b = CORBA::Object::_duplicate(a); c = CORBA::Object::_duplicate(a); return r;
  }
  template <class T, class Out> T* echo(const T& a, Out b, T& c) { T* r = new T(c); b = new T(a); c = a; return r; }
  BaseSeq* echo_base_seq(const BaseSeq& a, BaseSeq_out b, BaseSeq& c) override { return echo<BaseSeq, BaseSeq_out>(a, b, c); }
  ObjectSeq* echo_object_seq(const ObjectSeq& a, ObjectSeq_out b, ObjectSeq& c) override { return echo<ObjectSeq, ObjectSeq_out>(a, b, c); }
  RefRecord* echo_ref_record(const RefRecord& a, RefRecord_out b, RefRecord& c) override { return echo<RefRecord, RefRecord_out>(a, b, c); }
  RefChoice* echo_ref_choice(const RefChoice& a, RefChoice_out b, RefChoice& c) override { return echo<RefChoice, RefChoice_out>(a, b, c); }
  BaseArray_slice* echo_base_array(const BaseArray a, BaseArray_out b, BaseArray c) override {
    BaseArray_slice* r = BaseArray_dup(c); b = BaseArray_dup(a); BaseArray_copy(c, a); return r;
  }
  Base_ptr make(Kind which) override {
    switch (which) {
      case a_base: return Base::_duplicate(base);
      case a_left: return Left::_duplicate(left);
      case a_right: return Right::_duplicate(right);
      case a_diamond: return Diamond::_duplicate(diamond);
      default: return Base::_nil();
    }
  }
  CORBA::Object_ptr make_object(Kind which) override { return make(which); }
  Base_ptr gone() override {
    BaseServant* servant = new BaseServant;
    PortableServer::ObjectId_var id = root->activate_object(servant);
    CORBA::Object_var object = root->id_to_reference(id);
    servant->_remove_ref();
    root->deactivate_object(id);
    return Base::_unchecked_narrow(object);
  }
  Base_ptr forwarded(ULong hops) override {
    if (hops == 0) return Base::_duplicate(base);
    CORBA::Object_var object = ForwardLocator::reference(forwarding, hops);
    return Base::_unchecked_narrow(object);
  }
  void raise_ref(Base_ptr culprit, CORBA::Object_ptr witness) override {
    throw RefError(Base::_duplicate(culprit), CORBA::Object::_duplicate(witness));
  }

  // Callbacks
  Peer_ptr partner() override { return Peer::_duplicate(own_peer); }
  char* ask(Listener_ptr whom, const char* question) override { return whom->asked(question); }
  void tell(Listener_ptr whom, CORBA::Long times) override { for (CORBA::Long n = 0; n < times; ++n) whom->told(n); }
  CORBA::Long bounce_with(Peer_ptr other, CORBA::Long depth) override { return own_peer->bounce(other, depth); }

  CORBA::Object_ptr part(const char* interface_name) override {
    if (!std::strcmp(interface_name, "LongDoubles")) return CORBA::Object::_duplicate(long_doubles);
    if (!std::strcmp(interface_name, "Decimals")) return CORBA::Object::_duplicate(decimals);
    return beyond_peer::part(world, interface_name);
  }
  void shutdown() override { world.orb->shutdown(false); }

private:
  World& world;
  PortableServer::POA_var root, forwarding;
  Base_var base;
  Left_var left;
  Right_var right;
  Diamond_var diamond;
  LongDoubles_var long_doubles;
  Decimals_var decimals;
  Peer_var own_peer;
  std::mutex lock;
  std::condition_variable met;
  unsigned present = 0, meetings = 0;
  std::vector<CORBA::Long> notes;
  CORBA::String_var title_ = CORBA::string_dup("");
  BinStruct setting_{};
  ByUShort choice_ = first_choice();
  LongSeq lists[2];
  static ByUShort first_choice() { ByUShort x; x.number(0); return x; }
};

// ----------------------------------------------------------------- command line

// Splits what omniORB is told from what the program is told, and starts the ORB.
inline World start(std::map<std::string, std::string> options) {
  std::string version = options.count("giop") ? options["giop"] : "1.2";
  std::string charset = options["text"] == "utf8" ? "UTF-8" : "ISO-8859-1";
  const char* settings[][2] = {
      {"maxGIOPVersion", version.c_str()},
      {"nativeCharCodeSet", charset.c_str()},
      {"giopMaxMsgSize", "104857600"},  // bulk cases exceed the default of 2 MiB
      {"endPoint", options["at"] == "unix" ? "giop:unix:" : "giop:tcp:127.0.0.1:"},
      {"clientCallTimeOutPeriod", "20000"},
      {"traceLevel", options.count("trace") ? options["trace"].c_str() : "1"},
      {0, 0}};
  int argc = 0;
  World world;
  world.orb = CORBA::ORB_init(argc, 0, "omniORB4", settings);
  CORBA::Object_var object = world.orb->resolve_initial_references("RootPOA");
  world.root = PortableServer::POA::_narrow(object);
  PortableServer::POAManager_var manager = world.root->the_POAManager();
  manager->activate();
  beyond_peer::start(world);
  return world;
}

// `--name value` pairs; what is not an option goes to "".
inline std::map<std::string, std::string> options(int argc, char** argv) {
  std::map<std::string, std::string> found;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "--list" || word == "--samples" || word == "--bridged") found[word.substr(2)] = "yes";
    else if (word.substr(0, 2) == "--" && i + 1 < argc) found[word.substr(2)] = argv[++i];
    else found[""] = word;
  }
  return found;
}

}  // namespace servants
