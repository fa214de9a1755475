#!/usr/bin/python3
"""Loses a server's disk while shoppers pay, restores an hour-old backup, and compares both ledgers:

    scripts/attack lost_disk [sandbox|CONNECTOR …]

`tender backup` runs beside the server. After more payments the server is killed and its directory deleted, an hour passes, and
`tender restore store` makes a new one. Braintree, Checkout.com and Stripe are asked by the server itself; the sandbox's
acquirer, Adyen and Worldline Acquiring give a report. At Worldline Direct a person accepts the gap; for sealed payment tokens the
merchant's orders are imported. Meanwhile shoppers go on, and repeat what they were not answered. What neither a report nor an
event ends, an operator looks up in the provider's dashboard, and decides.

Nothing may be charged twice. Nothing may be lost where there is a listing, a report or orders: what the provider has done, the
journal has. Elsewhere `tender restore status` must name the open period. The audit must be intact, no number of an event is
used twice for another event, and a payment token of before is not taken. At the end the script damages what it has compared,
and must notice.

A person pays before the backup and is erased after it. The file of contact keys is lost with the disk; its copy is not. After the
restore no file of the server or of its database has anything of the person, and neither has the backup.

SEED=7          chance
SHOPPERS=4      the number of shoppers
SECONDS=6       how long they pay before the backup, between backup and loss, and after the restore
STORE=postgres  a store on PostgreSQL, whose disk is lost too; sqlite is a file
"""
import collections, glob, json, os, shutil, sqlite3, subprocess, sys, tempfile, threading, time, urllib.request

from cluster import Failed, SingleServer
from deployment import BINARIES, DAY, STILL, Deployment, Journal, call, kinds
from nodes import Nodes
from shoppers import Shopper, reported_outcome

SEED = int(os.environ.get("SEED", "1"))
SHOPPERS = int(os.environ.get("SHOPPERS", "4"))
SECONDS = int(os.environ.get("SECONDS", "6"))
HOUR = 3_600
LISTED = {"braintree", "checkout-com", "stripe"}
REPORTED = {"sandbox", "sandbox-provider", "adyen", "worldline-acquiring"}
# The references of authorizations that hold money or have kept some, in each ledger.
CHARGED = {
    "stripe": "SELECT json_extract(metadata, '$.tender_reference') FROM intents WHERE capturable > 0 OR received > refunded",
    "checkout-com": "SELECT reference FROM payments WHERE available > 0 OR captured > refunded",
    "braintree": "SELECT order_id FROM transactions WHERE kind = 'sale' AND parent IS NULL AND status NOT IN "
                 "('voided', 'processor_declined', 'gateway_rejected', 'failed') AND refunded_amount < amount",
    "adyen": "SELECT reference FROM payments WHERE state = 'authorised'",
    "worldline-direct": "SELECT reference FROM payments WHERE status IN (5, 9)",
    "worldline-acquiring": "SELECT reference FROM payments WHERE authorized > 0 OR captured > refunded",
}
# What the dashboard has of an authorization that holds money or has kept some: the provider's name of it, and in minor units
# what is held or was captured, what was captured, and what was refunded.
IN_DASHBOARD = {
    "adyen": "SELECT psp_reference, authorised, captured, refunded FROM payments WHERE reference = ? "
             "AND state IN ('authorised', 'received')",
    "worldline-acquiring": "SELECT payment_id, authorized, captured, refunded FROM payments WHERE reference = ? AND authorized > 0",
    "worldline-direct":
        "SELECT id || '_0', CASE WHEN status = 51 THEN 0 WHEN is_closed THEN captured ELSE amount - cancelled END, captured, "
        "refunded FROM (SELECT payments.*, "
        + "".join(f"(SELECT COALESCE(SUM(amount), 0) FROM operations WHERE payment = id AND kind = '{kind}' AND status = {done}) "
                  f"AS {word}, " for kind, done, word in
                  [("capture", 9, "captured"), ("cancel", 6, "cancelled"), ("refund", 8, "refunded")])
        + "EXISTS (SELECT 1 FROM operations WHERE payment = id AND is_final = 1 AND status = 9) AS is_closed FROM payments "
        "WHERE reference = ? AND status IN (5, 9, 51))"}
