"""What is attacked: a server with all of its surfaces, or a key agent, and what a caller needs to pass the first checks."""
import html.parser, json, os, re, signal, subprocess, sys, time, urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [HERE + "/../Processes", HERE + "/../../Support"]
import deployment, free_ports  # noqa: E402
from deployment import CONNECTORS, IDENTIFIER, MERCHANT, call, exchange  # noqa: E402

PASSWORD = "correct horse battery"
PERSON = "anna"


class System(deployment.Deployment):
    """A server with a back office, mail, hosted pages and a route to each provider, and something in its store."""

    def open(self):
        self.office_port = free_ports.row(1)
        self.mail_port = free_ports.row(1)
        super().open()
        for name in CONNECTORS:
            self.kind = deployment.KINDS[name][0]
            self.write_connector()
        self.kind = deployment.DECRYPTED
        with open(f"{self.directory}/merchants/{MERCHANT}/merchant.yaml", "a") as file:
            file.write("orderConfirmation: true\nrefundNotice: true\nroutes: [sandbox]\n")
        self.serve()
        self.fill()

    def run_sandbox(self):
        self.sandbox = self.spawn(
            "tender-sandbox", "sandbox", "--port", str(self.bank_ports[0]), "--gateway-port", str(self.bank_ports[1]), "--mail-port",
            str(self.mail_port), "--directory", "sandbox")
        self.wait_for(self.sandbox, self.bank, "/sandbox/ca.json", "the sandbox")

    def run_sink(self):
        """Nobody receives the webhooks."""

    def configuration(self):
        return super().configuration() + (
            f"backOffice:\n  port: {self.office_port}\nconnectors:\n  directory: connectors\nquotas:\n  perKey: 0\n  perMerchant: 0\n"
            f"mail:\n  host: 127.0.0.1\n  port: {self.mail_port}\n  user: tender\n  password: sandbox-mailbox\n"
            "  rootsFile: sandbox/pki/tls-root.pem\n  from: tender@pay.example\n")

    # What the server's store holds.
    def fill(self):
        baskets = ["%032x" % number for number in range(1, 4)]
        self.payments = [self.pay(basket) for basket in baskets]
        self.basket = "%032x" % 9
        self.put_basket(self.basket, 1250, "immediate")
        self.reference = self.references(baskets[:1])[0]
        self.sign_in()
        self.act("/merchants", "add", {"id": "stored", "identifier": "merchant.test.stored", "name": "Stored", "country": "IE", "currency": "EUR",
                                       "domains": "stored.example", "reason": "it is new"})

    def pay(self, basket, document=None):
        if document:
            self.signed("PUT", f"/v2/{MERCHANT}/baskets/{basket}", document)
        else:
            self.put_basket(basket, 1250, "manual")
        sheet = self.sheet(basket)[1]
        return call(self.base, "POST", "/applepay/payment", self.payment(basket, sheet, self.token(sheet)))[1].get("paymentId", "")

    # The office.
    def ask(self, **user_call):
        return self.administer("POST", "/users/calls", user_call)[1]

    def sign_in(self):
        self.ask(demonstrate={"name": PERSON, "password": PASSWORD})
        self.cookie = ""
        fields = {"name": PERSON, "password": PASSWORD, "code": self.ask(code={"name": PERSON})["code"]}
        status = self.load("POST", "/sign-in", {**fields, "csrf": self.csrf()})[0]
        if status != 303:
            raise SystemExit(f"fuzz-server: {status} at sign-in; see {self.directory}/log")
        self.token_of_forms = self.csrf()

    def csrf(self):
        return re.search(r'name="csrf" value="([0-9a-f]+)"', self.load("GET", "/sign-in")[1])[1]

    def load(self, method, path, fields=None):
        """Status and page, as a browser would load it."""
        connection = deployment.http.client.HTTPConnection("127.0.0.1", self.office_port, timeout=deployment.STILL)
        data = urllib.parse.urlencode(fields) if fields is not None else None
        kind = {"Content-Type": "application/x-www-form-urlencoded"} if data else {}
        connection.request(method, path, data, {"Cookie": f"tender-office={self.cookie}", **kind})
        answer = connection.getresponse()
        text = answer.read().decode("utf-8", "replace")
        if found := re.search(r"tender-office=([0-9a-f]+)", answer.headers.get("Set-Cookie", "")):
            self.cookie = found[1]
        connection.close()
        return answer.status, text

    def act(self, path, what, fields):
        status, page = self.load("POST", path, {**fields, "csrf": self.token_of_forms})
        if status not in (200, 303):
            raise SystemExit(f"fuzz-server: {what}: {status} {page[-600:]}")

    def forms(self, path):
        """The forms of a page of the office."""
        parser = Forms()
        parser.feed(self.load("GET", path)[1])
        return parser.found

    def restart(self):
        """After a crash. Its sessions are in the store."""
        self.end(self.server)
        self.serve()


class Agent:
    """A key agent with the merchants of a deployment."""

    def __init__(self, deployed):
        self.deployed, self.path = deployed, deployed.directory + "/keys.sock"

    def restart(self):
        deployment.Deployment.end(getattr(self, "process", None))
        self.process = self.deployed.spawn("tender", "key-agent", "--merchants", "merchants", "--socket", self.path)
        while not os.path.exists(self.path):
            if self.process.poll() is not None:
                raise SystemExit(f"fuzz-server: the key agent does not start; see {self.deployed.directory}/log")
            time.sleep(0.05)


class Forms(html.parser.HTMLParser):
    """Finds the forms of a page: method, action, fields with their values, and the name of the field for a file."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form":
            self.found.append((attributes.get("method", "get").upper(), attributes.get("action", ""), [], []))
        elif tag in ("input", "select", "textarea", "button") and self.found and attributes.get("name"):
            kind = self.found[-1][3 if attributes.get("type") == "file" else 2]
            kind.append((attributes["name"], attributes.get("value") or ""))
