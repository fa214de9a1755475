"""How the pages look: pictures for people, kept among the artifacts."""

from claims import claim
from shopper import DESKTOP, PHONE


def take(shopper, size, scheme):
    def keep(name, whole=True):
        shopper.picture(f"{name}-{size[0]}-{scheme}", whole)

    shopper.look(size, scheme)
    shopper.fill(fish=1, oysters=1)
    for name, page in (("menu", "/"), ("dish", "/dish/crab"), ("basket", "/basket"), ("checkout", "/checkout")):
        shopper.open(page)
        shopper.button()
        if page == "/":
            keep("menu-top", whole=False)
        keep(name)
    shopper.wait_for("radio", "Cash").click()
    keep("cash")
    shopper.open("/account")
    shopper.sees("You are a guest")
    keep("account")
    shopper.open("/basket")
    sheet = shopper.open_sheet()
    shopper.until(lambda: shopper.pressable("Pay", sheet), "the sheet did not become ready")
    keep("sheet", whole=False)
    shopper.drive("approve()")
    basket = shopper.receipt()
    shopper.until(lambda: not shopper.find("dialog", "Apple Pay"), "the sheet stays open")
    keep("confirmation")
    for page, sign in (("trace", "Wrote down the answer"), ("payload", "Cryptogram")):
        shopper.open(f"/order/{basket}/{page}")
        shopper.sees(sign)
        keep(page)
    shopper.open("/kitchen")
    shopper.sees("Paid orders:")
    keep("kitchen")


@claim(page=None)
def the_pages_look_as_they_should_on_a_phone(shopper):
    take(shopper, PHONE, "light")


@claim(page=None)
def the_pages_look_as_they_should_on_a_phone_in_the_dark(shopper):
    take(shopper, PHONE, "dark")


@claim(page=None)
def the_pages_look_as_they_should_on_a_desktop(shopper):
    take(shopper, DESKTOP, "light")


@claim(page=None)
def the_pages_look_as_they_should_on_a_desktop_in_dark_mode(shopper):
    take(shopper, DESKTOP, "dark")


@claim(page=None)
def the_other_shop_looks_as_it_should(shopper):
    for scheme in ("light", "dark"):
        shopper.look(DESKTOP, scheme)
        shopper.open_shop(shopper.demo.second_shop)
        shopper.picture(f"second-shop-1280-{scheme}", whole=True)
