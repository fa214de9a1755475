import StrictJSON
import TokenIssuer

/// A merchant server's request for a merchant session.
struct SessionRequest: Sendable, Hashable {
  enum Initiative: String, Sendable {
    case web, messaging
    case inApp = "in_app"
  }

  /// The identifier, or its hash in hex.
  let merchantIdentifier: String
  let displayName: String
  let initiative: Initiative
  /// A host name, a gateway's URL, or a team, by initiative.
  let context: String

  /// `POST /paymentservices/paymentSession`.
  init(paymentSession body: [UInt8]) throws(GatewayError) {
    let object = try Self.object(body)
    (merchantIdentifier, displayName) = try Self.names(object)
    guard let initiative = Initiative(rawValue: try Self.text("initiative", in: object)) else {
      throw .invalid("initiative")
    }
    self.initiative = initiative
    let context = try Self.text("initiativeContext", in: object)
    self.context = initiative == .web ? try Self.host(context) : context
  }

  /// `POST /paymentservices/startSession`, the older call, for the web only.
  init(startSession body: [UInt8]) throws(GatewayError) {
    let object = try Self.object(body)
    (merchantIdentifier, displayName) = try Self.names(object)
    initiative = .web
    context = try Self.host(Self.text("domainName", in: object))
  }

  /// The host alone. Apple takes no port; the sandbox ignores that of a loopback name, because a page under test has one.
  private static func host(_ text: String) throws(GatewayError) -> String {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, UInt16(parts[1]) != nil else { return text }
    guard HostName(text) != nil else { throw .portInDomain(text) }
    return String(parts[0])
  }

  private static func names(_ object: JSONObject) throws(GatewayError) -> (String, String) {
    let displayName = try text("displayName", in: object)
    guard displayName.unicodeScalars.count <= 64 else { throw .invalid("displayName") }
    return (try text("merchantIdentifier", in: object), displayName)
  }

  private static func object(_ body: [UInt8]) throws(GatewayError) -> JSONObject {
    guard !body.isEmpty else { throw .emptyBody }
    guard case .object(let object)? = try? JSONReader.read(body) else { throw .malformed }
    return object
  }

  private static func text(_ name: String, in object: JSONObject) throws(GatewayError) -> String {
    guard case .string(let text)? = object[name], !text.isEmpty else { throw .missing(name) }
    return text
  }
}
