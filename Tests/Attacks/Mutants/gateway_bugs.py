#!/usr/bin/python3
"""gateway-bugs [COUNT | TEXT…]: applies bugs, one at a time, to a copy of the gateway's modules, and runs the tests that
must detect each. Without an argument all bugs; COUNT of them, different ones each day; or those with a TEXT in their name
or in that of a test. Tests of what several processes do at the same moment run on PostgreSQL too.

The copy is built on its own, in .build/gateway-bugs, so that no bug can reach a release. It has only the tests of these
modules. The first build takes about eight minutes, and each bug half a minute.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
from gateway import MUTANTS  # noqa: E402
from mutation import chosen, detected  # noqa: E402

place = root / ".build" / "gateway-bugs"
lab = place / "lab"
swift = ["--package-path", str(lab), "--scratch-path", str(place / "build")]
TESTS = ["StorageTests", "LedgerTests", "AcquiringTests", "GatewayTests", "OrdersTests", "MerchantIdentityTests"]


def copy():
    shutil.rmtree(lab, ignore_errors=True)
    for folder in ("Sources", "Tests", "Plugins", "Benchmarks", "Web"):
        shutil.copytree(root / folder, lab / folder, symlinks=True, ignore=shutil.ignore_patterns(".build", "node_modules"))
    manifest = (root / "Package.swift").read_text(encoding="utf-8")
    # A bug may leave something unused.
    manifest = manifest.replace("  .treatAllWarnings(as: .error),\n", "")
    tests = ", ".join(f'"{name}"' for name in TESTS)
    manifest += f"\npackage.targets.removeAll {{ $0.type == .test && ![{tests}].contains($0.name) }}\n"
    (lab / "Package.swift").write_text(manifest, encoding="utf-8")


def build():
    return subprocess.run(["swift", "build", "-q", *swift, "--product", "tenderPackageTests"], capture_output=True, text=True)


def results(tests):
    """Whether each test passed; of several of one name, whether all did. A test that did not finish is missing."""
    command = ["swift", "test", *swift, "--skip-build"]
    for test in tests:
        command += ["--filter", re.escape(test.split("/", 1)[1])]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=180,
                             env={**os.environ, "SWIFT_BACKTRACE": "enable=no"})
    except subprocess.TimeoutExpired:
        return {}
    ended = re.findall(r'Test "(.+?)" .*?(passed|failed) after', run.stdout + run.stderr)
    names, failed = {name for name, _ in ended}, {name for name, end in ended if end == "failed"}
    return {test: test.split("/", 1)[1] not in failed for test in tests if test.split("/", 1)[1] in names}


def failing(tests):
    """The tests that do not pass; those that crash or hang count too."""
    passed = results(tests)
    return {test for test in tests if not passed.get(test)}


def main():
    mutants = chosen(MUTANTS)
    copy()
    built = build()
    tests = [test for mutant in MUTANTS for test in mutant[-1]]
    if built.returncode != 0 or failing(tests):
        sys.exit(f"gateway-bugs: the tests fail without a mutant\n{built.stdout}{built.stderr}{sorted(failing(tests))}")
    violations = [mutant for mutant in mutants if not detected(lab / "Sources", mutant, build, failing)]
    print(f"gateway-bugs: {len(mutants)} runs, {len(violations)} violations")
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    if "POSTGRES_UNDER_TEST" not in os.environ:
        os.execv(root / "scripts/with-postgres", ["with-postgres", sys.executable, *sys.argv])
    main()
