"""PyPI's package applepay, release 0.3.0 of 2016, as `tender token judge` starts a reader. Needs the package itself.

    tender token judge -- python3 Tests/Judges/peers/pypi_applepay.py
"""

import base64
import datetime
import hashlib
import json
import sys

from applepay import payment
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def certificate(merchant):
    """A certificate whose extension names the merchant: all that the package reads of it."""
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, merchant)])
    key = ec.generate_private_key(ec.SECP256R1())
    digest = hashlib.sha256(merchant.encode()).hexdigest().encode()
    day = datetime.datetime(2025, 1, 1)
    return (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
            .not_valid_before(day).not_valid_after(day + datetime.timedelta(days=700))
            .add_extension(x509.UnrecognizedExtension(x509.ObjectIdentifier(payment.OID_MERCHANT_ID), b"\x0c\x40" + digest),
                           critical=False)
            .sign(key, hashes.SHA256()))


def main():
    call = json.loads(sys.stdin.readline())
    own = certificate(call["merchantIdentifier"])
    root = x509.load_pem_x509_certificate(call["root"].encode()).public_bytes(serialization.Encoding.DER)
    opener = payment.Payment(own.public_bytes(serialization.Encoding.PEM), call["privateKey"].encode(), root, root)
    try:
        token = json.loads(base64.b64decode(call["token"]))
        token = token.get("paymentData", token)
        # As its README has it. With a transaction identifier it would raise a NameError.
        print(opener.decrypt(token["header"]["ephemeralPublicKey"], token["data"]).decode())
    except Exception as refusal:  # what the package raises is whatever its libraries raise
        print(refusal, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
