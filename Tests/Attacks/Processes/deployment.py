"""A deployment of real processes: the server, the sandbox with the ledger of the acquirer or the provider, and the
merchant's server for webhooks. The scripts that run it pay, and record the answers.

    scripts/attack crash, scripts/attack failover, scripts/attack races, scripts/attack clock, scripts/attack disk
"""
import base64, hashlib, hmac, http.client, http.server, json, mmap, os, random, re, shutil, signal, socket, sqlite3
import struct, subprocess, sys, threading, time, urllib.parse
from email.utils import formatdate

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE + "/../../Support")
import free_ports

BINARIES = os.path.abspath(os.path.join(".build", os.environ.get("CONFIGURATION", "debug")))
MERCHANT = "harbour"
IDENTIFIER = "merchant.test.harbour"
# Longer than Tender's lease, in seconds.
LEASE = 65
# What takes longer than so many seconds hangs, also on a machine that is slow.
STILL = 600
os.environ["SWIFT_BACKTRACE"] = "enable=no"
# SIGTERM ends the script and, by its clean-up, the processes that it started.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


class Kind:
    """How the payment token reaches the acquirer: decrypted by Tender, or sealed to a provider; and which it is."""

    def __init__(self, name, connector, path, ledger, sealed=False, unreachable=()):
        """unreachable: crash points that the connector's capabilities never lead to."""
        self.name, self.connector, self.path, self.ledger = name, connector, path, ledger
        self.sealed, self.unreachable = sealed, set(unreachable)
        # A payment provider's emulator, which a folder of connectors names.
        self.is_provider = connector in CONNECTORS


def basic(user, password):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


# By connector: its files, and the headers of calls to its emulator.
CONNECTORS = {
    "adyen": {
        "files": {
            "connector.yaml": "merchantAccounts: [TenderSandbox]\n", "api-key.secret": "sandbox-adyen-key",
            "hmac-keys/1.secret": "5AD8B0A1C3E2F4769B8D7C6E5F4A3B2C1D0E9F8A7B6C5D4E3F2A1B0C9D8E7F60"},
        "headers": {"X-API-Key": "sandbox-adyen-key"}, "endpoint": "/webhook"},
    "braintree": {
        "files": {
            "connector.yaml": "merchantId: tender_sandbox\npublicKey: sandbox_public_key\n"
                              "merchantAccounts: [EUR=tender_eur]\ncapturesInParts: true\n",
            "private-key.secret": "sandbox_private_key"},
        "headers": {**basic("sandbox_public_key", "sandbox_private_key"), "X-ApiVersion": "6"}, "endpoint": "/event-endpoint"},
    "stripe": {
        "files": {
            "connector.yaml": "multicapture: true\n", "secret-key.secret": "sk_test_tendersandbox",
            "signing-secrets/1.secret": "whsec_tendersandbox"},
        "headers": {"Authorization": "Bearer sk_test_tendersandbox"}, "endpoint": "/webhook"},
    "checkout-com": {
        "files": {
            "connector.yaml": "processingChannels: [pc_tendersandboxchannel2222222]\ndescriptorCity: London\n",
            "secret-key.secret": "sk_sbox_tendersandboxsecretkey22222",
            "public-key.secret": "pk_sbox_tendersandboxpublickey22222",
            "signature-keys/1.secret": "tender-sandbox-signature-key"},
        "headers": {"Authorization": "Bearer sk_sbox_tendersandboxsecretkey22222"}, "endpoint": "/webhook"},
    "worldline-direct": {
        "files": {
            "connector.yaml": "merchantId: TenderSandbox\napiKeyId: 5ANDB0X0D1RECT00\n",
            "api-key.secret": "sandbox-worldline-direct-secret",
            "webhook-keys/sandbox-webhook-key.secret": "sandbox-worldline-direct-webhook-secret"},
        "headers": basic("5ANDB0X0D1RECT00", "sandbox-worldline-direct-secret"), "endpoint": "/webhook"},
    # It opens no payment tokens and sends no events.
    "worldline-acquiring": {
        "files": {
            "connector.yaml": 'clientId: tender-sandbox\nacquirerId: "100001"\nmerchantIds: ["520000001"]\n'
                              "preAuthorization: true\n",
            "client-secret.secret": "sandbox-client-secret"},
        "headers": basic("tender-sandbox", "sandbox-client-secret"), "endpoint": None}}

