extension PaymentTokenError.Code {
  /// What the integrator can do, in a sentence or two; `docs/errors.md` has the details.
  public var advice: String {
    switch self {
    case .notJSON: "Send the payment token as the JSON that the device gave, unchanged."
    case .doubleEncoded:
      "The payment token is JSON inside a string. Send the object itself: leave out one JSON.stringify, or decode "
        + "PKPaymentToken.paymentData before putting it into a document."
    case .notAPaymentToken: "Send event.payment.token, PKPaymentToken as JSON, or its paymentData object."
    case .emptyPaymentData:
      "Send a payment token. The iOS Simulator delivers empty paymentData: use a device with a sandbox account, or Tender's "
        + "sandbox."
    case .googlePayToken: "Send it to a provider that takes Google Pay. Tender takes Apple Pay's payment tokens alone."
    case .missingField, .wrongType: "Pass the payment token on unchanged, with every member the device gave."
    case .unknownVersion: "Only EC_v1 and RSA_v1 exist. Pass the version on as the device wrote it."
    case .wrongKeyMaterial: "EC_v1 has header.ephemeralPublicKey and RSA_v1 has header.wrappedKey, never both."
    case .badBase64: "Pass base64 on unchanged: standard alphabet, padded, without line breaks."
    case .base64URL:
      "This is the URL alphabet of base64 (- and _). Apple sends the standard one (+ and /): pass it on unchanged."
    case .plusAsSpace:
      "A form or a URL turned each + into a space. Send the payment token as JSON in the request's body, or encode it with "
        + "encodeURIComponent."
    case .badHex: "Pass hexadecimal members on unchanged."
    case .wrongLength: "Pass the member on whole: something cut or lengthened it."
    case .malformedSignature: "Pass signature on unchanged. If it is, this is not a signature of Apple's."
    case .certificateCount, .malformedCertificate, .signerNotFound, .intermediateNotFound:
      "Apple's signature carries the signer's certificate and its intermediate, each with Apple's marker, and at most the "
        + "root beside them. Refuse the payment."
    case .untrustedRoot:
      "The token is not signed by Apple, or belongs to another environment: a simulated token needs the sandbox's own root, "
        + "on the command line as --root."
    case .brokenChain, .unfitCertificate, .certificateNotValidThen:
      "The certificates do not lead to Apple's root. Refuse the payment."
    case .wrongEnvironment:
      "The token belongs to another environment. Compare the device's account with the configured environment."
    case .wrongSigner, .forbiddenAlgorithm, .malformedAttributes, .wrongContentType, .algorithmProtection,
      .invalidSignature:
      "The signature is not Apple's. Refuse the payment."
    case .wrongDigest:
      "The token was changed on its way, or put together from two. Pass it on unchanged; refuse the payment."
    case .malformedSigningTime: "The signature does not say when it was made. Refuse the payment."
    case .tooOld:
      "Send the token within five minutes of the shopper's consent. On the command line, `tender token verify --at` "
        + "verifies it at its own time."
    case .inTheFuture: "Set the server's clock by NTP. If it is right, refuse the payment."
    case .unreadableKey: "Give the private key as PEM: a P-256 key, or for RSA_v1 an RSA key of 2048 bits."
    case .encryptedKey: "Take the passphrase off first: openssl pkey -in key.pem -out plain.pem."
    case .notAPrivateKey:
      "Give the private key that the certificate's signing request was made with. Apple does not have it, and a "
        + "certificate or a public key cannot decrypt."
    case .pkcs12File: "Take the key out of it: openssl pkcs12 -in file.p12 -nocerts -nodes -out key.pem."
    case .unreadableCertificate, .unreadableRoot:
      "Give the one certificate that was issued, whole, and neither its request nor its key."
    case .identityCertificate:
      "This is the merchant identity certificate, for TLS to Apple. Decrypting needs the payment processing certificate and its key."
    case .keyCertificateMismatch: "Give the private key that the certificate's signing request was made with."
    case .noMerchantIdentifier:
      "Give the merchant identifier, as merchant.com.example.shop, or the payment processing certificate."
    case .merchantIdentifierIsHash:
      "This is the identifier's hash. Give the identifier itself, as merchant.com.example.shop, or the certificate."
    case .retiredKey:
      "The key was retired. If Apple still encrypts to it, add it again: it must be active until another one is."
    case .keyAgentUnavailable:
      "Start the key agent, and let it hold the merchant's keys. The payment token is good: send it again in time."
    case .unknownKey:
      "The token was encrypted to another payment processing certificate. Add the key of the one that is active in Apple's "
        + "portal, and keep the one before it until its tokens are gone."
    case .wrongKindOfKey:
      "EC_v1 needs the P-256 key of the payment processing certificate, and RSA_v1 the RSA key of the one for mainland "
        + "China. The RSA key of a merchant identity certificate opens neither."
    case .badEphemeralKey, .badWrappedKey: "The token's key material is not what Apple makes. Refuse the payment."
    case .tooShort: "Pass data on whole."
    case .tagMismatch:
      "The key is the right one, since its hash matched, so the merchant identifier is probably wrong: it goes into the key. "
        + "Give exactly the one the certificate was issued for."
    case .wrongKeyDerivation:
      "Whatever made this payment token derives the key wrongly. Apple does not: look for an emulator, and correct it."
    case .payloadNotJSON, .badPayload, .badAmount:
      "The decrypted data is not in Apple's format. Refuse the payment and report it."
    case .unknownCurrency: "The decrypted data names a currency that ISO 4217 does not have. Refuse the payment."
    case .unsupportedPaymentData:
      "The card paid with EMV data. Ask only for supports3DS, or hand the token on to a provider that takes EMV."
    case .tokenAlreadyUsed: "A payment token pays once. Ask the shopper for a new one."
    case .replayWindowFull:
      "Give the window more capacity, or keep token uses in a store with unique columns."
    case .merchantMismatch: "Open the payment token for the merchant whose order it pays."
    case .amountOffByPowerOfTen:
      "Compare the currency's decimals on both sides: the amounts differ by exactly a power of ten."
    case .amountMismatch, .currencyMismatch:
      "Charge what the payment sheet showed: the basket changed after the shopper agreed."
    case .applicationDataMissing, .applicationDataMismatch:
      "Put the basket's applicationData into the payment request; a token made for another basket does not pay this one."
    }
  }
}
