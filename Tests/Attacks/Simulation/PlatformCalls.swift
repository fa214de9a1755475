import ApplePayToken
import Auditing
import DirectWire
import Gateway
import Ledger
import Orders
import PlatformAPI
import StrictJSON
import TenderPayments
import TenderTesting

// A merchant's server at the platform API, as the routes call it: payments, captures, cancels and refunds, each under
// an idempotency key. It knows of a payment what the answers say.

/// What a merchant's program reads of an answer under a key.
struct PlatformReply {
  /// Of the payment and its operation; empty where a refusal names none.
  let name: String
  let body: String
  /// Nil where a refusal says that nothing was done.
  let state: DirectStatus?
  let isReplay: Bool
  /// Whether it is about a payment that is captured at once.
  var isSale = false

  /// An answer about an open outcome says so.
  var isFinal: Bool { state?.progress != .open }
  var payment: PaymentID? { DirectPaymentID(name).map { PaymentID($0.payment) } }
  var reply: KeyedCall.Reply {
    KeyedCall.Reply(operation: name, body: body, isFinal: isFinal, waits: isSale && state == .pendingCapture)
  }

  /// What the answer to a new payment says of it.
  var outcome: ClientCall.Outcome {
    switch state {
    case nil: .nothing
    case .rejected?, .cancelled?: .failure
    case let state? where state.progress == .open: .pending
    default: .success
    }
  }

  private init(_ bytes: [UInt8], status: Int, _ result: JSONValue?, isReplay: Bool) {
    let result = result?["payment"] ?? result
    name = if case .string(let name)? = result?["id"] { name } else { "" }
    let code = result?["statusOutput"]?["statusCode"]
    state = if case .integer(let code)? = code { DirectStatus(rawValue: code) } else { nil }
    body = "\(status) \(String(decoding: bytes, as: UTF8.self))"
    self.isReplay = isReplay
  }

  init(_ answer: PlatformAnswer) {
    self.init(
      answer.body, status: answer.status, try? JSONReader.read(answer.body), isReplay: answer.firstCallAt != nil)
  }

  /// Nil where the call was refused before anything was begun under its key.
  fileprivate init?(_ refusal: PlatformRefusal) {
    let answers = [PlatformFault.actionNotAllowed.id, "ACQUIRER_UNREACHABLE"]
    guard refusal.paymentResult != nil || refusal.refundResult != nil || answers.contains(refusal.faults[0].id),
      let bytes = try? DirectJSON.bytes(refusal.answer(id: "refusal")), let json = try? JSONReader.read(bytes)
    else { return nil }
    self.init(
      bytes, status: refusal.status, json["paymentResult"] ?? json["refundResult"],
      isReplay: refusal.firstCallAt != nil)
  }

  /// An operator's increment, which the platform API does not have.
  fileprivate init(_ answer: KeyedAnswer) {
    let (record, payment) = (answer.outcome.operation, answer.outcome.payment)
    name = "\(DirectPaymentID(payment: payment.id.rawValue, operation: record.number))"
    body = "\(record.state) \(record.decline?.code ?? "-") \(payment.status) \(payment.authorized)"
    state = DirectStatus(of: record)
    isReplay = answer.isReplay
  }
}

extension EngineLife {
  /// What came of a call with an idempotency key.
  enum Keyed: CustomStringConvertible {
    case answered(PlatformReply)
    case inUse
    case refused(String)

    var description: String {
      switch self {
      case .answered(let reply): "\(kind): \(reply.name) \(reply.state.map { "\($0)" } ?? "nothing done")"
      case .inUse: kind
      case .refused(let code): code
      }
    }

    /// As coverage counts it.
    var kind: String {
      switch self {
      case .answered(let reply): (reply.isFinal ? "answered" : "open") + (reply.isReplay ? " again" : "")
      case .inUse: "in use"
      case .refused: "refused"
      }
    }

    static let kinds = ["answered", "answered again", "open", "open again", "in use", "refused"]
  }

  /// `POST /v2/{merchantId}/payments`
  func create(_ purchase: Supplies.Purchase, _ token: Int, _ reply: @escaping (Keyed) -> Void) {
    let body = purchase.request(token).serialized()
    let call = IdempotentCall(
      merchant: purchase.order.merchant, call: "POST payments", key: IdempotencyKey(purchase.key(token)), body: body)
    begin(reply) { [platform] in
      var reply = PlatformReply(try await platform.create(body, call))
      reply.isSale = purchase.order.capture == .immediate
      return reply
    }
  }

  /// A capture, cancel or refund.
  func perform(_ request: KeyedRequest, _ reply: @escaping (Keyed) -> Void) {
    let (verb, payment, call, body) = (request.verb, request.payment, request.call, request.body)
    let id = "\(DirectPaymentID(payment: payment.id.rawValue))"
    begin(reply) { [platform, gateway] in
      switch verb {
      case .capture, .finalCapture: PlatformReply(try await platform.capture(id, body, call))
      case .void: PlatformReply(try await platform.cancel(id, body, call))
      case .refund: PlatformReply(try await platform.refund(id, body, call))
      case .increment:
        PlatformReply(try await gateway.perform(verb.followUp(payment, request.amount), under: call))
      }
    }
  }

  func begin(_ reply: @escaping (Keyed) -> Void, _ work: @escaping @Sendable () async throws -> PlatformReply) {
    let reply = Carried(reply)
    Task.detached {
      do {
        reply.value(.answered(try await work()))
      } catch GatewayError.callInProgress {
        reply.value(.inUse)
      } catch let refusal as PlatformRefusal {
        reply.value(PlatformReply(refusal).map(Keyed.answered) ?? .refused(refusal.faults[0].id))
      } catch {
        reply.value(.refused(Self.code(of: error)))
      }
    }
  }

