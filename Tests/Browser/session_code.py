"""Browsers that are not Safari: Apple's script shows a code, in a dialog of the page or in a window of its own.

Sources: Apple's change log of the script (developer.apple.com/documentation/applepayontheweb/apple-pay-js-change-log) names
`ApplePayWebOptions`, the modal that is topmost, and `oncancel` when it is closed before a scan; its page on loading the
script (…/loading-the-latest-version-of-apple-pay-js) names the versions, their hashes and the content security policy;
adyen-web's types name the options and the calls.
"""

import base64
import contextlib
import hashlib
import http.server
import pathlib
import re
import ssl
import subprocess
import tempfile
import threading

from access import must_be_accessible, width
from claims import claim
from merchantpage import BY_SCRIPT, Rows, another_browser, claims_of, merchant_page
from session_frames import framed
from session_phone import phone, ready, says
from session_rules import tap
from shopper import DESKTOP, PATIENCE, PHONE

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUTSIDE_SAFARI = "applePaySandbox.setDevice({ isThirdPartyBrowser: true });"
IN_WINDOW = OUTSIDE_SAFARI + ' ApplePayWebOptions.set({ renderApplePayCodeAs: "window" });'


def open_code(shopper):
    """Taps, and gives the handles of the page and of the window with its code."""
    page = shopper.browser.current_window_handle
    tap(shopper, f"{IN_WINDOW} window.opened = page.open();")
    code = shopper.until(lambda: set(shopper.browser.window_handles) - {page}, "no window opens").pop()
    return page, code


def code_shown(shopper, code):
    """Switches to the window with the code, once that is there; gives the address in it."""
    shopper.browser.switch_to.window(code)
    return shopper.until(lambda: shopper.browser.execute_script("return document.querySelector('#code a')?.href;"),
                         "the window shows no code")


def closed(shopper, page):
    shopper.browser.switch_to.window(page)
    shopper.until(lambda: shopper.browser.window_handles == [page], "the window stays open")


@claim(page=None)
def a_window_shows_the_code_and_a_phone_pays(shopper):
    with merchant_page(shopper):
        page, code = open_code(shopper)
        with phone(code_shown(shopper, code)) as handset:
            assert "Harbour Kitchen" in shopper.page_text() and "€12.50" in shopper.page_text(), shopper.page_text()
            ready(handset)
            shopper.sees("Continue on the phone.")
            handset.find_element("id", "approve").click()
            says(handset, "Done")
        closed(shopper, page)
        assert shopper.script("return applePaySandbox.sheet.state;") == "completed"
        assert "paymentauthorized" in shopper.script("return opened.types();")


@claim(page=None)
def a_window_that_is_closed_is_a_cancel(shopper):
    with merchant_page(shopper):
        page, code = open_code(shopper)
        code_shown(shopper, code)
        shopper.press("Cancel")
        shopper.browser.switch_to.window(page)
        shopper.until(lambda: shopper.script("return opened.types().at(-1);") == "cancel", "the page is told nothing")
        assert shopper.script("return applePaySandbox.sheet.state;") == "canceled"


@claim(page=None)
def a_window_is_closed_when_its_page_goes(shopper):
    with merchant_page(shopper) as merchant:
        page, code = open_code(shopper)
        code_shown(shopper, code)
        shopper.browser.switch_to.window(page)
        shopper.browser.get(merchant.address(lang="de"))
        closed(shopper, page)


@claim(page=None)
def a_frame_shows_its_code_in_a_window(shopper):
    """As adyen-web recommends for frames, whose dialog is no larger than they are."""
    with merchant_page(shopper) as merchant:
        framed(shopper, merchant, "localhost", "shop.localhost")
        page = shopper.browser.current_window_handle
        tap(shopper, f"{IN_WINDOW} window.opened = page.open();")
        shopper.until(lambda: len(shopper.browser.window_handles) == 2, "no window opens")
        shopper.script(f"{BY_SCRIPT} await applePaySandbox.scan(); await applePaySandbox.approve();")
        assert shopper.script("return opened.types();")[-1] == "paymentauthorized"
        closed(shopper, page)


@claim(page=None)
def the_code_is_accessible_in_a_window_and_in_a_dialog(shopper):
    for scheme in ("light", "dark"):
        with merchant_page(shopper):
            page, code = open_code(shopper)
            code_shown(shopper, code)
            for size, name in ((DESKTOP, "desktop"), (PHONE, "phone")):
                shopper.look(size, scheme)
                assert width(shopper) <= size[0], "the window is too wide"
                must_be_accessible(shopper, f"the code's window, {name}, {scheme}")
                shopper.picture(f"code-window-{name}-{scheme}")
            shopper.press("Cancel")
            closed(shopper, page)
        with merchant_page(shopper):
            shopper.script(f"{BY_SCRIPT} {OUTSIDE_SAFARI} page.open();")
            shopper.until(lambda: shopper.script("return document.querySelector('.aps-code a')?.href;"), "there is no code")
            for size, name in ((DESKTOP, "desktop"), (PHONE, "phone")):
                shopper.look(size, scheme)
                must_be_accessible(shopper, f"the code's dialog, {name}, {scheme}")
                shopper.picture(f"code-modal-{name}-{scheme}")
            shopper.drive("cancel()")


