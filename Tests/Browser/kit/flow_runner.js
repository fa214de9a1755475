// Runs transcripts of Tests/Support/Flows against the web kit, with a simulated device, server and clock.

const EVENTS = {
  "shipping-contact": "shippingcontactselected",
  "shipping-method": "shippingmethodselected",
  "coupon-code": "couponcodechanged",
  "payment-method": "paymentmethodselected",
};
const PAGE_EVENTS = ["authorized", "failed", "cancelled", "unavailable"];

const realTimeout = window.setTimeout.bind(window);
const realFetch = window.fetch.bind(window);
const channel = new MessageChannel();
const ticks = [];
channel.port1.onmessage = () => ticks.shift()();
const tick = () =>
  new Promise((resolve) => {
    ticks.push(resolve);
    channel.port2.postMessage(0);
  });
/** Until nothing moves any more without an event. */
const drain = async () => {
  for (let round = 0; round < 12; round += 1) await tick();
};

/** The lines of a transcript, as `[{ event, effects, line }]`. */
const read = (text) => {
  const steps = [];
  text.split("\n").forEach((line, index) => {
    const words = line.trim().split(/\s+/);
    if (words[0] === ">") steps.push({ event: words.slice(1), effects: [], line: index + 1 });
    if (words[0] === "<") steps.at(-1).effects.push(words.slice(1).join(" "));
  });
  return steps;
};

// ── The clock

const clock = {
  now: 1_795_260_000_000,
  timers: [],
  set(callback, wait = 0) {
    const timer = { at: clock.now + Math.max(0, wait), callback, id: Symbol("timer") };
    clock.timers.push(timer);
    return timer.id;
  },
  clear(id) {
    clock.timers = clock.timers.filter((timer) => timer.id !== id);
  },
  async advance(milliseconds) {
    const end = clock.now + milliseconds;
    for (;;) {
      const [next] = clock.timers.filter(({ at }) => at <= end).sort((one, other) => one.at - other.at);
      if (!next) break;
      clock.clear(next.id);
      clock.now = Math.max(clock.now, next.at);
      next.callback();
      await drain();
    }
    clock.now = end;
  },
};

// ── One run

const errorsIn = (words) =>
  words
    .filter((word) => word.startsWith("error="))
    .map((word) => {
      const [code, contactField] = word.slice("error=".length).split(":");
      return { code, contactField, message: "" };
    });

const write = (errors = []) =>
  errors.map(({ code, contactField }) => ` error=${code}${contactField ? `:${contactField}` : ""}`).join("");

const writeUpdate = ({ newTotal, newShippingMethods, errors }) => {
  const methods = newShippingMethods?.map(({ identifier, amount }) => `${identifier}:${amount}`);
  return ` total=${newTotal.amount}${methods ? ` methods=${methods}` : ""}${write(errors)}`;
};

const writeChange = ({ shippingContact, shippingMethod, couponCode, paymentMethod }) => {
  if (shippingContact) {
    const { countryCode, postalCode } = shippingContact;
    return `shipping-contact ${[countryCode, postalCode].filter(Boolean).join("/")}`;
  }
  if (shippingMethod) return `shipping-method ${shippingMethod}`;
  return paymentMethod ? `payment-method ${paymentMethod.type}` : `coupon-code ${couponCode}`.trim();
};

class FlowRun {
  lines = [];
  calls = [];
  basketAnswer = undefined;
  willOpen = true;

  constructor({ TenderCheckout }) {
    this.checkout = new TenderCheckout({ server: "https://tender.test", basket: "B" });
    for (const type of PAGE_EVENTS) {
      this.checkout.addEventListener(type, ({ detail: { status, code, reasons } }) =>
        this.lines.push(["page", type, status ?? code ?? reasons?.[0].code].filter(Boolean).join(" ")),
      );
    }
  }

