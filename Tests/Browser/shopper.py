"""One browser, and what a person can do with it. Things are found as assistive technology finds them: by role and
name."""

import json
import os
import signal
import time
import urllib.parse

from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException, WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select

from proxy import Proxy

# What takes longer than so many seconds hangs, also on a machine that is slow.
PATIENCE = 600.0
LAST_ERROR = "The last error before those that count"
DESKTOP = (1280, 900)
PHONE = (360, 780)
# Where a role is looked for; whether it is one is the browser's to say.
PLACES = {
    "button": "button", "dialog": "dialog", "combobox": "select", "alert": "[role=alert]", "textbox": "input, textarea",
    "radio": "input[type=radio]", "link": "a", "checkbox": "input[type=checkbox]", "heading": "h1, h2, h3",
}
# What can be seen, in one call; and when nothing moves any more that moves only for a while.
VISIBLE = """
    return [...(arguments[1] ?? document).querySelectorAll(arguments[0])].filter((element) =>
      element.getClientRects().length && element.checkVisibility({ opacityProperty: true, visibilityProperty: true }));
    """
STILL = """
    const ends = ({ effect }) => Number.isFinite(effect.getComputedTiming().endTime);
    const still = async () => {
      await document.fonts.ready;
      await Promise.allSettled(document.getAnimations().filter(ends).map(({ finished }) => finished));
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    };
    await Promise.race([still(), new Promise((resolve) => setTimeout(resolve, 2000))]);
    """


