"""The surfaces: good requests to each, of which the fuzzer makes hostile ones."""
import base64, http.client, itertools, json, os
import requests
from requests import Framed, Request
from system import CONNECTORS, IDENTIFIER, MERCHANT, PASSWORD, PERSON, call

# Of one hash of a password, which is meant to cost something; and of a change of a merchant, after which all merchants are read again.
SIGN_IN = CHANGE = 0.5 if os.environ.get("CONFIGURATION") == "release" else 5
# No number in it is zero, so that one that is too large makes a sum that is.
ORDER = {"amountOfMoney": {"amount": 1450, "currencyCode": "EUR"}, "references": {"merchantReference": "M-7"},
         "customer": {"merchantCustomerId": "c", "locale": "en_IE", "contactDetails": {"emailAddress": "maud@example.com"},
                      "billingAddress": {"countryCode": "IE", "zip": "D01", "city": "Dublin", "street": "1 Quay"}},
         "shipping": {"shippingCost": 250, "shippingCostTax": 20, "address": {"countryCode": "IE", "zip": "D01", "city": "Dublin"}},
         "discount": {"amount": 10},
         "shoppingCart": {"items": [{"amountOfMoney": {"amount": 1200, "currencyCode": "EUR"},
                                     "orderLineDetails": {"productPrice": 600, "quantity": 2, "productName": "Fish", "taxAmount": 5, "discountAmount": 5}}]}}
MOBILE = {"authorizationMode": "SALE", "paymentProductId": 302}
CHECKOUT = {"order": ORDER, "hostedCheckoutSpecificInput": {
    "locale": "en_IE", "returnUrl": "http://localhost:8401/back?order=7", "sessionTimeout": 180, "allowedNumberOfPaymentAttempts": 10,
    "paymentProductFilters": {"restrictTo": {"products": [302]}}}, "mobilePaymentMethodSpecificInput": MOBILE}
LINK = {**CHECKOUT, "paymentLinkSpecificInput": {"description": "a table", "expirationDate": "2027-01-01T00:00:00Z", "recipientName": "Maud"}}
TEXTS = {"reason": "a reason", "name": "bert", "role": "viewer", "identifier": "merchant.test.x", "country": "IE", "currency": "EUR", "version": "2026-11",
         "wording": "words", "days": "30", "domain": "a.example", "domains": "a.example", "value": "en", "kind": "processing", "amount": "1.00",
         "limits": "100.00 EUR", "q": "T-0000", "from": "2026-11-01", "until": "2026-11-28", "code": "123456", "password": PASSWORD, "note": "a note"}


def office_outside(system):
    """The back office before sign-in."""
    cookie = [("Cookie", "tender-office=" + "0" * 64)]
    own = lambda request: request.fields.append(("csrf", system.token_of_forms))
    known = [("Cookie", f"tender-office={system.cookie}")]
    fields = [("name", PERSON), ("password", "wrong"), ("code", "000000")]
    form = Request("POST", "/sign-in", cookie, fields=fields, allowed=SIGN_IN)
    upload = Request("POST", "/merchants/import", cookie, fields=[("reason", "a")], file=("merchant", "a.json", {"id": "a"}))
    right = Request("POST", "/sign-in", known, fields=fields, ready=own, allowed=SIGN_IN)
    enroll = Request("POST", "/invitation/" + "0" * 64, known, fields=fields, ready=own, allowed=SIGN_IN)
    challenge = base64.urlsafe_b64encode(bytes(32)).decode().rstrip("=")
    said = base64.urlsafe_b64encode(json.dumps({"type": "webauthn.get", "challenge": challenge, "origin": "http://localhost"}).encode()).decode().rstrip("=")
    made = base64.urlsafe_b64encode(b"\xa3cfmtdnonegattStmt\xa0hauthDataX%" + bytes(37)).decode().rstrip("=")
    passkey = Request("POST", "/sign-in/passkey", known, fields=[("credential", challenge), ("clientData", said), ("authenticatorData", made),
                                                                 ("signature", challenge), ("userHandle", challenge)], ready=own, allowed=SIGN_IN)
    pages = ["/sign-in", "/sign-in/openid", "/sign-in/openid/callback?code=a&state=b&iss=c&error=d", "/passkeys.js", "/charts.js", "/office.css", "/invitation/" + "0" * 64, "/", "/payments?q=a", "/nothing"]
    return [form, upload, right, enroll, passkey, *(Request("GET", path, cookie) for path in pages)], system.office_port


