#!/usr/bin/python3
"""Pays in a demo shop with a real browser: Chromium, driven by Selenium, as a shopper would.

    pay_in_chromium.py --shop http://localhost:8401 [--artifacts DIR]

Needs Debian's packages chromium, chromium-driver and python3-selenium, and `tender demo`, whose first shop is the one
that is named; the second is three ports above it. Prints one line a claim, PASS or FAIL, and `N passed, N failed`;
exits 1 if one failed.
"""

import argparse
import gzip
import os
import pathlib
import re
import sys
import time
import traceback
import urllib.parse
import urllib.request

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

PATIENCE = 20.0
DESKTOP = (1280, 900)
PHONE = (360, 780)
HOUSE = pathlib.Path(__file__).resolve().parents[2]
KIT_LIMIT = 6144  # bytes of tender.js, compressed
# Where a role is looked for; whether it is one is the browser's to say.
PLACES = {"button": "button", "dialog": "dialog", "combobox": "select", "alert": "[role=alert]"}


class Shopper:
    """One browser, and what a person can do with it. Things are found as assistive technology finds them: by role
    and name."""

    def __init__(self, shop, artifacts):
        self.shop = shop
        self.artifacts = artifacts
        options = Options()
        options.add_argument("--headless=new")
        options.add_argument("--disable-dev-shm-usage")
        options.add_argument("--disable-gpu")
        if os.geteuid() == 0:
            options.add_argument("--no-sandbox")  # Chromium does not start its sandbox as root
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.browser.set_script_timeout(60)

    def quit(self):
        self.browser.quit()

    def look(self, size, scheme="light"):
        width, height = size
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        self.browser.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        )

    def open_shop(self, address=None):
        self.browser.get(address or self.shop)
        self.button()

    def neighbour(self, host, ports=0):
        """The address of another server of the demo, so many ports above the shop's."""
        return f"http://{host}:{urllib.parse.urlsplit(self.shop).port + ports}"

    def basket(self):
        return self.browser.find_element(By.TAG_NAME, "tender-apple-pay").get_attribute("basket")

    def focused(self):
        return self.browser.switch_to.active_element

    def choose(self, name, value, within=None):
        field = self.until(lambda: self.find("combobox", name, within), f"there is no choice “{name}”")
        Select(field).select_by_value(value)
        return field

    def button(self):
        """Tender's button, once the basket that stands in it was prepared."""

        def ready():
            return self.browser.execute_async_script(
                """
                const done = arguments[arguments.length - 1];
                const button = document.querySelector("tender-apple-pay");
                Promise.resolve(button.getAttribute("basket") && button.prepared).then((is) => done(Boolean(is)));
                """
            ) and self.find("button", "Apple Pay")

        return self.until(ready, "the shop shows no Apple Pay button")

    def open_sheet(self):
        self.button().click()
        return self.until(lambda: self.find("dialog", "Apple Pay"), "no sheet opened")

    def find(self, role, name, within=None):
        """The first visible thing of this role whose accessible name holds these words."""
        try:
            for element in (within or self.browser).find_elements(By.CSS_SELECTOR, PLACES[role]):
                if element.is_displayed() and element.aria_role == role and name in element.accessible_name:
                    return element
        except StaleElementReferenceException:
            pass  # the page changed under our eyes; whoever waits looks again
        return None

    def press(self, name, within=None):
        self.until(lambda: self.pressable(name, within), f"no button “{name}” can be pressed").click()

    def pressable(self, name, within=None):
        button = self.find("button", name, within)
        return button if button and button.is_enabled() else None

    def drive(self, call):
        """One step of window.applePaySandbox; raises when its promise is rejected."""
        answer = self.browser.execute_async_script(
            f"""
            const done = arguments[arguments.length - 1];
            applePaySandbox.{call}.then((value) => done({{ value }}), (error) => done({{ error: String(error) }}));
            """
        )
        if "error" in answer:
            raise AssertionError(f"applePaySandbox.{call}: {answer['error']}")
        return answer["value"]

    def sees(self, text):
        self.until(lambda: text in self.page_text(), f"the page does not say “{text}”")

    def page_text(self):
        return self.browser.find_element(By.TAG_NAME, "body").text

    def until(self, condition, complaint):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            found = condition()
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"{complaint}; the page says: {self.page_text()!r}")

    def picture(self, name):
        time.sleep(0.2)
        self.browser.save_screenshot(str(self.artifacts / f"{name}.png"))

    def complaints(self):
        """What the browser refused or a script threw; answers of 4xx are the claims' business."""
        entries = self.browser.get_log("browser")
        return [entry["message"] for entry in entries
                if entry["level"] == "SEVERE" and "Failed to load resource" not in entry["message"]]


