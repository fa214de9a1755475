#!/usr/bin/env python3
"""Worldline Direct's own Python libraries against Tender's platform API: verify.py TENDER

Both libraries, of today (10.3.0) and of 2021 (1.10.0), are unmodified; only the host is another. They pay with Apple Pay
in every form, capture, cancel, refund, repeat, are refused, look up, and check the signatures of the events, against
`tender-sandbox demo`. What the merchant's journal says is compared with the acquirer's own ledger. RACES says how many calls of a
kind come at once (16); from 64 the times of refusals are compared too. The examples and `tender-sandbox pay --platform` run against the same servers.
"""
import base64
import concurrent.futures
import configparser
import contextlib
import http.server
import json
import os
import pathlib
import queue
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import uuid

from ingenico.direct.sdk import call_context as old_context
from ingenico.direct.sdk import communicator_configuration as old_configuration
from ingenico.direct.sdk import declined_payment_exception as old_declined
from ingenico.direct.sdk import factory as old_factory
from ingenico.direct.sdk import idempotence_exception as old_idempotence
from ingenico.direct.sdk import reference_exception as old_reference
from ingenico.direct.sdk import validation_exception as old_validation
from ingenico.direct.sdk.defaultimpl.default_marshaller import DefaultMarshaller as OldMarshaller
from ingenico.direct.sdk.domain import capture_payment_request as old_capture
from ingenico.direct.sdk.domain import create_payment_request as old_create
from ingenico.direct.sdk.domain import refund_request as old_refund
from ingenico.direct.sdk.merchant.products.get_payment_product_params import \
    GetPaymentProductParams as OldProductParams
from onlinepayments.sdk.api_exception import ApiException
from onlinepayments.sdk.authentication.authorization_type import AuthorizationType
from onlinepayments.sdk.authorization_exception import AuthorizationException
from onlinepayments.sdk.call_context import CallContext
from onlinepayments.sdk.communication.request_header import RequestHeader
from onlinepayments.sdk.communicator_configuration import CommunicatorConfiguration
from onlinepayments.sdk.declined_payment_exception import DeclinedPaymentException
from onlinepayments.sdk.domain.cancel_payment_request import CancelPaymentRequest
from onlinepayments.sdk.domain.capture_payment_request import CapturePaymentRequest
from onlinepayments.sdk.domain.create_payment_request import CreatePaymentRequest
from onlinepayments.sdk.domain.create_token_request import CreateTokenRequest
from onlinepayments.sdk.domain.payment_product_session_request import PaymentProductSessionRequest
from onlinepayments.sdk.domain.refund_request import RefundRequest
from onlinepayments.sdk.domain.send_test_request import SendTestRequest
from onlinepayments.sdk.domain.subsequent_payment_request import SubsequentPaymentRequest
from onlinepayments.sdk.domain.validate_credentials_request import ValidateCredentialsRequest
from onlinepayments.sdk.factory import Factory
from onlinepayments.sdk.json.default_marshaller import DefaultMarshaller
from onlinepayments.sdk.merchant.products.get_payment_product_networks_params import GetPaymentProductNetworksParams
from onlinepayments.sdk.merchant.products.get_payment_product_params import GetPaymentProductParams
from onlinepayments.sdk.merchant.products.get_payment_products_params import GetPaymentProductsParams
from onlinepayments.sdk.platform_exception import PlatformException
from onlinepayments.sdk.reference_exception import ReferenceException
from onlinepayments.sdk.validation_exception import ValidationException
from onlinepayments.sdk.webhooks.in_memory_secret_key_store import InMemorySecretKeyStore
from onlinepayments.sdk.webhooks.signature_validation_exception import SignatureValidationException
from onlinepayments.sdk.webhooks.webhooks_helper import WebhooksHelper

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "Support"))
import free_ports  # noqa: E402
from demo_server import STILL  # noqa: E402

MERCHANT, OTHER = "harbour", "kitsune"
HOOK_ID, HOOK_SECRET = "platform-judge", "a-secret-of-the-judge-of-the-platform"
DECLINED, GOOD = "visa-insufficient-funds", "visa-debit"


class Failed(Exception):
    pass


def check(claim, holds, detail=""):
    if not holds:
        raise Failed(f"{claim}: {detail}")
    print(f"  {claim}")


def made(kind, body):
    """The library's own object of a body."""
    return DefaultMarshaller.instance().unmarshal(json.dumps(body), kind)


def old_made(kind, body):
    return OldMarshaller.INSTANCE().unmarshal(json.dumps(body), kind)


def get(url, headers=None, body=None):
    request = urllib.request.Request(url, body, {"Content-Type": "application/json", **(headers or {})})
    with urllib.request.urlopen(request, timeout=STILL) as answer:
        return json.loads(answer.read())


