//! One request's way past the server's interceptors: what is kept between their points.

use std::cell::Cell;
use std::sync::Arc;

use zorb_giop::ServiceContexts;

use super::Interceptors;
use super::current::Slots;
use super::flow::{Ending, guarded, unwind};
use super::outcome::{Intervention, Outcome};
use super::server::{ServerRequestInfo, ServerRequestInterceptor};
use crate::exception::Completion;
use crate::server::request::Call;
use crate::skeleton::Skeleton;

/// A request that interceptors see.
pub(crate) struct Watch {
    chain: Arc<[Arc<dyn ServerRequestInterceptor>]>,
    /// How many of the chain wait for an ending point.
    stack: usize,
    /// Its ending points have run.
    ended: bool,
    state: State,
}

/// What is kept from point to point.
pub(super) struct State {
    pub(super) id: u32,
    /// Tells the request from all others in this process.
    token: (u64, u32),
    pub(super) slots: Slots,
    pub(super) reply_contexts: ServiceContexts,
    pub(super) outcome: Option<Outcome>,
    /// Object and adapter are known.
    pub(super) located: bool,
}

thread_local! {
    /// The request whose servant this thread runs, with that request's slots in the thread's.
    static RUNS: Cell<Option<(u64, u32)>> = const { Cell::new(None) };
}

/// The thread's slots and request as they were before an upcall; they are so again when it is dropped.
pub(crate) struct Upcall {
    orb: crate::orb::Orb,
    slots: Slots,
    runs: Option<(u64, u32)>,
}

impl Drop for Upcall {
    fn drop(&mut self) {
        std::mem::take(&mut self.slots).into_thread(&self.orb);
        RUNS.set(self.runs);
    }
}

impl State {
    /// Whether this thread is in the request's upcall.
    pub(super) fn runs_here(&self) -> bool {
        RUNS.get() == Some(self.token)
    }
}

impl Watch {
    /// Of a request that interceptors are to see; `None`: there are none.
    pub(crate) fn of(interceptors: &Interceptors) -> Option<Box<Watch>> {
        (!interceptors.server.is_empty()).then(|| {
            let id = interceptors.next_request();
            let state = State {
                id,
                token: (interceptors.identity, id),
                slots: Slots::default(),
                reply_contexts: ServiceContexts::new(),
                outcome: None,
                located: false,
            };
            Box::new(Watch { chain: interceptors.server.clone(), stack: 0, ended: false, state })
        })
    }

    /// Runs the starting points.
    pub(crate) fn begin(&mut self, call: &Call) -> Result<(), Intervention> {
        for (at, interceptor) in self.chain.iter().enumerate() {
            self.stack = at;
            let mut info = ServerRequestInfo { call, state: &mut self.state, servant: None };
            let point = || interceptor.receive_request_service_contexts(&mut info);
            guarded(interceptor.name(), "receive_request_service_contexts", Completion::No, point)?;
        }
        self.stack = self.chain.len();
        Ok(())
    }

    /// Runs the intermediate points, in the thread that will run the servant and with the request's slots in that thread's.
    pub(crate) fn receive(
        &mut self,
        call: &Call,
        servant: &dyn Skeleton,
    ) -> (Upcall, Result<(), Intervention>) {
        let orb = call.orb().clone();
        let upcall = Upcall { slots: Slots::of_thread(&orb), runs: RUNS.get(), orb };
        self.state.slots.clone().into_thread(&upcall.orb);
        RUNS.set(Some(self.state.token));
        self.state.located = true;
        let received = self.chain.iter().try_for_each(|interceptor| {
            let mut info = ServerRequestInfo { call, state: &mut self.state, servant: Some(servant) };
            let point = || interceptor.receive_request(&mut info);
            guarded(interceptor.name(), "receive_request", Completion::No, point)
        });
        (upcall, received)
    }

    /// What goes beside the reply.
    pub(crate) fn reply_contexts(&self) -> &ServiceContexts {
        &self.state.reply_contexts
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Runs the ending points, and gives what interceptors put in the place of the outcome.
    pub(crate) fn end(&mut self, call: &Call, outcome: Outcome) -> Option<Intervention> {
        self.ended = true;
        if self.state.runs_here() {
            self.state.slots = Slots::of_thread(call.orb());
        }
        self.state.outcome = Some(outcome);
        let chain = &self.chain;
        let changed = unwind(&mut self.stack, &mut self.state, outcome_of, |at, state, ending| {
            let interceptor = &chain[at];
            let completed = outcome_of(state).completion();
            let name = interceptor.name();
            let mut info = ServerRequestInfo { call, state, servant: None };
            match ending {
                Ending::Reply => guarded(name, "send_reply", completed, || {
                    interceptor.send_reply(&mut info).map_err(Intervention::Raise)
                }),
                Ending::Exception => {
                    guarded(name, "send_exception", completed, || interceptor.send_exception(&mut info))
                }
                Ending::Other => guarded(name, "send_other", completed, || interceptor.send_other(&mut info)),
            }
        });
        match (self.state.outcome.take(), changed) {
            (Some(Outcome::System(exception)), true) => Some(Intervention::Raise(exception)),
            (Some(Outcome::Forward(to)), true) => Some(Intervention::ForwardRequest(to)),
            _ => None,
        }
    }
}

fn outcome_of(state: &mut State) -> &mut Outcome {
    state.outcome.get_or_insert(Outcome::Unknown)
}
