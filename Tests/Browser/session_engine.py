"""The simulated engine, word for word: which class and which message WebKit has for what a page does wrong, and what it does
with a payment request. `engine-messages.txt` is the table of messages; each of its sections is one claim, in one page."""

import pathlib

from claims import claim
from merchantpage import BY_SCRIPT, Merchant, Rows, claims_of
from session_payment_request import PRELUDE

# What each section calls, with its condition for CHANGE.
SESSION = "const request = page.request(); CHANGE; new ApplePaySession(VERSION, request);"
NEWEST = SESSION.replace("VERSION", "14")


def answer_in_sheet(event, method, request="{}", before=""):
    """An answer to the event of a session: the sheet is closed afterwards."""
    return f"""
        const {{ session, until }} = page.open({{ on: {{ {event}: page.silent }}, request: {request} }});
        {before}
        await until("{event}");
        let update = page.update();
        CHANGE;
        try {{ session.{method}(update); }} finally {{ session.abort(); }}"""


CALLS = {
    "special requests of a session": NEWEST,
    "order of the checks of a session": NEWEST,
    "new PaymentRequest([{ supportedMethods, data }], details)":
        "const { data } = method(); CHANGE; new PaymentRequest([{ supportedMethods, data }], details());",
    "new PaymentRequest([method()], details, { requestShipping: true })":
        "const details = detailsOf(); CHANGE; new PaymentRequest([method()], details, { requestShipping: true });",
    "calls": "CHANGE;",
    "await new PaymentRequest([method], details, { requestShipping: true }).show()":
        "const method = methodOf(); const details = detailsOf(); CHANGE;"
        " await new PaymentRequest([method], details, { requestShipping: true }).show();",
    "updateWith(update)":
        "let update; CHANGE; const request = ask([method()], details(), { requestShipping: true },"
        " { paymentmethodchange: (event) => event.updateWith(update) }); await request.show();",
    "event.complete(session)":
        "let session; CHANGE; const request = ask(); request.onmerchantvalidation ="
        " (event) => event.complete(session); await request.show();",
    "session.completePaymentMethodSelection(update)":
        answer_in_sheet("paymentmethodselected", "completePaymentMethodSelection"),
    "session.completeShippingContactSelection(update)": answer_in_sheet(
        "shippingcontactselected", "completeShippingContactSelection",
        '{ requiredShippingContactFields: ["postalAddress"] }'),
    "session.completePayment(update)": answer_in_sheet(
        "paymentauthorized", "completePayment",
        before="await applePaySandbox.waitForSheet(); applePaySandbox.approve();"),
    "await response.complete(result, details)":
        "const shown = ask().show(); await applePaySandbox.waitForSheet(); applePaySandbox.approve();"
        " const response = await shown; let result; let details; CHANGE;"
        " try { await response.complete(result, details); } finally { await applePaySandbox.cancel(); }",
}
WORDS = PRELUDE + """
    const supportedMethods = "https://apple.com/apple-pay";
    const [methodOf, detailsOf] = [method, details];
    const url = "https://example.com";
    const recurring = (changes) => ({ paymentDescription: "Box", managementURL: url,
      regularBilling: { label: "Box", amount: "9.00", paymentTiming: "recurring" }, ...changes });
    const reload = (changes) => ({ paymentDescription: "Card", managementURL: url,
      automaticReloadBilling: { label: "Reload", amount: "20.00", paymentTiming: "automaticReload",
        automaticReloadPaymentThresholdAmount: "5.00" }, ...changes });
    const deferred = (changes) => ({ paymentDescription: "Room", managementURL: url,
      deferredBilling: { label: "Room", amount: "90.00", paymentTiming: "deferred" }, ...changes });
"""


