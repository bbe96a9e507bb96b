// What the C++ peers have in common: the command loop of `drive`, the patterns of a flood and their check.
// How calls are made and buffers sent is each peer's own: a `Driver`. The protocol stands in ../README.md.

#pragma once

#include <algorithm>
#include <any>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace peer {

inline uint64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Failure : std::runtime_error { using std::runtime_error::runtime_error; };
struct Unsupported : std::runtime_error { using std::runtime_error::runtime_error; };

// ------------------------------------------------------------------------------------------------ arguments

[[noreturn]] inline void refuse(const std::string& why) {
  std::cerr << why << std::endl;
  std::exit(2);
}

struct Settings {
  std::string role, address;
  std::string host = "127.0.0.1";  // where `serve` listens
  int port = 0;                    // and at which port; 0: one that is free
  bool unix_socket = false;
  int queue = 0;  // octets of the sockets' queues; 0 leaves the system's
  std::map<std::string, std::string> own;
};

// Reads `serve [KEY=VALUE…]` or `drive ADDRESS [KEY=VALUE…]`; `own` are further keys, of drive only.
inline Settings settings(int argc, char** argv, std::initializer_list<const char*> own = {}) {
  Settings settings;
  if (argc > 1) settings.role = argv[1];
  const bool drive = settings.role == "drive";
  if ((settings.role != "serve" && !drive) || (drive && argc < 3))
    refuse("usage: peer serve [KEY=VALUE...] | peer drive ADDRESS [KEY=VALUE...]");
  if (drive) settings.address = argv[2];
  for (int index = drive ? 3 : 2; index < argc; ++index) {
    const std::string argument = argv[index], key = argument.substr(0, argument.find('='));
    const std::string value = argument.size() > key.size() ? argument.substr(key.size() + 1) : "";
    if (key == "transport" && (value == "tcp" || value == "unix")) {
      settings.unix_socket = value == "unix";
    } else if (key == "queue" && !value.empty() && value.find_first_not_of("0123456789") == value.npos && value.size() < 10) {
      settings.queue = std::stoi(value);
    } else if (!drive && key == "host" && !value.empty()) {
      settings.host = value;
    } else if (!drive && key == "port" && !value.empty() && value.find_first_not_of("0123456789") == value.npos &&
               value.size() < 6 && std::stoi(value) < 65536) {
      settings.port = std::stoi(value);
    } else if (drive && std::find(own.begin(), own.end(), key) != own.end()) {
      settings.own[key] = value;
    } else {
      refuse("cannot use " + argument + ": keys are transport=tcp|unix, queue=OCTETS, and for serve host=ADDRESS, port=PORT");
    }
  }
  std::signal(SIGPIPE, SIG_IGN);  // a peer that is gone is an error of the call
  // Thousands of idle connections are asked for; the usual soft limit is 1,024 descriptors.
  rlimit descriptors;
  if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
    descriptors.rlim_cur = descriptors.rlim_max;
    setrlimit(RLIMIT_NOFILE, &descriptors);
  }
  return settings;
}

inline void wait_for_end_of_input() {
  char octets[256];
  while (read(STDIN_FILENO, octets, sizeof octets) > 0) {}
}

inline std::string new_socket_path() {
  const char* folder = std::getenv("TMPDIR");
  return std::string(folder ? folder : "/tmp") + "/peer-" + std::to_string(getpid()) + ".socket";
}

// ------------------------------------------------------------------------------------------------- patterns

// A character of a string: one of 64 that are printable and ASCII, `0` to `o`, which every code set has, and no NUL.
struct Character {
  char code;
  bool operator==(const Character&) const = default;
};

// What element `value` of a flood holds: the value truncated to the type, in each member of a struct.
template <class T> void assign(T& element, uint32_t value) {
  if constexpr (requires { element.s; }) {
    assign(element.s, value);
    assign(element.c, value);
    assign(element.l, value);
    assign(element.o, value);
    assign(element.d, value);
    if constexpr (requires { element.filler; }) std::memset(element.filler, uint8_t(value), sizeof element.filler);
  } else if constexpr (std::is_same_v<T, Character>) {
    element.code = char('0' + value % 64);
  } else {
    element = static_cast<T>(value);
  }
}

