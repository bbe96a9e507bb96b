//! Asynchronous method invocation: what module Messaging of CORBA has for replies that nobody blocks for (CORBA 3.3 part 1, 17).
//!
//! A call that is waited for later is a [`Pending`], made by the `_async` twin of every stub. It is a future; and it is what the
//! other ways to a reply are made of:
//!
//! | way | by | where |
//! |---|---|---|
//! | a future | `account.pay_async(…).await` | [`Pending`] |
//! | a closure | [`Pending::deliver`] | `delivery` |
//! | a reply handler, an object | `account.sendc_pay(handler, …)`, generated on request | [`Messaging`](crate::rt::Messaging), `holder` |
//! | a poller | `account.sendp_pay(…)`, generated on request, or [`Pending::poller`] | [`Poller`] |

mod delivery;
mod handler;
mod holder;
mod poller;

pub(crate) use delivery::Deliveries;
pub use handler::{ReplyHandler, ReplyHandlerServant, sendc};
pub use holder::ExceptionHolder;
pub use poller::Poller;

pub use crate::object::asynchronous::Pending;
