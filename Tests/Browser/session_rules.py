"""What the simulated ApplePaySession says without a sheet: which exception for what, in which order of checks."""

from selenium.webdriver.common.by import By

from claims import claim
from merchantpage import BY_SCRIPT, Rows, another_browser, claims_of, merchant_page

BAD = "InvalidAccessError"
METHOD = '{ label: "Bike", detail: "", identifier: "bike", amount: "1.00" }'
RECURRING = '{ label: "Box", amount: "9.00", paymentTiming: "recurring" }'


def made(changes="{}", version="14"):
    return f"page.outcome(() => new ApplePaySession({version}, page.request({changes})))"


def made_with(member, value, version="14"):
    return made(f"{{ {member}: {value} }}", version)


CONSTRUCTOR = [
    ("a good request makes a session", made(), "fine"),
    ("every version from 1 to 15 makes a session",
     'Array.from({ length: 15 }, (_, n) => page.outcome(() => new ApplePaySession(n + 1, page.request()))).join(" ")',
     " ".join(["fine"] * 15)),
    ("a version in a text is a number", made(version='"14"'), "fine"),
    ("version 0 is refused", made(version="0"), f'{BAD}: "0" is not a supported version.'),
    ("a negative version is refused", made(version="-1"), BAD),
    ("a version that is no number is refused", made(version='"new"'), BAD),
    ("a version newer than the device is refused", made(version="16"), f'{BAD}: "16" is not a supported version.'),
    ("a session is made with new", "page.outcome(() => ApplePaySession(14, page.request()))", "TypeError"),
    ("a session needs two arguments", "page.outcome(() => new ApplePaySession(14))", "TypeError"),
    ("a request is an object", 'page.outcome(() => new ApplePaySession(14, "request"))', "TypeError"),
    ("a request names its country", made("{ countryCode: undefined }"),
     "TypeError: Member ApplePayPaymentRequest.countryCode is required and must be an instance of DOMString"),
    ("a request names its currency", made_with("currencyCode", "undefined"), "TypeError"),
    ("a request names its networks", made_with("supportedNetworks", "undefined"), "TypeError"),
    ("a request names its capabilities", made_with("merchantCapabilities", "undefined"), "TypeError"),
    ("a request has a total", made_with("total", "null"), "TypeError"),
    ("a total has a label", made_with("total", '{ label: "", amount: "1.00" }'), "TypeError: Missing total label."),
    ("a total has an amount", made_with("total", '{ label: "Shop" }'), "TypeError"),
    ("one decimal is an amount", made_with("total", '{ label: "Shop", amount: "1.3" }'), "fine"),
    ("three decimals are an amount", made_with("total", '{ label: "Shop", amount: "1.000" }'), "fine"),
    ("a sum of binary fractions is an amount", made_with("total", '{ label: "Shop", amount: "4.359999999999999" }'),
     "fine"),
    ("a number is an amount", made_with("total", '{ label: "Shop", amount: 1.5 }'), "fine"),
    ("every price from 0.01 to 99.99 is an amount, as text and as number",
     """const refused = [];
        for (let cents = 1; cents < 10_000; cents += 1) {
          for (const amount of [cents / 100, String(cents / 100), (cents / 100).toFixed(2)]) {
            const answer = page.outcome(() =>
              new ApplePaySession(14, page.request({ total: { label: "Shop", amount } })));
            if (answer !== "fine") refused.push(amount);
          }
        }
        return refused;""", []),
    ("a decimal point without decimals is no amount", made_with("total", '{ label: "Shop", amount: "1." }'),
     'TypeError: "1." is not a valid amount.'),
    ("a decimal point without units is no amount", made_with("total", '{ label: "Shop", amount: ".5" }'), "TypeError"),
    ("an exponent is no amount", made_with("total", '{ label: "Shop", amount: 1e-7 }'),
     'TypeError: "1e-7" is not a valid amount.'),
    ("a decimal comma is no amount", made_with("total", '{ label: "Shop", amount: "1,00" }'), "TypeError"),
    ("a plus sign is no amount", made_with("total", '{ label: "Shop", amount: "+1.00" }'), "TypeError"),
    ("an empty text is no amount", made_with("total", '{ label: "Shop", amount: "" }'), "TypeError"),
    ("no decimals are an amount", made_with("total", '{ label: "Shop", amount: "1" }'), "fine"),
    ("a total of zero is let through in every version", made_with("total", '{ label: "Shop", amount: "0.00" }', "1"),
     "fine"),
    ("a negative total is refused", made_with("total", '{ label: "Shop", amount: "-1.00" }'), "TypeError"),
    ("a total has no upper limit", made_with("total", '{ label: "Shop", amount: "100000000.01" }'), "fine"),
    ("a line item may be negative", made_with("lineItems", '[{ label: "Discount", amount: "-1.00" }]'), "fine"),
    ("a line item needs no label", made_with("lineItems", '[{ amount: "1.00" }]'), "fine"),
    ("a line item of a wrong amount is refused", made_with("lineItems", '[{ label: "Soup", amount: "1,5" }]'),
     "TypeError"),
    ("a pending line item needs no number", made_with("lineItems", '[{ label: "Tip", amount: "", type: "pending" }]'),
     "fine"),
    ("a line item of an unknown type is refused",
     made_with("lineItems", '[{ label: "Tip", amount: "1", type: "later" }]'), "TypeError"),
    ("line items are a sequence", made_with("lineItems", '"Soup"'), "TypeError"),
    ("a country in small letters is refused", made_with("countryCode", '"ie"'),
     'TypeError: "ie" is not a valid country code.'),
    ("a country that is none is refused", made_with("countryCode", '"ZZ"'), "TypeError"),
    ("a currency that is none is refused", made_with("currencyCode", '"EUX"'),
     'TypeError: "EUX" is not a valid currency code.'),
    ("no network is refused", made_with("supportedNetworks", "[]"),
     "TypeError: At least one supported network must be provided."),
    ("an unknown network is refused", made_with("supportedNetworks", '["visa", "diners"]'),
     'TypeError: "diners" is not a valid payment network.'),
    ("a network may be written in any case", made_with("supportedNetworks", '["VISA", "mastercard"]'), "fine"),
    ("no capability is refused", made_with("merchantCapabilities", "[]"), "TypeError"),
    ("an unknown capability is refused", made_with("merchantCapabilities", '["supports4DS"]'), "TypeError"),
    ("an unknown contact field is refused", made_with("requiredShippingContactFields", '["fax"]'), "TypeError"),
    ("phonetic names are asked for since version 3", made_with("requiredShippingContactFields", '["phoneticName"]', "3"),
     "fine"),
    ("phonetic names are refused before version 3",
     made_with("requiredShippingContactFields", '["phoneticName"]', "2"), "TypeError"),
    ("an unknown shipping type is refused", made_with("shippingType", '"drone"'), "TypeError"),
    ("a shipping method may cost nothing", made_with("shippingMethods", f'[{{ ...{METHOD}, amount: "0.00" }}]'), "fine"),
    ("a shipping method may not be negative", made_with("shippingMethods", f'[{{ ...{METHOD}, amount: "-1.00" }}]'),
     "TypeError: Shipping method amount must be greater than or equal to zero."),
    ("a shipping method has an identifier",
     made_with("shippingMethods", f"[{{ ...{METHOD}, identifier: undefined }}]"), "TypeError"),
    ("a shipping method has a detail", made_with("shippingMethods", f"[{{ ...{METHOD}, detail: undefined }}]"),
     "TypeError"),
    ("a range of dates has both ends",
     made_with("shippingMethods", f"[{{ ...{METHOD}, dateComponentsRange: {{ startDateComponents: {{}} }} }}]"),
     "TypeError"),
    ("an issuer's country is a country", made_with("supportedCountries", '["IE", "XX"]'), "TypeError"),
    ("issuers' countries are not looked at before version 3", made_with("supportedCountries", '["XX"]', "2"), "fine"),
    ("application data that is no Base64 is let through", made_with("applicationData", '"%%%"'), "fine"),
    ("a recurring payment has its three members", made_with("recurringPaymentRequest", "{}"), "TypeError"),
    ("a recurring payment's billing is recurring",
     made_with("recurringPaymentRequest",
               '{ paymentDescription: "Box", managementURL: "https://example.com",'
               ' regularBilling: { label: "Box", amount: "9.00" } }'), "TypeError"),
    ("a recurring payment's address is one",
     made_with("recurringPaymentRequest",
               f'{{ paymentDescription: "Box", managementURL: "here", regularBilling: {RECURRING} }}'), "TypeError"),
    ("a recurring payment that is whole is let through",
     made_with("recurringPaymentRequest",
               f'{{ paymentDescription: "Box", managementURL: "https://example.com", regularBilling: {RECURRING} }}'),
     "fine"),
    ("a week is no interval of the web",
     made_with("lineItems", '[{ label: "Box", amount: "9.00", recurringPaymentIntervalUnit: "week" }]'), "TypeError"),
    ("a reload has its threshold's timing",
     made_with("automaticReloadPaymentRequest",
               '{ paymentDescription: "Card", managementURL: "https://example.com",'
               ' automaticReloadBilling: { label: "Reload", amount: "20.00" } }'), "TypeError"),
    ("a deferred payment's free cancellation has a time zone",
     made_with("deferredPaymentRequest",
               '{ paymentDescription: "Room", managementURL: "https://example.com", freeCancellationDate: new Date(),'
               ' deferredBilling: { label: "Room", amount: "90.00", paymentTiming: "deferred" } }'), "TypeError"),
    ("a merchant of several has its name",
     made_with("multiTokenContexts", '[{ merchantIdentifier: "m", externalIdentifier: "e", amount: "1.00" }]'),
     "TypeError"),
]

