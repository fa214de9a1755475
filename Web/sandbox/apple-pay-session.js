// A simulated ApplePaySession, for pages under test. It is not Apple's and moves no money.
//
// It defines window.ApplePaySession and window.ApplePayError with the rules, exceptions and states of a browser's
// own, and shows a sheet that a person drives by hand and a test by window.applePaySandbox. Its wallet is the
// sandbox this script was loaded from.
(() => {
  "use strict";

  if (window.applePaySandbox) return;

  const address = new URL(document.currentScript.src);
  const NEWEST_VERSION = 14;
  const ANSWER_WITHIN = 30_000;

  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = new URL("apple-pay-session.css", address).href;
  document.head.append(link);

  const invalidAccess = (message) => new DOMException(message, "InvalidAccessError");

  // ── The wallet ────────────────────────────────────────────────────────────────────────────────────────────────

  const wallet = {
    cards: () => wallet.ask("device/cards"),
    contacts: () => wallet.ask("device/contacts"),
    certificateAuthority: () => wallet.ask("sandbox/ca.json"),
    checkSession: (merchantSession) => wallet.ask("device/sessions/check", { merchantSession }),
    mintPaymentToken: (order) => wallet.ask("device/tokens", order),

    async ask(path, body) {
      const response = await fetch(new URL(path, address.origin), {
        method: body ? "POST" : "GET",
        headers: body ? { "Content-Type": "application/json" } : {},
        body: body && JSON.stringify(body),
        signal: AbortSignal.timeout(ANSWER_WITHIN),
      });
      if (response.ok) return response.json();
      const problem = await response.json().catch(() => ({}));
      throw new Error(problem.message ?? `The sandbox answered ${response.status} to ${path}.`);
    },
  };

  // ── What the constructor checks, in the engine's order ────────────────────────────────────────────────────────

  // Web strings of the networks, with the version that brought each.
  const NETWORKS = {
    amex: 1, chinaunionpay: 1, discover: 1, interac: 1, mastercard: 1, privatelabel: 1, visa: 1, jcb: 2,
    cartesbancaires: 4, eftpos: 4, electron: 4, maestro: 4, vpay: 4, elo: 5, mada: 5, girocard: 11, mir: 11,
    dankort: 13, bancomat: 14, bancontact: 14,
  };
  const CONTACT_FIELDS = ["email", "name", "phone", "phoneticName", "postalAddress"];
  const ENUMERATIONS = {
    merchantCapabilities: ["supports3DS", "supportsEMV", "supportsCredit", "supportsDebit"],
    requiredBillingContactFields: CONTACT_FIELDS,
    requiredShippingContactFields: CONTACT_FIELDS,
    shippingType: ["shipping", "delivery", "storePickup", "servicePickup"],
    shippingContactEditingMode: ["available", "enabled", "storePickup"],
  };
  const AMOUNT = /^-?[0-9]+(\.[0-9][0-9])?$/;
  const LARGEST_AMOUNT = 100_000_000;

  const requireMembers = (dictionary, type, names) => {
    for (const name of names) {
      if (dictionary?.[name] == null) throw new TypeError(`Member ${type}.${name} is required.`);
    }
  };

  // What the bindings refuse before the constructor's own code runs: absent members, unknown enumeration values.
  const requireShape = (request) => {
    requireMembers(request, "ApplePayPaymentRequest", [
      "countryCode", "merchantCapabilities", "supportedNetworks", "currencyCode", "total",
    ]);
    for (const [member, values] of Object.entries(ENUMERATIONS)) {
      for (const value of [request[member] ?? []].flat()) {
        if (!values.includes(value)) throw new TypeError(`"${value}" is not a valid value of ${member}.`);
      }
    }
    for (const item of [request.total, ...(request.lineItems ?? [])]) requireLineItem(item);
    for (const method of request.shippingMethods ?? []) requireShippingMethod(method);
  };

  const requireLineItem = (item) => {
    requireMembers(item, "ApplePayLineItem", ["label", "amount"]);
    if (item.type != null && !["final", "pending"].includes(item.type)) {
      throw new TypeError(`"${item.type}" is not a valid value of ApplePayLineItem.type.`);
    }
  };

  const requireShippingMethod = (method) =>
    requireMembers(method, "ApplePayShippingMethod", ["label", "detail", "amount", "identifier"]);

  const requirePage = () => {
    if (!window.isSecureContext) throw invalidAccess("Trying to start an Apple Pay session from an insecure document.");
  };

  const requireGesture = (message) => {
    if (!navigator.userActivation?.isActive) throw invalidAccess(message);
  };

  const supportsVersion = (version) => version >= 1 && version <= NEWEST_VERSION;

  const isCountry = (code) =>
    /^[A-Z]{2}$/.test(code) && code !== "ZZ"
    && new Intl.DisplayNames("en", { type: "region", fallback: "none" }).of(code) !== undefined;

  const isCurrency = (code) => /^[A-Z]{3}$/.test(code) && Intl.supportedValuesOf("currency").includes(code);

  const requireAmount = (amount, what) => {
    if (!AMOUNT.test(amount)) throw new TypeError(`"${amount}" is not a valid amount ${what}.`);
  };

  const requireTotal = (total, version) => {
    if (!total.label) throw new TypeError("Missing total label.");
    requireAmount(total.amount, "for the total");
    const amount = Number(total.amount);
    if (amount < 0 || (amount === 0 && version < 4)) throw new TypeError("Total amount must be greater than zero.");
    if (amount > LARGEST_AMOUNT) throw new TypeError("Total amount is too big.");
  };

  const requireLineItems = (items) => {
    for (const item of items ?? []) if (item.type !== "pending") requireAmount(item.amount, `for "${item.label}"`);
  };

  const requireShippingMethods = (methods) => {
    for (const method of methods ?? []) {
      requireAmount(method.amount, `for the shipping method "${method.label}"`);
      if (Number(method.amount) < 0) throw new TypeError("Shipping method amount must not be negative.");
    }
  };

  const requireRules = (request, version) => {
    if (!isCountry(request.countryCode)) throw new TypeError(`"${request.countryCode}" is not a valid country code.`);
    if (!isCurrency(request.currencyCode)) {
      throw new TypeError(`"${request.currencyCode}" is not a valid currency code.`);
    }
    if (request.supportedNetworks.length === 0) {
      throw new TypeError("At least one supported network must be provided.");
    }
    for (const network of request.supportedNetworks) {
      if (!(NETWORKS[network.toLowerCase()] <= version)) {
        throw new TypeError(`"${network}" is not a valid payment network.`);
      }
    }
    if (request.merchantCapabilities.length === 0) {
      throw new TypeError("At least one merchant capability must be provided.");
    }
    requireTotal(request.total, version);
    requireLineItems(request.lineItems);
    requireShippingMethods(request.shippingMethods);
    for (const code of version >= 3 ? request.supportedCountries ?? [] : []) {
      if (!isCountry(code)) throw new TypeError(`"${code}" is not a valid country code.`);
    }
  };

  // Application data that is not Base64 is ignored without a word, as browsers do.
  const applicationData = (text) => {
    try {
      return text && atob(text) ? text : undefined;
    } catch {
      return undefined;
    }
  };

  // ── Contacts ──────────────────────────────────────────────────────────────────────────────────────────────────

  const FIELDS = {
    email: ["emailAddress"],
    phone: ["phoneNumber"],
    name: ["givenName", "familyName"],
    phoneticName: ["phoneticGivenName", "phoneticFamilyName"],
    postalAddress: [
      "givenName", "familyName", "addressLines", "subLocality", "locality", "postalCode", "subAdministrativeArea",
      "administrativeArea", "country", "countryCode",
    ],
  };
  const REDACTED = ["subLocality", "locality", "administrativeArea", "country", "countryCode"];

  const pick = (contact, members) =>
    Object.fromEntries(members.filter((name) => contact[name] != null).map((name) => [name, contact[name]]));

  const fullContact = (contact, fields) => pick(contact, [...new Set(fields.flatMap((field) => FIELDS[field]))]);

  // Before authorization a page learns where, and not who; in Canada and the United Kingdom not even the street.
  const redactedContact = (contact) => ({ ...pick(contact, REDACTED), postalCode: redactedPostalCode(contact) });

  const redactedPostalCode = ({ postalCode = "", countryCode = "" }) => {
    switch (countryCode.toUpperCase()) {
      case "CA": case "GB": return postalCode.slice(0, -3).trimEnd();
      case "US": return postalCode.slice(0, 5);
      default: return postalCode;
    }
  };

  const contactLines = (contact) =>
    [
      [contact.givenName, contact.familyName].filter(Boolean).join(" "),
      ...(contact.addressLines ?? []),
      [contact.postalCode, contact.locality].filter(Boolean).join(" "),
      contact.country ?? contact.countryCode,
    ].filter(Boolean);

  // ── Errors ────────────────────────────────────────────────────────────────────────────────────────────────────

  const ERROR_CODES = [
    "unknown", "shippingContactInvalid", "billingContactInvalid", "addressUnserviceable", "couponCodeInvalid",
    "couponCodeExpired",
  ];
  const ERROR_FIELDS = [
    "phoneNumber", "emailAddress", "name", "phoneticName", "postalAddress", "addressLines", "subLocality", "locality",
    "postalCode", "subAdministrativeArea", "administrativeArea", "country", "countryCode",
  ];
  // With one of these showing, the shopper has to choose another contact before paying.
  const isBlocking = ({ code }) =>
    ["shippingContactInvalid", "billingContactInvalid", "addressUnserviceable"].includes(code);

  class ApplePayError {
    constructor(code, contactField, message = "") {
      if (!ERROR_CODES.includes(code)) throw new TypeError(`"${code}" is not a valid ApplePayErrorCode.`);
      if (contactField !== undefined && !ERROR_FIELDS.includes(contactField)) {
        throw new TypeError(`"${contactField}" is not a valid ApplePayErrorContactField.`);
      }
      this.code = code;
      this.contactField = contactField;
      this.message = String(message);
    }
  }

  const requireErrors = (errors) => {
    for (const error of errors ?? []) {
      if (!(error instanceof ApplePayError)) throw new TypeError("Each error must be an ApplePayError.");
    }
  };

  // What a status of versions 1 and 2 means since version 3.
  const legacyErrors = (status) => {
    switch (status) {
      case 0: return [];
      case 2: return [new ApplePayError("billingContactInvalid")];
      case 3: return [new ApplePayError("shippingContactInvalid", "postalAddress")];
      case 4: return [new ApplePayError("shippingContactInvalid")];
      default: return [new ApplePayError("unknown")];
    }
  };

  // ── The session ───────────────────────────────────────────────────────────────────────────────────────────────

  // What the shopper can change, and how the page is told of it.
  const SELECTIONS = {
    paymentmethodselected: { state: "paymentMethodSelected", member: "paymentMethod" },
    shippingcontactselected: { state: "shippingContactSelected", member: "shippingContact" },
    shippingmethodselected: { state: "shippingMethodSelected", member: "shippingMethod" },
    couponcodechanged: { state: "couponCodeChanged", member: "couponCode" },
  };
  const EVENTS = ["validatemerchant", ...Object.keys(SELECTIONS), "paymentauthorized", "cancel"];
  const FINAL_STATES = ["aborted", "completed", "canceled"];

  let current; // the page's session that has a sheet, of which there is at most one
  const watchers = new Set(); // what applePaySandbox waits for

  class ApplePaySession extends EventTarget {
    static STATUS_SUCCESS = 0;
    static STATUS_FAILURE = 1;
    static STATUS_INVALID_BILLING_POSTAL_ADDRESS = 2;
    static STATUS_INVALID_SHIPPING_POSTAL_ADDRESS = 3;
    static STATUS_INVALID_SHIPPING_CONTACT = 4;
    static STATUS_PIN_REQUIRED = 5;
    static STATUS_PIN_INCORRECT = 6;
    static STATUS_PIN_LOCKOUT = 7;

    static canMakePayments() {
      requirePage();
      return true;
    }

    static async canMakePaymentsWithActiveCard() {
      requirePage();
      return (await wallet.cards()).length > 0;
    }

    static async applePayCapabilities() {
      requirePage();
      const cards = await wallet.cards();
      return {
        paymentCredentialStatus: cards.length > 0 ? "paymentCredentialsAvailable" : "paymentCredentialsUnavailable",
      };
    }

    static async openPaymentSetup() {
      requirePage();
      requireGesture("Must call ApplePaySession.openPaymentSetup from a user gesture handler.");
      window.open(address.origin, "_blank", "noopener");
      return true;
    }

    static supportsVersion(version) {
      if (Number(version) === 0) throw invalidAccess("\"0\" is not a supported version.");
      return supportsVersion(Number(version));
    }

    #version;
    #request;
    #state = "idle";
    #validation = "idle";
    #merchantSession;
    #sheetId = crypto.randomUUID();
    #events = []; // selections the page has not been told of yet
    #deadline;
    #validationDeadline;
    #listeners = new Map();
    #sheet;
    #cards;
    #contacts;
    #card;
    #contact;
    #method;
    #coupon;
    #total;
    #items;
    #methods;
    #errors = [];
    #status;

    constructor(version, paymentRequest) {
      super();
      requireShape(paymentRequest);
      requirePage();
      requireGesture("Must create a new ApplePaySession from a user gesture handler.");
      if (!supportsVersion(version)) throw invalidAccess(`"${version}" is not a supported version.`);
      requireRules(paymentRequest, version);
      this.#version = version;
      this.#request = structuredClone(paymentRequest);
      this.#total = this.#request.total;
      this.#items = this.#request.lineItems ?? [];
      this.#methods = this.#request.shippingMethods ?? [];
      this.#method = this.#methods[0];
      this.#coupon = this.#request.couponCode ?? "";
    }

    begin() {
      if (this.#state !== "idle") throw invalidAccess("Payment session is already active.");
      if (current?.isOver() === false) throw invalidAccess("Page already has an active payment session.");
      current = this.#handle();
      this.#sheet = new Sheet(this.#request, current);
      this.#enter("active");
      this.#validateMerchant();
      this.#openWallet();
    }

    abort() {
      if (this.#isOver || this.#state === "idle") throw invalidAccess("The payment session is not active.");
      this.#finish("aborted");
    }

    // Which events have a listener decides what the engine completes itself, so they are counted.
    addEventListener(type, listener, options) {
      if (listener) this.#listeners.set(type, (this.#listeners.get(type) ?? new Set()).add(listener));
      super.addEventListener(type, listener, options);
    }

    removeEventListener(type, listener, options) {
      this.#listeners.get(type)?.delete(listener);
      super.removeEventListener(type, listener, options);
    }

    // ── Merchant validation

    async #validateMerchant() {
      this.#validation = "validating";
      this.#validationDeadline = setTimeout(() => this.#expire("validatemerchant"), ANSWER_WITHIN);
      try {
        const { gatewayURL } = await wallet.certificateAuthority();
        if (this.#isOver) return;
        const validationURL = new URL("/paymentservices/paymentSession", gatewayURL).href;
        this.#fire("validatemerchant", { validationURL });
      } catch (error) {
        this.#fail(error.message);
      }
    }

    completeMerchantValidation(merchantSession) {
      if (typeof merchantSession !== "object" || merchantSession === null) {
        throw new TypeError("The merchant session must be an object, as the server received it.");
      }
      if (this.#isOver || this.#validation !== "validating") throw invalidAccess("No merchant validation is pending.");
      clearTimeout(this.#validationDeadline);
      this.#validation = "answered";
      this.#accept(merchantSession);
    }

    // The device judges the session: its age, its domain, whether it was used, and that nobody changed it.
    async #accept(merchantSession) {
      try {
        await wallet.checkSession(merchantSession);
      } catch (error) {
        return this.#fail(error.message);
      }
      if (this.#isOver) return;
      this.#merchantSession = merchantSession;
      this.#validation = "complete";
      this.#changed();
    }

    // ── Selections

    async #openWallet() {
      try {
        [this.#cards, this.#contacts] = await Promise.all([wallet.cards(), wallet.contacts()]);
      } catch (error) {
        return this.#fail(error.message);
      }
      if (this.#isOver) return;
      this.#cards = this.#cards.map((card) => ({ ...card, refusal: this.#refusalOf(card) }));
      const preset = this.#request.shippingContact;
      if (preset?.addressLines && !this.#isPickup) {
        this.#contacts = [{ ...preset, id: "page", label: "From this page" }, ...this.#contacts];
      }
      this.#card = this.#cards.find((card) => !card.refusal);
      this.#contact = this.#contacts[0];
      if (!this.#card) return this.#fail("No card in the simulated wallet can pay here.");
      this.#tellCard();
      this.#tellContact();
      this.#next();
    }

    #refusalOf(card) {
      const networks = this.#request.supportedNetworks.map((network) => network.toLowerCase());
      if (!networks.includes(card.network.toLowerCase())) return "not accepted here";
      const kinds = this.#request.merchantCapabilities.filter((name) => /^supports(Credit|Debit)$/.test(name));
      const needed = { credit: "supportsCredit", debit: "supportsDebit" }[card.type];
      if (kinds.length > 0 && needed && !kinds.includes(needed)) return `${card.type} is not accepted here`;
    }

    #selectCard(id) {
      const card = this.#cards?.find((card) => card.id === id);
      if (!card || card.refusal) throw new Error(`No card "${id}" can pay here.`);
      this.#card = card;
      this.#tellCard();
      this.#next();
    }

    #selectContact(id) {
      const contact = this.#contacts?.find((contact) => contact.id === id);
      if (!contact) throw new Error(`The simulated wallet has no contact "${id}".`);
      this.#contact = contact;
      this.#errors = this.#errors.filter((error) => !isBlocking(error));
      this.#tellContact();
      this.#next();
    }

    #selectMethod(identifier) {
      const method = this.#methods.find((method) => method.identifier === identifier);
      if (!method) throw new Error(`The page offers no shipping method "${identifier}".`);
      this.#method = method;
      this.#events.push(["shippingmethodselected", method]);
      this.#next();
    }

    #changeCoupon(code) {
      if (!this.#offersCoupon) throw new Error("The page's request does not support coupon codes.");
      this.#coupon = code;
      this.#events.push(["couponcodechanged", code]);
      this.#next();
    }

    #tellCard() {
      const paymentMethod = { type: this.#card.type };
      if (this.#version >= 10 && this.#billingFields.includes("postalAddress")) {
        paymentMethod.billingContact = redactedContact(this.#contacts[0]);
      }
      this.#events.push(["paymentmethodselected", paymentMethod]);
    }

    #tellContact() {
      if (this.#shippingFields.includes("postalAddress") && !this.#isPickup) {
        this.#events.push(["shippingcontactselected", redactedContact(this.#contact)]);
      }
    }

    // One selection at a time: the page answers one before it hears of the next.
    #next() {
      if (this.#state !== "active" || this.#events.length === 0) return this.#changed();
      const [type, value] = this.#events.shift();
      const { state, member } = SELECTIONS[type];
      if (!this.#listeners.get(type)?.size) return this.#next();
      this.#deadline = setTimeout(() => this.#expire(type), ANSWER_WITHIN);
      this.#enter(state);
      setTimeout(() => this.#state === state && this.#fire(type, { [member]: value }));
    }

    // Versions 1 and 2 answered with positional arguments; the bindings tell the forms apart by their number.
    completePaymentMethodSelection(update, lineItems) {
      const isLegacy = lineItems !== undefined;
      this.#update("paymentMethodSelected", isLegacy ? { newTotal: update, newLineItems: lineItems } : update);
    }

    completeShippingContactSelection(update, newShippingMethods, newTotal, newLineItems) {
      this.#update("shippingContactSelected", typeof update === "number"
        ? { newTotal, newLineItems, newShippingMethods, errors: legacyErrors(update) } : update);
    }

    completeShippingMethodSelection(update, newTotal, newLineItems) {
      if (typeof update === "number" && update !== ApplePaySession.STATUS_SUCCESS) return this.#cancel();
      this.#update("shippingMethodSelected", typeof update === "number" ? { newTotal, newLineItems } : update);
    }

    completeCouponCodeChange(update) {
      this.#update("couponCodeChanged", update);
    }

    #update(state, update) {
      if (this.#state !== state) throw invalidAccess(`No such answer is awaited: the session is ${this.#state}.`);
      const { newTotal, newLineItems, newShippingMethods, errors } = this.#checked(update);
      clearTimeout(this.#deadline);
      this.#total = newTotal;
      this.#items = newLineItems ?? this.#items;
      this.#offer(newShippingMethods);
      this.#errors = errors ?? [];
      this.#enter("active");
      this.#next();
    }

    #checked(update) {
      requireMembers(update, "ApplePayUpdate", ["newTotal"]);
      const copy = { ...structuredClone({ ...update, errors: undefined }), errors: update.errors };
      [copy.newTotal, ...(copy.newLineItems ?? [])].forEach(requireLineItem);
      (copy.newShippingMethods ?? []).forEach(requireShippingMethod);
      requireTotal(copy.newTotal, this.#version);
      requireLineItems(copy.newLineItems);
      requireShippingMethods(copy.newShippingMethods);
      requireErrors(copy.errors);
      return copy;
    }

    // New methods keep the chosen one if it is among them; otherwise the first stands, as at the beginning.
    #offer(methods) {
      if (!methods) return;
      this.#methods = methods;
      this.#method = methods.find(({ identifier }) => identifier === this.#method?.identifier) ?? methods[0];
    }

    // ── Authorization

    async #authorize() {
      if (this.#obstacle) throw new Error(this.#obstacle);
      this.#errors = [];
      this.#enter("authorizing");
      let token;
      try {
        token = await wallet.mintPaymentToken({
          cardId: this.#card.id,
          merchantSession: this.#merchantSession,
          sheetId: this.#sheetId, // a merchant session serves one sheet, however often its shopper has to try
          amount: this.#total.type === "pending" ? "0" : this.#total.amount,
          currency: this.#request.currencyCode,
          applicationData: applicationData(this.#request.applicationData),
        });
      } catch (error) {
        return this.#fail(error.message);
      }
      if (this.#isOver) return;
      this.#deadline = setTimeout(() => this.#expire("paymentauthorized"), ANSWER_WITHIN);
      this.#enter("authorized");
      this.#fire("paymentauthorized", { payment: this.#payment(token) });
    }

    #payment(token) {
      const payment = { token };
      if (this.#shippingFields.length > 0) {
        const pickup = this.#isPickup ? this.#request.shippingContact : {};
        payment.shippingContact = fullContact({ ...this.#contact, ...pickup }, this.#shippingFields);
      }
      if (this.#billingFields.length > 0) {
        payment.billingContact = fullContact(this.#contacts[0], this.#billingFields);
      }
      return payment;
    }

    completePayment(result) {
      if (this.#state !== "authorized") throw invalidAccess(`No result is awaited: the session is ${this.#state}.`);
      const { status, errors } = typeof result === "number" ? { status: result, errors: legacyErrors(result) } : result;
      if (![0, 1, 2, 3, 4, 5, 6, 7].includes(status)) throw new TypeError(`"${status}" is not a valid status.`);
      requireErrors(errors);
      clearTimeout(this.#deadline);
      this.#status = status;
      this.#errors = errors ?? [];
      const mayRetry = status !== ApplePaySession.STATUS_SUCCESS && this.#errors.length > 0;
      if (mayRetry) {
        this.#enter("active");
        this.#next();
      } else {
        this.#finish("completed");
      }
    }

    // ── The end

    #cancel() {
      if (this.#isOver) return;
      this.#finish("canceled");
      this.#fire("cancel", {});
    }

    #expire(type) {
      this.#fail(`The page did not answer "${type}" within ${ANSWER_WITHIN / 1000} seconds.`);
    }

    // The sheet says what went wrong, and the page hears only that it is over, as from Apple.
    #fail(reason) {
      if (this.#isOver) return;
      console.warn(`Simulated Apple Pay: ${reason}`);
      this.#finish("canceled", reason);
      this.#fire("cancel", {});
    }

    #finish(state, reason) {
      clearTimeout(this.#deadline);
      clearTimeout(this.#validationDeadline);
      this.#events = [];
      this.#state = state;
      if (reason) this.#sheet.close(reason, 4000);
      else if (state === "completed") this.#sheet.close(this.#verdict, 1000);
      else this.#sheet.close();
      for (const watcher of watchers) watcher();
    }

    get #verdict() {
      return this.#status === ApplePaySession.STATUS_SUCCESS ? "Done" : "Payment not completed";
    }

    // ── What the sheet and a test may know

    get #isOver() { return FINAL_STATES.includes(this.#state); }
    get #isPickup() { return this.#request.shippingContactEditingMode === "storePickup"; }
    get #offersCoupon() { return this.#version >= 12 && this.#request.supportsCouponCode === true; }
    get #shippingFields() { return this.#request.requiredShippingContactFields ?? []; }
    get #billingFields() { return this.#request.requiredBillingContactFields ?? []; }

    get #contactNoun() {
      return this.#shippingFields.includes("postalAddress") && !this.#isPickup ? "address" : "contact";
    }

    get #waitsFor() {
      if (!this.#card) return "Opening the wallet …";
      if (["authorizing", "authorized"].includes(this.#state)) return "Paying …";
      if (this.#validation !== "complete") return "Checking the shop …";
      if (this.#state !== "active" || this.#events.length > 0) return "Updating …";
    }

    // Why the Pay button cannot be pressed, or nothing.
    get #obstacle() {
      if (this.#isOver) return "The sheet is closed.";
      if (this.#waitsFor) return this.#waitsFor;
      if (this.#errors.some(isBlocking)) return `Choose another ${this.#contactNoun} to go on.`;
    }

    // Nothing is under way: the shopper may act, or everything is over.
    get #isReady() { return this.#isOver || !this.#waitsFor; }

    // What applePaySandbox may do and see.
    #handle() {
      return {
        isOver: () => this.#isOver,
        isReady: () => this.#isReady,
        cards: () => this.#cards,
        pay: () => this.#authorize(),
        cancel: () => this.#cancel(),
        card: (id) => this.#selectCard(id),
        contact: (id) => this.#selectContact(id),
        method: (identifier) => this.#selectMethod(identifier),
        coupon: (code) => this.#changeCoupon(code),
        snapshot: () => ({
          state: this.#state, status: this.#status, card: this.#card?.id, shippingContact: this.#contact?.id,
          shippingMethod: this.#method?.identifier, couponCode: this.#coupon, total: this.#total,
          lineItems: this.#items, shippingMethods: this.#methods, errors: this.#errors,
        }),
      };
    }

    #enter(state) {
      this.#state = state;
      this.#changed();
    }

    #changed() {
      if (this.#isOver) return;
      this.#sheet.show({
        cards: this.#cards, card: this.#card, contacts: this.#contacts, contact: this.#contact,
        methods: this.#methods, method: this.#method, coupon: this.#coupon, offersCoupon: this.#offersCoupon,
        total: this.#total, items: this.#items, errors: this.#errors, obstacle: this.#obstacle,
        isPaying: ["authorizing", "authorized"].includes(this.#state), isPickup: this.#isPickup,
        asksContact: this.#shippingFields.length > 0, asksAddress: this.#shippingFields.includes("postalAddress"),
      });
      for (const watcher of watchers) watcher();
    }

    #fire(type, members) {
      this.dispatchEvent(Object.assign(new Event(type), members));
    }
  }

  for (const type of EVENTS) {
    const handlers = new WeakMap();
    Object.defineProperty(ApplePaySession.prototype, `on${type}`, {
      configurable: true,
      enumerable: true,
      get() { return handlers.get(this) ?? null; },
      set(handler) {
        this.removeEventListener(type, handlers.get(this));
        handlers.set(this, typeof handler === "function" ? handler : null);
        this.addEventListener(type, handlers.get(this));
      },
    });
  }

  // ── The sheet ─────────────────────────────────────────────────────────────────────────────────────────────────

  const element = (tag, properties = {}, ...children) => {
    const { aria = {}, ...rest } = properties;
    const made = Object.assign(document.createElement(tag), rest);
    for (const [name, value] of Object.entries(aria)) made.setAttribute(name === "role" ? name : `aria-${name}`, value);
    made.append(...children);
    return made;
  };

  const SHIPPING_TITLES = {
    delivery: ["Delivery", "Deliver to"], storePickup: ["Pick-up", "Collected by"],
    servicePickup: ["Pick-up", "Picked up at"], shipping: ["Shipping", "Ship to"],
  };

  class Sheet {
    #actions;
    #money;
    #dialog;
    #isClosing = false;
    #card = new Choice("card", "Card");
    #contact;
    #methods;
    #coupon;
    #items = element("dl", { className: "aps-items" });
    #total = element("dl", { className: "aps-total" });
    #alert = element("p", { className: "aps-alert", aria: { role: "alert" } });
    #status = element("p", { className: "aps-status", aria: { role: "status" } });
    #pay = element("button", { type: "button", className: "aps-pay", disabled: true }, "Pay");
    #cancel = element("button", { type: "button", className: "aps-cancel" }, "Cancel");

    constructor(request, actions) {
      this.#actions = actions;
      const language = document.documentElement.lang || navigator.language;
      this.#money = new Intl.NumberFormat(language, { style: "currency", currency: request.currencyCode });
      const [noun, contactTitle] = SHIPPING_TITLES[request.shippingType ?? "shipping"];
      const asksAddress = request.requiredShippingContactFields?.includes("postalAddress");
      this.#contact = new Choice("contact", asksAddress ? contactTitle : "Contact");
      this.#methods = new Methods(noun, this.#money, (identifier) => actions.method(identifier));
      this.#coupon = new Coupon((code) => actions.coupon(code));
      this.#card.onchoice = (id) => actions.card(id);
      this.#contact.onchoice = (id) => actions.contact(id);
      this.#pay.addEventListener("click", () => actions.pay());
      this.#cancel.addEventListener("click", () => this.#dismiss());
      this.#dialog = this.#build(request.total.label);
      document.body.append(this.#dialog);
      this.#dialog.showModal();
    }

    #build(merchant) {
      const dialog = element(
        "dialog",
        { className: "apple-pay-sandbox", aria: { labelledby: "aps-title", describedby: "aps-mark" } },
        element(
          "header", {},
          element("h2", { id: "aps-title", tabIndex: -1, autofocus: true }, "Simulated Apple Pay"), " ",
          element("p", { id: "aps-mark", className: "aps-mark" }, "Simulated – not Apple")),
        element(
          "div", { className: "aps-body" },
          this.#card.element, this.#contact.element, this.#methods.element, this.#coupon.element, this.#items),
        element("footer", {}, this.#total, this.#alert, this.#status, this.#cancel, this.#pay));
      dialog.dataset.merchant = merchant;
      // The Escape key is the shopper's Cancel, and goes the same way.
      dialog.addEventListener("cancel", (event) => {
        event.preventDefault();
        this.#dismiss();
      });
      return dialog;
    }

    #dismiss() {
      if (this.#isClosing) this.#remove();
      else this.#actions.cancel();
    }

    show(view) {
      this.#card.show(view.cards?.map(cardOption), view.card?.id, view.card?.explanation ?? "");
      this.#contact.show(
        view.asksContact ? view.contacts?.map(contactOption) : undefined, view.contact?.id,
        view.contact && (view.asksAddress ? contactLines(view.contact).join(", ") : reachLines(view.contact)),
        view.errors.filter(isOfContact));
      this.#methods.show(view.methods, view.method);
      this.#coupon.show(view.offersCoupon, view.coupon, view.errors);
      this.#showItems(view.items, view.total);
      this.#showErrors(view.errors.filter((error) => !isOfCoupon(error) && !(view.asksContact && isOfContact(error))));
      this.#showProgress(view);
    }

    #showItems(items, total) {
      this.#items.hidden = items.length === 0;
      this.#items.replaceChildren(...items.map((item) => this.#row(item)));
      this.#total.replaceChildren(this.#row(total));
    }

    #row({ label, amount, type }) {
      const sum = type === "pending" ? "Amount pending" : this.#money.format(amount);
      return element("div", {}, element("dt", {}, label), element("dd", {}, sum));
    }

    #showErrors(errors) {
      const text = messages(errors);
      if (this.#alert.textContent !== text) this.#alert.textContent = text;
      this.#alert.hidden = !text;
    }

    #showProgress({ obstacle, isPaying }) {
      const hadFocus = document.activeElement === this.#pay;
      this.#pay.disabled = obstacle !== undefined;
      if (hadFocus && this.#pay.disabled) this.#cancel.focus();
      for (const part of [this.#card, this.#contact, this.#methods, this.#coupon]) part.element.disabled = isPaying;
      this.#dialog.toggleAttribute("data-busy", obstacle?.endsWith("…") ?? false);
      this.#say(obstacle ?? "Ready to pay.");
    }

    #say(text) {
      if (this.#status.textContent !== text) this.#status.textContent = text;
    }

    // With a last word, it stands long enough for that to be read; the page behind it is free again, and has the focus.
    close(word, time) {
      if (word === undefined) return this.#remove();
      this.#isClosing = true;
      this.#dialog.close();
      this.#dialog.toggleAttribute("open", true);
      this.#pay.disabled = true;
      this.#cancel.textContent = "Close";
      this.#dialog.removeAttribute("data-busy");
      this.#dialog.dataset.verdict = word === "Done" ? "done" : "failed";
      this.#say(word);
      setTimeout(() => this.#remove(), time);
    }

    #remove() {
      this.#dialog.close();
      this.#dialog.remove();
    }
  }

  const DEFAULT_MESSAGES = {
    unknown: "Something went wrong. Try again.",
    shippingContactInvalid: "This contact is not complete.",
    billingContactInvalid: "The card's billing address is not complete.",
    addressUnserviceable: "This shop does not deliver to this address.",
    couponCodeInvalid: "This code is not valid.",
    couponCodeExpired: "This code has expired.",
  };

  const messages = (errors) => errors.map(({ message, code }) => message || DEFAULT_MESSAGES[code]).join(" ");

  const isOfContact = ({ code }) => ["shippingContactInvalid", "addressUnserviceable"].includes(code);
  const isOfCoupon = ({ code }) => code.startsWith("coupon");

  const cardOption = (card) => ({
    value: card.id, text: [`${card.label} (${card.displayName})`, card.refusal].filter(Boolean).join(" – "),
    disabled: card.refusal !== undefined,
  });

  const contactOption = (contact) => ({ value: contact.id, text: contact.label });

  const reachLines = ({ givenName, familyName, phoneNumber, emailAddress }) =>
    [[givenName, familyName].filter(Boolean).join(" "), phoneNumber, emailAddress].filter(Boolean).join(", ");

  // A labelled list of which one thing is chosen, with what is wrong with that beside it.
  class Choice {
    #select;
    #hint;
    #error;

    constructor(name, title) {
      const ids = { hint: `aps-${name}-hint`, error: `aps-${name}-error` };
      this.#select = element("select", { id: `aps-${name}`, aria: { describedby: `${ids.error} ${ids.hint}` } });
      this.#hint = element("p", { id: ids.hint, className: "aps-hint" });
      this.#error = element("p", { id: ids.error, className: "aps-alert", hidden: true, aria: { role: "alert" } });
      const label = element("label", { htmlFor: this.#select.id }, title);
      this.element = element(
        "fieldset", { hidden: true, aria: { role: "none" } }, label, this.#select, this.#hint, this.#error);
      this.#select.addEventListener("change", () => this.onchoice(this.#select.value));
    }

    show(options, chosen, hint = "", errors = []) {
      this.element.hidden = !options;
      if (!options) return;
      if (this.#select.options.length !== options.length) {
        this.#select.replaceChildren(...options.map((option) => element("option", option)));
      }
      this.#select.value = chosen;
      this.#hint.textContent = hint;
      this.#select.setAttribute("aria-invalid", String(errors.length > 0));
      const text = messages(errors);
      if (this.#error.textContent === text) return;
      this.#error.textContent = text;
      this.#error.hidden = !text;
      if (text) this.#error.scrollIntoView({ block: "nearest" });
    }
  }

  // The shipping methods as one group of radio buttons.
  class Methods {
    #money;
    #choose;
    #list = element("div", { className: "aps-methods" });

    constructor(title, money, choose) {
      this.#money = money;
      this.#choose = choose;
      this.element = element("fieldset", { hidden: true }, element("legend", {}, title), this.#list);
    }

    show(methods, chosen) {
      this.element.hidden = methods.length === 0;
      const key = JSON.stringify(methods);
      if (this.#list.dataset.key !== key) {
        const focused = this.#list.contains(document.activeElement);
        this.#list.replaceChildren(...methods.map((method) => this.#option(method)));
        this.#list.dataset.key = key;
        if (focused) this.#radio(chosen)?.focus();
      }
      const radio = this.#radio(chosen);
      if (radio) radio.checked = true;
    }

    #radio(method) {
      return [...this.#list.querySelectorAll("input")].find(({ value }) => value === method?.identifier);
    }

    #option({ identifier, label, detail, amount }) {
      const radio = element("input", { type: "radio", name: "aps-method", value: identifier });
      radio.addEventListener("change", () => this.#choose(identifier));
      return element(
        "label", {}, radio,
        element("span", {}, label, element("small", {}, detail)), element("span", {}, this.#money.format(amount)));
    }
  }

  // The field for a coupon code, with its own error beside it.
  class Coupon {
    #input = element("input", { id: "aps-coupon", autocomplete: "off", aria: { describedby: "aps-coupon-error" } });
    #error = element("p", { id: "aps-coupon-error", className: "aps-alert", aria: { role: "alert" } });
    #shown = "";

    constructor(apply) {
      const button = element("button", { type: "button" }, "Apply code");
      const submit = () => apply(this.#input.value.trim());
      button.addEventListener("click", submit);
      this.#input.addEventListener("keydown", (event) => event.key === "Enter" && submit());
      this.element = element(
        "fieldset", { className: "aps-coupon", hidden: true, aria: { role: "none" } },
        element("label", { htmlFor: "aps-coupon" }, "Coupon code"),
        element("div", {}, this.#input, button), this.#error);
    }

    show(isOffered, code, errors) {
      this.element.hidden = !isOffered;
      if (code !== this.#shown) this.#input.value = this.#shown = code;
      const own = errors.filter(isOfCoupon);
      this.#error.textContent = messages(own);
      this.#error.hidden = own.length === 0;
      this.#input.setAttribute("aria-invalid", String(own.length > 0));
    }
  }

  // ── What a test drives the sheet by ───────────────────────────────────────────────────────────────────────────

  // Resolves when the condition holds, looking again at every change of the sheet.
  const until = (condition, complaint) =>
    new Promise((resolve, reject) => {
      const watcher = () => condition() && finish(resolve);
      const timer = setTimeout(() => finish(() => reject(new Error(complaint))), ANSWER_WITHIN);
      const finish = (settle) => {
        clearTimeout(timer);
        watchers.delete(watcher);
        settle();
      };
      watchers.add(watcher);
      watcher();
    });

  const openSheet = async () => {
    await until(() => current?.isOver() === false, "No sheet was opened.");
    return current;
  };

  // Each step waits for the sheet, acts as the shopper would, waits again, and tells how the sheet stands.
  const drive = async (act) => {
    const sheet = await openSheet();
    await until(sheet.isReady, "The sheet did not become ready.");
    if (sheet.isOver()) throw new Error("The sheet closed by itself.");
    await act(sheet);
    await until(sheet.isReady, "The sheet did not settle.");
    return sheet.snapshot();
  };

  const declinedCard = (sheet) => {
    const card = sheet.cards().find(({ outcome, refusal }) => !refusal && /^decline/.test(outcome ?? ""));
    if (!card) throw new Error("No card in the simulated wallet is declined.");
    return card.id;
  };

  const sandbox = {
    /** Presses Pay. */
    approve: () => drive((sheet) => sheet.pay()),
    /** Pays with a card that its issuer declines. */
    async decline() {
      await drive((sheet) => sheet.card(declinedCard(sheet)));
      return sandbox.approve();
    },
    async cancel() {
      const sheet = await openSheet();
      sheet.cancel();
      return sheet.snapshot();
    },
    selectCard: (id) => drive((sheet) => sheet.card(id)),
    selectShippingContact: (id) => drive((sheet) => sheet.contact(id)),
    selectShippingMethod: (identifier) => drive((sheet) => sheet.method(identifier)),
    enterCouponCode: (text) => drive((sheet) => sheet.coupon(text)),
  };

  const define = (name, value) => Object.defineProperty(window, name, { value, configurable: true, writable: true });
  define("ApplePaySession", ApplePaySession);
  define("ApplePayError", ApplePayError);
  define("applePaySandbox", Object.freeze(sandbox));
})();
