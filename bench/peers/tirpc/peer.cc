// ONC RPC over libtirpc as a peer: `peer serve` and `peer drive`, see ../README.md for the protocol.
// `xdr=generated` (the default) floods with the encoding that rpcgen generates, `xdr=opaque` with the elements' memory as
// opaque octets, as the field's experiment optimised it by hand; that is right only between machines of a kind.
//
// Settings, and why:
//   one-way calls are batched      a zero timeout and no result: they are gathered in the send buffer, and the next
//                                  two-way call sends what is left (rpc(3), "batching")
//   buffers of 256 KiB             the most that libtirpc grants over TCP: fewer writes in bulk
//   rpcgen -i 4                    the four small members of a struct are encoded in line, not by a call each
//   TCP_NODELAY                    calls and replies leave at once
//   one thread serves all          svc_run, which is how libtirpc serves; each calling thread has a client of its own

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <rpc/rpc.h>
#include <sys/un.h>

#include "bench.h"
#include "peer.h"
#include "queues.h"

extern "C" void bench_1(svc_req*, SVCXPRT*);

namespace {

constexpr unsigned BUFFER = 256 << 10;

[[noreturn]] void failed(const std::string& step) { throw peer::Failure(step + ": " + std::strerror(errno)); }

// A socket of this kind, not yet connected or bound.
int new_socket(int family) {
  const int made = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0) failed("make a socket");
  const int on = 1;
  if (family == AF_INET) setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return made;
}

// `unix:PATH` or `HOST:PORT`.
struct Address {
  sockaddr_storage storage = {};
  socklen_t length = 0;

  explicit Address(const std::string& text) {
    if (text.starts_with("unix:")) {
      auto& name = reinterpret_cast<sockaddr_un&>(storage);
      name.sun_family = AF_UNIX;
      if (text.size() - 5 >= sizeof name.sun_path) throw peer::Failure("the path of " + text + " is too long");
      std::strcpy(name.sun_path, text.c_str() + 5);
      length = sizeof name;
    } else {
      auto& host = reinterpret_cast<sockaddr_in&>(storage);
      const auto colon = text.rfind(':');
      host.sin_family = AF_INET;
      host.sin_port = htons(uint16_t(std::atoi(text.c_str() + colon + 1)));
      length = sizeof host;
      if (colon == text.npos || inet_pton(AF_INET, text.substr(0, colon).c_str(), &host.sin_addr) != 1)
        throw peer::Failure("no address: " + text);
    }
  }

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// --------------------------------------------------------------------------------------------------- serving

peer::Receiver receiver;

// One-way calls have no reply: the generated dispatcher sends none when it is told FALSE.
template <class Array> bool_t take(const char* type, const Array* array) {
  const auto& [length, elements] = *array;
  receiver.take(type, elements, length);
  return FALSE;
}

template <class Element> void take_memory(const char* type, const octets* memory) {
  const size_t whole = memory->octets_len % sizeof(Element) == 0 ? memory->octets_len / sizeof(Element) : 0;
  receiver.take(type, reinterpret_cast<const Element*>(memory->octets_val), whole);
}

// The argument's memory becomes the result's.
template <class Array> bool_t hand_back(Array* argument, Array* result) {
  *result = *argument;
  *argument = {};
  return TRUE;
}

template <class T> bool_t cubed(const T* value, T* result) {
  *result = peer::cube(*value);
  return TRUE;
}

void serve(const peer::Settings& settings) {
  const std::string path = peer::new_socket_path();
  Address address(settings.unix_socket ? "unix:" + path : settings.host + ":" + std::to_string(settings.port));
  const int listener = new_socket(address.storage.ss_family);
  if (bind(listener, address.get(), address.length) != 0) failed("bind");
  if (listen(listener, SOMAXCONN) != 0) failed("listen");
  SVCXPRT* transport = svc_vc_create(listener, BUFFER, BUFFER);
  // Without a netconfig nothing is told to rpcbind.
  if (!transport || !svc_reg(transport, BENCH, BENCH_1, bench_1, nullptr)) throw peer::Failure("libtirpc cannot serve");
  std::string where = "unix:" + path;
  if (!settings.unix_socket) {
    sockaddr_in bound;
    socklen_t length = sizeof bound;
    getsockname(listener, reinterpret_cast<sockaddr*>(&bound), &length);
    where = settings.host + ":" + std::to_string(ntohs(bound.sin_port));
  }
  std::thread([path] {
    peer::wait_for_end_of_input();
    unlink(path.c_str());
    std::_Exit(0);
  }).detach();
  std::cout << "ready " << where << std::endl;
  svc_run();
  throw peer::Failure("svc_run has returned");
}

}  // namespace

