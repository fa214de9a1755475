#!/usr/bin/python3
"""Restarts and upgrades the server while shoppers pay, and fails when a call is refused or cut:

    scripts/attack restarts [RESTARTS [--without-socket]]

The script holds the listening socket, as systemd does with tender.socket, and hands it to each server. Half of the
restarts start the next server before the one before is told to end: it waits for the store. Every third server is a
version to come, a test build with one more expanding migration, so that the store goes forth and back.

Some shoppers open a connection for each call: none of their calls may fail. Others keep one for their payments, and may
repeat a call once when it is closed. Some open their sheet before a restart and pay after it. The auditor checks the
files. --without-socket tests the test: the server listens by itself, and calls must fail.

SEED=7        the seed
SHOPPERS=6    the number of shoppers
"""
import http.client, json, os, random, shutil, signal, socket, sqlite3, subprocess, sys, tempfile, threading, time

from deployment import BINARIES, DECRYPTED, STILL, TROUBLE, Deployment, Journal, call
import free_ports
from shoppers import Shopper
from verdict import verify

WORDS = [word for word in sys.argv[1:] if not word.startswith("-")]
RESTARTS = int(WORDS[0]) if WORDS else 20
HOLDS = "--without-socket" not in sys.argv
SEED = int(os.environ.get("SEED", "1"))
SHOPPERS = int(os.environ.get("SHOPPERS", "6"))


def say(*words):
    print("restarts:", *words, flush=True)


class Activated(Deployment):
    """A server that is started with its listening socket."""

    def __init__(self, directory):
        super().__init__(directory, DECRYPTED)
        self.count, self.slow, self.dice, self.started = 0, 0, random.Random(SEED), []
        self.office = free_ports.row(2)
        ports = {"http": self.port, "office": self.office, "metrics": self.office + 1}
        self.sockets = {name: socket.create_server(("127.0.0.1", port), backlog=4096)
                        for name, port in ports.items()} if HOLDS else {}

    def configuration(self):
        return super().configuration() + (
            f"backOffice:\n  port: {self.office}\nmetrics:\n  port: {self.office + 1}\n")

    def start(self, later=False):
        """Starts a server of this version, or of the one to come."""
        program = [f"{BINARIES}/crashing-server"] if later else [f"{BINARIES}/tender", "serve"]
        words = [*program, "--config", "tender.yaml"]
        variables = {"NEXT_VERSION": "yes"} if later else {}
        # Half of them announce the end of kept connections for a while.
        variables["TENDER_DRAIN_SECONDS"] = str(self.count % 2)
        # As systemd does: the first descriptor is 3, and the process that uses them is named.
        held = [held.fileno() for held in self.sockets.values()]
        script = "".join(f"exec {place + 3}<&{number}; " for place, number in enumerate(held))
        if held:
            script += f"export LISTEN_PID=$$ LISTEN_FDS={len(held)} LISTEN_FDNAMES={':'.join(self.sockets)}; "
        process = subprocess.Popen(
            ["bash", "-c", script + 'exec "$@"', "bash", *words], stdout=self.log, stderr=self.log, cwd=self.directory,
            pass_fds=held, env={**os.environ, "LD_PRELOAD": self.shim("shifted-clock"),
                                "SHIFTED_CLOCK": self.clock.path, **variables})
        self.started.append(process)
        return process

    def kill_all(self):
        for process in self.started:
            self.end(process)
        super().kill_all()

    def serve(self, later=False):
        self.server = self.start(later)
        self.wait_for(self.server, self.base, "/readyz", "the server")

    def restart(self, later, overlaps):
        """Ends the server as systemd does and starts the next one. Returns the seconds until that one answers."""
        before, begin = self.server, time.monotonic()
        after = self.start(later) if overlaps else None
        if overlaps:
            time.sleep(self.dice.uniform(0, 0.5))
        before.send_signal(signal.SIGTERM)
        if before.wait(STILL) != 0:
            raise SystemExit(f"a server ended with {before.returncode}; see {self.directory}/log")
        self.server = after or self.start(later)
        self.count += 1
        self.wait_for(self.server, self.base, "/readyz", "the server")
        for port in [self.office, self.office + 1]:
            path = "/metrics" if port > self.office else "/sign-in"
            self.wait_for(self.server, f"http://127.0.0.1:{port}", path, "a listener")
        return time.monotonic() - begin

    def token(self, sheet):
        """Every fourth shopper leaves the sheet open until the server was restarted."""
        if self.accepts_shoppers.is_set() and self.dice.random() < 0.25:
            begin, end = self.count, time.monotonic() + 30
            while self.count == begin and time.monotonic() < end and self.accepts_shoppers.is_set():
                time.sleep(0.05)
            self.slow += self.count > begin
        return super().token(sheet)


class SteadyShopper(Shopper):
    """Opens a connection for each call. A call that fails is an error, and is repeated so that the shopper goes on."""

    failed = 0

    def until(self, ask):
        while True:
            try:
                status, body = ask()
                if status < 500 or body["code"] == "acquirer_unreachable":
                    return status, body
                self.fails(f"was answered {status} {body}")
            except (*TROUBLE, TypeError, KeyError) as trouble:
                self.fails(f"failed: {trouble!r}")
            time.sleep(0.05)

    def fails(self, words):
        self.failed += 1
        if HOLDS:
            self.wrong.append(f"a call {words}")


