import { Choices } from "./choices.js";
import { ANSWER_WITHIN, clock } from "./clock.js";
import { CodeWindow, isCodeInWindow, reportCodeClosed } from "./code-flow.js";
import { SheetErrors } from "./sheet-errors.js";
import { Confirmation, pause } from "./confirmation.js";
import { Demands } from "./demands.js";
import { isOfBillingContact, isOfShippingContact, messages, STATUS } from "./errors.js";
import { touchIcons } from "./frames.js";
import { becomeLatest, keepForNextPage, notifyWatchers } from "./latest-sheet.js";
import { MerchantValidation } from "./merchant-validation.js";
import { Money } from "./money.js";
import { confirmationOf, orderOf } from "./order.js";
import { PhoneLink, phoneState } from "./phone-link.js";
import { Transcript } from "./transcript.js";
import { markSheet, unmarkSheet } from "./page-sheets.js";
import { whyNotPresented, whyNotSums } from "./rules.js";
import { Selections } from "./selections.js";
import { simulated } from "./simulated-device.js";
import { Sheet } from "./sheet.js";
import { Sums } from "./sums.js";
import { wallet } from "./wallet.js";
import { advise, warn } from "./web-idl.js";

// One sheet: handles what the shopper does, reports it to the page, and limits the time for the page's answer.
// Apple Pay JS and W3C Payment Request both use it.

const FINAL_STATES = ["aborted", "completed", "canceled"];
const PAYING_STATES = ["authorizing", "authorized"];
const LOOK_FOR_DEVICES = 1500;

/** What a device shows where it cannot go on, without a reason. */
const NOT_COMPLETED = "Payment Not Completed";

export class Presentation {
  #request;
  #host;
  #demands;
  #choices;
  #selections;
  #sheetErrors = new SheetErrors();
  #sums;
  #validation = new MerchantValidation();
  #confirmation; // the confirmation asked of a paired device
  phone = new PhoneLink(this);
  #isByPhoneAlone = simulated.isThirdPartyBrowser;
  #touchIcons = touchIcons();
  #lastWord = "The payment sheet was closed.";
  #sheet;
  #sheetId = crypto.randomUUID();
  #state = "active";
  #stopDeadline = () => {};
  #failure;
  #orderDetails; // of the page's result
  #history = [];
  transcript = new Transcript();

  /**
   * @param request a validated copy, which no other code changes
   * @param host passes events to the page: `hasListener(type)`, `validateMerchant(url)`, `select(type, value)`,
   *   `authorize(payment)`, `cancel()`
   */
  constructor(request, host) {
    this.#request = request;
    this.#host = host;
    this.#demands = new Demands(request);
    this.#choices = new Choices(request, this.#demands);
    this.#selections = new Selections(this.#demands, this.#choices);
    this.#sums = new Sums(request);
  }