def office(system):
    """The pages of the back office, for an administrator."""
    payment = system.payments[0]
    pages = [
        "/", "/overview?days=31&merchant=harbour&currency=EUR", "/overview.csv?days=1", "/payments?q=a&merchant=harbour&status=captured&route=sandbox&amount=12.50+EUR"
        "&from=2026-11-01&until=2026-11-28&alarm=1", f"/payments?before={payment}", f"/payments/{payment}", f"/payments/{payment}/evidence",
        "/payments.csv?q=&merchant=harbour", "/webhooks?state=dead", "/reconciliation?route=stripe&from=2026-11-01&until=2026-11-02", "/merchants",
        f"/merchants/{MERCHANT}", "/merchants/stored", "/users", "/audit?before=100", "/settings", "/account", "/account/format", "/sequence", "/payments?q=maud%40example.com"]
    return signed_in(system, pages, [f"/payments/{payment}", f"/payments/{system.payments[1]}", "/payments", "/merchants", "/merchants/stored", "/users",
                                     "/webhooks", "/reconciliation", "/account"])


def merchant_files(system):
    """Merchants, certificates and association files that an administrator uploads."""
    bundle = system.administer("POST", "/merchants/calls", {"export": {"merchant": "stored"}})[1]["bundle"]
    folder = f"{system.directory}/merchants/{MERCHANT}"
    pem = lambda name: open(f"{folder}/{name}", "rb").read()
    processing = next(name for name in os.listdir(folder + "/processing") if name.endswith(".pem"))
    bundle |= {"id": "moved", "settings": bundle["settings"].replace("merchant.test.stored", IDENTIFIER), "certificates": [
        {"kind": "identity", "certificatePEM": pem("identity.pem").decode(), "privateKeyPEM": pem("identity.key").decode()},
        {"kind": "processing", "certificatePEM": pem("processing/" + processing).decode(),
         "privateKeyPEM": pem("processing/" + processing.replace(".pem", ".key")).decode()}],
        "domains": [{"domain": "moved.example", "associationBase64": "N0I3RA==", "enabled": True}]}
    own = lambda request: request.fields.append(("csrf", system.token_of_forms))
    cookie = [("Cookie", f"tender-office={system.cookie}")]
    number = itertools.count()

    def once(request):
        """A merchant is there once, with domains and keys that no other has."""
        data, text = request.file[2], f"moved-{next(number)}"
        try:
            data["id"] = text if data["id"] == "moved" else data["id"]
            for entry in data["domains"]:
                entry["domain"] = entry["domain"].replace("moved", text)
            for entry in data["secrets"]:
                entry["id"], entry["secret"] = entry["id"] + text, os.urandom(32).hex() if len(entry["secret"]) == 64 else entry["secret"]
        except (AttributeError, KeyError, TypeError):
            pass  # It has another shape now, and stays as it is.
        own(request)

    good = [Request("POST", "/merchants/import", cookie, fields=[("reason", "a reason")], file=("merchant", "moved.json", bundle), ready=once,
                    allowed=CHANGE)] * 4
    for kind in ("identity", "processing"):
        # As PEM and in base64.
        lines = [line for line in pem("identity.pem").split(b"\n") if not line.startswith(b"---")]
        for text in (pem("identity.pem"), b"".join(lines)):
            request = Request("POST", "/merchants/stored/import-certificate", cookie, raw=text, allowed=CHANGE)
            request.ready = certificate(system, kind)
            good.append(request)
    good.append(Request("POST", "/merchants/stored/add-domain", cookie, fields=[("domain", "b.example"), ("association", "7B7D"), ("reason", "a")], ready=own,
                        allowed=CHANGE))
    return good, system.office_port


