#!/usr/bin/env python3
"""Worldline Direct's own Python libraries against Tender's hosted checkouts and payment links: verify.py TENDER

Both libraries, of today (10.3.0) and of 2021 (1.10.0), are unmodified; only the host is another. They make checkouts of
the market stall of `tender-sandbox demo` and read every way in which one ends. The shopper's part is played over HTTP: what the
page's button calls, and the sandbox's device. What was taken is compared with the acquirer's own ledger.
"""
import configparser
import contextlib
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from ingenico.direct.sdk import communicator_configuration as old_configuration
from ingenico.direct.sdk import factory as old_factory
from ingenico.direct.sdk import validation_exception as old_validation
from ingenico.direct.sdk.defaultimpl.default_marshaller import DefaultMarshaller as OldMarshaller
from ingenico.direct.sdk.domain import create_hosted_checkout_request as old_create
from onlinepayments.sdk.authentication.authorization_type import AuthorizationType
from onlinepayments.sdk.communicator_configuration import CommunicatorConfiguration
from onlinepayments.sdk.domain.create_hosted_checkout_request import CreateHostedCheckoutRequest
from onlinepayments.sdk.domain.create_payment_link_request import CreatePaymentLinkRequest
from onlinepayments.sdk.factory import Factory
from onlinepayments.sdk.json.default_marshaller import DefaultMarshaller
from onlinepayments.sdk.reference_exception import ReferenceException
from onlinepayments.sdk.validation_exception import ValidationException

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "Support"))
import free_ports  # noqa: E402
from demo_server import STILL  # noqa: E402

MERCHANT = "stall"
DECLINED, GOOD = "visa-insufficient-funds", "visa-debit"
BACK = "https://stall.example/back?order=7"


class Failed(Exception):
    pass


def check(claim, holds, detail=""):
    if not holds:
        raise Failed(f"{claim}: {detail}")
    print(f"  {claim}")


class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def call(url, method="GET", body=None, origin=None):
    """Status, headers and JSON or text of an answer, also of a refusal; follows no redirect."""
    headers = {"Origin": origin} if origin else {}
    if body is not None:
        headers["Content-Type"] = "application/json"
    request = urllib.request.Request(
        url, None if body is None else json.dumps(body).encode(), headers, method=method)
    try:
        answer = urllib.request.build_opener(Stay).open(request, timeout=STILL)
    except urllib.error.HTTPError as refusal:
        answer = refusal
    text = answer.read().decode()
    try:
        text = json.loads(text)
    except ValueError:
        pass
    return answer.status, answer.headers, text


class Demo:
    """`tender-sandbox demo`, its market stall's server with both libraries, and a shopper."""

    def __init__(self, port, home):
        self.port, self.folder = port, pathlib.Path(home) / f".tender/demo-{port}"
        self.server, self.sandbox = f"http://localhost:{port}", f"http://localhost:{port + 2}"

    def libraries(self):
        secret = next((self.folder / "merchants" / MERCHANT / "api-keys").glob("*.secret"))
        key, text = secret.stem, secret.read_text().strip()
        today = Factory.create_client_from_configuration(CommunicatorConfiguration(
            api_endpoint=f"http://127.0.0.1:{self.port}", api_key_id=key, secret_api_key=text,
            authorization_type=AuthorizationType.V1HMAC, connect_timeout=STILL, socket_timeout=STILL, max_connections=2,
            integrator="Tender")).merchant(MERCHANT)
        settings = configparser.ConfigParser()
        settings["DirectSDK"] = {
            "direct.api.endpoint.host": "127.0.0.1", "direct.api.endpoint.scheme": "http",
            "direct.api.endpoint.port": str(self.port), "direct.api.authorizationType": "v1HMAC",
            "direct.api.connectTimeout": str(STILL), "direct.api.socketTimeout": str(STILL), "direct.api.maxConnections": "10",
            "direct.api.integrator": "Tender"}
        old = old_factory.Factory.create_client_from_configuration(old_configuration.CommunicatorConfiguration(
            settings, api_key_id=key, secret_api_key=text)).merchant(MERCHANT)
        return today, old

    # The shopper

    def page(self, checkout, path="", method="GET"):
        return call(f"{self.server}/hosted/{checkout}{path}", method)

    def api(self, checkout, method, path, body=None):
        return call(f"{self.server}/hosted/{checkout}/applepay/{path}", method, body, self.server)[2]

    def token(self, checkout, card=GOOD):
        request = self.api(checkout, "GET", f"basket/{checkout}")["request"]
        session = self.api(checkout, "POST", "validate", {"basketId": checkout})
        status, _, token = call(f"{self.sandbox}/device/tokens", "POST", {
            "cardId": card, "merchantSession": session, "amount": request["total"]["amount"],
            "currency": request["currencyCode"], "applicationData": request["applicationData"]}, self.server)
        if status != 200:
            raise Failed(f"the device makes no token: {token}")
        return token

    def pay(self, checkout, card=GOOD, token=None):
        token = token or self.token(checkout, card)
        quote = self.api(checkout, "GET", f"basket/{checkout}")["quoteId"]
        return self.api(checkout, "POST", "payment", {"basketId": checkout, "quoteId": quote, "token": token})

    def taken(self, reference):
        key = call(f"{self.sandbox}/sandbox/ca.json")[2]["acquirerKey"]
        request = urllib.request.Request(
            f"{self.sandbox}/acquirer/v1/authorizations?limit=500", headers={"Authorization": f"Bearer {key}"})
        with urllib.request.urlopen(request, timeout=STILL) as answer:
            holds = json.loads(answer.read())["authorizations"]
        return [hold["captured"] for hold in holds if hold["merchantReference"] == reference and hold["captured"]]


