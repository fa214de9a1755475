#!/usr/bin/python3
"""Sells agreements in a browser, and compares all ledgers over thirteen months: scripts/attack months [sandbox|adyen …] [--app]

A demo for each connector; the sandbox and Adyen by default. Chromium buys at the demo's shop, by the web kit: a subscription with a
trial month, an automatic reload, and two stays that are paid later. `--app` also sells a subscription by the app kit, over a stub
of PassKit (scripts/test-app-kit). Then `tender sandbox clock` goes from month to month. In the fourth month the card has no funds:
the bank declines twice, and the schedule's third try is paid. After the sixth month the card is replaced in the sandbox's wallet.
From the ninth month on the price is another. One stay is cancelled before its date, the other one is charged at it. After the
thirteenth month the agreements are ended, and two more months pass.

Every month this script's own reckoning, Tender's journal, its agreements, the provider's ledger, and what `tender reconcile` finds in
the provider's report must be the same: each period charged once, at its date, with its amount, and nothing else. At the end
the script damages what it compares, and must notice.

TENDER=.build/release/tender runs another program. Pictures of the back office are in artifacts/months.
"""
import base64, collections, contextlib, datetime, hmac, http.server, json, os, pathlib, secrets, shutil, sqlite3
import subprocess, sys, threading, time, zoneinfo

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "Tests/Support"), str(ROOT / "Tests/Browser")]
import demo_server, kit_estimates, office_pages, officework  # noqa: E402
from dateutil.relativedelta import relativedelta  # noqa: E402
from demo import Demo  # noqa: E402
from shopper import Shopper  # noqa: E402

TENDER = (ROOT / os.environ.get("TENDER", f".build/{os.environ.get('CONFIGURATION', 'debug')}/tender")).resolve()
ARTIFACTS = ROOT / "artifacts/months"
HOST = ROOT / "Tests/Packages/PassKitHost"
ZONE = zoneinfo.ZoneInfo("Europe/Dublin")
SECOND, HOUR, DAY = (datetime.timedelta(**{unit: 1}) for unit in ("seconds", "hours", "days"))
MONTHS, DECLINED, REPLACED, DEARER = 13, 4, 6, 9
PRICE, NEW_PRICE = 1_290, 1_490
# What takes longer than so many seconds hangs, also on a machine that is slow.
STILL = 600
# By connector: the demo's options, what the trial costs, and the address and authentication of the provider's report.
CONNECTORS = {
    "sandbox": ([], 0, "acquirer/v1/report", None),
    "adyen": (["--connector", "adyen"], 100, "adyen/report", {"X-API-Key": "sandbox-adyen-key"}),
}
# Their ledgers: the file, the table of payments and its key, and the table of stored cards with the key in it.
LEDGERS = {
    "sandbox": ("acquirer.sqlite", "holds", "acquirer_reference", "stored_credentials", "authorization_reference"),
    "adyen": ("adyen.sqlite", "payments", "psp_reference", "stored_methods", "payment"),
}

Charge = collections.namedtuple("Charge", "reference amount outcome")


def say(*words):
    print("months:", *words, flush=True)


def written(time):
    return time.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read(text):
    return datetime.datetime.fromisoformat(text)


def differences(name, has, wanted):
    """What one view has otherwise than this script."""
    return [f"{name}: {rows[row]} × {tuple(row)} {what}"
            for rows, what in ((has - wanted, "too many"), (wanted - has, "missing")) for row in sorted(rows, key=str)]


class Merchant:
    """The merchant's own endpoint for webhooks. It remembers what it was told of agreements."""

    def __init__(self):
        self.told, self.forged, self.secret = [], 0, None
        merchant = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                merchant.receive(body, self.headers["X-GCS-Signature"])
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}/hooks"

    def receive(self, body, signature):
        if base64.b64encode(hmac.digest(self.secret.encode(), body, "sha256")).decode() != signature:
            self.forged += 1
        event = json.loads(body)
        self.told.append((event["type"], event["tender"].get("agreementId")))

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Sold:
    """An agreement, and what this script reckons of it: what each period costs, when it is due, and what became of it."""

    def __init__(self, reference):
        self.reference, self.due, self.periods = reference, None, {}
        self.status, self.id, self.payment = "active", None, None