DECRYPTED = Kind("decrypted", "sandbox", "/acquirer/v1", "acquirer.sqlite")
SEALED = Kind("sealed", "sandbox-provider", "/provider/v1", "provider.sqlite", sealed=True)
# Adyen cannot be asked, and repeats. Braintree can be asked, and neither repeats nor reverses. Stripe and Checkout.com can
# be asked and do not reverse; Worldline Direct does not either, and is asked about what it has named. Worldline Acquiring
# sends no events.
NEVER = {
    "adyen": ["recovery.inquired"],
    "braintree": ["recovery.repeated", "recovery.reversing", "recovery.reversed"],
    "stripe": ["recovery.reversing", "recovery.reversed"],
    "checkout-com": ["recovery.reversing", "recovery.reversed"],
    "worldline-direct": ["recovery.reversing", "recovery.reversed"],
    "worldline-acquiring": ["event.accepted", "event.recorded"]}
# By connector of which only the dashboard can tell: what it has, or may have yet.
HELD = {"adyen": "state IN ('authorised', 'received')", "worldline-direct": "status IN (5, 9, 51)"}
# What became of an authorization whose request may be lost cannot be asked there, nor undone. After a day a person is called.
WAITS_FOR_A_PERSON = {"worldline-direct"}
DAY = 86_400
OPENS_NOTHING = {"worldline-acquiring"}
KINDS = {
    "sandbox": [DECRYPTED, SEALED],
    **{name: [Kind(name + (", sealed" if sealed else ""), name, "/" + name, name + ".sqlite", sealed, NEVER[name])
              for sealed in ((False,) if name in OPENS_NOTHING else (False, True))] for name in CONNECTORS}}


def kinds(names):
    """The kinds of connectors that the command line names; the sandbox's by default."""
    unknown = [name for name in names if name not in KINDS]
    if unknown:
        raise SystemExit(f"no connector {unknown[0]}; there are {', '.join(KINDS)}")
    return [kind for name in names or ["sandbox"] for kind in KINDS[name]]


class Clock:
    """The offset of the processes' clock. They map the file, so that a change takes effect at once."""

    def __init__(self, path):
        with open(path, "wb") as file:
            file.write(struct.pack("<q", 0))
        self.path, self.file = path, open(path, "r+b")
        self.page, self.ahead = mmap.mmap(self.file.fileno(), 8), 0

    def jump(self, seconds):
        self.ahead += seconds
        self.page[:8] = struct.pack("<q", self.ahead)

    def now(self):
        return time.time() + self.ahead


class Defect:
    """A defect in a store alone: whenever a statement has changed a row, another one changes it again."""

    def __init__(self, moment, condition, statement):
        when = f" WHEN {condition}" if condition else ""
        self.in_sqlite = f"CREATE TRIGGER injected {moment}{when} BEGIN {statement}; END"
        self.in_postgres = (
            f"CREATE FUNCTION injected() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {statement}; RETURN NULL; END $$; "
            f"CREATE TRIGGER injected {moment} FOR EACH ROW"
            + (f" WHEN ({condition})" if condition else "") + " EXECUTE FUNCTION injected()")


class Journal:
    """A log of received answers, flushed to disk with each line."""

    def __init__(self, path):
        self.file, self.lock = open(path, "ab", buffering=0), threading.Lock()

    def write(self, **line):
        with self.lock:
            self.file.write(json.dumps(line).encode() + b"\n")
            os.fsync(self.file.fileno())


def sink(port, path, secret):
    """The merchant's server: receives webhooks, and fails a few of them."""
    journal, dice = Journal(path), random.Random(7)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            chance = dice.random()
            if chance > 0.02:
                event = json.loads(body)
                data = event["tender"]
                signature = base64.b64encode(hmac.new(secret.encode(), body, hashlib.sha256).digest()).decode()
                journal.write(
                    payment=data["paymentId"], sequence=data["sequence"], status=data["status"],
                    captured=data["captured"], refunded=data["refunded"], id=event["id"],
                    authentic=self.headers.get_all("X-GCS-Signature") == [signature], body=body.decode())
            self.send_response(200 if chance > 0.05 else 503)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads, request_queue_size = True, 128

    Server(("127.0.0.1", port), Handler).serve_forever()


