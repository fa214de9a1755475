"""Closing the sheet, at every moment."""

from selenium.webdriver.common.keys import Keys

from claims import claim


# The kit's call that pays, held back until the sheet's cancelling was answered, or followed by it.
CANCELLING = """
    const send = window.fetch;
    let told;
    const cancelled = new Promise((resolve) => { told = resolve; });
    window.fetch = async (address, options) => {
      const isPayment = options?.method === "POST" && String(address).endsWith("/payment");
      const cancel = async () => { await applePaySandbox.cancel(); await cancelled; };
      if (isPayment && %(early)s) await cancel();
      const answer = await send(address, options);
      if (isPayment && !%(early)s) await cancel();
      if (options?.method === "DELETE") told();
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
    shopper.sees("captured")


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
def a_sheet_closed_after_the_payment_arrived_tells_its_outcome(shopper):
    shopper.open_sheet()
    shopper.browser.execute_script(CANCELLING % {"early": "false"})
    shopper.drive("approve()")
    shopper.sees("captured")


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
