import Administration
import ApplePayToken
import HTTPServing
import Hummingbird
import Ledger
import NIOCore
import StrictJSON
import TenderPayments

/// What `tender certificate keys` and `retire-key` ask a running server, on the socket of its own user.
struct KeyAdministrationController: Sendable {
  let keys: ProcessingKeys
  let clock: WallClock

  /// `GET /keys`
  func list(_ request: Request, _ context: ServerContext) async throws -> Response {
    JSONAnswer.response(["keys": keys.ring.entries.map { KeyReport(ProcessingKeyStore.Record($0)) }])
  }

  /// `POST /keys/retire` `{merchant, publicKeyHash}`
  func retire(_ request: Request, _ context: ServerContext) async throws -> Response {
    let key = try await KeyRetirement(request)
    do {
      try keys.ring.retire(key.publicKeyHash, of: key.owner, at: clock.now())
    } catch {
      throw Problem(error == .noSuchKey ? .notFound : .conflict, error.rawValue, "\(error.reason).")
    }
    return JSONAnswer.response(["retired": Base64.encode(key.publicKeyHash)])
  }
}

private struct KeyRetirement {
  let owner: ProcessingKeyRing.Owner
  let publicKeyHash: [UInt8]

  init(_ request: Request) async throws {
    let body = try await BodyReader.collect(request, limit: 4_096)
    let fields = try RequestBody.read(body)
    let (merchant, text) = try RequestBody.refusing {
      (try fields.member("merchant").string, try fields.member("publicKeyHash").string)
    }
    guard let hash = Hex.decode(text) ?? Base64.decode(text) else {
      throw Problem(.badRequest, "invalid_body", "publicKeyHash is in base64, or hexadecimal.")
    }
    (owner, publicKeyHash) = (ProcessingKeyRing.Owner(name: merchant), hash)
  }
}
