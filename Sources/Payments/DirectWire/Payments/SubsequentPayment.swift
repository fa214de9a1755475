package import TenderPayments

/// The body of `POST /v2/{merchantId}/payments/{id}/subsequent`: Worldline's `SubsequentPaymentRequest`. A member that no SDK
/// has is refused, as in ``CapturePaymentRequest``: without its amount a request is for what the agreement says.
package struct SubsequentPaymentRequest: Sendable, Codable {
  package var order: Order
  package var input: Input?

  /// The SDKs write the member with a small c, the vendor's web sample with a capital one.
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case order
    case input = "subsequentcardPaymentMethodSpecificInput"
    case sampleInput = "subsequentCardPaymentMethodSpecificInput"
  }

  package init(order: Order, input: Input?) { (self.order, self.input) = (order, input) }

  package init(from decoder: any Decoder) throws {
    let keys = try ClosedKeys<CodingKeys>(
      decoder, ignoring: ["omnichannelSubsequentSpecificInput", "subsequentPaymentProduct5001SpecificInput"])
    order = try keys.required(.order)
    input = try keys.optional(.input) ?? keys.optional(.sampleInput)
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(order, forKey: .order)
    try container.encodeIfPresent(input, forKey: .input)
  }

  package struct Order: Sendable, Codable {
    /// Absent: what the agreement says of the period.
    package var amountOfMoney: AmountOfMoney?
    package var references: DirectReferences?

    enum CodingKeys: String, CodingKey, CaseIterable { case amountOfMoney, references }

    package init(amountOfMoney: AmountOfMoney?, references: DirectReferences? = nil) {
      (self.amountOfMoney, self.references) = (amountOfMoney, references)
    }

    package init(from decoder: any Decoder) throws {
      let keys = try ClosedKeys<CodingKeys>(
        decoder,
        ignoring: [
          "additionalInput", "customer", "discount", "shipping", "shoppingCart", "surchargeSpecificInput",
          "taxPercentage", "totalTaxAmount",
        ])
      amountOfMoney = try keys.absentOrGiven(.amountOfMoney)
      references = try keys.optional(.references)
    }
  }

  package struct Input: Sendable, Hashable, Codable {
    package var subsequentType: String?
    package var authorizationMode: MobilePaymentInput.AuthorizationMode?
    package var autoCapture: MobilePaymentInput.AutoCapture?
    /// Ours: the number of the agreement's period; the current one if absent.
    package var period: Int64?

    package init(subsequentType: String?, authorizationMode: MobilePaymentInput.AuthorizationMode? = nil) {
      (self.subsequentType, self.authorizationMode) = (subsequentType, authorizationMode)
    }

    enum CodingKeys: String, CodingKey, CaseIterable { case subsequentType, authorizationMode, autoCapture, period }

    package init(from decoder: any Decoder) throws {
      let keys = try ClosedKeys<CodingKeys>(
        decoder, ignoring: ["marketPlace", "paymentNumber", "schemeReferenceData", "token", "transactionChannel"])
      subsequentType = try keys.optional(.subsequentType)
      authorizationMode = try keys.absentOrGiven(.authorizationMode)
      autoCapture = try keys.absentOrGiven(.autoCapture)
      period = try keys.absentOrGiven(.period)
    }
  }

  /// Worldline's types, as it writes them.
  package enum Kind: String, Sendable, CaseIterable {
    case recurring = "Recurring"
    case recurringVariable = "RecurringVariable"
    case unscheduled = "Unscheduled"
    case unscheduledFixed = "UnscheduledFixed"
    case installment = "Installment"
    case noShow = "NoShow"
    case delayedCharge = "DelayedCharge"
    case partialShipment = "PartialShipment"
    case resubmission = "Resubmission"

    /// In capitals or not.
    package init?(_ text: String) {
      guard let kind = Self.allCases.first(where: { $0.rawValue.lowercased() == text.lowercased() }) else { return nil }
      self = kind
    }

    /// What an agreement of this kind may be charged as.
    package static func fitting(_ agreement: AgreementKind) -> [Kind] {
      switch agreement {
      case .recurring: [.recurring, .recurringVariable]
      case .automaticReload: [.unscheduled, .unscheduledFixed]
      case .deferred: [.delayedCharge, .noShow, .unscheduled]
      }
    }
  }
}

