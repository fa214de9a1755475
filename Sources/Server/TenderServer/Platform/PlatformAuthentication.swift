import Administration
import Foundation
import Hummingbird
import Ledger
import Logging
import MerchantIdentity
import NIOCore
import DirectWire
import Settings
import TenderPayments

/// Why a key whose signature is right is refused all the same; for the log.
enum PlatformKeyRefusal: String {
  case otherMerchant = "other_merchant"
  case keyExpired = "key_expired"
}

/// Verifies who signed a call, then reads its body and compares it with the digest that was signed.
struct PlatformAuthentication: RouterMiddleware {
  static let refusal = Problem(
    .forbidden, "signature_refused",
    "The request is not signed by a key of this merchant. Check key id, secret, clock and the string to sign.")

  let merchants: LiveMerchants
  let quotas: Quotas
  let uses: KeyUses
  let clock: WallClock

  func handle(
    _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
  ) async throws -> Response {
    let (caller, admitted) = try caller(of: request, context)
    try await admit(admitted, request)
    let body = try await RequestBody.collect(request)
    // While the body arrived, the key may have been revoked, and the merchant disabled.
    return try await merchants.keep {
      let key = try newest(admitted, context)
      try requireScope(key, request)
      return try await answer(request, context, body, caller, key, next)
    }
  }

  private func answer(
    _ request: Request, _ context: ServerContext, _ body: [UInt8], _ caller: AuthenticatedCaller, _ key: PlatformKey,
    _ next: (Request, ServerContext) async throws -> Response
  ) async throws -> Response {
    do { try caller.check(body: body, isDigestRequired: key.isDigestRequired) } catch { throw Problem(error) }
    var (request, context) = (request, context)
    request.body = .init(buffer: ByteBuffer(bytes: try CompressedBody.plain(body, of: request)))
    context.signedCall = try SignedCall(
      caller, of: key.merchant,
      call: SignedCall.name(
        request.method.rawValue, context.endpointPath ?? "", key.merchant, context.parameters), body: body)
    let (call, known) = (request, context)
    guard let response = try await quotas.admit(key.merchant, { try await next(call, known) }) else {
      await quotas.awaitRefusal(of: key.merchant)
      throw Problem.quotaExceeded(.zero)
    }
    return response
  }

  /// The key as it is now.
  ///
  /// - Throws: the refusal of an unknown key where it is gone or has ended.
  private func newest(_ key: PlatformKey, _ context: ServerContext) throws -> PlatformKey {
    guard let newest = merchants.current.apiKeys[key.id], newest.merchant == key.merchant,
      newest.secret.utf8.elementsEqual(key.secret.utf8)
    else { throw refusal(SignatureRefusal.keyUnknown.rawValue, key.id, context) }
    guard !newest.limits.isExpired(at: clock.now()) else {
      throw refusal(PlatformKeyRefusal.keyExpired.rawValue, key.id, context)
    }
    return newest
  }

  /// Refuses what the key may not do, and calls above the quotas, before the body is read.
  private func admit(_ key: PlatformKey, _ request: Request) async throws {
    uses.note(key.id, of: key.merchant, at: clock.now())
    if let wait = quotas.take(key: key.id, of: key.merchant) {
      await quotas.awaitRefusal(of: key.merchant)
      throw Problem.quotaExceeded(wait)
    }
    try requireScope(key, request)
  }

  private func requireScope(_ key: PlatformKey, _ request: Request) throws {
    let needed = RequiredScopes.of(request.method, request.uri.path)
    guard key.limits.allows(oneOf: needed) else {
      let names = needed.map(\.rawValue).sorted().joined(separator: " or ")
      throw Problem(.forbidden, "scope_missing", "This API key lacks the scope \(names).")
    }
  }

  /// The log has the reason of a refusal; the caller gets none.
  private func caller(of request: Request, _ context: ServerContext) throws -> (AuthenticatedCaller, PlatformKey) {
    var keyID: String?
    do {
      let signed = try SignedRequest(
        method: request.method.rawValue, target: request.uri.description,
        headers: request.headers.map { ($0.name.rawName, $0.value) })
      keyID = signed.apiKeyID
      let key = merchants.current.apiKeys[signed.apiKeyID]
      let caller = try RequestAuthenticator().authenticate(signed, secret: key?.secret, at: clock.machine())
      guard let key, Self.isSame(key.merchant, context.parameters.get("merchantId")) else {
        throw refusal(PlatformKeyRefusal.otherMerchant.rawValue, keyID, context)
      }
      guard !key.limits.isExpired(at: clock.now()) else {
        throw refusal(PlatformKeyRefusal.keyExpired.rawValue, keyID, context)
      }
      return (caller, key)
    } catch let refused as SignatureRefusal {
      throw refusal(refused.code, keyID, context)
    }
  }

  /// Logs why, and under which key the caller has signed. An unknown key's id may be anything, so it is cut short.
  private func refusal(_ reason: String, _ keyID: String?, _ context: ServerContext) -> Problem {
    var metadata: Logger.Metadata = ["reason": .string(reason)]
    metadata["keyId"] = keyID.map { .string(String($0.prefix(64))) }
    context.logger.warning("signature refused", metadata: metadata)
    return Self.refusal
  }

  /// Compared as bytes: `String` takes two spellings of one letter for the same.
  private static func isSame(_ merchant: MerchantID, _ name: String?) -> Bool {
    name.map { Array($0.utf8) } == Array(merchant.rawValue.utf8)
  }
}

extension Problem {
  fileprivate init(_ refusal: ContentDigestRefusal) {
    let detail =
      switch refusal {
      case .missing: "This API key requires \(ContentDigest.header): base64 of the SHA-256 of the body, signed."
      case .mismatch: "\(ContentDigest.header) is not base64 of the SHA-256 of the body that arrived."
      }
    self.init(.forbidden, refusal.code, detail, field: ContentDigest.header)
  }
}
