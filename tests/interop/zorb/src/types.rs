//! The members of every enum, struct, union and exception of `every.idl`, for their samples.

use zorb::{Char, LongDouble, WChar};

use crate::every::interop::*;
use crate::sample::{Decimal, List, Own, Run, Sample, Text, Wide};
use crate::{sample_enums, sample_structs, sample_unions};

sample_enums! {
    Color { red, green, blue }
    Level { low, medium, high, extreme, off }
}

sample_structs! {
    Pair { left: Own<i16>, right: Own<i16> }
    Rgb { r: Own<u8>, g: Own<u8>, b: Own<u8> }
    Tail with padding { value: Own<f64>, mark: Own<u8> }
    LongTail with padding { value: Own<i64>, mark: Own<i32> }
    BinStruct with padding { s: Own<i16>, c: Own<Char>, l: Own<i32>, o: Own<u8>, d: Own<f64> }
    OddDouble { before: Own<u8>, value: Own<f64>, after: Own<u8> }
    OddShort { before: Own<u8>, value: Own<i32>, after: Own<i16> }
    Floats { first: Own<f32>, second: Own<f64>, third: Own<f32> }
    Flags { on: Own<bool>, tint: Own<Color>, rest: Own<u8> }
    FlagPair { first: Own<bool>, second: Own<bool> }
    Nested { lead: Own<u8>, bin: Own<BinStruct>, two: Own<Pair>, end: Own<u8> }
    AllScalars with padding {
        o: Own<u8>, d: Own<f64>, t: Own<bool>, ll: Own<i64>, c: Own<Char>, s: Own<i16>, o2: Own<u8>, f: Own<f32>,
        us: Own<u16>, ul: Own<u32>, o3: Own<u8>, ull: Own<u64>, l: Own<i32>, e: Own<Color>,
    }
    Record {
        name: Text, mark: Own<u8>, short_code: Text<8>, tint: Own<Color>, data: Own<OctetSeq>, weight: Own<f64>,
    }
    Anonymous {
        few: Run<i32, 4>, tiny: Text<3>, grid: Own<LongGrid>, texts: Own<StringSeq>, bins: Own<BinStructSeq>,
    }
    UnionRecord { lead: Own<u8>, scalar: Own<ByShort>, any_of: Own<ByLong>, perhaps: Own<Maybe> }
    WideRecord { letter: Own<WChar>, gap: Own<u8>, text: Wide, short_code: Wide<6>, more: List<Wide> }
    WideError { why: Wide, letter: Own<WChar> }
    Loaded {
        scalars: Own<AllScalars>, text: Text, short_code: Text<8>, how: Own<Level>, rec: Own<Record>,
        numbers: Own<LongSeq>, grid: Own<LongGrid>, choice: Own<ByLong>, bins: Own<BinStructSeq>,
    }
    MoneyRecord { lead: Own<u8>, value: Decimal<9, 2>, part: Decimal<31, 31>, end: Own<u8> }
    LongDoubleRecord { lead: Own<u8>, value: Own<LongDouble>, end: Own<u8> }
}

impl Sample for Tree {
    fn sample(k: u32) -> Self {
        let children = k % 4;
        Tree { value: i32::sample(k), children: (0..children).rev().map(Tree::sample).collect() }
    }
    fn show(&self, out: &mut String) {
        out.push('{');
        self.value.show(out);
        out.push_str(", ");
        self.children.show(out);
        out.push('}');
    }
}

sample_unions! {
    ByShort by i16 {
        -32768 => s(Own<i16>), -1 => us(Own<u16>), 0 => l(Own<i32>), 1 => ul(Own<u32>), 2 => ll(Own<i64>),
        3 => ull(Own<u64>), 4 => f(Own<f32>), 5 => d(Own<f64>), 6 => c(Own<Char>), 7 => o(Own<u8>),
        8 => t(Own<bool>), 32767 => e(Own<Color>),
    }
    ByUShort by u16 {
        1 => number(label, Own<i32>), 2 => number(label, Own<i32>), 32767 => number(label, Own<i32>),
        3 => text(Text), 0 => other(label, Own<u8>),
    }
    ByLong by i32 {
        LONG_LEAST => text(Text), -1 => bounded(Text<8>), 0 => bin(Own<BinStruct>), 1 => rec(Own<Record>),
        2 => numbers(Own<LongSeq>), 3 => records(Own<RecordSeq>), 4 => grid(Own<LongGrid>),
        5 => texts(Own<StringArray>), i32::MAX => inner(Own<ByUShort>), 6 => scalar(label, Own<ByShort>),
    }
    ByULong by u32 {
        0 => value(label, Own<f64>), 1 => value(label, Own<f64>), ULONG_MOST => odd(Own<OddDouble>),
    }
    ByLongLong by i64 {
        LONGLONG_LEAST => first(Own<i16>), LONGLONG_MOST => last(Text), 0 => Default(label),
    }
    ByULongLong by u64 {
        0 => zero(Own<u8>), ULONGLONG_MOST => most(Own<f64>), 1 => other(label, Own<i32>),
    }
    ByChar by Char {
        Char(b'a') => letters(label, Own<i32>), Char(b'b') => letters(label, Own<i32>),
        Char(b'0') => digit(Own<f64>),
    }
    ByBoolean by bool { true => yes(Text), false => no(Own<i32>) }
    Maybe by bool { true => value(Own<i64>), false => Default(label) }
    ByColor by Color { Color::red => r(Own<u8>), Color::green => g(Own<f64>), Color::blue => b(Text) }
    ByLevel by Level {
        Level::low => usual(label, Own<BinStruct>), Level::medium => usual(label, Own<BinStruct>),
        Level::extreme => many(Own<StringSeq>), Level::high => Default(label), Level::off => Default(label),
    }
    WideChoice by i16 {
        0 => letter(Own<WChar>), 1 => text(Wide), 2 => short_code(label, Wide<6>),
    }
}