template <class T> bool holds(const T& element, uint32_t value) {
  T expected;
  assign(expected, value);
  if constexpr (requires { element.s; }) {
    bool same = element.s == expected.s && element.c == expected.c && element.l == expected.l &&
                element.o == expected.o && element.d == expected.d;
    if constexpr (requires { element.filler; })
      same = same && std::memcmp(element.filler, expected.filler, sizeof element.filler) == 0;
    return same;
  } else {
    return element == expected;
  }
}

// How far the pattern of a buffer is from the one before.
constexpr uint32_t STEP = 31;

// The buffers of a flood, each a window on one table, so that making the next one costs as good as nothing.
template <class T> class Buffers {
public:
  const size_t elements;

  explicit Buffers(size_t elements) : elements(elements), table(elements + STEP * (ROUND - 1)) { fill(0); }

  T* operator[](uint32_t number) {
    if (number / ROUND != round) fill(number / ROUND);
    return table.data() + STEP * (number % ROUND);
  }

private:
  // So many windows before the table is written anew: seldom, and small buffers stay in the second-level cache.
  static constexpr uint32_t ROUND = 256;
  std::vector<T> table;
  uint32_t round = 0;

  void fill(uint32_t round) {
    this->round = round;
    uint32_t value = round * ROUND * STEP;
    for (T& element : table) assign(element, value++);
  }
};

// The same of strings, which end with a NUL while they are the one that was asked for last.
class Strings {
public:
  const size_t elements;

  explicit Strings(size_t length) : elements(length), buffers(length + 1) {}

  char* operator[](uint32_t number) {
    if (end) *end = overwritten;
    Character* text = buffers[number];
    end = text + elements;
    overwritten = *end;
    *end = {0};
    return reinterpret_cast<char*>(text);
  }

private:
  Buffers<Character> buffers;
  Character* end = nullptr;
  Character overwritten = {};
};

// What the flood before was sent from, and the next of its kind will be: whoever looks at the sender's processor during a
// flood sees no table being made, but in the first.
class Kept {
public:
  template <class T> T& of(size_t elements) {
    auto* kept = std::any_cast<std::shared_ptr<T>>(&last);
    if (!kept || (*kept)->elements != elements) kept = &last.emplace<std::shared_ptr<T>>(std::make_shared<T>(elements));
    (**kept)[0];  // written anew now, if the last flood has left another round, and not under the clock
    return **kept;
  }

private:
  std::any last;
};

inline size_t size_of(const std::string& type) {
  static const std::map<std::string, size_t> sizes = {{"octet", 1},  {"char", 1},    {"short", 2},     {"long", 4},
                                                      {"double", 8}, {"struct", 24}, {"struct32", 32}, {"string", 1}};
  const auto found = sizes.find(type);
  if (found == sizes.end()) throw Failure("no type " + type + ": there are octet char short long double struct struct32 string");
  return found->second;
}

inline size_t elements_of(const std::string& type, size_t payload) { return std::max<size_t>(payload / size_of(type), 1); }

// The receiving end: counts buffers and remembers the first thing that was wrong.
class Receiver {
public:
  void expect(const std::string& type, size_t payload, uint32_t buffers) {
    std::lock_guard<std::mutex> guard(lock);
    elements = elements_of(type, payload);
    expected = type;
    this->buffers = buffers;
    count = 0;
    fault.clear();
  }

  template <class T> void take(const char* type, const T* buffer, size_t length) {
    std::lock_guard<std::mutex> guard(lock);
    check(type, buffer, length);
    ++count;
  }

  void take(const char* string) { take("string", reinterpret_cast<const Character*>(string), std::strlen(string)); }

  std::string type() {
    std::lock_guard<std::mutex> guard(lock);
    return expected;
  }

  uint32_t received(std::string& fault) {
    std::lock_guard<std::mutex> guard(lock);
    fault = this->fault;
    return count;
  }

private:
  std::mutex lock;
  std::string expected, fault;
  size_t elements = 0;
  uint32_t buffers = 0, count = 0;

  template <class T> void check(const char* type, const T* buffer, size_t length) {
    if (!fault.empty()) return;
    // Only put into words where it is told: it would take as long as all that is looked at.
    const auto which = [&] { return "buffer " + std::to_string(count); };
    if (expected != type) {
      fault = which() + " is of " + type + ", not of " + expected;
    } else if (count >= buffers) {
      fault = which() + " is one too many";
    } else if (length != elements) {
      fault = which() + " has " + std::to_string(length) + " elements, not " + std::to_string(elements);
    } else {
      for (size_t index : samples(length))
        if (!holds(buffer[index], count * STEP + uint32_t(index))) {
          fault = which() + " is wrong at element " + std::to_string(index);
          return;
        }
    }
  }

