//! The cubing service over zorb. The IDL is `bench/idl/cube.idl`.

use zorb::{Call as Context, Interface, Sequence, SystemException};

use super::{NAME, failed};
use crate::BenchError;
use crate::cube::Cube as Kind;
use crate::system::Exchange;

mod idl {
    zorb::include_idl!("cube");
}

pub(super) use idl::bench::Cube;
use idl::bench::{CubeServant, Mixed};

/// Cubes.
pub(super) struct Cubing;

impl CubeServant for Cubing {
    fn cube_void(&self, _cx: &Context) -> Result<(), SystemException> {
        Ok(())
    }

    fn cube_short(&self, _cx: &Context, value: i16) -> Result<i16, SystemException> {
        Ok(value.cubed())
    }

    fn cube_long(&self, _cx: &Context, value: i32) -> Result<i32, SystemException> {
        Ok(value.cubed())
    }

    fn cube_octet(&self, _cx: &Context, value: u8) -> Result<u8, SystemException> {
        Ok(value.cubed())
    }

    fn cube_struct(&self, _cx: &Context, value: &Mixed) -> Result<Mixed, SystemException> {
        Ok(value.cubed())
    }

    fn cube_octets(&self, _cx: &Context, value: Sequence<u8>) -> Result<Sequence<u8>, SystemException> {
        Ok(value.iter().map(|value| value.cubed()).collect::<Vec<_>>().into())
    }

    fn cube_longs(&self, _cx: &Context, value: Sequence<i32>) -> Result<Sequence<i32>, SystemException> {
        Ok(value.iter().map(|value| value.cubed()).collect::<Vec<_>>().into())
    }
}

/// What can be cubed, wrapping.
trait Value: Clone + PartialEq + std::fmt::Debug {
    fn cubed(&self) -> Self;

    /// Another value for the next call.
    fn next(&mut self);
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Value for $integer {
            fn cubed(&self) -> Self {
                self.wrapping_pow(3)
            }

            fn next(&mut self) {
                *self = self.wrapping_add(1);
            }
        }
    )*};
}

integers!(u8, i16, i32);

impl Value for Mixed {
    fn cubed(&self) -> Mixed {
        Mixed { o: self.o.cubed(), l: self.l.cubed(), s: self.s.cubed() }
    }

    fn next(&mut self) {
        self.o.next();
        self.l.next();
        self.s.next();
    }
}

/// Calls of one kind.
pub(super) fn exchange(object: &Cube, kind: Kind) -> Box<dyn Exchange> {
    let object = Cube::from_object(object.as_object().clone());
    match kind {
        Kind::Void => Box::new(Nothing { object }),
        Kind::Short => single(object, 2_i16, |object, value| object.cube_short(*value)),
        Kind::Long => single(object, 2_i32, |object, value| object.cube_long(*value)),
        Kind::Octet => single(object, 2_u8, |object, value| object.cube_octet(*value)),
        Kind::Struct => {
            let sent = Mixed { o: 2, l: 3, s: 4 };
            single(object, sent, |object, value| object.cube_struct(value))
        }
        Kind::Octets(size) => {
            let sent = (0..size).map(|at| at as u8).collect();
            Box::new(Many { object, call: Cube::cube_octets, sent, received: Sequence::default() })
        }
        Kind::Longs(size) => {
            let sent = (0..size / 4).map(|at| at as i32).collect();
            Box::new(Many { object, call: Cube::cube_longs, sent, received: Sequence::default() })
        }
    }
}

struct Nothing {
    object: Cube,
}

impl Exchange for Nothing {
    fn round_trip(&mut self) -> Result<(), BenchError> {
        self.object.cube_void().map_err(failed)
    }

    fn verify(&mut self) -> Result<(), BenchError> {
        Ok(())
    }
}

fn corrupt<V: Value>(sent: &V, received: &V) -> BenchError {
    BenchError::Corrupt { system: NAME, what: format!("the cube of {sent:?} is not {received:?}") }
}

fn single<V, C>(object: Cube, sent: V, call: C) -> Box<dyn Exchange>
where
    V: Value + 'static,
    C: Fn(&Cube, &V) -> Result<V, SystemException> + 'static,
{
    let received = sent.clone();
    Box::new(Single { object, call, sent, received })
}

struct Single<V, C> {
    object: Cube,
    call: C,
    sent: V,
    received: V,
}

impl<V: Value, C: Fn(&Cube, &V) -> Result<V, SystemException>> Exchange for Single<V, C> {
    fn round_trip(&mut self) -> Result<(), BenchError> {
        self.received = (self.call)(&self.object, &self.sent).map_err(failed)?;
        Ok(())
    }

    fn verify(&mut self) -> Result<(), BenchError> {
        if self.received != self.sent.cubed() {
            return Err(corrupt(&self.sent, &self.received));
        }
        self.sent.next();
        Ok(())
    }
}

struct Many<V: zorb::rt::Element> {
    object: Cube,
    call: fn(&Cube, &[V]) -> Result<Sequence<V>, SystemException>,
    sent: Vec<V>,
    received: Sequence<V>,
}

impl<V: Value + zorb::rt::Element> Exchange for Many<V> {
    fn round_trip(&mut self) -> Result<(), BenchError> {
        self.received = (self.call)(&self.object, &self.sent).map_err(failed)?;
        Ok(())
    }

    fn verify(&mut self) -> Result<(), BenchError> {
        if self.received.len() != self.sent.len() {
            let what = format!("{} values instead of {}", self.received.len(), self.sent.len());
            return Err(BenchError::Corrupt { system: NAME, what });
        }
        let mut pairs = self.sent.iter().zip(self.received.iter());
        if let Some((sent, received)) = pairs.find(|(sent, received)| sent.cubed() != **received) {
            return Err(corrupt(sent, received));
        }
        self.sent.iter_mut().for_each(Value::next);
        // What a caller does with a result, sooner or later.
        self.received = Sequence::default();
        Ok(())
    }
}
