#!/usr/bin/env python3
"""Verifies payment tokens with two readers that are not Tender: OpenSSL's CMS and `apple_pay_token.py`.

    verify_mutants.py DIRECTORY

Reads from standard input one token a line, as `paymentData` in JSON. Writes one line each: whether OpenSSL finds the
signature good (`yes` or `no`), and whether the reader opens the token (`opens`, or the stage at which it refuses).
DIRECTORY holds `root.pem`, `merchant.key.pem`, `merchant` (Apple's identifier) and `at` (seconds since 1970).
"""

import base64
import ctypes
import ctypes.util
import datetime
import json
import pathlib
import sys

from apple_pay_token import Reader, Refused

CMS_BINARY = 0x80
X509_PURPOSE_ANY = 7


class OpenSSL:
    """`openssl cms -verify -binary -purpose any -attime …` without a process for each token."""

    def __init__(self, root_pem, at):
        self.crypto = ctypes.CDLL(ctypes.util.find_library("crypto"))
        for name in ("BIO_new_mem_buf", "BIO_new", "BIO_s_null", "d2i_CMS_bio", "X509_STORE_new", "PEM_read_bio_X509",
                     "X509_STORE_get0_param"):
            getattr(self.crypto, name).restype = ctypes.c_void_p
        self.store = ctypes.c_void_p(self.crypto.X509_STORE_new())
        root = ctypes.c_void_p(self.crypto.PEM_read_bio_X509(self.memory(root_pem), None, None, None))
        if self.crypto.X509_STORE_add_cert(self.store, root) != 1:
            raise SystemExit("OpenSSL does not take the root")
        parameters = ctypes.c_void_p(self.crypto.X509_STORE_get0_param(self.store))
        self.crypto.X509_VERIFY_PARAM_set_time(parameters, ctypes.c_long(at))
        self.crypto.X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_ANY)

    def memory(self, data):
        return ctypes.c_void_p(self.crypto.BIO_new_mem_buf(data, len(data)))

    def verifies(self, signature, content):
        source, text = self.memory(signature), self.memory(content)
        cms = self.crypto.d2i_CMS_bio(source, None)
        good = False
        if cms:
            cms = ctypes.c_void_p(cms)
            sink = ctypes.c_void_p(self.crypto.BIO_new(ctypes.c_void_p(self.crypto.BIO_s_null())))
            good = self.crypto.CMS_verify(cms, None, self.store, text, sink, CMS_BINARY) == 1
            self.crypto.BIO_free(sink)
            self.crypto.CMS_ContentInfo_free(cms)
        self.crypto.BIO_free(source)
        self.crypto.BIO_free(text)
        self.crypto.ERR_clear_error()
        return good


def content(token):
    header = token["header"]
    material = base64.b64decode(header.get("ephemeralPublicKey") or header["wrappedKey"])
    application = bytes.fromhex(header.get("applicationData", ""))
    return material + base64.b64decode(token["data"]) + bytes.fromhex(header["transactionId"]) + application


def main():
    directory = pathlib.Path(sys.argv[1])
    at = int((directory / "at").read_text())
    root = (directory / "root.pem").read_bytes()
    reader = Reader(root, (directory / "merchant.key.pem").read_bytes(), (directory / "merchant").read_text())
    openssl = OpenSSL(root, at)
    time = datetime.datetime.utcfromtimestamp(at)
    for line in sys.stdin.buffer:
        token = json.loads(line)
        good = openssl.verifies(base64.b64decode(token["signature"]), content(token))
        try:
            reader.open(line, time)
            verdict = "opens"
        except Refused as refusal:
            verdict = refusal.stage
        print("yes" if good else "no", verdict)


if __name__ == "__main__":
    main()
