"""Whether the platform's payment page is accessible and in order: every state, light and dark, wide and narrow, left to
right and right to left; and what it weighs."""

import gzip
import time
import urllib.error
import urllib.request

from access import faint, must_be_accessible, small_targets, unnamed, width
from claims import claim
import hostedpage
from shopper import DESKTOP, PATIENCE, PHONE

BUDGET = 40 * 1024


def look(shopper, size, scheme, where):
    shopper.look(size, scheme)
    must_be_accessible(shopper, where)
    assert not unnamed(shopper), f"without a name on {where}: {unnamed(shopper)}"
    assert not faint(shopper), f"too faint on {where}: {faint(shopper)}"
    assert not small_targets(shopper), f"too small on {where}: {small_targets(shopper)}"
    assert width(shopper) <= size[0], f"{where} is wider than the window"
    shopper.picture(f"hosted-{where}-{scheme}-{size[0]}", whole=True)


def walk(shopper, size, scheme, language="en-IE"):
    hostedpage.enter(shopper, "oysters", language)
    hostedpage.button(shopper)
    look(shopper, size, scheme, f"open-{language}")
    hostedpage.decline(shopper)
    shopper.wait_for("alert")
    look(shopper, size, scheme, f"declined-{language}")
    hostedpage.pay(shopper)
    look(shopper, size, scheme, f"paid-{language}")
    hostedpage.enter(shopper, "chowder", language)
    address = shopper.browser.current_url
    shopper.browser.find_element("css selector", "form[action$='/cancel'] button").click()
    hostedpage.goes_back(shopper)
    shopper.browser.get(address)
    hostedpage.result(shopper, "cancelled")
    look(shopper, size, scheme, f"cancelled-{language}")
    hostedpage.enter(shopper, "lobster", language)
    for _ in range(3):
        hostedpage.decline(shopper)
    hostedpage.result(shopper, "refused")
    look(shopper, size, scheme, f"refused-{language}")
    shopper.browser.get(f"{shopper.demo.server}/hosted/0123456789abcdef0123456789abcdef")
    shopper.discard_errors()  # the answer is 404
    look(shopper, size, scheme, "missing")


@claim(page=None, limit=300)
def the_hosted_page_is_accessible(shopper):
    walk(shopper, DESKTOP, "light")


@claim(page=None, limit=300)
def the_hosted_page_is_accessible_in_the_dark(shopper):
    walk(shopper, DESKTOP, "dark")


@claim(page=None, limit=300)
def the_hosted_page_is_accessible_on_a_phone(shopper):
    walk(shopper, PHONE, "light", "de-DE")


@claim(page=None, limit=300)
def the_hosted_page_is_accessible_on_a_phone_in_the_dark_from_right_to_left(shopper):
    walk(shopper, PHONE, "dark", "ar-EG")


@claim(page=None)
def the_hosted_page_weighs_at_most_40_kilobytes_with_everything(shopper):
    hostedpage.enter(shopper)
    hostedpage.button(shopper)
    address, server = shopper.browser.current_url, shopper.demo.server
    loaded = shopper.browser.execute_script(
        "return performance.getEntriesByType('resource').map(({ name }) => name);")
    own = {name for name in loaded if name.startswith(server) and "/applepay/basket" not in name}
    strangers = [name for name in loaded if not name.startswith((server, shopper.demo.sandbox))]
    assert not strangers, f"loaded from elsewhere: {strangers}"
    total = sum(weight(name) for name in own | {address})
    assert total <= BUDGET, f"the page weighs {total} bytes"
    print(f"the hosted page weighs {total} bytes in {len(own) + 1} files")


def weight(address):
    """Bytes on the wire; what the server sends plain is counted compressed as a proxy in front would."""
    request = urllib.request.Request(address, headers={"Accept-Encoding": "br, gzip"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        body = answer.read()
        return len(body) if answer.headers["Content-Encoding"] else min(len(body), len(gzip.compress(body)))


@claim(page=None, browser=False)
def the_hosted_page_is_served_within_20_milliseconds(demo):
    body = b"ware=chowder&language=en-IE"
    request = urllib.request.Request(
        f"http://127.0.0.1:{demo.port + 1}/stall", data=body, headers={"Host": f"localhost:{demo.port + 1}"})

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    try:
        urllib.request.build_opener(Stay).open(request, timeout=PATIENCE)
        raise AssertionError("the stall leads nowhere")
    except urllib.error.HTTPError as answer:
        address = answer.headers["Location"]
    page, bare = [], []
    for _ in range(200):
        page.append(seconds(demo, address))
        bare.append(seconds(demo, demo.server + "/healthz"))
    # What the connection and Python take is in both; the fastest call was not held up by what else the machine does.
    taken = (min(page) - min(bare)) * 1_000
    print(f"the hosted page: {taken:.1f} ms above /healthz")
    assert taken <= 20, f"it takes {taken:.1f} ms"


def seconds(demo, address):
    start = time.perf_counter()
    demo.get(address)
    return time.perf_counter() - start