class Platform:
    """`tender-sandbox demo` and one merchant of it, as its engineer has it."""

    def __init__(self, tender, home, port):
        self.tender, self.home = tender, pathlib.Path(home)
        self.server, self.sandbox = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{port + 2}"
        self.folder = self.home / f".tender/demo-{port}"
        self.store = self.folder / "tender.db"
        self.port = port

    def key(self, merchant=MERCHANT):
        file = next((self.of(merchant) / "api-keys").glob("*.secret"))
        return file.stem, file.read_text(encoding="utf-8").strip()

    def library(self, merchant=MERCHANT, key=None, secret=None, gzip=False):
        own = self.key()
        configuration = CommunicatorConfiguration(
            api_endpoint=self.server, api_key_id=key or own[0], secret_api_key=secret or own[1],
            authorization_type=AuthorizationType.V1HMAC, connect_timeout=STILL, socket_timeout=STILL, max_connections=64,
            integrator="Tender")
        return Factory.create_client_from_configuration(configuration).merchant(merchant)

    def old_library(self):
        """The library of 2021 is configured by a file alone."""
        key, secret = self.key()
        settings = configparser.ConfigParser()
        settings["DirectSDK"] = {
            "direct.api.endpoint.host": "127.0.0.1", "direct.api.endpoint.scheme": "http",
            "direct.api.endpoint.port": str(self.port), "direct.api.authorizationType": "v1HMAC",
            "direct.api.connectTimeout": str(STILL), "direct.api.socketTimeout": str(STILL), "direct.api.maxConnections": "10",
            "direct.api.integrator": "Tender"}
        configuration = old_configuration.CommunicatorConfiguration(
            settings, api_key_id=key, secret_api_key=secret)
        return old_factory.Factory.create_client_from_configuration(configuration).merchant(MERCHANT)

    def of(self, merchant):
        """The folder of a merchant: declared, or what the demo keeps of one in the store."""
        return next(self.folder.glob(f"**/merchants/{merchant}"))

    def token(self, value=1250, card=GOOD, data=None, merchant=MERCHANT, currency="EUR", **more):
        """A payment token as a device makes it: Apple's `paymentData`."""
        identifier = next(
            line.split(":", 1)[1].strip()
            for line in (self.of(merchant) / "merchant.yaml").read_text().splitlines()
            if line.startswith("merchantIdentifier"))
        body = {"cardId": card, "publicKeyOf": identifier.strip('"'),
                "amount": str(value) if currency == "JPY" else f"{value / 100:.2f}",
                "currency": currency, **more}
        if data is not None:
            body["applicationData"] = base64.b64encode(data.encode()).decode()
        return get(self.sandbox + "/device/tokens", body=json.dumps(body).encode())["paymentData"]

    def decrypted(self, value=1250, card=GOOD):
        """The same, decrypted by the merchant."""
        folder = self.folder / "merchants" / MERCHANT
        certificate = next((folder / "processing").glob("*.pem"))
        root = self.folder / "root.pem"
        if not root.exists():
            root.write_text(get(self.sandbox + "/sandbox/ca.json")["rootPEM"], encoding="utf-8")
        out = subprocess.run(
            [self.tender, "token", "decrypt", "-", "--key", certificate.with_suffix(".key"), "--certificate", certificate,
             "--root", root, "--reveal", "--json"], input=json.dumps(self.token(value, card)), capture_output=True,
            text=True, check=False)
        if out.returncode:
            raise Failed(f"the token cannot be decrypted: {out.stdout} {out.stderr}")
        data = json.loads(out.stdout)["paymentData"]
        date = data["applicationExpirationDate"]
        return {"dpan": data["applicationPrimaryAccountNumber"], "expiryDate": date[2:4] + date[0:2],
                "cryptogram": data["paymentData"]["onlinePaymentCryptogram"], "cardholderName": "A. Byrne",
                "eci": data["paymentData"].get("eciIndicator", "7")}

    def hold(self, reference):
        """What the acquirer's own ledger has of an order."""
        key = get(self.sandbox + "/sandbox/ca.json")["acquirerKey"]
        ledger = get(self.sandbox + "/acquirer/v1/authorizations?limit=500", {"Authorization": f"Bearer {key}"})
        return [hold for hold in ledger["authorizations"] if hold["merchantReference"] == reference]

    def journal(self, payment):
        out = subprocess.run(
            [self.tender, "payment", "show", payment, "--json", "--store", self.store], capture_output=True, text=True,
            check=False)
        if out.returncode:
            raise Failed(f"the journal has no payment {payment}: {out.stderr}")
        shown = json.loads(out.stdout)
        return shown.get("payment", shown) if isinstance(shown.get("payment"), dict) else shown


    def reload(self):
        out = subprocess.run([self.tender, "reload", "--store", self.store], capture_output=True, text=True, check=False)
        if out.returncode:
            raise Failed(f"tender reload: {out.stderr}")

    def misbehave(self, fault):
        """The sandbox's next call of the kind fails."""
        request = urllib.request.Request(self.sandbox + "/sandbox/misbehave", json.dumps({"next": fault}).encode(),
                                         {"Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=STILL).close()

    def is_running(self, reference):
        """Whether an acquirer is being asked for the order."""
        status, _, answer = raw(self, "GET", f"/payments?merchantReference={reference}")
        return status == 200 and bool(answer["payments"])


def wait_for(what, holds):
    deadline = time.monotonic() + STILL
    while not holds():
        if time.monotonic() > deadline:
            raise Failed(f"{what} did not happen")
        time.sleep(0.05)


def references(name):
    return {"merchantReference": name, "merchantParameters": "tea"}


def body_of(reference, data, value=1250, currency="EUR", **more):
    """A CreatePayment body; `data` is members of mobilePaymentMethodSpecificInput."""
    order = more.pop("order", {})
    extra = {key: more.pop(key) for key in ("feedbacks",) if key in more}
    return {"order": {"amountOfMoney": {"amount": value, "currencyCode": currency}, "references": references(reference),
                      **order},
            "mobilePaymentMethodSpecificInput": {
                "paymentProductId": 302, "authorizationMode": "PRE_AUTHORIZATION", "requiresApproval": True, **data,
                **more}, **extra}


def whole(token):
    return {"encryptedPaymentData": json.dumps(token)}


def parts(token):
    return {"encryptedPaymentData": token["data"], "ephemeralKey": token["header"]["ephemeralPublicKey"],
            "publicKeyHash": token["header"]["publicKeyHash"]}


def fresh():
    return f"J-{uuid.uuid4().hex[:20]}"


def key():
    return CallContext(uuid.uuid4().hex)


def capture(value=None, reference="C", final=False):
    return made(CapturePaymentRequest, {"amount": value, "isFinal": final,
                                        "operationReferences": {"merchantReference": reference}})


def refund(value, reference="R"):
    return made(RefundRequest, {"amountOfMoney": {"amount": value, "currencyCode": "EUR"},
                                "operationReferences": {"merchantReference": reference}})


def cancel(value):
    return made(CancelPaymentRequest, {"amountOfMoney": {"amount": value, "currencyCode": "EUR"}})


def refused(claim, error, call, holds=lambda refusal: True):
    try:
        answer = call()
    except error as refusal:
        check(claim, holds(refusal), getattr(refusal, "response_body", refusal))
        return refusal
    raise Failed(f"{claim}: {answer.to_dictionary() if answer else answer}")


class Shop:
    """Pays under a key of its own for each call, so that no two calls of one second are one."""

    def __init__(self, platform):
        self.platform, self.library = platform, platform.library()
        self.pay = self.library.payments()

    def create(self, reference=None, data=None, context=None, **more):
        value = more.get("value", 1250)
        data = data or whole(self.platform.token(value))
        return self.pay.create_payment(made(CreatePaymentRequest, body_of(reference or fresh(), data, **more)),
                                       context or key())

    def held(self, value=1250, reference=None):
        return self.create(reference, value=value).payment


class BaseServer:
    """A server of the merchant's on a free port."""

    def serve(self, handler):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"


class Receiver(BaseServer):
    """A merchant's endpoint, whose events the library's helper verifies."""

    def __init__(self):
        arrived = self.arrived = queue.Queue()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                arrived.put((body, list(self.headers.items())))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *words):
                pass

        self.serve(Handler)
        self.url += "/events"
        keys = InMemorySecretKeyStore.instance()
        keys.store_secret_key(HOOK_ID, HOOK_SECRET)
        self.helper, self.events = WebhooksHelper(DefaultMarshaller.instance(), keys), []

    def wait(self, kind, name=None):
        deadline = time.monotonic() + STILL
        while time.monotonic() < deadline:
            for event in self.events:
                if event.type == kind and (name is None or event.payment.id == name):
                    return event
            with contextlib.suppress(queue.Empty):
                body, headers = self.arrived.get(timeout=1)
                headers = [RequestHeader(header, value) for header, value in headers]
                self.events.append(self.helper.unmarshal(body, headers))
                try:
                    self.helper.unmarshal(body + b" ", headers)
                    raise Failed("the helper believes an event that was altered")
                except SignatureValidationException:
                    pass
        raise Failed(f"no event {kind} of {name}: {[(event.type, event.payment and event.payment.id) for event in self.events]}")


def verify_forms(platform, shop):
    """Apple Pay data in every form."""
    check("tests the connection", shop.library.services().test_connection().result == "OK")
    name = fresh()
    answer = shop.create(name, whole(platform.token()))
    paid = answer.payment
    output = paid.payment_output
    check("takes a whole payment token as text", (paid.status, paid.status_output.status_code) == ("PENDING_CAPTURE", 5)
          and paid.status_output.is_authorized and paid.status_output.is_cancellable
          and output.references.merchant_reference == name and output.references.merchant_parameters == "tea"
          and output.amount_of_money.amount == 1250 and output.acquired_amount.amount == 0
          and output.mobile_payment_method_specific_output.payment_data.dpan.endswith("0012")
          and output.mobile_payment_method_specific_output.payment_product_id == 302
          and answer.merchant_action is None, paid.to_dictionary())
    check("the acquirer holds as much", [hold["authorized"] for hold in platform.hold(name)] == [1250])
    data = body_of(fresh(), {"encryptedPaymentData": platform.token()})
    check("takes a whole payment token as an object", raw(platform, "POST", "/payments", data)[0] == 201)
    for words, eci in (("a number", 7), ("a text of one digit", "7"), ("a text of two digits", "07")):
        name, card = fresh(), platform.decrypted()
        body = body_of(name, {"decryptedPaymentData": {**card, "eci": eci}})
        status, _, answer = raw(platform, "POST", "/payments", body)
        check(f"takes decrypted data, the eci {words}", status == 201
              and answer["payment"]["tender"]["notVerified"] == ["signature", "signingTime", "applicationData", "amount"],
              answer)
        again = raw(platform, "POST", "/payments", body_of(fresh(), {"decryptedPaymentData": card}))
        check("refuses the same number and cryptogram a second time", again[0] == 400
              and again[2]["errors"][0]["id"] == "TOKEN_REUSED", again)
    token = platform.token()
    status, _, answer = raw(platform, "POST", "/payments", body_of(fresh(), parts(token)))
    check("takes encrypted data without its signature, and says what was not verified", status == 201
          and answer["payment"]["tender"]["notVerified"] == ["signature", "signingTime", "applicationData"], answer)
    again = raw(platform, "POST", "/payments", body_of(fresh(), whole(token)))
    check("refuses the whole of it afterwards", again[0] == 400 and again[2]["errors"][0]["id"] == "TOKEN_REUSED", again)
    name = fresh()
    check("takes application data that is the order's reference",
          shop.create(name, whole(platform.token(data=name))).payment.status == "PENDING_CAPTURE")
    refused("refuses application data that is another's", ValidationException,
            lambda: shop.create(fresh(), whole(platform.token(data="another"))),
            lambda refusal: refusal.errors[0].id == "APPLICATION_DATA_MISMATCH")
    refused("refuses a token for another amount", ValidationException,
            lambda: shop.create(fresh(), whole(platform.token(1300))),
            lambda refusal: refusal.errors[0].id == "AMOUNT_MISMATCH")
    for words, token in (("another merchant's token", platform.token(merchant=OTHER)),):
        refused(f"refuses {words}", ValidationException, lambda: shop.create(fresh(), whole(token)))
    packed = platform.library().payments()
    check("takes a compressed body", packed.create_payment(
        made(CreatePaymentRequest, body_of(fresh(), whole(platform.token()))),
        CallContext(uuid.uuid4().hex, gzip=True)).payment.status == "PENDING_CAPTURE")


def raw(platform, method, path, body=None, headers=None, merchant=MERCHANT, own=None):
    """A call that the library does not know, signed by a few lines of our own."""
    import email.utils
    import hashlib
    import hmac
    key_id, secret = own or platform.key()
    target = f"/v2/{merchant}{path}"
    data = None if body is None else json.dumps(body).encode()
    date = email.utils.formatdate(usegmt=True)
    kind = "" if data is None else "application/json"
    gcs = {"x-gcs-idempotence-key": uuid.uuid4().hex, **(headers or {})}
    lines = "".join(f"{name}:{gcs[name]}\n" for name in sorted(gcs))
    text = f"{method}\n{kind}\n{date}\n{lines}{target}\n"
    mac = base64.b64encode(hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest()).decode()
    sent = {"Date": date, "Authorization": f"GCS v1HMAC:{key_id}:{mac}", **gcs}
    if kind:
        sent["Content-Type"] = kind
    request = urllib.request.Request(platform.server + target, data, sent, method=method)
    try:
        with urllib.request.urlopen(request, timeout=STILL) as answer:
            text = answer.read()
            return answer.status, answer.headers, json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        text = error.read()
        return error.code, error.headers, json.loads(text) if text.startswith(b"{") else text


# Members of the library's models that an Apple Pay payment here does not have, see docs/platform.md.
ABSENT = {
    "card_payment_method_specific_output", "card_refund_method_specific_output", "customer", "direct_batch", "discount",
    "e_wallet_refund_method_specific_output", "errors", "fraud_results", "hosted_checkout_specific_output",
    "merchant_comment", "merchant_reconciliation_reference", "operation_group_reference", "operation_output",
    "payment_link", "payout", "redirect_payment_method_specific_output", "redirect_refund_method_specific_output",
    "sepa_direct_debit_payment_method_specific_output", "session_details", "soft_descriptor",
    "structured_creditor_reference", "surcharge_specific_output", "three_d_secure_results", "token",
}


def absent(model, path=""):
    """Members of the library's model, and of the models in it, that an answer or event should have and has not."""
    found = []
    for name in sorted(name for name, kind in vars(type(model)).items() if isinstance(kind, property)):
        value = getattr(model, name)
        if value is None and name not in ABSENT and (path + name).split(".")[-2:] != ["refund_output", "amount_paid"]:
            found.append(path + name)
        elif hasattr(value, "to_dictionary"):
            found += absent(value, f"{path}{name}.")
    return found


def verify_payments(platform, shop, receiver):
    pay = shop.pay
    order = {"customer": {
        "contactDetails": {"emailAddress": "aoife@example.com", "phoneNumber": "+353 1 555 0100"},
        "personalInformation": {"name": {"firstName": "Aoife", "surname": "Byrne", "title": "Dr."}},
        "billingAddress": {"street": "Main Street", "houseNumber": "1", "city": "Cork", "zip": "T12", "countryCode": "IE"}},
        "shipping": {"address": {"name": {"firstName": "Sean"}, "street": "Quay 2", "city": "Cork", "countryCode": "IE"}}}
    name = fresh()
    first = shop.create(name, order=order, feedbacks={"webhooksUrls": [receiver.url + "/extra"]}).payment
    number = first.id.split("_")[0]
    check("names a payment <payment>_0", first.id == f"{number}_0", first.id)
    event = receiver.wait("payment.pending_capture", first.id)
    check("an event tells the authorization", event.payment.payment_output.amount_of_money.amount == 1250)
    part = pay.capture_payment(first.id, capture(500, "C1"), key())
    check("captures a part", (part.id, part.status, part.status_output.status_code) == (f"{number}_1", "CAPTURED", 9)
          and part.capture_output.amount_of_money.amount == 500
          and part.capture_output.operation_references.merchant_reference == "C1", part.to_dictionary())
    pay.capture_payment(first.id, capture(300, "C2"), key())
    check("cancels a part of what is left",
          pay.cancel_payment(first.id, cancel(250), key()).payment.operation_output.amount_of_money.amount == 250)
    last = pay.capture_payment(first.id, capture(100, "C3", final=True), key())
    check("captures for the last time", last.status == "CAPTURED", last.to_dictionary())
    refused("nothing is left after a final capture", ValidationException,
            lambda: pay.capture_payment(first.id, capture(100), key()),
            lambda refusal: refusal.errors[0].message == "ACTION_NOT_ALLOWED_ON_TRANSACTION")
    captures = shop.library.captures().get_captures(first.id).captures
    check("lists captures", [(item.id, item.status, item.capture_output.amount_of_money.amount) for item in captures]
          == [(f"{number}_1", "CAPTURED", 500), (f"{number}_2", "CAPTURED", 300), (f"{number}_4", "CAPTURED", 100)],
          [item.to_dictionary() for item in captures])
    back = pay.refund_payment(first.id, refund(200, "R1"), key())
    check("refunds a part", back.status == "REFUNDED" and back.status_output.status_code == 8
          and back.refund_output.amount_of_money.amount == 200
          and back.refund_output.operation_references.merchant_reference == "R1", back.to_dictionary())
    pay.refund_payment(first.id, refund(50, "R2"), key())
    refunds = shop.library.refunds().get_refunds(first.id).refunds
    check("lists refunds", [item.refund_output.amount_of_money.amount for item in refunds] == [200, 50])
    found = pay.get_payment(first.id)
    check("looks up what is refunded in part, and captured still", (found.id, found.status) == (first.id, "CAPTURED")
          and found.status_output.is_refundable
          and found.payment_output.acquired_amount.amount == 650 and found.payment_output.amount_paid == 650,
          found.to_dictionary())
    details = pay.get_payment_details(first.id)
    check("looks up every operation", [item.id for item in details.operations]
          == [f"{number}_{index}" for index in range(len(details.operations))] and len(details.operations) == 7,
          details.to_dictionary())
    check("knows the payment without its operation", pay.get_payment(number).id == first.id)
    hold = platform.hold(name)[0]
    check("the acquirer's ledger agrees", (hold["captured"], hold["refunded"]) == (900, 250), hold)
    captured, refunded = receiver.wait("payment.captured"), receiver.wait("payment.refunded")
    check("an event about a refund has the refund", refunded.payment is None and refunded.refund.status == "REFUNDED"
          and refunded.refund.refund_output.amount_of_money.amount == 200, refunded.to_dictionary())
    for what, model in (("a look-up", found), ("a capture", captures[0]), ("a refund", refunds[0]), ("an event", event.payment),
                        ("an event about a capture", captured.payment), ("an event about a refund", refunded.refund)):
        check(f"{what} lacks no member that an Apple Pay payment has", not absent(model), absent(model))
    check("an event is signed so that the library's helper believes it, and no altered one", True)

    held = shop.held()
    check("cancels what is left, without a body", pay.cancel_payment(held.id, None, key()).payment.status == "CANCELLED"
          and pay.get_payment(held.id).status_output.status_code == 6)
    receiver.wait("payment.cancelled")
    sale = shop.create(authorizationMode="SALE").payment
    check("sells at once", (sale.status, sale.status_output.status_code) == ("CAPTURED", 9)
          and sale.status_output.is_refundable and sale.id.endswith("_0"), sale.to_dictionary())
    final = shop.create(authorizationMode="FINAL_AUTHORIZATION", requiresApproval=False).payment
    check("captures by itself what needs no approval", final.status == "CAPTURED", final.to_dictionary())
    late = shop.create(autoCapture={"delayInMinutes": 60}).payment
    check("puts a capture off", late.status == "PENDING_CAPTURE", late.to_dictionary())
    answer = raw(platform, "POST", "/payments", body_of(fresh(), whole(platform.token())))
    check("says where the payment is", answer[1]["Location"] == f"/v2/{MERCHANT}/payments/{answer[2]['payment']['id']}")


def verify_repeats(platform, shop):
    reference, name = fresh(), uuid.uuid4().hex
    one, two = CallContext(name), CallContext(name)
    began, first, ended = time.time(), shop.create(reference, context=one).payment, time.time()
    second = shop.create(fresh(), context=two, value=100).payment
    check("gives the first answer to a repeat, whatever its contents", first.id == second.id
          and second.payment_output.amount_of_money.amount == 1250
          and second.payment_output.references.merchant_reference == reference, second.to_dictionary())
    check("a repeat has the time of the first call", one.idempotence_request_timestamp is None
          and began - 1 <= two.idempotence_request_timestamp / 1000 <= ended + 1, two.idempotence_request_timestamp)
    check("and the acquirer one hold", len(platform.hold(reference)) == 1)
    name = uuid.uuid4().hex
    captures = [shop.pay.capture_payment(first.id, capture(value), CallContext(name)) for value in (300, 400)]
    check("a capture is done once for its key", captures[0].id == captures[1].id
          and platform.hold(reference)[0]["captured"] == 300)
    declined = uuid.uuid4().hex
    for words in ("declines a card", "declines it again under its key"):
        refused(words, DeclinedPaymentException,
                lambda: shop.create(fresh(), whole(platform.token(card=DECLINED)), context=CallContext(declined)),
                lambda refusal: refusal.status_code == 402 and refusal.errors[0].error_code == "30511001"
                and refusal.create_payment_response.payment.status == "REJECTED"
                and refusal.create_payment_response.payment.status_output.status_code == 2)


def verify_refusals(platform, shop):
    pay = shop.pay
    for claim, other in (("refuses an unknown key", platform.library(key="x")),
                         ("refuses a wrong secret", platform.library(secret="x")),
                         ("refuses another merchant", platform.library(merchant=OTHER)),
                         ("refuses a merchant that there is not", platform.library(merchant="nobody"))):
        refused(claim, AuthorizationException, lambda: other.services().test_connection(),
                lambda refusal: (refusal.status_code, refusal.errors[0].code) == (403, "9007"))
    texts = {json.dumps({**json.loads(refused(f"a foreign payment is unknown to {call}", ReferenceException, act).response_body),
                         "errorId": ""}, sort_keys=True)
             for call, act in foreign(platform, shop)}
    check("and no different from one that there is not", len(texts) == 1, texts)
    for claim, body, name in (
            ("refuses a payment without an order", {}, "order"),
            ("refuses a currency that is none", body_of("x", {}, currency="EEE"), "order.amountOfMoney.currencyCode"),
            ("refuses an amount below zero", body_of("x", {}, value=-1), "order.amountOfMoney.amount"),
            ("refuses a payment without payment data", body_of("x", {}),
             "mobilePaymentMethodSpecificInput.encryptedPaymentData"),
            ("refuses a reference that is too long", body_of("x" * 41, {}), "order.references.merchantReference"),
            ("refuses another product", body_of("x", {}, paymentProductId=1),
             "mobilePaymentMethodSpecificInput.paymentProductId")):
        refused(claim, ValidationException, lambda: pay.create_payment(made(CreatePaymentRequest, body), key()),
                lambda refusal: refusal.errors[0].property_name == name)
    held = shop.held()
    for claim, call in (("refuses to capture more than is held", lambda: pay.capture_payment(held.id, capture(1251), key())),
                        ("refuses to refund what is not captured", lambda: pay.refund_payment(held.id, refund(1), key()))):
        refused(claim, ValidationException, call,
                lambda refusal: refusal.errors[0].message == "ACTION_NOT_ALLOWED_ON_TRANSACTION")
    pay.cancel_payment(held.id, None, key())
    for claim, call in (("refuses a second cancel", lambda: pay.cancel_payment(held.id, None, key())),
                        ("refuses to capture what is cancelled", lambda: pay.capture_payment(held.id, capture(), key()))):
        refused(claim, ValidationException, call)
    taken = shop.create(authorizationMode="SALE").payment
    refused("refuses to cancel what is captured", ValidationException, lambda: pay.cancel_payment(taken.id, None, key()))
    refused("refuses to refund more than was captured", ValidationException,
            lambda: pay.refund_payment(taken.id, refund(1251), key()))
    refused("refuses another currency", ValidationException, lambda: pay.refund_payment(taken.id, made(
        RefundRequest, {"amountOfMoney": {"amount": 1, "currencyCode": "USD"}}), key()))
    status, _, answer = raw(platform, "POST", "/payments", headers={"x-gcs-idempotence-key": "k" * 41})
    check("refuses a key that is too long", status == 400, answer)
    for path in ("/nothing", "/payments/1/nothing", "/products/840"):
        status, _, answer = raw(platform, "GET", path)
        check(f"answers {path} in Worldline's shape", status in (400, 404) and "errorId" in answer, (status, answer))
    status, _, answer = raw(platform, "DELETE", "/payments")
    check("answers a method that there is not in Worldline's shape", status == 405 and "errorId" in answer, answer)


def foreign(platform, shop):
    """Another merchant's payment, by every call."""
    other = platform.key(OTHER)
    token = platform.token(1250, merchant=OTHER, currency="JPY")
    body = body_of(fresh(), whole(token), value=1250, currency="JPY")
    status, _, answer = raw(platform, "POST", "/payments", body, merchant=OTHER, own=other)
    if status != 201:
        raise Failed(f"the other merchant is not paid: {answer}")
    name, pay = answer["payment"]["id"], shop.pay
    for words, payment in (("a call", name), ("a call of none", "0123456789_0")):
        yield f"{words} that shows", lambda: pay.get_payment(payment)
        yield f"{words} that shows details", lambda: pay.get_payment_details(payment)
        yield f"{words} that captures", lambda: pay.capture_payment(payment, capture(1), key())
        yield f"{words} that cancels", lambda: pay.cancel_payment(payment, None, key())
        yield f"{words} that refunds", lambda: pay.refund_payment(payment, refund(1), key())
        yield f"{words} that lists captures", lambda: shop.library.captures().get_captures(payment)
        yield f"{words} that lists refunds", lambda: shop.library.refunds().get_refunds(payment)


def verify_timing(platform, shop, count):
    """What is another merchant's is refused as fast as what there is not: medians of calls by turns."""
    other = platform.key(OTHER)
    token = platform.token(1250, merchant=OTHER, currency="JPY")
    status, _, answer = raw(platform, "POST", "/payments", body_of(fresh(), whole(token), value=1250, currency="JPY"),
                            merchant=OTHER, own=other)
    if status != 201:
        raise Failed(f"the other merchant is not paid: {answer}")
    wrong = (platform.key()[0], "another secret")
    pairs = (("a foreign payment and none", dict(path=f"/payments/{answer['payment']['id']}"),
              dict(path="/payments/0123456789_0")),
             ("a foreign merchant and none", dict(path="/services/testconnection", merchant=OTHER),
              dict(path="/services/testconnection", merchant="nobody")),
             ("a wrong secret and an unknown key", dict(path="/services/testconnection", own=wrong),
              dict(path="/services/testconnection", own=("unknown", "another secret"))))
    for words, one, two in pairs:
        times = [], []
        for _ in range(count):
            for call, taken in zip((one, two), times):
                begin = time.perf_counter()
                raw(platform, "GET", **call)
                taken.append(time.perf_counter() - begin)
        ratio = statistics.median(times[0]) / statistics.median(times[1])
        check(f"{words} are refused in the same time: ratio of medians {ratio:.2f}", 0.5 < ratio < 2, times)


def asked(params):
    params.country_code, params.currency_code = "IE", "EUR"
    return params


def basket_of(reference, **more):
    return {"currencyCode": "EUR", "countryCode": "IE", "merchantReference": reference, "businessName": "Harbour Kitchen",
            "serviceTypes": ["none"], "items": [{"id": "a", "label": "Fish", "unitAmount": 1250}], **more}


def verify_baskets(platform, shop):
    """A token that the merchant's server hands in for an order with a basket is tied to that basket."""
    def put(reference, **more):
        basket = uuid.uuid4().hex
        status, _, answer = raw(platform, "PUT", f"/baskets/{basket}", basket_of(reference, **more))
        if status != 200:
            raise Failed(f"the basket is refused: {answer}")
        return f"tender:v1:{MERCHANT}:{basket}"

    def refuses(claim, reference, data, identifier, **more):
        refused(claim, ValidationException, lambda: shop.create(reference, data, **more),
                lambda refusal: refusal.errors[0].id == identifier)

    name = fresh()
    data = put(name)
    refuses("an order with a basket demands application data", name, whole(platform.token()), "APPLICATION_DATA_MISSING")
    for words, other in (("the order's reference", name), ("another basket", data + "x")):
        refuses(f"and not that of {words}", name, whole(platform.token(data=other)), "APPLICATION_DATA_MISMATCH")
    refuses("nor a form without application data", name, parts(platform.token(data=data)), "INVALID_VALUE")
    check("its own application data pays", shop.create(name, whole(platform.token(data=data))).payment.status
          == "PENDING_CAPTURE")
    name = fresh()
    data = put(name, capture="manual", pending=True, estimate=5000)
    refuses("a pending total is signed for zero", name, whole(platform.token(5000, data=data)), "AMOUNT_MISMATCH", value=5000)
    refuses("and held up to its estimate", name, whole(platform.token(0, data=data)), "INVALID_VALUE", value=5001)
    ride = shop.create(name, whole(platform.token(0, data=data)), value=5000).payment
    check("the estimate is held", platform.hold(name)[0]["authorized"] == 5000)
    done = shop.pay.capture_payment(ride.id, capture(3150, final=True), key())
    check("and captured for less", done.status == "CAPTURED" and platform.hold(name)[0]["captured"] == 3150)
    refused("and no more afterwards", ValidationException, lambda: shop.pay.capture_payment(ride.id, capture(1), key()))


def verify_agreements(platform, shop):
    """The basket has the terms, so that the library sells, charges and ends an agreement by Worldline's own members."""
    name, basket = fresh(), uuid.uuid4().hex
    status, _, answer = raw(platform, "PUT", f"/baskets/{basket}", basket_of(name, agreement={
        "description": "Fish card", "managementURL": "https://harbour.example/card",
        "automaticReload": {"label": "Top-up", "amount": 1250, "threshold": 500}}))
    check("takes a basket with an agreement", status == 200, answer)
    token = platform.token(card="visa-credit", data=f"tender:v1:{MERCHANT}:{basket}", agreement=True)
    first = shop.create(name, whole(token), paymentProduct302SpecificInput={"isRecurring": True})
    agreement, tokens = first.creation_output.token, shop.library.tokens()
    check("begins the agreement with the payment", first.payment.status == "PENDING_CAPTURE" and len(agreement) == 32,
          first.to_dictionary())
    card = tokens.get_token(agreement).card.data.card_without_cvv
    check("shows its card masked", card.card_number == "************0021", card.to_dictionary())

    def charge(reference, context, kind="Unscheduled"):
        return shop.library.subsequent().subsequent_payment(first.payment.id, made(SubsequentPaymentRequest, {
            "order": {"amountOfMoney": {"amount": 1300, "currencyCode": "EUR"}, "references": references(reference)},
            "subsequentcardPaymentMethodSpecificInput": {"subsequentType": kind}}), context).payment

    for number in (1, 2):
        reference, call = fresh(), uuid.uuid4().hex
        later, again = (charge(reference, CallContext(call)) for _ in range(2))
        check(f"charges reload {number} once, also when asked twice", later.status == "CAPTURED" and later.id == again.id
              and [hold["captured"] for hold in platform.hold(reference)] == [1300], later.to_dictionary())
    refused("refuses a type that the agreement is not", ValidationException, lambda: charge(fresh(), key(), "Recurring"),
            lambda refusal: refusal.errors[0].property_name == "subsequentcardPaymentMethodSpecificInput.subsequentType")
    refused("takes no card number as a token", ValidationException, lambda: tokens.create_token(made(CreateTokenRequest, {
        "paymentProductId": 1, "card": {"data": {"cardWithoutCvv": {"cardNumber": "4761739009000021"}}}})))
    tokens.delete_token(agreement)
    refused("ends the agreement with its token", ReferenceException, lambda: tokens.get_token(agreement))
    refused("and charges it no more", ReferenceException, lambda: charge(fresh(), key()),
            lambda refusal: refusal.errors[0].id == "AGREEMENT_NOT_ACTIVE")


class BasketServer(BaseServer):
    """A merchant's server that is asked for baskets, and misbehaves on demand."""

    def __init__(self):
        self.answer, self.calls = None, []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.calls.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
                with contextlib.suppress(OSError):
                    outer.answer(self)

            def log_message(self, *words):
                pass

        self.serve(Handler)

    def gives(self, body, status=200, **headers):
        def answer(handler):
            handler.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                handler.send_header(name.replace("_", "-"), value)
            handler.end_headers()
            handler.wfile.write(body)
        self.answer = answer

    def stalls(self, body):
        """Sends the head at once and the body a byte a second."""
        def answer(handler):
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            for byte in body:
                handler.wfile.write(bytes([byte]))
                handler.wfile.flush()
                time.sleep(1)
        self.answer = answer


def verify_sources(platform):
    """A basket that a page names is fetched from the merchant's own server."""
    import hashlib
    import hmac
    source = BasketServer()
    settings = platform.folder / "merchants" / MERCHANT / "merchant.yaml"
    settings.write_text(settings.read_text(encoding="utf-8") + f'basketSource: "{source.url}/baskets"\n', encoding="utf-8")
    platform.reload()

    def show(basket):
        request = urllib.request.Request(f"{platform.server}/applepay/basket/{basket}",
                                         headers={"Origin": f"http://localhost:{platform.port + 1}"})
        begin = time.monotonic()
        try:
            with urllib.request.urlopen(request, timeout=STILL) as answer:
                return answer.status, json.loads(answer.read()), time.monotonic() - begin
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())["code"], time.monotonic() - begin

    good, basket = json.dumps(basket_of("PULLED-1")).encode(), uuid.uuid4().hex
    source.gives(good)
    status, answer, _ = show(basket)
    check("a basket is fetched from the merchant's own server", status == 200
          and answer["request"]["total"]["amount"] == "12.50", answer)
    path, headers = source.calls[0]
    secret = next((platform.folder / "merchants" / MERCHANT / "callback-keys").glob("*.secret"))
    digest = headers["x-gcs-content-sha256"]
    text = f"GET\n\n{headers['date']}\nx-gcs-content-sha256:{digest}\n{path}\n"
    mac = hmac.new(secret.read_text(encoding="utf-8").strip().encode(), text.encode(), hashlib.sha256).digest()
    check("by a call that is signed", path == f"/baskets/{basket}"
          and headers["authorization"] == f"GCS v1HMAC:{secret.stem}:{base64.b64encode(mac).decode()}", headers)
    check("and once", show(basket)[0] == 200 and len(source.calls) == 1)
    unavailable, invalid = "basket_source_unavailable", "basket_source_invalid"
    elsewhere = len(source.calls)
    for claim, body, status, headers, code in (
            ("a redirect is not followed", b"", 302, {"Location": source.url + "/elsewhere"}, unavailable),
            ("a huge answer is not read", b" " * 5_000_000 + good, 200, {}, unavailable),
            ("a failing server is named", b"{}", 500, {}, unavailable),
            ("what is no basket is refused", b"<html>", 200, {}, invalid),
            ("a basket against the rules is refused", good.replace(b"1250", b"-1250"), 200, {}, invalid)):
        source.gives(body, status, **headers)
        found = show(uuid.uuid4().hex)
        check(claim, found[:2] == (502, code), found)
    check("each was asked once", len(source.calls) == elsewhere + 5, source.calls)
    source.gives(b"", 404)
    check("a basket that the merchant does not know is unknown", show(uuid.uuid4().hex)[:2] == (404, "basket_unknown"))
    source.stalls(good)
    status, code, seconds = show(uuid.uuid4().hex)
    # Long before its answer has arrived, which takes a second a byte.
    check(f"a slow server is given five seconds: {seconds:.1f} s", (status, code) == (502, unavailable)
          and 4 < seconds < len(good), (code, seconds))


