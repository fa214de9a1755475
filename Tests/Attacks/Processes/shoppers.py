"""Shoppers who pay, and their merchants who capture, let go and give back; whatever dies meanwhile, they ask until they
know, and write down what they hear before they go on."""
import random, threading, time
from house import TROUBLE, call

# Amounts at which the sandbox does something else than approve: 20.51 is declined, 20.99 is decided later.
AMOUNTS = [1250, 1250, 990, 75000, 75000, 2051, 2099]


def heard(status, answer):
    """What a shopper makes of the answer to a payment."""
    if status == 200 and answer.get("status") in ("authorizing", "pending", "unknown") or status in (202, 409):
        return "pending"
    return {200: "success", 402: "failure"}.get(status, "refused")


class Shopper(threading.Thread):
    """Pays one basket after another, and is its merchant afterwards."""

    def __init__(self, house, journal, seed, stop):
        super().__init__(daemon=True)
        self.house, self.journal, self.stop = house, journal, stop
        self.dice = random.Random(seed)
        self.paid = self.moved = self.asked = self.number = 0
        # What must not be: a basket that was taken and is gone.
        self.wrong = []
        # What nobody knew yet: asked about again when the doors are closed for good.
        self.owed = []
        # What may be sold on, and the beginnings of payment tokens, which may be found nowhere.
        self.mine, self.tokens = [], []

    def run(self):
        while not self.stop.is_set():
            try:
                if not self.house.doors.wait(0.2):
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
                # That the acquirer was never reached is the payment's last word, and this payment token's.
                if status < 500 or body["code"] == "acquirer_unreachable":
                    return status, body
            except (*TROUBLE, TypeError, KeyError):
                pass
            time.sleep(0.05 + self.dice.random() * 0.1)

    def buy(self):
        basket, house = "%032x" % self.dice.getrandbits(128), self.house
        amount, capture = self.dice.choice(AMOUNTS), self.dice.choice(["immediate", "manual", "manual"])
        status = 403
        while status == 403:  # Signed before the clock was set, and read afterwards.
            status, answer = self.until(lambda: house.put_basket(basket, amount, capture))
        assert status == 200, f"a basket: {status} {answer}"
        status, sheet = self.until(lambda: house.sheet(basket))
        if status == 410:
            return  # The clock was set, and the basket has ended.
        assert status == 200, f"a basket that was taken: {status} {sheet}"
        token = house.token(sheet)
        self.tokens = self.tokens[-1:] + [token["paymentData"]["data"][:48]]
        order = house.payment(basket, sheet, token)
        for _ in range(3):
            settled, payment = self.pay(order)
            if settled:
                break
            time.sleep(0.2 + self.dice.random() * 0.3)
        else:
            self.owed.append((order,))
        if payment:
            self.mine.append(payment)
            self.sell(payment)

    def pay(self, order):
        """Whether the outcome is definite, and the payment that is worth something."""
        status, answer = self.until(lambda: call(self.house.base, "POST", "/applepay/payment", order))
        word, basket = heard(status, answer), order["basketId"]
        self.journal.write(
            order=answer.get("orderId") or basket, key=basket, heard=word,
            **({"payment": answer["paymentId"]} if answer.get("paymentId") and word != "refused" else {}))
        self.asked += 1
        self.paid += word == "success"
        return word in ("success", "failure", "refused"), answer.get("paymentId") if word == "success" else None

    def sell(self, payment):
        """Some of it is taken, let go, given back; every answer with its balances is written down."""
        for _ in range(self.dice.randrange(1, 4)):
            verb = self.dice.choice(["capture", "capture", "void", "refund", "refund"])
            amount = self.dice.choice(["", "?amount=1.00", "?amount=5.00", "?amount=1.00&final=true"])
            self.number += 1
            try:
                status, answer = self.house.administer("POST", f"/payments/{payment}/{verb}{amount}")
            except TROUBLE:
                continue  # Nobody knows; recovery does, and the auditor.
            if status == 200:
                self.moved += 1
                self.journal.write(
                    order=answer["order"], key=f"{payment} {self.number}", heard="success", payment=payment,
                    captured=answer["captured"], refunded=answer["refunded"])
