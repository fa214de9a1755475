import { applePayModifier, applePayRequest } from "./dictionaries.js";
import { STATUS } from "./errors.js";
import { ListenerTarget, defineHandlers } from "./events.js";
import { hasOpenSheet } from "./latest-sheet.js";
import {
  APPLE_PAY,
  ApplePayPaymentResponse,
  detailsInit,
  detailsUpdate,
  errorsOfUpdate,
  fullName,
  lineItemOf,
  methodData,
  paymentAddress,
  paymentOptions,
  requireDetails,
  shippingMethodOf,
} from "./payment-response.js";
import { isInGesture, simulated, whyNoPage } from "./simulated-device.js";
import { Presentation } from "./presentation.js";
import { adviseOn, requireRules, requireUpdateRules, requireVersion } from "./rules.js";
import { listOf, refusal, requireArguments } from "./web-idl.js";

const closedByShopper = () => refusal("AbortError", "The shopper closed the payment sheet.");

/** `new PaymentRequest(…)` with Apple Pay among its methods: the W3C's way to the same sheet. */
export class ApplePayPaymentRequest extends ListenerTarget {
  #data;
  #details;
  #options;
  #state = "created";
  #presentation;
  #cardType;
  #shippingAddress = null;
  #shippingOption = null;
  #response; // settles the promise of `show()`: `{resolve, reject}`

  constructor(methods, details, options) {
    requireArguments(arguments, 2);
    if (whyNoPage()) throw refusal("SecurityError", whyNoPage());
    const known = listOf(methodData)(methods);
    if (known.length === 0) throw new TypeError("At least one payment method is required.");
    for (const { supportedMethods } of known) requireMethodIdentifier(supportedMethods);
    const initial = detailsInit(details);
    requireDetails(initial);
    const { data } = known.find(({ supportedMethods }) => supportedMethods === APPLE_PAY);
    super();
    this.#data = applePayRequest(data, Number(data?.version));
    this.#options = paymentOptions(options);
    this.#details = { ...initial, id: initial.id ?? crypto.randomUUID() };
    this.#shippingOption = this.#selectedOption;
  }

  get id() {
    return this.#details.id;
  }
  get shippingAddress() {
    return this.#shippingAddress;
  }
  get shippingOption() {
    return this.#shippingOption;
  }
  get shippingType() {
    return this.#options.requestShipping ? (this.#options.shippingType ?? "shipping") : null;
  }

