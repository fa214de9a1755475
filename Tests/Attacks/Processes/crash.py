#!/usr/bin/python3
"""Kills the server while shoppers pay, starts it again, and checks the files with the auditor:

    scripts/attack crash [KILLS [sandbox|CONNECTOR …]]

Four processes (Tests/Attacks/Processes/deployment.py): the server, the sandbox with the ledger of the acquirer or the
provider, the merchant's server for webhooks, and this one, which pays, captures and refunds, and records each answer
before the next call. With STORE=postgres two servers share a PostgreSQL, and a kill ends one of them or both.

A round has one seed: 40 kills of `tender serve` at random moments, half of them with payment tokens that the server
decrypts and half with sealed ones, at each of the named connectors' emulators; then, with every kind, one kill at every
crash point of a test build that the connector's capabilities lead to. Then the auditor
checks the files, and checks them again with injected damage. A round fails if a crash point is not reached or damage is
not detected. More kills are more rounds. Progress is saved: a run that was stopped continues after the last whole round.

SEED=7        the first round's seed
SHOPPERS=8    the number of shoppers
"""
import json, os, random, shutil, signal, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
from deployment import BINARIES, LEASE, Journal, kinds
from nodes import deployment as deployed
from shoppers import Shopper
from verdict import all_damages, undetected, verify

KILLS = int(sys.argv[1]) if len(sys.argv) > 1 else 40
CONNECTORS = sys.argv[2:]
SEED = int(os.environ.get("SEED", "1"))
SHOPPERS = int(os.environ.get("SHOPPERS", "4"))
ROUND = 40
# From this number of kills on, the first round also stops a server for the real time of a lease.
PATIENT = 200


def say(*words):
    print("crash:", *words, flush=True)


def points():
    listing = subprocess.run([f"{BINARIES}/crashing-server"], env={**os.environ, "CRASHPOINTS": "list"},
                             capture_output=True, text=True, check=True)
    return listing.stdout.split()


def reachable(kind):
    return [point for point in points() if point not in kind.unreachable]


def die_at_random(deployment, kills, dice):
    """Kills the server, and sometimes the acquirer or the merchant's server too. Sometimes it only stops the server for
    longer than a lease, so that the server continues with a lease that has ended."""
    others = {"bank": 0, "sink": 0, "stopped": 0}
    for number in range(kills):
        time.sleep(dice.uniform(0.2, 1.2))
        if dice.random() < 0.15 or number == 1:
            stop(deployment, 1)
            others["stopped"] += 1
            time.sleep(dice.uniform(0.1, 0.5))
        if dice.random() < 0.15 or number == 2:
            deployment.end(deployment.merchant_server)
            time.sleep(dice.uniform(0.1, 0.5))
            deployment.run_sink()
            others["sink"] += 1
        bank = dice.random() < 0.15 or number == 3
        if bank:
            deployment.end(deployment.sandbox)
            time.sleep(dice.uniform(0.1, 0.5))
            others["bank"] += 1
        deployment.kill_at_random(dice)
        if dice.random() < 0.5:
            deployment.clock.jump(LEASE)
        if bank:
            deployment.run_sandbox()
        deployment.serve()
    return others


def stop(deployment, seconds):
    """Stops the server until every lease that it held has ended, then lets it continue."""
    deployment.server.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    deployment.clock.jump(max(0, LEASE - seconds))
    deployment.server.send_signal(signal.SIGCONT)


# The crash point that leaves an operation open, so that recovery reaches the other.
BEFORE = {
    "recovery.leased": "authorize.claimed", "recovery.inquired": "authorize.answered",
    "recovery.reversing": "authorize.claimed", "recovery.reversed": "authorize.claimed",
    "recovery.repeated": "capture.reserved", "recovery.recorded": "authorize.answered"}


def die_everywhere(deployment, dice):
    """Kills the server at every crash point, at one of the first times it is reached. Returns the points that were not
    reached."""
    missed = []
    for point in reachable(deployment.kind):
        before = BEFORE.get(point)
        deployment.kill()
        if before:
            deployment.serve(before)
            deployment.died()
            deployment.kill()
            deployment.clock.jump(LEASE)
        deployment.serve(point if before else f"{point}:{dice.randrange(1, 3)}")
        # Recovery begins when the leases have ended.
        if not deployment.died(meanwhile=lambda: deployment.clock.jump(LEASE if before else 0)):
            missed.append(point)
    deployment.kill()
    deployment.serve()
    return missed


