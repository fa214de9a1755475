// Tender's web kit: an Apple Pay button and the sheet behind it, for a basket that the shop's server made.
//
// The sheet must open inside the shopper's click, so all it needs is fetched before. Prices, totals and errors are
// the server's; this file carries them.

/** Apple Pay's API version that the requests are written for. */
const API_VERSION = 14;
const CALL_TIMEOUT = 10_000;
/** The sheet waits 30 seconds for a payment's result: time to send it, and to ask what became of it. */
const PAYMENT_TIMEOUT = 27_000;
const SEND_TIMEOUT = 18_000;
/** The order stands; `pending` means that the provider has accepted it and answers later. */
const SETTLED = ["authorized", "captured", "partially_captured", "pending"];
const REFUSED = ["declined", "failed", "voided"];
/** These do not say what became of a payment; nor does any 5xx but one. */
const UNCERTAIN = new Set(["connection_lost", "payment_in_progress"]);
const APPLE_SCRIPT = "https://applepay.cdn-apple.com/jsapi/1.latest/apple-pay-sdk.js";

/** A refusal, with the server's stable code. */
class TenderError extends Error {
  constructor(code, detail, { status = 0, errors = [] } = {}) {
    super(detail);
    Object.assign(this, { code, status, errors });
  }
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const defaultServer = () => new URL(import.meta.url).origin;

// ── Calls

/** One call of the checkout API. A connection that broke throws `connection_lost`, with the status 0. */
const call = async (server, method, path, body, timeout = CALL_TIMEOUT) => {
  let response;
  let text;
  try {
    response = await fetch(`${server}/applepay/${path}`, {
      method,
      headers: body ? { "Content-Type": "application/json" } : {},
      body: body && JSON.stringify(body),
      credentials: "omit",
      cache: "no-store",
      signal: AbortSignal.timeout(timeout),
    });
    text = await response.text();
  } catch {
    throw new TenderError("connection_lost", "The connection to the shop was lost.");
  }
  const { ok, status } = response;
  const answer = parse(text);
  if (ok && answer) return answer;
  const { code = `http_${status}`, detail = "The shop gave no reason.", errors } = answer ?? {};
  throw new TenderError(code, detail, { status, errors });
};

/** The answer's object; nothing when it is not JSON. */
const parse = (text) => {
  try {
    return JSON.parse(text || "{}");
  } catch {
    return undefined;
  }
};

/** A call that is safe to repeat, repeated once when the connection broke. */
const callAgain = (...request) =>
  call(...request).catch((error) => {
    if (error.status > 0) throw error;
    return call(...request);
  });

const scripts = new Map();

/** Loads a classic script once. */
const loadScript = (source, crossOrigin = null) => {
  if (!scripts.has(source)) {
    scripts.set(source, new Promise((resolve, reject) => {
      const script = Object.assign(document.createElement("script"), { src: source, crossOrigin });
      script.onload = resolve;
      script.onerror = () => {
        scripts.delete(source);
        reject(new TenderError("script_not_loaded", `${source} could not be loaded.`));
      };
      document.head.append(script);
    }));
  }
  return scripts.get(source);
};

/** Puts a `<link>` into the head, unless it is there. */
const addLink = (attributes) => {
  if ([...document.head.querySelectorAll("link")].some((link) => link.href === attributes.href)) return;
  const link = document.createElement("link");
  for (const [name, value] of Object.entries(attributes)) if (value) link.setAttribute(name, value);
  document.head.append(link);
};

// ── Availability

/** Whether this device and browser can show a sheet. In `simulated`, true once a checkout was prepared. */
export const isSupportedByDevice = () => {
  try {
    return Boolean(window.ApplePaySession?.supportsVersion(API_VERSION) && window.ApplePaySession.canMakePayments());
  } catch {
    return false; // an insecure page
  }
};

/** Whether a checkout can be made here, with this server and, if one is named, this basket. */
export const isSupportedForCheckout = async (options) => (await explainAvailability(options)).length === 0;

/** Every reason why not, the one to see to first at the front. Empty when Apple Pay is available. */
export const explainAvailability = (options) => new TenderCheckout(options).examine();

const reason = (code, detail) => ({ code, detail });

const deviceReasons = () => {
  if (!window.ApplePaySession) return [reason("no_apple_pay", "This browser has no Apple Pay.")];
  if (!window.ApplePaySession.supportsVersion(API_VERSION)) {
    return [reason("version_too_old", `This browser's Apple Pay is older than version ${API_VERSION}.`)];
  }
  return isSupportedByDevice() ? [] : [reason("device_cannot_pay", "This device cannot make payments with Apple Pay.")];
};

/** The sheet's script: the simulated one, only in `simulated`; Apple's where the browser brings none. */
const provideSession = async ({ environment, simulatedSession }) => {
  if (environment === "simulated") await loadScript(simulatedSession);
  else if (!window.ApplePaySession) await loadScript(APPLE_SCRIPT, "anonymous");
};

// ── A checkout

/**
 * One basket's way through the sheet. Events: `authorized`, `failed`, `cancelled`, `unavailable`; what happened is
 * in the event's `detail`.
 */
export class TenderCheckout extends EventTarget {
  #session;
  #isSent = false;