# Two things are wrong; the engine speaks of the one that it looks at first.
ORDER = [
    ("a missing member is found before a wrong version", made("{ total: undefined }", "99"), "TypeError"),
    ("a wrong version is found before a wrong country", made_with("countryCode", '"xx"', "99"), BAD),
    ("the country is checked before the currency", made('{ countryCode: "xx", currencyCode: "EUX" }'),
     'TypeError: "xx" is not a valid country code.'),
    ("the networks are checked before the currency", made('{ currencyCode: "EUX", supportedNetworks: [] }'),
     "TypeError: At least one supported network must be provided."),
    ("the capabilities are checked before the networks", made("{ supportedNetworks: [], merchantCapabilities: [] }"),
     "TypeError: At least one merchant capability must be provided."),
    ("the capabilities are checked before the total",
     made('{ merchantCapabilities: [], total: { label: "", amount: "1.00" } }'),
     "TypeError: At least one merchant capability must be provided."),
    ("the total is checked before the shipping methods",
     made(f'{{ total: {{ label: "", amount: "1.00" }}, shippingMethods: [{{ ...{METHOD}, amount: "-1.00" }}] }}'),
     "TypeError: Missing total label."),
    ("the shipping methods are checked before the issuers' countries",
     made(f'{{ shippingMethods: [{{ ...{METHOD}, amount: "-1.00" }}], supportedCountries: ["XX"] }}'),
     "TypeError: Shipping method amount must be greater than or equal to zero."),
]

