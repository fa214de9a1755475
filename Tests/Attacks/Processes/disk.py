#!/usr/bin/python3
"""Runs a server on a disk that is full, read-only, loses writes, or loses power: scripts/attack disk

The server is the product; a preloaded library simulates the disk (Tests/Attacks/Processes).

While the disk is full or read-only, the server answers reads, refuses writes with 503, and reports no payment that is not
in its store; when the disk works again, so does the server, without a restart. After a failed flush the server ends: what
is on the disk is then unknown, and only a process that reads it again may continue.

A power cut loses everything that was written and not flushed. What the server reported to a client is still there
afterwards. The same runs on a disk that confirms flushes and keeps nothing: there the auditor must find something missing.

CYCLES=6    failures of each kind
CUTS=40     cuts of the power
"""
import glob, http.client, os, random, shutil, sys, tempfile, threading, time

from deployment import DECRYPTED, LEASE, SEALED, STILL, TROUBLE, Deployment, Journal, call
from shoppers import Shopper, reported_outcome
from verdict import verify

CYCLES, CUTS = int(os.environ.get("CYCLES", "6")), int(os.environ.get("CUTS", "40"))
SEED = int(os.environ.get("SEED", "1"))


def say(*words):
    print("disk:", *words, flush=True)


def check(truth, text):
    if not truth:
        raise SystemExit(f"disk: {text}")


class FailingDeployment(Deployment):
    """A deployment whose server's disk can be made to fail."""

    def __init__(self, directory, kind):
        super().__init__(directory, kind)
        self.switch, self.dice = directory + "/switch", random.Random(SEED)

    def serve(self, point=None, **extras):
        super().serve(point, preload=[self.shim("failing-disk")], FAILING_DISK=self.switch, **extras)

    def fail(self, how):
        with open(self.switch, "w") as file:
            file.write(how)

    def heal(self):
        os.remove(self.switch)

    def basket(self):
        basket = "%032x" % self.dice.getrandbits(128)
        return basket, self.put_basket(basket, 1250, "immediate")[0]

    def order(self, basket):
        sheet = self.sheet(basket)[1]
        return self.payment(basket, sheet, self.token(sheet))

    def pay(self, journal, order):
        status, answer = call(self.base, "POST", "/applepay/payment", order)
        word = reported_outcome(status, answer)
        journal.write(
            order=answer.get("orderId") or order["basketId"], key=order["basketId"], outcome=word,
            **({"payment": answer["paymentId"]} if answer.get("paymentId") and word != "refused" else {}))
        return status, answer


def cycle(deployment, journal, how):
    """One failure and the recovery from it. Returns the seconds until the server accepted writes again."""
    ready, status = deployment.basket()
    check(status == 200, f"a basket before the failure: {status}")
    deployment.fail(how)
    check(deployment.sheet(ready)[0] in (200, 503), "a read while the disk fails")
    check(call(deployment.base, "GET", "/healthz")[0] == 200, "the server does not answer while the disk fails")
    _, status = deployment.basket()
    check(status == 503, f"a basket on a disk that is {how}: {status}")
    deployment.heal()
    begin = time.monotonic()
    while True:
        basket, status = deployment.basket()
        if status == 200:
            break
        check(time.monotonic() - begin < STILL, f"not healed after {STILL} s: {status}")
        time.sleep(0.05)
    healed = time.monotonic() - begin
    status, _ = deployment.pay(journal, deployment.order(basket))
    check(status == 200, f"a payment after the failure: {status}")
    return healed


def broken_payment(deployment, journal, how):
    """The disk fails after the shopper authorized: without a claim the server does not call the acquirer."""
    order = deployment.order(deployment.basket()[0])
    deployment.fail(how)
    status, answer = deployment.pay(journal, order)
    check(status == 503, f"a payment on a disk that is {how}: {status} {answer}")
    deployment.heal()
    status, answer = deployment.pay(journal, order)
    check(status == 200, f"the same payment afterwards: {status} {answer}")


