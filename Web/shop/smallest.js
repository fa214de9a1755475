const button = document.querySelector("tender-apple-pay");
const say = (text) => {
  document.getElementById("outcome").textContent = text;
};

button.addEventListener("tender:authorized", ({ detail }) =>
  say(`Thank you. Your order is ${detail.receipt.merchantReference}.`),
);
button.addEventListener("tender:failed", ({ detail }) => say(detail.detail));
button.addEventListener("tender:cancelled", () => say("Nothing was charged."));
button.addEventListener("tender:unavailable", ({ detail }) => say(detail.reasons[0].detail));
