import { offerButton } from "./button.js";
import { webOptions } from "./code-flow.js";
import { applePaySandbox } from "./driver.js";
import { ApplePayError } from "./errors.js";
import { SESSION_EVENTS } from "./events.js";
import { MerchantValidationEvent, PaymentMethodChangeEvent, PaymentRequestUpdateEvent } from "./payment-events.js";
import { besideNative, paymentRequestOver } from "./native-request.js";
import { ApplePayPaymentAddress, ApplePayPaymentResponse } from "./payment-response.js";
import { ApplePaySession } from "./session.js";
import { ApplePaySetup, ApplePaySetupFeature } from "./setup.js";
import { simulated } from "./simulated-device.js";
import { address } from "./wallet.js";
import { advise, asInterface } from "./web-idl.js";

// What a page finds on its window.

const define = (name, value) => Object.defineProperty(window, name, { value, configurable: true, writable: true });

/** Gives the class the name that pages know it by. */
const named = (name, type) => {
  Object.defineProperty(type, "name", { value: name });
  Object.defineProperty(type.prototype, Symbol.toStringTag, { value: name, configurable: true });
  return type;
};

const addStyles = () => {
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = new URL("apple-pay-session.css", address).href;
  link.addEventListener("error", () => advise(`the sheet has no style: allow ${address.origin} in style-src.`));
  document.head.append(link);
};

const defineApplePay = () => {
  const types = { ApplePaySession, ApplePayError, ApplePaySetup, ApplePaySetupFeature };
  for (const [name, type] of Object.entries(types)) define(name, asInterface(named(name, type)));
  for (const type of Object.values(SESSION_EVENTS)) define(type.name, type);
};

// Safari has none; a page that loads Apple's own script replaces it.
const defineWebOptions = () =>
  Object.defineProperty(window, "ApplePayWebOptions", {
    configurable: true,
    get: () => (simulated.isThirdPartyBrowser ? webOptions : undefined),
    set(value) {
      define("ApplePayWebOptions", value);
    },
  });

const definePaymentRequest = () => {
  const types = {
    MerchantValidationEvent,
    PaymentAddress: ApplePayPaymentAddress,
    PaymentMethodChangeEvent,
    PaymentRequestUpdateEvent,
    PaymentResponse: ApplePayPaymentResponse,
  };
  for (const [name, type] of Object.entries(types)) define(name, besideNative(named(name, type), window[name]));
  define("PaymentRequest", paymentRequestOver(window.PaymentRequest));
};

// A real one stays, unless the script's address asks for this one: `apple-pay-session.js?replace`.
const isWelcome = !window.ApplePaySession || address.searchParams.has("replace");

if (!isWelcome && !window.applePaySandbox) {
  advise("this browser has its own Apple Pay, which stays. To replace it, load apple-pay-session.js?replace.");
} else if (!window.applePaySandbox) {
  addStyles();
  defineApplePay();
  defineWebOptions();
  definePaymentRequest();
  define("applePaySandbox", Object.freeze(applePaySandbox));
  offerButton();
}
