// Classic error 4: a port in the wrong byte order. A port is a number; its octets, in whichever order, are
// none.

use zorb_ipc::VsockAddress;

fn wrong() -> VsockAddress {
    VsockAddress { context: VsockAddress::HOST, port: 2809_u32.to_be_bytes() }
}

fn main() {}
