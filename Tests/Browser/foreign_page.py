"""A shop whose page was written for Safari, without Tender's kit, on the sandbox: every price is paid, however the engine
spells it. `PRICES=9999` takes all from 0.01 to 99.99; without it a sample."""

import base64
import contextlib
import hashlib
import http.client
import http.server
import json
import os
import pathlib
import ssl
import threading
import urllib.parse

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from claims import claim
from merchantpage import Identity
from shopper import PATIENCE

HERE = pathlib.Path(__file__).resolve().parent / "foreign"
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript"}
SAMPLE = 50
ALL = 9_999
BATCH = 10  # of one call of the browser's driver

# Two items that cost together so many cents; what the engine makes of the sum is in `spelled`.
PAY = """
    const spelled = [];
    applePaySandbox.setDevice({ requiresGesture: false });
    for (const cents of arguments[0]) {
      const first = Math.floor(cents / 3);
      const parts = [first, cents - first].filter(Boolean);
      cart.splice(0, cart.length, ...parts.map((part, index) => ({ label: `Item ${index}`, price: part / 100 })));
      document.getElementById("result").textContent = "";
      document.getElementById("buy").click();
      const { state, status } = await applePaySandbox.approve();
      if (state !== "completed" || status !== 0) throw new Error(`${total()} ended ${state} ${status}`);
      spelled.push(String(total()));
    }
    return spelled;
    """


class OwnIdentity(Identity):
    """A merchant whose server opens its payment tokens itself."""

    def certify(self, home, kind, key):
        super().certify(home, kind, key)
        if kind == "processing":
            self.key = serialization.load_pem_private_key((home / "processing.key").read_bytes(), None)

    def open(self, payment_data):
        """What is inside a payment token, EC_v1: Apple's procedure but for the signature, which others check."""
        decoded = base64.b64decode
        header = payment_data["header"]
        ephemeral = serialization.load_der_public_key(decoded(header["ephemeralPublicKey"]))
        secret = self.key.exchange(ec.ECDH(), ephemeral)
        party = hashlib.sha256(self.identifier.encode()).digest()
        key = hashlib.sha256(b"\0\0\0\1" + secret + b"\x0did-aes256-GCMApple" + party).digest()
        return json.loads(AESGCM(key).decrypt(bytes(16), decoded(payment_data["data"]), None))


class Shop:
    """The page's server. `opened` has the amount inside each payment token, in cents."""

    def __init__(self, demo):
        self.identity = OwnIdentity(demo)
        self.opened = []
        gateway = urllib.parse.urlsplit(self.identity.trust["gatewayURL"])
        self.gateway = http.client.HTTPSConnection(gateway.hostname, gateway.port, context=self.identity.tls, timeout=PATIENCE)
        shop = self

        class Answers(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                path = HERE / ("shop.html" if self.path == "/" else self.path.lstrip("/"))
                body = path.read_text(encoding="utf-8") if path.exists() else ""
                # The one thing that a page needs where Safari has it: the session.
                script = f'<script src="{demo.sandbox}/apple-pay-session.js"></script>\n</head>'
                self.answer(TYPES.get(path.suffix, "text/plain"), body.replace("</head>", script).encode())

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = shop.session() if self.path == "/validate" else shop.take(body)
                self.answer("application/json", json.dumps(answer).encode(), 200 if answer else 402)

            def answer(self, kind, body, status=200):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.origin = f"http://localhost:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def session(self):
        body = {"merchantIdentifier": self.identity.identifier, "displayName": "Sample shop", "initiative": "web",
                "initiativeContext": "localhost"}
        for attempt in range(2):
            try:
                self.gateway.request("POST", "/paymentservices/paymentSession", json.dumps(body),
                                     {"Content-Type": "application/json"})
                return json.loads(self.gateway.getresponse().read())
            except (http.client.HTTPException, ssl.SSLError, OSError):
                self.gateway.close()  # it closed a connection that was idle
                if attempt:
                    raise

    def take(self, body):
        """Nothing, which is a decline, unless the token is for the price that the page asks."""
        data = self.identity.open(body["token"]["paymentData"])
        self.opened.append(data["transactionAmount"])
        return {"paid": True} if data["transactionAmount"] == round(body["price"] * 100) else None

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.gateway.close()


def prices():
    """In cents: as many as `PRICES` says, spread over the whole range; or all from 2436 to 9999, as `PRICES=2436-9999`."""
    first, _, last = os.environ.get("PRICES", str(SAMPLE)).partition("-")
    if last:
        return list(range(int(first), int(last) + 1))
    count = int(first)
    return sorted({1 + index * (ALL - 1) // max(1, count - 1) for index in range(count)})


@claim(page=None, limit=1200)
def a_page_written_for_safari_pays_every_price(shopper):
    wanted = prices()
    with contextlib.closing(Shop(shopper.demo)) as shop:
        shopper.browser.get(shop.origin)
        spelled = []
        for start in range(0, len(wanted), BATCH):
            spelled += shopper.script(PAY, wanted[start:start + BATCH])
        assert shop.opened == wanted, "the tokens are not for the prices of the page"
        odd = [text for text in spelled if len(text.partition(".")[2]) > 2]
        assert len(odd) > len(wanted) / 20, f"only {len(odd)} of {len(wanted)} prices are odd to the engine: {odd}"
        shopper.sees("Thank you")
