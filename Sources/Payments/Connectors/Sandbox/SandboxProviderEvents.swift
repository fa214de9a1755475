import Acquiring
import Crypto
import StrictJSON
import TenderPayments

/// The events of the sandbox's provider: `Sandbox-Signature: t=<seconds>,v1=<hex>`, an HMAC-SHA256 of the seconds, a
/// full stop and the body; the body is the answer to the operation with the event's id.
enum SandboxProviderEvents {
  /// How old an event may be: an old one that somebody kept is not believed again.
  private static let tolerance: Duration = .seconds(300)

  static func read(_ event: InboundEvent, secret: String) throws(EventRefusal) -> AcquirerEvent {
    guard isAuthentic(event, secret) else { throw .notAuthentic }
    guard let root = try? JSONField(JSONReader.read(event.body)), let id = try? root.member("id").string,
      (1...64).contains(id.utf8.count), let reference = try? root.member("reference").string,
      let currency = (try? root.member("currency").string).flatMap({ Currency(code: $0) }),
      let amount = try? root.member("amount").amount(in: currency)
    else { throw .unintelligible }
    let answer = SandboxMessages.read(event.body, about: AttemptReference(reference), amount)
    if case .unknown = answer { throw .unintelligible }
    return AcquirerEvent(id: id, reference: AttemptReference(reference), amount: amount, answer: answer)
  }

  private static func isAuthentic(_ event: InboundEvent, _ secret: String) -> Bool {
    let parts = (event.header("Sandbox-Signature") ?? "").split(separator: ",").map { $0.split(separator: "=") }
    guard !secret.isEmpty, let time = parts.first(where: { $0.first == "t" })?.last, let seconds = Int64(time) else {
      return false
    }
    let age = event.arrivedAt.seconds.subtractingClamped(seconds)
    guard age.magnitude <= tolerance.components.seconds else { return false }
    let signed = Array("\(seconds).".utf8) + event.body
    let key = SymmetricKey(data: Array(secret.utf8))
    // Computed once: a header may hold hundreds of signatures, and the body is long.
    let expected = HMAC<SHA256>.authenticationCode(for: signed, using: key)
    return parts.contains { part in
      guard part.first == "v1", let code = part.last.flatMap({ Hex.decode(String($0)) }) else { return false }
      return expected == code
    }
  }
}
