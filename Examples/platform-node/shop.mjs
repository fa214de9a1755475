// A shop's back end on Tender's platform API, with Node alone: pays, captures, refunds, and checks a webhook and a guest
// token. While `make demo` runs: node Examples/platform-node/shop.mjs. docs/platform.md explains each step.

import { createHmac, createPublicKey, randomUUID, timingSafeEqual, verify } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";

const port = Number(process.env.SHOP_TENDER_PORT ?? 8400);
const server = process.env.SHOP_TENDER_URL?.replace(/\/$/, "") ?? `http://localhost:${port}`;
const merchant = process.env.SHOP_MERCHANT ?? "harbour";
const folder = process.env.SHOP_MERCHANT_FOLDER ?? `.tender/demo-${port}/merchants/${merchant}`;

const secret = (kind) => {
  const file = readdirSync(`${folder}/${kind}`).filter((name) => name.endsWith(".secret")).sort().at(-1);
  return { id: file.slice(0, -".secret".length), text: readFileSync(`${folder}/${kind}/${file}`, "utf8").trim() };
};
const mac = (text, data) => createHmac("sha256", text).update(data).digest("base64");

// Worldline's v1HMAC. An idempotence key makes a repeated call one.
export const call = async (method, path, document, key) => {
  const { id, text } = secret("api-keys");
  const [body, date, target] = [document && JSON.stringify(document), new Date().toUTCString(), `/v2/${merchant}${path}`];
  const [type, header] = [body ? "application/json" : "", key ? `x-gcs-idempotence-key:${key}\n` : ""];
  const headers = { Date: date, Authorization: "" };
  headers.Authorization = `GCS v1HMAC:${id}:${mac(text, `${method}\n${type}\n${date}\n${header}${target}\n`)}`;
  if (type) headers["Content-Type"] = type;
  if (key) headers["X-GCS-Idempotence-Key"] = key;
  const answer = await fetch(server + target, { method, headers, body });
  return { status: answer.status, body: answer.status === 204 ? null : await answer.json() };
};

export const pay = (reference, amount, paymentData, webhook) =>
  call("POST", "/payments", {
    order: { amountOfMoney: { amount, currencyCode: "EUR" }, references: { merchantReference: reference } },
    feedbacks: webhook && { webhooksUrls: [webhook] },
    mobilePaymentMethodSpecificInput: {
      paymentProductId: 302, authorizationMode: "PRE_AUTHORIZATION", requiresApproval: true,
      encryptedPaymentData: JSON.stringify(paymentData),
    },
  }, `pay-${reference}`);
export const capture = (payment, amount) =>
  call("POST", `/payments/${payment}/capture`, { amount, isFinal: true }, `capture-${payment.split("_")[0]}`.slice(0, 40));
export const refund = (payment, amount) =>
  call("POST", `/payments/${payment}/refund`, { amountOfMoney: { amount, currencyCode: "EUR" } },
    `refund-${payment.split("_")[0]}`.slice(0, 40));

export const isFromTender = (signature, body) => {
  const [sent, own] = [signature, mac(secret("webhook-keys").text, body)].map((text) => Buffer.from(text));
  return sent.length === own.length && timingSafeEqual(sent, own);
};

export const checkedGuest = async (token) => {
  const [head, claims, signature] = token.split(".").map((part) => Buffer.from(part, "base64url"));
  const { keys } = await (await fetch(`${server}/applepay/jwks.json`)).json();
  const key = createPublicKey({ key: keys.find(({ kid }) => kid === JSON.parse(head).kid), format: "jwk" });
  const signed = Buffer.from(token.slice(0, token.lastIndexOf(".")));
  if (!verify("sha256", signed, { key, dsaEncoding: "ieee-p1363" }, signature)) throw new Error("not from Tender");
  const guest = JSON.parse(claims);
  if (guest.exp * 1000 < Date.now()) throw new Error("the guest token has expired");
  return guest;
};

// The shopper: the page and the device, which in a real shop are Safari and an iPhone.
const post = async (url, document, headers) =>
  (await fetch(url, {
    method: document ? "POST" : "GET", headers: { "Content-Type": "application/json", ...headers },
    body: document && JSON.stringify(document),
  })).json();
const device = `http://localhost:${port + 2}/device/tokens`;
const token = async (amount, cardId = "visa-debit") =>
  (await post(device, { cardId, amount, currency: "EUR", publicKeyOf: `merchant.test.${merchant}` })).paymentData;
const paysBasket = async (basketId) => {
  const page = { Origin: `http://localhost:${port + 1}` };
  const { request, quoteId } = await post(`${server}/applepay/basket/${basketId}`, undefined, page);
  const merchantSession = await post(`${server}/applepay/validate`, { basketId }, page);
  const { total, currencyCode: currency, applicationData } = request;
  const paid = await post(device, { cardId: "visa-debit", merchantSession, amount: total.amount, currency, applicationData });
  const shippingContact = {
    givenName: "Aoife", familyName: "Byrne", phoneNumber: "+353 1 555 0100", emailAddress: "aoife@example.com",
  };
  return post(`${server}/applepay/payment`, { basketId, quoteId, token: paid, shippingContact }, page);
};

const say = (...words) => console.log(...words);
const receiver = createServer();
receiver.listen(0, "127.0.0.1");
await once(receiver, "listening");

const basket = randomUUID().replaceAll("-", "");
await call("PUT", `/baskets/${basket}`, {
  currencyCode: "EUR", countryCode: "IE", merchantReference: "HK-1001", businessName: "Harbour Kitchen",
  serviceTypes: ["collection"], items: [{ id: "1", label: "Fish", unitAmount: 1990, quantity: 1 }],
});
const guest = await checkedGuest((await paysBasket(basket)).guestToken);
say("basket paid: order", guest.sub, "of guest", guest.guest);

const reference = `HK-${randomUUID().slice(0, 8)}`;
const event = once(receiver, "request").then(async ([request, response]) => {
  const body = Buffer.concat(await request.toArray());
  const isSigned = isFromTender(request.headers["x-gcs-signature"] ?? "", body);
  response.writeHead(isSigned ? 204 : 403).end();
  if (!isSigned) throw new Error("a webhook that Tender did not sign");
  return JSON.parse(body);
});
const paid = await pay(reference, 2500, await token("25.00"), `http://127.0.0.1:${receiver.address().port}/`);
const { id, status } = paid.body.payment;
say("payment:", id, status);
say("webhook:", (await event).type);
say("capture:", (await capture(id, 2000)).body.status);
say("refund:", (await refund(id, 500)).body.status);
say("kept:", (await call("GET", `/payments/${id}`)).body.paymentOutput.acquiredAmount.amount, "EUR");
const declined = await pay(`${reference}-2`, 2500, await token("25.00", "visa-insufficient-funds"));
say("declined:", declined.status, declined.body.errors[0].errorCode);
receiver.close();
receiver.closeAllConnections();
