#!/usr/bin/env python3
"""Worldline Acquiring's own Python library against the emulator of `tender-sandbox`: verify.py TENDER

The library is unmodified; only the addresses are others. It obtains access tokens, pays, captures, increments, reverses,
refunds, inquires, repeats and is refused. The same library shows which bytes it sends for the acts of Tender's
connector, whose requests are in requests.json, where WorldlineAcquiringConnectorTests compares them with what the
connector sends.
"""
import base64
import datetime
import json
import os
import pathlib
import queue
import sys
import time
import urllib.request
import uuid

from worldline.acquiring.sdk.authentication.oauth2_exception import OAuth2Exception
from worldline.acquiring.sdk.communicator_configuration import CommunicatorConfiguration
from worldline.acquiring.sdk.factory import Factory
from worldline.acquiring.sdk.v1.acquirer.merchant.cardpayments.get_payment_status_params import GetPaymentStatusParams
from worldline.acquiring.sdk.v1.acquirer.merchant.cardrefunds.get_refund_params import GetRefundParams
from worldline.acquiring.sdk.v1.api_exception import ApiException
from worldline.acquiring.sdk.v1.authorization_exception import AuthorizationException
from worldline.acquiring.sdk.v1.domain.api_account_verification_request import ApiAccountVerificationRequest
from worldline.acquiring.sdk.v1.domain.api_capture_request import ApiCaptureRequest
from worldline.acquiring.sdk.v1.domain.api_increment_request import ApiIncrementRequest
from worldline.acquiring.sdk.v1.domain.api_payment_refund_request import ApiPaymentRefundRequest
from worldline.acquiring.sdk.v1.domain.api_payment_request import ApiPaymentRequest
from worldline.acquiring.sdk.v1.domain.api_payment_reversal_request import ApiPaymentReversalRequest
from worldline.acquiring.sdk.v1.domain.api_technical_reversal_request import ApiTechnicalReversalRequest
from worldline.acquiring.sdk.v1.platform_exception import PlatformException
from worldline.acquiring.sdk.v1.reference_exception import ReferenceException
from worldline.acquiring.sdk.v1.validation_exception import ValidationException

CLIENT, SECRET, ACQUIRER, MERCHANT = "tender-sandbox", "sandbox-client-secret", "100001", "520000001"
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from harness import check, Failed, run, sandbox, Server, STILL, TRANSPORT  # noqa: E402

# What the library sends and the connector does not, and why.
EXPLAINED = {
    "user-agent": "names the library",
    "x-wl-servermetainfo": "names the library, the platform and the integrator",
    "date": "the library's own time; the API does not need it",
    "accept": "Python's HTTP client says that it takes anything",
    "accept-encoding": "Python's HTTP client says what it decodes",
    "connection": "Python's HTTP client keeps the connection",
}


def library(origin, secret=SECRET, scopes=None):
    """Worldline's client with other addresses."""
    return Factory.create_client_from_configuration(CommunicatorConfiguration(
        api_endpoint=origin, authorization_type="OAuth2", oauth2_client_id=CLIENT, oauth2_client_secret=secret,
        oauth2_token_uri=origin + "/connect/token", oauth2_scopes=scopes, connect_timeout=STILL, socket_timeout=STILL,
        max_connections=5, integrator="Tender"))


def head():
    return {"operationId": str(uuid.uuid4()), "transactionTimestamp": datetime.datetime.now().isoformat() + "+00:00"}


def money(value):
    return {"amount": value, "currencyCode": "EUR", "numberOfDecimals": 2}


def payment(number="4761739000000012", value=1250, kind="FINAL_AUTHORIZATION", **more):
    return {
        **head(), "amount": money(value), "authorizationType": kind,
        "references": {"merchantReference": "order"},
        "cardPaymentData": {
            "brand": "VISA", "cardEntryMode": "ECOMMERCE", "captureImmediately": False, "allowPartialApproval": False,
            "cardholderVerificationMethod": "CARDHOLDER_DEVICE", "walletId": "103",
            "cardData": {"cardNumber": number, "expiryDate": "122031"},
            "networkTokenData": {"cryptogram": base64.b64encode(os.urandom(20)).decode(), "eci": "07"}}, **more}


