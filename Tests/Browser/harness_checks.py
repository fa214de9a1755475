"""Tests of the test harness: it must notice each fault injected here."""

import contextlib

from selenium.webdriver.common.by import By

import shop_access
import shop_paying
from access import faint, small_targets, unnamed, violations
from claims import SLOWEST, Claim, claim, run
from demo import Demo
from pages import serve

FAULTY = """<!doctype html><html lang="en"><title>Faulty</title><main><h1>Faulty</h1>
  <p class="faint">Too faint to read.</p><button></button><img src="/nothing.png"></main>
  <link rel="stylesheet" href="/faulty.css"></html>"""


@claim(page=None)
def a_claim_that_does_not_hold_is_reported(shopper):
    def two_is_three(_):
        assert 2 == 3, "two is not three"

    result = run(Claim(two_is_three, page=None), shopper, shopper.demo)
    assert result.error == "two is not three", f"the result is {result}"
    assert result.line == "FAIL two is three: two is not three", f"it is reported as {result.line!r}"


@claim(page=None)
def a_claim_that_does_not_end_is_ended(shopper):
    def it_waits(_):
        shopper.script("await new Promise(() => {});")

    result = run(Claim(it_waits, page=None, limit=3 / SLOWEST), shopper, shopper.demo)
    assert result.error.startswith("it did not end within 3 s"), f"the result is {result}"
    assert not shopper.revive(), "the browser that hung is still in use"
    shopper.arrive("/")
    shopper.button()


@claim(page=None)
def a_page_that_throws_is_reported(shopper):
    def it_throws(_):
        with serve({"/page.html": '<script src="/page.js"></script>', "/page.js": "missing.call();"}) as origin:
            shopper.open(f"{origin}/page.html")

    result = run(Claim(it_throws, page=None), shopper, shopper.demo)
    assert "missing is not defined" in result.error, f"the result is {result}"


@claim(page=None)
def a_page_that_breaks_its_own_policy_is_reported(shopper):
    def it_runs_inline(_):
        with serve({"/page.html": "<script>1;</script>"}, {"Content-Security-Policy": "script-src 'self'"}) as origin:
            shopper.open(f"{origin}/page.html")

    result = run(Claim(it_runs_inline, page=None), shopper, shopper.demo)
    assert "Content Security Policy" in result.error, f"the result is {result}"


@claim(page=None)
def a_page_that_is_not_accessible_is_reported(shopper):
    style = ".faint { color: #bbb; } button { block-size: 20px; }"
    with serve({"/page.html": FAULTY, "/faulty.css": style}) as origin:
        shopper.open(f"{origin}/page.html")
        broken = {line.split(" at ")[0] for line in violations(shopper)}
        assert {"color-contrast", "button-name", "image-alt"} <= broken, f"axe reports {broken}"
        assert len(faint(shopper)) == 1 and len(unnamed(shopper)) == 1 and len(small_targets(shopper)) == 1
    shopper.browser_errors()


@claim
def ledgers_that_differ_are_reported(shopper):
    shopper.open_sheet()
    basket = shopper.basket()
    shopper.drive("approve()")
    shopper.demo.must_be_paid_once(basket)
    for tamper in (doubled, smaller):
        with contextlib.suppress(AssertionError):
            Tampered(shopper.demo, tamper).must_be_paid_once(basket)
            raise SystemError(f"ledgers that are {tamper.__name__} are not noticed")


class Tampered(Demo):
    """A demo whose acquirer's ledger was altered."""

    def __init__(self, demo, tamper):
        super().__init__(demo.port, demo.home, demo.tender)
        self.tamper = tamper

    def holds(self):
        return self.tamper(super().holds())


def doubled(holds):
    return holds + holds


def smaller(holds):
    return [{**hold, "captured": hold["captured"] - 1} for hold in holds]


@claim
def a_cut_proxy_breaks_requests_and_can_be_restored(shopper):
    shopper.button()
    ask = "return (await fetch(arguments[0] + '/healthz', { mode: 'no-cors', cache: 'no-store' })).type;"
    assert shopper.script(ask, shopper.demo.server) == "opaque"
    with shopper.proxy.gone():
        with contextlib.suppress(AssertionError):
            shopper.script(ask, shopper.demo.server)
            raise SystemError("the cut proxy forwards")
    assert shopper.script(ask, shopper.demo.server) == "opaque", "the mended proxy does not forward"
    shopper.proxy.lose_answer("GET /healthz ")
    with contextlib.suppress(AssertionError):
        shopper.script(ask, shopper.demo.server)
        raise SystemError("the answer was not lost")
    # A browser repeats a safe call by itself; then it is the repeated one that finds the proxy cut.
    assert shopper.proxy.lost.is_set(), "the request did not arrive"
    assert shopper.browser.find_element(By.TAG_NAME, "h1")


# Faults of a shop's page, injected before it runs, and the claim that must notice.
FORGETFUL = "Storage.prototype.getItem = () => null;"
FAINT = """
    addEventListener("DOMContentLoaded", () => document.documentElement.style.setProperty("--quiet", "#b8b8b8"));
    """
LYING = """
    const send = window.fetch;
    window.fetch = async (address, options) => {
      const answer = await send(address, options);
      const isPaid = options?.method === "POST" && String(address).endsWith("/payment") && answer.ok;
      const lie = () => new Response('{"code":"declined","detail":"No."}', { status: 402 });
      return isPaid ? lie() : answer;
    };
    """


def with_fault(shopper, fault, step):
    """The result of a claim about a shop with this fault."""
    def injected(_):
        shopper.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": fault})
        shopper.open("/")
        step(shopper)

    return run(Claim(injected, page=None), shopper, shopper.demo)


@claim(page=None)
def a_shop_that_loses_its_basket_at_a_reload_is_noticed(shopper):
    result = with_fault(shopper, FORGETFUL, shop_paying.a_reload_before_paying_charges_nothing_and_keeps_the_basket)
    assert result.error == "a reload made another basket", f"the result is {result}"


@claim(page=None)
def a_shop_with_too_little_contrast_is_noticed(shopper):
    def look(_):
        shopper.button()
        shop_access.must_pass(shopper, "the menu")

    result = with_fault(shopper, FAINT, look)
    assert "color-contrast" in result.error, f"the result is {result}"


@claim(page=None)
def a_shop_that_reports_a_captured_payment_as_declined_is_noticed(shopper):
    def pay(_):
        shopper.open_sheet()
        basket = shopper.basket()
        assert shopper.drive("approve()")["status"] == 1, "the decline is not shown to the shopper"
        shopper.demo.must_not_be_paid(basket)

    result = with_fault(shopper, LYING, pay)
    assert result.error.startswith("the basket was paid"), f"the result is {result}"
