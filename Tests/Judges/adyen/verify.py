#!/usr/bin/env python3
"""Adyen's own Python library against the emulated Adyen of `tender-sandbox`: verify.py TENDER

The library is unmodified; only the host of its addresses is another. It pays, captures, voids, refunds, repeats, is
refused, and checks the signatures of the events. The same library shows which bytes it sends for the acts of Tender's
connector, whose requests are in requests.json, where AdyenConnectorTests compares them with what the connector sends.
"""
import base64
import csv
import io
import json
import os
import pathlib
import queue
import subprocess
import sys
import time
import urllib.request

import Adyen
from Adyen.exceptions import AdyenAPIAuthenticationError, AdyenAPIInvalidPermission, AdyenAPIUnprocessableEntity
from Adyen.util import is_valid_hmac_notification

ACCOUNT, KEY = "TenderSandbox", "sandbox-adyen-key"
HMAC_KEY = "5AD8B0A1C3E2F4769B8D7C6E5F4A3B2C1D0E9F8A7B6C5D4E3F2A1B0C9D8E7F60"
# Origins whose answers are the emulator's.
EMULATORS = set()
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import published  # noqa: E402
from harness import check, Failed, run, sandbox, Server, STILL, TRANSPORT  # noqa: E402

# What the library sends and the connector does not, and why.
EXPLAINED = {
    "user-agent": "names the library",
    "adyen-library-name": "names the library",
    "adyen-library-version": "names the library",
    "accept-encoding": "Python's HTTP client says that it decodes nothing",
    "accept": "Python's requests, which the library takes where it is installed, says that it reads anything",
    "connection": "Python's HTTP client says whether it closes the connection after each call",
}


# Adyen's names of the bodies of each call, by the end of its path.
SCHEMAS = {"payments": "Payment", "captures": "PaymentCapture", "cancels": "PaymentCancel", "refunds": "PaymentRefund",
           "reversals": "PaymentReversal", "paymentMethods": "PaymentMethods"}


def schema(path):
    return "StandalonePaymentCancel" if path.endswith("/v72/cancels") else SCHEMAS[path.rsplit("/", 1)[1]]


def compared(handle):
    """The library's reading of an answer, after the answer was compared with the specification."""
    def handled(url, raw_response, raw_request, status_code, headers):
        kind = schema(url) + "Response" if status_code < 300 else "ServiceError"
        published.validate("adyen", json.loads(raw_response), kind)
        return handle(url, raw_response, raw_request, status_code, headers)
    return handled


def library(origin, key=KEY):
    """Adyen's client with another host."""
    adyen = Adyen.Adyen()
    if origin in EMULATORS:
        adyen.client._handle_response = compared(adyen.client._handle_response)
    adyen.client.xapikey, adyen.client.platform = key, "test"
    for service in (adyen.checkout.payments_api, adyen.checkout.modifications_api):
        service.baseUrl = service.baseUrl.replace("https://checkout-test.adyen.com", origin)
    return adyen


def payment(reference, number="4761739000000012", value=1250, **more):
    return {
        "merchantAccount": ACCOUNT, "reference": reference, "amount": {"currency": "EUR", "value": value},
        "returnUrl": "https://shop.example/", "shopperInteraction": "Ecommerce",
        "paymentMethod": {"type": "scheme", "number": number, "expiryMonth": "12", "expiryYear": "2031"},
        "mpiData": {"authenticationResponse": "Y", "directoryResponse": "Y", "eci": "07",
                    "cavv": base64.b64encode(os.urandom(20)).decode()},
        "additionalData": {"manualCapture": "true", "paymentdatasource.type": "applepay"}, **more}


def money(value, reference):
    return {"merchantAccount": ACCOUNT, "amount": {"currency": "EUR", "value": value}, "reference": reference}


