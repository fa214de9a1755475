// What a merchant's server asks Tender, with Node alone. docs/back-end.md explains each step.

import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";

const variable = (name) => {
  if (!process.env[name]) throw new Error(`set the environment variable ${name}`);
  return process.env[name];
};
const [SHOP_TENDER_URL, SHOP_MERCHANT, SHOP_KEY_ID, SHOP_SECRET] =
  ["SHOP_TENDER_URL", "SHOP_MERCHANT", "SHOP_KEY_ID", "SHOP_SECRET"].map(variable);
export const tender = SHOP_TENDER_URL.replace(/\/$/, "");
const mac = (secret, data) => createHmac("sha256", secret).update(data).digest("base64");

export const call = async (method, path, document) => {
  const body = document && JSON.stringify(document);
  const headers = { Date: new Date().toUTCString() };
  let signed = [method, "", headers.Date, path, ""];
  if (body) {
    const digest = createHash("sha256").update(body).digest("base64");
    Object.assign(headers, { "Content-Type": "application/json", "X-GCS-Content-SHA256": digest });
    signed = [method, "application/json", headers.Date, `x-gcs-content-sha256:${digest}`, path, ""];
  }
  headers.Authorization = `GCS v1HMAC:${SHOP_KEY_ID}:${mac(SHOP_SECRET, signed.join("\n"))}`;
  const answer = await fetch(tender + path, { method, headers, body, signal: AbortSignal.timeout(10_000) });
  // The body says what is wrong.
  if (!answer.ok) throw Object.assign(new Error(`${answer.status} ${await answer.text()}`), { status: answer.status });
  const text = await answer.text();
  return text ? JSON.parse(text) : null; // 204 has no body
};

export const putBasket = (id, basket) => call("PUT", `/v2/${SHOP_MERCHANT}/baskets/${id}`, basket);
export const order = async (id) => (await call("GET", `/v2/${SHOP_MERCHANT}/baskets/${id}`)).order ?? null;
export const isFromTender = (signature, body, webhookSecret) => {
  const [sent, own] = [signature, mac(webhookSecret, body)].map((text) => Buffer.from(text));
  return sent.length === own.length && timingSafeEqual(sent, own);
};

// put BASKET <basket.json | order BASKET | verify SIGNATURE <body
const [verb, name] = process.argv.slice(2);
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
