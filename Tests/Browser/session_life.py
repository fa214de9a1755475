"""The states of a session: which calls it accepts when, which events it sends, and how long it waits. Each row
of the documentation's tables is one claim."""

from claims import claim
from merchantpage import Rows, claims_of

BAD = "InvalidAccessError"
UPDATE = "page.update()"
SELECTED = {
    "paymentmethodselected": "completePaymentMethodSelection",
    "shippingcontactselected": "completeShippingContactSelection",
    "shippingmethodselected": "completeShippingMethodSelection",
    "couponcodechanged": "completeCouponCodeChange",
}
# Everything that a sheet can ask for.
FULL = """{ requiredShippingContactFields: ["postalAddress", "name", "email", "phone"], supportsCouponCode: true,
  shippingMethods: [{ label: "Bike", detail: "", identifier: "bike", amount: "1.00" },
    { label: "Van", detail: "", identifier: "van", amount: "2.00" }] }"""

# What is called in a session that was not begun, in one that waits for nothing, and in one that is over.
METHODS = {
    "abort": "", "completeMerchantValidation": "{}", **{method: UPDATE for method in SELECTED.values()},
    "completePayment": "{ status: 0 }",
}
NOT_BEGUN = [
    (f"{method} is refused before begin",
     f"page.outcome(() => new ApplePaySession(14, page.request()).{method}({argument}))", BAD)
    for method, argument in METHODS.items()
]
WAITING_FOR_NOTHING = [
    (f"{method} is refused when nothing asked for it",
     f"""const {{ session }} = page.open();
         await applePaySandbox.waitForSheet();
         return page.outcome(() => session.{method}({argument}));""", BAD)
    for method, argument in METHODS.items() if method != "abort"
]
OVER = [
    (f"{method} is refused once it was cancelled",
     f"""const {{ session }} = page.open();
         await applePaySandbox.waitForSheet();
         await applePaySandbox.cancel();
         return page.outcome(() => session.{method}({argument}));""", BAD)
    for method, argument in METHODS.items()
]
STATES = [
    ("a session begins once",
     """const { session } = page.open();
        return page.outcome(() => session.begin());""", f"{BAD}: Payment session is already active."),
    ("a page has one sheet at a time",
     """page.open();
        return page.outcome(() => page.open());""", f"{BAD}: Page already has an active payment session."),
    ("a second session may be made while a sheet is open, and begin after it",
     """page.open();
        const session = new ApplePaySession(14, page.request());
        await applePaySandbox.cancel();
        return page.outcome(() => session.begin());""", "fine"),
    ("a session that is over does not begin again",
     """const { session } = page.open();
        await applePaySandbox.cancel();
        return page.outcome(() => session.begin());""", BAD),
    ("abort closes the sheet without a word",
     """const { session, types } = page.open();
        await applePaySandbox.waitForSheet();
        session.abort();
        return [applePaySandbox.sheet.state, document.querySelector("dialog"), types().includes("cancel")];""",
     ["aborted", None, False]),
    ("abort is refused the second time",
     """const { session } = page.open();
        session.abort();
        return page.outcome(() => session.abort());""", BAD),
    ("the merchant is validated once",
     """const { session, until } = page.open();
        await until("validatemerchant");
        await applePaySandbox.waitForSheet();
        return page.outcome(() => session.completeMerchantValidation({}));""", BAD),
    ("a merchant session is an object",
     """const { session, until } = page.open({ on: { validatemerchant: page.silent } });
        await until("validatemerchant");
        return page.outcome(() => session.completeMerchantValidation("session"));""", "TypeError"),
    ("a merchant session is not nothing",
     """const { session, until } = page.open({ on: { validatemerchant: page.silent } });
        await until("validatemerchant");
        return page.outcome(() => session.completeMerchantValidation());""", "TypeError"),
    ("a merchant session of another Apple closes the sheet",
     """const { until } = page.open({
          on: { validatemerchant: (_, session) => session.completeMerchantValidation({ merchantSessionIdentifier: "x" }) } });
        await until("cancel");
        return applePaySandbox.sheet.failure.includes("another environment");""", "true"),
    ("a merchant session that was changed closes the sheet",
     """const { until } = page.open({
          on: { validatemerchant: async (_, session) =>
            session.completeMerchantValidation({ ...await page.merchantSession(), displayName: "Harbor" }) } });
        await until("cancel");
        return applePaySandbox.sheet.failure.includes("unchanged");""", "true"),
    ("a request without supports3DS opens no sheet that can be paid",
     """const { until } = page.open({ request: { merchantCapabilities: ["supportsDebit"] } });
        await until("cancel");
        return applePaySandbox.sheet.failure;""", 'merchantCapabilities must hold "supports3DS".'),
    ("two special requests at once cancel the sheet",
     """const item = { label: "Box", amount: "9.00", paymentTiming: "recurring" };
        const { until } = page.open({ request: {
          recurringPaymentRequest: { paymentDescription: "Box", managementURL: "https://example.com",
            regularBilling: item },
          multiTokenContexts: [{ merchantIdentifier: "m", externalIdentifier: "e", merchantName: "M", amount: "1.00" }],
        } });
        await until("cancel");
        return applePaySandbox.sheet.failure.startsWith("Only one of these");""", "true"),
    ("several merchants may not ask for more than the total",
     """const part = { merchantIdentifier: "m", externalIdentifier: "e", merchantName: "M", amount: "12.51" };
        const { until } = page.open({ request: { multiTokenContexts: [part] } });
        await until("cancel");
        return applePaySandbox.sheet.failure.includes("more than the total");""", "true"),
    ("what a session was given can be changed afterwards without effect",
     """const request = page.request();
        const session = new ApplePaySession(14, request);
        request.total.amount = "0.01";
        session.begin();
        const { total } = applePaySandbox.sheet;
        return total.amount;""", "12.50"),
]

