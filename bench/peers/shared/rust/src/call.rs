//! The two-way calls: what is sent, and what must come back.

use crate::Failure;

/// What is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No argument.
    Null,
    /// So many octets come back.
    Echo(usize),
    /// A short, cubed.
    CubeShort,
    /// A long, cubed.
    CubeLong,
    /// An octet, cubed.
    CubeOctet,
    /// A struct, each member cubed.
    CubeStruct,
    /// So many octets, each cubed.
    CubeOctets(usize),
    /// So many octets of longs, each long cubed.
    CubeLongs(usize),
}

impl Kind {
    /// The kind of this name.
    pub(crate) fn named(name: &str, size: usize) -> Result<Kind, Failure> {
        Ok(match name {
            "null" | "cube.void" => Kind::Null,
            "echo.octet" => Kind::Echo(size),
            "cube.short" => Kind::CubeShort,
            "cube.long" => Kind::CubeLong,
            "cube.octet" => Kind::CubeOctet,
            "cube.struct" => Kind::CubeStruct,
            "cube.octets" => Kind::CubeOctets(size),
            "cube.longs" => Kind::CubeLongs(size),
            _ => return Err(format!("no kind {name}").into()),
        })
    }
}

/// The struct of the cubing service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mixed {
    /// Its octet.
    pub o: u8,
    /// Its long.
    pub l: i32,
    /// Its short.
    pub s: i16,
}

/// An argument or a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// No argument.
    Nothing,
    /// A short.
    Short(i16),
    /// A long.
    Long(i32),
    /// An octet.
    Octet(u8),
    /// A struct.
    Mixed(Mixed),
    /// Octets.
    Octets(Vec<u8>),
    /// Longs.
    Longs(Vec<i32>),
}

/// Changes a sequence from call to call, outside the measured time but on the processor that is measured: so only here.
const CHANGED: usize = 8;

impl Value {
    /// What the call of this number sends.
    pub fn sent(kind: Kind, number: u64) -> Value {
        let n = number as i32;
        match kind {
            Kind::Null => Value::Nothing,
            Kind::CubeShort => Value::Short(n.wrapping_mul(7) as i16),
            Kind::CubeLong => Value::Long(n.wrapping_mul(77)),
            Kind::CubeOctet => Value::Octet(n as u8),
            Kind::CubeStruct => {
                Value::Mixed(Mixed { o: n as u8, l: n.wrapping_mul(77), s: n.wrapping_mul(7) as i16 })
            }
            Kind::Echo(size) | Kind::CubeOctets(size) => {
                Value::Octets((0..size).map(|index| element(index, n) as u8).collect())
            }
            Kind::CubeLongs(size) => Value::Longs((0..size / 4).map(|index| element(index, n)).collect()),
        }
    }

    /// Each number in it cubed, as the service does it.
    pub fn cubed(mut self) -> Value {
        match &mut self {
            Value::Nothing => {}
            Value::Short(value) => *value = value.wrapping_pow(3),
            Value::Long(value) => *value = value.wrapping_pow(3),
            Value::Octet(value) => *value = value.wrapping_pow(3),
            Value::Mixed(Mixed { o, l, s }) => {
                (*o, *l, *s) = (o.wrapping_pow(3), l.wrapping_pow(3), s.wrapping_pow(3));
            }
            Value::Octets(values) => values.iter_mut().for_each(|value| *value = value.wrapping_pow(3)),
            Value::Longs(values) => values.iter_mut().for_each(|value| *value = value.wrapping_pow(3)),
        }
        self
    }

    /// Makes sure that a reply to `sent` is right.
    ///
    /// # Errors
    ///
    /// If it is not.
    pub fn verify(self, kind: Kind, sent: Value) -> Result<(), Failure> {
        let wanted = if let Kind::Echo(_) = kind { sent } else { sent.cubed() };
        if self == wanted { Ok(()) } else { Err("a reply is not what was sent, or not its cube".into()) }
    }
}

fn element(index: usize, number: i32) -> i32 {
    if index < CHANGED { number.wrapping_mul(7).wrapping_add(index as i32) } else { index as i32 * 3 }
}
