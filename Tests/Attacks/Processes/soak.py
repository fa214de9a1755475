#!/usr/bin/python3
"""Lets shoppers pay for hours, with faults, and judges whether memory, descriptors, threads and the store stay flat:

    scripts/attack soak [MINUTES]

It goes on with the store that the last run left, in .build/soak; FRESH=yes begins with a new one. The time is cut into
stretches. In a stretch the server lives: the acquirer and the merchant's server are killed meanwhile, the server is held up,
and callers hang up on it. At the end of a stretch the server is killed or ended, a day passes on its clock, and it starts
again on its store; sixteen minutes later it removes what is older than the limits of retention, where a stretch lasts so long:
in a run of an hour or more.

In each stretch the last third is compared with the first one after the start, and at the end the last stretches with the first
ones. Growth beyond the bounds below fails the run, and so does the auditor. Before, made-up measurements that grow must fail.

SEED=7        the dice
SHOPPERS=4    how many pay
"""
import glob, json, os, random, re, shutil, signal, socket, sqlite3, statistics, subprocess, sys, threading, time

from deployment import BINARIES, TROUBLE, Deployment, Journal
from shoppers import Shopper
from verdict import verify

MINUTES = float(sys.argv[1]) if len(sys.argv) > 1 else 10
SEED = int(os.environ.get("SEED", "1"))
SHOPPERS = int(os.environ.get("SHOPPERS", "4"))
HOME = os.path.abspath(".build/soak")
DAY = 86_400
# Seconds between two samples, and at the beginning of a stretch, in which caches fill, without one.
PAUSE, WARMING = 2, 0.25
# What may be added: so many parts of the first value, and so much.
BOUNDS = {"memory, MB": (0.10, 12), "descriptors": (0.10, 24), "threads": (0, 6)}
# By how much a payment may take more of the store than one did in the first half of the run.
GROWTH = 1.25


def say(*words):
    print("soak:", *words, flush=True)


def sample(process):
    """What the process has now; nothing when it has ended."""
    try:
        status = open(f"/proc/{process.pid}/status").read()
        memory = int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024
        threads = int(re.search(r"Threads:\s+(\d+)", status)[1])
        return {"memory, MB": memory, "descriptors": len(os.listdir(f"/proc/{process.pid}/fd")), "threads": threads}
    except (OSError, TypeError):
        return None


