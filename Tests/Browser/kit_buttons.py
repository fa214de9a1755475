"""The elements: their states, what a press does, what they put into the page."""

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

from claims import claim
from kit_availability import log, wait_for_state
from fakeserver import BASKET, METADATA, PAID, problem, fake_server

POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'"
SHOWN = BASKET["request"]
UPDATE = {
    "quoteId": "q2",
    "update": {
        "newTotal": {"label": "Trattoria", "amount": "15.00"}, "newLineItems": [{"label": "Bike", "amount": "2.50"}],
        "newShippingMethods": [{
            "identifier": "bike", "label": "Bike", "detail": "Tomorrow", "amount": "2.50",
            "dateComponentsRange": {"startDateComponents": {"years": 2026, "months": 11, "days": 22, "hours": 18},
                                    "endDateComponents": {"years": 2026, "months": 11, "days": 22, "hours": 20}}}],
        "errors": [{"code": "shippingContactInvalid", "contactField": "postalCode", "message": "No such place."}]},
}


def button(shopper):
    return shopper.browser.find_element(By.CSS_SELECTOR, "tender-apple-pay > *")


@claim(page=None)
def the_session_is_created_in_the_click_whatever_the_page_does(shopper):
    with fake_server() as shop:
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "buy")
        shop.hold()  # nothing is fetched any more
        shopper.script("""
            document.addEventListener("tender:pressed", async () => { await fetch("/applepay/metadata"); });
            document.addEventListener("click", async () => { await new Promise((resolve) => setTimeout(resolve, 50)); });
            device.log.length = 0;
            """)
        button(shopper).click()
        shopper.until(lambda: "click ends" in log(shopper), "there was no click")
        assert log(shopper) == [
            "click begins", "page pressed", "session 14 12.50 in the gesture", "begin", "click ends"], log(shopper)


@claim(page=None)
def a_double_click_opens_one_sheet(shopper):
    with fake_server() as shop:
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "buy")
        ActionChains(shopper.browser).double_click(button(shopper)).perform()
        button(shopper).click()
        assert [line for line in log(shopper) if line.startswith("session")] == ["session 14 12.50 in the gesture"]


@claim(page=None)
def a_page_that_has_something_to_ask_first_prevents_the_sheet(shopper):
    with fake_server() as shop:
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "buy")
        shopper.script("document.addEventListener('tender:pressed', (event) => event.preventDefault(), { once: true });")
        button(shopper).click()
        assert "begin" not in log(shopper), "the sheet opened"
        button(shopper).click()
        assert "begin" in log(shopper), "the sheet did not open the second time"


@claim(page=None)
def a_strict_policy_is_kept(shopper):
    with fake_server(headers={"Content-Security-Policy": POLICY}) as shop:
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "buy")
        shopper.until(lambda: button(shopper).value_of_css_property("display") == "block", "the style sheet did not come")
        button(shopper).click()
        assert "begin" in log(shopper), "the sheet did not open"
        assert not [line for line in log(shopper) if "violation" in line], f"the policy was broken: {log(shopper)}"


@claim(page=None)
def a_policy_of_nonces_needs_one_for_the_module_alone(shopper):
    policy = POLICY.replace("script-src 'self'", "script-src 'nonce-r4nd0m' 'strict-dynamic'")
    metadata = {**METADATA, "environment": "simulated", "simulatedSession": "/wallet.js"}
    with fake_server(headers={"Content-Security-Policy": policy}, device={"isAbsent": True},
              answers={"GET metadata": metadata}) as shop:
        shop.files["/"] = shop.files["/"].replace("<script ", '<script nonce="r4nd0m" ')
        shop.files["/wallet.js"] = "window.applePaySandbox = {}; device.arrive();"
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "buy")
        button(shopper).click()
        assert "begin" in log(shopper), "the sheet did not open"
        assert not [line for line in log(shopper) if "violation" in line], f"the policy was broken: {log(shopper)}"


@claim(page=None)
def without_a_card_the_button_sets_apple_pay_up_and_then_pays(shopper):
    with fake_server(device={"credentials": "paymentCredentialsUnavailable"}) as shop:
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "set-up")
        assert button(shopper).get_attribute("type") == "set-up", "the button does not say so"
        assert log(shopper)[-1] == "page ready set-up", log(shopper)
        assert shopper.script("return device.reported.isDefaultMethod") is False, "it is the first choice without a card"
        button(shopper).click()
        wait_for_state(shopper, "buy")
        assert "set-up merchant.test.trattoria true" in log(shopper), "it was not opened in the gesture"
        assert shopper.script("return device.reported.isDefaultMethod") is True, "it is not the first choice with a card"


@claim(page=None)
def a_wallet_without_a_credential_status_is_one_method_among_others(shopper):
    with fake_server(device={"credentials": "paymentCredentialStatusUnknown"}) as shop:
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "buy")
        assert shopper.script("return device.reported.isDefaultMethod") is False


@claim(page=None)
def a_hidden_button_is_empty_and_the_mark_goes_with_it(shopper):
    body = '<tender-apple-pay basket="B"></tender-apple-pay><ul><li><tender-apple-pay-mark></tender-apple-pay-mark></ul>'
    for device, state, text in (({}, "buy", "Apple Pay"), ({"canPay": False}, "hidden", "")):
        with fake_server(body=body, device=device) as shop:
            shopper.browser.get(shop.origin)
            wait_for_state(shopper, state)
            mark = shopper.browser.find_element(By.TAG_NAME, "tender-apple-pay-mark")
            shopper.until(lambda: mark.get_attribute("state") == state, "the mark does not know")
            assert mark.text == text, f"the mark says “{mark.text}”"
            children = shopper.script("return document.querySelector('tender-apple-pay').childElementCount")
            assert children == (1 if state == "buy" else 0), f"there are {children} buttons"


