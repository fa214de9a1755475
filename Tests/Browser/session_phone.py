"""A phone as wallet: it scans the sheet's code in a second browser, picks card and address there, and approves. Outside Safari
the code is all that a sheet shows. And the recorder of what a page and its sheet said to each other."""

import contextlib
import json
import urllib.error
import urllib.request

from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

from claims import claim
from merchantpage import BY_SCRIPT, Rows, another_browser, claims_of, merchant_page
from shopper import PATIENCE

FULL = """{ requiredShippingContactFields: ["postalAddress", "name"],
  shippingMethods: [{ label: "Bike", detail: "", identifier: "bike", amount: "1.00" },
    { label: "Van", detail: "", identifier: "van", amount: "2.00" }] }"""


def code_of(shopper, request="{}", device="{}"):
    """Opens a sheet and its code. Returns the address that the code leads to."""
    shopper.script(f"""
        {BY_SCRIPT}
        applePaySandbox.setDevice({device});
        window.opened = page.open({{ request: {request} }});
        document.querySelector(".aps-phone").open = true;""")
    return shopper.until(lambda: shopper.script("return document.querySelector('.aps-code a')?.href;"),
                         "the sheet shows no code")


def posted(url, body, headers=None):
    request = urllib.request.Request(
        url, data=json.dumps(body).encode(), headers={"Content-Type": "application/json", **(headers or {})})
    urllib.request.urlopen(request, timeout=PATIENCE).close()


@contextlib.contextmanager
def phone(url):
    """A browser of its own, of a phone's size, which opens the address."""
    with another_browser("--window-size=390,844") as browser:
        browser.get(url)
        yield browser


def says(browser, text):
    """Waits until the phone says so."""
    status = lambda: browser.find_element(By.ID, "status").text
    try:
        WebDriverWait(browser, PATIENCE).until(lambda _: text in status())
    except TimeoutException:
        raise AssertionError(f"the phone does not say “{text}”, but “{status()}”") from None


def choose(browser, name, value):
    """Chooses on the phone; again when it has shown the sheet anew in between."""
    WebDriverWait(browser, PATIENCE, ignored_exceptions=[StaleElementReferenceException]).until(
        lambda one: Select(one.find_element(By.ID, name)).select_by_value(value) is None,
        f"the phone offers no {name} “{value}”")


def ready(browser):
    says(browser, "Ready to pay.")


@claim(page=None)
def a_phone_that_scans_the_code_picks_card_and_address_and_approves(shopper):
    with merchant_page(shopper):
        with phone(code_of(shopper, FULL)) as handset:
            ready(handset)
            assert handset.find_element(By.ID, "merchant").text == "Harbour Kitchen"
            assert handset.find_element(By.ID, "amount").text == "€12.50"
            chosen = ["mastercard-credit", "de-berlin", "van"]
            for name, value in zip(("card", "contact", "method"), chosen):
                choose(handset, name, value)
            shopper.until(lambda: shopper.script("const { card, shippingContact, shippingMethod } = applePaySandbox.sheet;"
                                                 " return [card, shippingContact, shippingMethod];") == chosen,
                          "the sheet does not follow the phone")
            ready(handset)
            handset.find_element(By.ID, "approve").click()
            says(handset, "Done")
        sheet = shopper.script("return applePaySandbox.sheet;")
        assert (sheet["state"], sheet["card"], sheet["shippingContact"]) == ("completed", "mastercard-credit", "de-berlin")
        assert shopper.script("return opened.types();").count("paymentauthorized") == 1


@claim(page=None)
def a_code_pairs_one_phone_and_a_foreign_or_late_one_pairs_none(shopper):
    with merchant_page(shopper):
        url = code_of(shopper)
        with phone(url) as handset:
            ready(handset)
            with phone("about:blank") as another:
                for address, words in ((url, "Another phone used this code."),
                                       (url[:-4] + "beef", "No payment sheet of this sandbox has this code."),
                                       (url.split("?")[0], "No payment sheet of this sandbox has this code.")):
                    another.get(address)
                    says(another, words)
            shopper.drive("cancel()")
            says(handset, "The payment sheet was closed.")
        posted(f"{shopper.demo.sandbox}/sandbox/misbehave", {"next": "late_code"})
        with phone(code_of(shopper)) as handset:
            says(handset, "This code is older than five minutes")
        assert not shopper.script("return applePaySandbox.sheet.history.some(({ event }) => event === 'phone');")
        shopper.drive("cancel()")