# What the provider has not decided yet, and will by itself.
UNDECIDED = {
    "adyen": "SELECT psp_reference FROM payments WHERE state = 'received' UNION SELECT psp_reference FROM modifications "
             "WHERE state = 'received'",
    "worldline-direct": "SELECT id FROM payments WHERE status = 51 UNION SELECT payment FROM operations WHERE status IN "
                        "(61, 81, 82, 91, 92)"}
PERSON = {"givenName": "Wilhelmina", "familyName": "Brocklehurst", "emailAddress": "wilhelmina@brocklehurst.example",
          "phoneNumber": "+44 20 5550 6612"}
OF_SANDBOX = "SELECT reference FROM holds WHERE state IN ('held', 'pending') AND (authorized > captured OR captured > refunded)"


def say(*words):
    print("lost disk:", *words, flush=True)


def keeping_keys(directory):
    """The setting by which the contact keys are kept once more, in a folder that is there."""
    os.makedirs(directory + "/kept", exist_ok=True)
    return "contacts:\n  keyCopy: kept/contacts.keys\n"


class OnFile(Deployment):
    """A server on a file of SQLite, with the contact keys once more beside what is lost."""

    engine, settings = "SQLite", "tender.yaml"

    def configuration(self):
        return super().configuration() + keeping_keys(self.directory)

    @property
    def data(self):
        return self.directory + "/data"

    def lose_disk(self):
        shutil.rmtree(self.data)

    def column(self, sql):
        return column(self.store, sql)

    def damage(self, sql):
        store = sqlite3.connect(self.store)
        store.execute(sql)
        store.commit()
        store.close()

    def files(self):
        """What the server has written, of its own and in the database."""
        return [*glob.glob(self.data + "/**", recursive=True), *glob.glob(self.directory + "/log*")]

    def close(self):
        self.kill_all()


class OnPostgres(Nodes):
    """A server on PostgreSQL."""

    engine, settings = "PostgreSQL", "node1.yaml"

    def __init__(self, directory, kind):
        super().__init__(directory, SingleServer(), count=1, kind=kind)

    def configuration(self):
        return super().configuration() + keeping_keys(self.directory)

    @property
    def data(self):
        return self.directory + "/node1"

    def open(self):
        self.cluster.open()
        super().open()

    def lose_disk(self):
        shutil.rmtree(self.data)
        self.cluster.primary.kill()
        shutil.rmtree(self.cluster.primary.data)
        self.cluster.open()

    def column(self, sql):
        return set(self.asked(sql).split("\n")) - {""}

    def damage(self, sql):
        if self.cluster.primary.ask(sql) is None:
            raise AssertionError(f"not done: {sql}")

    def files(self):
        # What is in memory alone is in the files then.
        self.cluster.primary.ask("CHECKPOINT")
        return [*glob.glob(self.data + "/**", recursive=True), *glob.glob(self.directory + "/log*"),
                *glob.glob(self.cluster.directory + "/**", recursive=True)]

    def close(self):
        self.kill_all()
        self.cluster.close()


def deployment(directory, kind):
    store = os.environ.get("STORE", "sqlite")
    if store not in ("sqlite", "postgres"):
        raise SystemExit(f"STORE is sqlite or postgres, not {store}")
    return (OnPostgres if store == "postgres" else OnFile)(directory, kind)


def column(path, sql):
    return {row[0] for row in rows(path, sql)}


def rows(path, sql, *values):
    store = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return store.execute(sql, values).fetchall()
    finally:
        store.close()


