#!/usr/bin/python3
"""Measures every page of the back office over a store with many payments: scripts/attack office_pages

PAYMENTS=10000000 of them (200,000), in the last 92 days, in the store of a demo whose server this starts. Each page is loaded
seven times after a first time; the fastest must take at most 100 ms, because other work on the machine only adds to it. Before,
the charts are counted from nothing, some minutes for each million payments at most.

A debug build is as good: it is slower. TENDER=.build/release/tender measures another program, PLACE=/big/disk puts the store
there (2 KB for a payment, removed at the end), KEEP=1 leaves it for the next time.
"""
import base64, hashlib, hmac, http.cookies, json, os, pathlib, re, secrets, shutil, signal, sqlite3, struct
import subprocess, sys, tempfile, time, urllib.error, urllib.parse, urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "Tests/Support"))
import filled_store, free_ports  # noqa: E402

PAYMENTS = int(os.environ.get("PAYMENTS", "200000"))
TENDER = ROOT / os.environ.get("TENDER", ".build/debug/tender")
LIMIT, LOADS, PASSWORD, STEP = 0.100, 7, "correct horse battery", 30


class Demo:
    """`tender-sandbox demo` in a folder of its own; the office is the last of its six ports."""

    def __init__(self, home):
        self.home, self.base = home, free_ports.row(6)
        # The demo keeps what it made under the port that it had first.
        for known in home.glob(".tender/demo-*"):
            self.base = int(known.name.removeprefix("demo-"))
        self.store = home / f".tender/demo-{self.base}/tender.db"
        self.office = f"http://127.0.0.1:{self.base + 5}"

    def __enter__(self):
        self.log = open(self.home / "log", "w", encoding="utf-8")
        self.process = subprocess.Popen([f"{TENDER}-sandbox", "demo", "--port", str(self.base)], cwd=self.home, stdout=self.log,
                                        stderr=subprocess.STDOUT)
        for _ in range(3000):
            text = (self.home / "log").read_text(encoding="utf-8")
            if "Ctrl-C" in text:
                return self
            if self.process.poll() is not None:
                raise SystemExit(f"office-pages: the demo ended:\n{text}")
            time.sleep(0.1)
        raise SystemExit("office-pages: the demo does not begin")

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.log.close()

    def ask(self, *words):
        answer = subprocess.run([TENDER, *words, "--json", "--store", self.store], capture_output=True, text=True, check=False)
        if answer.returncode != 0:
            raise SystemExit(f"office-pages: tender {' '.join(words)}: {answer.stderr}")
        return json.loads(answer.stdout)


