import Ledger
import DirectWire
import Storage
import TenderPayments
package import TenderSheet

/// What a sheet is opened with, and its quote.
package struct SheetRequest: Sendable, Hashable {
  package let quote: Quote
  package let request: PaymentRequest
  /// The language tag of the basket's shopper, if it names one.
  package let locale: String?
  /// What the page may check of an address by itself; empty where the order goes to none.
  package let addressRules: [AddressRule]
}

/// What the shopper decides before the sheet opens.
package struct OrderDetails: Sendable, Hashable, Codable {
  package var serviceType: ServiceType
  /// When the shopper wants it; passed on unread.
  package var requestedFor: String?
  package var note: String?
  /// Where it goes, if the page knows; only the zone is kept.
  package var contact: RedactedContact?

  package init(
    serviceType: ServiceType, requestedFor: String? = nil, note: String? = nil, contact: RedactedContact? = nil
  ) {
    self.serviceType = serviceType
    self.requestedFor = requestedFor
    self.note = note
    self.contact = contact
  }
}

/// Another request showed a quote of this basket in between.
private struct Superseded: Error {}

extension OrderService {
  /// Prices the stored basket, and keeps the price as the quote that was shown last.
  ///
  /// The merchant may be asked in between, so it happens outside a transaction; if the basket was changed meanwhile it
  /// is priced again, a few times.
  func showing<Answer: Sendable>(
    _ id: BasketID, _ merchant: MerchantID, _ price: (BasketRecord) async throws -> (Priced, Answer)
  ) async throws -> (quote: Quote, answer: Answer) {
    for _ in 0..<4 {
      let snapshot = try await snapshot(of: id, merchant)
      try snapshot.checkOpen(at: clock.now())
      do {
        let (priced, answer) = try await price(snapshot.record)
        return (try await keep(priced, snapshot.record), answer)
      } catch let violation as SheetViolation {
        throw OrderError(violation)
      } catch is Superseded {
        continue
      }
    }
    throw OrderError(.quoteStale, "the basket changed again and again while it was priced")
  }

  /// A quote that shows the same as the last one is the last one: reloading a page makes no rows.
  private func keep(_ priced: Priced, _ record: BasketRecord) async throws -> Quote {
    let quote = try Quote(priced, of: record.basket, id: QuoteID(random.timeOrderedID(clock)), at: clock.now())
    return try await database.write { store in
      guard try BasketRecord.findLocking(record.basket.id, in: store) == record else { throw Superseded() }
      if let last = try record.currentQuote.flatMap({ try Quote.find($0, in: store) }), last.shows(theSameAs: quote) {
        return last
      }
      try quote.save(in: store)
      return quote
    }
  }

  /// What the shopper has chosen so far: the state of the quote that was shown last.
  func state(of record: BasketRecord) async throws -> SheetState {
    guard let id = record.currentQuote else { return record.opening }
    return try await database.read { try Quote.find(id, in: $0)?.state } ?? record.opening
  }
}

extension BasketRecord {
  func factory(_ terms: MerchantTerms) -> PaymentRequestFactory {
    PaymentRequestFactory(
      businessName: basket.document.businessName, countryCode: basket.document.countryCode,
      supportedNetworks: terms.supportedNetworks, merchantCapabilities: terms.merchantCapabilities,
      supportedCountries: basket.document.supportedCountries, merchantCategoryCode: terms.merchantCategory)
  }

  func contents(_ priced: Priced, _ terms: MerchantTerms) -> SheetContents {
    SheetContents(
      currency: basket.currency, service: priced.state.service, lines: priced.shown(of: basket),
      shippingMethods: priced.shippingMethods, supportsCouponCode: !basket.document.coupons.isEmpty,
      couponCode: priced.state.couponCode, contactFields: basket.contactFields,
      billingRequired: basket.document.billingRequired,
      applicationData: terms.applicationData(of: basket),
      agreement: basket.agreement?.notified(at: terms.tokenNotificationURL))
  }

  /// The methods are sent again only where they may have changed: a new list makes the sheet select its first.
  func update(_ priced: Priced, after change: SheetChange) throws -> SheetUpdate {
    let resendsMethods = priced.state.service.needsAddress && change.moment.mayChangeMethods
    return SheetUpdate(
      summary: try priced.summary(of: basket),
      shippingMethods: resendsMethods ? priced.shippingMethods : nil,
      errors: priced.errors.filter { $0.isAllowed(at: change.moment) })
  }

  func prepared(_ details: OrderDetails) throws -> BasketRecord {
    guard basket.services.contains(details.serviceType) else {
      throw OrderError(
        .serviceUnavailable, "the basket offers no \(details.serviceType.rawValue)", field: "serviceType")
    }
    var (record, details) = (self, details)
    details.note = details.note.flatMap(\.plainNote)
    try BasketRules.check(details)
    record.service = details.serviceType
    record.destination = details.contact.map { basket.destination(shown: $0) } ?? .unknown
    record.requestedFor = details.requestedFor ?? requestedFor
    record.note = details.note ?? note
    return record
  }
}

extension String {
  /// A shopper's note with line breaks and spaces alone, and without marks of the writing direction, which keyboards write.
  /// Nil where nothing but such marks is in it.
  fileprivate var plainNote: String? {
    let lines = split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).joined(separator: "\n")
    var plain = lines.replacing("\t", with: " ")
    plain.unicodeScalars.removeAll { $0.properties.isBidiControl }
    return plain.isEmpty && !isEmpty ? nil : plain
  }
}

extension SheetMoment {
  fileprivate var mayChangeMethods: Bool { self == .contactSelection || self == .couponCodeChange }
}
