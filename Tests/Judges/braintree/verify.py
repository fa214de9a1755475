#!/usr/bin/env python3
"""Braintree's own Python library against the emulated Braintree of `tender-sandbox`: judge.py TENDER

The library is unmodified; only its host is another. It also shows which requests it sends for the acts of Tender's
connector: requests.txt has them, and BraintreeConnectorTests compares them with what the connector sends.
"""

import base64
import http.server
import json
import pathlib
import re
import secrets
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
import warnings

import braintree
from braintree.exceptions.authentication_error import AuthenticationError
from braintree.exceptions.authorization_error import AuthorizationError
from braintree.exceptions.invalid_signature_error import InvalidSignatureError
from braintree.exceptions.not_found_error import NotFoundError
from braintree.exceptions.server_error import ServerError
from braintree.exceptions.too_many_requests_error import TooManyRequestsError

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import published  # noqa: E402
from harness import STILL  # noqa: E402

TENDER = sys.argv[1]
ROOT = pathlib.Path(__file__).resolve().parents[3]
DIRECTORY = tempfile.TemporaryDirectory()
PORT = "0"
KEYS = ("sandbox_public_key", "sandbox_private_key")
IDENTIFIER = "merchant.example.braintree-judge"


def sandbox():
    """Starts a sandbox with an empty directory; returns the process and its port."""
    process = subprocess.Popen(
        [f"{TENDER}-sandbox", "sandbox", "--port", "0", "--gateway-port", "0", "--directory", DIRECTORY.name],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in process.stdout:
        if match := re.match(r"front page +http://[^:]+:([0-9]+)", line):
            threading.Thread(target=process.stdout.read, daemon=True).start()
            return process, match.group(1)
        print(line, end="")
    sys.exit("the sandbox did not start")


def gateway(public=KEYS[0], private=KEYS[1], merchant="tender_sandbox", port=None):
    port = port or PORT
    environment = braintree.Environment("emulator", "127.0.0.1", port, "", False, None, "127.0.0.1", port)
    return braintree.BraintreeGateway(braintree.Configuration(environment, merchant, public, private))


GATEWAY = gateway()


def manage(method, path, body):
    """A call of the sandbox's own."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{PORT}{path}", json.dumps(body).encode(), method=method,
        headers={"Content-Type": "application/json",
                 "Authorization": "Basic " + base64.b64encode(":".join(KEYS).encode()).decode()})
    with urllib.request.urlopen(request, timeout=STILL) as answer:
        return json.loads(answer.read() or b"{}")


def sale(amount="30.00", number="4761739000000012", cryptogram=None, **more):
    return GATEWAY.transaction.sale({
        "amount": amount, "merchant_account_id": "tender_eur", "order_id": "order-" + secrets.token_hex(6),
        "apple_pay_card": {
            "number": number, "cryptogram": cryptogram or base64.b64encode(secrets.token_bytes(20)).decode(),
            "expiration_month": "12", "expiration_year": "2031", "eci_indicator": "07",
            "cardholder_name": "Zoë O'Neill"}, **more})


def sold(**more):
    result = sale(**more)
    assert result.is_success, result
    return result.transaction


def codes(result):
    assert not result.is_success, result
    return [error.code for error in result.errors.deep_errors]


def a_sale_is_authorized_and_found():
    transaction = sold()
    assert (transaction.status, transaction.type) == ("authorized", "sale")
    assert (str(transaction.amount), transaction.currency_iso_code) == ("30.00", "EUR")
    assert transaction.processor_response_code == "1000"
    assert transaction.apple_pay_details.card_type == "Apple Pay - Visa"
    assert transaction.apple_pay_details.last_4 == "0012"
    again = GATEWAY.transaction.find(transaction.id)
    assert (again.id, again.order_id) == (transaction.id, transaction.order_id)
    assert [event.status for event in again.status_history] == ["authorized"]


def it_is_captured_settled_and_refunded():
    transaction = sold()
    captured = GATEWAY.transaction.submit_for_settlement(transaction.id, "20.00").transaction
    assert (captured.status, str(captured.amount)) == ("submitted_for_settlement", "20.00")
    assert codes(GATEWAY.transaction.refund(transaction.id)) == ["91506"]
    assert GATEWAY.testing.settle_transaction(transaction.id).transaction.status == "settled"
    refund = GATEWAY.transaction.refund(transaction.id, {"amount": "5.00", "order_id": "refund-1"}).transaction
    assert (refund.type, refund.refunded_transaction_id) == ("credit", transaction.id)
    assert (str(refund.amount), refund.order_id) == ("5.00", "refund-1")
    assert codes(GATEWAY.transaction.refund(transaction.id, "15.01")) == ["91521"]
    assert GATEWAY.transaction.refund(transaction.id).is_success
    assert codes(GATEWAY.transaction.refund(transaction.id)) == ["91512"]


def a_sale_can_be_submitted_at_once():
    assert sold(options={"submit_for_settlement": True}).status == "submitted_for_settlement"


def it_is_captured_in_parts():
    transaction = sold()
    part = GATEWAY.transaction.submit_for_partial_settlement(transaction.id, "10.00", {"order_id": "part-1"})
    assert part.transaction.authorized_transaction_id == transaction.id
    assert part.transaction.order_id == "part-1"
    assert codes(GATEWAY.transaction.submit_for_partial_settlement(transaction.id, "20.01")) == ["91522"]
    last = GATEWAY.transaction.submit_for_partial_settlement(transaction.id, "5.00", {"final_capture": True})
    assert last.is_success
    assert GATEWAY.transaction.find(transaction.id).status == "settlement_confirmed"
    assert codes(GATEWAY.transaction.submit_for_partial_settlement(transaction.id, "1.00")) == ["915103"]


def it_is_voided_once():
    transaction = sold()
    assert GATEWAY.transaction.void(transaction.id).transaction.status == "voided"
    assert codes(GATEWAY.transaction.void(transaction.id)) == ["91504"]
    assert codes(GATEWAY.transaction.submit_for_settlement(transaction.id)) == ["91507"]


def declines_have_a_transaction():
    for amount, number, status, code in [
            ("2001.00", "4761739000000012", "processor_declined", "2001"),
            ("3000.00", "4761739000000012", "failed", "3000"),
            ("30.00", "4761739000000038", "processor_declined", "2001"),
            ("30.00", "4111111111111111", "processor_declined", "2005")]:
        result = sale(amount, number)
        assert not result.is_success and result.transaction.status == status, result
        assert result.transaction.processor_response_code == code, result.transaction
    rejected = sale("5001.00").transaction
    assert rejected.gateway_rejection_reason == "application_incomplete", rejected


def faults_of_a_request_are_named():
    result = GATEWAY.transaction.sale({"apple_pay_card": {"number": "4761739000000012"}})
    errors = result.errors.for_object("transaction")
    assert [error.code for error in errors.on("amount")] == ["81502"]
    assert len(errors.for_object("apple_pay_card").errors) == 3
    assert codes(sale(merchant_account_id="nobody")) == ["91513"]
    assert codes(sale("30.001")) == ["81503"]


def a_cryptogram_is_accepted_once_and_a_repeat_is_another_sale():
    cryptogram = base64.b64encode(secrets.token_bytes(20)).decode()
    first = sold(cryptogram=cryptogram, order_id="repeat-1")
    again = sale(cryptogram=cryptogram, order_id="repeat-1")
    assert again.transaction.status == "processor_declined" and again.transaction.id != first.id
    found = GATEWAY.transaction.search(braintree.TransactionSearch.order_id == "repeat-1")
    assert found.maximum_size == 2


def a_search_finds_by_order_id_time_and_status():
    transaction = sold(order_id="search-" + secrets.token_hex(6))
    search = braintree.TransactionSearch
    found = list(GATEWAY.transaction.search(search.order_id == transaction.order_id).items)
    assert [item.id for item in found] == [transaction.id]
    assert GATEWAY.transaction.search(search.order_id == "nothing").ids == []
    recent = GATEWAY.transaction.search(
        search.created_at >= transaction.created_at, search.status.in_list("authorized"),
        search.type.in_list("sale"))
    assert transaction.id in recent.ids
    assert transaction.id not in GATEWAY.transaction.search(search.amount <= "29.99").ids


def a_search_has_pages():
    order = "pages-" + secrets.token_hex(6)
    for _ in range(52):
        sold(order_id=order)
    found = GATEWAY.transaction.search(braintree.TransactionSearch.order_id == order)
    assert (found.maximum_size, len(list(found.items))) == (52, 52)


def raises(error, work):
    try:
        work()
    except error:
        return
    raise AssertionError(f"no {error.__name__}")


def callers_are_told_apart():
    raises(AuthenticationError, lambda: gateway(private="other").transaction.find("a"))
    raises(AuthorizationError, lambda: gateway(merchant="other").transaction.find("a"))
    raises(NotFoundError, lambda: GATEWAY.transaction.find("nothing"))
    raises(AuthenticationError, lambda: gateway(private="other").graphql_client.query("query { ping }"))


def a_sealed_payment_token_is_opened_and_authorized():
    csr = manage("POST", "/braintree/certificate-requests", {"merchantIdentifier": IDENTIFIER})["csr"]
    manage("POST", "/portal/merchants", {"merchantIdentifier": IDENTIFIER})
    certificate = manage(
        "POST", f"/portal/merchants/{IDENTIFIER}/certificates", {"type": "processing", "csr": csr})["certificate"]
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(certificate)
        file.flush()
        token = json.loads(subprocess.run(
            [f"{TENDER}-sandbox", "token", "create", "--to", file.name, "--amount", "30.00", "--currency", "EUR", "--sandbox",
             DIRECTORY.name], check=True, capture_output=True).stdout)
    data = json.dumps(token.get("paymentData", token)).encode()
    method = GATEWAY.graphql_client.query(
        "mutation($input: TokenizeApplePayCardInput!) { tokenizeApplePayCard(input: $input) "
        "{ paymentMethod { id } } }",
        {"input": {"applePaymentToken": {
            "paymentData": base64.b64encode(data).decode(), "paymentNetwork": "Visa",
            "transactionIdentifier": json.loads(data)["header"]["transactionId"]}}}
    )["data"]["tokenizeApplePayCard"]["paymentMethod"]["id"]
    authorize = lambda: GATEWAY.graphql_client.query(
        "mutation($input: AuthorizePaymentMethodInput!) { authorizePaymentMethod(input: $input) { transaction "
        "{ legacyId status amount { value currencyCode } } } }",
        {"input": {"paymentMethodId": method, "transaction": {
            "amount": "30.00", "orderId": "sealed-1", "merchantAccountId": "tender_eur"}}})
    transaction = authorize()["data"]["authorizePaymentMethod"]["transaction"]
    assert transaction["status"] == "AUTHORIZED", transaction
    assert GATEWAY.transaction.find(transaction["legacyId"]).order_id == "sealed-1"
    assert authorize()["errors"][0]["extensions"]["legacyCode"] == "91565"


def webhooks_are_read_by_the_library():
    received = []

    class Inbox(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            received.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Inbox)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    manage("PUT", "/braintree/event-endpoint", {"url": f"http://127.0.0.1:{server.server_port}/"})
    transaction = sold(options={"submit_for_settlement": True})
    GATEWAY.testing.settle_transaction(transaction.id)
    manage("POST", "/braintree/disputes", {"transaction": transaction.id, "status": "opened"})
    kinds, end = {}, time.monotonic() + STILL
    while len(kinds) < 2 and time.monotonic() < end:
        for form in [urllib.parse.parse_qs(body) for body in received]:
            signature, payload = form["bt_signature"][0], form["bt_payload"][0]
            notification = GATEWAY.webhook_notification.parse(signature, payload)
            subject = getattr(notification, "transaction", None) or notification.dispute.transaction
            if subject.id == transaction.id:
                kinds[notification.kind] = notification
            raises(InvalidSignatureError, lambda: GATEWAY.webhook_notification.parse(signature, payload + "A"))
        time.sleep(0.1)
    server.shutdown()
    assert kinds["transaction_settled"].transaction.status == "settled", kinds
    assert str(kinds["dispute_opened"].dispute.amount_disputed) == "30.00"


def faults_come_when_they_are_asked_for():
    for fault, error in [("too_many_requests", TooManyRequestsError), ("failed_after", ServerError)]:
        manage("POST", "/braintree/faults", {"next": fault})
        raises(error, lambda: sale(order_id=f"fault-{fault}"))
    order = braintree.TransactionSearch.order_id
    assert GATEWAY.transaction.search(order == "fault-too_many_requests").ids == []
    assert len(GATEWAY.transaction.search(order == "fault-failed_after").ids) == 1


def the_connectors_mutation_is_one_of_the_published_schema():
    """The schema is older than `tokenizeApplePayCard`; the second of the two steps is in it."""
    source = (ROOT / "Sources/Payments/Connectors/Braintree/BraintreeGraphQL.swift").read_text("utf-8")
    text = re.search(r'authorizeMethod = """\n(.*?)"""', source, re.DOTALL)[1].replace("\\\n", "")
    published.validate("braintree", {"query": text, "variables": {"input": {
        "paymentMethodId": "pm", "transaction": {
            "amount": "30.00", "orderId": "R1", "merchantAccountId": "eur", "descriptor": {"name": "ABC*shoes"},
            "customerDetails": {"email": "z@example.com", "phoneNumber": "+4912345"}}}}})


def the_library_sends_the_recorded_requests():
    sent = []

    class Recorder(http.server.BaseHTTPRequestHandler):
        def answer(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            sent.append(f"{self.command} {self.path} {body}")
            transaction = "<transaction><id>abc</id><amount>30.00</amount></transaction>"
            text = transaction
            if self.path.endswith("search_ids"):
                text = ('<search-results><page-size type="integer">50</page-size>'
                        '<ids type="array"><item>abc</item></ids></search-results>')
            elif self.path.endswith("search"):
                text = f"<credit-card-transactions>{transaction}</credit-card-transactions>"
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        do_GET = do_POST = do_PUT = answer

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Recorder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    act(gateway("pub", "priv", "m1", str(server.server_port)).transaction)
    server.shutdown()
    recorded = (pathlib.Path(__file__).parent / "requests.txt").read_text(encoding="utf-8").splitlines()
    assert sent == recorded, sent


def act(transaction):
    """What BraintreeConnectorTests asks the connector to do."""
    transaction.sale({
        "amount": "30.00",
        "apple_pay_card": {
            "number": "4761739000000012", "cryptogram": "AgAAAAAAAIR8CQrXcIhbQAAAAAA=", "expiration_month": "12",
            "expiration_year": "2031", "eci_indicator": "07"},
        "order_id": "R1", "merchant_account_id": "eur", "descriptor": {"name": "ABC*shoes"},
        "customer": {
            "first_name": "Zoë", "last_name": "O'Neill", "email": "z@example.com", "phone": "+4912345"},
        "billing": {
            "first_name": "Zoë", "last_name": "O'Neill", "street_address": "Weg 1 <2>", "locality": "Köln",
            "postal_code": "50667", "country_code_alpha2": "DE"},
        "options": {"submit_for_settlement": False}})
    transaction.submit_for_settlement("abc", "30.00")
    transaction.submit_for_partial_settlement("abc", "10.00", {"order_id": "C1", "final_capture": True})
    transaction.void("abc")
    transaction.refund("cap", {"amount": "5.00", "order_id": "F1"})
    transaction.find("abc")
    list(transaction.search(braintree.TransactionSearch.order_id == "R1").items)


CLAIMS = [
    a_sale_is_authorized_and_found, it_is_captured_settled_and_refunded, a_sale_can_be_submitted_at_once,
    it_is_captured_in_parts, it_is_voided_once, declines_have_a_transaction, faults_of_a_request_are_named,
    a_cryptogram_is_accepted_once_and_a_repeat_is_another_sale, a_search_finds_by_order_id_time_and_status,
    a_search_has_pages, callers_are_told_apart, a_sealed_payment_token_is_opened_and_authorized,
    webhooks_are_read_by_the_library, faults_come_when_they_are_asked_for, the_library_sends_the_recorded_requests,
    the_connectors_mutation_is_one_of_the_published_schema,
]


def main():
    global PORT, GATEWAY
    warnings.simplefilter("ignore")
    process, PORT = sandbox()
    GATEWAY = gateway()
    try:
        violations = judge()
    finally:
        process.terminate()
        process.wait(STILL)
    print(f"braintree {braintree.version.Version}: {len(CLAIMS)} claims, {violations} violations{published.summary()}")
    return 1 if violations else 0


def judge():
    violations = 0
    for claim in CLAIMS:
        try:
            claim()
            print(f"ok   {claim.__name__.replace('_', ' ')}")
        except Exception as error:  # pylint: disable=broad-except
            violations += 1
            print(f"FAIL {claim.__name__.replace('_', ' ')}: {type(error).__name__}: {error}")
    return violations


if __name__ == "__main__":
    sys.exit(main())
