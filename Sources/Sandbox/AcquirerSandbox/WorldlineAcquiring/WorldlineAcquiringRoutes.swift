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

  /// An answer, or none.
  enum Reply: Sendable {
    case answer(Int, JSONValue)
    case nothing
    case silence
  }

  @Sendable func ping(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context, scope: "services_ping") { _ in .nothing }
  }

  @Sendable func pay(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context, scope: "processing_payment") { call in
      let wanted = try WorldlineAcquiringPaymentRequest(call.body)
      let script = ScriptedResponse(dpan: wanted.card.dpan, minorUnits: wanted.amount.minorUnits)
      if script.outcome == .noAnswer { return .silence }
      if script.delay > .zero { try await Task.sleep(for: script.delay) }
      let (answer, isRepeated) = try await store.once(call.named(wanted.operationID)) {
        try store.pay(wanted, script.outcome, of: call.merchant, in: $0)
      }
      return script.outcome == .noAnswerAfterApproval && !isRepeated ? .silence : .answer(201, answer)
    }
  }

  @Sendable func verifyAccount(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context, scope: "processing_accountverification") { call in
      let wanted = try WorldlineAcquiringVerificationRequest(call.body)
      let script = ScriptedResponse(dpan: wanted.card.dpan, minorUnits: 0)
      let (answer, _) = try await store.once(call.named(wanted.operationID)) {
        try store.verify(wanted, script.outcome, in: $0)
      }
      return .answer(201, answer)
    }
  }

  func act(
    _ kind: WorldlineAcquiringAction.Kind, _ request: Request, _ context: Context
  ) async throws -> Response {
    let payment = Self.name("payment", context)
    let scope = kind == .refund ? "processing_refund" : "processing_payment"
    return try await answering(request, context, scope: scope) { call in
      let wanted = try WorldlineAcquiringAction(kind, call.body)
      let (answer, _) = try await store.once(call.named(wanted.operationID)) {
        try store.act(wanted, on: payment, of: call.merchant, in: $0)
      }
      return .answer(201, answer)
    }
  }

  @Sendable func reverse(_ request: Request, _ context: Context) async throws -> Response {
    let operation = Self.name("operation", context)
    return try await answering(request, context, scope: "processing_operation_reverse") { call in
      let wanted = try WorldlineAcquiringTechnicalReversal(call.body)
      let (answer, _) = try await store.once(call.named(wanted.operationID)) {
        try store.reverse(operation, by: wanted, of: call.merchant, in: $0)
      }
      return .answer(201, answer)
    }
  }

  @Sendable func payment(_ request: Request, _ context: Context) async throws -> Response {
    let (name, isDetailed) = (Self.name("payment", context), Self.wantsOperations(request))
    return try await answering(request, context, scope: "processing_payment") { call in
      .answer(200, try await store.payment(name, withOperations: isDetailed, of: call.merchant))
    }
  }

  @Sendable func refund(_ request: Request, _ context: Context) async throws -> Response {
    let (name, isDetailed) = (Self.name("refund", context), Self.wantsOperations(request))
    return try await answering(request, context, scope: "processing_refund") { call in
      .answer(200, try await store.refund(name, withOperations: isDetailed, of: call.merchant))
    }
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
  fileprivate func named(_ operationID: String) -> WorldlineAcquiringStore.Named {
    var contents = body
    if case .object(var object) = body {
      object["transactionTimestamp"] = nil
      contents = .object(object)
    }
    return WorldlineAcquiringStore.Named(
      merchant: merchant, operationID: operationID,
      contents: "\(path) \(String(decoding: contents.serialized(), as: UTF8.self))")
  }
}

// Around every call.
extension WorldlineAcquiringRoutes {
  /// Authenticates the client, reads the body, injects faults, and renders problems.
  private func answering(
    _ request: Request, _ context: Context, scope: String, _ work: @Sendable (Call) async throws -> Reply
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
      return try await spoil(fault, try await work(Call(merchant: merchant, body: body, path: request.uri.path)))
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
      let grant = service.tokens.grant(String(header.dropFirst(7)), at: service.clock.now())
    else { throw .unauthorized }
    guard grant.scopes.contains(scope) else { throw .forbidden }
    guard let acquirer = context.parameters.get("acquirer"), let merchant = context.parameters.get("merchant") else {
      return ""
    }
    guard acquirer == grant.account.acquirerID, grant.account.merchantIDs.contains(merchant) else { throw .forbidden }
    return "\(acquirer)/\(merchant)"
  }

  /// Waits until the caller has given up.
  private func silence() async throws -> Response {
    try await Task.sleep(for: service.silence)
    return Response(status: .gatewayTimeout)
  }

  private func fail(_ fault: WorldlineAcquiringFault) async throws -> Response {
    switch fault {
    case .requestLost: return try await silence()
    case .tooManyRequests: throw WorldlineAcquiringProblem.tooMany
    case .unavailable: throw WorldlineAcquiringProblem.unavailable
    case .conflict: throw WorldlineAcquiringProblem.conflict("The same request is being processed.")
    default: throw WorldlineAcquiringProblem.internalError
    }
  }

  /// The answer, as a fault that comes afterwards leaves it.
  private func spoil(_ fault: WorldlineAcquiringFault?, _ reply: Reply) async throws -> Response {
    guard case .answer(let status, let body) = reply else {
      if case .silence = reply { return try await silence() }
      return Response(status: .ok)
    }
    let bytes = body.serialized()
    switch fault {
    case .answerLost: return try await silence()
    case .failedAfter: throw WorldlineAcquiringProblem.internalError
    case .answerGarbled:
      return Self.response(Array("<html><body>Please wait.</body></html>".utf8), status, MediaType.html)
    case .answerTruncated: return Self.response(Array(bytes.prefix(bytes.count / 2)), status, MediaType.json)
    default: return Self.response(bytes, status, MediaType.json)
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
