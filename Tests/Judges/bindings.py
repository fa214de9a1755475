#!/usr/bin/python3
"""Judges the C library, the Python wheel and the socket as their users have them: scripts/test-bindings builds what this needs.

    Tests/Judges/bindings.py TENDER C-LIBRARY WHEEL-FOLDER [MUTANTS]

Every sample must print the same payment, and refuse it the second time.
"""

import base64
import datetime
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "Examples/tokens"
VECTORS = ROOT / "Tests/Support/Vectors/apple-pay-token/vectors.json"
PAID = "paid 1250 EUR, card 0012, until 311231"
REPLAY = "refused: token_already_used: A payment token pays once. Ask the shopper for a new one."
LANGUAGES = {
    "Python": ["/usr/bin/python3", "open_token.py"], "Ruby": ["ruby", "open_token.rb"], "PHP": ["php", "open_token.php"],
    "Node": ["node", "open_token.mjs"], "Go": ["go", "run", "open_token.go"], "Java": ["java", "OpenToken.java"],
}
TEN_LINES = """
from apple_pay_token import Key, Keys, ReplayError
import datetime, sys
key = Key(open("key.pem").read(), merchant_identifier="merchant.test.tender")
keys = Keys([key], environment="simulated", root=open("root.pem").read())
at = datetime.datetime(2025, 6, 15, 15, 6, 50, tzinfo=datetime.timezone.utc)
payment = keys.decrypt(open("ec-v1.json", "rb").read(), at=at)
payment.confirm(1250, "EUR", application_data=None)
keys.spend(payment)
print("paid", payment.amount, payment.currency + ", card", payment.account_number[-4:] + ", until", payment.expiry)
try: keys.spend(keys.decrypt(open("ec-v1.json").read(), at=at))
except ReplayError as refusal: print(f"refused: {refusal.code}: {refusal.advice}")
"""
failures = []


def claim(name, holds, detail=""):
    print(f"{'passed' if holds else 'FAILED'}: {name}{'' if holds else f': {detail}'}", flush=True)
    if not holds:
        failures.append(name)


def run(*command, cwd=None, env=None, text=None):
    result = subprocess.run([str(word) for word in command], cwd=cwd, env={**os.environ, **(env or {})}, input=text,
                            capture_output=True, text=True)
    return result.returncode, result.stdout.splitlines(), result.stderr


def fixtures(place):
    """The merchant of the vectors and some of its tokens, as files."""
    group = json.loads(VECTORS.read_text("utf-8"))["testGroups"][0]
    (place / "key.pem").write_text(group["privateKey"])
    (place / "key.pem").chmod(0o600)
    (place / "root.pem").write_text(group["root"])
    key = {"privateKey": group["privateKey"], "merchantIdentifier": group["merchantIdentifier"]}
    (place / "settings.json").write_text(json.dumps({"keys": [key], "environment": "simulated", "root": group["root"]}))
    tests = {test["name"]: test for test in group["tests"]}
    for name in ("ec-v1", "ec-v1-2014", "ec-v1-2023", "application-data", "emv"):
        (place / f"{name}.json").write_bytes(base64.b64decode(tests[name]["token"]))
    at = tests["ec-v1"]["at"]
    return at, int(datetime.datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp())


def c_library(place, library, seconds, mutants):
    env = {"PKG_CONFIG_PATH": f"{library}/lib/pkgconfig", "LD_LIBRARY_PATH": f"{library}/lib"}
    _, flags, _ = run("pkg-config", "--cflags", "--libs", "applepaytoken", env=env)
    flags = " ".join(flags).split()
    code, _, problem = run("cc", "-Wall", "-Wextra", "-Werror", SAMPLES / "open_token.c", *flags, "-o", place / "open_token")
    claim("the C sample compiles with what pkg-config says", code == 0, problem)
    code, lines, _ = run("./open_token", "settings.json", 1250, "EUR", seconds, "ec-v1.json", "ec-v1.json", cwd=place, env=env)
    claim("the C sample pays once", code == 1 and lines == [PAID, REPLAY], lines)
    code, lines, _ = run("./open_token", "settings.json", 1251, "EUR", seconds, "ec-v1.json", cwd=place, env=env)
    claim("the C sample refuses another amount", code == 1 and lines[0].startswith("refused: amount_mismatch"), lines)
    boundary(place, flags, env, seconds, mutants)


def boundary(place, flags, env, seconds, mutants, options=()):
    source = ROOT / "Tests/Attacks/TokenBoundary/boundary.c"
    compiler = "clang" if options else "cc"
    code, _, problem = run(compiler, "-O1", "-g", *options, "-Wall", "-Wextra", "-Werror", source, *flags, "-lpthread", "-o",
                           place / "boundary")
    claim("the boundary's driver compiles", code == 0, problem)
    tokens = sorted(str(path) for path in place.glob("*v1*.json")) + [str(place / "application-data.json")]
    code, lines, problem = run("./boundary", "settings.json", seconds, mutants, 4, 1, *tokens, cwd=place, env=env)
    claim(f"{mutants} mutants through the C boundary by four threads: {' '.join(lines)}", code == 0, problem[-3000:])


