// The C library's sockets as a peer: `peer serve` and `peer drive`, see ../README.md for the protocol. What any messaging
// can at best be as fast as, written as C programs write it: `send` and `recv` in loops, one thread for each connection.
//
// Settings, and why:
//   TCP_NODELAY                    requests and replies leave at once
//   elements as memory holds them  a flood's buffers go out as they lie there; that is right only between machines of a kind
//   a head for two-way calls only  head and body leave by one `sendmsg`; a flood is agreed on once, and its buffers are bare
//
//   two-way     | operation, u32 | octets, u32 | body … |  →     ←  | operation | octets | body … |
//   flood       | FLOOD | octets | Expected |              →     ←  | FLOOD | 0 |
//               | buffers …                                →     ←  | executed, u32 | octets | fault, text |

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "peer.h"

namespace {

constexpr uint32_t MOST = 256 << 20;  // octets of a message: above what any measurement sends

int queue = 0;

[[noreturn]] void failed(const std::string& step) { throw peer::Failure(step + ": " + std::strerror(errno)); }

// -------------------------------------------------------------------------------------------------- sockets

// A socket of this kind, not yet connected or bound.
int new_socket(int family) {
  const int made = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0) failed("make a socket");
  return made;
}

// Before a handshake: what a TCP socket accepts inherits them.
void size_queues(int socket) {
  if (queue == 0) return;
  setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &queue, sizeof queue);
  setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &queue, sizeof queue);
}

void at_once(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // a Unix socket has no such option, and needs none
}

// `unix:PATH` or `HOST:PORT`.
struct Address {
  union {
    sockaddr any;
    sockaddr_in internet;
    sockaddr_un local;
  };
  socklen_t length = 0;

  explicit Address(const std::string& text) : local{} {
    if (text.starts_with("unix:")) {
      if (text.size() - 5 >= sizeof local.sun_path) throw peer::Failure("the path of " + text + " is too long");
      local.sun_family = AF_UNIX;
      std::strcpy(local.sun_path, text.c_str() + 5);
      length = sizeof local;
    } else {
      const auto colon = text.rfind(':');
      internet.sin_family = AF_INET;
      if (colon == text.npos || inet_pton(AF_INET, text.substr(0, colon).c_str(), &internet.sin_addr) != 1)
        throw peer::Failure("no address: " + text);
      internet.sin_port = htons(uint16_t(std::atoi(text.c_str() + colon + 1)));
      length = sizeof internet;
    }
  }
};

// A connection: whole transfers, in as many calls as they take.
class Connection {
public:
  explicit Connection(int socket) : socket(socket) {}
  Connection(const Connection&) = delete;
  ~Connection() { close(socket); }

  void send(const void* octets, size_t length) {
    const char* from = static_cast<const char*>(octets);
    while (length > 0) {
      const ssize_t sent = ::send(socket, from, length, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) failed("send");
      from += sent;
      length -= size_t(sent);
    }
  }

  // A head and what belongs to it, in one call where there is room for both.
  void send(const void* head, size_t first, const void* body, size_t second) {
    iovec parts[] = {{const_cast<void*>(head), first}, {const_cast<void*>(body), second}};
    msghdr message = {};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    ssize_t sent;
    while ((sent = sendmsg(socket, &message, MSG_NOSIGNAL)) < 0)
      if (errno != EINTR) failed("send");
    const size_t done = size_t(sent);
    if (done < first) send(static_cast<const char*>(head) + done, first - done);
    const size_t of_body = done < first ? 0 : done - first;
    if (of_body < second) send(static_cast<const char*>(body) + of_body, second - of_body);
  }

  // Whether all has come: false if the peer has ended before the first octet.
  bool receive(void* into, size_t length) {
    char* to = static_cast<char*>(into);
    for (size_t left = length; left > 0;) {
      const ssize_t received = recv(socket, to, left, 0);
      if (received < 0 && errno == EINTR) continue;
      if (received < 0) failed("receive");
      if (received == 0 && left == length) return false;
      if (received == 0) throw peer::Failure("receive: the connection has ended");
      to += received;
      left -= size_t(received);
    }
    return true;
  }

