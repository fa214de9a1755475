#!/usr/bin/env python3
"""Checkout.com's own Python library against the emulated Checkout.com of `tender-sandbox`: verify.py TENDER

The library is unmodified; only the host of its addresses is another. It makes tokens, pays, captures, voids, refunds,
repeats, looks up, and is refused. The same library shows which bytes it sends for the acts of Tender's connector, whose
requests are in requests.json, where CheckoutComConnectorTests compares them with what the connector sends.
"""
import base64
import hashlib
import hmac
import json
import os
import pathlib
import queue
import subprocess
import sys
import time
import urllib.request
import warnings

from checkout_sdk.checkout_sdk import CheckoutSdk
from checkout_sdk.environment import Environment
from checkout_sdk.exception import CheckoutApiException
from checkout_sdk.payments.payments import (BillingDescriptor, CaptureRequest, CaptureType, PaymentRequest,
                                            PaymentRequestIdSource, PaymentRequestNetworkTokenSource,
                                            PaymentRequestTokenSource, PaymentsQueryFilter, PaymentsSearchRequest,
                                            PaymentType, RefundRequest, VoidRequest)
from checkout_sdk.properties import VERSION
from checkout_sdk.tokens.tokens import ApplePayTokenData, ApplePayTokenRequest

CHANNEL = "pc_tendersandboxchannel2222222"
SECRET, PUBLIC = "sk_sbox_tendersandboxsecretkey22222", "pk_sbox_tendersandboxpublickey22222"
SIGNATURE_KEY = "tender-sandbox-signature-key"
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from harness import check, Failed, run, sandbox, Server, STILL, TRANSPORT  # noqa: E402

# What the library sends and the connector does not, and why.
EXPLAINED = {
    "user-agent": "names the library",
    "accept-encoding": "Python's HTTP client decodes compressed answers",
    "connection": "Python's HTTP client keeps the connection",
}