# Events and who answers them.
EVENTS = [
    ("the preselected card and address are reported, and the merchant is to be validated",
     f"""const {{ types }} = page.open({{ request: {FULL} }});
         await applePaySandbox.waitForSheet();
         return types().sort().join(" ");""",
     "paymentmethodselected shippingcontactselected validatemerchant"),
    ("a session that asks for no address reports none",
     """const { types } = page.open({ request: { requiredShippingContactFields: ["email"] } });
        await applePaySandbox.waitForSheet();
        return types().includes("shippingcontactselected");""", "false"),
    ("every choice is reported",
     f"""const {{ types }} = page.open({{ request: {FULL} }});
         await applePaySandbox.selectCard("mastercard-credit");
         await applePaySandbox.selectShippingContact("de-berlin");
         await applePaySandbox.selectShippingMethod("van");
         await applePaySandbox.enterCouponCode("LUNCH");
         await applePaySandbox.approve();
         return types().slice(-5).join(" ");""",
     "paymentmethodselected shippingcontactselected shippingmethodselected couponcodechanged paymentauthorized"),
    ("events do not bubble and come from the session",
     """const { until, session } = page.open();
        const event = await until("validatemerchant");
        return [event.bubbles, event.target === session, event.constructor.name];""",
     [False, True, "ApplePayValidateMerchantEvent"]),
    ("the address to validate at is the gateway's",
     """const { until } = page.open();
        return new URL((await until("validatemerchant")).validationURL).pathname;""", "/paymentservices/paymentSession"),
    ("before authorization a card is a type and nothing more",
     """const { until } = page.open();
        return (await until("paymentmethodselected")).paymentMethod;""", {"type": "debit"}),
    ("a card has its redacted billing address, if that was asked for",
     """const { until } = page.open({ request: { requiredBillingContactFields: ["postalAddress"] } });
        const { billingContact } = (await until("paymentmethodselected")).paymentMethod;
        return [billingContact.locality, billingContact.postalCode, billingContact.givenName ?? null];""",
     ["London", "EC1A", None]),
    ("the first shipping method is chosen, without an event",
     f"""const {{ types }} = page.open({{ request: {FULL} }});
         const {{ shippingMethod }} = await applePaySandbox.waitForSheet();
         return [shippingMethod, types().includes("shippingmethodselected")];""", ["bike", False]),
    ("a preset coupon code is shown, without an event",
     """const { types } = page.open({ request: { supportsCouponCode: true, couponCode: "HELLO" } });
        const { couponCode } = await applePaySandbox.waitForSheet();
        return [couponCode, types().includes("couponcodechanged")];""", ["HELLO", False]),
    ("devices before version 12 have no coupon codes",
     """applePaySandbox.setDevice({ newestVersion: 11 });
        page.open({ version: 11, request: { supportsCouponCode: true } });
        await applePaySandbox.waitForSheet();
        const answer = await page.promised(() => applePaySandbox.enterCouponCode("LUNCH"));
        applePaySandbox.setDevice({ newestVersion: 15 });
        return answer;""",
     "Error: The page's request does not support coupon codes."),
    ("a session of an old version has what a new device knows",
     """page.open({ version: 2, request: { supportsCouponCode: true } });
        return (await applePaySandbox.enterCouponCode("LUNCH")).couponCode;""", "LUNCH"),
    ("a handler in an attribute listens",
     """const session = new ApplePaySession(14, page.request());
        session.onpaymentmethodselected = page.silent;
        session.onvalidatemerchant = async () => session.completeMerchantValidation(await page.merchantSession());
        session.begin();
        await new Promise((resolve) => { session.onpaymentmethodselected = resolve; });
        return applePaySandbox.sheet.state;""", "paymentMethodSelected"),
    ("what was removed does not listen",
     """const session = new ApplePaySession(14, page.request());
        session.onpaymentmethodselected = page.silent;
        session.onpaymentmethodselected = null;
        session.onvalidatemerchant = async () => session.completeMerchantValidation(await page.merchantSession());
        session.begin();
        return (await applePaySandbox.waitForSheet()).state;""", "active"),
    ("a payment has its token and the contacts that were asked for",
     f"""const {{ until }} = page.open({{ request: {{ ...{FULL}, requiredBillingContactFields: ["postalAddress"] }} }});
         await applePaySandbox.approve();
         const {{ payment }} = await until("paymentauthorized");
         return [payment.token.paymentMethod.displayName, payment.token.paymentData.version,
           payment.shippingContact.emailAddress, payment.billingContact.addressLines[0],
           payment.billingContact.emailAddress ?? null];""",
     ["Visa 0492", "EC_v1", "ada@example.com", "12 Sandbox Street", None]),
    ("a payment has no contact that was not asked for",
     """const { until } = page.open();
        await applePaySandbox.approve();
        return Object.keys((await until("paymentauthorized")).payment);""", ["token"]),
    ("a completed payment closes the sheet",
     """page.open();
        const { state, status } = await applePaySandbox.approve();
        return [state, status];""", ["completed", 0]),
] + [
    (f"without a listener the engine answers {event} itself",
     f"""const {{ types }} = page.open({{ request: {FULL}, on: {{ {event}: null }} }});
         await applePaySandbox.selectCard("visa-credit");
         await applePaySandbox.selectShippingContact("fr-paris");
         await applePaySandbox.selectShippingMethod("van");
         await applePaySandbox.enterCouponCode("LUNCH");
         const {{ state, total }} = await applePaySandbox.waitForSheet();
         return [state, total.amount, types().includes("{event}")];""", ["active", "12.50", False])
    for event in SELECTED
]

