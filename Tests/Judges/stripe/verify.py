#!/usr/bin/env python3
"""Stripe's own Python library against the emulated Stripe of `tender-sandbox`: verify.py TENDER

The library is unmodified; only the host of its addresses is another. It makes tokens, pays, captures, cancels, refunds,
repeats, searches, lists, is refused, and checks the signatures of the events. The same library shows which bytes it
sends for the acts of Tender's connector, whose requests are in requests.json, where StripeConnectorTests compares them
with what the connector sends.
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

import stripe

KEY, SECRET, NEXT_SECRET = "sk_test_tendersandbox", "whsec_tendersandbox", "whsec_tendersandboxnext"
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from harness import check, Failed, run, sandbox, Server, STILL, TRANSPORT  # noqa: E402

# What the library sends and the connector does not, and why.
EXPLAINED = {
    "user-agent": "names the library",
    "x-stripe-client-user-agent": "names the library and its machine",
    "x-stripe-client-telemetry": "how long the call before took",
    "accept-encoding": "Python's HTTP client offers compression",
    "accept": "Python's HTTP client takes everything",
    "connection": "Python's HTTP client keeps its connection open",
    "idempotency-key": "the library makes up a key where the caller gives none",
}


def library(origin, key=KEY, **more):
    """Stripe's client with another host. It does not retry, so that each call is one."""
    return stripe.StripeClient(key, base_addresses={"api": origin}, max_network_retries=0, **more).v1


def network_token(reference, number="4761739000000012", amount=1250, **more):
    cryptogram = base64.b64encode(os.urandom(20)).decode()
    token = {"number": number, "exp_month": "12", "exp_year": "2031", "tokenization_method": "apple_pay"}
    return {
        "amount": amount, "currency": "eur", "confirm": "true", "capture_method": "manual",
        "payment_method_types": ["card"],
        "payment_method_data": {"type": "card", "card": {
            "exp_month": "12", "exp_year": "2031", "last4": number[-4:], "network_token": token}},
        "payment_method_options": {"card": {
            "network_token": {"cryptogram": cryptogram, "electronic_commerce_indicator": "07"},
            "request_multicapture": "if_available"}},
        "metadata": {"tender_reference": reference}, "expand": ["latest_charge"], **more}


def token(reference, name, **more):
    return {"amount": 1250, "currency": "eur", "confirm": "true", "payment_method_types": ["card"],
            "payment_method_data": {"type": "card", "card": {"token": name}},
            "metadata": {"tender_reference": reference}, **more}


