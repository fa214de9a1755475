"""The demo under test: the addresses of its servers, Tender's journal (`tender payment list --json`) and the
acquirer's ledger, read over HTTP."""

import collections
import contextlib
import json
import pathlib
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from shopper import PATIENCE

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST_LIMIT = 500


class Demo:
    """`tender-sandbox demo --port N`, which takes six ports: server, shop, sandbox, the sandbox's gateway, second
    shop, back office."""

    def __init__(self, port, home, tender):
        self.port = port
        self.home = pathlib.Path(home)
        self.tender = tender
        self.server = f"http://localhost:{port}"
        self.shop = f"http://localhost:{port + 1}"
        self.sandbox = f"http://localhost:{port + 2}"
        self.second_shop = f"http://kitsune.localhost:{port + 4}"
        self.office = f"http://localhost:{port + 5}"

    @property
    def folder(self):
        """Where the demo keeps everything; the name tells the providers that it pays through."""
        return next(self.home.glob(f".tender/demo-{self.port}*"))

    @property
    def store(self):
        return str(self.folder / "tender.db")

    @property
    def origins(self):
        return [self.server, self.shop, self.sandbox, self.second_shop, self.office]

    def get(self, url, headers=None):
        # Python knows no *.localhost; the connection goes to this machine, the name in the header.
        parts = urllib.parse.urlsplit(url)
        request = urllib.request.Request(
            urllib.parse.urlunsplit(parts._replace(netloc=f"127.0.0.1:{parts.port}")),
            headers={"Host": parts.netloc, **(headers or {})})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.read()

    def get_json(self, url, headers=None):
        return json.loads(self.get(url, headers))

    # The journal and the acquirer's ledger

    def journal(self):
        """Every payment, the newest first."""
        answer = subprocess.run(
            [self.tender, "payment", "list", "--json", "--limit", str(LIST_LIMIT), "--store",
             self.store],
            cwd=self.home, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert answer.returncode == 0, f"the journal cannot be read: {answer.stderr.strip()}"
        return json.loads(answer.stdout)

    def holds(self):
        """Every hold in the acquirer's ledger."""
        key = self.get_json(f"{self.sandbox}/sandbox/ca.json")["acquirerKey"]
        ledger = self.get_json(
            f"{self.sandbox}/acquirer/v1/authorizations?limit={LIST_LIMIT}", {"Authorization": f"Bearer {key}"})
        return ledger["authorizations"]

    def payments(self, basket):
        return [payment for payment in self.journal() if payment["basket"] == basket]

    def reference(self, basket):
        """The shop's own number for what was ordered with this basket."""
        for shop in (self.shop, self.second_shop):
            with contextlib.suppress(urllib.error.HTTPError):
                return self.get_json(f"{shop}/api/orders/{basket}")["reference"]
        raise AssertionError(f"no shop knows of an order with the basket {basket}")

    def must_agree(self, basket=None):
        """The journal and the acquirer's ledger agree on this basket, or on everything: as many payments, of
        the same money, with the same cards. Gives the payments that took some."""
        payments = self.journal() if basket is None else self.payments(basket)
        holds = self.holds()
        if basket is not None:
            reference = self.reference(basket) if payments else None
            holds = [hold for hold in holds if hold["merchantReference"] == reference]
        ours = collections.Counter(money(payment, device_suffix(payment["card"])) for payment in payments)
        theirs = collections.Counter(money(hold, hold["cardSuffix"]) for hold in holds)
        assert ours == theirs, f"only in the journal: {ours - theirs}; only in the acquirer's ledger: {theirs - ours}"
        return [payment for payment in payments if payment["captured"] > 0]

    def must_be_paid_once(self, basket):
        taken = self.must_agree(basket)
        assert len(taken) == 1, f"the basket was paid {len(taken)} times"
        assert taken[0]["captured"] == taken[0]["amount"], f"not all was taken: {taken[0]}"
        return taken[0]

    def must_not_be_paid(self, basket):
        taken = self.must_agree(basket)
        assert not taken, f"the basket was paid: {taken}"


def device_suffix(card):
    """The end of the device account number: of `device 0012`, and of `Visa 0492 (device 0012)`."""
    return card.rpartition("device ")[2].rstrip(")")


def money(row, card):
    return (row["amount"], row["currency"], row["authorized"], row["captured"], row["refunded"], card)
