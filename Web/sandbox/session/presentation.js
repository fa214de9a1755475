import { Choices } from "./choices.js";
import { ANSWER_WITHIN, clock } from "./clock.js";
import { Complaints } from "./complaints.js";
import { Confirmation, pause } from "./confirmation.js";
import { Demands } from "./demands.js";
import { isOfBillingContact, isOfShippingContact, STATUS } from "./errors.js";
import { becomeLatest, tellWatchers } from "./latest-sheet.js";
import { MerchantValidation } from "./merchant-validation.js";
import { confirmationOf, orderOf } from "./order.js";
import { whyNotPresented } from "./rules.js";
import { Selections } from "./selections.js";
import { Sheet } from "./sheet.js";
import { Sums } from "./sums.js";
import { wallet } from "./wallet.js";
import { advise } from "./web-idl.js";

// One sheet from beginning to end: what the shopper does in it, what the page is told of that, and how long it may
// take to answer. Apple Pay JS and W3C Payment Request are two ways to talk with it.

const FINAL_STATES = ["aborted", "completed", "canceled"];
const PAYING_STATES = ["authorizing", "authorized"];
const LOOK_FOR_DEVICES = 1500;

export class Presentation {
  #request;
  #host;
  #demands;
  #choices;
  #selections;
  #complaints = new Complaints();
  #sums;
  #validation = new MerchantValidation();
  #confirmation; // what a paired device is asked
  #sheet;
  #sheetId = crypto.randomUUID();
  #state = "active";
  #stopDeadline = () => {};
  #failure;
  #history = [];

  /**
   * @param request a copy that nobody else changes, already found right
   * @param host whoever tells the page: `hears(type)`, `validateMerchant(url)`, `select(type, value)`,
   *   `authorize(payment)`, `cancel()`
   */
  constructor(version, request, host) {
    this.#request = request;
    this.#host = host;
    this.#demands = new Demands(request);
    this.#choices = new Choices(request, this.#demands);
    this.#selections = new Selections(this.#demands, this.#choices, version);
    this.#sums = new Sums(request);
  }