ACTIONS = {
    "validatemerchant": "await until('validatemerchant');",
    "paymentmethodselected": "",
    "shippingcontactselected": "",
    "shippingmethodselected": "await applePaySandbox.waitForSheet(); applePaySandbox.selectShippingMethod('van');",
    "couponcodechanged": "await applePaySandbox.waitForSheet(); applePaySandbox.enterCouponCode('LUNCH');",
    "paymentauthorized": "await applePaySandbox.waitForSheet(); applePaySandbox.approve();",
}
# Thirty seconds, on a clock that the test holds.
BUDGETS = [
    (f"{event} that is not answered ends the sheet after 30 seconds and not before",
     f"""applePaySandbox.clock.hold();
         const {{ until, types, validated }} = page.open({{ request: {FULL}, on: {{ {event}: page.silent }} }});
         {action}
         await until("{event}");
         {"" if event == "validatemerchant" else "await validated();"}
         await applePaySandbox.clock.advance(29_999);
         const before = types().includes("cancel");
         await applePaySandbox.clock.advance(1);
         await until("cancel");
         return [before, applePaySandbox.sheet.state, applePaySandbox.sheet.failure.includes("{event}")];""",
     [False, "canceled", True])
    for event, action in ACTIONS.items()
] + [
    ("an answer in time stops the clock",
     f"""applePaySandbox.clock.hold();
         const {{ until, types, session, validated }} = page.open(
           {{ request: {FULL}, on: {{ paymentmethodselected: page.silent }} }});
         await until("paymentmethodselected");
         await validated();
         await applePaySandbox.clock.advance(29_000);
         session.completePaymentMethodSelection(page.update());
         await applePaySandbox.waitForSheet();
         await applePaySandbox.clock.advance(60_000);
         return [types().includes("cancel"), applePaySandbox.sheet.state];""", [False, "active"]),
    ("an answer that comes too late is refused",
     """applePaySandbox.clock.hold();
        const { until, session, validated } = page.open({ on: { paymentmethodselected: page.silent } });
        await until("paymentmethodselected");
        await validated();
        await applePaySandbox.clock.advance(30_000);
        return page.outcome(() => session.completePaymentMethodSelection(page.update()));""", BAD),
    ("a clock that is released goes on with the time that was left",
     """applePaySandbox.clock.hold();
        const { until, types } = page.open({ on: { paymentmethodselected: page.silent } });
        await until("paymentmethodselected");
        await applePaySandbox.clock.advance(29_900);
        applePaySandbox.clock.release();
        await until("cancel");
        return applePaySandbox.sheet.state;""", "canceled"),
]

