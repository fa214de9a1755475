import AcquirerSandbox
import Foundation
import HTTPServing
import HTTPTypes
import Hummingbird
import NIOCore
import Storage
import StrictJSON
import TenderPayments
import TokenIssuer

/// The routes of the emulated Worldline Acquiring: authenticate, decode, run once for each operation, render.
struct WorldlineAcquiringRoutes<Context: RequestContext>: Sendable {
  let service: WorldlineAcquiringSandbox
  private var store: WorldlineAcquiringStore { service.store }

  /// A call that is authenticated.
  struct Call: Sendable {
    /// The acquirer's number and the merchant's, with a slash.
    let merchant: String
    let body: JSONValue
    let path: String
  }

  @Sendable func ping(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context, scope: "services_ping") { _ in ProviderReply(200) }
  }

  @Sendable func pay(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context, scope: "processing_payment") { call in
      let wanted = try WorldlineAcquiringPaymentRequest(call.body)
      let script = ScriptedResponse(dpan: wanted.card.dpan, minorUnits: wanted.amount.minorUnits)
      return try await operate(wanted.operationID, call, script) {
        try store.pay(wanted, script.outcome, of: call.merchant, in: $0)
      }
    }
  }

  @Sendable func verifyAccount(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context, scope: "processing_accountverification") { call in
      let wanted = try WorldlineAcquiringVerificationRequest(call.body)
      let script = ScriptedResponse(dpan: wanted.card.dpan, minorUnits: 0)
      return try await operate(wanted.operationID, call) { try store.verify(wanted, script.outcome, in: $0) }
    }
  }

  func act(
    _ kind: WorldlineAcquiringAction.Kind, _ request: Request, _ context: Context
  ) async throws -> Response {
    let payment = Self.name("payment", context)
    let scope = kind == .refund ? "processing_refund" : "processing_payment"
    return try await answering(request, context, scope: scope) { call in
      let wanted = try WorldlineAcquiringAction(kind, call.body)
      return try await operate(wanted.operationID, call) {
        try store.act(wanted, on: payment, of: call.merchant, in: $0)
      }
    }
  }

  @Sendable func reverse(_ request: Request, _ context: Context) async throws -> Response {
    let operation = Self.name("operation", context)
    return try await answering(request, context, scope: "processing_operation_reverse") { call in
      let wanted = try WorldlineAcquiringTechnicalReversal(call.body)
      return try await operate(wanted.operationID, call) {
        try store.reverse(operation, by: wanted, of: call.merchant, in: $0)
      }
    }
  }

  @Sendable func payment(_ request: Request, _ context: Context) async throws -> Response {
    let (name, isDetailed) = (Self.name("payment", context), Self.wantsOperations(request))
    return try await answering(request, context, scope: "processing_payment") { call in
      ProviderReply(200, try await store.payment(name, withOperations: isDetailed, of: call.merchant))
    }
  }

  @Sendable func refund(_ request: Request, _ context: Context) async throws -> Response {
    let (name, isDetailed) = (Self.name("refund", context), Self.wantsOperations(request))
    return try await answering(request, context, scope: "processing_refund") { call in
      ProviderReply(200, try await store.refund(name, withOperations: isDetailed, of: call.merchant))
    }
  }

  /// Does an operation once for each name.
  private func operate(
    _ operationID: String, _ call: Call, _ script: ScriptedResponse? = nil,
    _ act: @escaping @Sendable (Transaction) throws -> WorldlineAcquiringOperation
  ) async throws -> ProviderReply? {
    let act = ProviderAct(script) { transaction in
      let operation = try act(transaction)
      try operation.insert(call.merchant, in: transaction)
      return ProviderReply(201, .object(operation.answer))
    }
    return try await service.calls.run(
      act, call.named(operationID), in: store,
      busy: WorldlineAcquiringProblem.conflict("The same request is being processed."))
  }

  /// A name in the path.
  private static func name(_ parameter: String, _ context: Context) -> String {
    context.parameters.get(parameter)?.removingPercentEncoding ?? ""
  }

  /// Worldline's Python library writes `True`.
  private static func wantsOperations(_ request: Request) -> Bool {
    request.query["returnOperations"]?.lowercased() == "true"
  }
}

