"""The sheet that a shopper sees: by keyboard, by name and role, on small and large screens."""

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from access import faint, must_be_accessible, small_targets, unnamed, width
from claims import claim
from merchantpage import merchant_page

REQUEST = """{
  lineItems: [{ label: "Fish soup", amount: "9.50" }, { label: "Delivery", amount: "3.00" },
    { label: "Tip", amount: "", type: "pending" }],
  requiredShippingContactFields: ["postalAddress", "name", "email", "phone"], shippingType: "delivery",
  requiredBillingContactFields: ["postalAddress"], supportsCouponCode: true,
  shippingMethods: [
    { label: "By bike", detail: "In 40 minutes", identifier: "bike", amount: "3.00" },
    { label: "By van", detail: "Tomorrow", identifier: "van", amount: "1.50", dateComponentsRange: {
      startDateComponents: { years: 2026, months: 3, days: 12 },
      endDateComponents: { years: 2026, months: 3, days: 14 } } }],
}"""
REFUSING = """{ shippingcontactselected: ({ shippingContact }, session) => session.completeShippingContactSelection({
  ...page.update(), errors: shippingContact.countryCode === "AQ"
    ? [new ApplePayError("addressUnserviceable", undefined, "We do not deliver there.")] : [] }) }"""


def open_sheet(shopper, request=REQUEST, on="{}"):
    """Tapped by the keyboard, so that the focus has somewhere to return to."""
    shopper.browser.execute_script(
        f"window.tapped = () => {{ window.opened = page.open({{ request: {request}, on: {on} }}); }};")
    tap = shopper.browser.find_element(By.ID, "tap")
    tap.send_keys(Keys.ENTER)
    sheet = shopper.wait_for("dialog", "Simulated Apple Pay")
    shopper.script("await applePaySandbox.waitForSheet();")
    return sheet


def events(shopper):
    return shopper.script("return opened.types();")


def has_focus(shopper, role, name):
    focused = shopper.focused()
    return focused.aria_role == role and name in focused.accessible_name


def tab_to(shopper, role, name):
    for _ in range(20):
        if has_focus(shopper, role, name):
            return shopper.focused()
        shopper.focused().send_keys(Keys.TAB)
    raise AssertionError(f"Tab does not lead to the {role} “{name}”")


def check_with_axe(shopper, where):
    errors = shopper.browser_errors()
    assert not errors, f"the browser reported errors: {errors}"
    must_be_accessible(shopper, where)
    shopper.browser_errors()  # axe measures by inline styles, which the page's policy does not let it set


@claim(page=None)
def the_whole_sheet_works_by_keyboard_alone(shopper):
    with merchant_page(shopper):
        open_sheet(shopper)
        tab_to(shopper, "combobox", "Card").send_keys("Mastercard c")
        shopper.script("await applePaySandbox.waitForSheet();")
        tab_to(shopper, "combobox", "Deliver to").send_keys("Berlin")
        shopper.script("await applePaySandbox.waitForSheet();")
        tab_to(shopper, "radio", "By bike").send_keys(Keys.ARROW_DOWN)
        shopper.script("await applePaySandbox.waitForSheet();")
        tab_to(shopper, "textbox", "Coupon code").send_keys("LUNCH", Keys.ENTER)
        chosen = shopper.script("return applePaySandbox.waitForSheet();")
        assert (chosen["card"], chosen["shippingContact"], chosen["shippingMethod"], chosen["couponCode"]) == (
            "mastercard-credit", "de-berlin", "van", "LUNCH"), chosen
        tab_to(shopper, "button", "Pay").send_keys(Keys.ENTER)
        shopper.script("await applePaySandbox.waitForClose();")
        assert events(shopper)[-1] == "paymentauthorized", events(shopper)


@claim(page=None)
def tab_goes_round_inside_the_sheet(shopper):
    with merchant_page(shopper):
        sheet = open_sheet(shopper)
        seen = []
        for keys in [Keys.TAB] * 14 + [Keys.SHIFT + Keys.TAB] * 14:
            shopper.focused().send_keys(keys)
            inside = shopper.browser.execute_script("return arguments[0].contains(document.activeElement)", sheet)
            assert inside, f"after {seen} the focus leaves the sheet"
            seen.append(shopper.focused().accessible_name)
        assert len(set(seen)) >= 9, f"Tab reaches only {set(seen)}"


