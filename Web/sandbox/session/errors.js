import { argument, invalidAccess, oneOf, requireArguments, text, typeError } from "./web-idl.js";

const errorCode = oneOf(
  "ApplePayErrorCode",
  "unknown",
  "shippingContactInvalid",
  "billingContactInvalid",
  "addressUnserviceable",
  "couponCodeInvalid",
  "couponCodeExpired",
);

// In the order of the engine's message.
const errorField = oneOf(
  "ApplePayErrorContactField",
  "phoneNumber",
  "emailAddress",
  "name",
  "phoneticName",
  "postalAddress",
  "addressLines",
  "subLocality",
  "locality",
  "postalCode",
  "subAdministrativeArea",
  "administrativeArea",
  "country",
  "countryCode",
);
const CONSTRUCTOR = "the ApplePayError constructor";
const codeArgument = argument(1, "errorCode", CONSTRUCTOR, errorCode);
const fieldArgument = argument(2, "contactField", CONSTRUCTOR, errorField);

const POSTAL_FIELDS = [
  "postalAddress",
  "locality",
  "subLocality",
  "postalCode",
  "administrativeArea",
  "subAdministrativeArea",
  "country",
  "countryCode",
];
const PERSONAL_FIELDS = ["name", "phoneticName", "addressLines"];
const REACH_FIELDS = ["phoneNumber", "emailAddress"];

export class ApplePayError {
  #code;
  #contactField;
  #message;

  constructor(code, contactField = undefined, message = "") {
    requireArguments(arguments, 1);
    this.#code = codeArgument(code);
    this.#contactField = contactField === undefined ? null : fieldArgument(contactField);
    this.#message = text(message);
  }

  get code() {
    return this.#code;
  }
  set code(value) {
    this.#code = orAsBefore(errorCode, value, this.#code);
  }
  get contactField() {
    return this.#contactField;
  }
  set contactField(value) {
    this.#contactField = value == null ? null : orAsBefore(errorField, value, this.#contactField);
  }
  get message() {
    return this.#message;
  }
  set message(value) {
    this.#message = text(value);
  }
  get [Symbol.toStringTag]() {
    return "ApplePayError";
  }
}

// An attribute that is set to no value of its enumeration keeps the one it has.
const orAsBefore = (convert, value, before) => {
  try {
    return convert(value);
  } catch {
    return before;
  }
};

export const anError = (value) => {
  if (!(value instanceof ApplePayError)) throw typeError();
  return value;
};

/** A status as its session's constants name it; the last three ask for a PIN. */
export const STATUS = {
  SUCCESS: 0,
  FAILURE: 1,
  INVALID_BILLING_POSTAL_ADDRESS: 2,
  INVALID_SHIPPING_POSTAL_ADDRESS: 3,
  INVALID_SHIPPING_CONTACT: 4,
  PIN_REQUIRED: 5,
  PIN_INCORRECT: 6,
  PIN_LOCKOUT: 7,
};

export const isPINStatus = (status) => status >= STATUS.PIN_REQUIRED;

export const requireStatus = (status) => {
  if (!Object.values(STATUS).includes(status)) throw invalidAccess();
};

/** What a status of versions 1 and 2 says in the errors that came with version 3. */
export const errorsOfStatus = (status) => {
  requireStatus(status);
  switch (status) {
    case STATUS.SUCCESS:
      return [];
    case STATUS.INVALID_BILLING_POSTAL_ADDRESS:
      return [new ApplePayError("billingContactInvalid")];
    case STATUS.INVALID_SHIPPING_POSTAL_ADDRESS:
      return [new ApplePayError("shippingContactInvalid", "postalAddress")];
    case STATUS.INVALID_SHIPPING_CONTACT:
      return [new ApplePayError("shippingContactInvalid")];
    default:
      return [new ApplePayError("unknown")];
  }
};

// What a device can point at, by what it is answering: before authorization it has shown no name and no street.
const SHOWN = {
  shippingContactSelected: {
    shippingContactInvalid: POSTAL_FIELDS,
    addressUnserviceable: [],
    unknown: [],
  },
  couponCodeChanged: { couponCodeInvalid: [], couponCodeExpired: [], unknown: [] },
  paymentMethodSelected: { unknown: [] },
  authorized: {
    shippingContactInvalid: [...REACH_FIELDS, ...PERSONAL_FIELDS, ...POSTAL_FIELDS],
    billingContactInvalid: [...PERSONAL_FIELDS, ...POSTAL_FIELDS],
    addressUnserviceable: [],
    unknown: [],
  },
};

/** Why a device would not show this error as an answer in this state; nothing when it would. */
export const whyNotShown = ({ code, contactField }, state) => {
  const fields = SHOWN[state]?.[code];
  if (!fields) return `${code} says nothing to the shopper as an answer to this event.`;
  if (contactField === null || fields.includes(contactField)) return undefined;
  return fields.length > 0
    ? `${code} with the field ${contactField} is not shown as an answer to this event.`
    : `${code} has no contact field; ${contactField} is not shown.`;
};

const isOf =
  (...codes) =>
  ({ code }) =>
    codes.includes(code);
export const isOfShippingContact = isOf("shippingContactInvalid", "addressUnserviceable");
export const isOfBillingContact = isOf("billingContactInvalid");
export const isOfCoupon = isOf("couponCodeInvalid", "couponCodeExpired");
/** With one of these showing, the shopper has to change something before paying. */
export const isBlocking = isOf("shippingContactInvalid", "billingContactInvalid", "addressUnserviceable");

const DEFAULT_MESSAGES = {
  unknown: "Something went wrong. Try again.",
  shippingContactInvalid: "This contact is not complete.",
  billingContactInvalid: "The card's billing address is not complete.",
  addressUnserviceable: "This shop does not deliver to this address.",
  couponCodeInvalid: "This code is not valid.",
  couponCodeExpired: "This code has expired.",
};

export const messages = (errors) => errors.map(({ message, code }) => message || DEFAULT_MESSAGES[code]).join(" ");
