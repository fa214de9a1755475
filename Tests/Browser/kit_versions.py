"""Browsers whose Apple Pay is older than what the server asks for: the sheet opens with the newest version that both
know, and with what that version understands."""

from claims import claim
from kit_availability import log, wait_for_state
from kit_buttons import button
from fakeserver import BASKET, fake_server

PLAIN = {**BASKET["request"], "lineItems": [{"label": "Soup", "amount": "12.50"}]}
WHOLE = {**PLAIN, "supportedNetworks": ["visa", "elo", "girocard", "dankort", "bancontact"], "supportsCouponCode": True}
BILLING = {"label": "Box", "amount": "9.00", "paymentTiming": "recurring"}
AGREEMENTS = {
    "recurringPaymentRequest": {
        "paymentDescription": "Box", "managementURL": "https://example.com", "regularBilling": BILLING},
    "automaticReloadPaymentRequest": {"paymentDescription": "Card"}, "deferredPaymentRequest": {"paymentDescription": "Room"},
    "multiTokenContexts": [{"merchantName": "M"}],
}
# By the browser's version: the version of the session, and the networks that are asked for.
VERSIONS = {
    12: ["visa", "elo", "girocard"], 13: ["visa", "elo", "girocard", "dankort"], 14: WHOLE["supportedNetworks"],
    16: WHOLE["supportedNetworks"],
}


def asked(shopper, version, request, wanted=14):
    """What a browser of this version is asked to show, by the server's request; nothing where there is no button."""
    basket = {**BASKET, "applePayVersion": wanted, "request": request}
    with fake_server(device={"version": version}, answers={"GET basket/B": basket}) as shop:
        shopper.browser.get(shop.origin)
        shopper.until(lambda: shopper.script(
            "return ['buy', 'hidden'].includes(document.querySelector('tender-apple-pay').getAttribute('state'))"),
            "the button does not make up its mind")
        if not shopper.script("return document.querySelector('tender-apple-pay').childElementCount"):
            return None, shopper.script("return device.reported.reasons")
        button(shopper).click()
        shopper.until(lambda: "begin" in log(shopper), f"no sheet opens: {log(shopper)}")
        session = next(line for line in log(shopper) if line.startswith("session"))
        return int(session.split()[1]), shopper.script("return device.request")


@claim(page=None)
def an_older_browser_is_asked_for_what_it_understands(shopper):
    for version, networks in VERSIONS.items():
        used, request = asked(shopper, version, WHOLE)
        assert used == min(version, 14), f"with {version}, version {used} is used"
        assert request == {**WHOLE, "supportedNetworks": networks}, f"with {version}, the sheet gets {request}"


@claim(page=None)
def a_server_that_asks_for_less_gets_less(shopper):
    used, request = asked(shopper, 14, WHOLE, wanted=12)
    assert (used, request) == (12, WHOLE), f"version {used} is used for {request}"


@claim(page=None)
def what_the_shopper_agrees_to_is_never_left_out(shopper):
    for member, agreement in AGREEMENTS.items():
        request = {**PLAIN, member: agreement}
        assert asked(shopper, 14, request) == (14, request), f"{member} does not reach the sheet"
        used, reasons = asked(shopper, 13, request)
        assert used is None and reasons[0]["code"] == "version_too_old", f"{member} with 13: {used}, {reasons}"
        assert "too old" in reasons[0]["detail"], reasons


@claim(page=None)
def a_network_unknown_to_the_browser_is_left_out_and_one_known_to_it_is_asked_for_whether_the_server_knows_it_or_not(shopper):
    """WebKit refuses a whole request for one network that it does not know: "is not a valid payment network.\""""
    request = {**PLAIN, "supportedNetworks": ["visa", "bankAxept", "neuCard"]}
    basket = {**BASKET, "request": request}
    for refused, networks in ((["neuCard"], ["visa"]), (["bankAxept"], ["visa"]), ([], request["supportedNetworks"])):
        with fake_server(device={"refuses": refused}, answers={"GET basket/B": basket}) as shop:
            shopper.browser.get(shop.origin)
            wait_for_state(shopper, "buy")
            button(shopper).click()
            shopper.until(lambda: "begin" in log(shopper), f"no sheet opens: {log(shopper)}")
            shown = shopper.script("return device.request")
            assert shown == {**request, "supportedNetworks": networks}, f"without {refused} the sheet gets {shown}"
    used, older = asked(shopper, 13, request)
    assert (used, older["supportedNetworks"]) == (13, ["visa"]), older


@claim(page=None)
def a_merchant_all_of_whose_networks_are_too_young_has_no_button_there(shopper):
    request = {**PLAIN, "supportedNetworks": ["bancontact", "bancomat"]}
    used, reasons = asked(shopper, 13, request)
    assert used is None and [reason["code"] for reason in reasons] == ["version_too_old"], reasons
    assert asked(shopper, 14, request)[0] == 14


@claim(page=None)
def details_that_change_are_fitted_as_well(shopper):
    answers = {"PUT basket/B/details": {**BASKET, "quoteId": "q2", "request": WHOLE}}
    with fake_server(device={"version": 12}, answers=answers) as shop:
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "buy")
        shown = shopper.script("""
            const { checkout } = document.querySelector("tender-apple-pay");
            await checkout.setDetails({ serviceType: "collection" });
            return checkout.shown;""")
        assert shown["quoteId"] == "q2" and shown["applePayVersion"] == 12, shown
        assert shown["request"] == {**WHOLE, "supportedNetworks": VERSIONS[12]}, shown


@claim(page=None)
def a_basket_is_paid_with_an_older_version(shopper):
    for version, service in ((13, "delivery"), (12, "collection")):
        script = shopper.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {
            "source": f"window.applePaySandboxDevice = {{ newestVersion: {version} }};"})
        shopper.fill(service=service, crab=1)
        shopper.open("/basket")
        sheet = shopper.open_sheet()
        shopper.until(lambda: shopper.pressable("Pay", sheet), "the sheet did not become ready")
        omitted = [entry["message"] for entry in shopper.browser.get_log("browser") if "ApplePayPaymentRequest." in entry["message"]]
        assert not omitted, f"the sheet leaves out members of the request: {omitted}"
        shopper.press("Pay", sheet)
        shopper.receipt()
        shopper.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
