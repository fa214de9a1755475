import Acquiring
import ApplePayToken
package import Gateway
import HTTPTypes
import HostedCheckout
package import Ledger
import Logging
import Mail
import MerchantIdentity
import Orders
import PlatformAPI
package import Settings
import Storage
import Telemetry
package import TenderPayments
import Webhooks

/// What an operator does to a payment, on its page and by `tender payment`, whether a server holds the store or the command
/// line itself.
package struct PaymentAdministration: Sendable {
  /// What can be done to a payment by hand.
  package enum Operation: String, Sendable, CaseIterable {
    case capture, void, refund
    /// Raises what is held.
    case increment
    /// Asks the acquirer for the outcome of open operations.
    case inquire
    /// An operator has looked at what raised an alarm.
    case acknowledge
  }

  let gateway: PaymentGateway
  let journal: Journal
  let random: RandomBytes
  /// Closes the connections; does nothing inside a server.
  package let close: @Sendable () async -> Void

  package init(gateway: PaymentGateway, journal: Journal, random: RandomBytes) {
    self.gateway = gateway
    self.journal = journal
    self.random = random
    close = {}
  }

  /// For the command line, while no server runs: the same gateway, asked without one.
  package init(_ journal: Journal, _ configuration: ServerConfiguration) async throws {
    let (network, logger) = (try Network.live(configuration.outbound), Logger(label: "tender"))
    do {
      let apple = try await AppleEnvironment(configuration, network.plain)
      self.journal = journal
      random = .system
      // No payment token is opened here.
      gateway = PaymentGateway(
        opener: TokenOpener(verifier: TokenVerifier(trust: apple.trust), keys: ProcessingKeyRing([:])),
        journal: journal,
        acquirer: Acquirer.configured(configuration, apple, network.plain, log: TranscriptLog(to: logger).note))
      close = network.close
    } catch {
      await network.close()
      throw error
    }
  }
}

extension PaymentAdministration {
  package func verify() async throws -> AuditReport { try await journal.verifyAudit() }

  /// - Parameters:
  ///   - amount: in the payment's currency, as `10.00`; nil for all that is left.
  ///   - key: under which a capture, void, refund or increment is done once, however often it is asked for; nil for a
  ///     new one.
  ///   - addition: of the caller, to the commit that reserves the operation.
  package func perform(
    _ operation: Operation, on id: PaymentID, amount: String?, isFinal: Bool, key: String? = nil,
    adding addition: ReservationAddition? = nil
  ) async throws -> PaymentReport {
    guard let payment = try await journal.payment(id) else {
      throw GatewayError.operationRefused(.noSuchPayment(id))
    }
    let amount = try amount.map { try Self.amount($0, payment.amount.currency) }
    if operation != .acknowledge { try await gateway.refuseUnfinishedElsewhere() }
    let key = try key.map(Self.idempotencyKey) ?? IdempotencyKey(random.hex(16))
    func once(_ followUp: FollowUp) async throws -> [OperationRecord] {
      try await self.once(key, followUp.adding(addition).byPerson, operation, payment, amount, isFinal: isFinal)
    }
    var performed: [OperationRecord]?
    switch operation {
    case .capture: performed = try await once(.capture(id, amount, isFinal: isFinal))
    case .void: performed = try await once(.void(id, amount))
    case .refund: performed = try await once(.refund(id, amount))
    case .increment:
      guard let amount else {
        throw Problem(.badRequest, "bad_request", "An increment needs its amount.", field: "amount")
      }
      performed = try await once(.increment(id, by: amount))
    case .inquire: _ = try await onPaymentThreads { [gateway] in try await gateway.inquire(id) }
    case .acknowledge: try await journal.acknowledge(id)
    }
    return try await gateway.reading(id) {
      PaymentReport(
        try await journal.payment(id) ?? payment, reference: try await reference(of: payment.order),
        operations: try await journal.operations(of: id), performed: performed, key: performed == nil ? nil : key)
    }
  }

  /// Captures, voids, refunds or increments once for the key. A repeat gets the operations that the first call began, as
  /// they were when they were over.
  private func once(
    _ key: IdempotencyKey, _ followUp: FollowUp, _ operation: Operation, _ payment: Payment, _ amount: Amount?,
    isFinal: Bool
  ) async throws -> [OperationRecord] {
    let call = Self.call(key, operation, payment, "\(amount.map { "\($0)" } ?? "all") \(isFinal)")
    let answer = try await onPaymentThreads { [gateway] in
      try await gateway.perform(followUp, under: call)
    }
    guard answer.sameRequest else {
      throw Problem(
        .unprocessableContent, "idempotency_key_reused", "This key was used for the same payment with another amount.",
        field: "key")
    }
    return answer.outcome.operations
  }