  static std::array<size_t, 11> samples(size_t length) {
    std::array<size_t, 11> chosen = {0, length / 2, length - 1};
    for (size_t k = 0; k < 8; ++k) chosen[3 + k] = length * (2 * k + 1) / 16;
    return chosen;
  }
};

// --------------------------------------------------------------------------------------------------- cubing

template <class T> T cube(T value) {
  const uint32_t wide = uint32_t(value);
  return T(wide * wide * wide);
}

template <class T> void stamp(T* values, size_t length, uint64_t number) {
  for (size_t index = 0; index < std::min<size_t>(length, 8); ++index) values[index] = T(number * 7 + index);
}

// ---------------------------------------------------------------------------------------------------- calls

// One kind of two-way call. Only `make` is timed.
struct Call {
  virtual ~Call() = default;
  virtual void change(uint64_t number) = 0;
  virtual void make() = 0;
  virtual void verify() = 0;
};

struct NoArgument : Call {
  explicit NoArgument(std::function<void()> invoke) : invoke(std::move(invoke)) {}
  void change(uint64_t) override {}
  void make() override { invoke(); }
  void verify() override {}
  std::function<void()> invoke;
};

inline void verified(bool same) {
  if (!same) throw Failure("a reply is not what was sent, or not its cube");
}

// From the first send until the last had left the caller, and until all have been executed, in nanoseconds.
struct Flooded {
  uint64_t sent, executed;
};

class Driver {
public:
  virtual ~Driver() = default;
  // A call of this kind; those of `callers` are made by other threads, each with its own.
  virtual std::unique_ptr<Call> call(const std::string& kind, size_t size) = 0;
  virtual std::unique_ptr<Call> call_of_thread(const std::string& kind, size_t size) { return call(kind, size); }
  // Sends the buffers and returns when all have been executed.
  virtual Flooded flood(const std::string& type, size_t payload, uint32_t count) = 0;
  // The time of a new connection with one null call, in nanoseconds.
  virtual uint64_t connect() = 0;
  // The time of so many null calls of an object of this process.
  virtual uint64_t collocated(uint32_t) { throw Unsupported("it has no objects in the caller's process"); }
  // Holds so many idle connections more; 0 closes all.
  virtual void idle(size_t count) = 0;
  // What the exception that is being handled says.
  virtual std::string fault() = 0;
};

// A driver whose clients have a connection each, and a null call `ping`: one for the calls of the driver's own thread.
template <class Client> class ConnectedDriver : public Driver {
public:
  explicit ConnectedDriver(std::string address) : address(std::move(address)), client(open()) { client->ping(); }

  uint64_t connect() override {
    const uint64_t began = now();
    auto fresh = open();
    fresh->ping();
    return now() - began;
  }

  void idle(size_t count) override {
    if (count == 0) held.clear();
    for (; count > 0; --count) {
      held.push_back(open());
      held.back()->ping();
    }
  }

  std::string fault() override { return "something that is no exception of C++"; }

protected:
  std::shared_ptr<Client> open() { return std::make_shared<Client>(address); }

  const std::string address;
  std::shared_ptr<Client> client;

private:
  std::vector<std::shared_ptr<Client>> held;
};

