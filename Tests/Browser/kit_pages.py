"""The web kit on other pages than the shop's."""

import pathlib
import re

from claims import claim

ROOT = pathlib.Path(__file__).resolve().parents[2]


def printed(file):
    """The pages that a text shows, by the name in the comment above each."""
    text = (ROOT / file).read_text(encoding="utf-8")
    return dict(re.findall(r"<!-- (\w+\.\w+) -->\n```\w+\n(.*?)```", text, re.DOTALL))


def explained(shopper):
    """Why the page has no button, as the kit says."""
    return shopper.browser.execute_async_script(
        """
        const done = arguments[0];
        import(document.querySelector("script[src*=tender]").src)
          .then(({ explainAvailability }) => explainAvailability()).then(done);
        """)


@claim(page=None)
def a_page_of_an_unregistered_origin_gets_that_reason(shopper):
    shopper.browser.get(shopper.shop.replace("localhost", "127.0.0.1"))
    shopper.sees("Apple Pay is not available here")
    assert "registered" not in shopper.page_text(), "the shopper reads what the operator is to do"
    assert not shopper.find("button", "Apple Pay"), "it shows a button all the same"
    reasons = explained(shopper)
    assert [reason["code"] for reason in reasons] == ["origin_not_registered"], f"the reasons: {reasons}"


@claim(page=None)
def a_page_of_ten_lines_as_the_documentation_prints_it_takes_a_payment(shopper):
    pages = {file: printed(file)["mine.html"] for file in ("docs/web.md", "README.md") if "mine.html" in printed(file)}
    assert len(set(pages.values())) == 1, f"it is printed differently in {list(pages)}"
    text = pages["docs/web.md"]
    assert len(text.splitlines()) <= 10, f"it has {len(text.splitlines())} lines"
    (shopper.demo.home / "mine.html").write_text(
        text.replace("http://localhost:8400", shopper.demo.server), encoding="utf-8")
    shopper.open_shop(f"{shopper.shop}/page")
    basket = shopper.basket()
    sheet = shopper.open_sheet()
    shopper.press("Pay", sheet)
    shopper.sees("Thank you")
    assert shopper.demo.must_be_paid_once(basket)["captured"] > 0


@claim(page=None)
def the_smallest_page_of_the_documentation_pays(shopper):
    shown = printed("docs/web.md")
    served = {name: shopper.demo.get(f"{shopper.shop}/{path}").decode()
              for name, path in (("smallest.html", "smallest"), ("smallest.js", "smallest.js"))}
    served["smallest.html"] = re.sub(r'(?<=basket=")\w+', "00112233445566778899aabbccddeeff", served["smallest.html"])
    served["smallest.html"] = re.sub(r'(?<=src=")http://[^/"]+', "https://pay.example.com", served["smallest.html"])
    assert served == {name: shown[name] for name in served}, "the page that is served is not the one of docs/web.md"
    shopper.open_shop(f"{shopper.shop}/smallest")
    shopper.open_sheet()
    shopper.drive("approve()")
    shopper.sees("Thank you. Your order is ")


def visit_ten_lines(shopper, head="", more=""):
    """The page of ten lines, with something more in its head and at its end."""
    text = printed("docs/web.md")["mine.html"].replace("http://localhost:8400", shopper.demo.server)
    text = text.replace("<title>", f"{head}<title>") + more
    (shopper.demo.home / "mine.html").write_text(text, encoding="utf-8")
    shopper.open_shop(f"{shopper.shop}/page")


@claim
def a_page_that_patches_toJSON_pays(shopper):
    sheet = shopper.open_sheet()
    basket = shopper.basket()
    # As Prototype.js 1.6 has it.
    shopper.browser.execute_script("Array.prototype.toJSON = function () { return `[${this}]`; };")
    shopper.press("Pay", sheet)
    shopper.sees("Thank you")
    assert shopper.demo.must_be_paid_once(basket)["captured"] > 0


TRUSTED = """<meta http-equiv="Content-Security-Policy" content="require-trusted-types-for 'script'; trusted-types %s">"""


@claim(page=None)
def a_page_under_trusted_types_pays_if_it_allows_the_kits_policy(shopper):
    visit_ten_lines(shopper, TRUSTED % "tender")
    shopper.press("Pay", shopper.open_sheet())
    shopper.sees("Thank you")


@claim(page=None)
def a_page_under_trusted_types_that_allows_no_policy_is_told_which_one_it_needs(shopper):
    (shopper.demo.home / "mine.html").write_text(
        TRUSTED % "'none'" + printed("docs/web.md")["mine.html"].replace("http://localhost:8400", shopper.demo.server),
        encoding="utf-8")
    shopper.browser.get(f"{shopper.shop}/page")
    reasons = explained(shopper)
    assert [reason["code"] for reason in reasons] == ["script_not_trusted"], f"the reasons: {reasons}"
    assert "trusted-types tender" in reasons[0]["detail"]
    shopper.discard_errors()  # of the policy that was refused


@claim(page=None)
def a_page_that_takes_the_button_away_while_its_sheet_is_open_hears_of_the_payment(shopper):
    visit_ten_lines(shopper)
    basket = shopper.basket()
    sheet = shopper.open_sheet()
    shopper.browser.execute_script("document.querySelector('tender-apple-pay').remove()")
    shopper.press("Pay", sheet)
    shopper.sees("Thank you")
    assert shopper.demo.must_be_paid_once(basket)["captured"] > 0


@claim(page=None)
def every_button_of_a_basket_that_is_paid_goes(shopper):
    visit_ten_lines(shopper, more='<div><tender-apple-pay basket="{{basket}}"></tender-apple-pay></div>')
    shopper.press("Pay", shopper.open_sheet())
    shopper.sees("Thank you")
    states = shopper.browser.execute_script(
        "return [...document.querySelectorAll('tender-apple-pay')].map((one) => one.getAttribute('state'))")
    assert states == ["paid", "paid"], f"the states: {states}"
    assert not shopper.find("button", "Apple Pay"), "a button is there still"
