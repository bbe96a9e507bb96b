//! The messages, as a protobuf compiler would make them from `bench.proto`'s text here:
//!
//! ```proto
//! message Short { sint32 value = 1; }                       // protobuf has nothing shorter than 32 bits
//! message Long { sfixed32 value = 1; }                      // as wide as the values are: no loop over digits
//! message Octet { uint32 value = 1; }
//! message Octets { bytes values = 1; }                      // characters too: a string would have to be UTF-8
//! message Shorts { repeated sint32 values = 1; }            // packed, as all below
//! message Longs { repeated sfixed32 values = 1; }
//! message Doubles { repeated double values = 1; }
//! message Mixed { uint32 o = 1; sfixed32 l = 2; sint32 s = 3; }
//! message BinStruct { sint32 s = 1; uint32 c = 2; sfixed32 l = 3; uint32 o = 4; double d = 5; }
//! message Structs { repeated BinStruct values = 1; }
//! message BinStruct32 { … fixed64 filler = 6; }
//! message Text { string value = 1; }
//! ```

#![allow(
    missing_docs,
    unreachable_pub,
    reason = "as a compiler would make them; the text above says the rest"
)]

use bytes::Bytes;
use prost::Message;

#[derive(Clone, Copy, PartialEq, Message)]
pub struct Nothing {}

#[derive(Clone, Copy, PartialEq, Message)]
pub struct Short {
    #[prost(sint32, tag = "1")]
    pub value: i32,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub struct Long {
    #[prost(sfixed32, tag = "1")]
    pub value: i32,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub struct Octet {
    #[prost(uint32, tag = "1")]
    pub value: u32,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub struct Mixed {
    #[prost(uint32, tag = "1")]
    pub o: u32,
    #[prost(sfixed32, tag = "2")]
    pub l: i32,
    #[prost(sint32, tag = "3")]
    pub s: i32,
}

#[derive(Clone, PartialEq, Message)]
pub struct Octets {
    #[prost(bytes = "bytes", tag = "1")]
    pub values: Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub struct Shorts {
    #[prost(sint32, repeated, tag = "1")]
    pub values: Vec<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Longs {
    #[prost(sfixed32, repeated, tag = "1")]
    pub values: Vec<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Doubles {
    #[prost(double, repeated, tag = "1")]
    pub values: Vec<f64>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub struct BinStruct {
    #[prost(sint32, tag = "1")]
    pub s: i32,
    #[prost(uint32, tag = "2")]
    pub c: u32,
    #[prost(sfixed32, tag = "3")]
    pub l: i32,
    #[prost(uint32, tag = "4")]
    pub o: u32,
    #[prost(double, tag = "5")]
    pub d: f64,
}

#[derive(Clone, PartialEq, Message)]
pub struct Structs {
    #[prost(message, repeated, tag = "1")]
    pub values: Vec<BinStruct>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub struct BinStruct32 {
    #[prost(sint32, tag = "1")]
    pub s: i32,
    #[prost(uint32, tag = "2")]
    pub c: u32,
    #[prost(sfixed32, tag = "3")]
    pub l: i32,
    #[prost(uint32, tag = "4")]
    pub o: u32,
    #[prost(double, tag = "5")]
    pub d: f64,
    #[prost(fixed64, tag = "6")]
    pub filler: u64,
}

#[derive(Clone, PartialEq, Message)]
pub struct Structs32 {
    #[prost(message, repeated, tag = "1")]
    pub values: Vec<BinStruct32>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Text {
    #[prost(string, tag = "1")]
    pub value: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct Expectation {
    #[prost(string, tag = "1")]
    pub element: String,
    #[prost(uint64, tag = "2")]
    pub payload: u64,
    #[prost(uint32, tag = "3")]
    pub buffers: u32,
}

#[derive(Clone, PartialEq, Message)]
pub struct Progress {
    #[prost(uint32, tag = "1")]
    pub executed: u32,
    #[prost(string, tag = "2")]
    pub fault: String,
}
