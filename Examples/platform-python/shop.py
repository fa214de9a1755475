"""A shop's back end on Worldline Direct's own library, against Tender: shop.py

Puts a basket, lets a shopper pay it and checks the guest token; takes a payment token through the library, verifies the
webhook, captures a part and refunds some of it. docs/platform.md explains each step.
"""
import base64, email.utils, hashlib, hmac, http.server, json, os, pathlib, queue, secrets, threading, time, urllib.request

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from onlinepayments.sdk.authentication.authorization_type import AuthorizationType
from onlinepayments.sdk.call_context import CallContext
from onlinepayments.sdk.communication.request_header import RequestHeader
from onlinepayments.sdk.communicator_configuration import CommunicatorConfiguration
from onlinepayments.sdk.declined_payment_exception import DeclinedPaymentException
from onlinepayments.sdk.domain.capture_payment_request import CapturePaymentRequest
from onlinepayments.sdk.domain.create_payment_request import CreatePaymentRequest
from onlinepayments.sdk.domain.refund_request import RefundRequest
from onlinepayments.sdk.factory import Factory
from onlinepayments.sdk.json.default_marshaller import DefaultMarshaller
from onlinepayments.sdk.webhooks.in_memory_secret_key_store import InMemorySecretKeyStore
from onlinepayments.sdk.webhooks.webhooks_helper import WebhooksHelper

PORT = int(os.environ.get("SHOP_TENDER_PORT", "8400"))
SERVER = os.environ.get("SHOP_TENDER_URL", f"http://localhost:{PORT}").removesuffix("/")
MERCHANT = os.environ.get("SHOP_MERCHANT", "harbour")
FOLDER = pathlib.Path(os.environ.get("SHOP_MERCHANT_FOLDER", f".tender/demo-{PORT}/merchants/{MERCHANT}"))


def secret(kind):
    """The newest key of a kind, `<id>.secret` in the merchant's folder: its id and its text."""
    file = sorted((FOLDER / kind).glob("*.secret"))[-1]
    return file.stem, file.read_text(encoding="utf-8").strip()


KEY_ID, SECRET = secret("api-keys")

# Worldline Direct's library, unmodified: only the host is another.
client = Factory.create_client_from_configuration(CommunicatorConfiguration(
    api_endpoint=SERVER, api_key_id=KEY_ID, secret_api_key=SECRET, authorization_type=AuthorizationType.V1HMAC,
    connect_timeout=5, socket_timeout=30, max_connections=10, integrator="Harbour Kitchen")).merchant(MERCHANT)


def made(kind, body):
    return DefaultMarshaller.instance().unmarshal(json.dumps(body), kind)


def signed(method, path, document=None):
    """A call that the library does not know: baskets, search, events."""
    body, date, target = document and json.dumps(document).encode(), email.utils.formatdate(usegmt=True), f"/v2/{MERCHANT}{path}"
    kind = "application/json" if body else ""
    text = f"{method}\n{kind}\n{date}\n{target}\n".encode()
    mac = base64.b64encode(hmac.new(SECRET.encode(), text, hashlib.sha256).digest()).decode()
    headers = {"Date": date, "Authorization": f"GCS v1HMAC:{KEY_ID}:{mac}"} | ({"Content-Type": kind} if kind else {})
    try:
        with urllib.request.urlopen(urllib.request.Request(SERVER + target, body, headers, method=method), timeout=10) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:  # its body says why
        raise RuntimeError(f"{error.code} {error.read().decode()}") from None


# 1. A basket, which a page of the shop shows with <tender-apple-pay basket="…">.
def put_basket(reference, amount):
    name = secrets.token_hex(16)
    signed("PUT", f"/baskets/{name}", {
        "currencyCode": "EUR", "countryCode": "IE", "merchantReference": reference, "businessName": "Harbour Kitchen",
        "serviceTypes": ["collection"], "items": [{"id": "1", "label": "Fish", "unitAmount": amount, "quantity": 1}]})
    return name


