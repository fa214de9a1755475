#!/usr/bin/python3
"""seeded-bugs [COUNT | TEXT…]: applies bugs, one at a time, to a copy of the payment token's modules, and runs the
conformance vectors, which must detect each. Without an argument all bugs; COUNT of them, different ones each day; or those
with a TEXT in their name.

The copy is built on its own (Tests/Attacks/TokenLab), so that no bug can reach a release.
"""

import os
import pathlib
import shutil
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(root / "Tests/Attacks/TokenLab/Bugs"))
sys.dont_write_bytecode = True
from bugs import MUTANTS  # noqa: E402
from mutation import chosen, detected  # noqa: E402

place = root / ".build" / "seeded-bugs"
lab = place / "lab"


def copy():
    shutil.rmtree(lab, ignore_errors=True)
    shutil.copytree(root / "Tests/Attacks/TokenLab", lab, ignore=shutil.ignore_patterns("Corpus", "Bugs", ".build"))


def build():
    command = ["swift", "build", "-q", "--package-path", str(lab), "--scratch-path", str(place / "build"),
               "--product", "run-vectors"]
    return subprocess.run(command, capture_output=True, text=True)


def failing(_=None):
    """The names of the vectors whose result is wrong; `crash` for a crash."""
    program = place / "build" / "debug" / "run-vectors"
    run = subprocess.run([program, root / "Tests/Support/Vectors/apple-pay-token"], capture_output=True, text=True,
                         env={**os.environ, "SWIFT_BACKTRACE": "enable=no"})
    return set(run.stdout.split()) if run.returncode in (0, 1) else {"crash"}


def main():
    mutants = chosen(MUTANTS)
    copy()
    built = build()
    if built.returncode != 0 or failing():
        sys.exit(f"seeded-bugs: the vectors fail without a mutant\n{built.stdout}{built.stderr}{sorted(failing())}")
    violations = [mutant for mutant in mutants if not detected(lab / "Sources", mutant, build, failing)]
    print(f"seeded-bugs: {len(mutants)} runs, {len(violations)} violations")
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
