#!/usr/bin/python3
"""Sets the clock of a server while shoppers pay: scripts/attack clock

It sets the wall clock of a running `tender serve`, and no other process's, an hour ahead, an hour back and six minutes
ahead (Tests/Attacks/Processes/shifted-clock.c). First one case at a time, then under load with kills, with payment tokens
that the server decrypts and with sealed ones. Then the auditor checks the files.
"""
import os, random, shutil, sqlite3, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
from deployment import DECRYPTED, LEASE, SEALED, TROUBLE, Clock, Deployment, Journal, call
from shoppers import Shopper, reported_outcome
from verdict import verify

SEED = int(os.environ.get("SEED", "1"))
HOUR, SIX_MINUTES = 3600, 360


def check(truth, text):
    if not truth:
        raise SystemExit(f"clock: {text}")


class AllClocks:
    """All clocks at once: real time passes."""

    def __init__(self, deployment):
        self.clocks = [deployment.clock, deployment.server_clock]
        self.now = deployment.clock.now

    def jump(self, seconds):
        for clock in self.clocks:
            clock.jump(seconds)


class Visit:
    def __init__(self, deployment):
        self.deployment, self.dice = deployment, random.Random(SEED)
        self.journal = Journal(deployment.directory + "/client.jsonl")

    def order(self):
        basket = "%032x" % self.dice.getrandbits(128)
        status, answer = self.deployment.put_basket(basket, 1250, "manual")
        check(status == 200, f"a basket: {status} {answer}")
        sheet = self.deployment.sheet(basket)[1]
        return self.deployment.payment(basket, sheet, self.deployment.token(sheet))

    def pay(self, order):
        status, answer = call(self.deployment.base, "POST", "/applepay/payment", order)
        word = reported_outcome(status, answer)
        self.journal.write(
            order=answer.get("orderId") or order["basketId"], key=order["basketId"], outcome=word,
            **({"payment": answer["paymentId"]} if answer.get("paymentId") and word != "refused" else {}))
        return status, answer

    def asked(self, order):
        """How many authorizations of the order the acquirer has."""
        store = sqlite3.connect(f"file:{self.deployment.ledger}?mode=ro", uri=True)
        try:
            name = "T-" + order["basketId"][:12]
            return store.execute("SELECT COUNT(*) FROM holds WHERE merchant_reference = ?", [name]).fetchone()[0]
        finally:
            store.close()

    def a_token_outside_its_window(self, jump):
        """The server's clock decides, and a refused payment token can be sent again."""
        order = self.order()
        self.deployment.server_clock.jump(jump)
        status, answer = self.pay(order)
        check(status == 422 and self.asked(order) == 0, f"a payment token, the clock set by {jump}: {status} {answer}")
        self.deployment.server_clock.jump(-jump)
        status, answer = self.pay(order)
        check(status == 200 and self.asked(order) == 1, f"the same with the clock right again: {status} {answer}")

    def a_signature_outside_its_window(self, jump):
        now = self.deployment.server_clock
        self.deployment.server_clock = self.deployment.clock
        try:
            now.jump(jump)
            status, _ = self.deployment.put_basket("%032x" % self.dice.getrandbits(128), 1250, "manual")
            now.jump(-jump)
        finally:
            self.deployment.server_clock = now
        check(status == 403, f"a signed request, the clock set by {jump}: {status}")

    def a_lease(self, jump):
        """Recovery takes the authorization of a killed process only after the lease has ended."""
        deployment, order = self.deployment, self.order()
        deployment.kill()
        deployment.serve("authorize.claimed")
        try:
            self.pay(order)
        except TROUBLE:
            pass
        check(deployment.died(20), "the crash point was not reached")
        deployment.server_clock.jump(jump)
        deployment.serve()
        time.sleep(2.5)
        left = deployment.metrics().get("tender_operations_open", 0)
        deployment.server_clock.jump(-jump)
        if jump < 0:
            check(left == 1, "a lease ended although the clock had been set back")
            AllClocks(deployment).jump(LEASE)
        end = time.monotonic() + 20
        while deployment.metrics().get("tender_operations_open", 0) and time.monotonic() < end:
            time.sleep(0.2)
        check(not deployment.metrics().get("tender_operations_open", 0), f"still open, the clock set by {jump} and back")
        check(self.asked(order) == 0, "the authorization was sent although its process had died")

    def under_load(self):
        deployment, closing = self.deployment, threading.Event()
        shoppers = [Shopper(deployment, self.journal, SEED * 1000 + number, closing) for number in range(4)]
        for shopper in shoppers:
            shopper.start()
        for jump in (HOUR, -HOUR, -HOUR, HOUR, SIX_MINUTES, -SIX_MINUTES) * 2:
            time.sleep(self.dice.uniform(0.3, 0.8))
            deployment.server_clock.jump(jump)
            time.sleep(self.dice.uniform(0.3, 0.8))
            if self.dice.random() < 0.5:
                deployment.kill()
                deployment.serve()
        closing.set()
        # Work that was scheduled while the clock was ahead waits for that time.
        AllClocks(deployment).jump(HOUR)
        end = time.monotonic() + 60
        while any(shopper.is_alive() for shopper in shoppers) and time.monotonic() < end:
            time.sleep(1.2)
            AllClocks(deployment).jump(LEASE)
        check(not any(shopper.is_alive() for shopper in shoppers), "a shopper has no final answer")
        wrong = [wrong for shopper in shoppers for wrong in shopper.wrong]
        check(not wrong, f"{wrong[:1]}")
        return shoppers

    def expiries(self):
        store = sqlite3.connect(self.deployment.store)
        try:
            return store.execute("SELECT COUNT(*) FROM operations WHERE cause = 'expiry'").fetchone()[0]
        finally:
            store.close()


def run(kind):
    directory = tempfile.mkdtemp(prefix=f"tender-clock-{kind.name}-")
    deployment, good = Deployment(directory, kind), False
    deployment.server_clock = Clock(directory + "/server-clock")
    try:
        deployment.open()
        # The certificates are two hours old, so that an hour ago they were good.
        AllClocks(deployment).jump(2 * HOUR)
        deployment.serve()
        visit = Visit(deployment)
        for jump in (SIX_MINUTES, HOUR, -HOUR):
            visit.a_token_outside_its_window(jump)
            visit.a_signature_outside_its_window(jump)
        for jump in (-HOUR, HOUR):
            visit.a_lease(jump)
        shoppers = visit.under_load()
        check(deployment.settle(clock=AllClocks(deployment)) is not None, "an outcome is still unknown")
        deployment.kill_all()
        check(verify(deployment, shoppers), "the auditor objects")
        check(visit.expiries() == 0, "a hold ended before its time")
        print(f"clock: {kind.name}: 12 jumps under load, {sum(s.paid for s in shoppers)} payments", flush=True)
        good = True
    finally:
        deployment.kill_all()
        if good:
            shutil.rmtree(directory)
        else:
            print(f"clock: its files are in {directory}")


def main():
    begin = time.monotonic()
    run(DECRYPTED)
    run(SEALED)
    print(f"clock: passed, {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
