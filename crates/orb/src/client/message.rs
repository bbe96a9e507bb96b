//! One request as it goes out: what the stub said, and the form that a particular connection gives it.

use std::io::ErrorKind;
use std::num::NonZeroU64;
use std::time::Instant;
use std::{mem, ptr};

use bytes::Bytes;
use zorb_cdr::copies::copied;
use zorb_cdr::{CodeSets, EncodeError, Encoder, Format, Version};
use zorb_giop::{ContextId, Protocol, RequestHead, ResponseFlags, ServiceContexts, Target, Writer};

use super::failure::{Failure, Step};
use crate::object::route::Candidate;
use crate::skeleton::Operation;
use crate::transport::Channel;
use crate::transport::gather::{By, Unsent, send_all, send_few};

/// Writes the arguments; may be asked again for another connection.
pub(crate) type WriteArguments<'w, 'a> = dyn FnMut(&mut Encoder<'a>) -> Result<(), EncodeError> + 'w;

/// What is sent, whatever the connection.
pub(crate) struct Outgoing<'w, 'a> {
    pub(crate) operation: &'static Operation,
    pub(crate) response: ResponseFlags,
    pub(crate) arguments: &'w mut WriteArguments<'w, 'a>,
    /// Service contexts of interceptors.
    pub(crate) contexts: Option<&'w ServiceContexts>,
}

/// Whom a message goes to, and by when.
#[derive(Clone, Copy)]
pub(crate) struct Course<'c> {
    pub(crate) candidate: &'c Candidate,
    /// The candidate's object key, or the longer form that its server asked for.
    pub(crate) target: &'c Target,
    pub(crate) started: Instant,
    pub(crate) deadline: Instant,
    /// Messages of more octets leave in fragments; `usize::MAX`: never.
    pub(crate) fragment_size: usize,
    /// The data of a context INVOCATION_POLICIES that goes with the message.
    pub(crate) policies: Option<&'c Bytes>,
    /// Its target is the candidate's own, and nothing goes with it.
    pub(crate) is_plain: bool,
}

impl<'c> Course<'c> {
    /// The same for a message that is not cut.
    pub(crate) fn whole(&self) -> Course<'c> {
        Course { fragment_size: usize::MAX, ..*self }
    }
}

/// What one connection counts and has agreed on.
#[derive(Default)]
pub(crate) struct Terms {
    last_id: u32,
    announced: Option<CodeSets>,
}

/// The form of one message under a connection's terms.
#[derive(Clone, Copy)]
pub(crate) struct Form<'c> {
    pub(crate) id: u32,
    pub(crate) format: Format,
    pub(crate) contexts: &'c ServiceContexts,
}

impl Terms {
    /// A new request id, and the code sets: those announced on this connection, or those that this message announces.
    pub(crate) fn next<'c>(&mut self, candidate: &'c Candidate) -> Form<'c> {
        static NO_CONTEXTS: ServiceContexts = ServiceContexts::new();
        self.last_id = self.last_id.wrapping_add(1);
        let version = candidate.format.version;
        // What was announced may be lost where nothing tells, so it is said every time.
        let announced = self.announced.filter(|_| candidate.pool.largest_oneway().is_none());
        let (code_sets, contexts) = match (announced, &candidate.code_sets) {
            (Some(announced), _) => (announced, &NO_CONTEXTS),
            (None, Some(offer)) if version > Version::V1_0 => (offer.code_sets, &offer.contexts),
            (None, _) => (candidate.format.code_sets, &NO_CONTEXTS),
        };
        Form { id: self.last_id, format: Format { version, code_sets }, contexts }
    }

    /// So many ids behind the last one are given away, and come with no form.
    pub(crate) fn reserve(&mut self, count: u32) {
        self.last_id = self.last_id.wrapping_add(count);
    }

    /// The code sets in force, if they were announced.
    pub(crate) fn announced(&self) -> Option<CodeSets> {
        self.announced
    }

    /// These hold, though this side did not announce them.
    pub(crate) fn adopt(&mut self, code_sets: CodeSets) {
        self.announced = Some(code_sets);
    }

    /// The id of the request made last.
    pub(crate) fn last_id(&self) -> u32 {
        self.last_id
    }

    /// The message of `form` has left, so the announcement that it carried holds.
    #[inline]
    pub(crate) fn sent(&mut self, form: &Form<'_>) {
        if !form.contexts.is_empty() {
            self.announced = Some(form.format.code_sets);
        }
    }
}

