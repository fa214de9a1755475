#!/usr/bin/env python3
"""Tender's OpenAPI document against a linter, against its own examples and against a running server: verify.py TENDER

schemathesis makes requests from the document, signs them, and checks that no answer is a server error, has a status or a
media type that the document does not name, or a body that its schema does not allow. EXAMPLES=100 asks for so many requests
of each operation; a few by default, the same ones every time.
"""
import base64
import json
import os
import pathlib
import sys
import warnings

import hypothesis
import jsonschema
import referencing
import requests
import schemathesis
from openapi_spec_validator import OpenAPIV31SpecValidator
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (content_type_conformance, response_headers_conformance,
                                               response_schema_conformance, status_code_conformance)

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "Support"))
import demo_server  # noqa: E402

EXAMPLES = int(os.environ.get("EXAMPLES", "4"))
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_headers_conformance,
          response_schema_conformance]


def check(claim, holds, detail=""):
    if not holds:
        sys.exit(f"openapi: {claim}: {detail}")
    print(f"  {claim}")


def lint(document):
    errors = [f"{'/'.join(map(str, error.absolute_path))}: {error.message}"
              for error in OpenAPIV31SpecValidator(document).iter_errors()]
    check("a linter finds nothing", not errors, errors[:5])


def examples(document):
    """Every schema's examples are valid, and every operation that takes or gives JSON has one."""
    registry = referencing.Registry().with_resource(
        "urn:document", referencing.Resource(document, referencing.jsonschema.DRAFT202012))

    def errors(schema, example):
        wanted = json.loads(json.dumps(schema).replace('"#/', '"urn:document#/'))
        validator = jsonschema.Draft202012Validator(wanted, registry=registry)
        return [error.message for error in validator.iter_errors(example)]

    wrong, count = [], 0
    for name, schema in document["components"]["schemas"].items():
        for example in schema.get("examples", []):
            count += 1
            wrong += [f"{name}: {message}" for message in errors(schema, example)]
    check(f"{count} examples are as their schemas say", count and not wrong, wrong[:5])
    bare = [operation["operationId"] for operation in operations(document) for schema in bodies(document, operation)
            if "$ref" in schema and not document["components"]["schemas"][schema["$ref"].split("/")[-1]].get("examples")]
    check("every body has an example", not bare, bare)


def operations(document):
    return [operation for path in document["paths"].values() for operation in path.values()]


def bodies(document, operation):
    answers = [answer for status, answer in operation["responses"].items() if status.startswith("2")]
    for part in [operation.get("requestBody", {}), *answers]:
        for media in part.get("content", {}).values():
            yield media["schema"]


class Signed(requests.auth.AuthBase):
    """Signs each request as it is sent, with the X-GCS headers that schemathesis made."""

    def __init__(self, demo, session):
        self.demo, self.session = demo, session

    def __call__(self, request):
        target = request.path_url
        if target.startswith("/client/"):
            request.headers["Authorization"] = f"GCS v1Client:{self.session['clientSessionId']}"
        elif target.startswith("/v2/"):
            body = request.body.encode() if isinstance(request.body, str) else request.body or b""
            kind = request.headers.get("Content-Type", "")
            kind = kind.decode() if isinstance(kind, bytes) else kind
            gcs = [(name, value.decode("latin-1") if isinstance(value, bytes) else value)
                   for name, value in request.headers.items() if name.lower().startswith("x-gcs")
                   and name.lower() != "x-gcs-content-sha256"]
            request.headers.update(self.demo.signature(request.method, target, body, kind, gcs))
        return request


class Things:
    """What the paths name, so that requests get past 404: a basket, a payment, a session."""

    def __init__(self, demo):
        self.demo = demo
        status, self.session = demo.signed("POST", "sessions", {})
        check("a client session is made", status == 201, self.session)
        self.basket = os.urandom(16).hex()
        status, answer = demo.signed("PUT", f"baskets/{self.basket}", {
            "currencyCode": "EUR", "countryCode": "IE", "merchantReference": "openapi", "businessName": "Harbour",
            "serviceTypes": ["collection"], "items": [{"id": "fish", "label": "Fish", "unitAmount": 1250}]})
        check("a basket is stored", status == 200, answer)
        status, answer = demo.signed("POST", "payments", {
            "order": {"amountOfMoney": {"amount": 1250, "currencyCode": "EUR"}},
            "mobilePaymentMethodSpecificInput": {
                "paymentProductId": 302, "authorizationMode": "PRE_AUTHORIZATION", "requiresApproval": True,
                "decryptedPaymentData": {"dpan": "4761739000000012", "expiryDate": "1231", "eci": 7,
                                         "cryptogram": base64.b64encode(os.urandom(20)).decode()}}})
        self.payment = (answer.get("payment") or {}).get("id", "none_0")

    def name(self, case, draw):
        """Most path parameters name something that is there."""
        known = {"merchantId": self.demo.merchant, "customerId": self.session["customerId"], "basketId": self.basket,
                 "paymentId": self.payment, "paymentProductId": "302", "connector": "sandbox", "version": "0"}
        for name in case.path_parameters or {}:
            if name in known and (name in ("merchantId", "customerId") or draw % 4):
                case.path_parameters[name] = known[name]


def traffic(document, demo, things):
    schema = schemathesis.openapi.from_dict(document)
    session = requests.Session()
    session.auth = Signed(demo, things.session)
    sent, wrong = 0, []
    for result in schema.get_all_operations():
        operation = result.ok()
        # Providers' own wires, whose bodies the document does not describe.
        if operation.path.startswith("/acquirers/"):
            continue

        @hypothesis.settings(max_examples=EXAMPLES, deadline=None, database=None, derandomize=EXAMPLES < 10,
                             suppress_health_check=list(hypothesis.HealthCheck), phases=[hypothesis.Phase.generate])
        @hypothesis.given(case=operation.as_strategy(), draw=hypothesis.strategies.integers(0, 7))
        def answers_as_documented(case, draw):
            nonlocal sent
            things.name(case, draw)
            sent += 1
            case.call_and_validate(base_url=demo.server, session=session, checks=CHECKS, timeout=demo_server.STILL)

        try:
            answers_as_documented()
        except Exception as error:  # noqa: BLE001
            wrong.append(f"{operation.label}: {error}")
    for text in wrong:
        print(text, file=sys.stderr)
    check(f"{sent} requests are answered as documented", not wrong, f"{len(wrong)} operations are not")


def main():
    document = json.loads((HERE.parent.parent.parent / "Web/api/openapi.json").read_text(encoding="utf-8"))
    lint(document)
    examples(document)
    with demo_server.running(sys.argv[1]) as demo:
        status, served = demo_server.call("GET", f"{demo.server}/openapi.json")
        check("the server serves the document", status == 200 and served == document)
        warnings.simplefilter("ignore")
        traffic(document, demo, Things(demo))


if __name__ == "__main__":
    main()
