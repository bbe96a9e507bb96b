//! The oneway that a thread makes again: the same operation of the same object, gathered behind what is there. It is a copy of the head
//! that was written last and of the arguments; no clock is read, no connection looked up, no memory asked for.
//!
//! ```text
//! first of a run   Journey ─► Pool ─► Shared::gather ─► Last, of this thread
//! those behind it                        Last ─► again ─► │ … │ message │ message │ head, arguments │
//! the last of it   Journey ─► … as the first, and all of them leave
//! ```
//!
//! Who begins the run has seen to what holds for all of it: that the connection stands, by when they leave, and that the thread's next
//! blocking call to the object follows them (`unsettled.rs`). So it is a run of one thread's within one batch. When the batch has
//! left, or is lost with its connection, the next oneway takes the long way again.

use std::cell::RefCell;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use zorb_cdr::Encoder;
use zorb_giop::{finish_behind, repeat_request_behind};

use super::{Gathered, Messages};
use crate::client::message::{Repeated, WriteArguments};
use crate::policy::Buffering;
use crate::skeleton::Operation;

/// Ids that are set aside with the first oneway of a run, at the most. 1,024: more messages than are gathered for the sake of speed, of
/// the 2³² that a connection has.
pub(super) const MOST_IDS: u32 = 1024;

/// What a thread has gathered last.
struct Last {
    /// Not the connection, which would then stay open for the thread.
    gathered: Arc<Gathered>,
    batch: u64,
    whose: u64,
    operation: &'static Operation,
}

thread_local! {
    static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
}

/// This thread's last oneway was gathered in that batch.
pub(super) fn note(gathered: &Arc<Gathered>, batch: u64, whose: u64, operation: &'static Operation) {
    let _ = LAST.try_with(|last| {
        // Arguments that are being written may make calls.
        let Ok(mut last) = last.try_borrow_mut() else { return };
        match &mut *last {
            Some(last) if Arc::ptr_eq(&last.gathered, gathered) => {
                (last.batch, last.whose, last.operation) = (batch, whose, operation);
            }
            _ => *last = Some(Last { gathered: gathered.clone(), batch, whose, operation }),
        }
    });
}

/// Gathers it, if it is what the thread has gathered last, and more are to come before they all leave. False: nothing was done.
pub(crate) fn again(this: &Repeated, conditions: &Buffering, arguments: &mut WriteArguments<'_, '_>) -> bool {
    let gather = |last: &RefCell<Option<Last>>| {
        let Ok(last) = last.try_borrow() else { return false };
        let Some(last) = &*last else { return false };
        if last.whose != this.whose || !std::ptr::eq(last.operation, this.operation) {
            return false;
        }
        match last.gathered.messages.try_lock() {
            Some(mut messages) => {
                messages.batch == last.batch && messages.add_again(this, conditions, arguments)
            }
            None => false,
        }
    };
    LAST.try_with(gather).unwrap_or(false)
}

impl Messages {
    /// Adds a message with the head of the last one.
    fn add_again(
        &mut self,
        this: &Repeated,
        conditions: &Buffering,
        arguments: &mut WriteArguments<'_, '_>,
    ) -> bool {
        // The first of a batch has its time set; with the last all leave.
        if self.count == 0 || self.count + 1 >= conditions.most_messages() || self.ids_left == 0 {
            return false;
        }
        let Some(head) = self.buffer.oneway_head(this) else {
            return false;
        };
        let from = self.octets.len();
        repeat_request_behind(&mut self.octets, head, self.next_id);
        let mut message = Encoder::behind(mem::take(&mut self.octets), from, self.format);
        // A panic of the program's own code is none of those that are gathered here.
        let written = catch_unwind(AssertUnwindSafe(|| arguments(&mut message)));
        let is_whole = matches!(written, Ok(Ok(()))) && message.contiguous().is_some();
        self.octets = message.into_buffer();
        let is_whole = is_whole && finish_behind(&mut self.octets, from, head.len());
        let (octets, all) = (self.octets.len() - from, self.octets.len());
        if !is_whole || octets > this.fragment_size || all >= conditions.most_octets() {
            // The long way says what is wrong with it, sends it otherwise, or releases all.
            self.octets.truncate(from);
            if let Err(panic) = written {
                resume_unwind(panic);
            }
            return false;
        }
        self.count += 1;
        self.next_id = self.next_id.wrapping_add(1);
        self.ids_left -= 1;
        true
    }
}