/// Writes the whole message into `message`, an empty one in the form's format.
#[inline]
pub(crate) fn compose<'a>(
    message: &mut Encoder<'a>,
    form: &Form<'_>,
    course: &Course<'_>,
    outgoing: &mut Outgoing<'_, 'a>,
) -> Result<(), EncodeError> {
    let messaging = course.candidate.pool.messaging().writer();
    begin(message, messaging, course.candidate.knows_numbers(), form, course, outgoing)?;
    (outgoing.arguments)(message)?;
    messaging.finish(message)
}

/// Writes the head; `by_number`: with the operation's number, if the protocol has such.
#[inline(always)]
fn begin(
    message: &mut Encoder<'_>,
    messaging: Writer<'_>,
    by_number: bool,
    form: &Form<'_>,
    course: &Course<'_>,
    outgoing: &Outgoing<'_, '_>,
) -> Result<(), EncodeError> {
    if form.format.version == Version::V1_1 && course.fragment_size != usize::MAX {
        message.fragment_every(course.fragment_size);
    }
    let told = course.policies.map(|policies| {
        let mut contexts = form.contexts.clone();
        contexts.push(ContextId::INVOCATION_POLICIES, policies.clone());
        contexts
    });
    let head = RequestHead {
        id: form.id,
        response: outgoing.response,
        target: course.target.into(),
        operation: outgoing.operation.name,
        by_number: NonZeroU64::new(outgoing.operation.number).filter(|_| by_number),
        contexts: told.as_ref().unwrap_or(form.contexts),
    };
    match outgoing.contexts {
        None => messaging.begin_request(message, &head),
        Some(more) => begin_with(message, messaging, head, more),
    }
}

#[cold]
fn begin_with(
    message: &mut Encoder<'_>,
    messaging: Writer<'_>,
    head: RequestHead<'_>,
    more: &ServiceContexts,
) -> Result<(), EncodeError> {
    let contexts: ServiceContexts = head.contexts.iter().chain(more).cloned().collect();
    messaging.begin_request(message, &RequestHead { contexts: &contexts, ..head })
}

/// Memory for the messages of one connection, one after the other. What is called again and again, as most is, has its head there
/// already, but for the id.
#[derive(Default)]
pub(crate) struct MessageBuffer {
    octets: Vec<u8>,
    /// The head that they begin with.
    head: Option<Head>,
}

/// A head as it was written, and all that it says but its id.
#[derive(Clone, Copy)]
pub(crate) struct Head {
    /// Octets of it.
    length: usize,
    id_at: usize,
    /// The candidate, and so protocol, version and object key.
    whose: u64,
    operation: &'static Operation,
    response: ResponseFlags,
    by_number: bool,
}

impl Head {
    /// Whether it is this message's, too.
    #[inline(always)]
    fn serves(&self, form: &Form<'_>, course: &Course<'_>, outgoing: &Outgoing<'_, '_>) -> bool {
        self.whose == course.candidate.identity
            && ptr::eq(self.operation, outgoing.operation)
            && self.response == outgoing.response
            && self.by_number == course.candidate.knows_numbers()
            && repeats(form, course, outgoing)
    }
}

