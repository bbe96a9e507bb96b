//! What the tests across crates share.

pub mod darkroom_servant;
pub mod hearing;
pub mod mutation;
pub mod seeds;
pub mod servant;
pub mod stroke;
pub mod vectors;
pub mod wire;

use std::path::{Path, PathBuf};
use std::process::Command;

#[allow(missing_docs)]
mod generated {
    zorb::include_idl!("probe");
}
pub use generated::testing;

/// What `exchange.idl` declares, and its text.
#[allow(missing_docs)]
pub mod exchanged {
    zorb::include_idl!("exchange");
}
pub use exchanged::exchange;

#[allow(missing_docs)]
mod stored {
    zorb::include_idl!("bulk");
}
pub use stored::bulk;

#[allow(missing_docs)]
mod cooked {
    zorb::include_idl!("kitchen");
}
pub use cooked::kitchen;

#[allow(missing_docs)]
mod deposited {
    zorb::include_idl!("deposit");
}
pub use deposited::darkroom;

#[allow(missing_docs)]
mod rung {
    zorb::include_idl!("bell");
}
pub use rung::belfry;

/// The workspace's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ stands in the workspace").to_owned()
}

/// Copies a program to where another user may run it, by another process: what this one has open for writing, processes that other tests start
/// meanwhile hold too for a moment, and such a program cannot be run.
pub fn copy_program(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let copied = Command::new("cp").arg("-p").arg(from.as_ref()).arg(to.as_ref()).status();
    assert!(copied.expect("`cp` is there").success(), "a directory to write to");
}

/// The operations of `ProbeServant` that a test's own servant does not serve: all but `nothing`.
#[macro_export]
macro_rules! unserved {
    () => {
        fn echo(
            &self,
            _: &zorb::Call,
            data: zorb::Sequence<u8>,
        ) -> Result<zorb::Sequence<u8>, zorb::SystemException> {
            Ok(data)
        }
        fn greet(&self, _: &zorb::Call, _: &str) -> Result<String, zorb::SystemException> {
            Err($crate::not_served())
        }
        fn divide(
            &self,
            _: &zorb::Call,
            _: i32,
            _: i32,
        ) -> Result<(i32, i32), $crate::testing::probe::DivideError> {
            Err($crate::not_served().into())
        }
        fn meet(&self, _: &zorb::Call) -> Result<(), zorb::SystemException> {
            Err($crate::not_served())
        }
        fn wait(&self, _: &zorb::Call, _: u32) -> Result<(), zorb::SystemException> {
            Err($crate::not_served())
        }
        fn waiting(&self, _: &zorb::Call) -> Result<u32, zorb::SystemException> {
            Err($crate::not_served())
        }
        fn note(&self, _: &zorb::Call, _: i32) -> Result<(), zorb::SystemException> {
            Err($crate::not_served())
        }
        fn note_slowly(&self, _: &zorb::Call, _: i32, _: u32) -> Result<(), zorb::SystemException> {
            Err($crate::not_served())
        }
        fn noted(&self, _: &zorb::Call) -> Result<zorb::Sequence<i32>, zorb::SystemException> {
            Err($crate::not_served())
        }
        fn descend(
            &self,
            _: &zorb::Call,
            _: i32,
            _: Option<$crate::testing::Probe>,
        ) -> Result<i32, zorb::SystemException> {
            Err($crate::not_served())
        }
        fn panic(&self, _: &zorb::Call) -> Result<(), zorb::SystemException> {
            panic!("asked to")
        }
    };
}

/// What an operation raises that a test's servant does not serve.
pub fn not_served() -> zorb::SystemException {
    zorb::SystemException::NoImplement("not served in this test")
}
