import ApplePayToken
import Ledger
import Logging

/// The canary of a running server: it is heard in the log and in the metrics, and what made it sing is remembered, so
/// that it sings once and not at every start.
enum CanaryCage {
  static func canary(_ book: ProcessingKeyStore, _ metrics: Metrics, _ logger: Logger) async throws -> SignerMonitor {
    let seen = try await book.sightings().reduce(into: [SignerMonitor.Novelty.Kind: Set<String>]()) { seen, entry in
      SignerMonitor.Novelty.Kind(rawValue: entry.key).map { seen[$0] = entry.value }
    }
    return SignerMonitor(seen: seen) { novelty in
      metrics.novelties.count(["kind": novelty.kind.rawValue])
      logger.warning(
        "a payment token was signed in a way never seen before",
        metadata: ["kind": .string(novelty.kind.rawValue), "detail": .string(novelty.detail)])
      Task { try? await book.write(sighting: novelty.kind.rawValue, novelty.name, novelty.detail) }
    }
  }
}
