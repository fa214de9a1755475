import { applePayRequest, completeDetails } from "./dictionaries.js";
import { webOptions } from "./code-flow.js";
import { STATUS } from "./errors.js";
import { ListenerTarget, defineHandlers } from "./events.js";
import { whenFrameGoes } from "./frames.js";
import { hasOpenSheet } from "./page-sheets.js";
import {
  canonicalDetails,
  canonicalTotal,
  detailsInit,
  detailsUpdate,
  isApplePay,
  methodData,
  methodIdentifier,
  openingSums,
  paymentOptions,
  selectedOption,
  updatedSums,
} from "./payment-details.js";
import { errorsOfRetry, errorsOfUpdate } from "./payment-errors.js";
import {
  answering,
  MerchantValidationEvent,
  PaymentMethodChangeEvent,
  PaymentRequestUpdateEvent,
} from "./payment-events.js";
import { ApplePayPaymentResponse, fullName, paymentAddress } from "./payment-response.js";
import { isInGesture, requirePageOfRequest, simulated } from "./simulated-device.js";
import { Presentation } from "./presentation.js";
import { adviseOn, forVersion, requireMethodRules, requireOrderDetails, requireShownRules } from "./rules.js";
import {
  aborted,
  invalidState,
  isObject,
  listOf,
  refusal,
  requireArguments,
  throughJSON,
  typeError,
  warn,
} from "./web-idl.js";

/** Apple Pay's `data`, as the constructor checks it and `show()` again. */
const applePayData = (data) => {
  if (data === undefined) throw new TypeError("Missing payment method data.");
  const request = applePayRequest(data, simulated.newestVersion);
  requireMethodRules(request, simulated.newestVersion);
  return request;
};

const canonicalMethods = (methods) => {
  if (methods.length === 0) throw new TypeError("At least one payment method is required.");
  const seen = new Set();
  return methods.map(({ supportedMethods, data }) => {
    const identifier = methodIdentifier(supportedMethods);
    if (seen.has(identifier)) throw new RangeError("Payment method IDs must be unique.");
    seen.add(identifier);
    const serialized = data && throughJSON(data);
    if (data && isApplePay(identifier)) applePayData(serialized);
    return { identifier, data: serialized };
  });
};

/** By the event's type, the state of the sheet that its answer ends. */
const STATE_OF_EVENT = {
  shippingaddresschange: ["shippingContactSelected"],
  shippingoptionchange: ["shippingMethodSelected"],
  paymentmethodchange: ["paymentMethodSelected", "couponCodeChanged"],
};

/** `new PaymentRequest(…)` with Apple Pay among its methods: the W3C's way to the same sheet. */
export class ApplePayPaymentRequest extends ListenerTarget {
  #methods;
  #details;
  #options;
  #state = "created";
  #presentation; // the sheet, until it was answered for good
  #cardType;
  #shippingAddress = null;
  #shippingOption = null;
  #showing; // settles the promise of `show()`: `{resolve, reject}`
  #response;
  #update; // what the page promised, until it is settled
  #isCancelPending = false;

