"""The platform's own payment page in the demo: a market stall without a page sends its shoppers there."""

import base64
import email.utils
import hashlib
import hmac
import json
import urllib.parse
import urllib.request

from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from shopper import PATIENCE

STALL = "/stall"


def enter(shopper, ware="chowder", language="en-IE", minutes=180):
    """The shopper chooses something at the stall, whose server makes a checkout. Gives the checkout's id."""
    shopper.open(STALL)
    shopper.browser.find_element(By.CSS_SELECTOR, f"input[value={ware}]").click()
    Select(shopper.browser.find_element(By.ID, "language")).select_by_value(language)
    Select(shopper.browser.find_element(By.ID, "minutes")).select_by_value(str(minutes))
    shopper.press("Go to payment")
    shopper.until(lambda: "/hosted/" in shopper.browser.current_url, "the stall leads to no payment page")
    return checkout_id(shopper)


def create(demo, merchant):
    """The backend of a merchant makes a checkout, by a call that it signs (v1HMAC). Gives the checkout's id."""
    key = next((demo.home / f".tender/demo-{demo.port}/merchants/{merchant}/api-keys").glob("*.secret"))
    path, date = f"/v2/{merchant}/hostedcheckouts", email.utils.formatdate(usegmt=True)
    body = json.dumps({
        "order": {"amountOfMoney": {"amount": 1450, "currencyCode": "EUR"}, "references": {"merchantReference": "F-1"}},
        "hostedCheckoutSpecificInput": {"locale": "en_IE", "returnUrl": f"{demo.shop}/page"},
        "mobilePaymentMethodSpecificInput": {"authorizationMode": "SALE", "paymentProductId": 302}}).encode()
    text = f"POST\napplication/json\n{date}\n{path}\n".encode()
    code = hmac.new(key.read_text(encoding="utf-8").strip().encode(), text, hashlib.sha256).digest()
    request = urllib.request.Request(f"http://127.0.0.1:{demo.port}{path}", data=body, headers={
        "Host": f"localhost:{demo.port}", "Content-Type": "application/json", "Date": date,
        "Authorization": f"GCS v1HMAC:{key.stem}:{base64.b64encode(code).decode()}"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.loads(answer.read())["hostedCheckoutId"]


def checkout_id(shopper):
    return shopper.path().split("/")[2]


def button(shopper):
    """The Apple Pay button, once it can be pressed."""

    def ready():
        return shopper.browser.execute_async_script(
            """
            const done = arguments[arguments.length - 1];
            Promise.resolve(document.querySelector("tender-apple-pay")?.prepared).then((is) => done(Boolean(is)));
            """
        ) and shopper.find("button", "Apple Pay")

    return shopper.until(ready, "the page shows no Apple Pay button")


def open_sheet(shopper):
    button(shopper).click()
    return shopper.until(lambda: shopper.find("dialog", "Apple Pay"), "no sheet opened")


def pay(shopper):
    sheet = open_sheet(shopper)
    shopper.until(lambda: shopper.pressable("Pay", sheet), "the sheet is not ready")
    shopper.press("Pay", sheet)
    result(shopper, "paid")


def decline(shopper):
    open_sheet(shopper)
    shopper.drive("decline()")
    shopper.until(lambda: not shopper.find("dialog", "Apple Pay"), "the sheet stays open")


def result(shopper, kind):
    shopper.until(
        lambda: shopper.browser.find_elements(By.CSS_SELECTOR, f"[data-result={kind}]"), f"the page is not {kind}")


def goes_back(shopper):
    """Follows the way back; gives status and category as the stall's server got them."""
    shopper.until(lambda: shopper.path() == STALL + "/return", "the shopper is not back at the stall")
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(shopper.browser.current_url).query)
    assert set(query) == {"RETURNMAC", "hostedCheckoutId"}, f"the browser brings {query}"
    return shopper.fact("status"), shopper.fact("category")


def paid_once(shopper, checkout):
    """The journal and the acquirer's ledger agree that the checkout was paid once."""
    payments = shopper.demo.payments(checkout)
    taken = [payment for payment in payments if payment["captured"] > 0]
    assert len(taken) == 1, f"paid {len(taken)} times: {payments}"
    return taken[0]


def not_paid(shopper, checkout):
    taken = [payment for payment in shopper.demo.payments(checkout) if payment["captured"] > 0]
    assert not taken, f"the checkout was paid: {taken}"
