// Calls the client in JavaScript as lines of standard input say, and answers each with a line.
import { createInterface } from "node:readline";
import * as client from "../../../../Examples/back-end/tender-client.mjs";

for await (const line of createInterface({ input: process.stdin })) {
  const { call, arguments: given } = JSON.parse(line);
  let answer;
  try {
    answer = { answer: (await client[call](...given.map((one) => one ?? undefined))) ?? null };
  } catch (error) {
    const { status, code, said, field = null, errorId = null, message: words } = error;
    answer = error instanceof client.TenderError
      ? { refusal: { status, code, said, field, errorId, words } }
      : { lost: String(error) };
  }
  console.log(JSON.stringify(answer));
}