  async canMakePayment() {
    if (this.#state !== "created") throw refusal("InvalidStateError", "The request was shown already.");
    return simulated.canMakePayments && this.#data.version >= 1 && this.#data.version <= simulated.newestVersion;
  }

  async show(detailsPromise) {
    if (!isInGesture()) throw refusal("SecurityError", "show() must be triggered by user activation.");
    if (this.#state !== "created") throw refusal("InvalidStateError", "The request was shown already.");
    if (hasOpenSheet()) throw refusal("AbortError", "Another payment request is shown already.");
    this.#state = "interactive";
    try {
      if (detailsPromise !== undefined) this.#change(detailsUpdate(await detailsPromise));
      return await this.#present();
    } catch (error) {
      this.#state = "closed";
      throw error;
    }
  }

  async abort() {
    if (this.#state !== "interactive") throw refusal("InvalidStateError", "No sheet is shown.");
    this.#end(refusal("AbortError", "The page closed the payment sheet."));
  }

  // ── The sheet

  #present() {
    const { version } = this.#data;
    const request = this.#request;
    requireVersion(version, simulated.newestVersion);
    requireRules(request, version);
    adviseOn(request);
    this.#presentation = new Presentation(version, request, this.#host);
    return new Promise((resolve, reject) => {
      this.#response = {
        reject,
        resolve: (values) =>
          resolve(
            new ApplePayPaymentResponse(values, {
              complete: (result) => this.#presentation.complete(result),
              retry: (errors) => this.#retry(errors),
            }),
          ),
      };
      this.#presentation.open();
    });
  }

  get #request() {
    const { requestPayerName, requestPayerEmail, requestPayerPhone, requestShipping, shippingType } = this.#options;
    const { newTotal, newLineItems, newShippingMethods } = this.#sums;
    const asked = [
      requestShipping && "postalAddress",
      requestPayerName && "name",
      requestPayerEmail && "email",
      requestPayerPhone && "phone",
    ].filter(Boolean);
    return {
      ...this.#data,
      currencyCode: this.#details.total.amount.currency.toUpperCase(),
      total: newTotal,
      ...(newLineItems.length > 0 ? { lineItems: newLineItems } : {}),
      shippingMethods: newShippingMethods,
      requiredShippingContactFields: [...new Set([...(this.#data.requiredShippingContactFields ?? []), ...asked])],
      shippingType: shippingType === "pickup" ? "storePickup" : (shippingType ?? "shipping"),
    };
  }

  get #host() {
    return {
      hasListener: (type) => type !== "couponcodechanged" || ListenerTarget.hasListener(this, "paymentmethodchange"),
      validateMerchant: (validationURL) => this.#validate(validationURL),
      select: (type, value) => this.#selected[type](value),
      authorize: (payment, chosen) => this.#authorize(payment, chosen),
      cancel: () => this.#close(closedByShopper()),
    };
  }

  #validate(validationURL) {
    const event = new MerchantValidationEvent(validationURL, (session) => {
      Promise.resolve(session).then(
        (value) => {
          if (!this.#presentation.isValidating) return;
          if (typeof value === "object" && value !== null) this.#presentation.answerValidation(value);
          else this.#end(refusal("AbortError", "The merchant session is not an object."));
        },
        (reason) => this.#end(refusal("AbortError", `The merchant was not validated: ${reason}`)),
      );
    });
    this.dispatchEvent(event);
  }

  get #selected() {
    return {
      paymentmethodselected: (paymentMethod) => {
        this.#cardType = paymentMethod.type;
        this.#dispatch(new PaymentMethodChangeEvent("paymentmethodchange", paymentMethod));
      },
      couponcodechanged: (couponCode) =>
        this.#dispatch(new PaymentMethodChangeEvent("paymentmethodchange", { couponCode })),
      shippingcontactselected: (contact) => {
        this.#shippingAddress = paymentAddress(contact);
        this.#dispatch(new PaymentRequestUpdateEvent("shippingaddresschange"));
      },
      shippingmethodselected: ({ identifier }) => {
        this.#shippingOption = identifier;
        this.#dispatch(new PaymentRequestUpdateEvent("shippingoptionchange"));
      },
    };
  }

  // An event that the page does not answer by `updateWith` changes nothing, but for what a modifier says of the card.
  #dispatch(event) {
    const awaited = this.#presentation.state;
    const isCurrent = () => this.#presentation.state === awaited;
    const answered = event.awaitUpdate(() => this.dispatchEvent(event));
    if (!answered) {
      this.#presentation.answer(this.#sums);
      return;
    }
    answered
      .then((details) => isCurrent() && this.#update(detailsUpdate(details)))
      .catch((error) => this.#end(refusal("AbortError", `The page's update failed: ${error?.message ?? error}`)));
  }

  #update(update) {
    this.#change(update);
    const sums = this.#sums;
    requireUpdateRules(sums, this.#data.version);
    this.#presentation.answer({ ...sums, errors: errorsOfUpdate(update) });
  }

  // What an update does not name stays as it was.
  #change({ total, displayItems, shippingOptions, modifiers, ...rest }) {
    const changed = Object.fromEntries(
      Object.entries({ total, displayItems, shippingOptions, modifiers }).filter(([, value]) => value !== undefined),
    );
    requireDetails({ ...this.#details, ...changed });
    this.#details = { ...this.#details, ...changed };
    if (shippingOptions) this.#shippingOption = this.#selectedOption;
    return rest;
  }

  get #selectedOption() {
    if (!this.#options.requestShipping) return null;
    return this.#details.shippingOptions?.findLast(({ selected }) => selected)?.id ?? null;
  }

  /** Total, items and methods for the chosen card: the first modifier that fits decides, the others are not looked at. */
  get #sums() {
    const { total, displayItems = [], shippingOptions = [], modifiers = [] } = this.#details;
    const fitting = modifiers
      .filter(({ supportedMethods }) => supportedMethods === APPLE_PAY)
      .map((modifier) => ({ ...modifier, data: applePayModifier(modifier.data, this.#data.version) }))
      .find(({ data }) => data.paymentMethodType === undefined || data.paymentMethodType === this.#cardType);
    const { data = {}, additionalDisplayItems = [] } = fitting ?? {};
    const methods = this.#options.requestShipping
      ? shippingOptions.map((option) => shippingMethodOf(option, this.#shippingOption))
      : [];
    return {
      newTotal: data.total ?? lineItemOf(fitting?.total ?? total),
      newLineItems: [
        ...displayItems.map(lineItemOf),
        ...additionalDisplayItems.map(lineItemOf),
        ...(data.additionalLineItems ?? []),
      ],
      newShippingMethods: [...methods, ...(data.additionalShippingMethods ?? [])],
    };
  }

  // ── The payment

  #authorize(payment, { contact, method }) {
    const { requestPayerName, requestPayerEmail, requestPayerPhone, requestShipping } = this.#options;
    this.#state = "closed";
    this.#response.resolve({
      requestId: this.id,
      methodName: APPLE_PAY,
      details: payment,
      shippingAddress: requestShipping ? paymentAddress(contact) : null,
      shippingOption: requestShipping ? (method?.identifier ?? null) : null,
      payerName: requestPayerName ? fullName(contact) : null,
      payerEmail: requestPayerEmail ? (contact.emailAddress ?? null) : null,
      payerPhone: requestPayerPhone ? (contact.phoneNumber ?? null) : null,
    });
  }

  #retry(errors) {
    return new Promise((resolve, reject) => {
      if (this.#presentation.isOver) {
        reject(closedByShopper());
        return;
      }
      this.#response = { resolve, reject };
      this.#state = "interactive";
      this.#presentation.complete({ status: STATUS.FAILURE, errors });
    });
  }

  #end(reason) {
    if (this.#presentation && !this.#presentation.isOver) this.#presentation.abort();
    this.#close(reason);
  }

  #close(reason) {
    this.#state = "closed";
    this.#response?.reject(reason);
  }
}
defineHandlers(ApplePayPaymentRequest, [
  "merchantvalidation",
  "paymentmethodchange",
  "shippingaddresschange",
  "shippingoptionchange",
]);

const requireMethodIdentifier = (identifier) => {
  const isWord = /^[a-z]+[0-9a-z]*(-[a-z]+[0-9a-z]*)*$/.test(identifier);
  if (!isWord && URL.parse(identifier)?.protocol !== "https:") {
    throw new RangeError(`"${identifier}" is an invalid payment method identifier.`);
  }
};

class PaymentRequestUpdateEvent extends Event {
  #isDispatched = false;
  #update;

  updateWith(details) {
    requireArguments(arguments, 1);
    if (!this.#isDispatched || this.#update) {
      throw refusal("InvalidStateError", "updateWith() is for once, and for the handler of the event.");
    }
    this.#update = Promise.resolve(details);
    this.stopImmediatePropagation();
  }

  /** Dispatches the event, and returns the update that its handler promised, if any. */
  awaitUpdate(dispatch) {
    this.#isDispatched = true;
    dispatch();
    this.#isDispatched = false;
    return this.#update;
  }
}

class PaymentMethodChangeEvent extends PaymentRequestUpdateEvent {
  constructor(type, methodDetails) {
    super(type);
    this.methodName = APPLE_PAY;
    this.methodDetails = methodDetails;
  }
}

class MerchantValidationEvent extends Event {
  #complete;

  constructor(validationURL, complete) {
    super("merchantvalidation");
    this.methodName = APPLE_PAY;
    this.validationURL = validationURL;
    this.#complete = complete;
  }

  complete(merchantSession) {
    requireArguments(arguments, 1);
    if (!this.#complete) throw refusal("InvalidStateError", "The merchant session was given already.");
    const complete = this.#complete;
    this.#complete = undefined;
    complete(merchantSession);
  }
}

const hasApplePay = (methods) =>
  typeof methods?.[Symbol.iterator] === "function"
  && [...methods].some((method) => method?.supportedMethods === APPLE_PAY);

/**
 * The page's `PaymentRequest`: the browser's own, if it has one, for everything but Apple Pay. As in Safari, Apple Pay
 * is what is shown when it is one method among several.
 */
export const paymentRequestOver = (native) => {
  const fallback = class PaymentRequest {
    constructor() {
      throw refusal("NotSupportedError", "This browser knows no payment method but the simulated Apple Pay.");
    }
  };
  const isOurs = (value) => value instanceof ApplePayPaymentRequest;
  return new Proxy(native ?? fallback, {
    construct: (target, given, newTarget) =>
      hasApplePay(given[0]) ? new ApplePayPaymentRequest(...given) : Reflect.construct(target, given, newTarget),
    get: (target, name, receiver) =>
      name === Symbol.hasInstance
        ? (value) => isOurs(value) || value instanceof target
        : Reflect.get(target, name, receiver),
  });
};
