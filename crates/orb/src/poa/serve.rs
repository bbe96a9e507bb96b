//! From object key to servant, and the upcall.
//!
//! Between key and upcall a null request spends about 400 user instructions under a system id and 1,050 under a
//! persistent user id, as many for 1,000,000 objects as for 1 (counted by callgrind, x86-64); under either some 150 where a request
//! with the same head was served before: its object is [remembered](super::remembered).
//!
//! The short way, for active objects of an active adapter with ORB-controlled threads, counts the request in,
//! finds the object and calls: no allocation, and no lock but the object's own slot's. All else takes the long way,
//! in this order: adapter (perhaps by an activator), turn or main thread, manager, servant (perhaps by a
//! servant manager).

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::active::Active;
use super::active_map::ActiveObject;
use super::adapter::Adapter;
use super::adapters::{Adapters, Located, Route};
use super::find::{Refusal, find_servant};
use super::gate::{ManagerState, Stopped};
use super::key::Key;
use super::manager::Manager;
use super::near;
use super::policies::{RequestProcessing, ThreadPolicy};
use super::remembered::Remembered;
use super::thread_model::Asked;
use super::traffic::{Counted, Upcall};
use super::waits::{Lend, ServeMeanwhile, Token};
use crate::exception::{Kind, Minor, SystemException};
use crate::interceptors::Interceptors;
use crate::object::route::Home;
use crate::orb::Orb;
use crate::probes::{Point, passed};
use crate::rt::Arriving;
use crate::server::connection::both_ways::not_both_ways;
use crate::server::local::Local;
use crate::server::request::{ServerRequest, invoke, run};
use crate::skeleton::{Operation, Servant};
use crate::upcall;

/// An object, and its request counted in.
type Found = (Arc<ActiveObject>, Counted);

/// How many objects had left the adapter before one was found there.
type Left = u64;

impl Adapters {
    /// Serves a request in this thread, hands it to the thread that must, or keeps it until its manager lets it through.
    #[inline]
    pub(crate) fn serve(mut request: ServerRequest) {
        if request.call().orb().interceptors().is_some_and(Interceptors::serve) {
            return Self::serve_watched(request);
        }
        let again = request.remembered().and_then(|object| Some((object.find()?, object.id())));
        let Some(((object, counted), range)) = again.or_else(|| Self::find(&request)) else {
            let orb = request.call().orb().clone();
            return orb.adapters().serve_anyway(request, None);
        };
        passed(Point::Located);
        let _upcall = Upcall::enter(object.adapter.shared.run);
        // Held until the method has returned, which may be after the reply.
        let during = object.clone();
        request.set_object(range, Active::object(object, counted));
        run(&*during.servant, request);
        during.release();
    }

    /// Serves a oneway, and those with the same head that `next` gives as soon as the one before has ended: the object is found, and held,
    /// for all of them; whether it is there, and its requests are let through, is looked at for each.
    pub(crate) fn serve_train(mut request: ServerRequest, next: &mut dyn FnMut() -> Option<ServerRequest>) {
        let is_seen = request.call().orb().interceptors().is_some_and(Interceptors::serve);
        let again = |request: &ServerRequest| {
            let remembered = request.remembered().filter(|_| !is_seen)?;
            Some((remembered.find()?, remembered.id()))
        };
        let Some(((object, counted), range)) = again(&request) else { return Self::serve(request) };
        passed(Point::Located);
        let upcall = Upcall::enter(object.adapter.shared.run);
        // Held until the last method has returned.
        let during = object.clone();
        request.set_object(range, Active::object(object, counted));
        loop {
            run(&*during.servant, request);
            let Some(again) = next() else { break };
            request = again;
            if !request.finds_again(&during) {
                drop(upcall);
                during.release();
                return Self::serve(request);
            }
            passed(Point::Located);
        }
        during.release();
    }

    /// Finds the object by its key, if nothing stands in its way, and has it remembered where that is of use.
    #[inline(never)]
    fn find(request: &ServerRequest) -> Option<(Found, Range<usize>)> {
        let adapters = request.call().orb().adapters();
        let key = request.object_key();
        let parsed = Key::parse(key);
        let range = parsed.id_range(key.len());
        let (found, left) = adapters.quick(&parsed, &key[range.clone()])?;
        if request.has_known_head() {
            request.remember(Remembered::new(&found.0, range.clone(), left));
        }
        Some((found, range))
    }

    /// The same past interceptors, if there are any for requests.
    #[cold]
    fn serve_watched(request: ServerRequest) {
        if let Some(request) = request.begin_watch() {
            let orb = request.call().orb().clone();
            orb.adapters().serve_anyway(request, None);
        }
    }

