"""Paying on one screen and confirming on another, as with a Mac and an iPhone: two windows, the merchant's page and
the sandbox's `/device`."""

import contextlib
import secrets

from selenium.webdriver.common.by import By

from access import faint, must_be_accessible, unnamed, width
from claims import claim
from merchantpage import BY_SCRIPT, merchant_page
from shopper import PATIENCE, PHONE


@contextlib.contextmanager
def paired(shopper, kind="phone"):
    """The merchant's page in one window, a device in another. Gives a function that goes to either, and the device's
    name, which no other claim's device has."""
    name = f"Ada’s {kind} {secrets.token_hex(2)}"
    with merchant_page(shopper):
        page = shopper.browser.current_window_handle
        shopper.browser.switch_to.new_window("window")
        device = shopper.browser.current_window_handle
        shopper.browser.get(f"{shopper.demo.sandbox}/device?kind={kind}&name={name}")
        shopper.sees("Paired. Nothing to confirm.")

        def go_to(window):
            shopper.browser.switch_to.window({"page": page, "device": device}[window])

        go_to("page")
        try:
            yield go_to, name
        finally:
            with contextlib.suppress(Exception):
                go_to("device")
                shopper.browser.close()
            go_to("page")


def pay_with(shopper, name, request="{}"):
    """Presses Pay with that device chosen, and does not wait for what becomes of it."""
    shopper.script(f"""
        {BY_SCRIPT}
        window.opened = page.open({{ request: {request} }});
        await applePaySandbox.selectDevice(arguments[0]);
        // This step waits half a minute for the shopper, who needs longer on a slow machine.
        const patience = {{ timeout: {PATIENCE * 1000} }};
        window.paid = applePaySandbox.approve().catch(() =>
          Promise.any([applePaySandbox.waitForSheet(patience), applePaySandbox.waitForClose(patience)]));""", name)


@claim(page=None)
def a_payment_is_confirmed_on_a_paired_phone(shopper):
    with paired(shopper) as (go_to, name):
        pay_with(shopper, name)
        sheet = shopper.wait_for("dialog", "Simulated Apple Pay")
        shopper.until(lambda: f"Confirm on {name} …" in sheet.text, "the sheet does not wait for the phone")
        go_to("device")
        shopper.wait_for("heading", "Harbour Kitchen")
        for text in ("€12.50", "Visa 0492", "localhost"):
            assert text in shopper.page_text(), f"the phone does not show “{text}”: {shopper.page_text()!r}"
        shopper.look(PHONE)
        must_be_accessible(shopper, "the phone")
        shopper.picture("device-phone")
        shopper.press("Approve")
        shopper.sees("Approved.")
        go_to("page")
        assert shopper.script("return (await window.paid).state;") == "completed"


@claim(page=None)
def what_was_approved_is_not_asked_again_by_a_late_answer(shopper):
    with paired(shopper) as (go_to, name):
        pay_with(shopper, name)
        go_to("device")
        shopper.wait_for("heading", "Harbour Kitchen")
        # The sandbox answers the next request of this page now; the page receives the answer when `late.release` is called.
        shopper.script("""
            window.late = { received: 0 };
            const { fetch } = window;
            window.fetch = async (path, options) => {
              const response = await fetch(path, options);
              if (path.endsWith("/confirmation")) {
                if (!late.release) await new Promise((resolve) => { late.release = resolve; });
                else late.received += 1;
              }
              return response;
            };""")
        shopper.until(lambda: shopper.script("return Boolean(late.release);"), "the phone does not ask")
        shopper.press("Approve")
        shopper.sees("Approved. Nothing to confirm.")
        shopper.script("late.release();")
        shopper.until(lambda: shopper.script("return late.received;") >= 2, "the phone does not ask again")
        assert "Approved. Nothing to confirm." in shopper.page_text(), shopper.page_text()


