"""The platform's own payment page: every way in which a checkout ends."""

import urllib.error

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import hostedpage
from claims import claim


@claim(page=None)
def a_merchant_without_a_page_is_paid_on_the_platforms(shopper):
    checkout = hostedpage.enter(shopper, "lobster")
    shopper.sees("Lobster roll")
    shopper.sees("€14.50")
    hostedpage.pay(shopper)
    shopper.sees("Market Stall has received your payment of €14.50")
    shopper.follow("Return to Market Stall")
    assert hostedpage.goes_back(shopper) == ("PAYMENT_CREATED", "SUCCESSFUL")
    payment = hostedpage.paid_once(shopper, checkout)
    assert payment["id"] in shopper.fact("payment") and shopper.fact("payment-status") == "CAPTURED"


@claim(page=None)
def a_declined_card_on_the_hosted_page_is_reported_and_another_pays(shopper):
    checkout = hostedpage.enter(shopper)
    hostedpage.decline(shopper)
    assert shopper.wait_for("alert"), "the page does not say that the card was declined"
    shopper.sees("2 attempts left.")
    hostedpage.pay(shopper)
    shopper.follow("Return to Market Stall")
    assert hostedpage.goes_back(shopper) == ("PAYMENT_CREATED", "SUCCESSFUL")
    hostedpage.paid_once(shopper, checkout)


@claim(page=None)
def a_cancelled_checkout_leads_back_and_charges_nothing(shopper):
    checkout = hostedpage.enter(shopper)
    hostedpage.button(shopper)
    shopper.press("Cancel and return to Market Stall")
    assert hostedpage.goes_back(shopper) == ("CANCELLED_BY_CONSUMER", "REJECTED")
    hostedpage.not_paid(shopper, checkout)
    shopper.browser.back()
    shopper.sees("You have cancelled this payment")
    assert not shopper.find("button", "Apple Pay"), "a cancelled checkout can be paid"


@claim(page=None)
def the_last_attempt_ends_the_checkout(shopper):
    checkout = hostedpage.enter(shopper)
    for left in ("2 attempts left.", "1 attempt left."):
        hostedpage.decline(shopper)
        shopper.sees(left)
    hostedpage.decline(shopper)
    hostedpage.result(shopper, "refused")
    shopper.follow("Return to Market Stall")
    assert hostedpage.goes_back(shopper) == ("PAYMENT_CREATED", "REJECTED")
    hostedpage.not_paid(shopper, checkout)


@claim(page=None, limit=150)
def a_checkout_whose_time_is_up_says_so_and_leads_back_unpaid(shopper):
    checkout = hostedpage.enter(shopper, minutes=1)
    hostedpage.button(shopper)
    shopper.sees("1 minute left")
    # Nobody touches the page: it counts down, asks, and shows the end.
    shopper.until(
        lambda: shopper.browser.find_elements(By.CSS_SELECTOR, "[data-result=expired]"), "the page does not end")
    shopper.sees("Time is up")
    assert not shopper.find("button", "Apple Pay"), "an expired checkout can be paid"
    shopper.follow("Return to Market Stall")
    assert hostedpage.goes_back(shopper) == ("CANCELLED_BY_CONSUMER", "REJECTED")
    hostedpage.not_paid(shopper, checkout)
    shopper.browser.back()
    hostedpage.result(shopper, "expired")


@claim(page=None)
def a_closed_sheet_charges_nothing_and_can_be_opened_again(shopper):
    checkout = hostedpage.enter(shopper)
    hostedpage.open_sheet(shopper)
    shopper.drive("cancel()")
    shopper.sees("You closed the payment sheet. Nothing was charged.")
    hostedpage.not_paid(shopper, checkout)
    hostedpage.pay(shopper)


@claim(page=None)
def a_reload_and_the_back_button_show_what_is_true(shopper):
    checkout = hostedpage.enter(shopper)
    hostedpage.pay(shopper)
    shopper.browser.refresh()
    hostedpage.result(shopper, "paid")
    shopper.follow("Return to Market Stall")
    hostedpage.goes_back(shopper)
    shopper.browser.back()
    hostedpage.result(shopper, "paid")
    hostedpage.paid_once(shopper, checkout)


@claim(page=None)
def two_tabs_pay_once_and_both_say_so(shopper):
    checkout = hostedpage.enter(shopper)
    hostedpage.button(shopper)
    first, address = shopper.browser.current_window_handle, shopper.browser.current_url
    shopper.browser.switch_to.new_window("tab")
    shopper.browser.get(address)
    hostedpage.pay(shopper)
    shopper.browser.close()
    shopper.browser.switch_to.window(first)
    hostedpage.result(shopper, "paid")
    hostedpage.paid_once(shopper, checkout)


@claim(page=None)
def a_tab_closed_in_mid_payment_shows_the_outcome_when_it_is_opened_again(shopper):
    checkout = hostedpage.enter(shopper)
    address = shopper.browser.current_url
    sheet = hostedpage.open_sheet(shopper)
    shopper.press("Pay", sheet)
    shopper.until(lambda: shopper.demo.payments(checkout), "no payment arrives")
    shopper.browser.get("about:blank")
    shopper.browser.get(address)
    hostedpage.result(shopper, "paid")
    hostedpage.paid_once(shopper, checkout)


