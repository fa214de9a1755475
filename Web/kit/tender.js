// The sheet must open inside the shopper's click, so all it needs is fetched before. tender.d.ts says what is public,
// Tests/Support/Flows what happens when.

const NEWEST_VERSION = 14;
const OLDEST_VERSION = 12;

// Milliseconds; the sheet waits 30 seconds for an answer.
const ANSWER_WITHIN = 27_000;
const CALL_WITHIN = 10_000;
const PAYMENT_WITHIN = 18_000;
const SESSION_LIVES = 300_000;
const ASK_FOR = 300_000;
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 4_000;

/** What may pass; 0 is a connection that broke. */
const PASSING = [0, 429, 502, 503, 504];

class TenderError extends Error {
  constructor(code, detail, status = 0, errors) {
    super(detail);
    Object.assign(this, { code, status, errors });
  }
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const own = (file) => new URL(file, import.meta.url).href;
const adapt = () => import(own("browsers.js"));

/** Whatever a page makes of `toJSON`. */
function plain(key) {
  return this[key];
}

const call = async (server, method, path, body, until, within = CALL_WITHIN) => {
  let response;
  let answer;
  const clock = new AbortController(); // older browsers have no AbortSignal.timeout
  const timer = setTimeout(() => clock.abort(), Math.min(within, until - Date.now()));
  try {
    response = await fetch(`${server}/applepay/${path}`, {
      method,
      headers: body && { "Content-Type": "application/json" },
      body: body && JSON.stringify(body, plain),
      credentials: "omit",
      cache: "no-store",
      signal: clock.signal,
    });
    answer = await response.text();
  } catch {
    throw new TenderError("connection_lost", "The connection to the shop was lost.");
  } finally {
    clearTimeout(timer);
  }
  const { ok, status } = response;
  try {
    answer = JSON.parse(answer || "{}");
  } catch {
    if (ok) throw new TenderError("unexpected_answer", "The shop's answer could not be read.", status);
  }
  if (ok) return answer;
  const { code = `http_${status}`, detail = "The shop gave no reason.", errors } = answer ?? {};
  throw new TenderError(code, detail, status, errors);
};

/** Repeats a safe call until it is answered. */
const insist = async (server, method, path, body, until = Date.now() + CALL_WITHIN, isWanted = () => true) => {
  for (let wait = FIRST_PAUSE; ; wait = Math.min(wait * 2, LONGEST_PAUSE)) {
    try {
      return await call(server, method, path, body, until);
    } catch (error) {
      if (!PASSING.includes(error.status) || Date.now() + wait >= until) throw error;
      await pause(wait);
      if (!isWanted()) throw error;
    }
  }
};

const loaded = new Map();

const once = (key, load) => {
  if (!loaded.has(key)) {
    loaded.set(key, load());
    loaded.get(key).catch(() => loaded.delete(key));
  }
  return loaded.get(key);
};

const addToHead = (name, attributes) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value) element.setAttribute(key, value);
  if (![...document.head.children].some((other) => other.isEqualNode(element))) document.head.append(element);
};

const addTags = (server, { touchIcons = [], countryCode, currencyCode }) => {
  for (const { href, sizes } of touchIcons) {
    addToHead("link", { rel: "apple-touch-icon", sizes, href: new URL(href, server).href });
  }
  addToHead("meta", { property: "product:payment_method", content: "ApplePay" });
  addToHead("meta", { name: "payment-country-code", content: countryCode });
  addToHead("meta", { name: "payment-currency-code", content: currencyCode });
};

export const isSupportedByDevice = () => !deviceReason();

export const isSupportedForCheckout = async (options) => !(await explainAvailability(options)).length;

export const explainAvailability = (options) => new TenderCheckout(options).examine();

const deviceReason = () => {
  if (!window.ApplePaySession) return "no_apple_pay";
  try {
    if (!knownVersion()) return "version_too_old";
    return ApplePaySession.canMakePayments() ? undefined : "device_cannot_pay";
  } catch {
    return isSecureContext ? "payment_not_permitted" : "insecure_page";
  }
};

const topOrigin = (named) => {
  if (window === top) return undefined;
  try {
    return top.origin;
  } catch {
    const found = [...(location.ancestorOrigins ?? [])].pop();
    return found && found !== "null" ? found : (named ?? "null");
  }
};

const knownVersion = (version = NEWEST_VERSION) =>
  version < OLDEST_VERSION ? 0 : ApplePaySession.supportsVersion(version) ? version : knownVersion(version - 1);

const pageReason = () => {
  if (!isSecureContext) return "insecure_page";
  return document.featurePolicy?.allowsFeature("payment") === false ? "payment_not_permitted" : undefined;
};

