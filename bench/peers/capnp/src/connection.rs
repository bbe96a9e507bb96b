//! A stream with Cap'n Proto RPC on it.

use capnp::message::ReaderOptions;
use capnp_rpc::rpc_twoparty_capnp::Side;
use capnp_rpc::twoparty::VatNetwork;
use futures_util::io::{AsyncReadExt, BufReader, BufWriter, ReadHalf};
use peer::Stream;
use tokio_util::compat::{Compat, TokioAsyncReadCompatExt};

const BUFFER: usize = 64 << 10;
const WINDOW: usize = 1 << 20;

/// One end of a connection.
pub(crate) fn network(stream: Stream, side: Side) -> Box<VatNetwork<BufReader<ReadHalf<Compat<Stream>>>>> {
    let (reader, writer) = stream.compat().split();
    let mut options = ReaderOptions::new();
    options.traversal_limit_in_words(None);
    let mut network = VatNetwork::new(
        BufReader::with_capacity(BUFFER, reader),
        BufWriter::with_capacity(BUFFER, writer),
        side,
        options,
    );
    network.set_window_size(WINDOW);
    Box::new(network)
}
