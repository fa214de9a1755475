public import TenderCheckoutAPI
public import TenderPayments
public import TenderSheet

/// The buyer.
public enum Shopper: Sendable, Hashable {
  /// Not signed in. The order comes with a guest token.
  case guest
  /// Identified by the merchant's reference. The app's backend sets it on the basket, because a reference from a device
  /// cannot be trusted.
  case signedIn(String)
}

/// The order details that the shopper chose before the sheet opens.
public struct OrderDetails: Sendable, Hashable {
  /// What the merchant does with the goods.
  public var service: ServiceType
  /// The requested time: RFC 3339, or any text of the merchant. Passed on unread.
  public var requestedFor: String?
  /// A note for the merchant, such as the kitchen or the driver.
  public var note: String?
  /// The shopper's known contact. It fills the sheet's contact, and its address decides the first price.
  public var contact: FullContact?
  /// A guest's token of the last order on this device, ``PlacedOrder/guestToken``: the merchant then sees the same guest
  /// again. Nil for a shopper who is signed in.
  public var guestToken: String?

  /// Order details.
  public init(
    service: ServiceType, requestedFor: String? = nil, note: String? = nil, contact: FullContact? = nil,
    guestToken: String? = nil
  ) {
    self.service = service
    self.requestedFor = requestedFor
    self.note = note
    self.contact = contact
    self.guestToken = guestToken
  }

  /// Order details with an exact time.
  public init(
    service: ServiceType, requestedFor: Timestamp, note: String? = nil, contact: FullContact? = nil,
    guestToken: String? = nil
  ) {
    self.init(
      service: service, requestedFor: requestedFor.description, note: note, contact: contact, guestToken: guestToken)
  }
}

/// The progress of preparing an order.
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

/// Prepares and cancels orders, without a sheet.
public struct CheckoutService: Sendable {
  private let client: CheckoutClient
  private let checks: AddressChecks

  /// A service that uses the same checks as the sheet.
  public init(client: CheckoutClient, checks: AddressChecks = .standard) {
    self.client = client
    self.checks = checks
  }

  /// Saves the order details and fetches the payment request for the sheet.
  ///
  /// An address that is certainly not served is refused before the sheet opens: see ``PreparationFailure/address(_:)``.
  public func prepare(
    _ basket: BasketID, _ details: OrderDetails, agreement: PaymentAgreement? = nil,
    progress: @Sendable (PreparationProgress) -> Void = { _ in }
  ) async throws(PreparationFailure) -> PreparedSheet {
    progress(.checkingAddress)
    let problems = details.contact.map { checks.problems(with: $0.place, for: details.service) } ?? []
    guard problems.isEmpty else { throw .address(problems) }
    progress(.savingDetails)
    let answer: BasketSheetAnswer
    do {
      answer = try await client.prepare(
        basket,
        DetailsCall(
          serviceType: details.service, requestedFor: details.requestedFor, note: details.note,
          contact: details.contact?.place))
    } catch {
      throw .server(error)
    }
    var request = answer.request
    request.agreement = agreement ?? request.agreement
    progress(.ready)
    return PreparedSheet(
      basket: basket, quote: answer.quoteId, request: request, locale: answer.locale.map { ShopperLocale($0) },
      guestToken: details.guestToken)
  }

  /// Whether the basket can be delivered to a place, for a form shown before the sheet.
  public func delivers(
    _ basket: BasketID, to postalCode: String, in countryCode: String
  ) async throws(CheckoutFailure) -> Bool {
    let place = RedactedContact(postalCode: postalCode, countryCode: countryCode)
    guard checks.problems(with: place, for: .delivery).isEmpty else { return false }
    return try await client.isDeliverable(basket, postalCode: postalCode, countryCode: countryCode)
  }

  /// Cancels the basket, unless its payment may have reached an acquirer.
  public func cancel(_ basket: BasketID) async -> Cancellation {
    do {
      try await client.cancel(basket)
      return .cancelled
    } catch {
      if case .refused(let problem) = error, problem.status < 500 { return .tooLate }
      return .unanswered
    }
  }

  /// The result of the basket's payment; nil when there is none.
  public func outcome(of basket: BasketID) async throws(CheckoutFailure) -> PaymentResult? {
    do {
      let answer = try await client.outcome(of: basket)
      guard answer.status.isResolved || answer.status == .pending else { return .unknown }
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
  /// The device refused the address; the errors are for the app's form.
  case address([SheetError])
  /// The server refused, or could not be reached.
  case server(CheckoutFailure)
}