  async perform([actor, verb, ...rest]) {
    if (actor === "clock") await clock.advance(verb.endsWith("ms") ? parseInt(verb, 10) : parseInt(verb, 10) * 1000);
    else await this[actor](verb, ...rest);
    await drain();
    return this.lines.splice(0);
  }

  // The page

  async page(verb, quote) {
    if (verb === "pressed") {
      this.checkout.begin();
    } else if (verb === "returned") {
      this.basketAnswer = [409, { code: "basket_placed", detail: "The basket was placed." }];
      await this.checkout.prepare();
    } else {
      const total = { label: "Trattoria", amount: "12.50" };
      this.basketAnswer = [200, { quoteId: quote, applePayVersion: 14, request: { total } }];
      await this.checkout.prepare();
    }
  }

  // The device

  sheet(verb, ...rest) {
    const { session } = this;
    if (verb === "merchant-session") return session.raise("validatemerchant", { validationURL: rest[0] });
    if (verb === "authorized") return session.raise("paymentauthorized", { payment: { token: { paymentMethod: {} } } });
    if (verb === "closed") return session.close();
    if (verb === "not-opened") return undefined; // the constructor reports it
    return session.raise(EVENTS[rest[0]], this.choice(...rest));
  }

  choice(kind, value = "") {
    const [countryCode, postalCode] = value.split("/");
    return {
      "shipping-contact": { shippingContact: { countryCode, postalCode } },
      "shipping-method": { shippingMethod: { identifier: value } },
      "coupon-code": { couponCode: value },
      "payment-method": { paymentMethod: { type: value } },
    }[kind];
  }

  // The server

  fetch(address, { method, body, signal }) {
    const path = new URL(address).pathname.replace("/applepay/", "");
    const sent = body && JSON.parse(body);
    if (path === "metadata") return this.respond(200, { enabled: true, environment: "production" });
    if (method === "GET" && path === "basket/B") return this.respond(...this.basketAnswer);
    const [verb, line] = this.describe(method, path, sent);
    this.lines.push(`server ${line}`);
    return new Promise((resolve, reject) => {
      const call = { verb, resolve, reject };
      this.calls.push(call);
      signal.addEventListener("abort", () => {
        this.calls = this.calls.filter((other) => other !== call);
        reject(signal.reason);
      });
    });
  }

  describe(method, path, sent) {
    switch (`${method} ${path}`) {
      case "POST validate":
        return ["merchant-session", ["merchant-session", sent.validationURL].filter(Boolean).join(" ")];
      case "POST basket/B/update":
        return ["update", `update ${writeChange(sent)}`];
      case "POST payment":
        return ["pay", `pay ${sent.quoteId}`];
      case "GET payment/B":
        return ["outcome", "outcome"];
      case "DELETE payment/B":
        return ["cancel", "cancel"];
      default:
        throw new Error(`unknown call ${method} ${path}`);
    }
  }

  respond(status, body) {
    const text = body === undefined ? "" : JSON.stringify(body);
    return Promise.resolve({ ok: status < 300, status, text: async () => text });
  }

  server(verb, result, ...rest) {
    const index = this.calls.findIndex((call) => call.verb === verb);
    if (index < 0) {
      this.lines.push(`! no call “${verb}” is on its way`);
      return;
    }
    const [call] = this.calls.splice(index, 1);
    if (result === "lost") call.reject(new TypeError("Failed to fetch"));
    else call.resolve(this.respond(...this.answer(verb, result, rest)));
  }

  answer(verb, result, rest) {
    const fields = Object.fromEntries(rest.map((word) => word.split("=")));
    if (result === "refuses") return [Number(rest[0]), { code: rest[1], detail: rest[1], errors: errorsIn(rest) }];
    if (verb === "merchant-session") return [200, { epochTimestamp: clock.now }];
    if (verb === "cancel") return [204, undefined];
    if (verb !== "update") return [["authorizing", "unknown"].includes(result) ? 202 : 200, { status: result }];
    const methods = fields.methods
      ?.split(",")
      .filter(Boolean)
      .map((word) => {
        const [identifier, amount] = word.split(":");
        return { identifier, label: identifier, detail: "", amount };
      });
    const errors = errorsIn(rest);
    const update = {
      newTotal: { label: "Trattoria", amount: fields.total },
      newLineItems: [],
      ...(methods && { newShippingMethods: methods }),
      ...(errors.length && { errors }),
    };
    return [200, { quoteId: fields.quote, update }];
  }
}