  void receive_all(void* into, size_t length) {
    if (length > 0 && !receive(into, length)) throw peer::Failure("receive: the connection has ended");
  }

private:
  int socket;
};

// ------------------------------------------------------------------------------------------------- messages

enum Operation : uint32_t { PING, ECHO, CUBE_SHORT, CUBE_LONG, CUBE_OCTET, CUBE_STRUCT, CUBE_OCTETS, CUBE_LONGS, FLOOD };

struct Head {
  uint32_t operation, octets;
};

struct Expected {
  char type[16];
  uint64_t payload;
  uint32_t count, unused;
};

struct Mixed {
  uint8_t o;
  int32_t l;
  int16_t s;
};

struct BinStruct {
  int16_t s;
  char c;
  int32_t l;
  uint8_t o;
  double d;
};

struct BinStruct32 {
  int16_t s;
  char c;
  int32_t l;
  uint8_t o;
  double d;
  uint8_t filler[8];
};

// Calls `body` with a null pointer to what a type's elements are.
template <class Body> auto with_element(const std::string& type, Body body) {
  if (type == "char") return body(static_cast<char*>(nullptr));
  if (type == "short") return body(static_cast<int16_t*>(nullptr));
  if (type == "long") return body(static_cast<int32_t*>(nullptr));
  if (type == "double") return body(static_cast<double*>(nullptr));
  if (type == "struct") return body(static_cast<BinStruct*>(nullptr));
  if (type == "struct32") return body(static_cast<BinStruct32*>(nullptr));
  if (type == "string") return body(static_cast<peer::Character*>(nullptr));
  return body(static_cast<uint8_t*>(nullptr));
}

// --------------------------------------------------------------------------------------------------- serving

template <class T> void cube_each(std::vector<char>& octets) {
  T* values = reinterpret_cast<T*>(octets.data());
  for (size_t index = 0; index < octets.size() / sizeof(T); ++index) values[index] = peer::cube(values[index]);
}

// Makes the reply's body of the request's.
void execute(uint32_t operation, std::vector<char>& body) {
  switch (operation) {
    case PING: case ECHO: return;
    case CUBE_SHORT: return cube_each<int16_t>(body);
    case CUBE_LONG: case CUBE_LONGS: return cube_each<int32_t>(body);
    case CUBE_OCTET: case CUBE_OCTETS: return cube_each<uint8_t>(body);
    case CUBE_STRUCT: {
      Mixed value;
      if (body.size() != sizeof value) throw peer::Failure("a struct of another size");
      std::memcpy(&value, body.data(), sizeof value);
      value = {peer::cube(value.o), peer::cube(value.l), peer::cube(value.s)};
      std::memcpy(body.data(), &value, sizeof value);
      return;
    }
    default: throw peer::Failure("no such operation");
  }
}

void take_flood(Connection& connection, const std::vector<char>& body) {
  Expected expected;
  if (body.size() != sizeof expected) throw peer::Failure("no flood");
  std::memcpy(&expected, body.data(), sizeof expected);
  expected.type[sizeof expected.type - 1] = 0;
  const std::string type = expected.type;
  const size_t elements = peer::elements_of(type, expected.payload), size = elements * peer::size_of(type);
  if (size > MOST) throw peer::Failure("buffers too large");
  peer::Receiver receiver;
  receiver.expect(type, expected.payload, expected.count);
  std::vector<char> buffer(size);
  const Head ready = {FLOOD, 0};
  connection.send(&ready, sizeof ready);
  with_element(type, [&](auto* element) {
    using Element = std::remove_pointer_t<decltype(element)>;
    for (uint32_t number = 0; number < expected.count; ++number) {
      connection.receive_all(buffer.data(), size);
      receiver.take(type.c_str(), reinterpret_cast<const Element*>(buffer.data()), elements);
    }
  });
  std::string fault;
  const uint32_t executed = receiver.received(fault);
  const Head report = {executed, uint32_t(fault.size())};
  connection.send(&report, sizeof report, fault.data(), fault.size());
}

