"""A deployment whose store is on PostgreSQL: several servers of Tender, here called nodes, share it.

    scripts/attack failover, and STORE=postgres with scripts/attack races and scripts/attack crash
"""
import os, random, shutil, signal, sqlite3, subprocess, time
from deployment import BINARIES, DECRYPTED, STILL, TO_COME, TROUBLE, Deployment, UnixConnection, call
from cluster import Failed, SingleServer
import free_ports


class Node:
    def __init__(self, number, port):
        self.name, self.port, self.process = f"node{number}", port, None
        self.base = f"http://127.0.0.1:{port}"
        self.restarts = 0


class Nodes(Deployment):
    """Every call goes to a node that chance chooses."""

    def __init__(self, directory, cluster, count=2, kind=DECRYPTED, platform=False):
        super().__init__(directory, kind, platform)
        self.cluster = cluster
        # The database tells the nodes the time, by a library and a file that its owner has to reach.
        os.chmod(directory, 0o755)
        cluster.share_clock({"LD_PRELOAD": self.shim("shifted-clock"), "SHIFTED_CLOCK": self.clock.path})
        self.nodes = [Node(1, self.port)] + [Node(number, free_ports.row(1)) for number in range(2, count + 1)]
        self.dice = random.Random(1)

    @property
    def base(self):
        return self.dice.choice(self.nodes).base

    @property
    def front_port(self):
        return self.dice.choice(self.nodes).port

    def configure(self):
        """A configuration for each node."""
        common = self.configuration()
        for node in self.nodes:
            with open(f"{self.directory}/{node.name}.yaml", "w") as file:
                file.write(
                    f"port: {node.port}\ndirectory: {node.name}\n{common}store:\n  url: {self.cluster.address}\n"
                    f"administration:\n  socket: {node.name}.sock\n")

    def serve(self, point=None):
        """Starts the nodes that do not run; the first one as the test build that kills itself at a crash point. Recovery
        falls to that one, because it is alone."""
        begin, (first, *others) = time.monotonic(), self.nodes
        is_ready = self.serve_node(first, point)
        if is_ready and not (point or "").startswith("recovery"):
            for other in others:
                self.share_keys(first, other)
                self.serve_node(other)
        if is_ready:
            self.restarts.append(time.monotonic() - begin)

    def share_keys(self, node, other):
        """A node begins with the keys that another one has made."""
        os.makedirs(f"{self.directory}/{other.name}", mode=0o700, exist_ok=True)
        for key in ("fingerprint.key", "contacts.keys"):
            if not os.path.exists(f"{self.directory}/{other.name}/{key}"):
                shutil.copy2(f"{self.directory}/{node.name}/{key}", f"{self.directory}/{other.name}/")

    def start_node(self, node, point=None):
        words = ["crashing-server"] if point else ["tender", "serve"]
        variables = {"CRASHPOINT": point} if point else {}
        node.process = self.spawn(*words, "--config", f"{node.name}.yaml", clock=self.server_clock, **variables)
        # Of which crash points and pauses are.
        self.server = self.nodes[0].process

    def serve_node(self, node, point=None):
        """Starts a node, again when it ends because there is no database yet, as a service manager does. Whether it is
        ready: at a crash point of recovery it may die before."""
        end, answer = time.monotonic() + STILL, None
        while time.monotonic() < end:
            if point and node.process and node.process.poll() == -signal.SIGKILL:
                return False
            if node.process is None or node.process.poll() is not None:
                node.restarts += 1
                self.start_node(node, point)
            try:
                answer = call(node.base, "GET", "/readyz")
                if answer[0] == 200:
                    return True
            except TROUBLE as trouble:
                answer = trouble
            time.sleep(0.05)
        raise SystemExit(f"{node.name} does not get ready: {answer}; see {self.directory}/log")

    def kill(self):
        for node in self.nodes:
            self.end(node.process)
            node.process = None

    def kill_at_random(self, dice):
        """One node, or both."""
        for node in dice.choice([self.nodes[:1], self.nodes[1:], self.nodes]):
            self.end(node.process)

    def kill_all(self):
        self.kill()
        super().kill_all()

    def administration(self, timeout=STILL):
        running = [node for node in self.nodes if node.process and node.process.poll() is None] or self.nodes
        return UnixConnection(f"{self.directory}/{self.dice.choice(running).name}.sock", timeout)

    def to_come(self):
        return int(self.asked(TO_COME))

    def references(self, baskets):
        names = ",".join(f"'{basket}'" for basket in baskets)
        return self.asked("SELECT reference FROM operations JOIN payments ON payments.id = payment "
                          f"WHERE kind = 'authorize' AND basket IN ({names})").split()

    def asked(self, sql):
        answer = self.cluster.primary.ask(sql)
        if answer is None:
            raise sqlite3.OperationalError("the primary cannot be asked")
        return answer

    def inject(self, defect):
        if self.cluster.primary.ask(defect.in_postgres) is None:
            raise Failed("the defect cannot be injected")

    def basket(self, node, patience=STILL):
        """The status with which a node takes a new basket; 0 if there is no answer."""
        document = "%032x" % self.dice.getrandbits(128)
        try:
            return self.put_basket(document, 1250, "manual", base=node.base, timeout=patience)[0]
        except TROUBLE:
            return 0

    def copy_to_file(self):
        """Copies the store into a file, where the auditor reads it. The command compares all tables."""
        os.makedirs(self.directory + "/data", exist_ok=True)
        subprocess.run(
            [f"{BINARIES}/tender", "store", "copy", "--from", self.cluster.address, "--to", self.store],
            cwd=self.directory, check=True, stdout=self.log, stderr=self.log)


class SeparateNodes(Nodes):
    """Two nodes on a PostgreSQL of their own, which begins and ends with them."""

    def __init__(self, directory, kind, platform=False):
        super().__init__(directory, SingleServer(), kind=kind, platform=platform)

    def open(self):
        self.cluster.open()
        super().open()

    def collect(self):
        super().kill_all()
        self.copy_to_file()
        self.cluster.close()

    def kill_all(self):
        super().kill_all()
        self.cluster.close()


def deployment(directory, kind, platform=False):
    """One server whose store is a file, or two nodes on PostgreSQL with STORE=postgres."""
    store = os.environ.get("STORE", "sqlite")
    if store not in ("sqlite", "postgres"):
        raise SystemExit(f"STORE is sqlite or postgres, not {store}")
    return (SeparateNodes if store == "postgres" else Deployment)(directory, kind, platform)
