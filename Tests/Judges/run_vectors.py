#!/usr/bin/env python3
"""Runs the positive conformance vectors, and as many of the negative ones as concern the token and not its payload,
through a reader that shares no code with Tender.

    Tests/Judges/run_vectors.py [DIRECTORY]
"""

import base64
import datetime
import json
import pathlib
import sys

from apple_pay_token import Reader, Refused

# The stages that this reader checks. It does not read the payload.
CHECKED = {"format", "certificates", "chain", "signature", "signingTime", "key", "unwrap", "decrypt"}


def main():
    directory = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                             pathlib.Path(__file__).parent.parent / "Support/Vectors/apple-pay-token")
    opened, refused, wrong = 0, 0, []
    document = json.loads((directory / "vectors.json").read_text(encoding="utf-8"))
    for group in document["testGroups"]:
        reader = Reader(group["root"].encode(), group["privateKey"].encode(), group["merchantIdentifier"])
        for test in group["tests"]:
            if test["result"] == "invalid" and test["stage"] not in CHECKED:
                continue
            at = datetime.datetime.strptime(test["at"], "%Y-%m-%dT%H:%M:%SZ")
            try:
                found = reader.open(base64.b64decode(test["token"]), at).decode("utf-8")
                opened += 1
                if test.get("paymentData") != found:
                    wrong.append(f"{test['name']}: opened, and should be {test['result']}")
            except Refused as refusal:
                refused += 1
                if test["result"] != "invalid":
                    wrong.append(f"{test['name']}: {refusal}")
    for line in wrong:
        print(line)
    print(f"vectors: {opened} opened, {refused} refused, {len(wrong)} differences")
    return 1 if wrong or opened < 30 else 0


if __name__ == "__main__":
    sys.exit(main())
