import AcquirerSandbox
import Foundation
import HTTPServing
import HTTPTypes
import Hummingbird
import NIOCore
import Storage
import StrictJSON
import TenderPayments

// Access tokens by client credentials: RFC 6749, 4.4.
extension WorldlineAcquiringRoutes {
  /// A form with the credentials in it, or with HTTP's Basic authentication beside it.
  @Sendable func issueToken(_ request: Request, _ context: Context) async throws -> Response {
    switch service.faults.takeForToken() {
    case .clientRefused: return refusal(400, "invalid_client")
    case .tokensUnavailable: return Self.response(Array("<html>busy</html>".utf8), 503, MediaType.html)
    default: break
    }
    let bytes = try await BodyReader.collect(request, limit: 8_192)
    guard request.headers[.contentType] == "application/x-www-form-urlencoded" else {
      return refusal(400, "invalid_request")
    }
    guard let form = FormFields(bytes), form["grant_type"] == "client_credentials" else {
      return refusal(400, "unsupported_grant_type")
    }
    guard let account = client(form["client_id"], form["client_secret"]) ?? basicClient(request) else {
      return refusal(400, "invalid_client")
    }
    let scopes = Set((form["scope"] ?? "").split(separator: " ").map(String.init))
    guard !scopes.isEmpty, scopes.isSubset(of: account.scopes) else { return refusal(400, "invalid_scope") }
    return Self.response(issue(account, scopes).serialized(), 200, MediaType.json)
  }

  private func issue(_ account: WorldlineAcquiringAccount, _ scopes: Set<String>) -> JSONValue {
    let text = "sandbox." + service.store.random.hex(32)
    let end = service.clock.machine().adding(account.tokenLifetime)
    service.tokens.issue(text, .init(account: account, scopes: scopes, end: end))
    return [
      "access_token": .string(text), "expires_in": .integer(account.tokenLifetime.components.seconds),
      "token_type": "Bearer", "scope": .string(scopes.sorted().joined(separator: " ")),
    ]
  }

  private func refusal(_ status: Int, _ error: String) -> Response {
    Self.response(JSONValue.object(["error": .string(error)]).serialized(), status, MediaType.json)
  }

  private func client(_ id: String?, _ secret: String?) -> WorldlineAcquiringAccount? {
    guard let id, let secret else { return nil }
    return service.accounts.first { $0.clientID == id && $0.clientSecret == secret }
  }

  private func basicClient(_ request: Request) -> WorldlineAcquiringAccount? {
    guard let header = request.headers[.authorization], header.hasPrefix("Basic "),
      let text = Base64.decode(header.dropFirst(6)).flatMap({ RequestText.read($0) })
    else { return nil }
    let pair = text.split(separator: ":", maxSplits: 1).map(String.init)
    return pair.count == 2 ? client(pair[0], pair[1]) : nil
  }
}

// The sandbox's own calls. They need the client's credentials, as HTTP's Basic authentication.
extension WorldlineAcquiringRoutes {
  /// `{next}`: the fault of the next call.
  @Sendable func injectFault(_ request: Request, _ context: Context) async throws -> Response {
    try await managing(request) { _ in
      let body = try JSONReader.read(try await BodyReader.collect(request, limit: 1_024))
      try service.faults.inject(JSONField(body))
      return Self.response(body.serialized(), 200, MediaType.json)
    }
  }

  /// Every payment of the client's merchants with its balances, oldest first.
  @Sendable func list(_ request: Request, _ context: Context) async throws -> Response {
    try await managing(request) { account in
      let payments = try await service.store.database.read {
        try WorldlineAcquiringPayment.all(of: account.merchants, in: $0)
      }
      let body = JSONValue.object(["payments": .array(payments.map(\.json))])
      return Self.response(body.serialized(), 200, MediaType.json)
    }
  }

  /// Every operation of the client's merchants, in the CSV that Tender's reconciliation reads.
  @Sendable func report(_ request: Request, _ context: Context) async throws -> Response {
    try await managing(request) { account in
      let lines = try await service.store.report(of: account.merchants)
      return Self.response(Array(ReportedOperation.csv(lines).utf8), 200, MediaType.csv)
    }
  }

  private func managing(
    _ request: Request, _ work: @Sendable (WorldlineAcquiringAccount) async throws -> Response
  ) async throws -> Response {
    guard let account = basicClient(request) else { return response(.unauthorized) }
    do { return try await work(account) } catch let problem as WorldlineAcquiringProblem {
      return response(problem)
    } catch let error as JSONError {
      return response(.invalid(error.description))
    }
  }
}

extension WorldlineAcquiringAccount {
  /// As the ledger names them.
  fileprivate var merchants: [String] { merchantIDs.map { "\(acquirerID)/\($0)" } }
}
