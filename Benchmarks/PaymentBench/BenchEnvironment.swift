import Administration
import AppleSandbox
import Foundation
import HTTPTransport
import Logging
import TenderPayments
import TenderServer

/// What the server needs around it: a simulated Apple for certificates and payment tokens, one merchant, an acquirer. All
/// run in this process; the server has a process of its own.
struct BenchEnvironment: Sendable {
  static let merchantID = "harbour"
  static let origin = "http://localhost:8401"

  let directory: String
  let sandbox: SandboxServer
  let addresses: SandboxAddresses
  let acquirer: BenchAcquirer
  let sender: HTTPSender

  init(_ directory: String, _ sender: HTTPSender) async throws {
    self.directory = directory
    self.sender = sender
    acquirer = try await BenchAcquirer()
    (sandbox, addresses) = try await Self.sandbox(directory + "/sandbox")
    _ = try await MerchantProvisioning(portal: JSONClient(addresses.url, sender: sender), random: .system).make(
      .init(
        id: Self.merchantID, merchantIdentifier: "merchant.test.harbour", displayName: "Harbour Kitchen",
        countryCode: "IE",
        currencyCode: "EUR", domains: ["localhost:8401"]), below: directory + "/merchants")
  }

  /// The folder of the merchants' folders.
  var merchants: String { directory + "/merchants" }
  var merchant: String { merchants + "/harbour" }

  /// Whether there is a folder `memory` whose files are in memory, so that nothing there waits for the disk.
  var hasMemory: Bool { FileManager.default.fileExists(atPath: directory + "/memory") }

  /// The same merchant with the same keys, and one endpoint that is notified of its payments.
  ///
  /// - Returns: the folder of the merchants' folders.
  func merchants(notifying url: String, below name: String) throws -> String {
    let copy = "\(directory)/\(name)-merchants"
    try FileManager.default.copyItem(atPath: merchants, toPath: copy)
    let file = "\(copy)/\(Self.merchantID)/merchant.yaml"
    let settings = try String(contentsOfFile: file, encoding: .utf8)
    try (settings + "webhooks: [\"bench=\(url)\"]\n").write(toFile: file, atomically: true, encoding: .utf8)
    return copy
  }

  private static func sandbox(_ directory: String) async throws -> (SandboxServer, SandboxAddresses) {
    let (stream, continuation) = AsyncStream.makeStream(of: SandboxAddresses.self)
    var settings = SandboxConfiguration(directory: directory)
    (settings.port, settings.gatewayPort) = (0, 0)
    settings.logger.logLevel = .error
    settings.onReady = { continuation.yield($0) }
    let sandbox = try await SandboxServer(settings)
    Task { try await sandbox.run() }
    for await addresses in stream { return (sandbox, addresses) }
    throw BenchFailure("the sandbox did not start")
  }
}
