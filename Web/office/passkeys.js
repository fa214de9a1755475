// Passkeys: asks the office what to ask, has the browser ask, and sends the answer as a form, so that what comes of it is
// an ordinary page.

const form = document.getElementById("passkey");
// Itself, or what it is folded into.
const place = form?.closest("[hidden]");

const decoded = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.codePointAt(0));

const encoded = (buffer) =>
  btoa(Array.from(new Uint8Array(buffer), (byte) => String.fromCodePoint(byte)).join(""))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const say = (text) => {
  const line = form.querySelector("p.error");
  line.textContent = text;
  line.hidden = !text;
};

/** What to ask; says why not where the office refuses. */
const options = async () => {
  const response = await fetch(form.dataset.options, {
    method: "POST",
    body: new URLSearchParams(new FormData(form)),
    cache: "no-store",
  });
  const isJSON = response.headers.get("Content-Type")?.startsWith("application/json");
  const answer = isJSON ? await response.json() : { reason: "Load the page again." };
  if (!response.ok) throw new Error(answer.reason);
  return answer;
};

const create = async ({ challenge, user, excludeCredentials, ...rest }) => {
  const { response } = await navigator.credentials.create({
    publicKey: {
      ...rest,
      challenge: decoded(challenge),
      user: { ...user, id: decoded(user.id) },
      excludeCredentials: excludeCredentials.map(({ type, id }) => ({ type, id: decoded(id) })),
    },
  });
  return { clientData: response.clientDataJSON, attestation: response.attestationObject };
};

const get = async ({ challenge, ...rest }) => {
  const { rawId, response } = await navigator.credentials.get({
    publicKey: { ...rest, challenge: decoded(challenge) },
  });
  return {
    credential: rawId,
    clientData: response.clientDataJSON,
    authenticatorData: response.authenticatorData,
    signature: response.signature,
    userHandle: response.userHandle,
  };
};

const send = (answer) => {
  for (const [name, buffer] of Object.entries(answer)) {
    const field = document.createElement("input");
    Object.assign(field, { type: "hidden", name, value: encoded(buffer) });
    form.append(field);
  }
  form.submit();
};

const REASONS = {
  NotAllowedError: "Nothing was chosen, or it took too long. Try again.",
  InvalidStateError: "This passkey is known here already.",
  SecurityError: "The browser has no passkeys at this address of the office.",
};

const ask = async () => {
  say("");
  try {
    const asked = await options();
    send(await (asked.user ? create(asked) : get(asked)));
  } catch (error) {
    say(REASONS[error.name] ?? error.message);
  }
};

if (form && window.PublicKeyCredential) {
  place.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
  });
}