# A stand-in for the window, which opens none and counts what is done to it.
STAND_IN = f"""
    const opened = [];
    window.open = (url, name, features) => {{
      const made = {{ closed: false, focused: 0, url: String(url), features, focus() {{ made.focused += 1; }},
        close() {{ made.closed = true; }}, postMessage() {{}} }};
      opened.push(made);
      return made;
    }};
    const closings = [];
    {BY_SCRIPT} {OUTSIDE_SAFARI}
    const form = (renderApplePayCodeAs) =>
      ApplePayWebOptions.set({{ renderApplePayCodeAs, onApplePayCodeClose: () => closings.push("close") }});
    const settled = () => new Promise((resolve) => setTimeout(resolve, 20));
    """
FORMS = [
    ("Safari has no options for a code",
     """applePaySandbox.setDevice({ isThirdPartyBrowser: false });
        return String(window.ApplePayWebOptions);""", "undefined"),
    ("the code is in a dialog unless the page asks for a window",
     """form("modal");
        page.open();
        const { className } = document.querySelector("dialog");
        await applePaySandbox.cancel();
        return [opened.length, className];""", [0, "apple-pay-sandbox"]),
    ("a window has no dialog beside it",
     """form("window");
        page.open();
        const found = document.querySelector("dialog.apple-pay-sandbox[open]");
        await applePaySandbox.cancel();
        return [opened.length, new URL(opened[0].url).pathname, opened[0].features.startsWith("popup"), found];""",
     [1, "/code", True, None]),
    ("a shopper who taps again sees the window again, and the page has no second session",
     """form("window");
        page.open();
        const again = page.outcome(() => page.open());
        await applePaySandbox.cancel();
        return [again, opened.length, opened[0].focused, opened[0].closed];""",
     ["InvalidAccessError: Page already has an active payment session.", 1, 1, True]),
    ("the page brings the window to the front, and closes it, which is a cancel",
     """form("window");
        const { types } = page.open();
        ApplePayWebOptions.focusApplePayCodeWindow();
        ApplePayWebOptions.closeApplePayCodeWindow();
        ApplePayWebOptions.focusApplePayCodeWindow();
        await settled();
        return [opened[0].focused, opened[0].closed, types().at(-1), closings.length];""", [1, True, "cancel", 1]),
    ("a window that the shopper closes is a cancel, and the page is told that it closed",
     """form("window");
        const { until } = page.open();
        opened[0].closed = true;
        await until("cancel");
        await settled();
        return [applePaySandbox.sheet.state, closings.length];""", ["canceled", 1]),
    ("a dialog that the shopper closes is a cancel, and the page is told that it closed",
     """form("modal");
        const { types } = page.open();
        document.querySelector("dialog").dispatchEvent(new Event("cancel", { cancelable: true }));
        await settled();
        return [types().at(-1), closings.length];""", ["cancel", 1]),
    ("a window that the browser does not open is a cancel with its reason",
     """form("window");
        window.open = () => null;
        const { until } = page.open();
        await until("cancel");
        return applePaySandbox.sheet.failure;""", "The browser did not open the window for the code"),
    ("a page that pays in a window goes on as ever",
     """form("window");
        const { types } = page.open();
        await applePaySandbox.scan();
        const { state } = await applePaySandbox.approve();
        return [state, types().includes("paymentauthorized")];""", ["completed", True]),
    ("a payment request shows its code in a window",
     """form("window");
        const merchantIdentifier = await (await fetch("/merchant")).json();
        const request = new PaymentRequest([{ supportedMethods: "https://apple.com/apple-pay", data: { version: 12,
          merchantIdentifier, merchantCapabilities: ["supports3DS"], supportedNetworks: ["visa"], countryCode: "IE" } }],
          { total: { label: "Shop", amount: { currency: "EUR", value: "1.00" } } });
        request.onmerchantvalidation = (event) => event.complete(page.merchantSession());
        const shown = page.promised(() => request.show());
        ApplePayWebOptions.closeApplePayCodeWindow();
        return [await shown, opened.length];""", ["AbortError: The operation was aborted.", 1]),
    ("wrong options are named in the console, and nothing is changed",
     """form("window");
        const said = [];
        const { error } = console;
        console.error = (text) => said.push(text);
        ApplePayWebOptions.set({ renderApplePayCodeAs: "popover", onApplePayCodeClose: "close" });
        console.error = error;
        page.open();
        await applePaySandbox.cancel();
        return [said, opened.length];""",
     [['renderApplePayCodeAs must be one of: "modal", "window"', "onApplePayCodeClose must be a function"], 1]),
]
claims_of(Rows(FORMS, STAND_IN), globals(), claim)


