import Administration
import Foundation
import HTTPTransport
import MerchantIdentity
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// The command line beside a running server of its configuration.
struct CommandBesideServer: Sendable {
  let file: String

  init(_ system: TestSystem) throws {
    file = "\(system.directory)/command-\(RandomBytes.system.hex(4)).yaml"
    try """
    environment: simulated
    directory: \(system.directory)
    sandboxURL: \(system.sandbox.base)
    platform:
      directory: \(system.directory)/platform

    """.write(toFile: file, atomically: true, encoding: .utf8)
  }

  func run(_ arguments: String...) async throws -> (status: Int32, text: String) {
    let answer = try await Self.run(arguments + ["--config", file])
    return (answer.status, String(decoding: answer.output, as: UTF8.self))
  }

  /// Waits on a thread of its own: the server that answers the command needs those of this process.
  static func run(_ arguments: [String]) async throws -> (status: Int32, output: [UInt8]) {
    let program = try ServedTender.program()
    return try await withCheckedThrowingContinuation { continuation in
      Thread { continuation.resume(with: Result { try ChildProcess.run([program] + arguments) }) }.start()
    }
  }
}

@Suite struct `tender domain` {
  private static let id = "registered"

  /// A merchant whose domain is served by the system's own port, so that every process finds it there.
  private static func merchant(_ system: TestSystem) async throws -> String {
    let domain = "registered.localhost:\(system.harbour.port)"
    let merchant = MerchantProvisioning.NewMerchant(
      id: id, merchantIdentifier: "merchant.test.registered", displayName: "Registered", countryCode: "IE",
      currencyCode: "EUR", domains: [domain])
    let path = "/portal/merchants/\(TestSystem.platformMerchant.merchantIdentifier)/platform"
    let file = try #require(try await system.sandbox.require("POST", path, .object([:]))["associationFile"]?.text)
    let shop = try await StoredShop("for-\(id)", system)
    try await shop.call(.add(try MerchantBundle(merchant, random: .system)))
    try await shop.call(.edit(merchant: id, settings: ["encryptTo": "platform"]))
    try await shop.call(
      .addDomain(domain, merchant: id, associationBase64: Base64.encode(Array(file.utf8))))
    return domain
  }

  @Test func `checks, registers, shows and unregisters a domain`() async throws {
    let system = try await StoredShop.system.value
    let domain = try await Self.merchant(system)
    let command = try CommandBesideServer(system)

    let checked = try await command.run("domain", "check", domain)
    #expect(checked.status == 0 && checked.text.contains("as Apple wants it"), "\(checked)")
    #expect(try await command.run("domain", "status", Self.id).status == 1)

    let registered = try await command.run("domain", "register", Self.id)
    #expect(registered.status == 0 && registered.text.contains(domain), "\(registered)")
    let status = try await command.run("domain", "status", Self.id)
    #expect(status.status == 0 && status.text.contains("registered.localhost"), "\(status)")
    #expect(status.text.contains("encrypted to "), "\(status)")

    let unregistered = try await command.run("domain", "unregister", Self.id, "--reason", "closed")
    #expect(unregistered.status == 0, "\(unregistered)")
    #expect(try await command.run("domain", "status", Self.id).status == 1)
  }

  @Test func `says of a domain whose file Apple would not find why, and notes it`() async throws {
    let system = try await StoredShop.system.value
    let shop = try await StoredShop("unserved", system)
    let command = try CommandBesideServer(system)
    let checked = try await command.run("domain", "check", shop.shop.merchant.domains[0])
    #expect(checked.status == 1 && !checked.text.contains("as Apple wants it"), "\(checked)")
    let row = try #require(try await shop.call(.listDomains(merchant: "unserved")).domains?.first)
    #expect(row.checkedAt != nil && row.finding != nil)
  }
}