def verify_limited_keys(platform):
    """Keys of a merchant's folder with scopes and an end."""
    folder = platform.folder / "merchants" / MERCHANT
    keys = {"zz-reader": "a-secret-of-a-reader-of-the-judge", "zz-former": "a-secret-that-the-judge-had-once"}
    for name, text in keys.items():
        secret = folder / "api-keys" / f"{name}.secret"
        secret.write_text(text, encoding="utf-8")
        secret.chmod(0o600)
    settings = folder / "merchant.yaml"
    settings.write_text(settings.read_text(encoding="utf-8")
                        + 'apiKeyLimits: ["zz-reader read", "zz-former until=2026-01-31T00:00:00Z"]\n', encoding="utf-8")
    platform.reload()
    reader = ("zz-reader", keys["zz-reader"])
    check("a key for reading reads", raw(platform, "GET", "/payments?limit=1", own=reader)[0] == 200)
    status, _, answer = raw(platform, "PUT", f"/baskets/{uuid.uuid4().hex}", basket_of("X"), own=reader)
    check("and no more", (status, answer["errors"][0]["id"]) == (403, "SCOPE_MISSING"), answer)
    former = raw(platform, "GET", "/services/testconnection", own=("zz-former", keys["zz-former"]))
    unknown = raw(platform, "GET", "/services/testconnection", own=("zz-none", keys["zz-former"]))
    check("a key after its end is as one that there is not", former[0] == unknown[0] == 403
          and {**former[2], "errorId": ""} == {**unknown[2], "errorId": ""}, (former, unknown))


