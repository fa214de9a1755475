#!/usr/bin/python3
"""Two nodes behind PgBouncer: scripts/attack pgbouncer [session|transaction]

In session mode shoppers pay while PgBouncer is killed and started again, and while PostgreSQL ends all connections. No
answer may be lost, no payment doubled, and the auditor checks the store. Then the same nodes use PgBouncer in transaction
mode, and the script fails if that works: docs/postgres.md says what breaks.

SECONDS=20   how long shoppers pay before and after each trouble
"""
import collections, os, random, re, shutil, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
from cluster import DATABASE, OWNER, USER, SingleServer, give_to_owner, send, until
from deployment import Journal
from nodes import Nodes
from shoppers import Shopper
from verdict import verify
import free_ports, signal

SECONDS = float(os.environ.get("SECONDS", "20"))
SHOPPERS = 6
# In transaction mode fewer than the nodes' connections, so that these share them.
POOL = {"session": 40, "transaction": 4}

# Debian keeps it where only root looks.
PROGRAM = shutil.which("pgbouncer", path=os.environ["PATH"] + ":/usr/sbin")


def say(*words):
    print("pgbouncer:", *words, flush=True)


class PooledServer(SingleServer):
    """A PostgreSQL that nodes reach through PgBouncer."""

    def __init__(self, mode):
        super().__init__()
        self.mode, self.port, self.pooler = mode, free_ports.row(1), None

    @property
    def address(self):
        return f"postgres://{USER}@127.0.0.1:{self.port}/{DATABASE}"

    def open(self):
        super().open()
        self.write("users.txt", f'"{USER}" ""\n')
        self.write("pgbouncer.ini", f"""[databases]
{DATABASE} = host=127.0.0.1 port={self.primary.port} dbname={DATABASE}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {self.port}
unix_socket_dir =
auth_type = trust
auth_file = {self.directory}/users.txt
pool_mode = {self.mode}
max_client_conn = 200
default_pool_size = {POOL[self.mode]}
ignore_startup_parameters = extra_float_digits
""")
        self.start_pooler()

    def write(self, name, text):
        with open(f"{self.directory}/{name}", "w") as file:
            file.write(text)
        give_to_owner(f"{self.directory}/{name}")

    def start_pooler(self):
        self.pooler = subprocess.Popen(
            [*OWNER, PROGRAM, "-q", f"{self.directory}/pgbouncer.ini"], stdout=self.log, stderr=self.log)

    def kill_pooler(self):
        if self.pooler:
            send(self.pooler.pid, signal.SIGKILL)
            self.pooler.wait(30)
            self.pooler = None

    def close(self):
        self.kill_pooler()
        super().close()


class Rehearsal:
    def __init__(self, mode):
        self.directory = tempfile.mkdtemp(prefix=f"tender-pgbouncer-{mode}-")
        self.server = PooledServer(mode)
        self.deployment = Nodes(self.directory, self.server)
        self.closing, self.shoppers = threading.Event(), []

    def open(self):
        self.server.open()
        self.deployment.open()
        self.deployment.serve()

    def close(self):
        self.closing.set()
        self.deployment.kill_all()
        self.server.close()


def session():
    rehearsal, faults = Rehearsal("session"), []
    deployment, server = rehearsal.deployment, rehearsal.server
    try:
        rehearsal.open()
        journal = Journal(rehearsal.directory + "/client.jsonl")
        rehearsal.shoppers = [Shopper(deployment, journal, number, rehearsal.closing) for number in range(SHOPPERS)]
        for shopper in rehearsal.shoppers:
            shopper.start()
        time.sleep(SECONDS)
        begin = time.monotonic()
        server.kill_pooler()
        time.sleep(1)
        server.start_pooler()
        for node in deployment.nodes:
            until(lambda: deployment.basket(node, 3) == 200, 30, f"{node.name} takes no basket")
        say(f"killed and started again: baskets are taken after {time.monotonic() - begin:.1f} s")
        ended = server.primary.ask(
            "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name LIKE 'tender%'")
        say(f"PostgreSQL ended {ended} connections")
        time.sleep(SECONDS)
        names = server.primary.ask("SELECT DISTINCT application_name FROM pg_stat_activity WHERE application_name LIKE 'tender%'")
        limits = server.primary.ask("SELECT COUNT(*) FROM pg_stat_activity WHERE application_name LIKE 'tender%'")
        say(f"connections behind PgBouncer: {limits}, by name {names.split()}")
        rehearsal.closing.set()
        if not deployment.all_answered(rehearsal.shoppers):
            faults.append("a shopper has no final answer")
        faults += [wrong for shopper in rehearsal.shoppers for wrong in shopper.wrong]
        if deployment.settle() is None:
            faults.append("an outcome is still unknown")
        deployment.kill_all()
        deployment.copy_to_file()
        if not verify(deployment, rehearsal.shoppers):
            faults.append("the auditor objects")
        paid = sum(shopper.paid for shopper in rehearsal.shoppers)
        say(f"session mode: {paid} payments, {len(faults)} violations")
    finally:
        rehearsal.close()
    if faults:
        print(*faults, f"its files are in {rehearsal.directory}", sep="\n")
    else:
        shutil.rmtree(rehearsal.directory)
    return not faults


def transaction():
    """Whether transaction mode breaks, as the documentation says."""
    rehearsal = Rehearsal("transaction")
    deployment, answers = rehearsal.deployment, collections.Counter()

    def reasons():
        with open(rehearsal.directory + "/log", errors="replace") as file:
            return dict(collections.Counter(re.findall(
                r'prepared statement \\*"s\d+\\*" (already exists|does not exist)', file.read())))

    try:
        try:
            rehearsal.open()
        except SystemExit:
            say(f"transaction mode: a node does not get ready; in the log: prepared statements {reasons()}")
            return bool(reasons())
        threads = [threading.Thread(target=lambda: answers.update(
            [deployment.basket(random.choice(deployment.nodes)) for _ in range(20)])) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        failed = sum(count for status, count in answers.items() if status != 200)
        say(f"transaction mode: {failed} of {sum(answers.values())} baskets were not taken; "
            f"in the log: prepared statements {reasons()}")
        return failed > 0
    finally:
        rehearsal.close()
        shutil.rmtree(rehearsal.directory)


def main():
    if not PROGRAM:
        sys.exit("pgbouncer: PgBouncer is missing: scripts/install-prerequisites pgbouncer")
    begin, good, modes = time.monotonic(), True, sys.argv[1:] or ["session", "transaction"]
    if "session" in modes:
        good = session()
    if "transaction" in modes and not transaction():
        good = False
        say("transaction mode works, which docs/postgres.md denies")
    say(f"{'passed' if good else 'failed'}, {time.monotonic() - begin:.0f} s")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
