//! What the messages of each operation of `every.idl` hold: reads a body, writes it again and shows what it held, for captured
//! messages.

use zorb::giop::Ior;
use zorb::rt::{DecodeError, Decoder, EncodeError, Encoder};
use zorb::{Char, WChar};

use crate::every::interop::*;
use crate::sample::{Array, List, Own, Run, Shape, Text, Wide};

/// Reads a body's values, and writes them; gives their canonical text.
pub type Recode = fn(&mut Decoder<'_>, &mut Encoder<'static>) -> Result<String, Failure>;

/// The bodies of one operation.
#[derive(Clone, Copy)]
pub struct Bodies {
    /// The arguments: in and inout.
    pub request: Recode,
    /// The results: returned, out and inout.
    pub reply: Recode,
}

/// What went wrong.
#[derive(Debug)]
pub enum Failure {
    /// The body is not what the operation says.
    Decode(DecodeError),
    /// Its values cannot be written.
    Encode(EncodeError),
}

/// A reference as it stands in a message, nil or not.
struct Reference;

impl Shape for Reference {
    type Value = Ior;
    fn sample(_: u32) -> Ior {
        Ior::nil()
    }
    fn show(value: &Ior, out: &mut String) {
        out.push_str(&value.to_string());
    }
    fn encode(value: Ior, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        zorb::rt::Encode::encode_owned(value, to)
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Ior, DecodeError> {
        zorb::rt::Decode::decode(from)
    }
}

/// A member after the other.
fn one<S: Shape>(
    from: &mut Decoder<'_>,
    to: &mut Encoder<'static>,
    shown: &mut String,
) -> Result<(), Failure> {
    let value = S::decode(from).map_err(Failure::Decode)?;
    S::show(&value, shown);
    shown.push('\n');
    S::encode(value, to).map_err(Failure::Encode)
}

macro_rules! recode {
    ($($shape:ty),*) => {
        |from, to| {
            let _ = (&from, &to);
            #[allow(unused_mut)] // there may be nothing in it
            let mut shown = String::new();
            $(one::<$shape>(from, to, &mut shown)?;)*
            Ok(shown)
        }
    };
}

macro_rules! shape {
    ($type:ty) => { Own<$type> };
    ($type:ty, $shape:ty) => { $shape };
}

/// The bodies of an operation, by its name on the wire.
pub fn bodies(operation: &str) -> Option<Bodies> {
    macro_rules! find_echo {
        ($($how:ident $name:ident: $type:ty $(as $shape:ty)?;)*) => {$(
            if operation == stringify!($name) {
                type S = shape!($type $(, $shape)?);
                return Some(Bodies { request: recode!(S, S), reply: recode!(S, S, S) });
            }
        )*};
    }
    macro_rules! find_phase {
        ($($how:ident $name:ident: $type:ty;)*) => {$(
            if operation == stringify!($name) {
                let both: Recode = recode!(Own<OctetSeq>, Own<$type>);
                return Some(Bodies { request: both, reply: both });
            }
        )*};
    }
    scalars!(find_echo);
    texts!(find_echo);
    wide!(find_echo);
    structs!(find_echo);
    sequences!(find_echo);
    arrays!(find_echo);
    unions!(find_echo);
    phases!(find_phase);
    macro_rules! find {
        ($($name:literal ($($argument:ty),*) -> ($($result:ty),*);)*) => {
            match operation {
                $($name => Some(Bodies { request: recode!($($argument),*), reply: recode!($($result),*) }),)*
                _ => None,
            }
        };
    }
    find! {
        "lead_1" (Own<Octets<1>>, Own<BinStructSeq>) -> (Own<BinStructSeq>);
        "lead_2" (Own<Octets<2>>, Own<BinStructSeq>) -> (Own<BinStructSeq>);
        "lead_3" (Own<Octets<3>>, Own<BinStructSeq>) -> (Own<BinStructSeq>);
        "lead_4" (Own<Octets<4>>, Own<BinStructSeq>) -> (Own<BinStructSeq>);
        "lead_5" (Own<Octets<5>>, Own<BinStructSeq>) -> (Own<BinStructSeq>);
        "lead_6" (Own<Octets<6>>, Own<BinStructSeq>) -> (Own<BinStructSeq>);
        "lead_7" (Own<Octets<7>>, Own<BinStructSeq>) -> (Own<BinStructSeq>);
        "bulk_octets" (Own<OctetSeq>) -> (Own<OctetSeq>);
        "bulk_odd_doubles" (Own<OddDoubleSeq>) -> (Own<OddDoubleSeq>);
        "bulk_strings" (Own<StringSeq>) -> (Own<StringSeq>);
        "bulk_records" (Own<RecordSeq>) -> (Own<RecordSeq>);
        "nothing" () -> ();
        "shutdown" () -> ();
        "note" (Own<i32>) -> ();
        "produce" () -> (Own<i32>, Text, Own<BinStruct>, Own<StringSeq>, Own<LongArray>);
        "mixed" (Own<u8>, Own<i16>, Text, Own<OctetSeq>) -> (Own<i32>, Own<i16>, Own<f64>, Text, Own<OctetSeq>);
        "operation_name_that_is_rather_long_so_that_its_length_word_and_padding_are_not_the_usual_ones"
            (Text) -> (Text);
        "_get_answer" () -> (Own<i32>);
        "_set_setting" (Own<BinStruct>) -> ();
        "raise_empty" () -> ();
        "raise_refused" (Text, Own<i32>) -> (Own<i32>);
        "raise_loaded" (Own<u32>) -> ();
        "raise_system" (Text, Own<u32>, Own<u32>) -> ();
        "raise_undeclared" () -> ();
        "raise_wide" (Own<u32>) -> ();
        "raise_ref" (Reference, Reference) -> ();
        "make" (Own<u32>) -> (Reference);
        "forwarded" (Own<u32>) -> (Reference);
        "base_op" (Own<i32>) -> (Own<i32>);
        "echo_base_seq" (List<Reference>, List<Reference>) -> (List<Reference>, List<Reference>, List<Reference>);
        "_is_a" (Text) -> (Own<bool>);
        "_non_existent" () -> (Own<bool>);
    }
}

type Octets<const N: usize> = [u8; N];

/// The members of an exception that some operation raises, after its repository id.
pub fn members(repository_id: &str) -> Option<Recode> {
    Some(match repository_id.strip_prefix("IDL:zorb.test/interop/")?.strip_suffix(":1.0")? {
        "Empty" => recode!(),
        "Refused" => recode!(Text, Own<i32>),
        "Loaded" => recode!(Own<Loaded>),
        "WideError" => recode!(Own<WideError>),
        "RefError" => recode!(Reference, Reference),
        _ => return None,
    })
}

/// A reference after a location forward.
pub const REFERENCE: Recode = recode!(Reference);
