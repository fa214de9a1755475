"""What a merchant's server asks Tender, with Python's standard library alone. docs/back-end.md explains each step."""

import base64, email.utils, hashlib, hmac, http.client, json, os, re, sys, time, urllib.error, urllib.parse, urllib.request, uuid


def variable(name):
    return os.environ.get(name) or sys.exit(f"set the environment variable {name}")


SERVER, MERCHANT = variable("SHOP_TENDER_URL").removesuffix("/"), variable("SHOP_MERCHANT")
KEY_ID, SECRET = variable("SHOP_KEY_ID"), variable("SHOP_SECRET")
ATTEMPTS, LONGEST_WAIT = 3, 5.0


class Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: another place would get the signature."""

    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(Stay)


class TenderError(Exception):
    """Tender refused the call: status, code, message and field as it says them, its id in the log, and the whole answer."""

    def __init__(self, status, text):
        try:
            self.answer = json.loads(text)
            error = self.answer["errors"][-1]  # the last has Tender's own words
        except (ValueError, LookupError, TypeError):  # from a proxy
            self.answer, error = text, {}
        self.status, self.code = status, error.get("id", "")
        self.message, self.field = error.get("message", text), error.get("propertyName")
        self.error_id = self.answer.get("errorId") if isinstance(self.answer, dict) else None
        place = f" ({self.field})" if self.field else ""
        super().__init__(f"{status} {self.code}: {self.message}{place} [{self.error_id}]")


def mac(secret, data):
    return base64.b64encode(hmac.new(secret.encode(), data, hashlib.sha256).digest()).decode()


def signed(method, path, body=None, key=None, date=None):
    """The headers of a call. `body` is bytes, `key` the idempotency key."""
    date = date or email.utils.formatdate(usegmt=True)
    headers, covered, kind = {"Date": date}, [], ""
    if body is not None:
        kind, digest = "application/json", base64.b64encode(hashlib.sha256(body).digest()).decode()
        headers |= {"Content-Type": kind, "X-GCS-Content-SHA256": digest}
        covered.append(f"x-gcs-content-sha256:{digest}")
    if key is not None:
        headers["X-GCS-Idempotence-Key"] = key
        covered.append(f"x-gcs-idempotence-key:{key}")
    text = "\n".join([method, kind, date, *covered, path, ""])
    return headers | {"Authorization": f"GCS v1HMAC:{KEY_ID}:{mac(SECRET, text.encode())}"}


def call(method, path, document=None, key=None):
    """Repeats the call where no answer comes, or Tender asks for it, under the same idempotency key."""
    body = None if document is None else json.dumps(document).encode()
    if method == "POST":
        key = key or uuid.uuid4().hex
    for attempt in range(1, ATTEMPTS + 1):
        request = urllib.request.Request(SERVER + path, body, signed(method, path, body, key), method=method)
        try:
            with OPENER.open(request, timeout=30) as answer:
                return json.loads(answer.read() or b"null")  # 204 has no body
        except urllib.error.HTTPError as error:
            later = error.headers.get("Retry-After")
            if later is None or attempt == ATTEMPTS:
                raise TenderError(error.code, error.read().decode()) from None
            # Tender names seconds; a proxy may name a date.
            time.sleep(min(int(later), LONGEST_WAIT) if re.fullmatch("[0-9]{1,9}", later) else attempt / 2)
        except (OSError, http.client.HTTPException):
            if attempt == ATTEMPTS:
                raise
            time.sleep(attempt / 2)


def place(*names):
    return "/".join(["", "v2", MERCHANT, *(urllib.parse.quote(name, safe="") for name in names)])


def query(parameters):
    return "?" + urllib.parse.urlencode(parameters) if parameters else ""


def put_basket(basket_id, basket):
    return call("PUT", place("baskets", basket_id), basket)


def basket(basket_id):
    return call("GET", place("baskets", basket_id))


def cancel_basket(basket_id):
    return call("DELETE", place("baskets", basket_id))


def order(basket_id):
    return basket(basket_id).get("order")


def pay(payment, key=None):
    return call("POST", place("payments"), payment, key)


def payment(payment_id):
    return call("GET", place("payments", payment_id))


def payments(parameters=None):
    return call("GET", place("payments") + query(parameters))


def capture(payment_id, document, key=None):
    return call("POST", place("payments", payment_id, "capture"), document, key)


def cancel(payment_id, document, key=None):
    return call("POST", place("payments", payment_id, "cancel"), document, key)


def refund(payment_id, document, key=None):
    return call("POST", place("payments", payment_id, "refund"), document, key)


def events(parameters=None):
    return call("GET", place("events") + query(parameters))


def event(event_id):
    return call("GET", place("events", event_id))


def is_from_tender(signature, body, webhook_secret):
    """Whether `signature`, the header X-GCS-Signature, is the one of the body's bytes."""
    # Everybody can sign with an empty secret.
    return webhook_secret != "" and hmac.compare_digest(signature.encode(), mac(webhook_secret, body).encode())


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("put", "order", "verify"):
        sys.exit("put BASKET <basket.json | order BASKET | verify SIGNATURE <body")
    verb, name, text = sys.argv[1], sys.argv[2], b"" if sys.argv[1] == "order" else sys.stdin.buffer.read()
    if verb == "verify":
        sys.exit(0 if is_from_tender(name, text, os.environ["SHOP_WEBHOOK_SECRET"]) else 1)
    try:
        print(json.dumps(put_basket(name, json.loads(text)) if verb == "put" else order(name)))
    except TenderError as refusal:
        sys.exit(str(refusal))
