"""Closing the sheet, at every moment."""

from selenium.webdriver.common.keys import Keys

from claims import claim


# The kit's call that pays, held back until the sheet's cancelling was answered, or followed by it.
CANCELLING = """
    const send = window.fetch;
    let report;
    const cancelled = new Promise((resolve) => { report = resolve; });
    window.fetch = async (address, options) => {
      const isPayment = options?.method === "POST" && String(address).endsWith("/payment");
      const cancel = async () => { await applePaySandbox.cancel(); await cancelled; };
      if (isPayment && %(early)s) await cancel();
      const answer = await send(address, options);
      if (isPayment && !%(early)s) await cancel();
      if (options?.method === "DELETE") report();
      return answer;
    };
    """


@claim
def a_cancelled_sheet_charges_nothing_and_its_basket_can_be_paid(shopper):
    sheet = shopper.open_sheet()
    shopper.drive("enterCouponCode('LUNCH10')")
    basket = shopper.basket()
    shopper.press("Cancel", sheet)
    shopper.sees("Nothing was charged")
    shopper.open_sheet()
    assert shopper.basket() == basket, "the basket was given up"
    result = shopper.drive("approve()")
    assert result["couponCode"] == "", "the second sheet remembers the first one's coupon"
    assert not [item for item in result["lineItems"] if item["amount"].startswith("-")], "and gives its discount"
    shopper.receipt()


@claim
def a_sheet_closed_before_the_payment_arrives_charges_nothing(shopper):
    basket = shopper.basket()
    shopper.open_sheet()
    shopper.browser.execute_script(CANCELLING % {"early": "true"})
    shopper.drive("approve()")
    shopper.sees("Nothing was charged")
    shopper.until(lambda: shopper.basket() not in (None, basket), "the shop still offers the cancelled basket")
    assert shopper.browser.execute_script(
        "return fetch(`/api/orders/${arguments[0]}`).then(({ status }) => status)", basket) == 404, "it was ordered"


@claim
def a_sheet_closed_after_the_payment_arrived_reports_its_outcome(shopper):
    shopper.open_sheet()
    shopper.browser.execute_script(CANCELLING % {"early": "false"})
    shopper.drive("approve()")
    shopper.receipt()


@claim
def escape_cancels(shopper):
    shopper.open_sheet()
    shopper.browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    shopper.sees("Nothing was charged")


@claim
def focus_moves_into_the_sheet_and_back(shopper):
    sheet = shopper.open_sheet()
    assert shopper.browser.execute_script("return arguments[0].contains(document.activeElement)", sheet), \
        "the focus stays outside the sheet"
    shopper.press("Cancel", sheet)
    shopper.until(lambda: "Apple Pay" in shopper.focused().accessible_name, "the focus does not return to the button")
    shopper.open_sheet()
    shopper.drive("approve()")
    shopper.until(lambda: shopper.focused().text == "Thank you", "the focus does not move to the confirmation")


@claim
def a_sheet_can_be_cancelled_at_every_point(shopper):
    points = {
        "at once": lambda _: None,
        "when it is ready": lambda sheet: shopper.until(lambda: shopper.pressable("Pay", sheet), "it is not ready"),
        "after another address": lambda _: shopper.drive("selectShippingContact('de-berlin')"),
        "at an address that is not served": lambda sheet: shopper.choose("Deliver to", "aq-undeliverable", sheet),
        "after another card": lambda _: shopper.drive("selectCard('mastercard-credit')"),
        "after another method": lambda _: shopper.drive("selectShippingMethod('van')"),
        "after a coupon": lambda _: shopper.drive("enterCouponCode('WELCOME')"),
        "after a wrong coupon": lambda _: shopper.drive("enterCouponCode('NOTHING')"),
        "after a contact was refused": lambda _: (
            shopper.drive("selectShippingContact('gb-incomplete')"), shopper.drive("approve()")),
    }
    basket = shopper.open_sheet() and shopper.basket()
    shopper.focused().send_keys(Keys.ESCAPE)
    for point, step in points.items():
        shopper.until(lambda: not shopper.find("dialog", "Apple Pay"), f"the sheet before “{point}” stays open")
        sheet = shopper.open_sheet()
        step(sheet)
        shopper.press("Cancel", sheet)
        shopper.sees("Nothing was charged")
        assert not shopper.demo.payments(basket), f"cancelled {point}, it was tried to be paid"
    shopper.until(lambda: not shopper.find("dialog", "Apple Pay"), "the sheet stays open")
    shopper.open_sheet()
    assert shopper.basket() == basket, "the basket was given up"
    shopper.drive("approve()")
    assert shopper.receipt() == basket
