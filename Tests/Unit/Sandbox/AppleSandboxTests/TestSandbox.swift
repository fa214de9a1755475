import AcquirerSandbox
import AppleSandbox
import Foundation
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import SandboxTesting
import StrictJSON
import Synchronization
import TenderPayments
import Testing

/// A sandbox in a test, with a directory, a clock and a web of its own.
final class TestSandbox: Sendable {
  let sandbox: SandboxServer
  let clock: TestClock
  let web: TestWeb
  let directory: TemporaryDirectory
  /// The addresses, once both listeners accept connections.
  let ready: AsyncStream<SandboxAddresses>

  /// A name of the gateway that is not this machine's: a proxy may stand before it.
  static let gatewayName = "gateway.example"

  init(directory: TemporaryDirectory? = nil, logger: Logger? = nil, events: EventDelivery = .unavailable) async throws {
    let (clock, web) = (TestClock(), TestWeb())
    let place = try directory ?? TemporaryDirectory()
    var configuration = SandboxConfiguration(directory: "\(place.path)/state")
    configuration.port = 0
    configuration.gatewayPort = 0
    configuration.tlsHostNames.append(Self.gatewayName)
    configuration.clock = clock.wallClock
    configuration.events = events
    configuration.logger = logger ?? configuration.logger
    if logger == nil { configuration.logger.logLevel = .critical }
    configuration.fetch = AssociationFetch { url in web.get(url) }
    let (stream, continuation) = AsyncStream<SandboxAddresses>.makeStream()
    configuration.onReady = { continuation.yield($0) }
    self.ready = stream
    self.sandbox = try await SandboxServer(configuration)
    (self.clock, self.web, self.directory) = (clock, web, place)
  }

  /// Calls the front without a network.
  @discardableResult
  func calls<Value: Sendable>(_ body: @escaping @Sendable (Caller) async throws -> Value) async throws -> Value {
    try await sandbox.frontApplication().test(.router) { try await body(Caller(client: $0)) }
  }
}

/// A clock that a test advances; it starts at the machine's time, which TLS uses.
final class TestClock: Sendable {
  private let time = Mutex(WallClock.system.now())

  var wallClock: WallClock { WallClock { self.time.withLock { $0 } } }

  func advance(_ duration: Duration) { time.withLock { $0 = $0.adding(duration) } }
}

/// The answers of URLs; 404 for the others.
final class TestWeb: Sendable {
  private let answers = Mutex<[String: (status: Int, body: [UInt8])]>([:])

  func serve(_ text: String, at url: String, status: Int = 200) {
    answers.withLock { $0[url] = (status, Array(text.utf8)) }
  }

  func get(_ url: String) -> (status: Int, body: [UInt8]) { answers.withLock { $0[url] } ?? (404, []) }
}

/// Speaks HTTP and JSON with the sandbox.
struct Caller: Sendable {
  let client: any TestClientProtocol

  struct Answer {
    let status: Int
    let headers: HTTPFields
    let text: String
    var json: JSONValue { (try? JSONReader.read(Array(text.utf8))) ?? .null }

    var code: String? { json["code"].flatMap(\.text) }
    subscript(key: String) -> String? { json[key].flatMap(\.text) }

    func expect(status: Int, sourceLocation: SourceLocation = #_sourceLocation) {
      #expect(self.status == status, "\(text)", sourceLocation: sourceLocation)
    }

    func expect(code: String, sourceLocation: SourceLocation = #_sourceLocation) {
      #expect(self.code == code, "\(text)", sourceLocation: sourceLocation)
    }
  }

  func get(_ path: String, headers: HTTPFields = [:]) async throws -> Answer { try await send(path, .get, headers) }

  func post(_ path: String, _ body: JSONValue = [:], origin: String? = nil) async throws -> Answer {
    var headers: HTTPFields = [.contentType: "application/json"]
    headers[.origin] = origin
    return try await send(path, .post, headers, body.serialized())
  }

  func send(
    _ path: String, _ method: HTTPRequest.Method, _ headers: HTTPFields = [:], _ body: [UInt8] = []
  ) async throws -> Answer {
    try await client.execute(uri: path, method: method, headers: headers, body: ByteBuffer(bytes: body)) {
      Answer(status: $0.status.code, headers: $0.headers, text: String(buffer: $0.body))
    }
  }

  /// Registers a merchant with both certificates and a verified domain; returns its identity certificate.
  @discardableResult
  func enroll(_ merchant: Merchant, in web: TestWeb, domain: String = "shop.localhost:8401") async throws -> String {
    let path = "/portal/merchants/\(Merchant.identifier)"
    _ = try await post("/portal/merchants", ["merchantIdentifier": .string(Merchant.identifier)])
    _ = try await post("\(path)/certificates", ["type": "processing", "csr": .string(merchant.processingCSR)])
    let identity = try await post("\(path)/certificates", ["type": "identity", "csr": .string(merchant.identityCSR)])
    let file = try await post("\(path)/domains", ["domain": .string(domain)])["associationFile"] ?? ""
    web.serve(file, at: "http://\(domain)/.well-known/apple-developer-merchantid-domain-association.txt")
    _ = try await post("\(path)/domains/\(domain)/verify")
    return identity["certificate"] ?? ""
  }
}

extension JSONValue {
  var text: String? { if case .string(let text) = self { text } else { nil } }
  var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
  /// This object with one member replaced.
  func with(_ key: String, _ value: JSONValue?) -> JSONValue {
    guard case .object(var object) = self else { return self }
    object[key] = value
    return .object(object)
  }
}
