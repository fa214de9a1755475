#!/usr/bin/env python3
"""Independent implementations against the sign-in of the back office: verify.py TENDER

Yubico's fido2 makes the answers of an authenticator, right ones and wrong ones, and judges each of them beside the running
office: what it refuses, the office refuses. And in Chromium a person signs in at oidc-provider-mock, an OpenID provider.
"""
import contextlib
import hashlib
import http.cookies
import json
import logging
import os
import pathlib
import re
import secrets
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

import oidc_provider_mock
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from fido2 import cose, server, webauthn
from fido2.utils import websafe_decode, websafe_encode
from oidc_provider_mock import User

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent / "Support"), str(HERE.parent.parent / "Browser")]
import free_ports  # noqa: E402
from officework import PASSWORD, code  # noqa: E402

# What takes longer than so many seconds hangs.
STILL = 600
FLAG = webauthn.AuthenticatorData.FLAG
logging.getLogger("werkzeug").setLevel(logging.ERROR)


def check(claim, holds, detail=""):
    if not holds:
        raise SystemExit(f"sign-in: {claim}: {detail}")
    print(f"  {claim}")


class System:
    """`tender-sandbox sandbox` and `tender serve` in a folder."""

    def __init__(self, program, place, ports, issuer):
        self.program, self.place, self.started = program, place, []
        self.office = f"http://localhost:{ports + 3}"
        (place / "secret").write_text("the client's secret\n")
        (place / "secret").chmod(0o600)
        self.file = place / "tender.yaml"
        self.file.write_text(f"""
environment: simulated
directory: {place}/data
port: {ports}
sandboxURL: http://127.0.0.1:{ports + 1}
merchants:
  directory: {place}/merchants
backOffice:
  port: {ports + 3}
  openID:
    issuer: {issuer}
    name: The Mock
    clientID: tender-office
    clientSecretFile: {place}/secret
    roles: [admins = administrator, shop-team = operator of harbour]
""")
        sandbox = f"http://127.0.0.1:{ports + 1}"
        self.start(f"{program}-sandbox", "sandbox", "--port", str(ports + 1), "--json")
        added = self.run("merchant", "add", "--sandbox", sandbox, "--directory", "merchants", "--domain", f"localhost:{ports}")
        check("a merchant is made", added.returncode == 0, added)
        self.start(program, "serve", "--config", str(self.file), "--json")

    def start(self, program, *words):
        with open(self.place / "log", "ab") as log:
            process = subprocess.Popen([program, *words], cwd=self.place, stdout=subprocess.PIPE, stderr=log)
        self.started.append(process)
        check(f"{words[0]} begins", process.stdout.readline(), (self.place / "log").read_text()[-2000:])

    def run(self, *words):
        return subprocess.run([self.program, *words], cwd=self.place, capture_output=True, text=True, timeout=STILL)

    def ask(self, *words):
        answer = self.run(*words, "--json", "--store", "data/tender.db")
        check(" ".join(words[:2]), answer.returncode == 0, answer.stderr)
        return json.loads(answer.stdout)

    def stop(self):
        for process in self.started:
            process.kill()
            process.wait()


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Browser:
    """Keeps the session's cookie, and sends forms as pages do."""

    def __init__(self, office):
        self.office, self.cookies = office, {}

    def call(self, path, fields=None):
        """Status and text."""
        if fields is not None:
            token = re.search(r'name="csrf" value="([0-9a-f]+)"', self.call("/sign-in")[1])[1]
            fields = urllib.parse.urlencode({**fields, "csrf": token}).encode()
        request = urllib.request.Request(
            self.office + path, fields, {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())})
        try:
            answer = urllib.request.build_opener(NoRedirect).open(request, timeout=STILL)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            for line in answer.headers.get_all("Set-Cookie", []):
                for cookie in http.cookies.SimpleCookie(line).values():
                    self.cookies[cookie.key] = cookie.value
            return answer.status, answer.read().decode()

    @property
    def is_signed_in(self):
        return self.call("/account")[0] == 200


