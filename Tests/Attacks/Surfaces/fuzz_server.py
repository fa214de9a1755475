#!/usr/bin/python3
"""Hostile requests to every surface of a running server: scripts/attack fuzz_server MINUTES [--seed N] [SURFACE…]

Each surface gets a server with a store of its own for so many minutes. A finding is a request that ends the process, costs more than
50 ms of its processor time (500 ms in a debug build), gets no answer, or a 500. After a crash the server is started again and the fuzzer
goes on. Findings are made as small as possible and kept in .build/fuzz-server/SURFACE: the bytes as they were sent, and what they did.

The surfaces are the functions of Tests/Attacks/Surfaces/surfaces.py. $CONFIGURATION says which build runs.
"""
import collections, os, random, re, shutil, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(HERE + "/../../..")
os.chdir(ROOT)
from judge import Finding, Judge  # noqa: E402
from surfaces import ALL  # noqa: E402
from system import Agent, System  # noqa: E402

# As many findings of a surface are made small and kept. After that it is broken enough.
MOST = 40


class Run:
    """One surface for some minutes."""

    def __init__(self, name, seed, directory):
        self.name, self.dice, self.found = name, random.Random(f"{name} {seed}"), []
        self.folder = f"{ROOT}/.build/fuzz-server/{name}"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.system = System(directory)
        self.recent, self.read_log = collections.deque(maxlen=20), 0

    def prepare(self):
        self.system.open()
        self.requests, address = ALL[self.name](self.system)
        attacked = Agent(self.system) if self.name == "key-agent" else self.system
        if attacked is not self.system:
            attacked.restart()
        process = (lambda: attacked.process) if attacked is not self.system else (lambda: self.system.server)
        self.judge = Judge(process, attacked.restart, address)
        self.judge.until_idle()

    def good(self):
        """Sends the good requests as they are, and says what is answered: a surface whose every answer is a refusal is not tested."""
        for request in self.requests:
            self.look(request.made())
        return dict(sorted(self.judge.statuses.items()))

    def attack(self, end):
        while time.monotonic() < end and len(self.found) < MOST:
            request = self.dice.choice(self.requests).made(self.dice)
            # The cost of a longer one has no limit.
            if len(request.body) < 1 << 20:
                self.look(request)
            self.stay_signed_in()

    def look(self, request):
        if self.judge.has_ended():
            self.keep(Finding("crash", self.recent[-1], "the process had ended before the next request"), is_small=True)
            self.judge.restart()
        self.recent.append(request)
        finding = self.judge.judge(request)
        if finding:
            self.keep(finding)
            if self.judge.has_ended():
                self.judge.restart()

    def stay_signed_in(self):
        """A request may have ended the session."""
        if self.name in ("office", "merchant-files", "reports") and self.judge.runs % 200 == 0 and self.system.load("GET", "/")[0] != 200:
            self.system.sign_in()
            self.requests = ALL[self.name](self.system)[0]

    def keep(self, finding, is_small=False):
        # One of each kind for what the process said about it, or else for each route.
        words = self.last_words()
        sign = (finding.kind, words or finding.request.name.split(":")[0])
        if sign in self.found:
            return
        if not is_small:
            finding = self.judge.shrunk(finding)
        self.found.append(sign)
        os.makedirs(self.folder, exist_ok=True)
        place = f"{self.folder}/{len(self.found):02}-{finding.kind}"
        with open(place, "wb") as file:
            file.write(finding.request.before + finding.request.bytes())
        with open(place + ".txt", "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{finding}\n{words}\n")
        print(f"  {os.path.relpath(place)}: {str(finding).encode('ascii', 'backslashreplace').decode()[:300]}", flush=True)

    def last_words(self):
        """What the processes have printed of errors since the last finding; a trap names its line in a debug build."""
        with open(self.system.directory + "/log", "rb") as file:
            file.seek(self.read_log)
            lines = file.read().decode("utf-8", "replace").splitlines()
            self.read_log = file.tell()
        texts = [re.search(r'"error":"(.*?)"[,}]', line) for line in lines if '"level":"error"' in line]
        return "\n".join([line for line in lines if "Fatal error" in line] + [text[1] for text in texts if text][-1:])[:400]


def run(name, minutes, seed):
    with tempfile.TemporaryDirectory(prefix="tender-fuzz-") as directory:
        run = Run(name, seed, directory)
        try:
            run.prepare()
            print(f"{name}: good requests are answered {run.good()}", flush=True)
            run.attack(time.monotonic() + minutes * 60)
        finally:
            run.system.kill_all()
            if run.name == "key-agent" and hasattr(run, "judge"):
                run.system.end(run.judge.process())
    print(f"fuzz-server: {name}: {run.judge.runs} requests, answered {dict(sorted(run.judge.statuses.items()))}, {len(run.found)} findings", flush=True)
    return len(run.found)


def main():
    words = sys.argv[1:]
    seed = int(words.pop(words.index("--seed") + 1)) if "--seed" in words else random.SystemRandom().randrange(2**31)
    words = [word for word in words if word != "--seed"]
    if not words or not re.fullmatch(r"\d+(\.\d+)?", words[0]) or set(words[1:]) - set(ALL):
        sys.exit(f"fuzz-server MINUTES [--seed N] [SURFACE…]: the surfaces are {', '.join(ALL)}")
    print(f"fuzz-server: seed {seed}")
    found = sum(run(name, float(words[0]), seed) for name in words[1:] or ALL)
    print(f"fuzz-server: {found} findings on {len(words[1:] or ALL)} surfaces")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