bool_t ping_1_svc(void*, void*, svc_req*) { return TRUE; }
bool_t echo_1_svc(octets* value, octets* result, svc_req*) { return hand_back(value, result); }
bool_t cube_short_1_svc(short* value, short* result, svc_req*) { return cubed(value, result); }
bool_t cube_long_1_svc(int* value, int* result, svc_req*) { return cubed(value, result); }
bool_t cube_octet_1_svc(u_char* value, u_char* result, svc_req*) { return cubed(value, result); }
bool_t cube_struct_1_svc(mixed* value, mixed* result, svc_req*) {
  *result = {peer::cube(value->o), peer::cube(value->l), peer::cube(value->s)};
  return TRUE;
}
bool_t cube_octets_1_svc(octets* value, octets* result, svc_req*) {
  for (u_int index = 0; index < value->octets_len; ++index)
    value->octets_val[index] = char(peer::cube(uint8_t(value->octets_val[index])));
  return hand_back(value, result);
}
bool_t cube_longs_1_svc(longs* value, longs* result, svc_req*) {
  for (u_int index = 0; index < value->longs_len; ++index) value->longs_val[index] = peer::cube(value->longs_val[index]);
  return hand_back(value, result);
}

bool_t expect_1_svc(expectation* wanted, void*, svc_req*) {
  receiver.expect(wanted->type, wanted->payload, wanted->buffers);
  return TRUE;
}
bool_t send_octets_1_svc(octets* buffer, void*, svc_req*) {
  receiver.take("octet", reinterpret_cast<const uint8_t*>(buffer->octets_val), buffer->octets_len);
  return FALSE;
}
bool_t send_chars_1_svc(chars* buffer, void*, svc_req*) { return take("char", buffer); }
bool_t send_shorts_1_svc(shorts* buffer, void*, svc_req*) { return take("short", buffer); }
bool_t send_longs_1_svc(longs* buffer, void*, svc_req*) { return take("long", buffer); }
bool_t send_doubles_1_svc(doubles* buffer, void*, svc_req*) { return take("double", buffer); }
bool_t send_structs_1_svc(structs* buffer, void*, svc_req*) { return take("struct", buffer); }
bool_t send_structs32_1_svc(structs32* buffer, void*, svc_req*) { return take("struct32", buffer); }
bool_t send_string_1_svc(text* buffer, void*, svc_req*) {
  receiver.take(*buffer);
  return FALSE;
}
bool_t send_opaque_1_svc(octets* buffer, void*, svc_req*) {
  const std::string type = receiver.type();
  if (type == "octet") take_memory<uint8_t>("octet", buffer);
  if (type == "char") take_memory<char>("char", buffer);
  if (type == "short") take_memory<short>("short", buffer);
  if (type == "long") take_memory<int>("long", buffer);
  if (type == "double") take_memory<double>("double", buffer);
  if (type == "struct") take_memory<bin_struct>("struct", buffer);
  if (type == "struct32") take_memory<bin_struct32>("struct32", buffer);
  if (type == "string") take_memory<peer::Character>("string", buffer);
  return FALSE;
}
bool_t received_1_svc(void*, progress* result, svc_req*) {
  std::string fault;
  result->executed = receiver.received(fault);
  result->fault = strdup(fault.c_str());
  return TRUE;
}
int bench_1_freeresult(SVCXPRT*, xdrproc_t free_result, caddr_t result) {
  xdr_free(free_result, result);
  return TRUE;
}

namespace {

// --------------------------------------------------------------------------------------------------- driving

class Client {
public:
  explicit Client(const std::string& where) {
    Address address(where);
    socket = new_socket(address.storage.ss_family);
    if (connect(socket, address.get(), address.length) != 0) {
      const int reason = errno;
      close(socket);
      errno = reason;
      failed("connect to " + where);
    }
    netbuf peer = {address.length, address.length, &address.storage};
    client = clnt_vc_create(socket, &peer, BENCH, BENCH_1, BUFFER, BUFFER);
    if (!client) {
      close(socket);
      throw peer::Failure(clnt_spcreateerror("libtirpc"));
    }
  }
  Client(const Client&) = delete;
  ~Client() {
    clnt_destroy(client);
    close(socket);
  }