def sections():
    """The table's sections: their calls, and `(condition, outcome)` of each line."""
    found, section = {}, None
    for line in pathlib.Path(__file__).with_name("engine-messages.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            section = found.setdefault(line[3:], [])
        elif line and not line.startswith("#"):
            section.append(tuple(line.split(" → ")))
    return found


def call(section):
    if section not in CALLS:  # new ApplePaySession(VERSION, request)
        return SESSION.replace("VERSION", section.split("(")[1].split(",")[0])
    return CALLS[section]


def outcomes(shopper, section, conditions):
    """How each condition ends in this page, one after the other."""
    steps = [f"async () => {{ {call(section).replace('CHANGE', condition)} }}" for condition in conditions]
    return shopper.script(WORDS + f"""
        const found = [];
        for (const step of [{", ".join(steps)}]) {{
          found.push(await step().then(() => "fine", (error) => `${{error.name}}: ${{error.message}}`));
          const state = applePaySandbox.sheet?.state;
          if (![undefined, "aborted", "completed", "canceled"].includes(state)) await applePaySandbox.cancel();
        }}
        return found;""")


def claim_of(section, rows):
    def check(shopper):
        shopper.browser.get(Merchant.of(shopper.demo).address())
        found = outcomes(shopper, section, [condition for condition, _ in rows])
        wrong = [f"{condition}: {outcome!r}, and not {wanted!r}"
                 for (condition, wanted), outcome in zip(rows, found) if outcome != wanted]
        shopper.browser_errors()  # the engine's advice
        assert not wrong, f"{len(wrong)} of {len(rows)}: " + "; ".join(wrong)

    name = f"the engine s words for {section}"
    check.__name__ = "_".join("".join(letter if letter.isalnum() else " " for letter in name).split())
    check.__module__ = __name__
    return claim(page=None)(check)


globals().update((found.__name__, found) for found in (claim_of(*section) for section in sections().items()))


# What the engine does with a payment request, where no exception tells.

SPECIAL_WORDS = {
    "recurringPaymentRequest": ("recurring({ paymentDescription: 'A box of fish' })", "A box of fish"),
    "automaticReloadPaymentRequest": ("reload({ paymentDescription: 'A card that fills' })", "A card that fills"),
    "deferredPaymentRequest": ("deferred({ paymentDescription: 'A room by the sea' })", "A room by the sea"),
    "multiTokenContexts": (
        '[{ merchantIdentifier: "m", externalIdentifier: "e", merchantName: "The Fishmonger", amount: "1.00" }]',
        "The Fishmonger"),
}
AGREEMENT = 'document.querySelector("dialog .aps-agreement")?.textContent ?? ""'
MODIFIERS = [
    (f"{member} of a modifier is agreed to in the sheet, and one of the method's data is not",
     f"""const isShown = async (method, details) => {{
           const shown = failed(ask([method], details).show());
           await applePaySandbox.waitForSheet();
           const answer = ({AGREEMENT}).includes({text!r});
           await applePaySandbox.cancel();
           await shown;
           return answer;
         }};
         const modifiers = [{{ supportedMethods, data: {{ {member}: {value} }} }}];
         return [await isShown(method(), details({{ modifiers }})), await isShown(method({{ {member}: {value} }}), details())];
      """, [True, False]) for member, (value, text) in SPECIAL_WORDS.items()
] + [
    (f"{member} of an update's modifier is agreed to in the sheet",
     f"""const shown = failed(ask([method()], details(), {{}}, {{ paymentmethodchange: (event) => event.updateWith(
           {{ modifiers: [{{ supportedMethods, data: {{ {member}: {value} }} }}] }}) }}).show());
         await applePaySandbox.waitForSheet();
         const answer = ({AGREEMENT}).includes({text!r});
         await applePaySandbox.cancel();
         await shown;
         return answer;""", "true") for member, (value, text) in SPECIAL_WORDS.items()
] + [
    ("a modifier without data counts for nothing",
     """const modifiers = [{ supportedMethods, total: { label: "Shop", amount: sum("99") } }];
        const shown = failed(ask([method()], details({ modifiers })).show());
        const { total } = await applePaySandbox.waitForSheet();
        await applePaySandbox.cancel();
        await shown;
        return total.amount;""", "12.50"),
    ("a modifier brings line items and shipping methods",
     """const modifiers = [{ supportedMethods, data: { additionalLineItems: [{ label: "Bag", amount: "0.20" }],
          additionalShippingMethods: [{ label: "Foot", detail: "", identifier: "foot", amount: "0" }] } }];
        const shown = failed(ask([method()], details({ modifiers, displayItems: [{ label: "Soup", amount: sum("12") }] }),
          { requestShipping: true }, { shippingaddresschange: (event) => event.updateWith({}) }).show());
        const { lineItems, shippingMethods } = await applePaySandbox.waitForSheet();
        await applePaySandbox.cancel();
        await shown;
        return [lineItems.map(({ label }) => label), shippingMethods.map(({ identifier }) => identifier)];""",
     [["Soup", "Bag"], ["foot"]]),
]

ERRORS = [
    ("an update's error without shipping options is one of the shipping contact, and an empty one is, too",
     """const errors = async (error) => {
          const shown = failed(ask([method()], details(), { requestShipping: true },
            { shippingaddresschange: (event) => event.updateWith({ error }) }).show());
          const { errors } = await applePaySandbox.waitForSheet();
          await applePaySandbox.cancel();
          await shown;
          return errors.map(({ code, contactField, message }) => [code, contactField, message]);
        };
        return [await errors("Not there"), await errors("")];""",
     [[["shippingContactInvalid", None, "Not there"]], [["shippingContactInvalid", None, ""]]]),
    ("an update's error with shipping options is not shown, and no error of an address",
     """const shown = failed(ask([method()], details({ shippingOptions: options }), { requestShipping: true },
          { shippingaddresschange: (event) => event.updateWith({ error: "No", shippingAddressErrors: { city: "Where?" } }) })
          .show());
        const { errors } = await applePaySandbox.waitForSheet();
        await applePaySandbox.cancel();
        await shown;
        return errors;""", []),
    ("payer errors are shown where they were asked for, in the order of name, e-mail and phone",
     """const errors = async (asked) => {
          const shown = ask([method()], details(), asked).show();
          await applePaySandbox.waitForSheet();
          const approved = applePaySandbox.approve();
          const retried = failed((await shown).retry({ payer: { phone: "p", email: "e", name: "n" } }));
          const { errors } = await approved;
          await applePaySandbox.cancel();
          await retried;
          return errors.map(({ contactField }) => contactField);
        };
        return [await errors({ requestPayerPhone: true, requestPayerName: true, requestPayerEmail: true }),
          await errors({ requestPayerPhone: true }), await errors({})];""",
     [["name", "emailAddress", "phoneNumber"], ["phoneNumber"], [None]]),
    ("errors of the method that are none are lost in an update, and refused by retry",
     """const shown = ask([method()], details(), {}, { paymentmethodchange: (event) => event.updateWith(
          { paymentMethodErrors: [new ApplePayError("unknown"), {}] }) }).show();
        const { errors } = await applePaySandbox.waitForSheet();
        applePaySandbox.approve();
        const response = await shown;
        const refused = await failed(response.retry({ paymentMethod: [{}] }));
        await response.complete("success");
        return [errors.length, refused];""", [0, "TypeError: Type error"]),
]

LIFE = [
    ("a billing address is asked for by an option",
     """const shown = ask([method()], details(), { requestBillingAddress: true }).show();
        await applePaySandbox.waitForSheet();
        const approved = applePaySandbox.approve();
        const response = await shown;
        await response.complete("success");
        await approved;
        return response.details.billingContact.addressLines;""", ["12 Sandbox Street", "Flat 3"]),
    ("show opens the sheet at once and takes promised details when they come",
     """let resolve;
        const promised = new Promise((one) => { resolve = one; });
        const shown = failed(ask().show(promised));
        const { total } = applePaySandbox.sheet;
        resolve({ total: { label: "Harbour Kitchen", amount: sum("20") } });
        const after = await applePaySandbox.waitForSheet();
        await applePaySandbox.cancel();
        await shown;
        return [total.amount, after.total.amount];""", ["12.50", "20"]),
    ("details that show is promised are checked",
     'failed(ask().show({ total: { label: "Harbour Kitchen", amount: sum("x") } }))',
     'TypeError: "x" is not a valid decimal monetary value.'),
    ("details that were promised and do not come are an AbortError", "failed(ask().show(Promise.reject(new Error('no'))))",
     "AbortError: The operation was aborted."),
    ("a sheet that is closed while the page owes an update rejects show only when that is settled",
     """let resolve;
        const promised = new Promise((one) => { resolve = one; });
        let answer = "open";
        const shown = failed(ask([method()], details(), {}, {
          paymentmethodchange: (event) => event.updateWith(promised) }).show()).then((one) => { answer = one; });
        while (applePaySandbox.sheet.state !== "paymentMethodSelected") await new Promise((one) => setTimeout(one, 20));
        await new Promise((one) => setTimeout(one, 50));
        await applePaySandbox.cancel();
        await new Promise((one) => setTimeout(one, 50));
        const before = answer;
        resolve({});
        await shown;
        return [before, answer];""", ["open", "AbortError: The operation was aborted."]),
    ("an update that is not given in the handler is warned of, and still taken",
     """const warned = [];
        const { warn } = console;
        console.warn = (text) => warned.push(text);
        let event;
        const shown = failed(ask([method()], details(), {}, { paymentmethodchange: (one) => { event = one; } }).show());
        while (!event) await new Promise((one) => setTimeout(one, 20));
        console.warn = warn;
        event.updateWith({ total: { label: "Harbour Kitchen", amount: sum("13") } });
        const { total } = await applePaySandbox.waitForSheet();
        const again = page.outcome(() => event.updateWith({}));
        await applePaySandbox.cancel();
        await shown;
        return [warned.filter((text) => text.startsWith("updateWith")), total.amount, again];""",
     [['updateWith() should be called synchronously when handling "paymentmethodchange".'], "13",
      "InvalidStateError: The object is in an invalid state."]),
    ("a second request that is refused is closed",
     """const shown = failed(ask().show());
        await applePaySandbox.waitForSheet();
        const other = ask();
        const refused = [await failed(other.show()), await failed(other.canMakePayment()), await failed(other.abort())];
        await applePaySandbox.cancel();
        await shown;
        return [...refused, await failed(other.show())];""",
     ["AbortError: The operation was aborted.", *["InvalidStateError: The object is in an invalid state."] * 3]),
    ("a request is not aborted while its page asks for another try",
     """const request = ask();
        const shown = request.show();
        await applePaySandbox.waitForSheet();
        const approved = applePaySandbox.approve();
        const response = await shown;
        const retried = failed(response.retry());
        await approved;
        const refused = [await failed(request.abort()), await failed(response.complete()), await failed(response.retry())];
        await applePaySandbox.cancel();
        return [...refused, await retried, await failed(response.complete())];""",
     [*["InvalidStateError: The object is in an invalid state."] * 3, "AbortError: The operation was aborted.",
      "InvalidStateError: The object is in an invalid state."]),
    ("a response is completed after its sheet was closed in vain",
     """const shown = ask().show();
        await applePaySandbox.waitForSheet();
        applePaySandbox.approve();
        const response = await shown;
        await applePaySandbox.cancel();
        return failed(response.complete("success"));""", "AbortError: The operation was aborted."),
    ("an order to follow comes with the result",
     """const orderDetails = { orderTypeIdentifier: "order.test", orderIdentifier: "1", webServiceURL: "https://example.com",
          authenticationToken: "secret" };
        const shown = ask().show();
        await applePaySandbox.waitForSheet();
        const approved = applePaySandbox.approve();
        await (await shown).complete("success", { data: { orderDetails } });
        const { state, orderDetails: taken } = await approved;
        return [state, taken.orderIdentifier];""", ["completed", "1"]),
    ("a result that is left out is a success, and an unknown one a failure",
     """const status = async (...result) => {
          const shown = ask().show();
          await applePaySandbox.waitForSheet();
          const approved = applePaySandbox.approve();
          await (await shown).complete(...result);
          return (await approved).status;
        };
        return [await status(), await status("unknown"), await status("fail"), await status("success")];""", [0, 1, 1, 0]),
    ("responses and addresses are of their classes, and an address's lines are frozen",
     """const shown = ask([method()], details(), { requestShipping: true }, {
          shippingaddresschange: (event) => event.updateWith({}) }).show();
        await applePaySandbox.waitForSheet();
        const approved = applePaySandbox.approve();
        const response = await shown;
        await response.complete();
        await approved;
        const { shippingAddress } = response;
        return [response instanceof PaymentResponse, shippingAddress instanceof PaymentAddress,
          Object.isFrozen(shippingAddress.addressLine), Object.keys(shippingAddress.toJSON()).length,
          Object.prototype.toString.call(response), Object.keys(response).length, response.toJSON().methodName];""",
     [True, True, True, 10, "[object PaymentResponse]", 0, "https://apple.com/apple-pay"]),
    ("events of a request are of their classes",
     """const seen = [];
        const request = ask([method()], details(), {}, { paymentmethodchange: (event) => {
          seen.push(event instanceof PaymentMethodChangeEvent, event instanceof PaymentRequestUpdateEvent, event.methodName);
          event.updateWith({});
        } });
        request.addEventListener("merchantvalidation", (event) => seen.push(event instanceof MerchantValidationEvent), {
          capture: true });
        const shown = failed(request.show());
        await applePaySandbox.waitForSheet();
        await applePaySandbox.cancel();
        await shown;
        return seen.sort();""", ["https://apple.com/apple-pay", True, True]),
    ("editing mode enabled is deprecated, and the console says so",
     """const warned = [];
        const { warn } = console;
        console.warn = (text) => warned.push(text);
        const { session } = page.open({ request: { shippingContactEditingMode: "enabled" } });
        console.warn = warn;
        session.abort();
        return warned.filter((text) => text.includes("deprecated"));""",
     ["`enabled` is a deprecated value for `shippingContactEditingMode`. Please use `available` instead."]),
    ("a line item without a label, and a pending one with an amount, are let through and warned of, also in an answer",
     """const warned = [];
        const { warn } = console;
        console.warn = (text) => warned.push(text);
        const good = { label: "Ride", amount: "0.00", type: "pending" };
        page.request({ lineItems: [good] });
        new ApplePaySession(14, page.request({ lineItems: [good, { amount: "1.00" }] }));
        new ApplePaySession(14, page.request({ lineItems: [{ ...good, amount: "5.00" }] }));
        const opened = warned.splice(0);
        const { session } = page.open({ on: { paymentmethodselected: (_, session) =>
          session.completePaymentMethodSelection(page.update({ newLineItems: [{ ...good, amount: "5.00" }] })) } });
        await applePaySandbox.waitForSheet();
        console.warn = warn;
        session.abort();
        const shown = (text) => ["no label", "amount of a pending"].find((part) => text.includes(part));
        return [opened.map(shown), warned.filter(shown).map(shown)];""",
     [["no label", "amount of a pending"], ["amount of a pending"]]),
    ("members without effect are named in the console",
     """const warned = [];
        const { warn } = console;
        console.warn = (text) => warned.push(text);
        new ApplePaySession(14, page.request({ merchantCategoryCode: "0739", disbursementRequest: {},
          installmentConfiguration: {}, isDelegatedRequest: true }));
        await new ApplePaySetup({}).getSetupFeatures();
        console.warn = warn;
        return warned.map((text) => text.split(" ")[3]).sort();""",
     ["ApplePaySetup", "disbursementRequest", "installmentConfiguration", "isDelegatedRequest", "merchantCategoryCode"]),
    ("setting up is asked for in a click, and sets nothing up",
     """const setup = new ApplePaySetup({ merchantIdentifier: "m" });
        applePaySandbox.setDevice({ requiresGesture: true });
        const refused = await failed(setup.begin([]));
        applePaySandbox.setDevice({ requiresGesture: false });
        return [refused, await setup.begin([]), await setup.getSetupFeatures()];""",
     ["InvalidAccessError: Must call ApplePaySetup.begin from a user gesture handler.", False, []]),
    ("line items that an answer lacks are gone",
     """const { until, session } = page.open({ request: { lineItems: [{ label: "Soup", amount: "12.50" }] },
          on: { paymentmethodselected: page.silent } });
        await until("paymentmethodselected");
        const before = applePaySandbox.sheet.lineItems.length;
        session.completePaymentMethodSelection(page.update());
        return [before, (await applePaySandbox.waitForSheet()).lineItems.length];""", [1, 0]),
    ("cancel has a session error",
     """const { until } = page.open();
        await applePaySandbox.cancel();
        return (await until("cancel")).sessionError;""", {"code": "unknown", "info": {}}),
    ("a page that is left and kept gets its cancel when it is shown again, and one that goes gets nothing",
     """const leave = async (persisted) => {
          const { types } = page.open();
          await applePaySandbox.waitForSheet();
          window.dispatchEvent(new PageTransitionEvent("pagehide", { persisted }));
          const left = [applePaySandbox.sheet.state, types().includes("cancel")];
          window.dispatchEvent(new PageTransitionEvent("pageshow", { persisted }));
          return [...left, types().includes("cancel")];
        };
        return [await leave(true), await leave(false)];""", [["canceled", False, True], ["aborted", False, False]]),
    # WebKit stops the request with AbortError, which no script of the page itself lives to see: session_frames.py has a frame.
    ("a promise of a page that is gone never settles in that page",
     """let answer = "never";
        failed(ask().show()).then((one) => { answer = one; });
        await applePaySandbox.waitForSheet();
        window.dispatchEvent(new PageTransitionEvent("pagehide", { persisted: false }));
        await new Promise((resolve) => setTimeout(resolve, 100));
        return [answer, applePaySandbox.sheet.state];""", ["never", "aborted"]),
    ("the newest version is 15, and version 16 is none",
     "[ApplePaySession.supportsVersion(15), ApplePaySession.supportsVersion(16)]", [True, False]),
]

for rows in (MODIFIERS, ERRORS, LIFE):
    claims_of(Rows(rows, WORDS), globals(), claim)
