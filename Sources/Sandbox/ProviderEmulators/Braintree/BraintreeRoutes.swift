import AcquirerSandbox
import HTTPServing
import HTTPTypes
import Hummingbird
import NIOCore
import StrictJSON
import TenderPayments

/// The routes of the emulated Braintree: authenticate, decode, call the ledger, render.
struct BraintreeRoutes<Context: RequestContext>: Sendable {
  let service: BraintreeSandbox
  private var ledger: BraintreeLedger { service.ledger }

  @Sendable func create(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context, success: 201) { call in
      guard let body = call.body else { throw BraintreeProblem(status: 400) }
      return try await service.sell(try BraintreeSale(body, of: call.account), call.account).documented
    }
  }

  @Sendable func find(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { try await ledger.find($0.id, of: $0.account).element }
  }

  @Sendable func settle(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) {
      try await ledger.settle($0.id, $0.body?.value("amount"), of: $0.account, by: $0.source).element
    }
  }

  @Sendable func settlePart(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context, success: 201) {
      try await ledger.settlePart($0.id, $0.body, of: $0.account, by: $0.source).element
    }
  }

  @Sendable func void(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) {
      try await ledger.void($0.id, of: $0.account, by: $0.source).element
    }
  }

  @Sendable func refund(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context, success: 201) {
      try await ledger.refund($0.id, $0.body, of: $0.account, by: $0.source).element
    }
  }

  /// Braintree's calls for tests, by the last part of the path.
  @Sendable func simulate(_ request: Request, _ context: Context) async throws -> Response {
    let verb = request.uri.path.split(separator: "/").last.map(String.init) ?? ""
    return try await answering(request, context) {
      try await ledger.simulate(verb, $0.id, of: $0.account).element
    }
  }

  @Sendable func searchIDs(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) {
      BraintreeLedger.ids(try await ledger.search(try BraintreeSearch($0.body), of: $0.account))
    }
  }

  @Sendable func search(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) {
      BraintreeLedger.page(try await ledger.search(try BraintreeSearch($0.body), of: $0.account))
    }
  }

  @Sendable func graphQL(_ request: Request, _ context: Context) async throws -> Response {
    let bytes = try await BodyReader.collect(request, limit: 65_536)
    return try await withFault {
      ProviderReply(200, try await service.graphQL(request.headers, bytes))
    }
  }
}

// The sandbox's own calls, which Braintree does not have.
extension BraintreeRoutes {
  /// `{url}`: where webhooks go.
  @Sendable func sendNotifications(_ request: Request, _ context: Context) async throws -> Response {
    try await managing(request) { account, body in
      try await ledger.sendEvents(of: account.merchantID, to: try body.member("url").string)
      return ["url": .string(try body.member("url").string)]
    }
  }

  /// `{merchantIdentifier}`: a signing request for the certificate that the merchant's payment tokens are encrypted to.
  @Sendable func requestCertificate(_ request: Request, _ context: Context) async throws -> Response {
    try await managing(request) { _, body in
      ["csr": .string(try await service.certificateRequest(for: try body.member("merchantIdentifier").string))]
    }
  }

  /// `{transaction, status}`: a dispute that is opened, lost or won.
  @Sendable func dispute(_ request: Request, _ context: Context) async throws -> Response {
    try await managing(request) { account, body in
      try await ledger.dispute(
        try body.member("transaction").string, try body.member("status").string, of: account)
      return [:]
    }
  }

  /// `{next}`: a fault of the next call to Braintree's own API, behind those that are set already.
  @Sendable func injectFault(_ request: Request, _ context: Context) async throws -> Response {
    try await managing(request) { _, body in
      try service.faults.inject(body)
      return [:]
    }
  }

  private func managing(
    _ request: Request, _ work: @Sendable (BraintreeAccount, JSONField) async throws -> JSONValue
  ) async throws -> Response {
    do {
      guard let account = service.accounts.first(where: { $0.accepts(request.headers) }) else {
        throw BraintreeProblem(status: 401)
      }
      let bytes = try await BodyReader.collect(request, limit: 65_536)
      let answer = try await work(account, JSONField(try JSONReader.read(bytes)))
      return ProviderReply(200, answer).response
    } catch let problem as BraintreeProblem {
      return ProviderReply(problem).response
    } catch is JSONError {
      return ProviderReply(BraintreeProblem(status: 400)).response
    }
  }
}

