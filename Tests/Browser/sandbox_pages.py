"""The sandbox's own pages: what it is and what it holds, and the window that simulates a phone."""

from access import faint, must_be_accessible, unnamed, width
from claims import claim
from shopper import DESKTOP, PHONE

NARROW = (320, 640)
PAGES = {"/": "sandbox", "/device": "device"}


@claim(page=None)
def the_sandbox_pages_are_accessible(shopper):
    for page, name in PAGES.items():
        for size in (PHONE, DESKTOP):
            for scheme in ("light", "dark"):
                shopper.look(size, scheme)
                shopper.browser.get(shopper.demo.sandbox + page)
                where = f"the sandbox’s {page}, {scheme}, {size[0]} px"
                must_be_accessible(shopper, where)
                assert not faint(shopper), f"too faint on {where}: {faint(shopper)}"
                assert not unnamed(shopper), f"without a name on {where}: {unnamed(shopper)}"
                shopper.picture(f"{name}-{size[0]}-{scheme}", whole=True)


@claim(page=None)
def the_sandbox_pages_do_not_scroll_sideways(shopper):
    shopper.look(NARROW)
    for page in PAGES:
        shopper.browser.get(shopper.demo.sandbox + page)
        assert width(shopper) <= 320, f"{page} is {width(shopper)} px wide"
