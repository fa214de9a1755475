import Acquiring
import DirectWire
import HTTPTransport
import StrictJSON
import TenderPayments

/// Worldline Direct's webhooks: one event in each call, signed over its bytes with a key that a header names.
///
/// Worldline signs no time and promises no order, so an old event is told by its id alone, which is kept for good.
enum WorldlineDirectEvents {
  static func read(_ event: InboundEvent, _ settings: WorldlineDirectSettings) throws(EventRefusal) -> EventBatch {
    guard isSigned(event, settings.webhookKeys) else { throw .notAuthentic }
    guard let root = try? JSONField(JSONReader.read(event.body)), let type = try? root.member("type").string,
      let merchant = try? root.member("merchantId").string
    else { throw .unintelligible }
    guard isAboutMoney(type) else { return .nothing }
    guard merchant == settings.merchantID else { return .of(merchant) }
    guard let said = try? DirectJSON.read(DirectEvent.self, event.body), isVersion(said.apiVersion) else {
      throw .unintelligible
    }
    return try Self.event(said).map { EventBatch(events: [$0]) } ?? .nothing
  }

  /// Other kinds are about payouts, links and tokens, or a person has sent them from the Merchant Portal.
  private static func isAboutMoney(_ type: String) -> Bool {
    type.hasPrefix("payment.") && type != "payment.test" || type.hasPrefix("refund.")
  }

  /// The headers of the key's id and of the signature stand there once, and that key has signed the bytes. Comparing
  /// signatures takes the same time wherever they differ.
  private static func isSigned(_ event: InboundEvent, _ keys: [WorldlineDirectKey]) -> Bool {
    guard let id = only(WebhookSignature.keyHeader, event), let signature = only(WebhookSignature.header, event) else {
      return false
    }
    return keys.contains { $0.id == id && $0.webhooks.isValid(signature, for: event.body) }
  }

  private static func only(_ name: String, _ event: InboundEvent) -> String? {
    let values = event.headers.filter { $0.name.lowercased() == name.lowercased() }
    return values.count == 1 ? values[0].value : nil
  }

  private static func isVersion(_ text: String) -> Bool { text == DirectEvent.version }

  /// Nil for what does not end an operation. An event about a refund has it as its `refund`, also under the type
  /// `payment.refunded`.
  private static func event(_ said: DirectEvent) throws(EventRefusal) -> AcquirerEvent? {
    if let payment = said.payment { return try event(said.id, payment) }
    guard let refund = said.refund else { throw .unintelligible }
    let operation = WorldlineDirectEventOperation(
      id: refund.id, state: WorldlineDirectAnswers.state(refund.statusOutput, refund.status),
      amount: refund.refundOutput?.amountOfMoney,
      reference: refund.refundOutput?.operationReferences?.merchantReference,
      faults: refund.statusOutput.errors ?? [])
    return try operation.event(said.id)
  }

  private static func event(_ id: String, _ payment: DirectPayment) throws(EventRefusal) -> AcquirerEvent? {
    guard let name = DirectPaymentID(payment.id) else { throw .unintelligible }
    guard name.operation == 0 else {
      // Without the operation's own amount the event says nothing of how much moved: an inquiry tells.
      guard let own = payment.operationOutput, own.amountOfMoney != nil else { return nil }
      let operation = WorldlineDirectEventOperation(
        id: payment.id, state: WorldlineDirectAnswers.state(payment.statusOutput, payment.status),
        amount: own.amountOfMoney, reference: own.operationReferences?.merchantReference,
        faults: payment.statusOutput.errors ?? [])
      return try operation.event(id)
    }
    return try authorization(id, payment, name)
  }

  /// An event about operation 0: the authorization, or its end by a person or by time.
  private static func authorization(
    _ id: String, _ payment: DirectPayment, _ name: DirectPaymentID
  ) throws(EventRefusal) -> AcquirerEvent? {
    guard let amount = payment.paymentOutput.amountOfMoney?.value, amount.isPositive else { throw .unintelligible }
    guard let state = WorldlineDirectAnswers.state(payment.statusOutput, payment.status) else { return nil }
    if state.subject == .cancel {
      guard state.progress == .done else { return nil }
      return AcquirerEvent(
        id: id, subject: .authorization(name.description), amount: amount, content: .movement(.void),
        name: name.description)
    }
    let answer = WorldlineDirectAnswers.authorization(payment, name)
    guard answer.isFinal else { return nil }
    guard let reference = payment.paymentOutput.references?.merchantReference, !reference.isEmpty else {
      throw .unintelligible
    }
    return AcquirerEvent(id: id, reference: AttemptReference(reference), amount: amount, answer: answer)
  }
}

/// What an event says of a capture, a cancel or a refund.
private struct WorldlineDirectEventOperation {
  let id: String
  let state: DirectStatus?
  let amount: AmountOfMoney?
  let reference: String?
  let faults: [PlatformFault]

  /// Nil while the operation is open, and for a state that is not known.
  ///
  /// An operation of ours has our reference. Without one it is found by Worldline's name, or it is a person's.
  func event(_ event: String) throws(EventRefusal) -> AcquirerEvent? {
    guard let name = DirectPaymentID(id), let amount = amount?.value, amount.isPositive else { throw .unintelligible }
    guard let state, state.progress != .open else { return nil }
    return AcquirerEvent(
      id: event, subject: subject(name, state), amount: amount,
      content: .answer(WorldlineDirectAnswers.operation(state, name, faults)))
  }

  private func subject(_ name: DirectPaymentID, _ state: DirectStatus) -> AcquirerEvent.Subject {
    if let ours = reference.flatMap(WorldlineDirectOperation.operation) { return .operation(ours) }
    guard state.progress == .done, let movement = state.movement else { return .acquirerOperation(name.description) }
    return .operationOfAnyone(called: name.description, of: name.authorization.description, moving: movement)
  }
}

extension DirectStatus {
  /// What a person did in the Merchant Portal.
  fileprivate var movement: MoneyMovement? {
    switch subject {
    case .authorization: nil
    case .capture: .capture
    case .cancel: .void
    case .refund: .refund
    }
  }
}

extension AcquirerAnswer {
  /// Whether it may end an operation.
  fileprivate var isFinal: Bool {
    switch self {
    case .approved, .declined: true
    case .pending, .unknown, .notSent: false
    }
  }
}