  constructor(methods, details, options) {
    requireArguments(arguments, 2);
    const given = listOf(methodData)(methods);
    const init = detailsInit(details);
    const converted = paymentOptions(options);
    requirePageOfRequest();
    const canonical = canonicalMethods(given);
    const total = canonicalTotal(init.total);
    const rest = canonicalDetails(init, { requestShipping: converted.requestShipping, isUpdate: false });
    super();
    this.#methods = canonical;
    this.#options = converted;
    this.#details = { id: init.id ?? crypto.randomUUID(), total, ...rest };
    this.#shippingOption = selectedOption(rest.shippingOptions);
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
    if (this.#state !== "created") throw invalidState();
    return this.#applePay !== undefined && simulated.canMakePayments;
  }

  async show(detailsPromise) {
    if (!document.defaultView) throw aborted();
    if (!isInGesture()) throw refusal("SecurityError", "show() must be triggered by user activation.");
    webOptions.focusApplePayCodeWindow(); // for a shopper who taps again
    if (this.#state !== "created") throw invalidState();
    if (hasOpenSheet()) {
      this.#state = "closed";
      throw aborted();
    }
    this.#state = "interactive";
    if (!this.#applePay) throw refusal("NotSupportedError");
    return this.#present(this.#shownRequest, detailsPromise);
  }

  async abort() {
    const isRetrying = this.#response && ApplePayPaymentResponse.isRetrying(this.#response);
    if (isRetrying || this.#state !== "interactive") throw invalidState();
    this.#abortWith(aborted());
  }

  // ── The sheet

  get #applePay() {
    return this.#methods.find(({ identifier }) => isApplePay(identifier));
  }

  /** What the sheet is opened with. */
  get #shownRequest() {
    const data = applePayData(this.#applePay.data);
    const request = { ...forVersion(data, data.version), ...openingSums(this.#details, this.#shippingOption) };
    requireShownRules(request);
    adviseOn(request, data.version);
    return { ...request, ...this.#contactFields(data), shippingType: this.#appleShippingType };
  }

  #contactFields({ requiredShippingContactFields = [], requiredBillingContactFields = [] }) {
    const { requestShipping, requestPayerName, requestPayerEmail, requestPayerPhone, requestBillingAddress } =
      this.#options;
    const shipping = [
      requestShipping && "postalAddress",
      requestPayerName && "name",
      requestPayerEmail && "email",
      requestPayerPhone && "phone",
    ];
    const merged = (required, asked) => [...new Set([...required, ...asked.filter(Boolean)])];
    return {
      requiredShippingContactFields: merged(requiredShippingContactFields, shipping),
      requiredBillingContactFields: merged(requiredBillingContactFields, [requestBillingAddress && "postalAddress"]),
    };
  }

  get #appleShippingType() {
    const { requestShipping, shippingType = "shipping" } = this.#options;
    if (!requestShipping) return "shipping";
    return shippingType === "pickup" ? "storePickup" : shippingType;
  }

  /** The sheet opens at once; details that are promised are waited for behind it. */
  #present(request, detailsPromise) {
    this.#presentation = new Presentation(request, this.#host);
    const shown = new Promise((resolve, reject) => {
      this.#showing = { resolve, reject };
    });
    this.#presentation.open();
    whenFrameGoes(() => this.#stop());
    if (detailsPromise !== undefined) this.#updateWith("show", Promise.resolve(detailsPromise));
    return shown;
  }

  get #host() {
    return {
      hasListener: (type) => this.#hasListener(type),
      validateMerchant: (validationURL) => this.#validate(validationURL),
      select: (type, value) => this.#whenSettled(() => this.#selected[type](value)),
      authorize: (payment, chosen) => this.#accept(payment, chosen),
      cancel: () => this.#cancel(),
    };
  }

  // Card and coupon are answered by the engine where nobody listens, but for what a modifier says of the card.
  #hasListener(type) {
    return type !== "couponcodechanged" || ListenerTarget.hasListener(this, "paymentmethodchange");
  }

  #validate(validationURL) {
    const init = { methodName: this.#applePay.identifier, validationURL };
    const event = new MerchantValidationEvent("merchantvalidation", init);
    const refuse = () => this.#state === "interactive" && this.#abortWith(aborted());
    this.dispatchEvent(
      answering(event, (promised) => {
        if (this.#state !== "interactive") throw invalidState();
        promised.then((session) => this.#giveMerchantSession(session), refuse);
      }),
    );
  }

  #giveMerchantSession(session) {
    if (this.#state !== "interactive" || !this.#presentation?.isValidating) return;
    if (isObject(session)) this.#presentation.answerValidation(session);
    else this.#abortWith(typeError());
  }

  // ── What the shopper chooses

  get #selected() {
    return {
      paymentmethodselected: (paymentMethod) => {
        this.#cardType = paymentMethod.type;
        this.#changeMethod(paymentMethod);
      },
      couponcodechanged: (couponCode) => this.#changeMethod({ couponCode }),
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

  #changeMethod(methodDetails) {
    const type = "paymentmethodchange";
    if (ListenerTarget.hasListener(this, type)) {
      const init = { methodName: this.#applePay.identifier, methodDetails };
      this.#dispatch(new PaymentMethodChangeEvent(type, init));
    } else {
      this.#answer(type, {});
    }
  }

  #dispatch(event) {
    this.dispatchEvent(answering(event, (promised) => this.#updateWith(event.type, promised)));
    if (PaymentRequestUpdateEvent.isAnswered(event)) return;
    warn(`updateWith() should be called synchronously when handling "${event.type}".`);
  }

  // ── New details

  #whenSettled(step) {
    if (!this.#update) step();
    else this.#update.then(() => this.#state === "interactive" && step());
  }

  #updateWith(reason, promised) {
    if (this.#state !== "interactive" || this.#update) throw invalidState();
    this.#update = promised.then(
      (details) => this.#settle(reason, details),
      () => this.#fail(aborted()),
    );
  }

  #settle(reason, details) {
    this.#update = undefined;
    if (this.#isCancelPending) {
      this.#fail(aborted());
      return;
    }
    if (this.#state !== "interactive") return;
    try {
      const update = detailsUpdate(details);
      this.#change(update);
      if (reason !== "show") this.#answer(reason, update);
    } catch (error) {
      this.#abortWith(error);
    }
  }

  #fail(reason) {
    this.#update = undefined;
    this.#isCancelPending = false;
    this.#abortWith(reason);
  }

  // What an update does not name stays as it was.
  #change(update) {
    const { requestShipping } = this.#options;
    const total = update.total && canonicalTotal(update.total);
    const changed = canonicalDetails(update, { requestShipping, isUpdate: true });
    this.#details = { ...this.#details, ...(total && { total }), ...changed };
    if (changed.shippingOptions) this.#shippingOption = selectedOption(changed.shippingOptions);
  }

  #answer(reason, update) {
    const errors = reason === "shippingoptionchange" ? [] : errorsOfUpdate(update, this.#details, this.#options);
    const sums = updatedSums(this.#details, this.#shippingOption, this.#cardType);
    if (!STATE_OF_EVENT[reason].includes(this.#presentation?.state)) return;
    this.#presentation.answer({ ...sums, errors });
  }

  // ── The payment

  #accept(payment, { contact }) {
    this.#response ??= ApplePayPaymentResponse.make({
      complete: (result, data) => this.#complete(result, data),
      retry: (errors) => this.#retry(errors),
    });
    const isFirst = ApplePayPaymentResponse.values(this.#response) === undefined;
    ApplePayPaymentResponse.accept(this.#response, this.#responseValues(payment, contact));
    if (isFirst) this.#showing.resolve(this.#response);
    this.#state = "closed";
  }

  #responseValues(details, contact) {
    const { requestPayerName, requestPayerEmail, requestPayerPhone, requestShipping } = this.#options;
    return {
      requestId: this.id,
      methodName: this.#applePay.identifier,
      details,
      shippingAddress: requestShipping ? paymentAddress(contact) : null,
      shippingOption: requestShipping ? this.#shippingOption : null,
      payerName: requestPayerName ? fullName(contact) : null,
      payerEmail: requestPayerEmail ? (contact.emailAddress ?? null) : null,
      payerPhone: requestPayerPhone ? (contact.phoneNumber ?? null) : null,
    };
  }

  #complete(result = "success", data = undefined) {
    if (!this.#presentation) throw aborted();
    const { orderDetails } = completeDetails(data, simulated.newestVersion);
    requireOrderDetails(orderDetails);
    const presentation = this.#presentation;
    this.#presentation = undefined;
    const status = result === "success" ? STATUS.SUCCESS : STATUS.FAILURE;
    presentation.complete({ status, orderDetails });
  }

  #retry(given) {
    if (!this.#presentation) throw aborted();
    this.#state = "interactive";
    const errors = errorsOfRetry(given, this.#options);
    this.#presentation.complete({ status: STATUS.FAILURE, errors });
  }

  // ── The end

  /** The sheet was closed, by the shopper or by the device. A promise of the page's is waited for before `show()` ends. */
  #cancel() {
    this.#presentation = undefined;
    if (!this.#update) {
      this.#abortWith(aborted());
      return;
    }
    this.#isCancelPending = true;
    console.error("payment request timed out while waiting for Promise given to show() or updateWith() to settle.");
  }

  /** WebKit stops the request and its response, also when the sheet was over. */
  #stop() {
    this.#presentation = undefined;
    this.#state = "closed";
    this.#showing.reject(aborted());
    if (this.#response) ApplePayPaymentResponse.stop(this.#response);
  }

  #abortWith(reason) {
    if (this.#state === "closed") return;
    this.#presentation?.abort();
    this.#presentation = undefined;
    this.#state = "closed";
    if (this.#response) ApplePayPaymentResponse.abort(this.#response, reason);
    else this.#showing?.reject(reason);
  }
}
defineHandlers(ApplePayPaymentRequest, [
  "merchantvalidation",
  "paymentmethodchange",
  "shippingaddresschange",
  "shippingoptionchange",
]);