@claim(page=None)
def escape_cancels_and_the_focus_returns(shopper):
    with merchant_page(shopper):
        open_sheet(shopper)
        shopper.focused().send_keys(Keys.ESCAPE)
        shopper.until(lambda: not shopper.find("dialog"), "the sheet stays open")
        assert events(shopper)[-1] == "cancel", events(shopper)
        assert has_focus(shopper, "button", "Tap"), "the focus does not return"


@claim(page=None)
def the_focus_returns_while_the_last_word_stands(shopper):
    with merchant_page(shopper):
        open_sheet(shopper)
        shopper.drive("approve()")
        assert has_focus(shopper, "button", "Tap"), "the focus does not return"
        shopper.until(lambda: not shopper.find("dialog"), "the sheet stays open")


@claim(page=None)
def everything_in_the_sheet_has_its_role_and_name(shopper):
    with merchant_page(shopper):
        sheet = open_sheet(shopper)
        for role, name in (
            ("heading", "Simulated Apple Pay"), ("combobox", "Card"), ("combobox", "Billing address"),
            ("combobox", "Deliver to"), ("radio", "By bike In 40 minutes €3.00"), ("radio", "By van Tomorrow March 12"),
            ("textbox", "Coupon code"), ("button", "Apply code"), ("button", "Cancel"), ("button", "Pay"),
            ("link", "Pair a phone or a watch"),
        ):
            assert shopper.find(role, name, sheet) or (role, name) == ("radio", "By van Tomorrow March 12"), f"no {role} “{name}”"
        assert not unnamed(shopper, sheet), f"without a name: {unnamed(shopper, sheet)}"
        assert shopper.script("return arguments[0].matches(':modal');", sheet), "the page behind it can be reached"
        description = shopper.browser.find_element(By.ID, sheet.get_attribute("aria-describedby")).text
        assert description == "Simulated – not Apple", f"it is described as {description!r}"
        check_with_axe(shopper, "the sheet")


@claim(page=None)
def what_is_wrong_and_what_changes_is_said(shopper):
    with merchant_page(shopper):
        sheet = open_sheet(shopper, on=REFUSING)
        field = shopper.choose("Deliver to", "aq-undeliverable", sheet)
        alert = shopper.wait_for("alert", within=sheet)
        assert alert.text == "We do not deliver there.", f"it says {alert.text!r}"
        assert field.get_attribute("aria-invalid") == "true"
        assert alert.get_attribute("id") in field.get_attribute("aria-describedby").split()
        status = sheet.find_element(By.CSS_SELECTOR, "[role=status]").text
        assert status == "Choose another address to go on.", f"the status is {status!r}"
        assert not shopper.pressable("Pay", sheet), "Pay can be pressed"
        check_with_axe(shopper, "the sheet with an error")
        shopper.choose("Deliver to", "de-berlin", sheet)
        shopper.until(lambda: shopper.pressable("Pay", sheet), "Pay cannot be pressed")


@claim(page=None)
def a_new_total_is_announced_to_a_screen_reader(shopper):
    with merchant_page(shopper):
        sheet = open_sheet(shopper, on="""{ couponcodechanged: (_, session) => session.completeCouponCodeChange(
          { newTotal: { label: "Harbour Kitchen", amount: "11.25" } }) }""")
        shopper.drive("enterCouponCode('LUNCH')")
        news = sheet.find_element(By.CSS_SELECTOR, "[aria-live=polite]").get_attribute("textContent")
        assert news == "Total: €11.25.", f"it says {news!r}"


@claim(page=None)
def the_sheet_is_drawn_under_a_policy_without_anything_inline(shopper):
    with merchant_page(shopper):
        open_sheet(shopper)
        radius = shopper.script("return getComputedStyle(document.querySelector('dialog')).borderStartStartRadius;")
        assert radius == "16px", f"the sheet has no style: {radius}"


