//! The echo and phase operations, once: how Rust passes the type, the operation, the type, and its [shape](crate::sample)
//! where that is more than the type.
//!
//! | word | a servant receives | a stub takes |
//! |---|---|---|
//! | `value` | `T` | `T` |
//! | `sequence` | `Sequence<_>` | `&[_]` |
//! | `whole` | `&T` | `&T` |
//! | `parts` | `&[_]` or `&str` | the same |
//!
//! Each macro here hands its table to the macro that it is given: `scalars!(print)` is `print! { value echo_short: i16; … }`.

/// Echoes of interface `Scalars`.
macro_rules! scalars {
    ($with:ident) => {
        $with! {
            value echo_short: i16;
            value echo_ushort: u16;
            value echo_long: i32;
            value echo_ulong: u32;
            value echo_longlong: i64;
            value echo_ulonglong: u64;
            value echo_float: f32;
            value echo_double: f64;
            value echo_char: Char;
            value echo_octet: u8;
            value echo_boolean: bool;
            value echo_color: Color;
            value echo_level: Level;
        }
    };
}

/// Echoes of interface `Text`.
macro_rules! texts {
    ($with:ident) => {
        $with! {
            parts echo_string: String;
            parts echo_code: Code as Text<8>;
            parts echo_string_seq: StringSeq;
            parts echo_strings3: Strings3 as List<Text<4>, 3>;
            parts echo_string_seq_seq: StringSeqSeq;
        }
    };
}

/// Echoes of interface `Wide`.
macro_rules! wide {
    ($with:ident) => {
        $with! {
            value echo_wchar: WChar;
            parts echo_wstring: String as Wide;
            parts echo_wide_code: WideCode as Wide<6>;
            parts echo_wchar_seq: WCharSeq;
            whole echo_wchar_array: WCharArray;
            parts echo_wstring_seq: WStringSeq as List<Wide>;
            whole echo_wstring_array: WStringArray as Array<Wide, 2>;
            whole echo_wide_record: WideRecord;
            whole echo_wide_choice: WideChoice;
        }
    };
}

/// Echoes of interface `Structs`.
macro_rules! structs {
    ($with:ident) => {
        $with! {
            whole echo_pair: Pair;
            whole echo_rgb: Rgb;
            whole echo_tail: Tail;
            whole echo_long_tail: LongTail;
            whole echo_bin_struct: BinStruct;
            whole echo_odd_double: OddDouble;
            whole echo_odd_short: OddShort;
            whole echo_floats: Floats;
            whole echo_flags: Flags;
            whole echo_flag_pair: FlagPair;
            whole echo_nested: Nested;
            whole echo_all_scalars: AllScalars;
            whole echo_record: Record;
            whole echo_anonymous: Anonymous;
            whole echo_tree: Tree;
        }
    };
}

/// Echoes of interface `Sequences`.
macro_rules! sequences {
    ($with:ident) => {
        $with! {
            sequence echo_short_seq: ShortSeq;
            sequence echo_ushort_seq: UShortSeq;
            sequence echo_long_seq: LongSeq;
            sequence echo_ulong_seq: ULongSeq;
            sequence echo_longlong_seq: LongLongSeq;
            sequence echo_ulonglong_seq: ULongLongSeq;
            sequence echo_float_seq: FloatSeq;
            sequence echo_double_seq: DoubleSeq;
            sequence echo_char_seq: CharSeq;
            sequence echo_octet_seq: OctetSeq;
            sequence echo_boolean_seq: BooleanSeq;
            sequence echo_color_seq: ColorSeq;
            sequence echo_octets5: Octets5 as Run<u8, 5>;
            sequence echo_shorts5: Shorts5 as Run<i16, 5>;
            sequence echo_doubles5: Doubles5 as Run<f64, 5>;
            sequence echo_colors5: Colors5 as Run<Color, 5>;
            sequence echo_bin_structs5: BinStructs5 as Run<BinStruct, 5>;
            sequence echo_pair_seq: PairSeq;
            sequence echo_rgb_seq: RgbSeq;
            sequence echo_tail_seq: TailSeq;
            sequence echo_long_tail_seq: LongTailSeq;
            sequence echo_bin_struct_seq: BinStructSeq;
            parts echo_odd_double_seq: OddDoubleSeq;
            parts echo_odd_short_seq: OddShortSeq;
            parts echo_floats_seq: FloatsSeq;
            parts echo_flags_seq: FlagsSeq;
            sequence echo_flag_pair_seq: FlagPairSeq;
            parts echo_nested_seq: NestedSeq;
            sequence echo_all_scalars_seq: AllScalarsSeq;
            parts echo_record_seq: RecordSeq;
            parts echo_long_seq_seq: LongSeqSeq;
            parts echo_octet_cubes: OctetCubes as List<List<Own<OctetSeq>, 4>>;
            sequence echo_long_grid_seq: LongGridSeq;
            sequence echo_long_array_seq: LongArraySeq;
            parts echo_tree_seq: TreeSeq;
        }
    };
}

