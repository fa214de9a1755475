#!/usr/bin/python3
"""Pays in the demo on PostgreSQL while one of its two servers is killed: scripts/attack demo_nodes. Every payment must succeed,
the server must come back, and Ctrl-C must end every process."""
import json, os, re, shutil, signal, subprocess, sys, tempfile, time

os.chdir(os.path.dirname(os.path.abspath(__file__)) + "/../../..")
sys.path.append("Tests/Support")
import free_ports

TENDER = ".build/debug/tender"
PAYMENTS = 24


def running(word):
    """The processes whose command line has the word."""
    found = subprocess.run(["pgrep", "-f", word], capture_output=True, text=True).stdout.split()
    return {int(process) for process in found}


def until(condition, patience, failure):
    end = time.monotonic() + patience
    while not condition():
        if time.monotonic() > end:
            raise SystemExit("demo nodes: " + failure)
        time.sleep(0.2)


def pay(port, merchant):
    done = subprocess.run([f"{TENDER}-sandbox", "pay", "--port", str(port), "--merchant", merchant],
                          capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise SystemExit(f"demo nodes: a payment failed: {done.stdout}{done.stderr}")


def main():
    place, port = tempfile.mkdtemp(prefix="tender-demo-"), free_ports.row(9)
    log = place + "/log"
    with open(log, "w") as file:
        demo = subprocess.Popen(
            ["scripts/demo", "--port", str(port), "--directory", place], stdout=file, stderr=file, start_new_session=True,
            env={**os.environ, "STORE": "postgres"})
    try:
        until(lambda: "Ctrl-C" in open(log).read(), 900, "the demo does not start")
        folder = f"{place}/demo-{port}-postgres"
        second = folder + "/node2.yaml"
        until(lambda: os.path.exists(folder + "/node2.sock"), 30, "the second server does not start")
        first = running(second)
        for number in range(PAYMENTS):
            if number == PAYMENTS // 3:
                for process in running(second):
                    os.kill(process, signal.SIGKILL)
            pay(port, folder + "/merchants/harbour")
        until(lambda: running(second) - first, 15, "the server that was killed does not come back")
        pay(port, folder + "/merchants/harbour")
        store = re.search(r"postgres://[^'\s]*", open(log).read()).group()
        listed = json.loads(subprocess.run(
            [TENDER, "payment", "list", "--json", "--limit", "100", "--store", store], capture_output=True, text=True, check=True).stdout)
        captured = [payment for payment in listed if payment["status"] == "captured"]
        if len(captured) != PAYMENTS + 1:
            raise SystemExit(f"demo nodes: {PAYMENTS + 1} payments were made, {len(captured)} are captured")
    finally:
        # As Ctrl-C does.
        os.killpg(demo.pid, signal.SIGINT)
    until(lambda: demo.poll() is not None, 30, "the demo does not end")
    until(lambda: not running(place), 20, "a process is left")
    shutil.rmtree(place)
    print(f"demo nodes: {PAYMENTS + 1} payments, one of two servers killed meanwhile, none lost")


if __name__ == "__main__":
    main()