def lost_flush(deployment, journal):
    """A failed flush ends the server, and the write is not confirmed."""
    basket, _ = deployment.basket()
    deployment.fail("flush")
    try:
        _, status = deployment.basket()
        check(status >= 500, f"a basket whose flush failed was answered with {status}")
    except TROUBLE:
        pass
    check(deployment.server.wait(STILL) != 0, "the server ended as if nothing had happened")
    deployment.heal()
    deployment.serve()
    status, _ = deployment.pay(journal, deployment.order(basket))
    check(status == 200, f"a payment after the new start: {status}")


def lost_capture(deployment, journal):
    """A capture whose flush failed may be done after the new start: nobody is told to repeat it."""
    basket = "%032x" % deployment.dice.getrandbits(128)
    check(deployment.put_basket(basket, 80_000, "manual")[0] == 200, "a basket before the failure")
    status, paid = deployment.pay(journal, deployment.order(basket))
    check(status == 200, f"a payment before the failure: {status}")
    # The capture's own commit does not begin a new log.
    deployment.basket()
    deployment.fail("flush")
    try:
        status, answer = deployment.signed("POST", f"/v2/harbour/payments/{paid['paymentId']}_0/capture", {"amount": 40_000})
        fault = (answer.get("errors") or [{}])[0]
        check(status >= 500 and fault.get("retriable") is False, f"a capture whose flush failed: {status} {answer}")
        status, answer = deployment.signed("GET", f"/v2/harbour/payments/{paid['paymentId']}_0", None)
        check(status >= 500, f"a payment after a flush that failed: {status} {answer}")
        status, answer = deployment.signed("POST", f"/v2/harbour/payments/{paid['paymentId']}_0/capture", {"amount": 40_000})
        fault = (answer.get("errors") or [{}])[0]
        check(status >= 500 and fault.get("retriable") is False, f"the capture again: {status} {answer}")
    except TROUBLE:
        pass
    check(deployment.server.wait(STILL) != 0, "the server ended as if nothing had happened")
    deployment.heal()
    deployment.serve()


def lost_flush_during_a_call(deployment, journal):
    """A failed flush ends the server while an acquirer has not answered: the server does not wait for the call."""
    deployment.kill()
    # A server that waits kills itself when the call has ended.
    deployment.serve(point="authorize.answered")
    basket = "%032x" % deployment.dice.getrandbits(128)
    # The acquirer does not answer to this amount.
    check(deployment.put_basket(basket, 2069, "immediate")[0] == 200, "a basket before the failure")
    order = deployment.order(basket)

    def pay():
        try:
            deployment.pay(journal, order)
        except TROUBLE:
            pass

    caller = threading.Thread(target=pay)
    caller.start()
    while not deployment.metrics().get('tender_payments_unsettled{status="authorizing"}'):
        time.sleep(0.05)
    kept = http.client.HTTPConnection("127.0.0.1", deployment.port, timeout=STILL)
    kept.request("GET", "/readyz")
    check(kept.getresponse().read() and kept.sock, "a connection before the failure")
    deployment.fail("flush")
    try:
        _, status = deployment.basket()
        check(status >= 500, f"a basket whose flush failed was answered with {status}")
    except TROUBLE:
        pass
    try:
        kept.request("GET", "/readyz")
        check(kept.getresponse().status == 503, "a server without its store says that it is ready")
    except TROUBLE:
        pass
    try:
        call(deployment.base, "GET", "/healthz")
    except TROUBLE:
        pass
    else:
        raise SystemExit("disk: a server without its store took a new connection")
    ended = deployment.server.wait(STILL)
    check(ended == 1, f"the server ended with {ended}: it waited for the acquirer")
    caller.join()
    deployment.heal()
    deployment.serve()


def failures(kind, directory):
    deployment = FailingDeployment(directory, kind)
    try:
        deployment.open()
        deployment.serve()
        journal = Journal(directory + "/client.jsonl")
        for how in ("full", "readonly"):
            healed = [cycle(deployment, journal, how) for _ in range(CYCLES)]
            broken_payment(deployment, journal, how)
            say(f"{kind.name}: {how}, {CYCLES} times; healed after {max(healed):.2f} s at most")
        for _ in range(3):
            lost_flush(deployment, journal)
        lost_capture(deployment, journal)
        lost_flush_during_a_call(deployment, journal)
        say(f"{kind.name}: a flush that failed, 5 times; the server ended each time")
        check(deployment.settle() is not None, "an outcome is still unknown")
        deployment.kill_all()
        check(verify(deployment), "the ledgers differ")
    finally:
        deployment.kill_all()


