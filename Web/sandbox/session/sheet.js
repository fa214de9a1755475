import { addressLines, reachLines } from "./contacts.js";
import { isOfBillingContact, isOfCoupon, isOfShippingContact, messages } from "./errors.js";
import { day, interval, Money } from "./money.js";
import { Choice, Coupon, element, Methods, PhoneCode, quoted, write } from "./sheet-fields.js";
import { address } from "./wallet.js";

// The sheet that a shopper sees: a modal dialog in the page, in the light DOM, so that assistive technology and tests
// find everything in it by role and name.

const SHIPPING_TITLES = {
  shipping: ["Shipping", "Ship to"],
  delivery: ["Delivery", "Deliver to"],
  storePickup: ["Pick-up", "Collected by"],
  servicePickup: ["Pick-up", "Picked up at"],
};

export class Sheet {
  #actions;
  #money;
  #dialog;
  #isClosing = false;
  #invoker = document.activeElement;
  #device;
  #card;
  #billing;
  #contact;
  #methods;
  #coupon;
  #phone;
  #pickup = element("p", { className: "aps-hint aps-pickup", hidden: true });
  #agreement = element("div", { className: "aps-agreement", hidden: true });
  #items = element("dl", { className: "aps-items" });
  #total = element("dl", { className: "aps-total" });
  #alert = element("p", { className: "aps-alert", hidden: true, aria: { role: "alert" } });
  #status = element("p", { className: "aps-status", aria: { role: "status" } });
  #news = element("p", { className: "aps-unseen", aria: { live: "polite" } });
  #pay = element("button", { type: "button", className: "aps-pay", disabled: true }, "Pay");
  #cancel = element("button", { type: "button", className: "aps-cancel" }, "Cancel");

