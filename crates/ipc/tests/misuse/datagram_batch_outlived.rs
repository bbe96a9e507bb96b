// What a batch holds is overwritten by the next call, so it cannot be kept beyond it.

use zorb_ipc::{Error, ReceiveBatch, Udp, UdpSocket};

fn wrong(socket: &UdpSocket, batch: &mut ReceiveBatch<Udp>) -> Result<(), Error> {
    socket.receive_many(batch)?;
    let first = batch.datagram(0).unwrap();
    socket.receive_many(batch)?;
    println!("{:?}", first.octets());
    Ok(())
}

fn main() {}