extension WorldlineAcquiringRoutes.Call {
  /// The request without its time: sent at another time, it is still this request.
  fileprivate func named(_ operationID: String) -> KeyedRequest {
    var contents = body
    if case .object(var object) = body {
      object["transactionTimestamp"] = nil
      contents = .object(object)
    }
    return KeyedRequest(
      account: merchant, key: operationID,
      contents: "\(path) \(String(decoding: contents.serialized(), as: UTF8.self))")
  }
}

// Around every call.
extension WorldlineAcquiringRoutes {
  /// Authenticates the client, reads the body, injects faults, and renders problems.
  private func answering(
    _ request: Request, _ context: Context, scope: String, _ work: @Sendable (Call) async throws -> ProviderReply?
  ) async throws -> Response {
    let fault = service.faults.takeForCall()
    if fault == .tokensRevoked { service.tokens.revokeAll() }
    do {
      if let fault, fault.isBefore { return try await fail(fault) }
      let merchant = try merchant(request, context, scope: scope)
      let bytes = try await BodyReader.collect(request, limit: 65_536)
      guard bytes.isEmpty || request.headers[.contentType]?.hasPrefix("application/json") == true else {
        throw WorldlineAcquiringProblem(415, "Unsupported Media Type", "Send application/json.")
      }
      let body = bytes.isEmpty ? JSONValue.null : try JSONReader.read(bytes)
      let reply = try await work(Call(merchant: merchant, body: body, path: request.uri.path))
      if fault == .failedAfter { throw WorldlineAcquiringProblem.internalError }
      return try await service.calls.answer(reply, fault, failed: ProviderReply(500))
    } catch let problem as WorldlineAcquiringProblem {
      return response(problem)
    } catch let error as JSONError {
      return response(.invalid(error.description))
    } catch BodyReader.Failure.tooLong {
      return response(WorldlineAcquiringProblem(413, "Payload Too Large", "The body is longer than 64 KiB."))
    }
  }

  /// The merchant of the path, if the access token's client may act for it.
  private func merchant(
    _ request: Request, _ context: Context, scope: String
  ) throws(WorldlineAcquiringProblem) -> String {
    guard let header = request.headers[.authorization], header.hasPrefix("Bearer "),
      let grant = service.tokens.grant(String(header.dropFirst(7)), at: service.clock.machine())
    else { throw .unauthorized }
    guard grant.scopes.contains(scope) else { throw .forbidden }
    guard let acquirer = context.parameters.get("acquirer"), let merchant = context.parameters.get("merchant") else {
      return ""
    }
    guard acquirer == grant.account.acquirerID, grant.account.merchantIDs.contains(merchant) else { throw .forbidden }
    return "\(acquirer)/\(merchant)"
  }

  private func fail(_ fault: ProviderFault) async throws -> Response {
    switch fault {
    case .requestLost: return try await service.calls.keepSilent()
    case .tooManyRequests: throw WorldlineAcquiringProblem.tooMany
    case .unavailable: throw WorldlineAcquiringProblem.unavailable
    case .inProgress: throw WorldlineAcquiringProblem.conflict("The same request is being processed.")
    default: throw WorldlineAcquiringProblem.internalError
    }
  }

  func response(_ problem: WorldlineAcquiringProblem) -> Response {
    let body = problem.json(requestID: store.random.hex(16)).serialized()
    var response = Self.response(body, problem.status, "application/problem+json")
    if problem.status == 401 { response.headers[.wwwAuthenticate] = #"Bearer error="invalid_token""# }
    return response
  }

  static func response(_ bytes: [UInt8], _ status: Int, _ type: String) -> Response {
    JSONAnswer.response(bytes: bytes, status: HTTPResponse.Status(code: status), contentType: type)
  }
}
