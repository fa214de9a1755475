// What the tests' own merchant page has: `page.request()` to start from, and `page.open()` to begin a session.
(() => {
  "use strict";

  const EVENTS = [
    "validatemerchant",
    "paymentmethodselected",
    "shippingcontactselected",
    "shippingmethodselected",
    "couponcodechanged",
    "paymentauthorized",
    "cancel",
  ];
  const SELECTIONS = {
    paymentmethodselected: "completePaymentMethodSelection",
    shippingcontactselected: "completeShippingContactSelection",
    shippingmethodselected: "completeShippingMethodSelection",
    couponcodechanged: "completeCouponCodeChange",
  };

  const request = (changes = {}) => ({
    countryCode: "IE",
    currencyCode: "EUR",
    supportedNetworks: ["visa", "masterCard", "amex"],
    merchantCapabilities: ["supports3DS"],
    total: { label: "Harbour Kitchen", amount: "12.50" },
    ...changes,
  });

  const update = (changes = {}) => ({ newTotal: { label: "Harbour Kitchen", amount: "12.50" }, ...changes });

  // The merchant's server asks the gateway.
  const merchantSession = async () => (await fetch("/session")).json();

  const answers = {
    validatemerchant: async (_, session) => {
      const answer = await merchantSession();
      outcome(() => session.completeMerchantValidation(answer)); // the sheet may be closed by then
    },
    paymentauthorized: (_, session) => session.completePayment({ status: ApplePaySession.STATUS_SUCCESS }),
    cancel: () => {},
  };
  for (const [type, method] of Object.entries(SELECTIONS))
    answers[type] = (_, session, { lineItems = [] }) => session[method](update({ newLineItems: lineItems }));

  /** Begins a session. Its events are collected in `events`; answers are valid unless `on` overrides them. */
  const open = ({ version = 14, request: changes = {}, on = {} } = {}) => {
    const session = new ApplePaySession(version, request(changes));
    const events = [];
    const waiting = [];
    for (const type of EVENTS) {
      if (on[type] === null) continue; // no listener
      session.addEventListener(type, (event) => {
        events.push(event);
        (on[type] ?? answers[type])(event, session, changes);
        for (const look of waiting) look();
      });
    }
    const until = (type) =>
      new Promise((resolve) => {
        const look = () => {
          const event = events.find((one) => one.type === type);
          if (event) resolve(event);
        };
        waiting.push(look);
        look();
      });
    session.begin();
    const validated = async () => {
      const isIt = ({ event }) => event === "completeMerchantValidation";
      while (!applePaySandbox.sheet.history.some(isIt)) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    return { session, events, until, validated, types: () => events.map(({ type }) => type) };
  };

  const silent = () => {};

  /** How a call ends: "fine", or the exception's name and message. */
  const outcome = (step) => {
    try {
      step();
      return "fine";
    } catch (error) {
      return `${error.name}: ${error.message}`;
    }
  };
  const promised = (step) =>
    step().then(
      (value) => value ?? "fine",
      (error) => `${error.name}: ${error.message}`,
    );

  window.page = { request, update, merchantSession, open, silent, outcome, promised };
  document.getElementById("tap")?.addEventListener("click", () => window.tapped?.());
})();
