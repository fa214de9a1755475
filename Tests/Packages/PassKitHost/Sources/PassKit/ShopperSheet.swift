import Foundation

/// Not part of PassKit: the sheet as the shopper uses it. It calls the delegate as PassKit does, and shows the answers.
@MainActor public final class ShopperSheet {
  private let controller: PKPaymentAuthorizationController
  private let wallet: SandboxWallet
  /// The last line is the total.
  public private(set) var lines: [Line]
  public private(set) var methods: [String]
  public private(set) var errors: [PKPaymentError] = []
  /// The order that Wallet follows from now on.
  public private(set) var trackedOrder: String?
  private var contact: [String: Any]?

  public struct Line: Sendable, Hashable {
    public let label: String
    public let amount: String
    public let isPending: Bool

    init(_ item: PKPaymentSummaryItem) {
      (label, amount, isPending) = (item.label, item.amount.stringValue, item.type == .pending)
    }
  }

  init(_ controller: PKPaymentAuthorizationController, of wallet: SandboxWallet) {
    self.controller = controller
    self.wallet = wallet
    lines = controller.request.paymentSummaryItems.map(Line.init)
    methods = Self.identifiers(controller.request.shippingMethods)
  }

  public var request: PKPaymentRequest { controller.request }
  public var total: String { lines.last?.amount ?? "" }

  func isOf(_ controller: PKPaymentAuthorizationController) -> Bool { self.controller === controller }

  private static func identifiers(_ methods: [PKShippingMethod]?) -> [String] {
    (methods ?? []).compactMap(\.identifier)
  }
}

// What the shopper does.
extension ShopperSheet {
  /// Chooses an address: the delegate sees its redacted part.
  public func select(contact id: String) async throws {
    let contact = try await wallet.contact(id)
    self.contact = contact
    let redacted = PKContact(contact["redacted"] as? [String: Any] ?? [:])
    await answer { delegate, handler in
      delegate.paymentAuthorizationController(self.controller, didSelectShippingContact: redacted) {
        handler(Shown($0, $0.errors, Self.identifiers($0.shippingMethods)))
      }
    }
  }

  public func select(method identifier: String) async {
    let method = PKShippingMethod(label: identifier, amount: 0, type: .final)
    method.identifier = identifier
    await answer { delegate, handler in
      delegate.paymentAuthorizationController(self.controller, didSelectShippingMethod: method) {
        handler(Shown($0, nil, $0.shippingMethods.isEmpty ? nil : Self.identifiers($0.shippingMethods)))
      }
    }
  }

  public func enter(coupon: String) async {
    await answer { delegate, handler in
      delegate.paymentAuthorizationController(self.controller, didChangeCouponCode: coupon) {
        handler(Shown($0, $0.errors, Self.identifiers($0.shippingMethods)))
      }
    }
  }

  public func select(cardType: PKPaymentMethodType) async {
    let method = PKPaymentMethod()
    method.type = cardType
    await answer { delegate, handler in
      delegate.paymentAuthorizationController(self.controller, didSelectPaymentMethod: method) {
        handler(Shown($0, $0.errors, nil))
      }
    }
  }

  /// A Mac's sheet asks for the merchant session first. The names of the session's members; nil without one.
  public func requestMerchantSession() async -> [String]? {
    await withCheckedContinuation { waiting in
      guard let delegate = controller.delegate else { return waiting.resume(returning: nil) }
      delegate.paymentAuthorizationController(controller) { update in
        waiting.resume(returning: update.session?.dictionary.keys.compactMap { $0 as? String })
      }
    }
  }

  /// Agrees, with a card of the sandbox's. Returns what the sheet then shows.
  @discardableResult
  public func authorize(
    card: String, contact id: String? = nil, billing: String? = nil
  ) async throws -> PKPaymentAuthorizationStatus {
    if let id { contact = try await wallet.contact(id) }
    let billing: [String: Any]? = if let billing { try await wallet.contact(billing) } else { nil }
    let payment = try await payment(card, billing)
    controller.delegate?.paymentAuthorizationControllerWillAuthorizePayment(controller)
    let (status, errors, order) = await result(of: payment)
    (self.errors, trackedOrder) = (errors, order)
    if status == .success || errors.isEmpty { finish() }
    return status
  }

  /// Closes the sheet, whatever it is doing.
  public func close() { finish() }

  private func finish() {
    guard wallet.isShowing else { return }
    controller.delegate?.paymentAuthorizationControllerDidFinish(controller)
  }
}