  constructor(request, actions) {
    this.#actions = actions;
    this.#money = new Money(request.currencyCode);
    const [noun, contactTitle] = SHIPPING_TITLES[request.shippingType ?? "shipping"];
    const asksAddress = request.requiredShippingContactFields?.includes("postalAddress");
    this.#device = new Choice("device", "Confirm on", (id) => actions.device(id));
    this.#card = new Choice("card", "Card", (id) => actions.card(id));
    this.#billing = new Choice("billing", "Billing address", (id) => actions.billingContact(id));
    this.#contact = new Choice("contact", asksAddress ? contactTitle : "Contact", (id) => actions.contact(id));
    this.#methods = new Methods(noun, this.#money, (identifier) => actions.method(identifier));
    this.#coupon = new Coupon((code) => actions.coupon(code));
    this.#phone = new PhoneCode(() => actions.phone());
    this.#pay.addEventListener("click", () => actions.pay());
    this.#cancel.addEventListener("click", () => this.#dismiss());
    this.#dialog = this.#build(request.total.label);
    document.body.append(this.#dialog);
    // Not before: in a frame of another origin the browser refuses to focus what is added, and says so in the console.
    this.#dialog.querySelector("#aps-title").autofocus = true;
    this.#dialog.showModal();
  }

  #build(merchant) {
    const pair = element(
      "a",
      { href: new URL("device", address.origin).href, target: "_blank", rel: "noopener" },
      "Pair a phone or a watch",
    );
    const dialog = element(
      "dialog",
      { className: "apple-pay-sandbox", lang: "en", aria: { labelledby: "aps-title", describedby: "aps-mark" } },
      element(
        "div",
        { className: "aps-head" },
        element("h2", { id: "aps-title", tabIndex: -1 }, "Simulated Apple Pay"),
        " ",
        element("p", { id: "aps-mark", className: "aps-mark" }, "Simulated – not Apple"),
      ),
      element(
        "div",
        { className: "aps-body", tabIndex: -1 },
        this.#card.element,
        this.#billing.element,
        this.#contact.element,
        this.#pickup,
        this.#methods.element,
        this.#coupon.element,
        this.#agreement,
        this.#items,
        this.#device.element,
        element("p", { className: "aps-pair" }, pair),
        this.#phone.element,
      ),
      element("div", { className: "aps-foot" }, this.#total, this.#alert, this.#status, this.#news, this.#cancel, this.#pay),
    );
    dialog.dataset.merchant = merchant;
    dialog.addEventListener("keydown", (event) => this.#keepFocus(event));
    // The Escape key is the shopper's Cancel, and goes the same way; a browser that insists closes the dialog itself.
    dialog.addEventListener("cancel", (event) => {
      event.preventDefault();
      this.#dismiss();
    });
    dialog.addEventListener("close", () => this.#isClosing || this.#dismiss());
    return dialog;
  }

  // The rest of the page is inert; that Tab goes round, and does not stop at the browser's own controls, is done here.
  #keepFocus(event) {
    if (event.key !== "Tab" || this.#isClosing) return;
    const stops = [...this.#dialog.querySelectorAll("a[href], button, input, select, summary")].filter(
      (stop) => !stop.matches(":disabled") && stop.checkVisibility() && (stop.type !== "radio" || stop.checked),
    );
    const place = stops.indexOf(document.activeElement);
    const goesRound = event.shiftKey ? place <= 0 : place === stops.length - 1;
    if (!goesRound) return;
    event.preventDefault();
    (event.shiftKey ? stops.at(-1) : stops[0])?.focus();
  }

  #dismiss() {
    if (this.#isClosing) this.#remove();
    else this.#actions.cancel();
  }

  // ── What it shows

  show({ demands, choices, sums, sheetErrors: { errors, notice }, obstacle, isPaying, phone }) {
    this.#phone.show(phone);
    this.#dialog.toggleAttribute("data-phone", phone.isAlone);
    const { card, contact, billingContact, device, devices } = choices;
    this.#device.show(devices.length > 1 ? devices.map(deviceOption) : undefined, device.id);
    this.#card.show(choices.cards?.map(cardOption), card?.id, card?.explanation);
    this.#billing.show(
      demands.asksBilling ? choices.billingContacts?.map(contactOption) : undefined,
      billingContact?.id,
      billingContact && addressLines(billingContact).join(", "),
      errors.filter(isOfBillingContact),
    );
    this.#contact.show(
      demands.asksContact ? choices.contacts?.map(contactOption) : undefined,
      contact?.id,
      contact && (demands.asksAddress ? addressLines(contact) : reachLines(contact, demands.shippingFields)).join(", "),
      errors.filter(isOfShippingContact),
    );
    write(this.#pickup, demands.pickup ? `To be picked up at ${addressLines(demands.pickup).join(", ")}.` : "");
    this.#methods.show(choices.methods, choices.method);
    this.#coupon.show(demands.takesCoupons, choices.coupon, errors.filter(isOfCoupon));
    this.#showAgreement(sums.special);
    this.#showSums(sums.items, sums.total);
    this.#showErrors(errors, notice, demands);
    this.#showProgress(obstacle, isPaying, device);
  }

  #showSums(items, total) {
    this.#items.hidden = items.length === 0;
    this.#items.replaceChildren(...items.map((item) => this.#row(item)));
    const before = this.#total.textContent;
    this.#total.replaceChildren(this.#row(total));
    if (before && before !== this.#total.textContent) this.#news.textContent = `Total: ${this.#money.of(total)}.`;
  }

  #row(item) {
    const when =
      item.paymentTiming === "recurring"
        ? interval(item)
        : item.deferredPaymentDate
          ? `due on ${day(item.deferredPaymentDate)}`
          : item.automaticReloadPaymentThresholdAmount
            ? `below ${this.#money.of({ amount: item.automaticReloadPaymentThresholdAmount })}`
            : "";
    const label = element("dt", {}, quoted("span", item.label ?? ""));
    if (when) label.append(element("small", {}, when));
    return element("div", {}, label, element("dd", {}, this.#money.of(item)));
  }

  /** What a shopper agrees to beyond this payment. */
  #showAgreement({
    recurringPaymentRequest,
    automaticReloadPaymentRequest,
    deferredPaymentRequest,
    multiTokenContexts,
  }) {
    const request = recurringPaymentRequest ?? automaticReloadPaymentRequest ?? deferredPaymentRequest;
    this.#agreement.hidden = !request && !multiTokenContexts;
    if (this.#agreement.hidden) return;
    const items = [
      request?.trialBilling,
      request?.regularBilling,
      request?.automaticReloadBilling,
      request?.deferredBilling,
      ...(multiTokenContexts ?? []).map(({ merchantName, amount }) => ({ label: merchantName, amount })),
    ].filter(Boolean);
    this.#agreement.replaceChildren(
      quoted("h3", request?.paymentDescription ?? "Merchants of this payment"),
      element("dl", {}, ...items.map((item) => this.#row(item))),
      quoted("p", request?.billingAgreement ?? "", { className: "aps-hint" }),
    );
  }

  // An error stands beside the field that it is about, if the sheet has that field.
  #showErrors(errors, notice, { asksContact, asksBilling, takesCoupons }) {
    const rest = errors.filter(
      (error) =>
        !(isOfCoupon(error) && takesCoupons)
        && !(isOfShippingContact(error) && asksContact)
        && !(isOfBillingContact(error) && asksBilling),
    );
    write(this.#alert, [notice, messages(rest)].filter(Boolean).join(" "));
  }

  #showProgress(obstacle, isPaying, device) {
    const hadFocus = document.activeElement === this.#pay;
    this.#pay.disabled = obstacle !== undefined;
    this.#pay.textContent = device.id === "this" ? "Pay" : `Pay with ${device.name}`;
    if (hadFocus && this.#pay.disabled) this.#cancel.focus();
    const fields = [this.#device, this.#card, this.#billing, this.#contact, this.#methods, this.#coupon];
    for (const field of fields) field.element.disabled = isPaying;
    this.#dialog.toggleAttribute("data-busy", obstacle?.endsWith("…") ?? false);
    write(this.#status, obstacle ?? "Ready to pay.");
  }

  // ── The end

  /** With a last word, it stands long enough for that to be read; the page behind it is free again, with its focus. */
  close(word, time, isGood) {
    if (word === undefined) return this.#remove();
    this.#isClosing = true;
    this.#dialog.close();
    this.#returnFocus();
    this.#dialog.toggleAttribute("open", true);
    this.#pay.disabled = true;
    this.#cancel.textContent = "Close";
    this.#dialog.removeAttribute("data-busy");
    this.#dialog.dataset.result = isGood ? "done" : "failed";
    write(this.#status, word);
    setTimeout(() => this.#remove(), time);
  }

  #remove() {
    const wasOpen = !this.#isClosing;
    this.#isClosing = true;
    this.#dialog.close();
    this.#dialog.remove();
    if (wasOpen) this.#returnFocus();
  }

  // The browser does it by itself, except where the dialog had been removed before.
  #returnFocus() {
    if (document.activeElement === document.body && this.#invoker?.isConnected) this.#invoker.focus();
  }
}

const cardOption = (card) => ({
  value: card.id,
  text: [`${card.label} (${card.displayName})`, card.refusal].filter(Boolean).join(" – "),
  disabled: card.refusal !== undefined,
});

const contactOption = ({ id, label }) => ({ value: id, text: label });
const deviceOption = ({ id, name }) => ({ value: id, text: name });
