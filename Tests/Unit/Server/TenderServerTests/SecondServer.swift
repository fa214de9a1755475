import Foundation
import Gateway
import HTTPTransport
import Logging
import Settings
import TenderPayments
import TenderServer
import TenderTesting
import Webhooks

extension TestSystem {
  /// The system's first merchant at another server, with a store and a configuration of its own.
  ///
  /// - Parameters:
  ///   - hold: while it is on, the acquirer's answers to authorizations are held up.
  ///   - beforeApple: before each call to Apple's gateway.
  ///   - clock: the server's; the system's by default.
  ///   - scheme: in which the server is reached.
  ///   - collector: takes what goes to the collector of traces.
  ///   - seeing: each request to providers, Apple and merchants.
  func secondServer(
    _ hold: Hold? = nil, beforeApple: (@Sendable () async -> Void)? = nil, at clock: StoppableClock? = nil,
    random: RandomBytes = .system, scheme: String = "http", collector: HTTPSender? = nil,
    seeing: @escaping @Sendable (Egress.Destination, OutboundRequest) -> Void = { _, _ in },
    _ configure: (inout ServerConfiguration) -> Void
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
    configuration.connectionTimes = .unhurried
    configuration.gatewayPolicy.budget = TestRun.whole
    // An inquiry may take as long as its lease allows.
    configuration.gatewayPolicy.inquiryTimeout = TestRun.whole
    configure(&configuration)
    var logger = Logger(label: "second")
    logger.logLevel = .critical
    let (ready, clock) = (Mailbox<Int>(), clock ?? self.clock)
    let network = Network(
      plain: HTTPSender { [sender] request, limit throws(TransportError) in
        seeing(.providers, request)
        if request.method == "POST" { try? await waitUntil("the end of the hold") { hold?.isOn != true } }
        return try await sender.send(request, limit)
      },
      identified: { identity, trust in
        let sender = try LiveHTTPClient(identity: identity, trust: trust, connectingWithin: 3_600).sender.unhurried
        return HTTPSender { request, limit throws(TransportError) in
          seeing(.apple, request)
          await beforeApple?()
          return try await sender.send(request, limit)
        }
      },
      webhooks: collector == nil
        ? .live()
        : DeliveryNetwork { _ in
          .init(
            HTTPSender { request, _ in
              seeing(.webhooks, request)
              return InboundResponse(status: 204)
            })
        }, telemetry: collector)
    let server = try await Turn.ofMerchantsFolder.take { [configuration, logger] in
      try await TenderServer(
        configuration, clock: clock.wall, random: random, scheduler: clock.scheduler, network: network,
        logger: logger
      ) { ready.put($0) }
    }
    ready.start { try await server.run() }
    let url = "\(scheme)://127.0.0.1:\(try await ready.awaited)"
    // It listens a little later than the server.
    if let port = configuration.office.port {
      let request = OutboundRequest(method: "GET", url: "http://127.0.0.1:\(port)/sign-in")
      try await waitFor("the office", { try? await sender.send(request, TestRun.whole).status }) { $0 == 200 }
    }
    return try Shopfront(TestSystem.harbourMerchant, directory, url, sender, store: store)
  }
}
