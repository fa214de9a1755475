"""W3C Payment Request with Apple Pay among its methods: the same sheet by the other way."""

from claims import claim
from merchantpage import BY_SCRIPT, Rows, claims_of

PRELUDE = BY_SCRIPT + """
    const merchantIdentifier = await (await fetch("/merchant")).json();
    const method = (changes = {}) => ({ supportedMethods: "https://apple.com/apple-pay", data: {
      version: 12, merchantIdentifier, merchantCapabilities: ["supports3DS"], supportedNetworks: ["visa", "masterCard"],
      countryCode: "IE", ...changes } });
    const sum = (value, currency = "EUR") => ({ value, currency });
    const details = (changes = {}) => ({ total: { label: "Harbour Kitchen", amount: sum("12.50") }, ...changes });
    const options = [{ id: "bike", label: "By bike", amount: sum("3"), selected: true },
      { id: "van", label: "By van", amount: sum("1.5") }];
    const ask = (methods = [method()], given = details(), options = {}, on = {}) => {
      const request = new PaymentRequest(methods, given, options);
      request.onmerchantvalidation = (event) => event.complete(page.merchantSession());
      for (const [type, handler] of Object.entries(on)) request.addEventListener(type, handler);
      return request;
    };
    const failed = (promise) => promise.then(() => "fine", (error) => `${error.name}: ${error.message}`);
    const made = (...given) => page.outcome(() => ask(...given));
"""

CONSTRUCTOR = [
    ("a payment request is made", "made()", "fine"),
    ("a payment request is a PaymentRequest", "ask() instanceof PaymentRequest", "true"),
    ("a payment request needs its details", "page.outcome(() => new PaymentRequest([method()]))", "TypeError"),
    ("a payment request has a total", "made([method()], {})", "TypeError"),
    ("a total of a wrong currency is refused",
     'made([method()], details({ total: { label: "Shop", amount: sum("1", "euro") } }))', "RangeError"),
    ("a total of no number is refused",
     'made([method()], details({ total: { label: "Shop", amount: sum("1,5") } }))', "TypeError"),
    ("a total below zero is refused",
     'made([method()], details({ total: { label: "Shop", amount: sum("-1.00") } }))', "TypeError"),
    ("two shipping options of one name are refused",
     'made([method()], details({ shippingOptions: [options[0], options[0]] }), { requestShipping: true })', "TypeError"),
    ("an unknown kind of shipping is refused", 'made([method()], details(), { shippingType: "drone" })', "TypeError"),
    ("a method that is no identifier is refused", 'made([method(), { supportedMethods: "Apple Pay" }])', "RangeError"),
    ("Apple Pay's data needs its version", "made([method({ version: undefined })])", "TypeError"),
    ("Apple Pay's data needs its merchant", "made([method({ merchantIdentifier: undefined })])", "TypeError"),
    ("Apple Pay's data needs its country", "made([method({ countryCode: undefined })])", "TypeError"),
    ("other methods are left to the browser",
     """const methods = [{ supportedMethods: "basic-card" }];
        const request = new PaymentRequest(methods, details());
        return [Object.prototype.toString.call(request), request instanceof PaymentRequest,
          /native code/.test(Object.getPrototypeOf(request).show)];""", ["[object PaymentRequest]", True, True]),
    ("no method is refused as the browser refuses it", "page.outcome(() => new PaymentRequest([], details()))",
     "TypeError"),
    ("the id is the page's, or one of its own",
     'const [a, b] = [ask([method()], details({ id: "A1" })), ask()]; return [a.id, b.id.length > 8];', ["A1", True]),
    ("a shipping type stands there only with shipping",
     """[ask().shippingType, ask([method()], details(), { requestShipping: true }).shippingType]""", [None, "shipping"]),
    ("a payment can be made", "ask().canMakePayment()", "true"),
    ("a payment of a newer version is refused", "made([method({ version: 16 })])",
     'InvalidAccessError: "16" is not a supported version.'),
]