class Rehearsal:
    """One deployment, its loss and its restore."""

    def __init__(self, directory, kind):
        self.deployment, self.kind, self.directory = deployment(directory, kind), kind, directory
        self.faults, self.closing, self.figures = [], threading.Event(), {}
        self.settings = ["--config", self.deployment.settings]

    def require(self, truth, text):
        if not truth:
            say(text)
            self.faults.append(text)

    def tender(self, *words, check=True, **variables):
        done = subprocess.run(
            [f"{BINARIES}/tender", *words], cwd=self.directory, capture_output=True, text=True,
            env={**os.environ, "LD_PRELOAD": self.deployment.shim("shifted-clock"),
                 "SHIFTED_CLOCK": self.deployment.clock.path, **variables})
        if check and done.returncode != 0:
            raise AssertionError(f"tender {' '.join(words)}: {done.returncode} {done.stdout}{done.stderr}")
        return done

    @property
    def route(self):
        return self.kind.connector

    @property
    def source(self):
        """What says what the provider has done since the backup."""
        if self.route in LISTED:
            return "listing"
        if self.route in REPORTED:
            return "report"
        return "orders" if self.kind.sealed else "none"

    @property
    def knows(self):
        return self.source != "none"

    def run(self):
        deployment = self.deployment
        deployment.open()
        deployment.serve()
        subprocess.run(["age-keygen", "-o", "key.txt"], cwd=self.directory, check=True, capture_output=True)
        with open(self.directory + "/backup.pub", "w") as file:
            subprocess.run(["age-keygen", "-y", "key.txt"], cwd=self.directory, check=True, stdout=file)
        journal = Journal(self.directory + "/client.jsonl")
        self.shoppers = [Shopper(deployment, journal, SEED * 1000 + number, self.closing) for number in range(SHOPPERS)]
        for shopper in self.shoppers:
            shopper.start()
        time.sleep(SECONDS)
        self.pay_as_person()
        basket, sheet = self.prepared_basket()
        begin = time.monotonic()
        self.tender("backup", *self.settings, "--recipients", "backup.pub", "--to", "backups")
        say(f"{self.kind.name}: backed up beside the shoppers in {time.monotonic() - begin:.1f} s")
        self.erase_person()
        deployment.clock.jump(HOUR)
        time.sleep(SECONDS)
        order = deployment.payment(basket, sheet, deployment.token(sheet))
        status, first = call(deployment.base, "POST", "/applepay/payment", order)
        self.require(reported_outcome(status, first) in ("success", "pending"), f"the last payment: {status} {first}")
        self.lose()
        self.restore()
        self.pay_at_once(order)
        self.reconcile()
        self.pay_again(order)
        time.sleep(SECONDS)
        self.finish()
        self.judge()

    def prepared_basket(self):
        """A basket that is in the backup, and what its page shows."""
        basket = "%032x" % self.shoppers[0].dice.getrandbits(128)
        self.deployment.put_basket(basket, 1250, "immediate")
        return basket, self.deployment.sheet(basket)[1]

    def pay_as_person(self):
        basket, sheet = self.prepared_basket()
        order = self.deployment.payment(basket, sheet, self.deployment.token(sheet))
        order["shippingContact"] = {**self.deployment.contact, **PERSON}
        status, answer = call(self.deployment.base, "POST", "/applepay/payment", order)
        self.require(reported_outcome(status, answer) in ("success", "pending"), f"the person's payment: {status} {answer}")

    def privacy(self, *words, check=True):
        return self.tender("privacy", *words, "--email", PERSON["emailAddress"], *self.settings, check=check)

    def erase_person(self):
        self.require(PERSON["familyName"] in self.privacy("export").stdout, "the person was not kept")
        self.privacy("erase", "--reason", "asked for it", "--yes")

    def scan(self):
        """What names the person, in the files of the server and in what the backup holds."""
        backup = glob.glob(f"{self.directory}/backups/*.store.age")[0]
        found = [("the backup", subprocess.run(["age", "-d", "-i", "key.txt", backup], cwd=self.directory, check=True, capture_output=True).stdout)]
        for path in self.deployment.files():
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    found.append((path, file.read()))
        return [f"{value} in {name}" for name, content in found for value in PERSON.values() if value.encode() in content]

    def lose(self):
        """The server is killed, and its directory is gone. The backup is an hour old."""
        self.deployment.accepts_shoppers.clear()
        self.deployment.kill()
        self.deployment.lose_disk()

    def restore(self):
        begin = time.monotonic()
        files = {kind: glob.glob(f"{self.directory}/backups/*.{kind}.age")[0] for kind in ("store", "keys")}
        self.tender("restore", "store", files["store"], "--keys", files["keys"], "--identity", "key.txt", *self.settings)
        self.deployment.serve()
        self.deployment.accepts_shoppers.set()
        self.figures["seconds"] = f"{time.monotonic() - begin:.1f}"
        say(f"{self.kind.name}: restored and served again after {self.figures['seconds']} s")

    def status(self):
        done = self.tender("restore", "status", "--json", *self.settings, check=False)
        return json.loads(done.stdout)

    def state(self, status):
        """Of the route that is paid through; the configuration may have another one."""
        return next((item["state"] for item in status["routes"] if item["route"] == self.route), None)

    def reconcile(self):
        closed = self.status()
        self.require(self.state(closed) == "closed", f"the route is not closed: {closed}")
        self.require(closed["lostFrom"] < closed["restoredAt"], f"the open period is not named: {closed}")
        # What the server before had sent last has arrived by then.
        self.deployment.clock.jump(600)
        if self.source == "listing":
            self.wait_for_route()
        elif self.source == "report":
            self.bring("--report", self.download_report)
        elif self.source == "orders":
            self.bring("--orders", self.write_orders)
        else:
            self.tender("restore", "route", self.route, "--accept-gap", "--note", "a rehearsal", *self.settings)
        self.after = self.status()
        say(f"{self.kind.name}: {json.dumps(self.after['routes'])}")

    def wait_for_route(self):
        end = time.monotonic() + 300
        while self.state(self.status()) == "closed":
            if time.monotonic() > end:
                raise AssertionError(f"the route does not open: {self.status()}")
            time.sleep(1)

    def download_report(self):
        request = urllib.request.Request(
            self.deployment.bank + self.kind.path + "/report", headers=self.deployment.bank_headers)
        with urllib.request.urlopen(request, timeout=60) as answer, open(self.directory + "/report", "wb") as file:
            file.write(answer.read())
        return "report"

    def write_orders(self, payments=None):
        """What the merchant's orders say, of all payments by default: the same as the provider's dashboard."""
        with open(self.directory + "/orders.csv", "w") as file:
            file.write("payment,name,authorized,captured,refunded,currency\n")
            for payment in payments or column(self.deployment.ledger, "SELECT reference FROM payments"):
                for held in self.in_dashboard(payment):
                    file.write(",".join(map(str, (payment, *held, "EUR"))) + "\n")
        return "orders.csv"

    def in_dashboard(self, payment):
        return rows(self.deployment.ledger, IN_DASHBOARD[self.route], payment)

    def bring(self, option, make):
        """Imports a file that has everything that the provider had to decide."""
        end = time.monotonic() + 300
        while self.route in UNDECIDED and column(self.deployment.ledger, UNDECIDED[self.route]):
            if time.monotonic() > end:
                raise AssertionError("the provider does not decide")
            time.sleep(0.2)
        while True:
            done = self.tender("restore", "route", self.route, option, make(), *self.settings, check=False)
            if done.returncode == 0:
                return say(f"{self.kind.name}: {done.stdout.strip()}")
            if time.monotonic() > end:
                raise AssertionError(f"the route does not open: {done.stdout}{done.stderr}")
            self.deployment.clock.jump(65)
            time.sleep(1)

    def pay_at_once(self, order):
        """The page repeats the lost payment while its payment token can still be taken."""
        status, answer = call(self.deployment.base, "POST", "/applepay/payment", order)
        self.require(answer.get("code") == "token_before_restore", f"a payment token of before, at once: {status} {answer}")

    def pay_again(self, order):
        """The page sends the lost payment again, once the route is open."""
        status, answer = call(self.deployment.base, "POST", "/applepay/payment", order)
        self.require(reported_outcome(status, answer) != "success", f"a payment token of before is taken: {answer}")
        say(f"{self.kind.name}: the lost payment, sent again: {status} {answer.get('code')}")
        if not self.knows:
            return
        # The merchant puts the basket again, and the shopper presses the button again.
        basket = order["basketId"]
        status, answer = self.deployment.put_basket(basket, 1250, "immediate")
        if status == 200:
            sheet = self.deployment.sheet(basket)[1]
            anew = self.deployment.payment(basket, sheet, self.deployment.token(sheet))
            status, answer = call(self.deployment.base, "POST", "/applepay/payment", anew)
        self.require(answer.get("code") == "paid_before_restore", f"a basket that was paid is paid again: {status} {answer}")

    def decide(self):
        """What an operator does about payments that nothing ends: looks into the provider's dashboard, and tells Tender what
        it has there. What it does not have was never held."""
        found = json.loads(self.tender("payment", "list", "--alarmed", "--limit", "500", "--json", *self.settings).stdout)
        is_open = {payment["id"]: payment["status"] in ("authorizing", "pending", "unknown") for payment in found}
        held = [payment for payment in is_open if is_open[payment] and self.in_dashboard(payment)]
        for payment in is_open:
            if is_open[payment] and payment not in held:
                self.tender("payment", "resolve", payment, "--as", "failed", "--note", "not in the dashboard", *self.settings,
                            check=False)
        if held:
            done = self.tender(
                "restore", "route", self.route, "--orders", self.write_orders(held), *self.settings, check=False)
            say(f"{self.kind.name}: {len(held)} found in the dashboard: {done.stdout.strip()}{done.stderr.strip()}")

    def finish(self):
        self.closing.set()
        if self.route in IN_DASHBOARD:
            self.deployment.decide = self.decide
        self.require(self.deployment.all_answered(self.shoppers, waits_for_person=self.route in IN_DASHBOARD),
                     "a shopper gets no final answer")
        is_settled = self.deployment.settle(patience=20 if self.route in IN_DASHBOARD else STILL) is not None
        if not is_settled and self.route in IN_DASHBOARD:
            # What nothing has ended for a day has an alarm.
            self.deployment.clock.jump(DAY)
            is_settled = self.deployment.settle() is not None
        self.require(is_settled, "an outcome is still unknown")
        self.intact = self.tender("payment", "verify-journal", *self.settings, check=False).returncode == 0
        self.differences = self.compare()
        self.deployment.kill_all()

    def compare(self):
        """What the provider's report or listing has otherwise than the journal."""
        if self.source == "report":
            words = ["reconcile", self.download_report()]
        elif self.source == "orders":
            return self.compare_orders()
        elif self.source == "listing":
            # The period begins before everything and ends after the jumps of the clock.
            words = ["reconcile", "--route", self.route, "--from", "2020-01-01", "--until", "2100-01-01"]
        else:
            return []
        done = self.tender(*words, "--json", *self.settings, check=False)
        if done.returncode == 2:
            raise AssertionError(f"tender {' '.join(words)}: {done.stderr}{done.stdout}")
        return [item for item in json.loads(done.stdout) if item["kind"] != "unsettled"]

    def compare_orders(self):
        """Payments whose balances the dashboard has otherwise than the journal."""
        found = []
        for payment in column(self.deployment.ledger, "SELECT reference FROM payments"):
            for _, *there in self.in_dashboard(payment):
                here = self.deployment.column(
                    f"SELECT authorized || ' ' || captured || ' ' || refunded FROM payments WHERE id = '{payment}'")
                if here != {" ".join(map(str, there))} and (here or any(there)):
                    found.append(f"{payment}: {here}, there {there}")
        return found

    # Judging.

    def judge(self):
        answers = [json.loads(line) for line in open(self.directory + "/client.jsonl")]
        told = {line["payment"] for line in answers if line["outcome"] == "success"}
        known = self.deployment.column("SELECT id FROM payments")
        missing = told - known
        if self.source == "orders":
            # They leave out what was released.
            missing = {payment for payment in missing if any(any(there) for _, *there in self.in_dashboard(payment))}
        self.require(self.intact, "the audit is not intact")
        self.require(not (self.knows and missing), f"{len(missing)} payments that shoppers were told of are lost: {sorted(missing)[:3]}")
        self.require(not self.differences, f"the provider has it otherwise: {self.differences[:3]}")
        twice = self.charged_twice()
        self.require(not twice, f"charged twice: {twice[:3]}")
        again = self.numbers_again()
        self.require(not again, f"a number of an event was used again: {again[:3]}")
        adopted = self.deployment.column("SELECT reference FROM operations WHERE restored IS NOT NULL")
        self.require(adopted or not self.knows, "nothing was adopted")
        named = self.scan()
        self.require(not named, f"the erased person is back: {named}")
        self.require(self.privacy("export", check=False).returncode == 1, "the erased person is found")
        say(f"{self.kind.name}: the open period is {self.after['lostFrom']} to {self.after['restoredAt']}")
        self.figures.update(
            told=len(told), missing=len(missing), adopted=len(adopted), twice=len(twice), unexplained=len(self.differences),
            named=len(named), source=self.source)
        self.notice_damage()

    def charged_twice(self):
        """Baskets for which the provider holds, or has kept, money twice: an authorization's reference ends with a mark of
        its basket."""
        charged = collections.Counter(
            reference[-10:] for reference in column(self.deployment.ledger, CHARGED.get(self.route, OF_SANDBOX)) if reference)
        return [mark for mark, count in charged.items() if count > 1]

    def numbers_again(self):
        """Numbers of a payment's events under which the merchant got two different ones."""
        events = collections.defaultdict(set)
        for line in map(json.loads, open(self.directory + "/sink.jsonl")):
            events[line["payment"], line["sequence"]].add((line["status"], line["captured"], line["refunded"]))
        return [f"{place}: {kinds}" for place, kinds in events.items() if len(kinds) > 1]

    def notice_damage(self):
        """What this script compares is damaged, and it must notice."""
        with open(self.directory + "/sink.jsonl", "r+") as file:
            first = json.loads(file.readline())
            file.seek(0, os.SEEK_END)
            file.write(json.dumps({**first, "captured": first["captured"] + 1}) + "\n")
        self.require(self.numbers_again(), "an event under a used number is not noticed")
        if self.route not in CHARGED:
            ledger = sqlite3.connect(self.deployment.ledger)
            columns = [row[1] for row in ledger.execute("PRAGMA table_info(holds)")]
            other = [{"acquirer_reference": "'another'", "reference": "'f' || substr(reference, 2)"}.get(name, name) for name in columns]
            ledger.execute(f"INSERT INTO holds SELECT {', '.join(other)} FROM holds WHERE authorized > captured AND state = 'held' LIMIT 1")
            ledger.commit()
            ledger.close()
            self.require(self.charged_twice(), "a basket that was charged twice is not noticed")
        with open(self.deployment.data + "/planted", "w") as file:
            file.write(PERSON["familyName"])
        self.require(self.scan(), "a planted name is not found")
        victim = self.deployment.column("SELECT id FROM payments WHERE id IN (SELECT payment FROM restored_payments) LIMIT 1")
        if victim:
            self.deployment.damage(
                f"UPDATE payments SET captured = 0, refunded = 0, version = version + 1 WHERE id = '{min(victim)}'")
            self.require(self.tender("payment", "verify-journal", *self.settings, check=False).returncode != 0,
                         "a changed payment is not noticed")

    def close(self):
        self.closing.set()
        self.deployment.close()


