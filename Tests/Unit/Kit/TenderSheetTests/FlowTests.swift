import TenderPayments
import TenderSheet
import TenderTesting
import Testing

@Suite struct `The sheet's flow` {
  @Test(arguments: try FlowTranscript.all())
  func `does what the transcript says`(_ transcript: FlowTranscript) throws {
    var player = FlowPlayer()
    for step in transcript.steps {
      let effects = try player.play(step.event)
      #expect(effects == step.effects, "\(transcript.name).txt:\(step.line), \(step.event.joined(separator: " "))")
    }
  }

  @Test func `has transcripts of every event, call and answer of the sheet`() throws {
    let transcripts = try FlowTranscript.all()
    #expect(transcripts.count >= 25)
    let lines = Set(transcripts.flatMap(\.steps).flatMap { [$0.event.joined(separator: " ")] + $0.effects })
    for words in Self.vocabulary { #expect(lines.contains { $0.hasPrefix(words) }, "no transcript has “\(words)”") }
  }

  private static let vocabulary = [
    "page prepared", "page pressed", "page returned", "sheet not-opened", "sheet merchant-session", "sheet authorized",
    "sheet changed shipping-contact", "sheet changed shipping-method", "sheet changed coupon-code",
    "sheet changed payment-method", "sheet closed", "clock", "server merchant-session lost",
    "server merchant-session refuses", "server update lost", "server update refuses", "server pay lost",
    "server pay refuses 402 declined", "server pay unknown", "server pay pending", "server outcome refuses",
    "server cancel ok", "server cancel refuses", "sheet opens", "sheet gets failure error", "sheet gets success",
    "sheet aborted", "page authorized", "page failed", "page cancelled", "page unavailable",
  ]
}

/// Tests of the runner: each fault here must fail at least one transcript.
@Suite struct `The transcripts` {
  enum Mistake: String, CaseIterable, Sendable {
    case forgetsTheMerchantSession, paysTheFirstQuote, dropsErrors, saysSuccess, saysFailedForUnknown
    case neverOpens, neverCancels, neverAborts, asksForNoOutcome, losesTheTotal

    func alter(_ effect: SheetEffect) -> SheetEffect? {
      switch (self, effect) {
      case (.neverOpens, .open), (.neverAborts, .abort): nil
      case (.forgetsTheMerchantSession, .giveMerchantSession): nil
      case (.paysTheFirstQuote, .ask(let id, .pay, let within)): .ask(id, .pay(QuoteID("q1")), within: within)
      case (.dropsErrors, .completePayment(.failure)): .completePayment(.failure([]))
      case (.saysSuccess, .completePayment): .completePayment(.success)
      case (.saysFailedForUnknown, .report(.failed("outcome_unknown"))): .report(.failed(code: "declined"))
      case (.neverCancels, .ask(_, .cancel, _)), (.asksForNoOutcome, .ask(_, .outcome, _)): nil
      case (.losesTheTotal, .update): nil
      default: effect
      }
    }
  }

  @Test(arguments: Mistake.allCases) func `notice a kit that is wrong`(_ mistake: Mistake) throws {
    let noticed = try FlowTranscript.all().filter { transcript in
      var player = FlowPlayer(alter: mistake.alter)
      return try !transcript.steps.allSatisfy { step in
        do { return try player.play(step.event) == step.effects } catch is FlowPlayer.Unreadable { return false }
      }
    }
    #expect(!noticed.isEmpty)
  }

  @Test(arguments: ["", "A claim", "A claim\n< sheet opens", "A claim\nAnother\n> page pressed", "> page pressed"])
  func `are refused when they are not transcripts`(_ text: String) {
    #expect(throws: FlowTranscript.Malformed.self) { try FlowTranscript(name: "bad", text: text) }
  }
}
