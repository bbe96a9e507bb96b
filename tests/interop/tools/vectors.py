#!/usr/bin/env python3
"""Captures messages of a peer as test vectors: `vectors.py omniorb|jacorb [1.0|1.1|1.2 …]`.

Runs the peer's own client against its own server through tee.py, one case at a time, and writes chosen exchanges to
tests/vectors/<peer>-<giop>-<case>.hex: `#` starts a comment, `>` a message from the client, `<` one from the server,
each followed by its octets in hexadecimal. A message sent in fragments is several `>` or `<` in a row.
"""

import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../../.."))
OUT = os.path.join(ROOT, "tests/vectors")
TYPES = ["Request", "Reply", "CancelRequest", "LocateRequest", "LocateReply", "CloseConnection", "MessageError", "Fragment"]
NAMES = {"omniorb": "omniORB 4.2.5", "jacorb": "JacORB 3.9"}

# file name, --only prefix, operation, which of its calls (by number) to keep, what is sent
PHASED = [f"{t}_seq" for t in ("pair", "rgb", "tail", "long_tail", "bin_struct", "odd_double", "odd_short", "floats", "flags", "nested")]
PHASED += ["bin_struct_array", "odd_double_array", "tail_array", "nested"]
CHOSEN = [(f"phase-{p}", f"phase/{p}/", f"phase_{p}", range(3, 56, 7), "sample 3 after 0 to 7 octets of lead") for p in PHASED]
CHOSEN += [(f"lead-{n}", f"lead/{n}", f"lead_{n}", [3], "sample 3") for n in range(1, 8)]
CHOSEN += [
    (f"echo-{e}", f"echo/{e}", f"echo_{e}", range(count), f"samples 0 to {count - 1} with 1 to {count}")
    for e, count in [
        ("long", 6), ("longlong", 6), ("ulonglong", 5), ("float", 11), ("double", 11), ("char", 5), ("octet", 2), ("boolean", 2), ("color", 3),
        ("string", 6), ("code", 7), ("string_seq", 5), ("all_scalars", 3), ("record", 3), ("anonymous", 3), ("tree", 4), ("octets5", 4),
        ("long_seq_seq", 3), ("octet_cubes", 3), ("long_grid", 2), ("string_grid", 2), ("double_cube", 2),
        ("by_short", 12), ("by_ushort", 5), ("by_long", 10), ("by_ulong", 3), ("by_longlong", 3), ("by_ulonglong", 3), ("by_char", 3),
        ("by_boolean", 2), ("maybe", 2), ("by_color", 3), ("by_level", 5), ("union_record", 3),
    ]
]
WIDE = [
    (f"echo-{e}", f"echo/{e}", f"echo_{e}", range(count), f"samples 0 to {count - 1} with 1 to {count}")
    for e, count in [("wchar", 8), ("wstring", 5), ("wide_code", 5), ("wide_record", 3), ("wide_choice", 3), ("wchar_seq", 3)]
]
CHOSEN += [
    ("text-latin1", "text/string-latin1", "echo_string", [0], "Latin-1 text"),
    ("exception-empty", "exception/empty", "raise_empty", [0], "Empty"),
    ("exception-refused", "exception/refused", "raise_refused", [0, 1], 'Refused {"no", -7} and {"", 2147483647}'),
    ("exception-loaded", "exception/loaded", "raise_loaded", [0, 1, 2], "samples 0 to 2"),
    ("exception-undeclared", "exception/undeclared", "raise_undeclared", [0], "UNKNOWN"),
    ("system-NO_MEMORY", "system/NO_MEMORY", "raise_system", [0], "NO_MEMORY, minor 0x5a4f0002, completed maybe"),
    ("call-nothing", "call/nothing", "nothing", [0], ""),
    ("call-produce", "call/produce", "produce", [0], "sample 5 of each"),
    ("call-mixed", "call/mixed", "mixed", [0], 'a 7, b 300, d "text", f {1, 2, 3}'),
    ("call-oneway", "call/oneway", "note", [0], "1"),
    ("call-long-name", "call/long-name", "operation_name_that_is_rather_long_so_that_its_length_word_and_padding_are_not_the_usual_ones", [0], '"long"'),
    ("attribute-get", "attribute/answer", "_get_answer", [0], "42"),
    ("attribute-set", "attribute/setting", "_set_setting", [3], "sample 3"),
    ("object-is_a", "object/is_a", "_is_a", [0, 1, 2, 3, 4], "as the case says"),
    ("object-non_existent", "object/non_existent", "_non_existent", [0], "FALSE"),
    ("reference-make", "reference/make", "make", [0, 3, 4], "a base, a diamond, nil"),
    ("reference-seq", "reference/seq", "echo_base_seq", [0], "{left, nil, right}"),
    ("reference-exception", "reference/exception", "raise_ref", [0, 1], "{left, nil} and {nil, right}"),
    ("fragment-octets", "fragment/octets", "bulk_octets", [192], "8192 octets"),
    ("fragment-odd_doubles", "fragment/odd_doubles", "bulk_odd_doubles", [42], "342 elements"),
    ("fragment-strings", "fragment/strings", "bulk_strings", [0], "200 elements"),
    ("fragment-records", "fragment/records", "bulk_records", [96], "97 elements"),
]


