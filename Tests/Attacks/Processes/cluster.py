"""PostgreSQL on three servers of this machine: a primary and two standbys, of which one must have every commit. Servers are
killed, promoted and rewound as the people or programs do that look after a database. Or on one server alone.

    scripts/attack failover, scripts/attack races, scripts/attack crash
"""
import glob, os, shutil, signal, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE + "/../../Support")
import free_ports
from deployment import STILL

USER = DATABASE = "tender"
# For every server. A server without the log's hints cannot be rewound. No connection between servers ends because a test
# sets the clock.
SETTINGS = {
    "listen_addresses": "127.0.0.1", "unix_socket_directories": "", "wal_log_hints": "on", "hot_standby": "on",
    "wal_keep_size": "256MB", "max_wal_senders": "10", "max_connections": "100", "wal_retrieve_retry_interval": "200ms",
    "synchronous_commit": "on", "shared_buffers": "32MB", "logging_collector": "off", "wal_receiver_timeout": "0", "wal_sender_timeout": "0"}
SYNCHRONOUS = "ANY 1 (pg0, pg1, pg2)"


class Failed(Exception):
    """A command of PostgreSQL that failed."""


def programs():
    """Where Debian keeps PostgreSQL's programs, off the PATH."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: float(path.split("/")[4]))
    found = found[-1] if found else shutil.which("initdb")
    if not found:
        raise SystemExit("PostgreSQL is missing; Debian's package is postgresql")
    return os.path.dirname(found)


# PostgreSQL refuses to run as root.
OWNER = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] if os.geteuid() == 0 else []


def give_to_owner(directory):
    if OWNER:
        shutil.chown(directory, "postgres")


def processes(root):
    """A process and all that it started."""
    parents = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as file:
                text = file.read()
        except OSError:
            continue
        parents.setdefault(int(text.rpartition(")")[2].split()[1]), []).append(int(path.split("/")[2]))
    found = [root]
    for process in found:
        found += parents.get(process, [])
    return found


def send(root, what):
    """Sends a signal to a process and all that it started: first to that which could start others."""
    for process in processes(root):
        try:
            os.kill(process, what)
        except ProcessLookupError:
            pass


class Server:
    """One server: its port, its files, its process."""

    def __init__(self, directory, number, port, log):
        self.name, self.port, self.log = f"pg{number}", port, log
        self.directory, self.data = directory, f"{directory}/pg{number}"
        self.process, self.environment = None, {}

    @property
    def connection(self):
        return f"host=127.0.0.1 port={self.port} user={USER} dbname={DATABASE}"

    def command(self, program, *words, check=True):
        done = subprocess.run(
            [*OWNER, f"{programs()}/{program}", *words], cwd=self.directory, stdout=self.log, stderr=self.log)
        if check and done.returncode:
            raise Failed(f"{program} ended with {done.returncode}")
        return done.returncode == 0

    def initialise(self):
        """Makes the files of a new primary."""
        self.command("initdb", "-D", self.data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        with open(self.data + "/pg_hba.conf", "a") as file:
            file.write("host replication all 127.0.0.1/32 trust\n")
        with open(self.data + "/postgresql.conf", "a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in SETTINGS.items())

    def start(self):
        self.spawn(f"{programs()}/postgres", "-D", self.data, "-c", f"port={self.port}", "-c", f"cluster_name={self.name}")

    def spawn(self, *words):
        self.process = subprocess.Popen(
            [*OWNER, *words], cwd=self.directory, stdout=self.log, stderr=self.log,
            env={**os.environ, **self.environment})

    def kill(self):
        if self.process:
            for root in self.roots():
                send(root, signal.SIGKILL)
            self.process.wait(STILL)
            self.process = None

    def roots(self):
        """The process that was started, and PostgreSQL's own where that one let go of it."""
        try:
            with open(self.data + "/postmaster.pid") as file:
                return [self.process.pid, int(file.readline())]
        except (OSError, ValueError):
            return [self.process.pid]

    def freeze(self):
        send(self.process.pid, signal.SIGSTOP)

    def thaw(self):
        send(self.process.pid, signal.SIGCONT)

    def ask(self, sql, patience=STILL, database=DATABASE):
        """The answer of psql; nothing if the server cannot be asked."""
        try:
            done = subprocess.run(
                [f"{programs()}/psql", "-XAtq", "-h", "127.0.0.1", "-p", str(self.port), "-U", USER, "-d", database,
                 "-v", "ON_ERROR_STOP=1", "-c", sql], capture_output=True, text=True, timeout=patience,
                env={**os.environ, "PGCONNECT_TIMEOUT": str(patience)})
        except subprocess.TimeoutExpired:
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    def is_primary(self):
        return self.process is not None and self.ask("SELECT pg_is_in_recovery()", database="postgres") == "f"

    def received(self):
        """The end of the log that a standby has, as a number of bytes. What is on the way from a primary that was killed
        arrives a little later: it counts."""
        sql = "SELECT pg_wal_lsn_diff(GREATEST(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), '0/0')"
        seen = []

        def stays():
            seen.append(self.ask(sql))
            time.sleep(0.1)
            return seen[-1] and len(seen) > 2 and len(set(seen[-3:])) == 1

        until(stays, STILL, f"{self.name} does not say what it has")
        return int(seen[-1])

    def write(self, name, text):
        path = f"{self.data}/{name}"
        with open(path, "w") as file:
            file.write(text)
        give_to_owner(path)

    def follow(self, primary):
        """Makes this server a standby of another one; one that runs changes over at once."""
        self.write("postgresql.auto.conf", f"primary_conninfo = '{primary.connection} application_name={self.name}'\n"
                   + self.commits)
        if self.process:
            os.kill(self.process.pid, signal.SIGHUP)
        else:
            self.write("standby.signal", "")

    commits = f"synchronous_standby_names = '{SYNCHRONOUS}'\n"


