import AcquirerSandbox
import Acquiring
import TenderPayments
import TenderTesting
import Testing

/// What providers make of a repeat differs; the sandbox plays each of them.
@Suite struct `A reference that is sent twice` {
  private func reference(_ answer: AcquirerAnswer) -> String? {
    if case .approved(let approval) = answer { approval.acquirerReference } else { nil }
  }

  @Test(arguments: IdempotencyProfile.all)
  func `is done once within the provider's window, and again after it`(profile: IdempotencyProfile) async throws {
    let clock = ManualClock()
    try await Visit.run(profile: profile, clock: clock.wall) { visit async throws in
      let cryptogram = Base64.encode([UInt8](repeating: 7, count: 20))
      let first = reference(try await visit.hold("r1", 1000, cryptogram: cryptogram))
      #expect(first != nil)
      #expect(reference(try await visit.hold("r1", 1000, cryptogram: cryptogram)) == first)
      let other = reference(try await visit.hold("r1", 1000))
      #expect(other == (profile.otherContents == .firstAnswer ? first : nil))
      clock.advance(profile.window)
      let later = reference(try await visit.hold("r1", 1000))
      #expect(later != nil && later != first)
    }
  }

  @Test(arguments: IdempotencyProfile.all)
  func `after a refusal is a new try only where errors are not kept`(profile: IdempotencyProfile) async throws {
    try await Visit.run(profile: profile) { visit async throws in
      let cryptogram = Base64.encode([UInt8](repeating: 7, count: 20))
      _ = try await visit.hold("r1", 2051, cryptogram: cryptogram)
      let again = try await visit.hold("r1", 2051, cryptogram: cryptogram)
      guard case .declined(let decline) = again else {
        Issue.record("not declined: \(again)")
        return
      }
      // A second try meets its own cryptogram, which is accepted once.
      #expect(decline.code == (profile.storesErrors ? "51" : "05"))
    }
  }
}