  constructor({ server = defaultServer(), basket } = {}) {
    super();
    this.server = server.replace(/\/+$/, "");
    this.basket = basket;
    this.isReady = false;
  }

  /** Fetches all that the sheet needs. Resolves to whether `begin` may be called; if not, says why. */
  async prepare() {
    this.isReady = false; // what is being fetched must not replace what an open sheet shows
    const reasons = await this.examine();
    this.isReady = reasons.length === 0;
    if (!this.isReady) this.#tell("unavailable", { reasons });
    return this.isReady;
  }

  /** The reasons against a checkout, fetching on the way what `begin` needs. */
  async examine() {
    const reasons = [];
    if (!window.isSecureContext) reasons.push(reason("insecure_page", "Apple Pay needs https (or localhost)."));
    const attempt = async (work) => {
      try {
        await work();
      } catch (error) {
        reasons.push(reason(error.code ?? "unexpected", error.message));
      }
    };
    await attempt(async () => {
      this.metadata = await callAgain(this.server, "GET", "metadata");
      if (!this.metadata.enabled) reasons.push(reason("disabled", "This shop does not accept Apple Pay here."));
      for (const { href, sizes } of this.metadata.touchIcons ?? []) {
        addLink({ rel: "apple-touch-icon", href: new URL(href, this.server).href, sizes });
      }
      await provideSession(this.metadata);
    });
    if (this.metadata) reasons.push(...deviceReasons());
    if (this.metadata && this.basket) {
      await attempt(async () => {
        this.#show(await callAgain(this.server, "GET", this.#path("basket")));
      });
    }
    return reasons;
  }

  /** Changes what the order is for before the sheet opens: `{serviceType, requestedFor?, note?, customer?}`. */
  async setDetails(details) {
    this.#show(await callAgain(this.server, "PUT", `${this.#path("basket")}/details`, details));
  }

  /** Opens the sheet. To be called in the shopper's click, and without awaiting anything before. */
  begin() {
    if (this.#session) return; // a second click
    if (!this.isReady || !this.shown) {
      this.#tell("unavailable", { reasons: [reason("not_prepared", "The checkout is not ready yet.")] });
      return;
    }
    try {
      this.#session = new ApplePaySession(this.shown.applePayVersion, this.shown.request);
    } catch (error) {
      this.#tell("failed", { code: "sheet_not_opened", detail: error.message });
      return;
    }
    this.#listen(this.#session);
    this.#session.begin();
  }

  #path(kind) {
    return `${kind}/${encodeURIComponent(this.basket)}`;
  }

  #show(basket) {
    this.shown = basket;
    this.quoteId = basket.quoteId;
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  /** The one way out: whatever happens later to this session is not told any more. */
  #end(session, type, detail) {
    if (this.#session !== session) return;
    this.#session = undefined;
    this.#isSent = false;
    this.#tell(type, detail);
  }

  #fail(session, { code = "unexpected", message }) {
    if (this.#session !== session) return;
    try {
      session.abort();
    } catch {
      // the sheet has closed by itself
    }
    this.#end(session, "failed", { code, detail: message });
  }

  // ── The sheet's events

