"""The session in frames. Apple and WebKit give the payment sheet the address of the page in the address bar, and the
merchant session has to name its domain; which document asks decides on everything else.

Sources, by their short names here: WebKit's `PaymentCoordinator` (the sheet is opened with the main frame's address,
webkit.org/b/259667; `canMakePaymentsWithActiveCard` and `openPaymentSetup` take the document's domain; icons come from
`LinkIconCollector` of the document), `PaymentSession::canCreateSession` (the order of refusals and their words),
`PaymentRequest::stop` and `PaymentResponse::stop`; Apple's engineers at developer.apple.com/forums/thread/777004; what
integrators saw, evervault-js 907 and braintree-web 707.
"""

from claims import claim
from merchantpage import BY_SCRIPT, another_browser, merchant_page
from session_rules import BAD, tap, tried, TRY

POLICY = ("SecurityError: Third-party iframes are not allowed to request payments unless explicitly allowed via"
          " Feature-Policy (payment)")
START = f"{BAD}: Trying to start an Apple Pay session from"
METHODS = """[{ supportedMethods: "https://apple.com/apple-pay" }], { total: { label: "Shop",
  amount: { currency: "EUR", value: "1" } } }"""


def framed(shopper, merchant, *hosts, allow=("payment", "payment")):
    """Opens a page of the first host, in it a frame of the second, and so on. What follows is of the innermost."""
    address = merchant.address(hosts[-1])
    for host, permission in zip(reversed(hosts[:-1]), allow):  # the innermost frame's first
        address = merchant.address(host, frame=address, allow=permission)
    shopper.browser.switch_to.default_content()
    shopper.browser.get(address)
    for _ in hosts[1:]:
        frame = shopper.until(lambda: shopper.first("iframe"), "there is no frame")
        shopper.browser.switch_to.frame(frame)
    shopper.until(lambda: shopper.browser.execute_script("return Boolean(window.page && window.ApplePaySession);"),
                  "the frame is empty")


def paid(shopper):
    """How a payment ends whose merchant session is for the domain `localhost`: the state, why, and the page's events."""
    return shopper.script(f"""
        {BY_SCRIPT}
        const shown = page.open();
        const opened = document.querySelector("dialog.apple-pay-sandbox")?.open;
        await page.promised(() => applePaySandbox.approve());
        const {{ state, failure = "" }} = await applePaySandbox.waitForClose();
        const dialog = document.querySelector("dialog.apple-pay-sandbox");
        return {{ state, failure, opened, word: dialog?.innerText ?? "", types: shown.types() }};""")


def must_pay(shopper):
    answer = paid(shopper)
    assert answer["state"] == "completed" and "paymentauthorized" in answer["types"], answer


def must_open_and_end(shopper, page):
    """As Safari does: the sheet is there, the page is asked for its merchant session, and that ends the sheet."""
    answer = paid(shopper)
    assert answer["opened"] and answer["state"] == "canceled", answer
    assert answer["types"][0] == "validatemerchant" and answer["types"][-1] == "cancel", answer
    assert "Payment Not Completed" in answer["word"], answer
    assert f"the page in the address bar is of {page}" in answer["failure"], answer


def refused(shopper):
    """What this document is answered by both APIs."""
    tap(shopper, f"""
        window.able = page.outcome(() => ApplePaySession.canMakePayments());
        window.asked = page.outcome(() => new PaymentRequest({METHODS}));
        {TRY}""")
    return [tried(shopper), *shopper.browser.execute_script("return [window.able, window.asked]")]


# ── Whose domain the merchant session names

@claim(page=None)
def a_frame_of_the_pages_own_origin_pays_without_permission(shopper):
    """forums/thread/777004; the permissions policy allows a page's own origin by default."""
    with merchant_page(shopper) as merchant:
        framed(shopper, merchant, "localhost", "localhost", allow=("",))
        must_pay(shopper)


@claim(page=None)
def a_frame_of_another_origin_pays_with_a_session_for_the_address_bar(shopper):
    """forums/thread/777004 and webkit.org/b/259667: the domain is the page's around the frame."""
    with merchant_page(shopper) as merchant:
        framed(shopper, merchant, "localhost", "shop.localhost")
        assert refused(shopper) == ["fine", "fine", "fine"]
        must_pay(shopper)


