import { applePayPaymentRequest, authorizationResult, lineItem, shippingMethod, UPDATES } from "./dictionaries.js";
import { errorsOfStatus, isPINStatus, requireStatus, STATUS } from "./errors.js";
import { ListenerTarget, defineHandlers, SESSION_EVENTS } from "./events.js";
import { webOptions } from "./code-flow.js";
import { hasOpenSheet } from "./page-sheets.js";
import { simulated, requireGesture, requirePage } from "./simulated-device.js";
import { Presentation } from "./presentation.js";
import { adviseOn, adviseOnItems, forVersion, requireOrderDetails, requireRules, requireUpdateRules } from "./rules.js";
import { address, wallet } from "./wallet.js";
import {
  advise,
  invalidAccess,
  isObject,
  listOf,
  requireArguments,
  text,
  typeError,
  unsignedLong,
  unsignedShort,
} from "./web-idl.js";

const lineItems = listOf(lineItem);
const shippingMethods = listOf(shippingMethod);

/** Apple Pay JS: exceptions and states are an engine's own, and so is the order in which they are looked for. */
export class ApplePaySession extends ListenerTarget {
  // ── What a page asks before it shows a button

  static canMakePayments() {
    requirePage();
    return simulated.canMakePayments;
  }

  static async canMakePaymentsWithActiveCard(merchantIdentifier) {
    requireArguments(arguments, 1);
    requirePage();
    if (simulated.isThirdPartyBrowser) return true;
    return (
      simulated.canMakePayments && (await isPayable(text(merchantIdentifier))) && (await wallet.cards()).length > 0
    );
  }

  static async applePayCapabilities(merchantIdentifier) {
    requireArguments(arguments, 1);
    requirePage();
    return { paymentCredentialStatus: await credentialStatus(text(merchantIdentifier)) };
  }

  static async openPaymentSetup(merchantIdentifier) {
    requireArguments(arguments, 1);
    requirePage();
    requireGesture("Must call ApplePaySession.openPaymentSetup from a user gesture handler.");
    window.open(new URL("/#cards", address.origin), "_blank", "noopener");
    return simulated.canMakePayments && isPayable(text(merchantIdentifier));
  }

  static supportsVersion(version) {
    requireArguments(arguments, 1);
    const number = unsignedLong(version);
    if (number === 0) throw invalidAccess();
    requirePage();
    return number <= simulated.newestVersion;
  }

  // ── A session

  #request;
  #presentation;

  constructor(version, paymentRequest) {
    requireArguments(arguments, 2);
    const number = unsignedLong(version);
    const request = applePayPaymentRequest(paymentRequest, simulated.newestVersion);
    requirePage();
    requireGesture("Must create a new ApplePaySession from a user gesture handler.");
    requireRules(request, number, simulated.newestVersion);
    adviseOn(request, number);
    super();
    this.#request = forVersion(request, number);
  }

