"""`<apple-pay-button>` on pages that are made for Apple's script: it shows, starts a session, and yields to that script."""

from selenium.webdriver.common.keys import Keys

from claims import claim
from merchantpage import merchant_page
from session_rules import TRY, tried

BUTTON = """
    document.querySelector("main").insertAdjacentHTML("beforeend",
      '<apple-pay-button buttonstyle="black" type="%s" locale="en-IE"></apple-pay-button>');
    document.querySelector("apple-pay-button").addEventListener("click", () => { %s });"""


def button(shopper, kind="buy"):
    shopper.browser.execute_script(BUTTON % (kind, TRY))
    return shopper.browser.find_element("css selector", "apple-pay-button")


@claim(page=None)
def the_button_of_apples_script_shows_and_starts_a_session(shopper):
    with merchant_page(shopper):
        shown = button(shopper)
        assert shown.size["width"] >= 140 and shown.size["height"] >= 30, shown.size
        label = shopper.browser.execute_script("return arguments[0].shadowRoot.textContent", shown)
        assert label == "Buy with Apple Pay Simulated", label
        shown.click()
        assert tried(shopper) == "fine"


@claim(page=None)
def the_button_of_apples_script_is_pressed_by_keyboard(shopper):
    with merchant_page(shopper):
        shopper.browser.execute_script("arguments[0].focus()", button(shopper))
        shopper.browser.switch_to.active_element.send_keys(Keys.ENTER)
        assert tried(shopper) == "fine"


@claim(page=None)
def the_button_of_apples_script_follows_its_attributes_and_variables(shopper):
    with merchant_page(shopper):
        shown = button(shopper, "plain")
        seen = shopper.browser.execute_script("""
            const [button] = arguments;
            const inner = button.shadowRoot.querySelector("button");
            const before = inner.textContent;
            button.setAttribute("type", "check-out");
            button.setAttribute("disabled", "");
            button.style.setProperty("--apple-pay-button-width", "320px");
            button.style.setProperty("--apple-pay-button-border-radius", "11px");
            button.style.setProperty("--apple-pay-button-height", "10px");
            const { width, height } = button.getBoundingClientRect();
            return [before, inner.textContent, inner.disabled, width, height, getComputedStyle(inner).borderRadius];""",
            shown)
        assert seen == ["Apple Pay Simulated", "Check out with Apple Pay Simulated", True, 320, 30, "11px"], seen


WHEN = """addEventListener("DOMContentLoaded", () => {
    window.isDefinedEarly = Boolean(customElements.get("apple-pay-button"));
});"""


@claim(page=None)
def the_button_is_left_to_apples_script_until_that_does_not_arrive(shopper):
    script = shopper.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WHEN})
    for query, early in (({}, True), ({"apple": "yes"}, False)):
        with merchant_page(shopper, **query):
            seen = shopper.browser.execute_script("""
                return [window.isDefinedEarly, Boolean(customElements.get("apple-pay-button"))];""")
            assert seen == [early, True], (query, seen)
    shopper.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    shopper.browser_errors()  # the page's policy does not let Apple's script in