# Claims. Each starts on a fresh page.


def a_payment_by_hand_is_captured(shopper):
    sheet = shopper.open_sheet()
    assert shopper.find("combobox", "Card", sheet), "the sheet has no choice of card"
    assert shopper.find("combobox", "Deliver to", sheet), "the sheet has no choice of address"
    assert "Simulated – not Apple" in sheet.text, "the sheet does not say that it is simulated"
    shopper.press("Pay", sheet)
    shopper.sees("Thank you")
    shopper.sees("captured")
    names = ("order-id", "reference", "amount", "card")
    shown = {name: shopper.browser.find_element(By.ID, name).text for name in names}
    assert all(shown.values()), f"the confirmation leaves something out: {shown}"
    assert shown["card"] == "Visa 0492", f"the card is shown as {shown['card']!r}"


def a_payment_by_the_sandbox_is_captured(shopper):
    shopper.open_sheet()
    result = shopper.drive("approve()")
    assert result["state"] == "completed" and result["status"] == 0, f"the sheet ended {result}"
    shopper.sees("captured")


def a_payment_by_keyboard_alone_is_captured(shopper):
    shopper.button().send_keys(Keys.ENTER)
    sheet = shopper.until(lambda: shopper.find("dialog", "Apple Pay"), "no sheet opened")
    shopper.until(lambda: shopper.pressable("Pay", sheet), "the sheet did not become ready")
    for _ in range(20):
        focused = shopper.browser.switch_to.active_element
        if focused.aria_role == "button" and focused.accessible_name == "Pay":
            break
        focused.send_keys(Keys.TAB)
    shopper.browser.switch_to.active_element.send_keys(Keys.ENTER)
    shopper.sees("captured")


def a_collection_asks_for_no_address(shopper):
    shopper.browser.find_element(By.CSS_SELECTOR, "input[value=collection]").click()
    sheet = shopper.open_sheet()
    shopper.until(lambda: shopper.find("combobox", "Contact", sheet), "the sheet asks for no contact")
    assert not shopper.find("combobox", "Deliver to", sheet), "the sheet asks for an address"
    shopper.drive("approve()")
    shopper.sees("captured")


def the_total_follows_the_shipping_method(shopper):
    shopper.open_sheet()
    before = shopper.drive(f"selectCard({first_card(shopper)!r})")
    others = [method["identifier"] for method in before["shippingMethods"]
              if method["identifier"] != before["shippingMethod"]]
    if not others:
        raise AssertionError("the first address has only one shipping method")
    after = shopper.drive(f"selectShippingMethod({others[0]!r})")
    assert after["shippingMethod"] == others[0], f"the sheet kept {after['shippingMethod']}"
    assert after["total"]["amount"] != before["total"]["amount"], "the total did not change"
    shopper.drive("approve()")
    shopper.sees("captured")


def a_coupon_lowers_the_total_and_a_wrong_one_is_refused(shopper):
    shopper.open_sheet()
    refused = shopper.drive("enterCouponCode('NOSUCHCODE')")
    assert [error["code"] for error in refused["errors"]] == ["couponCodeInvalid"], f"errors: {refused['errors']}"
    taken = shopper.drive("enterCouponCode('LUNCH10')")
    assert not taken["errors"], f"errors: {taken['errors']}"
    assert float(taken["total"]["amount"]) < float(refused["total"]["amount"]), "the total did not sink"
    shopper.drive("approve()")
    shopper.sees("captured")


def a_declined_card_is_told_and_another_pays(shopper):
    shopper.open_sheet()
    result = shopper.drive("decline()")
    assert result["status"] == 1, f"the sheet ended {result}"
    shopper.until(lambda: not shopper.find("dialog", "Apple Pay"), "the sheet stays open")
    assert shopper.find("alert", ""), "the page does not say that the card was declined"
    shopper.open_sheet()
    shopper.drive("approve()")
    shopper.sees("captured")


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