  template <class Argument, class Result>
  void call(rpcproc_t procedure, bool_t (*encode)(XDR*, Argument*), Argument* argument,
            bool_t (*decode)(XDR*, Result*), Result* result) {
    invoke(procedure, xdrproc_t(encode), argument, xdrproc_t(decode), result, {60, 0});
  }
  void ping() { invoke(PING, xdrproc_t(xdr_void), nullptr, xdrproc_t(xdr_void), nullptr, {60, 0}); }
  template <class Argument> void batch(rpcproc_t procedure, bool_t (*encode)(XDR*, Argument*), Argument argument) {
    invoke(procedure, xdrproc_t(encode), &argument, nullptr, nullptr, {0, 0});
  }
  progress received() {
    progress result = {};
    invoke(RECEIVED, xdrproc_t(xdr_void), nullptr, xdrproc_t(xdr_progress), &result, {60, 0});
    return result;
  }
  void expect(expectation wanted) {
    invoke(EXPECT, xdrproc_t(xdr_expectation), &wanted, xdrproc_t(xdr_void), nullptr, {60, 0});
  }

private:
  int socket;
  CLIENT* client;

  void invoke(rpcproc_t procedure, xdrproc_t encode, void* argument, xdrproc_t decode, void* result, timeval timeout) {
    if (clnt_call(client, procedure, encode, argument, decode, result, timeout) != RPC_SUCCESS)
      throw peer::Failure(clnt_sperror(client, "libtirpc"));
  }
};

struct Ping : peer::Call {
  explicit Ping(std::shared_ptr<Client> client) : client(std::move(client)) {}
  void change(uint64_t) override {}
  void make() override { client->ping(); }
  void verify() override {}
  std::shared_ptr<Client> client;
};

template <class T> struct CubeScalar : peer::Call {
  CubeScalar(std::shared_ptr<Client> client, rpcproc_t procedure, bool_t (*code)(XDR*, T*))
      : client(std::move(client)), procedure(procedure), code(code) {}
  void change(uint64_t number) override { sent = T(number * 7 + 3); }
  void make() override { client->call(procedure, code, &sent, code, &got); }
  void verify() override { peer::verified(got == peer::cube(sent)); }
  std::shared_ptr<Client> client;
  rpcproc_t procedure;
  bool_t (*code)(XDR*, T*);
  T sent = 0, got = 0;
};

struct CubeStruct : peer::Call {
  explicit CubeStruct(std::shared_ptr<Client> client) : client(std::move(client)) {}
  void change(uint64_t number) override { sent = {u_char(number), int(number * 77), short(number * 7)}; }
  void make() override { client->call(CUBE_STRUCT, xdr_mixed, &sent, xdr_mixed, &got); }
  void verify() override {
    peer::verified(got.o == peer::cube(sent.o) && got.l == peer::cube(sent.l) && got.s == peer::cube(sent.s));
  }
  std::shared_ptr<Client> client;
  mixed sent = {}, got = {};
};

// Element is what the memory of an Array's elements holds.
template <class Array, class Element, bool CUBED> struct Values : peer::Call {
  Values(std::shared_ptr<Client> client, rpcproc_t procedure, bool_t (*code)(XDR*, Array*), size_t length)
      : client(std::move(client)), procedure(procedure), code(code), values(length) {
    for (size_t index = 0; index < length; ++index) values[index] = Element(index * 3);
  }
  ~Values() override { xdr_free(xdrproc_t(code), &got); }
  void change(uint64_t number) override { peer::stamp(values.data(), values.size(), number); }
  void make() override {
    Array sent = {};
    auto& [length, elements] = sent;
    length = u_int(values.size());
    elements = reinterpret_cast<std::remove_reference_t<decltype(elements)>>(values.data());
    client->call(procedure, code, &sent, code, &got);
  }
  void verify() override {
    const auto& [length, elements] = got;
    const auto* returned = reinterpret_cast<const Element*>(elements);
    bool same = length == values.size();
    for (size_t index = 0; same && index < values.size(); ++index)
      same = returned[index] == (CUBED ? peer::cube(values[index]) : values[index]);
    peer::verified(same);
    xdr_free(xdrproc_t(code), &got);
    got = {};
  }
  std::shared_ptr<Client> client;
  rpcproc_t procedure;
  bool_t (*code)(XDR*, Array*);
  std::vector<Element> values;
  Array got = {};
};

class TirpcDriver : public peer::ConnectedDriver<Client> {
public:
  TirpcDriver(const peer::Settings& settings, bool opaque) : ConnectedDriver(settings.address), opaque(opaque) {}

  std::unique_ptr<peer::Call> call(const std::string& kind, size_t size) override { return call(kind, size, client); }
  std::unique_ptr<peer::Call> call_of_thread(const std::string& kind, size_t size) override {
    return call(kind, size, open());
  }

