public import TenderSheet

/// A problem document of `/applepay/*`: RFC 9457 with extension members.
public struct ProblemDetails: Sendable, Hashable, Codable {
  /// The status's reason phrase.
  public let title: String
  /// The HTTP status.
  public let status: Int
  /// Stable; listed in `docs/errors.md`.
  public let code: String
  /// For the integrator: the error and how to correct it.
  public let detail: String
  /// The property of the request that is at fault.
  public let field: String?
  /// For `ApplePayError` and `PKPaymentError`, the most severe first.
  public let errors: [SheetError]
  /// The id to quote in a support request.
  public let requestId: String

  /// A problem document.
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