def order(reference, **page):
    return {
        "order": {"amountOfMoney": {"amount": 690, "currencyCode": "EUR"},
                  "references": {"merchantReference": reference, "merchantParameters": "tea"},
                  "customer": {"merchantCustomerId": "c-1", "billingAddress": {"countryCode": "IE"}}},
        "hostedCheckoutSpecificInput": {
            "locale": "de_DE", "returnUrl": BACK, "variant": "stall", "showResultPage": True, **page},
        "mobilePaymentMethodSpecificInput": {"authorizationMode": "SALE", "paymentProductId": 302}}


def verify_endings(name, demo, make, client, refusal):
    """Every way in which a checkout ends, as one library creates and reads it."""
    print(name)

    def create(reference, **page):
        return client.create_hosted_checkout(make(order(reference, **page)))

    def read(checkout):
        answer = client.get_hosted_checkout(checkout)
        output = answer.created_payment_output
        return answer.status, output and output.payment_status_category, output and output.payment

    made = create(f"{name}-1", sessionTimeout=30)
    checkout = made.hosted_checkout_id
    check("creates", len(checkout) == 32 and made.returnmac and made.merchant_reference == f"{name}-1"
          and made.partial_redirect_url.endswith(f"/hosted/{checkout}"), made.to_dictionary())
    status, _, page = demo.page(checkout)
    check("the page is there, in German", status == 200 and "6,90" in page and 'lang="de-DE"' in page, page)
    check("reads a checkout in progress", read(checkout)[:2] == ("IN_PROGRESS", None))
    check("pays", demo.pay(checkout)["status"] == "captured")
    status, category, payment = read(checkout)
    check("reads a paid checkout", (status, category) == ("PAYMENT_CREATED", "SUCCESSFUL")
          and (payment.status, payment.status_output.status_code) == ("CAPTURED", 9)
          and payment.payment_output.references.merchant_parameters == "tea"
          and payment.hosted_checkout_specific_output.hosted_checkout_id == checkout, payment.to_dictionary())
    address = demo.page(checkout, "/return")[1]["Location"]
    check("the shopper brings the mark back",
          address == f"{BACK}&RETURNMAC={made.returnmac}&hostedCheckoutId={checkout}", address)
    check("the acquirer has taken it once", demo.taken(f"{name}-1") == [690], demo.taken(f"{name}-1"))

    checkout = create(f"{name}-2").hosted_checkout_id
    demo.pay(checkout, DECLINED)
    check("reads a declined checkout that can be paid", read(checkout)[0] == "IN_PROGRESS")
    demo.pay(checkout)
    check("reads it after another card", read(checkout)[:2] == ("PAYMENT_CREATED", "SUCCESSFUL"))
    check("the acquirer has taken that once", demo.taken(f"{name}-2") == [690])

    checkout = create(f"{name}-3").hosted_checkout_id
    demo.page(checkout, "/cancel", "POST")
    status, category, payment = read(checkout)
    check("reads a cancelled checkout, with a payment that was cancelled", (status, category)
          == ("CANCELLED_BY_CONSUMER", "REJECTED") and (payment.status, payment.status_output.status_code) == ("CANCELLED", 1)
          and payment.payment_output.references.merchant_parameters == "tea", payment and payment.to_dictionary())

    checkout = create(f"{name}-4", allowedNumberOfPaymentAttempts=1).hosted_checkout_id
    demo.pay(checkout, DECLINED)
    status, category, payment = read(checkout)
    # The library of 2021 does not know the number of attempts, and does not send it.
    wanted = ("IN_PROGRESS", None) if name == "1.10.0" else ("PAYMENT_CREATED", "REJECTED")
    check("reads a checkout whose attempts are used up", (status, category) == wanted, (status, category))
    check("and the payment that was rejected", payment is None or payment.status == "REJECTED")

    try:
        create(f"{name}-5", returnUrl="javascript:alert(1)")
        raise Failed("a script is an address to return to")
    except refusal as refused:
        check("is refused by property", refused.errors[0].property_name == "hostedCheckoutSpecificInput.returnUrl")