// Sends `count` buffers and asks `received` until the receiver has executed all.
template <class Send, class Received> Flooded timed_flood(uint32_t count, Send send, Received received) {
  const uint64_t began = now();
  for (uint32_t number = 0; number < count; ++number) send(number);
  const uint64_t sent = now();
  uint32_t before = 0;
  uint64_t moved = sent;
  for (;;) {
    std::string fault;
    const uint32_t executed = received(fault);
    const uint64_t ended = now();
    if (!fault.empty()) throw Failure(fault);
    if (executed >= count) return {sent - began, ended - began};
    if (executed != before) {
      before = executed;
      moved = ended;
    } else if (ended - moved > 30'000'000'000) {
      throw Failure("only " + std::to_string(executed) + " of " + std::to_string(count) + " buffers have been executed");
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

class Commands {
public:
  explicit Commands(Driver& driver) : driver(driver) {}

  void run() {
    std::cout << "ready" << std::endl;
    std::string line;
    while (std::getline(std::cin, line)) {
      std::string answered;
      try {
        answered = answer(line);
      } catch (const Unsupported& unsupported) {
        answered = std::string("unsupported ") + unsupported.what();
      } catch (const std::exception& failure) {
        answered = std::string("error ") + failure.what();
      } catch (...) {
        answered = "error " + driver.fault();
      }
      std::replace(answered.begin(), answered.end(), '\n', ' ');
      std::cout << answered << std::endl;
    }
  }

private:
  Driver& driver;
  std::unique_ptr<Call> prepared;
  uint64_t number = 0;

  std::string answer(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "call") {
      const auto kind = word(words, "KIND");
      prepared = nullptr;
      prepared = driver.call(kind, count(words, "SIZE"));
      return "ok";
    }
    if (command == "burst") return burst(count(words, "N"));
    if (command == "flood") {
      const auto type = word(words, "TYPE");
      size_of(type);
      const auto payload = count(words, "OCTETS");
      const Flooded flooded = driver.flood(type, payload, uint32_t(count(words, "COUNT")));
      return "flood " + std::to_string(flooded.executed) + " " + std::to_string(flooded.sent);
    }
    if (command == "callers") {
      const auto callers = count(words, "N"), milliseconds = count(words, "MILLISECONDS");
      const auto kind = word(words, "KIND");
      return many(callers, milliseconds, kind, count(words, "SIZE"));
    }
    if (command == "collocated") return "ns " + std::to_string(driver.collocated(uint32_t(count(words, "N"))));
    if (command == "connect") return "ns " + std::to_string(driver.connect());
    if (command == "idle") {
      driver.idle(count(words, "N"));
      return "ok";
    }
    throw Failure("no command `" + command + "`: there are call burst flood callers collocated connect idle");
  }

  static std::string word(std::istringstream& words, const char* name) {
    std::string word;
    if (!(words >> word)) throw Failure(std::string(name) + " is missing");
    return word;
  }

  static size_t count(std::istringstream& words, const char* name) {
    const auto text = word(words, name);
    if (text.find_first_not_of("0123456789") != text.npos || text.size() > 9)
      throw Failure(std::string(name) + " cannot be " + text);
    return std::stoul(text);
  }

  std::string burst(size_t calls) {
    if (!prepared) throw Failure("burst comes after call");
    std::ostringstream times("ns", std::ios::ate);
    for (size_t done = 0; done < calls; ++done) {
      prepared->change(++number);
      const uint64_t began = now();
      prepared->make();
      const uint64_t ended = now();
      prepared->verify();
      times << ' ' << ended - began;
    }
    return times.str();
  }

  std::string many(size_t callers, size_t milliseconds, const std::string& kind, size_t size) {
    if (callers == 0) throw Failure("N cannot be 0");
    std::vector<std::unique_ptr<Call>> calls;
    for (size_t caller = 0; caller < callers; ++caller) calls.push_back(driver.call_of_thread(kind, size));
    std::atomic<uint64_t> completed = 0;
    std::mutex lock;
    std::string fault;
    uint64_t began = 0;
    // The clock starts when each has made a call, and so has its connection.
    std::barrier connected(ptrdiff_t(callers), [&]() noexcept { began = now(); });
    auto guarded = [&](auto body) {
      try {
        body();
      } catch (...) {
        std::lock_guard<std::mutex> guard(lock);
        fault = describe();
      }
    };
    std::vector<std::thread> threads;
    for (auto& call : calls)
      threads.emplace_back([&, call = call.get()] {
        guarded([&] { call->make(); });
        connected.arrive_and_wait();
        const uint64_t deadline = began + milliseconds * 1'000'000;
        uint64_t mine = 0;
        guarded([&] {
          while (now() < deadline) {
            call->change(++mine);
            call->make();
            call->verify();
          }
        });
        completed += mine;
      });
    for (auto& thread : threads) thread.join();
    const uint64_t elapsed = now() - began;
    if (!fault.empty()) throw Failure(fault);
    return "callers " + std::to_string(completed) + " " + std::to_string(elapsed);
  }

  std::string describe() {
    try {
      throw;
    } catch (const std::exception& failure) {
      return failure.what();
    } catch (...) {
      return driver.fault();
    }
  }
};

}  // namespace peer
