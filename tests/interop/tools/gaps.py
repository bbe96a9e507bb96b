#!/usr/bin/env python3
"""Judges a client's output: `gaps.py SERVER CLIENT GIOP < output`. Each of SERVER and CLIENT is omniorb, jacorb or zorb.

Prints every failure that ../known-gaps.toml does not explain and every listed gap that passed; exits 1 if there is any,
or if the output has no last line.
"""

import os
import re
import sys
import tomllib


def matches(pattern, name):
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


def main():
    server, client, giop = sys.argv[1:4]
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../known-gaps.toml"), "rb") as file:
        gaps = tomllib.load(file)["gap"]
    gaps = [
        g for g in gaps
        if giop in g.get("giop", [giop])
        and (
            g["peer"] == server and g["role"] != "client" and g.get("with", client) == client
            or g["peer"] == client and g["role"] != "server" and g.get("with", server) == server
        )
    ]
    wrong, ended = 0, False
    for line in sys.stdin:
        ended = ended or bool(re.match(r"\d+ passed, \d+ failed$", line))
        verdict, _, rest = line.partition(" ")
        name = rest.split(":")[0].strip()
        listed = [g for g in gaps if any(matches(p, name) for p in g["cases"])]
        if verdict == "FAIL" and not listed:
            print("unexplained:", line.strip())
            wrong += 1
        elif verdict == "ok" and any(g.get("always", True) for g in listed):
            print("passes, though listed as a gap:", name)
            wrong += 1
    if not ended:
        print("the client did not finish")
    return 1 if wrong or not ended else 0


if __name__ == "__main__":
    sys.exit(main())