@claim(page=None)
def a_phone_that_cancels_closes_the_sheet(shopper):
    with merchant_page(shopper):
        with phone(code_of(shopper)) as handset:
            ready(handset)
            handset.find_element(By.ID, "cancel").click()
            says(handset, "The payment sheet was closed.")
        assert shopper.script("return applePaySandbox.sheet.state;") == "canceled"
        assert shopper.script("return opened.types();")[-1] == "cancel"


@claim(page=None)
def outside_safari_the_sheet_is_a_code_and_the_phone_pays(shopper):
    with merchant_page(shopper):
        url = code_of(shopper, device="{ isThirdPartyBrowser: true }")
        sheet = shopper.find("dialog")
        assert "Pay with" not in sheet.text and not shopper.browser.find_element(By.CLASS_NAME, "aps-pay").is_displayed()
        assert "paymentmethodselected" not in shopper.script("return opened.types();")
        with phone(url) as handset:
            ready(handset)
            handset.find_element(By.ID, "approve").click()
            says(handset, "Done")
        shopper.script("applePaySandbox.setDevice({ isThirdPartyBrowser: false });")
        assert shopper.script("return applePaySandbox.sheet.state;") == "completed"
        types = shopper.script("return opened.types();")
        assert sorted(types) == ["paymentauthorized", "paymentmethodselected", "validatemerchant"], types


@claim(page=None)
def what_a_page_may_not_it_does_not_on_a_phones_behalf(shopper):
    """The wallet page belongs to the sandbox: pages of other origins get no answer from it."""
    with merchant_page(shopper):
        url = code_of(shopper)
        origin = url.split("/wallet")[0]
        try:
            posted(f"{origin}/wallet/pair", {"code": url.split("=")[1]}, {"Origin": "http://evil.example"})
            raise AssertionError("another origin pairs")
        except urllib.error.HTTPError as refusal:
            assert refusal.code == 403, refusal.code
        shopper.drive("cancel()")


SCANNED = [
    ("a test scans the code of a browser that is not Safari, and goes on as ever",
     """applePaySandbox.setDevice({ isThirdPartyBrowser: true });
        const { types } = page.open();
        const before = applePaySandbox.sheet.obstacle;
        await applePaySandbox.scan();
        const { state } = await applePaySandbox.approve();
        applePaySandbox.setDevice({ isThirdPartyBrowser: false });
        return [before, state, types().includes("paymentauthorized")];""",
     ["Scan the code with a phone …", "completed", True]),
    ("a sheet of a browser that is not Safari is cancelled before a phone scans it",
     """applePaySandbox.setDevice({ isThirdPartyBrowser: true });
        const { types } = page.open();
        await applePaySandbox.cancel();
        applePaySandbox.setDevice({ isThirdPartyBrowser: false });
        return types().at(-1);""", "cancel"),
]

SHOWN = [
    ("a sandbox that serves phones on the network shows the code in every sheet, unasked",
     """const { fetch } = window;
        window.fetch = async (path, options) => {
          const answer = await fetch(path, options);
          if (!String(path).endsWith("/ca.json")) return answer;
          return new Response(JSON.stringify({ ...await answer.json(), servesPhones: true }), { status: 200 });
        };
        page.open();
        await applePaySandbox.waitForSheet();
        while (!document.querySelector(".aps-code a")) await new Promise((resolve) => setTimeout(resolve, 20));
        window.fetch = fetch;
        return document.querySelector(".aps-phone").open;""", "true"),
    ("another sandbox shows it when the shopper asks",
     """page.open();
        await applePaySandbox.waitForSheet();
        return [document.querySelector(".aps-phone").open, document.querySelector(".aps-code a")];""", [False, None]),
]

