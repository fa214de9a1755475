"""Whether the shop's pages and the sheet are accessible, in light and dark, on wide and narrow windows."""

from selenium.webdriver.common.keys import Keys

from access import faint, must_be_accessible, small_targets, unnamed, width
from claims import claim
from shopper import DESKTOP, PHONE

NARROW = (320, 640)


def must_pass(shopper, where):
    """What holds of every page at every size."""
    must_be_accessible(shopper, where)
    sheet = shopper.find("dialog", "Apple Pay")  # the page behind an open sheet is inert
    assert not unnamed(shopper, sheet), f"without a name on {where}: {unnamed(shopper, sheet)}"
    assert not faint(shopper), f"too faint on {where}: {faint(shopper)}"


def walk(shopper, size, scheme):
    """Every page of the shop, as a shopper meets them."""
    def look(page, is_there):
        shopper.look(size, scheme)
        is_there()
        must_pass(shopper, f"{page}, {scheme}, {size[0]} px")

    shopper.fill(fish=1, oysters=1)
    for page in ("/", "/dish/oysters", "/basket", "/checkout"):
        shopper.open(page)
        look(page, shopper.button)
    shopper.find("radio", "Cash").click()
    shopper.press("Order for cash")
    look("the form with errors", lambda: shopper.sees("Please fill this in."))
    shopper.open("/account")
    look("/account", lambda: shopper.sees("You are a guest"))
    shopper.open("/basket")
    sheet = shopper.open_sheet()
    look("the sheet", lambda: shopper.until(lambda: shopper.pressable("Pay", sheet), "the sheet is not ready"))
    shopper.choose("Deliver to", "aq-undeliverable", sheet)
    look("the sheet with an error", lambda: shopper.wait_for("alert", "", sheet))
    shopper.choose("Deliver to", "gb-london", sheet)
    shopper.press("Pay", sheet)
    basket = shopper.receipt()
    look("the confirmation", lambda: shopper.until(
        lambda: not shopper.find("dialog", "Apple Pay"), "the sheet stays open"))
    for page, sign in (("", "Thank you"), ("/trace", "Wrote down the answer"), ("/payload", "Cryptogram")):
        shopper.open(f"/order/{basket}{page}")
        look(f"/order{page}", lambda: shopper.sees(sign))
    shopper.open("/kitchen")
    look("/kitchen", lambda: shopper.sees("Paid orders:"))


@claim(page=None, limit=300)
def every_page_is_accessible(shopper):
    walk(shopper, DESKTOP, "light")


@claim(page=None, limit=300)
def every_page_is_accessible_on_a_phone_in_the_dark(shopper):
    walk(shopper, PHONE, "dark")


@claim(page=None)
def the_other_shop_is_accessible(shopper):
    for scheme in ("light", "dark"):
        shopper.look(DESKTOP, scheme)
        shopper.open_shop(shopper.demo.second_shop)
        must_pass(shopper, f"the second shop, {scheme}")


@claim(page=None)
def the_empty_basket_and_the_missing_order_are_accessible(shopper):
    for page, sign in (("/basket", "There is nothing in it yet"), ("/order/" + "0" * 32, "No such order")):
        shopper.open(page)
        shopper.sees(sign)
        must_pass(shopper, page)


@claim(page=None)
def a_narrow_page_does_not_scroll_sideways(shopper):
    shopper.look(NARROW)
    shopper.fill(fish=1, oysters=2)
    for page in ("/", "/dish/fish", "/basket", "/checkout"):
        shopper.open(page)
        shopper.button()
        assert width(shopper) <= 320, f"{page} is {width(shopper)} px wide"
    shopper.open_sheet()
    assert width(shopper) <= 320, f"with the sheet, the page is {width(shopper)} px wide"
    shopper.drive("approve()")
    basket = shopper.receipt()
    for page, sign in (("", "Thank you"), ("/trace", "Wrote down the answer"), ("/payload", "Cryptogram")):
        shopper.open(f"/order/{basket}{page}")
        shopper.sees(sign)
        assert width(shopper) <= 320, f"/order{page} is {width(shopper)} px wide"


@claim(page=None)
def everything_that_can_be_pressed_is_44_pixels_high(shopper):
    shopper.look(PHONE)
    shopper.fill(fish=1)
    small = []
    for page in ("/", "/dish/fish", "/checkout", "/account", "/basket"):
        shopper.open(page)
        if page != "/account":
            shopper.button()
        small += small_targets(shopper)
    sheet = shopper.open_sheet()
    shopper.until(lambda: shopper.pressable("Pay", sheet), "the sheet did not become ready")
    small += small_targets(shopper)
    assert not small, f"too small: {small}"


@claim(page="/dish/chowder")
def the_shop_is_walked_by_keyboard_alone(shopper):
    def go_to(name, steps=40):
        for _ in range(steps):
            focused = shopper.focused()
            if focused.accessible_name.removesuffix(" Simulated") == name:
                return focused
            focused.send_keys(Keys.TAB)
        raise AssertionError(f"“{name}” is not reached by the keyboard")

    shopper.button()
    go_to("Skip to the content").send_keys(Keys.ENTER)
    go_to("Add to basket").send_keys(Keys.ENTER)
    go_to("To the basket").send_keys(Keys.ENTER)
    shopper.sees("How and when")
    shopper.button()
    go_to("One Seafood chowder more").send_keys(Keys.ENTER)
    shopper.until(lambda: "One Seafood chowder more" == shopper.focused().accessible_name, "the focus is lost")
    shopper.sees("2 × Seafood chowder")
    shopper.button()
    go_to("Check out with Apple Pay").send_keys(Keys.ENTER)
    sheet = shopper.wait_for("dialog", "Apple Pay")
    shopper.until(lambda: shopper.pressable("Pay", sheet), "the sheet did not become ready")
    go_to("Pay").send_keys(Keys.ENTER)
    shopper.receipt()
    shopper.until(lambda: shopper.focused().text == "Thank you", "the focus does not move to the confirmation")
