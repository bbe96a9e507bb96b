// client REF [--giop 1.0|1.1|1.2] [--text latin1|utf8] [--at tcp|unix] [--only PREFIX] [--bridged]: runs every case of
// ../cases.md against the Every that REF names, one line a case; with --bridged those that go through a bridge. `--list` prints the names, `--samples` the samples.

#include <algorithm>
#include <functional>
#include <iostream>
#include "beyond.h"
#include "servants.h"

using namespace interop;

namespace {

using ::expect;
template <class T> void expect(const std::string& what, const T& got, const T& wanted) { expect(what, text(got), text(wanted)); }

class Client {
public:
  explicit Client(std::map<std::string, std::string> options) : options(options) {}

  int run() {
    if (options.count("samples")) return samples();
    if (!options.count("list")) {
      world = servants::start(options);
      CORBA::Object_var object = world.orb->string_to_object(options[""].c_str());
      every = Every::_narrow(object);
      if (CORBA::is_nil(every)) throw Failure{"the reference is not an Every"};
    }
    echoes();
    phases();
    fragments();
    bulk();
    texts();
    default_labels();
    bits();
    calls();
    attributes();
    exceptions();
    objects();
    references();
    callbacks();
    constants();
    extras();
    if (!options.count("bridged"))
      beyond_peer::run([this](const std::string& name, std::function<void()> body) { check(name, body); }, world, every, options["giop"]);
    if (options.count("list")) return 0;
    std::cout << passed << " passed, " << failed << " failed" << std::endl;
    world.orb->destroy();
    return failed ? 1 : 0;
  }

private:
  std::map<std::string, std::string> options;
  servants::World world;
  Every_var every;
  int passed = 0, failed = 0;

  void check(const std::string& name, std::function<void()> body) {
    if (options.count("only") && name.compare(0, options["only"].size(), options["only"])) return;
    if (options.count("list")) {
      std::cout << name << '\n';
      return;
    }
    std::string reason;
    try {
      body();
      ++passed;
      std::cout << "ok " << name << std::endl;
      return;
    } catch (const Skip& skip) {
      std::cout << "skip " << name << ": " << skip.reason << std::endl;
      return;
    } catch (const Failure& failure) {
      reason = failure.reason;
    } catch (const CORBA::Exception& e) {
      reason = "raised " + describe(e);
    }
    ++failed;
    std::cout << "FAIL " << name << ": " << reason << std::endl;
  }

  void need_wide() {
    if (options["giop"] == "1.0") throw Skip{"GIOP 1.0 has no wide characters"};
  }

  // --------------------------------------------------------------- echoes

  static const ULong ROUNDS = 22;  // twice the longest scalar table