class KeptShopper(SteadyShopper):
    """Keeps a connection for payments. A call is sent once more, on a new connection, when the server closed the old
    one: the payment token is the same, so that nothing is doubled."""

    connection, repeats, announced = None, 0, 0

    def send(self, order):
        is_old = self.connection is not None
        try:
            return self.exchange(order)
        except TROUBLE:
            if not is_old:
                raise
            self.repeats += 1
            return self.exchange(order)

    def exchange(self, order):
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.deployment.port, timeout=STILL)
        try:
            self.connection.request(
                "POST", "/applepay/payment", json.dumps(order), {"Content-Type": "application/json"})
            answer = self.connection.getresponse()
            text = answer.read()
        except TROUBLE:
            self.connection.close()
            self.connection = None
            raise
        if answer.getheader("Connection") == "close":
            self.announced += 1
            self.connection.close()
            self.connection = None
        return answer.status, json.loads(text)


def activated_by_systemd(deployment):
    """The errors of a server that systemd's own tool starts at the first connection."""
    if not HOLDS or not shutil.which("systemd-socket-activate"):
        return []
    port = free_ports.row(3)
    listening = [word for number in range(3) for word in ("-l", f"127.0.0.1:{port + number}")]
    tool = subprocess.Popen(
        ["systemd-socket-activate", *listening, "--fdname=http:office:metrics", "-E", "SWIFT_BACKTRACE",
         "-E", "XDG_RUNTIME_DIR", f"{BINARIES}/tender", "serve", "--config", "tender.yaml"],
        stdout=deployment.log, stderr=deployment.log, cwd=deployment.directory)
    try:
        for _ in range(STILL * 20):
            try:
                status = call(f"http://127.0.0.1:{port}", "GET", "/readyz")[0]
                break
            except ConnectionRefusedError:  # The tool does not listen yet.
                time.sleep(0.05)
        tool.send_signal(signal.SIGTERM)
        ended = tool.wait(STILL)
        say(f"systemd-socket-activate: /readyz {status}, ended with {ended}")
        return [] if (status, ended) == (200, 0) else ["systemd-socket-activate does not start a server that serves"]
    finally:
        deployment.end(tool)


def has_next_version(deployment):
    store = sqlite3.connect(f"file:{deployment.store}?mode=ro", uri=True)
    try:
        return store.execute("SELECT count(*) FROM migrations WHERE name = 'next-version-1'").fetchone()[0] == 1
    finally:
        store.close()


def run(deployment):
    """The errors, and the calls that failed."""
    faults, closing = [], threading.Event()
    deployment.open()
    faults += activated_by_systemd(deployment)
    deployment.serve()
    journal = Journal(deployment.directory + "/client.jsonl")
    shoppers = [(KeptShopper if number % 3 == 2 else SteadyShopper)(deployment, journal, SEED * 1000 + number, closing)
                for number in range(SHOPPERS)]
    for shopper in shoppers:
        shopper.start()
    pauses = []
    for number in range(RESTARTS):
        time.sleep(deployment.dice.uniform(0.3, 1.5))
        pauses.append(deployment.restart(later=number % 3 == 1, overlaps=HOLDS and number % 2 == 0))
    time.sleep(1)
    closing.set()
    deployment.accepts_shoppers.clear()
    if not deployment.all_answered(shoppers):
        faults.append("a shopper has no final answer")
    faults += [wrong for shopper in shoppers for wrong in shopper.wrong]
    failed = sum(shopper.failed for shopper in shoppers)
    if deployment.settle() is None:
        faults.append("an outcome is still unknown")
    deployment.collect()
    kept = [shopper for shopper in shoppers if isinstance(shopper, KeptShopper)]
    pauses.sort()
    say(f"{RESTARTS} restarts, each until the next server answers {pauses[len(pauses) // 2]:.2f} s (median), "
        f"{pauses[-1]:.2f} s (longest)")
    say(f"{sum(s.paid for s in shoppers)} of {sum(s.asked for s in shoppers)} payments were a success, "
        f"{sum(s.moved for s in shoppers)} captures, voids and refunds; {failed} calls failed")
    say(f"{sum(s.announced for s in kept)} kept connections ended as announced, {sum(s.repeats for s in kept)} "
        f"payments were sent once more; {deployment.slow} sheets were open across a restart")
    if RESTARTS > 1 and not has_next_version(deployment):
        faults.append("the version to come has not migrated the store")
    if not deployment.slow:
        faults.append("no sheet was open across a restart")
    if not verify(deployment, shoppers):
        faults.append("the auditor objects")
    return faults, failed


def main():
    begin, directory = time.monotonic(), tempfile.mkdtemp(prefix="tender-restarts-")
    deployment = Activated(directory)
    try:
        faults, failed = run(deployment)
    finally:
        deployment.kill_all()
    if not HOLDS and not failed:
        faults.append("no call failed, although nobody held the socket")
    for fault in faults[:20]:
        say(fault)
    if faults:
        say(f"its files are in {directory}")
    else:
        shutil.rmtree(directory)
    say(f"{RESTARTS} restarts{'' if HOLDS else ' without a socket'}, {len(faults)} violations, "
        f"{time.monotonic() - begin:.0f} s, SEED={SEED}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
