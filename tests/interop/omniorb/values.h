// Samples of every IDL type and their canonical text, as ../cases.md defines both.
//
// Values<T>::sample(x, k) makes x the k-th sample of T; Values<T>::show(out, x) prints it. Scalars
// and strings have tables, structs and unions are listed by member in types.h, sequences and
// arrays follow from their elements.

#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <type_traits>
#include "every.hh"

using CORBA::ULong;

template <class T, class = void> struct Values;

template <class T> void sample(T& x, ULong k) { Values<T>::sample(x, k); }

template <class T> std::string text(const T& x) {
  std::ostringstream out;
  Values<T>::show(out, x);
  return out.str();
}

// ------------------------------------------------------------------- scalars

#define SCALAR(T, PRINT, ...)                                                   \
  template <> struct Values<T> {                                                \
    static void sample(T& x, ULong k) {                                         \
      static const T table[] = {__VA_ARGS__};                                   \
      x = table[k % (sizeof table / sizeof table[0])];                          \
    }                                                                           \
    static void show(std::ostream& out, const T& x) { PRINT; }                  \
  };

SCALAR(CORBA::Short, out << x, 0, 1, -1, 32767, -32768, 258)
SCALAR(CORBA::UShort, out << x, 0, 1, 65535, 32768, 258)
SCALAR(CORBA::Long, out << x, 0, 1, -1, 2147483647, -2147483647 - 1, 16909060)
SCALAR(CORBA::ULong, out << x, 0u, 1u, 4294967295u, 2147483648u, 16909060u)
SCALAR(CORBA::LongLong, out << x, 0, 1, -1, 9223372036854775807LL, -9223372036854775807LL - 1, 72623859790382856LL)
SCALAR(CORBA::ULongLong, out << x, 0, 1, 18446744073709551615ULL, 9223372036854775808ULL, 72623859790382856ULL)
SCALAR(CORBA::Octet, out << unsigned(x), 0, 1, 255, 128, 127)
SCALAR(CORBA::Boolean, out << (x ? "TRUE" : "FALSE"), false, true)

inline void hex(std::ostream& out, const char* format, unsigned long long value) {
  char digits[40];
  std::snprintf(digits, sizeof digits, format, value);
  out << digits;
}

// CORBA::Char is the same C++ type as CORBA::Octet; what is a char in IDL is named here as char.
SCALAR(char, hex(out, "c%02llx", (unsigned char)x), 'A', 0, 0x7f, ' ', '0')
SCALAR(CORBA::WChar, hex(out, "w%04llx", (unsigned long long)x), L'a', 1, 0xff, 0x100, 0x20ac, 0xd7ff, 0xe000, 0xfffd)

inline CORBA::Float float_of(uint32_t bits) { CORBA::Float x; std::memcpy(&x, &bits, 4); return x; }
inline CORBA::Double double_of(uint64_t bits) { CORBA::Double x; std::memcpy(&x, &bits, 8); return x; }

template <> struct Values<CORBA::Float> {
  static void sample(CORBA::Float& x, ULong k) {
    static const uint32_t table[] = {0, 0x80000000, 0x3f800000, 0xc0490fdb, 0x7f7fffff, 0x00800000,
                                     1, 0x807fffff, 0x7f800000, 0xff800000, 0x7fc00000};
    std::memcpy(&x, &table[k % 11], 4);
  }
  static void show(std::ostream& out, const CORBA::Float& x) {
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    hex(out, "0x%08llx", bits);
  }
};

template <> struct Values<CORBA::Double> {
  static void sample(CORBA::Double& x, ULong k) {
    static const uint64_t table[] = {0, 0x8000000000000000, 0x3ff0000000000000, 0xc00921fb54442d18,
                                     0x7fefffffffffffff, 0x0010000000000000, 1, 0x800fffffffffffff,
                                     0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000};
    std::memcpy(&x, &table[k % 11], 8);
  }
  static void show(std::ostream& out, const CORBA::Double& x) {
    uint64_t bits;
    std::memcpy(&bits, &x, 8);
    hex(out, "0x%016llx", bits);
  }
};