@claim(page=None)
def a_frame_of_another_origin_without_permission_is_refused(shopper):
    """PaymentSession::canCreateSession; since iOS 17 by `allow`, forums/thread/777004."""
    with merchant_page(shopper) as merchant:
        framed(shopper, merchant, "localhost", "shop.localhost", allow=("",))
        assert refused(shopper) == [POLICY] * 3


@claim(page=None)
def a_session_for_the_frames_own_domain_opens_the_sheet_and_ends_it(shopper):
    """evervault-js 907 and braintree-web 707: the sheet opens, then "Payment Not Completed". A checkout that is hosted
    elsewhere therefore needs the shop's domain registered, and a merchant session that names it."""
    with merchant_page(shopper) as merchant:
        framed(shopper, merchant, "shop.localhost", "localhost")
        must_open_and_end(shopper, "shop.localhost")


@claim(page=None)
def a_frame_in_a_frame_pays_for_the_outermost_page_if_both_are_permitted(shopper):
    """The main frame's address, however deep; every frame's owner has to allow it."""
    with merchant_page(shopper) as merchant:
        framed(shopper, merchant, "localhost", "shop.localhost", "127.0.0.1")
        must_pay(shopper)
        framed(shopper, merchant, "shop.localhost", "localhost", "localhost")
        must_open_and_end(shopper, "shop.localhost")
        for allow in (("", "payment"), ("payment", "")):
            framed(shopper, merchant, "localhost", "shop.localhost", "127.0.0.1", allow=allow)
            assert refused(shopper) == [POLICY] * 3, allow


@claim(page=None)
def an_active_card_is_asked_for_by_the_domain_of_the_frame(shopper):
    """PaymentCoordinator::canMakePaymentsWithActiveCard and ::openPaymentSetup: `document.domain()`."""
    ask = f"""
        {BY_SCRIPT}
        window.open = () => {{}}; // the page of setting up
        const merchant = await (await fetch("/merchant")).json();
        return [await ApplePaySession.canMakePaymentsWithActiveCard(merchant),
          await ApplePaySession.openPaymentSetup(merchant)];"""
    with merchant_page(shopper) as merchant:
        framed(shopper, merchant, "localhost", "shop.localhost")
        assert shopper.script(ask) == [False, False]
        framed(shopper, merchant, "shop.localhost", "localhost")
        assert shopper.script(ask) == [True, True]


@claim(page=None)
def the_sheets_icons_are_those_of_the_frames_document(shopper):
    """PaymentCoordinator::beginPaymentSession: LinkIconCollector of the document, which looks in its head."""
    icon = """document.head.append(Object.assign(document.createElement("link"),
        { rel: "apple-touch-icon", href: "/%s.png", sizes: "180x180" }));"""
    with merchant_page(shopper) as merchant:
        framed(shopper, merchant, "localhost", "shop.localhost")
        shopper.browser.switch_to.default_content()
        shopper.browser.execute_script(icon % "outer")
        shopper.browser.switch_to.frame(0)
        icons = shopper.script(f"""{BY_SCRIPT} {icon % "inner"}
            const {{ session }} = page.open();
            const {{ touchIcons }} = applePaySandbox.sheet;
            session.abort();
            return touchIcons;""")
        shopper.browser_errors()  # the page's policy does not let Chromium show the icon in the tab
        assert icons == [f"http://shop.localhost:{merchant.port}/inner.png"], icons


# ── Refusals, in WebKit's order

@claim(page=None)
def a_detached_frame_has_no_session(shopper):
    with merchant_page(shopper) as merchant:
        shopper.browser.get(merchant.address(frame=merchant.address()))
        shopper.until(lambda: shopper.browser.execute_script("return Boolean(frames[0].page)"), "the frame is empty")
        tap(shopper, """
            const { ApplePaySession } = frames[0];
            document.querySelector("iframe").remove();
            window.tried = page.outcome(() => new ApplePaySession(14, page.request()));""")
        assert tried(shopper) == f"{START} an inactive document.", tried(shopper)


