#!/usr/bin/python3
"""Kills PostgreSQL's primary, nodes or both while shoppers pay, promotes a standby, and checks the store with the auditor:

    scripts/attack failover [KILLS] [--patroni | --without-standby]

Two nodes of Tender share a store on three servers of PostgreSQL. The primary confirms a commit when one standby has it.
KILLS times, 100 by default, something is killed or stopped at a random moment; then a standby is promoted, the old primary
is rewound, and it goes on. Once in each run, also: all connections are ended again and again, a transaction holds a lock,
no standby is left, and a node is stopped for longer than its lease. At the end every outcome must be known, and what
shoppers, the merchant and the acquirer were told must be in the store.

--patroni           Patroni and etcd decide who is the primary, instead of this script
--without-standby   the negative control: commits are confirmed before a standby has them, and the loss must be noticed

SEED=7        chance
FAILURES='primary comes back, all die'   only these of the random failures
SHOPPERS=6    the number of shoppers
SECONDS=300   how long all connections are ended every two seconds
"""
import argparse, os, random, shutil, signal, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
from cluster import Cluster, Failed, until
from deployment import BINARIES, LEASE, Journal
from nodes import Nodes
from patroni import PatroniCluster
from shoppers import Shopper
from verdict import lost_answers, verify

SEED = int(os.environ.get("SEED", "1"))
SHOPPERS = int(os.environ.get("SHOPPERS", "6"))
SECONDS = int(os.environ.get("SECONDS", "300"))
FAILURES = [name.strip().replace(" ", "_") for name in os.environ.get("FAILURES", "").split(",") if name.strip()]
# A primary that is stopped closes no connection: each of a node's is given up only when its answer is overdue.
STOPPED_LIMIT = 15
# How long a call may wait for its answer, whatever the database does.
ANSWERED_WITHIN = 20


def say(*words):
    print("failover:", *words, flush=True)


