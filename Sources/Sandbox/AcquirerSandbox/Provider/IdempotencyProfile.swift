/// How long an acquirer remembers a reference, and how it answers a repeat. Providers differ in this, and a client that
/// is right with one charges twice with another.
package struct IdempotencyProfile: Sendable, Hashable {
  package enum OtherContents: Sendable, Hashable {
    /// 409.
    case refused
    /// The answer of the first request, as if nothing were wrong.
    case firstAnswer
  }

  package let name: String
  /// Afterwards the same reference is a new operation.
  package let window: Duration
  package let otherContents: OtherContents
  /// Whether a refusal is remembered. Where it is not, a repeat is a new try.
  package let storesErrors: Bool

  package init(name: String, window: Duration, otherContents: OtherContents, storesErrors: Bool) {
    self.name = name
    self.window = window
    self.otherContents = otherContents
    self.storesErrors = storesErrors
  }

  /// The strictest: it never forgets.
  package static let strict = IdempotencyProfile(
    name: "strict", window: .seconds(86_400 * 3_650), otherContents: .refused, storesErrors: true)

  /// As the providers of these names document it.
  package static let all: [IdempotencyProfile] = [
    .strict,
    IdempotencyProfile(name: "adyen", window: .days(7), otherContents: .refused, storesErrors: true),
    IdempotencyProfile(name: "worldline", window: .days(1), otherContents: .firstAnswer, storesErrors: true),
    IdempotencyProfile(name: "checkout", window: .days(1), otherContents: .firstAnswer, storesErrors: false),
    IdempotencyProfile(name: "ppro", window: .days(1), otherContents: .refused, storesErrors: false),
    IdempotencyProfile(name: "truelayer", window: .seconds(6 * 3_600), otherContents: .refused, storesErrors: true),
    IdempotencyProfile(name: "qonto", window: .seconds(1_800), otherContents: .firstAnswer, storesErrors: true),
  ]
}

extension Duration {
  fileprivate static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
}
