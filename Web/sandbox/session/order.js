import { advise } from "./web-idl.js";

// What is signed, and what a paired device shows before.

/** What the Secure Element makes a payment token of. A pending total signs nothing. */
export const orderOf = (request, sums, card, merchantSession, sheetId) => ({
  cardId: card.id,
  merchantSession,
  sheetId, // a merchant session serves one sheet, however often its shopper has to try
  amount: sums.isPending ? "0" : sums.total.amount,
  currency: request.currencyCode,
  applicationData: applicationData(request.applicationData),
  ...agreementOf(request),
});

/** The payments to come that the shopper agrees to, for which a card may give a merchant token. */
const agreementOf = ({ recurringPaymentRequest, automaticReloadPaymentRequest, deferredPaymentRequest }) => {
  const agreement = recurringPaymentRequest ?? automaticReloadPaymentRequest ?? deferredPaymentRequest;
  if (!agreement) return {};
  const { paymentDescription: agreementText, tokenNotificationURL } = agreement;
  return { agreement: true, agreementText, tokenNotificationURL };
};

export const confirmationOf = (request, sums, card) => ({
  merchant: sums.total.label,
  amount: sums.isPending ? "" : sums.total.amount,
  currency: request.currencyCode,
  card: card.displayName,
  page: location.host,
});

// Application data that is not Base64 is ignored, as browsers do, though not without a word.
const applicationData = (text) => {
  try {
    return text && atob(text) ? text : undefined;
  } catch {
    advise("applicationData is not Base64 and is ignored.");
    return undefined;
  }
};