class Person(Browser):
    """Has accepted an invitation, and signed in with a recovery code: the next code of the app is still there."""

    def __init__(self, system):
        super().__init__(system.office)
        self.name = f"user-{secrets.token_hex(4)}"
        link = system.ask("user", "add", self.name, "--role", "viewer")["invitation"].removeprefix(system.office)
        self.secret = re.search(r'class="secret">([A-Z2-7 ]+)<', self.call(link)[1])[1]
        _, page = self.call(link, {"password": PASSWORD, "code": code(self.secret)})
        recovery = re.search(r"<code>([a-z2-7-]{19})</code>", page)[1]
        status, page = self.call("/sign-in", {"name": self.name, "password": PASSWORD, "code": recovery})
        if status != 303:
            raise SystemExit(f"sign-in: {status} {page}")

    def options(self):
        status, text = self.call("/account/passkeys/options", {"code": code(self.secret, ahead=1)})
        if status != 200:
            raise SystemExit(f"sign-in: no options: {status} {text}")
        return json.loads(text)


class Authenticator:
    """Answers with fido2's own types. A judgement changes it before it answers."""

    def __init__(self, office):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.public = cose.ES256.from_cryptography_key(self.key.public_key())
        self.id, self.rp, self.origin = secrets.token_bytes(32), "localhost", office
        self.flags, self.counter = FLAG.UP | FLAG.UV, 0
        self.create, self.get = "webauthn.create", "webauthn.get"
        self.format, self.statement, self.extensions = "none", {}, None
        self.cross, self.spoil, self.signer, self.challenge = False, False, self.key, None
        self.handle = None

    def data(self, more=0, credential=b""):
        flags = self.flags | more | (FLAG.ED if self.extensions else 0)
        return webauthn.AuthenticatorData.create(
            hashlib.sha256(self.rp.encode()).digest(), flags, self.counter, credential, self.extensions)

    def said(self, kind, challenge):
        return webauthn.CollectedClientData.create(kind, self.challenge or challenge, self.origin, self.cross)

    def registration(self, challenge):
        credential = webauthn.AttestedCredentialData.create(bytes(16), self.id, self.public)
        return webauthn.RegistrationResponse(raw_id=self.id, response=webauthn.AuthenticatorAttestationResponse(
            client_data=self.said(self.create, challenge),
            attestation_object=webauthn.AttestationObject.create(self.format, self.data(FLAG.AT, credential), self.statement)))

    def assertion(self, challenge):
        said, data = self.said(self.get, challenge), self.data()
        signature = self.signer.sign(data + said.hash, ec.ECDSA(hashes.SHA256()))
        if self.spoil:
            signature = signature[:-1] + bytes([signature[-1] ^ 1])
        return webauthn.AuthenticationResponse(raw_id=self.id, response=webauthn.AuthenticatorAssertionResponse(
            client_data=said, authenticator_data=data, signature=signature, user_handle=self.handle))


def judge(office):
    return server.Fido2Server(webauthn.PublicKeyCredentialRpEntity(name="Tender", id="localhost"), verify_origin=lambda origin: origin == office)


def state(options):
    return {"challenge": options["challenge"], "user_verification": "required"}


def accepts(work):
    try:
        work()
        return True
    except Exception:
        return False


def change(**values):
    def apply(authenticator):
        for name, value in values.items():
            setattr(authenticator, name, value)
    return apply


def other_key(authenticator):
    authenticator.public = cose.EdDSA.from_cryptography_key(ed25519.Ed25519PrivateKey.generate().public_key())