CANCELLING = [
    ("cancel is reported once",
     """const { types } = page.open();
        await applePaySandbox.waitForSheet();
        await applePaySandbox.cancel();
        return types().filter((type) => type === "cancel").length;""", "1"),
    ("cancel may come before the merchant is validated",
     """const { until } = page.open({ on: { validatemerchant: page.silent } });
        await applePaySandbox.cancel();
        await until("cancel");
        return applePaySandbox.sheet.state;""", "canceled"),
    ("cancel may come while an answer is awaited",
     """const { until } = page.open({ on: { paymentmethodselected: page.silent } });
        await until("paymentmethodselected");
        await applePaySandbox.cancel();
        await until("cancel");
        return applePaySandbox.sheet.state;""", "canceled"),
    ("cancel may come after the payment was authorized, and its result is refused then",
     """const { until, session } = page.open({ on: { paymentauthorized: page.silent } });
        await applePaySandbox.waitForSheet();
        applePaySandbox.approve();
        await until("paymentauthorized");
        await applePaySandbox.cancel();
        await until("cancel");
        return page.outcome(() => session.completePayment({ status: 0 }));""", BAD),
    ("after a cancelled sheet another one pays",
     """page.open();
        await applePaySandbox.cancel();
        page.open();
        return (await applePaySandbox.approve()).state;""", "completed"),
]


def answered(event, body, request=FULL, version=14):
    """A sheet up to the event, and then whatever the body makes of `call`, `session` and `after()`."""
    return f"""const {{ until, session, types }} = page.open(
          {{ version: {version}, request: {request}, on: {{ {event}: page.silent }} }});
        {ACTIONS[event]}
        await until("{event}");
        const after = async () => (await applePaySandbox.waitForSheet());
        {body}"""


