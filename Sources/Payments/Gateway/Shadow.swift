package import Acquiring
package import ApplePayToken
import Ledger
package import TenderPayments

// Shadow mode: a payment that the merchant sends elsewhere is verified, routed and built as if it came here. Nothing is
// sent, written or claimed, so the payment token can still pay.
extension PaymentGateway {
  /// What would become of a payment token that is to pay the order.
  ///
  /// - Parameters:
  ///   - time: when the payment token arrived at the merchant; nil for now.
  ///   - routes: the routes as they are configured, with connectors that can send nothing.
  package func shadow(
    _ order: Order, with token: EncryptedPaymentToken, choosing choice: RouteChoice, at time: Timestamp?,
    through routes: RouteTable
  ) async -> ShadowFindings {
    var findings = ShadowFindings(hasApplicationData: token.applicationDataHash != nil)
    do throws(PaymentTokenError) {
      let (instrument, amount) = try await shadowInstrument(token, of: order.merchant, at: time ?? clock.now())
      findings.signedAmount = amount
      findings.payment = choice.payment(of: order, instrument, sealedTo: token.publicKeyHash)
      findings.instrument = instrument
    } catch {
      findings.refusal = error
    }
    guard let payment = findings.payment, let instrument = findings.instrument else { return findings }
    findings.rules = routes.findings(for: payment)
    guard let acquirer = routes.candidates(for: payment).first?.convertingAmounts() else { return findings }
    findings.route = acquirer.capabilities.route
    await build(order, instrument, choice, routes.sale(of: order.merchant), at: acquirer)
    return findings
  }

  /// - Returns: the instrument, and the amount inside where it was opened here.
  private func shadowInstrument(
    _ token: EncryptedPaymentToken, of merchant: MerchantID, at time: Timestamp
  ) async throws(PaymentTokenError) -> (PaymentInstrument, Amount?) {
    guard routes.takes(.network), !routes.isSealed(to: token.publicKeyHash) else {
      return (.sealed(try opener.verifier.verify(token, at: time)), nil)
    }
    let opened = try await opener.opening(token, for: merchant, at: time)
    return (.network(try opened.paymentData.networkToken), opened.paymentData.amount)
  }

  /// Lets the connector build what it would send; its transport refuses.
  private func build(
    _ order: Order, _ instrument: PaymentInstrument, _ choice: RouteChoice, _ merchant: MerchantSale,
    at acquirer: Acquirer
  ) async {
    var request = AuthorizationRequest(
      reference: AttemptReference(random.timeOrderedID(clock)), merchantReference: order.merchantReference,
      amount: order.amount, instrument: instrument,
      sale: choice.sale.completed(by: merchant, at: acquirer.capabilities, for: order.amount))
    let deadline = Deadline.after(policy.answerTimeout, on: scheduler)
    if let prepare = acquirer.prepare, acquirer.capabilities.preparedInstruments.contains(.init(instrument)) {
      _ = await prepare(request, deadline)
      request.prepared = "tok_shadow"
    }
    _ = await acquirer.authorize(request, deadline)
  }
}

/// What shadow mode found out about one payment.
package struct ShadowFindings: Sendable {
  /// Why the payment token would be refused; nil when it is good.
  package fileprivate(set) var refusal: PaymentTokenError?
  /// Whether the payment request carried application data, which Tender's own pages always send.
  package let hasApplicationData: Bool
  /// The amount that the shopper agreed to; nil for a sealed payment token.
  package fileprivate(set) var signedAmount: Amount?
  package fileprivate(set) var payment: RoutedPayment?
  fileprivate var instrument: PaymentInstrument?
  /// What each of the merchant's rules says.
  package fileprivate(set) var rules: [RouteFinding] = []
  /// Where the payment would go; nil where no route takes it.
  package fileprivate(set) var route: String?

  fileprivate init(hasApplicationData: Bool) { self.hasApplicationData = hasApplicationData }
}

extension AcquirerCapabilities.Instrument {
  fileprivate init(_ instrument: PaymentInstrument) {
    switch instrument {
    case .network: self = .network
    case .sealed: self = .sealed
    case .stored: self = .stored
    }
  }
}

extension RouteChoice {
  fileprivate func payment(
    of order: Order, _ instrument: PaymentInstrument, sealedTo key: [UInt8]
  ) -> RoutedPayment {
    switch instrument {
    case .network(let card): return payment(of: order, .network, network: CardNetwork(of: card.dpan))
    case .sealed:
      var routed = payment(of: order, .sealed, network: sale.cardNetwork)
      routed.sealedKey = key
      return routed
    case .stored(let credential): return payment(of: order, .stored, network: credential.card.network)
    }
  }
}
