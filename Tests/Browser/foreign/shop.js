// A shop's page as pages for Safari are written: Apple Pay JS and nothing of Tender's. Prices are JavaScript numbers, added
// up as the engine adds them, and go into the request as they are.

const cart = [];

function total() {
  return cart.reduce(function (sum, item) {
    return sum + item.price;
  }, 0);
}

function summary() {
  return { label: "Sample shop", amount: total() };
}

function post(path, body) {
  return fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  }).then(function (response) {
    if (!response.ok) throw new Error("The server answered " + response.status);
    return response.json();
  });
}

function pay() {
  const session = new ApplePaySession(3, {
    countryCode: "US",
    currencyCode: "USD",
    supportedNetworks: ["visa", "masterCard", "amex", "discover"],
    merchantCapabilities: ["supports3DS"],
    lineItems: cart.map(function (item) {
      return { label: item.label, amount: item.price };
    }),
    total: summary(),
  });

  session.onvalidatemerchant = function (event) {
    post("/validate", { url: event.validationURL }).then(function (merchantSession) {
      session.completeMerchantValidation(merchantSession);
    });
  };

  session.onpaymentmethodselected = function () {
    session.completePaymentMethodSelection({ newTotal: summary() });
  };

  session.onpaymentauthorized = function (event) {
    post("/pay", { token: event.payment.token, price: total() }).then(
      function () {
        document.getElementById("result").textContent = "Thank you";
        session.completePayment({ status: ApplePaySession.STATUS_SUCCESS });
      },
      function () {
        session.completePayment({ status: ApplePaySession.STATUS_FAILURE });
      },
    );
  };

  session.begin();
}

if (window.ApplePaySession && ApplePaySession.canMakePayments()) {
  document.getElementById("buy").addEventListener("click", pay);
}