void converse(int socket) {
  Connection connection(socket);
  std::vector<char> body;
  try {
    for (Head head; connection.receive(&head, sizeof head);) {
      if (head.octets > MOST) return;
      body.resize(head.octets);
      connection.receive_all(body.data(), body.size());
      if (head.operation == FLOOD) {
        take_flood(connection, body);
      } else {
        execute(head.operation, body);
        connection.send(&head, sizeof head, body.data(), body.size());
      }
    }
  } catch (const std::exception&) {
    // The connection's end says it: its client has gone, or sends what no client does, or there is no memory for it.
  }
}

[[noreturn]] void serve(const peer::Settings& settings) {
  const std::string path = peer::new_socket_path();
  Address address(settings.unix_socket ? "unix:" + path : settings.host + ":" + std::to_string(settings.port));
  const int listener = new_socket(address.any.sa_family);
  size_queues(listener);
  if (bind(listener, &address.any, address.length) != 0) failed("bind");
  if (listen(listener, SOMAXCONN) != 0) failed("listen");
  std::string where = "unix:" + path;
  if (!settings.unix_socket) {
    getsockname(listener, &address.any, &address.length);
    where = settings.host + ":" + std::to_string(ntohs(address.internet.sin_port));
  }
  std::thread([path] {
    peer::wait_for_end_of_input();
    unlink(path.c_str());
    std::_Exit(0);
  }).detach();
  std::cout << "ready " << where << std::endl;
  for (;;) {
    const int accepted = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (accepted < 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));  // out of descriptors, perhaps
      continue;
    }
    if (settings.unix_socket) size_queues(accepted);
    at_once(accepted);
    std::thread(converse, accepted).detach();
  }
}

// --------------------------------------------------------------------------------------------------- driving

class Client {
public:
  explicit Client(const std::string& where) : connection(open(where)) {}

  // What comes back has as many octets as `from`, and lies in `into`.
  void call(uint32_t operation, const void* from, void* into, size_t octets) {
    const Head head = {operation, uint32_t(octets)};
    Head reply;
    connection.send(&head, sizeof head, from, octets);
    connection.receive_all(&reply, sizeof reply);
    if (reply.operation != operation || reply.octets != octets) throw peer::Failure("a reply to another request");
    connection.receive_all(into, octets);
  }
  void ping() { call(PING, nullptr, nullptr, 0); }

  void begin(const std::string& type, size_t payload, uint32_t count) {
    Expected expected = {};
    type.copy(expected.type, sizeof expected.type - 1);
    expected.payload = payload;
    expected.count = count;
    const Head head = {FLOOD, sizeof expected};
    connection.send(&head, sizeof head, &expected, sizeof expected);
    Head ready;
    connection.receive_all(&ready, sizeof ready);
  }
  void send(const void* octets, size_t length) { connection.send(octets, length); }
  uint32_t received(std::string& fault) {
    Head report;
    connection.receive_all(&report, sizeof report);
    if (report.octets > 1000) throw peer::Failure("a report that is none");
    fault.resize(report.octets);
    connection.receive_all(fault.data(), fault.size());
    return report.operation;
  }

private:
  Connection connection;

  static int open(const std::string& where) {
    Address address(where);
    const int made = new_socket(address.any.sa_family);
    size_queues(made);
    if (connect(made, &address.any, address.length) != 0) {
      const int reason = errno;
      close(made);
      errno = reason;
      failed("connect to " + where);
    }
    at_once(made);
    return made;
  }
};