def certificate(system, kind):
    def ready(request):
        request.fields = [("csrf", system.token_of_forms), ("kind", kind), ("certificate", request.raw), ("reason", "a reason")]
    return ready


def reports(system):
    """Reports of providers, as CSV and JSON, for reconciliation; and payments as CSV."""
    line = f"{system.reference},authorize,1250,EUR,approved,2026-11-28T09:00:00Z\n"
    own = "reference,operation,amount,currency,result,time\n" + line
    adyen = ("Company Account,Merchant Account,Psp Reference,Merchant Reference,Booking Date,TimeZone,Main Currency,Main Amount,Record Type,"
             "Modification Psp Reference,Modification Merchant Reference\n"
             + "".join(f"Tender,TenderSandbox,QWERTYUI12345678,{system.reference},2026-11-28 09:00:00,CET,EUR,12.50,{kind},,\n"
                       for kind in ("Received", "Authorised", "SentForSettle", "CaptureFailed")))
    rows = json.dumps({"reference": system.reference, "operation": "authorize", "amount": 1250, "currency": "EUR", "result": "approved",
                       "time": "2026-11-28T09:00:00Z"}) + "\n"
    cookie = [("Cookie", f"tender-office={system.cookie}")]
    ready = lambda request: request.fields.append(("csrf", system.token_of_forms))
    good = [Request("POST", "/reconciliation", cookie, fields=[("route", route)], file=("report", "report.csv", text.encode()), ready=ready)
            for text in (own, adyen, rows) for route in ("", "sandbox")]
    return good + [Request("GET", "/payments.csv?q=&merchant=harbour&from=2026-11-01", cookie)], system.office_port


def signed_in(system, pages, with_forms):
    """The pages, and their forms as they stand there."""
    cookie = [("Cookie", f"tender-office={system.cookie}")]
    good = [Request("GET", page, cookie) for page in pages]
    for page in with_forms:
        for method, action, fields, files in system.forms(page):
            # Not what would end the session, or the right to go on.
            if method != "POST" or action in ("/sign-out",) or "/account/" in action or f"/users/{PERSON}/" in action:
                continue
            filled = [(name, value or TEXTS.get(name, "")) for name, value in fields if name != "csrf"]
            ready = lambda request: request.fields.append(("csrf", system.token_of_forms))
            file = (files[0][0], "a.csv", b"a,b\n1,2\n") if files else None
            good.append(Request("POST", action, cookie, fields=filled, file=file, ready=ready, allowed=CHANGE if "/merchants" in action else 0))
    return good, system.office_port


