#!/usr/bin/python3
"""Checks the models of a payment exhaustively: Tests/Model/check.py [RULE…]

Spin searches every history of Tests/Model/payment.pml (the authorization) and Tests/Model/follow-up.pml (what follows
it) with all rules of the protocol, and must find no violation. Then each rule is taken out, or those that are named, and
Spin must find a history that violates an invariant. docs/model.md says where each rule is in the code. A search that is
not complete is a failure.
"""
import os, re, shutil, subprocess, sys, tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
MEGABYTES, SECONDS, DEPTH = 2000, 300, 20000

TWO_NODES = ["ONE_CALL", "ROUNDS=2"]
TWO_CALLS = ["ONE_NODE"]
CLOCK_SET = ["ONE_CALL", "ONE_NODE", "ROUNDS=2", "JUMP"]
LATER = ["ONE_CALL", "ROUNDS=1", "PATIENCE=1"]

# Of follow-ups: how often something goes wrong is limited too, or there are too many histories.
ONE_OPERATION = ["ONE_CALL", "ROUNDS=1", "FAULTS=2"]
ONE_BALANCE = ["ONE_NODE", "ROUNDS=0", "FAULTS=1", "END=2"]
ONE_KEY = ["SAME_KEY", "ONE_NODE", "ROUNDS=1", "FAULTS=1", "END=4"]
ASKED_LATER = ["ONE_CALL", "ROUNDS=1", "FAULTS=1", "PATIENCE=1"]
FAULTS_STOP = ["ONE_CALL", "ONE_NODE", "ROUNDS=10", "END=14", "FAULTS=2", "QUIET"]


class Model:
    """One file, the settings in which all of its rules hold, and the setting in which each rule is missed."""

    def __init__(self, name, settings, rules):
        self.name, self.settings, self.rules = name, settings, rules


AUTHORIZATION = Model(
    "payment.pml",
    {"one call, two nodes": TWO_NODES, "two calls": TWO_CALLS, "the clock is set": CLOCK_SET,
     "a request leaves later": LATER},
    {"ONE_LIVE_PAYMENT": TWO_CALLS, "TOKEN_ONCE": TWO_CALLS, "DURABLE_ATTEMPT": TWO_NODES, "LEASE": LATER,
     "DEADLINE": TWO_NODES, "SETTLE_HORIZON": TWO_NODES, "REPORTED_OUTCOME": TWO_NODES, "LATE_REVERSAL": TWO_NODES,
     "OUTDATED_REVERSAL": TWO_NODES, "ACQUIRER_KEY": TWO_NODES, "OWN_CALLS": CLOCK_SET, "DATABASE_TIME": TWO_NODES,
     "COMMIT_IN_DOUBT": TWO_NODES})
FOLLOW_UP = Model(
    "follow-up.pml",
    {"one operation, two nodes": ONE_OPERATION, "two operations of one balance": ONE_BALANCE,
     "a call repeated under its key": ONE_KEY, "a follow-up leaves later": ASKED_LATER, "the faults stop": FAULTS_STOP},
    {"RESERVATION": ONE_BALANCE, "PAYMENT_LOCK": ONE_BALANCE, "KEPT_RESERVATION": ONE_BALANCE, "RELEASE": ONE_BALANCE,
     "KEY_ONCE": ONE_KEY, "FINAL_ANSWER": ONE_KEY, "DURABLE_OPERATION": ONE_OPERATION, "LEASED_OPERATION": ASKED_LATER,
     "SENT_IN_TIME": ONE_OPERATION, "FENCE": ONE_OPERATION, "NOT_FOUND_YET": ONE_OPERATION, "REPEAT": ONE_OPERATION,
     "LATE_APPROVAL": ONE_OPERATION, "DOUBTFUL_RESERVATION": ONE_OPERATION, "RECOVERY": FAULTS_STOP})
MODELS = [AUTHORIZATION, FOLLOW_UP]
INCOMPLETE = re.compile(r"out of memory|max search depth too small|Search not completed|reached -M|resource limit|MEMLIM",
                        re.IGNORECASE)


def call(*command, seconds=SECONDS):
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds)


def search(model, setting, without=()):
    """Searches one form of a model; the output of the search, and the sentences of the history that it found."""
    flags = [f"-D{name}" for name in setting] + [f"-DWITHOUT_{rule}" for rule in without]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        shutil.copy(os.path.join(FOLDER, model.name), model.name)
        made = call("spin", "-a", "-o2", *flags, model.name)
        if made.returncode != 0:
            sys.exit(f"check-model: {made.stdout}{made.stderr}")
        built = call("cc", "-O2", "-w", "-DSAFETY", "-DCOLLAPSE", f"-DMEMLIM={MEGABYTES}", "-o", "pan", "pan.c")
        if built.returncode != 0:
            sys.exit(f"check-model: {built.stderr}")
        output = call("./pan", f"-m{DEPTH}").stdout
        history = []
        if os.path.exists(model.name + ".trail"):
            replayed = call("spin", "-t", *flags, model.name).stdout
            history = [line.strip() for line in replayed.splitlines()
                       if re.match(r"\s*(\d+: [A-Z]|The |Acquirer:|Violated:)", line)]
        os.chdir(ROOT)
    return output, history


def number(pattern, output):
    found = re.search(pattern, output)
    return int(found.group(1)) if found else -1


def states(output):
    return number(r"(\d+) states, stored", output)


def is_complete(output):
    return number(r"errors: (\d+)", output) == 0 and states(output) > 1000 and not INCOMPLETE.search(output)


def holds(model, name, setting):
    output, history = search(model, setting)
    good = is_complete(output)
    print(f"all rules, {name}: {states(output)} states, {'no violation' if good else 'FAILED'}", flush=True)
    if not good:
        print("\n".join("  " + line for line in history) or output)
    return good


def is_noticed(model, rule, setting):
    _, history = search(model, setting, [rule])
    good = any(line.startswith("Violated:") for line in history)
    print(f"without {rule}: {'a violation' if good else 'NOTHING WAS NOTICED'}", flush=True)
    print("\n".join("  " + line for line in history), flush=True)
    return good


def main(named):
    if shutil.which("spin") is None or shutil.which("cc") is None:
        sys.exit("check-model: install Debian's packages spin and gcc: scripts/install-prerequisites model")
    rules = {rule for model in MODELS for rule in model.rules}
    if unknown := [rule for rule in named if rule not in rules]:
        sys.exit(f"check-model: no rule {' '.join(unknown)}; there are {' '.join(sorted(rules))}")
    # The check is itself checked: a rule that a model does not have is not noticed when it is taken out.
    checked = [not is_noticed(AUTHORIZATION, "NO_SUCH_RULE", CLOCK_SET),
               not is_noticed(FOLLOW_UP, "NO_SUCH_RULE", FAULTS_STOP)]
    for model in MODELS:
        checked += [holds(model, name, setting) for name, setting in model.settings.items()] if not named else []
        checked += [is_noticed(model, rule, model.rules[rule]) for rule in model.rules if not named or rule in named]
    print(f"model: {len(checked)} runs, {checked.count(False)} violations")
    return 0 if all(checked) else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except subprocess.TimeoutExpired as late:
        sys.exit(f"check-model: {late.cmd[0]} took longer than {late.timeout} s")