/// What `POST …/subsequent` returns: the payment.
package struct SubsequentPaymentAnswer: Sendable, Hashable, Codable {
  package var payment: DirectPayment

  package init(_ payment: DirectPayment) { self.payment = payment }
}

/// An agreement: `GET /v2/{merchantId}/agreements/{id}`, which Worldline has not.
package struct AgreementAnswer: Sendable, Hashable, Codable {
  package var id: AgreementID
  package var status: AgreementStatus
  package var merchantReference: String
  package var merchantCustomerId: String?
  /// The payment that the shopper authorized.
  package var paymentId: String
  package var currencyCode: Currency
  package var terms: AgreementDocument
  /// Whether the card gave a merchant token. Visa declines later payments of a device's own number.
  package var hasMerchantToken: Bool
  /// What Apple says of the card behind the merchant token; absent in lists, and where Apple has said nothing.
  package var merchantToken: MerchantToken?
  package var createdAt: WireTime
  /// The period that can be charged now; absent where none has begun.
  package var current: Period?
  /// The next one, with its date.
  package var next: Period?
  /// What Tender charges by itself; absent where the merchant makes each charge.
  package var schedule: Schedule?
  /// The prices that the merchant has named; absent in lists, and where there are none.
  package var prices: [Price]?
  /// Absent in lists, and where no charge was declined.
  package var retry: Retry?
  /// Absent in lists.
  package var charges: [Charge]?
  /// Absent in lists.
  package var history: [Change]?

  package init(
    id: AgreementID, status: AgreementStatus, merchantReference: String, merchantCustomerId: String?,
    paymentId: DirectPaymentID, currencyCode: Currency, terms: AgreementDocument, hasMerchantToken: Bool,
    createdAt: WireTime, current: Period?, next: Period?, charges: [Charge]? = nil, history: [Change]? = nil
  ) {
    self.id = id
    self.status = status
    self.merchantReference = merchantReference
    self.merchantCustomerId = merchantCustomerId
    self.paymentId = paymentId.description
    self.currencyCode = currencyCode
    self.terms = terms
    self.hasMerchantToken = hasMerchantToken
    self.createdAt = createdAt
    self.current = current
    self.next = next
    self.charges = charges
    self.history = history
  }

  /// A merchant token, as far as Apple has told of it.
  package struct MerchantToken: Sendable, Hashable, Codable {
    /// The last digits of the card's own number.
    package var cardSuffix: String?
    /// As Apple writes it.
    package var cardExpiry: String?
    package var cardName: String?
    /// ISO 3166, two letters.
    package var cardCountry: String?
    /// When Apple told of this card.
    package var describedAt: WireTime?
    /// Whether Apple is yet to be told that it is charged no more (`due`), knows it (`done`) or has refused it; absent while
    /// it is charged.
    package var unlinking: String?
    /// Why Apple refused it.
    package var detail: String?

    package init(
      cardSuffix: String?, cardExpiry: String?, cardName: String?, cardCountry: String?, describedAt: WireTime?,
      unlinking: String?, detail: String?
    ) {
      (self.cardSuffix, self.cardExpiry, self.cardName) = (cardSuffix, cardExpiry, cardName)
      (self.cardCountry, self.describedAt) = (cardCountry, describedAt)
      (self.unlinking, self.detail) = (unlinking, detail)
    }
  }

  package struct Period: Sendable, Hashable, Codable {
    package var number: Int64
    package var due: WireTime?
    /// Minor units.
    package var amount: Int64

    package init(number: Int64, due: WireTime?, amount: Int64) {
      (self.number, self.due, self.amount) = (number, due, amount)
    }
  }

  /// The period that Tender charges next, or is charging.
  package struct Schedule: Sendable, Hashable, Codable {
    package var period: Int64
    /// When it is looked at: its date, or that of another try; absent where nothing is left, or the agreement is not active.
    package var at: WireTime?

    package init(period: Int64, at: WireTime?) { (self.period, self.at) = (period, at) }
  }

  /// The price of the regular periods that are due from a time on.
  package struct Price: Sendable, Hashable, Codable {
    /// Minor units.
    package var amount: Int64
    /// Now if absent in a request.
    package var from: WireTime?

    package init(amount: Int64, from: WireTime?) { (self.amount, self.from) = (amount, from) }

    enum CodingKeys: String, CodingKey, CaseIterable { case amount, from }

    package init(from decoder: any Decoder) throws {
      let keys = try ClosedKeys<CodingKeys>(decoder)
      amount = try keys.required(.amount)
      from = try keys.absentOrGiven(.from)
    }
  }

  /// What the card schemes allow after declines.
  package struct Retry: Sendable, Hashable, Codable {
    /// Within the last thirty days.
    package var declines: Int
    /// When the next charge is allowed; absent for now.
    package var notBefore: WireTime?
    /// The decline after which the card must never be tried again; absent for none.
    package var stopped: DeclineReason?

    package init(declines: Int, notBefore: WireTime?, stopped: DeclineReason?) {
      (self.declines, self.notBefore, self.stopped) = (declines, notBefore, stopped)
    }
  }

  /// A period that was charged, or tried to be.
  package struct Charge: Sendable, Hashable, Codable {
    package var period: Int64
    package var due: WireTime?
    package var paymentId: String?
    package var status: PaymentStatus?
    /// Minor units.
    package var amount: Int64?
    /// The tries that were declined, in their order; absent where none was.
    package var declines: [Declined]?

    package init(
      period: Int64, due: WireTime?, paymentId: DirectPaymentID?, status: PaymentStatus?, amount: Int64?,
      declines: [Declined]? = nil
    ) {
      (self.period, self.due, self.paymentId) = (period, due, paymentId?.description)
      (self.status, self.amount, self.declines) = (status, amount, declines)
    }

    /// A try that was declined.
    package struct Declined: Sendable, Hashable, Codable {
      package var paymentId: String
      package var reason: DeclineReason
      package var at: WireTime

      package init(paymentId: DirectPaymentID, reason: DeclineReason, at: WireTime) {
        (self.paymentId, self.reason, self.at) = (paymentId.description, reason, at)
      }
    }
  }

  /// A line of the history: what happened, by whom and why.
  package struct Change: Sendable, Hashable, Codable {
    package var event: String
    package var status: AgreementStatus
    package var by: AgreementParty
    package var reason: String?
    package var at: WireTime

    package init(event: String, status: AgreementStatus, by: AgreementParty, reason: String?, at: WireTime) {
      (self.event, self.status, self.by, self.reason, self.at) = (event, status, by, reason, at)
    }
  }
}

