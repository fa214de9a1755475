"""A deployment whose store is on PostgreSQL: several servers of Tender, here called nodes, share it.

    scripts/failover
"""
import os, random, shutil, sqlite3, subprocess, time
from deployment import BINARIES, DECRYPTED, TROUBLE, Deployment, UnixConnection, call, exchange
import free_ports


class Node:
    def __init__(self, number, port):
        self.name, self.port, self.process = f"node{number}", port, None
        self.base = f"http://127.0.0.1:{port}"
        self.restarts = 0


class Nodes(Deployment):
    """Every call goes to a node that chance chooses."""

    def __init__(self, directory, cluster, count=2, kind=DECRYPTED):
        super().__init__(directory, kind)
        self.cluster = cluster
        # The database tells the nodes the time.
        cluster.share_clock({"LD_PRELOAD": self.shim("shifted-clock"), "SHIFTED_CLOCK": self.clock.path})
        self.nodes = [Node(1, self.port)] + [Node(number, free_ports.row(1)) for number in range(2, count + 1)]
        self.dice = random.Random(1)

    @property
    def base(self):
        return self.dice.choice(self.nodes).base

    def configure(self):
        """A configuration for each node."""
        common = self.configuration()
        for node in self.nodes:
            with open(f"{self.directory}/{node.name}.yaml", "w") as file:
                file.write(
                    f"port: {node.port}\ndirectory: {node.name}\n{common}store:\n  url: {self.cluster.address}\n"
                    f"administration:\n  socket: {node.name}.sock\n")

    def serve(self):
        first, *others = self.nodes
        self.serve_node(first)
        for other in others:
            self.share_keys(first, other)
            self.serve_node(other)

    def share_keys(self, node, other):
        """A node begins with the keys that another one has made."""
        os.makedirs(f"{self.directory}/{other.name}", mode=0o700, exist_ok=True)
        for name in ("guest-token.key", "fingerprint.key"):
            shutil.copy2(f"{self.directory}/{node.name}/{name}", f"{self.directory}/{other.name}/{name}")

    def start_node(self, node):
        node.process = self.spawn("tender", "serve", "--config", f"{node.name}.yaml", clock=self.server_clock)

    def serve_node(self, node, patience=60):
        """Starts a node, again when it ends because there is no database yet, as a service manager does."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if node.process is None or node.process.poll() is not None:
                node.restarts += 1
                self.start_node(node)
            try:
                if call(node.base, "GET", "/readyz", timeout=2)[0] == 200:
                    return
            except TROUBLE:
                pass
            time.sleep(0.05)
        raise SystemExit(f"{node.name} does not get ready; see {self.directory}/log")

    def kill(self):
        for node in self.nodes:
            self.end(node.process)

    def kill_all(self):
        self.kill()
        super().kill_all()

    def administer(self, method, path, timeout=35):
        node = self.dice.choice(self.nodes)
        return exchange(UnixConnection(f"{self.directory}/{node.name}.sock", timeout), method, path)

    def undelivered(self):
        answer = self.cluster.primary.ask(
            "SELECT (SELECT COUNT(*) FROM outbox WHERE delivered_at IS NULL) + "
            "(SELECT COUNT(*) FROM webhook_deliveries WHERE state = 'waiting')")
        if answer is None:
            raise sqlite3.OperationalError("the primary cannot be asked")
        return int(answer)

    def basket(self, node, patience=35):
        """The status with which a node takes a new basket; 0 if there is no answer."""
        document = "%032x" % self.dice.getrandbits(128)
        try:
            return self.put_basket(document, 1250, "manual", base=node.base, timeout=patience)[0]
        except TROUBLE:
            return 0

    def copy_to_file(self):
        """Copies the store into a file, where the auditor reads it. The command compares all tables."""
        subprocess.run(
            [f"{BINARIES}/tender", "store", "copy", "--from", self.cluster.address, "--to", self.store],
            cwd=self.directory, check=True, stdout=self.log, stderr=self.log)
