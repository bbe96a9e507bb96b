//! The body of a reply with status SYSTEM_EXCEPTION. CORBA 3.4 part 2, §9.4.3.2.
//!
//! ```text
//! repository id: string │ minor code: ulong │ completion status: ulong
//! ```

use alloc::string::String;

use zorb_cdr::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};

/// A system exception as it travels. Which exception the id names is the ORB's to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemExceptionBody {
    /// For example `IDL:omg.org/CORBA/OBJECT_NOT_EXIST:1.0`.
    pub repository_id: String,
    /// Who numbers it is told by [`MinorCodeVendor::of`](crate::MinorCodeVendor::of).
    pub minor: u32,
    /// 0 yes: the operation was completed; 1 no: it was never begun; 2 maybe.
    pub completed: u32,
}

impl Encode for SystemExceptionBody {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        to.write_string(&self.repository_id)?;
        to.write_u32(self.minor);
        to.write_u32(self.completed);
        Ok(())
    }
}

impl Decode for SystemExceptionBody {
    /// A string's length, minor code and completion.
    const MIN_SIZE: usize = 12;

    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self { repository_id: from.read_string()?, minor: from.read_u32()?, completed: from.read_u32()? })
    }
}