  #listen(session) {
    session.onvalidatemerchant = async ({ validationURL }) => {
      try {
        const body = { basketId: this.basket, validationURL };
        session.completeMerchantValidation(await callAgain(this.server, "POST", "validate", body));
      } catch (error) {
        this.#fail(session, error);
      }
    };
    session.onshippingcontactselected = ({ shippingContact }) =>
      this.#update(session, { shippingContact }, "completeShippingContactSelection");
    session.onshippingmethodselected = ({ shippingMethod }) =>
      this.#update(session, { shippingMethod: shippingMethod.identifier }, "completeShippingMethodSelection");
    session.oncouponcodechanged = ({ couponCode }) =>
      this.#update(session, { couponCode }, "completeCouponCodeChange");
    session.onpaymentmethodselected = ({ paymentMethod: { type } }) =>
      this.#update(session, { paymentMethod: { type } }, "completePaymentMethodSelection");
    session.onpaymentauthorized = ({ payment }) => this.#pay(session, payment);
    session.oncancel = () => this.#cancel(session);
  }

  /** Tells the server what the shopper chose, and the sheet what that costs. The newest quote is the one to pay. */
  async #update(session, choice, complete) {
    try {
      const { quoteId, update } = await callAgain(this.server, "POST", `${this.#path("basket")}/update`, choice);
      if (this.#session !== session) return;
      this.quoteId = quoteId;
      session[complete](sheetUpdate(update));
    } catch (error) {
      // A total the server did not confirm must not be shown, nor an old one paid with a new choice.
      this.#fail(session, error);
    }
  }

  async #pay(session, { token, billingContact, shippingContact }) {
    const body = { basketId: this.basket, quoteId: this.quoteId, token, billingContact, shippingContact };
    this.#isSent = true;
    try {
      const outcome = await this.#outcome(body);
      complete(session, { status: ApplePaySession.STATUS_SUCCESS });
      this.#end(session, "authorized", { ...outcome, card: token.paymentMethod?.displayName });
    } catch ({ code, message, errors: found }) {
      const errors = sheetErrors(found);
      this.#isSent = false;
      // With errors to correct, the sheet stays open for another attempt.
      const isOpen = complete(session, { status: ApplePaySession.STATUS_FAILURE, errors });
      if (!isOpen || errors.length === 0) this.#end(session, "failed", { code, detail: message });
    }
  }

  /**
   * Sends the payment and stays with it until its outcome is known or the sheet's time is up. Sending again is safe,
   * because the basket makes it one payment; but once it may have arrived, it is asked about first.
   */
  async #outcome(body) {
    const deadline = Date.now() + PAYMENT_TIMEOUT;
    let mustSend = true;
    let last;
    for (let wait = 500; Date.now() < deadline; wait = Math.min(wait * 2, 4000)) {
      const left = deadline - Date.now();
      try {
        const answer = mustSend
          ? await call(this.server, "POST", "payment", body, Math.min(left, SEND_TIMEOUT))
          : await call(this.server, "GET", this.#path("payment"), undefined, Math.min(left, CALL_TIMEOUT));
        if (SETTLED.includes(answer.status)) return answer;
        if (REFUSED.includes(answer.status)) {
          throw new TenderError(answer.status, "The payment was refused.", { status: 402 });
        }
        mustSend = false;
      } catch (error) {
        const isUncertain = UNCERTAIN.has(error.code) || (error.status >= 500 && error.code !== "acquirer_unreachable");
        if (mustSend) last = error;
        if (!isUncertain && error.code !== "payment_not_found") throw error;
        mustSend = !isUncertain;
      }
      await pause(Math.min(wait, Math.max(0, deadline - Date.now())));
    }
    if (mustSend) throw last; // the server has no such payment
    throw new TenderError("outcome_unknown", "It is not known yet whether this was paid. Do not pay again for now.");
  }

  /**
   * The shopper closed the sheet. Before anything was sent, the basket stays as it is and may be paid later. After
   * that, whether it came in time is the server's to say.
   */
  async #cancel(session) {
    try {
      if (this.#isSent) await callAgain(this.server, "DELETE", this.#path("payment"));
      this.#end(session, "cancelled", {});
    } catch {
      // Too late: the payment goes on, and `#pay` asks for its outcome and tells it.
    }
  }
}

/** Hands the sheet its result. False when it closed meanwhile. */
const complete = (session, result) => {
  try {
    session.completePayment(result);
    return true;
  } catch {
    return false;
  }
};

const sheetErrors = (errors = []) =>
  errors.map(({ code, contactField, message }) => new ApplePayError(code, contactField ?? undefined, message));