def platform(system):
    """The calls of merchants' servers, and of their shoppers' pages."""
    sign, path = requests.platform(system.key, system.secret), f"/v2/{MERCHANT}"
    post = lambda where, body, method="POST": Request(method, path + where, json=body, sign=sign)
    get = lambda where: Request("GET", path + where, sign=sign)
    payment = system.payments[0]
    token = system.token(system.sheet(system.basket)[1])["paymentData"]
    encrypted = {"order": ORDER, "mobilePaymentMethodSpecificInput": {
        **MOBILE, "encryptedPaymentData": json.dumps(token), "ephemeralKey": token["header"].get("ephemeralPublicKey", "")}}
    decrypted = {"order": ORDER, "mobilePaymentMethodSpecificInput": {**MOBILE, "decryptedPaymentData": {
        "dpan": "4761340000000019", "expiryDate": "1230", "cryptogram": "AAAAAAAAAAAAAAAAAAAAAAAAAAA=", "eci": 7, "cardholderName": "Maud"}}}
    amount = {"amountOfMoney": {"amount": 100, "currencyCode": "EUR"}, "references": {"merchantReference": "r"}}
    basket = {
        "currencyCode": "EUR", "countryCode": "IE", "merchantReference": "T-1", "businessName": "Harbour", "serviceTypes": ["collection", "delivery"],
        "serviceType": "delivery", "items": [{"id": "fish", "label": "Fish", "unitAmount": 1250, "quantity": 1}],
        "zones": [{"id": "london", "countryCode": "GB", "postalPrefixes": ["EC"], "methods": ["bike"]}],
        "shippingMethods": [{"identifier": "bike", "label": "Bike", "detail": "Soon", "amount": 250}],
        "coupons": [{"code": "SAVE", "label": "Saved", "amount": 100}], "capture": "immediate"}
    good = [
        post("/hostedcheckouts", CHECKOUT), post("/hostedcheckouts", CHECKOUT), post("/paymentlinks", LINK), get("/hostedcheckouts/x"), get("/paymentlinks/x"),
        post("/paymentlinks/x/cancel", {}), post("/payments", encrypted), post("/payments", decrypted), get(f"/payments/{payment}_0"),
        get(f"/payments/{payment}_0/details"), post(f"/payments/{payment}_0/capture", {"amount": 1, "isFinal": False, "references": {"merchantReference": "r"}}),
        post(f"/payments/{payment}_0/refund", amount), post(f"/payments/{payment}_0/cancel", {"amountOfMoney": amount["amountOfMoney"], "isFinal": False}),
        get(f"/payments/{payment}_0/captures"), get(f"/payments/{payment}_0/refunds"), get("/payments?merchantReference=T-1&status=captured&limit=5&from=2026-11-01T00:00:00Z"),
        post(f"/payments/{payment}_0/subsequent", {"order": amount, "subsequentcardPaymentMethodSpecificInput": {
            "subsequentType": "Recurring", "authorizationMode": "SALE", "period": 1}}),
        post("/tokens", {"paymentProductId": 1}), get("/tokens/019aba5e7c008c77999ef20ddb5ec6f9"),
        get("/agreements?status=active&limit=5"), get("/agreements/019aba5e7c008c77999ef20ddb5ec6f9"),
        post("/agreements/019aba5e7c008c77999ef20ddb5ec6f9", {
            "status": "suspended", "reason": "asked", "price": {"amount": 1490, "from": "2027-06-01T00:00:00Z"}}),
        get("/events?cursor=0&limit=10"), get("/events/019aba5e-7c00-8c77-999e-f20ddb5ec6f9"), get("/products?countryCode=IE&currencyCode=EUR&amount=1000&locale=en_IE&isRecurring=false&hide=fields"),
        get("/products/302?countryCode=IE&currencyCode=EUR"), get("/products/302/networks?countryCode=IE&currencyCode=EUR&amount=1"),
        post("/products/302/sessions", {"paymentProductSession302SpecificInput": {
            "displayName": "Harbour", "domainName": "localhost", "validationUrl": "https://apple-pay-gateway.apple.com/"}}),
        post("/sessions", {"tokens": []}), post("/webhooks/validateCredentials", {"key": "a", "secret": "b"}), post("/webhooks/sendtest", {"url": "http://localhost:9/"}),
        post("/shadow", {"payment": json.dumps(token)}), post(f"/baskets/{'%032x' % 77}", basket, "PUT"), get(f"/baskets/{system.basket}"),
        get("/guests/x"), post("/guests/x", {"merchantCustomerId": "c"}, "PUT"), get("/services/testconnection")]
    session = system.signed("POST", path + "/sessions", {})[1]
    if "clientSessionId" in session:
        headers = [("Authorization", "GCS v1Client:" + session["clientSessionId"])]
        client = f"/client/v1/{session['customerId']}"
        good += [Request("GET", client + where, headers) for where in (
            "/products?countryCode=IE&currencyCode=EUR&amount=1000", "/products/302?countryCode=IE&currencyCode=EUR", "/crypto/publickey",
            "/products/302/networks?countryCode=IE&currencyCode=EUR&amount=1")]
    return good, system.port