  private static func call(
    _ key: IdempotencyKey, _ operation: Operation, _ payment: Payment, _ requestHash: String
  ) -> IdempotentCall {
    IdempotentCall(
      merchant: payment.merchant, call: "administration \(operation.rawValue) \(payment.id)", key: key,
      requestHash: requestHash)
  }

  /// Whether the key was used for such an operation of the payment before.
  func isRepeat(_ operation: Operation, of payment: Payment?, under key: String?) async throws -> Bool {
    guard let payment, let key else { return false }
    let call = Self.call(IdempotencyKey(key), operation, payment, "")
    return try await journal.database.read { try IdempotencyKeys.first(of: call, in: $0) } != nil
  }

  /// Runs what payments do too where they run: an actor that both ask must not wait for the caller's own threads.
  func onPaymentThreads<R: Sendable>(_ work: @Sendable () async throws -> R) async throws -> R {
    try await withTaskExecutorPreference(globalConcurrentExecutor, operation: work)
  }

  static func idempotencyKey(_ text: String) throws -> IdempotencyKey {
    guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw Problem(
        .badRequest, "bad_request", "An idempotency key has 1 to 64 visible ASCII characters.", field: "key")
    }
    return IdempotencyKey(text)
  }

  /// Records an operator's decision about a payment or an operation that stays open, or that an operation was approved
  /// after all.
  ///
  /// - Parameter operation: a capture, void or refund; needed by `approved`, and not for `voided`.
  package func resolve(
    _ id: PaymentID, as resolution: Resolution, operation: AttemptReference? = nil, note: String
  ) async throws -> PaymentReport {
    guard resolution == .failed || (resolution == .approved) == (operation != nil) else {
      throw Problem(
        .badRequest, "bad_request", "An operation is approved or failed, a payment voided or failed.",
        field: "operation")
    }
    guard note.contains(where: { !$0.isWhitespace }), note.utf8.count <= 500 else {
      throw Problem(.badRequest, "note_missing", "Say in 1 to 500 bytes what the decision rests on.", field: "note")
    }
    do {
      let payment =
        if let operation { try await resolve(operation, of: id, as: resolution, note: note) } else {
          try await journal.resolve(id, as: resolution, note: note)
        }
      return try await gateway.reading(id) {
        PaymentReport(
          payment, reference: try await reference(of: payment.order), operations: try await journal.operations(of: id))
      }
    } catch let error as JournalError {
      throw GatewayError.operationRefused(error)
    }
  }

  /// An open operation ends; one that is recorded as declined or failed was approved after all.
  private func resolve(
    _ operation: AttemptReference, of id: PaymentID, as resolution: Resolution, note: String
  ) async throws -> Payment {
    let known = try await journal.operations(of: id).first { $0.reference == operation }
    guard resolution == .failed || known?.state.isOpen == true else {
      return try await journal.recordApproval(of: operation, in: id, note: note)
    }
    return try await gateway.end(operation, of: id, as: resolution, note: note)
  }

  /// The merchant's reference of the order.
  func reference(of order: OrderID) async throws -> String? {
    try await journal.database.read { try MerchantReferences.reference(of: order, in: $0) }
  }

  static func amount(_ text: String, _ currency: Currency) throws -> Amount {
    do throws(MistypedAmount) { return try Amount(typed: text, in: currency) } catch {
      throw Problem(.badRequest, "invalid_amount", "\(error)", field: "amount")
    }
  }
}

/// Payments as the command line lists them.
package struct PaymentListing: Codable, Sendable {
  package let payments: [PaymentReport]
}