def until(condition, patience, failure):
    """Waits for a condition and returns the seconds that it took."""
    begin = time.monotonic()
    while not condition():
        if time.monotonic() - begin > patience:
            raise Failed(failure)
        time.sleep(0.05)
    return time.monotonic() - begin


def make_database(self):
    def made():
        there = self.primary.ask("SELECT datname FROM pg_database", database="postgres") or ""
        return DATABASE in there.split() or self.primary.ask(f"CREATE DATABASE {DATABASE}", database="postgres")

    until(made, STILL, "the primary makes no database")


class SingleServer:
    """One server without a standby, for scripts that kill what uses it. Its folder ends with it."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="tender-postgres-")
        os.chmod(self.directory, 0o755)
        give_to_owner(self.directory)
        self.log = open(self.directory + "/log", "ab")
        self.primary = Server(self.directory, 0, free_ports.row(1), self.log)

    make_database = make_database

    def share_clock(self, environment):
        self.primary.environment = environment

    @property
    def address(self):
        return f"postgres://{USER}@127.0.0.1:{self.primary.port}/{DATABASE}"

    def open(self):
        self.primary.initialise()
        self.primary.start()
        self.make_database()

    def close(self):
        self.primary.kill()
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)


class Cluster:
    """Three servers. This class decides which is the primary, as a person with a runbook does."""

    make_database = make_database
    # How long it may take until payments are taken again, in seconds.
    limit = 10
    # Whether this class can make two primaries.
    can_split = True

    def __init__(self, directory, is_synchronous=True):
        """Without a synchronous standby the primary confirms commits that no other server has."""
        os.makedirs(directory, exist_ok=True)
        give_to_owner(directory)
        self.log = open(directory + ".log", "ab")
        first = free_ports.row(3)
        self.servers = [self.server(directory, number, first + number) for number in range(3)]
        self.is_synchronous = is_synchronous
        if not is_synchronous:
            for server in self.servers:
                server.commits = "synchronous_standby_names = ''\n"
        self.primary, self.copied = self.servers[0], 0

    def server(self, directory, number, port):
        return Server(directory, number, port, self.log)

    def share_clock(self, environment):
        """The variables that make a server take the time from the deployment's clock."""
        for server in self.servers:
            server.environment = environment

    @property
    def address(self):
        hosts = ",".join(f"127.0.0.1:{server.port}" for server in self.servers)
        return f"postgres://{USER}@{hosts}/{DATABASE}"

    @property
    def standbys(self):
        return [server for server in self.servers if server is not self.primary]

    def open(self):
        self.primary.initialise()
        self.primary.start()
        self.make_database()
        for standby in self.standbys:
            self.copy(standby)
        self.confirm_commits()
        self.whole()

    def copy(self, standby):
        """Makes a standby of nothing."""
        shutil.rmtree(standby.data, ignore_errors=True)
        standby.command("pg_basebackup", "-D", standby.data, "-d", self.primary.connection, "-c", "fast")
        standby.follow(self.primary)
        standby.start()

    def confirm_commits(self):
        """From now on the primary confirms a commit when a standby has it."""
        self.primary.write("postgresql.auto.conf", self.primary.commits)
        os.kill(self.primary.process.pid, signal.SIGHUP)

    def whole(self, patience=STILL):
        """Waits until both standbys follow."""
        count = "SELECT COUNT(*) FROM pg_stat_replication WHERE state = 'streaming' AND application_name LIKE 'pg_'"
        until(lambda: self.primary.ask(count, database="postgres") == "2", patience, "a standby does not follow")

    # Failures and what is done about them.

    def kill_primary(self):
        if not self.is_synchronous:
            self.delay_standbys()
        self.primary.kill()

    def delay_standbys(self):
        """The network to the standbys is slow: what is committed now only the primary has."""
        for process in processes(self.primary.process.pid)[1:]:
            with open(f"/proc/{process}/cmdline") as file:
                if "walsender" in file.read():
                    os.kill(process, signal.SIGSTOP)
        time.sleep(0.5)

    def promote(self):
        """Makes the standby that has more of the log the primary."""
        old = self.primary
        new = max(self.standbys, key=lambda standby: standby.received())
        new.write("postgresql.auto.conf", new.commits)
        new.command("pg_ctl", "promote", "-W", "-D", new.data)
        self.primary = new
        for standby in self.standbys:
            if standby is not old:
                standby.follow(new)
        return old

    def rejoin(self, old):
        """Makes a server that was primary a standby: its log is taken back to where the other one's begins."""
        old.kill()
        # Until its first checkpoint the new primary's files say that it is on the old timeline.
        self.primary.ask("CHECKPOINT")
        if not old.command("pg_rewind", "-D", old.data, f"--source-server={self.primary.connection}", check=False):
            self.copied += 1
            self.copy(old)
        else:
            old.follow(self.primary)
            old.start()
        self.whole()

    def restart(self, standby, wait=True):
        """Starts a standby that was killed."""
        standby.start()
        if wait:
            self.whole()

    def forget_standbys(self):
        """Waits until the primary knows that it has no standby."""
        until(lambda: self.primary.ask("SELECT COUNT(*) FROM pg_stat_replication") == "0", STILL, "a standby is left")

    def close(self):
        for server in self.servers:
            server.kill()
        self.log.close()
