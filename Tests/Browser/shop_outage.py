"""The server is gone for five seconds, at each step: the connection is cut, or it stalls. Whatever the shopper sees
meanwhile, the order is paid once in the end, and never twice."""

import contextlib
import threading
import time

from claims import claim
from shopper import PATIENCE

GONE_FOR = 5.0


@contextlib.contextmanager
def server_gone(shopper, how):
    """The server goes at once, and comes back five seconds after what the claim does meanwhile."""
    with shopper.proxy.gone(how):
        yield
        time.sleep(GONE_FOR)


def pays_in_the_end(shopper):
    """Either the sheet that was open pays, or another one does."""
    def reacted():
        if shopper.path().startswith("/order/"):
            return "paid"
        sheet = shopper.find("dialog", "Apple Pay")
        pay = sheet and shopper.pressable("Pay", sheet)
        if pay:
            pay.click()
        return not sheet and shopper.find("button", "Apple Pay") and "again"

    if shopper.until(reacted, "the shop stays as it is") == "again":
        shopper.open_sheet()
        shopper.drive("approve()")
    return shopper.receipt()


def is_survived(shopper, how, step, continue_shopping):
    with server_gone(shopper, how):
        continue_shopping()
    paid = pays_in_the_end(shopper)
    captured = [payment for payment in shopper.demo.payments(paid) if payment["captured"] > 0]
    assert len(captured) == 1, f"{step}: paid {len(captured)} times"


def ready_sheet(shopper):
    sheet = shopper.open_sheet()
    shopper.until(lambda: shopper.pressable("Pay", sheet), "the sheet did not become ready")
    return sheet


@claim(limit=240)
def a_server_that_is_gone_while_the_button_is_prepared_comes_back(shopper):
    shopper.button()
    is_survived(shopper, "cut", "preparing", lambda: shopper.press("One Lemonade more"))


@claim(limit=240)
def a_server_that_hangs_while_the_button_is_prepared_comes_back(shopper):
    shopper.button()
    is_survived(shopper, "hold", "preparing", lambda: shopper.press("One Lemonade more"))


@claim(limit=240)
def a_server_that_is_gone_while_the_merchant_is_validated_costs_nothing(shopper):
    button = shopper.button()
    is_survived(shopper, "cut", "validating", button.click)


@claim(limit=240)
def a_server_that_hangs_while_the_merchant_is_validated_costs_nothing(shopper):
    button = shopper.button()
    is_survived(shopper, "hold", "validating", button.click)


@claim(limit=240)
def a_server_that_is_gone_while_the_address_is_priced_costs_nothing(shopper):
    sheet = ready_sheet(shopper)
    is_survived(shopper, "cut", "pricing", lambda: shopper.choose("Deliver to", "de-berlin", sheet))


@claim(limit=240)
def a_server_that_hangs_while_the_address_is_priced_costs_nothing(shopper):
    sheet = ready_sheet(shopper)
    is_survived(shopper, "hold", "pricing", lambda: shopper.choose("Deliver to", "de-berlin", sheet))


@claim(limit=240)
def a_server_that_is_gone_while_a_shipping_method_is_priced_costs_nothing(shopper):
    sheet = ready_sheet(shopper)
    is_survived(shopper, "cut", "pricing", lambda: shopper.wait_for("radio", "Van", sheet).click())


@claim(limit=240)
def a_server_that_is_gone_while_a_card_is_priced_costs_nothing(shopper):
    sheet = ready_sheet(shopper)
    is_survived(shopper, "cut", "pricing", lambda: shopper.choose("Card", "mastercard-credit", sheet))


@claim(limit=240)
def a_server_that_is_gone_while_a_coupon_is_looked_at_costs_nothing(shopper):
    sheet = ready_sheet(shopper)
    shopper.write("Coupon code", "LUNCH10", sheet)
    is_survived(shopper, "cut", "pricing", lambda: shopper.press("Apply code", sheet))


@claim(limit=240)
def a_server_that_is_gone_when_the_payment_is_sent_takes_it_once(shopper):
    sheet = ready_sheet(shopper)
    is_survived(shopper, "cut", "paying", lambda: shopper.press("Pay", sheet))


@claim(limit=240)
def a_server_that_hangs_when_the_payment_is_sent_takes_it_once(shopper):
    sheet = ready_sheet(shopper)
    is_survived(shopper, "hold", "paying", lambda: shopper.press("Pay", sheet))


@claim(limit=240)
def a_server_that_is_gone_before_it_answers_the_payment_has_taken_it_once(shopper):
    sheet = ready_sheet(shopper)
    basket = shopper.basket()
    shopper.proxy.lose_answer("POST /applepay/payment ")
    shopper.press("Pay", sheet)
    assert shopper.proxy.lost.wait(PATIENCE), "the payment was not sent"
    threading.Timer(GONE_FOR, shopper.proxy.mend).start()
    assert pays_in_the_end(shopper) == basket, "another basket was paid as well"


@claim(limit=240)
def a_server_that_is_gone_while_the_sheet_is_cancelled_charges_nothing(shopper):
    sheet = ready_sheet(shopper)
    basket = shopper.basket()
    with server_gone(shopper, "cut"):
        shopper.press("Cancel", sheet)
        shopper.sees("Nothing was charged")
    shopper.demo.must_not_be_paid(basket)


@claim(limit=240)
def a_server_that_is_gone_after_paying_leaves_the_receipt_as_it_is(shopper):
    shopper.open_sheet()
    shopper.drive("approve()")
    basket = shopper.receipt()
    with server_gone(shopper, "cut"):
        shopper.browser.refresh()
        assert shopper.receipt() == basket
        shopper.open(f"/order/{basket}/trace")
        shopper.sees("does not answer")
    shopper.browser_errors()
    shopper.browser.refresh()
    shopper.sees("Wrote down the answer")
