import { advise, invalidAccess } from "./web-idl.js";

// What an engine checks of a request once its types are right, in an engine's order.

/** The web's words for networks, in lower case, with the version that brought each. */
const NETWORKS = {
  amex: 1,
  chinaunionpay: 1,
  discover: 1,
  interac: 1,
  mastercard: 1,
  privatelabel: 1,
  visa: 1,
  jcb: 2,
  cartesbancaires: 4,
  eftpos: 4,
  electron: 4,
  maestro: 4,
  vpay: 4,
  elo: 5,
  mada: 5,
  girocard: 11,
  mir: 11,
  dankort: 13,
  bancomat: 14,
  bancontact: 14,
  bankaxept: 15,
};

/** The W3C's valid decimal monetary value: any number of decimals. A number that a page passes became a text before. */
export const isAmount = (text) => /^-?[0-9]+(\.[0-9]+)?$/.test(text);

export const requireVersion = (version, newest) => {
  if (version < 1 || version > newest) throw invalidAccess(`"${version}" is not a supported version.`);
};

const isCountry = (code) =>
  /^[A-Z]{2}$/.test(code)
  && code !== "ZZ"
  && new Intl.DisplayNames("en", { type: "region", fallback: "none" }).of(code) !== undefined;

const isCurrency = (code) => /^[A-Z]{3}$/.test(code) && Intl.supportedValuesOf("currency").includes(code);

const requireCountry = (code) => {
  if (!isCountry(code)) throw new TypeError(`"${code}" is not a valid country code.`);
};

const requireNetworks = (networks, version) => {
  if (networks.length === 0) throw new TypeError("At least one supported network must be provided.");
  for (const network of networks) {
    if (!(NETWORKS[network.toLowerCase()] <= version)) {
      throw new TypeError(`"${network}" is not a valid payment network.`);
    }
  }
};

const requireAmount = (amount) => {
  if (!isAmount(amount)) throw new TypeError(`"${amount}" is not a valid amount.`);
};

export const requireTotal = (total, version) => {
  if (!total.label) throw new TypeError("Missing total label.");
  requireAmount(total.amount);
  const amount = Number(total.amount);
  if (amount < 0) throw new TypeError("Total amount must not be negative.");
  if (amount === 0 && version < 4) throw new TypeError("Total amount must be greater than zero.");
};

/** Items may be negative, and a pending one needs no amount. */
export const requireLineItems = (items = []) => {
  for (const item of items) if (item.type !== "pending") requireAmount(item.amount);
};

export const requireShippingMethods = (methods = []) => {
  for (const { amount } of methods) {
    requireAmount(amount);
    if (Number(amount) < 0) throw new TypeError("Shipping method amount must be greater than or equal to zero.");
  }
};

const requireContactFields = (fields = [], version) => {
  if (fields.includes("phoneticName") && version < 3) {
    throw new TypeError('"phoneticName" is not a valid contact field.');
  }
};

const requireURL = (url) => {
  if (url !== undefined && !/^https?:$/.test(URL.parse(url)?.protocol)) {
    throw new TypeError(`"${url}" is not a valid URL.`);
  }
};

const requireBilling = (item, name, timing) => {
  if (item === undefined) return;
  requireAmount(item.amount);
  if (item.paymentTiming !== timing) throw new TypeError(`"${name}" must be a "${timing}" line item.`);
};

/** Requests for payments to come, and their renewal in an answer. */
export const requireSpecial = (of) => {
  const recurring = of.recurringPaymentRequest ?? of.newRecurringPaymentRequest;
  const reload = of.automaticReloadPaymentRequest ?? of.newAutomaticReloadPaymentRequest;
  const deferred = of.deferredPaymentRequest ?? of.newDeferredPaymentRequest;
  requireBilling(recurring?.regularBilling, "regularBilling", "recurring");
  requireBilling(recurring?.trialBilling, "trialBilling", "recurring");
  requireBilling(reload?.automaticReloadBilling, "automaticReloadBilling", "automaticReload");
  requireBilling(deferred?.deferredBilling, "deferredBilling", "deferred");
  if ((deferred?.freeCancellationDate === undefined) !== (deferred?.freeCancellationDateTimeZone === undefined)) {
    throw new TypeError('"freeCancellationDate" and "freeCancellationDateTimeZone" must be specified together.');
  }
  for (const request of [recurring, reload, deferred]) {
    requireURL(request?.managementURL);
    requireURL(request?.tokenNotificationURL);
  }
  for (const { amount } of of.multiTokenContexts ?? of.newMultiTokenContexts ?? []) requireAmount(amount);
};

