"""Prices that are known later, or are nothing: what the sheet shows, what is held, and what is taken."""

import pathlib
import secrets
import sys

from claims import claim

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
import demo_server  # noqa: E402


LISTEN = """
    window.reported = [];
    document.addEventListener("tender:authorized", ({ detail }) => window.reported.push(detail));
"""


def server(shopper):
    """The merchant's own server, with the key that the demo has made for it."""
    return demo_server.Demo(shopper.demo.port, shopper.demo.home).of("harbour")


def show(shopper, **terms):
    """Puts a basket by the merchant's server, and shows it on the merchant's page. Gives its id and reference."""
    basket, reference = secrets.token_hex(16), f"ride-{secrets.token_hex(4)}"
    document = {"currencyCode": "EUR", "countryCode": "IE", "merchantReference": reference, "businessName": "Harbour Rides",
                "serviceTypes": ["none"], "contactFields": [], "items": [{"id": "a", "label": "A ride", "unitAmount": 0}], **terms}
    status, answer = server(shopper).signed("PUT", f"baskets/{basket}", document)
    assert status in (200, 201), f"the basket is answered {status}: {answer}"
    open_smallest(shopper, basket)
    return basket, reference


def open_smallest(shopper, basket):
    shopper.open_shop(f"{shopper.shop}/smallest")
    shopper.script("document.querySelector('tender-apple-pay').setAttribute('basket', arguments[0]);", basket)


def hold(shopper, reference):
    """What the acquirer has of the order."""
    found = [hold for hold in shopper.demo.holds() if hold["merchantReference"] == reference]
    assert len(found) == 1, f"the acquirer has {len(found)} authorizations of {reference}"
    return found[0]["authorized"], found[0]["captured"]


@claim(page=None)
def a_ride_shows_a_pending_total_holds_its_estimate_and_is_captured_for_less(shopper):
    basket, reference = show(shopper, capture="manual", pending=True, estimate=5_000)
    sheet = shopper.open_sheet()
    for text in ("A ride", "Held on your card", "€50.00"):
        assert text in sheet.text, f"the sheet shows {sheet.text!r}"
    assert sheet.text.count("Amount pending") == 2, f"line and total are not pending in {sheet.text!r}"
    shopper.press("Pay", sheet)
    shopper.sees("Thank you. Your order is ")
    payment, = shopper.demo.payments(basket)
    assert (payment["status"], payment["authorized"]) == ("authorized", 5_000), payment
    assert hold(shopper, reference) == (5_000, 0)
    status, answer = server(shopper).signed(
        "POST", f"payments/{payment['id']}_0/capture", {"amount": 3_150, "isFinal": True})
    assert status == 201, f"the capture is answered {status}: {answer}"
    payment, = shopper.demo.payments(basket)
    assert (payment["status"], payment["captured"]) == ("captured", 3_150), payment
    assert hold(shopper, reference) == (3_150, 3_150), "the rest of the estimate is still held"


@claim(page=None)
def a_reload_reports_the_card_the_transaction_and_the_hold_again(shopper):
    basket, _ = show(shopper, capture="manual", pending=True, estimate=5_000)
    shopper.script(LISTEN)
    shopper.press("Pay", shopper.open_sheet())
    shopper.sees("Thank you. Your order is ")
    first, = shopper.script("return window.reported;")
    assert (first["card"], first["cardNetwork"], first["cardType"]) == ("Visa 0492", "Visa", "debit"), first
    assert len(first["transactionIdentifier"]) == 64, first
    assert (first["receipt"]["amount"], first["receipt"]["estimated"]) == ("50.00", True), first
    assert [line.get("pending") for line in first["receipt"]["lines"]] == [True], first
    open_smallest(shopper, basket)
    shopper.script(LISTEN)
    shopper.until(lambda: shopper.script("return window.reported;"), "the outcome is not reported again")
    again, = shopper.script("return window.reported;")
    assert again == first, f"{again} after {first}"


@claim(page=None)
def a_basket_that_costs_nothing_verifies_the_card_and_takes_nothing(shopper):
    basket, reference = show(shopper)
    sheet = shopper.open_sheet()
    assert "Amount pending" not in sheet.text and "€0.00" in sheet.text, f"the sheet shows {sheet.text!r}"
    shopper.press("Pay", sheet)
    shopper.sees("Thank you. Your order is ")
    payment, = shopper.demo.payments(basket)
    assert (payment["status"], payment["authorized"], payment["captured"]) == ("verified", 0, 0), payment
    assert hold(shopper, reference) == (0, 0)
