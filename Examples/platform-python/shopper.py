"""The shopper of the example: the page and the device, which in a real shop are Safari and an iPhone."""
import json, urllib.request


def call(method, url, document=None, headers=None):
    body = None if document is None else json.dumps(document).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json", **(headers or {})}, method=method)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def token(port, amount, card="visa-debit", **more):
    """A payment token of the simulated device, encrypted to the demo's merchant: Apple's `paymentData`."""
    recipient = more or {"publicKeyOf": "merchant.test.harbour"}
    answer = call("POST", f"http://localhost:{port + 2}/device/tokens",
                  {"cardId": card, "amount": amount, "currency": "EUR", **recipient})
    return answer["paymentData"]


def pays_basket(server, port, basket):
    """As the web kit does: the request, a merchant session, the token, the payment."""
    page = {"Origin": f"http://localhost:{port + 1}"}
    shown = call("GET", f"{server}/applepay/basket/{basket}", headers=page)
    session = call("POST", f"{server}/applepay/validate", {"basketId": basket}, page)
    request = shown["request"]
    paid = call("POST", f"http://localhost:{port + 2}/device/tokens", {
        "cardId": "visa-debit", "merchantSession": session, "amount": request["total"]["amount"],
        "currency": request["currencyCode"], "applicationData": request["applicationData"]})
    contact = {"givenName": "Aoife", "familyName": "Byrne", "phoneNumber": "+353 1 555 0100",
               "emailAddress": "aoife@example.com"}
    return call("POST", f"{server}/applepay/payment", {
        "basketId": basket, "quoteId": shown["quoteId"], "token": paid, "shippingContact": contact}, page)
