import Acquiring
import Connectors
import Foundation
import Testing

@Suite struct `The page of a connector's capabilities` {
  @Test(arguments: ConnectorCatalogue.allCases)
  func `stands in the provider's documentation as the connector states it`(connector: ConnectorCatalogue) throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../../docs/providers")
    let page = try String(
      contentsOf: folder.appending(path: "\(connector.rawValue).md").standardized, encoding: .utf8)
    let table = CapabilityPage(try connector.sample()).text
    let command = "make connector NAME=\(connector.rawValue)"
    #expect(
      page.contains(CapabilityPage.opening(connector.rawValue) + "\n" + table + CapabilityPage.closing),
      "run: \(command)")
  }

  /// A repeat that is sent at the end of the window still has to arrive.
  @Test(arguments: ConnectorCatalogue.allCases)
  func `promises no repeat in the last minutes of a provider's memory`(connector: ConnectorCatalogue) throws {
    let memory: [ConnectorCatalogue: Duration] = [
      .adyen: .seconds(7 * 86_400), .stripe: .seconds(86_400), .checkoutCom: .seconds(86_400),
      .worldlineDirect: .seconds(86_400),
    ]
    let capabilities = try connector.sample().capabilities
    for idempotency in [capabilities.idempotency, capabilities.authorizationIdempotency] {
      guard case .reference(let window) = idempotency, let end = memory[connector] else { continue }
      #expect(window <= end - .seconds(600))
    }
  }
}