/// Echoes of interface `Arrays`.
macro_rules! arrays {
    ($with:ident) => {
        $with! {
            whole echo_short_array: ShortArray;
            whole echo_ushort_array: UShortArray;
            whole echo_long_array: LongArray;
            whole echo_ulong_array: ULongArray;
            whole echo_longlong_array: LongLongArray;
            whole echo_ulonglong_array: ULongLongArray;
            whole echo_float_array: FloatArray;
            whole echo_double_array: DoubleArray;
            whole echo_char_array: CharArray;
            whole echo_octet_array: OctetArray;
            whole echo_boolean_array: BooleanArray;
            whole echo_color_array: ColorArray;
            whole echo_string_array: StringArray;
            whole echo_bin_struct_array: BinStructArray;
            whole echo_odd_double_array: OddDoubleArray;
            whole echo_tail_array: TailArray;
            whole echo_long_seq_array: LongSeqArray;
            whole echo_long_grid: LongGrid;
            whole echo_double_cube: DoubleCube;
            whole echo_string_grid: StringGrid;
            whole echo_record_array: RecordArray;
            whole echo_by_ushort_array: ByUShortArray;
        }
    };
}

/// Echoes of interface `Unions`.
macro_rules! unions {
    ($with:ident) => {
        $with! {
            whole echo_by_short: ByShort;
            whole echo_by_ushort: ByUShort;
            whole echo_by_long: ByLong;
            whole echo_by_ulong: ByULong;
            whole echo_by_longlong: ByLongLong;
            whole echo_by_ulonglong: ByULongLong;
            whole echo_by_char: ByChar;
            whole echo_by_boolean: ByBoolean;
            whole echo_maybe: Maybe;
            whole echo_by_color: ByColor;
            whole echo_by_level: ByLevel;
            parts echo_by_short_seq: ByShortSeq;
            parts echo_by_ushort_seq: ByUShortSeq;
            parts echo_by_long_seq: ByLongSeq;
            whole echo_union_record: UnionRecord;
        }
    };
}

/// Echoes of interface `Decimals`.
macro_rules! decimals {
    ($with:ident) => {
        $with! {
            value echo_money: Money as Decimal<9, 2>;
            value echo_fraction: Fraction as Decimal<31, 31>;
            value echo_whole: Whole as Decimal<4, 0>;
            parts echo_money_seq: MoneySeq as List<Decimal<9, 2>>;
            whole echo_money_array: MoneyArray as Array<Decimal<9, 2>, 3>;
            whole echo_money_record: MoneyRecord;
        }
    };
}

/// Echoes of interface `LongDoubles`.
macro_rules! long_doubles {
    ($with:ident) => {
        $with! {
            value echo_long_double: LongDouble;
            sequence echo_long_double_seq: LongDoubleSeq;
            whole echo_long_double_array: LongDoubleArray;
            whole echo_long_double_record: LongDoubleRecord;
        }
    };
}

/// Operations of interface `Phases`.
macro_rules! phases {
    ($with:ident) => {
        $with! {
            sequence phase_pair_seq: PairSeq;
            sequence phase_rgb_seq: RgbSeq;
            sequence phase_tail_seq: TailSeq;
            sequence phase_long_tail_seq: LongTailSeq;
            sequence phase_bin_struct_seq: BinStructSeq;
            parts phase_odd_double_seq: OddDoubleSeq;
            parts phase_odd_short_seq: OddShortSeq;
            parts phase_floats_seq: FloatsSeq;
            parts phase_flags_seq: FlagsSeq;
            parts phase_nested_seq: NestedSeq;
            sequence phase_double_seq: DoubleSeq;
            sequence phase_short_seq: ShortSeq;
            whole phase_bin_struct_array: BinStructArray;
            whole phase_odd_double_array: OddDoubleArray;
            whole phase_tail_array: TailArray;
            whole phase_double_array: DoubleArray;
            whole phase_nested: Nested;
            whole phase_union_record: UnionRecord;
        }
    };
}
