"""How the pages look: pictures for people, kept among the artifacts."""

from claims import claim
from shopper import DESKTOP, PHONE



@claim
def the_pages_look_as_they_should(shopper):
    for size in (PHONE, DESKTOP):
        for scheme in ("light", "dark"):
            shopper.look(size, scheme)
            shopper.open_shop()
            shopper.picture(f"shop-{size[0]}-{scheme}")
            sheet = shopper.open_sheet()
            shopper.until(lambda: shopper.pressable("Pay", sheet), "the sheet did not become ready")
            shopper.picture(f"sheet-{size[0]}-{scheme}")
            shopper.drive("approve()")
            shopper.sees("captured")
            shopper.until(lambda: not shopper.find("dialog", "Apple Pay"), "the sheet stays open")
            shopper.picture(f"confirmation-{size[0]}-{scheme}")
