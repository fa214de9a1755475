/** What your server got from `POST /v2/{merchantId}/sessions`. */
export interface ClientSession {
  clientSessionId: string;
  customerId: string;
  /** `https://pay.example.com/client`. */
  clientApiUrl: string;
}

/** `event.payment.token` of Apple Pay JS. */
export interface PaymentToken {
  paymentData: unknown;
  transactionIdentifier?: string;
}

/**
 * Encrypts a payment token to the server's public key, so that your own server passes on what it cannot read.
 *
 * Needs a secure context, and a page on a registered domain of the merchant.
 *
 * @returns the `encryptedCustomerInput` of one `POST /v2/{merchantId}/payments`. Rejects with an `Error` when the server
 * gives no public key.
 */
export function encryptCustomerInput(session: ClientSession, token: PaymentToken): Promise<string>;
