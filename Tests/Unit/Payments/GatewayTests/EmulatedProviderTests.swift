import TenderTesting
import Testing

/// Wallet, gateway, ledger and connector, and the emulator of a provider behind HTTP.
@Suite struct `A payment through an emulated provider` {
  @Test(arguments: ProviderVisit.kinds)
  func `is captured in parts, partly refunded and voided, to the minor unit in both ledgers`(
    kind: ProviderVisit.Kind
  ) async throws {
    let violations = try await kind.provider.visit(isSealed: kind.isSealed) { visit in
      try await visit.capturesInParts()
      try await visit.voids()
      try await visit.paysAfterDecline()
      #expect(try await visit.differences() == [])
    }
    #expect(violations == [])
  }
}
