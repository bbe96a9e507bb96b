// omniORB 4.2 as a peer: `peer serve` and `peer drive`, see ../README.md for the protocol.
//
// Settings, from the omniORB manual, and why:
//   giopMaxMsgSize 1 GiB             the default of 2 MiB refuses bulk
//   maxServerThreadPerConnection 1   one thread a connection, which is also what keeps oneways in order
//   maxGIOPConnectionPerServer 4096  each concurrent caller has a connection; by default it would wait for one of five
//   verifyObjectExistsAndType 0      no extra round trip before the first call on a reference
//   inConScanPeriod, outConScanPeriod 0   idle connections are kept for as long as they are measured
// A connection that is refused is tried again for a tenth of a second, by the handler that omniORB has for this: its Unix
// endpoint refuses many that come at once.
// The rest is as it comes: a dedicated thread per connection, TCP_NODELAY, no call timeout, which would add a poll
// to each receive. There is a setting for the send queue only, so for `queue` this program makes the sockets (queues.h).

#include <arpa/inet.h>
#include <omniORB4/CORBA.h>
#include <omniORB4/omniURI.h>

#include "bench.hh"
#include "peer.h"
#include "queues.h"

using namespace bench;

namespace {

CORBA::ORB_ptr orb_with(std::initializer_list<std::array<const char*, 2>> more) {
  std::vector<std::array<const char*, 2>> options = {
      {"giopMaxMsgSize", "1073741824"}, {"inConScanPeriod", "0"}, {"outConScanPeriod", "0"}, {"maxServerThreadPerConnection", "1"},
      {"maxGIOPConnectionPerServer", "4096"}, {"verifyObjectExistsAndType", "0"}, {"threadPerConnectionUpperLimit", "20000"}};
  options.insert(options.end(), more);
  std::vector<std::array<const char*, 2>> ended = options;
  ended.push_back({nullptr, nullptr});
  int argc = 0;
  return CORBA::ORB_init(argc, nullptr, "omniORB4", reinterpret_cast<const char*(*)[2]>(ended.data()));
}

// --------------------------------------------------------------------------------------------------- serving

class Servant : public POA_bench::Peer {
public:
  void ping() override {}
  Octets* echo(const Octets& value) override { return new Octets(value); }

  CORBA::Short cube_short(CORBA::Short value) override { return peer::cube(value); }
  CORBA::Long cube_long(CORBA::Long value) override { return peer::cube(value); }
  CORBA::Octet cube_octet(CORBA::Octet value) override { return peer::cube(value); }
  Mixed cube_struct(const Mixed& value) override {
    return {peer::cube(value.o), peer::cube(value.l), peer::cube(value.s)};
  }
  Octets* cube_octets(const Octets& value) override { return cubes(value); }
  Longs* cube_longs(const Longs& value) override { return cubes(value); }

  void expect(const char* type, CORBA::ULong payload, CORBA::ULong buffers) override {
    receiver.expect(type, payload, buffers);
  }
  void send_octets(const Octets& buffer) override { take("octet", buffer); }
  void send_chars(const Chars& buffer) override { take("char", buffer); }
  void send_shorts(const Shorts& buffer) override { take("short", buffer); }
  void send_longs(const Longs& buffer) override { take("long", buffer); }
  void send_doubles(const Doubles& buffer) override { take("double", buffer); }
  void send_structs(const Structs& buffer) override { take("struct", buffer); }
  void send_structs32(const Structs32& buffer) override { take("struct32", buffer); }
  void send_string(const char* buffer) override { receiver.take(buffer); }
  CORBA::ULong received(CORBA::String_out fault) override {
    std::string what;
    const auto count = receiver.received(what);
    fault = CORBA::string_dup(what.c_str());
    return count;
  }

private:
  peer::Receiver receiver;

  template <class Sequence> void take(const char* type, const Sequence& buffer) {
    receiver.take(type, buffer.get_buffer(), buffer.length());
  }