@claim(page=None)
def the_hosted_page_is_paid_by_keyboard_alone(shopper):
    checkout = hostedpage.enter(shopper)
    hostedpage.button(shopper)
    press_by_keyboard(shopper, "Apple Pay")
    sheet = shopper.until(lambda: shopper.find("dialog", "Apple Pay"), "no sheet opened")
    shopper.until(lambda: shopper.pressable("Pay", sheet), "the sheet is not ready")
    press_by_keyboard(shopper, "Pay")
    hostedpage.result(shopper, "paid")
    press_by_keyboard(shopper, "Return to Market Stall")
    hostedpage.goes_back(shopper)
    hostedpage.paid_once(shopper, checkout)


def press_by_keyboard(shopper, name):
    for _ in range(40):
        focused = shopper.focused()
        if focused.aria_role in ("button", "link") and name in focused.accessible_name:
            focused.send_keys(Keys.ENTER)
            return
        focused.send_keys(Keys.TAB)
    raise AssertionError(f"Tab leads to no “{name}”")


@claim(page=None)
def without_javascript_the_page_says_so_and_offers_a_phone(shopper):
    hostedpage.enter(shopper)
    address = shopper.browser.current_url
    shopper.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        shopper.browser.get(address)
        shopper.sees("Apple Pay needs JavaScript.")
        shopper.sees("Chowder")
        shopper.press("Show a code for my phone")
        shopper.sees("It works once")
        assert shopper.browser.find_elements(By.CSS_SELECTOR, "img[src^='/hosted-codes/']"), "there is no code"
        shopper.browser.get(address)
        shopper.press("Cancel and return to Market Stall")
        assert hostedpage.goes_back(shopper) == ("CANCELLED_BY_CONSUMER", "REJECTED")
    finally:
        shopper.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@claim(page=None)
def a_device_that_does_not_fit_is_told_why_and_continues_on_a_phone(shopper):
    checkout = hostedpage.enter(shopper)
    address = shopper.browser.current_url
    script = shopper.browser.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument",
        {"source": "window.applePaySandboxDevice = { canMakePayments: false };"})
    shopper.browser.get(address)
    shopper.sees("This device cannot pay with Apple Pay. Continue on an iPhone.")
    assert not shopper.find("button", "Buy with Apple Pay"), "the device cannot pay and is offered to"
    shopper.press("Show a code for my phone")
    shopper.sees("Scan this code with the camera of your iPhone.")
    picture = shopper.browser.find_element(By.ID, "phone-code").get_attribute("src")
    code = picture.rsplit("/", 1)[1].removesuffix(".svg")
    shopper.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    # Another device: a tab of its own.
    first = shopper.browser.current_window_handle
    shopper.browser.switch_to.new_window("tab")
    shopper.browser.get(f"{shopper.demo.server}/hosted-continue/{code}")
    hostedpage.pay(shopper)
    shopper.browser.get(f"{shopper.demo.server}/hosted-continue/{code}")
    shopper.sees("This code has been used or has expired.")
    shopper.discard_errors()  # the answer is 410
    shopper.browser.close()
    shopper.browser.switch_to.window(first)
    hostedpage.result(shopper, "paid")
    hostedpage.paid_once(shopper, checkout)


@claim(page=None, browser=False)
def a_forged_return_is_refused_by_the_stall(demo):
    try:
        demo.get(f"{demo.shop}/stall/return?RETURNMAC=0&hostedCheckoutId=0123456789abcdef0123456789abcdef")
    except urllib.error.HTTPError as refused:
        assert refused.code == 403
    else:
        raise AssertionError("a forged return is believed")


@claim(page=None, limit=240)
def an_outcome_that_is_not_known_is_said_to_be_so_and_told_when_it_is(shopper):
    checkout = hostedpage.enter(shopper)
    hostedpage.open_sheet(shopper)
    shopper.drive("selectCard('mastercard-answer-lost')")
    shopper.script("applePaySandbox.approve().catch(() => {});")
    shopper.until(
        lambda: shopper.browser.find_elements(By.CSS_SELECTOR, "[data-result=processing], [data-result=paid]"),
        "the page says nothing of the outcome")
    if shopper.browser.find_elements(By.CSS_SELECTOR, "[data-result=processing]"):
        shopper.sees("Please do not pay again.")
        assert not shopper.find("button", "Apple Pay"), "what may be paid can be paid again"
    shopper.until(
        lambda: shopper.browser.find_elements(By.CSS_SELECTOR, "[data-result=paid]"), "the outcome is never told")
    hostedpage.paid_once(shopper, checkout)


@claim(page=None)
def a_payment_that_is_answered_later_shows_that_it_is_being_confirmed(shopper):
    checkout = hostedpage.enter(shopper)
    hostedpage.open_sheet(shopper)
    shopper.drive("selectCard('visa-pending')")
    shopper.drive("approve()")
    shopper.until(
        lambda: shopper.browser.find_elements(By.CSS_SELECTOR, "[data-result=processing], [data-result=paid]"),
        "the page does not say that the payment is being confirmed")
    assert len(shopper.demo.payments(checkout)) == 1
