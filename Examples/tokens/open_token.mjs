// node open_token.mjs SOCKET TOKEN-FILE AMOUNT CURRENCY [APPLICATION-DATA [AT]]
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { createInterface } from "node:readline";

const [path, file, amount, currency, data, at] = process.argv.slice(2);
const call = {
  call: "decrypt",
  spend: true,
  // The body of the request, unchanged.
  token: readFileSync(file).toString("base64"),
  confirm: {
    amount: Number(amount),
    currency,
    applicationDataHash: data ? createHash("sha256").update(data).digest("hex") : null,
  },
  at, // Only for a token of a test: without it the token must have arrived now.
};

const connection = connect(path);
connection.write(`${JSON.stringify(call)}\n`);
for await (const line of createInterface({ input: connection })) {
  const answer = JSON.parse(line);
  if (answer.verified) {
    const card = answer.paymentData;
    const ending = card.applicationPrimaryAccountNumber.slice(-4);
    console.log(`paid ${answer.amount} ${answer.currency}, card ${ending}, until ${card.applicationExpirationDate}`);
  } else {
    console.log(`refused: ${answer.code}: ${answer.advice}`);
    process.exitCode = 1;
  }
  connection.end();
}