def wheel(place, folder):
    found = sorted(folder.glob("*.whl"))
    claim("there is one wheel", len(found) == 1, found)
    run("/usr/bin/python3", "-m", "venv", "--system-site-packages", place / "venv")
    python = place / "venv/bin/python"
    code, _, problem = run(python, "-m", "pip", "install", "--quiet", "--no-index", found[0], cwd=place)
    claim("the wheel installs into a fresh environment", code == 0, problem)
    code, lines, problem = run(python, "-c", TEN_LINES, cwd=place, env={"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": ""})
    claim("ten lines of Python open a payment and refuse a replay", lines == [PAID, REPLAY], problem or lines)
    code, lines, _ = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", ROOT / "Bindings/python/tests", cwd=place,
                         env={"APPLE_PAY_TOKEN_VECTORS": str(VECTORS)})
    claim(f"the wheel's tests, over every vector: {lines[-1] if lines else ''}", code == 0, "\n".join(lines[-20:]))
    shutil.unpack_archive(next(folder.glob("*.tar.gz")), place)
    source = next(place.glob("apple_pay_token-*"))
    code, _, problem = run(python, "-c", "import _build; _build.build_wheel('.')", cwd=source,
                           env={"APPLE_PAY_TOKEN_LIBRARY": "/nowhere", "PKG_CONFIG_PATH": ""})
    claim("the source distribution says what it needs", code != 0 and "make c-library" in problem, problem)


def samples(place, tender, at):
    for name, command in LANGUAGES.items():
        if shutil.which(command[0]) is None:
            claim(f"{name} is installed", False, "scripts/install-prerequisites bindings")
            continue
        server = subprocess.Popen([tender, "token", "serve", "--socket", "tokens.sock", "--key", "key.pem", "--merchant-id",
                                   "merchant.test.tender", "--root", "root.pem"], cwd=place, stdout=subprocess.PIPE, text=True)
        try:
            server.stdout.readline()
            printed = [run(*command, place / "tokens.sock", place / "ec-v1.json", 1250, "EUR", "", at, cwd=SAMPLES)
                       for _ in range(2)]
            claim(f"the sample in {name} pays once", [lines for _, lines, _ in printed] == [[PAID], [REPLAY]], printed)
            claim(f"the sample in {name} ends with 0 and 1", [code for code, _, _ in printed] == [0, 1], printed)
        finally:
            server.terminate()
            server.wait()


def verdicts(place, tender):
    """The socket's verdict of every vector. The wheel's tests have that of the C library."""
    wrong, count = [], 0
    for group in json.loads(VECTORS.read_text("utf-8"))["testGroups"]:
        (place / "group.pem").write_text(group["privateKey"])
        (place / "group.pem").chmod(0o600)
        server = subprocess.Popen([tender, "token", "serve", "--socket", "group.sock", "--key", "group.pem", "--merchant-id",
                                   group["merchantIdentifier"], "--root", "root.pem"], cwd=place, stdout=subprocess.PIPE,
                                  text=True)
        server.stdout.readline()
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(place / "group.sock"))
                lines = connection.makefile("rw", encoding="utf-8")
                for test in group["tests"]:
                    print(json.dumps({"call": "decrypt", "token": test["token"], "at": test["at"]}), file=lines, flush=True)
                    answer = json.loads(lines.readline())
                    found = answer["paymentData"] if answer["verified"] else [answer["stage"], answer["code"]]
                    wanted = [test["stage"], test["code"]] if test["result"] == "invalid" else json.loads(test["paymentData"])
                    count, wrong = count + 1, wrong + ([test["name"]] if found != wanted else [])
        finally:
            server.terminate()
            server.wait()
    claim(f"the socket's verdict is the expected one for {count} vectors", count and not wrong, wrong)


def judged(tender):
    """The faults of a reader that checks neither signature nor tag, and those of the package of PyPI where it is there."""
    readers = {"no-tag.mjs": (["node", ROOT / "Tests/Judges/peers/no-tag.mjs"], {"Changed", "NotApple", "Window", "Tag"})}
    code, _, _ = run("/usr/bin/python3", "-c", "import applepay")
    if code == 0:
        peer = ["/usr/bin/python3", ROOT / "Tests/Judges/peers/pypi_applepay.py"]
        readers["applepay 0.3.0"] = (peer, {"Changed", "NotApple", "Window", "Signature"})
    for name, (command, faults) in readers.items():
        _, lines, problem = run(tender, "token", "judge", "--json", *(f"--flag={flag}" for flag in sorted(faults)), "--", *command,
                                cwd=ROOT)
        findings = json.loads(lines[0])["findings"] if lines else []
        found = {flag for finding in findings if finding["finding"] == "accepted wrongly" for flag in finding["flags"]}
        claim(f"the judge finds what {name} accepts wrongly", faults <= found, problem or faults - found)


def main():
    tender, library, folder = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    with tempfile.TemporaryDirectory(prefix="tender-bindings-") as name:
        place = pathlib.Path(name)
        at, seconds = fixtures(place)
        c_library(place, library, seconds, int(sys.argv[4]) if len(sys.argv) > 4 else 2_000)
        wheel(place, folder)
        samples(place, tender, at)
        verdicts(place, tender)
        judged(tender)
    print(f"bindings: {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
