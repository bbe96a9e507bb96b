// The members of every struct, union and exception of every.idl, for values.h.

#pragma once

#include "values.h"

using namespace interop;

STRUCT(Pair, v(x.left); v(x.right))
STRUCT(Rgb, v(x.r); v(x.g); v(x.b))
STRUCT(Tail, v(x.value); v(x.mark))
STRUCT(LongTail, v(x.value); v(x.mark))
STRUCT(BinStruct, v(x.s); v.letter(x.c); v(x.l); v(x.o); v(x.d))
STRUCT(OddDouble, v(x.before); v(x.value); v(x.after))
STRUCT(OddShort, v(x.before); v(x.value); v(x.after))
STRUCT(Floats, v(x.first); v(x.second); v(x.third))
STRUCT(Flags, v(x.on); v(x.tint); v(x.rest))
STRUCT(FlagPair, v(x.first); v(x.second))
STRUCT(Nested, v(x.lead); v(x.bin); v(x.two); v(x.end))
STRUCT(AllScalars, v(x.o); v(x.d); v(x.t); v(x.ll); v.letter(x.c); v(x.s); v(x.o2); v(x.f); v(x.us); v(x.ul); v(x.o3); v(x.ull); v(x.l); v(x.e))
STRUCT(Record, v(x.name); v(x.mark); v.bounded(x.short_code, 8); v(x.tint); v(x.data); v(x.weight))
STRUCT(Anonymous, v(x.few); v.bounded(x.tiny, 3); v(x.grid); v(x.texts); v(x.bins))

SEQUENCE_AS(CharSeq, char c; Values<char>::sample(c, k); x[i] = c, Values<char>::show(out, x[i]))
ARRAY_SEQUENCE(LongGridSeq, LongGrid)
ARRAY_SEQUENCE(LongArraySeq, LongArray)

template <> struct Values<interop::Strings3> {  // string<4>: the bound of the elements is not in the C++ type
  static void sample(interop::Strings3& x, ULong k) {
    sample_length(x, k);
    for (ULong i = 0; i < x.length(); ++i) x[i] = CORBA::string_dup(sample_string(k + i, 4).c_str());
  }
  static void show(std::ostream& out, const interop::Strings3& x) {
    out << '[';
    for (ULong i = 0; i < x.length(); ++i) { if (i) out << ", "; show_string(out, (const char*)x[i]); }
    out << ']';
  }
};

template <> struct Values<interop::Tree> {
  static void sample(interop::Tree& x, ULong k) {
    const ULong n = k % 4;
    ::sample(x.value, k);
    x.children.length(n);
    for (ULong i = 0; i < n; ++i) sample(x.children[i], n - 1 - i);
  }
  static void show(std::ostream& out, const interop::Tree& x);
};

UNION(ByShort, CORBA::Short, LABELS(-32768, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 32767),
      case -32768: ARM(CORBA::Short, s)
      case -1: ARM(CORBA::UShort, us)
      case 0: ARM(CORBA::Long, l)
      case 1: ARM(CORBA::ULong, ul)
      case 2: ARM(CORBA::LongLong, ll)
      case 3: ARM(CORBA::ULongLong, ull)
      case 4: ARM(CORBA::Float, f)
      case 5: ARM(CORBA::Double, d)
      case 6: ARM(char, c)
      case 7: ARM(CORBA::Octet, o)
      case 8: ARM(CORBA::Boolean, t)
      case 32767: ARM(Color, e)
      default: NO_ARM)
UNION(ByUShort, CORBA::UShort, LABELS(1, 2, 32767, 3, 0),
      case 1: case 2: case 32767: ARM(CORBA::Long, number)
      case 3: TEXT_ARM(CORBA::String_member, text)
      default: ARM(CORBA::Octet, other))
UNION(ByULong, CORBA::ULong, LABELS(0, 1, ULONG_MOST),
      case ULONG_MOST: ARM(OddDouble, odd)
      default: ARM(CORBA::Double, value))
UNION(ByLongLong, CORBA::LongLong, LABELS(LONGLONG_LEAST, LONGLONG_MOST, 0),
      case LONGLONG_LEAST: ARM(CORBA::Short, first)
      case LONGLONG_MOST: TEXT_ARM(CORBA::String_member, last)
      default: NO_ARM)
UNION(ByULongLong, CORBA::ULongLong, LABELS(0, ULONGLONG_MOST, 1),
      case 0: ARM(CORBA::Octet, zero)
      case ULONGLONG_MOST: ARM(CORBA::Double, most)
      default: ARM(CORBA::Long, other))
UNION(ByChar, char, LABELS('a', 'b', '0'),
      case 'a': case 'b': ARM(CORBA::Long, letters)
      case '0': ARM(CORBA::Double, digit)
      default: NO_ARM)
UNION(ByBoolean, CORBA::Boolean, LABELS(true, false),
      case true: TEXT_ARM(CORBA::String_member, yes)
      case false: ARM(CORBA::Long, no))
UNION(Maybe, CORBA::Boolean, LABELS(true, false),
      case true: ARM(CORBA::LongLong, value)
      default: NO_ARM)
UNION(ByColor, Color, LABELS(red, green, blue),
      case red: ARM(CORBA::Octet, r)
      case green: ARM(CORBA::Double, g)
      case blue: TEXT_ARM(CORBA::String_member, b)
      default: NO_ARM)
UNION(ByLevel, Level, LABELS(low, medium, extreme, high, off),
      case low: case medium: ARM(BinStruct, usual)
      case extreme: ARM(StringSeq, many)
      default: NO_ARM)
UNION(ByLong, CORBA::Long, LABELS(LONG_LEAST, -1, 0, 1, 2, 3, 4, 5, 2147483647, 6),
      case LONG_LEAST: TEXT_ARM(CORBA::String_member, text)
      case -1: BOUNDED_ARM(CORBA::String_member, bounded, 8)
      case 0: ARM(BinStruct, bin)
      case 1: ARM(Record, rec)
      case 2: ARM(LongSeq, numbers)
      case 3: ARM(RecordSeq, records)
      case 4: ARRAY_ARM(LongGrid, grid)
      case 5: ARRAY_ARM(StringArray, texts)
      case 2147483647: ARM(ByUShort, inner)
      default: ARM(ByShort, scalar))
UNION(WideChoice, CORBA::Short, LABELS(0, 1, 2),
      case 0: ARM(CORBA::WChar, letter)
      case 1: TEXT_ARM(CORBA::WString_member, text)
      default: BOUNDED_ARM(CORBA::WString_member, short_code, 6))

STRUCT(UnionRecord, v(x.lead); v(x.scalar); v(x.any_of); v(x.perhaps))
STRUCT(WideRecord, v(x.letter); v(x.gap); v(x.text); v.bounded(x.short_code, 6); v(x.more))
STRUCT(WideError, v(x.why); v(x.letter))
STRUCT(Loaded, v(x.scalars); v(x.text); v.bounded(x.short_code, 8); v(x.how); v(x.rec); v(x.numbers); v(x.grid); v(x.choice); v(x.bins))
STRUCT(MoneyRecord, v(x.lead); v(x.value); v(x.part); v(x.end))
STRUCT(LongDoubleRecord, v(x.lead); v(x.value); v(x.end))

inline void Values<interop::Tree>::show(std::ostream& out, const interop::Tree& x) {
  out << '{';
  Values<CORBA::Long>::show(out, x.value);
  out << ", ";
  Values<TreeSeq>::show(out, x.children);
  out << '}';
}