// A value, or many, that come back as they are or cubed.
template <class T, bool CUBED> struct Values : peer::Call {
  Values(std::shared_ptr<Client> client, uint32_t operation, size_t length)
      : client(std::move(client)), operation(operation), sent(length), got(length) {
    for (size_t index = 0; index < length; ++index) sent[index] = T(index * 3);
  }
  void change(uint64_t number) override { peer::stamp(sent.data(), sent.size(), number); }
  void make() override { client->call(operation, sent.data(), got.data(), sent.size() * sizeof(T)); }
  void verify() override {
    for (size_t index = 0; index < sent.size(); ++index)
      peer::verified(got[index] == (CUBED ? peer::cube(sent[index]) : sent[index]));
    std::fill(got.begin(), got.end(), T(0));
  }
  std::shared_ptr<Client> client;
  uint32_t operation;
  std::vector<T> sent, got;
};

struct CubeStruct : peer::Call {
  explicit CubeStruct(std::shared_ptr<Client> client) : client(std::move(client)) {}
  void change(uint64_t number) override { sent = {uint8_t(number), int32_t(number * 77), int16_t(number * 7)}; }
  void make() override { client->call(CUBE_STRUCT, &sent, &got, sizeof sent); }
  void verify() override {
    peer::verified(got.o == peer::cube(sent.o) && got.l == peer::cube(sent.l) && got.s == peer::cube(sent.s));
  }
  std::shared_ptr<Client> client;
  Mixed sent = {}, got = {};
};

class SocketsDriver : public peer::ConnectedDriver<Client> {
public:
  using ConnectedDriver::ConnectedDriver;

  std::unique_ptr<peer::Call> call(const std::string& kind, size_t size) override { return call(kind, size, client); }
  std::unique_ptr<peer::Call> call_of_thread(const std::string& kind, size_t size) override {
    return call(kind, size, open());
  }

  peer::Flooded flood(const std::string& type, size_t payload, uint32_t count) override {
    const size_t elements = peer::elements_of(type, payload);
    return with_element(type, [&](auto* element) {
      using Element = std::remove_pointer_t<decltype(element)>;
      auto& buffers = kept.of<peer::Buffers<Element>>(elements);
      try {
        client->begin(type, payload, count);
        return peer::timed_flood(
            count, [&](uint32_t number) { client->send(buffers[number], elements * sizeof(Element)); },
            [&](std::string& fault) { return client->received(fault); });
      } catch (const peer::Failure&) {
        // What is left in a connection is nobody's.
        renew();
        throw;
      }
    });
  }

private:
  peer::Kept kept;

  void renew() {
    try {
      client = open();
    } catch (const peer::Failure&) {
      // Whoever calls next is told.
    }
  }

  static std::unique_ptr<peer::Call> call(const std::string& kind, size_t size, std::shared_ptr<Client> client) {
    if (kind == "null" || kind == "cube.void") return std::make_unique<peer::NoArgument>([client] { client->ping(); });
    if (kind == "cube.short") return std::make_unique<Values<int16_t, true>>(client, CUBE_SHORT, 1);
    if (kind == "cube.long") return std::make_unique<Values<int32_t, true>>(client, CUBE_LONG, 1);
    if (kind == "cube.octet") return std::make_unique<Values<uint8_t, true>>(client, CUBE_OCTET, 1);
    if (kind == "cube.struct") return std::make_unique<CubeStruct>(client);
    if (kind == "echo.octet") return std::make_unique<Values<uint8_t, false>>(client, ECHO, size);
    if (kind == "cube.octets") return std::make_unique<Values<uint8_t, true>>(client, CUBE_OCTETS, size);
    if (kind == "cube.longs") return std::make_unique<Values<int32_t, true>>(client, CUBE_LONGS, size / 4);
    throw peer::Failure("no kind " + kind);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const peer::Settings settings = peer::settings(argc, argv);
  queue = settings.queue;
  try {
    if (settings.role == "serve") serve(settings);
    SocketsDriver driver(settings.address);
    peer::Commands(driver).run();
    return 0;
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << std::endl;
  }
  return 1;
}
