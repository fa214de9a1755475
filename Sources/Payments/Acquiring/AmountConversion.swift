package import TenderPayments

// An acquirer may count a currency in other units than ISO 4217: forints without decimals, dinars with two. Everything
// on our side is in ISO's minor units, and everything that a connector writes or reads is in its acquirer's.
extension AcquirerCapabilities {
  /// The amount in the acquirer's units; nil when the acquirer does not take the currency, or has fewer decimals than
  /// the amount needs.
  package func toAcquirer(_ amount: Amount) -> Amount? {
    guard let exponent = exponent(amount.currency),
      let scaled = amount.scaled(from: amount.currency.exponent, to: exponent),
      !lastDigitIsZero(amount.currency) || scaled.minorUnits.isMultiple(of: 10)
    else { return nil }
    return scaled
  }

  /// The amount that the acquirer means, in ISO's minor units; nil when there is none.
  package func fromAcquirer(_ amount: Amount) -> Amount? {
    exponent(amount.currency).flatMap { amount.scaled(from: $0, to: amount.currency.exponent) }
  }
}

extension Amount {
  /// Nothing is rounded: nil where that would be needed, or where it is too much.
  fileprivate func scaled(from decimals: Int, to wanted: Int) -> Amount? {
    var scaled: Amount? = self
    for _ in 0..<max(0, wanted - decimals) { scaled = try? scaled?.times(10) }
    for _ in 0..<max(0, decimals - wanted) { scaled = scaled?.divided(by: 10) }
    return scaled
  }
}

extension Acquirer {
  /// The acquirer with requests, answers and events in ISO's minor units.
  package func convertingAmounts() -> Acquirer {
    var converted = self
    converted.prepare = prepare.map(capabilities.converting)
    converted.authorize = capabilities.converting(authorize)
    converted.capture = capabilities.converting(capture)
    converted.void = capabilities.converting(void)
    converted.refund = capabilities.converting(refund)
    converted.increment = increment.map(capabilities.converting)
    converted.inquire = { [capabilities, inquire] request, deadline in
      guard let converted = capabilities.converted(request) else { return .unavailable(.tooFine) }
      return capabilities.read(await inquire(converted, deadline), asked: request.amount)
    }
    converted.reverse = { [capabilities, reverse] request, deadline in
      guard let converted = capabilities.converted(request) else { return .unavailable(.tooFine) }
      return capabilities.read(await reverse(converted, deadline))
    }
    converted.readEvents = { [capabilities, readEvents] event throws(EventRefusal) in
      try capabilities.read(readEvents(event))
    }
    if let report {
      converted.report = { [capabilities] period, lookup, deadline throws(AcquirerReport.Unavailable) in
        try capabilities.read(await report(period, lookup, deadline))
      }
    }
    return converted
  }
}

/// A request for an amount.
protocol AmountRequest: SendableMetatype {
  var amount: Amount { get }
  func asking(_ amount: Amount) -> Self
}

extension AcquirerCapabilities {
  /// The function, asked and answered in ISO's minor units.
  fileprivate func converting<Request: AmountRequest>(
    _ ask: @escaping Acquirer.Verb<Request, AcquirerAnswer>
  ) -> Acquirer.Verb<Request, AcquirerAnswer> {
    { request, deadline in
      guard let converted = self.converted(request) else { return .notTaken(tooFine) }
      return self.read(await ask(converted, deadline), asked: request.amount)
    }
  }

  fileprivate func converting(
    _ prepare: @escaping Acquirer.Verb<AuthorizationRequest, Preparation>
  ) -> Acquirer.Verb<AuthorizationRequest, Preparation> {
    { request, deadline in
      guard let converted = self.converted(request) else {
        return .declined(Decline(reason: .configuration, code: tooFine))
      }
      return await prepare(converted, deadline)
    }
  }

  /// The request in the acquirer's units; nil when the acquirer cannot count the amount.
  fileprivate func converted<Request: AmountRequest>(_ request: Request) -> Request? {
    toAcquirer(request.amount).map(request.asking)
  }

