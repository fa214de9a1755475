package import TenderPayments

/// The addresses of the pages.
package enum HostedPaths {
  /// Below it are the checkouts, by id.
  package static let pages = "/hosted"
  /// Scripts and styles.
  package static let files = "/hosted-files"
  /// Pictures of codes that take a checkout to a phone.
  package static let codes = "/hosted-codes"
  /// Where such a code leads.
  package static let arrivals = "/hosted-continue"

  package static func page(_ id: BasketID) -> String { "\(pages)/\(id.rawValue)" }
  static func code(_ code: String) -> String { "\(codes)/\(code).svg" }
  static func proceed(_ code: String) -> String { "\(arrivals)/\(code)" }
}