@claim(page=None)
def an_answer_that_the_sandbox_refuses_is_not_shown_as_given(shopper):
    with paired(shopper) as (go_to, name):
        pay_with(shopper, name)
        go_to("device")
        shopper.wait_for("heading", "Harbour Kitchen")
        # The next answer has no request.
        shopper.script("""
            const { fetch } = window;
            window.fetch = (path, options) => {
              if (!path.endsWith("/answer")) return fetch(path, options);
              window.fetch = fetch;
              return fetch(path, { ...options, body: JSON.stringify({ confirmation: "another", approve: true }) });
            };""")
        shopper.press("Approve")
        shopper.sees("Nothing of this name is or was to be confirmed.")
        assert "Approved" not in shopper.page_text(), shopper.page_text()
        shopper.press("Approve")
        shopper.sees("Approved. Nothing to confirm.")
        go_to("page")
        assert shopper.script("return (await window.paid).state;") == "completed"


@claim(page=None)
def a_payment_that_is_cancelled_on_a_paired_watch_returns_to_the_sheet(shopper):
    with paired(shopper, "watch") as (go_to, name):
        pay_with(shopper, name)
        go_to("device")
        shopper.wait_for("heading", "Harbour Kitchen")
        shopper.look(PHONE)
        shopper.picture("device-watch")
        shopper.press("Cancel")
        shopper.sees("Cancelled.")
        go_to("page")
        sheet = shopper.script("return window.paid;")
        assert sheet["state"] == "active" and sheet["canPay"], sheet
        assert shopper.find("alert", within=shopper.find("dialog")).text == f"Not confirmed on {name}."
        assert "paymentauthorized" not in shopper.script("return opened.types();")
        shopper.drive("selectDevice('this')")
        assert shopper.drive("approve()")["state"] == "completed"


@claim(page=None)
def a_sheet_that_is_closed_takes_its_question_back(shopper):
    with paired(shopper) as (go_to, name):
        pay_with(shopper, name)
        go_to("device")
        shopper.wait_for("heading", "Harbour Kitchen")
        go_to("page")
        shopper.drive("cancel()")
        go_to("device")
        shopper.sees("The payment was withdrawn.")


@claim(page=None)
def a_phone_whose_window_is_closed_is_no_choice_any_more(shopper):
    with paired(shopper) as (go_to, name):
        pay_with(shopper, name)
        go_to("device")
        shopper.wait_for("heading", "Harbour Kitchen")
        shopper.browser.get("about:blank")
        go_to("page")
        sheet = shopper.script("return window.paid;")
        assert sheet["state"] == "active", sheet
        shopper.until(lambda: shopper.script("return applePaySandbox.sheet.device;") == "this", "it is still chosen")


@claim(page=None)
def a_page_cannot_confirm_in_the_shoppers_place(shopper):
    with paired(shopper) as (_, name):
        answer = shopper.script("""
            const { id } = (await applePaySandbox.devices()).find(({ name }) => name === arguments[0]);
            const origin = new URL(document.querySelector("script").src).origin;
            return fetch(`${origin}/paired/${id}/answer`, { method: "POST", mode: "no-cors", body: "{}" })
              .then(({ type }) => type, (error) => error.name);""", name)
        assert answer in ("opaque", "TypeError"), answer
        status = shopper.script("""
            const origin = new URL(document.querySelector("script").src).origin;
            return fetch(`${origin}/paired`, { method: "POST", headers: { "Content-Type": "application/json" },
              body: JSON.stringify({ kind: "phone", name: "Mallory" }) }).then(({ status }) => status, () => "refused");
            """)
        assert status == "refused", f"another page may pair devices: {status}"
        shopper.browser_errors()  # the browser's word about the refused call


@claim(page=None)
def a_device_is_paired_by_hand(shopper):
    shopper.look((320, 640))
    shopper.browser.get(f"{shopper.demo.sandbox}/device")
    must_be_accessible(shopper, "the page of the device")
    assert width(shopper) <= 320, f"the page is {width(shopper)} px wide"
    shopper.browser.find_element(By.CSS_SELECTOR, "input[value=watch]").click()
    shopper.write("Name in the sheet", "Wrist by hand")
    shopper.press("Pair")
    shopper.sees("Paired. Nothing to confirm.")
    assert shopper.find("heading", "Wrist by hand"), shopper.page_text()
    for scheme in ("light", "dark"):
        shopper.look((320, 640), scheme)
        assert not faint(shopper), f"too faint in the {scheme}: {faint(shopper)}"
    assert not unnamed(shopper), f"without a name: {unnamed(shopper)}"
