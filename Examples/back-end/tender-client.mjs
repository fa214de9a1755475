// What a merchant's server asks Tender, with Node alone. docs/back-end.md explains each step.

import { createHash, createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const variable = (name) => {
  if (!process.env[name]) throw new Error(`set the environment variable ${name}`);
  return process.env[name];
};
const [SHOP_TENDER_URL, SHOP_MERCHANT, SHOP_KEY_ID, SHOP_SECRET] =
  ["SHOP_TENDER_URL", "SHOP_MERCHANT", "SHOP_KEY_ID", "SHOP_SECRET"].map(variable);
export const tender = SHOP_TENDER_URL.replace(/\/$/, "");
const [attempts, longestWait] = [3, 5];

/** Tender refused the call: status, code, message and field as it says them, its id in the log, and the whole answer. */
export class TenderError extends Error {
  constructor(status, text) {
    let answer = text;
    try {
      answer = JSON.parse(text);
    } catch {
      // From a proxy.
    }
    const { id: code = "", message: said = text, propertyName: field } = answer?.errors?.at(-1) ?? {}; // the last has Tender's own words
    super(`${status} ${code}: ${said}${field ? ` (${field})` : ""} [${answer?.errorId}]`);
    Object.assign(this, { name: "TenderError", status, code, said, field, errorId: answer?.errorId, answer });
  }
}

const mac = (secret, data) => createHmac("sha256", secret).update(data).digest("base64");

/** The headers of a call. `body` is its text, `key` the idempotency key. */
export const signed = (method, path, body, key, date = new Date().toUTCString()) => {
  const headers = { Date: date };
  const covered = [];
  if (body !== undefined) {
    const digest = createHash("sha256").update(body).digest("base64");
    Object.assign(headers, { "Content-Type": "application/json", "X-GCS-Content-SHA256": digest });
    covered.push(`x-gcs-content-sha256:${digest}`);
  }
  if (key !== undefined) {
    headers["X-GCS-Idempotence-Key"] = key;
    covered.push(`x-gcs-idempotence-key:${key}`);
  }
  const text = [method, headers["Content-Type"] ?? "", date, ...covered, path, ""].join("\n");
  return { ...headers, Authorization: `GCS v1HMAC:${SHOP_KEY_ID}:${mac(SHOP_SECRET, text)}` };
};

const answerOf = async (method, path, body, key) => {
  const answer = await fetch(tender + path, {
    method, headers: signed(method, path, body, key), body, redirect: "manual", signal: AbortSignal.timeout(30_000),
  });
  return { answer, text: await answer.text() };
};

/** Repeats the call where no answer comes, or Tender asks for it, under the same idempotency key. */
export const call = async (method, path, document, key = method === "POST" ? randomUUID() : undefined) => {
  const body = document === undefined ? undefined : JSON.stringify(document);
  for (let attempt = 1; ; attempt += 1) {
    let wait = attempt / 2;
    try {
      const { answer, text } = await answerOf(method, path, body, key);
      if (answer.ok) return text ? JSON.parse(text) : null; // 204 has no body
      const later = answer.headers.get("Retry-After");
      if (later === null || attempt === attempts) throw new TenderError(answer.status, text);
      if (/^[0-9]{1,9}$/.test(later)) wait = Math.min(Number(later), longestWait); // a proxy may name a date
    } catch (error) {
      if (error instanceof TenderError || attempt === attempts) throw error;
    }
    await pause(wait * 1000);
  }
};

const place = (...names) => ["", "v2", SHOP_MERCHANT, ...names.map(encodeURIComponent)].join("/");
const query = (parameters) => (parameters ? `?${new URLSearchParams(parameters)}` : "");

export const putBasket = (id, basket) => call("PUT", place("baskets", id), basket);
export const basket = (id) => call("GET", place("baskets", id));
export const cancelBasket = (id) => call("DELETE", place("baskets", id));
export const order = async (id) => (await basket(id)).order ?? null;
export const pay = (payment, key) => call("POST", place("payments"), payment, key);
export const payment = (id) => call("GET", place("payments", id));
export const payments = (parameters) => call("GET", place("payments") + query(parameters));
export const capture = (id, document, key) => call("POST", place("payments", id, "capture"), document, key);
export const cancel = (id, document, key) => call("POST", place("payments", id, "cancel"), document, key);
export const refund = (id, document, key) => call("POST", place("payments", id, "refund"), document, key);
export const events = (parameters) => call("GET", place("events") + query(parameters));
export const event = (id) => call("GET", place("events", id));

/** Whether `signature`, the header X-GCS-Signature, is the one of the body's bytes. */
export const isFromTender = (signature, body, webhookSecret) => {
  const [sent, own] = [signature, mac(webhookSecret, body)].map((text) => Buffer.from(text));
  return webhookSecret !== "" && sent.length === own.length && timingSafeEqual(sent, own); // everybody can sign with none
};

// put BASKET <basket.json | order BASKET | verify SIGNATURE <body
const [verb, name] = process.argv[1] === fileURLToPath(import.meta.url) ? process.argv.slice(2) : [];
if (verb === "verify") {
  process.exitCode = isFromTender(name, readFileSync(0), process.env.SHOP_WEBHOOK_SECRET) ? 0 : 1;
} else if (verb === "put") {
  console.log(JSON.stringify(await putBasket(name, JSON.parse(readFileSync(0)))));
} else if (verb === "order") {
  console.log(JSON.stringify(await order(name)));
} else if (verb) {
  console.error("put BASKET <basket.json | order BASKET | verify SIGNATURE <body");
  process.exitCode = 2;
}
