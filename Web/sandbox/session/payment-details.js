import { applePayModifier } from "./dictionaries.js";
import { isAmount, requireSpecial } from "./rules.js";
import { simulated } from "./simulated-device.js";
import { anObject, dictionary, flag, listOf, oneOf, required, text, throughJSON } from "./web-idl.js";

// W3C Payment Request: methods, details and options as a page gives them, checked in WebKit's order.

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
  data: anObject,
});
const detailsBase = dictionary("PaymentDetailsBase", {
  displayItems: listOf(paymentItem),
  shippingOptions: listOf(shippingOption),
  modifiers: listOf(modifier),
});
export const addressErrors = dictionary("AddressErrors", {
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
export const payerErrors = dictionary("PayerErrorFields", { name: text, email: text, phone: text });

export const methodData = dictionary("PaymentMethodData", { supportedMethods: required(text), data: anObject });
export const detailsInit = dictionary("PaymentDetailsInit", { id: text, total: required(paymentItem) }, detailsBase);
export const detailsUpdate = dictionary(
  "PaymentDetailsUpdate",
  {
    error: text,
    paymentMethodErrors: anObject,
    payerErrors,
    shippingAddressErrors: addressErrors,
    total: paymentItem,
  },
  detailsBase,
);
export const paymentOptions = dictionary("PaymentOptions", {
  requestBillingAddress: flag,
  requestPayerEmail: flag,
  requestPayerName: flag,
  requestPayerPhone: flag,
  requestShipping: flag,
  shippingType: oneOf("PaymentShippingType", "shipping", "delivery", "pickup"),
});

// ── Method identifiers

const isWord = (identifier) => /^[a-z][a-z0-9]*(-[a-z][a-z0-9]*)*$/.test(identifier);

/** The identifier as the engine keeps it. */
export const methodIdentifier = (identifier) => {
  const url = URL.parse(identifier);
  if (!url && isWord(identifier)) return identifier;
  if (url?.protocol === "https:" && !url.username && !url.password) return url.href;
  throw new RangeError(`"${identifier}" is an invalid payment method identifier.`);
};

/** Whether this is Apple Pay, by whichever of its addresses. */
export const isApplePay = (identifier) => {
  const url = URL.parse(identifier);
  return url?.protocol === "https:" && url.host === "apple.com" && url.pathname === "/apple-pay";
};

// ── Amounts

const canonicalAmount = ({ currency, value }) => {
  if (!/^[a-z]{3}$/i.test(currency)) throw new RangeError(`"${currency}" is not a valid currency code.`);
  if (!isAmount(value)) throw new TypeError(`"${value}" is not a valid decimal monetary value.`);
  return { currency: currency.toUpperCase(), value };
};

const canonicalItem = (item) => ({ ...item, amount: canonicalAmount(item.amount) });

export const canonicalTotal = (item) => {
  const total = canonicalItem(item);
  if (total.amount.value.startsWith("-")) throw new TypeError("Total currency values cannot be negative.");
  return total;
};

const canonicalOptions = (options) => {
  const seen = new Set();
  return options.map((option) => {
    const canonical = canonicalItem(option);
    if (seen.has(option.id)) throw new TypeError("Shipping option IDs must be unique.");
    seen.add(option.id);
    return canonical;
  });
};

const canonicalModifier = (modifier, isUpdate) => {
  const { supportedMethods, total, additionalDisplayItems = [], data } = modifier;
  if (isUpdate) methodIdentifier(supportedMethods);
  return {
    supportedMethods,
    total: total && canonicalTotal(total),
    additionalDisplayItems: additionalDisplayItems.map(canonicalItem),
    data: data && throughJSON(data),
  };
};

/**
 * What the details bring, checked: a member that they lack is missing in the result. Options count only where the page asks
 * for shipping.
 */
export const canonicalDetails = (details, { requestShipping, isUpdate }) => {
  const { displayItems, shippingOptions, modifiers } = details;
  return {
    ...(displayItems && { displayItems: displayItems.map(canonicalItem) }),
    ...(shippingOptions && requestShipping && { shippingOptions: canonicalOptions(shippingOptions) }),
    ...(modifiers && { modifiers: modifiers.map((modifier) => canonicalModifier(modifier, isUpdate)) }),
  };
};

/** The last option that is marked as selected. */
export const selectedOption = (options = []) => options.findLast(({ selected }) => selected)?.id ?? null;

// ── What Apple Pay makes of the details

const requireSameCurrency = ({ currency }, expected) => {
  if (currency === expected) return;
  throw new TypeError(
    `"${currency}" does not match the expected currency of "${expected}". Apple Pay requires all PaymentCurrencyAmounts`
      + " to use the same currency code.",
  );
};

const lineItemIn =
  (currency) =>
  ({ label, amount, pending }) => {
    requireSameCurrency(amount, currency);
    return { label, amount: amount.value, type: pending ? "pending" : "final" };
  };

const shippingMethodIn =
  (currency, selected) =>
  ({ id, label, amount }) => {
    requireSameCurrency(amount, currency);
    return {
      label,
      detail: "",
      amount: amount.value,
      identifier: id,
      ...(id === selected ? { isSelected: true } : {}),
    };
  };

/** The first modifier of Apple Pay that fits the card. One without `data` counts for nothing. */
const fittingModifier = ({ modifiers = [] }, cardType) => {
  for (const modifier of modifiers) {
    if (!isApplePay(modifier.supportedMethods) || modifier.data === undefined) continue;
    const data = applePayModifier(modifier.data, simulated.newestVersion);
    requireSpecial(data);
    if (data.paymentMethodType === undefined || data.paymentMethodType === cardType) return { ...modifier, data };
  }
  return undefined;
};

const shippingMethodsOf = ({ total, shippingOptions = [] }, selected, modifier) => [
  ...shippingOptions.map(shippingMethodIn(total.amount.currency, selected)),
  ...(modifier?.data.additionalShippingMethods ?? []),
];

const specialOf = ({ data = {} } = {}) => ({
  recurringPaymentRequest: data.recurringPaymentRequest,
  automaticReloadPaymentRequest: data.automaticReloadPaymentRequest,
  multiTokenContexts: data.multiTokenContexts,
  deferredPaymentRequest: data.deferredPaymentRequest,
  disbursementRequest: data.disbursementRequest,
});

/** What the sheet opens with: a modifier for every card adds items and methods, and changes no total yet. */
export const openingSums = (details, selected) => {
  const { total, displayItems } = details;
  const { currency } = total.amount;
  const modifier = fittingModifier(details, undefined);
  const lineItems = [...(displayItems ?? []).map(lineItemIn(currency)), ...(modifier?.data.additionalLineItems ?? [])];
  return {
    currencyCode: currency,
    total: lineItemIn(currency)(total),
    ...(lineItems.length > 0 ? { lineItems } : {}),
    shippingMethods: shippingMethodsOf(details, selected, modifier),
    ...specialOf(modifier),
  };
};

/** What the sheet shows once a card is chosen, as the answer to an event. */
export const updatedSums = (details, selected, cardType) => {
  const modifier = fittingModifier(details, cardType);
  const newShippingMethods = shippingMethodsOf(details, selected, modifier);
  const toLineItem = lineItemIn(details.total.amount.currency);
  const total = toLineItem(details.total);
  const items = (details.displayItems ?? []).map(toLineItem);
  const totalOfModifier = modifier?.total && toLineItem(modifier.total);
  const itemsOfModifier = (modifier?.additionalDisplayItems ?? []).map(toLineItem);
  return {
    newShippingMethods,
    newTotal: modifier?.data.total ?? totalOfModifier ?? total,
    newLineItems: [...items, ...itemsOfModifier, ...(modifier?.data.additionalLineItems ?? [])],
    ...renewed(specialOf(modifier)),
  };
};

const renewed = (special) =>
  Object.fromEntries(
    Object.entries(special).map(([name, value]) => [`new${name[0].toUpperCase()}${name.slice(1)}`, value]),
  );
