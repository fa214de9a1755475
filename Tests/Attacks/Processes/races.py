#!/usr/bin/python3
"""Sends requests over 64 connections to a real server at once: scripts/attack races [sandbox|CONNECTOR …]

With STORE=postgres to two servers that share a PostgreSQL, a call to either by chance.

They compete for one payment token, one basket, one balance, a hold that is captured and voided, a basket that is paid and
cancelled; with payment tokens that the server decrypts and with sealed ones. Exactly one request succeeds, the others get
the right error, and the acquirer receives nothing else. Then the auditor checks the files.

At the end two defects are injected into a server's store with SQL triggers: the races must detect both.
"""
import collections, os, random, shutil, sqlite3, sys, tempfile, threading, time
import http.client, json

HERE = os.path.dirname(os.path.abspath(__file__))
from deployment import DECRYPTED, STILL, TROUBLE, Defect, Journal, call, exchange, kinds
from nodes import deployment as deployed
from shoppers import reported_outcome
from verdict import verify

MANY = int(os.environ.get("CONNECTIONS", "64"))
AMOUNT = 75000
dice = random.Random(int(os.environ.get("SEED", "1")))


class Wrong(Exception):
    """A claim that does not hold."""


def check(truth, text):
    if not truth:
        raise Wrong(text)


