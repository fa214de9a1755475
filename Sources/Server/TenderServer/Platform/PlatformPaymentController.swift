import DirectWire
import HTTPServing
import HTTPTransport
import HTTPTypes
import Hummingbird
import Ledger
import Orders
import PlatformAPI
import TenderPayments

/// Payments of the platform API, see ``PlatformPayments``.
struct PlatformPaymentController: Sendable {
  let payments: PlatformPayments
  let metrics: Metrics

  func add(to signed: some RouterMethods<ServerContext>) {
    signed.post("/payments", use: create)
    signed.get("/payments/:payment", use: show)
    signed.get("/payments/:payment/details", use: details)
    signed.post("/payments/:payment/capture", use: capture)
    signed.get("/payments/:payment/captures", use: captures)
    signed.post("/payments/:payment/cancel", use: cancel)
    signed.post("/payments/:payment/refund", use: refund)
    signed.get("/payments/:payment/refunds", use: refunds)
    signed.post("/payments/:payment/subsequent", use: subsequent)
    signed.post("/tokens", use: refuseToken)
    signed.get("/tokens/:token", use: token)
    signed.delete("/tokens/:token", use: deleteToken)
  }

  func create(_ request: Request, _ context: ServerContext) async throws -> Response {
    let call = try Self.call(context)
    let body = try await RequestBody.bytes(request)
    do {
      let answer = try await payments.create(body, call.idempotent)
      metrics.placements.count(["outcome": "created"])
      return response(answer, call)
    } catch let refusal as PlatformRefusal where refusal.paymentResult != nil {
      metrics.placements.count(["outcome": PaymentStatus.declined.rawValue])
      throw refusal
    }
  }

  func show(_ request: Request, _ context: ServerContext) async throws -> Response {
    let call = try Self.call(context)
    return response(try await payments.show(Self.id(context), of: call.merchant), call)
  }

  func details(_ request: Request, _ context: ServerContext) async throws -> Response {
    let call = try Self.call(context)
    return response(try await payments.details(Self.id(context), of: call.merchant), call)
  }

  func captures(_ request: Request, _ context: ServerContext) async throws -> Response {
    let call = try Self.call(context)
    return response(try await payments.captures(Self.id(context), of: call.merchant), call)
  }

  func refunds(_ request: Request, _ context: ServerContext) async throws -> Response {
    let call = try Self.call(context)
    return response(try await payments.refunds(Self.id(context), of: call.merchant), call)
  }

  func capture(_ request: Request, _ context: ServerContext) async throws -> Response {
    try await followUp(request, context, payments.capture)
  }

  func cancel(_ request: Request, _ context: ServerContext) async throws -> Response {
    try await followUp(request, context, payments.cancel)
  }

  func refund(_ request: Request, _ context: ServerContext) async throws -> Response {
    try await followUp(request, context, payments.refund)
  }

  func subsequent(_ request: Request, _ context: ServerContext) async throws -> Response {
    try await followUp(request, context, payments.subsequent)
  }

  func refuseToken(_ request: Request, _ context: ServerContext) async throws -> Response {
    throw PlatformPayments.refuseToken()
  }

  func token(_ request: Request, _ context: ServerContext) async throws -> Response {
    let call = try Self.call(context)
    return Response(try await payments.token(context.parameters.require("token"), of: call.merchant))
  }

  func deleteToken(_ request: Request, _ context: ServerContext) async throws -> Response {
    let call = try Self.call(context)
    try await payments.deleteToken(context.parameters.require("token"), of: call.merchant)
    return Response(status: .noContent)
  }

  /// SDKs of 2021 send some of these without a body.
  private func followUp(
    _ request: Request, _ context: ServerContext,
    _ perform: (String, [UInt8], IdempotentCall) async throws -> PlatformAnswer
  ) async throws -> Response {
    let call = try Self.call(context)
    let body = try await RequestBody.collect(request)
    return response(try await perform(Self.id(context), body, call.idempotent), call)
  }

  private func response(_ answer: PlatformAnswer, _ call: SignedCall) -> Response {
    var response = Response(answer)
    if let made = answer.location { response.headers[.location] = "/v2/\(call.merchant)/payments/\(made)" }
    return response
  }

  private static func id(_ context: ServerContext) throws -> String { try context.parameters.require("payment") }

  static func call(_ context: ServerContext) throws -> SignedCall {
    guard let call = context.signedCall else { throw PlatformAuthentication.refusal }
    return call
  }
}

extension Response {
  init(_ answer: PlatformAnswer) {
    self = JSONAnswer.response(bytes: answer.body, status: HTTPResponse.Status(code: answer.status))
    headers.note(firstCall: answer.firstCallAt)
  }
}

extension HTTPFields {
  /// Says that an answer is that of an earlier call, and when that one came.
  mutating func note(firstCall: Timestamp?) {
    guard let firstCall, let older = HTTPField.Name(Idempotence.requestTimestamp),
      let newer = HTTPField.Name(Idempotence.responseTime)
    else { return }
    self[older] = "\(firstCall.milliseconds)"
    self[newer] = firstCall.description
  }
}

extension PlatformPayments {
  /// Over the server's gateway.
  init(_ parts: Composition, _ merchants: PlatformMerchants) {
    self.init(
      gateway: parts.gateway, merchants: { merchants[$0] }, applicationData: { merchants.applicationData(of: $0) },
      fingerprintKey: parts.fingerprintKey, clock: parts.runtime.clock, random: parts.runtime.random)
    let inputs = CustomerInputs(sessions: parts.clientSessions, keys: parts.customerInputKeys)
    let orders = parts.orderService
    binding = { try await orders.binding(ofReference: $0, of: $1) }
    openCustomerInput = { try await inputs.open($0, completing: $1, for: $2) }
    hostedOrder = { [database = parts.database] in try await RenderedOrder.find(for: $0, in: database) }
  }
}
