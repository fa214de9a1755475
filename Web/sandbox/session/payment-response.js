import { ApplePayError, STATUS } from "./errors.js";
import { ListenerTarget, defineHandlers } from "./events.js";
import { isAmount } from "./rules.js";
import { dictionary, flag, listOf, oneOf, refusal, required, text } from "./web-idl.js";

// W3C Payment Request: its values, turned into Apple's, and its response.

export const APPLE_PAY = "https://apple.com/apple-pay";

const any = (value) => value;

const currencyAmount = dictionary("PaymentCurrencyAmount", { currency: required(text), value: required(text) });
const paymentItem = dictionary("PaymentItem", {
  label: required(text),
  amount: required(currencyAmount),
  pending: flag,
});
const shippingOption = dictionary("PaymentShippingOption", {
  id: required(text),
  label: required(text),
  amount: required(currencyAmount),
  selected: flag,
});
const modifier = dictionary("PaymentDetailsModifier", {
  supportedMethods: required(text),
  total: paymentItem,
  additionalDisplayItems: listOf(paymentItem),
  data: any,
});
const detailsBase = {
  displayItems: listOf(paymentItem),
  shippingOptions: listOf(shippingOption),
  modifiers: listOf(modifier),
};

export const methodData = dictionary("PaymentMethodData", { supportedMethods: required(text), data: any });
export const detailsInit = dictionary("PaymentDetailsInit", { ...detailsBase, id: text, total: required(paymentItem) });
export const paymentOptions = dictionary("PaymentOptions", {
  requestPayerName: flag,
  requestPayerEmail: flag,
  requestPayerPhone: flag,
  requestShipping: flag,
  shippingType: oneOf("PaymentShippingType", "shipping", "delivery", "pickup"),
});

const addressErrors = dictionary("AddressErrors", {
  addressLine: text,
  city: text,
  country: text,
  dependentLocality: text,
  organization: text,
  phone: text,
  postalCode: text,
  recipient: text,
  region: text,
  sortingCode: text,
});
const payerErrors = dictionary("PayerErrors", { name: text, email: text, phone: text });
const methodErrors = (value) => (value == null ? [] : [value].flat().filter((error) => error instanceof ApplePayError));

export const detailsUpdate = dictionary("PaymentDetailsUpdate", {
  ...detailsBase,
  total: paymentItem,
  error: text,
  shippingAddressErrors: addressErrors,
  payerErrors,
  paymentMethodErrors: methodErrors,
});
const validationErrors = dictionary("PaymentValidationErrors", {
  error: text,
  shippingAddress: addressErrors,
  payer: payerErrors,
  paymentMethod: methodErrors,
});
const result = oneOf("PaymentComplete", "fail", "success", "unknown");

// ── Amounts

export const requireDetails = ({ total, displayItems = [], shippingOptions = [], modifiers = [] }) => {
  const items = [
    total,
    ...displayItems,
    ...shippingOptions,
    ...modifiers.flatMap(({ total, additionalDisplayItems = [] }) => [total, ...additionalDisplayItems]),
  ].filter(Boolean);
  for (const {
    amount: { currency, value },
  } of items) {
    if (!/^[a-z]{3}$/i.test(currency)) throw new RangeError(`"${currency}" is not a valid currency code.`);
    if (!isAmount(value)) throw new TypeError(`"${value}" is not a valid amount.`);
  }
  for (const item of [total, ...modifiers.map(({ total }) => total)]) {
    if (item?.amount.value.startsWith("-")) throw new TypeError("Total currency values cannot be negative.");
  }
  const ids = shippingOptions.map(({ id }) => id);
  if (new Set(ids).size < ids.length) throw new TypeError("Shipping option IDs must be unique.");
};

export const lineItemOf = ({ label, amount, pending }) => ({
  label,
  amount: amount.value,
  ...(pending ? { type: "pending" } : {}),
});

export const shippingMethodOf = ({ id, label, amount }, selected) => ({
  label,
  detail: "",
  amount: amount.value,
  identifier: id,
  ...(id === selected ? { isSelected: true } : {}),
});

// ── Errors

const ADDRESS_FIELDS = {
  addressLine: "addressLines",
  city: "locality",
  country: "country",
  dependentLocality: "subLocality",
  phone: "phoneNumber",
  postalCode: "postalCode",
  recipient: "name",
  region: "administrativeArea",
};
const PAYER_FIELDS = { name: "name", email: "emailAddress", phone: "phoneNumber" };

const errorsAt = (fields, given = {}) =>
  Object.entries(given).map(([key, message]) => new ApplePayError("shippingContactInvalid", fields[key], message));

/** What the W3C spreads over four members, in one list. */
export const errorsOfUpdate = ({ error, shippingAddressErrors, payerErrors, paymentMethodErrors, shippingOptions }) => [
  ...errorsAt(ADDRESS_FIELDS, shippingAddressErrors),
  ...errorsAt(PAYER_FIELDS, payerErrors),
  ...(paymentMethodErrors ?? []),
  ...(error
    ? [new ApplePayError(shippingOptions?.length === 0 ? "addressUnserviceable" : "unknown", undefined, error)]
    : []),
];

// ── Addresses

export const paymentAddress = (contact) => {
  const address = {
    addressLine: contact.addressLines ?? [],
    city: contact.locality ?? "",
    country: (contact.countryCode ?? "").toUpperCase(),
    dependentLocality: contact.subLocality ?? "",
    organization: "",
    phone: contact.phoneNumber ?? "",
    postalCode: contact.postalCode ?? "",
    recipient: fullName(contact),
    region: contact.administrativeArea ?? "",
    sortingCode: "",
  };
  return Object.freeze({ ...address, toJSON: () => address });
};

export const fullName = ({ givenName, familyName }) => [givenName, familyName].filter(Boolean).join(" ");

// ── The response

/** What `show()` leads to. The sheet stays open until the page completes it, or lets the shopper try again. */
export class ApplePayPaymentResponse extends ListenerTarget {
  #answers;
  #isAnswered = false;
  #isRetrying = false;

  constructor(values, answers) {
    super();
    this.#answers = answers;
    this.#take(values);
  }

  async complete(outcome = "unknown") {
    const converted = result(outcome);
    this.#requireUnanswered();
    this.#isAnswered = true;
    this.#answers.complete({ status: converted === "fail" ? STATUS.FAILURE : STATUS.SUCCESS });
  }

  async retry(errors) {
    this.#requireUnanswered();
    const { error, shippingAddress, payer, paymentMethod } = validationErrors(errors);
    const found = errorsOfUpdate({
      error,
      shippingAddressErrors: shippingAddress,
      payerErrors: payer,
      paymentMethodErrors: paymentMethod,
    });
    this.#isRetrying = true;
    try {
      this.#take(await this.#answers.retry(found.length > 0 ? found : [new ApplePayError("unknown")]));
    } catch (refusal) {
      this.#isAnswered = true;
      throw refusal;
    } finally {
      this.#isRetrying = false;
    }
  }

  toJSON() {
    return { ...this };
  }

  #requireUnanswered() {
    if (this.#isAnswered || this.#isRetrying) {
      throw refusal("InvalidStateError", "The response was answered already.");
    }
  }

  #take(values) {
    for (const [name, value] of Object.entries(values)) {
      Object.defineProperty(this, name, { value, enumerable: true, configurable: true });
    }
  }
}
defineHandlers(ApplePayPaymentResponse, ["payerdetailchange"]);
