"""Run with the conformance vectors of Tender: APPLE_PAY_TOKEN_VECTORS=…/vectors.json pytest"""

import base64
import datetime
import json
import os
import pathlib
import pickle
import threading

import pytest

import apple_pay_token
from apple_pay_token import (CallError, DecryptError, FormatError, Key, KeyRefusedError, Keys, OrderError, PaymentTokenError,
                             ReplayError, SigningTimeError, inspect)

FILE = os.environ.get("APPLE_PAY_TOKEN_VECTORS",
                      pathlib.Path(__file__).parents[3] / "Tests/Support/Vectors/apple-pay-token/vectors.json")
VECTORS = {test["name"]: {**test, "group": group} for group in json.loads(pathlib.Path(FILE).read_text("utf-8"))["testGroups"]
           for test in group["tests"]}


def moment(vector):
    return datetime.datetime.fromisoformat(vector["at"].replace("Z", "+00:00"))


def opened(vector, **more):
    group = vector["group"]
    return Keys([Key(group["privateKey"], merchant_identifier=group["merchantIdentifier"])], environment="simulated",
                root=group["root"], **more)


def token(vector):
    return base64.b64decode(vector["token"])


@pytest.fixture
def vector():
    return VECTORS["application-data"]


@pytest.fixture
def keys(vector):
    return opened(vector)


def test_the_verdict_is_the_expected_one_for_every_vector():
    rings = {}
    for vector in VECTORS.values():
        keys = rings.setdefault(vector["group"]["version"], opened(vector))
        if vector["result"] == "invalid":
            with pytest.raises(PaymentTokenError) as refused:
                keys.decrypt(token(vector), at=moment(vector))
            assert (refused.value.stage, refused.value.code) == (vector["stage"], vector["code"]), vector["name"]
            assert type(refused.value) is apple_pay_token._ERRORS[vector["stage"]]
            assert refused.value.reason and refused.value.advice
        else:
            payment = keys.decrypt(token(vector), at=moment(vector))
            assert payment.payment_data == json.loads(vector["paymentData"]), vector["name"]


def test_ten_lines_open_a_payment_and_refuse_a_replay(vector, keys):
    payment = keys.decrypt(token(vector), at=moment(vector))
    assert (payment.amount, payment.currency, payment.version) == (1250, "EUR", "EC_v1")
    assert payment.account_number.endswith("0012") and payment.cryptogram and payment.expiry == "311231"
    keys.spend(payment)
    with pytest.raises(ReplayError) as refused:
        keys.spend(keys.decrypt(token(vector), at=moment(vector)))
    assert refused.value.code == "token_already_used"


def test_a_payment_is_confirmed_against_its_order(vector, keys):
    payment = keys.decrypt(token(vector), at=moment(vector))
    for amount, currency, data in [(1251, "EUR", b"basket 7"), (1250, "USD", b"basket 7"), (1250, "EUR", b"basket 8"),
                                   (1250, "EUR", None)]:
        with pytest.raises(OrderError):
            payment.confirm(amount, currency, data)
    assert payment.application_data_hash is not None
    with pytest.raises(CallError):
        payment.confirm("12.50", "EUR", None)
    plain = VECTORS["ec-v1"]
    opened(plain).decrypt(token(plain), at=moment(plain)).confirm(1250, "EUR", None)
    opened(plain).verify(token(plain), at=moment(plain)).confirm_application_data(None)


def test_the_token_may_be_text_and_any_kind_of_bytes(vector, keys):
    for form in (bytes, bytearray, memoryview, lambda data: data.decode()):
        assert keys.verify(form(token(vector)), at=moment(vector)).environment == "simulated"


def test_the_time_of_arrival_is_now_unless_it_is_given(vector, keys):
    with pytest.raises(SigningTimeError) as refused:
        keys.decrypt(token(vector))
    assert refused.value.code == "too_old"
    assert keys.decrypt(token(vector), at=moment(vector).timestamp()).signing_time <= moment(vector)
    with pytest.raises(ValueError):
        keys.decrypt(token(vector), at=datetime.datetime(2025, 6, 15))


def test_what_is_no_key_is_refused_with_advice(vector):
    with pytest.raises(KeyRefusedError) as refused:
        Keys([Key("-----BEGIN NOTHING-----", merchant_identifier="merchant.example")])
    assert refused.value.field == "$.keys[0]" and refused.value.advice
    for wrong in ({"environment": "live"}, {"environment": "simulated"}, {"root": "x"}):
        with pytest.raises(CallError):
            Keys([], **wrong)
    other = Key(vector["group"]["privateKey"], merchant_identifier="merchant.other")
    with pytest.raises(DecryptError):
        Keys([other], environment="simulated", root=vector["group"]["root"]).decrypt(token(vector), at=moment(vector))


def test_nothing_that_is_printed_holds_card_data_or_a_key(vector, keys):
    payment = keys.decrypt(token(vector), at=moment(vector))
    texts = [repr(payment), str(payment), repr(keys), repr(Key("secret", certificate="secret"))]
    assert not any(payment.account_number in text or payment.cryptogram in text or "secret" in text for text in texts)


def test_a_refusal_can_be_pickled(keys):
    with pytest.raises(FormatError) as refused:
        keys.decrypt(b"{}")
    again = pickle.loads(pickle.dumps(refused.value))
    assert (type(again), again.code, again.advice) == (FormatError, refused.value.code, refused.value.advice)


def test_what_a_token_says_of_itself_needs_no_key(vector):
    assert inspect(token(vector))["publicKeyHash"] and "verified" not in inspect(token(vector))


def test_threads_spend_a_token_once(vector, keys):
    spent = []

    def pay():
        for _ in range(20):
            try:
                keys.spend(keys.decrypt(token(vector), at=moment(vector)))
                spent.append(True)
            except ReplayError:
                pass

    threads = [threading.Thread(target=pay) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(spent) == 1


def test_the_versions_are_the_same():
    assert apple_pay_token.library_version() == apple_pay_token.__version__
