// A FIFO is a file to open at one end: it is neither end itself.

use zorb_ipc::Fifo;

fn wrong(fifo: &Fifo, buffer: &mut [u8]) {
    fifo.receive_now(buffer);
}

fn main() {}
