import { isApplePay } from "./payment-details.js";
import { ApplePayPaymentRequest } from "./payment-request.js";
import { isObject } from "./web-idl.js";

// The browser's own Payment Request beside the simulated one.

/** Whether the browser's own PaymentRequest is asked: for methods of which none is Apple Pay. */
const isForBrowser = (methods) => {
  if (!isObject(methods) || typeof methods[Symbol.iterator] !== "function") return false;
  const identifiers = [...methods].map((method) => method?.supportedMethods);
  return identifiers.length > 0 && identifiers.every((one) => typeof one === "string" && !isApplePay(one));
};

/**
 * The page's `PaymentRequest`: the browser's own, if it has one, for everything but Apple Pay. As in Safari, Apple Pay
 * is what is shown when it is one method among several.
 */
export const paymentRequestOver = (native) =>
  new Proxy(native ?? ApplePayPaymentRequest, {
    apply() {
      throw new TypeError("Constructor requires 'new' operator");
    },
    construct: (target, given, newTarget) =>
      native && given.length > 1 && isForBrowser(given[0])
        ? Reflect.construct(target, given, newTarget)
        : new ApplePayPaymentRequest(...given),
    get: (target, name, receiver) =>
      name === Symbol.hasInstance
        ? (value) => value instanceof ApplePayPaymentRequest || value instanceof target
        : Reflect.get(target, name, receiver),
  });

/** A class of Payment Request's that the browser may have, too: instances of both are its instances. */
export const besideNative = (type, native) =>
  Object.defineProperty(type, Symbol.hasInstance, {
    value: (value) => Function.prototype[Symbol.hasInstance].call(type, value) || (native && value instanceof native),
  });
