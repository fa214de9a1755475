import HTTPTypes

/// Why a request is refused, as the page or the command line says it.
package struct OfficeRefusal: Error, Sendable, CustomStringConvertible {
  let status: HTTPResponse.Status
  /// For people: what is wrong, and what to do.
  package let reason: String
  /// Seconds.
  var retryAfter: Int?
  package var description: String { reason }

  static func badRequest(_ reason: String) -> OfficeRefusal { OfficeRefusal(status: .badRequest, reason: reason) }
  static func conflict(_ reason: String) -> OfficeRefusal { OfficeRefusal(status: .conflict, reason: reason) }
  static func forbidden(_ reason: String) -> OfficeRefusal { OfficeRefusal(status: .forbidden, reason: reason) }
  static func notFound(_ reason: String) -> OfficeRefusal { OfficeRefusal(status: .notFound, reason: reason) }

  /// What a use case of the server's refused.
  package static func refused(_ reason: String) -> OfficeRefusal { conflict(reason) }

  /// One answer for what is not there and for what is another merchant's.
  static let nothing = notFound("There is nothing at this address.")
}
