import { aTask, clock } from "./clock.js";
import { latestPresentation, watch } from "./latest-sheet.js";
import { simulate, simulated } from "./simulated-device.js";
import { eventsOf, linesOf } from "./transcript.js";
import { wallet } from "./wallet.js";

// `window.applePaySandbox`: the interface with which tests drive the sheet.

const PATIENCE = 30_000;

// Resolves when the condition holds, looking again at every change of a sheet. Tests wait in real time, even when they
// hold the sheet's clock.
const until = (condition, message, patience = PATIENCE) =>
  new Promise((resolve, reject) => {
    const look = () => condition() && finish(resolve);
    const finish = (complete) => {
      clearTimeout(timer);
      stop();
      complete();
    };
    const timer = setTimeout(() => finish(() => reject(new Error(message()))), patience);
    const stop = watch(look);
    look();
  });

const openSheet = async (patience) => {
  await until(
    () => latestPresentation()?.isOver === false,
    () => "No sheet was opened.",
    patience,
  );
  return latestPresentation();
};

const ready = (sheet, patience) =>
  until(
    () => sheet.isReady,
    () => `The sheet did not become ready: ${sheet.snapshot.obstacle}`,
    patience,
  );

// Each step waits for the sheet, acts as the shopper, waits again, and returns the sheet's state.
const drive = async (step) => {
  const sheet = await openSheet();
  await ready(sheet);
  if (sheet.isOver) throw new Error(`The sheet closed by itself: ${sheet.snapshot.failure ?? sheet.state}`);
  await step(sheet.actions, sheet);
  await ready(sheet);
  return sheet.snapshot;
};

// ── Replaying what was recorded

const samePlace = ({ redacted = {} }, value) => {
  const { countryCode, postalCode } = redacted;
  return value === countryCode || value === `${countryCode}/${(postalCode ?? "").replaceAll(" ", "")}`;
};

const idOf = (list, isIt, value) => {
  const found = list.find(isIt);
  if (!found) throw new Error(`Nothing in the simulated wallet is "${value}".`);
  return found.id;
};

/** What the shopper does for an event of a transcript. */
const STEPS = {
  "payment-method": async (type) =>
    applePaySandbox.selectCard(idOf(await wallet.cards(), (card) => card.type === type, type)),
  "shipping-contact": async (place) =>
    applePaySandbox.selectShippingContact(idOf(await wallet.contacts(), (contact) => samePlace(contact, place), place)),
  "shipping-method": (identifier) => applePaySandbox.selectShippingMethod(identifier),
  "coupon-code": (code) => applePaySandbox.enterCouponCode(code),
  authorized: () => applePaySandbox.approve(),
  closed: () => applePaySandbox.cancel(),
};

const replay = async (text) => {
  const sheet = await openSheet();
  await ready(sheet);
  for (const [index, [word, value]] of eventsOf(text).entries()) {
    if (sheet.transcript.events.length <= index) await STEPS[word]?.(value);
  }
  const [wanted, said] = [linesOf(text), linesOf(sheet.transcript.text())];
  const line = wanted.findIndex((one, index) => one !== said[index]);
  if (line < 0 && said.length === wanted.length) return sheet.snapshot;
  const at = line < 0 ? wanted.length : line;
  throw new Error(
    `The page differs from the transcript: "${said[at] ?? "nothing"}" in place of "${wanted[at] ?? "nothing"}".`,
  );
};

const declinedCard = (sheet) => {
  const card = sheet.cards.find(({ outcome, refusal }) => !refusal && outcome?.startsWith("decline"));
  if (!card) throw new Error("No card in the simulated wallet is declined.");
  return card.id;
};

export const applePaySandbox = {
  /** Presses Pay, and waits until the page has completed the payment or the sheet asks for another try. */
  approve: () => drive(({ pay }) => pay()),
  /** Pays with a card that its issuer declines. */
  decline: () => drive(async ({ card }, sheet) => card(declinedCard(sheet))).then(() => applePaySandbox.approve()),
  /** Closes the sheet, as the shopper may at any time. */
  async cancel() {
    const sheet = await openSheet();
    sheet.cancel();
    return sheet.snapshot;
  },

  selectCard: (id) => drive(({ card }) => card(id)),
  selectShippingContact: (id) => drive(({ contact }) => contact(id)),
  selectBillingContact: (id) => drive(({ billingContact }) => billingContact(id)),
  selectShippingMethod: (identifier) => drive(({ method }) => method(identifier)),
  enterCouponCode: (text) => drive(({ coupon }) => coupon(text)),

  /** Chooses where to confirm: a paired phone or watch by id or name, or "this". Waits until that device is there. */
  selectDevice: (name) =>
    drive(async ({ device }, sheet) => {
      const isThere = () => sheet.isOver || sheet.devices.some((one) => one.id === name || one.name === name);
      await until(isThere, () => `No phone or watch "${name}" is paired.`);
      device(name);
    }),

  /** The latest sheet's current state; null before the first sheet. */
  get sheet() {
    return latestPresentation()?.snapshot ?? null;
  },
  /** Resolves when a sheet is open and waits for the shopper. */
  async waitForSheet({ timeout = PATIENCE } = {}) {
    const sheet = await openSheet(timeout);
    await ready(sheet, timeout);
    return sheet.snapshot;
  },
  /** Resolves when no sheet is open, to the latest sheet's final state. */
  async waitForClose({ timeout = PATIENCE } = {}) {
    await until(
      () => latestPresentation()?.isOver !== false,
      () => "The sheet is still open.",
      timeout,
    );
    return applePaySandbox.sheet;
  },

  /** The wallet's cards, contacts and devices. */
  cards: () => wallet.cards(),
  contacts: () => wallet.contacts(),
  devices: () => wallet.devices(),
  /** Puts a contact of your own in front of the wallet's, for the sheets of this page: `{id, label?, …}`. */
  addContact({ id, label = id, ...contact } = {}) {
    if (!id) throw new TypeError("A contact needs an id to select it by.");
    wallet.addContact({ ...contact, id: String(id), label });
  },

  /** Simulates another device or browser: `{newestVersion, canMakePayments, cards, isThirdPartyBrowser, requiresGesture}`. */
  setDevice: (changes) => simulate(changes),
  get device() {
    return { ...simulated };
  },

  /** What the page and the latest sheet said to each other, as a flow file. */
  transcript: (title) => latestPresentation()?.transcript.text(title) ?? null,
  /** Takes the shopper's steps of a transcript in the open sheet; rejected where the page does something else. */
  replay: (transcript) => replay(String(transcript)),

  /** Scans the sheet's code with a phone of its own, which then drives the sheet by these steps. */
  async scan() {
    const sheet = await openSheet();
    sheet.actions.phone();
    await until(
      () => sheet.isOver || sheet.phone.text,
      () => "The sheet has no code to scan.",
    );
    await wallet.pairPhone(sheet.phone.text);
    await ready(sheet);
    return sheet.snapshot;
  },

  /** The sheet's time, on which its budgets run. */
  clock: Object.freeze({
    hold: () => clock.hold(),
    async advance(milliseconds) {
      await clock.advance(milliseconds);
      await aTask();
    },
    release: () => clock.release(),
    get isHeld() {
      return clock.isHeld;
    },
  }),
};
