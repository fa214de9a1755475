import { ANSWER_WITHIN, clock } from "./clock.js";
import { fullContact, redactedContact } from "./contacts.js";
import { isBlocking, isOfBillingContact, isOfShippingContact, isPINStatus, STATUS, whyNotShown } from "./errors.js";
import { whyNotPresented } from "./rules.js";
import { Sheet } from "./sheet.js";
import { wallet } from "./wallet.js";
import { advise } from "./web-idl.js";

// One sheet from beginning to end: what the shopper does in it, what the page is told of that, and how long it may
// take to answer. Apple Pay JS and W3C Payment Request are two ways to talk with it.

/** What the shopper can change: the state in which the page's answer is awaited. */
export const SELECTIONS = {
  paymentmethodselected: "paymentMethodSelected",
  shippingcontactselected: "shippingContactSelected",
  shippingmethodselected: "shippingMethodSelected",
  couponcodechanged: "couponCodeChanged",
};
const FINAL_STATES = ["aborted", "completed", "canceled"];
const THIS_DEVICE = { id: "this", name: "This device", kind: "this" };
const DEVICE_POLL = 300;

const watchers = new Set(); // what waits for a change of any sheet
let latest; // the page's latest sheet

export const latestPresentation = () => latest;
export const hasOpenSheet = () => latest !== undefined && !latest.isOver;
export const watch = (watcher) => {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
};

export class Presentation {
  #version;
  #request;
  #host;
  #state = "active";
  #validation = "idle";
  #merchantSession;
  #sheetId = crypto.randomUUID();
  #queue = []; // selections the page has not been told of yet
  #stopDeadline = () => {};
  #stopValidationDeadline = () => {};
  #sheet;
  #cards;
  #contacts;
  #billingContacts;
  #devices = [THIS_DEVICE];
  #device = THIS_DEVICE;
  #card;
  #contact;
  #billingContact;
  #method;
  #methods;
  #coupon;
  #total;
  #items;
  #special;
  #errors = [];
  #notice = "";
  #confirmation; // what a paired device is asked
  #status;
  #failure;
  #history = [];

