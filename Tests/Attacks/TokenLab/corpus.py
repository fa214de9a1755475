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


groups = json.loads((vectors / "vectors.json").read_text(encoding="utf-8"))["testGroups"]
for test in (test for group in groups for test in group["tests"]):
    data, name, stage = base64.b64decode(test["token"]), test["name"], test.get("stage", "opens")
    if stage == "format" and name.startswith("text-") or name in ("ec-v1", "rsa-v1", "spelling-web-token"):
        keep("token-json", name, data)
        keep("strict-json", name, data)
    if "paymentData" in test:
        keep("payload", name, test["paymentData"].encode("utf-8"))
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