# What an answer may bring beside sums and methods, and a word of it in the sheet.
AGREED = [
    ("newRecurringPaymentRequest",
     """{ paymentDescription: "A box of fish", managementURL: "https://example.com",
          regularBilling: { label: "Box", amount: "9.00", paymentTiming: "recurring" } }""", "A box of fish"),
    ("newAutomaticReloadPaymentRequest",
     """{ paymentDescription: "A card that fills itself", managementURL: "https://example.com",
          automaticReloadBilling: { label: "Reload", amount: "20.00", paymentTiming: "automaticReload",
            automaticReloadPaymentThresholdAmount: "5.00" } }""", "A card that fills itself"),
    ("newDeferredPaymentRequest",
     """{ paymentDescription: "A room by the sea", managementURL: "https://example.com",
          deferredBilling: { label: "Room", amount: "90.00", paymentTiming: "deferred",
            deferredPaymentDate: new Date(Date.UTC(2030, 1, 1)) } }""", "A room by the sea"),
    ("newMultiTokenContexts",
     '[{ merchantIdentifier: "m", externalIdentifier: "e", merchantName: "The Fishmonger", amount: "1.00" }]',
     "The Fishmonger"),
]

DICTIONARIES = [
    (f"{method} {what}",
     answered(event, f"return page.outcome(() => session.{method}({argument}));"), wanted)
    for event, method in SELECTED.items()
    for what, argument, wanted in (
        ("wants an argument", "", "TypeError"), ("wants an object", '"update"', "TypeError"),
        ("wants a new total", "{}", "TypeError"),
        ("wants a total with a label", '{ newTotal: { label: "", amount: "1.00" } }', "TypeError"),
        ("wants a total that is an amount", '{ newTotal: { label: "Shop", amount: "1,5" } }', "TypeError"),
        ("wants line items that are amounts",
         '{ ...page.update(), newLineItems: [{ label: "Soup", amount: "x" }] }', "TypeError"),
        ("wants shipping methods that are whole",
         '{ ...page.update(), newShippingMethods: [{ label: "Van", amount: "1.00" }] }', "TypeError"),
        ("takes a new total", "page.update()", "fine"),
    )
] + [
    (f"{method} wants errors that are ApplePayErrors",
     answered(event, f"""return page.outcome(() =>
       session.{method}({{ ...page.update(), errors: [{{ code: "unknown" }}] }}));"""), "TypeError")
    for event, method in SELECTED.items() if event != "shippingmethodselected"
] + [
    (f"an answer by {method} is shown",
     answered(event, f"""session.{method}({{ newTotal: {{ label: "Harbour Kitchen", amount: "13.00" }},
         newLineItems: [{{ label: "Soup", amount: "13.00" }}] }});
       const {{ total, lineItems }} = await after();
       return [total.amount, lineItems.length];""",
              **({"request": "{}"} if event == "paymentmethodselected" else {})), ["13.00", 1])
    for event, method in SELECTED.items()
] + [
    ("completeShippingMethodSelection has no errors",
     answered("shippingmethodselected", """
       session.completeShippingMethodSelection({ ...page.update(), errors: [new ApplePayError("unknown")] });
       return (await after()).errors;"""), []),
    ("new shipping methods keep the chosen one if it is among them",
     answered("shippingmethodselected", """
       session.completeShippingMethodSelection({ ...page.update(), newShippingMethods: [
         { label: "Foot", detail: "", identifier: "foot", amount: "0.00" },
         { label: "Van", detail: "", identifier: "van", amount: "2.00" }] });
       return (await after()).shippingMethod;"""), "van"),
    ("new shipping methods without the chosen one begin at the first",
     answered("shippingcontactselected", """
       session.completeShippingContactSelection({ ...page.update(), newShippingMethods: [
         { label: "Foot", detail: "", identifier: "foot", amount: "0.00" }] });
       return (await after()).shippingMethod;"""), "foot"),
    ("a card's answer brings shipping methods and errors, in old sessions, too",
     answered("paymentmethodselected", """
       session.completePaymentMethodSelection({ ...page.update(), errors: [new ApplePayError("unknown")],
         newShippingMethods: [{ label: "Foot", detail: "", identifier: "foot", amount: "0.00" }] });
       const { shippingMethod, errors } = await after();
       return [shippingMethod, errors.map(({ code }) => code)];""",
              request="{ shippingMethods: [{ label: 'Bike', detail: '', identifier: 'bike', amount: '1.00' }] }",
              version=3), ["foot", ["unknown"]]),
] + [
    (f"{method} brings {member}, on devices since version 14",
     f"""const isShownOn = async (newestVersion) => {{
           applePaySandbox.setDevice({{ newestVersion }});
           const {{ until, session }} = page.open({{ version: 3, request: {FULL}, on: {{ {event}: page.silent }} }});
           {ACTIONS[event]}
           await until("{event}");
           session.{method}({{ ...page.update(), {member}: {value} }});
           await applePaySandbox.waitForSheet();
           const isShown = document.querySelector("dialog .aps-agreement").textContent.includes({text!r});
           await applePaySandbox.cancel();
           applePaySandbox.setDevice({{ newestVersion: 15 }});
           return isShown;
         }};
         return [await isShownOn(14), await isShownOn(13)];""", [True, False])
    for event, method in SELECTED.items() if event != "couponcodechanged" for member, value, text in AGREED
] + [
    (f"completeCouponCodeChange brings {member}",
     answered("couponcodechanged", f"""
       session.completeCouponCodeChange({{ ...page.update(), {member}: {value} }});
       await after();
       return document.querySelector("dialog .aps-agreement").textContent.includes({text!r});"""), "true")
    for member, value, text in AGREED
] + [
    ("an agreement that is not whole is refused",
     answered("paymentmethodselected", """return page.outcome(() => session.completePaymentMethodSelection(
       { ...page.update(), newRecurringPaymentRequest: { paymentDescription: "Box" } }));"""), "TypeError"),
    ("a new total may be zero",
     answered("paymentmethodselected", """return page.outcome(() => session.completePaymentMethodSelection(
       { newTotal: { label: "Shop", amount: "0.00" } }));""", request="{}", version=3), "fine"),
    ("a refused answer can be given again, rightly",
     answered("paymentmethodselected", """page.outcome(() => session.completePaymentMethodSelection({}));
       return page.outcome(() => session.completePaymentMethodSelection(page.update()));"""), "fine"),
    ("an answer is given once",
     answered("paymentmethodselected", """session.completePaymentMethodSelection(page.update());
       return page.outcome(() => session.completePaymentMethodSelection(page.update()));""", request="{}"), BAD),
]

