"""Whether everybody can use the shop's pages and the sheet."""

from access import faint, small_targets, unnamed, width
from claims import claim
from shopper import DESKTOP, PHONE



@claim
def everything_has_a_name_and_can_be_read(shopper):
    for scheme in ("light", "dark"):
        shopper.look(DESKTOP, scheme)
        shopper.open_shop()
        assert not unnamed(shopper), f"without a name: {unnamed(shopper)}"
        assert not faint(shopper), f"too faint on the {scheme} page: {faint(shopper)}"
        sheet = shopper.open_sheet()
        shopper.choose("Deliver to", "aq-undeliverable", sheet)
        shopper.until(lambda: shopper.find("alert", "", sheet), "the sheet does not say what is wrong")
        assert not unnamed(shopper, sheet), f"without a name: {unnamed(shopper, sheet)}"
        assert not faint(shopper, "dialog"), f"too faint in the {scheme} sheet: {faint(shopper, 'dialog')}"
        shopper.choose("Deliver to", "gb-london", sheet)
        shopper.press("Pay", sheet)
        shopper.sees("captured")
        assert not faint(shopper, "main"), f"too faint in the {scheme} confirmation: {faint(shopper, 'main')}"


@claim
def a_narrow_page_does_not_scroll_sideways(shopper):
    shopper.look((320, 640))
    shopper.open_shop()
    assert width(shopper) <= 320, f"the shop is {width(shopper)} px wide"
    shopper.open_sheet()
    assert width(shopper) <= 320, f"with the sheet, the shop is {width(shopper)} px wide"


@claim
def everything_that_can_be_pressed_is_44_pixels_high(shopper):
    shopper.look(PHONE)
    shopper.open_shop()
    small = small_targets(shopper)
    sheet = shopper.open_sheet()
    shopper.until(lambda: shopper.pressable("Pay", sheet), "the sheet did not become ready")
    small += small_targets(shopper)
    assert not small, f"too small: {small}"
