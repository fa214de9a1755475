// A straightforward verifier of payment tokens in Node: Apple's steps 1 to 4 with node:crypto and a small reader of DER and BER, as a
// careful engineer writes it in a day. It keeps nothing between tokens. Two uses:
//
//     node Benchmarks/straightforward.mjs VECTORS.json [SECONDS]            how many tokens a second: `make bench`
//     tender token judge -- node Benchmarks/straightforward.mjs             what it accepts wrongly
import { X509Certificate, constants, createDecipheriv, createHash, createPrivateKey, createPublicKey, diffieHellman, privateDecrypt, verify } from "node:crypto";
import { readFileSync } from "node:fs";

const SIGNER = Buffer.from("2a864886f76364061d", "hex");
const INTERMEDIATE = Buffer.from("2a864886f7636406020e", "hex");
const MESSAGE_DIGEST = "2a864886f70d010904";
const SIGNING_TIME = "2a864886f70d010905";
const WINDOW = 300_000;

function need(condition, why) {
  if (!condition) throw new Error(why);
}

/** The element at an offset, with the elements in it where it is constructed. */
function read(bytes, start = 0) {
  need(start + 2 <= bytes.length, "cut off");
  const tag = bytes[start];
  let [length, position] = [bytes[start + 1], start + 2];
  if (length === 0x80) {
    const children = [];
    while (bytes[position] !== 0 || bytes[position + 1] !== 0) {
      children.push(read(bytes, position));
      position = children.at(-1).end;
    }
    return { tag, children, content: bytes.subarray(start + 2, position), encoding: bytes.subarray(start, position + 2), end: position + 2 };
  }
  if (length > 0x80) {
    const count = length - 0x80;
    length = bytes.readUIntBE(position, count);
    position += count;
  }
  const end = position + length;
  need(end <= bytes.length, "a length beyond the end");
  const element = { tag, content: bytes.subarray(position, end), encoding: bytes.subarray(start, end), end, children: [] };
  while (tag & 0x20 && position < end) {
    element.children.push(read(bytes, position));
    position = element.children.at(-1).end;
  }
  return element;
}

/** Whether a certificate has an extension. */
function has(certificate, identifier) {
  const extensions = read(certificate.raw).children[0].children.find((field) => field.tag === 0xa3);
  return extensions?.children[0].children.some((extension) => extension.children[0].content.equals(identifier)) ?? false;
}

function checkCertificates(raws, root, time) {
  const certificates = raws.map((raw) => new X509Certificate(raw));
  const signer = certificates.find((certificate) => has(certificate, SIGNER));
  const intermediate = certificates.find((certificate) => has(certificate, INTERMEDIATE));
  need(signer && intermediate && signer !== intermediate, "the markers");
  need(intermediate.ca && !signer.ca, "the authorities");
  need(intermediate.checkIssued(root) && intermediate.verify(root.publicKey), "the intermediate");
  need(signer.checkIssued(intermediate) && signer.verify(intermediate.publicKey), "the signer");
  for (const certificate of [signer, intermediate]) {
    need(new Date(certificate.validFrom) <= time && time <= new Date(certificate.validTo), "not valid then");
  }
  return signer;
}

function signingTime(attribute) {
  const text = attribute.children[1].children[0].content.toString("latin1");
  need(/^\d{12}Z$/u.test(text), "a signing time");
  const [year, month, day, hour, minute, second] = text.match(/\d\d/gu).map(Number);
  return new Date(Date.UTC(2000 + year, month - 1, day, hour, minute, second));
}

