// How a case ends, and what a client expects.

#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include "world.h"

struct Failure { std::string reason; };
struct Skip { std::string reason; };

// At most 120 octets of a text, from shortly before `at`.
inline std::string excerpt(const std::string& text, size_t at) {
  const size_t from = at > 40 ? at - 40 : 0;
  return (from ? "…" : "") + text.substr(from, 120) + (from + 120 < text.size() ? "…" : "");
}

inline void expect(const std::string& what, const std::string& got, const std::string& wanted) {
  if (got == wanted) return;
  const size_t at = std::mismatch(got.begin(), got.end(), wanted.begin(), wanted.end()).first - got.begin();
  throw Failure{what + ": expected " + excerpt(wanted, at) + " got " + excerpt(got, at)};
}
inline void expect(const std::string& what, bool holds) {
  if (!holds) throw Failure{what + ": expected it to hold"};
}

// Runs `call`, which must raise an E, and hands that to `look`.
template <class E, class Call, class Look> void raises(Call call, Look look) {
  try {
    call();
  } catch (const E& e) {
    look(e);
    return;
  }
  throw Failure{"expected an exception got a result"};
}
template <class E> void ignore(const E&) {}

inline std::string describe(const CORBA::Exception& e) {
  if (const CORBA::SystemException* s = CORBA::SystemException::_downcast(const_cast<CORBA::Exception*>(&e))) {
    std::ostringstream out;
    out << e._name() << " minor 0x" << std::hex << s->minor() << " completed " << int(s->completed());
    return out.str();
  }
  return e._name();
}

// Runs one case and prints how it ended.
using Check = std::function<void(const std::string& name, std::function<void()> body)>;
