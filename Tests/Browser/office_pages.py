"""The back office: whether a person does there what they came for, and whether every page is accessible and fits."""

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from access import faint, must_be_accessible, small_targets, unnamed, width
from claims import claim
from officework import enter, invite, pay, tender, visit, without_scripts
from shopper import DESKTOP, PHONE


def pages(shopper):
    """Every page that an administrator sees, by name."""
    payment = pay(shopper.demo)["id"]
    return {
        "attention": "/", "overview": "/overview", "payments": "/payments", "payment": f"/payments/{payment}",
        "evidence": f"/payments/{payment}/evidence", "webhooks": "/webhooks", "reconciliation": "/reconciliation", "delivered": "/webhooks?state=delivered",
        "merchants": "/merchants", "merchant": "/merchants/harbour", "users": "/users", "audit": "/audit?verify=1",
        "settings": "/settings", "account": "/account", "nothing": "/nothing",
    }


OPEN = "document.querySelectorAll('details').forEach((details) => { details.open = true; })"


def must_pass(shopper, where):
    shopper.browser.execute_script(OPEN)  # what is folded away has to be accessible too
    must_be_accessible(shopper, where)
    assert not unnamed(shopper), f"without a name on {where}: {unnamed(shopper)}"
    assert not faint(shopper), f"too faint on {where}: {faint(shopper)}"
    assert width(shopper) <= shopper.size[0], f"{where} is {width(shopper)} px wide"
    assert not small_targets(shopper), f"too small on {where}: {small_targets(shopper)}"


def walk(shopper, size, scheme):
    shopper.look(size, scheme)
    _, path = invite(shopper.demo)
    for name, address in (("sign-in", "/sign-in"), ("invitation", path)):
        visit(shopper, address)
        shopper.picture(f"office-{name}-{size[0]}-{scheme}", whole=True)
        must_pass(shopper, f"{name}, {scheme}, {size[0]} px")
    enter(shopper)
    for name, address in pages(shopper).items():
        visit(shopper, address)
        shopper.picture(f"office-{name}-{size[0]}-{scheme}", whole=True)
        must_pass(shopper, f"{name}, {scheme}, {size[0]} px")


@claim(page=None, limit=300)
def every_page_of_the_office_is_accessible(shopper):
    walk(shopper, DESKTOP, "light")


@claim(page=None, limit=300)
def every_page_of_the_office_is_accessible_in_the_dark(shopper):
    walk(shopper, DESKTOP, "dark")


@claim(page=None, limit=300)
def every_page_of_the_office_is_accessible_on_a_phone(shopper):
    walk(shopper, PHONE, "light")


@claim(page=None, limit=300)
def every_page_of_the_office_is_accessible_on_a_phone_in_the_dark(shopper):
    walk(shopper, PHONE, "dark")


@claim(page=None)
def an_administrator_finds_a_payment_refunds_half_and_sees_the_webhook(shopper):
    payment = pay(shopper.demo)
    enter(shopper)
    with without_scripts(shopper):
        visit(shopper, "/payments")
        shopper.browser.find_element(By.ID, "q").send_keys(payment["merchantReference"] + Keys.ENTER)
        shopper.browser.find_element(By.CSS_SELECTOR, f"a[href='/payments/{payment['id']}']").click()
        shopper.browser.find_element(By.ID, "refund-amount").send_keys("7.50")
        shopper.browser.find_element(By.ID, "refund-reason").send_keys("half of it was cold" + Keys.ENTER)
    shopper.sees("The refund was asked for.")
    shopper.sees("partially refunded")
    shopper.sees("refund of 7.50 EUR: approved")
    shopper.sees("half of it was cold")

    def delivered():
        shopper.browser.refresh()
        return shopper.page_text().count("delivered") >= 2

    shopper.until(delivered, "the webhook of the refund is not delivered")
    assert shopper.demo.payments(payment["basket"])[0]["refunded"] == 750


@claim(page=None)
def a_double_click_refunds_once(shopper):
    payment = pay(shopper.demo)
    enter(shopper)
    visit(shopper, f"/payments/{payment['id']}")
    shopper.browser.find_element(By.ID, "refund-amount").send_keys("5.00")
    shopper.browser.find_element(By.ID, "refund-reason").send_keys("once")
    button = shopper.browser.find_element(By.CSS_SELECTOR, "form[action$='/refund'] button")
    shopper.browser.execute_script("arguments[0].click(); arguments[0].click()", button)
    shopper.sees("The refund was asked for.")
    assert shopper.demo.payments(payment["basket"])[0]["refunded"] == 500


@claim(page=None)
def a_viewer_sees_payments_and_no_form_that_changes_them(shopper):
    payment = pay(shopper.demo)
    enter(shopper, "viewer")
    visit(shopper, f"/payments/{payment['id']}")
    shopper.sees("What happened")
    assert not shopper.find("button", "Refund")
    visit(shopper, "/users")
    shopper.sees("Your role does not allow this")


@claim(page=None)
def the_office_is_walked_by_keyboard_alone(shopper):
    pay(shopper.demo)
    enter(shopper)

    def go_to(name, steps=40):
        for _ in range(steps):
            focused = shopper.focused()
            if focused.accessible_name == name:
                return focused
            focused.send_keys(Keys.TAB)
        raise AssertionError(f"“{name}” is not reached by the keyboard")

    go_to("Skip to the content").send_keys(Keys.ENTER)
    visit(shopper, "/")
    go_to("Payments").send_keys(Keys.ENTER)
    shopper.sees("With an alarm")
    go_to("Search").send_keys(Keys.ENTER)
    shopper.sees("With an alarm")
    go_to("Sign out").send_keys(Keys.ENTER)
    shopper.sees("Code of the app")


@claim(page=None, browser=False)
def the_users_are_listed_without_their_secrets(demo):
    name, _ = invite(demo, "viewer", "--merchant", "harbour")
    users = tender(demo, "user", "list")
    row = next(user for user in users if user["name"] == name)
    assert row == {
        "name": name, "grants": [{"merchant": "harbour", "role": "viewer"}], "refundLimits": "", "enabled": True,
        "enrolled": False}, row
