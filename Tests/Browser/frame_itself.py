"""The frame that judges, judged: each fault planted here must be noticed."""

import contextlib

from selenium.webdriver.common.by import By

import shop_access
import shop_paying
from access import faint, small_targets, unnamed, violations
from claims import Claim, claim, judge
from demo import Demo
from pages import serve

FAULTY = """<!doctype html><html lang="en"><title>Faulty</title><main><h1>Faulty</h1>
  <p class="faint">Nobody can read this.</p><button></button><img src="/nothing.png"></main>
  <link rel="stylesheet" href="/faulty.css"></html>"""


@claim(page=None)
def a_claim_that_does_not_hold_is_told(shopper):
    def two_is_three(_):
        assert 2 == 3, "two is not three"

    verdict = judge(Claim(two_is_three, page=None), shopper, shopper.demo)
    assert verdict.complaint == "two is not three", f"the verdict is {verdict}"
    assert verdict.line == "FAIL two is three: two is not three", f"it is told as {verdict.line!r}"


@claim(page=None)
def a_claim_that_does_not_end_is_ended(shopper):
    def it_waits(_):
        shopper.script("await new Promise(() => {});")

    verdict = judge(Claim(it_waits, page=None, limit=3), shopper, shopper.demo)
    assert verdict.complaint.startswith("it did not end within 3 s"), f"the verdict is {verdict}"
    assert not shopper.revive(), "the browser that hung is still in use"
    shopper.arrive("/")
    shopper.button()


@claim(page=None)
def a_page_that_throws_is_told(shopper):
    def it_throws(_):
        with serve({"/page.html": '<script src="/page.js"></script>', "/page.js": "nobody.home();"}) as origin:
            shopper.open(f"{origin}/page.html")

    verdict = judge(Claim(it_throws, page=None), shopper, shopper.demo)
    assert "nobody is not defined" in verdict.complaint, f"the verdict is {verdict}"


@claim(page=None)
def a_page_that_breaks_its_own_policy_is_told(shopper):
    def it_runs_inline(_):
        with serve({"/page.html": "<script>1;</script>"}, {"Content-Security-Policy": "script-src 'self'"}) as origin:
            shopper.open(f"{origin}/page.html")

    verdict = judge(Claim(it_runs_inline, page=None), shopper, shopper.demo)
    assert "Content Security Policy" in verdict.complaint, f"the verdict is {verdict}"


@claim(page=None)
def a_page_that_not_everybody_can_use_is_told(shopper):
    style = ".faint { color: #bbb; } button { block-size: 20px; }"
    with serve({"/page.html": FAULTY, "/faulty.css": style}) as origin:
        shopper.open(f"{origin}/page.html")
        broken = {line.split(" at ")[0] for line in violations(shopper)}
        assert {"color-contrast", "button-name", "image-alt"} <= broken, f"axe complains of {broken}"
        assert len(faint(shopper)) == 1 and len(unnamed(shopper)) == 1 and len(small_targets(shopper)) == 1
    shopper.complaints()


@claim
def books_that_differ_are_told(shopper):
    shopper.open_sheet()
    basket = shopper.basket()
    shopper.drive("approve()")
    shopper.demo.must_be_paid_once(basket)
    for tamper in (doubled, smaller):
        with contextlib.suppress(AssertionError):
            Tampered(shopper.demo, tamper).must_be_paid_once(basket)
            raise SystemError(f"books that are {tamper.__name__} are said to agree")


class Tampered(Demo):
    """A demo whose acquirer's book was altered behind Tender's back."""

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
def a_line_that_is_cut_is_felt_and_mends(shopper):
    shopper.button()
    ask = "return (await fetch(arguments[0] + '/healthz', { mode: 'no-cors', cache: 'no-store' })).type;"
    assert shopper.script(ask, shopper.demo.server) == "opaque"
    with shopper.line.gone():
        with contextlib.suppress(AssertionError):
            shopper.script(ask, shopper.demo.server)
            raise SystemError("the cut line carries")
    assert shopper.script(ask, shopper.demo.server) == "opaque", "the mended line does not carry"
    shopper.line.lose_answer("GET /healthz ")
    with contextlib.suppress(AssertionError):
        shopper.script(ask, shopper.demo.server)
        raise SystemError("the answer was not lost")
    # A browser repeats a safe call by itself; then it is the repeated one that finds the line cut.
    assert shopper.line.lost.is_set(), "the request did not arrive"
    assert shopper.browser.find_element(By.TAG_NAME, "h1")


# Mistakes that a shop's page could make, planted before it runs, and the claim that must notice.
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


def with_mistake(shopper, mistake, act):
    """The verdict on a claim about a shop in which this mistake was planted."""
    def planted(_):
        shopper.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": mistake})
        shopper.open("/")
        act(shopper)

    return judge(Claim(planted, page=None), shopper, shopper.demo)


@claim(page=None)
def a_shop_that_forgets_its_basket_at_a_reload_is_caught(shopper):
    verdict = with_mistake(shopper, FORGETFUL, shop_paying.a_reload_before_paying_charges_nothing_and_keeps_the_basket)
    assert verdict.complaint == "a reload made another basket", f"the verdict is {verdict}"


@claim(page=None)
def a_shop_in_colours_that_are_too_faint_is_caught(shopper):
    def look(_):
        shopper.button()
        shop_access.judge(shopper, "the menu")

    verdict = with_mistake(shopper, FAINT, look)
    assert "color-contrast" in verdict.complaint, f"the verdict is {verdict}"


@claim(page=None)
def a_shop_that_calls_a_payment_declined_that_was_taken_is_caught(shopper):
    def pay(_):
        shopper.open_sheet()
        basket = shopper.basket()
        assert shopper.drive("approve()")["status"] == 1, "the shopper is not told that the card was declined"
        shopper.demo.must_not_be_paid(basket)

    verdict = with_mistake(shopper, LYING, pay)
    assert verdict.complaint.startswith("the basket was paid"), f"the verdict is {verdict}"