def verify_merchants(demo, client):
    """The payment token of one merchant's checkout at another's: the demo's other merchants are not on the platform, so
    a second checkout of the same merchant is the nearest; TenderServerTests has two merchants."""
    make = marshal(CreateHostedCheckoutRequest)
    one, two = (client.create_hosted_checkout(make(order(f"M-{n}"))).hosted_checkout_id for n in (1, 2))
    refused = demo.pay(two, token=demo.token(one))
    check("a payment token pays no other checkout", refused.get("code") == "application_data_mismatch", refused)
    check("and nothing was taken", demo.taken("M-2") == [])


def verify_links(demo, shop):
    links = shop.payment_links()

    def create(reference, **more):
        body = order(reference)
        body["hostedCheckoutSpecificInput"] = {"locale": "ja_JP"}
        return links.create_payment_link(marshal(CreatePaymentLinkRequest)({**body, **more}))

    made = create("L-1", displayQRCode=True)
    check("makes a payment link", made.status == "ACTIVE" and made.qr_code_base64
          and demo.page(made.payment_link_id)[0] == 200, made.to_dictionary())
    demo.pay(made.payment_link_id)
    paid = links.get_payment_link_by_id(made.payment_link_id)
    check("reads a paid link", paid.status == "PAID" and shop.payments and paid.payment_id, paid.to_dictionary())
    made = create("L-2")
    links.cancel_payment_link_by_id(made.payment_link_id)
    check("cancels a link", links.get_payment_link_by_id(made.payment_link_id).status == "CANCELLED")
    made, life = None, 1
    while made is None and life < STILL:
        # On a slow machine the end may be over when the call arrives, which is refused.
        life *= 2
        end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=life)
        with contextlib.suppress(ValidationException):
            made = create("L-3", paymentLinkSpecificInput={"expirationDate": end.isoformat()})
    check("makes a link that ends", made)
    time.sleep(life + 1)
    check("reads an expired link", links.get_payment_link_by_id(made.payment_link_id).status == "EXPIRED")
    status, _, page = demo.page(made.payment_link_id)
    check("whose page says so", status == 200 and 'data-result="expired"' in page)
    try:
        links.get_payment_link_by_id("0123456789abcdef0123456789abcdef")
        raise Failed("a link that never was is known")
    except ReferenceException as refused:
        check("a link that never was is unknown", refused.errors[0].id == "CHECKOUT_UNKNOWN")


def marshal(kind, marshaller=DefaultMarshaller.instance()):
    return lambda body: marshaller.unmarshal(json.dumps(body), kind)


def wait_until_up(demo, process):
    end = time.monotonic() + STILL
    while time.monotonic() < end:
        if process.poll() is not None:
            raise Failed("tender-sandbox demo ended")
        try:
            if call(f"http://localhost:{demo.port + 1}/stall")[0] == 200:
                return
        except OSError:
            pass
        time.sleep(0.1)
    raise Failed("tender-sandbox demo does not answer")


def main():
    tender = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as home:
        port = free_ports.row(5)
        process = subprocess.Popen([f"{tender}-sandbox", "demo", "--port", str(port)], cwd=home, stdout=subprocess.DEVNULL)
        try:
            demo = Demo(port, home)
            wait_until_up(demo, process)
            today, old = demo.libraries()
            verify_endings(
                "10.3.0", demo, marshal(CreateHostedCheckoutRequest), today.hosted_checkout(), ValidationException)
            verify_endings(
                "1.10.0", demo, marshal(old_create.CreateHostedCheckoutRequest, OldMarshaller.INSTANCE()), old.hosted_checkout(),
                old_validation.ValidationException)
            verify_merchants(demo, today.hosted_checkout())
            verify_links(demo, today)
        finally:
            process.terminate()
            process.wait()
    print("hosted-checkout: the libraries of Worldline Direct 10.3.0 and 1.10.0 agree")


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        sys.exit(f"hosted-checkout: {failure}")
