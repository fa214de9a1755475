"""Why there is a button, and why there is none."""

import time

from claims import claim
from fakeserver import BASKET, METADATA, problem, fake_server

WHY = """
    const { explainAvailability, isSupportedForCheckout, isSupportedByDevice } = await import("/applepay/tender.js");
    const options = { basket: "B", appleScript: document.querySelector("tender-apple-pay")?.getAttribute("apple-script") };
    const reasons = await explainAvailability(options);
    return { reasons, forCheckout: await isSupportedForCheckout(options), byDevice: isSupportedByDevice() };
    """
# What is wrong, how it comes about, the reasons, and a word of the first one's sentence.
REASONS = [
    ("an insecure page", {"device": {"isInsecure": True}}, ["insecure_page"], "https"),
    ("a policy against payments", {"headers": {"Permissions-Policy": "payment=()"}}, ["payment_not_permitted"],
     "Permissions-Policy"),
    ("a shop without Apple Pay", {"answers": {"GET metadata": {**METADATA, "enabled": False}}}, ["disabled"],
     "switched off"),
    ("the simulated session where money is real", {"device": {"hasSandbox": True}}, ["simulated_session"], "Remove"),
    ("a browser without Apple Pay", {"device": {"isAbsent": True}}, ["no_apple_pay"], "Apple's script"),
    ("a web view", {"device": {"isAbsent": True, "isWebView": True}}, ["no_apple_pay"], "SFSafariViewController"),
    ("an old browser", {"device": {"version": 11}}, ["version_too_old"], "too old"),
    ("a device that may not pay", {"device": {"canPay": False}}, ["device_cannot_pay"], "device"),
    ("a device of which Apple says no", {"device": {"credentials": "applePayUnsupported"}}, ["device_cannot_pay"],
     "device"),
    ("no card", {"device": {"credentials": "paymentCredentialsUnavailable"}}, ["no_active_card"], "add one"),
    ("an unknown basket", {"answers": {"GET basket/B": problem(404, "basket_unknown")}}, ["basket_unknown"], "server"),
    ("an old basket", {"answers": {"GET basket/B": problem(410, "basket_expired")}}, ["basket_expired"], "server"),
    ("an unregistered origin",
     {"answers": {call: problem(403, "origin_not_registered") for call in ("GET metadata", "GET basket/B")}},
     ["origin_not_registered"], "not available here"),
    ("a frame in a page that is not the merchant's",
     {"answers": {"GET metadata": problem(403, "top_origin_not_registered")}}, ["top_origin_not_registered"],
     "not available here"),
    ("a frame in a page that the browser hides", {"answers": {"GET metadata": problem(403, "top_origin_unknown")}},
     ["top_origin_unknown"], "not available here"),
    ("several things at once",
     {"device": {"version": 11, "isInsecure": True}}, ["insecure_page", "version_too_old"], "https"),
    ("several things at once, the shop among them",
     {"device": {"isInsecure": True}, "answers": {"GET metadata": {**METADATA, "enabled": False}}},
     ["insecure_page", "disabled"], "https"),
    ("a basket and a card at once",
     {"device": {"credentials": "paymentCredentialsUnavailable"},
      "answers": {"GET basket/B": problem(410, "basket_expired")}}, ["basket_expired", "no_active_card"], "server"),
    ("nothing", {}, [], ""),
    ("a third-party browser, of which Apple knows nothing",
     {"device": {"credentials": "paymentCredentialStatusUnknown"}}, [], ""),
]


@claim(page=None)
def every_reason_why_there_is_no_button_is_reported_in_its_order(shopper):
    wrong = []
    for what, page, codes, word in REASONS:
        with fake_server(**page) as shop:
            shopper.browser.get(shop.origin)
            answer = shopper.script(WHY)
            found = [reason["code"] for reason in answer["reasons"]]
            sentences = [reason["detail"] for reason in answer["reasons"]]
            if found != codes or (codes and word not in sentences[0]) or answer["forCheckout"] != (not codes):
                wrong.append((what, answer))
    shopper.browser_errors()  # the browser also logs a policy against payments
    assert not wrong, f"otherwise than expected: {wrong}"


@claim(page=None)
def a_device_is_checked_without_a_server(shopper):
    for device, expected in (({}, True), ({"canPay": False}, False), ({"version": 11}, False), ({"version": 12}, True), ({"isAbsent": True}, False)):
        with fake_server(device=device) as shop:
            shopper.browser.get(shop.origin)
            assert shopper.script(WHY)["byDevice"] is expected, f"of {device} it says otherwise"