template <> struct Values<CORBA::LongDouble> {
  static void sample(CORBA::LongDouble& x, ULong k) {
    static const CORBA::LongDouble table[] = {0, 1, -1, 0.5L, -0.0L, 1e300L, __builtin_infl(), -__builtin_infl(),
                                              1 + 0x1p-63L};
    x = table[k % 9];
  }
  static void show(std::ostream& out, const CORBA::LongDouble& x) {
    char digits[60];
    std::snprintf(digits, sizeof digits, "%.21Lg", x);
    out << digits;
  }
};

// A decimal number of D digits, S of them behind the point.
template <CORBA::UShort D, CORBA::UShort S> struct Values<_omni_Fixed<D, S>, void> {
  static void sample(_omni_Fixed<D, S>& x, ULong k) {
    static const std::string nines(31, '9'), counting("1234567890123456789012345678901");
    static const std::string table[] = {"0", "1", "-1", nines.substr(0, D), "-" + nines.substr(0, D), counting.substr(0, D)};
    x = CORBA::Fixed(pointed(table[k % 6]).c_str());
  }
  static void show(std::ostream& out, const _omni_Fixed<D, S>& x) {
    // The ORB leaves out zeros at either end.
    CORBA::String_var text = CORBA::Fixed(x).NP_asString();
    std::string digits(text.in());
    const std::string sign = digits[0] == '-' ? "-" : "";
    digits.erase(0, sign.size());
    size_t point = digits.find('.');
    if (point == std::string::npos) point = digits.size(); else digits.erase(point, 1);
    digits.resize(point + S, '0');
    out << pointed(sign + digits);
  }
private:
  // With a point before the last S digits.
  static std::string pointed(std::string digits) {
    const size_t sign = digits[0] == '-';
    if (digits.size() - sign < S + 1u) digits.insert(sign, S + 1 - (digits.size() - sign), '0');
    if (S > 0) digits.insert(digits.size() - S, ".");
    return digits;
  }
};

#define ENUM(T, COUNT, ...)                                                     \
  template <> struct Values<T> {                                                \
    static void sample(T& x, ULong k) { x = T(k % COUNT); }                     \
    static void show(std::ostream& out, const T& x) {                           \
      static const char* const names[] = {__VA_ARGS__};                         \
      if (ULong(x) < COUNT) out << names[x]; else out << "enum " << ULong(x);   \
    }                                                                           \
  };

ENUM(interop::Color, 3, "red", "green", "blue")
ENUM(interop::Level, 5, "low", "medium", "high", "extreme", "off")

// ------------------------------------------------------------------- strings

inline std::string sample_string(ULong k, size_t bound = std::string::npos) {
  static const std::string table[] = {"", "a", "zorb", "hello, world", "!\"#%&'()*+,-./:;<=>?@[\\]^_{|}~",
                                      "\t\r\n\x01\x7f", std::string(300, 'x')};
  return table[k % 7].substr(0, bound);
}

inline std::wstring sample_wstring(ULong k, size_t bound = std::wstring::npos) {
  static const std::wstring table[] = {L"", L"a", L"Gr\u00fc\u00dfe", L"\u65e5\u672c\u8a9e",
                                       L"\x01\xff\u0100\ufffd", std::wstring(300, L'\u0436')};
  return table[k % 6].substr(0, bound);
}

inline void escaped(std::ostream& out, unsigned c) {
  if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') out << char(c);
  else hex(out, "\\u{%llx}", c);
}
inline void show_string(std::ostream& out, const char* s) {
  out << '"';
  for (; *s; ++s) escaped(out, (unsigned char)*s);
  out << '"';
}
inline void show_string(std::ostream& out, const CORBA::WChar* s) {
  out << "L\"";
  for (; *s; ++s) escaped(out, unsigned(*s));
  out << '"';
}

