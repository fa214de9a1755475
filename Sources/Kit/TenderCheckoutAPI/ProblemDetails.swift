public import TenderSheet

/// A refusal of `/applepay/*`: RFC 9457, with members of ours.
public struct ProblemDetails: Sendable, Hashable, Codable {
  /// The status's own phrase.
  public let title: String
  /// Of HTTP.
  public let status: Int
  /// Stable; listed in `docs/errors.md`.
  public let code: String
  /// For the integrator: what is wrong and what to do.
  public let detail: String
  /// The property of the request that is at fault.
  public let field: String?
  /// Ready for `ApplePayError` and `PKPaymentError`, gravest first.
  public let errors: [SheetError]
  /// What to quote when asking for help.
  public let requestId: String

  /// A refusal, as the server tells it.
  public init(
    title: String, status: Int, code: String, detail: String, field: String?, errors: [SheetError], requestId: String
  ) {
    self.title = title
    self.status = status
    self.code = code
    self.detail = detail
    self.field = field
    self.errors = errors
    self.requestId = requestId
  }
}