  get state() {
    return this.#state;
  }
  get isOver() {
    return FINAL_STATES.includes(this.#state);
  }
  get isValidating() {
    return this.#validation.isAwaited;
  }

  open() {
    becomeLatest(this);
    const Shown = this.#isByPhoneAlone && isCodeInWindow() ? CodeWindow : Sheet;
    this.#sheet = new Shown(this.#request, this.actions);
    this.#note("begin");
    this.transcript.opened();
    this.#enter("active");
    markSheet();
    window.addEventListener("pagehide", this.#leave);
    if (this.#request.shippingContactEditingMode === "enabled") {
      warn("`enabled` is a deprecated value for `shippingContactEditingMode`. Please use `available` instead.");
    }
    const refusal = this.#sheet.refusal ?? whyNotPresented(this.#request);
    if (refusal) {
      setTimeout(() => this.#fail(refusal));
      return;
    }
    this.#validateMerchant();
    if (this.#isByPhoneAlone) this.#offerPhone();
    else this.#openWallet();
  }

  // ── Before the shopper can do anything

  async #validateMerchant() {
    try {
      const { validationURL: url, servesPhones } = await wallet.gateway();
      if (this.isOver) return;
      if (servesPhones) this.#offerPhone();
      this.#validation.begin(() => this.#expire("validatemerchant"));
      this.#note("validatemerchant");
      this.transcript.validates(url);
      if (!this.#host.hasListener("validatemerchant"))
        advise("The page has no validatemerchant listener; the sheet cannot continue.");
      this.#changed();
      this.#host.validateMerchant(url);
    } catch (error) {
      this.#fail(error.message);
    }
  }

  async answerValidation(merchantSession) {
    this.#note("completeMerchantValidation");
    this.transcript.validated();
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

  // ── A phone as wallet

  async #offerPhone() {
    try {
      await this.phone.offer();
    } catch (error) {
      this.#fail(error.message);
    }
  }

  /** The sheet has a code to scan. */
  coded() {
    this.#changed();
  }

  /** A phone has scanned it. Outside Safari the wallet is opened there, and not before. */
  paired() {
    this.#note("phone");
    if (this.#isByPhoneAlone) this.#openWallet();
    this.#changed();
  }

  get phoneState() {
    return phoneState({
      choices: this.#choices,
      demands: this.#demands,
      sums: this.#sums,
      money: new Money(this.#request.currencyCode),
      obstacle: this.#obstacle,
      errors: [this.#sheetErrors.notice, messages(this.#sheetErrors.errors)].filter(Boolean).join(" "),
      result: this.#lastWord,
    });
  }

  // ── What the shopper does

  /** A step that is not possible throws an error with the reason. */
  get actions() {
    const [choices, selections, sheetErrors] = [this.#choices, this.#selections, this.#sheetErrors];
    return {
      card: (id) => {
        choices.selectCard(id);
        sheetErrors.remove(({ code }) => code === "unknown");
        selections.card();
        this.#next();
      },
      contact: (id) => {
        choices.selectContact(id);
        sheetErrors.remove(isOfShippingContact);
        selections.contact();
        this.#next();
      },
      billingContact: (id) => {
        choices.selectBillingContact(id);
        sheetErrors.remove(isOfBillingContact);
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
      phone: () => this.#offerPhone(),
      pay: () => this.#authorize(),
      cancel: () => this.cancel(),
    };
  }

  #next() {
    const selection = this.#state === "active" && this.#selections.next((type) => this.#host.hasListener(type));
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
      this.transcript.changed(type, value);
      this.#host.select(type, value);
    });
  }

  /** The page's validated answer to a selection. */
  answer(update) {
    this.#note("answer", this.#state);
    this.transcript.answered(this.#state, update);
    this.#stopDeadline();
    const reason = whyNotSums(update);
    if (reason) {
      this.#fail(reason);
      return;
    }
    this.#sheetErrors.take(update.errors ?? [], this.#state);
    this.#sums.take(update);
    this.#choices.offer(update.newShippingMethods);
    this.#enter("active");
    this.#next();
  }

  // ── Authorization

  async #authorize() {
    if (this.#obstacle) throw new Error(this.#obstacle);
    this.#sheetErrors.clear();
    this.#enter("authorizing");
    try {
      if (!this.#choices.isOnThisDevice && !(await this.#isConfirmed())) return;
      if (this.isOver) return;
      const token = await wallet.issuePaymentToken(
        orderOf(this.#request, this.#sums, this.#choices.card, this.#validation.session, this.#sheetId),
      );
      if (this.isOver) return;
      this.#reportAuthorized(token);
    } catch (error) {
      this.#fail(error.message);
    }
  }

  /** Whether the shopper confirmed on the paired device. After a refusal, this sheet is active again. */
  async #isConfirmed() {
    const { card, device } = this.#choices;
    this.#confirmation = await Confirmation.ask(device, confirmationOf(this.#request, this.#sums, card));
    this.#changed();
    const answer = await this.#confirmation.answer(() => !this.isOver);
    if (this.isOver) return false;
    this.#confirmation = undefined;
    if (answer === "cancelled") {
      this.#sheetErrors.notice = `Not confirmed on ${device.name}.`;
      this.#enter("active");
      return false;
    }
    this.#changed();
    return true;
  }

  #reportAuthorized(token) {
    this.#stopDeadline = clock.after(ANSWER_WITHIN, () => this.#expire("paymentauthorized"));
    this.#enter("authorized");
    this.#note("paymentauthorized");
    this.transcript.authorized();
    if (!this.#host.hasListener("paymentauthorized")) advise("The page has no paymentauthorized listener.");
    this.#host.authorize({ token, ...this.#choices.contactsAskedFor }, this.#choices.forPaymentRequest);
  }

  /** The page's result. A failure with errors, or a request for a PIN, leaves the sheet open for another attempt. */
  complete(result) {
    this.#note("completePayment");
    this.transcript.completed(result.status === STATUS.SUCCESS, result.errors);
    this.#stopDeadline();
    this.#orderDetails = result.orderDetails;
    if (!this.#sheetErrors.takeResult(result)) {
      this.#finish("completed", result.status === STATUS.SUCCESS ? "Done" : NOT_COMPLETED, 1000);
      return;
    }
    this.#enter("active");
    this.#next();
  }

  // ── The end

  abort() {
    this.#note("abort");
    this.transcript.aborted();
    this.#finish("aborted");
  }

  /** The page's answer ends the sheet. */
  requestCancel() {
    this.#stopDeadline();
    this.#enter("cancelRequested");
    setTimeout(() => this.cancel());
  }

  cancel() {
    if (this.isOver) return;
    this.#finish("canceled");
    this.#reportCancel();
  }

  #reportCancel() {
    this.#note("cancel");
    this.transcript.closed();
    this.#host.cancel();
  }

  // The page goes. One that the browser keeps gets its cancel event when it is shown again.
  #leave = ({ persisted }) => {
    this.#finish(persisted ? "canceled" : "aborted");
    if (!persisted) return;
    window.addEventListener("pageshow", () => this.#reportCancel(), { once: true });
  };

  #expire(type) {
    this.#fail(`The page did not answer "${type}" within ${ANSWER_WITHIN / 1000} seconds.`);
  }

  // The sheet shows the reason; the page receives only the cancel event, as from Apple.
  #fail(reason) {
    if (this.isOver) return;
    this.#failure = reason;
    advise(reason);
    this.#finish("canceled", `${NOT_COMPLETED}. ${reason}`, 4000);
    this.#reportCancel();
  }

  #finish(state, word, time) {
    this.#stopDeadline();
    this.#validation.end();
    this.#confirmation?.withdraw();
    this.#selections.clear();
    this.#state = state;
    this.#lastWord = word ?? this.#lastWord;
    this.phone.close(this.phoneState);
    unmarkSheet();
    window.removeEventListener("pagehide", this.#leave);
    if (this.#isByPhoneAlone) setTimeout(reportCodeClosed, time);
    this.#sheet.close(word, time, this.#sheetErrors.status === STATUS.SUCCESS);
    keepForNextPage(this.snapshot);
    notifyWatchers();
  }

  // ── State

  get #waitsFor() {
    if (this.#confirmation) return `Confirm on ${this.#choices.device.name} …`;
    if (PAYING_STATES.includes(this.#state)) return "Paying …";
    if (this.#isByPhoneAlone && !this.phone.isPaired) return "Scan the code with a phone …";
    if (!this.#validation.isComplete) return "Checking the shop …";
    if (!this.#choices.card) return "Opening the wallet …";
    if (this.#state !== "active" || !this.#selections.isEmpty) return "Updating …";
    return undefined;
  }

  // Why the Pay button is disabled; undefined when it is not.
  get #obstacle() {
    if (this.isOver) return "The sheet is closed.";
    if (this.#waitsFor) return this.#waitsFor;
    return this.#sheetErrors.obstacle(this.#demands);
  }

  /** Whether the sheet waits for the shopper, or has ended. */
  get isReady() {
    return this.isOver || !this.#waitsFor;
  }

  get cards() {
    return this.#choices.cards ?? [];
  }
  get devices() {
    return this.#choices.devices;
  }

  /** What the sheet came to; undefined while it is open. */
  get #result() {
    if (!this.isOver) return undefined;
    if (this.#state === "canceled" && !this.#failure) return "cancelled";
    if (this.#state !== "completed") return "failed";
    if (this.#sheetErrors.status === STATUS.SUCCESS) return "paid";
    return this.#choices.card?.outcome?.startsWith("decline") ? "declined" : "failed";
  }

  /** The state as plain data, for tests. */
  get snapshot() {
    const { card, contact, billingContact, method, methods, coupon, device } = this.#choices;
    const { errors, status } = this.#sheetErrors;
    return structuredClone({
      state: this.#state,
      result: this.#result,
      status,
      failure: this.#failure,
      card: card?.id,
      shippingContact: contact?.id,
      billingContact: this.#demands.asksBilling ? billingContact?.id : undefined,
      shippingMethod: method?.identifier,
      couponCode: coupon,
      orderDetails: this.#orderDetails,
      touchIcons: this.#touchIcons,
      device: device.id,
      total: this.#sums.total,
      lineItems: this.#sums.items,
      shippingMethods: methods,
      canPay: this.#obstacle === undefined,
      obstacle: this.#obstacle,
      history: this.#history,
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
      demands: this.#demands,
      choices: this.#choices,
      sums: this.#sums,
      sheetErrors: this.#sheetErrors,
      obstacle: this.#obstacle,
      isPaying: PAYING_STATES.includes(this.#state),
      phone: { code: this.phone.code, isPaired: this.phone.isPaired, isAlone: this.#isByPhoneAlone },
    });
    notifyWatchers();
  }
}