def a_contact_that_is_refused_is_corrected_in_the_same_sheet(shopper):
    sheet = shopper.open_sheet()
    shopper.drive("selectShippingContact('gb-incomplete')")
    refused = shopper.drive("approve()")
    assert refused["state"] == "active" and refused["status"] == 1, f"the sheet ended {refused}"
    fields = [error["contactField"] for error in refused["errors"]]
    assert fields == ["addressLines", "phoneNumber"], f"the sheet complains of {fields}"
    shopper.until(lambda: shopper.find("alert", "", sheet), "the sheet does not say what is wrong")
    assert not shopper.pressable("Pay", sheet), "Pay can be pressed with the refused contact"
    shopper.choose("Deliver to", "gb-london", sheet)
    shopper.press("Pay", sheet)
    shopper.sees("captured")


def an_address_without_delivery_is_refused_until_another_is_chosen(shopper):
    sheet = shopper.open_sheet()
    field = shopper.choose("Deliver to", "aq-undeliverable", sheet)
    alert = shopper.until(lambda: shopper.find("alert", "", sheet), "the sheet does not say what is wrong")
    assert "deliver" in alert.text, f"the sheet says {alert.text!r}"
    assert field.get_attribute("aria-invalid") == "true", "the error is not told to be the address's"
    assert not shopper.pressable("Pay", sheet), "Pay can be pressed"
    answer = shopper.browser.execute_async_script(
        "const done = arguments[0]; applePaySandbox.approve().then(() => done('paid'), (error) => done(String(error)))")
    assert "Choose another address" in answer, f"a test that pays all the same is told {answer!r}"
    shopper.choose("Deliver to", "de-berlin", sheet)
    shopper.press("Pay", sheet)
    shopper.sees("captured")


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


def a_sheet_closed_before_the_payment_arrives_charges_nothing(shopper):
    basket = shopper.basket()
    shopper.open_sheet()
    shopper.browser.execute_script(CANCELLING % {"early": "true"})
    shopper.drive("approve()")
    shopper.sees("Nothing was charged")
    shopper.until(lambda: shopper.basket() not in (None, basket), "the shop still offers the cancelled basket")
    assert shopper.browser.execute_script(
        "return fetch(`/api/orders/${arguments[0]}`).then(({ status }) => status)", basket) == 404, "it was ordered"


def a_sheet_closed_after_the_payment_arrived_tells_its_outcome(shopper):
    shopper.open_sheet()
    shopper.browser.execute_script(CANCELLING % {"early": "false"})
    shopper.drive("approve()")
    shopper.sees("captured")


def focus_moves_into_the_sheet_and_back(shopper):
    sheet = shopper.open_sheet()
    assert shopper.browser.execute_script("return arguments[0].contains(document.activeElement)", sheet), \
        "the focus stays outside the sheet"
    shopper.press("Cancel", sheet)
    shopper.until(lambda: "Apple Pay" in shopper.focused().accessible_name, "the focus does not return to the button")
    shopper.open_sheet()
    shopper.drive("approve()")
    shopper.until(lambda: shopper.focused().text == "Thank you", "the focus does not move to the confirmation")


def everything_has_a_name_and_can_be_read(shopper):
    for scheme in ("light", "dark"):
        shopper.look(DESKTOP, scheme)
        shopper.open_shop()
        assert not unnamed(shopper), f"without a name: {unnamed(shopper)}"
        assert not faint(shopper), f"too faint on the {scheme} page: {faint(shopper)}"
        sheet = shopper.open_sheet()
        shopper.choose("Deliver to", "aq-undeliverable", sheet)
        shopper.until(lambda: shopper.find("alert", "", sheet), "the sheet does not say what is wrong")
        assert not unnamed(shopper, sheet), f"without a name: {unnamed(shopper, sheet)}"
        assert not faint(shopper, "dialog"), f"too faint in the {scheme} sheet: {faint(shopper, 'dialog')}"
        shopper.choose("Deliver to", "gb-london", sheet)
        shopper.press("Pay", sheet)
        shopper.sees("captured")
        assert not faint(shopper, "main"), f"too faint in the {scheme} confirmation: {faint(shopper, 'main')}"