def hosted(system):
    """The pages and calls of a hosted checkout, which anyone with its address may ask."""
    answer, other = (system.signed("POST", f"/v2/{MERCHANT}/hostedcheckouts", CHECKOUT)[1] for _ in range(2))
    page, canceled = ("/" + made["redirectUrl"].split("/", 3)[3].split("?")[0] for made in (answer, other))
    contact = {"countryCode": "GB", "postalCode": "EC1A", "locality": "London"}
    sheet = call(system.base, "GET", f"{page}/applepay/basket/{answer['hostedCheckoutId']}")[1]
    paths = ["", "/return", "/state", "/variant.css", "/logo", "/applepay/metadata", f"/applepay/basket/{answer['hostedCheckoutId']}"]
    good = [Request("GET", page + path, [("Accept-Language", "en-IE,de;q=0.5")]) for path in paths]
    good += [Request("POST", path, fields=[("a", "b")]) for path in (page + "/handover", canceled + "/cancel")]
    good += [Request("GET", "/hosted/codes/a.svg"), Request("GET", "/hosted/arrivals/" + "0" * 32), Request("GET", "/"), Request("GET", "/openapi.json")]
    for path, body in [
        (f"/applepay/basket/{answer['hostedCheckoutId']}/update", {"shippingContact": contact}),
        (f"/applepay/basket/{answer['hostedCheckoutId']}/update", {"couponCode": "SAVE"}),
        (f"/applepay/basket/{answer['hostedCheckoutId']}/update", {"shippingMethod": {"identifier": "bike", "label": "b", "amount": "1.00"}}),
        (f"/applepay/basket/{answer['hostedCheckoutId']}/update", {"paymentMethod": {"network": "Visa", "type": "debit"}}),
        ("/applepay/validate", {"basketId": answer["hostedCheckoutId"]}),
        ("/applepay/payment", {"basketId": answer["hostedCheckoutId"], "quoteId": sheet.get("quoteId", "q") if isinstance(sheet, dict) else "q",
                               "token": system.token(system.sheet(system.basket)[1]),
                               "shippingContact": {**contact, "givenName": "Maud", "familyName": "Q", "emailAddress": "maud@example.com",
                                                   "phoneNumber": "+44 20", "addressLines": ["1 Quay"]}, "billingContact": contact})]:
        good.append(Request("POST", page + path, json=body))
    return good, system.port


