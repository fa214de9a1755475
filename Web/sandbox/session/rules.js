import { advise, invalidAccess } from "./web-idl.js";

// What WebKit checks of a request once its types are right, in its order.

/** The web's words for networks, in lower case, with the version of the first device that knew each. */
const NETWORKS = {
  amex: 1,
  chinaunionpay: 1,
  discover: 1,
  interac: 1,
  mastercard: 1,
  privatelabel: 1,
  visa: 1,
  jcb: 2,
  cartebancaire: 3,
  cartesbancaires: 3,
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

/** The sessions in which a network is refused although the device knows it. */
const NETWORKS_OF_SESSIONS = { jcb: 2, cartebancaire: 3 };

/** A network by the one name that cards have: `carteBancaire` is the older name of `cartesBancaires`. */
export const networkName = (network) => network.toLowerCase().replace(/^cartebancaire$/, "cartesbancaires");

/** The W3C's valid decimal monetary value: any number of decimals. A number that a page passes became a text before. */
export const isAmount = (text = "") => /^-?[0-9]+(\.[0-9]+)?$/.test(text);

const requireVersion = (version, newest) => {
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

const requireCurrency = (code) => {
  if (!isCurrency(code)) throw new TypeError(`"${code}" is not a valid currency code.`);
};

const requireNetwork = (network, version, newest) => {
  const word = network.toLowerCase();
  if (!(NETWORKS[word] <= newest) || version < NETWORKS_OF_SESSIONS[word]) {
    throw new TypeError(`"${network}" is not a valid payment network.`);
  }
};

const requireContactFields = (fields = [], version) => {
  if (version < 3 && fields.includes("phoneticName")) {
    throw new TypeError('"phoneticName" is not a valid contact field.');
  }
};

/** What Apple Pay JS and Payment Request ask for alike, up to what each checks in an order of its own. */
export const requireBase = (request, version, newest) => {
  requireVersion(version, newest);
  if (request.merchantCapabilities.length === 0) {
    throw new TypeError("At least one merchant capability must be provided.");
  }
  const hasInstallments = version >= 8 && request.installmentConfiguration;
  if (!hasInstallments && request.supportedNetworks.length === 0) {
    throw new TypeError("At least one supported network must be provided.");
  }
  for (const network of request.supportedNetworks) requireNetwork(network, version, newest);
  requireContactFields(request.requiredBillingContactFields, version);
  requireContactFields(request.requiredShippingContactFields, version);
};

const requireSupportedNetworks = ({ supportedNetworks }) => {
  if (supportedNetworks.length === 0) throw new TypeError("Missing supported networks.");
};

const requireIssuerCountries = ({ supportedCountries = [] }, version) => {
  if (version >= 3) for (const code of supportedCountries) requireCountry(code);
};

const requireAmount = (amount = "") => {
  if (!isAmount(amount)) throw new TypeError(`"${amount}" is not a valid amount.`);
};

/** A total needs an amount even when it is pending. */
export const requireTotal = (total) => {
  requireAmount(total.amount);
  if (!total.label) throw new TypeError("Missing total label.");
  if (Number(total.amount) < 0) throw new TypeError("Total amount must not be negative.");
};

/** Items may be negative, and a pending one needs no amount. */
const requireLineItems = (items = []) => {
  for (const item of items) if (item.type !== "pending") requireAmount(item.amount);
};

const requireShippingAmounts = (methods = []) => {
  for (const { amount } of methods) requireAmount(amount);
};

const requireShippingNotNegative = (methods = []) => {
  for (const { amount } of methods) {
    if (Math.trunc(Number(amount)) < 0) {
      throw new TypeError("Shipping method amount must be greater than or equal to zero.");
    }
  }
};

// ── Payments to come

const requireURL = (url) => {
  if (url !== undefined && !URL.canParse(url)) throw new TypeError(`"${url}" is not a valid URL.`);
};

const ARTICLES = { recurring: "a", automaticReload: "an", deferred: "a" };

const requireBilling = (item, name, timing) => {
  if (item === undefined) return;
  if (item.paymentTiming !== timing) {
    throw new TypeError(`'${name}' must be ${ARTICLES[timing]} '${timing}' line item.`);
  }
  if (item.label === undefined) throw new TypeError(`Missing label for '${name}'.`);
  if (item.type !== "pending") requireAmount(item.amount);
};

const requireAddresses = ({ managementURL, tokenNotificationURL }) => {
  requireURL(managementURL);
  requireURL(tokenNotificationURL);
};

const requireRecurring = (request) => {
  requireBilling(request.regularBilling, "regularBilling", "recurring");
  requireBilling(request.trialBilling, "trialBilling", "recurring");
  requireAddresses(request);
};

const requireReload = (request) => {
  const { automaticReloadBilling } = request;
  requireBilling(automaticReloadBilling, "automaticReloadBilling", "automaticReload");
  const threshold = automaticReloadBilling.automaticReloadPaymentThresholdAmount ?? "";
  if (!isAmount(threshold)) {
    throw new TypeError(`"${threshold}" is not a valid automaticReloadPaymentThresholdAmount.`);
  }
  requireAddresses(request);
};

const requireDeferred = (request) => {
  requireBilling(request.deferredBilling, "deferredBilling", "deferred");
  requireURL(request.managementURL);
  requireFreeCancellation(request);
  if (!request.paymentDescription) throw new TypeError("Missing 'paymentDescription'.");
  requireURL(request.tokenNotificationURL);
};

const requireFreeCancellation = ({ freeCancellationDate: date, freeCancellationDateTimeZone: zone }) => {
  if (date === undefined) {
    if (!zone) return;
    throw new TypeError("Unexpected 'freeCancellationDateTimeZone' when 'freeCancellationDate' is not set.");
  }
  if (!zone) throw new TypeError("Missing 'freeCancellationDateTimeZone' when 'freeCancellationDate' is set.");
  if (!isTimeZone(zone)) throw new TypeError(`"${zone}" is not a valid time zone.`);
};

const isTimeZone = (zone) => {
  try {
    return Boolean(new Intl.DateTimeFormat("en", { timeZone: zone }));
  } catch {
    return false;
  }
};

/** Requests for payments to come, of a session or of a modifier. */
export const requireSpecial = (of) => {
  if (of.recurringPaymentRequest) requireRecurring(of.recurringPaymentRequest);
  if (of.automaticReloadPaymentRequest) requireReload(of.automaticReloadPaymentRequest);
  for (const { amount } of of.multiTokenContexts ?? []) requireAmount(amount);
  if (of.deferredPaymentRequest) requireDeferred(of.deferredPaymentRequest);
};

export const requireOrderDetails = (orderDetails) => {
  if (orderDetails) requireURL(orderDetails.webServiceURL);
};

// ── The whole

/** Everything about an `ApplePayPaymentRequest`. */
export const requireRules = (request, version, newest) => {
  requireBase(request, version, newest);
  requireTotal(request.total);
  requireLineItems(request.lineItems);
  requireShippingAmounts(request.shippingMethods);
  requireSpecial(request);
  requireCountry(request.countryCode);
  requireCurrency(request.currencyCode);
  requireSupportedNetworks(request);
  requireShippingNotNegative(request.shippingMethods);
  requireIssuerCountries(request, version);
};

/** What the constructor of a payment request checks of Apple Pay's `data`. */
export const requireMethodRules = (request, newest) => {
  requireBase(request, request.version, newest);
  requireCountry(request.countryCode);
  requireSupportedNetworks(request);
  requireIssuerCountries(request, request.version);
};

/** What `show()` checks besides. */
export const requireShownRules = ({ currencyCode, shippingMethods }) => {
  requireCurrency(currencyCode);
  requireShippingNotNegative(shippingMethods);
};

/** What an answer of Apple Pay JS brings that is new; its methods first, where it has some. */
export const requireUpdateRules = (update, checksMethods) => {
  if (checksMethods) requireShippingAmounts(update.newShippingMethods);
  requireTotal(update.newTotal);
  requireLineItems(update.newLineItems);
};

/** The request as a session of this version knows it. */
export const forVersion = ({ supportedCountries, ...request }, version) => {
  if (version >= 3) return { ...request, ...(supportedCountries ? { supportedCountries } : {}) };
  const contacts = ["billingContact", "shippingContact"].filter((name) => request[name]);
  return { ...request, ...Object.fromEntries(contacts.map((name) => [name, withoutPhoneticNames(request[name])])) };
};

const withoutPhoneticNames = ({ phoneticGivenName: _given, phoneticFamilyName: _family, ...contact }) => contact;

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

/** Why a device cannot show new sums that the engine let through: an ApplePayModifier's are not checked. */
export const whyNotSums = ({ newTotal, newShippingMethods = [] }) => {
  if (!newTotal) return undefined;
  if (!isAmount(newTotal.amount)) return `The total "${newTotal.amount ?? ""}" is not an amount.`;
  if (Number(newTotal.amount) < 0) return "The total is negative.";
  const method = newShippingMethods.find(({ amount }) => !isAmount(amount));
  return method && `The amount "${method.amount}" of a shipping method is not one.`;
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

/** Items that engines let through although Apple's documentation asks for more. */
export const adviseOnItems = (items = []) => {
  if (items.some(({ label }) => !label)) advise("a line item has no label, which Apple asks for.");
  if (items.some(({ type, amount }) => type === "pending" && Number(amount ?? 0) !== 0)) {
    advise("the sheet does not show the amount of a pending line item; Apple asks for 0.");
  }
};

/** Members that the engine checks, and that have no effect in the sandbox. */
const WITHOUT_EFFECT = [
  "applePayLaterAvailability",
  "disbursementRequest",
  "installmentConfiguration",
  "isDelegatedRequest",
  "merchantCategoryCode",
];

/** What works here, and will disappoint on a device. */
export const adviseOn = (request, version) => {
  adviseOnAmount(request.total, request.currencyCode);
  if (version < 4 && Number(request.total.amount) === 0) advise("a total of zero came with version 4.");
  if (request.lineItems?.length === 0) advise("lineItems is empty; leave it out instead.");
  adviseOnItems(request.lineItems);
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
  for (const name of WITHOUT_EFFECT.filter((member) => request[member] !== undefined)) {
    advise(`${name} is checked, and has no effect in the sandbox.`);
  }
};
