"""The back office: whether a person does there what they came for, and whether every page is accessible and fits."""

import datetime
import re
import secrets
import subprocess
import threading

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from access import faint, must_be_accessible, small_targets, unnamed, width
from claims import claim
from officework import accept, enter, invite, pay, tender, unfold, visit, without_scripts
from shopper import DESKTOP, PATIENCE, PHONE


def pages(shopper):
    """Every page that an administrator sees, by name."""
    payment = pay(shopper.demo)["id"]
    return {
        "home": "/", "overview": "/overview", "hours": "/overview?days=1", "payments": "/payments", "payment": f"/payments/{payment}",
        "evidence": f"/payments/{payment}/evidence", "agreements": "/agreements", "webhooks": "/webhooks", "reconciliation": "/reconciliation", "delivered": "/webhooks?state=delivered",
        "merchants": "/merchants", "merchant": "/merchants/harbour",
        "stored-merchant": "/merchants/kitsune", "sequence": "/sequence", "users": "/users", "audit": "/audit?verify=1",
        "privacy": "/privacy", "settings": "/settings", "account": "/account", "format": "/account/format", "parts": "/parts", "nothing": "/nothing",
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
    find_person(shopper)
    shopper.picture(f"office-person-{size[0]}-{scheme}", whole=True)
    must_pass(shopper, f"what is kept of a person, {scheme}, {size[0]} px")
    refuse(shopper)
    shopper.picture(f"office-refused-{size[0]}-{scheme}", whole=True)
    must_pass(shopper, f"a refused form, {scheme}, {size[0]} px")


def find_person(shopper):
    """Looks for what is kept of the shopper of the newest payment."""
    visit(shopper, "/privacy")
    Select(shopper.browser.find_element(By.NAME, "kind")).select_by_visible_text("Order")
    shopper.type("[name=name]", shopper.demo.journal()[0]["order"])
    shopper.press("Find")
    shopper.sees("What is kept")


def refuse(shopper):
    """Sends a form with a mistake: it is there again, with all that was typed, and the focus is at the mistake."""
    visit(shopper, "/users")
    unfold(shopper.browser, "Add a user")
    typed = {"name": "bert", "limits": "5o EUR", "merchants": "harbour", "reason": "new here"}
    for field, text in typed.items():
        shopper.type(f"#{field}", text)
    shopper.press("Add and invite")
    shopper.sees("Refund limits are amounts with commas between")
    kept = {field: shopper.browser.find_element(By.ID, field).get_attribute("value") for field in typed}
    assert kept == typed, kept
    shopper.until(lambda: shopper.focused().get_attribute("id") == "limits", "the focus is not at the mistake")
    top = shopper.focused().rect["y"] - shopper.script("return scrollY")
    assert 0 <= top < shopper.size[1], f"the mistake is {top} px down"


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


def refund_half(shopper):
    """Finds the payment that was just made, by the merchant's reference, refunds half of it and sees the webhook."""
    payment = pay(shopper.demo)
    with without_scripts(shopper):
        visit(shopper, "/payments")
        shopper.type("#q", payment["merchantReference"] + Keys.ENTER)
        shopper.click(f"a[href='/payments/{payment['id']}']")
        unfold(shopper.browser, "Refund")
        shopper.type("#refund-amount", "7.50")
        shopper.type("#refund-reason", "half of it was cold" + Keys.ENTER)
    shopper.sees("The refund was asked for.")
    shopper.sees("partially refunded")
    shopper.sees("€7.50 was refunded.")
    shopper.sees("half of it was cold")

    def delivered():
        shopper.browser.refresh()
        return shopper.page_text().count("delivered") >= 2

    shopper.until(delivered, "the webhook of the refund is not delivered")
    assert shopper.demo.payments(payment["basket"])[0]["refunded"] == 750


@claim(page=None)
def an_administrator_finds_a_payment_refunds_half_and_sees_the_webhook(shopper):
    enter(shopper)
    refund_half(shopper)


@claim(page=None)
def a_double_click_refunds_once(shopper):
    payment = pay(shopper.demo)
    enter(shopper)
    visit(shopper, f"/payments/{payment['id']}")
    unfold(shopper.browser, "Refund")
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
def a_chart_says_its_values_by_pointer_and_keys_and_leads_to_the_payments(shopper):
    pay(shopper.demo)
    enter(shopper)

    def plot():
        visit(shopper, "/overview?days=1")
        return next(iter(shopper.browser.find_elements(By.CSS_SELECTOR, ".plot")), None)

    chart = shopper.until(plot, "no payment is counted")
    columns = chart.find_elements(By.CSS_SELECTOR, ".column .hit")
    links = chart.find_elements(By.XPATH, "ancestor::figure//tbody//a")
    labels = [link.get_attribute("textContent") for link in links]
    assert len(labels) == len(columns) >= 23, labels

    def reads(place):
        return chart.find_element(By.CLASS_NAME, "reading").text.startswith(f"{labels[place]}: ")

    ActionChains(shopper.browser).move_to_element(columns[9]).perform()
    assert reads(9)
    for key, place in ((Keys.HOME, 0), (Keys.ARROW_LEFT, 0), (Keys.ARROW_RIGHT, 1), (Keys.END, -1), (Keys.ARROW_RIGHT, -1)):
        chart.send_keys(key)
        assert reads(place), (key, place)
    address = links[-1].get_attribute("href")
    chart.send_keys(Keys.ENTER)
    shopper.until(lambda: shopper.browser.current_url == address, "the chart does not lead to the payments")
    shopper.sees("Payments from")


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
    shopper.sees("More conditions")
    go_to("Search").send_keys(Keys.ENTER)
    shopper.sees("More conditions")
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


def kitsune(demo, *arguments):
    """A payment of the second shop, whose merchant is in the store."""
    folder = f".tender/demo-{demo.port}/stored/merchants/kitsune"
    return subprocess.run(
        [f"{demo.tender}-sandbox", "pay", "--port", str(demo.port), "--merchant", folder, "--origin", demo.second_shop,
         "--amount", "1500", "--json", *arguments], cwd=demo.home, capture_output=True, text=True, timeout=PATIENCE, check=False)


def register_a_second_domain(shopper):
    domain = f"noodles-{secrets.token_hex(3)}.localhost:{shopper.demo.port + 4}"
    with without_scripts(shopper):
        visit(shopper, "/merchants/kitsune")
        unfold(shopper.browser, "Add a domain")
        shopper.browser.find_element(By.ID, "domain-name").send_keys(domain)
        shopper.browser.find_element(By.ID, "domain-reason").send_keys("a second page" + Keys.ENTER)
        shopper.sees("The change is made.")
        row = shopper.browser.find_element(By.XPATH, f"//tr[td[contains(., '{domain}')]]")
        assert row.find_elements(By.TAG_NAME, "td")[2].text == "–", row.text
        unfold(row, "Change")
        row.find_element(By.NAME, "reason").send_keys("the page is up")
        row.find_element(By.XPATH, ".//button[.='Register with Apple']").click()
        shopper.sees("The change is made.")
        row = shopper.browser.find_element(By.XPATH, f"//tr[td[contains(., '{domain}')]]")
        registered, file = (row.find_elements(By.TAG_NAME, "td")[place].text for place in (2, 1))
        assert registered != "–" and file == "yes", row.text
        unfold(row, "Change")
        row.find_element(By.NAME, "reason").send_keys("does it stand")
        row.find_element(By.XPATH, ".//button[.='Check']").click()
        shopper.sees("The change is made.")
        row = shopper.browser.find_element(By.XPATH, f"//tr[td[contains(., '{domain}')]]")
        assert row.find_elements(By.TAG_NAME, "td")[4].text == "nothing", row.text
    paid = kitsune(shopper.demo, "--origin", f"http://{domain}")
    assert paid.returncode == 0, paid.stderr + paid.stdout


@claim(page=None)
def an_administrator_registers_a_second_domain_with_the_simulated_apple(shopper):
    enter(shopper)
    register_a_second_domain(shopper)


def rotate_the_processing_certificate(shopper):
    """While two shoppers pay."""
    results, ended = [], threading.Event()

    def pay_on():
        while not ended.is_set():
            results.append(kitsune(shopper.demo))

    payers = [threading.Thread(target=pay_on) for _ in range(2)]
    for payer in payers:
        payer.start()
    try:
        visit(shopper, "/merchants/kitsune")
        before = {cell.text for cell in shopper.browser.find_elements(By.CSS_SELECTOR, "td:first-child > code")}
        unfold(shopper.browser, "Request a certificate")
        Select(shopper.browser.find_element(By.ID, "request-kind")).select_by_visible_text("processing")
        shopper.browser.find_element(By.ID, "request-reason").send_keys("the old one ends" + Keys.ENTER)
        shopper.sees("The change is made.")
        for fold, button in (("Sign", "Have the simulated Apple sign it"), ("Change", "Activate")):
            form = shopper.browser.find_element(By.XPATH, f"//form[.//button[.='{button}']]")
            unfold(form.find_element(By.XPATH, ".."), fold)
            form.find_element(By.NAME, "reason").send_keys("the new one")
            form.find_element(By.XPATH, f".//button[.='{button}']").click()
            shopper.sees("The change is made.")
        count = len(results)
        shopper.until(lambda: len(results) >= count + 4, "nothing is paid after the rotation")
    finally:
        ended.set()
        for payer in payers:
            payer.join()
    after = {cell.text for cell in shopper.browser.find_elements(By.CSS_SELECTOR, "td:first-child > code")}
    assert len(after - before) == 1, (before, after)
    failed = [result.stdout + result.stderr for result in results if result.returncode != 0]
    assert not failed, f"{len(failed)} of {len(results)} failed: {failed[0]}"


@claim(page=None, limit=180)
def the_processing_certificate_is_rotated_while_orders_are_paid(shopper):
    enter(shopper)
    rotate_the_processing_certificate(shopper)


def read_the_warning(shopper):
    """After the clock was moved."""
    nearly_the_end = datetime.date.today() + datetime.timedelta(days=750)  # certificates last 25 months
    tender(shopper.demo, "mail", "warn", "--at", str(nearly_the_end))

    def arrived():
        shopper.browser.get(f"{shopper.demo.sandbox}/mail")
        return shopper.browser.find_elements(By.PARTIAL_LINK_TEXT, "expires in")

    shopper.until(arrived, "no warning has arrived")[0].click()
    shopper.sees("operator@demo.invalid")
    shopper.sees("certificate")


@claim(page=None)
def a_warning_is_read_after_the_clock_was_moved(shopper):
    read_the_warning(shopper)


@claim(page=None, limit=300)
def a_person_who_has_signed_in_does_all_that_the_office_is_for(shopper):
    enter(shopper)
    refund_half(shopper)
    rotate_the_processing_certificate(shopper)
    register_a_second_domain(shopper)
    read_the_warning(shopper)


@claim(page=None)
def an_invitation_arrives_in_the_mailbox_and_works_once(shopper):
    enter(shopper)
    name = f"bert-{secrets.token_hex(4)}@shop.example"
    visit(shopper, "/users")
    unfold(shopper.browser, "Add a user")
    shopper.browser.find_element(By.ID, "name").send_keys(name)
    shopper.browser.find_element(By.ID, "reason").send_keys("joins the shop" + Keys.ENTER)
    shopper.sees("The invitation was sent by mail.")

    def sent():
        mails = shopper.demo.get_json(f"{shopper.demo.sandbox}/sandbox/mail")["messages"]
        return next((mail for mail in mails if name in mail["recipients"]), None)

    mail = shopper.until(sent, "no invitation has arrived")
    shopper.browser.get(f"{shopper.demo.sandbox}/mail/{mail['number']}")
    shopper.sees(name)
    address = re.search(r"http://\S+/invitation/[0-9a-f]+", mail["text"])[0]
    shopper.browser.get(address)
    accept(shopper)
    shopper.browser.get(address)
    shopper.sees("This invitation is over")


@claim(page=None)
def the_sequence_of_the_newest_payment_is_shown_step_by_step(shopper):
    enter(shopper)
    pay(shopper.demo)
    with without_scripts(shopper):
        visit(shopper, "/sequence")
        shopper.sees("server to apple: merchant session")
        shopper.sees("server to provider: authorize")
        shopper.browser.find_element(By.XPATH, "//summary[contains(., 'POST /applepay/payment')]").click()
        shopper.sees("open_token")


@claim(page=None)
def a_payment_is_found_by_the_shoppers_address_and_the_search_is_kept(shopper):
    payment = pay(shopper.demo)
    address = next(contact["emailAddress"] for contact in shopper.demo.get_json(f"{shopper.demo.sandbox}/device/contacts")
                   if contact["id"] == "gb-london")
    enter(shopper)
    with without_scripts(shopper):
        visit(shopper, "/payments")
        shopper.browser.find_element(By.ID, "q").send_keys(address.upper() + Keys.ENTER)
        assert shopper.browser.find_elements(By.CSS_SELECTOR, f"a[href='/payments/{payment['id']}']")
        shopper.browser.find_element(By.XPATH, "//summary[.='Keep this search']").click()
        shopper.browser.find_element(By.ID, "filter-name").send_keys("London" + Keys.ENTER)
        visit(shopper, "/payments")
        shopper.browser.find_element(By.LINK_TEXT, "London").click()
        assert shopper.browser.find_elements(By.CSS_SELECTOR, f"a[href='/payments/{payment['id']}']")


@claim(page=None)
def the_demos_shop_acknowledges_a_test_event_and_the_page_says_so(shopper):
    enter(shopper)
    visit(shopper, "/webhooks")
    shopper.press("Send a test event to orders of harbour")
    shopper.sees("has acknowledged the test event.")
