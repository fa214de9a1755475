"""How long the kit lets a sheet wait, and how large it is."""

import base64
import gzip
import hashlib
import json
import re
import subprocess

from claims import claim
from kit_availability import log, wait_for_state
from kit_buttons import button
from fakeserver import ROOT, fake_server
from shopper import PATIENCE

# Apple's 30 seconds, shortened; the transcripts hold the real ones with a clock of their own (flows_of_the_kit.py).
SHORT = {"ANSWER_WITHIN = 27_000": "ANSWER_WITHIN = 1_500", "PAYMENT_WITHIN = 18_000": "PAYMENT_WITHIN = 800",
         "FIRST_PAUSE = 500": "FIRST_PAUSE = 50"}
EVENTS = {
    "onvalidatemerchant": "{}",
    "onshippingcontactselected": "{ shippingContact: {} }",
    "onshippingmethodselected": "{ shippingMethod: { identifier: 'bike' } }",
    "oncouponcodechanged": "{ couponCode: 'LUNCH10' }",
    "onpaymentmethodselected": "{ paymentMethod: { type: 'credit' } }",
    "onpaymentauthorized": "{ payment: { token: {} } }",
}
CORE_LIMIT = 6144  # bytes of tender.js, compressed
KIT_LIMIT = 11776  # of all that a page may ever load of the kit, with what encrypts for the platform API


@claim(page=None)
def every_event_of_the_sheet_is_answered_in_time_by_a_kit_whose_server_is_not(shopper):
    for name, event in EVENTS.items():
        with fake_server(changes=SHORT) as shop:
            shopper.browser.get(shop.origin)
            wait_for_state(shopper, "buy")
            button(shopper).click()
            shop.hold()
            took = shopper.script(f"""
                const start = performance.now();
                device.session.{name}({event});
                const isAnswered = () => device.log.some((line) => /^(complete|abort)/.test(line));
                while (!isAnswered() && performance.now() - start < {PATIENCE * 1000}) {{
                  await new Promise((resolve) => setTimeout(resolve, 20));
                }}
                return performance.now() - start;
                """)
            ended = "complete Payment" if name == "onpaymentauthorized" else "abort"
            assert ended in log(shopper), f"{name} was not answered: {log(shopper)}"
            assert took >= 1_000, f"{name} was given up after {took:.0f} ms, within 1500"
            if ended == "complete Payment":
                assert shopper.script("return device.answer.status") == 1, "the sheet showed a success"
                assert shopper.script("return device.reported.code") == "outcome_unknown"


@claim(browser=False)
def the_kit_is_small(_):
    sizes = {path.name: len(gzip.compress(path.read_bytes(), 9))
             for path in (ROOT / "Web/kit").iterdir() if path.suffix in (".js", ".css")}
    assert sizes["tender.js"] <= CORE_LIMIT, f"tender.js has {sizes['tender.js']} bytes, and may have {CORE_LIMIT}"
    assert sum(sizes.values()) <= KIT_LIMIT, f"all has {sum(sizes.values())} bytes, and may have {KIT_LIMIT}: {sizes}"


def fetched(address, *headers):
    """The answer's header fields, its body as it came, and the body decoded, by curl."""
    wanted = [option for header in headers for option in ("-H", header)]
    def run(*options):
        return subprocess.run(["curl", "-sf", *options, *wanted, address], capture_output=True, check=True).stdout
    lines = run("-D", "-", "-o", "/dev/null").decode().splitlines()[1:]
    fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines) if value}
    return fields, run(), run("--compressed")


@claim(browser=False)
def the_kit_leaves_compressed_and_is_the_same_for_everyone(demo):
    pinned = demo.get_json(f"{demo.server}/applepay/sri.json")["files"]
    total = {"gzip": 0, "br": 0}
    for name, integrity in pinned.items():
        address, tags = f"{demo.server}/applepay/{name}", set()
        plain = fetched(address, "Accept-Encoding: identity")[1]
        assert plain == (ROOT / "Web/kit" / name).read_bytes(), f"{name} is another file"
        assert integrity == "sha384-" + base64.b64encode(hashlib.sha384(plain).digest()).decode()
        for coding in total:
            fields, body, decoded = fetched(address, f"Accept-Encoding: {coding}")
            assert fields["content-encoding"] == coding and "accept-encoding" in fields["vary"].lower(), fields
            assert decoded == plain and len(body) < len(plain), f"{name} in {coding} is {len(body)} bytes"
            assert int(fields["content-length"]) == len(body), fields
            tags.add(fields["etag"])
            total[coding] += 0 if name.endswith(".ts") else len(body)
        assert len(tags) == 2, f"{name} has one tag in two codings"
    assert total["br"] < total["gzip"] <= KIT_LIMIT, f"the kit leaves with {total} bytes"


@claim(browser=False)
def the_kit_names_no_other_site_than_apples_and_writes_no_markup(_):
    for path in (ROOT / "Web/kit").glob("*.js"):
        text = path.read_text(encoding="utf-8")
        sites = set(re.findall(r"https?://([\w.-]+)", text)) - {"applepay.cdn-apple.com"}
        assert not sites, f"{path.name} names {sites}"
        for word in ("innerHTML", "insertAdjacentHTML", "eval(", "new Function", "document.write", "from \"", ".cssText"):
            assert word not in text, f"{path.name} has {word}"


@claim(page=None)
def a_pinned_kit_is_loaded_by_its_hash_and_no_other(shopper):
    pinned = shopper.demo.get_json(f"{shopper.demo.server}/applepay/sri.json")
    address = f"{shopper.demo.server}/applepay/v{pinned['version']}"
    # Every module of the kit is pinned by the import map; the browser refuses what differs by one byte.
    for change, expected in (("", True), ("A", False)):
        hashes = {name: change + pinned["files"][name] if name != "tender.js" else pinned["files"][name]
                  for name in pinned["files"] if name.endswith(".js")}
        imports = {"integrity": {f"{address}/{name}": value.replace("Asha384-", "sha384-A") for name, value in hashes.items()}}
        body = f"""<script>addEventListener("unhandledrejection", () => {{ window.isRefused = true; }});</script>
            <script type="importmap">{json.dumps(imports)}</script>
            <script type="module" crossorigin src="{address}/tender.js" integrity="{pinned['files']['tender.js']}"></script>"""
        page = f"<!doctype html><html lang=en><title>Pinned</title>{body}"
        with fake_server() as shop:
            shop.files["/pinned.html"] = page
            shopper.browser.get(f"{shop.origin}/pinned.html")
            shopper.until(lambda: shopper.script("return window.isRefused || customElements.get('tender-apple-pay') && 1"),
                          "the pinned kit neither runs nor is refused")
            defined = shopper.script("return Boolean(customElements.get('tender-apple-pay'))")
            assert defined is expected, "the pinned kit does not run" if expected else "a changed kit runs"
    shopper.browser_errors()  # the browser logs the refusal