class UnixConnection(http.client.HTTPConnection):
    """A connection to the admin socket, as `tender payment` uses it."""

    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def exchange(connection, method, path, body=None, headers=None):
    try:
        data = json.dumps(body).encode() if body is not None else None
        kind = {"Content-Type": "application/json"} if data else {}
        connection.request(method, path, data, {**kind, **(headers or {})})
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text.startswith((b"{", b"[")) else text
    finally:
        connection.close()


def call(base, method, path, body=None, headers=None, timeout=STILL):
    host = urllib.parse.urlparse(base)
    return exchange(http.client.HTTPConnection(host.hostname, host.port, timeout=timeout), method, path, body, headers)


# What a server does later without an operation that is open: events, their deliveries, and captures that are due again. In one
# query: two could miss an event that the dispatcher moves in between.
TO_COME = ("SELECT (SELECT COUNT(*) FROM outbox WHERE delivered_at IS NULL) + "
           "(SELECT COUNT(*) FROM webhook_deliveries WHERE state = 'waiting') + "
           "(SELECT COUNT(*) FROM payments WHERE capture_due IS NOT NULL AND status = 'authorized' AND alarm IS NULL)")
# Errors of a connection while its server is killed.
TROUBLE = (OSError, http.client.HTTPException, ValueError)