def at_once(calls):
    """Sends each call on its own connection, opened before the start. Returns the answers in the order of the calls. A
    call may be delayed by some seconds."""
    start, answers = threading.Barrier(len(calls)), [None] * len(calls)

    def run(place, connection, method, path, body, later=0):
        connection.connect()
        start.wait(STILL)
        time.sleep(later)
        try:
            answers[place] = exchange(connection, method, path, body)
        except TROUBLE as trouble:
            answers[place] = (0, {"code": str(trouble)})

    threads = [threading.Thread(target=run, args=(place, *words)) for place, words in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def tally(answers):
    return collections.Counter(
        f"{status} {answer.get('code', '')}".strip() if isinstance(answer, dict) else f"{status}"
        for status, answer in answers)


def only(answers, *allowed):
    """Checks that there are no other answers. On a slow machine some of so many payments have their turn too late to be answered in
    time: the server changes nothing for those."""
    others = {what: count for what, count in tally(answers).items() if what not in (*allowed, "503 out_of_time")}
    check(not others, f"unexpected answers {others}")


# By connector and kind: the response codes of operations on holds of these names.
OPERATIONS = {
    None: "SELECT operations.response_code FROM operations JOIN holds ON hold = holds.acquirer_reference "
          "WHERE kind = '{kind}' AND merchant_reference IN ({names})",
    ("adyen", "authorize"): "SELECT CASE state WHEN 'received' THEN '09' ELSE COALESCE(refusal_code, '00') END "
                            "FROM payments WHERE reference IN ({names})",
    ("braintree", "authorize"): "SELECT CASE WHEN code = '1000' THEN '00' ELSE code END FROM transactions "
                                "WHERE parent IS NULL AND kind = 'sale' AND order_id IN ({names})",
    ("braintree", "capture"): "SELECT '00' FROM transactions WHERE kind = 'sale' AND parent IN "
                              "(SELECT id FROM transactions WHERE order_id IN ({names}))",
    ("braintree", "refund"): "SELECT '00' FROM transactions WHERE kind = 'credit' AND refunded IN "
                             "(SELECT id FROM transactions WHERE order_id IN ({names}))",
    **{("adyen", kind): "SELECT CASE modifications.state WHEN 'received' THEN '09' WHEN 'done' THEN '00' ELSE '99' END "
                        "FROM modifications JOIN payments ON payments.psp_reference = payment "
                        f"WHERE kind = '{kind}' AND payments.reference IN ({{names}})" for kind in ("capture", "refund")},
    ("stripe", "authorize"): "SELECT CASE WHEN authorization_code IS NULL THEN COALESCE(decline_code, '99') ELSE '00' END "
                             "FROM intents WHERE json_extract(metadata, '$.tender_reference') IN ({names})",
    # Stripe's intent keeps the sum of its captures, which are parts of 50.00 here.
    ("stripe", "capture"): "WITH RECURSIVE parts (id, rest) AS (SELECT id, received FROM intents "
                           "WHERE json_extract(metadata, '$.tender_reference') IN ({names}) "
                           "UNION ALL SELECT id, rest - 5000 FROM parts WHERE rest > 5000) "
                           "SELECT '00' FROM parts WHERE rest > 0",
    ("stripe", "refund"): "SELECT CASE status WHEN 'succeeded' THEN '00' WHEN 'pending' THEN '09' ELSE '99' END FROM refunds "
                          "WHERE intent IN (SELECT id FROM intents "
                          "WHERE json_extract(metadata, '$.tender_reference') IN ({names}))",
    ("checkout-com", "authorize"): "SELECT CASE WHEN authorized > 0 THEN '00' ELSE response_code END FROM payments "
                                   "WHERE reference IN ({names})",
    **{("checkout-com", kind): "SELECT CASE actions.response_code WHEN '10000' THEN '00' ELSE "
                               "COALESCE(actions.response_code, '09') END FROM actions JOIN payments "
                               "ON payments.id = payment WHERE type = '" + kind.capitalize() + "' "
                               "AND payments.reference IN ({names})" for kind in ("capture", "refund")},
    ("worldline-direct", "authorize"): "SELECT CASE WHEN status IN (5, 9) THEN '00' ELSE COALESCE(error_code, '09') END "
                                       "FROM payments WHERE reference IN ({names})",
    **{("worldline-direct", kind): "SELECT CASE WHEN operations.status IN (8, 9) THEN '00' "
                                   "WHEN operations.status IN (81, 82, 91, 92) THEN '09' ELSE '99' END FROM operations "
                                   "JOIN payments ON payments.id = payment WHERE kind = '" + kind + "' "
                                   "AND payments.reference IN ({names})" for kind in ("capture", "refund")},
    **{("worldline-acquiring", kind): "SELECT CASE response_code WHEN '0' THEN '00' ELSE response_code END FROM operations "
                                      "WHERE kind = '" + {"authorize": "AUTHORIZATION"}.get(kind, kind.upper()) + "' "
                                      "AND payment IN (SELECT payment FROM operations WHERE operation_id IN ({names}))"
       for kind in ("authorize", "capture", "refund")}}


class Races:
    def __init__(self, deployment):
        self.deployment, self.journal = deployment, Journal(deployment.directory + "/client.jsonl")

    def front(self):
        return http.client.HTTPConnection("127.0.0.1", self.deployment.front_port, timeout=STILL)

    def administration(self):
        return self.deployment.administration()

    def basket(self, capture="manual"):
        basket = "%032x" % dice.getrandbits(128)
        status, answer = self.deployment.put_basket(basket, AMOUNT, capture)
        check(status == 200, f"a basket: {status} {answer}")
        return basket, self.deployment.sheet(basket)[1]

    def order(self, capture="manual"):
        basket, sheet = self.basket(capture)
        return self.deployment.payment(basket, sheet, self.deployment.token(sheet))

    def note(self, order, status, answer):
        word = reported_outcome(status, answer)
        self.journal.write(
            order=answer.get("orderId") or order["basketId"], key=order["basketId"], outcome=word,
            **({"payment": answer["paymentId"]} if answer.get("paymentId") and word != "refused" else {}))

    def pay(self, orders):
        answers = at_once([(self.front(), "POST", "/applepay/payment", order) for order in orders])
        for order, answer in zip(orders, answers):
            self.note(order, *answer)
        return answers

    def paid(self, capture):
        """A payment whose authorization, and capture if any, is done. One without an answer in time is recovered, and another begun
        where that one has failed."""
        for _ in range(5):
            order = self.order(capture)
            status, answer = call(self.deployment.base, "POST", "/applepay/payment", order)
            self.note(order, status, answer)
            check(status in (200, 202), f"a payment: {status} {answer}")
            end = time.monotonic() + STILL
            while time.monotonic() < end:
                payment = self.deployment.administer("GET", f"/payments/{answer['paymentId']}")[1]
                done = "captured" if capture == "immediate" else "authorized"
                if payment["status"] in (done, "failed"):
                    break
                time.sleep(0.2)
            check(payment["status"] in (done, "failed"), f"not {done}: {payment}")
            if payment["status"] == done:
                return payment["id"]
        raise Wrong(f"five payments in a row have failed: {payment}")

    def acquirer_operations(self, kind, *baskets):
        """The response codes of the acquirer's operations on these baskets: 00 for done, 09 for accepted."""
        connector = self.deployment.kind.connector
        names = (self.deployment.references(baskets) if self.deployment.kind.is_provider
                 else ["T-" + basket[:12] for basket in baskets])
        sql = OPERATIONS.get((connector, kind), OPERATIONS[None])
        rows = self.rows(self.deployment.ledger, sql.format(names=",".join("?" * len(names)), kind=kind), names)
        return [row[0] for row in rows]

    @staticmethod
    def rows(path, sql, values):
        store = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            return store.execute(sql, list(values)).fetchall()
        finally:
            store.close()

    # The races.
    def one_token_one_basket(self):
        order = self.order()
        answers = self.pay([order] * MANY)
        only(answers, "200", "202", "409 payment_in_progress")
        self.one_payment(answers, order)

    def many_tokens_one_basket(self):
        basket, sheet = self.basket()
        orders = [self.deployment.payment(basket, sheet, self.deployment.token(sheet)) for _ in range(MANY)]
        answers = self.pay(orders)
        only(answers, "200", "202", "409 payment_in_progress")
        self.one_payment(answers, orders[0])

    def one_payment(self, answers, order):
        status, end = 202, time.monotonic() + STILL
        # On a slow machine the acquirer may answer too late; then recovery asks it again.
        while status in (202, 409) and time.monotonic() < end:
            status, again = call(self.deployment.base, "POST", "/applepay/payment", order)
            self.note(order, status, again)
            time.sleep(0 if status == 200 else 0.2)
        names = {answer["paymentId"] for status, answer in answers if status in (200, 202)}
        check(status == 200 and names == {again["paymentId"]}, f"answered {names}, and now {status} {again}")
        asked = self.acquirer_operations("authorize", order["basketId"])
        check(asked == ["00"], f"the acquirer was asked to authorize: {asked}")

    def one_token_many_baskets(self):
        baskets = [self.basket() for _ in range(MANY)]
        token = self.deployment.token(baskets[0][1])
        answers = self.pay([self.deployment.payment(*basket, token) for basket in baskets])
        only(answers, "200", "202", "409 token_reused")
        paid = sum(status in (200, 202) for status, _ in answers)
        check(paid == 1, f"{paid} baskets were paid with one payment token")
        asked = self.acquirer_operations("authorize", *[basket for basket, _ in baskets])
        check(asked == ["00"], f"the acquirer was asked to authorize: {asked}")

    def one_balance(self, *verbs):
        """Each connection asks for 50.00 of 750.00."""
        payment = self.paid("immediate" if "refund" in verbs else "manual")
        begin = self.deployment.administer("GET", f"/payments/{payment}")[1]
        self.deployment.settle_capture(begin)
        calls = [(self.administration(), "POST", f"/payments/{payment}/{verbs[n % len(verbs)]}?amount=50.00", None)
                 for n in range(MANY)]
        answers = at_once(calls)
        only(answers, "200", "409 amount_exceeds_available", "409 operation_in_progress", "409 operation_not_possible")
        check(tally(answers)["200"] == AMOUNT // 5000, f"of {AMOUNT // 5000} parts {tally(answers)['200']} were given")
        asked = [code for verb in verbs for code in self.acquirer_operations(verb, begin["basket"])]
        check(len(asked) == AMOUNT // 5000 and set(asked) <= {"00", "09"}, f"the acquirer was asked for {asked}")

    def all_or_nothing(self):
        """Half of the connections capture all of a hold, and half release it."""
        payment = self.paid("manual")
        answers = at_once([(self.administration(), "POST", f"/payments/{payment}/{['capture', 'void'][n % 2]}", None)
                           for n in range(MANY)])
        only(answers, "200", "409 amount_exceeds_available", "409 operation_in_progress", "409 operation_not_possible")
        check(tally(answers)["200"] == 1, f"{tally(answers)['200']} of one were done")

    def cancel_against_pay(self):
        orders = [self.order() for _ in range(MANY // 4)]
        calls, owners = [], []
        for order in orders:
            path = f"/applepay/payment/{order['basketId']}"
            both = [("POST", "/applepay/payment", order), ("DELETE", path, None)] * 2
            dice.shuffle(both)
            # A payment takes longer than a cancellation; the delay lets either be first.
            later = dice.uniform(0, 0.15)
            calls += [(self.front(), *words, later if words[0] == "DELETE" else 0) for words in both]
            owners += [(order, words[0]) for words in both]
        answers = at_once(calls)
        for (order, method), (status, answer) in zip(owners, answers):
            if method == "POST":
                self.note(order, status, answer)
        paid = 0
        for order in orders:
            own = [(method, *answer) for (owner, method), answer in zip(owners, answers) if owner is order]
            cancels = [answer for method, *answer in own if method == "DELETE"]
            pays = [answer for method, *answer in own if method == "POST"]
            only(cancels, "204", "409 basket_placed")
            only(pays, "200", "202", "409 payment_in_progress", "409 basket_cancelled")
            good = {answer["paymentId"] for status, answer in pays if status in (200, 202)}
            check(len(good) <= 1, f"one basket, the payments {good}")
            check(len({tally([answer])[ "204"] for answer in cancels}) == 1, f"cancelled and not: {tally(cancels)}")
            check(bool(good) != (tally(cancels)["204"] > 0), f"paid {tally(pays)} and cancelled {tally(cancels)}")
            asked = self.acquirer_operations("authorize", order["basketId"])
            check(len(asked) == len(good), f"{len(good)} payments, and the acquirer was asked for {asked}")
            paid += len(good)
        return f"{paid} of {len(orders)} paid"

    def all(self):
        races = {
            "one payment token, one basket": self.one_token_one_basket,
            f"{MANY} payment tokens, one basket": self.many_tokens_one_basket,
            f"one payment token, {MANY} baskets": self.one_token_many_baskets,
            "one balance, refunded": lambda: self.one_balance("refund"),
            "one hold, captured": lambda: self.one_balance("capture"),
            "one hold, captured or voided": self.all_or_nothing,
            # The providers release all of a hold only.
            **({} if self.deployment.kind.is_provider else {
                "one hold, captured and voided": lambda: self.one_balance("capture", "void")}),
            "one basket, paid and cancelled": self.cancel_against_pay,
        }
        for name, race in races.items():
            outcome = race()
            print(f"races: {self.deployment.kind.name}: {name}{': ' + outcome if outcome else ''}", flush=True)


def run(kind):
    """Runs all races with one kind of payment token. Returns whether they and the auditor pass."""
    directory = tempfile.mkdtemp(prefix=f"tender-races-{kind.name.replace(', ', '-')}-")
    deployment, good = deployed(directory, kind, platform=True), False
    try:
        deployment.open()
        deployment.serve()
        Races(deployment).all()
        good = deployment.settle() is not None
        deployment.collect()
        good = verify(deployment) and good
    except Wrong as wrong:
        print(f"races: {kind.name}: {wrong}", flush=True)
        good = False
    finally:
        deployment.kill_all()
        if good:
            shutil.rmtree(directory)
        else:
            print(f"races: its files are in {directory}")
    return good


DEFECTS = {
    "a payment token is not remembered": (
        Defect("AFTER INSERT ON token_uses", "", "DELETE FROM token_uses WHERE transaction_id = NEW.transaction_id"),
        Races.one_token_many_baskets),
    "a refund in flight is not reserved": (
        Defect("AFTER UPDATE OF reserved_refund ON payments", "NEW.reserved_refund > 0",
               "UPDATE payments SET reserved_refund = 0 WHERE id = NEW.id"),
        lambda races: races.one_balance("refund")),
}


def detects(name, defect, race):
    """Whether the race detects the defect."""
    with tempfile.TemporaryDirectory(prefix="tender-races-injected-") as directory:
        deployment = deployed(directory, DECRYPTED, platform=True)
        try:
            deployment.open()
            deployment.serve()
            deployment.kill()
            deployment.inject(defect)
            deployment.serve()
            race(Races(deployment))
        except Wrong as wrong:
            print(f"races: injected, {name}: {wrong}", flush=True)
            return True
        finally:
            deployment.kill_all()
    print(f"races: not detected: {name}")
    return False


def main():
    begin = time.monotonic()
    good = all([run(kind) for kind in kinds(sys.argv[1:])])
    good = all([good, *[detects(name, *words) for name, words in DEFECTS.items()]])
    print(f"races: {'passed' if good else 'failed'}, {time.monotonic() - begin:.0f} s")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
