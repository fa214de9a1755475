"""A merchant's page of the tests' own, with the simulated ApplePaySession on it and a policy that lets nothing inline
run. Behind it a server that gets merchant sessions from the gateway."""

import contextlib
import http.server
import json
import os
import pathlib
import secrets
import ssl
import subprocess
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from shopper import PATIENCE

HERE = pathlib.Path(__file__).resolve().parent
# As strict as a shop can be: its own files, and the sandbox's.
POLICY = ("default-src 'none'; script-src 'self' {sandbox}; style-src 'self' {sandbox}; connect-src 'self' {sandbox}; "
          "frame-src *; base-uri 'none'; form-action 'none'")
PAGE = """<!doctype html>
<html lang="{language}" dir="{direction}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A merchant’s page</title>
<script src="{scripts}/apple-pay-session.js"></script>
<main>
<h1>A merchant’s page</h1>
<p>Behind the sheet, nothing of this can be reached.</p>
<button id="tap">Tap</button>
{body}
</main>
<script src="/session-page.js"></script>
"""


class Merchant:
    """The page's server, on a free port of this machine. With a mutant, `(right, wrong)`, the session's script
    is its own and has that mutation."""

    one = None
    lock = threading.Lock()

    @classmethod
    def of(cls, demo):
        """The same for the whole run, without a mutation."""
        with cls.lock:
            cls.one = cls.one or cls(demo)
            return cls.one

    def __init__(self, demo, mutant=None):
        self.demo = demo
        self.script = self.mutated(*mutant) if mutant else None
        merchant = self
        Identity.of(demo)  # which takes a while: before a sheet waits for it

        class Answers(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                path, _, query = self.path.partition("?")
                if path == "/session-page.js":
                    self.answer("text/javascript", (HERE / "session-page.js").read_bytes())
                elif path == "/apple-pay-session.js":
                    self.answer("text/javascript", merchant.script.encode())
                elif path == "/session":
                    self.answer("application/json", json.dumps(Identity.of(demo).session()).encode())
                elif path == "/merchant":
                    self.answer("application/json", json.dumps(Identity.of(demo).identifier).encode())
                elif path == "/favicon.ico":
                    self.answer("image/x-icon", b"")
                else:
                    self.answer("text/html; charset=utf-8", merchant.page(dict(urllib.parse.parse_qsl(query))).encode())

            def answer(self, kind, body):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Cache-Control", "no-store")
                self.send_header("Content-Security-Policy", POLICY.format(sandbox=demo.sandbox))
                with contextlib.suppress(OSError):  # the page has gone
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def address(self, host="localhost", **query):
        return f"http://{host}:{self.port}/?{urllib.parse.urlencode(query)}"

    def page(self, query):
        body = ""
        if "frame" in query:
            allow = f' allow="{query["allow"]}"' if query.get("allow") else ""
            body = f'<iframe title="A frame" src="{query["frame"]}"{allow}></iframe>'
        if "apple" in query:
            body += '<script src="https://applepay.cdn-apple.com/jsapi/1.latest/apple-pay-sdk.js"></script>'
        return PAGE.format(
            scripts="" if self.script else self.demo.sandbox, language=query.get("lang", "en"),
            direction=query.get("dir", "ltr"), body=body)

    def mutated(self, original, mutation):
        """The sandbox's script, with the mutation, and with the sandbox's address for its own."""
        script = self.demo.get(f"{self.demo.sandbox}/apple-pay-session.js").decode()
        assert script.count(original) == 1, f"{original!r} stands {script.count(original)} times in the script"
        return script.replace(original, mutation).replace(
            "document.currentScript.src", json.dumps(f"{self.demo.sandbox}/apple-pay-session.js"))


class Identity:
    """A merchant of the tests' own: registered at the sandbox's portal, with both certificates and a verified domain.
    Gets merchant sessions from the gateway over mutual TLS, as a merchant's server does."""

    one = None
    lock = threading.Lock()

    @classmethod
    def of(cls, demo):
        """The same for the whole run."""
        with cls.lock:
            cls.one = cls.one or cls(demo)
            return cls.one

    def __init__(self, demo):
        self.demo = demo
        self.identifier = f"merchant.example.test-{secrets.token_hex(4)}"
        self.trust = demo.get_json(f"{demo.sandbox}/sandbox/ca.json")
        self.portal("", {"merchantIdentifier": self.identifier})
        with tempfile.TemporaryDirectory() as home:
            home = pathlib.Path(home)
            self.certify(home, "processing", ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
            self.certify(home, "identity", ["-newkey", "rsa:2048"])
            self.tls = ssl.create_default_context(cadata=self.trust["tlsRootPEM"])
            self.tls.load_cert_chain(home / "identity.pem", home / "identity.key")
        self.verify_domain()

    def certify(self, home, kind, key):
        request = subprocess.run(
            ["openssl", "req", "-new", "-nodes", "-subj", "/CN=Test", *key, "-keyout", home / f"{kind}.key"],
            capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
        certificate = self.portal(f"/{self.identifier}/certificates", {"type": kind, "csr": request})["certificate"]
        (home / f"{kind}.pem").write_text(certificate, encoding="utf-8")

    def verify_domain(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
        domain = f"localhost:{server.server_port}"
        file = self.portal(f"/{self.identifier}/domains", {"domain": domain})["associationFile"].encode()

        class Association(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Length", str(len(file)))
                self.end_headers()
                self.wfile.write(file)

            def log_message(self, *_):
                pass

        server.RequestHandlerClass = Association
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.portal(f"/{self.identifier}/domains/{domain}/verify", {})
        server.shutdown()
        server.server_close()

    def portal(self, path, body):
        return self.call(f"{self.demo.sandbox}/portal/merchants{path}", body)

    def session(self, domain="localhost"):
        body = {"merchantIdentifier": self.identifier, "displayName": "Harbour Kitchen", "initiative": "web",
                "initiativeContext": domain}
        return self.call(f"{self.trust['gatewayURL']}/paymentservices/paymentSession", body, self.tls)

    @staticmethod
    def call(url, body, tls=None):
        request = urllib.request.Request(
            url, data=json.dumps(body).encode(), headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE, context=tls) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as refusal:
            raise AssertionError(f"{url}: {refusal.read().decode()}") from None


@contextlib.contextmanager
def merchant_page(shopper, mutant=None, **query):
    """Opens the page; with a mutant, on a server of its own, which is closed at the end."""
    merchant = Merchant(shopper.demo, mutant) if mutant else Merchant.of(shopper.demo)
    try:
        shopper.browser.get(merchant.address(**query))
        yield merchant
    finally:
        if mutant:
            merchant.close()


@contextlib.contextmanager
def another_browser(*switches):
    """A browser of its own, with switches of its own."""
    options = Options()
    for switch in ("--headless=new", "--disable-dev-shm-usage", "--disable-gpu", *switches):
        options.add_argument(switch)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium does not start its sandbox as root
    options.add_experimental_option("browserStartupTimeout", int(PATIENCE * 1000))
    browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    browser.set_script_timeout(PATIENCE + 60)
    try:
        yield browser
    finally:
        browser.quit()


# Any click will do for these, so that a row needs none of its own.
BY_SCRIPT = "applePaySandbox.setDevice({ requiresGesture: false });"


class Rows:
    """A table of JavaScript expressions and what each must give. Each row is a claim, and all run in one tab."""

    def __init__(self, rows, prelude=BY_SCRIPT, limit=PATIENCE):
        self.rows = rows
        self.prelude = prelude
        self.limit = limit  # of a row, in seconds

    def enter(self, shopper):
        """Opens the page for the table's first row, and again for the one after a row that left it."""
        if shopper.table is not self:
            shopper.arrive(None)
            shopper.browser.get(Merchant.of(shopper.demo).address())
            shopper.table = self

    def answer(self, shopper, expression):
        """What the expression gives, as text or JSON; the sheet that it leaves open is closed."""
        try:
            return shopper.script(
                f"""
                {self.prelude}
                const expression = async () => {{ {expression if "return" in expression else f"return {expression};"} }};
                const late = new Promise((resolve) =>
                  setTimeout(resolve, {self.limit * 1000}, "Late: the row did not end"));
                try {{
                  const answer = await Promise.race([expression(), late]);
                  return typeof answer === "string" ? answer : JSON.stringify(answer);
                }} catch (error) {{
                  return `${{error.name}}: ${{error.message}}`;
                }} finally {{
                  applePaySandbox.clock.release();
                  const isOver = ["aborted", "completed", "canceled", undefined].includes(applePaySandbox.sheet?.state);
                  if (!isOver) await applePaySandbox.cancel();
                }}
                """)
        except Exception:
            shopper.table = None
            raise

    def check(self, shopper, expression, wanted):
        self.enter(shopper)
        answer = self.answer(shopper, expression)
        assert agrees(answer, wanted), f"expected {wanted!r}, and it was {answer!r}"


def claims_of(table, module, claim):
    """One claim a row, named as the row."""
    for name, expression, wanted in table.rows:
        def check(shopper, expression=expression, wanted=wanted):
            table.check(shopper, expression, wanted)
        check.__name__ = "".join(letter if letter.isalnum() else "_" for letter in name)
        check.__module__ = module["__name__"]
        module[check.__name__] = claim(page=None, table=table)(check)


def agrees(answer, wanted):
    """`TypeError` stands for any message of that exception; an answer that is no text is written as JSON."""
    wanted = wanted if isinstance(wanted, str) else json.dumps(wanted, separators=(",", ":"), ensure_ascii=False)
    return answer == wanted or answer.startswith(f"{wanted}: ")