  peer::Flooded flood(const std::string& type, size_t payload, uint32_t count) override {
    if (type == "octet") return flood<octets, uint8_t>(type, payload, count, SEND_OCTETS, xdr_octets);
    if (type == "char") return flood<chars, char>(type, payload, count, SEND_CHARS, xdr_chars);
    if (type == "short") return flood<shorts, short>(type, payload, count, SEND_SHORTS, xdr_shorts);
    if (type == "long") return flood<longs, int>(type, payload, count, SEND_LONGS, xdr_longs);
    if (type == "double") return flood<doubles, double>(type, payload, count, SEND_DOUBLES, xdr_doubles);
    if (type == "struct") return flood<structs, bin_struct>(type, payload, count, SEND_STRUCTS, xdr_structs);
    if (type == "struct32")
      return flood<structs32, bin_struct32>(type, payload, count, SEND_STRUCTS32, xdr_structs32);
    const size_t length = peer::elements_of(type, payload);
    auto& strings = kept.of<peer::Strings>(length);
    return flood(type, payload, count, [&](uint32_t number) {
      char* string = strings[number];
      if (opaque)
        client->batch(SEND_OPAQUE, xdr_octets, octets{u_int(length), string});
      else
        client->batch(SEND_STRING, xdr_text, string);
    });
  }

private:
  bool opaque;
  peer::Kept kept;

  static std::unique_ptr<peer::Call> call(const std::string& kind, size_t size, std::shared_ptr<Client> client) {
    if (kind == "null" || kind == "cube.void") return std::make_unique<Ping>(client);
    if (kind == "cube.short") return std::make_unique<CubeScalar<short>>(client, CUBE_SHORT, xdr_short);
    if (kind == "cube.long") return std::make_unique<CubeScalar<int>>(client, CUBE_LONG, xdr_int);
    if (kind == "cube.octet") return std::make_unique<CubeScalar<u_char>>(client, CUBE_OCTET, xdr_u_char);
    if (kind == "cube.struct") return std::make_unique<CubeStruct>(client);
    if (kind == "echo.octet") return std::make_unique<Values<octets, uint8_t, false>>(client, ECHO, xdr_octets, size);
    if (kind == "cube.octets")
      return std::make_unique<Values<octets, uint8_t, true>>(client, CUBE_OCTETS, xdr_octets, size);
    if (kind == "cube.longs") return std::make_unique<Values<longs, int, true>>(client, CUBE_LONGS, xdr_longs, size / 4);
    throw peer::Failure("no kind " + kind);
  }

  template <class Array, class Element>
  peer::Flooded flood(const std::string& type, size_t payload, uint32_t count, rpcproc_t send, bool_t (*encode)(XDR*, Array*)) {
    const size_t elements = peer::elements_of(type, payload);
    auto& buffers = kept.of<peer::Buffers<Element>>(elements);
    return flood(type, payload, count, [&](uint32_t number) {
      Element* buffer = buffers[number];
      if (opaque) {
        const u_int length = u_int(elements * sizeof(Element));
        client->batch(SEND_OPAQUE, xdr_octets, octets{length, reinterpret_cast<char*>(buffer)});
      } else {
        Array array = {};
        auto& [length, first] = array;
        length = u_int(elements);
        first = reinterpret_cast<std::remove_reference_t<decltype(first)>>(buffer);
        client->batch(send, encode, array);
      }
    });
  }

  template <class Send> peer::Flooded flood(const std::string& type, size_t payload, uint32_t count, Send send) {
    client->expect({const_cast<char*>(type.c_str()), u_int(payload), count});
    return peer::timed_flood(count, send, [&](std::string& fault) {
      progress seen = client->received();
      fault = seen.fault;
      xdr_free(xdrproc_t(xdr_progress), &seen);
      return seen.executed;
    });
  }
};

}  // namespace

int main(int argc, char** argv) {
  peer::Settings settings = peer::settings(argc, argv, {"xdr"});
  const std::string xdr = settings.own.count("xdr") ? settings.own["xdr"] : "generated";
  if (xdr != "generated" && xdr != "opaque") peer::refuse("cannot use xdr=" + xdr + ": it is generated or opaque");
  peer::queue = settings.queue;
  try {
    if (settings.role == "serve") serve(settings);
    TirpcDriver driver(settings, xdr == "opaque");
    peer::Commands(driver).run();
    return 0;
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << std::endl;
  }
  return 1;
}
