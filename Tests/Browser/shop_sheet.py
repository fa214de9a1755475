"""What the shopper changes while the sheet is open, and what the shop makes of it."""

from selenium.webdriver.support.ui import Select

from claims import claim


def first_card(shopper):
    sheet = shopper.find("dialog", "Apple Pay")
    card = shopper.until(lambda: shopper.find("combobox", "Card", sheet), "the sheet has no choice of card")
    return Select(card).first_selected_option.get_attribute("value")


@claim
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
    shopper.receipt()


@claim
def a_coupon_lowers_the_total_and_a_wrong_one_is_refused(shopper):
    shopper.open_sheet()
    refused = shopper.drive("enterCouponCode('NOSUCHCODE')")
    assert [error["code"] for error in refused["errors"]] == ["couponCodeInvalid"], f"errors: {refused['errors']}"
    taken = shopper.drive("enterCouponCode('LUNCH10')")
    assert not taken["errors"], f"errors: {taken['errors']}"
    assert float(taken["total"]["amount"]) < float(refused["total"]["amount"]), "the total did not sink"
    shopper.drive("approve()")
    shopper.receipt()


@claim
def a_contact_that_is_refused_is_corrected_in_the_same_sheet(shopper):
    sheet = shopper.open_sheet()
    shopper.drive("selectShippingContact('gb-incomplete')")
    refused = shopper.drive("approve()")
    assert refused["state"] == "active" and refused["status"] == 1, f"the sheet ended {refused}"
    fields = [error["contactField"] for error in refused["errors"]]
    assert fields == ["addressLines", "phoneNumber"], f"the sheet asks for {fields}"
    shopper.until(lambda: shopper.find("alert", "", sheet), "the sheet does not say what is wrong")
    assert not shopper.pressable("Pay", sheet), "Pay can be pressed with the refused contact"
    shopper.choose("Deliver to", "gb-london", sheet)
    shopper.press("Pay", sheet)
    shopper.receipt()


@claim
def an_address_without_delivery_is_refused_until_another_is_chosen(shopper):
    sheet = shopper.open_sheet()
    field = shopper.choose("Deliver to", "aq-undeliverable", sheet)
    alert = shopper.until(lambda: shopper.find("alert", "", sheet), "the sheet does not say what is wrong")
    assert "do not serve this address" in alert.text, f"the sheet says {alert.text!r}"
    assert field.get_attribute("aria-invalid") == "true", "the error is not marked as the address's"
    assert not shopper.pressable("Pay", sheet), "Pay can be pressed"
    assert not shopper.find("radio", "Bike", sheet), "the sheet offers ways to an address that is not served"
    seen = shopper.script("return applePaySandbox.sheet")
    assert seen["total"]["type"] == "pending", f"the sheet shows the total {seen['total']}"
    answer = shopper.browser.execute_async_script(
        "const done = arguments[0]; applePaySandbox.approve().then(() => done('paid'), (error) => done(String(error)))")
    assert "Choose another address" in answer, f"a test that pays all the same gets {answer!r}"
    shopper.choose("Deliver to", "de-berlin", sheet)
    shopper.press("Pay", sheet)
    shopper.receipt()


@claim
def a_dish_that_is_not_available_there_is_reported_and_not_charged(shopper):
    shopper.fill(fish=1, oysters=1)
    shopper.open("/basket")
    sheet = shopper.open_sheet()
    before = shopper.drive("selectShippingContact('gb-london')")
    after = shopper.drive("selectShippingContact('de-berlin')")
    assert "Six oysters (not available there)" in [item["label"] for item in after["lineItems"]], after["lineItems"]
    assert "Six oysters (not available there)" in sheet.text, "the sheet does not say so"
    goods = [sum(float(item["amount"]) for item in sheet["lineItems"][:2]) for sheet in (before, after)]
    assert goods == [30.9, 12.9], f"the dishes cost {goods}"
    shopper.drive("approve()")
    shopper.receipt()
    shopper.sees("Not delivered to your address, and not charged: Six oysters")


@claim
def an_order_of_nothing_that_can_be_had_there_is_refused_until_the_address_changes_back(shopper):
    shopper.fill(oysters=1)
    shopper.open("/basket")
    sheet = shopper.open_sheet()
    shopper.choose("Deliver to", "de-berlin", sheet)
    shopper.until(lambda: shopper.find("alert", "", sheet), "the sheet does not say what is wrong")
    assert not shopper.pressable("Pay", sheet), "Pay can be pressed"
    shopper.choose("Deliver to", "gb-london", sheet)
    shopper.press("Pay", sheet)
    shopper.receipt()


@claim
def a_collection_costs_no_delivery(shopper):
    shopper.fill(service="collection", crab=1)
    shopper.open("/basket")
    shopper.open_sheet()
    result = shopper.drive("approve()")
    assert result["total"]["amount"] == "11.50", f"the total is {result['total']}"
    shopper.receipt()
    assert shopper.fact("service") == "Collection"