def signatures():
    """Operation name to its declaration in every.idl."""
    text = re.sub(r"//.*", "", open(os.path.join(ROOT, "tests/interop/idl/every.idl")).read())
    found = {}
    for match in re.finditer(r"([\w ]+?)\s+(\w+)\s*\(([^()]*)\)(\s*raises\s*\([^)]*\))?;", text):
        result, name, parameters, raises = match.groups()
        found[name] = " ".join(f"{result.strip()} {name}({parameters}){raises or ''}".split())
    for match in re.finditer(r"attribute\s+([\w ]+?)\s+(\w+)(, \w+)?;", text):
        found["_get_" + match[2]] = found["_set_" + match[2]] = f"attribute {match[1]} {match[2]}"
    return found


def messages(stream):
    """Splits a stream into GIOP messages."""
    at = 0
    while at + 12 <= len(stream):
        assert stream[at : at + 4] == b"GIOP", stream[at : at + 12]
        size = struct.unpack_from("<I" if stream[at + 6] & 1 else ">I", stream, at + 8)[0]
        yield stream[at : at + 12 + size]
        at += 12 + size


def request_id(message):
    """The request id, or None for a message that has none (or a 1.1 fragment, which belongs to the message before)."""
    order = "<" if message[6] & 1 else ">"
    kind, minor = message[7], message[5]
    if kind in (5, 6) or (kind == 7 and minor < 2):
        return None
    if kind in (0, 1) and minor < 2:  # service contexts come first
        count, at = struct.unpack_from(order + "I", message, 12)[0], 16
        for _ in range(count):
            length = struct.unpack_from(order + "I", message, at + 4)[0]
            at = (at + 8 + length + 3) & ~3
        return struct.unpack_from(order + "I", message, at)[0]
    return struct.unpack_from(order + "I", message, 12)[0]


def exchanges(client, server):
    """Request messages (with their fragments) and the replies to each, in order of sending."""
    def grouped(stream):
        groups, last = {}, None
        for message in messages(stream):
            number = request_id(message)
            last = last if number is None else number
            groups.setdefault(last, []).append(message)
        return groups

    replies = grouped(server)
    return [(sent, replies.get(number, [])) for number, sent in grouped(client).items()]


def hexadecimal(message):
    text = message.hex()
    return "\n".join(" ".join(text[i : i + 64][j : j + 8] for j in range(0, len(text[i : i + 64]), 8)) for i in range(0, len(text), 64))


def write(peer, giop, name, operation, note, parts):
    declaration = signatures().get(operation, operation)
    lines = [f"# {NAMES[peer]}, GIOP {giop}: {declaration}", f"# {note}" if note else "#"]
    for sent, answered in parts:
        for direction, group in ((">", sent), ("<", answered)):
            for message in group:
                kind = TYPES[message[7]] if message[:4] == b"GIOP" else "no GIOP"
                lines.append(f"{direction} # {kind}, {len(message)} octets")
                lines.append(hexadecimal(message))
    with open(os.path.join(OUT, f"{peer}-{giop}-{name}.hex"), "w") as file:
        file.write("\n".join(lines) + "\n")