  template <class Sequence> static Sequence* cubes(const Sequence& values) {
    auto cubed = new Sequence(values.length());
    cubed->length(values.length());
    const auto* from = values.get_buffer();
    auto* to = cubed->get_buffer();
    for (CORBA::ULong index = 0; index < values.length(); ++index) to[index] = peer::cube(from[index]);
    return cubed;
  }
};

// The object of collocated calls.
class Counter : public Servant {
public:
  volatile uint32_t counted = 0;
  void ping() override { counted = counted + 1; }
};

const char* const KEY = "bench";

// Where a reference leads: host and port of its IIOP profile.
std::string host_and_port(CORBA::Object_ptr object) {
  omniIOR_var ior = object->_PR_getobj()->_getIOR();
  const IOP::TaggedProfileList& profiles = ior->iopProfiles();
  for (CORBA::ULong index = 0; index < profiles.length(); ++index) {
    if (profiles[index].tag != IOP::TAG_INTERNET_IOP) continue;
    IIOP::ProfileBody body;
    IIOP::unmarshalProfile(profiles[index], body);
    return std::string(body.address.host) + ":" + std::to_string(body.address.port);
  }
  throw peer::Failure("omniORB publishes no IIOP profile");
}

void serve(const peer::Settings& settings) {
  const std::string path = peer::new_socket_path();
  const std::string endpoint = settings.unix_socket ? "giop:unix:" + path : "giop:tcp:" + settings.host + ":" + (settings.port ? std::to_string(settings.port) : "");
  CORBA::ORB_var orb = orb_with({{"endPoint", endpoint.c_str()}});
  // This adapter takes keys that a corbaloc URL can name, so the address can be read.
  CORBA::Object_var adapter = orb->resolve_initial_references("omniINSPOA");
  PortableServer::POA_var poa = PortableServer::POA::_narrow(adapter);
  PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId(KEY);
  poa->activate_object_with_id(id, new Servant);
  PortableServer::POAManager_var manager = poa->the_POAManager();
  manager->activate();
  CORBA::Object_var object = poa->id_to_reference(id);
  const std::string where = settings.unix_socket ? "omniunix:" + path + ":" : ":" + host_and_port(object);
  std::cout << "ready corbaloc:" << where << '/' << KEY << std::endl;
  peer::wait_for_end_of_input();
  // No orderly shutdown: with connections open it takes seconds.
  if (settings.unix_socket) unlink(path.c_str());
  std::_Exit(0);
}

// --------------------------------------------------------------------------------------------------- driving

template <class T> struct CubeScalar : peer::Call {
  CubeScalar(Peer_ptr peer, T (_objref_Peer::*operation)(T)) : peer(peer), operation(operation) {}
  void change(uint64_t number) override { sent = T(number * 7 + 3); }
  void make() override { got = (peer->*operation)(sent); }
  void verify() override { peer::verified(got == peer::cube(sent)); }
  Peer_ptr peer;
  T (_objref_Peer::*operation)(T);
  T sent = 0, got = 0;
};

struct CubeStruct : peer::Call {
  explicit CubeStruct(Peer_ptr peer) : peer(peer) {}
  void change(uint64_t number) override {
    sent = {CORBA::Octet(number), CORBA::Long(number * 77), CORBA::Short(number * 7)};
  }
  void make() override { got = peer->cube_struct(sent); }
  void verify() override {
    peer::verified(got.o == peer::cube(sent.o) && got.l == peer::cube(sent.l) && got.s == peer::cube(sent.s));
  }
  Peer_ptr peer;
  Mixed sent = {0, 0, 0}, got = {0, 0, 0};
};

template <class Sequence, bool CUBED> struct Values : peer::Call {
  using Operation = Sequence* (_objref_Peer::*)(const Sequence&);
  Values(Peer_ptr peer, Operation operation, size_t length) : peer(peer), operation(operation) {
    sent.length(CORBA::ULong(length));
    for (CORBA::ULong index = 0; index < length; ++index) peer::assign(sent[index], index * 3);
  }
  void change(uint64_t number) override { peer::stamp(sent.get_buffer(), sent.length(), number); }
  void make() override { got.reset((peer->*operation)(sent)); }
  void verify() override {
    bool same = got->length() == sent.length();
    const auto *from = sent.get_buffer(), *to = got->get_buffer();
    for (CORBA::ULong index = 0; same && index < sent.length(); ++index)
      same = to[index] == (CUBED ? peer::cube(from[index]) : from[index]);
    peer::verified(same);
    got.reset();
  }
  Peer_ptr peer;
  Operation operation;
  Sequence sent;
  std::unique_ptr<Sequence> got;
};

CORBA::Boolean try_again(void*, CORBA::ULong retries, const CORBA::TRANSIENT& exception) {
  if (exception.minor() != omni::TRANSIENT_ConnectFailed || retries >= 100) return false;
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return true;
}

class OmniDriver : public peer::Driver {
public:
  explicit OmniDriver(const std::string& address) : orb(orb_with({})), address(address), peer(reference(address)) {
    omniORB::installTransientExceptionHandler(nullptr, try_again);
    peer->ping();
  }

