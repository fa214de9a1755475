#!/usr/bin/env python3
"""Worldline Direct's own Python library against the emulated Worldline Direct of `tender-sandbox`: verify.py TENDER

The library is unmodified; only the host is another. It pays, captures, cancels, refunds, repeats, is refused, looks up,
and checks the signatures of the events. The same library shows which bytes it sends for the acts of Tender's connector,
whose requests are in requests.json, where WorldlineDirectConnectorTests compares them with what the connector sends.
"""
import base64
import json
import os
import pathlib
import queue
import subprocess
import sys
import time
import urllib.request

from onlinepayments.sdk.authentication.authorization_type import AuthorizationType
from onlinepayments.sdk.authorization_exception import AuthorizationException
from onlinepayments.sdk.call_context import CallContext
from onlinepayments.sdk.communication.request_header import RequestHeader
from onlinepayments.sdk.communicator_configuration import CommunicatorConfiguration
from onlinepayments.sdk.declined_payment_exception import DeclinedPaymentException
from onlinepayments.sdk.domain.cancel_payment_request import CancelPaymentRequest
from onlinepayments.sdk.domain.capture_payment_request import CapturePaymentRequest
from onlinepayments.sdk.domain.create_payment_request import CreatePaymentRequest
from onlinepayments.sdk.domain.refund_request import RefundRequest
from onlinepayments.sdk.domain.subsequent_payment_request import SubsequentPaymentRequest
from onlinepayments.sdk.factory import Factory
from onlinepayments.sdk.json.default_marshaller import DefaultMarshaller
from onlinepayments.sdk.reference_exception import ReferenceException
from onlinepayments.sdk.validation_exception import ValidationException
from onlinepayments.sdk.webhooks.in_memory_secret_key_store import InMemorySecretKeyStore
from onlinepayments.sdk.webhooks.signature_validation_exception import SignatureValidationException
from onlinepayments.sdk.webhooks.webhooks_helper import WebhooksHelper

MERCHANT, KEY_ID, SECRET = "TenderSandbox", "5ANDB0X0D1RECT00", "sandbox-worldline-direct-secret"
HOOK_ID, HOOK_SECRET = "sandbox-webhook-key", "sandbox-worldline-direct-webhook-secret"
VERSION = "10.3.0"
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from harness import check, Failed, run, sandbox, Server, STILL, TRANSPORT  # noqa: E402

# What the library sends and the connector does not, and why.
EXPLAINED = {
    "user-agent": "names Python's HTTP client",
    "accept": "Python's HTTP client takes any answer",
    "accept-encoding": "Python's HTTP client decodes compressed answers",
    "connection": "Python's HTTP client keeps the connection",
    "x-gcs-servermetainfo": "names the library; signed, and not required",
}


def library(origin, key=KEY_ID, secret=SECRET, merchant=MERCHANT):
    """Worldline's client with another host."""
    configuration = CommunicatorConfiguration(
        api_endpoint=origin, api_key_id=key, secret_api_key=secret, authorization_type=AuthorizationType.V1HMAC,
        connect_timeout=STILL, socket_timeout=STILL, max_connections=2, integrator="Tender")
    return Factory.create_client_from_configuration(configuration).merchant(merchant)


def made(kind, body):
    """The library's own object of a body."""
    return DefaultMarshaller.instance().unmarshal(json.dumps(body), kind)


def payment(reference, number="4761739000000012", value=1250, **more):
    return made(CreatePaymentRequest, {
        "order": {"amountOfMoney": {"amount": value, "currencyCode": "EUR"},
                  "references": {"merchantReference": reference, "merchantParameters": "tea"}},
        "mobilePaymentMethodSpecificInput": {
            "paymentProductId": 302, "authorizationMode": "PRE_AUTHORIZATION", "requiresApproval": True,
            "decryptedPaymentData": {"dpan": number, "expiryDate": "1231", "eci": 7,
                                     "cryptogram": base64.b64encode(os.urandom(20)).decode()}, **more}})


def capture(value=None, reference="C", final=False):
    return made(CapturePaymentRequest, {"amount": value, "isFinal": final,
                                        "operationReferences": {"merchantReference": reference}})


def refund(value):
    return made(RefundRequest, {"amountOfMoney": {"amount": value, "currencyCode": "EUR"}})


