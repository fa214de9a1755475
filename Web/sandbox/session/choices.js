import { fullContact, redactedContact } from "./contacts.js";
import { wallet } from "./wallet.js";

const THIS_DEVICE = { id: "this", name: "This device", kind: "this" };
const EVERY_FIELD = ["email", "phone", "name", "phoneticName", "postalAddress"];

/** The shopper's options and choices. An invalid choice throws. */
export class Choices {
  #demands;
  cards; // undefined until the wallet is open
  contacts;
  billingContacts;
  card;
  contact;
  billingContact;
  methods;
  method;
  coupon;
  devices = [THIS_DEVICE];
  device = THIS_DEVICE;

  constructor({ shippingMethods = [], couponCode = "" }, demands) {
    this.#demands = demands;
    this.methods = shippingMethods;
    this.method = shippingMethods.find(({ isSelected }) => isSelected) ?? shippingMethods[0];
    this.coupon = couponCode;
  }

  /** Takes the wallet's cards and contacts, and chooses the first of each. */
  async openWallet() {
    const [cards, contacts] = await Promise.all([wallet.cards(), wallet.contacts()]);
    this.cards = cards.map((card) => ({ ...card, refusal: this.#demands.refusalOf(card) }));
    this.contacts = withPreset(contacts, this.#demands.presetContact);
    this.billingContacts = withPreset(contacts, this.#demands.presetBillingContact);
    this.card = this.cards.find((card) => !card.refusal);
    this.contact = this.contacts[0];
    this.billingContact = this.billingContacts[0];
    if (!this.card) throw new Error("No card in the simulated wallet can pay here.");
  }

  /** Replaces the paired devices. Returns whether they have changed. */
  meetDevices(paired) {
    const devices = [THIS_DEVICE, ...paired];
    if (JSON.stringify(devices) === JSON.stringify(this.devices)) return false;
    this.devices = devices;
    this.device = devices.find(({ id }) => id === this.device.id) ?? THIS_DEVICE;
    return true;
  }

  get isOnThisDevice() {
    return this.device === THIS_DEVICE;
  }

  selectCard(id) {
    const card = this.cards?.find((card) => card.id === id);
    if (!card || card.refusal) throw new Error(`No card "${id}" can pay here.`);
    this.card = card;
  }

  selectContact(id) {
    this.contact = contactNamed(this.contacts, id);
  }

  selectBillingContact(id) {
    if (!this.#demands.asksBilling) throw new Error("The page's request asks for no billing contact.");
    this.billingContact = contactNamed(this.billingContacts, id);
  }

  selectMethod(identifier) {
    const method = this.methods.find((method) => method.identifier === identifier);
    if (!method) throw new Error(`The page offers no shipping method "${identifier}".`);
    this.method = method;
  }

  enterCoupon(code) {
    if (!this.#demands.takesCoupons) throw new Error("The page's request does not support coupon codes.");
    this.coupon = code;
  }

  selectDevice(id) {
    const device = this.devices.find((device) => device.id === id || device.name === id);
    if (!device) throw new Error(`No phone or watch "${id}" is paired.`);
    this.device = device;
  }

  /** New methods keep the chosen one if it is among them; otherwise the first is chosen, as at the start. */
  offer(methods) {
    if (!methods) return;
    this.methods = methods;
    this.method =
      methods.find(({ isSelected }) => isSelected)
      ?? methods.find(({ identifier }) => identifier === this.method?.identifier)
      ?? methods[0];
  }

  // ── What the page receives

  /** Before authorization a card is a type, with its redacted billing address if that is asked for. */
  get paymentMethod() {
    const { type } = this.card;
    return this.#demands.asksBillingAddress ? { type, billingContact: redactedContact(this.billingContact) } : { type };
  }

  get shippingContact() {
    return redactedContact(this.contact);
  }

  /** After it, the contacts that were asked for, whole. */
  get contactsAskedFor() {
    const { asksContact, asksBilling, pickup = {}, shippingFields, billingFields } = this.#demands;
    return {
      ...(asksContact && { shippingContact: fullContact({ ...this.contact, ...pickup }, shippingFields) }),
      ...(asksBilling && { billingContact: fullContact(this.billingContact, billingFields) }),
    };
  }

  /** What Payment Request returns beside the payment. */
  get forPaymentRequest() {
    return { contact: fullContact(this.contact, EVERY_FIELD), method: this.method };
  }
}

/** A contact that the page presets comes first. */
const withPreset = (contacts, preset) =>
  preset && Object.keys(preset).length > 0
    ? [{ ...preset, id: "page", label: "From this page" }, ...contacts]
    : contacts;

const contactNamed = (contacts, id) => {
  const contact = contacts?.find((contact) => contact.id === id);
  if (!contact) throw new Error(`The simulated wallet has no contact "${id}".`);
  return contact;
};
