import { anError } from "./errors.js";
import {
  dictionary,
  flag,
  isObject,
  listOf,
  moment,
  oneOf,
  required,
  since,
  text,
  throughJSON,
  unsignedLong,
  unsignedShort,
} from "./web-idl.js";

// Apple's dictionaries, with the version of the first device that knew each member.

const contactField = oneOf("ApplePayContactField", "email", "name", "phone", "phoneticName", "postalAddress");
const contactFields = listOf(contactField);
const merchantCapability = oneOf(
  "ApplePayMerchantCapability",
  "supports3DS",
  "supportsEMV",
  "supportsCredit",
  "supportsDebit",
  "supportsInstantFundsOut",
);
const shippingType = oneOf("ApplePayShippingType", "shipping", "delivery", "storePickup", "servicePickup");
const editingMode = oneOf("ApplePayShippingContactEditingMode", "available", "enabled", "storePickup");
const paymentTiming = oneOf("ApplePayPaymentTiming", "immediate", "recurring", "deferred", "automaticReload");
const intervalUnit = oneOf("ApplePayRecurringPaymentDateUnit", "minute", "hour", "day", "month", "year");
const methodType = oneOf("ApplePayPaymentMethodType", "debit", "credit", "prepaid", "store");
const disbursementItem = oneOf("ApplePayDisbursementLineItemType", "disbursement", "instantFundsOutFee");
const laterAvailability = oneOf(
  "ApplePayLaterAvailability",
  "available",
  "unavailableItemIneligible",
  "unavailableRecurringTransaction",
);

/** What a page may ask its engine for, instead of a version. */
const feature = oneOf(
  "ApplePayFeature",
  "applePayLater",
  "applePayLaterAvailability",
  "authorizationResultOrderDetails",
  "lineItemPaymentTiming",
  "paymentRequestAutomaticReload",
  "paymentRequestCouponCode",
  "paymentRequestDeferred",
  "paymentRequestDelegation",
  "paymentRequestDisbursements",
  "paymentRequestMerchantCategoryCode",
  "paymentRequestMultiTokenContexts",
  "paymentRequestRecurring",
  "paymentRequestShippingContactEditingMode",
  "paymentTimingAutomaticReload",
  "paymentTimingDeferred",
  "paymentTimingImmediate",
  "paymentTimingRecurring",
  "shippingContactEditingModeEnabled",
  "shippingContactEditingModeStorePickup",
  "shippingMethodDateComponentsRange",
);

export const lineItem = dictionary("ApplePayLineItem", {
  label: text,
  amount: text,
  type: oneOf("ApplePayLineItemType", "pending", "final"),
  paymentTiming: since(12, paymentTiming),
  recurringPaymentStartDate: since(12, moment),
  recurringPaymentIntervalUnit: since(12, intervalUnit),
  recurringPaymentIntervalCount: since(12, unsignedLong),
  recurringPaymentEndDate: since(12, moment),
  deferredPaymentDate: since(12, moment),
  automaticReloadPaymentThresholdAmount: since(14, text),
  disbursementLineItemType: since(15, disbursementItem),
});