def manage(origin, method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    password = base64.b64encode(f"{KEY_ID}:{SECRET}".encode()).decode()
    request = urllib.request.Request(
        origin + path, data, {"Authorization": f"Basic {password}", "Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=STILL) as answer:
        return json.loads(answer.read())


class Events:
    """The events that arrived, each of which the library's helper has found authentic."""

    def __init__(self, server):
        keys = InMemorySecretKeyStore.instance()
        keys.store_secret_key(HOOK_ID, HOOK_SECRET)
        self.helper = WebhooksHelper(DefaultMarshaller.instance(), keys)
        self.server, self.events = server, []

    def wait(self, kind, name):
        deadline = time.monotonic() + STILL
        while time.monotonic() < deadline:
            for event in self.events:
                if (event.type, (event.payment or event.refund).id) == (kind, name):
                    return event
            try:
                _, _, headers, body = self.server.arrived.get(timeout=1)
            except queue.Empty:
                continue
            headers = [RequestHeader(header, value) for header, value in headers.items()]
            self.events.append(self.helper.unmarshal(body, headers))
            try:
                self.helper.unmarshal(body + b" ", headers)
                raise Failed("the helper believes an event that was altered")
            except SignatureValidationException:
                pass
        raise Failed(f"no event {kind} of {name}: {[(event.type, event.payment and event.payment.id) for event in self.events]}")


def refused(claim, error, call, holds=lambda refusal: True):
    try:
        answer = call()
    except error as refusal:
        check(claim, holds(refusal), refusal)
        return refusal
    raise Failed(f"{claim}: {answer.to_dictionary()}")


def verify_payments(origin, events):
    shop = library(origin)
    pay = shop.payments()
    check("tests the connection", shop.services().test_connection().result == "OK")
    first = pay.create_payment(payment("S1")).payment
    check("creates", (first.status, first.status_output.status_code) == ("PENDING_CAPTURE", 5)
          and first.status_output.is_authorized and first.payment_output.references.merchant_reference == "S1"
          and first.payment_output.mobile_payment_method_specific_output.payment_data.dpan.endswith("0012"),
          first.to_dictionary())
    check("an event tells the authorization",
          events.wait("payment.pending_capture", first.id).payment.payment_output.amount_of_money.amount == 1250)
    name = first.id.split("_")[0]

    part = pay.capture_payment(first.id, capture(500, "C1"))
    check("captures a part", (part.id, part.status, part.status_output.status_code)
          == (f"{name}_1", "CAPTURE_REQUESTED", 91) and part.capture_output.amount_of_money.amount == 500,
          part.to_dictionary())
    pay.capture_payment(first.id, capture(700, "C2"))
    done = events.wait("payment.captured", f"{name}_1").payment
    check("an event tells the capture", (done.status, done.status_output.status_code) == ("CAPTURED", 9)
          and done.operation_output.amount_of_money.amount == 500
          and done.operation_output.operation_references.merchant_reference == "C1", done.to_dictionary())
    events.wait("payment.captured", f"{name}_2")
    captures = shop.captures().get_captures(first.id).captures
    check("lists captures", [(item.id, item.status) for item in captures]
          == [(f"{name}_1", "CAPTURED"), (f"{name}_2", "CAPTURED")], captures)

    refund_answer = pay.refund_payment(first.id, refund(300))
    check("refunds", (refund_answer.id, refund_answer.status, refund_answer.status_output.status_code)
          == (f"{name}_3", "REFUND_REQUESTED", 81), refund_answer.to_dictionary())
    check("an event tells that it was requested",
          events.wait("refund.refund_requested", f"{name}_3").refund.refund_output.amount_of_money.amount == 300)
    check("an event tells that it was done",
          events.wait("payment.refunded", f"{name}_3").refund.status_output.status_code == 8)
    refunds = shop.refunds().get_refunds(first.id).refunds
    check("lists refunds", [(item.id, item.refund_output.mobile_refund_method_specific_output.total_amount_refunded)
                            for item in refunds] == [(f"{name}_3", 300)], refunds)

    found = pay.get_payment(first.id)
    check("looks up: refunded in part it stays captured", (found.id, found.status) == (first.id, "CAPTURED")
          and found.payment_output.acquired_amount.amount == 900, found.to_dictionary())
    details = pay.get_payment_details(first.id)
    check("looks up every operation", [item.id for item in details.operations]
          == [f"{name}_{number}" for number in range(4)], details.to_dictionary())

    held = pay.create_payment(payment("S2")).payment
    part = pay.cancel_payment(held.id, made(
        CancelPaymentRequest, {"amountOfMoney": {"amount": 250, "currencyCode": "EUR"}})).payment
    check("cancels a part", (part.status, part.operation_output.amount_of_money.amount) == ("CANCELLED", 250)
          and pay.get_payment(held.id).status == "PENDING_CAPTURE", part.to_dictionary())
    check("cancels what is left, without a body", pay.cancel_payment(held.id, None).payment.status == "CANCELLED"
          and pay.get_payment(held.id).status_output.status_code == 6)
    check("an event tells the cancel",
          events.wait("payment.cancelled", f"{held.id.split('_')[0]}_1").payment.status_output.status_code == 6)

    sale = pay.create_payment(payment("S3", authorizationMode="SALE")).payment
    check("sells at once", (sale.status, sale.status_output.status_code) == ("CAPTURED", 9)
          and sale.status_output.is_refundable, sale.to_dictionary())
    own = pay.create_payment(payment("S4", requiresApproval=False)).payment
    check("captures by itself what needs no approval", own.status == "CAPTURED", own.to_dictionary())


def verify_repeats(origin):
    pay = library(origin).payments()
    request, first, second = payment("S5"), CallContext("K5"), CallContext("K5")
    began, one, ended = time.time(), pay.create_payment(request, first).payment, time.time()
    two = pay.create_payment(payment("S6", value=1), second).payment
    check("gives the first answer to a repeat, whatever its contents", one.id == two.id
          and two.payment_output.amount_of_money.amount == 1250, two.to_dictionary())
    check("a repeat has the time of the first call", first.idempotence_request_timestamp is None
          and began - 1 <= second.idempotence_request_timestamp / 1000 <= ended + 1, second.idempotence_request_timestamp)
    manage(origin, "POST", "/worldline-direct/faults", {"next": "in_progress"})
    refused("a repeat of a call that runs is refused", ReferenceException,
            lambda: pay.create_payment(payment("S7"), CallContext("K7")),
            lambda refusal: (refusal.status_code, refusal.errors[0].id) == (409, "DUPLICATE_REQUEST_IN_PROGRESS"))


def verify_refusals(origin, events):
    shop = library(origin)
    pay = shop.payments()
    declined = refused("declines a card", DeclinedPaymentException,
                       lambda: pay.create_payment(payment("D1", number="4761739000000038")),
                       lambda refusal: refusal.status_code == 402)
    result = declined.create_payment_response.payment
    check("a decline carries the payment", (result.status, result.status_output.status_code) == ("REJECTED", 2)
          and declined.errors[0].error_code == "30511001", declined.response_body)
    check("an event tells the refusal", events.wait("payment.rejected", result.id).payment.status == "REJECTED")
    refused("declines the test amount", DeclinedPaymentException, lambda: pay.create_payment(payment("D2", value=1302)))
    for claim, other in (("refuses an unknown key", library(origin, key="x")),
                         ("refuses a wrong secret", library(origin, secret="x")),
                         ("refuses another merchant", library(origin, merchant="Other"))):
        refused(claim, AuthorizationException, lambda: other.services().test_connection(),
                lambda refusal: (refusal.status_code, refusal.errors[0].code) == (403, "9007"))
    refused("knows no other payment", ReferenceException, lambda: pay.get_payment("1234567890_0"),
            lambda refusal: (refusal.status_code, refusal.errors[0].error_code) == (404, "50001130"))
    for claim, body, name in (
            ("refuses a payment without an order", {}, "order"),
            ("refuses a currency that is none", {"order": {"amountOfMoney": {"amount": 1, "currencyCode": "EEE"}}},
             "order.amountOfMoney.currencyCode"),
            ("refuses a payment without payment data", {"order": {"amountOfMoney": {"amount": 1, "currencyCode": "EUR"}}},
             "mobilePaymentMethodSpecificInput")):
        refused(claim, ValidationException, lambda: pay.create_payment(made(CreatePaymentRequest, body)),
                lambda refusal: refusal.errors[0].property_name == name)
    held = pay.create_payment(payment("D3")).payment.id
    for claim, call in (("refuses to capture more than is held", lambda: pay.capture_payment(held, capture(1251))),
                        ("refuses to refund what is not captured", lambda: pay.refund_payment(held, refund(1)))):
        refused(claim, ValidationException, call,
                lambda refusal: refusal.errors[0].message == "ACTION_NOT_ALLOWED_ON_TRANSACTION")
    pay.cancel_payment(held, None)
    for claim, call in (("refuses a second cancel", lambda: pay.cancel_payment(held, None)),
                        ("refuses to capture what is cancelled", lambda: pay.capture_payment(held, capture()))):
        refused(claim, ValidationException, call)


def verify_sealed(origin, tender, directory):
    merchant = "merchant.com.example.shop"
    manage(origin, "POST", "/portal/merchants", {"merchantIdentifier": merchant})
    csr = manage(origin, "POST", "/worldline-direct/certificate-requests", {"merchantIdentifier": merchant})["csr"]
    record = manage(origin, "POST", f"/portal/merchants/{merchant}/certificates", {"type": "processing", "csr": csr})
    certificate = pathlib.Path(directory, "processing.pem")
    certificate.write_text(record["certificate"], encoding="utf-8")
    pay = library(origin).payments()

    def token():
        text = subprocess.run(
            [f"{tender}-sandbox", "token", "create", "--to", certificate, "--amount", "12.50", "--currency", "EUR",
             "--sandbox", f"{directory}/sandbox"], check=True, capture_output=True, text=True).stdout
        token = json.loads(text)
        token = token.get("token", token)
        return token.get("paymentData", token)

    def sealed(reference, **members):
        body = payment(reference, **members)
        body.mobile_payment_method_specific_input.decrypted_payment_data = None
        return pay.create_payment(body).payment.status == "PENDING_CAPTURE"

    data = token()
    check("opens encrypted data with its ephemeral key and key hash", sealed(
        "T1", encryptedPaymentData=data["data"], ephemeralKey=data["header"]["ephemeralPublicKey"],
        publicKeyHash=data["header"]["publicKeyHash"]))
    check("opens a whole payment token as text", sealed("T2", encryptedPaymentData=json.dumps(token())))


def verify_agreements(origin):
    """The first payment says that it recurs, and later ones name it."""
    shop = library(origin)
    recurring = {"isRecurring": True, "recurring": {"recurringPaymentSequenceIndicator": "first"}}

    def begin(reference, number):
        return shop.payments().create_payment(
            payment(reference, number=number, paymentProduct302SpecificInput=recurring)).payment

    def charge(first, reference, kind="Recurring"):
        return shop.subsequent().subsequent_payment(first, made(SubsequentPaymentRequest, {
            "order": {"amountOfMoney": {"amount": 1250, "currencyCode": "EUR"},
                      "references": {"merchantReference": reference}},
            "subsequentcardPaymentMethodSpecificInput": {"subsequentType": kind, "authorizationMode": "SALE"}})).payment

    first = begin("A1", "4761739009000021")
    check("begins a series", first.status == "PENDING_CAPTURE", first.to_dictionary())
    for reference in ("A2", "A3"):
        later = charge(first.id, reference)
        check(f"charges a merchant token again, {reference}", later.status == "CAPTURED" and later.id != first.id,
              later.to_dictionary())
    refused("declines a Visa that is the device's own", DeclinedPaymentException,
            lambda: charge(begin("A4", "4761739000000012").id, "A5"))
    refused("takes no other type", ValidationException, lambda: charge(first.id, "A6", "Unscheduled"))
    refused("charges nothing after a payment that began no series", ValidationException,
            lambda: charge(shop.payments().create_payment(payment("A7")).payment.id, "A8"))


def verify_requests():
    """For the same act, the library sends the connector's address, headers and body."""
    recorder = Server()
    shop = library(recorder.url)
    pay = shop.payments()
    name = "3254564310_0"
    calls = {
        "authorize": lambda body, context: pay.create_payment(made(CreatePaymentRequest, body), context),
        "capture": lambda body, context: pay.capture_payment(name, made(CapturePaymentRequest, body), context),
        "void": lambda body, context: pay.cancel_payment(name, made(CancelPaymentRequest, body), context),
        "refund": lambda body, context: pay.refund_payment(name, made(RefundRequest, body), context),
        "charge": lambda body, context: shop.subsequent().subsequent_payment(
            name, made(SubsequentPaymentRequest, body), context),
        "checkCredentials": lambda body, context: shop.services().test_connection(context),
    }
    for request in json.loads((HERE / "requests.json").read_text(encoding="utf-8")):
        calls[request["act"]](request["body"], CallContext(request["key"]) if request["key"] else None)
        method, path, headers, body = recorder.arrived.get(timeout=STILL)
        expected = {"date", "authorization"}
        if request["body"] is not None:
            expected.add("content-type")
        if request["key"]:
            expected.add("x-gcs-idempotence-key")
        unexplained = set(headers) - expected - set(EXPLAINED) - TRANSPORT
        same = (method, path) == (request["method"], request["path"]) and expected <= set(headers) \
            and headers.get("x-gcs-idempotence-key") == request["key"] \
            and headers["authorization"].startswith(f"GCS v1HMAC:{KEY_ID}:") \
            and (json.loads(body) if body else None) == request["body"]
        check(f"sends what the connector sends to {request['act']}", same and not unexplained,
              (method, path, headers, body, unexplained))


def main():
    with sandbox() as (origin, tender, directory):
        webhook = Server()
        manage(origin, "PUT", "/worldline-direct/webhook", {"url": webhook.url + "/events"})
        events = Events(webhook)
        verify_requests()
        verify_payments(origin, events)
        verify_repeats(origin)
        verify_refusals(origin, events)
        verify_sealed(origin, tender, directory)
        verify_agreements(origin)
    print(f"worldline-direct: the library of Worldline Direct {VERSION} agrees")


if __name__ == "__main__":
    run("worldline-direct", main)