OTHER_ORIGIN = "http://localhost:1"
# Claim, what is changed, and whether fido2 takes it.
BOTH = [
    ("as it should be", change(), True),
    ("of another origin", change(origin=OTHER_ORIGIN), False),
    ("of another relying party", change(rp="example.com"), False),
    ("with nobody present", change(flags=FLAG.UV), False),
    ("with nobody verified", change(flags=FLAG.UP), False),
    ("of another challenge", change(challenge=secrets.token_bytes(32)), False),
    ("backed up", change(flags=FLAG.UP | FLAG.UV | FLAG.BE | FLAG.BS), True),
    ("with an extension", change(extensions={"credProtect": 2}), True),
]
# fido2 leaves to its caller whether the page was framed.
FRAMED = ("in a frame of another site", change(cross=True), True)
REGISTRATIONS = BOTH + [
    FRAMED,
    ("for an assertion", change(create="webauthn.get"), False),
    # Two that fido2 takes, because it leaves attestation and algorithm to its caller.
    ("with an attestation", change(format="packed", statement={"alg": -7, "sig": b"x"}), True),
    ("with a key of Ed25519", other_key, True),
]
ASSERTIONS = BOTH + [
    FRAMED,
    ("for a registration", change(get="webauthn.create"), False),
    ("with a changed signature", change(spoil=True), False),
    ("signed by another key", change(signer=ec.generate_private_key(ec.SECP256R1())), False),
    ("with an id that nobody has", change(id=b"another"), False),
]
# What the office refuses though fido2 takes it.
STRICTER = {"with an attestation", "with a key of Ed25519", FRAMED[0]}


def send_registration(person, response):
    return person.call("/account/passkeys", {
        "name": "made by fido2", "clientData": websafe_encode(response.response.client_data),
        "attestation": websafe_encode(response.response.attestation_object)})


def send_assertion(browser, response):
    return browser.call("/sign-in/passkey", {
        "credential": websafe_encode(response.raw_id), "clientData": websafe_encode(response.response.client_data),
        "authenticatorData": websafe_encode(response.response.authenticator_data),
        "signature": websafe_encode(response.response.signature),
        "userHandle": websafe_encode(response.response.user_handle or b"")})


def registrations(system):
    for name, alter, fido2_takes in REGISTRATIONS:
        person = Person(system)
        options = person.options()
        webauthn.PublicKeyCredentialCreationOptions.from_dict(options)
        authenticator = Authenticator(system.office)
        alter(authenticator)
        response = authenticator.registration(websafe_decode(options["challenge"]))
        verdict = accepts(lambda: judge(system.office).register_complete(state(options), response))
        status, page = send_registration(person, response)
        expected = 303 if fido2_takes and name not in STRICTER else 400
        check(f"a registration {name}: fido2 {'takes' if verdict else 'refuses'} it, the office {'takes' if status == 303 else 'refuses'} it",
              verdict == fido2_takes and status == expected, f"{verdict} {status} {page[-1500:]}")
    status, page = send_registration(person, response)
    check("a registration is taken once", status == 400, status)


def registered(system):
    person, authenticator = Person(system), Authenticator(system.office)
    options = person.options()
    authenticator.handle = websafe_decode(options["user"]["id"])
    status, page = send_registration(person, authenticator.registration(websafe_decode(options["challenge"])))
    check("a passkey is added", status == 303 and "made by fido2" in person.call("/account")[1], page)
    person.call("/sign-out", {})
    return person, authenticator


def asked(browser):
    options = json.loads(browser.call("/sign-in/passkey/options", {})[1])
    webauthn.PublicKeyCredentialRequestOptions.from_dict(options)
    return options


def assertions(system):
    for name, alter, fido2_takes in ASSERTIONS:
        person, authenticator = registered(system)
        known = [webauthn.AttestedCredentialData.create(bytes(16), authenticator.id, authenticator.public)]
        alter(authenticator)
        options = asked(person)
        response = authenticator.assertion(websafe_decode(options["challenge"]))
        verdict = accepts(lambda: judge(system.office).authenticate_complete(state(options), known, response))
        status, page = send_assertion(person, response)
        expected = 303 if fido2_takes and name not in STRICTER else 403
        check(f"an assertion {name}: fido2 {'takes' if verdict else 'refuses'} it, the office {'takes' if status == 303 else 'refuses'} it",
              verdict == fido2_takes and status == expected and person.is_signed_in == (expected == 303), f"{verdict} {status} {page[-1500:]}")


