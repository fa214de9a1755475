#!/usr/bin/python3
"""Loses PostgreSQL while shoppers pay, restores it to a moment from a base backup and the archived log, and compares with the
acquirer what is missing then:

    scripts/attack restore

What was confirmed before the moment must be there, and nothing after it; the audit must be intact; what was open is settled
with the acquirer; `tender reconcile` must name every operation that the acquirer has and the restored store has not, and no
other. The script counts those itself, in both ledgers. `tender restore mark` has closed the route before; with the report it
opens, and nothing is missed any more. At the end the script damages report and store, and must notice.

SEED=7       chance
SHOPPERS=4   the number of shoppers
SECONDS=8    how long they pay before the backup, between backup and moment, and after the moment
"""
import json, os, shutil, sqlite3, subprocess, sys, tempfile, threading, time, urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
from cluster import SETTINGS, USER, Cluster, Failed, give_to_owner, until
from deployment import BINARIES, Journal, call
from nodes import Nodes
from shoppers import Shopper, reported_outcome

SEED = int(os.environ.get("SEED", "1"))
SHOPPERS = int(os.environ.get("SHOPPERS", "4"))
SECONDS = int(os.environ.get("SECONDS", "8"))


def say(*words):
    print("restore:", *words, flush=True)


class ArchivedServer(Cluster):
    """One server, whose log is archived."""

    def __init__(self, directory):
        super().__init__(directory, is_synchronous=False)
        self.servers = self.servers[:1]
        self.archive, self.backup = directory + "/archive", directory + "/backup"

    def open(self):
        server = self.primary
        server.command("initdb", "-D", server.data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        os.mkdir(self.archive)
        give_to_owner(self.archive)
        with open(server.data + "/pg_hba.conf", "a") as file:
            file.write("host replication all 127.0.0.1/32 trust\n")
        archiving = {"archive_mode": "on", "archive_command": f"test ! -f {self.archive}/%f && cp %p {self.archive}/%f"}
        with open(server.data + "/postgresql.conf", "a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in {**SETTINGS, **archiving}.items())
        server.start()
        self.make_database()

    def back_up(self):
        self.primary.command("pg_basebackup", "-D", self.backup, "-d", self.primary.connection, "-c", "fast")

    def finish_archive(self):
        """Makes the server archive what it has written. In production archive_timeout does."""
        name = self.primary.ask("SELECT pg_walfile_name(pg_switch_wal())")
        until(lambda: os.path.exists(f"{self.archive}/{name}"), 60, "the log is not archived")

    def restore(self, moment):
        server = self.primary
        shutil.rmtree(server.data)
        shutil.copytree(self.backup, server.data)
        subprocess.run(["chown", "-R", "--reference", self.archive, server.data], check=True)
        os.chmod(server.data, 0o700)
        server.write("postgresql.auto.conf", f"restore_command = 'cp {self.archive}/%f %p'\n"
                     f"recovery_target_time = '{moment}'\nrecovery_target_action = 'promote'\n")
        server.write("recovery.signal", "")
        server.start()
        return until(server.is_primary, 120, "the restored server does not become the primary")

    def column(self, sql):
        answer = self.primary.ask(sql, 30)
        if answer is None:
            raise Failed(f"cannot be asked: {sql}")
        return answer.split("\n") if answer else []


class Restore:
    """A node, a database, shoppers, and what is true of the restored store."""

    def __init__(self, directory):
        os.makedirs(directory + "/tender")
        self.cluster = ArchivedServer(directory + "/postgres")
        self.deployment = Nodes(directory + "/tender", self.cluster, count=1)
        self.directory, self.faults, self.closing = directory, [], threading.Event()

    def require(self, truth, text):
        if not truth:
            say(text)
            self.faults.append(text)

    @property
    def node(self):
        return self.deployment.nodes[0]

    @property
    def answers(self):
        """The answers that clients were given so far."""
        with open(self.deployment.directory + "/client.jsonl") as file:
            return [json.loads(line) for line in file]

    def open(self):
        self.cluster.open()
        self.deployment.open()
        self.deployment.serve()
        journal = Journal(self.deployment.directory + "/client.jsonl")
        self.shoppers = [
            Shopper(self.deployment, journal, SEED * 1000 + number, self.closing) for number in range(SHOPPERS)]
        for shopper in self.shoppers:
            shopper.start()

    def run(self):
        self.open()
        time.sleep(SECONDS)
        self.cluster.back_up()
        time.sleep(SECONDS)
        order = self.prepared_order()
        moment, confirmed = self.moment()
        time.sleep(SECONDS)
        status, first = call(self.node.base, "POST", "/applepay/payment", order)
        self.require(reported_outcome(status, first) == "success", f"the last payment: {status} {first}")
        self.lose()
        seconds = self.cluster.restore(moment)
        say(f"restored to {moment} in {seconds:.1f} s")
        self.require(self.tender("restore", "mark", "--lost-from", moment.replace(" ", "T").replace("+00", "Z")).returncode == 0,
                     "the store is not marked")
        self.deployment.serve_node(self.node)
        self.check_store(moment, confirmed)
        self.reconcile()
        self.pay_again(order, first)
        self.adopt()
        self.notice_damage(confirmed)

    def prepared_order(self):
        """A basket that exists before the moment and is paid after it."""
        basket = "%032x" % self.deployment.dice.getrandbits(128)
        self.deployment.put_basket(basket, 1250, "immediate")
        sheet = self.deployment.sheet(basket)[1]
        return self.deployment.payment(basket, sheet, self.deployment.token(sheet))

    def moment(self):
        """A moment at which an operation is open, by the database's clock, and the payments that were successful before it."""
        for _ in range(2_000):
            confirmed = {line["payment"] for line in self.answers if line["outcome"] == "success"}
            open_now = "EXISTS (SELECT 1 FROM operations WHERE state = 'sending')"
            moment = self.cluster.primary.ask(f"SELECT clock_timestamp() WHERE {open_now}")
            if moment:
                return moment, confirmed
        raise Failed("no operation was ever open")

    def lose(self):
        """Node and database are killed; of the database the backup and the archive are left."""
        self.closing.set()
        self.cluster.finish_archive()
        for shopper in self.shoppers:
            shopper.join(20)
        self.cluster.finish_archive()
        self.deployment.kill()
        self.cluster.primary.kill()

    # What must be true of the restored store.

    def check_store(self, moment, confirmed):
        self.require(self.is_intact(), "the audit is not intact")
        there = set(self.cluster.column("SELECT id FROM payments"))
        self.require(confirmed <= there, f"{len(confirmed - there)} payments that were confirmed before the moment are lost")
        late = self.cluster.column(
            f"SELECT id FROM payments WHERE created_at > extract(epoch FROM timestamptz '{moment}') * 1000000")
        self.require(not late, f"{len(late)} payments are from after the moment")
        told = {line["payment"] for line in self.answers if line["outcome"] == "success"}
        self.require(told - there, "no payment is missing: the test shows nothing")
        count = self.cluster.column("SELECT reference FROM operations WHERE state IN ('sending', 'pending', 'unknown')")
        self.require(self.deployment.settle() is not None, "an outcome is still unknown")
        say(f"{len(there)} payments are there, {len(told - there)} that clients were told of are not; "
            f"{len(count)} open operations were settled with the acquirer")

    def is_intact(self):
        return self.tender("payment", "verify-journal").returncode == 0

    def tender(self, *words):
        return subprocess.run(
            [f"{BINARIES}/tender", *words, "--store", self.cluster.address], cwd=self.deployment.directory,
            capture_output=True, text=True)

    def lost_operations(self):
        """The references of what the acquirer has approved and the restored store has not."""
        ledger = sqlite3.connect(f"file:{self.deployment.ledger}?mode=ro", uri=True)
        try:
            done = {row[0] for row in ledger.execute("SELECT reference FROM operations WHERE response_code = '00'")}
        finally:
            ledger.close()
        return done - set(self.cluster.column("SELECT reference FROM operations"))

    def report(self):
        request = urllib.request.Request(self.deployment.bank + "/acquirer/v1/report", headers=self.deployment.bank_headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read().decode().splitlines()

    def named(self, lines):
        """The references that `tender reconcile` misses here, and the differences of other kinds."""
        path = self.directory + "/report.jsonl"
        with open(path, "w") as file:
            file.writelines(line + "\n" for line in lines)
        done = self.tender("reconcile", path, "--json")
        if done.returncode == 2:
            raise Failed(f"tender reconcile: {done.stderr}{done.stdout}")
        differences = json.loads(done.stdout)
        return ({item["reference"] for item in differences if item["kind"] == "missing_here"},
                [item for item in differences if item["kind"] != "missing_here"])

    def reconcile(self):
        lost = self.lost_operations()
        named, others = self.named(self.report())
        self.require(named == lost, f"not named: {sorted(lost - named)}; named without reason: {sorted(named - lost)}")
        self.require(not others, f"differences of another kind: {others}")
        say(f"tender reconcile names {len(named)} operations that only the acquirer has")

    def pay_again(self, order, first):
        """The shopper's page sends the same payment again. The acquirer has charged it; the store does not know."""
        status, answer = call(self.node.base, "POST", "/applepay/payment", order)
        self.require(reported_outcome(status, answer) != "success", f"the lost payment was charged twice: {answer}")
        say(f"the lost payment {first['paymentId']}, sent again: {status} {answer.get('code') or answer.get('status')}")

    def adopt(self):
        """The acquirer's report is imported: a part of it leaves something that is missed, all of it nothing."""
        lines, lost = self.report(), self.lost_operations()
        self.require(lost, "nothing is lost: the test shows nothing")
        kept = [line for line in lines if json.loads(line)["reference"] != min(lost)]
        self.require(self.named(kept)[0] != lost, "a report without a lost operation is not noticed")
        for _ in range(60):
            with open(self.directory + "/report.jsonl", "w") as file:
                file.writelines(line + "\n" for line in self.report())
            done = self.tender("restore", "route", "sandbox", "--report", self.directory + "/report.jsonl")
            if done.returncode == 0:
                break
            self.deployment.settle()
        self.require(done.returncode == 0, f"the route does not open: {done.stdout}{done.stderr}")
        named, others = self.named(self.report())
        self.require(not named and not others, f"after the import: {named} {others}")
        self.require(self.is_intact(), "the audit is not intact after the import")
        say(done.stdout.strip())

    def notice_damage(self, confirmed):
        victim = min(confirmed)
        self.cluster.primary.ask(f"UPDATE payments SET captured = 0, refunded = 0, version = version + 1 WHERE id = '{victim}'")
        self.require(not self.is_intact(), "a changed payment is not noticed")

    def close(self):
        self.closing.set()
        self.deployment.kill_all()
        self.cluster.close()


def main():
    if not os.path.exists(f"{BINARIES}/tender-sandbox"):
        raise SystemExit(f"restore: first build it: scripts/build {os.environ.get('CONFIGURATION', 'debug')} tender tender-sandbox")
    begin, directory = time.monotonic(), tempfile.mkdtemp(prefix="tender-restore-")
    os.chmod(directory, 0o755)
    restore = Restore(directory)
    try:
        restore.run()
    except Failed as failure:
        restore.faults.append(str(failure))
    finally:
        restore.close()
    for fault in restore.faults:
        say(fault)
    if restore.faults:
        say(f"its files are in {directory}")
    else:
        shutil.rmtree(directory)
    say(f"{len(restore.faults)} violations, {time.monotonic() - begin:.0f} s, SEED={SEED}")
    sys.exit(1 if restore.faults else 0)


if __name__ == "__main__":
    main()
