"""Verifies and decrypts Apple Pay payment tokens, with all of Apple's checks.

    keys = Keys([Key(open("merchant.key").read(), certificate=open("merchant.pem").read())])
    payment = keys.decrypt(request.data)
    payment.confirm(1250, "EUR", application_data=None)
    keys.spend(payment)

Every refusal is a `PaymentTokenError`, of the class of the step that refused.
"""

from __future__ import annotations

import datetime as _datetime
import hashlib as _hashlib
import json as _json
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping, Optional, Union

from . import _library
from ._library import Result as _Result

__version__ = "0.1.0"
__all__ = [
    "Key", "Keys", "VerifiedToken", "Payment", "inspect", "PaymentTokenError", "FormatError", "CertificatesError",
    "ChainError", "SignatureError", "SigningTimeError", "KeyRefusedError", "UnwrapError", "DecryptError", "PayloadError",
    "ReplayError", "OrderError", "CallError", "library_version",
]

Token = Union[bytes, bytearray, memoryview, str]
Moment = Union[_datetime.datetime, int, float, None]


class PaymentTokenError(Exception):
    """Why a payment token is refused. It never holds card data, a key or a byte of the token."""

    code: str
    """A stable name, as `wrong_digest`; docs/errors.md has a paragraph on each."""
    stage: str
    """The step that refused: format, certificates, chain, signature, signingTime, key, unwrap, decrypt, payload, replay,
    order; or call."""
    reason: str
    """What was found, for the operator."""
    advice: str
    """What to do about it, for the integrator."""
    field: Optional[str]
    """The member at fault, as `header.publicKeyHash`, if it is a single one."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        self.code, self.stage = answer["code"], answer["stage"]
        self.reason, self.advice, self.field = answer["reason"], answer["advice"], answer.get("field")
        super().__init__(f"{self.stage}: {self.reason} [{self.code}] {self.advice}")

    def __reduce__(self) -> Any:
        answer = {"code": self.code, "stage": self.stage, "reason": self.reason, "advice": self.advice, "field": self.field}
        return type(self), (answer,)


class FormatError(PaymentTokenError):
    """The JSON, its encodings, or the outer form of the signature."""


class CertificatesError(PaymentTokenError):
    """The two certificates of the signature."""


class ChainError(PaymentTokenError):
    """The certificates do not lead to a root that is trusted."""


class SignatureError(PaymentTokenError):
    """The signature over the token."""


class SigningTimeError(PaymentTokenError):
    """Signed more than five minutes before or after it arrived, or at no time at all."""


class KeyRefusedError(PaymentTokenError):
    """The merchant's private key: none that fits, or a file that is none."""


class UnwrapError(PaymentTokenError):
    """From the private key to the token's own key."""


class DecryptError(PaymentTokenError):
    """The encrypted data; often another merchant identifier than the certificate's."""


class PayloadError(PaymentTokenError):
    """The decrypted payment data."""


class ReplayError(PaymentTokenError):
    """The token was used before."""


class OrderError(PaymentTokenError):
    """It pays another order: amount, currency or application data differ."""


class CallError(PaymentTokenError):
    """A mistake of the calling program. The token was not looked at."""


_ERRORS = {
    "format": FormatError, "certificates": CertificatesError, "chain": ChainError, "signature": SignatureError,
    "signingTime": SigningTimeError, "key": KeyRefusedError, "unwrap": UnwrapError, "decrypt": DecryptError,
    "payload": PayloadError, "replay": ReplayError, "order": OrderError, "call": CallError,
}


def _answered(result: _Result) -> _Result:
    """The result, if it is no refusal."""
    if result.stage == 0:
        return result
    answer = _json.loads(result.json)
    raise _ERRORS.get(answer["stage"], PaymentTokenError)(answer)


@dataclass(frozen=True)
class Key:
    """A private key in PEM, with its payment processing certificate in PEM or Apple's merchant identifier."""

    private_key: str = field(repr=False)
    certificate: Optional[str] = field(default=None, repr=False)
    merchant_identifier: Optional[str] = None


class VerifiedToken:
    """A payment token whose certificates, signature and signing time were checked."""

    def __init__(self, result: _Result) -> None:
        self._result = result
        self._read: Optional[dict[str, Any]] = None

    @property
    def _answer(self) -> dict[str, Any]:
        if self._read is None:
            self._read = _json.loads(self._result.json)
        return self._read

    @property
    def version(self) -> str:
        """`EC_v1` or `RSA_v1`."""
        return self._answer["version"]

    @property
    def environment(self) -> str:
        """Whose signer it was: `production`, `apple-sandbox` or `simulated`."""
        return self._answer["environment"]

    @property
    def signing_time(self) -> _datetime.datetime:
        """When Apple signed."""
        return _datetime.datetime.fromisoformat(self._answer["signingTime"].replace("Z", "+00:00"))

    @property
    def transaction_id(self) -> str:
        """Apple's identifier of the transaction, in hexadecimal. Unique in a database, it refuses a replay."""
        return self._answer["transactionId"]

    @property
    def public_key_hash(self) -> str:
        """SHA-256 of the key that it is encrypted to, in base64."""
        return self._answer["publicKeyHash"]

    @property
    def application_data_hash(self) -> Optional[str]:
        """SHA-256 of the payment request's application data, in hexadecimal."""
        return self._answer.get("applicationData")

    def confirm_application_data(self, application_data: Optional[bytes]) -> None:
        """Checks what the payment request carried; `None` where it carried none. Raises `OrderError`."""
        self._confirm({"applicationDataHash": _hash(application_data)})

    def _confirm(self, expected: Mapping[str, Any]) -> None:
        _answered(_library.confirm(self._result, _json.dumps(expected).encode()))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.version} {self.environment}>"