def session_while_gateway_fails(platform, shop, session):
    """The doctor asks Apple for sessions too, a minute after the start, and may get the planted failure in place of the library."""
    for _ in range(5):
        platform.misbehave("gateway_unavailable")
        answer = shop.library.products().create_payment_product_session(302, session)
    return answer


def verify_platform_faults(platform, shop):
    """What is the platform's or the acquirer's fault, and a first call that is still running."""
    session = made(PaymentProductSessionRequest, {"paymentProductSession302SpecificInput": {
        "displayName": "Harbour", "domainName": f"localhost:{platform.port + 1}"}})
    refused("Apple's gateway fails, and the library raises PlatformException", PlatformException,
            lambda: session_while_gateway_fails(platform, shop, session),
            lambda refusal: refusal.status_code in (502, 503) and refusal.errors[0].category == "PAYMENT_PLATFORM_ERROR")
    old, slow = platform.old_library().payments(), 2070  # The sandbox's acquirer approves this amount after five seconds.
    kinds = (("", "ReferenceException", ReferenceException, lambda body, name: shop.pay.create_payment(
                 made(CreatePaymentRequest, body), CallContext(name))),
             ("2021: ", "IdempotenceException", old_idempotence.IdempotenceException, lambda body, name: old.create_payment(
                 old_made(old_create.CreatePaymentRequest, body), old_context.CallContext(name))))
    calls = [(uuid.uuid4().hex, body_of(fresh(), whole(platform.token(slow)), value=slow)) for _ in kinds]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        firsts = []
        for (prefix, words, error, call), (name, body) in zip(kinds, calls):
            # Begun here, so that its five seconds are all its repeat's.
            firsts.append(pool.submit(call, body, name))
            wait_for("the first call", lambda: platform.is_running(body["order"]["references"]["merchantReference"]))
            refusal = refused(f"{prefix}while the first call runs, its repeat is a {words}", error, lambda: call(body, name))
            check(f"{prefix}which says so", (refusal.status_code, refusal.errors[0].id)
                  == (409, "DUPLICATE_REQUEST_IN_PROGRESS"), refusal.response_body)
        for (prefix, _, _, call), (name, body), first in zip(kinds, calls, firsts):
            check(f"{prefix}and the first is paid", first.result().payment.status == "PENDING_CAPTURE")
            check(f"{prefix}and its repeat is answered alike", call(body, name).payment.id == first.result().payment.id)


