// The events that a session dispatches, each with the one member that it brings.

const eventWith = (name, member) => {
  const values = new WeakMap();
  const type = class extends Event {
    constructor(type, value) {
      super(type);
      values.set(this, value);
    }
  };
  Object.defineProperty(type, "name", { value: name });
  Object.defineProperty(type.prototype, Symbol.toStringTag, { value: name, configurable: true });
  Object.defineProperty(type.prototype, member, {
    configurable: true,
    enumerable: true,
    get() {
      return values.get(this);
    },
  });
  return type;
};

/** By the event's type. */
export const SESSION_EVENTS = {
  validatemerchant: eventWith("ApplePayValidateMerchantEvent", "validationURL"),
  paymentmethodselected: eventWith("ApplePayPaymentMethodSelectedEvent", "paymentMethod"),
  shippingcontactselected: eventWith("ApplePayShippingContactSelectedEvent", "shippingContact"),
  shippingmethodselected: eventWith("ApplePayShippingMethodSelectedEvent", "shippingMethod"),
  couponcodechanged: eventWith("ApplePayCouponCodeChangedEvent", "couponCode"),
  paymentauthorized: eventWith("ApplePayPaymentAuthorizedEvent", "payment"),
  cancel: eventWith("ApplePayCancelEvent", "sessionError"),
};

/**
 * An event target that knows which types have listeners: the engine answers the events of the others itself.
 */
export class ListenerTarget extends EventTarget {
  #listeners = [];

  addEventListener(type, listener, options) {
    super.addEventListener(type, listener, options);
    if (!listener) return;
    const { capture, once = false, signal } = optionsOf(options);
    if (signal?.aborted || this.#index(type, listener, capture) >= 0) return;
    this.#listeners.push({ type: String(type), listener, capture, once });
    signal?.addEventListener("abort", () => this.#forget(type, listener, capture));
  }

  removeEventListener(type, listener, options) {
    super.removeEventListener(type, listener, options);
    this.#forget(type, listener, optionsOf(options).capture);
  }

  dispatchEvent(event) {
    const goesOn = super.dispatchEvent(event);
    this.#listeners = this.#listeners.filter(({ type, once }) => type !== event.type || !once);
    return goesOn;
  }

  /** Whether a listener, or a handler in an attribute, waits for events of this type. */
  static hasListener(target, type) {
    return target.#listeners.some((entry) => entry.type === type);
  }

  #index(type, listener, capture) {
    return this.#listeners.findIndex(
      (entry) => entry.type === String(type) && entry.listener === listener && entry.capture === capture,
    );
  }

  #forget(type, listener, capture) {
    const index = this.#index(type, listener, capture);
    if (index >= 0) this.#listeners.splice(index, 1);
  }
}

const optionsOf = (options) =>
  typeof options === "object" && options !== null
    ? { ...options, capture: Boolean(options.capture), once: options.once, signal: options.signal }
    : { capture: Boolean(options) };

/** Gives the class an `on…` attribute for each type. A handler keeps its turn among the listeners when it is replaced. */
export const defineHandlers = (type, names) => {
  for (const name of names) {
    const handlers = new WeakMap();
    Object.defineProperty(type.prototype, `on${name}`, {
      configurable: true,
      enumerable: true,
      get() {
        return handlers.get(this)?.handler ?? null;
      },
      set(value) {
        const handler = typeof value === "function" ? value : null;
        const entry = handlers.get(this);
        if (entry && handler) {
          entry.handler = handler;
        } else if (handler) {
          const added = { handler, listener: (event) => added.handler.call(this, event) };
          handlers.set(this, added);
          this.addEventListener(name, added.listener);
        } else if (entry) {
          handlers.delete(this);
          this.removeEventListener(name, entry.listener);
        }
      },
    });
  }
};