def the_other_shop_takes_yen(shopper):
    shopper.open_shop(shopper.neighbour("kitsune.localhost", 3))
    sheet = shopper.open_sheet()
    shopper.choose("Deliver to", "jp-tokyo", sheet)
    shopper.press("Pay", sheet)
    shopper.sees("captured")
    amount = shopper.browser.find_element(By.ID, "amount").text
    assert re.fullmatch(r"¥[0-9,]+", amount), f"the amount is shown as {amount!r}"


def a_page_of_an_unregistered_origin_is_told_so(shopper):
    shopper.browser.get(shopper.neighbour("127.0.0.1"))
    shopper.sees("not registered")
    assert not shopper.find("button", "Apple Pay"), "it shows a button all the same"
    reasons = shopper.browser.execute_async_script(
        """
        const done = arguments[0];
        import(document.querySelector("script[src*=tender]").src)
          .then(({ explainAvailability }) => explainAvailability()).then(done);
        """)
    assert [reason["code"] for reason in reasons] == ["origin_not_registered"], f"the reasons: {reasons}"


def the_smallest_page_of_the_documentation_pays(shopper):
    text = (HOUSE / "docs/web.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"<!-- (smallest\.\w+) -->\n```\w+\n(.*?)```", text, re.DOTALL))
    served = {name: urllib.request.urlopen(f"{shopper.shop}/{path}", timeout=10).read().decode()
              for name, path in (("smallest.html", "smallest"), ("smallest.js", "smallest.js"))}
    served["smallest.html"] = re.sub(r'(?<=basket=")\w+', "00112233445566778899aabbccddeeff", served["smallest.html"])
    served["smallest.html"] = re.sub(r'(?<=src=")http://[^/"]+', "https://pay.example.com", served["smallest.html"])
    assert served == shown, "the page that is served is not the one of docs/web.md"
    shopper.open_shop(f"{shopper.shop}/smallest")
    shopper.open_sheet()
    shopper.drive("approve()")
    shopper.sees("Thank you. Your order is ")


def the_kit_is_small(shopper):
    size = len(gzip.compress((HOUSE / "Web/kit/tender.js").read_bytes(), 9))
    assert size <= KIT_LIMIT, f"it has {size} bytes compressed, and may have {KIT_LIMIT}"


def escape_cancels(shopper):
    shopper.open_sheet()
    shopper.browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    shopper.sees("Nothing was charged")


def the_simulated_session_refuses_what_a_browser_refuses(shopper):
    shopper.browser.find_element(By.TAG_NAME, "h1").click()  # the shopper's activation lasts a few seconds
    answers = shopper.browser.execute_script(
        """
        const good = () => ({
          countryCode: "IE", currencyCode: "EUR", supportedNetworks: ["visa"], merchantCapabilities: ["supports3DS"],
          total: { label: "Shop", amount: "1.00" },
        });
        return arguments[0].map(([version, change]) => {
          try {
            new ApplePaySession(version, { ...good(), ...change });
            return "accepted";
          } catch (error) {
            return error.name;
          }
        });
        """,
        [[version, change] for _, version, change, _ in SESSION_RULES],
    )
    wrong = [(rule[0], answer) for rule, answer in zip(SESSION_RULES, answers) if rule[3] != answer]
    assert not wrong, f"judged otherwise than by a browser: {wrong}"


def a_session_needs_the_shoppers_gesture(shopper):
    name = shopper.browser.execute_script(
        "try { new ApplePaySession(14, arguments[0]) } catch (error) { return error.name + error.message }",
        {"countryCode": "IE", "currencyCode": "EUR", "supportedNetworks": ["visa"],
         "merchantCapabilities": ["supports3DS"], "total": {"label": "Shop", "amount": "1.00"}})
    assert name.startswith("InvalidAccessError") and "user gesture handler" in name, f"it answered {name!r}"


# What, version, change of a good request, and how a browser's own constructor answers.
SESSION_RULES = [
    ("a good request", 14, {}, "accepted"),
    ("version 0", 0, {}, "InvalidAccessError"),
    ("a version from the future", 15, {}, "InvalidAccessError"),
    ("a missing total", 14, {"total": None}, "TypeError"),
    ("a total without a label", 14, {"total": {"label": "", "amount": "1.00"}}, "TypeError"),
    ("one decimal", 14, {"total": {"label": "Shop", "amount": "1.0"}}, "TypeError"),
    ("three decimals", 14, {"total": {"label": "Shop", "amount": "1.000"}}, "TypeError"),
    ("a decimal comma", 14, {"total": {"label": "Shop", "amount": "1,00"}}, "TypeError"),
    ("no decimals", 14, {"total": {"label": "Shop", "amount": "1"}}, "accepted"),
    ("a total of zero", 14, {"total": {"label": "Shop", "amount": "0.00"}}, "accepted"),
    ("a total of zero in version 3", 3, {"total": {"label": "Shop", "amount": "0.00"}}, "TypeError"),
    ("a negative total", 14, {"total": {"label": "Shop", "amount": "-1.00"}}, "TypeError"),
    ("a hundred million", 14, {"total": {"label": "Shop", "amount": "100000000.00"}}, "accepted"),
    ("a cent more", 14, {"total": {"label": "Shop", "amount": "100000000.01"}}, "TypeError"),
    ("a negative line item", 14, {"lineItems": [{"label": "Discount", "amount": "-1.00"}]}, "accepted"),
    ("a line item without a label", 14, {"lineItems": [{"amount": "1.00"}]}, "TypeError"),
    ("a country in small letters", 14, {"countryCode": "ie"}, "TypeError"),
    ("a country that is none", 14, {"countryCode": "ZZ"}, "TypeError"),
    ("a currency that is none", 14, {"currencyCode": "EUX"}, "TypeError"),
    ("no network", 14, {"supportedNetworks": []}, "TypeError"),
    ("an unknown network", 14, {"supportedNetworks": ["visa", "diners"]}, "TypeError"),
    ("a network of a later version", 3, {"supportedNetworks": ["girocard"]}, "TypeError"),
    ("no capability", 14, {"merchantCapabilities": []}, "TypeError"),
    ("an unknown capability", 14, {"merchantCapabilities": ["supports4DS"]}, "TypeError"),
    ("an unknown contact field", 14, {"requiredShippingContactFields": ["fax"]}, "TypeError"),
    ("a negative shipping method", 14,
     {"shippingMethods": [{"label": "Bike", "detail": "", "identifier": "bike", "amount": "-1.00"}]}, "TypeError"),
    ("a shipping method without an identifier", 14,
     {"shippingMethods": [{"label": "Bike", "detail": "", "amount": "1.00"}]}, "TypeError"),
    ("application data that is no Base64", 14, {"applicationData": "%%%"}, "accepted"),
]


def a_narrow_page_does_not_scroll_sideways(shopper):
    shopper.look((320, 640))
    shopper.open_shop()
    assert width(shopper) <= 320, f"the shop is {width(shopper)} px wide"
    shopper.open_sheet()
    assert width(shopper) <= 320, f"with the sheet, the shop is {width(shopper)} px wide"


def everything_that_can_be_pressed_is_44_pixels_high(shopper):
    shopper.look(PHONE)
    shopper.open_shop()
    small = small_targets(shopper)
    sheet = shopper.open_sheet()
    shopper.until(lambda: shopper.pressable("Pay", sheet), "the sheet did not become ready")
    small += small_targets(shopper)
    assert not small, f"too small: {small}"


def the_pages_look_as_they_should(shopper):
    for size in (PHONE, DESKTOP):
        for scheme in ("light", "dark"):
            shopper.look(size, scheme)
            shopper.open_shop()
            shopper.picture(f"shop-{size[0]}-{scheme}")
            sheet = shopper.open_sheet()
            shopper.until(lambda: shopper.pressable("Pay", sheet), "the sheet did not become ready")
            shopper.picture(f"sheet-{size[0]}-{scheme}")
            shopper.drive("approve()")
            shopper.sees("captured")
            shopper.until(lambda: not shopper.find("dialog", "Apple Pay"), "the sheet stays open")
            shopper.picture(f"confirmation-{size[0]}-{scheme}")


CLAIMS = [
    a_payment_by_hand_is_captured, a_payment_by_the_sandbox_is_captured, a_payment_by_keyboard_alone_is_captured,
    a_collection_asks_for_no_address, the_total_follows_the_shipping_method,
    a_coupon_lowers_the_total_and_a_wrong_one_is_refused, a_declined_card_is_told_and_another_pays,
    a_cancelled_sheet_charges_nothing_and_its_basket_can_be_paid, escape_cancels,
    a_contact_that_is_refused_is_corrected_in_the_same_sheet,
    an_address_without_delivery_is_refused_until_another_is_chosen,
    a_sheet_closed_before_the_payment_arrives_charges_nothing,
    a_sheet_closed_after_the_payment_arrived_tells_its_outcome, focus_moves_into_the_sheet_and_back,
    everything_has_a_name_and_can_be_read, the_other_shop_takes_yen, a_page_of_an_unregistered_origin_is_told_so,
    the_smallest_page_of_the_documentation_pays, the_kit_is_small,
    the_simulated_session_refuses_what_a_browser_refuses, a_session_needs_the_shoppers_gesture,
    a_narrow_page_does_not_scroll_sideways, everything_that_can_be_pressed_is_44_pixels_high,
    the_pages_look_as_they_should,
]


def first_card(shopper):
    sheet = shopper.find("dialog", "Apple Pay")
    card = shopper.until(lambda: shopper.find("combobox", "Card", sheet), "the sheet has no choice of card")
    return Select(card).first_selected_option.get_attribute("value")


def width(shopper):
    return shopper.browser.execute_script("return document.documentElement.scrollWidth")


def small_targets(shopper):
    return shopper.browser.execute_script(
        """
        const kinds = "button, select, input:not([type=radio]), label:has([type=radio])";
        return [...document.querySelectorAll(kinds)]
          .filter((target) => target.checkVisibility() && target.getBoundingClientRect().height < 44)
          .map((target) => target.textContent || target.id);
        """
    )


def unnamed(shopper, within=None):
    """What can be operated and has no accessible name."""
    controls = (within or shopper.browser).find_elements(By.CSS_SELECTOR, "a, button, input, select, dialog")
    return [control.get_attribute("outerHTML") for control in controls
            if control.is_displayed() and not control.accessible_name]


def faint(shopper, root="body"):
    """Texts with less contrast than 4.5 to 1 against the ground behind them; disabled controls may have less."""
    return shopper.browser.execute_script(
        """
        const numbers = (colour) => colour.match(/[0-9.]+/g).map(Number);
        const light = (colour) => {
          const [r, g, b] = numbers(colour).map((part) => part / 255)
            .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ground = (element) => {
          for (let at = element; at; at = at.parentElement) {
            const colour = getComputedStyle(at).backgroundColor;
            if ((numbers(colour)[3] ?? 1) === 1) return colour;
          }
          return "rgb(255, 255, 255)";
        };
        const contrast = (element) => {
          const [a, b] = [light(getComputedStyle(element).color), light(ground(element))];
          return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        };
        const hasText = ({ childNodes }) => [...childNodes].some((node) => node.nodeType === 3 && node.data.trim());
        return [...document.querySelectorAll(`${arguments[0]} *`)]
          .filter((element) => element.checkVisibility() && hasText(element) && !element.matches(":disabled, option"))
          .filter((element) => contrast(element) < 4.5)
          .map((element) => `${element.textContent.trim()} (${contrast(element).toFixed(2)})`);
        """, root)


def judge(shopper, claim):
    name = claim.__name__.replace("_", " ")
    try:
        shopper.look(DESKTOP)
        shopper.open_shop()
        claim(shopper)
        complaints = shopper.complaints()
        assert not complaints, f"the browser complained: {complaints}"
    except Exception as error:  # a claim may fail in any way, and the others are still to be judged
        print(f"FAIL {name}: {str(error).splitlines()[0] if str(error) else error!r}", flush=True)
        traceback.print_exc(file=sys.stderr)
        shopper.picture(f"failed-{claim.__name__}")
        return False
    print(f"PASS {name}", flush=True)
    return True


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--shop", required=True, help="the shop's address")
    arguments.add_argument("--artifacts", default="artifacts", type=pathlib.Path, help="where pictures go")
    arguments.add_argument("--only", default="", help="judge the claims whose names hold this text")
    options = arguments.parse_args()
    options.artifacts.mkdir(parents=True, exist_ok=True)
    shopper = Shopper(options.shop, options.artifacts)
    try:
        verdicts = [judge(shopper, claim) for claim in CLAIMS if options.only in claim.__name__]
    finally:
        shopper.quit()
    print(f"{sum(verdicts)} passed, {len(verdicts) - sum(verdicts)} failed")
    return 0 if all(verdicts) and verdicts else 1


if __name__ == "__main__":
    sys.exit(main())