/** Everything about a request, for a version that is supported. */
export const requireRules = (request, version) => {
  requireCountry(request.countryCode);
  if (!isCurrency(request.currencyCode)) {
    throw new TypeError(`"${request.currencyCode}" is not a valid currency code.`);
  }
  requireNetworks(request.supportedNetworks, version);
  if (request.merchantCapabilities.length === 0) {
    throw new TypeError("At least one merchant capability must be provided.");
  }
  requireTotal(request.total, version);
  requireShippingMethods(request.shippingMethods);
  for (const code of request.supportedCountries ?? []) requireCountry(code);
  requireLineItems(request.lineItems);
  requireContactFields(request.requiredBillingContactFields, version);
  requireContactFields(request.requiredShippingContactFields, version);
  requireSpecial(request);
};

/** What an answer brings that is new. */
export const requireUpdateRules = (update, version) => {
  requireTotal(update.newTotal, version);
  requireLineItems(update.newLineItems);
  requireShippingMethods(update.newShippingMethods);
  requireSpecial(update);
};

/** Agreements beyond this payment. */
export const SPECIAL = [
  "multiTokenContexts",
  "recurringPaymentRequest",
  "automaticReloadPaymentRequest",
  "deferredPaymentRequest",
];

/** Why a device refuses to show a sheet for a request that the engine let through; nothing when it shows it. */
export const whyNotPresented = (request) => {
  const { merchantCapabilities, total, multiTokenContexts = [] } = request;
  if (!merchantCapabilities.includes("supports3DS")) return 'merchantCapabilities must hold "supports3DS".';
  const specials = SPECIAL.filter((name) => request[name] !== undefined);
  if (specials.length > 1) return `Only one of these may be requested at a time: ${specials.join(", ")}.`;
  const parts = multiTokenContexts.reduce((sum, { amount }) => sum + units(amount), 0);
  if (parts > units(total.amount)) return "The amounts of multiTokenContexts are more than the total.";
  if (SPECIAL.some((name) => request[name]?.billingAgreement?.length > 500)) {
    return "A billingAgreement has at most 500 characters.";
  }
  return undefined;
};

/** Ten-thousandths, because currencies have up to four decimals. */
const units = (amount) => Math.round(Number(amount) * 10_000);

/** The sheet and the payment token round a total, which the merchant's server has to expect. */
export const adviseOnAmount = ({ amount, type }, currency) => {
  const { maximumFractionDigits } = new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions();
  const decimals = (amount.split(".")[1] ?? "").replace(/0+$/, "").length;
  if (type === "pending" || decimals <= maximumFractionDigits) return;
  advise(`the total ${amount} has more decimals than ${currency}; the sheet and the payment token round it.`);
};

/** What works here, and will disappoint on a device. */
export const adviseOn = (request) => {
  adviseOnAmount(request.total, request.currencyCode);
  if (request.lineItems?.length === 0) advise("lineItems is empty; leave it out instead.");
  const identifiers = (request.shippingMethods ?? []).map(({ identifier }) => identifier);
  if (new Set(identifiers).size < identifiers.length) advise("Two shipping methods have the same identifier.");
  if (request.billingContact && !request.requiredBillingContactFields?.includes("postalAddress")) {
    advise('billingContact is ignored unless requiredBillingContactFields holds "postalAddress".');
  }
  if (
    request.merchantCapabilities.includes("supportsEMV")
    && !request.supportedNetworks.some((network) => network.toLowerCase() === "chinaunionpay")
  ) {
    advise('"supportsEMV" is for chinaUnionPay alone.');
  }
};