class Server:
    def __init__(self, peer, giop, scratch):
        self.ior_file = os.path.join(scratch, "ior")
        if os.path.exists(self.ior_file):
            os.remove(self.ior_file)
        program = os.path.join(ROOT, "target/interop", peer, "server")
        self.process = subprocess.Popen([program, "--ior-file", self.ior_file, "--giop", giop], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(300):
            if os.path.exists(self.ior_file):
                break
            time.sleep(0.1)
        self.ior = open(self.ior_file).read().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def address_and_key(self):
        data = bytes.fromhex(self.ior[4:])
        return first_profile(data, 4, "<" if data[0] else ">")


def first_profile(data, at, order):
    """The address and object key in the first IIOP profile of the reference that starts at `at`."""
    def ulong(octets, order, at):
        return struct.unpack_from(order + "I", octets, at)[0]

    at = (at + 4 + ulong(data, order, at) + 3) & ~3
    profile = data[at + 12 : at + 12 + ulong(data, order, at + 8)]
    order = "<" if profile[0] else ">"
    length = ulong(profile, order, 4)
    host, at = profile[8 : 7 + length].decode(), 8 + length
    at += at & 1
    port = struct.unpack_from(order + "H", profile, at)[0]
    at = (at + 2 + 3) & ~3
    return (host, port), profile[at + 4 : at + 4 + ulong(profile, order, at)]


def capture(peer, giop, server, scratch, only):
    """Both streams of the busiest connection of one client run."""
    for name in os.listdir(scratch):
        if name.endswith(".bin"):
            os.remove(os.path.join(scratch, name))
    tee = subprocess.Popen([sys.executable, os.path.join(HERE, "tee.py"), "--ior", server.ior_file, "--out", scratch], stdout=subprocess.PIPE, text=True)
    try:
        reference = tee.stdout.readline().strip()
        client = os.path.join(ROOT, "target/interop", peer, "client")
        subprocess.run([client, reference, "--giop", giop, "--only", only], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
    finally:
        tee.kill()
        tee.wait()
    found = []
    for name in sorted(n for n in os.listdir(scratch) if n.endswith("-c.bin")):
        pair = [open(os.path.join(scratch, name.replace("-c.", f"-{d}.")), "rb").read() for d in "cs"]
        found += exchanges(*pair)
    return found


def by_hand(peer, giop, server):
    """Answers to messages that the peer's client cannot be made to send: Locate, an error, the end of the server."""
    minor = int(giop[2])
    address, key = server.address_and_key()
    octets = lambda value: struct.pack("<I", len(value)) + value

    def message(kind, body):
        return b"GIOP" + bytes([1, minor, 1, kind]) + struct.pack("<I", len(body)) + body

    def locate(number, target):
        return message(3, struct.pack("<I", number) + (struct.pack("<HH", 0, 0) if minor == 2 else b"") + octets(target))

    def answers(sent, wait=2.0):
        with socket.create_connection(address, 5) as stream:
            stream.settimeout(wait)
            stream.sendall(sent)
            got = b""
            try:
                while data := stream.recv(65536):
                    got += data
                    if list(messages(got)) and sum(map(len, messages(got))) == len(got) and wait > 1.5:
                        break
            except OSError:
                pass
        return list(messages(got))

    here, gone = locate(7, key), locate(8, key + b"\0not there")
    write(peer, giop, "locate", "LocateRequest, written by hand", "the object; a key that is unknown", [([here], answers(here)), ([gone], answers(gone))])
    bad = b"GIOX" + message(3, b"")[4:]
    write(peer, giop, "message-error", "MessageError", "a message whose magic is wrong: the peer closes without an answer", [([bad], answers(bad))])

    def request(number, target, operation, argument, flags):
        name = octets(operation.encode() + b"\0")
        if minor == 2:
            head = struct.pack("<IB3xHH", number, flags, 0, 0) + octets(target)
        else:
            head = struct.pack("<IIB3x", 0, number, flags & 1) + octets(target)
        head += b"\0" * (-len(head) % 4) + name
        head += b"\0" * (-len(head) % 4) + struct.pack("<I", 0)  # no contexts, or no principal
        if minor == 2 and argument:
            head += b"\0" * (-(len(head) + 12) % 8)
        return message(0, head + argument)

    asked = request(9, key, "forwarded", struct.pack("<I", 2), 3)
    parts = [([asked], answers(asked))]
    for number in (10, 11):  # each answer names the next object
        reply = parts[-1][1][0]
        order = "<" if reply[6] & 1 else ">"
        type_id = reply.find(b"IDL:zorb.test/interop/")
        _, target = first_profile(reply, type_id - 4, order)
        sent = request(number, target, "base_op", struct.pack("<i", 1), 3)
        parts.append(([sent], answers(sent)))
    write(peer, giop, "forward", "forwarded", "forwarded(2), then base_op(1) of what it returned and of what that forwards to", parts)

    end = request(12, key, "shutdown", b"", 0)
    write(peer, giop, "close", "shutdown", "the server ends and closes the connection", [([end], answers(end, 5.0))])


def main():
    peer, versions = sys.argv[1], sys.argv[2:] or ["1.0", "1.1", "1.2"]
    os.makedirs(OUT, exist_ok=True)
    for giop in versions:
        with tempfile.TemporaryDirectory() as scratch, Server(peer, giop, scratch) as server:
            chosen = CHOSEN + (WIDE if giop == "1.2" else [])
            if giop != "1.2":  # only what differs between versions
                chosen = [c for c in chosen if not re.match(r"echo-(?!long$|string$|record$|by_long$)|lead|phase-(?!bin_struct_seq|odd_double)", c[0])]
            if peer == "jacorb":  # it never sends fragments
                chosen = [c for c in chosen if not c[0].startswith("fragment")]
            for name, only, operation, keep, note in chosen:
                padded = operation.encode() + b"\0"
                found = [e for e in capture(peer, giop, server, scratch, only) if e[0] and e[0][0][7] == 0 and padded in e[0][0]]
                parts = [found[i] for i in keep if i < len(found)]
                if parts:
                    write(peer, giop, name, operation, note, parts)
                else:
                    print(f"nothing for {peer} {giop} {name}", file=sys.stderr)
            with open(os.path.join(OUT, f"{peer}-{giop}.ior"), "w") as file:
                file.write(server.ior + "\n")
            with open(os.path.join(OUT, f"{peer}-{giop}.catior"), "w") as file:
                file.write(subprocess.run(["catior", server.ior], capture_output=True, text=True).stdout)
            by_hand(peer, giop, server)


if __name__ == "__main__":
    main()