/// Whether all that the head says is what a [`Head`] keeps account of.
#[inline(always)]
fn repeats(form: &Form<'_>, course: &Course<'_>, outgoing: &Outgoing<'_, '_>) -> bool {
    course.is_plain && form.contexts.is_empty() && outgoing.contexts.is_none()
}

impl MessageBuffer {
    /// Writes a whole message and has it used, then its memory serves again.
    #[inline(always)]
    pub(crate) fn compose<'a, R>(
        &mut self,
        form: &Form<'_>,
        course: &Course<'_>,
        outgoing: &mut Outgoing<'_, 'a>,
        then: impl FnOnce(&Encoder<'a>) -> R,
    ) -> Result<R, EncodeError> {
        let octets = mem::take(&mut self.octets);
        let messaging = course.candidate.pool.messaging().writer();
        let mut message;
        match &self.head {
            // It is not there where writing arguments has panicked.
            Some(head) if head.length <= octets.len() && head.serves(form, course, outgoing) => {
                message = Encoder::continuing(octets, head.length, form.format);
                messaging.repeat_request(&mut message, head.id_at, form.id);
            }
            _ => {
                message = Encoder::with_buffer(octets, form.format);
                self.begin_anew(&mut message, *form, *course, outgoing)?;
            }
        }
        match (outgoing.arguments)(&mut message).and_then(|()| messaging.finish(&mut message)) {
            Ok(()) => {
                let used = then(&message);
                self.octets = message.into_buffer();
                Ok(used)
            }
            Err(error) => {
                self.head = None;
                Err(error)
            }
        }
    }

    /// With a head of its own. What is passed by value need not lie in memory where this is not called.
    #[inline(never)]
    fn begin_anew(
        &mut self,
        message: &mut Encoder<'_>,
        form: Form<'_>,
        course: Course<'_>,
        outgoing: &Outgoing<'_, '_>,
    ) -> Result<(), EncodeError> {
        let messaging = course.candidate.pool.messaging().writer();
        let by_number = course.candidate.knows_numbers();
        self.head = None;
        begin(message, messaging, by_number, &form, &course, outgoing)?;
        let repeats = repeats(&form, &course, outgoing);
        if let Some(id_at) = messaging.id_at(form.format).filter(|_| repeats) {
            self.head = Some(Head {
                length: message.len(),
                id_at,
                whose: course.candidate.identity,
                operation: outgoing.operation,
                response: outgoing.response,
                by_number,
            });
        }
        Ok(())
    }

    /// The head of this oneway, if that was written last and the next one's is the same but for the id.
    #[inline(always)]
    pub(crate) fn oneway_head(&self, of: &Repeated) -> Option<&[u8]> {
        self.octets.get(..self.head_of(of)?.length)
    }

    /// The same, to be [written behind](Self::compose_again).
    #[inline(always)]
    pub(crate) fn head_of(&self, of: &Repeated) -> Option<Head> {
        self.head.filter(|head| {
            head.whose == of.whose
                && ptr::eq(head.operation, of.operation)
                && head.response == ResponseFlags::NONE
                && head.by_number == of.by_number
                && head.length <= self.octets.len()
        })
    }

    /// Writes a oneway behind that head, which is there: a message that is to be [taken back](Self::take_back). `None`: something is wrong with
    /// the arguments.
    #[inline(always)]
    pub(crate) fn compose_again<'a>(
        &mut self,
        head: Head,
        (id, format): (u32, Format),
        messaging: Writer<'_>,
        arguments: &mut WriteArguments<'_, 'a>,
    ) -> Option<Encoder<'a>> {
        let mut message = Encoder::continuing(mem::take(&mut self.octets), head.length, format);
        messaging.repeat_request(&mut message, head.id_at, id);
        if arguments(&mut message).and_then(|()| messaging.finish(&mut message)).is_ok() {
            return Some(message);
        }
        self.take_back(message);
        None
    }

    /// Its memory serves again.
    #[inline(always)]
    pub(crate) fn take_back(&mut self, message: Encoder<'_>) {
        self.octets = message.into_buffer();
    }

    /// Gives the memory back.
    pub(crate) fn rest(&mut self) {
        *self = Self::default();
    }
}

