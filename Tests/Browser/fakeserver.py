"""A scripted checkout API for tests: it serves the kit and a page, gives scripted answers, can delay them, and records
the calls."""

import contextlib
import html
import http.server
import json
import pathlib
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
KIT = ROOT / "Web/kit"
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}

METADATA = {
    "enabled": True, "environment": "production", "merchantIdentifier": "merchant.test.trattoria",
    "displayName": "Trattoria", "countryCode": "IE", "currencyCode": "EUR", "supportedNetworks": ["visa"],
    "merchantCapabilities": ["supports3DS"], "apiVersion": 14,
    "touchIcons": [{"href": "/icons/touch-180.png", "sizes": "180x180"}],
}
# As the server's table has them.
NETWORK_VERSIONS = {
    "visa": 1, "elo": 5, "girocard": 11, "dankort": 13, "bancomat": 14, "bancontact": 14, "bankAxept": 15}
BASKET = {
    "basketId": "B", "quoteId": "q1", "applePayVersion": 14, "networkVersions": NETWORK_VERSIONS,
    "request": {
        "countryCode": "IE", "currencyCode": "EUR", "supportedNetworks": ["visa"],
        "merchantCapabilities": ["supports3DS"], "total": {"label": "Trattoria", "amount": "12.50"}},
}
RECEIPT = {"amount": "12.50", "currency": "EUR", "merchantReference": "order-1"}
PAID = {"orderId": "o1", "paymentId": "p1", "status": "captured", "receipt": RECEIPT}


def problem(status, code, **more):
    return status, {"code": code, "detail": f"The server says {code}.", **more}


class FakeServer:
    """`answers` maps `METHOD path` to what is answered: a body, or a status and a body."""

    def __init__(self, changes, answers, headers, device, body):
        self.answers = {
            "GET metadata": METADATA, "GET basket/B": BASKET, "POST validate": {"epochTimestamp": 1},
            "POST payment": PAID, **answers}
        self.changes = changes  # of the kit: {what: by what}
        self.headers = headers
        self.files = {
            "/": self.page(device, body), "/device.js": ROOT / "Tests/Browser/kit/device.js",
            **{f"/applepay/{path.name}": path for path in KIT.iterdir()}}
        self.calls = []
        self.sent = []  # of every call: what it is, its query, its body
        self.flows = threading.Event()
        self.flows.set()

    @staticmethod
    def page(device, body):
        return f"""<!doctype html><html lang="en" data-device="{html.escape(json.dumps(device))}"><title>Fake server</title>
            <script src="/device.js"></script><script type="module" src="/applepay/tender.js"></script>
            <body>{body}"""

    def hold(self):
        """Stops answering calls; files are still served."""
        self.flows.clear()

    def asked(self, call):
        return self.calls.count(call)

    def answer(self, method, path):
        call = f"{method} {path.removeprefix('/applepay/')}"
        if path in self.files and method == "GET":
            return 200, self.file(path)
        if not path.startswith("/applepay/"):
            return 404, b""
        self.calls.append(call)
        self.flows.wait()
        found = self.answers.get(call, problem(404, "not_found"))
        status, body = found if isinstance(found, tuple) else (200, found)
        return status, b"" if body is None else json.dumps(body).encode()

    def file(self, path):
        file = self.files[path]
        text = file.read_text(encoding="utf-8") if isinstance(file, pathlib.Path) else file
        if path == "/applepay/tender.js":
            for what, by_what in self.changes.items():
                assert what in text, f"the kit has no “{what}” any more"
                text = text.replace(what, by_what)
        return text.encode()


@contextlib.contextmanager
def fake_server(body='<tender-apple-pay basket="B"></tender-apple-pay>', answers=None, headers=None, device=None, changes=None):
    """A fake server while the context lasts; its page is `.origin`. `device` configures kit/device.js."""
    scripted = FakeServer(changes or {}, answers or {}, headers or {}, device or {}, body)

    class Answers(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self):
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path, _, query = self.path.partition("?")
            if path not in scripted.files:
                scripted.sent.append((f"{self.command} {path.removeprefix('/applepay/')}", query, sent.decode()))
            status, body = scripted.answer(self.command, path)
            with contextlib.suppress(OSError):  # the page has given up
                self.send_response(status)
                suffix = pathlib.PurePath(path).suffix
                self.send_header("Content-Type", TYPES.get(suffix, "text/html" if path == "/" else "application/json"))
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Cache-Control", "no-store")
                for name, value in scripted.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_DELETE = handle_any

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    scripted.origin = f"http://localhost:{server.server_port}"
    try:
        yield scripted
    finally:
        scripted.flows.set()
        server.shutdown()
        server.server_close()