#define STRING(T, C, SAMPLE, DUP)                                               \
  template <> struct Values<T> {                                                \
    static void sample(T& x, ULong k, size_t bound = std::string::npos) {       \
      x = CORBA::DUP(SAMPLE(k, bound).c_str());                                 \
    }                                                                           \
    static void show(std::ostream& out, const T& x) { show_string(out, (const C*)x); } \
  };

STRING(CORBA::String_member, char, sample_string, string_dup)
STRING(CORBA::WString_member, CORBA::WChar, sample_wstring, wstring_dup)
STRING(_CORBA_String_element, char, sample_string, string_dup)
STRING(_CORBA_WString_element, CORBA::WChar, sample_wstring, wstring_dup)
#undef STRING

// ------------------------------------------------------- sequences and arrays

template <class S> void sample_length(S& x, ULong k) {
  static const ULong lengths[] = {0, 1, 2, 3, 5, 8, 17};
  ULong length = lengths[k % 7];
  S fresh;
  if (fresh.maximum() != 0 && length > fresh.maximum()) length = fresh.maximum();  // a bounded sequence
  x.length(length);
}

template <class T, size_t N> struct Values<T[N], void> {
  static void sample(T (&x)[N], ULong k) {
    for (ULong i = 0; i < N; ++i) Values<T>::sample(x[i], k + i);
  }
  static void show(std::ostream& out, const T (&x)[N]) {
    out << '[';
    for (ULong i = 0; i < N; ++i) { if (i) out << ", "; Values<T>::show(out, x[i]); }
    out << ']';
  }
};

template <class T> struct Values<T, std::void_t<decltype(std::declval<T&>().length(ULong(0)))>> {
  using Element = std::remove_cv_t<std::remove_reference_t<decltype(std::declval<T&>()[0])>>;
  static void sample(T& x, ULong k) {
    sample_length(x, k);
    for (ULong i = 0; i < x.length(); ++i) { auto&& e = x[i]; Values<Element>::sample(e, k + i); }
  }
  static void show(std::ostream& out, const T& constant) {
    T& x = const_cast<T&>(constant);  // string sequences give a proxy only when not const
    out << '[';
    for (ULong i = 0; i < x.length(); ++i) { if (i) out << ", "; auto&& e = x[i]; Values<Element>::show(out, e); }
    out << ']';
  }
};

// Sequences whose C++ type does not tell their element: of chars, of arrays.
#define SEQUENCE_AS(S, SAMPLE_ELEMENT, SHOW_ELEMENT)                            \
  template <> struct Values<interop::S> {                                       \
    static void sample(interop::S& x, ULong k) {                                \
      sample_length(x, k);                                                      \
      for (ULong i = 0; i < x.length(); ++i, ++k) { SAMPLE_ELEMENT; }           \
    }                                                                           \
    static void show(std::ostream& out, const interop::S& x) {                  \
      out << '[';                                                               \
      for (ULong i = 0; i < x.length(); ++i) { if (i) out << ", "; SHOW_ELEMENT; } \
      out << ']';                                                               \
    }                                                                           \
  };
#define ARRAY_SEQUENCE(S, A)                                                    \
  SEQUENCE_AS(S, Values<A>::sample(*reinterpret_cast<A*>(x[i]), k), Values<A>::show(out, *reinterpret_cast<const A*>(x[i])))

// A char array is an octet array to C++.
struct Letters {
  CORBA::Char (&array)[3];
};
template <> struct Values<Letters> {
  static void sample(Letters& x, ULong k) { for (auto& e : x.array) { char c; Values<char>::sample(c, k++); e = c; } }
  static void show(std::ostream& out, const Letters& x) {
    for (int i = 0; i < 3; ++i) { out << (i ? ", " : "["); Values<char>::show(out, x.array[i]); }
    out << ']';
  }
};

// --------------------------------------------------------- structs and unions

