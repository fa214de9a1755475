import Crypto
import Foundation
import StrictJSON

/// Checks a JWT against a key set with nothing of Tender's: what a merchant would write.
struct GuestTokenVerifier {
  private let key: P256.Signing.PublicKey
  private struct Refused: Error {}

  init(_ keySet: JSONValue) throws {
    guard case .array(let keys)? = keySet["keys"], case .string(let x)? = keys.first?["x"],
      case .string(let y)? = keys.first?["y"]
    else { throw Refused() }
    key = try P256.Signing.PublicKey(rawRepresentation: try Self.bytes(x) + Self.bytes(y))
  }

  func claims(of token: String) throws -> JSONValue {
    let parts = token.split(separator: ".").map(String.init)
    guard parts.count == 3 else { throw Refused() }
    let signature = try P256.Signing.ECDSASignature(rawRepresentation: try Self.bytes(parts[2]))
    guard key.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8)) else { throw Refused() }
    return try JSONReader.read(try Self.bytes(parts[1]))
  }

  private static func bytes(_ base64URL: String) throws -> [UInt8] {
    let text = base64URL.replacing("-", with: "+").replacing("_", with: "/")
    let padded = text + String(repeating: "=", count: (4 - text.count % 4) % 4)
    guard let data = Data(base64Encoded: padded) else { throw Refused() }
    return Array(data)
  }
}
