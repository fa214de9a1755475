"""Paying in the demo's shop, and what the shopper sees."""

import re

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from claims import claim
from shopper import PATIENCE


@claim
def a_payment_by_hand_is_captured(shopper):
    sheet = shopper.open_sheet()
    shopper.wait_for("combobox", "Card", sheet)
    shopper.wait_for("combobox", "Deliver to", sheet)
    assert "Simulated – not Apple" in sheet.text, "the sheet does not say that it is simulated"
    shopper.press("Pay", sheet)
    shopper.receipt()
    names = ("reference", "amount", "card")
    shown = {name: shopper.browser.find_element(By.ID, name).text for name in names}
    assert all(shown.values()), f"the confirmation leaves something out: {shown}"
    assert shown["card"] == "Visa 0492", f"the card is shown as {shown['card']!r}"


@claim
def a_payment_by_the_sandbox_is_captured(shopper):
    shopper.open_sheet()
    result = shopper.drive("approve()")
    assert result["state"] == "completed" and result["status"] == 0, f"the sheet ended {result}"
    shopper.receipt()


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
    shopper.receipt()


@claim
def a_collection_asks_for_no_address(shopper):
    shopper.browser.find_element(By.CSS_SELECTOR, "input[value=collection]").click()
    sheet = shopper.open_sheet()
    shopper.until(lambda: shopper.find("combobox", "Contact", sheet), "the sheet asks for no contact")
    assert not shopper.find("combobox", "Deliver to", sheet), "the sheet asks for an address"
    shopper.drive("approve()")
    shopper.receipt()


@claim
def a_declined_card_is_reported_and_another_pays(shopper):
    shopper.open_sheet()
    result = shopper.drive("decline()")
    assert result["status"] == 1, f"the sheet ended {result}"
    shopper.until(lambda: not shopper.find("dialog", "Apple Pay"), "the sheet stays open")
    assert shopper.find("alert", ""), "the page does not say that the card was declined"
    shopper.open_sheet()
    shopper.drive("approve()")
    shopper.receipt()


@claim
def the_other_shop_takes_yen(shopper):
    shopper.open_shop(shopper.demo.second_shop)
    sheet = shopper.open_sheet()
    shopper.choose("Deliver to", "jp-tokyo", sheet)
    shopper.press("Pay", sheet)
    shopper.receipt()
    amount = shopper.browser.find_element(By.ID, "amount").text
    assert re.fullmatch(r"¥[0-9,]+", amount), f"the amount is shown as {amount!r}"


@claim(page="/dish/oysters")
def a_dish_is_bought_on_its_own_page_and_the_basket_stays_as_it_is(shopper):
    shopper.press("One Six oysters more")
    shopper.press("Add to basket")
    shopper.sees("2 in your basket")
    shopper.open("/dish/crab")
    shopper.open_sheet()
    shopper.drive("approve()")
    shopper.receipt()
    assert "Crab roll" in shopper.page_text() and "oysters" not in shopper.page_text(), "not that dish alone was paid"
    shopper.open("/basket")
    shopper.sees("Six oysters")


@claim
def time_note_and_promo_code_reach_the_receipt(shopper):
    shopper.fill(crab=2)
    shopper.open("/basket")
    field = shopper.wait_for("combobox", "When")
    chosen = Select(field)
    chosen.select_by_index(2)
    wanted = chosen.first_selected_option.text.split()[-1]
    shopper.write("A note for the kitchen", "Ring twice, please")
    shopper.write("Promo code", "lunch10")
    shopper.press("Apply")
    shopper.sees("Lunch offer: taken off")
    shopper.open_sheet()
    result = shopper.drive("approve()")
    assert result["couponCode"] == "LUNCH10", f"the sheet opened with the code {result['couponCode']!r}"
    assert [item["amount"] for item in result["lineItems"] if item["label"] == "Lunch offer"] == ["-2.30"], \
        f"the discount is missing: {result['lineItems']}"
    shopper.receipt()
    assert shopper.fact("kept-note") == "Ring twice, please" and wanted in shopper.fact("requested-for")
    assert "-€2.30" in shopper.page_text(), "the receipt does not show the discount"


@claim
def an_invalid_promo_code_is_reported_before_the_sheet_opens(shopper):
    shopper.fill(fish=1)
    shopper.open("/basket")
    for code, answer in (("NOSUCHCODE", "We do not know this code"), ("SUMMER", "This code has expired")):
        field = shopper.write("Promo code", code)
        shopper.press("Apply")
        shopper.sees(answer)
        assert field.get_attribute("aria-invalid") == "true", "the error is not marked as the field's"
    shopper.open_sheet()
    assert shopper.drive("approve()")["couponCode"] == "", "the refused code is in the sheet"
    shopper.receipt()


