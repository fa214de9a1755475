import { applePayPaymentRequest, authorizationResult, lineItem, shippingMethod, UPDATES } from "./dictionaries.js";
import { errorsOfStatus, isPINStatus, requireStatus, STATUS } from "./errors.js";
import { ListenerTarget, defineHandlers, SESSION_EVENTS } from "./events.js";
import { hasOpenSheet } from "./latest-sheet.js";
import { simulated, requireGesture, requirePage } from "./simulated-device.js";
import { Presentation } from "./presentation.js";
import { adviseOn, requireRules, requireUpdateRules, requireVersion } from "./rules.js";
import { address, wallet } from "./wallet.js";
import { advise, invalidAccess, listOf, requireArguments, text, unsignedLong } from "./web-idl.js";

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
    if (number === 0) throw invalidAccess('"0" is not a supported version.');
    requirePage();
    return number <= simulated.newestVersion;
  }

  // ── A session

  #version;
  #request;
  #presentation;

  constructor(version, paymentRequest) {
    requireArguments(arguments, 2);
    const number = unsignedLong(version);
    const request = applePayPaymentRequest(paymentRequest, number);
    requirePage();
    requireGesture("Must create a new ApplePaySession from a user gesture handler.");
    requireVersion(number, simulated.newestVersion);
    requireRules(request, number);
    adviseOn(request);
    super();
    this.#version = number;
    this.#request = request;
  }

  begin() {
    if (this.#presentation) throw invalidAccess("Payment session is already active.");
    if (hasOpenSheet()) throw invalidAccess("Page already has an active payment session.");
    this.#presentation = new Presentation(this.#version, this.#request, this.#host);
    this.#presentation.open();
  }

  abort() {
    if (!this.#isActive) throw invalidAccess();
    this.#presentation.abort();
  }

  completeMerchantValidation(merchantSession) {
    requireArguments(arguments, 1);
    if (!this.#isActive || !this.#presentation.isValidating) throw invalidAccess();
    if ((typeof merchantSession !== "object" && typeof merchantSession !== "function") || merchantSession === null) {
      throw new TypeError("The merchant session must be an object.");
    }
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
        : UPDATES.paymentMethodSelected(update, this.#version),
    );
  }

  completeShippingContactSelection(update, newShippingMethods, newTotal, newLineItems) {
    requireArguments(arguments, 1);
    if (arguments.length < 4) {
      this.#answer("shippingContactSelected", UPDATES.shippingContactSelected(update, this.#version));
      return;
    }
    const positional = {
      newTotal: lineItem(newTotal),
      newLineItems: lineItems(newLineItems),
      newShippingMethods: shippingMethods(newShippingMethods),
    };
    this.#require("shippingContactSelected");
    this.#answer("shippingContactSelected", { ...positional, errors: errorsOfStatus(unsignedLong(update)) });
  }

  completeShippingMethodSelection(update, newTotal, newLineItems) {
    requireArguments(arguments, 1);
    if (arguments.length < 3) {
      this.#answer("shippingMethodSelected", UPDATES.shippingMethodSelected(update, this.#version));
      return;
    }
    const status = unsignedLong(update);
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
    this.#answer("couponCodeChanged", UPDATES.couponCodeChanged(update, this.#version));
  }

  completePayment(result) {
    requireArguments(arguments, 1);
    const isStatus = ["number", "string", "boolean", "bigint"].includes(typeof result);
    const { status, errors = [] } = isStatus
      ? { status: unsignedLong(result) }
      : authorizationResult(result, this.#version);
    this.#require("authorized");
    requireStatus(status);
    const isLegacy = status > STATUS.FAILURE && !isPINStatus(status);
    this.#presentation.complete({ status, errors: [...(isLegacy ? errorsOfStatus(status) : []), ...errors] });
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
    requireUpdateRules(update, this.#version);
    this.#presentation.answer(update);
  }

  get #host() {
    const fire = (type, value) => this.dispatchEvent(new SESSION_EVENTS[type](type, value));
    return {
      hasListener: (type) => ListenerTarget.hasListener(this, type),
      validateMerchant: (validationURL) => fire("validatemerchant", validationURL),
      select: fire,
      authorize: (payment) => fire("paymentauthorized", payment),
      cancel: () => fire("cancel"),
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
  else if (!domainVerified) advise(`"${merchantIdentifier}" has not verified the domain ${location.hostname}.`);
  return registered && domainVerified;
};

const credentialStatus = async (merchantIdentifier) => {
  if (!simulated.canMakePayments) return "applePayUnsupported";
  if (simulated.isThirdPartyBrowser) return "paymentCredentialStatusUnknown";
  const isReady = (await isPayable(merchantIdentifier)) && (await wallet.cards()).length > 0;
  return isReady ? "paymentCredentialsAvailable" : "paymentCredentialsUnavailable";
};
