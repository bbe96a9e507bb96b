//! The messages of a null call, without an ORB: written, copied to the other side, read; there and back.

use std::hint::black_box;
use std::mem;

use zorb::cdr::{Encoder, Format};
use zorb::giop::{
    Addressing, Inbound, Limits, Message, ReplyHead, ReplyStatus, RequestHead, ResponseFlags,
    ServiceContexts, begin_reply, begin_request, finish,
};

use crate::Case;

/// A request and its reply, head only. The key is as long as ours are. The operation is compared as skeletons compare it:
/// by its octets.
pub(crate) fn null() -> Case {
    let (key, operation) = (vec![0xa5; 20], String::from("operation_500"));
    let (mut client, mut server) = (Inbound::new(Limits::default()), Inbound::new(Limits::default()));
    let (mut requests, mut replies) = (Vec::new(), Vec::new());
    let contexts = ServiceContexts::new();
    Box::new(move |id| {
        let mut to = Encoder::with_buffer(mem::take(&mut requests), Format::default());
        let head = RequestHead {
            id,
            response: ResponseFlags::WITH_TARGET,
            target: Addressing::ObjectKey(black_box(&key)),
            operation: black_box(&operation),
            contexts: &contexts,
        };
        begin_request(&mut to, &head).expect("a name and a key");
        finish(&mut to).expect("a small message");
        deliver(&to, &mut server);
        requests = to.into_buffer();
        let Ok(Some(Message::Request(request))) = server.next() else { panic!("a request was sent") };
        assert_eq!(request.operation_bytes(), operation.as_bytes());

        let mut to = Encoder::with_buffer(mem::take(&mut replies), Format::default());
        let head = ReplyHead { id: request.id, status: ReplyStatus::NO_EXCEPTION, contexts: &contexts };
        begin_reply(&mut to, &head).expect("no contexts");
        finish(&mut to).expect("a small message");
        drop(request);
        deliver(&to, &mut client);
        replies = to.into_buffer();
        let Ok(Some(Message::Reply(reply))) = client.next() else { panic!("a reply was sent") };
        assert_eq!((reply.id, reply.status), (id, ReplyStatus::NO_EXCEPTION));
    })
}

fn deliver(message: &Encoder<'_>, to: &mut Inbound) {
    let octets = message.contiguous().expect("nothing was borrowed");
    to.space()[..octets.len()].copy_from_slice(octets);
    to.received(octets.len());
}