def manage(origin, method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        origin + path, data, {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=STILL) as answer:
        return json.loads(answer.read())


class Events:
    """The events that arrived, each of which the library has found authentic."""

    def __init__(self, server):
        self.server, self.events = server, []

    def wait(self, kind, name):
        deadline = time.monotonic() + STILL
        while time.monotonic() < deadline:
            for event in self.events:
                if (event.type, event.data.object.id) == (kind, name):
                    return event
            try:
                _, _, headers, body = self.server.arrived.get(timeout=1)
            except queue.Empty:
                continue
            self.events.append(self.authentic(body, headers["stripe-signature"]))
        raise Failed(f"no event {kind} of {name}: {self.events}")

    @staticmethod
    def authentic(body, signature):
        event = stripe.Webhook.construct_event(body, signature, SECRET)
        for wrong in ((body + b" ", signature, SECRET), (body, signature, SECRET + "x")):
            try:
                stripe.Webhook.construct_event(*wrong)
            except stripe.SignatureVerificationError:
                continue
            raise Failed("the library finds a wrong signature authentic")
        return event


def refused(claim, error, call, **fields):
    try:
        answer = call()
    except error as refusal:
        return check(claim, all(getattr(refusal, name) == value for name, value in fields.items()), vars(refusal))
    raise Failed(f"{claim}: {answer}")


def verify_payments(origin, events):
    intents, refunds = library(origin).payment_intents, library(origin).refunds
    first = intents.create(network_token("S1"), {"idempotency_key": "S1"})
    card = first.latest_charge.payment_method_details.card
    check("creates", first.status == "requires_capture" and first.amount_capturable == 1250, first)
    check("expands the charge", len(card.authorization_code) == 6 and card.multicapture.status == "available", card)
    event = events.wait("payment_intent.amount_capturable_updated", first.id)
    check("an event tells the authorization, with the key", event.request.idempotency_key == "S1", event)

    request = network_token("S2")
    one, two = (intents.create(request, {"idempotency_key": "S2"}) for _ in range(2))
    check("gives the first answer to a repeat", one == two and two.last_response.headers["idempotent-replayed"] == "true")
    refused("refuses other parameters under the key", stripe.IdempotencyError,
            lambda: intents.create({**request, "amount": 1251}, {"idempotency_key": "S2"}), http_status=400)

    part = intents.capture(first.id, {"amount_to_capture": 500, "final_capture": False, "metadata": {"c": "500"}})
    check("captures a part", (part.status, part.amount_capturable, part.metadata.c) == ("requires_capture", 750, "500"))
    rest = intents.capture(first.id, {"amount_to_capture": 700})
    check("captures the last part", (rest.status, rest.amount_received) == ("succeeded", 1200), rest)
    check("an event tells the capture", events.wait("payment_intent.succeeded", first.id).data.object.amount_received)
    refused("refuses a third capture", stripe.InvalidRequestError, lambda: intents.capture(first.id),
            code="payment_intent_unexpected_state")

    refund = refunds.create({"payment_intent": first.id, "amount": 300, "metadata": {"tender_reference": "F1"}})
    check("refunds", refund.status == "succeeded" and refund.balance_transaction, refund)
    check("an event tells the refund", events.wait("refund.created", refund.id).data.object.amount == 300)
    check("finds the refund", refunds.retrieve(refund.id).amount == 300)
    found = refunds.list({"payment_intent": first.id}).data
    check("lists refunds, and what was released", [item.amount for item in found] == [300, 50], found)

    check("cancels", intents.cancel(one.id).status == "canceled")
    events.wait("payment_intent.canceled", one.id)
    automatic = intents.create({**network_token("S3"), "capture_method": "automatic"})
    check("captures by itself", (automatic.status, automatic.amount_received) == ("succeeded", 1250), automatic)
    return first


def verify_later(origin, events):
    api = library(origin)
    later = api.payment_intents.create(token("L1", "tok_pendingRefund"))
    refund = api.refunds.create({"payment_intent": later.id})
    check("leaves a refund pending", refund.status == "pending", refund)
    check("an event tells its end", events.wait("refund.updated", refund.id).data.object.status == "succeeded")
    failing = api.refunds.create({"payment_intent": api.payment_intents.create(token("L2", "tok_refundFail")).id})
    check("an event tells a refund's failure", events.wait("refund.failed", failing.id).data.object.failure_reason)
    pending = api.payment_intents.create(network_token("L3", number="4761739000000053"))
    check("leaves a payment pending", pending.status == "processing", pending)
    events.wait("payment_intent.amount_capturable_updated", pending.id)


def verify_finding(origin, first):
    intents = library(origin).payment_intents
    check("finds", intents.retrieve(first.id).metadata.tender_reference == "S1")
    newest = intents.list({"limit": 2, "created": {"gte": first.created - 60}})
    check("lists in pages", len(newest.data) == 2 and newest.has_more, newest)
    ids = [intent.id for intent in newest.auto_paging_iter()]
    check("the library reads every page", first.id in ids and len(set(ids)) == len(ids) > 4, ids)
    found = intents.search({"query": "metadata['tender_reference']:'S1'"})
    check("a search lags behind", found.data == [] and not found.has_more, found)
    check("tells the balance", library(origin).balance.retrieve().available[0].currency == "eur")


def verify_refusals(origin):
    intents = library(origin).payment_intents
    refused("declines a card", stripe.CardError,
            lambda: intents.create(network_token("D1", number="4761739000000038")),
            http_status=402, code="card_declined")
    try:
        intents.create(token("D2", "tok_chargeDeclinedLostCard"))
        raise Failed("a lost card pays")
    except stripe.CardError as error:
        check("a decline names its reason and its intent", error.error.decline_code == "lost_card"
              and error.error.payment_intent.status == "requires_payment_method", error.error)
    for claim, error, call, fields in (
            ("refuses an unknown key", stripe.AuthenticationError,
             lambda: library(origin, "sk_test_x").balance.retrieve(), {"http_status": 401}),
            ("lets a restricted key read only", stripe.PermissionError,
             lambda: library(origin, "rk_test_tendersandbox").payment_intents.create(network_token("E1")),
             {"http_status": 403}),
            ("refuses an account that is not connected", stripe.PermissionError,
             lambda: intents.create(network_token("E2"), {"stripe_account": "acct_x"}), {"http_status": 403}),
            ("refuses a request without a currency", stripe.InvalidRequestError,
             lambda: intents.create({key: value for key, value in network_token("E3").items() if key != "currency"}),
             {"param": "currency", "code": "parameter_missing"}),
            ("refuses a parameter that is not Stripe's", stripe.InvalidRequestError,
             lambda: intents.create(network_token("E4", amunt=1)), {"code": "parameter_unknown"}),
            ("refuses another version", stripe.InvalidRequestError,
             lambda: intents.create(network_token("E5"), {"stripe_version": "2010-01-01"}), {"http_status": 400}),
            ("refuses krónur with a fraction", stripe.InvalidRequestError,
             lambda: intents.create({**network_token("E6"), "currency": "isk", "amount": 501}), {"param": "amount"}),
            ("knows no other intent", stripe.InvalidRequestError,
             lambda: intents.retrieve("pi_none"), {"http_status": 404, "code": "resource_missing"})):
        refused(claim, error, call, **fields)
    challenged = intents.create(token("E7", "tok_threeDSecure2Required"))
    check("asks for a challenge", challenged.status == "requires_action", challenged)
    check("pays a connected account", intents.create(
        network_token("E8"), {"stripe_account": "acct_tenderconnected"}).status == "requires_capture")


def verify_faults(origin):
    intents = library(origin).payment_intents
    request, key = network_token("X1"), {"idempotency_key": "X1"}
    manage(origin, "POST", "/stripe/faults", {"next": "failed_after"})
    for claim in ("fails after the act", "keeps the failure under the key"):
        refused(claim, stripe.APIError, lambda: intents.create(request, key), http_status=500)
    manage(origin, "POST", "/stripe/faults", {"next": "too_many_requests"})
    refused("limits the rate", stripe.RateLimitError, lambda: intents.create(network_token("X2")), http_status=429)
    manage(origin, "POST", "/stripe/faults", {"next": "in_progress"})
    refused("refuses a key in use", stripe.APIError, lambda: intents.create(network_token("X3")),
            http_status=409)


def verify_sealed(origin, tender, directory):
    merchant = "merchant.com.example.shop"
    manage(origin, "POST", "/portal/merchants", {"merchantIdentifier": merchant})
    csr = manage(origin, "POST", "/stripe/certificate-requests", {"merchantIdentifier": merchant})["csr"]
    record = manage(origin, "POST", f"/portal/merchants/{merchant}/certificates", {"type": "processing", "csr": csr})
    certificate = pathlib.Path(directory, "processing.pem")
    certificate.write_text(record["certificate"], encoding="utf-8")
    created = subprocess.run(
        [f"{tender}-sandbox", "token", "create", "--to", certificate, "--amount", "12.50", "--currency", "EUR",
         "--sandbox", f"{directory}/sandbox"], check=True, capture_output=True, text=True).stdout
    payment = json.loads(created)
    payment = payment.get("token", payment)
    api = library(origin, "pk_test_tendersandbox")
    made = api.tokens.create({
        "pk_token": json.dumps(payment.get("paymentData", payment)), "pk_token_instrument_name": "Visa 0492",
        "pk_token_payment_network": "Visa", "pk_token_transaction_id": "0" * 64})
    check("opens a sealed payment token", made.card.tokenization_method == "apple_pay", made)
    intents = library(origin).payment_intents
    paid = intents.create(token("T1", made.id, capture_method="manual"))
    check("pays with the token", paid.status == "requires_capture", paid)
    refused("takes a token once", stripe.InvalidRequestError, lambda: intents.create(token("T2", made.id)),
            code="token_already_used")


def verify_rolling(origin, events):
    """While a secret is rolled, an event has two signatures, and either secret verifies it."""
    manage(origin, "PUT", "/stripe/webhook", {"url": events.server.url + "/events", "rolling": True})
    intent = library(origin).payment_intents.create(network_token("W1"))
    while True:
        _, _, headers, body = events.server.arrived.get(timeout=STILL)
        if stripe.Webhook.construct_event(body, headers["stripe-signature"], SECRET).data.object.id == intent.id:
            break
    stripe.Webhook.construct_event(body, headers["stripe-signature"], NEXT_SECRET)
    check("signs with both secrets while one is rolled", headers["stripe-signature"].count("v1=") == 2)


def verify_requests():
    """For the same act, the library sends the connector's address, headers and body."""
    recorder = Server()
    api = library(recorder.url)
    authorize = network_token("R1")
    authorize["payment_method_options"]["card"]["network_token"]["cryptogram"] = "AgAAAAAAAIR8CQrXcIhbQAAAAAA="
    calls = {
        "authorize": lambda options: api.payment_intents.create(authorize, options),
        "capture": lambda options: api.payment_intents.capture(
            "pi_1", {"amount_to_capture": 500, "final_capture": False, "metadata": {"capture_C1": "500"}}, options),
        "void": lambda options: api.payment_intents.cancel("pi_1", {}, options),
        "refund": lambda options: api.refunds.create(
            {"payment_intent": "pi_1", "amount": 500, "metadata": {"tender_reference": "C1"}}, options),
        "inquire": lambda options: api.payment_intents.retrieve("pi_1", {"expand": ["latest_charge"]}, options),
        "checkCredentials": lambda options: api.balance.retrieve({}, options),
    }
    for request in json.loads((HERE / "requests.json").read_text(encoding="utf-8")):
        key = request.get("key")
        calls[request["act"]]({"idempotency_key": key} if key else {})
        method, path, headers, body = recorder.arrived.get(timeout=STILL)
        expected = {"authorization": f"Bearer {KEY}", "stripe-version": stripe.api_version}
        if method == "POST":
            expected["content-type"] = "application/x-www-form-urlencoded"
        if key:
            expected["idempotency-key"] = key
        query = f"?{request['query']}" if "query" in request else ""
        unexplained = {field for field in headers if field not in expected} - set(EXPLAINED) - TRANSPORT
        # The library names the type of a body that it does not have, too.
        unexplained -= {"content-type"} if method == "GET" else set()
        same = path == request["path"] + query and body.decode() == request.get("body", "") \
            and all(headers.get(field) == value for field, value in expected.items())
        check(f"sends what the connector sends to {request['act']}", same and not unexplained,
              (path, headers, body))


def main():
    with sandbox() as (origin, tender, directory):
        webhook = Server()
        manage(origin, "PUT", "/stripe/webhook", {"url": webhook.url + "/events"})
        events = Events(webhook)
        verify_requests()
        first = verify_payments(origin, events)
        verify_later(origin, events)
        verify_finding(origin, first)
        verify_refusals(origin)
        verify_faults(origin)
        verify_sealed(origin, tender, directory)
        verify_rolling(origin, events)
    print(f"stripe: the library of Stripe {stripe.VERSION} agrees")


if __name__ == "__main__":
    run("stripe", main)