  static std::string at(ULong k, const char* which) { return "k = " + std::to_string(k) + ", " + which; }

#define EACH_ECHO(op, ...) check("echo/" + std::string(#op + 5), [&] { WIDE for (ULong k = 0; k < ROUNDS; ++k) { __VA_ARGS__ } });
#define AGREE(T, r, b, c)                                                       \
  expect(at(k, "b"), text<T>(b), wanted_a); expect(at(k, "c"), text<T>(c), wanted_a); expect(at(k, "return"), text<T>(r), wanted_c);
#define BY_VALUE(op, T)                                                         \
  EACH_ECHO(op, T a, b, c; sample(a, k); sample(c, k + 1);                      \
            const std::string wanted_a = text(a); const std::string wanted_c = text(c); \
            T r = OBJECT->op(a, b, c); AGREE(T, r, b, c))
#define CHAR(op, T)                                                             \
  EACH_ECHO(op, char a, s; T b, c; sample(a, k); sample(s, k + 1); c = s;       \
            const std::string wanted_a = text(a); const std::string wanted_c = text(s); \
            T r = OBJECT->op(a, b, c); AGREE(char, r, b, c))
#define FIXED BY_VALUE
#define VARIABLE(op, T)                                                         \
  EACH_ECHO(op, T a, c; T##_var b; sample(a, k); sample(c, k + 1);              \
            const std::string wanted_a = text(a); const std::string wanted_c = text(c); \
            T##_var r = OBJECT->op(a, b.out(), c); AGREE(T, r.in(), b.in(), c))
#define TEXT_ECHO(op, S, MEMBER, SAMPLE, ...)                                   \
  EACH_ECHO(op, MEMBER a, b, c, r; S out; S io; Values<MEMBER>::sample(a, k __VA_ARGS__); Values<MEMBER>::sample(c, k + 1 __VA_ARGS__); \
            const std::string wanted_a = text(a); const std::string wanted_c = text(c); \
            io = c; r = OBJECT->op(a, out.out(), io.inout()); b = out.in(); c = io.in(); AGREE(MEMBER, r, b, c))
#define COMMA ,
#define STRING(op, T) TEXT_ECHO(op, CORBA::String_var, CORBA::String_member, sample_string, )
#define CODE(op, T) TEXT_ECHO(op, CORBA::String_var, CORBA::String_member, sample_string, COMMA 8)
#define WSTRING(op, T) TEXT_ECHO(op, CORBA::WString_var, CORBA::WString_member, sample_wstring, )
#define WIDE_CODE(op, T) TEXT_ECHO(op, CORBA::WString_var, CORBA::WString_member, sample_wstring, COMMA 6)
#define FIXED_ARRAY(op, T)                                                      \
  EACH_ECHO(op, T a, b, c; sample(a, k); sample(c, k + 1);                      \
            const std::string wanted_a = text(a); const std::string wanted_c = text(c); \
            T##_var r = OBJECT->op(a, b, c); AGREE(T, *(const T*)r.in(), b, c))
#define VARIABLE_ARRAY(op, T)                                                   \
  EACH_ECHO(op, T a, c; T##_var b; sample(a, k); sample(c, k + 1);              \
            const std::string wanted_a = text(a); const std::string wanted_c = text(c); \
            T##_var r = OBJECT->op(a, b.out(), c); AGREE(T, *(const T*)r.in(), *(const T*)b.in(), c))
#define CHAR_ARRAY(op, T)                                                       \
  EACH_ECHO(op, T a, b, c; Letters la{a}; Letters lb{b}; Letters lc{c}; sample(la, k); sample(lc, k + 1); \
            const std::string wanted_a = text(la); const std::string wanted_c = text(lc); \
            T##_var r = OBJECT->op(a, b, c); Letters lr{*(T*)r.inout()}; AGREE(Letters, lr, lb, lc))

#define OBJECT every
#define WIDE if (in_wide) need_wide();

  void echoes() {
    bool in_wide = false;
#define ENTER_WIDE in_wide = true;
#define LEAVE_WIDE in_wide = false;
#include "echoes.inc"
  }

  void long_doubles() {
    const bool in_wide = false;
    LongDoubles_var parts;
    if (!options.count("list")) {
      CORBA::Object_var part = every->part("LongDoubles");
      parts = LongDoubles::_narrow(part);
    }
#undef OBJECT
#define OBJECT need(parts)
#undef EACH_ECHO
#define EACH_ECHO(op, ...) check("long_double/" + std::string(#op + 5), [&] { WIDE for (ULong k = 0; k < ROUNDS; ++k) { __VA_ARGS__ } });
#include "long_doubles.inc"
  }

  void decimals() {
    const bool in_wide = false;
    Decimals_var parts;
    if (!options.count("list")) {
      CORBA::Object_var part = every->part("Decimals");
      parts = Decimals::_narrow(part);
    }
#undef EACH_ECHO
#define EACH_ECHO(op, ...) check("decimal/" + std::string(#op + 5), [&] { WIDE for (ULong k = 0; k < ROUNDS; ++k) { __VA_ARGS__ } });
#include "decimals.inc"
    check("decimal/all_digits", [&] {
      for (ULong k = 3; k < 5; ++k) {
        all_digits<Money>(k, [&](const Money& a, Money& b, Money& c) { return need(parts)->echo_money(a, b, c); });
        all_digits<Fraction>(k, [&](const Fraction& a, Fraction& b, Fraction& c) { return need(parts)->echo_fraction(a, b, c); });
        all_digits<Whole>(k, [&](const Whole& a, Whole& b, Whole& c) { return need(parts)->echo_whole(a, b, c); });
      }
    });
  }

  template <class T, class Call> static void all_digits(ULong k, Call call) {
    T a, b, c;
    sample(a, k);
    sample(c, k + 1);
    const std::string wanted_a = text(a), wanted_c = text(c);
    T r = call(a, b, c);
    AGREE(T, r, b, c)
  }

  static Decimals_ptr need(const Decimals_var& parts) {
    if (CORBA::is_nil(parts)) throw Skip{"the server has no decimals"};
    return parts.in();
  }

  static LongDoubles_ptr need(const LongDoubles_var& parts) {
    if (CORBA::is_nil(parts)) throw Skip{"the server has no long double"};
    return parts.in();
  }

#undef FIXED
#undef VARIABLE
#undef FIXED_ARRAY

  // --------------------------------------------------------------- phases

  static OctetSeq lead(ULong n) {
    OctetSeq octets;
    octets.length(n);
    for (ULong i = 0; i < n; ++i) octets[i] = CORBA::Octet(i);
    return octets;
  }

#define EACH_PHASE(op, ...)                                                     \
  for (ULong n = 0; n < 8; ++n)                                                 \
    check("phase/" + std::string(#op + 6) + "/" + std::to_string(n), [&] {      \
      for (ULong k = 0; k < 7; ++k) { OctetSeq front = lead(n); OctetSeq_var back; __VA_ARGS__ expect(at(k, "back"), back.in(), front); } \
    });
#define FIXED(op, T)                                                            \
  EACH_PHASE(op, T a, b; sample(a, k); every->op(front, a, back.out(), b); expect(at(k, "b"), b, a);)
#define VARIABLE(op, T)                                                         \
  EACH_PHASE(op, T a; T##_var b; sample(a, k); every->op(front, a, back.out(), b.out()); expect(at(k, "b"), b.in(), a);)
#define FIXED_ARRAY FIXED

  void phases() {
#include "phases.inc"
    for (int n = 1; n < 8; ++n)
      check("lead/" + std::to_string(n), [&] {
        for (ULong k = 0; k < 7; ++k) {
          BinStructSeq a;
          BinStructSeq_var r;
          sample(a, k);
          switch (n) {
            case 1: r = every->lead_1(1, a); break;
            case 2: r = every->lead_2(1, 2, a); break;
            case 3: r = every->lead_3(1, 2, 3, a); break;
            case 4: r = every->lead_4(1, 2, 3, 4, a); break;
            case 5: r = every->lead_5(1, 2, 3, 4, 5, a); break;
            case 6: r = every->lead_6(1, 2, 3, 4, 5, 6, a); break;
            case 7: r = every->lead_7(1, 2, 3, 4, 5, 6, 7, a); break;
          }
          expect(at(k, "return"), r.in(), a);
        }
      });
  }

  // ------------------------------------------------------ fragments and bulk

  static OctetSeq counted(ULong n) {
    OctetSeq octets;
    octets.length(n);
    for (ULong i = 0; i < n; ++i) octets[i] = CORBA::Octet(i % 251);
    return octets;
  }
  template <class S> static S samples_of(ULong n) {
    S all;
    all.length(n);
    for (ULong i = 0; i < n; ++i) {
      auto&& e = all[i];
      sample(e, i);
    }
    return all;
  }
  static void same_octets(const OctetSeq& got, const OctetSeq& wanted) {
    expect("length", got.length(), wanted.length());
    expect("octets", !std::memcmp(got.get_buffer(), wanted.get_buffer(), wanted.length()));
  }

  void fragments() {
    check("fragment/octets", [&] {
      for (ULong n = 8000; n <= 8400; ++n) {
        const OctetSeq sent = counted(n);
        OctetSeq_var got = every->bulk_octets(sent);
        same_octets(got, sent);
        got = every->make_octets(n);
        same_octets(got, sent);
      }
    });
    check("fragment/odd_doubles", [&] {
      for (ULong n = 300; n <= 400; ++n) {
        const OddDoubleSeq sent = samples_of<OddDoubleSeq>(n);
        OddDoubleSeq_var got = every->bulk_odd_doubles(sent);
        expect("length " + std::to_string(n), got.in(), sent);
      }
    });
    check("fragment/strings", [&] {
      for (ULong n = 200; n <= 300; ++n) {
        const StringSeq sent = samples_of<StringSeq>(n);
        StringSeq_var got = every->bulk_strings(sent);
        expect("length " + std::to_string(n), got.in(), sent);
      }
    });
    check("fragment/records", [&] {
      for (ULong n = 1; n <= 120; ++n) {
        const RecordSeq sent = samples_of<RecordSeq>(n);
        RecordSeq_var got = every->bulk_records(sent);
        expect("length " + std::to_string(n), got.in(), sent);
      }
    });
  }

  void bulk() {
    check("bulk/octets", [&] {
      const OctetSeq sent = counted(3145729);
      OctetSeq_var got = every->bulk_octets(sent);
      same_octets(got, sent);
    });
#define BULK(NAME, T, N)                                                        \
  check("bulk/" #NAME, [&] { const T sent = samples_of<T>(N); T##_var got = every->bulk_##NAME(sent); expect("return", got.in(), sent); });
    BULK(shorts, ShortSeq, 1600001)
    BULK(doubles, DoubleSeq, 400001)
    BULK(bin_structs, BinStructSeq, 150001)
    BULK(odd_doubles, OddDoubleSeq, 150001)
    BULK(strings, StringSeq, 60000)
    BULK(records, RecordSeq, 20000)
    check("bulk/sum", [&] {
      ULong sum = 0;
      const OctetSeq sent = counted(3145729);
      for (ULong i = 0; i < sent.length(); ++i) sum += sent[i];
      expect("sum", every->sum_octets(sent), sum);
    });
    check("bulk/make", [&] {
      OctetSeq_var got = every->make_octets(3145729);
      same_octets(got, counted(3145729));
    });
  }

  // ----------------------------------------------------------------- text

  bool utf8() { return options["text"] == "utf8"; }

  // Code points to the native code set of this run.
  std::string native(const std::u32string& points) {
    std::string out;
    for (char32_t c : points) {
      if (!utf8()) out += char(c);
      else if (c < 0x80) out += char(c);
      else if (c < 0x800) { out += char(0xc0 | c >> 6); out += char(0x80 | (c & 63)); }
      else { out += char(0xe0 | c >> 12); out += char(0x80 | (c >> 6 & 63)); out += char(0x80 | (c & 63)); }
    }
    return out;
  }

  void echo_text(const std::string& value) {
    CORBA::String_var b, c = value.c_str();
    CORBA::String_var r = every->echo_string(value.c_str(), b.out(), c.inout());
    expect("b", b.in(), value);
    expect("c", c.in(), value);
    expect("return", r.in(), value);
  }
  void echo_wide(const std::wstring& value) {
    need_wide();
    CORBA::WString_var b, c = value.c_str();
    CORBA::WString_var r = every->echo_wstring(value.c_str(), b.out(), c.inout());
    expect_wide("b", b.in(), value);
    expect_wide("c", c.in(), value);
    expect_wide("return", r.in(), value);
  }
  static void expect_wide(const char* what, const CORBA::WChar* got, const std::wstring& wanted) {
    std::ostringstream g, w;
    show_string(g, got);
    show_string(w, wanted.c_str());
    expect(what, g.str(), w.str());
  }

  void texts() {
    check("text/string-latin1", [&] { echo_text(native(U"Gr\u00fc\u00dfe, \u00c6r\u00f8, \u00ff")); });
    check("text/string-all-latin1", [&] {
      std::u32string all;
      for (char32_t c = 0xa0; c <= 0xff; ++c) all += c;
      echo_text(native(all));
    });
    check("text/string-beyond-latin1", [&] {
      if (!utf8()) throw Skip{"only with --text utf8"};
      echo_text(native(U"\u65e5\u672c\u8a9e \u20ac"));
    });
    check("text/string-long", [&] { echo_text(std::string(100000, 'y')); });
    check("text/char-latin1", [&] {
      if (utf8()) throw Skip{"only with --text latin1"};
      CORBA::Char b, c = 0xe9;
      CORBA::Char r = every->echo_char(0xe9, b, c);
      expect("all", b == 0xe9 && c == 0xe9 && r == 0xe9);
    });
    check("text/seq-latin1", [&] {
      StringSeq a;
      a.length(3);
      a[0] = CORBA::string_dup(native(U"\u00e9").c_str());
      a[1] = CORBA::string_dup("");
      a[2] = CORBA::string_dup(native(U"\u00f1and\u00fa").c_str());
      StringSeq c(a);
      StringSeq_var b;
      StringSeq_var r = every->echo_string_seq(a, b.out(), c);
      expect("b", b.in(), a);
      expect("c", c, a);
      expect("return", r.in(), a);
    });
    check("text/wchar-nul", [&] {
      need_wide();
      CORBA::WChar b = 1, c = 0;
      CORBA::WChar r = every->echo_wchar(0, b, c);
      expect("all", b == 0 && c == 0 && r == 0);
    });
    check("text/wstring-long", [&] { echo_wide(std::wstring(100000, L'\u0436')); });
    check("text/wstring-surrogates", [&] { echo_wide(L"\U0001d11e clef"); });
    check("text/wstring-bom", [&] { echo_wide(L"\ufeffx"); });
    check("text/wstring-swapped-bom", [&] { echo_wide(L"\ufffex"); });
  }

  // Labels that select a default arm, or none, beside the one that a compiler would choose for it.
  void default_labels() {
#define DEFAULT_LABEL(NAME, T, OUT, LABEL, ...)                                 \
  check("union/" #NAME, [&] {                                                   \
    __VA_ARGS__;                                                                \
    T a, c;                                                                     \
    Values<T>::sample(a, 1, LABEL);                                             \
    sample(c, 0);                                                               \
    const std::string wanted = text(a), old = text(c);                          \
    OUT b;                                                                      \
    T##_var r = result(every->echo_##NAME(a, out(b), c));                       \
    expect("b", text<T>(in(b)), wanted);                                        \
    expect("c", text(c), wanted);                                               \
    expect("return", text<T>(r.in()), old);                                     \
  });
    DEFAULT_LABEL(by_short, ByShort, ByShort, 9)
    DEFAULT_LABEL(by_ushort, ByUShort, ByUShort_var, 65535)
    DEFAULT_LABEL(by_long, ByLong, ByLong_var, -2147483647 - 1)
    DEFAULT_LABEL(by_ulong, ByULong, ByULong, 77)
    DEFAULT_LABEL(by_ulonglong, ByULongLong, ByULongLong, 9223372036854775808u)
    DEFAULT_LABEL(by_char, ByChar, ByChar, 'z')
    DEFAULT_LABEL(wide_choice, WideChoice, WideChoice_var, -1, need_wide())
  }
  // A union of fixed layout is returned by value, any other by pointer.
  template <class T> static T* result(T* value) { return value; }
  template <class T> static T* result(const T& value) { return new T(value); }
  template <class V> static auto out(V& variable) -> decltype(variable.out()) { return variable.out(); }
  template <class T> static T& out(T& value, decltype(std::declval<T&>()._d())* = nullptr) { return value; }
  template <class V> static auto in(V& variable) -> decltype(variable.in()) { return variable.in(); }
  template <class T> static T& in(T& value, decltype(std::declval<T&>()._d())* = nullptr) { return value; }

  void bits() {
    check("bits/float", [&] {
      for (uint32_t bits : {0x7fc12345u, 0xffc00001u, 0x7f800001u}) {
        CORBA::Float b, c = float_of(bits);
        CORBA::Float r = every->echo_float(float_of(bits), b, c);
        const std::string wanted = text(float_of(bits));
        expect("b", text(b), wanted);
        expect("c", text(c), wanted);
        expect("return", text(r), wanted);
      }
    });
    check("bits/double", [&] {
      for (uint64_t bits : {0x7ff8000000abcdefu, 0xfff8000000000001u, 0x7ff0000000000001u}) {
        CORBA::Double b, c = double_of(bits);
        CORBA::Double r = every->echo_double(double_of(bits), b, c);
        const std::string wanted = text(double_of(bits));
        expect("b", text(b), wanted);
        expect("c", text(c), wanted);
        expect("return", text(r), wanted);
      }
    });
  }

  // ---------------------------------------------------------------- calls

  // What was noted, once there are `count` notes or five seconds have passed.
  LongSeq noted(ULong count) {
    LongSeq_var notes;
    for (int i = 0; i < 500; ++i) {
      notes = every->noted();
      if (notes->length() >= count) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return notes.in();
  }

  void calls() {
    check("call/nothing", [&] { every->nothing(); });
    check("call/consume", [&] {
      CORBA::Long a;
      BinStruct c;
      StringSeq d;
      sample(a, 3);
      sample(c, 3);
      sample(d, 3);
      every->consume(a, sample_string(3).c_str(), c, d);
    });
    check("call/produce", [&] {
      CORBA::Long a = 0;
      CORBA::String_var b;
      BinStruct c{};
      StringSeq_var d;
      LongArray f{};
      every->produce(a, b.out(), c, d.out(), f);
      fifth("a", a);
      expect("b", b.in(), sample_string(5));
      fifth("c", c);
      fifth("d", d.in());
      LongArray wanted;
      sample(wanted, 5);
      expect("f", text(f), text(wanted));
    });
    check("call/change", [&] {
      CORBA::Long a;
      CORBA::String_var b = sample_string(2).c_str();
      BinStruct c;
      StringSeq d;
      ByUShort f;
      sample(a, 2);
      sample(c, 2);
      sample(d, 2);
      sample(f, 2);
      every->change(a, b.inout(), c, d, f);
      fifth("a", a);
      expect("b", b.in(), sample_string(5));
      fifth("c", c);
      fifth("d", d);
      fifth("f", f);
    });
    check("call/mixed", [&] {
      CORBA::Short b = 300;
      CORBA::Double c = 0;
      CORBA::String_var g;
      OctetSeq f;
      f.length(3);
      for (int i = 0; i < 3; ++i) f[i] = i + 1;
      const CORBA::Long r = every->mixed(7, b, c, "text", g.out(), f);
      expect("b, c, return", b == -300 && c == 7.0 && r == 3);
      expect("g", g.in(), std::string("text"));
      expect("f", text(f), "[3, 2, 1]");
    });
    check("call/escaped", [&] { expect("return", every->interface(41) == 42); });
    check("call/long-name", [&] {
      CORBA::String_var r =
          every->operation_name_that_is_rather_long_so_that_its_length_word_and_padding_are_not_the_usual_ones("long");
      expect("return", r.in(), std::string("long"));
    });
    check("call/oneway", [&] {
      every->forget();
      every->note(1);
      LongSeq more;
      more.length(2);
      more[0] = 2;
      more[1] = 3;
      every->note_all(more, "four");
      LongSeq notes = noted(4);
      std::sort(notes.get_buffer(), notes.get_buffer() + notes.length());
      expect("notes", text(notes), "[1, 2, 3, 4]");
    });
    check("call/oneway-order", [&] {
      every->forget();
      LongSeq wanted;
      wanted.length(100);
      for (int i = 0; i < 100; ++i) every->note(wanted[i] = i);
      expect("notes", noted(100), wanted);
    });
    check("call/concurrent", [&] {
      std::vector<std::thread> threads;
      int met[4] = {};
      for (int& m : met)
        threads.emplace_back([&] { try { m = every->meet(4, 5000); } catch (const CORBA::Exception&) {} });
      for (auto& t : threads) t.join();
      expect("met", met[0] && met[1] && met[2] && met[3]);
    });
    check("call/slow", [&] {
      const auto start = std::chrono::steady_clock::now();
      every->nap(50);
      expect("50 ms", std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(50));
    });
  }

  template <class T> static void fifth(const char* what, const T& got) {
    T wanted;
    sample(wanted, 5);
    expect(what, got, wanted);
  }

  void attributes() {
    check("attribute/answer", [&] { expect("answer", every->answer() == 42); });
    check("attribute/title", [&] {
      for (ULong k = 0; k < 7; ++k) {
        every->title(sample_string(k).c_str());
        CORBA::String_var got = every->title();
        expect("title", got.in(), sample_string(k));
      }
    });
    check("attribute/setting", [&] {
      for (ULong k = 0; k < 7; ++k) {
        BinStruct value;
        sample(value, k);
        every->setting(value);
        expect("setting", every->setting(), value);
      }
    });
    check("attribute/choice", [&] {
      for (ULong k = 0; k < 7; ++k) {
        ByUShort value;
        sample(value, k);
        every->choice(value);
        ByUShort_var got = every->choice();
        expect("choice", got.in(), value);
      }
    });
    check("attribute/lists", [&] {
      for (ULong k = 0; k < 7; ++k) {
        LongSeq first, second;
        sample(first, k);
        sample(second, k + 1);
        every->first_list(first);
        every->second_list(second);
        LongSeq_var got = every->first_list();
        expect("first_list", got.in(), first);
        got = every->second_list();
        expect("second_list", got.in(), second);
      }
    });
  }

  // ------------------------------------------------------------ exceptions

  void exceptions() {
    check("exception/empty", [&] { raises<Empty>([&] { every->raise_empty(); }, ignore<Empty>); });
    check("exception/refused", [&] {
      for (CORBA::Long code : {-7, 2147483647}) {
        const char* why = code < 0 ? "no" : "";
        raises<Refused>([&] { every->raise_refused(why, code); }, [&](const Refused& e) {
          expect("why", e.why.in(), std::string(why));
          expect("code", e.code, code);
        });
      }
    });
    check("exception/loaded", [&] {
      for (ULong k = 0; k < 13; ++k)
        raises<Loaded>([&] { every->raise_loaded(k); }, [&](const Loaded& e) {
          Loaded wanted;
          sample(wanted, k);
          expect(at(k, "exception"), e, wanted);
        });
    });
    check("exception/wide", [&] {
      need_wide();
      for (ULong k = 0; k < 6; ++k)
        raises<WideError>([&] { every->raise_wide(k); }, [&](const WideError& e) {
          WideError wanted;
          sample(wanted, k);
          expect(at(k, "exception"), e, wanted);
        });
    });
    check("exception/one-of", [&] {
      CORBA::String_var b;
      CORBA::Long c = 9;
      expect("return", every->raise_one_of(0, b.out(), c) == 7);
      expect("b", b.in(), std::string("fine"));
      expect("c", c == -9);
      raises<Empty>([&] { every->raise_one_of(1, b.out(), c); }, ignore<Empty>);
      raises<Refused>([&] { every->raise_one_of(2, b.out(), c); }, [&](const Refused& e) {
        expect("refused", e.why.in() == std::string("two") && e.code == 2);
      });
      raises<Loaded>([&] { every->raise_one_of(3, b.out(), c); }, [&](const Loaded& e) {
        Loaded wanted;
        sample(wanted, 3);
        expect("loaded", e, wanted);
      });
    });
    check("exception/undeclared", [&] { raises<CORBA::UNKNOWN>([&] { every->raise_undeclared(); }, ignore<CORBA::UNKNOWN>); });
    check("exception/bad-operation", [&] {
      Base_var base = every->make(a_base);
      Left_var left = Left::_unchecked_narrow(base);
      raises<CORBA::BAD_OPERATION>([&] { left->left_op(1); }, ignore<CORBA::BAD_OPERATION>);
    });

    static const char* const NAMES[] = {
        "UNKNOWN", "BAD_PARAM", "NO_MEMORY", "IMP_LIMIT", "COMM_FAILURE", "INV_OBJREF", "OBJECT_NOT_EXIST",
        "NO_PERMISSION", "INTERNAL", "MARSHAL", "INITIALIZE", "NO_IMPLEMENT", "BAD_TYPECODE", "BAD_OPERATION",
        "NO_RESOURCES", "NO_RESPONSE", "PERSIST_STORE", "BAD_INV_ORDER", "TRANSIENT", "FREE_MEM", "INV_IDENT",
        "INV_FLAG", "INTF_REPOS", "BAD_CONTEXT", "OBJ_ADAPTER", "DATA_CONVERSION", "INV_POLICY", "REBIND",
        "TIMEOUT", "TRANSACTION_REQUIRED", "TRANSACTION_ROLLEDBACK", "INVALID_TRANSACTION",
        "TRANSACTION_UNAVAILABLE", "TRANSACTION_MODE", "BAD_QOS", "CODESET_INCOMPATIBLE"};
    ULong n = 0;
    for (const char* name : NAMES) {
      const ULong minor = 0x5a4f0000 + n, completed = n % 3;
      ++n;
      check(std::string("system/") + name, [=, this] {
        raises<CORBA::SystemException>([&] { every->raise_system(name, minor, completed); },
                                       [&](const CORBA::SystemException& e) {
          expect("kind", e._name(), std::string(name));
          expect("minor", e.minor(), minor);
          expect("completed", ULong(e.completed()), completed);
        });
      });
    }
  }

  // ------------------------------------------------- objects and references

  void objects() {
    check("object/is_a", [&] {
      // The stub knows what it was narrowed to; an untyped reference has to ask.
      CORBA::String_var ior = world.orb->object_to_string(every);
      CORBA::Object_var object = world.orb->string_to_object(ior);
      expect("Every", object->_is_a("IDL:zorb.test/interop/Every:1.0"));
      expect("Scalars", object->_is_a("IDL:zorb.test/interop/Scalars:1.0"));
      expect("Object", object->_is_a("IDL:omg.org/CORBA/Object:1.0"));
      expect("not Left", !object->_is_a("IDL:zorb.test/interop/Left:1.0"));
      expect("not empty", !object->_is_a(""));
    });
    check("object/non_existent", [&] {
      expect("Every exists", !every->_non_existent());
      Base_var gone = every->gone();
      try {
        expect("gone does not", gone->_non_existent());
      } catch (const CORBA::OBJECT_NOT_EXIST&) {
      }
    });
    check("object/stringify", [&] {
      Base_var left = every->make(a_left);
      CORBA::String_var ior = world.orb->object_to_string(left);
      CORBA::Object_var object = world.orb->string_to_object(ior);
      expect("equivalent", object->_is_equivalent(left));
      Base_var again = Base::_narrow(object);
      expect("callable", again->base_op(1) == 2);
    });
    check("object/part-nil", [&] {
      CORBA::Object_var part = every->part("None");
      expect("nil", CORBA::is_nil(part));
    });
  }

  static bool same(CORBA::Object_ptr x, CORBA::Object_ptr y) {
    if (CORBA::is_nil(x) || CORBA::is_nil(y)) return CORBA::is_nil(x) && CORBA::is_nil(y);
    return x->_is_equivalent(y);
  }
  void echo_base(Base_ptr a, Base_ptr old) {
    Base_var b, c = Base::_duplicate(old);
    Base_var r = every->echo_base(a, b.out(), c.inout());
    expect("b, c, return", same(b, a) && same(c, a) && same(r, old));
  }
  void forwarded(ULong hops) {
    Base_var base = every->forwarded(hops);
    for (int i = 0; i < 2; ++i) {
      expect("base_op", base->base_op(1) == 2);
      CORBA::String_var name = base->name();
      expect("name", name.in(), std::string("base"));
    }
  }

  void references() {
    check("reference/make", [&] {
      const char* const names[] = {"base", "left", "right", "diamond"};
      for (int kind = 0; kind < 4; ++kind) {
        Base_var made = every->make(Kind(kind));
        CORBA::String_var name = made->name();
        expect("name", name.in(), std::string(names[kind]));
        expect("base_op", made->base_op(1) == 2);
      }
      Base_var none = every->make(a_nil);
      expect("nil", CORBA::is_nil(none));
      CORBA::Object_var nothing = every->make_object(a_nil);
      expect("nil object", CORBA::is_nil(nothing));
    });
    check("reference/narrow", [&] {
      Base_var diamond = every->make(a_diamond), left = every->make(a_left);
      Diamond_var d = Diamond::_narrow(diamond);
      Left_var l = Left::_narrow(diamond);
      Right_var r = Right::_narrow(diamond);
      Every_var e = Every::_narrow(diamond);
      expect("diamond", !CORBA::is_nil(d) && !CORBA::is_nil(l) && !CORBA::is_nil(r) && CORBA::is_nil(e));
      r = Right::_narrow(left);
      expect("left is no right", CORBA::is_nil(r));
    });
    check("reference/diamond", [&] {
      Base_var base = every->make(a_diamond);
      Diamond_var d = Diamond::_narrow(base);
      expect("ops", d->base_op(10) == 11 && d->left_op(10) == 12 && d->right_op(10) == 13 && d->diamond_op(10) == 14);
      d->shared(5);
      expect("shared", d->shared() == 5);
    });
    check("reference/echo-base", [&] {
      Base_var left = every->make(a_left), right = every->make(a_right), nil = Base::_nil();
      echo_base(left, right);
      echo_base(nil, left);
      echo_base(left, nil);
      echo_base(nil, nil);
    });
    check("reference/echo-diamond", [&] {
      Base_var base = every->make(a_diamond);
      Diamond_var a = Diamond::_narrow(base), b, c;
      Diamond_var r = every->echo_diamond(a, b.out(), c.inout());
      expect("b, c, return", same(b, a) && same(c, a) && CORBA::is_nil(r));
      expect("diamond_op", b->diamond_op(1) == 5);
    });
    check("reference/echo-object", [&] {
      CORBA::Object_var a = every->make_object(a_diamond), b, c;
      CORBA::Object_var r = every->echo_object(a, b.out(), c.inout());
      expect("b, c, return", same(b, a) && same(c, a) && CORBA::is_nil(r));
      Diamond_var d = Diamond::_narrow(b);
      expect("diamond_op", d->diamond_op(1) == 5);
    });
    check("reference/echo-own", [&] {
      Base_var own = servants::activate<Base>(world.root, new servants::BaseServant(100));
      Base_var b, c;
      Base_var r = every->echo_base(own, b.out(), c.inout());
      expect("b, c, return", same(b, own) && same(c, own) && CORBA::is_nil(r));
      expect("base_op", b->base_op(1) == 101);
    });
    check("reference/seq", [&] {
      BaseSeq a, c;
      a.length(3);
      a[0] = every->make(a_left);
      a[2] = every->make(a_right);
      BaseSeq_var b;
      BaseSeq_var r = every->echo_base_seq(a, b.out(), c);
      expect("lengths", b->length() == 3 && c.length() == 3 && r->length() == 0);
      for (ULong i = 0; i < 3; ++i) expect("elements", same(b[i], a[i]) && same(c[i], a[i]));
    });
    check("reference/array", [&] {
      BaseArray a, c;
      a[1] = every->make(a_left);
      c[0] = every->make(a_base);
      Base_var old = Base::_duplicate(c[0]);
      BaseArray_var b;
      BaseArray_var r = every->echo_base_array(a, b.out(), c);
      expect("b", same(b[0], a[0]) && same(b[1], a[1]));
      expect("c", same(c[0], a[0]) && same(c[1], a[1]));
      expect("return", same(r[0], old) && CORBA::is_nil(r[1]));
    });
    check("reference/object-seq", [&] {
      ObjectSeq a, c;
      a.length(2);
      a[0] = CORBA::Object::_duplicate(every);
      ObjectSeq_var b;
      ObjectSeq_var r = every->echo_object_seq(a, b.out(), c);
      expect("lengths", b->length() == 2 && c.length() == 2 && r->length() == 0);
      expect("elements", same(b[0], every) && CORBA::is_nil(b[1]) && same(c[0], every));
    });
    check("reference/record", [&] {
      RefRecord a, c;
      a.label = "label";
      a.typed = every->make(a_diamond);
      a.more.length(2);
      a.more[1] = every->make(a_left);
      c.label = "";
      RefRecord_var b;
      RefRecord_var r = every->echo_ref_record(a, b.out(), c);
      for (const RefRecord* x : {(const RefRecord*)&b.in(), (const RefRecord*)&c}) {
        expect("label", x->label.in(), std::string("label"));
        expect("references", same(x->typed, a.typed) && CORBA::is_nil(x->untyped) && x->more.length() == 2 &&
                                 CORBA::is_nil(x->more[0]) && same(x->more[1], a.more[1]));
      }
      expect("return", CORBA::is_nil(r->typed) && r->more.length() == 0);
    });
    check("reference/choice", [&] {
      for (Kind kind : {a_base, a_diamond, a_nil}) {
        RefChoice a, c;
        Base_var made = every->make(kind);
        Diamond_var diamond = kind == a_diamond ? Diamond::_narrow(made) : Diamond::_nil();
        if (kind == a_base) a.typed(made);
        else if (kind == a_diamond) a.deep(diamond);
        else a.untyped(CORBA::Object_ptr(CORBA::Object::_nil()));
        c.untyped(every.in());
        RefChoice_var b;
        RefChoice_var r = every->echo_ref_choice(a, b.out(), c);
        expect("labels", b->_d() == kind && c._d() == kind && r->_d() == a_nil);
        expect("value", kind == a_base ? same(b->typed(), made) : kind == a_diamond ? same(b->deep(), made) : CORBA::is_nil(b->untyped()));
        expect("return", same(r->untyped(), every));
      }
    });
    check("reference/exception", [&] {
      Base_var left = every->make(a_left), right = every->make(a_right);
      raises<RefError>([&] { every->raise_ref(left, CORBA::Object::_nil()); }, [&](const RefError& e) {
        expect("members", same(e.culprit, left) && CORBA::is_nil(e.witness));
      });
      raises<RefError>([&] { every->raise_ref(Base::_nil(), right); }, [&](const RefError& e) {
        expect("members", CORBA::is_nil(e.culprit) && same(e.witness, right));
      });
    });
    check("reference/gone", [&] {
      Base_var gone = every->gone();
      raises<CORBA::OBJECT_NOT_EXIST>([&] { gone->base_op(1); }, ignore<CORBA::OBJECT_NOT_EXIST>);
    });
    for (ULong hops : {0, 1, 2, 5}) check("reference/forward-" + std::to_string(hops), [=, this] { forwarded(hops); });
    check("reference/forward-bulk", [&] {
      Base_var base = every->forwarded(1), b, c;
      expect("base_op", base->base_op(1) == 2);
      Base_var r = every->echo_base(base, b.out(), c.inout());
      expect("base_op of b", b->base_op(1) == 2);
    });
  }

  void callbacks() {
    servants::ListenerServant* ear = nullptr;
    Listener_var listener;
    Peer_var mine;
    if (!options.count("list")) {
      ear = new servants::ListenerServant;
      ear->_add_ref();
      listener = servants::activate<Listener>(world.root, ear);
      mine = servants::activate<Peer>(world.root, new servants::PeerServant);
    }
    check("callback/ask", [&] {
      CORBA::String_var answer = every->ask(listener, "why");
      expect("answer", answer.in(), std::string("whywhy"));
    });
    check("callback/ask-refused", [&] {
      raises<Refused>([&] { every->ask(listener, "refuse"); }, [&](const Refused& e) {
        expect("members", e.why.in() == std::string("asked to") && e.code == 13);
      });
    });
    check("callback/ask-system", [&] {
      raises<CORBA::NO_PERMISSION>([&] { every->ask(listener, "system"); }, [&](const CORBA::NO_PERMISSION& e) {
        expect("minor, completed", e.minor() == 13 && e.completed() == CORBA::COMPLETED_YES);
      });
    });
    check("callback/tell", [&] {
      every->tell(listener, 5);
      for (int i = 0; i < 500 && ear->all().size() < 5; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      std::vector<CORBA::Long> heard = ear->all();
      std::sort(heard.begin(), heard.end());
      expect("heard", heard == std::vector<CORBA::Long>{0, 1, 2, 3, 4});
    });
    for (CORBA::Long depth : {1, 8})
      check("callback/bounce-" + std::to_string(depth), [&, depth] { expect("depth", every->bounce_with(mine, depth), depth); });
    check("callback/partner", [&] {
      Peer_var partner = every->partner();
      expect("depth", partner->bounce(mine, 3) == 3);
    });
    if (ear) ear->_remove_ref();
  }

  void constants() {
    check("constant/values", [&] {
      expect("integers", SHORT_LEAST == -32768 && USHORT_MOST == 65535 && LONG_LEAST == -2147483647 &&
                             ULONG_MOST == 4294967295u && LONGLONG_LEAST == -9223372036854775807 &&
                             LONGLONG_MOST == 9223372036854775807 && ULONGLONG_MOST == 18446744073709551615u &&
                             OCTET_MOST == 255 && BOUND == 5 && MASK == 248);
      expect("others", HALF == 0.5 && LARGE == 1048576.5 && YES && LETTER == 'z' && WIDE_LETTER == L'z' && FAVOURITE == green);
      expect("GREETING", GREETING, std::string("hello, \"world\"\n"));
      expect_wide("WIDE_GREETING", WIDE_GREETING, L"hello");
    });
  }

  void extras() {
    decimals();
    long_doubles();
    for (const char* name : {"strict", "set", "refused", "empty"})
      check(std::string("guarded/") + name, [] { throw Skip{"omniidl 4.2 has no attributes that raise"}; });
  }

  // --------------------------------------------------------------- samples

  int samples() {
#define PRINT(op, T, ...) for (ULong k = 0; k < ROUNDS; ++k) { T x; __VA_ARGS__; std::cout << #op + 5 << ' ' << k << ' ' << text(x) << '\n'; }
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
#undef ENTER_WIDE
#undef LEAVE_WIDE
#define BY_VALUE(op, T) PRINT(op, T, sample(x, k))
#define CHAR(op, T) PRINT(op, char, sample(x, k))
#define FIXED BY_VALUE
#define VARIABLE BY_VALUE
#define FIXED_ARRAY BY_VALUE
#define VARIABLE_ARRAY BY_VALUE
#define STRING(op, T) PRINT(op, CORBA::String_member, sample(x, k))
#define CODE(op, T) PRINT(op, CORBA::String_member, Values<CORBA::String_member>::sample(x, k, 8))
#define WSTRING(op, T) PRINT(op, CORBA::WString_member, sample(x, k))
#define WIDE_CODE(op, T) PRINT(op, CORBA::WString_member, Values<CORBA::WString_member>::sample(x, k, 6))
#define CHAR_ARRAY(op, T)                                                       \
  for (ULong k = 0; k < ROUNDS; ++k) { T a; Letters x{a}; sample(x, k); std::cout << #op + 5 << ' ' << k << ' ' << text(x) << '\n'; }
#define ENTER_WIDE
#define LEAVE_WIDE
#include "echoes.inc"
    PRINT(exc::Loaded, Loaded, sample(x, k))
    PRINT(exc::WideError, WideError, sample(x, k))
    return 0;
  }
};

}  // namespace

int main(int argc, char** argv) {
  try {
    return Client(servants::options(argc, argv)).run();
  } catch (const Failure& failure) {
    std::cerr << "client: " << failure.reason << '\n';
  } catch (const CORBA::Exception& e) {
    std::cerr << "client: " << describe(e) << '\n';
  }
  return 1;
}