NETWORKS = {
    1: ["amex", "chinaUnionPay", "discover", "interac", "masterCard", "privateLabel", "visa"], 2: ["jcb"],
    3: ["cartesBancaires"], 4: ["eftpos", "electron", "maestro", "vPay"], 5: ["elo", "mada"], 11: ["girocard", "mir"],
    13: ["dankort"], 14: ["bancomat", "bancontact"], 15: ["bankAxept"],
}
ON_OLD_DEVICE = """const before = applePaySandbox.device;
        applePaySandbox.setDevice({ newestVersion: VERSION });
        try { BODY } finally { applePaySandbox.setDevice(before); }"""


def on_device(version, body):
    return ON_OLD_DEVICE.replace("VERSION", str(version)).replace("BODY", body)


def network_on(version, network):
    return on_device(version, f"""
        return page.outcome(() => new ApplePaySession({version}, page.request({{ supportedNetworks: ["{network}"] }})));""")


BY_VERSION = [
    (f"{network} is a network of devices since version {version}", network_on(version, network), "fine")
    for version, networks in NETWORKS.items() for network in networks
] + [
    (f"{network} is no network of older devices than version {version}", network_on(version - 1, network), "TypeError")
    for version, networks in NETWORKS.items() for network in networks if version > 1
] + [
    ("a device that is older does not read newer members",
     on_device(11, 'return page.outcome(() => new ApplePaySession(11, page.request({ shippingContactEditingMode: "x" })));'),
     "fine"),
]

