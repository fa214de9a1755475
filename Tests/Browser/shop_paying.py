"""Paying in the demo's shop, and what the shopper is told."""

import re

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from claims import claim



@claim
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


@claim
def a_payment_by_the_sandbox_is_captured(shopper):
    shopper.open_sheet()
    result = shopper.drive("approve()")
    assert result["state"] == "completed" and result["status"] == 0, f"the sheet ended {result}"
    shopper.sees("captured")


@claim
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


@claim
def a_collection_asks_for_no_address(shopper):
    shopper.browser.find_element(By.CSS_SELECTOR, "input[value=collection]").click()
    sheet = shopper.open_sheet()
    shopper.until(lambda: shopper.find("combobox", "Contact", sheet), "the sheet asks for no contact")
    assert not shopper.find("combobox", "Deliver to", sheet), "the sheet asks for an address"
    shopper.drive("approve()")
    shopper.sees("captured")


@claim
def a_declined_card_is_told_and_another_pays(shopper):
    shopper.open_sheet()
    result = shopper.drive("decline()")
    assert result["status"] == 1, f"the sheet ended {result}"
    shopper.until(lambda: not shopper.find("dialog", "Apple Pay"), "the sheet stays open")
    assert shopper.find("alert", ""), "the page does not say that the card was declined"
    shopper.open_sheet()
    shopper.drive("approve()")
    shopper.sees("captured")


@claim
def the_other_shop_takes_yen(shopper):
    shopper.open_shop(shopper.demo.second_shop)
    sheet = shopper.open_sheet()
    shopper.choose("Deliver to", "jp-tokyo", sheet)
    shopper.press("Pay", sheet)
    shopper.sees("captured")
    amount = shopper.browser.find_element(By.ID, "amount").text
    assert re.fullmatch(r"¥[0-9,]+", amount), f"the amount is shown as {amount!r}"