@claim(page="/account")
def a_shopper_who_has_signed_in_is_known_and_a_guest_is_not(shopper):
    shopper.press("Sign in as Ada Sandford")
    shopper.sees("You are signed in as Ada Sandford")
    shopper.fill(fish=1)
    shopper.open("/basket")
    shopper.sees("Ordering as Ada Sandford")
    shopper.open_sheet()
    shopper.drive("approve()")
    shopper.receipt()
    assert shopper.fact("shopper") == "Ada Sandford"
    shopper.open("/account")
    shopper.press("order as a guest")
    shopper.sees("You are a guest")
    shopper.open("/dish/fish")
    shopper.open_sheet()
    shopper.drive("approve()")
    shopper.receipt()
    assert shopper.fact("shopper") == "A guest"


@claim
def a_double_click_opens_one_sheet_and_pays_once(shopper):
    button = shopper.button()
    ActionChains(shopper.browser).double_click(button).perform()
    sheet = shopper.wait_for("dialog", "Apple Pay")
    assert shopper.script("return document.querySelectorAll('dialog[open], [role=dialog]').length;") == 1
    pay = shopper.until(lambda: shopper.pressable("Pay", sheet), "the sheet did not become ready")
    shopper.script("arguments[0].click(); arguments[0].click();", pay)
    basket = shopper.receipt()
    assert len(shopper.demo.payments(basket)) == 1, "it was tried to be paid twice"


@claim
def a_reload_in_mid_payment_shows_the_receipt_and_not_the_button_again(shopper):
    sheet = shopper.open_sheet()
    basket = shopper.basket()
    shopper.until(lambda: shopper.pressable("Pay", sheet), "the sheet did not become ready")
    shopper.proxy.lose_answer("POST /applepay/payment ")
    shopper.press("Pay", sheet)
    assert shopper.proxy.lost.wait(PATIENCE), "the payment was not sent"
    shopper.proxy.mend()
    shopper.browser.refresh()
    assert shopper.receipt() == basket, "another basket was paid"


@claim
def an_outcome_that_arrives_while_the_page_is_left_is_reported_by_the_next_page(shopper):
    shopper.open_sheet()
    basket = shopper.basket()
    # The shopper reloads, and the new page takes its time: longer than the old one waits for it.
    shopper.script("""
        const set = window.setTimeout;
        window.setTimeout = (callback, time, ...rest) => time === 10_000 ? 0 : set.call(window, callback, time, ...rest);
        dispatchEvent(new Event("beforeunload"));
        """)
    assert shopper.drive("approve()")["status"] == 0
    assert shopper.path() == "/", "the page that is left shows the receipt"
    shopper.browser.refresh()
    assert shopper.receipt() == basket


@claim
def a_reload_before_paying_charges_nothing_and_keeps_the_basket(shopper):
    shopper.open_sheet()
    basket = shopper.basket()
    shopper.browser.refresh()
    shopper.open_sheet()
    assert shopper.basket() == basket, "a reload made another basket"
    shopper.drive("approve()")
    assert shopper.receipt() == basket


@claim
def the_back_button_after_paying_offers_nothing_that_was_paid(shopper):
    shopper.fill(fish=1)
    shopper.open("/basket")
    shopper.open_sheet()
    shopper.drive("approve()")
    paid = shopper.receipt()
    shopper.browser.back()
    shopper.sees("There is nothing in it yet")
    shopper.browser.forward()
    assert shopper.receipt() == paid
    assert len(shopper.demo.payments(paid)) == 1


@claim
def the_receipt_is_there_again_after_a_reload(shopper):
    shopper.open_sheet()
    shopper.drive("approve()")
    shopper.receipt()
    before = {id: shopper.fact(id) for id in ("reference", "amount", "card", "status")}
    assert all(before.values()), f"the receipt leaves something out: {before}"
    shopper.browser.refresh()
    shopper.receipt()
    assert {id: shopper.fact(id) for id in before} == before


# The page's own clock: five minutes pass when a claim says so.
CLOCK = """
    const [now, set] = [Date.now, window.setTimeout];
    let [passed, waiting] = [0, []];
    Date.now = () => now.call(Date) + passed;
    window.setTimeout = (callback, time, ...rest) =>
      time > 200_000 ? (waiting.push(() => callback(...rest)), 0) : set.call(window, callback, time, ...rest);
    window.passFiveMinutes = () => { passed += 301_000; for (const callback of waiting.splice(0)) callback(); };
    """


@claim(page=None)
def a_sheet_that_was_open_for_too_long_closes_and_the_next_one_pays(shopper):
    shopper.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": CLOCK})
    shopper.open("/")
    sheet = shopper.open_sheet()
    basket = shopper.basket()
    shopper.until(lambda: shopper.pressable("Pay", sheet), "the sheet did not become ready")
    shopper.script("passFiveMinutes();")
    shopper.until(lambda: not shopper.find("dialog", "Apple Pay"), "the sheet stays open")
    shopper.sees("open for too long")
    shopper.demo.must_not_be_paid(basket)
    shopper.open_sheet()
    shopper.drive("approve()")
    shopper.receipt()