FLOW = [
    ("a payment request pays",
     """const shown = ask().show();
        await applePaySandbox.waitForSheet();
        const approved = applePaySandbox.approve();
        const response = await shown;
        await response.complete("success");
        const { state, status } = await approved;
        return [state, status, response.methodName, response.details.token.paymentData.version, response.requestId.length];""",
     ["completed", 0, "https://apple.com/apple-pay", "EC_v1", 36]),
    ("a payment request is shown in a click",
     """applePaySandbox.setDevice({ requiresGesture: true });
        const answer = await failed(ask().show());
        applePaySandbox.setDevice({ requiresGesture: false });
        return answer;""", "SecurityError"),
    ("a payment request is shown once",
     """const request = ask();
        const shown = failed(request.show());
        const again = await failed(request.show());
        await applePaySandbox.cancel();
        await shown;
        return again;""", "InvalidStateError"),
    ("one sheet at a time",
     """const shown = failed(ask().show());
        await applePaySandbox.waitForSheet();
        const other = await failed(ask().show());
        await applePaySandbox.cancel();
        await shown;
        return other;""", "AbortError"),
    ("a request that Apple Pay refuses is refused at once", 'made([method({ supportedNetworks: ["diners"] })])',
     "TypeError"),
    ("a version that the device lacks by then is refused when it is shown",
     """const request = ask([method({ version: 15 })]);
        applePaySandbox.setDevice({ newestVersion: 14 });
        const answer = await failed(request.show());
        applePaySandbox.setDevice({ newestVersion: 15 });
        return answer;""", 'InvalidAccessError: "15" is not a supported version.'),
    ("a cancelled sheet is an AbortError",
     """const shown = failed(ask().show());
        await applePaySandbox.waitForSheet();
        await applePaySandbox.cancel();
        return shown;""", "AbortError"),
    ("a page closes the sheet",
     """const request = ask();
        const shown = failed(request.show());
        await applePaySandbox.waitForSheet();
        await request.abort();
        return [await shown, applePaySandbox.sheet.state, await failed(request.abort())].map((text) => text.split(":")[0]);
     """, ["AbortError", "aborted", "InvalidStateError"]),
    ("a merchant that is not validated closes the sheet",
     """const request = ask();
        request.onmerchantvalidation = (event) => event.complete(Promise.reject(new Error("no")));
        return failed(request.show());""", "AbortError"),
    ("addresses and options are answered by new details",
     """const received = [];
        const request = ask([method()], details({ shippingOptions: options }), { requestShipping: true,
          requestPayerEmail: true }, {
          shippingaddresschange: (event) => {
            received.push(["address", request.shippingAddress.country, request.shippingAddress.addressLine.length]);
            event.updateWith(details({ total: { label: "Harbour Kitchen", amount: sum("15.50") } }));
          },
          shippingoptionchange: (event) => {
            received.push(["option", request.shippingOption]);
            event.updateWith(Promise.resolve({ total: { label: "Harbour Kitchen", amount: sum("14") } }));
          } });
        const shown = request.show();
        const before = await applePaySandbox.waitForSheet();
        const after = await applePaySandbox.selectShippingMethod("van");
        const approved = applePaySandbox.approve();
        const response = await shown;
        await response.complete("success");
        await approved;
        return [before.total.amount, after.total.amount, received, response.shippingOption, response.payerEmail,
          response.shippingAddress.addressLine[0]];""",
     ["15.50", "14", [["address", "GB", 0], ["option", "van"]], "van", "ada@example.com", "12 Sandbox Street"]),
    ("a modifier for the card's type changes the total, and the first that fits decides",
     """const modifiers = [
          { supportedMethods: "https://apple.com/apple-pay", data: { paymentMethodType: "credit",
            total: { label: "Harbour Kitchen", amount: "13.00" },
            additionalLineItems: [{ label: "Credit card", amount: "0.50" }] } },
          { supportedMethods: "https://apple.com/apple-pay", data: { paymentMethodType: "credit",
            total: { label: "Harbour Kitchen", amount: "99.00" } } }];
        const shown = failed(ask([method()], details({ modifiers })).show());
        const debit = await applePaySandbox.waitForSheet();
        const credit = await applePaySandbox.selectCard("visa-credit");
        const again = await applePaySandbox.selectCard("visa-debit");
        await applePaySandbox.cancel();
        await shown;
        return [debit.total.amount, credit.total.amount, credit.lineItems.length, again.total.amount];""",
     ["12.50", "13.00", 1, "12.50"]),
    ("a modifier without a type hides those after it",
     """const modifiers = [
          { supportedMethods: "https://apple.com/apple-pay", total: { label: "Harbour Kitchen", amount: sum("12") },
            data: {} },
          { supportedMethods: "https://apple.com/apple-pay", data: { paymentMethodType: "debit",
            total: { label: "Harbour Kitchen", amount: "99.00" } } }];
        const shown = failed(ask([method()], details({ modifiers })).show());
        const { total } = await applePaySandbox.waitForSheet();
        await applePaySandbox.cancel();
        await shown;
        return total.amount;""", "12"),
    ("a coupon code comes as a change of the method",
     """const shown = failed(ask([method({ supportsCouponCode: true })], details(), {}, {
          paymentmethodchange: (event) => event.updateWith(event.methodDetails.couponCode === undefined ? details()
            : { ...details(), paymentMethodErrors: [new ApplePayError("couponCodeInvalid")] }) }).show());
        const { errors } = await applePaySandbox.enterCouponCode("NOPE");
        await applePaySandbox.cancel();
        await shown;
        return errors[0].code;""", "couponCodeInvalid"),
    ("an address's errors are shown at their fields",
     """const shown = failed(ask([method()], details(), { requestShipping: true }, {
          shippingaddresschange: (event) => event.updateWith({ ...details(), shippingAddressErrors: { city: "Where?" } }),
        }).show());
        const { errors, canPay } = await applePaySandbox.waitForSheet();
        await applePaySandbox.cancel();
        await shown;
        return [errors[0].contactField, errors[0].message, canPay];""", ["locality", "Where?", False]),
    ("an update that fails closes the sheet",
     """return failed(ask([method()], details(), {}, {
          paymentmethodchange: (event) => event.updateWith(Promise.reject(new Error("no"))) }).show());""", "AbortError"),
    ("an update that is not answered closes the sheet after 30 seconds",
     """applePaySandbox.clock.hold();
        let changed;
        const change = new Promise((resolve) => { changed = resolve; });
        failed(ask([method()], details(), {}, {
          paymentmethodchange: (event) => { event.updateWith(new Promise(() => {})); changed(); } }).show());
        await change;
        await applePaySandbox.clock.advance(30_000);
        return applePaySandbox.sheet.state;""", "canceled"),
    ("after a refused contact the shopper tries again in the same sheet",
     """const shown = ask([method()], details(), { requestPayerPhone: true }).show();
        await applePaySandbox.waitForSheet();
        const first = applePaySandbox.approve();
        const response = await shown;
        const before = response.payerPhone;
        const retried = response.retry(
          { paymentMethod: [new ApplePayError("shippingContactInvalid", "phoneNumber", "Which?")] });
        const refused = await first;
        await applePaySandbox.selectShippingContact("us-arlington");
        const second = applePaySandbox.approve();
        await retried;
        await response.complete("success");
        return [refused.state, refused.errors[0].message, before !== response.payerPhone, (await second).state];""",
     ["active", "Which?", True, "completed"]),
    ("a response is completed once",
     """const shown = ask().show();
        await applePaySandbox.waitForSheet();
        applePaySandbox.approve();
        const response = await shown;
        await response.complete("fail");
        return [applePaySandbox.sheet.status, await failed(response.complete("success"))].join(" ").split(":")[0];""",
     "1 InvalidStateError"),
    ("a response that is not completed ends the sheet after 30 seconds",
     """const shown = ask().show();
        await applePaySandbox.waitForSheet();
        applePaySandbox.clock.hold();
        const approved = applePaySandbox.approve();
        await shown;
        await applePaySandbox.clock.advance(30_000);
        return (await approved).state;""", "canceled"),
]

for rows in (CONSTRUCTOR, FLOW):
    claims_of(Rows(rows, PRELUDE), globals(), claim)
