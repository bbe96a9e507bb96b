//! zorb whose oneways are gathered, beside which it is seen what one system call for many of them saves.

use std::process::Command;

use crate::BenchError;
use crate::lab::Lab;
use crate::system::{Client, Setting, System};

use super::Zorb;

/// zorb of which 64 oneways, or fewer of 64 KiB together, leave at a time.
#[derive(Debug, Clone, Copy)]
pub struct Gathering;

/// How many, unless they have more octets.
const MESSAGES: u32 = 64;

fn setting(setting: &Setting) -> Setting {
    Setting { gathered: Some(MESSAGES), ..setting.clone() }
}

impl System for Gathering {
    fn name(&self) -> &'static str {
        "zorb-buffered"
    }

    fn messaging(&self) -> &'static str {
        Zorb.messaging()
    }

    fn server(&self, lab: &Lab, given: &Setting) -> Result<Command, BenchError> {
        Zorb.server(lab, &setting(given))
    }

    fn connect(
        &self,
        lab: &Lab,
        given: &Setting,
        address: &str,
        processor: Option<usize>,
    ) -> Result<Box<dyn Client>, BenchError> {
        Zorb.connect(lab, &setting(given), address, processor)
    }

    fn driver(&self, lab: &Lab, given: &Setting, address: &str) -> Option<Command> {
        System::driver(&Zorb, lab, &setting(given), address)
    }
}
