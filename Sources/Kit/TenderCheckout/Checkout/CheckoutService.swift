public import TenderCheckoutAPI
public import TenderPayments
public import TenderSheet

/// Who buys.
public enum Shopper: Sendable, Hashable {
  /// Without a log-in. The order comes with a guest token.
  case guest
  /// By the merchant's own reference. The app's backend puts it onto the basket: a reference that came from a device
  /// would be anybody's claim.
  case signedIn(String)
}

/// What the shopper decided before the sheet opens.
public struct OrderWishes: Sendable, Hashable {
  /// What the merchant does with the goods.
  public var service: ServiceType
  /// When it is wanted: RFC 3339, or the merchant's own words. Passed on unread.
  public var requestedFor: String?
  /// For the kitchen, the driver.
  public var note: String?
  /// What the app knows of the shopper; it fills the sheet's contact, and its place gives the first price.
  public var contact: FullContact?

  /// What the shopper wishes.
  public init(
    service: ServiceType, requestedFor: String? = nil, note: String? = nil, contact: FullContact? = nil
  ) {
    self.service = service
    self.requestedFor = requestedFor
    self.note = note
    self.contact = contact
  }

  /// What the shopper wishes, at a moment that the app knows exactly.
  public init(service: ServiceType, requestedFor: Timestamp, note: String? = nil, contact: FullContact? = nil) {
    self.init(service: service, requestedFor: requestedFor.description, note: note, contact: contact)
  }
}

/// How far the preparation of an order has come.
public enum PreparationProgress: Sendable, Hashable, CaseIterable {
  /// In this order.
  case checkingAddress, savingDetails, ready

  /// From 0 to 1, for a progress view.
  public var fraction: Double {
    switch self {
    case .checkingAddress: 0.1
    case .savingDetails: 0.4
    case .ready: 1
    }
  }
}

/// Prepares orders and cancels them, without any sheet.
public struct CheckoutService: Sendable {
  private let client: CheckoutClient
  private let checks: AddressChecks

  /// Over a client, with the checks that the sheet makes too.
  public init(client: CheckoutClient, checks: AddressChecks = .standard) {
    self.client = client
    self.checks = checks
  }

  /// Saves what the shopper decided, and fetches what the sheet is opened with.
  ///
  /// An address that the app knows and that is plainly not served is refused here, before the sheet: see
  /// ``PreparationFailure/address(_:)``.
  public func prepare(
    _ basket: BasketID, _ wishes: OrderWishes, agreement: PaymentAgreement? = nil,
    progress: @Sendable (PreparationProgress) -> Void = { _ in }
  ) async throws(PreparationFailure) -> PreparedSheet {
    progress(.checkingAddress)
    let problems = wishes.contact.map { checks.problems(with: $0.place, for: wishes.service) } ?? []
    guard problems.isEmpty else { throw .address(problems) }
    progress(.savingDetails)
    let answer: BasketSheetAnswer
    do {
      answer = try await client.prepare(
        basket,
        DetailsCall(
          serviceType: wishes.service, requestedFor: wishes.requestedFor, note: wishes.note,
          contact: wishes.contact?.place))
    } catch {
      throw .server(error)
    }
    var request = answer.request
    request.agreement = agreement ?? request.agreement
    progress(.ready)
    return PreparedSheet(basket: basket, quote: answer.quoteId, request: request)
  }

  /// Whether the basket can go to a place, for a form that asks before the sheet does.
  public func delivers(
    _ basket: BasketID, to postalCode: String, in countryCode: String
  ) async throws(CheckoutFailure) -> Bool {
    let place = RedactedContact(postalCode: postalCode, countryCode: countryCode)
    guard checks.problems(with: place, for: .delivery).isEmpty else { return false }
    return try await client.isDeliverable(basket, postalCode: postalCode, countryCode: countryCode)
  }

  /// Ends the basket for good, unless an acquirer may have heard of it.
  public func cancel(_ basket: BasketID) async -> Cancellation {
    do {
      try await client.cancel(basket)
      return .cancelled
    } catch {
      if case .refused(let problem) = error, problem.status < 500 { return .tooLate }
      return .unanswered
    }
  }

  /// What became of the basket's payment; nil when nobody has tried to pay it.
  public func outcome(of basket: BasketID) async throws(CheckoutFailure) -> PaymentResult? {
    do {
      let answer = try await client.outcome(of: basket)
      guard answer.status.isSettled || answer.status == .pending else { return .unknown }
      return .success(PlacedOrder(answer, of: basket))
    } catch {
      guard case .refused(let problem) = error else { throw error }
      if problem.code == "payment_not_found" { return nil }
      if problem.code == "payment_in_progress" { return .unknown }
      guard problem.status < 500 || problem.code == "acquirer_unreachable" else { throw error }
      return .failure(PaymentFailure(error))
    }
  }
}

/// Why an order could not be prepared.
public enum PreparationFailure: Error, Sendable, Hashable {
  /// The device saw it at once; ready for the app's form.
  case address([SheetError])
  /// The server refused, or was not reached.
  case server(CheckoutFailure)
}
