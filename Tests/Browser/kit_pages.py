"""The web kit on other pages than the shop's."""

import pathlib
import re
import urllib.request

from claims import claim

HOUSE = pathlib.Path(__file__).resolve().parents[2]


@claim(page=None)
def a_page_of_an_unregistered_origin_is_told_so(shopper):
    shopper.browser.get(shopper.shop.replace("localhost", "127.0.0.1"))
    shopper.sees("not registered")
    assert not shopper.find("button", "Apple Pay"), "it shows a button all the same"
    reasons = shopper.browser.execute_async_script(
        """
        const done = arguments[0];
        import(document.querySelector("script[src*=tender]").src)
          .then(({ explainAvailability }) => explainAvailability()).then(done);
        """)
    assert [reason["code"] for reason in reasons] == ["origin_not_registered"], f"the reasons: {reasons}"


@claim
def the_smallest_page_of_the_documentation_pays(shopper):
    text = (HOUSE / "docs/web.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"<!-- (smallest\.\w+) -->\n```\w+\n(.*?)```", text, re.DOTALL))
    served = {name: urllib.request.urlopen(f"{shopper.shop}/{path}", timeout=10).read().decode()
              for name, path in (("smallest.html", "smallest"), ("smallest.js", "smallest.js"))}
    served["smallest.html"] = re.sub(r'(?<=basket=")\w+', "00112233445566778899aabbccddeeff", served["smallest.html"])
    served["smallest.html"] = re.sub(r'(?<=src=")http://[^/"]+', "https://pay.example.com", served["smallest.html"])
    assert served == shown, "the page that is served is not the one of docs/web.md"
    shopper.open_shop(f"{shopper.shop}/smallest")
    shopper.open_sheet()
    shopper.drive("approve()")
    shopper.sees("Thank you. Your order is ")
