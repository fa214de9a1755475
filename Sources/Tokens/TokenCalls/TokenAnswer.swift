package import ApplePayToken
package import StrictJSON
package import TenderPayments

/// The answer about a payment token as a JSON object: what `tender token … --json` prints, what the socket answers, and
/// what the C library gives.
package enum TokenAnswer {
  /// - Parameter revealed: whether the account number and the cryptogram stand in it.
  package static func document(_ token: CheckedToken, revealed: Bool = true) -> JSONObject {
    document(token.verified, token.paymentData, revealed: revealed)
  }

  package static func document(
    _ verified: VerifiedPaymentToken, _ paymentData: PaymentData? = nil, revealed: Bool = false,
    novelties: [String] = []
  ) -> JSONObject {
    var members: JSONObject = ["verified": true]
    members["signingTime"] = .string(verified.signingTime.description)
    members["environment"] = .string(verified.environment.rawValue)
    describe(verified.token, in: &members)
    let unchecked = paymentData == nil ? VerifiedPaymentToken.unchecked : OpenedPaymentToken.unchecked
    members["unchecked"] = .array(unchecked.map { .string($0.rawValue) })
    if !novelties.isEmpty { members["novelties"] = .array(novelties.map(JSONValue.string)) }
    guard let paymentData else { return members }
    members["amount"] = .integer(paymentData.amount.minorUnits)
    members["currency"] = .string(paymentData.currency.code)
    members["paymentData"] = revealed ? paymentData.revealed : paymentData.masked
    return members
  }

  package static func document(_ inspection: TokenInspection) -> JSONObject {
    var members = JSONObject()
    describe(inspection.token, in: &members)
    members["dataBytes"] = .integer(Int64(inspection.token.data.count))
    members["signatureBytes"] = .integer(Int64(inspection.token.signature.count))
    members["signingTime"] = inspection.signingTime.map { .string($0.description) }
    members["wireForm"] = inspection.wireForm.map { .string($0.description) }
    members["problem"] = inspection.problem.map { .string($0.reason) }
    members["certificates"] = .array(inspection.certificates.map(describe))
    return members
  }

  package static func document(_ refusal: PaymentTokenError) -> JSONObject {
    document(
      stage: refusal.stage.rawValue, refusal.code.rawValue, refusal.reason, refusal.field, refusal.advice)
  }

  /// The stage of a mistake in a call is `call`.
  package static func document(_ mistake: TokenCallError) -> JSONObject {
    document(stage: "call", mistake.code.rawValue, mistake.reason, mistake.field, mistake.advice)
  }

  private static func document(
    stage: String, _ code: String, _ reason: String, _ field: String?, _ advice: String
  ) -> JSONObject {
    var members: JSONObject = [
      "verified": false, "stage": .string(stage), "code": .string(code), "reason": .string(reason),
    ]
    members["field"] = field.map(JSONValue.string)
    members["advice"] = .string(advice)
    return members
  }

  private static func describe(_ token: EncryptedPaymentToken, in members: inout JSONObject) {
    members["version"] = .string(token.version.rawValue)
    members["publicKeyHash"] = .string(Base64.encode(token.publicKeyHash))
    members["transactionId"] = .string(Hex.encode(token.transactionID))
    members["applicationData"] = token.applicationDataHash.map { .string(Hex.encode($0)) }
  }

  private static func describe(_ certificate: TokenInspection.CertificateSummary) -> JSONValue {
    var members = JSONObject()
    members["commonName"] = certificate.commonName.map(JSONValue.string)
    members["serialNumber"] = .string(certificate.serialNumber)
    members["notBefore"] = .string(certificate.notBefore.description)
    members["notAfter"] = .string(certificate.notAfter.description)
    members["signerMarker"] = .bool(certificate.hasSignerMarker)
    members["intermediateMarker"] = .bool(certificate.hasIntermediateMarker)
    return .object(members)
  }
}