class Shopper:
    """Chromium, driven by Selenium. A proxy of its own (proxy.py) connects it with Tender's server."""

    def __init__(self, demo, artifacts):
        self.demo = demo
        self.artifacts = artifacts
        self.proxy = Proxy(demo.port)
        self.start()

    @property
    def shop(self):
        return self.demo.shop

    # The browser

    def start(self):
        options = Options()
        options.add_argument("--headless=new")
        options.add_argument("--disable-dev-shm-usage")
        options.add_argument("--disable-gpu")
        options.add_argument("--force-color-profile=srgb")
        if os.geteuid() == 0:
            options.add_argument("--no-sandbox")  # Chromium does not start its sandbox as root
        options.add_argument(f"--host-resolver-rules=MAP localhost:{self.demo.port} 127.0.0.1:{self.proxy.port}")
        options.add_experimental_option("browserStartupTimeout", int(PATIENCE * 1000))
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.service = Service("/usr/bin/chromedriver")
        self.browser = webdriver.Chrome(service=self.service, options=options)
        self.browser.set_script_timeout(PATIENCE + 60)  # a script that waits gives up earlier, and says for what
        self.browser.set_page_load_timeout(PATIENCE)
        self.table = None  # whose page is open, if a table's is

    def quit(self):
        self.browser.quit()
        self.proxy.close()

    def kill(self):
        """Kills a browser that does not answer; calls that wait for it fail."""
        os.kill(self.browser.capabilities["goog:processID"], signal.SIGKILL)

    def revive(self):
        """Restarts the browser if it has ended. Returns whether it was running."""
        try:
            return self.browser.title is not None
        except WebDriverException:
            self.browser.quit()
            self.start()
            return False

    def arrive(self, page):
        """A fresh tab without cookies or storage, and in it a page of the shop, if one is named."""
        self.proxy.mend()
        self.revive()
        self.table = None
        old = self.browser.window_handles
        self.browser.switch_to.new_window("tab")
        new = self.browser.current_window_handle
        for handle in old:
            self.browser.switch_to.window(handle)
            self.browser.close()
        self.browser.switch_to.window(new)
        self.browser.execute_cdp_cmd("Network.clearBrowserCookies", {})
        for origin in self.demo.origins:
            self.browser.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        self.browser_errors()
        self.look(DESKTOP)
        if page is not None:
            self.open(page)

    def look(self, size, scheme="light", **media):
        """The window's size in CSS pixels, and what the shopper prefers: `reduced_motion="reduce"`."""
        self.resize(size)
        features = {"color-scheme": scheme, **{name.replace("_", "-"): value for name, value in media.items()}}
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": f"prefers-{name}", "value": value} for name, value in features.items()]})

    def resize(self, size):
        width, height = self.size = size
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )

    def picture(self, name, whole=False):
        """A picture of what is seen, or of the whole page, kept among the artifacts."""
        self.script(STILL)
        path = self.artifacts / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        if whole:  # in a window as high as the page, so that what sticks to its edges stands where it belongs
            before = self.size
            height = self.browser.execute_script("return document.documentElement.scrollHeight")
            self.resize((before[0], max(height, before[1])))
            self.script(STILL)
        self.browser.save_screenshot(str(path))
        if whole:
            self.resize(before)

    def browser_errors(self):
        """Errors of the browser's policies and of scripts; failed requests are left to the claims."""
        entries = self.browser.get_log("browser")
        return [entry["message"] for entry in entries
                if entry["level"] == "SEVERE" and "Failed to load resource" not in entry["message"]]

    def discard_errors(self):
        """Discards all errors up to now. The browser reports them late, but in order, so a last one is awaited."""
        self.browser.execute_script("console.error(arguments[0])", LAST_ERROR)
        self.until(lambda: any(LAST_ERROR in error for error in self.browser_errors()), "the browser reports no errors")

    # Pages

    def open(self, page="/"):
        """A page of the shop, by its path, or any by its address."""
        self.browser.get(urllib.parse.urljoin(self.shop, page))

    def open_shop(self, address=None):
        self.browser.get(address or self.shop)
        self.button()

    def page_text(self):
        """What the page says; nothing while another page comes."""
        try:
            return self.browser.find_element(By.TAG_NAME, "body").text
        except (NoSuchElementException, StaleElementReferenceException):
            return ""

    def path(self):
        return urllib.parse.urlsplit(self.browser.current_url).path

    def sees(self, text):
        self.until(lambda: text in self.page_text(), f"the page does not say “{text}”")

    def until(self, condition, failure):
        """The first true answer of the condition; elements that vanish are looked up again."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                found = condition()
            except StaleElementReferenceException:
                found = None
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"{failure}; the page says: {self.page_text()!r}")

    def script(self, text, *arguments):
        """Runs a body of JavaScript, which may await, and gives what it returns."""
        answer = self.browser.execute_async_script(
            f"""
            const done = arguments[arguments.length - 1];
            (async () => {{ {text} }}).apply(null, arguments)
              .then((value) => done({{ value }}), (error) => done({{ error: String(error) }}));
            """.replace("(async () => {", "(async function () {"), *arguments)
        if "error" in answer:
            raise AssertionError(answer["error"])
        return answer.get("value")

    # Things on them

    def find(self, role, name="", within=None):
        """The first visible thing of this role whose accessible name holds these words."""
        try:
            for element in self.browser.execute_script(VISIBLE, PLACES[role], within):
                if element.aria_role == role and name in element.accessible_name:
                    return element
        except StaleElementReferenceException:
            pass  # the page has changed; the caller tries again
        return None

    def wait_for(self, role, name="", within=None):
        return self.until(lambda: self.find(role, name, within), f"there is no {role} “{name}”")

    def pressable(self, name, within=None):
        button = self.find("button", name, within)
        return button if button and button.is_enabled() else None

    def press(self, name, within=None):
        self.act(lambda: self.pressable(name, within), WebElement.click, f"no button “{name}” can be pressed")

    def follow(self, name):
        self.act(lambda: self.find("link", name), WebElement.click, f"there is no link “{name}”")

    def act(self, find, action, failure):
        """Finds an element and does something with it, again when the page was changed in between."""

        def done():
            element = find()
            if element:
                action(element)
            return element

        return self.until(done, failure)

    def click(self, selector):
        """Clicks on the first element of a CSS selector, once there is one."""
        self.act(lambda: self.first(selector), WebElement.click, f"there is no {selector}")

    def type(self, selector, *keys):
        """Types into the first element of a CSS selector, once there is one."""
        self.act(lambda: self.first(selector), lambda field: field.send_keys(*keys), f"there is no {selector}")

    def first(self, selector):
        return next(iter(self.browser.find_elements(By.CSS_SELECTOR, selector)), None)

    def choose(self, name, value, within=None):
        return self.act(lambda: self.find("combobox", name, within), lambda field: Select(field).select_by_value(value),
                        f"there is no choice “{name}”")

    def write(self, name, text, within=None):

        def replace(field):
            field.clear()
            field.send_keys(text)

        return self.act(lambda: self.find("textbox", name, within), replace, f"there is no field “{name}”")

    def focused(self):
        return self.browser.switch_to.active_element

    # The shop

    def fill(self, service="delivery", **dishes):
        """Puts dishes into the basket, as many of each as is said, and nothing else."""
        self.open("/account")
        order = {"dishes": dishes, "service": service, "time": "", "note": "", "code": ""}
        self.script("localStorage.setItem('order', arguments[0]); localStorage.setItem('visited', 'yes');",
                    json.dumps(order))

    def receipt(self):
        """Waits for the confirmation of a payment that was captured, and gives its basket. Whenever a receipt is
        shown, the journal and the acquirer's ledger must agree that this basket was paid, once."""
        self.sees("Thank you")
        self.sees("Paid")
        basket = self.path().split("/")[-1]
        self.demo.must_be_paid_once(basket)
        return basket

    def fact(self, id):
        """What the page shows at a place of this name; nothing where there is none."""
        found = self.browser.find_elements(By.ID, id)
        return found[0].text if found else ""

    # Tender's button and the sheet

    def basket(self):
        return self.browser.find_element(By.TAG_NAME, "tender-apple-pay").get_attribute("basket")

    def button(self):
        """Tender's button, once the basket that stands in it was prepared."""

        def ready():
            return self.browser.execute_async_script(
                """
                const done = arguments[arguments.length - 1];
                const button = document.querySelector("tender-apple-pay");
                Promise.resolve(button?.getAttribute("basket") && button.prepared).then((is) => done(Boolean(is)));
                """
            ) and self.find("button", "Apple Pay")

        return self.until(ready, "the shop shows no Apple Pay button")

    def open_sheet(self):
        self.button().click()
        return self.until(lambda: self.find("dialog", "Apple Pay"), "no sheet opened")

    def drive(self, call):
        """One step of window.applePaySandbox; raises when its promise is rejected."""
        try:
            return self.script(f"return applePaySandbox.{call};")
        except AssertionError as error:
            raise AssertionError(f"applePaySandbox.{call}: {error}") from None