  get state() { return this.#state; }
  get isOver() { return FINAL_STATES.includes(this.#state); }
  get isValidating() { return this.#validation.isAwaited; }

  open() {
    becomeLatest(this);
    this.#sheet = new Sheet(this.#request, this.actions);
    this.#note("begin");
    this.#enter("active");
    const refusal = whyNotPresented(this.#request);
    if (refusal) {
      setTimeout(() => this.#fail(refusal));
      return;
    }
    this.#validateMerchant();
    this.#openWallet();
  }

  // ── Before the shopper can do anything

  async #validateMerchant() {
    try {
      const url = await wallet.validationURL();
      if (this.isOver) return;
      this.#validation.begin(() => this.#expire("validatemerchant"));
      this.#note("validatemerchant");
      if (!this.#host.hears("validatemerchant")) advise("Nobody listens to validatemerchant; the sheet cannot go on.");
      this.#changed();
      this.#host.validateMerchant(url);
    } catch (error) {
      this.#fail(error.message);
    }
  }

  async answerValidation(merchantSession) {
    this.#note("completeMerchantValidation");
    try {
      await this.#validation.accept(merchantSession);
      this.#changed();
    } catch (error) {
      this.#fail(error.message);
    }
  }

  async #openWallet() {
    try {
      await this.#choices.openWallet();
    } catch (error) {
      this.#fail(error.message);
      return;
    }
    if (this.isOver) return;
    this.#selections.card();
    this.#selections.contact();
    this.#next();
    this.#watchDevices();
  }

  async #watchDevices() {
    while (!this.isOver) {
      const paired = await wallet.devices().catch(() => []);
      if (this.isOver) return;
      if (this.#choices.meetDevices(paired)) this.#changed();
      await pause(LOOK_FOR_DEVICES);
    }
  }

  // ── What the shopper does

  /** A step that cannot be taken throws, and says why. */
  get actions() {
    const [choices, selections, complaints] = [this.#choices, this.#selections, this.#complaints];
    return {
      card: (id) => {
        choices.selectCard(id);
        complaints.forget(({ code }) => code === "unknown");
        selections.card();
        this.#next();
      },
      contact: (id) => {
        choices.selectContact(id);
        complaints.forget(isOfShippingContact);
        selections.contact();
        this.#next();
      },
      billingContact: (id) => {
        choices.selectBillingContact(id);
        complaints.forget(isOfBillingContact);
        selections.card();
        this.#next();
      },
      method: (identifier) => {
        choices.selectMethod(identifier);
        selections.method();
        this.#next();
      },
      coupon: (code) => {
        choices.enterCoupon(code);
        selections.coupon();
        this.#next();
      },
      device: (id) => {
        choices.selectDevice(id);
        this.#changed();
      },
      pay: () => this.#authorize(),
      cancel: () => this.cancel(),
    };
  }

  #next() {
    const selection = this.#state === "active" && this.#selections.next((type) => this.#host.hears(type));
    if (!selection) {
      this.#changed();
      return;
    }
    const { type, value, state } = selection;
    this.#stopDeadline = clock.after(ANSWER_WITHIN, () => this.#expire(type));
    this.#enter(state);
    setTimeout(() => {
      if (this.#state !== state) return;
      this.#note(type);
      this.#host.select(type, value);
    });
  }

  /** The page's answer to a selection; what it says is already found right. */
  answer(update) {
    this.#note("answer", this.#state);
    this.#stopDeadline();
    this.#complaints.take(update.errors ?? [], this.#state);
    this.#sums.take(update);
    this.#choices.offer(update.newShippingMethods);
    this.#enter("active");
    this.#next();
  }

  // ── Authorization

  async #authorize() {
    if (this.#obstacle) throw new Error(this.#obstacle);
    this.#complaints.clear();
    this.#enter("authorizing");
    try {
      if (!this.#choices.isOnThisDevice && !await this.#isConfirmed()) return;
      if (this.isOver) return;
      const token = await wallet.mintPaymentToken(
        orderOf(this.#request, this.#sums, this.#choices.card, this.#validation.session, this.#sheetId));
      if (this.isOver) return;
      this.#tellAuthorized(token);
    } catch (error) {
      this.#fail(error.message);
    }
  }

  /** Whether the shopper confirmed on the paired device. A refusal there leads back to this sheet. */
  async #isConfirmed() {
    const { card, device } = this.#choices;
    this.#confirmation = await Confirmation.ask(device, confirmationOf(this.#request, this.#sums, card));
    this.#changed();
    const answer = await this.#confirmation.answer(() => !this.isOver);
    if (this.isOver) return false;
    this.#confirmation = undefined;
    if (answer === "cancelled") {
      this.#complaints.notice = `Not confirmed on ${device.name}.`;
      this.#enter("active");
      return false;
    }
    this.#changed();
    return true;
  }

  #tellAuthorized(token) {
    this.#stopDeadline = clock.after(ANSWER_WITHIN, () => this.#expire("paymentauthorized"));
    this.#enter("authorized");
    this.#note("paymentauthorized");
    if (!this.#host.hears("paymentauthorized")) advise("Nobody listens to paymentauthorized.");
    this.#host.authorize({ token, ...this.#choices.contactsAskedFor }, this.#choices.forPaymentRequest);
  }

  /** The page's result. A failure with errors, and a wish for a PIN, leave the sheet open for another try. */
  complete(result) {
    this.#note("completePayment");
    this.#stopDeadline();
    if (!this.#complaints.takeResult(result)) {
      this.#finish("completed", result.status === STATUS.SUCCESS ? "Done" : "Payment not completed", 1000);
      return;
    }
    this.#enter("active");
    this.#next();
  }

  // ── The end

  abort() {
    this.#note("abort");
    this.#finish("aborted");
  }

  /** The page gave an answer after which no sheet goes on. */
  requestCancel() {
    this.#stopDeadline();
    this.#enter("cancelRequested");
    setTimeout(() => this.cancel());
  }

  cancel() {
    if (this.isOver) return;
    this.#finish("canceled");
    this.#note("cancel");
    this.#host.cancel();
  }

  #expire(type) {
    this.#fail(`The page did not answer "${type}" within ${ANSWER_WITHIN / 1000} seconds.`);
  }

  // The sheet says what went wrong, and the page hears only that it is over, as from Apple.
  #fail(reason) {
    if (this.isOver) return;
    this.#failure = reason;
    advise(reason);
    this.#finish("canceled", reason, 4000);
    this.#note("cancel");
    this.#host.cancel();
  }

  #finish(state, word, time) {
    this.#stopDeadline();
    this.#validation.end();
    this.#confirmation?.withdraw();
    this.#selections.clear();
    this.#state = state;
    this.#sheet.close(word, time, this.#complaints.status === STATUS.SUCCESS);
    tellWatchers();
  }

  // ── How it stands

  get #waitsFor() {
    if (this.#confirmation) return `Confirm on ${this.#choices.device.name} …`;
    if (PAYING_STATES.includes(this.#state)) return "Paying …";
    if (!this.#validation.isComplete) return "Checking the shop …";
    if (!this.#choices.card) return "Opening the wallet …";
    if (this.#state !== "active" || !this.#selections.isEmpty) return "Updating …";
    return undefined;
  }

  // Why the Pay button cannot be pressed, or nothing.
  get #obstacle() {
    if (this.isOver) return "The sheet is closed.";
    if (this.#waitsFor) return this.#waitsFor;
    return this.#complaints.obstacle(this.#demands);
  }

  /** Nothing is under way: the shopper may act, or everything is over. */
  get isReady() { return this.isOver || !this.#waitsFor; }

  get cards() { return this.#choices.cards ?? []; }
  get devices() { return this.#choices.devices; }

  /** The same as plain data, for tests. */
  get snapshot() {
    const { card, contact, billingContact, method, methods, coupon, device } = this.#choices;
    const { errors, status } = this.#complaints;
    return structuredClone({
      state: this.#state, status, failure: this.#failure, card: card?.id, shippingContact: contact?.id,
      billingContact: this.#demands.asksBilling ? billingContact?.id : undefined, shippingMethod: method?.identifier,
      couponCode: coupon, device: device.id, total: this.#sums.total, lineItems: this.#sums.items,
      shippingMethods: methods, canPay: this.#obstacle === undefined, obstacle: this.#obstacle, history: this.#history,
      errors: errors.map(({ code, contactField, message }) => ({ code, contactField, message })),
    });
  }

  #note(event, detail) {
    this.#history.push({ event, ...(detail ? { detail } : {}), at: Math.round(clock.now()) });
  }

  #enter(state) {
    this.#state = state;
    this.#changed();
  }

  #changed() {
    if (this.isOver) return;
    this.#sheet.show({
      demands: this.#demands, choices: this.#choices, sums: this.#sums, complaints: this.#complaints,
      obstacle: this.#obstacle, isPaying: PAYING_STATES.includes(this.#state),
    });
    tellWatchers();
  }
}
