import Acquiring
import HTTPTransport
import StrictJSON
import TenderPayments

// An authorization is found by our reference, an action in the list of its payment.
extension CheckoutComConnector {
  enum Lookup<Found: Sendable>: Sendable {
    case found(Found)
    case missing
    case unavailable(Interruption)

    fileprivate func inquiry(_ read: (Found) -> Inquiry) -> Inquiry {
      switch self {
      case .found(let found): read(found)
      case .missing: .notFound
      case .unavailable(let interruption): .unavailable(interruption)
      }
    }
  }

  func inquire(_ request: InquiryRequest, _ deadline: Deadline) async -> Inquiry {
    guard let kind = CheckoutComAction(request.kind) else { return await inquireAuthorization(request, deadline) }
    guard let authorization = request.authorization else {
      return .unavailable(Interruption(.acquirerUncertain, detail: "the payment's name is not known"))
    }
    switch await find(authorization, deadline) {
    case .missing: return .notFound
    case .unavailable(let interruption): return .unavailable(interruption)
    case .found(let payment):
      return await actions(of: payment, deadline).inquiry { Self.result(of: kind, request, payment, $0) }
    }
  }

  private static func result(
    of kind: CheckoutComAction, _ request: InquiryRequest, _ payment: CheckoutComPayment,
    _ actions: [CheckoutComActionEntry]
  ) -> Inquiry {
    let ours = actions.filter {
      $0.type == kind.type && ($0.operation == request.reference || $0.id == request.acquirerReference)
    }
    guard ours.count <= 1 else { return .unavailable(.several(ours.count)) }
    guard let action = ours.first else {
      // The hold is gone without it, so it cannot be done any more.
      let isVain = payment.isEnded && kind != .refund
      return isVain ? .answer(.declined(Decline(reason: .holdEnded, code: payment.status))) : .notFound
    }
    guard kind == .void || action.amount == request.amount else { return .unavailable(.anotherAmount) }
    return .answer(action.answer(called: action.id))
  }

  private func inquireAuthorization(_ request: InquiryRequest, _ deadline: Deadline) async -> Inquiry {
    let payment: CheckoutComPayment
    switch await bearing(request.reference, deadline) {
    case .missing: return .notFound
    case .unavailable(let interruption): return .unavailable(interruption)
    case .found(let found): payment = found
    }
    guard payment.amount == request.amount else { return .unavailable(.anotherAmount) }
    if payment.status == "Pending" { return .answer(.pending(Pending(acquirerReference: payment.id))) }
    if payment.isEnded { return .answer(.declined(Decline(reason: .holdEnded, code: payment.status))) }
    return await actions(of: payment, deadline).inquiry { actions in
      guard let action = actions.last(where: { $0.type == "Authorization" }) else { return .notFound }
      guard action.amount == request.amount else { return .unavailable(.anotherAmount) }
      return .answer(action.answer(called: payment.id, of: payment))
    }
  }

  /// The payment with our reference. Of several those are left out that were declined: a request whose error was not
  /// kept may have been tried twice. If several were approved, a person has to look.
  private func bearing(_ reference: AttemptReference, _ deadline: Deadline) async -> Lookup<CheckoutComPayment> {
    guard Self.isKey(reference) else { return .missing }
    let response = await get("/payments?limit=100&reference=\(reference.rawValue)&skip=0", deadline)
    let found = lookup(response) { root throws(JSONError) in
      var payments: [CheckoutComPayment] = []
      for field in try root.member("data").array { payments.append(try CheckoutComPayment(field)) }
      guard payments.allSatisfy({ $0.reference == reference.rawValue }) else {
        throw JSONError(.invalid, path: "$.data", "a search that found other payments")
      }
      return payments
    }
    switch found {
    case .missing: return .missing
    case .unavailable(let interruption): return .unavailable(interruption)
    case .found(let payments):
      let alive = payments.filter { $0.status != "Declined" }
      guard alive.count <= 1 else { return .unavailable(.several(alive.count)) }
      return (alive.first ?? payments.first).map(Lookup.found) ?? .missing
    }
  }

  /// The payment of this name.
  func find(_ id: String, _ deadline: Deadline) async -> Lookup<CheckoutComPayment> {
    guard CheckoutComAnswers.isName(id) else { return .missing }
    return lookup(await get("/payments/\(id)", deadline)) { root throws(JSONError) in
      let payment = try CheckoutComPayment(root)
      guard payment.id == id else { throw JSONError(.invalid, path: "$.id", "another payment") }
      return payment
    }
  }

  /// What was processed on a payment, the newest first.
  func actions(of payment: CheckoutComPayment, _ deadline: Deadline) async -> Lookup<[CheckoutComActionEntry]> {
    lookup(await get("/payments/\(payment.id)/actions", deadline)) { root throws(JSONError) in
      var actions: [CheckoutComActionEntry] = []
      for field in try root.array { actions.append(try CheckoutComActionEntry(field, payment.amount.currency)) }
      return actions
    }
  }

  func lookup<Found>(
    _ response: Response, _ read: (JSONField) throws(JSONError) -> Found
  ) -> Lookup<Found> {
    switch response {
    case .failure(let error): return .unavailable(error.interruption)
    case .success(let response) where response.status == 404: return .missing
    case .success(let response) where response.status != 200:
      return .unavailable(Interruption(.serverError, detail: "HTTP \(response.status)"))
    case .success(let response):
      do throws(JSONError) { return .found(try read(JSONField(try JSONReader.read(response.body)))) } catch {
        return .unavailable(Interruption(.unintelligibleAnswer, detail: error.description))
      }
    }
  }
}

extension CheckoutComAction {
  /// Nil for an authorization, and for what Checkout.com is not asked to do.
  fileprivate init?(_ kind: InquiredOperation) {
    switch kind {
    case .authorization, .increment: return nil
    case .capture: self = .capture
    case .void: self = .void
    case .refund: self = .refund
    }
  }
}

extension Interruption {
  fileprivate static var anotherAmount: Interruption {
    Interruption(.unintelligibleAnswer, detail: "the payment or action has another amount")
  }

  fileprivate static func several(_ count: Int) -> Interruption {
    Interruption(.acquirerUncertain, detail: "\(count) of them have this reference")
  }
}