  /**
   * @param request a copy that nobody else changes, already found right
   * @param host whoever tells the page: `hears(type)`, `validateMerchant(url)`, `select(type, value)`,
   *   `authorize(payment)`, `cancel()`
   */
  constructor(version, request, host) {
    this.#version = version;
    this.#request = request;
    this.#host = host;
    this.#total = request.total;
    this.#items = request.lineItems ?? [];
    this.#methods = request.shippingMethods ?? [];
    this.#method = this.#methods.find(({ isSelected }) => isSelected) ?? this.#methods[0];
    this.#coupon = request.couponCode ?? "";
    this.#special = Object.fromEntries(
      ["recurringPaymentRequest", "automaticReloadPaymentRequest", "deferredPaymentRequest", "multiTokenContexts"]
        .map((name) => [name, request[name]]));
  }

  get state() { return this.#state; }
  get isOver() { return FINAL_STATES.includes(this.#state); }
  get isValidating() { return this.#validation === "validating"; }

  open() {
    latest = this;
    this.#sheet = new Sheet(this.#request, this.#actions);
    this.#note("begin");
    this.#enter("active");
    const refusal = whyNotPresented(this.#request);
    if (refusal) {
      setTimeout(() => this.#fail(refusal));
      return;
    }
    this.#validateMerchant();
    this.#openWallet();
  }

  // ── Merchant validation

  async #validateMerchant() {
    try {
      const url = await wallet.validationURL();
      if (this.isOver) return;
      this.#validation = "validating";
      this.#note("validatemerchant");
      this.#stopValidationDeadline = clock.after(ANSWER_WITHIN, () => this.#expire("validatemerchant"));
      if (!this.#host.hears("validatemerchant")) advise("Nobody listens to validatemerchant; the sheet cannot go on.");
      this.#changed();
      this.#host.validateMerchant(url);
    } catch (error) {
      this.#fail(error.message);
    }
  }

  answerValidation(merchantSession) {
    this.#stopValidationDeadline();
    this.#validation = "answered";
    this.#note("completeMerchantValidation");
    this.#accept(merchantSession);
  }

  // The device judges the session: its age, its domain, whether it was used, and that nobody changed it.
  async #accept(merchantSession) {
    try {
      await wallet.checkSession(merchantSession);
    } catch (error) {
      this.#fail(error.message);
      return;
    }
    if (this.isOver) return;
    this.#merchantSession = merchantSession;
    this.#validation = "complete";
    this.#changed();
  }

  // ── The wallet

  async #openWallet() {
    try {
      [this.#cards, this.#contacts] = await Promise.all([wallet.cards(), wallet.contacts()]);
    } catch (error) {
      this.#fail(error.message);
      return;
    }
    if (this.isOver) return;
    this.#cards = this.#cards.map((card) => ({ ...card, refusal: this.#refusalOf(card) }));
    this.#billingContacts = withPreset(this.#contacts, this.#asksBillingAddress && this.#request.billingContact);
    this.#contacts = withPreset(this.#contacts, !this.#isPickup && this.#request.shippingContact);
    this.#card = this.#cards.find((card) => !card.refusal);
    this.#contact = this.#contacts[0];
    this.#billingContact = this.#billingContacts[0];
    if (!this.#card) {
      this.#fail("No card in the simulated wallet can pay here.");
      return;
    }
    this.#tellCard();
    this.#tellContact();
    this.#next();
    this.#watchDevices();
  }

  #refusalOf(card) {
    const networks = this.#request.supportedNetworks.map((network) => network.toLowerCase());
    if (!networks.includes(card.network.toLowerCase())) return "not accepted here";
    const kinds = this.#request.merchantCapabilities.filter((name) => /^supports(Credit|Debit)$/.test(name));
    const needed = { credit: "supportsCredit", debit: "supportsDebit" }[card.type];
    if (kinds.length > 0 && needed && !kinds.includes(needed)) return `${card.type} cards are not accepted here`;
    const countries = this.#request.supportedCountries;
    if (countries && card.country && !countries.includes(card.country)) return "not accepted from its country";
    return undefined;
  }

  // Phones and watches come and go while the sheet is open.
  async #watchDevices() {
    while (!this.isOver) {
      const devices = [THIS_DEVICE, ...await wallet.devices().catch(() => [])];
      if (this.isOver) return;
      if (JSON.stringify(devices) !== JSON.stringify(this.#devices)) {
        this.#devices = devices;
        this.#device = devices.find(({ id }) => id === this.#device.id) ?? THIS_DEVICE;
        this.#changed();
      }
      await pause(DEVICE_POLL * 5);
    }
  }

  // ── What the shopper chooses

  #selectCard(id) {
    const card = this.#cards?.find((card) => card.id === id);
    if (!card || card.refusal) throw new Error(`No card "${id}" can pay here.`);
    this.#card = card;
    this.#forget((error) => error.code === "unknown");
    this.#tellCard();
    this.#next();
  }

  #selectContact(id) {
    this.#contact = named(this.#contacts, id);
    this.#forget(isOfShippingContact);
    this.#tellContact();
    this.#next();
  }

  #selectBillingContact(id) {
    if (!this.#asksBilling) throw new Error("The page's request asks for no billing contact.");
    this.#billingContact = named(this.#billingContacts, id);
    this.#forget(isOfBillingContact);
    this.#tellCard();
    this.#next();
  }

  #selectMethod(identifier) {
    const method = this.#methods.find((method) => method.identifier === identifier);
    if (!method) throw new Error(`The page offers no shipping method "${identifier}".`);
    this.#method = method;
    this.#queue.push(["shippingmethodselected", method]);
    this.#next();
  }

  #changeCoupon(code) {
    if (!this.#request.supportsCouponCode) throw new Error("The page's request does not support coupon codes.");
    this.#coupon = code;
    this.#queue.push(["couponcodechanged", code]);
    this.#next();
  }

  #selectDevice(id) {
    const device = this.#devices.find((device) => device.id === id || device.name === id);
    if (!device) throw new Error(`No phone or watch "${id}" is paired.`);
    this.#device = device;
    this.#changed();
  }

  #forget(isSettled) {
    this.#errors = this.#errors.filter((error) => !isSettled(error));
    this.#notice = "";
  }

  #tellCard() {
    const paymentMethod = { type: this.#card.type };
    if (this.#version >= 10 && this.#asksBillingAddress) {
      paymentMethod.billingContact = redactedContact(this.#billingContact);
    }
    this.#queue.push(["paymentmethodselected", paymentMethod]);
  }

  #tellContact() {
    if (this.#asksAddress && !this.#isPickup) {
      this.#queue.push(["shippingcontactselected", redactedContact(this.#contact)]);
    }
  }

  // One selection at a time: the page answers one before it hears of the next. One that nobody listens to is answered
  // by the engine itself, with nothing changed.
  #next() {
    if (this.#state !== "active" || this.#queue.length === 0) {
      this.#changed();
      return;
    }
    const [type, value] = this.#queue.shift();
    const state = SELECTIONS[type];
    if (!this.#host.hears(type)) {
      this.#next();
      return;
    }
    this.#stopDeadline = clock.after(ANSWER_WITHIN, () => this.#expire(type));
    this.#enter(state);
    setTimeout(() => {
      if (this.#state !== state) return;
      this.#note(type);
      this.#host.select(type, value);
    });
  }

  /** The page's answer to a selection; what it says is already found right. */
  answer(update) {
    this.#note("answer", this.#state);
    this.#stopDeadline();
    this.#adviseOnErrors(update.errors);
    this.#total = update.newTotal ?? this.#total;
    this.#items = update.newLineItems ?? this.#items;
    this.#offer(update.newShippingMethods);
    this.#errors = update.errors ?? [];
    for (const name of Object.keys(this.#special)) {
      this.#special[name] = update[`new${name[0].toUpperCase()}${name.slice(1)}`] ?? this.#special[name];
    }
    this.#enter("active");
    this.#next();
  }

  // New methods keep the chosen one if it is among them; otherwise the first stands, as at the beginning.
  #offer(methods) {
    if (!methods) return;
    this.#methods = methods;
    this.#method = methods.find(({ isSelected }) => isSelected)
      ?? methods.find(({ identifier }) => identifier === this.#method?.identifier) ?? methods[0];
  }

  #adviseOnErrors(errors = []) {
    for (const error of errors) {
      const reason = whyNotShown(error, this.#state);
      if (reason) advise(reason);
    }
  }

  // ── Authorization

  async #authorize() {
    if (this.#obstacle) throw new Error(this.#obstacle);
    this.#errors = [];
    this.#notice = "";
    this.#enter("authorizing");
    try {
      if (this.#device !== THIS_DEVICE && !await this.#isConfirmed()) return;
      if (this.isOver) return;
      const token = await wallet.mintPaymentToken(this.#order);
      if (this.isOver) return;
      this.#tellAuthorized(token);
    } catch (error) {
      this.#fail(error.message);
    }
  }

  /** Whether the shopper confirmed on the paired device. A refusal there leads back to this sheet. */
  async #isConfirmed() {
    const { id } = await wallet.askDevice(this.#device.id, this.#confirmationPayment);
    this.#confirmation = id;
    this.#changed();
    for (;;) {
      const { state } = await wallet.confirmation(id);
      if (this.isOver) return false;
      if (state === "approved") break;
      if (state === "cancelled") {
        this.#confirmation = undefined;
        this.#notice = `Not confirmed on ${this.#device.name}.`;
        this.#enter("active");
        return false;
      }
      await pause(DEVICE_POLL);
    }
    this.#confirmation = undefined;
    this.#changed();
    return true;
  }

  get #confirmationPayment() {
    const { amount } = this.#total;
    return {
      merchant: this.#total.label, amount: this.#total.type === "pending" ? "" : amount,
      currency: this.#request.currencyCode, card: this.#card.displayName, page: location.host,
    };
  }

  get #order() {
    return {
      cardId: this.#card.id,
      merchantSession: this.#merchantSession,
      sheetId: this.#sheetId, // a merchant session serves one sheet, however often its shopper has to try
      amount: this.#total.type === "pending" ? "0" : this.#total.amount,
      currency: this.#request.currencyCode,
      applicationData: applicationData(this.#request.applicationData),
    };
  }

  #tellAuthorized(token) {
    this.#stopDeadline = clock.after(ANSWER_WITHIN, () => this.#expire("paymentauthorized"));
    this.#enter("authorized");
    this.#note("paymentauthorized");
    if (!this.#host.hears("paymentauthorized")) advise("Nobody listens to paymentauthorized.");
    this.#host.authorize(this.#payment(token), {
      contact: fullContact(this.#contact, ALL_FIELDS), method: this.#method,
    });
  }

  #payment(token) {
    const payment = { token };
    if (this.#shippingFields.length > 0) {
      const pickup = this.#isPickup ? this.#request.shippingContact : {};
      payment.shippingContact = fullContact({ ...this.#contact, ...pickup }, this.#shippingFields);
    }
    if (this.#asksBilling) payment.billingContact = fullContact(this.#billingContact, this.#billingFields);
    return payment;
  }

  /** The page's result. A failure with errors, and a wish for a PIN, leave the sheet open for another try. */
  complete({ status, errors = [] }) {
    this.#note("completePayment");
    this.#stopDeadline();
    this.#adviseOnErrors(errors);
    this.#status = status;
    this.#errors = errors;
    const mayRetry = isPINStatus(status) || (status !== STATUS.SUCCESS && errors.length > 0);
    if (!mayRetry) {
      this.#finish("completed", status === STATUS.SUCCESS ? "Done" : "Payment not completed", 1000);
      return;
    }
    this.#notice = PIN_NOTICES[status] ?? "";
    this.#enter("active");
    this.#next();
  }

  // ── The end

  abort() {
    this.#note("abort");
    this.#finish("aborted");
  }

  /** The page gave an answer after which no sheet goes on. */
  requestCancel() {
    this.#stopDeadline();
    this.#enter("cancelRequested");
    setTimeout(() => this.cancel());
  }

  cancel() {
    if (this.isOver) return;
    this.#finish("canceled");
    this.#note("cancel");
    this.#host.cancel();
  }

  #expire(type) {
    this.#fail(`The page did not answer "${type}" within ${ANSWER_WITHIN / 1000} seconds.`);
  }

  // The sheet says what went wrong, and the page hears only that it is over, as from Apple.
  #fail(reason) {
    if (this.isOver) return;
    this.#failure = reason;
    advise(reason);
    this.#finish("canceled", reason, 4000);
    this.#note("cancel");
    this.#host.cancel();
  }

  #finish(state, word, time) {
    this.#stopDeadline();
    this.#stopValidationDeadline();
    if (this.#confirmation) wallet.withdraw(this.#confirmation).catch(() => {});
    this.#queue = [];
    this.#state = state;
    this.#sheet.close(word, time, this.#status === STATUS.SUCCESS);
    for (const watcher of watchers) watcher();
  }

  // ── What the sheet and a test may know

  get #isPickup() { return this.#request.shippingContactEditingMode === "storePickup"; }
  get #shippingFields() { return this.#request.requiredShippingContactFields ?? []; }
  get #billingFields() { return this.#request.requiredBillingContactFields ?? []; }
  get #asksAddress() { return this.#shippingFields.includes("postalAddress"); }
  get #asksBilling() { return this.#billingFields.length > 0; }
  get #asksBillingAddress() { return this.#billingFields.includes("postalAddress"); }

  get #waitsFor() {
    if (this.#confirmation) return `Confirm on ${this.#device.name} …`;
    if (["authorizing", "authorized"].includes(this.#state)) return "Paying …";
    if (this.#validation !== "complete") return "Checking the shop …";
    if (!this.#card) return "Opening the wallet …";
    if (this.#state !== "active" || this.#queue.length > 0) return "Updating …";
    return undefined;
  }

  // Why the Pay button cannot be pressed, or nothing.
  get #obstacle() {
    if (this.isOver) return "The sheet is closed.";
    if (this.#waitsFor) return this.#waitsFor;
    if (this.#status === STATUS.PIN_LOCKOUT) return "Choose another way to pay.";
    const blocking = this.#errors.find(isBlocking);
    if (!blocking) return undefined;
    if (isOfBillingContact(blocking)) return "Choose another billing address or card to go on.";
    return `Choose another ${this.#asksAddress && !this.#isPickup ? "address" : "contact"} to go on.`;
  }

  /** Nothing is under way: the shopper may act, or everything is over. */
  get isReady() { return this.isOver || !this.#waitsFor; }

  get actions() { return this.#actions; }

  get #actions() {
    return {
      pay: () => this.#authorize(),
      cancel: () => this.cancel(),
      card: (id) => this.#selectCard(id),
      contact: (id) => this.#selectContact(id),
      billingContact: (id) => this.#selectBillingContact(id),
      method: (identifier) => this.#selectMethod(identifier),
      coupon: (code) => this.#changeCoupon(code),
      device: (id) => this.#selectDevice(id),
    };
  }

  get cards() { return this.#cards ?? []; }
  get devices() { return this.#devices; }

  /** How the sheet stands, as plain data. */
  get snapshot() {
    return structuredClone({
      state: this.#state, status: this.#status, failure: this.#failure, card: this.#card?.id,
      shippingContact: this.#contact?.id, billingContact: this.#asksBilling ? this.#billingContact?.id : undefined,
      shippingMethod: this.#method?.identifier, couponCode: this.#coupon, device: this.#device.id, total: this.#total,
      lineItems: this.#items, shippingMethods: this.#methods, canPay: this.#obstacle === undefined,
      obstacle: this.#obstacle, history: this.#history,
      errors: this.#errors.map(({ code, contactField, message }) => ({ code, contactField, message })),
    });
  }

  #note(event, detail) {
    this.#history.push({ event, ...(detail ? { detail } : {}), at: Math.round(clock.now()) });
  }

  #enter(state) {
    this.#state = state;
    this.#changed();
  }

  #changed() {
    if (this.isOver) return;
    this.#sheet.show({
      devices: this.#devices, device: this.#device, cards: this.#cards, card: this.#card, contacts: this.#contacts,
      contact: this.#contact, billingContacts: this.#billingContacts, billingContact: this.#billingContact,
      methods: this.#methods, method: this.#method, coupon: this.#coupon,
      offersCoupon: this.#request.supportsCouponCode === true, special: this.#special, total: this.#total,
      items: this.#items, errors: this.#errors, notice: this.#notice, obstacle: this.#obstacle,
      isPaying: ["authorizing", "authorized"].includes(this.#state),
      pickup: this.#isPickup ? this.#request.shippingContact : undefined, asksContact: this.#shippingFields.length > 0,
      asksAddress: this.#asksAddress, asksBilling: this.#asksBilling,
    });
    for (const watcher of watchers) watcher();
  }
}

const ALL_FIELDS = ["email", "phone", "name", "phoneticName", "postalAddress"];

const PIN_NOTICES = {
  [STATUS.PIN_REQUIRED]: "This card asks for its PIN. Pay again, as if you had entered it.",
  [STATUS.PIN_INCORRECT]: "The PIN was not right. Pay again, as if you had entered another.",
  [STATUS.PIN_LOCKOUT]: "The PIN was wrong too often.",
};

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** What a page presets is the first thing offered. */
const withPreset = (contacts, preset) =>
  preset && Object.keys(preset).length > 0 ? [{ ...preset, id: "page", label: "From this page" }, ...contacts]
    : contacts;

const named = (contacts, id) => {
  const contact = contacts?.find((contact) => contact.id === id);
  if (!contact) throw new Error(`The simulated wallet has no contact "${id}".`);
  return contact;
};

// Application data that is not Base64 is ignored, as browsers do, though not without a word.
const applicationData = (text) => {
  try {
    return text && atob(text) ? text : undefined;
  } catch {
    advise("applicationData is not Base64 and is ignored.");
    return undefined;
  }
};