def library(origin, secret=SECRET, public=PUBLIC):
    """Checkout.com's client with another host, which has no subdomain of the merchant's."""
    address = origin + "/"
    environment = Environment(*[address] * 7, is_sandbox=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return CheckoutSdk.builder().secret_key(secret).public_key(public).environment(environment) \
            .use_legacy_domain().build()


def network_token(number="4761739000000012"):
    source = PaymentRequestNetworkTokenSource()
    source.token, source.token_type = number, "applepay"
    source.expiry_month, source.expiry_year = 12, 2031
    source.cryptogram, source.eci = base64.b64encode(os.urandom(20)).decode(), "07"
    return source


def payment(reference, source=None, amount=1250):
    request = PaymentRequest()
    request.source, request.amount, request.currency = source or network_token(), amount, "EUR"
    request.reference, request.capture, request.processing_channel_id = reference, False, CHANNEL
    request.billing_descriptor = BillingDescriptor()
    request.billing_descriptor.name, request.billing_descriptor.city = "HARBOUR KITCHEN", "London"
    return request


def action(kind, reference, amount=None, capture_type=None):
    request = {"capture": CaptureRequest, "void": VoidRequest, "refund": RefundRequest}[kind]()
    request.reference = reference
    if amount is not None:
        request.amount = amount
    if capture_type is not None:
        request.capture_type = capture_type
    return request


def manage(origin, method, path, body):
    request = urllib.request.Request(
        origin + path, json.dumps(body).encode(),
        {"Authorization": f"Bearer {SECRET}", "Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=STILL) as answer:
        return json.loads(answer.read())


class Events:
    """The events that arrived. The library has no helper for signatures, so they are checked as documented."""

    def __init__(self, server):
        self.server, self.events = server, []

    def wait(self, kind, reference):
        deadline = time.monotonic() + STILL
        while time.monotonic() < deadline:
            for event in self.events:
                if (event["type"], event["data"].get("reference")) == (kind, reference):
                    return event["data"]
            try:
                _, _, headers, body = self.server.arrived.get(timeout=1)
            except queue.Empty:
                continue
            code = hmac.new(SIGNATURE_KEY.encode(), body, hashlib.sha256).hexdigest()
            if headers.get("cko-signature") != code:
                raise Failed(f"an event is not authentic: {headers} {body}")
            self.events.append(json.loads(body))
        raise Failed(f"no event {kind} of {reference}: {self.events}")


def verify_payments(origin, events):
    payments = library(origin).payments
    verified = payments.request_payment(payment("S0", amount=0), "S0")
    check("verifies a card with zero", verified.approved and (verified.status, verified.amount) == ("Card Verified", 0),
          vars(verified))

    first = payments.request_payment(payment("S1"), "S1")
    check("creates", first.http_metadata.status_code == 201 and first.approved and first.status == "Authorized"
          and first.response_code == "10000" and first.reference == "S1", vars(first))
    name = first.id
    check("an event tells the authorization", events.wait("payment_approved", "S1")["id"] == name)

    request = payment("S2")
    one, two = (payments.request_payment(request, "S2") for _ in range(2))
    check("gives the first answer to a repeat", (one.id, one.action_id) == (two.id, two.action_id))

    captured = payments.capture_payment(name, action("capture", "C1", 500, CaptureType.NON_FINAL), "C1")
    check("accepts a capture", captured.http_metadata.status_code == 202 and captured.reference == "C1"
          and captured.action_id.startswith("act_"), vars(captured))
    again = payments.capture_payment(name, action("capture", "C1", 500, CaptureType.NON_FINAL), "C1")
    check("accepts a repeated capture once", again.action_id == captured.action_id)
    payments.capture_payment(name, action("capture", "C2", 700, CaptureType.FINAL), "C2")
    for reference, amount in (("C1", 500), ("C2", 700)):
        data = events.wait("payment_captured", reference)
        check(f"an event tells the capture {reference}", data["id"] == name and data["amount"] == amount, data)

    payments.refund_payment(name, action("refund", "F1", 300), "F1")
    check("refunds", events.wait("payment_refunded", "F1")["amount"] == 300)

    payments.void_payment(one.id, action("void", "V1"), "V1")
    check("voids", events.wait("payment_voided", "V1")["id"] == one.id)
    check("shows the payment as voided", payments.get_payment_details(one.id).status == "Voided")

    details = payments.get_payment_details(name)
    check("shows the balances", (details.status, details.balances.total_captured, details.balances.total_refunded)
          == ("Partially Refunded", 1200, 300), vars(details))
    actions = payments.get_payment_actions(name).items
    check("lists the actions, the newest first",
          [(entry.type, entry.amount, entry.approved, entry.reference) for entry in actions] == [
              ("Refund", 300, True, "F1"), ("Capture", 700, True, "C2"), ("Capture", 500, True, "C1"),
              ("Authorization", 1250, True, "S1")], actions)

    query = PaymentsQueryFilter()
    query.reference, query.limit, query.skip = "S1", 10, 0
    found = payments.get_payments_list(query)
    check("finds by reference", found.total_count == 1 and found.data[0].id == name, vars(found))
    search = PaymentsSearchRequest()
    search.query, search.limit = "", 1000
    search.from_, search.to = (time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + shift))
                               for shift in (-86_400, 60))
    check("finds by period", {entry.id for entry in payments.search_payments(search).data} >= {name, one.id})


def refused(claim, call, status, code=None):
    try:
        raise Failed(f"{claim}: {vars(call())}")
    except CheckoutApiException as error:
        check(claim, error.http_metadata.status_code == status and (code is None or error.error_details == [code]),
              (error.http_metadata.status_code, error.error_details))


def verify_refusals(origin, events):
    payments = library(origin).payments
    declined = payments.request_payment(payment("D1", network_token("4761739000000038")))
    check("declines a card", (declined.http_metadata.status_code, declined.approved, declined.status,
                              declined.response_code) == (201, False, "Declined", "20051"), vars(declined))
    check("an event tells the decline", events.wait("payment_declined", "D1")["response_code"] == "20051")
    other = "sk_sbox_" + "a" * 27
    refused("refuses an unknown key", lambda: library(origin, other).payments.request_payment(payment("E1")), 401)
    without = payment("E2")
    del without.processing_channel_id
    refused("refuses a payment without a channel", lambda: payments.request_payment(without), 422,
            "processing_channel_id_required")
    held = payments.request_payment(payment("E3")).id
    refused("refuses a capture of more", lambda: payments.capture_payment(held, action("capture", "C9", 1251)), 422,
            "capture_value_greater_than_authorized")
    refused("refuses a refund before the capture", lambda: payments.refund_payment(held, action("refund", "F9", 1)),
            403)
    refused("does not know another payment", lambda: payments.get_payment_details("pay_unknown"), 404)


def verify_sealed(origin, tender, directory):
    merchant = "merchant.com.example.shop"
    manage(origin, "POST", "/portal/merchants", {"merchantIdentifier": merchant})
    csr = manage(origin, "POST", "/checkout-com/certificate-requests", {"merchantIdentifier": merchant})["csr"]
    record = manage(origin, "POST", f"/portal/merchants/{merchant}/certificates", {"type": "processing", "csr": csr})
    certificate = pathlib.Path(directory, "processing.pem")
    certificate.write_text(record["certificate"], encoding="utf-8")
    token = json.loads(subprocess.run(
        [f"{tender}-sandbox", "token", "create", "--to", certificate, "--amount", "12.50", "--currency", "EUR",
         "--sandbox", f"{directory}/sandbox"], check=True, capture_output=True, text=True).stdout)
    token = token.get("token", token)
    data = token.get("paymentData", token)
    request = ApplePayTokenRequest()
    request.token_data = ApplePayTokenData()
    request.token_data.version, request.token_data.data = data["version"], data["data"]
    request.token_data.signature, request.token_data.header = data["signature"], data["header"]
    checkout = library(origin)
    made = checkout.tokens.request_wallet_token(request)
    check("makes a token of a sealed payment token", made.http_metadata.status_code == 201
          and made.token.startswith("tok_") and made.type == "applepay", vars(made))
    source = PaymentRequestTokenSource()
    source.token = made.token
    paid = checkout.payments.request_payment(payment("T1", source))
    check("pays with the token", paid.approved and paid.amount == 1250, vars(paid))
    refused("refuses a token twice", lambda: checkout.payments.request_payment(payment("T2", source)), 422, "token_used")
    refused("makes no token with another public key",
            lambda: library(origin, public="pk_sbox_" + "a" * 27).tokens.request_wallet_token(request), 401)


def verify_agreements(origin):
    """The first payment stores the card as an instrument, and later ones name both."""
    payments = library(origin).payments

    def begin(reference, number):
        source = network_token(number)
        source.store_for_future_use = True
        request = payment(reference, source)
        request.payment_type, request.merchant_initiated = PaymentType.RECURRING, False
        return payments.request_payment(request, reference)

    def charge(first, reference, **more):
        source = PaymentRequestIdSource()
        source.id = first.source.id
        request = payment(reference, source)
        request.payment_type, request.merchant_initiated = PaymentType.RECURRING, True
        request.previous_payment_id = first.id
        for name, value in more.items():
            setattr(request, name, value)
        return payments.request_payment(request, reference)

    first = begin("A1", "4761739009000021")
    check("begins a series", first.approved and first.source.id.startswith("src_"), vars(first))
    for reference in ("A2", "A3"):
        later = charge(first, reference)
        check(f"charges a merchant token again, {reference}", later.approved and later.amount == 1250, vars(later))
    own = charge(begin("A4", "4761739000000012"), "A5")
    check("declines a Visa that is the device's own", (own.approved, own.response_code) == (False, "20057"), vars(own))
    other = payments.request_payment(payment("A6"), "A6")
    refused("refuses another first payment", lambda: charge(first, "A7", previous_payment_id=other.id), 422,
            "previous_payment_id_invalid")
    refused("refuses another type", lambda: charge(first, "A8", payment_type=PaymentType.UNSCHEDULED), 422,
            "payment_type_invalid")


def built(body):
    """The library's request object of a JSON body."""
    class Body:
        pass

    made = Body()
    for name, value in body.items():
        setattr(made, name, built(value) if isinstance(value, dict) and name != "metadata" else value)
    return made


def verify_requests():
    """For the same act, the library sends the connector's address, headers and body."""
    recorder = Server()
    payments = library(recorder.url).payments
    name = "pay_y3oqhf46pyzuxjbcn2giaqnb44"
    calls = {
        "authorize": lambda body, key: payments.request_payment(body, key),
        "capture": lambda body, key: payments.capture_payment(name, body, key),
        "void": lambda body, key: payments.void_payment(name, body, key),
        "refund": lambda body, key: payments.refund_payment(name, body, key),
    }
    for request in json.loads((HERE / "requests.json").read_text(encoding="utf-8")):
        if request["act"] == "inquire":
            query = PaymentsQueryFilter()
            query.reference, query.limit, query.skip = "R1", 100, 0
            payments.get_payments_list(query)
        else:
            calls[request["act"]](built(request["body"]), request["key"])
        method, path, headers, body = recorder.arrived.get(timeout=STILL)
        expected = {"authorization": f"Bearer {SECRET}", "content-type": "application/json",
                    "accept": "application/json"}
        if request["key"]:
            expected["cko-idempotency-key"] = request["key"]
        unexplained = {field for field in headers if field not in expected} - set(EXPLAINED) - TRANSPORT
        same = method == request["method"] and path == request["path"] \
            and (json.loads(body) if body else None) == request["body"] \
            and all(headers.get(field) == value for field, value in expected.items())
        check(f"sends what the connector sends to {request['act']}", same and not unexplained,
              (method, path, headers, body))


def main():
    with sandbox() as (origin, tender, directory):
        webhook = Server()
        manage(origin, "PUT", "/checkout-com/webhook", {"url": webhook.url + "/events"})
        events = Events(webhook)
        verify_requests()
        verify_payments(origin, events)
        verify_refusals(origin, events)
        verify_sealed(origin, tender, directory)
        verify_agreements(origin)
    print(f"checkout-com: the library of Checkout.com {VERSION} agrees")


if __name__ == "__main__":
    run("checkout-com", main)
