"""Accessibility checks: axe's rules for WCAG 2.2 AA, and checks that axe lacks."""

import pathlib

from selenium.webdriver.common.by import By

ROOT = pathlib.Path(__file__).resolve().parents[2]
AXE = ROOT / ".build/browser-tests/axe.min.js"
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def must_be_accessible(shopper, where):
    """Checks the current page against axe's rules for WCAG 2.2 AA."""
    found = violations(shopper)
    assert not found, f"{where} is not accessible: {found}"


def violations(shopper):
    """One line for each thing that breaks a rule."""
    before = shopper.browser_errors()
    assert not before, f"the browser reported errors: {before}"
    # By the debugger's protocol, which the page's own policy does not bind.
    shopper.browser.execute_cdp_cmd("Runtime.evaluate", {"expression": AXE.read_text(encoding="utf-8")})
    found = shopper.script(
        """
        const { violations } = await axe.run(document, { runOnly: { type: "tag", values: arguments[0] } });
        return violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) =>
          `${id} at ${target.join(" ")}: ${failureSummary.split("\\n").slice(1).join(" ").trim()}`));
        """, LEVELS)
    shopper.discard_errors()  # axe tries inline styles, which the page's policy refuses
    return found


def width(shopper):
    return shopper.browser.execute_script("return document.documentElement.scrollWidth")


def small_targets(shopper):
    """What can be pressed and is less than 44 pixels high."""
    return shopper.browser.execute_script(
        """
        const kinds = "button, select, input:not([type=radio], [type=checkbox]), label:has([type=radio], [type=checkbox])";
        return [...document.querySelectorAll(kinds)]
          .filter((target) => target.checkVisibility() && target.getBoundingClientRect().height < 44)
          .map((target) => target.textContent || target.id);
        """
    )


def unnamed(shopper, within=None):
    """What can be operated and has no accessible name."""
    controls = (within or shopper.browser).find_elements(By.CSS_SELECTOR, "a, button, input, select, dialog")
    return [control.get_attribute("outerHTML") for control in controls
            if control.is_displayed() and not control.accessible_name]


def faint(shopper, root="body"):
    """Texts with less contrast than 4.5 to 1 against the ground behind them; disabled controls may have less."""
    return shopper.browser.execute_script(
        """
        const numbers = (colour) => colour.match(/[0-9.]+/g).map(Number);
        const light = (colour) => {
          const [r, g, b] = numbers(colour).map((part) => part / 255)
            .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ground = (element) => {
          for (let at = element; at; at = at.parentElement) {
            const colour = getComputedStyle(at).backgroundColor;
            if ((numbers(colour)[3] ?? 1) === 1) return colour;
          }
          return "rgb(255, 255, 255)";
        };
        const contrast = (element) => {
          const [a, b] = [light(getComputedStyle(element).color), light(ground(element))];
          return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        };
        const hasText = ({ childNodes }) => [...childNodes].some((node) => node.nodeType === 3 && node.data.trim());
        return [...document.querySelectorAll(`${arguments[0]} *`)]
          .filter((element) => element.checkVisibility() && hasText(element) && !element.matches(":disabled, option"))
          .filter((element) => contrast(element) < 4.5)
          .map((element) => `${element.textContent.trim()} (${contrast(element).toFixed(2)})`);
        """, root)