@claim(page=None)
def buttons_of_one_page_share_their_calls_and_keep_their_own_style(shopper):
    body = """<tender-apple-pay basket="B" type="check-out" button-style="white" locale="de"></tender-apple-pay>
        <tender-apple-pay basket="B"></tender-apple-pay>"""
    with fake_server(body=body) as shop:
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "buy")
        shopper.until(lambda: len(shopper.browser.find_elements(By.TAG_NAME, "apple-pay-button")) == 2, "one is missing")
        assert shop.asked("GET metadata") == 1, f"it asked {shop.asked('GET metadata')} times who the merchant is"
        worn = {name: button(shopper).get_attribute(name) for name in ("type", "buttonstyle", "locale")}
        assert worn == {"type": "check-out", "buttonstyle": "white", "locale": "de"}, worn
        shopper.script("document.querySelector('tender-apple-pay').setAttribute('type', 'donate')")
        assert button(shopper).get_attribute("type") == "donate", "it does not change its clothes"


@claim(page=None)
def a_browser_that_draws_apples_button_draws_it(shopper):
    body = '<tender-apple-pay basket="B" type="check-out" button-style="white" locale="de-AT"></tender-apple-pay>'
    with fake_server(body=body, device={"drawsButtons": True}, headers={"Content-Security-Policy": POLICY}) as shop:
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "buy")
        drawn = shopper.wait_for("button", "Check out with Apple Pay")
        worn = [drawn.get_attribute(name) for name in ("class", "lang", "data-type", "data-style", "textContent")]
        assert worn == ["tender-apple-pay tender-native", "de-AT", "check-out", "white", ""], worn
        drawn.click()
        assert "begin" in log(shopper) and not [line for line in log(shopper) if "violation" in line], log(shopper)


@claim(page=None)
def the_simulated_button_has_a_name_and_says_what_it_is(shopper):
    metadata = {**METADATA, "environment": "simulated", "simulatedSession": "/wallet.js"}
    body = """<tender-apple-pay basket="B" type="check-out" apple-script></tender-apple-pay>
        <tender-apple-pay-mark></tender-apple-pay-mark>"""
    with fake_server(body=body, device={"isAbsent": True}, answers={"GET metadata": metadata}) as shop:
        shop.files["/wallet.js"] = "window.applePaySandbox = {}; device.arrive();"
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "buy")
        drawn = shopper.wait_for("button", "Check out with Apple Pay")
        shopper.until(lambda: drawn.size["height"] >= 44, "the button is too low to be hit")
        assert "Simulated" in drawn.text, f"it says “{drawn.text}”"
        sources = shopper.script("return [...document.scripts].map(({ src }) => new URL(src).pathname)")
        assert sources == ["/device.js", "/applepay/tender.js", "/wallet.js"], f"it loaded {sources}"


@claim(page=None)
def icons_and_tags_stand_in_the_page_before_a_sheet_can_open(shopper):
    with fake_server() as shop:
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "buy")
        head = shopper.script("return [...document.head.querySelectorAll('link, meta')].map((tag) => tag.outerHTML)")
        for tag in (f'<link rel="apple-touch-icon" sizes="180x180" href="{shop.origin}/icons/touch-180.png">',
                    '<meta property="product:payment_method" content="ApplePay">',
                    '<meta name="payment-country-code" content="IE">',
                    '<meta name="payment-currency-code" content="EUR">'):
            assert head.count(tag) == 1, f"{tag} is not there once: {head}"


@claim(page=None)
def what_the_server_answers_to_a_choice_is_shown_whole(shopper):
    with fake_server(answers={"POST basket/B/update": UPDATE}) as shop:
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "buy")
        button(shopper).click()
        shopper.script("device.session.onshippingcontactselected({ shippingContact: { postalCode: 'XX' } });")
        shopper.until(lambda: "complete ShippingContactSelection" in log(shopper), "the sheet got no answer")
        answer = shopper.script("return { ...device.answer, named: device.answer.errors[0].constructor.name }")
        assert answer.pop("named") == "ApplePayError", "the error is none of Apple's"
        assert answer == UPDATE["update"], f"the sheet got {answer}"


@claim(page=None)
def a_page_that_was_left_during_a_payment_reports_the_outcome(shopper):
    answers = {"GET basket/B": problem(409, "basket_placed"), "GET payment/B": (202, {**PAID, "status": "unknown"})}
    with fake_server(answers=answers, changes={"LONGEST_PAUSE = 4_000": "LONGEST_PAUSE = 200"}) as shop:
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "unknown")
        shopper.until(lambda: log(shopper)[-1] == "page failed outcome_unknown", "the page does not receive outcome_unknown")
        shop.answers["GET payment/B"] = PAID
        wait_for_state(shopper, "paid")
        assert shopper.script("return device.reported.orderId") == "o1"
        assert shopper.script("return document.querySelector('tender-apple-pay').childElementCount") == 0


@claim(page=None)
def the_back_button_finds_the_basket_as_it_is(shopper):
    with fake_server() as shop:
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "buy")
        shop.answers |= {"GET basket/B": problem(409, "basket_placed"), "GET payment/B": PAID}
        shopper.script("window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
        wait_for_state(shopper, "paid")
        assert "page authorized captured" in log(shopper), log(shopper)
