"""Shoppers who pay, and their merchants who capture, void and refund. When a process dies, they repeat a call until they
know its outcome, and record each answer before they continue."""
import random, threading, time
from deployment import TROUBLE, call

# Two amounts are not approved at once: the sandbox declines 20.51 and decides 20.99 later.
AMOUNTS = [1250, 1250, 990, 75000, 75000, 2051, 2099]


def reported_outcome(status, answer):
    """The outcome that an answer to a payment reports."""
    if answer.get("code") == "paid_before_restore":
        return "refused"
    if status == 200 and answer.get("status") in ("authorizing", "pending", "unknown") or status in (202, 409):
        return "pending"
    return {200: "success", 402: "failure"}.get(status, "refused")


class Shopper(threading.Thread):
    """Pays one basket after another, and then captures, voids and refunds as its merchant."""

    def __init__(self, deployment, journal, seed, stop):
        super().__init__(daemon=True)
        self.deployment, self.journal, self.stop = deployment, journal, stop
        self.dice = random.Random(seed)
        self.paid = self.moved = self.asked = self.number = 0
        # Errors: accepted baskets that are gone.
        self.wrong = []
        # Orders with an unknown outcome: asked about again at the end.
        self.owed = []
        # Payments to capture, void or refund; and prefixes of payment tokens, which no file may contain.
        self.mine, self.tokens = [], []

    def run(self):
        while not self.stop.is_set():
            try:
                if not self.deployment.accepts_shoppers.wait(0.2):
                    continue
                if self.mine and self.dice.random() < 0.5:
                    self.sell(self.dice.choice(self.mine[-8:]))
                else:
                    self.buy()
            except TROUBLE:
                time.sleep(0.1)
            except AssertionError as error:
                self.wrong.append(str(error))
        for order in self.owed:
            while not self.pay(*order)[0]:
                time.sleep(0.3)

    def until(self, ask):
        while True:
            try:
                status, body = ask()
                # `acquirer_unreachable` is final for the payment and for this payment token.
                if status < 500 or body["code"] == "acquirer_unreachable":
                    return status, body
            except (*TROUBLE, TypeError, KeyError):
                pass
            time.sleep(0.05 + self.dice.random() * 0.1)

    def buy(self):
        basket, deployment = "%032x" % self.dice.getrandbits(128), self.deployment
        amount, capture = self.dice.choice(AMOUNTS), self.dice.choice(["immediate", "manual", "manual"])
        status = 403
        while status == 403:  # The clock was changed between signing and reading.
            status, answer = self.until(lambda: deployment.put_basket(basket, amount, capture))
        assert status == 200, f"a basket: {status} {answer}"
        status, sheet = self.until(lambda: deployment.sheet(basket))
        if status == 410:
            return  # The clock was changed, and the basket has expired.
        assert status == 200, f"an accepted basket: {status} {sheet}"
        token = deployment.token(sheet)
        self.tokens = self.tokens[-1:] + [token["paymentData"]["data"][:48]]
        order = deployment.payment(basket, sheet, token)
        for _ in range(3):
            is_known, payment = self.pay(order)
            if is_known:
                break
            time.sleep(0.2 + self.dice.random() * 0.3)
        else:
            self.owed.append((order,))
        if payment:
            self.mine.append(payment)
            self.sell(payment)

    def send(self, order):
        return call(self.deployment.base, "POST", "/applepay/payment", order)

    def pay(self, order):
        """Whether the outcome is definite, and the payment if it succeeded."""
        status, answer = self.until(lambda: self.send(order))
        word, basket = reported_outcome(status, answer), order["basketId"]
        self.journal.write(
            order=answer.get("orderId") or basket, key=basket, outcome=word,
            **({"payment": answer["paymentId"]} if answer.get("paymentId") and word != "refused" else {}))
        self.asked += 1
        self.paid += word == "success"
        return word in ("success", "failure", "refused"), answer.get("paymentId") if word == "success" else None

    def sell(self, payment):
        """Captures, voids and refunds parts of a payment, and records every answer with its balances."""
        for _ in range(self.dice.randrange(1, 4)):
            verb = self.dice.choice(["capture", "capture", "void", "refund", "refund"])
            amount = self.dice.choice(["", "?amount=1.00", "?amount=5.00", "?amount=1.00&final=true"])
            self.number += 1
            try:
                status, answer = self.deployment.administer("POST", f"/payments/{payment}/{verb}{amount}")
            except TROUBLE:
                continue  # The outcome is unknown here; recovery resolves it, and the auditor checks it.
            if status == 200:
                self.moved += 1
                if self.dice.random() < 0.5:
                    self.deployment.settle_capture(answer)
                self.journal.write(
                    order=answer["order"], key=f"{payment} {self.number}", outcome="success", payment=payment,
                    captured=answer["captured"], refunded=answer["refunded"])