    /// The object, if nothing stands in its way.
    #[inline(always)]
    fn quick(&self, key: &Key<'_>, id: &[u8]) -> Option<(Found, Left)> {
        let found = self.shared.with_adapter(key, |adapter| {
            if adapter.policies.thread != ThreadPolicy::OrbControlled {
                return None;
            }
            let counted = adapter.traffic.enter();
            let left = adapter.map.left();
            if adapter.manager.gate.state() == ManagerState::Active
                && adapter.is_alive()
                && let Some(object) = adapter.map.find(id)
            {
                return Some(Ok(((object, counted), left)));
            }
            adapter.traffic.leave(counted);
            Some(Err(adapter.clone()))
        });
        match found {
            Some(Some(Ok(found))) => Some(found),
            Some(Some(Err(adapter))) => {
                // It was counted for a moment, in which the adapter's end may have been waiting for nobody else.
                adapter.settle();
                None
            }
            _ => None,
        }
    }

    /// Asks the servant where the bulk argument goes of a request that begins to come, or whether one that has come begins with structs: one that is active, where nothing stands in the way.
    pub(crate) fn ask(&self, key: &[u8], arriving: &mut Arriving<'_>) {
        let parsed = Key::parse(key);
        if let Some(((object, counted), _)) = self.quick(&parsed, &key[parsed.id_range(key.len())]) {
            let servant = object.servant.clone();
            let _active = Active::object(object, counted);
            servant.bulk(arriving);
        }
    }

    /// Serves a request by the long way. `token`: the turn of its single-threaded adapter, if it has it already.
    pub(super) fn serve_anyway(&self, mut request: ServerRequest, mut token: Option<Token>) {
        loop {
            let adapter = match self.route(request.object_key()) {
                Ok(Route::Adapter(adapter)) => adapter,
                Ok(Route::Key(key)) => {
                    request.set_object_key(key);
                    continue;
                }
                Ok(Route::Elsewhere(object)) => return request.forward(&object, false),
                Ok(Route::Behind(adapter)) => match hold(&adapter, request) {
                    None => return,
                    Some(again) => {
                        request = again;
                        continue;
                    }
                },
                Err(exception) => return request.system_exception(exception),
            };
            if request.is_on_opened_here() && !adapter.policies.bidirectional {
                return request.system_exception(not_both_ways());
            }
            // The adapter may have been destroyed and made again since the turn was got.
            token = token.filter(|token| Arc::ptr_eq(&token.adapter, &adapter));
            if let Some(turn) = &adapter.turn
                && token.is_none()
            {
                let orb = request.call().orb().clone();
                request = match turn.ask(request) {
                    Asked::Queued => return,
                    Asked::Full(request) => {
                        return request.system_exception(crowded("the adapter's one thread"));
                    }
                    Asked::Yours(request) => request,
                };
                token = Some(Token { adapter: adapter.clone(), orb });
            }
            if adapter.policies.thread == ThreadPolicy::MainThread && !self.shared.main.is_here() {
                if let Err(request) = self.shared.main.push(request) {
                    request.system_exception(crowded("the main thread"));
                }
                return;
            }
            if adapter.policies.tells_operations() {
                if request.number().is_some() {
                    return request.ask_back();
                }
                request.set_needs_name();
            }
            let key = request.object_key();
            let range = Key::parse(key).id_range(key.len());
            match admit(&adapter).and_then(|active| {
                let id = &request.object_key()[range.clone()];
                find_servant(&adapter, id, request.operation(), active)
            }) {
                Ok((servant, active)) => {
                    request.set_object(range, active);
                    return self.upcall(&adapter, &servant, request, token);
                }
                Err(Refusal::Raise(exception)) => return request.system_exception(exception),
                Err(Refusal::Forward(object, permanent)) => return request.forward(&object, permanent),
                Err(Refusal::Hold) => {
                    // Held requests must not keep the turn from those that are let through later.
                    token = None;
                    match hold(&adapter, request) {
                        None => return,
                        Some(again) => request = again,
                    }
                }
            }
        }
    }

    /// Calls the servant with the waits of this thread in the hands of the adapter's thread policy.
    fn upcall(
        &self,
        adapter: &Arc<Adapter>,
        servant: &Servant,
        request: ServerRequest,
        token: Option<Token>,
    ) {
        let _upcall = Upcall::enter(self.shared.run);
        let orb = request.call().orb().clone();
        match adapter.policies.thread {
            ThreadPolicy::OrbControlled => invoke(&**servant, request),
            ThreadPolicy::SingleThread => {
                let waiter = Lend { adapter: adapter.clone(), orb, outer: upcall::current() };
                upcall::with(Rc::new(waiter), || invoke(&**servant, request));
            }
            ThreadPolicy::MainThread => {
                upcall::with(Rc::new(ServeMeanwhile { orb }), || invoke(&**servant, request));
            }
        }
        drop(token);
    }

