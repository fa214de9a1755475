"""What a shop copies into its own tests does what it says: the fixture for Selenium, and those for Playwright with a
stand-in for Playwright's page, against a real sheet."""

import importlib.util
import pathlib
import re
import urllib.request

from claims import claim
from merchantpage import BY_SCRIPT, merchant_page
from shopper import PATIENCE

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "Web/sandbox/fixtures"
OPEN = """page.open({ request: { supportsCouponCode: true, requiredShippingContactFields: ["postalAddress"],
  requiredBillingContactFields: ["postalAddress"],
  shippingMethods: [{ label: "Bike", detail: "", identifier: "bike", amount: "1.00" },
    { label: "Van", detail: "", identifier: "van", amount: "2.00" }] }, %s });"""


def fixture(name="apple_pay_selenium"):
    spec = importlib.util.spec_from_file_location(name, FIXTURES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sheet_on(shopper, on="on: {}"):
    shopper.browser.execute_script(f"{BY_SCRIPT} {OPEN % on}")
    return fixture().ApplePaySheet(shopper.browser, PATIENCE)


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
        assert sheet.approve()["result"] == "paid"


@claim(page=None)
def the_selenium_fixture_declines_and_cancels(shopper):
    with merchant_page(shopper):
        sheet = sheet_on(shopper)
        assert sheet.decline()["card"] == "visa-insufficient-funds"
        sheet = sheet_on(shopper)
        assert sheet.cancel()["result"] == "cancelled"


FAILING = "on: { paymentauthorized: (_, session) => session.completePayment({ status: ApplePaySession.STATUS_FAILURE }) }"


@claim(page=None)
def the_fixtures_result_tells_a_paid_order_from_a_declined_a_failed_and_a_cancelled_one(shopper):
    with merchant_page(shopper):
        assert sheet_on(shopper).approve()["result"] == "paid"
        declined = sheet_on(shopper, FAILING).decline()
        assert (declined["state"], declined["result"]) == ("completed", "declined"), declined
        assert sheet_on(shopper, FAILING).approve()["result"] == "failed"
        assert sheet_on(shopper).cancel()["result"] == "cancelled"


@claim(page=None)
def the_selenium_fixture_knows_the_result_where_the_page_goes_on_to_another(shopper):
    with merchant_page(shopper):
        sheet = sheet_on(shopper, """on: { paymentauthorized: (_, session) => {
          session.completePayment({ status: ApplePaySession.STATUS_SUCCESS }); location.reload(); } }""")
        assert sheet.approve()["result"] == "paid"


@claim(page=None)
def the_selenium_fixture_says_what_went_wrong(shopper):
    with merchant_page(shopper):
        sheet = sheet_on(shopper)
        try:
            sheet.select_card("visa-black")
        except AssertionError as error:
            assert 'No card "visa-black" can pay here.' in str(error), error
        else:
            raise AssertionError("an unknown card was chosen")


@claim(page=None)
def the_selenium_fixture_lets_thirty_seconds_pass(shopper):
    with merchant_page(shopper):
        sheet = sheet_on(shopper, "on: { shippingmethodselected: page.silent }")
        sheet.hold_clock()
        shopper.browser.execute_script("applePaySandbox.selectShippingMethod('van');")
        shopper.until(lambda: sheet.state["state"] == "shippingMethodSelected", "the page did not receive the change")
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


class StandIn:
    """Of Playwright's page, what the fixture for Python asks of it."""

    def __init__(self, shopper):
        self.shopper = shopper

    def wait_for_function(self, text):
        self.shopper.until(lambda: self.shopper.script(f"return Boolean(({text})());"), f"{text} does not come true")

    def evaluate(self, text, given=None):
        return self.shopper.script(f"return ({text})(arguments[0]);", given)

    def add_init_script(self, text):
        self.shopper.browser.execute_script(text)

    def get_by_role(self, role, name):
        return self.shopper.wait_for(role, name)


@claim(page=None)
def the_playwright_fixture_for_python_takes_every_step_of_a_shopper(shopper):
    playwright = fixture("apple_pay_playwright")
    with merchant_page(shopper):
        shopper.browser.execute_script(f"{BY_SCRIPT} {OPEN % 'on: {}'}")
        sheet = playwright.ApplePaySheet(StandIn(shopper))
        assert sheet.select_card("amex-credit")["card"] == "amex-credit"
        assert sheet.select_shipping_contact("de-berlin")["shippingContact"] == "de-berlin"
        assert sheet.select_billing_contact("fr-paris")["billingContact"] == "fr-paris"
        assert sheet.select_shipping_method("van")["shippingMethod"] == "van"
        assert sheet.enter_coupon_code("LUNCH")["couponCode"] == "LUNCH"
        assert (sheet.total, sheet.errors) == ("12.50", []) and sheet.dialog
        assert sheet.approve()["result"] == "paid"
        shopper.browser.execute_script(OPEN % "on: { shippingmethodselected: page.silent }")
        sheet = playwright.ApplePaySheet(StandIn(shopper))
        sheet.hold_clock()
        shopper.browser.execute_script("applePaySandbox.selectShippingMethod('van');")
        shopper.until(lambda: sheet.state["state"] == "shippingMethodSelected", "the page did not receive the change")
        sheet.advance_clock(30)
        assert sheet.state["state"] == "canceled"
        playwright.play_device(StandIn(shopper), newestVersion=11)
        assert shopper.script("return applePaySandboxDevice.newestVersion") == 11


@claim(page=None)
def the_playwright_fixture_for_javascript_takes_every_step_of_a_shopper(shopper):
    text = (FIXTURES / "apple-pay-playwright.js").read_text(encoding="utf-8")
    text = re.sub(r"^import .*$|^export \{.*$|^export ", "", text, flags=re.MULTILINE)
    with merchant_page(shopper):
        seen = shopper.script(f"""
            {BY_SCRIPT}
            const base = {{ extend: (fixtures) => fixtures }};
            {text}
            const playwright = {{
              evaluate: async (step, given) => step(given), addInitScript: async (step, given) => step(given),
              waitForFunction: async (test) => {{ while (!test()) await new Promise((resolve) => setTimeout(resolve)); }},
              getByRole: (role, {{ name }}) => [role, name],
            }};
            let sheet;
            await test.applePay({{ page: playwright }}, async (given) => {{ sheet = given; }});
            {OPEN % 'on: {}'}
            await sheet.waitForSheet();
            const steps = [await sheet.selectCard("amex-credit"), await sheet.selectShippingContact("de-berlin"),
              await sheet.selectBillingContact("fr-paris"), await sheet.selectShippingMethod("van"),
              await sheet.enterCouponCode("LUNCH"), await sheet.approve()];
            {OPEN % 'on: {}'}
            steps.push(await sheet.decline());
            {OPEN % 'on: {}'}
            steps.push(await sheet.cancel(), await sheet.waitForClose());
            {OPEN % 'on: { shippingmethodselected: page.silent }'}
            await sheet.waitForSheet();
            await sheet.holdClock();
            sheet.selectShippingMethod("van");
            while ((await sheet.state()).state !== "shippingMethodSelected") {{
              await new Promise((resolve) => setTimeout(resolve));
            }}
            await sheet.advanceClock(30);
            steps.push(await sheet.state());
            await sheet.playDevice({{ newestVersion: 11 }});
            return {{ steps, dialog: sheet.dialog, device: window.applePaySandboxDevice }};""")
    states = [step["state"] for step in seen["steps"]]
    assert states == ["active"] * 5 + ["completed", "completed", "canceled", "canceled", "canceled"], states
    chosen = seen["steps"][4]
    assert [chosen[name] for name in ("card", "shippingContact", "billingContact", "shippingMethod", "couponCode")] == [
        "amex-credit", "de-berlin", "fr-paris", "van", "LUNCH"], chosen
    assert seen["dialog"] == ["dialog", "Simulated Apple Pay"] and seen["device"] == {"newestVersion": 11}


@claim(browser=False)
def the_playwright_fixtures_offer_the_same_in_both_languages(_):
    steps = [re.findall(r"^  (?:async |get )?(#?\w+)(?: = \(|\()", (FIXTURES / f"apple-pay-playwright.{kind}").read_text(
        encoding="utf-8"), re.MULTILINE) for kind in ("js", "ts")]
    assert steps[0] == steps[1] and len(steps[0]) > 10, f"they offer {steps}"


@claim(browser=False)
def the_fixtures_are_served_by_the_sandbox(demo):
    for file in FIXTURES.iterdir():
        with urllib.request.urlopen(f"{demo.sandbox}/fixtures/{file.name}", timeout=PATIENCE) as answer:
            assert answer.read().decode().strip() == file.read_text(encoding="utf-8").strip(), f"{file.name} differs"