  /// What a merchant's program keeps of a payment that it has made.
  func find(_ payment: PaymentID, _ found: @escaping (Payment) -> Void) {
    let found = Carried(found)
    Task.detached { [gateway] in if let payment = try? await gateway.payment(payment) { found.value(payment) } }
  }
}

extension Supplies {
  /// The platform API over a gateway, for the one merchant there is.
  func platform(_ gateway: PaymentGateway, _ clock: WallClock, _ random: RandomBytes) -> PlatformPayments {
    let purchases = purchases
    var payments = PlatformPayments(
      gateway: gateway,
      merchants: { id in
        PlatformMerchant(
          id: id, displayName: "Harbour Kitchen", countryCode: "IE", currency: .euro, networks: [.visa, .masterCard],
          takesUnsignedData: false, refusalOfWebhook: { _ in nil })
      }, applicationData: { _ in nil }, fingerprintKey: [UInt8](repeating: 7, count: 32), clock: clock, random: random)
    payments.binding = { reference, _ in
      purchases.first { $0.order.merchantReference == reference }.map {
        BasketBinding(basket: $0.order.basket, applicationDataHash: $0.order.applicationDataHash, estimate: nil)
      }
    }
    return payments
  }
}

extension Supplies.Purchase {
  /// Every second order is paid through a merchant's server, the others through a checkout.
  var isKeyed: Bool { order.id.rawValue.utf8.last?.isMultiple(of: 2) == true }

  func key(_ token: Int) -> String { "\(order.id) with token \(token)" }

  /// The body of a new payment.
  fileprivate func request(_ token: Int) -> JSONValue {
    [
      "order": [
        "amountOfMoney": order.amount.onWire,
        "references": ["merchantReference": .string(order.merchantReference), "merchantParameters": "tea"],
      ],
      "mobilePaymentMethodSpecificInput": [
        "paymentProductId": 302, "requiresApproval": .bool(order.capture == .manual),
        "encryptedPaymentData": documents[token],
      ],
      "feedbacks": ["webhooksUrls": [.string(SimulatedSink.feedback)]],
    ]
  }
}

extension KeyedRequest {
  /// As it is sent; empty for all that is left.
  fileprivate var body: [UInt8] {
    let money = amount.map { Amount(minorUnits: $0, currency: payment.amount.currency) }
    var body: JSONObject = [:]
    switch verb {
    case .capture, .finalCapture:
      if let amount { body["amount"] = .integer(amount) }
      if verb == .finalCapture { body["isFinal"] = true }
    case .void, .refund: if let money { body["amountOfMoney"] = money.onWire }
    case .increment: break
    }
    return body.members.isEmpty ? [] : JSONValue.object(body).serialized()
  }
}

extension Amount {
  fileprivate var onWire: JSONValue {
    ["amount": .integer(minorUnits), "currencyCode": .string(currency.code)]
  }
}

// A merchant's server that makes payments repeats a call until it has the answer for good, and now and then once more.
extension SimulatedWorld {
  func create(_ purchase: Supplies.Purchase, token: Int, tries: Int) {
    guard tries < 7, token < purchase.tokens.count else { return }
    let (key, order) = (purchase.key(token), purchase.order.id.rawValue)
    guard !evidence.outlivedKeys.contains(key) else { return }
    func again(_ token: Int, _ wait: ClosedRange<Int>, tries next: Int? = nil) {
      thread.after(thread.choices.milliseconds(wait), "\(key) again") {
        self.create(purchase, token: token, tries: next ?? tries + 1)
      }
    }
    guard let engine else { return again(token, 1_000...5_000) }
    var isAnswered = false
    let isLost = faults && thread.choices.chance(80)
    evidence.calls.append(ClientCall(order: order, key: "token \(token)", outcome: .asked, payment: nil))
    evidence.keyed.append(KeyedCall(key: key, payment: order, kind: "authorize"))
    engine.create(purchase, token) { [self] answer in
      guard !isLost else { return }
      isAnswered = true
      coverage.keys[answer.kind, default: 0] += 1
      thread.note("\(key): \(answer)")
      note(answer, purchase, token)
      switch answer {
      case .answered(let reply) where !reply.isFinal: again(token, 2_000...30_000)
      case .answered(let reply):
        if reply.outcome != .success { again(token + 1, 500...20_000) }
        if let id = reply.payment, reply.outcome == .success, tries < 4 { self.engine?.find(id) { self.sell($0) } }
        if thread.choices.chance(200) { again(token, 1_000...100_000, tries: 6) }
      case .inUse: again(token, 2_000...30_000)
      case .refused(let code): again(code == "TOKEN_REUSED" ? token + 1 : token, 500...20_000)
      }
    }
    thread.after(.seconds(31), "\(key) waits no longer") { if !isAnswered { again(token, 100...5_000) } }
  }

  private func note(_ answer: EngineLife.Keyed, _ purchase: Supplies.Purchase, _ token: Int) {
    var call = ClientCall(order: purchase.order.id.rawValue, key: "token \(token)", outcome: .refused, payment: nil)
    switch answer {
    case .answered(let reply):
      (call.outcome, call.payment) = (reply.outcome, reply.payment?.rawValue)
      evidence.keyed.append(
        KeyedCall(
          key: purchase.key(token), payment: purchase.order.id.rawValue, kind: "authorize", reply: reply.reply))
    case .inUse: break
    case .refused(let code): if !EngineLife.Answer.leavesOpen(code) { call.outcome = .nothing }
    }
    evidence.calls.append(call)
  }
}
