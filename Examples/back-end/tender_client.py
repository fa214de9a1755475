"""What a merchant's server asks Tender, with Python's standard library alone. docs/back-end.md explains each step."""

import base64, email.utils, hashlib, hmac, json, os, sys, urllib.error, urllib.request


def variable(name):
    return os.environ.get(name) or sys.exit(f"set the environment variable {name}")


SERVER, MERCHANT = variable("SHOP_TENDER_URL").removesuffix("/"), variable("SHOP_MERCHANT")
KEY_ID, SECRET = variable("SHOP_KEY_ID"), variable("SHOP_SECRET")


def mac(secret, data):
    return base64.b64encode(hmac.new(secret.encode(), data, hashlib.sha256).digest()).decode()


def call(method, path, document=None):
    body = None if document is None else json.dumps(document).encode()
    headers = {"Date": email.utils.formatdate(usegmt=True)}
    lines = [method, "", headers["Date"], path, ""]
    if body is not None:
        digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
        headers |= {"Content-Type": "application/json", "X-GCS-Content-SHA256": digest}
        lines = [method, "application/json", headers["Date"], f"x-gcs-content-sha256:{digest}", path, ""]
    headers["Authorization"] = f"GCS v1HMAC:{KEY_ID}:{mac(SECRET, chr(10).join(lines).encode())}"
    request = urllib.request.Request(SERVER + path, body, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read() or b"null")  # 204 has no body
    except urllib.error.HTTPError as error:  # its body says why
        raise RuntimeError(f"{error.code} {error.read().decode()}") from None


def put_basket(basket_id, basket):
    return call("PUT", f"/v2/{MERCHANT}/baskets/{basket_id}", basket)


def order(basket_id):
    return call("GET", f"/v2/{MERCHANT}/baskets/{basket_id}").get("order")


def is_from_tender(signature, body, webhook_secret):
    return hmac.compare_digest(signature, mac(webhook_secret, body))


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("put", "order", "verify"):
        sys.exit("put BASKET <basket.json | order BASKET | verify SIGNATURE <body")
    verb, name, text = sys.argv[1], sys.argv[2], b"" if sys.argv[1] == "order" else sys.stdin.buffer.read()
    if verb == "verify":
        sys.exit(0 if is_from_tender(name, text, os.environ["SHOP_WEBHOOK_SECRET"]) else 1)
    print(json.dumps(put_basket(name, json.loads(text)) if verb == "put" else order(name)))
