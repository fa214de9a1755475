package import TenderPayments

// An acquirer may count a currency in other units than ISO 4217: forints without decimals, dinars with two. Everything
// on our side is in ISO's minor units, and everything that a connector writes or reads is in its acquirer's.
extension AcquirerCapabilities {
  /// The amount in the acquirer's units; nil when the acquirer does not take the currency, or has fewer decimals than
  /// the amount needs.
  package func toAcquirer(_ amount: Amount) -> Amount? {
    exponent(amount.currency).flatMap { amount.scaled(from: amount.currency.exponent, to: $0) }
  }

  /// The amount that the acquirer means, in ISO's minor units; nil when there is none.
  package func fromAcquirer(_ amount: Amount) -> Amount? {
    exponent(amount.currency).flatMap { amount.scaled(from: $0, to: amount.currency.exponent) }
  }
}

extension Amount {
  /// Nothing is rounded: nil where that would be needed, or where it is too much.
  fileprivate func scaled(from decimals: Int, to wanted: Int) -> Amount? {
    var units = minorUnits
    for _ in 0..<max(0, wanted - decimals) {
      let (product, overflow) = units.multipliedReportingOverflow(by: 10)
      guard !overflow else { return nil }
      units = product
    }
    for _ in 0..<max(0, decimals - wanted) {
      guard units.isMultiple(of: 10) else { return nil }
      units /= 10
    }
    return Amount(minorUnits: units, currency: currency)
  }
}

extension Acquirer {
  /// The same acquirer, asked in ISO's minor units, and heard in them.
  package func convertingAmounts() -> Acquirer {
    let (capabilities, hear) = (capabilities, hear)
    let ask = { (verb: @escaping Verb<FollowUpRequest, AcquirerAnswer>) -> Verb<FollowUpRequest, AcquirerAnswer> in
      { request, deadline in
        guard let amount = capabilities.toAcquirer(request.amount) else { return .notSent(tooFine) }
        return capabilities.read(await verb(request.asking(amount), deadline), asked: request.amount)
      }
    }
    return Acquirer(
      capabilities: capabilities,
      authorize: { [authorize] request, deadline in
        guard let amount = capabilities.toAcquirer(request.amount) else { return .notSent(tooFine) }
        return capabilities.read(await authorize(request.asking(amount), deadline), asked: request.amount)
      },
      capture: ask(capture), void: ask(void), refund: ask(refund),
      inquire: { [inquire] request, deadline in
        guard let amount = capabilities.toAcquirer(request.amount) else { return .unavailable(.tooFine) }
        let found = await inquire(InquiryRequest(reference: request.reference, amount: amount), deadline)
        return capabilities.read(found, asked: request.amount)
      },
      reverse: { [reverse] request, deadline in
        guard let amount = capabilities.toAcquirer(request.amount) else { return .unavailable(.tooFine) }
        return await reverse(InquiryRequest(reference: request.reference, amount: amount), deadline)
      },
      hear: { event throws(EventRefusal) in
        let heard = try hear(event)
        guard let amount = capabilities.fromAcquirer(heard.amount) else { throw .unintelligible }
        let answer = capabilities.read(heard.answer, asked: amount)
        if answer != heard.answer, case .unknown = answer { throw .unintelligible }
        return AcquirerEvent(id: heard.id, reference: heard.reference, amount: amount, answer: answer)
      })
  }
}

extension AcquirerCapabilities {
  /// The answer with its approved amount in ISO's minor units, and without it when it is the amount that was asked for.
  /// An approval of more, of nothing or in another currency is no answer.
  fileprivate func read(_ answer: AcquirerAnswer, asked: Amount) -> AcquirerAnswer {
    guard case .approved(let approval) = answer, let told = approval.approvedAmount else { return answer }
    guard let amount = fromAcquirer(told), amount.currency == asked.currency, amount.isPositive,
      amount.minorUnits <= asked.minorUnits
    else { return .unknown(.anotherAmount) }
    return .approved(approval.of(amount == asked ? nil : amount))
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
      networkTransactionID: networkTransactionID, approvedAmount: amount)
  }
}

private let tooFine = "the acquirer cannot count this amount in its units"

extension Interruption {
  fileprivate static var tooFine: Interruption { Interruption(.acquirerUncertain, detail: "cannot count the amount") }

  fileprivate static var anotherAmount: Interruption {
    Interruption(.unintelligibleAnswer, detail: "approved for another amount than was asked for")
  }
}

extension AuthorizationRequest {
  fileprivate func asking(_ amount: Amount) -> AuthorizationRequest {
    AuthorizationRequest(
      reference: reference, merchantReference: merchantReference, amount: amount, instrument: instrument)
  }
}

extension FollowUpRequest {
  fileprivate func asking(_ amount: Amount) -> FollowUpRequest {
    FollowUpRequest(reference: reference, authorization: authorization, amount: amount, isFinal: isFinal)
  }
}
