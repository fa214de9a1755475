import ApplePayToken
import Ledger
import Logging

extension SignerMonitor {
  /// Reports unknown signers and encodings of payment tokens in the log and the metrics. The store keeps them, so that
  /// each is reported by one node, once, and not at every start.
  static func reporting(
    _ store: ProcessingKeyStore, _ metrics: Metrics, _ logger: Logger
  ) async throws -> SignerMonitor {
    let seen = try await store.observedSignatures().reduce(into: [Novelty.Kind: Set<String>]()) { seen, entry in
      Novelty.Kind(rawValue: entry.key).map { seen[$0] = entry.value }
    }
    return SignerMonitor(seen: seen) { novelty in
      Task {
        // What cannot be recorded is reported, rather too often than never.
        let isNew = try? await store.write(observedSignature: novelty.kind.rawValue, novelty.name, novelty.detail)
        guard isNew ?? true else { return }
        metrics.novelties.count(["kind": novelty.kind.rawValue])
        logger.warning(
          "a payment token was signed in a way never seen before",
          metadata: ["kind": .string(novelty.kind.rawValue), "detail": .string(novelty.detail)])
      }
    }
  }
}