  std::unique_ptr<peer::Call> call(const std::string& kind, size_t size) override {
    if (kind == "null" || kind == "cube.void") return std::make_unique<peer::NoArgument>([this] { peer->ping(); });
    if (kind == "cube.short") return std::make_unique<CubeScalar<CORBA::Short>>(peer, &_objref_Peer::cube_short);
    if (kind == "cube.long") return std::make_unique<CubeScalar<CORBA::Long>>(peer, &_objref_Peer::cube_long);
    if (kind == "cube.octet") return std::make_unique<CubeScalar<CORBA::Octet>>(peer, &_objref_Peer::cube_octet);
    if (kind == "cube.struct") return std::make_unique<CubeStruct>(peer);
    if (kind == "echo.octet") return std::make_unique<Values<Octets, false>>(peer, &_objref_Peer::echo, size);
    if (kind == "cube.octets") return std::make_unique<Values<Octets, true>>(peer, &_objref_Peer::cube_octets, size);
    if (kind == "cube.longs") return std::make_unique<Values<Longs, true>>(peer, &_objref_Peer::cube_longs, size / 4);
    throw peer::Failure("no kind " + kind);
  }

  peer::Flooded flood(const std::string& type, size_t payload, uint32_t count) override {
    if (type == "octet") return flood<Octets, CORBA::Octet>(type, payload, count, &_objref_Peer::send_octets);
    if (type == "char") return flood<Chars, CORBA::Char>(type, payload, count, &_objref_Peer::send_chars);
    if (type == "short") return flood<Shorts, CORBA::Short>(type, payload, count, &_objref_Peer::send_shorts);
    if (type == "long") return flood<Longs, CORBA::Long>(type, payload, count, &_objref_Peer::send_longs);
    if (type == "double") return flood<Doubles, CORBA::Double>(type, payload, count, &_objref_Peer::send_doubles);
    if (type == "struct") return flood<Structs, BinStruct>(type, payload, count, &_objref_Peer::send_structs);
    if (type == "struct32") return flood<Structs32, BinStruct32>(type, payload, count, &_objref_Peer::send_structs32);
    auto& strings = kept.of<peer::Strings>(peer::elements_of(type, payload));
    return flood(type, payload, count, [&](uint32_t number) { peer->send_string(strings[number]); });
  }

  uint64_t connect() override {
    const std::string another = elsewhere();
    const uint64_t began = peer::now();
    Peer_var fresh = reference(another);
    fresh->ping();
    const uint64_t ended = peer::now();
    fresh->_NP_disconnect();
    return ended - began;
  }