/// A payment as the command line shows it.
package struct PaymentReport: Codable, Sendable {
  package let id: PaymentID
  package let status: PaymentStatus
  package let merchant: MerchantID
  package let order: OrderID
  package let basket: BasketID
  /// The merchant's reference of the order; nil before the order is stored.
  package let merchantReference: String?
  package let currency: String
  /// Minor units.
  package let amount: Int64
  package let authorized: Int64
  package let captured: Int64
  /// What was held and released without being captured; absent when there is none.
  package let released: Int64?
  package let refunded: Int64
  /// Absent when there is none.
  package let chargedBack: Int64?
  package let card: String
  /// As Apple names it.
  package let cardNetwork: String?
  package let cardType: PaymentMethodType?
  /// Apple's identifier of the transaction.
  package let transactionIdentifier: String?
  /// Whether the amount inside the payment token was seen; false when the provider opened it.
  package let amountConfirmed: Bool
  /// The outcome that the page was given.
  package let reportedOutcome: ReportedOutcome?
  package let declined: String?
  package let alarm: String?
  package let createdAt: String
  /// Oldest first; absent in lists.
  package private(set) var operations: [OperationReport]?
  /// The trace of the call that made it; absent in lists, and where that was not traced.
  package private(set) var traceId: String?
  /// What was just asked of the acquirer, or was when the key was used first; absent when nothing was. Several where a
  /// refund gives back several captures: each has its own state.
  package let performed: [OperationReport]?
  /// The idempotency key that it was done under.
  package let idempotencyKey: IdempotencyKey?

  private enum CodingKeys: String, CodingKey {
    case id, status, merchant, order, basket, merchantReference, currency, amount, authorized, captured, released,
      refunded, chargedBack, card, cardNetwork, cardType, transactionIdentifier, amountConfirmed, reportedOutcome
    case declined, alarm, createdAt, operations, traceId, performed, idempotencyKey
  }

  package init(
    _ payment: Payment, reference: String?, alarm: String? = nil, operations: [OperationRecord]? = nil,
    performed: [OperationRecord]? = nil, key: IdempotencyKey? = nil
  ) {
    id = payment.id
    status = payment.status
    merchant = payment.merchant
    order = payment.order
    basket = payment.basket
    merchantReference = reference
    currency = payment.amount.currency.code
    amount = payment.amount.minorUnits
    authorized = payment.authorized
    captured = payment.captured
    released = payment.released > 0 ? payment.released : nil
    refunded = payment.refunded
    chargedBack = payment.chargedBack > 0 ? payment.chargedBack : nil
    card = Self.card(payment.card)
    (cardNetwork, cardType) = (payment.card.network?.appleName, payment.card.type)
    transactionIdentifier = payment.transactionIdentifier
    amountConfirmed = payment.amountConfirmed
    reportedOutcome = payment.reportedOutcome
    declined = payment.decline?.reason.rawValue
    self.alarm = alarm
    createdAt = payment.createdAt.description
    self.operations = operations?.map(OperationReport.init)
    self.performed = performed?.map(OperationReport.init)
    idempotencyKey = key
  }

  /// The card as the shopper saw it, and the end of the device account number, which is on the acquirer's side.
  private static func card(_ card: CardSummary) -> String {
    let device = card.deviceAccountSuffix.map { "device \($0)" } ?? "sealed"
    return card.name.map { "\($0) (\(device))" } ?? device
  }

  /// - Parameter units: minor units of the payment's currency.
  package func money(_ units: Int64) -> String {
    Currency(code: currency).map { "\(Amount(minorUnits: units, currency: $0))" } ?? "\(units) \(currency)"
  }

  /// What came of what was asked of the acquirer: `refund of 5.00 EUR: declined (13)`; the status where nothing was.
  package var outcome: String {
    let parts = (performed ?? []).map { operation in
      "\(operation.kind.rawValue) of \(money(operation.amount)): \(operation.state.rawValue)"
        + (operation.code.map { " (\($0))" } ?? "")
    }
    return parts.isEmpty ? status.rawValue : parts.joined(separator: ", ")
  }

  func with(_ operations: [OperationRecord], _ trace: TraceContext?) -> PaymentReport {
    var report = self
    report.traceId = trace?.trace
    report.operations = operations.map(OperationReport.init)
    return report
  }
}

/// One operation of a payment at the acquirer.
package struct OperationReport: Codable, Sendable {
  package let reference: AttemptReference
  package let kind: OperationKind
  /// Minor units of the payment's currency.
  package let amount: Int64
  package let state: OperationState
  package let cause: OperationCause
  package let code: String?
  /// Whether the same request may be approved later; absent unless it was declined.
  package let declineClass: DeclineClass?
  package let acquirerReference: String?
  package let sentAt: String
  package let answeredAt: String?

  init(_ operation: OperationRecord) {
    reference = operation.reference
    kind = operation.kind
    amount = operation.amount.minorUnits
    state = operation.state
    cause = operation.cause
    code = operation.code
    declineClass = operation.decline?.declineClass
    acquirerReference = operation.acquirerReference
    sentAt = operation.sentAt.description
    answeredAt = operation.answeredAt?.description
  }
}
