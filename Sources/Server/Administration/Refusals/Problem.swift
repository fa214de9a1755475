package import HTTPTypes
package import TenderSheet

/// A refusal on its way out: RFC 9457 problem details with a stable code.
package struct Problem: Error, Sendable {
  package let status: HTTPResponse.Status
  package let code: String
  package var detail: String
  /// The property of the request that is at fault.
  package var field: String?
  /// Errors that belong into the payment sheet, on their field.
  package var sheetErrors: [SheetError] = []
  /// Seconds.
  package var retryAfter: Int?
  /// The methods that the address takes, where the refused request has another one.
  package var allow: String?

  package init(
    _ status: HTTPResponse.Status, _ code: String, _ detail: String, field: String? = nil,
    sheetErrors: [SheetError] = [], retryAfter: Int? = nil
  ) {
    self.status = status
    self.code = code
    self.detail = detail
    self.field = field
    self.sheetErrors = sheetErrors
    self.retryAfter = retryAfter
  }
}

extension Problem: CustomStringConvertible {
  package var description: String { detail }
}
