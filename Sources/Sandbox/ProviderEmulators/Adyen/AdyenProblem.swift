import StrictJSON

/// Why the emulated Adyen rejects a call: Adyen's `ServiceError`.
struct AdyenProblem: Error, Sendable, Hashable {
  enum Kind: String, Sendable {
    case validation, security, internalError = "internal"
  }

  let status: Int
  /// Adyen's number of the error, as text.
  let code: String
  let message: String
  let kind: Kind
  /// Whether the header `transient-error: true` says that nothing was done and the same key may be used again.
  var isTransient = false

  init(_ status: Int, _ code: String, _ message: String, _ kind: Kind = .validation, isTransient: Bool = false) {
    self.status = status
    self.code = code
    self.message = message
    self.kind = kind
    self.isTransient = isTransient
  }

  var json: JSONValue {
    [
      "status": .integer(Int64(status)), "errorCode": .string(code), "message": .string(message),
      "errorType": .string(kind.rawValue),
    ]
  }

  static let unauthorized = AdyenProblem(401, "000", "HTTP Status Response - Unauthorized", .security)
  static let otherAccount = AdyenProblem(403, "901", "Invalid Merchant Account", .security)
  static let cardNumber = AdyenProblem(422, "101", "Invalid card number")
  static let expiry = AdyenProblem(422, "129", "Expiry Date Invalid")
  static let amount = AdyenProblem(422, "137", "Invalid amount specified")
  static let currency = AdyenProblem(422, "138", "Unsupported currency specified")
  static let payment = AdyenProblem(422, "167", "Original pspReference required for this operation")
  static let keyUsed = AdyenProblem(422, "704", "request already processed or in progress")
  static let inProgress = AdyenProblem(422, "704", "request already processed or in progress", isTransient: true)

  static let internalError = AdyenProblem(500, "000", "Internal error", .internalError)
  static let tooLong = AdyenProblem(413, "702", "the body is longer than 64 KiB")

  static func required(_ field: String) -> AdyenProblem {
    AdyenProblem(422, field == "reference" ? "130" : "100", "Required field '\(field)' is not provided.")
  }

  static func notReadable(_ reason: String) -> AdyenProblem {
    AdyenProblem(400, "702", "Unexpected input: \(reason)")
  }
}