def verify_products(platform, shop, receiver):
    products, query = shop.library.products(), asked(GetPaymentProductParams())
    query.is_recurring, query.hide = False, ["fields"]
    product = products.get_payment_product(302, query)
    check("has Apple Pay", (product.id, product.payment_method, product.uses_redirection_to3rd_party)
          == (302, "mobile", False) and product.display_hints_list[0].label == "Apple Pay"
          and "Visa" in product.payment_product302_specific_data.networks, product.to_dictionary())
    every = products.get_payment_products(asked(GetPaymentProductsParams())).payment_products
    check("and no other product", [item.id for item in every] == [302])
    networks = products.get_payment_product_networks(302, asked(GetPaymentProductNetworksParams())).networks
    check("names its networks as Apple does", {"Visa", "MasterCard", "AmEx"} <= set(networks), networks)
    refused("has no other product", ReferenceException, lambda: products.get_payment_product(1, query))
    session = products.create_payment_product_session(302, made(PaymentProductSessionRequest, {
        "paymentProductSession302SpecificInput": {"displayName": "Harbour", "domainName": f"localhost:{platform.port + 1}"}}))
    check("gets a merchant session", "merchantSessionIdentifier"
          in session.payment_product_session302_specific_output.session)
    hooks = shop.library.webhooks()
    own = WebhooksHelperSignature(HOOK_SECRET)
    valid = made(ValidateCredentialsRequest, {"key": HOOK_ID, "secret": own})
    check("validates a webhook key", hooks.validate_webhook_credentials(valid).result == "Valid")
    wrong = made(ValidateCredentialsRequest, {"key": HOOK_ID, "secret": "x"})
    check("and finds a wrong one", hooks.validate_webhook_credentials(wrong).result == "Invalid")
    hooks.send_test_webhook(made(SendTestRequest, {"url": receiver.url}))
    check("sends a test event", receiver.wait("payment.test").payment.id == "9999_9")
    for words, url in (("no address", None), ("an address that is none", "nonsense")):
        refused(f"refuses {words} for a test event", ValidationException,
                lambda: hooks.send_test_webhook(made(SendTestRequest, {"url": url})))


