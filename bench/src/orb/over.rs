//! zorb over another way than the run's, so that ways are measured beside each other, in the same rounds.

use std::process::Command;

use crate::BenchError;
use crate::lab::Lab;
use crate::system::{Client, Loans, Setting, SharedMemory, System, Transport};

use super::Zorb;

/// zorb over a way of its own.
#[derive(Debug, Clone, Copy)]
pub struct Over {
    name: &'static str,
    transport: Transport,
    memory: Option<SharedMemory>,
    loans: Option<Loans>,
}

impl Over {
    /// By TCP, whatever the others go by.
    pub const TCP: Over = Over { name: "zorb-tcp", transport: Transport::Tcp, memory: None, loans: None };
    /// By a Unix socket.
    pub const UNIX: Over = Over { name: "zorb-unix", transport: Transport::Unix, memory: None, loans: None };
    /// Over shared memory, giving what was written in memory that is lent, which the server copies once.
    pub const LOAN: Over = Over::lending("zorb-loan", Loans::Copied);
    /// The same, read by the server in place.
    pub const TRUSTING: Over = Over::lending("zorb-trusting", Loans::Trusted);

    /// Over shared memory with rings, and slabs, of these sizes.
    pub const fn memory(name: &'static str, memory: SharedMemory) -> Over {
        Over { name, transport: Transport::Shm, memory: Some(memory), loans: None }
    }

    const fn lending(name: &'static str, loans: Loans) -> Over {
        Over { name, transport: Transport::Shm, memory: None, loans: Some(loans) }
    }

    fn setting(&self, setting: &Setting) -> Setting {
        Setting { transport: self.transport, memory: self.memory, loans: self.loans, ..setting.clone() }
    }
}

impl System for Over {
    fn name(&self) -> &'static str {
        self.name
    }

    fn messaging(&self) -> &'static str {
        Zorb.messaging()
    }

    fn transport(&self) -> Option<Transport> {
        Some(self.transport)
    }

    fn server(&self, lab: &Lab, setting: &Setting) -> Result<Command, BenchError> {
        Zorb.server(lab, &self.setting(setting))
    }

    fn connect(
        &self,
        lab: &Lab,
        setting: &Setting,
        address: &str,
        processor: Option<usize>,
    ) -> Result<Box<dyn Client>, BenchError> {
        Zorb.connect(lab, &self.setting(setting), address, processor)
    }

    fn driver(&self, lab: &Lab, setting: &Setting, address: &str) -> Option<Command> {
        System::driver(&Zorb, lab, &self.setting(setting), address)
    }
}
