//! Service contexts by interceptors: a request with `0x5a4f5201` is answered with `0x5a4f5202`, the same octets reversed.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering};

use zorb::giop::ContextId;
use zorb::interceptors::{
    ClientRequestInfo, ClientRequestInterceptor, Intervention, ServerRequestInfo, ServerRequestInterceptor,
};
use zorb::{Orb, OrbBuilder, SystemException};

/// What a request has.
const ASKS: ContextId = ContextId(0x5a4f_5201);
/// What its reply has then.
const ANSWERS: ContextId = ContextId(0x5a4f_5202);

static SEEN: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static SENDS: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
    static ANSWERED: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

/// How many requests came with the context.
pub fn seen() -> u32 {
    SEEN.load(Ordering::SeqCst)
}

/// Makes calls with these octets as their context, or none; gives the result and what the last reply had.
pub fn with<T>(octets: Option<&[u8]>, calls: impl FnOnce() -> T) -> (T, Option<Vec<u8>>) {
    SENDS.set(octets.map(<[u8]>::to_vec));
    let result = calls();
    SENDS.set(None);
    (result, ANSWERED.take())
}

/// An ORB with both interceptors, as the builder says.
pub fn orb(builder: OrbBuilder) -> Orb {
    use std::sync::Arc;

    builder.client_interceptor(Arc::new(Asks)).server_interceptor(Arc::new(Answers)).build()
}

struct Asks;

impl Asks {
    fn came(info: &ClientRequestInfo) {
        ANSWERED.set(info.reply_service_context(ANSWERS).map(|octets| octets.to_vec()));
    }
}

impl ClientRequestInterceptor for Asks {
    fn send_request(&self, info: &mut ClientRequestInfo) -> Result<(), Intervention> {
        ANSWERED.set(None);
        match SENDS.with_borrow(Clone::clone) {
            Some(octets) => Ok(info.add_request_service_context(ASKS, octets, false)?),
            None => Ok(()),
        }
    }

    fn receive_reply(&self, info: &ClientRequestInfo) -> Result<(), SystemException> {
        Asks::came(info);
        Ok(())
    }

    fn receive_exception(&self, info: &ClientRequestInfo) -> Result<(), Intervention> {
        Asks::came(info);
        Ok(())
    }
}

struct Answers;

impl Answers {
    fn answer(info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        let Some(asked) = info.request_service_context(ASKS) else { return Ok(()) };
        let reversed: Vec<u8> = asked.iter().rev().copied().collect();
        info.add_reply_service_context(ANSWERS, reversed, false)
    }
}

impl ServerRequestInterceptor for Answers {
    fn receive_request(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Intervention> {
        if info.request_service_context(ASKS).is_some() {
            SEEN.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }

    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        Answers::answer(info)
    }

    fn send_exception(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Intervention> {
        Ok(Answers::answer(info)?)
    }
}