def administration(system):
    """The socket of the command line."""
    payment = system.payments[1]
    get = lambda path: Request("GET", path)
    post = lambda path, body=None: Request("POST", path, json=body)
    merchant_calls = [
        {"list": {}}, {"edit": {"merchant": "stored", "settings": {"displayName": "S", "supportedNetworks": "visa", "webhooks": "http://localhost:9/h", "routes": "sandbox"}}},
        {"export": {"merchant": "stored"}}, {"setEnabled": {"_0": True, "merchant": "stored", "domain": "stored.example"}},
        {"addDomain": {"_0": "c.example", "merchant": "stored", "associationBase64": "N0I3RA=="}}, {"removeDomain": {"_0": "c.example", "merchant": "stored"}},
        {"listDomains": {"merchant": "stored"}}, {"noteCheck": {"domain": "stored.example", "merchant": "stored", "finding": "f"}},
        {"noteRegistration": {"domains": ["stored.example"], "merchant": "stored", "isRegistered": True}},
        {"requestCertificate": {"merchant": "stored", "kind": "processing", "isMainlandChina": False}},
        {"importCertificate": {"merchant": "stored", "kind": "identity", "certificatesBase64": ["MIIB"], "privateKeyPEM": "-----BEGIN PRIVATE KEY-----\nMIIB\n"}},
        {"listCertificates": {"merchant": "stored"}}, {"activateCertificate": {"id": "a"}}, {"retireCertificate": {"id": "a"}},
        {"exportCertificate": {"id": "a", "withKey": True}}, {"addKey": {"merchant": "stored", "kind": "api-key", "scopes": ["read"], "expires": "2027-01-01T00:00:00Z"}},
        {"rotateKey": {"merchant": "stored", "kind": "api-key", "overlapSeconds": 3600}}, {"revokeKey": {"merchant": "stored", "kind": "api-key", "id": "a"}},
        {"listKeys": {"merchant": "stored"}}, {"sealing": {}}, {"publishTerms": {"version": "v", "wording": "w", "graceSeconds": 60}},
        {"acceptTerms": {"merchant": "stored", "version": "v", "actor": "a"}}, {"unsubscribe": {"merchant": "stored", "actor": "a"}}, {"showTerms": {"merchant": "stored"}},
        {"add": {"_0": {"id": "made", "settings": "merchantIdentifier: m\n", "enabled": True, "domains": [], "certificates": [], "secrets": [
            {"kind": "api-key", "id": "k", "secret": "0" * 64, "scopes": ["read"], "expires": "2027-01-01T00:00:00Z"}]}}}]
    user_calls = [{"list": {}}, {"add": {"name": "carl", "grants": [{"role": "viewer", "merchant": "stored"}], "refundLimits": "100.00 EUR"}},
                  {"invite": {"name": "carl"}}, {"setEnabled": {"_0": True, "name": "carl"}}, {"code": {"name": "carl"}}]
    return [
        get("/payments?limit=5"), get("/payments?named=T-1"), get(f"/payments/{payment}"), post("/payments/search", {
            "payment": payment, "order": "o", "basket": "b", "reference": "r", "merchant": MERCHANT, "status": "captured", "from": 0, "until": 1,
            "alarmed": False, "limit": 50}), post("/payments/search", {"alarmed": False, "limit": 50, "reference": "T-1"}),
        *(post(f"/payments/{payment}/{verb}?amount=1.00&final=false&key=k") for verb in ("capture", "void", "refund", "increment", "inquire", "acknowledge")),
        post(f"/payments/{payment}/resolve?as=approved&note=n&operation={system.reference}"), post(f"/payments/{payment}/resolve?as=voided&note=n"), get("/keys"), post("/keys/retire", {"merchant": MERCHANT, "publicKeyHash": "YQ=="}),
        get("/webhooks/deliveries?state=dead&limit=50"), get("/webhooks/events?after=0"), post(f"/webhooks/replay?payment={payment}&sequence=1&to=orders"),
        get("/routes"),
        post("/routes/explain", {"merchant": MERCHANT, "currency": "EUR", "amount": "1.00", "network": "visa"}), post("/shadow", {"payment": "{}"}),
        get("/mail?state=dead&limit=50"), get("/mail/1"), post("/mail/retry?id=1"),
        Request("POST", "/reconcile?from=2026-11-01T00:00:00Z&until=2026-12-01T00:00:00Z&route=sandbox",
                raw=b"reference,operation,amount,currency,result,time\na,authorize,1,EUR,approved,2026-11-28T09:00:00Z\n"),
        post("/reconcile?listing=yes&route=stripe&from=2026-11-01T00:00:00Z&until=2026-12-01T00:00:00Z"), get("/metrics"),
        *(Request("POST", "/merchants/calls", json=body, allowed=CHANGE) for body in merchant_calls), *(post("/users/calls", body) for body in user_calls)], system.store + ".sock"


