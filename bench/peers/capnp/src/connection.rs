//! A stream with Cap'n Proto RPC on it.

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::{Buf, BytesMut};
use capnp::message::ReaderOptions;
use capnp_rpc::rpc_twoparty_capnp::Side;
use capnp_rpc::twoparty::VatNetwork;
use futures_util::io::{AsyncRead, BufWriter};
use peer::Stream;
use tokio::io::{AsyncRead as _, ReadBuf, ReadHalf};
use tokio_util::compat::TokioAsyncWriteCompatExt;
use tokio_util::io::poll_read_buf;

const BUFFER: usize = 64 << 10;
const WINDOW: usize = 1 << 20;

/// One end of a connection.
pub(crate) fn network(stream: Stream, side: Side) -> Box<VatNetwork<Received>> {
    let (reader, writer) = tokio::io::split(stream);
    let mut options = ReaderOptions::new();
    options.traversal_limit_in_words(None);
    let reader = Received { stream: reader, octets: BytesMut::new() };
    let writer = BufWriter::with_capacity(BUFFER, writer.compat_write());
    let mut network = VatNetwork::new(reader, writer, side, options);
    network.set_window_size(WINDOW);
    Box::new(network)
}

/// Received octets in a buffer, as `futures_util::io::BufReader` has it, but that memory in which nothing has arrived is not
/// written to: otherwise each idle connection would hold all of it.
pub(crate) struct Received {
    stream: ReadHalf<Stream>,
    octets: BytesMut,
}

impl AsyncRead for Received {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        let Received { stream, octets } = self.get_mut();
        if octets.is_empty() && into.len() >= BUFFER {
            let mut into = ReadBuf::new(into);
            ready!(pin!(stream).poll_read(cx, &mut into))?;
            return Poll::Ready(Ok(into.filled().len()));
        }
        if octets.is_empty() {
            octets.reserve(BUFFER);
            ready!(poll_read_buf(pin!(stream), cx, octets))?;
        }
        let count = octets.len().min(into.len());
        into[..count].copy_from_slice(&octets[..count]);
        octets.advance(count);
        Poll::Ready(Ok(count))
    }
}
