"""How fast the Python wheel opens payment tokens, compared with Swift and with a straightforward verifier in Node: `make bench` runs it
with the figures of TenderBench on standard input.

    TenderBench … | python3 Benchmarks/bindings.py VECTORS.json [SECONDS]
"""

import base64
import datetime
import json
import pathlib
import re
import resource
import subprocess
import sys
import time

BEGIN = time.perf_counter()
from apple_pay_token import Key, Keys  # noqa: E402  its time is measured

BATCH = 50


def report(name, value, unit, bar=None):
    print(f"bench: {name} {value:.3f} {unit}" if value < 10 else f"bench: {name} {value:.1f} {unit}")
    if bar is not None and value < bar:
        print(f"missed: {name}, the bar is {bar} or more")


def main():
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 5
    group = json.loads(pathlib.Path(sys.argv[1]).read_text("utf-8"))["testGroups"][0]
    vector = next(test for test in group["tests"] if test["name"] == "ec-v1")
    begin = time.perf_counter()
    keys = Keys([Key(group["privateKey"], merchant_identifier=group["merchantIdentifier"])], environment="simulated",
                root=group["root"])
    token = base64.b64decode(vector["token"])
    at = datetime.datetime.fromisoformat(vector["at"].replace("Z", "+00:00"))
    keys.decrypt(token, at=at)
    report("token.ec.python.start", (IMPORTED - BEGIN + time.perf_counter() - begin) * 1000, "ms")
    best, end = 0.0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(BATCH):
            assert keys.decrypt(token, at=at).amount == 1250
        best = max(best, BATCH / (time.perf_counter() - start))
    report("token.ec.python.rate", best, "tokens/s/core")
    report("token.ec.python.memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000, "MB")
    node = subprocess.run(["node", "Benchmarks/straightforward.mjs", sys.argv[1], str(seconds)], capture_output=True, text=True)
    print(node.stdout, end="")
    swift = "" if sys.stdin.isatty() else sys.stdin.read()
    for name, text, pattern, bar in [
            ("token.ec.python.of-swift", swift, r"token\.ec\.cached\.rate ([0-9.]+)", 0.85),
            ("token.ec.python.of-node", node.stdout, r"token\.ec\.node\.rate ([0-9.]+)", 2.5)]:
        found = re.search(pattern, text)
        if found:
            report(name, best / float(found[1]), "ratio", bar)


IMPORTED = time.perf_counter()
main()
