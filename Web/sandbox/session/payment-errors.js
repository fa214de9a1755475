import { anError, ApplePayError } from "./errors.js";
import { listOf } from "./web-idl.js";

// The W3C's errors, which Apple Pay shows beside the fields of the shipping contact.

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
const PAYER_FIELDS = {
  name: ["requestPayerName", "name"],
  email: ["requestPayerEmail", "emailAddress"],
  phone: ["requestPayerPhone", "phoneNumber"],
};

const errorAt = (field, message) =>
  message === undefined ? [] : [new ApplePayError("shippingContactInvalid", field, message)];

/** An empty message is one. */
const ofAddress = (error, fields = {}, { requestShipping }) =>
  requestShipping
    ? [
        ...errorAt(undefined, error),
        ...Object.entries(ADDRESS_FIELDS).flatMap(([name, field]) => errorAt(field, fields[name])),
      ]
    : [];

/** Only what the page asked for; name, then e-mail, then phone. */
const ofPayer = (fields = {}, options) =>
  Object.entries(PAYER_FIELDS).flatMap(([name, [option, field]]) =>
    options[option] ? errorAt(field, fields[name]) : [],
  );

/** A sequence of ApplePayErrors, or a TypeError. */
const ofMethod = (errors) => (errors === undefined ? [] : listOf(anError)(errors));

const swallowed = (errors) => {
  try {
    return ofMethod(errors);
  } catch {
    return [];
  }
};

/** An update's errors. Those of the address count while there is no shipping option, and wrong ones of the method are lost. */
export const errorsOfUpdate = (
  { error, shippingAddressErrors, payerErrors, paymentMethodErrors },
  details,
  options,
) => [
  ...(details.shippingOptions?.length > 0 ? [] : ofAddress(error, shippingAddressErrors, options)),
  ...ofPayer(payerErrors, options),
  ...swallowed(paymentMethodErrors),
];

/** What the shopper has to correct; without a word of the page's it is something unknown. */
export const errorsOfRetry = ({ error, shippingAddress, payer, paymentMethod }, options) => {
  const errors = [
    ...ofAddress(error, shippingAddress, options),
    ...ofPayer(payer, options),
    ...ofMethod(paymentMethod),
  ];
  return errors.length > 0 ? errors : [new ApplePayError("unknown")];
};