/// A call that was authenticated.
struct BraintreeCall: Sendable {
  let account: BraintreeAccount
  /// The transaction that the path names; empty if it names none.
  let id: String
  let body: BraintreeElement?
  /// Who calls: `api`, or a person in the control panel, whom a test plays.
  let source: String
}

extension BraintreeRoutes {
  private func answering(
    _ request: Request, _ context: Context, success: Int = 200,
    _ work: @escaping @Sendable (BraintreeCall) async throws -> BraintreeElement
  ) async throws -> Response {
    let bytes = try await BodyReader.collect(request, limit: 65_536)
    return try await withFault {
      do {
        let document = try await work(try call(request, context, bytes))
        let status = document.name == "api-error-response" ? 422 : success
        return ProviderReply(status, bytes: Array(document.document.utf8), contentType: "application/xml")
      } catch let problem as BraintreeProblem {
        return ProviderReply(problem)
      }
    }
  }

  private func call(
    _ request: Request, _ context: Context, _ bytes: [UInt8]
  ) throws(BraintreeProblem) -> BraintreeCall {
    let headers = request.headers
    guard let account = service.accounts.first(where: { $0.accepts(headers) }) else {
      throw BraintreeProblem(status: 401)
    }
    guard context.parameters.get("merchant") == account.merchantID else { throw BraintreeProblem(status: 403) }
    guard HTTPField.Name("X-ApiVersion").flatMap({ headers[$0] }) == "6" else { throw BraintreeProblem(status: 426) }
    let body = bytes.isEmpty ? nil : BraintreeElement.read(bytes)
    guard bytes.isEmpty || body != nil, bytes.isEmpty || headers[.contentType] == "application/xml" else {
      throw BraintreeProblem(status: 400)
    }
    let source = HTTPField.Name("Sandbox-Source").flatMap { headers[$0] } ?? "api"
    return BraintreeCall(
      account: account, id: context.parameters.get("id") ?? "", body: body, source: source)
  }

  /// Does the work, or what a fault makes of it. There are no keys, so a request that arrives twice is done twice.
  private func withFault(_ work: @Sendable () async throws -> ProviderReply) async throws -> Response {
    let fault = service.faults.takeForCall()
    switch fault {
    case .requestLost: return try await keepSilent()
    case .page: return ProviderReply.page(200).response
    case .tooManyRequests: return ProviderReply(BraintreeProblem(status: 429)).response
    case .unavailable: return ProviderReply(BraintreeProblem(status: 503)).response
    default: break
    }
    let reply = try await work()
    switch fault {
    case .requestTwice: _ = try await work()
    case .answerLost: return try await keepSilent()
    case .answerLate: try await Task.sleep(for: service.silence)
    case .answerTruncated: return reply.half.response
    case .failedAfter: return ProviderReply(BraintreeProblem(status: 500)).response
    default: break
    }
    return reply.response
  }

  /// Waits until the caller has given up.
  private func keepSilent() async throws -> Response {
    try await Task.sleep(for: service.silence)
    return ProviderReply(BraintreeProblem(status: 504)).response
  }
}

extension ProviderReply {
  init(_ problem: BraintreeProblem) {
    let document = problem.document?.document ?? ""
    self.init(problem.status, bytes: Array(document.utf8), contentType: "application/xml")
  }
}

extension BraintreeTransaction {
  /// The document of an answer to a sale: a refused one stands inside an error.
  fileprivate var documented: BraintreeElement {
    guard ["processor_declined", "failed", "gateway_rejected"].contains(status) else { return element }
    let outcome = BraintreeOutcome(of: self)
    return BraintreeElement(
      "api-error-response",
      [
        BraintreeProblem.errors([]), BraintreeElement("params", []), BraintreeElement("message", outcome.text), element,
      ])
  }
}
