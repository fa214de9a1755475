import TenderCheckoutAPI
import TenderPayments
import TenderSheet

/// Makes the server calls of a sheet for one basket.
struct ServerCalls: Sendable {
  let client: CheckoutClient
  let basket: BasketID
  let checks: AddressChecks
  #if DEBUG
    var simulated: SimulatedPayments?
  #endif

  /// What a call needs beside its own parameters.
  struct Context: Sendable {
    let sheet: PreparedSheet?
    /// What the sheet shows now.
    let shown: SheetUpdate?
    let quote: QuoteID?
    let payment: AuthorizedPayment?
  }

  /// The server's answer, with the data that the flow does not carry.
  struct Reply: Sendable {
    var answer: ServerAnswer
    var session: [UInt8]?
    var order: PaymentAnswer?
    /// The reason of a refusal, for the integrator.
    var detail: String?
    /// The payment to continue with, if a simulated one replaced it.
    var payment: AuthorizedPayment?

    init(_ answer: ServerAnswer) { self.answer = answer }

    init(_ failure: CheckoutFailure) {
      if case .refused(let problem) = failure {
        answer = .refused(SheetRefusal(status: problem.status, code: problem.code, errors: problem.errors))
      } else if case .unreadable(let status) = failure, status >= 400 {
        answer = .refused(SheetRefusal(status: status, code: "http_\(status)"))
      } else {
        answer = .lost
      }
      detail = failure.detail
    }

    init(refusing code: String, _ detail: String, _ errors: [SheetError] = []) {
      answer = .refused(SheetRefusal(status: 422, code: code, errors: errors))
      self.detail = detail
    }
  }

  func reply(to call: SheetCall, _ context: Context, within time: Duration) async -> Reply {
    do {
      switch call {
      case .merchantSession(let url): return try await merchantSession(url, time)
      case .update(let change): return try await update(change, context, time)
      case .pay(let quote): return try await pay(quote, context, time)
      case .outcome: return Self.paid(try await client.outcome(of: basket, within: time))
      case .cancel:
        try await client.cancel(basket, within: time)
        return Reply(.cancelled)
      }
    } catch {
      return Reply(error)
    }
  }
}

extension ServerCalls {
  private func merchantSession(_ url: String?, _ time: Duration) async throws(CheckoutFailure) -> Reply {
    var reply = Reply(.merchantSession)
    reply.session = try await client.merchantSession(basket, validationURL: url, within: time)
    return reply
  }

  /// Answers a certainly wrong address without a call. The quote stays the same and cannot be paid while the sheet
  /// shows the error.
  private func update(
    _ change: SheetChange, _ context: Context, _ time: Duration
  ) async throws(CheckoutFailure) -> Reply {
    guard let sheet = context.sheet, let shown = context.shown, let quote = context.quote else {
      return Reply(ServerAnswer.lost)
    }
    if case .shippingContact(let contact) = change {
      let errors = checks.problems(with: contact, for: sheet.service, in: sheet.locale)
      if !errors.isEmpty {
        return Reply(.update(SheetUpdate(keeping: shown.newTotal, shown.newLineItems, errors: errors), quote))
      }
    }
    let answer = try await client.update(basket, change, currency: sheet.request.currency, within: time)
    return Reply(.update(answer.update, answer.quoteId))
  }

  /// Checks the contact again, now complete, and pays.
  private func pay(_ quote: QuoteID, _ context: Context, _ time: Duration) async throws(CheckoutFailure) -> Reply {
    guard let sheet = context.sheet, let payment = await payable(context) else {
      return Reply(refusing: "empty_payment_data", "The device gave an empty payment token, as the iOS Simulator does.")
    }
    let errors = checks.problems(
      shipping: payment.shippingContact, billing: payment.billingContact, for: sheet.service,
      fields: sheet.request.requiredShippingContactFields, billingRequired: sheet.billingRequired, in: sheet.locale)
    guard errors.isEmpty else { return Self.refusal(errors) }
    let submission = PaymentSubmission(
      basket: basket, quote: quote, payment: payment, guestToken: sheet.guestToken)
    guard (try? submission.json()) != nil else {
      return Reply(refusing: "not_json", "paymentData is not JSON; it was changed on its way from the device.")
    }
    var reply = Self.paid(try await client.pay(submission, within: time))
    reply.payment = payment
    return reply
  }

  private func payable(_ context: Context) async -> AuthorizedPayment? {
    guard let payment = context.payment else { return nil }
    guard payment.paymentData.isEmpty else { return payment }
    #if DEBUG
      if let simulated, let sheet = context.sheet, let total = context.shown?.newTotal.amount {
        return await simulated.completing(payment, for: sheet.request, total: total)
      }
    #endif
    return nil
  }

  private static func refusal(_ errors: [SheetError]) -> Reply {
    let isServed = errors.allSatisfy { $0.code != .addressUnserviceable }
    return Reply(
      refusing: isServed ? "contact_incomplete" : "address_unserviceable",
      "The device found the contact wanting before anything was sent.", errors)
  }

  private static func paid(_ answer: PaymentAnswer) -> Reply {
    var reply = Reply(.payment(answer.status))
    reply.order = answer
    return reply
  }
}
