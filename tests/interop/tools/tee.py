#!/usr/bin/env python3
"""A TCP relay that keeps what passes: `tee.py --out FOLDER --ior IOR-FILE > IOR through the relay`.

Listens on the loopback, forwards each connection to the address in the reference, and writes what it relayed to
FOLDER/<connection>-<direction>.bin (`c` from the client, `s` from the server). The reference printed on stdout names the
relay instead of the server; nothing else in it changes. Runs until killed or for --seconds.

Only the first IIOP profile is rewritten; other objects that the server hands out are reached directly, past the relay.
"""

import argparse
import socket
import struct
import sys
import threading
import time


def rewritten(ior, port):
    """The stringified reference with the port of its first IIOP profile replaced, and the address it had."""
    data = bytearray(bytes.fromhex(ior.strip()[4:]))
    order = "<" if data[0] else ">"

    def ulong(at):
        return struct.unpack_from(order + "I", data, at)[0]

    at = 4
    at += 4 + ulong(at)  # type id
    at = (at + 3) & ~3
    assert ulong(at) >= 1 and ulong(at + 4) == 0, "the first profile is not IIOP"
    start = at + 12  # the profile's encapsulation
    inner = "<" if data[start] else ">"
    length = struct.unpack_from(inner + "I", data, start + 4)[0]
    host = bytes(data[start + 8 : start + 8 + length - 1]).decode()
    at_port = start + 8 + length
    at_port += (at_port - start) & 1
    old = struct.unpack_from(inner + "H", data, at_port)[0]
    struct.pack_into(inner + "H", data, at_port, port)
    return "IOR:" + data.hex(), (host, old)


def relay(source, target, path):
    with open(path, "wb", buffering=0) as kept:
        try:
            while data := source.recv(65536):
                kept.write(data)
                target.sendall(data)
        except OSError:
            pass
    for end, how in ((target, socket.SHUT_WR), (source, socket.SHUT_RD)):
        try:
            end.shutdown(how)
        except OSError:
            pass


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--ior", required=True)
    arguments.add_argument("--out", required=True)
    arguments.add_argument("--seconds", type=float, default=60)
    options = arguments.parse_args()
    listener = socket.create_server(("127.0.0.1", 0))
    reference, address = rewritten(open(options.ior).read(), listener.getsockname()[1])
    print(reference, flush=True)
    end = time.monotonic() + options.seconds
    count = 0
    while (left := end - time.monotonic()) > 0:
        listener.settimeout(left)
        try:
            client, _ = listener.accept()
        except TimeoutError:
            break
        server = socket.create_connection(address)
        for source, target, direction in ((client, server, "c"), (server, client, "s")):
            path = f"{options.out}/{count:03}-{direction}.bin"
            threading.Thread(target=relay, args=(source, target, path), daemon=True).start()
        count += 1


if __name__ == "__main__":
    sys.exit(main())