def WebhooksHelperSignature(secret):
    """As the reference has it: the signature of an empty body."""
    import hashlib
    import hmac
    return base64.b64encode(hmac.new(secret.encode(), b"", hashlib.sha256).digest()).decode()


def verify_old(platform):
    """The library of 2021, without the members of today."""
    shop = platform.old_library()
    pay = shop.payments()
    check("2021: tests the connection", shop.services().test_connection().result == "OK")

    def create(data, value=1250, mode="PRE_AUTHORIZATION"):
        return pay.create_payment(
            old_made(old_create.CreatePaymentRequest, body_of(fresh(), data, value, authorizationMode=mode)),
            old_context.CallContext(uuid.uuid4().hex)).payment

    first = create(whole(platform.token()))
    check("2021: pays", first.status == "PENDING_CAPTURE" and first.status_output.status_code == 5)
    part = pay.capture_payment(first.id, old_made(old_capture.CapturePaymentRequest, {"amount": 500}),
                               old_context.CallContext(uuid.uuid4().hex))
    check("2021: captures a part", part.status == "CAPTURED" and part.capture_output.amount_of_money.amount == 500)
    back = pay.refund_payment(first.id, old_made(old_refund.RefundRequest, {
        "amountOfMoney": {"amount": 200, "currencyCode": "EUR"}}), old_context.CallContext(uuid.uuid4().hex))
    check("2021: refunds a part", back.status == "REFUNDED" and pay.get_payment(first.id).payment_output.amount_paid == 300)
    check("2021: lists captures and refunds", len(pay.get_captures(first.id).captures) == 1
          and len(pay.get_refunds(first.id).refunds) == 1)
    details = pay.get_payment_details(first.id)
    check("2021: looks up every operation", len(details.operations) == 3, details.to_dictionary())
    rest = pay.cancel_payment(first.id)
    check("2021: cancels what is left, without a body", rest.payment.status == "CANCELLED", rest.to_dictionary())
    query = asked(OldProductParams())
    check("2021: has Apple Pay", shop.products().get_payment_product(302, query).payment_method == "mobile")
    refused("2021: a decline", old_declined.DeclinedPaymentException,
            lambda: create(whole(platform.token(card=DECLINED))), lambda refusal: refusal.status_code == 402)
    refused("2021: an unknown payment", old_reference.ReferenceException, lambda: pay.get_payment("0_0"))
    refused("2021: over-capture", old_validation.ValidationException,
            lambda: pay.capture_payment(first.id, old_made(old_capture.CapturePaymentRequest, {"amount": 99999}),
                                        old_context.CallContext(uuid.uuid4().hex)))