/// The body of `POST /v2/{merchantId}/agreements/{id}`: what is to change. A member that is none of these is refused: a
/// misspelt `from` would be a price that holds at once.
package struct AgreementChangeRequest: Sendable, Hashable, Codable {
  /// `active` resumes it, `suspended` and `ended` do as they say.
  package var status: AgreementStatus?
  /// For the agreement's history.
  package var reason: String?
  package var price: AgreementAnswer.Price?

  package init(status: AgreementStatus? = nil, reason: String? = nil, price: AgreementAnswer.Price? = nil) {
    (self.status, self.reason, self.price) = (status, reason, price)
  }

  enum CodingKeys: String, CodingKey, CaseIterable { case status, reason, price }

  package init(from decoder: any Decoder) throws {
    let keys = try ClosedKeys<CodingKeys>(decoder)
    status = try keys.absentOrGiven(.status)
    reason = try keys.optional(.reason)
    price = try keys.absentOrGiven(.price)
  }
}

/// What `GET /v2/{merchantId}/agreements` returns: agreements, newest first.
package struct AgreementPageAnswer: Sendable, Hashable, Codable {
  package var agreements: [AgreementAnswer]
  /// For the next page; nil after the last one.
  package var nextCursor: String?

  package init(_ agreements: [AgreementAnswer], nextCursor: String?) {
    (self.agreements, self.nextCursor) = (agreements, nextCursor)
  }
}
