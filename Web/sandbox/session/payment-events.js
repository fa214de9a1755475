import { invalidState, requireArguments } from "./web-idl.js";

// The events of a payment request. One that a page made itself answers nothing.

const answers = new WeakMap(); // of the engine's own events

/** An update of the details, with which the page answers an event. It may come later than in the handler. */
export class PaymentRequestUpdateEvent extends Event {
  #isAnswered = false;

  updateWith(detailsPromise) {
    requireArguments(arguments, 1);
    const answer = answers.get(this);
    if (!answer || this.#isAnswered) throw invalidState();
    this.stopImmediatePropagation();
    answer(Promise.resolve(detailsPromise));
    this.#isAnswered = true;
  }

  static isAnswered(event) {
    return event.#isAnswered;
  }
}

export class PaymentMethodChangeEvent extends PaymentRequestUpdateEvent {
  #methodName;
  #methodDetails;

  constructor(type, { methodName = "", methodDetails = null, ...init } = {}) {
    super(type, init);
    this.#methodName = String(methodName);
    this.#methodDetails = methodDetails;
  }

  get methodName() {
    return this.#methodName;
  }
  get methodDetails() {
    return this.#methodDetails;
  }
}

export class MerchantValidationEvent extends Event {
  #methodName;
  #validationURL;
  #isCompleted = false;

  constructor(type, { methodName = "", validationURL = "", ...init } = {}) {
    super(type, init);
    this.#methodName = String(methodName);
    this.#validationURL = String(validationURL);
  }

  get methodName() {
    return this.#methodName;
  }
  get validationURL() {
    return this.#validationURL;
  }

  complete(merchantSessionPromise) {
    requireArguments(arguments, 1);
    const answer = answers.get(this);
    if (!answer || this.#isCompleted) throw invalidState();
    answer(Promise.resolve(merchantSessionPromise));
    this.stopImmediatePropagation();
    this.#isCompleted = true;
  }
}

/** Makes the event one of the engine's: what the page answers goes to `answer`, which may throw. */
export const answering = (event, answer) => {
  answers.set(event, answer);
  return event;
};