// ── What stands in the page's window

let run;

class Session {
  static STATUS_SUCCESS = 0;
  static STATUS_FAILURE = 1;
  static supportsVersion = () => true;
  static canMakePayments = () => true;

  waiting = new Set();
  isOver = false;

  constructor() {
    run.session = this;
    run.lines.push("sheet opens");
    if (!run.willOpen) throw new DOMException("Page already has an active payment session.", "InvalidAccessError");
  }

  begin() {}

  raise(type, event) {
    this.waiting.add(type);
    this[`on${type}`](event);
  }

  close() {
    this.isOver = true;
    this.oncancel({});
  }

  abort() {
    this.take();
    this.isOver = true;
    run.lines.push("sheet aborted");
  }

  take(type) {
    if (this.isOver || (type && !this.waiting.delete(type))) throw new DOMException("No.", "InvalidAccessError");
  }

  completeMerchantValidation(session) {
    this.take("validatemerchant");
    if (typeof session !== "object") throw new TypeError("A merchant session is an object.");
    run.lines.push("sheet gets merchant-session");
  }

  completePayment({ status, errors = [] }) {
    this.take("paymentauthorized");
    this.isOver = errors.length === 0;
    run.lines.push(status === 0 ? "sheet gets success" : `sheet gets failure${write(errors)}`);
  }
}

for (const [name, type] of Object.entries(EVENTS)) {
  const method =
    type === "couponcodechanged"
      ? "completeCouponCodeChange"
      : `complete${
          {
            shippingcontactselected: "ShippingContact",
            shippingmethodselected: "ShippingMethod",
            paymentmethodselected: "PaymentMethod",
          }[type]
        }Selection`;
  Session.prototype[method] = function complete(update) {
    this.take(type);
    run.lines.push(`sheet gets ${name}${writeUpdate(update)}`);
  };
}

class SheetError {
  constructor(code, contactField, message) {
    Object.assign(this, { code, contactField, message });
  }
}

const install = () => {
  Object.assign(window, {
    ApplePaySession: Session,
    ApplePayError: SheetError,
    setTimeout: clock.set,
    clearTimeout: clock.clear,
    fetch: (address, options) =>
      String(address).startsWith("https://tender.test/") ? run.fetch(address, options) : realFetch(address, options),
  });
  Date.now = () => clock.now;
  AbortSignal.timeout = (milliseconds) => {
    const controller = new AbortController();
    clock.set(() => controller.abort(new DOMException("It took too long.", "TimeoutError")), milliseconds);
    return controller.signal;
  };
};

/** Runs one transcript against the kit at this address. Resolves to the differences. */
export const perform = async (address, text) => {
  install();
  clock.timers = [];
  run = new FlowRun(await import(address));
  const steps = read(text);
  for (const [index, { event, effects, line }] of steps.entries()) {
    run.willOpen = steps[index + 1]?.event.join(" ") !== "sheet not-opened";
    const early = run.late ?? [];
    const found = [...early, ...(await run.perform(event))];
    // An error of a constructor is reported at once; the transcript lists it with the next event.
    run.late = run.willOpen ? undefined : found.splice(effects.length);
    if (JSON.stringify(found) !== JSON.stringify(effects)) {
      return `line ${line}, ${event.join(" ")}: expected ${JSON.stringify(effects)}, found ${JSON.stringify(found)}`;
    }
  }
  return "";
};

export const patience = (milliseconds) => new Promise((resolve) => realTimeout(resolve, milliseconds));