  uint64_t collocated(uint32_t calls) override {
    if (CORBA::is_nil(own)) {
      CORBA::Object_var adapter = orb->resolve_initial_references("RootPOA");
      PortableServer::POA_var poa = PortableServer::POA::_narrow(adapter);
      counter = new Counter;
      PortableServer::ObjectId_var id = poa->activate_object(counter);
      PortableServer::POAManager_var manager = poa->the_POAManager();
      manager->activate();
      own = counter->_this();
    }
    counter->counted = 0;
    const uint64_t began = peer::now();
    for (uint32_t made = 0; made < calls; ++made) own->ping();
    const uint64_t ended = peer::now();
    peer::verified(counter->counted == calls);
    return ended - began;
  }

  void idle(size_t count) override {
    if (count == 0) {
      for (Peer_var& each : held) each->_NP_disconnect();
      held.clear();
    }
    for (; count > 0; --count) {
      held.emplace_back(reference(elsewhere()));
      held.back()->ping();
    }
  }

  std::string fault() override {
    try {
      throw;
    } catch (const CORBA::SystemException& exception) {
      const char* minor = exception.NP_minorString();
      return std::string(exception._name()) + " " + (minor ? minor : std::to_string(exception.minor()));
    } catch (const CORBA::Exception& exception) {
      return exception._name();
    }
  }

private:
  CORBA::ORB_var orb;
  std::string address;
  Peer_var peer;
  std::vector<Peer_var> held;
  Counter* counter = nullptr;
  Peer_var own;
  peer::Kept kept;
  uint32_t made = 0;

  Peer_ptr reference(const std::string& url) {
    CORBA::Object_var object = orb->string_to_object(url.c_str());
    return Peer::_unchecked_narrow(object);
  }

  // References with the same addresses share their connections. A further address, which comes second and is not
  // used, makes a reference that has its own.
  std::string elsewhere() {
    const auto key = address.rfind('/');
    return address.substr(0, key) + "," + unused() + address.substr(key);
  }

  // It must be of the same transport, or omniORB may prefer it.
  std::string unused() {
    ++made;
    if (address.find(":omniunix:") != address.npos) return "omniunix:/nowhere/" + std::to_string(made) + ":";
    const uint32_t number = htonl(0x7F010000 + made % 0xFE0000);  // of 127/8, which answers nobody
    char host[INET_ADDRSTRLEN];
    return std::string(":") + inet_ntop(AF_INET, &number, host, sizeof host) + ":9";
  }

  template <class Sequence, class Element>
  peer::Flooded flood(const std::string& type, size_t payload, uint32_t count, void (_objref_Peer::*send)(const Sequence&)) {
    const size_t elements = peer::elements_of(type, payload);
    auto& buffers = kept.of<peer::Buffers<Element>>(elements);
    return flood(type, payload, count, [&](uint32_t number) {
      // The sequence borrows the buffer.
      (peer->*send)(Sequence(CORBA::ULong(elements), CORBA::ULong(elements), buffers[number], false));
    });
  }

  template <class Send> peer::Flooded flood(const std::string& type, size_t payload, uint32_t count, Send send) {
    peer->expect(type.c_str(), CORBA::ULong(payload), count);
    return peer::timed_flood(count, send, [&](std::string& fault) {
      CORBA::String_var what;
      const auto executed = peer->received(what.out());
      fault = what.in();
      return executed;
    });
  }
};

}  // namespace

int main(int argc, char** argv) {
  const peer::Settings settings = peer::settings(argc, argv);
  peer::queue = settings.queue;
  try {
    if (settings.role == "serve") serve(settings);
    OmniDriver driver(settings.address);
    peer::Commands(driver).run();
    std::_Exit(0);  // see serve
  } catch (const CORBA::Exception& exception) {
    std::cerr << "omniORB: " << exception._name() << std::endl;
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << std::endl;
  }
  return 1;
}
