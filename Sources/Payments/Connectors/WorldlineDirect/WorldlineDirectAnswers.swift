import Acquiring
import DirectWire
import HTTPTransport
import StrictJSON
import TenderPayments

/// What Worldline Direct's answers mean.
///
/// An answer counts only when it parses and is about our payment, reference and amount. Everything else leaves the
/// outcome unknown.
enum WorldlineDirectAnswers {
  /// The answer to `POST /payments`.
  static func authorization(_ response: InboundResponse, _ request: AuthorizationRequest) -> AcquirerAnswer {
    guard response.status == 201 else { return refusal(response) { isAbout(request, $0.paymentResult?.payment) } }
    return reading(response, CreatePaymentAnswer.self) { answer in
      guard isAbout(request, answer.payment), let id = DirectPaymentID(answer.payment.id) else { return .another }
      // The payment waits for the shopper, and no page sends the shopper there.
      guard answer.merchantAction == nil else {
        return .declined(Decline(reason: .authenticationRequired, code: "merchantAction"))
      }
      return authorization(answer.payment, id.authorization)
    }
  }

  /// The answer to `POST /payments/{id}/subsequent`.
  static func subsequent(_ response: InboundResponse, _ request: AuthorizationRequest) -> AcquirerAnswer {
    guard response.status == 201 else { return refusal(response) { isAbout(request, $0.paymentResult?.payment) } }
    return reading(response, SubsequentPaymentAnswer.self) { answer in
      guard isAbout(request, answer.payment), let id = DirectPaymentID(answer.payment.id) else { return .another }
      return authorization(answer.payment, id.authorization)
    }
  }

  /// Whether the payment has our reference and our amount.
  private static func isAbout(_ request: AuthorizationRequest, _ payment: DirectPayment?) -> Bool {
    guard let output = payment?.paymentOutput else { return false }
    return output.references?.merchantReference == request.reference.rawValue
      && output.amountOfMoney == AmountOfMoney(request.amount)
  }

  /// What a payment says of its authorization. Captured and refunded money was authorized.
  static func authorization(_ payment: DirectPayment, _ id: DirectPaymentID) -> AcquirerAnswer {
    guard let state = state(payment.statusOutput, payment.status) else { return .unreadable("an unknown status") }
    switch (state.subject, state.progress) {
    case (.authorization, .open): return .pending(Pending(acquirerReference: id.description))
    case (.authorization, .refused):
      return .declined(
        WorldlineDirectDeclines.decline(payment.statusOutput.errors ?? [], else: "\(state.rawValue)"))
    case (.cancel, .done): return .declined(Decline(reason: .other, code: "\(state.rawValue)"))
    case (.cancel, _): return .unreadable("the payment is being cancelled")
    case (.authorization, .done), (.capture, _), (.refund, _): return .approved(approval(payment, id))
    }
  }

  static func approval(_ payment: DirectPayment, _ id: DirectPaymentID) -> Approval {
    Approval(
      acquirerReference: id.description,
      authorizationCode: payment.paymentOutput.mobilePaymentMethodSpecificOutput?.authorisationCode)
  }

  /// The answer to a capture.
  static func capture(
    _ response: InboundResponse, _ request: FollowUpRequest, of payment: DirectPaymentID
  ) -> AcquirerAnswer {
    guard response.status == 201 else { return refusal(response) { _ in true } }
    return reading(response, DirectCapture.self) { capture in
      answer(
        to: .capture, request, payment, id: capture.id, state(capture.statusOutput, capture.status),
        capture.captureOutput, capture.statusOutput.errors)
    }
  }

  /// The answer to a refund.
  static func refund(
    _ response: InboundResponse, _ request: FollowUpRequest, of payment: DirectPaymentID
  ) -> AcquirerAnswer {
    guard response.status == 201 else {
      return refusal(response) { $0.refundResult.map { DirectPaymentID($0.id)?.payment == payment.payment } ?? true }
    }
    return reading(response, DirectRefund.self) { refund in
      answer(
        to: .refund, request, payment, id: refund.id, state(refund.statusOutput, refund.status), refund.refundOutput,
        refund.statusOutput.errors)
    }
  }