def verification(number="4761739000000012"):
    """A card, and no amount."""
    body = payment(number)
    for member in ("captureImmediately", "allowPartialApproval"):
        del body["cardPaymentData"][member]
    return {name: value for name, value in body.items() if name not in ("amount", "authorizationType")}


def build(kind, body):
    return kind().from_dictionary(body)


def manage(origin, method, path, body=None):
    pair = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
    request = urllib.request.Request(
        origin + "/worldline-acquiring/" + path, None if body is None else json.dumps(body).encode(),
        {"Authorization": "Basic " + pair, "Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=STILL) as answer:
        return answer.read().decode()


def verify_payments(origin, client):
    merchant = client.v1().acquirer(ACQUIRER).merchant(MERCHANT)
    payments, reversals = merchant.card_payments(), merchant.technical_reversals()
    client.v1().ping().ping()
    check("pings", True)

    request = build(ApiPaymentRequest, payment())
    first = payments.process_payment(request)
    check("authorizes", (first.operation_id, first.status, first.response_code, first.response_code_category)
          == (request.operation_id, "AUTHORIZED", "0", "APPROVED"), first.to_dictionary())
    check("names the authorized amount", first.total_authorized_amount.to_dictionary() == money(1250))
    check("gives the first answer to a repeat",
          payments.process_payment(request).to_dictionary() == first.to_dictionary())

    name = first.payment_id
    for number, (value, final) in enumerate(((500, False), (700, True)), 1):
        answer = payments.simple_capture_of_payment(name, build(ApiCaptureRequest, {
            **head(), "amount": money(value), "isFinal": final, "captureSequenceNumber": number}))
        check(f"captures part {number}", answer.response_code_category == "APPROVED"
              and answer.payment.status == ("CONFIRMED" if final else "AUTHORIZED"), answer.to_dictionary())
    refund = payments.create_refund(name, build(ApiPaymentRefundRequest, {
        **head(), "amount": money(300), "captureImmediately": True}))
    check("refunds a part", refund.refund.status == "CONFIRMED", refund.to_dictionary())
    params = GetRefundParams()
    params.return_operations = True
    found = merchant.card_refunds().get_refund(refund.refund.refund_id, params)
    check("finds a refund", (found.referenced_payment_id, found.status) == (name, "CONFIRMED"), found.to_dictionary())

    params = GetPaymentStatusParams()
    params.return_operations = True
    found = payments.get_payment_status(name, params)
    kinds = [(operation.operation_type, operation.amount.amount) for operation in found.operations]
    check("lists the operations of a payment", kinds == [
        ("AUTHORIZATION", 1250), ("CAPTURE", 500), ("CAPTURE", 700), ("REFUND", 300)], kinds)
    check("lists none unless asked", payments.get_payment_status(name, GetPaymentStatusParams()).operations is None)

    pre = payments.process_payment(build(ApiPaymentRequest, payment(kind="PRE_AUTHORIZATION")))
    answer = payments.increment_payment(pre.payment_id, build(ApiIncrementRequest, {
        **head(), "incrementAmount": money(250)}))
    check("increments a pre-authorization", answer.total_authorized_amount.amount == 1500, answer.to_dictionary())
    answer = payments.reverse_authorization(pre.payment_id, build(ApiPaymentReversalRequest, {
        **head(), "reversalAmount": money(500)}))
    check("reverses a part", (answer.payment.status, answer.total_authorized_amount.amount) == ("AUTHORIZED", 1000))
    answer = payments.reverse_authorization(pre.payment_id, build(ApiPaymentReversalRequest, head()))
    check("reverses the rest", answer.payment.status == "REVERSED", answer.to_dictionary())

    accounts = merchant.account_verifications()
    request = build(ApiAccountVerificationRequest, verification())
    one, two = (accounts.process_account_verification(request) for _ in range(2))
    check("verifies a card without an amount, once", one.response_code_category == "APPROVED" and one.authorization_code
          and one.to_dictionary() == two.to_dictionary(), one.to_dictionary())
    refusal = accounts.process_account_verification(build(ApiAccountVerificationRequest, verification("4761739000000038")))
    check("and refuses another", refusal.response_code_category == "DECLINED", refusal.to_dictionary())

    request = build(ApiPaymentRequest, payment())
    undone = payments.process_payment(request)
    answer = reversals.technical_reversal(request.operation_id, build(ApiTechnicalReversalRequest, {
        **head(), "reason": "TIMEOUT_WAITING_RESPONSE"}))
    check("undoes an authorization by its operationId", answer.response_code == "0"
          and payments.get_payment_status(undone.payment_id, GetPaymentStatusParams()).status == "REVERSED")
    answer = reversals.technical_reversal(str(uuid.uuid4()), build(ApiTechnicalReversalRequest, head()))
    check("notes the reversal of what is not known", (answer.response_code, answer.response_code_category)
          == ("7204", "APPROVED"), answer.to_dictionary())
    return name


def verify_refusals(origin, client):
    payments = client.v1().acquirer(ACQUIRER).merchant(MERCHANT).card_payments()
    declined = payments.process_payment(build(ApiPaymentRequest, payment("4761739000000038")))
    check("declines a card, with the scheme's advice", (declined.status, declined.response_code) == (
        "NOT_AUTHORIZED", "51") and declined.additional_response_data.merchant_advice_code == "24",
        declined.to_dictionary())
    request = payment()
    payments.process_payment(build(ApiPaymentRequest, request))
    held = payments.process_payment(build(ApiPaymentRequest, payment()))
    refused = (
        ("refuses a request without an amount", ValidationException, lambda: payments.process_payment(
            build(ApiPaymentRequest, {key: value for key, value in payment().items() if key != "amount"}))),
        ("refuses a used operationId with other contents", ReferenceException, lambda: payments.process_payment(
            build(ApiPaymentRequest, request | {"amount": money(1)}))),
        ("refuses to refund what is not captured", ReferenceException, lambda: payments.create_refund(
            held.payment_id, build(ApiPaymentRefundRequest, head()))),
        ("does not know another payment", ReferenceException, lambda: payments.get_payment_status(
            "pay:ch:etu:none", GetPaymentStatusParams())),
        ("refuses another merchant", AuthorizationException, lambda: client.v1().acquirer(ACQUIRER).merchant("1")
         .card_payments().process_payment(build(ApiPaymentRequest, payment()))),
        ("refuses what the token's scopes do not cover", AuthorizationException, lambda: library(
            origin, scopes="processing_refund").v1().ping().ping()),
        ("refuses a wrong secret", OAuth2Exception, lambda: library(origin, secret="x").v1().ping().ping()),
    )
    for claim, error, call in refused:
        try:
            raise Failed(f"{claim}: {call()}")
        except error as refusal:
            problem = not isinstance(refusal, ApiException) or (refusal.status_code == refusal.status and refusal.type)
            check(claim, problem, vars(refusal))
    manage(origin, "POST", "faults", {"next": "failed_before"})
    try:
        raise Failed(f"fails on demand: {payments.process_payment(build(ApiPaymentRequest, payment()))}")
    except PlatformException as failure:
        check("fails on demand", failure.status_code == 500)


def verify_report(origin, name):
    payments = json.loads(manage(origin, "GET", "payments"))["payments"]
    own = next(row for row in payments if row["paymentId"] == name)
    check("the balances are right", (own["authorized"], own["captured"], own["refunded"]) == (1200, 1200, 300), own)
    rows = [row.split(",") for row in manage(origin, "GET", "report").splitlines()]
    check("the report has every operation", rows[0] == ["reference", "operation", "amount", "currency", "result", "time", "authorization", "name"]
          and [row[1:5] for row in rows[1:5]] == [
              ["authorize", "1250", "EUR", "approved"], ["capture", "500", "EUR", "approved"],
              ["capture", "700", "EUR", "approved"], ["refund", "300", "EUR", "approved"]], rows[:6])


class Recorder(Server):
    """Issues access tokens, records every other call, and answers it with an empty object or nothing."""

    def __init__(self):
        super().__init__()
        self.forms = queue.Queue()

    def receive(self, method, path, headers, body):
        if path == "/connect/token":
            self.forms.put((headers, body))
            return b'{"access_token":"token-1","expires_in":3600,"token_type":"Bearer"}'
        answer = super().receive(method, path, headers, body)
        # A ping is answered with nothing: the library reads no body.
        return b"" if path.endswith("/ping") else answer


def same_moment(body):
    """The library writes milliseconds and an offset, the connector `Z`: both are ISO 8601."""
    if body and "transactionTimestamp" in body:
        moment = datetime.datetime.fromisoformat(body["transactionTimestamp"].replace("Z", "+00:00"))
        return body | {"transactionTimestamp": moment.timestamp()}
    return body


def verify_requests():
    """For the same act, the library sends the connector's address, headers and body."""
    recorder = Recorder()
    client = library(recorder.url, scopes="processing_payment processing_refund")
    merchant = client.v1().acquirer("100812").merchant("520001857")
    payments, name = merchant.card_payments(), "pay:ch:etu:xBNVCvvTT3GYTn9oz_asvQ"
    params = GetPaymentStatusParams()
    params.return_operations = True
    calls = {
        "authorize": lambda body: payments.process_payment(build(ApiPaymentRequest, body)),
        "capture": lambda body: payments.simple_capture_of_payment(name, build(ApiCaptureRequest, body)),
        "void": lambda body: payments.reverse_authorization(name, build(ApiPaymentReversalRequest, body)),
        "refund": lambda body: payments.create_refund(name, build(ApiPaymentRefundRequest, body)),
        "increment": lambda body: payments.increment_payment(name, build(ApiIncrementRequest, body)),
        "verify": lambda body: merchant.account_verifications().process_account_verification(
            build(ApiAccountVerificationRequest, body)),
        "inquire": lambda body: payments.get_payment_status(name, params),
        "reverse": lambda body: merchant.technical_reversals().technical_reversal(
            "R1", build(ApiTechnicalReversalRequest, body)),
        "checkCredentials": lambda body: client.v1().ping().ping(),
    }
    for request in json.loads((HERE / "requests.json").read_text(encoding="utf-8")):
        calls[request["act"]](request["body"])
        method, path, headers, body = recorder.arrived.get(timeout=STILL)
        sent = json.loads(body) if body else None
        expected = {"authorization": "Bearer token-1"}
        if request["body"]:
            expected["content-type"] = "application/json"
        unexplained = set(headers) - set(expected) - set(EXPLAINED) - TRANSPORT - {"trace-id"}
        # The library writes Python's True.
        same = (method, path.replace("True", "true")) == (request["method"], request["path"]) \
            and same_moment(sent) == same_moment(request["body"]) and uuid.UUID(headers["trace-id"]) \
            and all(headers.get(field, "").split(";")[0] == value for field, value in expected.items())
        check(f"sends what the connector sends to {request['act']}", same and not unexplained,
              (method, path, headers, body))
    headers, form = recorder.forms.get(timeout=STILL)
    check("asks for an access token with the credentials in a form", form == (
        f"grant_type=client_credentials&client_id={CLIENT}&client_secret={SECRET}"
        "&scope=processing_payment processing_refund").encode(), form)
    check("asks for one access token", recorder.forms.empty())


def main():
    verify_requests()
    with sandbox() as (origin, _, _):
        client = library(origin)
        name = verify_payments(origin, client)
        verify_refusals(origin, client)
        verify_report(origin, name)
    print("worldline-acquiring: the library of Worldline Acquiring 3.1.0 agrees")


if __name__ == "__main__":
    run("worldline-acquiring", main)
