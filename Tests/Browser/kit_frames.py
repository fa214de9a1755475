"""The kit in frames: which page it names to the server, whose domain Apple's merchant session is for; and the platform's own
page in a shop's.

Sources: the sheet is opened with the address of the page in the address bar (WebKit bug 259667), a frame of another origin
needs `allow="payment"` on every frame around it (Apple's engineers, developer.apple.com/forums/thread/777004), and a session
for the frame's own domain ends the sheet (evervault-js 907, braintree-web 707). What the sandbox makes of a session for one
or the other is in session_frames.py.
"""

import contextlib
import json
import urllib.parse

import hostedpage
from claims import claim
from fakeserver import fake_server, problem
from kit_availability import log, wait_for_state

BUTTON = '<tender-apple-pay basket="B"{}></tender-apple-pay>'
HIDDEN = {"location.ancestorOrigins": "undefined"}  # Firefox has none


def frame(address, allow="payment"):
    return f'<iframe title="Pay" src="{address}" allow="{allow}" width="400" height="200"></iframe>'


@contextlib.contextmanager
def framed(shopper, inner, *allow, host="127.0.0.1"):
    """The inner server's page in as many frames, each of an origin of its own; gives the origin of the page around all."""
    with contextlib.ExitStack() as stack:
        address = inner.origin.replace("localhost", host)
        for permission in allow:
            outer = stack.enter_context(fake_server(body=frame(f"{address}/", permission)))
            address = outer.origin
        shopper.browser.get(address)
        for _ in allow:
            shopper.browser.switch_to.frame(shopper.until(lambda: shopper.first("iframe"), "there is no frame"))
        yield address
        shopper.browser.switch_to.default_content()


def named(shop):
    """The page in the address bar, as the server was told: with the offer, and with the request for a session."""
    queries = [query for call, query, _ in shop.sent if call == "GET metadata"]
    bodies = [json.loads(body) for call, _, body in shop.sent if call == "POST validate"]
    return ([urllib.parse.parse_qs(query).get("topOrigin", [None])[0] for query in queries],
            [body.get("topOrigin") for body in bodies])


def validates(shopper, shop):
    """Opens the sheet, which asks for its session."""
    wait_for_state(shopper, "buy")
    shopper.browser.find_element("css selector", "apple-pay-button").click()
    shopper.until(lambda: "begin" in log(shopper), "the sheet does not open")
    shopper.browser.execute_script('device.session.onvalidatemerchant({ validationURL: "https://apple.example" });')
    shopper.until(lambda: shop.asked("POST validate"), "no session is asked for")


@claim(page=None)
def a_page_in_no_frame_names_none(shopper):
    with fake_server(body=BUTTON.format(' top-origin="https://shop.example"')) as shop:
        shopper.browser.get(shop.origin)
        validates(shopper, shop)
        assert named(shop) == ([None], [None]), named(shop)


@claim(page=None)
def a_frame_names_the_page_in_the_address_bar_however_deep_it_is(shopper):
    for depth in (1, 2):
        with fake_server(body=BUTTON.format(' top-origin="https://elsewhere.example"')) as shop:
            with framed(shopper, shop, *["payment"] * depth) as top:
                validates(shopper, shop)
                assert named(shop) == ([top], [top]), f"{depth} deep: {named(shop)}"


@claim(page=None)
def a_frame_of_the_pages_own_origin_names_that_in_every_browser(shopper):
    for changes in ({}, HIDDEN):
        with fake_server(changes=changes) as shop:
            shop.files["/outer.html"] = f"<!doctype html><html lang=en><title>Shop</title>{frame('/', allow='')}"
            shopper.browser.get(f"{shop.origin}/outer.html")
            shopper.browser.switch_to.frame(0)
            validates(shopper, shop)
            shopper.browser.switch_to.default_content()
            assert named(shop) == ([shop.origin], [shop.origin]), named(shop)


@claim(page=None)
def a_browser_that_hides_the_page_around_a_frame_is_helped_by_the_buttons_attribute(shopper):
    silent = {"[...(location.ancestorOrigins ?? [])].pop()": '"null"'}
    for changes in (HIDDEN, silent):
        for attribute, told in ((' top-origin="https://shop.example"', "https://shop.example"), ("", "null")):
            with fake_server(body=BUTTON.format(attribute), changes=changes) as shop:
                with framed(shopper, shop, "payment"):
                    validates(shopper, shop)
                    assert named(shop) == ([told], [told]), named(shop)


@claim(page=None)
def a_frame_inside_another_needs_the_permission_of_both(shopper):
    for allow in (("", "payment"), ("payment", "")):
        with fake_server() as shop:
            with framed(shopper, shop, *allow):
                wait_for_state(shopper, "hidden")
                reason = shopper.script("return device.reported.reasons[0].code")
                assert reason == "payment_not_permitted", f"with {allow} the reason is {reason}"


@claim(page=None)
def a_page_around_a_frame_that_is_not_the_merchants_is_a_short_word_and_a_remedy_in_the_console(shopper):
    with fake_server(answers={"GET metadata": problem(403, "top_origin_not_registered")}) as shop:
        # Of one site: the driver hears no console of a frame in another process.
        with framed(shopper, shop, "payment", host="localhost"):
            wait_for_state(shopper, "hidden")
            reason = shopper.script("return device.reported.reasons[0]")
            assert reason == {"code": "top_origin_not_registered", "detail": "Apple Pay is not available here."}, reason
    said = [entry["message"] for entry in shopper.browser.get_log("browser") if entry["level"] == "WARNING"]
    assert any("The server says top_origin_not_registered." in message for message in said), f"the console has {said}"


@claim(page=None)
def a_hosted_page_in_the_frame_of_its_shop_pays_and_the_session_is_for_the_shop(shopper):
    checkout = hostedpage.create(shopper.demo, "harbour")
    # The shop's own page for visitors, which has no policy; what is on it does not matter.
    shopper.browser.get(f"{shopper.shop}/page")
    for allow, state in (("", "hidden"), ("payment", "buy")):
        shopper.browser.execute_script(
            """
            document.body.innerHTML = "";
            document.body.append(Object.assign(document.createElement("iframe"),
              { title: "Payment", allow: arguments[1], src: arguments[0], width: 900, height: 1200 }));
            """, f"{shopper.demo.server}/hosted/{checkout}", allow)
        shopper.browser.switch_to.frame(0)
        wait_for_state(shopper, state)
        if state == "hidden":
            shopper.browser.switch_to.default_content()
    sheet = hostedpage.open_sheet(shopper)
    shopper.until(lambda: shopper.pressable("Pay", sheet), "the sheet is not ready")
    shopper.press("Pay", sheet)
    hostedpage.result(shopper, "paid")
    shopper.browser.switch_to.default_content()
    hostedpage.paid_once(shopper, checkout)


@claim(page=None)
def no_other_shop_frames_a_hosted_page(shopper):
    checkout = hostedpage.create(shopper.demo, "harbour")
    with fake_server(body=frame(f"{shopper.demo.server}/hosted/{checkout}")) as shop:
        shopper.browser.get(shop.origin)
        refused = shopper.until(
            lambda: [error for error in shopper.browser_errors() if "frame-ancestors" in error], "the page is shown")
        assert shopper.shop in refused[0], refused