struct Sampler {
  ULong k;
  template <class T> void operator()(T& member) { Values<T>::sample(member, k++); }
  template <class T> void bounded(T& member, size_t bound) { Values<T>::sample(member, k++, bound); }
  template <class T> void letter(T& member) { char value; Values<char>::sample(value, k++); member = value; }
};

struct Shower {
  std::ostream& out;
  bool first = true;
  template <class T> void operator()(const T& member) {
    out << (first ? "" : ", ");
    first = false;
    Values<T>::show(out, member);
  }
  template <class T> void bounded(const T& member, size_t) { (*this)(member); }
  void letter(char member) { (*this)(member); }
};

#define STRUCT(T, MEMBERS)                                                      \
  template <> struct Values<interop::T> {                                       \
    template <class X, class V> static void members(X& x, V& v) { MEMBERS; }    \
    static void sample(interop::T& x, ULong k) { Sampler v{k}; members(x, v); } \
    static void show(std::ostream& out, const interop::T& x) {                  \
      Shower v{out};                                                            \
      out << '{';                                                               \
      members(x, v);                                                            \
      out << '}';                                                               \
    }                                                                           \
  };

// A union is a list of `case LABEL: ARM(type, member)`, each arm handing its visitor the way to
// read and the way to set that member. An arm that carries nothing is NO_ARM.
#define ARM(T, m)                                                               \
  v(x, static_cast<T*>(0), [](auto& u) -> decltype(auto) { return u.m(); }, [](auto& u, const T& t) { u.m(t); }); break;
#define TEXT_ARM(T, m)                                                          \
  v(x, static_cast<T*>(0), [](auto& u) { return T(u.m()); }, [](auto& u, const T& t) { u.m(t); }); break;
#define BOUNDED_ARM(T, m, bound)                                                \
  v(x, static_cast<T*>(0), [](auto& u) { return T(u.m()); }, [](auto& u, const T& t) { u.m(t); }, bound); break;
#define ARRAY_ARM(T, m)                                                         \
  v(x, static_cast<T*>(0), [](auto& u) -> const T& { return *reinterpret_cast<const T*>(u.m()); },               \
    [](auto& u, const T& t) { u.m(t); }); break;
#define NO_ARM v.nothing(x); break;

template <class D> struct ArmSampler {
  ULong k;
  D label;
  template <class U, class T, class Get, class Set, class... Bound>
  void operator()(U& x, T*, Get, Set set, Bound... bound) {
    std::remove_const_t<T> value;
    Values<T>::sample(value, k, bound...);
    set(x, value);
    x._d(label);  // an arm may have several labels
  }
  template <class U> void nothing(U& x) { none(x, 0); }
  template <class U> auto none(U& x, int) -> decltype(x._default()) { x._default(); x._d(label); }
  template <class U> void none(U&, long) {}
};

struct ArmShower {
  std::ostream& out;
  template <class U, class T, class Get, class Set, class... Bound>
  void operator()(const U& x, T*, Get get, Set, Bound...) { Values<T>::show(out, get(x)); }
  template <class U> void nothing(const U&) { out << '-'; }
};

#define LABELS(...) __VA_ARGS__
#define UNION(T, D, LIST, ARMS)                                                 \
  template <> struct Values<interop::T> {                                       \
    template <class X, class V> static void arm(X& x, D label, V& v) { switch (label) { ARMS } } \
    static void sample(interop::T& x, ULong k) {                                \
      static const D labels[] = {LIST};                                         \
      const D label = labels[k % (sizeof labels / sizeof labels[0])];           \
      sample(x, k, label);                                                      \
    }                                                                           \
    static void sample(interop::T& x, ULong k, D label) {                       \
      ArmSampler<D> v{k, label};                                                \
      arm(x, label, v);                                                         \
    }                                                                           \
    static void show(std::ostream& out, const interop::T& x) {                  \
      Values<D>::show(out, x._d());                                             \
      out << ": ";                                                              \
      ArmShower v{out};                                                         \
      arm(x, x._d(), v);                                                        \
    }                                                                           \
  };
