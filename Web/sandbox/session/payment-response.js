import { ListenerTarget, defineHandlers } from "./events.js";
import { addressErrors, payerErrors } from "./payment-details.js";
import {
  aborted,
  anObject,
  argument,
  dictionary,
  invalidState,
  oneOf,
  text,
  throughJSON,
  typeError,
} from "./web-idl.js";

// The W3C's PaymentAddress and PaymentResponse.

const INSIDE = Symbol("inside"); // these classes are made by the engine alone

const requireInside = (key) => {
  if (key !== INSIDE) throw new TypeError("Illegal constructor");
};

/** Gives the class a getter for each name, which reads the values that `of(instance)` has. */
const defineGetters = (type, names, of) => {
  for (const name of names) {
    Object.defineProperty(type.prototype, name, {
      configurable: true,
      enumerable: true,
      get() {
        return of(this)[name];
      },
    });
  }
};

const ADDRESS = [
  "country",
  "addressLine",
  "region",
  "city",
  "dependentLocality",
  "postalCode",
  "sortingCode",
  "organization",
  "recipient",
  "phone",
];

export class ApplePayPaymentAddress {
  #values;

  constructor(key, values) {
    requireInside(key);
    this.#values = values;
  }

  toJSON() {
    return Object.fromEntries(ADDRESS.map((name) => [name, this.#values[name]]));
  }

  static values(address) {
    return address.#values;
  }
}
defineGetters(ApplePayPaymentAddress, ADDRESS, (address) => ApplePayPaymentAddress.values(address));

/** A contact of Apple's as an address of the W3C's. */
export const paymentAddress = (contact) =>
  new ApplePayPaymentAddress(INSIDE, {
    country: contact.countryCode ?? "",
    addressLine: Object.freeze([...(contact.addressLines ?? [])]),
    region: contact.administrativeArea ?? "",
    city: contact.locality ?? "",
    dependentLocality: contact.subLocality ?? "",
    postalCode: contact.postalCode ?? "",
    sortingCode: "",
    organization: "",
    recipient: fullName(contact),
    phone: contact.phoneNumber ?? "",
  });

export const fullName = ({ givenName, familyName }) => [givenName, familyName].filter(Boolean).join(" ");

// ── The response

const RESPONSE = [
  "requestId",
  "methodName",
  "details",
  "shippingAddress",
  "shippingOption",
  "payerName",
  "payerEmail",
  "payerPhone",
];
const resultArgument = argument(
  1,
  "result",
  "PaymentResponse.complete",
  oneOf("PaymentComplete", "fail", "success", "unknown"),
);
const completeInit = dictionary("PaymentCompleteDetails", { data: anObject });
const validationErrors = dictionary("PaymentValidationErrors", {
  error: text,
  payer: payerErrors,
  paymentMethod: anObject,
  shippingAddress: addressErrors,
});

/** What `show()` leads to. The sheet stays open until the page completes it, or lets the shopper try again. */
export class ApplePayPaymentResponse extends ListenerTarget {
  #values;
  #request; // `complete(result, data)` and `retry(errors)`, which throw what the promise is rejected with
  #isCompleted = false;
  #isStopped = false;
  #retrying; // settles the promise of `retry()`: `{resolve, reject}`

  constructor(key, request) {
    requireInside(key);
    super();
    this.#request = request;
  }

  async complete(result, details) {
    const outcome = result == null ? undefined : resultArgument(result);
    const { data } = completeInit(details);
    this.#requireOpen();
    this.#request.complete(outcome, data && throughJSON(data));
    this.#isCompleted = true;
  }

  async retry(errors) {
    const given = validationErrors(errors);
    this.#requireOpen();
    this.#request.retry(given);
    await new Promise((resolve, reject) => {
      this.#retrying = { resolve, reject };
    });
  }

  toJSON() {
    return Object.fromEntries(RESPONSE.map((name) => [name, this.#values[name]]));
  }

  #requireOpen() {
    if (this.#isStopped) throw aborted();
    if (this.#isCompleted || this.#retrying) throw invalidState();
  }

  // ── For the request

  static make(request) {
    return new ApplePayPaymentResponse(INSIDE, request);
  }

  static values(response) {
    return response.#values;
  }

  static isRetrying(response) {
    return response.#retrying !== undefined;
  }

  /** Another authorization of the same sheet. */
  static accept(response, values) {
    response.#values = values;
    response.#retrying?.resolve();
    response.#retrying = undefined;
  }

  /** The response's document is gone. */
  static stop(response) {
    response.#retrying?.reject(aborted());
    response.#isStopped = true;
  }

  static abort(response, reason = aborted()) {
    response.#retrying?.reject(reason);
    response.#retrying = undefined;
    response.#isCompleted = true;
  }
}
defineGetters(ApplePayPaymentResponse, RESPONSE, (response) => {
  const values = ApplePayPaymentResponse.values(response);
  if (!values) throw typeError();
  return values;
});
defineHandlers(ApplePayPaymentResponse, ["payerdetailchange"]);