def counters(system):
    person, authenticator = registered(system)
    for counter, expected in [(5, 303), (5, 403), (4, 403), (0, 403), (6, 303)]:
        authenticator.counter = counter
        response = authenticator.assertion(websafe_decode(asked(person)["challenge"]))
        status, page = send_assertion(person, response)
        check(f"the counter {counter} is {'taken' if expected == 303 else 'refused'}", status == expected, page[-1500:])
        check("an answer is taken once", send_assertion(person, response)[0] == 403)
    authenticator.counter = 7
    response = authenticator.assertion(websafe_decode(asked(person)["challenge"]))
    check("an answer is taken in no other browser", send_assertion(Browser(system.office), response)[0] == 403)


@contextlib.contextmanager
def chromium():
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    options = Options()
    options.add_argument("--headless=new")
    options.add_argument("--disable-dev-shm-usage")
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    browser.set_page_load_timeout(STILL)
    try:
        yield browser
    finally:
        browser.quit()


def at_the_provider(system, issuer):
    from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    def enter(browser, subject):
        browser.get(system.office + "/sign-in")
        browser.find_element(By.LINK_TEXT, "Sign in with The Mock").click()
        if subject is None:
            browser.find_element(By.CSS_SELECTOR, "button[value=deny]").click()
        else:
            browser.find_element(By.NAME, "sub").send_keys(subject)
            browser.find_element(By.XPATH, "//button[.='Authorize']").click()

    def sees(browser, text):
        # A page may be replaced while it is read.
        wait = WebDriverWait(browser, STILL, ignored_exceptions=[NoSuchElementException, StaleElementReferenceException])
        wait.until(lambda browser: text in browser.find_element(By.TAG_NAME, "body").text, f"“{text}” does not appear")

    doctor = json.loads(system.run("doctor", "--config", str(system.file), "--json").stdout)["checks"]
    found = next(row for row in doctor if row["code"] == "sign_in_provider")
    check("the doctor reads the provider's description and keys", found["status"] == "ok", found)
    with chromium() as browser:
        enter(browser, "anna")
        sees(browser, "anna@example.com")
        check("who comes back is at the office, signed in", browser.current_url == system.office + "/", browser.current_url)
        cookies = {cookie["name"]: cookie for cookie in browser.get_cookies()}
        check("the session's cookie is as strict as ever", cookies["tender-office"]["sameSite"] == "Strict", cookies)
        check("the provider's cookie is gone", "tender-office-provider" not in cookies, cookies)
        browser.get(system.office + "/account")
        sees(browser, "administrator of every merchant")
    for subject, text in [("bert", "openid_role"), (None, "access_denied")]:
        with chromium() as browser:
            enter(browser, subject)
            sees(browser, text)
            browser.get(system.office + "/")
            check(f"{text}: nobody is signed in", browser.current_url == system.office + "/sign-in", browser.current_url)
    with chromium() as browser:
        enter(browser, "carl")
        sees(browser, "openid-")
        check("an address that is not verified is no name", "carl@example.com" not in browser.page_source)
    audit = [row["name"] for row in system.ask("user", "list") if not row["enrolled"]]
    check("each is a user, and who was refused is none", len(audit) == 2, audit)


def main(program):
    program = str(pathlib.Path(program).resolve())
    users = [
        User(sub="anna", claims={"email": "anna@example.com", "email_verified": True, "groups": ["admins"]}),
        User(sub="bert", claims={"email": "bert@example.com", "email_verified": True, "groups": ["strangers"]}),
        User(sub="carl", claims={"email": "carl@example.com", "email_verified": False, "groups": ["shop-team"]}),
    ]
    ports = free_ports.row(5)
    with tempfile.TemporaryDirectory(prefix="tender-sign-in-") as folder, \
            oidc_provider_mock.run_server_in_thread(port=ports + 4, user_claims=users):
        issuer = f"http://localhost:{ports + 4}"
        system = System(program, pathlib.Path(folder), ports, issuer)
        try:
            registrations(system)
            assertions(system)
            counters(system)
            at_the_provider(system, issuer)
        finally:
            system.stop()


if __name__ == "__main__":
    main(sys.argv[1])