  begin() {
    if (this.#presentation) throw invalidAccess("Payment session is already active.");
    webOptions.focusApplePayCodeWindow(); // for a shopper who taps again
    if (hasOpenSheet()) throw invalidAccess("Page already has an active payment session.");
    this.#presentation = new Presentation(this.#request, this.#host);
    this.#presentation.open();
  }

  abort() {
    if (!this.#isActive) throw invalidAccess();
    this.#presentation.abort();
  }

  completeMerchantValidation(merchantSession) {
    requireArguments(arguments, 1);
    if (!this.#isActive || !this.#presentation.isValidating) throw invalidAccess();
    if (!isObject(merchantSession)) throw typeError();
    this.#presentation.answerValidation(merchantSession);
  }

  // Versions 1 and 2 answered with positional arguments. The bindings distinguish the forms by their number, regardless of
  // the session's version.

  completePaymentMethodSelection(update, newLineItems) {
    requireArguments(arguments, 1);
    this.#answer(
      "paymentMethodSelected",
      arguments.length >= 2
        ? { newTotal: lineItem(update), newLineItems: lineItems(newLineItems) }
        : UPDATES.paymentMethodSelected(update, simulated.newestVersion),
    );
  }

  completeShippingContactSelection(update, newShippingMethods, newTotal, newLineItems) {
    requireArguments(arguments, 1);
    if (arguments.length < 4) {
      if (arguments.length > 1) throw typeError();
      this.#answer("shippingContactSelected", UPDATES.shippingContactSelected(update, simulated.newestVersion));
      return;
    }
    const positional = {
      newTotal: lineItem(newTotal),
      newLineItems: lineItems(newLineItems),
      newShippingMethods: shippingMethods(newShippingMethods),
    };
    this.#require("shippingContactSelected");
    this.#answer("shippingContactSelected", { ...positional, errors: errorsOfStatus(unsignedShort(update)) });
  }

  completeShippingMethodSelection(update, newTotal, newLineItems) {
    requireArguments(arguments, 1);
    if (arguments.length < 3) {
      if (arguments.length > 1) throw typeError();
      this.#answer("shippingMethodSelected", UPDATES.shippingMethodSelected(update, simulated.newestVersion));
      return;
    }
    const status = unsignedShort(update);
    if (status === STATUS.SUCCESS) {
      this.#answer("shippingMethodSelected", { newTotal: lineItem(newTotal), newLineItems: lineItems(newLineItems) });
      return;
    }
    this.#require("shippingMethodSelected");
    requireStatus(status);
    this.#presentation.requestCancel();
  }

  completeCouponCodeChange(update) {
    requireArguments(arguments, 1);
    this.#answer("couponCodeChanged", UPDATES.couponCodeChanged(update, simulated.newestVersion));
  }

  completePayment(result) {
    requireArguments(arguments, 1);
    const isStatus = ["number", "string", "boolean", "bigint"].includes(typeof result);
    const {
      status,
      errors = [],
      orderDetails,
    } = isStatus ? { status: unsignedShort(result) } : authorizationResult(result, simulated.newestVersion);
    this.#require("authorized");
    requireStatus(status);
    requireOrderDetails(orderDetails);
    const isLegacy = status > STATUS.FAILURE && !isPINStatus(status);
    const all = [...(isLegacy ? errorsOfStatus(status) : []), ...errors];
    this.#presentation.complete({ status, errors: all, orderDetails });
  }

  // ── Behind the methods

  get #isActive() {
    return this.#presentation?.isOver === false;
  }

  #require(state) {
    if (this.#presentation?.state !== state) throw invalidAccess();
  }

  #answer(state, update) {
    this.#require(state);
    requireUpdateRules(update, ["shippingContactSelected", "couponCodeChanged"].includes(state));
    adviseOnItems(update.newLineItems);
    this.#presentation.answer({ newLineItems: [], ...update }); // items that an answer lacks are gone
  }

  get #host() {
    const fire = (type, value) => this.dispatchEvent(new SESSION_EVENTS[type](type, value));
    return {
      hasListener: (type) => ListenerTarget.hasListener(this, type),
      validateMerchant: (validationURL) => fire("validatemerchant", validationURL),
      select: fire,
      authorize: (payment) => fire("paymentauthorized", payment),
      cancel: () => fire("cancel", { code: "unknown", info: {} }),
    };
  }
}

for (const [name, value] of Object.entries(STATUS)) {
  for (const place of [ApplePaySession, ApplePaySession.prototype]) {
    Object.defineProperty(place, `STATUS_${name}`, { value, enumerable: true });
  }
}
defineHandlers(ApplePaySession, Object.keys(SESSION_EVENTS));

/** Whether Apple would know the merchant, and this page as the merchant's. */
const isPayable = async (merchantIdentifier) => {
  const { registered, domainVerified } = await wallet.merchant(merchantIdentifier);
  if (!registered) advise(`The sandbox knows no merchant "${merchantIdentifier}".`);
  else if (!domainVerified)
    advise(`"${merchantIdentifier}" has not verified the domain ${location.hostname}: run tender merchant verify.`);
  return registered && domainVerified;
};

const credentialStatus = async (merchantIdentifier) => {
  if (!simulated.canMakePayments) return "applePayUnsupported";
  if (simulated.isThirdPartyBrowser) return "paymentCredentialStatusUnknown";
  const isReady = (await isPayable(merchantIdentifier)) && (await wallet.cards()).length > 0;
  return isReady ? "paymentCredentialsAvailable" : "paymentCredentialsUnavailable";
};
