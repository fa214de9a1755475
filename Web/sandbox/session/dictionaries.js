import { anError } from "./errors.js";
import { dictionary, flag, listOf, moment, oneOf, required, since, text, whole } from "./web-idl.js";

// Apple's dictionaries, with the version that brought each member.

const contactField = oneOf("ApplePayContactField", "email", "name", "phone", "phoneticName", "postalAddress");
const contactFields = listOf(contactField);
const merchantCapability = oneOf(
  "ApplePayMerchantCapability",
  "supports3DS",
  "supportsEMV",
  "supportsCredit",
  "supportsDebit",
);
const shippingType = oneOf("ApplePayShippingType", "shipping", "delivery", "storePickup", "servicePickup");
const editingMode = oneOf("ApplePayShippingContactEditingMode", "available", "enabled", "storePickup");
const paymentTiming = oneOf("ApplePayPaymentTiming", "immediate", "recurring", "deferred", "automaticReload");
const intervalUnit = oneOf("ApplePayRecurringPaymentDateUnit", "minute", "hour", "day", "month", "year");
const methodType = oneOf("ApplePayPaymentMethodType", "debit", "credit", "prepaid", "store");

export const lineItem = dictionary("ApplePayLineItem", {
  label: required(text),
  amount: required(text),
  type: oneOf("ApplePayLineItemType", "final", "pending"),
  paymentTiming: since(12, paymentTiming),
  recurringPaymentStartDate: since(12, moment),
  recurringPaymentIntervalUnit: since(12, intervalUnit),
  recurringPaymentIntervalCount: since(12, whole),
  recurringPaymentEndDate: since(12, moment),
  deferredPaymentDate: since(12, moment),
  automaticReloadPaymentThresholdAmount: since(14, text),
});

const dateComponents = dictionary("ApplePayDateComponents", {
  years: whole,
  months: whole,
  days: whole,
  hours: whole,
});
const dateComponentsRange = dictionary("ApplePayDateComponentsRange", {
  startDateComponents: required(dateComponents),
  endDateComponents: required(dateComponents),
});

export const shippingMethod = dictionary("ApplePayShippingMethod", {
  label: required(text),
  detail: required(text),
  amount: required(text),
  identifier: required(text),
  dateComponentsRange: since(12, dateComponentsRange),
});

export const paymentContact = dictionary("ApplePayPaymentContact", {
  phoneNumber: text,
  emailAddress: text,
  givenName: text,
  familyName: text,
  phoneticGivenName: since(3, text),
  phoneticFamilyName: since(3, text),
  addressLines: listOf(text),
  subLocality: text,
  locality: text,
  postalCode: text,
  subAdministrativeArea: text,
  administrativeArea: text,
  country: text,
  countryCode: text,
});

const recurringRequest = dictionary("ApplePayRecurringPaymentRequest", {
  paymentDescription: required(text),
  regularBilling: required(lineItem),
  managementURL: required(text),
  trialBilling: lineItem,
  billingAgreement: text,
  tokenNotificationURL: text,
});
const automaticReloadRequest = dictionary("ApplePayAutomaticReloadPaymentRequest", {
  paymentDescription: required(text),
  automaticReloadBilling: required(lineItem),
  managementURL: required(text),
  billingAgreement: text,
  tokenNotificationURL: text,
});
const deferredRequest = dictionary("ApplePayDeferredPaymentRequest", {
  paymentDescription: required(text),
  deferredBilling: required(lineItem),
  managementURL: required(text),
  billingAgreement: text,
  freeCancellationDate: moment,
  freeCancellationDateTimeZone: text,
  tokenNotificationURL: text,
});
const tokenContext = dictionary("ApplePayPaymentTokenContext", {
  merchantIdentifier: required(text),
  externalIdentifier: required(text),
  merchantName: required(text),
  amount: required(text),
  merchantDomain: text,
});

const special = {
  multiTokenContexts: since(14, listOf(tokenContext)),
  recurringPaymentRequest: since(14, recurringRequest),
  automaticReloadPaymentRequest: since(14, automaticReloadRequest),
  deferredPaymentRequest: since(14, deferredRequest),
};

/** What Apple Pay JS and Payment Request ask for alike. */
const requestBase = {
  countryCode: required(text),
  supportedNetworks: required(listOf(text)),
  merchantCapabilities: required(listOf(merchantCapability)),
  requiredBillingContactFields: contactFields,
  billingContact: paymentContact,
  shippingContact: paymentContact,
  applicationData: text,
  supportedCountries: since(3, listOf(text)),
  supportsCouponCode: since(12, flag),
  couponCode: since(12, text),
  shippingContactEditingMode: since(12, editingMode),
  applePayLaterAvailability: since(14, text),
  ...special,
};

export const applePayPaymentRequest = dictionary("ApplePayPaymentRequest", {
  ...requestBase,
  currencyCode: required(text),
  total: required(lineItem),
  lineItems: listOf(lineItem),
  requiredShippingContactFields: contactFields,
  shippingMethods: listOf(shippingMethod),
  shippingType,
});

/** The `data` of a W3C payment method; amounts and options come from the W3C's own members. */
export const applePayRequest = dictionary("ApplePayRequest", {
  ...requestBase,
  version: required(whole),
  merchantIdentifier: required(text),
  requiredShippingContactFields: since(6, contactFields),
});

export const applePayModifier = dictionary("ApplePayModifier", {
  paymentMethodType: methodType,
  total: since(12, lineItem),
  additionalLineItems: since(12, listOf(lineItem)),
  additionalShippingMethods: since(12, listOf(shippingMethod)),
  ...special,
});

// Answers.

const newSpecial = {
  newMultiTokenContexts: special.multiTokenContexts,
  newRecurringPaymentRequest: special.recurringPaymentRequest,
  newAutomaticReloadPaymentRequest: special.automaticReloadPaymentRequest,
  newDeferredPaymentRequest: special.deferredPaymentRequest,
};
const newSums = { newTotal: required(lineItem), newLineItems: listOf(lineItem) };

/** By the state that an answer ends. */
export const UPDATES = {
  paymentMethodSelected: dictionary("ApplePayPaymentMethodUpdate", {
    ...newSums,
    ...newSpecial,
    newShippingMethods: since(12, listOf(shippingMethod)),
    errors: since(12, listOf(anError)),
  }),
  shippingContactSelected: dictionary("ApplePayShippingContactUpdate", {
    ...newSums,
    ...newSpecial,
    newShippingMethods: listOf(shippingMethod),
    errors: listOf(anError),
  }),
  shippingMethodSelected: dictionary("ApplePayShippingMethodUpdate", {
    ...newSums,
    ...newSpecial,
    newShippingMethods: since(12, listOf(shippingMethod)),
  }),
  couponCodeChanged: dictionary("ApplePayCouponCodeUpdate", {
    ...newSums,
    ...newSpecial,
    newShippingMethods: listOf(shippingMethod),
    errors: listOf(anError),
  }),
};

export const orderDetails = dictionary("ApplePayPaymentOrderDetails", {
  orderTypeIdentifier: required(text),
  orderIdentifier: required(text),
  webServiceURL: required(text),
  authenticationToken: required(text),
});

export const authorizationResult = dictionary("ApplePayPaymentAuthorizationResult", {
  status: required(whole),
  errors: listOf(anError),
  orderDetails: since(14, orderDetails),
});