def course(kind, kills, seed, directory):
    """A round with one kind of payment token. Returns the violations."""
    deployment, closing, dice = deployed(directory, kind), threading.Event(), random.Random(seed)
    begin, faults = time.monotonic(), []
    shoppers = []
    try:
        deployment.open()
        deployment.serve()
        journal = Journal(directory + "/client.jsonl")
        shoppers = [Shopper(deployment, journal, seed * 1000 + number, closing) for number in range(SHOPPERS)]
        for shopper in shoppers:
            shopper.start()
        others = die_at_random(deployment, kills, dice)
        random_part = time.monotonic() - begin
        if PATIENT <= KILLS and seed == SEED:
            stop(deployment, LEASE)
        restarts = sorted(deployment.restarts)
        begin = time.monotonic()
        missed = die_everywhere(deployment, dice)
        faults += [f"{point} was not reached" for point in missed]
        named_part = time.monotonic() - begin
        closing.set()
        if not deployment.all_answered(shoppers):
            faults.append("a shopper has no final answer")
        faults += [wrong for shopper in shoppers for wrong in shopper.wrong]
        resolved = deployment.settle()
        if resolved is None:
            faults.append("an outcome is still unknown")
        deployment.collect()
        say(f"{kind.name}: {kills} random kills in {random_part:.0f} s, and "
            + ", ".join(f"{name} {count}" for name, count in others.items())
            + f"; ready again after {restarts[len(restarts) // 2]:.2f} s (median), {restarts[-1]:.2f} s (longest)")
        everywhere = reachable(kind)
        say(f"{kind.name}: killed at {len(everywhere) - len(missed)} of {len(everywhere)} crash points in {named_part:.0f} s;"
            f" all outcomes known after {resolved or 0:.0f} s of the clock")
        say(f"{kind.name}: {sum(s.paid for s in shoppers)} of {sum(s.asked for s in shoppers)} answers were a success, "
            f"{sum(s.moved for s in shoppers)} captures, voids and refunds")
        if not verify(deployment, shoppers):
            faults.append("the auditor objects")
        else:
            missed = undetected(deployment, shoppers)
            damages = all_damages(kind)
            say(f"{kind.name}: {len(damages) - len(missed)} of {len(damages)} injected damages were detected")
            faults += [f"not detected: {name}" for name in missed]
    finally:
        closing.set()
        deployment.kill_all()
    return faults


def whole_round(seed, kills):
    faults = []
    chosen = kinds(CONNECTORS)
    for number, kind in enumerate(chosen):
        share = kills // len(chosen) + (number < kills % len(chosen))
        directory = tempfile.mkdtemp(prefix=f"tender-crash-{kind.name.replace(', ', '-')}-")
        found = course(kind, share, seed, directory)
        for fault in found:
            say(f"{kind.name}, SEED={seed}: {fault}")
        if found:
            say(f"its files are in {directory}")
        else:
            shutil.rmtree(directory)
        faults += found
    return faults


def commit():
    found = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=HERE)
    return found.stdout.strip() or "unknown"


def main():
    begin, version = time.monotonic(), commit()
    notes = f"{HERE}/../../../.build/crash/{version}-{SEED}-{KILLS}{''.join('-' + name for name in CONNECTORS)}.json"
    os.makedirs(os.path.dirname(notes), exist_ok=True)
    done = json.load(open(notes)) if os.path.exists(notes) else {"kills": 0, "rounds": 0, "violations": 0, "seconds": 0}
    if done["kills"]:
        say(f"going on after {done['kills']} kills")
    while done["kills"] < KILLS:
        seed, kills, start = SEED + done["rounds"], min(ROUND, KILLS - done["kills"]), time.monotonic()
        say(f"{kills} kills, SEED={seed}")
        faults = whole_round(seed, kills)
        done = {"kills": done["kills"] + kills, "rounds": done["rounds"] + 1,
                "violations": done["violations"] + len(faults),
                "seconds": done["seconds"] + time.monotonic() - start}
        with open(notes, "w") as file:
            json.dump(done, file)
    os.remove(notes)
    say(f"{KILLS} runs, {done['violations']} violations, {time.monotonic() - begin:.0f} s")
    sys.exit(1 if done["violations"] else 0)


if __name__ == "__main__":
    main()
