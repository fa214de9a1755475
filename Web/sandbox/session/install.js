import { offerButton } from "./button.js";
import { applePaySandbox } from "./driver.js";
import { ApplePayError } from "./errors.js";
import { SESSION_EVENTS } from "./events.js";
import { paymentRequestOver } from "./payment-request.js";
import { ApplePaySession } from "./session.js";
import { address } from "./wallet.js";
import { advise } from "./web-idl.js";

// What a page finds on its window.

const define = (name, value) => Object.defineProperty(window, name, { value, configurable: true, writable: true });

const addStyles = () => {
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = new URL("apple-pay-session.css", address).href;
  link.addEventListener("error", () => advise(`the sheet has no style: allow ${address.origin} in style-src.`));
  document.head.append(link);
};

if (!window.applePaySandbox) {
  addStyles();
  define("ApplePaySession", ApplePaySession);
  define("ApplePayError", ApplePayError);
  for (const type of Object.values(SESSION_EVENTS)) define(type.name, type);
  define("PaymentRequest", paymentRequestOver(window.PaymentRequest));
  define("applePaySandbox", Object.freeze(applePaySandbox));
  offerButton();
}
