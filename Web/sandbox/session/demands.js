import { networkName } from "./rules.js";

/** What a page's request requires from the shopper, and which cards it accepts. */
export class Demands {
  #request;

  constructor(request) {
    this.#request = request;
  }

  get isPickup() {
    return this.#request.shippingContactEditingMode === "storePickup";
  }
  get shippingFields() {
    return this.#request.requiredShippingContactFields ?? [];
  }
  get billingFields() {
    return this.#request.requiredBillingContactFields ?? [];
  }
  get asksContact() {
    return this.shippingFields.length > 0;
  }
  get asksAddress() {
    return this.shippingFields.includes("postalAddress");
  }
  get asksBilling() {
    return this.billingFields.length > 0;
  }
  get asksBillingAddress() {
    return this.billingFields.includes("postalAddress");
  }
  get takesCoupons() {
    return this.#request.supportsCouponCode === true;
  }

  /** The pickup address, set by the page; the shopper cannot change it. */
  get pickup() {
    return this.isPickup ? this.#request.shippingContact : undefined;
  }
  get presetContact() {
    return this.isPickup ? undefined : this.#request.shippingContact;
  }
  get presetBillingContact() {
    return this.asksBillingAddress ? this.#request.billingContact : undefined;
  }

  /** Why this card cannot pay here; undefined when it can. */
  refusalOf(card) {
    const networks = this.#request.supportedNetworks.map(networkName);
    if (!networks.includes(networkName(card.network))) return "not accepted here";
    if (card.answersWithEMV && !this.#request.merchantCapabilities.includes("supportsEMV")) {
      return "needs a merchant that supports EMV";
    }
    const kinds = this.#request.merchantCapabilities.filter((name) => /^supports(Credit|Debit)$/.test(name));
    const needed = { credit: "supportsCredit", debit: "supportsDebit" }[card.type];
    if (kinds.length > 0 && needed && !kinds.includes(needed)) return `${card.type} cards are not accepted here`;
    const countries = this.#request.supportedCountries;
    if (countries && card.country && !countries.includes(card.country)) return "not accepted from its country";
    return undefined;
  }
}
