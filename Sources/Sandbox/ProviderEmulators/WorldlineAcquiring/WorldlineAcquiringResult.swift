import StrictJSON

/// The response code of an operation, and the fields that come with it.
///
/// Numbers are those of ISO 8583 without leading zeros. Source: Worldline's documentation, *Response handling*.
struct WorldlineAcquiringResult: Sendable, Hashable {
  let code: String
  var category: String {
    switch code {
    case "0", "7204": "APPROVED"
    case "10": "PARTIALLY_APPROVED"
    default: "DECLINED"
    }
  }
  var isApproved: Bool { category != "DECLINED" }

  static let approved = WorldlineAcquiringResult(code: "0")
  static let partlyApproved = WorldlineAcquiringResult(code: "10")
  /// A technical reversal of an operation that is not known.
  static let stored = WorldlineAcquiringResult(code: "7204")
  /// More than there is.
  static let wrongAmount = WorldlineAcquiringResult(code: "13")

  init(code: String) { self.code = code }

  /// - Parameter responseCode: of ISO 8583, two digits.
  init(responseCode: String) {
    self.init(code: responseCode.hasPrefix("0") ? String(responseCode.dropFirst()) : responseCode)
  }

  /// What every answer to an operation has.
  func members(of operationID: String, by responder: String = "ISSUER") -> JSONObject {
    var members: JSONObject = [
      "operationId": .string(operationID), "responseCode": .string(code), "responseCodeCategory": .string(category),
      "responseCodeDescription": .string(description), "responder": .string(responder),
    ]
    if let advice { members["additionalResponseData"] = .object(advice) }
    members["retryAfter"] = Self.waits[code].map(JSONValue.string)
    return members
  }

  private var advice: JSONObject? {
    Self.advices[code].map {
      ["merchantAdviceCode": .string($0.code), "merchantAdviceCodeDescription": .string($0.text)]
    }
  }

  private var description: String { Self.descriptions[code] ?? "Declined" }

  private static let descriptions = [
    "0": "Accepted or completed successfully", "5": "Do not honor", "10": "Accepted for a part of the amount",
    "13": "Invalid amount", "14": "Invalid card number", "41": "Lost card", "51": "Insufficient funds",
    "54": "Expired card", "82": "Invalid cryptogram", "91": "Issuer not available",
    "7204": "Message stored, not forwarded: referencing unknown trx",
  ]

  private static let advices = [
    "41": (code: "03", text: "Do Not Try Again"), "51": (code: "24", text: "Retry after 1 hour"),
    "54": (code: "01", text: "New Account Information Available"), "91": (code: "02", text: "Try Again Later"),
  ]

  private static let waits = ["51": "PT1H", "91": "PT15M"]
}