# 2. What the page hands over after a guest has paid, checked with the server's published keys.
def checked_guest(token):
    head, claims, signature = (base64.urlsafe_b64decode(part + "==") for part in token.split("."))
    keys = json.load(urllib.request.urlopen(SERVER + "/applepay/jwks.json", timeout=10))["keys"]
    key = next(key for key in keys if key["kid"] == json.loads(head)["kid"])
    x, y = (int.from_bytes(base64.urlsafe_b64decode(key[part] + "=="), "big") for part in "xy")
    numbers = utils.encode_dss_signature(int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))
    public = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
    public.verify(numbers, token.rpartition(".")[0].encode(), ec.ECDSA(hashes.SHA256()))
    claims = json.loads(claims)
    if claims["exp"] < time.time():
        raise ValueError("the guest token has expired")
    return claims


# 3. A payment token that the shop's own page or app posted, `event.payment.token.paymentData`.
def pay(reference, amount, payment_data, webhook):
    request = made(CreatePaymentRequest, {
        "order": {"amountOfMoney": {"amount": amount, "currencyCode": "EUR"},
                  "references": {"merchantReference": reference}},
        "feedbacks": {"webhooksUrls": [webhook]},
        "mobilePaymentMethodSpecificInput": {
            "paymentProductId": 302, "authorizationMode": "PRE_AUTHORIZATION", "requiresApproval": True,
            "encryptedPaymentData": json.dumps(payment_data)}})
    try:
        return client.payments().create_payment(request, CallContext(f"pay-{reference}")).payment
    except DeclinedPaymentException as refusal:
        return refusal.create_payment_response.payment


def capture(payment, amount):
    body = made(CapturePaymentRequest, {"amount": amount, "isFinal": True})
    return client.payments().capture_payment(payment, body, CallContext(f"capture-{payment}"[:40]))


def refund(payment, amount):
    body = made(RefundRequest, {"amountOfMoney": {"amount": amount, "currencyCode": "EUR"}})
    return client.payments().refund_payment(payment, body, CallContext(f"refund-{payment}"[:40]))


# 4. The shop's endpoint for webhooks. The helper refuses what Tender did not sign.
class Webhooks(http.server.BaseHTTPRequestHandler):
    events = queue.Queue()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        keys = InMemorySecretKeyStore.instance()
        keys.store_secret_key(*secret("webhook-keys"))
        headers = [RequestHeader(name, value) for name, value in self.headers.items()]
        try:
            self.events.put(WebhooksHelper(DefaultMarshaller.instance(), keys).unmarshal(body, headers))
        except Exception as error:  # not signed by Tender, or no event
            print("webhook refused:", error)
            return self.send_error(403)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *words):
        pass


def main():
    import shopper  # who plays the page and the device

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Webhooks)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("connection:", client.services().test_connection().result)

    basket = put_basket("HK-1001", 1990)
    guest = checked_guest(shopper.pays_basket(SERVER, PORT, basket)["guestToken"])
    print("basket paid: order", guest["sub"], "of guest", guest["guest"])
    print("order:", signed("GET", f"/baskets/{basket}")["order"]["status"])

    reference = f"HK-{secrets.token_hex(4)}"
    paid = pay(reference, 2500, shopper.token(PORT, "25.00"), f"http://127.0.0.1:{server.server_port}/")
    print("payment:", paid.id, paid.status)
    event = next(event for event in iter(lambda: Webhooks.events.get(timeout=20), None) if event.payment.id == paid.id)
    print("webhook:", event.type)
    print("capture:", capture(paid.id, 2000).status)
    print("refund:", refund(paid.id, 500).status)
    left = client.payments().get_payment(paid.id).payment_output.acquired_amount
    print("kept:", left.amount, left.currency_code)
    declined = pay(f"{reference}-2", 2500, shopper.token(PORT, "25.00", card="visa-insufficient-funds"), "http://127.0.0.1/")
    print("declined:", declined.status, declined.status_output.errors[0].error_code)


if __name__ == "__main__":
    main()
