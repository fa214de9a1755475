#!/usr/bin/env python3
"""encryptedCustomerInput against jwcrypto, an independent implementation of JOSE, in both directions: verify.py TENDER

jwcrypto opens what the kits make: the vector customer-input.json, to whose bytes unit tests hold the app kit and a browser
test the web kit. And the server takes a payment whose input jwcrypto has encrypted to its public key, once.
"""
import base64
import json
import os
import pathlib
import sys
import time

from cryptography.hazmat.primitives.serialization import (Encoding, PublicFormat, load_der_public_key)
from jwcrypto import jwe, jwk

HERE = pathlib.Path(__file__).resolve().parent
SUPPORT = HERE.parent.parent / "Support"
sys.path.insert(0, str(SUPPORT))
import demo_server  # noqa: E402

ALGORITHMS = ["RSA-OAEP", "A256CBC-HS512"]


def check(claim, holds, detail=""):
    if not holds:
        sys.exit(f"jose: {claim}: {detail}")
    print(f"  {claim}")


def opened(text, key):
    message = jwe.JWE()
    message.allowed_algs = ALGORITHMS
    message.deserialize(text, key)
    return message.payload.decode()


def encrypted(text, key_id, public_key):
    key = load_der_public_key(base64.b64decode(public_key))
    pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    header = {"alg": "RSA-OAEP", "enc": "A256CBC-HS512", "kid": key_id}
    message = jwe.JWE(text.encode(), json.dumps(header))
    message.allowed_algs = ALGORITHMS
    message.add_recipient(jwk.JWK.from_pem(pem))
    return message.serialize(compact=True)


def vector():
    known = json.loads((SUPPORT / "Vectors/customer-input.json").read_text(encoding="utf-8"))
    key = jwk.JWK.from_pem(known["privateKey"].encode())
    check("jwcrypto opens what the kits make", opened(known["madeByKits"], key) == known["plaintext"])
    check("jwcrypto opens what jwcrypto made", opened(known["madeByJwcrypto"], key) == known["plaintext"])


def token(demo):
    """A payment token of the sandbox's device, encrypted to the merchant's key."""
    status, answer = demo_server.call(
        "POST", f"{demo.sandbox}/device/tokens",
        json.dumps({"cardId": "visa-debit", "publicKeyOf": "merchant.test.harbour", "amount": "12.50",
                    "currency": "EUR"}).encode(), {"Content-Type": "application/json"})
    check("the sandbox's device makes a payment token", status in (200, 201), answer)
    return answer


def payments(demo):
    _, session = demo.signed("POST", "sessions", {})
    status, key = demo_server.call(
        "GET", f"{demo.server}/client/v1/{session['customerId']}/crypto/publickey", None,
        {"Authorization": f"GCS v1Client:{session['clientSessionId']}"})
    check("the client API gives the public key", status == 200, key)
    made = token(demo)

    def pay(jwe_text):
        return demo.signed("POST", "payments", {
            "order": {"amountOfMoney": {"amount": 1250, "currencyCode": "EUR"}}, "encryptedCustomerInput": jwe_text,
            "mobilePaymentMethodSpecificInput": {"paymentProductId": 302, "authorizationMode": "SALE"}})

    def content(**changes):
        return json.dumps({"clientSessionId": session["clientSessionId"], "nonce": os.urandom(16).hex(),
                           "paymentProductId": 302, "paymentValues": [
                               {"key": "encryptedPaymentData", "value": json.dumps(made["paymentData"])}], **changes})

    text = encrypted(content(), key["keyId"], key["publicKey"])
    status, answer = pay(text)
    check("a payment is made with what jwcrypto has encrypted", status == 201, answer)
    # The same call within a second, without an idempotence key, is a repeat: it gets the first answer.
    time.sleep(1.1)
    for claim, other, fault in [
            ("the same input pays no second time", text, "CUSTOMER_INPUT_USED"),
            ("an input of no session pays nothing", encrypted(content(clientSessionId="0" * 48), key["keyId"],
                                                              key["publicKey"]), "CLIENT_SESSION_UNKNOWN"),
            ("an input that was changed pays nothing", text[:-4] + ("AAAA" if text[-4:] != "AAAA" else "BBBB"),
             "CUSTOMER_INPUT_NOT_OPENED")]:
        status, answer = pay(other)
        found = [error["id"] for error in answer.get("errors", [])]
        check(claim, status == 400 and found == [fault], f"{status} {answer}")


def main():
    vector()
    with demo_server.running(sys.argv[1]) as demo:
        payments(demo)


if __name__ == "__main__":
    main()
