// Encrypts Apple Pay's payment token for the platform API: a JWE (RFC 7516).

const bytes = (text) => new TextEncoder().encode(text);
const random = (count) => crypto.getRandomValues(new Uint8Array(count));
const hex = (data) => [...data].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const binary = (data) => String.fromCharCode(...new Uint8Array(data));
const base64url = (data) => btoa(binary(data)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const key = (form, data, algorithm, use) => crypto.subtle.importKey(form, data, algorithm, false, [use]);
const joined = (...parts) => new Blob(parts).arrayBuffer();

const publicKey = async ({ clientApiUrl, clientSessionId, customerId }) => {
  const server = clientApiUrl.replace(/(\/client)?\/?$/, "");
  const response = await fetch(`${server}/client/v1/${customerId}/crypto/publickey`, {
    headers: { Authorization: `GCS v1Client:${clientSessionId}` },
    credentials: "omit",
    cache: "no-store",
  });
  if (!response.ok) throw new Error(`The server gives no public key: HTTP ${response.status}`);
  return response.json();
};

/** Whatever a page makes of `toJSON`. */
const text = (value) =>
  JSON.stringify(value, function (key) {
    return this[key];
  });

const encrypt = async (plaintext, { keyId, publicKey: spki }) => {
  const { subtle } = crypto;
  const contentKey = random(64);
  const iv = random(16);
  const der = Uint8Array.from(atob(spki), (character) => character.charCodeAt(0));
  const rsa = await key("spki", der, { name: "RSA-OAEP", hash: "SHA-1" }, "encrypt");
  const aes = await key("raw", contentKey.slice(32), "AES-CBC", "encrypt");
  const mac = await key("raw", contentKey.slice(0, 32), { name: "HMAC", hash: "SHA-512" }, "sign");
  const header = base64url(bytes(text({ alg: "RSA-OAEP", enc: "A256CBC-HS512", kid: keyId })));
  const wrapped = await subtle.encrypt({ name: "RSA-OAEP" }, rsa, contentKey);
  const content = await subtle.encrypt({ name: "AES-CBC", iv }, aes, bytes(plaintext));
  const bits = new DataView(new ArrayBuffer(8));
  bits.setUint32(4, 8 * header.length);
  const tag = await subtle.sign("HMAC", mac, await joined(bytes(header), iv, content, bits));
  return [header, ...[wrapped, iv, content, tag.slice(0, 32)].map(base64url)].join(".");
};

export const encryptCustomerInput = async (session, { paymentData, transactionIdentifier }) => {
  const paymentValues = [{ key: "encryptedPaymentData", value: text(paymentData) }];
  if (transactionIdentifier) paymentValues.push({ key: "transactionId", value: transactionIdentifier });
  const { clientSessionId } = session;
  const input = { clientSessionId, nonce: hex(random(16)), paymentProductId: 302, paymentValues };
  return encrypt(text(input), await publicKey(session));
};
