import MerchantIdentity

/// What is wrong with the configuration, and what to write instead.
package struct ConfigurationError: Error, CustomStringConvertible, Sendable {
  package let key: String
  package let reason: String
  /// Where the setting is written: `tender.yaml:3`, `TENDER_PORT`, `--port`; nil where `key` is the place.
  package let place: String?
  /// Whether the server starts all the same.
  package let isWarning: Bool
  package var description: String { (place.map { $0 == key ? "" : "\($0): " } ?? "") + "\(key): \(reason)" }

  package init(_ key: String, _ reason: String, place: String? = nil, isWarning: Bool = false) {
    self.key = key
    self.reason = reason
    self.place = place
    self.isWarning = isWarning
  }

  /// Whether the file itself, as it was named, is not there: a mistake in the call, and not in the configuration.
  package var isMistakenCall: Bool { key == Self.call }
  static let call = "--config"
}

/// An error in an operator's words: without the file that is named beside it.
package enum ErrorWords {
  package static func of(_ error: any Error) -> String {
    switch error {
    case let error as MerchantIdentityError: error.reason
    case let error as ConfigurationError: error.description
    default: "\(error)"
    }
  }
}