const provideSession = async (metadata, appleScript) => {
  const isSimulated = metadata.environment === "simulated";
  if (!isSimulated && window.applePaySandbox) throw new TenderError("simulated_session", "", 409);
  if (isSimulated || (appleScript && !window.ApplePaySession)) {
    await once("script", async () => (await adapt()).loadSession(metadata, appleScript));
  }
};

const credentials = async (merchant) => {
  const asked =
    ApplePaySession.applePayCapabilities?.(merchant).then((known) => known.paymentCredentialStatus)
    ?? ApplePaySession.canMakePaymentsWithActiveCard?.(merchant).then(
      (has) => `paymentCredentials${has ? "Available" : "Unavailable"}`,
    );
  return Promise.race([asked, pause(2_000)]);
};

export class TenderCheckout extends EventTarget {
  #sheet;
  #recovery;

  constructor({ server = own("/"), basket, appleScript, topOrigin: named } = {}) {
    super();
    this.server = server.replace(/\/+$/, "");
    this.basket = basket || undefined;
    this.appleScript = appleScript;
    this.topOrigin = topOrigin(named);
    this.isReady = false;
    this.state = "preparing";
  }

  async prepare() {
    if (this.#sheet) return false;
    this.isReady = this.mayPass = false;
    this.#recovery = undefined;
    const reasons = await this.examine();
    const has = (...codes) => reasons.some(({ code }) => codes.includes(code));
    if (has("basket_placed", "payment_in_progress")) {
      this.state = "unknown";
      this.#recover(false); // a reload, or the back button
      return false;
    }
    this.isReady = !reasons.length;
    this.state = this.isReady ? "buy" : has("no_active_card") && reasons.length === 1 ? "set-up" : "hidden";
    const { state, isDefaultMethod } = this;
    if (state === "hidden") this.#dispatch("unavailable", { reasons });
    else this.#dispatch("ready", { state, isDefaultMethod });
    return this.isReady;
  }

  async examine() {
    const reasons = [];
    const add = (code, detail) => {
      if (code && !reasons.some((known) => known.code === code)) reasons.push({ code, detail });
    };
    const attempt = (work) =>
      work.catch(({ code = "unexpected", message, status }) => {
        this.mayPass ||= PASSING.includes(status);
        if (/origin_/.test(code)) message = console.warn(message); // not the shopper's to read
        add(code, message);
      });
    const path = this.topOrigin ? `metadata?topOrigin=${encodeURIComponent(this.topOrigin)}` : "metadata";
    const fetchBasket = async () => this.#show(await insist(this.server, "GET", this.#path("basket")), true);
    const fetchAll = async () => {
      this.metadata = await once(this.server + path, () => insist(this.server, "GET", path));
      // These two are explained here, without another load.
      if (!this.metadata.enabled) {
        return add(
          "disabled",
          "Apple Pay is switched off here, or the merchant has no valid identity certificate on the server.",
        );
      }
      addTags(this.server, this.metadata);
      await provideSession(this.metadata, this.appleScript);
      if (!window.ApplePaySession && !window.webkit?.messageHandlers) {
        add("no_apple_pay", "This browser has no Apple Pay, and the page does not ask for Apple's script.");
      }
      add(deviceReason());
      return reasons[0] || Promise.all([this.#examineCards(add), this.basket && attempt(fetchBasket())]);
    };
    add(pageReason());
    await attempt(fetchAll());
    if (reasons.every(({ detail }) => detail)) return reasons;
    return (await adapt()).explain(reasons);
  }

  async #examineCards(add) {
    const status = await credentials(this.metadata.merchantIdentifier).catch(() => {});
    this.isDefaultMethod = status === "paymentCredentialsAvailable";
    if (status === "applePayUnsupported") add("device_cannot_pay");
    if (status === "paymentCredentialsUnavailable" && ApplePaySession.openPaymentSetup) add("no_active_card");
  }

  async setDetails(details) {
    await this.#show(await insist(this.server, "PUT", `${this.#path("basket")}/details`, details), this.isReady);
  }

  begin() {
    if (this.#sheet) return;
    if (!this.isReady || !this.shown) {
      const reason = { code: "not_prepared", detail: "The checkout is not ready yet." };
      return this.#dispatch("unavailable", { reasons: [reason] });
    }
    const sheet = { turn: Promise.resolve() };
    this.#sheet = sheet;
    try {
      sheet.session = newSession(this.shown);
      this.#listen(sheet);
      sheet.session.begin();
    } catch ({ message }) {
      this.#end(sheet, "failed", { code: "sheet_not_opened", detail: message });
    }
  }

  async setUp() {
    return (await ApplePaySession.openPaymentSetup(this.metadata.merchantIdentifier)) && this.prepare();
  }

  #askOutcome(until) {
    return call(this.server, "GET", this.#path("payment"), undefined, until);
  }

  #path(kind) {
    return `${kind}/${encodeURIComponent(this.basket)}`;
  }

  async #show(basket, isPayable) {
    const version = isPayable ? knownVersion(basket.applePayVersion) : NEWEST_VERSION;
    this.shown = version < basket.applePayVersion ? (await adapt()).fit(basket, version) : basket;
    this.quoteId = basket.quoteId;
  }

  #dispatch(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  #end(sheet, type, detail) {
    if (this.#sheet !== sheet) return;
    clearTimeout(sheet.timer);
    this.#sheet = undefined;
    this.isReady = false;
    this.#dispatch(type, detail);
  }

  #abort(sheet, error) {
    if (this.#sheet !== sheet) return;
    try {
      sheet.session.abort();
    } catch {} // it has closed by itself
    this.#end(sheet, "failed", said(error));
  }

  #listen(sheet) {
    const { session } = sheet;
    sheet.update = { newTotal: this.shown.request.total, newLineItems: this.shown.request.lineItems };
    const update = (moment, choice) => {
      const until = Date.now() + ANSWER_WITHIN;
      // One after the other: each price rests on the choice before.
      sheet.turn = sheet.turn.then(() => {
        const errors = wrong(this.shown, choice.shippingContact, "shown");
        const known = errors[0] && { quoteId: this.quoteId, update: { ...sheet.update, errors } };
        return this.#answer(sheet, until, `${this.#path("basket")}/update`, choice, known, ({ quoteId, update }) => {
          this.quoteId = quoteId;
          sheet.update = update;
          session[`complete${moment}`]({ ...update, errors: sheetErrors(update.errors) });
        });
      });
    };
    session.onvalidatemerchant = ({ validationURL }) => {
      const body = { basketId: this.basket, validationURL, topOrigin: this.topOrigin };
      this.#answer(sheet, Date.now() + ANSWER_WITHIN, "validate", body, undefined, (merchantSession) => {
        sheet.expires = Date.now() + SESSION_LIVES;
        this.#watch(sheet);
        session.completeMerchantValidation(merchantSession);
      });
    };
    session.onshippingcontactselected = ({ shippingContact }) =>
      update("ShippingContactSelection", { shippingContact });
    session.onshippingmethodselected = ({ shippingMethod }) =>
      update("ShippingMethodSelection", { shippingMethod: shippingMethod.identifier });
    session.oncouponcodechanged = ({ couponCode }) => update("CouponCodeChange", { couponCode });
    session.onpaymentmethodselected = ({ paymentMethod: { type } }) =>
      update("PaymentMethodSelection", { paymentMethod: { type } });
    session.onpaymentauthorized = ({ payment }) => this.#pay(sheet, payment);
    session.oncancel = () => this.#cancel(sheet);
  }

  /** Without an answer the sheet is closed: it must not pay an old total with a new choice. */
  async #answer(sheet, until, path, body, known, complete) {
    const isOpen = () => this.#sheet === sheet;
    if (!isOpen()) return;
    try {
      const answer = known ?? (await insist(this.server, "POST", path, body, until, isOpen));
      if (isOpen()) complete(answer);
    } catch (error) {
      this.#abort(sheet, error);
    }
  }

  #watch(sheet) {
    clearTimeout(sheet.timer);
    const error = new TenderError("session_expired", "The payment sheet was open for too long. Open it again.");
    sheet.timer = setTimeout(() => sheet.isPaying || this.#abort(sheet, error), sheet.expires - Date.now());
  }

  async #pay(sheet, { token, billingContact, shippingContact }) {
    if (this.#sheet !== sheet || sheet.isPaying) return;
    const body = { basketId: this.basket, quoteId: this.quoteId, token, billingContact, shippingContact };
    body.guestToken = guest();
    sheet.isPaying = true;
    try {
      const errors = wrong(this.shown, shippingContact, "whole");
      if (errors[0]) throw new TenderError("contact_incomplete", errors[0].message, 0, errors);
      const outcome = await this.#outcome(sheet, body);
      guest(outcome.guestToken);
      complete(sheet, { status: ApplePaySession.STATUS_SUCCESS });
      this.#end(sheet, "authorized", outcome);
    } catch (error) {
      if (this.#sheet !== sheet) return;
      const { code } = error;
      const errors = sheetErrors(error.errors);
      const isOpen = complete(sheet, { status: ApplePaySession.STATUS_FAILURE, errors });
      sheet.isPaying = false;
      if (isOpen && errors.length) {
        if (sheet.expires) this.#watch(sheet);
      } else if (code === "basket_cancelled" && sheet.isClosed) {
        this.#end(sheet, "cancelled", {});
      } else {
        this.#end(sheet, "failed", said(error));
        if (code === "outcome_unknown") this.#recover(true);
      }
    }
  }

  /** To send a payment again is safe; once it may have arrived, it is asked about. */
  async #outcome(sheet, body) {
    const until = Date.now() + ANSWER_WITHIN;
    let mustSend = true;
    let mayHaveArrived = false;
    for (let wait = FIRST_PAUSE; ; wait = Math.min(wait * 2, LONGEST_PAUSE)) {
      const { answer, error, isAbsent } = await learn(
        mustSend ? call(this.server, "POST", "payment", body, until, PAYMENT_WITHIN) : this.#askOutcome(until),
        mustSend,
      );
      if (answer) return answer;
      mustSend = isAbsent;
      mayHaveArrived ||= !isAbsent;
      if (Date.now() + wait >= until) throw mayHaveArrived ? unknown() : error;
      await pause(wait);
      if (this.#sheet !== sheet) throw error ?? unknown();
    }
  }

  /** If the payment was sent, the server says who was first. */
  async #cancel(sheet) {
    if (this.#sheet !== sheet) return;
    sheet.isClosed = true;
    try {
      if (sheet.isPaying) {
        const until = Date.now() + ANSWER_WITHIN;
        await insist(this.server, "DELETE", this.#path("payment"), undefined, until, () => this.#sheet === sheet);
      }
      this.#end(sheet, "cancelled", {});
    } catch {
      // Too late: `#pay` reports the outcome.
    }
  }

  /** After the sheet has closed; reports once that the outcome is unknown. */
  async #recover(isReported) {
    const recovery = {};
    this.#recovery = recovery;
    const until = Date.now() + ASK_FOR;
    const isOver = () => this.#recovery !== recovery;
    do {
      if (isReported) await pause(LONGEST_PAUSE);
      if (isOver()) return;
      try {
        const { answer, error, isAbsent } = await learn(this.#askOutcome(until));
        if (isOver()) return;
        if (answer) return this.#dispatch("authorized", answer);
        if (isAbsent && !isReported) throw error;
      } catch (error) {
        if (!isOver()) this.#dispatch("failed", said(error));
        return;
      }
      if (!isReported) this.#dispatch("failed", said(unknown()));
      isReported = true;
    } while (Date.now() + LONGEST_PAUSE < until);
  }
}

const said = ({ code = "unexpected", message }) => ({ code, detail: message });

/** A browser refuses networks unknown to it: then without the young ones. */
const newSession = ({ applePayVersion, request, networkVersions = {} }) => {
  try {
    return new ApplePaySession(applePayVersion, request);
  } catch (error) {
    const supportedNetworks = request.supportedNetworks.filter((name) => networkVersions[name] <= applePayVersion);
    if (!supportedNetworks[0]) throw error;
    return new ApplePaySession(applePayVersion, { ...request, supportedNetworks });
  }
};

/** A guest stays one in this browser. */
const guest = (token) => {
  try {
    if (token) localStorage.tenderGuest = token;
    return localStorage.tenderGuest;
  } catch {}
};

const unknown = () =>
  new TenderError("outcome_unknown", "It is not known yet whether this was paid. Do not pay again for now.");

/** `answer`: the payment; `isAbsent`: there is none; neither: unknown. Throws a refusal. */
const learn = async (asked, isSending = false) => {
  try {
    const answer = await asked;
    if (["authorizing", "unknown"].includes(answer.status)) return {};
    if (!["declined", "failed", "voided"].includes(answer.status)) return { answer };
    throw new TenderError(answer.status, "The payment was refused.", 402);
  } catch (error) {
    const { code, status } = error;
    const isAbsent = code === "payment_not_found" || (isSending && status === 429);
    const isOpen =
      [0, 429].includes(status)
      || (status >= 500 && code !== "acquirer_unreachable") // then nothing has happened
      || ["payment_in_progress", "unexpected_answer"].includes(code);
    if (isAbsent || isOpen) return { isAbsent, error };
    throw error;
  }
};

/** False when the sheet closed meanwhile. */
const complete = ({ session, isClosed }, result) => {
  try {
    if (!isClosed) session.completePayment(result);
    return !isClosed;
  } catch {
    return false;
  }
};

/** What the rules of the basket's countries say of a contact, as it is `shown` or `whole`. */
const wrong = ({ addressRules = [] }, contact, form) =>
  addressRules.flatMap(({ countryCode, error, [form]: pattern }) => {
    if (countryCode !== contact?.countryCode) return [];
    const text = (contact[error.contactField] ?? "").replace(/[\s-]/g, "");
    return new RegExp(pattern, "i").test(text) ? [] : error;
  });

const sheetErrors = (errors = []) =>
  errors.map(({ code, contactField, message }) => new ApplePayError(code, contactField, message));

import(own("elements.js")).then(({ define }) => define({ TenderCheckout, addToHead, own }));
