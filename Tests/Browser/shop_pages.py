"""The shop's other pages: the trace of a payment, the opened payment token, the standard checkout, the kitchen."""

import base64
import json
import re
import subprocess
import time

from selenium.webdriver.common.by import By

from claims import claim
from demo import device_suffix
from shopper import DESKTOP, PATIENCE, PHONE


def texts(shopper, selector):
    return [found.text for found in shopper.browser.find_elements(By.CSS_SELECTOR, selector)]


@claim
def the_trace_shows_what_the_server_did_and_how_long_it_took(shopper):
    shopper.open_sheet()
    shopper.drive("selectShippingMethod('van')")
    shopper.drive("approve()")
    shopper.receipt()
    shopper.follow("The trace of this payment")
    shopper.sees("Wrote down the answer")
    steps = texts(shopper, ".calls h2, .calls h3")
    wanted = [
        "The shop’s server stores the basket", "The page fetches what the sheet needs", "Apple vouches for the merchant",
        "The shopper chooses an address", "The shopper chooses how it travels", "The payment",
        "Verified and opened the payment token", "Wrote down the attempt", "The bank answered: authorization approved",
        "Wrote down the answer", "Wrote down the attempt", "The bank answered: capture approved", "Wrote down the answer",
    ]
    rest = iter([" ".join(step.split()) for step in steps])
    missing = [step for step in wanted if step not in rest]
    assert not missing, f"missing, or not in this order: {missing} of {steps}"
    times = texts(shopper, ".calls .time")
    assert times and all(re.fullmatch(r"\d+(\.\d+)? m?s", time) for time in times), f"the times are {times}"


@claim
def the_trace_of_a_decline_shows_the_decline(shopper):
    shopper.open_sheet()
    shopper.drive("decline()")
    shopper.sees("Your card was declined")
    shopper.open_sheet()
    shopper.drive("approve()")
    basket = shopper.receipt()
    shopper.open(f"/order/{basket}/trace")
    shopper.sees("Wrote down the answer")
    outcomes = texts(shopper, '[data-span="ask authorize"] .outcome')
    assert outcomes == ["declined", "approved"], f"the bank's answers are {outcomes}"


@claim
def the_payment_token_is_shown_field_by_field_without_secrets(shopper):
    shopper.open_sheet()
    shopper.drive("approve()")
    basket = shopper.receipt()
    paid = shopper.demo.must_be_paid_once(basket)
    shopper.follow("Inside the payment token")
    shopper.sees("Cryptogram")
    fields = {field.get_attribute("data-field"): field.text
              for field in shopper.browser.find_elements(By.CSS_SELECTOR, "[data-field]")}
    suffix = device_suffix(paid["card"])
    assert f"•••• {suffix}" in fields["applicationPrimaryAccountNumber"], fields["applicationPrimaryAccountNumber"]
    assert "•••" in fields["paymentData.onlinePaymentCryptogram"]
    assert str(paid["amount"]) in fields["transactionAmount"]
    assert "EUR" in fields["currencyCode"] and "EC_v1" in fields["version"]
    assert all(text.count("\n") >= 2 for text in fields.values()), f"a field is not explained: {fields}"
    assert not re.search(r"(?<![0-9a-f])\d{12,19}(?![0-9a-f])", shopper.page_text().replace("040010030273", "")), \
        "an account number is shown"


@claim(page="/basket")
def apple_pay_is_the_first_choice_of_the_checkout_and_cash_the_other_up_to_a_receipt(shopper):
    shopper.fill(fish=1)
    shopper.open("/checkout")
    basket = shopper.button() and shopper.basket()
    assert shopper.wait_for("radio", "Apple Pay").is_selected(), "Apple Pay is not the first choice"
    shopper.find("radio", "Cash").click()
    shopper.sees("not through Tender")
    shopper.press("Order for cash")
    assert shopper.focused().get_attribute("id") == "name", "the focus does not move to what is missing"
    for name, text in (("Name", "Ada Byron"), ("E-mail", "ada@example.com"), ("Telephone", "1"), ("Street", "1 Street"),
                       ("Town", "London"), ("Postal code", "EC1A")):
        shopper.write(name, text)
    shopper.press("Order for cash")
    shopper.sees("Thank you")
    assert shopper.path() == f"/order/{basket}"
    assert (shopper.fact("status"), shopper.fact("shopper")) == ("In cash, simulated", "Ada Byron")
    assert shopper.fact("amount") == "€15.90", shopper.fact("amount")
    assert not shopper.find("link", "Inside the payment token"), "cash has a payment token"
    shopper.demo.must_not_be_paid(basket)
    shopper.browser.refresh()
    shopper.sees("In cash, simulated")
    shopper.fill(fish=1)
    shopper.open("/checkout")
    shopper.open_sheet()
    shopper.drive("approve()")
    assert shopper.receipt() != basket, "the basket that was ordered for cash was paid too"


