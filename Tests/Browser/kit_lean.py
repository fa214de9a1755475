"""What a page loads of the kit, and asks of the server, where Apple Pay cannot be; and that a real session stays."""

from claims import claim
from fakeserver import METADATA, fake_server
from kit_availability import log, wait_for_state

CORE = {"/applepay/tender.js", "/applepay/elements.js"}
LOADED = """
    const [origin] = arguments;
    const there = performance.getEntriesByType("resource").map(({ name }) => name);
    return [...new Set(there)].filter((name) => name.includes("/applepay/")).map((name) => name.replace(origin, ""));
    """
PAGES = """<tender-apple-pay basket="B"></tender-apple-pay><tender-apple-pay basket="B"></tender-apple-pay>
    <tender-apple-pay-mark></tender-apple-pay-mark>"""


def loaded(shopper, shop):
    return set(shopper.script(LOADED, shop.origin))


@claim(page=None)
def a_browser_without_apple_pay_loads_the_core_and_makes_one_call(shopper):
    with fake_server(body=PAGES, device={"isAbsent": True}) as shop:
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "hidden")
        assert shopper.script("return device.reported.reasons.map(({ code }) => code)") == ["no_apple_pay"]
        assert "Apple's script" in shopper.script("return device.reported.reasons[0].detail")
        assert loaded(shopper, shop) == CORE | {"/applepay/metadata"}, f"it loaded {loaded(shopper, shop)}"
        assert shop.calls == ["GET metadata"], f"it called {shop.calls}"
        assert not shopper.script("return document.querySelectorAll('link[rel=stylesheet]').length"), "there is a style sheet"


@claim(page=None)
def a_shop_that_is_switched_off_costs_one_call(shopper):
    off = {"GET metadata": {**METADATA, "enabled": False}}
    with fake_server(body=PAGES.replace("><", " apple-script><", 1), device={"isAbsent": True}, answers=off) as shop:
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "hidden")
        assert shopper.script("return device.reported.reasons.map(({ code }) => code)") == ["disabled"]
        assert loaded(shopper, shop) == CORE | {"/applepay/metadata"}, f"it loaded {loaded(shopper, shop)}"
        assert shop.calls == ["GET metadata"], f"it called {shop.calls}"
        assert shopper.script("return document.scripts.length") == 2, "Apple's script was loaded"
        tags = shopper.script("return document.head.querySelectorAll('link, meta').length")
        assert tags == 0, f"crawlers read that it takes Apple Pay: {tags}"


@claim(page=None)
def a_browser_with_apple_pay_has_the_buttons_style_before_the_button(shopper):
    with fake_server() as shop:
        shop.hold()
        shopper.browser.get(shop.origin)
        shopper.until(lambda: shopper.script("return document.querySelectorAll('link[rel=stylesheet]').length") == 1,
                      "there is no style sheet")
        assert not shopper.script("return document.querySelectorAll('apple-pay-button').length"), "it did not wait"
        shop.flows.set()
        wait_for_state(shopper, "buy")


@claim(page=None)
def the_simulated_session_replaces_a_real_one_only_if_it_is_asked_to(shopper):
    address = f"{shopper.demo.sandbox}/apple-pay-session.js"
    for script, is_real in ((address, True), (f"{address}?replace", False)):
        with fake_server(body="") as shop:
            shop.files["/"] = shop.files["/"].replace("<body>", f'<script src="{script}"></script><body>')
            shopper.browser.get(shop.origin)
            natives, simulated = shopper.script("""
                const isNative = (type) => `${type}`.includes("[native code]");
                return [[PaymentRequest, PaymentResponse].every(isNative), Boolean(window.applePaySandbox)];
                """)
            kept = shopper.script("return `${ApplePaySession}`.includes('device.log')")
            assert kept is is_real, f"{script} leaves the real one: {kept}"
            assert simulated is not is_real, f"{script} brings the sandbox: {simulated}"
            assert natives or not is_real, f"{script} replaces the browser's PaymentRequest"
            said = [entry["message"] for entry in shopper.browser.get_log("browser") if entry["level"] == "WARNING"]
            assert any("?replace" in message for message in said) is is_real, f"the console has {said}"


@claim(page=None)
def a_server_that_takes_no_real_money_asks_for_the_simulated_session(shopper):
    shopper.open_shop(f"{shopper.shop}/smallest")
    asked = shopper.script("return document.querySelector('tender-apple-pay').checkout.metadata.simulatedSession")
    assert asked == f"{shopper.demo.sandbox}/apple-pay-session.js?replace", f"the server names {asked}"
    metadata = {**METADATA, "environment": "simulated", "simulatedSession": asked}
    with fake_server(answers={"GET metadata": metadata}) as shop:
        shopper.browser.get(shop.origin)
        shopper.until(lambda: shopper.script("return Boolean(window.applePaySandbox)"), "the real one stays")
    with fake_server() as shop:
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "buy")
        assert not shopper.script("return Boolean(window.applePaySandbox)"), "with real money it is simulated"
        assert "page ready buy" in log(shopper)