const sheetUpdate = ({ errors, ...update }) => (errors ? { ...update, errors: sheetErrors(errors) } : update);

// ── The button

/** `check-out` → "Check out with Apple Pay". */
const words = (type) => {
  if (type === "plain") return "Apple Pay";
  const verb = type[0].toUpperCase() + type.slice(1).replace("-", " ");
  return type === "set-up" ? `${verb} Apple Pay` : `${verb} with Apple Pay`;
};

/** `<tender-apple-pay basket server type button-style>`: shows a button where Apple Pay is available. */
class TenderApplePay extends HTMLElement {
  static observedAttributes = ["basket", "server", "type", "button-style"];
  #checkout;
  #button;
  #drawn;
  #prepared;

  connectedCallback() {
    addLink({ rel: "stylesheet", href: new URL("tender.css", import.meta.url).href });
    this.#renew();
  }

  attributeChangedCallback(name, before, after) {
    if (!this.#checkout || before === after) return; // not connected yet
    if (["basket", "server"].includes(name)) this.#renew();
    else this.#draw();
  }

  /** Resolves when the checkout of the present basket is prepared, to whether it is available. */
  get prepared() {
    return this.#prepared;
  }

  #renew() {
    const basket = this.getAttribute("basket") ?? undefined;
    const server = this.getAttribute("server") ?? undefined;
    const checkout = new TenderCheckout({ server, basket });
    this.#checkout = checkout;
    for (const type of ["authorized", "failed", "cancelled", "unavailable"]) {
      checkout.addEventListener(type, ({ detail }) => this.#tell(checkout, type, detail));
    }
    this.#prepared = this.#prepare(checkout);
  }

  async #prepare(checkout) {
    const isReady = await checkout.prepare();
    if (this.#checkout !== checkout) return false;
    if (isReady) this.#draw();
    else this.replaceChildren();
    return isReady;
  }

  #tell(checkout, type, detail) {
    if (this.#checkout !== checkout) return;
    this.#button?.removeAttribute("aria-busy");
    this.dispatchEvent(new CustomEvent(`tender:${type}`, { detail, bubbles: true, composed: true }));
    // What was not paid may be tried again, on a fresh quote; what may have been paid, never.
    const mayTryAgain = type === "cancelled" || (type === "failed" && detail.code !== "outcome_unknown");
    if (mayTryAgain) this.#prepared = this.#prepare(checkout);
  }

  #begin() {
    if (!this.#checkout.basket) {
      this.#tell(this.#checkout, "unavailable", { reasons: [reason("no_basket", "There is nothing to pay for yet.")] });
      return;
    }
    this.#button.setAttribute("aria-busy", "true");
    this.#checkout.begin();
  }

  #draw() {
    const { metadata } = this.#checkout;
    if (!metadata) return;
    const kind = buttonKind(metadata.environment);
    if (this.#drawn !== kind) {
      this.#button = document.createElement(kind === "apple-script" ? "apple-pay-button" : "button");
      this.#button.addEventListener("click", () => this.#begin());
      this.#drawn = kind;
    }
    if (this.#button.parentNode !== this) this.replaceChildren(this.#button);
    dress(this.#button, kind, this.getAttribute("type") || "buy", this.getAttribute("button-style") || "black");
  }
}

/** Apple's own button wherever money is real: the browser's, else Apple's script's. */
const buttonKind = (environment) => {
  if (environment === "simulated") return "simulated";
  return window.CSS?.supports("-webkit-appearance", "-apple-pay-button") ? "native" : "apple-script";
};

const dress = (button, kind, type, style) => {
  if (kind === "apple-script") {
    button.setAttribute("type", type);
    button.setAttribute("buttonstyle", style);
    button.setAttribute("locale", document.documentElement.lang || navigator.language);
    return;
  }
  button.type = "button";
  button.className = `tender-apple-pay tender-${kind}`;
  button.dataset.type = type;
  button.dataset.style = style;
  if (kind === "native") {
    button.setAttribute("aria-label", words(type));
    return;
  }
  const mark = Object.assign(document.createElement("small"), { textContent: "Simulated" });
  button.replaceChildren(Object.assign(document.createElement("span"), { textContent: words(type) }), " ", mark);
};

if (!customElements.get("tender-apple-pay")) customElements.define("tender-apple-pay", TenderApplePay);