  /// The state of an operation of this payment, with our reference where it has one, and our amount.
  private static func answer(
    to kind: WorldlineDirectOperation, _ request: FollowUpRequest, _ payment: DirectPaymentID, id: String,
    _ state: DirectStatus?, _ output: DirectPaymentOutput?, _ faults: [PlatformFault]?
  ) -> AcquirerAnswer {
    guard let name = DirectPaymentID(id), name.payment == payment.payment, name.operation > 0,
      output?.amountOfMoney == AmountOfMoney(request.amount),
      output?.operationReferences?.merchantReference ?? kind.reference(request.reference)
        == kind.reference(request.reference)
    else { return .another }
    guard let state, state.subject == kind.subject || state == .rejected else { return .unreadable("another status") }
    return operation(state, name, faults ?? [])
  }

  static func operation(_ state: DirectStatus, _ name: DirectPaymentID, _ faults: [PlatformFault]) -> AcquirerAnswer {
    switch state.progress {
    case .done: .approved(Approval(acquirerReference: name.description))
    case .open: .pending(Pending(acquirerReference: name.description))
    case .refused: .declined(WorldlineDirectDeclines.decline(faults, else: "\(state.rawValue)"))
    }
  }

  /// The answer to a cancel. After a cancel of a part the payment itself may still wait for its capture.
  static func cancel(
    _ response: InboundResponse, _ request: FollowUpRequest, of payment: DirectPaymentID
  ) -> AcquirerAnswer {
    guard response.status == 200 else { return refusal(response) { _ in true } }
    return reading(response, CancelPaymentAnswer.self) { answer in
      guard let name = DirectPaymentID(answer.payment.id), name.payment == payment.payment,
        isAbout(request, answer.payment.operationOutput)
      else { return .another }
      let operation = answer.payment.operationOutput?.statusOutput ?? answer.payment.statusOutput
      guard let state = operation.state, state.subject == .cancel || state == .pendingCapture && !request.isWhole else {
        return .unreadable("another status")
      }
      return self.operation(state, name, operation.errors ?? [])
    }
  }

  private static func isAbout(_ request: FollowUpRequest, _ operation: DirectOperation?) -> Bool {
    guard let operation else { return true }
    let ours = WorldlineDirectOperation.void.reference(request.reference)
    return operation.amountOfMoney ?? AmountOfMoney(request.amount) == AmountOfMoney(request.amount)
      && operation.operationReferences?.merchantReference ?? ours == ours
  }

  /// The state, if word and number agree.
  static func state(_ output: DirectStatusOutput, _ word: String) -> DirectStatus? {
    output.state.flatMap { $0.word == word ? $0 : nil }
  }

  /// The answer to `GET /payments/{id}`, if it is about this payment.
  static func payment(_ response: InboundResponse, _ id: DirectPaymentID) -> DirectPayment? {
    guard response.status == 200, let found = try? DirectJSON.read(DirectPayment.self, response.body),
      DirectPaymentID(found.id)?.payment == id.payment
    else { return nil }
    return found
  }

  /// The answer to `GET /services/testconnection`.
  static func credentials(_ response: InboundResponse) -> CredentialCheck {
    switch response.status {
    case 200:
      let answer = try? DirectJSON.read(ConnectionAnswer.self, response.body)
      return answer?.result == "OK"
        ? .accepted : .unavailable(Interruption(.unintelligibleAnswer, detail: "HTTP 200 without OK"))
    case 401, 403: return .refused("Worldline Direct knows no such API key of this merchant, or the clock is wrong")
    default: return .unavailable(Interruption(.serverError, detail: "HTTP \(response.status)"))
    }
  }
}

extension WorldlineDirectOperation {
  fileprivate var subject: DirectStatus.Subject {
    switch self {
    case .capture: .capture
    case .void: .cancel
    case .refund: .refund
    }
  }
}

