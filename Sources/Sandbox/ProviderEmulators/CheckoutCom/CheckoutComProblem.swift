import StrictJSON

/// Why the emulated Checkout.com refuses a call. 401, 403 and 404 have no body.
struct CheckoutComProblem: Error, Sendable, Hashable {
  let status: Int
  let type: String
  let codes: [String]

  init(_ status: Int, _ type: String = "", _ codes: String...) {
    self.status = status
    self.type = type
    self.codes = codes
  }

  var json: JSONValue? {
    guard !codes.isEmpty else { return nil }
    return [
      "request_id": "sandbox", "error_type": .string(type), "error_codes": .array(codes.map(JSONValue.string)),
    ]
  }

  static let unauthorized = CheckoutComProblem(401)
  /// The payment is in a state in which this cannot be done.
  static let notAllowed = CheckoutComProblem(403)
  static let notFound = CheckoutComProblem(404)
  static let tooLong = CheckoutComProblem(413)
  /// Too many calls, or another one under this key is being processed.
  static let tooMany = CheckoutComProblem(429, "request_invalid", "too_many_requests")
  static let failed = CheckoutComProblem(500)

  static func invalid(_ code: String) -> CheckoutComProblem { CheckoutComProblem(422, "request_invalid", code) }
}