STATICS = [
    ("a device can make payments", "ApplePaySession.canMakePayments()", "true"),
    ("versions 1 to 15 are supported",
     "Array.from({ length: 15 }, (_, n) => ApplePaySession.supportsVersion(n + 1)).every(Boolean)", "true"),
    ("version 16 is not supported by this device", "ApplePaySession.supportsVersion(16)", "false"),
    ("version 0 is no question", "page.outcome(() => ApplePaySession.supportsVersion(0))", BAD),
    ("a question about a version names one", "page.outcome(() => ApplePaySession.supportsVersion())", "TypeError"),
    ("a newer device supports newer versions",
     """applePaySandbox.setDevice({ newestVersion: 16 });
        const answer = [ApplePaySession.supportsVersion(16), ApplePaySession.supportsVersion(17)].join(" ");
        applePaySandbox.setDevice({ newestVersion: 15 });
        return answer;""", "true false"),
    ("an older device supports no newer versions",
     """applePaySandbox.setDevice({ newestVersion: 3 });
        const answer = ApplePaySession.supportsVersion(4);
        applePaySandbox.setDevice({ newestVersion: 15 });
        return answer;""", "false"),
    ("the constants have their values",
     """["SUCCESS", "FAILURE", "INVALID_BILLING_POSTAL_ADDRESS", "INVALID_SHIPPING_POSTAL_ADDRESS",
         "INVALID_SHIPPING_CONTACT", "PIN_REQUIRED", "PIN_INCORRECT", "PIN_LOCKOUT"]
        .map((name) => ApplePaySession[`STATUS_${name}`])""", [0, 1, 2, 3, 4, 5, 6, 7]),
    ("an active card needs a merchant to ask for", "page.promised(() => ApplePaySession.canMakePaymentsWithActiveCard())",
     "TypeError"),
    ("an unknown merchant has no active card", 'ApplePaySession.canMakePaymentsWithActiveCard("merchant.unknown")',
     "false"),
    ("a third party's browser always claims an active card",
     """applePaySandbox.setDevice({ isThirdPartyBrowser: true });
        const answer = [await ApplePaySession.canMakePaymentsWithActiveCard("merchant.unknown"),
          (await ApplePaySession.applePayCapabilities("merchant.unknown")).paymentCredentialStatus].join(" ");
        applePaySandbox.setDevice({ isThirdPartyBrowser: false });
        return answer;""", "true paymentCredentialStatusUnknown"),
    ("a device without Apple Pay says so",
     """applePaySandbox.setDevice({ canMakePayments: false });
        const answer = [ApplePaySession.canMakePayments(),
          (await ApplePaySession.applePayCapabilities("merchant.unknown")).paymentCredentialStatus].join(" ");
        applePaySandbox.setDevice({ canMakePayments: true });
        return answer;""", "false applePayUnsupported"),
    ("an empty wallet has no active card",
     """applePaySandbox.setDevice({ cards: [] });
        const mid = page.merchant;
        const answer = [await ApplePaySession.canMakePaymentsWithActiveCard(mid),
          (await ApplePaySession.applePayCapabilities(mid)).paymentCredentialStatus].join(" ");
        applePaySandbox.setDevice({ cards: undefined });
        return answer;""", "false paymentCredentialsUnavailable"),
    ("a merchant with this domain has an active card",
     """const mid = page.merchant;
        return [await ApplePaySession.canMakePaymentsWithActiveCard(mid),
          (await ApplePaySession.applePayCapabilities(mid)).paymentCredentialStatus].join(" ");""",
     "true paymentCredentialsAvailable"),
    ("a device has no other properties", "page.outcome(() => applePaySandbox.setDevice({ colour: 'black' }))", "TypeError"),
]

