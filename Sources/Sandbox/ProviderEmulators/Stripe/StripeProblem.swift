import AcquirerSandbox
import StrictJSON

/// Why the emulated Stripe refuses a call: the `error` of its answer.
struct StripeProblem: Error, Sendable, Hashable {
  enum Kind: String, Sendable {
    case invalidRequest = "invalid_request_error"
    case card = "card_error"
    case idempotency = "idempotency_error"
    case api = "api_error"
  }

  let status: Int
  let kind: Kind
  let message: String
  var code: String?
  var declineCode: String?
  var parameter: String?
  /// What the call was about.
  var intent: JSONValue?
  var charge: String?

  init(
    _ status: Int, _ message: String, _ kind: Kind = .invalidRequest, code: String? = nil, parameter: String? = nil,
    declineCode: String? = nil, intent: JSONValue? = nil, charge: String? = nil
  ) {
    self.status = status
    self.message = message
    self.kind = kind
    self.code = code
    self.parameter = parameter
    self.declineCode = declineCode
    self.intent = intent
    self.charge = charge
  }

  var json: JSONValue {
    var error: JSONObject = ["type": .string(kind.rawValue), "message": .string(message)]
    error["code"] = code.map(JSONValue.string)
    error["decline_code"] = declineCode.map(JSONValue.string)
    error["param"] = parameter.map(JSONValue.string)
    error["charge"] = charge.map(JSONValue.string)
    error["payment_intent"] = intent
    return ["error": .object(error)]
  }

  static let unauthorized = StripeProblem(401, "Invalid API Key provided")
  static let forbidden = StripeProblem(403, "The provided key does not have the required permissions for this endpoint")
  static let tooMany = StripeProblem(429, "Too many requests", code: "rate_limit")
  static let internalError = StripeProblem(500, "An unknown error occurred", .api)
  static let tooLong = StripeProblem(413, "The request is too large")

  static let keyInUse = StripeProblem(
    409, "There is currently another in-progress request using this idempotency key", .idempotency,
    code: "idempotency_key_in_use")
  static let keyUsed = StripeProblem(
    400, "Keys for idempotent requests can only be used with the same parameters they were first used with",
    .idempotency)

  static func missing(_ parameter: String) -> StripeProblem {
    StripeProblem(400, "Missing required param: \(parameter).", code: "parameter_missing", parameter: parameter)
  }

  static func invalid(_ parameter: String, _ message: String, code: String? = nil) -> StripeProblem {
    StripeProblem(400, message, code: code, parameter: parameter)
  }

  static func unknown(_ name: String, _ id: String, parameter: String = "id", status: Int = 404) -> StripeProblem {
    StripeProblem(status, "No such \(name): '\(id)'", code: "resource_missing", parameter: parameter)
  }
}

extension ProviderReply {
  init(_ problem: StripeProblem) { self.init(problem.status, problem.json) }
}