class DarkDeployment(Deployment):
    """A deployment whose server loses power."""

    def __init__(self, directory, kind, lies):
        super().__init__(directory, kind)
        self.kept, self.lies = directory + "/kept", {"FORGETFUL_DISK_LIES": "yes"} if lies else {}
        os.mkdir(self.kept)

    def serve(self, point=None, **extras):
        super().serve(
            point, preload=[self.shim("forgetful-disk")], FORGETFUL_DISK=self.kept, **self.lies, **extras)

    def cut(self):
        """Kills the server and keeps only what was flushed. Returns how many files lost something."""
        self.kill()
        lost = 0
        for path in glob.glob(self.store + "*"):
            kept = self.kept + "/" + os.path.basename(path)
            if path.endswith(("-shm", ".sock")):
                os.remove(path)
            elif os.path.exists(kept):
                lost += open(path, "rb").read() != open(kept, "rb").read()
                shutil.copyfile(kept, path)
        return lost


def cuts(kind, count, directory, lies=False):
    """Cuts the power under load. Returns whether everything that was reported to a client is still there."""
    deployment, closing, dice = DarkDeployment(directory, kind, lies), threading.Event(), random.Random(SEED)
    try:
        deployment.open()
        if lies:
            # The disk holds the store as it is at the beginning, and keeps no later write.
            super(DarkDeployment, deployment).serve()
            deployment.end(deployment.server, 15)
            shutil.copyfile(deployment.store, deployment.kept + "/tender.db")
        deployment.serve()
        journal = Journal(directory + "/client.jsonl")
        shoppers = [Shopper(deployment, journal, SEED * 1000 + number, closing) for number in range(4)]
        for shopper in shoppers:
            shopper.start()
        lost, begin = 0, time.monotonic()
        for _ in range(count):
            time.sleep(dice.uniform(0.2, 0.8))
            # Only what a client was told can be missed.
            while lies and not any(shopper.paid for shopper in shoppers):
                check(time.monotonic() - begin < STILL, "nothing was paid")
                time.sleep(0.05)
            lost += deployment.cut() > 0
            if dice.random() < 0.3:
                deployment.clock.jump(LEASE)
            deployment.serve()
        closing.set()
        # What is lost on the disk that lies is never settled.
        answered = deployment.all_answered(shoppers, patience=5 if lies else STILL)
        resolved = deployment.settle(patience=10 if lies else STILL)
        deployment.kill_all()
        good = verify(deployment, shoppers, quiet=lies)
        if not lies:
            say(f"{kind.name}: {count} power cuts, of which {lost} lost something that was not flushed yet; "
                f"{sum(s.paid for s in shoppers)} payments")
            check(answered, "a shopper has no final answer")
            check(resolved is not None, "an outcome is still unknown")
            wrong = [wrong for shopper in shoppers for wrong in shopper.wrong]
            check(not wrong, f"{wrong[:1]}")
            # A few cuts may all come at a moment when everything is flushed.
            check(lost > 0 or count < 10, "no cut lost anything: the simulated disk keeps what was not flushed")
        return good
    finally:
        closing.set()
        deployment.kill_all()


def within(directory_of, work, *words, **options):
    """Runs `work` in a directory of its own, which is kept if it fails."""
    directory = tempfile.mkdtemp(prefix=f"tender-{directory_of}-")
    try:
        outcome = work(*words, directory, **options)
    except BaseException:
        say(f"its files are in {directory}")
        raise
    shutil.rmtree(directory)
    return outcome


def main():
    begin = time.monotonic()
    within("disk", failures, DECRYPTED)
    for kind, count in ((DECRYPTED, CUTS - CUTS // 2), (SEALED, CUTS // 2)):
        check(within("dark", cuts, kind, count), "something that was reported to a client was lost")
    check(not within("dark", cuts, DECRYPTED, 3, lies=True), "the loss on a disk that keeps nothing was not detected")
    say("the loss on a disk that keeps nothing was detected")
    say(f"passed, {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