/// A oneway that was sent before, to be sent again with other arguments.
#[derive(Clone, Copy)]
pub(crate) struct Repeated {
    /// The [candidate's](Candidate::identity).
    pub(crate) whose: u64,
    /// Whether the server knows the object's operations by number.
    pub(crate) by_number: bool,
    pub(crate) operation: &'static Operation,
    /// Larger ones are cut.
    pub(crate) fragment_size: usize,
}

/// Sends a composed message, whole or in fragments, on the calling thread.
#[inline(always)]
pub(crate) fn send(
    channel: &dyn Channel,
    message: &Encoder<'_>,
    course: &Course<'_>,
) -> Result<(), Box<Failure>> {
    let sent = match message.contiguous() {
        _ if message.len() > course.fragment_size => send_fragments(channel, message, *course),
        Some(octets) => send_few(channel, [octets], course.deadline.into()),
        None => send_gathered(channel, message, course.deadline.into()),
    };
    sent.map_err(|unsent| failure_of(unsent, course.started))
}

/// The same of one that is not cut; it was made when it `started`.
#[inline(always)]
pub(super) fn send_whole(
    channel: &dyn Channel,
    message: &Encoder<'_>,
    started: Instant,
    by: By,
) -> Result<(), Box<Failure>> {
    let sent = match message.contiguous() {
        Some(octets) => send_few(channel, [octets], by),
        None => send_gathered(channel, message, by),
    };
    sent.map_err(|unsent| failure_of(unsent, started))
}

/// One of which parts lie elsewhere.
#[inline(never)]
fn send_gathered(channel: &dyn Channel, message: &Encoder<'_>, by: By) -> Result<(), Unsent> {
    match message.around_run() {
        Some([head, run, []]) => send_few(channel, [head, run], by),
        Some(parts) => send_few(channel, parts, by),
        None => send_all(channel, message.slices(), by.deadline),
    }
}

#[cold]
fn failure_of(Unsent { sent, error }: Unsent, started: Instant) -> Box<Failure> {
    Box::new(match (sent, error.kind()) {
        // A datagram's refusal is known with the next one: as good as a connect that is refused.
        (0, ErrorKind::ConnectionRefused) => Failure::NotConnected { step: Step::Send, cause: error },
        (_, ErrorKind::TimedOut | ErrorKind::WouldBlock) => {
            Failure::Timeout { step: Step::Send, sent: sent > 0, after: started.elapsed() }
        }
        (0, _) => Failure::NotSent { step: Step::Send, cause: error },
        _ => Failure::Lost { step: Step::Send, cause: error },
    })
}

#[inline(never)]
fn send_fragments(channel: &dyn Channel, message: &Encoder<'_>, course: Course<'_>) -> Result<(), Unsent> {
    let Some(fragments) = course.candidate.pool.messaging().fragments(message, course.fragment_size) else {
        return send_all(channel, message.slices(), course.deadline);
    };
    let mut before = 0;
    for fragment in fragments {
        send_all(channel, fragment.slices(), course.deadline)
            .map_err(|unsent| Unsent { sent: before + unsent.sent, ..unsent })?;
        before += fragment.octets();
    }
    Ok(())
}

/// The same message as the octets of its fragments, for a queue that sends octets; `None`: the protocol has no fragments.
pub(crate) fn fragmented(
    messaging: &Protocol,
    message: &Encoder<'_>,
    size: usize,
) -> Option<Encoder<'static>> {
    let mut octets = Encoder::new(message.format());
    for fragment in messaging.fragments(message, size)? {
        for slice in fragment.slices() {
            octets.write_octets(slice);
        }
    }
    copied(octets.len());
    Some(octets)
}
