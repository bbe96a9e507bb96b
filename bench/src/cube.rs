//! The cubing service: two-way calls on the simple types and on sequences, each value cubed by the server.
//!
//! The field's table of calls per second (O'Ryan, Kuhns, Schmidt, Othman and Parsons, 2000), beside a bare socket that
//! moves as many bytes. Cubing is nothing; that the results are right shows that values travel as values.

use crate::BenchError;
use crate::calls::{self, Basis, Side};
use crate::lab::Lab;
use crate::row::Row;
use crate::system::{Payload, System};

/// What is passed and, cubed, returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cube {
    /// Nothing.
    Void,
    /// IDL `short`.
    Short,
    /// IDL `long`.
    Long,
    /// IDL `octet`.
    Octet,
    /// `struct { octet o; long l; short s; }`.
    Struct,
    /// A sequence of octets, this many octets.
    Octets(usize),
    /// A sequence of longs, this many octets in all.
    Longs(usize),
}

impl Cube {
    /// The types, in the order of the field's table.
    pub const TYPES: [&'static str; 7] = ["void", "short", "long", "octet", "struct", "octets", "longs"];

    /// The calls of a type: sequences have one for each of `sizes`.
    ///
    /// # Errors
    ///
    /// There is no such type; the text lists those that there are. A size that no sequence of longs can have.
    pub fn of_type(name: &str, sizes: &[usize]) -> Result<Vec<Cube>, String> {
        let one = |cube| Ok(vec![cube]);
        match name {
            "void" => one(Cube::Void),
            "short" => one(Cube::Short),
            "long" => one(Cube::Long),
            "octet" => one(Cube::Octet),
            "struct" => one(Cube::Struct),
            "octets" => Ok(sizes.iter().map(|&size| Cube::Octets(size)).collect()),
            "longs" => match sizes.iter().find(|&size| size % 4 != 0) {
                Some(odd) => Err(format!("a sequence of longs cannot have {odd} octets: a long has 4")),
                None => Ok(sizes.iter().map(|&size| Cube::Longs(size)).collect()),
            },
            other => Err(format!("there is no type {other:?}; there are {}", Cube::TYPES.join(", "))),
        }
    }

    /// The type's name in results and to drivers.
    pub fn type_name(self) -> &'static str {
        match self {
            Cube::Void => "void",
            Cube::Short => "short",
            Cube::Long => "long",
            Cube::Octet => "octet",
            Cube::Struct => "struct",
            Cube::Octets(_) => "octets",
            Cube::Longs(_) => "longs",
        }
    }

    /// Octets each way, those between a struct's members included.
    pub fn size(self) -> usize {
        match self {
            Cube::Void => 0,
            Cube::Short => 2,
            Cube::Long => 4,
            Cube::Octet => 1,
            Cube::Struct => 10,
            Cube::Octets(size) | Cube::Longs(size) => size,
        }
    }
}

/// What is to be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// How, and how many calls of each kind.
    pub basis: Basis,
    /// Which calls.
    pub cubes: Vec<Cube>,
}

/// Measures `systems` beside the bare socket, and hands on each kind's rows as soon as they are there, the bare
/// socket's first. Gives what went wrong with single systems, a line each.
///
/// # Errors
///
/// Any [`BenchError`] of the floor, and [`BenchError::Stopped`].
pub fn run(
    systems: &[&dyn System],
    plan: &Plan,
    lab: &Lab,
    finished: &mut (dyn FnMut(Vec<Row>) + Send),
) -> Result<Vec<String>, BenchError> {
    let payloads: Vec<_> = plan.cubes.iter().map(|&cube| Payload::Cube(cube)).collect();
    calls::compare("cube", Side::calls, systems, (&plan.basis, &payloads), lab, &mut |outcome| {
        finished(outcome.rows);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_found_by_its_name() {
        for name in Cube::TYPES {
            let cubes = Cube::of_type(name, &[4, 4096]).unwrap();
            assert!(cubes.iter().all(|cube| cube.type_name() == name));
            assert_eq!(cubes.len(), if name.ends_with("ets") || name == "longs" { 2 } else { 1 }, "{name}");
        }
        assert!(Cube::of_type("float", &[]).unwrap_err().contains("there are void, short"));
        assert!(Cube::of_type("longs", &[6]).unwrap_err().contains("6 octets"));
    }
}
