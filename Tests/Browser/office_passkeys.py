"""Signing in to the back office with a passkey, by the browser's own virtual authenticator."""

from selenium.webdriver.common.virtual_authenticator import VirtualAuthenticatorOptions

from claims import claim
from officework import accept, code, invite, sign_in, unfold, visit


def authenticator(shopper, verified=True):
    """A platform authenticator that keeps passkeys, and knows who somebody is or does not."""
    options = VirtualAuthenticatorOptions()
    options.transport = VirtualAuthenticatorOptions.Transport.INTERNAL
    options.has_resident_key = options.has_user_verification = True
    options.is_user_verified = verified
    shopper.browser.add_virtual_authenticator(options)


def enter(shopper):
    """Signs a new user in with a recovery code, so that the app's next code is still there; name and that code."""
    name, path = invite(shopper.demo, "viewer")
    visit(shopper, path)
    secret = accept(shopper)
    recovery = shopper.browser.find_element("css selector", "main code").text
    shopper.follow("Sign in")
    sign_in(shopper, name, recovery)
    shopper.sees(name)
    return name, code(secret, ahead=1)


def add(shopper, one_time_code, name):
    visit(shopper, "/account")
    unfold(shopper.browser, "Add a passkey")
    shopper.write("Name of the passkey", name)
    shopper.write("Code of the app", one_time_code)
    shopper.press("Add")


@claim(page=None)
def a_passkey_is_added_signs_in_and_is_removed(shopper):
    authenticator(shopper)
    try:
        name, one_time_code = enter(shopper)
        add(shopper, one_time_code, "this computer")
        shopper.sees("The passkey is added")
        shopper.sees("this computer")
        shopper.picture("office-account-passkey", whole=True)
        shopper.press("Sign out")
        shopper.press("Sign in with a passkey")
        shopper.sees(name)
        visit(shopper, "/account")
        shopper.press("Remove the passkey this computer")
        shopper.sees("The passkey is removed")
        shopper.press("Sign out")
        shopper.press("Sign in with a passkey")
        shopper.sees("This passkey is not known here")
        assert not shopper.script("return document.querySelector('nav')"), "somebody is signed in"
    finally:
        shopper.browser.remove_virtual_authenticator()
        shopper.browser_errors()


@claim(page=None)
def a_passkey_that_does_not_ask_who_somebody_is_is_not_added(shopper):
    authenticator(shopper, verified=False)
    try:
        _, one_time_code = enter(shopper)
        add(shopper, one_time_code, "nobody's")
        shopper.sees("Nothing was chosen, or it took too long")
    finally:
        shopper.browser.remove_virtual_authenticator()


@claim(page=None)
def a_wrong_code_adds_no_passkey(shopper):
    authenticator(shopper)
    try:
        enter(shopper)
        add(shopper, "000000", "nobody's")
        shopper.sees("This code is not the one of your app")
    finally:
        shopper.browser.remove_virtual_authenticator()
        shopper.browser_errors()