TOTAL = '{ label: "Harbour Kitchen", amount: "13.00" }'
METHOD = '{ label: "Foot", detail: "", identifier: "foot", amount: "0.00" }'
POSITIONAL = [
    (f"completePaymentMethodSelection takes a total and items in version {version}",
     answered("paymentmethodselected", f"""session.completePaymentMethodSelection({TOTAL}, []);
       return (await after()).total.amount;""", request="{}", version=version), "13.00") for version in (1, 2, 14)
] + [
    ("completeShippingContactSelection takes a status, methods, a total and items",
     answered("shippingcontactselected", f"""session.completeShippingContactSelection(0, [{METHOD}], {TOTAL}, []);
       const {{ shippingMethod, total, errors }} = await after();
       return [shippingMethod, total.amount, errors.length];""", version=2), ["foot", "13.00", 0]),
    ("completeShippingMethodSelection takes a status, a total and items",
     answered("shippingmethodselected", f"""session.completeShippingMethodSelection(0, {TOTAL}, []);
       return (await after()).total.amount;""", version=2), "13.00"),
    ("completeShippingMethodSelection with a failure cancels the sheet, whatever the others are",
     answered("shippingmethodselected", """session.completeShippingMethodSelection(1, null, null);
       await until("cancel");
       return applePaySandbox.sheet.state;""", version=2), "canceled"),
    ("completeShippingMethodSelection with a status that is none is refused",
     answered("shippingmethodselected",
              "return page.outcome(() => session.completeShippingMethodSelection(9, null, null));"), BAD),
    ("completeShippingContactSelection with a status that is none is refused",
     answered("shippingcontactselected",
              f"return page.outcome(() => session.completeShippingContactSelection(9, [], {TOTAL}, []));"), BAD),
    ("completeShippingContactSelection with too few positions is refused",
     answered("shippingcontactselected", "return page.outcome(() => session.completeShippingContactSelection(0, []));"),
     "TypeError"),
] + [
    (f"status {status} of completeShippingContactSelection is {code}",
     answered("shippingcontactselected", f"""
       session.completeShippingContactSelection({status}, [{METHOD}], {TOTAL}, []);
       return (await after()).errors.map(({{ code, contactField }}) => [code, contactField].join(" "));"""), [code])
    for status, code in ((1, "unknown "), (2, "billingContactInvalid "), (3, "shippingContactInvalid postalAddress"),
                         (4, "shippingContactInvalid "), (5, "unknown "), (6, "unknown "), (7, "unknown "))
]