class Person:
    """Signed in at the office."""

    def __init__(self, demo, *options):
        self.office, self.cookie = demo.office, ""
        name = f"user-{secrets.token_hex(4)}"
        path = demo.ask("user", "add", name, *options)["invitation"]
        page = self.load(path)[1]
        secret = re.search(r'class="secret">([A-Z2-7 ]+)<', page)[1]
        self.send(path, {"password": PASSWORD, "code": code(secret)}, page)
        page = self.load("/sign-in")[1]
        self.send("/sign-in", {"name": name, "password": PASSWORD, "code": code(secret, 1)}, page)

    def load(self, path, data=None):
        """Seconds, and the page."""
        request = urllib.request.Request(self.office + path, data, {"Cookie": f"tender-office={self.cookie}"})
        begin = time.perf_counter()
        try:
            with urllib.request.build_opener(NoRedirect).open(request, timeout=600) as answer:
                text, headers = answer.read().decode(), answer.headers
        except urllib.error.HTTPError as error:
            if error.code != 303:
                raise SystemExit(f"office-pages: {path}: {error.code} {error.read().decode()[:2000]}") from None
            text, headers = "", error.headers
        seconds = time.perf_counter() - begin
        for cookie in http.cookies.SimpleCookie(headers.get("Set-Cookie", "")).values():
            self.cookie = cookie.value
        return seconds, text

    def send(self, path, fields, page):
        token = re.search(r'name="csrf" value="([0-9a-f]+)"', page)[1]
        self.load(path, urllib.parse.urlencode({**fields, "csrf": token}).encode())

    def first_bytes(self, path):
        """Seconds until a stream has begun."""
        request = urllib.request.Request(self.office + path, None, {"Cookie": f"tender-office={self.cookie}"})
        begin = time.perf_counter()
        with urllib.request.urlopen(request, timeout=600) as answer:
            assert answer.read(100).startswith(b"payment,")
            return time.perf_counter() - begin


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def code(secret, ahead=0):
    """The one-time code of a secret in base32 (RFC 6238)."""
    key = base64.b32decode(secret.replace(" ", ""))
    digest = hmac.new(key, struct.pack(">Q", int(time.time()) // STEP + ahead), hashlib.sha1).digest()
    place = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[place:place + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"


def addresses(store):
    """Every page, and every way to search, by what each shows."""
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as rows:
        one = lambda query: rows.execute(query).fetchone()
        middle = one("SELECT id FROM payments WHERE id > (SELECT printf('%012x', (MIN(created_at) + MAX(created_at)) / 2000) "
                     "FROM payments) LIMIT 1")[0]
        number = one(f"SELECT merchant_reference FROM orders WHERE id = 'o{middle}'")[0]
    quoted = urllib.parse.quote
    day = lambda ago: time.strftime("%F", time.gmtime(time.time() - ago * 86400))
    pages = {f"overview of {days} days": f"/overview?days={days}" for days in (1, 7, 31, 92)}
    pages |= {"overview of a merchant": "/overview?days=92&merchant=kitsune&currency=JPY", "home": "/",
              "payments": "/payments", "payments, an older page": f"/payments?before={middle}", "payment": f"/payments/{middle}",
              "evidence": f"/payments/{middle}/evidence"}
    searches = {"id": f"q={middle}", "order": f"q=o{middle}", "basket": f"q=b{middle}", "reference": f"q={quoted(number)}",
                "nothing": "q=nothing", "e-mail": "q=shopper-7%40example.com", "last four": "q=0492",
                "merchant": "merchant=harbour", "status": "status=captured", "rare status": "status=unknown",
                "route": "route=stripe.shop", "unknown route": "route=none", "amount": "amount=12.50+EUR",
                "no such amount": "amount=99999.99+EUR", "day": f"from={day(60)}&until={day(60)}", "alarm": "alarm=1",
                "all of it": f"merchant=harbour&status=declined&route=sandbox&amount=12.50+EUR&from={day(80)}&until={day(3)}"}
    pages |= {f"payments by {name}": f"/payments?{query}" for name, query in searches.items()}
    pages |= {f"webhooks, {state}": f"/webhooks?state={state}" for state in ("dead", "waiting", "delivered")}
    names = ("reconciliation", "merchants", "users", "audit", "settings", "account", "account/format", "sequence", "sign-in")
    pages |= {name: f"/{name}" for name in names}
    return pages | {"merchant": "/merchants/harbour", "stored merchant": "/merchants/kitsune", "older audit": "/audit?before=100"}


def wait_for_charts(person):
    begin = time.monotonic()
    while "still being counted" in person.load("/overview?days=92")[1]:
        if time.monotonic() - begin > 60 + PAYMENTS / 3_000:
            raise SystemExit("office-pages: the payments are not counted in time")
        time.sleep(1)
    return time.monotonic() - begin


def must_add_up(demo, page):
    """The overview has all payments of its currency and days."""
    with sqlite3.connect(f"file:{demo.store}?mode=ro", uri=True) as rows:
        count = rows.execute("SELECT COUNT(*) FROM payments WHERE currency = 'EUR' AND created_at / 86400000000 > ?",
                             [int(time.time()) // 86400 - 92]).fetchone()[0]
    shown = re.search(r"<dt>Payments</dt><dd>([\d,]+)</dd>", page)[1].replace(",", "")
    if int(shown) != count:
        raise SystemExit(f"office-pages: the overview has {shown} payments in euro, the store {count}")


def measured(person, pages, whose):
    """The pages that are too slow."""
    slow = []
    for name, path in pages.items():
        person.load(path)
        fastest = min(person.load(path)[0] for _ in range(LOADS))
        print(f"{fastest * 1000:7.1f} ms  {name}{whose}", flush=True)
        if fastest > LIMIT:
            slow.append(name + whose)
    return slow


def main():
    begin = time.monotonic()
    place = pathlib.Path(os.environ.get("PLACE", tempfile.gettempdir()))
    home = place / f"tender-office-{PAYMENTS}" if os.environ.get("KEEP") else pathlib.Path(tempfile.mkdtemp(dir=place))
    is_filled = (home / "filled").exists()
    home.mkdir(exist_ok=True)
    try:
        if not is_filled:
            with Demo(home):
                pass
            print(f"filled with {PAYMENTS} payments in {filled_store.fill(Demo(home).store, PAYMENTS):.0f} s", flush=True)
            (home / "filled").touch()
        with Demo(home) as demo:
            person = Person(demo, "--role", "administrator")
            print(f"all payments were counted after {wait_for_charts(person):.0f} s", flush=True)
            must_add_up(demo, person.load("/overview?days=92&currency=EUR")[1])
            pages = addresses(demo.store)
            slow = measured(person, pages, "")
            fastest = min(person.first_bytes("/payments.csv") for _ in range(LOADS))
            print(f"{fastest * 1000:7.1f} ms  payments.csv, until it begins", flush=True)
            slow += ["payments.csv"] if fastest > LIMIT else []
            other = Person(demo, "--role", "viewer", "--merchant", "kitsune")
            own = {name: pages[name] for name in ("home", "overview of 92 days", "payments", "payments by rare status")}
            slow += measured(other, own, ", for a viewer of one merchant")
    finally:
        if not os.environ.get("KEEP"):
            shutil.rmtree(home, ignore_errors=True)
    seconds = time.monotonic() - begin
    if slow:
        raise SystemExit(f"office-pages: slower than {LIMIT * 1000:.0f} ms over {PAYMENTS} payments: {', '.join(slow)}")
    print(f"office-pages: {len(pages) + 5} pages over {PAYMENTS} payments, each in {LIMIT * 1000:.0f} ms, {seconds:.0f} s")


if __name__ == "__main__":
    main()
