// A device with Apple Pay, as the kit's tests want it: what it can do is in <html data-device>, and what it was asked
// to do is in `device.log`.
{
  const device = {
    version: 14,
    canPay: true,
    credentials: "paymentCredentialsAvailable",
    setsUp: true,
    log: [],
    ...JSON.parse(document.documentElement.dataset.device || "{}"),
  };
  window.device = device;
  if (device.isInsecure) Object.defineProperty(window, "isSecureContext", { value: false });
  if (device.isWebView) window.webkit = { messageHandlers: {} };
  if (device.hasSandbox) window.applePaySandbox = {};
  if (device.drawsButtons) CSS.supports = () => true;
  if (device.version < 14) delete AbortSignal.timeout; // Safari got both with iOS 16

  class ApplePaySession {
    static STATUS_SUCCESS = 0;
    static STATUS_FAILURE = 1;

    static supportsVersion(version) {
      return version <= device.version;
    }

    static canMakePayments() {
      if (device.refusesFrames && window !== window.top) throw new DOMException("", "InvalidAccessError");
      return device.canPay;
    }

    static async applePayCapabilities(merchant) {
      device.log.push(`capabilities ${merchant}`);
      return { paymentCredentialStatus: device.credentials };
    }

    static async openPaymentSetup(merchant) {
      device.log.push(`set-up ${merchant} ${navigator.userActivation.isActive}`);
      device.credentials = "paymentCredentialsAvailable";
      return device.setsUp;
    }

    constructor(version, request) {
      const { isActive } = navigator.userActivation;
      device.log.push(`session ${version} ${request.total.amount} ${isActive ? "in the gesture" : "too late"}`);
      const unknown = request.supportedNetworks.find((name) => device.refuses?.includes(name));
      if (unknown) throw new TypeError(`"${unknown}" is not a valid payment network.`);
      if (!isActive) throw new DOMException("Must create a new ApplePaySession from a user gesture handler.");
      Object.assign(device, { session: this, request });
    }

    begin() {
      device.log.push("begin");
    }

    abort() {
      device.log.push("abort");
    }
  }

  for (const name of [
    "MerchantValidation",
    "ShippingContactSelection",
    "ShippingMethodSelection",
    "PaymentMethodSelection",
    "CouponCodeChange",
    "Payment",
  ]) {
    ApplePaySession.prototype[`complete${name}`] = (answer) => {
      device.answer = answer;
      device.log.push(`complete ${name}`);
    };
  }

  class Button extends HTMLElement {
    connectedCallback() {
      this.textContent = "Apple's button";
    }
  }

  const define = () => {
    if (!customElements.get("apple-pay-button")) customElements.define("apple-pay-button", Button);
    window.ApplePaySession = ApplePaySession;
    window.ApplePayError = class ApplePayError {
      constructor(code, contactField, message) {
        Object.assign(this, { code, contactField, message });
      }
    };
  };
  if (!device.isAbsent) define();
  device.arrive = define;

  // The events that the page receives, in order, with the clicks between.
  for (const type of ["ready", "pressed", "authorized", "failed", "cancelled", "unavailable"]) {
    document.addEventListener(`tender:${type}`, ({ detail }) => {
      device.log.push(["page", type, detail.state ?? detail.status ?? detail.code].filter(Boolean).join(" "));
      device.reported = { type, ...detail };
    });
  }
  window.addEventListener("click", () => device.log.push("click begins"), { capture: true });
  window.addEventListener("click", () => device.log.push("click ends"));
  document.addEventListener("securitypolicyviolation", ({ violatedDirective }) =>
    device.log.push(`violation of ${violatedDirective}`),
  );
}