COLUMNS = [
    ("told", "payments told"), ("source", "brought by"), ("adopted", "operations adopted"), ("missing", "lost"),
    ("twice", "charged twice"), ("unexplained", "unexplained"), ("named", "names of the erased person"),
    ("seconds", "seconds to serve again")]


def show(rehearsals):
    """A table: a line for each rehearsal."""
    lines = [["store", "payments through", *(title for _, title in COLUMNS)]]
    for each in rehearsals:
        lines.append([each.deployment.engine, each.kind.name, *(str(each.figures.get(key, "-")) for key, _ in COLUMNS)])
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    for line in lines:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())


def main():
    if not os.path.exists(f"{BINARIES}/tender-sandbox"):
        raise SystemExit(f"lost disk: first build it: scripts/build {os.environ.get('CONFIGURATION', 'debug')} tender tender-sandbox")
    begin, violations, rehearsals = time.monotonic(), 0, []
    for kind in kinds(sys.argv[1:]):
        directory = tempfile.mkdtemp(prefix="tender-lost-disk-")
        rehearsal = Rehearsal(directory, kind)
        rehearsals.append(rehearsal)
        try:
            rehearsal.run()
        except (AssertionError, Failed) as failure:
            rehearsal.require(False, str(failure))
        finally:
            rehearsal.close()
        violations += len(rehearsal.faults)
        if rehearsal.faults:
            say(f"its files are in {directory}")
        else:
            shutil.rmtree(directory)
    show(rehearsals)
    say(f"{len(kinds(sys.argv[1:]))} runs, {violations} violations, {time.monotonic() - begin:.0f} s, SEED={SEED}")
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
