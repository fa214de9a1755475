"""What a shop copies into its own tests does what it says: the fixture for Selenium, against a real page."""

import importlib.util
import pathlib
import urllib.request

from claims import claim
from merchantpage import BY_SCRIPT, merchant_page

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "Web/sandbox/fixtures"
OPEN = """page.open({ request: { supportsCouponCode: true, requiredShippingContactFields: ["postalAddress"],
  requiredBillingContactFields: ["postalAddress"],
  shippingMethods: [{ label: "Bike", detail: "", identifier: "bike", amount: "1.00" },
    { label: "Van", detail: "", identifier: "van", amount: "2.00" }] }, %s });"""


def fixture():
    spec = importlib.util.spec_from_file_location("apple_pay_selenium", FIXTURES / "apple_pay_selenium.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sheet_on(shopper, on="on: {}"):
    shopper.browser.execute_script(f"{BY_SCRIPT} {OPEN % on}")
    return fixture().ApplePaySheet(shopper.browser)


@claim(page=None)
def the_selenium_fixture_takes_every_step_of_a_shopper(shopper):
    with merchant_page(shopper):
        sheet = sheet_on(shopper)
        assert sheet.select_card("amex-credit")["card"] == "amex-credit"
        assert sheet.select_shipping_contact("de-berlin")["shippingContact"] == "de-berlin"
        assert sheet.select_billing_contact("fr-paris")["billingContact"] == "fr-paris"
        assert sheet.select_shipping_method("van")["shippingMethod"] == "van"
        assert sheet.enter_coupon_code("LUNCH")["couponCode"] == "LUNCH"
        assert (sheet.total, sheet.errors) == ("12.50", [])
        assert sheet.approve()["state"] == "completed"


@claim(page=None)
def the_selenium_fixture_declines_and_cancels(shopper):
    with merchant_page(shopper):
        sheet = sheet_on(shopper)
        assert sheet.decline()["card"] == "visa-insufficient-funds"
        sheet = sheet_on(shopper)
        assert sheet.cancel()["state"] == "canceled"


@claim(page=None)
def the_selenium_fixture_says_what_went_wrong(shopper):
    with merchant_page(shopper):
        sheet = sheet_on(shopper)
        try:
            sheet.select_card("visa-black")
        except AssertionError as error:
            assert 'No card "visa-black" can pay here.' in str(error), error
        else:
            raise AssertionError("a card that nobody has was chosen")


@claim(page=None)
def the_selenium_fixture_lets_thirty_seconds_pass(shopper):
    with merchant_page(shopper):
        sheet = sheet_on(shopper, "on: { shippingmethodselected: page.silent }")
        sheet.hold_clock()
        shopper.browser.execute_script("applePaySandbox.selectShippingMethod('van');")
        shopper.until(lambda: sheet.state["state"] == "shippingMethodSelected", "the page was not told")
        sheet.advance_clock(29)
        assert sheet.state["state"] == "shippingMethodSelected"
        sheet.advance_clock(1)
        assert sheet.state["state"] == "canceled"


@claim(page=None)
def a_device_is_chosen_before_the_pages_scripts_run(shopper):
    with merchant_page(shopper):
        script = shopper.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {
            "source": 'window.applePaySandboxDevice = { newestVersion: 3, cards: ["visa-debit"] };'})
        shopper.browser.refresh()
        answer = shopper.script("return [ApplePaySession.supportsVersion(4), (await applePaySandbox.cards()).length];")
        shopper.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
        assert answer == [False, 1], answer


@claim(browser=False)
def the_fixtures_are_served_by_the_sandbox(demo):
    for file in FIXTURES.iterdir():
        with urllib.request.urlopen(f"{demo.sandbox}/fixtures/{file.name}", timeout=20) as answer:
            assert answer.read().decode().strip() == file.read_text(encoding="utf-8").strip(), f"{file.name} differs"