    /// A collocated call: the servant, what is to be kept until it has returned, and how to [bring](near::bring) the object near, if it should be.
    /// `None`: it has to go by message, since it must wait, run elsewhere, or be sent on.
    pub(crate) fn here(
        &self,
        orb: &Orb,
        home: &Home,
        operation: &'static Operation,
    ) -> Result<Option<(Servant, Local, Option<Remembered>)>, SystemException> {
        let (key, parsed) = (&home.key, Key::parse(&home.key));
        let range = parsed.id_range(key.len());
        let id = &key[range.clone()];
        if let Some(((object, counted), left)) = self.quick(&parsed, id) {
            let servant = object.servant.clone();
            let near = near::should_be(home.number).then(|| Remembered::new(&object, range, left));
            let local = Local::of_object(operation.name, Active::object(object, counted));
            return Ok(Some((servant, local, near)));
        }
        match self.here_anyway(&parsed, id, operation.name) {
            Ok(Some((servant, active))) => {
                Ok(Some((servant, Local::of_key(operation.name, active, orb, key, &range), None)))
            }
            Ok(None) | Err(Refusal::Hold | Refusal::Forward(..)) => Ok(None),
            Err(Refusal::Raise(exception)) => Err(exception),
        }
    }

    fn here_anyway(
        &self,
        key: &Key<'_>,
        id: &[u8],
        operation: &str,
    ) -> Result<Option<(Servant, Active)>, Refusal> {
        let Some(adapter) = self.shared.with_adapter(key, Arc::clone) else { return Ok(None) };
        let in_its_thread = match (adapter.policies.thread, &adapter.turn) {
            (ThreadPolicy::OrbControlled, _) => true,
            (ThreadPolicy::MainThread, _) => self.shared.main.is_here(),
            (ThreadPolicy::SingleThread, turn) => turn.as_ref().is_some_and(|turn| turn.is_mine()),
        };
        if !in_its_thread {
            return Ok(None);
        }
        find_servant(&adapter, id, operation, admit(&adapter)?).map(Some)
    }

    /// Whether the key's adapter serves requests that come over connections which this ORB opened; `None`: it is not known yet.
    pub(crate) fn serves_both_ways(&self, key: &[u8]) -> Option<bool> {
        self.shared.with_adapter(&Key::parse(key), |adapter| adapter.policies.bidirectional)
    }

    /// Whether an object lives here, for a LocateRequest. Asks no servant manager: where there is one, it may.
    pub(crate) fn locate(&self, key: &[u8]) -> Located {
        match self.route(key) {
            Ok(Route::Adapter(adapter)) => {
                let parsed = Key::parse(key);
                let id = &key[parsed.id_range(key.len())];
                let known = adapter.policies.request_processing != RequestProcessing::ActiveObjectMapOnly
                    || adapter.map.find(id).map(ActiveObject::release).is_some();
                if known { Located::Here } else { Located::Unknown }
            }
            Ok(Route::Key(key)) => self.locate(&key),
            Ok(Route::Elsewhere(object)) => Located::Forward(object.ior().clone(), false),
            // A request would wait, or be told to try again: it is not known to be gone.
            Ok(Route::Behind(_)) => Located::Here,
            Err(exception) if exception.kind == Kind::ObjectNotExist => Located::Unknown,
            Err(_) => Located::Here,
        }
    }

    /// Blocks until shutdown; the first thread in here runs the upcalls of main-thread adapters.
    pub(crate) fn run_main_thread(&self, _: &Orb) {
        self.shared.main.run(|request| self.serve_anyway(request, None));
    }
}

/// Keeps a request whose manager holds; gives it back to be looked at again if the manager no longer does.
fn hold(adapter: &Adapter, request: ServerRequest) -> Option<ServerRequest> {
    match adapter.manager.gate.hold(request) {
        Stopped::Held => None,
        Stopped::Look(request) => Some(request),
        Stopped::Full(request) => {
            request.system_exception(crowded("the adapter's manager, which holds them"));
            None
        }
    }
}

fn crowded(what: &str) -> SystemException {
    SystemException::Transient(format!("too many requests wait for {what}")).minor(Minor::omg(1))
}

/// Counts a request in, if the adapter's manager and life let it through.
fn admit(adapter: &Arc<Adapter>) -> Result<Active, Refusal> {
    let active = Active::adapter(adapter.clone(), adapter.traffic.enter());
    match adapter.manager.gate.state() {
        ManagerState::Active => {}
        ManagerState::Holding if adapter.is_alive() => return Err(Refusal::Hold),
        state => {
            if let Some(exception) = Manager::refusal(state) {
                return Err(exception.into());
            }
        }
    }
    if !adapter.is_alive() {
        let ending = format!("the object's adapter {:?} is being destroyed", adapter.name);
        return Err(SystemException::Transient(ending).minor(Minor::omg(4)).into());
    }
    Ok(active)
}