  /// The report in ISO's minor units.
  fileprivate func read(_ report: AcquirerReport) throws(AcquirerReport.Unavailable) -> AcquirerReport {
    var lines: [AcquirerReport.Line] = []
    for line in report.lines {
      guard isName(line.name ?? ""), isName(line.reference.rawValue), isName(line.authorization?.rawValue ?? "") else {
        throw AcquirerReport.Unavailable(interruption: .longName)
      }
      guard let amount = fromAcquirer(line.amount) else {
        throw AcquirerReport.Unavailable(interruption: .anotherAmount)
      }
      lines.append(line.of(amount))
    }
    return AcquirerReport(lines: lines)
  }

  /// The events in ISO's minor units.
  fileprivate func read(_ batch: EventBatch) throws(EventRefusal) -> EventBatch {
    try batch.reading(batch.events) { event throws(EventRefusal) in try read(event) }
  }

  private func read(_ event: AcquirerEvent) throws(EventRefusal) -> AcquirerEvent {
    guard let amount = fromAcquirer(event.amount), isName(event.name ?? "") else { throw .unintelligible }
    return AcquirerEvent(
      id: event.id, subject: event.subject, amount: amount, content: try read(event.content, asked: amount),
      name: event.name)
  }

  private func read(_ content: AcquirerEvent.Content, asked: Amount) throws(EventRefusal) -> AcquirerEvent.Content {
    guard case .answer(let sent) = content else { return content }
    let answer = read(sent, asked: asked)
    if answer != sent, case .unknown = answer { throw .unintelligible }
    return .answer(answer)
  }
}

extension AcquirerCapabilities {
  /// How long a provider's name of something may be, in UTF-8: an index of PostgreSQL takes no more than 2,704 bytes.
  package static let longestName = 1_024

  fileprivate func isName(_ text: String) -> Bool { text.utf8.count <= Self.longestName }

  /// The answer with its approved amount in ISO's minor units, and without it when it is the amount that was asked for.
  /// An approval of more, of nothing or in another currency is no answer, nor is one with a name that is too long.
  fileprivate func read(_ answer: AcquirerAnswer, asked: Amount) -> AcquirerAnswer {
    guard answer.names.allSatisfy(isName) else { return .unknown(.longName) }
    guard case .approved(let approval) = answer, let stated = approval.approvedAmount else { return answer }
    guard let amount = fromAcquirer(stated), amount.currency == asked.currency, amount.isPositive,
      amount.minorUnits <= asked.minorUnits
    else { return .unknown(.anotherAmount) }
    return .approved(approval.of(amount == asked ? nil : amount))
  }

  fileprivate func read(_ reversal: Reversal) -> Reversal {
    guard case .accepted(let name) = reversal, !isName(name) else { return reversal }
    return .unavailable(.longName)
  }

  fileprivate func read(_ inquiry: Inquiry, asked: Amount) -> Inquiry {
    guard case .answer(let answer) = inquiry else { return inquiry }
    let read = read(answer, asked: asked)
    if case .unknown(let interruption) = read { return .unavailable(interruption) }
    return .answer(read)
  }
}

extension Approval {
  fileprivate func of(_ amount: Amount?) -> Approval {
    Approval(
      acquirerReference: acquirerReference, authorizationCode: authorizationCode,
      networkTransactionID: networkTransactionID, approvedAmount: amount, networkLinkID: networkLinkID,
      storedReference: storedReference)
  }
}

extension AcquirerAnswer {
  /// What the provider calls something.
  fileprivate var names: [String] {
    switch self {
    case .approved(let approval):
      [
        approval.acquirerReference, approval.networkTransactionID, approval.networkLinkID, approval.storedReference,
        approval.authorizationCode,
      ].compactMap { $0 }
    case .pending(let pending): [pending.acquirerReference]
    case .declined, .unknown, .notSent: []
    }
  }
}

private let tooFine = "amount_too_fine"

extension Interruption {
  fileprivate static var tooFine: Interruption { Interruption(.acquirerUncertain, detail: "cannot count the amount") }

  fileprivate static var longName: Interruption {
    Interruption(
      .unintelligibleAnswer, detail: "a name of more than \(AcquirerCapabilities.longestName) bytes")
  }

  fileprivate static var anotherAmount: Interruption {
    Interruption(.unintelligibleAnswer, detail: "approved for another amount than was asked for")
  }
}

extension AuthorizationRequest: AmountRequest {}
extension FollowUpRequest: AmountRequest {}
extension InquiryRequest: AmountRequest {}