@claim(page=None)
def the_permission_is_looked_for_before_the_document(shopper):
    """PaymentSession::canCreateSession: policy, inactive document, insecure document, insecure parent frame."""
    with merchant_page(shopper) as merchant:
        shopper.browser.get(merchant.address(frame=merchant.address(), allow="payment 'none'"))
        shopper.until(lambda: shopper.browser.execute_script("return Boolean(frames[0].page)"), "the frame is empty")
        tap(shopper, """
            const { ApplePaySession } = frames[0];
            document.querySelector("iframe").remove();
            window.tried = page.outcome(() => new ApplePaySession(14, page.request()));""")
        assert tried(shopper) == POLICY, tried(shopper)


@claim(page=None)
def a_frame_in_an_insecure_page_is_told_so(shopper):
    """PaymentSession::canCreateSession; a frame that is insecure itself hears of that, and one without permission of that."""
    ask = """
        applePaySandbox.setDevice({ requiresGesture: false });
        return [() => ApplePaySession.canMakePayments(), () => new ApplePaySession(14, page.request())].map(page.outcome);"""
    frames = (("localhost", "payment", f"{START} a document with an insecure parent frame."),
              ("insecure.test", "payment", f"{START} an insecure document."), ("localhost", "", POLICY))
    with merchant_page(shopper) as merchant:
        with another_browser("--host-resolver-rules=MAP insecure.test 127.0.0.1") as browser:
            for host, allow, wanted in frames:
                browser.get(merchant.address("insecure.test", frame=merchant.address(host), allow=allow))
                browser.switch_to.frame(0)
                answers = browser.execute_script(ask)
                browser.switch_to.default_content()
                assert answers == [wanted] * 2, (host, allow, answers)


# ── One sheet for a page and its frames

@claim(page=None)
def a_page_and_its_frames_have_one_sheet(shopper):
    """PaymentHandler::hasActiveSession and PaymentCoordinator, of which a page has one. The frame has another origin."""
    begin = f"""{BY_SCRIPT}
        const session = new ApplePaySession(14, page.request());
        const answer = page.outcome(() => session.begin());
        if (answer === "fine") session.abort();
        return answer;"""
    with merchant_page(shopper) as merchant:
        framed(shopper, merchant, "localhost", "127.0.0.1")
        shopper.browser.switch_to.default_content()
        shopper.script(f"{BY_SCRIPT} window.opened = page.open();")
        shopper.browser.switch_to.frame(0)
        shopper.until(lambda: shopper.script(begin) == f"{BAD}: Page already has an active payment session.",
                      "the frame does not know of the page's sheet")
        shopper.browser.switch_to.default_content()
        shopper.script("opened.session.abort();")
        shopper.browser.switch_to.frame(0)
        shopper.until(lambda: shopper.script(begin) == "fine", "the frame believes that the page's sheet is open")
        shopper.script("window.opened = page.open();")
        shopper.browser.switch_to.default_content()
        shopper.until(lambda: shopper.script(begin) == f"{BAD}: Page already has an active payment session.",
                      "the page does not know of its frame's sheet")
        shopper.browser.execute_script("document.querySelector('iframe').remove();")
        shopper.until(lambda: shopper.script(begin) == "fine", "a frame that is gone has a sheet")


@claim(page=None)
def no_page_and_no_frame_gets_a_message_of_the_sandboxs(shopper):
    """A listener of the page's may throw at what it does not know."""
    listen = "window.got = []; addEventListener('message', ({ data }) => got.push(data));"
    with merchant_page(shopper) as merchant:
        framed(shopper, merchant, "localhost", "127.0.0.1")
        shopper.browser.execute_script(listen)
        shopper.browser.switch_to.default_content()
        shopper.browser.execute_script(listen)
        shopper.script(f"{BY_SCRIPT} page.open(); await applePaySandbox.approve();")
        shopper.browser.execute_script("frames[0].postMessage('last', '*'); postMessage('last');")
        for switch in (lambda: None, lambda: shopper.browser.switch_to.frame(0)):
            switch()
            shopper.until(lambda: shopper.browser.execute_script("return got.includes('last');"), "no message comes")
            assert shopper.browser.execute_script("return got;") == ["last"]
        shopper.browser.switch_to.default_content()


