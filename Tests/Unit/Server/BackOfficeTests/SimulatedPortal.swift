import AppleSandbox
import Foundation
import HTTPTransport
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import StrictJSON
import Synchronization
import TenderTesting

/// The developer portal of the simulated Apple, without a network. It fetches the association files that it has made.
final class SimulatedPortal: Sendable {
  private let place: TemporaryStore
  private let apple: SandboxServer

  init() async throws {
    place = try TemporaryStore()
    var configuration = SandboxConfiguration(directory: place.directory)
    configuration.logger.logLevel = .critical
    let made = MadeFiles()
    configuration.fetch = AssociationFetch { _ in (200, made.last) }
    files = made
    apple = try await SandboxServer(configuration)
  }

  private let files: MadeFiles

  /// The last association file that the portal gave away.
  private final class MadeFiles: Sendable {
    private let file = Mutex<[UInt8]>([])
    var last: [UInt8] {
      get { file.withLock(\.self) }
      set { file.withLock { $0 = newValue } }
    }
  }

  func add(_ merchantIdentifier: String) async throws {
    _ = try await JSONClient("http://apple.example", sender: sender).require(
      "POST", "/portal/merchants", ["merchantIdentifier": .string(merchantIdentifier)])
  }

  var sender: HTTPSender {
    HTTPSender { [apple, files] request, _ throws(TransportError) in
      do {
        let answer = try await apple.frontApplication().test(.router) { client in
          try await client.execute(
            uri: String(request.url.dropFirst("http://apple.example".count)),
            method: HTTPRequest.Method(rawValue: request.method) ?? .get, headers: [.contentType: "application/json"],
            body: ByteBuffer(bytes: request.body))
        }
        let response = InboundResponse(status: answer.status.code, body: Array(buffer: answer.body))
        if let file = JSONClient.Answer(response).body["associationFile"]?.text { files.last = Array(file.utf8) }
        return response
      } catch { throw .notSent("\(error)") }
    }
  }
}
