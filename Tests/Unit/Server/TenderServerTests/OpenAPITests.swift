import Foundation
import HTTPTransport
import Logging
import Settings
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// The document at `/openapi.json` must not drift from the router and from the page of errors. That its schemas hold is
/// judged by `Tests/Judges/openapi`.
@Suite struct `The OpenAPI document` {
  private let document: JSONValue

  init() throws { document = try JSONReader.read(Array(try Repository.text("Web/api/openapi.json").utf8)) }

  private static func members(_ value: JSONValue?) -> [(String, JSONValue)] {
    if case .object(let object)? = value { object.members.map { ($0.key, $0.value) } } else { [] }
  }

  /// `GET /v2/{}/payments/{}`: names of parameters do not count, and the router has Apple Pay's number beside one.
  private static func address(_ method: String, _ path: String) -> String {
    let plain = path.replacing(#/\{\w+\}|:\w+/#, with: "{}")
      .replacing(#/products/302(/networks)?$/#) { "products/{}\($0.output.1 ?? "")" }
    return "\(method.uppercased()) \(plain)"
  }

  @Test func `has every address of the public listener, and no other`() async throws {
    let documented = Self.members(document["paths"]).flatMap { path, operations in
      Self.members(operations).map { Self.address($0.0, path) }
    }
    let system = try await TestSystem.shared.value
    var configuration = ServerConfiguration(
      environment: .simulated, directory: "\(system.directory)/addresses", host: "127.0.0.1", port: 0,
      sandboxURL: system.sandbox.base, acquirer: .init(connector: "sandbox", baseURL: system.sandbox.base, apiKey: ""))
    configuration.merchantsDirectory = system.directory + "/merchants"
    configuration.platformDirectory = system.directory + "/platform"
    configuration.allowsPrivateWebhooks = true
    let server = try await TenderServer(configuration, logger: Logger(label: "addresses"))
    // Hosted pages are for shoppers' browsers; the calls below them are those of the checkout API.
    let served = await server.addresses().filter { !$0.path.hasPrefix("/hosted") }.map {
      Self.address($0.method, $0.path)
    }
    #expect(Set(served).subtracting(documented).sorted() == [], "describe them in Web/api/openapi.json")
    #expect(Set(documented).subtracting(served).sorted() == [], "no route: remove them from Web/api/openapi.json")
    #expect(documented.count == Set(documented).count)
  }

  @Test func `is served as it is, to any page`() async throws {
    let system = try await TestSystem.shared.value
    let answer = try await system.sender.send(
      OutboundRequest(
        method: "GET", url: system.server + "/openapi.json",
        headers: [HTTPField("Origin", "https://elsewhere.example")]), TestRun.whole)
    let document = try Repository.text("Web/api/openapi.json")
    #expect(answer.status == 200 && String(decoding: answer.body, as: UTF8.self) == document)
  }

  @Test func `has the codes that the page of errors explains for HTTP, in both spellings`() throws {
    let page = try Repository.text("docs/errors.md")
    let sections = [
      ("## Payment tokens", "### Kinds of decline"), ("### The server\n", "## In the log:"),
      ("## Events of acquirers and providers", "## Alarms of payments"),
    ]
    let explained = try sections.flatMap { start, end in
      let from = try #require(page.range(of: start)), until = try #require(page.range(of: end))
      return page[from.upperBound..<until.lowerBound].matches(of: /\*\*`(\w+)`\*\*/).map { String($0.output.1) }
    }
    let schemas = document["components"]?["schemas"]
    func listed(_ name: String) -> Set<String> {
      Set(schemas?[name]?["enum"]?.elements.compactMap(\.text) ?? [])
    }
    #expect(
      listed("ErrorCode").symmetricDifference(explained) == [],
      "docs/errors.md and ErrorCode in Web/api/openapi.json differ in these")
    let ours = Set(explained.map { $0.uppercased() })
    #expect(ours.subtracting(listed("FaultID")) == [], "add them to FaultID in Web/api/openapi.json")
    #expect(listed("FaultID").subtracting(ours).count == 10, "Worldline's own names")
  }
}