class Story:
    """One demo, its agreements, and thirteen months."""

    def __init__(self, kind, server, with_app):
        self.kind, self.server, self.with_app = kind, server, with_app
        self.demo = Demo(server.port, server.home, str(TENDER))
        _, self.trial, self.report, self.key = CONNECTORS[kind]
        if self.key is None:
            keys = self.demo.get_json(f"{self.demo.sandbox}/sandbox/ca.json")
            self.key = {"Authorization": f"Bearer {keys['acquirerKey']}"}
        self.faults, self.reckoned, self.sold, self.merchant = [], [], [], Merchant()
        self.shopper = Shopper(self.demo, ARTIFACTS / kind)

    def close(self):
        self.shopper.quit()
        self.merchant.close()

    def require(self, truth, text):
        if not truth:
            say(f"{self.kind}: FAULT: {text}")
            self.faults.append(text)

    def tender(self, *words, check=True):
        done = subprocess.run([TENDER, *words], cwd=self.demo.home, capture_output=True, text=True, timeout=STILL, check=False)
        assert not check or done.returncode == 0, f"tender {' '.join(words)}: {done.returncode} {done.stdout}{done.stderr}"
        return done.stdout

    def call(self, method, path, body, wanted):
        status, answer = self.server.signed(method, path, body)
        self.require(status == wanted, f"{method} {path} {body} is answered {status}: {answer}")
        return answer

    def until(self, condition, failure):
        end = time.monotonic() + STILL
        while not (found := condition()):
            assert time.monotonic() < end, failure
            time.sleep(0.2)
        return found

    # The clock.

    def move(self, to):
        self.tender("sandbox", "clock", written(to), "--sandbox", self.demo.sandbox)

    def now(self):
        return read(json.loads(self.tender("sandbox", "clock", "--json", "--sandbox", self.demo.sandbox))["now"])

    def due(self, period):
        """When a subscription is due: in its time zone the start, and so many months."""
        return self.start + relativedelta(months=period - 1)

    # Selling.

    def open(self):
        """The merchant has an endpoint of its own for webhooks."""
        folder = self.demo.folder / "merchants/harbour"
        settings = (folder / "merchant.yaml").read_text()
        (folder / "merchant.yaml").write_text(settings.replace('webhooks: ["', f'webhooks: ["judge={self.merchant.url}", "'))
        self.merchant.secret = next(folder.glob("webhook-keys/*.secret")).read_text().strip()
        self.tender("reload", "--store", self.demo.store)
        self.begin = self.now().astimezone(ZONE).replace(microsecond=0)
        self.start = self.begin + relativedelta(months=1)

    def basket(self, name, price, agreement):
        """Puts a basket by the merchant's server. Gives its id, and what is sold."""
        basket, sold = secrets.token_hex(16), Sold(f"{name}-{secrets.token_hex(3)}")
        self.call("PUT", f"baskets/{basket}", {
            "currencyCode": "EUR", "countryCode": "IE", "merchantReference": sold.reference, "businessName": "Harbour Box",
            "serviceTypes": ["none"], "contactFields": [], "items": [{"id": "a", "label": name, "unitAmount": price}],
            "agreement": {
                "description": name, "managementURL": "https://harbour.example/box", "timeZone": "Europe/Dublin", **agreement},
        }, 200)
        return basket, sold

    def subscription(self, name):
        basket, sold = self.basket(name, self.trial, {"schedule": True, "billingAgreement": "Until you end it.", "recurring": {
            "trial": {"label": "First month", "amount": self.trial, "interval": {"unit": "month"}},
            "regular": {"label": "Every month", "amount": PRICE, "interval": {"unit": "month"}, "startsAt": written(self.start)}}})
        sold.due = self.due
        return basket, sold

    def buy(self, basket, sold, card, *shown):
        kit_estimates.open_smallest(self.shopper, basket)
        sheet = self.shopper.open_sheet()
        for text in shown:
            self.require(text in sheet.text, f"the sheet of {sold.reference} does not show {text}: {sheet.text!r}")
        self.shopper.choose("Card", card, sheet)
        self.shopper.press("Pay", sheet)
        self.shopper.sees("Thank you. Your order is ")

    def buy_in_app(self, basket, card):
        done = subprocess.run(
            ["swift", "test", "--skip-build", "--filter", "a subscription that another program judges"], cwd=HOST, check=False,
            capture_output=True, text=True, timeout=STILL, env={
                **os.environ, "TENDER_TEST_SANDBOX": self.demo.sandbox, "TENDER_TEST_SERVER": self.demo.server,
                "TENDER_TEST_SHOP": self.demo.shop, "TENDER_TEST_BASKET": basket, "TENDER_TEST_CARD": card})
        assert done.returncode == 0 and "1 test" in done.stdout + done.stderr, f"the app does not pay: {done.stdout}{done.stderr}"

    def begun(self, sold, amount):
        """Finds the agreement of a payment, which was this period's."""
        found = [one for one in self.call("GET", "agreements?limit=50", None, 200)["agreements"]
                 if one["merchantReference"] == sold.reference]
        assert len(found) == 1, f"{sold.reference} has {len(found)} agreements"
        sold.id, sold.payment = found[0]["id"], found[0]["paymentId"]
        self.require(found[0]["hasMerchantToken"], f"{sold.reference} has no merchant token")
        outcome = "captured" if amount else "verified"
        sold.periods[0] = (outcome, amount)
        self.reckoned.append(Charge(sold.reference, amount, outcome))
        self.sold.append(sold)
        return sold

    def sell(self):
        basket, sold = self.subscription("box")
        self.buy(basket, sold, "visa-credit", "First month", "Every month", "Until you end it.", "€12.90")
        self.box = self.begun(sold, self.trial)
        self.boxes = [self.box]
        if self.with_app:
            basket, sold = self.subscription("app")
            self.buy_in_app(basket, "mastercard-credit")
            self.boxes.append(self.begun(sold, self.trial))
        basket, sold = self.basket("card", 2_000, {"automaticReload": {"label": "Top-up", "amount": 2_000, "threshold": 500}})
        self.buy(basket, sold, "amex-credit", "Top-up", "below €5.00")
        self.reload = self.begun(sold, 2_000)
        date = self.due(3) + 12 * HOUR
        for name in ("stay", "left"):
            basket, sold = self.basket(name, 2_500, {"schedule": True, "deferred": {
                "label": "Two nights", "amount": 18_000, "date": written(date),
                "freeCancellation": {"until": written(self.due(2)), "timeZone": "Europe/Dublin"}}})
            self.buy(basket, sold, "amex-credit", "Two nights", "€180.00")
            sold.due = lambda period, date=date: date
            setattr(self, name, self.begun(sold, 2_500))

    # What is reckoned.

    def charged(self, sold, period, amount, outcome="captured"):
        reference = sold.reference if sold is self.reload else f"{sold.reference}-{period}"
        self.reckoned.append(Charge(reference, amount, outcome))
        sold.periods[period] = (outcome, amount)

    # The months.

    def live(self):
        self.agree("sold")
        prices = dict.fromkeys(range(1, MONTHS + 1), PRICE)
        prices.update({month: NEW_PRICE for month in range(DEARER, MONTHS + 1)})
        for month in range(1, MONTHS + 1):
            self.move(self.due(month) - HOUR)
            self.agree(f"an hour before month {month}")
            self.move(self.due(month) + HOUR)
            for box in self.boxes:
                is_declined = month == DECLINED and box is self.box
                self.charged(box, month, prices[month] if box is self.box else PRICE, "declined" if is_declined else "captured")
            self.agree(f"month {month}")
            getattr(self, f"month_{month}", lambda: None)()
        self.end()

    def month_1(self):
        answer = self.call("POST", f"payments/{self.box.payment}/subsequent", {
            "order": {"amountOfMoney": {"amount": PRICE, "currencyCode": "EUR"}},
            "subsequentcardPaymentMethodSpecificInput": {"subsequentType": "Recurring", "period": 1}}, 409)
        self.require(answer["errors"][0]["id"] == "AGREEMENT_PERIOD_CHARGED", f"a month is charged twice: {answer}")

    def month_2(self):
        """One of the stays is cancelled, which is free until now."""
        self.tender("agreement", "end", self.left.id, "--reason", "cancelled by the guest", "--yes", "--store", self.demo.store)
        self.left.status = "ended"
        self.agree("a stay is cancelled")

    def month_3(self):
        """The other stay begins. Afterwards the bank finds no funds on the subscriber's card."""
        self.move(self.due(3) + 14 * HOUR)
        self.charged(self.stay, 1, 18_000)
        self.agree("the stay is charged")
        self.store_card("visa-insufficient-funds")

    def month_4(self):
        """After a day the schedule tries again, and after two days more."""
        self.move(self.due(DECLINED) + DAY + 2 * HOUR)
        self.charged(self.box, DECLINED, PRICE, "declined")
        self.agree("declined a second time")
        retry = self.agreement(self.box)["retry"]
        self.require(retry["declines"] == 2, f"two declines are not counted: {retry}")
        self.store_card("visa-credit")
        self.move(self.due(DECLINED) + 3 * DAY + 3 * HOUR)
        self.charged(self.box, DECLINED, PRICE)
        self.agree("paid at the third try")
        self.require(("payment.rejected", self.box.id) in self.merchant.told, "the merchant was not told of the decline")

    def month_5(self):
        self.top_up(1)

    def month_6(self):
        """The shopper has a new card: the wallet says so, Apple notifies, and the merchant is told."""
        self.shopper.browser.get(self.demo.sandbox + "/agreements")
        self.shopper.sees("box")
        row = next(one for one in self.shopper.browser.find_elements("css selector", "#agreements li")
                   if one.find_element("css selector", "h2").text == "box")
        self.shopper.press("Replace card", row)
        self.shopper.sees("Card replaced.")
        token = self.until(lambda: self.agreement(self.box).get("merchantToken"), "Apple’s news did not arrive")
        is_new = token["cardSuffix"] in row.text and token["cardExpiry"] == "12/2034"
        self.require(is_new, f"the wallet has {row.text!r}, the server {token}")
        self.until(lambda: ("agreement.card_updated", self.box.id) in self.merchant.told, "the merchant was not told of the card")
        self.agree("a card is replaced")

    def month_7(self):
        self.top_up(2)

    def month_8(self):
        self.price(self.box, NEW_PRICE, DEARER)

    def store_card(self, card):
        """Makes the subscriber's card, which the provider has stored, another one of the sandbox."""
        _, payments, key, cards, payment = LEDGERS[self.kind]
        with contextlib.closing(self.open_ledger()) as ledger:
            changed = ledger.execute(
                f"UPDATE {cards} SET card = ? WHERE {payment} = (SELECT {key} FROM {payments} WHERE reference = ?)",
                (card, self.box.payment.removesuffix("_0"))).rowcount
            ledger.commit()
        assert changed == 1, f"{changed} cards are stored"

    def top_up(self, period):
        self.call("POST", f"payments/{self.reload.payment}/subsequent", {
            "order": {}, "subsequentcardPaymentMethodSpecificInput": {"subsequentType": "Unscheduled", "period": period}}, 201)
        self.charged(self.reload, period, 2_000)
        self.agree(f"reload {period}")

    def price(self, sold, amount, month):
        answer = self.call("POST", f"agreements/{sold.id}", {
            "price": {"amount": amount, "from": written(self.due(month))}, "reason": "told a month before"}, 200)
        self.require(amount in [price["amount"] for price in answer["prices"]], f"the price is not kept: {answer}")

    def end(self):
        """Everything ends, and nothing is charged any more. Apple is told to unlink the cards."""
        for sold in self.sold:
            if sold.status == "active":
                self.call("POST", f"agreements/{sold.id}", {"status": "ended", "reason": "the shopper has enough"}, 200)
                sold.status = "ended"
            self.until(lambda: ("agreement.ended", sold.id) in self.merchant.told,
                       f"the merchant was not told of the end of {sold.reference}")
        self.call("POST", f"payments/{self.reload.payment}/subsequent", {
            "order": {}, "subsequentcardPaymentMethodSpecificInput": {"subsequentType": "Unscheduled"}}, 409)
        self.agree("all have ended")
        self.until(lambda: {one["unlinkedBy"] for one in self.demo.get_json(f"{self.demo.sandbox}/agreements/list")} == {"merchant"},
                   "a card is linked still")
        for month in (1, 2):
            self.move(self.due(MONTHS + month) + HOUR)
            self.agree(f"{month} after the end")
        self.require(self.merchant.forged == 0, f"{self.merchant.forged} webhooks had a wrong signature")
        self.tender("payment", "verify-journal", "--store", self.demo.store)
        warnings = [line for line in (self.demo.home / "log").read_text().splitlines() if '"code":"clock"' in line]
        self.require(not warnings, f"the server takes the simulation's clock for a wrong one: {warnings}")

    # Comparing.

    def agreement(self, sold):
        return self.call("GET", f"agreements/{sold.id}", None, 200)

    def agree(self, when):
        """All views are the same as this script's, once the provider has told what it decides later."""
        end = time.monotonic() + 60
        while (found := self.differences()) and time.monotonic() < end:
            time.sleep(0.5)
        self.require(not found, f"{when}: {found}")
        say(f"{self.kind}: {written(self.now())} {when}: {len(self.reckoned)} payments, {len(found)} differences")
        assert not found, f"they differ {when}"

    def differences(self):
        wanted = collections.Counter(self.reckoned)
        journal = self.demo.journal()
        found = differences("the journal", collections.Counter(map(self.of_journal, journal)), wanted)
        found += differences("the provider's ledger", collections.Counter(self.ledger(journal)), wanted)
        found += [f"reconciliation: {item}" for item in self.reconcile()]
        for sold in self.sold:
            found += self.other_periods(sold)
        return found + self.other_dates(journal)

    @staticmethod
    def of_journal(payment):
        held = payment["captured"] - payment["refunded"]
        outcome = {"captured": payment["amount"], "verified": 0, "declined": 0}
        is_whole = outcome.get(payment["status"]) == held
        status = payment["status"] if is_whole else f"{payment['status']}, {held} taken"
        return Charge(payment["merchantReference"], payment["amount"], status)

    def ledger(self, journal):
        """What the provider did, under the merchant's references."""
        if self.kind == "sandbox":
            return [Charge(hold["merchantReference"], hold["amount"], self.outcome(
                hold["amount"], hold["authorized"], hold["captured"] - hold["refunded"], hold["status"] == "declined"))
                for hold in self.demo.holds()]
        names = {payment["id"]: payment["merchantReference"] for payment in journal}
        with contextlib.closing(self.open_ledger()) as ledger:
            rows = ledger.execute(
                "SELECT reference, amount, authorised, captured - refunded, state = 'refused' FROM payments").fetchall()
        return [Charge(names.get(reference, reference), amount, self.outcome(amount, *rest)) for reference, amount, *rest in rows]

    @staticmethod
    def outcome(amount, authorized, captured, is_declined):
        if is_declined:
            return "declined"
        if amount == 0:
            return "verified"
        return "captured" if authorized == captured == amount else f"{authorized} held, {captured} captured"

    def open_ledger(self):
        return sqlite3.connect(self.demo.folder / "sandbox" / LEDGERS[self.kind][0], timeout=STILL)

    def reconcile(self):
        report = self.demo.home / "report"
        report.write_bytes(self.demo.get(f"{self.demo.sandbox}/{self.report}", self.key))
        return json.loads(self.tender("reconcile", str(report), "--json", "--store", self.demo.store, check=False))

    def other_periods(self, sold):
        """What the API shows of an agreement otherwise than it was reckoned."""
        answer, found = self.agreement(sold), []
        if answer["status"] != sold.status:
            found.append(f"{sold.reference} is {answer['status']}, not {sold.status}")
        shown = {charge["period"]: (charge["status"], charge["amount"]) for charge in answer["charges"]}
        if shown != sold.periods:
            found.append(f"{sold.reference} shows {shown}, not {sold.periods}")
        dated = [charge for charge in answer["charges"] if charge["period"] and sold.due]
        late = [charge for charge in dated if read(charge["due"]) != sold.due(charge["period"])]
        return found + [f"{sold.reference} is due at another time: {charge}" for charge in late]

    def other_dates(self, journal):
        """Charges by the schedule that were not made at their date. Of one that was declined the first counts."""
        first = {payment["merchantReference"]: read(payment["createdAt"]) for payment in journal}  # the oldest is last
        found = []
        for sold in self.sold:
            for period in sold.periods:
                at = first.get(f"{sold.reference}-{period}")
                if at and not -SECOND <= at - sold.due(period) < HOUR:
                    found.append(f"{sold.reference}-{period} was charged at {at}, not {sold.due(period)}")
        return found

    # Looking, and damaging.

    def look(self):
        """The pages of the back office are accessible, and are kept as pictures."""
        pages = {"agreements": "/agreements", "subscription": f"/agreements/{self.box.id}", "stay": f"/agreements/{self.left.id}"}
        officework.enter(self.shopper)
        for size in ((390, 844), (1280, 900)):
            for scheme in ("light", "dark"):
                self.shopper.look(size, scheme)
                for name, path in pages.items():
                    officework.visit(self.shopper, path)
                    self.shopper.picture(f"{name}-{size[0]}-{scheme}", whole=True)
                    office_pages.must_pass(self.shopper, f"{path}, {scheme}, {size[0]} px")

    def notice_damage(self):
        """What this script compares is damaged, and it must notice."""
        def noticed(what, *words):
            found = self.differences()
            for word in words:
                self.require(any(one.startswith(word) for one in found), f"{what}: not noticed by {word}: {found}")
            say(f"{self.kind}: {what}: noticed: {'; '.join(found)}")

        self.reckoned[-1] = self.reckoned[-1]._replace(amount=self.reckoned[-1].amount + 1)
        noticed("a cent too much is reckoned", "the journal", "the provider's ledger")
        self.reckoned[-1] = self.reckoned[-1]._replace(amount=self.reckoned[-1].amount - 1)
        last = f"{self.box.reference}-{MONTHS}"
        payment = next(one["id"] for one in self.demo.journal() if one["merchantReference"] == last)
        self.charge_beside(last)
        noticed("a month is charged twice, the second time beside the server", "the provider's ledger", "reconciliation")
        with contextlib.closing(sqlite3.connect(self.demo.store, timeout=STILL)) as store:
            store.execute("UPDATE payments SET amount = amount + 100, authorized = authorized + 100, captured = captured + 100, "
                          "version = version + 1 WHERE id = ?", (payment,))
            store.commit()
        noticed("a month costs more in the journal", "the journal", self.box.reference)


    def charge_beside(self, name):
        """Charges the subscriber's card once more at the provider, as another program of the merchant's would."""
        first, reference = self.box.payment.removesuffix("_0"), secrets.token_hex(16)
        with contextlib.closing(self.open_ledger()) as ledger:
            if self.kind == "adyen":
                shopper, stored = ledger.execute(
                    "SELECT shopper, id FROM stored_methods JOIN payments ON payment = psp_reference WHERE reference = ?",
                    (first,)).fetchone()
            else:
                kept, network = ledger.execute(
                    "SELECT authorization_reference, network_transaction_id FROM stored_credentials JOIN holds "
                    "ON authorization_reference = acquirer_reference WHERE reference = ?", (first,)).fetchone()
        if self.kind == "adyen":
            return self.ask_provider("v72/payments", {
                "merchantAccount": "TenderSandbox", "reference": reference, "amount": {"currency": "EUR", "value": NEW_PRICE},
                "returnUrl": "https://harbour.example/", "shopperInteraction": "ContAuth", "shopperReference": shopper,
                "paymentMethod": {"type": "scheme", "storedPaymentMethodId": stored}, "recurringProcessingModel": "Subscription"})
        held = self.ask_provider("acquirer/v1/authorizations", {
            "reference": reference, "merchantReference": name, "amount": NEW_PRICE, "currency": "EUR", "storedCredential": {
                "sequence": "subsequent", "series": "recurring", "authorization": kept, "initialNetworkTransactionId": network}})
        return self.ask_provider(f"acquirer/v1/authorizations/{held['acquirerReference']}/captures", {
            "reference": secrets.token_hex(16), "amount": NEW_PRICE, "currency": "EUR", "final": True})

    def ask_provider(self, path, body):
        status, answer = demo_server.call(
            "POST", f"{self.demo.sandbox}/{path}", json.dumps(body).encode(), {"Content-Type": "application/json", **self.key})
        assert status in (200, 201), f"the provider answers {status}: {answer}"
        return answer


