// A reader with two faults that the source of the npm package @basis-theory/apple-pay-js has, as `tender token judge` starts one:
//
//     tender token judge -- node Tests/Judges/peers/no-tag.mjs
//
// Its EcDecryptionStrategy and RsaDecryptionStrategy (commit 4b2ade355c7a8cec267b4357c52982168c3ac845) never read `signature`, and do
// not look at what `decipher.finish()` of node-forge returns, which is whether the tag is right. What follows the second closing brace
// of the decrypted text is dropped. The package cannot be had here; this program is no copy of it, and has its two faults and no other.
import { constants, createDecipheriv, createHash, createPrivateKey, createPublicKey, diffieHellman, privateDecrypt } from "node:crypto";
import { readFileSync } from "node:fs";

const call = JSON.parse(readFileSync(0, "utf8"));
const key = createPrivateKey(call.privateKey);

function contentKey(header) {
  if (key.asymmetricKeyType === "rsa") {
    const padding = constants.RSA_PKCS1_OAEP_PADDING;
    return privateDecrypt({ key, padding, oaepHash: "sha256" }, Buffer.from(header.wrappedKey, "base64"));
  }
  const publicKey = createPublicKey({ key: Buffer.from(header.ephemeralPublicKey, "base64"), format: "der", type: "spki" });
  const secret = diffieHellman({ privateKey: key, publicKey });
  const party = createHash("sha256").update(call.merchantIdentifier).digest();
  const fixed = Buffer.from("\x00\x00\x00\x01", "latin1");
  return createHash("sha256").update(fixed).update(secret).update("\x0did-aes256-GCMApple").update(party).digest();
}

try {
  const document = JSON.parse(Buffer.from(call.token, "base64").toString("utf8"));
  const token = document.paymentData ?? document;
  const data = Buffer.from(token.data, "base64");
  const aes = contentKey(token.header);
  // Without final() nobody compares the tag.
  const decipher = createDecipheriv(`aes-${aes.length * 8}-gcm`, aes, Buffer.alloc(16));
  const text = decipher.update(data.subarray(0, -16)).toString("utf8");
  const found = key.asymmetricKeyType === "rsa" ? text : /^[^}]+\}[^}]*\}/u.exec(text)[0];
  JSON.parse(found);
  console.log(found);
} catch {
  process.exitCode = 1;
}