def events(system):
    """What acquirers and providers send by themselves, rightly signed."""
    files = {name: CONNECTORS[name]["files"] for name in CONNECTORS}
    post = lambda name, **parts: Request("POST", f"/acquirers/{name}/events", **parts)
    notice = {"live": "false", "notificationItems": [{"NotificationRequestItem": {
        "eventCode": "CAPTURE", "success": "true", "pspReference": "ABCDEFGH12345678", "originalReference": "QWERTYUI12345678",
        "merchantAccountCode": "TenderSandbox", "merchantReference": system.reference, "amount": {"value": 1250, "currency": "EUR"}, "reason": "",
        "eventDate": "2026-11-28T09:00:00+01:00", "additionalData": {"hmacSignature": ""}}}]}
    key = files["adyen"]["hmac-keys/1.secret"]

    def sign_adyen(request):
        try:
            requests.adyen(request.json, key)
        except (KeyError, TypeError, AttributeError):
            pass  # It has another shape now, and stays as it is.

    def sign_braintree(request):
        request.fields = requests.braintree(request.raw, "sandbox_public_key", files["braintree"]["private-key.secret"])

    xml = (f"<notification><kind>transaction_settled</kind><timestamp type=\"datetime\">2026-11-28T09:00:00Z</timestamp><subject><transaction>"
           f"<id>abc</id><order-id>{system.reference}</order-id><type>sale</type><amount>12.50</amount><currency-iso-code>EUR</currency-iso-code>"
           "<status>settled</status><custom-fields nil=\"true\"/><status-history type=\"array\"></status-history></transaction></subject></notification>")
    stripe = {"id": "evt_1", "object": "event", "type": "payment_intent.succeeded", "created": 1, "livemode": False, "data": {"object": {
        "id": "pi_1", "object": "payment_intent", "livemode": False, "created": 1, "amount": 1250, "amount_received": 1250, "currency": "eur", "status": "succeeded", "metadata": {
            "tender_reference": system.reference, "capture_" + system.reference: "1250"}, "latest_charge": "ch_1"}}}
    refund = json.loads(json.dumps(stripe))
    refund["type"], refund["data"]["object"] = "refund.updated", {
        "id": "re_1", "object": "refund", "amount": 1250, "currency": "eur", "payment_intent": "pi_1", "charge": "ch_1", "status": "succeeded",
        "created": 1, "metadata": {"tender_reference": system.reference}}
    dispute = json.loads(json.dumps(stripe))
    dispute["type"], dispute["data"]["object"] = "charge.dispute.funds_withdrawn", {
        "id": "dp_1", "object": "dispute", "amount": 1250, "currency": "eur", "payment_intent": "pi_1"}
    checkout = {"id": "evt_1", "type": "payment_captured", "created_on": "2026-11-28T09:00:00Z", "data": {
        "id": "pay_abcdefghijklmnopqrstuvwxyz", "action_id": "act_1", "reference": system.reference, "amount": 125000, "currency": "CLP", "response_code": "10000",
        "auth_code": "1", "scheme_id": "s", "metadata": {"tender_reference": system.reference, "operation": system.reference}}}
    approved = {**checkout, "type": "payment_approved"}
    disputed = {**checkout, "type": "dispute_received", "data": {
        "id": "dsp_1", "payment_id": "pay_abcdefghijklmnopqrstuvwxyz", "amount": 1250, "currency": "KWD"}}
    direct = {"apiVersion": "v1", "id": "e", "created": "2026-11-28T09:00:00Z", "merchantId": "TenderSandbox", "type": "payment.captured", "payment": {
        "id": "3000_0", "status": "CAPTURED", "paymentOutput": {"amountOfMoney": {"amount": 1250, "currencyCode": "EUR"},
                                                                "references": {"merchantReference": system.reference}},
        "statusOutput": {"statusCode": 9, "statusCategory": "COMPLETED", "isAuthorized": True}}}
    own = {"id": "e", "reference": system.reference, "amount": 1250, "currency": "EUR", "result": "approved", "responseCode": "00",
           "acquirerReference": "a", "authorizationCode": "123456", "approvedAmount": 1250}
    timed = requests.timed
    return [
        post("adyen", json=notice, ready=sign_adyen), post("braintree", raw=xml.encode(), ready=sign_braintree),
        post("braintree", fields=[("bt_signature", "sandbox_public_key|00"), ("bt_payload", "YQ==\n")]),
        Request("GET", "/acquirers/braintree/events?bt_challenge=" + "0" * 24),
        post("stripe", json=stripe, sign=timed("Stripe-Signature", files["stripe"]["signing-secrets/1.secret"])),
        post("stripe", json=refund, sign=timed("Stripe-Signature", files["stripe"]["signing-secrets/1.secret"])),
        post("checkout-com", json=checkout, sign=requests.checkout_com(files["checkout-com"]["signature-keys/1.secret"])),
        post("stripe", json=dispute, sign=timed("Stripe-Signature", files["stripe"]["signing-secrets/1.secret"])),
        post("checkout-com", json=disputed, sign=requests.checkout_com(files["checkout-com"]["signature-keys/1.secret"])),
        post("checkout-com", json=approved, sign=requests.checkout_com(files["checkout-com"]["signature-keys/1.secret"])),
        post("worldline-direct", json=direct, sign=requests.worldline_direct(
            "sandbox-webhook-key", files["worldline-direct"]["webhook-keys/sandbox-webhook-key.secret"])),
        post("sandbox", json=own, sign=timed("Sandbox-Signature", "sandbox-acquirer-key"))], system.port


