// The decrypted payment data, field by field, masked by the server.

import { ask, element, find, menu, money, notThere, tender } from "./shop.js";

const ENVELOPE = {
  version: ["Version", "EC_v1: the key is agreed on an elliptic curve. RSA_v1 exists for mainland China."],
  signedAt: [
    "Signed at",
    "When Apple’s broker signed it, in UTC. Tender refuses a payment token that is older than five minutes.",
  ],
  transactionId: ["Transaction identifier", "Chosen by the device, 32 bytes. Tender takes each of them once."],
  publicKeyHash: [
    "Public key hash",
    "SHA-256 of the merchant’s public key. It says which of the merchant’s keys opens the seal; no other merchant’s key does.",
  ],
  applicationDataHash: [
    "Application data hash",
    "SHA-256 of what the payment request named: this basket of this merchant. A payment token cannot be moved to another basket.",
  ],
};

const INSIDE = {
  applicationPrimaryAccountNumber: [
    "Device account number",
    "Stands for the card on this one device. It is not the number on the card, and on its own it pays nothing. All but the last four digits are masked here.",
  ],
  applicationExpirationDate: [
    "Expiry of that number",
    "YYMMDD. The device account number has an expiry of its own, which need not be the card’s.",
  ],
  currencyCode: ["Currency", "The number of the currency in ISO 4217."],
  transactionAmount: [
    "Amount",
    "In the currency’s smallest unit, as the shopper confirmed it. Tender refuses the payment unless it is the order’s to the last unit.",
  ],
  deviceManufacturerIdentifier: ["Device manufacturer", "Which maker’s Secure Element answered, in hexadecimal."],
  paymentDataType: [
    "Kind of payment data",
    "3DSecure: a cryptogram for an online payment. EMV would be a chip’s own answer.",
  ],
  "paymentData.onlinePaymentCryptogram": [
    "Cryptogram",
    "Computed by the Secure Element for this payment alone. The card network checks it, and takes it once. Masked: it goes to the bank and nowhere else, and Tender never stores it.",
  ],
  "paymentData.eciIndicator": [
    "Electronic commerce indicator",
    "How the shopper was authenticated, in the network’s own code. Visa and others send it, Mastercard mostly does not; it is passed to the bank unchanged.",
  ],
  merchantTokenIdentifier: [
    "Merchant token",
    "The network’s name for a token that stays with the merchant, for later payments.",
  ],
};

const CURRENCIES = { EUR: "978", JPY: "392", GBP: "826", USD: "840" };

const note = (key, value) => {
  if (key === "currencyCode" && CURRENCIES[menu.currency] === value) return menu.currency;
  if (key === "transactionAmount" && Number.isInteger(value)) {
    const digits = String(value).padStart(menu.exponent + 1, "0");
    return money(menu.exponent ? `${digits.slice(0, -menu.exponent)}.${digits.slice(-menu.exponent)}` : digits);
  }
  if (key === "applicationExpirationDate") return `20${value.slice(0, 2)}-${value.slice(2, 4)}-${value.slice(4, 6)}`;
  return "";
};

// Nested fields under their full names.
const flat = (object, prefix = "") =>
  Object.entries(object).flatMap(([key, value]) =>
    value !== null && typeof value === "object" ? flat(value, `${prefix}${key}.`) : [[prefix + key, value]],
  );

const field =
  (meanings) =>
  ([key, value]) => {
    const [title, meaning] = meanings[key] ?? [key, "Tender does not know this field, and masks it like a secret."];
    const extra = note(key, value);
    return element(
      "div",
      { className: "stack tight datum", dataset: { field: key } },
      element("dt", {}, title, element("code", {}, key)),
      element(
        "dd",
        { className: "stack tight" },
        element(
          "p",
          { className: "row value" },
          element("code", {}, `${value}`),
          extra ? element("span", { className: "quiet" }, extra) : null,
        ),
        element("p", { className: "quiet small" }, meaning),
      ),
    );
  };

const section = (id, title, text, entries, meanings) =>
  element(
    "section",
    { className: "panel", ariaLabel: title },
    element("h2", { id }, title),
    element("p", { className: "quiet" }, text),
    element("dl", { className: "data" }, entries.map(field(meanings))),
  );

const place = find("payload");
try {
  const { payment } = await ask(`${tender}/applepay/payment/${place.dataset.basket}/trace`);
  if (!payment) throw new Error("No payment token of this basket has been opened yet.");
  const { paymentData, ...envelope } = payment;
  place.replaceChildren(
    section(
      "envelope",
      "On the outside",
      "This can be read without any key.",
      Object.keys(ENVELOPE)
        .filter((key) => envelope[key])
        .map((key) => [key, envelope[key]]),
      ENVELOPE,
    ),
    section(
      "inside",
      "Inside the seal",
      "Only the merchant’s private key opens this. It was read in memory, and not kept.",
      flat(paymentData),
      INSIDE,
    ),
    element(
      "p",
      {},
      element(
        "a",
        { className: "button plain", href: `/order/${place.dataset.basket}/trace` },
        "The trace of this payment",
      ),
    ),
  );
} catch (error) {
  place.replaceChildren(notThere(error));
}