@claim(page=None)
def a_server_that_is_gone_is_a_reason_and_its_return_brings_the_button(shopper):
    with fake_server(changes={"const CALL_WITHIN = 10_000;": "const CALL_WITHIN = 5_000;"}) as shop:
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "buy")
        shop.hold()
        shopper.script('document.querySelector("tender-apple-pay").setAttribute("basket", "C")')
        wait_for_state(shopper, "hidden")
        assert shopper.script("return device.reported.reasons[0].code") == "connection_lost"
        shop.answers["GET basket/C"] = BASKET
        shop.flows.set()
        wait_for_state(shopper, "buy")
        shop.answers["GET basket/D"] = problem(410, "basket_expired")
        shopper.script('document.querySelector("tender-apple-pay").setAttribute("basket", "D")')
        wait_for_state(shopper, "hidden")
        time.sleep(6)
        assert shop.asked("GET basket/D") == 1, "it asks again about a basket that will not come back"


@claim(page=None)
def an_empty_basket_attribute_is_no_basket(shopper):
    with fake_server(body='<tender-apple-pay basket=""></tender-apple-pay>') as shop:
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "buy")
        shopper.browser.find_element("css selector", "apple-pay-button").click()
        assert shopper.script("return device.reported.reasons[0].code") == "no_basket", log(shopper)


@claim(page=None)
def an_unregistered_origin_is_a_short_word_to_the_shopper_and_a_remedy_in_the_console(shopper):
    refusal = problem(403, "origin_not_registered")
    with fake_server(answers={"GET metadata": refusal, "GET basket/B": refusal}) as shop:
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "hidden")
        assert shopper.script("return device.reported.reasons[0].detail") == "Apple Pay is not available here."
        said = [entry["message"] for entry in shopper.browser.get_log("browser") if entry["level"] == "WARNING"]
        assert any("The server says origin_not_registered." in message for message in said), f"the console has {said}"


@claim(page=None)
def apples_script_is_loaded_where_the_page_wants_it_and_nowhere_else(shopper):
    script = "device.arrive();"
    body = '<tender-apple-pay basket="B" apple-script="/apple.js"></tender-apple-pay>'
    with fake_server(body=body, device={"isAbsent": True}) as shop:
        shop.files["/apple.js"] = script
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "buy")
        assert shopper.script("return document.querySelector('apple-pay-button').getAttribute('type')") == "buy"
        assert shopper.script("return document.querySelector('script[src$=\"apple.js\"]').crossOrigin") == "anonymous"
    with fake_server(body=body) as shop:  # the browser has its own
        shop.files["/apple.js"] = script
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "buy")
        assert shopper.script("return document.querySelectorAll('script').length") == 2, "a script was loaded"
    with fake_server(body=body, device={"isAbsent": True}) as shop:  # and there is no such file
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "hidden")
        assert shopper.script("return device.reported.reasons[0].code") == "script_not_loaded"


@claim(page=None)
def a_frame_needs_the_permission_of_the_page_around_it(shopper):
    for permission, state in (("", "hidden"), ('allow="payment"', "buy")):
        with fake_server() as inner:
            frame = inner.origin.replace("localhost", "127.0.0.1")
            with fake_server(body=f'<iframe {permission} title="Pay" src="{frame}/" width="400" height="200"></iframe>') as outer:
                shopper.browser.get(outer.origin)
                shopper.browser.switch_to.frame(0)
                wait_for_state(shopper, state)
                if state == "hidden":
                    reason = shopper.script("return device.reported.reasons[0]")
                    assert reason["code"] == "payment_not_permitted", f"the reason is {reason}"
                    assert 'allow="payment"' in reason["detail"], f"the advice is {reason['detail']}"
                else:
                    shopper.browser.find_element("css selector", "apple-pay-button").click()
                    shopper.until(lambda: "begin" in log(shopper), "the sheet does not open in a frame")
                shopper.browser.switch_to.default_content()


@claim(page=None)
def an_engine_that_refuses_a_frame_is_believed(shopper):
    with fake_server(device={"refusesFrames": True}) as inner:
        with fake_server(body=f'<iframe allow="payment" title="Pay" src="{inner.origin}/"></iframe>') as outer:
            shopper.browser.get(outer.origin)
            shopper.browser.switch_to.frame(0)
            wait_for_state(shopper, "hidden")
            assert shopper.script("return device.reported.reasons[0].code") == "payment_not_permitted"
            shopper.browser.switch_to.default_content()


def log(shopper):
    return shopper.script("return device.log")


def wait_for_state(shopper, state):
    shopper.until(
        lambda: shopper.script("return document.querySelector('tender-apple-pay')?.getAttribute('state')") == state,
        f"the button does not become “{state}”")