def mail(system):
    """Messages to shoppers and operators: what merchants and shoppers write stands in them."""
    get, post = (lambda path: Request("GET", path)), (lambda path, body=None: Request("POST", path, json=body))
    return [Paid(system), Paid(system), Paid(system), post("/mail/test?to=maud%40example.com"), post("/mail/warnings?at=2028-01-01T00:00:00Z"),
            get("/mail?state=waiting&limit=50"), post("/mail/retry?id=1")], system.store + ".sock"


class Paid(Request):
    """A payment whose basket and contact are hostile. What is judged is the last call; the ones before it are made on the way."""

    number = 1_000

    def __init__(self, system):
        basket = {
            "currencyCode": "EUR", "countryCode": "IE", "merchantReference": "T-1", "businessName": "Harbour Kitchen", "serviceTypes": ["collection"],
            "serviceType": "collection", "items": [{"id": "fish", "label": "Fish", "unitAmount": 1250, "quantity": 1}], "shippingMethods": [], "zones": [],
            "coupons": [], "capture": "immediate"}
        super().__init__("GET", "/mail?limit=5", json={"basket": basket, "contact": dict(system.contact)})
        self.system, self.ready = system, Paid.pay

    def pay(self):
        Paid.number += 1
        basket, order, self.json = "%032x" % Paid.number, self.json, None
        try:
            self.before = requests.hostile.json_bytes(order)
            body = requests.hostile.json_bytes(order["basket"])
            headers = dict(requests.platform(self.system.key, self.system.secret)(
                Request("PUT", f"/v2/{MERCHANT}/baskets/{basket}", [("Content-Type", "application/json")])))
            send(self.system, "PUT", f"/v2/{MERCHANT}/baskets/{basket}", body, headers)
            sheet = self.system.sheet(basket)[1]
            payment = self.system.payment(basket, sheet, self.system.token(sheet))
            payment["shippingContact"] = order["contact"]
            send(self.system, "POST", "/applepay/payment", requests.hostile.json_bytes(payment), {})
        except (AssertionError, KeyError, TypeError, ValueError, OSError):
            pass  # The basket is refused, or the server has ended.


def send(system, method, path, body, headers):
    connection = http.client.HTTPConnection("127.0.0.1", system.port, timeout=60)
    connection.request(method, path, body, {"Content-Type": "application/json", **headers})
    connection.getresponse().read()
    connection.close()


def key_agent(system):
    """Questions to the process that holds the private keys."""
    token = system.token(system.sheet(system.basket)[1])["paymentData"]
    sent = base64.b64decode(token["header"]["ephemeralPublicKey"])
    name = base64.b64decode(token["header"]["publicKeyHash"])
    return [Framed(bytes([version, kind]) + name + bytes([number]) + sent) for version in (1, 2) for kind in (1, 2) for number in (1, 2)] + [
        Framed(bytes([1, 3]))], system.directory + "/keys.sock"


ALL = {"office-outside": office_outside, "office": office, "hosted": hosted, "platform": platform, "administration": administration, "key-agent": key_agent,
       "events": events, "merchant-files": merchant_files, "reports": reports, "mail": mail}