def manage(origin, method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(origin + path, data, {"X-API-Key": KEY, "Content-Type": "application/json"},
                                     method=method)
    with urllib.request.urlopen(request, timeout=STILL) as answer:
        text = answer.read().decode()
        return json.loads(text) if text.startswith(("{", "[")) else text


# Adyen's names of the bodies of events.
NOTIFICATIONS = {
    "AUTHORISATION": "AuthorisationNotificationRequest", "CAPTURE": "CaptureNotificationRequest",
    "CANCELLATION": "CancellationNotificationRequest", "CANCEL_OR_REFUND": "CancelOrRefundNotificationRequest",
    "REFUND": "RefundNotificationRequest", "TECHNICAL_CANCEL": "ModificationNotificationRequest",
}


class Events:
    """The items that arrived, each of which the library has found authentic."""

    def __init__(self, server):
        self.server, self.items = server, []

    def wait(self, code, reference):
        deadline = time.monotonic() + STILL
        while time.monotonic() < deadline:
            for item in self.items:
                if (item["eventCode"], item["merchantReference"]) == (code, reference):
                    return item
            try:
                body = json.loads(self.server.arrived.get(timeout=1)[3])
            except queue.Empty:
                continue
            if not is_valid_hmac_notification(body, HMAC_KEY) or is_valid_hmac_notification(body, HMAC_KEY[::-1]):
                raise Failed(f"the library does not find an event authentic: {body}")
            for item in body["notificationItems"]:
                published.validate("adyen", body, NOTIFICATIONS[item["NotificationRequestItem"]["eventCode"]])
            self.items += [item["NotificationRequestItem"] for item in body["notificationItems"]]
        raise Failed(f"no event {code} of {reference}: {self.items}")


def verify_payments(origin, events):
    adyen = library(origin)
    pay, modify = adyen.checkout.payments_api.payments, adyen.checkout.modifications_api
    first = pay(payment("S1"), idempotency_key="S1")
    check("creates", first.message["resultCode"] == "Authorised" and first.message["merchantReference"] == "S1",
          first.message)
    name = first.message["pspReference"]
    check("an event tells the authorization", events.wait("AUTHORISATION", "S1")["pspReference"] == name)

    verified = pay(payment("S0", value=0), idempotency_key="S0").message
    check("verifies a card with zero", (verified["resultCode"], verified["amount"]["value"]) == ("Authorised", 0), verified)
    check("an event tells it", events.wait("AUTHORISATION", "S0")["amount"]["value"] == 0)

    request = payment("S2")
    one, two = (pay(request, idempotency_key="S2").message for _ in range(2))
    check("gives the first answer to a repeat", one == two, (one, two))

    captured = modify.capture_authorised_payment(money(500, "C1"), name, idempotency_key="C1")
    check("captures", captured.status_code == 201 and captured.message["status"] == "received", captured.message)
    modify.capture_authorised_payment(money(700, "C2"), name, idempotency_key="C2")
    for reference, value in (("C1", 500), ("C2", 700)):
        item = events.wait("CAPTURE", reference)
        check(f"an event tells the capture {reference}", item["success"] == "true"
              and item["originalReference"] == name and item["amount"]["value"] == value, item)

    modify.refund_captured_payment(money(300, "F1"), name, idempotency_key="F1")
    check("refunds", events.wait("REFUND", "F1")["success"] == "true")
    modify.refund_captured_payment(money(5000, "F2"), name, idempotency_key="F2")
    check("refuses a refund of more by event", events.wait("REFUND", "F2")["success"] == "false")

    modify.cancel_authorised_payment_by_psp_reference(
        {"merchantAccount": ACCOUNT, "reference": "V1"}, one["pspReference"], idempotency_key="V1")
    check("voids", events.wait("CANCELLATION", "V1")["success"] == "true")

    pay(payment("S3"), idempotency_key="S3")
    modify.cancel_authorised_payment({"merchantAccount": ACCOUNT, "paymentReference": "S3"})
    check("voids by the merchant's reference", events.wait("TECHNICAL_CANCEL", "S3")["success"] == "true")

    last = pay(payment("S4"), idempotency_key="S4").message["pspReference"]
    modify.refund_or_cancel_payment({"merchantAccount": ACCOUNT, "reference": "X1"}, last)
    item = events.wait("CANCEL_OR_REFUND", "X1")
    check("reverses", item["additionalData"]["modification.action"] == "cancel", item)

    methods = adyen.checkout.payments_api.payment_methods({"merchantAccount": ACCOUNT}).message
    check("lists payment methods", methods["paymentMethods"][0]["type"] == "applepay", methods)
    return name


def verify_refusals(origin, events):
    adyen = library(origin)
    pay = adyen.checkout.payments_api.payments
    refused = pay(payment("D1", number="4761739000000038")).message
    check("declines a card", (refused["resultCode"], refused["refusalReasonCode"]) == ("Refused", "12"), refused)
    check("an event tells the refusal", events.wait("AUTHORISATION", "D1")["success"] == "false")
    body = payment("D2")
    body["paymentMethod"]["holderName"] = "DECLINED"
    check("declines the test card holder", pay(body).message["refusalReasonCode"] == "2")
    for claim, call, error in (
            ("refuses an unknown key", lambda: library(origin, "x").checkout.payments_api.payments(payment("E1")),
             AdyenAPIAuthenticationError),
            ("refuses another merchant account", lambda: pay(payment("E2") | {"merchantAccount": "Other"}),
             AdyenAPIInvalidPermission),
            ("refuses a request without an amount",
             lambda: pay({name: value for name, value in payment("E3").items() if name != "amount"}),
             AdyenAPIUnprocessableEntity),
            ("refuses a field that is not Adyen's", lambda: pay(payment("E4", amunt=1)), AdyenAPIUnprocessableEntity)):
        try:
            raise Failed(f"{claim}: {call().message}")
        except error as refusal:
            check(claim, refusal.error_code is not None)


def verify_sealed(origin, tender, directory):
    merchant = "merchant.com.example.shop"
    manage(origin, "POST", "/portal/merchants", {"merchantIdentifier": merchant})
    csr = manage(origin, "POST", "/adyen/certificate-requests", {"merchantIdentifier": merchant})["csr"]
    record = manage(origin, "POST", f"/portal/merchants/{merchant}/certificates", {"type": "processing", "csr": csr})
    certificate = pathlib.Path(directory, "processing.pem")
    certificate.write_text(record["certificate"], encoding="utf-8")
    token = subprocess.run(
        [f"{tender}-sandbox", "token", "create", "--to", certificate, "--amount", "12.50", "--currency", "EUR",
         "--sandbox", f"{directory}/sandbox"], check=True, capture_output=True, text=True).stdout
    token = json.loads(token)
    token = token.get("token", token)
    data = base64.b64encode(json.dumps(token.get("paymentData", token)).encode()).decode()
    body = payment("T1")
    del body["mpiData"], body["additionalData"]["paymentdatasource.type"]
    body["paymentMethod"] = {"type": "applepay", "applePayToken": data}
    answer = library(origin).checkout.payments_api.payments(body).message
    check("opens a sealed payment token", answer["resultCode"] == "Authorised", answer)


def verify_agreements(origin):
    """The first payment stores the card, and later ones name it."""
    pay = library(origin).checkout.payments_api.payments
    series = {"shopperReference": "shopper-1", "recurringProcessingModel": "Subscription"}

    def begin(reference, number):
        answer = pay(payment(reference, number=number, storePaymentMethod=True, **series)).message
        check(f"begins {reference}", answer["resultCode"] == "Authorised", answer)
        return answer["additionalData"]["tokenization.storedPaymentMethodId"]

    def charge(reference, name, **more):
        body = payment(reference, shopperInteraction="ContAuth",
                       paymentMethod={"type": "scheme", "storedPaymentMethodId": name}, **{**series, **more})
        del body["mpiData"], body["additionalData"]["paymentdatasource.type"]
        return pay(body)

    name = begin("A1", "4761739009000021")
    for reference in ("A2", "A3"):
        check(f"charges a merchant token again, {reference}",
              charge(reference, name).message["resultCode"] == "Authorised")
    other = charge("A4", name, recurringProcessingModel="UnscheduledCardOnFile").message
    check("declines another model", other["resultCode"] == "Refused", other)
    own = charge("A6", begin("A5", "4761739000000012")).message
    check("declines a Visa that is the device's own", (own["resultCode"], own["refusalReasonCode"]) == ("Refused", "23"), own)
    try:
        raise Failed(f"charges another shopper's card: {charge('A7', name, shopperReference='shopper-2').message}")
    except AdyenAPIUnprocessableEntity as refusal:
        check("knows no card of another shopper", refusal.error_code == "800", refusal)


def verify_report(origin, name):
    rows = list(csv.DictReader(io.StringIO(manage(origin, "GET", "/adyen/report"))))
    own = [(row["Record Type"], row["Main Amount"], row["Modification Merchant Reference"]) for row in rows
           if row["Psp Reference"] == name]
    check("the report has every change", own == [
        ("Received", "12.50", ""), ("Authorised", "12.50", ""), ("SentForSettle", "5.00", "C1"),
        ("SentForSettle", "7.00", "C2"), ("SentForRefund", "3.00", "F1")], own)


def verify_requests():
    """For the same act, the library sends the connector's address, headers and body."""
    recorder = Server(b"{}")
    adyen = library(recorder.url)
    pay, modify = adyen.checkout.payments_api, adyen.checkout.modifications_api
    name = "NC6HT9CRT65ZGN82"
    calls = {
        "authorize": lambda body, key: pay.payments(body, idempotency_key=key),
        "capture": lambda body, key: modify.capture_authorised_payment(body, name, idempotency_key=key),
        "void": lambda body, key: modify.cancel_authorised_payment_by_psp_reference(body, name, idempotency_key=key),
        "refund": lambda body, key: modify.refund_captured_payment(body, name, idempotency_key=key),
        "reverse": lambda body, key: modify.cancel_authorised_payment(body, idempotency_key=key),
        "checkCredentials": lambda body, key: pay.payment_methods(body, idempotency_key=key),
    }
    for request in json.loads((HERE / "requests.json").read_text(encoding="utf-8")):
        published.validate("adyen", request["body"], schema(request["path"]) + "Request")
        calls[request["act"]](request["body"], request["key"])
        _, path, headers, body = recorder.arrived.get(timeout=STILL)
        expected = {"x-api-key": KEY, "content-type": "application/json"}
        if request["key"]:
            expected["idempotency-key"] = request["key"]
        unexplained = {field for field in headers if field not in expected} - set(EXPLAINED) - TRANSPORT
        same = path == request["path"] and json.loads(body) == request["body"] \
            and all(headers.get(field) == value for field, value in expected.items())
        check(f"sends what the connector sends to {request['act']}", same and not unexplained,
              (path, headers, body))


def main():
    with sandbox() as (origin, tender, directory):
        EMULATORS.add(origin)
        webhook = Server(b"[accepted]")
        manage(origin, "PUT", "/adyen/webhook", {"url": webhook.url + "/events"})
        events = Events(webhook)
        verify_requests()
        name = verify_payments(origin, events)
        verify_refusals(origin, events)
        verify_sealed(origin, tender, directory)
        verify_agreements(origin)
        verify_report(origin, name)
    print(f"adyen: the library of Adyen {Adyen.settings.LIB_VERSION} agrees{published.summary()}")


if __name__ == "__main__":
    run("adyen", main)
