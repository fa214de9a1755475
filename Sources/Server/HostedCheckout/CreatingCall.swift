import Crypto
package import TenderPayments

/// What names the call that makes a checkout: a repeat of it gets the checkout that the first one has made.
///
/// Only a call under its caller's own key has a name. Two equal calls without a key may be two shoppers'.
package struct CreatingCall: Sendable, Hashable {
  let name: String

  /// - Parameters:
  ///   - call: method and route: the same key under another call is another key.
  ///   - key: the caller's.
  package init(_ call: String, _ key: IdempotencyKey) {
    name = Hex.encode(SHA256.hash(data: Array("\(call)\n\(key.rawValue)".utf8)))
  }
}