// What an inquiry by Worldline's name finds.
extension WorldlineDirectAnswers {
  static func inquiry(_ response: InboundResponse, _ request: InquiryRequest, _ name: DirectPaymentID) -> Inquiry {
    guard response.status == 200 else {
      return .unavailable(Interruption(.serverError, detail: "HTTP \(response.status)"))
    }
    let answer: AcquirerAnswer =
      switch request.kind {
      case .increment: .another
      case .authorization, .void:
        reading(response, DirectPayment.self) { payment($0, request, name) }
      case .capture:
        reading(response, CapturesAnswer.self) { answer in
          operation(answer.captures.map { ($0.id, state($0.statusOutput, $0.status), $0.captureOutput) }, request, name)
        }
      case .refund:
        reading(response, RefundsAnswer.self) { answer in
          operation(answer.refunds.map { ($0.id, state($0.statusOutput, $0.status), $0.refundOutput) }, request, name)
        }
      }
    if case .unknown(let interruption) = answer { return .unavailable(interruption) }
    return .answer(answer)
  }

  private static func payment(
    _ payment: DirectPayment, _ request: InquiryRequest, _ name: DirectPaymentID
  ) -> AcquirerAnswer {
    guard DirectPaymentID(payment.id)?.payment == name.payment else { return .another }
    guard request.kind == .authorization else {
      guard let state = payment.statusOutput.state, state.subject == .cancel else { return .another }
      return operation(state, name, payment.statusOutput.errors ?? [])
    }
    guard payment.paymentOutput.amountOfMoney == AmountOfMoney(request.amount),
      payment.paymentOutput.references?.merchantReference == request.reference.rawValue
    else { return .another }
    return authorization(payment, name.authorization)
  }

  private static func operation(
    _ listed: [(id: String, state: DirectStatus?, output: DirectPaymentOutput?)], _ request: InquiryRequest,
    _ name: DirectPaymentID
  ) -> AcquirerAnswer {
    guard let found = listed.first(where: { DirectPaymentID($0.id) == name }), let state = found.state,
      found.output?.amountOfMoney == AmountOfMoney(request.amount)
    else { return .another }
    return operation(state, name, [])
  }
}

// Answers that are no success.
extension WorldlineDirectAnswers {
  private static func reading<Answer: Decodable>(
    _ response: InboundResponse, _ type: Answer.Type, _ read: (Answer) -> AcquirerAnswer
  ) -> AcquirerAnswer {
    if let repeated = response.header(Idempotence.requestTimestamp), Int64(repeated) == nil {
      return .unreadable("\(Idempotence.requestTimestamp) is no time")
    }
    do { return read(try DirectJSON.read(type, response.body)) } catch {
      return .unreadable((error as? JSONError)?.description ?? "an answer that cannot be read")
    }
  }

  /// A refusal is one if Worldline's own error says so. A refused payment must be ours.
  private static func refusal(_ response: InboundResponse, _ isOurs: (PlatformError) -> Bool) -> AcquirerAnswer {
    if response.status == 429 { return .declined(Decline(reason: .issuerUnavailable, code: "HTTP 429")) }
    guard (400..<500).contains(response.status), response.status != 409,
      let error = try? DirectJSON.read(PlatformError.self, response.body), !error.errors.isEmpty
    else { return failure(response) }
    if error.refused != nil || response.status == 402 {
      guard error.refused == nil || isOurs(error) else { return .another }
      guard error.refused?.progress ?? .refused == .refused else { return .unreadable("a refusal that is none") }
      return .declined(WorldlineDirectDeclines.decline(error.errors, else: "HTTP 402"))
    }
    return .declined(WorldlineDirectDeclines.refusal(error.errors, status: response.status))
  }

  private static func failure(_ response: InboundResponse) -> AcquirerAnswer {
    guard response.status == 409 else {
      return .unknown(Interruption(.serverError, detail: "HTTP \(response.status)"))
    }
    return .unknown(Interruption(.acquirerUncertain, detail: "HTTP 409: the first call under this key still runs"))
  }
}

extension PlatformError {
  /// The state of the payment or refund that was refused.
  fileprivate var refused: DirectStatus? {
    paymentResult?.payment.statusOutput.state ?? refundResult?.statusOutput.state
  }
}

extension AcquirerAnswer {
  static let another = AcquirerAnswer.unreadable("the answer to another operation")

  static func unreadable(_ detail: String) -> AcquirerAnswer {
    .unknown(Interruption(.unintelligibleAnswer, detail: detail))
  }
}