// What the sheet does with the answers.
extension ShopperSheet {
  private struct Shown: Sendable {
    let lines: [Line]
    let errors: [PKPaymentError]
    let methods: [String]?

    init(_ update: PKPaymentRequestUpdate, _ errors: [any Error]?, _ methods: [String]?) {
      lines = update.paymentSummaryItems.map(Line.init)
      self.errors = (errors ?? []).compactMap { $0 as? PKPaymentError }
      self.methods = methods
    }
  }

  private func answer(
    _ ask: (any PKPaymentAuthorizationControllerDelegate, _ handler: @escaping (Shown) -> Void) -> Void
  ) async {
    let shown: Shown? = await withCheckedContinuation { waiting in
      guard let delegate = controller.delegate else { return waiting.resume(returning: nil) }
      ask(delegate) { waiting.resume(returning: $0) }
    }
    guard let shown else { return }
    (lines, errors, methods) = (shown.lines, shown.errors, shown.methods ?? methods)
  }

  /// The status, the errors, and the order that Wallet would follow.
  private func result(of payment: PKPayment) async -> (PKPaymentAuthorizationStatus, [PKPaymentError], String?) {
    await withCheckedContinuation { waiting in
      guard let delegate = controller.delegate else { return waiting.resume(returning: (.failure, [], nil)) }
      delegate.paymentAuthorizationController(controller, didAuthorizePayment: payment) { result in
        let errors = (result.errors ?? []).compactMap { $0 as? PKPaymentError }
        waiting.resume(returning: (result.status, errors, result.orderDetails?.orderIdentifier))
      }
    }
  }

  private func payment(_ id: String, _ billing: [String: Any]?) async throws -> PKPayment {
    let card = try await wallet.card(id)
    let payment = PKPayment()
    payment.token.paymentMethod.displayName = card.name
    payment.token.paymentMethod.network = PKPaymentNetwork(card.network)
    payment.token.paymentMethod.type = ["debit": .debit, "credit": .credit][card.type] ?? .unknown
    payment.shippingContact = contact.map { PKContact($0) }
    payment.billingContact = billing.map { PKContact($0) }
    if wallet.isSimulator {
      payment.token.transactionIdentifier = "Simulated Identifier"
    } else {
      try await fill(payment.token, id)
    }
    return payment
  }

  private func fill(_ token: PKPaymentToken, _ card: String) async throws {
    var order: [String: Any] = [
      "cardId": card, "publicKeyOf": request.merchantIdentifier, "amount": total, "currency": request.currencyCode,
      "applicationData": request.applicationData?.base64EncodedString() ?? "",
    ]
    if let agreement = request.agreement {
      (order["agreement"], order["agreementText"]) = (true, agreement.text)
      order["tokenNotificationURL"] = agreement.notifications?.absoluteString
    }
    let answer = try await wallet.issueToken(order)
    let issued = try JSONSerialization.jsonObject(with: answer) as? [String: Any] ?? [:]
    token.transactionIdentifier = issued["transactionIdentifier"] as? String ?? ""
    token.paymentData = try JSONSerialization.data(withJSONObject: issued["paymentData"] ?? [:])
  }
}

extension PKPaymentRequest {
  /// What the shopper agrees to beyond this payment, and where Apple reports about the merchant token.
  fileprivate var agreement: (text: String, notifications: URL?)? {
    recurringPaymentRequest.map { ($0.paymentDescription, $0.tokenNotificationURL) }
      ?? automaticReloadPaymentRequest.map { ($0.paymentDescription, $0.tokenNotificationURL) }
      ?? deferredPaymentRequest.map { ($0.paymentDescription, $0.tokenNotificationURL) }
  }
}

extension PKContact {
  /// From Apple Pay JS's spelling.
  fileprivate convenience init(_ members: [String: Any]) {
    func text(_ key: String) -> String { members[key] as? String ?? "" }
    self.init()
    let address = CNMutablePostalAddress()
    address.street = (members["addressLines"] as? [String] ?? []).joined(separator: "\n")
    (address.subLocality, address.city) = (text("subLocality"), text("locality"))
    (address.state, address.postalCode) = (text("administrativeArea"), text("postalCode"))
    (address.country, address.isoCountryCode) = (text("country"), text("countryCode").lowercased())
    postalAddress = address
    var name = PersonNameComponents()
    name.givenName = members["givenName"] as? String
    name.familyName = members["familyName"] as? String
    self.name = name
    emailAddress = members["emailAddress"] as? String
    phoneNumber = (members["phoneNumber"] as? String).map { CNPhoneNumber(stringValue: $0) }
  }
}
