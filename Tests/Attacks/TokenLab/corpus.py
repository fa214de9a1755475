#!/usr/bin/python3
"""Writes the first corpus for fuzzing to Tests/Attacks/TokenLab/Corpus, from the conformance vectors."""

import base64
import json
import pathlib
import re

root = pathlib.Path(__file__).resolve().parents[3]
vectors = root / "Tests/Support/Vectors/apple-pay-token"
corpus = root / "Tests/Attacks/TokenLab/Corpus"


def keep(target, name, data):
    folder = corpus / target
    folder.mkdir(parents=True, exist_ok=True)
    if len(data) < 20_000:
        (folder / name).write_bytes(data)


for path in sorted(vectors.glob("*.txt")):
    head, _, body = path.read_text(encoding="utf-8").partition("\n\n")
    header = dict(line.split(": ", 1) for line in head.splitlines())
    data = base64.b64decode(body) if header.get("encoding") == "base64" else body[:-1].encode("utf-8")
    name, stage = path.stem, header.get("stage", "opens")
    if stage == "format" and name.startswith("text-") or name in ("ec-v1", "rsa-v1", "spelling-web-token"):
        keep("token-json", name, data)
        keep("strict-json", name, data)
    if "payment-data" in header:
        keep("payload", name, header["payment-data"].encode("utf-8"))
    if not re.search("cms-|bomb-|certificate|marker|ec-v1|rsa-v1$", name):
        continue
    try:
        keep("cms", name, base64.b64decode(json.loads(data)["signature"]))
    except (ValueError, KeyError, TypeError):
        continue
for path in sorted(vectors.glob("*root.pem")):
    keep("certificate", path.stem, base64.b64decode("".join(path.read_text().splitlines()[1:-1])))
for kind in range(30):
    keep("whole-token", f"edit-{kind:02}", bytes([kind, 1, 7, 0x80, 3]))
