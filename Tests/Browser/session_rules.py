"""What the simulated ApplePaySession refuses, as a browser's own does."""

from selenium.webdriver.common.by import By

from claims import claim

# What, version, change of a good request, and how a browser's own constructor answers.
SESSION_RULES = [
    ("a good request", 14, {}, "accepted"),
    ("version 0", 0, {}, "InvalidAccessError"),
    ("a version from the future", 15, {}, "InvalidAccessError"),
    ("a missing total", 14, {"total": None}, "TypeError"),
    ("a total without a label", 14, {"total": {"label": "", "amount": "1.00"}}, "TypeError"),
    ("one decimal", 14, {"total": {"label": "Shop", "amount": "1.0"}}, "TypeError"),
    ("three decimals", 14, {"total": {"label": "Shop", "amount": "1.000"}}, "TypeError"),
    ("a decimal comma", 14, {"total": {"label": "Shop", "amount": "1,00"}}, "TypeError"),
    ("no decimals", 14, {"total": {"label": "Shop", "amount": "1"}}, "accepted"),
    ("a total of zero", 14, {"total": {"label": "Shop", "amount": "0.00"}}, "accepted"),
    ("a total of zero in version 3", 3, {"total": {"label": "Shop", "amount": "0.00"}}, "TypeError"),
    ("a negative total", 14, {"total": {"label": "Shop", "amount": "-1.00"}}, "TypeError"),
    ("a hundred million", 14, {"total": {"label": "Shop", "amount": "100000000.00"}}, "accepted"),
    ("a cent more", 14, {"total": {"label": "Shop", "amount": "100000000.01"}}, "TypeError"),
    ("a negative line item", 14, {"lineItems": [{"label": "Discount", "amount": "-1.00"}]}, "accepted"),
    ("a line item without a label", 14, {"lineItems": [{"amount": "1.00"}]}, "TypeError"),
    ("a country in small letters", 14, {"countryCode": "ie"}, "TypeError"),
    ("a country that is none", 14, {"countryCode": "ZZ"}, "TypeError"),
    ("a currency that is none", 14, {"currencyCode": "EUX"}, "TypeError"),
    ("no network", 14, {"supportedNetworks": []}, "TypeError"),
    ("an unknown network", 14, {"supportedNetworks": ["visa", "diners"]}, "TypeError"),
    ("a network of a later version", 3, {"supportedNetworks": ["girocard"]}, "TypeError"),
    ("no capability", 14, {"merchantCapabilities": []}, "TypeError"),
    ("an unknown capability", 14, {"merchantCapabilities": ["supports4DS"]}, "TypeError"),
    ("an unknown contact field", 14, {"requiredShippingContactFields": ["fax"]}, "TypeError"),
    ("a negative shipping method", 14,
     {"shippingMethods": [{"label": "Bike", "detail": "", "identifier": "bike", "amount": "-1.00"}]}, "TypeError"),
    ("a shipping method without an identifier", 14,
     {"shippingMethods": [{"label": "Bike", "detail": "", "amount": "1.00"}]}, "TypeError"),
    ("application data that is no Base64", 14, {"applicationData": "%%%"}, "accepted"),
]



@claim
def the_simulated_session_refuses_what_a_browser_refuses(shopper):
    shopper.button()
    shopper.browser.find_element(By.TAG_NAME, "h1").click()  # the shopper's activation lasts a few seconds
    answers = shopper.browser.execute_script(
        """
        const good = () => ({
          countryCode: "IE", currencyCode: "EUR", supportedNetworks: ["visa"], merchantCapabilities: ["supports3DS"],
          total: { label: "Shop", amount: "1.00" },
        });
        return arguments[0].map(([version, change]) => {
          try {
            new ApplePaySession(version, { ...good(), ...change });
            return "accepted";
          } catch (error) {
            return error.name;
          }
        });
        """,
        [[version, change] for _, version, change, _ in SESSION_RULES],
    )
    wrong = [(rule[0], answer) for rule, answer in zip(SESSION_RULES, answers) if rule[3] != answer]
    assert not wrong, f"judged otherwise than by a browser: {wrong}"


@claim
def a_session_needs_the_shoppers_gesture(shopper):
    shopper.button()
    name = shopper.browser.execute_script(
        "try { new ApplePaySession(14, arguments[0]) } catch (error) { return error.name + error.message }",
        {"countryCode": "IE", "currencyCode": "EUR", "supportedNetworks": ["visa"],
         "merchantCapabilities": ["supports3DS"], "total": {"label": "Shop", "amount": "1.00"}})
    assert name.startswith("InvalidAccessError") and "user gesture handler" in name, f"it answered {name!r}"