def thirds(samples, name):
    """The middle of the first third after the warming, and of the last third."""
    values = [each[name] for each in samples[int(len(samples) * WARMING):]]
    third = max(1, len(values) // 3)
    return statistics.median(values[:third]), statistics.median(values[-third:])


def judge(stretches):
    """What has grown, in words."""
    faults = []
    for name, (part, more) in BOUNDS.items():
        each = [thirds(samples, name) for samples in stretches if len(samples) >= 12]
        for number, (first, last) in enumerate(each, 1):
            if last > first * (1 + part) + more:
                faults.append(f"{name}: {first:.0f} at first and {last:.0f} at the end of stretch {number}")
        if len(each) > 1:
            half = max(1, len(each) // 2)
            first, last = (statistics.median(last for _, last in some) for some in (each[:half], each[-half:]))
            if last > first * (1 + 2 * part) + 2 * more:
                faults.append(f"{name}: {first:.0f} in the first stretches and {last:.0f} in the last ones")
    return faults


def growth(points):
    """The bytes of the store for a payment in the first half of the run and in the second; points are pairs of payments and
    bytes."""
    middle = min(range(1, len(points) - 1), key=lambda at: abs(points[at][0] - (points[0][0] + points[-1][0]) / 2))
    rates = []
    for begin, end in ((points[0], points[middle]), (points[middle], points[-1])):
        rates.append((end[1] - begin[1]) / max(1, end[0] - begin[0]))
    return rates


def grows(points):
    if len(points) < 3:
        return []
    first, last = growth(points)
    if last <= max(first, 1_000) * GROWTH:
        return []
    return [f"store: {first:.0f} bytes for a payment in the first half, {last:.0f} in the second"]


def check_judge():
    """The judge must let what is flat pass, and notice what grows."""
    dice = random.Random(1)

    def made_up(**more):
        return [{"memory, MB": 90 + dice.uniform(-4, 4) + more.get("memory", 0) * at,
                 "descriptors": 60 + dice.randrange(20) + more.get("descriptors", 0) * at,
                 "threads": 14 + dice.randrange(3) + more.get("threads", 0) * at} for at in range(120)]

    assert judge([made_up(), made_up()]) == [], "the judge objects to what is flat"
    for name, slope in (("memory", 0.5), ("descriptors", 1), ("threads", 0.2)):
        assert judge([made_up(**{name: slope})]), f"the judge does not notice {name}"
    slow = [[{key: value + 9 * number for key, value in each.items()} for each in made_up()] for number in range(8)]
    assert judge(slow), "the judge does not notice what grows from stretch to stretch"
    assert grows([(0, 0), (500, 5_000_000), (1_000, 12_000_000)]) and not grows([(0, 0), (500, 5_000_000), (1_000, 10_400_000)])


class Soaked(Deployment):
    """A deployment that goes on in the directory of an earlier one."""

    def configuration(self):
        return super().configuration() + ("retention:\n  contactDays: 5\n  mailDays: 2\n  deliveryDays: 7\n  tokenDays: 30\n")

    def reopen(self):
        """Starts what lies in the directory, on the ports of now."""
        self.run_sandbox()
        folder = f"{self.directory}/merchants/harbour"
        with open(folder + "/merchant.yaml") as file:
            text = re.sub(r"http://127\.0\.0\.1:\d+/hooks", f"http://127.0.0.1:{self.sink_port}/hooks", file.read())
        with open(folder + "/merchant.yaml", "w") as file:
            file.write(text)
        self.key, self.secret = self.keys(folder + "/api-keys")
        self.webhook_secret = self.keys(folder + "/webhook-keys")[1]
        self.run_sink()
        self.configure()
        self.call_bank()

    def call_bank(self):
        from deployment import call
        self.bank_key = call(self.bank, "GET", "/sandbox/ca.json")[1]["acquirerKey"]
        self.ask_bank("PUT", "/event-endpoint", {"url": f"http://127.0.0.1:{self.port}/acquirers/sandbox/events"})
        self.contact = call(self.bank, "GET", "/device/contacts")[1][0]

    def size(self):
        return sum(os.path.getsize(path) for path in glob.glob(self.store + "*") if os.path.isfile(path))

    def count(self, query):
        store = sqlite3.connect(f"file:{self.store}?mode=ro", uri=True, timeout=60)
        try:
            return store.execute(query).fetchone()[0]
        finally:
            store.close()


def hang_up(deployment, dice):
    """Callers that connect, send a part of a request, and go."""
    for _ in range(dice.randrange(4, 32)):
        try:
            with socket.create_connection(("127.0.0.1", deployment.port), timeout=10) as line:
                line.sendall(b"POST /applepay/payment HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n{"[:dice.randrange(1, 90)])
        except OSError:
            pass


def fault(deployment, dice):
    """One fault that the server has to live through; its name."""
    name = dice.choice(["bank", "sink", "stopped", "hung up", "hung up"])
    if name == "bank":
        deployment.end(deployment.sandbox)
        time.sleep(dice.uniform(0.1, 3))
        deployment.run_sandbox()
    elif name == "sink":
        deployment.end(deployment.merchant_server)
        time.sleep(dice.uniform(0.1, 3))
        deployment.run_sink()
    elif name == "stopped":
        deployment.server.send_signal(signal.SIGSTOP)
        time.sleep(dice.uniform(0.1, 2))
        deployment.server.send_signal(signal.SIGCONT)
    else:
        hang_up(deployment, dice)
    return name


def stretch(deployment, seconds, dice, faults):
    """Lets the server live under load; its samples."""
    samples, end, next_fault = [], time.monotonic() + seconds, time.monotonic() + dice.uniform(3, 12)
    while time.monotonic() < end:
        time.sleep(PAUSE)
        taken = sample(deployment.server)
        if taken is None or deployment.server.poll() is not None:
            raise SystemExit(f"the server has ended by itself; see {deployment.directory}/log")
        samples.append(taken)
        if time.monotonic() > next_fault:
            name = fault(deployment, dice)
            faults[name] = faults.get(name, 0) + 1
            next_fault = time.monotonic() + dice.uniform(3, 20)
    return samples


def pass_day(deployment, dice):
    """The end of a stretch: while the server is down, a day passes."""
    deployment.end(deployment.server, signal.SIGKILL if dice.random() < 0.7 else signal.SIGTERM)
    deployment.clock.jump(DAY)
    deployment.serve()


def late(deployment):
    """Rows that are two days older than their limits: retention has not come to them."""
    now = deployment.clock.now()
    before = lambda days: int((now - (days + 2) * DAY) * 1_000_000)
    identifier = "%012x" % int((now - 7 * DAY) * 1_000)
    return {
        "deliveries": deployment.count(
            f"SELECT COUNT(*) FROM webhook_deliveries WHERE state <> 'waiting' AND finished_at < {before(7)}"),
        "contacts": deployment.count(f"SELECT COUNT(*) FROM order_contacts WHERE order_id < '{identifier}'")}


def remember(deployment, notes):
    with open(HOME + "/soak.json", "w") as file:
        json.dump({**notes, "ahead": deployment.clock.ahead}, file)


def main():
    check_judge()
    if os.environ.get("FRESH"):
        shutil.rmtree(HOME, ignore_errors=True)
    notes = json.load(open(HOME + "/soak.json")) if os.path.exists(HOME + "/soak.json") else None
    if notes is None:
        shutil.rmtree(HOME, ignore_errors=True)
    os.makedirs(HOME, exist_ok=True)
    deployment, dice, closing = Soaked(HOME), random.Random(SEED), threading.Event()
    length = max(60, MINUTES * 60 / max(2, round(MINUTES / 25)))
    stretches, points, faults, wrong, shoppers = [], [], {}, [], []
    begin = time.monotonic()
    try:
        if notes:
            deployment.clock.jump(notes["ahead"] + DAY)
            deployment.reopen()
            say(f"going on after {notes['minutes']:.0f} minutes with a store of {deployment.size() >> 20} MB")
        else:
            deployment.open()
        deployment.serve()
        journal = Journal(HOME + "/client.jsonl")
        seed = (int(notes["minutes"] * 1_000) if notes else 0) + SEED * 1_000_003
        shoppers = [Shopper(deployment, journal, seed + number, closing) for number in range(SHOPPERS)]
        for shopper in shoppers:
            shopper.start()
        while (left := begin + MINUTES * 60 - time.monotonic()) > 30:
            if stretches:
                pass_day(deployment, dice)
            points.append((deployment.count("SELECT COUNT(*) FROM payments"), deployment.size()))
            samples = stretch(deployment, min(length, left), dice, faults)
            stretches.append(samples)
            words = ", ".join(f"{name} {thirds(samples, name)[0]:.0f} → {thirds(samples, name)[1]:.0f}" for name in BOUNDS)
            say(f"{(time.monotonic() - begin) / 60:.0f} min: {words}, store {deployment.size() >> 20} MB")
        points.append((deployment.count("SELECT COUNT(*) FROM payments"), deployment.size()))
        behind = {name: count for name, count in late(deployment).items() if count and length > 1_200}
        closing.set()
        if not deployment.all_answered(shoppers):
            wrong.append("a shopper has no final answer")
        wrong += [text for shopper in shoppers for text in shopper.wrong]
        if deployment.settle() is None:
            wrong.append("an outcome is still unknown")
        removed = {row[0]: row[1] for row in sqlite3.connect(f"file:{deployment.store}?mode=ro", uri=True).execute(
            "SELECT task, removed FROM retention")}
        deployment.collect()
        wrong += judge(stretches) + grows(points)
        wrong += [f"retention is behind: {count} rows of {name}" for name, count in behind.items()]
        if not verify(deployment, shoppers):
            wrong.append("the auditor objects")
        made = points[-1][0] - points[0][0]
        say(f"{made} payments, {sum(s.moved for s in shoppers)} captures, voids and refunds; faults: "
            + ", ".join(f"{name} {count}" for name, count in sorted(faults.items())) + f", restarts {len(stretches) - 1}")
        if len(points) > 2:
            say("bytes of the store for a payment: {:.0f} in the first half, {:.0f} in the second".format(*growth(points)))
        say("retention has removed " + ", ".join(f"{count} {task}" for task, count in sorted(removed.items())))
        remember(deployment, {"minutes": (notes["minutes"] if notes else 0) + (time.monotonic() - begin) / 60})
    finally:
        closing.set()
        deployment.kill_all()
    for text in wrong:
        say(text)
    print(f"soak: {(time.monotonic() - begin) / 60:.0f} minutes, {len(wrong)} violations", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