function checkSignature(token, material, root, arrival) {
  const signed = read(Buffer.from(token.signature, "base64")).children[1].children[0];
  const raws = signed.children.find((field) => field.tag === 0xa0).children.map((certificate) => certificate.encoding);
  const signers = signed.children.at(-1).children;
  need(signers.length === 1, "one signer");
  const fields = signers[0].children;
  const attributes = fields.find((field) => field.tag === 0xa0);
  const named = new Map(attributes.children.map((attribute) => [attribute.children[0].content.toString("hex"), attribute]));
  const content = [material, Buffer.from(token.data, "base64"), Buffer.from(token.header.transactionId, "hex")];
  if (token.header.applicationData) content.push(Buffer.from(token.header.applicationData, "hex"));
  const digest = createHash("sha256").update(Buffer.concat(content)).digest();
  need(named.get(MESSAGE_DIGEST)?.children[1].children[0].content.equals(digest), "the digest");
  const time = signingTime(named.get(SIGNING_TIME));
  const signer = checkCertificates(raws, root, time);
  const covered = Buffer.concat([Buffer.from([0x31]), attributes.encoding.subarray(1)]);
  need(verify("sha256", covered, signer.publicKey, fields.find((field) => field.tag === 4).content), "the signature");
  need(Math.abs(arrival - time) <= WINDOW, "the window");
}

function contentKey(material, key, merchant) {
  if (key.asymmetricKeyType === "rsa") {
    return privateDecrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha256" }, material);
  }
  const publicKey = createPublicKey({ key: material, format: "der", type: "spki" });
  const secret = diffieHellman({ privateKey: key, publicKey });
  const party = createHash("sha256").update(merchant).digest();
  const counter = Buffer.from([0, 0, 0, 1]);
  return createHash("sha256").update(counter).update(secret).update("\x0did-aes256-GCMApple").update(party).digest();
}

/** What is inside a payment token. */
export function open(text, { key, hash, root, merchant }, arrival) {
  const document = JSON.parse(text);
  const token = document.paymentData ?? document;
  const isRSA = token.version === "RSA_v1";
  need(isRSA || token.version === "EC_v1", "the version");
  const material = Buffer.from(isRSA ? token.header.wrappedKey : token.header.ephemeralPublicKey, "base64");
  checkSignature(token, material, root, arrival);
  need(token.header.publicKeyHash === hash, "another key");
  const data = Buffer.from(token.data, "base64");
  const aes = contentKey(material, key, merchant);
  const decipher = createDecipheriv(`aes-${aes.length * 8}-gcm`, aes, Buffer.alloc(16));
  decipher.setAuthTag(data.subarray(-16));
  return JSON.parse(Buffer.concat([decipher.update(data.subarray(0, -16)), decipher.final()]).toString("utf8"));
}

function keysOf({ privateKey, root, merchantIdentifier }) {
  const key = createPrivateKey(privateKey);
  const info = createPublicKey(key).export({ type: "spki", format: "der" });
  const hash = createHash("sha256").update(info).digest("base64");
  return { key, hash, root: new X509Certificate(root), merchant: merchantIdentifier };
}

function measure(file, seconds) {
  const group = JSON.parse(readFileSync(file, "utf8")).testGroups.find((found) => found.version === "EC_v1");
  const vector = group.tests.find((test) => test.name === "ec-v1");
  const [text, keys, arrival] = [Buffer.from(vector.token, "base64").toString("utf8"), keysOf(group), new Date(vector.at)];
  let best = 0;
  for (const end = Date.now() + seconds * 1000; Date.now() < end; ) {
    const start = process.hrtime.bigint();
    for (let index = 0; index < 50; index++) need(open(text, keys, arrival).transactionAmount === 1250, "another amount");
    best = Math.max(best, 50 / (Number(process.hrtime.bigint() - start) / 1e9));
  }
  console.log(`bench: token.ec.node.rate ${best.toFixed(1)} tokens/s/core`);
  console.log(`bench: token.ec.node.memory ${(process.memoryUsage().rss / 1e6).toFixed(1)} MB`);
}

if (process.argv.length > 2) {
  measure(process.argv[2], Number(process.argv[3] ?? 5));
} else {
  const call = JSON.parse(readFileSync(0, "utf8"));
  try {
    const text = Buffer.from(call.token, "base64").toString("utf8");
    console.log(JSON.stringify(open(text, keysOf(call), new Date(call.at))));
  } catch {
    process.exitCode = 1;
  }
}