class Payment(VerifiedToken):
    """A payment token that was verified and decrypted. Its representation shows no card data."""

    @property
    def amount(self) -> int:
        """What the shopper agreed to, in minor units: 1250 is 12.50 euros. 0 when the total was pending."""
        return self._answer["amount"]

    @property
    def currency(self) -> str:
        """The currency's three letters, as `EUR`."""
        return self._answer["currency"]

    @property
    def payment_data(self) -> dict[str, Any]:
        """All of Apple's decrypted members, with account number and cryptogram."""
        return self._answer["paymentData"]

    @property
    def account_number(self) -> str:
        """The device account number, or the number of a merchant token."""
        return self.payment_data["applicationPrimaryAccountNumber"]

    @property
    def expiry(self) -> str:
        """Its last day, as YYMMDD."""
        return self.payment_data["applicationExpirationDate"]

    @property
    def cryptogram(self) -> Optional[str]:
        """In base64; `None` where the card answered with EMV data."""
        return self.payment_data["paymentData"].get("onlinePaymentCryptogram")

    @property
    def eci(self) -> Optional[str]:
        """The electronic commerce indicator, if the card gave one."""
        return self.payment_data["paymentData"].get("eciIndicator")

    def confirm(self, amount: int, currency: str, application_data: Optional[bytes]) -> None:
        """Checks that it pays the order.

        `amount` is in minor units. `application_data` is what the payment request carried, and `None` where it carried none:
        then the token must have none either. Raises `OrderError`.
        """
        self._confirm({"amount": amount, "currency": currency, "applicationDataHash": _hash(application_data)})


class Keys:
    """A merchant's keys, the environment whose tokens are accepted, and a replay window. Made once; threads may share it."""

    def __init__(
        self, keys: Iterable[Key] = (), *, environment: str = "production", root: Optional[str] = None,
        replay_window: Optional[int] = None,
    ) -> None:
        """Reads the keys. Raises `KeyRefusedError` for a file that is no key, and `CallError`.

        `environment` is `production`, `apple-sandbox`, or `simulated`, which needs `root`, the PEM of the sandbox's root.
        `replay_window` is how many tokens are remembered, 200,000 by default.
        """
        listed = [
            {name: value for name, value in (("privateKey", key.private_key), ("certificate", key.certificate),
                                             ("merchantIdentifier", key.merchant_identifier)) if value is not None}
            for key in keys]
        settings: dict[str, Any] = {"keys": listed, "environment": environment}
        if root is not None:
            settings["root"] = root
        if replay_window is not None:
            settings["replayWindow"] = replay_window
        self._result = _answered(_library.open(_json.dumps(settings).encode()))

    def verify(self, token: Token, at: Moment = None) -> VerifiedToken:
        """Verifies a token, as the page or the app sent it. `at` is when it arrived; now, if it is left out."""
        return VerifiedToken(_answered(_library.verify(self._result, _bytes(token), _seconds(at))))

    def decrypt(self, token: Token, at: Moment = None) -> Payment:
        """Verifies and decrypts a token. `confirm` and `spend` are left to do."""
        return Payment(_answered(_library.decrypt(self._result, _bytes(token), _seconds(at))))

    def spend(self, token: VerifiedToken) -> None:
        """Accepts each token once, in this process. With several processes, use a unique column for `transaction_id`.

        Raises `ReplayError`.
        """
        _answered(_library.spend(self._result, token._result))

    def __repr__(self) -> str:
        return "<Keys>"


def inspect(token: Token) -> dict[str, Any]:
    """What a token says of itself. Nothing is verified."""
    return _json.loads(_answered(_library.inspect(_bytes(token))).json)


def library_version() -> str:
    """The version of the shared library."""
    return _library.version()


def _hash(application_data: Optional[bytes]) -> Optional[str]:
    return None if application_data is None else _hashlib.sha256(application_data).hexdigest()


def _bytes(token: Token) -> bytes:
    return token.encode("utf-8", "surrogatepass") if isinstance(token, str) else bytes(token)


def _seconds(at: Moment) -> int:
    if at is None:
        return _library.NOW
    if isinstance(at, _datetime.datetime):
        if at.tzinfo is None:
            raise ValueError("at needs a time zone: datetime.now(timezone.utc)")
        at = at.timestamp()
    return int(at // 1)