def at_once(count, act):
    """The answers, or the errors, of so many calls at once."""
    def one(index):
        try:
            return act(index)
        except (ApiException, PlatformException) as error:
            return error
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def good(answers):
    return [answer for answer in answers if not isinstance(answer, Exception)]


def codes(answers):
    return sorted({answer.status_code for answer in answers if isinstance(answer, Exception)})


def verify_races(platform, shop, count):
    pay = shop.pay
    tokens = [whole(platform.token(count)) for _ in range(8)]
    sales = at_once(8, lambda index: shop.create(f"T-{index}", tokens[index], value=count, authorizationMode="SALE"))
    check("one client serves many threads", len(good(sales)) == 8, sales)
    name = fresh()
    held = shop.held(count, name)
    answers = at_once(count + 8, lambda index: pay.capture_payment(held.id, capture(1), key()))
    captured = platform.hold(name)[0]["captured"]
    check(f"{count} captures under different keys take what is held and no more", len(good(answers)) == captured == count
          and set(codes(answers)) <= {400, 409}, (len(good(answers)), captured, codes(answers)))
    answers = at_once(count + 8, lambda index: pay.refund_payment(held.id, refund(1), key()))
    given = platform.hold(name)[0]["refunded"]
    check(f"{count} refunds give back what was taken and no more", len(good(answers)) == given == count
          and set(codes(answers)) <= {400, 409}, (len(good(answers)), given, codes(answers)))
    name = fresh()
    held, same = shop.held(count * 10, name), uuid.uuid4().hex
    answers = at_once(count, lambda index: pay.capture_payment(held.id, capture(10), CallContext(same)))
    check(f"{count} captures under one key are one", {answer.id for answer in good(answers)} == {held.id[:-1] + "1"}
          and set(codes(answers)) <= {409} and platform.hold(name)[0]["captured"] == 10, codes(answers))
    same = uuid.uuid4().hex
    answers = at_once(count, lambda index: pay.refund_payment(held.id, refund(3), CallContext(same)))
    check(f"{count} refunds under one key are one", len({answer.id for answer in good(answers)}) == 1
          and platform.hold(name)[0]["refunded"] == 3, codes(answers))
    same = uuid.uuid4().hex
    answers = at_once(count, lambda index: pay.cancel_payment(held.id, cancel(5), CallContext(same)))
    check(f"{count} cancels under one key are one", len({answer.payment.id for answer in good(answers)}) == 1, codes(answers))
    answers = at_once(count, lambda index: (
        pay.cancel_payment(held.id, None, key()) if index % 2 else pay.capture_payment(held.id, capture(), key())))
    check("a capture and a cancel of the rest do not both win", len(good(answers)) == 1, [len(good(answers)), codes(answers)])
    journal, hold = platform.journal(held.id.split("_")[0]), platform.hold(name)[0]
    found = pay.get_payment(held.id)
    check("journal, wire and acquirer agree", (hold["captured"], hold["refunded"]) == (
        journal["captured"], journal["refunded"]) and found.payment_output.amount_paid == hold["captured"] - hold["refunded"],
        (journal, hold, found.to_dictionary()))
    same, name = uuid.uuid4().hex, fresh()
    body = whole(platform.token())
    answers = at_once(count, lambda index: shop.create(name, body, context=CallContext(same)))
    check(f"{count} payments under one key are one", len({answer.payment.id for answer in good(answers)}) == 1
          and set(codes(answers)) <= {409} and len(platform.hold(name)) == 1, codes(answers))


