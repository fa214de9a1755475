#!/usr/bin/python3
"""Runs the claims of `Tests/Browser/*_*.py` about a running `tender-sandbox demo`, in real browsers.

    run.py --port 8400 --home DIR --tender PROGRAM [--artifacts DIR] [--only TEXT] [--short] [--browsers N]

`home` is the directory in which the demo was started. Needs Debian's packages chromium, chromium-driver and
python3-selenium; scripts/install-prerequisites brings them. `--short` runs the claims of short.txt, which cross every
module between the page and the acquirer. Prints one line a claim, PASS or FAIL, and at the end those that failed with
their traces and `N passed, N failed`; exits 1 if one failed. A claim that failed leaves a picture, `failed-….png`, and
its trace in `failures.txt`; how long each file took is in `times.txt`.
"""

import argparse
import collections
import pathlib
import queue
import shutil
import sys
import threading

import claims
from demo import Demo
from shopper import Shopper


class Runner:
    """The browsers, the claims that wait for one, and the results."""

    def __init__(self, demo, artifacts, waiting):
        self.demo = demo
        self.artifacts = artifacts
        self.waiting = queue.SimpleQueue()
        for batch in claims.batches(waiting):
            self.waiting.put(batch)
        self.results = []
        self.lock = threading.Lock()

    def run_all(self, browsers):
        threads = [threading.Thread(target=self.work) for _ in range(browsers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def work(self):
        shopper = Shopper(self.demo, self.artifacts)
        try:
            while True:
                for claim in self.waiting.get_nowait():
                    self.run_one(claim, shopper)
        except queue.Empty:
            pass
        finally:
            shopper.quit()

    def run_one(self, claim, shopper):
        result = claims.run(claim, shopper, self.demo)
        if result.error and claim.browser:
            self.show(shopper, claim)
        self.report(result)

    def show(self, shopper, claim):
        if shopper.revive():
            shopper.picture(f"failed-{claim.id}")

    def report(self, result):
        with self.lock:
            self.results.append(result)
            print(result.line, flush=True)
            if result.trace:
                with (self.artifacts / "failures.txt").open("a", encoding="utf-8") as file:
                    file.write(f"{result.claim.module}: {result.claim.name}\n{result.trace}\n")

    def times(self):
        """Seconds of browser time by file, the longest first."""
        modules = collections.defaultdict(list)
        for result in self.results:
            modules[result.claim.module].append(result.seconds)
        rows = sorted(modules.items(), key=lambda row: -sum(row[1]))
        return "".join(f"{sum(seconds):8.1f} s {len(seconds):5} claims  {module}\n" for module, seconds in rows)


def ledgers_agree(demo):
    """The last claim of every run: our journal and the acquirer's ledger agree on all payments of the other claims."""
    demo.must_agree()


def selected(is_short):
    """All claims, or those of short.txt. A name there that no claim has is an error."""
    all_claims = claims.discover()
    if not is_short:
        return all_claims
    found = {f"{claim.module}.{claim.id}": claim for claim in all_claims}
    names = (claims.HERE / "short.txt").read_text(encoding="utf-8").split()
    missing = [name for name in names if name not in found]
    if missing:
        raise SystemExit(f"short.txt: no claim is called {', '.join(missing)}")
    return [found[name] for name in names]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--port", type=int, required=True, help="the demo's port")
    arguments.add_argument("--home", type=pathlib.Path, required=True, help="where the demo was started")
    arguments.add_argument("--tender", default=shutil.which("tender"), help="the program")
    arguments.add_argument("--artifacts", type=pathlib.Path, default="artifacts/browser", help="where pictures go")
    arguments.add_argument("--only", default="", help="run the claims whose file or name holds this text")
    arguments.add_argument("--short", action="store_true", help="run the claims of short.txt")
    arguments.add_argument("--browsers", type=int, default=3, help="how many at once; claims wait more than "
                           "they compute")
    options = arguments.parse_args()
    options.artifacts.mkdir(parents=True, exist_ok=True)
    demo = Demo(options.port, options.home, options.tender)
    wanted = [claim for claim in selected(options.short) if options.only in f"{claim.module}.{claim.id}"]
    runner = Runner(demo, options.artifacts, wanted)
    runner.run_all(min(options.browsers, max(1, len(wanted))))
    runner.report(claims.run(claims.Claim(ledgers_agree, browser=False), None, demo))
    (options.artifacts / "times.txt").write_text(runner.times(), encoding="utf-8")
    failed = [result for result in runner.results if result.error]
    for result in failed:
        print(f"{result.line}\n{result.trace}")
    print(f"{len(runner.results) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