class Rehearsal:
    """Two nodes, three servers of PostgreSQL, shoppers, and what happens to them."""

    def __init__(self, directory, cluster, seed):
        self.cluster, self.deployment = cluster, Nodes(directory, cluster)
        self.directory, self.dice, self.faults = directory, random.Random(seed), []
        self.shoppers, self.closing, self.lost = [], threading.Event(), 0
        self.pauses, self.stopped_pauses, self.counts, self.failure = [], [], {}, None

    def open(self):
        self.cluster.open()
        self.deployment.open()
        os.makedirs(self.directory + "/data", exist_ok=True)
        self.deployment.serve()
        journal = Journal(self.directory + "/client.jsonl")
        self.shoppers = [Shopper(self.deployment, journal, SEED * 1000 + number, self.closing) for number in range(SHOPPERS)]
        for shopper in self.shoppers:
            shopper.start()

    def require(self, truth, text):
        if not truth:
            say(text)
            self.faults.append(text)

    # Random failures.

    def fail_at_random(self, kills):
        kinds = [self.primary_dies] if not self.cluster.is_synchronous else [
            self.primary_dies, self.primary_dies, self.primary_and_a_node_die, self.both_nodes_die, self.all_die,
            self.a_standby_dies, *([self.primary_comes_back] if self.cluster.can_split else [])]
        named = {kind.__name__: kind for kind in kinds}
        if unknown := [name for name in FAILURES if name not in named]:
            raise SystemExit(f"failover: FAILURES names {', '.join(unknown)}; there are {', '.join(named)}")
        kinds = [named[name] for name in FAILURES] or kinds
        for number in range(kills):
            time.sleep(self.dice.uniform(0.5, 2.5))
            kind = kinds[number % len(kinds)]
            self.failure = kind.__name__.replace("_", " ")
            self.counts[self.failure] = self.counts.get(self.failure, 0) + 1
            kind()
            if number % 10 == 9:
                say(f"{number + 1} of {kills}; writing again after {max(self.pauses + self.stopped_pauses):.1f} s at most")

    def primary_dies(self):
        begin = time.monotonic()
        self.cluster.kill_primary()
        self.take_over(begin)

    def primary_and_a_node_die(self):
        begin, node = time.monotonic(), self.dice.choice(self.deployment.nodes)
        self.deployment.end(node.process)
        self.cluster.kill_primary()
        self.take_over(begin, [node])

    def all_die(self):
        begin = time.monotonic()
        self.cluster.kill_primary()
        self.deployment.kill()
        self.take_over(begin, self.deployment.nodes)

    def both_nodes_die(self):
        begin = time.monotonic()
        self.deployment.kill()
        self.write_again(begin, self.deployment.nodes)

    def a_standby_dies(self):
        begin, standby = time.monotonic(), self.dice.choice(self.cluster.standbys)
        standby.kill()
        self.write_again(begin)
        self.cluster.restart(standby)

    def primary_comes_back(self):
        """The primary is stopped and taken for dead. When it goes on there are two, and the old one confirms nothing."""
        begin = time.monotonic()
        self.cluster.primary.freeze()
        old = self.cluster.promote()
        self.write_again(begin, limit=STOPPED_LIMIT)
        old.thaw()
        time.sleep(1)
        self.require(old.is_primary(), "the old primary did not come back as one")
        self.require(
            old.ask("CREATE TABLE split_brain (x integer)", 3) is None, "the old primary confirmed a commit")
        self.cluster.rejoin(old)

    def take_over(self, begin, nodes=()):
        old = self.cluster.promote()
        self.write_again(begin, nodes)
        self.cluster.rejoin(old)

    def write_again(self, begin, nodes=(), limit=None):
        """Starts nodes, and waits until every node takes a basket."""
        for node in nodes:
            self.deployment.start_node(node)
        for node in nodes:
            self.deployment.serve_node(node)
        for node in self.deployment.nodes:
            until(lambda: self.deployment.basket(node, 3) == 200, 90, f"{node.name} takes no basket")
        pause = time.monotonic() - begin
        (self.stopped_pauses if limit else self.pauses).append(pause)
        self.require(pause <= (limit or self.cluster.limit), f"{self.failure}: writing again only after {pause:.1f} s")

    # Each once.

    def fail_in_turn(self):
        for failure in (self.connections_end, self.a_lock_is_held, self.no_standby_is_left, self.a_node_is_stopped):
            self.failure = failure.__name__.replace("_", " ")
            failure()

    def connections_end(self):
        end, count, before = time.monotonic() + SECONDS, 0, self.paid
        while time.monotonic() < end:
            ended = self.cluster.primary.ask(
                "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name LIKE 'tender%'")
            count += int(ended or 0)
            time.sleep(2)
        self.write_again(time.monotonic())
        self.require(self.paid > before, "nothing was paid while connections ended")
        say(f"{count} connections were ended in {SECONDS} s, and {self.paid - before} payments succeeded meanwhile")

    def a_lock_is_held(self):
        """Every connection of both nodes waits for a lock of another transaction; the answer is 503, and in time."""
        holder = threading.Thread(target=self.cluster.primary.ask, args=(
            "BEGIN; LOCK TABLE baskets, payments IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(12); COMMIT", 30))
        holder.start()
        time.sleep(1)
        answers = self.baskets_at_once(40)
        holder.join()
        self.require(
            all(status == 503 for status, _ in answers), f"while a lock is held: {sorted(set(status for status, _ in answers))}")
        longest = max(seconds for _, seconds in answers)
        self.require(longest <= ANSWERED_WITHIN, f"while a lock is held an answer took {longest:.1f} s")
        self.write_again(time.monotonic())
        say(f"a lock was held for 12 s: 40 calls at once were answered 503 after {longest:.1f} s at most")

    def no_standby_is_left(self):
        """Without a standby nothing is confirmed. Once there is one, it goes on."""
        standbys = list(self.cluster.standbys)
        for standby in standbys:
            standby.kill()
        self.cluster.forget_standbys()
        answers = self.baskets_at_once(4)
        self.require(
            all(status == 503 for status, _ in answers), f"without a standby: {sorted(set(status for status, _ in answers))}")
        begin = time.monotonic()
        for standby in standbys:
            self.cluster.restart(standby, wait=False)
        self.write_again(begin)
        self.cluster.whole()
        say(f"without a standby 4 calls were answered 503 after {max(seconds for _, seconds in answers):.1f} s at most")

    def a_node_is_stopped(self):
        """The other one takes its work over. When it goes on, its leases have ended and it changes nothing: the auditor sees."""
        node = self.dice.choice(self.deployment.nodes)
        node.process.send_signal(signal.SIGSTOP)
        self.deployment.clock.jump(LEASE)
        time.sleep(5)
        node.process.send_signal(signal.SIGCONT)
        self.write_again(time.monotonic())
        say(f"{node.name} was stopped until its leases had ended and the other one had taken over")

    def baskets_at_once(self, count):
        """The status and the seconds of each answer."""
        answers = []

        def put(node):
            begin = time.monotonic()
            answers.append((self.deployment.basket(node), time.monotonic() - begin))

        nodes = self.deployment.nodes
        threads = [threading.Thread(target=put, args=(nodes[number % len(nodes)],)) for number in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return answers

    # The end.

    @property
    def paid(self):
        return sum(shopper.paid for shopper in self.shoppers)

    def finish(self):
        self.closing.set()
        self.require(self.deployment.all_answered(self.shoppers), "a shopper has no final answer")
        # A basket that was accepted and is gone is a loss.
        for shopper in self.shoppers:
            self.faults += shopper.wrong
        self.require(self.deployment.settle() is not None, "an outcome is still unknown")
        self.deployment.kill_all()
        self.deployment.copy_to_file()
        self.require(verify(self.deployment, self.shoppers), "the auditor objects")
        self.lost = lost_answers(self.deployment)
        self.require(self.lost == 0, f"{self.lost} payments that were told to be successful are lost")

    def close(self):
        self.closing.set()
        for node in self.deployment.nodes:
            if node.process and node.process.poll() is None:
                node.process.send_signal(signal.SIGCONT)
        self.deployment.kill_all()
        self.cluster.close()


def run(options, directory):
    """A run from the first server to the auditor. Returns the violations and how many answers were lost."""
    place = directory + "/postgres"
    cluster = PatroniCluster(place) if options.patroni else Cluster(place, not options.without_standby)
    rehearsal = Rehearsal(directory + "/tender", cluster, SEED)
    try:
        rehearsal.open()
        rehearsal.fail_at_random(options.kills)
        if not options.without_standby:
            rehearsal.fail_in_turn()
        rehearsal.finish()
    except Failed as failure:
        rehearsal.faults.append(str(failure))
    finally:
        rehearsal.close()
    report(rehearsal)
    return rehearsal.faults, rehearsal.lost


def report(rehearsal):
    pauses, shoppers = sorted(rehearsal.pauses), rehearsal.shoppers
    say(", ".join(f"{name} {count}" for name, count in rehearsal.counts.items()))
    if pauses:
        say(f"writing again after {pauses[len(pauses) // 2]:.1f} s (median), {pauses[-1]:.1f} s (longest); "
            f"{rehearsal.cluster.copied} servers were copied because they could not be rewound")
    if rehearsal.stopped_pauses:
        say(f"after the primary was stopped, writing again after {max(rehearsal.stopped_pauses):.1f} s (longest)")
    say(f"{rehearsal.paid} of {sum(s.asked for s in shoppers)} answers were a success, "
        f"{sum(s.moved for s in shoppers)} captures, voids and refunds")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("kills", type=int, nargs="?", default=100, help="how often something fails")
    form = arguments.add_mutually_exclusive_group()
    form.add_argument("--patroni", action="store_true", help="Patroni and etcd choose the primary")
    form.add_argument("--without-standby", action="store_true", help="the negative control")
    options = arguments.parse_args()
    for program in ("tender", "tender-sandbox", "payment-auditor"):
        if not os.path.exists(f"{BINARIES}/{program}"):
            raise SystemExit(f"failover: first build it: scripts/build {os.environ.get('CONFIGURATION', 'debug')} {program}")
    begin = time.monotonic()
    directory = tempfile.mkdtemp(prefix="tender-failover-")
    os.chmod(directory, 0o755)
    os.makedirs(directory + "/tender")
    faults, lost = run(options, directory)
    if options.without_standby:
        say(f"{options.kills} kills without a synchronous standby: {lost} payments that were told to be successful are "
            f"lost, {len(faults)} kinds of violations noticed")
        shutil.rmtree(directory)
        sys.exit(0 if lost else 1)
    for fault in faults:
        say(fault)
    if faults:
        say(f"its files are in {directory}")
    else:
        shutil.rmtree(directory)
    say(f"{options.kills} kills, {len(faults)} violations, {time.monotonic() - begin:.0f} s, SEED={SEED}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