class Deployment:
    """Starts, kills and stops the processes. All their files are below its directory."""

    def __init__(self, directory, kind=DECRYPTED, platform=False):
        """On a platform a payment token names the merchant's domain and no basket, so that it fits all of them."""
        self.directory, self.kind, self.platform = directory, kind, platform
        self.log = open(directory + "/log", "ab")
        self.port = free_ports.row(4)
        self.sink_port, self.bank_ports = self.port + 1, [self.port + 2, self.port + 3]
        self.bank = f"http://127.0.0.1:{self.bank_ports[0]}"
        self.server = self.sandbox = self.merchant_server = None
        self.restarts = []
        self.clock = Clock(directory + "/clock")
        # The server's clock; the same as the others' by default.
        self.server_clock = self.clock
        self.shims = {}
        # Shoppers pay while it is set.
        self.accepts_shoppers = threading.Event()
        self.accepts_shoppers.set()

    @property
    def base(self):
        """Where shoppers and the merchant's server call."""
        return f"http://127.0.0.1:{self.port}"

    # Paths.
    @property
    def store(self):
        return self.directory + "/data/tender.db"

    @property
    def ledger(self):
        return f"{self.directory}/sandbox/{self.kind.ledger}"

    def shim(self, name):
        """A library to preload, built on first use."""
        if name not in self.shims:
            self.shims[name] = f"{self.directory}/{name}.so"
            subprocess.run(
                ["clang", "-Wall", "-Wextra", "-shared", "-fPIC", "-O2", "-o", self.shims[name], f"{HERE}/{name}.c",
                 "-ldl", "-lpthread"], check=True)
        return self.shims[name]

    def spawn(self, binary, *words, clock=None, preload=(), **variables):
        clock = clock or self.clock
        loaded = " ".join([self.shim("shifted-clock"), *preload])
        return subprocess.Popen(
            [f"{BINARIES}/{binary}", *words], stdout=self.log, stderr=self.log, cwd=self.directory,
            env={**os.environ, "LD_PRELOAD": loaded, "SHIFTED_CLOCK": clock.path, **variables})

    # Opening.
    def open(self):
        self.run_sandbox()
        subprocess.run(
            [f"{BINARIES}/tender", "merchant", "add", "--sandbox", self.bank, "--directory", "merchants", "--id", MERCHANT,
             "--domain", "localhost:8401"], cwd=self.directory, check=True, stdout=self.log, stderr=self.log)
        folder = f"{self.directory}/merchants/{MERCHANT}"
        with open(folder + "/merchant.yaml", "a") as file:
            file.write(f'webhooks: ["http://127.0.0.1:{self.sink_port}/hooks"]\n')
            file.write("encryptTo: platform\n" if self.platform else "")
            file.write(f"routes: [{self.kind.connector}]\n" if self.kind.is_provider else "")
        if self.platform:
            shutil.copytree(folder + "/processing", self.directory + "/platform/processing")
        self.key, self.secret = self.keys(folder + "/api-keys")
        self.webhook_secret = self.keys(folder + "/webhook-keys")[1]
        if self.kind.is_provider:
            self.write_connector()
        self.run_sink()
        self.configure()
        self.bank_key = call(self.bank, "GET", "/sandbox/ca.json")[1]["acquirerKey"]
        if self.kind.sealed:
            self.seal_to_provider()
        # Pending outcomes arrive as events.
        endpoint = {"url": f"http://127.0.0.1:{self.port}/acquirers/{self.kind.connector}/events"}
        provider = CONNECTORS.get(self.kind.connector, {})
        path = provider.get("endpoint", "/event-endpoint")
        if path:
            self.ask_bank("PUT", path, endpoint)
        self.contact = call(self.bank, "GET", "/device/contacts")[1][0]

    def configure(self):
        with open(self.directory + "/tender.yaml", "w") as file:
            file.write(f"port: {self.port}\ndirectory: data\n" + self.configuration())

    def configuration(self):
        """What every server of this deployment has in common."""
        return (f"publicURL: http://127.0.0.1:{self.port}\nsandboxURL: {self.bank}\n"
                + ("connectors:\n  directory: connectors\n" if self.kind.is_provider
                   else f"acquirer:\n  connector: {self.kind.connector}\n") +
                "merchants:\n  directory: merchants\nwebhooks:\n  allowPrivateAddresses: true\n"
                # Many callers at once connect, and then wait for one another.
                f"connections:\n  headerSeconds: {STILL}\n  bodySeconds: {STILL}\n"
                + ("platform:\n  directory: platform\n" if self.platform else ""))

    def ask_bank(self, method, path, body=None):
        status, answer = call(self.bank, method, self.kind.path + path, body, self.bank_headers)
        assert status == 200, (path, status, answer)
        return answer

    @property
    def bank_headers(self):
        provider = CONNECTORS.get(self.kind.connector)
        return provider["headers"] if provider else {"Authorization": "Bearer " + self.bank_key}

    def write_connector(self):
        for name, text in CONNECTORS[self.kind.connector]["files"].items():
            path = f"{self.directory}/connectors/{self.kind.connector}/{name}"
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
            os.chmod(path, 0o600)

    def settle_capture(self, payment):
        """Lets Braintree settle what was captured of a payment, because it refunds parts of what is settled only."""
        if self.kind.connector != "braintree":
            return
        for operation in payment.get("operations", []):
            if operation["kind"] == "capture" and operation["state"] == "approved":
                path = f"/merchants/tender_sandbox/transactions/{operation['acquirerReference']}/settle"
                call(self.bank, "PUT", path, headers=self.bank_headers)

    def seal_to_provider(self):
        """Makes devices encrypt to the provider: it creates a key, and the portal issues and activates its certificate."""
        request = self.ask_bank("POST", "/certificate-requests", {"merchantIdentifier": IDENTIFIER})
        portal = f"/portal/merchants/{IDENTIFIER}/certificates"
        status, answer = call(self.bank, "POST", portal, {"type": "processing", "csr": request["csr"]})
        assert status in (200, 201), answer
        certificate = answer["certificate"]
        status, answer = call(self.bank, "POST", f"{portal}/{answer['id']}/activate")
        assert status == 200, answer
        if self.kind.is_provider:
            folder = f"{self.directory}/connectors/{self.kind.connector}/certificates"
            os.makedirs(folder)
            with open(f"{folder}/{MERCHANT}.pem", "w") as file:
                file.write(certificate)

    def run_sandbox(self):
        self.sandbox = self.spawn(
            "tender-sandbox", "sandbox", "--port", str(self.bank_ports[0]), "--gateway-port", str(self.bank_ports[1]),
            "--directory", "sandbox")
        self.wait_for(self.sandbox, self.bank, "/sandbox/ca.json", "the sandbox")

    def run_sink(self):
        self.merchant_server = subprocess.Popen(
            [sys.executable, __file__, "--sink", str(self.sink_port), self.directory + "/sink.jsonl",
             self.webhook_secret])

    @staticmethod
    def keys(folder):
        name = sorted(os.listdir(folder))[-1]
        return name.removesuffix(".secret"), open(f"{folder}/{name}").read().strip()

    def serve(self, point=None, **extras):
        """Starts the server, or the test build that kills itself at a crash point."""
        begin = time.monotonic()
        if point:
            extras["CRASHPOINT"] = point
        words = ["crashing-server"] if point else ["tender", "serve"]
        self.server = self.spawn(*words, "--config", "tender.yaml", clock=self.server_clock, **extras)
        if self.wait_for(self.server, self.base, "/readyz", "the server", may_die=point is not None):
            self.restarts.append(time.monotonic() - begin)

    def wait_for(self, process, base, path, name, may_die=False):
        end, answer = time.monotonic() + STILL, None
        while time.monotonic() < end:
            if process.poll() is not None:
                # At the crash points of recovery it dies before it answers.
                if may_die and process.returncode == -signal.SIGKILL:
                    return False
                raise SystemExit(f"{name} ended with {process.returncode}; see {self.directory}/log")
            try:
                answer = call(base, "GET", path, timeout=60)
                if answer[0] == 200:
                    return True
            except TROUBLE as trouble:
                answer = trouble
                if isinstance(trouble, TimeoutError):
                    print(f"{name}: {path} was not answered in 60 s; asked again", file=sys.stderr)
            time.sleep(0.02)
        raise SystemExit(f"{name} does not get ready: {path} is answered {answer}")

    @property
    def front_port(self):
        """Where one call goes."""
        return self.port

    # Stopping.
    @staticmethod
    def end(process, how=signal.SIGKILL):
        if process and process.poll() is None:
            process.send_signal(how)
            process.wait(STILL)

    def kill(self):
        self.end(self.server)

    def kill_at_random(self, dice):
        """What one kill ends."""
        self.kill()

    def died(self, patience=STILL, meanwhile=lambda: None):
        """Whether the server killed itself meanwhile."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            try:
                return self.server.wait(2) == -signal.SIGKILL
            except subprocess.TimeoutExpired:
                meanwhile()
        return False

    def kill_all(self):
        """Kills all processes, so that only their files remain, with the write-ahead log."""
        for process in [self.server, self.sandbox, self.merchant_server]:
            self.end(process)

    def collect(self):
        """Ends all processes and leaves the store in a file."""
        self.kill_all()

    # Calls.
    def metrics(self):
        text = self.administer("GET", "/metrics")[1].decode()
        return {m[0]: float(m[1]) for m in re.findall(r"^(\S+) ([0-9.]+)$", text, re.M)}

    def signed(self, method, path, body, base=None, timeout=STILL):
        date = formatdate(self.server_clock.now(), usegmt=True)
        text = f"{method}\n{'application/json' if body else ''}\n{date}\n{path}\n"
        code = base64.b64encode(hmac.new(self.secret.encode(), text.encode(), hashlib.sha256).digest()).decode()
        headers = {"Date": date, "Authorization": f"GCS v1HMAC:{self.key}:{code}"}
        return call(base or self.base, method, path, body, headers, timeout)

    def administration(self, timeout=STILL):
        """A connection for one call of an operator's."""
        return UnixConnection(self.store + ".sock", timeout)

    def administer(self, method, path, body=None, timeout=STILL):
        return exchange(self.administration(timeout), method, path, body)

    def references(self, baskets):
        """Our names of the baskets' authorizations, by which the providers know a hold."""
        store = sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)
        try:
            return [row[0] for row in store.execute(
                "SELECT reference FROM operations JOIN payments ON payments.id = payment "
                f"WHERE kind = 'authorize' AND basket IN ({','.join('?' * len(baskets))})", list(baskets))]
        finally:
            store.close()

    def inject(self, defect):
        """Puts a trigger into the store, which changes what a server has written."""
        store = sqlite3.connect(self.store)
        try:
            store.execute(defect.in_sqlite)
        finally:
            store.close()

    def decide(self):
        """What an operator does about payments of which only the provider's dashboard can tell: those that it does not
        have were never held."""
        if self.kind.connector not in HELD:
            return
        found = self.administer("POST", "/payments/search", {"alarmed": True, "limit": 500})[1]["payments"]
        for payment in found:
            if payment["status"] not in ("authorizing", "pending", "unknown"):
                continue
            shown = self.administer("GET", f"/payments/{payment['id']}")[1]
            names = [item["reference"] for item in shown["operations"] if item["kind"] == "authorize"]
            if not self.dashboard_has(names):
                self.administer("POST", f"/payments/{payment['id']}/resolve?as=failed&note=not+in+the+dashboard")

    def dashboard_has(self, names):
        ledger = sqlite3.connect(f"file:{self.ledger}?mode=ro", uri=True)
        try:
            return ledger.execute(
                f"SELECT COUNT(*) FROM payments WHERE {HELD[self.kind.connector]} AND reference IN "
                f"({','.join('?' * len(names))})", names).fetchone()[0] > 0
        finally:
            ledger.close()

    def put_basket(self, basket, amount, capture, **how):
        document = {
            "currencyCode": "EUR", "countryCode": "IE", "merchantReference": "T-" + basket[:12],
            "businessName": "Harbour Kitchen", "serviceTypes": ["collection"], "serviceType": "collection",
            "items": [{"id": "fish", "label": "Fish", "unitAmount": amount, "quantity": 1}],
            "shippingMethods": [], "zones": [], "coupons": [], "capture": capture}
        return self.signed("PUT", f"/v2/{MERCHANT}/baskets/{basket}", document, **how)

    def sheet(self, basket):
        return call(self.base, "GET", f"/applepay/basket/{basket}")

    def token(self, sheet):
        request = {
            "cardId": "visa-debit", "publicKeyOf": IDENTIFIER, "amount": sheet["request"]["total"]["amount"],
            "currency": "EUR", "applicationData": sheet["request"]["applicationData"]}
        status, token = call(self.bank, "POST", "/device/tokens", request)
        assert status == 200, token
        return token

    def payment(self, basket, sheet, token):
        """The body of a payment."""
        return {"basketId": basket, "quoteId": sheet["quoteId"], "token": token, "shippingContact": self.contact}

    def to_come(self):
        """How many events, deliveries and captures the server has yet to see to."""
        store = sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)
        try:
            return store.execute(TO_COME).fetchone()[0]
        finally:
            store.close()

    def pass_lease(self, begin, clock=None, seconds=LEASE):
        """Lets a lease end. A machine that is still busy after two minutes is slow: it gets more time between two leases, or all
        that it does would be late by the clock."""
        time.sleep(1.2 if time.monotonic() - begin < 120 else 12)
        (clock or self.clock).jump(seconds)

    def all_answered(self, shoppers, patience=STILL, waits_for_person=False):
        """Whether every shopper gets a final answer. Meanwhile the leases of killed processes end; and a day passes, once
        everything has its answer that does not wait for a person."""
        begin = time.monotonic()
        end = begin + patience
        day = begin + 30 if waits_for_person or self.kind.connector in WAITS_FOR_A_PERSON else end
        while any(shopper.is_alive() for shopper in shoppers) and time.monotonic() < end:
            is_over = time.monotonic() > day
            self.pass_lease(begin, seconds=DAY if is_over else LEASE)
            day = end if is_over else day
            try:
                self.decide()
            except TROUBLE:
                pass
        return not any(shopper.is_alive() for shopper in shoppers)

    def settle(self, webhooks=True, patience=STILL, clock=None):
        """Waits until recovery and the dispatcher have nothing left to do, and advances the clock.

        Returns the seconds of the clock that it took; None when they do not finish."""
        clock = clock or self.clock
        open_things = ("tender_payments_unsettled", "tender_payments_unknown", "tender_operations_open")
        begin, start, left = clock.now(), time.monotonic(), None
        while time.monotonic() < start + patience:
            try:
                self.decide()
                left = {name: value for name, value in self.metrics().items() if value and name.startswith(open_things)}
                if not left and webhooks and (waiting := self.to_come()):
                    left = {"events, webhooks and captures": waiting}
            except (*TROUBLE, sqlite3.Error):
                pass
            if left == {}:
                return clock.now() - begin
            self.pass_lease(start, clock)
        print(f"not settled after {clock.now() - begin:.0f} s: {left}", flush=True)
        return None


if __name__ == "__main__" and sys.argv[1:2] == ["--sink"]:
    sink(int(sys.argv[2]), sys.argv[3], sys.argv[4])
