import HTTPTypes

/// Why a request is refused, as the page or the command line says it.
package struct OfficeRefusal: Error, Sendable, CustomStringConvertible {
  let status: HTTPResponse.Status
  /// For people: what is wrong, and what to do.
  package let reason: String
  /// Seconds.
  var retryAfter: Int?
  /// The field of the form at which its page shows the reason. Nil for the form as a whole.
  var field: String?
  /// What the field shows where nothing was typed.
  var proposal: String?
  /// Whether the form's idempotency key stands for something else that was asked for before, so that the form gets another.
  package var isKeySpent = false
  package var description: String { reason }

  static func badRequest(_ reason: String, at field: String? = nil) -> OfficeRefusal {
    OfficeRefusal(status: .badRequest, reason: reason, field: field)
  }
  static func conflict(_ reason: String, at field: String? = nil) -> OfficeRefusal {
    OfficeRefusal(status: .conflict, reason: reason, field: field)
  }
  static func forbidden(_ reason: String) -> OfficeRefusal { OfficeRefusal(status: .forbidden, reason: reason) }
  static func notFound(_ reason: String) -> OfficeRefusal { OfficeRefusal(status: .notFound, reason: reason) }

  /// What a use case of the server's refused.
  package static func refused(_ reason: String, at field: String? = nil) -> OfficeRefusal {
    conflict(reason, at: field)
  }

  /// One answer for what is not there and for what is another merchant's.
  static let nothing = notFound("There is nothing at this address.")
}
