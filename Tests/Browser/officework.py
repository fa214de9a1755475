"""A person at the back office: is added on the command line, accepts the invitation, signs in."""

import base64
import contextlib
import hashlib
import hmac
import json
import secrets
import struct
import subprocess
import time

from shopper import PATIENCE

PASSWORD = "correct horse battery"
STEP = 30


def code(secret, ahead=0):
    """The one-time code of a secret in base32 (RFC 6238)."""
    key = base64.b32decode(secret.replace(" ", ""))
    digest = hmac.new(key, struct.pack(">Q", int(time.time()) // STEP + ahead), hashlib.sha1).digest()
    place = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[place:place + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"


def tender(demo, *arguments):
    """A command about the demo's store; its answer as JSON."""
    answer = subprocess.run(
        [demo.tender, *arguments, "--json", "--store", demo.store], cwd=demo.home,
        capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def invite(demo, role="administrator", *options):
    """A new user: name, and the path of the invitation."""
    name = f"user-{secrets.token_hex(4)}"
    link = tender(demo, "user", "add", name, "--role", role, *options)["invitation"]
    assert link.startswith(f"{demo.office}/invitation/"), link
    return name, link.removeprefix(demo.office)


def enter(shopper, role="administrator", *options):
    """Signs a new user in. The code of the invitation is the one of now, the code of the sign-in the next one: each is
    taken once."""
    name, path = invite(shopper.demo, role, *options)
    shopper.browser.get(shopper.demo.office + path)
    shopper.sees(name)
    secret = accept(shopper)
    shopper.follow("Sign in")
    sign_in(shopper, name, code(secret, ahead=1))
    shopper.sees("What needs you")
    return name


def accept(shopper):
    """Sets password and codes on the page of an invitation; the secret of the codes."""
    secret = shopper.browser.find_element("css selector", "code.secret").text
    shopper.write("A password", PASSWORD)
    shopper.write("The code", code(secret))
    shopper.press("Set both")
    shopper.sees("Each takes its place once")
    return secret


def sign_in(shopper, name, one_time_code):
    shopper.write("Name", name)
    shopper.browser.find_element("id", "password").send_keys(PASSWORD)
    shopper.write("Code", one_time_code)
    shopper.press("Sign in")


def visit(shopper, path):
    shopper.browser.get(shopper.demo.office + path)


def unfold(place, name):
    """Opens what stands behind a button: a form, below a page or an element of it."""
    place.find_element("xpath", f".//summary[.='{name}']").click()


def newest(shopper):
    """The id of the payment that was made last."""
    return shopper.demo.journal()[0]["id"]


def pay(demo):
    """A payment of the shop, made by a program."""
    answer = subprocess.run(
        [f"{demo.tender}-sandbox", "pay", "--port", str(demo.port), "--json"], cwd=demo.home, capture_output=True, text=True,
        timeout=PATIENCE, check=False)
    assert answer.returncode == 0, answer.stderr + answer.stdout
    basket = json.loads(answer.stdout)["basketId"]
    return demo.payments(basket)[0]


@contextlib.contextmanager
def without_scripts(shopper):
    """JavaScript is off while the context lasts."""
    shopper.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        yield
    finally:
        shopper.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