def run(kind, with_app):
    """The faults of one connector."""
    begin = time.monotonic()
    with demo_server.running(TENDER, *CONNECTORS[kind][0]) as server:
        story = Story(kind, server, with_app)
        try:
            for act in (story.open, story.sell, story.live, story.look, story.notice_damage):
                act()
        except Exception as failure:  # whatever it is, the other connector is judged too
            story.require(False, f"{type(failure).__name__}: {failure}")
            with contextlib.suppress(Exception):
                story.shopper.picture("failed")
            say((pathlib.Path(server.home) / "log").read_text()[-3_000:])
        finally:
            story.close()
    say(f"{kind}: {len(story.sold)} agreements, {len(story.reckoned)} payments, {len(story.faults)} faults, "
        f"{time.monotonic() - begin:.0f} s")
    return story.faults


def main():
    words = sys.argv[1:]
    kinds = [word for word in words if word != "--app"] or list(CONNECTORS)
    unknown = [kind for kind in kinds if kind not in CONNECTORS]
    if unknown:
        raise SystemExit(f"months: no connector {unknown[0]}; there are {', '.join(CONNECTORS)}")
    if not os.access(f"{TENDER}-sandbox", os.X_OK):
        raise SystemExit("months: first build it: scripts/build debug tender tender-sandbox")
    if "--app" in words:
        subprocess.run(["swift", "build", "-q", "--build-tests", "--enable-code-coverage"], cwd=HOST, check=True,
                       env={**os.environ, "SWIFT_DETERMINISTIC_HASHING": "1"})
    shutil.rmtree(ARTIFACTS, ignore_errors=True)
    faults = {kind: run(kind, "--app" in words) for kind in kinds}
    say(f"{len(kinds)} connectors, {sum(map(len, faults.values()))} faults")
    sys.exit(1 if any(faults.values()) else 0)


if __name__ == "__main__":
    main()