@claim(page=None)
def fees_and_delivery_are_shown_before_the_sheet_opens(shopper):
    for service, total, lines in (("delivery", "from €15.90", ["Service fee\n€0.50", "Bike\nfrom €2.50"]),
                                  ("collection", "€12.90", [])):
        shopper.fill(service, fish=1)
        for page in ("/", "/basket", "/checkout"):
            shopper.open(page)
            if page != "/checkout":
                shopper.button()
            shopper.until(lambda: shopper.fact("subtotal") == total, f"{page} does not show {total}")
            assert all(line in shopper.fact("lines") for line in lines), f"{page} shows {shopper.fact('lines')}"
    shopper.fill("delivery")
    shopper.open("/dish/fish")
    shopper.until(lambda: shopper.fact("subtotal") == "from €15.90", "the dish's page shows no price of the delivery")


@claim(page=None)
def an_empty_order_has_no_pay_button(shopper):
    shopper.fill()
    shopper.open("/")
    shopper.sees("Nothing chosen yet")
    assert not shopper.find("button", "Apple Pay"), "there is a button and nothing to pay for"
    shopper.press("One Lemonade more")
    shopper.button()
    shopper.press("One Lemonade less")
    shopper.until(lambda: not shopper.find("button", "Apple Pay"), "the button stays when the order is empty again")


@claim
def the_receipt_is_the_same_in_another_browser(shopper):
    def receipt():
        return shopper.browser.find_element(By.TAG_NAME, "main").text

    shopper.open_sheet()
    shopper.drive("approve()")
    shopper.receipt()
    shopper.until(lambda: not shopper.find("dialog", "Apple Pay"), "the sheet stays open")
    assert shopper.fact("status") == "Paid" and shopper.fact("shopper") == "A guest", receipt()
    assert shopper.fact("date"), f"the receipt has no date: {receipt()}"
    first = receipt()
    shopper.script("localStorage.clear(); sessionStorage.clear();")
    shopper.browser.delete_all_cookies()
    shopper.browser.refresh()
    shopper.sees("Paid")
    assert receipt() == first, f"here it is {first!r}, and there {receipt()!r}"


@claim
def the_trace_is_short_on_a_phone_and_a_forgotten_one_is_no_error(shopper):
    shopper.open_sheet()
    shopper.drive("approve()")
    basket = shopper.receipt()
    shopper.look(PHONE)
    shopper.open(f"/order/{basket}/trace")
    shopper.sees("Wrote down the answer")
    opened = texts(shopper, "details[open] > summary h2")
    assert opened == ["The payment"], f"unfolded are {opened}"
    height = shopper.script("return document.documentElement.scrollHeight")
    # Long times take a second line.
    assert height < 3.5 * PHONE[1], f"the page is {height} px high"
    role = shopper.script("""const { notThere } = await import("/shop.js");
        return notThere({ code: "trace_forgotten", message: "" }).role;""")
    assert role == "status", f"a forgotten trace is a {role}"


@claim(page=None)
def chips_stay_on_one_line_and_inside_their_card(shopper):
    for size in (PHONE, DESKTOP):
        shopper.look(size)
        shopper.fill(oysters=1)
        for page in ("/", "/basket"):
            shopper.open(page)
            shopper.sees("Dublin and London only")
            chips = shopper.script("""return [...document.querySelectorAll(".badge")].map((chip) => [
                chip.getClientRects()[0].height, chip.closest(".dish").getBoundingClientRect().right
                - chip.getBoundingClientRect().right])""")
            assert all(height < 30 and room > 0 for height, room in chips), f"{page} at {size[0]} px: {chips}"


@claim(page=None)
def an_address_that_the_shop_does_not_have_leads_back_to_the_menu(shopper):
    for page in ("/nowhere", "/dish/whale"):
        shopper.open(page)
        shopper.sees("No such page")
        shopper.wait_for("link", "See the menu of Harbour Kitchen")


@claim
def the_pages_run_under_a_policy_that_allows_nothing_inline(shopper):
    shopper.button()
    refused = shopper.script(
        """
        const refused = [];
        const reported = new Promise((resolve) => addEventListener("securitypolicyviolation", ({ effectiveDirective }) => {
          refused.push(effectiveDirective);
          if (refused.length === 3) resolve();
        }));
        const script = Object.assign(document.createElement("script"), { textContent: "window.wasRun = true;" });
        document.body.append(script);
        document.body.setAttribute("style", "color: red");
        const foreign = Object.assign(document.createElement("script"), { src: "http://127.0.0.1:9/foreign.js" });
        document.body.append(foreign);
        await Promise.race([reported, new Promise((resolve) => setTimeout(resolve, 600_000))]);
        return { refused, wasRun: Boolean(window.wasRun) };
        """)
    assert not refused["wasRun"], "an inline script was run"
    assert sorted(refused["refused"]) == ["script-src-elem", "script-src-elem", "style-src-attr"], \
        f"refused is {refused['refused']}"
    shopper.browser_errors()
    shopper.open_sheet()
    shopper.drive("approve()")
    shopper.receipt()


