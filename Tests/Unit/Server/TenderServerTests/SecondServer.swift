import Foundation
import HTTPTransport
import Logging
import TenderPayments
import TenderServer

extension TestSystem {
  /// The system's first merchant at another server, with a store and a configuration of its own.
  ///
  /// - Parameters:
  ///   - hold: while it is on, the acquirer's answers to authorizations are held up.
  ///   - scheme: in which the server is reached.
  func secondServer(
    _ hold: Hold? = nil, scheme: String = "http", _ configure: (inout ServerConfiguration) -> Void
  ) async throws -> Shopfront {
    var configuration = ServerConfiguration(
      environment: .simulated, directory: "\(directory)/second-\(RandomBytes.system.hex(4))", host: "127.0.0.1",
      port: 0, sandboxURL: sandbox.base, acquirer: .init(connector: "sandbox", baseURL: sandbox.base, apiKey: ""))
    let store = (configuration.storePath as NSString).deletingLastPathComponent
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
    try await configuration.useEngineUnderTest()
    configuration.merchantsDirectory = directory + "/merchants"
    configuration.platformDirectory = directory + "/platform"
    configuration.allowsPrivateWebhooks = true
    configure(&configuration)
    var logger = Logger(label: "second")
    logger.logLevel = .critical
    let ready = Mailbox<Int>()
    let network = Network(
      plain: HTTPSender { [sender] request, patience throws(TransportError) in
        if request.method == "POST" { while hold?.isOn == true { try? await Task.sleep(for: .milliseconds(5)) } }
        return try await sender.send(request, patience)
      },
      identified: { identity, trust in try LiveHTTPClient(identity: identity, trust: trust).sender })
    let server = try await Turn.ofMerchantsFolder.take { [configuration, logger] in
      try await TenderServer(configuration, clock: clock.wall, network: network, logger: logger) { ready.put($0) }
    }
    Task { try await server.run() }
    let url = "\(scheme)://127.0.0.1:\(try await ready.awaited)"
    return try Shopfront(TestSystem.harbourMerchant, directory, url, sender, store: store)
  }
}