# ── The policy of a page that loads Apple's script

def documented():
    """The policy and the script's tag that docs/testing.md gives, with Apple's hash."""
    text = (ROOT / "docs/testing.md").read_text(encoding="utf-8")
    policy = re.search(r"Content-Security-Policy: (.*applepay\.cdn-apple\.com(?:.*\n? .*)*)", text).group(1)
    tag = re.search(r'<script src="(https://applepay[^"]*)"\s+integrity="([^"]*)"\s+crossorigin="anonymous">', text)
    return " ".join(policy.split()), tag.group(1), tag.group(2)


APPLE = "applepay.cdn-apple.com"
SCRIPT = b"""window.loaded = new Promise((resolve) => {
  const frame = Object.assign(document.createElement("iframe"), { src: "https://applepay.cdn-apple.com/code.html" });
  const picture = Object.assign(document.createElement("img"), { src: "https://applepay.cdn-apple.com/mark.svg", alt: "" });
  const refused = new Set();
  addEventListener("securitypolicyviolation", ({ effectiveDirective }) => refused.add(effectiveDirective));
  const seen = [frame, picture].map((one) => new Promise((done) => { one.onload = one.onerror = done; }));
  document.body.append(frame, picture);
  Promise.all(seen).then(() => resolve([...refused].sort()));
});"""
ANSWERS = {
    "/apple-pay-sdk.js": ("text/javascript", SCRIPT), "/code.html": ("text/html", b"<!doctype html><title>Code</title>"),
    "/mark.svg": ("image/svg+xml", b'<svg xmlns="http://www.w3.org/2000/svg"/>'),
}


@contextlib.contextmanager
def apples_host():
    """A stand-in for the host of Apple's script, over TLS: `(port, page)`, the page being a function of its policy and of
    the script's hash."""
    pages = {}

    class Answers(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            path = self.path.replace("/jsapi/v1.3.8", "")
            kind, body = ANSWERS.get(path) or ("text/html", pages.get(path, (b"",))[0])
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Access-Control-Allow-Origin", "*")
            if path in pages:
                self.send_header("Content-Security-Policy", pages[path][1])
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    def page(policy, script, integrity):
        path = f"/page-{len(pages)}"
        tag = f'<script src="{script}" integrity="{integrity}" crossorigin="anonymous"></script>'
        pages[path] = (f"<!doctype html><title>Shop</title><body>{tag}".encode(), policy)
        return f"https://shop.test{path}"

    with tempfile.TemporaryDirectory() as home:
        key, certificate = pathlib.Path(home) / "key.pem", pathlib.Path(home) / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={APPLE}", "-days", "2",
                        "-keyout", key, "-out", certificate], capture_output=True, timeout=PATIENCE, check=True)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate, key)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port, page
    finally:
        server.shutdown()
        server.server_close()


@claim(page=None)
def the_documented_policy_lets_apples_script_work_and_none_of_its_parts_can_be_left_out(shopper):
    """Apple's page on loading the script: `script-src`, `frame-src` and `img-src`. The host is a stand-in."""
    policy, script, integrity = documented()
    assert script == f"https://{APPLE}/jsapi/v1.3.8/apple-pay-sdk.js", script
    ours = "sha384-" + base64.b64encode(hashlib.sha384(SCRIPT).digest()).decode()
    parts = [part.strip() for part in policy.split(";") if part.strip()]
    with apples_host() as (port, page):
        rules = f"--host-resolver-rules=MAP {APPLE}:443 127.0.0.1:{port}, MAP shop.test:443 127.0.0.1:{port}"
        with another_browser(rules, "--ignore-certificate-errors") as browser:
            def refused(policy, hash=ours):
                browser.get(page(policy, script, hash))
                return browser.execute_async_script(
                    "const done = arguments[0]; Promise.resolve(window.loaded ?? 'no script').then(done);")

            assert refused(policy) == []
            for directive in ("frame-src", "img-src"):
                without = "; ".join(part for part in parts if not part.startswith(directive))
                assert refused(without) == [directive], directive
            assert refused("; ".join(part for part in parts if not part.startswith("script-src"))) == "no script"
            assert refused(policy, integrity) == "no script", "the stand-in is not what Apple published"