ERRORS = [
    ("an error has its code, field and message",
     """const { code, contactField, message } = new ApplePayError("shippingContactInvalid", "postalCode", "Which?");
        return [code, contactField, message].join(" ");""", "shippingContactInvalid postalCode Which?"),
    ("an error without a field has none", 'String(new ApplePayError("unknown").contactField)', "null"),
    ("an error has a code", "page.outcome(() => new ApplePayError())", "TypeError"),
    ("an error's code is one of six", 'page.outcome(() => new ApplePayError("addressWrong"))', "TypeError"),
    ("an error's field is one of thirteen", 'page.outcome(() => new ApplePayError("unknown", "street"))', "TypeError"),
    ("an error's field is not null", 'page.outcome(() => new ApplePayError("unknown", null))', "TypeError"),
    ("an error is made with new", 'page.outcome(() => ApplePayError("unknown"))', "TypeError"),
    ("every code of the documentation is one",
     """["shippingContactInvalid", "billingContactInvalid", "addressUnserviceable", "couponCodeInvalid",
         "couponCodeExpired", "unknown"].map((code) => page.outcome(() => new ApplePayError(code))).join(" ")""",
     " ".join(["fine"] * 6)),
]

PRELUDE = BY_SCRIPT + """
    page.merchant = await (await fetch("/merchant")).json();
"""
for rows in (CONSTRUCTOR, ORDER, BY_VERSION, STATICS, ERRORS):
    claims_of(Rows(rows, PRELUDE), globals(), claim)


# Where and when a page may ask.

TRY = "window.tried = page.outcome(() => new ApplePaySession(14, page.request()));"


def tried(shopper):
    return shopper.until(lambda: shopper.browser.execute_script("return window.tried"), "nothing was tried")


def tap(shopper, script):
    shopper.browser.execute_script(f"window.tried = undefined; window.tapped = async () => {{ {script} }};")
    shopper.browser.find_element(By.ID, "tap").click()


@claim(page=None)
def a_session_is_made_in_a_click(shopper):
    with merchant_page(shopper):
        tap(shopper, TRY)
        assert tried(shopper) == "fine"


@claim(page=None)
def a_session_is_made_after_a_promise_that_was_kept_already(shopper):
    with merchant_page(shopper):
        tap(shopper, f"await Promise.resolve(); {TRY}")
        assert tried(shopper) == "fine"


@claim(page=None)
def a_session_without_a_click_is_refused(shopper):
    with merchant_page(shopper):
        shopper.browser.execute_script(TRY)
        assert "user gesture handler" in tried(shopper) and tried(shopper).startswith(BAD)


@claim(page=None)
def a_session_after_something_was_fetched_is_refused_and_the_console_says_why(shopper):
    with merchant_page(shopper):
        tap(shopper, f"await fetch('/'); {TRY}")
        assert tried(shopper).startswith(BAD), tried(shopper)
        errors = shopper.browser_errors()
        assert any("in another task" in error for error in errors), errors


@claim(page=None)
def a_missing_click_is_found_before_a_wrong_version(shopper):
    with merchant_page(shopper):
        shopper.browser.execute_script(TRY.replace("14", "99"))
        assert "user gesture handler" in tried(shopper)


@claim(page=None)
def the_setup_of_a_wallet_needs_a_click(shopper):
    with merchant_page(shopper):
        answer = shopper.script("return page.promised(() => ApplePaySession.openPaymentSetup('merchant.x'));")
        assert answer.startswith(f"{BAD}: Must call ApplePaySession.openPaymentSetup"), answer


@claim(page=None)
def an_insecure_page_has_no_apple_pay(shopper):
    with merchant_page(shopper) as merchant:
        with another_browser("--host-resolver-rules=MAP insecure.test 127.0.0.1") as browser:
            browser.get(merchant.address("insecure.test"))
            answers = browser.execute_script(
                """
                applePaySandbox.setDevice({ requiresGesture: false });
                return [() => ApplePaySession.canMakePayments(), () => ApplePaySession.supportsVersion(14),
                  () => new ApplePaySession(14, page.request())].map(page.outcome);
                """)
        wanted = f"{BAD}: Trying to start an Apple Pay session from an insecure document."
        assert answers == [wanted] * 3, answers