def verify_examples(platform):
    """The back ends of Examples and the command line's own payment, as their pages say."""
    examples = HERE.parents[2] / "Examples"
    node = next((path for path in os.environ["PATH"].split(":") if pathlib.Path(path, "node").exists()), None)
    runs = [("Examples/platform-python", [sys.executable, examples / "platform-python/shop.py"]),
            ("tender-sandbox pay --platform", [f"{platform.tender}-sandbox", "pay", "--platform", "--port", str(platform.port)])]
    if node:
        runs.append(("Examples/platform-node", ["node", examples / "platform-node/shop.mjs"]))
    for name, command in runs:
        run = subprocess.run(command, cwd=platform.home, env={**os.environ, "SHOP_TENDER_PORT": str(platform.port)},
                             capture_output=True, text=True, timeout=STILL, check=False)
        check(f"{name} pays, captures and refunds", run.returncode == 0, f"{run.stdout}\n{run.stderr}")


def wait_until_up(platform, process):
    end = time.monotonic() + STILL
    while time.monotonic() < end:
        if process.poll() is not None:
            raise Failed("tender-sandbox demo ended")
        with contextlib.suppress(OSError, urllib.error.URLError):
            shop = urllib.request.urlopen(f"http://127.0.0.1:{platform.port + 4}/", timeout=STILL)
            return shop.close()
        time.sleep(0.1)
    raise Failed("tender-sandbox demo does not answer")


def add_webhooks(platform, receiver):
    """As a merchant's engineer does: a key, an address, `tender reload`."""
    folder = platform.folder / "merchants" / MERCHANT
    (folder / "webhook-keys").mkdir(exist_ok=True)
    secret = folder / "webhook-keys" / f"{HOOK_ID}.secret"
    secret.write_text(HOOK_SECRET, encoding="utf-8")
    secret.chmod(0o600)
    kept = [line for line in (folder / "merchant.yaml").read_text(encoding="utf-8").splitlines()
            if not line.startswith("webhooks")]
    (folder / "merchant.yaml").write_text("\n".join([*kept, f'webhooks: ["{receiver.url}"]', ""]), encoding="utf-8")
    platform.reload()


def main():
    tender, races = os.path.abspath(sys.argv[1]), int(os.environ.get("RACES", "16"))
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as home:
        port = free_ports.row(5)
        platform = Platform(tender, home, port)
        process = subprocess.Popen([f"{tender}-sandbox", "demo", "--port", str(port)], cwd=home, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        log = []
        threading.Thread(target=lambda: log.extend(process.stderr), daemon=True).start()
        try:
            wait_until_up(platform, process)
            receiver = Receiver()
            add_webhooks(platform, receiver)
            shop = Shop(platform)
            verify_forms(platform, shop)
            verify_payments(platform, shop, receiver)
            verify_repeats(platform, shop)
            verify_refusals(platform, shop)
            verify_baskets(platform, shop)
            verify_agreements(platform, shop)
            verify_platform_faults(platform, shop)
            verify_products(platform, shop, receiver)
            verify_old(platform)
            verify_examples(platform)
            verify_races(platform, shop, races)
            if races >= 64:
                verify_timing(platform, shop, 100)
            verify_sources(platform)
            verify_limited_keys(platform)
        except Exception:
            sys.stderr.writelines(log[-20:])
            raise
        finally:
            process.terminate()
            process.wait()
    print(f"platform: Worldline Direct's libraries 10.3.0 and 1.10.0 agree, {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        sys.exit(f"platform: {failure}")
