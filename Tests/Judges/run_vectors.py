#!/usr/bin/env python3
"""Runs the positive conformance vectors, and as many of the negative ones as concern the token and not its payload,
through a reader that shares no code with Tender.

    Tests/Judges/run_vectors.py [DIRECTORY]
"""

import base64
import datetime
import pathlib
import sys

from apple_pay_token import Reader, Refused

# The stages that this reader checks. It does not read the payload.
CHECKED = {"format", "certificates", "chain", "signature", "signingTime", "key", "unwrap", "decrypt"}


def parsed(path):
    head, _, body = path.read_text(encoding="utf-8").partition("\n\n")
    header = dict(line.split(": ", 1) for line in head.splitlines())
    body = body[:-1].encode("utf-8")
    return header, base64.b64decode(body) if header.get("encoding") == "base64" else body


def main():
    directory = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                             pathlib.Path(__file__).parent.parent / "Support/Vectors/apple-pay-token")
    readers, opened, refused, wrong = {}, 0, 0, []
    for path in sorted(directory.glob("*.txt")):
        header, body = parsed(path)
        if header["expect"] == "refused" and header["stage"] not in CHECKED:
            continue
        key = (header["root"], header["key"], header["merchant"])
        if key not in readers:
            readers[key] = Reader(
                (directory / key[0]).read_bytes(), (directory / key[1]).read_bytes(), key[2])
        at = datetime.datetime.strptime(header["at"], "%Y-%m-%dT%H:%M:%SZ")
        try:
            found = readers[key].open(body, at).decode("utf-8")
            opened += 1
            if header.get("payment-data") != found:
                wrong.append(f"{path.stem}: opened, and should be {header['expect']}")
        except Refused as refusal:
            refused += 1
            if header["expect"] == "opens":
                wrong.append(f"{path.stem}: {refusal}")
    for line in wrong:
        print(line)
    print(f"vectors: {opened} opened, {refused} refused, {len(wrong)} differences")
    return 1 if wrong or opened < 30 else 0


if __name__ == "__main__":
    sys.exit(main())