@claim
def an_order_is_not_shown_to_other_visitors(shopper):
    shopper.open("/order/" + "0" * 32)
    shopper.sees("Tender has no such basket")
    shopper.open("/order/" + "0" * 32 + "/payload")
    shopper.wait_for("alert")


@claim
def the_kitchen_shows_what_was_paid_and_where_it_goes(shopper):
    shopper.open_sheet()
    shopper.drive("selectShippingContact('gb-london')")
    shopper.drive("approve()")
    basket = shopper.receipt()
    reference = shopper.demo.reference(basket)
    shopper.until(lambda: any(order["reference"] == reference for order in kitchen(shopper)), "the kitchen got no order")
    order = next(order for order in kitchen(shopper) if order["reference"] == reference)
    shopper.open("/")
    shopper.wait_for("link", "the kitchen").click()
    shopper.sees(reference)
    assert order["status"] == "captured" and order["address"] and order["phone"], f"the kitchen has {order}"
    for text in (order["name"], order["phone"], order["email"], *order["address"], "United Kingdom"):
        shopper.sees(text)


def kitchen(shopper):
    return shopper.demo.get_json(f"{shopper.demo.shop}/api/kitchen")["orders"]


@claim(browser=False)
def the_kitchen_gets_an_order_by_webhook_that_no_page_of_the_shop_has_seen(demo):
    paid = subprocess.run([f"{demo.tender}-sandbox", "pay", "--port", str(demo.port)], cwd=demo.home, capture_output=True,
                          text=True, timeout=PATIENCE, check=False)
    assert paid.returncode == 0, paid.stdout + paid.stderr
    order = re.search(r"order (\w+)", paid.stdout)[1]
    reference = next(payment["merchantReference"] for payment in demo.journal() if payment["order"] == order)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        orders = demo.get_json(f"{demo.shop}/api/kitchen")["orders"]
        if any(found["reference"] == reference and found["address"] for found in orders):
            return
        time.sleep(0.5)
    raise AssertionError(f"the kitchen has no {reference}: {[found['reference'] for found in orders]}")


@claim
def a_guest_stays_one_guest_in_the_browser(shopper):
    guests = []
    for _ in range(2):
        shopper.open_sheet()
        shopper.drive("approve()")
        shopper.receipt()
        token = shopper.script("return localStorage.tenderGuest;")
        claims = token.split(".")[1]
        guests.append(json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["guest"])
        shopper.open("/account")
        shopper.press("order as a guest")
        shopper.fill(fish=1)
        shopper.open("/")
    assert guests[0] == guests[1], f"two guests: {guests}"


@claim
def a_guest_who_has_paid_is_signed_in_with_the_name_of_the_sheet(shopper):
    shopper.open("/account")
    shopper.sees("You are a guest")
    shopper.fill(fish=1)
    shopper.open("/")
    shopper.open_sheet()
    shopper.drive("approve()")
    shopper.receipt()
    name = shopper.until(lambda: (shopper.fact("account-link") or "Sign in") != "Sign in" and shopper.fact("account-link"),
                         "the guest is not signed in")
    shopper.open("/account")
    shopper.sees(f"You are signed in as {name}")
    shopper.press("order as a guest")
    shopper.sees("You are a guest")


@claim
def the_bar_that_stays_in_sight_shows_the_total_that_will_be_paid(shopper):
    shopper.fill(fish=1)
    shopper.open("/")
    shopper.button()
    shopper.until(lambda: shopper.fact("subtotal") == "from €15.90", "the total is not shown")
    bar = shopper.browser.find_element(By.ID, "so-far").get_attribute("textContent")
    assert bar == "from €15.90", f"the bar shows {bar}"


@claim
def the_receipt_says_when_the_order_is_expected_and_has_no_link_to_itself(shopper):
    shopper.open_sheet()
    shopper.drive("approve()")
    basket = shopper.receipt()
    shopper.sees("Expected")
    assert shopper.browser.current_url == f"{shopper.demo.shop}/order/{basket}"
    links = [link.get_attribute("href") for link in shopper.browser.find_elements(By.CSS_SELECTOR, "main a")]
    assert shopper.browser.current_url not in links, "the order's page links to itself"
    page = shopper.browser.find_element(By.TAG_NAME, "main").text
    assert basket not in page and "Captured" not in page and shopper.demo.payments(basket)[0]["id"] not in page, page