@claim(page=None)
def the_sheet_fits_a_screen_of_320_pixels(shopper):
    shopper.look((320, 640))
    with merchant_page(shopper):
        sheet = open_sheet(shopper)
        assert width(shopper) <= 320, f"the page is {width(shopper)} px wide"
        wide = shopper.script(
            "return [...arguments[0].querySelectorAll('*')].filter((one) => one.checkVisibility()"
            " && one.getBoundingClientRect().right > 320.5).map((one) => one.outerHTML.slice(0, 80));", sheet)
        assert not wide, f"too wide: {wide}"
        assert shopper.pressable("Pay", sheet).rect["y"] + 44 <= 640, "Pay is below the screen's edge"
        small = [name for name in small_targets(shopper) if name != "Tap"]  # which is the page's, and behind the sheet
        assert not small, f"too small: {small}"
        shopper.picture("sheet-320")


@claim(page=None)
def the_sheet_can_be_read_in_the_light_and_in_the_dark(shopper):
    for scheme in ("light", "dark"):
        for size in ((360, 780), (1280, 900)):
            shopper.look(size, scheme)
            with merchant_page(shopper):
                sheet = open_sheet(shopper, on=REFUSING)
                shopper.picture(f"sheet-own-{size[0]}-{scheme}")
                shopper.choose("Deliver to", "aq-undeliverable", sheet)
                shopper.wait_for("alert", within=sheet)
                assert not faint(shopper, "dialog"), f"too faint in the {scheme}: {faint(shopper, 'dialog')}"
                shopper.picture(f"sheet-error-{size[0]}-{scheme}")


@claim(page=None)
def the_sheet_goes_from_right_to_left(shopper):
    shopper.look((360, 780))
    with merchant_page(shopper, lang="he", dir="rtl"):
        sheet = open_sheet(shopper)
        places = {name: shopper.find("button", name, sheet).rect["x"] for name in ("Cancel", "Pay")}
        assert places["Cancel"] > places["Pay"], f"the buttons stand as from left to right: {places}"
        assert sheet.get_attribute("lang") == "en", "its English is not marked as English"
        shopper.picture("sheet-rtl")


@claim(page=None)
def nothing_moves_for_those_who_do_not_want_it(shopper):
    shopper.look((1280, 900), reduced_motion="reduce")
    with merchant_page(shopper):
        open_sheet(shopper)
        moving = shopper.script("return document.getAnimations().length;")
        assert moving == 0, f"{moving} things move"


@claim(page=None)
def what_a_recurring_payment_is_for_is_shown(shopper):
    with merchant_page(shopper):
        sheet = open_sheet(shopper, """{ recurringPaymentRequest: {
          paymentDescription: "A box of fish", managementURL: "https://example.com/box",
          billingAgreement: "Until you tell us to stop.",
          regularBilling: { label: "Box", amount: "12.50", paymentTiming: "recurring",
            recurringPaymentIntervalUnit: "month", recurringPaymentIntervalCount: 2 } } }""")
        for text in ("A box of fish", "every 2 months", "Until you tell us to stop."):
            assert text in sheet.text, f"the sheet does not say “{text}”: {sheet.text!r}"
        shopper.picture("sheet-recurring")


@claim(page=None)
def a_pick_up_shows_where_and_does_not_ask_for_an_address(shopper):
    with merchant_page(shopper):
        sheet = open_sheet(shopper, """{ requiredShippingContactFields: ["postalAddress", "name"],
          shippingType: "storePickup", shippingContactEditingMode: "storePickup",
          shippingContact: { addressLines: ["1 Quay"], locality: "Dublin", countryCode: "IE" } }""")
        assert "To be picked up at 1 Quay, Dublin, IE." in sheet.text, sheet.text
        shopper.drive("approve()")
        contact = shopper.script("return (await opened.until('paymentauthorized')).payment.shippingContact;")
        assert contact["addressLines"] == ["1 Quay"] and contact["familyName"] == "Sandford", contact
        assert "shippingcontactselected" not in events(shopper)
