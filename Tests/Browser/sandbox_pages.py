"""The sandbox's own pages: what it is and what it holds, and the window that simulates a phone."""

import contextlib
import subprocess

from access import faint, must_be_accessible, unnamed, width
from claims import claim
from merchantpage import Identity
from shopper import DESKTOP, PATIENCE, PHONE

NARROW = (320, 640)
PAGES = {"/": "sandbox", "/device": "device", "/recent": "recent", "/agreements": "wallet-agreements"}


@claim(page=None)
def the_sandbox_pages_are_accessible(shopper):
    for page, name in PAGES.items():
        for size in (PHONE, DESKTOP):
            for scheme in ("light", "dark"):
                shopper.look(size, scheme)
                shopper.browser.get(shopper.demo.sandbox + page)
                shopper.until(lambda: "Reading …" not in shopper.page_text(), "the page reads on")
                shopper.script("for (const folded of document.querySelectorAll('details')) folded.open = true;")
                where = f"the sandbox’s {page}, {scheme}, {size[0]} px"
                must_be_accessible(shopper, where)
                assert not faint(shopper), f"too faint on {where}: {faint(shopper)}"
                assert not unnamed(shopper), f"without a name on {where}: {unnamed(shopper)}"
                shopper.picture(f"{name}-{size[0]}-{scheme}", whole=True)


@claim(page=None)
def the_mailbox_and_each_kind_of_message_are_accessible(shopper):
    demo = shopper.demo
    sent = subprocess.run(
        [demo.tender, "mail", "test", "--to", "looked-at@pay.example", "--store", f".tender/demo-{demo.port}/tender.db"],
        cwd=demo.home, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert sent.returncode == 0, f"no message was sent: {sent.stderr.strip()}"
    number = demo.get_json(f"{demo.sandbox}/sandbox/mail")["messages"][0]["number"]
    # What stands in a message's frame lets no script run, so no check of ours runs there either.
    pages = {"/mail": "mailbox", f"/mail/{number}": "message"}
    for page, name in pages.items():
        for size in (PHONE, DESKTOP):
            for scheme in ("light", "dark"):
                shopper.look(size, scheme)
                shopper.browser.get(demo.sandbox + page)
                where = f"the mailbox’s {page}, {scheme}, {size[0]} px"
                must_be_accessible(shopper, where)
                assert not faint(shopper), f"too faint on {where}: {faint(shopper)}"
                assert not unnamed(shopper), f"without a name on {where}: {unnamed(shopper)}"
                assert width(shopper) <= size[0], f"{where} is wider than the window"
                shopper.picture(f"{name}-{size[0]}-{scheme}", whole=True)


@claim(page=None)
def a_rejection_by_the_gateway_is_shown_with_its_remedy(shopper):
    identity = Identity.of(shopper.demo)
    with contextlib.suppress(AssertionError):
        identity.session(domain="nowhere.example.com")
    for page in ("/", "/recent"):
        shopper.browser.get(shopper.demo.sandbox + page)
        shopper.sees("not registered for domain=nowhere.example.com")
        shopper.sees("tender merchant verify")


@claim(page=None)
def the_sandbox_pages_do_not_scroll_sideways(shopper):
    shopper.look(NARROW)
    for page in PAGES:
        shopper.browser.get(shopper.demo.sandbox + page)
        assert width(shopper) <= 320, f"{page} is {width(shopper)} px wide"


@claim(page=None)
def every_address_on_the_sandbox_page_is_a_link_and_nothing_is_hidden_on_a_phone(shopper):
    shopper.look(PHONE)
    shopper.browser.get(shopper.demo.sandbox)
    plain = shopper.script("""return [...document.querySelectorAll("section:first-of-type dd code")]
        .filter((code) => /^(https?:|\\/)/.test(code.textContent) && !code.closest("a")).map((code) => code.textContent)""")
    assert not plain, f"these are no links: {plain}"
    cut = shopper.script("""return [...document.querySelectorAll("pre, .table")]
        .filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.ariaLabel)""")
    assert not cut, f"these have to be scrolled sideways: {cut}"
    assert shopper.wait_for("link", "/acquirer/v1")
