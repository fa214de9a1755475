"""What the kit checks of an address before it asks the server, by the rules that came with the basket."""

from claims import claim
from fakeserver import BASKET, fake_server, problem
from kit_availability import log, wait_for_state
from kit_buttons import button
from kit_estimates import show

FIELD = {"code": "shippingContactInvalid", "contactField": "postalCode", "message": "This postal code is wrong."}
TOWN = {**FIELD, "contactField": "locality", "message": "Enter the town."}
ITEMS = [{"label": "Soup", "amount": "12.50"}]
RULES = [
    {"countryCode": "DE", "whole": ".", "error": TOWN},
    {"countryCode": "DE", "whole": "^(?:[0-9]{5})?$|[^A-Z0-9]", "shown": "^[0-9]{0,5}$|[^A-Z0-9]", "error": FIELD},
]
SHOWN = {**BASKET, "addressRules": RULES, "request": {**BASKET["request"], "lineItems": ITEMS}}
UPDATE = {"quoteId": "q2", "update": {"newTotal": {"label": "Trattoria", "amount": "15.00"}, "newLineItems": []}}


def opened(shopper, shop):
    shopper.browser.get(shop.origin)
    wait_for_state(shopper, "buy")
    button(shopper).click()


def chosen(shopper, number, contact):
    """What the sheet is told of a contact, `number` of those that were chosen."""
    shopper.script("device.session.onshippingcontactselected({ shippingContact: arguments[0] });", contact)
    shopper.until(lambda: log(shopper).count("complete ShippingContactSelection") == number, "the sheet got no answer")
    return shopper.script("""
        const { errors, ...update } = device.answer;
        return { ...update, errors: errors.map((error) => ({ ...error, isApples: error instanceof ApplePayError })) };""")


@claim(page=None)
def a_postal_code_of_no_form_of_its_country_is_marked_without_a_call(shopper):
    with fake_server(answers={"GET basket/B": SHOWN, "POST basket/B/update": UPDATE}) as shop:
        opened(shopper, shop)
        wrong = chosen(shopper, 1, {"countryCode": "DE", "locality": "Berlin", "postalCode": "1011A"})
        assert wrong == {"newTotal": BASKET["request"]["total"], "newLineItems": ITEMS,
                         "errors": [{**FIELD, "isApples": True}]}, wrong
        assert not shop.asked("POST basket/B/update"), "it asked the server all the same"
        # Redacted, spaced, in other letters, of a country without rules, without a code: the server decides.
        known = [("DE", "101"), ("DE", "10 115"), ("DE", "１０１１５"), ("AQ", "?"), ("DE", "")]
        for number, (country, code) in enumerate(known):
            right = chosen(shopper, number + 2, {"countryCode": country, "postalCode": code})
            assert right == {**UPDATE["update"], "errors": []}, f"{country} {code}: {right}"
            assert shop.asked("POST basket/B/update") == number + 1, f"{country} {code} was not asked about"
        again = chosen(shopper, 7, {"countryCode": "DE", "postalCode": "X"})
        assert again["newTotal"]["amount"] == "15.00", f"the sheet goes back to {again}"
        assert shopper.script("return document.querySelector('tender-apple-pay').checkout.quoteId") == "q2"


@claim(page=None)
def an_address_without_its_parts_is_marked_at_the_payment_and_pays_once_it_has_them(shopper):
    with fake_server(answers={"GET basket/B": SHOWN}) as shop:
        opened(shopper, shop)
        pay = "device.session.onpaymentauthorized({ payment: { token: {}, shippingContact: arguments[0] } });"
        shopper.script(pay, {"countryCode": "DE", "postalCode": "1011"})
        shopper.until(lambda: "complete Payment" in log(shopper), "the sheet got no answer")
        answer = shopper.script("return device.answer")
        assert answer == {"status": 1, "errors": [TOWN, FIELD]}, f"the sheet got {answer}"
        assert not shop.asked("POST payment"), "it asked the server all the same"
        shopper.script(pay, {"countryCode": "DE", "postalCode": "10115", "locality": "Berlin"})
        shopper.until(lambda: "page authorized captured" in log(shopper), "the corrected address does not pay")
        assert shop.asked("POST payment") == 1


@claim(page=None)
def an_address_that_the_kit_takes_and_the_server_does_not_is_marked_all_the_same(shopper):
    refusal = problem(422, "contact_incomplete", errors=[TOWN])
    with fake_server(answers={"GET basket/B": SHOWN, "POST payment": refusal}) as shop:
        opened(shopper, shop)
        shopper.script("""device.session.onpaymentauthorized({ payment: { token: {},
            shippingContact: { countryCode: "AT", postalCode: "1" } } });""")
        shopper.until(lambda: "complete Payment" in log(shopper), "the sheet got no answer")
        assert shopper.script("return device.answer") == {"status": 1, "errors": [TOWN]}


# Of each country a whole code, one that the sheet may show, and one of no form.
CODES = {"GB": ("EC1A 1BB", "EC1A", "ZZ99 9ZZ"), "DE": ("10115", "101", "1011A"), "US": ("22201-0042", "22201", "2220A"),
         "CA": ("K1A 0B1", "K1A", "KK1"), "BN": ("1234", "BS", "12345B"), "LV": ("LV-1010", "LV", "10100")}


@claim(page=None)
def the_servers_rules_are_read_by_the_browser(shopper):
    zones = [{"id": country, "countryCode": country} for country in CODES]
    methods = [{"identifier": "bike", "label": "Bike", "detail": "", "amount": 250}]
    show(shopper, serviceTypes=["delivery"], zones=zones, shippingMethods=methods, contactFields=["postalAddress"])
    shopper.until(lambda: shopper.script("return document.querySelector('tender-apple-pay').checkout?.isReady"),
                  "the basket is not ready")
    rules = shopper.script("return document.querySelector('tender-apple-pay').checkout.shown.addressRules")
    assert {rule["countryCode"] for rule in rules} == set(CODES), f"the rules are {rules}"
    for country, codes in CODES.items():
        fits = shopper.script("""
            const [rules, codes] = arguments;
            return codes.map((code) => rules.map((pattern) => new RegExp(pattern, "i").test(code.replace(/[\\s-]/g, ""))));
            """, [rule[form] for rule in rules for form in ("whole", "shown")
                  if rule["countryCode"] == country and "shown" in rule], codes)
        assert [fits[0], fits[1][1:], fits[2]] == [[True, True], [True], [False, False]], f"{country}: {fits}"