const dateComponents = dictionary("ApplePayDateComponents", {
  years: unsignedLong,
  months: unsignedLong,
  days: unsignedLong,
  hours: unsignedLong,
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
  phoneticGivenName: text,
  phoneticFamilyName: text,
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

const disbursementRequest = dictionary("ApplePayDisbursementRequest", {
  requiredRecipientContactFields: contactFields,
});

const special = {
  multiTokenContexts: since(14, listOf(tokenContext)),
  recurringPaymentRequest: since(14, recurringRequest),
  automaticReloadPaymentRequest: since(14, automaticReloadRequest),
  deferredPaymentRequest: since(14, deferredRequest),
  disbursementRequest: since(15, disbursementRequest),
};

// Installments: checked, and without effect here.

const installmentItem = dictionary("ApplePayInstallmentItem", {
  amount: text,
  apr: text,
  currencyCode: text,
  programIdentifier: text,
  programTerms: text,
  type: oneOf("ApplePayInstallmentItemType", "generic", "phone", "pad", "watch", "mac"),
});

const applicationMetadata = (value) => {
  const metadata = isObject(value) ? throughJSON(value) : undefined;
  if (!isObject(metadata) || Array.isArray(metadata)) {
    throw new TypeError("applicationMetadata must be a JSON object");
  }
  return metadata;
};

export const setupFeatureType = oneOf("ApplePaySetupFeatureType", "appleCard", "applePay");

const installmentConfiguration = dictionary("ApplePayInstallmentConfiguration", {
  applicationMetadata,
  bindingTotalAmount: text,
  currencyCode: text,
  featureType: setupFeatureType,
  isInStorePurchase: flag,
  items: listOf(installmentItem),
  merchandisingImageData: text,
  merchantIdentifier: text,
  openToBuyThresholdAmount: text,
  referrerIdentifier: text,
  retailChannel: oneOf("ApplePayInstallmentRetailChannel", "unknown", "app", "web", "inStore"),
});

export const setupConfiguration = dictionary("ApplePaySetupConfiguration", {
  merchantIdentifier: text,
  referrerIdentifier: text,
  signature: text,
  signedFields: listOf(text),
});

/** What Apple Pay JS and Payment Request ask for alike. */
const requestBase = dictionary("ApplePayRequestBase", {
  applePayLaterAvailability: since(15, laterAvailability),
  applicationData: text,
  billingContact: paymentContact,
  countryCode: required(text),
  couponCode: since(12, text),
  features: since(15, listOf(feature)),
  installmentConfiguration: since(8, installmentConfiguration),
  isDelegatedRequest: since(15, flag),
  merchantCapabilities: required(listOf(merchantCapability)),
  merchantCategoryCode: since(15, text),
  requiredBillingContactFields: contactFields,
  requiredShippingContactFields: contactFields,
  shippingContact: paymentContact,
  shippingContactEditingMode: since(12, editingMode),
  supportedCountries: listOf(text),
  supportedNetworks: required(listOf(text)),
  supportsCouponCode: since(12, flag),
});

export const applePayPaymentRequest = dictionary(
  "ApplePayPaymentRequest",
  {
    currencyCode: required(text),
    total: required(lineItem),
    lineItems: listOf(lineItem),
    shippingMethods: listOf(shippingMethod),
    shippingType,
    ...special,
  },
  requestBase,
);

/**
 * The `data` of a W3C payment method. Amounts and options come from the W3C's own members, and payments to come from
 * modifiers: here they are not read.
 */
export const applePayRequest = dictionary(
  "ApplePayRequest",
  { version: required(unsignedLong), merchantIdentifier: required(text) },
  requestBase,
);

export const applePayModifier = dictionary("ApplePayModifier", {
  paymentMethodType: methodType,
  total: since(12, lineItem),
  additionalLineItems: since(12, listOf(lineItem)),
  additionalShippingMethods: since(12, listOf(shippingMethod)),
  ...special,
});

// Answers.

const updateBase = dictionary("ApplePayDetailsUpdateBase", {
  newTotal: required(lineItem),
  newLineItems: listOf(lineItem),
  newMultiTokenContexts: special.multiTokenContexts,
  newRecurringPaymentRequest: special.recurringPaymentRequest,
  newAutomaticReloadPaymentRequest: special.automaticReloadPaymentRequest,
  newDeferredPaymentRequest: special.deferredPaymentRequest,
  newDisbursementRequest: special.disbursementRequest,
});
const newShippingMethods = listOf(shippingMethod);
const someErrors = listOf(anError);

/** By the state that an answer ends. */
export const UPDATES = {
  paymentMethodSelected: dictionary(
    "ApplePayPaymentMethodUpdate",
    { newShippingMethods: since(12, newShippingMethods), errors: since(12, someErrors) },
    updateBase,
  ),
  shippingContactSelected: dictionary(
    "ApplePayShippingContactUpdate",
    { newShippingMethods, errors: someErrors },
    updateBase,
  ),
  shippingMethodSelected: dictionary(
    "ApplePayShippingMethodUpdate",
    { newShippingMethods: since(12, newShippingMethods) },
    updateBase,
  ),
  couponCodeChanged: dictionary("ApplePayCouponCodeUpdate", { newShippingMethods, errors: someErrors }, updateBase),
};

const orderDetails = dictionary("ApplePayPaymentOrderDetails", {
  orderTypeIdentifier: required(text),
  orderIdentifier: required(text),
  webServiceURL: required(text),
  authenticationToken: required(text),
});

export const authorizationResult = dictionary("ApplePayPaymentAuthorizationResult", {
  status: required(unsignedShort),
  errors: someErrors,
  orderDetails: since(14, orderDetails),
});

/** What a page adds to the result of a payment request. */
export const completeDetails = dictionary("ApplePayPaymentCompleteDetails", { orderDetails: since(14, orderDetails) });