# ── A frame that goes

HOLD = f"""
    const inner = frames[0];
    inner.applePaySandbox.setDevice({{ requiresGesture: false }});
    const merchantIdentifier = await (await fetch("/merchant")).json();
    const request = new inner.PaymentRequest([{{ supportedMethods: "https://apple.com/apple-pay", data: {{
      version: 12, merchantIdentifier, merchantCapabilities: ["supports3DS"], supportedNetworks: ["visa"],
      countryCode: "IE" }} }}], {{ total: {{ label: "Shop", amount: {{ currency: "EUR", value: "1.00" }} }} }});
    request.onmerchantvalidation = (event) => event.complete(page.merchantSession());
    BEFORE
    const frame = document.querySelector("iframe");
    const ended = (promise) => promise.then(() => "fine", (error) => error.name);
    const shown = request.show();
    await inner.applePaySandbox.AWAITED;
    """
PAID_IN_FRAME = """
    const approved = inner.applePaySandbox.approve();
    const response = await shown;
    """


def held(shopper, merchant, steps, before="", awaited="waitForSheet()"):
    """What a page sees that holds the promises of its frame."""
    shopper.browser.get(merchant.address(frame=merchant.address()))
    shopper.until(lambda: shopper.browser.execute_script("return Boolean(frames[0]?.page)"), "the frame is empty")
    return shopper.script(HOLD.replace("BEFORE", before).replace("AWAITED", awaited) + steps)


@claim(page=None)
def a_frame_that_goes_ends_its_promises_with_an_abort_error(shopper):
    """PaymentRequest::stop settles `show()`, PaymentResponse::stop `retry()`; afterwards `complete()` and `retry()` are
    answered in State::Stopped. What W3C's rejects_if_not_active.https.html tests."""
    away = "frame.src = new URL('?lang=de', location.href).href;"
    with merchant_page(shopper) as merchant:
        for go in (away, "frame.remove();"):
            assert held(shopper, merchant, f"{go} return ended(shown);") == "AbortError", go
            assert held(shopper, merchant, f"""{PAID_IN_FRAME}
                const retried = ended(response.retry());
                await approved;
                {go}
                return retried;""") == "AbortError", go
            owed = "request.onpaymentmethodchange = (event) => event.updateWith(new Promise(() => {}));"
            assert held(shopper, merchant, f"{go} return ended(shown);", owed, "cancel()") == "AbortError", go
            ends = held(shopper, merchant, f"""{PAID_IN_FRAME}
                const gone = new Promise((resolve) => inner.addEventListener("pagehide", resolve));
                {go}
                await gone;
                return [await ended(response.complete("success")), await ended(response.retry())];""")
            assert ends == ["AbortError"] * 2, (go, ends)


@claim(page=None)
def a_frame_that_goes_with_its_page_ends_nothing(shopper):
    """The scripts of a page that goes run no more (PaymentRequest::stop comes after): nothing is reported of the frame."""
    with merchant_page(shopper) as merchant:
        held(shopper, merchant, """
            localStorage.removeItem("ended");
            ended(shown).then((name) => localStorage.setItem("ended", name));""")
        shopper.browser.get(merchant.address(lang="de"))
        assert shopper.browser.execute_script("return localStorage.getItem('ended');") is None


@claim(page=None)
def a_session_of_a_frame_that_goes_is_told_nothing(shopper):
    """ApplePaySession::stop aborts without an event."""
    with merchant_page(shopper) as merchant:
        shopper.browser.get(merchant.address(frame=merchant.address()))
        shopper.until(lambda: shopper.browser.execute_script("return Boolean(frames[0]?.page)"), "the frame is empty")
        types = shopper.script("""
            const inner = frames[0];
            inner.applePaySandbox.setDevice({ requiresGesture: false });
            const shown = inner.page.open();
            await inner.applePaySandbox.waitForSheet();
            const gone = new Promise((resolve) => inner.addEventListener("pagehide", resolve));
            document.querySelector("iframe").remove();
            await gone;
            return shown.types();""")
        assert "cancel" not in types and "validatemerchant" in types, types