RECORDER = [
    ("what page and sheet said is a flow file",
     f"""page.open({{ request: {FULL} }});
        await applePaySandbox.selectShippingMethod("van");
        await applePaySandbox.approve();
        return applePaySandbox.transcript("Fish by van").replace(/(> sheet merchant-session) .*/, "$1").split("\\n");""",
     ["Fish by van", "", "> page pressed", "< sheet opens", "> sheet merchant-session", "< sheet gets merchant-session",
      "> sheet changed payment-method debit", "< sheet gets payment-method total=12.50",
      "> sheet changed shipping-contact GB/EC1A", "< sheet gets shipping-contact total=12.50",
      "> sheet changed shipping-method van", "< sheet gets shipping-method total=12.50",
      "> sheet authorized", "< sheet gets success", ""]),
    ("errors and methods stand in the transcript",
     """page.open({ request: { requiredShippingContactFields: ["postalAddress"] }, on: { shippingcontactselected:
          (_, session) => session.completeShippingContactSelection({ ...page.update(), newShippingMethods:
            [{ label: "Foot", detail: "", identifier: "foot", amount: "0.00" }],
            errors: [new ApplePayError("shippingContactInvalid", "postalCode")] }) } });
        await applePaySandbox.waitForSheet();
        await applePaySandbox.cancel();
        return applePaySandbox.transcript().split("\\n").slice(-4);""",
     ["> sheet changed shipping-contact GB/EC1A",
      "< sheet gets shipping-contact total=12.50 methods=foot:0.00 error=shippingContactInvalid:postalCode",
      "> sheet closed", ""]),
    ("a transcript is replayed, and a page that does something else is found out",
     f"""page.open({{ request: {FULL} }});
        await applePaySandbox.selectShippingContact("de-berlin");
        await applePaySandbox.selectCard("visa-credit");
        await applePaySandbox.approve();
        const recorded = applePaySandbox.transcript();
        page.open({{ request: {FULL} }});
        const {{ state }} = await applePaySandbox.replay(recorded);
        page.open({{ request: {FULL}, on: {{ paymentmethodselected: (_, session) =>
          session.completePaymentMethodSelection({{ newTotal: {{ label: "Shop", amount: "13.00" }} }}) }} }});
        return [state, await page.promised(() => applePaySandbox.replay(recorded))];""",
     ["completed", 'Error: The page differs from the transcript: "< sheet gets payment-method total=13.00" in place of'
                   ' "< sheet gets payment-method total=12.50".']),
]

CARDS = [
    ("every network has a card, and the page that asks for it is paid with it",
     """const networks = [...new Set((await applePaySandbox.cards()).map(({ network }) => network))];
        const failed = [];
        for (const network of networks) {
          page.open({ version: 15, request: { supportedNetworks: [network],
            merchantCapabilities: ["supports3DS", "supportsEMV"] } });
          const { state } = await applePaySandbox.approve();
          if (state !== "completed") failed.push(network);
        }
        return [networks.length, failed];""", [21, []]),
    # WebKit's PaymentCoordinator::validatedPaymentNetwork knows the older name; PassKit has had both.
    ("a card of Cartes Bancaires pays where the page names it carteBancaire, as WebKit did first",
     """page.open({ version: 3, request: { supportedNetworks: ["carteBancaire"] } });
        const { state, card } = await applePaySandbox.approve();
        return [state, card];""", ["completed", "cartes-bancaires-debit"]),
    ("a card of UnionPay needs a merchant that takes EMV data",
     """const { until } = page.open({ request: { supportedNetworks: ["chinaUnionPay"] } });
        await until("cancel");
        return applePaySandbox.sheet.failure;""", "No card in the simulated wallet can pay here."),
]

for rows in (SCANNED, SHOWN, RECORDER, CARDS):
    claims_of(Rows(rows), globals(), claim)
