"""PostgreSQL under Patroni and etcd: they decide who is the primary, rewind the old one, and name the standby that must have
every commit.

    scripts/attack failover --patroni
"""
import json, subprocess
from cluster import OWNER, SETTINGS, USER, Cluster, Server, give_to_owner, programs, until
from deployment import STILL
import free_ports


class PatroniServer(Server):
    """A server that Patroni starts and looks after. JSON is YAML."""

    def __init__(self, directory, number, port, log, rest, etcd):
        super().__init__(directory, number, port, log)
        self.rest, self.etcd = rest, etcd

    def start(self):
        path = f"{self.directory}/{self.name}.yml"
        with open(path, "w") as file:
            json.dump(self.configuration(), file)
        give_to_owner(path)
        self.spawn("patroni", path)

    def configuration(self):
        trusted = ["host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]
        user = {"username": USER}
        return {
            "scope": "tender", "name": self.name, "etcd3": {"host": f"127.0.0.1:{self.etcd}"},
            "restapi": {"listen": f"127.0.0.1:{self.rest}", "connect_address": f"127.0.0.1:{self.rest}"},
            "bootstrap": {
                "dcs": {
                    # The shortest time that Patroni allows.
                    "ttl": 20, "loop_wait": 2, "retry_timeout": 5, "primary_start_timeout": 0,
                    "synchronous_mode": True, "synchronous_mode_strict": True,
                    "postgresql": {"use_pg_rewind": True, "use_slots": False, "parameters": SETTINGS}},
                "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, {"auth": "trust"}]},
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}", "connect_address": f"127.0.0.1:{self.port}", "data_dir": self.data,
                "bin_dir": programs(), "pgpass": f"{self.directory}/{self.name}.pgpass", "pg_hba": trusted,
                "parameters": {"unix_socket_directories": ""},
                "authentication": {"superuser": user, "replication": user, "rewind": user}}}


class PatroniCluster(Cluster):
    """Three servers that choose their primary themselves."""

    limit = 30
    can_split = False

    def __init__(self, directory):
        self.directory, self.etcd_port, self.etcd = directory, free_ports.row(2), None
        self.rest = free_ports.row(3)
        super().__init__(directory)

    def server(self, directory, number, port):
        return PatroniServer(directory, number, port, self.log, self.rest + number, self.etcd_port)

    def open(self):
        self.run_etcd()
        for server in self.servers:
            server.start()
        self.primary = self.elected(self.servers)
        # Without a standby nothing is confirmed.
        self.whole()
        self.make_database()

    def run_etcd(self):
        client, peer = (f"http://127.0.0.1:{self.etcd_port + number}" for number in range(2))
        self.etcd = subprocess.Popen(
            [*OWNER, "etcd", "--data-dir", self.directory + "/etcd", "--listen-client-urls", client,
             "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
             "--initial-cluster", f"default={peer}", "--log-level", "error"],
            cwd=self.directory, stdout=self.log, stderr=self.log)

    def elected(self, candidates, patience=STILL):
        found = []

        def has_primary():
            found[:] = [server for server in candidates if server.is_primary()]
            return found

        until(has_primary, patience, "no primary is elected")
        return found[0]

    def promote(self):
        old = self.primary
        self.primary = self.elected([server for server in self.servers if server is not old])
        return old

    def rejoin(self, old):
        old.start()
        self.whole()

    def close(self):
        super().close()
        if self.etcd:
            self.etcd.kill()
            self.etcd.wait(STILL)