def paid(argument, then="const { state, status, errors, canPay } = applePaySandbox.sheet;"
                        " return [state, status, errors.map(({ code }) => code).join(), canPay];"):
    return answered("paymentauthorized", f"session.completePayment({argument}); {then}")


PAYMENT = [
    ("completePayment wants an argument",
     answered("paymentauthorized", "return page.outcome(() => session.completePayment());"), "TypeError"),
    ("completePayment wants a status",
     answered("paymentauthorized", "return page.outcome(() => session.completePayment({}));"), "TypeError"),
    ("completePayment refuses nothing at all",
     answered("paymentauthorized", "return page.outcome(() => session.completePayment(undefined));"), "TypeError"),
    ("completePayment refuses a status that is none",
     answered("paymentauthorized", "return page.outcome(() => session.completePayment({ status: 8 }));"), BAD),
    ("completePayment wants errors that are ApplePayErrors",
     answered("paymentauthorized", "return page.outcome(() => session.completePayment({ status: 1, errors: [{}] }));"),
     "TypeError"),
    ("completePayment wants order details that are whole",
     answered("paymentauthorized",
              "return page.outcome(() => session.completePayment({ status: 0, orderDetails: {} }));"), "TypeError"),
    ("completePayment takes an order to follow in the wallet",
     paid("""{ status: 0, orderDetails: { orderTypeIdentifier: "order.test", orderIdentifier: "1",
       webServiceURL: "https://example.com", authenticationToken: "secret" } }"""), ["completed", 0, "", False]),
    ("completePayment is given once",
     paid("0", "return page.outcome(() => session.completePayment(0));"), BAD),
    ("success as a number completes", paid("0"), ["completed", 0, "", False]),
    ("success in a dictionary completes", paid("{ status: 0 }"), ["completed", 0, "", False]),
    ("failure as a number completes", paid("1"), ["completed", 1, "", False]),
    ("failure without errors completes", paid("{ status: 1, errors: [] }"), ["completed", 1, "", False]),
    ("failure with an unknown error leaves the sheet open for another try",
     paid('{ status: 1, errors: [new ApplePayError("unknown")] }'), ["active", 1, "unknown", True]),
    ("failure with a wrong contact leaves the sheet open, and Pay waits for another",
     paid('{ status: 1, errors: [new ApplePayError("shippingContactInvalid", "phoneNumber")] }'),
     ["active", 1, "shippingContactInvalid", False]),
    ("failure with an address that is not served leaves the sheet open, and Pay waits for another",
     paid('{ status: 1, errors: [new ApplePayError("addressUnserviceable")] }'),
     ["active", 1, "addressUnserviceable", False]),
    ("status 2 is an invalid billing address", paid("2"), ["active", 2, "billingContactInvalid", False]),
    ("status 3 is an invalid shipping address", paid("3"), ["active", 3, "shippingContactInvalid", False]),
    ("status 4 is an invalid shipping contact", paid("4"), ["active", 4, "shippingContactInvalid", False]),
    ("status 5 asks for a PIN", paid("5"), ["active", 5, "", True]),
    ("status 6 asks for another PIN", paid("6"), ["active", 6, "", True]),
    ("status 7 ends the asking for PINs", paid("7"), ["active", 7, "", False]),
    ("after a wrong contact another one pays, in the same sheet",
     """let tries = 0;
        const { types } = page.open({
          request: { requiredShippingContactFields: ["postalAddress", "phone"] },
          on: { paymentauthorized: (_, session) => session.completePayment(++tries > 1 ? { status: 0 } : {
            status: 1, errors: [new ApplePayError("shippingContactInvalid", "phoneNumber", "Which number?")] }) } });
        const refused = await applePaySandbox.approve();
        const chosen = await applePaySandbox.selectShippingContact("us-arlington");
        const { state } = await applePaySandbox.approve();
        return [refused.state, refused.errors[0].message, chosen.errors.length, state,
          types().filter((type) => type === "paymentauthorized").length];""",
     ["active", "Which number?", 0, "completed", 2]),
    ("after a wrong billing address another one pays, in the same sheet",
     """let tries = 0;
        page.open({
          request: { requiredBillingContactFields: ["postalAddress"] },
          on: { paymentauthorized: (_, session) => session.completePayment(++tries > 1 ? { status: 0 } : {
            status: 1, errors: [new ApplePayError("billingContactInvalid", "postalCode")] }) } });
        const refused = await applePaySandbox.approve();
        await applePaySandbox.selectBillingContact("fr-paris");
        return [refused.canPay, (await applePaySandbox.approve()).state];""", [False, "completed"]),
    ("an address that is not served is refused until another is chosen",
     """page.open({
          request: { requiredShippingContactFields: ["postalAddress"] },
          on: { shippingcontactselected: ({ shippingContact }, session) => session.completeShippingContactSelection({
            ...page.update(), errors: shippingContact.countryCode === "AQ"
              ? [new ApplePayError("addressUnserviceable", undefined, "Too cold")] : [] }) } });
        const there = await applePaySandbox.selectShippingContact("aq-undeliverable");
        const refusal = await page.promised(() => applePaySandbox.approve());
        const { canPay } = await applePaySandbox.selectShippingContact("de-berlin");
        return [there.canPay, refusal, canPay];""",
     [False, "Error: Choose another address to go on.", True]),
    ("a wrong coupon does not keep from paying",
     """page.open({ request: { supportsCouponCode: true },
          on: { couponcodechanged: (_, session) => session.completeCouponCodeChange({
            ...page.update(), errors: [new ApplePayError("couponCodeExpired")] }) } });
        const { errors, canPay } = await applePaySandbox.enterCouponCode("OLD");
        return [errors[0].code, canPay];""", ["couponCodeExpired", True]),
    ("a pending total signs nothing and is paid",
     """page.open({ request: { total: { label: "Taxi", amount: "1.00", type: "pending" } } });
        return (await applePaySandbox.approve()).state;""", "completed"),
    ("a card that the shop does not take cannot be chosen",
     """page.open({ request: { supportedNetworks: ["masterCard"] } });
        const { card } = await applePaySandbox.waitForSheet();
        return [card, await page.promised(() => applePaySandbox.selectCard("visa-debit"))];""",
     ["mastercard-credit", 'Error: No card "visa-debit" can pay here.']),
    ("a shop that takes debit cards only is offered no credit card",
     """page.open({ request: { merchantCapabilities: ["supports3DS", "supportsDebit"] } });
        return page.promised(() => applePaySandbox.selectCard("visa-credit"));""",
     'Error: No card "visa-credit" can pay here.'),
    ("a wallet without a card that the shop takes closes the sheet",
     """applePaySandbox.setDevice({ cards: ["visa-debit"] });
        const { until } = page.open({ request: { supportedNetworks: ["amex"] } });
        await until("cancel");
        applePaySandbox.setDevice({ cards: undefined });
        return applePaySandbox.sheet.failure;""", "No card in the simulated wallet can pay here."),
]

for rows in (NOT_BEGUN, WAITING_FOR_NOTHING, OVER, STATES, EVENTS, BUDGETS, CANCELLING, DICTIONARIES, POSITIONAL, PAYMENT):
    claims_of(Rows(rows), globals(), claim)
