"""Agreements: what the sheet shows beyond the payment, and that the merchant's server charges the card again."""

from claims import claim
from kit_estimates import hold, server, show
from shopper import DESKTOP, PHONE

TERMS = {"description": "Vegetable box", "managementURL": "https://harbour.example/box", "billingAgreement": "Until you end it."}


def begun(shopper, reference):
    """The agreement that the order's payment began."""
    status, page = server(shopper).signed("GET", "agreements?limit=20")
    assert status == 200, f"agreements are answered {status}: {page}"
    found = [one for one in page["agreements"] if one["merchantReference"] == reference]
    assert len(found) == 1, f"{reference} has {len(found)} agreements"
    status, agreement = server(shopper).signed("GET", f"agreements/{found[0]['id']}")
    assert status == 200, f"the agreement is answered {status}: {agreement}"
    return agreement


def charge(shopper, agreement, amount, kind, period=None):
    return server(shopper).signed(
        "POST", f"payments/{agreement['paymentId']}/subsequent",
        {"order": {"amountOfMoney": {"amount": amount, "currencyCode": "EUR"}},
         "subsequentcardPaymentMethodSpecificInput": {"subsequentType": kind, **({} if period is None else {"period": period})}})


@claim(page=None)
def a_subscription_is_shown_on_the_sheet_and_begins_with_the_payment(shopper):
    monthly = {"label": "Every month", "amount": 1_290, "interval": {"unit": "month"}}
    basket, reference = show(
        shopper, items=[{"id": "box", "label": "Vegetable box", "unitAmount": 1_290}],
        agreement={**TERMS, "timeZone": "Europe/Dublin", "recurring": {"regular": monthly}})
    sheet = shopper.open_sheet()
    for text in ("Vegetable box", "Every month", "every month", "Until you end it.", "€12.90"):
        assert text in sheet.text, f"the sheet shows {sheet.text!r}"
    shopper.press("Pay", sheet)
    shopper.sees("Thank you. Your order is ")
    payment, = shopper.demo.payments(basket)
    assert payment["status"] == "captured", payment
    agreement = begun(shopper, reference)
    assert (agreement["status"], agreement["hasMerchantToken"]) == ("active", False), agreement
    assert [(one["period"], one["status"]) for one in agreement["charges"]] == [(0, "captured")], agreement
    assert agreement["next"]["number"] == 1 and agreement["next"]["amount"] == 1_290, agreement
    status, answer = charge(shopper, agreement, 1_290, "Recurring")
    assert status == 409 and answer["errors"][0]["id"] == "AGREEMENT_PERIOD_CHARGED", f"{status}: {answer}"
    assert hold(shopper, reference) == (1_290, 1_290)


@claim(page=None)
def a_reload_of_a_card_with_a_merchant_token_is_charged_again_without_the_shopper(shopper):
    reload = {"label": "Top-up", "amount": 2_000, "threshold": 500}
    _, reference = show(
        shopper, items=[{"id": "card", "label": "Gift card", "unitAmount": 2_000}],
        agreement={**TERMS, "automaticReload": reload})
    sheet = shopper.open_sheet()
    assert "Top-up" in sheet.text and "below €5.00" in sheet.text, f"the sheet shows {sheet.text!r}"
    shopper.choose("Card", "visa-credit", sheet)
    shopper.press("Pay", sheet)
    shopper.sees("Thank you. Your order is ")
    agreement = begun(shopper, reference)
    assert agreement["hasMerchantToken"] is True, agreement
    for number in (1, 2):
        status, answer = charge(shopper, agreement, 2_000, "Unscheduled", number)
        assert status == 201 and answer["payment"]["status"] == "CAPTURED", f"charge {number} is answered {status}: {answer}"
    charges = begun(shopper, reference)["charges"]
    assert [(one["period"], one["status"]) for one in charges] == [(0, "captured"), (1, "captured"), (2, "captured")], charges


@claim(page=None)
def a_later_payment_of_a_visa_without_a_merchant_token_is_declined(shopper):
    _, reference = show(
        shopper, items=[{"id": "card", "label": "Gift card", "unitAmount": 2_000}],
        agreement={**TERMS, "automaticReload": {"label": "Top-up", "amount": 2_000, "threshold": 500}})
    shopper.press("Pay", shopper.open_sheet())
    shopper.sees("Thank you. Your order is ")
    agreement = begun(shopper, reference)
    assert agreement["hasMerchantToken"] is False, agreement
    status, answer = charge(shopper, agreement, 2_000, "Unscheduled")
    assert status == 402 and answer["paymentResult"]["payment"]["status"] == "REJECTED", f"{status}: {answer}"


@claim(page=None)
def a_card_that_is_replaced_and_then_removed_in_the_wallet_is_shown_and_ends_the_agreement(shopper):
    _, reference = show(
        shopper, items=[{"id": "card", "label": "Gift card", "unitAmount": 2_000}],
        agreement={**TERMS, "automaticReload": {"label": "Top-up", "amount": 2_000, "threshold": 500}})
    sheet = shopper.open_sheet()
    shopper.choose("Card", "amex-credit", sheet)
    shopper.press("Pay", sheet)
    shopper.sees("Thank you. Your order is ")
    agreement = begun(shopper, reference)
    assert agreement["hasMerchantToken"] is True, agreement

    shopper.browser.get(shopper.demo.sandbox + "/agreements")
    shopper.sees("Vegetable box")
    newest = shopper.browser.find_element("css selector", "#agreements li")
    shopper.press("Replace card", newest)
    shopper.sees("Card replaced.")
    told = shopper.until(lambda: begun(shopper, reference).get("merchantToken"), "Apple’s news did not arrive")
    assert told["cardName"] == "American Express" and told["cardSuffix"] in newest.text, told
    for size in (PHONE, DESKTOP):
        for scheme in ("light", "dark"):
            shopper.look(size, scheme)
            shopper.picture(f"wallet-agreement-{size[0]}-{scheme}", whole=True)
    shopper.press("Remove card", newest)
    shopper.sees("Ended by the user")
    shopper.until(lambda: begun(shopper, reference)["status"] == "ended", "the agreement has not ended")
    status, answer = charge(shopper, agreement, 2_000, "Unscheduled")
    assert status == 409 and answer["errors"][0]["id"] == "AGREEMENT_NOT_ACTIVE", f"{status}: {answer}"
